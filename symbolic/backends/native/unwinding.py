"""How do windows go back to where they came from? Each entry gathers what belongs to it, or each window is added there.

The gradient of a convolution by its image is a sum of products for each entry of each window, and overlapping windows
meet in one entry. Written the other way round it is a convolution of the delta with the kernel turned about: what an
entry is the sum of is known, so its sum stays in a register, and no windows are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import Any, NamedTuple

from symbolic.backends.native.access import Sizes, View, in_order, through, whole
from symbolic.backends.native.contract import Plan
from symbolic.backends.native.contracting import contract
from symbolic.backends.native.lowering import Contract, Lowered, NotLoops
from symbolic.ops.sliding import sliding
from symbolic.plan import Instruction

_PHASES = 9
"""Sums that are written apart, at most, because entries a stride apart read other parts of the kernel."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def unwindows(low: Lowered, one: Instruction) -> None:
    """Each window added at its place: a sum of products is gathered, or adds its sums there without being kept."""
    node: Any = one.node
    windows = low.views[one.sources[0]]
    dtype = low.dtype(one.target)
    if dtype.kind != "f" or low.dtype(one.sources[0]) != dtype:
        raise NotLoops("it adds whole numbers")
    task = _product(low, one, windows)
    if task is not None and len(task.operands) == 2 and _gathered(low, one, task, windows):
        return
    low.filled(one.target, low.number(0.0, dtype))
    region = low.region(one.target, lambda x: sliding(x, node.window, node.stride, node.dilation))
    if task is not None:
        into = _through_axes(windows, region, task)
        if into is not None and Plan(task._replace(region=into)).tiled:
            fill = low.tasks.pop()
            low.tasks[-1:] = [fill, task._replace(target=one.target, region=into)]
            return
    low.write(region, windows, adds=True)


def _product(low: Lowered, one: Instruction, windows: View) -> Contract | None:
    """The sum of products that the windows are, and nobody else reads; it is the last task."""
    task = low.tasks[-1] if low.tasks else None
    if not isinstance(task, Contract) or task.region is not None or task.target != windows.base:
        return None
    return task if _read_once(low, one) else None


def _read_once(low: Lowered, one: Instruction) -> bool:
    """Whether nobody else reads what this instruction reads."""
    base = low.views[one.sources[0]].base
    known = [k for k, view in low.views.items() if view.base == base]
    uses = sum(k in known for other in low.program.instructions for k in other.sources)
    views = sum(k in known and k != base for k in known)
    return uses - views == 1 and not set(known) & set(low.program.outputs)


def _axes(windows: View, made: View) -> list[int | None] | None:
    """For each axis of the windows the one of the contraction's result that it is; `None` for one of size 1."""
    if windows.offset or sorted(n for n in windows.shape if n != 1) != sorted(n for n in made.shape if n != 1):
        return None
    found: list[int | None] = []
    for size, stride in zip(windows.shape, windows.strides, strict=True):
        same = [k for k, n in enumerate(made.shape) if n == size and made.strides[k] == stride]
        if size != 1 and len(same) != 1:
            return None
        found.append(None if size == 1 else same[0])
    return found


def _result(task: Contract) -> View:
    return whole(task.target, task.domain[: len(task.domain) - len(task.axes)])


def _through_axes(windows: View, region: View, task: Contract) -> View | None:
    """The region in the order of the contraction's axes, where the windows are a transposition of its result."""
    made = _result(task)
    found = _axes(windows, made)
    if found is None:
        return None
    strides = [region.strides[found.index(k)] if n != 1 else 0 for k, n in enumerate(made.shape)]
    return region._replace(shape=made.shape, strides=tuple(strides))


# --------------------------------------------------------------------------- gathering


