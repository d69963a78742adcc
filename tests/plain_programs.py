"""Which small programs do people write without thinking of derivatives? Control flow and functions."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np


class Program(NamedTuple):
    function: Callable[..., Any]
    inputs: list[tuple[Any, ...]]
    exact: dict[int, Any]
    """Of inputs whose path has no other input beside them, by their number: the gradient."""


class Programs(list[Program]):
    """Those of one file."""

    def noted(self, inputs: list[tuple[Any, ...]], exact: dict[int, Any] | None = None) -> Callable[[Any], Any]:
        """The decorator of another one."""

        def decorate(function: Any) -> Any:
            self.append(Program(function, inputs, exact or {}))
            return function

        return decorate


PROGRAMS = Programs()
program = PROGRAMS.noted

P = np.array([1.5, -2.0, 0.25])
Q = np.array([-0.5, 3.0, 2.0])
R = np.array([2.5, 0.75, -1.25])
LONG = np.array([0.5, 1.5, -2.5, 3.5, -0.25])
VECTORS = [(P,), (Q,), (R,), (-P,), (LONG,), (-LONG,)]
NUMBERS = [(0.7,), (-1.3,), (2.6,), (5.25,), (-0.1,), (11.0,)]
PAIRS = [(0.7, 2.0), (2.0, 0.7), (-1.5, 0.25), (-1.5, -3.0)]
MATRICES = [
    (np.array([[2.0, 1.0, 0.5], [1.0, -3.0, 0.25], [0.5, 4.0, 1.5]]),),
    (np.array([[0.1, 5.0, -1.0], [3.0, 1.0, 0.5], [-2.0, 0.75, 4.0]]),),
    (np.array([[-1.0, 0.2, 0.3], [0.5, 2.0, 1.0], [6.0, 0.1, -0.7]]),),
]


# --------------------------------------------------------------------------- branches


@program(NUMBERS)
def if_else(x: Any) -> Any:
    if x > 0:
        return x * x
    return -x


@program(NUMBERS)
def elif_ladder(x: Any) -> Any:
    if x < -1:
        y = x * 2.0
    elif x < 0:
        y = x * 3.0
    elif x < 3:
        y = x * x
    else:
        y = math.sqrt(x)
    return y + 1.0


@program(NUMBERS)
def nested_if(x: Any) -> Any:
    if x > 0:
        if x > 2:
            if x > 5:
                return x**3
            return x**2
        return x
    return 0.0 * x


@program(NUMBERS)
def ternary(x: Any) -> Any:
    return x if x > 1 else x * x if x > 0 else -3.0 * x


@program(NUMBERS)
def chained_comparison(x: Any) -> Any:
    return x * 5.0 if -1.0 < x <= 2.6 < 10 else x / 7.0


@program(PAIRS)
def and_or_not(x: Any, y: Any) -> Any:
    if (x > 0 and y > 1) or not (x > -2 or y < 0):
        return x * y
    return x - y


@program(PAIRS)
def or_gives_a_value(x: Any, y: Any) -> Any:
    first = (x > 0 and x) or y
    second = x and y
    return first * 2.0 + second


@program(NUMBERS)
def walrus(x: Any) -> Any:
    if (y := x * x) > 4:
        return y * x
    return y


@program(NUMBERS)
def matching(x: Any) -> Any:
    match (x > 0, x > 3):
        case (True, True):
            return x * 2.0
        case (True, _):
            return x * 3.0
        case _:
            return x * 4.0


@program(NUMBERS)
def matching_with_guards(x: Any) -> Any:
    match x:
        case y if y < 0:
            return -y
        case y if y > 4:
            return y * y
        case y:
            return y**3


@program(VECTORS)
def matching_sequences(x: Any) -> Any:
    match list(x):
        case [a, b, c]:
            return a * b + c
        case [a, *rest]:
            return a * len(rest) + rest[-1]
    return x[0]


@program(NUMBERS)
def truth_of_a_number(x: Any) -> Any:
    return x * 2.0 if x else x


@program([(np.array([0.0, 1.0]),), (np.array([2.0, 1.0]),), (np.array([2.0, 0.5]),)])
def truth_of_entries(x: Any) -> Any:
    return x[1] * 3.0 if x[0] else x[1] * 2.0


@program(VECTORS)
def all_and_any(x: Any) -> Any:
    if all(x > -2) and any(v > 2 for v in x):
        return np.sum(x)
    if np.any(x > 3) or (x < 0).all():
        return np.prod(x)
    return x[0]


@program(NUMBERS, {4: 1.0, 5: 4.0})
def equal_to(x: Any) -> Any:
    if x == 11.0:
        return 4.0 * x
    return x * x if x != -0.1 else x


@program(NUMBERS, {0: 2.0, 3: 2.0})
def in_a_list(x: Any) -> Any:
    return x * 2.0 if x in (0.7, 5.25) else x * 3.0


@program(VECTORS, {0: np.ones(3), 5: np.ones(5)})
def in_an_array(x: Any) -> Any:
    return np.sum(x) if 0.25 in x else np.sum(x * x)


@program(NUMBERS)
def branch_on_another_branch(x: Any) -> Any:
    sign = 1 if x > 0 else -1
    scale = {1: 2.0, -1: 5.0}[sign]
    return x * scale * sign


@program(NUMBERS)
def comparison_kept_in_a_name(x: Any) -> Any:
    large = x > 2
    y = x * x
    if large:
        y = y + x
    return y if not large else y * 2.0


@program(NUMBERS)
def comparison_as_a_number(x: Any) -> Any:
    return x * (x > 0) + (x < 2) * 3.0 * x


@program(NUMBERS)
def comparison_as_an_index(x: Any) -> Any:
    return x * [2.0, 3.0][x > 1]


@program(NUMBERS)
def comparison_as_a_key(x: Any) -> Any:
    return x * {True: 2.0, False: 3.0}[bool(x > 1)]


# --------------------------------------------------------------------------- loops


@program(NUMBERS)
def while_loop(x: Any) -> Any:
    n = 0
    while x > 1:
        x = x / 2.0
        n += 1
    return x * n + x


@program(NUMBERS)
def while_else(x: Any) -> Any:
    n = 0
    while n < 5:
        x = x + 1.0
        if x > 5:
            break
        n += 1
    else:
        return x * 10.0
    return x * n


@program(VECTORS)
def for_over_entries(x: Any) -> Any:
    total = 0.0
    for v in x:
        if v < 0:
            continue
        if v > 3:
            break
        total += v * v
    else:
        total *= 2.0
    return total


@program(MATRICES)
def for_over_rows(x: Any) -> Any:
    total = 0.0
    for row in x:
        if row[0] > 0:
            total = total + row @ row
    return total + x[0, 0]


@program(VECTORS)
def over_zip(x: Any) -> Any:
    return sum(a * b for a, b in zip(x, 2 * x[1:], strict=False) if a < b) + x[0]


@program(VECTORS)
def over_enumerate_and_reversed(x: Any) -> Any:
    total = 0.0
    for k, v in enumerate(reversed(x)):
        total += k * v if v > 0 else v
    return total


@program(VECTORS)
def over_range(x: Any) -> Any:
    y = x[0]
    for k in range(len(x) - 1, 0, -1):
        y = y * x[k] if x[k] > 1 else y + x[k]
    return y


@program(VECTORS)
def over_pairs(x: Any) -> Any:
    return sum(abs(a - b) for a, b in itertools.combinations(x, 2))


@program(VECTORS)
def over_accumulate(x: Any) -> Any:
    return sum(itertools.accumulate(x, lambda a, b: a * b if b > 0 else a + b))


@program(VECTORS)
def takewhile(x: Any) -> Any:
    return sum(itertools.takewhile(lambda v: v > -1, x), x[0])


@program(VECTORS)
def groups(x: Any) -> Any:
    return sum(sum(part) * k for k, (_, part) in enumerate(itertools.groupby(x, key=lambda v: bool(v > 0)), 1))


@program(VECTORS)
def while_true(x: Any) -> Any:
    k = 0
    while True:
        if k == len(x) or x[k] > 1:
            break
        k += 1
    return x[k] * 2.0 if k < len(x) else np.sum(x)


@program(MATRICES)
def nested_loops(x: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if i == j:
                continue
            if x[i, j] < 0:
                break
            total += x[i, j] ** 2
    return total


@program(VECTORS)
def reused_names(x: Any) -> Any:
    y = x[0]
    for x in x:  # noqa: B020 - names are reused on purpose
        y = y * x if x > 0 else y - x
    return y * x


@program(VECTORS)
def next_of_an_iterator(x: Any) -> Any:
    values = iter(x)
    y = next(values)
    y += 2 * next(values)
    return y * next((v for v in values if v > 0), y)


# --------------------------------------------------------------------------- functions


def _square(v: Any) -> Any:
    return v * v if v > 0 else v


@program(VECTORS)
def helper_functions(x: Any) -> Any:
    return sum(map(_square, x))


@program(NUMBERS)
def recursion(x: Any) -> Any:
    return x if x < 1 else recursion(x / 2.0) + x


@program(NUMBERS)
def recursion_of_a_closure(x: Any) -> Any:
    def down(v: Any, n: int = 0) -> Any:
        return v * n if v < 1 else down(v * 0.5, n + 1) + v

    return down(x) + x


@program(NUMBERS)
def mutual_recursion(x: Any) -> Any:
    def even(v: Any) -> Any:
        return v if v < 1 else odd(v - 1)

    def odd(v: Any) -> Any:
        return v * v if v < 1 else even(v - 1)

    return even(x)


@program(NUMBERS)
def nonlocal_state(x: Any) -> Any:
    count = 0

    def step(v: Any) -> Any:
        nonlocal count
        count += 1
        return v - 1 if v > 0 else v

    for _ in range(4):
        x = step(x) if x > 0 else x
    return x * count + x


@program(NUMBERS)
def closure_over_a_traced_value(x: Any) -> Any:
    scale = x if x > 0 else 2.0

    def apply(v: Any) -> Any:
        return v * scale

    scale = scale + 1.0
    return apply(x)


@program(NUMBERS)
def lambdas_on_one_line(x: Any) -> Any:
    f, g = lambda v: v * v if v > 1 else v, lambda v: v + 2.0 if v < 0 else 3.0 * v
    return f(g(x)) + g(f(x))  # type: ignore[no-untyped-call]  # lambdas of two in one line


@program(NUMBERS)
def default_and_keyword_only(x: Any) -> Any:
    def inner(v: Any, /, a: Any = 2.0, *rest: Any, b: Any = 3.0, **named: Any) -> Any:
        return v * a + b + sum(rest) + sum(named.values())

    return inner(x) if x > 1 else inner(x, 4.0, x, b=x * x, c=x)


@program(VECTORS)
def star_arguments(x: Any) -> Any:
    def inner(*args: Any, **kwargs: Any) -> Any:
        return max(args) * kwargs["scale"]

    return inner(*x, scale=x[0])


@program(VECTORS)
def unpacking(x: Any) -> Any:
    a, *b, c = x
    (d, e), f = (a, c), b[0]
    a, c = c, a
    return a * 2.0 + c + d * e - f


@program(VECTORS)
def generator_function(x: Any) -> Any:
    def positive(values: Any) -> Iterator[Any]:
        for v in values:
            if v > 0:
                yield v
        yield from values[:1]

    return sum(positive(x))


@program(VECTORS)
def generator_with_send(x: Any) -> Any:
    def running() -> Any:
        total = 0.0
        while True:
            v = yield total
            total = total + v if v > 0 else total * 0.5

    one = running()
    next(one)
    return [one.send(v) for v in x][-1] + x[0]


@program(VECTORS)
def partials(x: Any) -> Any:
    clip = functools.partial(lambda low, v: low if v < low else v, -1.0)
    return sum(map(clip, x)) + functools.partial(max, x[0])(x[1])


@program(VECTORS)
def reduce(x: Any) -> Any:
    return functools.reduce(lambda a, b: a * b if a < b else a + b, x)


def _doubled(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return 2.0 * function(*args, **kwargs)

    return wrapper


@_doubled
def _decorated(v: Any, *, power: int = 2) -> Any:
    return v**power if v > 0 else v


@program(NUMBERS)
def decorated_helper(x: Any) -> Any:
    return _decorated(x) + _decorated(x, power=3)


@program(NUMBERS)
@_doubled
def decorated_itself(x: Any) -> Any:
    return math.exp(x) if x < 1 else x


@functools.lru_cache
def _factor(n: int) -> float:
    return float(n * n)


@program(NUMBERS)
def cached_helper(x: Any) -> Any:
    return x * _factor(2 if x > 0 else 3)


@functools.singledispatch
def _describe(value: Any) -> Any:
    return value * 2.0


@_describe.register
def _(value: list) -> Any:  # type: ignore[type-arg]  # as people write it
    return sum(value)


@_describe.register
def _(value: np.ndarray) -> Any:
    return np.sum(value) * 3.0 if value[0] > 0 else np.sum(value)


@_describe.register
def _(value: float) -> Any:
    return value * 5.0 if value > 0 else value


for _kind in (1.0, P[0], P, [1.0]):
    _describe(_kind)  # it keeps what it has found, which counts as state


@program(VECTORS)
def dispatch_on_the_kind(x: Any) -> Any:
    return _describe([v for v in x if v > 0]) + _describe(x) * _describe(x[1])
