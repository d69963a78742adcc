"""0 · ∞ of the chain rule is 0 also where no result shows the NaN that a plain product would be.

The oracle is the derivative of each piece: here x ↦ x for x ≥ 0 and x ↦ √−x below, whose slopes are 1 and −½/√−x.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import symbolic as s
from symbolic import SGD, Weight, custom_gradient, grad, hessian, symbolic, vmap

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
