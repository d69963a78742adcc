"""Are results so far along an axis computed natively as NumPy computes them, to the last bit, and their gradients?

The oracles are NumPy's functions and, for gradients, the sums and products that a derivative is by its definition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symbolic as s
from symbolic import grad, symbolic
from symbolic.backends.native.making import Making
from symbolic.ops.cumulative import Delay, Recurrence
from symbolic.spec import Spec

pytest.importorskip("llvmlite")

FUNCTIONS: dict[str, Callable[..., Any]] = {"cumsum": np.cumsum, "cumprod": np.cumprod}
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda x: x,
    "from the end": lambda x: np.flip(x),
    "transposed": lambda x: np.transpose(x),
    "every second": lambda x: x[..., ::2],
    "backwards": lambda x: x[..., ::-1],
    "stretched": lambda x: np.broadcast_to(x[..., :1], x.shape),
}
SHAPES = [(1,), (7,), (40,), (1, 5), (3, 1), (5, 19), (2, 3, 8), (3, 1, 17), (2, 2, 3, 9)]
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-310, 1e300]


def all_native(programs: list[Making]) -> bool:
    return bool(programs) and not any("NumPy: " in one.explain() for one in programs)


def numbers(seed: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Numbers, some of them zeros of either sign, infinities, NaN, or tiny."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, shape)
    if np.dtype(dtype).kind == "f" and seed % 2:
        x = np.where(rng.uniform(size=shape) < 0.2, rng.choice(SPECIAL, shape), x)
    with np.errstate(all="ignore"):
        return x.astype(dtype)


def same(a: Any, b: Any) -> bool:
    """To the last bit, the signs of zeros included; NaN is NaN."""
    a, b = np.asarray(a), np.asarray(b)
    signs = a.dtype.kind != "f" or np.array_equal(np.signbit(a) & (a == 0), np.signbit(b) & (b == 0))
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f") and signs


def axes(rank: int) -> list[int | None]:
    return [None, *range(-rank, rank)]


# --------------------------------------------------------------------------- values


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_])
@settings(max_examples=12, deadline=None)
@given(
    shape=st.sampled_from(SHAPES),
    layout=st.sampled_from(sorted(LAYOUTS)),
    seed=st.integers(0, 99),
    at=st.integers(0, 99),
)
def test_what_is_reached_is_what_numpy_reaches(
    name: str, dtype: Any, shape: tuple[int, ...], layout: str, seed: int, at: int
) -> None:
    x, axis = numbers(seed, shape, dtype), axes(len(shape))[at % (2 * len(shape) + 1)]
    net = symbolic(lambda x: FUNCTIONS[name](LAYOUTS[layout](x), axis=axis), np.ndarray)
    with np.errstate(all="ignore"):
        expected = FUNCTIONS[name](LAYOUTS[layout](x), axis=axis)
        with s.use("native"):
            assert "NumPy: " not in net.explain(x)
            for _ in range(3):
                assert same(net.predict(x), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("transposed", [False, True])
def test_recurrences_are_what_their_formula_says(
    layout: str, dtype: Any, transposed: bool, programs: list[Making]
) -> None:
    for seed, shape in enumerate(SHAPES):
        for axis in range(len(shape)):
            factor, term = LAYOUTS[layout](numbers(seed, shape, dtype)), numbers(seed + 50, shape, dtype)
            term = np.resize(term, factor.shape)
            net = symbolic(
                lambda f, t, axis=axis: Recurrence(LAYOUTS[layout](f), t, axis=axis, transposed=transposed),
                np.ndarray,
                np.ndarray,
            )
            with np.errstate(all="ignore"):
                found = net.predict(numbers(seed, shape, dtype), term)
                expected = one_by_one(factor, term, axis, transposed)
            assert same(found, expected)
    assert all_native(programs)


def one_by_one(factor: Any, term: Any, axis: int, transposed: bool) -> Any:
    out = np.array(term)
    n = out.shape[axis]
    f, o = np.moveaxis(factor, axis, 0), np.moveaxis(out, axis, 0)
    for k in range(1, n):
        if transposed:
            o[n - 1 - k] = o[n - 1 - k] + f[n - k] * o[n - k]
        else:
            o[k] = o[k] + f[k] * o[k - 1]
    return out


@pytest.mark.parametrize("by", [1, -1])
@pytest.mark.parametrize("fill", [0, 1])
def test_a_delay_moves_by_one_place(by: int, fill: int, programs: list[Making]) -> None:
    for shape in SHAPES:
        x = np.random.default_rng(1).normal(size=shape)
        for axis in range(-len(shape), len(shape)):
            net = symbolic(lambda x, axis=axis: Delay(x, axis=axis, by=by, fill=fill), np.ndarray)
            free = np.full_like(np.take(x, [0], axis=axis), fill)
            n = shape[axis]
            parts = (
                [free, np.take(x, range(n - 1), axis=axis)] if by > 0 else [np.take(x, range(1, n), axis=axis), free]
            )
            assert same(net.predict(x), np.concatenate(parts, axis=axis))
    assert all_native(programs)


# --------------------------------------------------------------------------- gradients


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_are_sums_of_what_each_entry_is_part_of(
    dtype: Any, shape: tuple[int, ...], programs: list[Making]
) -> None:
    rng = np.random.default_rng(5)
    x, weights = rng.uniform(0.5, 1.5, shape).astype(dtype), rng.normal(size=shape).astype(dtype)
    x[(0,) * len(shape)] = 0.0  # a product with a zero has a gradient, too
    for axis in range(len(shape)):
        lines = np.moveaxis(np.array(x, np.float64), axis, -1)
        by = np.moveaxis(np.array(weights, np.float64), axis, -1)
        n, sums, products = shape[axis], np.zeros(lines.shape), np.zeros(lines.shape)
        for i in range(n):
            for j in range(i, n):
                sums[..., i] += by[..., j]
                products[..., i] += by[..., j] * np.prod(np.delete(lines[..., : j + 1], i, axis=-1), axis=-1)
        for function, expected in ((np.cumsum, sums), (np.cumprod, products)):
            g = grad(lambda x, function=function, axis=axis: np.sum(function(x, axis=axis) * weights))
            found = [g(x) for _ in range(3)][-1]
            assert found.dtype == dtype
            np.testing.assert_allclose(
                found, np.moveaxis(expected, -1, axis), rtol=1e-4 if dtype == np.float32 else 1e-9, atol=1e-5
            )
    assert all_native(programs)


# --------------------------------------------------------------------------- spreads


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)])
def test_the_gradient_of_a_spread_stays_native_and_in_its_dtype(dtype: Any, axis: Any, programs: list[Making]) -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(4, 3, 5)).astype(dtype)
    for function, ddof in ((np.std, 0), (np.std, 1), (np.var, 1), (np.var, 0.5)):
        g = grad(lambda x, function=function, ddof=ddof: np.sum(function(x, axis=axis, ddof=ddof)))
        found = [g(x) for _ in range(3)][-1]
        wide = x.astype(np.float64)
        n = x.size // np.mean(wide, axis=axis).size
        away = wide - np.mean(wide, axis=axis, keepdims=True)
        spread = np.std(wide, axis=axis, ddof=ddof, keepdims=True)
        expected = away / (n - ddof) / spread if function is np.std else 2 * away / (n - ddof)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=2e-5 if dtype == np.float32 else 1e-12, atol=1e-7)
    assert all_native(programs)
    for one in programs:  # single precision is not left on the way
        arrays = [spec for spec in one.program.specs if isinstance(spec, Spec) and spec.shape]
        assert {np.dtype(bool), np.dtype(dtype)}.issuperset(spec.dtype for spec in arrays)


def test_equal_entries_have_no_deviation_natively(programs: list[Making]) -> None:
    """Their mean may be rounded, so that the deviation is not quite 0; NaN is equal to nothing."""
    x = np.array([[0.1] * 7, [0.1] * 6 + [0.2], [np.nan] * 7, [0.0, -0.0] * 3 + [0.0], [np.inf] * 7])
    g = grad(lambda x: np.sum(np.std(x, axis=1)))
    with np.errstate(all="ignore"):
        native = [g(x) for _ in range(3)][-1]
        with s.use("numpy"):
            assert np.array_equal(np.isnan(native), np.isnan(grad(lambda x: np.sum(np.std(x, axis=1)))(x)))
    assert np.array_equal(native[[0, 3]], np.zeros((2, 7)))
    assert np.all(native[1] != 0) and np.all(np.isnan(native[2]))
