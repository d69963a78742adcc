"""What are the functions of circles and hyperbolas, and their derivatives?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.ops.binding import Kernel
from symbolic.ops.deltas import chain, is_complex
from symbolic.ops.families import Binary, Unary
from symbolic.ops.operation import array
from symbolic.spec import AnySpec, Spec, dtype_by_trial


class Sin(Unary, numpy=np.sin):
    """The sine of radians."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.cos(x)


class Cos(Unary, numpy=np.cos):
    """The cosine of radians."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.negative(np.sin(x))


class Tan(Unary, numpy=np.tan):
    """The tangent of radians."""

    __slots__ = ()
    domain = "unit"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.add(np.square(out), 1)


class Arcsin(Unary, numpy=np.arcsin):
    """The angle of a sine."""

    __slots__ = ()
    domain = "unit"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.divide(1.0, np.sqrt(_one_less_square(x)))


class Arccos(Unary, numpy=np.arccos):
    """The angle of a cosine."""

    __slots__ = ()
    domain = "unit"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.divide(-1.0, np.sqrt(_one_less_square(x)))


def _one_less_square(x: Any) -> Any:
    return np.subtract(1, x) * np.add(x, 1)  # exact near ±1, as 1 - x² is not


class Arctan(Unary, numpy=np.arctan):
    """The angle of a tangent."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.divide(1.0, np.add(np.square(x), 1))


class Arctan2(Binary, numpy=np.arctan2):
    """The angle of the point (second, first); no gradient at the origin."""

    __slots__ = ()
    domain = "nonzero"

    @staticmethod
    def derivative(out: Any, y: Any, x: Any) -> Any:
        length = np.hypot(x, y)
        length = np.where(np.equal(length, 0), 1, length)
        return x / length / length, np.negative(y) / length / length


class Radians(Unary, numpy=(np.radians, np.deg2rad)):
    """Degrees as radians."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return math.pi / 180


class Degrees(Unary, numpy=(np.degrees, np.rad2deg)):
    """Radians as degrees."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return 180 / math.pi


class Sinh(Unary, numpy=np.sinh):
    """The hyperbolic sine."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.cosh(x)


class Cosh(Unary, numpy=np.cosh):
    """The hyperbolic cosine."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.sinh(x)


class Tanh(Unary, numpy=np.tanh):
    """The hyperbolic tangent."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.subtract(1, np.square(out))


class Arcsinh(Unary, numpy=np.arcsinh):
    """The inverse of the hyperbolic sine."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        if is_complex(x):
            return np.divide(1.0, np.sqrt(np.add(np.square(x), 1)))
        return np.divide(1.0, np.hypot(x, 1))


class Arccosh(Unary, numpy=np.arccosh):
    """The inverse of the hyperbolic cosine."""

    __slots__ = ()
    domain = "above_one"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.divide(1.0, np.sqrt(np.subtract(x, 1)) * np.sqrt(np.add(x, 1)))


class Arctanh(Unary, numpy=np.arctanh):
    """The inverse of the hyperbolic tangent."""

    __slots__ = ()
    domain = "unit"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.divide(1.0, _one_less_square(x))


class Sinc(Unary, numpy=np.sinc):
    """sin(πx) / πx, and with `order` its derivative of that order: right at 0 too, where it is smooth."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"order": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        return Spec(spec.shape, None if spec.dtype is None else dtype_by_trial(np.sinc, spec.dtype))

    def evaluate(self, *values: Any) -> Any:
        out = np.sinc(values[0])
        return out if self.order == 0 else _sinc(values[0], self.order).astype(out.dtype)[()]

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        return self.evaluate, False

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (chain(delta, Sinc(operands[0], order=self.order + 1)),)


def _sinc(x: Any, order: int) -> Any:
    """With s(t) = sin(t)/t: t·s⁽ⁿ⁾ = sin⁽ⁿ⁾(t) - n·s⁽ⁿ⁻¹⁾ away from 0, the power series near it."""
    t = np.asarray(np.multiply(x, np.pi))
    near = np.abs(t) < order + 1
    far, small = np.where(near, 1, t), np.where(near, t, 0)
    recursion = np.sin(far) / far
    for n in range(1, order + 1):
        recursion = (np.sin(far + n * np.pi / 2) - n * recursion) / far
    first = (order + 1) // 2
    series = sum(_term(small, k, 2 * k - order) for k in range(first, first + 12 + order))
    return np.where(near, series, recursion) * np.pi**order


def _term(t: Any, k: int, power: int) -> Any:
    return (-1) ** k * t**power / (math.factorial(power) * (2 * k + 1))
