"""How is the code of a step of training written? It looks at what it is given, runs the program, exchanges two places.

What it needs of a trainer stands in words: whether it is in force, how many steps it has taken, and then where each
value is that holds now. See `steps`, which hands the values over and takes them back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symbolic.backends.native.calls import Taking, number
from symbolic.backends.native.entry import Entry
from symbolic.backends.native.fitting import FIRST, TAKEN, Kept, Unfit
from symbolic.backends.native.recipes import BUSY, FLAGGED, Placed
from symbolic.backends.native.text import Module, Value
from symbolic.backends.native.watching import Watching
from symbolic.spec import Spec

__all__ = ["Writing"]

_TURN = 3_000_000  # operations between two looks at what Python wants


class Writing:
    """Writes the functions that take steps of one program on so many inputs."""

    captured: int
    count: int
    gives: str
    kept: Sequence[Kept]
    native: Placed
    rate: int
    watching: Watching

    def __init__(
        self,
        native: Placed,
        count: int,
        watching: Watching,
        kept: Sequence[Kept],
        rate: int,
        gives: str,
        captured: int = 0,
    ) -> None:
        self.native, self.count, self.watching = native, count, watching
        self.kept, self.rate, self.gives, self.captured = kept, rate, gives, captured

    def write(self, module: Module, loops: bool) -> list[str]:
        """A function that takes a step on its inputs, or as many as its first argument says; what its table holds.

        The one that loops gives how many it has done, in a tuple, where these are not all; nothing where it could not
        begin.
        """
        e = Entry(module, "run" if loops else "step")
        f, native = e.f, self.native
        general, odd, stopped, failed = map(f.label, ("general", "odd", "stopped", "failed"))
        unmade, raised = map(f.label, ("unmade", "raised"))
        taking = Taking(native, e)
        state, busy = e.word("state"), taking.word(BUSY)
        given = e.arguments(self.count + loops, general)
        e.check(f.compare("eq", f.load(state, "i64"), f.constant("i64", 1)), general)
        e.usual(general)
        self.watching.write(e, general)
        times = f.convert("fptosi", e.float_of(given.pop(0), general), "i64") if loops else None
        values = {k: self._value(taking, k, object, general) for k, object in enumerate(given)}
        for k in range(self.captured):  # arrays that the function reads, which the watching has seen in their places
            leaf = self.rate - self.captured + k
            values[leaf] = self._value(taking, leaf, e.word(f"captured {k}"), general)
        e.claim(busy, general)
        loss = native.results[0]
        assert loss is not None
        made = taking.new(loss, failed) if self.gives == "array" else None
        put = {k: value for k, value in values.items() if k in native.word}
        if made is not None:
            put[loss] = f.load(taking.slot(loss), "ptr")
        done = f.variable(f.index(0))
        self._put(taking, put)
        if times is None:
            taking.run(e.word("segment"))
            e.check(f.compare("eq", f.load(taking.word(FLAGGED), "i64"), f.constant("i64", 0)), odd)
            self._exchange(e, taking, state)
        else:
            self._repeat(e, taking, (state, busy), (times, done), put, (odd, raised, stopped))
        e.disclaim(busy)
        e.give(made if made is not None else number(e, taking, loss, self.gives, unmade))
        f.start(odd)
        e.disclaim(busy)
        f.jump(stopped)
        f.start(stopped)
        if made is not None:
            e.drop(made)
        if loops:
            self._give_some(e, done, unmade)
        else:
            f.jump(general)
        f.start(failed)
        e.disclaim(busy)
        f.jump(unmade)
        f.start(raised)
        if made is not None:
            e.drop(made)
        f.jump(unmade)
        f.start(unmade)
        e.fail()
        f.start(general)
        if loops:
            e.give_none()
        else:
            e.fall_back()
        return e.words

    def _value(self, taking: Taking, leaf: int, object: Value, otherwise: str) -> Value:
        spec = self.native.specs[leaf]
        if not isinstance(spec, Spec):
            raise Unfit
        return taking.value(spec, object, otherwise)

    def _put(self, taking: Taking, values: Mapping[int, Value]) -> None:
        for k, value in values.items():
            taking.put(k, value)

    def _give_some(self, e: Entry, done: Value, failed: str) -> None:
        """How many steps were taken before others came in between."""
        f = e.f
        some = e.call("PyTuple_New", "ptr", f.index(1))
        e.check(f.compare("ne", some, Value("ptr", 0, "null")), failed)
        e.tuple_entry(some, 0, e.new_float(f.convert("sitofp", f.get(done, "i64"), "double"), failed))
        e.give(some)

    def _repeat(
        self,
        e: Entry,
        taking: Taking,
        words: tuple[Value, Value],
        count: tuple[Value, Value],
        put: Mapping[int, Value],
        ways: tuple[str, str, str],
    ) -> None:
        """Steps without Python's lock, which is taken in between to let Ctrl-C and others through.

        What comes through may read a weight, or take a step of its own: then nothing here holds any more.
        """
        f, segment = e.f, e.word("segment")
        (state, busy), (times, done), (odd, raised, stopped) = words, count, ways
        turn = max(1, _TURN // max(self.native.work, 1))
        wrong = f.variable(f.index(0))
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
            f.store(f.constant("i64", 0), taking.word(FLAGGED))
            f.call_at(segment, "void", taking.table)
            f.put(f.load(taking.word(FLAGGED), "i64"), wrong)
            e.check(f.compare("eq", f.get(wrong, "i64"), f.constant("i64", 0)), stop)
            self._exchange(e, taking, state)
            f.put(f.add(f.get(done, "i64"), f.index(1)), done)
            f.jump(step)
            f.start(stop)
        e.check(f.compare("eq", f.get(wrong, "i64"), f.constant("i64", 0)), odd)
        e.check(f.compare("slt", f.get(done, "i64"), times), after)
        e.disclaim(busy)
        e.check_signals(raised)
        e.check(f.compare("eq", f.load(state, "i64"), f.constant("i64", 1)), stopped)
        e.claim(busy, stopped)
        self._put(taking, put)
        f.jump(again)
        f.start(after)

    def _exchange(self, e: Entry, taking: Taking, state: Value) -> None:
        """What was written holds from now on, and what held may be written over."""
        f, native = e.f, self.native
        for k, one in enumerate(self.kept):
            place, slot = f.at(state, f.index(FIRST + k), "i64"), taking.slot(one.base)
            new = f.load(slot, "i64")
            if not native.is_scalar(one.base):
                f.store(f.load(place, "i64"), slot)
            f.store(new, place)
            if one.leaf is not None and one.leaf in native.word:
                f.store(new, taking.slot(one.leaf))
        taken = f.at(state, f.index(TAKEN), "i64")
        f.store(f.add(f.load(taken, "i64"), f.index(1)), taken)
        if self.rate + 1 in native.word:
            count = taking.slot(self.rate + 1)
            f.store(f.add(f.load(count, "double"), f.constant("double", 1.0)), count, align=8)
