"""Pairs of bodies for the lints, one wrong and one right: what they take, what they say, and what they say well."""

from __future__ import annotations

from typing import NamedTuple


class Pair(NamedTuple):
    """Parameters as `tests.abstractly.values` reads them; `others` are those of the right one, where they differ."""

    given: str
    wrong: str
    right: str
    others: str = ""


PAIRS: dict[str, list[Pair]] = {
    "two-way-broadcast": [
        Pair("pred n 1; y n", "return np.mean((pred - y) ** 2)", "return np.mean((pred - y[:, None]) ** 2)"),
        Pair("x n d; w d 1; y n", "return ((x @ w - y) ** 2).mean()", "return (((x @ w)[:, 0] - y) ** 2).mean()"),
        Pair("p batch 1; y batch", "return np.abs(y - p).sum()", "return np.abs(y - np.squeeze(p, axis=1)).sum()"),
        Pair("p 32 1; y 32", "return np.maximum(p, y)", "return np.maximum(p, y.reshape(-1, 1))"),
        Pair("p n 1 d; y n d", "return p - y", "return p[:, 0] - y"),
        Pair("x n d; y n", "s = x.sum(axis=1, keepdims=True)\nreturn s * y", "s = x.sum(axis=1)\nreturn s * y"),
        Pair("p n 1; y n", "return (np.exp(p) > y).mean()", "return (np.exp(p) > y[:, np.newaxis]).mean()"),
        Pair("x n d; y n", "return x[:, :1] - y", "return x[:, 0] - y"),
        # each with each, on purpose
        Pair("p n 1; y n", "return p + y", "return y[:, None] - y"),
        Pair("p n 1; y n", "return p + y", "return y.reshape(-1, 1) == y"),
        Pair("p n 1; y n", "return p + y", "return np.expand_dims(y, 1) * y"),
        Pair("p n 1; y n", "return p + y", "c = y[:, None]\nreturn np.exp(-(c * 2.0)) - y"),
        Pair("p n 1; y n", "return p + y", "return y[:, None] - y[None, :]"),
        Pair("p n 1; y n", "return p + y", "return p + y", "p n 1; y m"),
        Pair("p n 1; y n", "return p + y", "return p + y", "p n 1; y 1 n"),
        Pair(
            "p n 1; x n d",
            "return p + x[:, 0]",
            "return (x * x).sum(1, keepdims=True) + (x * x).sum(1) - 2.0 * x @ x.T",
        ),
        Pair("p n 1; x n d", "return p + x[:, 0]", "return x[:, None] - x"),
        Pair("p n 1; x n d", "return p + x[:, 0]", "n = x.shape[0]\nreturn np.arange(n)[:, None] >= np.arange(n)"),
        Pair("p n 1; x n d", "return p + x[:, 0]", "return p + np.arange(x.shape[0])"),
        Pair("p n 1; x n d", "return p * x[:, 0]", "return x - x.mean(axis=1, keepdims=True)"),
    ],
    "vector-in-square": [
        Pair("logits p p; bias p", "return logits + bias", "return logits + bias[:, None]"),
        Pair("a b p p; v p", "return a * v", "return a * v[None, None, :]"),
        Pair("a p p; v p", "return v / a", "return v[None, :] / a"),
        Pair("a p p; v p", "return a - np.exp(v)", "return a @ np.exp(v)"),
        Pair("a p p; x p d", "return a - x.mean(axis=1)", "return a - x.mean(axis=1)[:, None]"),
        Pair("a p p; v p", "return np.minimum(a, v)", "return np.minimum(a, v[None])"),
        Pair("a p p; v p", "return (a * v).sum(axis=1)", "return a @ v"),
        # reduced, taken apart, or made for it
        Pair("a p p; v p", "return a + v", "return a - a.mean(axis=0)"),
        Pair("a p p; v p", "return a + v", "s = np.sqrt(np.diag(a))\nreturn a / s / s[:, None]"),
        Pair("a p p; v p", "return a + v", "w, q = np.linalg.eigh(a)\nreturn (q * w) @ q.T"),
        Pair("a p p; v p", "return a + v", "u, s, t = np.linalg.svd(a)\nreturn (u * s) @ t"),
        Pair("a p p; v p", "return a + v", "return np.eye(v.shape[0], dtype=np.float32) * v"),
        Pair("a p p; v p", "return a + v", "return v[:, None] * a * v"),
        Pair("a p p; v p", "return a + v", "return v[:, None] + a + v"),
        Pair("a p p; v p", "return a + v", "return a + v", "a p q; v q"),
        Pair("a p p; v p", "return a + v", "return a + v", "a 3 3; v 3"),
        Pair("a p p; b p p; v p", "return a + v", "return a - b.mean(axis=0)"),
        Pair("a p p; v p", "return a + v", "return v @ a + v"),
        Pair("a p p; v p", "return a + v", "return a * np.arange(a.shape[0])"),
    ],
    "missing-keepdims": [
        Pair("a p p", "return a / a.sum(axis=1)", "return a / a.sum(axis=1, keepdims=True)"),
        Pair("a p p", "return a - np.mean(a, axis=1)", "return a - np.mean(a, axis=0)"),
        Pair("a p p", "e = np.exp(a)\nreturn e / np.sum(e, -1)", "e = np.exp(a)\nreturn e / np.sum(e, -1)[:, None]"),
        Pair("a p p", "return a - a.max(axis=1)", "return a - a.max()"),
        Pair("a b p p", "return a - a.mean(axis=(0, 2))", "return a - a.mean(axis=(0, 1))"),
        Pair("a p p", "return a / np.sqrt(a.var(axis=1) + 1e-5)", "return a / np.sqrt(a.var(axis=0) + 1e-5)"),
        Pair("a p p", "return a / np.linalg.norm(a, axis=1)", "return (a.T / np.linalg.norm(a, axis=1)).T"),
        Pair("a n 1", "return a - a.mean(axis=1)", "return a - a.mean(axis=0)"),
        Pair("a p p", "return a - a.min(axis=1)", "return a - a.min(axis=1).reshape(-1, 1)"),
    ],
    "softmax-of-one": [
        Pair("x n 1", "return symbolic.softmax(x)", "return symbolic.softmax(x, axis=0)"),
        Pair("x n 1", "return symbolic.softmax(x, axis=1)", "return symbolic.softmax(x, axis=1)", "x n 2"),
        Pair("x n 1", "return symbolic.log_softmax(x, axis=-1)", "return symbolic.log_softmax(x, axis=-1)", "x n c"),
        Pair("x n 1 c", "return symbolic.softmax(x, axis=1)", "return symbolic.softmax(x, axis=2)"),
        Pair(
            "x n d; w d 1",
            "return symbolic.softmax(x @ w)",
            "return symbolic.softmax((x @ w)[:, 0])",
        ),
        Pair(
            "x n 1",
            "e = np.exp(x)\nreturn e / e.sum(axis=1, keepdims=True)",
            "e = np.exp(x)\nreturn e / e.sum(axis=0)",
        ),
        Pair("x n c", "return symbolic.softmax(x[:, None], axis=1)", "return symbolic.softmax(x[:, None], axis=2)"),
    ],
    "softmax-over-batch": [
        Pair("x batch c", "return symbolic.softmax(x, axis=0)", "return symbolic.softmax(x, axis=1)"),
        Pair("x n 10", "return symbolic.softmax(x, 0)", "return symbolic.softmax(x, -1)"),
        Pair("x b t c", "return symbolic.log_softmax(x, axis=0)", "return symbolic.log_softmax(x, axis=1)"),
        Pair("x n c", "e = np.exp(x)\nreturn e / e.sum(axis=0)", "e = np.exp(x)\nreturn e / e.sum(axis=1)[:, None]"),
        Pair(
            "x n c",
            "e = np.exp(x - x.max())\nreturn e / np.sum(e, axis=0, keepdims=True)",
            "e = np.exp(x - x.max(axis=0))\nreturn e / np.sum(e, axis=1, keepdims=True)",
        ),
        Pair("x t batch c", "return symbolic.softmax(x, axis=1)", "return symbolic.softmax(x, axis=0)"),
        # no batch, for all that is known
        Pair("x batch c", "return symbolic.softmax(x, 0)", "return symbolic.softmax(x, axis=0)", "x n"),
        Pair("x batch c", "return symbolic.softmax(x, 0)", "return symbolic.softmax(x, axis=0)", "x n 1"),
        Pair("x batch c", "return symbolic.softmax(x, 0)", "return symbolic.softmax(x, axis=0)", "x keys queries"),
        Pair("x batch c", "return symbolic.softmax(x, 0)", "return symbolic.softmax(x, axis=0)", "x classes n"),
        Pair("x batch c", "return symbolic.softmax(x, 0)", "return symbolic.softmax(x, axis=0)", "x classes batch"),
        Pair("x batch c", "return symbolic.softmax(x, 0)", "return x / x.sum(axis=0)"),
        Pair("x batch c", "return symbolic.softmax(x, 0)", "e = np.exp(x)\nreturn e / e.mean(axis=0)"),
    ],
    "squeeze-without-axis": [
        Pair("x n 1", "return x.squeeze()", "return x.squeeze(axis=1)"),
        Pair("x n 1", "return np.squeeze(x)", "return np.squeeze(x, 1)"),
        Pair("x n 1 d 1", "return np.squeeze(x)", "return np.squeeze(x, axis=(1, 3))"),
        Pair("x n d", "return x.squeeze()", "return x.squeeze()", "x 3 1"),
        Pair("x b d; w d 1", "return (x @ w).squeeze()", "return (x @ w)[:, 0]"),
        Pair("x n*m 1", "return x.squeeze()", "return x.squeeze()", "x 2*n 1"),
        Pair("x n+m-1 1", "return x.squeeze()", "return x.squeeze()", "x n+1 1"),
        Pair("x n d", "return x[:, :1].squeeze()", "return x[:2, :1].squeeze()", "x 5 4"),
    ],
    "reshape-permutes": [
        Pair(
            "q b l h d",
            "b, l, h, d = q.shape\nreturn q.reshape(b, h, l, d)",
            "return q.transpose(0, 2, 1, 3)",
        ),
        Pair("x n m", "return x.reshape(x.shape[1], x.shape[0])", "return x.T"),
        Pair("x n 3", "return x.reshape(3, -1)", "return x.reshape(-1, 3)"),
        Pair("x h w c", "h, w, c = x.shape\nreturn np.reshape(x, (c, h, w))", "return np.transpose(x, (2, 0, 1))"),
        Pair(
            "q b l h d",
            "b, l, h, d = q.shape\nreturn q.reshape(b * h, l, d)",
            "b, l, h, d = q.shape\nreturn q.transpose(0, 2, 1, 3).reshape(b * h, l, d)",
        ),
        Pair(
            "q b l 8*d",
            "b, l, e = q.shape\nreturn q.reshape(b, 8, l, e // 8)",
            "b, l, e = q.shape\nreturn q.reshape(b, l, 8, e // 8).transpose(0, 2, 1, 3)",
        ),
        # the order stays
        Pair("x n m", "return x.reshape(-1, x.shape[0])", "return x.reshape(-1)"),
        Pair("x n m", "return x.reshape(-1, x.shape[0])", "return x.reshape(1, -1)", "x n 1"),
        Pair("x n m", "return x.reshape(-1, x.shape[0])", "return x.reshape(3, 2)", "x 2 3"),
        Pair("x n m", "return x.reshape(-1, x.shape[0])", "return x.reshape(x.shape[0], x.shape[0])", "x n n"),
        Pair(
            "x n m",
            "return x.reshape(-1, x.shape[0])",
            "b, c, h, w = x.shape\nreturn x.reshape(b, c // 2, 2, h, w).transpose(0, 2, 1, 3, 4).reshape(b, c, h, w)",
            "x b 2*g h w",
        ),
        Pair("x n m", "return x.reshape(-1, x.shape[0])", "return x.reshape(x.shape[0] * x.shape[1], 1, 1)"),
        Pair("x n m", "return x.reshape(-1, x.shape[0])", "return x.reshape(x.shape[::-1], order='F')"),
    ],
    "transpose-of-vector": [
        Pair("v n", "return v.T * 2.0", "return v[:, None] * 2.0"),
        Pair("v n", "return np.transpose(v)", "return np.transpose(v)", "v n 1"),
        Pair("v n", "return v.transpose()", "return v.transpose()", "v n m"),
        Pair("v n", "return v @ v.T", "return np.outer(v, v)"),
        Pair("a n m", "return a[0].T", "return a.T[0]"),
        Pair("a n m", "return a.mean(axis=0).T", "return a.mean(axis=0, keepdims=True).T"),
        Pair("a n m", "return a[:, 0].T", "return a[:, :1].T"),
    ],
    "float32-made-float64": [
        Pair("x n; w:float64 n", "return x * w", "return x * w.astype(np.float32)"),
        Pair("x n", "return x * np.float64(2.0)", "return x * 2.0"),
        Pair("x n", "return x / np.sqrt(2)", "return x / math.sqrt(2)"),
        Pair("a n d; b:float64 m d", "return np.concatenate([a, b])", "return np.concatenate([a, b])", "a n d; b m d"),
        Pair("x n", "return x + np.ones(x.shape[0])", "return x + np.ones(x.shape[0], dtype=np.float32)"),
        Pair("x n d; w:float64 d k", "return x @ w", "return x @ w", "x:float64 n d; w:float64 d k"),
        Pair("x n; w:float64 n", "return np.where(x > 0, x, w)", "return np.where(x > 0, x, 0.0)"),
        Pair("x n; w:float64 n", "return np.dot(x, w)", "return np.dot(x.astype(np.float64), w)"),
        Pair("x n; w:float64 n", "return w - x", "return x * np.pi"),
        Pair("x n; w:float64 n", "return w - x", "w += x\nreturn w"),
        Pair("x n; w:float64 n", "return w - x", "return x * s", "x n; s:float"),
        Pair("x n; w:float64 n", "return w - x", "return x - x.mean()"),
        Pair("x n; w:float64 n", "return w - x", "return x < w"),
        Pair("x n; w:float64 n", "return w - x", "return x.astype(np.float64)"),
    ],
    "unsigned-subtraction": [
        Pair("a:uint8 h w; b:uint8 h w", "return a - b", "return a.astype(np.int16) - b"),
        Pair("a:uint8 h w", "return a - 128", "return a - 128.0"),
        Pair("a:uint8 h w", "return a[1:] - a[:-1]", "return np.maximum(a[1:], a[:-1]) > 3"),
        Pair("a:uint16 n; b:uint16 n", "return np.abs(a - b)", "return np.maximum(a, b) - np.minimum(a, b)"),
        Pair("a:uint64 n; b:uint64 n", "return np.subtract(a, b)", "return np.add(a, b)"),
        Pair("a:uint8 n; b:uint8 n", "a -= b\nreturn a", "a += b\nreturn a"),
        Pair("a:uint32 n; b:uint32 n", "return a[1:] - b[:-1]", "return a[1:] - b[:-1]", "a:int32 n; b:int32 n"),
        Pair("a:uint8 h w; b:uint8 h w", "return a - b", "return 255 - a"),
        Pair("a:uint8 h w; b:uint8 h w", "return a - b", "return a - a.min()"),
        Pair("a:uint8 h w; b:uint8 h w", "return a - b", "return a.max() - a"),
        Pair("a:uint8 h w; b:uint8 h w", "return a - b", "return a - a % 16"),
        Pair("a:uint8 h w; b:uint8 h w", "return a - b", "return np.maximum(a, b) - b"),
        Pair("a:uint8 h w; b:uint8 h w", "return a - b", "return a.max(axis=0) - a.min(axis=0)"),
        Pair("a:uint8 h w; b:uint8 h w", "return a - b", "return a / 255.0 - b / 255.0"),
    ],
    "int64-with-uint64": [
        Pair("a:int64 n", "return a + np.uint64(10)", "return a + np.int64(10)"),
        Pair("a:int64 n; b:uint64 n", "return a * b", "return a * b.astype(np.int64)"),
        Pair("a:int64 n; b:uint64 m", "return np.concatenate([a, b])", "return np.concatenate([a, a])"),
        Pair("a:int64 n; b:uint64 n", "return np.where(a > 0, a, b)", "return np.where(a > 0, b, 0)"),
        Pair("a:int32 n; b:uint64 n", "return a - b", "return a - b", "a:int32 n; b:uint32 n"),
        Pair("a:int64 n; b:uint64 n", "return np.maximum(a, b)", "return np.maximum(b, 3)"),
        Pair("a:int64 n; b:uint64 n", "return a // b", "return a / b"),
        Pair("a:int64 n; b:uint64 n", "return a % b", "return a == b"),
    ],
}
