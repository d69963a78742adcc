"""Does the interpreter report what is wrong, say nothing of what is right, and infer what NumPy really gives?"""

from __future__ import annotations

import ast
import functools
import gc
import random
import re
import subprocess
import sys
import sysconfig
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked_pairs import PAIRS, PRELUDE, inputs, parameters, result, source

from symbolic.polynomial import Size, parsed
from symbolic.spec import Spec
from symbolic.static.abstract import Value
from symbolic.static.checking import Checking, check
from symbolic.static.evaluation import call
from symbolic.static.findings import Checked, Located, Report
from symbolic.static.holding import State, as_input, equal, joined, traced
from symbolic.static.provenance import Past
from symbolic.static.statements import Statements
from symbolic.static.things import Frame

ROOT = Path(__file__).resolve().parent.parent
HEAD = "import numpy as np\nfrom typing import Annotated\nfrom symbolic import *\n"
V = 'Annotated[np.ndarray, Symbolic[np.float64, "n 3"]]'
TAIL = "return x @ np.ones((4, 2))"


def checked(text: str, path: str = "<string>", **modules: str) -> Checked:
    """What is found in a program; a fault of the interpreter's own is raised, as it is not by `check`."""
    report = Report(path, text)
    Checking(report, path, modules.get).file(ast.parse(text))
    return report.checked()


def messages(text: str, **modules: str) -> list[str]:
    return [one.message for one in checked(HEAD + text, **modules).findings]


def within(found: Checked, node: ast.stmt) -> list[Located]:
    first = min([node.lineno, *[one.lineno for one in getattr(node, "decorator_list", [])]])
    return [one for one in found.findings if first <= one.line <= (node.end_lineno or 0)]


# --------------------------------------------------------------------------- pairs


@pytest.fixture(scope="module")
def findings_of_pairs() -> dict[str, list[Located]]:
    text = source()
    found = checked(text)
    return {one.name: within(found, one) for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)}


@pytest.mark.parametrize("name", PAIRS)
def test_the_wrong_one_is_reported(findings_of_pairs: dict[str, list[Located]], name: str) -> None:
    assert findings_of_pairs[f"bug_{name}"]


@pytest.mark.parametrize("name", PAIRS)
def test_the_right_one_is_not(findings_of_pairs: dict[str, list[Located]], name: str) -> None:
    assert [one.message for one in findings_of_pairs[f"ok_{name}"]] == []


def test_one_fault_is_one_error(findings_of_pairs: dict[str, list[Located]]) -> None:
    """After a finding the value is unknown: nothing cascades."""
    errors = {name: [one for one in found if one.code != "symbolic-lint"] for name, found in findings_of_pairs.items()}
    assert {name: found for name, found in errors.items() if len(found) > 1} == {}


# --------------------------------------------------------------------------- the oracle

PRIMES = dict(zip("nmkdbthcpqijlsw", (7, 11, 5, 3, 2, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47), strict=True))
SIZES = {"primes": PRIMES, "equal": dict.fromkeys(PRIMES, 4), "ones": dict.fromkeys(PRIMES, 1)}
OF_LAYERS = ("Weight", "Linear", "Scaling", "conv2d", "affine", "grad")


