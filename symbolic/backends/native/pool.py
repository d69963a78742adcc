"""Where does the memory of large results come from? From results that nobody holds any more, as long as there are some.

The operating system gives fresh pages one by one, and clears each: for large arrays that takes as long as computing
them. An array from here is a view on a buffer that stays when the array goes.
"""

from __future__ import annotations

import sys
import threading
from math import prod
from typing import Any

import numpy as np

__all__ = ["LARGE", "array"]

LARGE = 1 << 20
"""Bytes from which on an array's memory is worth keeping."""
_LARGEST, _MOST = 1 << 27, 1 << 28
"""Bytes of one buffer, and of all, that are kept."""
_buffers: list[Any] = []
_lock = threading.Lock()


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
        return _buffer(size)[:size].view(dtype).reshape(shape)


def _references(buffers: list[Any], k: int) -> int:
    return sys.getrefcount(buffers[k])


_FREE = _references([np.empty(1, np.uint8)], 0)
"""References to a buffer that no array has, as this version of Python counts them."""


def _buffer(size: int) -> Any:
    """A buffer of that size that no array holds."""
    for k in range(len(_buffers)):
        if _buffers[k].size == size and _references(_buffers, k) == _FREE:
            return _buffers[k]
    made = np.empty(size, np.uint8)
    _buffers.append(made)
    held = sum(one.size for one in _buffers)
    for buffer in list(_buffers[:-1]):  # the oldest go first; what an array holds goes with that
        if held > _MOST:
            held -= buffer.size
            _buffers[:] = [one for one in _buffers if one is not buffer]
    return made
