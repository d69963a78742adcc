"""How is a step of training one call into machine code? The values that it moves stay there, from step to step.

While a `Steps` is in force it holds the weights, their deltas, the optimizer's states and its count: two places for
each, the one that holds and the one that the next step writes into. A step that comes out finite exchanges them. As
soon as anybody looks at one of them from Python, all are given back, and the next step goes the general way.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symbolic.backends.native import layouts
from symbolic.backends.native.abi import attach, callable_of
from symbolic.backends.native.calls import BUSY, Taking, Unfit, given_as, number
from symbolic.backends.native.engine import Library, load
from symbolic.backends.native.entry import Entry
from symbolic.backends.native.text import Module, Value
from symbolic.backends.native.watching import Watching
from symbolic.changes import Change, commit
from symbolic.context import MODES
from symbolic.spec import Spec

if TYPE_CHECKING:
    from symbolic.backends.native.machine import Native
    from symbolic.execution import Specialization
    from symbolic.optimizer import Optimizer
    from symbolic.training import Groups, Step, Trainer

__all__ = ["ALL", "Steps"]

_IN_FORCE, _TAKEN, _FIRST = 0, 1, 2
_FEW, _PATIENCE = 8, 1023  # steps in force that were hardly worth it; steps to wait at most
_TURN = 3_000_000  # operations between two looks at what Python wants
_LIST_SIZE = 16
"""Where a list has its length."""
ALL: weakref.WeakSet[Steps] = weakref.WeakSet()
"""Those in force: who changes machines has them settled."""


class Kept:
    """One value that a step moves: the output that it is, the leaf that reads it, and who has it otherwise."""

    def __init__(self, base: int, leaf: int | None, value: Any, blank: Any) -> None:
        self.base, self.leaf, self.value, self.blank = base, leaf, value, blank


class Steps:
    """The steps of one trainer on inputs of one kind. `Unfit` where they need Python in between."""

    def __init__(
        self, trainer: Trainer[Any, Any], on: Specialization, step: Step, groups: Groups, inputs: Sequence[Any]
    ) -> None:
        self.native: Native = step.executable.code  # type: ignore[assignment]  # whoever makes one has looked
        self.on, self.step, self.count = on, step, len(inputs)
        self.optimizer: Optimizer = _only(trainer, groups)
        self.numbers = groups[0][1]
        self.watching = Watching(on.tracing.watches)
        if not self.watching.ok or on.captured or on.tracing.decisions or on.tracing.moving or step.primal != 1:
            raise Unfit
        self.trainer = weakref.ref(trainer)
        self.kept = self._pairs()
        self.words = np.zeros(_FIRST + len(self.kept), np.uint64)
        self.gives = given_as(trainer.layer, self.native.lowered.specs[self.native.program.outputs[0]])
        self.wait = self.idle = 0
        self.attach(trainer)
        weakref.finalize(trainer, self.settle).atexit = False

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
        self.rate = weights + len(on.weights)
        leaf = self.rate + 2
        for n in range(len(results) - first):
            pairs.append(Kept(results[first + n], leaf + n, None, None))  # type: ignore[arg-type]
        for one in pairs:
            spec = native.lowered.spec(one.base)
            other = native.lowered.specs[one.leaf] if one.leaf is not None else spec
            if spec != other or (spec.shape == () and spec.python is not float) or one.base not in native.word:
                raise Unfit
        return pairs

    def take(self) -> bool:
        """Hold them from now on; False where somebody still goes another way."""
        on, native, optimizer = self.on, self.native, self.optimizer
        cells = [weight.cell for weight in on.weights]
        states = [optimizer.state_of(weight) for weight in on.weights]
        if type(optimizer.learning_rate) is not float or not optimizer.count:
            return False
        if not optimizer.has_moved(on.weights):
            return False
        now = [cell.delta for cell in cells] + [cell.value for cell in cells]
        now += [one for state in states for one in state]
        blanks = [None] * len(cells) + [cell.blank() if isinstance(cell.value, np.ndarray) else None for cell in cells]
        blanks += [None] * (len(now) - len(blanks))
        if len(now) != len(self.kept):
            return False
        for one, value, blank in zip(self.kept, now, blanks, strict=True):
            if isinstance(value, np.ndarray) and not (value.flags.c_contiguous and value.flags.aligned):
                return False
            if isinstance(value, np.ndarray):
                fits = blank is not None and blank.flags.c_contiguous and blank.flags.writeable
                one.value, one.blank = value, blank if fits else np.empty_like(value)
            else:
                one.value = one.blank = value
        for k, one in enumerate(self.kept):
            self._place(k, one)
        spec = native.lowered.specs[self.rate]
        assert isinstance(spec, Spec)
        numbers = native.table.view(np.float64)
        if self.rate in native.word:
            numbers[native.word[self.rate]] = optimizer.learning_rate
        if self.rate + 1 in native.word:
            numbers[native.word[self.rate + 1]] = optimizer.count + 1.0
        self.taken = optimizer.count
        self.words[_TAKEN] = 0
        self.owned = (*cells, *optimizer.lent())
        for owned in self.owned:
            owned.owner = self
        self.words[_IN_FORCE] = 1
        native.borrower = weakref.ref(self)
        ALL.add(self)
        return True

    def _place(self, k: int, one: Kept) -> None:
        """The addresses, or the number, of a value into the words that the code reads."""
        native = self.native
        if not isinstance(one.value, np.ndarray):
            self.words.view(np.float64)[_FIRST + k] = 0.0 if one.value is None else one.value
            if one.leaf is not None and one.leaf in native.word:
                native.table.view(np.float64)[native.word[one.leaf]] = one.value
            return
        self.words[_FIRST + k] = _address(one.value)
        native.table[native.word[one.base]] = _address(one.blank)
        if one.leaf is not None and one.leaf in native.word:
            native.table[native.word[one.leaf]] = _address(one.value)

    def settle(self) -> None:
        """Give everything back to where Python looks for it."""
        while self.native.table[BUSY]:
            time.sleep(2e-5)  # another thread is in the middle of a step
        if not self.words[_IN_FORCE]:
            return
        self.words[_IN_FORCE] = 0
        optimizer, count = self.optimizer, len(self.on.weights)
        steps = int(self.words[_TAKEN])
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
        commit(changes)
        ALL.discard(self)
        for one in self.kept:
            one.value = one.blank = None

    def _found(self, k: int, one: Kept) -> tuple[Any, Any]:
        """A value as it is now, and the array beside it."""
        if not isinstance(one.value, np.ndarray):
            return float(self.words.view(np.float64)[_FIRST + k]), None
        same = int(self.words[_FIRST + k]) == _address(one.value)
        return (one.value, one.blank) if same else (one.blank, one.value)

    # ------------------------------------------------------------------ the code
    def write(self, module: Module, loops: bool) -> list[str]:
        """A function that takes a step on its inputs, or as many as its first argument says; what its table holds.

        The one that loops gives nothing where it has not done all; how many it has done, the words say.
        """
        e = Entry(module, "run" if loops else "step")
        f, native = e.f, self.native
        general, odd, failed, unmade = map(f.label, ("general", "odd", "failed", "unmade"))
        taking = Taking(native, e)
        state, busy = e.word("state"), taking.word(BUSY)
        given = e.arguments(self.count + loops, general)
        e.check(f.compare("eq", f.load(state, "i64"), f.constant("i64", 1)), general)
        e.word_is_zero(f.at(e.word("modes"), f.index(_LIST_SIZE), "i8"), general)
        self.watching.write(e, general)
        times = f.convert("fptosi", e.float_of(given.pop(0), general), "i64") if loops else None
        values = []
        for k, object in enumerate(given):
            spec = native.lowered.specs[k]
            if not isinstance(spec, Spec):
                raise Unfit
            values.append(taking.value(spec, object, general))
        e.claim(busy, general)
        for k, value in enumerate(values):
            if k in native.word:
                taking.put(k, value)
        loss = native.results[0]
        assert loss is not None
        made = taking.new(loss, failed) if self.gives == "array" else None
        if times is None:
            taking.run(e.word("segment"))
            e.check(f.compare("eq", f.load(taking.word(1), "i64"), f.constant("i64", 0)), odd)
            self._exchange(e, taking, state)
        else:
            self._repeat(e, taking, state, times, odd, failed)
        e.disclaim(busy)
        e.give(made if made is not None else number(e, taking, loss, self.gives, unmade))
        f.start(odd)
        e.disclaim(busy)
        if made is not None:
            e.drop(made)
        f.jump(general)
        f.start(failed)
        e.disclaim(busy)
        f.jump(unmade)
        f.start(unmade)
        e.fail()
        f.start(general)
        if loops:
            e.give_none()
        else:
            e.fall_back()
        return e.words

    def _repeat(self, e: Entry, taking: Taking, state: Value, times: Value, odd: str, failed: str) -> None:
        """Steps without Python's lock, which is taken in between to let Ctrl-C through."""
        f, segment = e.f, e.word("segment")
        turn = max(1, _TURN // max(self.native.work, 1))
        done, wrong = f.variable(f.index(0)), f.variable(f.index(0))
        again, after, step, stop = map(f.label, ("again", "after", "another", "stop"))
        f.jump(again)
        f.start(again)
        at = f.get(done, "i64")
        e.check(f.compare("slt", at, times), after)
        far = f.add(at, f.index(turn))
        until = f.select(f.compare("slt", far, times), far, times)
        with e.unlocked():
            f.jump(step)
            f.start(step)
            e.check(f.compare("slt", f.get(done, "i64"), until), stop)
            f.store(f.constant("i64", 0), taking.word(1))
            f.call_at(segment, "void", taking.table)
            f.put(f.load(taking.word(1), "i64"), wrong)
            e.check(f.compare("eq", f.get(wrong, "i64"), f.constant("i64", 0)), stop)
            self._exchange(e, taking, state)
            f.put(f.add(f.get(done, "i64"), f.index(1)), done)
            f.jump(step)
            f.start(stop)
        e.check(f.compare("eq", f.get(wrong, "i64"), f.constant("i64", 0)), odd)
        e.check_signals(failed)
        f.jump(again)
        f.start(after)

    def _exchange(self, e: Entry, taking: Taking, state: Value) -> None:
        """What was written holds from now on, and what held may be written over."""
        f, native = e.f, self.native
        for k, one in enumerate(self.kept):
            place, slot = f.at(state, f.index(_FIRST + k), "i64"), taking.slot(one.base)
            new = f.load(slot, "i64")
            if not native.is_scalar(one.base):
                f.store(f.load(place, "i64"), slot)
            f.store(new, place)
            if one.leaf is not None and one.leaf in native.word:
                f.store(new, taking.slot(one.leaf))
        taken = f.at(state, f.index(_TAKEN), "i64")
        f.store(f.add(f.load(taken, "i64"), f.index(1)), taken)
        if self.rate + 1 in native.word:
            count = taking.slot(self.rate + 1)
            f.store(f.add(f.load(count, "double"), f.constant("double", 1.0)), count, align=8)

    def again(self) -> None:
        """After a step that went the general way: hold the values again, more rarely the shorter that lasted."""
        if self.words[_IN_FORCE] or self.step.executable.code is not self.native:
            return
        self.idle += 1
        if self.idle > self.wait:
            self.wait = min(2 * self.wait + 1, _PATIENCE) if self.words[_TAKEN] < _FEW else 0
            self.idle = 0
            self.take()

    def attach(self, trainer: Trainer[Any, Any]) -> None:
        """From now on a call of the trainer runs the code."""
        held = self.trainer

        def general(*inputs: Any, **named: Any) -> Any:
            found = held()
            assert found is not None
            return type(found).__call__(found, *inputs, **named)

        module = self.native.host.module()
        words, looping = self.write(module, loops=False), self.write(module, loops=True)
        self.library: Library = load(str(module))
        given = {
            "words": self.native.address,
            "state": self.words.ctypes.data,
            "modes": id(MODES),
            "segment": self.native.library.address(self.native.segment),
            "fallback": id(general),
            **self.watching.given(),
            **self.native.given(),
        }
        if layouts.trouble() or not attach(trainer, self.library, "step", words, given, (self, general)):
            raise Unfit
        self.loop = callable_of(self.library, "run", _nothing, looping, {**given, "fallback": id(_nothing)}, self.words)

    def run(self, times: int, inputs: Sequence[Any]) -> tuple[int, Any]:
        """How many of so many steps were taken here, and the value from before the last one."""
        before = int(self.words[_TAKEN])
        result = self.loop(float(times), *inputs) if self.words[_IN_FORCE] else None
        return int(self.words[_TAKEN]) - before if self.words[_IN_FORCE] else 0, result


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
