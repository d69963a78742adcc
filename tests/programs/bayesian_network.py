"""A small Bayesian network of neurons, sampled by Hamiltonian Monte Carlo.

Checked against jax.grad, the reversibility of leapfrog, and, for a linear model, the posterior on paper.
"""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np

import symbolic as s
from symbolic import Symbolic, symbolic


class Prior(NamedTuple):
    scale: float = 1.0
    noise: float = 0.1


class Network:
    """Layers of given sizes; its parameters are one vector."""

    def __init__(self, *sizes: int, activation: Callable[..., Any] = np.tanh) -> None:
        self.sizes, self.activation = sizes, activation

    @property
    def count(self) -> int:
        return sum((a + 1) * b for a, b in zip(self.sizes, self.sizes[1:], strict=False))

    def unpack(self, theta: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        if theta.shape != (self.count,):
            raise ValueError(f"{self.count} parameters are needed, not {theta.shape}")
        layers, at = [], 0
        for a, b in zip(self.sizes, self.sizes[1:], strict=False):
            W = theta[at : at + a * b].reshape(a, b)
            layers.append((W, theta[at + a * b : at + (a + 1) * b]))
            at += (a + 1) * b
        return layers

    def __call__(self, theta: np.ndarray, x: np.ndarray) -> np.ndarray:
        *hidden, (W, b) = self.unpack(theta)
        for V, c in hidden:
            x = self.activation(x @ V + c)
        return (x @ W + b)[:, 0]

    def energy(self, theta: np.ndarray, x: np.ndarray, y: np.ndarray, prior: Prior = Prior()) -> float:  # noqa: B008 - it is frozen
        """Minus the logarithm of the posterior, but for a constant."""
        misfit = np.sum((self(theta, x) - y) ** 2) / prior.noise**2
        return 0.5 * (misfit + np.sum(theta**2) / prior.scale**2)


def leapfrog(slope: Callable[..., Any], q: np.ndarray, p: np.ndarray, step: float, count: int) -> Any:
    p = p - 0.5 * step * slope(q)
    for k in range(count):
        q = q + step * p
        p = p - (0.5 if k == count - 1 else 1.0) * step * slope(q)
    return q, p


def hmc(energy: Callable[..., float], start: np.ndarray, rng: Any, draws: int, step: float, count: int) -> Any:
    slope = s.grad(energy)
    q, samples, accepted = start, [], 0
    for _ in range(draws):
        p = rng.standard_normal(len(q))
        new_q, new_p = leapfrog(slope, q, p, step, count)
        change = energy(new_q) + 0.5 * new_p @ new_p - energy(q) - 0.5 * p @ p
        if np.log(rng.random()) < -change:
            q, accepted = new_q, accepted + 1
        samples.append(q)
    return np.array(samples), accepted / draws


RNG = np.random.default_rng(0)
X = RNG.standard_normal((15, 2))
Y = np.sin(X[:, 0]) * X[:, 1]
NET = Network(2, 4, 3, 1)
THETA = 0.5 * RNG.standard_normal(NET.count)


def check_gradient() -> None:
    import jax
    import jax.numpy as jnp

    def energy(theta: Any) -> Any:
        W, b, V, c = theta[:8].reshape(2, 4), theta[8:12], theta[12:24].reshape(4, 3), theta[24:27]
        out = jnp.tanh(jnp.tanh(X @ W + b) @ V + c) @ theta[27:30] + theta[30]
        return 0.5 * (jnp.sum((out - Y) ** 2) / 0.01 + jnp.sum(theta**2))

    value, delta = s.value_and_grad(NET.energy)(THETA, X, Y)
    np.testing.assert_allclose(value, energy(THETA), rtol=1e-12)
    np.testing.assert_allclose(delta, jax.grad(energy)(THETA), rtol=1e-9)


def check_reversible() -> None:
    slope = s.grad(lambda theta: NET.energy(theta, X, Y))
    momentum = RNG.standard_normal(NET.count)
    there, p = leapfrog(slope, THETA, momentum, 0.005, 20)
    back, q = leapfrog(slope, there, -p, 0.005, 20)
    np.testing.assert_allclose(back, THETA, atol=1e-9)
    np.testing.assert_allclose(-q, momentum, atol=1e-7)


def check_posterior() -> None:
    line = Network(2, 1)
    samples, accepted = hmc(
        lambda theta: line.energy(theta, X, Y, Prior(noise=0.5)), np.zeros(3), np.random.default_rng(1), 1500, 0.15, 8
    )
    design = np.column_stack([X, np.ones(15)])
    covariance = np.linalg.inv(design.T @ design / 0.25 + np.eye(3))
    assert accepted > 0.7
    np.testing.assert_allclose(samples.mean(axis=0), covariance @ design.T @ Y / 0.25, atol=0.03)
    np.testing.assert_allclose(np.cov(samples.T), covariance, atol=0.01)


def check_layer() -> None:
    @symbolic
    def network(x: Annotated[np.ndarray, Symbolic], y: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        return NET.energy(s.Weight(THETA), x, y, prior=Prior(noise=0.3))

    before = network.train(X, Y, optimizer=s.SGD(1e-3))
    np.testing.assert_allclose(before, NET.energy(THETA, X, Y, Prior(noise=0.3)), rtol=1e-12)
    for _ in range(100):
        last = network.train(X, Y, optimizer=s.SGD(1e-3))
    assert last < 0.5 * before
