"""A declared dtype and shape stand in NumPy's own type; what cannot fit is an error in the sentence of run time."""

from collections.abc import Callable
from typing import Annotated, reveal_type

import numpy as np

from symbolic import Symbolic, Weight, he, symbolic


@symbolic
def declared(
    a: Annotated[np.ndarray, Symbolic[np.float32, "batch 784"]], b: Annotated[np.ndarray, Symbolic["batch", 784]]
) -> Annotated[np.ndarray, Symbolic["batch 784"]]:
    reveal_type(a)  # R: Projection[…, ndarray[tuple[Dim[Literal['batch']], Literal[784]], dtype[float32]], ndarray]
    reveal_type(b)  # R: Projection[…, ndarray[tuple[Dim[Literal['batch']], Literal[784]], dtype[Any]], ndarray]
    return a + b


@symbolic
def only_dtype(x: Annotated[np.ndarray, Symbolic[np.float32]]) -> Annotated[np.ndarray, Symbolic[np.float32]]:
    reveal_type(x)  # R: Identity[ndarray[tuple[Any, ...], dtype[float32]], ndarray]
    reveal_type(np.exp(x))  # R: Layer[Tape[ndarray[tuple[Any, ...], dtype[float32]], ndarray], Tape[ndarray[tuple[Any, ...], dtype[float32]], ndarray]]
    return np.exp(x)


@symbolic
def logits(x: Annotated[np.ndarray, Symbolic[np.float32, "batch 784"]]) -> Annotated[np.ndarray, Symbolic["batch 10"]]:
    reveal_type(np.exp(x))  # R: Layer[…, Tape[ndarray[tuple[Dim[Literal['batch']], Literal[784]], dtype[float32]], ndarray]]
    reveal_type(x.T)  # R: Layer[…, Tape[ndarray[tuple[Literal[784], Dim[Literal['batch']]], dtype[float32]], ndarray]]
    reveal_type(np.sum(x, axis=0))  # R: Layer[…, Tape[ndarray[tuple[Literal[784]], dtype[float32]], ndarray]]
    reveal_type(np.sum(x))  # R: Layer[…, Tape[float32, float32]]
    reveal_type(x[0])  # R: Layer[…, Tape[ndarray[tuple[Literal[784]], dtype[float32]], ndarray]]
    reveal_type(x[:, None])  # R: Layer[…, Tape[ndarray[tuple[Dim[Literal['batch']], Literal[1], Literal[784]], dtype[float32]], ndarray]]
    reveal_type(x @ np.ones((784, 10), np.float32))  # R: Layer[…
    return x @ Weight(he(784, 10))


first: Annotated[Callable[[np.ndarray], np.ndarray], Symbolic] = only_dtype


def check_values() -> None:
    x = np.ones((2, 784), np.float32)
    assert declared(x, x).shape == (2, 784) and logits(x).shape == (2, 10) and only_dtype(x).dtype == np.float32
