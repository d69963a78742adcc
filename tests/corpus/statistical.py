"""Correct programs: statistics."""

from typing import Annotated

import numpy as np

from symbolic import Symbolic, symbolic

Float = Annotated[float, Symbolic]
Vector = Annotated[np.ndarray, Symbolic[np.float64, "n"]]
Data = Annotated[np.ndarray, Symbolic[np.float64, "n d"]]


@symbolic
def standardized(x: Data) -> Data:
    return (x - x.mean(axis=0)) / x.std(axis=0)


@symbolic
def centered_rows(x: Data) -> Data:
    return x - x.mean(axis=1, keepdims=True)


@symbolic
def covariance(x: Data) -> Annotated[np.ndarray, Symbolic[np.float64, "d d"]]:
    centered = x - np.mean(x, axis=0)
    return centered.T @ centered / (x.shape[0] - 1)


@symbolic
def correlation(x: Data) -> Annotated[np.ndarray, Symbolic[np.float64, "d d"]]:
    c = np.cov(x, rowvar=False) + 0.0
    s = np.sqrt(np.diag(c))
    return c / s / s[:, None]


@symbolic
def correlation_by_outer(x: Data) -> Annotated[np.ndarray, Symbolic[np.float64, "d d"]]:
    centered = x - x.mean(axis=0)
    c = centered.T @ centered
    s = np.sqrt(np.diagonal(c))
    return c / np.outer(s, s)


@symbolic
def doubly_centered(
    k: Annotated[np.ndarray, Symbolic[np.float64, "n n"]],
) -> Annotated[np.ndarray, Symbolic[np.float64, "n n"]]:
    return k - k.mean(axis=0) - k.mean(axis=1, keepdims=True) + k.mean()


@symbolic
def distances(
    x: Data, y: Annotated[np.ndarray, Symbolic[np.float64, "m d"]]
) -> Annotated[np.ndarray, Symbolic[np.float64, "n m"]]:
    return np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=-1))


@symbolic
def squared_distances(x: Data) -> Annotated[np.ndarray, Symbolic[np.float64, "n n"]]:
    squares = np.sum(x * x, axis=1)
    return squares[:, None] + squares - 2 * x @ x.T


@symbolic
def pairwise_differences(x: Vector) -> Annotated[np.ndarray, Symbolic[np.float64, "n n"]]:
    return np.abs(x[:, np.newaxis] - x)


@symbolic
def gaussian_kernel(x: Data) -> Annotated[np.ndarray, Symbolic[np.float64, "n n"]]:
    d = np.sum((x[:, None] - x) ** 2, axis=-1)
    return np.exp(-0.5 * d)


@symbolic
def stochastic_rows(
    a: Annotated[np.ndarray, Symbolic[np.float64, "s s"]],
) -> Annotated[np.ndarray, Symbolic[np.float64, "s s"]]:
    return a / a.sum(axis=1)[:, None]


@symbolic
def stochastic_columns(
    a: Annotated[np.ndarray, Symbolic[np.float64, "s s"]],
) -> Annotated[np.ndarray, Symbolic[np.float64, "s s"]]:
    return a / a.sum(axis=0)


@symbolic
def weighted_mean(x: Data, w: Vector) -> Annotated[np.ndarray, Symbolic[np.float64, "d"]]:
    return (w[:, None] * x).sum(axis=0) / w.sum()


@symbolic
def kernel_regression(
    at: Annotated[np.ndarray, Symbolic[np.float64, "m"]], x: Vector, y: Vector
) -> Annotated[np.ndarray, Symbolic[np.float64, "m"]]:
    k = np.exp(-((at[:, None] - x) ** 2))
    return (k * y).sum(axis=1) / k.sum(axis=1)


@symbolic
def log_density(
    x: Data,
    mean: Annotated[np.ndarray, Symbolic[np.float64, "d"]],
    std: Annotated[np.ndarray, Symbolic[np.float64, "d"]],
) -> Vector:
    z = (x - mean) / std
    return -0.5 * np.sum(z**2, axis=1) - np.sum(np.log(std)) - 0.5 * x.shape[1] * float(np.log(2 * np.pi))


@symbolic
def responsibilities(
    x: Vector, means: Annotated[np.ndarray, Symbolic[np.float64, "k"]]
) -> Annotated[np.ndarray, Symbolic[np.float64, "n k"]]:
    weights = np.exp(-0.5 * (x[:, None] - means[None, :]) ** 2)
    return weights / weights.sum(axis=1, keepdims=True)


@symbolic
def autocovariance(x: Vector) -> Annotated[np.ndarray, Symbolic[np.float64, "3"]]:
    c = x - x.mean()
    return np.stack([np.mean(c * c), np.mean(c[1:] * c[:-1]), np.mean(c[2:] * c[:-2])])


@symbolic
def explained_variance(y: Vector, prediction: Vector) -> Float:
    return 1.0 - np.sum((y - prediction) ** 2) / np.sum((y - y.mean()) ** 2)


@symbolic
def softened_ranks(x: Vector) -> Vector:
    return (1.0 / (1.0 + np.exp(x[None, :] - x[:, None]))).sum(axis=1)


@symbolic
def moments(x: Data) -> Annotated[np.ndarray, Symbolic[np.float64, "2 d"]]:
    return np.stack([x.mean(axis=0), x.var(axis=0)])


@symbolic
def quantile_loss(y: Vector, q: Vector) -> Float:
    e = y - q
    return np.mean(np.maximum(0.9 * e, -0.1 * e))


@symbolic
def viterbi_step(
    score: Annotated[np.ndarray, Symbolic[np.float64, "s"]],
    moves: Annotated[np.ndarray, Symbolic[np.float64, "s s"]],
    emission: Annotated[np.ndarray, Symbolic[np.float64, "s"]],
) -> Annotated[np.ndarray, Symbolic[np.float64, "s"]]:
    return np.max(score[:, None] + moves, axis=0) + emission
