"""What does a call give whatever rank or dtype an argument has? It is asked with several; what is alike is true."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from symbolic.spec import Spec
from symbolic.static.abstract import ALWAYS_WRONG, UNKNOWN, Answer
from symbolic.static.alike import Sizes, alike, equal
from symbolic.static.nesting import specs, with_specs

Guess = Callable[[int], tuple[tuple[int, ...], str]]
"""A shape and a dtype for the argument of a number."""
Filling = Callable[[Any], Any]
"""An argument with guesses in the place of what is not known."""
_OTHERS = ((31, 37, 41, 43), (23, 29, 31, 37))


def _all(*shape: int, dtype: str = "float64") -> Guess:
    return lambda number: (shape, dtype)


_GUESSES: tuple[Guess, ...] = (
    _all(3),
    _all(5, dtype="float32"),
    _all(3, 3),
    _all(4, 4, dtype="complex128"),
    _all(3, 4, dtype="float32"),
    _all(4, 3),
    _all(5, 4, 4),
    _all(4, dtype="int64"),
    lambda number: ((3 + number,), "float64"),
    lambda number: ((6 - number,), "float64"),
    lambda number: ((4 + number, 3 + number), "float64"),
    lambda number: ((3 + number, 4 + number), "float64"),
    lambda number: (((5,), (5, 5))[number % 2], "float64"),
    lambda number: (((5, 5), (5,))[number % 2], "float64"),
)


def over_guesses(attempt: Callable[[Callable[[Any], Any]], Answer | None], arguments: Any) -> Answer:
    """The answer of a call that asks for more than is known of its arguments: `np.linalg.norm(x)` is a number."""
    if all(spec.known for spec in specs(arguments)):
        return Answer(UNKNOWN)
    fillings = [_Filling(guess) for guess in _GUESSES]
    found = [attempt(filling) for filling in fillings]
    right = [one.chosen for one, answer in zip(fillings, found, strict=True) if _is_right(answer)]
    sizes: Sizes = _unsaid if _is_narrow(right) else equal
    if len(_right(found)) < 2:
        found += [attempt(filling) for filling in _matching(list(specs(arguments)))]
        sizes = equal
    values = _right(found)
    if len(values) > 1:
        return Answer(alike(values, sizes))
    wrong = all(answer is not None and answer.finding is not None for answer in found)
    return ALWAYS_WRONG if wrong else Answer(UNKNOWN)


def _right(found: Iterable[Answer | None]) -> list[Any]:
    """What the call gives where it is right."""
    return [answer.value for answer in found if _is_right(answer)]


def _is_right(answer: Answer | None) -> TypeGuard[Answer]:
    return answer is not None and answer.finding is None


def _is_narrow(right: Sequence[Mapping[tuple[int, int], int]]) -> bool:
    """Whether one guess for a size is in all that is right: four equal parts of an axis of 4 say nothing of others."""
    if len(right) < 2:
        return False
    places = frozenset[tuple[int, int]]().union(*right)
    return any(len({one[place] for one in right if place in one}) == 1 for place in places)


def _unsaid(sizes: Sequence[Any]) -> Any:
    return None


def _matching(specs: list[Spec]) -> Iterator[Filling]:
    """What puts, in the place of one axis that is not known, a size that another argument has: as many channels."""
    sizes = {size for spec in specs if spec.known for size in spec.shape or () if isinstance(size, int)}
    ranks = {len(spec.shape) for spec in specs if spec.shape is not None and None in spec.shape}
    for axis, size, others in itertools.product(range(max(ranks, default=0)), sorted(sizes), _OTHERS):
        yield _Filling(
            lambda number, axis=axis, size=size, others=others: (  # type: ignore[misc]  # mypy infers no default of a lambda
                (*others[:axis], size, *others[axis + 1 :]),
                "float64",
            )
        )


class _Filling:
    """What puts guesses in the place of what is not known, for one argument after the other."""

    def __init__(self, guess: Guess) -> None:
        self.guess = guess
        self.count = 0
        self.chosen: dict[tuple[int, int], int] = {}
        """The guesses for sizes, by the number of the argument and the axis."""

    def __call__(self, argument: Any) -> Any:
        return with_specs(argument, self._filled)

    def _filled(self, spec: Spec) -> Spec:
        if spec.python is not None or spec.known:
            return spec
        shape, dtype = self.guess(self.count)
        sizes = shape if spec.shape is None else tuple(map(_chosen, spec.shape, itertools.cycle(shape)))
        for axis, size in enumerate(sizes):
            if spec.shape is None or spec.shape[axis] is None:
                self.chosen[self.count, axis] = size
        self.count += 1
        return Spec(sizes, np.dtype(dtype) if spec.dtype is None else spec.dtype)


def _chosen(size: int | None, guess: int) -> int:
    return guess if size is None else size
