"""The everyday body, under `strict = True` and the plugin alone: plain NumPy code as anyone writes it."""

# with: pyright basedpyright ty pyrefly mypy-without-plugin

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np

from symbolic import Symbolic, Weight, he, logsumexp, symbolic

V = Annotated[np.ndarray, Symbolic]
F = Annotated[float, Symbolic]


# ------------------------------------------------------------------ names that are bound anew
@symbolic
def in_a_loop(x: V, w: V) -> V:
    h = x
    for _ in range(3):
        h = np.tanh(h @ w)
    return h


@symbolic
def in_an_if(x: V, flag: bool = True) -> V:
    h = x
    if flag:
        h = np.exp(h)
    else:
        h = h + 1.0
    return h


@symbolic
def by_value(x: F) -> F:
    if x > 0.0:
        return x
    y = -x
    if y > 1.0:
        y = math.sqrt(y)
    return y


@symbolic
def in_a_while(x: F) -> F:
    while x > 1.0:
        x = x / 2.0
    return x


@symbolic
def in_place(x: V) -> V:
    x += 1
    y = x * 2.0
    y -= 1.0
    y *= 2.0
    y /= 3.0
    y **= 2
    return y


@symbolic
def accumulated(x: V) -> F:
    total = 0.0
    for row in x:
        total += np.sum(row * row)
    return total


@symbolic
def from_nothing(x: V) -> V:
    result = np.zeros(3)
    for k in range(3):
        result = result + x * k
    return result


@symbolic
def from_none(x: V) -> V:
    best = None
    for k in range(3):
        candidate = x * k
        if best is None:
            best = candidate
        else:
            best = np.maximum(best, candidate)
    assert best is not None
    return best


@symbolic
def other_type(x: V) -> F:
    value = x
    value = np.sum(value)
    return value


# ------------------------------------------------------------------ lists, tuples, ternaries
@symbolic
def appended(x: V) -> V:
    layers = []
    for k in range(3):
        layers.append(x * k)  # F[pyright]: unknown
    return np.concatenate(layers)  # F[pyright]: unknown


@symbolic
def appended_to_declared(x: V) -> V:
    layers: list[V] = []
    for k in range(3):
        layers.append(x * k)
    return np.concatenate(layers)


@symbolic
def appended_to_native(x: V) -> V:
    layers: list[np.ndarray] = []
    for k in range(3):
        layers.append(x * k)
    return np.concatenate(layers)


@symbolic
def comprehended(x: V) -> V:
    return np.stack([np.sin(x * k) for k in range(1, 4)])


@symbolic
def literal_list(x: V) -> V:
    parts = [x, np.exp(x), x * 2.0]
    return parts[0] + parts[1] + parts[-1]


@symbolic
def of_two_kinds(x: V) -> V:
    return np.concatenate([x, np.ones(3), np.exp(x)])


@symbolic
def summed(x: V) -> F:
    return sum([np.sum(x * k) for k in range(3)], 0.0)


@symbolic
def largest(x: F, y: F) -> F:
    return max(x, y) + min(x, 1.0) + abs(y)


@symbolic
def ternary(x: V, flag: bool = False) -> V:
    return x if flag else np.exp(x)


@symbolic
def ternary_by_value(x: F) -> F:
    y = x if x > 0.0 else 0.0
    return y


@symbolic
def unpacked(x: V) -> V:
    a, b = x * 2.0, x + 1.0
    (c, d), e = (a, b), a * b
    first, *rest = [a, b, c]
    return c + d + e + first + rest[0]


@symbolic
def swapped(x: V, y: V) -> V:
    x, y = y, x
    for _ in range(3):
        x, y = y, x + y
    return x


@symbolic
def zipped(x: V, y: V) -> F:
    total = 0.0
    for k, (a, b) in enumerate(zip(x, y)):
        total = total + k * np.sum(a * b)
    return total


@symbolic
def by_name(x: V) -> V:
    found = {"a": x, "b": np.exp(x)}
    found["c"] = found["a"] + found["b"]
    return found["c"]


# ------------------------------------------------------------------ sizes
@symbolic
def rows(x: V) -> V:
    n = x.shape[0]
    return x / n


@symbolic
def sizes(x: V) -> V:
    batch, width = x.shape
    y = x.reshape(batch * width)
    return y.reshape((batch, width)) / x.size + len(x) * x.ndim


@symbolic
def halves(x: V) -> V:
    half = x.shape[-1] // 2
    return x[..., :half] * x[..., half:]


@symbolic
def entries(x: V) -> V:
    y = np.zeros(x.shape)
    for i in range(x.shape[0]):
        y[i] = x[i] * i
    y[0] += 1.0
    return y


# ------------------------------------------------------------------ numbers
@symbolic
def by_math(x: F) -> F:
    return math.exp(x) + math.log(1.0 + x * x) + math.pi * math.sqrt(abs(x))


@symbolic
def to_float(x: V) -> F:
    return float(np.sum(x))


@symbolic
def early(x: F, limit: float = 1.0) -> F:
    if x > limit:
        return limit
    for k in range(3):
        if x * k > limit:
            return x * k
    return x


@symbolic
def constant(x: V) -> F:
    return 1.0


@symbolic
def undeclared(x: V) -> F:
    mean = np.mean(x)
    centred = x - mean
    variance = np.sum(centred**2) / x.size
    return variance  # F[pyright basedpyright pyrefly]: floating


