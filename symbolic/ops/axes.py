"""How are axes and sizes named? As parameters that can be compared and printed, and by an index of any rank."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import AnyLayer
from symbolic.leaves import Literal
from symbolic.ops.binding import Kernel
from symbolic.ops.families import Movement
from symbolic.ops.operation import Operation, array, static
from symbolic.ops.passing import Mark
from symbolic.polynomial import Size, Undecided
from symbolic.spec import AnySpec, AxisShapeError, Shape, Spec, normalize_axis, show

NO_MEMORY = np.empty((), np.dtype([]))
"""An array of no bytes: NumPy says what shape a movement gives, and nothing moves."""


class At(NamedTuple):
    """The place of an operand in an index."""

    operand: int


def ints(value: Any, what: str) -> Any:
    """A parameter that is an int or a tuple of ints, as it can be compared and printed."""
    if value is None or isinstance(value, Size):
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(static(value, what), np.ndarray) and value.ndim == 0:
        return int(value)
    return tuple([ints(one, what) for one in value])


def plain(spec: AnySpec) -> Spec:
    """The spec as an array's: NumPy makes an array of a Python number before it moves anything."""
    given = array(spec)
    return given if given.python is None else Spec(given.shape, given.dtype)


def entry(what: Any, axis: int) -> tuple[Any, ...]:
    """The index that takes `what` along an axis, whatever the rank."""
    if axis >= 0:
        return (slice(None),) * axis + (what,)
    return (Ellipsis, what) + (slice(None),) * (-axis - 1)


def along(shape: tuple[int, ...], indices: Any, axis: int) -> tuple[Any, ...]:
    """The index that numbers the entries along one axis and runs through the others."""
    axis, rank = normalize_axis(axis, len(shape)), len(shape)
    grid: list[Any] = [np.arange(n).reshape((-1,) + (1,) * (rank - 1 - k)) for k, n in enumerate(shape)]
    grid[axis] = indices
    return tuple(grid)


class Rearranged(Movement):
    """A movement whose shape NumPy says, asked with two different sizes in the place of one unknown or only named."""

    __slots__ = ()

    def moved(self, shape: Shape) -> Shape | None:
        names: list[Any] = [size for size in dict.fromkeys(shape) if isinstance(size, Size)]
        if names:
            one, other = (self._with_names(shape, names, numbers) for numbers in _numbers(shape, len(names)))
        else:
            one, other = (self._asked(tuple([size if d is None else d for d in shape])) for size in (2, 3))
        if len(one) != len(other):
            return None
        return tuple([a if a == b else None for a, b in zip(one, other, strict=True)])

    def _with_names(self, shape: Shape, names: Sequence[Any], numbers: Sequence[int]) -> tuple[Any, ...]:
        """The answer for a number in the place of each name, the names again where their numbers stand in it."""
        given: dict[Any, int] = dict(zip(names, numbers, strict=True))
        meant = {number: name for name, number in given.items()}
        if None in shape:
            raise Undecided("a size that is not known")
        return tuple([meant.get(size, size) for size in self._asked(tuple([given.get(d, d) for d in shape]), shape)])  # type: ignore[misc]  # none is None

    def _asked(self, shape: tuple[int, ...], shown: Shape | None = None) -> tuple[int, ...]:
        try:
            return np.shape(self.evaluate(np.broadcast_to(NO_MEMORY, shape)))
        except (ValueError, IndexError) as error:
            kind = AxisShapeError if isinstance(error, np.exceptions.AxisError) else ShapeError
            seen = f"{type(self).__name__} of an array of shape {show(shown or shape)}: {error}"
            raise kind(seen, remedy="name axes that the array has") from error


class Permuted(Rearranged):
    """The axes in another order, by parameters that have a hash."""

    __slots__ = ()

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        """By a method of arrays, for the order that is found on an array each of whose sizes is another."""
        (spec,) = specs
        rank = len(spec.shape) if isinstance(spec, Spec) and spec.shape is not None else 0
        if rank < 2:
            return super().kernel(specs, out)
        key = (type(self), self.key(), rank)
        if key not in _PERMUTING:
            if len(_PERMUTING) >= _MOST:
                _PERMUTING.clear()
            _PERMUTING[key] = self._permuting(rank)
        return _PERMUTING[key], False

    def _permuting(self, rank: int) -> Kernel:
        order = [size - 2 for size in np.shape(self.evaluate(np.broadcast_to(NO_MEMORY, tuple(range(2, rank + 2)))))]
        return attrgetter("T") if order == list(range(rank))[::-1] else methodcaller("transpose", order)


_MOST = 256
_PERMUTING: dict[Any, Kernel] = {}
"""Many a gradient transposes what is like a matrix before it."""


def in_order(operand: AnyLayer, spec: AnySpec) -> bool | None:
    """True where the entries certainly lie in C order: of an array that the body made, of a vector that is no view."""
    if isinstance(operand, Literal) and isinstance(operand.value, np.ndarray):
        return bool(operand.value.flags.c_contiguous) or None
    plain_vector = isinstance(spec, Spec) and spec.shape is not None and len(spec.shape) <= 1
    view = isinstance(operand, Operation) and operand.shares and not isinstance(operand, Mark)
    return True if plain_vector and not view else None


def _numbers(shape: Shape, count: int) -> tuple[Sequence[int], Sequence[int]]:
    """Numbers for so many names, twice: none is a size of the shape, and neither name is the smaller one in both."""
    largest = max([size for size in shape if isinstance(size, int)], default=0) + 1009
    return range(largest, largest + count), range(largest + 3 * count, largest + 2 * count, -1)
