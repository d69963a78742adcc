"""What does an imported name mean? NumPy's, SciPy's and this library's own are known; no code of the user's is run."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from symbolic.spec import spec_of
from symbolic.static.abstract import UNKNOWN, Value, is_constant
from symbolic.static.holding import traced
from symbolic.static.things import Foreign

TRUSTED = ("numpy", "math", "scipy", "operator", "symbolic", "functools", "cmath", "itertools", "builtins")
"""Packages that are imported to know their functions."""
_TOOLS = ("numpy.testing", "numpy.f2py", "numpy.distutils")
"""Parts of them of which nothing is known, and which take as long to load as all the rest."""
_ALIASES = {"typing_extensions": "typing", "collections.abc": "typing"}


def module(name: str) -> Any:
    """A module by its full name, if it is one that may be imported; else its name alone."""
    root = name.partition(".")[0]
    if root not in TRUSTED or root == "scipy" or name.startswith(("symbolic.mypy_plugin", *_TOOLS)):
        return Foreign(_ALIASES.get(name, name))
    return _imported(name)


def resolved(foreign: Foreign) -> Any:
    """SciPy's function of a name: SciPy is slow to import, and is only when a layer meets it."""
    home, _, name = foreign.name.rpartition(".")
    if not foreign.name.startswith("scipy.") or not name:
        return foreign
    place = _imported(home)
    if isinstance(place, Foreign):  # of a class, scipy.stats.norm
        place = resolved(place)
    return foreign if isinstance(place, Foreign) else attribute(place, name)


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)  # waits for another thread that is importing it
    except Exception:  # it is not there, or not for this Python
        return Foreign(name)


def attribute(home: Any, name: str) -> Any:
    """What a name of a known module, class or object of a library means."""
    if isinstance(home, Foreign):
        return Foreign(f"{home.name}.{name}")
    if home is np and f"numpy.{name}" in _TOOLS:
        return Foreign(f"numpy.{name}")
    try:
        found = getattr(home, name)
    except Exception:  # it has no such name, or does not want to say
        inner = module(f"{home.__name__}.{name}") if isinstance(home, ModuleType) else None
        return UNKNOWN if inner is None or isinstance(inner, Foreign) else inner
    return known(found)


def known(found: Any) -> Any:
    """An object of a library as it is followed: a constant, a module, a function; an array by its spec."""
    if is_constant(found) or callable(found):
        return found
    if isinstance(found, ModuleType):
        return found if found.__name__.partition(".")[0] in TRUSTED else Foreign(found.__name__)
    if isinstance(found, (np.ndarray, np.generic)):
        return traced(Value(spec_of(found)))
    return found if found is np.newaxis else UNKNOWN


def imported(node: ast.Import, user: Any) -> Iterator[tuple[str, Any]]:
    """The names that `import a.b` or `import a.b as c` binds."""
    for one in node.names:
        found = _module(one.name, user)
        if one.asname:
            yield one.asname, found
        else:
            root = one.name.partition(".")[0]
            yield root, _module(root, user)


def imported_from(node: ast.ImportFrom, path: str, user: Any) -> Iterator[tuple[str, Any]]:
    """The names that `from a import b` binds; with `*`, every public one."""
    for home in _homes(node, path):
        place = _module(home, user)
        if not isinstance(place, Foreign):
            break
    for one in node.names:
        if one.name == "*":
            yield from _public(place)
        else:
            yield one.asname or one.name, _member(place, one.name, user)


def _module(name: str, user: Any) -> Any:
    found = user(name) if name.partition(".")[0] not in TRUSTED else None
    return module(name) if found is None else found


def _member(place: Any, name: str, user: Any) -> Any:
    names = getattr(place, "names", None)
    if isinstance(names, dict):
        if name in names:
            return names[name]
        return _module(f"{place.name}.{name}", user)
    found = attribute(place, name)
    return user(found.name) or found if isinstance(found, Foreign) else found


def _public(place: Any) -> Iterator[tuple[str, Any]]:
    names = getattr(place, "names", None)
    if isinstance(names, dict):
        yield from ((name, value) for name, value in names.items() if not name.startswith("_"))
    elif isinstance(place, ModuleType):
        for name in getattr(place, "__all__", None) or [one for one in dir(place) if not one.startswith("_")]:
            yield name, attribute(place, name)


def _homes(node: ast.ImportFrom, path: str) -> list[str]:
    """The full names that a module may have which is named relatively: it is not known where packages begin."""
    if not node.level:
        return [node.module or ""]
    parts = path.replace("\\", "/").removesuffix(".py").split("/")[: -node.level]
    inner = [node.module] if node.module else []
    folders = [[one for one in parts[k:] if one not in ("", ".", "..")] for k in range(len(parts))]
    return [".".join([*folder, *inner]) for folder in folders if folder or inner] + inner or [""]
