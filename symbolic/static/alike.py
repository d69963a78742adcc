"""What is true of several answers at once?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from symbolic.polynomial import same
from symbolic.spec import AnySpec, Spec, same_dtype
from symbolic.static.abstract import UNKNOWN, Value, is_constant

Sizes = Callable[[Sequence[Any]], Any]
"""One size for those that stand at one place of the answers; `None` where none is true of all."""


def equal(sizes: Sequence[Any]) -> Any:
    return sizes[0] if all(same(one, sizes[0]) for one in sizes) else None


def alike(seen: Sequence[Any], size: Sizes = equal) -> Any:
    """One value that is true where each of these is."""
    first = seen[0]
    if all(isinstance(one, Value) for one in seen):
        spec = _spec([one.spec for one in seen], size)
        is_loose = isinstance(spec, Spec) and spec.shape is None and (any(one.loose or _rank(one) == 0 for one in seen))
        return Value(spec, is_loose)
    if all(type(one) is type(first) and isinstance(one, (tuple, list)) and len(one) == len(first) for one in seen):
        entries = [alike(column, size) for column in zip(*seen, strict=True)]
        return type(first)(*entries) if hasattr(first, "_fields") else type(first)(entries)
    if all(type(one) is int for one in seen):
        found = size(seen)
        return UNKNOWN if found is None else found
    return first if is_constant(first) and all(same(one, first) for one in seen) else UNKNOWN


def _rank(value: Value) -> int | None:
    return value.spec.ndim if isinstance(value.spec, Spec) else None


def _spec(seen: Sequence[AnySpec], size: Sizes) -> AnySpec:
    first = seen[0]
    if not isinstance(first, Spec) or not all(isinstance(one, Spec) for one in seen):
        return first if all(same(one, first) for one in seen) else Spec()
    dtype = first.dtype if all(same_dtype(one.dtype, first.dtype) for one in seen) else None  # type: ignore[union-attr]  # all are specs of arrays
    python = first.python if all(one.python is first.python for one in seen) else None  # type: ignore[union-attr]  # the same
    shapes = [one.shape for one in seen]  # type: ignore[union-attr]  # the same
    if first.shape is None or not all(one is not None and len(one) == len(first.shape) for one in shapes):
        return Spec(None, dtype, python)
    return Spec(tuple([None if None in sizes else size(sizes) for sizes in zip(*shapes, strict=True)]), dtype, python)
