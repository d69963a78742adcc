"""Is a call by a shortcut the same as one in the general way: its numbers, its promises, and what it refuses?

The general way is the oracle: within `context.special()` no call takes a shortcut.
"""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

import gc
import signal
import types
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import numpy as np
import pytest
from threads import in_threads

import symbolic as s
from symbolic import L2, SGD, Adam, AdamW, Clip, Momentum, Symbolic, Weight, symbolic
from symbolic.context import MODES, special
from symbolic.network import network

A = Annotated[np.ndarray, Symbolic]
F = Annotated[float, Symbolic]
RNG = np.random.default_rng(7)
ONES = np.ones(3)
X, Y = RNG.normal(size=(8, 5)), RNG.normal(size=8)


@pytest.fixture(autouse=True, scope="module", params=["numpy"])
def machine(request: pytest.FixtureRequest) -> Iterator[None]:
    with s.use(request.param):
        yield


def regression(dtype: Any = np.float64) -> Any:
    w, b = np.linspace(-1.0, 1.0, 5).astype(dtype), dtype(0.5)

    @symbolic
    def f(x: A, y: A) -> float:
        z = np.tanh(x @ Weight(w)) * Weight(2.0) + Weight(b)
        return np.mean((z - y) ** 2)

    return f


def halving(step: int) -> float:
    return float(0.5**step)


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "SGD": lambda: SGD(0.1),
    "parts": lambda: SGD(0.1, L2(0.5), Clip(0.3)),
    "schedule": lambda: SGD(halving),
    "Momentum": lambda: Momentum(0.1),
    "Adam": lambda: Adam(0.01),
    "AdamW": lambda: AdamW(s.Warmup(3, s.CosineDecay(0.1, 9))),
}


def state_of(net: Any, optimizer: Any) -> dict[str, bytes]:
    """All that a step may change, to the last bit."""
    weights = net.weights()
    found = {name: np.asarray(w.value).tobytes() for name, w in weights.items()}
    found |= {f"delta {name}": np.asarray(w.delta).tobytes() for name, w in weights.items()}
    found |= {f"type {name}": repr((type(w.value), type(w.delta))).encode() for name, w in weights.items()}
    return found | {name: value.tobytes() for name, value in optimizer.state_dict(weights).items()}


def warmed(call: Callable[..., Any], *inputs: Any, times: int = 4) -> Any:
    for _ in range(times):
        value = call(*inputs)
    return value


# --------------------------------------------------------------------------- the same numbers


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=lambda one: one.__name__)
def test_steps_are_those_of_the_general_way_to_the_last_bit(name: str, dtype: Any) -> None:
    nets, optimizers = [regression(dtype), regression(dtype)], [OPTIMIZERS[name](), OPTIMIZERS[name]()]
    steps = [net.trainer(optimizer) for net, optimizer in zip(nets, optimizers, strict=True)]
    x, y = X.astype(dtype), Y.astype(dtype)
    for _ in range(12):
        value = steps[0](x, y)
        with special():
            assert steps[1](x, y) == value
        states = [state_of(net, optimizer) for net, optimizer in zip(nets, optimizers, strict=True)]
        assert states[0] == states[1]
    assert steps[0].shortcuts.kept
    assert optimizers[0].count == 12


