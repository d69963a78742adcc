"""How are entries read and written that lie where numbers say? Pointers jump as soon as the numbers are known.

Numbers that stay the same in the innermost loop move a pointer before it: rows are then walked in vectors as any
others. Numbers that change there move each lane for itself, and what is written is written lane by lane, in order:
two lanes may mean one entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symbolic.backends.native.axes import Axes
from symbolic.backends.native.counting import set_lanes
from symbolic.backends.native.text import Function, Value
from symbolic.backends.native.vectors import Here


class Jumps:
    """Which pointers of a nest jump at which depth of its loops."""

    def __init__(self, by: Mapping[Any, Sequence[tuple[Any, int]]], axes: Axes) -> None:
        self.early: dict[int, list[tuple[Any, Any, int]]] = {}
        self.late: dict[Any, list[tuple[Any, int]]] = {}
        for key, numbers in by.items():
            for number, step in numbers:
                depth = _known(number, axes)
                if depth == len(axes.sizes):
                    self.late.setdefault(key, []).append((number, step))
                else:
                    self.early.setdefault(depth, []).append((key, number, step))

    @property
    def within(self) -> list[Any]:
        """The numbers of the innermost loop."""
        return [number for numbers in self.late.values() for number, _ in numbers]

    def made(self, f: Function, depth: int, places: dict[Any, Value], kind: Callable[[Any], str]) -> dict[Any, Value]:
        """The places when the loops before a depth stand still."""
        moved = dict(places)
        for key, number, step in self.early.get(depth, ()):
            moved[key] = f.at(moved[key], f.mul(f.load(places[number], "i64"), f.index(step)), kind(key))
        return moved


def _known(number: Any, axes: Axes) -> int:
    """The depth of the loops at which a number is known: those that lie in registers, in the innermost."""
    depth = len(axes.sizes)
    strides = axes.strides.get(number, ())
    while strides and depth and strides[depth - 1] == 0:
        depth -= 1
    return depth


def distance(f: Function, steps: Sequence[tuple[Value, int]]) -> Value | None:
    """Σ number · step, in each lane."""
    total: Value | None = None
    for number, step in steps:
        far = number if step == 1 else f.mul(number, f.like(number, step))
        total = far if total is None else f.add(total, far)
    return total


def load(f: Function, place: Value, jumps: Value | None, stride: int, kind: str, here: Here) -> Value:
    """The entries from memory, of type `kind`."""
    if not here.lanes:
        return f.load(_place(f, place, jumps, stride, kind, here, 0), kind)
    value = f.constant(kind, 0, here.lanes)
    for k in set_lanes(here.mask, here.lanes):
        value = f.insert(value, k, f.load(_place(f, place, jumps, stride, kind, here, k), kind))
    return value


def store(f: Function, value: Value, place: Value, jumps: Value | None, stride: int, here: Here, adds: bool) -> None:
    """The entries into memory, or added to what is there, one after the other."""
    for k in set_lanes(here.mask, here.lanes) if here.lanes else (0,):
        there, one = _place(f, place, jumps, stride, value.element, here, k), f.lane(value, k)
        f.store(f.add(f.load(there, one.element), one) if adds else one, there)


def _place(f: Function, place: Value, jumps: Value | None, stride: int, kind: str, here: Here, k: int) -> Value:
    """Where the entry of a lane lies."""
    if stride:
        assert here.i is not None
        i = f.add(here.i, f.index(k)) if k else here.i
        place = f.at(place, f.mul(i, f.index(stride)) if stride != 1 else i, kind)
    return place if jumps is None else f.at(place, f.lane(jumps, k), kind)
