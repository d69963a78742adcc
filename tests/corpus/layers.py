"""Correct programs: layers of networks, with the shapes and dtypes of all that goes in and comes out."""

from typing import Annotated

import numpy as np

from symbolic import Symbolic, softmax, symbolic

Batch = Annotated[np.ndarray, Symbolic[np.float32, "batch features"]]


@symbolic
def dense(
    x: Batch,
    w: Annotated[np.ndarray, Symbolic[np.float32, "features outputs"]],
    b: Annotated[np.ndarray, Symbolic[np.float32, "outputs"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "batch outputs"]]:
    return x @ w + b


@symbolic
def dense_of_rows(
    x: Batch,
    w: Annotated[np.ndarray, Symbolic[np.float32, "outputs features"]],
    b: Annotated[np.ndarray, Symbolic[np.float32, "outputs"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "batch outputs"]]:
    return np.dot(x, w.T) + b


@symbolic
def two_layers(
    x: Batch,
    w1: Annotated[np.ndarray, Symbolic[np.float32, "features hidden"]],
    b1: Annotated[np.ndarray, Symbolic[np.float32, "hidden"]],
    w2: Annotated[np.ndarray, Symbolic[np.float32, "hidden 10"]],
    b2: Annotated[np.ndarray, Symbolic[np.float32, "10"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "batch 10"]]:
    h = np.maximum(x @ w1 + b1, 0.0)
    h = h * 0.5
    return h @ w2 + b2


@symbolic
def gelu(x: Batch) -> Batch:
    inner = np.sqrt(np.float32(2.0 / np.pi)) * (x + 0.044715 * x**3)
    return 0.5 * x * (1.0 + np.tanh(inner))


@symbolic
def swish(x: Batch) -> Batch:
    return x / (1.0 + np.exp(-x))


@symbolic
def layer_norm(
    x: Batch,
    gain: Annotated[np.ndarray, Symbolic[np.float32, "features"]],
    shift: Annotated[np.ndarray, Symbolic[np.float32, "features"]],
) -> Batch:
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return gain * (x - mean) / np.sqrt(variance + 1e-5) + shift


@symbolic
def batch_norm(x: Batch) -> Batch:
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5)


@symbolic
def rms_norm(x: Batch, gain: Annotated[np.ndarray, Symbolic[np.float32, "features"]]) -> Batch:
    return x / np.sqrt(np.mean(x * x, axis=1)[:, np.newaxis] + 1e-6) * gain


@symbolic
def group_norm(
    x: Annotated[np.ndarray, Symbolic[np.float32, "batch 8 height width"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "batch 8 height width"]]:
    b, c, h, w = x.shape
    groups = x.reshape(b, 2, c // 2, h, w)
    mean = groups.mean(axis=(2, 3, 4), keepdims=True)
    spread = groups.std(axis=(2, 3, 4), keepdims=True)
    return ((groups - mean) / (spread + 1e-5)).reshape(b, c, h, w)


@symbolic
def softmax_by_hand(x: Batch) -> Batch:
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


@symbolic
def split_heads(
    x: Annotated[np.ndarray, Symbolic[np.float32, "b l 4*d"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "b 4 l d"]]:
    b, length, width = x.shape
    return x.reshape(b, length, 4, width // 4).transpose(0, 2, 1, 3)


@symbolic
def merge_heads(
    x: Annotated[np.ndarray, Symbolic[np.float32, "b h l d"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "b l h*d"]]:
    b, h, length, d = x.shape
    return np.transpose(x, (0, 2, 1, 3)).reshape(b, length, h * d)


@symbolic
def attention(
    q: Annotated[np.ndarray, Symbolic[np.float32, "b queries d"]],
    k: Annotated[np.ndarray, Symbolic[np.float32, "b keys d"]],
    v: Annotated[np.ndarray, Symbolic[np.float32, "b keys e"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "b queries e"]]:
    scores = np.einsum("bqd,bkd->bqk", q, k) / float(q.shape[-1]) ** 0.5
    return softmax(scores, axis=-1) @ v


@symbolic
def causal_attention(
    q: Annotated[np.ndarray, Symbolic[np.float32, "b h l d"]],
    k: Annotated[np.ndarray, Symbolic[np.float32, "b h l d"]],
    v: Annotated[np.ndarray, Symbolic[np.float32, "b h l d"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "b h l d"]]:
    length = q.shape[2]
    mask = np.tri(length, dtype=bool)
    scores = q @ k.swapaxes(-1, -2) * 0.125
    weights = softmax(np.where(mask, scores, -1e9), axis=-1)
    return weights @ v


@symbolic
def attention_pooling(
    x: Annotated[np.ndarray, Symbolic[np.float32, "n d"]],
    w: Annotated[np.ndarray, Symbolic[np.float32, "d"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "d"]]:
    weights = softmax(x @ w)
    return weights @ x


@symbolic
def pooling_by_columns(
    x: Annotated[np.ndarray, Symbolic[np.float32, "n d"]],
    w: Annotated[np.ndarray, Symbolic[np.float32, "d 1"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "d"]]:
    weights = softmax(x @ w, axis=0)
    return np.sum(weights * x, axis=0)


@symbolic
def recurrent(
    x: Annotated[np.ndarray, Symbolic[np.float32, "batch 5 inputs"]],
    w: Annotated[np.ndarray, Symbolic[np.float32, "inputs hidden"]],
    u: Annotated[np.ndarray, Symbolic[np.float32, "hidden hidden"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "batch hidden"]]:
    h = np.tanh(x[:, 0] @ w)
    for t in range(1, x.shape[1]):
        h = np.tanh(x[:, t] @ w + h @ u)
    return h


@symbolic
def gated_unit(
    x: Annotated[np.ndarray, Symbolic[np.float32, "batch inputs"]],
    h: Annotated[np.ndarray, Symbolic[np.float32, "batch hidden"]],
    w: Annotated[np.ndarray, Symbolic[np.float32, "inputs+hidden 2*hidden"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "batch hidden"]]:
    both = np.concatenate([x, h], axis=1) @ w
    gate, candidate = np.split(both, 2, axis=1)
    z = 1.0 / (1.0 + np.exp(-gate))
    return (1.0 - z) * h + z * np.tanh(candidate)


@symbolic
def embedding(
    table: Annotated[np.ndarray, Symbolic[np.float32, "vocab d"]],
    tokens: Annotated[np.ndarray, Symbolic[np.int64, "b l"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "b l d"]]:
    return table[tokens]


@symbolic
def residual(x: Batch, w: Annotated[np.ndarray, Symbolic[np.float32, "features features"]]) -> Batch:
    return x + np.maximum(x @ w, 0)


@symbolic
def mixture(
    x: Annotated[np.ndarray, Symbolic[np.float32, "b d"]],
    gates: Annotated[np.ndarray, Symbolic[np.float32, "d experts"]],
    w: Annotated[np.ndarray, Symbolic[np.float32, "experts d k"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "b k"]]:
    weights = softmax(x @ gates, axis=1)
    outputs = np.einsum("bd,edk->bek", x, w)
    return np.sum(weights[:, :, None] * outputs, axis=1)


@symbolic
def max_pool(
    x: Annotated[np.ndarray, Symbolic[np.float32, "b c 2*h 2*w"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "b c h w"]]:
    b, c, h, w = x.shape
    return x.reshape(b, c, h // 2, 2, w // 2, 2).max(axis=(3, 5))


@symbolic
def global_average(
    x: Annotated[np.ndarray, Symbolic[np.float32, "b c h w"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "b c"]]:
    return x.mean(axis=(2, 3))


@symbolic
def shuffled_channels(
    x: Annotated[np.ndarray, Symbolic[np.float32, "b 6 h w"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "b 6 h w"]]:
    b, c, h, w = x.shape
    return x.reshape(b, 2, c // 2, h, w).transpose(0, 2, 1, 3, 4).reshape(b, c, h, w)


@symbolic
def relative_shift(
    scores: Annotated[np.ndarray, Symbolic[np.float32, "queries keys"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "queries keys"]]:
    queries, keys = scores.shape
    padded = np.pad(scores, ((0, 0), (1, 0)))
    return padded.reshape(keys + 1, queries)[1:].reshape(queries, keys)


@symbolic
def rotary(
    x: Annotated[np.ndarray, Symbolic[np.float32, "time 2*half"]],
    frequencies: Annotated[np.ndarray, Symbolic[np.float32, "half"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "time 2*half"]]:
    angles = np.arange(x.shape[0], dtype=np.float32)[:, None] * frequencies
    a, b = np.split(x, 2, axis=-1)
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)
