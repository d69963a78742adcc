"""A Kalman filter for a noisy oscillator: the log-likelihood of its observations, by the parameters of the model.

Checked against the joint normal density of all observations, and complex steps through the same density.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy.stats

import symbolic as s
from symbolic import Symbolic, symbolic


@dataclass
class Oscillator:
    frequency: float
    damping: float
    process: float
    measured: float


class KalmanFilter:
    """State-space model x' = F x + q, z = H x + r."""

    def __init__(self, model: Oscillator, dt: float = 0.1) -> None:
        self.F = np.eye(2)
        self.F[0, 1] = dt
        self.F[1, 0] = -(model.frequency**2) * dt
        self.F[1, 1] -= 2 * model.damping * model.frequency * dt
        self.Q = np.zeros((2, 2))
        self.Q[1, 1] = model.process**2 * dt
        self.H = np.array([[1.0, 0.0]])
        self.R = np.array([[model.measured**2]])
        self.x = np.zeros(2)
        self.P = np.eye(2)

    def predict(self) -> None:
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z: float) -> float:
        residual = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        gain = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + gain @ residual
        self.P = (np.eye(2) - gain @ self.H) @ self.P
        return -0.5 * (residual @ np.linalg.solve(S, residual) + np.log(2 * np.pi * np.linalg.det(S)))


def log_likelihood(model: Oscillator, observations: np.ndarray) -> float:
    kalman = KalmanFilter(model)
    total = 0.0
    for z in observations:
        kalman.predict()
        total += kalman.update(z)
    return total


def filtered(model: Oscillator, observations: np.ndarray) -> np.ndarray:
    kalman = KalmanFilter(model)
    states = np.empty((len(observations), 2))
    for k, z in enumerate(observations):
        kalman.predict()
        kalman.update(z)
        states[k] = kalman.x
    return states


MODEL = Oscillator(2.0, 0.1, 0.3, 0.2)
OBSERVATIONS = np.cos(0.2 * np.arange(25)) + 0.2 * np.sin(17.0 * np.arange(25))


def joint(frequency: float, damping: float, process: float, measured: float) -> np.ndarray:
    """The covariance of all observations; complex parameters are welcome."""
    F = np.array([[1.0, 0.1], [-(frequency**2) * 0.1, 1.0 - 0.2 * damping * frequency]])
    powers = [np.eye(2)]
    for _ in OBSERVATIONS:
        powers.append(F @ powers[-1])
    count = len(OBSERVATIONS)
    found = measured**2 * np.eye(count) + 0j
    for i in range(count):
        for j in range(count):
            found[i, j] += (powers[i + 1] @ powers[j + 1].T)[0, 0]
            for k in range(1, min(i, j) + 2):
                found[i, j] += 0.1 * process**2 * powers[i + 1 - k][0, 1] * powers[j + 1 - k][0, 1]
    return found


def check_value() -> None:
    K = joint(2.0, 0.1, 0.3, 0.2).real
    expected = scipy.stats.multivariate_normal(np.zeros(len(K)), K).logpdf(OBSERVATIONS)
    np.testing.assert_allclose(log_likelihood(MODEL, OBSERVATIONS), expected, rtol=1e-10)
    np.testing.assert_allclose(s.value_and_grad(log_likelihood)(MODEL, OBSERVATIONS)[0], expected, rtol=1e-10)


def check_gradient() -> None:
    delta = s.grad(log_likelihood)(MODEL, OBSERVATIONS)
    assert isinstance(delta, Oscillator)
    inverse = np.linalg.inv(joint(2.0, 0.1, 0.3, 0.2).real)
    alpha = inverse @ OBSERVATIONS
    for k, name in enumerate(("frequency", "damping", "process", "measured")):
        point = np.array([2.0, 0.1, 0.3, 0.2]) + 1e-30j * np.eye(4)[k]
        slope = joint(*point).imag / 1e-30
        expected = 0.5 * (alpha @ slope @ alpha - np.sum(inverse * slope))
        np.testing.assert_allclose(getattr(delta, name), expected, rtol=1e-8)


def check_layer() -> None:
    @symbolic
    def loss(observations: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        model = Oscillator(s.Weight(1.5), s.Weight(0.1), s.Weight(0.3), s.Weight(0.2))
        return -log_likelihood(model, observations)

    start = Oscillator(1.5, 0.1, 0.3, 0.2)
    np.testing.assert_allclose(loss.predict(OBSERVATIONS), -log_likelihood(start, OBSERVATIONS), rtol=1e-12)
    before = loss.train(OBSERVATIONS, optimizer=s.SGD(1e-4))
    assert loss.predict(OBSERVATIONS) < before
    states = symbolic(lambda z: filtered(MODEL, z), np.ndarray, returns=np.ndarray)
    np.testing.assert_allclose(states.predict(OBSERVATIONS), filtered(MODEL, OBSERVATIONS), rtol=1e-12)
