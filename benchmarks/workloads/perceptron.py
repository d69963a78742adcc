"""W3: one step of a perceptron 784-256-128-10 (ReLU, softmax cross-entropy), batch 128, float32: by SGD, and by Adam.

The labels are integers. Growth: with the batch, and with the depth (layers of 256 in the middle).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from benchmarks import limits
from benchmarks.forms import Formula, Training
from benchmarks.workload import Build, Goal, Inputs, Results, Running, Size, Workload, library, ours

RATES = {"SGD": 0.1, "Adam": 0.001}


def widths(size: Size) -> list[int]:
    return [size["inputs"], *[size["hidden"]] * (size["depth"] - 2), size["last"], 10]


def inputs(size: Size) -> Inputs:
    random = np.random.default_rng(3)
    given: Inputs = {
        "x": random.normal(size=(size["batch"], size["inputs"])).astype(np.float32),
        "y": random.integers(0, 10, size["batch"]),
    }
    for k, (before, after) in enumerate(pairwise(widths(size))):
        given[f"w{k}"] = (random.normal(size=(before, after)) * np.sqrt(2 / before)).astype(np.float32)
        given[f"b{k}"] = np.zeros(after, np.float32)
    return given


def names(given: Inputs) -> list[str]:
    return [name for name in given if name not in ("x", "y")]


def symbolic(*weights: Any) -> Any:
    from symbolic import Symbolic, log_softmax, symbolic

    @symbolic
    def loss(
        x: Annotated[np.ndarray, Symbolic[np.float32, "batch inputs"]],
        y: Annotated[np.ndarray, Symbolic[np.int64, "batch"]],
    ) -> float:
        h = x
        for w, b in zip(weights[:-2:2], weights[1:-2:2], strict=True):
            h = np.maximum(h @ w + b, 0)
        shares = log_softmax(h @ weights[-2] + weights[-1])
        return -np.mean(np.take_along_axis(shares, y[:, np.newaxis], axis=1))

    return loss


def with_jax() -> Formula:
    jax = library("jax")
    jnp = jax.numpy

    def loss(*given: Any) -> Any:
        *weights, x, y = given
        for w, b in zip(weights[:-2:2], weights[1:-2:2], strict=True):
            x = jax.nn.relu(x @ w + b)
        shares = jax.nn.log_softmax(x @ weights[-2] + weights[-1])
        return -jnp.mean(jnp.take_along_axis(shares, y[:, None], axis=1))

    return loss


def with_torch(*given: Any) -> Any:
    torch = library("torch")
    *weights, x, y = given
    for w, b in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        x = torch.relu(torch.addmm(b, x, w))
    return torch.nn.functional.cross_entropy(torch.addmm(weights[-1], x, weights[-2]), y)


def with_autograd() -> Formula:
    anp = library("autograd.numpy")

    def loss(*given: Any) -> Any:
        *weights, x, y = given
        for w, b in zip(weights[:-2:2], weights[1:-2:2], strict=True):
            x = anp.maximum(anp.dot(x, w) + b, 0)
        z = anp.dot(x, weights[-2]) + weights[-1]
        z = z - anp.max(z, axis=1, keepdims=True)
        shares = z - anp.log(anp.sum(anp.exp(z), axis=1, keepdims=True))
        return -anp.mean(shares[np.arange(len(y)), y])

    return loss


def with_mygrad(*given: Any) -> Any:
    mygrad, losses = library("mygrad"), library("mygrad.nnet.losses")
    *weights, x, y = given
    for w, b in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        x = mygrad.maximum(mygrad.matmul(x, w) + b, 0)
    return losses.softmax_crossentropy(mygrad.matmul(x, weights[-2]) + weights[-1], y)


def with_pytensor(*given: Any) -> Any:
    pt = library("pytensor.tensor")
    *weights, x, y = given
    for w, b in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        x = pt.maximum(pt.dot(x, w) + b, np.float32(0))
    z = pt.dot(x, weights[-2]) + weights[-1]
    z = z - pt.max(z, axis=1, keepdims=True)
    shares = z - pt.log(pt.sum(pt.exp(z), axis=1, keepdims=True))
    return -pt.mean(shares[np.arange(x.type.shape[0] or 1), y])


def by_hand(rule: str) -> Any:
    from benchmarks.forms import array_rule

    def make(weights: list[Any], rate: float) -> Formula:
        update = array_rule(rule, rate, weights)

        def step(x: Any, y: Any) -> Any:
            hidden = [x]
            for w, b in zip(weights[:-2:2], weights[1:-2:2], strict=True):
                z = hidden[-1] @ w
                z += b
                hidden.append(np.maximum(z, 0, out=z))
            z = hidden[-1] @ weights[-2]
            z += weights[-1]
            z -= z.max(axis=1, keepdims=True)
            powers = np.exp(z)
            totals = powers.sum(axis=1, keepdims=True)
            rows = np.arange(len(y))
            value = -np.mean(z[rows, y] - np.log(totals[:, 0]))
            delta = powers / totals
            delta[rows, y] -= 1
            delta /= len(y)
            return _back(hidden, delta, weights, update, value)

        return step

    return make


def _back(hidden: list[Any], delta: Any, weights: list[Any], update: Any, value: Any) -> Any:
    """The way back of the steps by hand."""
    gradients: list[Any] = []
    for k in range(len(hidden) - 1, -1, -1):
        gradients = [hidden[k].T @ delta, delta.sum(axis=0), *gradients]
        if k:
            delta = (delta @ weights[2 * k].T) * (hidden[k] > 0)
    update(gradients)
    return value


def form(rule: str, library_name: str, *arguments: Any) -> Build:
    """The weights' names are only known with the inputs: how many there are depends on the depth."""

    def build(given: Inputs) -> Running:
        training = Training(names(given), ["x", "y"], RATES[rule], rule)
        if rule == "Adam":
            training = Moved(names(given), ["x", "y"], RATES[rule], rule)
        made: Running = getattr(training, library_name)(*arguments)(given)
        return made

    return build


