"""Which small programs read later than they ask, keep plain numbers beside traced ones, or count on Python's types?"""

# classes within bodies are written as people write them
# mypy: disable-error-code="no-untyped-def, no-untyped-call, var-annotated, misc"

from __future__ import annotations

import collections
import contextlib
import itertools
import math
from typing import Any

import numpy as np
from plain_programs import Programs

PROGRAMS = Programs()
program = PROGRAMS.noted
X, Y = np.array([1.5, -2.0, 0.25]), np.array([-0.5, 3.0, 2.1])
VECTORS = [(X,), (Y,), (-X,)]
V2 = np.array([1.0, 2.0])


@program(VECTORS)
def mixed_type(x: Any) -> Any:
    return x[0] if x[0] > 0 else 0.0


@program(VECTORS)
def mixed_type2(x: Any) -> Any:
    return float(x[0]) + 1 if x[0] > 0 else x[0]


@program(VECTORS[:1])
def item_type(x: Any) -> Any:
    return x.sum().item() * 2


@program(VECTORS[:1])
def tolist_type(x: Any) -> Any:
    return [v for v in x.tolist()][0] * 2.0  # noqa: C416, RUF015 - this form is meant


@program(VECTORS[:1])
def tolist_sums(x: Any) -> Any:
    return math.fsum(x.tolist()) + sum(x.tolist())


@program(VECTORS[:1])
def np_float(x: Any) -> Any:
    return np.float64(3.0) * float(x[0])


@program(VECTORS)
def float_sum(x: Any) -> Any:
    return float(np.sum(x)) if np.sum(x) > 0 else np.sum(x)


@program(VECTORS)
def max_int_zero(x: Any) -> Any:
    return max(float(x[0]), 0) + min(1, float(x[1]))


@program(VECTORS[:1])
def max_int_zero_2(x: Any) -> Any:
    return max(x[0], 0)


@program(VECTORS)
def np_max_types(x: Any) -> Any:
    return np.maximum(x[0], 0) + np.where(x[0] > 0, x[0], 0) + np.clip(x[0], 0, 1)


@program(VECTORS[:1])
def round_types(x: Any) -> Any:
    return round(float(x[0]), 2) + round(x[1], 2) + float(x[0]) // 1 + x[1] // 1


@program(VECTORS)
def len_shape(x: Any) -> Any:
    return np.zeros((len(x), 2))[x.shape[0] - 1, 0] + x[len(x) - 1] + x[-len(x)] + sum(x.shape) * x[0] + x.size


@program(VECTORS[:1])
def lazy_gen(x: Any) -> Any:
    y = x.copy()
    g = (v * 2 for v in y)
    y[0] = 7.0 * x[1]
    return sum(g)


@program(VECTORS[:1])
def lazy_map(x: Any) -> Any:
    y = x.copy()
    m = map(lambda v: v * 2, y)  # noqa: C417 - a lazy one is meant
    z = zip(y, y, strict=True)
    y[0] = 7.0 * x[1]
    return sum(m) + sum((a * b for a, b in z))


@program(VECTORS[:1])
def late_lambdas(x: Any) -> Any:
    y = np.zeros(3)
    fs = [lambda k=k: y[k] for k in range(3)]
    y[:] = x
    return sum(g() for g in fs)


@program(VECTORS[:1])
def enum_rev(x: Any) -> Any:
    e = enumerate(x)
    r = reversed(x)
    x = x * 2
    return next(e)[1] + next(r) + x[0]


@program(VECTORS[:1])
def lazy_reversed(x: Any) -> Any:
    y = x.copy()
    r = reversed(y)
    y[-1] = 5.0 * x[0]
    return next(r)


@program(VECTORS[:1])
def lazy_reversed_made(x: Any) -> Any:
    y = np.zeros(3)
    r = reversed(y)
    y[-1] = 5.0 * x[0]
    return next(r)


@program(VECTORS[:1])
def lazy_pairwise(x: Any) -> Any:
    y = x.copy()
    p = itertools.pairwise(y)
    next(p)
    y[2] = 9.0 * x[0]
    return sum((a * b for a, b in p))


@program(VECTORS[:1])
def lazy_rows(x: Any) -> Any:
    a = np.outer(x, x)
    it = iter(a)
    r0 = next(it)
    a[1] = 5.0
    r1 = next(it)
    a[0] = 2 * x
    return np.sum(r0) + np.sum(r1 * x)


@program(VECTORS[:1])
def t_of_made(x: Any) -> Any:
    a = np.zeros((2, 3))
    t = a.T
    a[0] = x
    s1 = t[1, 0]
    t[2, 1] = x[0]
    return s1 + np.sum(a * 2) + t.shape[0] * x[0]


@program(VECTORS)
def int_key(x: Any) -> Any:
    k = int(x[0])
    d = {1: "a", 0: "b", -1: "c", 2: "d"}
    return x[1] * len(d.get(k, "zz") * 2) + {True: x[0], False: x[1]}[k > 0]


