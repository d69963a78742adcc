"""What are logistic shares, entropies, losses and powers, and their derivatives?"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import scipy.special as sp

from symbolic.ops.binding import implements
from symbolic.ops.families import Binary, Step, Unary
from symbolic.ops.foreign import Called

# --------------------------------------------------------------------------- logistic


class Expit(Unary, numpy=sp.expit):
    """The logistic sigmoid 1 / (1 + e^-x).

    >>> import scipy.special as sp
    >>> from symbolic import grad
    >>> float(grad(lambda x: sp.expit(x))(0.0))
    0.25
    """

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return out * sp.expit(-x)  # not 1 - out, which is 0 from 40 on


class Logit(Unary, numpy=sp.logit):
    """The inverse of expit."""

    __slots__ = ()
    domain = "inner_share"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return 1 / (x * (1 - x))


class LogExpit(Unary, numpy=sp.log_expit):
    """The logarithm of expit."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return sp.expit(-x)


if hasattr(sp, "softplus"):  # from SciPy 1.16 on

    @implements(sp.softplus, operands="real")
    def softplus(x: Any, **kwargs: Any) -> Any:
        return np.logaddexp(x, 0)


# --------------------------------------------------------------------------- entropies


class Xlogy(Binary, numpy=sp.xlogy):
    """x · log y, and 0 where x is 0."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return np.log(y), x / np.where(_both_zero(x, y), 1, y)


class Xlog1py(Binary, numpy=sp.xlog1py):
    """x · log(1 + y), and 0 where x is 0."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        whole = y + 1
        return np.log1p(y), x / np.where(_both_zero(x, whole), 1, whole)


def _both_zero(x: Any, y: Any) -> Any:
    """Where 0 · log y stays 0 whatever y is: x / y is 0 there, and not 0 / 0."""
    return np.logical_and(np.equal(x, 0), np.equal(y, 0))


class Entr(Unary, numpy=sp.entr):
    """-x · log x; -inf below 0, where nothing flows."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        below = np.less(x, 0)
        return np.where(below, 0, -np.log(np.where(below, 1, x)) - 1)


class RelEntr(Binary, numpy=sp.rel_entr):
    """x · log(x / y); inf outside the domain, where nothing flows."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        outside = np.equal(out, np.inf)
        return np.where(outside, 0, _log_ratio(x, y, outside) + 1), np.where(outside, 0, -_ratio(x, y, outside))


class KlDiv(Binary, numpy=sp.kl_div):
    """x · log(x / y) - x + y; inf outside the domain, where nothing flows."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        outside = np.equal(out, np.inf)
        return np.where(outside, 0, _log_ratio(x, y, outside)), np.where(outside, 0, 1 - _ratio(x, y, outside))


def _ratio(x: Any, y: Any, outside: Any) -> Any:
    return x / np.where(np.logical_or(outside, np.equal(y, 0)), 1, y)


def _log_ratio(x: Any, y: Any, outside: Any) -> Any:
    """log x - log y: a quotient of the two could overflow."""
    safe = np.logical_or(outside, np.equal(y, 0))
    return np.log(np.where(outside, 1, x)) - np.log(np.where(safe, 1, y))


# --------------------------------------------------------------------------- losses


class Huber(Binary, numpy=sp.huber):
    """Half the square of r, or a line beyond delta; inf for a negative delta."""

    __slots__ = ()
    domain: ClassVar[Any] = ("positive", "real")

    @staticmethod
    def derivative(out: Any, delta: Any, r: Any) -> Any:
        wrong = np.less(delta, 0)
        bent = np.minimum(np.maximum(r, -delta), delta)
        return np.where(wrong, 0, np.maximum(np.abs(r) - delta, 0)), np.where(wrong, 0, bent)


class PseudoHuber(Binary, numpy=sp.pseudo_huber):
    """A smooth Huber loss: delta · (√(delta² + r²) - delta)."""

    __slots__ = ()
    domain: ClassVar[Any] = ("positive", "real")

    @staticmethod
    def derivative(out: Any, delta: Any, r: Any) -> Any:
        wrong = np.less(delta, 0)
        length = np.hypot(delta, r)
        length = np.where(np.equal(length, 0), 1, length)
        share = r / length
        bend = r / (length + np.where(wrong, 0, delta)) * r
        return np.where(wrong, 0, np.square(bend) / length), np.where(wrong, 0, delta * share)


# --------------------------------------------------------------------------- powers


class Exprel(Unary, numpy=sp.exprel):
    """(e^x - 1) / x, and 1 at 0."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return sp.hyp1f1(2.0, 3.0, x) * 0.5  # exact near 0, where the quotient rule is not


