"""Correct programs: linear algebra and geometry."""

from typing import Annotated

import numpy as np

from symbolic import Symbolic, symbolic

Float = Annotated[float, Symbolic]
Vector = Annotated[np.ndarray, Symbolic[np.float64, "n"]]
Square = Annotated[np.ndarray, Symbolic[np.float64, "n n"]]
Tall = Annotated[np.ndarray, Symbolic[np.float64, "m n"]]
Points = Annotated[np.ndarray, Symbolic[np.float64, "k 3"]]


@symbolic
def quadratic_form(a: Square, x: Vector) -> Float:
    return x @ a @ x


@symbolic
def gram(a: Tall) -> Square:
    return a.T @ a


@symbolic
def regularized(a: Square) -> Square:
    return a @ a.T + 0.1 * np.eye(a.shape[0])


@symbolic
def least_squares(a: Tall, b: Annotated[np.ndarray, Symbolic[np.float64, "m"]]) -> Vector:
    n = a.shape[1]
    return np.linalg.solve(a.T @ a + 0.01 * np.eye(n), a.T @ b)


@symbolic
def log_determinant(a: Square) -> Float:
    factor = np.linalg.cholesky(a @ a.T + np.eye(len(a)))
    return 2 * np.sum(np.log(np.diag(factor)))


@symbolic
def root(a: Square) -> Square:
    values, vectors = np.linalg.eigh(a @ a.T + np.eye(a.shape[0]))
    return (vectors * np.sqrt(values)) @ vectors.T


@symbolic
def low_rank(a: Tall) -> Tall:
    u, s, v = np.linalg.svd(a, full_matrices=False)
    return (u * s) @ v


@symbolic
def trace_of_product(a: Tall, b: Tall) -> Float:
    return np.trace(a @ b.T)


@symbolic
def projected(x: Points, normal: Annotated[np.ndarray, Symbolic[np.float64, "3"]]) -> Points:
    unit = normal / np.linalg.norm(normal)
    return x - (x @ unit)[:, None] * unit


@symbolic
def unit_rows(x: Points) -> Points:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@symbolic
def normals(a: Points, b: Points) -> Points:
    return np.cross(a, b)


@symbolic
def rotated(x: Points, r: Annotated[np.ndarray, Symbolic[np.float64, "3 3"]]) -> Points:
    return x @ r.T


@symbolic
def homogeneous(x: Points) -> Annotated[np.ndarray, Symbolic[np.float64, "k 4"]]:
    return np.concatenate([x, np.ones((x.shape[0], 1))], axis=1)


@symbolic
def outer_product(
    x: Vector, y: Annotated[np.ndarray, Symbolic[np.float64, "m"]]
) -> Annotated[np.ndarray, Symbolic[np.float64, "n m"]]:
    return x[:, None] * y[None, :]


@symbolic
def symmetric_part(a: Square) -> Square:
    return 0.5 * (a + a.T)


@symbolic
def scaled_rows(a: Tall, s: Annotated[np.ndarray, Symbolic[np.float64, "m"]]) -> Tall:
    return s[:, None] * a


@symbolic
def normalized_adjacency(a: Square) -> Square:
    s = 1.0 / np.sqrt(a.sum(axis=1))
    return s[:, None] * a * s


@symbolic
def graph_laplacian(a: Square) -> Square:
    return np.diag(a.sum(axis=1)) - a


@symbolic
def power_step(a: Square, x: Vector) -> Vector:
    y = a @ x
    return y / np.linalg.norm(y)


@symbolic
def balanced(a: Square) -> Square:
    u = np.ones(a.shape[0])
    for _ in range(3):
        v = 1.0 / (a.T @ u)
        u = 1.0 / (a @ v)
    return u[:, None] * a * v


@symbolic
def bilinear(
    x: Annotated[np.ndarray, Symbolic[np.float64, "b n"]],
    w: Annotated[np.ndarray, Symbolic[np.float64, "o n m"]],
    y: Annotated[np.ndarray, Symbolic[np.float64, "b m"]],
) -> Annotated[np.ndarray, Symbolic[np.float64, "b o"]]:
    return np.einsum("bn,onm,bm->bo", x, w, y)


@symbolic
def stacked_products(
    a: Annotated[np.ndarray, Symbolic[np.float64, "*batch n m"]],
    b: Annotated[np.ndarray, Symbolic[np.float64, "*batch m k"]],
) -> Annotated[np.ndarray, Symbolic[np.float64, "*batch n k"]]:
    return a @ b
