"""The speed of waves along a string, found from what is heard at one end; finite differences, adjoint gradient.

Checked against d'Alembert's solution, complex steps, and the speeds that the data were made with.
"""

from typing import Annotated

import numpy as np
import scipy.optimize

import symbolic as s
from symbolic import Symbolic, symbolic


class String:
    def __init__(self, cells: int = 40, dx: float = 0.1, dt: float = 0.05) -> None:
        self.cells, self.dx, self.dt = cells, dx, dt

    def start(self) -> np.ndarray:
        x = self.dx * np.arange(self.cells)
        return np.exp(-((x - 1.0) ** 2) / 0.05)

    def speeds(self, layers: np.ndarray) -> np.ndarray:
        """A speed for each cell, from one for each of a few layers."""
        if self.cells % len(layers):
            raise ValueError(f"{self.cells} cells cannot be shared among {len(layers)} layers")
        return np.repeat(layers, self.cells // len(layers))

    def run(self, speeds: np.ndarray, steps: int, receiver: int = -2) -> tuple[np.ndarray, np.ndarray]:
        courant = (speeds[1:-1] * self.dt / self.dx) ** 2
        u = self.start().astype(speeds.dtype)
        old = u.copy()
        heard = np.zeros(steps, dtype=speeds.dtype)
        for n in range(steps):
            new = np.zeros_like(u)
            new[1:-1] = 2 * u[1:-1] - old[1:-1] + courant * (u[2:] - 2 * u[1:-1] + u[:-2])
            old, u = u, new
            heard[n] = u[receiver]
        return u, heard


def misfit(layers: np.ndarray, data: np.ndarray, string: String) -> float:
    heard = string.run(string.speeds(layers), len(data))[1]
    return 0.5 * np.sum((heard - data) ** 2) / len(data)


STRING = String()
TRUE = np.array([1.0, 1.3, 0.8, 1.1])
DATA = STRING.run(STRING.speeds(TRUE), 100)[1]


def check_waves() -> None:
    """A pulse at rest parts in two halves."""
    fine = String(400, 0.01, 0.01)
    u, _ = fine.run(np.ones(400), 150)
    x = 0.01 * np.arange(400)
    expected = 0.5 * np.exp(-((x - 2.5) ** 2) / 0.05)
    np.testing.assert_allclose(u[200:300], expected[200:300], atol=0.02)


def check_gradient() -> None:
    layers = np.array([1.1, 1.1, 1.0, 1.0])
    stepped = [misfit(layers + 1e-30j * unit, DATA, STRING).imag / 1e-30 for unit in np.eye(4)]
    value, delta = s.value_and_grad(misfit)(layers, DATA, STRING)
    np.testing.assert_allclose(value, misfit(layers, DATA, STRING), rtol=1e-12)
    np.testing.assert_allclose(delta, stepped, rtol=1e-9)


def check_inversion() -> None:
    step = s.value_and_grad(misfit)
    found = scipy.optimize.minimize(
        lambda layers: step(layers, DATA, STRING), 0.97 * TRUE, jac=True, method="BFGS", options={"gtol": 1e-12}
    )
    np.testing.assert_allclose(found.x, TRUE, atol=1e-4)


def check_layer() -> None:
    @symbolic
    def network(data: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        return misfit(s.Weight(np.array([1.0, 1.2, 0.9, 1.0])), data, STRING)

    np.testing.assert_allclose(network.predict(DATA), misfit(np.array([1.0, 1.2, 0.9, 1.0]), DATA, STRING), rtol=1e-12)
    adam = s.Adam(0.01)
    first = network.train(DATA, optimizer=adam)
    for _ in range(60):
        last = network.train(DATA, optimizer=adam)
    assert last < 0.3 * first
