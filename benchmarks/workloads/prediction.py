"""W8: what a perceptron 16-32-32-1 (ReLU) predicts for one row, float32; one call `net.predict(row)` a prediction."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from benchmarks import limits
from benchmarks.forms import Predictions
from benchmarks.workload import Calls, Goal, Inputs, Results, Running, Size, Workload, array, library, ours

WIDTHS = (16, 32, 32, 1)


def inputs(size: Size) -> Inputs:
    random = np.random.default_rng(8)
    given: Inputs = {"row": random.normal(size=WIDTHS[0]).astype(np.float32), "weights": []}
    for before, after in pairwise(WIDTHS):
        given["weights"].append((random.normal(size=(before, after)) * np.sqrt(2 / before)).astype(np.float32))
        given["weights"].append(random.normal(size=after).astype(np.float32) * np.float32(0.1))
    return given


def named(last: Any) -> Results:
    return {"value": array(last)}


def symbolic(given: Inputs) -> Running:
    from symbolic import Symbolic, Weight, symbolic

    w1, b1, w2, b2, w3, b3 = [Weight(one) for one in given["weights"]]

    @symbolic
    def net(row: Annotated[np.ndarray, Symbolic[np.float32, 16]]) -> np.ndarray:
        hidden = np.maximum(row @ w1 + b1, 0)
        hidden = np.maximum(hidden @ w2 + b2, 0)
        return hidden @ w3 + b3

    return Predictions(net, given["row"], named=named)


def with_jax(given: Inputs) -> Running:
    """The weights are constants of the program: it has no arguments but the row."""
    jax = library("jax")
    w1, b1, w2, b2, w3, b3 = map(jax.numpy.asarray, given["weights"])

    def net(row: Any) -> Any:
        hidden = jax.nn.relu(row @ w1 + b1)
        return jax.nn.relu(hidden @ w2 + b2) @ w3 + b3

    return Calls(jax.jit(net), jax.numpy.asarray(given["row"]), named=named, finish=jax.block_until_ready)


def torch_form(given: Inputs, compiled: bool) -> Running:
    torch = library("torch")
    w1, b1, w2, b2, w3, b3 = map(torch.tensor, given["weights"])
    w1, w2, w3 = (one.T.contiguous() for one in (w1, w2, w3))
    linear, relu = torch.nn.functional.linear, torch.relu

    def net(row: Any) -> Any:
        return linear(relu(linear(relu(linear(row, w1, b1)), w2, b2)), w3, b3)

    return Undifferentiated(torch.compile(net) if compiled else net, torch.tensor(given["row"]), named=named)


class Undifferentiated(Calls):
    """PyTorch keeps no account of what nothing is asked of later; the mode is entered once, not at every call."""

    def loop(self, n: int) -> None:
        with library("torch").inference_mode():
            super().loop(n)


def with_pytensor(given: Inputs) -> Running:
    pytensor, pt = library("pytensor"), library("pytensor.tensor")
    from benchmarks.forms import variable

    w1, b1, w2, b2, w3, b3 = map(pytensor.shared, given["weights"])
    row = variable("row", given["row"])
    zero = np.float32(0)
    hidden = pt.maximum(pt.dot(pt.maximum(pt.dot(row, w1) + b1, zero), w2) + b2, zero)
    f = pytensor.function([row], pytensor.Out(pt.dot(hidden, w3) + b3, borrow=True))
    f.trust_input = True
    return Calls(f, given["row"], named=named)


def with_autograd(given: Inputs) -> Running:
    anp = library("autograd.numpy")
    w1, b1, w2, b2, w3, b3 = given["weights"]

    def net(row: Any) -> Any:
        hidden = anp.maximum(anp.dot(row, w1) + b1, 0)
        return anp.dot(anp.maximum(anp.dot(hidden, w2) + b2, 0), w3) + b3

    return Calls(net, given["row"], named=named)


def with_mygrad(given: Inputs) -> Running:
    mygrad = library("mygrad")
    mygrad.turn_memory_guarding_off()
    w1, b1, w2, b2, w3, b3 = (mygrad.tensor(one, constant=True) for one in given["weights"])

    def net(row: Any) -> Any:
        with mygrad.no_autodiff:
            hidden = mygrad.maximum(mygrad.matmul(row, w1) + b1, 0)
            return (mygrad.matmul(mygrad.maximum(mygrad.matmul(hidden, w2) + b2, 0), w3) + b3).data

    return Calls(net, given["row"], named=named)


def by_hand(given: Inputs) -> Running:
    w1, b1, w2, b2, w3, b3 = given["weights"]
    h1, h2, out = np.empty_like(b1), np.empty_like(b2), np.empty_like(b3)
    dot, add, maximum = np.dot, np.add, np.maximum
    zero = np.float32(0)

    def net(row: Any) -> Any:
        maximum(add(dot(row, w1, h1), b1, h1), zero, out=h1)
        maximum(add(dot(h1, w2, h2), b2, h2), zero, out=h2)
        return add(dot(h2, w3, out), b3, out)

    return Calls(net, given["row"], named=named)


WORKLOADS = {
    "W8": Workload(
        name="W8",
        title="predict one row, perceptron 16-32-32-1",
        sizes={"": {}},
        tiny={},
        inputs=inputs,
        contestants={
            **ours(symbolic),
            "jax": with_jax,
            "torch": lambda given: torch_form(given, False),
            "torch compile": lambda given: torch_form(given, True),
            "pytensor": with_pytensor,
            "pytensor c": with_pytensor,
            "autograd": with_autograd,
            "mygrad": with_mygrad,
            "numpy": by_hand,
            "limit": limits.call(),
        },
        tolerance=1e-5,  # float32
        goals=(Goal("≥ 50×", least=50.0), Goal("NumPy alone ahead of JAX", of="symbolic numpy", against="jax")),
    )
}
