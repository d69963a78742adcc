"""What are `ufunc.outer`, `reduce`, `accumulate`, `reduceat` and `at`? A function of two over all pairs, along an axis,
or at the places of an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from symbolic.context import here
from symbolic.errors import DtypeError
from symbolic.layer import UFUNC_METHODS, Layer, refuse, unsupported
from symbolic.literal import as_layer
from symbolic.ops.axes import entry, ints
from symbolic.ops.binding import method, written
from symbolic.ops.families import beginning
from symbolic.ops.indexing import Scatter, template
from symbolic.ops.operation import static
from symbolic.spec import normalize_axis


def _outer(ufunc: Any) -> Callable[..., Any]:
    def outer(one: Any, other: Any, /, **options: Any) -> Any:
        second: Any = as_layer(other)
        first: Any = np.expand_dims(as_layer(one), tuple(range(-second.ndim, 0)))
        return ufunc(first, np.expand_dims(second, ()), **options)  # arrays, not Python numbers

    return outer


_FOLDED: tuple[Any, ...] = (
    *(np.fmax, np.fmin, np.hypot, np.logaddexp, np.logaddexp2, np.logical_xor),
    *(np.bitwise_and, np.bitwise_or, np.bitwise_xor),
)
_ACCUMULATED: tuple[Any, ...] = (*_FOLDED, np.maximum, np.minimum, np.logical_and, np.logical_or)
_IN_PIECES: tuple[Any, ...] = (*_ACCUMULATED, np.add, np.multiply)


def _dtype(ufunc: Any, dtype: Any) -> Any:
    return ufunc.resolve_dtypes((dtype, dtype, None))[2]


def _entries(a: Any, axis: int) -> Iterator[Any]:
    return (a[entry(k, axis)] for k in range(a.shape[axis]))


def _reduce(ufunc: Any) -> Callable[..., Any]:
    def reduce(a: Any, axis: Any = 0, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
        layer: Any = as_layer(a)
        layer = np.astype(layer, _dtype(ufunc, layer.dtype))  # as what it is computed with, from the first entry on
        wanted = range(layer.ndim) if axis is None else np.atleast_1d(ints(axis, "axis")).tolist()
        axes = sorted([normalize_axis(one, layer.ndim) for one in wanted]) if layer.ndim else []
        kept = tuple([1 if k in axes else n for k, n in enumerate(layer.shape)])
        counted = None if where is True else _first(np.broadcast_to(where, layer.shape), axes)
        out = _folded(ufunc, _first(layer, axes), _start(ufunc, initial, layer.dtype, where is not True), counted)
        return np.reshape(out, kept) if keepdims else out[()]

    return reduce


def _first(a: Any, axes: list[int]) -> Any:
    """With the entries that are brought together along one axis, the first, in the order in which NumPy takes them."""
    if not axes:
        return np.expand_dims(a, 0)
    rest = [k for k in range(a.ndim) if k not in axes]
    count = prod(a.shape[k] for k in axes)
    return np.reshape(np.transpose(a, (*axes, *rest)), (count, *[a.shape[k] for k in rest]))


def _start(ufunc: Any, initial: Any, dtype: Any, needed: bool) -> Any:
    """What it begins with; `None` where the first entry is that, and neutral is what gives it back."""
    if initial is not None:
        return beginning(initial, dtype)
    if needed and ufunc.identity is None:
        raise ValueError(f"where= in np.{ufunc.__name__}.reduce needs initial=, for there may be nothing left; give it")
    return np.asarray(ufunc.identity).astype(dtype)[()] if needed else None


def _folded(ufunc: Any, a: Any, start: Any, counted: Any) -> Any:
    """Along the first axis. An entry that is left out leaves what is there as it is."""
    entries = list(_entries(a, 0))
    if start is None and ufunc.identity is not None and len(entries) < 2:
        start = np.asarray(ufunc.identity).astype(a.dtype)[()]
    if start is None and not entries:
        raise ValueError(f"np.{ufunc.__name__}.reduce of no entries; give one at least, or initial=")
    total = entries.pop(0) if start is None else np.broadcast_to(start, a.shape[1:])
    for k, one in enumerate(entries):
        more = ufunc(total, one)
        total = more if counted is None else np.where(counted[k], more, total)
    return total


def _accumulate(ufunc: Any) -> Callable[..., Any]:
    def accumulate(array: Any, axis: Any = 0) -> Any:
        layer: Any = as_layer(array)
        if layer.ndim == 0:
            refuse(f"np.{ufunc.__name__}.accumulate of a 0-d array", "use np.atleast_1d(x) first", DtypeError)
        if axis is None:
            raise unsupported(f"axis=None of np.{ufunc.__name__}.accumulate", "use np.ravel(x) first")
        axis = normalize_axis(ints(axis, "axis"), layer.ndim)
        layer = np.astype(layer, _dtype(ufunc, layer.dtype)) if layer.shape[axis] < 2 else layer
        found: list[Any] = []
        for one in _entries(layer, axis):
            found.append(ufunc(found[-1], one) if found else np.astype(one, _dtype(ufunc, layer.dtype)))
        return np.stack(found, axis=axis) if found else layer

    return accumulate


def _reduceat(ufunc: Any) -> Callable[..., Any]:
    """From each index up to the next one; the entry itself where the next one is not larger."""

    def reduceat(array: Any, indices: Any, axis: Any = 0) -> Any:
        layer: Any = as_layer(array)
        if axis is None:
            raise unsupported(f"axis=None of np.{ufunc.__name__}.reduceat", "use np.ravel(x) first")
        axis = normalize_axis(ints(axis, "axis"), layer.ndim)
        places = np.asarray(static(indices, f"the indices of np.{ufunc.__name__}.reduceat"), dtype=int).tolist()
        if any(not 0 <= k < layer.shape[axis] for k in places):
            raise IndexError(f"an index of np.{ufunc.__name__}.reduceat is out of bounds; use those of the axis")
        ends = [stop if stop > k else k + 1 for k, stop in pairwise(places)] + [None]
        if not places:
            return layer[entry(slice(0, 0), axis)]
        pieces = [layer[entry(slice(k, stop), axis)] for k, stop in zip(places, ends, strict=True)]
        rows = [ufunc.reduce(one, axis=axis) if one.shape[axis] > 1 else np.squeeze(one, axis) for one in pieces]
        kind = ufunc.reduce(pieces[0][entry(slice(0, 1), axis)], axis=axis).dtype
        return np.stack([np.astype(one, kind) for one in rows], axis=axis)

    return reduceat


def _at(ufunc: Any) -> Callable[..., None]:
    """An entry that is named twice gets both."""

    def at(array: Any, indices: Any, value: Any) -> None:
        if not isinstance(array, Layer) or here.trace is None:
            refuse(f"np.{ufunc.__name__}.at would write traced values into an array", "write into a traced array")
        region: Any = as_layer(array)[indices]
        index, operands = template(indices, 2)
        full = np.zeros_like(region) + as_layer(value)
        added = Scatter.make((as_layer(array), as_layer(full), *operands), (((1, index),),))
        written(array, np.astype(ufunc(as_layer(array), added), array.dtype), f"np.{ufunc.__name__}.at")

    return at


def _bind(name: str, make: Callable[[Any], Callable[..., Any]], ufuncs: Any) -> None:
    for ufunc in ufuncs:
        if (ufunc, name) not in UFUNC_METHODS:
            method(name, ufunc)(make(ufunc))


_OF_TWO = {
    one for one in vars(np).values() if isinstance(one, np.ufunc) and (one.nin, one.nout, one.signature) == (2, 1, None)
}
_bind("outer", _outer, sorted(_OF_TWO, key=lambda ufunc: ufunc.__name__))
_bind("reduce", _reduce, _FOLDED)
_bind("accumulate", _accumulate, _ACCUMULATED)
_bind("reduceat", _reduceat, _IN_PIECES)
_bind("at", _at, (np.add, np.subtract))
