"""Are jaxtyping's hints read within `Annotated[…, Symbolic]`?"""

from typing import Annotated, TypeAlias, reveal_type

import numpy as np
from jaxtyping import Float, Float32

from symbolic import Symbolic, symbolic

Image: TypeAlias = Float32[np.ndarray, "batch 784"]


@symbolic
def total(x: Annotated[Float32[np.ndarray, "batch 784"], Symbolic]) -> Annotated[np.ndarray, Symbolic]:
    reveal_type(x)  # R: Identity[ndarray…, ndarray]
    h = np.tanh(x)
    reveal_type(h)  # R: Layer[Tape[ndarray…, ndarray], Tape[ndarray…, ndarray]]
    return np.sum(h, axis=-1)


@symbolic
def of_alias(x: Annotated[Image, Symbolic]) -> Annotated[Float32[np.ndarray, "batch"], Symbolic]:
    reveal_type(x)  # R: Identity[ndarray…, ndarray]
    return np.sum(x, axis=-1)


@symbolic
def of_any_float(x: Annotated[Float[np.ndarray, "*axes"], Symbolic]) -> float:
    reveal_type(x)  # R: Identity[ndarray…, ndarray]
    return np.sum(x)


reveal_type(total)  # R: Layer[Tape[ndarray…, ndarray], Tape[ndarray…, ndarray]]
reveal_type(of_any_float)  # R: Layer[Tape[ndarray…, ndarray], Tape[float, float]]
reveal_type(total.predict(np.ones((2, 784), np.float32)))  # R: ndarray…


def check_values() -> None:
    x = np.zeros((2, 784), np.float32)
    assert total(x).tolist() == of_alias(x).tolist() == [0.0, 0.0] and of_any_float(x) == 0.0
