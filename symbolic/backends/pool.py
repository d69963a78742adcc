"""Where does the memory of large results come from? From results that nobody holds any more, as long as there are some.

The operating system gives fresh pages one by one, and clears each: for large arrays that takes as long as computing
them. An array from here is a view on a buffer that stays when the array goes. As far as a buffer fills pages of the
larger kind it is made of those: they are given in half of the time, and the processor finds entries in them sooner. The
small ones behind them are given at once, since each of them costs as much to ask for as to clear several.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np

from symbolic.forking import lock

__all__ = ["LARGE", "array", "give_back", "is_used"]

LARGE = 1 << 18
"""Bytes from which on an array's memory is worth keeping: it comes back to the operating system otherwise."""
_LARGEST, _MOST = 1 << 27, 1 << 28
"""Bytes of one buffer, and of all, that are kept."""
_HUGE, _WASTE = 1 << 21, 16
"""Bytes of a page of the larger kind, which is given and cleared as one; what is left empty of it is at most one part
in so many."""
_POPULATE = 23  # MADV_POPULATE_WRITE, which Python does not name
_LINE = 64
"""Bytes of a line of memory, at which arrays begin: each vector is then written into one of them."""
_buffers: dict[int, list[Any]] = {}
"""By the size of the arrays that they are for; those that were used last are at the end."""
_sizes: set[int] = set()
"""All for which there were buffers."""
_lock = lock()


def array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """An array that is not filled; its `base` is a buffer where it is large.

    >>> first = array((512, 512), np.dtype(float))
    >>> place = first.ctypes.data
    >>> del first
    >>> array((512, 512), np.dtype(float)).ctypes.data == place
    True
    """
    size = prod(shape) * dtype.itemsize
    if not LARGE <= size <= _LARGEST:
        return np.empty(shape, dtype)
    with _lock:
        buffer = _buffer(size)
        start = _start(buffer, size)
        return buffer[start : start + size].view(dtype).reshape(shape)


def _fresh(size: int) -> Any:
    """Memory for an array of that size, with room to begin where a line of memory does, or a large page."""
    import mmap

    if not _has_huge_pages():
        return np.empty(size + _LINE, np.uint8)
    huge = (size + _HUGE // _WASTE) // _HUGE * _HUGE
    try:
        memory = mmap.mmap(-1, max(size, huge) + bool(huge) * _HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:  # the system gives no more mappings
        return np.empty(size + _LINE, np.uint8)
    buffer = np.frombuffer(memory, np.uint8)
    start = _start(buffer, size)
    with suppress(OSError, AttributeError):  # a system without such pages, or one that is too old to give them at once
        if huge:
            memory.madvise(mmap.MADV_HUGEPAGE, start, huge)
        if huge < size:
            memory.madvise(_POPULATE, start + huge, size - huge)
    return buffer


def _start(buffer: Any, size: int) -> int:
    """Where in a buffer an array begins."""
    address: int = buffer.__array_interface__["data"][0]
    return -address % (_LINE if buffer.size < size + _HUGE else _HUGE)


def _has_huge_pages() -> bool:
    """Whether this system has them for those who ask; NumPy has a word by which users forbid to ask."""
    return sys.platform == "linux" and os.environ.get("NUMPY_MADVISE_HUGEPAGE", "1") != "0"


def _references(buffers: list[Any], k: int) -> int:
    return sys.getrefcount(buffers[k])


_FREE = _references([np.empty(1, np.uint8)], 0)
"""References to a buffer that no array has, as this version of Python counts them."""


def is_used() -> bool:
    """Whether there have been large results in this process."""
    return bool(_sizes)


def give_back() -> None:
    """All that no array has goes back to the operating system: something else needs much memory for a while.

    >>> held, gone = array((512, 512), np.dtype(float)), array((512, 512), np.dtype(float))
    >>> del gone
    >>> give_back()
    >>> [len(buffers) for buffers in _buffers.values() if buffers[0] is held.base]
    [1]
    """
    with _lock:
        for size, buffers in list(_buffers.items()):
            held = [k for k in range(len(buffers)) if _references(buffers, k) != _FREE]
            buffers[:] = [buffers[k] for k in held]
            if not held:
                del _buffers[size]


def _buffer(size: int) -> Any:
    """A buffer for an array of that size, which no other has."""
    alike = _buffers.pop(size, [])
    _buffers[size] = alike
    for k in range(len(alike)):
        if _references(alike, k) == _FREE:
            return alike[k]
    made = _fresh(size)
    _sizes.add(size)
    alike.append(made)
    held = sum(one * len(buffers) for one, buffers in _buffers.items())
    for one, buffers in list(_buffers.items()):
        while held > _MOST and buffers and buffers[0] is not made:  # what an array holds goes with that
            held -= one
            del buffers[0]
        if not buffers:
            del _buffers[one]
    return made
