"""Is every body noticed that differs from run to run, though one that cannot is run once?"""

import builtins
import functools
import gc
import itertools
import math
import os
import random
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.random as drawn
import pytest

import symbolic.trace
from symbolic import SymbolicWarning, Weight, grad
from symbolic import symbolic as decorated
from symbolic.certain import is_certain
from symbolic.leaves import Identity
from symbolic.sweeping import unswept

# --------------------------------------------------------------------------- what differs from run to run
COUNT = 0
STEPS = itertools.count(1)
HELD = [0.0]
BOX = types.SimpleNamespace(count=0.0)
TABLE: dict[str, float] = {"count": 0.0}
MOVING = random.random
ALIAS = np.random


class Counter:
    """An object with state, in each of the ways in which one can be asked."""

    def __init__(self) -> None:
        self.count = 0.0

    def __call__(self) -> float:
        self.count += 1.0
        return self.count

    def __add__(self, other: float) -> float:
        return self() + other

    def __getitem__(self, index: int) -> float:
        return self()

    def __len__(self) -> int:
        return int(self())

    def __float__(self) -> float:
        return self()

    def __iter__(self) -> Iterator[float]:
        yield self()

    @property
    def sum(self) -> float:
        return self()

    def mean(self) -> float:
        return self()


ONE = Counter()


def counted() -> float:
    global COUNT
    COUNT += 1
    return float(COUNT)


def attributed() -> float:
    attributed.shape = getattr(attributed, "shape", 0.0) + 1.0  # type: ignore[attr-defined]
    return float(attributed.shape)  # type: ignore[attr-defined]


def appended(held: list[float] = [0.0]) -> float:  # noqa: B006
    held.append(held[-1] + 1.0)
    return held[-1]


def imported() -> float:
    import random as sum

    return sum.random()


def nested() -> float:
    def inner() -> float:
        return next(STEPS) * 1.0

    return sum(inner() for _ in range(1))


def enclosed() -> Callable[[], float]:
    count = 0.0

    def inner() -> float:
        nonlocal count
        count += 1.0
        return count

    return inner


def stored() -> float:
    TABLE["count"] += 1.0
    return TABLE["count"]


def shifted() -> float:
    HELD.append(HELD.pop() + 1.0)
    return HELD[0]


def boxed() -> float:
    BOX.count += 1.0
    return float(BOX.count)


def evaluated() -> float:
    return float(eval("random.random()"))


def yielded() -> Callable[[], float]:
    def steps() -> Iterator[float]:
        while True:
            yield random.random()

    return functools.partial(next, steps())


def wrapped() -> Callable[[], float]:
    @functools.wraps(random.random)
    def inner() -> float:
        return random.random()

    return inner


def of_memory() -> float:
    return float(np.sum(np.arange(3.0)) + id(object()) % 7 + time.perf_counter())


DIFFERENT: dict[str, Callable[[], float]] = {
    "a global": counted,
    "an attribute of a function": attributed,
    "a default": appended,
    "an import": imported,
    "a function within": nested,
    "a cell": enclosed(),
    "a dictionary": stored,
    "a list": shifted,
    "a namespace": boxed,
    "eval": evaluated,
    "a generator": yielded(),
    "a wrapper": wrapped(),
    "an object": ONE,
    "a method": ONE.mean,
    "an operator": lambda: ONE + 1.0,
    "an index": lambda: ONE[0],
    "a length": lambda: len(ONE),
    "a conversion": lambda: float(ONE),
    "a loop": lambda: sum(one for one in ONE),
    "a property": lambda: ONE.sum,
    "another name": lambda: MOVING(),
    "a module by another name": lambda: ALIAS.random(),
    "a module of NumPy's": lambda: drawn.rand(),
    "a clock": lambda: time.perf_counter(),
    "a lambda with a default": lambda draw=random.random: draw(),  # type: ignore[misc]
    "map": lambda: next(map(lambda one: one(), [random.random])),  # noqa: C417
    "max": lambda: max([0.0], key=lambda _: random.random()) + random.random(),
    "a partial": functools.partial(random.uniform, 0.0, 1.0),
    "memory": of_memory,
    "a bound method": random.Random(3).random,
    "an iterator": lambda: next(STEPS) * 1.0,
    "a system call": lambda: os.urandom(8)[0] * 1.0 + time.perf_counter(),
    "what looks like a sum": lambda sum=random.random: sum(),  # type: ignore[misc]
}


