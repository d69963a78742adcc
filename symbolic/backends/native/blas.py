"""Where are the functions of the BLAS that NumPy or SciPy has brought along, and when are they faster than ours?"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from symbolic.backends.native.counting import known
from symbolic.backends.native.host import Host
from symbolic.backends.native.text import BITS, Function, Value

SPELLINGS = ("scipy_{}_64_", "{}_64_", "{}64_", "{}$NEWLAPACK$ILP64", "scipy_{}_", "{}_", "{}$NEWLAPACK")
"""How a Fortran function is named in libraries that NumPy is built with: OpenBLAS's wheels, others, Apple's."""


MOST = {512: 1 << 28, 256: 1 << 22, 128: 1 << 27}
"""Up to so many terms m · n · k our products are ahead of OpenBLAS 0.3.31 or equal, by the bits of a vector.

Measured on one core of an EPYC of the fourth generation, ours ÷ theirs (float32; float64), with OpenBLAS's kernels for
the same vectors: 512 bits: 64³ 1.20; 1.12, 256³ 1.11; 1.06, 700³ 1.03; 0.98, 1024³ 0.99; 0.91, 1500³ 0.92; 256 bits:
64³ 1.27; 1.25, 256³ 0.98; 0.97, 1024³ 0.91, 1500³ 0.85; 128 bits: 64³ 1.38, 256³ 1.16, 512³ 1.07. Below 64³ always
ahead, by the price of the call.
"""

FEW = 4
"""Up to so many rows or columns ours are ahead as long as the matrix stays in the second cache: 1 × 256² 1.30, 4 × 256²
1.15–2.8, but 1 × 1000² 0.84."""


class Routine(NamedTuple):
    """A function of a BLAS: all its arguments are addresses, as in Fortran, and matrices lie in columns.

    `integer` is the type of its whole numbers; where these lie in a memory of eight bytes each, with the low half first
    (as on every processor that we write for), either is read rightly.
    """

    address: int
    integer: str
    source: str


@cache
def routine(name: str) -> Routine | None:
    """The function of that name, such as "dgemm" or "sgemv"; None if neither NumPy nor SciPy has brought it.

    >>> found = routine("dgemm")
    >>> found is None or found.integer in ("i32", "i64")
    True
    """
    for library in _libraries():
        for spelling in SPELLINGS:
            found = getattr(library, spelling.format(name), None)
            if found is not None:
                address = ctypes.cast(found, ctypes.c_void_p).value
                integer = "i64" if "64" in spelling else "i32"
                return Routine(address, integer, "numpy") if address else None
    return _scipy(name)


@cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    """NumPy's extension, through which its BLAS is seen, and where it is not the libraries that lie beside NumPy."""
    return tuple(_opened())


def _opened() -> Iterator[ctypes.CDLL]:
    extension = sys.modules.get("numpy._core._multiarray_umath")
    beside = os.path.join(os.path.dirname(os.path.dirname(np.__file__)), "numpy.libs")
    found = sorted(os.listdir(beside)) if os.path.isdir(beside) else []
    others = [os.path.join(beside, name) for name in found if "openblas" in name]
    for file in (getattr(extension, "__file__", None), *others):
        try:
            if file:
                yield ctypes.CDLL(file)
        except OSError:  # a file that is no library, or one for another processor
            continue


def _scipy(name: str) -> Routine | None:
    """SciPy hands its functions out as capsules; its whole numbers have 32 bits."""
    try:
        capsules: dict[str, Any] = importlib.import_module("scipy.linalg.cython_blas").__pyx_capi__
        capsule = capsules[name]
    except (ImportError, AttributeError, KeyError):
        return None
    spelled, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    spelled.argtypes, spelled.restype = [ctypes.py_object], ctypes.c_char_p
    pointer.argtypes, pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    signature = spelled(capsule)
    integer = "i64" if b"int64" in (signature or b"") or b"long" in (signature or b"") else "i32"
    return Routine(pointer(capsule, signature), integer, "scipy")


def better(m: int, n: int, k: int, element: str, host: Host) -> bool:
    """Whether the product that we write was measured to be at least as fast as OpenBLAS's, called for nothing else.

    >>> from symbolic.backends.native.host import AVX512
    >>> better(128, 256, 784, "float", AVX512), better(2000, 2000, 2000, "float", AVX512)
    (True, False)
    """
    most = MOST.get(host.vector_bits, 0)
    if min(m, n) <= FEW:
        return max(m, n) * k * BITS[element] // 8 <= host.l2
    return m * n * k <= most


def multiply(
    f: Function,
    pointer: Value,
    element: str,
    sizes: tuple[Value, Value, Value],
    a: tuple[Value, int, int],
    b: tuple[Value, int, int],
    c: tuple[Value, int],
    accumulate: bool = False,
) -> bool:
    """Write C = A @ B, or C += A @ B, as a call of the `gemm` that `pointer` points to.

    `sizes` are m, n, k; operands are an address and their strides (row, column), C has contiguous rows that lie as far
    apart as is said. False, and nothing is written, if an operand has neither contiguous rows nor contiguous columns.
    """
    m, n, k = sizes
    ways = [_way(b, k, n), _way(a, m, k)]  # in columns, C is Bᵀ @ Aᵀ
    if None in ways:
        return False
    (across, b_apart), (down, a_apart) = (way for way in ways if way is not None)
    flags = [_kept(f, Value("i8", 0, str(ord(one)))) for one in (across, down)]
    counts = [_kept(f, one) for one in (n, m, k)]
    one, rest = (_kept(f, f.constant(element, value)) for value in (1.0, 1.0 if accumulate else 0.0))
    apart = [_kept(f, f.index(max(1, step))) for step in (b_apart, a_apart, c[1])]
    lengths = [f.index(1), f.index(1)]  # of the flags, which Fortran's own compilers pass behind everything else
    f.call_at(pointer, "void", *flags, *counts, one, b[0], apart[0], a[0], apart[1], rest, c[0], apart[2], *lengths)
    return True


def _way(operand: tuple[Value, int, int], rows: Value, columns: Value) -> tuple[str, int] | None:
    """ "N" and the distance of rows if these are contiguous, "T" and that of columns; none may overlap."""
    _, row, column = operand
    for flag, apart, beside, many, length in (("N", row, column, rows, columns), ("T", column, row, columns, rows)):
        least = max(1, known(length) or 1)
        if 0 in (known(many), known(length)) or (known(many) == 1 and beside == 1):
            return flag, least
        if (beside == 1 or known(length) == 1) and apart >= least:
            return flag, apart
    return None


def _kept(f: Function, value: Value) -> Value:
    place = f.variable(value)
    f.put(value, place)
    return place
