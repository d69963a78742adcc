"""Which small programs make arrays and write into them? Every form of assignment, views, and their order."""

from __future__ import annotations

import copy
import functools
import math
from typing import Any

import numpy as np
from plain_programs import MATRICES, NUMBERS, PAIRS, VECTORS, P, Programs, Q, R

PROGRAMS = Programs()
program = PROGRAMS.noted
FOUR = [(np.arange(4.0) + 0.3,), (np.array([2.0, -1.0, 0.5, 3.0]),), (np.array([-2.0, -1.0, 4.0, 1.5]),)]
CUBES = [(np.linspace(-1.0, 2.0, 24).reshape(2, 3, 4),), (np.linspace(2.0, -3.0, 24).reshape(2, 3, 4),)]
W = np.array([[1.0, 2.0, -1.0], [0.5, -2.0, 3.0], [4.0, 0.25, 1.0]])


# --------------------------------------------------------------------------- making


@program(PAIRS)
def array_of_numbers(x: Any, y: Any) -> Any:
    a = np.array([x, y, 1.0])
    return np.sum(a * a[::-1]) + a[0]


@program(PAIRS)
def nested_array(x: Any, y: Any) -> Any:
    a = np.array([[math.cos(x), -math.sin(x)], [math.sin(x), math.cos(x)]])
    return (a @ np.array([y, 1.0]))[0] + np.linalg.det(a) * y


@program(VECTORS)
def array_of_rows(x: Any) -> Any:
    a = np.array([x, 2 * x, [1.0] * len(x)])
    return np.sum(a[0] * a[1] + a[2])


@program(PAIRS)
def array_of_mixed_kinds(x: Any, y: Any) -> Any:
    a = np.array([1, x, True, y], dtype=np.float32)
    assert a.dtype == np.float32
    return float(np.sum(a.astype(float) * [1, 2, 3, 4])) + 0.0 * x if False else np.sum(np.array([1, x, y]) ** 2)


@program(NUMBERS)
def zeros_then_entries(x: Any) -> Any:
    y = np.zeros(4)
    for k in range(4):
        y[k] = x**k if k % 2 else x + k
    return np.sum(y * y)


@program(NUMBERS)
def empty_then_all(x: Any) -> Any:
    y = np.empty((2, 2))
    y[0, 0], y[0, 1] = x, 1.0
    y[1] = [x * x, 2 * x]
    return np.linalg.det(y)


@program(NUMBERS)
def full_and_like(x: Any) -> Any:
    y = np.full((2, 3), x)
    z = np.full_like(y, x * x)
    y[0] += z[1]
    return np.sum(y * z)


@program(NUMBERS)
def eye_and_diagonal(x: Any) -> Any:
    a = np.eye(3) * x
    a[0, 2] = x * x
    a[np.diag_indices(3)] += 1.0
    b = np.eye(3)
    b[1] = a[0]
    return np.trace(a @ b) + np.sum(np.diag([x, 2.0, x]))


@program(VECTORS)
def zeros_like(x: Any) -> Any:
    y = np.zeros_like(x)
    y[1:] = np.diff(x)
    y[0] = y[-1] if x[0] > 0 else x[0]
    return np.sum(y * x)


@program(VECTORS)
def list_then_array(x: Any) -> Any:
    out = []
    for v in x:
        out.append(v * v if v > 0 else math.exp(v))
    return np.array(out).sum() + np.asarray(out).max() + np.mean(out)


@program(VECTORS)
def fromiter(x: Any) -> Any:
    return np.sum(np.fromiter((v * k for k, v in enumerate(x)), float) ** 2)


@program(VECTORS)
def r_and_c(x: Any) -> Any:
    a = np.r_[0.0, x, x[::-1]]
    b = np.c_[x, x * x]
    return np.sum(a[1:] * a[:-1]) + np.sum(b[:, 0] * b[::-1, 1])


@program(VECTORS)
def vectorize(x: Any) -> Any:
    f = np.vectorize(lambda v, k: v * k if v > 0 else -v)
    return np.sum(f(x, 2.0)) + np.sum(np.vectorize(math.tanh)(x))


@np.vectorize
def _smooth(v: Any) -> Any:
    return math.exp(-v) if v > 0 else 1.0 - v


