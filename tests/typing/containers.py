"""Which types have layers that are put together: in a row, side by side, as a graph?"""

from typing import Annotated, reveal_type

import numpy as np

from symbolic import (
    AddTable,
    ConcatTable,
    Graph,
    Linear,
    ParallelTable,
    ReLU,
    Sequential,
    Symbolic,
    symbolic,
)

V = Annotated[np.ndarray, Symbolic]
F = Annotated[float, Symbolic]


@symbolic
def squared(x: V) -> V:
    return x**2


@symbolic
def total(x: V) -> F:
    return np.sum(x)


@symbolic
def doubled(x: F) -> F:
    return x * 2.0


@symbolic
def statistics(x: V) -> tuple[F, F]:
    return np.sum(x), np.mean(x)


@symbolic
def ratio(x: F, y: F) -> F:
    return x / y


@symbolic
def dense(x: V, inputs: int, outputs: int) -> V:
    return x @ np.ones((inputs, outputs))


reveal_type(Linear(4, 8).predict(np.ones((3, 4))))  # R: ndarray
reveal_type(Sequential(squared, total))  # R: Sequential[Tape[ndarray, ndarray], Tape[float, float]]
row = Sequential(squared, total, doubled)
reveal_type(row.predict(np.ones(3)))  # R: float
reveal_type(row(np.ones(3)))  # R: float
reveal_type(Sequential(Linear(4, 8), ReLU(), Linear(8, 2)).predict(np.ones((3, 4))))  # R: ndarray
reveal_type(Sequential(Linear(4, 8), ReLU(), total).predict(np.ones((3, 4))))  # R: float
reveal_type(Sequential(dense(inputs=4, outputs=2), total)(np.ones((3, 4))))  # R: float
reveal_type(Sequential(Sequential(squared, squared), total).predict(np.ones(3)))  # R: float
reveal_type(Sequential(statistics, ratio).predict(np.ones(3)))  # R: float
reveal_type(Sequential().add(squared).add(total).predict(np.ones(3)))  # R: float

reveal_type(total.compose(squared))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(doubled.compose(total).compose(squared))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(ratio.compose(statistics))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(total(squared))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(ratio(total, doubled(total)))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]
reveal_type(doubled.compose(total).predict(np.ones(3)))  # R: float
reveal_type(total.on_output(print))  # R: Layer[Tape[ndarray, ndarray], Tape[float, float]]

linear1 = Linear(4, 8).inputs()
relu1 = ReLU().inputs(linear1)
linear2 = Linear(8, 8).inputs(relu1)
relu2 = ReLU().inputs(linear2)
linear3 = Linear(8, 8).inputs(relu1)
model = Graph([linear1], [AddTable().inputs(relu2, linear3)])
branches = Sequential().add(Linear(4, 8)).add(ConcatTable().add(ReLU()).add(Linear(8, 8))).add(AddTable())
pairs = Sequential(ParallelTable(Linear(4, 8), Linear(4, 8)), AddTable())
reveal_type(linear1)  # R: Node…
reveal_type(model)  # R: Graph…


def check_values() -> None:
    x = np.ones((3, 4))
    assert row.predict(np.ones(3)) == 6.0 and ratio.compose(statistics).predict(np.ones(3)) == 3.0
    assert model.predict(x).shape == branches.predict(x).shape == pairs.predict(x, x).shape == (3, 8)
    assert ratio(total, doubled(total)).predict(np.ones(3)) == 0.5
