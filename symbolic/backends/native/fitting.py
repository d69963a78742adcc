"""Which values does machine code hand over to Python, and as what? And what does a step hold between two calls?

Whoever calls code that is there already needs this; how such code is written stands in `calls` and `stepping`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.hints import convert
from symbolic.spec import Spec

__all__ = ["FIRST", "IN_FORCE", "TAKEN", "Kept", "Unfit", "given_as"]

IN_FORCE, TAKEN, FIRST = 0, 1, 2
"""Words of a step: whether it is in force, how many were taken, then where each value is that holds."""


class Unfit(Exception):  # noqa: N818  # no fault: the general way is taken
    """A value that only the general way knows how to take, or to make."""


class Kept:
    """One value that a step moves: the output that it is, the leaf that reads it, and who has it otherwise."""

    base: int
    blank: Any
    leaf: int | None
    value: Any

    def __init__(self, base: int, leaf: int | None, value: Any, blank: Any) -> None:
        self.base, self.leaf, self.value, self.blank = base, leaf, value, blank


def given_as(layer: Any, spec: Any, boxed: bool) -> str:
    """Of which kind the loss comes out: a `float`, a `scalar` of NumPy's, an `array`, a `box`: one without axes."""
    kind = type(layer)
    if not isinstance(spec, Spec) or spec.dtype is None or spec.dtype.kind != "f":
        raise Unfit
    plain = "float" if spec.python is float else "array" if spec.shape else "box" if boxed else "scalar"
    if getattr(kind, "finish", None) is None:
        return plain
    native = kind.declares(layer) if hasattr(kind, "declares") else layer
    if native is None:
        return plain
    is_array = plain in ("array", "box")
    zero: Any = np.broadcast_to(spec.dtype.type(0), spec.shape) if is_array else spec.dtype.type(0)  # type: ignore[arg-type]  # known
    one = zero.item() if plain == "float" else zero
    made = type(convert(native, one))  # it changes the type, or nothing
    if made is type(one) or made is float:
        return plain if made is type(one) else "float"
    raise Unfit
