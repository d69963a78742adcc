"""What do the three usages stand for, in every kind of function and for every native type?"""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, NamedTuple, Optional, TypeVar, Union, reveal_type

import numpy as np

from symbolic import SGD, Symbolic, Weight, symbolic


# ------------------------------------------------------------------ one input, of each native type
@symbolic
def of_float(x: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
    reveal_type(x)  # R: Identity[float, float]
    return x * x


@symbolic
def of_complex(z: Annotated[complex, Symbolic]) -> Annotated[complex, Symbolic]:
    reveal_type(z)  # R: Identity[complex, complex]
    return z * 2.0


@symbolic
def of_int(n: Annotated[int, Symbolic]) -> Annotated[float, Symbolic]:
    reveal_type(n)  # R: Identity[int, float]
    return n * 2.0


@symbolic
def of_float32(x: Annotated[np.float32, Symbolic]) -> Annotated[np.float32, Symbolic]:
    reveal_type(x)  # R: Identity[float32, float32]
    return x


@symbolic
def of_float64(x: Annotated[np.float64, Symbolic]) -> Annotated[np.float64, Symbolic]:
    reveal_type(x)  # R: Identity[float64, float64]
    return x


@symbolic
def of_int64(n: Annotated[np.int64, Symbolic]) -> Annotated[np.int64, Symbolic]:
    reveal_type(n)  # R: Identity[int64, NoDelta]
    return n


@symbolic
def with_flag(x: Annotated[float, Symbolic], flag: Annotated[bool, Symbolic]) -> Annotated[float, Symbolic]:
    reveal_type(x)  # R: Projection[Tape[tuple[float, bool], tuple[float, NoDelta]], float, float]
    reveal_type(flag)  # R: Projection[Tape[tuple[float, bool], tuple[float, NoDelta]], bool, NoDelta]
    return x if flag else -x


@symbolic
def with_word(x: Annotated[float, Symbolic], word: Annotated[str, Symbolic]) -> Annotated[float, Symbolic]:
    reveal_type(x)  # R: Projection[Tape[tuple[float, str], tuple[float, NoDelta]], float, float]
    return x


class Colour(enum.Enum):
    RED = 1


@symbolic
def with_enum(x: Annotated[float, Symbolic], colour: Annotated[Colour, Symbolic]) -> Annotated[float, Symbolic]:
    reveal_type(x)  # R: Projection[Tape[tuple[float, Colour], tuple[float, NoDelta]], float, float]
    return x


reveal_type(of_float)  # R: Layer[Tape[float, float], Tape[float, float]]
reveal_type(of_complex)  # R: Layer[Tape[complex, complex], Tape[complex, complex]]
reveal_type(of_int)  # R: Layer[Tape[int, float], Tape[float, float]]
reveal_type(of_float32)  # R: Layer[Tape[float32, float32], Tape[float32, float32]]
reveal_type(of_float64)  # R: Layer[Tape[float64, float64], Tape[float64, float64]]
reveal_type(of_int64)  # R: Layer[Tape[int64, NoDelta], Tape[int64, NoDelta]]
reveal_type(with_flag)  # R: Layer[Tape[tuple[float, bool], tuple[float, NoDelta]], Tape[float, float]]
reveal_type(with_word)  # R: Layer[Tape[tuple[float, str], tuple[float, NoDelta]], Tape[float, float]]
reveal_type(with_enum)  # R: Layer[Tape[tuple[float, Colour], tuple[float, NoDelta]], Tape[float, float]]


# ------------------------------------------------------------------ several inputs make one tuple
@symbolic
def scaled(x: Annotated[np.ndarray, Symbolic], factor: Annotated[float, Symbolic]) -> Annotated[np.ndarray, Symbolic]:
    reveal_type(x)  # R: Projection[Tape[tuple[ndarray, float], tuple[ndarray, float]], ndarray, ndarray]
    reveal_type(factor)  # R: Projection[Tape[tuple[ndarray, float], tuple[ndarray, float]], float, float]
    product = x * factor
    reveal_type(product)  # R: Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[ndarray, ndarray]]
    shifted: Annotated[np.ndarray, Symbolic] = product + 1.0
    reveal_type(shifted)  # R: Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[ndarray, ndarray]]
    return shifted


@symbolic
def kernel(
    x: Annotated[np.ndarray, Symbolic], y: Annotated[np.ndarray, Symbolic], width: Annotated[float, Symbolic]
) -> float:
    return np.exp(-np.sum((x - y) ** 2) / width)


reveal_type(scaled)  # R: Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[ndarray, ndarray]]
reveal_type(kernel)
# R: Layer[Tape[tuple[ndarray, ndarray, float], tuple[ndarray, ndarray, float]], Tape[float, float]]
two: Annotated[Callable[[np.ndarray, float], np.ndarray], Symbolic] = scaled
reveal_type(two)  # R: Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[ndarray, ndarray]]


# ------------------------------------------------------------------ tuples, records, options, lists
@symbolic
def statistics(x: Annotated[np.ndarray, Symbolic]) -> tuple[Annotated[float, Symbolic], Annotated[float, Symbolic]]:
    mean = np.mean(x)
    reveal_type(mean)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    return mean, np.mean((x - mean) ** 2)


@symbolic
def pair(p: Annotated[tuple[np.ndarray, float], Symbolic]) -> Annotated[np.ndarray, Symbolic]:
    reveal_type(p)  # R: Identity[tuple[ndarray, float], tuple[ndarray, float]]
    x, factor = p
    reveal_type(p[0])  # R: Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[ndarray, ndarray]]
    # mypy unpacks what is no tuple to it by one type for all the names
    reveal_type(x)  # R: Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[ndarray, ndarray]] | Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[float, float]]
    reveal_type(factor)  # R: Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[ndarray, ndarray]] | Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[float, float]]
    return x * factor


@symbolic
def maybe(
    x: Annotated[np.ndarray, Symbolic], bias: Annotated[Optional[np.ndarray], Symbolic]
) -> Annotated[np.ndarray, Symbolic]:
    return x if bias is None else x + bias


@symbolic
def either(x: Annotated[Union[float, np.ndarray], Symbolic]) -> Annotated[float, Symbolic]:
    return np.sum(x)


@dataclass
class Point:
    x: float
    y: float


class Range(NamedTuple):
    low: float
    high: float


@symbolic
def of_range(r: Annotated[Range, Symbolic]) -> Annotated[float, Symbolic]:
    reveal_type(r)  # R: Identity[Range, …]
    reveal_type(r[1])  # R: Layer[Tape[Range, …], Tape[float, float]]
    return r[1] - r[0]


reveal_type(statistics)  # R: Layer[Tape[ndarray, ndarray], Tape[tuple[float, float], tuple[float, float]]]
reveal_type(pair)  # R: Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[ndarray, ndarray]]
reveal_type(maybe)
# R: Layer[Tape[tuple[ndarray, ndarray | None], tuple[ndarray, ndarray | NoDelta]], Tape[ndarray, ndarray]]
both: Annotated[Callable[[np.ndarray], tuple[float, float]], Symbolic] = statistics
reveal_type(both)  # R: Layer[Tape[ndarray, ndarray], Tape[tuple[float, float], tuple[float, float]]]


def structures(
    table: Annotated[Callable[[dict[str, np.ndarray]], float], Symbolic],
    record: Annotated[Callable[[Point], float], Symbolic],
    many: Annotated[Callable[[list[np.ndarray]], float], Symbolic],
    none: Annotated[Callable[[Optional[float]], float], Symbolic],
) -> None:
    reveal_type(table)  # R: Layer[Tape[dict[str, ndarray], dict[str, ndarray]], Tape[float, float]]
    reveal_type(record)  # R: Layer[Tape[Point, Point], Tape[float, float]]
    reveal_type(many)  # R: Layer[Tape[list[ndarray], …[ndarray]], Tape[float, float]]
    reveal_type(none)  # R: Layer[Tape[float | None, float | NoDelta], Tape[float, float]]


# ------------------------------------------------------------------ methods
class Model:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    @symbolic
    def score(self, x: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        reveal_type(x)  # R: Identity[ndarray, ndarray]
        reveal_type(self)  # R: Model
        return np.sum(x * self.rate)

    @symbolic
    @staticmethod
    def doubled(x: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
        reveal_type(x)  # R: Identity[float, float]
        return x * 2.0

    @symbolic
    @classmethod
    def named(cls, x: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
        reveal_type(x)  # R: Identity[float, float]
        return x + len(cls.__name__)

    def plain(self, x: np.ndarray) -> float:
        reveal_type(self.score)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
        reveal_type(self.score(x))  # R: float
        return self.score(x)


model = Model(2.0)
reveal_type(model.score)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(model.score(np.ones(3)))  # R: float
reveal_type(model.doubled)  # R: Layer[Tape[float, float], Tape[float, float]]
reveal_type(Model.doubled(2.0))  # R: float
reveal_type(Model.named)  # R: Layer[Tape[float, float], Tape[float, float]]


# ------------------------------------------------------------------ hyperparameters
@symbolic
def dense(x: Annotated[np.ndarray, Symbolic], inputs: int, outputs: int) -> Annotated[np.ndarray, Symbolic]:
    reveal_type(inputs)  # R: int
    return x @ Weight(np.ones((inputs, outputs)))


@symbolic
def powered(x: Annotated[float, Symbolic], exponent: int = 2) -> Annotated[float, Symbolic]:
    reveal_type(exponent)  # R: int
    reveal_type(x**exponent)  # R: Layer[Tape[float, float], Tape[float, float]]
    return x**exponent


@symbolic
def normalized(
    x: Annotated[np.ndarray, Symbolic], *, axis: int, epsilon: float = 1e-6
) -> Annotated[np.ndarray, Symbolic]:
    centred = x - np.mean(x, axis=axis, keepdims=True)
    reveal_type(centred)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    return centred / (np.std(x, axis=axis, keepdims=True) + epsilon)


@symbolic
def activated(
    x: Annotated[np.ndarray, Symbolic], activation: Callable[[np.ndarray], np.ndarray] = np.tanh
) -> Annotated[np.ndarray, Symbolic]:
    return activation(x)


@symbolic
def network(x: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
    h = dense(x, inputs=4, outputs=2)
    reveal_type(h)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    n = normalized(h, axis=-1)
    reveal_type(n)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
    return np.sum(n)


layer = dense(inputs=4, outputs=2)
reveal_type(layer)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
reveal_type(layer(np.ones((3, 4))))  # R: ndarray
reveal_type(dense(np.ones((3, 4)), inputs=4, outputs=2))  # R: ndarray
reveal_type(dense(np.ones((3, 4)), 4, 2))  # R: ndarray
reveal_type(normalized(axis=0))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
reveal_type(powered)  # R: Layer[Tape[float, float], Tape[float, float]]
reveal_type(powered(3.0))  # R: float
reveal_type(powered(exponent=3))  # R: Layer[Tape[float, float], Tape[float, float]]
reveal_type(activated)  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
reveal_type(network)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]


# ------------------------------------------------------------------ defaults, keyword-only inputs, order
@symbolic
def shifted(x: Annotated[float, Symbolic], by: Annotated[float, Symbolic] = 1.0) -> Annotated[float, Symbolic]:
    return x + by


@symbolic
def keyword_only(*, x: Annotated[float, Symbolic], y: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
    reveal_type(y)  # R: Projection[Tape[tuple[float, float], tuple[float, float]], float, float]
    return x - y


@symbolic
def hyper_first(size: int, x: Annotated[np.ndarray, Symbolic]) -> Annotated[np.ndarray, Symbolic]:
    reveal_type(x)  # R: Identity[ndarray, ndarray]
    return x * size


reveal_type(shifted)  # R: Layer[Tape[tuple[float, float], tuple[float, float]], Tape[float, float]]
reveal_type(shifted(1.0))  # R: float
reveal_type(shifted(1.0, 2.0))  # R: float
reveal_type(keyword_only(x=1.0, y=2.0))  # R: float
reveal_type(hyper_first(size=3))  # R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]


# ------------------------------------------------------------------ generic functions, closures, lambdas
Number = TypeVar("Number", float, complex)


@symbolic
def squared(x: Annotated[Number, Symbolic]) -> Annotated[Number, Symbolic]:
    return x * x


def made(rate: float) -> Annotated[Callable[[np.ndarray], float], Symbolic]:
    @symbolic
    def total(x: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        reveal_type(x)  # R: Identity[ndarray, ndarray]
        return np.sum(x * Weight(rate))

    reveal_type(total)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    return total


reveal_type(squared(2.0))  # R: float
reveal_type(made(0.5))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(made(0.5)(np.ones(2)))  # R: float


def use(net: Annotated[Callable[[np.ndarray], float], Symbolic], x: np.ndarray) -> float:
    """A hint outside of a symbolic function is the third usage, in a parameter too."""
    reveal_type(net)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
    net.train(x, optimizer=SGD(0.0))
    return net.predict(x)


class Holder:
    net: Annotated[Callable[[np.ndarray], float], Symbolic]

    def __init__(self, net: Annotated[Callable[[np.ndarray], float], Symbolic]) -> None:
        self.net = net
        reveal_type(self.net)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]


reveal_type(Holder(made(1.0)).net)  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]

# ------------------------------------------------------------------ `@symbolic()` with brackets is the same
@symbolic()
def bracketed(x: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
    reveal_type(x)  # R: Identity[float, float]
    return x


reveal_type(bracketed)  # R: Layer[Tape[float, float], Tape[float, float]]


def check_values() -> None:
    assert of_float(3.0) == 9.0 and of_int(2) == 4.0 and of_complex(1j) == 2j
    assert type(of_float32(np.float32(1))) is np.float32 and type(of_int64(np.int64(3))) is np.int64
    assert with_flag(2.0, False) == -2.0 and with_word(2.0, "a") == 2.0 and with_enum(2.0, Colour.RED) == 2.0
    assert two(np.ones(2), 3.0).tolist() == [4.0, 4.0] and kernel(np.ones(2), np.ones(2), 1.0) == 1.0
    assert statistics(np.array([1.0, 3.0])) == (2.0, 1.0)
    assert pair((np.ones(1), 2.0)).tolist() == [2.0] and of_range(Range(1.0, 3.0)) == 2.0
    assert maybe(np.ones(1), None).tolist() == [1.0] and maybe(np.ones(1), np.ones(1)).tolist() == [2.0]
    assert either(2.0) == either(np.ones(2)) == 2.0
    assert model.plain(np.ones(3)) == 6.0 and Model.doubled(2.0) == 4.0 and Model.named(1.0) == 6.0
    assert network(np.ones((3, 4))) == 0.0 and powered(3.0) == 9.0 and powered(3.0, exponent=3) == 27.0
    assert shifted(1.0) == 2.0 and keyword_only(x=3.0, y=1.0) == 2.0 and hyper_first(size=2).predict(np.ones(1)).tolist() == [2.0]
    assert squared(3.0) == 9.0 and use(made(0.0), np.ones(2)) == 0.0 and bracketed(1.0) == 1.0
