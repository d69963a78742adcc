"""Which place does a function read from outside, what stood there, and does it still stand there?"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from symbolic.fingerprint import ABSENT, ATOMS, MOVING, NOTHING, Same, fingerprint, home_of, is_library
from symbolic.layer import Layer


class Held:
    """A place that is an object itself."""

    __slots__ = ("value",)
    value: Any

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self) -> Any:
        return self.value


class Contents:
    """The variable of an enclosing function."""

    __slots__ = ("cell",)
    cell: Any

    def __init__(self, cell: types.CellType) -> None:
        self.cell = cell

    def __call__(self) -> Any:
        return self.cell.cell_contents


class Global:
    """A global name, and attributes of it through modules."""

    __slots__ = ("path", "space")
    path: tuple[str, ...]
    space: dict[str, Any]

    def __init__(self, space: dict[str, Any], path: tuple[str, ...]) -> None:
        self.space, self.path = space, path

    def __call__(self) -> Any:
        value: Any = self.space[self.path[0]]
        for name in self.path[1:]:
            value = getattr(value, name)
        return value


class Named(Global):
    """A name of Python's own or of a library's, or one that must stay unbound: what it leads to is all that counts."""

    __slots__ = ()


class Parts:
    """Of what a `functools.partial` is made, which `__setstate__` exchanges: by identity, and which keywords it has."""

    __slots__ = ("held", "partial")
    held: tuple[Any, ...]
    partial: functools.partial[Any]

    def __init__(self, partial: functools.partial[Any]) -> None:
        self.partial, self.held = partial, ()

    def __call__(self) -> tuple[Any, ...]:
        """The same tuple for as long as they are the same."""
        kept = self.partial.func, self.partial.args, self.partial.keywords
        now = (*map(id, kept), *kept[2])
        if now != self.held:
            self.held = now
        return self.held


UNBOUND = (NameError, ValueError, AttributeError, KeyError)
"""What such a place raises while nothing stands there."""


class Watch:
    """One place that a function reads, and what stood there."""

    __slots__ = ("atomic", "fetch", "foreign", "key", "names", "readers", "seen", "what")
    atomic: Any
    fetch: Callable[[], Any]
    foreign: bool
    names: frozenset[str] | None
    readers: int
    seen: Any
    what: str

    def __init__(self, what: str, fetch: Callable[[], Any], names: frozenset[str] | None) -> None:
        self.what, self.fetch, self.names = what, fetch, names
        self.key: Any = None  # of the place
        self.readers = 0  # functions that name it
        self.foreign = False  # the code also calls other libraries than NumPy
        value = self.value()
        if isinstance(fetch, Named):
            self.atomic, self.seen = value, Same(value)
            return
        own_class = isinstance(value, type) and not is_library(home_of(value))  # its attributes may change
        own = own_class or not is_library(type(value).__module__) or getattr(value, "__self__", None) is not None
        self.atomic = value if isinstance(value, ATOMS) and not own and not isinstance(value, np.ufunc) else NOTHING
        self.seen = fingerprint(value, names)

    def value(self) -> Any:
        try:
            return self.fetch()
        except UNBOUND:
            return ABSENT

    def holds(self) -> bool:
        value = self.value()
        if self.atomic is not NOTHING and value is self.atomic:
            return True
        if isinstance(self.fetch, Named):
            return False
        return self.seen is not MOVING and bool(fingerprint(value, self.names) == self.seen)


def is_fixed(watch: Watch, value: Any) -> bool:
    """Whether the same object is the same in all that code could see of it."""
    if isinstance(watch.fetch, Named):
        return True
    if value is ABSENT or watch.seen is MOVING:
        return False
    if watch.atomic is not NOTHING or isinstance(value, Layer) or type(value) is np.ufunc:
        return True
    if type(value) is types.BuiltinFunctionType:
        return isinstance(value.__self__, (types.ModuleType, type(None)))
    if type(value) is types.FunctionType:
        return is_library(value.__module__ or "")  # nobody changes the code of a library's function
    return lasts(value) or (type(value) is types.ModuleType and is_library(home_of(value)))


_NUMBERS = (int, float, complex, bool, str, bytes, type(None))


def lasts(value: Any) -> bool:
    """A tuple of layers and numbers: nothing in it can be exchanged."""
    if type(value) is tuple:
        return all(map(lasts, value))
    return isinstance(value, Layer) or type(value) in _NUMBERS
