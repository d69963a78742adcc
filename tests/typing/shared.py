"""What every checker sees, without a plugin: native types in the bodies, a Layer for the decorated name."""

# with: pyright basedpyright ty pyrefly mypy-without-plugin

from collections.abc import Callable
from typing import Annotated, reveal_type

import numpy as np

from symbolic import (
    SGD,
    Adam,
    Identity,
    Layer,
    Linear,
    Literal,
    Plus,
    ReLU,
    Sequential,
    Symbolic,
    Tape,
    Times,
    ToLiteral,
    Weight,
    grad,
    he,
    hessian,
    log_softmax,
    symbolic,
    value_and_grad,
    vmap,
)

V = Annotated[np.ndarray, Symbolic]


@symbolic
def total(scores: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
    reveal_type(scores)  # R: Identity[ndarray, ndarray]  # P: ndarray
    e: Annotated[np.ndarray, Symbolic] = np.exp(scores)
    result: Annotated[float, Symbolic] = np.sum(e)
    return result


@symbolic
def scaled(x: V, factor: Annotated[float, Symbolic]) -> V:
    return x * factor


@symbolic
def doubled(x: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
    reveal_type(x)  # R: Identity[float, float]  # P: float
    return x * 2.0


@symbolic
def counted(n: Annotated[int, Symbolic]) -> Annotated[float, Symbolic]:
    return n * 2.0


@symbolic
def single(x: Annotated[np.float32, Symbolic]) -> Annotated[np.float32, Symbolic]:
    return x


@symbolic
def sizes(x: Annotated[np.ndarray, Symbolic[np.float32, "batch 784"]]) -> Annotated[np.ndarray, Symbolic["batch", 10]]:
    return np.maximum(x @ Weight(he(784, 10)), 0.0)


@symbolic
def statistics(x: V) -> tuple[Annotated[float, Symbolic], Annotated[float, Symbolic]]:
    return np.sum(x), np.max(x)


@symbolic
def dense(x: V, inputs: int, outputs: int) -> V:
    return x @ Weight(he(inputs, outputs)) + Weight(np.zeros(outputs))


@symbolic
def shifted(x: V, *, by: float = 1.0) -> V:
    return x + by


@symbolic
def loss(x: V, y: V) -> Annotated[float, Symbolic]:
    h = np.maximum(dense(x, inputs=4, outputs=8), 0.0)
    logits = dense(h, inputs=8, outputs=3)
    return -np.sum(y * log_softmax(logits, axis=-1))


class Model:
    rate = 2.0

    @symbolic
    def score(self, x: V) -> Annotated[float, Symbolic]:
        return np.sum(x * self.rate)


# ------------------------------------------------------------------ the decorated names
reveal_type(total)
# R: Layer[Tape[ndarray, ndarray], Tape[float, float]]  # P: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(scaled)
# R: Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[ndarray, ndarray]]
# P: Layer[Tape[tuple[ndarray, float], tuple[ndarray, float]], Tape[ndarray, ndarray]]
reveal_type(doubled)
# R: Layer[Tape[float, float], Tape[float, float]]  # P: Layer[Tape[float, float], Tape[float, float]]
reveal_type(counted)
# R: Layer[Tape[int, float], Tape[float, float]]  # P: Layer[Tape[int, float], Tape[float, float]]
reveal_type(single)
# R: Layer[Tape[float32, float32], Tape[float32, float32]]  # P: Layer[Tape[float32, float32], Tape[float32, float32]]
reveal_type(sizes)
# R: Layer[Tape[ndarray[…, dtype[float32]], ndarray], Tape[ndarray[…], ndarray]]
# P: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
reveal_type(statistics)
# R: Layer[Tape[ndarray, ndarray], Tape[tuple[float, float], tuple[float, float]]]
# P: Layer[Tape[ndarray, ndarray], Tape[tuple[float, float], tuple[float, float]]]
reveal_type(loss)
# R: Layer[Tape[tuple[ndarray, ndarray], tuple[ndarray, ndarray]], Tape[float, float]]
# P: Layer[Tape[tuple[ndarray, ndarray], tuple[ndarray, ndarray]], Tape[float, float]]

# ------------------------------------------------------------------ the third usage, and wrong ones
predictor: Annotated[Callable[[np.ndarray], float], Symbolic] = total
two: Annotated[Callable[[np.ndarray, float], np.ndarray], Symbolic] = scaled
layer: Layer[Tape[np.ndarray, np.ndarray], Tape[float, float]] = total
my_layer: Layer[Tape[float, float], Tape[float, float]] = Times(Plus(Literal(1.0), Identity()), Weight(2.0))

# ------------------------------------------------------------------ calls
x = np.ones((3, 4))
reveal_type(total(x))  # R: float  # P: float
reveal_type(total.predict(x))  # R: float  # P: float
reveal_type(predictor(x))  # R: float  # P: float
reveal_type(scaled(x, 2.0))  # R: ndarray  # P: ndarray
reveal_type(scaled.predict(x, 2.0))  # R: ndarray  # P: ndarray
reveal_type(doubled(3.0))  # R: float  # P: float
reveal_type(statistics(x))  # R: tuple[float, float]  # P: tuple[float, float]
reveal_type(dense(x, inputs=4, outputs=2))  # R: ndarray  # P: ndarray
reveal_type(dense(inputs=4, outputs=2))
# R: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
# P: Layer[Tape[ndarray, ndarray], Tape[ndarray, ndarray]]
reveal_type(shifted(x))  # R: ndarray  # P: ndarray
reveal_type(Model().score(x))  # R: float  # P: float
reveal_type(Model().score.predict(x))  # R: float  # P: float
y = np.ones((3, 3))
reveal_type(loss.train(x, y, optimizer=SGD(0.1)))  # R: float  # P: float
step = loss.trainer(Adam(0.003))
reveal_type(step(x, y))  # R: float  # P: float
reveal_type(step.run(2, x, y))  # R: float  # P: float

# ------------------------------------------------------------------ composition, containers, derivatives
reveal_type(doubled.compose(total))
# R: Layer[Tape[ndarray, ndarray], Tape[float, float]]  # P: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(doubled(total))
# R: Layer[Tape[ndarray, ndarray], Tape[float, float]]  # P: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(Sequential(Linear(4, 8), ReLU(), total).predict(x))  # R: float  # P: float


def square(x: np.ndarray) -> float:
    value: float = np.sum(x**2)
    return value


reveal_type(grad(square)(x))  # R: ndarray  # P: ndarray
reveal_type(grad(total)(x))  # R: ndarray  # P: ndarray  # P[mypy-without-plugin]: Any
reveal_type(value_and_grad(square)(x))  # R: tuple[float, ndarray]  # P: tuple[float, ndarray]
reveal_type(hessian(square)(x))  # R: ndarray  # P: ndarray
reveal_type(vmap(grad(square))(x))  # R: ndarray  # P: ndarray
reveal_type(Weight(2.0))  # R: Weight[float, float]  # P: Weight[float, float]


class ShortToLiteral(ToLiteral[np.int16, np.float32]):
    def __call__(self, data: np.int16) -> Literal[np.int16, np.float32]:
        return Literal(data)


def check_values() -> None:
    assert total(np.zeros(3)) == 3.0 and scaled(np.ones(1), 2.0).tolist() == [2.0]
    assert type(step(x, y)) is float and dense(inputs=4, outputs=2)(x).shape == (3, 2)
    assert two(np.ones(1), 3.0).tolist() == [3.0] and my_layer.predict(3.0) == 8.0
    with layer.forward(Literal(np.zeros(2))) as tape:
        assert tape.value == 2.0
