"""How does a program become native code, and how is it run? In segments, between which NumPy does what it alone can.

The code reads a table of words: where the memory for intermediate values is, then for each input, constant and output
where its entries are, or the number itself.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.lib.stride_tricks import as_strided

from symbolic.backends.native import pool
from symbolic.backends.native.abi import callable_of, weakly
from symbolic.backends.native.assembly import BLAS, OWN, WORK, Assembly
from symbolic.backends.native.blas import routine
from symbolic.backends.native.blocks import groups
from symbolic.backends.native.calls import BUSY, Unfit
from symbolic.backends.native.engine import load
from symbolic.backends.native.host import Host, host
from symbolic.backends.native.lowering import Contract, External, Lowered
from symbolic.backends.native.matrices import matrices
from symbolic.backends.native.nests import Nest, Schedule, arranged, work_of
from symbolic.backends.native.rules import rule
from symbolic.plan import Program, own
from symbolic.spec import Spec

if TYPE_CHECKING:
    from symbolic.backends.native.steps import Steps
    from symbolic.execution import Specialization
    from symbolic.training import Groups, Step, Trainer


_MUCH = 100_000
"""Operations on single entries beside which what Python does between segments is little."""


class Native:
    """A program as native code. One thread at a time runs it; `run` says no to a second one."""

    address: int
    arena: Any
    arrays: dict[int, Any]
    claim: Any
    groups: Any
    host: Host
    into: tuple[int, ...]
    lock: Any
    lowered: Lowered
    makers: dict[int, partial[Any]]
    observed: bool
    places: dict[int, int]
    program: Program
    results: list[int | None]
    schedule: Schedule
    table: Any
    work: int

    ready: bool
    """False if little would be native; then nothing else is there."""
    segment: str
    """The function that is the whole program, if it is one."""

    def __init__(
        self,
        program: Program,
        into: Sequence[int] = (),
        on: Host | None = None,
        apart: bool = False,
        always: bool = True,
    ) -> None:
        self.program, self.into = program, tuple(into)
        self.lowered = Lowered(program, rule)
        self.results = [self.lowered.result(k) for k in program.outputs]
        for base in dict.fromkeys(self.results):
            if base is not None:
                self.lowered.check(base)
        self.schedule = Schedule(self.lowered, [base for base in self.results if base is not None])
        self.work = sum(map(work_of, self.schedule.stages))
        self.ready = always or self._is_worth()
        if not self.ready:
            return
        self.host = on or host()
        outputs = [base for base in self.results if base is not None]
        found = [] if apart else groups(self.lowered, self.schedule.stages, self.schedule.last, outputs)
        self.groups = {one.first: one for one in found}
        self._words()
        self._memory()
        self.makers = {  # of arrays for large results
            base: partial(pool.array, self.lowered.sizes(base), self.lowered.dtype(base))
            for base in self.results
            if base is not None and self.schedule.size(base) >= pool.LARGE
        }
        code = Assembly(self, apart)
        entry = code.enter()
        self.code = code
        library = load(code.write, on, code.key())
        self.steps: list[Any] = []
        for step in code.steps:
            if isinstance(step, str):
                self.steps.append(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(library.address(step)))
            else:
                self.steps.append(step)
        self.library = library
        self.claim = ctypes.PYFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(library.address("claim"))
        self.function: Callable[..., Any] = self.general
        if entry is not None:
            words = {"words": self.address, **self.given()}
            name, general = entry.f.name, weakly(self.general)
            self.function = callable_of(library, name, general, entry.words, words, (self.table, self.makers))
        self.lock = threading.Lock()
        self.buffered = True
        self.borrower: Callable[[], Any] = lambda: None  # whoever has put values of its own into the table
        self.observed = any(one.node.effect for one in program.instructions)  # what has an effect runs once

    def _is_worth(self) -> bool:
        """Whether enough is native that going to and fro pays."""
        outside = sum(isinstance(one, External) for one in self.schedule.stages)
        return 2 * outside < len(self.schedule.stages) or self.work > _MUCH

    # ------------------------------------------------------------------ where values are
    def _words(self) -> None:
        """A word of the table for each value that comes from outside, and for each that goes there."""
        lowered, program = self.lowered, self.program
        self.word: dict[int, int] = {}
        count = OWN + 1 + len(BLAS)
        outside = [k for k in range(len(program.leaves)) if k in lowered.views]
        outside += [k for k in lowered.constants if k in lowered.views]
        outside += [stage.target for stage in self.schedule.stages if isinstance(stage, External)]
        outside += [base for base in self.results if base is not None]
        for k in outside:
            if k not in self.word and isinstance(lowered.specs[k], Spec):
                self.word[k] = count
                count += 1
        self.table = np.zeros(count, np.uint64)
        self.address = self.table.ctypes.data
        self.table[OWN] = self.address
        for kind, name in (("double", "dgemm"), ("float", "sgemm")):
            found = routine(name)
            self.table[OWN - 10 - BLAS[kind]] = 0 if found is None else found.address
        self.kept: list[Any] = []
        self.fixed: list[Any] = []  # constants, which must stay
        for k, value in lowered.constants.items():
            if k in self.word:
                self.fixed.append(self._put(k, value))

    def is_scalar(self, base: int) -> bool:
        return self.lowered.spec(base).shape == ()

    def _put(self, k: int, value: Any) -> Any:
        """A value into its word: a number itself, an array by its address."""
        spec = self.lowered.spec(k)
        if spec.shape == ():
            self.table[self.word[k] : self.word[k] + 1].view(np.dtype(spec.dtype))[0] = value
            return value
        if not (value.flags.c_contiguous and value.flags.aligned and value.dtype.isnative):
            value = np.ascontiguousarray(value, dtype=spec.dtype)
        self.table[self.word[k]] = value.__array_interface__["data"][0]
        self.kept.append(value)
        return value

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
        for group in self.groups.values():
            for base in group.kept:
                needed[base] = (schedule.size(base) // group.rows * group.block, group.first, group.last)
            for base, (size, first, until) in needed.items():  # lives within a group overlap for as long as it runs
                if first <= group.last and until >= group.first:
                    needed[base] = (
                        size,
                        min(first, max(group.first, 0)) if first >= group.first else first,
                        max(until, group.last),
                    )
        self.places, size = arranged(needed)
        self.places[WORK] = size
        products = [matrices(stage) for stage in schedule.stages if isinstance(stage, Contract)]
        size += max([one.workspace for one in products if one is not None], default=0)
        self.arena = np.empty(size + 64, np.uint8)
        start = -self.arena.ctypes.data % 64
        self.arena = self.arena[start : start + size]
        self.table[0] = self.arena.__array_interface__["data"][0]
        self.arrays = {base: self._in_arena(base, at) for base, at in self.places.items() if base != WORK}

    def _in_arena(self, base: int, at: int) -> Any:
        size = self.schedule.size(base)
        if any(base in group.kept for group in self.groups.values()):
            return None  # nobody asks for a block of rows
        return self.arena[at : at + size].view(self.lowered.dtype(base)).reshape(self.lowered.sizes(base))

    # ------------------------------------------------------------------ running
    def run(self, values: Sequence[Any], into: Sequence[Any] = ()) -> Sequence[Any] | None:
        """The outputs; `None` while another thread (or a callback from within) uses the memory."""
        if not self.lock.acquire(blocking=False):
            return None
        try:
            results: Sequence[Any] = self.function(*values, *into)
            return results
        finally:
            self.lock.release()

    def general(self, *given: Any) -> Sequence[Any]:
        """The outputs for the leaves' values, and the arrays to write into after them."""
        count = len(self.program.leaves)
        borrower = self.borrower()
        if borrower is not None:
            borrower.settle()
        if self.claim(self.address + 8 * BUSY):  # another thread is within
            return self._plainly(given[:count], given[count:])
        try:
            results = self._run(given[:count], given[count:])
        finally:
            self.table[BUSY] = 0
            self.kept.clear()
        primal = results[: self.program.primal]
        if self.table[1] and not self.observed and not all(map(_is_finite, primal)):
            return self._plainly(given[:count], given[count:])
        return results

    def _plainly(self, values: Sequence[Any], into: Sequence[Any]) -> Sequence[Any]:
        """The outputs by NumPy, with its warnings: the function itself has come to an infinity or to NaN."""
        slots = self.program.slots(values)
        self.program.run(slots, 0, self.program.split)
        with np.errstate(all="ignore"):
            self.program.run(slots, self.program.split, len(self.program.instructions))
        results = self.program.results(slots)
        for n, target in zip(self.into, into, strict=False):
            np.copyto(target, results[n])
            results[n] = target
        return results

    def given(self) -> dict[str, int]:
        """What the tables of functions that make results hold for it."""
        return {f"array {base}": id(make) for base, make in self.makers.items()}

    def stepping(
        self, trainer: Trainer[Any, Any], on: Specialization, step: Step, groups: Groups, inputs: Sequence[Any]
    ) -> Steps | None:
        """Steps of a trainer that are one call into machine code; `None` where they need Python in between."""
        from symbolic.backends.native.steps import Steps

        if not hasattr(self, "segment"):
            return None
        try:
            return Steps(trainer, on, step, groups, inputs)
        except Unfit:
            return None

    def predicting(
        self, layer: Any, on: Specialization, inputs: Sequence[Any], general: Callable[..., Any]
    ) -> Callable[..., Any] | None:
        """Predictions that are one call into machine code; `None` where they need Python in between."""
        from symbolic.backends.native.predictions import install, predictor

        if not hasattr(self, "segment"):
            return None
        try:
            return predictor(self, layer, on, inputs, general) if install() else None
        except Unfit:
            return None

    def failed(self, error: Exception) -> NoReturn:
        raise error  # it names its instruction already

    def explain(self) -> str:
        """How many loops and products run natively, and what NumPy runs, with the reason for each."""
        stages = self.schedule.stages
        nests, products = (sum(isinstance(one, kind) for one in stages) for kind in (Nest, Contract))
        lines = [f"native, {self.host.vector_bits} bits: {nests} nests of loops, {products} sums of products"]
        outside: dict[str, int] = {}
        for one in stages:
            if isinstance(one, External):
                line = f"NumPy: {type(self.program.instructions[one.at].node).__name__}, for {one.why}"
                outside[line] = outside.get(line, 0) + 1
        return "\n".join([*lines, *[f"{line} ({n} times)" if n > 1 else line for line, n in outside.items()]])

    def _run(self, values: Sequence[Any], into: Sequence[Any]) -> Sequence[Any]:
        given = {k: self._put(k, value) if k in self.word else value for k, value in enumerate(values)}
        given.update(self.program.constants)
        out = self._outputs(into)
        self.table[1] = 0
        for step in self.steps:
            if isinstance(step, External):
                self._external(step, given, out)
            else:
                step(self.address)
        return self._finished(given, out, into)

    def _outputs(self, into: Sequence[Any]) -> dict[int, Any]:
        """New arrays for the outputs, or those of the caller."""
        targets = dict(zip(self.into, into, strict=False))
        out: dict[int, Any] = {}
        for k, base in enumerate(self.results):
            if base is None or base in out or self.is_scalar(base):
                continue
            array = targets.get(k)
            if array is None or not array.flags.c_contiguous:
                array = pool.array(self.lowered.sizes(base), self.lowered.dtype(base))
            out[base] = array
            self.table[self.word[base]] = array.__array_interface__["data"][0]
        return out

    def _number(self, base: int) -> Any:
        spec, word = self.lowered.spec(base), self.word.get(base)
        place = self.arrays[base] if word is None else self.table[word : word + 1].view(self.lowered.dtype(base))
        found = place.flat[0]  # a word has room for two of the smaller numbers
        return spec.python(found) if spec.python is not None else found

    def _external(self, step: External, given: dict[int, Any], out: dict[int, Any]) -> None:
        one = self.program.instructions[step.at]
        operands = [self._operand(k, given, out) for k in one.sources]
        if one.takes_out:
            operands.append(None)
        try:
            if step.at >= self.program.split:
                with np.errstate(all="ignore"):
                    value = one.kernel(*operands)
            else:
                value = one.kernel(*operands)
        except Exception as error:
            self.program.fail(error, step.at, [self.lowered.specs[k] for k in one.sources])
        given[one.target] = value
        if one.target in self.word and one.target in self.lowered.views:
            self._put(one.target, value)

    def _operand(self, k: int, given: dict[int, Any], out: dict[int, Any]) -> Any:
        """A slot's value as NumPy takes it."""
        if k in given:
            return given[k]
        view = self.lowered.views[k]
        if view.base in given:
            base = given[view.base]
            if not isinstance(base, np.ndarray) or not base.flags.c_contiguous:
                base = np.ascontiguousarray(base)
        elif self.is_scalar(view.base):
            base = np.asarray(self._number(view.base))
        else:
            base = out[view.base] if view.base in out else self.arrays[view.base]
        spec = self.lowered.specs[k]
        if isinstance(spec, Spec) and spec.shape == ():
            entry = base.reshape(-1)[view.offset]
            return spec.python(entry) if spec.python is not None else entry
        if view.base == k and view.whole:
            return base
        strides = tuple([one * base.itemsize for one in view.strides])
        return as_strided(base.reshape(-1)[view.offset :], view.shape, strides, writeable=False)

    def _finished(self, given: dict[int, Any], out: dict[int, Any], into: Sequence[Any]) -> list[Any]:
        targets = dict(zip(self.into, into, strict=False))
        results: list[Any] = []
        seen: set[int] = set()
        for n, (k, base) in enumerate(zip(self.program.outputs, self.results, strict=True)):
            if base is None:
                value = given[k]
                value = own(value) if self.program.copied[n] or self._borrowed(value) else value
            elif self.is_scalar(base):
                value = self._number(base)
                spec = self.lowered.specs[k]
                value = spec.python(value) if isinstance(spec, Spec) and spec.python is not None else value
            else:
                value = own(out[base]) if base in seen else out[base]
            if base is not None:
                seen.add(base)
            if n in targets and value is not targets[n]:
                np.copyto(targets[n], value)
                value = targets[n]
            results.append(value)
        return results

    def _borrowed(self, value: Any) -> bool:
        return isinstance(value, np.ndarray) and value.base is not None


def _is_finite(value: Any) -> bool:
    return not isinstance(value, (float, np.floating, np.ndarray)) or bool(np.all(np.isfinite(value)))


__all__ = ["Native"]
