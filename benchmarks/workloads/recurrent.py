"""W5: one step of a recurrent network: 200 steps of tanh(x·W + h·U + b), 64 wide, batch 16, float32, by SGD.

The loss is the mean square of what the last state predicts. Growth: with the number of steps.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from benchmarks import limits
from benchmarks.forms import Formula, Training
from benchmarks.workload import Goal, Inputs, Size, Workload, library, ours

WEIGHTS = ("W", "U", "b", "V")
TRAINING = Training(WEIGHTS, ["xs", "target"], rate=0.05)


def inputs(size: Size) -> Inputs:
    random = np.random.default_rng(5)
    steps, batch, width = size["steps"], size["batch"], size["width"]
    given = {
        "xs": random.normal(size=(steps, batch, width)),
        "target": random.normal(size=(batch, 1)),
        "W": random.normal(size=(width, width)) / np.sqrt(width),
        "U": random.normal(size=(width, width)) / np.sqrt(width),
        "b": np.zeros(width),
        "V": random.normal(size=(width, 1)) / np.sqrt(width),
    }
    return {name: one.astype(np.float32) for name, one in given.items()}


def symbolic(W: Any, U: Any, b: Any, V: Any) -> Any:
    from symbolic import Symbolic, symbolic

    @symbolic
    def loss(
        xs: Annotated[np.ndarray, Symbolic[np.float32, "steps batch width"]],
        target: Annotated[np.ndarray, Symbolic[np.float32, "batch 1"]],
    ) -> float:
        h = np.zeros(xs.shape[1:], np.float32)
        for x in xs:
            h = np.tanh(x @ W + h @ U + b)
        return np.mean((h @ V - target) ** 2)

    return loss


def loop(np: Any) -> Formula:
    """A Python loop, in the words of a library that has NumPy's."""

    def loss(W: Any, U: Any, b: Any, V: Any, xs: Any, target: Any) -> Any:
        h = np.zeros(xs.shape[1:], xs.dtype)
        for k in range(xs.shape[0]):
            h = np.tanh(np.matmul(xs[k], W) + np.matmul(h, U) + b)
        return np.mean((np.matmul(h, V) - target) ** 2)

    return loss


def with_scan() -> Formula:
    """JAX: the loop is one operation, and the products with the inputs are one product before it."""
    jax = library("jax")

    def loss(W: Any, U: Any, b: Any, V: Any, xs: Any, target: Any) -> Any:
        def one(h: Any, x: Any) -> Any:
            return jax.numpy.tanh(x + h @ U), None

        h, _ = jax.lax.scan(one, jax.numpy.zeros(xs.shape[1:], xs.dtype), xs @ W + b)
        return jax.numpy.mean((h @ V - target) ** 2)

    return loss


def with_torch(W: Any, U: Any, b: Any, V: Any, xs: Any, target: Any) -> Any:
    torch = library("torch")
    h = torch.zeros(xs.shape[1:], dtype=xs.dtype)
    for x in (xs @ W + b).unbind():
        h = torch.tanh(torch.addmm(x, h, U))
    return ((h @ V - target) ** 2).mean()


def with_pytensor(W: Any, U: Any, b: Any, V: Any, xs: Any, target: Any) -> Any:
    pytensor, pt = library("pytensor"), library("pytensor.tensor")
    start = pt.zeros(xs.type.shape[1:], dtype="float32")
    states = pytensor.scan(
        lambda x, h, U: pt.tanh(x + pt.dot(h, U)),
        sequences=[pt.dot(xs, W) + b],
        outputs_info=[start],
        non_sequences=[U],
        strict=True,
        return_updates=False,
    )
    return pt.mean((pt.dot(states[-1], V) - target) ** 2)


def by_hand(weights: list[Any], rate: float) -> Formula:
    W, U, b, V = weights

    def step(xs: Any, target: Any) -> Any:
        states = np.empty((len(xs) + 1, *xs.shape[1:]), xs.dtype)
        states[0] = 0
        driven = xs @ W + b
        for k in range(len(xs)):
            np.matmul(states[k], U, out=states[k + 1])
            states[k + 1] += driven[k]
            np.tanh(states[k + 1], out=states[k + 1])
        error = states[-1] @ V - target
        value, outer = np.mean(error**2), error * np.float32(2 / error.size)
        back, deltas = outer @ V.T, np.empty_like(driven)
        slopes = 1 - states[1:] ** 2
        for k in range(len(xs) - 1, -1, -1):
            np.multiply(back, slopes[k], out=deltas[k])
            back = deltas[k] @ U.T
        flat, width = deltas.reshape(-1, deltas.shape[-1]), deltas.shape[-1]
        np.subtract(V, rate * (states[-1].T @ outer), out=V)
        np.subtract(U, rate * (states[:-1].reshape(-1, width).T @ flat), out=U)
        np.subtract(W, rate * (xs.reshape(-1, xs.shape[-1]).T @ flat), out=W)
        np.subtract(b, rate * flat.sum(axis=0), out=b)
        return value

    return step


def operations(given: Inputs) -> float:
    steps, batch, width = map(int, given["xs"].shape)
    return 2.0 * steps * batch * width * width * (2 + 1 + 2)  # both products, back through U, both weights


WORKLOADS = {
    "W5": Workload(
        name="W5",
        title="recurrent network, 200 steps, SGD step",
        sizes={f"{n} steps": {"steps": n, "batch": 16, "width": 64} for n in (200, 50, 800)},
        tiny={"steps": 4, "batch": 2, "width": 3},
        inputs=inputs,
        contestants={
            **ours(TRAINING.symbolic(symbolic)),
            "jax": TRAINING.jax(with_scan),
            "jax unrolled": TRAINING.jax(lambda: loop(library("jax.numpy"))),
            "torch": TRAINING.torch(with_torch),
            "torch compile": TRAINING.torch(with_torch, compiled=True),
            "pytensor": TRAINING.pytensor(with_pytensor),
            "autograd": TRAINING.autograd(lambda: loop(library("autograd.numpy"))),
            "mygrad": TRAINING.mygrad(lambda *given: loop(library("mygrad"))(*given)),
            "numpy": TRAINING.numpy(by_hand),
            "limit": limits.flops(operations),
        },
        tolerance=1e-4,  # float32, through 200 steps
        goals=(Goal("≥ 2×", least=2.0), Goal("NumPy alone ahead of JAX", of="symbolic numpy", against="jax")),
    )
}
