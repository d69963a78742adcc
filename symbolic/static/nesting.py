"""What stands in a structure: which values in the arguments of a call, which sizes in a spec? And with others there?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from symbolic.polynomial import Rest, Size
from symbolic.spec import AnySpec, Spec, TupleSpec
from symbolic.static.abstract import Value


def leaves(value: Any) -> Iterator[Any]:
    """What stands in an argument, through tuples, lists, dicts and slices.

    >>> list(leaves(([1, {"k": 2}], slice(3, None), Value(Spec((4,))).loose)))
    [1, 2, 3, None, None, False]
    """
    if isinstance(value, Value):  # a tuple, too
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from leaves(one)
    elif isinstance(value, dict):
        for one in value.values():
            yield from leaves(one)
    elif isinstance(value, slice):
        yield from leaves((value.start, value.stop, value.step))
    else:
        yield value


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """An argument with what `change` makes of each of its leaves.

    >>> mapped(([1], {"k": 2}, slice(3)), lambda one: one and 10 * one)
    ([10], {'k': 20}, slice(None, 30, None))
    """
    if isinstance(value, Value):
        return change(value)
    if isinstance(value, (tuple, list)):
        entries = [mapped(one, change) for one in value]
        return type(value)(*entries) if hasattr(value, "_fields") else type(value)(entries)
    if isinstance(value, dict):
        return {name: mapped(one, change) for name, one in value.items()}
    if isinstance(value, slice):
        return slice(*[mapped(one, change) for one in (value.start, value.stop, value.step)])
    return change(value)


def with_specs(value: Any, change: Callable[[Spec], Spec]) -> Any:
    """An argument with what `change` makes of each spec in it."""
    return mapped(
        value, lambda one: one._replace(spec=respecified(one.spec, change)) if isinstance(one, Value) else one
    )


def specs(value: Any) -> Iterator[Spec]:
    """The specs of the values in an argument."""
    for one in leaves(value):
        if isinstance(one, Value):
            yield from entries_of(one.spec)


def entries_of(spec: AnySpec) -> Iterator[Spec]:
    """The specs of arrays and numbers in a spec: itself, or those of a tuple's entries."""
    if isinstance(spec, TupleSpec):
        for one in spec:
            yield from entries_of(one)
    elif isinstance(spec, Spec):
        yield spec


def respecified(spec: AnySpec, change: Callable[[Spec], Spec]) -> AnySpec:
    """A spec with what `change` makes of it, or of each entry of a tuple."""
    if isinstance(spec, TupleSpec):
        return TupleSpec(respecified(one, change) for one in spec)
    return change(spec) if isinstance(spec, Spec) else spec


def sizes_of(spec: AnySpec) -> Iterator[Any]:
    """The sizes in a spec: numbers, named sizes, markers of any number of axes, and `None` for what is not known.

    >>> list(sizes_of(TupleSpec([Spec((2, None)), Spec(), Spec((3,))])))
    [2, None, 3]
    """
    for one in entries_of(spec):
        yield from one.shape or ()


def names_of(spec: AnySpec) -> Iterator[str]:
    """The names of the sizes, and of the markers, in a spec; a size with several gives them in order."""
    for size in sizes_of(spec):
        if isinstance(size, Size):
            yield from sorted(size.names)
        elif isinstance(size, Rest) and size.name:
            yield str(size)
