"""What else does a function read, besides its arguments? And has any of it changed since the trace?

A function's code names what it reads: globals, closure cells, defaults, attributes, and the functions that it calls,
whose code is read in the same way. Each such place is a `Watch`, with a fingerprint of what was found there; a call
whose watches all hold may use the trace, any other traces anew. State that cannot be fingerprinted (a random
generator, an iterator) never holds.
"""

from __future__ import annotations

import builtins
import functools
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from symbolic.fingerprint import (
    ABSENT,
    ATOMS,
    DEEPEST,
    Every,
    Same,
    attributes,
    home_of,
    is_foreign,
    is_library,
    is_moving,
    named,
)
from symbolic.layer import Layer
from symbolic.said import said
from symbolic.watch import UNBOUND, Contents, Global, Held, Named, Parts, Watch

_KNOWN = ("numpy", "symbolic", "math", "builtins", "functools", "itertools", "operator", "typing", "collections")


def watches(function: Any) -> list[Watch]:
    """Every place that the function, and the Python code that it can reach, reads from outside."""
    return _Search(function).watches()


_ANYTHING = {
    *("getattr", "hasattr", "vars", "dir", "__dict__", "__getattribute__", "attrgetter", "methodcaller"),
    *("eval", "exec", "globals", "locals"),
}
"""Names by which code can read what it does not name."""
_ASKING = (operator.attrgetter, operator.methodcaller)
_ASKS = (getattr, hasattr, vars, dir, globals, locals, eval, exec, object.__getattribute__, *_ASKING)
_CLOCKS = {
    "secrets": None,
    "time": {"time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time"},
    "uuid": {"uuid1", "uuid4"},
    "os": {"urandom", "getrandom"},
    "datetime": {"now", "today", "utcnow"},
    "random": {"SystemRandom"},
}
"""Functions of the standard library that give something else each time."""
_READERS = {"open", "input", "loadtxt", "genfromtxt", "fromfile", "memmap", "read_text", "read_bytes", "read_csv"}
"""Names of functions that read a file, or what is typed: nobody sees whether it has changed."""
_LEAVES = (np.ndarray, np.generic, *ATOMS)
"""Nothing stands behind these, unless their class is the user's."""
_NEVER = ("__repr__", "__str__", "__init_subclass__", "__class_getitem__")


