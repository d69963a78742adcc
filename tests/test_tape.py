"""Do weights move once per tape, at its close, by the sum of what reached them, and never otherwise?"""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

import contextlib
import gc
import re
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symbolic as s
from symbolic import (
    L2,
    SGD,
    Adagrad,
    Adam,
    AdamW,
    Identity,
    Literal,
    Momentum,
    Nesterov,
    Plus,
    RMSprop,
    ShapeError,
    Sum,
    SymbolicWarning,
    TapeError,
    Times,
    Weight,
)

FLOATS = st.floats(-100, 100)
EVERY: list[Any] = [
    SGD,
    lambda rate: SGD(rate, L2(0.5)),
    Momentum,
    Nesterov,
    Adagrad,
    RMSprop,
    Adam,
    lambda rate: AdamW(rate, weight_decay=0.1),
    lambda rate: Adam(rate, L2(0.5)),
]
NAMES = ["SGD", "SGD+L2", "Momentum", "Nesterov", "Adagrad", "RMSprop", "Adam", "AdamW", "Adam+L2"]


def test_weights_move_once_from_the_values_before_the_step() -> None:
    """The original moved w in the middle of the backward pass and left v at 1.0."""
    w, v = Weight(1.0), Weight(1.0)
    with SGD(0.1), Plus(Times(10.0, w), Times(w, v)).forward(Literal(0.0)) as tape:
        tape.backward(1.0)
        assert (w.value, v.value) == (1.0, 1.0)  # not before it closes
    assert v.value == 0.9 and w.value == pytest.approx(1.0 - 0.1 * 11.0)


@given(st.lists(FLOATS, max_size=5))
def test_deltas_of_one_tape_add_up(deltas: list[float]) -> None:
    w = Weight(1.0)
    with SGD(0.1), Times(w, Identity()).forward(Literal(2.0)) as tape:
        for delta in deltas:
            tape.backward(delta)
    total = sum(2.0 * delta for delta in deltas)
    assert w.value == pytest.approx(1.0 - 0.1 * total, abs=1e-9)
    assert w.delta == (pytest.approx(total, abs=1e-9) if deltas else None)


@given(st.floats(-2, 2), st.integers(1, 4))
def test_a_weight_that_is_used_often_moves_by_the_sum(value: float, times: int) -> None:
    w = Weight(value)
    net: Any = w
    for _ in range(times):
        net = net * w
    net.train(0.0, optimizer=SGD(0.5))
    assert w.value == pytest.approx(value - 0.5 * (times + 1) * value**times)


def snapshot(net: Any, optimizer: Any) -> Any:
    weights = net.weights()
    saved = {name: np.array(value) for name, value in optimizer.state_dict(weights).items()}
    return {**{k: np.array(w.value) for k, w in weights.items()}, **saved}


def same(one: Any, other: Any) -> bool:
    return one.keys() == other.keys() and all(one[k].tobytes() == other[k].tobytes() for k in one)


@pytest.mark.parametrize("make", EVERY, ids=NAMES)
def test_a_tape_without_a_delta_moves_nothing(make: Any) -> None:
    """Bit for bit, with the optimizer's state, also where a penalty or a momentum would move the weight on."""
    optimizer = make(0.1)
    net = Sum(Times(Weight(np.array([1.0, -2.0])), Identity()))
    x = np.array([0.3, 0.7])
    for _ in range(4):
        net.train(x, optimizer=optimizer)
    before = snapshot(net, optimizer)
    with optimizer:
        value = net.predict(x)
        with net.forward(Literal(x)) as tape:
            assert tape.value == value
        net(x)
        net.weights()
        str(net)
    assert same(before, snapshot(net, optimizer)) and net.predict(x) == value


