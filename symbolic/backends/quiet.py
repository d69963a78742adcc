"""How is NumPy told at once to warn of nothing? By the variable behind `np.errstate`, whose values are made once.

And how is heard, without a word, that it would have warned, or raised?
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from symbolic.floating import VARIABLE

__all__ = ["HEARD", "hushed", "loud", "quiet"]


class _Heard:
    """How often NumPy would have said something where it was hushed, in all threads."""

    times = 0


HEARD = _Heard()


def _hear(what: str, flag: int) -> None:
    HEARD.times += 1


def _hushed_settings() -> dict[str, Any]:
    """Those that are in force, but each word is only counted."""
    said = {name: "ignore" if how == "ignore" else "call" for name, how in np.geterr().items()}
    return {**said, "call": _hear}


def _with_errstate() -> Any:
    return _entered(np.errstate(all="ignore"))


def _with_counting() -> Any:
    return _entered(np.errstate(**_hushed_settings()))


def _entered(within: Any) -> Any:
    within.__enter__()
    return within


def _after_errstate(within: Any) -> None:
    within.__exit__(None, None, None)


def _fast() -> tuple[Any, Any, Any]:
    """The functions where this NumPy keeps its settings as is known; `np.errstate` elsewhere."""
    slow = _with_errstate, _with_counting, _after_errstate
    if VARIABLE is None:
        return slow
    settings = VARIABLE
    try:
        make = import_module("numpy._core.umath")._make_extobj
        token = settings.set(make(all="ignore"))
        silent = set(np.geterr().values()) == {"ignore"}
        settings.reset(token)
        token, before = settings.set(make(all="call", call=_hear)), HEARD.times
        np.divide(np.ones(1), np.zeros(1))
        silent = silent and HEARD.times == before + 1
        settings.reset(token)
    except (ImportError, AttributeError, TypeError, ValueError):
        return slow
    if not silent:
        return slow
    get, put = settings.get, settings.set

    def entry(changed: Any) -> Any:
        seen: tuple[Any, Any] = (object(), None)  # the settings in force the last time, and what was made of them

        def enter() -> Any:
            nonlocal seen
            now, (known, made) = get(None), seen
            if now is not known:  # they say more than this, such as the size of buffers
                made = make(**changed())
                seen = (now, made)
            return put(made)

        return enter

    return entry(lambda: {"all": "ignore"}), entry(_hushed_settings), settings.reset


quiet: Any
hushed: Any
loud: Any
quiet, hushed, loud = _fast()
"""`token = quiet()`, and `loud(token)` in a `finally`: the same as `with np.errstate(all="ignore")`, in less time.

`hushed()` in the place of `quiet()`: `HEARD.times` grows where NumPy would have warned, printed, called or raised.
"""
