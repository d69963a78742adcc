"""What do +, -, ·, / and powers do, and what are their derivatives?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.layer import AnyLayer
from symbolic.leaves import Literal
from symbolic.ops.binding import Kernel
from symbolic.ops.deltas import cancelled, chain, is_complex
from symbolic.ops.families import Binary, Unary
from symbolic.spec import AnySpec, Spec


class Plus(Binary, numpy=np.add, symbol="+"):
    """x + y.

    >>> from symbolic import Identity, Literal, Plus
    >>> Plus(Identity(), Literal(1.0)).predict(2.0)
    3.0
    """

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return 1, 1


class Subtract(Binary, numpy=np.subtract, symbol="-"):
    """x - y."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return 1, -1


class Times(Binary, numpy=np.multiply, symbol="*"):
    """x · y."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return y, x


class Divide(Binary, numpy=np.divide, symbol="/"):
    """x / y."""

    __slots__ = ()
    domain = "nonzero"

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return np.divide(1.0, y), np.negative(out) / y


class Negative(Unary, numpy=np.negative, symbol="neg"):
    """-x."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return -1


class Positive(Unary, numpy=np.positive, symbol="pos"):
    """+x."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return 1


# --------------------------------------------------------------------------- powers and roots


def power_rule(out: Any, x: Any, y: Any) -> Any:
    """y·x^(y-1) and x^y·log x; each finite wherever the power is smooth."""
    return _by_base(x, y), _by_exponent(out, x)


def _by_base(x: Any, y: Any) -> Any:
    exponent = known_number(y)
    if exponent is not None and not isinstance(exponent, complex):
        if exponent in (0, 1):
            return None if exponent == 0 else 1
        return np.multiply(x if exponent == 2 else np.power(x, exponent - 1), exponent)
    # x^0 is 1 everywhere, so at 0 its derivative is 0 and not 0 · 0^-1
    flat = np.logical_and(np.equal(x, 0), np.equal(y, 0))
    return np.multiply(np.power(x, np.where(flat, 0.0, np.subtract(y, 1.0))), y)


def _by_exponent(out: Any, x: Any) -> Any:
    base = known_number(x)
    if isinstance(base, (int, float)) and base > 0:
        return np.multiply(out, math.log(base))
    return np.multiply(out, np.log(np.where(np.equal(x, 0), 1, x)))  # 0^y stays 0 while y moves


def known_number(value: Any) -> Any:
    """A constant scalar as a Python number; `None` for anything else."""
    value = value.value if isinstance(value, Literal) else value
    if isinstance(value, np.generic) and value.dtype.kind in "iufc":
        value = value.item()
    return value if isinstance(value, (int, float, complex)) else None


_SHORTER: dict[float, np.ufunc] = {-1.0: np.reciprocal, 0.5: np.sqrt, 1.0: np.positive, 2.0: np.square}


def square(x: Any, exponent: Any) -> Any:
    """x² of a Python float: NumPy's, whose last bit Python's own `**` may miss, and infinite where that raises."""
    return x * x


class Power(Binary, numpy=np.power, symbol="**"):
    """x ^ y."""

    __slots__ = ()
    domain = "positive"
    derivative: ClassVar[Any] = staticmethod(power_rule)

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        base = specs[0]
        floats = isinstance(base, Spec) and base.python is float
        return (square, False) if floats and known_number(self.operands[1]) == 2 else super().kernel(specs, out)

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        """Arrays take the short cuts that NumPy's own `**` takes."""
        base, exponent = specs[0], known_number(self.operands[1])
        if not isinstance(base, Spec) or base.python is not None or base.dtype is None or base.dtype.kind not in "fc":
            return None
        if exponent not in _SHORTER or self.infer(*specs) != base:
            return None
        return _SHORTER[exponent](self.operands[0])  # type: ignore[no-any-return]  # a layer stands for an array


class FloatPower(Binary, numpy=np.float_power):
    """x ^ y in double precision at least."""

    __slots__ = ()
    domain = "positive"
    derivative: ClassVar[Any] = staticmethod(power_rule)


class Square(Unary, numpy=np.square):
    """x²."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.multiply(x, 2)


class Sqrt(Unary, numpy=np.sqrt):
    """√x."""

    __slots__ = ()
    domain = "positive"

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        smooth = cancelled(delta, out)  # the delta of √x² is finite at 0, though √x has no derivative there
        return super().gradient(delta, out, *operands) if smooth is None else (smooth * 0.5,)

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.divide(0.5, out)


# --------------------------------------------------------------------------- absolute values and signs


class Abs(Unary, numpy=np.absolute, symbol="abs"):
    """|x|, of complex numbers too; 0 at the kink."""

    __slots__ = ()
    domain = "nonzero"

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        (x,) = operands
        smooth = cancelled(delta, out)
        if smooth is not None:  # |x|² has no kink
            return (smooth * x,)
        if is_complex(x):  # not holomorphic: ∂|z|/∂z* points along z
            return (chain(delta, 1 / np.where(np.equal(out, 0), np.inf, out)) * x,)
        return (chain(delta, np.sign(x)),)
