"""S3: causal attention: 8 heads, 128 tokens, 32 wide, float32, the softmax written out; value and three gradients."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from benchmarks import limits
from benchmarks.forms import Formula, Gradients, speaking
from benchmarks.workload import Goal, Inputs, Size, Workload, library, ours

NAMES = ("q", "k", "v", "mask")
GRADIENTS = Gradients(NAMES, by=NAMES[:3])


def inputs(size: Size) -> Inputs:
    random = np.random.default_rng(13)
    shape = (size["heads"], size["tokens"], size["width"])
    given = {name: random.normal(size=shape).astype(np.float32) for name in NAMES[:3]}
    return {**given, "mask": np.tril(np.ones((size["tokens"], size["tokens"]), np.bool_))}


def symbolic() -> Any:
    from symbolic import Symbolic, symbolic

    Heads = Annotated[np.ndarray, Symbolic[np.float32, "heads tokens width"]]

    @symbolic
    def attention(
        q: Heads, k: Heads, v: Heads, mask: Annotated[np.ndarray, Symbolic[np.bool_, "tokens tokens"]]
    ) -> float:
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(np.float32(q.shape[-1]))
        scores = np.where(mask, scores, np.float32(-1e9))
        powers = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        mixed = powers / np.sum(powers, axis=-1, keepdims=True) @ v
        return np.mean(mixed * mixed)

    return attention


def attention(q: Any, k: Any, v: Any, mask: Any) -> Any:
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(np.float32(q.shape[-1]))
    scores = np.where(mask, scores, np.float32(-1e9))
    powers = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    mixed = np.matmul(powers / np.sum(powers, axis=-1, keepdims=True), v)
    return np.mean(mixed * mixed)


def with_jax() -> Formula:
    """Its own softmax, whose gradient is a rule."""
    jax = library("jax")

    def attended(q: Any, k: Any, v: Any, mask: Any) -> Any:
        scores = jax.numpy.matmul(q, jax.numpy.swapaxes(k, -1, -2)) / np.float32(np.sqrt(q.shape[-1]))
        mixed = jax.numpy.matmul(jax.nn.softmax(jax.numpy.where(mask, scores, np.float32(-1e9)), axis=-1), v)
        return jax.numpy.mean(mixed * mixed)

    return attended


def with_autograd() -> Formula:
    return speaking(attention, library("autograd.numpy"))


def with_torch(q: Any, k: Any, v: Any, mask: Any) -> Any:
    """Its own attention in one operation."""
    mixed = library("torch").nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return (mixed * mixed).mean()


def with_torch_plain(q: Any, k: Any, v: Any, mask: Any) -> Any:
    torch = library("torch")
    scores = (q @ k.transpose(-1, -2)) * q.shape[-1] ** -0.5
    mixed = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) @ v
    return (mixed * mixed).mean()


def with_mygrad(q: Any, k: Any, v: Any, mask: Any) -> Any:
    mygrad = library("mygrad")
    scores = mygrad.matmul(q, mygrad.swapaxes(k, -1, -2)) / np.sqrt(np.float32(q.shape[-1]))
    shares = library("mygrad.nnet.activations").softmax(mygrad.where(mask, scores, np.float32(-1e9)), axis=-1)
    mixed = mygrad.matmul(shares, v)
    return mygrad.mean(mixed * mixed)


def with_pytensor(q: Any, k: Any, v: Any, mask: Any) -> Any:
    pt = library("pytensor.tensor")
    scores = pt.matmul(q, pt.swapaxes(k, -1, -2)) * np.float32(q.type.shape[-1] ** -0.5)
    shares = pt.special.softmax(pt.where(mask, scores, np.float32(-1e9)), axis=-1)
    mixed = pt.matmul(shares, v)
    return pt.mean(mixed * mixed)


def by_hand(q: Any, k: Any, v: Any, mask: Any) -> Any:
    scale = np.float32(q.shape[-1] ** -0.5)
    scores = np.where(mask, q @ k.swapaxes(-1, -2) * scale, np.float32(-1e9))
    scores -= scores.max(axis=-1, keepdims=True)
    shares = np.exp(scores, out=scores)
    shares /= shares.sum(axis=-1, keepdims=True)
    mixed = shares @ v
    delta = mixed * np.float32(2 / mixed.size)
    back = delta @ v.swapaxes(-1, -2)
    back = (back - np.sum(back * shares, axis=-1, keepdims=True)) * shares * scale
    return np.mean(mixed * mixed), (back @ k, back.swapaxes(-1, -2) @ q, shares.swapaxes(-1, -2) @ delta)


def operations(given: Inputs) -> float:
    heads, tokens, width = map(int, given["q"].shape)
    return 2.0 * heads * tokens * tokens * width * 6


WORKLOADS = {
    "S3": Workload(
        name="S3",
        title="causal attention, 8 heads of 128×32",
        sizes={f"{n} tokens": {"heads": 8, "tokens": n, "width": 32} for n in (128, 16, 512)},
        tiny={"heads": 2, "tokens": 4, "width": 3},
        inputs=inputs,
        contestants={
            **ours(GRADIENTS.symbolic(symbolic)),
            "jax": GRADIENTS.jax(with_jax),
            "torch": GRADIENTS.torch(with_torch_plain),
            "torch sdpa": GRADIENTS.torch(with_torch),
            "torch compile": GRADIENTS.torch(with_torch_plain, compiled=True),
            "pytensor": GRADIENTS.pytensor(with_pytensor),
            "autograd": GRADIENTS.autograd(with_autograd),
            "mygrad": GRADIENTS.mygrad(with_mygrad),
            "numpy": GRADIENTS.numpy(by_hand),
            "limit": limits.flops(operations),
        },
        tolerance=2e-5,  # float32
        threads=(1, 2),
        goals=(Goal("≥ 1×"),),
    )
}
