"""How is a sum of products written where no packing pays? In tiles whose sums stay in registers.

One axis of the result runs in vectors, where one operand's entries lie side by side; a second one, along which that
operand stays the same, is taken several at a time. So each vector that is read is used for all rows of the tile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from typing import Any

from symbolic.backends.native.access import Sizes, View, in_order
from symbolic.backends.native.lowering import Contract, Point, Reduce
from symbolic.backends.native.nests import Nest
from symbolic.backends.native.pointwise import element
from symbolic.backends.native.text import BITS, Function, Module, Value

_PARTS = 4  # of a sum, where few of them run at a time
_ROWS = 16  # rows beyond which a longer axis is no better
WRITTEN_OUT = 4  # steps of a sum that are written one after the other


class Plan:
    """A contraction without the axes of size 1: which axis runs in vectors, which in rows."""

    column: int
    depth: int | None
    free: list[int]
    one: int
    row: int
    sides: list[list[int]]
    summed: list[int]
    swapped: bool
    whole: Sizes

    def __init__(self, task: Contract) -> None:
        kept = [k for k, size in enumerate(task.domain) if size != 1]
        self.task = task
        self.domain: Sizes = tuple([task.domain[k] for k in kept])
        self.summed = [n for n, k in enumerate(kept) if k in task.axes]
        self.free = [n for n in range(len(kept)) if n not in self.summed]
        self.sides = [[view.strides[k] for k in kept] for view in task.operands]
        strides = in_order([self.domain[k] for k in self.free])
        if task.region is not None:
            strides = tuple([task.region.strides[kept[k]] for k in self.free])
        out = iter(strides)
        self.out: list[int] = [0 if k in self.summed else next(out) for k in range(len(kept))]
        self.vector: int | None = None
        self.swapped = False
        for k in reversed(self.free):
            for swapped in (False, True):
                left, right = self.sides[::-1] if swapped else self.sides
                longer = self.vector is None or self.domain[k] > self.domain[self.vector]
                if self.out[k] == 1 and right[k] == 1 and left[k] == 0 and longer:
                    self.vector, self.swapped = k, swapped
        left, right = self.sides[::-1] if self.swapped else self.sides
        self.summed.sort(key=lambda k: -abs(left[k]))  # what is read number by number is read in its order
        self.domain, self.out = (*self.domain, 1), [*self.out, 0]
        self.sides = [[*side, 0] for side in self.sides]
        self.whole = self.domain  # what a part is a part of
        self.one = len(kept)  # an axis of one step, where there is none for rows or columns
        self.row = self._longest(left, right)
        self.column = self._longest(right, left)
        side_by_side = [k for k in self.summed if left[k] == 1 and right[k] == 1]
        self.depth = max(side_by_side, key=lambda k: self.domain[k], default=None)

    def writer(self, lanes: int) -> type[Tiles] | None:
        """What writes it: tiles where their vectors are full enough; `None` for loops over single products."""
        from symbolic.backends.native.along import Dots  # which are tiles of another kind

        full = self.vector is not None and self.domain[self.vector] >= lanes // 2
        if self.tiled and (full or not self.dotted):
            return Tiles
        return Dots if self.dotted else None

    @property
    def key(self) -> Any:
        """What two contractions have in common that are written alike."""
        sides = tuple(map(tuple, self.sides))
        adds = self.task.region is not None
        return self.task.dtype, self.domain, self.whole, tuple(self.summed), sides, tuple(self.out), adds

    def part(self, axis: int, count: int) -> Plan:
        """The same over so many steps of one axis of the result, in the same tiles."""
        found = copy(self)
        found.domain = tuple([count if k == axis else size for k, size in enumerate(self.domain)])
        return found

    def is_apart(self, axis: int) -> bool:
        """Whether no two steps along an axis of the result come to one entry of it."""
        if self.task.region is None:
            return True
        reach = sum((self.domain[k] - 1) * abs(self.out[k]) for k in self.free if k != axis)
        return abs(self.out[axis]) > reach

    def _longest(self, mine: Sequence[int], other: Sequence[int]) -> int:
        """The longest axis of the result that is one operand's alone; of long ones that whose entries are nearest."""
        axes = [k for k in self.free if k != self.vector and other[k] == 0 and mine[k] != 0]
        return max(axes, key=lambda k: (min(self.domain[k], _ROWS), -abs(mine[k])), default=self.one)

    @property
    def tiled(self) -> bool:
        """Whether tiles fit: there is an axis for vectors."""
        return self.vector is not None

    @property
    def dotted(self) -> bool:
        """Whether the sum itself can run in vectors, for several rows and columns at a time."""
        several = self.row != self.one or self.column != self.one
        return self.depth is not None and several and self.task.region is None


