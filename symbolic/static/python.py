"""What do Python's own operators and functions give for constants, for sizes, and for values that are not arrays?

Everything here is pure, and bounded: no power of a hundred thousand digits is computed for a checker.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symbolic.errors import ShapeError
from symbolic.polynomial import Rest, Size, Undecided
from symbolic.spec import PYTHON_DTYPES, Spec, broadcast
from symbolic.static.abstract import UNKNOWN, Answer, Value, finding, is_constant
from symbolic.static.nesting import leaves

_DIGITS = 512
"""Bits of a whole number that is followed."""
_ENTRIES = 10_000
"""Entries of a list or a text that is followed."""
_COUNTING = {math.factorial, math.comb, math.perm}
_GROWING = {operator.mul, operator.pow, operator.lshift, pow, *_COUNTING}

_OPERATORS = {
    getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "pos", "abs", "invert", "index", "concat"),
        *("eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "xor", "lshift", "rshift", "not_", "truth", "getitem"),
        *("contains", "is_", "is_not"),
    )
}
_FUNCTIONS = {abs, bool, complex, divmod, float, int, len, max, min, pow, round, sum, tuple, list, sorted, str}
_OF_NUMPY = {np.dtype, np.finfo, np.iinfo, np.issubdtype, np.promote_types, np.broadcast_shapes, np.isscalar}


def is_pure(function: Any) -> bool:
    """Whether a function may be called with constants."""
    return function in _OPERATORS or function in _FUNCTIONS or function in _OF_NUMPY or _is_math(function)


def _is_math(function: Any) -> bool:
    return getattr(function, "__module__", None) == "math" and getattr(function, "__name__", "") != "nextafter"


def python_value(kind: type) -> Value:
    """A number of Python's own of which only the type is known."""
    return Value(Spec((), PYTHON_DTYPES[kind], kind))


