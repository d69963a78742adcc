"""What are exponentials and logarithms, and their derivatives?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

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
