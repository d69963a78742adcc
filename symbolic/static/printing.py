"""How is a type written for a reader? Short: `float32[n, 784]`, `Layer[float32[n, 784] → float32[n, 10]]`."""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.spec import AnySpec, OpaqueSpec, Spec, TupleSpec
from symbolic.static.abstract import UNKNOWN, Value

ARROW = "→"


def short(spec: Any) -> str:
    """A spec, a value, or a structure of values."""
    if isinstance(spec, Value):
        return short(spec.spec)
    if isinstance(spec, Spec):
        return _array(spec)
    if isinstance(spec, OpaqueSpec):
        return spec.kind.__name__
    if isinstance(spec, (tuple, list)):
        return f"({', '.join(map(short, spec))}{',' if len(spec) == 1 else ''})"
    return "unknown" if spec is UNKNOWN else type(spec).__name__


def _array(spec: Spec) -> str:
    if spec.python is not None:
        return spec.python.__name__
    if spec.shape == ():
        known = spec.dtype is not None and spec.dtype != np.float64
        return str(spec.dtype) if known else "float"
    kind = "ndarray" if spec.dtype is None else str(spec.dtype)
    if spec.shape is None:
        return kind if spec.dtype is None else f"{kind}[...]"
    return f"{kind}[{', '.join('?' if size is None else str(size) for size in spec.shape)}]"


def short_layer(in_spec: AnySpec, out_spec: AnySpec) -> str:
    """A network from the one to the other; several inputs are a tuple."""
    given = ", ".join(map(short, in_spec)) if isinstance(in_spec, TupleSpec) else short(in_spec)
    return f"Layer[{given} {ARROW} {short(out_spec)}]"
