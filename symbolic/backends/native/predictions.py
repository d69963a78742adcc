"""How is a prediction one call into machine code? The weights are read where their cells hold them, at each call.

`Layer.predict` becomes a method in machine code, once for all layers: it looks for the layer's own function and jumps
there, or goes the general way.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from symbolic.backends.native import layouts
from symbolic.backends.native.abi import ENTRY, Callee, attach, callable_of, quick
from symbolic.backends.native.engine import Library, noted
from symbolic.backends.native.fitting import Unfit, given_as
from symbolic.backends.native.host import host
from symbolic.backends.native.recipes import BUSY, FLAGGED
from symbolic.backends.native.watching import Watching
from symbolic.context import MODES
from symbolic.layer import Layer
from symbolic.leaves import Cell
from symbolic.spec import Spec

if TYPE_CHECKING:
    from symbolic.backends.native.calls import Taking
    from symbolic.backends.native.entry import Entry
    from symbolic.backends.native.machine import Native
    from symbolic.execution import Specialization

__all__ = ["Predicting"]

_METHOD = 1 << 17  # Py_TPFLAGS_METHOD_DESCRIPTOR
_LONG = 20_000
"""Operations beyond which what Python does around a call does not count."""


class Predicting:
    """A prediction of a layer for so many inputs of one kind. `Unfit` where it needs Python in between."""

    def __init__(self, native: Native, layer: Any, on: Specialization, count: int) -> None:
        if native.work > _LONG or on.captured or on.tracing.decisions or on.tracing.moving or len(on.outputs) != 1:
            raise Unfit
        self.native, self.on, self.count = native, on, count
        self.watching = Watching(on.tracing.watches)
        if not self.watching.ok or layouts.trouble() or native.results[0] is None:
            raise Unfit
        self.gives = given_as(layer, native.specs[native.program.outputs[0]])

    def made(self, general: Any) -> Any:
        """A function of the inputs alone; `None` where there is no native call path."""
        native, library = self.native, self.ready()
        given = {"words": native.address, "modes": id(MODES), "segment": native.library.address(native.segment)}
        given |= {f"cell {k}": id(weight.cell) for k, weight in enumerate(self.on.weights)}
        given |= {**self.watching.given(), **native.given()}
        kept = native, self.on, self.watching
        return callable_of(library, "predict", general, library.notes, given, kept) if install() else None

    def prepare(self) -> None:
        """Compile what `made` will need."""
        self.ready()
        install()

    def ready(self) -> Library:
        """The code, with what its table holds."""
        counts = self.count, len(self.on.inputs), len(self.on.weights)
        return self.native.noted(self._text, f"prediction {counts} {self.watching.kinds} {self.gives} {_cell_slots()}")

    def _text(self) -> tuple[str, Any]:
        from symbolic.backends.native.entry import Entry

        module = self.native.host.module()
        e = Entry(module, "predict")
        _write(self.native, self.gives, self.on, self.count, self.watching, e)
        return str(module), e.words


def _write(native: Native, gives: str, on: Specialization, count: int, watching: Watching, e: Entry) -> None:
    from symbolic.backends.native.calls import Taking, number

    f = e.f
    general, odd, failed = f.label("general"), f.label("odd"), f.label("failed")
    taking = Taking(native, e)
    busy = taking.word(BUSY)
    given = e.arguments(count, general)
    e.usual(general)
    watching.write(e, general)
    e.word_is_zero(busy, general)
    for k, object in enumerate(given):
        taking.leaf(k, object, general)
    for k, weight in enumerate(on.weights):
        _weight(taking, k, len(on.inputs) + k, weight.cell, general)
    out = native.results[0]
    assert out is not None
    made = taking.new(out, failed) if gives == "array" else None
    e.claim(busy, general)
    taking.run(e.word("segment"))
    e.disclaim(busy)
    e.check(f.compare("eq", f.load(taking.word(FLAGGED), "i64"), f.constant("i64", 0)), odd)
    result = made if made is not None else number(e, taking, out, gives, failed)
    e.give(result)
    f.start(odd)
    if made is not None:
        e.drop(made)
    f.jump(general)
    f.start(failed)
    e.fail()
    f.start(general)
    e.fall_back()


def _weight(taking: Taking, k: int, leaf: int, cell: Any, otherwise: str) -> None:
    """What a weight's cell holds now, unless that is held elsewhere."""
    e, f = taking.e, taking.f
    spec = taking.native.specs[leaf]
    if not isinstance(spec, Spec) or leaf not in taking.native.word:
        raise Unfit
    place, slots = e.word(f"cell {k}"), _cell_slots()
    e.check(f.compare("eq", e.read(place, slots["owner"], "ptr"), e.word("None")), otherwise)
    value = e.read(place, slots["_value"], "ptr")
    taking.put(leaf, taking.value(spec, value, otherwise))


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


# --------------------------------------------------------------------------- the method


class _Method(Callee):
    """`Layer.predict` in machine code."""

    __slots__ = ("__name__", "__qualname__", "__wrapped__")
    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __get__(self, layer: Any, kind: type | None = None) -> Any:
        return self if layer is None else types.MethodType(self, layer)  # type: ignore[arg-type]  # mypy sees no `__call__`


@cache
def install() -> bool:
    """Put the method into its place. False where there is no native call path."""
    general: Any = vars(Layer)["predict"]
    place = slot(Layer, "_quick")
    library = noted(lambda: _method(place), None, f"method {place}")
    quick(_Method)
    method = _Method()
    method.__name__, method.__qualname__ = general.__name__, general.__qualname__
    method.__wrapped__ = general
    given = {"Layer": id(Layer), "fallback": id(general)}
    if layouts.trouble() or not attach(method, library, "method", library.notes, given, general):
        return False
    layouts.set_flag(_Method, _METHOD)
    Layer.predict = method  # type: ignore[method-assign, assignment]  # the same, faster
    return True


def _method(place: int) -> tuple[str, Any]:
    """The text of the method, and what its table holds; at `place` a layer has its own function."""
    from symbolic.backends.native.entry import Entry
    from symbolic.backends.native.text import Value

    module = host().module()
    e = Entry(module, "method")
    f = e.f
    otherwise = f.label("general")
    count = e.number()
    e.check(f.compare("ne", count, f.constant("i64", 0)), otherwise)
    layer = e.read(e.given, 0, "ptr")
    found = e.call("PyType_IsSubtype", "i32", e.read(layer, layouts.TYPE, "ptr"), e.word("Layer"))
    e.check(f.compare("ne", found, f.constant("i32", 0)), otherwise)
    own = e.read(layer, place, "ptr")
    e.check(f.compare("ne", own, Value("ptr", 0, "null")), otherwise)
    entry = e.read(own, ENTRY, "ptr")
    e.check(f.compare("ne", entry, Value("ptr", 0, "null")), otherwise)
    rest = f.sub(count, f.constant("i64", 1))
    e.keep(own)  # the general way may put another into its place, and its code must outlive the call
    result = f.call_at(entry, "ptr", own, f.at(e.given, f.index(8), "i8"), rest, e.keywords)
    e.drop(own)
    e.give(result)
    f.start(otherwise)
    e.fall_back()
    return str(module), e.words
