"""S6: a loop until convergence: z = tanh(W·z + b) from zero until it moves by less than 1e-10; value and gradient.

64 numbers, float64, some 30 steps: how many depends on the data, and every library differentiates the loop that ran.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from benchmarks.forms import Formula, Gradients
from benchmarks.workload import Goal, Inputs, Size, Workload, library, ours

NAMES = ("W", "b")
GRADIENTS = Gradients(NAMES, by=NAMES)
NEAR, MOST = 1e-10, 64


def inputs(size: Size) -> Inputs:
    random = np.random.default_rng(16)
    width = size["width"]
    W = random.normal(size=(width, width))
    return {"W": W * (0.6 / np.linalg.norm(W, 2)), "b": random.normal(size=width)}


def symbolic() -> Any:
    from symbolic import Symbolic, symbolic

    @symbolic
    def settled(W: Annotated[np.ndarray, Symbolic["n n"]], b: Annotated[np.ndarray, Symbolic["n"]]) -> float:
        z = np.zeros(len(b))
        moved = 1.0
        while moved > NEAR:
            new = np.tanh(W @ z + b)
            moved = np.max(np.abs(new - z))
            z = new
        return np.sum(z * z)

    return settled


def loop(np: Any) -> Formula:
    def settled(W: Any, b: Any) -> Any:
        z, moved = np.zeros(b.shape), 1.0
        while moved > NEAR:
            new = np.tanh(np.matmul(W, z) + b)
            moved = np.max(np.abs(new - z))
            z = new
        return np.sum(z * z)

    return settled


def with_jax() -> Formula:
    """Reverse mode knows no `while_loop`: as many steps as are allowed, and those behind the end change nothing."""
    jax = library("jax")
    jnp = jax.numpy

    def settled(W: Any, b: Any) -> Any:
        def one(state: Any, _: Any) -> Any:
            z, going = state
            new = jnp.where(going, jnp.tanh(W @ z + b), z)
            return (new, going & (jnp.max(jnp.abs(new - z)) > NEAR)), None

        (z, _), _ = jax.lax.scan(one, (jnp.zeros_like(b), True), length=MOST)
        return jnp.sum(z * z)

    return settled


def with_torch(W: Any, b: Any) -> Any:
    torch = library("torch")
    z, moved = torch.zeros_like(b), 1.0
    while moved > NEAR:
        new = torch.tanh(torch.addmv(b, W, z))
        with torch.no_grad():
            moved = (new - z).abs().max().item()
        z = new
    return (z * z).sum()


def with_pytensor(W: Any, b: Any) -> Any:
    """As for JAX."""
    pytensor, pt = library("pytensor"), library("pytensor.tensor")

    def one(z: Any, going: Any, W: Any, b: Any) -> Any:
        new = pt.switch(going, pt.tanh(pt.dot(W, z) + b), z)
        return new, going & (pt.max(pt.abs(new - z)) > NEAR)

    start = [pt.zeros_like(b), pt.constant(True, dtype="bool")]
    states, _ = pytensor.scan(one, outputs_info=start, non_sequences=[W, b], n_steps=MOST, return_updates=False)
    return pt.sum(states[-1] ** 2)


def by_hand(W: Any, b: Any) -> Any:
    states, moved = [np.zeros_like(b)], 1.0
    while moved > NEAR:
        states.append(np.tanh(W @ states[-1] + b))
        moved = np.max(np.abs(states[-1] - states[-2]))
    delta, inner = 2 * states[-1], np.empty((len(states) - 1, len(b)))
    for k in range(len(states) - 1, 0, -1):
        np.multiply(delta, 1 - states[k] ** 2, out=inner[k - 1])
        delta = inner[k - 1] @ W
    return np.sum(states[-1] ** 2), (inner.T @ np.array(states[:-1]), inner.sum(axis=0))


WORKLOADS = {
    "S6": Workload(
        name="S6",
        title="loop until convergence, 64 numbers",
        sizes={"64": {"width": 64}},
        tiny={"width": 4},
        inputs=inputs,
        contestants={
            **ours(GRADIENTS.symbolic(symbolic)),
            "jax": GRADIENTS.jax(with_jax),
            "torch": GRADIENTS.torch(with_torch),
            "torch compile": GRADIENTS.torch(with_torch, compiled=True),
            "pytensor": GRADIENTS.pytensor(with_pytensor),
            "autograd": GRADIENTS.autograd(lambda: loop(library("autograd.numpy"))),
            "mygrad": GRADIENTS.mygrad(lambda *given: loop(library("mygrad"))(*given)),
            "numpy": GRADIENTS.numpy(by_hand),
        },
        goals=(Goal("≥ 1×"),),
    )
}
