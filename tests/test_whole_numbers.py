"""Do NumPy's functions give NumPy's values and dtypes for integers and truths, too? The laws draw floating numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from answers import attempt
from strategies import Draw, with_examples
from subjects import SUBJECTS, Subject, entries, leaves, network

KINDS = ["int64", "uint8", "bool"]

ANOTHER_DTYPE = {
    **dict.fromkeys(("vdot", "vecdot", "vecmat", "correlate", "angle"), "the conjugate of truths is an int8"),
    **dict.fromkeys(("reduceat", "accumulate", "reduce"), "what one entry comes to is not what several do"),
    **dict.fromkeys(("modf", "frexp"), "small integers count as double precision"),
}
"""Functions whose result has NumPy's values in another dtype, by the last part of the name, with the reason."""
OF_FLOATS = {
    "np.interp": "places that are sorted as floats are not sorted as small integers",
    "np.polymul": "coefficients that begin with 0 are refused",
}
"""Functions for which the drawn values mean nothing as integers."""


@pytest.mark.parametrize("subject", [one for one in SUBJECTS if one.name not in OF_FLOATS], ids=str)
def test_values_of_whole_numbers(subject: Subject) -> None:
    def agree(draw: Draw) -> None:
        call = subject.arguments(draw)
        for kind in KINDS:
            _agrees(subject, call, kind)

    with_examples(2, agree)


def _agrees(subject: Subject, call: Any, kind: str) -> None:
    arrays = [_as(np.asarray(one), kind) for one in call.arrays]
    function = subject.of(call)
    want = attempt(function, arrays)
    if isinstance(want, Exception) or leaves(want) == ():  # unstacked along an axis of size 0
        return
    got = attempt(network(function, len(arrays)).predict, arrays)
    assert not isinstance(got, Exception), f"{subject} of {kind}: NumPy gives {want!r}, layers raise {got!r}"
    loose = subject.name.rpartition(".")[2] in ANOTHER_DTYPE
    for one, other in zip(leaves(entries(got)), leaves(entries(want)), strict=True):
        ours, theirs = np.asarray(one), np.asarray(other)
        assert ours.shape == theirs.shape
        assert loose or ours.dtype == theirs.dtype, f"{subject} of {kind}: {ours.dtype}, NumPy {theirs.dtype}"
        if not loose or theirs.dtype != bool:
            close = 1e-9 if theirs.dtype.itemsize >= 8 and not loose else 2e-3
            np.testing.assert_allclose(ours.astype(complex), theirs.astype(complex), rtol=close, atol=close)


def _as(array: Any, kind: str) -> Any:
    if array.dtype.kind != "f":
        return array
    return array > 0 if kind == "bool" else np.round(array * 2).astype(int).astype(kind)
