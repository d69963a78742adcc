"""How are arrays joined, and cut apart again? Concatenate, stack, split, append, insert, delete."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import DtypeError, ShapeError
from symbolic.layer import Layer, refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import entry, ints, plain
from symbolic.ops.binding import Kernel, implements
from symbolic.ops.deltas import SizeOf
from symbolic.ops.operation import Operation, array, static
from symbolic.spec import AnySpec, Dim, Shape, Spec, normalize_axis, result_dtype, show


class Concatenate(Operation):
    """Several arrays, one after the other along an axis.

    >>> import numpy as np
    >>> from symbolic import Identity
    >>> np.concatenate([Identity(), np.array([1.0])])
    Concatenate(Identity(), Literal(array([1.])))
    """

    __slots__ = ()
    variadic = True
    functions: ClassVar[Any] = (np.concatenate,)
    defaults: ClassVar[Any] = {"axis": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        given = [plain(spec) for spec in specs]
        return Spec(_joined([spec.shape for spec in given], self.axis), result_dtype(given))

    def evaluate(self, *values: Any) -> Any:
        return np.concatenate(values, axis=self.axis)

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        axis = self.axis
        return (lambda *values: np.concatenate(values[:-1], axis=axis, out=values[-1])), True

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        deltas, start = [], as_layer(0)
        for operand in operands:
            deltas.append(Piece.make((as_layer(delta), operand, start), (self.axis,)))
            start = start + SizeOf.make((operand,), (self.axis,))
        return tuple(deltas)


def _joined(shapes: Sequence[Shape | None], axis: int) -> Shape | None:
    known = [shape for shape in shapes if shape is not None]
    if not known:
        return None
    first = known[0]
    axis = normalize_axis(axis, len(first))
    for other in known[1:]:
        _fits(first, other, axis)
    sizes: list[Dim] = [_agreed([shape[k] for shape in known]) for k in range(len(first))]
    along = [None if shape is None else shape[axis] for shape in shapes]
    sizes[axis] = None if None in along else sum(d for d in along if d is not None)
    return tuple(sizes)


def _agreed(sizes: Sequence[Dim]) -> Dim:
    return next((d for d in sizes if d is not None), None)


def _fits(first: Shape, other: Shape, axis: int) -> None:
    if len(first) != len(other):
        raise ShapeError(
            f"arrays of shapes {show(first)} and {show(other)} cannot be joined: they have {len(first)} and "
            f"{len(other)} axes",
            remedy="give them the same number of axes (np.expand_dims, or index with np.newaxis)",
        )
    for k, (a, b) in enumerate(zip(first, other, strict=True)):
        if k != axis and a != b and a is not None and b is not None:
            raise ShapeError(
                f"arrays of shapes {show(first)} and {show(other)} cannot be joined along axis {axis}: "
                f"axis {k} has sizes {a} and {b}",
                remedy="all sizes but the one along the axis must be equal",
            )


class Piece(Operation):
    """What stands in the first operand, along an axis, from `start` on, as long as `like` is."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "like", "start")
    defaults: ClassVar[Any] = {"axis": 0}
    shares = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[1]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        value, like, start = values
        return value[_along(np.shape(value), self.axis, start, np.shape(like)[self.axis])]

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any, start: Any) -> Any:
        return PlacedLike.make((as_layer(delta), operand, start), (self.axis,)), None, None


