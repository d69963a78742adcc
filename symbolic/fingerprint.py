"""Has a value changed, as far as code could see? A fingerprint of it is compared: of containers, objects, functions.

It holds what it names, so that another object at the same address is never taken for the one that was seen.
"""

from __future__ import annotations

import contextlib
import contextvars
import enum
import functools
import os
import sys
import types
import weakref
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from symbolic.layer import Layer
from symbolic.spec import STATIC

ATOMS = (int, float, complex, bool, str, bytes, type(None), type, types.BuiltinFunctionType, np.ufunc, np.dtype)
_MOVING = {"numpy.random": ("Generator", "RandomState", "BitGenerator"), "random": ("Random",)}
_LIBRARIES = {"numpy", "symbolic", "scipy", "builtins"}
_STANDARD = os.path.dirname(os.__file__)
DEEPEST = 64
_LARGEST = 5_000_000  # marks in one fingerprint; beyond that a state counts as moving
NOTHING = object()

MOVING = object()
"""The fingerprint of state that changes unseen."""
ABSENT = object()
"""What is found under a name that is not bound."""


class Same:
    """The mark of one object, which it keeps alive: another object at its address is not the same."""

    __slots__ = ("value",)
    value: Any

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def is_library(module: str | None, home: str = "") -> bool:
    """Whether a module is installed, rather than the user's own: its objects count as they are, its code is not read.

    The package of the traced function itself is never a library.
    """
    package = (module or "").partition(".")[0]
    if package in _LIBRARIES:
        return True
    file = getattr(sys.modules.get(package), "__file__", None) or ""
    if "site-packages" in file or "dist-packages" in file:
        return package != home
    # by its place, not by its name alone: a user's file may be called as a module of the standard library is
    return package in sys.stdlib_module_names - {"__main__"} and (not file or file.startswith(_STANDARD))


def is_moving(value: Any) -> bool:
    """Whether using a value changes it unseen: a random generator, an iterator. No module is loaded to find out."""
    for module, names in _MOVING.items():
        if module in sys.modules and isinstance(value, tuple(getattr(sys.modules[module], name) for name in names)):
            return True
    return hasattr(type(value), "__next__") and not isinstance(value, type)


def fingerprint(value: Any, names: frozenset[str] | None, depth: int = 0, path: tuple[int, ...] = ()) -> Any:
    """A key that changes whenever what a function could read of `value` does; without `names` all of it counts.

    Long, for the kinds are told apart in one place: the usual ones first, the narrower before the wider.
    """
    kind = type(value)
    if kind in (int, str, bytes, bool, type(None)):
        return kind, value
    if kind in (float, complex):
        return kind, repr(value)
    if kind in (set, frozenset):
        marks = [fingerprint(one, names, depth + 1, path) for one in value]
        return MOVING if any(mark is MOVING for mark in marks) else (kind, frozenset(marks))
    if kind is types.BuiltinMethodType and not isinstance(value.__self__, (types.ModuleType, type(None), type)):
        owner = fingerprint(value.__self__, names, depth + 1, path)  # a method of an array, a dictionary, a generator
        return MOVING if owner is MOVING else (kind, value.__name__, owner)
    if kind is np.ufunc and "(vectorized)" in repr(value):
        return MOVING  # np.frompyfunc does not tell what it calls
    if kind is types.FunctionType and names is not None and not _holds_data(value):
        return Same(value), Same(value.__code__)  # the usual one, quickly
    if isinstance(value, np.ndarray):
        return _gathered(_array_mark(value), _own(value, names), names, depth + 1, path)
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    if isinstance(value, (type, types.ModuleType)) and not is_library(home_of(value)):
        if id(value) in path or depth > DEEPEST:
            return Same(value)
        return _gathered(Same(value), named(value, names or frozenset()), names, depth + 1, (*path, id(value)))
    if value is ABSENT or isinstance(value, (Layer, types.ModuleType, types.CodeType, *ATOMS, *_FIXED)):
        return _gathered(Same(value), _own(value, names), names, depth + 1, (*path, id(value)))
    if is_moving(value):
        return MOVING
    if id(value) in path:
        return Same(value)
    if depth > DEEPEST:
        return MOVING  # nobody looks further
    single = isinstance(value, (types.FunctionType, enum.Enum)) or (names is not None and not _is_container(value))
    head = (kind, Same(value) if single else None)
    return _gathered(head, _contents(value, names), names, depth + 1, (*path, id(value)))


_FIXED = (types.MemberDescriptorType, property, staticmethod, classmethod, types.MethodDescriptorType)


def _array_mark(value: Any) -> Any:
    if value.dtype.hasobject:
        return type(value), value.shape, tuple([Same(one) for one in value.ravel()])
    return type(value), value.dtype.str, value.shape, value.tobytes()


