"""Do entries that are equal share the gradient of the one value that NumPy makes of them?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symbolic import grad

TIED = np.array([2.0, 1.0, 2.0, 5.0, 2.0])
WEIGHTS = np.array([3.0, 6.0, 9.0])


def test_equal_entries_share_the_gradient_of_their_value() -> None:
    gradient = grad(lambda x: np.sum(np.unique(x) * WEIGHTS))(TIED)
    np.testing.assert_allclose(gradient, [2.0, 3.0, 2.0, 9.0, 2.0])


def test_equal_rows_share_the_gradient_of_their_row() -> None:
    rows = np.array([[1.0, 2.0], [0.0, 4.0], [1.0, 2.0]])
    gradient = grad(lambda x: np.sum(np.unique(x, axis=0) * np.array([[1.0, 2.0], [4.0, 6.0]])))(rows)
    np.testing.assert_allclose(gradient, [[2.0, 3.0], [1.0, 2.0], [2.0, 3.0]])


def test_what_two_arrays_have_in_common_belongs_to_both() -> None:
    one, other = np.array([1.0, 4.0, 3.0]), np.array([3.0, 9.0, 1.0])
    deltas = grad(lambda x, y: np.sum(np.intersect1d(x, y) * np.array([10.0, 20.0])), (0, 1))(one, other)
    np.testing.assert_allclose(deltas[0], [5.0, 0.0, 10.0])
    np.testing.assert_allclose(deltas[1], [10.0, 0.0, 5.0])


def test_counts_and_places_come_with_the_values() -> None:
    def f(x: Any) -> Any:
        values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
        return np.sum(values * counts) + np.sum(values[inverse] * x)

    np.testing.assert_allclose(grad(f)(TIED), 1.0 + 2.0 * TIED)


def test_one_value_stands_for_all_that_are_not_numbers() -> None:
    x = np.array([np.nan, 1.0, np.nan])
    gradient = grad(lambda x: np.sum(np.where(np.isnan(np.unique(x)), 0.0, np.unique(x)) * 3.0))(x)
    np.testing.assert_allclose(gradient, [0.0, 3.0, 0.0])


def test_ties_of_a_partition_share() -> None:
    gradient = grad(lambda x: np.sum(np.partition(x, 1)[:2]))(np.array([2.0, 1.0, 2.0]))
    np.testing.assert_allclose(gradient, [0.5, 1.0, 0.5])


@pytest.mark.parametrize("bins", [2, [0.0, 1.0, 6.0], "auto"])
def test_a_histogram_of_weights(bins: Any) -> None:
    """Each weight stands in one bin; what is outside of all bins has no gradient."""
    places, scale = np.array([0.2, 0.7, 2.0, 5.5, 5.9]), np.arange(1.0, 9.0)

    def f(w: Any) -> Any:
        counts = np.histogram(
            places, bins=bins if bins != "auto" else np.histogram_bin_edges(places, "auto"), weights=w
        )[0]
        return np.sum(counts * scale[: len(counts)])

    moved = [f(np.eye(5)[k]) for k in range(5)]
    np.testing.assert_allclose(grad(f)(np.ones(5)), moved)
