"""Does `ToLiteral` say which types are differentiable, and do a user's types count like the built-in ones?"""

import enum
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import pytest

import symbolic as s
from symbolic import DtypeError, Literal, NoDelta, Symbolic, ToLiteral, symbolic


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    before = dict(ToLiteral.registry)
    yield
    ToLiteral.registry.clear()
    ToLiteral.registry.update(before)


class Colour(enum.Enum):
    RED = 1


TABLE: list[tuple[Any, Any]] = [
    (float, float),
    (complex, complex),
    (np.float32, np.float32),
    (np.float64, np.float64),
    (np.complex64, np.complex64),
    (int, float),
    (np.int32, NoDelta),
    (np.uint8, NoDelta),
    (np.bool_, NoDelta),
    (bool, NoDelta),
    (str, NoDelta),
    (type(None), NoDelta),
    (Colour, NoDelta),
]


@pytest.mark.parametrize(("data", "delta"), TABLE, ids=lambda one: getattr(one, "__name__", str(one)))
def test_the_built_in_table(data: Any, delta: Any) -> None:
    found = ToLiteral.of(data).delta
    assert found is delta or (found in (np.floating, np.complexfloating) and issubclass(delta, found))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2.0, 6.0),
        (2, 6.0),
        (np.float32(2.0), np.float32(6.0)),
        (np.array([1.0, 2.0]), np.array([6.0, 6.0])),
        (np.array([1.0, 2.0], np.float32), np.array([6.0, 6.0], np.float32)),
        (np.zeros((0, 3)), np.zeros((0, 3))),
        (np.array(2.0), np.array(6.0)),
    ],
    ids=repr,
)
def test_the_delta_has_the_type_of_the_table(value: Any, expected: Any) -> None:
    """By `grad`, whose result is the delta of the argument."""
    gradient = s.grad(lambda x: np.sum(x * 6.0))(value)
    assert type(gradient) is type(expected) and np.array_equal(gradient, expected)
    assert np.asarray(gradient).dtype == np.asarray(expected).dtype and np.shape(gradient) == np.shape(expected)


@pytest.mark.parametrize(
    "value", [np.int64(2), np.arange(3), True, np.array([True]), "text", None, Colour.RED], ids=repr
)
def test_what_has_no_delta_has_no_gradient(value: Any) -> None:
    with pytest.raises(DtypeError, match=r"argument 0.*NoDelta.*;"):
        s.grad(lambda x: 1.0)(value)


def test_the_short_of_the_original() -> None:
    class ShortToLiteral(ToLiteral[np.int16, np.float32]):
        def __call__(self, data: np.int16) -> Literal[np.int16, np.float32]:
            return Literal(data)

    net = symbolic(lambda x: x * np.float32(3.0), np.int16, returns=np.float32)
    assert net(np.int16(2)) == 6.0
    gradient = s.grad(lambda x: x * np.float32(3.0))(np.int16(2))
    assert type(gradient) is np.float32 and gradient == 3.0
    with pytest.raises(DtypeError):
        s.grad(lambda x: x * np.float32(3.0))(np.int32(2))


def test_the_mapping_is_asked_when_a_native_value_joins_a_graph() -> None:
    class Celsius(float):
        pass

    class CelsiusToLiteral(ToLiteral[Celsius, float]):
        def __call__(self, data: Celsius) -> Any:
            return Literal(float(data) + 273.15)

    x: Any = s.Identity()
    assert (x + Celsius(1.0)).predict(0.0) == 274.15
    assert (x + 1.0).predict(0.0) == 1.0


def test_a_later_mapping_replaces_an_earlier_and_a_built_in_one() -> None:
    class First(ToLiteral[np.int16, np.float32]):
        pass

    class Second(ToLiteral[np.int16, np.float64]):
        pass

    class Ints(ToLiteral[int, np.float64]):
        pass

    assert ToLiteral.of(np.int16).delta is np.float64
    assert ToLiteral.of(int).delta is np.float64
    assert ToLiteral.of(np.int32).delta is NoDelta


def test_a_base_class_counts_for_its_subclasses() -> None:
    class Base:
        pass

    class Derived(Base):
        pass

    class BaseToLiteral(ToLiteral[Base, float]):
        pass

    assert ToLiteral.of(Derived).delta is float


class Money:
    pass


def test_an_unregistered_type_is_refused_with_what_to_write() -> None:
    text = r'No ToLiteral is registered for type "Money".*; ?define `class MoneyToLiteral\(ToLiteral\[Money, Delta\]\)`'
    with pytest.raises(DtypeError, match=text):
        ToLiteral.of(Money)
    x: Any = s.Identity()
    for act in (
        lambda: x + Money(),
        lambda: s.Plus(x, Money()),
        lambda: symbolic(lambda v: v, Annotated[Money, Symbolic]),
        lambda: symbolic(lambda v: v, tuple[float, Money]),
        lambda: symbolic(lambda v: v, np.ndarray | Money),
    ):
        with pytest.raises(TypeError, match='No ToLiteral is registered for type "Money"'):
            act()


def test_once_it_is_registered_it_passes() -> None:
    class MoneyToLiteral(ToLiteral[Money, NoDelta]):
        pass

    net = symbolic(lambda x, money: x * 2.0, float, Money)
    assert net(2.0, Money()) == 4.0


def test_an_array_of_objects_is_refused() -> None:
    x: Any = s.Identity()
    with pytest.raises(DtypeError, match=r"array of objects.*;.*np\.stack"):
        np.array([1.0, Money()]) + x
