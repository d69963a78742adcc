"""What processor is this? How wide are its vectors, how many registers and how much cache has it?

Code is written for one of a few levels, not for a model: the tuning of LLVM for one model made no measurable difference
to code whose vectors are explicit, and code for a level is the same on every machine that has it.
"""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from symbolic.errors import SymbolicError

if TYPE_CHECKING:
    from symbolic.backends.native.text import Module

__all__ = ["ARM", "AVX2", "AVX512", "SSE2", "Host", "Misset", "host", "threads"]


class Misset(SymbolicError):  # noqa: N818  # users see its base
    """A variable of the environment asks for what there is not: nobody else's fault, and nothing runs."""


class Host(NamedTuple):
    """What code is written for."""

    cpu: str
    """LLVM's name for the level."""
    features: str
    """What there is beyond that, as LLVM writes it: `+a,-b`."""
    vector_bits: int
    registers: int
    """How many vector registers."""
    fma: bool
    """Whether a · b + c is rounded once as quickly as the product alone."""
    l1: int = 32 << 10
    """Bytes of the first cache of one core."""
    l2: int = 1 << 20
    """Bytes of the second."""
    machine: str = "x86_64"
    """The architecture, as LLVM begins a triple."""
    shares: bool = False
    """Whether long work is divided among threads."""

    def module(self) -> Module:
        """A module for functions that are written for it."""
        from symbolic.backends.native.text import Module

        return Module(self.fma, self.vector_bits == 512)

    def lanes(self, element: str) -> int:
        """How many `double`, `float`, `i64`, … fill a vector register."""
        from symbolic.backends.native.text import BITS

        return self.vector_bits // BITS[element]


SSE2 = Host("x86-64", "", 128, 16, False)
AVX2 = Host("x86-64-v3", "", 256, 16, True)
AVX512 = Host("x86-64-v4", "", 512, 32, True)
ARM = Host("generic", "", 128, 32, True, machine="aarch64")

MOST_THREADS = 4
LEVELS = {"sse2": SSE2, "avx2": AVX2, "avx512": AVX512}
_NEEDS = {
    # what the System V ABI counts to x86-64-v3 and v4, in Linux's words (which calls lzcnt `abm`)
    "avx2": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
    "avx512": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}
_LINUX_WORDS = {"bmi": "bmi1", "lzcnt": "abm"}


@cache
def host() -> Host:
    """This processor, or the lesser one that `SYMBOLIC_CPU` chooses: `sse2`, `avx2`, `avx512`; `host` is all it can.

    Raises:
        SymbolicError: the word is unknown, or names what this processor cannot do.
    """
    machine = platform.machine().lower() if sys.maxsize > 2**32 else "32 bits"
    return chosen(os.environ.get("SYMBOLIC_CPU", "").strip().lower() or "host", machine)


def chosen(word: str, machine: str) -> Host:
    """What a word means on a machine of this architecture."""
    if word not in {*LEVELS, "host"}:
        raise Misset(
            f"SYMBOLIC_CPU is {word!r}, which is no processor",
            where="the environment",
            remedy="set it to sse2, avx2, avx512 or host, or unset it",
        )
    if machine in ("aarch64", "arm64"):
        able = {"host": ARM}
    elif machine in ("x86_64", "amd64"):
        able = _able(_flags())
    else:
        raise SymbolicError(
            f"no code is written for a processor of kind {machine!r}",
            where="the native machine",
            remedy='call symbolic.use("numpy")',
        )
    if word not in able:
        raise Misset(
            f"SYMBOLIC_CPU is {word!r}, and this processor has no such instructions",
            where="the environment",
            remedy=f"set it to one of {', '.join(able)}, or unset it",
        )
    l1, l2 = _cache_sizes()
    return able[word]._replace(l1=l1, l2=l2, shares=threads() > 1)


