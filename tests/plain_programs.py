"""Which small programs do people write without thinking of derivatives? Control flow, functions, classes, numbers."""

from __future__ import annotations

import bisect
import collections
import contextlib
import dataclasses
import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np


class Program(NamedTuple):
    function: Callable[..., Any]
    inputs: list[tuple[Any, ...]]
    exact: dict[int, Any]
    """Of inputs whose path has no other input beside them, by their number: the gradient."""


PROGRAMS: list[Program] = []

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


def program(inputs: list[tuple[Any, ...]], exact: dict[int, Any] | None = None) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        PROGRAMS.append(Program(function, inputs, exact or {}))
        return function

    return decorate


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


# --------------------------------------------------------------------------- containers and classes


@program(VECTORS)
def sorted_by_value(x: Any) -> Any:
    return sum(k * v for k, v in enumerate(sorted(x)))


@program(VECTORS)
def sorted_by_key(x: Any) -> Any:
    return sum(k * v for k, v in enumerate(sorted(x, key=lambda v: -abs(v), reverse=True)))


@program(VECTORS)
def sorting_a_list(x: Any) -> Any:
    values = list(x)
    values.sort(key=lambda v: v * v)
    return values[0] * 2.0 + values[-1]


@program(VECTORS)
def smallest_and_largest(x: Any) -> Any:
    return min(x) * max(x[0], x[1]) + max(x, key=lambda v: abs(v - 1)) + min([], default=x[0])


@program(VECTORS)
def best_of_pairs(x: Any) -> Any:
    value, place = max((v, k) for k, v in enumerate(x))
    return value * place + max(range(len(x)), key=lambda k: x[k]) * x[0]


@program(VECTORS)
def comprehensions(x: Any) -> Any:
    squares = [v * v for v in x if v > 0]
    table = {k: v for k, v in enumerate(x) if v < 2}
    nested = [[a * b for a in x] for b in x]
    return sum(squares) + sum(table.values()) + nested[0][-1] + len({bool(v > 0) for v in x})


@program(VECTORS)
def dictionary_of_sums(x: Any) -> Any:
    sums: Any = collections.defaultdict(float)
    for v in x:
        sums["large" if abs(v) > 1 else "small"] += v
    counts = collections.Counter(bool(v > 0) for v in x)
    return sums["large"] * sums["small"] + counts[True] * x[0]


@program(VECTORS)
def stack_and_queue(x: Any) -> Any:
    queue = collections.deque(x, maxlen=3)
    stack: list[Any] = []
    while queue:
        v = queue.popleft()
        if stack and stack[-1] > v:
            v = v * stack.pop()
        stack.append(v)
    return sum(stack)


@program(NUMBERS)
def dictionary_methods(x: Any) -> Any:
    p = {"a": x, "b": 2.0}
    p.update(c=x * x)
    p.setdefault("d", x + 1)
    if p.pop("a") > 1:
        p["b"] *= x
    return sum(p.get(k, 0.0) * k_ for k, k_ in zip("abcd", (1, 2, 3, 4), strict=True))


@dataclasses.dataclass
class Particle:
    position: Any
    speed: Any = 1.0
    history: list[Any] = dataclasses.field(default_factory=list)

    def step(self, dt: float) -> None:
        self.position += self.speed * dt
        if self.position > 1:
            self.speed = -self.speed
        self.history.append(self.position)

    @property
    def energy(self) -> Any:
        return 0.5 * self.speed**2 if self.speed > 0 else self.speed**2


@program(NUMBERS)
def dataclass_with_methods(x: Any) -> Any:
    one = Particle(x, speed=x + 2.0)
    for _ in range(3):
        one.step(0.3)
    return one.energy + sum(one.history) + dataclasses.replace(one, speed=x).energy


class Point(NamedTuple):
    x: Any
    y: Any

    def norm(self) -> Any:
        return math.hypot(self.x, self.y) if self.x > 0 else self.y * self.y


@program(PAIRS)
def named_tuple(x: Any, y: Any) -> Any:
    p = Point(x, y)
    return p.norm() * p._replace(x=y).norm() + p.x