class Moved(Training):
    """Adam's first steps go by the gradient's sign, also where that is noise: the loss and the sums of moves count."""

    def named(self, inputs: Inputs, now: Sequence[Any], loss: Any) -> Results:
        every = super().named(inputs, now, loss)
        return {"loss": every.pop("loss"), "lengths": np.array([np.sqrt(np.sum(one**2)) for one in every.values()])}


def operations(given: Inputs) -> float:
    """Multiplications and additions in the matrix products: forward, for the weights, for what comes before."""
    shapes = [given[name].shape for name in names(given) if name.startswith("w")]
    each: list[float] = [2.0 * len(given["x"]) * rows * columns for rows, columns in shapes]
    return 3 * sum(each) - each[0]


def workload(name: str, rule: str, goals: tuple[Goal, ...]) -> Workload:
    usual = {"batch": 128, "inputs": 784, "hidden": 256, "last": 128, "depth": 3}
    grown = {f"batch {n}": {**usual, "batch": n} for n in (1, 16, 1024)} | {"depth 12": {**usual, "depth": 12}}
    return Workload(
        name=name,
        title=f"perceptron 784-256-128-10, {rule} step",
        sizes={"batch 128": usual, **(grown if rule == "SGD" else {})},
        tiny={"batch": 4, "inputs": 6, "hidden": 5, "last": 4, "depth": 3},
        inputs=inputs,
        contestants={
            **ours(form(rule, "symbolic", symbolic)),
            "jax": form(rule, "jax", with_jax),
            "torch": form(rule, "torch", with_torch),
            "torch compile": form(rule, "torch", with_torch, True),
            "pytensor": form(rule, "pytensor", with_pytensor),
            "autograd": form(rule, "autograd", with_autograd),
            "mygrad": form(rule, "mygrad", with_mygrad),
            "numpy": form(rule, "numpy", by_hand(rule)),
            "limit": limits.flops(operations),
        },
        tolerance=1e-4,  # float32: moves are small differences of weights
        threads=(1, 2),
        goals=goals,
    )


WORKLOADS = {
    "W3": workload(
        "W3",
        "SGD",
        (
            Goal("≥ 1.15×", least=1.15),
            Goal("first call < 100 ms", measure="first", most=0.1),
            Goal("cached < 5 ms", measure="cached", most=0.005),
        ),
    ),
    "W3a": workload("W3a", "Adam", (Goal("≥ 1.2×", least=1.2),)),
}
