"""Does a layer follow what its body reads from outside, as plain Python does?"""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from answers import near

import symbolic as s
from symbolic import symbolic

X = np.array([1.0, 2.0])
ROW = np.array([1.0, 2.0])
MODULE = types.ModuleType("settings")
MODULE.scale = 2.0  # type: ignore[attr-defined]  # a module of our own


def of_array(function: Callable[..., Any]) -> Any:
    return symbolic(function, np.ndarray, returns=np.ndarray)


def follows(function: Callable[..., Any], change: Callable[[], None], undo: Callable[[], None]) -> None:
    """The layer gives what plain Python gives, before, after and again; and so does its gradient."""
    net, derivative = of_array(function), s.grad(lambda x: np.sum(function(x)))

    def agrees() -> Any:
        for _ in range(3):
            assert near(net(X), function(X))
        for k in range(2):
            step = np.eye(2)[k] * 1e-6
            slope = np.sum(function(X + step) - function(X - step)) / 2e-6
            assert derivative(X)[k] == pytest.approx(slope, rel=1e-6)
        return function(X)

    before = agrees()
    change()
    try:
        assert not np.array_equal(before, agrees())
    finally:
        undo()
    assert near(before, agrees())


def is_never_stale(function: Any) -> None:
    net = of_array(function)
    try:
        for values in ([1.0, 2.0], [3.0, 2.0], [3.0, 5.0], [1.0, 2.0]):
            ROW[:] = values
            for _ in range(4):
                assert near(net(X), function(X))
    finally:
        ROW[:] = [1.0, 2.0]
