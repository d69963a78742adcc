"""What are the error functions, the normal distribution's, and their derivatives?

Formulas: NIST's Digital Library of Mathematical Functions, chapter 7.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sp

from symbolic.ops.deltas import is_complex
from symbolic.ops.families import Binary, Unary

SQRT_PI = math.sqrt(math.pi)
SQRT_2PI = math.sqrt(2 * math.pi)


class Erf(Unary, numpy=sp.erf):
    """The error function.

    >>> import numpy as np
    >>> import scipy.special as sp
    >>> from symbolic import grad
    >>> round(float(grad(lambda x: sp.erf(x))(0.0)), 6)
    1.128379
    """

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.exp(-np.square(x)) * (2 / SQRT_PI)


class Erfc(Unary, numpy=sp.erfc):
    """1 - erf(x), exact for large x."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.exp(-np.square(x)) * (-2 / SQRT_PI)


class Erfi(Unary, numpy=sp.erfi):
    """The imaginary error function."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.exp(np.square(x)) * (2 / SQRT_PI)


class Erfcx(Unary, numpy=sp.erfcx):
    """e^x² · erfc(x)."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        near = 2 * x * out - 2 / SQRT_PI
        if is_complex(x):
            return near
        far = np.greater(x, _FAR)  # there the two terms cancel
        return np.where(far, _tail(np.where(far, x, _FAR), -1) * (-1 / SQRT_PI), np.where(far, 0, near))


class Dawsn(Unary, numpy=sp.dawsn):
    """Dawson's integral."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        near = 1 - 2 * x * out
        if is_complex(x):
            return near
        far = np.greater(np.abs(x), _FAR)  # there the two terms cancel
        return np.where(far, _tail(np.where(far, x, _FAR), 1) * -0.5, near)


_FAR = 12.0
_ODD = [math.prod(range(1, 2 * n + 2, 2)) for n in range(11)]


def _tail(x: Any, sign: int) -> Any:
    """Σ (sign / 2)^n · 1·3·…·(2n+1) / x^(2n+2): the asymptotic series of both slopes, exact beyond 12."""
    y = np.square(1 / x)
    total: Any = 0.0
    for n, odd in reversed(list(enumerate(_ODD))):
        total = total * y + odd * (0.5 * sign) ** n
    return total * y


class Erfinv(Unary, numpy=sp.erfinv):
    """The inverse of erf."""

    __slots__ = ()
    domain = "unit"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.exp(np.square(out)) * (SQRT_PI / 2)


class Erfcinv(Unary, numpy=sp.erfcinv):
    """The inverse of erfc."""

    __slots__ = ()
    domain = "share"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.exp(np.square(out)) * (-SQRT_PI / 2)


# --------------------------------------------------------------------------- the normal distribution


class Ndtr(Unary, numpy=sp.ndtr):
    """The normal distribution function."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.exp(np.square(x) * -0.5) * (1 / SQRT_2PI)


class LogNdtr(Unary, numpy=sp.log_ndtr):
    """The logarithm of the normal distribution function, exact far below."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return mills(out, x)


def mills(log_share: Any, x: Any) -> Any:
    """The density over the distribution function, whose logarithm is `log_share`: no difference of large numbers."""
    below = np.less(x, 0)
    scaled = sp.erfcx(np.where(below, x, 0) * (-1 / math.sqrt(2)))
    height = np.square(np.where(below, 0, x)) * -0.5
    above = np.exp(height - np.where(below, 0, log_share)) * (1 / SQRT_2PI)
    return np.where(below, math.sqrt(2 / math.pi) / scaled, above)


class Ndtri(Unary, numpy=sp.ndtri):
    """The quantiles of the normal distribution."""

    __slots__ = ()
    domain = "share"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.exp(np.square(out) * 0.5) * SQRT_2PI


class NdtriExp(Unary, numpy=sp.ndtri_exp):
    """The quantiles of the normal distribution, of the logarithm of a share."""

    __slots__ = ()
    domain = "negative"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return 1 / mills(x, out)


class OwensT(Binary, numpy=sp.owens_t):
    """Owen's T: a share of a plane under a normal density."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, h: Any, a: Any) -> Any:
        wide = np.square(a) + 1
        by_height = np.exp(np.square(h) * -0.5) * sp.erf(h * a * math.sqrt(0.5)) * (-0.5 / SQRT_2PI)
        return by_height, np.exp(np.square(h) * wide * -0.5) / wide * (0.5 / math.pi)
