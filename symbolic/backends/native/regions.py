"""Which operations write into a part of an array? What is joined, padded, assigned, or scattered back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symbolic.backends.native.access import View, whole
from symbolic.backends.native.contract import Plan
from symbolic.backends.native.gathering import masked, named
from symbolic.backends.native.lowering import Contract, Lowered, NotLoops
from symbolic.ops.indexing import is_static
from symbolic.ops.sliding import sliding
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
    low.filled(target, low.views[border])
    index = tuple([slice(a, a + n) for n, (a, _) in zip(shape, node.widths(shape), strict=True)])
    low.write(low.region(target, _at(index)), low.views[inner])


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


def unwindows(low: Lowered, one: Instruction) -> None:
    """Each window added at its place: a sum of products adds its sums there without being kept."""
    node: Any = one.node
    windows = low.views[one.sources[0]]
    dtype = low.dtype(one.target)
    if dtype.kind != "f" or low.dtype(one.sources[0]) != dtype:
        raise NotLoops("it adds whole numbers")
    low.filled(one.target, low.number(0.0, dtype))
    region = low.region(one.target, lambda x: sliding(x, node.window, node.stride, node.dilation))
    last = low.tasks[-2] if len(low.tasks) > 1 else None
    if isinstance(last, Contract) and last.region is None and last.target == windows.base and _read_once(low, one):
        into = _through_axes(low, windows, region, last)
        if into is not None and Plan(last._replace(region=into)).tiled:
            fill = low.tasks.pop()
            low.tasks[-1:] = [fill, last._replace(target=one.target, region=into)]
            return
    low.write(region, windows, adds=True)


def _read_once(low: Lowered, one: Instruction) -> bool:
    """Whether nobody else reads what this instruction reads."""
    base = low.views[one.sources[0]].base
    known = [k for k, view in low.views.items() if view.base == base]
    uses = sum(k in known for other in low.program.instructions for k in other.sources)
    views = sum(k in known and k != base for k in known)
    return uses - views == 1 and not set(known) & set(low.program.outputs)


def _through_axes(low: Lowered, windows: Any, region: Any, task: Contract) -> Any:
    """The region in the order of the contraction's axes, where the windows are a transposition of its result."""
    free = len(task.domain) - len(task.axes)
    made = whole(task.target, task.domain[:free])
    strides, offset = [], region.offset
    if windows.offset or sorted(n for n in windows.shape if n != 1) != sorted(n for n in made.shape if n != 1):
        return None
    for size, stride in zip(made.shape, made.strides, strict=True):
        found = [k for k, n in enumerate(windows.shape) if n == size and windows.strides[k] == stride]
        if size == 1:
            strides.append(0)
        elif len(found) == 1:
            strides.append(region.strides[found[0]])
        else:
            return None
    return region._replace(shape=made.shape, strides=tuple(strides), offset=offset)
