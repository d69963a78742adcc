"""Which number does a traced value have in the call that is being traced? Computed when the body asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symbolic.context import inside
from symbolic.differentiate import Gradient, expand
from symbolic.errors import fail
from symbolic.inference import Inference, unseen
from symbolic.layer import AnyLayer
from symbolic.leaves import Literal, Weight
from symbolic.live import Captured
from symbolic.ops.deltas import Chain
from symbolic.ops.operation import PYTHON_OPERATORS, Operation, topological
from symbolic.ops.passing import BatchMark, Mark, open_slices
from symbolic.plan import build
from symbolic.spec import describe, spec_of


class Numbers:
    """The values of the leaves of a trace, and of every node that was asked for."""

    def __init__(self, values: Mapping[AnyLayer, Any], facts: Inference) -> None:
        self.values: dict[AnyLayer, Any] = dict(values)
        self.written: dict[AnyLayer, AnyLayer] = {}  # gradients that were written out already
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
        """The node with every `Batch` and every `Gradient` below it written out, inner ones first."""
        if not any(isinstance(one, Operation) and one.late for one in unseen(node, self.values)):
            return node
        return expand([node], self.facts, self.written)[0]

    def _computed(self, node: AnyLayer) -> Any:
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


class Constants:
    """Which values are made of constants alone, and which variables of derivatives do they depend on?

    A derivative by an argument that is a constant has that constant's number, but is not taken of a number: while
    `grad(f)(2.0)` runs within a body, what `f` makes of its argument has to stay a graph.
    """

    def __init__(self, lies: Mapping[AnyLayer, AnyLayer]) -> None:
        self.lies = lies  # the values that an assignment made
        self.found: dict[AnyLayer, frozenset[AnyLayer] | None] = {}

    def variables(self, node: AnyLayer) -> frozenset[AnyLayer] | None:
        """The variables below a constant; `None` of what is none. A loop that asks sees new nodes only."""
        for one in unseen(node, self.found):
            self.found[one] = self._of(one)
        return self.found[node]

    def _of(self, node: AnyLayer) -> frozenset[AnyLayer] | None:
        if not isinstance(node, (Operation, Literal)) or isinstance(node, BatchMark):
            return None
        found: frozenset[AnyLayer] = frozenset()
        for one in node.operands if isinstance(node, Operation) else ():
            below = self.found[one]
            if below is None:
                return None
            found |= below
        if isinstance(node, Gradient):
            return found.difference(node.operands[2:])  # taken: it is a value again
        return found | {node} if isinstance(node, Mark) and node not in self.lies else found


def is_constant(node: AnyLayer) -> bool:
    """Whether a value depends on constants alone: on no input, no weight, no captured array."""
    constant = all(isinstance(one, (Operation, Literal)) for one in topological([node]))
    return constant and not open_slices(node)  # each slice of a vmap is another value


def constant_value(node: AnyLayer) -> Any:
    """The value of a node that depends on constants alone."""
    program = build([node], [], [], Inference({}))
    slots = program.slots([])
    program.run(slots, 0, len(program.instructions))
    return program.results(slots)[0]
