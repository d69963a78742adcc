"""Do aliases mean what they are short for, in every form and from every place?"""

from collections.abc import Callable
from typing import Annotated, TypeAlias, Union, reveal_type

import numpy as np
import shared_aliases
import shared_aliases as named
from shared_aliases import Loss, Native, Scalar
from shared_aliases import Vector as Imported

from symbolic import Symbolic, symbolic

Vector = Annotated[np.ndarray, Symbolic]
Explicit: TypeAlias = Annotated[np.ndarray, Symbolic]
Quoted: TypeAlias = "Annotated[np.ndarray, Symbolic]"
Number = Annotated[float, Symbolic]
Again = Vector
Third: TypeAlias = Imported
Array = np.ndarray
OfAlias = Annotated[Array, Symbolic]
Pair = tuple[Number, Number]
Function = Callable[[np.ndarray], float]
Network = Annotated[Function, Symbolic]
Written = Annotated[Callable[[np.ndarray], float], Symbolic]
Batch = Annotated[np.ndarray, Symbolic["batch", 784]]


@symbolic
def plain(x: Vector) -> Number:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    e: Vector = np.exp(x)
    reveal_type(e)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    s: Number = np.sum(e)
    reveal_type(s)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    return s


@symbolic
def explicit(x: Explicit) -> Number:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return np.sum(x)


@symbolic
def quoted(x: Quoted) -> Number:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return np.sum(x)


@symbolic
def again(x: Again) -> Again:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return x


@symbolic
def imported(x: Imported) -> Scalar:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return np.sum(x)


@symbolic
def third(x: Third) -> Scalar:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return np.sum(x)


@symbolic
def by_module(x: shared_aliases.Vector) -> named.Scalar:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return np.sum(x)


@symbolic
def of_alias(x: OfAlias) -> Number:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return np.sum(x)


@symbolic
def of_native(x: Annotated[Native, Symbolic]) -> Number:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return np.sum(x)


@symbolic
def shaped(x: Batch) -> Vector:
    reveal_type(x)  # R: Identity[ndarray[tuple[Dim[Literal['batch']], Literal[784]], dtype[Any]], ndarray]
    return x


@symbolic
def pairs(x: Vector) -> Pair:
    return np.sum(x), np.mean(x)


@symbolic
def two(x: Vector, factor: Number) -> Vector:
    reveal_type(factor)  # R: Projection[Tape[tuple[ndarray, float], tuple[ndarray, float]], float, float]
    parts: list[Vector] = []
    for k in range(2):
        parts.append(x * factor)
    reveal_type(parts)  # R: list[Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[ndarray, ndarray]]]
    chosen: tuple[Vector, Number] = parts[0], factor * 2.0
    reveal_type(chosen[1])  # R: Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[float, float]]
    return parts[0] + parts[1]


reveal_type(plain)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(explicit)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(quoted)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(again)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
reveal_type(imported)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(by_module)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(pairs)  # R: Layer[Tape[ndarray, ndarray], Tape[tuple[float, float], tuple[float, float]]]

net1: Network = plain
net2: Written = plain
net3: Loss = plain
net4: Annotated[Function, Symbolic] = plain
net5: "Annotated[Callable[[np.ndarray], float], Symbolic]" = plain
net6: shared_aliases.Loss = plain
nets: list[Loss] = [plain, explicit]
reveal_type(net1)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(net2)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(net3)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(net4)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(net5)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(net6)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(nets)  # R: list[Layer[Tape[ndarray, ndarray], Tape[float, float]]]


def chosen(make: Callable[[], Loss]) -> Loss:
    reveal_type(make)  # R: def () -> Layer[Tape[ndarray, ndarray], Tape[float, float]]
    return make()


reveal_type(chosen(lambda: plain))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]


def native(x: Native) -> float:
    """An alias without `Symbolic` stays as it is."""
    reveal_type(x)  # R: ndarray
    return float(np.sum(x))


def check_values() -> None:
    x = np.zeros(2)
    assert plain(x) == net1(x) == net3(x) == 2.0 and quoted(x) == of_alias(x) == third(x) == native(x) == 0.0
    assert pairs(x) == (0.0, 0.0) and two(np.ones(1), 2.0).tolist() == [4.0]
    assert chosen(lambda: plain)(x) == 2.0 and shaped(np.ones((1, 784))).shape == (1, 784)
