"""Do the plain functions around a network type-check, which prepare data, or which a body calls?"""

import functools
from collections.abc import Callable
from typing import Annotated, Any, reveal_type

import numpy as np
from numpy.typing import NDArray

from symbolic import SGD, Identity, Linear, Literal, Symbolic, Weight, symbolic

V = Annotated[np.ndarray, Symbolic]
Batch = Annotated[np.ndarray, Symbolic[np.float32, "batch 2"]]


# ------------------------------------------------------------------ data
@symbolic
def read(x: Batch) -> Annotated[float, Symbolic]:
    return np.sum(x)


def prepared(pixels: NDArray[np.uint8]) -> float:
    scaled = pixels.astype(np.float32) / 255  # NumPy's hints take the number for one of 64 bits
    reveal_type(scaled)  # R: ndarray[…, dtype[float32]]
    reveal_type(1 - scaled)  # R: ndarray[…, dtype[float32]]
    reveal_type(scaled / np.ones(2))  # R: ndarray[…, dtype[float64]]
    return read(scaled)


# ------------------------------------------------------------------ helpers
def affine(x: np.ndarray, w: np.ndarray, b: float) -> Any:
    return x @ w + b


def helper(x: np.ndarray) -> Any:
    w = Weight(np.ones(2))
    return affine(x, w, Weight(1.0)) + affine(x, w, 2.0)


@symbolic
def body(x: V) -> V:
    y: np.ndarray = helper(x)
    return y


def of_a_weight() -> None:
    reveal_type(Weight(1.0) * 2.0)  # R: Layer[Tape[object, Never], Tape[float, float]]
    reveal_type(-1 * Weight(1.0))  # R: Layer[Tape[object, Never], Tape[float, float]]
    with SGD(0.1), (Weight(1.0) * -1.0).forward(Literal(0.0)) as tape:
        tape.backward(1.0)


# ------------------------------------------------------------------ without a decorator
of_class = symbolic(lambda x: x * 2.0, np.ndarray, returns=np.ndarray)
reveal_type(of_class)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
with of_class.forward(Literal(np.ones(2))) as tape:
    reveal_type(tape.value)  # R: ndarray


def of_some(function: Callable[..., Any], inputs: int) -> Any:
    """How many hints there are shows when the program runs."""
    given = symbolic(function, *[np.ndarray] * inputs)
    reveal_type(given)  # R: Layer[Any, Any]
    return given


def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return inner


@symbolic
@logged
def wrapped(x: V) -> V:  # mypy sees none of these hints
    return x * 2.0


reveal_type(wrapped)  # R: Layer[Any, Any]


acts = [lambda x: Linear(2, 2).forward(Literal(x)), lambda x: Weight(x) * Identity()]


# ------------------------------------------------------------------ bit by bit
@symbolic
def dense(x: V, inputs: int, outputs: int) -> V:
    y: np.ndarray = x @ Weight(np.ones((inputs, outputs)))
    return y


half = dense(outputs=2)
reveal_type(half)  # R: Factory[Tape[Never, Never], […outputs: int =], ndarray, ndarray]
reveal_type(half(inputs=3))  # R: Layer[Any, Tape[ndarray, ndarray]]
reveal_type(dense(inputs=3, outputs=2))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]


def check_values() -> None:
    assert prepared(np.full((1, 2), 255, np.uint8)) == 2.0 and body(np.ones(2)).tolist() == 7.0
    of_a_weight()
    assert of_class(np.ones(2)).tolist() == [2.0, 2.0] and len(acts) == 2
    assert of_some(lambda x, y: x + y, 2)(np.ones(2), np.ones(2)).tolist() == [2.0, 2.0]
    assert half(inputs=3).predict(np.ones((1, 3))).shape == (1, 2)
