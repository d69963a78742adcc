"""0 · ∞ of the chain rule is 0 also where no result shows the NaN that a plain product would be.

The oracle is the derivative of each piece: here x ↦ x for x ≥ 0 and x ↦ √−x below, whose slopes are 1 and −½/√−x.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import symbolic as s
from symbolic import SGD, Weight, custom_gradient, grad, hessian, symbolic, vmap
from symbolic.ops.deltas import Chain

MACHINES = ["numpy", pytest.param("native", marks=pytest.mark.skipif(find_spec("llvmlite") is None, reason="llvmlite"))]
X = np.array([1.0, 2.0, -4.0, 0.0, -0.25])
SLOPES = np.array([1.0, 1.0, -0.25, 1.0, -1.0])
QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "greater": lambda d: np.where(d > 0, 1.0, -1.0),
    "signbit": lambda d: np.signbit(d) * 1.0,
    "isnan": lambda d: np.where(np.isnan(d), 7.0, d),
    "condition": lambda d: np.where(np.isfinite(d), d, 0.0),
    "nan_to_num": lambda d: np.nan_to_num(d, nan=9.0),
    "fmax": lambda d: np.fmax(d, -0.5),
    "fmin": lambda d: np.fmin(d, 0.5),
    "power": lambda d: d**0.0,
    "hypot": lambda d: np.hypot(d, np.inf),
    "sort": lambda d: np.sort(d)[:2].sum() + 0.0 * d,
    "argmin": lambda d: d * 0.0 + 1.0 * np.argmin(d),
    "whole": lambda d: d * 0.0 + np.trunc(d).astype(int),
    "any": lambda d: d * 0.0 + 1.0 * np.any(d != d),
    "median": lambda d: d * 0.0 + np.median(np.where(d < 2, d, 0.0)),
    "nanmax": lambda d: d * 0.0 + np.nanmax(d),
    "nanmin": lambda d: d * 0.0 + np.nanmin(d),
    "nanmedian": lambda d: d * 0.0 + np.nanmedian(d),
    "nanquantile": lambda d: d * 0.0 + np.nanquantile(d, 0.3).astype(d.dtype),
    "solve": lambda d: np.linalg.solve(np.diag(d), np.ones(len(d))).astype(d.dtype),
    "complex": lambda d: (d + 1j * d).astype(np.result_type(d.dtype, np.complex64)),
    "few": lambda d: d[1:3],
    "twice": lambda d: np.where(d > -0.5, np.sqrt(d + 1.0), d),
}


def pieces(x: Any) -> Any:
    return np.where(x >= 0, x, np.sqrt(-x))


@pytest.fixture(autouse=True, params=MACHINES)
def machine(request: Any) -> Any:
    with s.use(request.param):
        yield request.param


def called(net: Any, *given: Any) -> Any:
    """By a call that finds nothing prepared, and by one that finds all."""
    results = [net(*given) for _ in range(3)]
    for one in results[1:]:
        np.testing.assert_array_equal(one, results[0])
    return results[0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_of_a_gradient_within_a_function(question: str, dtype: Any) -> None:
    ask, slopes = QUESTIONS[question], grad(lambda x: np.sum(pieces(x)))
    net = symbolic(lambda v: ask(slopes(v)), np.ndarray)
    with np.errstate(all="ignore"):
        found = called(net.predict, X.astype(dtype))
    np.testing.assert_array_equal(found, ask(SLOPES.astype(dtype)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_of_a_delta_in_somebodys_own_way_back(question: str, dtype: Any) -> None:
    ask = QUESTIONS[question]
    if question in ("complex", "few"):
        pytest.skip("no delta of x")
    own = custom_gradient(lambda x: (x * 1.0, lambda d: ask(d).astype(d.dtype)))
    with np.errstate(all="ignore"):
        found = called(grad(lambda x: np.sum(pieces(own(x)))), X.astype(dtype))
    np.testing.assert_array_equal(found, ask(SLOPES.astype(dtype)))


def test_steps_go_the_right_way() -> None:
    own = custom_gradient(lambda x: (x * 1.0, lambda d: np.where(d > 0, 1.0, -1.0)))
    w = Weight(X)
    step = symbolic(lambda scale: np.sum(pieces(own(w) * scale)), float).trainer(SGD(0.125))
    with np.errstate(all="ignore"):
        step(1.0)
    np.testing.assert_array_equal(w.value, X - 0.125 * np.sign(SLOPES))


def test_second_derivatives_and_slices() -> None:
    curved = np.array([0.0, 0.0, -0.25 * 4.0**-1.5, 0.0, -0.25 * 0.25**-1.5])
    slopes = grad(lambda x: np.sum(pieces(x)))
    with np.errstate(all="ignore"):
        second = called(grad(lambda x: np.sum(np.where(slopes(x) > 0, 0.0, slopes(x)))), X)
        np.testing.assert_array_equal(np.diag(called(hessian(lambda x: np.sum(pieces(x))), X)), curved)
        each = called(vmap(grad(lambda x: np.where(grad(pieces)(x) > 0, x, -x))), X)
    np.testing.assert_array_equal(second, curved)
    np.testing.assert_array_equal(each, np.sign(SLOPES))


def slopes_of(inner: Any = pieces) -> Any:
    slopes = grad(lambda v: np.sum(inner(v) * np.tanh(v)))
    return symbolic(lambda x: slopes(x), np.ndarray)


def test_finite_results_are_multiplied_plainly(machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    net, x, seen = slopes_of(np.sin), np.linspace(1.0, 2.0, 5), []
    expected = called(net.predict, x)
    for name in ("careful", "careful_into"):
        monkeypatch.setattr(Chain, name, staticmethod(lambda *given: seen.append(given)))
    for _ in range(5):
        np.testing.assert_array_equal(net.predict(x), expected)
    assert not seen


def test_what_was_repeated_with_care_is_right_however_often() -> None:
    net, odd, usual = slopes_of(), X, np.linspace(1.0, 2.0, 5)
    with np.errstate(all="ignore"):
        for given in (usual, odd, usual, odd, odd, odd, usual, odd, odd, odd, odd, usual):
            t = np.tanh(given)
            root = np.where(given >= 0, given, np.sqrt(-given))
            slope = np.where(given >= 0, 1.0, -0.5 / np.where(given < 0, root, 1.0))
            np.testing.assert_allclose(net.predict(given), slope * t + root * (1 - t * t), rtol=1e-14)


def said_by(net: Any, given: Any) -> tuple[Any, set[str]]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = net.predict(given)
    return found, {str(one.message) for one in said}


def test_warnings_are_those_of_the_function(machine: str) -> None:
    """The product of 0 and an infinity that care leaves out says nothing; what makes the infinity does, each time."""
    if machine == "native":
        pytest.skip("what machine code makes of finite results is said by nobody")
    calm, odd = np.array([-1.0, -2.0]), np.array([0.0, -1.0])
    net = symbolic(lambda x: grad(lambda v: np.sum(np.where(v < 0, v, np.sqrt(-v))))(x), np.ndarray)
    for given in (calm, odd, calm, odd, odd, odd, odd, odd, odd, calm):
        found, said = said_by(net, given)
        np.testing.assert_array_equal(found[1], 1.0)
        assert said == ({"divide by zero encountered in divide"} if given is odd else set())


def test_a_warning_of_a_finite_result_is_given(machine: str) -> None:
    if machine == "native":
        pytest.skip("what machine code makes of finite results is said by nobody")
    net = symbolic(lambda x: slopes(x) / (1.0 + np.exp(-np.log(x))), np.ndarray)
    usual, zero = np.array([1.0, 2.0]), np.array([0.0, 1.0])
    for given in (usual, zero, usual, zero, zero, zero, zero, zero, zero, usual):
        found, said = said_by(net, given)
        np.testing.assert_array_equal(found[1:], 2.0 * given[1:] / (1.0 + 1.0 / given[1:]))
        assert said == ({"divide by zero encountered in log"} if given is zero else set())
    with np.errstate(all="raise"):
        net.predict(usual)
        with pytest.raises(FloatingPointError, match="divide by zero"):
            net.predict(zero)


slopes = grad(lambda v: np.sum(v * v))
