"""Which deltas may be NaN without anybody seeing it in the results? Those that are compared, chosen by, or replaced.

A gradient is first computed plainly, and with the care of `Chain` only where a result is not finite. Gradients are
linear in the delta, so that a NaN in it reaches them; but a function may ask of a gradient within it, and the way back
of somebody's own (`custom_gradient`) of its delta, whether it is above 0, or put a number in the place of a NaN, or
raise for one. What such a question rests on is computed with care at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
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
    *(np.nanmax, np.nanmin, np.nanmedian, np.nanquantile),
}
"""Functions of floats that give a number for NaN, or put it where others leave it out."""
_KINDS = 1024  # of operations, that are kept in memory


def hidden(order: Sequence[AnyLayer], facts: Inference, results: Sequence[AnyLayer] = ()) -> set[AnyLayer]:
    """Of nodes (operands first) those on which such questions rest; nobody looks for NaN but in real results."""
    found = {one for one in results if not _is_float(facts.spec(one), "f")}
    for node in reversed(order):
        if not isinstance(node, Operation):
            continue
        kind: Any = type(node)
        way = _way(kind)
        if node in found or way is False:
            found.update(node.operands)
        elif way is None:
            found.add(node.operands[0])
        elif not _is_float(facts.spec(node), "fc") or may_fail(node, facts):
            found.update(node.operands)
    return found


@lru_cache(_KINDS)
def _way(kind: Any) -> bool | None:
    """Whether a float is NaN wherever an operand is that it rests on; `None` where the first operand only chooses."""
    if np.where in kind.functions:
        return None
    return kind.__module__.startswith("symbolic.") and _HIDING.isdisjoint(kind.functions)


def _is_float(spec: AnySpec, kinds: str) -> bool:
    return isinstance(spec, Spec) and spec.dtype is not None and np.dtype(spec.dtype).kind in kinds
