"""Which small programs look at a value, or at who shares its memory, in a way that a tracer could get wrong?"""

from __future__ import annotations

import collections
import contextlib
import functools
import heapq
import itertools
import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np
from plain_programs import Programs

PROGRAMS = Programs()
VECTORS = [(np.array([1.5, -2.0, 0.25]),), (np.array([-0.5, 3.0, 2.0]),), (np.array([2.5, 0.75, -1.25]),)]
NUMBERS = [(0.7,), (-1.3,), (2.6,)]
MATRICES = [
    (np.array([[2.0, 1.0, 0.5], [1.0, -3.0, 0.25], [0.5, 4.0, 1.5]]),),
    (np.array([[-1.0, 0.2, 0.3], [0.5, 2.0, 1.0], [6.0, 0.1, -0.7]]),),
]


def program(inputs: list[tuple[Any, ...]]) -> Callable[[Any], Any]:
    return lambda function: PROGRAMS.noted(inputs, EXACT.get(function.__name__))(function)


EXACT: dict[str, dict[int, Any]] = {
    "list_index": {0: 1.0, 2: 1.0},
    "list_eq": {0: 2.0},
    "dict_eq": {0: 2.0},
    "array_equal": {0: np.array([2.0, 0.0, 0.0])},
}
"""Where a value is compared for equality, the path has no other input beside it: the gradient."""


@program(NUMBERS)
def is_true(x: Any) -> Any:
    return x * 2 if (x > 0) is True else x * 3


@program(NUMBERS)
def is_false(x: Any) -> Any:
    return x * 2 if (x > 0) is not False else x * 3


@program(NUMBERS)
def match_float(x: Any) -> Any:
    match x:
        case int():
            return x * 2
        case float():
            return x * 3
    return x * 5


@program(VECTORS)
def match_array(x: Any) -> Any:
    match x:
        case np.ndarray():
            return x[0] * 3
    return x[1]


@program(NUMBERS)
def numbers_abc(x: Any) -> Any:
    return x * 2 if isinstance(x, numbers.Real) else x * 3


@program(VECTORS)
def collections_abc(x: Any) -> Any:
    sized = isinstance(x, collections.abc.Iterable) and isinstance(x, collections.abc.Sized)
    return x[0] * 2 if sized and not isinstance(x, collections.abc.Sequence) else x[0] * 3


@program(NUMBERS)
def hasattr_shape(x: Any) -> Any:
    return x * 2 if hasattr(x, "shape") else x * 3


@program(NUMBERS)
def try_len(x: Any) -> Any:
    try:
        len(x)
    except TypeError:
        return x * 3
    return x * 2


@program(NUMBERS)
def try_iter(x: Any) -> Any:
    try:
        y = list(x)
    except TypeError:
        return x * 3
    return y[0]


@program(VECTORS)
def try_iter_scalar(x: Any) -> Any:
    try:
        y = list(x[0])
    except TypeError:
        return x[0] * 3
    return y[0]


@program(NUMBERS)
def callable_(x: Any) -> Any:
    return x * 2 if callable(x) else x * 3


@program(NUMBERS)
def weird_eq(x: Any) -> Any:
    return x * 2 if x == x else x


@program(NUMBERS)
def list_index(x: Any) -> Any:
    values = [0.5, x, 3.0]
    return x * values.index(2.6) if 2.6 in values else x * values.count(0.7)


@program(NUMBERS)
def list_eq(x: Any) -> Any:
    return x * 2 if [x, 1.0] == [0.7, 1.0] else x * 3


@program(NUMBERS)
def tuple_lt(x: Any) -> Any:
    return x * 2 if (x, 1.0) < (0.7, 2.0) else x * 3


@program(NUMBERS)
def dict_eq(x: Any) -> Any:
    return x * 2 if {"a": x} == {"a": 0.7} else x * 3


@program(VECTORS)
def array_equal(x: Any) -> Any:
    return x[0] * 2 if np.array_equal(x, [1.5, -2.0, 0.25]) else x[0] * 3


@program(VECTORS)
def allclose(x: Any) -> Any:
    return x[0] * 2 if np.allclose(x, [1.5, -2.0, 0.25]) else x[0] * 3


@program(VECTORS)
def asarray_is(x: Any) -> Any:
    return x[0] * 2 if np.asarray(x) is x else x[0] * 3


@program(VECTORS)
def astype_copy_false(x: Any) -> Any:
    y = x.astype(float, copy=False)
    return x[0] * 2 if y is x else x[0] * 3


