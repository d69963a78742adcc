"""Correct programs: whole algorithms, with loops, branches and helper functions."""

from typing import Annotated

import numpy as np

from symbolic import Symbolic, conv2d, softmax, symbolic

Float = Annotated[float, Symbolic]
States = Annotated[np.ndarray, Symbolic[np.float64, "s"]]
Moves = Annotated[np.ndarray, Symbolic[np.float64, "s s"]]
Points = Annotated[np.ndarray, Symbolic[np.float64, "n d"]]
Square = Annotated[np.ndarray, Symbolic[np.float64, "n n"]]


@symbolic
def forward_algorithm(
    start: States, moves: Moves, emissions: Annotated[np.ndarray, Symbolic[np.float64, "6 s"]]
) -> Float:
    alpha = start * emissions[0]
    for t in range(1, 6):
        alpha = (alpha @ moves) * emissions[t]
    return np.log(alpha.sum())


@symbolic
def backward_step(moves: Moves, emission: States, beta: States) -> States:
    return moves @ (emission * beta)


@symbolic
def page_rank(links: Square) -> Annotated[np.ndarray, Symbolic[np.float64, "n"]]:
    n = links.shape[0]
    p = links / links.sum(axis=0)
    rank = np.full(n, 1.0) / n
    for _ in range(4):
        rank = 0.85 * (p @ rank) + 0.15 / n
    return rank


@symbolic
def graph_convolution(
    a: Annotated[np.ndarray, Symbolic[np.float64, "v v"]],
    x: Annotated[np.ndarray, Symbolic[np.float64, "v d"]],
    w: Annotated[np.ndarray, Symbolic[np.float64, "d k"]],
) -> Annotated[np.ndarray, Symbolic[np.float64, "v k"]]:
    a = a + np.eye(a.shape[0])
    s = 1.0 / np.sqrt(a.sum(axis=1))
    return np.maximum((a * s[:, None] * s[None, :]) @ x @ w, 0.0)


def distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.sum((x[:, None, :] - y[None, :, :]) ** 2, axis=-1)


@symbolic
def soft_k_means(
    x: Points, centers: Annotated[np.ndarray, Symbolic[np.float64, "k d"]]
) -> Annotated[np.ndarray, Symbolic[np.float64, "k d"]]:
    for _ in range(3):
        weights = softmax(-distance(x, centers), axis=1)
        centers = weights.T @ x / weights.sum(axis=0)[:, None]
    return centers


@symbolic
def gaussian_process(
    x: Points,
    y: Annotated[np.ndarray, Symbolic[np.float64, "n"]],
    new: Annotated[np.ndarray, Symbolic[np.float64, "m d"]],
) -> Annotated[np.ndarray, Symbolic[np.float64, "m"]]:
    k = np.exp(-0.5 * distance(x, x)) + 0.1 * np.eye(x.shape[0])
    return np.exp(-0.5 * distance(new, x)) @ np.linalg.solve(k, y)


@symbolic
def kalman_update(
    mean: Annotated[np.ndarray, Symbolic[np.float64, "d"]],
    cov: Annotated[np.ndarray, Symbolic[np.float64, "d d"]],
    h: Annotated[np.ndarray, Symbolic[np.float64, "m d"]],
    z: Annotated[np.ndarray, Symbolic[np.float64, "m"]],
) -> Annotated[np.ndarray, Symbolic[np.float64, "d"]]:
    cov = cov @ cov.T + np.eye(cov.shape[0])
    s = h @ cov @ h.T + np.eye(h.shape[0])
    gain = np.linalg.solve(s, h @ cov).T
    return mean + gain @ (z - h @ mean)


@symbolic
def newton_step(
    x: Points, y: Annotated[np.ndarray, Symbolic[np.float64, "n"]], w: Annotated[np.ndarray, Symbolic[np.float64, "d"]]
) -> Annotated[np.ndarray, Symbolic[np.float64, "d"]]:
    p = 1.0 / (1.0 + np.exp(-(x @ w)))
    gradient = x.T @ (p - y)
    curvature = x.T @ (x * (p * (1 - p))[:, None]) + 0.1 * np.eye(w.size)
    return w - np.linalg.solve(curvature, gradient)


