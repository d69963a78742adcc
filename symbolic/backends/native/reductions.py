"""How are entries brought together along axes? In registers as long as they belong to one entry of the result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from symbolic.backends.native import vectors
from symbolic.backends.native.axes import Axes
from symbolic.backends.native.lowering import Reduce
from symbolic.backends.native.pointwise import element, from_memory, stored, to_memory, write
from symbolic.backends.native.text import BITS, Function, Value
from symbolic.backends.native.vectors import Here

IDENTITY = {"add": 0.0, "multiply": 1.0, "maximum": float("-inf"), "minimum": float("inf"), "any": 0.0, "all": 1.0}
"""What each reduction starts from."""
_COMBINE = {"any": "logical_or", "all": "logical_and"}


class Reduction:
    """One reduction of a nest that is being written. Within the loops from `depth` on its sums are in registers."""

    adds: bool
    depth: int
    f: Function
    is_filled: bool
    lanes: int
    strides: Any
    task: Reduce

    def __init__(self, f: Function, task: Reduce, axes: Axes, lanes: int, goes_on: bool) -> None:
        self.f, self.task, self.lanes = f, task, lanes
        self.strides = axes.strides[task.target]
        self.depth = len(axes.sizes)
        while self.depth and self.strides[self.depth - 1] == 0:
            self.depth -= 1
        returns = any(stride == 0 for stride in self.strides[: self.depth])
        self.is_filled = returns and not goes_on  # with what it starts from, before the loops
        self.adds = returns or goes_on  # to what lies in memory
        self.sums: list[Value] = []  # one for each vector that is added up beside others

    @property
    def stays(self) -> bool:
        """Whether each entry of the innermost loop belongs to another one of the result."""
        return self.depth == len(self.strides)

    def fill(self, place: Value, count: int, bits: int) -> None:
        """The result's entries before anything has come to them."""
        f, kind = self.f, stored(self.task.dtype)
        lanes = bits // BITS[kind]
        whole = count - count % lanes
        if whole:
            start = f.constant(kind, IDENTITY[self.task.how], lanes)
            with f.loop(f.index(0), f.index(whole), lanes) as i:
                f.store(start, f.at(place, i, kind))
        if whole < count:
            with f.loop(f.index(whole), f.index(count)) as i:
                f.store(f.constant(kind, IDENTITY[self.task.how]), f.at(place, i, kind))

    def begin(self, count: int) -> list[Value]:
        """So many sums that have nothing in them yet; those from before."""
        before, f = self.sums, self.f
        start = f.constant(element(self.task.dtype), IDENTITY[self.task.how], self.lanes)
        self.sums = [f.variable(start) for _ in range(count)]
        return before

    def join(self, totals: list[Value]) -> None:
        """The sums of a part to those of the whole, with which it goes on."""
        for total, part in zip(totals, self.sums, strict=True):
            self._into(total, self._get(part))
        self.sums = totals

    def take(self, value: Value, place: Value, here: Here) -> None:
        """Entries of the operand."""
        f, task = self.f, self.task
        if self.stays:
            stride = self.strides[-1] if self.strides else 0
            old = from_memory(f, vectors.load(f, place, stride, stored(task.dtype), here), task.dtype)
            vectors.store(f, to_memory(f, self._combined(old, value)), place, stride, here)
            return
        if here.mask is not None:
            value = f.select(here.mask, value, f.like(value, IDENTITY[task.how]))
        total = self.sums[here.part]
        if value.lanes or not self.lanes:
            self._into(total, value)
        else:  # one entry, beside vectors
            old = self._get(total)
            f.put(f.insert(old, 0, self._combined(f.lane(old, 0), value)), total)

    def finish(self, place: Value) -> None:
        """The lanes of all sums brought together, and written."""
        f, task = self.f, self.task
        parts = [self._get(one) for one in self.sums]
        while len(parts) > 1:
            parts = [self._combined(a, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
        total = self._across(parts[0])
        if self.adds:
            total = self._combined(from_memory(f, f.load(place, stored(task.dtype)), task.dtype), total)
        f.store(to_memory(f, total), place)

    def _across(self, value: Value) -> Value:
        lanes = value.lanes
        if not lanes:
            return value
        if self.task.how == "add":
            return self.f.total(value)
        while lanes > 1:
            half = lanes // 2
            low = self.f.shuffle(value, value, range(half))
            high = self.f.shuffle(value, value, range(half, lanes))
            value, lanes = self._combined(low, high), half
        return self.f.lane(value, 0)

    def _combined(self, a: Value, b: Value) -> Value:
        dtype, how = self.task.dtype, self.task.how
        return write(self.f, _COMBINE.get(how, how), [a, b], (dtype, dtype))

    def _get(self, total: Value) -> Value:
        return self.f.get(total, element(self.task.dtype), self.lanes)

    def _into(self, total: Value, value: Value) -> None:
        self.f.put(self._combined(self._get(total), value), total)


class Oddities:
    """Whether any entry that is looked at is not finite, or false.

    For each kind of numbers, and bit of the flag, a sum of 0 · x, which is 0 or NaN; for Booleans whether all are true.
    """

    f: Function
    lanes: int
    sums: dict[tuple[str, int], Value]

    def __init__(self, f: Function, kinds: Iterable[tuple[str, int]], lanes: int) -> None:
        self.f, self.lanes = f, lanes
        self.sums = {kind: f.variable(f.constant(kind[0], kind[0] == "i1", lanes)) for kind in kinds}

    def take(self, value: Value, bit: int, here: Here) -> None:
        f = self.f
        if value.element == "i1":
            self._all_true(value, bit, here)
            return
        nothing = f.sub(value, value, flags="")  # 0, or NaN
        if here.mask is not None:
            nothing = f.select(here.mask, nothing, f.like(value, 0.0))
        place = self.sums[value.element, bit]
        old = f.get(place, value.element, self.lanes)
        if value.lanes or not self.lanes:
            f.put(f.add(old, nothing, flags=""), place)
        else:
            f.put(f.insert(old, 0, f.add(f.lane(old, 0), nothing, flags="")), place)

    def _all_true(self, value: Value, bit: int, here: Here) -> None:
        f, place = self.f, self.sums["i1", bit]
        if here.mask is not None:
            value = f.select(here.mask, value, f.like(value, 1))
        old = f.get(place, "i1", self.lanes)
        if value.lanes or not self.lanes:
            f.put(f.bits("and", old, value), place)
        else:
            f.put(f.insert(old, 0, f.bits("and", f.lane(old, 0), value)), place)

    def tell(self, flag: Value) -> None:
        """Set the bits of the flag for what there was."""
        f = self.f
        for (kind, bit), place in self.sums.items():
            found = f.get(place, kind, self.lanes)
            if kind == "i1":
                wrong = f.invert(f.across("and", found))
            else:
                total = f.total(found)
                wrong = f.compare("uno", total, total)
            with f.when(wrong):  # whoever else does so just now may set another bit
                f.make("i64", 0, f"atomicrmw or {flag}, i64 {bit} monotonic, align 8")
