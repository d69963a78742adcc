"""What are hypergeometric series, elliptic integrals and orthogonal polynomials, and their derivatives?

Each differentiates into one of its own kind: NIST's Digital Library of Mathematical Functions, 13.3, 15.5 and 18.9.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import scipy.special as sp

from symbolic.ops.families import Unary
from symbolic.ops.foreign import ByLast


class Hyp0f1(ByLast, numpy=sp.hyp0f1):
    """The series 0F1(b; z)."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("b", "z")
    domain: ClassVar[Any] = ("positive", "real")

    @staticmethod
    def derivative(out: Any, b: Any, z: Any) -> Any:
        return sp.hyp0f1(b + 1, z) / b


class Hyp1f1(ByLast, numpy=sp.hyp1f1):
    """Kummer's series 1F1(a; b; z)."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("a", "b", "z")
    domain: ClassVar[Any] = ("positive", "positive", "real")

    @staticmethod
    def derivative(out: Any, a: Any, b: Any, z: Any) -> Any:
        return a / b * sp.hyp1f1(a + 1, b + 1, z)


class Hyp2f1(ByLast, numpy=sp.hyp2f1):
    """Gauss' series 2F1(a, b; c; z)."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("a", "b", "c", "z")
    domain: ClassVar[Any] = ("positive", "positive", "positive", "small")

    @staticmethod
    def derivative(out: Any, a: Any, b: Any, c: Any, z: Any) -> Any:
        return a * b / c * sp.hyp2f1(a + 1, b + 1, c + 1, z)


class Ellipk(Unary, numpy=sp.ellipk):
    """The complete elliptic integral of the first kind, of the parameter m."""

    __slots__ = ()
    domain = "small"

    @staticmethod
    def derivative(out: Any, m: Any) -> Any:
        return sp.hyp2f1(1.5, 1.5, 2.0, m) * (math.pi / 8)


class Ellipe(Unary, numpy=sp.ellipe):
    """The complete elliptic integral of the second kind, of the parameter m."""

    __slots__ = ()
    domain = "small"

    @staticmethod
    def derivative(out: Any, m: Any) -> Any:
        return sp.hyp2f1(0.5, 1.5, 2.0, m) * (-math.pi / 8)


# --------------------------------------------------------------------------- polynomials of degree n


class _OfDegree(ByLast):
    """By x alone; n is a whole number."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("n", "x")
    domain: ClassVar[Any] = ("order", "unit")


class EvalLegendre(_OfDegree, numpy=sp.eval_legendre):
    """Legendre's polynomials."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, n: Any, x: Any) -> Any:
        return sp.eval_gegenbauer(n - 1, 1.5, x)


class EvalChebyt(_OfDegree, numpy=sp.eval_chebyt):
    """Chebyshev's polynomials of the first kind."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, n: Any, x: Any) -> Any:
        return n * sp.eval_chebyu(n - 1, x)


class EvalChebyu(_OfDegree, numpy=sp.eval_chebyu):
    """Chebyshev's polynomials of the second kind."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, n: Any, x: Any) -> Any:
        return sp.eval_gegenbauer(n - 1, 2.0, x) * 2


class EvalHermite(_OfDegree, numpy=sp.eval_hermite):
    """Hermite's polynomials, as physicists have them."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, n: Any, x: Any) -> Any:
        return 2 * n * sp.eval_hermite(np.maximum(n - 1, 0), x)


class EvalHermitenorm(_OfDegree, numpy=sp.eval_hermitenorm):
    """Hermite's polynomials, as statisticians have them."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, n: Any, x: Any) -> Any:
        return n * sp.eval_hermitenorm(np.maximum(n - 1, 0), x)


class EvalLaguerre(_OfDegree, numpy=sp.eval_laguerre):
    """Laguerre's polynomials."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, n: Any, x: Any) -> Any:
        return -sp.eval_genlaguerre(n - 1, 1.0, x)


class EvalGenlaguerre(ByLast, numpy=sp.eval_genlaguerre):
    """Laguerre's generalized polynomials."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("n", "alpha", "x")
    domain: ClassVar[Any] = ("order", "positive", "unit")

    @staticmethod
    def derivative(out: Any, n: Any, alpha: Any, x: Any) -> Any:
        return -sp.eval_genlaguerre(n - 1, alpha + 1, x)


class EvalGegenbauer(ByLast, numpy=sp.eval_gegenbauer):
    """Gegenbauer's polynomials."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("n", "alpha", "x")
    domain: ClassVar[Any] = ("order", "positive", "unit")

    @staticmethod
    def derivative(out: Any, n: Any, alpha: Any, x: Any) -> Any:
        return 2 * alpha * sp.eval_gegenbauer(n - 1, alpha + 1, x)


class EvalJacobi(ByLast, numpy=sp.eval_jacobi):
    """Jacobi's polynomials."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("n", "alpha", "beta", "x")
    domain: ClassVar[Any] = ("order", "positive", "positive", "unit")

    @staticmethod
    def derivative(out: Any, n: Any, alpha: Any, beta: Any, x: Any) -> Any:
        return (n + alpha + beta + 1) / 2 * sp.eval_jacobi(n - 1, alpha + 1, beta + 1, x)
