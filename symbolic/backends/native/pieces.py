"""How does a value come together from parts of others? In boxes that do not meet, each of which is written once.

So nothing is filled before it is written, and what computes a part may write it where it belongs. Sums of shifted
parts, as the way back of `x[1:] - x[:-1]` has them, are read rather than written at their places: each part lies within
a border of zeros, in which no one ever writes, and all of them are added up in one pass.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from symbolic.backends.native.access import Sizes, View, in_order, whole
from symbolic.backends.native.boxes import Box, Cell, Irregular, Put, Wide, cut, inner_product, placed
from symbolic.backends.native.lowering import Lowered, NotLoops, Point, Write

_MOST = 64
"""Boxes beyond which the parts are written one after the other instead."""
_LARGE = 1e30
"""A number below which its products with zeros are zeros in every precision."""
_FEW = 9
"""Boxes of another value up to which each of them is looked up."""


def together(low: Lowered, target: int, base: View | None, puts: Sequence[Put], partly: bool = False) -> None:
    """The target, which begins as `base`, with what is put into it in order.

    Without a base the parts are all of it, or all of it that is ever read, if it is there `partly`.
    """
    kind = low.dtype(target)
    puts = [one._replace(value=_in_dtype(low, one.value, kind)) for one in puts]
    base = None if base is None else _in_dtype(low, base, kind)
    tasks = len(low.tasks)
    try:
        cells = _cells(low, target, base, [part for one in puts for part in _from_afar(low, one)])
        cells = [cell for cell in cells if cell.terms or not partly]
        if not all(cell.terms for cell in cells):
            raise Irregular
    except Irregular:
        del low.tasks[tasks:]
        _in_turn(low, target, base, puts)
        return
    cells = _narrowed(low, cells)
    low.cells[target] = cells
    _write(low, target, cells)


def _in_dtype(low: Lowered, view: View, kind: Any) -> View:
    low.fits(view, kind)
    given = low.dtype(view.base)
    if given == kind:
        return low.copied(view, kind, always=True) if view.by else view
    constant = low.constants.get(view.base)
    if constant is not None and np.ndim(constant) == 0 and kind.kind == "f":
        return low.number(float(constant), kind).over(view.shape)
    return low.point(low.fresh(view.shape, kind), "cast", [view], (given,))


def _in_turn(low: Lowered, target: int, base: View | None, puts: Sequence[Put]) -> None:
    """A pass for each part, over what was there before."""
    low.made(target) if base is None else low.filled(target, base)
    for region, value, adds in puts:
        low.write(region, value, adds)


# --------------------------------------------------------------------------- which boxes
def _cells(low: Lowered, target: int, base: View | None, puts: Sequence[Put]) -> list[Cell]:
    shape = low.sizes(target)
    cells = _begun(low, shape, base)
    several = sum(put.adds and _is_large(put, shape) for put in puts) > 1
    for put in puts:
        box, value = placed(shape, put)
        if put.adds:
            cells = _added(low, cells, box, value, several and _is_large(put, shape))
        else:
            cells = [part for cell in cells for part in cut(cell, box)[1]]
            cells.append(Cell(box, (value,)))
        if len(cells) > _MOST:
            raise Irregular
    return cells


def _is_large(put: Put, shape: Sizes) -> bool:
    return 2 * prod(put.region.shape) >= prod(shape)


def _begun(low: Lowered, shape: Sizes, base: View | None) -> list[Cell]:
    """What is there at first; of a value that nobody else reads, what that was made of."""
    known = None if base is None else low.cells.get(base.base)
    if base is not None and known and low.uses[base.base] == 1 and base == whole(base.base, low.sizes(base.base)):
        return list(known)
    return [Cell(Box((0,) * len(shape), shape), () if base is None else (base.over(shape),))]


def _from_afar(low: Lowered, put: Put) -> list[Put]:
    """What is put, from where it was put together before: an array that only hands its parts on is never made."""
    region, value = put.region, put.value
    cells = low.cells.get(value.base, ())
    if not 0 < len(cells) <= _FEW or not all(_lies(low, cell) for cell in cells) or value.shape != region.shape:
        return [put]
    shape = low.sizes(value.base)
    try:
        box, _ = placed(shape, Put(value, value))
    except Irregular:
        return [put]
    if min(value.strides, default=0) < 0:
        return [put]
    steps = in_order(shape)
    axes = [steps.index(step) if n != 1 else -1 for n, step in zip(value.shape, value.strides, strict=True)]
    found = []
    for cell in cells:
        inner, _ = cut(cell, box)
        if inner is None:
            continue
        sizes = tuple([1 if k < 0 else inner.box.shape[k] for k in axes])
        away = [0 if k < 0 else inner.box.start[k] - box.start[k] for k in axes]
        offset = region.offset + inner_product(away, region.strides)
        place = region._replace(shape=sizes, offset=offset)
        for n, one in enumerate(inner.terms):
            strides = tuple([0 if k < 0 else one.strides[k] for k in axes])
            found.append(Put(place, View(one.base, sizes, strides, one.offset), put.adds or n > 0))
    return found


def _lies(low: Lowered, cell: Cell) -> bool:
    """Whether the terms of a cell lie in memory anyway."""
    return len(cell.terms) <= 2 and all(one.base not in low.pointwise or low.uses[one.base] > 1 for one in cell.terms)


def _added(low: Lowered, cells: list[Cell], box: Box, value: View, large: bool) -> list[Cell]:
    """The cells with a value added to those entries of them that are in a box."""
    pairs = [cut(cell, box) for cell in cells]
    if large and _may_be_wide(low, value) and any(inner is not None and rest for inner, rest in pairs):
        wide = Wide(value, box.start)
        touched = zip(cells, pairs, strict=True)
        return [cell._replace(terms=(*cell.terms, wide)) if inner is not None else cell for cell, (inner, _) in touched]
    found = []
    for inner, rest in pairs:
        found += rest
        if inner is not None:
            there = [a - b for a, b in zip(inner.box.start, box.start, strict=True)]
            offset = value.offset + inner_product(there, value.strides)
            part = View(value.base, inner.box.shape, value.strides, offset)
            found.append(inner._replace(terms=(*inner.terms, part)))
    return found


def _may_be_wide(low: Lowered, value: View) -> bool:
    """Whether a value is computed entry by entry, so that its entries may be written anywhere."""
    return value.base in low.pointwise and value.whole and prod(value.shape) == low.extent(value.base)


# --------------------------------------------------------------------------- borders of zeros
def _narrowed(low: Lowered, cells: list[Cell]) -> list[Cell]:
    """The cells with views in the place of wide terms, and without the zeros that sums begin with."""
    wide = {one.value.base for cell in cells for one in cell.terms if isinstance(one, Wide)}
    reach: dict[View, list[tuple[Box, Sizes]]] = {}
    for cell in cells:
        for one in cell.terms:
            if isinstance(one, Wide):
                root, _ = _multiple(low, one.value, wide)
                reach.setdefault(root, []).append((cell.box, one.start))
    lying = {value: _bordered(low, value, uses) for value, uses in reach.items()}

    def narrow(one: View | Wide, box: Box) -> View:
        if isinstance(one, View):
            return one
        root, by = _multiple(low, one.value, wide)
        return _through(low, _narrow(one, box, *lying[root]), by)

    return [cell._replace(terms=_sum(low, [narrow(one, cell.box) for one in cell.terms])) for cell in cells]


def _multiple(low: Lowered, value: View, wide: set[int]) -> tuple[View, list[Point]]:
    """The value of which another is a multiple, if it is wide as well, and how the other is made of it."""
    by: list[Point] = []
    at = value
    while (task := low.pointwise.get(at.base)) is not None:
        some = [one for one in task.operands if one.base not in low.constants]
        if task.function not in ("negative", "multiply") or len(some) != 1 or not _is_finite(low, task):
            break
        by.append(task)
        (at,) = some
        if at != value._replace(base=at.base) or low.dtype(at.base) != task.dtype or at.base not in low.pointwise:
            break
        if at.base in wide:
            return at, by[::-1]
    return value, []


def _is_finite(low: Lowered, task: Point) -> bool:
    """Whether the other factor is one finite number, which makes zeros of zeros."""
    others = [low.constants[one.base] for one in task.operands if one.base in low.constants]
    return all(np.ndim(one) == 0 and abs(one) < _LARGE for one in others) and set(task.inner) == {task.dtype}


def _through(low: Lowered, view: View, by: Sequence[Point]) -> View:
    for task in by:
        operands = [one.over(view.shape) if one.base in low.constants else view for one in task.operands]
        view = low.point(low.fresh(view.shape, task.dtype), task.function, operands, task.inner)
    return view


def _bordered(low: Lowered, value: View, uses: Sequence[tuple[Box, Sizes]]) -> tuple[View, Sizes]:
    """A value within zeros as far as it is read, and where its own first entry is."""
    axes = range(len(value.shape))
    before = tuple([max(0, *[start[k] - box.start[k] for box, start in uses]) for k in axes])
    ends = [max(value.shape[k], *[box.start[k] + box.shape[k] - at[k] for box, at in uses]) for k in axes]
    shape = tuple([a + b for a, b in zip(before, ends, strict=True)])
    return _within_zeros(low, value, Box(before, value.shape), shape), before


def _within_zeros(low: Lowered, value: View, box: Box, shape: Sizes) -> View:
    """A value of its own with zeros everywhere but in a box."""
    place = low.fresh(shape, low.dtype(value.base))
    low.zeros[place] = box.start, box.shape
    low.tasks.append(_part_of(low, place, box, value))
    return low.made(place)


def _narrow(one: Wide, box: Box, found: View, first: Sizes) -> View:
    places = zip(box.start, one.start, first, found.strides, strict=True)
    return found._replace(shape=box.shape, offset=sum((a - b + c) * step for a, b, c, step in places))


def _sum(low: Lowered, terms: Sequence[View]) -> tuple[View, ...]:
    """Without the zero that a sum of deltas begins with."""
    return tuple(terms[1:] if len(terms) > 1 and _is_zero(low, terms[0]) else terms)


def _is_zero(low: Lowered, one: View) -> bool:
    value = low.constants.get(one.base)
    if value is None or np.ndim(value) or low.dtype(one.base).kind != "f":
        return False
    return bool(value == 0 and not np.signbit(value))


# --------------------------------------------------------------------------- tasks
def _write(low: Lowered, target: int, cells: Sequence[Cell]) -> None:
    """The tasks that write the cells; the largest that is computed comes first, and the others go where it goes."""
    shape = low.sizes(target)
    first, *others = sorted(cells, key=lambda cell: (_is_nothing(low, cell), -prod(cell.box.shape)))
    if not others:
        _one(low, target, first)
    elif 2 * prod(first.box.shape) >= prod(shape) and all(_is_nothing(low, cell) for cell in others):
        value = _value(low, first)
        low.views[target] = _within_zeros(low, value, first.box, shape)
    else:
        for cell in (first, *others):
            value = _value(low, cell)
            low.tasks.append(_part_of(low, target, cell.box, value))
        low.made(target)


def _is_nothing(low: Lowered, cell: Cell) -> bool:
    one, *more = cell.terms
    return not more and _is_zero(low, one)


def _one(low: Lowered, target: int, cell: Cell) -> None:
    """A value that is one box."""
    one, *more = cell.terms
    if not more:
        low.views[target] = one
        return
    _added_up(low, cell, target)


def _value(low: Lowered, cell: Cell) -> View:
    one, *more = cell.terms
    return _added_up(low, cell, low.fresh(cell.box.shape, low.dtype(one.base))) if more else one


def _added_up(low: Lowered, cell: Cell, target: int) -> View:
    total, *rest = cell.terms
    kind = low.dtype(total.base)
    for n, one in enumerate(rest, 1):
        place = target if n == len(rest) else low.fresh(cell.box.shape, kind)
        total = low.point(place, "add", [total, one], (kind, kind))
    return total


def _part_of(low: Lowered, target: int, box: Box, value: View) -> Write:
    steps = in_order(low.sizes(target))
    offset = inner_product(box.start, steps)
    region = View(target, box.shape, steps, offset)
    return Write(target, box.shape, region, (value.over(box.shape),), False, low.dtype(target), True)


def region(low: Lowered, target: int, index: Any) -> View:
    """The part of a value that an index names; `NotLoops` where the index makes a copy."""
    return low.region(target, at(index))


def at(index: Any) -> Callable[[Any], Any]:
    """Reading at an index, which gives an array even where it names one entry."""
    index = index if isinstance(index, tuple) else (index,)
    index = index if any(one is Ellipsis for one in index) else (*index, ...)
    return lambda x: x[index]


# --------------------------------------------------------------------------- rings
def rolled(low: Lowered, value: View, shifts: Sequence[Sizes], kind: Any) -> list[View]:
    """The entries shifted along each axis, what falls out coming in at the other end, for each of the shifts.

    They are all read out of one array, in which the entries stand once more beyond the ends.
    """
    short = [tuple([_shortest(by, n) for by, n in zip(one, value.shape, strict=True)]) for one in shifts]
    before = tuple([max(0, *axis) for axis in zip(*short, strict=True)])
    after = tuple([-min(0, *axis) for axis in zip(*short, strict=True)])
    sizes = tuple([a + n + b for a, n, b in zip(before, value.shape, after, strict=True)])
    sides = (
        {()} if not sizes else {side for one in short for side in itertools.product(*[{0, _sign(by)} for by in one])}
    )
    ring, puts = low.fresh(sizes, kind), []
    for side in sorted(sides, key=lambda side: (side.count(0), side), reverse=True):
        there, here = [], []
        for k, a, n, b in zip(side, before, value.shape, after, strict=True):
            there.append(slice(a, a + n) if not k else slice(0, a) if k > 0 else slice(a + n, a + n + b))
            here.append(slice(0, n) if not k else slice(n - a, n) if k > 0 else slice(0, b))
        puts.append(Put(region(low, ring, tuple(there)), low.moved(value, at(tuple(here)))))
    together(low, ring, None, puts, partly=True)
    made = low.views[ring]
    places = [[a - by for a, by in zip(before, one, strict=True)] for one in short]
    return [
        View(made.base, value.shape, made.strides, made.offset + inner_product(place, made.strides)) for place in places
    ]


def _shortest(by: int, size: int) -> int:
    """The shorter way around."""
    by %= size
    return by - size if 2 * by > size else by


def _sign(by: int) -> int:
    return (by > 0) - (by < 0)


__all__ = ["NotLoops", "Put", "at", "region", "rolled", "together"]