@program(VECTORS)
def asarray_alias(x: Any) -> Any:
    y = np.array(x)
    z = np.asarray(y)
    z[0] = 5.0 * x[1]
    return np.sum(y * x)


@program(VECTORS)
def astype_alias(x: Any) -> Any:
    y = np.array(x)
    z = y.astype(float, copy=False)
    z[0] = 5.0 * x[1]
    return np.sum(y * x)


@program(VECTORS)
def astype_noalias(x: Any) -> Any:
    y = np.array(x)
    z = y.astype(float)
    z[0] = 5.0 * x[1]
    return np.sum(y * x)


@program(VECTORS)
def squeeze_alias(x: Any) -> Any:
    y = np.array(x)[None]
    z = np.squeeze(y)
    z[0] = 5.0 * x[1]
    return np.sum(y * x)


@program(VECTORS)
def expand_alias(x: Any) -> Any:
    y = np.array(x)
    z = np.expand_dims(y, 0)
    z[0, 1] = 5.0 * x[1]
    return np.sum(y * x)


@program(VECTORS)
def atleast_alias(x: Any) -> Any:
    y = np.array(x)
    z = np.atleast_2d(y)
    z[0, 1] = 5.0 * x[1]
    w = np.atleast_1d(y)
    w += 1
    return np.sum(y * x)


@program(MATRICES)
def diagonal_copy(x: Any) -> Any:
    y = x.copy()
    z = np.diagonal(y)
    y[1, 1] = 100 * x[0, 0]
    return np.sum(z * x[0])


@program(MATRICES)
def split_alias(x: Any) -> Any:
    y = x.copy()
    a, b = np.split(y, [1])
    a[0, 0] = 7 * x[1, 1]
    b += 1
    return np.sum(y * x)


@program(MATRICES)
def flip_alias(x: Any) -> Any:
    y = x.copy()
    a = np.flip(y)
    a[0, 0] = 7 * x[1, 1]
    np.fliplr(y)[1] *= 2
    np.rot90(y)[0, 1] = 3.0
    return np.sum(y * x)


@program(MATRICES)
def broadcast_alias(x: Any) -> Any:
    y = x[0].copy()
    a = np.broadcast_to(y, (2, 3))
    y[0] = 9 * x[1, 1]
    return np.sum(a * a)


@program(MATRICES)
def moveaxis_alias(x: Any) -> Any:
    y = x.copy()
    a = np.moveaxis(y, 0, 1)
    a[0, 1] = 7 * x[1, 1]
    a *= 2
    return np.sum(y * x)


@program(MATRICES)
def where_tuple_assign(x: Any) -> Any:
    y = x.copy()
    y[np.where(x > 0)] = 1.0
    y[np.nonzero(x < 0)] *= 2
    y[np.argwhere(x > 3)[:, 0]] = x[0]
    return np.sum(y * x)


@program(MATRICES)
def bool_row_mask(x: Any) -> Any:
    y = x.copy()
    y[x[:, 0] > 0] += 10
    y[:, x[0] > 0.4] *= 2
    y[x[:, 0] > 0, 1] = x[0, 0]
    return np.sum(y * x)


@program(MATRICES)
def aug_of_fancy_dup(x: Any) -> Any:
    y = x.copy()
    y[[0, 0, 1]] += x
    y[[0, 0], [1, 1]] -= x[0, :2]
    return np.sum(y * x)


@program(MATRICES)
def overlapping(x: Any) -> Any:
    y = x.copy()
    y[1:] = y[:-1]
    y[:, 1:] += y[:, :-1]
    y[::-1] = y
    return np.sum(y * x)


@program(VECTORS)
def self_aug(x: Any) -> Any:
    y = x.copy()
    y += y
    y *= y[::-1]
    y[1:] -= y[:-1]
    return np.sum(y * x)


@program(VECTORS)
def view_then_aug_name(x: Any) -> Any:
    y = x.copy()
    v = y[:2]
    y = y + 1
    v += 5
    y[0] = v[0]
    return np.sum(y * x) + np.sum(v)


@program(VECTORS)
def view_then_aug_inplace(x: Any) -> Any:
    y = x.copy()
    v = y[:2]
    y += 1
    v += 5
    return np.sum(y * x) + np.sum(v)


@program(VECTORS)
def tuple_aug(x: Any) -> Any:
    t = ([x[0]],)
    with contextlib.suppress(TypeError):
        t[0] += [x[1]]
    return sum(t[0])


