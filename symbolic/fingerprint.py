"""Has a value changed, as far as code could see? A fingerprint of it is compared: of containers, objects, functions.

It holds what it names, so that another object at the same address is never taken for the one that was seen.
"""

from __future__ import annotations

import contextlib
import contextvars
import enum
import functools
import operator
import os
import sys
import types
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from symbolic.layer import Layer
from symbolic.spec import STATIC

ATOMS = (int, float, complex, bool, str, bytes, type(None), type, types.BuiltinFunctionType, np.ufunc, np.dtype)
_DRAWING = {"numpy.random": ("Generator", "RandomState", "BitGenerator"), "random": ("Random",)}
_MOVING: dict[str, tuple[type, ...]] = {}
"""The same classes, of the modules that are there whole."""
_LIBRARIES = {"numpy", "symbolic", "scipy", "builtins"}
_STANDARD = os.path.dirname(os.__file__)
DEEPEST = 64
_LARGEST = 5_000_000  # marks in one fingerprint; beyond that a state counts as moving
_PACKAGES = 4096  # of which it is kept whether they are installed
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


class Every(frozenset[str]):
    """The names of code that can read attributes without naming them: all that there are, and those that it names."""

    __slots__ = ()

    def intersection(self, *spaces: Iterable[object]) -> frozenset[str]:
        """Those of them in a dictionary; of what Python keeps for itself (`__spec__`) only what is named."""
        found = super().intersection(*spaces)
        held = [one for space in spaces for one in list(space)]  # at once: another thread may be importing a module
        return found.union([one for one in held if isinstance(one, str) and one[:2] != "__"])

    def __or__(self, others: Set[Any]) -> Every:
        return Every(super().__or__(others))


def is_library(module: str | None, home: str = "") -> bool:
    """Whether a module is installed, rather than the user's own: its objects count as they are, its code is not read.

    The package of the traced function itself is never a library.
    """
    package = (module or "").partition(".")[0]
    if package in _LIBRARIES:
        return True
    return _is_installed(package, getattr(sys.modules.get(package), "__file__", None) or "", home)


@functools.lru_cache(_PACKAGES)
def _is_installed(package: str, file: str, home: str) -> bool:
    """By where it lies; asked of every object that a function can reach, over and over."""
    if "site-packages" in file or "dist-packages" in file:
        return package != home
    # by its place, not by its name alone: a user's file may be called as a module of the standard library is
    return package in sys.stdlib_module_names - {"__main__"} and (not file or file.startswith(_STANDARD))


def is_moving(value: Any) -> bool:
    """Whether using a value changes it unseen: a random generator, an iterator. No module is loaded to find out."""
    if any(isinstance(value, _MOVING.get(name) or _moving(name)) for name in _DRAWING if name in sys.modules):
        return True
    return hasattr(type(value), "__next__") and not isinstance(value, type)


def _moving(module: str) -> tuple[type, ...]:
    """Those that there are: of a module that another thread is still importing nobody has an object of the others."""
    place, names = sys.modules.get(module), _DRAWING[module]
    found = tuple([getattr(place, name) for name in names if isinstance(getattr(place, name, None), type)])
    if len(found) == len(names):
        _MOVING[module] = found
    return found


def fingerprint(value: Any, names: frozenset[str] | None, depth: int = 0, path: tuple[int, ...] = ()) -> Any:
    """A key that changes whenever what a function could read of `value` does; without `names` all of it counts.

    Long, for the kinds are told apart in one place: the usual ones first, the narrower before the wider.
    """
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    if kind in _NESTS:  # the usual ones, quickly
        return _inside(kind, None, value, names, depth, path)
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
        if value.dtype.hasobject:
            return _inside(kind, None, value, names, depth, path)
        return _gathered(_array_mark(value), _own(value, names), names, depth + 1, path)
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    if isinstance(value, (type, types.ModuleType)) and not is_library(home_of(value)):
        if id(value) in path or depth > DEEPEST:
            return Same(value)
        return _gathered(Same(value), named(value, names or frozenset()), names, depth + 1, (*path, id(value)))
    if value is ABSENT or isinstance(value, _ONE_THING):
        return _gathered(Same(value), _own(value, names), names, depth + 1, (*path, id(value)))
    if is_moving(value):
        return MOVING
    single = isinstance(value, (types.FunctionType, enum.Enum)) or (names is not None and not _is_container(value))
    return _inside(kind, Same(value) if single else None, value, names, depth, path)


def _inside(
    kind: type, same: Same | None, value: Any, names: frozenset[str] | None, depth: int, path: tuple[int, ...]
) -> Any:
    """The fingerprint of what stands inside a container or an object, once on each path."""
    if id(value) in path:
        return Same(value)
    if depth > DEEPEST:
        return MOVING  # nobody looks further
    return _gathered((kind, same), _contents(value, names), names, depth + 1, (*path, id(value)))


