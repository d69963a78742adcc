"""How is a structure of arrays (tuples, lists, dictionaries, dataclasses) taken apart and put together again?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

Tree = Any
"""A hashable description of a structure: `None` for a leaf, else (kind, keys, children)."""


def _fields(value: Any) -> tuple[str, ...] | None:
    """The field names of a dataclass; the module is not imported for those who have none."""
    dataclasses = sys.modules.get("dataclasses")
    if dataclasses is None or isinstance(value, type) or not hasattr(type(value), "__dataclass_fields__"):
        return None
    return tuple(field.name for field in dataclasses.fields(value))


def flatten(value: Any, leaf: Callable[[Any], bool] = lambda value: False) -> tuple[list[Any], Tree]:
    """The leaves in order, and the tree that puts them together again; `leaf` says where to stop early."""
    leaves: list[Any] = []
    return leaves, _flatten(value, leaves, leaf)


def _flatten(value: Any, leaves: list[Any], leaf: Callable[[Any], bool]) -> Tree:
    kind = type(value)
    if not leaf(value):
        if isinstance(value, (tuple, list)):
            return kind, (), tuple([_flatten(one, leaves, leaf) for one in value])
        if kind is dict:
            return kind, tuple(value), tuple([_flatten(one, leaves, leaf) for one in value.values()])
        names = _fields(value)
        if names is not None:
            return kind, names, tuple([_flatten(getattr(value, name), leaves, leaf) for name in names])
    leaves.append(value)
    return None


def unflatten(tree: Tree, leaves: Iterator[Any]) -> Any:
    """The structure again, over other leaves."""
    if tree is None:
        return next(leaves)
    kind, keys, children = tree
    built = [unflatten(child, leaves) for child in children]
    if keys or kind is dict:
        return kind(zip(keys, built, strict=True)) if kind is dict else _dataclass(kind, keys, built)
    if hasattr(kind, "_fields"):
        return kind(*built)
    return kind(built)


def _dataclass(kind: Any, keys: tuple[str, ...], built: list[Any]) -> Any:
    """Not by `__init__`, which may check or compute: the fields are set as they are."""
    made = object.__new__(kind)
    for name, value in zip(keys, built, strict=True):
        object.__setattr__(made, name, value)
    return made


def count(tree: Tree) -> int:
    """How many leaves a tree has."""
    return 1 if tree is None else sum(count(child) for child in tree[2])
