"""Are the methods of NumPy's functions of two NumPy's, for every one, in every dtype, with masks and beginnings?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from answers import attempt, bits
from strategies import Draw, with_examples
from subjects import network

import symbolic as s
from symbolic import public as _public  # noqa: F401 - it fills the tables
from symbolic.errors import SymbolicError
from symbolic.layer import UFUNC_METHODS

KINDS = ["?", "i1", "u1", "i4", "u4", "i8", "u8", "f4", "f8"]
ROUNDED = {np.add, np.multiply, np.logaddexp}  # several at a time, which rounds in another order
AXES = [0, 1, -1, None, (0, 1), (1, 0), ()]


def of(method: str) -> list[Any]:
    return sorted({ufunc for ufunc, name in UFUNC_METHODS if name == method}, key=lambda one: str(one.__name__))


def drawn(draw: Draw, kind: str) -> tuple[Any, Any]:
    """Entries and a mask, in which a row and a column are all false."""
    shape, rng = (draw.pick([4, 3, 1]), draw.pick([3, 1, 5])), draw.rng
    x = rng.integers(0, 7, shape) - (0 if kind[0] in "u?" else 3)
    mask = rng.random(shape) < 0.6
    mask[0], mask[:, 0] = False, False
    return (x + rng.random(shape) * (kind[0] == "f")).astype(kind), mask


def assert_as_numpy(ufunc: Any, function: Callable[..., Any], *arrays: Any) -> None:
    """To the bit where NumPy adds one by one; what layers do not have is refused by name."""
    with np.errstate(all="ignore"):
        want = attempt(function, arrays)
        for machine in ("numpy", "native"):
            with s.use(machine):
                got = attempt(network(function, len(arrays)).predict, arrays)
            if isinstance(got, SymbolicError):
                assert isinstance(want, Exception) or "is not supported on layers" in str(got), got
                continue
            assert not isinstance(got, Exception) or isinstance(want, Exception), f"{got!r}, NumPy {want!r}"
            if isinstance(want, Exception):
                assert isinstance(got, Exception), f"{got!r}, NumPy {want!r}"
                continue
            ours, theirs = np.asarray(got), np.asarray(want)
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), machine
            if machine == "native" or (ufunc in ROUNDED and theirs.dtype.kind == "f"):
                close = 8 * float(np.finfo(theirs.dtype).eps) if theirs.dtype.kind == "f" else 0
                np.testing.assert_allclose(ours, theirs, rtol=close, atol=close)
            else:
                assert bits(ours) == bits(theirs), f"{ours}, NumPy {theirs}"


@pytest.mark.parametrize("ufunc", of("reduce"), ids=lambda one: one.__name__)
def test_reduce(ufunc: Any) -> None:
    def agree(draw: Draw) -> None:
        x, mask = drawn(draw, draw.pick(KINDS))
        options: dict[str, Any] = {"axis": draw.pick(AXES), "keepdims": draw.pick([False, True])}
        options |= draw.pick([{}, {"initial": 1}, {"initial": 0}, {"initial": 5}, {"initial": -1}, {"initial": -300}])
        assert_as_numpy(ufunc, lambda x: ufunc.reduce(x, **options), x)
        assert_as_numpy(ufunc, lambda x, mask: ufunc.reduce(x, where=mask, **options), x, mask)
        assert_as_numpy(ufunc, lambda x: ufunc.reduce(x[0, 0]), x)
        assert_as_numpy(ufunc, lambda x: ufunc.reduce(x[:0], **options), x)

    with_examples(15, agree)


@pytest.mark.parametrize("ufunc", of("accumulate"), ids=lambda one: one.__name__)
def test_accumulate_and_reduceat(ufunc: Any) -> None:
    def agree(draw: Draw) -> None:
        x, _ = drawn(draw, draw.pick(KINDS))
        axis = draw.pick([0, 1, -1])
        assert_as_numpy(ufunc, lambda x: ufunc.accumulate(x, axis=axis), x)
        assert_as_numpy(ufunc, lambda x: ufunc.accumulate(x[:1, :1], axis=axis), x)
        places = [draw.pick(range(x.shape[axis])) for _ in range(3)]
        if (ufunc, "reduceat") in UFUNC_METHODS:
            assert_as_numpy(ufunc, lambda x: ufunc.reduceat(x, places, axis=axis), x)

    with_examples(8, agree)


@pytest.mark.parametrize("ufunc", of("reduce"), ids=lambda one: one.__name__)
def test_of_truths_and_small_integers_is_what_numpy_says(ufunc: Any) -> None:
    """One entry, too: ~ of a truth is a truth, and of an integer it is not."""
    for kind in KINDS:
        for count in (1, 2, 3):
            assert_as_numpy(ufunc, lambda x: ufunc.reduce(x), np.ones((count, 2)).astype(kind))
