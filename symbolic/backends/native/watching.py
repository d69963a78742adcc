"""How does code see that what a function read from outside still stands there? By comparing words of memory.

A global name is looked up in its dictionary; the variable of a closure, and what a plain function is made of, are words
at fixed addresses.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from symbolic.backends.native.layouts import LIST_ENTRIES, LIST_SIZE, word_at
from symbolic.fingerprint import ABSENT
from symbolic.watch import Contents, Global, Held, Named, Parts, is_fixed, lasts

if TYPE_CHECKING:
    from symbolic.backends.native.entry import Entry

__all__ = ["Watching"]

_CELL, _DICT_USED, _DICT_VERSION, _FURTHEST = 16, 16, 24, 160


class Watching:
    """The watches of a trace, as words that must be what they were; `ok` is False where one cannot be put so."""

    ok: bool

    def __init__(self, watches: Sequence[Any]) -> None:
        self.globals: list[tuple[dict[str, Any], str, Any]] = []
        self.words: list[tuple[int, int]] = []
        self.asked: set[tuple[int, str]] = set()
        self.kept: list[Any] = []
        self.ok = all(map(self._take, watches))

    def _take(self, watch: Any) -> bool:
        fetch = getattr(watch, "fetch", None)
        if fetch is None or not watch.holds():
            return False
        if not hasattr(watch, "names"):  # an array of which only the kind must stay, as that of the same array does
            self.kept.append(fetch())
            return self._place(fetch, self.kept[-1])
        value = watch.value()
        self.kept.append(value)
        return self._place(fetch, value) and self._content(watch, value)

    def _place(self, fetch: Any, value: Any) -> bool:
        """Where it stands."""
        if isinstance(fetch, Held):
            return True
        if isinstance(fetch, Contents):
            self.words.append((id(fetch.cell) + _CELL, id(value)))
            self.kept.append(fetch.cell)
            return word_at(id(fetch.cell) + _CELL) == id(value)
        if isinstance(fetch, Parts):
            return self._parts(fetch.partial)
        if not isinstance(fetch, Global):
            return False
        space = fetch.space
        if isinstance(fetch, Named) and value is ABSENT:
            self._global(space, fetch.path[0], ABSENT)
            return type(space) is dict
        for k, name in enumerate(fetch.path):
            if type(space) is not dict or name not in space:
                return False
            found = space[name]
            self._global(space, name, found)
            if k + 1 < len(fetch.path):
                if type(found) is not types.ModuleType:
                    return False
                space = vars(found)
        return found is value

    def _parts(self, partial: functools.partial[Any]) -> bool:
        """Its function, its arguments, its keywords, and how many there are: each of these is watched itself."""
        kept = partial.func, partial.args, partial.keywords
        if type(partial) is not functools.partial or type(kept[2]) is not dict:
            return False
        words = range(id(partial) + 16, id(partial) + functools.partial.__basicsize__, 8)
        places = [[at for at in words if word_at(at) == id(one)] for one in kept]
        if any(len(found) != 1 for found in places):
            return False
        self.kept += [partial, *kept]
        self.words += [(at, id(one)) for (at,), one in zip(places, kept, strict=True)]
        self.words.append((id(kept[2]) + _DICT_USED, len(kept[2])))
        return word_at(self.words[-1][0]) == len(kept[2])

    def _global(self, space: dict[str, Any], name: str, found: Any) -> None:
        """Asked once, however many places lead through it."""
        if (id(space), name) not in self.asked:
            self.asked.add((id(space), name))
            self.globals.append((space, name, found))

    def _content(self, watch: Any, value: Any) -> bool:
        """That it is what it was."""
        if is_fixed(watch, value):
            return True
        if type(value) is list and all(map(lasts, value)):  # how many it has, and where, before what stands there
            entries = word_at(id(value) + LIST_ENTRIES)
            self.words += [(id(value) + LIST_SIZE, len(value)), (id(value) + LIST_ENTRIES, entries)]
            self.words += [(entries + 8 * k, id(one)) for k, one in enumerate(value)]
            self.kept += value
            return True
        places = _places() if type(value) is types.FunctionType and watch.names is not None else None
        if places is None or not lasts(value.__defaults__ or ()) or value.__kwdefaults__ or value.__dict__:
            return False
        code, defaults, named, own = places
        start = id(value)
        given = value.__defaults__
        self.kept += [value.__code__, value.__dict__, given]
        self.words += [(start + code, id(value.__code__)), (start + own, id(value.__dict__))]
        self.words += [(start + defaults, 0 if given is None else id(given)), (start + named, 0)]
        self.words += [(id(value.__dict__) + _DICT_USED, 0)]
        return all(word_at(place) == expected for place, expected in self.words)

    # ------------------------------------------------------------------ in code
    def given(self) -> dict[str, int]:
        """What the table holds for it."""
        found = {}
        for k, (place, expected) in enumerate(self.words):
            found[f"place {k}"], found[f"expected {k}"] = place, expected
        for k, (_, name, value) in enumerate(self.globals):
            found[f"name {k}"], found[f"global {k}"] = id(name), 0 if value is ABSENT else id(value)
            self.kept += [name, value]
        groups = self.groups
        versions = np.zeros(len(groups), np.uint64)  # of no dictionary: the first call looks up
        self.kept.append(versions)
        for k, group in enumerate(groups):
            space = self.globals[group[0]][0]
            found[f"space {k}"], found[f"version {k}"] = id(space), versions.ctypes.data + 8 * k
            self.kept.append(space)
        return found

    @property
    def groups(self) -> list[list[int]]:
        """The numbers of the names that are looked up in the same dictionary."""
        found: dict[int, list[int]] = {}
        for k, (space, _, _) in enumerate(self.globals):
            found.setdefault(id(space), []).append(k)
        return list(found.values())

    @property
    def kinds(self) -> tuple[int, list[list[int]], bool]:
        """What the code for it depends on."""
        return len(self.words), self.groups, _has_versions()

    def write(self, e: Entry, otherwise: str) -> None:
        """Guards: whatever is not as it was leads away."""
        for k in range(len(self.words)):
            e.same_object(e.word(f"place {k}"), e.word(f"expected {k}"), otherwise)
        for k, group in enumerate(self.groups):
            if _has_versions():
                self._unless_same(e, k, group, otherwise)
            else:
                self._looked_up(e, k, group, otherwise)

    def _looked_up(self, e: Entry, k: int, group: Sequence[int], otherwise: str) -> None:
        for one in group:
            e.same_global(e.word(f"space {k}"), e.word(f"name {one}"), e.word(f"global {one}"), otherwise)

    def _unless_same(self, e: Entry, k: int, group: Sequence[int], otherwise: str) -> None:
        """A dictionary that nobody has written to since its names were looked up holds what it held."""
        f, written, same = e.f, e.f.label("written"), e.f.label("same")
        seen, version = e.word(f"version {k}"), e.read(e.word(f"space {k}"), _DICT_VERSION, "i64")
        f.branch(f.compare("eq", version, f.load(seen, "i64")), same, written)
        f.start(written)
        self._looked_up(e, k, group, otherwise)
        f.store(version, seen)  # as it was before the names were looked up
        f.jump(same)
        f.start(same)


@cache
def _has_versions() -> bool:
    """Whether a dictionary has a number that is another one after each change, as up to Python 3.13."""
    module = types.ModuleType("module")
    names = vars(module)
    changes: list[Callable[[], Any]] = [
        lambda: names.update(a=1),
        lambda: names.update(a=2),
        lambda: names.__setitem__("b", 3),
        lambda: names.pop("a"),
        lambda: setattr(module, "b", 5),
        lambda: names.clear(),
        lambda: names.setdefault("c", 1),
        lambda: names.popitem(),
    ]
    seen = [word_at(id(names) + _DICT_VERSION)]
    for change in changes:
        change()
        again = [word_at(id(names) + _DICT_VERSION) for _ in range(2)]
        if again[0] in seen or again[0] != again[1]:
            return False
        seen.append(again[0])
    return sys.implementation.name == "cpython" and sys.version_info < (3, 14)


@cache
def _places() -> tuple[int, int, int, int] | None:
    """Where a function has its code, its defaults, those by name, and its attributes; `None` if nobody can tell."""

    def probe(a: int = 1, *, b: int = 2) -> int:
        return a + b

    def bare() -> None:
        return

    probe.own = 1  # type: ignore[attr-defined]  # any function has attributes
    held: list[Any] = [probe.__code__, probe.__defaults__, probe.__kwdefaults__, probe.__dict__]
    found = []
    for one in held:
        places = [k for k in range(16, _FURTHEST, 8) if word_at(id(probe) + k) == id(one)]
        if len(places) != 1:
            return None
        found.append(places[0])
    code, defaults, named, own = found
    if word_at(id(bare) + defaults) or word_at(id(bare) + named) or word_at(id(bare) + code) != id(bare.__code__):
        return None
    empty: dict[str, int] = {}
    return (code, defaults, named, own) if word_at(id(empty) + _DICT_USED) == 0 else None
