"""Ratings with gaps as a product of two thin matrices, by gradient descent with momentum.

Checked against the gradient on paper, and for a table without gaps against its singular values (Eckart and Young).
"""

from typing import Annotated, Any

import numpy as np

import symbolic as s
from symbolic import Symbolic, symbolic


def init(rows: int, columns: int, rank: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "users": 0.5 * rng.standard_normal((rows, rank)),
        "items": 0.5 * rng.standard_normal((columns, rank)),
        "bias": np.zeros(rows),
    }


def loss(params: dict[str, np.ndarray], ratings: np.ndarray, penalty: float = 0.0) -> float:
    known = ~np.isnan(ratings)
    predicted = params["users"] @ params["items"].T + params["bias"][:, None]
    errors = predicted[known] - ratings[known]
    total = np.sum(errors**2)
    for name in params:
        if name != "bias":
            total += penalty * np.sum(params[name] ** 2)
    return total


def loss_one_by_one(params: dict[str, np.ndarray], ratings: np.ndarray) -> float:
    """The same, entry by entry."""
    total = 0.0
    for i, row in enumerate(ratings):
        for j, rating in enumerate(row):
            if np.isnan(rating):
                continue
            total += (params["users"][i].dot(params["items"][j]) + params["bias"][i] - rating) ** 2
    return total


def descend(params: dict[str, np.ndarray], ratings: np.ndarray, rate: float, steps: int) -> dict[str, np.ndarray]:
    gradient = s.grad(loss)
    speed = {name: np.zeros_like(value) for name, value in params.items()}
    for _ in range(steps):
        delta = gradient(params, ratings)
        for name in params:
            speed[name] = 0.9 * speed[name] - rate * delta[name]
        params = {name: params[name] + speed[name] for name in params}
    return params


FULL = np.random.default_rng(1).standard_normal((7, 2)) @ np.random.default_rng(2).standard_normal((2, 5))
GAPS = np.where(np.random.default_rng(3).random((7, 5)) < 0.3, np.nan, FULL)


def check_gradient() -> None:
    params = init(7, 5, 2)
    known = ~np.isnan(GAPS)
    errors = np.where(known, params["users"] @ params["items"].T - np.nan_to_num(GAPS), 0.0)
    for function in (lambda p, r: loss(p, r, penalty=0.0), loss_one_by_one):
        value, delta = s.value_and_grad(function)(params, GAPS)
        np.testing.assert_allclose(value, np.sum(errors**2), rtol=1e-12)
        np.testing.assert_allclose(delta["users"], 2 * errors @ params["items"], rtol=1e-10)
        np.testing.assert_allclose(delta["items"], 2 * errors.T @ params["users"], rtol=1e-10)
        np.testing.assert_allclose(delta["bias"], 2 * errors.sum(axis=1), rtol=1e-10)


def check_fit() -> None:
    """The best rank-2 fit leaves the squares of the other singular values."""
    noisy = FULL + 0.1 * np.random.default_rng(4).standard_normal(FULL.shape)

    def of_factors(params: dict[str, np.ndarray], ratings: np.ndarray) -> float:
        return loss({**params, "bias": np.zeros(len(ratings))}, ratings)

    params: Any = {name: value for name, value in init(7, 5, 2).items() if name != "bias"}
    step = s.value_and_grad(of_factors)
    for _ in range(3000):
        value, delta = step(params, noisy)
        params = {name: params[name] - 0.01 * delta[name] for name in params}
    np.testing.assert_allclose(value, np.sum(np.linalg.svd(noisy)[1][2:] ** 2), rtol=1e-5)


def check_gaps_are_filled() -> None:
    found = descend(init(7, 5, 2), GAPS, 0.01, 2000)
    assert loss(found, GAPS) < 1e-3


def check_layer() -> None:
    @symbolic
    def network(ratings: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        weights: Any = {name: s.Weight(value) for name, value in init(7, 5, 2).items()}
        return loss(weights, ratings, penalty=0.01)

    np.testing.assert_allclose(network.predict(GAPS), loss(init(7, 5, 2), GAPS, 0.01), rtol=1e-12)
    first = network.train(GAPS, optimizer=s.Momentum(0.005))
    for _ in range(200):
        last = network.train(GAPS, optimizer=s.SGD(0.005))
    assert last < 0.2 * first
