"""What does a program hold at one point of it, and what is true where two paths meet?

Values never change. What does change, a list, a dictionary, an object, is a `Ref`, and the state says what it holds
just now; so a branch works on a copy of the state, and both are joined behind it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from symbolic.polynomial import Size, same
from symbolic.spec import PYTHON_DTYPES, OpaqueSpec, Spec, TupleSpec, spec_of
from symbolic.static.abstract import UNKNOWN, Value, is_constant
from symbolic.static.alike import alike
from symbolic.static.provenance import NO_PAST, Origin, Past, origin_of_input, origin_of_join
from symbolic.static.python import python_value


class Traced(Value):
    """A value of the program, and what is known of its past; equal to the plain value."""

    is_layer: bool = False
    """Whether it is a layer for certain: an input, a weight, or computed from one."""
    is_given: bool = False
    """Whether an input with declared dimensions is in it."""
    past: Past = NO_PAST
    """Where it comes from (`provenance`), for the lints."""
    size: Any = None
    """The size that a hyperparameter is, where it says how large an array is to be."""

    @property
    def origin(self) -> Origin | None:
        return self.past.origin


def traced(value: Value, like: Iterable[Any] = (), past: Past = NO_PAST) -> Traced:
    """A value that was computed from others."""
    found = Traced(value.spec, value.loose)
    if past is not NO_PAST:
        found.past = past
    for one in like:
        if isinstance(one, Traced):
            if one.is_layer:
                found.is_layer = True
            if one.is_given:
                found.is_given = True
    return found


def as_input(value: Value, name: str = "") -> Traced:
    """An input with declared dimensions, or a weight without."""
    found = traced(value, (), Past.known(origin_of_input(name, value)) if name else NO_PAST)
    found.is_layer = found.is_given = True
    return found


def alike_in_past(value: Value, other: Any) -> Traced:
    """A value with the past of another one."""
    return traced(value, [other], getattr(other, "past", NO_PAST))


class Every(NamedTuple):
    """The entries of a list, or of what is gone through, where all are described alike and there are `count`."""

    entry: Any
    count: Any = None


class Ref:
    """A list, dictionary or object, by its identity; what it holds stands in the state."""

    kind: Any

    __slots__ = ("kind",)

    def __init__(self, kind: Any) -> None:
        self.kind = kind


class Missing:
    """Not bound."""


MISSING = Missing()
FACTS = "facts"
"""The key under which a state keeps what its path has found out about sizes: name to number or other size."""
UNSETTLED = "unsettled"
"""The key for the names of which the program has found out what the checker cannot tell, in order."""


class State:
    """What names and Refs stand for at one point: `cells` over a `base` that is not written to."""

    base: Any
    cells: Any

    __slots__ = ("base", "cells")

    def __init__(self, cells: dict[Any, Any], base: dict[Any, Any]) -> None:
        self.cells, self.base = cells, base

    def get(self, key: Any) -> Any:
        found = self.cells.get(key, MISSING)
        return self.base.get(key, MISSING) if found is MISSING else found

    def set(self, key: Any, value: Any) -> None:
        self.cells[key] = value

    def copy(self) -> State:
        return State(dict(self.cells), self.base)

    def whole(self) -> dict[Any, Any]:
        """Everything, as the base of another state."""
        return {**self.base, **self.cells}

    # ------------------------------------------------------------------ lists, dictionaries, objects
    def made(self, kind: Any, contents: Any) -> Ref:
        ref = Ref(kind)
        self.cells[ref] = contents
        return ref

    def contents(self, ref: Ref) -> Any:
        found = self.get(ref)
        return UNKNOWN if found is MISSING else found

    def lose(self, value: Any, depth: int = 4) -> None:
        """Unknown code has got hold of a value: what can be changed in it may have been."""
        if isinstance(value, Ref):
            inner = self.contents(value)
            self.cells[value] = UNKNOWN
            if inner is not UNKNOWN and depth:
                self.lose(inner, depth - 1)
        elif isinstance(value, Every):
            self.lose(value.entry, depth)
        elif isinstance(value, (tuple, list)) and depth and not isinstance(value, Value):
            for one in value:
                self.lose(one, depth - 1)
        elif isinstance(value, dict) and depth:
            for one in value.values():
                self.lose(one, depth - 1)


def unchanged(before: State, after: State) -> bool:
    """Whether a state says the same as another one, of which it is a join; new lists alone are no difference."""
    return all(
        value is before.get(key) or equal(value, before.get(key)) or (isinstance(key, Ref) and key not in before.cells)
        for key, value in after.cells.items()
    )


def widened(before: State, after: State) -> State:
    """What is still true of both, where no join comes to an end."""
    cells = dict(after.cells)
    for key, value in after.cells.items():
        if not equal(value, before.cells.get(key, value)):
            cells[key] = UNKNOWN
    return State(cells, after.base)


def equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, Value) and isinstance(other, Value):
        is_plain = _plain_spec(one.spec) and _plain_spec(other.spec)
        return tuple.__eq__(one, other) if is_plain else same(tuple(one), tuple(other))
    if type(one) is not type(other):
        return False
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return same(one, other) if is_constant(one) else False


def _plain_spec(spec: Any) -> bool:
    return not isinstance(spec, Spec) or not any(isinstance(size, Size) and size.opaque for size in spec.shape or ())


def joined(one: Any, other: Any, state1: State | None = None, state2: State | None = None) -> Any:
    """What is true of both values."""
    is_same = equal(one, other)
    if is_same and not isinstance(one, Traced):
        return one
    one, other = _number(one, other), _number(other, one)
    if isinstance(one, Value) and isinstance(other, Value):
        return _met(one, other, one if is_same else alike([one, other]))
    if isinstance(one, Every) or isinstance(other, Every):
        return _every(one, other, state1, state2)
    if state1 is not None and state2 is not None and (isinstance(one, Ref) or isinstance(other, Ref)):
        one, other = as_list(one, state1), as_list(other, state2)
    if isinstance(one, (tuple, list)) and type(one) is type(other):
        if len(one) == len(other):
            entries = [joined(a, b, state1, state2) for a, b in zip(one, other, strict=True)]
            return type(one)(*entries) if hasattr(one, "_fields") else type(one)(entries)
        return _every(one, other, state1, state2) if type(one) in (tuple, list) else UNKNOWN
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        return {key: joined(one[key], other[key], state1, state2) for key in one}
    return UNKNOWN


def _met(one: Value, other: Value, value: Value) -> Traced:
    """One value for both, with what their pasts have in common."""
    pasts = [getattr(side, "past", NO_PAST) for side in (one, other)]
    is_one = pasts[0] is pasts[1]
    past = pasts[0] if is_one else Past(lambda: origin_of_join([side.origin for side in pasts]), (one, other))
    found = traced(value, [one, other], past)
    found.is_layer = all(getattr(side, "is_layer", False) for side in (one, other))
    found.size = getattr(one, "size", None) if same(getattr(one, "size", None), getattr(other, "size", None)) else None
    return found


def as_list(value: Any, state: State) -> Any:
    """A list's entries as they are now; nobody can change them through the result."""
    if not isinstance(value, Ref) or value.kind is not list:
        return UNKNOWN if isinstance(value, Ref) else value
    inner = state.contents(value)
    return list(inner) if type(inner) is tuple else inner


