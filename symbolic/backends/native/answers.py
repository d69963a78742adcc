"""How is the code written that answers a call: a prediction, or a value with its gradients?

It looks at what it is given, takes weights and captured arrays from where they stand, runs the program, and builds
what the general way would give: an array, a number, or tuples of them, nested in any way.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, Union

import numpy as np

from symbolic.backends.native import layouts
from symbolic.backends.native.abi import CHOICES
from symbolic.backends.native.fitting import Unfit
from symbolic.backends.native.recipes import BUSY, FLAGGED
from symbolic.backends.native.watching import Watching
from symbolic.context import MODES
from symbolic.leaves import Cell
from symbolic.spec import AnySpec, Spec

if TYPE_CHECKING:
    from symbolic.backends.native.calls import Taking
    from symbolic.backends.native.engine import Library
    from symbolic.backends.native.entry import Entry
    from symbolic.backends.native.machine import Native
    from symbolic.backends.native.text import Value
    from symbolic.execution import Specialization

__all__ = ["Answer", "Form", "form_of", "slot"]

_LONG = 20_000
"""Operations beyond which what Python does around a call does not count."""


class Leaf(NamedTuple):
    """One output of the program: a `float`, a `scalar` of NumPy's, an `array`, a `box`: one without axes."""

    output: int
    kind: str


Kinds: TypeAlias = Mapping[int, str]
"""Which leaves are a `scalar` of NumPy's, and which an array without axes, a `box`; other numbers are Python's."""
EMPTY: Kinds = {}
Form: TypeAlias = Union[Leaf, "Nest"]


class Nest(tuple[Form, ...]):
    """A tuple of them."""


def form_of(make: Callable[[Sequence[Any]], Any], native: Native, kinds: Kinds = EMPTY) -> Form:
    """What the general way makes of a program's outputs, found out with others in their place. `Unfit` for the rest.

    Whatever it does depends on the kinds of values, never on the numbers in them.
    """
    specs = [native.specs[k] for k in native.program.outputs]
    boxed = native.boxed({k: np.zeros((), native.dtype(k)) for k, kind in kinds.items() if kind == "box"})
    samples = [_sample(k, spec, box) for k, (spec, box) in enumerate(zip(specs, boxed, strict=True))]
    form = _form(make(samples), samples)
    used = [one.output for one in _leaves(form)]
    arrays = {k for k, one in enumerate(samples) if np.ndim(one)}
    if len(set(used)) != len(used) or not arrays <= set(used):
        raise Unfit
    return form


def _sample(k: int, spec: AnySpec, box: bool) -> Any:
    if not isinstance(spec, Spec) or not spec.known or spec.dtype is None or spec.shape is None:
        raise Unfit
    if spec.shape and spec.dtype.kind in "fiub":
        return np.broadcast_to(spec.dtype.type(k), spec.shape)  # type: ignore[arg-type]  # known to the last size
    if spec.dtype.kind != "f" or spec.python not in (None, float):
        raise Unfit
    one = k + 0.5 if spec.python is float else spec.dtype.type(k + 0.5)
    return np.array(one) if box else one


def _form(found: Any, samples: Sequence[Any]) -> Form:
    if type(found) is tuple:
        return Nest([_form(one, samples) for one in found])
    for k, one in enumerate(samples):
        if found is one:
            return Leaf(k, _kind(one))
        if not isinstance(found, (float, np.float32, np.ndarray)) or np.ndim(one) or np.ndim(found) or found != k + 0.5:
            continue
        if type(found) is float or np.asarray(found).dtype == np.asarray(one).dtype:
            return Leaf(k, _kind(found))
    raise Unfit


def _kind(one: Any) -> str:
    if isinstance(one, np.ndarray):
        return "array" if one.ndim else "box"
    return "float" if type(one) is float else "scalar"


def _leaves(form: Form) -> list[Leaf]:
    return [form] if isinstance(form, Leaf) else [leaf for one in form for leaf in _leaves(one)]