def _own(value: Any, names: frozenset[str] | None) -> Iterator[Any]:
    """The attributes that a class of the user's adds to a container, an array, a number."""
    if isinstance(value, (Layer, type, types.ModuleType)) or is_library(type(value).__module__):
        return
    for name, one in attributes(value, names):
        yield name
        yield one


def _holds_data(function: Any) -> bool:
    return bool(function.__defaults__ or function.__kwdefaults__ or function.__dict__)


def home_of(value: Any) -> str:
    return str(value.__name__ if isinstance(value, types.ModuleType) else value.__module__)


def named(value: Any, names: frozenset[str]) -> Iterator[Any]:
    """What code with these names could read of a class or a module of the user's."""
    spaces: list[Any] = [vars(value)]
    if isinstance(value, type):
        meta: Any = type(value)
        kinds: list[type] = [*value.__mro__, *meta.__mro__]
        spaces = [vars(one) for one in kinds if one not in (object, type)]
        names |= {name for one in kinds if not is_library(home_of(one)) for name in _special(one)}
    for name in sorted(names):
        for space in spaces:
            if name in space:
                yield name
                yield Same(space[name]) if isinstance(space[name], types.FunctionType) else space[name]
                break


def _special(kind: type) -> Iterator[str]:
    """The methods that code calls without their names: `a(x)`, `a[k]`, `a * x`, `if a`, `for one in a`."""
    for name, one in vars(kind).items():
        if name.startswith("__") and isinstance(one, (types.FunctionType, property, staticmethod, classmethod)):
            yield name


def is_foreign(value: Any) -> bool:
    """An object of a library, other than a container."""
    return not isinstance(value, _CONTAINERS) and is_library(type(value).__module__)


def _is_container(value: Any) -> bool:
    return isinstance(value, (*_CONTAINERS, Mapping, Sequence, Set))


_CONTAINERS = (
    *(dict, list, tuple, set, frozenset),
    *(types.MethodType, types.FunctionType, types.SimpleNamespace, functools.partial),
)


def _gathered(head: Any, inside: Iterator[Any], names: frozenset[str] | None, depth: int, path: tuple[int, ...]) -> Any:
    marks: list[Any] = [head]
    for one in inside:
        mark = one if isinstance(one, Same) else fingerprint(one, names, depth, path)
        if mark is MOVING or len(marks) > _LARGEST:
            return MOVING
        marks.append(mark)
    return tuple(marks)


def _contents(value: Any, names: frozenset[str] | None) -> Iterator[Any]:
    """What stands inside a container or an object, as far as code with these names can see; long as the above is."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield one
        yield from _own(value, names)
    elif isinstance(value, (list, tuple)):
        yield from value
        yield from _own(value, names)
    elif isinstance(value, types.MethodType):
        yield value.__self__
        yield value.__func__
    elif isinstance(value, functools.partial):
        yield value.func
        yield value.args
        yield value.keywords
    elif isinstance(value, types.FunctionType):
        yield value.__code__
        yield value.__defaults__
        yield value.__kwdefaults__
        yield value.__dict__
        if names is None:  # an argument: what it has captured belongs to it
            yield from [cell.cell_contents for cell in value.__closure__ or () if cell.cell_contents is not value]
    elif isinstance(value, Mapping):
        yield from (one for pair in value.items() for one in pair)
        yield from _own(value, names)
    elif isinstance(value, (Sequence, Set)):
        yield from value
        yield from _own(value, names)
    elif isinstance(value, weakref.ReferenceType):
        yield value()
    elif isinstance(value, contextvars.ContextVar):
        with contextlib.suppress(LookupError):  # it has no value yet
            yield value.get()
    else:
        for name, one in attributes(value, None if is_foreign(value) else names):
            if not _is_machinery(value, one):
                yield name
                yield one
        if not is_foreign(value):
            yield type(value)


def _is_machinery(owner: Any, value: Any) -> bool:
    """A generator, or a generated method, that SciPy's distributions carry along: no density reads it.

    What is drawn from the generator is noticed where it comes out: the body gives other numbers when it is run twice.
    """
    carried = (np.random.RandomState, np.random.Generator, types.MethodType, np.vectorize)
    return type(owner).__module__.startswith("scipy.stats.") and isinstance(value, carried)


def attributes(value: Any, names: frozenset[str] | None) -> Iterator[tuple[str, Any]]:
    """The data of an object that code with these names could read, its own and its class's."""
    held = getattr(value, "__dict__", {})
    slots = [name for one in type(value).__mro__ for name in getattr(one, "__slots__", ())]
    for name in sorted({*held, *slots} if names is None else names):
        if name in held:
            yield name, held[name]
            continue
        if isinstance(getattr(type(value), name, NOTHING), types.MemberDescriptorType):
            yield name, getattr(value, name, None)


STATIC[0] = lambda value: fingerprint(value, None)
