"""How is a structure of arrays (tuples, lists, dictionaries, dataclasses) taken apart and put together again?"""

from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from symbolic.errors import ShapeError

Tree = Any
"""A hashable description of a structure: `None` for a leaf, else (kind, keys, children)."""
Leaf = Callable[[Any], bool]


class Defaulting(NamedTuple):
    """The kind of a defaultdict: it makes its missing entries as the one that was taken apart."""

    kind: type
    factory: Any


_PLAIN = {np.ndarray, float, int, complex, bool, str, type(None)}


def _fields(value: Any) -> tuple[str, ...] | None:
    """The names of a dataclass's fields, and of what else is set on it; its module is not imported for those who
    have none.
    """
    dataclasses = sys.modules.get("dataclasses")
    if dataclasses is None or isinstance(value, type) or not hasattr(type(value), "__dataclass_fields__"):
        return None
    names = [field.name for field in dataclasses.fields(value)]
    return tuple(dict.fromkeys([*names, *getattr(value, "__dict__", ())]))


def _no(value: Any) -> bool:
    return False


def _itself(value: Any) -> Any:
    return value


def flatten(value: Any, leaf: Leaf = _no, opened: Callable[[Any], Any] = _itself) -> tuple[list[Any], Tree]:
    """The leaves in order, and the tree that puts them together again; `leaf` says where to stop early, `opened`
    what a value is read as.
    """
    leaves: list[Any] = []
    return leaves, _flatten(value, leaves, leaf, opened)


def _flatten(value: Any, leaves: list[Any], leaf: Leaf, opened: Callable[[Any], Any]) -> Tree:
    if type(value) in _PLAIN:  # the usual leaves, told at once
        leaves.append(value)
        return None
    value = opened(value)
    if not leaf(value):
        kind, keys, inside = _taken_apart(value)
        if kind is not None:
            return kind, keys, tuple([_flatten(one, leaves, leaf, opened) for one in inside])
    leaves.append(value)
    return None


def _taken_apart(value: Any) -> tuple[Any, tuple[Any, ...], Sequence[Any]]:
    """Kind, keys and children; no kind for a leaf."""
    kind = type(value)
    if isinstance(value, (tuple, list)):
        return kind, (), value
    if isinstance(value, dict):
        held = Defaulting(kind, value.default_factory) if isinstance(value, defaultdict) else kind
        return held, tuple(value), list(value.values())
    names = _fields(value)
    if names is None:
        return None, (), ()
    return kind, names, [getattr(value, name) for name in names]


def unflatten(tree: Tree, leaves: Iterator[Any]) -> Any:
    """The structure again, over other leaves."""
    if tree is None:
        return next(leaves)
    kind, keys, children = tree
    return _together(kind, keys, [unflatten(child, leaves) for child in children])


def _together(kind: Any, keys: tuple[Any, ...], built: list[Any]) -> Any:
    """Not by `__init__`, which may check or compute: the parts are set as they are."""
    if kind is tuple or kind is list:
        return kind(built)
    if kind is dict:
        return dict(zip(keys, built, strict=True))
    if isinstance(kind, Defaulting):
        made = _together(kind.kind, keys, built)
        made.default_factory = kind.factory
        return made
    if issubclass(kind, tuple):
        return tuple.__new__(kind, built)
    made = kind.__new__(kind) if issubclass(kind, (list, dict)) else object.__new__(kind)
    if issubclass(kind, list):
        list.extend(made, built)
        return made
    place = next(place for base, place in _PLACES if issubclass(kind, base))
    for key, value in zip(keys, built, strict=True):
        place(made, key, value)
    return made


_PLACES: list[tuple[type, Callable[[Any, Any, Any], None]]] = [
    (OrderedDict, OrderedDict.__setitem__),
    (dict, dict.__setitem__),
    (object, object.__setattr__),
]


def count(tree: Tree) -> int:
    """How many leaves a tree has."""
    return 1 if tree is None else sum(count(child) for child in tree[2])


def paths(tree: Tree, start: str = "") -> list[str]:
    """Where each leaf stands: `[0]['w'].x`."""
    if tree is None:
        return [start]
    found: list[str] = []
    for step, child in zip(_steps(tree), tree[2], strict=True):
        found += paths(child, start + step)
    return found


def _steps(tree: Tree) -> list[str]:
    kind, keys, children = tree
    if not keys:
        return [f"[{k}]" for k in range(len(children))]
    return [f"[{key!r}]" if _is_dict(kind) else f".{key}" for key in keys]


def _is_dict(kind: Any) -> bool:
    return isinstance(kind, Defaulting) or issubclass(kind, dict)


def alike(tree: Tree, value: Any, what: str, leaf: Leaf = _no) -> list[Any]:
    """The leaves of a value that is built as the tree says, in the tree's order; ShapeError where it is not."""
    if tree is None:
        return [value]
    return [
        one
        for step, child, part in zip(_steps(tree), tree[2], _parts(tree, value, what), strict=True)
        for one in alike(child, part, what + step, leaf)
    ]


def _parts(tree: Tree, value: Any, what: str) -> Sequence[Any]:
    """The children of a value, in the order of the tree's; a list may stand for a tuple, and a dictionary's order is
    free.
    """
    kind, keys, children = tree
    plain = kind.kind if isinstance(kind, Defaulting) else kind
    got, names, parts = _taken_apart(value)
    if (
        not keys
        and issubclass(plain, (tuple, list))
        and isinstance(value, (tuple, list))
        and len(value) == len(children)
    ):
        return value
    if keys and got is not None and _is_dict(got) == _is_dict(kind) and set(names) == set(keys):
        given = dict(zip(names, parts, strict=True))
        return [given[key] for key in keys]
    if not keys and not children and got is not None and not parts:
        return ()
    raise ShapeError(
        f"{what} is {shown(_shape_of(value))}, where {shown(tree)} is needed",
        remedy=f"build it as its counterpart is built{': ' + ', '.join(map(str, keys)) if keys else ''}",
    )


def _shape_of(value: Any) -> Tree:
    """The tree of a value, its parts counted as leaves; of a leaf its type."""
    kind, keys, parts = _taken_apart(value)
    return type(value) if kind is None else (kind, keys, (None,) * len(parts))


def shown(tree: Tree) -> str:
    """A structure in words: `a dict of 2 (w, b)`."""
    if tree is None or isinstance(tree, type):
        return "one value" if tree is None else f"a {tree.__name__}"
    kind, keys, children = tree
    name = kind.kind.__name__ if isinstance(kind, Defaulting) else kind.__name__
    return f"a {name} of {len(children)}" + (f" ({', '.join(map(str, keys))})" if keys else "")


def spread(tree: Tree, prefix: Any, what: str, ends: Leaf) -> list[Any]:
    """For each leaf of the tree what a coarser structure says of it: an entry stands for all that is below it."""
    if ends(prefix):
        return [prefix] * count(tree)
    if tree is None:
        seen = f"{what} is {shown(_shape_of(prefix))}, where one entry is needed"
        raise ShapeError(seen, remedy="give one entry for each leaf")
    return [
        one
        for step, child, part in zip(_steps(tree), tree[2], _parts(tree, prefix, what), strict=True)
        for one in spread(child, part, what + step, ends)
    ]
