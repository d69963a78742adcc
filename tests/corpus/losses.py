"""Correct programs: losses and scores."""

from typing import Annotated

import numpy as np

from symbolic import Symbolic, log_softmax, symbolic

Float = Annotated[float, Symbolic]
Column = Annotated[np.ndarray, Symbolic[np.float32, "n 1"]]
Vector = Annotated[np.ndarray, Symbolic[np.float32, "n"]]
Logits = Annotated[np.ndarray, Symbolic[np.float32, "n classes"]]
Labels = Annotated[np.ndarray, Symbolic[np.int64, "n"]]


@symbolic
def squared_error(prediction: Vector, target: Vector) -> Float:
    return np.mean((prediction - target) ** 2)


@symbolic
def squared_error_of_column(prediction: Column, target: Vector) -> Float:
    return np.mean((prediction[:, 0] - target) ** 2)


@symbolic
def squared_error_as_column(prediction: Column, target: Vector) -> Float:
    return np.mean((prediction - target.reshape(-1, 1)) ** 2)


@symbolic
def squeezed_error(prediction: Column, target: Vector) -> Float:
    return np.abs(prediction.squeeze(axis=1) - target).mean()


@symbolic
def huber(prediction: Vector, target: Vector) -> Float:
    error = np.abs(prediction - target)
    return np.mean(np.where(error < 1.0, 0.5 * error**2, error - 0.5))


@symbolic
def log_cosh(prediction: Vector, target: Vector) -> Float:
    return np.mean(np.log(np.cosh(prediction - target)))


@symbolic
def cross_entropy(logits: Logits, labels: Labels) -> Float:
    rows = np.arange(logits.shape[0])
    return -np.mean(log_softmax(logits, axis=1)[rows, labels])


@symbolic
def cross_entropy_by_hand(logits: Logits, labels: Labels) -> Float:
    top = logits.max(axis=1, keepdims=True)
    normal = np.log(np.exp(logits - top).sum(axis=1)) + top[:, 0]
    return np.mean(normal - logits[np.arange(len(logits)), labels])


@symbolic
def soft_cross_entropy(logits: Logits, target: Annotated[np.ndarray, Symbolic[np.float32, "n classes"]]) -> Float:
    return -np.sum(target * log_softmax(logits)) / logits.shape[0]


@symbolic
def logistic_loss(logits: Vector, target: Vector) -> Float:
    return np.mean(np.maximum(logits, 0) - logits * target + np.log1p(np.exp(-np.abs(logits))))


@symbolic
def hinge(scores: Vector, signs: Vector) -> Float:
    return np.mean(np.maximum(0.0, 1.0 - signs * scores))


@symbolic
def multiclass_hinge(scores: Logits, labels: Labels) -> Float:
    right = scores[np.arange(scores.shape[0]), labels]
    margins = np.maximum(0, scores - right[:, None] + 1)
    return margins.sum(axis=1).mean() - 1.0


@symbolic
def divergence(p: Logits, q: Logits) -> Vector:
    return np.sum(p * (np.log(p) - np.log(q)), axis=-1)


@symbolic
def contrastive(
    a: Annotated[np.ndarray, Symbolic[np.float32, "n d"]], b: Annotated[np.ndarray, Symbolic[np.float32, "n d"]]
) -> Float:
    a = a / np.linalg.norm(a, axis=1, keepdims=True)
    b = b / np.linalg.norm(b, axis=1, keepdims=True)
    similar = a @ b.T / 0.1
    return -np.mean(np.diag(log_softmax(similar, axis=1)))


@symbolic
def triplet(
    anchor: Annotated[np.ndarray, Symbolic[np.float32, "n d"]],
    near: Annotated[np.ndarray, Symbolic[np.float32, "n d"]],
    far: Annotated[np.ndarray, Symbolic[np.float32, "n d"]],
) -> Float:
    one = np.sum((anchor - near) ** 2, axis=1)
    other = np.sum((anchor - far) ** 2, axis=1)
    return np.maximum(one - other + 0.2, 0.0).mean()


@symbolic
def dice(
    p: Annotated[np.ndarray, Symbolic[np.float32, "b h w"]], mask: Annotated[np.ndarray, Symbolic[np.float32, "b h w"]]
) -> Float:
    overlap = (p * mask).sum(axis=(1, 2))
    total = p.sum(axis=(1, 2)) + mask.sum(axis=(1, 2))
    return 1.0 - np.mean(2 * overlap / total)


@symbolic
def weighted_error(prediction: Vector, target: Vector, weight: Vector) -> Float:
    return np.sum(weight * (prediction - target) ** 2) / np.sum(weight)


@symbolic
def ridge(
    x: Annotated[np.ndarray, Symbolic[np.float32, "n d"]],
    y: Vector,
    w: Annotated[np.ndarray, Symbolic[np.float32, "d"]],
) -> Float:
    return np.sum((x @ w - y) ** 2) + 0.1 * np.sum(w**2)


@symbolic
def gaussian_likelihood(x: Vector, mean: Vector, log_std: Vector) -> Float:
    z = (x - mean) * np.exp(-log_std)
    return -np.sum(0.5 * z * z + log_std + 0.9189385)


@symbolic
def total_variation(
    image: Annotated[np.ndarray, Symbolic[np.float32, "h w"]],
) -> Float:
    return np.abs(image[1:] - image[:-1]).sum() + np.abs(image[:, 1:] - image[:, :-1]).sum()