def threads() -> int:
    """How many threads one program may use, up to four: the cores of this process, or what SYMBOLIC_THREADS says.

    Without that, OMP_NUM_THREADS counts, as for other libraries: whoever runs many processes sets it to 1.

    Raises:
        SymbolicError: it says something else than a whole number from 1 on.
    """
    told, others = [os.environ.get(name, "").strip() for name in ("SYMBOLIC_THREADS", "OMP_NUM_THREADS")]
    if told and not (told.isascii() and told.isdigit() and int(told)):
        raise Misset(
            f"SYMBOLIC_THREADS is {told!r}, which is no number of threads",
            where="the environment",
            remedy="set it to 1, 2, 3 or 4, or unset it",
        )
    if not told and others.isascii() and others.isdigit() and int(others):
        told = others
    if not sys.platform.startswith("linux"):
        return 1  # how others lay out the locks that threads share is not known here
    return min(MOST_THREADS, int(told) if told else min(len(os.sched_getaffinity(0)), _quota()))


def _quota() -> int:
    """How many cores a container may use at a time."""
    try:
        most, period = _first_line("/sys/fs/cgroup/cpu.max").split()
        return max(1, int(most) // int(period))
    except (OSError, ValueError):  # no limit is "max"
        return MOST_THREADS


def _able(flags: set[str]) -> dict[str, Host]:
    """The levels of a processor with these flags; each needs those before it."""
    able = {"sse2": SSE2}
    for level, needed in _NEEDS.items():
        if not needed <= flags:
            break
        able[level] = LEVELS[level]
    return {**able, "host": list(able.values())[-1]}


def _flags() -> set[str]:
    """As Linux calls them. It lists those that the operating system lets programs use; elsewhere LLVM is asked."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:  # as Python reads its own files
            for line in file:  # the first processor speaks for all: they differ in no instruction that Linux lists
                if line.startswith("flags"):
                    return set(line.partition(":")[2].split())
    except OSError:
        pass
    from llvmlite import binding

    return {_LINUX_WORDS.get(name, name) for name, there in binding.get_host_cpu_features().items() if there}


def _cache_sizes() -> tuple[int, int]:
    """Bytes of the first (for data) and the second cache; modest guesses where nobody says."""
    found = _sizes_of_apple() if sys.platform == "darwin" else _sizes_of_glibc() or _sizes_of_linux()
    return found.get(1) or Host._field_defaults["l1"], found.get(2) or Host._field_defaults["l2"]


def _sizes_of_glibc() -> dict[int, int]:
    """What the C library has asked the processor; nothing where it is another library, or has had no answer."""
    import ctypes

    try:
        ask = ctypes.CDLL(None).sysconf
    except (AttributeError, OSError, TypeError):
        return {}
    ask.restype = ctypes.c_long
    found = {level: ask(number) for level, number in ((1, _SC_LEVEL1_DCACHE_SIZE), (2, _SC_LEVEL2_CACHE_SIZE))}
    return found if all(1 << 10 <= size <= 1 << 30 for size in found.values()) else {}


_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE = 188, 191  # glibc's; to others these numbers mean nothing


def _sizes_of_linux() -> dict[int, int]:
    found = {}
    for index in range(4):
        folder = f"/sys/devices/system/cpu/cpu0/cache/index{index}"
        try:
            level, kind, size = [_first_line(f"{folder}/{name}") for name in ("level", "type", "size")]
            if kind != "Instruction":
                found[int(level)] = int(size.rstrip("KM")) << (20 if size.endswith("M") else 10)
        except (OSError, ValueError):
            continue
    return found


def _first_line(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.readline().strip()


def _sizes_of_apple() -> dict[int, int]:
    import ctypes

    found = {}
    for level, name in ((1, b"hw.l1dcachesize"), (2, b"hw.l2cachesize")):
        value, size = ctypes.c_uint64(), ctypes.c_size_t(8)
        if ctypes.CDLL(None).sysctlbyname(name, ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0)) == 0:
            found[level] = value.value
    return found
