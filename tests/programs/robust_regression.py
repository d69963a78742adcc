"""A line through points of which some are wrong: Huber's loss with `if`, reweighting until it rests, Theil and Sen.

Checked against scipy.optimize.least_squares and scipy.stats.theilslopes, and central differences.
"""

from typing import Annotated, Any

import numpy as np
import scipy.optimize
import scipy.stats

import symbolic as s
from symbolic import Symbolic, symbolic


def huber(residual: float, width: float = 1.0) -> float:
    if abs(residual) <= width:
        return 0.5 * residual**2
    return width * (abs(residual) - 0.5 * width)


def loss(line: tuple[float, float], x: np.ndarray, y: np.ndarray) -> float:
    slope, intercept = line
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += huber(slope * a + intercept - b)
    return total


def reweighted(x: np.ndarray, y: np.ndarray, width: float = 1.0, most: int = 200) -> np.ndarray:
    """Least squares again and again, points far off counting less; until nothing moves."""
    design = np.stack([x, np.ones_like(x)], axis=1)
    weights = np.ones(len(x))
    beta = np.zeros(2)
    for _ in range(most):
        W = np.diag(weights)
        new = np.linalg.solve(design.T @ W @ design, design.T @ W @ y)
        if np.allclose(new, beta, rtol=0, atol=1e-13):
            break
        beta = new
        for i, residual in enumerate(y - design @ beta):
            weights[i] = 1.0 if abs(residual) <= width else width / abs(residual)
    return beta


def theil_sen(x: np.ndarray, y: np.ndarray) -> float:
    """The middle one of the slopes between all pairs."""
    slopes = []
    for i in range(len(x)):
        for j in range(i):
            if x[i] != x[j]:
                slopes.append((y[i] - y[j]) / (x[i] - x[j]))
    slopes.sort()
    half = len(slopes) // 2
    return slopes[half] if len(slopes) % 2 else (slopes[half - 1] + slopes[half]) / 2


RNG = np.random.default_rng(0)
X = np.linspace(0.0, 5.0, 12)
Y = 1.5 * X - 0.7 + 0.3 * RNG.standard_normal(12)
Y[[3, 8]] += [6.0, -9.0]


def differences(function: Any, point: np.ndarray, h: float = 1e-5) -> np.ndarray:
    units = h * np.eye(len(point))
    return np.array([(function(point + unit) - function(point - unit)) / (2 * h) for unit in units])


def check_loss() -> None:
    value, (slope, intercept) = s.value_and_grad(loss)((1.0, 0.0), X, Y)
    residuals = X - Y
    np.testing.assert_allclose(value, np.sum(scipy.special.huber(1.0, residuals)), rtol=1e-12)
    np.testing.assert_allclose(slope, np.sum(X * np.clip(residuals, -1, 1)), rtol=1e-12)
    np.testing.assert_allclose(intercept, np.sum(np.clip(residuals, -1, 1)), rtol=1e-12)


def check_reweighted() -> None:
    expected = scipy.optimize.least_squares(
        lambda b: b[0] * X + b[1] - Y, [1.0, 0.0], loss="huber", xtol=1e-14, ftol=1e-14, gtol=1e-14
    ).x
    value, pullback = s.vjp(lambda y: reweighted(X, y), Y)
    np.testing.assert_allclose(value, expected, atol=1e-6)
    for k in range(2):
        numeric = differences(lambda y, k=k: reweighted(X, y)[k], Y)
        np.testing.assert_allclose(pullback(np.eye(2)[k])[0], numeric, atol=1e-6)


def check_theil_sen() -> None:
    value, slopes = s.value_and_grad(theil_sen, 1)(X, Y)
    np.testing.assert_allclose(value, scipy.stats.theilslopes(Y, X).slope, rtol=1e-12)
    np.testing.assert_allclose(slopes, differences(lambda y: theil_sen(X, y), Y), atol=1e-8)


def check_layer() -> None:
    @symbolic
    def network(x: Annotated[np.ndarray, Symbolic], y: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        return loss((s.Weight(1.0), s.Weight(0.0)), x, y)

    np.testing.assert_allclose(network.predict(X, Y), loss((1.0, 0.0), X, Y), rtol=1e-12)
    for _ in range(400):
        network.train(X, Y, optimizer=s.SGD(0.01))
    found = [weight.value for weight in network.weights().values()]
    np.testing.assert_allclose(found, reweighted(X, Y), atol=1e-3)
    middle = symbolic(theil_sen, np.ndarray, np.ndarray, returns=float)
    assert middle.predict(X, Y) == theil_sen(X, Y)
