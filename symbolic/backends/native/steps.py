"""How is a step of training one call into machine code? The values that it moves stay there, from step to step.

While a `Steps` is in force it holds the weights, their deltas, the optimizer's states and its count: two places for
each, the one that holds and the one that the next step writes into. A step that comes out finite exchanges them. As
soon as anybody looks at one of them from Python, all are given back, and the next step goes the general way.
"""

from __future__ import annotations

import itertools
import time
import weakref
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symbolic.backends.native import layouts
from symbolic.backends.native.abi import attach, callable_of
from symbolic.backends.native.engine import Library
from symbolic.backends.native.fitting import FIRST, IN_FORCE, TAKEN, Kept, Unfit, given_as
from symbolic.backends.native.recipes import BUSY
from symbolic.backends.native.watching import Watching
from symbolic.changes import COMMITTING, STEPPING, UNDER_WAY, Change, is_stepping, is_within, put_once
from symbolic.context import MODES
from symbolic.leaves import blank_like, in_lines
from symbolic.midway import Release, held
from symbolic.spec import Spec

if TYPE_CHECKING:
    from symbolic.backends.native.machine import Native
    from symbolic.execution import Specialization
    from symbolic.optimizer import Optimizer
    from symbolic.training import Groups, Step, Trainer

__all__ = ["ALL", "Steps"]

_MOST = 1 << 40  # steps in one call
_FEW, _PATIENCE = 8, 1023  # steps in force that were hardly worth it; steps to wait at most
ALL: weakref.WeakSet[Steps] = weakref.WeakSet()
"""Those in force: who changes machines has them settled."""