def _every(one: Any, other: Any, state1: State | None, state2: State | None) -> Any:
    """Any number of entries like those of both."""
    entries: list[Any] = []
    for value in (one, other):
        if isinstance(value, Every):
            entries.append(value.entry)
        elif type(value) in (tuple, list):
            entries += value
        else:
            return UNKNOWN
    counts = [value.count if isinstance(value, Every) else len(value) for value in (one, other)]
    if not entries:
        return UNKNOWN
    entry = entries[0]
    for more in entries[1:]:
        entry = joined(entry, more, state1, state2)
    return Every(entry, counts[0] if same(*counts) else None)


def _number(value: Any, other: Any) -> Any:
    """A number as a value of which the type is known, where it is joined with another one."""
    if isinstance(value, Size) and isinstance(other, (int, Size, Value)):
        return traced(python_value(int))
    if type(value) in PYTHON_DTYPES and (isinstance(other, (Value, Size)) or type(other) in PYTHON_DTYPES):
        return traced(python_value(type(value)))
    return value


def spec_for(value: Any, state: State) -> Any:
    """The spec of a value that is handed to a function with declared inputs."""
    if isinstance(value, Value):
        return value.spec
    if isinstance(value, Size):
        return spec_of(0)
    if isinstance(value, tuple) and not isinstance(value, Every):
        return TupleSpec(spec_for(one, state) for one in value)
    if value is None or isinstance(value, (str, bytes)):
        return OpaqueSpec(type(value))
    return spec_of(value) if isinstance(value, (bool, int, float, complex, np.generic)) else Spec()
