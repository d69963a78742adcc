"""Which operand of a sum of products is laid into panels, where neither lies as a kernel reads it?

Each axis plays a part: some lie in vectors in a strip of a panel, some are rows of the other operand, which is read
where it lies, some are summed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from symbolic.backends.native.access import in_order
from symbolic.backends.native.along import Dots
from symbolic.backends.native.contract import Plan, Tiles
from symbolic.backends.native.lowering import Contract


class Axis(NamedTuple):
    """One axis of the domain: its size, and its strides in the operand that is read as it lies, in that which is laid,
    and in the result."""

    size: int
    left: int
    right: int
    out: int


def joined(axes: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sizes and strides, neighbours as one where one stride walks them."""
    found: list[tuple[int, int]] = []
    for size, stride in axes:
        if found and found[-1][1] == stride * size:
            found[-1] = (found[-1][0] * size, stride)
        elif size != 1:
            found.append((size, stride))
    return found


class Layout(NamedTuple):
    """Which axis plays which part."""

    swapped: bool
    batch: tuple[Axis, ...]  # of both operands
    outer: tuple[Axis, ...]  # of the operand that is laid, outside of its strips
    strip: tuple[Axis, ...]  # those that lie in vectors, one after the other
    rows: tuple[Axis, ...]  # of the operand that is read as it lies
    summed: tuple[Axis, ...]

    @property
    def columns(self) -> int:
        return prod(one.size for one in self.strip)

    @property
    def terms(self) -> int:
        return prod(one.size for one in self.summed)


def _axes(task: Contract, swapped: bool) -> list[tuple[Axis, bool]]:
    """The axes, and whether each is summed over."""
    kept = [k for k, size in enumerate(task.domain) if size != 1]
    free = [k for k in kept if k not in task.axes]
    out = dict(zip(free, in_order([task.domain[k] for k in free]), strict=True))
    left, right = [view.strides for view in (task.operands[::-1] if swapped else task.operands)]
    return [(Axis(task.domain[k], left[k], right[k], out.get(k, 0)), k in task.axes) for k in kept]


def layout(task: Contract, lanes: int) -> Layout | None:
    """The better way to lay one of the operands; `None` where this is no way."""
    if task.region is not None or len(task.operands) != 2 or prod(task.domain) < _LEAST:
        return None
    found = [one for swapped in (False, True) if (one := _laid(task, swapped)) is not None]
    return min(found, key=lambda one: _cost(one, lanes, task.dtype.itemsize), default=None)


_LEAST = 1 << 14
"""Products below which no panel is worth its code."""


def _laid(task: Contract, swapped: bool) -> Layout | None:
    axes = _axes(task, swapped)
    free = [one for one, summed in axes if not summed]
    summed = sorted([one for one, is_summed in axes if is_summed], key=lambda one: -abs(one.left))
    batch = [one for one in free if bool(one.left) == bool(one.right)]
    rows = [one for one in free if one.left and not one.right]
    columns = sorted([one for one in free if one.right and not one.left], key=lambda one: -one.out)
    if not columns or not rows or not summed:
        return None
    groups: list[list[Axis]] = []
    for one in columns:
        if groups and groups[-1][-1].out == one.out * one.size:
            groups[-1].append(one)
        else:
            groups.append([one])
    strip = max(groups, key=lambda group: (min(prod(one.size for one in group), 64), -group[-1].out))
    outer = [one for group in groups if group is not strip for one in group]
    return Layout(swapped, tuple(batch), tuple(outer), tuple(strip), tuple(rows), tuple(summed))


def _cost(one: Layout, lanes: int, bytes: int) -> float:
    """About how many cycles: multiply-adds, laying, and writing the result."""
    columns, terms = one.columns, one.terms
    rows = prod(axis.size for axis in one.rows)
    around = prod(axis.size for axis in (*one.batch, *one.outer))
    vectors = -(-columns // lanes)
    near = min(abs(one.strip[-1].right), 3)
    run = one.strip[-1].size if near == 1 else one.strip[-1].size / 2 if near == 2 else 1.5
    turned = any(axis.right == 1 for axis in one.summed)
    laying = terms * columns / (min(run, lanes) / 2 if near < 3 or not turned else 2)
    short = max(1.0, 8 * 3 / max(rows * min(vectors, 4), 1))  # too few sums to hide what each waits for
    writing = rows * columns * (1 / lanes if one.strip[-1].out == 1 else 2)
    # terms so far apart that all are in few sets of the first cache
    crowded = any(axis.size >= 16 and axis.left * bytes % 1024 == 0 for axis in one.summed)
    return around * (rows * vectors * terms * short * (1.4 if crowded else 1) + laying + writing)


def preferred(task: Contract, lanes: int) -> Layout | None:
    """How panels write it, where that is better than tiles without."""
    found = layout(task, lanes)
    if found is None:
        return None
    plan = Plan(task)
    writer = plan.writer(lanes)
    if writer is None:
        return found
    axis = plan.vector if writer is Tiles else plan.depth
    assert axis is not None
    size = plan.domain[axis]
    worth = size / (-(-size // lanes) * lanes) * _WORTH[writer]
    if writer is Tiles and plan.row == plan.one:  # each vector that is read is used once
        worth /= 4
    return found if prod(task.domain) / lanes / _cost(found, lanes, task.dtype.itemsize) > worth else None


_WORTH = {Tiles: 1.0, Dots: 0.88}
"""The part of the processor's multiply-adds that others reach, where their vectors are full; beside that of panels."""
