"""What does a name stand for after an assignment? Layers never change: the new value is kept beside the old one.

Later uses of the name read the new value, and so do the views of it, which are rebuilt over it. Assignments to single
entries wait until the array is read, so that a loop of them is one operation; the entries themselves are read before.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from symbolic.bare import Bare
from symbolic.errors import DtypeError, ShapeError
from symbolic.inference import Inference
from symbolic.layer import AnyLayer, plainly, refuse
from symbolic.leaves import Literal, Weight
from symbolic.literal import as_layer
from symbolic.ops.families import is_number
from symbolic.ops.making import Box, Made
from symbolic.ops.operation import Operation
from symbolic.ops.passing import Cast, Mark
from symbolic.spec import Spec, same_dtype


class Assignments:
    """What was assigned in the course of one trace."""

    def __init__(self, facts: Inference) -> None:
        self.facts = facts
        self.bare: Bare = Bare(facts)
        self.assigned: dict[AnyLayer, AnyLayer] = {}
        self.lies: dict[AnyLayer, AnyLayer] = {}  # for each new value the array in whose memory it lies
        self.waiting: dict[AnyLayer, dict[tuple[int, ...], AnyLayer]] = {}  # entries to be written, by the newest value

    def ask(self, node: AnyLayer, what: str) -> Any:
        """A fact about a node, which becomes a guard of the trace."""
        raise NotImplementedError  # abstract

    def resolve(self, node: AnyLayer) -> AnyLayer:
        """The node that a name stands for now: after assignments to it, or to what it is a view of."""
        if not self.assigned and not self.waiting:
            return node
        views: list[Operation] = []
        at = node
        while at not in self.assigned and at not in self.waiting:
            if not self._is_view(at):
                return node
            views.append(at)
            at = at.operands[0]
        at = self._settled(at)
        for view in reversed(views):
            self._certain(view)
            at = view.rebuilt((at, *view.operands[1:]))
        return at

    def _is_view(self, node: AnyLayer) -> TypeGuard[Operation]:
        """Whether a node shares its base's memory in NumPy; a number never does."""
        if not isinstance(node, Operation) or not node.operands or not node.shares:
            return False
        spec = self.facts.spec(node)
        if isinstance(spec, Spec) and spec.shape == () and not self._is_array(node):
            return False
        return node.is_view(self.facts.operands(node)) is not False

    def _is_array(self, view: Operation) -> bool:
        """Whether what has no axes is an array, as `y[0, ...]` is, rather than a number, as `y[0]` is."""
        if view.indexed and all(one is not Ellipsis for one in view.index):
            return False
        base = view.operands[0]
        spec = self.facts.spec(base)
        return (isinstance(spec, Spec) and spec.shape != ()) or self._is_box(base)

    def _is_box(self, node: AnyLayer) -> bool:
        """Whether a value without axes is an array, which an operator in place changes for all its names."""
        return isinstance(node, (Made, Box)) or self._is_view(node) or self.bare.is_array(node)

    def assign(self, target: AnyLayer, index: Any, value: Any) -> None:
        """`target[index] = value`, NumPy's way."""
        value = as_layer(value)
        where = self._place(target, index)
        if where is not None and self._can_wait(target, where, value):
            self.waiting.setdefault(self._last(target), {})[where] = value
            return
        base = self.resolve(target)
        if not self._stands_there(base, index, self.resolve(value)):
            from symbolic.ops.indexing import assign

            self._store(target, assign(base, index, value))

    def _stands_there(self, base: AnyLayer, index: Any, value: AnyLayer) -> bool:
        """Whether a value is the very entries that it is assigned to, as Python has it in `y[index] += v`."""
        from symbolic.ops.indexing import GetItem, template

        if not isinstance(value, GetItem) or value.operands[0] is not base or len(value.operands) > 1:
            return False
        found, operands = template(plainly(index), 1)
        return not operands and value.index == found

    @staticmethod
    def _place(target: AnyLayer, index: Any) -> tuple[int, ...] | None:
        """An entry's place; only an array that the body made has the same sizes for all inputs."""
        from symbolic.ops.entries import place

        return place(index, target.value.shape if isinstance(target, Made) else ())

    def _can_wait(self, target: AnyLayer, where: tuple[int, ...], value: AnyLayer) -> bool:
        """Whether this is one number for one entry of an array that is no view: nothing is left to be checked."""
        if isinstance(target, (Weight, Literal)) and not isinstance(target, Made):
            return False
        from symbolic.ops.entries import can_hold, fits

        spec = self.facts.spec(self._last(target))
        return fits(where, spec) and can_hold(spec, self.facts.spec(value)) and not self._is_view(target)

    def entry(self, target: AnyLayer, index: Any) -> AnyLayer | None:
        """`target[index]`, if it is one entry of an array to which others wait to be written; else `None`."""
        if not self.waiting:
            return None
        from symbolic.ops.entries import fits
        from symbolic.ops.indexing import GetItem

        last = self._last(target)
        where = self._place(target, index) if last in self.waiting else None
        if where is None or not fits(where, self.facts.spec(last)):
            return None
        if where not in self.waiting[last]:
            return GetItem.make((last,), (where,))  # type: ignore[no-any-return]  # a node of the class
        spec, value = self.facts.spec(last), self.waiting[last][where]
        assert isinstance(spec, Spec)
        found: AnyLayer = Cast.make((value,), (spec.dtype,))
        return found if is_number(value, self.facts.spec(value)) else GetItem.make((found,), ((),))

    def _settled(self, node: AnyLayer) -> AnyLayer:
        """The newest value of a node, with the entries that waited to be written."""
        last = self._last(node)
        entries = self.waiting.pop(last, None)
        if entries is None:
            return last
        from symbolic.ops.entries import SetEntries

        return self._replaced(last, SetEntries.make((last, *entries.values()), (tuple(entries),)))

    def _last(self, node: AnyLayer) -> AnyLayer:
        """The newest value of a node; all on the way learn the short way, so that a loop's assignments stay cheap."""
        passed = []
        while node in self.assigned:
            passed.append(node)
            node = self.assigned[node]
        for one in passed:
            self.assigned[one] = node
        return node

    def _replaced(self, last: AnyLayer, value: AnyLayer) -> AnyLayer:
        """A newer value of the same array, which lies where the array lies."""
        self.assigned[last] = now = Mark.make((value,))
        self.lies[now] = self.lies.get(last, last)
        return self.assigned[last]

    def replace(self, target: AnyLayer, value: AnyLayer) -> AnyLayer:
        """`target += …`: a number gives a new one, an array keeps its shape and dtype and changes for all its views."""
        before, after = self.facts.spec(self.resolve(target)), self.facts.spec(value)
        if self.ask(target, "ndim") == 0 and not self._is_box(target):
            return value
        assert isinstance(before, Spec) and isinstance(after, Spec)
        if before.shape != after.shape:
            refuse(
                f"an in-place operator would change the shape {before.shape} to {after.shape}",
                "write x = x + y, which makes a new array",
                ShapeError,
            )
        value = self.in_dtype(value, before, after)
        self._store(target, value if before.shape else Box.make((value,)))
        return target

    @staticmethod
    def in_dtype(value: AnyLayer, before: Spec, after: Spec) -> AnyLayer:
        """A new value in the dtype of the array that it is written into, if NumPy lets an operator cast so."""
        if same_dtype(before.dtype, after.dtype):
            return value
        if before.dtype is None or after.dtype is None or not np.can_cast(after.dtype, before.dtype, "same_kind"):
            kinds = [one or "a dtype that is not known before it runs" for one in (after.dtype, before.dtype)]
            refuse(
                f"an in-place operator would cast {kinds[0]} to {kinds[1]}",
                "write x = x + y, which makes a new array",
                DtypeError,
            )
        return Cast(value, to=before.dtype)

    def _store(self, target: AnyLayer, value: AnyLayer) -> None:
        if isinstance(target, (Weight, Literal)) and not isinstance(target, Made):
            refuse(
                f"assignment to a {type(target).__name__}",
                "weights move through an optimizer and constants stay; compute a new value instead",
            )
        if self._is_view(target):
            self._store_through(target, value)
            return
        self._replaced(self._last(target), value)

    def _certain(self, view: Operation) -> None:
        """Refuse where NumPy's answer depends on how the array lies in memory."""
        base = self.lies.get(view.operands[0])
        seen = view if base is None else view.rebuilt((base, *view.operands[1:]))
        if seen.is_view(self.facts.operands(view)) is None:
            refuse(
                f"assignment where {type(view).__name__} may be a view or a copy, as the array lies in memory",
                "make it certain: np.copy(x) before the assignment, or assign to the array itself",
            )

    def _store_through(self, view: Operation, value: AnyLayer) -> None:
        """Write a view's new entries into its base; the view is then read from there."""
        self._certain(view)
        base = view.operands[0]
        written = view.written_back(self.resolve(base), value, self.facts.spec(base), self.facts.spec(view))
        if written is None:
            refuse(
                f"assignment through {type(view).__name__}, which is a view of another traced value",
                "make a copy first (np.copy), or assign to the original array",
            )
        self._store(base, written)
