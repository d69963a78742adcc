"""Is `train` one step, whole or not at all, and is the fast path the same step?"""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

import contextlib
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symbolic as s
from symbolic import (
    L1,
    L2,
    SGD,
    Adagrad,
    Adam,
    AdamW,
    Clip,
    Identity,
    LayerError,
    Literal,
    Momentum,
    Nesterov,
    RMSprop,
    Sum,
    SymbolicError,
    SymbolicWarning,
    Times,
    Weight,
)

MAKERS: list[Any] = [
    lambda: SGD(0.1),
    lambda: SGD(0.1, L2(0.5), Clip(1.0)),
    lambda: SGD(s.ExponentialDecay(0.1, 0.9)),
    lambda: Momentum(0.1, L1(0.1)),
    lambda: Nesterov(0.1),
    lambda: Adagrad(0.1),
    lambda: RMSprop(0.1),
    lambda: Adam(0.1),
    lambda: AdamW(0.1, weight_decay=0.1),
]
IDS = [repr(make()) for make in MAKERS]


def network(seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    hidden = s.Tanh(s.MatMul(Identity(), Weight(rng.normal(size=(3, 4)), name="w")) + Weight(np.zeros(4), name="b"))
    return Sum((hidden * Weight(0.5, name="scale")) ** 2.0)


X = np.random.default_rng(1).normal(size=(5, 3))


def values(net: Any) -> list[bytes]:
    return [np.asarray(w.value).tobytes() for w in net.weights().values()]


def test_train_is_one_step_and_gives_the_value_from_before_it() -> None:
    w = Weight(2.0)
    net = Times(w, Identity())
    assert net.train(3.0, optimizer=SGD(0.1)) == 6.0
    assert (w.value, w.delta) == (2.0 - 0.1 * 3.0, 3.0)


def test_the_delta_of_an_array_is_ones() -> None:
    w = Weight(np.array([1.0, 2.0]))
    value = Times(w, Identity()).train(np.array([3.0, 4.0]), optimizer=SGD(0.1))
    assert np.array_equal(value, [3.0, 8.0]) and np.array_equal(w.delta, [3.0, 4.0])
    pair = s.ConcatTable(Times(w, 1.0), Times(w, 10.0))
    pair.train(0.0, optimizer=SGD(0.0))
    assert np.array_equal(w.delta, [11.0, 11.0])


@pytest.mark.parametrize("make", MAKERS, ids=IDS)
def test_train_the_trainer_and_the_tape_make_the_same_steps(make: Any) -> None:
    """Five steps each; interpreted at first, compiled later, by tape always interpreted."""
    by_train, by_step, by_run, by_tape = (network() for _ in range(4))
    optimizers = [make() for _ in range(4)]
    step = by_step.trainer(optimizers[1])
    losses: list[list[float]] = [[], [], []]
    for _ in range(5):
        losses[0].append(by_train.train(X, optimizer=optimizers[0]))
        losses[1].append(step(X))
        with optimizers[3], by_tape.forward(Literal(X)) as tape:
            losses[2].append(tape.value)
            tape.backward(1.0)
    last = by_run.trainer(optimizers[2]).run(5, X)
    assert losses[0] == losses[1] and last == losses[0][-1]
    assert values(by_train) == values(by_step) == values(by_run)
    assert losses[2] == pytest.approx(losses[0], rel=1e-12)
    for one, other in zip(by_tape.weights().values(), by_train.weights().values(), strict=True):
        assert np.allclose(one.value, other.value, rtol=1e-12, atol=1e-14)
    assert losses[0][-1] != losses[0][0] and [one.count for one in optimizers] == [5] * 4


def test_a_step_is_the_formula_of_the_gradient() -> None:
    net = network()
    before = {k: np.array(w.value) for k, w in net.weights().items()}

    def plain(w: Any, b: Any, scale: Any) -> Any:
        return np.sum((np.tanh(X @ w + b) * scale) ** 2.0)

    arguments = [before[k] for k in ("w", "b", "scale")]
    gradients = s.grad(plain, (0, 1, 2))(*arguments)
    assert net.train(X, optimizer=SGD(0.1)) == pytest.approx(plain(*arguments))
    for name, gradient in zip(("w", "b", "scale"), gradients, strict=True):
        assert np.allclose(net.weights()[name].value, before[name] - 0.1 * gradient)


def test_trained_on_another_shape_it_goes_on() -> None:
    net = network()
    optimizer = Adam(0.1)
    step = net.trainer(optimizer)
    for rows in (5, 2, 5, 1, 0):
        step(X[:rows])
    assert optimizer.count == 5


def test_train_with_nothing_to_move_raises() -> None:
    for net in (s.Exp(), Sum(Times(Identity(), 2.0)), s.Sequential(s.ReLU())):
        with pytest.raises(SymbolicError, match=r"nothing to move.*;"):
            net.train(1.0, optimizer=SGD(0.1))
        with pytest.raises(SymbolicError, match=r"nothing to move.*;"):
            net.trainer(SGD(0.1))(1.0)


def test_train_without_an_optimizer_keeps_the_deltas_and_says_so() -> None:
    w = Weight(2.0)
    with pytest.warns(SymbolicWarning, match="no optimizer"):
        assert Times(w, 3.0).train(0.0) == 6.0
    assert (w.value, w.delta) == (2.0, 3.0)


@pytest.mark.parametrize("make", MAKERS, ids=IDS)
@pytest.mark.parametrize("warm", [1, 5])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_loss_that_is_not_finite_moves_nothing(make: Any, warm: int, bad: float) -> None:
    optimizer = make()
    net = network()
    for _ in range(warm):
        net.train(X, optimizer=optimizer)
    before = values(net), {k: v.tobytes() for k, v in optimizer.state_dict(net.weights()).items()}
    spoiled = X.copy()
    spoiled[2, 1] = bad
    if np.isinf(bad):  # tanh saturates: the loss is finite, the gradient is not
        spoiled[2, 0] = -bad
    with pytest.raises((LayerError, FloatingPointError), match=r"not finite|nan|inf"), np.errstate(all="ignore"):
        net.train(spoiled, optimizer=optimizer)
    assert before == (values(net), {k: v.tobytes() for k, v in optimizer.state_dict(net.weights()).items()})
    net.train(X, optimizer=optimizer)


def test_the_error_names_the_layer_that_made_the_first_value_that_is_not_finite() -> None:
    class Square(s.Module):
        def build(self, input: Any) -> Any:
            return input * input

    net = s.Sequential(s.Linear(2, 2, seed=0), s.Log(), Square(), Sum())
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError) as caught:
        net.train(np.zeros((1, 2)), optimizer=SGD(0.1))
    text = str(caught.value)
    assert isinstance(caught.value, LayerError)
    assert "Sequential/1:Log()" in text and "Square" not in text


