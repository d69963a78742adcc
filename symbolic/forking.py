"""What does a child of a fork find that threads held which it does not have? Nothing: their locks are free again.

Only the thread that forks lives on in the child. A lock that another one held would be held for good, and whoever asks
whether it is free would go a longer way for good.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from types import FrameType
from typing import Any, Protocol

__all__ = ["Freed", "freed", "lock", "rlock"]


class Freed(Protocol):
    """Something that notes that somebody is at work in it."""

    def free(self) -> None:
        """Nobody is at work in it."""


_LOCKS: weakref.WeakSet[Any] = weakref.WeakSet()
_ALL: weakref.WeakSet[Any] = weakref.WeakSet()


def lock() -> threading.Lock:
    """A lock that a fork frees, unless the thread that forks is itself within this library."""
    made = threading.Lock()
    _LOCKS.add(made)
    return made


def rlock() -> Any:
    """One that a thread may take again. A fork frees it unless the thread that forks has it."""
    made = threading.RLock()
    _LOCKS.add(made)
    return made


def freed(one: Freed) -> None:
    """Free this, too, in a child."""
    _ALL.add(one)


def _in_child() -> None:
    within = _is_within()
    for one in list(_LOCKS):
        has_owner = hasattr(one, "_is_owned")
        if not (one._is_owned() if has_owner else within):
            one._at_fork_reinit()
    if not within:
        for one in list(_ALL):
            one.free()


def _is_within() -> bool:
    """Whether this thread is within one of our functions, in a body or a callback: then it holds some itself."""
    frame: FrameType | None = sys._getframe(2)  # past these two
    while frame is not None:
        name, file = str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename
        if name.startswith(_OURS) or file.startswith("<symbolic "):
            return True
        frame = frame.f_back
    return False


_OURS = __name__.partition(".")[0] + "."

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
