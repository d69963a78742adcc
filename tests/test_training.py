"""Is `train` one step, whole or not at all, and is the fast path the same step?"""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

import time
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