def test_an_infinite_gradient_of_a_finite_loss_raises_and_moves_nothing() -> None:
    w = Weight(0.0)
    for _ in range(4):
        with pytest.raises(FloatingPointError, match="gradient"), np.errstate(all="ignore"):
            s.Sqrt(w).train(0.0, optimizer=SGD(0.1))
    assert w.value == 0.0


def test_a_nan_that_predict_gives_is_only_a_value() -> None:
    with np.errstate(all="ignore"):
        assert np.isnan(s.Log(Times(Weight(1.0), Identity())).predict(-1.0))


def test_weights_by_path() -> None:
    net = s.Sequential(s.Linear(3, 4), s.Tanh(), s.Sequential(s.Linear(4, 2, bias=False)))
    assert list(net.weights()) == ["0/weight", "0/bias", "2/0/weight"]
    assert [w.value.shape for w in net.weights().values()] == [(3, 4), (4,), (4, 2)]
    shared = s.Linear(3, 3)
    assert list(s.Sequential(shared, shared).weights()) == ["0/weight", "0/bias"]
    assert all(isinstance(w, Weight) for w in net.weights().values())


def test_weights_with_optimizers_of_their_own() -> None:
    fast, slow = Weight(1.0, optimizer=SGD(0.5)), Weight(1.0, optimizer=Momentum(0.1))
    net = s.Plus(fast, slow)
    for _ in range(3):
        net.train(0.0)
    assert fast.value == pytest.approx(1.0 - 1.5)
    assert slow.value == pytest.approx(1.0 - 0.1 * (1 + 1.9 + 2.71))