def test_who_moves_a_weight() -> None:
    """The one given to `train`, else the weight's own, else the innermost `with`; else nobody."""
    own = Weight(0.0, optimizer=SGD(10.0))
    free = Weight(0.0)
    net = Plus(own, free)

    def moved() -> tuple[Any, Any]:
        found = own.value, free.value
        own.assign(0.0)
        free.assign(0.0)
        return found

    net.train(0.0, optimizer=SGD(1.0))
    assert moved() == (-1.0, -1.0)
    with SGD(100.0), SGD(1000.0):
        net.train(0.0)
    assert moved() == (-10.0, -1000.0)
    net.train(0.0)
    assert moved() == (-10.0, 0.0)
    with net.forward(Literal(0.0)) as tape:
        tape.backward(1.0)
    assert moved() == (-10.0, 0.0) and free.delta == 1.0


def test_a_with_optimizer_is_read_when_the_tape_closes() -> None:
    w = Weight(1.0)
    with SGD(5.0):
        tape = Times(w, 2.0).forward(Literal(0.0))
        tape.backward(1.0)
    with SGD(0.1):
        tape.close()
    assert w.value == pytest.approx(0.8)


def test_closing_twice_and_using_a_closed_tape_raise() -> None:
    w = Weight(1.0)
    tape = Times(w, 2.0).forward(Literal(0.0))
    assert tape.value == 2.0
    tape.backward(1.0)
    with SGD(0.1):
        tape.close()
        for act in (tape.close, lambda: tape.value, lambda: tape.backward(1.0), tape.duplicate):
            with pytest.raises(TapeError, match=r"closed tape.*test_tape\.py:\d+.*;.*with"):
                act()
        with pytest.raises(RuntimeError):
            tape.close()
    assert w.value == 0.8


def test_a_pass_ends_when_every_handle_is_closed() -> None:
    w = Weight(1.0)
    first = Times(w, Identity()).forward(Literal(3.0))
    second = first.duplicate()
    with SGD(0.1):
        first.backward(1.0)
        first.close()
        assert w.value == 1.0 and second.value == 3.0
        second.backward(1.0)
        with pytest.raises(TapeError):
            first.close()
        assert w.value == 1.0  # the wrong close did not count
        second.close()
    assert w.value == pytest.approx(1.0 - 0.1 * 6.0) and w.delta == 6.0


def test_a_tape_that_is_never_closed_warns_with_its_place() -> None:
    tape = Times(Weight(1.0), 2.0).forward(Literal(0.0))
    line = sys._getframe().f_lineno - 1
    assert tape.value == 2.0
    with pytest.warns(SymbolicWarning, match=rf"never closed.*test_tape\.py:{line}\b"):
        del tape
        gc.collect()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Times(Weight(1.0), 2.0).forward(Literal(0.0)):
            pass
        gc.collect()


@pytest.mark.parametrize("make", EVERY, ids=NAMES)
def test_leaving_a_tape_by_an_exception_closes_it_and_moves_nothing(make: Any) -> None:
    optimizer = make(0.1)
    net = Sum(Times(Weight(np.array([1.0, -2.0])), Identity()))
    net.train(np.ones(2), optimizer=optimizer)
    before = snapshot(net, optimizer)
    with pytest.raises(KeyError, match="mine"), optimizer, net.forward(Literal(np.ones(2))) as tape:
        tape.backward(1.0)
        raise KeyError("mine")
    with pytest.raises(TapeError):
        tape.close()
    assert same(before, snapshot(net, optimizer))
    net.train(np.ones(2), optimizer=optimizer)
    assert not same(before, snapshot(net, optimizer))


def test_a_failure_in_forward_or_backward_leaves_everything_as_it_was() -> None:
    w = Weight(np.ones(2))
    net = Times(w, Identity())
    optimizer = Adam(0.1)
    Sum(net).train(np.ones(2), optimizer=optimizer)
    before = snapshot(net, optimizer)
    with optimizer:
        with pytest.raises(ShapeError):
            net.forward(Literal(np.ones(3)))
        with net.forward(Literal(np.ones(2))) as tape, pytest.raises(ShapeError, match=r"\(3,\).*\(2,\)"):
            tape.backward(np.ones(3))
    with pytest.raises(ShapeError):
        net.train(np.ones(3), optimizer=optimizer)
    assert same(before, snapshot(net, optimizer))


