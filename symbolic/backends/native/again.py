"""Which values are computed again where they are read? Those that are quicker computed than kept in memory.

What a way back reads was made on the way forward, long before: it is written to memory that no near cache holds, and
read from there. Where it is a few quick operations on values that lie there anyway, these are done again instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from symbolic.backends.native.access import in_order
from symbolic.backends.native.lowering import Contract, External, Point, Write, views_of
from symbolic.backends.native.nests import Access, Nest, Schedule, Stage, Step

_MUCH = 1 << 20
"""Bytes of values that are kept from one stage to another, from which on some of them leave the near caches."""
_LARGE = 1 << 14
"""Bytes of a value for which it is worth looking."""
_SMALL = 16
"""A value so many times smaller is as good as none."""
_CLOSE = 4
"""Stages within which what one has read is in the cache for the other."""
_STEPS = 6
"""The most operations that are done again for one value."""
_QUICK = {
    **dict.fromkeys(("add", "subtract", "multiply", "negative", "maximum", "minimum", "absolute", "square"), 0.25),
    **dict.fromkeys(("divide", "sqrt"), 0.75),
}
"""How much of the time for reading an entry from far away an operation takes, about."""


class _Reader(NamedTuple):
    """A stage that reads a value, and whether entry by entry."""

    stage: int
    whole: bool


_Makers = dict[int, tuple[int, Step]]
"""For each value of a nest which of its steps makes it."""


class _Way(NamedTuple):
    """How a value is computed again: by which steps, out of which values."""

    steps: list[Step]
    given: set[Access]
    cost: float


def again(schedule: Schedule) -> None:
    """Have readers compute what is not worth keeping."""
    outside = {one.target for one in schedule.stages if isinstance(one, External)}  # whose sizes may be known to nobody
    sizes = {base: schedule.size(base) for base in schedule.born if base not in outside}
    large = {base: size for base, size in sizes.items() if size >= _LARGE}
    if sum(large.values()) < _MUCH or _kept(schedule, large) < _MUCH:
        return  # as in nearly all programs
    found = _Again(schedule)
    for at in reversed(range(len(schedule.stages))):
        found.stage(at)


def _kept(schedule: Schedule, large: dict[int, int]) -> int:
    """The bytes of large values that are read long after they were made."""
    runs, far = _runs(schedule.stages), set[int]()
    for at, stage in enumerate(schedule.stages):
        steps = stage.steps if isinstance(stage, Nest) else [stage]
        read = {one.base for step in steps for one in step.operands if one.base in large}
        far |= {base for base in read if runs[schedule.born[base]] != runs[at]}
    return sum(large[base] for base in far)


def _runs(stages: Sequence[Stage]) -> list[int]:
    """A number for each stage: those that follow each other and are loops over the same rows have one."""
    found: list[int] = []
    before = None
    for at, stage in enumerate(stages):
        rows = stage.domain[:1] if isinstance(stage, Nest) else None
        found.append(found[-1] if rows and rows == before else at)
        before = rows
    return found


class _Again:
    """Who reads what, and which values lie in memory."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule, self.stages = schedule, schedule.stages
        self.readers: dict[int, list[_Reader]] = {}
        self.runs = _runs(schedule.stages)
        self.parts: set[int] = {base for base in schedule.first if schedule.first[base] != schedule.born[base]}
        for at, stage in enumerate(self.stages):
            for base, whole in self._reads(at):
                self.readers.setdefault(base, []).append(_Reader(at, whole))
            tasks = [step.task for step in stage.steps] if isinstance(stage, Nest) else [stage]
            self.parts |= {one.target for one in tasks if isinstance(one, (Write, External))}
            self.parts |= {one.target for one in tasks if isinstance(one, Contract) and one.region is not None}

    def _reads(self, at: int) -> Iterator[tuple[int, bool]]:
        """What a stage reads from memory."""
        stage = self.stages[at]
        if not isinstance(stage, Nest):
            yield from ((view.base, False) for view in views_of(stage))
            return
        order = in_order(stage.domain)
        for step in stage.steps:
            places = [one for one in (*step.operands, *step.numbers) if not stage.holds(one)]
            yield from ((one.base, one == Access(one.base, 0, order)) for one in places)

    def _size(self, base: int) -> int:
        return self.schedule.size(base)

    def _until(self, base: int) -> int:
        """The last stage that reads a value from memory."""
        return max([one.stage for one in self.readers.get(base, ())], default=-1)

    def stage(self, at: int) -> None:
        nest = self.stages[at]
        if isinstance(nest, Nest):
            makers = {step.task.target: (n, step) for n, step in enumerate(nest.steps) if isinstance(step.task, Point)}
            for step in reversed(nest.steps[:]):
                if isinstance(step.task, Point) and step.task.target in self.readers:
                    self._step(at, nest, step.task, makers)

    def _step(self, at: int, nest: Nest, task: Point, makers: _Makers) -> None:
        base, schedule = task.target, self.schedule
        readers = self.readers[base]
        if base in schedule.outputs or base in schedule.early or base in self.parts:
            return
        if self._size(base) < _LARGE or not all(self._may(nest, one) for one in readers):
            return
        places = sorted({one.stage for one in readers})
        way = self._way(nest, base, places, makers)
        if way is None or self._gain(at, base, way, places) <= 0:
            return
        del self.readers[base]
        for place in places:
            self._put(place, way)
        self._drop(at, nest, base)

    def _may(self, nest: Nest, reader: _Reader) -> bool:
        """Whether a reader may compute what a nest does."""
        other = self.stages[reader.stage]
        return reader.whole and isinstance(other, Nest) and other.domain == nest.domain and other is not nest

    def _way(self, nest: Nest, base: int, places: list[int], makers: _Makers) -> _Way | None:
        """The steps of a nest that make a value of others that lie in memory; None if these are many, or slow."""
        wanted, steps, given, cost = [base], dict[int, Step](), set[Access](), 0.0
        while wanted:
            at, step = makers[wanted.pop()]
            task = step.task
            assert isinstance(task, Point)
            if len(steps) == _STEPS or task.function not in _QUICK or set(task.inner) != {task.dtype} or step.numbers:
                return None
            cost += _QUICK[task.function] * (at not in steps)
            steps[at] = step
            for access in step.operands:
                if nest.holds(access) and self._until(access.base) < places[-1]:
                    wanted.append(access.base)
                elif self._is_there(access, self._size(base), places):
                    given.add(access)
                else:
                    return None
        return _Way([steps[at] for at in sorted(steps)], given, cost)

    def _gain(self, at: int, base: int, way: _Way, places: list[int]) -> float:
        """How many times the reading of the value from far away is saved."""
        far = [place for place in places if not self._is_one_run(at, place)]
        gain = len(far) + bool(far) - way.cost * len(places)
        for access in way.given:
            if self._size(access.base) * _SMALL > self._size(base):
                gain -= sum(not self._near(access.base, place) for place in places)
        return gain

    def _is_there(self, access: Access, size: int, places: list[int]) -> bool:
        """Whether a value lies in memory where it is asked for, or can without harm."""
        base = access.base
        if base in self.schedule.lowered.constants:
            return True
        if base in self.parts or access.by:
            return False
        if base not in self.schedule.born:  # it comes from outside: who reads it anyway may read it once more
            return {one.stage for one in self.readers.get(base, ())} >= set(places)
        return self._until(base) >= places[-1] or self._size(base) * _SMALL <= size

    def _near(self, base: int, place: int) -> bool:
        """Whether a value is read just before or after a stage, by loops over the same rows."""
        readers = [one.stage for one in self.readers.get(base, ()) if abs(one.stage - place) <= _CLOSE]
        return any(self._is_one_run(*sorted((one, place))) for one in readers)

    def _is_one_run(self, first: int, last: int) -> bool:
        """Whether all stages from one to another are loops over the same rows, which may run block by block."""
        return self.runs[first] == self.runs[last]

    def _put(self, place: int, way: _Way) -> None:
        """Before what a stage does itself."""
        nest = self.stages[place]
        assert isinstance(nest, Nest)
        made = {step.task.target for step in way.steps}
        nest.steps = [*way.steps, *[step for step in nest.steps if step.task.target not in made]]
        nest.made |= made
        order = in_order(nest.domain)
        for access in way.given:
            if not nest.holds(access):
                whole = access == Access(access.base, 0, order)
                self.readers.setdefault(access.base, []).append(_Reader(place, whole))

    def _drop(self, at: int, nest: Nest, base: int) -> None:
        """A step whose value nobody reads any more, and those before it that were for it alone."""
        if base in self.readers or base in self.schedule.outputs or base not in nest.made:
            return
        if any(one.base == base for step in nest.steps for one in (*step.operands, *step.numbers)):
            return
        gone = next(step for step in nest.steps if step.task.target == base)
        nest.steps.remove(gone)
        nest.made.discard(base)
        for access in gone.operands:
            if access.base in nest.made:
                self._drop(at, nest, access.base)
