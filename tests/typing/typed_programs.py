"""The idioms of the examples and of whole programs, typed: networks, recurrences, filters, solvers, statistics."""

# with: pyright basedpyright ty pyrefly mypy-without-plugin

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from symbolic import SGD, Adam, Symbolic, Weight, grad, he, log_softmax, logsumexp, normal, symbolic, value_and_grad

Bits = Annotated[np.ndarray, Symbolic["samples bits"]]
Outcomes = Annotated[np.ndarray, Symbolic["samples outcomes"]]
Memory = Annotated[np.ndarray, Symbolic["hidden"]]
Letters = Annotated[np.ndarray, Symbolic["steps letters"]]
V = Annotated[np.ndarray, Symbolic]
F = Annotated[float, Symbolic]


# ------------------------------------------------------------------ a network with hyperparameters that are layers
@symbolic
def dense(x: V, inputs: int, outputs: int) -> V:
    weight = Weight(he(inputs, outputs))
    bias = Weight(np.zeros(outputs))
    return x @ weight + bias


@symbolic
def predict(bits: V, sizes: tuple[int, ...]) -> V:
    x = bits
    for inputs, outputs in pairwise(sizes[:-1]):
        x = np.maximum(dense(x, inputs=inputs, outputs=outputs), 0)
    return dense(x, inputs=sizes[-2], outputs=sizes[-1])


@symbolic
def cross_entropy(bits: V, outcomes: V, logits: Any) -> F:
    z = logits(bits)
    return np.mean(np.logaddexp(0, z) - outcomes * z)  # F[pyright]: unknown


@symbolic
def mean_square(x: V, y: V, net: Callable[[np.ndarray], np.ndarray]) -> F:
    """A hyperparameter that is a layer, or any other function."""
    return np.sum((net(x) - y) ** 2)


# ------------------------------------------------------------------ a recurrence
@symbolic
def remember(letter: V, memory: V) -> V:
    W = Weight(normal(4, 8, std=0.01))
    U = Weight(normal(8, 8, std=0.01))
    return np.tanh(letter @ W + memory @ U + Weight(np.zeros(8)))


@symbolic
def expect(memory: V) -> V:
    return memory @ Weight(normal(8, 4)) + Weight(np.zeros(4))


@symbolic
def surprise(letters: V, following: V) -> F:
    memory, total = np.zeros(8), 0.0  # what an array is iterated over is Any, and pyright's strict mode tells of what follows
    for letter, right in zip(letters, following, strict=True):
        memory = remember(letter, memory)  # F[pyright]:
        logits = expect(memory)  # F[pyright]:
        total += logsumexp(logits) - right @ logits  # F[pyright]:
    return total  # F[pyright]:


# ------------------------------------------------------------------ attention, as functions of functions
def softmax(scores: np.ndarray) -> np.ndarray:
    e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return softmax(q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])) @ v


