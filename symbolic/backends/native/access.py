"""Where in memory is an entry of a value? At an offset and a stride for each axis, as NumPy's views have it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

Sizes = tuple[int, ...]


class Along(NamedTuple):
    """Whole numbers for the entries of a view of the same shape: each says how many `step`s on its entry lies."""

    numbers: View
    step: int


class View(NamedTuple):
    """Entries of the value `base`, which lies in C order: offset and strides are counted in entries.

    Where an entry lies may depend on numbers that are only known when the program runs, `by` one value or several.
    """

    base: int
    shape: Sizes
    strides: Sizes
    offset: int = 0
    by: tuple[Along, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether the entries lie as if the view were a C-ordered array of its own from the base's beginning."""
        return self.offset == 0 and not self.by and _same_order(self.shape, self.strides)

    def over(self, shape: Sizes) -> View:
        """Broadcast to a shape: axes that are stretched have the stride 0."""
        if shape == self.shape and 1 not in shape and not self.by:
            return self
        lead = len(shape) - len(self.shape)
        pairs = zip(self.shape, self.strides, shape[lead:], strict=True)
        strides = tuple([0 if size == 1 or size != wanted else stride for size, stride, wanted in pairs])
        by = tuple([Along(one.numbers.over(shape), one.step) for one in self.by])
        return View(self.base, shape, (0,) * lead + strides, self.offset, by)

    def shaped(self, shape: Sizes) -> View:
        """With axes of size 1 more or fewer, the others in their order."""
        rest = iter([stride for size, stride in zip(self.shape, self.strides, strict=True) if size != 1])
        strides = tuple([0 if size == 1 else next(rest) for size in shape])
        by = tuple([Along(one.numbers.shaped(shape), one.step) for one in self.by])
        return View(self.base, shape, strides, self.offset, by)


def in_order(shape: Sequence[int]) -> Sizes:
    """The strides of a C-ordered array."""
    return _in_order(tuple(shape))


@lru_cache(4096)
def _in_order(shape: Sizes) -> Sizes:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def _same_order(shape: Sizes, strides: Sizes) -> bool:
    return all(size == 1 or a == b for size, a, b in zip(shape, strides, in_order(shape), strict=True))


def whole(base: int, shape: Sizes) -> View:
    return View(base, shape, in_order(shape))


def through(view: View, extent: int, movement: Callable[[Any], Any]) -> View | None:
    """The view that a movement makes of a view on a base of `extent` entries; `None` where it has to copy.

    NumPy is asked: it moves an array of bytes, all of them zero.
    """
    assert not view.by  # what numbers name has been copied
    memory = np.zeros(max(extent, 1), np.int8)
    given = as_strided(memory[view.offset :], view.shape, view.strides)
    made = movement(given)
    if isinstance(made, np.int8):  # a single entry, which NumPy has copied: which one?
        places = [int(movement(_numbered(view.shape, k))) for k in range(len(view.shape))]
        return View(view.base, (), (), view.offset + sum(map(operator.mul, places, view.strides)))
    if not isinstance(made, np.ndarray) or made.dtype != np.int8:
        return None
    offset = _address(made) - _address(memory)
    if made.size and not (0 <= offset < memory.size and _kin(made, memory)):
        return None
    return View(view.base, made.shape, made.strides, offset if made.size else 0)


def _numbered(shape: Sizes, axis: int) -> Any:
    """An array whose entries are their own places along an axis."""
    along = np.arange(shape[axis]).reshape([-1 if k == axis else 1 for k in range(len(shape))])
    return np.broadcast_to(along, shape)


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _kin(array: Any, memory: Any) -> bool:
    """Whether an array is a view on the memory, by however many steps."""
    while array is not None:
        if array is memory:
            return True
        array = getattr(array, "base", None)
    return False


def joined(shape: Sizes, strides: Sizes) -> int | None:
    """The stride of several axes as one, in C order; `None` where no single stride walks them."""
    kept = [(size, stride) for size, stride in zip(shape, strides, strict=True) if size != 1]
    if not kept:
        return 0
    for (_, outer), (size, inner) in pairwise(kept):
        if outer != inner * size:
            return None
    return kept[-1][1]
