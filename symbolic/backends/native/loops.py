"""How are loops over the entries of several values written? The innermost one in vectors, what is left over by a mask.

What a nest reads or writes comes to its function as pointers, one for each access, so that nests that are alike are
one function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from symbolic.backends.native import jumping, pointwise, vectors
from symbolic.backends.native.abreast import HEAVY, LIGHT, abreast, weight
from symbolic.backends.native.access import Sizes, in_order
from symbolic.backends.native.axes import Axes, kept_strides, walked
from symbolic.backends.native.counting import lanes_within
from symbolic.backends.native.jumping import Jumps
from symbolic.backends.native.lowering import FLAG, Check, Looping, Point, Reduce, Write
from symbolic.backends.native.nests import Access, Nest, Step
from symbolic.backends.native.pointwise import element, from_memory, stored, to_memory
from symbolic.backends.native.reductions import Oddities, Reduction
from symbolic.backends.native.text import BITS, Function, Module, Value
from symbolic.backends.native.vectors import Here

__all__ = ["Pointer", "Writer"]

_CHUNK = 128
"""Vectors that are added up before their sum joins the others': rounding errors stay small in long sums."""

Places = dict[Any, Value]
"""Where the entries of each access are at some depth of the loops."""


class Pointer(NamedTuple):
    """What a nest's function is given: where a value lies, from which entry on, and how far its rows are apart."""

    base: int
    offset: int
    row: int = 0
    each: int = 0
    """Where each thread has memory of its own: how many bytes apart that is."""


class _Region(NamedTuple):
    """Where a part of a value is written, as a key beside where it is read."""

    access: Access