@program(VECTORS)
def list_aug(x: Any) -> Any:
    a = b = [x[0]]
    a += [x[1]]
    return sum(b)


@program(VECTORS)
def loop_alias(x: Any) -> Any:
    rows = []
    y = np.zeros(3)
    for k in range(3):
        y[k] = x[k]
        rows.append(y)
    return sum(np.sum(r) for r in rows)


@program(VECTORS)
def loop_copy(x: Any) -> Any:
    rows = []
    y = np.zeros(3)
    for k in range(3):
        y[k] = x[k]
        rows.append(y.copy())
    return sum(np.sum(r) for r in rows)


@program(VECTORS)
def made_arg_alias(x: Any) -> Any:

    def f(a: Any, b: Any) -> Any:
        a[0] = b
        return a

    y = np.zeros(3)
    z = f(y, x[0])
    z[1] = x[1]
    return np.sum(y * y)


@program(VECTORS)
def matrix_made_row(x: Any) -> Any:
    y = np.zeros((2, 3))
    r = y[0]
    r[1] = x[0]
    y[1] = r
    r += x
    return np.sum(y * y)


@program(VECTORS)
def arange_int_assign(x: Any) -> Any:
    y = np.arange(3)
    y[1] = x[0]
    return np.sum(y * x)


@program(VECTORS)
def int_array_assign(x: Any) -> Any:
    y = np.array([1, 2, 3])
    y[1] = x[0]
    return np.sum(y * x)


@program(VECTORS)
def zeros_int_assign(x: Any) -> Any:
    y = np.zeros(3, dtype=int)
    y[:] = x
    return np.sum(y * x)


@program(VECTORS)
def zeros_bool_assign(x: Any) -> Any:
    y = np.zeros(3, dtype=bool)
    y[:] = x > 0
    return np.sum(y * x)


@program(VECTORS)
def linspace_assign(x: Any) -> Any:
    y = np.linspace(0, 1, 3)
    y[1] = x[0]
    return np.sum(y * x)


@program(VECTORS)
def ones_times(x: Any) -> Any:
    y = 2 * np.ones(3)
    y[1] = x[0]
    z = -y
    z[0] = x[1]
    return np.sum(y * x + z)


@program(VECTORS)
def literal_view(x: Any) -> Any:
    y = np.zeros(6)
    m = y.reshape(2, 3)
    m[1] = x
    return np.sum(y[3:] * x)


@program(VECTORS)
def transposed_made(x: Any) -> Any:
    y = np.zeros((3, 2))
    y.T[1] = x
    return np.sum(y[:, 1] * x)


@program(VECTORS)
def comprehension_array(x: Any) -> Any:
    A = np.array([[x[i] * x[j] if i != j else 1.0 for j in range(3)] for i in range(3)])
    A[0] = x
    return np.linalg.det(A)


@program(VECTORS)
def concatenate_mixed(x: Any) -> Any:
    return np.sum(np.concatenate(([1.0], x, np.zeros(2))) * np.arange(6.0))


@program(VECTORS)
def append_delete_insert(x: Any) -> Any:
    y = np.append(x, x[0])
    y = np.insert(y, 1, x[2])
    y = np.delete(y, 0)
    return np.sum(y * np.arange(len(y)))


@program(VECTORS)
def np_sum_of_list(x: Any) -> Any:
    return np.sum([x[0], x[1] * 2])


@program(VECTORS)
def np_mean_of_list(x: Any) -> Any:
    return np.mean([x[0], x[1] * 2])


@program(VECTORS)
def np_max_of_list(x: Any) -> Any:
    return np.max([x[0], x[1] * 2, 0.0])


@program(VECTORS)
def np_norm_of_list(x: Any) -> Any:
    return np.linalg.norm([x[0], x[1]])


@program(VECTORS)
def np_dot_of_list(x: Any) -> Any:
    return np.dot([x[0], x[1]], [x[1], 2.0])


@program(VECTORS)
def np_dot_layer_list(x: Any) -> Any:
    return np.dot(x, [x[1], 2.0, x[0]])


@program(VECTORS)
def layer_times_list(x: Any) -> Any:
    return np.sum(x * [x[1], 2.0, x[0]])


@program(VECTORS)
def layer_plus_tuple(x: Any) -> Any:
    return np.sum(x + (x[1], 2.0, x[0]))  # noqa: RUF005 - an array and a tuple


@program(VECTORS)
def const_times_list(x: Any) -> Any:
    return np.sum(np.ones(3) * [x[1], 2.0, x[0]])


