"""Is a program run by the machine that was chosen, and does it say so?"""

import os
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threads import in_threads

import symbolic as s
from symbolic import SGD, Adam, SymbolicError, Weight, machines, symbolic
from symbolic.backends import pool
from symbolic.backends.native import engine, host
from symbolic.backends.native.machine import Native

HAS_LLVM = find_spec("llvmlite") is not None
MACHINES: list[Any] = [
    "numpy",
    "auto",
    pytest.param("native", marks=pytest.mark.skipif(not HAS_LLVM, reason="the native machine needs llvmlite")),
]
needs_llvm = pytest.mark.skipif(not HAS_LLVM, reason="the native machine needs llvmlite")
X = np.linspace(-1.0, 2.0, 12).reshape(4, 3)
START = np.linspace(0.1, 0.7, 6).reshape(3, 2)


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    before: Any = machines._Choice.name
    yield
    s.use(before)


def net_of(body: Any = None) -> Any:
    def usual(x: Any) -> Any:
        start = np.linspace(0.1, 0.7, 6).reshape(3, 2)  # `START` itself would be watched, by Python
        return np.sum(np.tanh(x @ Weight(start)) ** 2)

    return symbolic(body or usual, np.ndarray)


def chosen() -> str:
    return machines._Choice.name


def runs_on(net: Any, x: Any = X) -> str:
    """As `explain` says it."""
    return str(net.explain(x)).split(",")[0].split(":")[0]


# --------------------------------------------------------------------------- which machine is chosen


@pytest.mark.parametrize("machine", MACHINES)
def test_a_choice_holds_until_the_next(machine: Any) -> None:
    s.use(machine)
    assert chosen() == machine
    s.use("numpy")
    assert chosen() == "numpy"


@pytest.mark.parametrize("inner", MACHINES)
@pytest.mark.parametrize("outer", MACHINES)
def test_a_block_gives_back_what_was_chosen_before(outer: Any, inner: Any) -> None:
    before = chosen()
    with s.use(outer):
        for _ in range(2):
            with s.use(inner):
                assert chosen() == inner
            assert chosen() == outer
    assert chosen() == before


def test_a_block_that_fails_gives_it_back_and_hides_nothing() -> None:
    before = chosen()
    with pytest.raises(KeyError, match="mine"), s.use("auto"), s.use("numpy"):
        raise KeyError("mine")
    assert chosen() == before


def test_what_is_chosen_within_a_block_ends_with_it() -> None:
    before = chosen()
    with s.use("auto"):
        s.use("numpy")
        assert chosen() == "numpy"
    assert chosen() == before


@pytest.mark.parametrize("name", ["gpu", "NumPy", "", "native ", None, 3])
def test_an_unknown_machine_is_refused_and_changes_nothing(name: Any) -> None:
    before = chosen()
    with pytest.raises(SymbolicError, match=r"which is no machine; choose one of auto, numpy, native") as caught:
        s.use(name)
    assert repr(name) in str(caught.value) and chosen() == before


def without_llvmlite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "_there", lambda: False)


def test_without_llvmlite_the_native_machine_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    without_llvmlite(monkeypatch)
    s.use("auto")
    with pytest.raises(SymbolicError, match=r'use\(.native.\) without llvmlite.*; pip install "symbolic-layers'):
        s.use("native")
    assert chosen() == "auto"


def test_without_llvmlite_auto_is_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    without_llvmlite(monkeypatch)
    with s.use("auto"):
        net = net_of()
        assert runs_on(net) == "NumPy"
        step = net.trainer(SGD(0.1))
        for _ in range(5):
            net.predict(X)
            step(X)
        assert runs_on(net) == "NumPy"
        assert net.explain(X, optimizer=SGD(0.1)).startswith("NumPy: ")


@pytest.mark.parametrize("said", ["gpu", "numpy,native"])
def test_the_environment_may_be_wrong_too(said: str) -> None:
    run = started(said, "try: net.predict(1.0)\nexcept s.SymbolicError as error: print(error)")
    assert run == f"SYMBOLIC_MACHINE={said}, which is no machine; choose one of auto, numpy, native"
    assert started(said, "with s.use('numpy'): print(net.predict(0.0))") == "1.0"