class PlacedLike(Operation):
    """Zeros like an operand, with the first operand in it, along an axis, from `start` on."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "like", "start")
    defaults: ClassVar[Any] = {"axis": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[1]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        value, like, start = values
        placed = np.zeros(np.shape(like), np.asarray(value).dtype)
        placed[_along(placed.shape, self.axis, start, np.shape(value)[self.axis])] = value
        return placed

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any, start: Any) -> Any:
        return Piece.make((as_layer(delta), operand, start), (self.axis,)), None, None


def _along(shape: tuple[int, ...], axis: int, start: int, size: int) -> tuple[slice, ...]:
    return (slice(None),) * normalize_axis(axis, len(shape)) + (slice(start, start + size),)


@implements(np.concatenate, operands="sequence", samples=({}, {"axis": -1}, {"axis": None}))
def concatenate(arrays: Any, axis: Any = 0, dtype: Any = None, casting: Any = "same_kind") -> Any:
    given = _converted(operands_of(arrays), dtype, casting)
    if axis is None:
        flat: list[Any] = [np.ravel(one) for one in given]
        given, axis = flat, 0
    return Concatenate.make(tuple(given), (ints(axis, "axis= of np.concatenate"),))


def operands_of(arrays: Any) -> list[Any]:
    """The arrays that a joining function was given, as layers."""
    if isinstance(arrays, (Layer, np.ndarray)):
        count = len(arrays)
        return [as_layer(arrays)[k] for k in range(count)]
    given = [as_layer(one) for one in arrays]
    if not given:
        refuse("no array to join", "give at least one array", ShapeError)
    return given


def _converted(arrays: list[Any], dtype: Any, casting: Any) -> list[Any]:
    """The arrays in the dtype that was asked for."""
    if dtype is None:
        return arrays
    for one in arrays:
        if not np.can_cast(one.dtype, dtype, casting):
            raise DtypeError(f"an array of {one.dtype} to be joined as {np.dtype(dtype)}", remedy="name casting=")
    return [np.astype(one, np.dtype(dtype)) for one in arrays]


class Stack(Operation):
    """Several arrays of one shape, along a new axis.

    >>> import numpy as np
    >>> from symbolic import Identity
    >>> np.stack([Identity(), Identity()], axis=-1)
    Stack(Identity(), Identity(), axis=-1)
    """

    __slots__ = ()
    variadic = True
    functions: ClassVar[Any] = (np.stack,)
    defaults: ClassVar[Any] = {"axis": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        given = [plain(spec) for spec in specs]
        shapes = [spec.shape for spec in given if spec.shape is not None]
        for other in shapes[1:]:
            _fits(shapes[0], other, -1)
        dtype = result_dtype(given)
        if not shapes:
            return Spec(None, dtype)
        axis = normalize_axis(self.axis, len(shapes[0]) + 1)
        sizes = [_agreed([shape[k] for shape in shapes]) for k in range(len(shapes[0]))]
        return Spec((*sizes[:axis], len(given), *sizes[axis:]), dtype)

    def evaluate(self, *values: Any) -> Any:
        return np.stack(values, axis=self.axis)

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        axis = self.axis
        return (lambda *values: np.stack(values[:-1], axis=axis, out=values[-1])), True

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return tuple([delta[entry(k, self.axis)] for k in range(len(operands))])


@implements(np.stack, operands="alike", samples=({}, {"axis": -1}, {"axis": 1}))
def stack(arrays: Any, axis: Any = 0, dtype: Any = None, casting: Any = "same_kind") -> Any:
    return Stack.make(tuple(_converted(operands_of(arrays), dtype, casting)), (ints(axis, "axis= of np.stack"),))


@implements(np.vstack, operands="sequence")
def vstack(tup: Any, dtype: Any = None, casting: Any = "same_kind") -> Any:
    return np.concatenate([np.atleast_2d(one) for one in operands_of(tup)], axis=0, dtype=dtype, casting=casting)


@implements(np.hstack, operands="sequence")
def hstack(tup: Any, dtype: Any = None, casting: Any = "same_kind") -> Any:
    given = [np.atleast_1d(one) for one in operands_of(tup)]
    return np.concatenate(given, axis=0 if given[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@implements(np.dstack, operands="sequence")
def dstack(tup: Any) -> Any:
    return np.concatenate([np.atleast_3d(one) for one in operands_of(tup)], axis=2)


@implements(np.column_stack, operands="sequence")
def column_stack(tup: Any) -> Any:
    given = operands_of(tup)
    columns = [one if one.ndim >= 2 else np.expand_dims(np.ravel(one), 1) for one in given]
    return np.concatenate(columns, axis=1)


@implements(np.block)
def block(arrays: Any) -> Any:
    return _block(arrays, _depth(arrays) - 1)


def _depth(arrays: Any) -> int:
    return 1 + max(map(_depth, arrays), default=0) if isinstance(arrays, list) else 0


def _block(arrays: Any, depth: int) -> Any:
    if not isinstance(arrays, list):
        return as_layer(arrays)
    inner = [_block(one, depth - 1) for one in arrays]
    rank = max(depth + 1, *(one.ndim for one in inner))
    inner = [np.expand_dims(one, tuple(range(rank - one.ndim))) for one in inner]
    return np.concatenate(inner, axis=-1 - depth)


@implements(np.append, operands="vectors")
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    return np.concatenate((as_layer(arr), as_layer(values)), axis=axis)


@implements(np.delete, samples=({"obj": 0}, {"obj": [0, 1], "axis": 0}))
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    operand, axis = _along_one(arr, axis)
    kept = np.delete(np.arange(operand.shape[axis]), static(obj, "obj of np.delete"))
    return operand[entry(kept, axis)]


@implements(np.insert, samples=({"obj": 0, "values": 1.5}, {"obj": 1, "values": 2.0, "axis": 0}))
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    operand, axis = _along_one(arr, axis)
    made: Any = as_layer(values)
    where = np.asarray(
        np.arange(operand.shape[axis])[obj] if isinstance(obj, slice) else static(obj, "obj of np.insert")
    )
    where = np.flatnonzero(where) if where.dtype == bool else where
    if made.ndim < operand.ndim:
        made = np.expand_dims(made, tuple(range(operand.ndim - made.ndim)))
    if where.ndim == 0:
        made = np.moveaxis(made, 0, axis)  # NumPy has the new entries along the first axis of `values`
    size, count = operand.shape[axis], made.shape[axis] if where.size == 1 else where.size
    wanted = tuple([count if k == axis % operand.ndim else d for k, d in enumerate(operand.shape)])
    new = np.broadcast_to(made.astype(operand.dtype), wanted)
    order = np.insert(np.arange(size), np.repeat(where, count // where.size), size + np.arange(count))
    return np.concatenate((operand, new), axis=axis)[entry(order, axis)]


def _along_one(arr: Any, axis: Any) -> tuple[Any, int]:
    """The operand and the axis; without one, all entries in a row."""
    operand: Any = as_layer(arr)
    return (np.ravel(operand), 0) if axis is None else (operand, axis)


# --------------------------------------------------------------------------- cutting apart


@implements(np.array_split, samples=({"indices_or_sections": [1]},))
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    operand = as_layer(ary)
    cuts = static(indices_or_sections, "the sections of np.array_split")
    if isinstance(cuts, (int, np.integer)):
        parts = np.array_split(np.arange(operand.shape[axis]), cuts)
        cuts = np.cumsum([len(part) for part in parts])[:-1]
    ends = [int(static(cut, "a section of np.split")) for cut in cuts]
    return [operand[entry(slice(start, end), axis)] for start, end in zip([0, *ends], [*ends, None], strict=True)]


@implements(np.split, samples=({"indices_or_sections": [1]}, {"indices_or_sections": 1}))
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    operand = as_layer(ary)
    if isinstance(indices_or_sections, (int, np.integer)) and operand.shape[axis] % indices_or_sections:
        refuse(
            f"np.split of an axis of size {operand.shape[axis]} into {indices_or_sections} equal parts",
            "use np.array_split, or a number of parts that divides the size",
            ShapeError,
        )
    return array_split(operand, indices_or_sections, axis)


@implements(np.hsplit, operands="matrix", samples=({"indices_or_sections": [1]},))
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    operand = as_layer(ary)
    return split(operand, indices_or_sections, 0 if operand.ndim == 1 else 1)


@implements(np.vsplit, operands="matrix", samples=({"indices_or_sections": [1]},))
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 0)


@implements(np.dsplit, operands="cube", samples=({"indices_or_sections": [1]},))
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 2)


@implements(np.unstack)
def unstack(x: Any, axis: int = 0) -> Any:
    operand = as_layer(x)
    if operand.ndim == 0:
        refuse("np.unstack of a 0-d array", "give an array with at least one axis", ShapeError)
    return tuple([operand[entry(k, axis)] for k in range(operand.shape[axis])])
