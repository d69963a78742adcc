"""How does an array grow by copies of its entries, or by a border? Repeat, tile and pad, with their ways back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import unsupported
from symbolic.leaves import Literal
from symbolic.literal import as_layer
from symbolic.ops.axes import entry, ints, plain
from symbolic.ops.binding import implements
from symbolic.ops.deltas import Like
from symbolic.ops.operation import Operation, array, static
from symbolic.spec import AnySpec, Dim, Shape, Spec, normalize_axis, product, show


class Repeat(Operation, numpy=np.repeat):
    """Every entry, as often as the second operand says (one count, or one for each), along an axis."""

    __slots__ = ()
    operand_names = ("operand1", "operand2")
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
    operand_names = ("operand", "like", "counts")
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
    samples = ({"reps": 2}, {"reps": (2, 1)}, {"reps": (2, 1, 3)}, {"reps": (0,)})

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


# --------------------------------------------------------------------------- borders


class Pad(Operation):
    """With a border: `pad_width` entries of the second operand before and after, along each axis."""

    __slots__ = ()
    functions = (np.pad,)
    operand_names = ("operand1", "operand2")
    defaults: ClassVar[Any] = {"pad_width": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = plain(specs[0])
        if spec.shape is None:
            return spec
        sizes = [
            None if d is None else d + a + b for d, (a, b) in zip(spec.shape, self.widths(spec.shape), strict=True)
        ]
        return Spec(tuple(sizes), spec.dtype)

    def widths(self, shape: Shape) -> list[tuple[int, int]]:
        """What is added before and after, for each axis."""
        try:
            pairs = np.broadcast_to(np.asarray(self.pad_width, dtype=int), (len(shape), 2))
        except ValueError as error:
            seen = f"np.pad of an array of shape {show(shape)} with pad_width={self.pad_width}"
            raise ShapeError(seen, remedy="give a width, a pair (before, after), or one pair for each axis") from error
        if np.any(pairs < 0):
            raise ShapeError(f"np.pad with pad_width={self.pad_width}", remedy="widths cannot be negative")
        return [(int(a), int(b)) for a, b in pairs]

    def evaluate(self, *values: Any) -> Any:
        value = np.asarray(values[0])
        widths = self.widths(value.shape)
        sizes = [d + a + b for d, (a, b) in zip(value.shape, widths, strict=True)]
        padded = np.full(sizes, values[1], value.dtype)
        padded[tuple([slice(a, a + d) for d, (a, _) in zip(value.shape, widths, strict=True)])] = value
        return padded

    def gradient(self, delta: Any, out: Any, operand: Any, border: Any) -> Any:
        widths = self.widths((None,) * operand.ndim)
        inner = delta[tuple([slice(a, -b or None) for a, b in widths])]
        if isinstance(border, Literal):
            return inner, None
        inside = Pad.make((np.ones_like(operand), as_layer(0.0)), self.parameters)
        return inner, np.where(np.equal(inside, 0.0), delta, 0.0)


class BorderIndex(Operation):
    """Which entry of an axis stands at each place of the padded axis."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": 0, "width": (0, 0), "mode": "edge"}

    def infer(self, *specs: AnySpec) -> AnySpec:
        shape = array(specs[0]).shape
        size = None if shape is None else shape[self.axis]
        return Spec((None if size is None else size + sum(self.width),), np.dtype(np.intp))

    def evaluate(self, *values: Any) -> Any:
        return np.pad(np.arange(np.shape(values[0])[self.axis]), self.width, mode=self.mode)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


_BORDERS = ("edge", "reflect", "symmetric", "wrap")


@implements(
    np.pad,
    samples=(
        {"pad_width": 1},
        {"pad_width": (2, 1), "constant_values": 3.0},
        {"pad_width": 1, "constant_values": (1.0, 2.0)},
        *({"pad_width": (1, 2), "mode": mode} for mode in _BORDERS),
    ),
)
def pad(array: Any, pad_width: Any, mode: Any = "constant", constant_values: Any = 0) -> Any:
    operand = as_layer(array)
    widths = _widths(pad_width, operand)
    if mode == "constant":
        return _with_constants(operand, widths, constant_values)
    if mode not in _BORDERS:
        raise unsupported(f"np.pad with mode={mode!r}", f"use mode='constant' or one of {', '.join(_BORDERS)}")
    pairs = Pad.make((operand, as_layer(0)), (widths,)).widths((None,) * operand.ndim)
    padded: Any = operand
    for axis, width in enumerate(pairs):
        if width != (0, 0):
            padded = padded[entry(BorderIndex.make((padded,), (axis, width, mode)), axis)]
    return padded


def _widths(pad_width: Any, operand: Any) -> Any:
    if not isinstance(pad_width, dict):
        return ints(static(pad_width, "pad_width of np.pad"), "pad_width of np.pad")
    pairs: list[Any] = [(0, 0)] * operand.ndim
    for axis, width in pad_width.items():
        pairs[axis] = (width, width) if isinstance(width, int) else tuple(width)
    return tuple(pairs)


def _with_constants(operand: Any, widths: Any, constants: Any) -> Any:
    if not isinstance(constants, (tuple, list, np.ndarray)) or np.ndim(constants) == 0:
        return Pad.make((operand, as_layer(constants)), (widths,))
    pairs = Pad.make((operand, as_layer(0)), (widths,)).widths((None,) * operand.ndim)
    values = np.broadcast_to(np.asarray(constants), (operand.ndim, 2))
    for axis, width in enumerate(pairs):  # one side after the other: the last axis has the corners
        for side in (0, 1):
            some: Sequence[Any] = [(0, 0)] * operand.ndim
            one = tuple(
                [(width[0] * (side == 0), width[1] * (side == 1)) if k == axis else p for k, p in enumerate(some)]
            )
            operand = Pad.make((as_layer(operand), as_layer(values[axis, side])), (one,))
    return operand
