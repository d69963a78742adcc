"""S4: a stencil by slices: 50 steps of the heat equation on a grid of 128 × 128, float64.

How far from a target is what comes out? The value, and its gradient by the initial heat and by the conductivity.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from benchmarks.forms import Formula, Gradients
from benchmarks.workload import Build, Goal, Inputs, Running, Size, Workload, library, ours

NAMES = ("u", "k", "target")
GRADIENTS = Gradients(NAMES, by=NAMES[:2])


def inputs(size: Size) -> Inputs:
    random = np.random.default_rng(14)
    shape = (size["side"], size["side"])
    return {
        "u": random.uniform(size=shape),
        "k": random.uniform(0.1, 0.2, (size["side"] - 2, size["side"] - 2)),
        "target": random.uniform(size=shape),
        "steps": size["steps"],
    }


def symbolic(steps: int) -> Any:
    from symbolic import Symbolic, symbolic

    @symbolic
    def misfit(
        u: Annotated[np.ndarray, Symbolic["n n"]],
        k: Annotated[np.ndarray, Symbolic["n-2 n-2"]],
        target: Annotated[np.ndarray, Symbolic["n n"]],
    ) -> float:
        u = u.copy()
        for _ in range(steps):
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            u[1:-1, 1:-1] += k * (around - 4.0 * u[1:-1, 1:-1])
        return np.sum((u - target) ** 2)

    return misfit


def padded(steps: int, np: Any) -> Formula:
    """Without assignment: the inner part is stretched by zeros again."""

    def misfit(u: Any, k: Any, target: Any) -> Any:
        for _ in range(steps):
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            u = u + np.pad(k * (around - 4.0 * u[1:-1, 1:-1]), 1, "constant")
        return np.sum((u - target) ** 2)

    return misfit


def with_jax(steps: int) -> Formula:
    jax = library("jax")

    def misfit(u: Any, k: Any, target: Any) -> Any:
        def one(u: Any, _: Any) -> Any:
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            return u.at[1:-1, 1:-1].add(k * (around - 4.0 * u[1:-1, 1:-1])), None

        u, _ = jax.lax.scan(one, u, length=steps)
        return jax.numpy.sum((u - target) ** 2)

    return misfit


def with_torch(steps: int) -> Formula:
    torch = library("torch")
    pad = torch.nn.functional.pad

    def misfit(u: Any, k: Any, target: Any) -> Any:
        for _ in range(steps):
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            u = u + pad(k * (around - 4.0 * u[1:-1, 1:-1]), (1, 1, 1, 1))
        return ((u - target) ** 2).sum()

    return misfit


def with_mygrad(steps: int) -> Formula:
    """Its tensors may be assigned to."""

    def misfit(u: Any, k: Any, target: Any) -> Any:
        u = +u
        for _ in range(steps):
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            u[1:-1, 1:-1] += k * (around - 4.0 * u[1:-1, 1:-1])
        return ((u - target) ** 2).sum()

    return misfit


def with_pytensor(steps: int) -> Formula:
    pytensor, pt = library("pytensor"), library("pytensor.tensor")

    def one(u: Any, k: Any) -> Any:
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return pt.inc_subtensor(u[1:-1, 1:-1], k * (around - 4.0 * u[1:-1, 1:-1]))

    def misfit(u: Any, k: Any, target: Any) -> Any:
        states = pytensor.scan(one, outputs_info=[u], non_sequences=[k], n_steps=steps, return_updates=False)
        return pt.sum((states[-1] - target) ** 2)

    return misfit


def by_hand(given: Inputs) -> Running:
    steps = given["steps"]

    def both(u: Any, k: Any, target: Any) -> Any:
        u, kept = u.copy(), []
        for _ in range(steps):
            curved = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * u[1:-1, 1:-1]
            kept.append(curved)
            u[1:-1, 1:-1] += k * curved
        delta, by_k = 2 * (u - target), np.zeros_like(k)
        value = np.sum((u - target) ** 2)
        for curved in reversed(kept):
            inner = delta[1:-1, 1:-1] * k
            by_k += delta[1:-1, 1:-1] * curved
            delta[:-2, 1:-1] += inner
            delta[2:, 1:-1] += inner
            delta[1:-1, :-2] += inner
            delta[1:-1, 2:] += inner
            delta[1:-1, 1:-1] -= 4.0 * inner
        return value, (delta, by_k)

    return GRADIENTS.numpy(both)(given)


def form(name: str, make: Any, *rest: Any, lazy: bool = False) -> Build:
    def build(given: Inputs) -> Running:
        formula = make(given["steps"])
        made: Running = getattr(GRADIENTS, name)((lambda: formula) if lazy else formula, *rest)(given)
        return made

    return build


WORKLOADS = {
    "S4": Workload(
        name="S4",
        title="heat equation by slices, 50 steps of 128×128",
        sizes={"128×128": {"side": 128, "steps": 50}},
        tiny={"side": 6, "steps": 3},
        inputs=inputs,
        contestants={
            **ours(lambda given: GRADIENTS.symbolic(lambda: symbolic(given["steps"]))(given)),
            "jax": form("jax", with_jax, lazy=True),
            "jax unrolled": form("jax", lambda steps: padded(steps, library("jax.numpy")), lazy=True),
            "torch": form("torch", with_torch),
            "torch compile": form("torch", with_torch, True),
            "pytensor": form("pytensor", with_pytensor),
            "autograd": form("autograd", lambda steps: padded(steps, library("autograd.numpy")), lazy=True),
            "mygrad": form("mygrad", with_mygrad),
            "numpy": by_hand,
        },
        goals=(Goal("≥ 1×"),),
    )
}
