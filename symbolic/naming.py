"""Under which name do users know a function?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np


def qualified(func: Callable[..., Any]) -> str:
    """`np.linalg.norm`, or `scipy.special.logsumexp`, which stands in a private module of SciPy."""
    module = home(func).replace("numpy", "np", 1)
    return f"{module if module.startswith('np') else public(module)}.{getattr(func, '__name__', func)}"


def public(module: str) -> str:
    """Where users find what stands in a private module."""
    return ".".join(part for part in module.split(".") if not part.startswith("_"))


def home(func: Callable[..., Any]) -> str:
    """The module of a function. A ufunc does not know its own: those that are not SciPy's are NumPy's."""
    if isinstance(func, np.ufunc):
        special = sys.modules.get("scipy.special")
        return "scipy.special" if getattr(special, func.__name__, None) is func else "numpy"
    return str(getattr(func, "__module__", None) or "numpy")