def folded(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer | None:
    """The answer of a pure function of constants; `None` where that is for the rules of arrays."""
    if function is operator.getitem and len(args) == 2 and _is_structure(args[0]):
        return Answer(_entry(args))
    if function is len and len(args) == 1 and _is_structure(args[0]):
        return Answer(_length(args[0]))
    if function is np.broadcast_shapes:
        return _broadcast([_shape_of(one) for one in args])
    given = (*args, *kwargs.values())
    if not is_pure(function) or not all(map(_is_plain, given)):
        return None
    if function in _GROWING and not _is_small(function, given):
        return Answer(UNKNOWN)
    try:
        found = function(*args, **kwargs)
    except (Undecided, TypeError):
        return _of_sizes(function, given)
    except Exception:  # Python says what is wrong when the program runs
        return Answer(UNKNOWN)
    return Answer(found if _is_kept(found) else UNKNOWN)


def _shape_of(value: Any) -> Any:
    """An argument that is a shape, or a size, with `None` for a size that is not known; `None` for any other."""
    sizes = tuple(value) if type(value) in (tuple, list) else (value,)
    known = [one if isinstance(one, (int, Size)) else None for one in sizes]
    is_shape = all(isinstance(one, (int, Size)) or _is_number(one) for one in sizes)
    return tuple(known) if is_shape else None


def _is_number(value: Any) -> bool:
    return isinstance(value, Value) and isinstance(value.spec, Spec) and value.spec.shape == ()


def _broadcast(shapes: Sequence[Any]) -> Answer:
    """What `np.broadcast_shapes` gives, and what it would refuse."""
    try:
        found: Any = broadcast(shapes)
    except ShapeError as error:
        return Answer(UNKNOWN, finding(error))
    except Undecided:
        return Answer(UNKNOWN)
    return Answer(UNKNOWN if found is None else tuple([python_value(int) if one is None else one for one in found]))


def _is_structure(value: Any) -> bool:
    return isinstance(value, (tuple, list, str, dict)) and not isinstance(value, Value)


def _entry(args: Sequence[Any]) -> Any:
    """`shape[-1]`, also of a shape in which any number of axes stands."""
    whole, index = args[0], args[1]
    if isinstance(index, (Value, Size)) or index is UNKNOWN:
        return UNKNOWN
    if isinstance(whole, (tuple, list)):
        star = next((k for k, one in enumerate(whole) if isinstance(one, Rest)), None)
        inside = isinstance(index, int) and star is not None and not -(len(whole) - star) < index < star
        if inside or (star is not None and not isinstance(index, int)):
            return UNKNOWN
    try:
        return operator.getitem(whole, index)
    except Exception:  # an index that is not there is an error of Python's, when the program runs
        return UNKNOWN


def _length(whole: Any) -> Any:
    return python_value(int) if any(isinstance(one, Rest) for one in whole) else len(whole)


def _is_plain(value: Any) -> bool:
    """Whether an argument is a constant through and through."""
    if isinstance(value, Value) or value is UNKNOWN or isinstance(value, Rest):
        return False
    if isinstance(value, (tuple, list)):
        return len(value) <= _ENTRIES and all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return is_constant(value) or value is np.newaxis or isinstance(value, slice)


def _is_small(function: Any, given: Sequence[Any]) -> bool:
    """Whether a product or a power of these stays within bounds."""
    if function in _COUNTING:
        return all(isinstance(one, int) and abs(one) <= _DIGITS for one in given)
    if function in (operator.pow, pow, operator.lshift) and len(given) > 1 and isinstance(given[1], int):
        base = given[0].bit_length() if isinstance(given[0], int) else 1
        return max(base, 1) * max(given[1], 0) <= _DIGITS if isinstance(given[0], (int, Size)) else True
    lengths = [len(one) for one in given if isinstance(one, (tuple, list, str, bytes))]
    times = [abs(one) for one in given if isinstance(one, int)]
    return not lengths or not times or lengths[0] * times[0] <= _ENTRIES


def _is_kept(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return len(value) <= _ENTRIES and all(map(_is_kept, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return value.bit_length() <= _DIGITS
    return is_constant(value) and (not isinstance(value, (str, bytes)) or len(value) <= _ENTRIES)


_COMPARING = {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.not_, bool}


def _of_sizes(function: Any, given: Sequence[Any]) -> Answer:
    """The type of what is undecided: half of a size is a float, a comparison of sizes a Boolean."""
    if not any(isinstance(one, Size) for one in leaves(given)):
        return Answer(UNKNOWN)
    if function in _COMPARING:
        return Answer(python_value(bool))
    if function is operator.truediv or function is float or _is_math(function):
        return Answer(python_value(float)) if function is not math.floor else Answer(python_value(int))
    whole = function in (min, max, int, round, pow, operator.pow, operator.lshift, operator.rshift, abs)
    is_whole = all(isinstance(one, (int, Size)) for one in leaves(given))
    return Answer(python_value(int)) if whole and is_whole else Answer(UNKNOWN)


# --------------------------------------------------------------------------- of values


def _to_int(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
    return Answer(python_value(int))


def _to_bool(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
    return Answer(python_value(bool))


def _of_layer(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
    """`len(x)`: its first size."""
    spec = args[0].spec if isinstance(args[0], Value) else None
    if isinstance(spec, Spec) and spec.shape and spec.shape[0] is not None and not isinstance(spec.shape[0], Rest):
        return Answer(spec.shape[0])
    return Answer(python_value(int))


def _one_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
    """`max(a, b)`: one of the values, whichever it is."""
    if kwargs or not args:
        return Answer(UNKNOWN)
    entries = list(args[0]) if len(args) == 1 and _is_structure(args[0]) else list(args)
    if len(args) == 1 and isinstance(args[0], Value):
        spec = args[0].spec
        is_vector = isinstance(spec, Spec) and spec.shape is not None and len(spec.shape) == 1
        return Answer(Value(Spec((), spec.dtype)) if is_vector and isinstance(spec, Spec) else UNKNOWN)
    specs = [_scalar(one) for one in entries]
    if not specs or not all(isinstance(one, Spec) and one.shape == () for one in specs):
        return Answer(UNKNOWN)
    same = all(one == specs[0] for one in specs)
    return Answer(Value(specs[0]) if same else Value(Spec(())))  # type: ignore[arg-type]  # they are specs


def _scalar(value: Any) -> Spec | None:
    if isinstance(value, Value):
        return value.spec if isinstance(value.spec, Spec) else None
    if isinstance(value, Size):
        return Spec((), PYTHON_DTYPES[int], int)
    return Spec((), PYTHON_DTYPES[type(value)], type(value)) if type(value) in PYTHON_DTYPES else None


OF_VALUES: dict[Any, Callable[[Sequence[Any], Mapping[str, Any]], Answer]] = {
    int: _to_int,
    math.floor: _to_int,
    math.ceil: _to_int,
    math.trunc: _to_int,
    operator.index: _to_int,
    bool: _to_bool,
    operator.not_: _to_bool,
    operator.truth: _to_bool,
    operator.contains: _to_bool,
    operator.is_: _to_bool,
    operator.is_not: _to_bool,
    math.isnan: _to_bool,
    math.isinf: _to_bool,
    math.isfinite: _to_bool,
    math.isclose: _to_bool,
    builtins.len: _of_layer,
    max: _one_of,
    min: _one_of,
}
"""Functions whose answer only a run knows, of which the type is known."""
