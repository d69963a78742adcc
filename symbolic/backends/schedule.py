"""In which order does straight-line code run a program, and what runs block by block, so that it stays in the cache?

Instructions that work entry by entry on large arrays of one shape are brought together, as far as nothing between them
is needed for a later one. They then run for some rows at a time: what lies between them never leaves the cache, and
only what others read is an array of full size. Every entry is computed by the same function as without blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from symbolic.plan import Instruction, Program
from symbolic.spec import AnySpec, Spec, product

_LARGE = 1 << 16  # entries of an array that is worth cutting
_BLOCK = 1 << 14  # entries of a block: some of them fit the second cache, and a call costs little beside one


class Group(NamedTuple):
    """Instructions, by their numbers, that run together on `rows` rows at a time of arrays of this shape."""

    members: tuple[int, ...]
    shape: tuple[int, ...]
    rows: int


Unit: TypeAlias = int | Group


def schedule(program: Program) -> list[Unit]:
    """The instructions in an order in which they may run, what belongs together in groups."""
    order: list[Unit] = []
    run: list[int] = []
    if not is_large(program):
        return list(range(len(program.instructions)))
    for at, one in enumerate(program.instructions):
        if _is_fixed(one):  # it stays where it is: others run before or after it as they did
            order += [*_grouped(program, run), at]
            run = []
        else:
            run.append(at)
    return order + _grouped(program, run)


def is_large(program: Program) -> bool:
    """Whether some of its arrays are worth cutting, so that an interpreter would waste memory."""
    if program.large is None:
        found: dict[int, bool] = {}  # by their specs, of which a long program has few
        for one in program.instructions:
            if id(one.spec) not in found:
                found[id(one.spec)] = _is_large(one.spec)
        program.large = True in found.values() and any(rows_of(program, one) for one in program.instructions)
    return program.large


def _is_large(spec: AnySpec) -> bool:
    """Whether an array has enough entries to be cut."""
    return isinstance(spec, Spec) and spec.known and (product(spec.shape or ()) or 0) >= _LARGE


def _is_fixed(one: Instruction) -> bool:
    node = one.node
    return node.effect or node.raises or node.overwrites


def _grouped(program: Program, run: Sequence[int]) -> list[Unit]:
    """Instructions without effects: those of one shape brought together, what they do not need after them."""
    first = next((at for at in run if rows_of(program, program.instructions[at])), None)
    if first is None:
        return list(run)
    shape = _shape(program.instructions[first])
    before: list[int] = []
    members: list[int] = []
    after: list[int] = []
    made: set[int] = set()  # by members
    later: set[int] = set()  # by those that come after
    for at in run:
        one = program.instructions[at]
        waits = any(k in later for k in one.sources)
        if not waits and _shape(one) == shape and rows_of(program, one):
            members.append(at)
            made.add(one.target)
        elif waits or any(k in made for k in one.sources):
            after.append(at)
            later.add(one.target)
        else:
            before.append(at)
    rows = rows_of(program, program.instructions[first])
    group: list[Unit] = [Group(tuple(members), shape, rows)] if len(members) > 1 else list(members)
    return [*_grouped(program, before), *group, *_grouped(program, after)]


def _shape(one: Instruction) -> Any:
    return one.spec.shape if isinstance(one.spec, Spec) else None


def rows_of(program: Program, one: Instruction) -> int:
    """How many rows of its arrays an instruction can work on at a time; 0 if it is not worth it, or not possible."""
    spec = one.spec
    if not (one.takes_out and one.node.elementwise and isinstance(spec, Spec) and spec.known and spec.shape):
        return 0
    if not _is_large(spec):
        return 0
    row = product(spec.shape[1:])
    assert row is not None
    if row > _BLOCK or not all(_fits(program.specs[k]) for k in one.sources):
        return 0
    return max(1, _BLOCK // row)


def _fits(spec: Any) -> bool:
    return isinstance(spec, Spec) and spec.known and (spec.dtype is None or spec.dtype.kind != "O")


def is_cut(spec: Any, shape: Sequence[int]) -> bool:
    """Whether an operand of a group has rows of its own, rather than one for all."""
    return isinstance(spec, Spec) and spec.shape is not None and len(spec.shape) == len(shape) and spec.shape[0] != 1


def members_of(unit: Unit) -> tuple[int, ...]:
    return unit.members if isinstance(unit, Group) else (unit,)
