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


_OUTER = (
    *("arctan2", "copysign", "divide", "equal", "float_power", "floor_divide", "fmax", "fmin", "fmod", "gcd"),
    *("greater", "greater_equal", "heaviside", "hypot", "lcm", "ldexp", "left_shift", "less", "less_equal"),
    *("nextafter", "not_equal", "power", "remainder", "right_shift"),
)
_FOLDED = tuple([f"{one}.{way}" for one in ("fmax", "fmin", "hypot") for way in ("accumulate", "reduce", "reduceat")])
_SCIMATH = ("arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt")
_IS_OLD = np.lib.NumpyVersion(np.__version__) < "2.4.0"
NO_TWIN = {
    *("np.copyto", "np.fix", "np.putmask", "np.real_if_close", "np.lib.stride_tricks.sliding_window_view"),
    *(f"np.polynomial.polynomial.{name}" for name in ("polygrid2d", "polyval2d") if not _IS_OLD),
    *(f"np.{name}.outer" for name in _OUTER),
    *(f"np.{name}" for name in _FOLDED),
    *(f"np.lib.scimath.{name}" for name in _SCIMATH),
}
"""Functions that JAX does not have: only central differences speak for these."""

NO_RULE = {
    *("np.add.at", "np.subtract.at"),
    *("np.logical_and.reduceat", "np.logical_or.reduceat", "np.logical_xor.reduceat"),
    *("np.copyto", "np.fill_diagonal", "np.place", "np.put", "np.put_along_axis", "np.putmask"),
    *("np.unique", "np.unique_values", "np.union1d", "np.setdiff1d", "np.setxor1d", "np.intersect1d"),
    *(
        "np.nextafter",
        "np.spacing",
        "np.trim_zeros",
        "np.apply_along_axis",
        "np.polydiv",
        "np.ix_",
        "np.partition",
        "np.argpartition",
    ),
}
"""Functions that JAX has no derivative of (it writes into no array, and sets have none), or gives in another order or
length."""

_TYPE_2_ONLY = {
    f"scipy.fft.{inverse}dct({parameters})"
    for inverse in ("", "i")
    for parameters in ("type=1", "type=3", "type=4", "type=3,norm='ortho'", "type=1,norm='forward'")
}
JAX_DIFFERS = {
    *_TYPE_2_ONLY,
    "scipy.fft.dctn(norm='ortho',type=3)",
    "scipy.fft.idctn(norm='ortho',type=3)",
    *("np.gradient(edge_order=2,axis=(-1,))", "np.piecewise()", "np.std(axis=())"),
    *("np.quantile(q=0.3,method='weibull')", "np.nanquantile(q=0.3,method='hazen')"),
    "np.percentile(q=40.0,method='averaged_inverted_cdf')",
    *(f"scipy.stats.gumbel_{side}.{name}()" for side in "lr" for name in ("logpdf", "pdf")),
    "scipy.linalg.solve(assume_a='uppertriangular')",
    "scipy.linalg.solve(transposed=True)",
    "scipy.linalg.solve_sylvester()",
    "scipy.special.boxcox()",
    "scipy.special.boxcox1p()",
    "scipy.special.spence()",
}
"""Subjects that JAX refuses (a traced condition, a method), or where it has another convention: NaN for a deviation
of 0, no gradient by the exponent 0 of boxcox."""