def test_schedules_advance_once_per_step_not_once_per_weight() -> None:
    seen: list[int] = []

    def schedule(step: int) -> float:
        seen.append(step)
        return 0.1

    optimizer = SGD(schedule)
    net = s.Plus(Weight(1.0), s.Plus(Weight(1.0), Weight(1.0)))
    for _ in range(3):
        net.train(0.0, optimizer=optimizer)
    assert sorted(set(seen)) == [0, 1, 2] and optimizer.count == 3


@given(st.integers(1, 6), st.integers(1, 6))
def test_a_run_can_be_resumed_bit_for_bit(first: int, rest: int) -> None:
    whole, broken = network(), network()
    optimizer, before = Adam(0.1), Adam(0.1)
    whole.trainer(optimizer).run(first + rest, X)
    broken.trainer(before).run(first, X)
    saved = before.state_dict(broken.weights())
    resumed, after = network(3), Adam(0.1)
    for name, w in resumed.weights().items():
        w.assign(broken.weights()[name].value)
    after.load_state_dict(resumed.weights(), saved)
    resumed.trainer(after).run(rest, X)
    assert values(resumed) == values(whole)


def test_floating_point_warnings_are_those_of_numpy() -> None:
    net = s.Exp(Times(Identity(), Weight(1.0)))
    for _ in range(5):
        with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="overflow"):
            net.predict(np.array([1000.0]))
        with np.errstate(over="warn"), pytest.warns(RuntimeWarning, match="overflow"):
            net.predict(np.array([1000.0]))
        with np.errstate(all="ignore"):
            assert net.predict(np.array([1000.0]))[0] == np.inf
        with np.errstate(all="raise"):
            assert net.predict(np.array([0.0]))[0] == 1.0
            Sum(net).train(np.array([0.0]), optimizer=SGD(0.0))


def test_times_add_up_to_the_total() -> None:
    class Slow(s.Module):
        def build(self, input: Any) -> Any:
            return s.Identity().on_output(lambda value: time.sleep(0.02))(input)

    net = s.Sequential(s.Linear(3, 3, seed=0), Slow(), s.ReLU(), s.Linear(3, 1, seed=0))
    net.predict(X)
    with net.timing():
        net.train(X, optimizer=SGD(0.1))
        net.predict(X)
    rows = {row.layer: row for row in net.times()}
    assert set(rows) >= {"Sequential/0:Linear(3, 3)", "Sequential/3:Linear(3, 1)"}
    slow = [row for name, row in rows.items() if "Slow" in name]
    assert sum(row.forward for row in slow) >= 0.04
    assert rows["Sequential/0:Linear(3, 3)"].forward < 0.02 and rows["Sequential/0:Linear(3, 3)"].backward > 0.0
    before = [tuple(row) for row in net.times()]
    net.train(X, optimizer=SGD(0.1))
    assert before == [tuple(row) for row in net.times()]  # outside, nothing is recorded


# --------------------------------------------------------------------------- nothing is moved by what is not finite


def test_timing_changes_nothing() -> None:
    """The clock is no reason to commit a NaN, nor to leave 0 · ∞ alone."""
    weight: Any = Weight(np.array([1.0, 4.0]))
    net = s.Sum(s.Where(np.array([False, True]), s.Sqrt(weight - 1.0), weight)) + s.Sum(s.Log(s.Identity()))
    plain: Any = Weight(np.array([1.0, 4.0]))
    twin = s.Sum(s.Where(np.array([False, True]), s.Sqrt(plain - 1.0), plain)) + s.Sum(s.Log(s.Identity()))
    with net.timing():
        net.train(np.ones(2), optimizer=SGD(0.1))
        with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="loss is nan"):
            net.train(-np.ones(2), optimizer=SGD(0.1))
    twin.train(np.ones(2), optimizer=SGD(0.1))
    assert np.array_equal(weight.value, plain.value) and np.all(np.isfinite(weight.value))