def array(words: str, sizes: dict[str, int], generator: np.random.Generator) -> Any:
    shape, _, dtype = words.partition(":")
    names = [parsed(one) for one in shape.split()]
    drawn = generator.normal(size=[one.at(sizes) if isinstance(one, Size) else one for one in names])
    return (5 * drawn).astype(dtype.strip() or "float32")


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.filterwarnings("ignore")
def test_what_is_inferred_is_what_numpy_gives(name: str, kind: str) -> None:
    pair, sizes = PAIRS[name], SIZES[kind]
    text = f"{PRELUDE}\ndef ok({inputs(pair)}) -> {result(pair)}:\n    {pair.right}\n"
    function = ast.parse(text).body[-1]
    assert isinstance(function, ast.FunctionDef) and isinstance(function.body[-1], ast.Return)
    returned = function.body[-1].value
    assert returned is not None
    at: tuple[Any, ...] = (
        returned.lineno,
        returned.col_offset + 1,
        returned.end_lineno,
        (returned.end_col_offset or 0) + 1,
    )
    inferred = {one[:4]: one.text for one in checked(text).hovers}.get(at)
    assert inferred is not None
    names: dict[str, Any] = {}
    decorated = any(word in pair.right for word in OF_LAYERS)
    exec(compile(text.replace("\ndef ok", "\n@symbolic\ndef ok") if decorated else text, "<pair>", "exec"), names)
    generator = np.random.default_rng(0)
    given = [array(words, sizes, generator) for _, _, words in parameters(pair)]
    try:
        value = names["ok"](*given)
    except (IndexError, np.linalg.LinAlgError):  # of sizes that are too small, or of numbers
        return
    shape, dtype = read(inferred, sizes)
    actual = np.shape(value)
    assert len(shape) == len(actual) and all(one in (None, size) for one, size in zip(shape, actual, strict=True))
    assert dtype in ("ndarray", str(np.asarray(value).dtype))


def read(text: str, sizes: dict[str, int]) -> tuple[list[int | None], str]:
    """A short type such as `float32[n, 2*d]`, with numbers in the place of its names."""
    dtype, _, inner = text.partition("[")
    words = [one.strip() for one in inner.rstrip("]").split(",")] if inner else []
    found = [None if one == "?" else parsed(one) for one in words]
    return [one.at(sizes) if isinstance(one, Size) else one for one in found], "float64" if dtype == "float" else dtype


# --------------------------------------------------------------------------- no false alarm

RIGHT = sorted([*(ROOT / "examples").glob("*.py"), *(ROOT / "tests" / "programs").glob("*.py")])
WRONG = {"errors.py", "shared_wrong.py", "unsupported.py", "aliases_312.py"}
TYPED = [one for one in sorted((ROOT / "tests" / "typing").glob("*.py")) if not one.name.startswith("wrong")]


@pytest.mark.parametrize("path", RIGHT + [one for one in TYPED if one.name not in WRONG], ids=lambda path: path.name)
def test_right_programs_are_clean(path: Path) -> None:
    found = checked(path.read_text(encoding="utf-8"), str(path), **beside(path))
    assert [(one.line, one.message) for one in found.findings if one.code != "symbolic-lint"] == []


def beside(path: Path) -> dict[str, str]:
    names = ("shared", "shared_aliases", "shared_mappings")
    return {name: text.read_text(encoding="utf-8") for name in names if (text := path.with_name(f"{name}.py")).exists()}


@pytest.mark.parametrize("folder", ["examples", "programs"])
def test_little_is_unknown(folder: str) -> None:
    found = [checked(path.read_text(encoding="utf-8"), str(path)) for path in RIGHT if path.parent.name == folder]
    known, unknown = sum(one.known for one in found), sum(one.unknown for one in found)
    assert unknown < 0.05 * (known + unknown)


def test_wrong_shapes_are_reported() -> None:
    """Each line of tests/typing/wrong_shapes.py that mypy reports."""
    path = ROOT / "tests" / "typing" / "wrong_shapes.py"
    text = path.read_text(encoding="utf-8")
    expected = {number for number, line in enumerate(text.splitlines(), 1) if "# E" in line}
    assert {one.line for one in checked(text, str(path)).findings} == expected


# --------------------------------------------------------------------------- hints in all forms

WAYS = [
    'def f(x: Annotated[np.ndarray, Symbolic["n", 3]]): TAIL',
    "def f(x: \"Annotated[np.ndarray, Symbolic['n 3']]\"): TAIL",
    "V = HINT\n@symbolic\ndef f(x: V): TAIL",
    "from typing import TypeAlias\nV: TypeAlias = HINT\n@symbolic\ndef f(x: V): TAIL",
    "N = 3\n@symbolic\ndef f(x: Annotated[np.ndarray, Symbolic['n', N]]): TAIL",
    'import typing as t\n@symbolic\ndef f(x: t.Annotated[np.ndarray, Symbolic["n 3"]]): TAIL',
    'import symbolic as s\n@s.symbolic\ndef f(x: Annotated[np.ndarray, s.Symbolic["n 3"]]): TAIL',
    'from jaxtyping import Float\n@symbolic\ndef f(x: Annotated[Float[np.ndarray, "n 3"], Symbolic]): TAIL',
    "from aliases import V\n@symbolic\ndef f(x: V): TAIL",
    "import aliases\n@symbolic\ndef f(x: aliases.V): TAIL",
    "def f(x: HINT, scale: float = 2.0): TAIL * scale",
    "class C:\n    @symbolic\n    def f(self, x: HINT): TAIL",
    "def g(x):\n    TAIL\n@symbolic\ndef f(x: HINT): return g(x)",
    "def outer():\n    @symbolic\n    def f(x: HINT): TAIL\n    return f",
]


