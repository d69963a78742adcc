"""Which small programs write into views, copies and buffers, in an order that matters?"""

from __future__ import annotations

import collections
import copy
from typing import Any

import numpy as np
from plain_programs import Programs

PROGRAMS = Programs()
program = PROGRAMS.noted
W = np.arange(1.0, 10.0).reshape(3, 3)
MATRICES = [
    (np.array([[2.0, 1.1, 0.5], [1.2, -3.0, 0.25], [0.5, 4.0, 1.5]]),),
    (np.array([[-1.0, 0.2, 0.3], [0.5, 2.0, 1.3], [6.0, 0.1, -0.7]]),),
]
PAIRS = [(MATRICES[0][0], MATRICES[1][0]), (MATRICES[1][0], MATRICES[0][0])]


@program(MATRICES)
def rebind_base(x: Any) -> Any:
    a = x.copy()
    r = a[1]
    c = a[:, 2]
    d = r[1:]
    a = a * 2
    r += 1
    c *= 3
    d[0] = 9 * x[0, 0]
    return np.sum(a * W) + np.sum(r) + np.sum(c * c) + np.sum(d)


@program(MATRICES)
def view_chain(x: Any) -> Any:
    a = x.copy()
    v = a.T[1:, ::-1][:, 1:]
    v[0] = x[0, :2]
    v += a[0, 0]
    w = v.T
    w[1] *= 2
    return np.sum(a * W) + np.sum(w)


@program(MATRICES)
def fancy_copies(x: Any) -> Any:
    a = x.copy()
    b = a[[0, 1]]
    b[0] = 5 * x[1]
    a[0] = 1
    c = a[np.array([True, False, True])]
    c *= 2
    return np.sum(a * W) + np.sum(b) + np.sum(c)


@program(MATRICES)
def fancy_of_view(x: Any) -> Any:
    a = x.copy()
    b = a[1:][[0]]
    b += 3
    d = a[0:2][:, [0, 1]]
    d[0, 0] = 9
    a[1:][[0, 1], [0, 1]] = x[0, 0]
    return np.sum(a * W) + np.sum(b) + np.sum(d)


@program(MATRICES)
def chained_index(x: Any) -> Any:
    a = x.copy()
    a[0][1] = 7 * x[0, 0]
    a[1][1:][0] += 1
    a[2, :][:2] = x[0, 1:]
    a.T[0][2] = x[1, 1]
    return np.sum(a * W)


@program(MATRICES)
def assign_to_temp_copies(x: Any) -> Any:
    a = x.copy()
    a[[0]][0] = 7
    a[x > 0][0] = 3
    a.copy()[0] = 9
    (a + 0)[0] = 8
    a.flatten()[0] = 3
    return np.sum(a * W)


@program(MATRICES)
def row_assign_copies(x: Any) -> Any:
    a = x.copy()
    a[0] = a[1]
    a[1] += 1
    b = a[2]
    a[2] = a[0]
    a[0] *= 5
    return np.sum(a * W) + np.sum(b)


@program(MATRICES)
def swap_rows_views_bug(x: Any) -> Any:
    a = x.copy()
    a[0], a[1] = (a[1], a[0])
    return np.sum(a * W)


@program(MATRICES)
def swap_cols(x: Any) -> Any:
    a = x.copy()
    a[:, 0], a[:, 1] = (a[:, 1], a[:, 0].copy())
    t = a[0]
    a[0] = a[1]
    a[1] = t
    return np.sum(a * W)


@program(MATRICES)
def lu_step(x: Any) -> Any:
    a = x.copy()
    a[1:, 1:] -= np.outer(a[1:, 0], a[0, 1:]) / a[0, 0]
    a[1:, 0] /= a[0, 0]
    return np.sum(a * W)


@program(MATRICES)
def self_assign(x: Any) -> Any:
    a = x.copy()
    a[...] = a.T
    a[:] = a[::-1]
    a[:, :] = a @ a
    return np.sum(a * W)


@program(MATRICES)
def aug_self_view(x: Any) -> Any:
    a = x.copy()
    a += a.T
    a -= a[0]
    a *= a[:, :1]
    return np.sum(a * W)


