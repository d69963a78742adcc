"""Which entries do arrays of whole numbers name? Each number is looked at once, before anything is read by it.

A number that names no entry is noted in the flag of the program, and stands for the first entry, so that no memory is
touched that is not meant. A program whose flag says so is run again by NumPy, which raises its error; nothing that it
gave is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from symbolic.backends.native.access import Along, Sizes, View, whole
from symbolic.backends.native.lowering import FLAG, Check, Lowered, NotLoops
from symbolic.backends.native.recipes import AGAIN
from symbolic.ops.regions import At
from symbolic.plan import Instruction
from symbolic.spec import normalize_axis

_NUMBER = np.dtype(np.int64)
_TRUTH = np.dtype(bool)


# --------------------------------------------------------------------------- numbers


def within(low: Lowered, k: int, size: int) -> View:
    """The numbers of a value, each counted from the front of `size` entries."""
    view, kind = low.views[k], low.dtype(k)
    if kind.kind not in "iu":
        raise NotLoops("its places are no whole numbers")
    if (view, size) not in low.within:
        value = low.constants.get(k)
        low.within[view, size] = _checked(low, view, kind, size) if value is None else _constant(low, value, size)
    return low.within[view, size]


def _constant(low: Lowered, value: Any, size: int) -> View:
    numbers = np.asarray(value).astype(_NUMBER)
    numbers = np.where(numbers < 0, numbers + size, numbers)
    if np.any((numbers < 0) | (numbers >= size)):
        raise NotLoops("its places are out of bounds")
    return low.views[low.constant(np.array(numbers, order="C"), numbers.shape, _NUMBER)]


def _checked(low: Lowered, view: View, kind: Any, size: int) -> View:
    """The same of numbers that are only known when the program runs."""
    if not low.again:
        raise NotLoops("it may raise, in a program that shows what it computes")

    def made(function: str, dtype: Any, *views: View) -> View:
        kinds = [low.dtype(one.base) for one in views]
        return low.point(low.fresh(view.shape, dtype), function, views, kinds)

    numbers = made("cast", _NUMBER, view)
    zero = low.number(0, _NUMBER)
    if kind.kind == "i" or kind.itemsize == _NUMBER.itemsize:
        from_end = made("add", _NUMBER, numbers, low.number(size, _NUMBER))
        numbers = made("where", _NUMBER, made("less", _TRUTH, numbers, zero), from_end, numbers)
    least = made("greater_equal", _TRUTH, numbers, zero)
    named = made("logical_and", _TRUTH, least, made("less", _TRUTH, numbers, low.number(size, _NUMBER)))
    low.tasks.append(Check(FLAG, view.shape, (named,), _TRUTH, AGAIN))
    return made("where", _NUMBER, named, numbers, zero)


# --------------------------------------------------------------------------- indices


def named(low: Lowered, view: View, index: Sequence[Any], sources: Sequence[int]) -> View:
    """The entries of a view that an index means; its arrays are broadcast together, as NumPy does it."""
    entries = _entries(low, index, sources, len(view.shape))
    numbers = [low.views[one.operand].shape for one in entries if isinstance(one, At)]
    together = np.broadcast_shapes(*numbers)
    first, axis, offset = _first(entries, numbers), 0, view.offset
    free: list[tuple[int, int]] = []  # size and stride of the axes that no array names
    by: list[tuple[int, int, int]] = []  # an array, the size and the stride of its axis
    for one in entries:
        if one is None or one is Ellipsis:
            free += [(1, 0)] if one is None else []
            continue
        size, stride = view.shape[axis], view.strides[axis]
        if isinstance(one, slice):
            start, stop, step = one.indices(size)
            free.append((len(range(start, stop, step)), stride * step))
            offset += start * stride
        elif isinstance(one, At):
            by.append((one.operand, size, stride))
        elif -size <= one < size:
            offset += (one + size if one < 0 else one) * stride
        else:
            raise NotLoops("its places are out of bounds")
        axis += 1
    sizes = tuple([size for size, _ in free])
    strides = tuple([stride for _, stride in free])
    shape = (*sizes[:first], *together, *sizes[first:])
    if 0 in shape:
        raise NotLoops("it has no entries")
    along = []
    for k, size, stride in by:
        found = within(low, k, size).over(together)
        rest = (0,) * (len(sizes) - first)
        found = View(found.base, shape, (*(0,) * first, *found.strides, *rest), found.offset)
        along += [Along(found, stride)] if stride else []
    return View(view.base, shape, (*strides[:first], *(0,) * len(together), *strides[first:]), offset, tuple(along))


def _entries(low: Lowered, index: Sequence[Any], sources: Sequence[int], rank: int) -> list[Any]:
    """One entry for each axis, `None` for a new one; what an `At` has is the slot of its numbers.

    An ellipsis stays where it means no axis: it stands between arrays even then.
    """
    entries: list[Any] = []
    for one in index:
        entries += _numbers(low, sources[one.operand]) if isinstance(one, At) else [one]
    missing = rank - sum(one is not None and one is not Ellipsis for one in entries)
    at = next((k for k, one in enumerate(entries) if one is Ellipsis), len(entries))
    return [*entries[:at], *([slice(None)] * missing or entries[at : at + 1]), *entries[at + 1 :]]


def _numbers(low: Lowered, k: int) -> list[Any]:
    """Numbers, or a mask that is known: the numbers of its entries for each of its axes."""
    value = low.constants.get(k)
    if low.dtype(k).kind != "b":
        return [At(k) if value is None or np.ndim(value) else int(value)]
    if value is None or np.ndim(value) == 0:
        raise NotLoops("its mask is only known when it runs")
    return [At(low.constant(one.astype(_NUMBER), one.shape, _NUMBER)) for one in np.nonzero(value)]


def _first(entries: Sequence[Any], numbers: Sequence[Sizes]) -> int:
    """Where among the other axes those of the arrays stand: NumPy is asked, with axes of size 2 for them."""
    rank = max(map(len, numbers), default=0)
    if rank == 0:
        return 0
    given: list[Any] = []
    places = iter(numbers)
    for one in entries:
        if isinstance(one, At):
            given.append(np.zeros((2,) * rank if len(next(places)) == rank else (), np.intp))
        else:
            given.append(0 if isinstance(one, int) else slice(None) if isinstance(one, slice) else one)
    axes = sum(one is not None and one is not Ellipsis for one in entries)
    shape: Sizes = np.shape(np.zeros((1,) * axes)[tuple(given)])
    return shape.index(2)


def get_item(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    kind = low.dtype(one.target)
    if low.dtype(one.sources[0]) != kind:
        raise NotLoops("it has another dtype than its operand")
    found = named(low, low.views[one.sources[0]], node.index, one.sources)
    low.point(one.target, "cast", [found], (kind,))


def masked(low: Lowered, one: Instruction, value: View) -> bool:
    """A number where a mask of the leading axes is true, and the array elsewhere; False where that is not all."""
    node: Any = one.node
    at = node.index[0] if len(node.index) == 1 and isinstance(node.index[0], At) else None
    if at is None or low.dtype(one.sources[at.operand]).kind != "b" or prod(value.shape) != 1:
        return False
    mask, base = low.views[one.sources[at.operand]], low.views[one.sources[0]]
    rank = len(mask.shape)
    if rank == 0 or mask.shape != base.shape[:rank] or len(value.shape) > 1:
        return False
    mask = mask.shaped((*mask.shape, *(1,) * (len(base.shape) - rank)))
    kind = low.dtype(one.target)
    low.point(one.target, "where", [mask, value, base], (_TRUTH, kind, kind))
    return True


def last_writer(low: Lowered, one: Instruction) -> None:
    """Each entry of the index writes its own number; then it is seen which numbers are still there."""
    node: Any = one.node
    shape, base = low.sizes(one.target), low.views[one.sources[0]].shape
    writer = low.made(low.fresh(base, _NUMBER))
    place = named(low, writer, node.index, one.sources)
    count = prod(shape)
    numbers = low.views[low.constant(np.arange(count).reshape(shape), shape, _NUMBER)]
    low.write(place, numbers)
    found = low.point(low.fresh(shape, _NUMBER), "cast", [place], (_NUMBER,))
    low.point(one.target, "equal", [found, numbers], (_NUMBER, _NUMBER))


# --------------------------------------------------------------------------- copies


def _copies(low: Lowered, counts: int, size: int) -> View:
    """Of which entry each copy is, where it is known how many there are of each."""
    known = low.constants.get(counts)
    if known is None:
        raise NotLoops("how often is only known when it runs")
    return _constant(low, np.repeat(np.arange(size), known), size)


def repeat(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    kind, view = low.dtype(one.target), low.views[one.sources[0]]
    if low.dtype(one.sources[0]) != kind:
        raise NotLoops("it has another dtype than its operand")
    view = low.moved(view, np.ravel) if node.axis is None else view
    found = _picked(low, view, one.sources[1], normalize_axis(node.axis or 0, len(view.shape)), low.sizes(one.target))
    low.point(one.target, "cast", [found], (kind,))


def repeated(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    delta, _, counts = one.sources
    kind, target = low.dtype(one.target), whole(one.target, low.sizes(one.target))
    if kind.kind != "f" or low.dtype(delta) != kind:
        raise NotLoops(f"it scatters {kind}")
    view = whole(one.target, (prod(target.shape),)) if node.axis is None else target
    axis = normalize_axis(node.axis or 0, len(view.shape))
    region = _picked(low, view, counts, axis, low.views[delta].shape)
    low.filled(one.target, low.number(0.0, kind))
    low.write(region, low.views[delta], adds=True)


def _picked(low: Lowered, view: View, counts: int, axis: int, shape: Sizes) -> View:
    """The entries of which there are copies."""
    numbers = _copies(low, counts, view.shape[axis])
    along = tuple([n if k == axis else 1 for k, n in enumerate(shape)])
    found = View(numbers.base, along, tuple([int(k == axis) for k in range(len(shape))])).over(shape)
    strides = tuple(
        [0 if k == axis or n == 1 else one for k, (n, one) in enumerate(zip(shape, view.strides, strict=True))]
    )
    by = (Along(found, view.strides[axis]),) if view.strides[axis] else ()
    return View(view.base, shape, strides, view.offset, by)


# --------------------------------------------------------------------------- along an axis


def along(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    kind = low.dtype(one.target)
    operand, numbers = one.sources
    if low.dtype(operand) != kind:
        raise NotLoops("it has another dtype than its operand")
    found = _along(low, low.views[operand], numbers, low.sizes(one.target), node.axis)
    low.point(one.target, "cast", [found], (kind,))


def added_along(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    delta, _, numbers = one.sources
    kind = low.dtype(one.target)
    if kind.kind not in "fiu" or low.dtype(delta) != kind:
        raise NotLoops(f"it scatters {kind}")
    target = whole(one.target, low.sizes(one.target))
    region = _along(low, target, numbers, low.views[delta].shape, node.axis)
    low.filled(one.target, low.number(0.0, kind))
    low.write(region, low.views[delta], adds=True)


def _along(low: Lowered, view: View, k: int, shape: Sizes, axis: int) -> View:
    """The entries that numbers name along an axis; the other axes are walked, or stretched."""
    axis = normalize_axis(axis, len(view.shape))
    numbers = within(low, k, view.shape[axis]).over(shape)
    others = [(1, 0) if n == axis else pair for n, pair in enumerate(zip(view.shape, view.strides, strict=True))]
    still = View(view.base, tuple([size for size, _ in others]), tuple([stride for _, stride in others]), view.offset)
    by = (Along(numbers, view.strides[axis]),) if view.strides[axis] else ()
    return still.over(shape)._replace(by=by)


__all__ = ["added_along", "along", "get_item", "last_writer", "masked", "named", "repeat", "repeated"]