@program(VECTORS)
def vectorize_as_decorator(x: Any) -> Any:
    return np.sum(_smooth(x) * x)


@program(VECTORS)
def stacking(x: Any) -> Any:
    a = np.vstack([x, x * x])
    b = np.column_stack((x, np.ones(len(x))))
    return np.sum((a @ b) ** 2) + np.concatenate([x, [1.0], x]).prod() + np.hstack([x[0], x])[0]


@program(NUMBERS)
def block(x: Any) -> Any:
    a = np.block([[np.eye(2), np.full((2, 1), x)], [np.zeros((1, 2)), np.array([[x]])]])
    return np.sum(np.linalg.inv(a + 20 * np.eye(3)) * a)


# --------------------------------------------------------------------------- assignment to all kinds of places


@program(CUBES)
def slices_negative_ellipsis_newaxis(x: Any) -> Any:
    y = x.copy()
    y[..., -1] = x[..., 0] * 2
    y[0, ::-1, 1:3] = y[1, :, :2]
    y[-1, None, 1] *= 3.0
    y[:, -2][0] += 1.0
    return np.sum(y * x)


@program(VECTORS)
def masks(x: Any) -> Any:
    y = x * 1.0
    y[y < 0] = 0.5
    y[x > 1] *= x[x > 1]
    y[(x > 0) & (x < 1)] += x[0]
    return np.sum(y * y)


@program(VECTORS)
def mask_to_entries(x: Any) -> Any:
    y = np.zeros(len(x))
    y[x > 0] = x[x > 0] ** 2
    y[~(x > 0)] = np.exp(x[~(x > 0)])
    return np.sum(y)


@program(VECTORS)
def fancy(x: Any) -> Any:
    y = np.zeros(6)
    y[[0, 2]] = x[:2]
    y[np.array([3, 3])] += x[[0, 1]]
    return np.sum(y * np.arange(6.0)) + y[-1] ** 2


@program(MATRICES)
def fancy_pairs(x: Any) -> Any:
    y = x.copy()
    y[[0, 1], [1, 2]] = x[[2, 2], [0, 1]] * 2
    y[np.ix_([0, 2], [1, 2])] -= 1.0
    y[np.triu_indices(3, 1)] *= y[0, 0]
    return np.sum(y * W)


@program(FOUR)
def every_inplace_operator(x: Any) -> Any:
    y = x * 1.0
    y += x
    y -= 0.5 * x
    y *= x
    y /= 1.0 + x * x
    y **= 2
    y //= 0.7
    z = x + 5.0
    z %= 1.7
    z **= x * 0.0 + 2.0
    a = np.outer(x, x)
    a @= np.eye(4) * x
    return np.sum(y * x + z) + np.sum(a)


@program(NUMBERS)
def inplace_on_a_number(x: Any) -> Any:
    y = x
    y += 1.0
    y *= x
    return y * x


@program(VECTORS)
def inplace_on_an_alias(x: Any) -> Any:
    y = x * 2.0
    z = y
    z += 1.0
    z[0] = 5.0 * x[1]
    return np.sum(y * x)


@program(VECTORS)
def inplace_on_the_argument(x: Any) -> Any:
    x = np.array(x)
    before = x * 2.0
    x += 1.0
    x[0] = 0.0
    x[x < 0] = 3.0
    return np.sum(before * x)


@program(VECTORS)
def value_used_before_the_assignment(x: Any) -> Any:
    y = x.copy()
    a = y[0]
    b = y * 2.0
    v = y[1:]
    y[:] = y[::-1]
    y[0] = a + v[0]
    return a * np.sum(b) + np.sum(v) * y[0]


@program([(P * 1.1,), (Q * 0.9,), (np.array([2.0, -0.7, -1.1]),), (np.array([0.5, -4.0, 1.0, 0.7]),)])
def conditions_on_assigned_values(x: Any) -> Any:
    y = np.array(x)
    for k in range(len(y)):
        if y[k] < 0:
            y[k] = -y[k] * 2
        if y[k] > 3:
            y[k:] += 1.0
        elif k and y[k] < y[k - 1]:
            y[k - 1], y[k] = y[k], y[k - 1]
    return np.sum(y * np.arange(len(y)))


