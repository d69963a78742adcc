"""What are NumPy's floating-point settings just now, and in what does it keep them?"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["VARIABLE", "settings"]


def _variable() -> Any:
    """The context variable behind `np.errstate`, in which whoever changes them puts another object.

    `None` where this NumPy keeps them elsewhere.
    """
    try:
        found: Any = import_module("numpy._core.umath")._extobj_contextvar
        before = found.get(None)
        with np.errstate(all="raise"):
            return None if found.get(None) is before else found
    except (ImportError, AttributeError):
        return None


VARIABLE: Any = _variable()
_SETTINGS: tuple[object, Mapping[str, Any] | None] = (None, None)


def settings() -> Mapping[str, Any]:
    """Them, as `np.geterr` tells; one object for as long as nobody changes them."""
    global _SETTINGS
    if VARIABLE is None:
        return np.geterr()
    now = VARIABLE.get(None)
    seen, told = _SETTINGS
    if now is not seen or told is None:
        told = np.geterr()
        _SETTINGS = now, told
    return told
