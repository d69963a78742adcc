"""What is the spec of each node, given those of the inputs? Asked lazily, kept for each node, not by deep recursion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from symbolic.errors import TraceError, fail
from symbolic.layer import AnyLayer
from symbolic.ops.operation import Operation
from symbolic.sizes import Shape
from symbolic.spec import INFERRED, UNKNOWN, AnySpec, Spec, describe, interned, product

_DEEP = 8  # operations over each other that are asked by recursion


class Inference:
    """Specs by node; as `here.facts` it answers `.shape`, `.ndim`, `.dtype` of layers, and records nothing."""

    def __init__(self, inputs: Mapping[AnyLayer, AnySpec], open: bool = False) -> None:
        self.open = open  # whether some sizes are left open, so that what is found holds whatever they are
        self.specs: dict[AnyLayer, AnySpec] = {node: interned(spec) for node, spec in inputs.items()}
        self.literals: dict[tuple[type, float], AnyLayer] = {}  # the numbers in rules

    def spec(self, node: AnyLayer) -> AnySpec:
        found = self.specs.get(node)
        return found if found is not None else self._infer(node)

    def operands(self, node: Operation) -> list[AnySpec]:
        specs = self.specs
        try:
            return [specs[one] for one in node.operands]
        except KeyError:
            return [self.spec(one) for one in node.operands]

    def _infer(self, root: AnyLayer, depth: int = 0) -> AnySpec:
        if not isinstance(root, Operation):
            return self._leaf(root)
        specs = self.specs
        operands: list[AnySpec] = []
        for one in root.operands:  # of most of them it was asked before
            found = specs.get(one)
            if found is None:
                if depth == _DEEP:
                    return self._all(root)
                found = self._infer(one, depth + 1)
            operands.append(found)
        like = None if root.parameters else INFERRED.get((type(root), *map(id, operands)))
        if like is None:
            return self._of(root, operands)
        specs[root] = like[0]
        return like[0]

    def _all(self, root: AnyLayer) -> AnySpec:
        """The same without recursion, for a long graph."""
        for node in unseen(root, self.specs):
            if isinstance(node, Operation):
                self._of(node, [self.specs[one] for one in node.operands])
            else:
                self._leaf(node)
        return self.specs[root]

    def _leaf(self, node: AnyLayer) -> AnySpec:
        found = self.specs[node] = interned(node.infer()) if hasattr(type(node), "value") else UNKNOWN
        return found

    def _of(self, node: Operation, operands: Sequence[AnySpec]) -> AnySpec:
        """The spec of a node over operands of these."""
        try:
            found = self.specs[node] = interned(node.infer(*operands))
        except Exception as error:
            fail(error, node._origin, ", ".join(map(describe, operands)))
        return found

    def ask(self, node: AnyLayer, what: str) -> Any:
        spec = self.spec(node)
        if not isinstance(spec, Spec):
            return None
        if what == "dtype":
            return spec.dtype
        if what == "size":
            return None if spec.shape is None else product(self._told(spec.shape))
        if what == "shape" and spec.shape is not None and None in spec.shape:
            return self._told(spec.shape)
        return getattr(spec, what)

    def _told(self, shape: Any) -> Any:
        """A shape for a rule that will look at its sizes: one that is left open must not be taken for any number."""
        return Shape(len(shape), lambda axis: _size(shape[axis])) if self.open else shape


def _size(size: Any) -> Any:
    if size is None:
        raise TraceError("a size that is open was asked for", remedy="plan for the sizes of each call")
    return size


def unseen(root: AnyLayer, specs: Mapping[AnyLayer, Any]) -> list[AnyLayer]:
    """The nodes below the root that are not in the mapping, operands first; those that are in it are not entered."""
    if root in specs:
        return []
    order: list[AnyLayer] = []
    seen: set[int] = set()
    stack: list[AnyLayer | None] = [root]
    while stack:
        node = stack.pop()
        if node is None:  # the operands of the next one are there
            order.append(stack.pop())  # type: ignore[arg-type]  # a node stands below each mark
        elif id(node) not in seen:
            seen.add(id(node))
            if isinstance(node, Operation):
                height = len(stack)
                stack.append(node)
                stack.append(None)
                for one in reversed(node.operands):
                    if one not in specs and id(one) not in seen:
                        stack.append(one)
                if len(stack) > height + 2:
                    continue
                del stack[height:]
            order.append(node)
    return order
