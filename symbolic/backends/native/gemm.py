"""How is a matrix product written? In tiles whose sums stay in registers, over panels that lie as they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from symbolic.backends.native.counting import each, inner, known, lanes_within, least, minus, odd, over, plus, times
from symbolic.backends.native.dots import MOST_ROWS, dots
from symbolic.backends.native.host import Host
from symbolic.backends.native.packing import lay
from symbolic.backends.native.sums import looped, nothing, stored, term
from symbolic.backends.native.text import BITS, Function, Module, Value
from symbolic.backends.native.tiles import Strip, depth, lanes, rows_at_once, strips, tallest, widest

Epilogue = Callable[[Function, Value, Value, Value, "Value | None"], None]
"""`(f, sums, row, column, mask)`: what becomes of a vector of the product, C[row, column:column + lanes], while it is
in its register. `mask` says which lanes exist, None that all do; the others hold anything."""


class Strides(NamedTuple):
    """How far apart, in entries, rows and columns lie; None where that is only known at run time."""

    row: int | None = None
    column: int | None = None


class Batch(NamedTuple):
    """Products in a row: how many, and how far apart their operands lie; None where only known at run time."""

    many: int | None = None
    a: int | None = None
    b: int | None = None
    c: int | None = None


ANY, ROWS = Strides(), Strides(None, 1)
PANEL = 256  # bytes of a row of a panel of B, at most


def workspace_bytes(m: int, n: int, k: int, element: str) -> int:
    """How much memory a product needs besides its operands, at most; aligned to 64 bytes it is fastest."""
    size = BITS[element] // 8
    needed = []
    for told in (k, None):  # whether the function knows k or not
        deep, high = min(k, depth(told, element)), min(m, 2 * rows_at_once(told, element))
        partial = high * (n + PANEL // size) if k > deep else 0
        needed.append(deep * PANEL + (high * (deep + 32) + partial) * size)
    return max(needed)


def product(
    module: Module,
    name: str,
    element: str,
    host: Host,
    *,
    sizes: tuple[int | None, int | None, int | None] = (None, None, None),
    a: Strides = ANY,
    b: Strides = ANY,
    c: Strides = ROWS,
    batch: Batch | None = None,
    accumulate: bool = False,
    epilogue: Epilogue | None = None,
    extra: Sequence[str] = (),
    private: bool = False,
) -> Function:
    """A function that computes C = A @ B, or C += A @ B, of matrices (m, k) and (k, n) of "float" or "double".

    Its parameters are the addresses of A, B, C and of a workspace (`workspace_bytes`), then, as i64, those of m, n, k,
    the strides of A, B and C (row, column) and the batch (how many, strides of A, B and C) that are None here, then
    `extra`, which are for the epilogue (`f.arguments[-1]` …). A transpose is a matrix with its strides exchanged.

    With an `epilogue` C is only touched by what that writes; in a batch its rows are numbered through, m for each
    product. If n is known to be 1, the vectors are of rows, and `row` and `column` change their parts.
    Sums are in the order of k, a block of terms at a time (lanes apart where A is one row and B's columns are
    contiguous), with one rounding a term where the host has FMA. No term is left out: 0 · inf is NaN. C must not
    overlap A or B, unless the epilogue writes elsewhere.

    >>> from symbolic.backends.native.host import AVX2
    >>> rows = {"a": Strides(4, 1), "b": Strides(16, 1), "c": Strides(16, 1)}
    >>> f = product(Module(), "mm", "float", AVX2, sizes=(6, 16, 4), **rows)
    >>> f.parameters
    'ptr %a0, ptr %a1, ptr %a2, ptr %a3'
    """
    given: list[int | None] = [*sizes, *a, *b, *c, *(batch or ())]
    kinds = ["ptr", "ptr", "ptr", "ptr", *["i64" for one in given if one is None], *extra]
    f = module.function(name, kinds, private=private)
    rest = iter(f.arguments[4:])
    values = [next(rest) if one is None else f.index(one) for one in given]
    (pa, pb, pc, work), (m, n, k, ar, ac, br, bc, cr, cc, *apart) = f.arguments[:4], values
    one = _Product(
        f, element, host, pa, pb, pc, work, (m, n, k), (ar, ac), (br, bc), (cr, cc), accumulate, epilogue, f.index(0)
    )
    if batch is None:
        one.write()
    else:
        many, *steps = apart
        with each(f, f.index(0), many) as i:
            places = [f.at(base, times(f, i, step), element) for base, step in zip((pa, pb, pc), steps, strict=True)]
            replace(one, a=places[0], b=places[1], c=places[2], first=times(f, i, m)).write()
    f.give()
    return f


class _Block(NamedTuple):
    """What all tiles of a block share."""

    a: Value  # where it begins, and its strides
    row: Value
    column: Value
    b: Value
    top: Value  # its rows: from where, how many
    high: Value
    deep: Value  # how many terms of the sums
    later: Value | None  # are there blocks of terms before? None if there is only one block
    last: Value | None  # is it the last?


@dataclass(frozen=True)
class _Product:
    """One product, being written."""

    f: Function
    element: str
    host: Host
    a: Value
    b: Value
    c: Value
    work: Value
    sizes: tuple[Value, Value, Value]
    a_strides: tuple[Value, Value]
    b_strides: tuple[Value, Value]
    c_strides: tuple[Value, Value]
    accumulate: bool
    epilogue: Epilogue | None
    first: Value  # the number of the batch's first row

    @property
    def lanes(self) -> int:
        return lanes(self.element, self.host)

    @property
    def wide(self) -> int:
        """Columns of the widest tile."""
        return widest(self.host) * self.lanes

    @property
    def told(self) -> tuple[int | None, int | None, int | None]:
        """The sizes, as far as they are known."""
        m, n, k = self.sizes
        return known(m), known(n), known(k)

    # ------------------------------------------------------------------ blocks
    def write(self) -> None:
        m, n, _ = self.told
        contiguous = known(self.a_strides[1]) == 1 and known(self.b_strides[0]) == 1
        if n == 1 and m != 1:
            self.turned().write()
        elif m is not None and m <= MOST_ROWS and contiguous and known(self.b_strides[1]) != 1:
            self.dotted()
        else:
            self.blocks()

    def turned(self) -> _Product:
        """Cᵀ = Bᵀ @ Aᵀ."""
        (m, n, k), (ar, ac), (br, bc), (cr, cc) = self.sizes, self.a_strides, self.b_strides, self.c_strides
        return replace(
            self, a=self.b, b=self.a, sizes=(n, m, k), a_strides=(bc, br), b_strides=(ac, ar), c_strides=(cc, cr)
        )

    def dotted(self) -> None:
        """Few rows, and a B whose columns are contiguous: each entry is a sum along both."""
        f, (_, n, k) = self.f, self.sizes
        rows = [f.index(r) for r in range(self.told[0] or 0)]
        places = [f.at(self.a, times(f, row, self.a_strides[0]), self.element) for row in rows]
        for vectors, column, mask in dots(f, self.element, places, (self.b, self.b_strides[1]), (n, k), self.host):
            for sums, row in zip(vectors, rows, strict=True):
                self.give(sums, row, column, mask)

    def blocks(self) -> None:
        """Blocks of rows, whose A stays in the cache while it meets each strip of columns."""
        f, m, (rows, _, k) = self.f, self.sizes[0], self.told
        most = rows_at_once(k, self.element)
        if rows is None:
            with each(f, f.index(0), m, most) as top:
                self.high(top, least(f, f.index(most), minus(f, m, top)))
            return
        full = 0 if rows <= 2 * most else rows // most * most
        if full:
            with each(f, f.index(0), f.index(full), most) as top:
                self.high(top, f.index(most))
        if rows > full:
            self.high(f.index(full), f.index(rows - full))

    def high(self, top: Value, high: Value) -> None:
        """Blocks of terms; once, if there is no term: the sums are zero then."""
        f, k, (_, _, terms) = self.f, self.sizes[2], self.told
        most = depth(terms, self.element)
        if terms is not None and terms <= most:
            self.block(top, high, f.index(0), k, None, None)
            return
        with each(f, f.index(0), f.intrinsic("smax", k, f.index(1)), most) as start:
            last = f.compare("sge", plus(f, start, f.index(most)), k)
            later = f.compare("ne", start, f.index(0))
            self.block(top, high, start, least(f, f.index(most), minus(f, k, start)), later, last)

    def block(
        self, top: Value, high: Value, start: Value, deep: Value, later: Value | None, last: Value | None
    ) -> None:
        f, element, (row, column) = self.f, self.element, self.a_strides
        a = f.at(self.a, inner(f, f.index(0), (top, row), (start, column)), element)
        b = f.at(self.b, times(f, start, self.b_strides[0]), element)
        if self.lays_a():
            pitch, room = self.pitch(), f.at(self.work, times(f, self.deepest(), f.index(PANEL)), "i8")
            lay(f, element, self.lanes, (a, row, column), (room, pitch), (high, deep))
            a, row, column = room, pitch, f.index(1)
        block = _Block(a, row, column, b, top, high, deep, later, last)
        for many, strip, begin in self.cut(high):
            self.strips(many, strip, begin, block)

    def deepest(self) -> Value:
        """The number of terms of a block, as far as there are so many."""
        return least(self.f, self.sizes[2], self.f.index(depth(self.told[2], self.element)))

    def pitch(self) -> Value:
        """Of rows of A that are laid: an odd number of 16 entries, lest all rows lie in one set of the cache."""
        f = self.f
        return times(f, odd(f, over(f, plus(f, self.deepest(), f.index(15)), 16)), f.index(16))

    def lays_a(self) -> bool:
        """Is A made to lie in rows of a good distance? Not if few strips of columns use them."""
        m, n, _ = self.told
        row, column = (known(one) for one in self.a_strides)
        if m == 1 or (n is not None and n <= self.wide):
            return False
        apart = row if column == 1 else column if row == 1 else None
        # so far apart, all rows, or all columns, are in few sets of the caches
        return apart is None or apart * BITS[self.element] // 8 % (2048 if column == 1 else 4096) == 0

    def lays_b(self) -> bool:
        """Is B made to lie in panels? Not if its rows are contiguous and few rows of A use them, or it is small."""
        m, n, k = self.told
        if known(self.b_strides[1]) != 1 or m is None:
            return True
        small = self.host.vector_bits == 512 and n is not None and k is not None and n * k <= 1 << 18
        return m > 4 * tallest(widest(self.host), self.host) and not small

    def cut(self, high: Value) -> list[tuple[Value, Strip, Value]]:
        """Strips of columns: how many, what they are like, and where they begin."""
        f, n, columns, rows = self.f, self.sizes[1], self.told[1], known(high)
        if columns is not None:
            found, at = [], 0
            most = widest(self.host) * (2 if rows is not None and rows <= 2 and not self.lays_b() else 1)
            for strip in strips(rows or 120, columns, most, self.element, self.host):
                found.append((f.index(strip.many), strip, f.index(at)))
                at += strip.many * strip.vectors * self.lanes
            return found
        full = over(f, n, self.wide)
        begin = times(f, full, f.index(self.wide))
        rest = over(f, plus(f, minus(f, n, begin), f.index(self.lanes - 1)), self.lanes)
        return [(full, Strip(0, widest(self.host), True, ()), f.index(0)), (rest, Strip(0, 1, False, ()), begin)]

    # ------------------------------------------------------------------ strips and tiles
    def strips(self, many: Value, strip: Strip, begin: Value, block: _Block) -> None:
        f = self.f
        width = f.index(strip.vectors * self.lanes)
        with each(f, f.index(0), many) as i:
            column = plus(f, begin, times(f, i, width))
            left = width if strip.full else minus(f, self.sizes[1], column)
            mask = lanes_within(f, minus(f, left, f.index((strip.vectors - 1) * self.lanes)), self.lanes)
            b = f.at(block.b, times(f, column, self.b_strides[1]), self.element)
            pitch = self.b_strides[0]
            if self.lays_b():
                count = (block.deep, least(f, left, width))
                lay(f, self.element, self.lanes, (b, *self.b_strides), (self.work, width), count)
                b, pitch = self.work, width
            for height, first, end in self.heights(strip, block.high):
                with each(f, first, end, height) as row:
                    self.tile((height, strip.vectors), (row, column), (b, pitch), mask, block)

    def heights(self, strip: Strip, high: Value) -> list[tuple[int, Value, Value]]:
        """Heights of tiles, and from which row to which they reach."""
        f, at, found = self.f, self.f.index(0), []
        if known(high) is not None and strip.rows:
            for height, count in strip.rows:
                found.append((height, at, plus(f, at, f.index(height * count))))
                at = found[-1][2]
            return found
        most = tallest(strip.vectors, self.host)
        for height in dict.fromkeys((most, most // 2, 1)):
            whole = times(f, over(f, minus(f, high, at), height), f.index(height))
            found.append((height, at, plus(f, at, whole)))
            at = found[-1][2]
        return found

    def tile(
        self,
        size: tuple[int, int],
        place: tuple[Value, Value],
        panel: tuple[Value, Value],
        mask: Value | None,
        block: _Block,
    ) -> None:
        """The sums of a few rows and vectors, and what becomes of them."""
        f, element, lanes, (height, vectors) = self.f, self.element, self.lanes, size
        at = [
            [(plus(f, place[0], f.index(r)), plus(f, place[1], f.index(v * lanes))) for v in range(vectors)]
            for r in range(height)
        ]
        masks = [None] * (vectors - 1) + [mask]
        rows = [f.at(block.a, times(f, line[0][0], block.row), element) for line in at]

        def left(i: Value, r: int) -> Value:
            return f.load(f.at(rows[r], times(f, i, block.column), element), element)

        def right(i: Value, v: int) -> Value:
            b = f.at(panel[0], plus(f, times(f, i, panel[1]), f.index(v * lanes)), element)
            some = None if self.lays_b() else masks[v]
            if some is None:
                return f.load(b, element, lanes)
            return f.load_some(b, some, element, lanes, f.constant(element, 0.0, lanes))

        sums = nothing(f, element, lanes, size)
        if block.later is not None:
            sums = [[self.before(one, block) for one in line] for line in at]
        sums = looped(
            f, sums, block.deep, lambda i, sums: term(f, sums, lambda r: left(i, r), lambda v: right(i, v), self.host)
        )
        for r in range(height):
            for v in range(vectors):
                self.finish(sums[r][v], *at[r][v], masks[v], block)

    # ------------------------------------------------------------------ sums
    def partial(self, row: Value, column: Value) -> Value:
        """Where the sums of the blocks of terms so far are kept."""
        f, size, (m, n, _) = self.f, BITS[self.element] // 8, self.sizes
        most = f.index(2 * rows_at_once(self.told[2], self.element))
        rows = times(f, least(f, m, most), times(f, self.pitch(), f.index(size)))
        room = f.at(self.work, plus(f, times(f, self.deepest(), f.index(PANEL)), rows), "i8")
        pitch = times(f, over(f, plus(f, n, f.index(self.wide - 1)), self.wide), f.index(self.wide))
        return f.at(room, inner(f, column, (row, pitch)), self.element)

    def before(self, place: tuple[Value, Value], block: _Block) -> Value:
        """The sums so far."""
        f = self.f
        assert block.later is not None
        sums = f.variable(f.constant(self.element, 0.0, self.lanes))
        f.put(f.constant(self.element, 0.0, self.lanes), sums)
        with f.when(block.later):
            f.put(f.load(self.partial(*place), self.element, self.lanes), sums)
        return f.get(sums, self.element, self.lanes)

    def finish(self, sums: Value, row: Value, column: Value, mask: Value | None, block: _Block) -> None:
        f, whole = self.f, plus(self.f, block.top, row)
        if block.last is None:
            self.give(sums, whole, column, mask)
            return
        with f.when(block.last):
            self.give(sums, whole, column, mask)
        with f.when(f.invert(block.last)):
            f.store(sums, self.partial(row, column))

    def give(self, sums: Value, row: Value, column: Value, mask: Value | None) -> None:
        f = self.f
        if self.epilogue is not None:
            self.epilogue(f, sums, plus(f, self.first, row), column, mask)
        else:
            at = f.at(self.c, inner(f, f.index(0), (row, self.c_strides[0]), (column, self.c_strides[1])), self.element)
            stored(f, sums, at, self.c_strides[1], mask, self.accumulate)
