"""What does a body see that looks at a traced value from outside: at its attributes, or whether it was there before?

It must see what the number or the array would show: a layer has attributes and a hash of its own.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from symbolic.callees import MAKING
from symbolic.context import here
from symbolic.layer import FUNCTIONS, Layer, refuse
from symbolic.leaves import Weight
from symbolic.ops.binding import array_method


def has_attribute(obj: Any, name: str, /) -> bool:
    if _has_number(obj):
        assert here.trace is not None
        return hasattr(here.trace.kind(obj), name)
    return hasattr(obj, name)


def get_attribute(obj: Any, name: str, /, *default: Any) -> Any:
    if default and _has_number(obj) and not has_attribute(obj, name):
        return default[0]
    return getattr(obj, name, *default)


def is_callable(obj: Any, /) -> bool:
    return not _has_number(obj) and callable(obj)


MAKING.update({hasattr: has_attribute, getattr: get_attribute, callable: is_callable})


def attribute(obj: Any, name: str) -> Any:
    """`obj.name` as a body reads it: the class of a traced value is its number's."""
    if name == "__class__" and _has_number(obj):
        assert here.trace is not None
        return here.trace.kind(obj)
    return getattr(obj, name)


def _has_number(value: Any) -> bool:
    return isinstance(value, Layer) and here.trace is not None and here.trace.has_number(value)


def _is_number(value: Any) -> bool:
    return _has_number(value) and not isinstance(value, Weight)  # which is itself, whatever it holds


def _no_key(seen: str) -> NoReturn:
    refuse(
        f"{seen}, which would tell equal numbers apart",
        "make plain keys of them, such as int(v) of a count, or compare the neighbours in sorted(values)",
    )


def keyed(function: Any) -> Any:
    """`counts.get(v, 0)`, `seen.add(v)`: what is called in the place of a method that looks for a key."""

    def look(*args: Any, **kwargs: Any) -> Any:
        if args and _is_number(args[0]):
            _no_key(f"a traced value as a key of a {type(function.__self__).__name__}")
        return function(*args, **kwargs)

    return look


KEYED = {"get", "setdefault", "add"}
"""The methods of dictionaries and sets that do."""


def _by_value(kind: Any, title: str) -> None:
    """A collection that tells its entries apart by their hash: a layer's says nothing of its number."""

    def make(*args: Any, **kwargs: Any) -> Any:
        entries = list(args[0]) if args and not isinstance(args[0], dict) else None
        if entries is not None and any(map(_is_number, entries)):
            _no_key(f"{title} of traced values")
        return kind(*args if entries is None else (entries, *args[1:]), **kwargs)

    MAKING[kind] = make


_sets: list[tuple[Callable[..., Any], str]] = [
    (set, "a set"),
    (frozenset, "a frozenset"),
    (collections.Counter, "a Counter"),
    (dict.fromkeys, "dict.fromkeys"),
]
for _kind, _title in _sets:
    _by_value(_kind, _title)


# --------------------------------------------------------------------------- dtypes


def _example(value: Any) -> Any:
    """What stands for a value where only its dtype is asked: Python's numbers are weak, whatever they are."""
    if not isinstance(value, Layer):
        return value
    kind = here.trace.kind(value) if here.trace is not None else np.ndarray
    return kind(0) if kind in (int, float, complex) else np.zeros(0, value.dtype)


FUNCTIONS[np.result_type] = lambda args, kwargs: np.result_type(*map(_example, args), **kwargs)
FUNCTIONS[np.common_type] = lambda args, kwargs: np.common_type(*map(_example, args), **kwargs)


@array_method("is_integer")
def is_integer(layer: Any) -> bool:
    """A method of numbers, Python's and NumPy's."""
    return bool(np.isfinite(layer)) and bool(np.floor(layer) == layer)
