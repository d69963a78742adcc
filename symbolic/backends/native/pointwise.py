"""What does one operation on entries look like in LLVM? By NumPy's names; `elementary` writes transcendental ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symbolic.backends.native import elementary
from symbolic.backends.native.text import Function, Value

_ELEMENTS = {"f8": "double", "f4": "float", "b1": "i1", "i8": "i64", "i4": "i32", "i2": "i16", "i1": "i8"}
_ELEMENTS |= {"u8": "i64", "u4": "i32", "u2": "i16", "u1": "i8"}


def element(dtype: np.dtype[Any]) -> str:
    """The type of an entry while it is computed with."""
    return _ELEMENTS[dtype.str[1:]]


def stored(dtype: np.dtype[Any]) -> str:
    """The type of an entry in memory: a Boolean has a byte."""
    return "i8" if dtype.kind == "b" else element(dtype)


def holds(dtype: np.dtype[Any], number: int | None) -> bool:
    """Whether an integer of Python's is one of a dtype's numbers, as NumPy asks; `None` may be any of a word."""
    if dtype.kind not in "iu":
        return True
    if number is None:
        return dtype == np.int64
    limits = np.iinfo(dtype)
    return int(limits.min) <= number <= int(limits.max)


def from_memory(f: Function, a: Value, dtype: np.dtype[Any]) -> Value:
    """What was read, as it is computed with."""
    return f.compare("ne", a, f.like(a, 0)) if dtype.kind == "b" else a


def to_memory(f: Function, a: Value) -> Value:
    """What was computed, as it is written."""
    return f.convert("zext", a, "i8") if a.element == "i1" else a


def cast(f: Function, a: Value, source: np.dtype[Any], to: np.dtype[Any]) -> Value:
    """As `astype` does. Numbers out of an integer's range have no meaning there either."""
    if source == to:
        return a
    if to.kind == "b":
        zero = f.like(a, 0)
        return f.compare("une" if a.is_float else "ne", a, zero)
    kind = element(to)
    if source.kind == "f":
        if to.kind == "f":
            return f.convert("fpext" if to.itemsize > source.itemsize else "fptrunc", a, kind)
        return f.convert("fptosi" if to.kind == "i" else "fptoui", a, kind)
    if to.kind == "f":
        return f.convert("sitofp" if source.kind == "i" else "uitofp", a, kind)
    if source.kind != "b" and to.itemsize == source.itemsize:
        return a
    if source.kind != "b" and to.itemsize < source.itemsize:
        return f.convert("trunc", a, kind)
    return f.convert("sext" if source.kind == "i" else "zext", a, kind)


def _add(f: Function, dtype: Any, a: Value, b: Value) -> Value:
    return f.bits("or", a, b) if dtype.kind == "b" else f.add(a, b)


def _multiply(f: Function, dtype: Any, a: Value, b: Value) -> Value:
    return f.bits("and", a, b) if dtype.kind == "b" else f.mul(a, b)


def _absolute(f: Function, dtype: Any, a: Value) -> Value:
    if dtype.kind != "i":
        return a
    return f.select(f.compare("slt", a, f.like(a, 0)), f.neg(a), a)


def _extreme(how: str) -> Callable[..., Value]:
    def write(f: Function, dtype: Any, a: Value, b: Value) -> Value:
        if dtype.kind == "b":
            return f.bits("or" if how == "ge" else "and", a, b)
        return f.select(f.compare(("s" if dtype.kind == "i" else "u") + how, a, b), a, b)

    return write


def _comparison(how: str) -> Callable[..., Value]:
    def write(f: Function, dtype: Any, a: Value, b: Value) -> Value:
        if a.is_float:
            return f.compare(("u" if how == "ne" else "o") + how, a, b)
        return _compare(f, how, dtype.kind == "i", a, b)

    return write


def _compare(f: Function, how: str, signed: bool, a: Value, b: Value) -> Value:
    return f.compare(how if how in ("eq", "ne") else ("s" if signed else "u") + how, a, b)


