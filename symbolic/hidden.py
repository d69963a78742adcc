"""Which deltas may be NaN without anybody seeing it in the results? Those that are compared, chosen by, or replaced.

A way back is first computed plainly, and with the care of `Chain` only where a result is not finite. Gradients are
linear in the delta, so that a NaN in it reaches them; but the way back of somebody's own (`custom_gradient`) may ask
whether a delta is above 0, or put a number in the place of a NaN. What such a question rests on is computed with care
at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from symbolic.inference import Inference
from symbolic.layer import AnyLayer
from symbolic.ops.operation import Operation
from symbolic.spec import Spec

_HIDING: set[Any] = {
    *(np.nan_to_num, np.fmax, np.fmin, np.power, np.float_power, np.hypot, np.copysign),
    *(np.sort, np.partition, np.fmax.reduce, np.fmin.reduce),
}
"""Functions of floats that give a number for NaN, or put it where others leave it out."""


def hidden(order: Sequence[AnyLayer], facts: Inference) -> set[AnyLayer]:
    """Of the nodes of a way back (operands first) those on which such questions rest."""
    found: set[AnyLayer] = set()
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
    spec = facts.spec(node)
    known = isinstance(spec, Spec) and spec.dtype is not None and np.dtype(spec.dtype).kind in "fc"
    return known and type(node).__module__.startswith("symbolic.") and _HIDING.isdisjoint(node.functions)
