"""How is a sum of products written whose operands' entries lie side by side along the sum? In vectors along it.

Their lanes are added up in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import prod

from symbolic.backends.native.contract import WRITTEN_OUT, Tiles
from symbolic.backends.native.text import Function, Value

_LONG = 4096  # terms of a sum beyond which what is read would not stay in the cache


class Dots(Tiles):
    """The sums run in vectors, whose lanes are added up in the end: both operands' entries lie side by side there.

    Where the sums are long, the outermost axis of them is outside of the tiles, which add to the result then, so that
    what they read stays in the cache.
    """

    apart: list[int]

    def write(self, name: str) -> Function:
        plan = self.plan
        long = sorted((k for k in plan.summed if k != plan.depth), key=lambda k: -abs(plan.sides[0][k]))
        size = prod(plan.domain[k] for k in plan.summed)
        self.apart = long[:1] if long and size > _LONG and size // plan.domain[long[0]] > 8 * self.lanes else []
        return super().write(name)

    @property
    def few(self) -> int | None:
        """A short axis of the right operand and the result, whose steps are all in one tile."""
        plan = self.plan
        left, column = self.sides[0], plan.column
        found = [k for k in plan.free if k != column and left[k] == 0 and plan.whole[k] <= WRITTEN_OUT]
        return max(found, key=lambda k: plan.whole[k], default=None)

    def cuts(self) -> list[tuple[int, int]]:
        plan = self.plan
        inside = (plan.row, plan.column, self.few)
        high, wide = self._shape()
        ends = [(k, even) for k, even in ((plan.row, high), (plan.column, wide)) if k != plan.one]
        return [*[(k, 1) for k in plan.free if k not in inside], *ends]

    def _around(self) -> list[int]:
        inside = (self.plan.row, self.plan.column, self.few)
        return [*self.apart, *[k for k in self.plan.free if k not in inside]]

    def _outer(self, axes: list[int], left: Value, right: Value, out: Value) -> None:
        if self.apart and axes and axes[0] == self.apart[0]:
            self._zeros(out)
        super()._outer(axes, left, right, out)

    def _zeros(self, out: Value) -> None:
        self._zeroed(sorted(self.plan.free, key=lambda k: -self.plan.out[k]), out)

    def _zeroed(self, axes: list[int], out: Value) -> None:
        f, plan = self.f, self.plan
        if not axes:
            f.store(f.constant(self.kind, 0.0), out)
            return
        with f.loop(f.index(0), f.index(plan.domain[axes[0]])) as i:
            self._zeroed(axes[1:], self._at(out, i, plan.out[axes[0]]))

    def _shape(self) -> tuple[int, int]:
        plan = self.plan
        times = plan.whole[self.few] if self.few is not None else 1
        high = min(4 if plan.column != plan.one else 8, plan.whole[plan.row])
        return high, max(1, min((self.registers - 4) // (high + 1) // times, plan.whole[plan.column], 6))

    def _rows(self, left: Value, right: Value, out: Value) -> None:
        plan = self.plan
        high, wide = self._shape()

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
            if whole // lanes > WRITTEN_OUT:
                with f.loop(f.index(0), f.index(whole), lanes) as k:
                    add(left, right, k, None, lanes)
            else:
                for at in range(0, whole, lanes):
                    add(left, right, f.index(at), None, lanes)
            if whole < n and self.masked:
                add(left, right, f.index(whole), self._first(n - whole, lanes), lanes)
            elif whole < n:
                with f.loop(f.index(whole), f.index(n)) as k:
                    add(left, right, k, None, 0)

        products([k for k in plan.summed if k != plan.depth and k not in self.apart], left, right)
        for r, (_, row) in enumerate(mine):
            for c, (_, column) in enumerate(yours):
                place = f.at(out, f.index(row + column), self.kind)
                total = f.total(f.get(sums[r][c], self.kind, lanes))
                f.store(f.add(f.load(place, self.kind), total) if self.apart else total, place)
