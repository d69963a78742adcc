"""What is loaded by what? A public name loads what every program needs; the first call of a function, its room."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import symbolic
from symbolic import public, rooms
from symbolic.layer import FUNCTIONS, UFUNC_METHODS, qualified
from symbolic.ops import rooms as vocabulary
from symbolic.ops.foreign import ROOMS as LATE

ROOT = Path(__file__).resolve().parent.parent
NAMES = "from symbolic import SGD, Weight, symbolic, grad, value_and_grad, Layer, Identity, SymbolicError"
WITHOUT = ["numpy.random", "numpy.polynomial", "numpy.fft", "hashlib", "secrets", "dataclasses", "importlib.util"]


def loaded(program: str) -> set[str]:
    """The modules that are there after a program which NumPy alone would not have loaded."""
    script = f"import sys\nimport numpy as np\nbefore = set(sys.modules)\n{program}\nprint(*set(sys.modules) - before)"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    return set(run.stdout.split())


def test_public_names_load_what_every_program_needs() -> None:
    found = loaded(NAMES)
    assert "symbolic.network" in found
    assert not found & set(WITHOUT)
    assert {f"symbolic.ops.{room}" for room in vocabulary.ROOMS} & found == set()
    assert not found & {"symbolic.public", "symbolic.batches", "symbolic.jacobians", "symbolic.nn.layers"}


SCRIPT = """
from typing import Annotated
import numpy as np
from symbolic import SGD, Symbolic, Weight, symbolic

w, b = Weight(np.linspace(-1.0, 1.0, 8)), Weight(0.5)

@symbolic
def loss(x: Annotated[np.ndarray, Symbolic["rows features"]], y: Annotated[np.ndarray, Symbolic["rows"]]) -> float:
    return np.mean(np.logaddexp(0.0, -y * (x @ w + b)))

step = loss.trainer(SGD(0.1))
for _ in range(10):
    step(np.ones((4, 8)), np.ones(4))
