"""How do entries that numbers name go from their place to a register, and back, with no memory between?

They are read again wherever they are needed, if they come in rows from an array that is smaller than a copy of them.
They are added to an array of zeros, or assigned to a copy: that is there before the values are computed, so that these
can be written where they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from symbolic.backends.native.access import Sizes, View
from symbolic.backends.native.lowering import Check, Point, Reduce, Task, Write, views_of


def read_again(tasks: Sequence[Task], extent: Callable[[int], int]) -> list[Task]:
    """The tasks, which read rows that numbers name where these lie; `extent` is how many entries a value has.

    What is written into later, as by an assignment, is no such copy: not the copy, nor the rows, nor the numbers.
    """
    rows: dict[int, View] = {}
    found: list[Task] = []
    last = {task.target: at for at, task in enumerate(tasks)}
    for at, task in enumerate(tasks):
        if isinstance(task, (Point, Reduce, Write, Check)):
            operands = tuple([_where(view, rows.get(view.base)) for view in task.operands])
            task = task._replace(operands=operands)  # type: ignore[arg-type]  # as many as before
        found.append(task)
        if isinstance(task, Point) and task.function == "cast" and task.inner == (task.dtype,):
            (view,) = task.operands
            still = all(last.get(base, -1) <= at for base in (task.target, *_read(view)))
            if still and _is_row(view) and extent(view.base) <= extent(task.target):
                rows[task.target] = view
    return found


def _where(view: View, row: View | None) -> View:
    return row if row is not None and view.whole and view.shape == row.shape else view


def _read(row: View) -> list[int]:
    """The values out of which a row is read: its own, and the numbers."""
    return [row.base, *[one.numbers.base for one in row.by]]


def _is_row(view: View) -> bool:
    """Whether entries along the last axis lie side by side, wherever that is."""
    kept = [k for k, size in enumerate(view.shape) if size != 1]
    return (
        bool(view.by and kept)
        and view.strides[kept[-1]] == 1
        and not any(one.numbers.strides[kept[-1]] for one in view.by)
    )


def begun_early(tasks: Sequence[Task]) -> tuple[list[Task], set[int]]:
    """The tasks in their new order, and the values that are begun so, each in loops of its own."""
    makers: dict[int, int] = {}
    whole: dict[int, int] = {}  # which task writes the last of its entries
    for at, task in enumerate(tasks):
        makers.setdefault(task.target, at)
        whole[task.target] = at
    order = {at: float(at) for at in range(len(tasks))}
    early: set[int] = set()
    for at, task in enumerate(tasks):
        if not isinstance(task, Write) or not task.region.by or task.target in early:
            continue
        begun = makers[task.target]
        first = min(_together(tasks, makers, at), default=at)
        given = [whole[view.base] for view in views_of(tasks[begun]) if view.base in whole]
        if isinstance(tasks[begun], Point) and first < begun and all(one < first for one in given):
            order[begun] = first - 0.5
            early.add(task.target)
    return [tasks[at] for at in sorted(order, key=lambda at: order[at])], early


def _together(tasks: Sequence[Task], makers: dict[int, int], at: int) -> Iterable[int]:
    """The tasks over the same domain whose results a task is computed of, with nothing else between."""
    domain, seen, waiting = _sizes(tasks[at]), set[int](), [at]
    while waiting:
        for view in views_of(tasks[waiting.pop()]):
            one = makers.get(view.base, -1)
            if one >= 0 and one not in seen and isinstance(tasks[one], Point) and _sizes(tasks[one]) == domain:
                seen.add(one)
                waiting.append(one)
    return seen


def _sizes(task: Task) -> Sizes:
    return tuple([size for size in getattr(task, "domain", ()) if size != 1])
