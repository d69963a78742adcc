"""Which nests are run block by block, so that what one leaves in the cache is there for the next?

Nests that follow each other over the same first axis, and sums of products whose results have it (convolutions image
by image), are run for a few rows at a time where they read of each other's values only the row that they are at.
Values that nobody else reads need memory for these rows only.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from symbolic.backends.native.access import Sizes
from symbolic.backends.native.contract import Tiles
from symbolic.backends.native.host import Host
from symbolic.backends.native.laying import writer
from symbolic.backends.native.lowering import Contract, Lowered, Reduce, Write
from symbolic.backends.native.matrices import matrices
from symbolic.backends.native.nests import Access, Nest, Schedule, Stage, Step
from symbolic.backends.native.text import Module

_WORTH = 1 << 18
"""Bytes of values between nests below which they stay in the cache anyway."""
_ROOM = 1 << 18
"""Bytes of all values of one block."""
_LONG = 1 << 14
"""Products below which a sum of them is no part of that."""

_PARTS = 8
"""Blocks, at least, as far as there are rows: several threads have about the same then."""
_LEAST = 64
"""Entries of one axis that are worth a call, even where the second cache does not hold all values of so many."""
_VECTORS = (64, 32, 16, 8)
"""Entries that are whole vectors, perhaps several."""


class Group(NamedTuple):
    """Nests from one stage to another, and how many rows of how many they do at a time."""

    first: int
    last: int
    rows: int
    block: int
    kept: frozenset[int]
    """Values of which only a block lies in memory."""


def groups(lowered: Lowered, schedule: Schedule, outputs: Sequence[int], host: Host) -> list[Group]:
    """What is run in blocks, in order."""
    found: list[Group] = []
    stages, last = schedule.stages, schedule.last
    at = 0
    while at < len(stages):
        members = _Members(lowered, host)
        stop = at
        while stop < len(stages) and members.takes(stages[stop]):
            stop += 1
        if stop > at + 1:
            group = members.group(at, stop - 1, last, set(outputs))
            if group is not None:
                found.append(group)
        at = max(stop, at + 1)
    return found


def by_rows(module: Module, host: Host, task: Contract) -> Tiles | None:
    """What writes a sum of products for some of its rows; `None` where it is not cut there."""
    if task.domain[0] < 2 or 0 in task.axes or len(task.operands) != 2 or task.region or prod(task.domain) < _LONG:
        return None
    if matrices(task) is not None:
        return None
    found = writer(module, host, task)
    return found if isinstance(found, Tiles) and (0, 1) in found.cuts() else None


class _Members:
    """Nests, and sums of products, that may be run block by block together."""

    def __init__(self, lowered: Lowered, host: Host) -> None:
        self.lowered, self.host = lowered, host
        self.rows = 0
        self.nests: list[Nest] = []
        self.products: list[Contract] = []
        self.made: dict[int, int] = {}  # a value, and how far apart its rows are
        self.summed: set[int] = set()  # values that are only there when all rows are done
        self.read: set[int] = set()
        self.parted: set[int] = set()  # values that are written into, and are there before and after

    def takes(self, stage: Stage) -> bool:
        if isinstance(stage, Contract):
            return self._takes_product(stage)
        if not isinstance(stage, Nest) or not stage.domain:
            return False
        rows = self.rows or stage.domain[0]
        if stage.domain[0] != rows or rows < 2 or not all(self._fits(stage, step) for step in stage.steps):
            return False
        self.rows = rows
        self.nests.append(stage)
        self.read.update(stage.reads())
        for step in stage.steps:
            sizes = [n for k, n in enumerate(stage.domain) if k not in step.axes]
            if step.region is not None:
                self.made[step.task.target] = step.region.strides[0]
                self.parted.add(step.task.target)
            elif 0 in step.axes:
                self.summed.add(step.task.target)
            else:
                self.made[step.task.target] = prod(sizes[1:])
        return True

    def _takes_product(self, task: Contract) -> bool:
        rows = self.rows or task.domain[0]
        if task.domain[0] != rows or by_rows(Module(self.host.fma), self.host, task) is None:
            return False
        if not all(self._is_own_row(task.domain, Access(one.base, one.offset, one.strides)) for one in task.operands):
            return False
        self.rows = rows
        self.products.append(task)
        self.read.update(one.base for one in task.operands)
        self.made[task.target] = prod(task.domain[k] for k in range(1, len(task.domain)) if k not in task.axes)
        return True

    def _fits(self, nest: Nest, step: Step) -> bool:
        if step.region is not None and not self._is_part_of_row(nest.domain, step):
            return False
        return all(nest.holds(one) or self._is_own_row(nest.domain, one) for one in (*step.operands, *step.numbers))

    def _is_part_of_row(self, domain: Sizes, step: Step) -> bool:
        """Whether what is written into is a value of as many rows, of each of which a part is written."""
        one, task = step.region, step.task
        assert one is not None and isinstance(task, Write)
        row, rest = divmod(self.lowered.extent(one.base), domain[0])
        if task.adds or one.by or rest or any(one.base in some for some in (self.made, self.summed, self.read)):
            return False
        return self._is_within(domain, one, row)

    def _is_within(self, domain: Sizes, one: Access, row: int) -> bool:
        reach = sum((n - 1) * stride for n, stride in zip(domain[1:], one.strides[1:], strict=True))
        return one.strides[0] == row and min(one.strides) >= 0 and one.offset + reach < row

    def _is_own_row(self, domain: Sizes, one: Access) -> bool:
        if one.base in self.summed:
            return False
        if one.base not in self.made:
            return True
        return not one.by and self._is_within(domain, one, self.made[one.base])

    def group(self, first: int, stop: int, last: dict[int, int], outputs: set[int]) -> Group | None:
        stored = {one for nest in self.nests for one in nest.stored} | {one.target for one in self.products}
        own = frozenset(
            one
            for one in stored
            if one in self.made and one not in outputs and one not in self.parted and last.get(one, stop) <= stop
        )
        if sum(map(self._bytes, own)) < _WORTH:
            return None
        bases = {one.base for nest in self.nests for step in nest.steps for one in step.operands if not nest.holds(one)}
        bases |= {one.base for task in self.products for one in task.operands if one.strides[0]}
        bases |= {one for one in stored if one in self.made}
        row = sum(self._bytes(one) for one in bases) // self.rows
        least = _LEAST if all(len(nest.domain) == 1 for nest in self.nests) else 1
        block = min(self.rows, max(least, _ROOM // max(row, 1)))
        if block == self.rows:
            return None
        even = -(-self.rows // max(-(-self.rows // block), min(self.rows // least, _PARTS)))
        if all(len(nest.domain) == 1 for nest in self.nests):  # rows are entries: as many as fill vectors
            even = next((even - even % many for many in _VECTORS if even >= many), even)
        return Group(first, stop, self.rows, even, own)

    def _bytes(self, base: int) -> int:
        spec = self.lowered.spec(base)
        assert spec.dtype is not None
        return self.lowered.extent(base) * spec.dtype.itemsize


def rest(nest: Nest, rows: int) -> Nest:
    """The same nest over the rows that are left over, once: it is not worth long code."""
    found = part(nest, rows)
    found.most = 1
    return found


def part(nest: Nest, rows: int) -> Nest:
    """The same nest over fewer rows."""
    found = Nest((rows, *nest.domain[1:]))
    found.steps, found.made, found.stored = nest.steps, nest.made, nest.stored
    found.given, found.most = nest.given, nest.most
    found.continued = {step.task.target for step in nest.steps if isinstance(step.task, Reduce) and 0 in step.axes}
    return found
