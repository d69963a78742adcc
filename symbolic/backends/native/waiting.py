"""Which stages wait, so that those around them may run block by block? What looks at all rows, between two by rows.

The gradient of a convolution by its kernel is a sum over all images. Nothing needs it soon, and it stands between two
stages that go image by image, of which one reads what the other has just made.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from symbolic.backends.native.lowering import Check, Contract, views_of
from symbolic.backends.native.matrices import matrices
from symbolic.backends.native.nests import Nest, Stage

_MOST = 4
"""Stages that wait at most: what they read stays in memory for as long."""
_LARGE = 1 << 20
"""Products for whose sake others wait."""


def late(stages: Sequence[Stage]) -> list[Stage]:
    """The stages in their new order: none comes before what makes what it reads."""
    if not any(map(_goes_on, stages)):
        return list(stages)
    found: list[Stage] = []
    while len(found) < len(stages):
        found += _run(stages[len(found) :])
    return found


def _run(stages: Sequence[Stage]) -> list[Stage]:
    """The first stage, those after it that go over as many rows, and those between them that wait, behind them."""
    size, members, waiting = _rows(stages[0]), [stages[0]], list[Stage]()
    done = members[:]
    for one in stages[1:]:
        needed = {value for each in waiting for value in _made(each)}
        taken = needed | {value for each in waiting for value in _read(each)}
        if size < 2 or len(waiting) > _MOST or needed & _read(one) or taken & _made(one):
            break
        if _rows(one) == size:
            members.append(one)
            if not waiting or any(map(_goes_on, members[-2:])):
                done = [*members, *waiting]
        elif _may_wait(one):
            waiting.append(one)
        else:
            break
    return done


def _rows(stage: Stage) -> int:
    """How many rows a stage has that goes by rows, or may do so; 0 for others."""
    if isinstance(stage, Nest):
        return stage.domain[0] if stage.domain and not all(isinstance(step.task, Check) for step in stage.steps) else 0
    return stage.domain[0] if isinstance(stage, Contract) and _goes_on(stage) else 0


def _goes_on(stage: Stage) -> bool:
    """Whether a stage is a long sum of products for each row of what it reads, that is no product of matrices."""
    if not isinstance(stage, Contract) or stage.region is not None or 0 in stage.axes or matrices(stage) is not None:
        return False
    rows = [view.strides for view in stage.operands if view.strides[0]]
    return prod(stage.domain) > _LARGE and bool(rows) and all(one[0] == max(one) for one in rows)


def _may_wait(stage: Stage) -> bool:
    """Whether a stage makes what it makes at any time, in memory of its own."""
    if isinstance(stage, Contract):
        return stage.region is None
    return isinstance(stage, Nest) and all(step.region is None for step in stage.steps)


def _read(stage: Stage) -> set[int]:
    if isinstance(stage, Nest):
        return {one.base for step in stage.steps for one in (*step.operands, *step.numbers)}
    return {view.base for view in views_of(stage)}


def _made(stage: Stage) -> set[int]:
    """The values that a stage makes; what a check notes is nobody's."""
    tasks = [step.task for step in stage.steps] if isinstance(stage, Nest) else [stage]
    return {task.target for task in tasks if not isinstance(task, Check)}