@needs_llvm
@pytest.mark.parametrize(
    ("name", "said", "words"),
    [
        (
            "SYMBOLIC_CPU",
            "nonsense",
            "SYMBOLIC_CPU is 'nonsense', which is no processor, in the environment; set it to",
        ),
        ("SYMBOLIC_THREADS", "many", "SYMBOLIC_THREADS is 'many', which is no number of threads, in the environment;"),
    ],
)
@pytest.mark.parametrize("machine", ["auto", "native"])
def test_what_the_environment_says_of_code_may_be_wrong_too(name: str, said: str, words: str, machine: str) -> None:
    """It is said before anything has run, at every program, and to whoever chooses the machine; never by a warning."""
    tried = "try: {}\nexcept s.SymbolicError as error: print(error)"
    lines = [tried.format(one) for one in ("net.predict(1.0)", f"s.use({machine!r})", "s.grad(np.sin)(1.0)")]
    lines += ["with s.use('numpy'): print(net.predict(0.0))"]
    run = started(machine, "\n".join(["import numpy as np", *lines]), **{name: said}).splitlines()
    assert len(run) == 4 and all(one.startswith(words) for one in run[:3]) and run[3] == "1.0"


@pytest.mark.parametrize(("said", "expected"), [("", "auto"), ("numpy", "numpy"), (" NumPy ", "numpy"), (None, "auto")])
def test_the_environment_says_what_is_chosen_at_first(said: str | None, expected: str) -> None:
    assert started(said, "print(s.machines._Choice.name)") == expected


def started(said: str | None, lines: str, **others: str) -> str:
    """What a new process prints in which the environment names a machine."""
    environment = {name: value for name, value in os.environ.items() if name != "SYMBOLIC_MACHINE"}
    environment |= others if said is None else {"SYMBOLIC_MACHINE": said, **others}
    script = f"import symbolic as s\nimport symbolic.machines\nnet = s.Exp()\n{lines}"
    run = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    return run.stdout.strip()


# --------------------------------------------------------------------------- what it does


@needs_llvm
def test_a_choice_takes_effect_at_once() -> None:
    net = net_of()
    for machine, said in [("numpy", "NumPy"), ("native", "native"), ("numpy", "NumPy"), ("auto", "native")]:
        s.use(machine)  # type: ignore[arg-type]  # one of them
        for _ in range(5):
            net.predict(X)
            assert runs_on(net) == said


@needs_llvm
def test_weights_and_states_go_from_machine_to_machine() -> None:
    """The oracle is a network that stays with NumPy."""
    nets = [net_of() for _ in range(2)]
    optimizers = [Adam(0.05) for _ in range(2)]
    steps = [net.trainer(one) for net, one in zip(nets, optimizers, strict=True)]
    for turn, machine in enumerate(["native", "numpy", "auto", "native", "numpy"]):
        with s.use(machine):  # type: ignore[arg-type]  # one of them
            found = steps[0].run(3 + turn, X), steps[0](X)
        with s.use("numpy"):
            expected = steps[1].run(3 + turn, X), steps[1](X)
        assert np.allclose(found, expected, rtol=1e-12)
    one, other = (next(iter(net.weights().values())).value for net in nets)
    assert np.allclose(one, other, rtol=1e-12) and optimizers[0].count == optimizers[1].count == 30


@needs_llvm
def test_steps_that_hold_values_give_them_back_when_the_machine_changes() -> None:
    from symbolic.backends.native import layouts
    from symbolic.backends.native.steps import ALL

    with s.use("native"):
        net = net_of()
        step = net.trainer(SGD(0.1))
        for _ in range(4):
            step(X)
        weight = next(iter(net.weights().values()))
        held = weight.cell.owner
        if layouts.trouble():
            pytest.skip(f"no native call path: {layouts.trouble()}")
        assert held in ALL
        with s.use("numpy"):
            assert weight.cell.owner is None and held not in ALL
            moved = weight.value.copy()
            step(X)
            assert weight.cell.owner is None and not np.array_equal(weight.value, moved)
    assert step.optimizer.count == 5


