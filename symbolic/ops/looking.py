"""What does Python see where it looks at a value itself, and asks no method? `is True`, `case float()`, keys, texts.

The rewritten code of a body asks these instead (`rewriting`): a layer is no Boolean, no float, and has no hash of its
number's, so that Python's own answer would be another one than for the number.
"""

from __future__ import annotations

import collections
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from symbolic.callees import MAKING
from symbolic.context import here
from symbolic.layer import Layer, refuse
from symbolic.literal import as_layer
from symbolic.ops.making import is_instance, is_traced, making


def has_number(value: Any) -> bool:
    return isinstance(value, Layer) and here.trace is not None and here.trace.has_number(value)


def compared(value: Any) -> Any:
    """`value is True`: a comparison of Python numbers is a Boolean, one of NumPy's stays what it is."""
    if type(value) in (list, tuple):
        return type(value)([compared(one) for one in value])
    return bool(value) if has_number(value) and is_instance(value, bool) else value


# --------------------------------------------------------------------------- kinds


class _Kind(type):
    """A class whose instances are the layers, too, that stand for instances of another."""

    of: type

    def __instancecheck__(cls, value: Any) -> bool:
        return bool(is_instance(value, cls.of))


@lru_cache
def _kind(cls: type) -> type:
    base = int if cls is bool else cls if cls in (int, float, complex) else object
    return _Kind(cls.__name__, (base,), {"of": cls})


def kind(cls: Any) -> Any:
    """`case float():` what stands in the place of a class of numbers."""
    numbers = isinstance(cls, type) and (
        cls in (bool, int, float, complex) or issubclass(cls, (np.generic, np.ndarray))
    )
    return _kind(cls) if numbers and here.trace is not None else cls


# --------------------------------------------------------------------------- keys


def key(value: Any) -> Any:
    """What becomes an entry of a set, or a key: a number is found by its hash, which a layer does not have.

    A constant and a count are their numbers; of a count this is a decision.
    """
    if type(value) is tuple:
        return tuple([key(one) for one in value])
    if not has_number(value):
        return value
    assert here.trace is not None
    known = here.trace.known(value)
    if known is not None:
        return known
    if value.ndim == 0 and value.dtype.kind in "iub":
        return here.trace.answer(value, "truth" if value.dtype.kind == "b" else "int")
    refuse(
        "a traced value as a key of a dictionary, or an entry of a set",
        "keep such values in a list, or make a key of what is exact: int(x), round(x), f'{x:.3f}'",
    )


def within(value: Any, container: Any) -> bool:
    """`value in container`: among keys by comparison, not by hash."""
    if is_traced(value) and isinstance(container, (dict, set, frozenset)):
        return any(one == value for one in container)
    return value in container


def index(container: Any, value: Any) -> Any:
    """`container[value]`: of a dictionary it is a key."""
    return key(value) if isinstance(container, dict) else value


def item(container: Any, index: Any) -> Any:
    """`container[index]`: of a plain array by a traced index or mask, of a dictionary by a traced key."""
    if isinstance(container, np.ndarray) and is_traced(index) and not container.dtype.hasobject:
        return as_layer(container)[index]
    return container[key(index) if isinstance(container, dict) else index]


def asked_of_keys(method: Any, *args: Any, **kwargs: Any) -> Any:
    """A method of a dictionary or a set."""
    if method.__name__ == "get" and args and is_traced(args[0]):
        found = [one for k, one in method.__self__.items() if k == args[0]]
        return found[0] if found else kwargs.get("default", *args[1:2] or (None,))
    if method.__name__ in _BY_KEY:
        args = (*map(key, args[:1]), *args[1:])
    elif method.__name__ in _OF_KEYS:
        args = tuple([_keys(one) for one in args])
    return method(*args, **kwargs)


_BY_KEY = {"add", "discard", "remove", "setdefault", "pop", "__getitem__", "__contains__"}
_OF_KEYS = {"union", "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "fromkeys"}


def _keys(values: Any) -> Any:
    return [key(one) for one in values] if not isinstance(values, (dict, set, frozenset)) else values


def _of_keys(kind: type) -> None:
    def make(*args: Any, **kwargs: Any) -> Any:
        return kind(*map(_keys, args), **kwargs)

    MAKING[kind] = make


for _collection in (set, frozenset, collections.Counter):
    _of_keys(_collection)


@making(dict)
def dictionary(*args: Any, **kwargs: Any) -> Any:
    if args and not hasattr(args[0], "keys"):
        args = ([(key(one), value) for one, value in args[0]],)
    return dict(*args, **kwargs)


# --------------------------------------------------------------------------- texts


_CONVERSION = r"%(\(\w+\))?([#0\- +]*\d*(?:\.\d+)?)[hlL]?([diouxXeEfFgGcrsa%])"  # compiled where a text is filled


def filled(text: Any, values: Any) -> str:
    """`"%.3f" % x`: each traced value is asked for its text."""
    entries = values if isinstance(values, (tuple, dict)) else (values,)
    if not any(map(has_number, entries.values() if isinstance(entries, dict) else entries)):
        return text % values  # type: ignore[no-any-return]  # a string's
    _ = text % _zeros(values)  # Python's own errors: too few values, or too many
    if not isinstance(entries, dict):
        entries = {str(k): one for k, one in enumerate(entries)}
    count = iter(range(len(entries)))

    def fill(found: re.Match[str]) -> str:
        name, form, letter = found.groups()
        if letter == "%":
            return "%"
        return _written(entries[name[1:-1] if name else str(next(count))], f"%{form}{letter}")

    return re.sub(_CONVERSION, fill, text)


def _zeros(values: Any) -> Any:
    """The values with a 0 in the place of each traced one."""
    if isinstance(values, dict):
        return {name: _zeros(one) for name, one in values.items()}
    return tuple(map(_zeros, values)) if isinstance(values, tuple) else 0 if has_number(values) else values


def _written(value: Any, form: str) -> str:
    if has_number(value):
        assert here.trace is not None
        return str(here.trace.answer(value, f"text:{form}"))
    return form % (value,)


@making(repr)
def shown(value: Any) -> str:
    """`repr(x)`: of its number."""
    if has_number(value):
        assert here.trace is not None
        return str(here.trace.answer(value, "repr"))
    return repr(value)


# --------------------------------------------------------------------------- questions


@making(callable)
def is_callable(value: Any) -> bool:
    return callable(value) and not has_number(value)


@making(hasattr)
def has_attribute(value: Any, name: str) -> bool:
    """Of a Python number: what it has itself."""
    if not has_number(value):
        return hasattr(value, name)
    assert here.trace is not None
    return hasattr(here.trace.kind(value), name)


@making(getattr)
def get_attribute(value: Any, name: str, *default: Any) -> Any:
    if default and has_number(value) and not has_attribute(value, name):
        return default[0]
    return getattr(value, name, *default)


def attribute_of(value: Any, name: str) -> Any:
    """`x.__class__`: that of the number."""
    if name != "__class__" or not has_number(value):
        return getattr(value, name)
    assert here.trace is not None
    return here.trace.kind(value)


LOOKING: dict[str, Callable[..., Any]] = {
    "compared": compared,
    "kind": kind,
    "key": key,
    "within": within,
    "index": index,
    "item": item,
    "filled": filled,
    "shown": shown,
}
