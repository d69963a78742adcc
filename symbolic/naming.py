"""Under which name do users know a function?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

REMEDIES: dict[str, str] = {}
"""What to write instead of a function of NumPy's: by its name, or by that of its module."""


def instead_of(name: str) -> str:
    """The remedy for a function that is refused; empty where there is none but the usual one."""
    return REMEDIES.get(name) or REMEDIES.get(name.rpartition(".")[0], "")


def qualified(func: Callable[..., Any]) -> str:
    """`np.linalg.norm`, or `scipy.special.logsumexp`, which stands in a private module of SciPy."""
    module, name = home(func).replace("numpy", "np", 1), getattr(func, "__name__", func)
    if module == "np.strings":
        name = str(name).lstrip("_")
    return f"{module if module.startswith('np') else public(module)}.{name}"


def public(module: str) -> str:
    """Where users find what stands in a private module."""
    return ".".join(part for part in module.split(".") if not part.startswith("_"))


def home(func: Callable[..., Any]) -> str:
    """The module of a function. A ufunc does not know its own: those that are not SciPy's are NumPy's."""
    if isinstance(func, np.ufunc):
        special = sys.modules.get("scipy.special")
        if getattr(special, func.__name__, None) is func:
            return "scipy.special"
        if hasattr(np, func.__name__):
            return "numpy"
        known = hasattr(np.strings, func.__name__.lstrip("_")) or func.__name__.startswith("_")
        return "numpy.strings" if known else "numpy.frompyfunc"
    return str(getattr(func, "__module__", None) or "numpy")
