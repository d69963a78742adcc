"""Which functions of NumPy ask only for shapes and dtypes? They answer with plain values, which the trace guards."""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.context import here
from symbolic.layer import Layer, Lent, plainly, unsupported
from symbolic.literal import as_layer
from symbolic.ops.axes import NO_MEMORY
from symbolic.ops.binding import implements
from symbolic.spec import Spec


def _kind(value: Any) -> Any:
    """The dtype of an argument, a Python number as itself: it is weak."""
    if isinstance(value, Lent):
        return value.read().dtype
    if not isinstance(value, Layer):
        return value
    layer: Any = as_layer(value)
    dtype = layer.dtype
    facts: Any = getattr(here.trace, "facts", here.facts)
    spec = facts.spec(layer)
    return spec.python(0) if isinstance(spec, Spec) and spec.python is not None and spec.python is not bool else dtype


@implements(np.result_type, operands="two")
def result_type(*arrays_and_dtypes: Any) -> Any:
    return np.result_type(*map(_kind, arrays_and_dtypes))


@implements(np.can_cast, samples=({"to": np.float32}, {"to": int, "casting": "unsafe"}))
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    return bool(np.can_cast(_kind(from_), to, casting=casting))


@implements(np.common_type, operands="two")
def common_type(*arrays: Any) -> Any:
    return np.common_type(*[np.empty(0, one.dtype) for one in arrays])


@implements(np.min_scalar_type)
def min_scalar_type(a: Any) -> Any:
    layer: Any = as_layer(a)
    if layer.ndim == 0:
        raise unsupported("np.min_scalar_type of a number, which asks for its value,", "use x.dtype")
    return layer.dtype


@implements(np.diag_indices_from, operands="square_matrix")
def diag_indices_from(arr: Any) -> Any:
    return np.diag_indices_from(_without_memory(arr))


@implements(np.tril_indices_from, operands="one_matrix", samples=({}, {"k": 1}))
def tril_indices_from(arr: Any, k: int = 0) -> Any:
    return np.tril_indices_from(_without_memory(arr), k)


@implements(np.triu_indices_from, operands="one_matrix", samples=({}, {"k": -1}))
def triu_indices_from(arr: Any, k: int = 0) -> Any:
    return np.triu_indices_from(_without_memory(arr), k)


def _without_memory(layer: Any) -> Any:
    """An array of the same shape, made of nothing."""
    return np.broadcast_to(NO_MEMORY, tuple(as_layer(layer).shape))


@implements(np.einsum_path)
def einsum_path(*operands: Any, optimize: Any = "greedy") -> Any:
    shapes = [np.broadcast_to(0.0, tuple(one.shape)) if isinstance(one, Layer) else plainly(one) for one in operands]
    return np.einsum_path(*shapes, optimize=optimize)
