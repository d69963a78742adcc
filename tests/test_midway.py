"""Is a child of a fork right, and does it end, whatever its parent was importing or compiling?

Each scene has a process of its own. What another thread is in the middle of is held there by events, so that each fork
is made at that very moment.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symbolic as s
from symbolic import midway

X = np.linspace(0.1, 0.9, 6)
GRACE = 100.0  # seconds after which a thread goes on anyway, so that no test stands still
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


def fresh(turns: int = 2) -> Callable[[], bool]:
    """What a new program says, traced and compiled by nobody before: whether value and gradient are NumPy's."""
    scale = float(np.random.default_rng().uniform(0.5, 1.5))

    def body(x: Any) -> Any:
        for _ in range(turns):
            x = np.tanh(x * scale + 0.1 * x)
        return np.sum(x)

    found: Any = s.value_and_grad(body)
    near = [body(X + 1e-6 * one) - body(X - 1e-6 * one) for one in np.eye(X.size)]

    def check() -> bool:
        value, slope = found(X)
        return bool(np.isclose(value, body(X)) and np.allclose(slope, np.divide(near, 2e-6), atol=1e-6))

    check.explain = lambda: s.symbolic(body, np.ndarray).explain(X)  # type: ignore[attr-defined]
    return check


class Paused:
    """A thread that has come to a place, and waits there; `go` lets it go on."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.there, self.go = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=work)

    def here(self, *given: Any) -> None:
        if threading.current_thread() is self.thread:
            self.there.set()
            self.go.wait(GRACE)

    def started(self) -> Paused:
        self.thread.start()
        assert self.there.wait(GRACE)
        return self

    def ended(self) -> None:
        self.go.set()
        self.thread.join()


class Finder:
    """It has somebody wait who has begun to import a module, without the lock that all imports share."""

    def __init__(self, name: str, here: Callable[[], None]) -> None:
        self.name, self.here = name, here
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        spec: Any = PathFinder.find_spec(name, path)
        run = spec.loader.exec_module
        spec.loader.exec_module = lambda module: (self.here(), run(module))
        return spec


def importing(name: str, work: Callable[[], Any]) -> Paused:
    """Another thread, in the middle of the import of a module."""
    paused = Paused(work)
    Finder(name, paused.here)
    return paused.started()


def child_of(check: Callable[[], bool]) -> int:
    """How a child ends that checks, in the way of `multiprocessing`: it waits for its threads."""
    child = multiprocessing.get_context("fork").Process(target=lambda: sys.exit(0 if check() else 1))
    child.start()
    child.join(GRACE)
    if child.is_alive():
        child.kill()
        return -1
    assert child.exitcode is not None
    return child.exitcode


def goes_on(paused: Paused) -> None:
    """The fork waits until the other thread is done, and the child takes machine code."""
    threading.Timer(0.2, paused.go.set).start()
    check = fresh()
    assert child_of(lambda: check() and is_native(check) and not midway.cut()) == 0
    paused.ended()
    assert check() and is_native(check)


def is_cut_off(paused: Paused) -> None:
    """The fork waits no longer, and the child keeps to NumPy, and so does its own child; the parent goes on."""
    midway.LONGEST = 0.05
    check, other = fresh(), fresh()

    def alone() -> bool:
        said = bool(check() and other() and "fork" in str(check.explain()))  # type: ignore[attr-defined]
        with s.use("native"):
            return said and check() and fresh()() and "fork" in str(check.explain())  # type: ignore[attr-defined]

    assert child_of(lambda: alone() and child_of(alone) == 0) == 0
    paused.ended()
    assert check() and is_native(check) and not midway.cut()


def is_native(check: Any) -> bool:
    return str(check.explain()).startswith("native")


def compiling() -> Any:
    """A new program in machine code: no cache has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return fresh()()


# --------------------------------------------------------------------------- what the parent is in the middle of
def an_import_of_llvm(then: Callable[[Paused], None]) -> None:
    then(importing("llvmlite.binding.ffi", compiling))


def an_import_of_ours(then: Callable[[Paused], None]) -> None:
    then(importing("symbolic.backends.native.lowering", compiling))


def the_work_of_llvm(then: Callable[[Paused], None]) -> None:
    """Whoever calls LLVM has its lock."""
    from llvmlite import binding

    from symbolic.backends.native import engine  # noqa: F401 - it says what a fork holds

    def work() -> None:
        with binding.ffi.lib._lock:
            paused.here()

    paused = Paused(work)
    then(paused.started())


