"""Where does Python want one number, and where a whole one? An array has no truth, and half an axis is no size."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from symbolic.polynomial import Size
from symbolic.spec import Spec, show
from symbolic.static.abstract import Finding, Value

_NUMBERS = {float, int, complex}
_MATH = {one for name, one in vars(math).items() if callable(one) and name not in ("prod", "fsum", "nextafter")}
_TRUTHS = {operator.truth, bool}
_EXTREMES = {max: "np.maximum(a, b)", min: "np.minimum(a, b)"}
_OF_SHAPE = {np.zeros, np.ones, np.empty, np.full, np.eye, np.identity, np.tri}
_SECOND = {np.reshape, np.broadcast_to, "reshape"}
_OWN_NAMES = ("shape", "newshape", "N", "M", "n")
_ALL = {range, operator.getitem, *_NUMBERS, *_MATH, *_TRUTHS, *_EXTREMES, *_OF_SHAPE, *_SECOND}


def unwanted(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Finding | None:
    """What Python itself will refuse of these arguments, whatever else is done with them.

    >>> unwanted(operator.truth, [Value(Spec((3,), np.dtype(bool)))], {}).seen
    'the truth of an array of shape (3,) is asked, which has one for each entry'
    """
    if not isinstance(function, Hashable) or function not in _ALL:
        return None
    if function in _TRUTHS and len(args) == 1:
        return _truth(args[0])
    if function in _EXTREMES:
        several = next((one for one in args if _is_several(one)), None) if len(args) > 1 and not kwargs else None
        return None if several is None else _extreme(function, several)
    if function in _NUMBERS or function in _MATH:
        return _number(function, args[0]) if len(args) == 1 and _is_several(args[0]) else None
    return _sizes(function, args, kwargs)


def _truth(value: Any) -> Finding | None:
    if not _is_several(value):
        return None
    seen = f"the truth of an array of shape {show(value.spec.shape)} is asked, which has one for each entry"
    remedy = "use .any() or .all(), np.where for a choice by entry, or & and | with brackets around comparisons"
    return Finding(seen, remedy, "symbolic-shape")


def _extreme(function: Callable[..., Any], value: Value) -> Finding:
    name = function.__name__
    seen = f"Python's {name} of an array of shape {_shape(value)} beside another value, which it compares as a whole"
    return Finding(seen, f"write {_EXTREMES[function]}, which goes entry by entry", "symbolic-shape")


def _number(function: Any, value: Value) -> Finding:
    is_math = function in _MATH
    name = f"math.{function.__name__}" if is_math else f"{function.__name__}()"
    known = is_math and hasattr(np, function.__name__)
    remedy = f"write np.{function.__name__}" if known else "reduce it to one number, or index it"
    return Finding(f"{name} of an array of shape {_shape(value)}, where one number is needed", remedy, "symbolic-shape")


def _sizes(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Finding | None:
    """A number with a fraction where sizes and bounds are: what `/` gives is one, whatever it divides."""
    named = [kwargs[name] for name in _OWN_NAMES if name in kwargs]
    if function is range:
        return _whole(args, "range()")
    if function is operator.getitem and len(args) == 2:
        return _whole([_bounds(one) for one in (args[1] if type(args[1]) is tuple else (args[1],))], "a slice")
    if function in _OF_SHAPE:
        return _whole([*args[: 2 if function in (np.eye, np.tri) else 1], *named], "a shape")
    if function in _SECOND:
        return _whole([*(args[1:] if function == "reshape" else args[1:2]), *named], "a shape")
    return None


def _bounds(index: Any) -> Any:
    return [index.start, index.stop, index.step] if type(index) is slice else []


def _whole(values: Any, what: str) -> Finding | None:
    if type(values) in (tuple, list):
        return next((found for one in values if (found := _whole(one, what)) is not None), None)
    if type(values) is not float and not _is_real(values):
        return None
    seen = f"a number of type float in {what}, where whole numbers are needed"
    return Finding(seen, "divide by //, or convert it with int()", "symbolic-dtype")


def _is_real(value: Any) -> bool:
    """Whether a value is one number that has a fraction; of one that came of nothing known it is not certain."""
    if not isinstance(value, Value) or not isinstance(value.spec, Spec) or value.loose:
        return False
    return value.spec.shape == () and value.spec.dtype is not None and value.spec.dtype.kind in "fc"


def _is_several(value: Any) -> bool:
    """Whether a value is an array of more, or fewer, than one entry; a name is no 1."""
    if not isinstance(value, Value) or not isinstance(value.spec, Spec) or not value.spec.shape:
        return False
    return any(isinstance(size, Size) or (type(size) is int and size != 1) for size in value.spec.shape)


def _shape(value: Any) -> str:
    return show(value.spec.shape)
