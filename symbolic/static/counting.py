"""Which numbers are sizes, and stay so where they are used as one?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symbolic.polynomial import Size
from symbolic.spec import Spec
from symbolic.static.abstract import Value
from symbolic.static.holding import Traced

OF_SIZES: dict[Any, Callable[[Any], Any]] = {np.prod: math.prod, np.sum: sum}
"""NumPy's functions that give a size for a shape; as an operand it is a number of NumPy's own."""


def are_sizes(value: Any) -> bool:
    """Whether a value is a shape, or a part of one."""
    return type(value) is tuple and value != () and all(type(one) is int or isinstance(one, Size) for one in value)


def as_size(value: Any) -> Any:
    """A number as the size that it is, where an array is made: a hyperparameter, a product of sizes."""
    if isinstance(value, Traced) and value.size is not None:
        return value.size
    return type(value)(map(as_size, value)) if type(value) in (tuple, list) else value


def shape_or_size(value: Any) -> Any:
    """The shape of a value, or the size or the sizes that it is."""
    shape: Any = value.spec.shape if isinstance(value, Value) and isinstance(value.spec, Spec) else value
    return shape if isinstance(shape, (tuple, Size)) else ()
