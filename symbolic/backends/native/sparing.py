"""How does LLVM stop counting as memory of ours when its work is done? What the file of its library has, is let go.

Its code is in memory page by page as it runs, forty megabytes when it is loaded and as many when it works. Pages that
nobody has changed need not stay: the system has them in its cache of files, and puts them back one by one where LLVM
works again. What LLVM itself has freed goes back, too; the C library would keep it.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import sys
from collections.abc import Iterable, Iterator

__all__ = ["let_go"]

_LIBRARY = "libllvmlite"
_MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \S+\s*(.*)")
_DONT_NEED = 4  # MADV_DONTNEED


_found: list[tuple[int, int]] = []
"""Where the library lies: to ask the system takes milliseconds, and nobody moves it, or writes there later."""


def let_go() -> None:
    """Nothing, where the system does not tell which pages were changed."""
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(OSError, AttributeError):
        if not _found:
            with open("/proc/self/smaps", encoding="utf-8", errors="replace") as lines:
                _found[:] = _unchanged(lines)
        advise = ctypes.CDLL(None).madvise
        advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for start, stop in _found:
            advise(start, stop - start, _DONT_NEED)
        ctypes.CDLL(None).malloc_trim(ctypes.c_size_t(0))  # only glibc has it


def _unchanged(lines: Iterable[str]) -> Iterator[tuple[int, int]]:
    """From where to where the library lies as it is in its file: readable only, and with no page of our own."""
    start = stop = 0
    for line in lines:
        mapping = _MAPPING.match(line)
        if mapping is not None:
            known = _LIBRARY in mapping[4] and mapping[3][0] == "r" and "w" not in mapping[3]
            start, stop = (int(mapping[1], 16), int(mapping[2], 16)) if known else (0, 0)
        elif stop and line.startswith("Anonymous:") and line.split()[1] == "0":
            yield start, stop
