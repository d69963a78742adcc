"""Which work is divided, and into which shares? Loops by their first axis, products by columns, rows, or in a batch.

Shares are calls that know nothing of each other: each writes entries of its own, or a sum of its own, which are brought
together when all are done. How sums are divided does not depend on how many threads there are, so neither do results.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from symbolic.backends.native import pointwise
from symbolic.backends.native.access import View, in_order
from symbolic.backends.native.blocks import Group, part
from symbolic.backends.native.host import Host
from symbolic.backends.native.lowering import Check, Contract, Lowered, Point, Reduce, Write
from symbolic.backends.native.matrices import Matrices
from symbolic.backends.native.nests import Access, Nest, Stage, Step
from symbolic.backends.native.panels import Layout

LEAST = 10_000
"""Nanoseconds of work at one place, about, below which bringing others costs more than it saves."""
ENOUGH = 15
"""So many times that is the least of a program for whose sake somebody is woken."""
LOOPS, PRODUCTS = 8, 4
"""Shares, at most: a thread that comes late then finds something to do; each share of a product lays operands anew."""
_TINY = 2000
"""Operations on single entries that are never long."""
_FEW = 1 << 14
"""Bytes of all shares' own sums that are brought together in no time."""
_SMALL = 16
"""With more of them that may take one so many-th of the time that is divided."""
_CYCLES, _BYTES = 3.0, 40.0
"""About so many cycles, and bytes of memory, a nanosecond."""
_HEAVY = 12
_EVEN = 512
"""Entries of which the share of a single axis is a multiple: no two threads write into one line of memory."""
_LINE = 8
"""The same, where at most one line of memory is two threads'."""
SUMS = -1
"""The shares' own sums, where they are brought together."""


class Share(NamedTuple):
    """From where on, and how many, along the axis that is divided."""

    start: int
    many: int