"""
"""A short one: a step of training, a few times."""
NOT_NEEDED = {
    *("batches", "slices", "evaluation", "observing", "rereading", "vectorized", "namespaces", "renewing", "nn"),
    *("ops.circular", "ops.indexing", "ops.regions", "ops.entries", "ops.roots", "ops.signs", "ops.truths"),
    *("ops.matrices", "ops.writing", "ops.runs", "backends.native.engine", "backends.native.text"),
}


def test_a_short_script_loads_what_it_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's generators with what they need are a tenth of a second's tenth, and nothing here draws a number."""
    monkeypatch.setenv("SYMBOLIC_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    found = loaded(f"sys.path.insert(0, {str(tmp_path)!r})\nimport script")
    assert not found & {*WITHOUT, *(f"symbolic.{one}" for one in NOT_NEEDED)}
    ours = {one for one in found if one.partition(".")[0] == "symbolic"}
    assert len(ours) <= MOST_ROOMS, sorted(ours)


MOST_ROOMS = 100
"""Each costs about a tenth of a millisecond: one more has to be worth it to whoever writes ten steps of training."""


def test_loading_looks_for_no_garbage() -> None:
    program = """
import gc
swept, at = [], []
gc.callbacks.append(lambda phase, about: swept.append(phase) if phase == "start" and at else None)
at.append(1)
import symbolic
symbolic.SGD, symbolic.Weight, symbolic.symbolic, symbolic.grad
del at[:]
assert len(swept) <= 4, swept
"""
    loaded(program)


@pytest.mark.parametrize(
    ("expression", "room"),
    [
        ("np.exp(x)", "exponential"),
        ("np.tanh(x)", "circular"),
        ("np.sign(x)", "signs"),
        ("np.hypot(x, x)", "roots"),
        ("np.isfinite(x)", "truths"),
        ("np.less(x, 1.0)", "comparison"),
        ("x[0]", "indexing"),
        ("x.sort()", "writing"),
        ("x.flat", "writing"),
        ("np.copyto(x, x)", "writing"),
        ("np.fft.fft(x)", "fourier"),
        ("np.fft.fftshift(x)", "fourier"),
        ("np.linalg.inv(x)", "linalg"),
        ("np.unique(x)", "sets"),
        ("np.polyadd(x, x)", "coefficients"),
        ("np.multiply.reduce(x)", "cumulative"),
        ("np.add.outer(x, x)", "folding"),
        ("np.interp(x, [0.0, 1.0], [1.0, 2.0])", "series"),
        ("np.clip(x, 0.0, 1.0)", "rounding"),
        ("np.emath.log(x)", "domains"),
        ("x.sum()", "reduction"),
        ("x @ x", "linear"),
    ],
)
def test_a_room_is_loaded_when_one_of_its_functions_meets_a_layer(expression: str, room: str) -> None:
    program = f"{NAMES}\nx = Identity()\nnp.exp(np.ones(2))\nassert 'symbolic.ops.{room}' not in sys.modules"
    assert f"symbolic.ops.{room}" in loaded(f"{program}\ntry:\n    {expression}\nexcept SymbolicError: pass")


@pytest.mark.parametrize(
    "body",
    [
        "np.fft.ifft(np.fft.fft(x)).real",
        "np.polynomial.polynomial.polyval(x, [1.0, 2.0, 3.0])",
        "np.polynomial.polynomial.polyval2d(x, x, [[1.0, 2.0], [3.0, 4.0]])",
        "np.polynomial.Polynomial([1.0, 2.0])(x)",
        "np.linalg.norm(x) + np.random.default_rng(1).normal()",
        "np.logaddexp.reduce([x[0], x[1]]) * np.maximum.accumulate(x)",
        "np.stack([np.tanh(x), np.sort(x)])",
    ],
)
def test_what_is_loaded_within_a_body_gives_the_numbers_of_numpy(body: str, tmp_path: Path) -> None:
    program = (
        f"from typing import Annotated\nfrom symbolic import symbolic, Symbolic\n"
        f"def plain(x):\n    return {body}\n"
        f"net = symbolic(plain, np.ndarray, returns=np.ndarray)\n"
        f"x = np.array([0.3, -1.2, 2.0])\n"
        f"np.testing.assert_allclose(net.predict(x), plain(x), rtol=1e-12, atol=1e-12)"
    )
    (tmp_path / "written.py").write_text(f"import numpy as np\n{program}\n", encoding="utf-8")  # a body has a source
    loaded(f"sys.path.insert(0, {str(tmp_path)!r})\nimport written")


@pytest.mark.parametrize("name", sorted(name for names in rooms.ROOMS.values() for name in names.split()))
def test_a_public_name_is_found_alone(name: str) -> None:
    assert getattr(symbolic, name) is getattr(public, name)


def test_each_public_name_stands_in_its_room() -> None:
    tree = ast.parse(Path(public.__file__).read_text(encoding="utf-8"))
    stated: dict[str, set[str]] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            names = {one.name for one in node.names if not (one.asname or "").startswith("_")}
            if names:
                stated.setdefault((node.module or "").removeprefix("symbolic."), set()).update(names)
    assert {room: set(names.split()) for room, names in rooms.ROOMS.items()} == stated


def test_a_room_is_loaded_without_a_warning_wherever_it_is_needed() -> None:
    strict = "import warnings\nwarnings.simplefilter('error')\nnp.seterr(all='raise')\n"
    assert "symbolic.ops.fourier" in loaded(f"{NAMES}\n{strict}import symbolic.public")


def test_two_threads_may_need_one_room_at_once() -> None:
    lines = ["from concurrent.futures import ThreadPoolExecutor", "go = lambda k: type(np.sort(Identity())).__name__"]
    lines += [
        "with ThreadPoolExecutor(8) as pool: found = set(pool.map(go, range(64)))",
        "assert len(found) == 1, found",
    ]
    assert "symbolic.ops.sorting" in loaded("\n".join([NAMES, *lines]))


def test_the_first_public_name_may_be_any() -> None:
    for program in (
        "import symbolic; assert symbolic.Fft().predict(np.ones(2))[0] == 2.0",
        "from symbolic import *; assert Exp().predict(0.0) == 1.0 and vmap and Linear",
        "import symbolic; assert isinstance(np.fft.rfft(symbolic.Identity()), symbolic.Rfft)",
        "import symbolic; assert 'Fft' in dir(symbolic) and not hasattr(symbolic, 'nothing')",
        "from symbolic import Exp; assert np.exp.__name__ == 'exp' and Exp is type(np.exp(Exp()))",
        "import pickle, symbolic; assert pickle.loads(pickle.dumps(symbolic.Fft)) is symbolic.Fft",
    ):
        loaded(program)


def test_the_table_knows_every_function() -> None:
    """After all is loaded, nothing waits, and each function that is bound stands in the room that the table names."""
    waiting = [qualified(one) for one, handler in FUNCTIONS.items() if isinstance(handler, vocabulary.Later)]
    assert waiting == []
    said = {id(function): room for room, names in vocabulary.ROOMS.items() for function in _functions(names)}
    always = loaded(f"{NAMES}")
    missing = []
    for function, handler in FUNCTIONS.items():
        maker = getattr(handler, "cls", None) or getattr(handler, "formula", None) or handler
        room = maker.__module__
        late = [f"symbolic.ops.{one}" for ones in LATE.values() for one in ones]
        if room not in always and room not in late and said.get(id(function)) != room.removeprefix("symbolic.ops."):
            missing.append((qualified(function), room))
    assert missing == []


def test_the_table_knows_every_room_of_methods() -> None:
    always = loaded(NAMES)
    found = {
        cell.cell_contents.__module__
        for handler in UFUNC_METHODS.values()
        for cell in getattr(handler, "__closure__", None) or ()
        if hasattr(cell.cell_contents, "__module__") and callable(cell.cell_contents)
    }
    ours = {one.removeprefix("symbolic.ops.") for one in found if one and one.startswith("symbolic.")}
    assert ours - {one.removeprefix("symbolic.ops.") for one in always} == set(vocabulary.OF_METHODS)


def _functions(names: str) -> list[object]:
    found = []
    for name in names.split():
        value: object = np
        for part in name.split("."):
            value = getattr(value, part, None)
        found.append(value)
    return found