@program(MATRICES)
def view_overlap(x: Any) -> Any:
    a = x.copy()
    v = a[0]
    v[:] = v[::-1]
    v[1:] = v[:-1]
    v[:2] += v[1:]
    return np.sum(a * W)


@program(MATRICES)
def transpose_atleast3d(x: Any) -> Any:
    a = np.array(x)
    b = np.transpose(a, (1, 0))
    b[0] = 3 * x[1]
    c = np.atleast_3d(a)
    c[1, 1, 0] = 5
    return np.sum(a * W)


@program(MATRICES)
def broadcast_view_read(x: Any) -> Any:
    a = np.array(x)
    b = np.broadcast_to(a[0], (3, 3))
    c = b + 0
    a[0, 0] = 100.0
    return np.sum(b * W) + np.sum(c)


@program(MATRICES)
def splits(x: Any) -> Any:
    a = np.array(x)
    b, c = np.hsplit(a, [1])
    b[:] = 1.0
    c[0] *= 2
    d = np.array_split(a, 2)
    d[1][0, 0] = x[0, 0] * 9
    e = np.vsplit(a, 3)
    e[0] += 1
    return np.sum(a * W) + np.sum(b)


@program(MATRICES)
def list_a_views(x: Any) -> Any:
    a = np.array(x)
    rows = list(a)
    rows[0][1] = 5 * x[2, 2]
    rows[1] = rows[1] * 2
    rows[2] *= 3
    return np.sum(a * W) + sum(np.sum(r) for r in rows)


@program(MATRICES)
def dict_unpack_views(x: Any) -> Any:
    a = np.array(x)
    d = {k: row for k, row in enumerate(a)}  # noqa: C416 - this form is meant
    d[0][1] = 5 * x[2, 2]
    d[1] += 1
    p, _, r = a
    p *= 2
    r[0] = x[0, 0]
    return np.sum(a * W) + np.sum(d[2])


@program(MATRICES)
def copy_deepcopy(x: Any) -> Any:
    a = x.copy()
    b = copy.copy(a)
    c = copy.deepcopy({"a": a, "l": [a]})
    a[0] = 1
    c["a"][1] = 2
    return np.sum(b * W) + np.sum(c["a"] * W) + np.sum(c["l"][0]) + np.sum(a)


@program(MATRICES)
def deepcopy_made(x: Any) -> Any:
    a = np.zeros((3, 3))
    b = copy.deepcopy([a, a])
    b[0][0] = x[0]
    c = a.copy()
    c[1] = x[1]
    return np.sum(a) + np.sum(b[1] * W) + np.sum(c * W)


@program(MATRICES)
def rebind_made(x: Any) -> Any:
    a = np.zeros((3, 3))
    b = a
    a = a + 0
    a[0] = x[0]
    return np.sum(b) + np.sum(a * W)


@program(MATRICES)
def made_view(x: Any) -> Any:
    a = np.zeros((3, 3))
    b = a[0]
    a[0] = x[0]
    s = np.sum(b)
    b[:] = x[1]
    return s + np.sum(a * W)


@program(MATRICES)
def made_snapshot(x: Any) -> Any:
    a = np.zeros(3)
    k = a * 2
    a[0] = x[0, 0]
    layer = a * 2
    a[1] = x[0, 1]
    return np.sum(k) + np.sum(layer) + np.sum(a)


@program(MATRICES)
def made_mask_snapshot(x: Any) -> Any:
    a = np.ones(3)
    m = a > 0
    a[0] = -x[0, 0]
    n = a > 0
    return np.sum(m) * x[0, 0] + np.sum(n) * x[0, 1] + np.sum(a[m])


@program(MATRICES)
def made_astype_alias(x: Any) -> Any:
    a = np.zeros(3, int)
    b = a.astype(float)
    b[0] = x[0, 0]
    c = a.astype(int, copy=False)
    c[0] = 4
    return np.sum(a) * x[0, 0] + np.sum(b)


def _added(buf: Any, v: Any) -> Any:
    buf[0] += v
    return buf


