"""What else does a function read, besides its arguments? And has any of it changed since the trace?

A function's code names what it reads: globals, closure cells, defaults, attributes, and the functions that it calls.
Each such place is a `Watch`, with a fingerprint of what was found there; a call whose watches all hold may use the
trace, any other traces anew. State that cannot be fingerprinted (a random generator, an iterator) never holds.
"""

from __future__ import annotations

import builtins
import dis
import functools
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from symbolic.layer import Layer

_ATOMS = (int, float, complex, bool, str, bytes, type(None), type, types.BuiltinFunctionType, np.ufunc, np.dtype)
_MOVING = {"numpy.random": ("Generator", "RandomState", "BitGenerator"), "random": ("Random",)}
_LIBRARIES = ("numpy", "symbolic", "builtins", "math", "functools", "itertools", "operator", "typing", "scipy")
_DEEPEST = 12


class Watch:
    """One place that a function reads, and what stood there."""

    __slots__ = ("atomic", "fetch", "names", "seen", "what")

    def __init__(self, what: str, fetch: Callable[[], Any], names: frozenset[str]) -> None:
        self.what, self.fetch, self.names = what, fetch, names
        value = fetch()
        self.atomic = value if isinstance(value, _ATOMS) else _NOTHING
        self.seen = None if self.atomic is not _NOTHING else fingerprint(value, names)

    def holds(self) -> bool:
        try:
            value = self.fetch()
        except (NameError, ValueError, AttributeError, KeyError):
            return False
        if self.atomic is not _NOTHING and value is self.atomic:
            return True
        if self.seen is None:
            return bool(fingerprint(value, self.names) == fingerprint(self.atomic, self.names))
        return self.seen is not MOVING and bool(fingerprint(value, self.names) == self.seen)


_NOTHING = object()
MOVING = object()
"""The fingerprint of state that changes unseen."""


def is_moving(value: Any) -> bool:
    """Whether using a value changes it unseen: a random generator, an iterator. No module is loaded to find out."""
    for module, names in _MOVING.items():
        if module in sys.modules and isinstance(value, tuple(getattr(sys.modules[module], name) for name in names)):
            return True
    return hasattr(type(value), "__next__") and not isinstance(value, type)


def fingerprint(value: Any, names: frozenset[str], depth: int = 0, path: tuple[int, ...] = ()) -> Any:
    """A key that changes whenever what a function could read of `value` does."""
    kind = type(value)
    if kind in (int, str, bytes, bool, type(None)):
        return kind, value
    if kind in (float, complex):
        return kind, repr(value)
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return kind, value.shape, tuple([fingerprint(one, names, depth + 1, path) for one in value.ravel()])
        return kind, value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    if isinstance(value, (Layer, types.ModuleType, *_ATOMS)):
        return kind, id(value)
    if is_moving(value):
        return MOVING
    if id(value) in path or depth > _DEEPEST:
        return "again", id(value)
    inside = _contents(value, names)
    return _gathered((kind, id(value)), inside, names, depth + 1, (*path, id(value)))


def _gathered(head: Any, inside: Iterator[Any], names: frozenset[str], depth: int, path: tuple[int, ...]) -> Any:
    marks: list[Any] = [head]
    for one in inside:
        mark = fingerprint(one, names, depth, path)
        if mark is MOVING:
            return MOVING
        marks.append(mark)
    return tuple(marks)


