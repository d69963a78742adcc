"""How is the module of a program put together? One function for all loops that are alike, and the order of their calls.

First it is only said which functions there are and what each call is given. Their text is written if no code is kept
for that. A long program is no long function: its calls are data, over which a loop runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symbolic.backends.native.access import Sizes
from symbolic.backends.native.blocks import Group, by_rows, part, rest
from symbolic.backends.native.calls import write_function
from symbolic.backends.native.contract import as_nest
from symbolic.backends.native.dividing import Dividing
from symbolic.backends.native.entry import Entry
from symbolic.backends.native.factors import Adjugate, Root, Triangle, Triangles
from symbolic.backends.native.laying import Panels, writer
from symbolic.backends.native.loops import Pointer, Writer
from symbolic.backends.native.lowering import FLAG, Contract, External, Point, Reduce, Running, Small
from symbolic.backends.native.matrices import Matrices, matrices
from symbolic.backends.native.nests import Nest, Step
from symbolic.backends.native.orders import BLAS, CALLS, TEAM, WORK, Blocks, Call, Shared
from symbolic.backends.native.recipes import OWN
from symbolic.backends.native.records import TRIANGLES, Stacked
from symbolic.backends.native.reductions import IDENTITY
from symbolic.backends.native.running import Scan
from symbolic.backends.native.segments import Segment, blocks_of, groups
from symbolic.backends.native.solving import Solving
from symbolic.backends.native.text import Function, Module
from symbolic.backends.native.trials import SITE

if TYPE_CHECKING:
    from symbolic.backends.native.making import Making

__all__ = ["BLAS", "CALLS", "TEAM", "WORK", "Assembly", "Blocks", "Call", "Shared"]

_LONG = 64
"""Calls beyond which they are data."""
Write = Callable[[str], Function]
_FACTORING: dict[str, type[Stacked]] = {
    "triangles": Triangles,
    "root": Root,
    **dict.fromkeys(TRIANGLES, Triangle),
    "adjugate": Adjugate,
}
"""By how, what makes a record, and what looks at a matrix itself; all else solves equations with a record."""


class Assembly(Dividing):
    """A program's functions and calls; `steps` are the names of its segments, and what NumPy runs between them."""

    parts: list[tuple[int, int] | None]

    entry: Entry | None
    module: Module
    native: Making

    def __init__(self, native: Making, apart: bool) -> None:
        self.native, self.module = native, native.host.module()
        self.steps: list[str | External] = []
        self.segments: list[list[Call | Shared | Blocks]] = []
        self.kinds: dict[Any, int] = {}
        self.needed = 0  # bytes of memory while a stage runs
        self.writers: list[Write] = []
        calls: list[Call | Shared | Blocks] = []
        group = None
        for at, stage in enumerate(native.schedule.stages):
            group = native.groups.get(at, group)
            if group is not None and at > group.last:
                group = None
            if group is not None:
                if at == group.first:
                    calls.append(self._blocks(group))
            elif isinstance(stage, External):
                self._segment(calls)
                calls = []
                self.steps.append(stage)
            else:
                calls.append(self._one(stage))
            if apart:
                self._segment(calls)
                calls = []
        self._segment(calls)
        self.data: list[int] = []  # for the calls of long segments: the number of a function, and its pointers
        self.parts = [self._as_data(calls) if len(calls) > _LONG else None for calls in self.segments]
        self.lists: dict[int, tuple[int, int]] = {}  # the same for the calls of groups
        for calls in self.segments:
            for one in blocks_of(calls):
                kept = one.group.kept
                for some, within in ((one.begun, None), (one.whole, kept), (one.left, kept)):
                    if len(some) > _LONG:
                        self.lists[id(some)] = self._as_data(some, within)
        self.sites: list[int | None] = []  # for each segment that is shared: where it is noted how long that takes
        for calls in self.segments:
            shared = native.host.shares and any(isinstance(one, Shared) for one in calls)
            self.sites.append(len(self.data) if shared else None)
            self.data += [0] * SITE * shared

    def _as_data(self, calls: Sequence[Call | Shared | Blocks], kept: frozenset[int] | None = None) -> tuple[int, int]:
        """Calls as records: a number, how long the record is, then for each pointer its word and the bytes beyond.

        In a group with the values `kept` of one block of rows, how many bytes a row and a thread's memory have, too.
        """
        start, data = len(self.data), self.data
        for n, one in enumerate(calls):
            if not isinstance(one, Call):
                data += [-1 - n, 2]
                continue
            data += [one.kind, 2 + (2 if kept is None else 4) * len(one.pointers)]
            for pointer in one.pointers:
                word, bytes = self.place(pointer.base)
                data += [word, bytes + pointer.offset * self.bytes(pointer.base)]
                if kept is not None:
                    data += [self.apart(pointer, kept), pointer.each]
        return start, len(data)

    def key(self) -> str:
        """What the text depends on, besides the processor: programs with the same key have the same text."""
        native = self.native
        places = sorted(native.places.items()), sorted(native.word.items())
        outside = [native.lowered.specs[k] for k in sorted(native.word)]
        ends = native.results, native.into, native.program.primal, native.work, len(native.program.leaves)
        calls = [
            one if at is None else (at, sorted({each.kind for each in one if isinstance(each, Call)}), groups(one))
            for one, at in zip(self.segments, self.parts, strict=True)
        ]
        steps = [type(one) is str for one in self.steps], native.host.shares
        return repr((list(self.kinds), calls, list(self.lists.values()), steps, places, outside, ends))

    def write(self) -> str:
        """The text of the module."""
        functions = [write(f"nest{k}") for k, write in enumerate(self.writers)]
        for n, calls in enumerate(self.segments):
            Segment(self, functions, self.module.function(f"segment{n}", ["ptr"])).write(
                calls, self.parts[n], self.sites[n]
            )
        self._write_claim()
        if self.entry is not None:
            self.module.functions.append(self.entry.f)
            self.module.declared.update(self.entry.f.module.declared)
            self.module.constants.update(self.entry.f.module.constants)
        return str(self.module)

    def _write_claim(self) -> None:
        """A function that marks a word, and gives what it was: in one call, between which Python cannot come."""
        f = self.module.function("claim", ["ptr"], "i64")
        (word,) = f.arguments
        before = f.load(word, "i64")
        f.store(f.constant("i64", 1), word, align=8)
        f.give(before)

    def enter(self) -> Entry | None:
        """The function that Python calls, where the whole program is one segment."""
        self.entry = None
        if len(self.steps) == 1 and isinstance(self.steps[0], str):
            self.native.segment = self.steps[0]
            self.entry = write_function(self.native, self.module)
            if self.entry is not None:
                self.module.functions.remove(self.entry.f)
        return self.entry

    # ------------------------------------------------------------------ functions
    def dtype(self, base: int) -> np.dtype[Any]:
        found = self.native.lowered.spec(base).dtype
        assert found is not None
        return found

    def _once(self, key: Any, write: Write) -> int:
        """The number of a function, or of the one that is alike."""
        if key not in self.kinds:
            self.kinds[key] = len(self.kinds)
            self.writers.append(write)
        return self.kinds[key]

    def _blocks(self, group: Group) -> Blocks | Shared:
        """The stages of a group for one block of rows, and for the rows that are left over."""
        stages: list[Nest | Contract] = self.native.schedule.stages[group.first : group.last + 1]  # type: ignore[assignment]  # no others, in a group
        nests = [one for one in stages if isinstance(one, Nest)]
        left = group.rows % group.block
        begun = [
            self._nest(_beginning(nest, step))
            for nest in nests
            for step in nest.steps
            if step.task.target in part(nest, 1).continued
        ]
        whole = [self._some_rows(one, group.block, part) for one in stages]
        rows = [self._some_rows(one, left, rest) for one in stages] if left else []
        return self._divided(Blocks(group, begun, whole, rows, (0, group.rows - left)), nests)

    def _some_rows(self, one: Nest | Contract, rows: int, part: Callable[[Nest, int], Nest]) -> Call:
        """A call of a stage for so many rows."""
        if isinstance(one, Nest):
            return self._nest(part(one, rows))
        whole = by_rows(self.module, self.native.host, one)
        assert whole is not None
        some = whole.part(0, rows)
        places = zip(self._operands(one), whole.moves(0), strict=True)
        return Call(self._once(some.key, some.write), [place._replace(row=step) for place, step in places])

    def _nest(self, nest: Nest, dtype: Callable[[int], Any] | None = None) -> Call:
        dtype = dtype or self.dtype
        constants = {} if nest.given else self.native.lowered.constants
        writer = Writer(self.module, self.native.host.vector_bits, nest, dtype, constants)
        return Call(self._once(nest.key(dtype, constants), writer.write), writer.pointers)

    def _one(self, stage: Nest | Contract | Small | Running) -> Call | Shared:
        if isinstance(stage, Nest):
            return self._loops(stage)
        if isinstance(stage, Running):
            scan = Scan(self.module, stage)
            return Call(self._once(scan.key, scan.write), self._places(stage))
        return self._small(stage) if isinstance(stage, Small) else self._product(stage)

    def _small(self, task: Small) -> Call:
        """Factors, or equations that are solved with them."""
        writer: Stacked = _FACTORING.get(task.how, Solving)(self.module, task)
        return Call(self._once(writer.key, writer.write), self._places(task) + [Pointer(FLAG, 0)] * task.flagged)

    def _places(self, task: Small | Running) -> list[Pointer]:
        return [Pointer(one.base, one.offset) for one in task.operands] + [Pointer(task.target, 0)]

    def _written(self, found: Matrices) -> int:
        self._needs(found.workspace)
        return self._once(found, lambda name: found.write(self.module, name, self.native.host))

    def _operands(self, task: Contract) -> list[Pointer]:
        left, right, *begun = (Pointer(one.base, one.offset) for one in task.operands)
        return [left, right, Pointer(task.target, 0 if task.region is None else task.region.offset), *begun]

    def _contract(self, task: Contract) -> Call:
        left, right, out, *begun = self._operands(task)
        places = [left, right, out]
        found, host = matrices(task), self.native.host
        if found is not None:
            found = found.by(host)
            kind = self._written(found)
            rest = begun or [Pointer(BLAS[found.kind], 0)] * found.calls
            return Call(kind, [*places, Pointer(WORK, 0), *rest])
        written = writer(self.module, host, task)
        if written is None:
            return self._nest(as_nest(task), lambda base: task.dtype)
        work = [Pointer(WORK, 0)] if isinstance(written, Panels) else []
        self._needs(self._room(written))
        return Call(self._once(written.key, written.write), places + work)

    def _segment(self, calls: list[Call | Shared | Blocks]) -> None:
        if calls:
            self.steps.append(f"segment{len(self.segments)}")
            self.segments.append(calls)

    # ------------------------------------------------------------------ places
    def place(self, base: int) -> tuple[int, int]:
        """Where a value is: the word in which an address stands, and how many bytes beyond it."""
        native = self.native
        if base == FLAG:
            return OWN, 8
        if base in (*BLAS.values(), TEAM):
            return OWN, 8 * (OWN - 10 - base)
        if base in native.places:
            return 0, native.places[base]
        word = native.word[base]
        return (OWN, 8 * word) if native.is_scalar(base) else (word, 0)

    def bytes(self, base: int) -> int:
        """Of one entry."""
        return self.dtype(base).itemsize if base >= 0 else 1

    def apart(self, one: Pointer, kept: frozenset[int]) -> int:
        """How many bytes the rows of a value are apart: none where only those of one block are in memory."""
        return one.row * self.bytes(one.base) if one.base not in kept else 0


def _beginning(nest: Nest, step: Step) -> Nest:
    """A nest that fills the result of a reduction with what it starts from."""
    task = step.task
    assert isinstance(task, Reduce)
    shape: Sizes = tuple([n for k, n in enumerate(nest.domain) if k not in step.axes])
    found = Nest(shape)
    found.add(Point(task.target, shape, f"={IDENTITY[task.how]!r}", (), (), task.dtype))
    found.stored = {task.target}
    return found
