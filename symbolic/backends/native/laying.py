"""How is a sum of products written whose operands lie anyhow? One is laid into panels, which stay in the cache.

Windows that slide by a stride, rows that fill no vector, channels that lie far apart: whatever the axes are, one
operand is copied so that a strip of the result's columns lies in whole vectors, a piece of the sum at a time. The
other is read where it lies, a number at a time, for each of the rows of a tile, whose sums stay in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from math import prod
from typing import Any

from symbolic.backends.native.contract import Plan, Tiles
from symbolic.backends.native.counting import each, known, lanes_within, least, minus, over, plus, times
from symbolic.backends.native.host import Host
from symbolic.backends.native.lowering import Contract
from symbolic.backends.native.packing import transposer
from symbolic.backends.native.panels import Axis, Layout, joined, preferred
from symbolic.backends.native.pointwise import element
from symbolic.backends.native.sums import Sums, looped, nothing, stored, term
from symbolic.backends.native.text import BITS, Function, Module, Value

PANEL = 1 << 18
"""Bytes of a panel, at most: a good part of a second cache."""
_ROOM = 1 << 14
"""Bytes for the sums of a tile, and for what a last vector of a panel may touch behind it."""
WORKSPACE = PANEL + _ROOM


_TURNED = 4
"""Terms beside each other from which squares of them are turned."""


class Panels:
    """Writes a contraction as a function of pointers: left, right, result, workspace."""

    adds: bool
    before: list[Axis]
    boxes: list[tuple[list[Axis], Axis, int]]
    bytes: int
    host: Host
    how: Layout
    kind: str
    lanes: int
    module: Module
    out: Value
    piece: tuple[Axis, int]
    pitch: int
    spare: Value
    vectors: int
    width: int
    within: list[Axis]
    work: Value

    f: Function

    def __init__(self, module: Module, host: Host, task: Contract, how: Layout) -> None:
        self.module, self.host, self.how = module, host, how
        self.kind = element(task.dtype)
        self.lanes = host.lanes(self.kind)
        self.bytes = BITS[self.kind] // 8
        self.vectors, self.boxes = self._tiles()
        self.width = self.vectors * self.lanes
        # what a row's last vector holds beyond its end lies in the next row of the strip, or in the room behind all
        self.pitch = self.width + self.lanes * (len(joined([(one.size, one.right) for one in how.strip])) > 1)
        self.before, self.piece, self.within = self._pieces()

    @property
    def key(self) -> Any:
        tiles = [(tuple(rows), cut, high) for rows, cut, high in self.boxes]
        return "panels", self.kind, self.how, self.vectors, tuple(tiles), tuple(self.before), self.piece

    # ------------------------------------------------------------------ parts
    def cuts(self) -> list[tuple[Axis, int]]:
        """Axes of what is around the panels along which the result may be cut, then those of the rows, for each part
        of which the panels are laid anew; and into multiples of what."""
        (rows, cut, high), how = self.boxes[0], self.how
        others = [(one, 1) for one in how.rows if one not in rows and one is not cut]
        return [*[(one, 1) for one in (*how.batch, *how.outer)], *others, (cut, high)]

    def part(self, axis: Axis, count: int) -> Panels:
        """The same over so many steps of one of these axes, in the same tiles, from the same pieces of the sum."""
        found, less = copy(self), axis._replace(size=count)

        def cut(axes: Sequence[Axis]) -> tuple[Axis, ...]:
            return tuple([less if one is axis else one for one in axes])

        how = self.how
        found.how = how._replace(batch=cut(how.batch), outer=cut(how.outer), rows=cut(how.rows))
        found.boxes = [(rows, less if one is axis else one, high) for rows, one, high in self.boxes]
        return found

    def length(self, axis: Axis) -> int:
        return axis.size

    def moves(self, axis: Axis) -> tuple[int, int, int]:
        """How many entries further on the operands and the result are, one step along an axis."""
        return (axis.right, axis.left, axis.out) if self.how.swapped else axis[1:]

    # ------------------------------------------------------------------ into which pieces
    def _tiles(self) -> tuple[int, list[tuple[list[Axis], Axis, int]]]:
        """How many vectors a strip has, and of what tiles consist: axes that are whole in them, and one that is cut."""
        across = -(-self.how.columns // self.lanes)
        best: tuple[float, int, int] | None = None
        rows = self.how.rows
        for wide in range(1, min(across, 4 if self.host.registers == 32 else 2) + 1):
            most = (self.host.registers - wide - (1 if self.host.fma else 5)) // wide
            for inside in range(len(rows)):
                whole = prod(one.size for one in rows[len(rows) - inside :])
                if whole > most:
                    break
                cut = rows[len(rows) - inside - 1].size
                parts = -(-cut // (most // whole))
                high = -(-cut // parts) * whole
                work = max(high * wide, (high + wide) / 2, 4 * 64 / self.host.vector_bits * 8) + 0.05 * (high + wide)
                cost = parts * -(-across // wide) * work / cut / whole
                if best is None or cost < best[0]:
                    best = cost, wide, inside
        assert best is not None  # one row is always possible
        _, wide, inside = best
        most = (self.host.registers - wide - (1 if self.host.fma else 5)) // wide
        whole = list(rows[len(rows) - inside :])
        cut = rows[len(rows) - inside - 1]
        parts = -(-cut.size // max(1, most // prod(one.size for one in whole)))
        return wide, [(whole, cut, -(-cut.size // parts))]

    def _pieces(self) -> tuple[list[Axis], tuple[Axis, int], list[Axis]]:
        """The axes of the sum around a panel; the one that is cut, into how many at a time; those within."""
        most = PANEL // (self.pitch * self.bytes)
        summed, size, at = list(self.how.summed), 1, len(self.how.summed)
        while at > 1 and size * summed[at - 1].size <= most:
            at -= 1
            size *= summed[at].size
        cut = summed[at - 1]
        parts = -(-cut.size // max(1, most // size))
        return summed[: at - 1], (cut, -(-cut.size // parts)), summed[at:]

    # ------------------------------------------------------------------ the function
    def write(self, name: str) -> Function:
        self.f = f = self.module.function(name, ["ptr"] * 4, private=True)
        left, right, self.out, self.work = f.arguments
        if self.how.swapped:
            left, right = right, left
        self.spare = f.at(self.work, f.index(PANEL), "i8")
        (cut, some), before = self.piece, self.before
        self.adds = bool(before) or some < cut.size
        if self.adds:
            free = (*self.how.batch, *self.how.outer, *self.how.strip, *self.how.rows)
            self._zeroed(joined(sorted([(one.size, one.out) for one in free], key=lambda one: -one[1])), self.out)
        self._around([*self.how.batch, *self.how.outer, *before], left, right, self.out)
        f.give()
        return f

    def _zeroed(self, axes: Sequence[tuple[int, int]], out: Value) -> None:
        f = self.f
        if not axes:
            f.store(f.constant(self.kind, 0.0), out)
            return
        with f.loop(f.index(0), f.index(axes[0][0])) as i:
            self._zeroed(axes[1:], self._moved(out, i, axes[0][1]))

    def _moved(self, place: Value, i: Value, stride: int) -> Value:
        f = self.f
        return f.at(place, times(f, i, f.index(stride)), self.kind) if stride else place

    def _around(self, axes: Sequence[Axis], left: Value, right: Value, out: Value) -> None:
        f = self.f
        if not axes:
            self._pieced(left, right, out)
            return
        one = axes[0]
        with each(f, f.index(0), f.index(one.size)) as i:
            places = [self._moved(place, i, by) for place, by in zip((left, right, out), one[1:], strict=True)]
            self._around(axes[1:], *places)

    def _pieced(self, left: Value, right: Value, out: Value) -> None:
        f, (cut, some) = self.f, self.piece
        with each(f, f.index(0), f.index(cut.size), some) as i:
            count = f.index(some) if cut.size % some == 0 else least(f, f.index(some), minus(f, f.index(cut.size), i))
            self._strips(self._moved(left, i, cut.left), self._moved(right, i, cut.right), out, count)

    def _strips(self, left: Value, right: Value, out: Value, count: Value) -> None:
        f, columns = self.f, self.how.columns
        whole = columns // self.width
        step = self.how.strip[-1].out

        def strip(first: Value, wide: int, many: int) -> None:
            self._lay(right, first, many, count)
            place = self._moved(out, first, step)
            for rows, cut, high in self.boxes:
                others = [one for one in self.how.rows if one not in rows and one is not cut]
                self._boxes(others, (rows, cut, high), left, place, (wide, many, count))

        if whole:
            with each(f, f.index(0), f.index(whole * self.width), self.width) as first:
                strip(first, self.vectors, self.width)
        if columns % self.width:
            rest = columns % self.width
            strip(f.index(whole * self.width), -(-rest // self.lanes), rest)

    def _boxes(
        self,
        axes: Sequence[Axis],
        box: tuple[list[Axis], Axis, int],
        left: Value,
        out: Value,
        size: tuple[int, int, Value],
    ) -> None:
        f = self.f
        if axes:
            with each(f, f.index(0), f.index(axes[0].size)) as i:
                places = self._moved(left, i, axes[0].left), self._moved(out, i, axes[0].out)
                self._boxes(axes[1:], box, *places, size)
            return
        rows, cut, high = box
        full = cut.size // high * high
        for begin, end, some in ((0, full, high), (full, cut.size, cut.size - full)):
            if some:
                with each(f, f.index(begin), f.index(end), some) as i:
                    tile = [cut._replace(size=some), *rows]
                    self._tile(tile, self._moved(left, i, cut.left), self._moved(out, i, cut.out), size)

    # ------------------------------------------------------------------ one tile
    def _tile(self, axes: Sequence[Axis], left: Value, out: Value, size: tuple[int, int, Value]) -> None:
        f, (wide, many, count) = self.f, size
        places = [(0, 0)]
        for one in axes:
            places = [(a + i * one.left, c + i * one.out) for a, c in places for i in range(one.size)]
        cut = self.piece[0]
        walked: list[tuple[Value, int]] = [(count, cut.left)]
        for one in self.within:
            last, stride = walked[-1]
            if stride == one.left * one.size:
                walked[-1] = times(f, last, f.index(one.size)), one.left
            else:
                walked.append((f.index(one.size), one.left))

        def along(axes: list[tuple[Value, int]], a: Value, at: Value, sums: Sums) -> Sums:
            if not axes:
                panel = f.at(self.work, times(f, at, f.index(self.pitch)), self.kind)
                return term(
                    f,
                    sums,
                    lambda r: f.load(f.at(a, f.index(places[r][0]), self.kind), self.kind),
                    lambda v: f.load(f.at(panel, f.index(v * self.lanes), self.kind), self.kind, self.lanes),
                    self.host,
                )
            many, stride = axes[0]

            def step(i: Value, sums: Sums) -> Sums:
                return along(axes[1:], self._moved(a, i, stride), plus(f, times(f, at, many), i), sums)

            return looped(f, sums, many, step)

        sums = along(walked, left, f.index(0), nothing(f, self.kind, self.lanes, (len(places), wide)))
        self._give(axes, sums, [c for _, c in places], out, many)

    def _give(self, axes: Sequence[Axis], sums: Sums, places: Sequence[int], out: Value, many: int) -> None:
        """The sums of a tile to where they belong."""
        f, step = self.f, self.how.strip[-1].out
        if step == 1:
            for line, at in zip(sums, places, strict=True):
                for v, one in enumerate(line):
                    mask = lanes_within(f, f.index(many - v * self.lanes), self.lanes)
                    place = f.at(out, f.index(at + v * self.lanes), self.kind)
                    if mask is not None and self.host.vector_bits < 256:
                        for k in range(many - v * self.lanes):
                            entry = f.at(place, f.index(k), self.kind)
                            stored(f, f.lane(one, k), entry, f.index(1), None, self.adds)
                    else:
                        stored(f, one, place, f.index(1), mask, self.adds)
            return
        for r, line in enumerate(sums):
            for v, one in enumerate(line):
                f.store(one, f.at(self.spare, f.index(r * self.width + v * self.lanes), self.kind))

        def entries(axes: Sequence[Axis], row: Value, to: Value) -> None:
            if axes:
                with each(f, f.index(0), f.index(axes[0].size)) as i:
                    number = plus(f, times(f, row, f.index(axes[0].size)), i)
                    entries(axes[1:], number, self._moved(to, i, axes[0].out))
                return
            line = f.at(self.spare, times(f, row, f.index(self.width)), self.kind)
            with f.loop(f.index(0), f.index(many)) as k:
                place = self._moved(to, k, step)
                value = f.load(f.at(line, k, self.kind), self.kind)
                f.store(f.add(f.load(place, self.kind), value) if self.adds else value, place)

        entries(axes, f.index(0), out)

    # ------------------------------------------------------------------ laying
    def _lay(self, right: Value, first: Value, many: int, count: Value) -> None:
        """The columns from `first` on into the panel: [term][column]."""
        f = self.f
        cut = self.piece[0]
        terms = [(count, cut.right), *[(f.index(one.size), one.right) for one in self.within]]
        strip = joined([(one.size, one.right) for one in self.how.strip])
        length = known(terms[-1][0])
        if len(strip) == 1 and abs(strip[0][1]) > 2 and terms[-1][1] == 1 and (length is None or length >= _TURNED):
            self._turn(terms, self._moved(right, first, strip[0][1]), strip[0][1], many)
            return
        (run, near), around = strip[-1], strip[:-1]
        if not around:
            self._run(terms, self._moved(right, first, near), self.work, f.index(many), near)
            return
        # rows of the strip, of which the first and the last may be there in part
        end = plus(f, first, f.index(many))
        last = over(f, plus(f, end, f.index(run - 1)), run)
        with each(f, over(f, first, run), last) as row:
            begin = times(f, row, f.index(run))
            low = minus(f, _most(f, first, begin), begin)
            high = minus(f, least(f, end, plus(f, begin, f.index(run))), begin)
            source, rest = self._moved(right, low, near), row
            for size, stride in reversed(around):
                index = (
                    f.two("urem", rest, f.index(size)) if known(rest) is None else f.index((known(rest) or 0) % size)
                )
                source, rest = self._moved(source, index, stride), over(f, rest, size)
            to = f.at(self.work, minus(f, plus(f, begin, low), first), self.kind)
            self._run(terms, source, to, minus(f, high, low), near)

    def _each_term(
        self, terms: Sequence[tuple[Value, int]], source: Value, write: Callable[[Value, Value], None]
    ) -> None:
        """For each term where it is read, and its number."""
        f = self.f

        def along(axes: Sequence[tuple[Value, int]], place: Value, number: Value) -> None:
            if not axes:
                write(place, number)
                return
            many, stride = axes[0]
            with each(f, f.index(0), many) as i:
                along(axes[1:], self._moved(place, i, stride), plus(f, times(f, number, many), i))

        along(terms, source, f.index(0))

    def _run(self, terms: Sequence[tuple[Value, int]], source: Value, to: Value, count: Value, near: int) -> None:
        """Entries that lie `near` apart, for each term; in vectors where that is possible."""
        f, kind, lanes = self.f, self.kind, self.lanes
        if near not in (1, 2) or self.host.vector_bits < 256:

            def entries(place: Value, number: Value) -> None:
                line = f.at(to, times(f, number, f.index(self.pitch)), kind)
                with f.loop(f.index(0), count) as k:
                    f.store(f.load(self._moved(place, k, near), kind), f.at(line, k, kind))

            self._each_term(terms, source, entries)
            return
        zero = f.constant(kind, 0.0, lanes)
        with each(f, f.index(0), count, lanes) as at:
            left = minus(f, count, at)
            masks = [lanes_within(f, left, lanes)]
            if near == 2:  # the last entry has no neighbour that is known to be there
                reach = minus(f, times(f, left, f.index(2)), f.index(1))
                masks = [lanes_within(f, minus(f, reach, f.index(k * lanes)), lanes) for k in range(2)]

            def vector(place: Value, number: Value) -> None:
                read = []
                for k, mask in enumerate(masks):
                    begin = f.at(place, f.index(k * lanes), kind)
                    read.append(
                        f.load(begin, kind, lanes) if mask is None else f.load_some(begin, mask, kind, lanes, zero)
                    )
                value = read[0] if near == 1 else f.shuffle(read[0], read[1], range(0, 2 * lanes, 2))
                f.store(value, f.at(f.at(to, at, kind), times(f, number, f.index(self.pitch)), kind))

            self._each_term(terms, self._moved(source, at, near), vector)

    def _turn(self, terms: Sequence[tuple[Value, int]], source: Value, apart: int, many: int) -> None:
        """Terms that lie beside each other, of columns that do not."""
        f = self.f
        outer = list(terms)
        length, near = outer.pop()
        while outer and outer[-1][1] == near * (known(length) or 0):
            length = times(f, outer.pop()[0], length)
        function = transposer(self.module, self.kind, self.lanes)

        def block(place: Value, number: Value) -> None:
            to = f.at(self.work, times(f, times(f, number, length), f.index(self.pitch)), self.kind)
            f.call(function, place, f.index(apart), to, f.index(self.pitch), length, f.index(many))

        self._each_term(outer, source, block)


def writer(module: Module, host: Host, task: Contract) -> Tiles | Panels | None:
    """What writes a sum of products that no product of matrices is; `None` for loops over single products."""
    how = preferred(task, host.lanes(element(task.dtype)))
    if how is not None:
        return Panels(module, host, task, how)
    plan = Plan(task)
    tiles = plan.writer(host.vector_bits // (8 * task.dtype.itemsize))
    return None if tiles is None else tiles(module, host.vector_bits, host.registers, plan)


def _most(f: Function, a: Value, b: Value) -> Value:
    x, y = known(a), known(b)
    return f.index(max(x, y)) if x is not None and y is not None else f.intrinsic("smax", a, b)