@program(VECTORS)
def ufunc_on_list(x: Any) -> Any:
    return np.sum(np.exp([x[0], x[1]]))


@program(VECTORS)
def np_max2(x: Any) -> Any:
    return np.maximum(x[0], [x[1], 0.3])[0]


@program(VECTORS)
def solve_lists(x: Any) -> Any:
    return np.linalg.solve([[x[0], 1.0], [0.5, x[1]]], [x[2], 1.0])[0]


@program(VECTORS)
def argmax_of_list(x: Any) -> Any:
    return x[np.argmax([x[0], x[1], x[2]])] * 2


@program(VECTORS)
def assign_list(x: Any) -> Any:
    y = np.zeros(3)
    y[:] = [x[1], 2.0, x[0]]
    y[0:2] = (x[0], x[2])
    return np.sum(y * x)


@program(VECTORS)
def assign_list_to_layer(x: Any) -> Any:
    y = x.copy()
    y[:] = [x[1], 2.0, x[0]]
    y[[0, 2]] = [x[0], x[1]]
    y[x > 0] = [x[0]]
    return np.sum(y * x)


@program(VECTORS)
def percent_format(x: Any) -> Any:
    s = "%.2f %d %.1f" % (x[0], x[1], x[2])  # noqa: UP031 - this form is meant
    return x[0] * len(s)


@program(VECTORS)
def is_integer(x: Any) -> Any:
    return x[0] * 2 if float(x[0]).is_integer() else x[0] * 3


@program(VECTORS)
def round_list(x: Any) -> Any:
    return sum(round(v, 1) * v for v in x)


@program(VECTORS)
def min_key_default(x: Any) -> Any:
    return min((v for v in x if v > 100), default=x[0])


@program(VECTORS)
def sort_inplace(x: Any) -> Any:
    y = x.copy()
    y.sort()
    return np.sum(y * np.arange(3))


@program(VECTORS)
def heap(x: Any) -> Any:
    h: list[Any] = []
    for v in x:
        heapq.heappush(h, (v, 1))
    return heapq.heappop(h)[0] * 2 + heapq.nlargest(1, list(x))[0]


@program(VECTORS)
def enumerate_ndenumerate(x: Any) -> Any:
    t = 0.0
    for i, v in np.ndenumerate(x):
        t += v * i[0]
    return t


@program(MATRICES)
def ndindex_(x: Any) -> Any:
    t = 0.0
    for i in np.ndindex(x.shape):
        t += x[i] * sum(i)
    return t


@program(NUMBERS)
def complex_(x: Any) -> Any:
    z = complex(x, 1.0) * 1j
    return abs(z) + z.real


@program(NUMBERS)
def complex_np(x: Any) -> Any:
    z = np.exp(1j * x)
    return (z * np.conj(z)).real + z.imag


@program(NUMBERS)
def int_weak(x: Any) -> Any:
    y = int(x)
    return x * 2**y + y // 2


@program(NUMBERS)
def range_traced(x: Any) -> Any:
    t = x
    for _ in range(int(abs(x) * 2)):
        t = t * x
    return t


@program(NUMBERS)
def bit_ops(x: Any) -> Any:
    a = (x > 0) | (x < -1)
    b = (x > 0) & (x < 1)
    c = (x > 0) ^ (x > 2)
    return x * (2 if a else 3) * (5 if b else 7) * (11 if c else 13)


@program(VECTORS)
def bit_np(x: Any) -> Any:
    a = ~(x > 0)
    return np.sum(x[a]) + np.sum(x * (a ^ (x < 1)))


@program(VECTORS)
def invert_scalar(x: Any) -> Any:
    a = x[0] > 0
    return x[0] * 2 if ~a else x[0] * 3


@program(NUMBERS)
def not_bool_arith(x: Any) -> Any:
    return x * (not x > 0) + (x > 0) * 3


@program(NUMBERS)
def sum_of_bools(x: Any) -> Any:
    n = sum(v > x for v in (0.0, 1.0, 2.0))
    return x * n


@program(NUMBERS)
def sum_bools_index(x: Any) -> Any:
    n = sum(v > x for v in (0.0, 1.0, 2.0))
    return [x, 2 * x, 3 * x, 4 * x][n]


@program(NUMBERS)
def any_list(x: Any) -> Any:
    return x * 2 if any([x > 1, x < -1]) else x * 3


@program(NUMBERS)
def max_default(x: Any) -> Any:
    return max(x, 0) * 2 + min(x, 1.0)


