"""How do sums of products stay in registers, and where do they go from there?"""

from __future__ import annotations

from collections.abc import Callable

from symbolic.backends.native.counting import known, times
from symbolic.backends.native.host import Host
from symbolic.backends.native.text import Function, Value

UNROLLED = 128
"""So many products at most are written one after the other, without a loop."""

Sums = list[list[Value]]
"""Vectors in registers: for each row of a tile, those that lie beside each other."""


def nothing(f: Function, element: str, lanes: int, size: tuple[int, int]) -> Sums:
    return [[f.constant(element, 0.0, lanes)] * size[1] for _ in range(size[0])]


def looped(f: Function, sums: Sums, count: Value, step: Callable[[Value, Sums], Sums]) -> Sums:
    """The sums after `step` has added to them `count` times; written out if that is short."""
    many, size = known(count), len(sums) * len(sums[0])
    if many is not None and (many * size <= UNROLLED or many <= 1):
        for i in range(many):
            sums = step(f.index(i), sums)
        return sums
    places = [[f.variable(one) for one in line] for line in sums]
    _keep(f, sums, places)
    with f.loop(f.index(0), count) as counter:
        _keep(f, step(counter, _kept(f, sums, places)), places)
    return _kept(f, sums, places)


def term(f: Function, sums: Sums, left: Callable[[int], Value], right: Callable[[int], Value], host: Host) -> Sums:
    """A number of each row times each vector, added to the sums."""
    across = [right(v) for v in range(len(sums[0]))]
    found = []
    for r, line in enumerate(sums):
        factor = f.splat(left(r), across[0].lanes)
        found.append([added(f, factor, b, c, host) for b, c in zip(across, line, strict=True)])
    return found


def _keep(f: Function, sums: Sums, places: Sums) -> None:
    for line, holders in zip(sums, places, strict=True):
        for one, place in zip(line, holders, strict=True):
            f.put(one, place)


def _kept(f: Function, sums: Sums, places: Sums) -> Sums:
    return [
        [f.get(place, one.element, one.lanes) for place, one in zip(*pair, strict=True)]
        for pair in zip(places, sums, strict=True)
    ]


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
