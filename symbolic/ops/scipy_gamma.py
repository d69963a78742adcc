"""What are the gamma and beta functions, complete and incomplete, and their derivatives?

Formulas: NIST's Digital Library of Mathematical Functions, chapters 5, 8 and 25.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import scipy.special as sp

from symbolic.errors import DtypeError
from symbolic.layer import refuse
from symbolic.literal import as_layer
from symbolic.ops.binding import implements
from symbolic.ops.deltas import is_complex
from symbolic.ops.families import Binary, Step, Unary
from symbolic.ops.foreign import ByLast, Called
from symbolic.ops.operation import static


class Gamma(Unary, numpy=sp.gamma):
    """Euler's gamma function."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return out * sp.psi(x)


class Gammaln(Unary, numpy=sp.gammaln):
    """The logarithm of the gamma function's modulus.

    >>> import scipy.special as sp
    >>> from symbolic import grad
    >>> round(float(grad(lambda x: sp.gammaln(x))(2.0)), 6)
    0.422784
    """

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return sp.psi(x)


class Loggamma(Unary, numpy=sp.loggamma):
    """The principal branch of log Γ, for complex numbers too."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return sp.psi(x)


class Rgamma(Unary, numpy=sp.rgamma):
    """1 / Γ(x), which has no poles."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        low = np.less(x, 0.5)
        mirrored = 1 - np.where(low, x, 0.5)  # reflection: at the poles of Γ the slope is finite
        turn = np.pi * mirrored
        slope = -sp.gamma(mirrored) * (np.cos(turn) + np.sin(turn) * sp.psi(mirrored) / np.pi)
        return np.where(low, slope, -out * sp.psi(np.where(low, 1.0, x)))


class Gammasgn(Step, numpy=sp.gammasgn):
    """The sign of the gamma function."""

    __slots__ = ()


class Psi(Unary, numpy=sp.psi):
    """The digamma function: the slope of log Γ."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        if is_complex(x):
            refuse("the gradient of digamma at complex numbers", "use real numbers: SciPy has no trigamma", DtypeError)
        return polygamma(1, x)


class Zeta(Called, numpy=sp.zeta):
    """Hurwitz' zeta function Σ 1 / (k + q)^x."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("x", "q")

    @staticmethod
    def derivative(out: Any, x: Any, q: Any) -> Any:
        return -x * zeta(x + 1, q)


@implements(sp.zeta, operands="by_last", domain=("above_one", "positive"))
def zeta(x: Any, q: Any = None, out: None = None) -> Any:
    return Zeta.make((as_layer(x), as_layer(1.0 if q is None else q)))


class Polygamma(Called):
    """The n-th derivative of digamma."""

    __slots__ = ()
    functions: ClassVar[Any] = (sp.polygamma,)
    operand_names: ClassVar[tuple[str, ...]] = ("n", "x")

    @staticmethod
    def derivative(out: Any, n: Any, x: Any) -> Any:
        return polygamma(n + 1, x)


@implements(sp.polygamma, operands="by_last", domain=("order", "positive"))
def polygamma(n: Any, x: Any) -> Any:
    return Polygamma.make((as_layer(n), as_layer(x)))


@implements(sp.multigammaln, operands="multigamma")
def multigammaln(a: Any, d: Any) -> Any:
    """log Γ_d(a), the multivariate gamma function, of one integer d."""
    d = int(static(d, "d of scipy.special.multigammaln"))
    constant = d * (d - 1) * 0.25 * math.log(math.pi)
    terms: Any = sum(sp.gammaln(a - j / 2) for j in range(d))
    return terms + np.float64(constant)


# --------------------------------------------------------------------------- incomplete, by the last argument


class Gammainc(ByLast, numpy=sp.gammainc):
    """The lower incomplete gamma function, over the whole."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("a", "x")
    domain: ClassVar[Any] = ("positive", "positive")

    @staticmethod
    def derivative(out: Any, a: Any, x: Any) -> Any:
        return gamma_density(a, x)


class Gammaincc(ByLast, numpy=sp.gammaincc):
    """The upper incomplete gamma function, over the whole."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("a", "x")
    domain: ClassVar[Any] = ("positive", "positive")

    @staticmethod
    def derivative(out: Any, a: Any, x: Any) -> Any:
        return -gamma_density(a, x)


class Gammaincinv(ByLast, numpy=sp.gammaincinv):
    """The x of a share of the lower incomplete gamma function."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("a", "y")
    domain: ClassVar[Any] = ("positive", "inner_share")

    @staticmethod
    def derivative(out: Any, a: Any, y: Any) -> Any:
        return 1 / gamma_density(a, out)


class Gammainccinv(ByLast, numpy=sp.gammainccinv):
    """The x of a share of the upper incomplete gamma function."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("a", "y")
    domain: ClassVar[Any] = ("positive", "inner_share")

    @staticmethod
    def derivative(out: Any, a: Any, y: Any) -> Any:
        return -1 / gamma_density(a, out)


