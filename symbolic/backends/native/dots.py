"""How are a few rows times a matrix written whose columns are contiguous? In vectors along both, summed at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symbolic.backends.native.counting import known, lanes_within, least, minus, over, plus, times
from symbolic.backends.native.host import Host
from symbolic.backends.native.packing import summed
from symbolic.backends.native.sums import Sums, added, looped, nothing
from symbolic.backends.native.text import Function, Value

MOST_ROWS = 4


def dots(
    f: Function,
    element: str,
    rows: Sequence[Value],
    b: tuple[Value, Value],
    sizes: tuple[Value, Value],
    host: Host,
) -> Iterator[tuple[list[Value], Value, Value | None]]:
    """Σ over i < k of a[i] · b[i, j] for each row a: b is its address and distance of columns, sizes are n and k.

    What follows is written for a vector of them of each row, the first j and the mask; it is within the loop over j.
    """
    (n, k), lanes = sizes, host.lanes(element)
    parts = min(lanes, 1 << (len(rows) - 1).bit_length())  # of the columns of a vector, for which registers suffice
    width = lanes // parts
    with f.loop(f.index(0), n, lanes) as first:
        found: list[list[Value]] = [[] for _ in rows]
        for part in range(parts):
            columns = []
            for j in range(width):  # behind the last column, that again
                number = least(f, plus(f, first, f.index(part * width + j)), minus(f, n, f.index(1)))
                columns.append(f.at(b[0], times(f, number, b[1]), element))
            for line, into in zip(_along(f, element, rows, columns, k, host), found, strict=True):
                into.append(summed(f, line))
        mask = lanes_within(f, minus(f, n, first), lanes)
        yield [summed(f, line, width) for line in found], first, mask


def _along(f: Function, element: str, rows: Sequence[Value], columns: Sequence[Value], k: Value, host: Host) -> Sums:
    """For each row and column a vector whose lanes are parts of the sum."""
    lanes = host.lanes(element)
    vectors = over(f, k, lanes)

    def step(i: Value, sums: Sums, mask: Value | None = None) -> Sums:
        at = times(f, i, f.index(lanes))
        left, right = (
            [_read(f, f.at(one, at, element), element, lanes, mask) for one in some] for some in (rows, columns)
        )
        return [
            [added(f, x, y, z, host) for y, z in zip(right, line, strict=True)]
            for x, line in zip(left, sums, strict=True)
        ]

    sums = looped(f, nothing(f, element, lanes, (len(rows), len(columns))), vectors, step)
    rest = minus(f, k, times(f, vectors, f.index(lanes)))
    if known(rest) == 0:
        return sums
    return step(vectors, sums, f.compare("slt", f.iota("i64", lanes), f.splat(rest, lanes)))


def _read(f: Function, at: Value, element: str, lanes: int, mask: Value | None) -> Value:
    if mask is None:
        return f.load(at, element, lanes)
    return f.load_some(at, mask, element, lanes, f.constant(element, 0.0, lanes))
