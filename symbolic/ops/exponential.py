"""What are exponentials, logarithms, circles and hyperbolas, and their derivatives?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symbolic.ops.deltas import is_complex
from symbolic.ops.families import Binary, Unary

LN2, LN10 = math.log(2.0), math.log(10.0)


class Exp(Unary, numpy=np.exp):
    """e^x.

    >>> from symbolic import Exp
    >>> float(Exp().predict(0.0))
    1.0
    """

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return out


class Exp2(Unary, numpy=np.exp2):
    """2^x."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.multiply(out, LN2)


class Expm1(Unary, numpy=np.expm1):
    """e^x - 1, exact near 0."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.add(out, 1)


class Log(Unary, numpy=np.log):
    """The natural logarithm."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.divide(1.0, x)


class Log2(Unary, numpy=np.log2):
    """The logarithm of base 2."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.divide(1 / LN2, x)


class Log10(Unary, numpy=np.log10):
    """The logarithm of base 10."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.divide(1 / LN10, x)


class Log1p(Unary, numpy=np.log1p):
    """log(1 + x), exact near 0."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.divide(1.0, np.add(x, 1))


class Logaddexp(Binary, numpy=np.logaddexp):
    """log(e^x + e^y), without overflow."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        total = _finite_below(out)
        return np.exp(x - total), np.exp(y - total)


class Logaddexp2(Binary, numpy=np.logaddexp2):
    """log2(2^x + 2^y), without overflow."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        total = _finite_below(out)
        return np.exp2(x - total), np.exp2(y - total)


def _finite_below(out: Any) -> Any:
    return np.where(np.equal(out, -np.inf), 0, out)  # e^-inf + e^-inf: no share for either, instead of NaN


# --------------------------------------------------------------------------- circles


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


# --------------------------------------------------------------------------- hyperbolas


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