def test_a_failure_in_an_optimizer_moves_no_weight() -> None:
    """The second of two optimizers fails when it is asked; the weight of the first stays too."""

    class Failing(SGD):
        def rule(self, weight: Any, delta: Any, state: Any, rate: Any, count: Any) -> Any:
            raise ArithmeticError("no rule today")

    first = Momentum(0.1)
    a, b = Weight(1.0, optimizer=first), Weight(1.0, optimizer=Failing(0.1))
    net = Plus(a, b)
    with pytest.raises(ArithmeticError, match="no rule today"), net.forward(Literal(0.0)) as tape:
        tape.backward(1.0)
    with pytest.raises(ArithmeticError, match="no rule today"):
        net.train(0.0)
    assert (a.value, b.value, first.count) == (1.0, 1.0, 0)


@pytest.mark.parametrize("warm", [0, 5])
def test_open_tapes_share_no_buffer(warm: int) -> None:
    rng = np.random.default_rng(0)
    w = Weight(rng.normal(size=(4, 3)))
    net = s.Tanh(s.Exp(s.Sin(s.MatMul(Identity(), w))) * 0.1)
    xs = [rng.normal(size=(5, 4)) for _ in range(3)]
    for _ in range(warm):
        net.train(xs[0], optimizer=SGD(0.0))
        net.predict(xs[0])
    expected = [np.tanh(np.exp(np.sin(x @ w.value)) * 0.1) for x in xs]
    tapes = [net.forward(Literal(x)) for x in xs]
    values = [tape.value for tape in tapes]
    net.train(xs[1], optimizer=SGD(0.0))
    for value, want in zip(values, expected, strict=True):
        assert np.allclose(value, want, rtol=1e-13)
    for tape, x, want in zip(tapes, xs, expected, strict=True):
        tape.backward(np.ones((5, 3)))
        tape.close()
        z = np.sin(x @ w.value)
        assert np.allclose(w.delta, x.T @ ((1 - want**2) * 0.1 * np.exp(z) * np.cos(x @ w.value)))
    for value, want in zip(values, expected, strict=True):
        assert np.allclose(value, want, rtol=1e-13)  # nor later


def test_a_predicted_array_never_changes_later() -> None:
    rng = np.random.default_rng(0)
    w = Weight(rng.normal(size=3))
    nets: list[Any] = [
        s.Exp(Times(Identity(), w)),
        np.reshape(Times(Identity(), w), (3, 1)),
        np.reshape(w, (1, 3)),  # a layer stands for an array
        w[1:],
        w,
    ]
    for net in nets:
        held = []
        for k in range(6):
            value = net.predict(np.full(3, float(k)))
            held.append((value, value.copy()))
            Sum(Times(w, 1.0)).train(0.0, optimizer=SGD(0.1))
        assert all(np.array_equal(value, copy) for value, copy in held)


def test_writing_into_a_prediction_reaches_nobody() -> None:
    w = Weight(np.ones(3))
    x = np.zeros(3)
    nets: list[Any] = [w, np.reshape(w, (3, 1)), Times(w, 1.0), Literal(np.ones(3))]
    for net in nets:
        for _ in range(4):
            value = net.predict(x)
            with contextlib.suppress(ValueError):  # read-only is as good
                value[...] = 7.0
        assert np.array_equal(np.ravel(net.predict(x)), np.ones(3))
    assert np.array_equal(w.value, np.ones(3))


def test_an_input_that_is_changed_between_forward_and_backward_does_not_matter() -> None:
    w = Weight(np.ones(2))
    for given_ in (lambda x: Literal(x), lambda x: x):
        x = np.array([1.0, 2.0])
        with Times(w, Identity()).forward(given_(x)) as tape:
            x[...] = 100.0
            tape.backward(np.ones(2))
        assert np.array_equal(w.delta, [1.0, 2.0])


