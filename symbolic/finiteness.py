"""Is every entry finite? Asked of values, and by lines of Python that are written for values of known specs."""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symbolic.spec import AnySpec, Spec, product


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


def finite_tests(specs: Sequence[AnySpec], names: Sequence[str]) -> list[str]:
    """Quick tests that all hold only if no output has an infinity or a NaN; they never warn.

    Two arrays of one size are looked at together: where an entry is not finite, neither is a product with it.
    """
    tests: list[str] = []
    waiting: dict[Any, str] = {}
    for spec, name in zip(specs, names, strict=True):
        dtype, shape = (spec.dtype, spec.shape) if isinstance(spec, Spec) and spec.known else (None, None)
        if dtype is None or shape is None or (dtype.kind not in "biu" and dtype not in _SQUARED):
            tests.append(f"finite(({name},))")
        elif dtype.kind == "f" and product(shape) == 1:
            tests.append(f"isfinite({name}.item())" if shape else f"isfinite({name})")
        elif dtype.kind == "f":
            key = dtype, shape if len(shape) == 1 else product(shape)
            other = waiting.pop(key, None)
            if other is None:
                waiting[key] = name
            else:
                tests.append(_product_is_finite(key, other, name))
    return tests + [_product_is_finite(key, name, name) for key, name in waiting.items()]


def _product_is_finite(key: Any, one: str, other: str) -> str:
    """Of vectors by their own method, which costs half."""
    return f"isfinite({one}.dot({other}))" if isinstance(key[1], tuple) else f"isfinite(vdot({one}, {other}))"


_SQUARED = {np.dtype(np.float32), np.dtype(np.float64)}
