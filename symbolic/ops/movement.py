"""How do the entries of one array move? Reshaped, transposed, with other axes, copied: each with its way back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import AnyLayer, unsupported
from symbolic.literal import as_layer
from symbolic.ops.axes import Permuted, Rearranged, in_order, ints, plain
from symbolic.ops.binding import implements
from symbolic.ops.deltas import ReshapeLike
from symbolic.ops.families import Movement
from symbolic.ops.operation import Operation, array
from symbolic.spec import AnySpec, Shape, Spec, broadcast, normalize_axes, normalize_axis, product, show


class Reshape(Movement, numpy=np.reshape):
    """The same entries, in C order, in another shape; one size may be -1.

    >>> import numpy as np
    >>> from symbolic import Identity
    >>> np.reshape(Identity(), (2, -1))
    Reshape(Identity(), newshape=(2, -1))
    """

    __slots__ = ()
    defaults: ClassVar[Any] = {"newshape": (-1,)}  # not `shape`, which is what the layer itself has
    samples: ClassVar[Any] = ({"newshape": (-1,)}, {"newshape": -1}, {"newshape": (1, -1)}, {"newshape": (-1, 1)})

    def is_view(self, specs: Sequence[AnySpec]) -> bool | None:
        return in_order(self.operands[0], specs[0])

    def moved(self, shape: Shape) -> Shape | None:
        wanted = (self.newshape,) if isinstance(self.newshape, int) else self.newshape
        total, rest = product(shape), product(d for d in wanted if d != -1)
        assert rest is not None
        fits = total is None or (total == rest if -1 not in wanted else rest and total % rest == 0)
        if not fits or list(wanted).count(-1) > 1:
            raise ShapeError(
                f"cannot reshape an array of shape {show(shape)} ({total} entries) into shape {show(wanted)}",
                remedy="give a shape of as many entries; one size may be -1",
            )
        return tuple([(None if total is None else total // rest) if d == -1 else d for d in wanted])

    def evaluate(self, *values: Any) -> Any:
        return np.reshape(values[0], self.newshape)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (ReshapeLike(delta, operand),)


@implements(np.reshape, samples=({"shape": -1}, {"shape": (1, -1)}, {"shape": (-1, 1), "order": "F"}))
def reshape(a: Any, shape: Any, order: str = "C", copy: Any = None) -> Any:
    wanted = ints(shape, "the shape of np.reshape")
    if order == "C":
        return Reshape.make((as_layer(a),), (wanted,))
    if order != "F":
        raise unsupported(f"np.reshape with order={order!r}", "use order='C' or order='F'")
    backward = wanted if isinstance(wanted, int) else wanted[::-1]
    return np.transpose(np.reshape(np.transpose(as_layer(a)), backward))


class Ravel(Movement):
    """All entries, in C order, along one axis."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.ravel,)

    def is_view(self, specs: Sequence[AnySpec]) -> bool | None:
        return in_order(self.operands[0], specs[0])

    def moved(self, shape: Shape) -> Shape | None:
        return (product(shape),)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (ReshapeLike(delta, operand),)


@implements(np.ravel)
def ravel(a: Any, order: str = "C") -> Any:
    if order not in ("C", "F"):
        raise unsupported(f"np.ravel with order={order!r}", "use order='C' or order='F'")
    return Ravel(as_layer(a) if order == "C" else np.transpose(as_layer(a)))


class Transpose(Permuted, numpy=np.transpose):
    """The axes in another order; reversed without `axes`.

    >>> import numpy as np
    >>> from symbolic import Identity
    >>> np.transpose(Identity(), (1, 0))
    Transpose(Identity(), axes=(1, 0))
    """

    __slots__ = ()
    defaults: ClassVar[Any] = {"axes": None}
    samples: ClassVar[Any] = ({}, {"axes": (1, 0)}, {"axes": (-1, 0)})

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        if self.axes is None:
            return (np.transpose(delta),)
        back = np.argsort([axis % len(self.axes) for axis in self.axes])
        return (np.transpose(delta, tuple(back.tolist())),)


@implements(np.transpose, samples=Transpose.samples)
def transpose(a: Any, axes: Any = None) -> Any:
    return Transpose.make((as_layer(a),), (ints(axes, "axes= of np.transpose"),))


@implements(np.matrix_transpose, np.linalg.matrix_transpose)
def matrix_transpose(x: Any) -> Any:
    return np.swapaxes(as_layer(x), -1, -2)


class Swapaxes(Permuted, numpy=np.swapaxes):
    """Two axes, exchanged."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis1": 0, "axis2": 1}
    samples: ClassVar[Any] = ({"axis1": 0, "axis2": -1}, {"axis1": 1, "axis2": 0})

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        inner, axes = self.operands[0], {self.axis1, self.axis2}
        return inner.operands[0] if isinstance(inner, Swapaxes) and {inner.axis1, inner.axis2} == axes else None

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (np.swapaxes(delta, self.axis1, self.axis2),)


class Moveaxis(Permuted, numpy=np.moveaxis):
    """Some axes, moved to other places; the others keep their order."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"source": 0, "destination": -1}
    samples: ClassVar[Any] = ({"source": 0, "destination": -1}, {"source": (0, 1), "destination": (1, 0)})

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (np.moveaxis(delta, self.destination, self.source),)


@implements(np.moveaxis, samples=Moveaxis.samples)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    axes = ints(source, "source= of np.moveaxis"), ints(destination, "destination= of np.moveaxis")
    return Moveaxis.make((as_layer(a),), axes)