@program(VECTORS)
def swap_of_entries(x: Any) -> Any:
    y = x.copy()
    y[0], y[1] = y[1], y[0]
    y[[1, 2]] = y[[2, 1]]
    return y[0] * 2 + y[1] * 3 + y[2] * 4


@program(MATRICES)
def swap_of_rows(x: Any) -> Any:
    a = x.copy()
    a[[0, 1]] = a[[1, 0]]
    a[:, [0, 2]] = a[:, [2, 0]]
    return np.sum(a * W)


@program(MATRICES)
def swap_of_row_views(x: Any) -> Any:
    a = x.copy()
    a[0], a[1] = a[1].copy(), a[0].copy()
    a[1], a[2] = a[2], a[1]
    return np.sum(a * W)


@program(NUMBERS)
def whole_of_an_array(x: Any) -> Any:
    y = np.ones(3)
    y[:] = x
    y[...] = y * 2
    y.fill(x * x)
    z = np.zeros(())
    z[()] = x
    return np.sum(y) * z


@program(VECTORS)
def out_of_a_ufunc(x: Any) -> Any:
    y = np.zeros(len(x))
    np.multiply(x, 2.0, out=y)
    np.add(y, x, out=y)
    np.sin(y, y)
    return np.sum(y)


@program(VECTORS)
def copyto(x: Any) -> Any:
    y = np.zeros_like(x)
    np.copyto(y, x * x, where=x > 0)
    return np.sum(y * x)


@program(VECTORS)
def where_and_select(x: Any) -> Any:
    y = np.where(x > 0, x, -2 * x)
    z = np.select([x > 1, x < 0], [x * 2, x * x], default=1.0)
    w = np.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * v])
    return np.sum(y * z + w)


# --------------------------------------------------------------------------- views


@program(MATRICES)
def row_of_a_matrix(x: Any) -> Any:
    a = x.copy()
    row = a[0]
    row[1] = 3.0 * x[1, 1]
    row *= 2.0
    return np.sum(a * W) + row[2]


@program(MATRICES)
def view_of_a_view(x: Any) -> Any:
    a = np.array(x)
    part = a[1:][:, ::2]
    inner = part[0]
    inner[1] = x[0, 0] * 5.0
    part += 1.0
    a[1, 0] = 7.0 * x[2, 2]
    return np.sum(a * W) + inner[0] * 2 + np.sum(part)


@program(MATRICES)
def transposed_view(x: Any) -> Any:
    a = x.copy()
    t = a.T
    t[0] = x[1]
    a[2] *= 2.0
    np.swapaxes(a, 0, 1)[1, 2] += x[0, 0]
    return np.sum(a * W) + t[0, 2]


@program(FOUR)
def reshaped_view(x: Any) -> Any:
    y = x * 1.0
    m = y.reshape(2, 2)
    m[0, 1] = x[3] ** 2
    m[:, 0] += 1.0
    m[1, 1] = x[0] * 5
    y[2] = 2.0 * y[3]
    return np.sum(m @ m) + np.sum(y * x)


@program(MATRICES)
def diagonal_by_indices(x: Any) -> Any:
    a = x.copy()
    a[np.diag_indices(3)] = x[0]
    a[np.tril_indices(3, -1)] *= 2.0
    a[1:, 1:][0, 0] = x[0, 0]
    return np.sum(a * W)


@program(MATRICES)
def loop_over_row_views(x: Any) -> Any:
    a = x.copy()
    for row in a:
        row -= row.mean()
        if row[0] > 0:
            row[0] = 0.0
    for k, row in enumerate(a.T):
        row *= k + 1.0
    return np.sum(a * a * W)


@program(VECTORS)
def copies_are_no_views(x: Any) -> Any:
    a = x * 1.0
    b, c, d, e = a.copy(), a[[0, 1]], a[a > 0], np.array(a)
    f = copy.copy(a) if False else a + 0
    a[:] = 9.0
    b[0] = 1.0
    return np.sum(b) + np.sum(c * c) + np.sum(d) + np.sum(e * e) + np.sum(f) * a[0]


