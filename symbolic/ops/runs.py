"""Which slices is an array of indices? Borders, and neighbours on a ring, are a few pieces that lie in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symbolic.layer import AnyLayer
from symbolic.leaves import Literal
from symbolic.ops.regions import At, Template
from symbolic.spec import Shape

_LENGTH = 3
"""Entries in a piece, on average, from which on pieces are better than single entries."""


class Runs(NamedTuple):
    """The axis whose entries are named, and the same index for each piece of them."""

    axis: int
    pieces: tuple[Template, ...]
    sizes: tuple[int, ...]

    def parts(self) -> list[tuple[slice, ...]]:
        """Where each piece is in what was read."""
        ends = np.cumsum(self.sizes).tolist()
        return [(slice(None),) * self.axis + (slice(b - n, b),) for b, n in zip(ends, self.sizes, strict=True)]


def runs(index: Template, operands: Sequence[AnyLayer], shape: Shape | None) -> Runs | None:
    """An index in slices; `None` unless it has one array, known and of one axis, and slices beside it."""
    arrays = [k for k, one in enumerate(index) if isinstance(one, At)]
    if shape is None or len(arrays) != 1 or any(isinstance(one, int) or one is None for one in index):
        return None
    (at,) = arrays
    operand = operands[index[at].operand]
    before = sum(len(shape) - len(index) + 1 if one is Ellipsis else 1 for one in index[:at])
    size = shape[before] if before < len(shape) else None
    if not isinstance(operand, Literal) or not isinstance(size, int):
        return None
    slices = _slices(np.asarray(operand.value), size)
    if slices is None:
        return None
    pieces = tuple([(*index[:at], one, *index[at + 1 :]) for one, _ in slices])
    return Runs(before, pieces, tuple([n for _, n in slices]))


def _slices(numbers: Any, size: int) -> list[tuple[slice, int]] | None:
    """The slices that name these entries in order, and how many each names."""
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not numbers.size:
        return None
    if numbers.min() < -size or numbers.max() >= size:
        return None  # NumPy says so
    numbers = np.where(numbers < 0, numbers + size, numbers)
    found: list[tuple[slice, int]] = []
    start, steps = 0, np.diff(numbers)
    while start < numbers.size:
        if len(found) * _LENGTH > numbers.size:
            return None
        step = int(steps[start]) if start < steps.size else 1
        others = np.flatnonzero(steps[start:] != step) if abs(step) == 1 else np.zeros(1, int)
        count = int(others[0]) + 1 if others.size else numbers.size - start
        found.append((_slice(int(numbers[start]), step if count > 1 else 1, count), count))
        start += count
    return found if len(found) * _LENGTH <= numbers.size else None


def _slice(first: int, step: int, count: int) -> slice:
    stop = first + step * count
    return slice(first, None if stop < 0 else stop, step)
