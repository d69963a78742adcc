"""M1: a chain of cheap operations on arrays that no cache holds: value and gradients, float64, 8 million entries.

Three arrays are read and three gradients written: the least traffic is six arrays, and what is written is first read.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from benchmarks import limits
from benchmarks.forms import Formula, Gradients, speaking
from benchmarks.workload import Goal, Inputs, Size, Workload, library, ours

NAMES = ("x", "y", "z")
GRADIENTS = Gradients(NAMES, by=NAMES)


def inputs(size: Size) -> Inputs:
    random = np.random.default_rng(9)
    return {name: random.uniform(0.5, 2.0, size["entries"]) for name in NAMES}


def symbolic() -> Any:
    from symbolic import Symbolic, symbolic

    Many = Annotated[np.ndarray, Symbolic["entries"]]

    @symbolic
    def energy(x: Many, y: Many, z: Many) -> float:
        length = np.sqrt(x * x + y * y + z * z)
        stretched = np.maximum(length - 1.5, 0.0)
        return np.sum(stretched * stretched + 0.1 * x * y - 0.2 * z)

    return energy


def energy(x: Any, y: Any, z: Any) -> Any:
    length = np.sqrt(x * x + y * y + z * z)
    stretched = np.maximum(length - 1.5, 0.0)
    return np.sum(stretched * stretched + 0.1 * x * y - 0.2 * z)


def with_jax() -> Formula:
    return speaking(energy, library("jax.numpy"))


def with_autograd() -> Formula:
    return speaking(energy, library("autograd.numpy"))


def with_torch(x: Any, y: Any, z: Any) -> Any:
    torch = library("torch")
    length = torch.sqrt(x * x + y * y + z * z)
    stretched = torch.relu(length - 1.5)
    return torch.sum(stretched * stretched + 0.1 * x * y - 0.2 * z)


def by_hand(x: Any, y: Any, z: Any) -> Any:
    length = np.sqrt(x * x + y * y + z * z)
    stretched = np.maximum(length - 1.5, 0.0)
    value = np.sum(stretched * stretched + 0.1 * x * y - 0.2 * z)
    pull = 2 * stretched / length
    return value, (pull * x + 0.1 * y, pull * y + 0.1 * x, pull * z - 0.2)


WORKLOADS = {
    "M1": Workload(
        name="M1",
        title="elementwise chain on 8e6 numbers",
        sizes={"8e6": {"entries": 8_000_000}, "1e4": {"entries": 10_000}},
        tiny={"entries": 11},
        inputs=inputs,
        contestants={
            **ours(GRADIENTS.symbolic(symbolic)),
            "jax": GRADIENTS.jax(with_jax),
            "torch": GRADIENTS.torch(with_torch),
            "torch compile": GRADIENTS.torch(with_torch, compiled=True),
            "pytensor": GRADIENTS.pytensor(lambda *given: speaking(energy, library("pytensor.tensor"))(*given)),
            "autograd": GRADIENTS.autograd(with_autograd),
            "mygrad": GRADIENTS.mygrad(lambda *given: speaking(energy, library("mygrad"))(*given)),
            "numpy": GRADIENTS.numpy(by_hand),
            "limit": limits.traffic(lambda given: 6.0 * given["x"].nbytes),
        },
        threads=(1, 2),
        goals=(Goal("≥ 1×", least=1.0),),
    )
}
