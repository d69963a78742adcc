"""Where does the memory of large results come from? From results that nobody holds any more, as long as there are some.

The operating system gives fresh pages one by one, and clears each: for large arrays that takes as long as computing
them. An array from here is a view on a buffer that stays when the array goes. A buffer that nearly fills pages of the
larger kind is made of those: they are given in half of the time, and the processor finds entries in them sooner.
"""

from __future__ import annotations

import os
import sys
from math import prod
from typing import Any

import numpy as np

from symbolic.forking import lock

__all__ = ["LARGE", "array"]

LARGE = 1 << 18
"""Bytes from which on an array's memory is worth keeping: it comes back to the operating system otherwise."""
_LARGEST, _MOST = 1 << 27, 1 << 28
"""Bytes of one buffer, and of all, that are kept."""
_HUGE, _WASTE = 1 << 21, 16
"""Bytes of a page of the larger kind, which is given and cleared as one; what is left empty of the last one is at most
one part in so many."""
_LINE = 64
"""Bytes of a line of memory, at which arrays begin: each vector is then written into one of them."""
_buffers: dict[int, list[Any]] = {}
"""By the size of the arrays that they are for; those that were used last are at the end."""
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
        start = -buffer.__array_interface__["data"][0] % (_LINE if buffer.size < size + _HUGE else _HUGE)
        return buffer[start : start + size].view(dtype).reshape(shape)


def _fresh(size: int) -> Any:
    """Memory for an array of that size, with room to begin where a line of memory does, or a large page."""
    import mmap

    whole = -(-size // _HUGE) * _HUGE
    if not _has_huge_pages() or (whole - size) * _WASTE > size:
        return np.empty(size + _LINE, np.uint8)
    try:
        memory = mmap.mmap(-1, whole + _HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        memory.madvise(mmap.MADV_HUGEPAGE)
    except (OSError, AttributeError):  # the system gives no more mappings, or has no such pages
        return np.empty(size + _LINE, np.uint8)
    return np.frombuffer(memory, np.uint8)


def _has_huge_pages() -> bool:
    """Whether this system has them for those who ask; NumPy has a word by which users forbid to ask."""
    return sys.platform == "linux" and os.environ.get("NUMPY_MADVISE_HUGEPAGE", "1") != "0"


def _references(buffers: list[Any], k: int) -> int:
    return sys.getrefcount(buffers[k])


_FREE = _references([np.empty(1, np.uint8)], 0)
"""References to a buffer that no array has, as this version of Python counts them."""


def _buffer(size: int) -> Any:
    """A buffer for an array of that size, which no other has."""
    alike = _buffers.pop(size, [])
    _buffers[size] = alike
    for k in range(len(alike)):
        if _references(alike, k) == _FREE:
            return alike[k]
    made = _fresh(size)
    alike.append(made)
    held = sum(one * len(buffers) for one, buffers in _buffers.items())
    for one, buffers in list(_buffers.items()):
        while held > _MOST and buffers and buffers[0] is not made:  # what an array holds goes with that
            held -= one
            del buffers[0]
        if not buffers:
            del _buffers[one]
    return made