class Writer:
    """Writes one nest as a function of the module."""

    jumps: Jumps
    seen: dict[Any, Value]

    axes: Axes
    bits: int
    checked: dict[tuple[str, int], Any | None]
    constants: dict[int, Any]
    dtype: Any
    f: Function
    fixed: dict[Access, tuple[Value, Value]]
    is_heavy: bool
    lanes: int
    module: Module
    nest: Nest
    oddities: Oddities
    pointers: list[Pointer]

    def __init__(
        self, module: Module, bits: int, nest: Nest, dtype: Callable[[int], np.dtype[Any]], constants: dict[int, Any]
    ) -> None:
        self.module, self.bits, self.nest, self.dtype, self.constants = module, bits, nest, dtype, constants
        self.reads: dict[Access, None] = {}
        self.numbers: dict[Access, None] = {}
        self.writes: dict[int, Sizes] = {}
        self.regions: dict[Access, None] = {}
        for step in nest.steps:
            self._note(step)
        accesses: dict[Any, Sizes] = {one: one.strides for one in (*self.reads, *self.numbers)}
        accesses.update({_Region(one): one.strides for one in self.regions})
        accesses.update(self.writes)
        jumps: dict[Any, set[int]] = {one: _moving(one) for one in self.reads}
        jumps.update({_Region(one): _moving(one) for one in self.regions})
        fixed = [_moving(one) | {k for k, n in enumerate(one.strides) if n == 0} for one in self.regions if one.by]
        self.axes = walked(nest.domain, accesses, jumps, fixed)
        self.jumps = jumping.Jumps({key: _access(key).by for key in jumps}, self.axes)
        given = dict.fromkeys((*self.reads, *self.numbers))
        self.pointers = [
            Pointer(one.base, one.offset, one.strides[0] if one.strides else 0) for one in (*given, *self.regions)
        ]
        self.pointers += [Pointer(base, 0, strides[0] if strides else 0) for base, strides in self.writes.items()]
        checks = [step.task for step in nest.steps if isinstance(step.task, Check)]
        self.checked = dict.fromkeys((element(one.dtype), one.bit) for one in checks)
        if self.checked:
            self.pointers.append(Pointer(FLAG, 0))

    def _note(self, step: Step) -> None:
        """What a step reads and writes in memory."""
        target, domain = step.task.target, self.nest.domain
        for one in step.operands:
            if not self.nest.holds(one) and not self._is_number(one.base):
                self.reads[one] = None
        for one in step.numbers:
            if not self.nest.holds(one):
                self.numbers[one] = None
        if step.region is not None:
            self.regions[step.region] = None
        elif isinstance(step.task, Reduce):
            self.writes[target] = kept_strides(domain, step.axes)
        elif isinstance(step.task, Point) and target in self.nest.stored:
            self.writes[target] = in_order(domain)

    def _is_number(self, base: int) -> bool:
        value = self.constants.get(base)
        return value is not None and np.ndim(value) == 0

    # ------------------------------------------------------------------ the function
    def write(self, name: str) -> Function:
        """A function of the pointers."""
        self.f = f = self.module.function(name, ["ptr"] * len(self.pointers), private=True)
        given = iter(f.arguments)
        places: Places = {one: next(given) for one in dict.fromkeys((*self.reads, *self.numbers))}
        places.update({_Region(one): next(given) for one in self.regions})
        places.update({base: next(given) for base in self.writes})
        self.is_heavy = sum(weight(step.task) for step in self.nest.steps) > LIGHT
        self.lanes = self._most_lanes() if self.axes.sizes else 0
        self.reductions: dict[int, Reduction] = {}
        for step in self.nest.steps:
            if isinstance(step.task, Reduce):
                self._begin(step.task, step.axes, places)
        self.oddities = Oddities(f, self.checked, self.lanes)
        self._level(0, places)
        if self.checked:
            self.oddities.tell(f.arguments[-1])
        f.give()
        return f

    def _most_lanes(self) -> int:
        """As many as a vector has, but no more than a short row fills: the rest would be masked for each row."""
        widest = max(self._widest(), 32)
        row = 1 << (self.axes.sizes[-1] - 1).bit_length()
        return max(min(self.bits // widest, 16, row), 128 // widest)

    def _widest(self) -> int:
        """The bits of the widest numbers that are read entry by entry, or computed with."""
        kinds = [stored(self.dtype(one.base)) for one in (*self.reads, *self.jumps.within) if any(one.strides)]
        kinds += [element(kind) for step in self.nest.steps for kind in (*_inner(step.task), step.task.dtype)]
        return max(BITS[kind] for kind in kinds)

    def _begin(self, task: Reduce, axes: Sizes, places: Places) -> None:
        one = Reduction(self.f, task, self.axes, self.lanes, task.target in self.nest.continued)
        self.reductions[task.target] = one
        if one.is_filled:
            count = prod(size for k, size in enumerate(self.nest.domain) if k not in axes)
            one.fill(places[task.target], count, self.bits)

    # ------------------------------------------------------------------ loops
    def _level(self, depth: int, places: Places) -> None:
        """The loops from a depth on, within those before."""
        f, sizes = self.f, self.axes.sizes
        places = self.jumps.made(f, depth, places, self._kind)
        starting = [one for one in self.reductions.values() if one.depth == depth < len(sizes)]
        for one in starting:
            one.begin(self._unroll())
        if depth == len(sizes):
            self._body(places, Here(None))
        elif depth == len(sizes) - 1:
            self._innermost(places)
        else:
            with f.loop(f.index(0), f.index(sizes[depth])) as i:
                self._level(depth + 1, self._moved(places, depth, i))
        for one in starting:
            one.finish(places[one.task.target])

    def _moved(self, places: Places, depth: int, i: Value) -> Places:
        f, moved = self.f, dict(places)
        for key, strides in self.axes.strides.items():
            if strides[depth]:
                step = f.mul(i, f.index(strides[depth])) if strides[depth] != 1 else i
                moved[key] = f.at(places[key], step, self._kind(key))
        return moved

    def _kind(self, key: Any) -> str:
        """The type in memory of what an access walks."""
        one = _access(key)
        return stored(self.dtype(one.base if isinstance(one, Access) else one))

    def _unroll(self) -> int:
        """How many vectors at a time."""
        if self.jumps.late:  # entries are read one by one
            return abreast(self.nest, 0, HEAVY * len(self.jumps.late))
        size = self.axes.sizes[-1] // self.lanes
        return min(abreast(self.nest, 32 if self.bits == 512 else 16), 1 << max(size.bit_length() - 1, 0))

    def _innermost(self, places: Places) -> None:
        f, n, lanes = self.f, self.axes.sizes[-1], self.lanes
        depth = len(self.axes.sizes) - 1
        still = [one for one in self.reads if self.axes.strides[one][depth] == 0 and one not in self.jumps.late]
        self.fixed = {one: self._fixed(one, places[one]) for one in still}
        unroll = self._unroll()
        at = self._in_chunks(places, unroll)
        whole = (n - at) // (lanes * unroll)
        if whole == 1:
            self._unrolled(places, f.index(at), unroll)
        elif whole:
            with f.loop(f.index(at), f.index(at + whole * lanes * unroll), lanes * unroll) as i:
                self._unrolled(places, i, unroll)
        at += whole * lanes * unroll
        left = (n - at) // lanes
        if self._side_by_side() and left + (at + left * lanes < n) > 1:
            with f.loop(f.index(at), f.index(n), lanes) as i:  # one body for all of them
                self._body(places, Here(i, lanes, lanes_within(f, f.sub(f.index(n), i), lanes)))
            return
        if left > 1 and unroll > 1 and self.is_heavy:
            with f.loop(f.index(at), f.index(at + left * lanes), lanes) as i:
                self._body(places, Here(i, lanes))
        else:
            for k in range(left):
                self._body(places, Here(f.index(at + k * lanes), lanes))
        at += left * lanes
        if at < n:
            self._rest(places, at, n)

    def _side_by_side(self) -> bool:
        """Whether the body is long and may have a mask that is known when it runs: no entry is read by itself."""
        last = {key: strides[-1] for key, strides in self.axes.strides.items()}
        near = all(step in ((1,) if isinstance(key, _Region) else (0, 1)) for key, step in last.items())
        return self.is_heavy and self.bits >= 256 and near and not self.jumps.late

    def _in_chunks(self, places: Places, unroll: int) -> int:
        """Long sums, each chunk for itself; up to where."""
        f, stride = self.f, self.lanes * unroll
        added = [one for one in self.reductions.values() if one.task.how == "add" and not one.stays]
        if not added or self.axes.sizes[-1] // stride <= 2 * _CHUNK:
            return 0
        chunk = _CHUNK * stride
        at = self.axes.sizes[-1] // stride * stride
        with f.loop(f.index(0), f.index(at), chunk) as start:
            totals = [one.begin(unroll) for one in added]  # a variable is filled where it is made, each time
            stop = f.add(start, f.index(chunk))
            if at % chunk:
                stop = f.select(f.compare("slt", stop, f.index(at)), stop, f.index(at))
            with f.loop(start, stop, stride) as i:
                self._unrolled(places, i, unroll)
            for one, total in zip(added, totals, strict=True):
                one.join(total)
        return at

    def _unrolled(self, places: Places, i: Value, unroll: int) -> None:
        f, starts = self.f, [i]
        starts += [f.add(i, f.index(k * self.lanes)) for k in range(1, unroll)]
        here = [Here(start, self.lanes, part=k) for k, start in enumerate(starts)]
        self._bodies(places, here)

    def _rest(self, places: Places, at: int, n: int) -> None:
        """Less than a vector: by a mask, or one by one."""
        f = self.f
        if self.bits >= 256:
            self._body(places, Here(f.index(at), self.lanes, lanes_within(f, f.index(n - at), self.lanes)))
            return
        for k in range(at, n):
            self._body(places, Here(f.index(k)))

    def _fixed(self, one: Access, place: Value) -> tuple[Value, Value]:
        """A value that is the same for the whole innermost loop: the number, and it in every lane."""
        dtype = self.dtype(one.base)
        number = from_memory(self.f, self.f.load(place, stored(dtype)), dtype)
        return number, self.f.splat(number, self.lanes)

    # ------------------------------------------------------------------ one vector
    def _body(self, places: Places, here: Here) -> None:
        """All steps for one vector of entries, or for one entry."""
        self._bodies(places, [here])

    def _bodies(self, places: Places, parts: Sequence[Here]) -> None:
        """The same for several: each step for all of them."""
        seen: list[dict[Any, Value]] = [{} for _ in parts]
        for step in self.nest.steps:
            for here, self.seen in zip(parts, seen, strict=True):
                self._step(step, places, here)

    def _step(self, step: Step, places: Places, here: Here) -> None:
        task = step.task
        if isinstance(task, Point):
            self._point(task, step, places, here)
            return
        (operand,) = step.operands
        value = self._value(operand, places, here)
        if isinstance(task, Reduce):
            value = pointwise.cast(self.f, value, self.dtype(operand.base), task.dtype)
            self.reductions[task.target].take(value, places[task.target], here)
        elif isinstance(task, Check):
            self.oddities.take(value, task.bit, here)
        else:
            assert step.region is not None  # a `Write` has one
            self._region(task, _Region(step.region), value, places, here)

    def _point(self, task: Point, step: Step, places: Places, here: Here) -> None:
        f = self.f
        pairs = zip(step.operands, task.inner, strict=True)
        values = [self._operand(one, inner, places, here) for one, inner in pairs]
        if task.function.startswith("="):
            result = f.constant(element(task.dtype), float(task.function[1:]), here.lanes)
        elif task.function == "cast":
            result = pointwise.cast(f, values[0], task.inner[0], task.dtype)
        else:
            result = pointwise.write(f, task.function, values, task.inner)
        self.seen[task.target] = result
        if task.target in self.writes:
            self._store(task.target, result, places, here)

    def _operand(self, one: Access, inner: np.dtype[Any], places: Places, here: Here) -> Value:
        """An operand in the dtype in which is computed."""
        if self._is_number(one.base) and not self.nest.holds(one):
            number = np.asarray(self.constants[one.base]).astype(inner)
            return self.f.constant(element(inner), number.item(), here.lanes)
        if here.lanes and one in self.fixed and not self.nest.holds(one):  # one number is cast, not one for each lane
            return self.f.splat(pointwise.cast(self.f, self.fixed[one][0], self.dtype(one.base), inner), here.lanes)
        return pointwise.cast(self.f, self._value(one, places, here), self.dtype(one.base), inner)

    def _region(self, task: Write, key: _Region, value: Value, places: Places, here: Here) -> None:
        """Write, or add, into a part of a value."""
        stride = self.axes.strides[key][-1] if here.i is not None else 0
        if key in self.jumps.late or (stride == 0 and here.lanes):
            jumps = self._jumps(key, places, here)
            jumping.store(self.f, to_memory(self.f, value), places[key], jumps, stride, here, task.adds)
            return
        if task.adds:
            old = vectors.load(self.f, places[key], stride, stored(task.dtype), here)
            value = pointwise.write(self.f, "add", [old, value], (task.dtype, task.dtype))
        self._store(key, value, places, here)

    def _value(self, one: Access, places: Places, here: Here) -> Value:
        if self.nest.holds(one):
            return self.seen[one.base]
        if self._is_number(one.base):
            number = np.asarray(self.constants[one.base]).item()
            return self.f.constant(element(self.dtype(one.base)), number, here.lanes)
        if one not in self.seen:
            self.seen[one] = self._load(one, places, here)
        return self.seen[one]

    def _jumps(self, key: Any, places: Places, here: Here) -> Value | None:
        """How far numbers of the innermost loop say that entries lie."""
        steps = [(self._value(number, places, here), step) for number, step in self.jumps.late.get(key, ())]
        return jumping.distance(self.f, steps)

    def _load(self, one: Access, places: Places, here: Here) -> Value:
        stride, place = self.axes.strides[one][-1] if here.i is not None else 0, places[one]
        if one in self.jumps.late:
            jumps, dtype = self._jumps(one, places, here), self.dtype(one.base)
            return from_memory(self.f, jumping.load(self.f, place, jumps, stride, stored(dtype), here), dtype)
        if here.i is not None and stride == 0:
            number, spread = self.fixed[one]
            return spread if here.lanes else number
        dtype = self.dtype(one.base)
        return from_memory(self.f, vectors.load(self.f, place, stride, stored(dtype), here), dtype)

    def _store(self, key: Any, value: Value, places: Places, here: Here) -> None:
        stride = self.axes.strides[key][-1] if here.i is not None else 0
        vectors.store(self.f, to_memory(self.f, value), places[key], stride, here)


def _access(key: Any) -> Any:
    return key.access if isinstance(key, _Region) else key


def _moving(one: Access) -> set[int]:
    """The axes along which numbers change that say where an entry lies."""
    return {k for number, _ in one.by for k, stride in enumerate(number.strides) if stride}


def _inner(task: Looping) -> tuple[np.dtype[Any], ...]:
    return task.inner if isinstance(task, Point) else ()