class Rollaxis(Permuted, numpy=np.rollaxis):
    """One axis, moved before another."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": 0, "start": 0}
    samples: ClassVar[Any] = ({"axis": 1}, {"axis": 0, "start": 2}, {"axis": -1, "start": -1})

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        axis = normalize_axis(self.axis, operand.ndim)
        start = self.start + operand.ndim if self.start < 0 else self.start
        return (np.moveaxis(delta, start - (axis < start), axis),)


class ExpandDims(Rearranged, numpy=np.expand_dims):
    """With new axes of size 1, which stand at `axis` in the result."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": 0}
    samples: ClassVar[Any] = ({"axis": 0}, {"axis": -1}, {"axis": (0, 2)})

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (np.squeeze(delta, axis=self.axis),)


@implements(np.expand_dims, samples=ExpandDims.samples)
def expand_dims(a: Any, axis: Any) -> Any:
    return ExpandDims.make((as_layer(a),), (ints(axis, "axis= of np.expand_dims"),))


class Squeeze(Movement, numpy=np.squeeze):
    """Without the axes of size 1, or without those that `axis` names."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": None}

    def moved(self, shape: Shape) -> Shape | None:
        if self.axis is None:
            return None if None in shape else tuple([d for d in shape if d != 1])
        axes = normalize_axes(self.axis, len(shape))
        for axis in axes:
            if shape[axis] not in (1, None):
                raise ShapeError(
                    f"cannot squeeze axis {axis} of an array of shape {show(shape)}: its size is {shape[axis]}, not 1",
                    remedy="name an axis of size 1, or index one entry of it",
                )
        return tuple([d for k, d in enumerate(shape) if k not in axes])

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (ReshapeLike(delta, operand),)


@implements(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    return Squeeze.make((as_layer(a),), (ints(axis, "axis= of np.squeeze"),))


class BroadcastTo(Movement, numpy=np.broadcast_to):
    """Stretched to a larger shape, without copies."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"newshape": ()}

    def moved(self, shape: Shape) -> Shape | None:
        wanted = (self.newshape,) if isinstance(self.newshape, int) else self.newshape
        lead = len(wanted) - len(shape)
        if lead < 0 or any(d not in (1, None, w) for d, w in zip(shape, wanted[lead:], strict=True)):
            raise ShapeError(
                f"an array of shape {show(shape)} cannot be broadcast to shape {show(wanted)}",
                remedy="every size must be equal to the wanted one, or 1",
            )
        return tuple(wanted)

    def evaluate(self, *values: Any) -> Any:
        return np.broadcast_to(values[0], self.newshape)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (delta,)  # SumLike adds up what was stretched


@implements(np.broadcast_to)
def broadcast_to(array: Any, shape: Any) -> Any:
    return BroadcastTo.make((as_layer(array),), (ints(shape, "the shape of np.broadcast_to"),))


class BroadcastWith(Operation):
    """The first operand, stretched to the shape that all operands have together."""

    __slots__ = ()
    variadic = True
    shares = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(broadcast([array(spec).shape for spec in specs]), plain(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        return np.broadcast_to(values[0], np.broadcast_shapes(*map(np.shape, values)))

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (delta,) + (None,) * (len(operands) - 1)


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    operands = tuple([as_layer(one) for one in args])
    return tuple([BroadcastWith.make((one, *operands)) for one in operands])


class AtLeast(Rearranged):
    """With axes of size 1 added until there are `dimensions`, placed as `np.atleast_3d` and its like place them."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"dimensions": 1}

    def evaluate(self, *values: Any) -> Any:
        return (np.atleast_1d, np.atleast_2d, np.atleast_3d)[self.dimensions - 1](values[0])

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (ReshapeLike(delta, operand),)


def _at_least(dimensions: int, arrays: tuple[Any, ...]) -> Any:
    grown = tuple([AtLeast.make((as_layer(one),), (dimensions,)) for one in arrays])
    return grown[0] if len(grown) == 1 else grown


@implements(np.atleast_1d)
def atleast_1d(*arys: Any) -> Any:
    return _at_least(1, arys)


@implements(np.atleast_2d)
def atleast_2d(*arys: Any) -> Any:
    return _at_least(2, arys)


@implements(np.atleast_3d)
def atleast_3d(*arys: Any) -> Any:
    return _at_least(3, arys)


class Copy(Movement, numpy=np.copy):
    """The same entries, in memory of their own: later assignments to the one do not reach the other."""

    __slots__ = ()
    shares = False

    def moved(self, shape: Shape) -> Shape | None:
        return shape

    def simplify(self, specs: Any) -> AnyLayer | None:
        spec = self.infer(*specs)
        return self.operands[0] if specs[0] == spec and array(spec).shape else None  # of a number it is an array

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (delta,)


@implements(np.shape)
def shape_of(a: Any) -> Any:
    return as_layer(a).shape


@implements(np.ndim)
def ndim_of(a: Any) -> Any:
    return as_layer(a).ndim


@implements(np.size)
def size_of(a: Any, axis: Any = None) -> Any:
    layer: Any = as_layer(a)
    axis = ints(axis, "axis of np.size")
    if isinstance(axis, tuple):
        return int(np.prod([layer.shape[k] for k in normalize_axes(axis, layer.ndim)], dtype=int))
    return layer.size if axis is None else layer.shape[axis]