def gamma_density(a: Any, x: Any) -> Any:
    """x^(a-1) · e^-x / Γ(a)."""
    return np.exp(sp.xlogy(a - 1, x) - x - sp.gammaln(a))


class _BetaShare(ByLast):
    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("a", "b", "x")
    domain: ClassVar[Any] = ("positive", "positive", "inner_share")


class Betainc(_BetaShare, numpy=sp.betainc):
    """The incomplete beta function, over the whole."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, a: Any, b: Any, x: Any) -> Any:
        return beta_density(a, b, x)


class Betaincc(_BetaShare, numpy=sp.betaincc):
    """One less the incomplete beta function."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, a: Any, b: Any, x: Any) -> Any:
        return -beta_density(a, b, x)


class Betaincinv(_BetaShare, numpy=sp.betaincinv):
    """The x of a share of the incomplete beta function."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, a: Any, b: Any, y: Any) -> Any:
        return 1 / beta_density(a, b, out)


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """x^(a-1) · (1-x)^(b-1) / B(a, b)."""
    return np.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b))


class Stdtr(ByLast, numpy=sp.stdtr):
    """Student's distribution function."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("df", "t")
    domain: ClassVar[Any] = ("positive", "real")

    @staticmethod
    def derivative(out: Any, df: Any, t: Any) -> Any:
        return student_density(df, t)


class Stdtrit(ByLast, numpy=sp.stdtrit):
    """The quantiles of Student's distribution."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("df", "p")
    domain: ClassVar[Any] = ("positive", "inner_share")

    @staticmethod
    def derivative(out: Any, df: Any, p: Any) -> Any:
        return 1 / student_density(df, out)


def student_density(df: Any, t: Any) -> Any:
    fall = (df + 1) / 2 * np.log1p(np.square(t) / df)
    return np.exp(-sp.betaln(0.5, df / 2) - fall) / np.sqrt(df)


# --------------------------------------------------------------------------- beta, binomials


class Beta(Binary, numpy=sp.beta):
    """Euler's beta function."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, a: Any, b: Any) -> Any:
        whole = sp.psi(a + b)
        return out * (sp.psi(a) - whole), out * (sp.psi(b) - whole)


class Betaln(Binary, numpy=sp.betaln):
    """The logarithm of the beta function's modulus."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, a: Any, b: Any) -> Any:
        whole = sp.psi(a + b)
        return sp.psi(a) - whole, sp.psi(b) - whole


class Binom(Binary, numpy=sp.binom):
    """The binomial coefficient of real numbers."""

    __slots__ = ()
    domain: ClassVar[Any] = ("above_three", "positive")

    @staticmethod
    def derivative(out: Any, n: Any, k: Any) -> Any:
        rest = sp.psi(n - k + 1)
        return out * (sp.psi(n + 1) - rest), out * (rest - sp.psi(k + 1))


class Poch(Binary, numpy=sp.poch):
    """Pochhammer's symbol Γ(z + m) / Γ(z)."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, z: Any, m: Any) -> Any:
        moved = sp.psi(z + m)
        return out * (moved - sp.psi(z)), out * moved


@implements(sp.comb, operands="numbers_of_choices")
def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    _inexact("scipy.special.comb", exact)
    if static(repetition, "repetition of scipy.special.comb"):
        return comb(N + k - 1, k)
    meant = np.logical_and(np.less_equal(k, N), np.logical_and(np.greater_equal(N, 0), np.greater_equal(k, 0)))
    return np.where(meant, sp.binom(np.where(meant, N, 1.0), np.where(meant, k, 1.0)), 0.0)


@implements(sp.perm, operands="numbers_of_choices")
def perm(N: Any, k: Any, exact: bool = False) -> Any:
    _inexact("scipy.special.perm", exact)
    meant = np.logical_and(np.less_equal(k, N), np.logical_and(np.greater_equal(N, 0), np.greater_equal(k, 0)))
    n, m = np.where(meant, N, 1.0), np.where(meant, k, 1.0)
    return np.where(meant, sp.poch(n - m + 1, m), 0.0)


@implements(sp.factorial, operands="positive")
def factorial(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    _inexact("scipy.special.factorial", exact)
    if extend != "zero":
        refuse(f"scipy.special.factorial with extend={extend!r}", "write scipy.special.gamma(n + 1)", DtypeError)
    below = np.less(n, 0)
    return np.where(
        below, 0.0, sp.gamma(np.where(below, 1.0, n) + 1) * np.float64(1)
    )  # SciPy puts it into double precision


def _inexact(name: str, exact: Any) -> None:
    if static(exact, f"exact of {name}"):
        refuse(f"{name} with exact=True, in whole numbers", "leave exact out: floats have a gradient", DtypeError)
