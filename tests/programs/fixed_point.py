"""Roots and fixed points, iterated until they stand still: Kepler's equation, a market's balance, PageRank.

Checked against the implicit function theorem, and scipy.optimize.
"""

import math
from typing import Annotated, Any

import numpy as np
import scipy.optimize

import symbolic as s
from symbolic import Symbolic, symbolic


def kepler(mean: float, eccentricity: float, tol: float = 1e-13) -> float:
    """The eccentric anomaly E with E − e sin E = M, by Newton's method."""
    if not 0 <= eccentricity < 1:
        raise ValueError(f"an eccentricity of {eccentricity} is no ellipse")
    E = mean if eccentricity < 0.8 else math.pi
    err, count = math.inf, 0
    while err > tol:
        step = (E - eccentricity * math.sin(E) - mean) / (1 - eccentricity * math.cos(E))
        E -= step
        err = abs(step)
        count += 1
        if count > 50:
            raise RuntimeError(f"no convergence after {count} steps, at {E}")
    return E


def bisect(target: float, low: float = 0.0, high: float = 10.0) -> float:
    """Where x³ + x is the target: halving to bracket it, then Newton."""
    while high - low > 0.5:
        middle = (low + high) / 2
        if middle**3 + middle < target:
            low = middle
        else:
            high = middle
    x = (low + high) / 2
    for _ in range(100):
        before = x
        x = x - (x**3 + x - target) / (3 * x**2 + 1)
        if abs(x - before) <= 1e-14 * abs(x):
            break
    else:
        raise RuntimeError("no convergence")
    return x


def pagerank(weights: np.ndarray, damping: float = 0.85, tol: float = 1e-14) -> np.ndarray:
    n = weights.shape[0]
    P = weights / weights.sum(axis=0)
    rank, change = np.ones(n) / n, 1.0
    while change > tol:
        new = (1 - damping) / n + damping * P @ rank
        change = np.linalg.norm(new - rank, 1)
        rank = new
    return rank


WEIGHTS = np.random.default_rng(0).random((5, 5)) + 0.1


def check_kepler() -> None:
    for mean, e in ((0.7, 0.3), (2.5, 0.9), (0.0, 0.2)):
        E = scipy.optimize.brentq(lambda E, e=e, mean=mean: E - e * math.sin(E) - mean, -1, 4, xtol=1e-14)
        value, (by_mean, by_e) = s.value_and_grad(kepler, (0, 1))(mean, e)
        np.testing.assert_allclose(value, E, atol=1e-12)
        np.testing.assert_allclose(by_mean, 1 / (1 - e * math.cos(E)), rtol=1e-9)
        np.testing.assert_allclose(by_e, math.sin(E) / (1 - e * math.cos(E)), rtol=1e-9, atol=1e-12)


def check_kepler_refuses() -> None:
    for call in (kepler, s.grad(kepler)):
        try:
            call(0.5, 1.5)
        except ValueError as error:
            assert str(error).startswith("an eccentricity of 1.5 is no ellipse"), error
        else:
            raise AssertionError("nothing was raised")


def check_bisect() -> None:
    step = s.value_and_grad(bisect)
    for target in (0.5, 10.0, 300.0):
        x = scipy.optimize.brentq(lambda x, t=target: x**3 + x - t, 0, 10, xtol=1e-14)
        value, slope = step(target)
        np.testing.assert_allclose(value, x, rtol=1e-12)
        np.testing.assert_allclose(slope, 1 / (3 * x**2 + 1), rtol=1e-10)
    assert step.traces().paths == 3


def check_pagerank() -> None:
    """At the fixed point r = b + d P r, so dr = (1 − d P)⁻¹ d dP r."""
    rank, pullback = s.vjp(pagerank, WEIGHTS)
    totals = WEIGHTS.sum(axis=0)
    np.testing.assert_allclose(rank, np.linalg.solve(np.eye(5) - 0.85 * WEIGHTS / totals, np.full(5, 0.03)), rtol=1e-12)
    adjoint = 0.85 * np.linalg.solve(np.eye(5) - 0.85 * (WEIGHTS / totals).T, np.arange(5.0))
    expected = np.outer(adjoint, rank / totals) - (adjoint @ (WEIGHTS / totals)) * rank / totals
    np.testing.assert_allclose(pullback(np.arange(5.0))[0], expected, rtol=1e-9)


def check_layer() -> None:
    @symbolic
    def anomaly(mean: Annotated[float, Symbolic], e: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
        return kepler(mean, e)

    for mean, e in ((0.7, 0.3), (2.5, 0.9), (0.7, 0.3)):
        assert abs(anomaly.predict(mean, e) - kepler(mean, e)) < 1e-14
    loss: Any = symbolic(lambda t: (bisect(s.Weight(5.0)) - t) ** 2, float, returns=float)
    for _ in range(100):
        loss.train(2.0, optimizer=s.SGD(10.0))
    (target,) = loss.weights().values()
    np.testing.assert_allclose(target.value, 10.0, rtol=1e-4)
