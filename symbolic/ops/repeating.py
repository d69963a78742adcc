"""How does an array grow by copies of its entries? Repeat, tile and resize."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.leaves import Literal
from symbolic.literal import as_layer
from symbolic.ops.axes import entry, ints, plain
from symbolic.ops.binding import implements
from symbolic.ops.deltas import Like
from symbolic.ops.operation import Operation, array
from symbolic.spec import AnySpec, Dim, Shape, Spec, normalize_axis, product


class Repeat(Operation, numpy=np.repeat):
    """Every entry, as often as the second operand says (one count, or one for each), along an axis."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")
    defaults: ClassVar[Any] = {"axis": None}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec, counts = plain(specs[0]), self.operands[1]
        if spec.shape is None:
            return Spec(None if self.axis is not None else (None,), spec.dtype)
        shape = (product(spec.shape),) if self.axis is None else spec.shape
        axis = normalize_axis(self.axis or 0, len(shape))
        many = _repeated(shape[axis], counts.value) if isinstance(counts, Literal) else None
        return Spec((*shape[:axis], many, *shape[axis + 1 :]), spec.dtype)

    def evaluate(self, *values: Any) -> Any:
        return np.repeat(values[0], values[1], axis=self.axis)

    def gradient(self, delta: Any, out: Any, operand: Any, counts: Any) -> Any:
        return RepeatedLike.make((as_layer(delta), operand, counts), self.parameters), None


def _repeated(size: Dim, counts: Any) -> Dim:
    if np.size(counts) == 1:
        return None if size is None else size * int(np.reshape(counts, ()))
    if size not in (None, np.size(counts)):
        raise ShapeError(
            f"np.repeat of an axis of size {size} with {np.size(counts)} counts",
            remedy="give one count, or as many as the axis has entries",
        )
    return int(np.sum(counts))


class RepeatedLike(Operation):
    """The sum of the copies that `Repeat` made."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "like", "counts")
    defaults: ClassVar[Any] = {"axis": None}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[1]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        delta, shape, counts = values[0], np.shape(values[1]), values[2]
        axis = normalize_axis(self.axis, len(shape)) if self.axis is not None else 0
        flat = shape if self.axis is not None else (int(np.prod(shape, dtype=int)),)
        if np.size(counts) == 1:
            parts = np.reshape(delta, (*flat[: axis + 1], int(np.reshape(counts, ())), *flat[axis + 1 :]))
            return np.reshape(np.add.reduce(parts, axis=axis + 1), shape)
        total = np.zeros(flat, np.asarray(delta).dtype)
        np.add.at(total, entry(np.repeat(np.arange(flat[axis]), counts), axis), delta)
        return np.reshape(total, shape)

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any, counts: Any) -> Any:
        return Repeat.make((as_layer(delta), counts), self.parameters), None, None


class Tile(Operation, numpy=np.tile):
    """The whole array, side by side as often as `reps` says for each axis."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"reps": ()}
    samples: ClassVar[Any] = ({"reps": 2}, {"reps": (2, 1)}, {"reps": (2, 1, 3)}, {"reps": (0,)})

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = plain(specs[0])
        if spec.shape is None:
            return spec
        shape, reps = _padded(spec.shape, self.reps)
        return Spec(tuple([None if d is None else d * r for d, r in zip(shape, reps, strict=True)]), spec.dtype)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (TiledLike.make((as_layer(delta), operand), self.parameters),)


def _padded(shape: Shape, reps: Any) -> tuple[Shape, tuple[int, ...]]:
    counts = (reps,) if isinstance(reps, int) else tuple(reps)
    rank = max(len(shape), len(counts))
    return (1,) * (rank - len(shape)) + tuple(shape), (1,) * (rank - len(counts)) + counts


class TiledLike(Like):
    """The sum of the tiles that `Tile` made."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"reps": ()}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[1]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        shape: Any
        shape, reps = _padded(np.shape(values[1]), self.reps)
        parts = np.reshape(values[0], [n for pair in zip(reps, shape, strict=True) for n in pair])
        return np.reshape(np.add.reduce(parts, axis=tuple(range(0, 2 * len(reps), 2))), np.shape(values[1]))

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any) -> Any:
        return Tile.make((as_layer(delta),), self.parameters), None


@implements(np.tile, samples=Tile.samples)
def tile(A: Any, reps: Any) -> Any:
    return Tile.make((as_layer(A),), (ints(reps, "reps of np.tile"),))


@implements(np.resize, operands="some", samples=({"new_shape": 3}, {"new_shape": (2, 4)}, {"new_shape": (0, 2)}))
def resize(a: Any, new_shape: Any) -> Any:
    """The entries in order, from the start again when there are no more of them."""
    wanted = ints(new_shape, "new_shape of np.resize")
    wanted = (wanted,) if isinstance(wanted, int) else wanted
    if any(size < 0 for size in wanted):
        raise ValueError(f"np.resize to shape {wanted}; sizes cannot be negative")
    flat: Any = np.ravel(as_layer(a))
    count = int(np.prod(wanted, dtype=int))
    if flat.size == 0:
        return np.zeros_like(flat, shape=wanted)
    return np.reshape(flat[np.arange(count) % flat.size], wanted)
