"""Which functions of NumPy apply a function that they are given? To every row along an axis, or over axes in turn."""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.layer import Layer
from symbolic.literal import as_layer
from symbolic.ops.axes import ints
from symbolic.ops.binding import implements
from symbolic.spec import normalize_axis


@implements(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """The results, which all have one shape, stand where the axis was."""
    operand: Any = as_layer(arr)
    axis = normalize_axis(ints(axis, "axis of np.apply_along_axis"), operand.ndim)
    rows: Any = np.moveaxis(operand, axis, -1)
    others = tuple(rows.shape[:-1])
    if 0 in others:
        raise ValueError("np.apply_along_axis of an array without rows; give one row at least")
    results = [as_layer(func1d(rows[place], *args, **kwargs)) for place in np.ndindex(others)]
    found: Any = np.stack(results)
    inner = tuple(found.shape[1:])
    found = np.reshape(found, (*others, *inner))
    back = range(len(others), len(others) + len(inner))
    return np.moveaxis(found, tuple(back), tuple(range(axis, axis + len(inner))))


@implements(np.apply_over_axes)
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """One axis after the other; what loses its axis gets it back with size 1."""
    value: Any = as_layer(a)
    rank = value.ndim
    given = ints(axes, "axes of np.apply_over_axes")
    for axis in (given,) if isinstance(given, int) else given:
        axis = axis + rank if axis < 0 else axis
        result = func(value, axis)
        result = result if isinstance(result, Layer) else as_layer(np.asarray(result))
        value = result if result.ndim == value.ndim else np.expand_dims(result, axis)
        if value.ndim != rank:
            raise ValueError("the function of np.apply_over_axes gave another number of axes; keep it, or drop one")
    return value
