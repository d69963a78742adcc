"""What do a body's own arrays stand for? Arrays that it makes are layers too, so that traced values can be written in.

`np.zeros(n)` followed by `y[i] = traced`, `np.array([a, b])`, `np.full(n, x)`: reached through the rewritten code of
the body. A constant array costs nothing: it is a constant of the program, and whoever needs its numbers gets them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symbolic.callees import MAKING
from symbolic.context import here
from symbolic.errors import ShapeError
from symbolic.layer import Layer, Lent, plainly, refuse
from symbolic.leaves import Literal
from symbolic.literal import as_layer
from symbolic.ops.operation import Operation
from symbolic.ops.operation import array as array_spec
from symbolic.ops.passing import Cast
from symbolic.ops.python import as_python
from symbolic.sizes import Shape
from symbolic.spec import AnySpec


class Made(Literal[Any, Any]):
    """An array that a body has made: a constant, until something is assigned to it."""

    __slots__ = ()


def made(array: Any) -> Any:
    """A new array as a layer, if traced values can be written into it: an array of numbers."""
    if type(array) is np.ndarray and array.dtype.kind in "fciub":
        return Made(array)
    return array


def making(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(formula: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            MAKING[function] = formula
        return formula

    return decorate


class Box(Operation):
    """A number as an array without axes, into which can be written: `np.array(x[0])`."""

    __slots__ = ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        return array_spec(specs[0])._replace(python=None)

    def evaluate(self, *values: Any) -> Any:
        return np.array(values[0])

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (delta,)


# --------------------------------------------------------------------------- out of nothing


def _maker(function: Callable[..., Any]) -> None:
    def make(*args: Any, **kwargs: Any) -> Any:
        return made(function(*map(_plain, args), **{name: _plain(one) for name, one in kwargs.items()}))

    MAKING[function] = make


def _plain(value: Any) -> Any:
    """A shape that is read now; its sizes become guards."""
    return tuple(value) if isinstance(value, Shape) else value


for _maker_function in (np.zeros, np.ones, np.eye, np.identity, np.tri, np.ndindex, np.indices):
    _maker(_maker_function)
MAKING[np.empty] = MAKING[np.zeros]  # what lies in memory is another at each run


@making(np.full)
def full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", **kwargs: Any) -> Any:
    if not is_traced(fill_value):
        return made(np.full(_plain(shape), fill_value, dtype=dtype, order=order, **kwargs))
    value = array(fill_value) if isinstance(fill_value, (list, tuple)) else fill_value
    shape = tuple(shape) if not isinstance(shape, (int, np.integer, Layer)) else (int(shape),)
    return np.full_like(np.broadcast_to(value, shape), value, dtype=dtype)


def _like(function: Callable[..., Any]) -> None:
    def make(*args: Any, **kwargs: Any) -> Any:
        return made(function(*map(as_one, args), **{name: as_one(one) for name, one in kwargs.items()}))

    MAKING[function] = make


MAKING[np.empty_like] = lambda *args, **kwargs: made(np.zeros_like(*args, **kwargs))
for _like_function in (np.zeros_like, np.ones_like, np.full_like, np.copy, np.diag, np.tile, np.repeat):
    _like(_like_function)


@making(np.arange)
def arange(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
    """The count is a decision, the entries are start + k · step."""
    if not any(map(is_traced, args)):
        return np.arange(*args, dtype=dtype, **kwargs)
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
    count = max(int(np.ceil((stop - start) / step)), 0)
    entries = start + np.arange(count) * step
    return entries if dtype is None else entries.astype(dtype)


@making(np.fromfunction)
def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    return function(*np.indices(shape, dtype=dtype), **kwargs)


@making(np.ndenumerate)
def ndenumerate(arr: Any) -> Any:
    if not is_traced(arr):
        return np.ndenumerate(arr)
    whole = array(arr, copy=None)
    return ((place, whole[place]) for place in np.ndindex(tuple(whole.shape)))


@making(np.fromiter)
def fromiter(iter: Any, dtype: Any, count: int = -1, **kwargs: Any) -> Any:
    entries = [one for _, one in zip(range(count), iter, strict=False)] if count >= 0 else list(iter)
    return array(entries, dtype) if entries else np.empty(0, dtype)


# --------------------------------------------------------------------------- of what is there


@making(np.array)
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    **kwargs: Any,
) -> Any:
    """`np.array` of what may hold traced values: nested lists are stacked, in the dtype that NumPy finds for them."""
    if not is_traced(object):
        found = np.array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **kwargs)
        return made(found) if found.dtype.kind in "fc" else found
    if dtype is not None and np.dtype(dtype).hasobject:
        refuse("np.array of traced values with dtype=object", "leave dtype= out, or keep the values in a list")
    value: Any = joined(object) if isinstance(object, (list, tuple)) else _array_of(object, copy)
    if dtype is not None and value.dtype != np.dtype(dtype):
        value = Cast(value, to=np.dtype(dtype))
    if ndmin == 0 and value.ndim == 0:
        return value if value is object and _is_array(value) and not copy else Box.make((as_layer(value),))
    missing = ndmin - value.ndim
    return np.expand_dims(value, tuple(range(missing))) if missing > 0 else value


def _is_array(value: Any) -> bool:
    assert here.trace is not None
    return here.trace.kind(value) is np.ndarray


def _array_of(value: Any, copy: Any) -> Any:
    """A traced value as an array: a Python number loses its weakness, an array is copied or stays the same."""
    if isinstance(value, Lent):
        return made(np.array(value.read()))
    python = _python_dtype(value)
    if python is not None:
        return Cast(value, to=python)
    return np.copy(value) if copy else value


def _python_dtype(value: Any) -> Any:
    assert here.trace is not None
    kind = here.trace.kind(value)
    return np.dtype(kind) if kind in (float, int, complex, bool) else None


def joined(values: Sequence[Any]) -> Any:
    """A nested list with traced values as one array."""
    items = [joined(one) if isinstance(one, (list, tuple)) and is_traced(one) else _entry(one) for one in values]
    shapes = [tuple(np.shape(one)) for one in items]
    if len(set(shapes)) > 1:
        refuse(
            f"np.array of entries of different shapes: {', '.join(map(str, shapes))}",
            "make the entries of one shape, or keep them in a list",
            ShapeError,
        )
    return np.stack(items)


def _entry(value: Any) -> Any:
    return _array_of(value, copy=False) if isinstance(value, Layer) else np.asarray(plainly(value))


def _as_array(function: Callable[..., Any]) -> None:
    def convert(a: Any, dtype: Any = None, order: Any = None, **kwargs: Any) -> Any:
        if is_traced(a):
            return array(a, dtype, copy=None)
        found = function(a, dtype, order, **kwargs) if order is not None else function(a, dtype, **kwargs)
        return made(found) if isinstance(a, (list, tuple)) and found.dtype.kind in "fc" else found

    MAKING[function] = convert


for _conversion in (np.asarray, np.asanyarray, np.asarray_chkfinite):
    _as_array(_conversion)


def _contiguous(function: Callable[..., Any]) -> None:
    """How an array lies in memory is not seen by a layer."""

    def convert(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
        if not is_traced(a):
            return function(a, dtype, **kwargs)
        value = array(a, dtype, copy=None)
        return np.reshape(value, (1,)) if value.ndim == 0 else value

    MAKING[function] = convert


for _order in (np.ascontiguousarray, np.asfortranarray):
    _contiguous(_order)


@making(np.require)
def require(a: Any, dtype: Any = None, requirements: Any = None, **kwargs: Any) -> Any:
    return array(a, dtype, copy=None) if is_traced(a) else np.require(a, dtype, requirements, **kwargs)


class _Joined:
    """`np.r_[a, b]` and `np.c_[a, b]` of traced values: joined along an axis, after what a slice stands for is made."""

    def __init__(self, plain: Any, join: Callable[[list[Any]], Any]) -> None:
        self.plain, self.join = plain, join

    def __getitem__(self, index: Any) -> Any:
        entries = index if isinstance(index, tuple) else (index,)
        if not is_traced(entries):
            return made(self.plain[index])
        if isinstance(entries[0], str):
            refuse(f"np.r_[{entries[0]!r}, …] of traced values", "use np.concatenate with axis=, or np.stack")
        return self.join([np.r_[one] if isinstance(one, slice) else array(one, copy=None) for one in entries])


MAKING[np.r_] = _Joined(np.r_, lambda parts: np.concatenate([np.atleast_1d(one) for one in parts]))  # type: ignore[assignment]  # it is indexed, not called
MAKING[np.c_] = _Joined(np.c_, lambda parts: np.column_stack(parts))  # type: ignore[assignment]  # it is indexed, not called


def as_one(value: Any) -> Any:
    """An argument of a function of NumPy: a list of traced values as an array, their shape as a tuple."""
    if isinstance(value, (list, tuple)):
        return array(value) if is_traced(value) else value
    return _plain(value)


def is_traced(value: Any) -> bool:
    """Whether a value is a layer, or a list that holds one."""
    if isinstance(value, (list, tuple)):
        return any(map(is_traced, value))
    return isinstance(value, Layer)


# --------------------------------------------------------------------------- types


@making(float)
def to_float(*args: Any) -> Any:
    return as_python(args[0]) if args and isinstance(args[0], Layer) else float(*plainly(args))


@making(complex)
def to_complex(*args: Any, **kwargs: Any) -> Any:
    if not any(isinstance(one, Layer) for one in (*args, *kwargs.values())):
        return complex(*args, **kwargs)
    parts = {**dict(zip(("real", "imag"), args, strict=False)), **kwargs}
    whole = parts.get("real", 0.0)
    return as_python(whole + 1j * parts["imag"] if "imag" in parts else whole, complex)


@making(isinstance)
def is_instance(value: Any, kinds: Any) -> bool:
    """What it would be for the value itself: traced arrays are arrays, traced numbers numbers."""
    if isinstance(value, Shape):
        return isinstance((), kinds)
    if not isinstance(value, Layer) or here.trace is None or not here.trace.is_value(value):
        return isinstance(value, kinds)
    return issubclass(here.trace.kind(value), kinds) or (_names_a_layer(kinds) and isinstance(value, kinds))


def _names_a_layer(kinds: Any) -> bool:
    """Whether layers are asked for, rather than what a layer may happen to be as well: iterable, hashable."""
    if isinstance(kinds, tuple):
        return any(map(_names_a_layer, kinds))
    return isinstance(kinds, type) and issubclass(kinds, Layer)


@making(type)
def type_of(*args: Any, **kwargs: Any) -> Any:
    if len(args) != 1 or kwargs or here.trace is None:
        return type(*args, **kwargs)
    if isinstance(args[0], Layer) and here.trace.is_value(args[0]):
        return here.trace.kind(args[0])
    return tuple if isinstance(args[0], Shape) else type(args[0])


@making(np.isscalar)
def isscalar(element: Any) -> bool:
    if isinstance(element, Layer) and here.trace is not None:
        return not issubclass(here.trace.kind(element), (np.ndarray, tuple))
    return np.isscalar(element)


def _scalar(kind: Any) -> None:
    def make(*args: Any) -> Any:
        if not any(map(is_traced, args)):
            return kind(*args)
        value = array(args[0], copy=None)
        return (Cast(value, to=np.dtype(kind)) if value.dtype != np.dtype(kind) else value)[()]

    MAKING[kind] = make


for _kind in {np.dtype(code).type for code in "?bhilqBHILQefdgFDG"}:
    _scalar(_kind)


# --------------------------------------------------------------------------- writing


class Alone:
    """How many references an array has that only one local name holds, as `writable` counts them."""

    count: int | None = None
    learn: Callable[[], None] | None = None  # when it is first asked for


def writable(target: Any, value: Any) -> Any:
    """What a local name must be for a traced value to be written into it.

    A plain array becomes a layer if nobody else holds it, so that no other name can tell.
    """
    if type(target) is not np.ndarray or not is_traced(value) or here.trace is None:
        return target
    if Alone.count is None and Alone.learn is not None:
        Alone.learn()
    references = sys.getrefcount(target)
    if Alone.count is None or references > Alone.count or not _alone(target):
        refuse(
            "assignment of a traced value into an array that the traced function did not make, or that others hold too",
            "make it in the function (np.zeros, np.array, np.copy), or assign to a copy: y = np.array(y)",
        )
    return Made(target)


def _alone(view: Any) -> bool:
    """Whether no other array shares the memory of one; NumPy's own functions return views of what they made."""
    base = view.base
    if base is None:
        return True
    return type(base) is np.ndarray and base.base is None and base.size == view.size and sys.getrefcount(base) <= 3
