"""What stands in a window that slides over the trailing axes? Every entry (a view), the greatest, or the sum.

Each operation has the same three parameters, `window`, `stride` and `dilation`: an int for each of the axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import as_strided

from symbolic.errors import ShapeError
from symbolic.literal import as_layer
from symbolic.ops.axes import plain
from symbolic.ops.operation import Operation, array
from symbolic.spec import AnySpec, Dim, Shape, Spec, show

Ints = tuple[int, ...]

_GEOMETRY = {"window": (2, 2), "stride": (2, 2), "dilation": (1, 1)}
_SAMPLES = ({"window": (1, 2), "stride": (1, 1)}, {"window": (2, 1), "stride": (1, 2)})


def places(shape: Shape, window: Ints, stride: Ints, dilation: Ints) -> Shape:
    """How many windows stand along each of the trailing axes."""
    if len(shape) < len(window):
        raise ShapeError(
            f"windows of size {window} over an array of shape {show(shape)}, which has too few axes",
            remedy=f"give an array with at least {len(window)} axes",
        )
    counts: list[Dim] = []
    for n, k, s, d in zip(shape[len(shape) - len(window) :], window, stride, dilation, strict=True):
        span = (k - 1) * d + 1
        if n is not None and n < span:
            raise ShapeError(
                f"a window of size {window} (dilation {dilation}) over an array of shape {show(shape)}: "
                f"it spans {span} entries of an axis of size {n}",
                remedy="use a smaller window, or more padding",
            )
        counts.append(None if n is None else (n - span) // s + 1)
    return tuple(counts)


def sliding(x: Any, window: Ints, stride: Ints, dilation: Ints) -> Any:
    """The windows of an array, as a view: its leading axes, the places, and the entries of a window."""
    lead = x.ndim - len(window)
    counts: Any = places(x.shape, window, stride, dilation)
    tail = x.strides[lead:]
    far = [step * s for step, s in zip(tail, stride, strict=True)]
    near = [step * d for step, d in zip(tail, dilation, strict=True)]
    shape = (*x.shape[:lead], *counts, *window)
    return as_strided(x, shape, (*x.strides[:lead], *far, *near), writeable=False)


class Windowed(Operation):
    """Parameters that all operations on windows have, and the shapes that follow."""

    __slots__ = ()
    defaults: ClassVar[Any] = _GEOMETRY
    samples: ClassVar[Any] = _SAMPLES

    def placed(self, spec: AnySpec) -> Shape | None:
        """The leading sizes of an operand and the number of places along the others."""
        shape = array(spec).shape
        if shape is None:
            return None
        return (*shape[: max(len(shape) - len(self.window), 0)], *places(shape, *self.parameters))

    def parts_of(self, x: Any, counts: Ints) -> Iterator[tuple[Ints, Any]]:
        """For each entry of a window, the view of `x` that stands there in all windows."""
        for offset in np.ndindex(*self.window):
            where = zip(offset, counts, self.stride, self.dilation, strict=True)
            slices = [slice(at * d, at * d + (n - 1) * s + 1 if n else 0, s) for at, n, s, d in where]
            yield offset, x[(Ellipsis, *slices)]

    def counts(self, x: Any) -> Ints:
        found: Any = places(np.shape(x), *self.parameters)
        return tuple(found)


class Windows(Windowed):
    """Every window over the trailing axes, as a view: leading axes, places, entries of the window."""

    __slots__ = ()
    shares = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        shape = self.placed(specs[0])
        return Spec(None if shape is None else (*shape, *self.window), plain(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        return sliding(np.asarray(values[0]), *self.parameters)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (Unwindows.make((as_layer(delta), operand), self.parameters),)


class _Returned(Windowed):
    """What came of windows, back in the shape of the array that they slid over."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "like")

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[1]).shape, array(specs[0]).dtype)


class Unwindows(_Returned):
    """Zeros like an operand, to which every window is added at its place: one sum for each entry of a window."""

    __slots__ = ()

    def evaluate(self, *values: Any) -> Any:
        delta, total = values[0], np.zeros(np.shape(values[1]), values[0].dtype)
        for offset, part in self.parts_of(total, self.counts(total)):
            part += delta[(Ellipsis, *offset)]
        return total

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any) -> Any:
        return Windows.make((as_layer(delta),), self.parameters), None


# --------------------------------------------------------------------------- the greatest entry


class WindowMax(Windowed):
    """The greatest entry of each window; entries that are equally great share the delta."""

    __slots__ = ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(self.placed(specs[0]), plain(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        x = np.asarray(values[0])
        parts = self.parts_of(x, self.counts(x))
        greatest = np.array(next(parts)[1])
        for _, part in parts:
            np.maximum(greatest, part, out=greatest)
        return greatest

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (WindowShare.make((as_layer(delta), operand, as_layer(out)), self.parameters),)


def _shares(parts: Iterator[tuple[Ints, Any]], greatest: Any) -> tuple[list[Any], Any]:
    """Which entries of the windows are the greatest, and how many are, in each."""
    chosen = [np.equal(part, greatest) for _, part in parts]
    count = np.zeros(np.shape(greatest), np.uint8 if len(chosen) < 256 else np.intp)
    for one in chosen:
        count += one.view(np.uint8)
    return chosen, np.maximum(count, 1)  # a window with a NaN has no greatest entry


class WindowShare(Windowed):
    """Zeros like an operand, to which the delta of each window is added at its greatest entries, in equal shares."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "like", "greatest")

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[1]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        delta, x, greatest = values
        counts = self.counts(x)
        chosen, count = _shares(self.parts_of(np.asarray(x), counts), greatest)
        share = np.divide(delta, count, dtype=delta.dtype)
        total, zero = np.zeros(np.shape(x), delta.dtype), delta.dtype.type(0)
        for one, (_, part) in zip(chosen, self.parts_of(total, counts), strict=True):
            part += np.where(one, share, zero)
        return total

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any, greatest: Any) -> Any:
        return WindowChoice.make((as_layer(delta), like, greatest), self.parameters), None, None


class WindowChoice(Windowed):
    """Of each window, the mean of the entries of the first operand where the second has its greatest."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "like", "greatest")

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[2]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        value, x, greatest = values
        counts = self.counts(x)
        chosen, count = _shares(self.parts_of(np.asarray(x), counts), greatest)
        total, zero = np.zeros(np.shape(greatest), value.dtype), value.dtype.type(0)
        for one, (_, part) in zip(chosen, self.parts_of(value, counts), strict=True):
            total += np.where(one, part, zero)
        return np.divide(total, count, dtype=value.dtype)

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any, greatest: Any) -> Any:
        return WindowShare.make((as_layer(delta), like, greatest), self.parameters), None, None


# --------------------------------------------------------------------------- the sum


class WindowSum(Windowed):
    """The sum of each window."""

    __slots__ = ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(self.placed(specs[0]), plain(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        x = np.asarray(values[0])
        parts = self.parts_of(x, self.counts(x))
        total = np.array(next(parts)[1])
        for _, part in parts:
            total += part
        return total

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (WindowSpread.make((as_layer(delta), operand), self.parameters),)


class WindowSpread(_Returned):
    """Zeros like an operand, to which the delta of each window is added at all its entries."""

    __slots__ = ()

    def evaluate(self, *values: Any) -> Any:
        total = np.zeros(np.shape(values[1]), values[0].dtype)
        for _, part in self.parts_of(total, self.counts(total)):
            part += values[0]
        return total

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any) -> Any:
        return WindowSum.make((as_layer(delta),), self.parameters), None
