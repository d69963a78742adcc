"""Are hints read where they are strings, because of `from __future__ import annotations` or by quotes?"""

from __future__ import annotations

import typing
import typing as t
from typing import TYPE_CHECKING, reveal_type

import numpy as np
import typing_extensions as te
from typing_extensions import Annotated

import symbolic as s
from symbolic import Symbolic, symbolic

if TYPE_CHECKING:
    from collections.abc import Callable


@symbolic
def total(scores: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
    reveal_type(scores)  # R: Identity[ndarray, ndarray]
    e: Annotated[np.ndarray, Symbolic] = np.exp(scores)
    reveal_type(e)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    return np.sum(e)


@symbolic
def quoted(scores: "Annotated[np.ndarray, Symbolic]") -> "Annotated[float, Symbolic]":
    reveal_type(scores)  # R: Identity[ndarray, ndarray]
    return np.sum(scores)


@symbolic
def by_letter(x: t.Annotated[np.ndarray, Symbolic]) -> t.Annotated[float, Symbolic]:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return np.sum(x)


@symbolic
def by_module(x: typing.Annotated[np.ndarray, Symbolic]) -> float:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return np.sum(x)


@symbolic
def by_extension(x: te.Annotated[np.ndarray, s.Symbolic]) -> float:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return np.sum(x)


@s.symbolic
def by_package(x: te.Annotated[float, s.Symbolic]) -> float:
    reveal_type(x)  # R: Identity[float, float]
    return x * 2.0


@symbolic
def marked(x: Annotated[np.ndarray, "a note", Symbolic, 3]) -> float:
    """Other metadata of a hint are somebody else's."""
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return np.sum(x)


def untouched(x: Annotated[np.ndarray, "a note"], y: Annotated[int, 3]) -> int:
    reveal_type(x)  # R: ndarray
    reveal_type(y)  # R: int
    return y


net: Annotated[Callable[[np.ndarray], float], Symbolic] = total
typed: te.Annotated[t.Callable[[np.ndarray], float], s.Symbolic] = quoted
reveal_type(total)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(quoted)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(by_letter)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(by_extension)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(by_package)  # R: Layer[Tape[float, float], Tape[float, float]]
reveal_type(net)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(typed)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]


def check_values() -> None:
    x = np.zeros(2)
    assert total(x) == 2.0 and quoted(x) == by_letter(x) == by_module(x) == by_extension(x) == marked(x) == 0.0
    assert by_package(1.0) == 2.0 and untouched(x, 1) == 1
