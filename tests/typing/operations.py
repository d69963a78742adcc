"""Which type has the result of an operator, a method, a NumPy function, an index?"""

import math
from collections.abc import Callable
from typing import Annotated, reveal_type

import numpy as np

import symbolic as s
from symbolic import Symbolic, Weight, log_softmax, logsumexp, softmax, symbolic

V = Annotated[np.ndarray, Symbolic]
F = Annotated[float, Symbolic]


@symbolic
def operators(x: V) -> V:
    reveal_type(x + 1.0)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(1.0 - x)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x * x)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(2 / x)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x**2)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(2.0**x)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x // 2)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x % 2)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(-x)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(+x)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(abs(x))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x @ np.ones((3, 2)))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(np.ones((2, 3)) @ x)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(np.ones(3) * x)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.ones(3) + x)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.float64(2.0) * x)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x * Weight(2.0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(Weight(2.0) * x)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x @ Weight(np.ones((3, 2))))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(x > 0.0)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, …]]
    reveal_type(0.0 < x)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, …]]
    reveal_type(x == 1.0)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, …]]
    reveal_type((x > 0.0) & (x < 1.0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, …]]
    reveal_type(~(x > 0.0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, …]]
    return x


# `ndarray…`: where the number of axes follows from the function, it may stand in the type


@symbolic
def functions(x: V) -> V:
    reveal_type(np.exp(x))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.tanh(x))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.maximum(x, 0.0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.maximum(0.0, x))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.add(x, x))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.matmul(x, np.ones((3, 2))))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(np.sum(x))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    reveal_type(np.sum(x, axis=0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.sum(x, axis=0, keepdims=True))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.mean(x))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    reveal_type(np.mean(x, axis=-1, keepdims=True))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.max(x))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    reveal_type(np.std(x))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    reveal_type(np.prod(x))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    reveal_type(np.linalg.norm(x))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    reveal_type(np.linalg.inv(x))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(np.linalg.solve(x, np.ones(3)))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(np.where(x > 0.0, x, 0.0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.clip(x, 0.0, 1.0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.concatenate([x, x]))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.concatenate([x, np.ones((1, 3))], axis=0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(np.stack([x, 2.0 * x]))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.reshape(x, (3, -1)))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(np.transpose(x))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.expand_dims(x, 0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.einsum("ij,kj->ik", x, x))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(np.cumsum(x))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(np.zeros_like(x))  # R: Layer[…, Tape[ndarray, ndarray]]
    reveal_type(np.sort(x))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(np.add.reduce(x))  # R: Layer[Tape[ndarray, ndarray], …]
    reveal_type(np.outer(x, x))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(softmax(x, axis=-1))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(log_softmax(x, axis=-1))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(logsumexp(x))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    reveal_type(s.stop_gradient(x))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    return x


@symbolic
def methods(x: V) -> V:
    reveal_type(x.sum())  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    reveal_type(x.sum(axis=0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x.mean(axis=-1, keepdims=True))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x.reshape(3, -1))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(x.reshape((3, -1)))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(x.T)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x.transpose(1, 0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x.ravel())  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(x.flatten())  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(x.copy())  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x.dot(np.ones((3, 2))))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(x.clip(0.0, 1.0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x.astype(np.float32))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray…, ndarray]]
    reveal_type(x.real)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    reveal_type(x.shape)  # R: tuple[int, ...]
    reveal_type(x.shape[0])  # R: int
    reveal_type(x.ndim)  # R: int
    reveal_type(x.size)  # R: int
    reveal_type(len(x))  # R: int
    return x


