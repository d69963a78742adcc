"""Which box of an array is a region of it, and what of one box is within another?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symbolic.backends.native.access import Sizes, View, in_order


class Put(NamedTuple):
    """Entries that are written, or added, into a part of a value."""

    region: View
    value: View
    adds: bool = False


class Box(NamedTuple):
    """Where a part is: its first entry along each axis, and how many there are."""

    start: Sizes
    shape: Sizes

    @property
    def end(self) -> Sizes:
        return tuple([a + n for a, n in zip(self.start, self.shape, strict=True)])


class Wide(NamedTuple):
    """A term that is read beyond its entries, where zeros stand; it begins at `start`."""

    value: View
    start: Sizes


class Cell(NamedTuple):
    """A box, and the terms whose sum stands there: views of the box's shape, and until they have a place wide ones."""

    box: Box
    terms: tuple[Any, ...]


class Irregular(Exception):  # noqa: N818  # it says no
    """The parts are no boxes, or too many."""


def placed(shape: Sizes, put: Put) -> tuple[Box, View]:
    """The box that a region of an array is, and the value along the axes of the array."""
    region, value = put.region, put.value
    lead = len(value.shape) - len(region.shape)  # NumPy lets a value have more axes of size 1
    value = (value.shaped(value.shape[lead:]) if lead > 0 else value).over(region.shape)
    start = [int(k) for k in np.unravel_index(region.offset, shape)] if shape else []
    sizes, strides, offset = [1] * len(shape), [0] * len(shape), value.offset
    steps = {step: k for k, step in enumerate(in_order(shape)) if shape[k] != 1}
    for n, step, stride in zip(region.shape, region.strides, value.strides, strict=True):
        if n == 1:
            continue
        axis = steps.get(abs(step))
        if axis is None or sizes[axis] != 1:
            raise Irregular
        sizes[axis] = n
        strides[axis] = stride if step > 0 else -stride
        if step < 0:
            start[axis] -= n - 1
            offset += (n - 1) * stride
    if any(a < 0 or a + n > size for a, n, size in zip(start, sizes, shape, strict=True)):
        raise Irregular  # a view that runs on from the end of one row to the next
    return Box(tuple(start), tuple(sizes)), View(value.base, tuple(sizes), tuple(strides), offset)


def cut(cell: Cell, box: Box) -> tuple[Cell | None, list[Cell]]:
    """What of a cell is within a box, and the rest of it."""
    low = tuple([max(a, b) for a, b in zip(cell.box.start, box.start, strict=True)])
    ends = zip(cell.box.start, cell.box.shape, box.start, box.shape, strict=True)
    high = tuple([min(a + n, b + m) for a, n, b, m in ends])
    if any(a >= b for a, b in zip(low, high, strict=True)):
        return None, [cell]
    rest = []
    for axis in range(len(low)):
        start, stop = cell.box.start[axis], cell.box.start[axis] + cell.box.shape[axis]
        for a, b in ((start, low[axis]), (high[axis], stop)):
            if a < b:
                rest.append(_part(cell, axis, a, b))
        cell = _part(cell, axis, low[axis], high[axis])
    return cell, rest


def _part(cell: Cell, axis: int, start: int, stop: int) -> Cell:
    """From one place to another along an axis."""
    away = start - cell.box.start[axis]

    def along(sizes: Sizes, value: int) -> Sizes:
        return (*sizes[:axis], value, *sizes[axis + 1 :])

    shape = along(cell.box.shape, stop - start)
    terms = [
        one if isinstance(one, Wide) else View(one.base, shape, one.strides, one.offset + away * one.strides[axis])
        for one in cell.terms
    ]
    return Cell(Box(along(cell.box.start, start), shape), tuple(terms))


def inner_product(place: Sequence[int], strides: Sizes) -> int:
    return sum(a * b for a, b in zip(place, strides, strict=True))
