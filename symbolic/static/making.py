"""What do functions that make arrays out of nothing give? Their shape stands among the arguments, and may be named."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symbolic.leaves import Literal, Weight
from symbolic.nn import initializers
from symbolic.polynomial import Size
from symbolic.spec import Spec, spec_of
from symbolic.static.abstract import UNKNOWN, Answer, Value, is_constant

Maker = Callable[..., Any]
_MAKERS: dict[Any, Maker] = {}


def makes(function: Any) -> bool:
    return function in _MAKERS


def made(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
    """The answer of such a function; `UNKNOWN` for arguments that say too little."""
    maker = _MAKERS[function]
    try:
        bound = inspect.signature(maker).bind(*args, **kwargs)
    except TypeError:  # the run says what is wrong
        return Answer(UNKNOWN)
    return Answer(maker(*bound.args, **bound.kwargs))


def _maker(*functions: Any) -> Callable[[Maker], Maker]:
    def decorate(maker: Maker) -> Maker:
        _MAKERS.update(dict.fromkeys(functions, maker))
        return maker

    return decorate


def _shape(written: Any) -> Any:
    """The shape that an argument says: an entry that is not known is an unknown size."""
    if type(written) in (tuple, list):
        return tuple([_size(one) for one in written])
    size = _size(written)
    scalar = isinstance(written, Value) and isinstance(written.spec, Spec) and written.spec.shape == ()
    return (size,) if size is not None or scalar else None


def _size(written: Any) -> Any:
    whole = isinstance(written, (int, Size)) and not isinstance(written, bool)
    return written if whole and not (isinstance(written, int) and written < 0) else None


def _dtype(written: Any, default: Any) -> Any:
    """The dtype that an argument says; `None` where it is not known."""
    if written is None:
        return None if default is None else np.dtype(default)
    if isinstance(written, Value) or not is_constant(written):
        return None
    try:
        return np.dtype(written)
    except TypeError:
        return None


@_maker(np.zeros, np.ones, np.empty)
def _filled(shape: Any, dtype: Any = None, order: Any = "C", **kwargs: Any) -> Value:
    return Value(Spec(_shape(shape), _dtype(dtype, float)))


@_maker(np.full)
def _full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", **kwargs: Any) -> Value:
    if dtype is None and type(fill_value) in (bool, int, float, complex):
        return Value(Spec(_shape(shape), np.dtype(type(fill_value))))
    if dtype is None and isinstance(fill_value, Value) and isinstance(fill_value.spec, Spec):
        return Value(Spec(_shape(shape), fill_value.spec.dtype))
    return Value(Spec(_shape(shape), _dtype(dtype, None)))


@_maker(np.eye, np.tri)
def _eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = None, **kwargs: Any) -> Value:
    return Value(Spec((_size(N), _size(N if M is None else M)), _dtype(dtype, float)))


@_maker(np.identity)
def _identity(n: Any, dtype: Any = None, **kwargs: Any) -> Value:
    return Value(Spec((_size(n), _size(n)), _dtype(dtype, float)))


@_maker(np.linspace, np.logspace, np.geomspace)
def _spaced(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, *args: Any, **kwargs: Any) -> Any:
    plain = all(isinstance(one, (int, float, Size)) for one in (start, stop)) and not args
    if not plain or not set(kwargs) <= {"dtype", "base"}:
        return UNKNOWN
    return Value(Spec((_size(num),), _dtype(kwargs.get("dtype"), float)))


@_maker(np.arange)
def _arange(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
    if not args or len(args) > 3 or kwargs:
        return UNKNOWN
    whole = all(isinstance(one, (int, Size)) and not isinstance(one, bool) for one in args)
    real = all(isinstance(one, (int, float, Size)) for one in args)
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
    size: Any = None
    if whole and step == 1 and (isinstance(start, int) or isinstance(stop, Size)):
        size = stop - start
    if whole and all(isinstance(one, int) for one in args) and step:
        size = len(range(start, stop, step))
    known = np.dtype(int) if whole else np.dtype(float) if real else None
    return Value(Spec((_size(size),), _dtype(dtype, known)))


def _initial(*shape: Any, dtype: Any = None, **kwargs: Any) -> Value:
    sizes = shape[0] if len(shape) == 1 and type(shape[0]) in (tuple, list) else shape
    return Value(Spec(_shape(tuple(sizes)), _dtype(dtype, float)))


for _name in ("he", "lecun", "glorot", "orthogonal", "normal", "truncated_normal", "uniform", "zeros", "ones"):
    _MAKERS[getattr(initializers, _name)] = _initial
_MAKERS[initializers.constant] = _initial


@_maker(Literal, Weight)
def _leaf(value: Any, optimizer: Any = None, name: str = "") -> Any:
    """A constant or a weight: it has the spec of what it starts from."""
    if isinstance(value, Value):
        return value
    return Value(spec_of(value)) if type(value) in (bool, int, float, complex, str) else UNKNOWN
