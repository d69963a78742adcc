"""What is the type of the delta of a native type, by the mappings that are built in? By the one registry.

Types are named in full, `numpy.int16`, as checkers know them. What a program registers itself its checker must find:
no user code is imported.
"""

from __future__ import annotations

import builtins
import enum
from typing import Any

import numpy as np

from symbolic.literal import NoDelta, ToLiteral

_HOMES: dict[str, Any] = {"builtins": builtins, "numpy": np, "enum": enum}
NO_DELTA = f"{NoDelta.__module__}.{NoDelta.__qualname__}"


def delta_of(native: str) -> str | None:
    """The full name of the delta's type, `symbolic.literal.NoDelta` where there is no gradient; `None` for a type
    that has no built-in mapping.

    >>> delta_of("builtins.int"), delta_of("numpy.float32"), delta_of("numpy.int16")
    ('builtins.float', 'numpy.float32', 'symbolic.literal.NoDelta')
    """
    if native in ("None", "types.NoneType", "builtins.None"):
        return NO_DELTA
    module, _, name = native.rpartition(".")
    kind = getattr(_HOMES.get(module), name, None)
    bases = kind.__mro__ if isinstance(kind, type) else ()
    found = next((_BUILT_IN[base] for base in bases if base in _BUILT_IN), None)
    if found is None:
        return None
    if found.delta is NoDelta:
        return NO_DELTA
    return native if found.delta is found.data else f"{found.delta.__module__}.{found.delta.__qualname__}"


_BUILT_IN = {data: mapping for data, mapping in ToLiteral.registry.items() if type(mapping) is ToLiteral}
"""The mappings that this library brings: a program's own are of a class of their own."""


def built_in() -> dict[str, str]:
    """Every built-in mapping, the native types and those of their deltas by their full names."""
    names = [f"{data.__module__}.{data.__qualname__}" for data in _BUILT_IN]
    return {name: found for name in names if (found := delta_of(name)) is not None}