def the_growing_of_the_team(then: Callable[[Paused], None]) -> None:
    from symbolic.backends.native import team

    start, paused = team._start, Paused(team.address)

    def slowly(*given: Any) -> None:
        paused.here()
        start(*given)

    team._start = slowly  # type: ignore[assignment]  # of a process that ends soon
    then(paused.started())
    assert team.address()


SCENES = {
    one.__name__: one for one in (an_import_of_llvm, an_import_of_ours, the_work_of_llvm, the_growing_of_the_team)
}
ENDS = {one.__name__: one for one in (goes_on, is_cut_off)}


@pytest.mark.skipif(find_spec("llvmlite") is None, reason="there is no native machine")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere there is no team, and forks are rare")
@pytest.mark.parametrize("then", ENDS)
@pytest.mark.parametrize("scene", SCENES)
def test_a_fork_while_another_thread_is_midway(scene: str, then: str, tmp_path: Path) -> None:
    runs(scene, then, tmp_path)


def test_a_fork_while_a_room_is_loaded(tmp_path: Path) -> None:
    runs("a_room", "", tmp_path)


@pytest.mark.skipif(find_spec("llvmlite") is None, reason="there is no native machine")
def test_forks_while_a_program_is_compiled_beside_its_calls(tmp_path: Path) -> None:
    runs("beside", "", tmp_path)


def test_a_trace_while_another_thread_imports_the_random_generators(tmp_path: Path) -> None:
    runs("generators", "", tmp_path)


def test_a_choice_while_another_thread_imports_what_it_concerns(tmp_path: Path) -> None:
    runs("choosing", "", tmp_path)


def runs(scene: str, then: str, folder: Path) -> None:
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "SYMBOLIC_CACHE_DIR": str(folder), "SYMBOLIC_THREADS": "2"}
    run = subprocess.run(
        [sys.executable, __file__, scene, then], env=environment, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0 and run.stdout.split() == ["done"], run.stderr


# --------------------------------------------------------------------------- more, each in a process of its own
def a_room() -> None:
    """What NumPy's functions mean is loaded late, by whoever traces one first."""
    midway.LONGEST = 0.05
    slope: Any = s.grad(lambda x: np.sum(np.cumsum(x) * X))
    paused = importing("symbolic.ops.cumulative", lambda: s.grad(lambda x: np.sum(np.cumsum(x)))(X))
    want = np.cumsum(X[::-1])[::-1]  # each entry counts from its own place on
    assert child_of(lambda: bool(np.allclose(slope(X), want))) == 0
    paused.ended()
    assert np.allclose(slope(X), want)


def beside() -> None:
    """Left to itself, in the first seconds of a program; each child comes at another moment of the compiler's work."""
    check = fresh(30)
    children: list[Any] = []

    def again() -> None:
        sys.exit(0 if all(check() for _ in range(60)) else 1)

    for _ in range(8):
        end = time.perf_counter() + 0.06
        while time.perf_counter() < end:
            assert check()
        children.append(multiprocessing.get_context("fork").Process(target=again))
        children[-1].start()
    for one in children:
        one.join(GRACE)
    found = [one.exitcode for one in children]
    for one in children:
        one.kill()
    assert found == [0] * len(children), found


def generators() -> None:
    """`np.random` is imported when somebody names it; a traced function reads an object, which might be a generator."""
    assert "numpy.random" not in sys.modules
    held = type("Held", (), {"scale": 2.0})()
    slope: Any = s.grad(lambda x: np.sum(x * held.scale))
    paused = importing("numpy.random.mtrand", lambda: importlib.import_module("numpy.random"))
    assert np.array_equal(slope(X), np.full(6, 2.0))
    paused.ended()
    held.scale = 3.0
    assert np.array_equal(slope(X), np.full(6, 3.0))
    generator = np.random.default_rng(1)
    draws: Any = s.grad(lambda x: np.sum(x * generator.random()))
    assert not np.array_equal(draws(X), draws(X))  # no trace holds


def choosing() -> None:
    """A machine is chosen while another thread is still importing what it would tell of that."""
    paused = importing(
        "symbolic.backends.native.steps", lambda: importlib.import_module("symbolic.backends.native.steps")
    )
    with s.use("numpy"):
        assert fresh()()
    paused.ended()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    scene, then = sys.argv[1:]
    if scene in SCENES:
        with s.use("native"):
            SCENES[scene](ENDS[then])
    else:
        {one.__name__: one for one in (a_room, beside, choosing, generators)}[scene]()
    print("done")