class Boxcox(Binary, numpy=sp.boxcox):
    """(x^λ - 1) / λ, and log x for λ = 0."""

    __slots__ = ()
    domain: ClassVar[Any] = ("positive", "real")

    @staticmethod
    def derivative(out: Any, x: Any, lmbda: Any) -> Any:
        return np.power(x, lmbda - 1), _by_lambda(np.log(x), lmbda)


class Boxcox1p(Binary, numpy=sp.boxcox1p):
    """((1 + x)^λ - 1) / λ, and log(1 + x) for λ = 0."""

    __slots__ = ()
    domain: ClassVar[Any] = ("positive", "real")

    @staticmethod
    def derivative(out: Any, x: Any, lmbda: Any) -> Any:
        log = np.log1p(x)
        return np.exp(log * (lmbda - 1)), _by_lambda(log, lmbda)


def _by_lambda(log: Any, lmbda: Any) -> Any:
    """The slope of (e^(λ·log) - 1) / λ by λ, which is smooth at 0."""
    return np.square(log) * sp.hyp1f1(2.0, 3.0, log * lmbda) * 0.5


class InvBoxcox(Binary, numpy=sp.inv_boxcox):
    """The inverse of boxcox."""

    __slots__ = ()
    domain: ClassVar[Any] = ("positive", "positive")

    @staticmethod
    def derivative(out: Any, y: Any, lmbda: Any) -> Any:
        return np.power(out, 1 - lmbda), out * _by_lambda_back(y, lmbda)


class InvBoxcox1p(Binary, numpy=sp.inv_boxcox1p):
    """The inverse of boxcox1p."""

    __slots__ = ()
    domain: ClassVar[Any] = ("positive", "positive")

    @staticmethod
    def derivative(out: Any, y: Any, lmbda: Any) -> Any:
        return np.power(out + 1, 1 - lmbda), (out + 1) * _by_lambda_back(y, lmbda)


def _by_lambda_back(y: Any, lmbda: Any) -> Any:
    """The slope of log(1 + λ·y) / λ by λ, which is smooth at 0."""
    return np.square(y) * sp.hyp2f1(2.0, 2.0, 3.0, -lmbda * y) * -0.5


class Powm1(Binary, numpy=sp.powm1):
    """x^y - 1, exact near 0."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return y * np.power(x, y - 1), (out + 1) * np.log(x)


class SpecialExpm1(Unary, numpy=sp.expm1):
    """e^x - 1, as SciPy has it."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return out + 1


class SpecialLog1p(Unary, numpy=sp.log1p):
    """log(1 + x), as SciPy has it."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return 1 / (x + 1)


class SpecialExp2(Unary, numpy=sp.exp2):
    """2^x, as SciPy has it."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return out * math.log(2)


class Exp10(Unary, numpy=sp.exp10):
    """10^x."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return out * math.log(10)


class SpecialCbrt(Unary, numpy=sp.cbrt):
    """The cube root, as SciPy has it."""

    __slots__ = ()
    domain = "nonzero"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return 1 / (3 * np.square(out))


class Cosm1(Unary, numpy=sp.cosm1):
    """cos x - 1, exact near 0."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return -np.sin(x)


_DEGREE = math.pi / 180


class Sindg(Unary, numpy=sp.sindg):
    """The sine of degrees."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return sp.cosdg(x) * _DEGREE


class Cosdg(Unary, numpy=sp.cosdg):
    """The cosine of degrees."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return sp.sindg(x) * -_DEGREE


class Tandg(Unary, numpy=sp.tandg):
    """The tangent of degrees."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return (np.square(out) + 1) * _DEGREE


class SpecialRound(Step, numpy=sp.round):
    """The nearest whole number."""

    __slots__ = ()
    domain = "away_from_integers"


class Wrightomega(Unary, numpy=sp.wrightomega):
    """The ω of ω + log ω = z."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, z: Any) -> Any:
        return out / (out + 1)


def _of_branch(k: Any, z: Any) -> Any:
    return sp.lambertw(z, k)


class Lambertw(Called):
    """The w of w · e^w = z, on branch k; complex."""

    __slots__ = ()
    functions: ClassVar[Any] = (_of_branch,)
    operand_names: ClassVar[tuple[str, ...]] = ("k", "z")

    @staticmethod
    def derivative(out: Any, k: Any, z: Any) -> Any:
        return np.exp(-out) / (out + 1)


@implements(sp.lambertw, operands="positive")
def lambertw(z: Any, k: Any = 0) -> Any:
    return Lambertw(k, z)
