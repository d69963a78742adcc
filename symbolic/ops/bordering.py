"""How does an array get a border? By constants, by entries that stand in it, by what they come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import AnyLayer, unsupported
from symbolic.leaves import Literal
from symbolic.literal import as_layer
from symbolic.ops.axes import entry, ints, plain
from symbolic.ops.binding import implements
from symbolic.ops.operation import Operation, array, static
from symbolic.spec import AnySpec, Shape, Spec, show


class Pad(Operation):
    """With a border: `pad_width` entries of the second operand before and after, along each axis."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.pad,)
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")
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


_KNOWN = 1 << 16
"""Entries of an axis up to which the indices of its border are written into the program."""


class BorderIndex(Operation):
    """Which entry of an axis stands at each place of the padded axis."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": 0, "width": (0, 0), "mode": "edge"}

    def infer(self, *specs: AnySpec) -> AnySpec:
        shape = array(specs[0]).shape
        size = None if shape is None else shape[self.axis]
        return Spec((None if size is None else size + sum(self.width),), np.dtype(np.intp))

    def evaluate(self, *values: Any) -> Any:
        return self._numbers(np.shape(values[0])[self.axis])

    def _numbers(self, size: int) -> Any:
        return np.pad(np.arange(size), self.width, mode=self.mode)

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        size = (array(specs[0]).shape or ())[self.axis] if array(specs[0]).shape is not None else None
        return Literal(self._numbers(size)) if isinstance(size, int) and 0 < size <= _KNOWN else None

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


_COPIES = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": np.max,
    "minimum": np.min,
    "mean": np.mean,
    "median": np.median,
}
_OPTIONS = {
    "constant": ("constant_values",),
    "linear_ramp": ("end_values",),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    **dict.fromkeys(_STATISTICS, ("stat_length",)),
}
"""The arguments that each mode takes; another one is an error in NumPy, too."""


@implements(
    np.pad,
    samples=(
        {"pad_width": 1},
        {"pad_width": (2, 1), "constant_values": 3.0},
        {"pad_width": 1, "constant_values": (1.0, 2.0)},
        *({"pad_width": (1, 2), "mode": mode} for mode in (*_COPIES, *_STATISTICS, "linear_ramp")),
        {"pad_width": (2, 1), "mode": "linear_ramp", "end_values": (1.5, -0.5)},
        {"pad_width": (2, 1), "mode": "mean", "stat_length": 1},
        {"pad_width": (1, 0), "mode": "reflect", "reflect_type": "odd"},
        {"pad_width": (0, 1), "mode": "symmetric", "reflect_type": "odd"},
    ),
)
def pad(
    array: Any,
    pad_width: Any,
    mode: Any = "constant",
    constant_values: Any = None,
    end_values: Any = None,
    stat_length: Any = None,
    reflect_type: Any = None,
) -> Any:
    named = (constant_values, end_values, stat_length, reflect_type)
    names = ("constant_values", "end_values", "stat_length", "reflect_type")
    options = {name: one for name, one in zip(names, named, strict=True) if one is not None}
    operand: Any = as_layer(array)
    for name in set(options) - set(_OPTIONS.get(mode, ()) if isinstance(mode, str) else ()):
        raise ValueError(f"np.pad with mode={mode!r} takes no {name}; leave it out")
    widths = _widths(pad_width, operand)
    if mode == "constant":
        return _with_constants(operand, widths, options.get("constant_values", 0))
    pairs = Pad.make((operand, as_layer(0)), (widths,)).widths((None,) * operand.ndim)
    if mode == "empty":
        return Pad.make((operand, as_layer(0)), (widths,))
    border = _border(mode, options, operand.ndim)
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            if mode not in _COPIES and not operand.shape[axis]:
                raise ValueError(f"np.pad with mode={mode!r} of an empty axis {axis}; use mode='constant'")
            operand = border(operand, axis, before, after)
    return operand if pairs else np.copy(operand)


def _border(mode: Any, options: dict[str, Any], rank: int) -> Callable[[Any, int, int, int], Any]:
    """What gives an array its border along one axis; the axes come one after the other, with the border so far."""
    if mode in _STATISTICS:
        return _statistical(_STATISTICS[mode], _sides(options.get("stat_length"), rank))
    if mode == "linear_ramp":
        return _ramped(_sides(options.get("end_values", 0), rank))
    if options.get("reflect_type", "even") == "odd":
        return _mirrored(mode)
    if mode not in _COPIES:
        known = ", ".join(["constant", "empty", "linear_ramp", *_COPIES, *_STATISTICS])
        raise unsupported(f"np.pad with mode={mode!r}", f"use one of {known}")
    return lambda x, axis, before, after: x[entry(BorderIndex.make((x,), (axis, (before, after), mode)), axis)]


def _sides(value: Any, rank: int) -> list[Any]:
    """For each axis the value before and the one after."""
    if value is None or (not isinstance(value, (tuple, list)) and np.ndim(value) == 0):
        return [(value, value)] * rank
    return list(np.broadcast_to(np.asarray(value), (rank, 2)).tolist())


def _statistical(function: Callable[..., Any], lengths: list[Any]) -> Callable[[Any, int, int, int], Any]:
    def border(x: Any, axis: int, before: int, after: int) -> Any:
        size = x.shape[axis]
        parts = [x]
        for count, length, last in zip((before, after), lengths[axis], (False, True), strict=True):
            length = size if length is None else min(length, size)
            part = x[entry(slice(size - length, None) if last else slice(0, length), axis)]
            value = np.astype(_whole(function(part, axis=axis, keepdims=True), x), x.dtype)
            parts.insert(len(parts) if last else 0, np.repeat(value, count, axis=axis))
        return np.concatenate(parts, axis=axis)

    return border


def _whole(value: Any, like: Any) -> Any:
    """Rounded, for an array of integers."""
    return np.round(value) if like.dtype.kind in "iu" and value.dtype.kind == "f" else value


def _ramped(ends: list[Any]) -> Callable[[Any, int, int, int], Any]:
    """From the end value in equal steps to the edge."""

    def border(x: Any, axis: int, before: int, after: int) -> Any:
        parts = [x]
        for count, end, last in zip((before, after), ends[axis], (False, True), strict=True):
            edge: Any = x[entry(slice(-1, None) if last else slice(0, 1), axis)]
            part = np.reshape(np.arange(count) / max(count, 1), (-1,) + (1,) * (x.ndim - 1 - axis))
            ramp = end + (edge - end) * (part[::-1] if last else part)
            ramp = np.astype(np.floor(ramp) if x.dtype.kind in "iu" else ramp, x.dtype)
            parts.insert(len(parts) if last else 0, ramp)
        return np.concatenate(parts, axis=axis)

    return border


def _mirrored(mode: str) -> Callable[[Any, int, int, int], Any]:
    """Twice the edge less the reflection: a line goes on as a line."""
    skip = 1 if mode == "reflect" else 0

    def border(x: Any, axis: int, before: int, after: int) -> Any:
        size = x.shape[axis]
        if size == 0:
            raise ValueError(f"np.pad with mode={mode!r} of an empty axis {axis}; use mode='constant'")
        if size == 1:  # one entry is no line, and stands for all
            return np.repeat(x, 1 + before + after, axis=axis)
        if max(before, after) > size - skip:
            raise unsupported(
                f"np.pad with reflect_type='odd' and a border of {max(before, after)} for {size} entries",
                "pad with narrower borders, several times",
            )
        first, last = x[entry(slice(0, 1), axis)], x[entry(slice(-1, None), axis)]
        left = x[entry(np.arange(before, 0, -1) - 1 + skip, axis)]
        right = x[entry(size - 1 - skip - np.arange(after), axis)]
        return np.astype(np.concatenate([2 * first - left, x, 2 * last - right], axis=axis), x.dtype)

    return border


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
            some: list[Any] = [(0, 0)] * operand.ndim
            one = tuple(
                [(width[0] * (side == 0), width[1] * (side == 1)) if k == axis else p for k, p in enumerate(some)]
            )
            operand = Pad.make((as_layer(operand), as_layer(values[axis, side])), (one,))
    return operand if pairs else np.copy(operand)