class _Axis(NamedTuple):
    """One of the axes that windows slid over: entry q is window p's entry k where q = p · stride + k · dilation."""

    places: int
    window: int
    stride: int
    dilation: int
    low: int  # from which entry
    high: int  # to which entries are wanted

    def phases(self) -> list[tuple[int, int, int, int]]:
        """For entries a stride apart: the first, how many, the first entry of the kernel that they read, and how far
        from the first of them the window lies that it belongs to."""
        found = []
        for at in range(self.low, min(self.low + self.stride, self.high)):
            used = [k for k in range(self.window) if (at - k * self.dilation) % self.stride == 0]
            count = -(-(self.high - at) // self.stride)
            first = used[0] if used else -1
            found.append((at, count, first, (at - first * self.dilation) // self.stride if used else 0))
        return found

    @property
    def every(self) -> int:
        """How far apart the entries of the kernel are that one phase reads."""
        return self.stride // math.gcd(self.stride, self.dilation)

    def used(self, first: int) -> int:
        return -(-(self.window - first) // self.every)

    @property
    def apart(self) -> int:
        """How far apart, from one of these entries to the next, the windows are."""
        return self.every * self.dilation // self.stride

    def reach(self) -> tuple[int, int]:
        """The first window that is read, and the one behind the last; those that there are not count as zeros."""
        ends = [
            (start - (self.used(first) - 1) * self.apart, start + count)
            for _, count, first, start in self.phases()
            if first >= 0
        ]
        return min([0, *[one for one, _ in ends]]), max([self.places, *[one for _, one in ends]])


def _gathered(low: Lowered, one: Instruction, task: Contract, windows: View) -> bool:
    """Written as sums for each entry, if it is a sum of products of windows' places with a kernel."""
    node: Any = one.node
    count, found = len(node.window), _axes(windows, _result(task))
    overlap = any((k - 1) * d >= s for k, s, d in zip(*node.parameters, strict=True))
    if found is None or not overlap or math.prod(node.stride) > _PHASES:
        return False
    if not low.again:
        return False
    lead, places, kernel = found[: -2 * count], found[-2 * count : -count], found[-count:]
    for delta, weight in (task.operands, task.operands[::-1]):
        mixed = [delta.strides[k] for k in kernel if k is not None] + [
            weight.strides[k] for k in places if k is not None
        ]
        if not any(mixed):
            before = len(low.tasks), dict(low.views)
            del low.tasks[-1]
            with suppress(NotLoops):
                _Gathering(low, one, task, (delta, weight), (lead, places, kernel)).write()
                return True
            low.tasks[before[0] - 1 :] = [task]
            low.views = before[1]
    return False


class _Gathering:
    """Writes the sums of one instruction."""

    def __init__(
        self,
        low: Lowered,
        one: Instruction,
        task: Contract,
        operands: tuple[View, View],
        axes: tuple[Sequence[int | None], Sequence[int | None], Sequence[int | None]],
    ) -> None:
        self.low, self.one, self.task = low, one, task
        self.delta, self.weight = operands
        self.lead, self.places, self.kernel = axes
        self.node: Any = one.node
        shape = low.sizes(one.target)
        self.crop = cropped(low, one, len(self.node.window))
        box = self.crop.box if self.crop is not None else [(0, n) for n in shape]
        self.box = box
        self.axes = [
            _Axis(size, k, s, d, *ends)
            for size, k, s, d, ends in zip(
                low.views[one.sources[0]].shape[-2 * len(self.node.window) : -len(self.node.window)],
                *self.node.parameters,
                box[-len(self.node.window) :],
                strict=True,
            )
        ]
        names = iter(_LETTERS)
        self.names = [next(names) for _ in task.domain]
        self.entries = [next(names) for _ in self.axes]  # of the image
        self.singles = [next(names) if k is None else self.names[k] for k in self.kernel]

    def write(self) -> None:
        low, dtype = self.low, self.low.dtype(self.one.target)
        target = self._target()
        every = list(product(*[axis.phases() for axis in self.axes]))
        phases = [phase for phase in every if all(first >= 0 for _, _, first, _ in phase)]
        if len(phases) < len(every):  # no window reads the entries of the others
            low.filled(target, low.number(0.0, dtype))
        else:
            low.made(target)
        if not phases:
            return
        padded, letters = self._padded()
        low.guard(self.weight)
        if len(every) == 1:
            self._sums(target, padded, letters, phases[0])
            low.views[target] = whole(target, low.sizes(target))
            return
        for phase in phases:
            self._phase(target, padded, letters, phase)

    def _phase(self, target: int, padded: View, letters: str, phase: Sequence[tuple[int, int, int, int]]) -> None:
        """Entries that are a stride apart, for themselves, and from there to where they belong."""
        low, sizes, steps = self.low, list(self.shape), list(self.steps)
        lead, offset = len(sizes) - len(self.axes), 0
        for n, (axis, (at, count, _, _)) in enumerate(zip(self.axes, phase, strict=True), lead):
            offset += (at - axis.low) * steps[n]
            sizes[n], steps[n] = count, axis.stride * steps[n]
        shape = tuple([sizes[n] for n in self.order])
        part = low.fresh(shape, low.dtype(target))
        self._sums(part, padded, letters, phase)
        low.write(View(target, shape, tuple([steps[n] for n in self.order]), offset), low.made(part))

    def _target(self) -> int:
        """The value that is made: the one that is wanted of it, where only that is read, in the order of its axes."""
        low, crop = self.low, self.crop
        self.shape = tuple([high - begin for begin, high in self.box])
        self.order = list(range(len(self.shape)))
        target = self.one.target
        if crop is not None:
            low.views[target] = whole(target, low.sizes(target))
            turned = crop.order(self.shape)
            if turned is not None:
                self.order = turned
            if turned is not None or crop.view.whole:
                target = crop.target
                low.views[target] = whole(target, crop.view.shape)
            else:
                target = low.fresh(self.shape, low.dtype(target))
                low.views[crop.target] = crop.view._replace(base=target)
            low.ready.add(crop.target)
        strides = in_order([self.shape[n] for n in self.order])
        self.steps = [strides[self.order.index(n)] for n in range(len(self.shape))]
        return target

    def _padded(self) -> tuple[View, str]:
        """The delta with as many zeros around it as are read, and the letters of its axes."""
        low, delta = self.low, self.delta
        kept = [k for k, stride in enumerate(delta.strides) if stride or k in self.task.axes]
        kept = [k for k in kept if k not in self.places]
        every: list[tuple[str, int, int, int, int]] = [
            (self.names[k], delta.shape[k], delta.strides[k], 0, delta.shape[k]) for k in kept
        ]
        for name, k, axis in zip(self.entries, self.places, self.axes, strict=True):
            every.append((name, axis.places, 0 if k is None else delta.strides[k], *axis.reach()))
        order = sorted(range(len(every)), key=lambda n: -abs(every[n][2]) if every[n][2] else -1)
        letters, sizes, strides, begins, ends = zip(*[every[n] for n in order], strict=True)
        given = View(delta.base, tuple(sizes), tuple(strides), delta.offset)
        self.begins = dict(zip(letters, begins, strict=True))
        shape = tuple([end - begin for begin, end in zip(begins, ends, strict=True)])
        if shape == sizes:
            return given, "".join(letters)
        dtype = low.dtype(delta.base)
        place = low.fresh(shape, dtype)
        low.bordered(place, given, tuple([-begin for begin in begins]), low.number(0.0, dtype))
        return low.views[place], "".join(letters)

    def _sums(self, target: int, padded: View, letters: str, phase: Sequence[tuple[int, int, int, int]]) -> None:
        """The sums for the entries of one phase."""
        weight, offset = self.weight, self.weight.offset
        stepping = dict(zip(letters, padded.strides, strict=True))
        sizes = dict(zip(letters, padded.shape, strict=True))
        begin = padded.offset
        mine = [name for name in letters if name not in self.entries]
        rows = [(name, sizes[name], stepping[name]) for name in mine]
        other = [
            (self.names[k], weight.shape[k], stride)
            for k, stride in enumerate(weight.strides)
            if (stride or k in self.task.axes) and k not in self.kernel
        ]
        for n, (axis, (_, count, first, start)) in enumerate(zip(self.axes, phase, strict=True)):
            name, k = self.entries[n], self.kernel[n]
            stride, used = 0 if k is None else weight.strides[k], axis.used(first)
            # the kernel from its end, so that the windows are read from their beginning
            step = stepping[name]
            begin += (start - (used - 1) * axis.apart - self.begins[name]) * step
            offset += (first + (used - 1) * axis.every) * stride
            rows += [(name, count, step), (self.singles[n], used, axis.apart * step)]
            other.append((self.singles[n], used, -axis.every * stride))
        left = View(weight.base, *_columns(other), offset)
        right = View(padded.base, *_columns(rows), begin)
        names = ["".join(name for name, *_ in side) for side in (other, rows)]
        out = ["" if k is None else self.names[k] for k in self.lead] + self.entries
        contract(self.low, target, left, right, names[0], names[1], "".join([out[n] for n in self.order]))


def _columns(side: Sequence[tuple[str, int, int]]) -> tuple[Sizes, Sizes]:
    return tuple([size for _, size, _ in side]), tuple([stride for *_, stride in side])


# --------------------------------------------------------------------------- what is wanted


class _Crop(NamedTuple):
    """The only part of a value that is read: as what, and as which view on an array of that part alone."""

    target: int
    box: list[tuple[int, int]]
    view: View

    def order(self, shape: Sizes) -> list[int] | None:
        """The axes of that part in the order of the view's, where the view is the part with its axes transposed."""
        steps = in_order(shape)
        found = list[int]()
        for size, stride in zip(self.view.shape, self.view.strides, strict=True):
            same = [n for n, one in enumerate(shape) if one == size and steps[n] == stride]
            if size != 1 and len(same) != 1:
                return None
            found += same if size != 1 else []
        rest = [n for n, one in enumerate(shape) if n not in found]
        return found + rest if all(shape[n] == 1 for n in rest) else None


def _movements(low: Lowered, one: Instruction) -> Iterator[tuple[int, View]]:
    """What is read of a value as long as it is a view, and nobody else reads it."""
    at, view = one.target, whole(one.target, low.sizes(one.target))
    while low.uses[at] == 1:
        readers = [other for other in low.program.instructions if at in other.sources]
        if len(readers) != 1 or len(readers[0].sources) != 1 or not readers[0].node.shares:
            return
        if low.dtype(readers[0].target) != low.dtype(at):
            return
        found = through(view, low.extent(one.target), readers[0].node.evaluate)
        if found is None:
            return
        at, view = readers[0].target, found
        yield at, view


def cropped(low: Lowered, one: Instruction, count: int) -> _Crop | None:
    """The part of the trailing axes that is read, where it is less than the whole."""
    shape = low.sizes(one.target)
    steps = in_order(shape)
    best = None
    for at, view in _movements(low, one):
        if min(view.strides, default=0) < 0 or 0 in view.shape or 0 in view.strides:
            break
        begin, reach, places = view.offset, [0] * len(shape), list[list[int]]()
        for size, stride in zip(view.shape, view.strides, strict=True):
            places.append(_unravelled(stride, steps))
            reach = [a + (size - 1) * b for a, b in zip(reach, places[-1], strict=True)]
        first = _unravelled(begin, steps)
        lead = len(shape) - count
        ends = [a + b + 1 for a, b in zip(first, reach, strict=True)]
        if any(first[:lead]) or any(end > n for end, n in zip(ends[lead:], shape[lead:], strict=True)):
            break  # a step leads over the end of a row
        box = [(0, n) for n in shape[:lead]] + list(zip(first[lead:], ends[lead:], strict=True))
        own = in_order([end - start for start, end in box])
        strides = tuple([sum(a * b for a, b in zip(place, own, strict=True)) for place in places])
        best = _Crop(at, box, View(at, view.shape, strides))
    return best


def _unravelled(at: int, steps: Sizes) -> list[int]:
    found = []
    for step in steps:
        found.append(at // step)
        at %= step
    return found