@pytest.mark.parametrize("draw", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_whatever_differs_from_run_to_run_is_not_certain(draw: Callable[[], float]) -> None:
    assert len({draw() for _ in range(3)}) > 1  # it does differ
    assert not is_certain(lambda x: x * draw(), [Identity()])
    assert not is_certain(draw, [])


def test_a_body_that_differs_is_noticed_in_a_call() -> None:
    net = decorated(lambda x: x * 0.0 + nested(), np.ndarray)
    with pytest.warns(SymbolicWarning, match="differs from run to run"):
        values = [float(net.predict(np.zeros(1))[0]) for _ in range(3)]
    assert len(set(values)) == 3


def test_an_argument_that_can_change_is_not_certain() -> None:
    def body(x: Any, more: Any) -> Any:
        return x * more[0]

    assert is_certain(body, [Identity(), (2.0, 3)])
    for more in ([2.0], ONE, {0: 1.0}, random.random, np.ones(3), (1.0, [2.0])):
        assert not is_certain(body, [Identity(), more])


def test_a_function_that_somebody_has_replaced_is_not_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    def body(x: Any) -> Any:
        return np.tanh(x) + math.floor(1.5) + abs(x)

    assert is_certain(body, [Identity()])
    for module, name in ((np, "tanh"), (math, "floor"), (builtins, "abs")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, lambda _: random.random())
            assert not is_certain(body, [Identity()])


# --------------------------------------------------------------------------- what does not
W = Weight(np.ones(3))
WIDTH = 3
OLD = hasattr(np.linalg, "linalg")


def helper(x: Any, n: int = WIDTH) -> Any:
    return np.sum([x * k for k in range(n)], axis=0)


def looped(x: Any) -> Any:
    total, seen = 0.0, []
    for k, row in enumerate(zip(x, x, strict=True)):
        seen.append(row[0] @ W if k % 2 else np.max(row[1]))
        total = total + seen[-1]
    return total * math.pi + np.sqrt(np.sum(x**2))


def tried(x: Any) -> Any:
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        return x.T


CERTAIN: dict[str, Callable[[Any], Any]] = {
    "an operator": lambda x: (1.0 + x) * W,
    "helpers": lambda x: helper(x) + helper(x, 2),
    "loops": looped,
    **({} if OLD else {"a norm": lambda x: np.linalg.norm(x)}),  # there a module stands beside it, of any name
    "comprehensions": lambda x: sum(np.exp(row).mean() for row in x),
    "assignment": lambda x: np.where(x > 0, x, np.float32(0.5)),
    "conditions": lambda x: x if x.shape[0] > 2 and x.ndim == 2 else -x,
    "methods": lambda x: x.reshape(-1, 1).swapaxes(0, 1).sum(axis=0),
    "dtypes": lambda x: x.astype(np.float64) + np.zeros(3, np.float32) + np.inf,
}


@pytest.mark.parametrize("body", CERTAIN.values(), ids=CERTAIN.keys())
def test_a_body_that_cannot_differ_is_run_once(body: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Any] = []
    run = symbolic.trace._run

    def noted(*args: Any, **named: Any) -> Any:
        runs.append(args)
        return run(*args, **named)

    monkeypatch.setattr(symbolic.trace, "_run", noted)
    x = np.arange(9.0).reshape(3, 3) + np.eye(3)
    net = decorated(body, np.ndarray)
    plainly = types.FunctionType(body.__code__, {**body.__globals__, "W": W.value}, None, body.__defaults__)
    np.testing.assert_allclose(net.predict(x), plainly(x), rtol=1e-12)
    assert len(runs) == 1


def test_a_gradient_of_a_body_that_cannot_differ() -> None:
    x = np.arange(1.0, 4.0)
    np.testing.assert_allclose(grad(lambda x: np.sum(np.tanh(x) * x))(x), np.tanh(x) + x * (1 - np.tanh(x) ** 2))


def test_what_a_body_reads_may_change_between_calls() -> None:
    """One run says which places are read: they are looked at in every call, as ever."""
    space: dict[str, Any] = {"np": np, "scale": 2.0}
    exec("def body(x):\n    return np.exp(x) * scale\n", space)
    net = decorated(space["body"], np.ndarray)
    assert net.predict(np.zeros(1))[0] == 2.0
    space["scale"] = 5.0
    assert net.predict(np.zeros(1))[0] == 5.0


# --------------------------------------------------------------------------- the collector waits, and goes on
def test_the_collector_is_afterwards_as_it_was() -> None:
    seen = []
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        try:
            with unswept():
                with unswept():
                    seen.append(gc.isenabled())
                seen.append(gc.isenabled())
            assert gc.isenabled() is enabled
            with pytest.raises(KeyError), unswept():
                raise KeyError
            assert gc.isenabled() is enabled
        finally:
            gc.enable()
    assert seen == [False] * 4


def test_the_collector_waits_for_the_last_of_several_threads() -> None:
    first, second = threading.Event(), threading.Event()

    def work() -> None:
        with unswept():
            first.set()
            second.wait(10)

    thread = threading.Thread(target=work)
    with unswept():
        thread.start()
        first.wait(10)
    assert not gc.isenabled()
    second.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.skipif(sys.platform == "win32", reason="nothing forks there")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # JAX's, where another test has loaded it
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_child_that_is_forked_meanwhile_collects() -> None:
    with unswept():
        child = os.fork()
        if not child:
            os._exit(0 if gc.isenabled() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert gc.isenabled()


def test_a_handler_in_between_leaves_the_collector_as_it_was() -> None:
    """At each instruction of a block's beginning and end in turn, a handler that traces comes in between."""
    codes = {unswept.__enter__.__code__, unswept.__exit__.__code__}

    def run(n: int) -> bool:
        left = n

        def stepped(frame: Any, event: str, given: Any) -> Any:
            nonlocal left
            left -= event == "opcode"
            if left == 0:
                sys.settrace(None)
                with unswept():
                    pass
            return stepped if left > 0 else None

        def called(frame: Any, event: str, given: Any) -> Any:
            if frame.f_code not in codes:
                return None
            frame.f_trace = stepped  # Python 3.13 tells the opcodes only of a frame that has one
            frame.f_trace_opcodes = True
            return stepped

        sys.settrace(called)
        try:
            with unswept():
                pass
        finally:
            sys.settrace(None)
        return left <= 0

    n = 1
    while run(n):
        assert gc.isenabled(), n
        n += 1
    assert gc.isenabled() and n > 40
