"""How is the code of a program made? Its loops are found, its values are given places, its text is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symbolic.backends import pool
from symbolic.backends.native import shares
from symbolic.backends.native.again import again
from symbolic.backends.native.assembly import BLAS, CALLS, TEAM, WORK, Assembly
from symbolic.backends.native.blocks import Group, groups
from symbolic.backends.native.cuts import cuts
from symbolic.backends.native.engine import Library, load
from symbolic.backends.native.host import MOST_THREADS, Host, host
from symbolic.backends.native.lowering import Contract, External, Lowered, Running, Small
from symbolic.backends.native.matrices import matrices
from symbolic.backends.native.nests import Nest, Schedule, arranged_apart, work_of
from symbolic.backends.native.recipes import OWN, Placed, Recipe
from symbolic.backends.native.rules import rule
from symbolic.backends.native.store import know, outline_of
from symbolic.backends.native.waiting import late
from symbolic.plan import Program
from symbolic.spec import AnySpec, Spec

__all__ = ["Making"]

_MUCH = 100_000
"""Operations on single entries beside which what Python does between segments is little."""
_NAMES = {
    "nests of loops": Nest,
    "sums of products": Contract,
    "factors and solutions": Small,
    "results so far": Running,
}


class Making(Placed):
    """A program, and the code that is made of it. With `apart` every stage is a function of its own."""

    apart: bool
    arena: int
    divides: bool
    """Whether there is so much to do that long stages are divided."""
    groups: dict[int, Group]
    lowered: Lowered
    makers: list[int]
    margins: dict[int, Any]
    on: Host | None
    places: dict[int, int]
    schedule: Schedule
    specs: list[AnySpec]

    def __init__(self, program: Program, into: Sequence[int] = (), on: Host | None = None, apart: bool = False) -> None:
        self.program, self.into, self.on, self.apart = program.plainly(), tuple(into), on, apart
        self.host = on or host()
        self.lowered = Lowered(self.program, rule)
        self.specs = self.lowered.specs
        self.results = [self.lowered.result(k) for k in program.outputs]
        for base in dict.fromkeys(self.results):
            if base is not None:
                self.lowered.check(base)
        self.schedule = Schedule(
            self.lowered, self._outputs(), lambda nest: cuts(nest, self.lowered.constants), again, late
        )
        self.work = sum(map(work_of, self.schedule.stages))
        self.divides = shares.enough(self.schedule.stages, self.lowered, self.host)
        self.segment = ""

    def _outputs(self) -> list[int]:
        return [base for base in self.results if base is not None]

    @property
    def worth(self) -> bool:
        """Whether enough is native that going to and fro pays."""
        outside = sum(isinstance(one, External) for one in self.schedule.stages)
        return 2 * outside < len(self.schedule.stages) or self.work > _MUCH

    # ------------------------------------------------------------------ where values are
    def _words(self) -> None:
        """A word of the table for each value that comes from outside, and for each that goes there."""
        lowered, program = self.lowered, self.program
        self.word = {}
        count = CALLS + 2
        outside = [k for k in range(len(program.leaves)) if k in lowered.views]
        outside += [k for k in lowered.constants if k in lowered.views]
        outside += [stage.target for stage in self.schedule.stages if isinstance(stage, External)]
        outside += self._outputs()
        for k in outside:
            if k not in self.word and isinstance(lowered.specs[k], Spec):
                self.word[k] = count
                count += 1
        self.size = count

    def _memory(self) -> None:
        """One block of memory for all intermediate values."""
        schedule = self.schedule
        last = dict(schedule.last)
        for stage in reversed(schedule.stages):  # what NumPy gives may be a view on what it was given
            if isinstance(stage, External):
                for view in stage.operands:
                    last[view.base] = max(last.get(view.base, 0), last.get(stage.target, 0))
        needed: dict[int, tuple[int, int, int]] = {}
        for base, born in schedule.born.items():
            if base in schedule.stored and base not in self.word:
                needed[base] = (max(schedule.size(base), 8), schedule.first[base], last.get(base, born))
        self.margins = {base: number for base, number in self.lowered.margins.items() if base in needed}
        for base in self.margins:
            needed[base] = (needed[base][0], -1, len(schedule.stages))
        for group in self.groups.values():
            many = MOST_THREADS if self.host.shares and self.divided(group) else 1
            for base in group.kept:
                needed[base] = (self.block_bytes(group, base) * many, group.first, group.last)
            for base, (size, first, until) in needed.items():  # lives within a group overlap for as long as it runs
                if first <= group.last and until >= group.first:
                    needed[base] = (
                        size,
                        min(first, max(group.first, 0)) if first >= group.first else first,
                        max(until, group.last),
                    )
        self.places, size = arranged_apart(needed, self.lowered.border)
        self.places[WORK] = size

    def divided(self, group: Group) -> list[shares.Share]:
        """The shares of a group; none if it is not divided."""
        return shares.of_group(group, self.schedule.stages, self.lowered, self.host) if self.divides else []

    def block_bytes(self, group: Group, base: int) -> int:
        """Of the rows of a value that are in memory at a time; no two threads write into one line of it."""
        return -(-self.schedule.size(base) // group.rows * group.block // 64) * 64

    # ------------------------------------------------------------------ the code
    def loaded(self, key: str) -> tuple[Library, Recipe]:
        """The code, and what is to be known of it; kept under a key, or if that is empty under what it is made of."""
        outputs = self._outputs()
        found = [] if self.apart else groups(self.lowered, self.schedule, outputs, self.host)
        self.groups = {one.first: one for one in found}
        self._words()
        self._memory()
        self.makers = [k for k in dict.fromkeys(outputs) if self.schedule.size(k) >= pool.LARGE]
        code = Assembly(self, self.apart)
        self.arena = self.places[WORK] + code.needed
        entry = code.enter()
        recipe = self._recipe(code, None if entry is None else (entry.f.name, entry.words))
        library = load(code.write, self.on, key or code.key(), recipe)
        if key:
            know(outline_of(self.program, self.into))
        return library, library.notes if key else recipe  # another process may have been first

    def _recipe(self, code: Assembly, entry: tuple[str, list[str]] | None) -> Recipe:
        slots, lowered = len(self.program.specs), self.lowered
        outside = [self.program.instructions[one.at] for one in self.schedule.stages if isinstance(one, External)]
        asked = dict.fromkeys(k for one in outside for k in (*one.sources, one.target) if k in lowered.views)
        views = [(k, lowered.views[k]) for k in asked]
        within = {base for group in self.groups.values() for base in group.kept}  # nobody asks for a block of rows
        return {
            "worth": self.worth,
            "work": self.work,
            "specs": [(self.shape(k), self.dtype(k).str) for k in range(slots, len(self.specs))],
            "numbers": [(k, self._number(k, value)) for k, value in lowered.constants.items() if k >= slots],
            "calls": np.array([*code.data, 0], np.int64).tobytes(),
            "calls_at": CALLS,
            "results": self.results,
            "words": list(self.word.items()),
            "size": self.size,
            "arena": self.arena,
            "arrays": [(base, at) for base, at in self.places.items() if base != WORK and base not in within],
            "margins": [(k, self.places[k], self._number(k, number)) for k, number in self.margins.items()],
            "views": [(k, (one.base, one.shape, one.strides, one.offset)) for k, one in views],
            "large": list(self.makers),
            "products": [(name, OWN - 10 - at) for name, at in self._products()],
            "team": OWN - 10 - TEAM if code.is_shared else 0,
            "steps": [one if isinstance(one, str) else one.at for one in code.steps],
            "entry": entry,
            "segment": self.segment,
        }

    def _number(self, k: int, value: Any) -> bytes:
        return np.asarray(value, self.dtype(k)).tobytes()

    def _products(self) -> list[tuple[str, int]]:
        """The functions of the BLAS that there are, where the code may call them."""
        called = [matrices(one) for one in self.schedule.stages if isinstance(one, Contract)]
        kinds = {one.kind for one in called if one is not None and one.by(self.host).calls}
        return [(name, BLAS[kind]) for kind, name in (("double", "dgemm"), ("float", "sgemm")) if kind in kinds]

    def explain(self) -> str:
        """How many loops and products run natively, and what NumPy runs, with the reason for each."""
        stages = self.schedule.stages
        numbers = {name: sum(isinstance(one, kind) for one in stages) for name, kind in _NAMES.items()}
        counts = ", ".join(f"{n} {name}" for name, n in numbers.items() if n or _NAMES[name] in (Nest, Contract))
        lines = [f"native, {self.host.vector_bits} bits: {counts}"]
        outside: dict[str, int] = {}
        for one in stages:
            if isinstance(one, External):
                line = f"NumPy: {type(self.program.instructions[one.at].node).__name__}, for {one.why}"
                outside[line] = outside.get(line, 0) + 1
        return "\n".join([*lines, *[f"{line} ({n} times)" if n > 1 else line for line, n in outside.items()]])
