"""Optimal control by shooting: the thrusts that bring a cart to rest at its goal, and a pendulum to the top.

Checked against Riccati's recursion for the linear cart, and complex steps for the pendulum.
"""

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np
import scipy.optimize

import symbolic as s
from symbolic import Symbolic, symbolic

DT = 0.2
Dynamics = Callable[[np.ndarray, float], np.ndarray]


def cart(state: np.ndarray, thrust: float) -> np.ndarray:
    position, velocity = state
    return np.array([position + DT * velocity, velocity + DT * thrust])


def pendulum(length: float = 1.0, friction: float = 0.1) -> Dynamics:
    def step(state: np.ndarray, torque: float) -> np.ndarray:
        angle, speed = state[0], state[1]
        faster = speed + DT * (torque - friction * speed - 9.81 / length * np.sin(angle))
        return np.array([angle + DT * faster, faster])

    return step


def cost_of(dynamics: Dynamics, start: list[float], goal: np.ndarray, effort: float = 0.1) -> Callable[..., float]:
    def cost(thrusts: np.ndarray) -> float:
        state, total = np.array(start), 0.0
        for thrust in thrusts:
            total += effort * thrust**2 + np.sum((state - goal) ** 2)
            state = dynamics(state, thrust)
        total += 10.0 * np.sum((state - goal) ** 2)
        return total

    return cost


def shoot(cost: Callable[..., float], count: int) -> np.ndarray:
    step = s.value_and_grad(cost)
    found = scipy.optimize.minimize(step, np.zeros(count), jac=True, method="BFGS", options={"gtol": 1e-9})
    return np.array(found.x)


def riccati(start: np.ndarray, count: int, effort: float) -> np.ndarray:
    A, B = np.array([[1.0, DT], [0.0, 1.0]]), np.array([[0.0], [DT]])
    P, gains = 10.0 * np.eye(2), []
    for _ in range(count):
        K = np.linalg.solve(effort + B.T @ P @ B, B.T @ P @ A)
        P = np.eye(2) + A.T @ P @ (A - B @ K)
        gains.append(K)
    thrusts = []
    for K in reversed(gains):
        thrusts.append((-K @ start)[0])
        start = A @ start + B[:, 0] * thrusts[-1]
    return np.array(thrusts)


def check_cart() -> None:
    cost = cost_of(cart, [1.0, -0.5], np.zeros(2))
    np.testing.assert_allclose(shoot(cost, 15), riccati(np.array([1.0, -0.5]), 15, 0.1), atol=1e-6)


def check_pendulum() -> None:
    cost = cost_of(pendulum(length=0.8), [0.1, 0.0], np.array([math.pi, 0.0]))
    torques = np.sin(np.arange(20.0))
    stepped = [cost(torques + 1e-30j * unit).imag / 1e-30 for unit in np.eye(20)]
    np.testing.assert_allclose(s.grad(cost)(torques), stepped, rtol=1e-9)


def check_layer() -> None:
    @symbolic
    def plan(goal: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        return cost_of(cart, [1.0, -0.5], goal)(s.Weight(np.zeros(15)))

    first = plan.train(np.zeros(2), optimizer=s.SGD(0.05))
    np.testing.assert_allclose(first, cost_of(cart, [1.0, -0.5], np.zeros(2))(np.zeros(15)), rtol=1e-12)
    for _ in range(800):
        plan.train(np.zeros(2), optimizer=s.SGD(0.025))
    (thrusts,) = plan.weights().values()
    np.testing.assert_allclose(thrusts.value, riccati(np.array([1.0, -0.5]), 15, 0.1), atol=2e-2)
