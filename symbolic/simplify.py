"""Which smaller graph has the same value? Shapes that are known now are put in, equal nodes become one.

Only exact changes are made: every value stays the same to the last bit, and so does every floating-point warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symbolic.context import here, inside
from symbolic.inference import Inference, unseen
from symbolic.layer import AnyLayer
from symbolic.leaves import Literal
from symbolic.ops.deltas import Chain
from symbolic.ops.families import is_number
from symbolic.ops.operation import Operation, Overwriting, topological
from symbolic.ops.passing import BatchMark, Mark
from symbolic.printing import bits
from symbolic.spec import Spec, product

_FOLDED = 4096  # entries; a larger constant is computed at each run rather than kept


def simplify(roots: Sequence[AnyLayer], facts: Inference) -> list[AnyLayer]:
    """The same values from fewer nodes."""
    return _Simplifier(facts).run(roots)


class _About(NamedTuple):
    """What is the same of all operations of a class."""

    mark: bool
    keyed: bool
    """Whether it says itself what two equal ones have in common."""
    product: bool
    """Whether it may be a product with 1."""
    rules: bool
    """Whether there is anything else by which it may become smaller."""


_ABOUT: dict[type, _About] = {}


def _about(kind: type[Operation]) -> _About:
    rules = kind.indexed or kind.simplify is not Operation.simplify
    keyed = kind.key is not Operation.key
    found = _ABOUT[kind] = _About(issubclass(kind, Mark), keyed, np.multiply in kind.functions, rules)
    return found


class _Simplifier:
    def __init__(self, facts: Inference) -> None:
        self.facts = facts
        self.done: dict[AnyLayer, AnyLayer] = {}
        self.known: dict[Any, AnyLayer] = {}

    def run(self, roots: Sequence[AnyLayer]) -> list[AnyLayer]:
        with inside(facts=self.facts, trace=None, origin=here.origin):
            for node in topological(roots):
                if node not in self.done:
                    self.done[node] = self.smaller(node)
        return [self.done[root] for root in roots]

    def smaller(self, node: AnyLayer) -> AnyLayer:
        done, kind = self.done, type(node)
        about = _ABOUT.get(kind)
        if about is None:
            if isinstance(node, Literal):
                return self.known.setdefault((Literal, bits(node.value)), node)
            if not isinstance(node, Operation):
                return node
            about = _about(type(node))
        assert isinstance(node, Operation)
        operands = tuple([done[one] for one in node.operands])
        if about.mark:
            return node if isinstance(node, BatchMark) else operands[0]  # it fails where it is computed
        key = None
        if not node.effect:
            key = (kind, node.key() if node.parameters or about.keyed else (), *map(id, operands))
            found = self.known.get(key)
            if found is not None:
                return found  # a twin that is there already
        for new, old in zip(operands, node.operands, strict=True):
            if new is not old:
                spec = self.facts.spec(node)
                node = node.rebuilt(operands)
                self.facts.specs[node] = spec
                break
        if key is None:
            return node
        small = self.reduced(node, about)
        found = self.known[key] = node if small is None else small
        return found

    def reduced(self, node: Operation, about: _About) -> AnyLayer | None:
        """A constant, or the rule's own simplification; `None` where there is neither."""
        for one in node.operands:
            if not isinstance(one, Literal):
                break
        else:
            here.origin = node._origin  # `run` sets it back
            small = self.folded(node)
            if small is not None:
                return small
        small = _unit(node, self.facts) if about.product else None
        return self.by_rule(node) if small is None and about.rules else small

    def by_rule(self, node: Operation) -> AnyLayer | None:
        here.origin = node._origin
        small = None
        if node.indexed and isinstance(node.operands[0], Overwriting):
            from symbolic.rereading import past

            small = past(node, self.facts)
        if small is None and type(node).simplify is not Operation.simplify:
            small = node.simplify(self.facts.operands(node))
        if small is None:
            return None
        for one in unseen(small, self.done):
            self.done[one] = self.smaller(one)
        return self.done[small]

    def folded(self, node: Operation) -> AnyLayer | None:
        """The constant that a node of constants is, if it is small."""
        if not node.operands:
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
    delta, factor = node.operands if isinstance(node, Chain) else node.operands[::-1]
    if isinstance(delta, Literal) and np.ndim(delta.value) == 0 and delta.value == 1:
        spec = facts.spec(factor)
        stays = isinstance(node, Chain) or is_number(factor, spec)
        return factor if stays and spec == facts.spec(node) else None
    return None
