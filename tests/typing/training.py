"""What do predicting and training take and give: native types, from end to end?"""

from collections.abc import Callable
from typing import Annotated, reveal_type

import numpy as np

from symbolic import (
    L1,
    L2,
    SGD,
    Adagrad,
    Adam,
    AdamW,
    Clip,
    CosineDecay,
    ExponentialDecay,
    Momentum,
    Nesterov,
    RMSprop,
    Symbolic,
    Weight,
    he,
    normal,
    symbolic,
    zeros,
)


@symbolic
def loss(x: Annotated[np.ndarray, Symbolic], y: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
    hidden = np.maximum(x @ Weight(he(4, 8)), 0.0)
    return np.mean((hidden @ Weight(normal(8, 1)) + Weight(zeros(1)) - y) ** 2)


@symbolic
def scaled(x: Annotated[float, Symbolic]) -> Annotated[float, Symbolic]:
    return x * Weight(2.0)


@symbolic
def both(x: Annotated[np.ndarray, Symbolic]) -> tuple[Annotated[np.ndarray, Symbolic], Annotated[float, Symbolic]]:
    return x * Weight(1.0), np.sum(x)


x, y = np.ones((3, 4)), np.ones((3, 1))
reveal_type(loss.predict(x, y))  # R: float
reveal_type(loss(x, y))  # R: float
reveal_type(loss.train(x, y, optimizer=SGD(0.1)))  # R: float
step = loss.trainer(Adam(0.003))
reveal_type(step(x, y))  # R: float
reveal_type(step.run(10, x, y))  # R: float
reveal_type(scaled.predict(3.0))  # R: float
reveal_type(scaled.trainer(SGD(0.1)).run(3, 2.0))  # R: float
reveal_type(both.predict(np.ones(2)))  # R: tuple[ndarray, float]
reveal_type(loss.weights())  # R: dict[str, Weight[Any, Any]]

for optimizer in (
    SGD(0.1, L2(0.5), Clip(1.0)),
    Momentum(0.1, momentum=0.8),
    Nesterov(0.1),
    Adagrad(0.1, L1(0.1)),
    RMSprop(CosineDecay(0.1, 100)),
    AdamW(weight_decay=0.1),
):
    loss.train(x, y, optimizer=optimizer)
reveal_type(SGD(ExponentialDecay(0.1, 0.99)))  # R: SGD
reveal_type(he(4, 8))  # R: ndarray…

with scaled.timing():
    scaled.predict(2.0)
for layer, forward, backward in scaled.times():
    reveal_type(layer)  # R: str
    reveal_type(forward + backward)  # R: float


def fitted(
    net: Annotated[Callable[[np.ndarray, np.ndarray], float], Symbolic], rounds: int
) -> Annotated[Callable[[np.ndarray, np.ndarray], float], Symbolic]:
    step = net.trainer(SGD(0.01))
    losses = [step(x, y) for _ in range(rounds)]
    reveal_type(losses)  # R: list[float]
    reveal_type(min(losses))  # R: float
    return net


with SGD(0.1):
    reveal_type(scaled.train(1.0))  # R: float
reveal_type(fitted(loss, 2).predict(x, y))  # R: float


def check_values() -> None:
    assert type(loss.predict(x, y)) is float and type(step.run(2, x, y)) is float
    assert list(map(type, both.predict(np.ones(2)))) == [np.ndarray, float]
    assert len(loss.weights()) == 3
