"""Do steps and predictions in machine code do what the general way does, whatever happens between two of them?

The oracle is NumPy's machine, which takes every step in Python.
"""

from __future__ import annotations

import copy
import gc
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest
from threads import in_threads

import symbolic as s
from symbolic import L2, SGD, Adam, Clip, CosineDecay, Momentum, RMSprop, SymbolicError, Weight, symbolic

pytest.importorskip("llvmlite")
RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(8, 3)), RNG.normal(size=(8, 2))
SCALE = 1.0


@pytest.fixture(autouse=True)
def native() -> Iterator[None]:
    with s.use("native"):
        yield


def regression(dtype: Any = np.float64) -> tuple[Any, Weight, Weight]:
    """The loss of a small network, and its two weights."""
    start = np.random.default_rng(1)
    w, b = Weight(start.normal(size=(3, 2)).astype(dtype)), Weight(np.zeros(2, dtype))

    def loss(x: Any, y: Any) -> Any:
        return np.mean((np.tanh(x @ w + b) - y) ** 2)

    return symbolic(loss, np.ndarray, np.ndarray, returns=float), w, b


def in_machine_code(step: Any) -> bool:
    return step.steps is not None and bool(step.steps.held)


def states(optimizer: Any, *weights: Any) -> list[Any]:
    return [np.asarray(one) for weight in weights for one in optimizer.state_of(weight)]


def trajectory(machine: Any, make: Callable[[], Any], dtype: Any, count: int) -> list[Any]:
    with s.use(machine):
        net, w, b = regression(dtype)
        optimizer = make()
        step = net.trainer(optimizer)
        losses = [step(X.astype(dtype), Y.astype(dtype)) for _ in range(count)]
        assert in_machine_code(step) == (machine == "native" and not callable(optimizer.learning_rate))
        last = step.run(5, X.astype(dtype), Y.astype(dtype))
        assert optimizer.count == count + 5
        return [*losses, last, w.value, b.value, w.delta, b.delta, *states(optimizer, w, b)]


RULES: list[Callable[[], Any]] = [
    lambda: SGD(0.1),
    lambda: Momentum(0.1, momentum=0.8),
    lambda: Adam(0.02),
    lambda: RMSprop(0.01),
    lambda: Adam(0.02, L2(0.01), Clip(0.5)),
    lambda: SGD(CosineDecay(0.1, 20)),
]