@program(MATRICES)
def buffer_helper(x: Any) -> Any:
    a = np.zeros(3)
    for k in range(3):
        b = _added(a, x[0, k])
    return np.sum(b) + np.sum(a * 2)


def _summed(v: Any, buf: Any = np.zeros(3)) -> Any:  # noqa: B008 - such a default is meant
    buf = buf + 0
    buf[0] = v
    return np.sum(buf)


@program(MATRICES)
def default_arr_copy(x: Any) -> Any:
    return _summed(x[0, 0]) + _summed(x[0, 1])


class Net:
    def __init__(self) -> None:
        self.h = np.zeros(3)
        self.log: list[Any] = []

    def step(self, v: Any) -> Any:
        self.h = np.tanh(self.h + v)
        self.log.append(self.h)
        self.h[0] = 0.5 * v[1]
        return self.h


@program(MATRICES)
def rnn_class(x: Any) -> Any:
    n = Net()
    [n.step(r) for r in x]
    return np.sum(n.h) + sum(np.sum(layer) for layer in n.log)


@program(MATRICES)
def reductions_before(x: Any) -> Any:
    a = x.copy()
    s = a.sum()
    m = a.max(0)
    i = a.argmax(1)
    a[0, i[0]] = 0
    a[:] = a - m
    return np.sum(a * W) + s + np.sum(a[np.arange(3), i])


@program(MATRICES)
def reused_row_buffer(x: Any) -> Any:
    out = []
    row = np.zeros(3)
    for r in x:
        row[:] = r * 2
        out.append(row)
    return np.sum(np.array(out) * W)


@program(MATRICES)
def reused_row_buffer_copy(x: Any) -> Any:
    out = []
    row = np.zeros(3)
    for r in x:
        row[:] = r * 2
        out.append(np.array(row))
    return np.sum(np.array(out) * W) + np.sum(np.vstack(out))


@program(MATRICES)
def deque_states(x: Any) -> Any:
    q = collections.deque([np.zeros(3)], maxlen=2)
    for r in x:
        new = q[-1] * 0.5 + r
        new[0] = q[0][1]
        q.append(new)
    return np.sum(q[0] * W) + np.sum(q[1])


@program(MATRICES)
def lu(x: Any) -> Any:
    a = x.copy()
    lower = np.eye(3)
    for k in range(3):
        for i in range(k + 1, 3):
            lower[i, k] = a[i, k] / a[k, k]
            a[i] -= lower[i, k] * a[k]
    return np.sum(lower * W) + np.sum(a * W)


@program(MATRICES)
def gram_schmidt(x: Any) -> Any:
    q = np.zeros_like(x)
    r = np.zeros_like(x)
    for j in range(3):
        v = x[:, j].copy()
        for i in range(j):
            r[i, j] = q[:, i] @ x[:, j]
            v -= r[i, j] * q[:, i]
        r[j, j] = np.sqrt(v @ v)
        q[:, j] = v / r[j, j]
    return np.sum(r * W) + np.sum(q * W)


@program(MATRICES)
def param_rebind(x: Any) -> Any:
    x = x.copy()
    x[0] = x[1]
    y = x
    y[2] = 0.0
    x = x * 2
    x[1] = y[0]
    return np.sum(x * W) + np.sum(y)


@program(MATRICES)
def inplace_on_arg(x: Any) -> Any:
    x[0] = x[1]
    y = x[2]
    y *= 2
    return np.sum(x * W)


@program(PAIRS)
def two_args_inplace(x: Any, y: Any) -> Any:
    x += y
    y[0] = x[0]
    x[1] = y[1]
    return np.sum(x * W) + np.sum(y)


@program(MATRICES)
def mask_chain(x: Any) -> Any:
    a = np.where(x > 0, x, 0)
    a[a == 0] = -1
    a[(a > 0) & (a < 1)] = x[0, 0]
    a[np.isnan(a)] = 0
    return np.sum(a * W)


@program(MATRICES)
def mask_mutated(x: Any) -> Any:
    a = x.copy()
    m = a > 0
    a[m] += 1
    a[m] *= 2
    m[0] = False
    a[m] = 3
    m &= a > 1
    a[~m] -= 1
    return np.sum(a * W)


