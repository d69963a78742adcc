"""How are entries read and written, a vector of them at a time, however far apart they lie?"""

from __future__ import annotations

from typing import NamedTuple

from symbolic.backends.native.counting import lanes_within, set_lanes
from symbolic.backends.native.text import BITS, Function, Value


class Here(NamedTuple):
    """The entries of the innermost loop that a body is written for: from `i` on, `lanes` of them in a vector.

    Without lanes it is a single one, without `i` there is no loop. Of a vector only what the mask says counts.
    """

    i: Value | None
    lanes: int = 0
    mask: Value | None = None
    part: int = 0
    """Which of the vectors that are added up beside each other."""


def load(f: Function, place: Value, stride: int, kind: str, here: Here) -> Value:
    """The entries from memory, of type `kind`."""
    i, lanes, mask = here.i, here.lanes, here.mask
    if i is None:
        return f.load(place, kind)
    if not lanes:
        return f.load(f.at(place, _times(f, i, stride), kind), kind)
    if stride == 1:
        start = f.at(place, i, kind)
        if mask is None:
            return f.load(start, kind, lanes)
        return f.load_some(start, mask, kind, lanes, _zero(f, kind, lanes))
    if stride == 2 and lanes * BITS[kind] >= 256 and BITS[kind] >= 32:
        return _every_other(f, f.at(place, _times(f, i, 2), kind), kind, lanes, len(set_lanes(mask, lanes)))
    value = _zero(f, kind, lanes)
    for k in set_lanes(mask, lanes):
        value = f.insert(value, k, f.load(f.at(place, _entry(f, i, k, stride), kind), kind))
    return value


def _every_other(f: Function, start: Value, kind: str, lanes: int, count: int) -> Value:
    """The first, the third, …: `count` of them, out of two vectors. What lies behind the last is not touched."""
    halves = []
    for first in (0, lanes):
        mask = lanes_within(f, f.index(2 * count - 1 - first), lanes)
        place = f.at(start, f.index(first), kind)
        zero = _zero(f, kind, lanes)
        halves.append(f.load(place, kind, lanes) if mask is None else f.load_some(place, mask, kind, lanes, zero))
    return f.shuffle(halves[0], halves[1], range(0, 2 * lanes, 2))


def store(f: Function, value: Value, place: Value, stride: int, here: Here) -> None:
    """The entries into memory."""
    i, mask = here.i, here.mask
    if i is None:
        f.store(value, place)
    elif stride == 1 or not value.lanes:
        start = f.at(place, _times(f, i, stride), value.element)
        if mask is None:
            f.store(value, start)
        else:
            f.store_some(value, start, mask)
    else:
        for k in set_lanes(mask, value.lanes):
            f.store(f.lane(value, k), f.at(place, _entry(f, i, k, stride), value.element))


def _entry(f: Function, i: Value, k: int, stride: int) -> Value:
    return f.mul(f.add(i, f.index(k)), f.index(stride))


def _times(f: Function, i: Value, stride: int) -> Value:
    return f.mul(i, f.index(stride)) if stride != 1 else i


def _zero(f: Function, kind: str, lanes: int) -> Value:
    return f.constant(kind, 0, lanes)
