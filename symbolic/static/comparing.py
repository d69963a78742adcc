"""What does a comparison of sizes give, and of which names does it say something?"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from symbolic.polynomial import Rest, Size, Undecided
from symbolic.static import evaluation
from symbolic.static.abstract import Value
from symbolic.static.holding import equal, traced
from symbolic.static.python import python_value

COMPARISONS = {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}


def has_size(value: Any) -> bool:
    """Whether a value is a size with names, or has one in it."""
    if isinstance(value, (Size, Rest)):
        return True
    return isinstance(value, (tuple, list)) and not isinstance(value, Value) and any(map(has_size, value))


def names_within(value: Any) -> frozenset[str]:
    """The names of sizes, and of the sizes within tuples and lists.

    >>> sorted(names_within([(Size.named("n"), 2), Size.named("d")]))
    ['d', 'n']
    """
    if isinstance(value, Size):
        return frozenset(value.names)
    if isinstance(value, Rest):
        return frozenset({str(value)})
    if isinstance(value, (tuple, list)) and not isinstance(value, Value):
        return frozenset().union(*map(names_within, value))
    return frozenset()


def compared(function: Callable[..., Any], args: list[Any]) -> Any:
    """A comparison of sizes that the program itself makes: there, two names may well have one number."""
    one, other = args
    if isinstance(one, Value) or isinstance(other, Value):
        both = [python_value(int) if isinstance(side, Size) else side for side in args]
        answer = evaluation.call(function, both, {}).value
        return traced(answer, args) if isinstance(answer, Value) else answer
    unknown = traced(python_value(bool))
    if function in (operator.eq, operator.ne):
        if equal(one, other):
            return function is operator.eq
        return function is operator.ne if _apart(one, other) else unknown
    try:
        return bool(function(one, other))
    except (Undecided, TypeError):
        return unknown


def _apart(one: Any, other: Any) -> bool:
    """Whether two sizes, or shapes, differ whatever the names stand for."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        if any(not isinstance(side, (int, Size)) for side in (*one, *other)):
            return False
        return len(one) != len(other) or any(map(_apart, one, other))
    if not isinstance(one, (int, Size)) or not isinstance(other, (int, Size)):
        return False
    difference: Any = one - other
    return isinstance(difference, int) and difference != 0
