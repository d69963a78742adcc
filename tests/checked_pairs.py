"""Pairs of bodies, one wrong and its twin right: what people do wrong with NumPy, operation by operation."""

from typing import NamedTuple

PRELUDE = """
import enum
import functools
import math
from collections import namedtuple
from typing import Annotated, NamedTuple
import numpy as np
import scipy.special
from symbolic import Linear, ReLU, Symbolic, Weight, conv2d, glorot, grad, he, softmax, symbolic

Row = Annotated[np.ndarray, Symbolic[np.float32, "d"]]

@symbolic
def affine(
    x: Annotated[np.ndarray, Symbolic[np.float32, "n d"]], w: Annotated[np.ndarray, Symbolic[np.float32, "d k"]]
) -> Annotated[np.ndarray, Symbolic[np.float32, "n k"]]:
    return x @ w

def centered(v):
    return v - v.mean(axis=0)

def product(a, b):
    return a @ b

class Box:
    def __init__(self, value):
        self.value = value

    def __matmul__(self, other):
        return self.value @ other.value

    def __getitem__(self, index):
        return self.value[index]

    def __len__(self):
        return len(self.value)

class Gates(NamedTuple):
    i: np.ndarray
    f: np.ndarray

Affine = namedtuple("Affine", "w b")

class Mode(enum.Enum):
    ROWS = 1
    COLUMNS = 2

def twice(f):
    @functools.wraps(f)
    def inner(v):
        return f(f(v))
    return inner

@twice
def halved(v):
    return v[:, : v.shape[1] // 2]

class Scaling:
    def __init__(self, size):
        self.weight = Weight(np.ones((size, 3), np.float32))
"""


class Pair(NamedTuple):
    """A signature in short, `x: n d, w: d k -> n k`, a body that is wrong for it, and one that is right."""

    signature: str
    wrong: str
    right: str


