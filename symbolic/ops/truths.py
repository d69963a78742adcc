"""Which entries are true, finite, close, set bit by bit? And are all of them?"""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.ops.binding import implements, method
from symbolic.ops.families import Predicate, Reduction, Step
from symbolic.ops.python import AsPython
from symbolic.spec import Spec


class LogicalAnd(Predicate, numpy=np.logical_and):
    """x and y."""

    __slots__ = ()


class LogicalOr(Predicate, numpy=np.logical_or):
    """x or y."""

    __slots__ = ()


class LogicalXor(Predicate, numpy=np.logical_xor):
    """One of x and y."""

    __slots__ = ()


class LogicalNot(Step, numpy=np.logical_not):
    """not x."""

    __slots__ = ()


class BitwiseAnd(Predicate, numpy=np.bitwise_and, symbol="&"):
    """x & y."""

    __slots__ = ()
    domain = "integer"


class BitwiseOr(Predicate, numpy=np.bitwise_or, symbol="|"):
    """x | y."""

    __slots__ = ()
    domain = "integer"


class BitwiseXor(Predicate, numpy=np.bitwise_xor, symbol="^"):
    """x ^ y."""

    __slots__ = ()
    domain = "integer"


class Invert(Step, numpy=np.invert, symbol="~"):
    """~x."""

    __slots__ = ()
    domain = "integer"


class LeftShift(Predicate, numpy=np.left_shift, symbol="<<"):
    """x << y."""

    __slots__ = ()
    domain = "integer"


class RightShift(Predicate, numpy=np.right_shift, symbol=">>"):
    """x >> y."""

    __slots__ = ()
    domain = "integer"


class Isnan(Step, numpy=np.isnan):
    """Whether an entry is not a number."""

    __slots__ = ()


class Isfinite(Step, numpy=np.isfinite):
    """Whether an entry is neither infinite nor NaN."""

    __slots__ = ()


class Isinf(Step, numpy=np.isinf):
    """Whether an entry is infinite."""

    __slots__ = ()


class Signbit(Step, numpy=np.signbit):
    """Whether an entry has a minus, -0.0 too."""

    __slots__ = ()
    domain = "nonzero"


@implements(np.isposinf)
def isposinf(x: Any) -> Any:
    return np.logical_and(np.isinf(x), np.logical_not(np.signbit(x)))


@implements(np.isneginf)
def isneginf(x: Any) -> Any:
    return np.logical_and(np.isinf(x), np.signbit(x))


@implements(np.isclose, operands="two")
def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    finite = np.logical_and(np.isfinite(a), np.isfinite(b))
    close = np.less_equal(np.abs(np.where(finite, a, 0) - np.where(finite, b, 0)), atol + rtol * np.abs(b))
    out = np.where(finite, close, np.equal(a, b))
    return np.logical_or(out, np.logical_and(np.isnan(a), np.isnan(b))) if equal_nan else out[()]


@implements(np.allclose, operands="two")
def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    return _truth(np.all(np.isclose(a, b, rtol, atol, equal_nan)))


@implements(np.array_equal, operands="two")
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    if np.shape(a1) != np.shape(a2):
        return False
    same = np.equal(a1, a2)
    return _truth(np.all(np.logical_or(same, np.logical_and(np.isnan(a1), np.isnan(a2))) if equal_nan else same))


@implements(np.array_equiv, operands="two")
def array_equiv(a1: Any, a2: Any) -> Any:
    try:
        np.broadcast_shapes(tuple(np.shape(a1)), tuple(np.shape(a2)))
    except ValueError:
        return False
    return _truth(np.all(np.equal(a1, a2)))


def _truth(value: Any) -> Any:
    """As Python's own, which NumPy gives here."""
    return AsPython(value, to=bool)


@implements(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Numbers for NaN and the infinities; only entries that stay pass a gradient."""
    if x.dtype.kind == "c":
        parts = [nan_to_num(part, copy, nan, posinf, neginf) for part in (np.real(x), np.imag(x))]
        return parts[0] + 1j * parts[1]
    if x.dtype.kind != "f":
        return np.copy(x)[()]
    limits = np.finfo(x.dtype)
    high, low = limits.max if posinf is None else posinf, limits.min if neginf is None else neginf
    rest = np.where(np.equal(x, np.inf), high, np.where(np.equal(x, -np.inf), low, x))
    return np.where(np.isnan(x), nan, rest)[()]


class _Truth(Reduction):
    """A truth of many."""

    __slots__ = ()
    of_numbers = True

    def result_dtype(self, spec: Spec) -> Any:
        return np.dtype(bool)  # of objects alone it would be another

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,)


class AllTrue(_Truth, numpy=np.all):
    """Whether every entry is true."""

    __slots__ = ()


class AnyTrue(_Truth, numpy=np.any):
    """Whether some entry is true."""

    __slots__ = ()


@implements(np.all)
def all_true(a: Any, axis: Any = None, keepdims: bool = False, where: Any = True) -> Any:
    return AllTrue(a if where is True else np.logical_or(a, np.logical_not(where)), axis=axis, keepdims=keepdims)


@implements(np.any)
def any_true(a: Any, axis: Any = None, keepdims: bool = False, where: Any = True) -> Any:
    return AnyTrue(a if where is True else np.logical_and(a, where), axis=axis, keepdims=keepdims)


@method("reduce", np.logical_and)
def reduce_and(a: Any, axis: Any = 0, keepdims: bool = False, where: Any = True) -> Any:
    return np.all(a, axis=axis, keepdims=keepdims, where=where)


@method("reduce", np.logical_or)
def reduce_or(a: Any, axis: Any = 0, keepdims: bool = False, where: Any = True) -> Any:
    return np.any(a, axis=axis, keepdims=keepdims, where=where)