@given(FLOATS, FLOATS)
def test_a_tape_as_input_is_composition(x: float, delta: float) -> None:
    a, b = Weight(0.5), Weight(2.0)
    inner, outer = s.Sin(Times(a, Identity())), Times(b, Identity())
    with outer.compose(inner).forward(Literal(x)) as tape:
        tape.backward(delta)
        value = tape.value
    expected = a.delta, b.delta
    with inner.forward(Literal(x)) as first, outer.forward(first) as second:
        assert second.value == value and second.is_trainable
        second.backward(delta)
    assert (a.delta, b.delta) == pytest.approx(expected)


def test_an_inner_tape_closes_once_for_all_who_use_it() -> None:
    a = Weight(1.0)
    with SGD(0.1):
        with Times(a, 2.0).forward(Literal(0.0)) as inner:
            with Times(Identity(), 3.0).forward(inner) as left, Times(Identity(), 5.0).forward(inner) as right:
                left.backward(1.0)
                right.backward(1.0)
            assert a.value == 1.0
        assert a.value == pytest.approx(1.0 - 0.1 * 16.0)


def test_who_is_trainable() -> None:
    plain, weighted = Times(Identity(), 2.0), Times(Identity(), Weight(2.0))
    with plain.forward(Literal(1.0)) as dead, weighted.forward(Literal(1.0)) as live, plain.forward(live) as next_:
        assert (dead.is_trainable, live.is_trainable, next_.is_trainable) == (False, True, True)


def test_a_delta_may_be_a_number_for_an_array() -> None:
    w = Weight(np.ones(3))
    with Times(w, 2.0).forward(Literal(0.0)) as tape:
        tape.backward(1.0)  # type: ignore[arg-type]  # a number for an array
    assert np.array_equal(w.delta, [2.0, 2.0, 2.0])


def test_a_bare_value_is_taken_as_a_literal() -> None:
    number: Any = 3.0
    pair: Any = (1.0, 2.0)
    with Times(Identity(), 2.0).forward(number) as tape:
        assert tape.value == 6.0
    with s.Plus(s.Projection(0), s.Projection(1)).forward(pair) as tape:
        assert tape.value == 3.0


def test_a_tape_of_a_tuple_takes_a_delta_for_each_entry() -> None:
    a, b = Weight(1.0), Weight(2.0)
    table = s.ConcatTable(Times(a, Identity()), Times(b, Identity()))
    with table.forward(Literal(3.0)) as tape:
        assert tape.value == (3.0, 6.0)
        tape.backward((1.0, 10.0))
    assert (a.delta, b.delta) == (3.0, 30.0)
    with table.forward(Literal(3.0)) as tape, pytest.raises(ShapeError, match=r"1 deltas for 2 outputs"):
        tape.backward((1.0,))  # type: ignore[arg-type]  # what is tested


def test_the_value_of_a_tape_is_read_only() -> None:
    with s.Exp().forward(Literal(np.zeros(2))) as tape, pytest.raises(ValueError, match="read-only"):
        tape.value[0] = 1.0


def test_the_texts_say_what_to_do() -> None:
    tape = Times(Weight(1.0), 2.0).forward(Literal(0.0))
    tape.close()
    with pytest.raises(TapeError) as caught:
        tape.close()
    assert re.fullmatch(r".*closed tape.*close.*, in .*test_tape\.py:\d+.*; use .*", str(caught.value))


def test_a_failing_forward_gives_back_the_tape_that_it_took() -> None:
    weight: Any = Weight(1.0)

    def fail(value: Any) -> None:
        raise RuntimeError("no")

    outer = s.Identity().on_output(fail)
    with SGD(0.1), (weight * 1.0).forward(Literal(0.0)) as tape:
        with pytest.raises(RuntimeError):
            outer.forward(tape)
        tape.backward(1.0)
    assert weight.value == 0.9


def test_a_tape_whose_own_weights_cannot_move_ends_its_input_too() -> None:
    inner, outer = Weight(1.0), Weight(1.0)
    with pytest.raises(FloatingPointError), SGD(1e308), (inner * 1.0).forward(Literal(0.0)) as first:
        second = (s.Identity() * outer * 1e10).forward(first)
        second.backward(1.0)  # type: ignore[arg-type]  # a number for an array
        second.close()
    assert (inner.value, outer.value) == (1.0, 1.0)
