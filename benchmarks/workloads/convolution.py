"""W6: one step of two convolutions 3→16→32 (3×3, ReLU), the mean over each map, a matrix to 10; batch 32 of 32×32.

Softmax cross-entropy with integer labels, SGD, float32.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from benchmarks import limits
from benchmarks.forms import Formula, Training
from benchmarks.workload import Goal, Inputs, Size, Workload, library, ours

WEIGHTS = ("k1", "b1", "k2", "b2", "w", "b")
TRAINING = Training(WEIGHTS, ["images", "labels"], rate=0.1)


def inputs(size: Size) -> Inputs:
    random = np.random.default_rng(6)
    maps, side = size["maps"], size["side"]

    def drawn(*shape: int) -> Any:
        return (random.normal(size=shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)

    return {
        "images": random.normal(size=(size["batch"], 3, side, side)).astype(np.float32),
        "labels": random.integers(0, 10, size["batch"]),
        "k1": drawn(maps, 3, 3, 3),
        "b1": np.zeros(maps, np.float32),
        "k2": drawn(2 * maps, maps, 3, 3),
        "b2": np.zeros(2 * maps, np.float32),
        "w": drawn(2 * maps, 10),
        "b": np.zeros(10, np.float32),
    }


def symbolic(k1: Any, b1: Any, k2: Any, b2: Any, w: Any, b: Any) -> Any:
    from symbolic import Symbolic, conv2d, log_softmax, symbolic

    @symbolic
    def loss(
        images: Annotated[np.ndarray, Symbolic[np.float32, "batch 3 height width"]],
        labels: Annotated[np.ndarray, Symbolic[np.int64, "batch"]],
    ) -> float:
        edges = np.maximum(conv2d(images, k1, b1, padding=1), 0)
        shapes = np.maximum(conv2d(edges, k2, b2, padding=1), 0)
        shares = log_softmax(np.mean(shapes, axis=(2, 3)) @ w + b)
        return -np.mean(np.take_along_axis(shares, labels[:, np.newaxis], axis=1))

    return loss


def with_jax() -> Formula:
    jax = library("jax")
    jnp = jax.numpy

    def convolved(x: Any, k: Any, b: Any) -> Any:
        out = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
        return jax.nn.relu(out + b[:, None, None])

    def loss(k1: Any, b1: Any, k2: Any, b2: Any, w: Any, b: Any, images: Any, labels: Any) -> Any:
        shapes = convolved(convolved(images, k1, b1), k2, b2)
        shares = jax.nn.log_softmax(jnp.mean(shapes, axis=(2, 3)) @ w + b)
        return -jnp.mean(jnp.take_along_axis(shares, labels[:, None], axis=1))

    return loss


def channels_last() -> Formula:
    """The layout that JAX's convolutions on a processor like better; the images are turned once a step."""
    jax = library("jax")
    jnp = jax.numpy

    def convolved(x: Any, k: Any, b: Any) -> Any:
        k = jnp.transpose(k, (2, 3, 1, 0))
        out = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jax.nn.relu(out + b)

    def loss(k1: Any, b1: Any, k2: Any, b2: Any, w: Any, b: Any, images: Any, labels: Any) -> Any:
        shapes = convolved(convolved(jnp.transpose(images, (0, 2, 3, 1)), k1, b1), k2, b2)
        shares = jax.nn.log_softmax(jnp.mean(shapes, axis=(1, 2)) @ w + b)
        return -jnp.mean(jnp.take_along_axis(shares, labels[:, None], axis=1))

    return loss


def with_torch(k1: Any, b1: Any, k2: Any, b2: Any, w: Any, b: Any, images: Any, labels: Any) -> Any:
    f = library("torch.nn.functional")
    edges = f.relu(f.conv2d(images, k1, b1, padding=1))
    shapes = f.relu(f.conv2d(edges, k2, b2, padding=1))
    return f.cross_entropy(shapes.mean(dim=(2, 3)) @ w + b, labels)


def with_autograd() -> Formula:
    anp, convolve = library("autograd.numpy"), library("autograd.scipy.signal").convolve

    def convolved(x: Any, k: Any, b: Any) -> Any:
        framed = anp.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), "constant")
        turned = anp.transpose(k, (1, 0, 2, 3))[:, :, ::-1, ::-1]
        out = convolve(framed, turned, axes=([2, 3], [2, 3]), dot_axes=([1], [0]), mode="valid")
        return anp.maximum(out + b[:, None, None], 0)

    def loss(k1: Any, b1: Any, k2: Any, b2: Any, w: Any, b: Any, images: Any, labels: Any) -> Any:
        shapes = convolved(convolved(images, k1, b1), k2, b2)
        z = anp.dot(anp.mean(shapes, axis=(2, 3)), w) + b
        z = z - anp.max(z, axis=1, keepdims=True)
        shares = z - anp.log(anp.sum(anp.exp(z), axis=1, keepdims=True))
        return -anp.mean(shares[np.arange(len(labels)), labels])

    return loss


def with_mygrad(k1: Any, b1: Any, k2: Any, b2: Any, w: Any, b: Any, images: Any, labels: Any) -> Any:
    mygrad, layers = library("mygrad"), library("mygrad.nnet.layers")
    losses = library("mygrad.nnet.losses")
    edges = mygrad.maximum(layers.conv_nd(images, k1, stride=1, padding=1) + b1.reshape(1, -1, 1, 1), 0)
    shapes = mygrad.maximum(layers.conv_nd(edges, k2, stride=1, padding=1) + b2.reshape(1, -1, 1, 1), 0)
    return losses.softmax_crossentropy(mygrad.matmul(mygrad.mean(shapes, axis=(2, 3)), w) + b, labels)


def operations(given: Inputs) -> float:
    pixels = int(given["images"][:, 0].size)
    first, second = (2.0 * pixels * int(given[name].size) for name in ("k1", "k2"))
    return 2 * first + 3 * second


WORKLOADS = {
    "W6": Workload(
        name="W6",
        title="two 3×3 convolutions 3→16→32, SGD step",
        sizes={f"batch {n}": {"batch": n, "side": 32, "maps": 16} for n in (32, 1, 128)},
        tiny={"batch": 2, "side": 5, "maps": 2},
        inputs=inputs,
        contestants={
            **ours(TRAINING.symbolic(symbolic)),
            "jax": TRAINING.jax(with_jax),
            "jax nhwc": TRAINING.jax(channels_last),
            "torch": TRAINING.torch(with_torch),
            "torch compile": TRAINING.torch(with_torch, compiled=True),
            "autograd": TRAINING.autograd(with_autograd),
            "mygrad": TRAINING.mygrad(with_mygrad),
            "limit": limits.flops(operations),
        },
        tolerance=1e-3,  # float32, and sums over 32,768 places: the peers differ by 2e-4
        threads=(1, 2),
        skipped={"pytensor": "it has no convolution over channels"},
        goals=(Goal("≥ 1.5×", least=1.5),),
    )
}