@needs_llvm
@pytest.mark.parametrize("declared", [Any, float, np.float64, np.floating, np.ndarray, None, "nothing"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_a_body_declares_to_return_comes_out_of_machine_code_too(declared: Any, dtype: Any) -> None:
    from symbolic.backends.native import layouts

    def body(x: Any) -> Any:
        return np.sum(np.tanh(x) * Weight(np.full(3, 0.5)))

    hints = {} if declared == "nothing" else {"returns": declared}
    del body.__annotations__["return"]
    found: list[Any] = []
    for machine in ("native", "numpy"):
        with s.use(machine):
            net: Any = symbolic(body, np.ndarray, **hints)
            step = net.trainer(SGD(0.0))
            found.append([type(one) for _ in range(4) for one in (step(X.astype(dtype)), net.predict(X.astype(dtype)))])
            within = step.steps is not None
            assert within == (machine == "native" and declared is not np.ndarray) or layouts.trouble()
    assert found[0] == found[1]


@needs_llvm
def test_native_code_gives_the_same_bits_from_the_first_run_on() -> None:
    with s.use("native"):
        found = [net_of().predict(X) for _ in range(3)]
        net = net_of()
        found += [net.predict(X) for _ in range(6)]
    assert len(set(found)) == 1


@needs_llvm
def test_a_choice_may_change_while_others_compute() -> None:
    net = net_of()
    net.predict(X)
    expected = np.sum(np.tanh(X @ START) ** 2)

    def work(k: int) -> None:
        for turn in range(20):
            if k == 0:
                s.use(("numpy", "native", "auto")[turn % 3])
            assert np.isclose(net.predict(X), expected, rtol=1e-12)

    in_threads(work, 3)


# --------------------------------------------------------------------------- when "auto" takes native code


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was compiled before."""
    monkeypatch.setenv("SYMBOLIC_CACHE_DIR", str(tmp_path / "empty"))


class Asked:
    """For how long programs native code has been asked, and the threads in which others wait for it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at_once: list[int] = []
        self.beside: list[Any] = []
        plain, asked = machines._native, self

        def counted(program: Any, into: Any, always: bool) -> Any:
            self.at_once.append(len(program.instructions))
            return plain(program, into, always)

        class Waiting:
            """A thread that begins when it is told to."""

            def __init__(self, target: Any, name: str) -> None:
                self.target = target

            def start(self) -> None:
                asked.beside.append(self.target)

        monkeypatch.setattr(machines, "_native", counted)
        monkeypatch.setattr(threading, "Thread", Waiting)


@needs_llvm
@pytest.mark.usefixtures("empty")
def test_a_few_calls_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    s.use("auto")
    asked, net = Asked(monkeypatch), net_of()
    monkeypatch.setattr(machines, "_FIRST", 1e9)
    monkeypatch.setattr(machines, "_PATIENCE", 1e9)
    step = net.trainer(SGD(0.1))
    for _ in range(12):
        net.predict(X)
        step(X)
    assert asked.at_once == asked.beside == []


@needs_llvm
@pytest.mark.usefixtures("empty")
@pytest.mark.parametrize("kind", ["step", "prediction", "large arrays"])
def test_what_has_run_for_a_while_is_compiled_beside_the_calls(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    s.use("auto")
    asked, net = Asked(monkeypatch), net_of()
    monkeypatch.setattr(machines, "_FIRST", 0.0)
    monkeypatch.setattr(machines, "_PATIENCE", 0.0)
    x = np.ones((30_000, 3)) if kind == "large arrays" else X
    call, optimizer = (net.trainer(SGD(0.0)), SGD(0.0)) if kind == "step" else (net.predict, None)
    for _ in range(4):
        call(x)
    assert asked.at_once == [] and len(asked.beside) == 1
    asked.beside.pop()()
    assert len(asked.at_once) == 1
    monkeypatch.setattr(engine, "object_code", None)  # whatever the next calls need was compiled, too
    for _ in range(3):
        assert np.isclose(call(x), np.sum(np.tanh(x @ START) ** 2))
    assert net.explain(x, optimizer=optimizer).startswith("native") and asked.beside == [] and len(asked.at_once) == 1


@needs_llvm
@pytest.mark.usefixtures("empty")
def test_what_numpy_would_take_as_long_for_is_compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    s.use("auto")
    asked = Asked(monkeypatch)
    monkeypatch.setattr(machines, "_HEAVY", 100_000)
    monkeypatch.setattr(machines, "_EACH", 0)
    net_of(lambda x: np.sum(np.exp(x) * 2.0)).predict(np.zeros((300, 300)))
    assert len(asked.at_once) == 1 and asked.beside == []
    monkeypatch.setattr(machines, "_EACH", 100_000)  # but each instruction takes LLVM longer
    net_of(lambda x: np.sum(np.exp(x) * 3.0)).predict(np.zeros((300, 300)))
    assert len(asked.at_once) == 1


class Runs:
    """How often NumPy's code has run; code that is compiled beside it is there when `go` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
        self.numpy, self.go = 0, threading.Event()
        count, native = machines.Waiting._count, machines._native

        def counted(waiting: Any, seconds: float) -> None:
            self.numpy += 1
            count(waiting, seconds)

        def later(program: Any, into: Any, always: bool) -> Any:
            self.go.wait(60.0)
            return native(program, into, always)

        monkeypatch.setattr(machines.Waiting, "_count", counted)
        monkeypatch.setattr(machines, "_native", later)
        monkeypatch.setattr(host, "threads", lambda: threads)
        monkeypatch.setattr(machines, "_FIRST", 0.0)
        monkeypatch.setattr(machines, "_PATIENCE", 0.0)
        monkeypatch.setattr(machines, "_WORTH", 1e9)


LARGE = np.linspace(-1.0, 2.0, 180_000).reshape(60_000, 3)


def compiling() -> bool:
    return any(one.name == "symbolic: compiling" for one in threading.enumerate())


@needs_llvm
@pytest.mark.usefixtures("empty")
def test_on_one_core_a_long_call_waits_for_the_compiler_once(monkeypatch: pytest.MonkeyPatch) -> None:
    s.use("auto")
    runs, net, ready = Runs(monkeypatch, 1), net_of(), []
    monkeypatch.setattr(Native, "prepare_prediction", lambda *of: ready.append(threading.current_thread().name))
    expected = np.sum(np.tanh(LARGE @ START) ** 2)
    assert np.isclose(net.predict(LARGE), expected) and runs.numpy == 1
    assert not compiling()  # a script of one call has nothing of it
    threading.Timer(0.05, runs.go.set).start()
    assert np.isclose(net.predict(LARGE), expected)
    assert ready == ["symbolic: compiling"]  # though the first call has said only at its end what is to be made ready
    for _ in range(3):
        assert np.isclose(net.predict(LARGE), expected)
    assert runs.numpy == 1


@needs_llvm
@pytest.mark.usefixtures("empty")
def test_a_call_that_waits_leaves_the_memory_of_results_to_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    s.use("auto")
    runs, net, held = Runs(monkeypatch, 1), net_of(lambda x: np.exp(x) * 2.0), []
    native = machines._native

    def looked(program: Any, into: Any, always: bool) -> Any:
        held.append([[one.nbytes for one in buffers] for buffers in pool._buffers.values()])
        return native(program, into, always)

    monkeypatch.setattr(machines, "_native", looked)
    monkeypatch.setattr(pool, "_buffers", {})
    runs.go.set()
    kept = net.predict(LARGE)
    expected, gone = kept.copy(), pool.array(LARGE.shape, LARGE.dtype)  # a result of another call
    del gone
    assert held == []
    for _ in range(3):
        np.testing.assert_allclose(net.predict(LARGE), expected, rtol=1e-14)
    assert held == [[[kept.base.nbytes]]] and np.array_equal(kept, expected)


@needs_llvm
@pytest.mark.usefixtures("empty")
@pytest.mark.parametrize("why", ["another core compiles", "it would take too long", "the body looks at numbers"])
def test_otherwise_no_call_waits(monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    s.use("auto")
    runs = Runs(monkeypatch, 2 if why.startswith("another") else 1)
    if why.startswith("it"):
        monkeypatch.setattr(machines, "_EACH", 10**30)
    looks = why.startswith("the body")
    net = net_of((lambda x: np.sum(np.tanh(x)) if x[0, 0] < 0 else np.sum(x)) if looks else None)
    first = net.predict(LARGE)
    try:
        for k in range(2, 5):
            assert net.predict(LARGE) == first and runs.numpy == k
    finally:
        runs.go.set()


@needs_llvm
@pytest.mark.usefixtures("empty")
def test_an_error_after_waiting_is_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    s.use("auto")
    runs = Runs(monkeypatch, 1)
    runs.go.set()
    net = symbolic(lambda x, k: np.sum(np.tanh(x)[k]), np.ndarray, np.ndarray)
    many = np.arange(len(LARGE))
    assert np.isclose(net.predict(LARGE, many), np.sum(np.tanh(LARGE)))
    with pytest.raises(IndexError, match="out of bounds"):
        net.predict(LARGE, many + 1)
    assert np.isclose(net.predict(LARGE, many), np.sum(np.tanh(LARGE)))


@needs_llvm
@pytest.mark.usefixtures("empty")
def test_another_choice_meanwhile_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    s.use("auto")
    asked, net = Asked(monkeypatch), net_of()
    monkeypatch.setattr(machines, "_FIRST", 0.0)
    monkeypatch.setattr(machines, "_PATIENCE", 0.0)
    for _ in range(4):
        net.predict(X)
    with s.use("numpy"):
        asked.beside.pop()()
        assert runs_on(net) == "NumPy" and np.isclose(net.predict(X), np.sum(np.tanh(X @ START) ** 2))


USUAL = """
import sys
import numpy as np
import symbolic as s

def loss(x):
    return np.sum(np.tanh(x @ s.Weight(np.full((3, 2), 0.5))) ** 2)

net = s.symbolic(loss, np.ndarray)
x, step = np.linspace(-1.0, 2.0, 12).reshape(4, 3), net.trainer(s.Adam(0.1))
losses = [float(step(x)) for _ in range(5)] + [float(net.predict(x)) for _ in range(5)]
rooms = [name for name in sys.modules if name.startswith(("llvmlite", "symbolic.backends.native."))]
print(losses, ",".join(sorted(rooms)), net.explain(x, optimizer=s.Adam(0.1)).split(",")[0], sep=chr(10))
"""
RUNNING = {
    *("abi", "answers", "engine", "fitting", "host", "identity", "layouts", "machine", "predictions"),
    *("axisless", "recipes"),
    *("steps", "store", "watching"),
}
"""The rooms that are needed to run code which was compiled before."""


@needs_llvm
def test_a_script_that_is_run_again_loads_what_runs_code_and_nothing_that_writes_it(tmp_path: Path) -> None:
    def run(machine: str) -> tuple[list[float], set[str], str]:
        script = tmp_path / "script.py"
        script.write_text(USUAL)
        environment = {**os.environ, "SYMBOLIC_CACHE_DIR": str(tmp_path / "kept"), "SYMBOLIC_MACHINE": machine}
        done = subprocess.run(
            [sys.executable, script], env=environment, capture_output=True, text=True, check=True, timeout=120
        )
        losses, rooms, explained = done.stdout.splitlines()
        return eval(losses), {one.removeprefix("symbolic.backends.native.") for one in rooms.split(",")}, explained

    few, loaded, _ = run("auto")  # nothing is kept, and nothing is worth compiling
    assert loaded <= RUNNING
    native, loaded, _ = run("native")
    assert "llvmlite" in loaded and loaded > RUNNING
    again, loaded, explained = run("native")
    assert loaded == RUNNING and again == native and explained == "native"
    kept, loaded, explained = run("auto")
    assert loaded == RUNNING and explained == "native"
    assert np.allclose(kept, few, rtol=1e-9) and np.allclose(native, few, rtol=1e-9)


@needs_llvm
def test_what_would_go_to_and_fro_stays_with_numpy_unless_it_is_chosen() -> None:
    net = net_of(lambda x: np.sum(np.partition(np.partition(x, 1, axis=0), 1)))
    with s.use("auto"):
        assert runs_on(net) == "NumPy"
    with s.use("native"):
        assert runs_on(net) == "native"


@needs_llvm
def test_a_native_machine_that_fails_is_told_and_numpy_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    from symbolic.backends.native import machine

    def broken(*_: Any, **__: Any) -> Any:
        raise OSError("no memory that may be run")

    monkeypatch.setattr(machine, "Native", broken)
    with s.use("native"), pytest.warns(s.SymbolicWarning, match="NumPy runs the program: OSError: no memory"):
        found = net_of().predict(X)
    assert np.isclose(found, np.sum(np.tanh(X @ START) ** 2))


# --------------------------------------------------------------------------- what it says


@needs_llvm
def test_explain_says_what_numpy_has_and_why() -> None:
    with s.use("native"):
        net = net_of(lambda x: np.sum(np.partition(np.partition(np.exp(x), 1), 1, axis=0)))
        first, *rest = net.explain(X).splitlines()
    assert first.startswith("native, ") and first.endswith(" nests of loops, 0 sums of products")
    assert rest == ["NumPy: Partition, for Partition is not written as loops (2 times)"]


@pytest.mark.parametrize("machine", MACHINES)
def test_to_ask_runs_and_moves_nothing(machine: Any) -> None:
    seen: list[float] = []
    net, optimizer = net_of().on_output(seen.append), Adam(0.1)
    with s.use(machine):
        texts = {(net.explain(X), net.explain(X, optimizer=optimizer)) for _ in range(4)}
        programs = {(str(net.program(X)), str(net.program(X, optimizer=optimizer))) for _ in range(4)}
    assert len(texts) == len(programs) == 1 and not seen
    assert not optimizer.count and np.array_equal(next(iter(net.weights().values())).value, START)


def test_a_program_is_that_of_the_inputs_and_the_optimizer() -> None:
    net = net_of()
    assert "float64[4, 2]" in str(net.program(X)) and "float64[7, 2]" in str(net.program(np.ones((7, 3))))
    forward, step = net.program(X), net.program(X, optimizer=SGD(0.1))
    assert forward.split == len(forward.instructions) and step.split < len(step.instructions)
    assert "# backward" in str(step) and "# backward" not in str(forward)
    kept = net.program(X, optimizer=Adam(0.1))
    assert len(kept.outputs) == len(step.outputs) + 2  # both moments
    assert len(forward.outputs) == 1 and len(step.outputs) == 3  # value, delta, weight


def test_a_program_does_not_depend_on_the_machine() -> None:
    net = net_of()
    texts = set()
    for machine in ["numpy", "auto", *(["native"] if HAS_LLVM else [])]:
        with s.use(machine):  # type: ignore[arg-type]  # one of them
            net.predict(X)
            texts.add((str(net.program(X)), str(net.program(X, optimizer=Adam(0.1)))))
    assert len(texts) == 1


@pytest.mark.parametrize("ask", ["program", "explain"])
def test_a_question_about_inputs_that_do_not_fit_is_the_errors_of_a_call(ask: str) -> None:
    net = net_of()
    with pytest.raises(s.ShapeError) as called:
        net.predict(np.ones((4, 5)))
    with pytest.raises(s.ShapeError) as asked:
        getattr(net, ask)(np.ones((4, 5)))
    assert str(asked.value) == str(called.value)


def test_a_machine_is_chosen_while_another_thread_loads_what_steps_need(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "symbolic.backends.native.steps"
    monkeypatch.setitem(sys.modules, name, types.ModuleType(name))  # as far as it has come
    with s.use("numpy"):
        assert machines.chosen() == "numpy"
