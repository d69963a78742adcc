"""Which functions has JAX under the same name, and where does it differ from NumPy on purpose?"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


@functools.cache
def twin(name: str) -> Callable[..., Any] | None:
    """`jax.numpy`'s function for `np.linalg.norm` or `np.add.reduce`; `None` where there is none."""
    import jax.numpy

    found: Any = jax.numpy
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found if callable(found) else None


NO_TWIN: set[str] = set()
"""Functions that JAX does not have: only central differences speak for these."""

JAX_DIFFERS: set[str] = set()
"""Subjects that JAX refuses, or answers otherwise than NumPy."""
