"""S2: gather and scatter: messages along the edges of a graph, added up at their targets, twice; value and gradient.

2,000 nodes of 16 features, 20,000 edges with a weight each, float64.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from benchmarks.forms import Formula, Gradients
from benchmarks.workload import Goal, Inputs, Size, Workload, library, ours

NAMES = ("h", "w", "source", "target")
GRADIENTS = Gradients(NAMES, by=NAMES[:2])


def inputs(size: Size) -> Inputs:
    random = np.random.default_rng(12)
    nodes, edges = size["nodes"], size["edges"]
    return {
        "h": random.normal(size=(nodes, size["features"])),
        "w": random.normal(size=edges) * 0.3,
        "source": random.integers(0, nodes, edges),
        "target": random.integers(0, nodes, edges),
    }


def symbolic() -> Any:
    from symbolic import Symbolic, symbolic

    Places = Annotated[np.ndarray, Symbolic[np.int64, "edges"]]

    @symbolic
    def energy(
        h: Annotated[np.ndarray, Symbolic["nodes features"]],
        w: Annotated[np.ndarray, Symbolic["edges"]],
        source: Places,
        target: Places,
    ) -> float:
        for _ in range(2):
            heard = np.zeros_like(h)
            np.add.at(heard, target, h[source] * w[:, np.newaxis])
            h = np.tanh(h + heard)
        return np.sum(h * h)

    return energy


def with_jax() -> Formula:
    jnp = library("jax.numpy")

    def energy(h: Any, w: Any, source: Any, target: Any) -> Any:
        for _ in range(2):
            h = jnp.tanh(h.at[target].add(h[source] * w[:, None]))
        return jnp.sum(h * h)

    return energy


def with_segments() -> Formula:
    jax = library("jax")

    def energy(h: Any, w: Any, source: Any, target: Any) -> Any:
        for _ in range(2):
            heard = jax.ops.segment_sum(h[source] * w[:, None], target, num_segments=h.shape[0])
            h = jax.numpy.tanh(h + heard)
        return jax.numpy.sum(h * h)

    return energy


def with_torch(h: Any, w: Any, source: Any, target: Any) -> Any:
    torch = library("torch")
    for _ in range(2):
        h = torch.tanh(h.index_add(0, target, h.index_select(0, source) * w[:, None]))
    return (h * h).sum()


def with_pytensor(h: Any, w: Any, source: Any, target: Any) -> Any:
    pt = library("pytensor.tensor")
    for _ in range(2):
        h = pt.tanh(pt.inc_subtensor(h[target], h[source] * w[:, None]))
    return pt.sum(h * h)


def by_hand(h: Any, w: Any, source: Any, target: Any) -> Any:
    states = [h]
    for _ in range(2):
        heard = np.zeros_like(h)
        np.add.at(heard, target, states[-1][source] * w[:, np.newaxis])
        states.append(np.tanh(states[-1] + heard))
    delta, by_w = 2 * states[-1], np.zeros_like(w)
    for before, after in ((states[1], states[2]), (states[0], states[1])):
        inner = delta * (1 - after * after)
        arrived = inner[target]
        by_w += np.einsum("ef,ef->e", arrived, before[source])
        delta = inner.copy()
        np.add.at(delta, source, arrived * w[:, np.newaxis])
    return np.sum(states[-1] ** 2), (delta, by_w)


WORKLOADS = {
    "S2": Workload(
        name="S2",
        title="messages on a graph: gather, scatter",
        sizes={"20,000 edges": {"nodes": 2000, "edges": 20000, "features": 16}},
        tiny={"nodes": 5, "edges": 9, "features": 3},
        inputs=inputs,
        contestants={
            **ours(GRADIENTS.symbolic(symbolic)),
            "jax": GRADIENTS.jax(with_jax),
            "jax segments": GRADIENTS.jax(with_segments),
            "torch": GRADIENTS.torch(with_torch),
            "torch compile": GRADIENTS.torch(with_torch, compiled=True),
            "pytensor": GRADIENTS.pytensor(with_pytensor),
            "numpy": GRADIENTS.numpy(by_hand),
        },
        skipped={"autograd": "it has no scatter", "mygrad": "it has no scatter that adds"},
        goals=(Goal("≥ 1×"),),
    )
}