class Dual:
    """A number with operators of its own."""

    def __init__(self, value: Any, slope: Any = 0.0) -> None:
        self.value, self.slope = value, slope

    def __add__(self, other: Any) -> Dual:
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other: Dual) -> Dual:
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    def __lt__(self, other: Dual) -> bool:
        return bool(self.value < other.value)

    def __call__(self, t: Any) -> Any:
        return self.value + t * self.slope

    def __getitem__(self, k: int) -> Any:
        return (self.value, self.slope)[k]

    def __len__(self) -> int:
        return 2

    def __bool__(self) -> bool:
        return bool(self.value > 0)

    def __iter__(self) -> Iterator[Any]:
        yield self.value
        yield self.slope


@program(PAIRS)
def operators_of_a_class(x: Any, y: Any) -> Any:
    a, b = Dual(x, 1.0), Dual(y, 2.0)
    c = a * b + 3.0
    if a < b:
        c = c * a
    value, slope = c
    return value + slope + c(2.0) + c[1] * len(c) + min(a, b).value + (1 if c else 2) * x


class Base:
    scale = 2.0

    def __init__(self, v: Any) -> None:
        self.__v = v

    @property
    def v(self) -> Any:
        return self.__v

    @v.setter
    def v(self, value: Any) -> None:
        self.__v = value if value > 0 else -value

    def apply(self) -> Any:
        return self.__v * self.scale

    @staticmethod
    def double(v: Any) -> Any:
        return v * 2 if v > 0 else v

    @classmethod
    def made(cls, v: Any) -> Any:
        return cls(cls.double(v))


class Derived(Base):
    scale = 3.0

    def apply(self) -> Any:
        return super().apply() + math.exp(-abs(self.v))

    def kind(self) -> Any:
        return len(__class__.__name__)  # type: ignore[name-defined]  # the cell that Python makes


@program(NUMBERS)
def inheritance(x: Any) -> Any:
    one = Derived.made(x)
    one.v = one.v - 1.0
    return one.apply() * one.kind() + Base(x).apply()


@program(NUMBERS)
def class_in_a_function(x: Any) -> Any:
    class Local:
        factor = 2.0 if x > 0 else 3.0

        def __init__(self) -> None:
            self.y = x * self.factor

        def get(self) -> Any:
            return float(self.y) * 2

    return Local().get() + x


@program(NUMBERS)
def context_manager(x: Any) -> Any:
    log = []

    @contextlib.contextmanager
    def scaled(v: Any) -> Iterator[Any]:
        log.append(v)
        yield v * 2.0
        log.append(v * v)

    with scaled(x) as y, contextlib.suppress(ZeroDivisionError):
        if y > 3:
            y = y / 0
        y = y * y
    return y + sum(log)


# --------------------------------------------------------------------------- exceptions


@program([(2.0,), (0.0,), (-3.0,)])
def division_in_a_try(x: Any) -> Any:
    try:
        y = 1.0 / x
    except ZeroDivisionError:
        y = x + 100.0
    return y * 2.0


@program(NUMBERS)
def domain_error(x: Any) -> Any:
    try:
        return math.sqrt(x) + math.log(x)
    except ValueError:
        return x * x
    finally:
        x = 0.0


@program(NUMBERS)
def own_exception(x: Any) -> Any:
    class Negative(Exception):  # noqa: N818 - the name is the program's
        pass

    def check(v: Any) -> Any:
        if v < 0:
            raise Negative(f"{v:.3f} of {v!r} is {v}")
        return v

    try:
        y = check(x) * 2.0
    except Negative as error:
        y = x * len(error.args)
    else:
        y = y + 1.0
    finally:
        y = y * 3.0
    return y


@program(NUMBERS)
def asserting(x: Any) -> Any:
    try:
        assert x < 3, f"too large: {x}"
    except AssertionError:
        return x * 0.5
    return x * x


@program(VECTORS)
def index_error(x: Any) -> Any:
    try:
        return x[3] * x[4]
    except IndexError:
        return x[0] * 2.0


@program(MATRICES)
def key_error(x: Any) -> Any:
    table = {"a": x[0, 0]}
    try:
        return table["b"] * 1.0
    except KeyError as error:
        return table["a"] * len(str(error))


@program([(np.eye(2) * 2.0,), (np.zeros((2, 2)),), (np.array([[1.0, 2.0], [3.0, 5.0]]),)])
def singular(x: Any) -> Any:
    try:
        y = np.linalg.inv(x)
    except np.linalg.LinAlgError:
        y = x + 1.0
    return np.sum(y * y)


