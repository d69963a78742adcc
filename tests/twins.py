"""Which functions has JAX under the same name, and where does it differ from NumPy on purpose?"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from subjects import Subject


@functools.cache
def twin(name: str) -> Callable[..., Any] | None:
    """`jax.numpy`'s function for `np.linalg.norm` or `np.add.reduce`, `jax.scipy`'s for SciPy's; `None` without one."""
    import jax.numpy
    import jax.scipy

    found: Any = jax.scipy if name.startswith("scipy.") else jax.numpy
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found if callable(found) else None


RENAMED = {"np.clip": {"a_min": "min", "a_max": "max"}}


def in_jax(subject: Subject) -> dict[str, Any]:
    """The subject's parameters as JAX takes them: arrays in the place of lists."""
    names = RENAMED.get(subject.name, {})
    values = subject.parameters.items()
    return {names.get(k, k): np.asarray(value) if isinstance(value, list) else value for k, value in values}


NO_TWIN = {"np.divide.outer", "np.fix", "np.lib.stride_tricks.sliding_window_view", "np.power.outer"}
"""Functions that JAX does not have: only central differences speak for these."""

_TYPE_2_ONLY = {
    f"scipy.fft.{inverse}dct({parameters})"
    for inverse in ("", "i")
    for parameters in ("type=1", "type=3", "type=4", "type=3,norm='ortho'", "type=1,norm='forward'")
}
JAX_DIFFERS = {
    *_TYPE_2_ONLY,
    "scipy.fft.dctn(norm='ortho',type=3)",
    "scipy.fft.idctn(norm='ortho',type=3)",
    "np.gradient(edge_order=2,axis=(-1,))",
    "np.piecewise()",
    "np.std(axis=())",
    *(f"scipy.stats.gumbel_{side}.{name}()" for side in "lr" for name in ("logpdf", "pdf")),
    "scipy.linalg.solve(assume_a='uppertriangular')",
    "scipy.linalg.solve(transposed=True)",
    "scipy.linalg.solve_sylvester()",
    "scipy.special.boxcox()",
    "scipy.special.boxcox1p()",
    "scipy.special.spence()",
}
"""Subjects that JAX refuses (a traced condition), or where it has another convention (NaN for a deviation of 0, no
gradient by the exponent 0 of boxcox)."""
