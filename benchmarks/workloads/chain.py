"""W7: value and gradient of a chain of n elementwise operations on 64 numbers, float64: the first call, then the next.

Nine cheap operations out of ten (products, sums, absolute values), and a tanh. Every one of them brings numbers closer
together, so that rounding does not grow along the chain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.forms import Formula, Gradients
from benchmarks.workload import Build, Goal, Inputs, Running, Size, Workload, library, ours

GRADIENTS = Gradients(["x", "a", "b"], by=["x"])


def inputs(size: Size) -> Inputs:
    random = np.random.default_rng(7)
    x, a, b = (random.uniform(low, high, 64) for low, high in ((0.5, 1.5), (0.97, 1.0), (0.0, 0.05)))
    return {"x": x, "a": a, "b": b, "n": size["n"]}


def symbolic(n: int) -> Any:
    from symbolic import symbolic

    return symbolic(chain(n, np), np.ndarray, np.ndarray, np.ndarray, returns=float)


def chain(n: int, np: Any) -> Formula:
    def total(x: Any, a: Any, b: Any) -> Any:
        for k in range(n):
            if k % 10 == 9:
                x = np.tanh(x)
            elif k % 3 == 0:
                x = x * a
            elif k % 3 == 1:
                x = x - b
            else:
                x = np.abs(x)
        return np.sum(x)

    return total


def form(name: str, vocabulary: str, *rest: Any) -> Build:
    def build(given: Inputs) -> Running:
        formula = chain(given["n"], library(vocabulary))
        made: Running = getattr(GRADIENTS, name)(formula if name in PLAIN else lambda: formula, *rest)(given)
        return made

    return build


PLAIN = ("torch", "mygrad", "pytensor")


def by_hand(given: Inputs) -> Running:
    n = given["n"]

    def both(x: Any, a: Any, b: Any) -> Any:
        slopes = []
        for k in range(n):
            if k % 10 == 9:
                x = np.tanh(x)
                slopes.append(1 - x * x)
            elif k % 3 == 0:
                x = x * a
                slopes.append(a)
            elif k % 3 == 1:
                x = x - b
            else:
                slopes.append(np.sign(x))
                x = np.abs(x)
        delta = np.ones_like(x)
        for slope in reversed(slopes):
            delta *= slope
        return np.sum(x), [delta]

    return GRADIENTS.numpy(both)(given)


WORKLOADS = {
    "W7": Workload(
        name="W7",
        title="chain of 1000 operations on 64 numbers",
        sizes={f"n = {n}": {"n": n} for n in (1000, 10, 100, 10000)},
        tiny={"n": 23},
        inputs=inputs,
        contestants={
            **ours(lambda given: GRADIENTS.symbolic(lambda: symbolic(given["n"]))(given)),
            "jax": form("jax", "jax.numpy"),
            "torch": form("torch", "torch"),
            "torch compile": form("torch", "torch", True),
            "pytensor": form("pytensor", "pytensor.tensor"),
            "autograd": form("autograd", "autograd.numpy"),
            "mygrad": form("mygrad", "mygrad"),
            "numpy": by_hand,
        },
        goals=(
            Goal("≥ 5× in run time", least=5.0),
            Goal("≥ 100× to the first result", measure="first", against="compilers", least=100.0),
        ),
    )
}