@program(NUMBERS)
def sorted_pairs(x: Any) -> Any:
    return sorted([(x, "a"), (1.0, "b")])[0][0] * 2


@program(NUMBERS)
def clamp(x: Any) -> Any:
    return max(0.0, min(1.0, x))


@program(NUMBERS)
def zero_default(x: Any) -> Any:
    return max([0, x], key=lambda v: v)


@program(NUMBERS)
def minus_zero(x: Any) -> Any:
    return (0.0 if x > 0 else -0.0) * 1 + x * 0.0


# --------------------------------------------------------------------------- who sees an assignment, and when


@program(VECTORS)
def entries_assigned_before_their_turn(x: Any) -> Any:
    y, made, total = x.copy(), np.zeros(3), 0.0
    for k, (v, w) in enumerate(zip(y, made, strict=True)):
        total += v * (k + 1) + w
        if k < 2:
            y[k + 1] = v * 2 if v > 0 else 1.0
            made[k + 1] = x[0] * k
    return total


@program(VECTORS)
def an_iterator_and_an_assignment(x: Any) -> Any:
    y = np.zeros(3)
    values = iter(y)
    next(values)
    y[1] = x[0]
    return next(values) * x[1]


@program(VECTORS)
def an_array_of_no_axes(x: Any) -> Any:
    y = np.zeros(())
    z = y
    y += x[0]
    return z * 2 + y


@program(VECTORS)
def a_number_is_no_array(x: Any) -> Any:
    y = np.sum(x)
    z = y
    y += 1
    a = x[0]
    a *= 2
    return z * y + a * x[0]


@program(VECTORS)
def kinds_of_made_arrays(x: Any) -> Any:
    y = np.zeros(3)
    assert isinstance(y, np.ndarray)
    assert type(y) is np.ndarray
    assert not isinstance(y, float)
    return np.sum(y + x)


@program(VECTORS)
def made_arrays_in_functions_without_a_rule(x: Any) -> Any:
    y = np.zeros((3, 3))
    np.fill_diagonal(y, 2.0)
    z = np.zeros(3)
    np.cumsum(np.arange(3.0), out=z)
    np.put(z, [0], 5.0)
    counts, _ = np.histogram(np.ones(4), 2)
    return np.sum(y @ x * z) + x[0] * len(np.unique(np.array([1.0, 1.0, 2.0]))) + counts[1] * x[1]


@program(VECTORS)
def diagonal_of_a_traced_matrix(x: Any) -> Any:
    y = np.outer(x, x)
    np.fill_diagonal(y, x)
    np.fill_diagonal(y[1:, 1:], 3.0)
    return np.sum(y * x)


@program(VECTORS)
def functions_of_math_that_are_handed_on(x: Any) -> Any:
    total = sum(map(math.exp, x)) + sum(itertools.starmap(math.pow, [(abs(x[0]), 2.0)]))
    total += functools.reduce(math.hypot, x) + max(x, key=math.sin) * sorted(x, key=math.fabs)[1]
    groups = [sum(part) for _, part in itertools.groupby(x, key=math.floor)]
    return total + sum(filter(None, x)) + groups[0] * len(groups)


@program(VECTORS)
def ranks_and_counts(x: Any) -> Any:
    ranks, counts = np.zeros(3, dtype=int), [0] * 3
    ranks[np.argsort(x)] = np.arange(3)
    for v in x:
        counts[int(v > 0) + int(v > 1)] += 1
    best, place = -np.inf, -1
    for k, v in enumerate(x):
        if v > best:
            best, place = v, k
    return np.sum(x * ranks) + x @ counts + best * place


@program(VECTORS)
def decisions_on_made_arrays(x: Any) -> Any:
    y = np.zeros(3)
    y[0] = x[0]
    if y[0] > 0:
        y[1] = x[1]
    if y[1] != 0:
        y[2] = y[1] * 2
    if y.any():
        y *= 2
    return np.sum(y * x)


@program(VECTORS)
def counts_as_keys(x: Any) -> Any:
    order = np.argsort(x)
    table = {k: place for place, k in enumerate(order)}
    seen = set(order[:2]) | {np.argmax(x), (1, 2)}
    seen.add(np.argmin(x))
    sums: Any = collections.defaultdict(float)
    for k in order:
        sums[k % 2] += x[k] * table[k]
    zeros = set(np.zeros(3))
    return sums[0] * 2 + sums[1] + len(seen) * x[0] + table[np.argmax(x)] * x[1] + len(zeros) * table.get(order[0], 5)
