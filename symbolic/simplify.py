"""Which smaller graph has the same value? Shapes that are known now are put in, equal nodes become one.

Only exact changes are made: every value stays the same to the last bit, and so does every floating-point warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symbolic.context import inside
from symbolic.inference import Inference, unseen
from symbolic.layer import AnyLayer
from symbolic.leaves import Literal
from symbolic.ops.deltas import Chain
from symbolic.ops.operation import Operation, topological
from symbolic.ops.passing import BatchMark, Mark
from symbolic.printing import bits
from symbolic.spec import Spec, product

_FOLDED = 4096  # entries; a larger constant is computed at each run rather than kept


def simplify(roots: Sequence[AnyLayer], facts: Inference) -> list[AnyLayer]:
    """The same values from fewer nodes."""
    return _Simplifier(facts).run(roots)


class _Simplifier:
    def __init__(self, facts: Inference) -> None:
        self.facts = facts
        self.done: dict[AnyLayer, AnyLayer] = {}
        self.known: dict[Any, AnyLayer] = {}

    def run(self, roots: Sequence[AnyLayer]) -> list[AnyLayer]:
        with inside(facts=self.facts, trace=None):
            for node in topological(roots):
                if node not in self.done:
                    self.done[node] = self.smaller(node)
        return [self.done[root] for root in roots]

    def smaller(self, node: AnyLayer) -> AnyLayer:
        if isinstance(node, Literal):
            return self.known.setdefault((Literal, bits(node.value)), node)
        if not isinstance(node, Operation):
            return node
        operands = tuple([self.done[one] for one in node.operands])
        if isinstance(node, Mark):
            return node if isinstance(node, BatchMark) else operands[0]  # it fails where it is computed
        if any(a is not b for a, b in zip(operands, node.operands, strict=True)):
            spec = self.facts.spec(node)
            node = node.rebuilt(operands)
            self.facts.specs[node] = spec
        return self.reduced(node)

    def reduced(self, node: Operation) -> AnyLayer:
        """A twin that is there already, the rule's own simplification, or a constant."""
        if node.effect:
            return node
        key = (type(node), tuple([id(one) for one in node.operands]), node.key())
        if key in self.known:
            return self.known[key]
        small = self.folded(node)
        if small is None:
            small = self.by_rule(node)
        self.known[key] = node if small is None else small
        return self.known[key]

    def by_rule(self, node: Operation) -> AnyLayer | None:
        with inside(origin=node._origin):
            small = _unit(node, self.facts)
            if small is None:
                small = node.simplify(self.facts.operands(node))
        if small is None:
            return None
        for one in unseen(small, self.done):
            self.done[one] = self.smaller(one)
        return self.done[small]

    def folded(self, node: Operation) -> AnyLayer | None:
        if not node.operands or not all(isinstance(one, Literal) for one in node.operands):
            return None
        spec = self.facts.spec(node)
        if not isinstance(spec, Spec) or not spec.known or (product(spec.shape or ()) or 0) > _FOLDED:
            return None
        try:
            with np.errstate(all="raise"):
                kernel, takes_out = node.kernel(self.facts.operands(node), spec)
                values = [one.value for one in node.operands if isinstance(one, Literal)]
                value = kernel(*values, None) if takes_out else kernel(*values)
        except (ArithmeticError, ValueError, IndexError):
            return None  # it warns or fails: when the program runs, and there
        constant: AnyLayer = Literal(value)
        self.facts.specs[constant] = spec
        return self.known.setdefault((Literal, bits(value)), constant)


def _unit(node: Operation, facts: Inference) -> AnyLayer | None:
    """1 · factor is the factor, where neither the shape nor the dtype changes."""
    if not isinstance(node, Chain) and np.multiply not in node.functions:
        return None
    delta, factor = node.operands if isinstance(node, Chain) else node.operands[::-1]
    if isinstance(delta, Literal) and np.ndim(delta.value) == 0 and delta.value == 1:
        return factor if facts.spec(factor) == facts.spec(node) else None
    return None
