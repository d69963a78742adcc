"""How is a long graph written without Python looking through all of it for garbage, again and again?

Nearly all that is made on the way from a trace to its program lives on, so each such look costs and finds nothing.
"""

from __future__ import annotations

import gc
import os
from types import TracebackType

from symbolic.forking import rlock

__all__ = ["unswept"]


class unswept:  # noqa: N801  # it is entered like a function of contextlib's
    """A block, in whatever thread, within which the collector of garbage waits; afterwards it is as it was.

    >>> import gc
    >>> with unswept():
    ...     waits = not gc.isenabled()
    >>> waits, gc.isenabled()
    (True, True)
    """

    def __enter__(self) -> None:
        with _State.lock:
            _State.within += 1  # first: the handler of a signal, which may trace, finds that we are within
            if _State.within == 1:
                _State.resumes = gc.isenabled()
                gc.disable()

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> None:
        with _State.lock:
            if _State.within == 1 and _State.resumes:
                gc.enable()
            _State.within = max(_State.within - 1, 0)  # a child that was forked within begins anew


class _State:
    lock = rlock()
    within = 0
    """How many threads are in such a block, or how deep."""
    resumes = False


def _in_child() -> None:
    """The threads that were in a block have stayed behind."""
    if _State.within and _State.resumes:
        gc.enable()
    _State.within = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
