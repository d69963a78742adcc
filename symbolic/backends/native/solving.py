"""How are equations solved whose matrix is factored? By passes over triangles, for several right sides in vectors.

A pass goes down or up the rows. Each row is done when it is come to, and then leaves those after it. Read the other way
round, a lower triangle is an upper one, so that a transposed matrix is solved with the same factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from symbolic.backends.native.records import LANES, WRITTEN_OUT, Stacked, diagonal, order, pitch, room
from symbolic.backends.native.text import Value

_WIDE = 4
"""Vectors of a row that are taken at a time."""


class Pass(NamedTuple):
    """One triangle: are the rows done from the first on, is it read transposed, has it ones on its diagonal?"""

    down: bool
    turned: bool
    ones: bool


PASSES = {
    "pivoted": (Pass(True, False, True), Pass(False, False, False)),
    "pivoted transposed": (Pass(True, True, False), Pass(False, True, True)),
    "lower": (Pass(True, False, False),),
    "lower transposed": (Pass(False, True, False),),
    "upper": (Pass(False, False, False),),
    "upper transposed": (Pass(True, True, False),),
    "lower of ones": (Pass(True, False, True),),
    "lower of ones transposed": (Pass(False, True, True),),
    "upper of ones": (Pass(False, False, True),),
    "upper of ones transposed": (Pass(True, True, True),),
}
"""By what a record is of, and whether the matrix is transposed."""

Piece = tuple[int, int]
"""From which column on, and how many lanes; 0 for a number alone."""


class Solving(Stacked):
    """X of A · X = B, from the record of A, and from B unless it is the unit matrix; flagged, X must be finite."""

    gathers: bool
    of_one: bool
    scatters: bool

    nothing: Value | None
    room: Value

    @property
    def apart(self) -> int:
        return pitch(self.rows)

    def begin(self) -> None:
        how = self.task.how
        self.passes, self.of_one = PASSES[how], len(self.task.operands) == 1
        self.gathers, self.scatters = how == "pivoted", how == "pivoted transposed"
        self.nothing = self.f.variable(self.number(0.0)) if self.task.flagged else None
        if self.rows > WRITTEN_OUT:
            self.room = room(self.f, self.kind, self.rows * self._width())

    def _width(self) -> int:
        return min(_WIDE * LANES, self.columns)

    def matrix(self, *places: Value) -> None:
        record, out = places[0], places[-1]
        given = None if self.of_one else places[1]
        f, wide = self.f, _WIDE * LANES
        whole = self.columns // wide
        if whole == 1:
            self._some(record, given, out, f.index(0), pieces(wide))
        elif whole:
            with f.loop(f.index(0), f.index(whole * wide), wide) as start:
                self._some(record, given, out, start, pieces(wide))
        if self.columns % wide:
            self._some(record, given, out, f.index(whole * wide), pieces(self.columns % wide))
        if self.nothing is not None:
            found = f.get(self.nothing, self.kind)
            self.note(f.compare("ord", found, found))

    def _some(self, record: Value, given: Value | None, out: Value, start: Value, cut: Sequence[Piece]) -> None:
        """A few columns."""
        if self.rows <= WRITTEN_OUT:
            self._written_out(record, given, out, start, cut)
        else:
            self._in_loops(record, given, out, start, cut)

    # ------------------------------------------------------------------ rows of B and X
    def _line(self, record: Value, i: Value | int) -> Value | int:
        """The row of the matrix that row i of the factors is."""
        if not (self.gathers or self.scatters):
            return i
        place = self.f.add(i, self.f.index(order(self.rows))) if isinstance(i, Value) else order(self.rows) + i
        found = self.f.load(self.at(record, place), self.whole)
        return found if self.whole == "i64" else self.f.convert("sext", found, "i64")

    def _right(
        self, record: Value, given: Value | None, i: Value | int, start: Value, cut: Sequence[Piece]
    ) -> list[Value]:
        """Row i of the right side, in the order of the factors."""
        f = self.f
        line = self._line(record, i) if self.gathers else i
        if given is None:
            line = f.index(line) if isinstance(line, int) else line
            return [self._of_one(line, start, piece) for piece in cut]
        row, column = self.task.operands[1].strides[-2:]
        step = f.index(line * row) if isinstance(line, int) else f.mul(line, f.index(row))
        begin = self.at(self.at(given, step), self._times(start, column))
        return [self._entries(begin, column, piece) for piece in cut]

    def _times(self, start: Value, column: int) -> Value:
        f = self.f
        if start.name.isdigit():
            return f.index(int(start.name) * column)
        return start if column == 1 else f.mul(start, f.index(column))

    def _of_one(self, line: Value, start: Value, piece: Piece) -> Value:
        """A row of the unit matrix."""
        f, (first, lanes) = self.f, piece
        at = f.sub(line, f.add(start, f.index(first)))
        here = f.compare("eq", f.iota("i64", lanes) if lanes else f.index(0), f.splat(at, lanes))
        return f.select(here, self.number(1.0, lanes), self.number(0.0, lanes))

    def _entries(self, begin: Value, column: int, piece: Piece) -> Value:
        f, (first, lanes) = self.f, piece
        if not lanes or column == 1:
            return self.read(begin, first * column, lanes)
        if column == 0:
            return f.splat(self.read(begin, 0), lanes)
        found = self.number(0.0, lanes)
        for k in range(lanes):
            found = f.insert(found, k, self.read(begin, (first + k) * column))
        return found

    def _give(
        self, record: Value, out: Value, i: Value | int, start: Value, values: list[Value], cut: Sequence[Piece]
    ) -> None:
        """Row i of the solution."""
        f = self.f
        line = self._line(record, i) if self.scatters else i
        step = f.index(line * self.columns) if isinstance(line, int) else f.mul(line, f.index(self.columns))
        begin = self.at(self.at(out, step), start)
        for (first, _), value in zip(cut, values, strict=True):
            f.store(value, self.at(begin, first))
            if self.nothing is not None:  # 0, or NaN if a number is not finite
                total = f.total(f.sub(value, value, flags=""))
                f.put(f.add(f.get(self.nothing, self.kind), total, flags=""), self.nothing)

    # ------------------------------------------------------------------ passes
    def _written_out(self, record: Value, given: Value | None, out: Value, start: Value, cut: Sequence[Piece]) -> None:
        n = self.rows
        rows = [self._right(record, given, i, start, cut) for i in range(n)]
        for one in self.passes:
            todo = list(range(n)) if one.down else list(range(n))[::-1]
            for at, j in enumerate(todo):
                if not one.ones:
                    rows[j] = self._scaled(rows[j], self.read(record, diagonal(n) + j))
                for i in todo[at + 1 :]:
                    factor = self.read(record, i * self.apart + j if one.turned else j * self.apart + i)
                    rows[i] = self._less(rows[i], rows[j], factor)
        for i in range(n):
            self._give(record, out, i, start, rows[i], cut)

    def _scaled(self, values: Sequence[Value], factor: Value) -> list[Value]:
        f = self.f
        return [f.mul(one, f.splat(factor, one.lanes)) for one in values]

    def _less(self, values: Sequence[Value], others: Sequence[Value], factor: Value) -> list[Value]:
        f = self.f
        away = f.neg(factor)
        spread = {lanes: f.splat(away, lanes) for lanes in dict.fromkeys(one.lanes for one in values)}
        return [f.muladd(spread[one.lanes], other, one) for one, other in zip(values, others, strict=True)]

    def _in_loops(self, record: Value, given: Value | None, out: Value, start: Value, cut: Sequence[Piece]) -> None:
        f, n = self.f, self.rows
        with f.loop(f.index(0), f.index(n)) as i:
            self._keep(i, self._right(record, given, i, start, cut), cut)
        for one in self.passes:
            with f.loop(f.index(0), f.index(n)) as at:
                j = at if one.down else f.sub(f.index(n - 1), at)
                done = self._kept(j, cut)
                if not one.ones:
                    done = self._scaled(done, self.read(record, f.add(j, f.index(diagonal(n)))))
                    self._keep(j, done, cut)
                column = self.at(record, j if one.turned else f.mul(j, f.index(self.apart)))
                first, last = (f.add(j, f.index(1)), f.index(n)) if one.down else (f.index(0), j)
                with f.loop(first, last) as i:
                    factor = self.read(column, f.mul(i, f.index(self.apart)) if one.turned else i)
                    self._keep(i, self._less(self._kept(i, cut), done, factor), cut)
        with f.loop(f.index(0), f.index(n)) as i:
            self._give(record, out, i, start, self._kept(i, cut), cut)

    def _kept(self, i: Value, cut: Sequence[Piece]) -> list[Value]:
        begin = self.at(self.room, self.f.mul(i, self.f.index(self._width())))
        return [self.read(begin, first, lanes) for first, lanes in cut]

    def _keep(self, i: Value, values: Sequence[Value], cut: Sequence[Piece]) -> None:
        begin = self.at(self.room, self.f.mul(i, self.f.index(self._width())))
        for (first, _), value in zip(cut, values, strict=True):
            self.f.store(value, self.at(begin, first))


def pieces(count: int) -> list[Piece]:
    """So many columns as vectors, the longest first."""
    found, at = [], 0
    for lanes in (LANES, 4, 2, 1):
        while count - at >= lanes:
            found.append((at, lanes if lanes > 1 else 0))
            at += lanes
    return found