# ------------------------------------------------------------------ helpers
def normalized(y: np.ndarray, epsilon: float = 1e-6) -> np.ndarray:
    """Plain NumPy code, which knows nothing of layers."""
    mean = np.mean(y, axis=-1, keepdims=True)
    return (y - mean) / (np.std(y, axis=-1, keepdims=True) + epsilon)


def activated(y: np.ndarray, how: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    return how(y)


def joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(list(parts), axis=-1)


def distance(x: float, y: float) -> float:
    return math.hypot(x, y)


@symbolic
def with_helpers(x: V) -> V:
    y = normalized(x)
    y = activated(y, np.tanh)
    y = activated(y, lambda z: z * 2.0)
    return joined([y, normalized(y, 1e-3)])


@symbolic
def with_numbers(x: F) -> F:
    return distance(x, 4.0) + distance(1.0, x)


@symbolic
def nested_helper(x: V, rate: float = 0.5) -> V:
    def step(y: np.ndarray) -> np.ndarray:
        return y - rate * np.sin(y)

    for _ in range(3):
        x = step(x)
    return x


@symbolic
def with_lambda(x: V) -> V:
    scale = lambda y: y * 2.0  # F[pyright]:
    return scale(x)  # E: untyped function  [no-untyped-call]  # F[pyright]: unknown


@symbolic
def hyper_callable(x: V, activation: Callable[[np.ndarray], np.ndarray] = np.tanh) -> V:
    return activation(x) * 2.0


# ------------------------------------------------------------------ layers of layers
@symbolic
def dense(x: V, inputs: int, outputs: int) -> V:
    return x @ Weight(he(inputs, outputs)) + Weight(np.zeros(outputs))


@symbolic
def perceptron(x: V, sizes: tuple[int, ...]) -> V:
    h = x
    for inputs, outputs in pairwise(sizes[:-1]):
        h = np.maximum(dense(h, inputs=inputs, outputs=outputs), 0.0)
    return dense(h, inputs=sizes[-2], outputs=sizes[-1])


@symbolic
def cross_entropy(x: V, y: V) -> F:
    logits = perceptron(x, sizes=(4, 8, 3))
    return np.mean(logsumexp(logits, axis=-1) - np.sum(y * logits, axis=-1))  # F[pyright]: unknown


@symbolic
def kernel(x: V, y: V, width: F) -> F:
    return np.exp(-np.sum((x - y) ** 2) / width)


@symbolic
def calls(x: V, y: V) -> F:
    same = kernel(x, x, 1.0)
    other = kernel(x, y, width=2.0)
    plain = kernel(np.ones(3), np.ones(3), 1.0)
    return same + other + plain


@dataclass
class Cell:
    memory: np.ndarray
    steps: int = 0

    def moved(self, x: np.ndarray) -> "Cell":
        return Cell(np.tanh(self.memory + x), self.steps + 1)


@symbolic
def recurrent(x: V) -> V:
    cell = Cell(np.zeros(3))
    for row in x:
        cell = cell.moved(row)
    return cell.memory


class Network:
    def __init__(self, size: int) -> None:
        self.weight = Weight(he(size, size))
        self.bias = Weight(np.zeros(size))

    def hidden(self, x: np.ndarray) -> np.ndarray:
        return np.tanh(x @ self.weight + self.bias)

    @symbolic
    def score(self, x: V) -> F:
        return np.sum(self.hidden(x) ** 2)


def check_values() -> None:
    x, m = np.ones(3), np.ones((3, 3))
    assert in_a_loop(m, m).shape == (3, 3) and in_an_if(x).shape == in_place(x).shape == (3,)
    assert by_value(2.0) == 2.0 and by_value(-4.0) == 2.0 and in_a_while(3.0) == 0.75
    assert accumulated(m) == 9.0 and from_nothing(x).tolist() == [3.0, 3.0, 3.0] and from_none(x).tolist() == [2.0] * 3
    assert other_type(x) == 3.0 and appended(x).shape == (9,) and comprehended(x).shape == (3, 3)
    assert appended_to_declared(x).shape == appended_to_native(x).shape == (9,)
    assert literal_list(x).shape == (3,) and of_two_kinds(x).shape == (9,) and summed(x) == 9.0
    assert largest(2.0, -1.0) == 4.0 and ternary(x).shape == (3,) and ternary_by_value(-1.0) == 0.0
    assert unpacked(x).tolist() == [12.0] * 3 and swapped(x, x).shape == (3,) and zipped(m, m) == 9.0
    assert by_name(x).shape == rows(x).shape == (3,) and sizes(m).shape == (3, 3) and entries(m).shape == (3, 3)
    assert halves(np.ones((2, 4))).shape == (2, 2) and by_math(0.0) == 1.0 and to_float(x) == 3.0
    assert early(2.0) == 1.0 and early(0.75) == 1.5 and constant(x) == 1.0 and undeclared(x) == 0.0
    assert with_helpers(m).shape == (3, 6) and with_numbers(3.0) == 5.0 + math.hypot(1.0, 3.0)
    assert nested_helper(x).shape == with_lambda(x).shape == hyper_callable(x).shape == (3,)
    assert type(cross_entropy(np.ones((2, 4)), np.ones((2, 3)))) is float and type(calls(x, x)) is float
    assert recurrent(m).shape == (3,) and type(Network(3).score(m)) is float
