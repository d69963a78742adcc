"""Who helps where the work of a program is divided? Threads that sleep until there is work, and take what is left.

Work is a function of a table and a number, for all numbers below a count: tickets, which the caller and the helpers
take one after the other. The caller never waits for a helper to begin, only for tickets that a helper has taken: where
none wakes in time, the caller has done it all. Whether it pays to ask them is measured elsewhere (`trials`). A child of
a fork has no helpers.
"""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from functools import cache
from typing import Any

import numpy as np

from symbolic.backends.native.engine import Library, load
from symbolic.backends.native.host import threads

_WORDS = 64
_PLACES = {
    "state": 1,
    "counts": 2,
    "finished": 3,
    "works": 4,
    "tables": 5,
    "busy": 6,
    "lock": 16,
    "wake": 24,
    "end": 32,
}
"""The words after the first, which is how work is done: the round, times 2³², and the next ticket; how many tickets
there are, and are done; the work and its table; whether somebody is busy; a lock, and what threads sleep at."""

_TEXT = """
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)

define void @alone(ptr %team, ptr %work, ptr %table, i64 %count) {
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %after, %body ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %body, label %done
body:
  call void %work(ptr %table, i64 %i)
  %after = add i64 %i, 1
  br label %next
done:
  ret void
}

define internal i64 @tickets(ptr %team, i64 %round, ptr %work, ptr %table, i64 %count) {
entry:
  %state = getelementptr i64, ptr %team, i64 1
  br label %next
next:
  %n = phi i64 [ 0, %entry ], [ %n, %take ], [ %more, %body ]
  %now = load atomic i64, ptr %state seq_cst, align 8
  %i = sub i64 %now, %round
  %left = icmp ult i64 %i, %count
  br i1 %left, label %take, label %done
take:
  %then = add i64 %now, 1
  %pair = cmpxchg ptr %state, i64 %now, i64 %then seq_cst seq_cst, align 8
  %mine = extractvalue { i64, i1 } %pair, 1
  br i1 %mine, label %body, label %next
body:
  call void %work(ptr %table, i64 %i)
  %more = add i64 %n, 1
  br label %next
done:
  ret i64 %n
}

define void @together(ptr %team, ptr %work, ptr %table, i64 %count) {
entry:
PLACES
  %pair = cmpxchg ptr %busy, i64 0, i64 1 seq_cst seq_cst, align 8
  %free = extractvalue { i64, i1 } %pair, 1
  br i1 %free, label %begin, label %alone
alone:
  call void @alone(ptr %team, ptr %work, ptr %table, i64 %count)
  ret void
begin:
  %l1 = call i32 @pthread_mutex_lock(ptr %lock)
  store ptr %work, ptr %works
  store ptr %table, ptr %tables
  store i64 %count, ptr %counts
  store i64 0, ptr %finished
  %before = load i64, ptr %state
  %old = lshr i64 %before, 32
  %new = add i64 %old, 1
  %round = shl i64 %new, 32
  store atomic i64 %round, ptr %state seq_cst, align 8
  %b1 = call i32 @pthread_cond_broadcast(ptr %wake)
  %u1 = call i32 @pthread_mutex_unlock(ptr %lock)
  %mine = call i64 @tickets(ptr %team, i64 %round, ptr %work, ptr %table, i64 %count)
  %l2 = call i32 @pthread_mutex_lock(ptr %lock)
  %others = load i64, ptr %finished
  %so = add i64 %others, %mine
  store i64 %so, ptr %finished
  br label %check
check:
  %have = load i64, ptr %finished
  %all = icmp eq i64 %have, %count
  br i1 %all, label %over, label %wait
wait:
  %w = call i32 @pthread_cond_wait(ptr %end, ptr %lock)
  br label %check
over:
  %u2 = call i32 @pthread_mutex_unlock(ptr %lock)
  store atomic i64 0, ptr %busy seq_cst, align 8
  ret void
}

define ptr @helper(ptr %team) {
entry:
PLACES
  %l1 = call i32 @pthread_mutex_lock(ptr %lock)
  br label %look
look:
  %seen = phi i64 [ 0, %entry ], [ %seen, %sleep ], [ %round, %told ]
  %now = load atomic i64, ptr %state seq_cst, align 8
  %number = lshr i64 %now, 32
  %round = shl i64 %number, 32
  %same = icmp eq i64 %round, %seen
  br i1 %same, label %sleep, label %begin
sleep:
  %w = call i32 @pthread_cond_wait(ptr %wake, ptr %lock)
  br label %look
begin:
  %work = load ptr, ptr %works
  %table = load ptr, ptr %tables
  %count = load i64, ptr %counts
  %u1 = call i32 @pthread_mutex_unlock(ptr %lock)
  %mine = call i64 @tickets(ptr %team, i64 %round, ptr %work, ptr %table, i64 %count)
  %l2 = call i32 @pthread_mutex_lock(ptr %lock)
  %any = icmp ne i64 %mine, 0
  br i1 %any, label %tell, label %told
tell:
  %others = load i64, ptr %finished
  %so = add i64 %others, %mine
  store i64 %so, ptr %finished
  %s1 = call i32 @pthread_cond_signal(ptr %end)
  br label %told
told:
  br label %look
}
""".replace("PLACES", "\n".join(f"  %{name} = getelementptr i64, ptr %team, i64 {k}" for name, k in _PLACES.items()))


class _Team:
    """The memory that callers and helpers share; its first word is the function by which work is done."""

    library: Library

    def __init__(self) -> None:
        self.library = load(_TEXT)
        self.words = np.zeros(_WORDS + 8, np.uint64)
        self.words = self.words[-self.words.ctypes.data % 64 // 8 :][:_WORDS]  # no other memory in these lines
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
    os.register_at_fork(before=_GROWING.acquire, after_in_parent=_GROWING.release, after_in_child=_GROWING.release)
    os.register_at_fork(after_in_child=found.leave)
    return found


_GROWING = threading.RLock()


def address() -> int:
    """Of the team, whose helpers are there when this returns; it stays for as long as the process lives."""
    with _GROWING:
        team = _team()
        team.grow(threads())
    return team.address
