"""Which operations write into a part of an array? What is joined, padded, assigned, or scattered back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symbolic.backends.native.access import View
from symbolic.backends.native.gathering import masked, named
from symbolic.backends.native.lowering import Lowered, NotLoops
from symbolic.backends.native.pieces import Put, at, region, rolled, together
from symbolic.ops.indexing import is_static
from symbolic.ops.turning import Roll
from symbolic.plan import Instruction

_ENTRIES = 32
"""Single entries beyond which an assignment to them is left to NumPy."""


def refused(low: Lowered, one: Instruction) -> None:
    raise NotLoops(f"{type(one.node).__name__} is not written as loops")


def concatenate(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    start, puts = 0, []
    if node.axis is None:
        raise NotLoops("it joins flattened arrays")
    for k in one.sources:
        view = low.views[k]
        stop = start + view.shape[node.axis]
        puts.append(Put(region(low, one.target, _along(len(view.shape), node.axis, start, stop)), view))
        start = stop
    together(low, one.target, None, puts)


def _along(rank: int, axis: int, start: int, stop: int) -> Any:
    index: list[Any] = [slice(None)] * rank
    index[axis] = slice(start, stop)
    return tuple(index)


def stack(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    rank, puts = len(low.sizes(one.target)), []
    for n, k in enumerate(one.sources):
        index: list[Any] = [slice(None)] * rank
        index[node.axis] = n
        puts.append(Put(region(low, one.target, tuple(index)), low.views[k]))
    together(low, one.target, None, puts)


def pad(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    inner, border = one.sources
    shape, target = low.views[inner].shape, one.target
    if low.views[border].shape != ():
        raise NotLoops("it has a border of several numbers")
    begins, number = tuple([a for a, _ in node.widths(shape)]), low.constants.get(border)
    if number is not None and number != 0:
        low.bordered(target, low.views[inner], begins, low.views[border])
        return
    index = tuple([slice(a, a + n) for n, a in zip(shape, begins, strict=True)])
    together(low, target, low.views[border], [Put(region(low, target, index), low.views[inner])])


def roll(low: Lowered, one: Instruction) -> None:
    """With all others of the same value, so that they are read out of one array."""
    (k,) = one.sources
    node: Any = one.node
    view, kind = low.views[k], low.dtype(one.target)
    if node.axis is None:
        flat = low.moved(view, np.ravel)
        (found,) = rolled(low, flat, [(int(np.sum(node.shift)),)], kind)
        low.views[one.target] = low.moved(found, lambda x: x.reshape(view.shape))
        return
    if one.target not in low.rolled:
        alike = [other for other in low.program.instructions if other.sources == (k,) and _turns(other)]
        shifts = [_shifts(other, len(view.shape)) for other in alike]
        if any(sum(map(abs, by)) * 4 > min(view.shape) for by in shifts):
            alike, shifts = [one], [_shifts(one, len(view.shape))]
        low.rolled.update(zip([other.target for other in alike], rolled(low, view, shifts, kind), strict=True))
    low.views[one.target] = low.rolled[one.target]


def _turns(one: Instruction) -> bool:
    return isinstance(one.node, Roll) and one.node.axis is not None


def _shifts(one: Instruction, rank: int) -> tuple[int, ...]:
    """By how much it turns each axis."""
    node: Any = one.node
    found = [0] * rank
    for shift, axis in np.broadcast(node.shift, node.axis):
        found[axis] += int(shift)
    return tuple(found)


def added(low: Lowered, one: Instruction, negative: bool) -> bool:
    """A sum with what is put together for it alone: each part is added where it is made."""
    kinds, shape = {low.dtype(k) for k in (*one.sources, one.target)}, low.sizes(one.target)
    pairs = list(zip(one.sources[::-1], one.sources, strict=True))
    for k, other in pairs[: 1 if negative else 2]:
        cells = low.cells.get(k, ())
        if len(cells) < 2 or low.uses[k] != 1 or len(kinds) != 1 or low.sizes(k) != shape:
            continue
        puts = []
        for cell in cells:
            place = region(low, one.target, tuple(map(slice, cell.box.start, cell.box.end)))
            for term in cell.terms:
                if negative:
                    kind = low.dtype(one.target)
                    term = low.point(low.fresh(term.shape, kind), "negative", [term], (kind,))
                puts.append(Put(place, term, True))
        together(low, one.target, low.views[other].over(shape), puts)
        return True
    return False


def _start(low: Lowered, k: int) -> int:
    value = low.constants.get(k)
    if value is None:
        raise NotLoops("its place is only known when it runs")
    return int(value)


def piece(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    value, like, start = one.sources
    begin = _start(low, start)
    shape = low.views[value].shape
    index = _along(len(shape), node.axis, begin, begin + low.views[like].shape[node.axis])
    low.views[one.target] = low.moved(low.views[value], at(index))


def placed(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    value, _, start = one.sources
    begin, shape = _start(low, start), low.views[value].shape
    index = _along(len(shape), node.axis, begin, begin + shape[node.axis])
    zero = low.number(0.0, low.dtype(one.target))
    together(low, one.target, zero, [Put(region(low, one.target, index), low.views[value])])


def scatter(low: Lowered, one: Instruction) -> None:
    _adding(low, one, low.number(0.0, low.dtype(one.target)))


def add_at(low: Lowered, one: Instruction) -> None:
    _adding(low, one, low.views[one.sources[0]])


def _adding(low: Lowered, one: Instruction, base: View) -> None:
    node: Any = one.node
    if low.dtype(one.target).kind not in "fiu":
        raise NotLoops(f"it scatters {low.dtype(one.target)}")
    if all(is_static(index) for _, index in node.places):
        puts = [Put(_meant(low, one, index), low.views[one.sources[k]], True) for k, index in node.places]
        together(low, one.target, base, puts)
        return
    low.filled(one.target, base)
    for k, index in node.places:
        low.write(_meant(low, one, index), _of_dtype(low, one.sources[k], one.target), adds=True)


def _meant(low: Lowered, one: Instruction, index: Any) -> View:
    """The part of the target that an index means."""
    if is_static(index):
        return region(low, one.target, index)
    return named(low, low.views[one.target], index, one.sources)


def _of_dtype(low: Lowered, k: int, target: int) -> Any:
    view, kind, want = low.views[k], low.dtype(k), low.dtype(target)
    return view if kind == want else low.point(low.fresh(view.shape, want), "cast", [view], (kind,))


def set_item(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    base, value = one.sources[:2]
    _check_kinds(low, one, one.sources[1:2])
    if is_static(node.index):
        together(low, one.target, low.views[base], [Put(_meant(low, one, node.index), low.views[value])])
    elif not masked(low, one, _of_dtype(low, value, one.target)):
        low.filled(one.target, low.views[base])
        low.write(_meant(low, one, node.index), _of_dtype(low, value, one.target))


def _check_kinds(low: Lowered, one: Instruction, values: Sequence[int]) -> None:
    base = low.dtype(one.sources[0])
    if base != low.dtype(one.target) or any(low.dtype(k).kind not in _HELD[base.kind] for k in values):
        raise NotLoops("it writes numbers of another kind")


_HELD = {"f": "fiub", "i": "i", "u": "u", "b": "b"}
"""Numbers of which kinds an array takes as they are."""


def set_entries(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    _check_kinds(low, one, one.sources[1:])
    if len(node.places) > _ENTRIES:
        raise NotLoops("it writes many single entries")
    pairs = zip(node.places, one.sources[1:], strict=True)
    puts = [Put(region(low, one.target, place), low.views[k]) for place, k in pairs]
    together(low, one.target, low.views[one.sources[0]], puts)
