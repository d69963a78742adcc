"""How do sums of products stay in registers, and where do they go from there?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symbolic.backends.native.counting import known, times
from symbolic.backends.native.text import Function, Value
from symbolic.backends.native.tiles import Host

UNROLLED = 128
"""So many products at most are written one after the other, without a loop."""


def accumulated(
    f: Function,
    element: str,
    lanes: int,
    size: tuple[int, int],
    count: Value,
    terms: tuple[Callable[[Value, int], Value], Callable[[Value, int], Value]],
    host: Host,
    before: Callable[[int, int], Value] | None = None,
) -> list[list[Value]]:
    """Σ left(i, r) · right(i, v) over i < count, for each row r and vector v: `terms` give number and vector.

    `before` gives what the sums begin with, if not with zero.
    """
    rows, vectors = size
    zero = f.constant(element, 0.0, lanes)
    begin = [[before(r, v) if before else zero for v in range(vectors)] for r in range(rows)]
    many = known(count)
    if many is not None and many * rows * vectors <= UNROLLED:
        for i in range(many):
            begin = _term(f, begin, f.index(i), terms, host)
        return begin
    places = [[f.variable(one) for one in line] for line in begin]
    _keep(f, begin, places)
    with f.loop(f.index(0), count) as counter:
        sums = [[f.get(one, element, lanes) for one in line] for line in places]
        _keep(f, _term(f, sums, counter, terms, host), places)
    return [[f.get(one, element, lanes) for one in line] for line in places]


def _term(
    f: Function,
    sums: list[list[Value]],
    i: Value,
    terms: tuple[Callable[[Value, int], Value], Callable[[Value, int], Value]],
    host: Host,
) -> list[list[Value]]:
    left, right = terms
    across = [right(i, v) for v in range(len(sums[0]))]
    found = []
    for r, line in enumerate(sums):
        factor = f.splat(left(i, r), across[0].lanes)
        found.append([added(f, factor, b, c, host) for b, c in zip(across, line, strict=True)])
    return found


def _keep(f: Function, sums: Sequence[Sequence[Value]], places: Sequence[Sequence[Value]]) -> None:
    for line, holders in zip(sums, places, strict=True):
        for one, place in zip(line, holders, strict=True):
            f.put(one, place)


def added(f: Function, a: Value, b: Value, c: Value, host: Host) -> Value:
    """a · b + c, with one rounding where the host has FMA."""
    return f.fma(a, b, c) if host.fma else f.add(c, f.mul(a, b))


def stored(f: Function, value: Value, at: Value, stride: Value, mask: Value | None, accumulate: bool) -> None:
    """Write a vector where its entries lie `stride` apart, or add it to what is there."""
    if known(stride) == 1:
        _stored(f, value, at, mask, accumulate)
        return
    for k in range(value.lanes):
        place = f.at(at, times(f, f.index(k), stride), value.element)
        if mask is None:
            _stored(f, f.lane(value, k), place, None, accumulate)
        else:
            with f.when(f.lane(mask, k)):
                _stored(f, f.lane(value, k), place, None, accumulate)


def _stored(f: Function, value: Value, at: Value, mask: Value | None, accumulate: bool) -> None:
    if mask is None:
        f.store(f.add(f.load(at, value.element, value.lanes), value) if accumulate else value, at)
        return
    if accumulate:
        value = f.add(f.load_some(at, mask, value.element, value.lanes, f.like(value, 0.0)), value)
    f.store_some(value, at, mask)