@program(NUMBERS)
def views_of_a_made_array(x: Any) -> Any:
    y = np.zeros((2, 3))
    top, left = y[0], y[:, 0]
    top[:] = x
    left[:] = [1.0, x * x]
    y[1, 1:] = top[:2]
    return np.sum(y * y) + np.sum(left) * top[1]


@program(NUMBERS)
def number_read_from_a_view(x: Any) -> Any:
    y = np.zeros(3)
    v = y[0]
    y[0] = x
    w = y[0]
    y[0] = x * x
    return v + w * 2 + y[0]


@program(NUMBERS)
def made_array_shared_by_names(x: Any) -> Any:
    y = np.ones(2)
    z = y
    table = {"y": y}
    y[0] = x
    z[1] = x * x
    return np.sum(table["y"] * z * y)


@program(NUMBERS)
def made_array_in_a_helper(x: Any) -> Any:
    def put(where: Any, k: int, v: Any) -> None:
        where[k] = v
        where *= 2.0

    y = np.zeros(3)
    put(y, 0, x)
    put(y, 2, x * x)
    return np.sum(y * np.arange(1.0, 4.0))


@program(NUMBERS)
def default_that_is_changed(x: Any) -> Any:
    def collect(v: Any, into: Any = None) -> Any:
        into = [] if into is None else into
        into.append(v)
        return into

    a = collect(x)
    collect(x * x, a)
    return sum(a) * len(collect(1.0))


@program(NUMBERS)
def numbers_first_then_traced(x: Any) -> Any:
    y = np.arange(3.0)
    y[0] += 2.0
    y[1] = x
    y[y > 1.5] = x * 2
    return np.sum(y * y) + y[0]


@program(NUMBERS)
def integers_that_take_floats(x: Any) -> Any:
    y = np.array([1, 2, 3])
    z = np.array([1, 2, 3]) * x
    k = y + 1
    k[0] = 5
    z[k[0] - 4] = 2.0
    return np.sum(z * k)


@program(MATRICES)
def list_of_arrays(x: Any) -> Any:
    rows = [row.copy() for row in x]
    rows[0] += rows[1]
    rows[1][0] = 4.0
    rows.append(rows[0])
    rows[-1][2] = x[1, 1]
    return sum(float(k + 1) * np.sum(row * row) for k, row in enumerate(rows))


@program(MATRICES)
def attributes_that_are_arrays(x: Any) -> Any:
    class Grid:
        def __init__(self, cells: Any) -> None:
            self.cells = np.array(cells)
            self.old = self.cells

        def smooth(self) -> None:
            new = self.cells.copy()
            new[1:] += 0.5 * self.cells[:-1]
            self.cells = new
            self.cells[0] *= 2.0

    grid = Grid(x)
    grid.smooth()
    grid.smooth()
    grid.old[0] = 0.0
    return np.sum(grid.cells * W) + np.sum(grid.old)


# --------------------------------------------------------------------------- algorithms


@program([(m, v) for (m,), (v,) in zip(MATRICES, [(P,), (Q,), (R,)], strict=True)])
def gaussian_elimination(a: Any, b: Any) -> Any:
    a, b = a.copy(), b.copy()
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
            b[i] -= f * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return np.sum(x * x)


@program(MATRICES)
def cholesky_by_hand(x: Any) -> Any:
    a = x @ x.T + np.eye(3)
    lower = np.zeros_like(a)
    for i in range(3):
        for j in range(i + 1):
            rest = a[i, j] - np.dot(lower[i, :j], lower[j, :j])
            lower[i, j] = math.sqrt(rest) if i == j else rest / lower[j, j]
    return np.sum(lower * W)


@program(VECTORS)
def cumulative_loop(x: Any) -> Any:
    y = np.empty(len(x))
    y[0] = x[0]
    for k in range(1, len(x)):
        y[k] = max(y[k - 1] * 0.5 + x[k], 0.1 * x[k])
    return np.sum(y**2)


