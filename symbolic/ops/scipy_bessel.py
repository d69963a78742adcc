"""What are the Bessel functions and exponential integrals, and their derivatives?

Recurrences without a division, so that nothing special happens at 0: NIST's Digital Library of Mathematical
Functions, sections 10.6 and 10.29, and chapters 6 and 8.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.special as sp

from symbolic.errors import DtypeError
from symbolic.layer import refuse
from symbolic.ops.deltas import is_complex
from symbolic.ops.families import Unary
from symbolic.ops.foreign import ByLast

# --------------------------------------------------------------------------- of order 0 and 1


class J0(Unary, numpy=sp.j0):
    """Bessel's J of order 0."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return -sp.j1(x)


class J1(Unary, numpy=sp.j1):
    """Bessel's J of order 1."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return (sp.j0(x) - sp.jv(2.0, x)) * 0.5


class Y0(Unary, numpy=sp.y0):
    """Bessel's Y of order 0."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return -sp.y1(x)


class Y1(Unary, numpy=sp.y1):
    """Bessel's Y of order 1."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return (sp.y0(x) - sp.yv(2.0, x)) * 0.5


class I0(Unary, numpy=sp.i0):
    """The modified I of order 0."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return sp.i1(x)


class I1(Unary, numpy=sp.i1):
    """The modified I of order 1."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return (sp.i0(x) + sp.iv(2.0, x)) * 0.5


class I0e(Unary, numpy=sp.i0e):
    """e^-|x| times I of order 0."""

    __slots__ = ()
    domain = "nonzero"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return sp.i1e(x) - np.sign(x) * out


class I1e(Unary, numpy=sp.i1e):
    """e^-|x| times I of order 1."""

    __slots__ = ()
    domain = "nonzero"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return (sp.i0e(x) + sp.ive(2.0, x)) * 0.5 - np.sign(x) * out


class K0(Unary, numpy=sp.k0):
    """The modified K of order 0."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return -sp.k1(x)


class K1(Unary, numpy=sp.k1):
    """The modified K of order 1."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return (sp.k0(x) + sp.kv(2.0, x)) * -0.5


class K0e(Unary, numpy=sp.k0e):
    """e^x times K of order 0."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return out - sp.k1e(x)


class K1e(Unary, numpy=sp.k1e):
    """e^x times K of order 1."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return out - (sp.k0e(x) + sp.kve(2.0, x)) * 0.5


# --------------------------------------------------------------------------- of any order


class _OfOrder(ByLast):
    """By its neighbours: their mean (`side` 1) or half their difference (-1), with the sign `turn`."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("v", "z")
    domain: ClassVar[Any] = ("positive", "positive")
    side: ClassVar[float] = -1.0
    turn: ClassVar[float] = 1.0

    def derivative(self, out: Any, v: Any, z: Any) -> Any:  # type: ignore[override]  # the neighbours are of its kind
        return self.mean(v, z)

    def mean(self, v: Any, z: Any) -> Any:
        function = self.functions[0]
        return (function(v - 1, z) + self.side * function(v + 1, z)) * (0.5 * self.turn)


class Jv(_OfOrder, numpy=sp.jv):
    """Bessel's J.

    >>> import scipy.special as sp
    >>> from symbolic import grad
    >>> round(float(grad(lambda x: sp.jv(0, x))(1.0)), 6)
    -0.440051
    """

    __slots__ = ()


class Yv(_OfOrder, numpy=sp.yv):
    """Bessel's Y."""

    __slots__ = ()


class Hankel1(_OfOrder, numpy=sp.hankel1):
    """Hankel's function of the first kind; complex."""

    __slots__ = ()


class Hankel2(_OfOrder, numpy=sp.hankel2):
    """Hankel's function of the second kind; complex."""

    __slots__ = ()


class Iv(_OfOrder, numpy=sp.iv):
    """The modified I."""

    __slots__ = ()
    side: ClassVar[Any] = 1.0


class Kv(_OfOrder, numpy=sp.kv):
    """The modified K."""

    __slots__ = ()
    side: ClassVar[Any] = 1.0
    turn: ClassVar[Any] = -1.0


class Ive(_OfOrder, numpy=sp.ive):
    """e^-|Re z| times I."""

    __slots__ = ()
    side: ClassVar[Any] = 1.0

    def derivative(self, out: Any, v: Any, z: Any) -> Any:  # type: ignore[override]  # as the family
        if is_complex(z):
            refuse("the gradient of scipy.special.ive by a complex argument", "use scipy.special.iv", DtypeError)
        return self.mean(v, z) - np.sign(z) * out


class Kve(_OfOrder, numpy=sp.kve):
    """e^z times K."""

    __slots__ = ()
    side: ClassVar[Any] = 1.0
    turn: ClassVar[Any] = -1.0

    def derivative(self, out: Any, v: Any, z: Any) -> Any:  # type: ignore[override]  # as the family
        return out + self.mean(v, z)


class _OfInteger(_OfOrder):
    """Of a whole order."""

    __slots__ = ()
    domain: ClassVar[Any] = ("order", "positive")


class Kn(_OfInteger, numpy=sp.kn):
    """The modified K of whole order."""

    __slots__ = ()
    side: ClassVar[Any] = 1.0
    turn: ClassVar[Any] = -1.0


class Yn(_OfInteger, numpy=sp.yn):
    """Bessel's Y of whole order."""

    __slots__ = ()


# --------------------------------------------------------------------------- exponential integrals


class Expi(Unary, numpy=sp.expi):
    """The exponential integral Ei."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.exp(x) / x


class Exp1(Unary, numpy=sp.exp1):
    """The exponential integral E of order 1."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return -np.exp(-x) / x


class Expn(ByLast, numpy=sp.expn):
    """The exponential integral E of order n."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("n", "x")
    domain: ClassVar[Any] = ("order", "positive")

    @staticmethod
    def derivative(out: Any, n: Any, x: Any) -> Any:
        low = np.less(n, 1)  # E of order 0 is e^-x / x
        return np.where(low, -np.exp(-x) * (1 / x + 1 / np.square(x)), -sp.expn(np.maximum(n - 1, 0), x))


class Spence(Unary, numpy=sp.spence):
    """Spence's function: the dilogarithm of 1 - z."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, z: Any) -> Any:
        if is_complex(z):
            return np.log(z) / (1 - z)
        return -1 / sp.exprel(np.log(z))  # log z / (1 - z), and -1 at 1
