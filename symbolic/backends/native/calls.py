"""How is a program called from Python without Python in between? Its values come out of the objects of a call.

The function that is written here stands in the same module as the program's segment: it looks at what it is given,
puts each address or number into the table of words, runs the segment, and makes the results' objects.
"""

from __future__ import annotations

import numpy as np

from symbolic.backends.native import layouts
from symbolic.backends.native.entry import Entry
from symbolic.backends.native.fitting import Unfit
from symbolic.backends.native.pointwise import stored
from symbolic.backends.native.recipes import AGAIN, BUSY, FLAGGED, Placed
from symbolic.backends.native.text import QUICKLY, Function, Module, Value
from symbolic.spec import Spec

_LONG = 200_000
"""Operations on vectors beyond which other threads may run meanwhile."""


class Taking:
    """Reads the leaves of a program out of objects, and makes its results."""

    e: Entry
    f: Function
    native: Placed
    table: Value

    def __init__(self, native: Placed, entry: Entry) -> None:
        self.native, self.e, self.f = native, entry, entry.f
        self.table = entry.word("words")

    def word(self, k: int) -> Value:
        return self.f.at(self.table, self.f.index(k), "i64")

    def slot(self, base: int) -> Value:
        return self.word(self.native.word[base])

    def leaf(self, k: int, object: Value, otherwise: str) -> None:
        """The value of a leaf into its word."""
        spec = self.native.specs[k]
        if k not in self.native.word or not isinstance(spec, Spec):
            raise Unfit
        self.put(k, self.value(spec, object, otherwise))

    def value(self, spec: Spec, object: Value, otherwise: str, axisless: str = "") -> Value:
        """The address of an array's entries, or a number: Python's or, if it is said that it is `axisless`, NumPy's."""
        if spec.shape == ():
            if spec.python is float:
                return self.e.float_of(object, otherwise)
            if axisless and spec.python is None and str(spec.dtype) in ("float64", "float32"):
                return self.e.axisless(object, str(spec.dtype), axisless == "box", otherwise)
            raise Unfit
        return self.e.array_of(object, str(spec.dtype), spec.shape, otherwise)  # type: ignore[arg-type]  # known

    def put(self, base: int, value: Value) -> None:
        self.f.store(value, self.slot(base), align=8)

    def new(self, base: int, failed: str) -> Value:
        """An array for a result, in its word; the object."""
        spec = self.native.spec(base)
        if base in self.native.makers:
            return self._kept(base, failed)
        made, data = self.e.new_array(str(spec.dtype), spec.shape, failed)  # type: ignore[arg-type]  # known
        self.put(base, data)
        return made

    def _kept(self, base: int, failed: str) -> Value:
        """The same for a large one, out of memory that was used before."""
        e, f = self.e, self.f
        made = e.call("PyObject_CallNoArgs", "ptr", e.word(f"array {base}"))
        e.check(f.compare("ne", made, Value("ptr", 0, "null")), failed)
        self.put(base, e.read(made, layouts.ARRAY_DATA, "ptr"))
        return made

    def result(self, n: int, boxed: bool, failed: str) -> Value:
        """The object of an output without axes: a number, or `boxed` in an array."""
        native, base = self.native, self.native.results[n]
        spec = native.spec(native.program.outputs[n])
        if spec.dtype is None or spec.dtype.kind != "f" or base is None:
            raise Unfit
        return number(self.e, self, base, "box" if boxed else "float" if spec.python is float else "scalar", failed)

    def box(self, base: int, failed: str) -> Value:
        """An array without axes, of the number in a word."""
        spec = self.native.spec(base)
        made, data = self.e.new_array(str(spec.dtype), (), failed)
        self.f.store(self.f.load(self.slot(base), stored(spec.dtype)), data)  # type: ignore[arg-type]  # it has a dtype
        return made

    def run(self, segment: Value) -> None:
        """The program, with the flag cleared before."""
        f = self.f
        f.store(f.constant("i64", 0), self.word(FLAGGED))
        if self.native.work > _LONG:
            with self.e.unlocked():
                f.call_at(segment, "void", self.table)
        else:
            f.call_at(segment, "void", self.table)


def write_function(native: Placed, module: Module) -> Entry | None:
    """`call(*leaves, *into)` → the outputs in a tuple; `None` where only the general way knows how."""
    entry = Entry(module, "call")
    if native.work > _LONG:
        entry.f.attributes += f" {QUICKLY}"
    try:
        _function(native, entry)
    except Unfit:
        module.functions.remove(entry.f)
        return None
    return entry


def _function(native: Placed, entry: Entry) -> None:
    e, f, program = entry, entry.f, native.program
    taking = Taking(native, e)
    general, failed, spoilt, begun, unmade = map(f.label, ("general", "failed", "spoilt", "begun", "unmade"))
    given = e.arguments(len(program.leaves) + len(native.into), general)
    busy = taking.word(BUSY)
    e.word_is_zero(busy, general)
    for k, object in enumerate(given[: len(program.leaves)]):
        taking.leaf(k, object, general)
    into = dict(zip(native.into, given[len(program.leaves) :], strict=True))
    bases, boxed = native.results, native.boxed()
    if None in bases or len(set(bases)) != len(bases):
        raise Unfit
    for n, object in into.items():
        spec = native.spec(bases[n])  # type: ignore[arg-type]  # none is None
        taking.put(bases[n], e.array_of(object, str(spec.dtype), spec.shape, general, writeable=True))  # type: ignore[arg-type]
    e.claim(busy, general)
    results = e.call("PyTuple_New", "ptr", f.index(len(bases)))
    e.check(f.compare("ne", results, Value("ptr", 0, "null")), unmade)
    for n, base in enumerate(bases):
        if n in into:
            e.tuple_entry(results, n, e.keep(into[n]))
        elif not native.is_scalar(base):  # type: ignore[arg-type]
            e.tuple_entry(results, n, taking.new(base, begun))  # type: ignore[arg-type]
    taking.run(Value("ptr", 0, f"@{native.segment}"))
    e.disclaim(busy)
    odd = f.label("odd")
    flag = f.load(taking.word(FLAGGED), "i64")
    if not native.program.primal:  # NumPy has warnings for what the function itself gives, and errors for all
        flag = f.bits("and", flag, f.constant("i64", AGAIN))
    e.check(f.compare("eq", flag, f.constant("i64", 0)), odd)
    for n, base in enumerate(bases):
        if native.is_scalar(base):  # type: ignore[arg-type]
            e.tuple_entry(results, n, taking.result(n, boxed[n], spoilt))
    e.give(results)
    f.start(odd)
    e.drop(results)
    f.jump(general)
    f.start(begun)
    e.drop(results)
    f.jump(unmade)
    f.start(unmade)
    e.disclaim(busy)
    f.jump(failed)
    f.start(spoilt)
    e.drop(results)
    f.jump(failed)
    f.start(failed)
    e.fail()
    f.start(general)
    e.fall_back()


def number(e: Entry, taking: Taking, base: int, gives: str, failed: str) -> Value:
    """The object of a result without axes: a Python `float`, a `scalar` of NumPy's, or a `box`, an array of it."""
    f, spec = e.f, taking.native.spec(base)
    if gives == "box":
        return taking.box(base, failed)
    if gives != "float":
        return e.new_scalar(str(spec.dtype), taking.slot(base), failed)
    value = f.load(taking.slot(base), "double" if spec.dtype == np.dtype(float) else "float")
    return e.new_float(value if value.element == "double" else f.convert("fpext", value, "double"), failed)
