"""How is the module of a program put together? One function for all loops that are alike, and the order of their calls.

First it is only said which functions there are and what each call is given. Their text is written if no code is kept
for that. A long program is no long function: its calls are data, over which a loop runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from symbolic.backends.native.access import Sizes
from symbolic.backends.native.blocks import Group, part
from symbolic.backends.native.calls import write_function
from symbolic.backends.native.contract import Plan, as_nest
from symbolic.backends.native.entry import Entry
from symbolic.backends.native.laying import WORKSPACE, Panels
from symbolic.backends.native.loops import Pointer, Writer
from symbolic.backends.native.lowering import FLAG, Contract, External, Point, Reduce
from symbolic.backends.native.matrices import matrices
from symbolic.backends.native.nests import Nest, Step
from symbolic.backends.native.panels import preferred
from symbolic.backends.native.pointwise import element, stored
from symbolic.backends.native.recipes import OWN
from symbolic.backends.native.reductions import IDENTITY
from symbolic.backends.native.text import Function, Module, Value

if TYPE_CHECKING:
    from symbolic.backends.native.making import Making

WORK = -1
"""The memory that a product of matrices needs while it runs."""
BLAS = {"double": -11, "float": -12}
"""The address of a product of matrices in the BLAS, in the words after that."""
_LONG = 64
"""Calls beyond which they are data."""
Write = Callable[[str], Function]


class Call(NamedTuple):
    """Which of the functions, and what it is given."""

    kind: int
    pointers: Sequence[Pointer]


class Blocks(NamedTuple):
    """The calls of a group: before its blocks, for each whole block, and for what is left over."""

    group: Group
    begun: Sequence[Call]
    whole: Sequence[Call]
    left: Sequence[Call]


class Assembly:
    """A program's functions and calls; `steps` are the names of its segments, and what NumPy runs between them."""

    entry: Entry | None
    module: Module
    native: Making

    def __init__(self, native: Making, apart: bool) -> None:
        self.native, self.module = native, native.host.module()
        self.steps: list[str | External] = []
        self.segments: list[list[Call | Blocks]] = []
        self.kinds: dict[Any, int] = {}
        self.writers: list[Write] = []
        calls: list[Call | Blocks] = []
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
                calls.append(self._nest(stage) if isinstance(stage, Nest) else self._contract(stage))
            if apart:
                self._segment(calls)
                calls = []
        self._segment(calls)

    def key(self) -> str:
        """What the text depends on, besides the processor: programs with the same key have the same text."""
        native = self.native
        places = sorted(native.places.items()), sorted(native.word.items())
        outside = [native.lowered.specs[k] for k in sorted(native.word)]
        ends = native.results, native.into, native.program.primal, native.work, len(native.program.leaves)
        return repr((list(self.kinds), self.segments, [type(one) is str for one in self.steps], places, outside, ends))

    def write(self) -> str:
        """The text of the module."""
        functions = [write(f"nest{k}") for k, write in enumerate(self.writers)]
        for n, calls in enumerate(self.segments):
            _Segment(self, functions, self.module.function(f"segment{n}", ["ptr"]), f"{n}").write(calls)
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

    def _blocks(self, group: Group) -> Blocks:
        """The nests of a group for one block of rows, and for the rows that are left over."""
        nests: list[Nest] = [self.native.schedule.stages[k] for k in range(group.first, group.last + 1)]  # type: ignore[misc]  # nests, in a group
        rest = group.rows % group.block
        begun = [
            self._nest(_beginning(nest, step))
            for nest in nests
            for step in nest.steps
            if step.task.target in part(nest, 1).continued
        ]
        whole = [self._nest(part(nest, group.block)) for nest in nests]
        return Blocks(group, begun, whole, [self._nest(part(nest, rest)) for nest in nests] if rest else [])

    def _nest(self, nest: Nest, dtype: Callable[[int], Any] | None = None) -> Call:
        dtype = dtype or self.dtype
        constants = self.native.lowered.constants
        writer = Writer(self.module, self.native.host.vector_bits, nest, dtype, constants)
        return Call(self._once(nest.key(dtype, constants), writer.write), writer.pointers)

    def _contract(self, task: Contract) -> Call:
        left, right, *begun = task.operands
        start = 0 if task.region is None else task.region.offset
        places = [Pointer(left.base, left.offset), Pointer(right.base, right.offset), Pointer(task.target, start)]
        found, host = matrices(task), self.native.host
        if found is not None:
            found = found.by(host)
            kind = self._once(found, lambda name: found.write(self.module, name, host))
            rest = [Pointer(one.base, one.offset) for one in begun] or [Pointer(BLAS[found.kind], 0)] * found.calls
            return Call(kind, [*places, Pointer(WORK, 0), *rest])
        how = preferred(task, host.lanes(element(task.dtype)))
        if how is not None:
            panels = Panels(self.module, host, task, how)
            return Call(self._once(panels.key, panels.write), [*places, Pointer(WORK, 0)])
        plan = Plan(task)
        tiles = plan.writer(host.vector_bits // (8 * task.dtype.itemsize))
        if tiles is None:
            return self._nest(as_nest(task), lambda base: task.dtype)
        writer = tiles(self.module, host.vector_bits, host.registers, plan)
        return Call(self._once(plan.key, writer.write), places)

    def _segment(self, calls: list[Call | Blocks]) -> None:
        if calls:
            self.steps.append(f"segment{len(self.segments)}")
            self.segments.append(calls)

    # ------------------------------------------------------------------ places
    def place(self, base: int) -> tuple[int, int]:
        """Where a value is: the word in which an address stands, and how many bytes beyond it."""
        native = self.native
        if base == FLAG:
            return OWN, 8
        if base in BLAS.values():
            return OWN, 8 * (OWN - 10 - base)
        if base in native.places:
            return 0, native.places[base]
        word = native.word[base]
        return (OWN, 8 * word) if native.is_scalar(base) else (word, 0)

    def bytes(self, base: int) -> int:
        """Of one entry."""
        return self.dtype(base).itemsize if base >= 0 else 1


def workspace(task: Contract) -> int:
    """The bytes that a sum of products needs beside its operands, at most."""
    found = matrices(task)
    return WORKSPACE if found is None else found.workspace


def _beginning(nest: Nest, step: Step) -> Nest:
    """A nest that fills the result of a reduction with what it starts from."""
    task = step.task
    assert isinstance(task, Reduce)
    shape: Sizes = tuple([n for k, n in enumerate(nest.domain) if k not in step.axes])
    found = Nest(shape)
    found.add(Point(task.target, shape, f"={IDENTITY[task.how]!r}", (), (), task.dtype))
    found.stored = {task.target}
    return found


class _Segment:
    """Writes the calls of one segment into a function of the table."""

    def __init__(self, assembly: Assembly, functions: Sequence[Function], f: Function, name: str) -> None:
        self.assembly, self.functions, self.f, self.name = assembly, functions, f, name
        self.table = f.arguments[0]

    def write(self, calls: Sequence[Call | Blocks]) -> None:
        if len(calls) > _LONG:
            self._as_data(calls)
        else:
            for one in calls:
                self._blocks(one) if isinstance(one, Blocks) else self._call(one)
        self.f.give()

    def _call(self, one: Call, row: Value | None = None, kept: frozenset[int] = frozenset()) -> None:
        f, assembly = self.f, self.assembly
        given = []
        for base, offset, stride in one.pointers:
            word, bytes = assembly.place(base)
            start = f.load(f.at(self.table, f.index(word), "i64"), "ptr")
            place = f.at(start, f.index(bytes + offset * assembly.bytes(base)), "i8")
            if row is not None and stride and base not in kept:
                place = f.at(place, f.mul(row, f.index(stride)), stored(assembly.dtype(base)))
            given.append(place)
        f.call(self.functions[one.kind], *given)

    def _blocks(self, one: Blocks) -> None:
        f, group = self.f, one.group
        for each in one.begun:
            self._call(each)
        whole = group.rows - group.rows % group.block
        with f.loop(f.index(0), f.index(whole), group.block) as row:
            for each in one.whole:
                self._call(each, row, group.kept)
        for each in one.left:
            self._call(each, f.index(whole), group.kept)

    # ------------------------------------------------------------------ calls as data
    def _as_data(self, calls: Sequence[Call | Blocks]) -> None:
        """A loop over records: the number of a function, then for each pointer its word and the bytes beyond."""
        f, assembly, records = self.f, self.assembly, []
        cases: dict[Any, str] = {}
        for n, one in enumerate(calls):
            key = n if isinstance(one, Blocks) else (one.kind, len(one.pointers))
            cases.setdefault(key, f"case.{len(cases)}")
            numbers = [int(cases[key].rpartition(".")[2])]
            if isinstance(one, Call):
                for base, offset, _ in one.pointers:
                    word, bytes = assembly.place(base)
                    numbers += [word, bytes + offset * assembly.bytes(base)]
            records.append(numbers)
        width = max(map(len, records))
        table = [number for record in records for number in record + [0] * (width - len(record))]
        data = Value("ptr", 0, f.module.table("i64", table))
        with f.loop(f.index(0), f.index(len(records) * width), width) as at:
            record = f.at(data, at, "i64")
            done = f.label("next")
            number = f.load(record, "i64")
            choices = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(cases.values()))
            f.do(f"switch i64 {number.name}, label %{done} [ {choices} ]")
            for key, label in cases.items():
                f.start(label)
                if isinstance(key, int):
                    self._blocks(calls[key])  # type: ignore[arg-type]  # one has such a key
                else:
                    f.call(self.functions[key[0]], *[self._pointer(record, k) for k in range(key[1])])
                f.jump(done)
            f.start(done)

    def _pointer(self, record: Value, k: int) -> Value:
        f = self.f
        word = f.load(f.at(record, f.index(1 + 2 * k), "i64"), "i64")
        bytes = f.load(f.at(record, f.index(2 + 2 * k), "i64"), "i64")
        return f.at(f.load(f.at(self.table, word, "i64"), "ptr"), bytes, "i8")
