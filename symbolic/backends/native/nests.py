"""Which tasks share a loop, and which values must lie in memory?

Tasks over the same domain are put into one nest of loops, where a value goes from one to the next in a register. A
value that is read elsewhere, in another order, or by NumPy, is written to memory.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from symbolic.backends.native.access import Sizes, View, in_order
from symbolic.backends.native.ahead import begun_early, read_again
from symbolic.backends.native.lowering import (
    Check,
    Contract,
    External,
    Looping,
    Lowered,
    Point,
    Reduce,
    Running,
    Small,
    Task,
    Write,
    views_of,
)
from symbolic.printing import bits

_LONG_ROW = 16
"""Entries in a row from which on vectors are worth it."""


class Access(NamedTuple):
    """Entries of a value as loops walk them: a stride for each loop."""

    base: int
    offset: int
    strides: Sizes
    by: tuple[tuple[Access, int], ...] = ()
    """Where the numbers are that say how far away an entry lies, and by how much each moves it."""


class Step(NamedTuple):
    """A task within a nest, without the axes of size 1. `axes` are those of a reduction."""

    task: Looping
    operands: tuple[Access, ...]
    axes: Sizes
    region: Access | None  # where a task writes that begins nothing of its own

    @property
    def places(self) -> tuple[Access, ...]:
        """Where it reads, or writes into what others have begun."""
        return self.operands if self.region is None else (*self.operands, self.region)

    @property
    def numbers(self) -> tuple[Access, ...]:
        """The numbers that say where that is."""
        return tuple([number for one in self.places for number, _ in one.by])


class Nest:
    """Loops over one domain, and what is done for each entry."""

    order: Sizes

    def __init__(self, domain: Sizes) -> None:
        self.domain = domain
        self.order = in_order(domain)
        self.steps: list[Step] = []
        self.made: set[int] = set()  # values of single entries, in registers
        self.stored: set[int] = set()  # those, and reductions, that are written to memory
        self.continued: set[int] = set()  # reductions that go on from what lies in memory
        self.given = False  # whether constants come out of memory, as they differ from piece to piece
        self.most = 0  # how many vectors at a time, where its code should be short rather than quick

    def holds(self, access: Access) -> bool:
        """Whether a value is at hand in a register where it is read."""
        here = access.base in self.made and access.offset == 0 and not access.by
        return here and access.strides == self.order

    def add(self, task: Looping) -> None:
        kept = [k for k, size in enumerate(task.domain) if size != 1]
        axes = task.axes if isinstance(task, Reduce) else ()
        operands = tuple([_access(view, kept) for view in task.operands])
        region = _access(task.region, kept) if isinstance(task, Write) else None
        self.steps.append(Step(task, operands, tuple([kept.index(a) for a in axes if a in kept]), region))
        if isinstance(task, Point):
            self.made.add(task.target)

    def key(self, dtype: Callable[[int], Any], constants: dict[int, Any]) -> Any:
        """What two nests have in common that are written alike."""
        names: dict[Any, int] = {}

        def name(base: int) -> Any:
            value = constants.get(base)
            if value is not None and np.ndim(value) == 0 and base not in self.made:
                return bits(value)
            return names.setdefault(base, len(names)), dtype(base)

        def place(one: Access | None) -> Any:
            if one is None:
                return None
            by = [(place(number), step) for number, step in one.by]
            return name(one.base), names.setdefault(one, len(names)), one.strides, self.holds(one), *by

        steps = [
            (
                step.task.target in self.continued,
                tuple([place(one) for one in step.operands]),
                name(step.task.target) if step.task.target >= 0 else None,
                step.task.target in self.stored,
                step.axes,
                place(step.region),
                type(step.task),
                _what(step.task),
            )
            for step in self.steps
        ]
        return self.domain, self.most, tuple(steps)

    def reads(self) -> Iterable[int]:
        """The values that come out of memory."""
        read = [one for step in self.steps for one in (*step.operands, *step.numbers)]
        return [one.base for one in read if not self.holds(one)]


def _what(task: Looping) -> Any:
    if isinstance(task, Point):
        return task.function, task.inner, task.dtype
    if isinstance(task, Check):
        return task.dtype, task.bit
    return (task.how if isinstance(task, Reduce) else task.adds), task.dtype


Stage = Nest | Contract | Small | Running | External


class Schedule:
    """Stages in the order in which they run, with where each value is made and last read."""

    lowered: Lowered
    outputs: Sequence[int]
    early: set[int]
    tasks: list[Task]

    def __init__(
        self,
        lowered: Lowered,
        outputs: Sequence[int],
        cut: Callable[[Nest], Sequence[Nest]],
        again: Callable[[Schedule], None] = lambda _: None,
        order: Callable[[list[Stage]], list[Stage]] = list,
    ) -> None:
        self.lowered, self.outputs = lowered, outputs
        self.stages: list[Stage] = []
        self.born: dict[int, int] = {}  # when the last of its entries is there
        self.first: dict[int, int] = {}  # when the first is
        self.adding: set[tuple[int, int]] = set()  # values to which something is added, and in which stage
        self.by_domain: dict[Sizes, list[int]] = {}
        self.tasks, self.early = begun_early(_needed(read_again(lowered.tasks, lowered.extent), outputs))
        for task in self.tasks:
            self._place(task)
        self._sink()
        again(self)
        self._cut(cut, order)
        self._store()

    def _place(self, task: Task) -> None:
        if isinstance(
            task, (Contract, Small, Running, External)
        ):  # NumPy's own instructions may have effects, and keep their order
            self._born(task.target, len(self.stages))
            self.stages.append(task)
            return
        earliest = 0
        if isinstance(task, Write) and not task.once:  # after what has begun the target; two that add may share a nest
            before = self.born.get(task.target, -1)
            earliest = before if task.adds and (task.target, before) in self.adding else before + 1
        domain = tuple([size for size in task.domain if size != 1])
        kept = [k for k, size in enumerate(task.domain) if size != 1]
        joins, alone = _may_join(task, domain, kept), True
        for view in views_of(task):
            at = self.born.get(view.base, -1)
            nest = self.stages[at] if at >= 0 else None
            together = joins and isinstance(nest, Nest) and nest.domain == domain and nest.holds(_access(view, kept))
            earliest = max(earliest, at if together else at + 1)
            alone = alone and not together
        if isinstance(task, Write) and task.once and alone:  # not long before the target's other parts
            earliest = max(earliest, self.first.get(task.target, 0))
        places = [] if task.target in self.early and isinstance(task, Point) else self.by_domain.setdefault(domain, [])
        found = next((at for at in places if at >= earliest), None)
        if found is None:
            found = len(self.stages)
            self.stages.append(Nest(domain))
            places.append(found)
        nest = self.stages[found]
        assert isinstance(nest, Nest)
        nest.add(task)
        if not isinstance(task, Check):
            self._born(task.target, found)
        if isinstance(task, Write) and task.adds:
            self.adding.add((task.target, found))

    def _cut(self, cut: Callable[[Nest], Sequence[Nest]], order: Callable[[list[Stage]], list[Stage]]) -> None:
        """Long nests into pieces; and what may wait goes behind what goes by rows."""
        self.stages = [one for stage in self.stages for one in (cut(stage) if isinstance(stage, Nest) else [stage])]
        self.stages = order(self.stages)
        self.born.clear()
        self.first.clear()
        for at, stage in enumerate(self.stages):
            tasks = [step.task for step in stage.steps] if isinstance(stage, Nest) else [stage]
            for task in tasks:
                if not isinstance(task, Check):
                    self._born(task.target, at)

    def _born(self, value: int, at: int) -> None:
        self.first[value] = min(self.first.get(value, at), at)
        self.born[value] = max(self.born.get(value, at), at)

    def _sink(self) -> None:
        """What is read by one later nest alone, entry by entry, is computed there: it need not be kept until then."""
        readers: dict[int, list[tuple[int, bool]]] = {}
        for at, stage in enumerate(self.stages):
            if isinstance(stage, Nest):
                order = in_order(stage.domain)
                for step in stage.steps:
                    for one in (*step.operands, *step.numbers):
                        whole = one.offset == 0 and one.strides == order and not one.by
                        readers.setdefault(one.base, []).append((at, whole))
            else:
                for view in views_of(stage):
                    readers.setdefault(view.base, []).append((at, False))
        for base in self.outputs:
            readers.setdefault(base, []).append((-1, False))
        for at in reversed(range(len(self.stages))):
            stage = self.stages[at]
            if isinstance(stage, Nest):
                for step in reversed(stage.steps[:]):
                    self._sunk(stage, step, readers)

    def _sunk(self, nest: Nest, step: Step, readers: dict[int, list[tuple[int, bool]]]) -> None:
        task = step.task
        found = set(readers.get(task.target, ()))
        if not isinstance(task, Point) or len(found) != 1 or len(nest.steps) == 1:
            return
        ((to, there),) = found
        into, at = self.stages[to], self.born[task.target]
        if to <= at or not there or not isinstance(into, Nest) or into.domain != nest.domain:
            return
        if self.first[task.target] != at or task.target in self.early or any(one.by for one in step.operands):
            return  # it is written in several parts, or from places that numbers say
        kept = [one for one in step.operands if one.base not in self.lowered.constants]
        if len(kept) != 1 or (kept[0].base in nest.made and {place for place, _ in readers[kept[0].base]} == {at}):
            return  # it would have to read more than its own result
        nest.steps.remove(step)
        nest.made.discard(task.target)
        into.steps.insert(0, step)
        into.made.add(task.target)
        self.first[task.target] = self.born[task.target] = to
        for one in step.operands:
            places = readers[one.base]
            places.remove(next(place for place in places if place[0] == at))
            places.append((to, one.offset == 0 and one.strides == in_order(nest.domain)))

    def _store(self) -> None:
        """Find what has to lie in memory, and until when."""
        self.last: dict[int, int] = dict(self.born)
        read: set[int] = set()
        for at, stage in enumerate(self.stages):
            bases = stage.reads() if isinstance(stage, Nest) else [view.base for view in stage.operands]
            for base in bases:
                read.add(base)
                self.last[base] = max(self.last.get(base, at), at)
        for task in self.tasks:  # what is written in parts is not at hand in a register, nor is what a matrix gives
            if isinstance(task, (Write, Small)) or (isinstance(task, Contract) and task.region is not None):
                read.add(task.target)
        for base in self.outputs:
            read.add(base)
            self.last[base] = len(self.stages)
        for at, stage in enumerate(self.stages):
            if isinstance(stage, Nest):
                stage.stored = {step.task.target for step in stage.steps if step.task.target in read}
                stage.stored.difference_update(self._made_again(at, stage))
        self.stored = read

    def _made_again(self, at: int, nest: Nest) -> Iterator[int]:
        """Values that lie in memory already, where an earlier nest has put them."""
        for step in nest.steps:
            if isinstance(step.task, Point) and self.first[step.task.target] < at:
                yield step.task.target

    def size(self, base: int) -> int:
        """The bytes of a value."""
        spec = self.lowered.spec(base)
        assert spec.dtype is not None and spec.shape is not None
        return prod(spec.shape) * spec.dtype.itemsize  # type: ignore[arg-type]  # known


def _needed(tasks: Sequence[Task], outputs: Sequence[int]) -> list[Task]:
    """The tasks without those whose values nobody reads: an operation may ask for no more than a shape."""
    wanted, kept = set(outputs), list[Task]()
    for task in reversed(tasks):
        raises = isinstance(task, (External, Check)) or (isinstance(task, Small) and task.flagged)
        if raises or task.target in wanted:
            wanted.update(view.base for view in views_of(task))
            kept.append(task)
    return kept[::-1]


def _may_join(task: Looping, domain: Sizes, kept: list[int]) -> bool:
    """Whether a task may share a nest with what it reads: a part of short rows would make all its loops short."""
    if not isinstance(task, Write) or not task.once or not domain or domain[-1] >= _LONG_ROW:
        return True
    return _access(task.region, kept).strides == in_order(domain)


def _access(view: View, kept: list[int]) -> Access:
    strides = tuple([view.strides[k] if view.shape[k] != 1 else 0 for k in kept])
    by = tuple([(_access(one.numbers, kept), one.step) for one in view.by])
    return Access(view.base, view.offset, strides, by)


def arranged(memory: dict[int, tuple[int, int, int]]) -> tuple[dict[int, int], int]:
    """A place for each value, by its size in bytes and the first and last stage that need it; and the bytes in all.

    Values whose lives overlap do not share memory. Each gets the smallest gap that holds it, when its life begins.
    """
    places: dict[int, int] = {}
    alive: list[tuple[int, int, int]] = []  # until when, where, how much
    gaps: dict[int, int] = {}  # from where to where nobody lives
    end = 0
    for value, (size, first, last) in sorted(memory.items(), key=lambda one: one[1][1]):
        while alive and alive[0][0] < first:
            _, at, room = heapq.heappop(alive)
            _give_back(gaps, at, at + room)
        room = -(-size // 64) * 64
        fitting = [(stop - start, start) for start, stop in gaps.items() if stop - start >= room]
        if fitting:
            length, at = min(fitting)
            del gaps[at]
            if length > room:
                gaps[at + room] = at + length
        else:
            at, end = end, end + room
        places[value] = at
        heapq.heappush(alive, (last, at, room))
    return places, end


def arranged_apart(memory: dict[int, tuple[int, int, int]], kind: Callable[[int], Any]) -> tuple[dict[int, int], int]:
    """The same, where only values of one kind share memory."""
    kinds: dict[Any, dict[int, tuple[int, int, int]]] = {}
    for base, one in memory.items():
        kinds.setdefault(kind(base), {})[base] = one
    places: dict[int, int] = {}
    end = 0
    for some in kinds.values():
        found, room = arranged(some)
        places.update({base: end + at for base, at in found.items()})
        end += room
    return places, end


def _give_back(gaps: dict[int, int], start: int, stop: int) -> None:
    """A gap, joined to those beside it."""
    if stop in gaps:
        stop = gaps.pop(stop)
    before = next((one for one, end in gaps.items() if end == start), None)
    gaps[start if before is None else before] = stop


def work_of(stage: Stage) -> int:
    """About how many operations on single entries a stage is."""
    if isinstance(stage, Nest):
        return prod(stage.domain) * len(stage.steps)
    if isinstance(stage, Small):
        return prod(stage.domain) * stage.domain[-2]
    return prod(stage.domain) if isinstance(stage, (Contract, Running)) else 0
