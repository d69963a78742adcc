"""Where is a long nest cut? Into pieces whose values stay in registers, at places where the same steps come again.

A nest of a thousand steps has more values than there are registers, is compiled slowly, and its entries wait for each
other. Pieces hand values on through memory, block by block (see `blocks`), and those that are alike are one function.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import numpy as np

from symbolic.backends.native.abreast import weight
from symbolic.backends.native.access import Sizes, joined
from symbolic.backends.native.lowering import Looping, Point, Reduce
from symbolic.backends.native.nests import Access, Nest, Step
from symbolic.printing import bits

_LONG = 160
"""Steps up to which a nest is left whole."""
_PIECE = 64
"""About how many instructions on a vector a piece is."""
_FEW = 16
"""Entries whose steps take less time than the call of a piece, which has four times as many then."""
_OFTEN = 3
"""Pieces that are alike, from which on it pays to write code for them that is longer and quicker."""
_RARE = 2
"""How many vectors at a time the others work on at most."""
_NEAR = 16
"""Steps within which a value counts as handed on; where the others come from is no part of a pattern."""
_PERIOD = 120
"""Steps after which a pattern has to come again in order to be found."""
_NUMBERS = 16
"""Different constants up to which a nest has them in its text."""


def cuts(nest: Nest, constants: dict[int, Any]) -> list[Nest]:
    """The nest as one, or as several that follow each other."""
    if len(nest.steps) <= _LONG or not all(map(_is_plain, nest.steps)):
        return [nest]
    nest = _flat(nest)
    numbers = {base: constants[base] for base in _numbers(nest, constants)}
    given = len({bits(value) for value in numbers.values()}) > _NUMBERS
    pattern = _Pattern(nest, {} if given else numbers)
    found, parts = [], list(pairwise(pattern.bounds()))
    again = Counter(pattern.part(*one) for one in parts)
    for start, stop in parts:
        piece = Nest(nest.domain)
        piece.steps = nest.steps[start:stop]
        piece.made = {step.task.target for step in piece.steps if isinstance(step.task, Point)}
        piece.given, piece.most = given, _RARE if again[pattern.part(start, stop)] < _OFTEN else 0
        found.append(piece)
    return found


def _is_plain(step: Step) -> bool:
    """Whether a step makes a value of its own, from places that no numbers say."""
    return step.region is None and not step.numbers


def _numbers(nest: Nest, constants: dict[int, Any]) -> list[int]:
    read = dict.fromkeys(one.base for step in nest.steps for one in step.operands if not nest.holds(one))
    return [base for base in read if base in constants and np.ndim(constants[base]) == 0]


# --------------------------------------------------------------------------- axes
def _flat(nest: Nest) -> Nest:
    """The same loops over one axis, where everything is read and written as if there were one."""
    if len(nest.domain) < 2:
        return nest
    whole = set(range(len(nest.domain)))
    steps = []
    for step in nest.steps:
        operands = [_joined(nest.domain, one) for one in step.operands]
        if None in operands or (isinstance(step.task, Reduce) and set(step.axes) != whole):
            return nest
        steps.append(Step(step.task, tuple(operands), (0,) if step.axes else (), None))  # type: ignore[arg-type]  # none is None
    found = Nest((prod(nest.domain),))
    found.steps, found.made = steps, nest.made
    return found


def _joined(domain: Sizes, one: Access) -> Access | None:
    stride = joined(domain, one.strides)
    return None if stride is None else Access(one.base, one.offset, (stride,))


# --------------------------------------------------------------------------- patterns
class _Pattern:
    """The steps of a nest as numbers: equal ones do the same with what the steps shortly before have made."""

    def __init__(self, nest: Nest, numbers: dict[int, Any]) -> None:
        self.nest, self.numbers = nest, numbers
        self.makers = {step.task.target: at for at, step in enumerate(nest.steps) if isinstance(step.task, Point)}
        known: dict[Any, int] = {}
        self.codes = np.array([known.setdefault(self._mark(at), len(known)) for at in range(len(nest.steps))])
        self.crossing = self._crossing()
        self.size = _PIECE if prod(nest.domain) > _FEW else 4 * _PIECE
        self.weights = [0, *accumulate(weight(step.task) for step in nest.steps)]

    def _mark(self, at: int) -> Any:
        step = self.nest.steps[at]
        operands = [self._operand(at, one) for one in step.operands]
        return type(step.task), _what(step.task), step.task.dtype, tuple(operands), step.axes

    def _operand(self, at: int, one: Access) -> Any:
        if self.nest.holds(one):
            away = at - self.makers[one.base]
            return away if away <= _NEAR else 0
        if one.base in self.numbers:
            return bits(self.numbers[one.base])
        return one.strides

    def _crossing(self) -> list[int]:
        """How many values a cut before each step would have handed on, of those that are read soon."""
        last: dict[int, int] = {}
        for at, step in enumerate(self.nest.steps):
            for one in step.operands:
                maker = self.makers[one.base] if self.nest.holds(one) else at
                if maker < at <= maker + _NEAR:
                    last[maker] = at
        change = [0] * (len(self.nest.steps) + 2)
        for maker, at in last.items():
            change[maker + 1] += 1
            change[at + 1] -= 1
        return list(accumulate(change))

    def part(self, start: int, stop: int) -> bytes:
        """What pieces have in common that are alike, and few others."""
        return self.codes[start:stop].tobytes()

    def bounds(self) -> list[int]:
        """Where pieces begin and end."""
        count, at, found = len(self.codes), 0, [0]
        lengths = self._lengths()
        while at < count:
            period, stop = lengths(at)
            if period:
                unit = self._unit(at, period, stop)
                first = min(range(at, at + period), key=self.crossing.__getitem__) if at else at
                found += [first] if first > at else []
                found += range(first + unit, stop + 1, unit)
                at = found[-1]
                continue
            far = min(max(bisect_right(self.weights, self.weights[at] + self.size) - 1, at + 1), count)
            again = next((k for k in range(at + 1, far) if lengths(k)[0]), None)
            if again is None and far < count:
                again = min(range((at + far + 1) // 2, far + 1), key=self.crossing.__getitem__)
            at = far if again is None else again
            found.append(at)
        return found

    def _unit(self, at: int, period: int, stop: int) -> int:
        """As many steps as fill a piece, and come again before a pattern ends."""
        full = self.size // (self.weights[at + period] - self.weights[at])
        return period * max(1, min(full, (stop - at) // period // 2))

    def _lengths(self) -> Callable[[int], tuple[int, int]]:
        """For a step the period in which steps come again from there on, and how far: 0 where they do not."""
        codes, count, weights = self.codes, len(self.codes), np.array(self.weights)
        best, until = np.zeros(count + 1, int), np.zeros(count + 1, int)
        for period in range(1, min(_PERIOD, count // 2) + 1):
            other = np.flatnonzero(codes[period:] != codes[:-period])
            stops = np.append(other, count - period)
            ends = np.repeat(stops, np.diff(stops, prepend=-1))[: count - period] + period
            starts = np.arange(count - period)
            lasts = (ends - starts >= 3 * period) & (weights[ends] - weights[starts] >= 2 * self.size)
            better = lasts & (ends > until[: count - period] + period)
            best[:-1][: count - period][better] = period
            until[: count - period][better] = ends[better]
        return lambda at: (int(best[at]), int(until[at]))


def _what(task: Looping) -> Any:
    if isinstance(task, Point):
        return task.function, task.inner
    return task.how if isinstance(task, Reduce) else None
