"""What are signs and steps, and what is known of the way back through them?"""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.ops.deltas import is_complex
from symbolic.ops.families import Binary, Unary


class Fabs(Unary, numpy=np.fabs):
    """|x|, real, as a float."""

    __slots__ = ()
    domain = "nonzero"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.sign(x)


class Sign(Unary, numpy=np.sign):
    """-1, 0 or 1; z / |z| of complex numbers."""

    __slots__ = ()
    domain = "nonzero"

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        (x,) = operands
        if not is_complex(x):
            return (None,)
        length = np.absolute(x)
        across = delta - out * np.real(np.conjugate(out) * delta)  # only turning moves z / |z|
        return (across / np.where(np.equal(length, 0), np.inf, length),)


class Copysign(Binary, numpy=np.copysign):
    """|x| with the sign of y."""

    __slots__ = ()
    domain = "nonzero"

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return np.sign(x) * np.copysign(1.0, y), None


class Heaviside(Binary, numpy=np.heaviside):
    """0 below zero, 1 above it, y at zero."""

    __slots__ = ()
    domain = "nonzero"

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return None, np.equal(x, 0)
