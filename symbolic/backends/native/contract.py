"""How is a sum of products written where no packing pays? In tiles whose sums stay in registers.

One axis of the result runs in vectors, where one operand's entries lie side by side; a second one, along which that
operand stays the same, is taken several at a time. So each vector that is read is used for all rows of the tile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import prod
from typing import Any

from symbolic.backends.native.access import Sizes, View, in_order
from symbolic.backends.native.lowering import Contract, Point, Reduce
from symbolic.backends.native.nests import Nest
from symbolic.backends.native.pointwise import element
from symbolic.backends.native.text import BITS, Function, Module, Value

_LONG = 4096  # terms of a sum beyond which what is read would not stay in the cache
_ROWS = 16  # rows beyond which a longer axis is no better
_WRITTEN_OUT = 4  # steps of a sum that are written one after the other


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
        self.one = len(kept)  # an axis of one step, where there is none for rows or columns
        self.row = self._longest(left, right)
        self.column = self._longest(right, left)
        side_by_side = [k for k in self.summed if left[k] == 1 and right[k] == 1]
        self.depth = max(side_by_side, key=lambda k: self.domain[k], default=None)

    def writer(self, lanes: int) -> type[Tiles] | None:
        """What writes it: tiles where their vectors are full enough; `None` for loops over single products."""
        full = self.vector is not None and self.domain[self.vector] >= lanes // 2
        if self.tiled and (full or not self.dotted):
            return Tiles
        return Dots if self.dotted else None

    @property
    def key(self) -> Any:
        """What two contractions have in common that are written alike."""
        sides = tuple(map(tuple, self.sides))
        return self.task.dtype, self.domain, tuple(self.summed), sides, tuple(self.out), self.task.region is None

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

    def write(self, name: str) -> Function:
        plan = self.plan
        self.f = f = self.module.function(name, ["ptr", "ptr", "ptr"], private=True)
        left, right, out = f.arguments
        if plan.swapped:
            left, right = right, left
        self.sides = [plan.sides[1], plan.sides[0]] if plan.swapped else plan.sides
        self._outer(self._around(), left, right, out)
        f.give()
        return f

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
        across = -(-self.plan.domain[self.plan.vector] // self.lanes)
        down = self.plan.domain[self.plan.row]
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
        if size > _WRITTEN_OUT:
            yield f.loop(f.index(0), f.index(size))
        else:
            for k in range(size):
                yield nullcontext(f.index(k))

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
        mask = None
        if some:
            flags = ", ".join(f"i1 {'true' if k < some else 'false'}" for k in range(lanes))
            mask = Value("i1", lanes, f"<{flags}>")
        sums = [[f.variable(zero) for _ in range(count)] for _ in range(rows)]

        def products(axes: list[int], left: Value, right: Value) -> None:
            if axes:
                for step in self._steps(axes[0]):
                    with step as i:
                        k = axes[0]
                        products(axes[1:], self._at(left, i, self.sides[0][k]), self._at(right, i, self.sides[1][k]))
                return
            read = []
            for v in range(count):
                place = f.at(right, f.index(v * lanes), self.kind)
                read.append(self._some(place, mask if v == count - 1 else None, lanes))
            for r in range(rows):
                number = f.load(f.at(left, f.index(r * self.sides[0][plan.row]), self.kind), self.kind)
                spread = f.splat(number, lanes)
                for v in range(count):
                    old = f.get(sums[r][v], self.kind, lanes)
                    f.put(f.muladd(spread, read[v], old), sums[r][v])

        products(plan.summed, left, right)
        for r in range(rows):
            for v in range(count):
                value = f.get(sums[r][v], self.kind, lanes)
                place = f.at(out, f.index(r * plan.out[plan.row] + v * lanes), self.kind)
                if plan.task.region is not None:
                    value = f.add(self._some(place, mask if v == count - 1 else None, lanes), value)
                if v == count - 1 and mask is not None:
                    f.store_some(value, place, mask)
                else:
                    f.store(value, place)


class Dots(Tiles):
    """The sums run in vectors, whose lanes are added up in the end: both operands' entries lie side by side there.

    Where the sums are long, the outermost axis of them is outside of the tiles, which add to the result then, so that
    what they read stays in the cache.
    """

    apart: list[int]
    few: int | None

    def write(self, name: str) -> Function:
        plan = self.plan
        long = sorted((k for k in plan.summed if k != plan.depth), key=lambda k: -abs(plan.sides[0][k]))
        size = prod(plan.domain[k] for k in plan.summed)
        self.apart = long[:1] if long and size > _LONG and size // plan.domain[long[0]] > 8 * self.lanes else []
        few = [k for k in plan.free if k != plan.column and plan.sides[0][k] == 0 and plan.domain[k] <= _WRITTEN_OUT]
        self.few = max(few, key=lambda k: plan.domain[k], default=None)
        return super().write(name)

    def _around(self) -> list[int]:
        inside = (self.plan.row, self.plan.column, self.few)
        return [*self.apart, *[k for k in self.plan.free if k not in inside]]

    def _outer(self, axes: list[int], left: Value, right: Value, out: Value) -> None:
        if self.apart and axes and axes[0] == self.apart[0]:
            self._zeros(out)
        super()._outer(axes, left, right, out)

    def _zeros(self, out: Value) -> None:
        f = self.f
        zero = f.constant(self.kind, 0.0)
        with f.loop(f.index(0), f.index(prod(self.plan.domain[k] for k in self.plan.free))) as i:
            f.store(zero, f.at(out, i, self.kind))

    def _rows(self, left: Value, right: Value, out: Value) -> None:
        plan = self.plan
        times = plan.domain[self.few] if self.few is not None else 1
        high = min(4 if plan.column != plan.one else 8, plan.domain[plan.row])
        wide = max(1, min((self.registers - 4) // (high + 1) // times, plan.domain[plan.column], 6))

        def columns(rows: int, left: Value, out: Value) -> None:
            for j, count in self._blocks(plan.domain[plan.column], wide):
                with j as start:
                    place = self._at(right, start, self.sides[1][plan.column])
                    self._dots(rows, count, left, place, self._at(out, start, plan.out[plan.column]))

        for i, count in self._blocks(plan.domain[plan.row], high):
            with i as start:
                columns(count, self._at(left, start, self.sides[0][plan.row]), self._at(out, start, plan.out[plan.row]))

    def _blocks(self, size: int, block: int) -> Iterator[tuple[AbstractContextManager[Value], int]]:
        """Whole blocks in a loop, and the rest."""
        f, whole = self.f, size // block * block
        if whole:
            yield f.loop(f.index(0), f.index(whole), block), block
        if whole < size:
            yield nullcontext(f.index(whole)), size - whole

    def _dots(self, rows: int, columns: int, left: Value, right: Value, out: Value) -> None:
        f, plan, lanes = self.f, self.plan, self.lanes
        assert plan.depth is not None
        n = plan.domain[plan.depth]
        zero = f.constant(self.kind, 0.0, lanes)
        mine = [(r * self.sides[0][plan.row], r * plan.out[plan.row]) for r in range(rows)]
        few = range(plan.domain[self.few]) if self.few is not None else range(1)
        step = (self.sides[1][self.few], plan.out[self.few]) if self.few is not None else (0, 0)
        across = (self.sides[1][plan.column], plan.out[plan.column])
        yours = [(c * across[0] + k * step[0], c * across[1] + k * step[1]) for c in range(columns) for k in few]
        sums = [[f.variable(zero) for _ in yours] for _ in mine]

        def add(left: Value, right: Value, k: Value, mask: Value | None, width: int) -> None:
            def read(place: Value, offsets: Sequence[int]) -> list[Value]:
                places = [f.at(f.at(place, k, self.kind), f.index(offset), self.kind) for offset in offsets]
                if mask is not None:
                    return [f.load_some(one, mask, self.kind, width, zero) for one in places]
                return [f.load(one, self.kind, width) for one in places]

            xs = read(left, [offset for offset, _ in mine])
            for c, y in enumerate(read(right, [offset for offset, _ in yours])):
                for r, x in enumerate(xs):
                    old = f.get(sums[r][c], self.kind, lanes)
                    new = f.muladd(x, y, old) if width else f.insert(old, 0, f.muladd(x, y, f.lane(old, 0)))
                    f.put(new, sums[r][c])

        def products(axes: list[int], left: Value, right: Value) -> None:
            if axes:
                k = axes[0]
                for one in self._steps(k):
                    with one as i:
                        products(axes[1:], self._at(left, i, self.sides[0][k]), self._at(right, i, self.sides[1][k]))
                return
            whole = n - n % lanes
            if whole // lanes > _WRITTEN_OUT:
                with f.loop(f.index(0), f.index(whole), lanes) as k:
                    add(left, right, k, None, lanes)
            else:
                for at in range(0, whole, lanes):
                    add(left, right, f.index(at), None, lanes)
            if whole < n and self.masked:
                flags = ", ".join(f"i1 {'true' if k < n - whole else 'false'}" for k in range(lanes))
                add(left, right, f.index(whole), Value("i1", lanes, f"<{flags}>"), lanes)
            elif whole < n:
                with f.loop(f.index(whole), f.index(n)) as k:
                    add(left, right, k, None, 0)

        products([k for k in plan.summed if k != plan.depth and k not in self.apart], left, right)
        for r, (_, row) in enumerate(mine):
            for c, (_, column) in enumerate(yours):
                place = f.at(out, f.index(row + column), self.kind)
                total = f.total(f.get(sums[r][c], self.kind, lanes))
                f.store(f.add(f.load(place, self.kind), total) if self.apart else total, place)
