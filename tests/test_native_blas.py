"""Is what NumPy or SciPy has brought along as BLAS found, and is a call of it what NumPy computes?"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from compiling import compiled, element, processor, steps

from symbolic.backends.native import blas
from symbolic.backends.native.text import Module, Value


def found(name: str) -> blas.Routine:
    routine = blas.routine(name)
    if routine is None:
        pytest.skip(f"neither NumPy nor SciPy has brought a {name} that can be seen")
    return routine


@pytest.mark.parametrize("name", ["sgemm", "dgemm", "sgemv", "dgemv"])
def test_a_routine_has_an_address(name: str) -> None:
    routine = found(name)
    assert routine.address > 0
    assert routine.integer in ("i32", "i64")


def test_there_is_no_routine_of_another_name() -> None:
    assert blas.routine("gemm_of_nobody") is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("source", ["numpy", "scipy"])
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)], ids=str)
def test_a_call_is_the_product(source: str, turned: tuple[bool, bool], dtype: Any) -> None:
    name = {4: "sgemm", 8: "dgemm"}[np.dtype(dtype).itemsize]
    if source == "scipy":
        pytest.importorskip("scipy.linalg.cython_blas", reason="SciPy's capsules need SciPy")
    routine = found(name) if source == "numpy" else blas._scipy(name)
    assert routine is not None
    rng, host = np.random.default_rng(3), processor("sse2")
    for m, n, k in [(3, 5, 7), (1, 4, 6), (4, 1, 3), (2, 3, 0)]:
        a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
        a, b = (np.asfortranarray(one) if flip else one for one, flip in zip((a, b), turned, strict=True))
        for accumulate in (False, True):
            c = rng.standard_normal((m, n + 2)).astype(dtype)[:, 1:-1]
            expected = a @ b + (c if accumulate else 0)
            module = Module()
            f = module.function("call", ["ptr"] * 4)
            sizes = f.index(m), f.index(n), f.index(k)
            left, right = ((at, *steps(one)[:2]) for at, one in zip(f.arguments[:2], (a, b), strict=True))
            kind, into = element(dtype), (f.arguments[2], n + 2)
            assert blas.multiply(f, f.arguments[3], kind, sizes, left, right, into, accumulate), (m, n, k)
            f.give()
            call = compiled(module, "call", host, *[ctypes.c_void_p] * 4)
            call(*(one.ctypes.data for one in (a, b, c)), routine.address)
            np.testing.assert_allclose(c, expected, rtol=1e-4, atol=1e-5)


def test_what_no_call_can_say_is_not_written() -> None:
    f = Module().function("call", ["ptr"] * 4)
    one, lines = f.index(4), f.lines.copy()
    apart, rows, overlapping = (f.arguments[0], 8, 2), (f.arguments[1], 4, 1), (f.arguments[0], 1, 1)
    for a in (apart, overlapping):
        assert not blas.multiply(f, Value("ptr", 0, "%a3"), "float", (one, one, one), a, rows, (f.arguments[2], 4))
    assert f.lines == lines