@pytest.mark.parametrize("text", WAYS)
def test_hints_are_read_in_every_form(text: str) -> None:
    text = text if "symbolic\n" in text else "@symbolic\n" + text
    text, aliases = text.replace("HINT", V).replace("TAIL", TAIL), f"{HEAD}V = {V}\n"
    (found,) = messages(text, aliases=aliases)
    assert "matmul of shapes (n, 3) and (4, 2)" in found


def test_a_message_says_where_names_are_bound() -> None:
    x, y = (f'{name}: Annotated[np.ndarray, Symbolic["{size} d"]]' for name, size in ("xn", "ym"))
    (found,) = checked(f"{HEAD}@symbolic\ndef f(\n    {x},\n    {y},\n):\n    return x + y\n", "f.py").findings
    assert (found.path, found.line, found.column, found.code, found.rule) == ("f.py", 9, 12, "symbolic-shape", "shape")
    assert [(line, note.split()[0]) for line, note in found.notes] == [(6, "n"), (6, "d"), (7, "m")]


def test_the_types_of_expressions_are_shown() -> None:
    text = (
        HEAD + '@symbolic\ndef f(x: Annotated[np.ndarray, Symbolic[np.float32, "n 3"]]):\n    y = x.T\n    return y\n'
    )
    shown = {(one.line, one.column): one.text for one in checked(text).hovers}
    assert shown[6, 5] == shown[6, 9] == "float32[3, n]"


# --------------------------------------------------------------------------- what is not certain is not said

SILENT = {
    "compared": "if x.shape[0] == 1:\n        return x.reshape(())\n    return np.sum(x)",
    "asserted": "assert x.shape == y.shape\n    return x + y",
    "raised": "if x.shape[0] != y.shape[0]:\n        raise ValueError\n    return x + y",
    "handled": "try:\n        return x + y\n    except ValueError:\n        return x",
    "unknown_function": "from elsewhere import g\n    return g(x) + g(y)",
    "unknown_index": "import os\n    return x[int(os.environ['K'])] + y[0]",
    "isinstance": "if not isinstance(x, np.ndarray):\n        return x @ 3\n    return x",
    "optional": "z = None if x.shape[0] > 3 else y\n    return x if z is None else z",
    "shadowed": "np = object()\n    return np.matmul(x, y)",
    "deleted": "z = x\n    del z\n    return z + y",
    "recursive": "def f(k):\n        return x if k == 0 else f(k - 1)\n    return f(3)",
    "global": "global SIZE\n    SIZE = 3\n    return x @ np.ones((SIZE, 2))",
    "weight_fixes_a_name": "return Weight(np.ones(5)) + x",
}


@pytest.mark.parametrize("name", SILENT)
def test_what_is_not_certain_is_not_said(name: str) -> None:
    text = '@symbolic\ndef f(x: Annotated[np.ndarray, Symbolic["n"]], y: Annotated[np.ndarray, Symbolic["m"]]):\n    '
    assert messages(text + SILENT[name] + "\n") == []


def test_a_loop_that_changes_the_shape_is_followed_to_what_is_always_true() -> None:
    text = f"@symbolic\ndef f(x: {V}):\n    while np.sum(x) > 0:\n        x = x[1:]\n    {TAIL}\n"
    (found,) = messages(text)
    assert "matmul of shapes (?, 3) and (4, 2)" in found


