"""S5: six blocks of layer norm and softmax on 256 rows of 512, float32: value, gradients by rows, gains and shifts."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from benchmarks.forms import Formula, Gradients
from benchmarks.workload import Goal, Inputs, Size, Workload, library, ours

NAMES = ("x", "gain", "shift")
GRADIENTS = Gradients(NAMES, by=NAMES)
BLOCKS = 6


def inputs(size: Size) -> Inputs:
    random = np.random.default_rng(15)
    rows, width = size["rows"], size["width"]
    given = {
        "x": random.normal(size=(rows, width)),
        "gain": 1 + 0.1 * random.normal(size=(BLOCKS, width)),
        "shift": 0.1 * random.normal(size=(BLOCKS, width)),
    }
    return {name: one.astype(np.float32) for name, one in given.items()}


def symbolic() -> Any:
    from symbolic import Symbolic, softmax, symbolic

    Gains = Annotated[np.ndarray, Symbolic[np.float32, "blocks width"]]

    @symbolic
    def blocks(x: Annotated[np.ndarray, Symbolic[np.float32, "rows width"]], gain: Gains, shift: Gains) -> float:
        for k in range(BLOCKS):
            mean = np.mean(x, axis=-1, keepdims=True)
            variance = np.var(x, axis=-1, keepdims=True)
            normed = (x - mean) / np.sqrt(variance + 1e-5) * gain[k] + shift[k]
            x = x + normed * softmax(normed, axis=-1)
        return np.mean(x * x)

    return blocks


def formula(np: Any, softmax: Any) -> Formula:
    def blocks(x: Any, gain: Any, shift: Any) -> Any:
        for k in range(BLOCKS):
            mean = np.mean(x, axis=-1, keepdims=True)
            variance = np.var(x, axis=-1, keepdims=True)
            normed = (x - mean) / np.sqrt(variance + 1e-5) * gain[k] + shift[k]
            x = x + normed * softmax(normed)
        return np.mean(x * x)

    return blocks


def with_jax() -> Formula:
    jax = library("jax")
    return formula(jax.numpy, jax.nn.softmax)


def with_autograd() -> Formula:
    anp = library("autograd.numpy")

    def softmax(x: Any) -> Any:
        powers = anp.exp(x - anp.max(x, axis=-1, keepdims=True))
        return powers / anp.sum(powers, axis=-1, keepdims=True)

    return formula(anp, softmax)


def with_torch(x: Any, gain: Any, shift: Any) -> Any:
    """Its own layer norm and softmax, one operation each."""
    torch = library("torch")
    f = torch.nn.functional
    for k in range(BLOCKS):
        normed = f.layer_norm(x, x.shape[-1:], gain[k], shift[k], 1e-5)
        x = x + normed * torch.softmax(normed, dim=-1)
    return (x * x).mean()


def with_mygrad(*given: Any) -> Any:
    return formula(library("mygrad"), library("mygrad.nnet.activations").softmax)(*given)


def with_pytensor(x: Any, gain: Any, shift: Any) -> Any:
    pt = library("pytensor.tensor")
    one, small = np.float32(1), np.float32(1e-5)
    for k in range(BLOCKS):
        mean = pt.mean(x, axis=-1, keepdims=True, dtype="float32", acc_dtype="float32")
        centred = x - mean
        variance = pt.mean(centred * centred, axis=-1, keepdims=True, dtype="float32", acc_dtype="float32")
        normed = centred * (one / pt.sqrt(variance + small)) * gain[k] + shift[k]
        x = x + normed * pt.special.softmax(normed, axis=-1)
    return pt.mean(x * x, dtype="float32", acc_dtype="float32")


def by_hand(x: Any, gain: Any, shift: Any) -> Any:
    kept = []
    for k in range(BLOCKS):
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = 1 / np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + np.float32(1e-5))
        centred *= scale
        normed = centred * gain[k] + shift[k]
        shares = np.exp(normed - normed.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        kept.append((centred, scale, normed, shares))
        x = x + normed * shares
    delta = x * np.float32(2 / x.size)
    by_gain, by_shift = np.empty_like(gain), np.empty_like(shift)
    for k, (centred, scale, normed, shares) in reversed(list(enumerate(kept))):
        through = delta * normed
        back = delta * shares + (through - np.sum(through * shares, axis=-1, keepdims=True)) * shares
        by_shift[k], by_gain[k] = back.sum(axis=0), np.sum(back * centred, axis=0)
        back *= gain[k]
        rest = back.mean(axis=-1, keepdims=True) + centred * np.mean(back * centred, axis=-1, keepdims=True)
        delta = delta + (back - rest) * scale
    return np.mean(x * x), (delta, by_gain, by_shift)


WORKLOADS = {
    "S5": Workload(
        name="S5",
        title="layer norm and softmax, 6 blocks of 256×512",
        sizes={"256×512": {"rows": 256, "width": 512}},
        tiny={"rows": 3, "width": 5},
        inputs=inputs,
        contestants={
            **ours(GRADIENTS.symbolic(symbolic)),
            "jax": GRADIENTS.jax(with_jax),
            "torch": GRADIENTS.torch(with_torch),
            "torch compile": GRADIENTS.torch(with_torch, compiled=True),
            "pytensor": GRADIENTS.pytensor(with_pytensor),
            "autograd": GRADIENTS.autograd(with_autograd),
            "mygrad": GRADIENTS.mygrad(with_mygrad),
            "numpy": GRADIENTS.numpy(by_hand),
        },
        tolerance=5e-5,  # float32
        threads=(1, 2),
        goals=(Goal("≥ 1×"),),
    )
}
