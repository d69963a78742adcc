"""The aliases and the type parameters of PEP 695."""

# python: 3.12

from collections.abc import Callable
from typing import Annotated, reveal_type

import numpy as np

from symbolic import Symbolic, symbolic

type Vector = Annotated[np.ndarray, Symbolic]
type Number = Annotated[float, Symbolic]
type Loss = Annotated[Callable[[np.ndarray], float], Symbolic]


@symbolic
def total(x: Vector) -> Number:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return np.sum(x)


@symbolic
def same[T: (float, complex)](x: Annotated[T, Symbolic]) -> Annotated[T, Symbolic]:
    return x


reveal_type(total)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
net: Loss = total
reveal_type(net)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(same(1.0))  # R: float
