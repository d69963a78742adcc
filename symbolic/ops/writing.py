"""Which functions of NumPy write into an array that they are given? In a trace a traced array takes what they write.

What the array is afterwards is computed as a new layer, which then stands for it and for its views.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symbolic.context import here
from symbolic.errors import ShapeError
from symbolic.layer import METHODS, Layer, refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import along, ints
from symbolic.ops.binding import array_method, implements, written
from symbolic.ops.deltas import ReshapeLike
from symbolic.ops.families import Movement
from symbolic.ops.passing import Cast
from symbolic.spec import AnySpec, Shape, normalize_axis, product


def target(value: Any, name: str) -> Any:
    """The array that is written into, if it is a traced one."""
    if not isinstance(value, Layer):
        refuse(
            f"{name} would write traced values into an array",
            "write into a traced array (y = x.copy()), choose with np.where, or join with np.stack",
        )
    if here.trace is None:
        refuse(f"{name} of a layer outside a traced function", "build a new layer with np.where or np.concatenate")
    return value


def put_in(array: Any, value: Any, name: str) -> None:
    """Every entry anew, in the dtype that the array has."""
    value = Cast(value, to=array.dtype)
    written(array, np.broadcast_to(value, tuple(array.shape)), name)


def put_at(array: Any, places: Any, value: Any) -> None:
    """`array[places] = value`, nothing where there are no places."""
    here.trace.assign(array, places, value)  # type: ignore[union-attr]  # `target` has seen that there is a trace


def _flat_places(array: Any, places: Any, mode: str, name: str) -> Any:
    """The index of the entries that stand at these places in C order."""
    size = int(array.size)
    if mode not in ("raise", "wrap", "clip"):
        refuse(f"the argument mode={mode!r} of {name}", "use mode='raise', 'wrap' or 'clip'", ShapeError)
    if mode == "raise" and not isinstance(places, Layer):
        if np.any((places < -size) | (places >= size)):
            raise IndexError(f"{name}: a place is out of bounds for {size} entries; use mode='wrap' or mode='clip'")
        places = np.where(places < 0, places + size, places)
    elif mode == "raise":
        places = np.where(np.less(places, 0), places + size, places)
    else:
        places = np.remainder(places, size) if mode == "wrap" else np.clip(places, 0, size - 1)
    return np.unravel_index(places, tuple(array.shape)) if array.ndim else Ellipsis


@implements(np.put, writes=True)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    array = target(a, "np.put")
    places: Any = np.ravel(ind if isinstance(ind, Layer) else np.asarray(ind, np.intp))
    values: Any = np.ravel(as_layer(v))
    if places.size and values.size:
        put_at(array, _flat_places(array, places, mode, "np.put"), np.resize(values, tuple(places.shape)))


def _masked(array: Any, mask: Any, name: str) -> Any:
    found: Any = as_layer(mask)
    if found.size != array.size:
        raise ValueError(f"{name}: the mask has {found.size} entries, the array {array.size}; give one for each")
    return np.reshape(np.astype(found, np.dtype(bool)), tuple(array.shape))


@implements(np.place, writes=True)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """The values in a row, over the entries that the mask has."""
    array = target(arr, "np.place")
    holds = _masked(array, mask, "np.place")
    values: Any = np.ravel(as_layer(vals))
    if not values.size:
        raise ValueError("np.place of no values; give one at least")
    number = np.remainder(np.cumsum(holds) - 1, values.size)
    put_in(array, np.where(holds, np.reshape(values[number], tuple(array.shape)), array), "np.place")


@implements(np.putmask, writes=True)
def putmask(a: Any, mask: Any, values: Any) -> None:
    """The values in a row over all entries; only those that the mask has are written."""
    array = target(a, "np.putmask")
    holds = _masked(array, mask, "np.putmask")
    given: Any = np.ravel(as_layer(values))
    if given.size:
        put_in(array, np.where(holds, np.resize(given, tuple(array.shape)), array), "np.putmask")


@implements(np.copyto, writes=True)
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    array = target(dst, "np.copyto")
    source: Any = as_layer(src)
    weak = type(src) in (bool, int, float, complex)
    kind = np.result_type(array.dtype, src) if weak else source.dtype
    if not np.can_cast(kind, array.dtype, casting):
        raise TypeError(
            f"np.copyto cannot cast {kind} to {array.dtype} by {casting!r}; convert first, or name casting="
        )
    put_in(array, source if where is True else np.where(where, source, array), "np.copyto")


@implements(np.put_along_axis, writes=True)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    array, places = target(arr, "np.put_along_axis"), as_layer(indices)
    if axis is None:
        put_at(array, _flat_places(array, places, "raise", "np.put_along_axis"), values)
        return
    axis = normalize_axis(ints(axis, "axis of np.put_along_axis"), array.ndim)
    if places.ndim != array.ndim:
        raise ValueError("np.put_along_axis takes indices with as many axes as the array; reshape them")
    put_at(array, along(tuple(array.shape), places, axis), values)


@implements(np.fill_diagonal, writes=True)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    array = target(a, "np.fill_diagonal")
    shape = tuple(array.shape)
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ValueError(f"np.fill_diagonal of shape {shape}; give a matrix, or an array of equal sizes")
    step = shape[1] + 1 if len(shape) == 2 else 1 + int(np.cumprod(shape[:-1]).sum())
    end = shape[1] * shape[1] if len(shape) == 2 and not wrap else int(np.prod(shape))
    places = np.arange(0, min(end, int(np.prod(shape))), step)
    values: Any = np.ravel(as_layer(val))
    if places.size and values.size:
        put_at(array, np.unravel_index(places, shape), np.resize(values, places.shape))


# --------------------------------------------------------------------------- the methods that write


@array_method("fill")
def fill(layer: Any, value: Any) -> None:
    put_at(target(layer, ".fill()"), Ellipsis, value)


@array_method("put")
def put_method(layer: Any, indices: Any, values: Any, mode: str = "raise") -> None:
    put(layer, indices, values, mode)


@array_method("sort")
def sort(layer: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    put_in(target(layer, ".sort()"), np.sort(layer, axis=axis, kind=kind, order=order), ".sort()")


@array_method("partition")
def partition(layer: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> None:
    put_in(target(layer, ".partition()"), np.partition(layer, kth, axis=axis, order=order), ".partition()")


# --------------------------------------------------------------------------- all entries in a row


class Flat(Movement):
    """`y.flat`: the entries in a row, which are the array's own; what is taken of them is a copy."""

    __slots__ = ()

    def is_view(self, specs: Sequence[AnySpec]) -> bool | None:
        return True

    def moved(self, shape: Shape) -> Shape | None:
        return (product(shape),)

    def evaluate(self, *values: Any) -> Any:
        return np.ravel(values[0])

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (ReshapeLike(delta, operand),)

    def __getitem__(self, index: Any) -> Any:
        return np.copy(super().__getitem__(index))[()]


METHODS["flat"] = Flat
