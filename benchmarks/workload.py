"""What is a workload? Inputs, what is asked of them, and for each library the best way to run it there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import repeat
from typing import Any, Protocol, TypeAlias

import numpy as np

Size: TypeAlias = Mapping[str, int]
Inputs: TypeAlias = dict[str, Any]
Results: TypeAlias = dict[str, Any]


class Running(Protocol):
    """A workload that is ready to run in one library."""

    def loop(self, n: int) -> None:
        """Run n times, one after the other; all is computed when it returns."""

    def results(self) -> Results:
        """Named values of the last run: what the parent compares between libraries."""


Build: TypeAlias = Callable[[Inputs], Running]


@dataclass(frozen=True)
class Goal:
    """`measure` of `of` is at least `least` times better than that of `against` (the best peer, if it says "best").

    With `most` it is an absolute bound instead, in seconds.
    """

    text: str
    of: str = "symbolic auto"
    against: str = "best"
    measure: str = "step"
    least: float = 1.0
    most: float | None = None
    threads: int = 1


@dataclass(frozen=True)
class Workload:
    """One row of the table: `contestants` by name; the first word of a name is the library that it imports.

    `inputs` makes the data for one of the `sizes` (the first one is the row, the others show growth), `tiny` is for
    tests. Values and gradients may differ by `tolerance` of the largest entry.
    """

    name: str
    title: str
    sizes: Mapping[str, Size]
    tiny: Size
    inputs: Callable[[Size], Inputs]
    contestants: Mapping[str, Build]
    tolerance: float = 1e-10
    threads: tuple[int, ...] = (1,)
    goals: tuple[Goal, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Which library is left out, and why."""
    imports: tuple[str, ...] = ()
    """What our function and NumPy by hand import besides: part of a program's start, not of its first call."""


def ours(build: Build) -> dict[str, Build]:
    """The three rows of this library: as it chooses by itself, in machine code, and in NumPy alone."""
    return {f"symbolic {machine}": build for machine in ("auto", "native", "numpy")}


def library(name: str) -> Any:
    """A peer, imported where it is used; nothing is known of its types, since it may not be installed."""
    return import_module(name)


# --------------------------------------------------------------------------- ways to loop
class Calls:
    """One Python call a run, with the same arguments; `named` tells the results of the last one apart."""

    def __init__(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        named: Callable[[Any], Results],
        finish: Callable[[Any], object] | None = None,
    ) -> None:
        self.function, self.arguments, self.named, self.finish = function, arguments, named, finish
        self.last: Any = None

    def loop(self, n: int) -> None:
        self.last = None  # as in a script, which has the result before and the new one, and no third
        self.last = repeated(self.function, self.arguments, n)
        if self.finish is not None:
            self.finish(self.last)

    def once(self, *arguments: Any) -> Any:
        """One run with other arguments."""
        return self.function(*arguments)

    def results(self) -> Results:
        return self.named(self.last)


def repeated(f: Callable[..., Any], arguments: tuple[Any, ...], n: int) -> Any:
    """`f(*arguments)`, n times, with arguments by position and nothing else in the loop."""
    value = None
    match arguments:
        case ():
            for _ in repeat(None, n):
                value = f()
        case (a,):
            for _ in repeat(None, n):
                value = f(a)
        case (a, b):
            for _ in repeat(None, n):
                value = f(a, b)
        case (a, b, c):
            for _ in repeat(None, n):
                value = f(a, b, c)
        case _:
            for _ in repeat(None, n):
                value = f(*arguments)
    return value


class Threaded:
    """`state, value = step(state, *arguments)`: the weights go in and come out, as JAX has it."""

    def __init__(
        self,
        step: Callable[..., Any],
        state: Any,
        *arguments: Any,
        named: Callable[[Any, Any], Results],
        finish: Callable[[Any], object] | None = None,
    ) -> None:
        self.step, self.state, self.arguments = step, state, arguments
        self.named, self.finish = named, finish
        self.value: Any = None

    def loop(self, n: int) -> None:
        step, state, value = self.step, self.state, None
        self.state = self.value = None  # nobody has the first one when there is a third
        match self.arguments:
            case (a,):
                for _ in repeat(None, n):
                    state, value = step(state, a)
            case (a, b):
                for _ in repeat(None, n):
                    state, value = step(state, a, b)
            case _:
                for _ in repeat(None, n):
                    state, value = step(state, *self.arguments)
        self.state, self.value = state, value
        if self.finish is not None:
            self.finish((state, value))

    def once(self, *arguments: Any) -> Any:
        """One run with other arguments."""
        self.state, value = self.step(self.state, *arguments)
        return value

    def results(self) -> Results:
        return self.named(self.state, self.value)


def array(value: Any) -> np.ndarray:
    """What a library gives, as an array of NumPy's."""
    detached = value.detach() if hasattr(value, "detach") else value
    return np.asarray(getattr(detached, "_value", detached) if type(detached).__name__ == "ArrayBox" else detached)
