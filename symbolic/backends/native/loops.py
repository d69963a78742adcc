"""How are loops over the entries of several values written? Axes joined where memory allows, the last one in vectors.

What a nest reads or writes comes to its function as pointers, one for each access, so that nests that are alike are
one function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from symbolic.backends.native import pointwise
from symbolic.backends.native.access import Sizes, in_order
from symbolic.backends.native.lowering import FLAG, Check, Point, Reduce, Write
from symbolic.backends.native.nests import Access, Nest, Step
from symbolic.backends.native.pointwise import element, stored
from symbolic.backends.native.text import BITS, Function, Module, Value

_CHUNK = 128
"""Vectors that are added up before their sum joins the others': rounding errors stay small in long sums."""

IDENTITY = {"add": 0.0, "multiply": 1.0, "maximum": float("-inf"), "minimum": float("inf"), "any": 0.0, "all": 1.0}
_COMBINE = {"any": "logical_or", "all": "logical_and"}


class Pointer(NamedTuple):
    """What a nest's function is given: where a value lies, from which entry on, and how far its rows are apart."""

    base: int
    offset: int
    row: int = 0


class _Region(NamedTuple):
    """Where a part of a value is written, as a key beside where it is read."""

    access: Access


class Axes(NamedTuple):
    """The loops of a nest: their sizes, and for each access its strides."""

    sizes: Sizes
    strides: dict[Any, Sizes]


def arranged(domain: Sizes, accesses: dict[Any, Sizes]) -> Axes:
    """The axes in the order of the loops, joined where every access walks two of them as one."""
    order = list(range(len(domain)))
    if order:
        inner = max(order, key=lambda k: (sum(_worth(strides[k]) for strides in accesses.values()), k))
        order.remove(inner)
        order.append(inner)
    sizes: list[int] = []
    strides: dict[Any, list[int]] = {key: [] for key in accesses}
    for k in order:
        joins = bool(sizes) and all(strides[key][-1] == one[k] * domain[k] for key, one in accesses.items())
        if joins:
            sizes[-1] *= domain[k]
            for key, one in accesses.items():
                strides[key][-1] = one[k]
        else:
            sizes.append(domain[k])
            for key, one in accesses.items():
                strides[key].append(one[k])
    return Axes(tuple(sizes), {key: tuple(one) for key, one in strides.items()})


def _worth(stride: int) -> float:
    """How well vectors can be made along an axis of this stride."""
    return 2.0 if stride == 1 else 1.0 if stride == 0 else -3.0