class Steps:
    """The steps of one trainer on so many inputs of one kind. `Unfit` where they need Python in between."""

    native: Native

    armed: Any
    """A word: 0 once anybody has had the values back, and the code may not be put in force with them."""
    began: int
    captured: list[Any]
    count: int
    gives: str
    held: bool
    idle: int
    kept: list[Kept]
    key: Any
    library: Library
    loop: Any
    numbers: list[int]
    on: Specialization
    owned: Any
    rate: int
    step: Step
    taken: int
    trainer: Any
    turn: Iterator[object]
    """Of giving back what is held: there is one."""
    wait: int
    watching: Watching
    words: Any

    def __init__(
        self, native: Native, trainer: Trainer[Any, Any], on: Specialization, step: Step, groups: Groups, count: int
    ) -> None:
        self.native, self.on, self.step, self.count = native, on, step, count
        self.optimizer: Optimizer = _only(trainer, groups)
        self.key, self.numbers = self.optimizer.key(), groups[0][1]
        self.watching = Watching(on.tracing.watches)
        if not self.watching.ok or on.tracing.decisions or on.tracing.moving or step.primal != 1:
            raise Unfit
        self.trainer = weakref.ref(trainer)
        self.captured = [one.fetch() for one in on.captured]
        self.kept = self._pairs()
        self.words = np.zeros(FIRST + len(self.kept), np.uint64)
        self.gives = given_as(trainer.layer, native.specs[native.program.outputs[0]], native.boxed()[0])
        self.wait = self.idle = 0
        self.held = False
        self.began = 0
        self.armed = np.zeros(1, np.uint64)

    # ------------------------------------------------------------------ what is held
    def _pairs(self) -> list[Kept]:
        on, step, native = self.on, self.step, self.native
        results, weights = native.results, len(on.inputs)
        if None in results or len(set(results)) != len(results):
            raise Unfit
        first = step.primal
        pairs = []
        for k in range(len(on.weights)):
            pairs.append(Kept(results[first + k], None, None, None))  # type: ignore[arg-type]  # none is None
        first += len(on.weights)
        for n, k in enumerate(step.moving):
            pairs.append(Kept(results[first + n], weights + k, None, None))  # type: ignore[arg-type]
        if step.moving != sorted(self.numbers) or len(step.moving) != len(on.weights):
            raise Unfit
        first += len(step.moving)
        self.rate = weights + len(on.weights) + len(on.captured)
        leaf = self.rate + 2
        for n in range(len(results) - first):
            pairs.append(Kept(results[first + n], leaf + n, None, None))  # type: ignore[arg-type]
        for one in pairs:
            spec = native.spec(one.base)
            other = native.specs[one.leaf] if one.leaf is not None else spec
            if spec != other or (spec.shape == () and spec.python is not float) or one.base not in native.word:
                raise Unfit
        return pairs

    def take(self) -> bool:
        """Hold them from now on; False where somebody still goes another way, or is in the middle of a step."""
        within = is_stepping()
        if is_within() or not STEPPING.acquire(blocking=False):
            return False
        try:
            if not within:  # else the step says so
                UNDER_WAY.steps = (frozenset(map(id, (*[one.cell for one in self.on.weights], self.optimizer))),)
            with COMMITTING:  # nobody reads a value, or puts one, while it changes hands
                return self._take()
        finally:
            STEPPING.release()

    def _take(self) -> bool:
        optimizer = self.optimizer
        cells = [weight.cell for weight in self.on.weights]
        for owned in (*cells, *optimizer.lent()):
            owned.own()
        if type(optimizer.learning_rate) is not float or not optimizer.count or optimizer.key() != self.key:
            return False
        if not optimizer.has_moved(self.on.weights):
            return False
        if any(cell.exposed for cell in cells):  # somebody has the array, which may not be written over
            return False
        states = [one for weight in self.on.weights for one in optimizer.state_of(weight)]
        if not self._begin(cells, states):
            return False
        for k, one in enumerate(self.kept):
            self._place(k, one)
        return self._in_force(cells)

    def _begin(self, cells: Sequence[Any], states: Sequence[Any]) -> bool:
        """Two places for each value. Whoever was given a delta or a state keeps it: the copy is ours."""
        now = [*[(cell.delta, True) for cell in cells], *[(cell.value, False) for cell in cells]]
        now += [(one, True) for one in states]
        blanks = [None] * len(cells) + [cell.blank() if isinstance(cell.value, np.ndarray) else None for cell in cells]
        blanks += [None] * (len(now) - len(blanks))
        if len(now) != len(self.kept):
            return False
        for one, (value, copied), blank in zip(self.kept, now, blanks, strict=True):
            if not isinstance(value, np.ndarray):
                one.value = one.blank = value
                continue
            value = in_lines(np.array(value, order="C")) if copied else value
            if not (value.flags.c_contiguous and value.flags.aligned):
                return False
            fits = blank is not None and blank.flags.c_contiguous and blank.flags.writeable
            one.value, one.blank = value, blank if fits else blank_like(value)
        return True

    def _in_force(self, cells: Sequence[Any]) -> bool:
        native, optimizer = self.native, self.optimizer
        spec = native.specs[self.rate]
        assert isinstance(spec, Spec)
        numbers = native.table.view(np.float64)
        if self.rate in native.word:
            numbers[native.word[self.rate]] = optimizer.learning_rate
        if self.rate + 1 in native.word:
            numbers[native.word[self.rate + 1]] = optimizer.count + 1.0
        self.taken = optimizer.count
        self.began = int(self.words[TAKEN])
        self.owned = (*cells, *optimizer.lent())
        native.borrower = weakref.ref(self)
        ALL.add(self)
        self.turn = itertools.repeat(None, 1)
        self.armed[0] = 1
        self.held = True
        for owned in self.owned:
            owned.owner = self
        np.copyto(self.words[IN_FORCE : IN_FORCE + 1], self.armed)  # in one call: no handler comes in between
        if not self.held:  # one came before
            for owned in self.owned:
                owned.owner = None
        return self.held

    def _place(self, k: int, one: Kept) -> None:
        """The addresses, or the number, of a value into the words that the code reads."""
        native = self.native
        if not isinstance(one.value, np.ndarray):
            self.words.view(np.float64)[FIRST + k] = 0.0 if one.value is None else one.value
            if one.leaf is not None and one.leaf in native.word:
                native.table.view(np.float64)[native.word[one.leaf]] = one.value
            return
        self.words[FIRST + k] = _address(one.value)
        native.table[native.word[one.base]] = _address(one.blank)
        if one.leaf is not None and one.leaf in native.word:
            native.table[native.word[one.leaf]] = _address(one.value)

    def settle(self) -> None:
        """Give everything back to where Python looks for it."""
        with COMMITTING:
            self.armed[0] = self.words[IN_FORCE] = 0  # no further step; steps in a row stop at their next turn
            while self.held and self.native.table[BUSY]:
                time.sleep(2e-5)  # another thread is in the middle of a step
            if not self.held:
                return
            turn = self.turn
            put_once(self._changes(), turn)  # until it is done, an interrupt leaves everything as it is
            if not self.held:
                ALL.discard(self)

    def _changes(self) -> list[Change]:
        """All that has to be put where it belongs."""
        optimizer, count = self.optimizer, len(self.on.weights)
        steps = int(self.words[TAKEN]) - self.began
        changes: list[Change] = [(one, "owner", None) for one in self.owned]
        if steps:
            found = [self._found(k, one) for k, one in enumerate(self.kept)]
            deltas, values, states = found[:count], found[count : 2 * count], found[2 * count :]
            for weight, (delta, _), (value, spare) in zip(self.on.weights, deltas, values, strict=True):
                cell = weight.cell
                changes += [(cell, "_delta", delta), (cell, "_value", value), (cell, "spare", spare)]
            each = len(optimizer.names)
            kept = [tuple([one for one, _ in states[n * each : (n + 1) * each]]) for n in range(count)]
            changes += optimizer.returned(self.on.weights, kept, self.taken + steps)
        changes += [(one, field, None) for one in self.kept for field in ("value", "blank")]
        return [*changes, (self, "held", False)]

    def _found(self, k: int, one: Kept) -> tuple[Any, Any]:
        """A value as it is now, and the array beside it."""
        value, blank = one.value, one.blank
        if not isinstance(value, np.ndarray):
            return float(self.words.view(np.float64)[FIRST + k]), None
        return (value, blank) if int(self.words[FIRST + k]) == _address(value) else (blank, value)

    # ------------------------------------------------------------------ calls
    def again(self) -> None:
        """After a step that went the general way: hold the values again, more rarely the shorter that lasted."""
        if self.words[IN_FORCE] or self.step.executable.code is not self.native:
            return
        self.idle += 1
        if self.idle > self.wait:
            self.wait = min(2 * self.wait + 1, _PATIENCE) if self.words[TAKEN] - self.began < _FEW else 0
            self.idle = 0
            self.take()

    def attached(self) -> Steps:
        """From now on a call of the trainer runs the code."""
        held, trainer = self.trainer, self.trainer()
        assert trainer is not None

        def general(*inputs: Any, **named: Any) -> Any:
            found = held()
            assert found is not None
            return type(found).__call__(found, *inputs, **named)

        self.library = self.ready()
        words, looping = self.library.notes
        given = {
            "words": self.native.address,
            "state": self.words.ctypes.data,
            "modes": id(MODES),
            "segment": self.native.library.address(self.native.segment),
            "fallback": id(general),
            **{f"captured {k}": id(one) for k, one in enumerate(self.captured)},
            **self.watching.given(),
            **self.native.given(),
        }
        kept = self, general, _Guard(self)
        if layouts.trouble() or not attach(trainer, self.library, "step", words, given, kept):
            raise Unfit
        self.loop = callable_of(self.library, "run", _nothing, looping, {**given, "fallback": id(_nothing)}, self.words)
        return self

    def ready(self) -> Library:
        """The code, with what the tables of its two functions hold."""
        native, moved = self.native, [(one.base, one.leaf) for one in self.kept]
        said = f"step {self.count} {self.watching.kinds} {moved} {self.rate} {self.gives} {len(self.captured)} "
        return native.noted(self._text, said)

    def _text(self) -> tuple[str, Any]:
        from symbolic.backends.native.stepping import Writing

        module = self.native.host.module()
        read = len(self.captured)
        code = Writing(self.native, self.count, self.watching, self.kept, self.rate, self.gives, read)
        words = code.write(module, loops=False), code.write(module, loops=True)
        return str(module), words

    def run(self, times: int, inputs: Sequence[Any]) -> tuple[int, Any]:
        """How many of so many steps were taken here, and if all were, the value from before the last one."""
        found = self.loop(float(min(times, _MOST)), *inputs) if self.words[IN_FORCE] else None
        if found is None:
            return 0, None
        return (int(found[0]), None) if type(found) is tuple else (min(times, _MOST), found)


class _Guard:
    """Kept by a trainer: with it, what its steps hold is given back."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps

    def __del__(self) -> None:
        self.steps.settle()


def _before_fork() -> Release:
    """Everything is given back between two steps: a child would see half of one. Nobody holds anything meanwhile."""
    COMMITTING.acquire()
    for one in list(ALL):
        one.settle()
    release: Release = COMMITTING.release
    return release


held(_before_fork)


def _nothing(*given: Any) -> None:
    """What is said where the loop cannot begin."""


def _only(trainer: Trainer[Any, Any], groups: Groups) -> Optimizer:
    """The one optimizer, which the trainer was given."""
    if trainer.optimizer is None or len(groups) != 1 or not hasattr(trainer.optimizer, "lent"):
        raise Unfit
    optimizer: Optimizer = groups[0][0]
    return optimizer


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])
