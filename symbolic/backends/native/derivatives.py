"""How is a value with its gradients one call into machine code? As a prediction is, of a function that is called."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from symbolic.backends.native.abi import Callee, attach
from symbolic.backends.native.answers import Answer, form_of
from symbolic.backends.native.fitting import Unfit

if TYPE_CHECKING:
    from symbolic.backends.native.engine import Library
    from symbolic.backends.native.machine import Native
    from symbolic.execution import Specialization

__all__ = ["enter", "prepare"]

Make = Callable[[Sequence[Any]], Any]
"""What the general way makes of a program's outputs."""


def enter(owner: Callee, native: Native, on: Specialization, count: int, make: Make) -> bool:
    """From now on a call of `owner` with so many arguments runs the program and gives what `make` does of its outputs.

    Any other call is a call of its class, as before. False where a call needs Python in between.
    """
    found = _answer(native, on, count, make)
    if found is None:
        return False
    answer, library = found
    held: Any = weakref.ref(owner)  # which keeps the code

    def general(*given: Any, **named: Any) -> Any:
        called = held()
        return type(called).__call__(called, *given, **named)

    given = {"fallback": id(general), **answer.given()}
    return attach(owner, library, "answer", library.notes, given, (general, answer))


def prepare(native: Native, on: Specialization, count: int, make: Make) -> None:
    """Compile what `enter` will need."""
    _answer(native, on, count, make)


def _answer(native: Native, on: Specialization, count: int, make: Make) -> tuple[Answer, Library] | None:
    """The answer and its code; `None` where a call needs Python, as for an argument without axes of NumPy's."""
    try:
        if not native.segment:
            return None
        answer = Answer(native, on, form_of(make, native), count)
        return answer, answer.ready()
    except Unfit:
        return None
