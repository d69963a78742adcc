"""Which operations write into a part of an array? What is joined, padded, assigned, or scattered back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symbolic.backends.native.access import View
from symbolic.backends.native.gathering import masked, named
from symbolic.backends.native.lowering import Lowered, NotLoops
from symbolic.ops.indexing import is_static
from symbolic.plan import Instruction


def refused(low: Lowered, one: Instruction) -> None:
    raise NotLoops(f"{type(one.node).__name__} is not written as loops")


def begun(low: Lowered, one: Instruction) -> int:
    """The target, all of whose entries are going to be written."""
    low.made(one.target)
    return one.target


def concatenate(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    target, start = begun(low, one), 0
    axis = node.axis
    if axis is None:
        raise NotLoops("it joins flattened arrays")
    for k in one.sources:
        view = low.views[k]
        stop = start + view.shape[axis]
        index = _along(len(view.shape), axis, start, stop)
        low.write(low.region(target, _at(index)), _of_dtype(low, k, target))
        start = stop


def _along(rank: int, axis: int, start: int, stop: int) -> Any:
    index: list[Any] = [slice(None)] * rank
    index[axis] = slice(start, stop)
    return tuple(index)


def _at(index: Any) -> Callable[[Any], Any]:
    return lambda x: x[index]


def _of_dtype(low: Lowered, k: int, target: int) -> Any:
    view, kind, want = low.views[k], low.dtype(k), low.dtype(target)
    return view if kind == want else low.point(low.fresh(view.shape, want), "cast", [view], (kind,))


def stack(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    target = begun(low, one)
    rank = len(low.sizes(target))
    for n, k in enumerate(one.sources):
        index: list[Any] = [slice(None)] * rank
        index[node.axis] = n
        low.write(low.region(target, _at(tuple(index))), _of_dtype(low, k, target))


def pad(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    inner, border = one.sources
    shape, target = low.views[inner].shape, one.target
    if low.views[border].shape != ():
        raise NotLoops("it has a border of several numbers")
    low.bordered(target, low.views[inner], tuple([a for a, _ in node.widths(shape)]), low.views[border])


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
    low.views[one.target] = low.moved(low.views[value], _at(index))


def placed(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    value, _, start = one.sources
    begin, shape = _start(low, start), low.views[value].shape
    low.filled(one.target, low.number(0.0, low.dtype(one.target)))
    index = _along(len(shape), node.axis, begin, begin + shape[node.axis])
    low.write(low.region(one.target, _at(index)), _of_dtype(low, value, one.target))


def scatter(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    if low.dtype(one.target).kind not in "fiu":
        raise NotLoops(f"it scatters {low.dtype(one.target)}")
    low.filled(one.target, low.number(0.0, low.dtype(one.target)))
    for at, index in node.places:
        low.write(_meant(low, one, index), _of_dtype(low, one.sources[at], one.target), adds=True)


def _meant(low: Lowered, one: Instruction, index: Any) -> View:
    """The part of the target that an index means."""
    if is_static(index):
        return low.region(one.target, _at(index))
    return named(low, low.views[one.target], index, one.sources)


def set_item(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    base, value = one.sources[:2]
    if low.dtype(base) != low.dtype(one.target) or low.dtype(value).kind not in _HELD[low.dtype(base).kind]:
        raise NotLoops("it writes numbers of another kind")
    if masked(low, one, _of_dtype(low, value, one.target)):
        return
    low.filled(one.target, low.views[base])
    low.write(_meant(low, one, node.index), _of_dtype(low, value, one.target))


_HELD = {"f": "fiub", "i": "i", "u": "u", "b": "b"}
"""Numbers of which kinds an array takes as they are."""
