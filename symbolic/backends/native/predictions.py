"""How is a prediction one call into machine code? The weights are read where their cells hold them, at each call.

`Layer.predict` gets code of its own, once for all layers: it looks for the layer's own function and jumps there, or
goes the general way.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from symbolic.backends.native import layouts
from symbolic.backends.native.abi import ENTRY, Method, attach, callable_of
from symbolic.backends.native.answers import Answer, form_of, slot
from symbolic.backends.native.engine import noted
from symbolic.backends.native.host import host
from symbolic.layer import Layer
from symbolic.ops.passing import Tuple

if TYPE_CHECKING:
    from symbolic.backends.native.machine import Native
    from symbolic.execution import Specialization

__all__ = ["Predicting"]


class Predicting:
    """A prediction of a layer for so many inputs of one kind. `Unfit` where it needs Python in between."""

    answer: Answer

    def __init__(self, native: Native, layer: Any, on: Specialization, count: int) -> None:
        form = form_of(lambda values: _finished(layer, _shaped(on.output, iter(values))), native)
        self.answer = Answer(native, on, form, count)

    def made(self, general: Any) -> Any:
        """A function of the inputs alone; `None` where there is no native call path."""
        library = self.answer.ready()
        given = self.answer.given()
        return callable_of(library, "answer", general, library.notes, given, self.answer) if install() else None

    def prepare(self) -> None:
        """Compile what `made` will need."""
        self.answer.ready()
        install()


def _shaped(output: Any, values: Iterator[Any]) -> Any:
    """The outputs in the structure of the output, as the general way has them."""
    return tuple([_shaped(one, values) for one in output.operands]) if isinstance(output, Tuple) else next(values)


def _finished(layer: Any, value: Any) -> Any:
    """The value as the native type that the layer declares."""
    finish = getattr(type(layer), "finish", None)
    return value if finish is None else finish(layer, value)


# --------------------------------------------------------------------------- the method


@cache
def install() -> bool:
    """Give the method its code. False where there is no native call path."""
    method: Any = Layer.predict
    if not isinstance(method, Method) or layouts.trouble():
        return False
    place = slot(Layer, "_quick")
    library = noted(lambda: _method(place), None, f"method {place}")
    given = {"Layer": id(Layer), "fallback": id(method.__wrapped__)}
    return attach(method, library, "method", library.notes, given)


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
