"""Which sizes and dtypes has an Einstein sum, and in which order are its operands multiplied? Two at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from symbolic.errors import ShapeError
from symbolic.spec import Dim, Shape, show


class Step(NamedTuple):
    """Which of the operands that are left are multiplied, and the letters of what takes their place, at the end."""

    places: tuple[int, ...]
    result: str


_FEW, _ENTRIES = 4, 1 << 22
"""Operands up to which the best order is looked for; entries that may lie in between, if no operand has more."""


@lru_cache(maxsize=1024)
def steps(terms: tuple[str, ...], result: str, shapes: tuple[tuple[int, ...], ...]) -> Sequence[Step] | None:
    """The products in order; `None` where an axis is stretched, or has no entry."""
    pairs = {pair for term, shape in zip(terms, shapes, strict=True) for pair in zip(term, shape, strict=True)}
    sizes = dict(pairs)
    if len(sizes) != len(pairs) or 0 in sizes.values():
        return None
    most = max(_ENTRIES, *map(prod, shapes), prod(sizes[letter] for letter in result))
    stand_ins: list[Any] = [np.broadcast_to(np.empty(()), shape) for shape in shapes]
    how = ("optimal" if len(terms) <= _FEW else "greedy", most)
    path = np.einsum_path(f"{','.join(terms)}->{result}", *stand_ins, optimize=how)[0][1:]
    left, found = list(terms), []
    for k, places in enumerate(path):
        taken = [left[place] for place in places]
        left = [term for place, term in enumerate(left) if place not in places]
        wanted = result if k == len(path) - 1 else _between("".join(taken), "".join([result, *left]))
        found.append(Step(tuple(places), wanted))
        left.append(wanted)
    return found


def _between(taken: str, rest: str) -> str:
    """The letters of what lies between two steps: those that are read later, in the order in which they come."""
    return "".join([letter for letter in dict.fromkeys(taken) if letter in rest])


def promoted(values: Sequence[Any]) -> list[Any]:
    """Operands of several dtypes in that of the result: two at a time they would be multiplied in their own.

    Two small integers would overflow before a larger one comes, and flags beside numbers would be joined by "or".
    """
    kinds = [np.asarray(one).dtype for one in values]
    if len(set(kinds)) == 1:
        return list(values)
    dtype = np.result_type(*kinds)
    return [np.asarray(one, dtype) for one in values]


def sizes_of(subscripts: str, terms: Sequence[str], shapes: Sequence[Shape]) -> dict[str, Dim]:
    """The size of each letter; a size of 1 is stretched."""
    sizes: dict[str, Dim] = {}
    for term, shape in zip(terms, shapes, strict=True):
        if len(term) != len(shape):
            raise ShapeError(
                f"einsum {subscripts!r} of an array of shape {show(shape)}: {len(shape)} axes, {len(term)} subscripts",
                remedy="write one letter for each axis, or ... for those that are left",
            )
        for letter, size in zip(term, shape, strict=True):
            before = sizes.get(letter, 1)
            if None not in (before, size) and before != size and 1 not in (before, size):
                raise ShapeError(
                    f"einsum {subscripts!r} of arrays of shapes {' and '.join(map(show, shapes))}: "
                    f"the axes {letter!r} have sizes {before} and {size}",
                    remedy="axes with one letter must have one size, or 1",
                )
            sizes[letter] = (
                size if before in (1, None) and size != 1 and size is not None else before if letter in sizes else size
            )
    return sizes
