"""Is a product that is written as LLVM's text right, for any sizes, strides and processor?"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from compiling import PROCESSORS, compiled, element, processor, read, steps, workspace

from symbolic.backends.native.counting import plus, times
from symbolic.backends.native.gemm import Batch, Strides, product, workspace_bytes
from symbolic.backends.native.sums import stored
from symbolic.backends.native.text import Function, Module, Value


@pytest.fixture(params=PROCESSORS)
def host(request: pytest.FixtureRequest) -> Any:
    return processor(request.param)


def strides(x: Any) -> Strides:
    return Strides(*steps(x))


def run(
    a: Any, b: Any, c: Any, host: Any, *, told: bool = True, extra: Sequence[tuple[str, Any]] = (), **options: Any
) -> None:
    """C = A @ B or what `options` make of it; `told`: are the sizes and strides known when it is written?"""
    (m, k), n = a.shape, b.shape[1]
    kind, module = element(a.dtype), Module()
    sizes = (m, n, k)
    if told:
        options |= {"sizes": sizes, "a": strides(a), "b": strides(b), "c": strides(c)}
    product(module, "mm", kind, host, extra=[name for name, _ in extra], **options)
    rest = [] if told else [*sizes, *strides(a), *strides(b), strides(c).row]
    pointers = [one.ctypes.data for one in (a, b, c)]
    room, untouched = workspace(workspace_bytes(m, n, k, kind))
    types = [ctypes.c_void_p] * 4 + [ctypes.c_int64] * len(rest) + [ctypes.c_void_p] * len(extra)
    compiled(module, "mm", host, *types)(*pointers, room, *rest, *[value for _, value in extra])
    assert untouched()


def bound(a: Any, b: Any, c: Any = 0.0) -> Any:
    """By how much sums of so many rounded products may be wrong, in any order."""
    wide = np.longdouble
    least = np.finfo(a.dtype).smallest_subnormal
    return (a.shape[1] + 3) * (np.finfo(a.dtype).eps * (abs(a.astype(wide)) @ abs(b.astype(wide)) + abs(c)) + least)


def exact(a: Any, b: Any) -> Any:
    return a.astype(np.longdouble) @ b.astype(np.longdouble)


def drawn(rng: Any, shape: tuple[int, int], dtype: Any, way: str) -> Any:
    """A matrix whose rows, or columns, or neither, are contiguous."""
    rows, columns = shape
    if way == "rows":
        return rng.standard_normal((rows, columns)).astype(dtype)
    if way == "columns":
        return rng.standard_normal((columns, rows)).astype(dtype).T
    return rng.standard_normal((rows, 3, columns, 2)).astype(dtype)[::-1, 1, :, 1]


WAYS = [("rows", "rows"), ("columns", "rows"), ("rows", "columns"), ("columns", "columns"), ("neither", "neither")]
SIZES = [
    *[(0, 3, 2), (3, 0, 2), (3, 4, 0), (1, 1, 1), (5, 7, 3), (16, 64, 64), (17, 67, 33), (64, 16, 13)],
    *[(1, 100, 70), (2, 37, 33), (3, 20, 40), (4, 40, 37), (70, 1, 100), (1, 1, 300), (128, 10, 128), (61, 131, 19)],
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("told", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("ways", WAYS, ids="-".join)
def test_a_product_is_the_sum_of_products(host: Any, ways: tuple[str, str], told: bool, dtype: Any) -> None:
    rng = np.random.default_rng(7)
    for m, n, k in SIZES if told else SIZES[::3]:
        a, b = drawn(rng, (m, k), dtype, ways[0]), drawn(rng, (k, n), dtype, ways[1])
        c = np.full((m, n), np.nan, dtype)
        run(a, b, c, host, told=told)
        assert (abs(c - exact(a, b)) <= bound(a, b)).all(), (m, n, k)


@pytest.mark.parametrize("told", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("sizes", [(2050, 20, 5), (7, 70, 1030), (13, 33, 2300), (140, 66, 1024)], ids=str)
def test_sizes_that_are_done_in_blocks(host: Any, sizes: tuple[int, int, int], told: bool) -> None:
    rng = np.random.default_rng(8)
    m, n, k = sizes
    for ways in WAYS[::2]:
        a, b = drawn(rng, (m, k), np.float32, ways[0]), drawn(rng, (k, n), np.float32, ways[1])
        c = rng.standard_normal((m, n)).astype(np.float32)
        before = c.astype(np.longdouble)
        run(a, b, c, host, told=told, accumulate=True)
        assert (abs(c - before - exact(a, b)) <= bound(a, b, before)).all()


def test_what_lies_between_the_rows_of_the_result_stays(host: Any) -> None:
    rng = np.random.default_rng(9)
    a, b = (drawn(rng, shape, np.float32, "rows") for shape in ((9, 5), (5, 21)))
    for whole, c in (((9, 40), np.s_[:, 3:24]), ((21, 20), np.s_[:, 2:11])):
        room = np.full(whole, 77.0, np.float32)
        place = room[c] if whole[0] == 9 else room[c].T
        run(a, b, place, host)
        assert (abs(place - exact(a, b)) <= bound(a, b)).all()
        place[...] = 77.0
        assert (room == 77.0).all()


def test_a_sum_is_never_short_of_a_term(host: Any) -> None:
    """0 · inf is NaN, NaN stays, and the least numbers are not flushed: as NumPy has it."""
    rng = np.random.default_rng(10)
    for m, n, k in [(7, 40, 19), (1, 40, 19), (3, 1, 40), (16, 64, 64)]:
        a, b = drawn(rng, (m, k), np.float32, "rows"), drawn(rng, (k, n), np.float32, "columns")
        a[rng.random(a.shape) < 0.3] = 0.0
        b[rng.random(b.shape) < 0.02] = np.inf
        b[rng.random(b.shape) < 0.02] = np.nan
        c = np.zeros((m, n), np.float32)
        run(a, b, c, host)
        with np.errstate(invalid="ignore"):
            expected = a.astype(np.float64) @ b.astype(np.float64)
        np.testing.assert_allclose(c, expected, rtol=1e-3, atol=1e-5)
    tiny = np.full((3, 1), np.finfo(np.float32).smallest_subnormal, np.float32)
    c = np.zeros((3, 20), np.float32)
    run(tiny, np.full((1, 20), 3.0, np.float32), c, host)
    assert (c == 3 * tiny).all()


def test_an_epilogue_has_each_sum_once(host: Any) -> None:
    """Bias, a rectifier, and a step of gradient descent, written where the sums are in registers."""
    rng = np.random.default_rng(11)
    for (m, n, k), told in [((13, 70, 9), True), ((20, 33, 1100), True), ((20, 33, 600), False), ((1, 50, 20), True)]:
        a, b = drawn(rng, (m, k), np.float64, "columns"), drawn(rng, (k, n), np.float64, "columns")
        bias, c = rng.standard_normal(n), rng.standard_normal((m, n))
        before = c.copy()

        def epilogue(f: Function, sums: Value, row: Value, column: Value, mask: Value | None, n: int = n) -> None:
            weights = f.at(f.arguments[2], plus(f, column, times(f, row, f.index(n))), "double")
            zero = f.like(sums, 0.0)
            total = f.add(sums, read(f, f.at(f.arguments[-1], column, "double"), mask, zero))
            total = f.select(f.compare("ogt", total, zero), total, zero)
            new = f.sub(read(f, weights, mask, zero), f.mul(f.like(sums, 0.5), total))
            stored(f, new, weights, f.index(1), mask, False)

        run(a, b, c, host, told=told, epilogue=epilogue, extra=[("ptr", bias.ctypes.data)])
        expected = before - 0.5 * np.maximum(exact(a, b) + bias, 0)
        assert (abs(c - expected) <= bound(a, b, before) + 1e-14).all()


def test_a_batch_is_product_after_product(host: Any) -> None:
    rng = np.random.default_rng(12)
    for m, n, k in [(4, 4, 4), (3, 17, 5), (1, 8, 8), (8, 1, 8)]:
        a, b = rng.standard_normal((6, m, k)), rng.standard_normal((6, k, n))
        c = np.zeros((6, m, n))
        module, batch = Module(), Batch(None, m * k, k * n, m * n)
        rows = Strides(k, 1), Strides(n, 1), Strides(n, 1)
        product(module, "mm", "double", host, sizes=(m, n, k), a=rows[0], b=rows[1], c=rows[2], batch=batch)
        room, _ = workspace(workspace_bytes(m, n, k, "double"))
        call = compiled(module, "mm", host, *[ctypes.c_void_p] * 4, ctypes.c_int64)
        call(*(one.ctypes.data for one in (a, b, c)), room, 6)
        np.testing.assert_allclose(c, a @ b, rtol=1e-13, atol=1e-13)
