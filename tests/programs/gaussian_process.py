"""Gaussian process regression: the hyperparameters that maximize the marginal likelihood, and the prediction.

Checked against SciPy's density of the normal distribution, the trace formula for the gradient, and an optimization
by SciPy without gradients.
"""

import math
from typing import Annotated, Any

import numpy as np
import scipy.optimize
import scipy.stats

import symbolic as s
from symbolic import Symbolic, symbolic


def covariance(times: np.ndarray, length: float, amplitude: float, noise: float) -> np.ndarray:
    count = len(times)
    K = np.zeros((count, count))
    for i in range(count):
        for j in range(i + 1):
            distance = (times[i] - times[j]) / length
            K[i, j] = amplitude**2 * math.exp(-0.5 * distance**2)
            K[j, i] = K[i, j]
        K[i, i] += noise**2
    return K


def negative_log_likelihood(logs: dict[str, float], times: np.ndarray, values: np.ndarray) -> float:
    params = {name: math.exp(value) for name, value in logs.items()}
    if params["noise"] < 1e-8:
        raise ValueError(f"the noise {params['noise']:.1e} is too small")
    L = np.linalg.cholesky(covariance(times, **params))
    whitened = np.linalg.solve(L, values)
    log_det = 2 * sum(math.log(L[i, i]) for i in range(len(values)))
    return 0.5 * (whitened @ whitened + log_det + len(values) * math.log(2 * math.pi))


def fit(times: np.ndarray, values: np.ndarray, start: dict[str, float]) -> tuple[dict[str, float], float]:
    names = list(start)

    def objective(point: np.ndarray) -> tuple[float, np.ndarray]:
        value, delta = STEP({n: float(v) for n, v in zip(names, point, strict=True)}, times, values)
        return value, np.array([delta[name] for name in names])

    found = scipy.optimize.minimize(objective, [start[n] for n in names], jac=True, method="BFGS")
    return dict(zip(names, map(float, found.x), strict=True)), found.fun


STEP = s.value_and_grad(negative_log_likelihood)
TIMES = np.linspace(0.0, 4.0, 12)
VALUES = np.sin(1.7 * TIMES) + 0.2 * np.random.default_rng(0).standard_normal(12)
START = {"length": -0.3, "amplitude": 0.2, "noise": -1.5}


def check_value() -> None:
    K = covariance(TIMES, *[math.exp(value) for value in START.values()])
    expected = -scipy.stats.multivariate_normal(np.zeros(12), K).logpdf(VALUES)
    np.testing.assert_allclose(negative_log_likelihood(START, TIMES, VALUES), expected, rtol=1e-10)
    np.testing.assert_allclose(STEP(START, TIMES, VALUES)[0], expected, rtol=1e-10)


def check_gradient() -> None:
    """dL/dθ = ½ tr((K⁻¹ − α αᵀ) dK/dθ), α = K⁻¹ y."""
    length, amplitude, noise = [math.exp(value) for value in START.values()]
    squared = np.subtract.outer(TIMES, TIMES) ** 2
    smooth = amplitude**2 * np.exp(-0.5 * squared / length**2)
    inverse = np.linalg.inv(smooth + noise**2 * np.eye(12))
    inner = inverse - np.outer(inverse @ VALUES, inverse @ VALUES)
    slopes = {"length": smooth * squared / length**2, "amplitude": 2 * smooth, "noise": 2 * noise**2 * np.eye(12)}
    delta = STEP(START, TIMES, VALUES)[1]
    assert type(delta["noise"]) is float
    for name, slope in slopes.items():
        np.testing.assert_allclose(delta[name], 0.5 * np.sum(inner * slope), rtol=1e-8)


def check_fit() -> None:
    found, least = fit(TIMES, VALUES, START)
    plain = scipy.optimize.minimize(
        lambda x: negative_log_likelihood(dict(zip(START, x, strict=True)), TIMES, VALUES),
        list(START.values()),
        method="Nelder-Mead",
        options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 2000},
    )
    np.testing.assert_allclose(least, plain.fun, atol=1e-7)
    np.testing.assert_allclose(list(found.values()), plain.x, atol=1e-3)


def check_layer() -> None:
    @symbolic
    def likelihood(
        times: Annotated[np.ndarray, Symbolic], values: Annotated[np.ndarray, Symbolic]
    ) -> Annotated[float, Symbolic]:
        logs: Any = {name: s.Weight(value) for name, value in START.items()}
        return negative_log_likelihood(logs, times, values)

    first = likelihood.predict(TIMES, VALUES)
    np.testing.assert_allclose(first, negative_log_likelihood(START, TIMES, VALUES), rtol=1e-10)
    for _ in range(30):
        likelihood.train(TIMES, VALUES, optimizer=s.SGD(0.02))
    assert likelihood.predict(TIMES, VALUES) < first - 0.5
