"""Do constants stay, do weights keep what they are, and does nothing that was handed out change later?"""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symbolic as s
from symbolic import SGD, Adam, DtypeError, Identity, Literal, Momentum, Projection, Times, Weight

FLOATS = st.floats(-1e6, 1e6)


def test_identity_hands_back_the_same_input() -> None:
    x = Literal(3.0)
    assert Identity().forward(x) is x
    assert Identity().predict(3.0) == 3.0
    array = np.arange(3.0)
    assert np.array_equal(Identity().predict(array), array)


def test_a_projection_is_one_entry_of_the_tuple() -> None:
    assert Projection(1).predict(1.0, 2.0) == 2.0
    assert Projection(0).predict((5.0, 2.0)) == 5.0
    assert str(Projection(1)) == "Projection(1)"


@given(FLOATS, FLOATS)
def test_every_tape_operation_of_a_literal_does_nothing(value: float, delta: float) -> None:
    x = Literal(value)
    assert x.forward(Literal(delta)) is x and x.duplicate() is x and not x.is_trainable
    x.backward(delta)
    x.close()
    x.close()
    with x as tape:
        tape.backward(delta)
    assert x.value == value


@pytest.mark.parametrize("kind", [Literal, Weight])
def test_an_array_is_copied(kind: Any) -> None:
    array = np.arange(3.0)
    leaf = kind(array)
    array[0] = 7.0
    assert np.array_equal(leaf.value, [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        leaf.value[0] = 1.0


@pytest.mark.parametrize("steps", [1, 2, 6])
@pytest.mark.parametrize("optimizer", [SGD(0.5), Adam(0.1), Momentum(0.1)], ids=repr)
def test_a_snapshot_never_changes(steps: int, optimizer: Any) -> None:
    """Held from any step on, through interpreted and compiled steps, which reuse old arrays."""
    w = Weight(np.array([1.0, 2.0]))
    net = s.Sum(Times(w, Identity()))
    held = []
    for _ in range(steps):
        held.append((w.value, w.value.copy()))
        net.train(np.array([1.0, 3.0]), optimizer=optimizer)
    for _ in range(5):
        net.train(np.array([1.0, 3.0]), optimizer=optimizer)
    for snapshot, copy in held:
        assert np.array_equal(snapshot, copy)
    assert len({one.tobytes() for _, one in held}) == steps  # and each step did move


def test_a_delta_that_was_read_never_changes() -> None:
    w = Weight(np.zeros(2))
    net = s.Sum(Times(w, Identity()))
    held = []
    for k in range(6):
        net.train(np.array([1.0, float(k)]), optimizer=SGD(0.1))
        held.append(w.delta)
    assert [list(one) for one in held] == [[1.0, float(k)] for k in range(6)]


def test_a_weight_moves_only_through_an_optimizer() -> None:
    w = Weight(2.0)
    with pytest.raises(AttributeError, match="assign"):
        w.value = 3.0
    w.assign(3.0)
    assert w.value == 3.0
    with pytest.raises(s.SymbolicError, match=r"weight of float"):
        w.assign(np.zeros(2))
    assert w.value == 3.0


def test_a_weak_python_float_stays_one() -> None:
    w = Weight(2.0)
    net = s.Sum(Times(Identity(), w))
    x, optimizer = np.ones(3, np.float32), Adam(0.1)
    for _ in range(5):
        assert Times(Identity(), w).predict(x).dtype == np.float32
        net.train(x, optimizer=optimizer)
        assert type(w.value) is float and w.value < 2.0


DTYPES: list[Any] = [np.float16, np.float32, np.float64, np.complex64, np.complex128]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda one: one.__name__)
@pytest.mark.parametrize("optimizer", [SGD(0.1), Adam(0.1), Momentum(0.1)], ids=repr)
def test_a_weight_keeps_its_type_shape_and_dtype(dtype: Any, optimizer: Any) -> None:
    for value in (np.ones((2, 1), dtype), np.ones((), dtype), dtype(1)):
        w = Weight(value)
        net = s.Real(s.Sum(Times(w, 2.0)))
        for _ in range(4):
            net.train(0.0, optimizer=optimizer)
        assert type(w.value) is type(value) and w.value.dtype == dtype and w.value.shape == value.shape
        assert np.all(np.real(w.value) < 1.0)


def test_an_int_weight_is_rounded_after_each_step() -> None:
    w = Weight(5)
    net = s.Plus(w, 1)
    seen = []
    for _ in range(5):
        with SGD(0.6), net.forward(Literal(0)) as tape:
            tape.backward(tape.value)
        seen.append(w.value)
    assert seen == [1, 0, -1, -1, -1] and type(w.value) is int
    assert net.predict(0) == 0


@pytest.mark.parametrize(
    "value",
    [
        True,
        "text",
        None,
        np.arange(3),
        np.array([True]),
        np.array(["a"]),
        np.int64(3),
        np.array([object()]),
        Literal(1.0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_delta_is_no_weight(value: Any) -> None:
    with pytest.raises(DtypeError, match=r"Weight\(\).*;.*start"):
        Weight(value)


def test_a_weights_forward_gives_a_fresh_tape() -> None:
    w = Weight(2.0)
    one, other = w.forward(Literal(0.0)), w.forward(Literal(0.0))
    assert one is not other and one is not w
    with SGD(0.1):
        one.backward(1.0)
        one.close()
        assert (w.value, w.delta) == (2.0 - 0.1, 1.0)
        assert other.value == 2.0  # from before the step
        other.backward(10.0)
        other.close()
    assert w.value == pytest.approx(0.9)
    with pytest.raises(s.TapeError):
        one.close()


def test_a_weight_itself_may_be_closed_repeatedly() -> None:
    w = Weight(2.0)
    with SGD(0.1):
        w.backward(1.0)
        w.backward(2.0)
        w.close()
        w.close()
        w.close()
    assert (w.value, w.delta) == (2.0 - 0.1 * 3.0, 3.0)
    assert w.is_trainable


def test_a_weight_may_be_the_input() -> None:
    w = Weight(2.0)
    with SGD(0.1), Times(Identity(), 3.0).forward(w) as tape:
        assert tape.value == 6.0 and tape.is_trainable
        tape.backward(1.0)
        assert w.value == 2.0
    assert (w.value, w.delta) == (2.0 - 0.1 * 3.0, 3.0)


def test_two_fresh_weights_are_two() -> None:
    net = Times(Weight(2.0), Weight(2.0))
    assert len(net.weights()) == 2
    assert not Weight(2.0).equals(Weight(2.0))


def test_leaves_of_many_kinds_pass_through() -> None:
    for value in (1, 1.5, 2j, True, np.float32(1.0), np.int16(3), np.arange(2), (1.0, np.arange(2.0))):
        found = Literal(value).predict(0.0)
        assert type(found) is type(value) and str(found) == str(value)