_PLAIN = frozenset((int, str, bytes, bool, type(None)))
_NESTS = frozenset((dict, list, tuple))
_FIXED = (types.MemberDescriptorType, property, staticmethod, classmethod, types.MethodDescriptorType)
_ONE_THING = (Layer, types.ModuleType, types.CodeType, *ATOMS, *_FIXED)
"""What is the same while it is the same object, but for what a class of the user's adds."""


def _array_mark(value: Any) -> Any:
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
    """What code with these names could read of a class or a module of the user's; by `super`, of each class's bases."""
    spaces: list[Any] = [vars(value)]
    libraries: list[Any] = []
    if isinstance(value, type):
        meta: Any = type(value)
        kinds: list[type] = [*value.__mro__, *meta.__mro__]
        spaces = [vars(one) for one in kinds if one not in (object, type)]
        libraries = [vars(one) for one in kinds if is_library(home_of(one))] if isinstance(names, Every) else []
        names |= {name for one in kinds if not is_library(home_of(one)) for name in _special(one)}
    found: dict[tuple[str, int], Any] = {}
    each = "super" in names
    for at, space in enumerate(reversed(spaces)):  # the first has the last word
        of_library = any(space is one for one in libraries)  # where nothing changes
        there = frozenset.intersection(names, space) if of_library else names.intersection(space)
        found.update([((name, at if each else 0), space.get(name, ABSENT)) for name in there])  # or it is gone by now
    for (name, _), one in sorted(found.items(), key=_first):
        yield name
        yield Same(one) if isinstance(one, types.FunctionType) else one


_first = operator.itemgetter(0)


def _special(kind: type) -> Iterator[str]:
    """The methods that code calls without their names: `a(x)`, `a[k]`, `a * x`, `if a`, `for one in a`."""
    for name, one in vars(kind).items():
        if name.startswith("__") and isinstance(one, (types.FunctionType, property, staticmethod, classmethod)):
            yield name


def is_foreign(value: Any) -> bool:
    """An object of a library, other than a container."""
    return not isinstance(value, _CONTAINERS) and is_library(type(value).__module__)


def _is_container(value: Any) -> bool:
    return isinstance(value, (_CONTAINERS, Mapping, Sequence, Set))


_CONTAINERS = (
    *(dict, list, tuple, set, frozenset),
    *(types.MethodType, types.FunctionType, types.SimpleNamespace, functools.partial),
)


def _gathered(head: Any, inside: Iterator[Any], names: frozenset[str] | None, depth: int, path: tuple[int, ...]) -> Any:
    marks: list[Any] = [head]
    for one in inside:
        kind = type(one)
        mark: Any = one
        if kind in _PLAIN:
            mark = kind, one
        elif kind is not Same:
            mark = fingerprint(one, names, depth, path)
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
        if type(value) is not dict:
            yield from _own(value, names)
    elif isinstance(value, (list, tuple)):
        yield from value
        if type(value) not in _NESTS:
            yield from _own(value, names)
    elif isinstance(value, np.ndarray):  # of objects
        yield value.dtype
        yield value.shape
        yield from value.ravel().tolist()
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
            if not _is_machinery(value, name, one):
                yield name
                yield one
        if not is_foreign(value):
            yield type(value)


def _is_machinery(owner: Any, name: str, value: Any) -> bool:
    """What no value depends on: the traces, shortcuts and code that a derivative keeps, its function under a second
    name, and what SciPy's distributions carry along.

    That is a generator, or a generated method, which no density reads. What is drawn from the generator is noticed
    where it comes out: the body gives other numbers when it is run twice.
    """
    home = type(owner).__module__
    if home.startswith("symbolic."):
        return name in _KEPT_FOR_LATER or type(value).__module__ in _MACHINERY
    return home.startswith("scipy.stats.") and isinstance(value, _carried())


_KEPT_FOR_LATER = ("__wrapped__", "_code", "tried")
_MACHINERY = ("symbolic.paths", "symbolic.shortcut")


def _carried() -> tuple[type, ...]:
    """SciPy's distributions have loaded `np.random`; NumPy alone loads it when it is named."""
    return (np.random.RandomState, np.random.Generator, types.MethodType, np.vectorize)


def attributes(value: Any, names: frozenset[str] | None) -> Iterator[tuple[str, Any]]:
    """The data of an object that code with these names could read, its own and its class's."""
    held, kind = getattr(value, "__dict__", {}), type(value)
    if names is None or isinstance(names, Every):
        there: Set[str] = {*held, *_slots(kind)}
    else:  # of the many names those that there are: an intersection is quicker than a question for each
        there = names.intersection(held).union(*[names.intersection(vars(one)) for one in kind.__mro__[:-1]])
    for name in sorted(there):
        if name in held:
            yield name, held[name]
        elif isinstance(getattr(kind, name, NOTHING), types.MemberDescriptorType):
            yield name, getattr(value, name, None)


def _slots(kind: type) -> Iterator[str]:
    return (name for one in kind.__mro__ for name in getattr(one, "__slots__", ()))


STATIC[0] = lambda value: fingerprint(value, None)
