"""Which nests are run block by block, so that what one leaves in the cache is there for the next?

Nests that follow each other over the same first axis, and read of each other's values only the row that they are at,
are run for a few rows at a time. Values that nobody else reads need memory for these rows only.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from symbolic.backends.native.access import Sizes
from symbolic.backends.native.lowering import Lowered, Reduce, Write
from symbolic.backends.native.nests import Access, Nest, Stage, Step

_WORTH = 1 << 18
"""Bytes of values between nests below which they stay in the cache anyway."""
_ROOM = 1 << 18
"""Bytes of all values of one block."""

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


def groups(lowered: Lowered, stages: Sequence[Stage], last: dict[int, int], outputs: Sequence[int]) -> list[Group]:
    """What is run in blocks, in order."""
    found: list[Group] = []
    at = 0
    while at < len(stages):
        members = _Members(lowered)
        stop = at
        while stop < len(stages) and members.takes(stages[stop]):
            stop += 1
        if stop > at + 1:
            group = members.group(at, stop - 1, last, set(outputs))
            if group is not None:
                found.append(group)
        at = max(stop, at + 1)
    return found


class _Members:
    """Nests that may be run block by block together."""

    def __init__(self, lowered: Lowered) -> None:
        self.lowered = lowered
        self.rows = 0
        self.nests: list[Nest] = []
        self.made: dict[int, int] = {}  # a value, and how far apart its rows are
        self.summed: set[int] = set()  # values that are only there when all rows are done

    def takes(self, stage: Stage) -> bool:
        if not isinstance(stage, Nest) or not stage.domain or any(isinstance(step.task, Write) for step in stage.steps):
            return False
        rows = self.rows or stage.domain[0]
        if stage.domain[0] != rows or rows < 2 or not all(self._fits(stage, step) for step in stage.steps):
            return False
        self.rows = rows
        self.nests.append(stage)
        for step in stage.steps:
            sizes = [n for k, n in enumerate(stage.domain) if k not in step.axes]
            if 0 in step.axes:
                self.summed.add(step.task.target)
            else:
                self.made[step.task.target] = prod(sizes[1:])
        return True

    def _fits(self, nest: Nest, step: Step) -> bool:
        return all(nest.holds(one) or self._is_own_row(nest.domain, one) for one in (*step.operands, *step.numbers))

    def _is_own_row(self, domain: Sizes, one: Access) -> bool:
        if one.base in self.summed:
            return False
        if one.base not in self.made:
            return True
        if one.by:
            return False
        row = self.made[one.base]
        reach = sum((n - 1) * stride for n, stride in zip(domain[1:], one.strides[1:], strict=True))
        return one.offset == 0 and one.strides[0] == row and min(one.strides) >= 0 and reach < row

    def group(self, first: int, stop: int, last: dict[int, int], outputs: set[int]) -> Group | None:
        own = frozenset(
            one
            for nest in self.nests
            for one in nest.stored
            if one in self.made and one not in outputs and last.get(one, stop) <= stop
        )
        if sum(map(self._bytes, own)) < _WORTH:
            return None
        bases = {one.base for nest in self.nests for step in nest.steps for one in step.operands if not nest.holds(one)}
        bases |= {one for nest in self.nests for one in nest.stored if one in self.made}
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