def test_an_update_that_overflows_moves_nothing() -> None:
    weight: Any = Weight(np.array([1.0, 2.0]))
    with pytest.raises(FloatingPointError, match="update"):
        (weight * 1e10).train(0.0, optimizer=SGD(1e300))
    assert np.array_equal(weight.value, [1.0, 2.0])
    with pytest.raises(FloatingPointError, match="update"), SGD(0.1), (weight * 1.0).forward(s.Literal(0.0)) as tape:
        tape.backward(np.array([np.nan, 1.0]))
    assert np.array_equal(weight.value, [1.0, 2.0])


def test_the_message_names_the_input_or_the_weight_that_is_not_finite() -> None:
    net = s.Linear(2, 1, seed=0)
    with pytest.raises(FloatingPointError, match="the input 0 has 1 of 4 entries not finite"):
        net.train(np.array([[1.0, 2.0], [np.nan, 1.0]]), optimizer=SGD(0.1))


def test_an_attribute_of_an_optimizer_of_ones_own_is_part_of_its_rule() -> None:
    class Scaled(SGD):
        def __init__(self, rate: float, k: float) -> None:
            super().__init__(rate)
            self.k = k

        def rule(self, weight: Any, delta: Any, state: Any, rate: Any, count: Any) -> Any:
            return weight - rate * self.k * delta, state

    weight: Any = Weight(1.0)
    net = weight * 1.0
    net.train(0.0, optimizer=Scaled(0.1, 1.0))
    assert weight.value == 0.9
    net.train(0.0, optimizer=Scaled(0.1, 3.0))
    assert np.isclose(weight.value, 0.6)


def test_a_delta_of_another_shape_than_the_weight() -> None:
    weight: Any = Weight(np.zeros(2))
    with pytest.raises(s.ShapeError, match="delta of shape"):
        weight.backward(np.ones((5, 2)))


def test_steps_of_several_threads_all_count() -> None:
    weight: Any = Weight(np.zeros(50))
    net = s.Sum(weight)
    step = net.trainer(SGD(1.0))

    def work(_: int) -> None:
        for _ in range(50):
            step(0.0)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert np.array_equal(weight.value, np.full(50, -200.0))


def test_a_prediction_is_never_torn_by_a_step() -> None:
    weight: Any = Weight(np.zeros(20_000))
    net, step = weight * 1.0, s.Sum(weight).trainer(SGD(1.0))
    stop: list[int] = []

    def read() -> bool:
        found = [net.predict(0.0) for _ in range(150)]
        stop.append(1)
        return all(np.all(one == one[0]) for one in found)

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        while len(stop) < 2:
            step(0.0)
        assert all(one.result() for one in readers)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the platform has no interval timer to interrupt with")
def test_an_interrupt_leaves_a_step_whole_or_undone() -> None:
    one: Any = Weight(np.zeros(3))
    other: Any = Weight(np.zeros(3))
    optimizer = s.Momentum(0.5)
    step = (s.Sum(one) + s.Sum(other)).trainer(optimizer)
    for _ in range(4):
        step(0.0)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for k in range(300):
            with contextlib.suppress(KeyboardInterrupt), np.errstate():  # NumPy's own block may be left half-way
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + k * 1e-6)
                for _ in range(500):  # an interrupt in a finalizer is swallowed by Python
                    step(0.0)
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            assert np.array_equal(one.cell.value, other.cell.value)
            state = [optimizer.state_of(weight)[0] for weight in (one, other)]
            assert np.array_equal(state[0], state[1])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
