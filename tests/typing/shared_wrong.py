"""What every checker flags, without a plugin: a wrong third usage, wrong arguments, layers that do not fit."""

# with: pyright basedpyright ty pyrefly mypy-without-plugin
# run: no

from collections.abc import Callable
from typing import Annotated

import numpy as np

from symbolic import SGD, Layer, Linear, Literal, Sequential, Symbolic, Tape, Weight, grad, symbolic

V = Annotated[np.ndarray, Symbolic]


@symbolic
def total(x: V) -> Annotated[float, Symbolic]:
    return np.sum(x)


@symbolic
def doubled(x: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
    return x * 2.0


@symbolic
def scaled(x: V, factor: Annotated[float, Symbolic]) -> V:
    return x * factor


@symbolic
def words(x: Annotated[float, Symbolic], word: Annotated[str, Symbolic]) -> Annotated[float, Symbolic]:
    return x


def square(x: float) -> float:
    return x * x


wrong_input: Annotated[Callable[[float], float], Symbolic] = total  # E:  [symbolic|assignment]  # F:
wrong_output: Annotated[Callable[[np.ndarray], np.ndarray], Symbolic] = total  # E:  [symbolic|assignment]  # F:
too_few: Annotated[Callable[[np.ndarray], np.ndarray], Symbolic] = scaled  # E:  [symbolic|assignment]  # F:
# pyrefly admits every overload of `__call__`, also one whose `self` is another layer
too_many: Annotated[Callable[[np.ndarray, float], float], Symbolic] = total  # E:  [symbolic|assignment]  # F[-pyrefly]:
other_order: Annotated[Callable[[float, np.ndarray], np.ndarray], Symbolic] = scaled  # E:  [symbolic|assignment]  # F:
layer: Layer[Tape[float, float], Tape[float, float]] = total  # E:  [symbolic|assignment]  # F:
tape: Tape[float, float] = Literal("a")  # E:  [symbolic|assignment|arg-type]  # F:
weight: Weight[str, float] = Weight(2.0)  # E:  [symbolic|assignment|arg-type]  # F:

x = np.ones(3)
total("a")  # E:  [symbolic|arg-type|call-overload]  # F:
doubled(x)  # E:  [symbolic|arg-type|call-overload]  # F:
total(x, x)  # E:  [symbolic|call-arg|call-overload]  # F:
scaled(x)  # E:  [symbolic|call-arg|call-overload]  # F:
scaled("a", 2.0)  # E:  [symbolic|arg-type|call-overload]  # F:
total.predict("a")  # E:  [symbolic|arg-type|call-overload|misc]  # F:
total.train(x, optimizer="SGD")  # E:  [symbolic|arg-type|call-overload]  # F:
text: str = total(x)  # E:  [symbolic|assignment]  # F:
more: str = total.predict(x)  # E:  [symbolic|assignment]  # F:
total.compose(doubled)  # E:  [symbolic|arg-type]  # F:
# ty finds no type for what is between the two
Sequential(total, Linear(4, 8))  # E: float  [symbolic]  # F[-ty]:
Sequential(doubled, doubled, total)  # E: Layer[ndarray → float]  [symbolic]  # F:
grad(square)(2.0, "a", 3)  # E:  [symbolic|call-arg]  # F:
SGD("fast")  # E:  [arg-type]  # F:
Linear("4", 8)  # E:  [arg-type]  # F:


@symbolic
def body(x: V) -> Annotated[float, Symbolic]:
    return "a"  # E:  [symbolic|return-value]  # F:
