"""A pendulum by Runge, Kutta and Fehlberg with steps of its own choosing, some of them tried again.

Checked against scipy.integrate.solve_ivp, also of the equations of variation, and the pendulum's period by mpmath.
"""

import math
from collections.abc import Callable
from typing import Annotated

import mpmath
import numpy as np
import scipy.integrate

import symbolic as s
from symbolic import Symbolic, symbolic

State = np.ndarray
A = [
    [],
    [1 / 4],
    [3 / 32, 9 / 32],
    [1932 / 2197, -7200 / 2197, 7296 / 2197],
    [439 / 216, -8, 3680 / 513, -845 / 4104],
    [-8 / 27, 2, -3544 / 2565, 1859 / 4104, -11 / 40],
]
B4 = np.array([25 / 216, 0, 1408 / 2565, 2197 / 4104, -1 / 5, 0])
B5 = np.array([16 / 135, 0, 6656 / 12825, 28561 / 56430, -9 / 50, 2 / 55])


class Solver:
    def __init__(self, f: Callable[[State], State], rtol: float = 1e-7, atol: float = 1e-9) -> None:
        self.f, self.rtol, self.atol = f, rtol, atol
        self.rejected = 0

    def stages(self, y: State, h: float) -> list[State]:
        k: list[State] = []
        for row in A:
            k.append(self.f(y + h * sum(a * one for a, one in zip(row, k, strict=True))))
        return k

    def solve(self, y: State, end: float, h: float = 0.5) -> State:
        t = 0.0
        while t < end:
            h = min(h, end - t)
            k = np.array(self.stages(y, h))
            error = h * (B5 - B4) @ k
            scale = self.atol + self.rtol * np.maximum(np.abs(y), np.abs(y + error))
            size = np.sqrt(np.mean((error / scale) ** 2))
            if size <= 1.0:
                t += h
                y = y + h * B5 @ k
            else:
                self.rejected += 1
            h *= min(4.0, max(0.2, 0.9 * max(size, 1e-10) ** -0.2))
        return y


def pendulum(gravity: float, damping: float) -> Callable[[State], State]:
    return lambda y: np.array([y[1], -gravity * math.sin(y[0]) - damping * y[1]])


def swing(start: State, gravity: float, damping: float = 0.1, end: float = 2.0) -> State:
    return Solver(pendulum(gravity, damping)).solve(start, end)


START = np.array([1.2, 0.3])


def varied(t: float, z: np.ndarray) -> np.ndarray:
    """The pendulum with dy/dy₀ and dy/dg beside it."""
    y, S = z[:2], z[2:].reshape(2, 3)
    J = np.array([[0.0, 1.0], [-9.0 * math.cos(y[0]), -0.1]])
    by_gravity = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -math.sin(y[0])]])
    return np.concatenate([[y[1], -9.0 * math.sin(y[0]) - 0.1 * y[1]], (J @ S + by_gravity).ravel()])


def check_value_and_variation() -> None:
    start = np.concatenate([START, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]])
    exact = scipy.integrate.solve_ivp(varied, (0.0, 2.0), start, rtol=1e-12, atol=1e-13).y[:, -1]
    value, pullback = s.vjp(swing, START, 9.0)
    np.testing.assert_allclose(value, exact[:2], atol=2e-6)
    np.testing.assert_allclose(value, swing(START, 9.0), rtol=1e-12)
    for k, row in enumerate(np.eye(2)):
        by_start, by_gravity = pullback(row)
        np.testing.assert_allclose([*by_start, by_gravity], exact[2:].reshape(2, 3)[k], atol=2e-4)


def check_steps_are_tried_again() -> None:
    solver = Solver(pendulum(9.0, 0.1))
    solver.solve(START, 2.0)
    assert solver.rejected > 0


def check_period() -> None:
    """After a whole period, 4 K(sin²(θ/2)) / √g, it is back; a little later the angle falls as sin says."""
    period = float(4 * mpmath.ellipk(math.sin(0.6) ** 2) / mpmath.sqrt(9))
    value, slope = s.value_and_grad(lambda end: swing(np.array([1.2, 0.0]), 9.0, 0.0, end)[1])(period)
    np.testing.assert_allclose(value, 0.0, atol=2e-5)
    np.testing.assert_allclose(slope, -9.0 * math.sin(1.2), rtol=1e-3)


def check_layer() -> None:
    @symbolic
    def misses(goal: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        return np.sum((swing(START, s.Weight(8.5), end=0.8) - goal) ** 2)

    target = swing(START, 9.0, end=0.8)
    first = misses.train(target, optimizer=s.SGD(8.0))
    np.testing.assert_allclose(first, np.sum((swing(START, 8.5, end=0.8) - target) ** 2), rtol=1e-9)
    for _ in range(10):
        last = misses.train(target, optimizer=s.SGD(8.0))
    assert last < 0.01 * first
    assert int(misses.traces()) > 1  # other steps are chosen on the way
