"""What are SciPy's sums of exponentials? Those of `softmax.py`, with SciPy's arguments."""

from __future__ import annotations

from typing import Any

import scipy.special as sp

from symbolic.ops import softmax as ours
from symbolic.ops.axes import ints
from symbolic.ops.binding import implements
from symbolic.ops.operation import static

_AXES: Any = ({}, {"axis": 0}, {"axis": (0, 1)})


@implements(
    sp.logsumexp,
    operands="with_weights",
    samples=(*_AXES, {"axis": -1, "keepdims": True}, {"return_sign": True}),
)
def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Any:
    axis = ints(axis, "axis of scipy.special.logsumexp")
    if static(return_sign, "return_sign of scipy.special.logsumexp"):
        return ours.signed_logsumexp(a, axis, b, keepdims)
    return ours.logsumexp(a, axis, keepdims, b)


@implements(sp.softmax, samples=_AXES)
def softmax(x: Any, axis: Any = None) -> Any:
    return ours.softmax(x, ints(axis, "axis of scipy.special.softmax"))


@implements(sp.log_softmax, samples=_AXES)
def log_softmax(x: Any, axis: Any = None) -> Any:
    return ours.log_softmax(x, ints(axis, "axis of scipy.special.log_softmax"))
