"""Curve fitting by Levenberg and Marquardt, with standard errors from the Jacobian.

Checked against scipy.optimize.curve_fit.
"""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import scipy.optimize

import symbolic as s
from symbolic import Symbolic, symbolic

Model = Callable[..., np.ndarray]


def decay(x: np.ndarray, height: float, rate: float, floor: float) -> np.ndarray:
    return height * np.exp(-rate * x) + floor


def peaks(x: np.ndarray, *params: float) -> np.ndarray:
    """A sum of Gaussian peaks: height, center and width of each."""
    if len(params) % 3 != 0:
        raise ValueError(f"peaks have three parameters each, and {len(params)} were given")
    total = np.zeros_like(x)
    for height, center, width in zip(params[::3], params[1::3], params[2::3], strict=True):
        total += height * np.exp(-0.5 * ((x - center) / width) ** 2)
    return total


def jacobian(residuals: Callable[[np.ndarray], np.ndarray], point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    value, pullback = s.vjp(residuals, point)
    J = np.empty((len(value), len(point)))
    for k in range(len(value)):
        J[k] = pullback(np.eye(len(value))[k])[0]
    return value, J


def fit(model: Model, x: np.ndarray, y: np.ndarray, start: list[float], tol: float = 1e-12) -> tuple[Any, Any]:
    def residuals(params: np.ndarray) -> np.ndarray:
        return model(x, *params) - y

    point, damping = np.array(start), 1e-3
    r, J = jacobian(residuals, point)
    for _ in range(200):
        A = J.T @ J
        step = np.linalg.solve(A + damping * np.diag(np.diag(A)), -J.T @ r)
        new, new_J = jacobian(residuals, point + step)
        if new @ new < r @ r:
            done = r @ r - new @ new < tol * (r @ r)
            point, r, J, damping = point + step, new, new_J, damping / 5
            if done:
                break
        else:
            damping *= 4
    covariance = np.linalg.inv(J.T @ J) * (r @ r) / (len(x) - len(point))
    return point, np.sqrt(np.diag(covariance))


X = np.linspace(0.0, 4.0, 30)
NOISE = 0.05 * np.sin(37.0 * np.arange(30))
DECAY = decay(X, 2.0, 1.3, 0.4) + NOISE
PEAKS = peaks(X, 1.0, 1.0, 0.3, 0.6, 2.8, 0.5) + NOISE


def check_decay() -> None:
    found, errors = fit(decay, X, DECAY, [1.0, 1.0, 0.0])
    expected, covariance = scipy.optimize.curve_fit(decay, X, DECAY, [1.0, 1.0, 0.0])
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(errors, np.sqrt(np.diag(covariance)), rtol=1e-4)


def check_peaks() -> None:
    start = [0.8, 1.1, 0.4, 0.5, 2.6, 0.4]
    found, errors = fit(peaks, X, PEAKS, start)
    expected, covariance = scipy.optimize.curve_fit(peaks, X, PEAKS, start)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    np.testing.assert_allclose(errors, np.sqrt(np.diag(covariance)), rtol=1e-3)


def check_its_own_error_comes_through() -> None:
    try:
        s.grad(lambda p: np.sum(peaks(X, *p)))(np.ones(4))
    except ValueError as error:
        assert "three parameters each, and 4 were given" in str(error)
    else:
        raise AssertionError("nothing was raised")


def check_layer() -> None:
    @symbolic
    def misfit(x: Annotated[np.ndarray, Symbolic], y: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        params = s.Weight(np.array([1.0, 1.0, 0.0]))
        return np.mean((decay(x, *params) - y) ** 2)

    start = np.mean((decay(X, 1.0, 1.0, 0.0) - DECAY) ** 2)
    np.testing.assert_allclose(misfit.train(X, DECAY, optimizer=s.SGD(0.3)), start, rtol=1e-12)
    for _ in range(2000):
        misfit.train(X, DECAY, optimizer=s.SGD(0.3))
    (params,) = misfit.weights().values()
    np.testing.assert_allclose(params.value, scipy.optimize.curve_fit(decay, X, DECAY)[0], rtol=1e-3)