def as_nest(task: Contract) -> Nest:
    """The same as a nest: each product, and their sum. For products that no tile fits, of two vectors among them."""
    assert task.region is None  # only what tiles fit is added in there
    nest = Nest(tuple([size for size in task.domain if size != 1]))
    product = -1
    kinds = (task.dtype, task.dtype)
    nest.add(Point(product, task.domain, "multiply", task.operands, kinds, task.dtype))
    if all(task.domain[a] == 1 for a in task.axes):
        nest.steps[0] = nest.steps[0]._replace(task=nest.steps[0].task._replace(target=task.target))
        nest.made = {task.target}
    else:
        view = View(product, task.domain, in_order(task.domain))
        nest.add(Reduce(task.target, task.domain, "add", (view,), task.axes, task.dtype))
    nest.stored = {task.target}
    return nest


class Tiles:
    """Writes a contraction as a function of three pointers: left, right, result."""

    f: Function
    kind: str
    lanes: int
    masked: bool
    module: Module
    plan: Plan
    sides: list[list[int]]

    def __init__(self, module: Module, bits: int, registers: int, plan: Plan) -> None:
        self.module, self.plan = module, plan
        self.kind = element(plan.task.dtype)
        self.lanes = bits // BITS[self.kind]
        self.registers = registers
        self.masked = bits >= 256
        self.sides = plan.sides[::-1] if plan.swapped else plan.sides

    def write(self, name: str) -> Function:
        plan = self.plan
        self.f = f = self.module.function(name, ["ptr", "ptr", "ptr"], private=True)
        left, right, out = f.arguments
        if plan.swapped:
            left, right = right, left
        self._outer(self._around(), left, right, out)
        f.give()
        return f

    @property
    def key(self) -> Any:
        return self.plan.key

    def part(self, axis: int, count: int) -> Tiles:
        """The same over so many steps of one axis of the result, in the same tiles."""
        found = copy(self)
        found.plan = self.plan.part(axis, count)
        return found

    def length(self, axis: int) -> int:
        return self.plan.domain[axis]

    def moves(self, axis: int) -> tuple[int, int, int]:
        """How many entries further on the operands and the result are, one step along an axis."""
        plan = self.plan
        return plan.sides[0][axis], plan.sides[1][axis], plan.out[axis]

    def cuts(self) -> list[tuple[int, int]]:
        """Axes along which the result may be cut, and into multiples of what, so that all tiles stay what they are."""
        plan = self.plan
        assert plan.vector is not None
        high, wide = self._shape()
        inside = [(plan.row, high), (plan.vector, wide * self.lanes)]
        found = [*[(k, 1) for k in self._around()], *[one for one in inside if one[0] != plan.one]]
        return [(k, even) for k, even in found if plan.is_apart(k)]

    def _around(self) -> list[int]:
        """The axes outside of the tiles: first those along which the right operand and the result both move on, so
        that what one step leaves in the cache is used by the next."""
        plan, right = self.plan, self.sides[1]
        rest = [k for k in plan.free if k not in (plan.vector, plan.row)]
        return sorted(rest, key=lambda k: (right[k] == 0, -max(right[k], plan.out[k])))

    def _outer(self, axes: list[int], left: Value, right: Value, out: Value) -> None:
        if not axes:
            self._rows(left, right, out)
            return
        f, k = self.f, axes[0]
        with f.loop(f.index(0), f.index(self.plan.domain[k])) as i:
            self._outer(
                axes[1:],
                self._at(left, i, self.sides[0][k]),
                self._at(right, i, self.sides[1][k]),
                self._at(out, i, self.plan.out[k]),
            )

    def _at(self, place: Value, i: Value, stride: int) -> Value:
        f = self.f
        if stride == 0:
            return place
        if i.name.isdigit():
            return f.at(place, f.index(int(i.name) * stride), self.kind)
        return f.at(place, f.mul(i, f.index(stride)) if stride != 1 else i, self.kind)

    def _shape(self) -> tuple[int, int]:
        """Rows and vectors of a tile: their sums, a vector of the right and one of the left fit the registers."""
        assert self.plan.vector is not None
        across = -(-self.plan.whole[self.plan.vector] // self.lanes)
        down = self.plan.whole[self.plan.row]
        room = self.registers - 2
        best, found = 0.0, (1, 1)
        for wide in range(1, min(across, 4 if down > 1 else 8) + 1):
            high = min(down, (room - wide) // wide)
            if high < 1:
                continue
            # reads for each product, and what is left over at the edges
            use = down / (-(-down // high) * high) * across / (-(-across // wide) * wide)
            worth = use * high * wide / (high + wide)
            if worth > best:
                best, found = worth, (high, wide)
        high, wide = found
        even = -(-down // -(-down // high))  # as even as can be
        return even, wide

    def _rows(self, left: Value, right: Value, out: Value) -> None:
        f, plan = self.f, self.plan
        assert plan.vector is not None
        high, wide = self._shape()
        n, m = plan.domain[plan.vector], plan.domain[plan.row]
        span = wide * self.lanes

        def columns(rows: int, left: Value, out: Value) -> None:
            whole = n // span
            if whole > 1:
                with f.loop(f.index(0), f.index(whole * span), span) as j:
                    self._tile(rows, wide, 0, left, self._at(right, j, 1), self._at(out, j, 1))
            elif whole:
                self._tile(rows, wide, 0, left, right, out)
            rest = n - whole * span
            if rest:
                j = f.index(whole * span)
                vectors, some = divmod(rest, self.lanes)
                if some and not self.masked:
                    if vectors:
                        self._tile(rows, vectors, 0, left, self._at(right, j, 1), self._at(out, j, 1))
                    for k in range(whole * span + vectors * self.lanes, n):
                        self._tile(rows, 0, 0, left, self._at(right, f.index(k), 1), self._at(out, f.index(k), 1))
                else:
                    self._tile(rows, vectors + bool(some), some, left, self._at(right, j, 1), self._at(out, j, 1))

        whole = m // high
        if whole > 1:
            with f.loop(f.index(0), f.index(whole * high), high) as i:
                columns(high, self._at(left, i, self.sides[0][plan.row]), self._at(out, i, plan.out[plan.row]))
        elif whole:
            columns(high, left, out)
        if m % high:
            i = f.index(whole * high)
            columns(m % high, self._at(left, i, self.sides[0][plan.row]), self._at(out, i, plan.out[plan.row]))

    def _steps(self, axis: int) -> Iterator[AbstractContextManager[Value]]:
        """An axis of the sum: a loop, or each of a few steps written out."""
        f, size = self.f, self.plan.domain[axis]
        if size > WRITTEN_OUT:
            yield f.loop(f.index(0), f.index(size))
        else:
            for k in range(size):
                yield nullcontext(f.index(k))

    def _turns(self, axis: int, few: int) -> Iterator[tuple[AbstractContextManager[Value], int]]:
        """The same, with so many steps in each turn of the loop, and those that are left over."""
        f, size = self.f, self.plan.domain[axis]
        whole = size - size % few
        if few == 1 or size <= WRITTEN_OUT:
            yield from ((step, 1) for step in self._steps(axis))
        else:
            yield f.loop(f.index(0), f.index(whole), few), few
            if whole < size:
                yield nullcontext(f.index(whole)), size - whole

    def _parts(self, sums: int) -> int:
        """In how many parts each sum runs: one product need not wait for the one before it."""
        last = self.plan.domain[self.plan.summed[-1]] if self.plan.summed else 1
        return 1 if last <= WRITTEN_OUT else max(1, min(_PARTS, self.registers // 2 // sums))

    def _whole(self, parts: Sequence[Value], lanes: int) -> Value:
        """The parts of a sum, added up pair by pair."""
        found = [self.f.get(one, self.kind, lanes) for one in parts]
        while len(found) > 1:
            left = found[len(found) // 2 * 2 :]
            found = [self.f.add(one, other) for one, other in zip(found[::2], found[1::2], strict=False)] + left
        return found[0]

    def _first(self, some: int, lanes: int) -> Value:
        """The mask of the first few lanes."""
        return Value("i1", lanes, f"<{', '.join(f'i1 {str(k < some).lower()}' for k in range(lanes))}>")

    def _some(self, place: Value, mask: Value | None, lanes: int) -> Value:
        """A vector, of which only the lanes of the mask count."""
        f = self.f
        if mask is None:
            return f.load(place, self.kind, lanes)
        return f.load_some(place, mask, self.kind, lanes, f.constant(self.kind, 0.0, lanes))

    def _tile(self, rows: int, vectors: int, some: int, left: Value, right: Value, out: Value) -> None:
        """`vectors` of 0 is a single column; of the last vector only `some` lanes count, if that is not 0."""
        f, plan = self.f, self.plan
        lanes = self.lanes if vectors else 0
        count = max(vectors, 1)
        zero = f.constant(self.kind, 0.0, lanes)
        mask = self._first(some, lanes) if some else None
        parts = self._parts(rows * count)
        sums = [[[f.variable(zero) for _ in range(parts)] for _ in range(count)] for _ in range(rows)]

        def products(axes: list[int], left: Value, right: Value, part: int = 0) -> None:
            if axes:
                a, b = self.sides[0][axes[0]], self.sides[1][axes[0]]
                for step, few in self._turns(axes[0], parts if len(axes) == 1 else 1):
                    with step as i:
                        one, other = self._at(left, i, a), self._at(right, i, b)
                        for k in range(few):
                            n = f.index(k)
                            products(axes[1:], self._at(one, n, a), self._at(other, n, b), k if few == parts else 0)
                return
            places = [f.at(right, f.index(v * lanes), self.kind) for v in range(count)]
            read = [self._some(one, mask if one is places[-1] else None, lanes) for one in places]
            for r in range(rows):
                number = f.load(f.at(left, f.index(r * self.sides[0][plan.row]), self.kind), self.kind)
                spread = f.splat(number, lanes)
                for v in range(count):
                    old = f.get(sums[r][v][part], self.kind, lanes)
                    f.put(f.muladd(spread, read[v], old), sums[r][v][part])

        products(plan.summed, left, right)
        for r in range(rows):
            for v in range(count):
                value = self._whole(sums[r][v], lanes)
                place = f.at(out, f.index(r * plan.out[plan.row] + v * lanes), self.kind)
                if plan.task.region is not None:
                    value = f.add(self._some(place, mask if v == count - 1 else None, lanes), value)
                if v == count - 1 and mask is not None:
                    f.store_some(value, place, mask)
                else:
                    f.store(value, place)
