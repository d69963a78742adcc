"""Logistic regression by Newton's method, its parameters in a dictionary.

Checked against the gradient and Hessian on paper, and scipy.optimize.
"""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import scipy.optimize

import symbolic as s
from symbolic import Symbolic, symbolic

Params = dict[str, Any]


def log_sigmoid(z: np.ndarray) -> np.ndarray:
    result = np.empty_like(z)
    positive = z >= 0
    result[positive] = -np.log1p(np.exp(-z[positive]))
    result[~positive] = z[~positive] - np.log1p(np.exp(z[~positive]))
    return result


def loss(params: Params, X: np.ndarray, y: np.ndarray, ridge: float = 0.1) -> float:
    z = X @ params["slopes"] + params["intercept"]
    fit = -np.sum(y * log_sigmoid(z) + (1 - y) * log_sigmoid(-z))
    return fit + ridge / 2 * np.sum(params["slopes"] ** 2)


def pack(params: Params) -> np.ndarray:
    return np.concatenate([np.atleast_1d(params[name]) for name in sorted(params)])


def unpack(vector: np.ndarray) -> Params:
    return {"intercept": vector[0], "slopes": vector[1:]}


def newton(function: Callable[..., float], start: Params, tol: float = 1e-10) -> tuple[Params, int]:
    gradient = s.grad(lambda vector: function(unpack(vector)))
    point = pack(start)
    for count in range(1, 30):
        slope, pullback = s.vjp(gradient, point)
        H = np.array([pullback(row)[0] for row in np.eye(len(point))])
        step = np.linalg.solve(H, slope)
        point = point - step
        if np.max(np.abs(step)) < tol:
            return unpack(point), count
    raise RuntimeError(f"no convergence: the last step was {step}")


RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
Y = (X @ [1.0, -2.0, 0.5] + 0.3 + RNG.standard_normal(40) > 0).astype(float)
START = {"intercept": 0.0, "slopes": np.zeros(3)}


def check_derivatives() -> None:
    params = {"intercept": 0.2, "slopes": np.array([0.5, -1.0, 3.0])}
    z = X @ params["slopes"] + 0.2
    p = 1 / (1 + np.exp(-z))
    value, delta = s.value_and_grad(loss)(params, X, Y)
    np.testing.assert_allclose(value, np.sum(np.logaddexp(0, z) - Y * z) + 0.05 * (0.25 + 1 + 9), rtol=1e-12)
    np.testing.assert_allclose(delta["slopes"], X.T @ (p - Y) + 0.1 * params["slopes"], rtol=1e-10)
    np.testing.assert_allclose(delta["intercept"], np.sum(p - Y), rtol=1e-10)
    _, pullback = s.vjp(s.grad(lambda v: loss(unpack(v), X, Y)), pack(params))
    H = np.array([pullback(row)[0] for row in np.eye(4)])
    design = np.column_stack([np.ones(40), X])
    expected = design.T @ ((p * (1 - p))[:, None] * design) + 0.1 * np.diag([0.0, 1, 1, 1])
    np.testing.assert_allclose(H, expected, rtol=1e-9)


def check_newton() -> None:
    found, count = newton(lambda params: loss(params, X, Y), START)
    assert count < 10
    plain = scipy.optimize.minimize(lambda v: loss(unpack(v), X, Y), np.zeros(4), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(pack(found), plain.x, atol=1e-5)


def check_layer() -> None:
    @symbolic
    def network(X: Annotated[np.ndarray, Symbolic], y: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        return loss({"intercept": s.Weight(0.0), "slopes": s.Weight(np.zeros(3))}, X, y)

    np.testing.assert_allclose(network.predict(X, Y), loss(START, X, Y), rtol=1e-12)
    step = network.trainer(s.SGD(0.1))
    for _ in range(300):
        step(X, Y)
    found, _ = newton(lambda params: loss(params, X, Y), START)
    intercept, slopes = network.weights().values()
    np.testing.assert_allclose(pack({"intercept": intercept.value, "slopes": slopes.value}), pack(found), rtol=1e-3)
