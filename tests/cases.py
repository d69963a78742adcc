"""Which small programs are tried, kind by kind? The table of `test_cases.py`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from symbolic.ops.convolution import avg_pool2d, conv2d, max_pool2d
from symbolic.ops.softmax import log_softmax, logsumexp, softmax

A = np.array([[0.7, -1.4, 2.2], [1.1, 0.4, -0.6]])
B = np.array([[1.3, 0.2], [-0.5, 2.0], [0.9, -1.1]])
CUBE = np.cos(np.arange(24.0) * 1.3).reshape(2, 3, 4)
V = np.array([0.6, -1.7, 2.4, 0.9])
INF, NAN = math.inf, math.nan


class Case(NamedTuple):
    """A program, its arguments, and what central differences cannot say: `grad`, if not None, one for each."""

    kind: str
    name: str
    f: Callable[..., Any]
    args: tuple[Any, ...]
    grad: tuple[Any, ...] | None = None


def w(*shape: int) -> Any:
    """Weights that make every entry of a result count."""
    return np.sin(1.0 + np.arange(float(np.prod(shape)))).reshape(shape) + 1.5


CASES = [
    # ---- edges: the function is smooth there, or the convention is fixed
    Case(
        "edge", "the square of a norm at the origin", lambda x: np.linalg.norm(x) ** 2, (np.zeros(4),), (np.zeros(4),)
    ),
    Case("edge", "a norm at the origin", lambda x: np.linalg.norm(x), (np.zeros(3),), (np.zeros(3),)),
    Case("edge", "the deviation of equal entries", lambda x: np.std(x), (np.full(3, 0.1),), (np.zeros(3),)),
    Case("edge", "the variance of equal entries", lambda x: np.var(x, ddof=1), (np.full(4, 2.5),), (np.zeros(4),)),
    Case(
        "edge",
        "a guarded quotient",
        lambda x: np.sum(np.where(x == 0, 1.0, np.sin(x) / np.where(x == 0, 1, x))),
        (np.array([0.0, 1.2]),),
        (np.array([0.0, (1.2 * math.cos(1.2) - math.sin(1.2)) / 1.44]),),
    ),
    Case(
        "edge",
        "a root in the branch not taken",
        lambda x: np.sum(np.where(x >= 0, x * 3, np.sqrt(-x))),
        (np.array([0.0, 2.0, -4.0]),),
        (np.array([3.0, 3.0, -0.25]),),
    ),
    Case(
        "edge",
        "an overflow in the branch not taken",
        lambda x: np.sum(np.where(x < 9, np.exp(x), x)),
        (np.array([1.0, 2000.0]),),
        (np.array([math.e, 1.0]),),
    ),
    Case(
        "edge",
        "0 to the power 0",
        lambda x: np.sum(x ** np.array([0.0, 3.0, 1.0])),
        (np.array([0.0, 2.0, 0.0]),),
        (np.array([0.0, 12.0, 1.0]),),
    ),
    Case("edge", "base and exponent", lambda x, y: np.sum(x**y), (np.array([1.5, 0.4]), np.array([2.0, -1.5]))),
    Case("edge", "a number to a traced power", lambda y: np.sum(3**y), (np.array([0.0, 1.5, -1.0]),)),
    Case(
        "edge",
        "a product with one zero",
        lambda x: np.prod(x),
        (np.array([2.0, 0.0, -3.0]),),
        (np.array([0.0, -6.0, 0.0]),),
    ),
    Case("edge", "a product with two zeros", lambda x: np.prod(x), (np.array([0.0, 4.0, 0.0]),), (np.zeros(3),)),
    Case(
        "edge",
        "a running product through zero",
        lambda x: np.sum(np.cumprod(x)),
        (np.array([2.0, 0.0, 5.0]),),
        (np.array([1.0, 12.0, 0.0]),),
    ),
    Case("edge", "logaddexp of nothing", lambda x: np.logaddexp(np.logaddexp(-INF, x * 0 - INF), x), (1.25,), (1.0,)),
    Case(
        "edge",
        "logsumexp at a thousand",
        lambda x: logsumexp(x),
        (np.array([1000.0, 1000.0, -1000.0]),),
        (np.array([0.5, 0.5, 0.0]),),
    ),
    Case("edge", "logsumexp of nothing at all", lambda x: logsumexp(x), (np.array([-INF, -INF]),), (np.zeros(2),)),
    Case("edge", "softmax with ties", lambda x: np.sum(softmax(x) * w(3)), (np.array([2.0, 2.0, 2.0]),)),
    Case("edge", "log_softmax", lambda x: np.sum(log_softmax(x, axis=0) * w(2, 3)), (A,)),
    Case(
        "edge",
        "tanh far out",
        lambda x: np.sum(np.tanh(x)),
        (np.array([-700.0, 0.0, 700.0]),),
        (np.array([0.0, 1.0, 0.0]),),
    ),
    Case("edge", "sinc at 0", lambda x: np.sum(np.sinc(x)), (np.array([0.0, 0.5]),), (np.array([0.0, -4 / math.pi]),)),
    Case("edge", "a tie of two", lambda x: np.maximum(x[0], x[1]), (np.array([3.0, 3.0]),), (np.array([0.5, 0.5]),)),
    Case(
        "edge",
        "maximum with 0 at 0",
        lambda x: np.sum(np.maximum(x, 0)),
        (np.array([-2.0, 0.0, 1.0]),),
        (np.array([0.0, 0.5, 1.0]),),
    ),
    Case(
        "edge",
        "a tie of three",
        lambda x: np.max(x),
        (np.array([1.0, 4.0, 4.0, 4.0]),),
        (np.array([0.0, 1 / 3, 1 / 3, 1 / 3]),),
    ),
    Case(
        "edge",
        "a tie in a sort",
        lambda x: np.sum(np.sort(x) * np.array([1.0, 2.0, 6.0])),
        (np.array([2.0, 2.0, 1.0]),),
        (np.array([4.0, 4.0, 1.0]),),
    ),
    Case("edge", "abs at 0", lambda x: np.sum(np.abs(x)), (np.array([-3.0, 0.0, 2.0]),), (np.array([-1.0, 0.0, 1.0]),)),
    Case("edge", "the median of four rows", lambda x: np.sum(np.median(x, axis=1) * w(2)), (A,)),
    Case("edge", "a percentile between entries", lambda x: np.percentile(x, 40.0), (V,)),
    Case("edge", "nanmean", lambda x: np.nanmean(x), (np.array([NAN, 2.0, 5.0]),), (np.array([0.0, 0.5, 0.5]),)),
    Case("edge", "fmod below 0", lambda x, y: np.fmod(x, y), (-17.5, 4.0), (1.0, 4.0)),
    Case("edge", "remainder below 0", lambda x, y: np.remainder(x, y), (-17.5, 4.0), (1.0, 5.0)),
    Case(
        "edge",
        "steps count as constants",
        lambda x: np.sum(x * (np.floor(x) + np.sign(x) + np.round(x))),
        (np.array([1.3, -2.8]),),
        (np.array([3.0, -7.0]),),
    ),
    # ---- broadcasting
    Case("broadcast", "a 0-d array and a vector", lambda s, v: np.sum(s * v), (np.array(1.5), V)),
    Case(
        "broadcast", "an axis of 1 and a missing one", lambda a, b: np.sum(a * b * w(2, 3, 4)), (CUBE[:, :1], CUBE[0])
    ),
    Case("broadcast", "maximum", lambda x, y: np.sum(np.maximum(x, y) * w(2, 3)), (np.array([[0.1], [0.9]]), A[0])),
    Case("broadcast", "rows of one vector", lambda x: np.sum(np.broadcast_to(x, (5, 4)) * w(5, 4)), (V,)),
    Case(
        "broadcast", "rows less their mean", lambda x: np.sum((x - np.mean(x, axis=1, keepdims=True)) * w(2, 3)), (A,)
    ),
    Case("broadcast", "a choice of two", lambda a, b: np.sum(np.where(a > b, a * w(4), b)), (V, 0.7)),
    Case("broadcast", "a mask that takes nothing", lambda x: np.sum(x[np.array([False, False])] ** 2), (A,), (A * 0,)),
    Case("broadcast", "nothing but an empty array", lambda x, s: np.sum(x * s), (np.zeros((0, 3)), 2.0)),
    Case("broadcast", "einsum with an axis of 1", lambda x, y: np.einsum("i,i", x, y), (np.array([0.5]), V)),
    # ---- dtypes
    Case("dtype", "a mask as a factor", lambda x: np.sum((x > 0.5) * x**2), (V,)),
    Case("dtype", "whole exponents, a base below 0", lambda x: np.sum(w(4) * x ** np.arange(4)), (-1.25,)),
    Case(
        "dtype",
        "a linspace from a number to halves",
        lambda x: np.sum(np.linspace(0, x, 3)),
        (np.array([2.0, 4.0], np.float16),),
        (np.array([1.5, 1.5], np.float16),),
    ),
    Case("dtype", "whole numbers beside floats", lambda x: np.sum(x * np.arange(4) // 1 * 0 + x), (V,), (np.ones(4),)),
    # ---- indexing
    Case("indexing", "an index named twice", lambda x: np.sum(x[[0, 3, 0, -1]] * w(4)), (V,)),
    Case("indexing", "rows named twice, with a newaxis", lambda x: np.sum(x[[1, 1], None, ::2] * w(2, 1, 2)), (A,)),
    Case("indexing", "indices below 0", lambda x: np.sum(x[0][1:][-1] * w(4)) + 10 * x[1, -1, -2], (CUBE,)),
    Case("indexing", "ellipsis and newaxis", lambda x: np.sum(x[..., 1][:, None] * w(2, 2, 3)), (CUBE,)),
    Case("indexing", "an array on each side of a slice", lambda x: np.sum(x[[0, 1], :, [3, 0]] * w(2, 3)), (CUBE,)),
    Case("indexing", "a mask of two axes", lambda x: np.sum(x[A > 0.5] * w(3)), (A,)),
    Case("indexing", "backwards by two", lambda x: np.sum(x[::-2] * w(2)), (V,)),
    Case("indexing", "a slice past the end", lambda x: np.sum(x[2:99] ** 2), (V,)),
    Case("indexing", "the empty tuple", lambda x: x[()] ** 2, (np.array(3.0),)),
    Case("indexing", "take along an axis", lambda x: np.sum(np.take(x, [2, 0, 2], axis=1) * w(2, 3)), (A,)),
    Case(
        "indexing",
        "take_along_axis, twice the same",
        lambda x: np.sum(np.take_along_axis(x, np.array([[1, 1], [0, 2]]), 1) * w(2, 2)),
        (A,),
    ),
    Case("indexing", "in the order of another sort", lambda x: np.sum(x[np.argsort(x)] * w(4)), (V,)),
    Case("indexing", "diagonals", lambda x: np.sum(np.diagonal(x, 1) * w(2)) + np.trace(x), (A,)),
    Case("indexing", "a diagonal matrix and back", lambda v: np.sum(np.diag(np.diag(v) @ np.diag(v * v))), (V,)),
    Case("indexing", "compress", lambda x: np.sum(np.compress([True, False, True], x, axis=1) * w(2, 2)), (A,)),
    # ---- products
    Case("product", "two vectors", lambda a, b: a @ b, (V, w(4))),
    Case("product", "matrix and vector", lambda a, b: np.sum(np.dot(a, b) * w(2)), (A, A[0])),
    Case("product", "vector and matrix", lambda a, b: np.sum((a @ b) * w(2)), (A[0], B)),
    Case("product", "stacks that broadcast", lambda a, b: np.sum((a @ b) * w(2, 2, 4)), (A[None], CUBE)),
    Case("product", "a trace by einsum", lambda x: np.einsum("ii->", x), (A @ B,)),
    Case("product", "one operand twice", lambda x: np.sum(np.einsum("ij,kj->ik", x, x) * w(2, 2)), (A,)),
    Case("product", "einsum by lists", lambda a, b: np.sum(np.einsum(a, [0, 1], b, [1, 2], [0, 2]) * w(2, 2)), (A, B)),
    Case(
        "product",
        "einsum with an ellipsis",
        lambda a, b: np.sum(np.einsum("...ij,jk->...ik", a, b) * w(2, 3, 2)),
        (CUBE, w(4, 2)),
    ),
    Case(
        "product",
        "tensordot, axes below 0",
        lambda a, b: np.sum(np.tensordot(a, b, axes=([-1], [0])) * w(2, 2)),
        (A, B),
    ),
    Case(
        "product",
        "tensordot, axes permuted",
        lambda a, b: np.sum(np.tensordot(a, b, axes=([0, 1], [1, 0])) * w(4, 5)),
        (CUBE, w(3, 2, 5)),
    ),
    Case("product", "tensordot without axes", lambda a, b: np.sum(np.tensordot(a, b, axes=0) * w(4, 2, 3)), (V, A)),
    Case("product", "kron", lambda a, b: np.sum(np.kron(a, b) * w(6, 6)), (A, B)),
    Case("product", "kron of other ranks", lambda a, b: np.sum(np.kron(a, b) * w(2, 12)), (A, V)),
    Case("product", "cross", lambda a, b: np.sum(np.cross(a, b) * w(2, 3)), (A, w(3))),
    Case("product", "convolve", lambda a, b: np.sum(np.convolve(a, b, "same") * w(4)), (V, w(3))),
    Case("product", "the square of a Gram matrix", lambda x: np.sum((x @ x.T) ** 2), (A,)),
    Case(
        "product",
        "conv2d",
        lambda x, k: np.sum(conv2d(x, k, stride=2, padding=(1, 2), dilation=(2, 1)) ** 2),
        (w(2, 2, 5, 4), w(3, 2, 2, 3)),
    ),
    Case(
        "product",
        "pooling",
        lambda x: np.sum(max_pool2d(x, 2, 1, 1) * w(1, 1, 5, 4)) + np.sum(avg_pool2d(x, (3, 2))),
        (w(1, 1, 4, 3),),
    ),
    Case(
        "indexing",
        "an index that is a range",
        lambda x: np.sum(x[range(3, 0, -1)] ** 2 * w(3)) + x[range(0)].sum(),
        (V,),
    ),
    # ---- reductions
    Case("reduce", "a mean over two axes", lambda x: np.sum(np.mean(x, axis=(0, 2), keepdims=True) ** 2), (CUBE,)),
    Case("reduce", "std with ddof", lambda x: np.sum(np.std(x, axis=2, ddof=1) * w(2, 3)), (CUBE,)),
    Case("reduce", "var with ddof", lambda x: np.sum(np.var(x, axis=(0, 1), ddof=1) * w(4)), (CUBE,)),
    Case("reduce", "max over two axes", lambda x: np.sum(np.max(x, axis=(-1, 0)) * w(3)), (CUBE,)),
    Case("reduce", "methods", lambda x: x.mean() + x.prod(axis=1).sum() + x.max() + x.T.std(ddof=1), (A,)),
    Case("reduce", "ptp", lambda x: np.ptp(x), (V,)),
    Case("reduce", "sum where", lambda x: np.sum(x * x, where=np.array([True, False, True, True])), (V,)),
    Case("reduce", "mean where", lambda x: np.mean(x * x, where=x > 0), (V,)),
    Case(
        "reduce",
        "prod where and initial",
        lambda x: np.prod(x, where=np.array([True, True, False]), initial=2.0),
        (np.array([3.0, -1.5, 0.0]),),
    ),
    Case("reduce", "initial wins", lambda x: np.max(x, initial=9.0), (V,), (np.zeros(4),)),
    Case(
        "reduce",
        "ufuncs' own reduce",
        lambda x: np.sum(np.add.reduce(x) * w(3)) + np.maximum.reduce(x, axis=None),
        (A,),
    ),
    Case("reduce", "logaddexp.reduce", lambda x: np.logaddexp.reduce(x), (V,)),
    # ---- shapes
    Case("shape", "joined flat", lambda a, b: np.sum(np.concatenate([a, b], axis=None) ** 2 * w(10)), (A, V)),
    Case("shape", "joined with a constant", lambda a: np.sum(np.append(a, [1.0, 2.0]) * w(6)), (V,)),
    Case("shape", "stacked last", lambda a, b: np.sum(np.stack([a, b], axis=-1) * w(2, 3, 2)), (A, A[::-1])),
    Case(
        "shape",
        "pieces, not all used",
        lambda x: np.sum(np.array_split(x, 3)[0] ** 2) + np.array_split(x, 3)[2][0],
        (V,),
    ),
    Case("shape", "padding of width 0", lambda x: np.sum(np.pad(x, ((0, 0), (2, 1))) * w(2, 6)), (A,)),
    Case("shape", "padding by the edge", lambda x: np.sum(np.pad(x, (3, 2), mode="edge") * w(9)), (V,)),
    Case("shape", "repeated unevenly", lambda x: np.sum(np.repeat(x, [2, 0, 1, 3]) * w(6)), (V,)),
    Case(
        "shape",
        "rolled, flipped, turned",
        lambda x: np.sum(np.roll(x, (1, -1), (0, 1)) * w(2, 3) + np.flip(x, 1)) + np.sum(np.rot90(x) * w(3, 2)),
        (A,),
    ),
    Case(
        "shape",
        "axes moved",
        lambda x: np.sum(np.moveaxis(x, 0, -1) * w(3, 4, 2)) + np.sum(np.swapaxes(x, 0, 2)[1]),
        (CUBE,),
    ),
    Case(
        "shape", "axes of 1", lambda x: np.sum(np.squeeze(x[:, None]) * w(2, 3)) + np.sum(np.atleast_3d(x) ** 2), (A,)
    ),
    Case("shape", "triangles", lambda x: np.sum(np.triu(x, 1) * w(2, 3)) + 2 * np.sum(np.tril(x, -1)), (A,)),
    Case("shape", "reshaped in Fortran's order", lambda x: np.sum(np.reshape(x, (3, 2), order="F") * w(3, 2)), (A,)),
    Case("shape", "a linspace between traced ends", lambda a, b: np.sum(np.linspace(a, b, 4) ** 2), (1.0, 2.5)),
    Case("shape", "filled with a traced value", lambda x, t: np.sum(np.full_like(t, x) * w(4)), (1.5, V)),
    Case("shape", "sizes as numbers", lambda x: np.sum(x) / x.shape[0] * np.size(x) + np.shape(x)[1] * x[0, 0], (A,)),
    Case(
        "shape",
        "lists of traced values",
        lambda x: (
            np.average(x[:2], weights=[x[2] ** 2, 1.0])
            + np.sum(np.clip([x[0], x[1]], [-9.0, x[2]], 9.0) ** 2)
            + np.sum(np.select([[True, False]], [[x[0], x[1]]], [1.0, x[2]]) ** 3)
        ),
        (V,),
    ),
    # ---- graphs
    Case("graph", "a value used thrice", lambda x: (lambda t: 1.5 * t - 3 * t + t * t)(4 * x), (2.0,)),
    Case("graph", "sixty doublings", lambda x: reduce(lambda y, _: 0.5 * (y + y), range(60), x), (1.5,)),
    Case(
        "graph",
        "three thousand steps",
        lambda x: reduce(lambda y, _: y * 1.0003, range(3000), x),
        (1.0,),
        (1.0003**3000,),
    ),
    Case("graph", "one weight in two layers", lambda m: np.sum((m @ np.tanh(m @ w(2))) ** 2), (B[:2],)),
    Case(
        "graph",
        "a recurrent net",
        lambda m: reduce(lambda h, _: np.tanh(m * h + 0.2), range(12), 0.0 * m),
        (0.6,),
    ),
    Case("graph", "times 0", lambda x: np.sum(x * 0.0), (V,)),
    Case("graph", "a constant", lambda x: 7.0, (V,), (np.zeros(4),)),
    # ---- memory layouts
    Case("layout", "Fortran's order", lambda x: np.sum(x**3 * w(2, 3, 4)), (np.asfortranarray(CUBE),)),
    Case("layout", "a view backwards", lambda x: np.sum(x**2 * w(2)), (V[::-2],)),
    Case("layout", "a transposed view", lambda x: np.sum(np.reshape(x, (4, 6)) * w(4, 6)), (CUBE.T,)),
    Case("layout", "strides of 0", lambda x: np.sum(x**2 * w(3, 4)), (np.broadcast_to(V, (3, 4)),)),
]
