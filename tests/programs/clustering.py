"""Clusters by nearest centers, and distances between samples by sorting them.

Checked against scipy.cluster.vq.kmeans2, scipy.stats.wasserstein_distance, and gradients on paper.
"""

from typing import Annotated, Any

import numpy as np
import scipy.cluster
import scipy.stats

import symbolic as s
from symbolic import Symbolic, symbolic


def nearest(point: np.ndarray, centers: np.ndarray) -> tuple[int, float]:
    best, least = -1, np.inf
    for k, center in enumerate(centers):
        distance = np.sum((point - center) ** 2)
        if distance < least:
            best, least = k, distance
    return best, least


def loss(centers: np.ndarray, points: np.ndarray) -> float:
    return sum(nearest(point, centers)[1] for point in points) / len(points)


def lloyd(points: np.ndarray, centers: np.ndarray, rounds: int = 10) -> np.ndarray:
    centers = centers.copy()
    for _ in range(rounds):
        groups: dict[int, list[np.ndarray]] = {}
        for point in points:
            groups.setdefault(nearest(point, centers)[0], []).append(point)
        for k, members in groups.items():
            centers[k] = np.mean(members, axis=0)
    return centers


def sliced_wasserstein(a: np.ndarray, b: np.ndarray, directions: np.ndarray) -> float:
    """The mean distance of two samples, sorted along each direction."""
    if a.shape != b.shape:
        raise ValueError(f"samples of shapes {a.shape} and {b.shape}")
    total = 0.0
    for direction in directions:
        order_a, order_b = np.sort(a @ direction), np.sort(b @ direction)
        total += np.mean(np.abs(order_a - order_b))
    return total / len(directions)


def trimmed_mean(values: np.ndarray, share: float = 0.2) -> float:
    ordered = sorted(values)
    cut = int(share * len(ordered))
    kept = ordered[cut : len(ordered) - cut]
    return sum(kept) / len(kept)


RNG = np.random.default_rng(0)
POINTS = np.concatenate([RNG.standard_normal((8, 2)) + shift for shift in ([0, 0], [4, 1], [1, 5])])
CENTERS = POINTS[[0, 9, 18]]


def labels(centers: np.ndarray) -> np.ndarray:
    return np.argmin(np.sum((POINTS[:, None] - centers) ** 2, axis=-1), axis=1)


def check_loss() -> None:
    value, delta = s.value_and_grad(loss)(CENTERS, POINTS)
    belongs = labels(CENTERS)
    np.testing.assert_allclose(value, np.sum((POINTS - CENTERS[belongs]) ** 2) / 24, rtol=1e-12)
    expected = np.zeros((3, 2))
    np.add.at(expected, belongs, 2 * (CENTERS[belongs] - POINTS) / 24)
    np.testing.assert_allclose(delta, expected, rtol=1e-10, atol=1e-14)


def check_lloyd() -> None:
    """A center moves with each of its points by one share."""
    expected, belongs = scipy.cluster.vq.kmeans2(POINTS, CENTERS, iter=10, minit="matrix")
    value, pullback = s.vjp(lambda points: lloyd(points, CENTERS), POINTS)
    np.testing.assert_allclose(value, expected, rtol=1e-10)
    delta = pullback(np.eye(3, 2))[0]
    counts = np.bincount(belongs)
    np.testing.assert_allclose(delta, np.eye(3, 2)[belongs] / counts[belongs][:, None], atol=1e-14)


def check_wasserstein() -> None:
    a, b = POINTS[:10], POINTS[10:20]
    directions = np.array([[1.0, 0.0], [0.6, 0.8]])
    value, by_a = s.value_and_grad(sliced_wasserstein)(a, b, directions)
    one_by_one = [scipy.stats.wasserstein_distance(a @ d, b @ d) for d in directions]
    np.testing.assert_allclose(value, np.mean(one_by_one), rtol=1e-10)
    expected = np.zeros_like(a)
    for d in directions:
        order = np.argsort(a @ d)
        expected[order] += np.outer(np.sign(np.sort(a @ d) - np.sort(b @ d)), d) / 20
    np.testing.assert_allclose(by_a, expected, rtol=1e-10, atol=1e-14)


def check_trimmed_mean() -> None:
    values = np.array([3.0, -9.0, 1.0, 2.0, 50.0])
    value, delta = s.value_and_grad(trimmed_mean)(values)
    assert value == scipy.stats.trim_mean(values, 0.2)
    np.testing.assert_allclose(delta, np.array([1, 0, 1, 1, 0]) / 3)


def check_layer() -> None:
    @symbolic
    def network(points: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        return loss(s.Weight(CENTERS), points)

    np.testing.assert_allclose(network.predict(POINTS), loss(CENTERS, POINTS), rtol=1e-12)
    for _ in range(100):
        network.train(POINTS, optimizer=s.SGD(0.5))
    (centers,) = network.weights().values()
    np.testing.assert_allclose(centers.value, lloyd(POINTS, CENTERS), atol=1e-6)
    means: Any = symbolic(trimmed_mean, values=np.ndarray, returns=float)
    assert means.predict(np.arange(10.0)) == 4.5
