"""S1: small linear algebra in a long loop: 200 measurements under a Kalman filter: their log-likelihood, its gradient.

Four states, two measurements, float64; by the transition, its noise, the measurement's noise (logarithms of variances).
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from benchmarks.forms import Formula, Gradients
from benchmarks.workload import Goal, Inputs, Size, Workload, library, ours

NAMES = ("F", "q", "r", "H", "ys")
GRADIENTS = Gradients(NAMES, by=NAMES[:3])


def inputs(size: Size) -> Inputs:
    random = np.random.default_rng(11)
    F = np.eye(4) * 0.95 + np.diag([0.1, 0.1], 2)
    H = np.eye(2, 4)
    ys = np.cumsum(random.normal(size=(size["steps"], 2)), axis=0) * 0.3
    return {"F": F, "q": np.full(4, -2.0), "r": np.full(2, -1.0), "H": H, "ys": ys}


def symbolic() -> Any:
    from symbolic import Symbolic, symbolic

    @symbolic
    def likelihood(
        F: Annotated[np.ndarray, Symbolic["s s"]],
        q: Annotated[np.ndarray, Symbolic["s"]],
        r: Annotated[np.ndarray, Symbolic["m"]],
        H: Annotated[np.ndarray, Symbolic["m s"]],
        ys: Annotated[np.ndarray, Symbolic["steps m"]],
    ) -> float:
        mean, cov = np.zeros(len(q)), np.eye(len(q))
        Q, R = np.diag(np.exp(q)), np.diag(np.exp(r))
        total = 0.0
        for y in ys:
            mean, cov = F @ mean, F @ cov @ F.T + Q
            surprise = y - H @ mean
            S = H @ cov @ H.T + R
            gain = np.linalg.solve(S, H @ cov).T
            total = total - 0.5 * (surprise @ np.linalg.solve(S, surprise) + np.linalg.slogdet(S)[1])
            mean, cov = mean + gain @ surprise, cov - gain @ H @ cov
        return total

    return likelihood


def loop(np: Any) -> Formula:
    def likelihood(F: Any, q: Any, r: Any, H: Any, ys: Any) -> Any:
        mean, cov = np.zeros(4), np.eye(4)
        Q, R = np.diag(np.exp(q)), np.diag(np.exp(r))
        total = 0.0
        for y in ys:
            mean, cov, gained = step(np, F, Q, R, H, mean, cov, y)
            total = total + gained
        return total

    return likelihood


def step(np: Any, F: Any, Q: Any, R: Any, H: Any, mean: Any, cov: Any, y: Any) -> Any:
    """One measurement: what the filter knows then, and what it adds to the log-likelihood."""
    mean, cov = np.dot(F, mean), np.dot(np.dot(F, cov), F.T) + Q
    surprise = y - np.dot(H, mean)
    S = np.dot(np.dot(H, cov), H.T) + R
    gain = np.linalg.solve(S, np.dot(H, cov)).T
    gained = -0.5 * (np.dot(surprise, np.linalg.solve(S, surprise)) + np.linalg.slogdet(S)[1])
    return mean + np.dot(gain, surprise), cov - np.dot(np.dot(gain, H), cov), gained


def with_scan() -> Formula:
    jax = library("jax")
    jnp = jax.numpy

    def likelihood(F: Any, q: Any, r: Any, H: Any, ys: Any) -> Any:
        Q, R = jnp.diag(jnp.exp(q)), jnp.diag(jnp.exp(r))

        def one(state: Any, y: Any) -> Any:
            mean, cov, gained = step(jnp, F, Q, R, H, state[0], state[1], y)
            return (mean, cov), gained

        return jnp.sum(jax.lax.scan(one, (jnp.zeros(4), jnp.eye(4)), ys)[1])

    return likelihood


def with_torch(F: Any, q: Any, r: Any, H: Any, ys: Any) -> Any:
    torch = library("torch")
    mean, cov = torch.zeros(4, dtype=F.dtype), torch.eye(4, dtype=F.dtype)
    Q, R = torch.diag(torch.exp(q)), torch.diag(torch.exp(r))
    total = torch.zeros((), dtype=F.dtype)
    for y in ys.unbind():
        mean, cov = F @ mean, F @ cov @ F.T + Q
        surprise = y - H @ mean
        S = H @ cov @ H.T + R
        gain = torch.linalg.solve(S, H @ cov).T
        total = total - 0.5 * (surprise @ torch.linalg.solve(S, surprise) + torch.linalg.slogdet(S)[1])
        mean, cov = mean + gain @ surprise, cov - gain @ H @ cov
    return total


def with_pytensor(F: Any, q: Any, r: Any, H: Any, ys: Any) -> Any:
    pytensor, pt = library("pytensor"), library("pytensor.tensor")
    Q, R = pt.diag(pt.exp(q)), pt.diag(pt.exp(r))

    def one(y: Any, mean: Any, cov: Any, F: Any, Q: Any, R: Any, H: Any) -> Any:
        mean, cov = pt.dot(F, mean), pt.dot(pt.dot(F, cov), F.T) + Q
        surprise = y - pt.dot(H, mean)
        S = pt.dot(pt.dot(H, cov), H.T) + R
        gain = pt.linalg.solve(S, pt.dot(H, cov)).T
        gained = -0.5 * (pt.dot(surprise, pt.linalg.solve(S, surprise)) + pt.linalg.slogdet(S)[1])
        return mean + pt.dot(gain, surprise), cov - pt.dot(pt.dot(gain, H), cov), gained

    start = [pt.zeros(4, dtype="float64"), pt.eye(4, dtype="float64"), None]
    found = pytensor.scan(one, sequences=[ys], outputs_info=start, non_sequences=[F, Q, R, H], return_updates=False)
    return pt.sum(found[2])


WORKLOADS = {
    "S1": Workload(
        name="S1",
        title="Kalman filter, 200 steps of 4×4, gradient",
        sizes={f"{n} steps": {"steps": n} for n in (200, 50)},
        tiny={"steps": 5},
        inputs=inputs,
        contestants={
            **ours(GRADIENTS.symbolic(symbolic)),
            "jax": GRADIENTS.jax(with_scan),
            "torch": GRADIENTS.torch(with_torch),
            "torch compile": GRADIENTS.torch(with_torch, compiled=True),
            "pytensor": GRADIENTS.pytensor(with_pytensor),
            "autograd": GRADIENTS.autograd(lambda: loop(library("autograd.numpy"))),
        },
        tolerance=1e-9,  # the filter carries rounding through 200 inverses
        skipped={"mygrad": "it has no linear algebra"},
        goals=(Goal("≥ 1×"),),
    )
}
