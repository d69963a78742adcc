"""What plain Python keeps layers in, and hands them to: named tuples, typed dictionaries, functions of functions."""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate, combinations
from typing import Annotated, NamedTuple, TypedDict, TypeVar

import numpy as np

from symbolic import Symbolic, symbolic

V = Annotated[np.ndarray, Symbolic]
F = Annotated[float, Symbolic]
Wide = Annotated[np.ndarray, Symbolic["3 4"]]
A = TypeVar("A", bound=np.ndarray)
N = TypeVar("N", float, np.ndarray)
T = TypeVar("T")
S = TypeVar("S")
Act = Callable[[np.ndarray], np.ndarray]


# ------------------------------------------------------------------ an array that a layer is added to
@symbolic
def added_in_place(x: V) -> V:
    total = np.zeros(3)
    for a, b in combinations([x, x * 2], 2):
        total += a * b
    reveal_type(total)  # R: ndarray[tuple[int], dtype[float64]] | Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    total += x
    reveal_type(total)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    return total


# ------------------------------------------------------------------ named tuples and typed dictionaries
class State(NamedTuple):
    h: np.ndarray
    c: np.ndarray

    def total(self) -> np.ndarray:
        return self.h + self.c


class Held(TypedDict):
    a: np.ndarray
    b: np.ndarray


def of_held(held: Held) -> np.ndarray:
    return held["a"] * held["b"]


def made(a: np.ndarray) -> Held:
    return {"a": a, "b": a}


@symbolic
def named(x: V) -> V:
    s = State(x, x)._replace(h=x * 2)
    reveal_type(s.h)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    return s.total() + s._asdict()["c"]


@symbolic
def typed(x: V) -> V:
    held: Held = {"a": x, "b": x * 2}
    return held["a"] + of_held(held) + of_held({"a": x, "b": x}) + made(x)["b"]


# ------------------------------------------------------------------ functions out of structures
ACTS: dict[str, Act] = {"tanh": np.tanh, "double": lambda a: a * 2}


class Holder:
    acts: Sequence[Act] = (np.tanh, np.exp)

    @symbolic
    def __call__(self, x: V) -> V:
        return self.acts[0](x)


@symbolic
def chosen(x: V, name: str = "tanh") -> V:
    acts: list[Act] = [np.tanh, np.exp]
    y = ACTS[name](x) + acts[0](x)
    reveal_type(ACTS.get(name, np.exp)(x))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    return y


# ------------------------------------------------------------------ type variables
def bounded(a: A) -> A:
    return a


def constrained(a: N, b: N) -> N:
    return a * b


def applied(f: Callable[[T], T], a: T) -> T:
    return f(f(a))


def folded(f: Callable[[T, S], T], first: T, rest: Sequence[S]) -> T:
    for one in rest:
        first = f(first, one)
    return first


def summed(rows: Sequence[np.ndarray]) -> np.ndarray:
    return np.sum(np.stack(rows), axis=0)


@symbolic
def of_variables(x: V) -> V:
    y = bounded(x) + constrained(x, x)
    return y + applied(np.tanh, x) + applied(lambda a: a * 2, x)


@symbolic
def folds(x: V) -> V:
    y = reduce(np.add, (x * k for k in range(3)))
    z = np.stack(list(accumulate([x, x, x], lambda a, b: a * b)))
    return y + z[0] + summed(list(z)) + summed([x, x])


@symbolic
def of_other_shapes(x: Wide) -> V:
    last = folded(lambda a, b: a @ b, x, [np.ones((4, 2)), np.ones((2, 5))])
    reveal_type(last)  # R: Layer[Tape[…], Tape[Any, Any]]
    return last @ np.ones(5)


@symbolic
def split(x: Wide) -> V:
    reveal_type(np.split(x, 3))  # R: list[Layer[Tape[…], Tape[ndarray[tuple[Literal[1], Literal[4]], …], …]]]
    a, b, c = np.split(x, 3)
    return a + np.moveaxis(b, 0, 0) + c


# ------------------------------------------------------------------ what is returned
@symbolic
def several(x: V) -> tuple[V, ...]:
    return (x, x)


@symbolic
def as_many(x: V) -> tuple[np.ndarray, ...]:
    return tuple(x * k for k in range(2))


@symbolic
def listed(x: V) -> list[V]:
    return [x, x * 2]


# ------------------------------------------------------------------ a union with a marked member
@symbolic
def maybe(x: V, bias: V | None = None) -> V | None:
    y: V | None = None
    if x.ndim == 3:
        return None
    y = x if bias is None else x + bias
    return y


@symbolic
def only_maybe(x: V | None = None) -> V:
    return np.zeros(3) if x is None else x * 2.0