# --------------------------------------------------------------------------- numbers


@program(NUMBERS)
def whole_part(x: Any) -> Any:
    return x * int(x) + math.floor(x) * x + math.ceil(x) - math.trunc(x) * x


@program(NUMBERS)
def rounding(x: Any) -> Any:
    return x * round(x) + x * (x // 1) + x % 1 + round(x, 1) * 0.0


@program(NUMBERS)
def quotient_and_rest(x: Any) -> Any:
    whole, rest = divmod(x, 0.9)
    return whole * x + rest * rest


@program(PAIRS)
def powers(x: Any, y: Any) -> Any:
    return pow(abs(x), y) + pow(x, 2) + 2.0**x + x**3


@program(NUMBERS)
def many_of_math(x: Any) -> Any:
    y = math.sin(x) * math.cos(x) + math.tanh(x) + math.atan2(x, 2.0) + math.hypot(x, 1.0)
    y += math.exp(-abs(x)) + math.log1p(x * x) + math.sqrt(1 + x * x) + math.erf(x) + math.fabs(x)
    return y + math.log(x * x + 2, 2) + math.copysign(x, -1.0) + math.pi * x + math.pow(2.0, x) + math.fmod(x, 10.5)


@program(NUMBERS, {0: 3.0})
def questions_of_math(x: Any) -> Any:
    if math.isclose(x, 0.7) or math.isnan(x) or math.isinf(x):
        return x * 3.0
    return x * x if math.isfinite(x) else x


@program(VECTORS)
def sums_of_math(x: Any) -> Any:
    return math.fsum(x) + math.prod(x) + math.dist(x, [0.0] * len(x))


@program(VECTORS)
def float_of_an_entry(x: Any) -> Any:
    y = float(x[0]) * 2
    return y if y > 1 else y * x[1].item()


@program(VECTORS)
def text_as_a_key(x: Any) -> Any:
    return x[0] * {"1.50": 2.0, "-0.50": 3.0}.get(f"{x[0]:.2f}", 4.0) + len(f"{x[1]:.1f}") * x[1]


@program(NUMBERS)
def formatting(x: Any) -> Any:
    text = "%.1f" % x + f"{x:+.2e}" + format(x, ".3f") + "{:.3f}".format(x)  # noqa: UP031, UP032 - on purpose
    return x * len(text)


@program(VECTORS)
def kinds(x: Any) -> Any:
    assert isinstance(x, np.ndarray)
    assert type(x) is np.ndarray
    v = x[0]
    assert isinstance(v, float)
    assert isinstance(v, np.floating)
    assert not isinstance(v, (int, list))
    return v * 2.0 if np.isscalar(v) and np.ndim(x) == 1 else v


@program(NUMBERS)
def kind_of_a_number(x: Any) -> Any:
    if type(x) is float and isinstance(x, (int, float)) and not isinstance(x, np.ndarray):
        return x * 2.0
    return x


@program(NUMBERS, {5: 3.0})
def float_methods(x: Any) -> Any:
    y = x * 2 if x.is_integer() else x * 3
    return y + x.real + x.imag


@program(VECTORS)
def operator_module(x: Any) -> Any:
    return operator.mul(x[0], operator.itemgetter(1)(x)) + functools.reduce(operator.add, x) + operator.neg(x[2])


@program(VECTORS)
def place_of_the_largest(x: Any) -> Any:
    k = int(np.argmax(x))
    return x[k] * x[k - 1] + x[np.argmin(x)] * k


@program(VECTORS)
def argsort_as_indices(x: Any) -> Any:
    order = np.argsort(x)
    return sum(v * k for k, v in zip(order, x[order], strict=True)) + x[list(order)[-1]] * 2


@program(VECTORS)
def nonzero_places(x: Any) -> Any:
    (places,) = np.where(x > 0)
    total = 0.0
    for k in places:
        total += x[k] * k
    return total + len(places) * x[0]


@program(VECTORS)
def count_of_a_mask(x: Any) -> Any:
    n = np.count_nonzero(x > 0)
    m = int((x > 1).sum())
    return np.sum(x[x > 0]) / max(n, 1) + m * x[0]


@program(VECTORS)
def search_in_a_table(x: Any) -> Any:
    knots = [-2.0, 0.0, 1.0, 3.0]
    k = bisect.bisect(knots, x[0])
    return x[0] * k + np.searchsorted(knots, x[1]) * x[1]


@program([(np.array([np.nan, 2.0]),), (np.array([1.0, 2.0]),), (np.array([np.inf, 2.0]),), (np.array([-1.0, 2.0]),)])
def comparing_nan(x: Any) -> Any:
    a, b = x
    if a != a:
        return b * 2.0
    if not a < 1:
        return b * 3.0
    return b * max(a, b) if a < b else b


@program([(np.array([0.0, 2.0]),), (np.array([-0.0, 2.0]),), (np.array([1.0, 2.0]),)])
def signed_zero(x: Any) -> Any:
    a, b = x
    if math.copysign(1.0, a) < 0:
        return b * 2.0
    return b * 3.0 if str(float(a)) == "0.0" else b


# --------------------------------------------------------------------------- algorithms


@program(NUMBERS)
def horner(x: Any) -> Any:
    y = 0.0
    for c in (1.0, -2.0, 0.5, 3.0):
        y = y * x + c
    return y


@program([(2.0,), (7.0,), (0.3,)])
def newton(a: Any) -> Any:
    x, err = a, 1.0
    while err > 1e-10:
        x, old = 0.5 * (x + a / x), x
        err = abs(x - old)
    return x


@program([(2.0,), (7.0,), (0.3,)])
def bisection(a: Any) -> Any:
    low, high = 0.0 * a, a + 1.0
    for _ in range(12):
        middle = (low + high) / 2
        if middle * middle > a:
            high = middle
        else:
            low = middle
    return low + high * 2.0


@program(NUMBERS)
def euler_steps(x: Any) -> Any:
    y, v, dt = x, 0.0, 0.1
    for _ in range(8):
        v -= y * dt
        y += v * dt
        if y < 0:
            y, v = -y, -0.5 * v
    return y + v


@program(NUMBERS)
def collatz_like(x: Any) -> Any:
    for _ in range(6):
        x = x / 2 if x > 2 else 3 * x + 1
    return x


@program(VECTORS)
def quicksort(x: Any) -> Any:
    def sort(values: list[Any]) -> list[Any]:
        if len(values) < 2:
            return values
        pivot, *rest = values
        return [*sort([v for v in rest if v < pivot]), pivot, *sort([v for v in rest if not v < pivot])]

    return sum(k * v for k, v in enumerate(sort(list(x)), 1))


@program(VECTORS)
def bubble_sort(x: Any) -> Any:
    values = list(x)
    for i in range(len(values)):
        for j in range(len(values) - 1 - i):
            if values[j] > values[j + 1]:
                values[j], values[j + 1] = values[j + 1], values[j]
    return sum(k * v for k, v in enumerate(values))


@program([(np.array([1.0, 3.0, 2.0]), np.array([2.0, 3.5])), (np.array([3.0, 1.0]), np.array([2.0, 0.0, 4.0, 1.0]))])
def dynamic_time_warping(x: Any, y: Any) -> Any:
    table = {(-1, -1): 0.0}
    for i in range(len(x)):
        for j in range(len(y)):
            before = [table[k] for k in ((i - 1, j), (i, j - 1), (i - 1, j - 1)) if k in table]
            table[i, j] = abs(x[i] - y[j]) + min(before)
    return table[len(x) - 1, len(y) - 1]


@program([(0.3,), (0.9,), (3.2,)])
def golden_section(a: Any) -> Any:
    low, high = 0.0, a
    while high - low > 0.2:
        third = (high - low) / 3
        if (low + third - 0.4) ** 2 < (high - third - 0.4) ** 2:
            high = high - third
        else:
            low = low + third
    return (low + high) / 2


@program(VECTORS)
def running_median(x: Any) -> Any:
    window: list[Any] = []
    total = 0.0
    for v in x:
        bisect.insort(window, v)
        total += window[len(window) // 2]
    return total


@program(VECTORS)
def line_search(x: Any) -> Any:
    t, f0 = 1.0, np.sum(x**4)
    for _ in range(20):
        if np.sum((x - t * 4 * x**3) ** 4) < f0:
            break
        t *= 0.5
    return np.sum((x - t * x) ** 2)