def test_the_usual_call_takes_the_shortcut(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not the general way, which would ask the table."""
    net = regression()
    step, predict = net.trainer(SGD(0.1)), net.predict
    warmed(step, X, Y)
    warmed(predict, X, Y)
    slope: Any = s.value_and_grad(lambda x: np.sum(np.sin(x) * x))
    warmed(slope, X)
    asked: list[Any] = []
    for paths in (network(net), slope.paths):
        monkeypatch.setattr(paths, "run", lambda *given: asked.append(given))
    step(X, Y), predict(X, Y), slope(X), step.run(3, X, Y)
    assert asked == []
    with pytest.raises(TypeError):
        step(X.astype(np.float32), Y)  # it has no answer
    assert len(asked) == 1


def test_numbers_and_their_square_and_quotient() -> None:
    def f(x: Any) -> Any:
        return ((1.0 + x) * Weight(2.0)) ** 2 / (x * 3.0) - -x

    nets = [symbolic(f, float, returns=float) for _ in range(2)]
    steps = [net.trainer(SGD(1e-3)) for net in nets]
    for x in (0.5, 1.5, -3.0, 1e-3, 1e10) * 3:
        value = steps[0](x)
        with special():
            assert value == steps[1](x) and type(value) is float
        assert nets[0].weights().popitem()[1].value == nets[1].weights().popitem()[1].value
    divided = symbolic(lambda x, y: x / y, float, float, returns=float)
    for _ in range(5):
        assert divided.predict(3.0, 2.0) == 1.5
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert divided.predict(1.0, 0.0) == np.inf
    squared = symbolic(lambda x: x**2, float, returns=float)
    values = RNG.normal(size=500) * np.exp(RNG.normal(size=500) * 20)
    assert all(squared.predict(float(v)) == np.power(v, 2) for v in values) and squared.predict(1e200) == np.inf


@pytest.mark.parametrize("argnums", [0, 1, (0, 1), (1, 0), -1])
def test_gradients_are_those_of_the_general_way(argnums: Any) -> None:
    def f(x: Any, w: Any) -> Any:
        return np.sum(np.tanh(x) * w + np.sqrt(np.abs(w)))

    fast: Any = s.value_and_grad(f, argnums)
    slow: Any = s.value_and_grad(f, argnums)
    for k in range(6):
        x, w = RNG.normal(size=4) + k, np.asarray(k + 1.0)
        with special():
            value, slopes = slow(x, w)
        found, others = fast(x, w)
        assert found == value and type(found) is type(value)
        pairs = zip(others, slopes, strict=True) if isinstance(argnums, tuple) else [(others, slopes)]
        for one, other in pairs:
            assert np.array_equal(one, other) and type(one) is type(other)
    assert fast.shortcuts.kept


def test_a_gradient_of_a_pair_with_more_beside_it() -> None:
    f = s.value_and_grad(lambda x: (np.sum(x * x), {"twice": x * 2.0, "name": "n"}), has_aux=True)
    for _ in range(6):
        (value, more), slope = f(np.arange(3.0))
        assert value == 5.0 and more["name"] == "n" and more["twice"].tolist() == [0.0, 2.0, 4.0]
        assert slope.tolist() == [0.0, 2.0, 4.0]
    aside = s.grad(lambda x: (np.sum(x * x), x * 2.0), has_aux=True)
    for _ in range(6):
        assert aside(np.arange(3.0))[1].tolist() == [0.0, 2.0, 4.0]


def test_other_kinds_of_inputs_go_the_general_way_and_come_back() -> None:
    net: Any = s.Times(s.Identity(), 2)
    for x in (2.0, 2.0, 2.0, 2.0, 3, True, np.float32(4.0), np.arange(3.0), np.array(5.0), 2.0, np.arange(2), 7.5) * 3:
        with special():
            expected = net.predict(x)
        found = net.predict(x)
        assert np.array_equal(found, expected) and type(found) is type(expected)
    with pytest.raises(TypeError):
        net.predict()
    assert isinstance(net(s.Identity()), s.Layer)


# --------------------------------------------------------------------------- what is read from outside

FACTOR = 2.0
TABLE = {"k": 1.0}
VECTOR = np.arange(3.0)


def scaled(x: Any) -> Any:
    return x * FACTOR


def changes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], None]]:
    def patched(name: str, value: Any) -> Callable[[], None]:
        return lambda: monkeypatch.setitem(globals(), name, value)

    def other(x: Any) -> Any:
        return x * 5.0

    code = scaled.__code__
    return {
        "a number": patched("FACTOR", 3.0),
        "a function": patched("scaled", other),
        "a function's code": lambda: monkeypatch.setattr(scaled, "__code__", other.__code__),
        "back": lambda: monkeypatch.setattr(scaled, "__code__", code),
        "an entry": lambda: monkeypatch.setitem(TABLE, "k", 7.0),
        "an array": patched("VECTOR", np.ones(3)),
        "its entries": lambda: VECTOR.__setitem__(0, 9.0),
        "its shape": patched("VECTOR", np.ones(1)),
        "nothing": lambda: None,
    }


def reading(x: Any) -> Any:
    return np.sum(scaled(x) * TABLE["k"] + VECTOR)


def test_what_a_function_reads_may_change_between_two_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(3.0)
    net, slope = symbolic(reading, np.ndarray, returns=float), s.value_and_grad(reading)
    moving = symbolic(lambda x: reading(x) * Weight(1.0), np.ndarray, returns=float)
    step = moving.trainer(SGD(0.0))
    kept = VECTOR.copy()
    for change in changes(monkeypatch).values():
        for _ in range(2):
            warmed(net, x), warmed(slope, x), warmed(step, x)
            change()
            expected = reading(x)
            assert net(x) == expected and slope(x)[0] == expected and step(x) == expected
    monkeypatch.undo()
    VECTOR[:] = kept


def test_a_name_may_lose_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    net = symbolic(lambda x: x * FACTOR, float, returns=float)
    warmed(net.predict, 2.0)
    with monkeypatch.context() as changed:
        changed.delitem(globals(), "FACTOR")
        with pytest.raises(NameError):
            net.predict(2.0)
    assert net.predict(2.0) == 4.0


def test_a_closure_and_defaults_may_change() -> None:
    factor = 2.0

    def times(x: Any, by: float = 1.0) -> Any:
        return x * by

    net = symbolic(lambda x: times(x) * factor, float, returns=float)
    assert warmed(net.predict, 3.0) == 6.0
    factor = 5.0
    assert warmed(net.predict, 3.0) == 15.0
    times.__defaults__ = (2.0,)
    assert warmed(net.predict, 3.0) == 30.0


def test_where_each_call_reads_another_value_no_function_is_written_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    net = symbolic(lambda x: x * FACTOR, float, returns=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s.SymbolicWarning)
        for k in range(30):
            monkeypatch.setitem(globals(), "FACTOR", float(k))
            assert warmed(net.predict, 2.0) == 2.0 * k
    shortcuts = network(net).shortcuts
    assert len(shortcuts.kept) <= 4 and len(shortcuts.served) <= 4


def test_decisions_take_the_general_way() -> None:
    def f(x: Any) -> Any:
        return x * Weight(1.0) if x > 0 else x * Weight(3.0)

    net = symbolic(f, float, returns=float)
    step = net.trainer(SGD(0.0))
    for x in (1.0, -1.0, 2.0, -2.0, 3.0) * 4:
        assert step(x) == net.predict(x) == (x if x > 0 else 3.0 * x)
    assert not step.shortcuts.kept


# --------------------------------------------------------------------------- modes


def test_timing_and_check_finite_may_be_entered_between_two_calls() -> None:
    net: Any = s.Sequential(s.Linear(5, 3), s.Log())
    x = np.ones((2, 5))
    next(iter(net.weights().values())).assign(np.ones((5, 3)))
    warmed(net.predict, x)
    assert network(net).shortcuts.kept and not MODES
    with net.timing():
        net.predict(x)
    assert net.times() and sum(row.forward for row in net.times()) > 0
    with s.check_finite(), pytest.raises(s.LayerError, match="not finite"), np.errstate(all="ignore"):
        net.predict(-x)
    with np.errstate(all="ignore"):
        assert np.isnan(net.predict(-x)).all()
    assert not MODES


def test_a_call_within_a_trace_is_no_usual_one() -> None:
    inner = symbolic(lambda x: x * Weight(2.0), float, returns=float)
    warmed(inner.predict, 3.0)
    outer = symbolic(lambda x: x * inner.predict(3.0), float, returns=float)
    assert outer.predict(1.0) == 6.0
    inner.weights().popitem()[1].assign(5.0)
    assert outer.predict(1.0) == 15.0 == warmed(outer.predict, 1.0)


def test_no_mode_is_left_behind_by_an_error() -> None:
    def failing(x: Any) -> Any:
        raise OSError("gone")

    with pytest.raises(OSError):
        symbolic(failing, float).predict(1.0)
    with pytest.raises(ValueError), s.check_finite():
        raise ValueError
    assert not MODES


# --------------------------------------------------------------------------- optimizers


def test_the_rate_the_settings_and_the_optimizer_may_change() -> None:
    class Scaled(SGD):
        scale = 1.0

        def rule(self, weight: Any, delta: Any, state: Any, rate: Any, count: Any) -> Any:
            return weight - rate * self.scale * delta, ()

    net = symbolic(lambda x: x * Weight(0.0), float, returns=float)
    (w,) = net.weights().values()
    optimizer = Scaled(1.0)
    step = net.trainer(optimizer)
    warmed(step, 1.0)
    changes: list[tuple[Callable[[], None], float]] = [
        (lambda: setattr(optimizer, "learning_rate", 0.5), 0.5),
        (lambda: setattr(optimizer, "scale", 4.0), 2.0),
        (lambda: setattr(optimizer, "learning_rate", lambda count: 0.25), 1.0),
        (lambda: w.assign(100.0), 1.0),
        (lambda: setattr(step, "optimizer", SGD(8.0)), 8.0),
    ]
    for change, moved in changes:
        change()
        for _ in range(4):
            before = w.value
            step(1.0)
            assert w.value == before - moved


def test_the_optimizer_of_the_surrounding_block_is_read_at_each_step() -> None:
    net = symbolic(lambda x: x * Weight(0.0), float, returns=float)
    (w,) = net.weights().values()
    step = net.trainer()
    for rate in (1.0, 0.5, 2.0, 0.5):
        with SGD(rate):
            for _ in range(5):
                before = w.value
                step(1.0)
                assert w.value == before - rate
    with pytest.warns(s.SymbolicWarning, match="no optimizer"):
        step(1.0)


def test_a_weights_own_optimizer_and_a_weight_without_one() -> None:
    a, b, c = Weight(1.0, optimizer=SGD(1.0)), Weight(1.0, optimizer=Momentum(0.5)), Weight(1.0)
    twins = [Weight(1.0, optimizer=SGD(1.0)), Weight(1.0, optimizer=Momentum(0.5)), Weight(1.0)]
    fast: Any = s.Identity() * a + s.Identity() * b + s.Identity() * c
    slow: Any = s.Identity() * twins[0] + s.Identity() * twins[1] + s.Identity() * twins[2]
    steps = fast.trainer(), slow.trainer()
    for _ in range(8):
        value = steps[0](1.0)
        with special():
            assert steps[1](1.0) == value
        assert [w.value for w in (a, b, c)] == [w.value for w in twins]
        assert [w.delta for w in (a, b, c)] == [w.delta for w in twins]
    assert c.value == 1.0 and c.delta == 1.0 and steps[0].shortcuts.kept


def test_an_optimizer_made_anew_at_each_step_still_warns() -> None:
    net = symbolic(lambda x: x * Weight(0.0), float, returns=float)
    warmed(net.trainer(Momentum(0.1)), 1.0, times=1)
    with pytest.warns(s.SymbolicWarning, match="starts without state"):
        net.trainer(Momentum(0.1))(1.0)
    optimizer = Momentum(0.1)
    step = net.trainer(optimizer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", s.SymbolicWarning)
        warmed(step, 1.0)
    optimizer.load_state_dict(net.weights(), {**optimizer.state_dict(net.weights()), "count": np.asarray(0)})
    warmed(net.trainer(Momentum(0.2)), 1.0, times=1)
    with pytest.warns(s.SymbolicWarning, match="starts without state"):
        step(1.0)


def test_two_optimizers_may_take_turns() -> None:
    net = symbolic(lambda x: x * Weight(0.0), float, returns=float)
    (w,) = net.weights().values()
    steps = net.trainer(SGD(1.0)), net.trainer(SGD(0.5))
    for _ in range(6):
        before = w.value
        steps[0](1.0), steps[1](1.0)
        assert w.value == before - 1.5


# --------------------------------------------------------------------------- promises


def test_what_was_handed_out_never_changes() -> None:
    net = regression()
    optimizer = Adam(0.1)
    step = net.trainer(optimizer)
    held: list[Any] = []
    for k in range(9):
        values = [step(X, Y), net.predict(X, Y)]
        if k % 2:
            values += [w.value for w in net.weights().values()]
        values += [w.delta for w in net.weights().values()]
        held += [(one, np.array(one)) for one in values]
    assert all(np.array_equal(one, copy) for one, copy in held)


def bad_steps() -> dict[str, Any]:
    def schedule(step: int) -> float:
        if step == 6:
            raise OSError("no rate today")
        return 0.1

    return {
        "loss": (lambda x: np.log(x) * Weight(1.0) * Weight(2.0), SGD(0.1), -1.0, FloatingPointError),
        "schedule": (lambda x: x * Weight(1.0) * Weight(2.0), SGD(schedule), 1.0, OSError),
        "update": (lambda x: x * Weight(1.0) + Weight(2.0), SGD(10.0), 1e308, FloatingPointError),
    }


@pytest.mark.parametrize("name", ["loss", "schedule", "update"])
def test_a_step_that_fails_leaves_all_as_it_was(name: str) -> None:
    f, optimizer, bad, error = bad_steps()[name]
    net = symbolic(f, float, returns=float)
    step = net.trainer(optimizer)
    with np.errstate(all="ignore"):
        warmed(step, 0.0 if name == "update" else 1.0, times=6)
        assert step.shortcuts.kept
        before = state_of(net, optimizer)
        with pytest.raises((error, s.SymbolicError)):
            step(bad)
    assert state_of(net, optimizer) == before


def test_an_operation_that_fails_says_where_and_leaves_all_as_it_was() -> None:
    net = symbolic(lambda x, k: np.sum(x[k] * Weight(np.ones(2))), np.ndarray, np.ndarray, returns=float)
    optimizer = Adam(0.1)
    step = net.trainer(optimizer)
    x = np.arange(3.0)
    warmed(step, x, np.array([0, 1]))
    before = state_of(net, optimizer)
    with pytest.raises(IndexError, match=r"test_shortcut\.py:\d+") as caught:
        step(x, np.array([0, 9]))
    assert isinstance(caught.value, s.LayerError) and state_of(net, optimizer) == before
    step(x, np.array([0, 1]))
    with pytest.raises(IndexError, match=r"test_shortcut\.py:\d+"):
        net.predict(x, np.array([9, 9]))


def test_large_numbers_warn_of_nothing() -> None:
    """The quick look squares what it sees; that its squares overflow concerns nobody."""
    net = symbolic(lambda x: np.sum(x * Weight(np.ones(3))), np.ndarray, returns=float)
    step = net.trainer(SGD(0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            assert step(np.full(3, 1e200)) == np.sum(np.full(3, 1e200))
    assert step.shortcuts.kept


def test_a_factor_that_is_not_finite_where_nothing_flows() -> None:
    fast, slow = [s.value_and_grad(lambda x: np.sum(np.where(x >= 0, x, np.sqrt(-x)))) for _ in range(2)]
    with np.errstate(all="ignore"):
        for x in (np.array([1.0, -4.0]), np.array([1.0, 0.0]), np.array([1.0, -4.0])) * 3:
            with special():
                value, slope = slow(x)
            assert fast(x)[0] == value and np.array_equal(fast(x)[1], slope)


def test_a_callback_sees_each_forward_once_and_may_use_the_network() -> None:
    seen: list[float] = []
    w = Weight(1.0)

    def look(value: Any) -> None:
        seen.append(float(value))
        if value == 2.0 and len(seen) < 30:
            net.predict(3.0)  # which moves nothing

    net: Any = s.Times(s.Times(s.Identity(), w).on_output(look), 1.0)
    step = net.trainer(SGD(0.0))
    for _ in range(6):
        assert step(2.0) == 2.0
    assert seen == [2.0, 3.0] * 6


# --------------------------------------------------------------------------- threads and interrupts


def test_threads_lose_no_step_and_see_no_half_of_one() -> None:
    a, b = Weight(np.zeros(4)), Weight(np.zeros(4))
    net: Any = s.Sum(s.Identity() * a) + s.Sum(s.Identity() * b)
    optimizer = SGD(1.0)
    step = net.trainer(optimizer)
    x = np.ones(4)
    warmed(step, x)
    apart: Any = s.Sum(a) - s.Sum(b) + 0.0 * s.Identity()
    warmed(apart.predict, 1.0)
    wrong: list[Any] = []

    def work(k: int) -> None:
        for _ in range(200):
            if k:
                step(x)
            elif apart.predict(1.0) != 0.0:
                wrong.append(1)

    in_threads(work, 4)
    assert wrong == [] and optimizer.count == 604
    assert np.all(a.value == -604.0) and np.all(b.value == -604.0)


@contextmanager
def interrupted(seconds: float) -> Iterator[None]:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer of this kind")
def test_an_interrupt_falls_between_steps() -> None:
    a, b = Weight(0.0), Weight(np.zeros(3))
    net: Any = s.Identity() * a + s.Sum(b)
    optimizer = Momentum(1.0, momentum=0.0)
    step = net.trainer(optimizer)
    warmed(step, 1.0)
    for k in range(30):
        try:
            with np.errstate(), interrupted(1e-4 * (1 + k % 7)):  # NumPy's own block may be left half-way
                for _ in range(20_000):  # an interrupt within a destructor goes unheard
                    step(1.0)
        except KeyboardInterrupt:
            pass
        assert a.value == -optimizer.count and np.all(b.value == -optimizer.count)
        assert optimizer.state_of(a) == (1.0,)
    warmed(step, 1.0)
    assert a.value == -optimizer.count


def test_a_network_is_gone_when_nobody_holds_it() -> None:
    net = regression()
    warmed(net.predict, X, Y)
    assert network(net).shortcuts.kept
    gone = weakref.ref(net)
    del net
    gc.collect()
    assert gone() is None


def test_a_layer_called_by_position_predicts() -> None:
    @symbolic
    def f(x: A, n: int = 2, y: A = ONES) -> A:
        return x * n + y

    for _ in range(6):
        assert f(np.ones(3)).tolist() == [3.0] * 3
        assert f(np.ones(3), 4).tolist() == [5.0] * 3
        assert f(np.ones(3), y=np.zeros(3)).tolist() == [2.0] * 3
    assert isinstance(f, types.FunctionType) is False


def test_what_a_shortcut_holds_is_freed_at_once() -> None:
    """Nothing that it is written over leads back to who keeps it."""
    net, x = regression(), X.copy()
    step, slope = net.trainer(SGD(0.1)), s.value_and_grad(lambda v: np.sum(v * v))
    warmed(step, x, Y), warmed(net.predict, x, Y), warmed(slope, x)
    kept = [*step.shortcuts.kept, *network(net).shortcuts.kept, *slope.shortcuts.kept]
    gone = [weakref.ref(one) for one in (*kept, step, slope)]
    assert len(kept) == 3
    gc.collect()
    gc.disable()
    try:
        del kept, step, slope, net
        assert [one() for one in gone] == [None] * 5
    finally:
        gc.enable()