PAIRS: dict[str, Pair] = {
    # ---------------------------------------------------------------- products
    "matmul": Pair("x: n d, w: k d -> n k", "return x @ w", "return x @ w.T"),
    "matmul_numbers": Pair(
        "x: n 784 -> n 10", "return x @ Weight(he(785, 10))", "return x @ Weight(he(784, 10, dtype=np.float32))"
    ),
    "dot_of_vectors": Pair("a: n, b: m -> ", "return np.dot(a, b)", "return np.dot(a, a) + np.dot(b, b)"),
    "batched": Pair("q: b h t d, k: b h s d -> b h t s", "return q @ k", "return q @ k.transpose(0, 1, 3, 2)"),
    "einsum": Pair(
        "a: i j, b: j k -> i k", 'return np.einsum("ij,kj->ik", a, b)', 'return np.einsum("ij,jk->ik", a, b)'
    ),
    "einsum_rank": Pair("a: b i j -> b i", 'return np.einsum("ij->i", a)', 'return np.einsum("bij->bi", a)'),
    "tensordot": Pair(
        "a: i j k, b: k l -> i j l", "return np.tensordot(a, b, axes=2)", "return np.tensordot(a, b, axes=1)"
    ),
    "outer": Pair("a: n, b: m -> n m", "return a * b", "return np.outer(a, b)"),
    "inner": Pair("a: n d, b: d m -> n m", "return np.inner(a, b)", "return np.inner(a, b.T)"),
    "kron": Pair("a: m n, b: p q -> m*p n*q", "return np.kron(b, a).T", "return np.kron(a, b)"),
    # ---------------------------------------------------------------- broadcasting
    "bias": Pair("x: n d, b: n -> n d", "return x + b", "return x + b[:, None]"),
    "column": Pair("x: n 1, y: n -> n", "return x - y", "return x[:, 0] - y"),
    "channels": Pair("x: b 3 h w, mean: 3 -> b 3 h w", "return x - mean", "return x - mean[:, None, None]"),
    "where": Pair("x: n d, y: n -> n d", "return np.where(x > 0, x, y)", "return np.where(x > 0, x, y[:, None])"),
    "maximum": Pair("x: n d, y: m d -> n d", "return np.maximum(x, y)", "return np.maximum(x, y[0])"),
    "clip": Pair("x: n d, low: n -> n d", "return np.clip(x, low, None)", "return np.clip(x, low[:, None], None)"),
    "broadcast_to": Pair(
        "x: n -> n d",
        "return np.broadcast_to(x, (x.shape[0], 5)) @ np.ones((4, 2), np.float32)",
        "return np.broadcast_to(x[:, None], (x.shape[0], 5)) @ np.ones((5, 2), np.float32)",
    ),
    # ---------------------------------------------------------------- reductions
    "keepdims": Pair("x: n c -> n c", "return x - x.max(axis=1)", "return x - x.max(axis=1, keepdims=True)"),
    "axis": Pair("x: n c -> n", "return x.sum(axis=2)", "return x.sum(axis=1)"),
    "mean_axis": Pair("x: n c -> c", "return np.mean(x, axis=1)", "return np.mean(x, axis=0)"),
    "negative_axis": Pair(
        "x: b t h -> b h", "axis = -1\n    return x.mean(axis=axis)", "axis = -2\n    return x.mean(axis=axis)"
    ),
    "norm": Pair(
        "x: n d -> n d", "return x / np.linalg.norm(x, axis=1)", "return x / np.linalg.norm(x, axis=1, keepdims=True)"
    ),
    "var": Pair("x: n d -> d", "return np.var(x)", "return np.var(x, axis=0)"),
    "cumsum": Pair("x: n d -> n d", "return np.cumsum(x)", "return np.cumsum(x, axis=1)"),
    "logsumexp": Pair(
        "x: n d -> n d",
        "return x - scipy.special.logsumexp(x, axis=1)",
        "return x - scipy.special.logsumexp(x, axis=1, keepdims=True)",
    ),
    "argmax": Pair("x: n d -> n : int64", "return np.argmax(x, axis=0)", "return np.argmax(x, axis=1)"),
    # ---------------------------------------------------------------- indexing
    "last_step": Pair("x: b t h -> b h", "return x[-1]", "return x[:, -1]"),
    "too_many": Pair("x: n d -> n", "return x[:, 0, 0]", "return x[:, 0]"),
    "mask": Pair("x: n d -> _ d", "return x[x > 0]", "return x[x[:, 0] > 0]"),
    "none": Pair("x: n -> n 1", "return x[None]", "return x[:, None]"),
    "halves": Pair("x: n 8 -> n 4", "return x[:, : x.shape[1] // 3]", "return x[:, : x.shape[1] // 2]"),
    "strided": Pair("x: n 10 -> n 5", "return x[:, ::3]", "return x[:, ::2]"),
    "ellipsis": Pair("x: b h w c -> b h w", "return x[0, ...]", "return x[..., 0]"),
    "set_row": Pair(
        "x: n d, v: d -> n d", "y = x.copy()\n    y[:, 0] = v\n    return y", "y = x.copy()\n    y[0] = v\n    return y"
    ),
    "take": Pair("x: n d -> n 3", "return np.take(x, [0, 1, 2], axis=0)", "return np.take(x, [0, 1, 2], axis=1)"),
    # ---------------------------------------------------------------- shapes
    "reshape": Pair("x: 6 4 -> 8 3", "return x.reshape(8, 4)", "return x.reshape(8, 3)"),
    "flatten": Pair(
        "x: b 8 8 3 -> b 10",
        "return x.reshape(x.shape[0], -1) @ np.ones((8 * 8, 10), np.float32)",
        "return x.reshape(x.shape[0], -1) @ np.ones((8 * 8 * 3, 10), np.float32)",
    ),
    "transpose": Pair("x: b h w -> b w h", "return x.T", "return x.transpose(0, 2, 1)"),
    "transpose_rank": Pair("x: b h w -> b w h", "return x.transpose(1, 0)", "return np.swapaxes(x, 1, 2)"),
    "concatenate": Pair(
        "a: n d, b: n k -> n d+k", "return np.concatenate([a, b])", "return np.concatenate([a, b], axis=1)"
    ),
    "stack": Pair("a: n, b: n -> n 2", "return np.stack([a, b])", "return np.stack([a, b], axis=-1)"),
    "vstack": Pair("a: n d, b: n k -> n d+k", "return np.vstack([a, b])", "return np.hstack([a, b])"),
    "split": Pair(
        "x: n 9 -> n 3", "a, b = np.split(x, 2, axis=1)\n    return a", "a, b, c = np.split(x, 3, axis=1)\n    return a"
    ),
    "tile": Pair("x: n d -> n 2*d", "return np.tile(x, (2, 1))", "return np.tile(x, (1, 2))"),
    "repeat": Pair("x: n d -> 3*n d", "return np.repeat(x, 3, axis=1)", "return np.repeat(x, 3, axis=0)"),
    "pad": Pair("x: n d -> n+2 d", "return np.pad(x, 1)", "return np.pad(x, ((1, 1), (0, 0)))"),
    "squeeze": Pair("x: n 1 d -> n d", "return np.squeeze(x, axis=0)", "return np.squeeze(x, axis=1)"),
    "expand": Pair("x: n d -> n 1 d", "return np.expand_dims(x, 0)", "return np.expand_dims(x, 1)"),
    "moveaxis": Pair("x: b h w c -> b c h w", "return np.moveaxis(x, 1, -1)", "return np.moveaxis(x, -1, 1)"),
    "diff": Pair(
        "x: n 5 -> n 5", "return np.diff(x, axis=1)", "return np.diff(x, axis=1, prepend=0).astype(np.float32)"
    ),
    "ravel": Pair("x: n d -> n*d", "return x", "return x.ravel()"),
    # ---------------------------------------------------------------- linear algebra, convolution, transforms
    "solve": Pair("a: n n, b: m -> n", "return np.linalg.solve(a, b)", "return np.linalg.solve(a, a[0])"),
    "inv": Pair("a: n m -> n m", "return np.linalg.inv(a)", "return np.linalg.pinv(a).T"),
    "det": Pair("a: n 3 4 -> n", "return np.linalg.det(a)", "return np.linalg.det(a[:, :, :3])"),
    "trace": Pair("a: n n -> n", "return np.trace(a)", "return np.diagonal(a)"),
    "conv": Pair(
        "x: b 3 8 8 -> b 4 8 8",
        "return conv2d(x, np.ones((4, 1, 3, 3), np.float32), padding=1)",
        "return conv2d(x, np.ones((4, 3, 3, 3), np.float32), padding=1)",
    ),
    # ---------------------------------------------------------------- dtypes
    "astype": Pair("x: n -> n", "return x.astype(np.float64)", "return x.astype(np.float64).astype(np.float32)"),
    "promotion": Pair(
        "x: n -> n",
        "return x * np.linspace(0, 1, x.shape[0])",
        "return x * np.linspace(0, 1, x.shape[0], dtype=np.float32)",
    ),
    "in_place": Pair("x: n : int64 -> n : int64", "x *= 0.5\n    return x", "x *= 2\n    return x"),
    "division": Pair("x: n : int64 -> n : int64", "return x / 2", "return x // 2"),
    "int_buffer": Pair(
        "x: n : float64 -> n : float64",
        "y = np.zeros_like(x, dtype=int)\n    y[0] = 0.5\n    return y",
        "y = np.zeros_like(x)\n    y[0] = 0.5\n    return y",
    ),
    "complex": Pair("x: n : complex128 -> n : float64", "return np.abs(x) + 1j", "return np.abs(x)"),
    "mean_of_int": Pair("x: n d : int64 -> d : int64", "return x.mean(axis=0)", "return x.sum(axis=0)"),
    # ---------------------------------------------------------------- Python around it
    "constant": Pair(
        "x: n 784 -> n",
        "side = 28\n    return x @ np.ones(side * side + 1, np.float32)",
        "side = 28\n    return x @ np.ones(side * side, np.float32)",
    ),
    "helper": Pair("x: n d, y: k -> n d", "return centered(x) + centered(y)", "return centered(x) + centered(x)"),
    "helper_product": Pair("x: n d, w: n k -> d k", "return product(x, w)", "return product(x.T, w)"),
    "declared": Pair("x: n d, w: k d -> n k", "return affine(x, w)", "return affine(x, w.T)"),
    "declared_dtype": Pair("x: n d, w: d k -> n k", "return affine(x.astype(np.float64), w)", "return affine(x, w)"),
    "lambda": Pair(
        "x: n d, w: n k -> d k",
        "f = lambda a, b: a @ b\n    return f(x, w)",
        "f = lambda a, b: a.T @ b\n    return f(x, w)",
    ),
    "nested": Pair(
        "x: n d, w: d k -> n k",
        "def f(v):\n        return v @ w.T\n    return f(x)",
        "def f(v):\n        return v @ w\n    return f(x)",
    ),
    "loop": Pair(
        "x: t d, w: d d -> d",
        "h = np.zeros(x.shape[0], np.float32)\n    for row in x:\n        h = np.tanh(row + h @ w)\n    return h",
        "h = np.zeros(x.shape[1], np.float32)\n    for row in x:\n        h = np.tanh(row + h @ w)\n    return h",
    ),
    "unrolled": Pair(
        "x: n d -> n d",
        "for k in range(3):\n        x = x[:, :-1]\n    return x",
        "for k in range(3):\n        x = x + k\n    return x",
    ),
    "appended": Pair(
        "x: t d -> t d",
        "ys = []\n    for row in x:\n        ys.append(row[:-1])\n    return np.stack(ys)",
        "ys = []\n    for row in x:\n        ys.append(row * 2)\n    return np.stack(ys)",
    ),
    "comprehension": Pair(
        "x: t d -> t d", "return np.stack([row for row in x], axis=1)", "return np.stack([row for row in x])"
    ),
    "branches": Pair(
        "x: n d -> n d",
        "if x.ndim == 2:\n        x = x.T\n    return x",
        "if x.ndim == 3:\n        x = x.T\n    return x",
    ),
    "match": Pair(
        "x: n d -> n d",
        "match x.ndim:\n        case 2:\n            x = x.T\n    return x",
        "match x.ndim:\n        case 1 | 3:\n            x = x.T\n        case _ if x.ndim > 2:\n            x = x[0]\n"
        "    return x",
    ),
    "match_shape": Pair(
        "x: n d -> n",
        "match x.shape:\n        case (n, d):\n            x = x.sum(axis=0)\n    return x",
        "match x.shape:\n        case (n, 1):\n            x = x[:, 0]\n        case _:\n            x = x.mean(1)\n"
        "    return x",
    ),
    "truth": Pair(
        "x: n -> n", "return np.where((x > 0) and (x < 1), x, 0)", "return np.where((x > 0) & (x < 1), x, 0)"
    ),
    "chained": Pair("x: n -> n", "return x * (0 < x < 1)", "return x * ((0 < x) & (x < 1))"),
    "condition": Pair(
        "x: n d -> n d",
        "if x > 0:\n        x = x + 1\n    return x",
        "if len(x) and (x > 0).all():\n        x = x + 1\n    return x",
    ),
    "not": Pair("x: n -> n", "return x * (not x)", "return x * (not x.size)"),
    "maximum_of_two": Pair("x: n d -> n d", "return max(x, 0)", "return np.maximum(x, max(0, x.shape[0]))"),
    "math": Pair("x: n d -> n", "return math.exp(x.sum(axis=1))", "return np.exp(x.sum(axis=1)) * math.exp(1)"),
    "number": Pair("x: n d -> n d", "return x / float(x.sum(axis=1))", "return x / float(x.sum())"),
    "float_shape": Pair(
        "x: n 8 -> n 4",
        "return x @ np.zeros((8, x.shape[1] / 2), np.float32)",
        "return x @ np.zeros((8, x.shape[1] // 2), np.float32)",
    ),
    "float_reshape": Pair(
        "x: n 8 -> n 2 4", "return x.reshape(-1, x.shape[1] / 4, 4)", "return x.reshape(-1, x.shape[1] // 4, 4)"
    ),
    "float_range": Pair(
        "x: n 8 -> n",
        "y = x[:, 0]\n    for k in range(x.shape[1] / 2):\n        y = y + x[:, k]\n    return y",
        "y = x[:, 0]\n    for k in range(x.shape[1] // 2):\n        y = y + x[:, k]\n    return y",
    ),
    "float_slice": Pair("x: n 8 -> n 4", "return x[:, : x.shape[1] / 2]", "return x[:, : int(x.shape[1] / 2)][:, :4]"),
    "bitwise": Pair("x: n -> n", "return x * (x > 0 & x)", "return x * ((x > 0) & (x < 2))"),
    "minus_of_truths": Pair("a: n, b: n -> n : bool", "return (a > 0) - (b > 0)", "return (a > 0) ^ (b > 0)"),
    "reduced": Pair(
        "x: n d, a: d d, b: d k -> n k",
        "return functools.reduce(np.matmul, [x, b, a])",
        "return functools.reduce(np.matmul, [x, a, b])",
    ),
    "sum_of_generator": Pair(
        "x: n d, y: n k -> d k",
        "return sum(np.outer(b, a) for a, b in zip(x, y))",
        "return sum(np.outer(a, b) for a, b in zip(x, y))",
    ),
    "layers_in_a_list": Pair(
        "x: n 4, a: 4 8, b: 8 3 -> n 3",
        "for w in [b, a]:\n        x = np.tanh(x @ w)\n    return x",
        "for w in [a, b]:\n        x = np.tanh(x @ w)\n    return x",
    ),
    "split_of_a_name": Pair(
        "z: b 4*n, c: b n -> b n",
        "i, f, g, o = np.split(z, 4)\n    return f * c + i * g",
        "i, f, g, o = np.split(z, 4, axis=1)\n    return f * c + i * g",
    ),
    "object_product": Pair("x: n d, w: k d -> n k", "return Box(x) @ Box(w)", "return Box(x) @ Box(w.T)"),
    "object_entry": Pair("x: n d -> d", "return Box(x)[:, 0]", "return Box(x)[len(Box(x)) - 1]"),
    "named_tuple": Pair(
        "z: b 8, c: b 4 -> b 4",
        "i, f = Gates(z[:, 4:], z)\n    return f * c",
        "i, f = Gates(z[:, 4:], z)._replace(f=z[:, :4])\n    return f * c * i",
    ),
    "named_tuple_by_call": Pair(
        "x: n d, w: d k, b: k -> n k",
        "p = Affine(b, w)\n    return x @ p.w + p.b",
        "p = Affine(w, b=b)\n    return x @ p[0] + p.b",
    ),
    "enumeration": Pair(
        "x: n d -> n",
        "mode = Mode.COLUMNS\n    return x.sum(axis=1) if mode is Mode.ROWS else x.sum(axis=0)",
        "mode = Mode.ROWS\n    return x.sum(axis=1) if mode is Mode.ROWS else x.sum(axis=0)",
    ),
    "decorated_helper": Pair("x: n 8 -> n 4", "return halved(x)", "return halved(np.concatenate([x, x], axis=1))"),
    "product_of_sizes": Pair(
        "x: b 4 5 -> b 20",
        "return x.reshape(x.shape[0], np.prod(x.shape[2:]))",
        "return x.reshape(x.shape[0], int(np.prod(x.shape[1:])))",
    ),
    "product_as_operand": Pair("x: n d -> n d", "return x / np.prod(x.shape)", "return x / int(np.prod(x.shape))"),
    "early": Pair(
        "x: n d, y: n d -> n d",
        "if np.sum(x) > 0:\n        return x.T\n    return y",
        "if np.sum(x) > 0:\n        return x\n    return y",
    ),
    "unpacked": Pair(
        "x: b l h d -> b h d l",
        "b, l, h, d = x.shape\n    return np.transpose(x, (0, 2, 1, 3)) @ np.ones((l, l), np.float32)",
        "b, l, h, d = x.shape\n    return np.transpose(x, (0, 2, 3, 1)) @ np.ones((l, l), np.float32)",
    ),
    "walrus": Pair("x: n d -> n", "return (m := x.mean(axis=0)) + 0 * m", "return (m := x.mean(axis=1)) + 0 * m"),
    "linear": Pair("x: n 5 : float64 -> n 8 : float64", "return Linear(4, 8)(x)", "return Linear(5, 8)(x)"),
    "method": Pair("x: n 4 -> n 3", "return x @ Scaling(5).weight", "return x @ Scaling(4).weight"),
    "gradient": Pair(
        "x: n -> n", "return grad(lambda v: np.sum(v**2))(x)[:, None]", "return grad(lambda v: np.sum(v**2))(x)"
    ),
    "local_hint": Pair("x: n d -> n d", "y: Row = x\n    return x + y", "y: Row = x[0]\n    return x + y"),
    "augmented": Pair(
        "x: n d, y: m d -> n d", "z = x + 0\n    z += y\n    return z", "z = x + 0\n    z += y[0]\n    return z"
    ),
    "tuple": Pair(
        "x: n 2 3 -> n 3 2",
        "shape = (x.shape[0],) + x.shape[1:]\n    return x.reshape(shape)",
        "shape = x.shape[:1] + (3, 2)\n    return x.reshape(shape)",
    ),
    "keyword": Pair("x: n d -> n", "return np.sum(a=x, axis=0)", "return np.sum(a=x, axis=1)"),
    "partial_sum": Pair(
        "x: n d, y: n k -> n", "return sum([x, y]).sum(axis=1)", "return sum([x.sum(axis=1), y.sum(axis=1)])"
    ),
}


def source(pairs: dict[str, Pair] = PAIRS) -> str:
    """The pairs as a program of functions `bug_…` and `ok_…`."""
    text = PRELUDE
    for name, pair in pairs.items():
        for kind, body in (("bug", pair.wrong), ("ok", pair.right)):
            text += f"\n@symbolic\ndef {kind}_{name}({inputs(pair)}) -> {result(pair)}:\n    {body}\n"
    return text


def inputs(pair: Pair) -> str:
    return ", ".join(f"{name.strip()}: {hint(rest)}" for name, _, rest in parameters(pair))


def parameters(pair: Pair) -> list[tuple[str, str, str]]:
    return [one.partition(":") for one in pair.signature.partition("->")[0].split(",")]


def result(pair: Pair) -> str:
    return hint(pair.signature.partition("->")[2])


def hint(text: str) -> str:
    """`n d : int64` as it is written in a program; nothing is a number."""
    words, _, dtype = text.partition(":")
    if not words.strip():
        return "Annotated[float, Symbolic]"
    kind = dtype.strip() or "float32"
    kind = "np.bool_" if kind == "bool" else f"np.{kind}"
    return f'Annotated[np.ndarray, Symbolic[{kind}, "{words.strip()}"]]'