@symbolic
def contrastive_both_ways(
    a: Annotated[np.ndarray, Symbolic[np.float32, "batch d"]],
    b: Annotated[np.ndarray, Symbolic[np.float32, "batch d"]],
) -> Float:
    scores = a @ b.T / (np.linalg.norm(a, axis=1, keepdims=True) * np.linalg.norm(b, axis=1))
    rows = np.diag(softmax(scores, axis=1))
    columns = np.diag(softmax(scores, axis=0))
    return -np.mean(np.log(rows) + np.log(columns))


@symbolic
def relative_positions(
    scores: Annotated[np.ndarray, Symbolic[np.float32, "b l l"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "b l l"]]:
    position = np.arange(scores.shape[-1])
    far = np.abs(position[:, None] - position).astype(np.float32)
    return softmax(scores - 0.1 * far, axis=-1)


@symbolic
def masked_mean(
    x: Annotated[np.ndarray, Symbolic[np.float32, "b t d"]], mask: Annotated[np.ndarray, Symbolic[np.bool_, "b t"]]
) -> Annotated[np.ndarray, Symbolic[np.float32, "b d"]]:
    weights = mask[..., None].astype(np.float32)
    return (x * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)


@symbolic
def long_short_term(
    x: Annotated[np.ndarray, Symbolic[np.float32, "b 3 i"]],
    w: Annotated[np.ndarray, Symbolic[np.float32, "i 4*h"]],
    u: Annotated[np.ndarray, Symbolic[np.float32, "h 4*h"]],
    bias: Annotated[np.ndarray, Symbolic[np.float32, "4*h"]],
) -> Annotated[np.ndarray, Symbolic[np.float32, "b h"]]:
    width = u.shape[0]
    state = np.zeros((x.shape[0], width), dtype=np.float32)
    cell = np.zeros_like(state)
    for t in range(x.shape[1]):
        gates = x[:, t, :] @ w + state @ u + bias
        take, forget, give = (1 / (1 + np.exp(-gates[:, k * width : (k + 1) * width])) for k in range(3))
        cell = forget * cell + take * np.tanh(gates[:, 3 * width :])
        state = give * np.tanh(cell)
    return state


@symbolic
def convolved(
    x: Annotated[np.ndarray, Symbolic[np.float64, "b c h w"]],
    kernel: Annotated[np.ndarray, Symbolic[np.float64, "k c 3 3"]],
    bias: Annotated[np.ndarray, Symbolic[np.float64, "k"]],
) -> Annotated[np.ndarray, Symbolic[np.float64, "b k h w"]]:
    return np.maximum(conv2d(x, kernel, padding=1) + bias[:, None, None], 0.0)


@symbolic
def simulated(
    x: Annotated[np.ndarray, Symbolic[np.float64, "n 3"]], v: Annotated[np.ndarray, Symbolic[np.float64, "n 3"]]
) -> Annotated[np.ndarray, Symbolic[np.float64, "n 3"]]:
    for _ in range(2):
        apart = x[None] - x[:, None]
        cubes = (np.sum(apart**2, axis=-1) + 0.1) ** 1.5
        v = v + 0.01 * np.sum(apart / cubes[..., None], axis=1)
        x = x + 0.01 * v
    return x


@symbolic
def clipped_ratio(
    ratio: Annotated[np.ndarray, Symbolic[np.float32, "n"]],
    advantage: Annotated[np.ndarray, Symbolic[np.float32, "n"]],
) -> Float:
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    return -np.mean(np.minimum(ratio * advantage, np.clip(ratio, 0.8, 1.2) * advantage))


@symbolic
def discounted(
    rewards: Annotated[np.ndarray, Symbolic[np.float64, "7"]],
) -> Annotated[np.ndarray, Symbolic[np.float64, "7"]]:
    total, found = 0.0 * rewards[0], []
    for t in reversed(range(7)):
        total = rewards[t] + 0.9 * total
        found.append(total)
    return np.stack(found[::-1])