def _compare_mixed(f: Function, function: str, kinds: str, a: Value, b: Value) -> Value:
    """Of a whole number with a sign and one without: a negative one is less than all of these."""
    how = _COMPARED[function]
    of = a if kinds[0] == "i" else b
    negative = f.compare("slt", of, f.like(of, 0))
    truth = how == "ne" or how[0] == ("l" if of is a else "g")
    same_sign = _compare(f, how, False, a, b)
    return f.bits("or", same_sign, negative) if truth else f.bits("and", same_sign, f.invert(negative))


_COMPARED = {"greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "equal": "eq", "not_equal": "ne"}


def _truth(f: Function, a: Value) -> Value:
    if a.element == "i1":
        return a
    return f.compare("une" if a.is_float else "ne", a, f.like(a, 0))


def _logical(operation: str) -> Callable[..., Value]:
    return lambda f, dtype, a, b: f.bits(operation, _truth(f, a), _truth(f, b))


def _isfinite(f: Function, dtype: Any, a: Value) -> Value:
    return f.compare("one", f.intrinsic("fabs", a), f.like(a, float("inf")))  # NaN compares with nothing


def _isinf(f: Function, dtype: Any, a: Value) -> Value:
    return f.compare("oeq", f.intrinsic("fabs", a), f.like(a, float("inf")))


def _sign(f: Function, dtype: Any, a: Value) -> Value:
    zero, one = f.like(a, 0), f.like(a, 1)
    found = f.select(f.compare("ne" if dtype.kind == "u" else "sgt", a, zero), one, zero)
    return found if dtype.kind == "u" else f.select(f.compare("slt", a, zero), f.like(a, -1), found)


def _peak(f: Function, dtype: Any, a: Value) -> Value:
    """A maximum from which exponents are measured: 0 where it is not finite."""
    return f.select(_isfinite(f, dtype, a), a, f.like(a, 0))


def _remainder(f: Function, dtype: Any, a: Value, b: Value) -> Value:
    """Of whole numbers by a positive one: never below zero."""
    if dtype.kind == "u":
        return f.two("urem", a, b)
    left = f.two("srem", a, b)
    return f.select(f.compare("slt", left, f.like(left, 0)), f.add(left, b), left)


def _floor_divide(f: Function, dtype: Any, a: Value, b: Value) -> Value:
    if dtype.kind == "u":
        return f.two("udiv", a, b)
    left = f.compare("slt", f.two("srem", a, b), f.like(a, 0))
    whole = f.two("sdiv", a, b)
    return f.select(left, f.sub(whole, f.like(whole, 1)), whole)


def _share(f: Function, dtype: Any, a: Value, b: Value) -> Value:
    """How much of the larger of two belongs to the first."""
    tied = f.select(f.compare("oeq", a, b), f.like(a, 0.5), f.like(a, 0))
    return f.select(f.compare("ogt", a, b), f.like(a, 1), tied)


def _heaviside(f: Function, a: Value, b: Value) -> Value:
    at_zero = f.select(f.compare("oeq", a, f.like(a, 0)), b, a)  # a NaN stays
    below = f.select(f.compare("olt", a, f.like(a, 0)), f.like(a, 0), at_zero)
    return f.select(f.compare("ogt", a, f.like(a, 0)), f.like(a, 1), below)


def _chain(f: Function, dtype: Any, delta: Value, factor: Value) -> Value:
    """A delta that is 0 stays 0, whatever it is multiplied by; see `Chain`."""
    kept = f.bits("or", f.compare("une", delta, f.like(delta, 0)), _isfinite(f, dtype, factor))
    return f.mul(delta, f.select(kept, factor, f.like(factor, 0)))


def _bits(operation: str) -> Callable[..., Value]:
    return lambda f, dtype, a, b: f.bits(operation, a, b)


BASIC: dict[str, Callable[..., Value]] = {
    "add": _add,
    "subtract": lambda f, dtype, a, b: f.sub(a, b),
    "multiply": _multiply,
    "divide": lambda f, dtype, a, b: f.div(a, b),
    "negative": lambda f, dtype, a: f.neg(a),
    "positive": lambda f, dtype, a: a,
    "square": lambda f, dtype, a: _multiply(f, dtype, a, a),
    "reciprocal": lambda f, dtype, a: f.div(f.like(a, 1), a),
    **{function: _comparison(how) for function, how in _COMPARED.items()},
    "logical_and": _logical("and"),
    "logical_or": _logical("or"),
    "logical_xor": _logical("xor"),
    "logical_not": lambda f, dtype, a: f.invert(_truth(f, a)),
    "isnan": lambda f, dtype, a: f.compare("uno", a, a),
    "isinf": _isinf,
    "isfinite": _isfinite,
    "where": lambda f, dtype, c, a, b: f.select(c, a, b),
    "bitwise_and": _bits("and"),
    "bitwise_or": _bits("or"),
    "bitwise_xor": _bits("xor"),
    "invert": lambda f, dtype, a: f.invert(a),
    "peak": _peak,
    "share": _share,
    "relu": lambda f, dtype, a: f.select(f.compare("ole", a, f.like(a, 0)), f.like(a, 0), a),  # NaN stays
    "conjugate": lambda f, dtype, a: a,
    "signbit": lambda f, dtype, a: f.compare("slt", f.as_bits(a), f.like(f.as_bits(a), 0)),
    "degrees": lambda f, dtype, a: f.mul(a, f.like(a, 180 / math.pi)),
    "radians": lambda f, dtype, a: f.mul(a, f.like(a, math.pi / 180)),
    "heaviside": lambda f, dtype, a, b: _heaviside(f, a, b),
    "chain": lambda f, dtype, a, b: _chain(f, dtype, a, b),
}
"""What `elementary` has not, of entries of any kind."""
_WHOLE: dict[str, Callable[..., Value]] = {
    "absolute": _absolute,
    "sign": _sign,
    "maximum": _extreme("ge"),
    "minimum": _extreme("le"),
    "remainder": _remainder,
    "floor_divide": _floor_divide,
}
"""Of whole numbers and Booleans what `elementary` has of the others."""
_ALIASES = {"fabs": "absolute", "float_power": "power"}
_FLOATS_ONLY = {"divide", "reciprocal", "isnan", "isinf", "isfinite", "peak", "share"}
_FLOATS_ONLY |= {"relu", "signbit", "degrees", "radians", "heaviside", "chain"}
_NO_BOOLEANS = {"remainder", "floor_divide", "subtract", "negative", "positive", "absolute", "sign", "square"}
_BITWISE = {"bitwise_and", "bitwise_or", "bitwise_xor", "invert"}


def supports(function: str, inner: Sequence[np.dtype[Any]], out: np.dtype[Any]) -> bool:
    """Whether entries of these dtypes can be computed so."""
    if any(one.str[1:] not in _ELEMENTS or not one.isnative for one in (*inner, out)):
        return False
    kinds = {one.kind for one in inner}
    if function == "cast":
        return not (inner[0].kind == "f" and out.kind in "iu")  # out of range NumPy and LLVM differ
    if function in BASIC or (function in _WHOLE and "f" not in kinds):
        if function in _FLOATS_ONLY:
            return kinds == {"f"}
        if function in _NO_BOOLEANS:
            return "b" not in kinds
        return function not in _BITWISE or "f" not in kinds
    return _ALIASES.get(function, function) in elementary.ELEMENTARY and kinds == {"f"} and out.kind == "f"


def write(f: Function, function: str, values: Sequence[Value], inner: Sequence[np.dtype[Any]]) -> Value:
    """The result on values that have been brought to the inner dtypes."""
    kinds = "".join([one.kind for one in inner])
    if function in _COMPARED and kinds in ("iu", "ui"):
        return _compare_mixed(f, function, kinds, *values)
    if function in BASIC:
        return BASIC[function](f, inner[-1] if function == "where" else inner[0], *values)
    if function in _WHOLE and inner[0].kind != "f":
        return _WHOLE[function](f, inner[0], *values)
    name = _ALIASES.get(function, function)
    f.module.uses[name] += not is_short(name)
    return elementary.write(f, name, *values, inline=f.module.uses[name] <= _INLINE)


def is_short(function: str) -> bool:
    """Whether it is a few instructions."""
    return function in BASIC or function in elementary.SHORT


_INLINE = 16
"""Uses of an elementary function that are written out; a program of thousands calls it, which compiles in less time."""


__all__ = ["BASIC", "cast", "element", "from_memory", "holds", "is_short", "stored", "supports", "to_memory", "write"]