def shares(size: int, most: int, even: int = 1) -> list[Share]:
    """As equal as can be, of a multiple of `even` and a rest that is the last one's.

    >>> [tuple(one) for one in shares(10, 4)], [tuple(one) for one in shares(100, 4, 32)]
    ([(0, 3), (3, 3), (6, 3), (9, 1)], [(0, 32), (32, 32), (64, 36)])
    """
    each = max(1, -(-size // (most * even))) * even
    starts = [start for start in range(0, size, each) if start == 0 or size - start >= even]
    return [Share(start, stop - start) for start, stop in zip(starts, [*starts[1:], size], strict=True)]


# ---------------------------------------------------------------------- loops


def of_nest(nest: Nest, lowered: Lowered, host: Host) -> list[Share]:
    """The shares of a nest along its first axis; none if it stays whole."""
    if not nest.domain or not all(_is_apart(step, nest) for step in nest.steps):
        return []
    if _time(nest, lowered, host) < LEAST:
        return []
    sums = own_room(nest)
    if not (host.shares or sums):
        return []
    even = _even(nest.domain[0]) if len(nest.domain) == 1 else 1
    return _worth(nest.domain[0], even, sums, _time(nest, lowered, host))


def _even(size: int) -> int:
    """Of what the shares of a single axis are a multiple: of less, where all are then alike, and one function."""
    return next((one for one in (_EVEN, _LINE) if size % (LOOPS * one) == 0), _EVEN)


def _is_apart(step: Step, nest: Nest) -> bool:
    """Whether no two steps of the first axis write into one entry, unless they are brought together."""
    task, region = step.task, step.region
    if not isinstance(task, Write) or region is None:
        return isinstance(task, (Point, Check, Reduce))
    if region.by or region.strides[0] == 0:
        return False
    if task.once:  # it meets no other part
        return True
    places = [one.region for one in nest.steps if one.task.target == task.target]
    ends = [_ends(nest, one) for one in places if one is not None and not one.by]
    if len(ends) < len(places) or len({apart for apart, *_ in ends}) > 1:
        return False
    return max(high for *_, high in ends) - min(low for _, low, _ in ends) < abs(region.strides[0])


def _ends(nest: Nest, region: Access) -> tuple[int, int, int]:
    """How far the steps of the first axis are apart, and the first entry and the last where one of them writes."""
    reach = [(n - 1) * stride for n, stride in zip(nest.domain[1:], region.strides[1:], strict=True)]
    low, high = (region.offset + sum(one for one in reach if (one < 0) is below) for below in (True, False))
    return region.strides[0], low, high


def by_rows(nest: Nest) -> Nest:
    """The same loops with the first two as one, as long as the first has few steps and everything lies so."""
    while len(nest.domain) > 1 and nest.domain[0] < 4 * LOOPS and all(_joins(nest.domain, step) for step in nest.steps):
        many, more, *others = nest.domain
        found = Nest((many * more, *others))
        found.steps = [_joined(step) for step in nest.steps]
        found.made, found.stored, found.given, found.most = nest.made, nest.stored, nest.given, nest.most
        nest = found
    return nest


def _joins(domain: Sequence[int], step: Step) -> bool:
    """Whether a step walks the first two axes as one."""
    if step.places != step.operands or step.numbers or (0 in step.axes) != (1 in step.axes):
        return False
    return all(one.strides[0] == one.strides[1] * domain[1] for one in step.operands)


def _joined(step: Step) -> Step:
    operands = tuple([one._replace(strides=one.strides[1:]) for one in step.operands])
    return step._replace(operands=operands, axes=tuple(sorted({max(0, axis - 1) for axis in step.axes})))


def of_group(group: Group, stages: Sequence[Stage], lowered: Lowered, host: Host) -> list[Share]:
    """The shares of nests that run block by block, counted in whole blocks; none if they are not divided."""
    members = stages[group.first : group.last + 1]
    nests = [one for one in members if isinstance(one, Nest)]
    sums = sum(map(own_room, nests))
    products = [(prod(one.domain), one.dtype.itemsize) for one in members if isinstance(one, Contract)]
    time = sum(_time(nest, lowered, host) for nest in nests) + sum(_product_time(*one, host) for one in products)
    if not (host.shares or sums) or time < LEAST:
        return []
    return _worth(group.rows // group.block, 1, sums, time)


def _worth(size: int, even: int, sums: int, time: float) -> list[Share]:
    """As many shares as pay, where each has so many bytes of sums that are brought together by one thread."""
    for most in (LOOPS, LOOPS // 2, LOOPS // 4):
        found = shares(size, most, even)
        bytes = sums * len(found)
        if len(found) > 1 and (bytes <= _FEW or _SMALL * bytes <= time * _BYTES):
            return found
    return []


def enough(stages: Sequence[Stage], lowered: Lowered, host: Host) -> bool:
    """Whether there is so much to do in a program that others may be asked; of its long stages."""
    times = [_stage_time(one, lowered, host) for one in stages]
    return sum(time for time in times if time >= LEAST) >= ENOUGH * LEAST


def _stage_time(stage: Stage, lowered: Lowered, host: Host) -> float:
    if isinstance(stage, Nest):  # a long program has thousands that are short
        return _time(stage, lowered, host) if prod(stage.domain) * len(stage.steps) > _TINY else 0.0
    return _product_time(prod(stage.domain), stage.dtype.itemsize, host) if isinstance(stage, Contract) else 0.0


def _time(nest: Nest, lowered: Lowered, host: Host) -> float:
    """Nanoseconds, about."""
    entries = prod(nest.domain)
    cycles = bytes = 0.0
    for step in nest.steps:
        heavy = isinstance(step.task, Point) and not pointwise.is_short(step.task.function)
        cycles += (_HEAVY if heavy else 1) * step.task.dtype.itemsize
    for base in {one for one in nest.reads() if one >= 0} | nest.stored:
        bytes += lowered.dtype(base).itemsize * min(entries, lowered.extent(base))
    return max(cycles * entries * 8 / host.vector_bits / _CYCLES, bytes / _BYTES)


def is_own(task: Any, axes: Sequence[int]) -> bool:
    """Whether each share has a result of its own, for the axis that is divided is reduced."""
    return isinstance(task, Reduce) and 0 in axes


def room(task: Any, axes: Sequence[int], nest: Nest) -> int:
    """The bytes of a share's own sums, a multiple of a line of memory."""
    size = prod(n for k, n in enumerate(nest.domain) if k not in axes) * task.dtype.itemsize
    return int(-(-size // 64) * 64)


def own_room(nest: Nest) -> int:
    """The bytes of all sums of one share."""
    return sum(room(step.task, step.axes, nest) for step in nest.steps if is_own(step.task, step.axes))


def of_rows(nest: Nest, rows: int) -> Nest:
    """The same nest over fewer rows, whose sums begin anew."""
    found = part(nest, rows)
    found.continued = set()
    return found


def together(task: Reduce, axes: Sequence[int], nest: Nest, count: int) -> Nest:
    """The nest that brings the sums of so many shares together."""
    shape = tuple([n for k, n in enumerate(nest.domain) if k not in axes])
    strides = (room(task, axes, nest) // task.dtype.itemsize, *in_order(shape))
    found = Nest((count, *shape))
    found.add(Reduce(task.target, (count, *shape), task.how, (View(SUMS, (count, *shape), strides),), (0,), task.dtype))
    found.stored = {task.target}
    return found


# ---------------------------------------------------------------------- products


class Part(NamedTuple):
    """A share of a product, and how many entries further on its operands, its result and what it begins with lie."""

    matrices: Matrices
    a: int
    b: int
    c: int
    start: int


def of_product(found: Matrices, host: Host) -> list[Part]:
    """The shares of a product of matrices; none if it stays whole."""
    (m, n, k), batch = found.sizes, found.batch
    many = 1 if batch is None else batch.many or 0
    if found.calls or _product_time(m * n * k * many, found.dtype.itemsize, host) < LEAST:
        return []
    a, b, c = (Steps(side.row or 0, side.column or 0) for side in (found.a, found.b, found.c))
    wide = 4 * host.lanes(found.kind)
    if batch is not None:
        down, across, along = (step or 0 for step in batch[1:])
        columns = shares(n, PRODUCTS, wide) if many < LOOPS and n >= 2 * wide else [Share(0, n)]
        parts = [
            Part(
                found._replace(batch=batch._replace(many=count), sizes=(m, some, k)),
                start * down,
                start * across + column * b.column,
                start * along + column * c.column,
                0,
            )
            for start, count in shares(many, LOOPS)
            for column, some in columns
        ]
    elif n >= 2 * wide:
        parts = [
            Part(found._replace(sizes=(m, count, k)), 0, start * b.column, start * c.column, start)
            for start, count in shares(n, PRODUCTS, wide)
        ]
    else:
        parts = [
            Part(found._replace(sizes=(count, n, k)), start * a.row, 0, start * c.row, start * (found.start or 0))
            for start, count in shares(m, PRODUCTS, 24)
        ]
    return parts if len(parts) > 1 else []


class Steps(NamedTuple):
    row: int
    column: int


def _product_time(terms: int, itemsize: int, host: Host) -> float:
    return terms * itemsize * 8 / host.vector_bits / _CYCLES


def of_cuts(task: Contract, cuts: Sequence[tuple[Any, int, int]], host: Host) -> tuple[Any, list[Share]] | None:
    """The shares of a sum of products, and the axis along which they are, of several with their sizes; or it is whole.

    Each axis is cut into multiples of a number. Of those with the most shares the first is taken.
    """
    if not host.shares or not _is_long(task, host):
        return None
    found = [(axis, shares(size, LOOPS if even == 1 else PRODUCTS, even)) for axis, size, even in cuts]
    best = max(found, key=lambda one: len(one[1]), default=None)
    return best if best is not None and len(best[1]) > 1 else None


def of_terms(task: Contract, how: Layout, host: Host) -> list[Share]:
    """The shares of a sum along its outermost axis, whose sums are added up when all are done; none if it stays whole.

    Whether it is divided depends on no threads, as the order does in which entries are added.
    """
    entries = prod(size for k, size in enumerate(task.domain) if k not in task.axes)
    around = [len(shares(one.size, LOOPS)) for one in (*how.batch, *how.outer)]
    if not _is_long(task, host) or max(around, default=1) >= PRODUCTS:
        return []
    if how.terms < _TERMS or entries * task.dtype.itemsize * PRODUCTS > _ROOM:
        return []
    found = shares(how.summed[0].size, PRODUCTS)
    return found if len(found) == PRODUCTS else []


_TERMS = 1 << 10
"""Terms of a sum beside which it is nothing to add up the sums of a few shares."""
_ROOM = 1 << 18
"""Bytes of the sums of these shares, at most."""


def _is_long(task: Contract, host: Host) -> bool:
    return _product_time(prod(task.domain), task.dtype.itemsize, host) >= LEAST


def of_sums(task: Contract, count: int, apart: int) -> Nest:
    """The nest that brings the sums of so many shares together, which lie so many bytes apart."""
    domain = (count, prod(size for k, size in enumerate(task.domain) if k not in task.axes))
    found = Nest(domain)
    view = View(SUMS, domain, (apart // task.dtype.itemsize, 1))
    found.add(Reduce(task.target, domain, "add", (view,), (0,), task.dtype))
    found.stored = {task.target}
    return found
