"""Is every entry finite?"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def finite(values: Sequence[Any]) -> bool:
    """Whether no entry is infinite or NaN, by sums: quick, and no is only a reason to look closer."""
    arrays = []
    for value in values:
        if type(value) is float:
            if not math.isfinite(value):
                return False
        elif isinstance(value, (np.ndarray, np.generic)):
            if value.dtype.kind in "fc":
                arrays.append(value)
        elif isinstance(value, complex):
            if not cmath.isfinite(value):
                return False
        elif isinstance(value, tuple) and not finite(value):
            return False
    if not arrays:
        return True
    with np.errstate(all="ignore"):
        return all(np.isfinite(np.add.reduce(value, axis=None)) for value in arrays)


def entirely_finite(value: Any) -> bool:
    """The same of one value, for certain."""
    return finite((value,)) or bool(
        isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc" and np.isfinite(value).all()
    )
