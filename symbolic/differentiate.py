"""What is the gradient of a graph? Another graph, written by the operations' own rules.

A gradient that is asked for is one `Gradient` node. It is written out when the specs of the inputs are known, inner
ones first, so asking needs no shapes and derivatives of derivatives need nothing special.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symbolic.context import here, inside
from symbolic.errors import fail
from symbolic.inference import Inference, unseen
from symbolic.layer import AnyLayer
from symbolic.leaves import Literal
from symbolic.literal import as_layer, delta_spec
from symbolic.ops.deltas import SumLike
from symbolic.ops.families import Elementwise
from symbolic.ops.operation import Operation, replaced, topological
from symbolic.ops.passing import Item, Tuple, entry_of
from symbolic.printing import separated
from symbolic.spec import AnySpec, OpaqueSpec, Spec, TupleSpec, describe


class Gradient(Operation):
    """The deltas of `variables` for the delta of `output`: a tuple, not written out yet."""

    __slots__ = ()
    variadic = True
    late = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return TupleSpec(delta_spec(spec) or OpaqueSpec(type(None)) for spec in specs[2:])

    def written_out(self, operands: tuple[AnyLayer, ...], facts: Any) -> AnyLayer | None:
        return Tuple.make(tuple(pullback(operands[0], operands[1], operands[2:], facts)))  # type: ignore[no-any-return]  # a layer

    def parts(self) -> Sequence[str | AnyLayer]:
        return ("Gradient(", *separated(self.operands), ")")


def gradients(output: AnyLayer, delta: AnyLayer, variables: Sequence[AnyLayer]) -> list[AnyLayer]:
    """One layer for each variable: its delta, unexpanded."""
    together = Gradient.make((output, delta, *variables))
    return [Item.make((together,), (k,)) for k in range(len(variables))]


def ones_like(output: AnyLayer) -> AnyLayer:
    """The delta 1 of an output of any shape."""
    return SumLike.make((Literal(1.0), output))  # type: ignore[no-any-return]  # a layer


def expand(roots: Sequence[AnyLayer], facts: Inference, done: dict[AnyLayer, AnyLayer] | None = None) -> list[AnyLayer]:
    """The same roots with every gradient written out; `done` has what was written out before, and takes what is now."""
    done = {} if done is None else done
    with inside(facts=facts, trace=None):
        for root in roots:
            for node in unseen(root, done):
                done[node] = _expanded(node, done, facts)
    return [done[root] for root in roots]


def _expanded(node: AnyLayer, done: dict[AnyLayer, AnyLayer], facts: Inference) -> AnyLayer:
    if not isinstance(node, Operation):
        return node
    if type(node).written_out is Operation.written_out and not isinstance(node, Item):
        for one in node.operands:
            if done[one] is not one:
                break
        else:
            return node  # the usual one: nothing below it was written out
    operands = tuple([done[one] for one in node.operands])
    written = node.written_out(operands, facts)
    if written is not None:
        return written
    if isinstance(node, Item) and isinstance(operands[0], Tuple):
        return operands[0].operands[node.index]  # type: ignore[no-any-return]  # of any index
    same = all(a is b for a, b in zip(operands, node.operands, strict=True))
    return node if same else node.rebuilt(operands)


def pullback(output: AnyLayer, delta: AnyLayer, variables: Sequence[AnyLayer], facts: Inference) -> list[AnyLayer]:
    """The delta of each variable, by one sweep from the output back."""
    order = topological([output])
    reached = _dependents(order, variables)
    bare = {one for one in reached if delta_spec(facts.spec(one)) is None}
    if bare:
        reached -= bare - _whole(order, reached, facts)
    arrived: dict[AnyLayer, list[AnyLayer]] = {output: [delta]} if output in reached else {}
    totals: dict[AnyLayer, AnyLayer] = {}
    wanted = set(variables)
    passed: dict[AnyLayer, AnyLayer] = {}
    with inside(origin=None):
        for node in reversed(order):
            if node not in arrived:
                continue
            here.origin = node._origin  # set back at the end of the block
            deltas = arrived.pop(node)
            total = deltas[0] if len(deltas) == 1 else _sum(deltas, facts)
            if node in wanted:
                totals[node] = total
            if isinstance(node, Operation):
                _send(node, total, reached, arrived, facts)
                after = node.consumed()
                if after is not None:
                    passed[node] = after
    found = [totals[one] if one in totals else _zero(one, facts) for one in variables]
    if passed:
        given = delta.operands if isinstance(delta, Tuple) else (delta,)  # variables of somebody, perhaps
        found = replaced(found, {**passed, **dict(zip(given, given, strict=True))})
    for variable, one in zip(variables, found, strict=True):
        want, got = delta_spec(facts.spec(variable)), facts.spec(one)
        assert want is None or want == got or not getattr(want, "known", False), f"a delta of {got} for {want}"
    return found


def _dependents(order: Sequence[AnyLayer], variables: Sequence[AnyLayer]) -> set[AnyLayer]:
    reached = set(variables)
    for node in order:
        if isinstance(node, Operation):
            for one in node.operands:
                if one in reached:
                    reached.add(node)
                    break
    return reached


def _whole(order: Sequence[AnyLayer], reached: set[AnyLayer], facts: Inference) -> set[AnyLayer]:
    """The whole numbers in arrays that come from Python's integers alone, which have a delta: it passes through them.

    Those that come from a float were rounded, and stop it.
    """
    found: set[AnyLayer] = set()
    for node in order:
        if node in reached and isinstance(node, Operation) and _is_whole(facts.spec(node), python=False):
            behind = [one for one in node.operands if one in reached and not _is_truth(facts.spec(one))]
            if behind and all(one in found or _is_whole(facts.spec(one), python=True) for one in behind):
                found.add(node)
    return found


def _is_whole(spec: AnySpec, *, python: bool) -> bool:
    if not isinstance(spec, Spec):
        return False
    return spec.python is int if python else spec.dtype is not None and spec.dtype.kind in "iu"


def _is_truth(spec: AnySpec) -> bool:
    return isinstance(spec, Spec) and (spec.python is bool or spec.dtype == np.dtype(bool))


def _send(
    node: Operation,
    total: AnyLayer,
    reached: set[AnyLayer],
    arrived: dict[AnyLayer, list[AnyLayer]],
    facts: Inference,
) -> None:
    """Hand the node's delta on to those operands that lead to a variable."""
    waiting = [one in reached for one in node.operands]
    if True not in waiting:
        return
    try:
        if type(node).gradient is Elementwise.gradient:
            deltas = node.chained(total, node, node.operands, waiting)
        else:
            deltas = node.gradient(total, node, *node.operands)
    except Exception as error:
        fail(error, node._origin, describe(facts.spec(node)))
    for operand, waits, delta in zip(node.operands, waiting, deltas, strict=True):
        if waits and delta is not None:
            arrived.setdefault(operand, []).append(_returned(as_layer(delta), operand, facts))


