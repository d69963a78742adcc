"""Does the native machine give what NumPy's gives? For every operation, on special values, and for whole programs.

The oracle is NumPy's machine, which has laws of its own. Where a machine may differ, it is by rounding: a few units in
the last place of the largest number that went in or came out.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from answers import assert_equal, attempt, same_family
from differences import Loss
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from native_programs import LAYOUTS, Drawn, described, program, special_values
from plain_programs import Program
from strategies import Draw
from subjects import SUBJECTS, Subject, entries, leaves, network
from test_laws import drawn
from test_plain_python import NAMED, copied

import symbolic as s
from symbolic import Symbolic, machines, symbolic, value_and_grad
from symbolic.backends.native import assembly, blocks, elementary, pointwise

pytest.importorskip("llvmlite")
PROFILE = settings.default
EXAMPLES = 4 if PROFILE is None or PROFILE.max_examples < 100 else 60
KINDS = ["float64", "float64", "float32", "float16", "complex128"]
RNG = np.random.default_rng(8)


@contextmanager
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def on(machine: Any, function: Callable[..., Any], *arrays: Any) -> Any:
    """What a function gives on a machine, or the exception."""
    with s.use(machine), quiet():
        return attempt(function, arrays)


def agree(got: Any, want: Any, what: str, units: float = 64.0, scale: float = 0.0) -> None:
    """All results alike: shape, dtype, type, and numbers to so many units in the last place of the largest one."""
    ours, theirs = leaves(entries(got)), leaves(entries(want))
    assert len(ours) == len(theirs), what
    for one, other in zip(ours, theirs, strict=True):
        assert type(one) is type(other), f"{what}: {type(one).__name__}, NumPy's machine {type(other).__name__}"
        a, b = np.asarray(one), np.asarray(other)
        assert (a.shape, a.dtype) == (b.shape, b.dtype), f"{what}: {a.dtype}{a.shape}, not {b.dtype}{b.shape}"
        if b.dtype.kind not in "fc":
            np.testing.assert_array_equal(a, b, what)
            continue
        close = units * float(np.finfo(b.dtype).eps)
        largest = float(np.max(np.abs(b[np.isfinite(b)]), initial=scale))
        np.testing.assert_allclose(a, b, rtol=close, atol=close * largest, err_msg=what)


# --------------------------------------------------------------------------- every operation


def law_value(subject: Subject, data: st.DataObject) -> bool:
    """On any dtype and shape, special values among them, in any memory layout: NumPy's value, or its error."""
    draw = Draw(data, data.draw(st.sampled_from(KINDS)), loose=True, python=True)
    call = subject.arguments(draw, special=True)
    layout = data.draw(st.sampled_from(sorted(LAYOUTS)))
    arrays = [LAYOUTS[layout](one) for one in call.arrays]
    net = network(subject.of(call), len(arrays))
    want, got = on("numpy", net.predict, *arrays), on("native", net.predict, *arrays)
    if isinstance(want, Exception) or isinstance(got, Exception):
        assert same_family(got, want), f"{subject}, {layout}: {want!r}, native {got!r}"
        return False
    for one in (got, on("native", net.predict, *arrays)):
        for ours, theirs in zip(leaves(entries(one)), leaves(entries(want)), strict=True):
            assert_equal(ours, theirs, f"{subject}, {layout}")
    return True


def law_gradient(subject: Subject, data: st.DataObject) -> bool:
    """The same gradients, in float64 and float32."""
    draw = Draw(data, data.draw(st.sampled_from(["float64", "float32"])))
    call = subject.arguments(draw)
    if isinstance(attempt(subject.of(call), call.arrays), Exception):
        return False
    loss = Loss(subject, call, draw)
    if not loss.wanted:
        return True
    derivative = value_and_grad(loss.real, loss.positions)
    want, got = on("numpy", derivative, *loss.floats), on("native", derivative, *loss.floats)
    if isinstance(want, Exception) or isinstance(got, Exception):
        assert same_family(got, want), f"{subject}: {want!r}, native {got!r}"
        return False
    largest = max([1.0, *[float(np.max(np.abs(one), initial=0.0)) for one in loss.floats]])
    agree((got[0], *got[1]), (want[0], *want[1]), str(subject), 512.0, largest)
    return True


test_value = drawn(law_value, EXAMPLES)
test_gradient = drawn(law_gradient, EXAMPLES // 2)
