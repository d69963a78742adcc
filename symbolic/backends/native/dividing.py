"""How do the calls of a stage become calls that several threads share? Each share with memory and sums of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from symbolic.backends.native import shares
from symbolic.backends.native.contract import Tiles
from symbolic.backends.native.host import MOST_THREADS
from symbolic.backends.native.laying import WORKSPACE, Panels, writer
from symbolic.backends.native.loops import Pointer
from symbolic.backends.native.lowering import Contract, Reduce
from symbolic.backends.native.matrices import Matrices, matrices
from symbolic.backends.native.nests import Nest
from symbolic.backends.native.orders import WORK, Blocks, Call, Shared
from symbolic.backends.native.text import Function, Module

if TYPE_CHECKING:
    from symbolic.backends.native.making import Making


class Dividing:
    """What an assembly does for stages whose work is long."""

    module: Module
    native: Making
    needed: int
    segments: list[list[Call | Shared | Blocks]]

    @property
    def is_shared(self) -> bool:
        """Whether threads have something to share."""
        return self.native.host.shares and any(isinstance(one, Shared) for calls in self.segments for one in calls)

    def _needs(self, bytes: int) -> None:
        """A stage needs so many bytes while it runs."""
        self.needed = max(self.needed, bytes)

    @abstractmethod
    def _nest(self, nest: Nest, dtype: Callable[[int], Any] | None = None) -> Call:
        """A call of a nest."""

    @abstractmethod
    def _contract(self, task: Contract) -> Call:
        """A call of a sum of products."""

    @abstractmethod
    def _operands(self, task: Contract) -> list[Pointer]:
        """Where the operands of a sum of products are, its result, and what it begins with."""

    @abstractmethod
    def _once(self, key: Any, write: Callable[[str], Function]) -> int:
        """The number of a function, or of the one that is alike."""

    @abstractmethod
    def _written(self, found: Matrices) -> int:
        """The number of a function for a product."""

    def _loops(self, nest: Nest) -> Call | Shared:
        """A nest, whole or in shares."""
        lowered, host = self.native.lowered, self.native.host
        if not self.native.divides:
            return self._nest(nest)
        rows = shares.by_rows(nest)
        found = shares.of_nest(rows, lowered, host)
        if not found:
            return self._nest(nest)
        nest = rows
        places, after = self._sums([nest], len(found))
        calls = []
        for k, (start, count) in enumerate(found):
            call = self._nest(shares.of_rows(nest, count))
            moved = [one._replace(offset=one.offset + start * one.row) for one in call.pointers]
            calls.append(_with_sums(call._replace(pointers=moved), places, k))
        return Shared(calls, after)

    def _sums(self, nests: Sequence[Nest], count: int) -> tuple[dict[int, tuple[int, int]], list[Call]]:
        """Where the first share has sums of its own, how far apart the others', and what brings them together."""
        places: dict[int, tuple[int, int]] = {}
        after, at = [], 0
        for nest, step in [(one, step) for one in nests for step in one.steps]:
            task = step.task
            if isinstance(task, Reduce) and shares.is_own(task, step.axes):
                size, dtype = shares.room(task, step.axes, nest), task.dtype
                places[task.target] = at, size
                call = self._nest(shares.together(task, step.axes, nest, count), lambda _, dtype=dtype: dtype)  # type: ignore[misc]  # it is bound here
                spots = [Pointer(WORK, at) if one.base == shares.SUMS else one for one in call.pointers]
                after.append(call._replace(pointers=spots))
                at += size * count
        self._needs(at)
        return places, after

    def _product(self, task: Contract) -> Call | Shared:
        """A sum of products, whole or in shares."""
        host, found = self.native.host, matrices(task)
        if not self.native.divides:
            return self._contract(task)
        if found is None:
            return self._sum(task)
        calls = self._panels(task, shares.of_product(found.by(host), host)) if host.shares else []
        return Shared(calls) if calls else self._contract(task)

    def _panels(self, task: Contract, parts: Sequence[shares.Part]) -> list[Call]:
        left, right, out, *begun = self._operands(task)
        calls, room = [], max([0, *[-(-part.matrices.workspace // 64) * 64 for part in parts]])
        self._needs(room * MOST_THREADS)
        for found, *steps in parts:
            one, other, result, start = steps
            places = [(left, one), (right, other), (out, result)]
            moved = [pointer._replace(offset=pointer.offset + step) for pointer, step in places]
            rest = [pointer._replace(offset=pointer.offset + start) for pointer in begun]
            calls.append(Call(self._written(found), [*moved, Pointer(WORK, 0, each=room), *rest]))
        return calls

    def _sum(self, task: Contract) -> Call | Shared:
        """What is no product of matrices."""
        written = writer(self.module, self.native.host, task)
        if isinstance(written, Panels):
            terms = shares.of_terms(task, written.how, self.native.host)
            return self._terms(task, written, terms) if terms else self._parts(task, written)
        return self._contract(task) if written is None else self._parts(task, written)

    def _parts(self, task: Contract, whole: Tiles | Panels) -> Call | Shared:
        """Shares of the result."""
        sizes: list[tuple[Any, int, int]] = [(axis, whole.length(axis), even) for axis, even in whole.cuts()]  # type: ignore[arg-type]  # one of its own
        found = shares.of_cuts(task, sizes, self.native.host)
        if found is None:
            return self._contract(task)
        axis, parts = found
        room, calls = self._room(whole), []
        for start, count in parts:
            one = whole.part(axis, count)
            steps = zip(self._operands(task), whole.moves(axis), strict=True)
            moved = [place._replace(offset=place.offset + start * step) for place, step in steps]
            work = [Pointer(WORK, 0, each=room)] if room else []
            calls.append(Call(self._once(one.key, one.write), moved + work))
        self._needs(room * MOST_THREADS)
        return Shared(calls)

    def _terms(self, task: Contract, whole: Panels, parts: Sequence[shares.Share]) -> Shared:
        """Shares of the sum, whose sums lie behind what each thread needs."""
        first, *rest = whole.how.summed
        left, right, _ = self._operands(task)
        bytes = prod(size for k, size in enumerate(task.domain) if k not in task.axes) * task.dtype.itemsize
        room, apart, calls = self._room(whole), -(-bytes // 64) * 64, []
        sums = room * MOST_THREADS
        for k, (start, count) in enumerate(parts):
            how = whole.how._replace(summed=(first._replace(size=count), *rest))
            one = Panels(whole.module, self.native.host, task, how)
            steps = zip((left, right), whole.moves(first), strict=False)
            moved = [place._replace(offset=place.offset + start * step) for place, step in steps]
            places = [*moved, Pointer(WORK, sums + k * apart), Pointer(WORK, 0, each=room)]
            calls.append(Call(self._once(one.key, one.write), places))
        self._needs(sums + apart * len(calls))
        together = self._nest(shares.of_sums(task, len(calls), apart), lambda _: task.dtype)
        spots = [Pointer(WORK, sums) if one.base == shares.SUMS else one for one in together.pointers]
        return Shared(calls, [together._replace(pointers=spots)])

    def _room(self, whole: Tiles | Panels) -> int:
        """The bytes that a thread needs while it runs one."""
        return -(-WORKSPACE // 64) * 64 if isinstance(whole, Panels) else 0

    def _divided(self, every: Blocks, nests: Sequence[Nest]) -> Blocks | Shared:
        """Nests that run block by block, whole or in shares."""
        parts = self.native.divided(every.group)
        if not parts:
            return every
        places, after = self._sums(nests, len(parts))
        return Shared([self._some(every, k, one, len(parts), places) for k, one in enumerate(parts)], after)

    def _some(
        self, every: Blocks, k: int, share: shares.Share, count: int, places: dict[int, tuple[int, int]]
    ) -> Blocks:
        """Some of the blocks, with memory of their own for their sums, and each thread's for what lives in a block."""
        group = every.group
        room = {one: self.native.block_bytes(group, one) for one in group.kept}

        def moved(calls: Sequence[Call]) -> list[Call]:
            found = []
            for call in calls:
                spots = [one._replace(each=room.get(one.base, 0)) for one in call.pointers]
                found.append(_with_sums(call._replace(pointers=spots), places, k))
            return found

        rows = share.start * group.block, (share.start + share.many) * group.block
        left = moved(every.left) if k == count - 1 else []
        return Blocks(group, moved(every.begun), moved(every.whole), left, rows)


def _with_sums(call: Call, places: dict[int, tuple[int, int]], k: int) -> Call:
    """The call with the sums of the k-th share in the place of the results."""
    pointers = []
    for one in call.pointers:
        first, size = places.get(one.base, (0, 0))
        pointers.append(Pointer(WORK, first + k * size) if one.base in places else one)
    return call._replace(pointers=pointers)
