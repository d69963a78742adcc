"""Who helps where the work of a program is divided? Threads that wait for `tickets`, and sleep when none come.

Whether it pays to ask them is measured elsewhere (`trials`). A child of a fork has no helpers.
"""

from __future__ import annotations

import ctypes
import os
import signal
from functools import cache
from typing import Any

import numpy as np

from symbolic.backends.native.engine import Library, load
from symbolic.backends.native.host import threads
from symbolic.backends.native.tickets import WORDS, text
from symbolic.forking import rlock
from symbolic.midway import AT_WORK


class _Team:
    """The memory that callers and helpers share; its first word is the function by which work is done."""

    library: Library

    def __init__(self) -> None:
        self.library = load(text())
        self.words = np.zeros(WORDS + 8, np.uint64)
        self.words = self.words[-self.words.ctypes.data % 64 // 8 :][:WORDS]  # no other memory in these lines
        self.address = self.words.ctypes.data
        self.work_alone()
        self.helpers = 0
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self))  # helpers sleep here when Python itself has ended

    def work_alone(self) -> None:
        self.words[:] = 0
        self.words[0] = self.library.address("alone")

    def leave(self) -> None:
        """In the child of a fork: the helpers are the parent's."""
        self.work_alone()
        self.helpers = -1

    def grow(self, threads: int) -> None:
        """So many threads, with the caller, from now on."""
        if self.helpers < 0:
            return
        while self.helpers < threads - 1:
            _start(self.library.address("helper"), self.address)
            self.helpers += 1
        if self.helpers > 0:
            self.words[0] = self.library.address("together")


def _start(function: int, argument: int) -> None:
    """A thread that knows nothing of Python, and takes no signals."""
    create: Any = ctypes.CDLL(None).pthread_create
    create.argtypes = [ctypes.c_void_p] * 4
    detach: Any = ctypes.CDLL(None).pthread_detach
    detach.argtypes = [ctypes.c_void_p]
    thread = ctypes.c_void_p()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        if create(ctypes.addressof(thread), None, function, argument) == 0:
            detach(thread)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@cache
def _team() -> _Team:
    found = _Team()
    os.register_at_fork(after_in_child=found.leave)
    return found


_GROWING = rlock()


def address() -> int:
    """Of the team, whose helpers are there when this returns; it stays for as long as the process lives."""
    with AT_WORK, _GROWING:
        team = _team()
        team.grow(threads())
    return team.address
