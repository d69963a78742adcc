"""How is NumPy told at once to warn of nothing? By the variable behind `np.errstate`, whose values are made once."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["loud", "quiet"]

_SEEN: tuple[Any, Any] = (object(), None)
"""The settings that were in force the last time, and the same without warnings."""


def _with_errstate() -> Any:
    within = np.errstate(all="ignore")
    within.__enter__()
    return within


def _after_errstate(within: Any) -> None:
    within.__exit__(None, None, None)


def _fast() -> tuple[Any, Any]:
    """The two functions where this NumPy keeps its settings as is known; `np.errstate` elsewhere."""
    try:
        umath: Any = import_module("numpy._core.umath")
        settings, make = umath._extobj_contextvar, umath._make_extobj
        token = settings.set(make(all="ignore"))
        silent = set(np.geterr().values()) == {"ignore"}
        settings.reset(token)
    except (ImportError, AttributeError, TypeError, ValueError):
        return _with_errstate, _after_errstate
    if not silent:
        return _with_errstate, _after_errstate
    get, put = settings.get, settings.set

    def enter() -> Any:
        global _SEEN
        now, (seen, quieter) = get(None), _SEEN
        if now is not seen:  # they say more than this, such as the size of buffers
            quieter = make(all="ignore")
            _SEEN = (now, quieter)
        return put(quieter)

    return enter, settings.reset


quiet, loud = _fast()
"""`token = quiet()`, and `loud(token)` in a `finally`: the same as `with np.errstate(all="ignore")`, in less time."""
