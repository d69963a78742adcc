"""Which deltas may be NaN without anybody seeing it in the results? Those that are compared, chosen by, or replaced.

A gradient is first computed plainly, and with the care of `Chain` only where a result is not finite. Gradients are
linear in the delta, so that a NaN in it reaches them; but a function may ask of a gradient within it, and the way back
of somebody's own (`custom_gradient`) of its delta, whether it is above 0, or put a number in the place of a NaN, or
raise for one. What such a question rests on is computed with care at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symbolic.inference import Inference
from symbolic.layer import AnyLayer
from symbolic.ops.deciding import may_fail
from symbolic.ops.operation import Operation
from symbolic.spec import AnySpec, Spec

_HIDING: set[Any] = {
    *(np.nan_to_num, np.fmax, np.fmin, np.power, np.float_power, np.hypot, np.copysign),
    *(np.sort, np.partition, np.fmax.reduce, np.fmin.reduce),
}
"""Functions of floats that give a number for NaN, or put it where others leave it out."""


def hidden(order: Sequence[AnyLayer], facts: Inference, results: Sequence[AnyLayer] = ()) -> set[AnyLayer]:
    """Of nodes (operands first) those on which such questions rest; nobody looks for NaN but in real results."""
    found = {one for one in results if not _is_float(facts.spec(one), "f")}
    for node in reversed(order):
        if isinstance(node, Operation):
            found.update(node.operands if node in found else _asked(node, facts))
    return found


def _asked(node: Operation, facts: Inference) -> Iterator[AnyLayer]:
    """The operands that may be NaN where the result of the operation is none."""
    if np.where in node.functions:
        yield node.operands[0]
    elif not _keeps(node, facts):
        yield from node.operands


def _keeps(node: Operation, facts: Inference) -> bool:
    """Whether the result is NaN wherever an operand is that it rests on."""
    ours = type(node).__module__.startswith("symbolic.") and _HIDING.isdisjoint(node.functions)
    return ours and _is_float(facts.spec(node), "fc") and not may_fail(node, facts)


def _is_float(spec: AnySpec, kinds: str) -> bool:
    return isinstance(spec, Spec) and spec.dtype is not None and np.dtype(spec.dtype).kind in kinds