class Answer:
    """A function of so many inputs that runs a program of a trace and gives its outputs in a form."""

    choice: int
    count: int
    form: Form
    kinds: Kinds
    native: Native
    on: Specialization
    watching: Watching
    held: list[Any]
    """The captured arrays, which must still stand where they stood."""

    def __init__(self, native: Native, on: Specialization, form: Form, count: int, kinds: Kinds = EMPTY) -> None:
        tracing = on.tracing
        self.native, self.on, self.form, self.count, self.kinds = native, on, form, count, kinds
        self.choice = CHOICES.value  # of a machine, which this is only right for
        if native.work > _LONG or tracing.decisions or tracing.moving or count != len(on.inputs):
            raise Unfit
        self.watching = Watching(tracing.watches)
        bases = native.results
        if not self.watching.ok or layouts.trouble() or None in bases or len(set(bases)) != len(bases):
            raise Unfit
        self.held = [one.fetch() for one in on.captured]

    def given(self) -> dict[str, int]:
        """What the table holds for it."""
        native = self.native
        found = {"words": native.address, "modes": id(MODES), "segment": native.library.address(native.segment)}
        found |= {"choices": ctypes.addressof(CHOICES), "choice": self.choice}
        found |= {f"cell {k}": id(weight.cell) for k, weight in enumerate(self.on.weights)}
        found |= {f"captured {k}": id(one) for k, one in enumerate(self.held)}
        return {**found, **self.watching.given(), **native.given()}

    def ready(self) -> Library:
        """The code, whose function is `answer`, with what its table holds."""
        counts = self.count, len(self.on.weights), len(self.held)
        said = f"answer {counts} {self.watching.kinds} {self.form} {_cell_slots()} {sorted(self.kinds.items())}"
        return self.native.noted(self._text, said)

    def _text(self) -> tuple[str, Any]:
        from symbolic.backends.native.entry import Entry

        module = self.native.host.module()
        e = Entry(module, "answer")
        self._write(e)
        return str(module), e.words

    def _write(self, e: Entry) -> None:
        from symbolic.backends.native.calls import Taking

        f = e.f
        general, odd, spoilt, failed = map(f.label, ("general", "odd", "spoilt", "failed"))
        taking = Taking(self.native, e)
        busy = taking.word(BUSY)
        given = e.arguments(self.count, general)
        e.usual(general)
        e.same_number(e.word("choices"), e.word("choice", "i64"), general)
        self.watching.write(e, general)
        e.word_is_zero(busy, general)
        for k, object in enumerate(given):
            self._leaf(taking, k, object, general)
        for k in range(len(self.on.weights)):
            self._leaf(taking, self.count + k, self._weight(e, k, general), general)
        for k in range(len(self.held)):
            leaf = self.count + len(self.on.weights) + k
            self._leaf(taking, leaf, e.word(f"captured {k}"), general)
        e.claim(busy, general)  # before there is an object: making one may run a finalizer, which may call this, too
        made = self._begun(taking, failed)
        taking.run(e.word("segment"))
        e.disclaim(busy)
        e.check(f.compare("eq", f.load(taking.word(FLAGGED), "i64"), f.constant("i64", 0)), odd)
        e.give(self._ended(taking, made, spoilt))
        f.start(odd)
        if made is not None:
            e.drop(made)
        f.jump(general)
        f.start(spoilt)
        if made is not None:
            e.drop(made)
        e.fail()
        f.start(failed)
        e.disclaim(busy)
        e.fail()
        f.start(general)
        e.fall_back()

    # ------------------------------------------------------------------ what it reads
    def _leaf(self, taking: Taking, leaf: int, object: Value, otherwise: str) -> None:
        """The value of a leaf, of the kind that the trace knows, into its word if the program reads it."""
        spec = taking.native.specs[leaf]
        if not isinstance(spec, Spec):
            raise Unfit
        value = taking.value(spec, object, otherwise, self.kinds.get(leaf, ""))
        if leaf in taking.native.word:
            taking.put(leaf, value)

    def _weight(self, e: Entry, k: int, otherwise: str) -> Value:
        """What a weight's cell holds now, unless that is held elsewhere."""
        place, slots = e.word(f"cell {k}"), _cell_slots()
        e.check(e.f.compare("eq", e.read(place, slots["owner"], "ptr"), e.word("None")), otherwise)
        return e.read(place, slots["_value"], "ptr")

    # ------------------------------------------------------------------ what it gives
    def _begun(self, taking: Taking, failed: str) -> Value | None:
        """The object that is given, with its arrays, of which none is filled; nothing where it is a number."""
        e, f, form = taking.e, taking.f, self.form
        if isinstance(form, Leaf):
            return self._array(taking, form, failed) if form.kind == "array" else None
        root = self._tuple(e, form, failed)
        half, whole = f.label("half"), f.label("whole")
        self._fill(taking, root, form, half)
        f.jump(whole)
        f.start(half)
        e.drop(root)
        f.jump(failed)
        f.start(whole)
        return root

    def _array(self, taking: Taking, leaf: Leaf, failed: str) -> Value:
        base = self.native.results[leaf.output]
        assert base is not None
        return taking.new(base, failed)

    def _tuple(self, e: Entry, form: Nest, failed: str) -> Value:
        return e.new_tuple(len(form), failed)

    def _fill(self, taking: Taking, into: Value, form: Nest, failed: str) -> None:
        """The tuples within, and the arrays; whoever drops the outermost drops them."""
        for k, one in enumerate(form):
            if isinstance(one, Nest):
                inner = self._tuple(taking.e, one, failed)
                taking.e.tuple_entry(into, k, inner)
                self._fill(taking, inner, one, failed)
            elif one.kind == "array":
                taking.e.tuple_entry(into, k, self._array(taking, one, failed))

    def _ended(self, taking: Taking, made: Value | None, failed: str) -> Value:
        """The same with its numbers."""
        form = self.form
        if isinstance(form, Leaf):
            return made if made is not None else self._number(taking, form, failed)
        assert made is not None
        self._numbers(taking, made, form, failed)
        return made

    def _numbers(self, taking: Taking, into: Value, form: Nest, failed: str) -> None:
        for k, one in enumerate(form):
            if isinstance(one, Nest):
                if any(leaf.kind != "array" for leaf in _leaves(one)):
                    self._numbers(taking, taking.e.tuple_at(into, k), one, failed)
            elif one.kind != "array":
                taking.e.tuple_entry(into, k, self._number(taking, one, failed))

    def _number(self, taking: Taking, leaf: Leaf, failed: str) -> Value:
        from symbolic.backends.native.calls import number

        base = self.native.results[leaf.output]
        assert base is not None
        return number(taking.e, taking, base, leaf.kind, failed)


@cache
def _cell_slots() -> dict[str, int]:
    return {name: slot(Cell, name) for name in ("owner", "_value")}


def slot(kind: type, name: str) -> int:
    """Where in an instance a field of `__slots__` lies; found in an instance made for it. `Unfit` if it is not."""
    one: Any = object.__new__(kind)
    mark = object()
    member: Any = next(vars(base)[name] for base in kind.__mro__ if name in vars(base))
    member.__set__(one, mark)
    places = [k for k in range(16, kind.__basicsize__, 8) if layouts.word_at(id(one) + k) == id(mark)]
    if len(places) != 1:
        raise Unfit
    return places[0]
