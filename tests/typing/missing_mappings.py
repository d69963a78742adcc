"""A type without a `ToLiteral` is an error at its annotation, in the sentence of run time."""

# run: no

from collections.abc import Callable
from typing import Annotated, Optional

import numpy as np

from symbolic import Symbolic, symbolic


class Money:
    pass


@symbolic
def parameter(m: Annotated[Money, Symbolic]) -> float:  # E: No ToLiteral is registered for type "Money"; define `class MoneyToLiteral(ToLiteral[Money, Delta])` with the type of its delta  [symbolic]
    return 1.0


@symbolic
def returned(
    x: Annotated[float, Symbolic],
) -> Annotated[Money, Symbolic]:  # E: No ToLiteral is registered for type "Money"  [symbolic]
    return x


@symbolic
def local(x: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
    m: Annotated[Money, Symbolic] = x  # E: No ToLiteral is registered for type "Money"  [symbolic]
    return x


@symbolic
def second(
    x: Annotated[float, Symbolic],
    m: Annotated[Money, Symbolic],  # E: No ToLiteral is registered for type "Money"  [symbolic]
) -> Annotated[float, Symbolic]:
    return x


net: Annotated[Callable[[Money], float], Symbolic]  # E: No ToLiteral is registered for type "Money"  [symbolic]
other: Annotated[Callable[[float], Money], Symbolic]  # E: No ToLiteral is registered for type "Money"  [symbolic]
some: Annotated[Callable[[Optional[Money]], float], Symbolic]  # E: No ToLiteral is registered for type "Money"  [symbolic]
pair: Annotated[Callable[[tuple[float, Money]], float], Symbolic]  # E: No ToLiteral is registered for type "Money"  [symbolic]

Alias = Annotated[Money, Symbolic]


@symbolic
def of_alias(m: Alias) -> float:  # E: No ToLiteral is registered for type "Money"  [symbolic]
    return 1.0


class Holder:
    @symbolic
    def method(self, m: Annotated[Money, Symbolic]) -> float:  # E: No ToLiteral is registered for type "Money"  [symbolic]
        return 1.0


@symbolic  # E: none_at_all has no symbolic parameter; mark an input  [symbolic]
def none_at_all(x: float) -> float:
    return x


def plain(m: Annotated[Money, "a note"]) -> float:
    """Without `Symbolic` any type will do."""
    return 1.0


def hinted(x: np.ndarray, net: Annotated[Callable[[np.ndarray], float], Symbolic]) -> float:
    return net(x)