@program(MATRICES)
def made_mask(x: Any) -> Any:
    m = np.zeros(3, bool)
    m[1] = x[0, 0] > 0
    m |= x[0] > 1
    return np.sum(x[:, m])


@program(MATRICES)
def normalize(x: Any) -> Any:
    a = x.copy()
    a[1, :] = a[1, :] / a[1].sum()
    a[:, 1] /= np.linalg.norm(a[:, 1])
    a[a.argmax() // 3] = 0
    return np.sum(a * W)


@program(MATRICES)
def index_forms(x: Any) -> Any:
    a = x.copy()
    a[-1, -1] = 1
    a[-1:] += 1
    a[:-1, ::2] = 5 * x[0, 0]
    a[..., 0] = 2
    a[None, 1, ..., 2] = x[1, 1]
    a[np.newaxis][0, 0, 0] = 8
    return np.sum(a * W)


@program(MATRICES)
def index_forms2(x: Any) -> Any:
    a = x.copy()
    a[1, [0, 2]] = x[0, [2, 0]]
    a[[0, 2], :2] = x[1:, 1:]
    a[np.ix_([0, 2], [0, 2])] *= 2
    a[(0, 1), (2, 2)] = 7
    a[np.array([0]), 1] = x[2, 2]
    i = (1, 1)
    a[i] += 3
    return np.sum(a * W)


@program(MATRICES)
def grow_arrays(x: Any) -> Any:
    e = np.empty((0, 3))
    for r in x:
        if r[0] > 0.6:
            e = np.vstack([e, r])
    e2 = np.array([])
    for r in x:
        e2 = np.append(e2, r[1])
    e2[0] = x[0, 0]
    return np.sum(e) + np.sum(e2 * [1, 2, 3]) + len(e) * x[0, 0]


@program(MATRICES)
def sum_from_int(x: Any) -> Any:
    s: Any = 0
    for r in x:
        s += r
    s[0] = 9.0 * x[0, 0]
    return np.sum(s) + np.sum(x)


@program(MATRICES)
def unary_copies(x: Any) -> Any:
    s = x[0]
    for r in x[1:]:
        s = s + r
    t = x[0].copy()
    t += x[1]
    u = +x[0]
    u += 1
    w = x[0] * 1
    w += 1
    v = -x[0]
    v -= 1
    return np.sum(s * t) + np.sum(u * w) + np.sum(v)


@program(MATRICES)
def aliased_sum_mutates_arg(x: Any) -> Any:
    s = x[0]
    for r in x[1:]:
        s += r
    return np.sum(s * [1, 2, 3]) + np.sum(x)


@program(MATRICES)
def ravel_read(x: Any) -> Any:
    a = np.asarray(x)
    a = a.astype(float)
    b = a.ravel()
    c = np.ravel(x)
    return np.sum(a) + np.sum(b * c)


@program(MATRICES)
def out_returns_same(x: Any) -> Any:
    a = x.copy()
    b = np.maximum(a, 0, out=a)
    a[0] = 1
    return np.sum(b * W)


@program(MATRICES)
def sort_axis(x: Any) -> Any:
    a = x.copy()
    a.sort(0)
    b = np.sort(x, axis=None)
    a[0] = b[:3]
    a[1].sort()
    return np.sum(a * W)


# --------------------------------------------------------------------------- arrays without axes


@program(MATRICES)
def a_number_as_an_array(x: Any) -> Any:
    y = np.array(x[0, 0])
    z = y
    y += 1
    return z * 2 + y * x[1, 1]


@program(MATRICES)
def a_view_of_a_number_as_an_array(x: Any) -> Any:
    n = np.array(x[0, 0])
    m = n[...]
    m[...] = x[0, 1] * 3
    return n * 2 + x[0, 0]


@program(MATRICES)
def an_entry_of_nothing(x: Any) -> Any:
    n = np.array(x[0, 0])
    n[()] = x[1, 0] ** 2
    n *= 2
    return n + x[0, 2] * isinstance(n, np.ndarray)
