"""How does a program become native code, and how is it run? In segments, between which NumPy does what it alone can.

The code reads a table of words: where the memory for intermediate values is, then for each input, constant and output
where its entries are, or the number itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.lib.stride_tricks import as_strided

from symbolic.backends import pool
from symbolic.backends.native.abi import callable_of, weakly
from symbolic.backends.native.engine import Library, noted, recalled
from symbolic.backends.native.host import Host, host
from symbolic.backends.native.identity import words_of
from symbolic.backends.native.recipes import AGAIN, BUSY, FLAGGED, ODD, OWN, Placed, Recipe, place_of, views_of
from symbolic.finiteness import entirely_finite
from symbolic.forking import freed, lock
from symbolic.midway import AT_WORK, cut
from symbolic.plan import Program, own
from symbolic.spec import Spec

if TYPE_CHECKING:
    from symbolic.backends.native.access import View
    from symbolic.backends.native.predictions import Predicting
    from symbolic.backends.native.steps import Steps
    from symbolic.execution import Specialization
    from symbolic.training import Groups, Step, Trainer


class Native(Placed):
    """A program as native code. One thread at a time runs it; `run` says no to a second one."""

    apart: bool
    calls: Any
    fixed: list[Any]
    on: Host | None
    steps: list[Any]
    views: dict[int, View]
    address: int
    arena: Any
    arrays: dict[int, Any]
    claim: Any
    key: str
    """What the code is kept under; empty for a program that cannot be put into words."""
    library: Library
    lock: Any
    makers: dict[int, partial[Any]]
    recipe: str
    """What the code says of itself, on which other code rests that calls it."""
    table: Any

    ready: bool
    """False if little would be native, or none is kept and none was to be made; then nothing else is there."""

    def __init__(
        self,
        program: Program,
        into: Sequence[int] = (),
        on: Host | None = None,
        apart: bool = False,
        always: bool = True,
        makes: bool = True,
    ) -> None:
        self.program, self.into, self.on, self.apart = program, tuple(into), on, apart
        self.host = on or host()
        words = words_of(program, self.into)
        self.key = words and f"{words} {self.host!r} {apart}"
        found = self._recalled()
        self.ready, made = False, None
        if found is None:
            if not makes:
                return
            from symbolic.backends.native.making import Making

            made = Making(program, self.into, on, apart)
            self.ready = always or made.worth
            if not self.ready:
                return
            found = made.loaded(self.key)
        self.library, recipe = found
        self.ready = always or recipe["worth"]
        if self.ready:
            self._place(recipe)
            self._enter(recipe)
            if made is not None:
                self.spare()

    def _recalled(self) -> tuple[Library, Recipe] | None:
        """The code of a process before; not what calls functions that are not there any more."""
        found = recalled(self.key, self.on) if self.key else None
        if found is not None and not all(map(place_of, dict(found.notes["products"]))):
            self.key, found = "", None
        return None if found is None else (found, found.notes)

    def _place(self, recipe: Recipe) -> None:
        """Memory for all values, and the words that say where it is."""
        others = [Spec(shape, np.dtype(dtype)) for shape, dtype in recipe["specs"]]
        self.specs = [*self.program.specs, *others]
        self.results, self.work, self.recipe = recipe["results"], recipe["work"], repr(recipe)
        self.word = dict(recipe["words"])
        self.table = np.zeros(recipe["size"], np.uint64)
        self.address = self.table.ctypes.data
        self.table[OWN] = self.address
        for name, at in recipe["products"]:
            self.table[at] = place_of(name)
        if recipe["team"]:
            from symbolic.backends.native import team  # only for what is long

            self.table[recipe["team"]] = team.address()
        self.kept: list[Any] = []
        self.calls = np.frombuffer(recipe["calls"], np.int64).copy()  # the code notes times in it
        self.table[recipe["calls_at"]] = self.calls.ctypes.data
        numbers = [(k, np.frombuffer(data, self.dtype(k)).reshape(self.shape(k))[()]) for k, data in recipe["numbers"]]
        self.fixed = [self._put(k, value) for k, value in (*self.program.constants, *numbers) if k in self.word]
        whole = np.zeros(recipe["arena"] + 64, np.uint8)  # borders of zeros are written by nobody
        start = -whole.ctypes.data % 64
        self.arena = whole[start : start + recipe["arena"]]
        self.table[0] = self.arena.__array_interface__["data"][0]
        self.arrays = {base: self._in_arena(base, at) for base, at in recipe["arrays"]}
        for base, at, data in recipe["margins"]:
            self._in_arena(base, at)[...] = np.frombuffer(data, self.dtype(base))[0]
        self.views = views_of(recipe["views"])
        self.makers = {base: partial(pool.array, self.shape(base), self.dtype(base)) for base in recipe["large"]}

    def _in_arena(self, base: int, at: int) -> Any:
        shape, dtype = self.shape(base), self.dtype(base)
        return self.arena[at : at + prod(shape) * dtype.itemsize].view(dtype).reshape(shape)

    def _enter(self, recipe: Recipe) -> None:
        """The functions of the code, as Python calls them."""
        library = self.library
        step = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
        self.steps = [step(library.address(one)) if isinstance(one, str) else one for one in recipe["steps"]]
        self.claim = ctypes.PYFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(library.address("claim"))
        self.function: Callable[..., Any] = self.general
        self.segment = recipe["segment"]
        if recipe["entry"] is not None:
            name, asked = recipe["entry"]
            words = {"words": self.address, **self.given()}
            self.function = callable_of(library, name, weakly(self.general), asked, words, (self.table, self.makers))
        self.prepared: dict[str, Library] = {}
        self.lock = lock()
        freed(self)
        self.buffered = True
        self.borrower: Callable[[], Any] = lambda: None  # whoever has put values of its own into the table

    def _put(self, k: int, value: Any) -> Any:
        """A value into its word: a number itself, an array by its address."""
        spec = self.spec(k)
        if spec.shape == ():
            self.table[self.word[k] : self.word[k] + 1].view(np.dtype(spec.dtype))[0] = value
            return value
        if not (value.flags.c_contiguous and value.flags.aligned and value.dtype.isnative):
            value = np.ascontiguousarray(value, dtype=spec.dtype)
        self.table[self.word[k]] = value.__array_interface__["data"][0]
        self.kept.append(value)
        return value

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

    def free(self) -> None:
        """In the child of a fork, where the thread that was within does not live on."""
        self.table[BUSY] = 0

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
        except OverflowError:  # one of Python's integers is larger than a word
            return self._plainly(given[:count], given[count:])
        finally:
            self.table[BUSY] = 0
            self.kept.clear()
        if results is None:  # NumPy has another answer, or raises
            return self._plainly(given[:count], given[count:])
        flag, primal = int(self.table[FLAGGED]), results[: self.program.primal]
        if (flag & ODD or self.program.looked) and self.program.repeats and not all(map(entirely_finite, primal)):
            return self._plainly(given[:count], given[count:])
        return results

    def _plainly(self, values: Sequence[Any], into: Sequence[Any]) -> Sequence[Any]:
        """The outputs by NumPy, with its warnings: the function itself has come to an infinity or to NaN.

        Or NumPy's error, for a number that names no entry.
        """
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

    def noted(self, write: Callable[[], tuple[str, Any]], said: str) -> Library:
        """Code that calls that of this program; `said` tells it from other such code."""
        found = self.prepared.get(said)
        if found is None:
            found = self.prepared[said] = noted(write, self.on, self.key and f"{said} {self.recipe} {self.key}")
            self.spare()
        return found

    def stepping(
        self, trainer: Trainer[Any, Any], on: Specialization, step: Step, groups: Groups, count: int
    ) -> Steps | None:
        """Steps of a trainer that are one call into machine code; `None` where they need Python in between."""
        found: Steps | None = self._fitting(lambda: self._steps(trainer, on, step, groups, count).attached())
        return found

    def prepare_steps(
        self, trainer: Trainer[Any, Any], on: Specialization, step: Step, groups: Groups, count: int
    ) -> None:
        """Compile what `stepping` will need."""
        self._fitting(lambda: self._steps(trainer, on, step, groups, count).ready())

    def _steps(self, *of: Any) -> Steps:
        from symbolic.backends.native.steps import Steps

        return Steps(self, *of)

    def _fitting(self, make: Callable[[], Any]) -> Any:
        from symbolic.backends.native.fitting import Unfit

        try:
            with AT_WORK:
                return make() if self.segment and not cut() else None
        except Unfit:
            return None

    def predicting(self, layer: Any, on: Specialization, count: int, general: Callable[..., Any]) -> Any:
        """What a layer keeps, by name, to predict in machine code; `None` where that needs Python in between."""
        return self._fitting(lambda: self._predictions(layer, on, count).made(general))

    def prepare_prediction(self, layer: Any, on: Specialization, count: int) -> None:
        """Compile what `predicting` will need."""
        self._fitting(lambda: self._predictions(layer, on, count).prepare())

    def _predictions(self, *of: Any) -> Predicting:
        from symbolic.backends.native.predictions import Predicting

        return Predicting(self, *of)

    def failed(self, error: Exception) -> NoReturn:
        raise error  # it names its instruction already

    def explain(self) -> str:
        """How many loops and products run natively, and what NumPy runs, with the reason for each."""
        from symbolic.backends.native.making import Making

        return Making(self.program, self.into, self.on).explain()

    def _run(self, values: Sequence[Any], into: Sequence[Any]) -> Sequence[Any] | None:
        given = {k: self._put(k, value) if k in self.word else value for k, value in enumerate(values)}
        given.update(self.program.constants)
        out = self._outputs(into)
        self.table[FLAGGED] = 0
        for step in self.steps:
            if isinstance(step, int):
                self._external(step, given, out)
            else:
                step(self.address)
                if int(self.table[FLAGGED]) & AGAIN:  # what follows has no meaning
                    return None
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
                array = pool.array(self.shape(base), self.dtype(base))
            out[base] = array
            self.table[self.word[base]] = array.__array_interface__["data"][0]
        return out

    def _number(self, base: int) -> Any:
        spec, word = self.spec(base), self.word.get(base)
        place = self.arrays[base] if word is None else self.table[word : word + 1].view(self.dtype(base))
        found = place.flat[0]  # a word has room for two of the smaller numbers
        return spec.python(found) if spec.python is not None else found

    def _external(self, at: int, given: dict[int, Any], out: dict[int, Any]) -> None:
        """An instruction, by NumPy."""
        one = self.program.instructions[at]
        operands = [self._operand(k, given, out) for k in one.sources]
        if one.takes_out:
            operands.append(None)
        try:
            if at >= self.program.split:
                with np.errstate(all="ignore"):
                    value = one.kernel(*operands)
            else:
                value = one.kernel(*operands)
        except Exception as error:
            self.program.fail(error, at, [self.specs[k] for k in one.sources])
        given[one.target] = value
        if one.target in self.word and one.target in self.views:
            self._put(one.target, value)

    def _operand(self, k: int, given: dict[int, Any], out: dict[int, Any]) -> Any:
        """A slot's value as NumPy takes it."""
        if k in given:
            return given[k]
        view = self.views[k]
        if view.base in given:
            base = given[view.base]
            if not isinstance(base, np.ndarray) or not base.flags.c_contiguous:
                base = np.ascontiguousarray(base)
        elif self.is_scalar(view.base):
            base = np.asarray(self._number(view.base))
        else:
            base = out[view.base] if view.base in out else self.arrays[view.base]
        spec = self.specs[k]
        if isinstance(spec, Spec) and spec.shape == ():
            entry = base.reshape(-1)[view.offset]
            return spec.python(entry) if spec.python is not None else entry
        if view.base == k and view.whole:
            return base
        strides = tuple([one * base.itemsize for one in view.strides])
        return as_strided(base.reshape(-1)[view.offset :], view.shape, strides, writeable=False)

    def _finished(self, given: dict[int, Any], out: dict[int, Any], into: Sequence[Any]) -> list[Any]:
        targets = dict(zip(self.into, into, strict=False))
        boxed = self.boxed(given)
        results: list[Any] = []
        seen: set[int] = set()
        for n, (k, base) in enumerate(zip(self.program.outputs, self.results, strict=True)):
            if base is None:
                value = given[k]
                value = own(value) if self.program.copied[n] or self._borrowed(value) else value
            elif self.is_scalar(base):
                value = self._number(base)
                spec = self.specs[k]
                value = spec.python(value) if isinstance(spec, Spec) and spec.python is not None else value
                value = np.array(value) if boxed[n] else value
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


__all__ = ["Native"]
