"""How are few entries sorted? Each is compared with all, and so its place is known: no comparison waits for another."""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.backends.native.access import View
from symbolic.backends.native.lowering import DType, Lowered, NotLoops
from symbolic.plan import Instruction
from symbolic.spec import normalize_axis

_MOST, _ALL = 64, 1 << 15
"""Entries along the axis, and pairs in all, beyond which NumPy's way, which compares fewer, is the quicker one."""
_BOOL = np.dtype(bool)


def sort(low: Lowered, one: Instruction) -> None:
    """At each place the greatest of the only entry that belongs there."""
    rows, axis = _rows(low, one)
    kind, size = low.dtype(one.target), rows.shape[-1]
    ranks, here = _turned(low, _ranks(low, rows, kind)), _constant(low, np.arange(size).reshape(-1, 1), kind)
    belongs = _compared(low, "equal", here, ranks, kind)
    _reduced(low, one, axis, "maximum", _chosen(low, belongs, _across(low, rows), -np.inf, kind))


def ranks(low: Lowered, one: Instruction) -> None:
    rows, axis = _rows(low, one)
    found = _ranks(low, rows, low.dtype(one.target))
    low.views[one.target] = low.moved(found, lambda x: np.moveaxis(x[..., 0], -1, axis))


def evened(low: Lowered, one: Instruction) -> None:
    """The mean over all entries that are equal; of one that equals none, itself, as NaN does."""
    delta, axis = _rows(low, one)
    kind, size = low.dtype(one.target), delta.shape[-1]
    entries = low.moved(low.views[one.sources[1]], lambda x: np.moveaxis(x, axis, -1))
    same = _compared(low, "equal", _down(low, entries), _across(low, entries), kind)
    same = _joined(low, "logical_or", same, _constant(low, np.eye(size), _BOOL))
    last = (len(same.shape) - 1,)
    total = low.reduce(_chosen(low, same, _across(low, delta), 0.0, kind), "add", last, kind)
    count = low.reduce(low.point(low.fresh(same.shape, kind), "cast", [same], (_BOOL,)), "add", last, kind)
    mean = low.point(low.fresh(total.shape, kind), "divide", [total, count], (kind, kind))
    alone = _compared(low, "equal", count, low.number(1.0, kind), kind)
    operands = [
        low.moved(view, lambda x: np.moveaxis(x[..., 0], -1, axis)) for view in (alone, _down(low, delta), mean)
    ]
    low.point(one.target, "where", operands, (_BOOL, kind, kind))


# --------------------------------------------------------------------------- what they share


def _rows(low: Lowered, one: Instruction) -> tuple[View, int]:
    """The first operand with the axis at its end, and where that is."""
    node: Any = one.node
    view = low.views[one.sources[0]]
    kinds = {low.dtype(k) for k in one.sources}
    if len(kinds) != 1 or kinds.pop().kind != "f" or not view.shape or node.axis is None:
        raise NotLoops(f"{type(node).__name__} of such entries is not written as loops")
    axis = normalize_axis(node.axis, len(view.shape))
    if view.shape[axis] > _MOST or int(np.prod(view.shape)) * view.shape[axis] > _ALL:
        raise NotLoops(f"{type(node).__name__} of many entries is not written as loops")
    return low.moved(view, lambda x: np.moveaxis(x, axis, -1)), axis


def _ranks(low: Lowered, rows: View, dtype: DType) -> View:
    """How many entries stand before each, along a new last axis of size 1: NaN stands last, what ties in its order."""
    earlier, kind = np.tri(rows.shape[-1], k=-1), low.dtype(rows.base)
    one, other = _down(low, rows), _across(low, rows)
    least = _joined(
        low, "logical_or", _compared(low, "less_equal", other, one, kind), _compared(low, "not_equal", one, one, kind)
    )
    less = low.point(
        low.fresh(least.shape, _BOOL), "logical_not", [_compared(low, "less_equal", one, other, kind)], (_BOOL,)
    )
    less = _joined(low, "logical_and", less, _compared(low, "equal", other, other, kind))
    least = _joined(low, "logical_and", least, _constant(low, earlier, _BOOL))
    less = _joined(low, "logical_and", less, _constant(low, 1.0 - earlier, _BOOL))
    before = _joined(low, "logical_or", least, less)
    counted = low.point(low.fresh(before.shape, dtype), "cast", [before], (_BOOL,))
    return low.reduce(counted, "add", (len(before.shape) - 1,), dtype)


def _down(low: Lowered, rows: View) -> View:
    return low.moved(rows, lambda x: x[..., None])


def _across(low: Lowered, rows: View) -> View:
    return low.moved(rows, lambda x: x[..., None, :])


def _turned(low: Lowered, column: View) -> View:
    return low.moved(column, lambda x: np.swapaxes(x, -1, -2))


def _constant(low: Lowered, value: Any, dtype: DType) -> View:
    return low.views[low.constant(value.astype(dtype), value.shape, dtype)]


def _compared(low: Lowered, how: str, one: View, other: View, kind: DType) -> View:
    return _joined(low, how, one, other, kind)


def _joined(low: Lowered, how: str, one: View, other: View, kind: DType = _BOOL) -> View:
    shape = np.broadcast_shapes(one.shape, other.shape)
    return low.point(low.fresh(shape, _BOOL), how, [one, other], (kind, kind))


def _chosen(low: Lowered, mask: View, value: View, otherwise: float, kind: DType) -> View:
    operands = [mask, value, low.number(otherwise, kind)]
    return low.point(low.fresh(mask.shape, kind), "where", operands, (_BOOL, kind, kind))


def _reduced(low: Lowered, one: Instruction, axis: int, how: str, pairs: View) -> None:
    """Along the last axis, into the target, whose own axis may be another one."""
    kind, last = low.dtype(one.target), (len(pairs.shape) - 1,)
    if axis == len(pairs.shape) - 2:
        low.reduce(pairs, how, last, kind, one.target)
        return
    found = low.reduce(pairs, how, last, kind)
    low.views[one.target] = low.moved(found, lambda x: np.moveaxis(x[..., 0], -1, axis))
