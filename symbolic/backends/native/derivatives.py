"""How is a value with its gradients one call into machine code? As a prediction is, of a function that is called."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symbolic.backends.native.abi import Callee, attach
from symbolic.backends.native.answers import Answer, form_of
from symbolic.backends.native.fitting import Unfit

if TYPE_CHECKING:
    from symbolic.backends.native.engine import Library
    from symbolic.backends.native.machine import Native
    from symbolic.execution import Specialization

__all__ = ["enter"]

Make = Callable[[Sequence[Any]], Any]
"""What the general way makes of a program's outputs."""


def enter(owner: Callee, native: Native, on: Specialization, given: Sequence[Any], make: Make) -> bool:
    """From now on a call of `owner` with such arguments runs the program and gives what `make` does of its outputs.

    Any other call is a call of its class, as before. False where a call needs Python in between.
    """
    found = _answer(native, on, given, make)
    if found is None:
        return False
    answer, library = found
    held: Any = weakref.ref(owner)  # which keeps the code

    def general(*given: Any, **named: Any) -> Any:
        called = held()
        return type(called).__call__(called, *given, **named)

    table = {"fallback": id(general), **answer.given()}
    return attach(owner, library, "answer", library.notes, table, (general, answer))


def _answer(native: Native, on: Specialization, given: Sequence[Any], make: Make) -> tuple[Answer, Library] | None:
    """The answer and its code; `None` where a call needs Python, as for an argument in half precision without axes."""
    kinds = {k: kind for k, one in enumerate(given) if (kind := _kind(one))}
    try:
        if not native.segment:
            return None
        answer = Answer(native, on, form_of(make, native, kinds), len(given), kinds)
        return answer, answer.ready()
    except Unfit:
        return None


def _kind(one: Any) -> str:
    """How NumPy has a number; nothing for Python's own, and for an array with axes."""
    return "scalar" if isinstance(one, np.generic) else "box" if type(one) is np.ndarray and not one.ndim else ""
