"""Is a dtype meant that NumPy gives in silence? Twice the memory, a wrapped difference, whole numbers made floats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symbolic.spec import AnySpec, Spec, TupleSpec
from symbolic.static.abstract import Value
from symbolic.static.lint import Met, Sentence, typed
from symbolic.static.meanings import BINARY, arrays, dtype_of, is_in_place, shape_of
from symbolic.static.provenance import WEIGHT, Origin, origin_of

_JOINING = {
    *("concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "append", "where", "block"),
    *("matmul", "dot", "einsum", "inner", "outer", "tensordot", "vdot", "kron", "cross", "convolve", "correlate"),
    *("clip", "vecdot", "matvec", "vecmat"),
}
PROMOTING = BINARY | _JOINING
"""Functions whose result has the dtype to which all their operands are promoted."""

_OF_MATH = frozenset(name for name in dir(math) if isinstance(getattr(np, name, None), np.ufunc))
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_SIGNED, _UNSIGNED = np.dtype(np.int64), np.dtype(np.uint64)


def float32_made_float64(at: Met) -> Sentence:
    """One operand of float64 makes the result float64; a Python float would not."""
    if not _is(at.value, _DOUBLE) or _is_chosen(at):
        return None
    given = arrays(at.args, at.kwargs)
    single = next((one for one in given if _is(one, _SINGLE) and shape_of(one) != ()), None)
    if single is None:
        return None
    double = next((one for one in given if _is(one, _DOUBLE) and not _is_weight(one)), None)
    if double is None or _declares(at.provenance.returns, _DOUBLE):
        return None
    is_number = shape_of(double) == ()
    seen = f"{at.name} of {typed(single)} and {typed(double)} is float64"
    if is_number:
        return f"{seen}: NumPy's numbers are not weak, as Python's are", _as_weak(origin_of(double))
    return seen, "convert one of them: .astype(np.float32)"


def _as_weak(origin: Origin | None) -> str:
    """How a number of NumPy's no longer decides about the dtype: `math` has many of its functions."""
    if origin is not None and origin.roots:
        return "convert it: .astype(np.float32)"
    known = origin is not None and origin.name in _OF_MATH
    return f"write math.{origin.name}(…), or float(…) around it" if origin and known else "write float(…) around it"


def _is(value: Any, dtype: np.dtype[Any]) -> bool:
    found = dtype_of(value)
    return found is not None and found == dtype  # None is equal to float64


def _is_weight(value: Value) -> bool:
    """Whether it is a weight as it was made: their float64 is this library's own default."""
    origin = origin_of(value)
    return origin is not None and origin.name == "" and origin.carried == {WEIGHT}


def _is_chosen(at: Met) -> bool:
    """Whether the program says which dtype it wants."""
    return "dtype" in at.kwargs or "out" in at.kwargs or is_in_place(at.function, at.args, at.kwargs)


def _declares(spec: AnySpec | None, dtype: np.dtype[Any]) -> bool:
    """Whether a function says that it returns this dtype: then it is no surprise."""
    if isinstance(spec, TupleSpec):
        return any(_declares(one, dtype) for one in spec)
    return isinstance(spec, Spec) and spec.shape != () and _is(Value(spec), dtype)


def int64_with_uint64(at: Met) -> Sentence:
    """No integer type holds both, so NumPy takes float64, which holds neither."""
    if not _is(at.value, _DOUBLE) or _is_chosen(at):
        return None
    given = arrays(at.args, at.kwargs)
    signed = next((one for one in given if _kind(one) == "i"), None)
    unsigned = next((one for one in given if _is(one, _UNSIGNED)), None)
    if signed is None or unsigned is None or not all(_kind(one) in ("i", "u", "b", "") for one in given):
        return None
    if _is_of_floats(at.name) or _declares(at.provenance.returns, _DOUBLE):
        return None
    return (
        f"{at.name} of {typed(signed)} and {typed(unsigned)} is float64, which is not exact from 2**53 on",
        "convert one of them: .astype(np.int64) or np.uint64, whichever holds all values of both",
    )


def _kind(value: Value) -> str:
    dtype = dtype_of(value)
    return "" if dtype is None else dtype.kind


def _is_of_floats(name: str) -> bool:
    """Whether a function gives floats of any integers."""
    ufunc = getattr(np, name, None)
    if not isinstance(ufunc, np.ufunc) or ufunc.nin != 2 or ufunc.signature is not None:
        return False
    return ufunc.resolve_dtypes((_SIGNED, _SIGNED, None))[-1].kind == "f"


# --------------------------------------------------------------------------- whole numbers


def integer_division_in_place(at: Met) -> Sentence:
    """`x /= 2` of integers: the quotient does not fit into them."""
    if not at.args or not is_in_place(at.function, at.args, at.kwargs):
        return None
    dtype = dtype_of(at.args[0])
    if dtype is None or dtype.kind not in "iub" or shape_of(at.args[0]) == ():
        return None
    name = at.name_or(0, "x")
    return (
        f"the quotient of {typed(at.args[0])} in place is float64, which does not fit into it",
        f"write {name} = {name} / …, or {name} //= … for whole numbers",
    )


def unsigned_subtraction(at: Met) -> Sentence:
    """`a - b` without signs wraps where b is greater."""
    if at.name in ("diff", "ediff1d"):
        return _unsigned_differences(at)
    if len(at.args) < 2 or not isinstance(at.args[0], Value):
        return None
    dtype = dtype_of(at.value)
    if dtype is None or dtype.kind != "u" or _kind(at.args[0]) != "u":
        return None
    if not isinstance(at.args[1], Value):
        is_positive = type(at.args[1]) is int and at.args[1] > 0
    else:
        is_positive = not _is_below(origin_of(at.args[0]), origin_of(at.args[1]))
    if not is_positive:
        return None
    return (
        f"{typed(at.args[0])} minus {typed(at.args[1])} is {dtype}, and wraps around below 0",
        "convert them first: .astype(np.int64), or a float type",
    )


def _unsigned_differences(at: Met) -> Sentence:
    """Differences of neighbours, unless each is at least the one before it."""
    dtype = dtype_of(at.args[0]) if at.args else None
    origin = origin_of(at.args[0]) if at.args else None
    if dtype is None or dtype.kind != "u" or origin is None or origin.name in _RISING:
        return None
    seen = f"the differences of {typed(at.args[0])} are {dtype}, and wrap around below 0"
    return seen, "convert it first: .astype(np.int64), or a float type"


_RISING = ("sort", "unique", "cumsum", "arange", "flatnonzero", "maximum.accumulate")


def _is_below(one: Origin | None, other: Origin | None) -> bool:
    """Whether the subtrahend may be one that is never greater, as a part or a minimum; also where nothing is known."""
    if one is None or other is None or not one.complete or not other.complete:
        return True
    if one.frames & other.frames:
        return True  # `x - x % 2`, `np.maximum(x, y) - y`
    least = any(found.name in ("min", "nanmin") and found.frames & one.frames for found in other.reductions)
    most = any(found.name in ("max", "nanmax") and found.frames & other.frames for found in one.reductions)
    return least or most or bool(_extremes(one, other))


def _extremes(one: Origin, other: Origin) -> bool:
    """The maximum and the minimum of one array, over the same axes."""
    return any(
        a.frames & b.frames and a.name == "max" and b.name == "min" for a in one.reductions for b in other.reductions
    )
