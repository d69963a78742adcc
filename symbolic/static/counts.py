"""What does a call give for a list with any number of entries? It is asked with several numbers of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from symbolic.polynomial import Undecided, same
from symbolic.static import evaluation
from symbolic.static.abstract import UNKNOWN, Answer, Value
from symbolic.static.alike import alike
from symbolic.static.holding import Every

_COUNTS = (13, 17, 19)
"""Numbers of entries for a list of which only their kind is known."""


def over_counts(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Answer:
    """The answer of a call with such lists among its arguments."""
    answers = [
        evaluation.call(
            function,
            [_filled(one, count) for one in args],
            {name: _filled(one, count) for name, one in kwargs.items()},
        )
        for count in _COUNTS
    ]
    if all(one.finding is not None for one in answers):
        return answers[0]
    if any(one.finding is not None for one in answers):
        return Answer(UNKNOWN)
    counts = [one.count for one in _flat([*args, *kwargs.values()]) if isinstance(one, Every)]
    count = counts[0] if all(same(one, counts[0]) for one in counts) else None
    return Answer(alike([one.value for one in answers], lambda sizes: _by_count(sizes, count)))


def has_every(arguments: Iterable[Any]) -> bool:
    """Whether a list of which only the kind of its entries is known stands in the arguments."""
    for one in arguments:
        if isinstance(one, (tuple, list)) and not isinstance(one, Value) and (type(one) is Every or has_every(one)):
            return True
    return False


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)) and not isinstance(value, (Value, Every)):
        for one in value:
            yield from _flat(one)
    else:
        yield value
        if isinstance(value, Every):
            yield from _flat(value.entry)


def _filled(value: Any, count: int) -> Any:
    if isinstance(value, Every):
        return [_filled(value.entry, count)] * count
    if type(value) in (tuple, list):
        return type(value)([_filled(one, count) for one in value])
    return value


def _by_count(sizes: Any, count: Any) -> Any:
    """The size that depends on the number of entries, if it does so evenly."""
    if all(same(one, sizes[0]) for one in sizes):
        return sizes[0]
    if count is None:
        return None
    try:
        rise = sizes[1] - sizes[0]
        slope = rise // (_COUNTS[1] - _COUNTS[0])
        at = [sizes[0] + slope * (other - _COUNTS[0]) for other in _COUNTS]
        if all(map(same, at, sizes)):
            return sizes[0] + slope * (count - _COUNTS[0])
    except (Undecided, TypeError):
        pass
    return None
