"""How is a value with its gradients one call into machine code? As a prediction is, of a function that is called."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from symbolic.backends.native.abi import Callee, attach
from symbolic.backends.native.answers import Answer, form_of
from symbolic.backends.native.fitting import Unfit

if TYPE_CHECKING:
    from symbolic.backends.native.machine import Native
    from symbolic.execution import Specialization

__all__ = ["enter", "prepare"]

Make = Callable[[Sequence[Any]], Any]
"""What the general way makes of a program's outputs."""


def enter(owner: Callee, native: Native, on: Specialization, count: int, make: Make) -> bool:
    """From now on a call of `owner` with so many arguments runs the program and gives what `make` does of its outputs.

    Any other call is a call of its class, as before. False where a call needs Python in between.
    """
    answer = _answer(native, on, count, make)
    if answer is None:
        return False
    held: Any = weakref.ref(owner)  # which keeps the code

    def general(*given: Any, **named: Any) -> Any:
        found = held()
        return type(found).__call__(found, *given, **named)

    library = answer.ready()
    given = {"fallback": id(general), **answer.given()}
    return attach(owner, library, "answer", library.notes, given, (general, answer))


def prepare(native: Native, on: Specialization, count: int, make: Make) -> None:
    """Compile what `enter` will need."""
    answer = _answer(native, on, count, make)
    if answer is not None:
        answer.ready()


def _answer(native: Native, on: Specialization, count: int, make: Make) -> Answer | None:
    try:
        specs = [native.specs[k] for k in native.program.outputs]
        return Answer(native, on, form_of(make, specs), count) if native.segment else None
    except Unfit:
        return None
