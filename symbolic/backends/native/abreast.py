"""How many vectors does a loop work on at a time? As many as keep the processor busy, if their values have registers.

Steps of one vector wait for each other. Those of another do not: written side by side, the ones run while the others
wait.
"""

from __future__ import annotations

from collections.abc import Sequence

from symbolic.backends.native import pointwise
from symbolic.backends.native.lowering import Looping, Point, Reduce
from symbolic.backends.native.nests import Nest, Step

__all__ = ["HEAVY", "LIGHT", "abreast", "weight", "width"]

LIGHT = 16
"""The weight of a body up to which it is a matter of the loop alone."""
_LIGHT = ((4, 8), (LIGHT, 2))
"""How many vectors at a time, for bodies up to this weight: short ones leave the processor idle otherwise."""
_WAITING = ((2.0, 4), (3.0, 2))
"""The same for the others, by how much of their weight there is for each step of the longest way through them."""
HEAVY = 12
"""About how many instructions a transcendental function is."""
_INNER = 2
"""How many of those run at once."""
_OVER = 3
"""Values for each register, with which two vectors are still quicker than one where there are functions: the steps of
one are more than a processor looks ahead, so nothing but the other fills the time in which they wait.
"""


def abreast(nest: Nest, registers: int, more: int = 0) -> int:
    """How many vectors at a time, where there are enough; `more` is the weight of what the steps do besides."""
    whole = more + sum(weight(step.task) for step in nest.steps)
    for most, count in _LIGHT:
        if whole <= most:
            return count
    wanted = next((count for most, count in _WAITING if whole < most * longest(nest)), 1)
    wanted = min(wanted, nest.most or wanted)
    while wanted > 1 and wanted * width(nest.steps) > registers:
        wanted //= 2
    functions = any(weight(step.task) == HEAVY for step in nest.steps)
    return max(wanted, 2) if functions and nest.most != 1 and 2 * width(nest.steps) <= _OVER * registers else wanted


def weight(task: Looping) -> int:
    """About how many instructions a task is."""
    return HEAVY if isinstance(task, Point) and not pointwise.is_short(task.function) else 1


def longest(nest: Nest) -> int:
    """The weight of the steps that have to wait for each other."""
    ends: dict[int, int] = {}
    for step in nest.steps:
        start = max([ends.get(one.base, 0) for one in step.operands if nest.holds(one)], default=0)
        ends[step.task.target] = start + max(weight(step.task) // _INNER, 1)
    return max(ends.values(), default=1)


def width(steps: Sequence[Step]) -> int:
    """The most values that are in registers at once: from where one is made or first read to where it is last read."""
    first: dict[object, int] = {}
    last: dict[object, int] = {}
    for at, step in enumerate(steps):
        if isinstance(step.task, Reduce):  # a sum stays
            last[step.task.target] = len(steps)
            first[step.task.target] = 0
        else:
            first[step.task.target] = last[step.task.target] = at
        for one in step.operands:
            first.setdefault(one.base, at)
            last[one.base] = at
    change = [0] * (len(steps) + 2)
    for key, at in first.items():
        change[at] += 1
        change[max(last[key], at)] -= 1
    most = now = 0
    for one in change:
        now += one
        most = max(most, now)
    return most
