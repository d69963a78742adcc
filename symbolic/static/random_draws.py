"""Which shape and dtype has what is drawn at random?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symbolic.polynomial import Size
from symbolic.spec import Spec
from symbolic.static.abstract import UNKNOWN, Value
from symbolic.static.holding import traced

_SIZE_AT = {
    **dict.fromkeys(("random", "standard_normal", "random_sample", "standard_cauchy"), 0),
    **dict.fromkeys(("exponential", "rayleigh", "standard_t", "chisquare", "standard_gamma"), 1),
    **dict.fromkeys(("normal", "uniform", "laplace", "logistic", "gumbel", "beta", "gamma", "lognormal"), 2),
}
"""The position of `size` among the arguments of what draws floating numbers."""


def drawn(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What `generator.normal(size=(3, 4))` gives."""
    if name in ("rand", "randn"):
        return _array(tuple(args), float) if args else UNKNOWN
    if name in _SIZE_AT:
        rest = [*args[: _SIZE_AT[name]], *[kwargs[key] for key in kwargs if key not in ("size", "dtype")]]
        size = kwargs.get("size", args[_SIZE_AT[name]] if len(args) > _SIZE_AT[name] else None)
        plain = all(isinstance(one, (int, float)) for one in rest)
        return _array(size, kwargs.get("dtype", float)) if plain and size is not None else UNKNOWN
    if name in ("integers", "randint") and "size" in kwargs and all(isinstance(one, (int, Size)) for one in args):
        return _array(kwargs["size"], kwargs.get("dtype", np.int64))
    return UNKNOWN


def _array(size: Any, dtype: Any) -> Any:
    sizes = tuple(size) if type(size) in (tuple, list) else (size,)
    if not all(isinstance(one, (int, Size)) and not isinstance(one, bool) for one in sizes):
        return UNKNOWN
    try:
        return traced(Value(Spec(sizes, np.dtype(dtype))))
    except TypeError:
        return UNKNOWN