def _contents(value: Any, names: frozenset[str]) -> Iterator[Any]:
    """What stands inside a container or an object, as far as code with these attribute names can see."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield one
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
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
    elif not isinstance(value, types.CodeType):
        yield from _attributes(value, names)


def _attributes(value: Any, names: frozenset[str]) -> Iterator[Any]:
    held = getattr(value, "__dict__", {})
    for name in sorted(names):
        if name in held:
            yield name
            yield held[name]
            continue
        found = getattr(type(value), name, _NOTHING)
        if isinstance(found, (types.MemberDescriptorType, *_ATOMS, np.ndarray, list, dict, tuple, np.generic)):
            yield name
            yield getattr(value, name, None)


# --------------------------------------------------------------------------- finding the places


def watches(function: Any) -> list[Watch]:
    """Every place that the function, and the plain functions that it calls, read from outside."""
    found: list[Watch] = []
    _visit(function, found, set(), frozenset())
    return found


def _visit(function: Any, found: list[Watch], seen: set[Any], outer: frozenset[str]) -> None:
    while isinstance(function, functools.partial):
        for value in (*function.args, *function.keywords.values()):
            _watch("an argument of partial", lambda value=value: value, found, seen, outer)  # type: ignore[misc]
        function = function.func
    owner = None
    if isinstance(function, types.MethodType):
        owner, function = function.__self__, function.__func__
    elif not isinstance(function, types.FunctionType):
        call = next((vars(one)["__call__"] for one in type(function).__mro__ if "__call__" in vars(one)), None)
        if not isinstance(call, types.FunctionType):
            return
        owner, function = function, call
    if function.__module__ is not None and function.__module__.partition(".")[0] in _LIBRARIES:
        return
    if (id(function), id(owner)) in seen:
        return
    seen.add((id(function), id(owner)))
    codes = list(_codes(function.__code__))
    names = frozenset(name for code in codes for name in code.co_names) | outer
    if owner is not None:
        _watch("self", lambda: owner, found, seen, names)
        _methods(owner, names, found, seen)
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        _watch("a default", lambda value=value: value, found, seen, names)  # type: ignore[misc]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        _watch(name, lambda cell=cell: cell.cell_contents, found, seen, names)  # type: ignore[misc]
    space = function.__globals__
    for chain in sorted({chain for code in codes for chain in _global_chains(code)}):
        if chain[0] in space:
            _watch_chain(chain, space, found, seen, names)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _global_chains(code: types.CodeType) -> Iterator[tuple[str, ...]]:
    """`a.b.c` for each global `a` that the code loads, with the attributes that follow at once."""
    chain: tuple[str, ...] = ()
    for one in dis.get_instructions(code):
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            if chain:
                yield chain
            chain = (one.argval,)
        elif chain and one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            chain = (*chain, one.argval)
        elif one.opname not in ("PRECALL", "CACHE", "PUSH_NULL", "NOP"):
            if chain:
                yield chain
            chain = ()
    if chain:
        yield chain


def _watch_chain(
    chain: tuple[str, ...], space: dict[str, Any], found: list[Watch], seen: set[Any], names: frozenset[str]
) -> None:
    """Follow attributes through modules; from the first object on, its attributes are part of its fingerprint."""
    value: Any = space[chain[0]]
    used = 1
    while used < len(chain) and isinstance(value, types.ModuleType):
        ours = value.__name__.partition(".")[0] in _LIBRARIES and value.__name__ != "numpy.random"
        if ours and chain[used] != "random":
            return
        if not hasattr(value, chain[used]):
            return
        value = getattr(value, chain[used])
        used += 1
    if isinstance(value, types.ModuleType):
        return
    path = chain[:used]

    def fetch() -> Any:
        got: Any = space[path[0]] if path[0] in space else getattr(builtins, path[0])
        for name in path[1:]:
            got = getattr(got, name)
        return got

    _watch(".".join(path), fetch, found, seen, names)


def _watch(what: str, fetch: Callable[[], Any], found: list[Watch], seen: set[Any], names: frozenset[str]) -> None:
    try:
        value = fetch()
    except ValueError:  # an empty cell: the name is bound later
        return
    if isinstance(value, types.BuiltinMethodType) and is_moving(value.__self__):
        found.append(Watch(what, lambda: value.__self__, names))
        return
    found.append(Watch(what, fetch, names))
    if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
        _visit(value, found, seen, names)
    elif not isinstance(value, (type, types.ModuleType, Layer, np.ndarray, *_ATOMS)):
        _methods(value, names, found, seen)


def _methods(owner: Any, names: frozenset[str], found: list[Watch], seen: set[Any]) -> None:
    """The methods that code with these attribute names may call on an object."""
    for name in names:
        method = getattr(type(owner), name, None)
        if not isinstance(method, types.FunctionType) or (id(method), id(owner)) in seen:
            continue
        if (method.__module__ or "").partition(".")[0] not in _LIBRARIES:
            _visit(types.MethodType(method, owner), found, seen, names)