@program(VECTORS)
def int_set(x: Any) -> Any:
    s = set(int(v) for v in x)  # noqa: C401 - this form is meant
    return x[0] * len(s) + sum(s)


@program(VECTORS)
def counter(x: Any) -> Any:
    c = collections.Counter(int(v > 0) for v in x)
    return x[0] * c[1] + x[1] * c[0]


@program(VECTORS)
def group_by_sign(x: Any) -> Any:
    g = collections.defaultdict(list)
    for v in x:
        g[int(np.sign(v))].append(v)
    return sum((k * sum(v) for k, v in sorted(g.items())))


@program(VECTORS[:1])
def dd_float(x: Any) -> Any:
    g = collections.defaultdict(float)
    for k, v in enumerate(x):
        g[k % 2] += v
    return g[0] * g[1]


@program(VECTORS)
def memo(x: Any) -> Any:
    memo = {}

    def fib(n):
        if n not in memo:
            memo[n] = x[0] * n if n < 2 else fib(n - 1) + fib(n - 2) * x[1]
        return memo[n]

    return fib(8)


@program(VECTORS)
def round_key(x: Any) -> Any:
    best = {}
    for v in x:
        key = round(float(v))
        if key not in best or best[key] < v:
            best[key] = v
    return sum(best[k] * k for k in sorted(best))


@program(VECTORS)
def string_build(x: Any) -> Any:
    s = ""
    for v in x:
        s += "+" if v > 0 else "-"
    return x[0] * s.count("+") + x[1] * s.find("-")


@program(VECTORS)
def mask_from_list(x: Any) -> Any:
    return x[np.array([v > 0 for v in x])].sum() + x[[bool(v > 0) for v in x]].prod()


@program(VECTORS)
def list_of_np_bool(x: Any) -> Any:
    m = [v > 0 for v in x]
    return sum(itertools.compress(x, m)) + np.sum(np.where(m, x, 0)) + m.count(True) * x[0] + m.index(True) * x[1]


@program(VECTORS)
def list_of_bool(x: Any) -> Any:
    m = [float(v) > 0 for v in x]
    return m.count(True) * x[0] + m.index(True) * x[1] + sum(m) * x[2] + all(m) * x[0] + any(m) * x[1]


@program(VECTORS)
def swap_cond(x: Any) -> Any:
    a, b = (x[0], x[1]) if x[0] < x[1] else (x[1], x[0])
    a, b = (b, a + b)
    return a * b


@program(VECTORS)
def binary_search(x: Any) -> Any:
    lo, hi = (0, len(x) - 1)
    y = np.sort(x)
    while lo < hi:
        mid = (lo + hi) // 2
        if y[mid] < 0.2:
            lo = mid + 1
        else:
            hi = mid
    return y[lo] * lo


@program(VECTORS)
def exitstack(x: Any) -> Any:
    with contextlib.ExitStack() as st:
        out = []
        st.callback(out.append, 1.0)
        y = x[0] if x[0] > 0 else x[1]
    return y * out[0]


@program(VECTORS)
def iterator_class(x: Any) -> Any:

    class It:
        def __init__(self, v):
            self.v = v
            self.k = 0

        def __iter__(self):
            return self

        def __next__(self):
            if self.k >= 3 or self.v > 4:
                raise StopIteration
            self.k += 1
            self.v = self.v * 2 if self.v > 0 else -self.v
            return self.v

    return sum(It(x[0]))


@program(VECTORS)
def descriptor(x: Any) -> Any:

    class D:
        def __get__(self, o, t=None):
            return o.v * 2

        def __set__(self, o, v):
            o.v = v if v > 0 else -v

    class C:
        p = D()

    c = C()
    c.p = x[0]
    return c.p * x[1]


@program(VECTORS[:1])
def traced_const(x: Any) -> Any:
    w = x[0] * V2
    return np.sum(w)


@program(VECTORS)
def const_traced(x: Any) -> Any:
    return (
        np.sum(V2 * x[0])
        + np.sum(V2 + x[:2])
        + np.sum(V2 @ x[:2])
        + np.sum(np.dot(V2, x[:2]))
        + (x[0] < V2).sum() * x[1]
        + (V2[0] < x[0]) * x[2]
    )


@program(VECTORS[:1])
def const_inplace(x: Any) -> Any:
    v = V2.copy()
    v *= 2
    v += x[:2]
    v -= V2
    return np.sum(v * v)


@program(VECTORS[:1])
def const_derived_inplace(x: Any) -> Any:
    v = V2 * 1
    v += x[:2]
    u = V2[:] * 1.0
    u[0] = x[0]
    return np.sum(v * u)


@program(VECTORS[:1])
def np_array_const_alias(x: Any) -> Any:
    v = np.array(V2)
    w = v
    w[0] += x[0]
    return np.sum(v)


@program(VECTORS[:1])
def list_const(x: Any) -> Any:
    v = list(V2)
    v[0] = x[0]
    w = V2.tolist()
    w[1] = x[1]
    return sum(v) * sum(w)
