"""Where do the fields of Python's and NumPy's objects lie, and where are the functions that make such objects?

Each place is looked up in live objects whose content is known. Where one of them is not what was expected (another
Python, a debug build, no global lock, a NumPy that moved something) there is no native call path, and nothing else
changes.
"""

from __future__ import annotations

import ctypes
import pickle
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["address", "trouble", "trouble_with_types"]

REFERENCES, TYPE = 0, 8
"""In every object: how many hold it; its type."""
FLOAT_VALUE = SCALAR_VALUE = 16
"""Where in a float, and in a floating-point scalar of NumPy's, its number is."""
LIST_SIZE, LIST_ENTRIES = 16, 24
"""In a list: how many entries it has, and where they stand."""
TUPLE_ENTRIES = tuple.__basicsize__
"""Where in a tuple its entries begin."""
ARRAY_DATA, ARRAY_RANK, ARRAY_SHAPE, ARRAY_STRIDES, ARRAY_DTYPE, ARRAY_FLAGS = 16, 24, 32, 40, 56, 64
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
"""Flags of an array; the first is row by row."""
DTYPE_ORDER, DTYPE_NUMBER = 26, 28
TYPE_SIZE, TYPE_VECTORCALL, TYPE_FLAGS = 32, 56, 168
"""In a type: bytes of an instance; where in it the address of its call lies; flags."""
HAS_VECTORCALL = 1 << 11
_ARRAY_TYPE, _DTYPE_TYPE, _ARRAY_SCALAR, _ARRAY_NEW = 2, 3, 60, 93
"""Entries of NumPy's table of functions, which is fixed."""
_ABI = 0x02000000
"""Of NumPy 2: as long as entry 0 says so, no entry moves."""
_NUMPY_FUNCTIONS = {"PyArray_New": _ARRAY_NEW, "PyArray_Scalar": _ARRAY_SCALAR}


def word_at(place: int) -> int:
    return ctypes.c_uint64.from_address(place).value


def int_at(place: int) -> int:
    return ctypes.c_int32.from_address(place).value


# ---------------------------------------------------------------------- is everything where it should be?
@cache
def trouble_with_types() -> str:
    """Why no type with a call of its own can be made here; empty if one can."""
    if sys.implementation.name != "cpython":
        return f"{sys.implementation.name} is not CPython"
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return "the processor is not a little-endian one of 64 bits"
    if object.__basicsize__ != 16 or hasattr(sys, "gettotalrefcount"):
        return "this build of CPython is for debugging, or has no global lock"
    return next(_wrong_in_types(), "")


def _wrong_in_types() -> Iterator[str]:
    for kind in (object, int, float, type, np.ndarray, np.dtype):
        place = id(kind)
        if word_at(place + TYPE_SIZE) != kind.__basicsize__ or word_at(place + TYPE_FLAGS) != kind.__flags__:
            yield "the fields of types lie elsewhere"
    function = type(word_at)
    if not function.__flags__ & HAS_VECTORCALL or not 0 < word_at(id(function) + TYPE_VECTORCALL) < 256:
        yield "calls of functions work in another way"


@cache
def trouble() -> str:
    """Why there is no native call path here; empty if there is one."""
    return trouble_with_types() or next(_wrong_in_values(), "")


def _wrong_in_values() -> Iterator[str]:
    for number in (1.5, -2.25e300, float("inf")):
        if word_at(id(number) + TYPE) != id(float) or _double_at(id(number) + FLOAT_VALUE) != number:
            yield "the fields of floats lie elsewhere"
        if _double_at(id(wide := np.float64(number)) + SCALAR_VALUE) != wide:
            yield "the fields of NumPy's scalars lie elsewhere"
        if ctypes.c_float.from_address(id(short := np.float32(1.5)) + SCALAR_VALUE).value != short:
            yield "the fields of NumPy's scalars lie elsewhere"
    for entries in ([], [1.5], [1.5] * 9):
        first = word_at(id(entries) + LIST_ENTRIES)
        if word_at(id(entries) + LIST_SIZE) != len(entries) or (entries and word_at(first) != id(entries[0])):
            yield "the fields of lists lie elsewhere"
    for pair in ((1.5, 2.5), (None,), tuple(range(300, 309))):
        if [word_at(id(pair) + TUPLE_ENTRIES + 8 * k) for k in range(len(pair))] != list(map(id, pair)):
            yield "the fields of tuples lie elsewhere"
    if not all(_is_as_expected(one) for one in _samples()):
        yield "the fields of NumPy's arrays lie elsewhere"
    if not all(_dtype_is_as_expected(one) for one in (np.dtype("f4"), np.dtype(">f8"), np.dtype(bool), np.dtype("i8"))):
        yield "the fields of NumPy's dtypes lie elsewhere"
    try:
        if [word_at(_numpy_table() + 8 * k) for k in (_ARRAY_TYPE, _DTYPE_TYPE)] != [id(np.ndarray), id(np.dtype)]:
            yield "NumPy's table of functions is another one"
        if ctypes.PYFUNCTYPE(ctypes.c_uint)(word_at(_numpy_table()))() != _ABI:
            yield "NumPy's binary interface is another one"
        if not _makes_an_array() or not _makes_a_scalar():
            yield "NumPy makes arrays in another way"
        for name in _PYTHONS:
            address(name)
    except (AttributeError, ImportError, ValueError, ctypes.ArgumentError) as error:
        yield f"a function is missing: {error}"