@symbolic
def indexing(x: V, k: Annotated[np.ndarray, Symbolic[np.int64, "n"]]) -> V:
    reveal_type(x[1:])  # R: Layer[Tape[tuple[ndarray, …, Tape[ndarray, ndarray]]
    reveal_type(x[..., None])  # R: Layer[Tape[tuple[ndarray, …, Tape[ndarray, ndarray]]
    reveal_type(x[:, ::-1])  # R: Layer[Tape[tuple[ndarray, …, Tape[ndarray, ndarray]]
    reveal_type(x[None])  # R: Layer[Tape[tuple[ndarray, …, Tape[ndarray, ndarray]]
    reveal_type(x[[0, 1]])  # R: Layer[Tape[tuple[ndarray, …, Tape[ndarray, ndarray]]
    reveal_type(x[np.array([0, 1])])  # R: Layer[Tape[tuple[ndarray, …, Tape[ndarray, ndarray]]
    reveal_type(x[k])  # R: Layer[Tape[tuple[ndarray, …, Tape[ndarray, ndarray]]
    reveal_type(x[x > 0.0])  # R: Layer[Tape[tuple[ndarray, …, Tape[ndarray, ndarray]]
    reveal_type(x[0])  # R: Layer[Tape[tuple[ndarray, …
    return x[1:]


@symbolic
def numbers(x: F, n: Annotated[int, Symbolic]) -> F:
    reveal_type(x + 1.0)  # R: Layer[Tape[tuple[float, int], tuple[float, float]], Tape[float, float]]
    reveal_type(x + n)  # R: Layer[Tape[tuple[float, int], tuple[float, float]], Tape[float, float]]
    reveal_type(n + 1)  # R: Layer[Tape[tuple[float, int], tuple[float, float]], Tape[int, float]]
    reveal_type(n / 2)  # R: Layer[Tape[tuple[float, int], tuple[float, float]], Tape[float, float]]
    reveal_type(x**2)  # R: Layer[Tape[tuple[float, int], tuple[float, float]], Tape[float, float]]
    reveal_type(abs(x))  # R: Layer[Tape[tuple[float, int], tuple[float, float]], Tape[float, float]]
    reveal_type(x * np.ones(3))  # R: Layer[Tape[tuple[float, int], tuple[float, float]], Tape[ndarray…, ndarray]]
    reveal_type(np.ones(3) * x)  # R: Layer[Tape[tuple[float, int], tuple[float, float]], Tape[ndarray…, ndarray]]
    reveal_type(x * Weight(2.0))  # R: Layer[Tape[tuple[float, int], tuple[float, float]], Tape[float, float]]
    reveal_type(math.exp(x))  # R: Layer[Tape[tuple[float, int], tuple[float, float]], Tape[float, float]]
    reveal_type(max(x, 0.0))  # R: Layer[Tape[tuple[float, int], tuple[float, float]], Tape[float, float]]
    reveal_type(float(x))  # R: Layer[Tape[tuple[float, int], tuple[float, float]], Tape[float, float]]
    return x


@symbolic
def constants(x: V) -> V:
    """What no input goes into stays a plain value, or fits every input."""
    ones = np.ones(3)
    reveal_type(ones.shape)  # R: …tuple[int…
    reveal_type(Weight(2.0))  # R: Weight[float, float]
    reveal_type(Weight(np.ones(3)))  # R: Weight[ndarray…, ndarray…]
    reveal_type(s.Literal(2.0))  # R: Literal[float, float]
    reveal_type(2.0 * Weight(2.0))  # R: Layer[Tape[object, Never], Tape[float, float]]
    reveal_type(x * (2.0 * Weight(2.0)))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    return x * ones


# ------------------------------------------------------------------ outside of functions
net: Annotated[Callable[[np.ndarray], np.ndarray], Symbolic] = operators
reveal_type(net + 1.0)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
reveal_type(net * Weight(2.0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
reveal_type(net @ functions)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
reveal_type(np.sum(net))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(s.Plus(net, functions))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
reveal_type(s.Tanh(net))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]


def check_values() -> None:
    x = np.eye(3)
    assert operators(x).shape == functions(x).shape == methods(x).shape == (3, 3)
    assert indexing(x, np.array([0, 1])).shape == (2, 3)
    assert numbers(2.0, 3) == 2.0 and constants(np.ones(3)).shape == (3,)
    assert np.sum(net).predict(x) == 3.0
