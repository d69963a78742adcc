"""Which small programs do people write with containers, classes, exceptions and numbers, or as an algorithm?"""

from __future__ import annotations

import bisect
import collections
import contextlib
import dataclasses
import functools
import math
import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from plain_programs import MATRICES, NUMBERS, PAIRS, VECTORS, Programs

PROGRAMS = Programs()
program = PROGRAMS.noted


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
