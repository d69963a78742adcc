"""How is a segment of a program written? Its calls one by one, as data over which a loop runs, shared, or by blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbolic.backends.native import trials
from symbolic.backends.native.orders import CALLS, TEAM, Blocks, Call, Shared
from symbolic.backends.native.text import QUICKLY, Function, Value

if TYPE_CHECKING:
    from symbolic.backends.native.assembly import Assembly


def groups(calls: Sequence[Call | Shared | Blocks]) -> list[tuple[int, Shared | Blocks]]:
    """Those that are no single calls, by their places."""
    return [(n, one) for n, one in enumerate(calls) if not isinstance(one, Call)]


def blocks_of(calls: Sequence[Call | Shared | Blocks]) -> Iterator[Blocks]:
    """Those that are shared among threads, too."""
    for one in calls:
        if isinstance(one, Blocks):
            yield one
        elif isinstance(one, Shared):
            yield from blocks_of(one.calls)


class _Row(NamedTuple):
    """The first of the rows that are worked on, and the values of which only these are in memory."""

    row: Value
    kept: frozenset[int]


class Segment:
    """Writes the calls of one segment into a function of the table."""

    assembly: Assembly
    f: Function
    functions: Sequence[Function]
    table: Value

    def __init__(self, assembly: Assembly, functions: Sequence[Function], f: Function) -> None:
        self.assembly, self.functions, self.f = assembly, functions, f
        self.table = f.arguments[0]
        self.wanted: Value | None = None  # whether others take shares in this run
        self.who: Value | None = None  # in a share: the number of the thread

    def write(self, calls: Sequence[Call | Shared | Blocks], data: tuple[int, int] | None, site: int | None) -> None:
        """`site` is where in the data it is noted how long that takes, if several threads may share it."""
        f = self.f
        if site is None:
            self._all(calls, data)
        else:
            place = f.at(f.load(f.at(self.table, f.index(CALLS), "i64"), "ptr"), f.index(site), "i64")
            run, self.wanted = trials.wanted(f, place)
            began = trials.now(f)
            self._all(calls, data)
            trials.noted(f, place, run, self.wanted, f.sub(trials.now(f), began))
        f.give()

    def _all(
        self, calls: Sequence[Call | Shared | Blocks], data: tuple[int, int] | None, row: _Row | None = None
    ) -> None:
        if data is not None:
            self._from_data(calls, *data, row)
            return
        for one in calls:
            self._one(one, row)

    def _one(self, one: Call | Shared | Blocks, row: _Row | None = None) -> None:
        if isinstance(one, Call):
            self._call(one, row)
        elif isinstance(one, Blocks):
            self._blocks(one)
        else:
            self._shared(one)
            for each in one.after:
                self._call(each, None)

    def _shared(self, one: Shared) -> None:
        """Calls by number, in a function that whoever has time is given."""
        f, assembly = self.f, self.assembly
        if not assembly.native.host.shares:
            for each in one.calls:
                self._one(each)
            return
        name = f"share{len(assembly.module.functions)}"
        work = assembly.module.function(name, ["ptr", "i64", "i64"], attributes=QUICKLY, private=True)
        part = Segment(assembly, self.functions, work)
        part.who = work.arguments[2]
        done = work.label("done")
        labels = [work.label("call") for _ in one.calls]
        choices = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels))
        work.do(f"switch i64 {work.arguments[1].name}, label %{done} [ {choices} ]")
        for label, each in zip(labels, one.calls, strict=True):
            work.start(label)
            part._one(each)
            work.jump(done)
        work.start(done)
        work.give()
        job, count = Value("ptr", 0, f"@{name}"), f.index(len(one.calls))
        others, alone, over = map(f.label, ("others", "alone", "over"))
        assert self.wanted is not None
        f.branch(self.wanted, others, alone)
        f.start(others)
        word, bytes = assembly.place(TEAM)
        place = f.at(f.load(f.at(self.table, f.index(word), "i64"), "ptr"), f.index(bytes), "i8")
        team = f.load(place, "ptr")
        f.call_at(f.load(team, "ptr"), "void", team, job, self.table, count)
        f.jump(over)
        f.start(alone)
        with f.loop(f.index(0), count) as k:
            f.call(work, self.table, k, f.index(0))
        f.jump(over)
        f.start(over)

    def _call(self, one: Call, at: _Row | None) -> None:
        f, assembly = self.f, self.assembly
        given = []
        for pointer in one.pointers:
            word, bytes = assembly.place(pointer.base)
            start = f.load(f.at(self.table, f.index(word), "i64"), "ptr")
            place = f.at(start, f.index(bytes + pointer.offset * assembly.bytes(pointer.base)), "i8")
            apart = 0 if at is None else assembly.apart(pointer, at.kept)
            if at is not None and apart:
                place = f.at(place, f.mul(at.row, f.index(apart)), "i8")
            if pointer.each and self.who is not None:
                place = f.at(place, f.mul(self.who, f.index(pointer.each)), "i8")
            given.append(place)
        f.call(self.functions[one.kind], *given)

    def _blocks(self, one: Blocks) -> None:
        f, group, lists = self.f, one.group, self.assembly.lists
        self._all(one.begun, lists.get(id(one.begun)))
        start, whole = one.rows
        with f.loop(f.index(start), f.index(whole), group.block) as row:
            self._all(one.whole, lists.get(id(one.whole)), _Row(row, group.kept))
        self._all(one.left, lists.get(id(one.left)), _Row(f.index(whole), group.kept))

    # ------------------------------------------------------------------ calls as data
    def _from_data(self, calls: Sequence[Call | Shared | Blocks], start: int, stop: int, row: _Row | None) -> None:
        """A loop over records, each of which says what is called with what.

        The pointers are put in a row first, from which the calls take them: a program may have hundreds of functions.
        """
        f, width = self.f, 2 if row is None else 4
        kinds = {one.kind: len(one.pointers) for one in calls if isinstance(one, Call)}
        others = dict(groups(calls))
        data = f.load(f.at(self.table, f.index(CALLS), "i64"), "ptr")
        places = f.room("ptr", 2 + width * max([0, *kinds.values()]))
        place = f.room("i64")
        f.put(f.index(start), place)
        head, body, after, done = map(f.label, ("record", "kind", "next", "done"))
        f.jump(head)
        f.start(head)
        at = f.get(place, "i64")
        f.branch(f.compare("slt", at, f.index(stop)), body, done)
        f.start(body)
        record = f.at(data, at, "i64")
        number, length = f.load(record, "i64"), f.load(f.at(record, f.index(1), "i64"), "i64")
        f.put(f.add(at, length), place)
        with f.loop(f.index(2), length, width) as k:
            f.store(self._pointer(f.at(record, k, "i64"), row), f.at(places, k, "ptr"), align=8)
        cases = {k: f.label("case") for k in (*kinds, *[-1 - n for n in others])}
        choices = " ".join(f"i64 {k}, label %{label}" for k, label in cases.items())
        f.do(f"switch i64 {number.name}, label %{after} [ {choices} ]")
        for k, label in cases.items():
            f.start(label)
            if k < 0:
                self._one(others[-1 - k])
            else:
                given = [f.load(f.at(places, f.index(2 + width * n), "ptr"), "ptr") for n in range(kinds[k])]
                f.call(self.functions[k], *given)
            f.jump(after)
        f.start(after)
        f.jump(head)
        f.start(done)

    def _pointer(self, place: Value, row: _Row | None) -> Value:
        f = self.f
        word, bytes = f.load(place, "i64"), f.load(f.at(place, f.index(1), "i64"), "i64")
        found = f.at(f.load(f.at(self.table, word, "i64"), "ptr"), bytes, "i8")
        for k, moved in ((2, None if row is None else row.row), (3, None if row is None else self.who)):
            if moved is not None:
                found = f.at(found, f.mul(moved, f.load(f.at(place, f.index(k), "i64"), "i64")), "i8")
        return found
