"""Shapes and dtypes that cannot fit: one error, short types, the sentence of run time; what is unknown stays silent."""

# run: no

from typing import Annotated

import numpy as np

from symbolic import Symbolic, symbolic


@symbolic
def product(
    x: Annotated[np.ndarray, Symbolic["batch 784"]], w: Annotated[np.ndarray, Symbolic["785 10"]]
) -> Annotated[np.ndarray, Symbolic["batch 10"]]:
    return x @ w  # E:12: matmul of shapes (batch, 784) and (785, 10): axis -1 of the first has size 784, axis -2 of the second has size 785; make the two sizes equal  [symbolic-shape]


@symbolic
def sums(
    a: Annotated[np.ndarray, Symbolic["n"]], b: Annotated[np.ndarray, Symbolic["m"]]
) -> Annotated[np.ndarray, Symbolic["n"]]:
    c = a + b  # E:9:  [symbolic-shape]
    d = np.exp(c) * 2.0
    return d


@symbolic
def reversed_operands(
    x: Annotated[np.ndarray, Symbolic["3 4"]], y: Annotated[np.ndarray, Symbolic["5"]]
) -> Annotated[np.ndarray, Symbolic["3 4"]]:
    return y * x  # E:12: shapes  [symbolic-shape]


@symbolic
def reshaped(h: Annotated[np.ndarray, Symbolic["10 56 56 64"]]) -> Annotated[np.ndarray, Symbolic["10 150528"]]:
    return h.reshape(10, 224 * 224 * 3)  # E:12:  [symbolic-shape]


@symbolic
def result(x: Annotated[np.ndarray, Symbolic["n 3"]]) -> Annotated[np.ndarray, Symbolic["n"]]:
    return x  # E:  [symbolic|return-value]


@symbolic
def precision(x: Annotated[np.ndarray, Symbolic[np.float32, "n"]]) -> Annotated[np.ndarray, Symbolic[np.float32, "n"]]:
    return x.astype(np.float64)  # E:  [symbolic|return-value]


@symbolic
def chosen(x: Annotated[np.ndarray, Symbolic["n 3"]]) -> Annotated[np.ndarray, Symbolic["n"]]:
    return np.sum(x, axis=2)  # E:12: axis  [symbolic-shape]


@symbolic
def scalar(x: Annotated[np.ndarray, Symbolic["n"]]) -> Annotated[float, Symbolic]:
    return np.exp(x)  # E:  [symbolic|return-value]


@symbolic
def bad_word(x: Annotated[np.ndarray, Symbolic["n 3!"]]) -> float:  # E: the dimension '3!' in a hint; write names, sizes, sums and products  [symbolic|symbolic-shape]
    return np.sum(x)


@symbolic
def two_variadic(x: Annotated[np.ndarray, Symbolic["*a *b"]]) -> float:  # E: the hint '*a *b' has two parts of any length; write only one of  [symbolic|symbolic-shape]
    return np.sum(x)


@symbolic
def wants_rows(x: Annotated[np.ndarray, Symbolic["n 3"]]) -> Annotated[np.ndarray, Symbolic["n"]]:
    return np.sum(x, axis=1)


@symbolic
def calls(x: Annotated[np.ndarray, Symbolic["n 4"]]) -> Annotated[np.ndarray, Symbolic["n"]]:
    return wants_rows(x)  # E:12: 3  [symbolic-shape]


@symbolic
def unknown(x: Annotated[np.ndarray, Symbolic], y: Annotated[np.ndarray, Symbolic["n"]]) -> Annotated[np.ndarray, Symbolic]:
    """Nothing is certain here, so nothing is said."""
    return (x @ x + y)[y > 0.0] @ np.load("weights.npy")