class _Search:
    """Follows code to the functions and objects that it can reach, until nothing new is found."""

    def __init__(self, function: Any) -> None:
        self.places: dict[Any, tuple[str, Callable[[], Any]]] = {}
        self.readers: dict[Any, set[int]] = {}
        self.foreign = False
        self.names: set[str] = set()
        self.functions: set[Any] = set()
        self.depths: dict[Any, int] = {}  # of functions: the least at which one was reached
        self.objects: dict[int, Any] = {}
        inner = getattr(function, "func", function)
        inner = getattr(inner, "__func__", inner)
        space = getattr(inner, "__globals__", None)
        self.home = ((space or {}).get("__name__") or getattr(inner, "__module__", None) or "").partition(".")[0]
        self.reach("the function", function, 0)
        known = -1
        while known != len(self.names):  # a new function brings names, by which objects show more
            known = len(self.names)
            for value in list(self.objects.values()):
                self.look_into(value, 0)

    def watches(self) -> list[Watch]:
        names = self.visible()
        found = []
        for key, (what, fetch) in self.places.items():
            watch = Watch(what, fetch, names)
            watch.key, watch.readers, watch.foreign = key, len(self.readers.get(key, ())), self.foreign
            found.append(watch)
        return found

    def visible(self) -> frozenset[str]:
        """The names by which the code can read; all that there are, once it can read what it does not name."""
        return Every(self.names) if self.names & _ANYTHING else frozenset(self.names)

    def place(self, key: Any, what: str, fetch: Callable[[], Any], reader: Any = None) -> None:
        self.readers.setdefault(key, set()).add(id(reader))
        if key in self.places:
            return
        self.places[key] = (what, fetch)
        try:
            value = fetch()
        except UNBOUND:
            return
        if isinstance(value, types.BuiltinMethodType) and is_moving(value.__self__):
            self.places[key] = (what, Held(value.__self__))
            return
        self.reach(what, value, 0)

    def reach(self, what: str, value: Any, depth: int) -> None:
        """Follow a value that was found: code is read, objects and containers are looked into.

        Long, for the kinds are told apart in one place, the narrower before the wider.
        """
        if type(value) is types.FunctionType:  # the usual one, quickly
            self.read(value)
            if depth < self.depths.get(value, DEEPEST + 1):  # all that stands behind it has not been seen from here
                self.depths[value] = depth
                self.behind(what, value, depth)
        elif isinstance(value, _ASKING) or any(value is one for one in _ASKS):
            self.names.add("getattr")  # under whatever name it is called
        elif isinstance(value, functools.partial):
            self.reach(what, value.func, depth)
            self.place((id(value), "parts"), what, Parts(value))
            for one in value.args:
                self.place((id(value), id(one)), what, Held(one))
            for name in value.keywords:
                self.place((id(value.keywords), (name,)), name, Global(value.keywords, (name,)), value)
        elif isinstance(value, types.MethodType):
            self.place(("self", id(value.__self__)), "self", Held(value.__self__))
            self.reach(what, value.__func__, depth)
        elif isinstance(value, (staticmethod, classmethod)):
            self.reach(what, value.__func__, depth)
        elif isinstance(value, types.BuiltinMethodType) and not isinstance(
            value.__self__, (types.ModuleType, type(None))
        ):
            self.reach(what, value.__self__, depth + 1)
        elif isinstance(value, property):
            if value.fget is not None:
                self.reach(what, value.fget, depth)
        elif isinstance(value, (type, types.ModuleType)):
            if not is_library(home_of(value), self.home) and id(value) not in self.objects:
                self.objects[id(value)] = value
                self.look_into(value, depth)
        elif isinstance(value, Layer) or (isinstance(value, _LEAVES) and is_library(type(value).__module__)):
            return
        elif is_foreign(value):
            self.behind(what, value, depth)
        elif id(value) not in self.objects and depth < DEEPEST:
            self.objects[id(value)] = value
            self.look_into(value, depth)

    def behind(self, what: str, value: Any, depth: int) -> None:
        """The functions that a wrapper calls: np.vectorize, functools.wraps, cache, singledispatch, partialmethod."""
        for name in ("__wrapped__", "func", "pyfunc", "dispatcher"):
            inner = getattr(value, name, None)
            if inner is not None and callable(inner) and depth < DEEPEST:
                self.reach(what, inner, depth + 1)
        registry = getattr(value, "registry", None)
        for inner in dict(registry).values() if registry else ():
            self.reach(what, inner, depth + 1)

    def look_into(self, value: Any, depth: int) -> None:
        if not isinstance(value, (type, types.ModuleType)) and not is_library(type(value).__module__):
            self.methods(value)
        if isinstance(value, (type, types.ModuleType)):
            inside = [one for one in named(value, self.visible()) if not isinstance(one, str)]
            inside = [one.value if isinstance(one, Same) else one for one in inside]
            if isinstance(value, type):
                self.methods_of(value)
        elif isinstance(value, dict):
            inside = list(value.values())
        elif isinstance(value, (list, tuple, set, frozenset)):
            inside = list(value)
        else:
            inside = [one for _, one in attributes(value, self.visible())]
        for one in inside:
            self.reach("an entry", one, depth + 1)

    def methods(self, owner: Any) -> None:
        """The methods and properties that such code may call on an object, the operators among them."""
        if isinstance(owner, types.SimpleNamespace):
            return
        self.place(("self", id(owner)), "self", Held(owner))
        self.methods_of(type(owner))

    def methods_of(self, owner: type) -> None:
        anything = bool(self.names & _ANYTHING)
        for kind in owner.__mro__:
            if is_library(kind.__module__, self.home):
                continue
            for name, found in vars(kind).items():
                special = name.startswith("__")
                called = name in self.names or (name not in _NEVER if special else anything)
                if called and isinstance(found, (types.FunctionType, property, staticmethod, classmethod)):
                    self.reach(name, found, 0)
                elif called and not isinstance(found, (type, *ATOMS)):
                    self.reach(name, found, 1)  # a descriptor, an object of the class's

    def read(self, function: types.FunctionType) -> None:
        """What a function's code names: the places, and where they lead."""
        module = function.__globals__.get("__name__")  # __module__ may be copied from what is wrapped
        if function in self.functions or is_library(module, self.home):
            self.foreign |= (module or "").partition(".")[0] not in (*_KNOWN, self.home)
            return
        self.functions.add(function)
        told = said(function.__code__)
        self.names |= told.names
        self.place((id(function), "itself"), function.__name__, Held(function))
        for one in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self.reach("a default", one, 0)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            self.place(("cell", id(cell)), name, Contents(cell), function)
        space = function.__globals__
        for chain in told.chains:
            self.chain(chain, space, function)
        if self.names & {"globals", "eval", "exec"}:
            for name in [one for one in self.names if one in space]:
                self.chain((name,), space, function)
        for module in told.modules:
            self.imported(module)
        for name in _READERS & told.names - {"open", "input"}:
            self.clock(name)
        if told.draws:
            self.clock("a generator without a seed")

    def imported(self, name: str) -> None:
        """A module that the body itself imports."""
        module = sys.modules.get(name)
        if name.partition(".")[0] in _CLOCKS or name == "numpy.random":
            self.clock(name)
        elif module is not None:
            self.place(("module", name), name, lambda: sys.modules.get(name))

    def clock(self, what: str) -> None:
        """Something that is another at each call: no trace holds."""
        self.place(("clock", what), what, lambda: iter(()))

    def chain(self, chain: tuple[str, ...], space: dict[str, Any], reader: Any) -> None:
        """Follow attributes through modules; from the first object on they are part of its fingerprint."""
        if chain[0] not in space and hasattr(builtins, chain[0]):
            self.of_library(chain[:1], space, ABSENT, reader)  # where a global of this name would shadow it
            self.of_library(chain[:1], vars(builtins), getattr(builtins, chain[0]), reader)
            if chain[0] in _READERS:
                self.clock(f"{chain[0]}()")
            return
        value: Any = space.get(chain[0], ABSENT)
        used = 1
        while used < len(chain) and isinstance(value, types.ModuleType):
            package = value.__name__.partition(".")[0]
            if is_library(value.__name__, self.home):
                self.foreign |= package not in _KNOWN
                if package not in _CLOCKS and "random" not in (value.__name__[-6:], chain[used]):
                    if chain[used] not in vars(value):  # to be loaded, perhaps, when it is asked for
                        break
                    path, inner = chain[: used + 1], vars(value)[chain[used]]
                    if not isinstance(inner, types.ModuleType):
                        self.of_library(path, space, inner, reader)
                        return
            value = getattr(value, chain[used], ABSENT)
            used += 1
        path = chain[:used]
        if isinstance(value, types.ModuleType) and is_library(value.__name__, self.home):
            self.of_library(path, space, value, reader)
            return
        if is_clock(value, chain[used:]):
            self.clock(".".join(chain))
            return

        self.place((id(space), path), ".".join(path), Global(space, path), reader)

    def of_library(self, path: tuple[str, ...], space: dict[str, Any], value: Any, reader: Any) -> None:
        """A name of Python's own or of a library's, which somebody may bind to something else."""
        if value is not ABSENT and not (isinstance(value, types.ModuleType) or _is_theirs(value)):
            self.place((id(space), path), ".".join(path), Global(space, path), reader)  # somebody has
            return
        key = (id(space), path)
        self.readers.setdefault(key, set()).add(id(reader))
        self.places.setdefault(key, (".".join(path), Named(space, path)))


def _is_theirs(value: Any) -> bool:
    """Whether what stands under a library's name is a library's: nobody reads its code, nothing in it changes."""
    if type(value) is types.FunctionType:
        return is_library(value.__globals__.get("__name__"))  # __module__ may be copied from what is wrapped
    return is_library(getattr(value, "__module__", None) or type(value).__module__)


def is_clock(value: Any, rest: tuple[str, ...]) -> bool:
    """Whether a function of the standard library, or a method that is called on one of its classes, is a clock."""
    package = (getattr(value, "__module__", None) or "").partition(".")[0]
    if package not in _CLOCKS:
        return False
    names = _CLOCKS[package]
    return names is None or bool(names & {getattr(value, "__name__", ""), *rest})
