"""W1: the value and the derivative of ((1 + x) · w)² and one update of w, on Python's floats; one call a step.

x = 1, w = 2 at first, float64. The rate is small enough that a hundred million steps do not bring w to nothing.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from benchmarks import limits
from benchmarks.forms import Training
from benchmarks.workload import Build, Goal, Inputs, Running, Size, Workload, library, ours

RATE = 1e-7
TRAINING = Training(["w"], ["x"], RATE)


def inputs(size: Size) -> Inputs:
    return {"x": 1.0, "w": 2.0}


def symbolic(w: Any) -> Any:
    from symbolic import Symbolic, symbolic

    @symbolic
    def loss(x: Annotated[float, Symbolic]) -> float:
        return ((1.0 + x) * w) ** 2

    return loss


def loss(w: Any, x: Any) -> Any:
    return ((1.0 + x) * w) ** 2


class Scalar:
    """A step that keeps w in a Python variable."""

    def __init__(self, step: Any, x: Any) -> None:
        self.step, self.x, self.w, self.value = step, x, 2.0, 0.0

    def loop(self, n: int) -> None:
        step, x, w, value = self.step, self.x, self.w, self.value
        for _ in range(n):
            w, value = step(w, x)
        self.w, self.value = w, value

    def results(self) -> dict[str, Any]:
        return TRAINING.named({"w": 2.0}, [self.w], self.value)


def autograd(given: Inputs) -> Running:
    both = library("autograd").value_and_grad(loss)

    def step(w: float, x: float) -> tuple[float, float]:
        value, delta = both(w, x)
        return w - RATE * delta, value

    return Scalar(step, given["x"])


def by_hand(given: Inputs) -> Running:
    def step(w: float, x: float) -> tuple[float, float]:
        factor = 1.0 + x
        product = factor * w
        return w - RATE * (2.0 * product * factor), product * product

    return Scalar(step, given["x"])


def numbers(build: Build) -> Build:
    """Python's floats as arrays without axes, which is what most libraries compute with."""
    return lambda given: build({name: np.array(one) for name, one in given.items()})


WORKLOADS = {
    "W1": Workload(
        name="W1",
        title="((1+x)·w)², value, derivative, update",
        sizes={"": {}},
        tiny={},
        inputs=inputs,
        contestants={
            **ours(TRAINING.symbolic(symbolic)),
            "jax": TRAINING.jax(lambda: loss),
            "torch": numbers(TRAINING.torch(loss)),
            "torch compile": numbers(TRAINING.torch(loss, compiled=True)),
            "pytensor": numbers(TRAINING.pytensor(loss)),
            "pytensor c": numbers(TRAINING.pytensor(loss)),
            "autograd": autograd,
            "mygrad": numbers(TRAINING.mygrad(loss)),
            "numpy": by_hand,
            "limit": limits.call(),
        },
        goals=(Goal("≥ 30×", least=30.0), Goal("NumPy alone ahead of JAX", of="symbolic numpy", against="jax")),
    )
}
