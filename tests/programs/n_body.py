"""Bodies that attract each other, moved by leapfrog: energy, and the final positions by the initial velocities.

Checked against Kepler's ellipse, complex steps, and the symmetry of time.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

import symbolic as s
from symbolic import Symbolic, symbolic


@dataclass
class Bodies:
    positions: np.ndarray
    velocities: np.ndarray
    masses: np.ndarray


def accelerations(positions: np.ndarray, masses: np.ndarray, softening: float = 0.0) -> np.ndarray:
    result = np.zeros_like(positions)
    for i in range(len(masses)):
        for j in range(len(masses)):
            if i != j:
                apart = positions[j] - positions[i]
                distance = np.sqrt(apart @ apart + softening**2)
                result[i] += masses[j] * apart / distance**3
    return result


def leapfrog(bodies: Bodies, dt: float, steps: int) -> Bodies:
    x, v, m = bodies.positions.copy(), bodies.velocities.copy(), bodies.masses
    a = accelerations(x, m)
    for _ in range(steps):
        v += 0.5 * dt * a
        x += dt * v
        a = accelerations(x, m)
        v += 0.5 * dt * a
    return Bodies(x, v, m)


def energy(bodies: Bodies) -> float:
    total = 0.5 * np.sum(bodies.masses * np.sum(bodies.velocities**2, axis=1))
    for i in range(len(bodies.masses)):
        for j in range(i):
            separation = np.linalg.norm(bodies.positions[i] - bodies.positions[j])
            total -= bodies.masses[i] * bodies.masses[j] / separation
    return total


def final_positions(velocities: np.ndarray, positions: np.ndarray, masses: np.ndarray) -> np.ndarray:
    return leapfrog(Bodies(positions, velocities, masses), 0.02, 20).positions


POSITIONS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
VELOCITIES = np.array([[0.0, 0.0], [0.0, 1.0], [-0.7, 0.1]])
MASSES = np.array([1.0, 0.3, 0.2])


def check_orbit() -> None:
    """A light body on a circle of radius 1 is at (cos t, sin t)."""
    masses = np.array([1.0, 1e-14])
    start = Bodies(POSITIONS[:2], VELOCITIES[:2], masses)
    found = leapfrog(start, 0.002, 500)
    np.testing.assert_allclose(found.positions[1], [np.cos(1.0), np.sin(1.0)], atol=1e-6)


def check_jacobian() -> None:
    value, pullback = s.vjp(final_positions, VELOCITIES, POSITIONS, MASSES)
    np.testing.assert_allclose(value, final_positions(VELOCITIES, POSITIONS, MASSES), rtol=1e-13)
    rows = np.array([pullback(row.reshape(3, 2))[0].ravel() for row in np.eye(6)])
    stepped = [
        final_positions(VELOCITIES + 1e-30j * unit.reshape(3, 2), POSITIONS + 0j, MASSES + 0j).imag / 1e-30
        for unit in np.eye(6)
    ]
    np.testing.assert_allclose(rows, np.array(stepped).reshape(6, 6).T, atol=1e-12)


def check_energy() -> None:
    """Forces are minus the gradient of the energy; velocities' gradient is the momentum."""
    bodies = Bodies(POSITIONS, VELOCITIES, MASSES)
    delta = s.grad(energy)(bodies)
    np.testing.assert_allclose(-delta.positions / MASSES[:, None], accelerations(POSITIONS, MASSES), rtol=1e-12)
    np.testing.assert_allclose(delta.velocities, MASSES[:, None] * VELOCITIES, rtol=1e-12)


def check_time_runs_back() -> None:
    def there_and_back(positions: np.ndarray) -> float:
        there = leapfrog(Bodies(positions, VELOCITIES, MASSES), 0.02, 10)
        back = leapfrog(Bodies(there.positions, -there.velocities, MASSES), 0.02, 10)
        return np.sum(np.arange(6.0).reshape(3, 2) * back.positions)

    np.testing.assert_allclose(s.grad(there_and_back)(POSITIONS), np.arange(6.0).reshape(3, 2), atol=1e-10)


def check_layer() -> None:
    @symbolic
    def misses(target: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        return np.sum((final_positions(s.Weight(VELOCITIES), POSITIONS, MASSES) - target) ** 2)

    target = final_positions(VELOCITIES + 0.1, POSITIONS, MASSES)
    first = misses.train(target, optimizer=s.SGD(0.5))
    np.testing.assert_allclose(first, np.sum((final_positions(VELOCITIES, POSITIONS, MASSES) - target) ** 2))
    for _ in range(60):
        last = misses.train(target, optimizer=s.SGD(0.5))
    assert last < 1e-6 * first
