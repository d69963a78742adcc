"""Which loops are the greatest entry of windows, their sum, and what becomes of a delta? One step for each entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from symbolic.backends.native.access import View
from symbolic.backends.native.lowering import Lowered, NotLoops
from symbolic.plan import Instruction

_MOST = 36
"""Entries of a window, at most, that are written one after the other."""
_BOOL = np.dtype(bool)


def _indices(one: Instruction, counts: Sequence[int]) -> Iterator[Any]:
    """For each entry of a window, the slices that give where it is in all windows."""
    node: Any = one.node
    for offset in np.ndindex(*node.window):
        where = zip(offset, counts, node.stride, node.dilation, strict=True)
        yield (Ellipsis, *[slice(at * d, at * d + (n - 1) * s + 1, s) for at, n, s, d in where])


def _checked(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    if low.dtype(one.target).kind != "f" or any(low.dtype(k) != low.dtype(one.target) for k in one.sources):
        raise NotLoops("it slides over whole numbers, or over several dtypes")
    if prod(node.window) > _MOST:
        raise NotLoops("its windows are large")


def _parts(low: Lowered, one: Instruction, view: View, like: View) -> list[View]:
    """The entries of windows, each as a view; `like` has an entry for each window."""
    counts = like.shape[len(like.shape) - len(one.node.window) :]
    return [low.moved(view, lambda x, index=index: x[index]) for index in _indices(one, counts)]  # type: ignore[misc]


def folded(function: str) -> Any:
    """All entries of a window together, in their order."""

    def rule(low: Lowered, one: Instruction) -> None:
        _checked(low, one)
        kind = low.dtype(one.target)
        like = low.made(one.target)
        _fold(low, one.target, function, _parts(low, one, low.views[one.sources[0]], like), kind)

    return rule


def _fold(low: Lowered, target: int, function: str, parts: Sequence[View], kind: Any) -> View:
    total = parts[0]
    if len(parts) == 1:
        return low.point(target, "cast", [total], (kind,))
    for n, part in enumerate(parts[1:], 2):
        place = target if n == len(parts) else low.fresh(low.sizes(target), kind)
        total = low.point(place, function, [total, part], (kind, kind))
    return total


def spread(low: Lowered, one: Instruction) -> None:
    """The delta of each window, at all its entries."""
    _checked(low, one)
    delta = low.views[one.sources[0]]
    low.filled(one.target, low.number(0.0, low.dtype(one.target)))
    _write(low, one, [delta] * prod(one.node.window), delta)


def _write(low: Lowered, one: Instruction, values: Sequence[View], like: View) -> None:
    counts = like.shape[len(like.shape) - len(one.node.window) :]
    for value, index in zip(values, _indices(one, counts), strict=True):
        low.write(low.region(one.target, lambda x, index=index: x[index]), value, adds=True)  # type: ignore[misc]


def _chosen(low: Lowered, one: Instruction, x: View, greatest: View) -> tuple[list[View], View]:
    """Which entries are the greatest of their window, and how many are: at least 1, for one with a NaN has none."""
    kind, shape = low.dtype(one.target), greatest.shape
    chosen = [
        low.point(low.fresh(shape, _BOOL), "equal", [part, greatest], (kind, kind))
        for part in _parts(low, one, x, greatest)
    ]
    numbers = [low.point(low.fresh(shape, kind), "cast", [each], (_BOOL,)) for each in chosen]
    count = _fold(low, low.fresh(shape, kind), "add", numbers, kind)
    return chosen, low.point(low.fresh(shape, kind), "maximum", [count, low.number(1.0, kind)], (kind, kind))


def share(low: Lowered, one: Instruction) -> None:
    """The delta of each window, at its greatest entries, in equal shares."""
    _checked(low, one)
    kind = low.dtype(one.target)
    delta, x, greatest = [low.views[k] for k in one.sources]
    chosen, count = _chosen(low, one, x, greatest)
    part = low.point(low.fresh(greatest.shape, kind), "divide", [delta, count], (kind, kind))
    low.filled(one.target, low.number(0.0, kind))
    _write(low, one, [_where(low, each, part, kind) for each in chosen], greatest)


def _where(low: Lowered, chosen: View, value: View, kind: Any) -> View:
    values = [chosen, value, low.number(0.0, kind)]
    return low.point(low.fresh(chosen.shape, kind), "where", values, (_BOOL, kind, kind))


def choice(low: Lowered, one: Instruction) -> None:
    """The mean of another array's entries where windows have their greatest."""
    _checked(low, one)
    kind = low.dtype(one.target)
    value, x, greatest = [low.views[k] for k in one.sources]
    chosen, count = _chosen(low, one, x, greatest)
    parts = _parts(low, one, value, greatest)
    found = [_where(low, each, part, kind) for each, part in zip(chosen, parts, strict=True)]
    start = low.number(0.0, kind).over(greatest.shape)  # NumPy begins with a zero, which no -0 survives
    total = _fold(low, low.fresh(greatest.shape, kind), "add", [start, *found], kind)
    low.point(one.target, "divide", [total, count], (kind, kind))
