"""What are the equal parts of an axis whose size only a name says? If the program goes on, the size was divisible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symbolic.polynomial import Size
from symbolic.spec import Spec
from symbolic.static.abstract import Answer, Value

_AXES: dict[Any, int | None] = {np.split: None, np.vsplit: 0, np.hsplit: 1, np.dsplit: 2}
"""The axis along which a function cuts; `None` for one that is told."""
_MOST_PARTS = 64


def cuts(function: Any) -> bool:
    return any(function is one for one in _AXES)


def cut(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer | None:
    """The parts of `np.split(x, 4, axis=1)`; `None` where they are for the rule of sizes that are numbers.

    >>> answer = cut(np.split, [Value(Spec((Size.named("n"), 3))), 2], {})
    >>> print(answer.value[0].spec)
    array[n//2, 3]
    """
    named = {**dict(zip(("ary", "indices_or_sections", "axis"), args, strict=False)), **kwargs}
    whole, count, axis = named.get("ary"), named.get("indices_or_sections"), named.get("axis", 0)
    spec = whole.spec if isinstance(whole, Value) else None
    if not isinstance(spec, Spec) or spec.shape is None or type(count) is not int or type(axis) is not int:
        return None
    own = _AXES[function]
    axis = axis if own is None else min(own, len(spec.shape) - 1)
    if not 0 < count <= _MOST_PARTS or not -len(spec.shape) <= axis < len(spec.shape):
        return None
    size: Any = spec.shape[axis]
    if not isinstance(size, Size):
        return None
    shape = list(spec.shape)
    shape[axis] = size // count
    return Answer([Value(spec._replace(shape=tuple(shape)))] * count)
