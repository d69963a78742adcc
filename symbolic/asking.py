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
    "number": lambda value: value if np.ndim(value) == 0 else tuple(np.ravel(value).tolist()),
    "exponent": lambda value: math.frexp(value)[1],
    "shape": np.shape,
    "text": str,
}
"""How a number answers; `text` may be followed by a colon and a format."""
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
    return format(value, form) if form else ANSWERS[kind](value)


def phrase(asked: str) -> str:
    """The question in words, for a message."""
    kind, _, form = asked.partition(":")
    return f"format with {form!r}" if form else PHRASES.get(kind, f"{kind}()")


class PathLeft(BaseException):
    """A decision has another answer than in the trace: this call takes another path. No error, so nobody catches it."""

    def __init__(self, at: int, answer: Any) -> None:
        self.at, self.answer = at, answer