def _double_at(place: int) -> float:
    return ctypes.c_double.from_address(place).value


def _samples() -> Iterator[np.ndarray]:
    whole = np.arange(24.0).reshape(2, 3, 4)
    fixed = np.zeros((5, 1), np.float32)
    fixed.flags.writeable = False
    yield from (whole, whole[:, ::2], whole.T, whole[0, 0, 0:0], np.array(3), fixed, np.array([True]))
    yield np.frombuffer(b"0123456789", np.uint8)[1:9].view(np.float64)  # aligned by accident only


def _is_as_expected(array: np.ndarray) -> bool:
    place, rank, flags = id(array), array.ndim, array.flags
    expected = (CONTIGUOUS * flags.c_contiguous) | (ALIGNED * flags.aligned) | (WRITEABLE * flags.writeable)
    return (
        word_at(place + TYPE) == id(np.ndarray)
        and word_at(place + ARRAY_DATA) == array.__array_interface__["data"][0]
        and int_at(place + ARRAY_RANK) == rank
        and all(word_at(word_at(place + ARRAY_SHAPE) + 8 * k) == array.shape[k] for k in range(rank))
        and all(word_at(word_at(place + ARRAY_STRIDES) + 8 * k) == array.strides[k] for k in range(rank))
        and word_at(place + ARRAY_DTYPE) == id(array.dtype)
        and int_at(place + ARRAY_FLAGS) & (CONTIGUOUS | ALIGNED | WRITEABLE) == expected
    )


def _dtype_is_as_expected(dtype: np.dtype[Any]) -> bool:
    copy = pickle.loads(pickle.dumps(dtype))
    return all(
        chr(ctypes.c_uint8.from_address(id(one) + DTYPE_ORDER).value) == one.byteorder
        and int_at(id(one) + DTYPE_NUMBER) == one.num
        for one in (dtype, copy)
    )


def _makes_an_array() -> bool:
    """Whether the function that machine code will call does what it should."""
    made = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.py_object, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, *[ctypes.c_void_p] * 2,
        ctypes.c_int, ctypes.c_int, ctypes.c_void_p,
    )(address("PyArray_New"))  # fmt: skip
    array = made(np.ndarray, 2, (ctypes.c_int64 * 2)(2, 3), np.dtype("f8").num, None, None, 0, 0, None)
    return (type(array), array.shape, array.dtype, array.flags.c_contiguous) == (np.ndarray, (2, 3), np.float64, True)


def _makes_a_scalar() -> bool:
    make = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.c_void_p] * 3)(address("PyArray_Scalar"))
    scalar = make(ctypes.addressof(ctypes.c_double(2.5)), address("dtype float64"), None)
    return type(scalar) is np.float64 and bool(scalar == 2.5)


# ---------------------------------------------------------------------- addresses
_PYTHONS = (
    "PyObject_Vectorcall", "PyFloat_FromDouble", "Py_IncRef", "Py_DecRef", "PyEval_SaveThread", "PyEval_RestoreThread",
    "PyDict_GetItemWithError", "PyErr_CheckSignals", "PyTuple_New",
)  # fmt: skip
_OBJECTS: dict[str, Any] = {"None": None, "float": float, "ndarray": np.ndarray}


@cache
def address(name: str) -> int:
    """Of an object that code compares with (`float`, `dtype float64`, `scalar float64`), or of a function of C's."""
    if name in _OBJECTS:
        return id(_OBJECTS[name])
    if name.startswith("dtype "):
        return id(builtin_dtype(name.removeprefix("dtype ")))
    if name.startswith("scalar "):
        return id(builtin_dtype(name.removeprefix("scalar ")).type)
    if name in _NUMPY_FUNCTIONS:
        return word_at(_numpy_table() + 8 * _NUMPY_FUNCTIONS[name])
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


@cache
def builtin_dtype(name: str) -> np.dtype[Any]:
    """The descriptor that NumPy gives to nearly every array of a dtype; kept, so that its address stays its own."""
    return np.dtype(name)


@cache
def _numpy_table() -> int:
    umath: Any = import_module("numpy._core._multiarray_umath")  # where extension modules in C find it, too
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table: int = get(umath._ARRAY_API, None)
    return table