def _returned(delta: AnyLayer, operand: AnyLayer, facts: Inference) -> AnyLayer:
    spec, found = facts.spec(operand), facts.spec(delta)
    if isinstance(spec, TupleSpec):
        return delta
    want = delta_spec(spec)
    if (want is found or want == found) and getattr(want, "known", False):
        return delta
    if isinstance(delta, Operation) and delta.pieces and delta.operands[0] is operand:
        return delta  # it has its operand's shape, and keeps its kind: see `_sum`
    return SumLike.make((delta, operand))  # type: ignore[no-any-return]  # a layer


def _sum(deltas: list[AnyLayer], facts: Inference) -> AnyLayer:
    """The sum of what arrived; the pieces of one array are joined in one buffer."""
    pieces: dict[AnyLayer, list[Any]] = {}
    rest: list[AnyLayer] = []
    for one in deltas:
        if isinstance(one, Operation) and one.pieces:
            pieces.setdefault(one.operands[0], []).append(one)
        else:
            rest.append(one)
    joined = [type(some[0]).merged(some) if len(some) > 1 else some[0] for some in pieces.values()]
    if rest and joined and not isinstance(facts.spec(rest[0]), TupleSpec):
        total = _sum(rest, facts)
        return _added(total, joined, facts)
    deltas = rest + joined
    total = deltas[0]
    entries = facts.spec(total)
    if len(deltas) > 1 and isinstance(entries, TupleSpec):
        columns = [[entry_of(one, k) for one in deltas] for k in range(len(entries))]
        opaque = [isinstance(spec, OpaqueSpec) for spec in entries]
        return Tuple(*[one[0] if nothing else _sum(one, facts) for one, nothing in zip(columns, opaque, strict=True)])
    for one in deltas[1:]:
        total = total + one
    return total


def _added(total: AnyLayer, scatters: list[Any], facts: Inference) -> AnyLayer:
    """Pieces in the places that they have in an array, where the array has the shape and the dtype of their sum."""
    from symbolic.ops.indexing import AddAt  # loaded for them already

    for one in scatters:
        base, spec = facts.spec(total), facts.spec(one)
        # where sizes are open, `_returned` has seen to it that there are as many
        told = isinstance(base, Spec) and (base.known or facts.open)
        alike = told and isinstance(base, Spec) and base.shape and base == spec
        total = AddAt.over(total, one) if alike else total + one
    return total


def _zero(variable: AnyLayer, facts: Inference) -> AnyLayer:
    return SumLike.make((Literal(0.0), variable))  # type: ignore[no-any-return]  # a layer
