"""Layers that do not fit together are found before the program runs, in one short sentence."""

# run: no

from typing import Annotated

import numpy as np

from symbolic import Graph, Linear, ReLU, Sequential, Symbolic, symbolic

V = Annotated[np.ndarray, Symbolic]
F = Annotated[float, Symbolic]


@symbolic
def total(x: V) -> F:
    return np.sum(x)


@symbolic
def doubled(x: F) -> F:
    return x * 2.0


@symbolic
def to_ten(x: Annotated[np.ndarray, Symbolic["batch 784"]]) -> Annotated[np.ndarray, Symbolic["batch 10"]]:
    return x @ np.ones((784, 10))


@symbolic
def of_eleven(x: Annotated[np.ndarray, Symbolic["batch 11"]]) -> Annotated[np.ndarray, Symbolic["batch"]]:
    return np.sum(x, axis=-1)


Sequential(doubled, total)  # E: Layer[ndarray → float]  [symbolic]
Sequential(total, Linear(4, 8))  # E: float  [symbolic]
Sequential(Linear(4, 8), total, ReLU(), total)  # E: float  [symbolic]
Sequential(total, doubled, doubled, total)  # E: Layer[ndarray → float]  [symbolic]
Sequential(Sequential(Linear(4, 8), total), Linear(8, 2))  # E: float  [symbolic]
Sequential(to_ten, of_eleven)  # E: Layer[ndarray[batch, 11] → ndarray[batch]]  [symbolic|symbolic-shape]
Sequential([total, doubled])  # E:  [symbolic|arg-type|call-overload]
Sequential(np.tanh)  # E:  [symbolic|arg-type|call-overload]
Sequential(ReLU)  # E:  [symbolic|arg-type|call-overload]
Sequential(total, doubled)
Sequential(Linear(4, 8), ReLU(), Linear(8, 2), total, doubled)
Linear("4", 8)  # E:  [arg-type]
Linear(4)  # E:  [call-arg]
Graph([total], [doubled])  # E:8:  [symbolic|list-item|arg-type]  # E:17:  [symbolic|list-item|arg-type]
Sequential(Linear(4, 8), doubled)  # E:1: is given ndarray[..., 8]: its input is ndarray[..., 8] where float is  [symbolic]