PARTLY = {  # the inputs, an expression, and its type
    "an_image_has_four_axes": (
        '"batch ..."',
        "conv2d(x, np.ones((16, 1, 3, 3)), padding=1)",
        "float64[batch, 16, ?, ?]",
    ),
    "channels_by_name": ('"batch ..."', "conv2d(x, Weight(he(n, k, 3, 3)), padding=1)", "float64[batch, n, ?, ?]"),
    "unknown_channels": ('"n _ h _"', "conv2d(x, np.ones((16, 1, 3, 3)), padding=1)", "float64[n, 16, h, ?]"),
    "matrices": ('"batch ..."', "x @ np.ones((4, 2))", "float64[batch, ..., 2]"),
}


@pytest.mark.parametrize("name", PARTLY)
def test_a_size_that_is_not_known_leaves_the_rank(name: str) -> None:
    words, expression, expected = PARTLY[name]
    hint = f"Annotated[np.ndarray, Symbolic[np.float64, {words}]]"
    text = f"{HEAD}@symbolic\ndef f(x: {hint}, n: int, k: int):\n    y = {expression}\n    return y\n"
    found = checked(text)
    assert found.findings == []
    assert {(one.line, one.column): one.text for one in found.hovers}[6, 5] == expected


def test_what_no_number_of_axes_makes_right_is_reported() -> None:
    text = '@symbolic\ndef f(x: Annotated[np.ndarray, Symbolic["... 3"]]):\n    TAIL\n'.replace("TAIL", TAIL)
    (found,) = messages(text)
    assert "matmul of shapes" in found


# --------------------------------------------------------------------------- gradients


def test_a_gradient_that_ends_is_said_where_it_ends() -> None:
    text = f"@symbolic\ndef f(x: {V}):\n    return grad(lambda v: np.sum((v > 0) * 1.0))(x)\n"
    (found,) = checked(HEAD + text).findings
    assert (found.line, found.rule) == (6, "no-gradient")
    assert messages(text.replace("(v > 0) * 1.0", "(v > 0) * v")) == []


def test_a_rule_by_hand_is_held_against_its_arguments() -> None:
    rule = "@custom_gradient\ndef double(v):\n    return 2 * v, lambda delta: DELTA\n"
    text = f"{rule}@symbolic\ndef f(x: {V}):\n    return double(x)\n"
    assert messages(text.replace("DELTA", "2 * delta")) == []
    (found,) = messages(text.replace("DELTA", "delta.sum(axis=0)"))
    assert found.startswith("the gradient that double returns for v has shape (3,), and v has shape (n, 3)")


# --------------------------------------------------------------------------- any file


def test_what_is_no_python_is_one_finding() -> None:
    (found,) = check("def f(:\n", "f.py").findings
    assert (found.line, found.rule) == (1, "syntax")
    assert len(check("\0").findings) == 1 and len(check("(" * 10_000).findings) == 1
    assert check("").findings == []


LIBRARY = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))


@pytest.mark.parametrize("path", random.Random(0).sample(LIBRARY, min(25, len(LIBRARY))), ids=lambda path: path.name)
def test_any_file_can_be_checked(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert checked(text, str(path)).findings == []


@pytest.mark.parametrize("seed", range(40))
def test_mutated_programs_never_fail(seed: int) -> None:
    """Words of a program exchanged, left out and doubled at random."""
    generator = random.Random(seed)
    text = source(dict(generator.sample(sorted(PAIRS.items()), 12)))
    words = re.findall(r"\w+|\s+|[^\w\s]", text)
    for _ in range(generator.randrange(1, 12)):
        k = generator.randrange(len(words))
        words[k] = generator.choice(
            ["", words[k] * 2, generator.choice(words), "None", "*", "0", "-1", "[", "lambda: "]
        )
    mutated = "".join(words)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(mutated)
    except (SyntaxError, ValueError):
        assert len(check(mutated).findings) == 1
        return
    checked(mutated)


@pytest.mark.parametrize("seed", range(40))
def test_rearranged_programs_never_fail(seed: int) -> None:
    """Expressions of a program exchanged with others at random: always Python, hardly ever sense."""
    generator = random.Random(seed)
    tree = ast.parse(source(dict(generator.sample(sorted(PAIRS.items()), 12))))
    found = [
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.expr) and isinstance(getattr(one, "ctx", ast.Load()), ast.Load)
    ]

    class Exchange(ast.NodeTransformer):
        def generic_visit(self, node: ast.AST) -> ast.AST:
            super().generic_visit(node)
            plain = isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
            return generator.choice(found) if plain and generator.random() < 0.02 else node

    try:
        text = ast.unparse(ast.fix_missing_locations(Exchange().visit(tree)))
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    checked(text)


# --------------------------------------------------------------------------- what is worked out, and what is kept


def test_a_file_that_was_checked_is_freed_at_once() -> None:
    """Nothing of it waits for the search for garbage, which a run over many files would pay again and again."""

    def trees() -> int:
        return sum(isinstance(one, ast.Module) for one in gc.get_objects())

    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests" / "corpus").glob("*.py"))]
    gc.collect()
    gc.disable()
    try:
        before = trees()
        for text in [*texts, source(PAIRS)]:
            check(text)
        assert trees() == before
    finally:
        gc.enable()


def test_what_nobody_asks_of_a_past_is_not_worked_out() -> None:
    asked: list[int] = []

    def answer(number: int, *before: Any) -> Any:
        def work() -> None:
            asked.append(number)

        found = traced(Value(Spec((3,))))
        found.past = Past(work, before)
        return found

    first = answer(0)
    values = [first]
    for number in range(1, 5_000):  # as in a loop: each comes of the one before, and of the first
        values.append(answer(number, values[-1], first))
    assert not asked
    assert values[1_000].origin is None
    assert asked == list(range(1_001))  # each after those that it comes of, and once
    assert values[-1].origin is None
    assert asked == list(range(5_000))


@pytest.mark.parametrize("seed", range(60))
def test_one_value_for_all_entries_is_that_of_joining_them_one_by_one(seed: int) -> None:
    generator = random.Random(seed)
    makers: list[Callable[[], Any]] = [
        lambda: generator.randrange(3),
        lambda: generator.randrange(3) / 2,
        lambda: generator.random() < 0.5,
        lambda: traced(Value(Spec(()))),
        lambda: traced(Value(Spec((generator.randrange(2),), np.dtype(generator.choice(["float64", "int64"]))))),
        lambda: Size.named(generator.choice("nm")),
    ]
    kinds = generator.sample(makers, generator.randrange(1, 4))
    entries = tuple([generator.choice(kinds)() for _ in range(generator.randrange(1, 9))])
    interpreter = Statements(Report("a.py"), State({}, {}), Frame(ast.parse(""), None, "a.py"), lambda name: None, "a")
    state = interpreter.state
    one_by_one = functools.reduce(lambda one, other: joined(one, other, state, state), entries)
    found = interpreter.entry_of(entries)
    assert type(found) is type(one_by_one)
    assert equal(found, one_by_one)
    for name in ("is_layer", "is_given", "size", "origin"):
        assert getattr(found, name, None) == getattr(one_by_one, name, None)


def test_an_answer_is_the_same_whatever_is_known_of_the_past() -> None:
    shape: Any = (Size.named("n"), 7)
    plain = Value(Spec(shape, np.dtype(np.float32)))
    answer = call(np.mean, [plain], {"axis": 1})
    assert call(np.mean, [as_input(plain, "x")], {"axis": 1}) is answer


def test_tools_that_nothing_is_known_of_are_not_loaded() -> None:
    """They cost as much as all of NumPy; what is handed to them is said to be nothing wrong."""
    ways = ["np.testing.assert_equal(x, x)", "numpy.testing.assert_equal(x, x)", "assert_equal(x, x)"]
    body = "".join([f"    {one}\n" for one in ways])
    text = f"{HEAD}import numpy.testing\nfrom numpy.testing import assert_equal\ndef f(x: {V}):\n{body}    return x\n"
    script = "import sys; from symbolic.static.checking import check; print(check(sys.argv[1]).findings)"
    script = f"{script}; print([one for one in ('numpy.testing', 'unittest') if one in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script, text], cwd=ROOT, check=True, capture_output=True, text=True)
    assert run.stdout.splitlines() == ["[]", "[]"]
