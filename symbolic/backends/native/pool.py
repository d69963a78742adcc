"""Where does the memory of large results come from? From results that nobody holds any more, as long as there are some.

The operating system gives fresh pages one by one, and clears each: for large arrays that takes as long as computing
them. An array from here is a view on a buffer that stays when the array goes.
"""

from __future__ import annotations

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
        start = -buffer.__array_interface__["data"][0] % _LINE
        return buffer[start : start + size].view(dtype).reshape(shape)


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
    made = np.empty(size + _LINE, np.uint8)
    alike.append(made)
    held = sum(one * len(buffers) for one, buffers in _buffers.items())
    for one, buffers in list(_buffers.items()):
        while held > _MOST and buffers and buffers[0] is not made:  # what an array holds goes with that
            held -= one
            del buffers[0]
        if not buffers:
            del _buffers[one]
    return made
