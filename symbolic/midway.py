"""What may a child of a fork not find midway? Imports and LLVM's work, which nobody could go on with: a fork waits.

A module that another thread was importing would stay half a module, whose lock nobody has, and LLVM would wait for
itself. So whoever imports or compiles says so, and a fork in another thread waits for the end of it, or for a place
where it can be left; nothing new begins meanwhile. Where that takes too long, the child knows that it was cut off.
"""

from __future__ import annotations

import importlib._bootstrap
import os
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeAlias

__all__ = ["AT_WORK", "Release", "breathe", "cut", "held", "left"]

Release: TypeAlias = Callable[[], Any]

LONGEST = 10.0  # seconds that a fork waits: programs of thousands of operations are compiled in less
_LOOK = 0.0005  # seconds between two looks; there is no lock here, which a fork might find held
_OURS, _LLVM = "symbolic", "llvmlite"

_WORKING: dict[int, int] = {}
"""By thread how many times it is at work, one within another."""
_FORKING: list[tuple[int, float]] = []
"""The threads that are about to fork, and until when the others let them."""
_HELD: list[Callable[[], Release | None]] = []
_CUT: list[str] = []


class _AtWork:
    """`with AT_WORK:` around what a fork in another thread must not cut in two; again within it, if need be."""

    __slots__ = ()

    def __enter__(self) -> None:
        me = threading.get_ident()
        if me in _WORKING:
            _WORKING[me] += 1
        else:
            _begin(me)

    def __exit__(self, *error: object) -> None:
        me = threading.get_ident()
        if _WORKING.get(me, 0) > 1:
            _WORKING[me] -= 1
        else:
            _WORKING.pop(me, None)


AT_WORK = _AtWork()


def _begin(me: int) -> None:
    """Say so first, and look then: whoever forks does it the other way round, so that one of them sees the other."""
    while True:
        _WORKING[me] = 1
        if not _is_awaited(me):
            return
        del _WORKING[me]
        time.sleep(_LOOK)


def _is_awaited(me: int) -> bool:
    now = time.monotonic()
    return any(one != me and now < end for one, end in _FORKING)


def breathe() -> None:
    """A place where work may be left: if another thread is waiting to fork, it does so now."""
    me = threading.get_ident()
    depth = _WORKING.get(me, 0)
    if depth and _is_awaited(me):
        del _WORKING[me]
        _begin(me)
        _WORKING[me] = depth


def held(hold: Callable[[], Release | None]) -> None:
    """What else a fork holds, once nobody is at work. `hold` gives what lets go again, `None` where others keep it."""
    _HELD.append(hold)


def left() -> float:
    """For how many seconds this thread's fork still waits."""
    me = threading.get_ident()
    return max([0.001, *[end - time.monotonic() for one, end in _FORKING if one == me]])


def cut() -> str:
    """Why this process compiles nothing, as a sentence goes on: a fork cut off the work of its parent. Else empty."""
    return _CUT[0] if _CUT else ""


# --------------------------------------------------------------------------- the fork
_HOLDING: list[list[Release | None]] = []


def _before() -> None:
    me = threading.get_ident()
    end = time.monotonic() + LONGEST
    _FORKING.append((me, end))
    while (_others(me) or _importing(me)) and time.monotonic() < end:
        time.sleep(_LOOK)
    got: list[Release | None] = []
    _HOLDING.append(got)
    for hold in list(_HELD):
        got.append(None)  # until it is held: an interrupt may come before
        got[-1] = hold()


def _others(me: int) -> list[int]:
    """The other threads that are at work. One that ended without saying so, or by an interrupt at the door, is not."""
    marked = [one for one in list(_WORKING) if one != me]
    frames = sys._current_frames() if marked else {}
    for one in marked:
        if not _is_ours(frames.get(one)):
            _WORKING.pop(one, None)
    return [one for one in marked if one in _WORKING]


def _is_ours(frame: FrameType | None) -> bool:
    """Whether a thread is within this library."""
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(f"{_OURS}."):
            return True
        frame = frame.f_back
    return False


def _importing(me: int) -> list[str]:
    """The modules of ours, and of what we compile with, that other threads are importing."""
    found = []
    for name, reference in list(_LOCKS.items()):
        if name.partition(".")[0] in (_OURS, _LLVM) and getattr(reference(), "owner", None) not in (None, me):
            found.append(name)
    return found


_LOCKS: dict[str, Any] = getattr(importlib._bootstrap, "_module_locks", {})


def _let_go() -> bool:
    """Whether all was held that was to be."""
    found = _HOLDING.pop() if _HOLDING else []
    for release in reversed(found):
        if release is not None:
            release()
    return None not in found


def _in_parent() -> None:
    me = threading.get_ident()
    _let_go()
    _FORKING[:] = [one for one in _FORKING if one[0] != me]


def _in_child() -> None:
    me = threading.get_ident()
    half = _importing(me)
    if not _let_go() or any(one != me for one in _WORKING) or any(one.startswith(_LLVM) for one in half):
        _CUT.append("this process is a fork that cut off the work of a compiler in its parent")
    for one in [one for one in _WORKING if one != me]:
        del _WORKING[one]
    for name in half:
        _again(name)
    _FORKING.clear()


def _again(name: str) -> None:
    """A module that nobody goes on importing is imported anew by whoever needs it."""
    _LOCKS.pop(name, None)
    if name.startswith(_OURS) and getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
        del sys.modules[name]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
