"""What may a body ask of a traced value that only its number knows? A truth, a count, a text."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

ANSWERS: dict[str, Callable[[Any], Any]] = {
    "truth": bool,
    "int": int,
    "index": operator.index,
    "float": float,
    "complex": complex,
    "round": round,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "exponent": lambda value: math.frexp(value)[1],
    "shape": np.shape,
    "text": str,
    "repr": repr,
}
"""How a number answers; `text` may be followed by a colon and a format, or by one with a percent sign."""
PHRASES = {
    "truth": "the truth of a condition (bool)",
    "index": "an index (__index__)",
    "shape": "the shape",
    "text": "the text",
}
"""What is asked, in words; the others are called as they are written, `int()`."""


def answer(asked: str, value: Any) -> Any:
    """What a number answers."""
    kind, _, form = asked.partition(":")
    if form:
        return form % (value,) if form.startswith("%") else format(value, form)
    return ANSWERS[kind](value)


def phrase(asked: str) -> str:
    """The question in words, for a message."""
    kind, _, form = asked.partition(":")
    return f"format with {form!r}" if form else PHRASES.get(kind, f"{kind}()")


class PathLeft(BaseException):
    """A decision has another answer than in the trace: this call takes another path. No error, so nobody catches it."""

    at: int
    answer: Any

    def __init__(self, at: int, answer: Any) -> None:
        self.at, self.answer = at, answer
