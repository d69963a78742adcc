"""Which number does a traced value have in the call that is being traced? Computed when the body asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symbolic.context import inside
from symbolic.differentiate import Gradient, expand, pullback
from symbolic.errors import fail
from symbolic.inference import Inference, unseen
from symbolic.layer import AnyLayer
from symbolic.leaves import Literal, Weight
from symbolic.live import Captured
from symbolic.ops.deltas import Chain
from symbolic.ops.operation import PYTHON_OPERATORS, Operation
from symbolic.slices import Batch
from symbolic.spec import describe, spec_of


class Numbers:
    """The values of the leaves of a trace, and of every node that was asked for."""

    def __init__(self, values: Mapping[AnyLayer, Any], facts: Inference) -> None:
        self.values: dict[AnyLayer, Any] = dict(values)
        self.facts = facts

    def of(self, node: AnyLayer) -> Any:
        """The number of a node; an error of its computation has the line that made it."""
        if node not in self.values:
            with inside(trace=None, facts=self.facts):
                whole = self._written_out(node)
                for one in unseen(whole, self.values):
                    self.values[one] = self._computed(one)
                self.values[node] = self.values[whole]
        return self.values[node]

    def _written_out(self, node: AnyLayer) -> AnyLayer:
        """The node with every `Batch` below it written out: a slice has no number, all of them together have."""
        if not any(isinstance(one, Batch) for one in unseen(node, self.values)):
            return node
        return expand([node], self.facts)[0]

    def _computed(self, node: AnyLayer) -> Any:
        if isinstance(node, Gradient):
            one, delta, *variables = node.operands
            return tuple([self.of(found) for found in pullback(one, delta, variables, self.facts)])
        if isinstance(node, Operation):
            return self._evaluated(node)
        if isinstance(node, Weight):
            return node.cell.value
        return node.value if isinstance(node, (Literal, Captured)) else self._absent(node)

    def raising(self, node: Operation, values: list[Any]) -> None:
        """Raise the error that an operation has for these values, at the line that made it."""
        try:
            (PYTHON_OPERATORS[node.symbol] if node.symbol else node.evaluate)(*values)
        except Exception as error:
            fail(error, node._origin, ", ".join([describe(spec_of(one)) for one in values]))

    def _absent(self, node: AnyLayer) -> Any:
        raise KeyError(node)

    def _evaluated(self, node: Operation) -> Any:
        values = [self.values[one] for one in node.operands]
        if node.effect:
            return values[0]
        specs = [spec_of(one) for one in values]
        try:
            with np.errstate(all="ignore"):  # the program that runs afterwards warns
                if isinstance(node, Chain):
                    return Chain.careful(*values)
                kernel, takes_out = node.kernel(specs, node.infer(*specs))
                return kernel(*values, None) if takes_out else kernel(*values)
        except Exception as error:
            fail(error, node._origin, ", ".join(map(describe, specs)))
