"""What are the roots, quotients and lengths that have a name of their own, and their derivatives?"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symbolic.ops.families import Binary, Unary


class Cbrt(Unary, numpy=np.cbrt):
    """∛x."""

    __slots__ = ()
    domain = "nonzero"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.divide(1 / 3, np.square(out))


class Reciprocal(Unary, numpy=np.reciprocal):
    """1 / x."""

    __slots__ = ()
    domain = "nonzero"

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.negative(np.square(out))


class Hypot(Binary, numpy=np.hypot):
    """√(x² + y²); 0 at the kink."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        length = np.where(np.equal(out, 0), 1, out)
        return x / length, y / length


class Ldexp(Binary, numpy=np.ldexp):
    """x · 2^n for whole n."""

    __slots__ = ()
    domain: ClassVar[Any] = (None, "integer")

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return np.ldexp(1.0, y), None