@pytest.mark.parametrize("make", RULES, ids=lambda make: str(make()).partition("(")[0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_same_trajectory(make: Callable[[], Any], dtype: Any) -> None:
    found, wanted = (trajectory(one, make, dtype, 12) for one in ("native", "numpy"))
    for one, other in zip(found, wanted, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype and type(one) is type(other)
        np.testing.assert_allclose(one, other, rtol=1e-10 if dtype is np.float64 else 2e-4, atol=1e-12)


def scalar_net() -> tuple[Any, Weight]:
    w = Weight(2.0)
    return symbolic(lambda x: (w * x - 1.0) ** 2, float, returns=float), w


def test_float_weights() -> None:
    (one, w), (other, v) = scalar_net(), scalar_net()
    mine, theirs = one.trainer(Momentum(0.01)), other.trainer(Momentum(0.01))
    for k in range(30):
        value = mine(0.5 + 0.01 * k)
        with s.use("numpy"):
            assert value == pytest.approx(theirs(0.5 + 0.01 * k), rel=1e-12) and type(value) is float
    assert w.value == pytest.approx(v.value, rel=1e-12) and type(w.value) is float


# --------------------------------------------------------------------------- what is looked at, and changed


EVENTS: dict[str, Callable[..., Any]] = {
    "a value is read": lambda net, w, b, optimizer, step: [w.value, b.value],
    "a delta is read": lambda net, w, b, optimizer, step: w.delta,
    "the states are read": lambda net, w, b, optimizer, step: states(optimizer, w, b),
    "the count is read": lambda net, w, b, optimizer, step: optimizer.count,
    "it is saved": lambda net, w, b, optimizer, step: list(optimizer.state_dict(net.weights()).values()),
    "it is loaded": lambda net, w, b, optimizer, step: optimizer.load_state_dict(
        net.weights(), optimizer.state_dict(net.weights())
    ),
    "a weight is assigned": lambda net, w, b, optimizer, step: w.assign(np.ones((3, 2))),
    "another rate": lambda net, w, b, optimizer, step: setattr(optimizer, "learning_rate", 0.01),
    "another optimizer": lambda net, w, b, optimizer, step: setattr(step, "optimizer", SGD(0.05)),
    "a prediction": lambda net, w, b, optimizer, step: net.predict(X, Y),
    "another batch": lambda net, w, b, optimizer, step: [step(X[:5], Y[:5]) for _ in range(3)],
    "several at once": lambda net, w, b, optimizer, step: step.run(7, X, Y),
    "none at once": lambda net, w, b, optimizer, step: step.run(0, X, Y),
    "inputs in another order": lambda net, w, b, optimizer, step: step(np.asfortranarray(X), Y[::-1]),
    "by another trainer": lambda net, w, b, optimizer, step: net.trainer(SGD(0.1))(X, Y),
    "by a twin of the trainer": lambda net, w, b, optimizer, step: [net.trainer(optimizer)(X, Y) for _ in range(3)],
    "by train": lambda net, w, b, optimizer, step: net.train(X, Y, optimizer=optimizer),
    "on the other machine": lambda net, w, b, optimizer, step: elsewhere(step),
    "a copy goes on": lambda net, w, b, optimizer, step: copied(net, optimizer),
    "what is wrong": lambda net, w, b, optimizer, step: refused(step),
}


def elsewhere(step: Any) -> list[Any]:
    with s.use("numpy"):
        return [step(X, Y) for _ in range(2)]


def copied(net: Any, optimizer: Any) -> list[Any]:
    twin, other = copy.deepcopy((net, optimizer))
    step = twin.trainer(other)
    return [step(X, Y) for _ in range(4)]


def refused(step: Any) -> None:
    with pytest.raises(s.SymbolicError):
        step(X[:, :2], Y)
    with pytest.raises(s.NonFiniteError, match="input"):
        step(np.full_like(X, np.nan), Y)


def scripted(machine: Any, event: str, before: int, make: Callable[[], Any]) -> list[Any]:
    """Steps, an event, steps, the event, …; all that comes out."""
    with s.use(machine):
        net, w, b = regression()
        optimizer = make()
        step, found = net.trainer(optimizer), []
        for _ in range(3):
            found += [step(X, Y) for _ in range(before)]
            held = [w.value, w.delta, *states(optimizer, w)] if event == "what is held stays" else []
            kept = [np.array(one) for one in held]
            came = EVENTS[event](net, w, b, optimizer, step) if event in EVENTS else step.run(3, X, Y)
            found += came if isinstance(came, list) else [came]
            assert all(map(np.array_equal, held, kept)), "what was given out is written over"
        found += [step(X, Y) for _ in range(4)]
        return [*found, w.value, b.value, w.delta, b.delta, *states(optimizer, w, b), optimizer.count]


@pytest.mark.parametrize("event", [*EVENTS, "what is held stays"], ids=lambda name: name.replace(" ", "_"))
def test_whatever_happens_between_two_steps(event: str) -> None:
    """At any time: before machine code takes over, while it holds the values, and after."""
    for before in (1, 3, 6):
        for make in (lambda: Adam(0.05), lambda: SGD(0.2)):
            found, wanted = (scripted(machine, event, before, make) for machine in ("native", "numpy"))
            assert len(found) == len(wanted)
            for one, other in zip(found, wanted, strict=True):
                assert type(one) is type(other)
                if one is not None:
                    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=f"{event} after {before}")


def test_what_was_given_out_is_never_written_over() -> None:
    net, w, _ = regression()
    optimizer = Adam(0.05)
    step = net.trainer(optimizer)
    for k in range(12):
        step(X, Y)
        held = [w.value, w.delta, *states(optimizer, w)]
        kept = [one.copy() for one in held]
        for _ in range(k):
            step(X, Y)
        step.run(3, X, Y)
        assert all(map(np.array_equal, held, kept))


def test_what_somebody_holds_is_not_taken_to_be_written_over() -> None:
    """Not even if it is read at the worst moment, as another thread may: between a step and the next hold."""
    net, w, b = regression()
    optimizer = Adam(0.05)
    step = net.trainer(optimizer)
    for _ in range(5):
        step(X, Y)
    step.steps.settle()
    held = [w.delta, b.delta, *states(optimizer, w, b)]
    kept = [one.copy() for one in held]
    assert step.steps.take()
    step.run(6, X, Y)
    assert all(map(np.array_equal, held, kept)), "a delta or a state was written over"
    value = w.value
    before = value.copy()
    assert not step.steps.take(), "somebody holds the value"
    step.run(6, X, Y)
    assert np.array_equal(value, before)


def test_another_value_of_a_global_is_seen() -> None:
    global SCALE
    w = Weight(np.ones(3))
    net = symbolic(lambda x: np.sum((w * x - SCALE) ** 2), np.ndarray, returns=float)
    step = net.trainer(SGD(0.0))
    x = np.array([1.0, 2.0, 3.0])
    try:
        for k in range(8):
            SCALE = float(k // 3)
            want = pytest.approx(np.sum((x - SCALE) ** 2), rel=1e-12)
            assert [step(x) for _ in range(6)] == [want] * 6
            assert in_machine_code(step)
            SCALE += 0.5
            want = pytest.approx(np.sum((x - SCALE) ** 2), rel=1e-12)
            assert step(x) == want, "in machine code it has not been seen"
            assert [net.predict(x) for _ in range(4)] == [want] * 4
    finally:
        SCALE = 1.0


def test_another_setting_of_an_own_rule_is_seen() -> None:
    class Scaled(s.Optimizer):
        def __init__(self) -> None:
            super().__init__(0.1)
            self.gain = 1.0

        def rule(self, weight: Any, delta: Any, state: Any, rate: Any, count: Any) -> Any:
            return weight - rate * self.gain * delta, state

    w = Weight(np.zeros(3))
    net = symbolic(lambda x: np.sum(w * x), np.ndarray, returns=float)
    optimizer = Scaled()
    step, x, want = net.trainer(optimizer), np.ones(3), 0.0
    for gain in (1.0, 2.0, 1.0, 3.0, 2.0):
        optimizer.gain = gain
        for _ in range(4):
            step(x)
            want -= 0.1 * gain
        np.testing.assert_allclose(w.value, want, rtol=1e-12)


def test_what_is_not_finite_moves_nothing_and_is_named() -> None:
    w = Weight(np.array([1.0, 2.0]))
    net = symbolic(lambda x: np.sum(np.log(w * x)), np.ndarray, returns=float)
    optimizer = Momentum(0.01)
    step, good = net.trainer(optimizer), np.array([1.0, 2.0])
    for _ in range(5):
        step(good)
    assert in_machine_code(step)
    before = [w.value.copy(), *[one.copy() for one in states(optimizer, w)], optimizer.count]
    runs: list[Callable[[Any], Any]] = [step, lambda x: step.run(1000, x)]
    for run in runs:
        with pytest.raises(s.NonFiniteError, match=r"Log|log"), np.errstate(all="ignore"):
            run(np.array([1.0, -1.0]))
        after = [w.value, *states(optimizer, w), optimizer.count]
        assert all(map(np.array_equal, before, after))
        step(good)
        optimizer.load_state_dict(net.weights(), optimizer.state_dict(net.weights()))
        w.assign(before[0])
        before = [w.value.copy(), *[one.copy() for one in states(optimizer, w)], optimizer.count]


def test_an_error_in_the_middle_of_a_row_leaves_the_steps_before_it() -> None:
    w = Weight(4.0)
    net = symbolic(lambda x: np.sqrt(w) * x, float, returns=float)
    optimizer = SGD(1.0)
    step = net.trainer(optimizer)
    with pytest.raises(s.NonFiniteError), np.errstate(all="ignore"):
        step.run(10**6, 1.0)
    count, value = 0, 4.0
    while value >= 0:
        value, count = value - 0.5 / np.sqrt(value), count + 1
    assert optimizer.count == count and w.value == pytest.approx(value)


# --------------------------------------------------------------------------- threads, signals, processes


def test_several_trainers_and_readers_at_once() -> None:
    """No step is lost, none is half seen, and no reader waits for the end of a row of steps."""
    a, b = Weight(np.zeros(300)), Weight(np.zeros(300))
    net = symbolic(lambda x: np.sum(a * x) + np.sum(b * x), np.ndarray, returns=float)
    optimizers = [SGD(1.0), SGD(1.0)]
    steps = [net.trainer(one) for one in optimizers]
    x, wrong = np.ones(300), []
    apart = symbolic(lambda x: np.sum(a * x) - np.sum(b * x), np.ndarray, returns=float)

    def work(k: int) -> None:
        for n in range(60):
            if k < 2:
                steps[k](x)
            elif k == 2:
                steps[0].run(5, x)
            elif k == 3:
                wrong.extend([1] if apart.predict(x) != 0.0 else [])
            else:
                value = a.value
                wrong.extend([2] if not np.all(value == value[0]) else [])
                wrong.extend([3] if optimizers[n % 2].count < 0 else [])

    in_threads(work, 6)
    assert wrong == []
    assert optimizers[0].count + optimizers[1].count == 60 + 60 + 300
    assert np.all(a.value == -420.0) and np.all(b.value == -420.0)


@contextmanager
def alarmed(seconds: float, handler: Callable[..., Any]) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, handler)
    gc.disable()  # what is raised within a callback of the collector goes nowhere
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()


needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer of this kind")


def counting() -> tuple[Any, Weight, Any]:
    w = Weight(np.zeros(4))
    net = symbolic(lambda x: np.sum(w * x), np.ndarray, returns=float)
    optimizer = Momentum(1.0, momentum=0.0)
    return net.trainer(optimizer), w, optimizer


@needs_timer
def test_an_interrupt_ends_a_row_of_steps_between_two() -> None:
    step, w, optimizer = counting()

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    for _ in range(3):
        step(np.ones(4))
    for k in range(12):
        with pytest.raises(KeyboardInterrupt), alarmed(2e-3 * (1 + k % 5), interrupt):
            step.run(10**9, np.ones(4))
        assert optimizer.count > 0 and np.all(w.value == -optimizer.count)
        assert np.all(optimizer.state_of(w)[0] == 1.0)


@needs_timer
def test_a_handler_may_read_and_step_in_the_middle_of_a_row() -> None:
    """As one that saves the weights does. While Python begins or ends a row, a step is refused, and moves nothing."""
    step, w, optimizer = counting()
    seen: list[Any] = []

    def look(*_: Any) -> None:
        before = optimizer.count, w.value[0]
        with suppress(SymbolicError):
            step(np.full(4, 2.0))
            seen.extend((before, (optimizer.count, w.value[0])))
        signal.setitimer(signal.ITIMER_REAL, 2e-3)

    x = np.ones(4)
    for _ in range(4):
        step(x)
    rows = 0
    with alarmed(2e-3, look):
        while len(seen) < 6:
            step.run(2_000_000, x)
            rows += 1
    assert optimizer.count == 4 + 2_000_000 * rows + len(seen) // 2, "a step was lost"
    moves = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(seen[::2], seen[1::2], strict=True)]
    assert moves == [(1, -2.0)] * (len(seen) // 2)
    assert np.all(w.value == -(optimizer.count + len(seen) // 2)), "the handler's steps were of other inputs"


@needs_timer
def test_a_handler_may_step_without_looking() -> None:
    """Then the row goes on with what it was given, not with what the handler gave."""
    step, w, optimizer = counting()
    calls: list[int] = []

    def look(*_: Any) -> None:
        with suppress(SymbolicError):
            step(np.full(4, 2.0))
            calls.append(1)
        signal.setitimer(signal.ITIMER_REAL, 2e-3)

    for _ in range(4):
        step(np.ones(4))
    with alarmed(2e-3, look):
        while len(calls) < 4:
            step.run(2_000_000, np.ones(4))
    assert np.all(w.value == -(optimizer.count + len(calls)))


def test_a_reader_need_not_wait_for_a_row_of_steps() -> None:
    step, w, optimizer = counting()
    step(np.ones(4))
    thread = threading.Thread(target=lambda: step.run(400_000, np.ones(4)))
    thread.start()
    seen = []
    for _ in range(20):
        seen.append(w.value.copy())
        time.sleep(1e-3)
    thread.join()
    assert all(np.all(one == one[0]) for one in seen) and [one[0] for one in seen] == sorted(
        [one[0] for one in seen], reverse=True
    )
    assert optimizer.count == 400_001 and np.all(w.value == -400_001.0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # JAX's, where another test has loaded it
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_child_goes_on_by_itself() -> None:
    step, w, optimizer = counting()
    for _ in range(5):
        step(np.ones(4))
    stop: list[int] = []
    others = threading.Thread(target=lambda: [step(np.ones(4)) for _ in iter(lambda: not stop, False)])
    others.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                count = optimizer.count
                step(np.ones(4)), step.run(3, np.ones(4))
                os._exit(0 if optimizer.count == count + 4 and np.all(w.value == -optimizer.count) else 1)
            deadline = time.monotonic() + 60
            found = (0, 0)
            while found == (0, 0) and time.monotonic() < deadline:
                found = os.waitpid(child, os.WNOHANG)
                time.sleep(1e-3)
            if found == (0, 0):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            assert found == (child, 0)
    finally:
        stop.append(1)
        others.join()
    assert np.all(w.value == -optimizer.count)


# --------------------------------------------------------------------------- copies and memory


def test_a_copy_has_values_of_its_own() -> None:
    w = Weight(np.zeros(3))
    net: Any = s.Sum(s.Identity() * w)
    optimizer = Momentum(0.5)
    step, x = net.trainer(optimizer), np.ones(3)
    for _ in range(5):
        step(x)
    assert in_machine_code(step)
    twin, other = copy.deepcopy((net, optimizer))
    before = w.value.copy()
    assert other.count == 5
    for _ in range(4):
        twin.trainer(other)(x)
    assert np.array_equal(w.value, before) and optimizer.count == 5
    step.run(4, x)
    assert np.array_equal(next(iter(twin.weights().values())).value, w.value) and other.count == optimizer.count == 9


def test_all_is_freed() -> None:
    def make() -> list[Any]:
        net, w, _ = regression()
        step = net.trainer(Adam(0.1))
        for _ in range(5):
            step(X, Y), net.predict(X, Y)
        step.run(3, X, Y)
        assert in_machine_code(step)
        return [weakref.ref(one) for one in (net, step, step.steps, w.cell.value)] + [weakref.ref(step.steps.native)]

    gone = make()
    gc.collect()
    assert [one() for one in gone] == [None] * 5


def test_what_a_trainer_moved_stays_when_it_is_gone() -> None:
    net, w, _ = regression()
    optimizer = SGD(0.1)
    step = net.trainer(optimizer)
    for _ in range(6):
        step(X, Y)
    assert in_machine_code(step)
    other, v, _ = regression()
    with s.use("numpy"):
        slow = other.trainer(SGD(0.1))
        for _ in range(6):
            slow(X, Y)
    del step
    gc.collect()
    np.testing.assert_allclose(w.value, v.value, rtol=1e-12)
    assert optimizer.count == 6 and w.cell.owner is None


def test_steps_keep_no_memory() -> None:
    net, w, _ = regression()
    step = net.trainer(Adam(0.1))
    for _ in range(4):
        _ = step(X, Y), net.predict(X, Y), w.value
    step.run(10, X, Y)
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(3000):
        step(X, Y), net.predict(X, Y)
    step.run(1000, X, Y)
    for _ in range(50):
        _ = w.value, step(X, Y)
    gc.collect()
    assert sys.getallocatedblocks() - before < 300


# --------------------------------------------------------------------------- predictions


def test_predictions_follow_the_weights() -> None:
    net, w, _ = regression()
    step = net.trainer(SGD(0.3))
    for k in range(10):
        got = net.predict(X, Y)
        with s.use("numpy"):
            assert got == pytest.approx(net.predict(X, Y), rel=1e-12) and type(got) is type(net.predict(X, Y))
        w.assign(np.full((3, 2), 0.1 * k)) if k % 3 == 2 else step(X, Y)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_predictions_of_every_form(dtype: Any) -> None:
    """Of one number, of an array, of several; for inputs of other forms in between."""
    w = Weight(np.arange(3.0, dtype=dtype))
    nets: list[Any] = [
        symbolic(lambda x: np.sum(w * x), np.ndarray, returns=float),
        symbolic(lambda x: w * x, np.ndarray, returns=np.ndarray),
        symbolic(lambda x: (w * x, np.max(x)), np.ndarray, returns=tuple[np.ndarray, float]),
        symbolic(lambda x: x * 2.0, np.ndarray, returns=np.ndarray),
    ]
    inputs = [
        np.ones(3, dtype),
        np.ones((2, 3), dtype),
        np.ones(3, np.int64),
        np.ones(6, dtype)[::2],
        np.ones(1, dtype),
    ]
    for net in nets:
        for x in inputs * 3:
            got = net.predict(x)
            with s.use("numpy"):
                want = net.predict(x)
            for one, other in zip(*[one if isinstance(one, tuple) else (one,) for one in (got, want)], strict=True):
                assert type(one) is type(other) and np.asarray(one).dtype == np.asarray(other).dtype
                np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_prediction_is_not_written_over_by_the_next() -> None:
    w = Weight(np.arange(3.0))
    net = symbolic(lambda x: w * x, np.ndarray, returns=np.ndarray)
    found = [net.predict(np.full(3, float(k))) for k in range(20)]
    assert all(np.array_equal(one, np.arange(3.0) * k) for k, one in enumerate(found))


def test_warnings_are_numpys() -> None:
    net = symbolic(lambda x: np.log(x) * 2.0, np.ndarray, returns=np.ndarray)
    for _ in range(4):
        net.predict(np.ones(5))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert net.predict(np.zeros(5))[0] == -np.inf
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match=r"test_native_steps\.py:\d+"):
        net.predict(np.zeros(5))
    assert np.all(net.predict(np.ones(5)) == 0.0)
