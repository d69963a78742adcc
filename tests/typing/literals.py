"""Does a `ToLiteral` decide the delta, wherever it is seen: above, below, imported, replaced?"""

from collections.abc import Callable
from typing import Annotated, reveal_type

import numpy as np
from shared_mappings import Celsius

from symbolic import Literal, NoDelta, Symbolic, ToLiteral, symbolic


class Money:
    def __init__(self, amount: float) -> None:
        self.amount = amount


class MoneyToLiteral(ToLiteral[Money, float]):
    def __call__(self, data: Money) -> Literal[Money, float]:
        return Literal(data)


class Coin(Money):
    """A subclass has the mapping of its base."""


@symbolic
def of_money(m: Annotated[Money, Symbolic]) -> Annotated[Money, Symbolic]:
    reveal_type(m)  # R: Identity[Money, float]
    return m


@symbolic
def of_coin(m: Annotated[Coin, Symbolic]) -> Annotated[Coin, Symbolic]:
    reveal_type(m)  # R: Identity[Coin, float]
    return m


@symbolic
def of_celsius(c: Annotated[Celsius, Symbolic]) -> Annotated[Celsius, Symbolic]:
    """Its mapping stands in the module that defines it."""
    reveal_type(c)  # R: Identity[Celsius, float]
    return c


@symbolic
def of_uint8(n: Annotated[np.uint8, Symbolic]) -> Annotated[np.uint8, Symbolic]:
    """A built-in mapping that an imported module replaced."""
    reveal_type(n)  # R: Identity[uint8, float32]
    return n


@symbolic
def of_uint16(n: Annotated[np.uint16, Symbolic]) -> Annotated[np.uint16, Symbolic]:
    reveal_type(n)  # R: Identity[uint16, NoDelta]
    return n


def below(net: Annotated[Callable[[np.int8], np.int8], Symbolic]) -> None:
    """Its mapping is defined further down."""
    reveal_type(net)  # R: Layer[Tape[int8, float16], Tape[int8, float16]]


class Int8ToLiteral(ToLiteral[np.int8, np.float16]):
    pass


@symbolic
def of_int8(n: Annotated[np.int8, Symbolic]) -> Annotated[np.int8, Symbolic]:
    reveal_type(n)  # R: Identity[int8, float16]
    return n


class Late:
    pass


def later(net: Annotated[Callable[[Late], float], Symbolic]) -> None:
    """No false error before the mapping is seen."""
    reveal_type(net)  # R: Layer[Tape[Late, float32], Tape[float, float]]


class LateToLiteral(ToLiteral[Late, np.float32]):
    pass


class First(ToLiteral[np.int32, np.float32]):
    pass


class Second(ToLiteral[np.int32, np.float64]):
    """A later mapping of the same type replaces the earlier."""


@symbolic
def of_int32(n: Annotated[np.int32, Symbolic]) -> Annotated[np.int32, Symbolic]:
    reveal_type(n)  # R: Identity[int32, float64]
    return n


reveal_type(of_money)  # R: Layer[Tape[Money, float], Tape[Money, float]]
reveal_type(of_celsius)  # R: Layer[Tape[Celsius, float], Tape[Celsius, float]]
money: Annotated[Callable[[Money], Money], Symbolic] = of_money
reveal_type(money)  # R: Layer[Tape[Money, float], Tape[Money, float]]
reveal_type(ToLiteral.of(np.int16))  # R: ToLiteral[Any, Any]
reveal_type(MoneyToLiteral()(Money(1.0)))  # R: Literal[Money, float]


def check_values() -> None:
    assert of_money(Money(2.0)).amount == 2.0 and of_celsius(Celsius(3.0)).degrees == 3.0
    assert ToLiteral.of(np.int32).delta is np.float64 and ToLiteral.of(np.uint8).delta is np.float32
    assert ToLiteral.of(np.uint16).delta is NoDelta and ToLiteral.of(Coin).delta is float
    assert of_int8(np.int8(3)) == 3
