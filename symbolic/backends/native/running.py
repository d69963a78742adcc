"""How are results so far computed along an axis? One after the other, as NumPy adds them; what lies beside it abreast.

A step waits for the one before it. The axes behind the running one do not wait for each other: where their entries lie
side by side, a vector of them is taken at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symbolic.backends.native.access import Sizes, View, in_order, whole
from symbolic.backends.native.lowering import DType, Lowered, NotLoops, Running
from symbolic.backends.native.pointwise import element
from symbolic.backends.native.records import alike
from symbolic.backends.native.text import Function, Module, Value
from symbolic.plan import Instruction
from symbolic.spec import normalize_axis

_LANES = 8
"""Entries of a vector, whatever the processor has: LLVM makes two or four of it."""
_TWICE = ""
"""A product and a sum are rounded each, as NumPy rounds them."""


class Scan:
    """Writes a task as a function of pointers: to its operands and to its result."""

    f: Function
    kind: str
    module: Module
    strides: list[Sizes]
    task: Running

    def __init__(self, module: Module, task: Running) -> None:
        self.module, self.task, self.kind = module, task, element(task.dtype)
        self.strides = [*[view.strides for view in task.operands], task.steps]  # the result's are the last

    @property
    def key(self) -> Any:
        """What two tasks have in common that are written alike."""
        return alike(self.task)

    def write(self, name: str) -> Function:
        self.f = self.module.function(name, ["ptr"] * len(self.strides), private=True)
        self._outside(0, self.f.arguments)
        self.f.give()
        return self.f

    def _outside(self, axis: int, places: Sequence[Value]) -> None:
        """The loops over the axes before the running one."""
        if axis == self.task.axis:
            self._along(places)
            return
        with self.f.loop(self.f.index(0), self.f.index(self.task.domain[axis])) as i:
            self._outside(axis + 1, self._moved(places, i, axis))

    def _along(self, places: Sequence[Value]) -> None:
        f, size = self.f, self.task.domain[self.task.axis]
        beside = self.task.domain[self.task.axis + 1 :]
        if all(n == 1 for n in beside):  # the result so far stays in a register
            so_far = f.variable(f.load(places[0], self.kind))
            f.store(f.get(so_far, self.kind), places[-1])
            with f.loop(f.index(1), f.index(size)) as k:
                here = self._moved(places, k, self.task.axis)
                now = self._next(f.get(so_far, self.kind), here, 0)
                f.put(now, so_far)
                f.store(now, here[-1])
            return
        self._beside(self.task.axis + 1, places, None)
        with f.loop(f.index(1), f.index(size)) as k:
            here = self._moved(places, k, self.task.axis)
            back = f.at(here[-1], f.index(-self.task.steps[self.task.axis]), self.kind)
            self._beside(self.task.axis + 1, here, back)

    def _beside(self, axis: int, places: Sequence[Value], back: Value | None) -> None:
        """One step for all entries behind the running axis; `back` is where the result before them lies."""
        f, last = self.f, len(self.task.domain) - 1
        if axis < last:
            with f.loop(f.index(0), f.index(self.task.domain[axis])) as i:
                moved = self._moved(places, i, axis)
                self._beside(axis + 1, moved, self._at(back, i, self.task.steps[axis]))
            return
        size, start = self.task.domain[axis], 0
        if all(one[axis] == 1 for one in self.strides):
            start = size // _LANES * _LANES
            self._some(axis, places, back, (0, start), _LANES)
        self._some(axis, places, back, (start, size), 0)

    def _some(self, axis: int, places: Sequence[Value], back: Value | None, span: tuple[int, int], lanes: int) -> None:
        f, (start, stop) = self.f, span
        if start == stop:
            return
        with f.loop(f.index(start), f.index(stop), lanes or 1) as i:
            here = self._moved(places, i, axis)
            before = self._at(back, i, self.task.steps[axis])
            if before is None:
                now = f.load(here[0], self.kind, lanes)
            else:
                now = self._next(f.load(before, self.kind, lanes), here, lanes)
            f.store(now, here[-1])

    def _next(self, so_far: Value, places: Sequence[Value], lanes: int) -> Value:
        """The result after one more entry."""
        f, term = self.f, self.f.load(places[0], self.kind, lanes)
        if self.task.how == "add":
            return f.add(so_far, term, flags=_TWICE)
        if self.task.how == "multiply":
            return f.mul(so_far, term, flags=_TWICE)
        back = -self.strides[1][self.task.axis] if self.task.how == "recurrence, late" else 0
        factor = f.load(f.at(places[1], f.index(back), self.kind), self.kind, lanes)
        return f.add(term, f.mul(factor, so_far, flags=_TWICE), flags=_TWICE)

    def _moved(self, places: Sequence[Value], i: Value, axis: int) -> list[Value]:
        moved = [self._at(place, i, one[axis]) for place, one in zip(places, self.strides, strict=True)]
        return [place for place in moved if place is not None]

    def _at(self, place: Value | None, i: Value, step: int) -> Value | None:
        if place is None or step == 0:
            return place
        return self.f.at(place, i if step == 1 else self.f.mul(i, self.f.index(step)), self.kind)


# --------------------------------------------------------------------------- rules


def running(how: str) -> Any:
    """Sums or products so far, without an axis those of the entries in order."""

    def rule(low: Lowered, one: Instruction) -> None:
        node: Any = one.node
        kind, view = _kind(low, one), low.views[one.sources[0]]
        if node.axis is None or not view.shape:
            view = low.moved(view, np.ravel)
        axis = normalize_axis(node.axis or 0, len(view.shape))
        _along(low, one.target, how, (low.cast(view, kind),), axis)

    return rule


def recurrence(low: Lowered, one: Instruction) -> None:
    """The factor of an entry is its own; transposed, all goes from the end, and it is that of the one before."""
    node: Any = one.node
    kind, shape = _kind(low, one), low.sizes(one.target)
    axis = normalize_axis(node.axis, len(shape))
    factor, term = [low.cast(low.views[k], kind).over(shape) for k in one.sources]
    if node.transposed:
        factor, term = [low.moved(each, lambda x: np.flip(x, axis)) for each in (factor, term)]
        target = low.fresh(shape, kind)
        _along(low, target, "recurrence, late", (term, factor), axis)
        low.views[one.target] = low.moved(whole(target, shape), lambda x: np.flip(x, axis))
    else:
        _along(low, one.target, "recurrence", (term, factor), axis)


def delay(low: Lowered, one: Instruction) -> None:
    """A part of the operand beside a number."""
    node: Any = one.node
    kind, view = _kind(low, one), low.views[one.sources[0]]
    axis = normalize_axis(node.axis, len(view.shape))
    low.filled(one.target, low.number(node.fill, kind))
    late, early = ((slice(None),) * axis + (part,) for part in (slice(1, None), slice(None, -1)))
    if view.shape[axis] > 1:
        to, out = (late, early) if node.by > 0 else (early, late)
        low.write(low.region(one.target, lambda x: x[to]), low.moved(view, lambda x: x[out]))


def _kind(low: Lowered, one: Instruction) -> DType:
    kind = low.dtype(one.target)
    if kind.kind not in "fiu" or any(low.dtype(k).kind not in "fiub" for k in one.sources):
        raise NotLoops(f"what goes along an axis of {kind} is not written")
    return kind


def _along(low: Lowered, target: int, how: str, operands: tuple[View, ...], axis: int) -> None:
    shape = low.sizes(target)
    low.tasks.append(Running(target, shape, how, operands, axis, in_order(shape), low.dtype(target)))
    low.made(target)
