"""Are entries sorted natively as NumPy sorts them, and do deltas find their way back, evenly where entries tie?

The oracles are NumPy's functions and, for gradients, what is said of ties: each of them takes an equal share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symbolic as s
from symbolic import grad, symbolic, value_and_grad
from symbolic.backends.native.making import Making

pytest.importorskip("llvmlite")

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda x: x,
    "from the end": lambda x: np.flip(x),
    "transposed": lambda x: np.transpose(x),
    "every second": lambda x: x[..., ::2],
}
SHAPES = [(1,), (2,), (9,), (64,), (65,), (4, 7), (3, 1, 5), (2, 3, 4)]
SPECIAL = [0.0, np.nan, np.inf, -np.inf, 1.0, 1e-310, -1e300]


def numbers(seed: int, shape: Any, dtype: Any) -> Any:
    """Numbers that are all different, or tie, or are special ones."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape) * 2
    x = [x, np.round(x) + 0.0, rng.choice(SPECIAL, shape)][seed % 3]
    with np.errstate(all="ignore"):
        return x.astype(dtype)


def evenly(rows: Any, order: Any, weights: Any) -> Any:
    """The delta of each entry: the mean over all places of the sorted entries that equal it."""
    found = np.zeros(rows.shape)
    for place in np.ndindex(rows.shape):
        same = order[place[:-1]] == rows[place]
        found[place] = np.mean(weights[place[:-1]][same]) if same.any() else np.nan
    return found


@pytest.mark.parametrize("machine", ["numpy", "native"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@settings(max_examples=6, deadline=None)
@given(layout=st.sampled_from(sorted(LAYOUTS)), seed=st.integers(0, 29), at=st.integers(-3, 2))
def test_entries_are_sorted_and_deltas_go_where_they_came_from(
    machine: Any, dtype: Any, shape: Any, layout: str, seed: int, at: int
) -> None:
    x, axis = LAYOUTS[layout](numbers(seed, shape, dtype)), at % len(shape)
    weights = np.random.default_rng(seed).normal(size=x.shape).astype(dtype)
    net = symbolic(lambda x: np.sort(x, axis=axis), np.ndarray, returns=np.ndarray)
    slope = grad(lambda x: np.sum(np.where(np.isfinite(np.sort(x, axis=axis)), np.sort(x, axis=axis) * weights, 0.0)))
    with s.use(machine):
        value, delta = [(net.predict(x), slope(x)) for _ in range(4)][-1]
    want = np.sort(x, axis=axis)
    assert value.dtype == delta.dtype == dtype
    np.testing.assert_array_equal(value, want)
    rows, order, along = (np.moveaxis(one, axis, -1) for one in (x, want, np.where(np.isfinite(want), weights, 0.0)))
    known = np.isfinite(rows)
    np.testing.assert_allclose(
        np.moveaxis(delta, axis, -1)[known], evenly(rows, order, along)[known], rtol=0, atol=20 * np.finfo(dtype).eps
    )


@pytest.mark.parametrize("machine", ["numpy", "native"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_median_is_numpys_to_the_last_bit(machine: Any, dtype: Any, shape: Any) -> None:
    """And where it is all there is, a number."""
    for seed in range(3):
        x = numbers(seed, shape, dtype)
        for axis, keepdims in ((None, False), (-1, False), (0, True), (tuple(range(len(shape))), True)):
            net = symbolic(
                lambda x, a=axis, k=keepdims: np.median(x, axis=a, keepdims=k), np.ndarray, returns=np.ndarray
            )
            with s.use(machine), np.errstate(all="ignore"):
                want = np.median(x, axis=axis, keepdims=keepdims)
                for _ in range(4):
                    got = net.predict(x)
                    assert np.asarray(got).dtype == want.dtype
                    assert np.shape(got) == np.shape(want)
                    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("machine", ["numpy", "native"])
@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest", "hazen", "inverted_cdf"])
@pytest.mark.parametrize("q", [0.0, 0.25, 0.5, 0.8, 1.0])
def test_entries_that_tie_share_what_a_quantile_gives(machine: Any, method: Any, q: float) -> None:
    """By differences of all that tie together, which a quantile moves with."""
    x = np.array([[3.0, 1.0, 1.0, 2.0, 5.0, 1.0], [0.0, 4.0, -1.0, 4.0, 4.0, 2.0]])
    slope = grad(lambda x: np.sum(np.quantile(x, q, axis=-1, method=method) * np.array([1.0, -2.0])))
    with s.use(machine):
        delta = [slope(x) for _ in range(4)][-1]
    for row, weight in ((0, 1.0), (1, -2.0)):
        for value in set(x[row]):
            same, step = x[row] == value, 1e-3
            up, down = (np.quantile(x[row] + by * same, q, method=method) for by in (step, -step))
            want = weight * (up - down) / (2 * step) / np.sum(same)
            np.testing.assert_allclose(delta[row][same], want, atol=1e-9)


def test_few_entries_are_sorted_in_loops_of_the_program(programs: list[Making]) -> None:
    value_and_grad(lambda x: np.sum(np.sort(x) ** 2))(np.arange(9.0))
    value_and_grad(lambda x: np.sum(np.sort(x, axis=0) ** 2))(np.arange(12.0).reshape(3, 4))
    value_and_grad(lambda x: np.median(np.abs(x - np.median(x))))(np.arange(9.0))
    assert len(programs) >= 3
    assert not any("NumPy: " in one.explain() for one in programs)
