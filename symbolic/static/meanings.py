"""Which operation is a function, an operator or a method, and what do its arguments say of axes?"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from symbolic.layer import Layer
from symbolic.spec import Spec
from symbolic.static.abstract import Value

Args = Sequence[Any]
Kwargs = Mapping[str, Any]

_OPERATORS: dict[Any, str] = {
    operator.add: "add",
    operator.sub: "subtract",
    operator.mul: "multiply",
    operator.truediv: "divide",
    operator.floordiv: "floor_divide",
    operator.mod: "remainder",
    operator.pow: "power",
    operator.matmul: "matmul",
    operator.and_: "bitwise_and",
    operator.or_: "bitwise_or",
    operator.xor: "bitwise_xor",
    operator.lshift: "left_shift",
    operator.rshift: "right_shift",
    operator.lt: "less",
    operator.le: "less_equal",
    operator.gt: "greater",
    operator.ge: "greater_equal",
    operator.eq: "equal",
    operator.ne: "not_equal",
    operator.neg: "negative",
    operator.pos: "positive",
    operator.abs: "absolute",
    operator.invert: "invert",
    operator.getitem: "getitem",
    operator.setitem: "setitem",
}
_IN_PLACE: dict[Any, str] = {
    operator.iadd: "add",
    operator.isub: "subtract",
    operator.imul: "multiply",
    operator.itruediv: "divide",
    operator.ifloordiv: "floor_divide",
    operator.imod: "remainder",
    operator.ipow: "power",
    operator.imatmul: "matmul",
    operator.iand: "bitwise_and",
    operator.ior: "bitwise_or",
    operator.ixor: "bitwise_xor",
    operator.ilshift: "left_shift",
    operator.irshift: "right_shift",
}
_DUNDERS = {
    **{f"__{key.__name__.strip('_')}__": name for key, name in _OPERATORS.items()},
    "__setitem__": "setitem",
    "__getitem__": "getitem",
}
_DUNDERS_IN_PLACE = {f"__{key.__name__.strip('_')}__": name for key, name in _IN_PLACE.items()}
_ALIASES = {
    "amax": "max",
    "amin": "min",
    "true_divide": "divide",
    "mod": "remainder",
    "abs": "absolute",
    "pow": "power",
    "permute_dims": "transpose",
    "concat": "concatenate",
}
_MODULES = ("numpy", "scipy", "symbolic", "builtins", "math")

BINARY = {
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "float_power", "fmod"),
    *("maximum", "minimum", "fmax", "fmin", "hypot", "arctan2", "logaddexp", "logaddexp2", "copysign"),
}
"""Functions of two arrays, entry by entry, that give a number."""
COMPARING = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}
REDUCTIONS: dict[str, int] = {
    **dict.fromkeys(("sum", "mean", "prod", "max", "min", "var", "std", "any", "all", "ptp", "median"), 1),
    **dict.fromkeys(("nansum", "nanmean", "nanprod", "nanmax", "nanmin", "nanvar", "nanstd", "nanmedian"), 1),
    **dict.fromkeys(("average", "count_nonzero", "argmax", "argmin", "nanargmax", "nanargmin", "logsumexp"), 1),
    **dict.fromkeys(("norm", "quantile", "percentile", "nanquantile", "nanpercentile"), 2),
}
"""Functions that take axes away, and where among their arguments the axis stands."""
SOFTMAX = {"softmax", "log_softmax"}
MAKING = {
    *("zeros", "ones", "empty", "full", "eye", "identity", "tri", "arange", "linspace", "logspace", "geomspace"),
    *("array", "asarray", "zeros_like", "ones_like", "full_like", "empty_like"),
}


def name_of(function: Any) -> str:
    """The NumPy name of what is called, also for operators and for methods by their name; "" where it is none."""
    if isinstance(function, Layer):
        return ""
    if isinstance(function, str):
        return _DUNDERS.get(function) or _DUNDERS_IN_PLACE.get(function) or _ALIASES.get(function, function)
    try:
        return _name_of(function)
    except TypeError:  # it has no hash
        return ""


@lru_cache(maxsize=4096)
def _name_of(function: Any) -> str:
    known = _OPERATORS.get(function) or _IN_PLACE.get(function)
    if known is not None:
        return known
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return function.__name__  # type: ignore[no-any-return]  # "reduce", "outer"
    name = str(getattr(function, "__name__", ""))
    module = str(getattr(function, "__module__", "") or "numpy").partition(".")[0]
    return _ALIASES.get(name, name) if module in _MODULES or isinstance(function, np.ufunc) else ""


def is_in_place(function: Any, args: Args, kwargs: Kwargs) -> bool:
    """Whether the first argument is written to."""
    if isinstance(function, str):
        return function in _DUNDERS_IN_PLACE
    if isinstance(function, np.ufunc):
        out = kwargs.get("out", args[function.nin] if len(args) > function.nin else None)
        return out is not None and bool(args) and out is args[0]
    return function in _IN_PLACE


def is_elementwise(function: Any) -> bool:
    """Whether each entry of the result comes of the entries at its own place, after broadcasting."""
    name = name_of(function)
    found = getattr(np, name, None)
    ufunc = isinstance(found, np.ufunc) and found.signature is None
    return ufunc or isinstance(function, np.ufunc) or name in ("where", "clip", "round", "astype", "copy", "nan_to_num")


def argument(args: Args, kwargs: Kwargs, place: int, name: str, default: Any = None) -> Any:
    """An argument that stands at a place or is named."""
    return kwargs[name] if name in kwargs else args[place] if len(args) > place else default


def shape_of(value: Any) -> tuple[Any, ...] | None:
    """The shape of a value with a known rank; its sizes are numbers, names or `None`."""
    if not isinstance(value, Value):
        return () if type(value) in (bool, int, float, complex) else None
    spec = value.spec
    return spec.shape if isinstance(spec, Spec) else None


def dtype_of(value: Any) -> np.dtype[Any] | None:
    """The dtype of an array or of one of NumPy's scalars; `None` for Python's own numbers, which are weak."""
    spec = value.spec if isinstance(value, Value) else None
    return spec.dtype if isinstance(spec, Spec) and spec.python is None else None


def arrays(args: Args, kwargs: Kwargs) -> list[Value]:
    """The values among the arguments, those in lists too."""
    found: list[Value] = []
    for one in (*args, *kwargs.values()):
        if isinstance(one, Value):
            found.append(one)
        elif isinstance(one, (tuple, list)):
            found += arrays(one, {})
    return found


def axes_of(name: str, args: Args, kwargs: Kwargs, rank: int) -> tuple[int, ...] | None:
    """The axes that a reduction takes away; `None` where the arguments do not say."""
    axis = argument(args, kwargs, REDUCTIONS.get(name, 1), "axis")
    if axis is None:
        return tuple(range(rank))
    written = axis if isinstance(axis, tuple) else (axis,)
    if not all(isinstance(one, int) and -rank <= one < rank for one in written):
        return None
    return tuple(sorted({one % rank for one in written}))
