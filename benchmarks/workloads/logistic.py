"""W2: one step of logistic regression, loss, gradient and update by SGD: 32 rows of 64 features, float64."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from benchmarks import limits
from benchmarks.forms import Formula, Training, speaking
from benchmarks.workload import Build, Goal, Inputs, Size, Workload, library, ours

TRAINING = Training(["w", "b"], ["x", "y"], rate=0.1)


def inputs(size: Size) -> Inputs:
    """Labels are ±1, and by chance, so that the weights go somewhere and stay there."""
    random = np.random.default_rng(1)
    rows, features = size["rows"], size["features"]
    return {
        "x": random.normal(size=(rows, features)) * 0.3,
        "y": np.sign(random.normal(size=rows)),
        "w": random.normal(size=features) * 0.1,
        "b": np.zeros(1),
    }


def symbolic(w: Any, b: Any) -> Any:
    from symbolic import Symbolic, symbolic

    @symbolic
    def loss(x: Annotated[np.ndarray, Symbolic["rows features"]], y: Annotated[np.ndarray, Symbolic["rows"]]) -> float:
        return np.mean(np.logaddexp(0.0, -y * (x @ w + b)))

    return loss


def loss(w: Any, b: Any, x: Any, y: Any) -> Any:
    return np.mean(np.logaddexp(0.0, -y * (x @ w + b)))


def with_jax() -> Formula:
    return speaking(loss, library("jax.numpy"))


def with_autograd() -> Formula:
    return speaking(loss, library("autograd.numpy"))


def with_mygrad(w: Any, b: Any, x: Any, y: Any) -> Any:
    mygrad = library("mygrad")
    return mygrad.mean(mygrad.logaddexp(0.0, -y * (mygrad.matmul(x, w) + b)))


def with_torch(w: Any, b: Any, x: Any, y: Any) -> Any:
    return library("torch").nn.functional.softplus(-y * (x @ w + b)).mean()


def with_pytensor(w: Any, b: Any, x: Any, y: Any) -> Any:
    pt = library("pytensor.tensor")
    return pt.mean(pt.softplus(-y * (pt.dot(x, w) + b)))


def by_hand(weights: list[Any], rate: float) -> Formula:
    """Into arrays that are there already."""
    w, b = weights
    kept: dict[str, Any] = {}

    def step(x: Any, y: Any) -> Any:
        if not kept or len(kept["z"]) != len(x):
            kept.update(z=np.empty(len(x)), share=np.empty(len(x)), delta=np.empty_like(w))
        z, share, delta = kept["z"], kept["share"], kept["delta"]
        np.dot(x, w, out=z)
        z += b
        z *= y
        np.exp(z, out=share)
        share += 1.0
        np.negative(z, out=z)
        value = np.logaddexp(0.0, z, out=z).sum() / len(z)
        np.divide(y, share, out=share)
        share *= rate / len(share)
        np.dot(share, x, out=delta)
        np.add(w, delta, out=w)
        np.add(b, share.sum(), out=b)
        return value

    return step


def contestants(training: Training) -> dict[str, Build]:
    """Also for short scripts, where shapes may not be counted on."""
    return {
        **ours(training.symbolic(symbolic)),
        "jax": training.jax(with_jax),
        "torch": training.torch(with_torch),
        "torch compile": training.torch(with_torch, compiled=True),
        "pytensor": training.pytensor(with_pytensor),
        "pytensor c": training.pytensor(with_pytensor),
        "autograd": training.autograd(with_autograd),
        "mygrad": training.mygrad(with_mygrad),
        "numpy": training.numpy(by_hand),
    }


WORKLOADS = {
    "W2": Workload(
        name="W2",
        title="logistic regression, SGD step",
        sizes={
            "32×64": {"rows": 32, "features": 64},
            "1024×64": {"rows": 1024, "features": 64},
            "32×2048": {"rows": 32, "features": 2048},
        },
        tiny={"rows": 5, "features": 3},
        inputs=inputs,
        contestants={**contestants(TRAINING), "limit": limits.call()},
        goals=(
            Goal("≥ 10×", least=10.0),
            Goal("first call < 100 ms", measure="first", most=0.1),
            Goal("cached < 5 ms", measure="cached", most=0.005),
            Goal("NumPy alone ahead of JAX", of="symbolic numpy", against="jax"),
        ),
    )
}
