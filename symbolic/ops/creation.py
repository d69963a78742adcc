"""Which arrays are made in the image of others? Diagonals, triangles, and what is filled like another array."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import Rearranged, ints, plain
from symbolic.ops.binding import implements
from symbolic.ops.deltas import Like
from symbolic.ops.families import Movement
from symbolic.ops.operation import Operation, array
from symbolic.spec import AnySpec, Shape, Spec


class Diagonal(Rearranged, numpy=np.diagonal):
    """The entries with equal indices along two axes, as a new last axis."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"offset": 0, "axis1": 0, "axis2": 1}
    samples: ClassVar[Any] = ({}, {"offset": 1}, {"offset": -1, "axis1": 1, "axis2": 0})

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (DiagonalLike.make((as_layer(delta), operand), self.parameters),)


class DiagonalLike(Like):
    """Zeros like an operand, with the first operand on the diagonal of two axes."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"offset": 0, "axis1": 0, "axis2": 1}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[1]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        placed = np.zeros(np.shape(values[1]), np.asarray(values[0]).dtype)
        diagonal = np.diagonal(placed, *self.parameters)
        diagonal.flags.writeable = True  # ours: NumPy's caution is for arrays of others
        diagonal[...] = values[0]
        return placed

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any) -> Any:
        return np.diagonal(delta, *self.parameters), None


class Diag(Rearranged, numpy=np.diag):
    """The `k`-th diagonal of a matrix; of a vector, the matrix that has it there."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"k": 0}
    samples: ClassVar[Any] = ({}, {"k": 1}, {"k": -1})

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        if operand.ndim == 1:
            return (np.diagonal(delta, self.k),)
        return (DiagonalLike.make((as_layer(delta), operand), (self.k, 0, 1)),)


@implements(np.diagflat, samples=Diag.samples)
def diagflat(v: Any, k: int = 0) -> Any:
    return np.diag(np.ravel(as_layer(v)), k)


@implements(np.trace, operands="matrix", samples=Diagonal.samples)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    return np.sum(np.diagonal(as_layer(a), offset, axis1, axis2), axis=-1, dtype=dtype)


@implements(np.linalg.diagonal, operands="matrix", samples=({}, {"offset": 1}))
def linalg_diagonal(x: Any, offset: int = 0) -> Any:
    return np.diagonal(as_layer(x), offset, -2, -1)


@implements(np.linalg.trace, operands="matrix", samples=({}, {"offset": 1}))
def linalg_trace(x: Any, offset: int = 0, dtype: Any = None) -> Any:
    return np.trace(as_layer(x), offset, -2, -1, dtype)


class Triangle(Movement):
    """What a triangle leaves of the last two axes; a vector is every row of a square."""

    __slots__ = ()
    shares = False
    defaults: ClassVar[Any] = {"k": 0}
    samples: ClassVar[Any] = ({}, {"k": 1}, {"k": -1})

    def moved(self, shape: Shape) -> Shape | None:
        if not shape:
            raise ShapeError(f"{type(self).__name__} of a 0-d array", remedy="give a matrix, or a stack of them")
        return shape * 2 if len(shape) == 1 else shape

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (self.functions[0](delta, self.k),)


class Triu(Triangle, numpy=np.triu):
    """Zero below the `k`-th diagonal."""

    __slots__ = ()


class Tril(Triangle, numpy=np.tril):
    """Zero above the `k`-th diagonal."""

    __slots__ = ()


class FullLike(Operation):
    """The first operand everywhere, in the shape and the dtype of the other, where no others are named."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "like")
    defaults: ClassVar[Any] = {"newdtype": None, "newshape": None}

    def infer(self, *specs: AnySpec) -> AnySpec:
        like = plain(specs[1])
        shape = (self.newshape,) if isinstance(self.newshape, int) else self.newshape
        return Spec(like.shape if shape is None else shape, like.dtype if self.newdtype is None else self.newdtype)

    def evaluate(self, *values: Any) -> Any:
        dtype = np.asarray(values[1]).dtype if self.newdtype is None else self.newdtype
        shape = np.shape(values[1]) if self.newshape is None else self.newshape
        return np.full(shape, values[0], dtype)

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any) -> Any:
        return delta, None


@implements(np.full_like, samples=({"fill_value": 2.5},))
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> Any:
    dtype = None if dtype is None else np.dtype(dtype)
    return FullLike.make((as_layer(fill_value), as_layer(a)), (dtype, ints(shape, "shape= of np.full_like")))


@implements(np.zeros_like)
def zeros_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    return full_like(a, 0, dtype, shape=shape)


@implements(np.empty_like)
def empty_like(prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    return full_like(prototype, 0, dtype, shape=shape)


@implements(np.ones_like)
def ones_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    return full_like(a, 1, dtype, shape=shape)


@implements(np.linspace, operands="numbers", samples=({"num": 5}, {"num": 4, "endpoint": False}, {"num": 1}))
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    found, step = _line(start, stop, num, endpoint, axis)
    if dtype is not None:
        found = np.astype(np.floor(found) if np.dtype(dtype).kind in "iu" else found, np.dtype(dtype))
    return (found, step) if retstep else found


def _line(start: Any, stop: Any, num: int, endpoint: bool, axis: int) -> tuple[Any, Any]:
    first, last = as_layer(start) * 1.0, as_layer(stop) * 1.0
    steps = max(num - 1, 1) if endpoint else num
    distance = np.expand_dims(last - first, axis)
    places = np.arange(num, dtype=distance.dtype)
    rank = distance.ndim
    shape = (-1,) + (1,) * ((rank - 1 - axis) if axis >= 0 else -1 - axis)
    start = np.expand_dims(np.astype(first, distance.dtype), axis)  # a Python number is weak only while it is no array
    line = np.reshape(places, shape) * (distance / steps) + start
    return line, (last - first) / steps


@implements(np.meshgrid, operands="vectors")
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if indexing not in ("xy", "ij"):
        refuse(f"np.meshgrid with indexing={indexing!r}", "use indexing='xy' or indexing='ij'", ShapeError)
    order = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        order[:2] = 1, 0
    shapes = [tuple([-1 if k == place else 1 for k in range(len(xi))]) for place in order]
    grids: list[Any] = [np.reshape(as_layer(one), shape) for one, shape in zip(xi, shapes, strict=True)]
    return tuple(grids) if sparse else tuple(np.broadcast_arrays(*grids))
