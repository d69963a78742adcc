"""How is a small matrix factored? Into triangles, with the pivots of LAPACK: the largest, of equal ones the first."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from symbolic.backends.native.access import View
from symbolic.backends.native.records import (
    LANES,
    WRITTEN_OUT,
    Stacked,
    copied,
    diagonal,
    lanes_from,
    order,
    pitch,
    sign,
)
from symbolic.backends.native.text import Function, Value


class _Factored(Stacked):
    """What is written out for a matrix that fits the registers, and in loops for a larger one."""

    view: View

    def matrix(self, *places: Value) -> None:
        given, out = places
        self.view = self.task.operands[0]
        if self.rows <= WRITTEN_OUT:
            self._written_out(given, out)
        else:
            self._in_loops(given, out)

    @abstractmethod
    def _written_out(self, given: Value, out: Value) -> None:
        """Each entry in a register."""

    @abstractmethod
    def _in_loops(self, given: Value, out: Value) -> None:
        """Column by column, in memory."""


class Triangles(_Factored):
    """P · A = L · U: the lower triangle has ones on its diagonal, which are not kept."""

    def _in_loops(self, given: Value, out: Value) -> None:
        _InLoops(self, given, out).write()

    def _written_out(self, given: Value, out: Value) -> None:
        f, n = self.f, self.rows
        x = [[self.entry(given, self.view, i, j) for j in range(n)] for i in range(n)]
        rows = [f.constant(self.whole, i) for i in range(n)]
        turn, usual = self.number(1.0), f.constant("i1", 1)
        for k in range(n):
            best, at = f.intrinsic("fabs", x[k][k]), f.constant(self.whole, k)
            for i in range(k + 1, n):
                size = f.intrinsic("fabs", x[i][k])
                more = f.compare("ogt", size, best)
                best, at = f.select(more, size, best), f.select(more, f.constant(self.whole, i), at)
            for i in range(k + 1, n):
                here = f.compare("eq", at, f.constant(self.whole, i))
                x[k], x[i] = self._exchanged(here, x[k], x[i])
                (rows[k],), (rows[i],) = self._exchanged(here, [rows[k]], [rows[i]])
                turn = f.select(here, f.neg(turn), turn)
            usual = f.bits("and", usual, self.usual(best))
            turn = f.select(f.compare("olt", x[k][k], self.number(0.0)), f.neg(turn), turn)
            reciprocal = f.div(self.number(1.0), x[k][k])
            self.f.store(reciprocal, self.at(out, diagonal(n) + k))
            for i in range(k + 1, n):
                x[i][k] = f.mul(x[i][k], reciprocal)
                away = f.neg(x[i][k])
                for j in range(k + 1, n):
                    x[i][j] = f.muladd(away, x[k][j], x[i][j])
        for i in range(n):
            for j in range(n):
                f.store(x[i][j], self.at(out, j * n + i))
            f.store(rows[i], self.at(out, order(n) + i))
        f.store(turn, self.at(out, sign(n)))
        self.note(usual)

    def _exchanged(self, here: Value, a: Sequence[Value], b: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        """Two rows, the other way round if that is wanted."""
        f = self.f
        first = [f.select(here, y, x) for x, y in zip(a, b, strict=True)]
        return first, [f.select(here, x, y) for x, y in zip(a, b, strict=True)]


class _InLoops:
    """The same, column by column, where a matrix does not fit the registers."""

    def __init__(self, of: Triangles, given: Value, out: Value) -> None:
        self.of, self.f, self.given, self.out = of, of.f, given, out
        self.n, self.pitch = of.rows, pitch(of.rows)
        self.blocks = range(0, self.pitch, LANES)

    def write(self) -> None:
        of, f, n = self.of, self.f, self.n
        copied(of, self.given, self.out, of.view)
        self.usual = f.variable(f.constant("i1", 1))
        self.turn = f.variable(of.number(1.0))
        with f.loop(f.index(0), f.index(n)) as i:
            row = i if of.whole == "i64" else f.convert("trunc", i, of.whole)
            f.store(row, of.at(self.out, f.add(i, f.index(order(n)))))
        with f.loop(f.index(0), f.index(n)) as k:
            self._column(k)
        f.store(f.get(self.turn, of.kind), of.at(self.out, sign(n)))
        of.note(f.get(self.usual, "i1"))

    def _column(self, k: Value) -> None:
        of, f, n = self.of, self.f, self.n
        column = of.at(self.out, f.mul(k, f.index(self.pitch)))
        self._pivot(column, k)
        pivot = of.read(column, k)
        negative = f.compare("olt", pivot, of.number(0.0))
        turn = f.get(self.turn, of.kind)
        f.put(f.select(negative, f.neg(turn), turn), self.turn)
        reciprocal = f.div(of.number(1.0), pivot)
        f.store(reciprocal, of.at(self.out, f.add(k, f.index(diagonal(n)))))
        spread, away = f.splat(reciprocal, LANES), []
        for block in self.blocks:
            below = f.compare("sgt", lanes_from(f, block), f.splat(k, LANES))
            old = of.read(column, block, LANES)
            new = f.mul(old, spread)
            f.store(f.select(below, new, old), of.at(column, block))
            away.append(f.select(below, f.neg(new), of.number(0.0, LANES)))
        with f.loop(f.add(k, f.index(1)), f.index(n)) as j:
            other = of.at(self.out, f.mul(j, f.index(self.pitch)))
            factor = f.splat(of.read(other, k), LANES)
            for block, one in zip(self.blocks, away, strict=True):
                f.store(f.muladd(one, factor, of.read(other, block, LANES)), of.at(other, block))

    def _pivot(self, column: Value, k: Value) -> None:
        """Exchange row k for the one with the largest entry in this column."""
        of, f, n = self.of, self.f, self.n
        sizes = []
        for block in self.blocks:
            size = f.intrinsic("fabs", of.read(column, block, LANES))
            ours = f.compare("sge", lanes_from(f, block), f.splat(k, LANES))
            sizes.append(f.select(ours, size, of.number(-1.0, LANES)))
        best = greatest(f, sizes)
        found = f.constant("i64", 0)
        for block, size in zip(self.blocks, sizes, strict=True):
            equal = f.compare("oeq", size, f.splat(best, LANES))
            bits = f.make("i8", 0, f"bitcast {equal} to i8")
            wide = f.convert("zext", bits, "i64")
            found = f.bits("or", found, f.bits("shl", wide, f.index(block)))
        first = f.make("i64", 0, f"call i64 @llvm.cttz.i64(i64 {found.name}, i1 false)")
        f.module.declare("llvm.cttz.i64", "declare i64 @llvm.cttz.i64(i64, i1 immarg)")
        at = f.select(f.compare("ult", first, f.index(n)), first, k)  # NaN is equal to nothing
        f.put(f.bits("and", f.get(self.usual, "i1"), of.usual(best)), self.usual)
        with f.when(f.compare("ne", at, k)):
            with f.loop(f.index(0), f.index(n)) as j:
                line = of.at(self.out, f.mul(j, f.index(self.pitch)))
                self._exchange(of.at(line, k), of.at(line, at), of.kind)
            rows = of.at(self.out, order(n))
            self._exchange(of.at(rows, k), of.at(rows, at), of.whole)
            f.put(f.neg(f.get(self.turn, of.kind)), self.turn)

    def _exchange(self, a: Value, b: Value, kind: str) -> None:
        f = self.f
        first, second = f.load(a, kind), f.load(b, kind)
        f.store(second, a)
        f.store(first, b)


class Root(_Factored):
    """A = L · Lᵀ, of which the lower triangle of A is read; what is above the diagonal of L is zero."""

    def _written_out(self, given: Value, out: Value) -> None:
        f, n, usual = self.f, self.rows, self.f.constant("i1", 1)
        x = [[self.entry(given, self.view, i, j) for j in range(i + 1)] for i in range(n)]
        for k in range(n):
            usual = f.bits("and", usual, self.usual(x[k][k]))
            x[k][k] = f.intrinsic("sqrt", x[k][k])
            reciprocal = f.div(self.number(1.0), x[k][k])
            f.store(reciprocal, self.at(out, diagonal(n) + k))
            for i in range(k + 1, n):
                x[i][k] = f.mul(x[i][k], reciprocal)
            for i in range(k + 1, n):
                away = f.neg(x[i][k])
                for j in range(k + 1, i + 1):
                    x[i][j] = f.muladd(away, x[j][k], x[i][j])
        for i in range(n):
            for j in range(n):
                f.store(x[i][j] if j <= i else self.number(0.0), self.at(out, j * n + i))
        self.note(usual)

    def _in_loops(self, given: Value, out: Value) -> None:
        f, n, apart = self.f, self.rows, pitch(self.rows)
        copied(self, given, out, self.view)
        usual = f.variable(f.constant("i1", 1))
        f.put(f.constant("i1", 1), usual)
        with f.loop(f.index(0), f.index(n)) as k:
            column = self.at(out, f.mul(k, f.index(apart)))
            square = self.read(column, k)
            f.put(f.bits("and", f.get(usual, "i1"), self.usual(square)), usual)
            root = f.intrinsic("sqrt", square)
            reciprocal = f.div(self.number(1.0), root)
            f.store(reciprocal, self.at(out, f.add(k, f.index(diagonal(n)))))
            spread, away = f.splat(reciprocal, LANES), []
            for block in range(0, apart, LANES):
                lines = lanes_from(f, block)
                below = f.compare("sgt", lines, f.splat(k, LANES))
                new = f.mul(self.read(column, block, LANES), spread)
                kept = f.select(below, new, self.number(0.0, LANES))
                there = f.compare("eq", lines, f.splat(k, LANES))
                f.store(f.select(there, f.splat(root, LANES), kept), self.at(column, block))
                away.append(f.neg(kept))
            with f.loop(f.add(k, f.index(1)), f.index(n)) as j:
                other = self.at(out, f.mul(j, f.index(apart)))
                factor = f.splat(self.read(column, j), LANES)
                for block, one in zip(range(0, apart, LANES), away, strict=True):
                    f.store(f.muladd(one, factor, self.read(other, block, LANES)), self.at(other, block))
        self.note(f.get(usual, "i1"))


class Triangle(Stacked):
    """A triangle as it is, with the reciprocals of its diagonal; `finite` if all of the matrix must be finite."""

    def matrix(self, *places: Value) -> None:
        (given, out), f, n, apart = places, self.f, self.rows, pitch(self.rows)
        lower, ones, finite = (word in self.task.how for word in ("lower", "ones", "finite"))
        row, column = self.task.operands[0].strides[-2:]
        nothing = f.variable(self.number(0.0))
        with f.loop(f.index(0), f.index(n)) as j:
            line, start = self.at(out, f.mul(j, f.index(apart))), self.at(given, f.mul(j, f.index(column)))
            with f.loop(f.index(0), f.index(n)) as i:
                value = self.read(start, f.mul(i, f.index(row)))
                ours = f.compare("sge" if lower else "sle", i, j)
                seen = value if finite else f.select(ours, value, self.number(0.0))
                f.put(f.add(f.get(nothing, self.kind), f.sub(seen, seen, flags=""), flags=""), nothing)
                f.store(f.select(ours, value, self.number(0.0)), self.at(line, i))
            if not ones:
                pivot = self.read(line, j)
                usual = self.usual(f.intrinsic("fabs", pivot))
                odd = f.select(usual, self.number(0.0), self.number(float("nan")))
                f.put(f.add(f.get(nothing, self.kind), odd, flags=""), nothing)
                f.store(f.div(self.number(1.0), pivot), self.at(out, f.add(j, f.index(diagonal(n)))))
        found = f.get(nothing, self.kind)
        self.note(f.compare("ord", found, found))


_WELL = {8: 1e5, 4: 1e3}
"""By the bytes of a number, how ill conditioned a matrix may be of which the inverse is taken for the adjugate."""


class Adjugate(Stacked):
    """det(A) · A⁻¹, where the inverse has about as many digits as the numbers; else NumPy runs the program again."""

    def matrix(self, *places: Value) -> None:
        f, n, sizes, (*_, size, out) = self.f, self.rows, [], places
        for place, view in zip(places[:2], self.task.operands, strict=False):
            row, column = view.strides[-2:]
            best = f.variable(self.number(0.0))
            with f.loop(f.index(0), f.index(n)) as i, f.loop(f.index(0), f.index(n)) as j:
                at = f.add(f.mul(i, f.index(row)), f.mul(j, f.index(column)))
                entry, old = f.intrinsic("fabs", self.read(place, at)), f.get(best, self.kind)
                f.put(f.select(f.compare("ogt", entry, old), entry, old), best)
            sizes.append(f.get(best, self.kind))
        both = f.mul(f.mul(sizes[0], sizes[1]), self.number(float(n * n)))
        row, column = self.task.operands[1].strides[-2:]
        with f.loop(f.index(0), f.index(n)) as i, f.loop(f.index(0), f.index(n)) as j:
            entry = self.read(places[1], f.add(f.mul(i, f.index(row)), f.mul(j, f.index(column))))
            f.store(f.mul(entry, self.read(size, 0)), self.at(out, f.add(f.mul(i, f.index(n)), j)))
        self.note(f.compare("olt", both, self.number(_WELL[self.task.dtype.itemsize])))


def greatest(f: Function, vectors: Sequence[Value]) -> Value:
    """The greatest entry; NaN is passed over, or it is the first of two and stays."""

    def greater(a: Value, b: Value) -> Value:
        return f.select(f.compare("ogt", b, a), b, a)

    found = vectors[0]
    for one in vectors[1:]:
        found = greater(found, one)
    while found.lanes > 1:
        half = found.lanes // 2
        low, high = (f.shuffle(found, found, range(at, at + half)) for at in (0, half))
        found = greater(low, high)
    return f.lane(found, 0)