@program([(np.array([1.0, 4.0, 2.0]), np.array([3.0, 1.5, 2.0, 0.5])), (np.array([2.0, -1.0]), np.array([1.0, 3.0]))])
def alignment_table(x: Any, y: Any) -> Any:
    d = np.full((len(x) + 1, len(y) + 1), np.inf)
    d[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            d[i, j] = (x[i - 1] - y[j - 1]) ** 2 + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d[-1, -1]


@program([(np.array([0.4, 0.6]),), (np.array([0.9, 0.1]),)])
def hidden_markov(p: Any) -> Any:
    t = np.array([[0.7, 0.3], [0.2, 0.8]])
    e = np.array([[0.9, 0.1], [0.3, 0.7]])
    alpha = np.zeros((4, 2))
    alpha[0] = p * e[:, 0]
    for k, seen in enumerate([1, 0, 1], 1):
        alpha[k] = (alpha[k - 1] @ t) * e[:, seen]
    return np.log(alpha[-1].sum())


@program(MATRICES)
def life_like(x: Any) -> Any:
    a = x.copy()
    for _ in range(2):
        around = sum(np.roll(np.roll(a, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        alive = a > 0.5
        a[alive & (around > 5)] *= 0.5
        a[~alive & (around < 3)] += 0.25
    return np.sum(a * W)


@program(FOUR)
def heat_steps(x: Any) -> Any:
    u = x.copy()
    for _ in range(3):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = u[1]
        u[-1] = 0.0
    return np.sum(u**2)


@program(FOUR)
def gauss_seidel(x: Any) -> Any:
    u = np.zeros(len(x) + 2)
    for _ in range(3):
        for k in range(1, len(u) - 1):
            u[k] = 0.5 * (u[k - 1] + u[k + 1] + x[k - 1])
    return u @ u


@program(VECTORS)
def insertion_sort(x: Any) -> Any:
    y = x.copy()
    for i in range(1, len(y)):
        key, j = y[i], i - 1
        while j >= 0 and y[j] > key:
            y[j + 1] = y[j]
            j -= 1
        y[j + 1] = key
    return np.sum(y * np.arange(1.0, len(y) + 1))


@program(VECTORS)
def sieve_like(x: Any) -> Any:
    keep = np.ones(len(x), dtype=bool)
    for k in range(len(x)):
        if keep[k] and x[k] > 0:
            keep[k + 1 :: 2] = False
    return np.sum(x[keep] ** 2) + keep.sum() * x[0]


@program(VECTORS)
def histogram_by_hand(x: Any) -> Any:
    weight = np.zeros(4)
    for v in x:
        k = int(np.clip(np.floor(v + 2), 0, 3))
        weight[k] += v * v
    return np.sum(weight * [1.0, 2.0, 3.0, 4.0])


@program(VECTORS)
def interpolation_by_hand(x: Any) -> Any:
    grid, values = np.linspace(-4.0, 4.0, 9), np.array([0.0, 1.0, 4.0, 2.0, -1.0, 0.5, 2.0, 3.0, 1.0])
    total = 0.0
    for v in 0.93 * x:
        k = int(np.searchsorted(grid, v)) - 1
        t = (v - grid[k]) / (grid[k + 1] - grid[k])
        total += (1 - t) * values[k] + t * values[k + 1]
    return total


@program([(0.3, np.array([1.0, 0.0])), (1.4, np.array([0.5, -2.0]))])
def runge_kutta(w: Any, y: Any) -> Any:
    def rhs(state: Any) -> Any:
        out = np.empty_like(state)
        out[0] = state[1]
        out[1] = -w * np.sin(state[0])
        return out

    h, track = 0.2, np.zeros((5, 2))
    track[0] = y
    for k in range(4):
        k1 = rhs(track[k])
        k2 = rhs(track[k] + h / 2 * k1)
        k3 = rhs(track[k] + h / 2 * k2)
        k4 = rhs(track[k] + h * k3)
        track[k + 1] = track[k] + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(track[-1] ** 2)


@program(MATRICES)
def power_iteration(x: Any) -> Any:
    a = x @ x.T
    v = np.ones(3)
    old: Any = 0.0
    for _ in range(50):
        w = a @ v
        size = np.linalg.norm(w)
        v = w / size
        if abs(size - old) < 1e-9 * size:
            break
        old = size
    return size


@program(NUMBERS)
def matrix_by_functions(x: Any) -> Any:
    def rotation(t: Any) -> Any:
        r = np.identity(3)
        r[:2, :2] = [[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]]
        return r

    return functools.reduce(np.matmul, [rotation(x * k) for k in (1.0, 2.0)])[0, 1] * x
