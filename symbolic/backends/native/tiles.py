"""Into which pieces is a matrix product cut, so that each piece's sums stay in registers?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from symbolic.backends.native.host import Host
from symbolic.backends.native.text import BITS

DEEP = 4096
"""So many bytes of a row of A, at most, go into sums at once: a panel of B then stays in the second cache."""

SECOND_CACHE = 512 * 1024
"""So many bytes of A are used again for each strip of columns: half of a second cache."""


class Strip(NamedTuple):
    """Columns that are done together: `count` times `vectors` vectors."""

    many: int
    vectors: int
    full: bool  # or is only a part of its last vector wanted?
    rows: tuple[tuple[int, int], ...]  # the heights of the tiles in it, and how many there are of each


def lanes(element: str, host: Host) -> int:
    return host.lanes(element)


def tallest(vectors: int, host: Host) -> int:
    """The most rows of a tile: beside the sums there are vectors of B, a number of A, and products without FMA.

    Never more than eight, the ways of a first cache: rows are often so far apart that all lie in one set of it.
    """
    return min(8, (host.registers - vectors - (1 if host.fma else 5)) // vectors)


def depth(k: int | None, element: str) -> int:
    """The number of terms that are done at once: all if they are few, else as many in each block."""
    most = DEEP * 8 // BITS[element]
    return most // 2 if k is None else -(-k // max(1, -(-k // most)))


def rows_at_once(k: int | None, element: str) -> int:
    """The number of rows of A that stay in the cache while all columns are done; tiles of many heights fill them."""
    size = BITS[element] // 8
    return max(60, SECOND_CACHE // (max(1, depth(k, element)) * size) // 60 * 60)


def widest(host: Host) -> int:
    """The number of vectors of a tile that is as square as the registers allow."""
    return 4 if host.registers == 32 else 2


def heights(m: int, vectors: int, host: Host) -> tuple[tuple[int, int], ...]:
    """m rows in tiles of one height if one not much below the most divides them: two heights are twice the code.

    Else in as few tiles as can be, which are then as equal as can be. Where registers are few, only the highest tiles
    have as many sums as can be added to at the same time.
    """
    most = tallest(vectors, host)
    least = most * 2 // 3 if host.registers == 32 else most * 5 // 6
    if m <= 0:
        return ()
    for height in range(most, least - 1, -1):
        if height and m % height == 0:
            return ((height, m // height),)
    tiles = -(-m // most)
    low, more = divmod(m, tiles)
    return tuple((height, count) for height, count in ((low + 1, more), (low, tiles - more)) if count)


def strips(m: int, n: int, most: int, element: str, host: Host) -> list[Strip]:
    """The cheapest way to cut known sizes into strips of at most so many vectors."""
    cuts = [_cut(m, n, vectors, element, host) for vectors in range(most, 0, -1)]
    return min(cuts, key=lambda cut: _cost(cut, host))


def _cut(m: int, n: int, vectors: int, element: str, host: Host) -> list[Strip]:
    width = lanes(element, host)
    full, rest = divmod(n, vectors * width)
    found = [Strip(full, vectors, True, heights(m, vectors, host))] if full else []
    if rest:
        few = -(-rest // width)
        found.append(Strip(1, few, rest == few * width, heights(m, few, host)))
    return found


def _cost(cut: Sequence[Strip], host: Host) -> float:
    """Cycles for one term of all sums: additions at two vectors of 256 bits a cycle, loads at as many, and latency.

    A kernel more is code to be compiled: it must be worth a little.
    """
    share = host.vector_bits / 512 if host.vector_bits > 128 else 0.5
    cost = 0.0
    for strip in cut:
        for height, count in strip.rows:
            work = height * strip.vectors * share
            loads = strip.vectors * share + height * 0.5
            cost += strip.many * count * (max(work, loads, 4) + 0.05 * loads + 0.25)
    return cost * (1 + 0.01 * sum(len(strip.rows) for strip in cut))