class Writer:
    """Writes one nest as a function of the module."""

    def __init__(
        self, module: Module, bits: int, nest: Nest, dtype: Callable[[int], np.dtype[Any]], constants: dict[int, Any]
    ) -> None:
        self.module, self.bits, self.nest, self.dtype, self.constants = module, bits, nest, dtype, constants
        self.reads: dict[Access, None] = {}
        self.writes: dict[int, Sizes] = {}
        self.regions: dict[Access, None] = {}
        for step in nest.steps:
            for one in step.operands:
                if not nest.holds(one) and not self.is_number(one.base):
                    self.reads[one] = None
            target = step.task.target
            if isinstance(step.task, Check):
                continue
            if step.region is not None:
                self.regions[step.region] = None
            elif isinstance(step.task, Reduce):
                self.writes[target] = _kept_strides(nest.domain, step.axes)
            elif target in nest.stored:
                self.writes[target] = in_order(nest.domain)
        accesses: dict[Any, Sizes] = {one: one.strides for one in self.reads}
        accesses.update({_Region(one): one.strides for one in self.regions})
        accesses.update(self.writes)
        self.axes = arranged(nest.domain, accesses)
        self.pointers = [
            Pointer(one.base, one.offset, one.strides[0] if one.strides else 0) for one in (*self.reads, *self.regions)
        ]
        self.pointers += [Pointer(base, 0, strides[0] if strides else 0) for base, strides in self.writes.items()]
        self.checks = any(isinstance(step.task, Check) for step in nest.steps)
        if self.checks:
            self.pointers.append(Pointer(FLAG, 0))

    def is_number(self, base: int) -> bool:
        value = self.constants.get(base)
        return value is not None and np.ndim(value) == 0

    # ------------------------------------------------------------------ the function
    def write(self, name: str) -> Function:
        self.f = f = self.module.function(name, ["ptr"] * len(self.pointers), private=True)
        given = iter(f.arguments)
        self.place: dict[Any, Value] = {one: next(given) for one in self.reads}
        self.place.update({_Region(one): next(given) for one in self.regions})
        self.place.update({base: next(given) for base in self.writes})
        sizes = self.axes.sizes
        widest = max([BITS[stored(self.dtype(one.base))] for one in self.reads] or [8])
        for step in self.nest.steps:
            widest = max(widest, *[BITS[element(kind)] for kind in (*_inner(step), step.task.dtype)])
        self.lanes = min(self.bits // max(widest, 32), 16) if sizes else 0
        self.depth: dict[int, int] = {}
        self.sums: dict[int, list[Value]] = {}
        for step in self._reductions():
            strides = self.axes.strides[step.task.target]
            depth = len(sizes)
            while depth and strides[depth - 1] == 0:
                depth -= 1
            self.depth[step.task.target] = depth
            if any(stride == 0 for stride in strides[:depth]) and step.task.target not in self.nest.continued:
                self._fill(step)
        self.odd: dict[str, Value] = {}  # for each kind of numbers a sum that is NaN if one of them was not finite
        for kind in {element(step.task.dtype) for step in self.nest.steps if isinstance(step.task, Check)}:
            self.odd[kind] = f.variable(f.constant(kind, 0.0, self.lanes))
        self._level(0, dict(self.place))
        if self.checks:
            self._tell(f.arguments[-1])
        f.give()
        return f

    def _check(self, step: Step, value: Value, mask: Value | None) -> None:
        f = self.f
        nothing = f.sub(value, value, flags="")  # 0, or NaN
        if mask is not None:
            nothing = f.select(mask, nothing, f.like(value, 0.0))
        place = self.odd[value.element]
        old = f.get(place, value.element, self.lanes)
        if value.lanes or not self.lanes:
            f.put(f.add(old, nothing, flags=""), place)
        else:
            f.put(f.insert(old, 0, f.add(f.lane(old, 0), nothing, flags="")), place)

    def _tell(self, flag: Value) -> None:
        """Set the flag if anything was not finite."""
        f = self.f
        for kind, place in self.odd.items():
            total = f.total(f.get(place, kind, self.lanes))
            found = f.convert("zext", f.compare("uno", total, total), "i64")
            f.store(f.bits("or", f.load(flag, "i64"), found), flag)

    def _reductions(self) -> list[Step]:
        return [step for step in self.nest.steps if isinstance(step.task, Reduce)]

    def _fill(self, step: Step) -> None:
        """The result's entries before anything has come to them."""
        f, kind = self.f, self._kind(step)
        count = prod(size for k, size in enumerate(self.nest.domain) if k not in step.axes)
        lanes = self.bits // BITS[kind] if count >= self.bits // BITS[kind] else 0
        start = f.constant(kind, IDENTITY[step.task.how], lanes)  # type: ignore[union-attr]  # a reduction
        place = self.place[step.task.target]
        whole = count - count % lanes if lanes else 0
        if whole:
            with f.loop(f.index(0), f.index(whole), lanes) as i:
                f.store(start, f.at(place, i, kind))
        if whole < count:
            with f.loop(f.index(whole), f.index(count)) as i:
                f.store(f.constant(kind, IDENTITY[step.task.how]), f.at(place, i, kind))  # type: ignore[union-attr]

    def _kind(self, step: Step) -> str:
        return stored(step.task.dtype)

    # ------------------------------------------------------------------ loops
    def _level(self, depth: int, places: dict[Any, Value]) -> None:
        """The loops from a depth on, within those before."""
        f, sizes = self.f, self.axes.sizes
        starting = [step for step in self._reductions() if self.depth[step.task.target] == depth]
        for step in starting:
            if depth < len(sizes):
                unroll = self._unroll() if len(sizes) - 1 >= depth else 1
                start = self._start(step)
                self.sums[step.task.target] = [f.variable(start) for _ in range(unroll)]
        if depth == len(sizes):
            self._body(places, None, None, 0, 0)
        elif depth == len(sizes) - 1:
            self._inner(places)
        else:
            with f.loop(f.index(0), f.index(sizes[depth])) as i:
                self._level(depth + 1, self._moved(places, depth, i))
        if depth < len(sizes):
            for step in starting:
                self._finish(step, places)

    def _moved(self, places: dict[Any, Value], depth: int, i: Value) -> dict[Any, Value]:
        f, moved = self.f, dict(places)
        for key, strides in self.axes.strides.items():
            if strides[depth]:
                step = f.mul(i, f.index(strides[depth])) if strides[depth] != 1 else i
                moved[key] = f.at(places[key], step, self._memory(key))
        return moved

    def _memory(self, key: Any) -> str:
        key = key.access if isinstance(key, _Region) else key
        return stored(self.dtype(key.base if isinstance(key, Access) else key))

    def _start(self, step: Step) -> Value:
        kind = element(step.task.dtype)
        return self.f.constant(kind, IDENTITY[step.task.how], self.lanes)  # type: ignore[union-attr]  # a reduction

    def _unroll(self) -> int:
        """How many vectors at a time: short bodies leave the processor idle otherwise."""
        heavy = sum(_weight(step) for step in self.nest.steps)
        size = self.axes.sizes[-1] // self.lanes
        for count, limit in ((4, 8), (2, 16)):
            if heavy <= limit and size >= count:
                return count
        return 1

    def _inner(self, places: dict[Any, Value]) -> None:
        """The innermost loop, in vectors; what is left over by a mask, or one by one."""
        f, n, lanes = self.f, self.axes.sizes[-1], self.lanes
        depth = len(self.axes.sizes) - 1
        self.fixed = {
            one: self._read_fixed(one, places[one]) for one in self.reads if self.axes.strides[one][depth] == 0
        }
        unroll = self._unroll()
        stride = lanes * unroll
        at = 0
        whole = n // stride
        chunk = _CHUNK * stride
        added = [
            step for step in self._reductions() if step.task.how == "add" and self.depth[step.task.target] <= depth
        ]  # type: ignore[union-attr]
        if added and whole > 2 * _CHUNK:
            count = n // chunk
            totals = {step.task.target: self.sums[step.task.target] for step in added}
            with f.loop(f.index(0), f.index(count * chunk), chunk) as start:
                for step in added:
                    self.sums[step.task.target] = [f.variable(self._start(step)) for _ in range(unroll)]
                    # a variable is filled where it is made, each time
                with f.loop(start, f.add(start, f.index(chunk)), stride) as i:
                    self._unrolled(places, i, unroll)
                for step in added:
                    for total, part in zip(totals[step.task.target], self.sums[step.task.target], strict=True):
                        self._into(total, self._get(part, step), step)
            self.sums.update(totals)
            at = count * chunk
            whole -= count * _CHUNK
        if whole:
            if whole == 1:
                self._unrolled(places, f.index(at), unroll)
            else:
                with f.loop(f.index(at), f.index(at + whole * stride), stride) as i:
                    self._unrolled(places, i, unroll)
            at += whole * stride
        while n - at >= lanes:
            self._body(places, f.index(at), None, lanes, 0)
            at += lanes
        if at < n:
            self._rest(places, at, n)

    def _unrolled(self, places: dict[Any, Value], i: Value, unroll: int) -> None:
        f = self.f
        for k in range(unroll):
            step = i if k == 0 else f.add(i, f.index(k * self.lanes))
            self._body(places, step, None, self.lanes, k)

    def _rest(self, places: dict[Any, Value], at: int, n: int) -> None:
        f = self.f
        if self.bits >= 256:
            ones = ", ".join(f"i1 {'true' if k < n - at else 'false'}" for k in range(self.lanes))
            self._body(places, f.index(at), Value("i1", self.lanes, f"<{ones}>"), self.lanes, 0)
            return
        for k in range(at, n):
            self._body(places, f.index(k), None, 0, 0)

    # ------------------------------------------------------------------ one vector
    def _read_fixed(self, one: Access, place: Value) -> tuple[Value, Value]:
        """A value that is the same for the whole innermost loop: the number, and it in every lane."""
        f, dtype = self.f, self.dtype(one.base)
        number = f.load(place, stored(dtype))
        if dtype.kind == "b":
            number = f.compare("ne", number, f.like(number, 0))
        return number, f.splat(number, self.lanes)

    def _body(self, places: dict[Any, Value], i: Value | None, mask: Value | None, lanes: int, part: int) -> None:
        """All steps for one vector of entries (or one entry, without lanes)."""
        f = self.f
        self.seen: dict[Any, Value] = {}
        for step in self.nest.steps:
            task = step.task
            if isinstance(task, Reduce):
                value = pointwise.cast(
                    f,
                    self._value(step.operands[0], places, i, mask, lanes),
                    self.dtype(step.operands[0].base),
                    task.dtype,
                )
                self._reduce(step, value, places, i, mask, part)
                continue
            if isinstance(task, Check):
                self._check(step, self._value(step.operands[0], places, i, mask, lanes), mask)
                continue
            if isinstance(task, Write):
                self._region(step, self._value(step.operands[0], places, i, mask, lanes), places, i, mask)
                continue
            values = []
            for one, inner in zip(step.operands, task.inner, strict=True):
                if self.is_number(one.base) and not self.nest.holds(one):
                    number = np.asarray(self.constants[one.base]).astype(inner)
                    values.append(f.constant(element(inner), number.item(), lanes))
                else:
                    value = self._value(one, places, i, mask, lanes)
                    values.append(pointwise.cast(f, value, self.dtype(one.base), inner))
            if task.function.startswith("="):
                result = f.constant(element(task.dtype), float(task.function[1:]), lanes)
            elif task.function == "cast":
                result = pointwise.cast(f, values[0], task.inner[0], task.dtype)
            else:
                result = pointwise.write(f, task.function, values, task.inner)
            self.seen[task.target] = result
            if task.target in self.writes:
                self._write(task.target, result, places, i, mask)

    def _region(self, step: Step, value: Value, places: dict[Any, Value], i: Value | None, mask: Value | None) -> None:
        """Write, or add, into a part of a value."""
        key = _Region(step.region)  # type: ignore[arg-type]  # a `Write` has one
        assert isinstance(step.task, Write)
        if step.task.adds:
            stride = self.axes.strides[key][-1] if i is not None else 0
            kind = stored(step.task.dtype)
            old = (
                self.f.load(places[key], kind)
                if i is None
                else self._vector(places[key], i, kind, stride, mask, value.lanes)
            )
            value = self._sum(old, value, step.task.dtype)
        self._write(key, value, places, i, mask)

    def _sum(self, a: Value, b: Value, dtype: Any) -> Value:
        return pointwise.write(self.f, "add", [a, b], (dtype, dtype))

    def _value(self, one: Access, places: dict[Any, Value], i: Value | None, mask: Value | None, lanes: int) -> Value:
        if self.nest.holds(one):
            return self.seen[one.base]
        if self.is_number(one.base):
            dtype = self.dtype(one.base)
            return self.f.constant(element(dtype), np.asarray(self.constants[one.base]).item(), lanes)
        if one not in self.seen:
            self.seen[one] = self._load(one, places[one], i, mask, lanes)
        return self.seen[one]

    def _load(self, one: Access, place: Value, i: Value | None, mask: Value | None, lanes: int) -> Value:
        f, dtype = self.f, self.dtype(one.base)
        kind = stored(dtype)
        if i is None:
            value = f.load(place, kind)
        else:
            stride = self.axes.strides[one][-1]
            if stride == 0:
                number, spread = self.fixed[one]
                return spread if lanes else number
            value = self._vector(place, i, kind, stride, mask, lanes)
        return f.compare("ne", value, f.like(value, 0)) if dtype.kind == "b" else value

    def _vector(self, place: Value, i: Value, kind: str, stride: int, mask: Value | None, lanes: int) -> Value:
        f = self.f
        if not lanes:
            return f.load(f.at(place, f.mul(i, f.index(stride)) if stride != 1 else i, kind), kind)
        if stride == 1:
            start = f.at(place, i, kind)
            if mask is None:
                return f.load(start, kind, lanes)
            return f.load_some(start, mask, kind, lanes, f.constant(kind, 0, lanes))
        value = f.constant(kind, 0, lanes)
        for k in range(lanes):
            if mask is not None and mask.name.split(", ")[k].endswith("false"):
                continue
            entry = f.mul(f.add(i, f.index(k)), f.index(stride))
            value = f.insert(value, k, f.load(f.at(place, entry, kind), kind))
        return value

    def _write(self, base: Any, value: Value, places: dict[Any, Value], i: Value | None, mask: Value | None) -> None:
        f = self.f
        if value.element == "i1":
            value = f.convert("zext", value, "i8")
        place = places[base]
        if i is None:
            f.store(value, place)
            return
        stride = self.axes.strides[base][-1]
        if stride == 1 or not value.lanes:
            start = f.at(place, f.mul(i, f.index(stride)) if stride != 1 else i, value.element)
            if mask is None:
                f.store(value, start)
            else:
                f.store_some(value, start, mask)
            return
        for k in range(value.lanes):
            if mask is None or not mask.name.split(", ")[k].rstrip(">").endswith("false"):
                entry = f.mul(f.add(i, f.index(k)), f.index(stride))
                f.store(f.lane(value, k), f.at(place, entry, value.element))

    # ------------------------------------------------------------------ reductions
    def _reduce(
        self, step: Step, value: Value, places: dict[Any, Value], i: Value | None, mask: Value | None, part: int
    ) -> None:
        f, task = self.f, step.task
        assert isinstance(task, Reduce)
        if self.depth[task.target] == len(self.axes.sizes):  # the innermost axis stays
            stride = self.axes.strides[task.target][-1] if self.axes.sizes else 0
            assert i is not None
            old = self._vector(places[task.target], i, stored(task.dtype), stride, mask, value.lanes)
            if task.dtype.kind == "b":
                old = f.compare("ne", old, f.like(old, 0))
            self._write(task.target, self._combined(task, old, value), places, i, mask)
            return
        if mask is not None:
            value = f.select(mask, value, f.like(value, IDENTITY[task.how]))
        place = self.sums[task.target][part]
        if value.lanes or not self.lanes:
            self._into(place, value, step)
            return
        total = self._get(place, step)  # one entry, beside vectors
        first = self._combined(task, f.lane(total, 0), value)
        f.put(f.insert(total, 0, first), place)

    def _combined(self, task: Reduce, a: Value, b: Value) -> Value:
        return pointwise.write(self.f, _COMBINE.get(task.how, task.how), [a, b], (task.dtype, task.dtype))

    def _into(self, place: Value, value: Value, step: Step) -> None:
        assert isinstance(step.task, Reduce)
        self.f.put(self._combined(step.task, self._get(place, step), value), place)

    def _get(self, place: Value, step: Step) -> Value:
        return self.f.get(place, element(step.task.dtype), self.lanes)

    def _finish(self, step: Step, places: dict[Any, Value]) -> None:
        """The lanes of all sums brought together, and written."""
        f, task = self.f, step.task
        assert isinstance(task, Reduce)
        parts = [self._get(one, step) for one in self.sums[task.target]]
        while len(parts) > 1:
            parts = [self._combined(task, a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        total = self._across(task, parts[0])
        depth = self.depth[task.target]
        goes_on = task.target in self.nest.continued
        if goes_on or any(stride == 0 for stride in self.axes.strides[task.target][:depth]):
            old = f.load(places[task.target], stored(task.dtype))
            if task.dtype.kind == "b":
                old = f.compare("ne", old, f.like(old, 0))
            total = self._combined(task, old, total)
        if total.element == "i1":
            total = f.convert("zext", total, "i8")
        f.store(total, places[task.target])

    def _across(self, task: Reduce, value: Value) -> Value:
        lanes = value.lanes
        if not lanes:
            return value
        if task.how == "add":
            return self.f.total(value)
        while lanes > 1:
            half = lanes // 2
            low = self.f.shuffle(value, value, range(half))
            high = self.f.shuffle(value, value, range(half, lanes))
            value, lanes = self._combined(task, low, high), half
        return self.f.lane(value, 0)


def _kept_strides(domain: Sizes, axes: Sequence[int]) -> Sizes:
    kept = iter(in_order([size for k, size in enumerate(domain) if k not in axes]))
    return tuple([0 if k in axes else next(kept) for k in range(len(domain))])


def _inner(step: Step) -> tuple[np.dtype[Any], ...]:
    return step.task.inner if isinstance(step.task, Point) else ()


def _weight(step: Step) -> int:
    """About how many instructions a step is."""
    return 12 if isinstance(step.task, Point) and step.task.function not in pointwise.BASIC else 1


__all__ = ["Pointer", "Writer"]
