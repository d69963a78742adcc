"""What does a name stand for after an assignment? Layers never change: the new value is kept beside the old one.

Later uses of the name read the new value, and so do the views of it, which are rebuilt over it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.errors import ShapeError
from symbolic.inference import Inference
from symbolic.layer import AnyLayer, refuse
from symbolic.leaves import Literal, Weight
from symbolic.literal import as_layer
from symbolic.ops.indexing import assign as assigned
from symbolic.ops.making import Made
from symbolic.ops.operation import Operation
from symbolic.ops.passing import Cast, Mark
from symbolic.spec import Spec


class Assignments:
    """What was assigned in the course of one trace."""

    def __init__(self, facts: Inference) -> None:
        self.facts = facts
        self.assigned: dict[AnyLayer, AnyLayer] = {}

    def ask(self, node: AnyLayer, what: str) -> Any:
        """A fact about a node, which becomes a guard of the trace."""
        raise NotImplementedError  # abstract

    def resolve(self, node: AnyLayer) -> AnyLayer:
        """The node that a name stands for now: after assignments to it, or to what it is a view of."""
        if not self.assigned:
            return node
        views: list[Operation] = []
        at = node
        while at not in self.assigned:
            if not self._is_view(at):
                return node
            views.append(at)  # type: ignore[arg-type]  # a view is an operation
            at = at.operands[0]
        at = self._last(at)
        for view in reversed(views):
            self._certain(view)
            at = view.rebuilt((at, *view.operands[1:]))
        return at

    def _is_view(self, node: AnyLayer) -> bool:
        """Whether a node shares its base's memory in NumPy; a scalar never does."""
        if not isinstance(node, Operation) or not node.operands or not node.shares:
            return False
        spec = self.facts.spec(node)
        if isinstance(spec, Spec) and spec.shape == ():
            return False
        return node.is_view(self.facts.operands(node)) is not False

    def assign(self, target: AnyLayer, index: Any, value: Any) -> None:
        """`target[index] = value`, NumPy's way."""
        self._store(target, assigned(self.resolve(target), index, as_layer(value)))

    def replace(self, target: AnyLayer, value: AnyLayer) -> AnyLayer:
        """`target += …`: a scalar gives a new one, an array keeps its shape and dtype and changes for all its views."""
        before, after = self.facts.spec(self.resolve(target)), self.facts.spec(value)
        if self.ask(target, "ndim") == 0:
            return value
        assert isinstance(before, Spec) and isinstance(after, Spec)
        if before.shape != after.shape:
            refuse(
                f"an in-place operator would change the shape {before.shape} to {after.shape}",
                "write x = x + y, which makes a new array",
                ShapeError,
            )
        if before.dtype != after.dtype:
            if before.dtype is None or after.dtype is None or not np.can_cast(after.dtype, before.dtype, "same_kind"):
                refuse(
                    f"an in-place operator would cast {after.dtype} to {before.dtype}",
                    "write x = x + y, which makes a new array",
                )
            value = Cast(value, to=before.dtype)
        self._store(target, value)
        return target

    def _store(self, target: AnyLayer, value: AnyLayer) -> None:
        if isinstance(target, (Weight, Literal)) and not isinstance(target, Made):
            refuse(
                f"assignment to a {type(target).__name__}",
                "weights move through an optimizer and constants stay; compute a new value instead",
            )
        if self._is_view(target):
            self._store_through(target, value)  # type: ignore[arg-type]  # a view is an operation
            return
        self.assigned[self._last(target)] = Mark.make((value,))

    def _last(self, node: AnyLayer) -> AnyLayer:
        """The newest value of a node; all on the way learn the short way, so that a loop's assignments stay cheap."""
        passed = []
        while node in self.assigned:
            passed.append(node)
            node = self.assigned[node]
        for one in passed:
            self.assigned[one] = node
        return node

    def _certain(self, view: Operation) -> None:
        """Refuse where NumPy's answer depends on how the array lies in memory."""
        if view.is_view(self.facts.operands(view)) is None:
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