@symbolic
def block(x: V, width: int, heads: int = 2) -> V:
    q, k, v = [x @ Weight(he(width, width)) for _ in range(3)]
    n = x.shape[0]
    split = [y.reshape(n, heads, width // heads).transpose(1, 0, 2) for y in (q, k, v)]
    joined = attention(split[0], split[1], split[2]).transpose(1, 0, 2).reshape(n, width)
    return x + joined @ Weight(he(width, width))


# ------------------------------------------------------------------ a class with methods and state
@dataclass
class Oscillator:
    frequency: float
    damping: float


class KalmanFilter:
    def __init__(self, model: Oscillator, dt: float = 0.1) -> None:
        self.F = np.array([[1.0, dt], [-(model.frequency**2) * dt, 1.0 - 2 * model.damping * dt]])
        self.x = np.zeros(2)
        self.covariance = np.eye(2)

    def predict(self) -> None:
        self.x = self.F @ self.x
        self.covariance = self.F @ self.covariance @ self.F.T + 0.1 * np.eye(2)

    def update(self, z: float) -> float:
        H = np.array([[1.0, 0.0]])
        residual = z - H @ self.x
        S = H @ self.covariance @ H.T + np.eye(1)
        gain = self.covariance @ H.T @ np.linalg.inv(S)
        self.x = self.x + gain @ residual
        self.covariance = (np.eye(2) - gain @ H) @ self.covariance
        return -0.5 * float(residual @ np.linalg.solve(S, residual) + np.log(np.linalg.det(S)))


def log_likelihood(model: Oscillator, observations: np.ndarray) -> float:
    kalman = KalmanFilter(model)
    total = 0.0
    for z in observations:
        kalman.predict()
        total += kalman.update(z)
    return total


# ------------------------------------------------------------------ a solver, an integrator, statistics
def root(a: float) -> float:
    x, turns = a, 0
    while abs(x * x - a) > 1e-12 and turns < 50:
        x, turns = 0.5 * (x + a / x), turns + 1
    return x


@symbolic
def of_root(a: F) -> F:
    return root(a) * 2.0


def integrated(f: Callable[[np.ndarray, float], np.ndarray], start: np.ndarray, steps: int, dt: float) -> np.ndarray:
    y = start
    for k in range(steps):
        t = k * dt
        k1 = f(y, t)
        k2 = f(y + dt * k1 / 2, t + dt / 2)
        y = y + dt * (k1 + k2) / 2
    return y


@symbolic
def pendulum(start: V, length: F) -> V:
    def slope(y: np.ndarray, t: float) -> np.ndarray:
        return np.stack([y[1], -9.81 / length * np.sin(y[0])])

    return integrated(slope, start, 10, 0.01)


@symbolic
def gaussian(x: V, mean: V, scale: F) -> F:
    z = (x - mean) / scale
    return -0.5 * np.sum(z**2) - x.size * (np.log(scale) + 0.5 * math.log(2 * math.pi))


@symbolic
def polynomial(x: F) -> F:
    powers = np.zeros(4)
    powers[0] = 1.0
    for k in range(1, 4):
        powers[k] = powers[k - 1] * x
    return np.sum(powers * np.array([1.0, 2.0, 0.5, 2.0]))


@dataclass
class Layers:
    """Weights in a structure, and a method that is a network."""

    sizes: tuple[int, ...]
    weights: list[Weight[np.ndarray, np.ndarray]] = field(default_factory=list[Weight[np.ndarray, np.ndarray]])

    def __post_init__(self) -> None:
        self.weights.extend(Weight(np.ones(size)) for size in pairwise(self.sizes))

    def hidden(self, x: np.ndarray) -> np.ndarray:
        for weight in self.weights:
            x = np.tanh(x @ weight)
        return x


layers = Layers((4, 8, 3))


@symbolic
def classified(x: V, y: V) -> F:
    return -np.sum(y * log_softmax(layers.hidden(x), axis=-1))


# ------------------------------------------------------------------ training
def trained(rounds: int) -> list[float]:
    x, y = np.ones((5, 4)), np.ones((5, 3))
    net = predict(sizes=(4, 8, 3))
    step = cross_entropy(logits=net).trainer(Adam(0.003))
    losses: list[float] = []
    for _ in range(rounds):
        losses.append(step(x, y))
    return losses


def descended(start: np.ndarray, rounds: int) -> np.ndarray:
    def loss(w: np.ndarray) -> float:
        return float(np.sum((w - 1.0) ** 2))

    slope = value_and_grad(loss)
    for _ in range(rounds):
        _, delta = slope(start)
        start = start - 0.1 * delta
    return start


def check_values() -> None:
    assert len(trained(3)) == 3 and descended(np.zeros(2), 50).shape == (2,)
    assert mean_square(np.ones((2, 3)), np.ones((2, 2)), net=dense(inputs=3, outputs=2)) >= 0.0
    assert surprise.train(np.ones((3, 4)), np.ones((3, 4)), optimizer=SGD(0.01)) > 0.0
    assert block(np.ones((5, 4)), width=4).shape == (5, 4)
    model = grad(log_likelihood)(Oscillator(2.0, 0.1), np.ones(4))
    assert isinstance(model, Oscillator) and math.isclose(of_root(4.0), 4.0) and pendulum(np.ones(2), 1.0).shape == (2,)
    assert gaussian(np.ones(3), np.ones(3), 1.0) < 0.0 and polynomial(1.0) == 5.5
    assert classified(np.ones((2, 4)), np.ones((2, 3))) > 0.0
