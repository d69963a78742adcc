"""Correct programs: what the documentation of NumPy shows, and what is written every day."""

from typing import Annotated

import numpy as np

from symbolic import Symbolic, symbolic

Vector = Annotated[np.ndarray, Symbolic[np.float64, "n"]]
Matrix = Annotated[np.ndarray, Symbolic[np.float64, "n m"]]
Counts = Annotated[np.ndarray, Symbolic[np.int64, "n"]]


@symbolic
def flattened(x: Matrix) -> Annotated[np.ndarray, Symbolic[np.float64, "n*m"]]:
    return x.ravel()


@symbolic
def turned(x: Matrix) -> Annotated[np.ndarray, Symbolic[np.float64, "m n"]]:
    return x.T


@symbolic
def column(x: Vector) -> Annotated[np.ndarray, Symbolic[np.float64, "n 1"]]:
    return x.reshape(-1, 1)


@symbolic
def tiled(x: Vector) -> Annotated[np.ndarray, Symbolic[np.float64, "3 n"]]:
    return np.tile(x, (3, 1))


@symbolic
def without_last(x: Matrix) -> Annotated[np.ndarray, Symbolic[np.float64, "n m-1"]]:
    return x[:, :-1]


@symbolic
def every_other(x: Annotated[np.ndarray, Symbolic[np.float64, "2*n"]]) -> Vector:
    return x[::2]


@symbolic
def one_hot(labels: Counts) -> Annotated[np.ndarray, Symbolic[np.float64, "n 10"]]:
    return np.eye(10)[labels]


@symbolic
def one_hot_by_comparison(labels: Counts) -> Annotated[np.ndarray, Symbolic[np.float32, "n 10"]]:
    return (labels[:, None] == np.arange(10)).astype(np.float32)


@symbolic
def halved(x: Counts) -> Annotated[np.ndarray, Symbolic[np.float64, "n"]]:
    return x / 2


@symbolic
def halved_down(x: Counts) -> Counts:
    x = x // 2
    return x


@symbolic
def filled(x: Vector) -> Vector:
    y = np.zeros_like(x)
    y[1:] = x[:-1]
    y[0] = 1.0
    return y


@symbolic
def absolute_difference(
    a: Annotated[np.ndarray, Symbolic[np.uint8, "h w"]], b: Annotated[np.ndarray, Symbolic[np.uint8, "h w"]]
) -> Annotated[np.ndarray, Symbolic[np.uint8, "h w"]]:
    return np.where(a > b, a - b, b - a)


@symbolic
def by_rank(x: Matrix) -> Vector:
    match x.shape:
        case (_,):
            return x
        case (_, columns):
            return x.sum(axis=1) / columns
        case _:
            raise ValueError(x.shape)


@symbolic
def within(x: Vector) -> Vector:
    if np.any(x < 0.0) and not (x > 1.0).all():
        x = np.abs(x)
    top = x.max()
    return x / max(top, 1.0) if 0.0 < top < 2.0 else x


@symbolic
def polynomial(x: Vector, c: Annotated[np.ndarray, Symbolic[np.float64, "4"]]) -> Vector:
    total = c[3] + 0.0 * x
    for k in (2, 1, 0):
        total = total * x + c[k]
    return total


@symbolic
def vandermonde(x: Vector) -> Annotated[np.ndarray, Symbolic[np.float64, "n 4"]]:
    return x[:, None] ** np.arange(4)


@symbolic
def rescaled(x: Matrix) -> Matrix:
    low, high = x.min(), x.max()
    return (x - low) / (high - low + 1e-9)


@symbolic
def rescaled_columns(x: Matrix) -> Matrix:
    low = x.min(axis=0)
    return (x - low) / (np.ptp(x, axis=0) + 1e-9)


@symbolic
def either(x: Vector, double: bool = False) -> Vector:
    y = np.sqrt(x)
    if double:
        y = y * 2
    return y


@symbolic
def half_precision(
    x: Annotated[np.ndarray, Symbolic[np.float32, "n"]],
) -> Annotated[np.ndarray, Symbolic[np.float16, "n"]]:
    return x.astype(np.float16)


@symbolic
def widened(x: Annotated[np.ndarray, Symbolic[np.float32, "n"]]) -> Vector:
    return x.astype(np.float64) * np.float64(2.0)


@symbolic
def trapezoids(x: Vector, y: Vector) -> Annotated[float, Symbolic]:
    return np.sum((x[1:] - x[:-1]) * (y[1:] + y[:-1])) / 2


@symbolic
def stacked(x: Vector, y: Vector) -> Annotated[np.ndarray, Symbolic[np.float64, "2 n"]]:
    return np.vstack([x, y])


@symbolic
def means_of_pairs(x: Annotated[np.ndarray, Symbolic[np.float64, "2*n m"]]) -> Matrix:
    n, m = x.shape[0] // 2, x.shape[1]
    return x.reshape(n, 2, m).mean(axis=1)


@symbolic
def broadcast_table(x: Vector, y: Annotated[np.ndarray, Symbolic[np.float64, "m"]]) -> Matrix:
    return np.broadcast_to(x[:, None], (x.shape[0], y.shape[0])) + y
