"""When are two answers the same? Values to a few last digits, errors by their family, programs by the bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symbolic import SymbolicError
from symbolic.machines import chosen


def attempt(function: Callable[..., Any], arrays: Any) -> Any:
    """The result, or the exception."""
    try:
        return function(*arrays)
    except Exception as error:
        return error


FAMILIES = (IndexError, ValueError, TypeError, ArithmeticError)


def same_family(ours: BaseException, theirs: BaseException) -> bool:
    """One `except` catches both; where NumPy stumbles over a type, any error of ours will do."""
    if isinstance(ours, SymbolicError) and isinstance(theirs, TypeError):
        return True
    return any(isinstance(ours, family) and isinstance(theirs, family) for family in FAMILIES)


def assert_equal(ours: Any, theirs: Any, subject: object, exact: bool = True) -> None:
    """One result: shape, dtype, and entries to a few units in the last place."""
    got, want = np.asarray(ours), np.asarray(theirs)
    assert got.shape == want.shape, f"{subject}: shape {got.shape}, NumPy {want.shape}"
    if exact:
        assert got.dtype == want.dtype, f"{subject}: dtype {got.dtype}, NumPy {want.dtype}"
    if want.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, want)
        return
    close = 16 * np.finfo(want.dtype).eps
    scale = np.max(np.abs(want[np.isfinite(want)]), initial=1.0)
    np.testing.assert_allclose(got, want, rtol=close, atol=close * float(scale))


def near(ours: Any, theirs: Any, units: float = 32.0) -> bool:
    """Whether two results are the same: on NumPy's machine to the last bit, on another but for rounding."""
    got, want = np.asarray(ours), np.asarray(theirs)
    if chosen() == "numpy":
        return bool(bits(got) == bits(want))
    if (got.shape, got.dtype) != (want.shape, want.dtype) or want.dtype.kind not in "fc":
        return bool(np.array_equal(got, want)) and got.dtype == want.dtype
    close = units * float(np.finfo(want.dtype).eps)
    scale = float(np.max(np.abs(want[np.isfinite(want)]), initial=0.0))
    return bool(np.allclose(got, want, rtol=close, atol=close * scale, equal_nan=True))


def bits(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype.kind in "fc":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return type(value), array.dtype, array.shape, array.tobytes()
