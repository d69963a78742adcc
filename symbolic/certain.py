"""Does a body write the same graph at each run for certain? Then it need not be run twice to see whether it does.

Certain is what can be followed to its end: code that calls nothing but functions of which each gives the same for the
same arguments, and that starts from nothing but traced values and things that never change. All else (an object, a
method, a list from outside, an import, a name that is not known here) is not certain, and such a body is run twice.
"""

from __future__ import annotations

import builtins
import dis
import inspect
import math
import types
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from symbolic.callees import CALLS, ELSEWHERE, MAKING
from symbolic.layer import FUNCTIONS, METHODS, Layer
from symbolic.leaves import Identity, Projection, Weight
from symbolic.naming import home
from symbolic.ops.operation import Operation
from symbolic.rewriting import codes_of

_ATOMS = {bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice}
_MODULES = {"numpy", "numpy.linalg", "numpy.fft", "math", "scipy.special"}
_BUILTINS = (
    *("abs", "all", "any", "bool", "complex", "divmod", "enumerate", "filter", "float", "int", "isinstance", "len"),
    *("list", "map", "max", "min", "pow", "range", "reversed", "round", "slice", "sorted", "sum", "tuple", "zip"),
)
_OF_PYTHON = {
    *("shape", "ndim", "dtype", "size", "append", "extend", "insert", "pop", "reverse", "remove", "clear", "update"),
    *("items", "keys", "values", "get", "index", "count", "start", "stop", "step", "numerator", "denominator"),
}
"""Attributes of layers, numbers, lists, tuples and dictionaries, which say nothing of where these lie."""
_OF_MEMORY = {"base", "byteswap", "ctypes", "data", "dump", "dumps", "flags", "tobytes", "tofile", "tostring"}
_OUTSIDE = (
    *("IMPORT", "STORE_GLOBAL", "DELETE_GLOBAL", "DELETE_DEREF", "STORE_ATTR", "DELETE_ATTR", "BUILD_CLASS"),
    *("LOAD_NAME", "STORE_NAME", "DELETE_NAME", "LOCALS", "FROM_DICT", "FORMAT", "CONVERT", "ASYNC", "SEND"),
)
"""Parts of the names of instructions that reach out of a function, or write the text of an object."""
_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def is_certain(function: Any, given: Sequence[Any]) -> bool:
    """Whether each run of a body over such arguments writes the same graph.

    >>> import random
    >>> is_certain(lambda x: x + 1.0, [2.0]), is_certain(lambda x: x + random.random(), [2.0])
    (True, False)
    """
    return all(map(_is_given, given)) and _Followed().function(function)


def _is_given(value: Any) -> bool:
    """An argument: a traced value, or what never changes."""
    if isinstance(value, (Operation, Identity, Projection)) or type(value) is Weight:
        return True
    return all(map(_is_given, value)) if type(value) is tuple else _is_atom(value)


def _is_atom(value: Any) -> bool:
    kind = type(value)
    return kind in _ATOMS or isinstance(value, np.dtype) or (isinstance(value, np.generic) and kind in MAKING)


@cache
def _instructions() -> frozenset[int]:
    """The numbers of the instructions that are not followed."""
    return frozenset([number for part in _OUTSIDE for name, number in dis.opmap.items() if part in name])


@cache
def _known_builtins() -> frozenset[Any]:
    errors = [one for one in vars(builtins).values() if isinstance(one, type) and issubclass(one, Exception)]
    found = [*[getattr(builtins, name) for name in _BUILTINS], *vars(math).values()]
    written = [one for one in found if type(one) in (types.BuiltinFunctionType, type)]  # in C: nobody's own
    return frozenset([*written, *errors, np.ndarray, np.generic])


def _is_known(builtin: Any) -> bool:
    """Whether it is a function that gives the same for the same; not `__dict__`, nor what somebody put there."""
    try:
        return builtin in _known_builtins()
    except Exception:  # it has no hash
        return False


class _Followed:
    """What was followed so far: functions, and the modules whose functions they call."""

    def __init__(self) -> None:
        self.seen: set[int] = set()

    def function(self, function: Any) -> bool:
        """A function of somebody's own, with all that it names."""
        if type(function) is not types.FunctionType or function.__dict__ or function.__builtins__ is not vars(builtins):
            return False
        if id(function) in self.seen:
            return True
        self.seen.add(id(function))
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        try:
            cells = [one.cell_contents for one in function.__closure__ or ()]
        except ValueError:  # nothing is in it yet
            return False
        codes = list(codes_of(function.__code__))
        if not all(map(_stays_within, codes)) or not all(map(self.value, (*defaults, *cells))):
            return False
        return self.names({name for one in codes for name in one.co_names}, function.__globals__, cells)

    def names(self, names: set[str], space: dict[str, Any], cells: Sequence[Any]) -> bool:
        """What code names, wherever it stands: globals, built-in functions, attributes of modules and of values."""
        found = [space[name] for name in names if name in space]
        modules = [one for one in (*found, *cells) if isinstance(one, types.ModuleType)]
        for module in modules:  # and those within them
            inner = [vars(module)[name] for name in names if name in vars(module)]
            modules += [one for one in inner if isinstance(one, types.ModuleType) and one not in modules]
            found += inner
        for name in names - space.keys():
            if hasattr(builtins, name):
                if not _is_known(getattr(builtins, name)):
                    return False
            elif not (any(name in vars(one) for one in modules) or _is_method(name)):
                return False
        return all(map(self.value, found))

    def value(self, value: Any) -> bool:
        """Something that code names."""
        if _is_atom(value) or type(value) is Weight:
            return True
        if type(value) is tuple:
            return all(map(self.value, value))
        if isinstance(value, types.ModuleType):
            return value.__name__ in _MODULES
        if isinstance(value, np.ufunc):
            return value in FUNCTIONS or home(value).startswith("scipy.special")
        if isinstance(value, Layer):
            return False
        try:
            if value in _known_builtins() or value in FUNCTIONS or value in CALLS or _comes_late(value):
                return True
            if value in MAKING:
                return str(getattr(value, "__module__", "")).startswith("numpy") and value is not np.vectorize
        except Exception:  # it has no hash
            return False
        if str(getattr(value, "__module__", "")).startswith("symbolic.ops."):
            return type(value) is types.FunctionType
        return self.function(value)


def _comes_late(function: Any) -> bool:
    """Whether it is of a part of NumPy that is loaded when it is named, as what is known of it is: `np.fft`."""
    return home(function).startswith("numpy.") and ELSEWHERE[0](function) is not None


def _is_method(name: str) -> bool:
    return name in _OF_PYTHON or (name in METHODS and name not in _OF_MEMORY)


def _stays_within(code: types.CodeType) -> bool:
    """Whether code reaches nothing but what it names, and runs from its first line to its end."""
    if code.co_flags & _RESUMED and code.co_name != "<genexpr>":
        return False
    numbers = set(code.co_code[::2])
    return numbers.isdisjoint(_instructions()) and not (code.co_freevars and dis.opmap["STORE_DEREF"] in numbers)
