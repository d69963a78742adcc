"""How is a prediction one call into machine code? The weights are read where their cells hold them, at each call.

`Layer.predict` gets code of its own, once for all layers: it looks for the layer's own function and jumps there, or
goes the general way. So does a call of a layer, which is a prediction for whatever is no layer itself.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from symbolic.backends.native import layouts
from symbolic.backends.native.abi import ENTRY, Method, attach, callable_of, is_attached, quick
from symbolic.backends.native.answers import Answer, form_of, slot
from symbolic.backends.native.engine import noted
from symbolic.backends.native.host import host
from symbolic.layer import Layer
from symbolic.ops.passing import Tuple

if TYPE_CHECKING:
    from symbolic.backends.native.engine import Library
    from symbolic.backends.native.entry import Entry
    from symbolic.backends.native.machine import Native
    from symbolic.backends.native.text import Value
    from symbolic.execution import Specialization

__all__ = ["Predicting"]


class Predicting:
    """A prediction of a layer for so many inputs of one kind. `Unfit` where it needs Python in between."""

    answer: Answer
    layer: Any

    def __init__(self, native: Native, layer: Any, on: Specialization, count: int) -> None:
        form = form_of(lambda values: _finished(layer, _shaped(on.output, iter(values))), native)
        self.answer, self.layer = Answer(native, on, form, count), layer

    def made(self, general: Any) -> dict[str, Any] | None:
        """Two functions of the inputs alone: of a prediction, and of a call, which may mean something else.

        `None` where there is no native call path.
        """
        if not install():
            return None
        called = _called(self.layer)
        enter(self.layer, called)
        return {"_called": self._function(called), "_quick": self._function(general)}

    def _function(self, general: Any) -> Any:
        library = self.answer.ready()
        return callable_of(library, "answer", general, library.notes, self.answer.given(), self.answer)

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


# --------------------------------------------------------------------------- the method, and the call


@cache
def install() -> bool:
    """Give the method its code. False where there is no native call path."""
    method: Any = Layer.predict
    if not isinstance(method, Method) or layouts.trouble():
        return False
    library = _shared("method")
    return attach(method, library, "method", library.notes, {"Layer": id(Layer), "fallback": id(method.__wrapped__)})


def enter(layer: Any, general: Any) -> None:
    """From now on a call of the layer goes to its own function; where its class calls in another way, it does not."""
    kind = type(layer)
    if kind.__call__ is kind._predicts and not is_attached(layer):
        quick(kind)
        library = _shared("call")
        attach(layer, library, "call", library.notes, {"fallback": id(general)}, general)


def _called(layer: Any) -> Any:
    """A call of the layer, as its class has it."""
    held = weakref.ref(layer)  # which keeps the code

    def general(*given: Any, **named: Any) -> Any:
        found: Any = held()
        return type(found).__call__(found, *given, **named)

    return general


@cache
def _shared(name: str) -> Library:
    """Code that all layers have in common; at a place a layer has a function of its own."""
    write, field = {"method": (_method, "_quick"), "call": (_call, "_called")}[name]
    place = slot(Layer, field)
    return noted(lambda: write(place), None, f"{name} {place}")


def _method(place: int) -> tuple[str, Any]:
    """The text of the method, and what its table holds."""
    from symbolic.backends.native.entry import Entry

    module = host().module()
    e = Entry(module, "method")
    f = e.f
    otherwise = f.label("general")
    count = e.number()
    e.check(f.compare("ne", count, f.constant("i64", 0)), otherwise)
    layer = e.read(e.given, 0, "ptr")
    found = e.call("PyType_IsSubtype", "i32", e.read(layer, layouts.TYPE, "ptr"), e.word("Layer"))
    e.check(f.compare("ne", found, f.constant("i32", 0)), otherwise)
    rest = f.sub(count, f.constant("i64", 1))
    _own(e, layer, place, (f.at(e.given, f.index(8), "i8"), rest), otherwise)
    return str(module), e.words


def _call(place: int) -> tuple[str, Any]:
    """The text of the call, and what its table holds."""
    from symbolic.backends.native.entry import Entry

    module = host().module()
    e = Entry(module, "call")
    _own(e, e.callee, place, (e.given, e.count), e.f.label("general"))
    return str(module), e.words


def _own(e: Entry, layer: Value, place: int, given: tuple[Value, Value], otherwise: str) -> None:
    """Go to a layer's own function, or the general way."""
    from symbolic.backends.native.text import Value

    f, nothing = e.f, Value("ptr", 0, "null")
    own = e.read(layer, place, "ptr")
    e.check(f.compare("ne", own, nothing), otherwise)
    entry = e.read(own, ENTRY, "ptr")
    e.check(f.compare("ne", entry, nothing), otherwise)
    e.keep(own)  # the general way may put another into its place, and its code must outlive the call
    result = f.call_at(entry, "ptr", own, *given, e.keywords)
    e.drop(own)
    e.give(result)
    f.start(otherwise)
    e.fall_back()
