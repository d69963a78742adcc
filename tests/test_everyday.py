"""Do the small habits of NumPy code keep the gradient: lists in the place of arrays, functions that write, texts?"""

# ruff: noqa: UP031, F507 - texts with percent signs, also wrong ones, are what is tested

# mypy: disable-error-code="str-format,arg-type"

import abc
import collections
import collections.abc
import dataclasses
import enum
import functools
import math
import numbers
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from sklearn.metrics import mean_squared_error  # type: ignore[import-untyped]  # it has no types

from symbolic import (
    DtypeError,
    ShapeError,
    SymbolicError,
    SymbolicWarning,
    TraceError,
    Weight,
    grad,
    symbolic,
    value_and_grad,
)

X = np.array([3.0, 1.0, 2.0])
KEPT = np.zeros(3)


def agrees(f: Callable[[Any], Any], x: Any = X) -> None:
    """The value is that of the plain call, the gradient that of central differences."""
    value, delta = value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-13)
    numeric = [(f(x + 1e-6 * unit) - f(x - 1e-6 * unit)) / 2e-6 for unit in np.eye(len(x))]
    np.testing.assert_allclose(delta, numeric, rtol=1e-6, atol=1e-7)


# --------------------------------------------------------------------------- lists
LISTS: list[Callable[[Any], Any]] = [
    lambda x: np.sum([x[0] * 2, x[1]]),
    lambda x: np.sum([[x[0], 1.0], [x[1] ** 2, x[2]]], axis=0)[0],
    lambda x: np.sum(np.mean([x, x**2], axis=0)),
    lambda x: np.max([x[0] * 2, x[1]]),
    lambda x: np.sum(np.min([x * 2, x**2], axis=0)),
    lambda x: np.dot([x[0], x[1]], [1.0, 2.0]) * x[2],
    lambda x: np.linalg.norm([x[0], x[1]]),
    lambda x: np.sort([x[0], x[1], x[2]])[0] ** 2,
    lambda x: np.median((x[0], x[1], x[2])) ** 2,
    lambda x: np.prod([x[0], x[1], x[2]]),
    lambda x: np.sum(np.exp([x[0], x[1]])),
    lambda x: np.sum(np.maximum([x[0], x[1]], 2.0)),
    lambda x: np.add.reduce([x[0], x[1] ** 2]),
    lambda x: np.interp(1.5, [0.0, 1.0, 2.0], [x[0], x[1], x[2]]),
    lambda x: np.trapezoid([x[0], x[1], x[2]], [0.0, 1.0, 3.0]),
    lambda x: np.trapezoid(x, [0.0, 1.0, 3.0]),
    lambda x: np.sum(np.where([True, False, True], [x[0], x[1], x[2]], 0.0)),
    lambda x: x[np.argmax([x[1], x[0]])] ** 2,
    lambda x: np.sum(np.linalg.solve([[x[0], 1.0], [0.0, x[1]]], [1.0, x[2]])),
    lambda x: np.linalg.det([[x[0], 1.0], [0.5, x[1]]]),
    lambda x: np.sum(np.cross([x[0], 1.0, 2.0], [0.5, x[1], 1.0])),
    lambda x: np.prod(np.vstack(([x[0], 1.0], [2.0, x[1]]))),
    lambda x: np.sum(np.concatenate([[x[0], x[1]], x]) ** 2),
    lambda x: np.einsum("i,i", [x[0], x[1]], [2.0, x[2]]),
    lambda x: np.sum([v**2 for v in x]),
]
"""Each of a list, or of nested lists, of traced values."""


@pytest.mark.parametrize("f", LISTS)
def test_a_list_of_traced_values_is_an_array(f: Callable[[Any], Any]) -> None:
    agrees(f)


def test_a_ragged_list_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"shapes \(3,\) and \(\) cannot be joined"):
        grad(lambda x: np.sum([x, x[0]]))(X)


# --------------------------------------------------------------------------- writing


def scattered(x: Any) -> Any:
    A = np.zeros((3, 3))
    np.add.at(A, (np.array([0, 1, 0]), [1, 2, 1]), x**2)
    np.add.at(A, [0, 0], x[:2, None])
    np.add.at(A, slice(0, 2), x[0])
    return np.sum(A**2)


def diagonal(x: Any) -> Any:
    A = np.ones((3, 3))
    np.fill_diagonal(A, x)
    B = np.zeros((2, 4))
    np.fill_diagonal(B, x[0])
    return np.linalg.det(A) + np.sum(B**3)


def copied(x: Any) -> Any:
    y = np.ones((2, 3))
    np.copyto(y[1], x)
    np.copyto(y, x**2, where=[False, True, False])
    return np.sum(y**3)


def put(x: Any) -> Any:
    y = np.ones((2, 2))
    np.put(y, [0, 3], x[:2])
    y.put(1, x[2])
    return np.sum(y**3)


def masked(x: Any) -> Any:
    y, z = x * 2.0, np.ones(3)
    np.putmask(y, y > 3.0, x**2)
    np.place(z, x > 1.5, x[1])
    return np.sum(y**3) + np.sum(z * [1.0, 2.0, 3.0])


def filled(x: Any) -> Any:
    y = np.zeros(3)
    y.fill(x[0])
    y.flat[1] = x[1]
    y += [v * k for k, v in enumerate(x.flat)]
    return np.sum(y**2) + y.flat[2] * len(y.flat)


def in_a_row(x: Any) -> Any:
    y = np.outer(x, x)
    row = y.T.flat
    part = row[2:4]
    part[0] = 100.0
    row[1] += part[1] * x[2]
    row[5:] = x[0]
    return np.sum(y * np.arange(9.0).reshape(3, 3)) + part[0] * np.sum(y.flat) + sum(v**2 for v in row)


def sorted_in_place(x: Any) -> Any:
    y = np.stack([x, -x], axis=1)
    y.sort(axis=0)
    return np.sum(y * [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.mark.parametrize("f", [scattered, diagonal, copied, put, masked, filled, in_a_row, sorted_in_place])
def test_a_function_that_writes_into_an_array_of_the_body(f: Callable[[Any], Any]) -> None:
    agrees(f)


def test_an_array_from_outside_cannot_be_written_into() -> None:
    with pytest.raises(TraceError, match="would write traced values into an array") as caught:
        grad(lambda x: np.copyto(KEPT, x))(X)
    assert isinstance(caught.value, SymbolicError)
    assert caught.value.remedy


def test_many_assignments_in_a_row_cost_the_same_each() -> None:
    """Names that were assigned to are followed the short way: thousands of entries stay within sight."""

    def squares(x: Any, count: int) -> Any:
        y = np.zeros(count)
        for i in range(count):
            y[i] = x * i
        return y[count - 1] + y[1]

    assert value_and_grad(squares)(2.0, 1500) == (3000.0, 1500.0)


# --------------------------------------------------------------------------- loops and texts


def by_index(x: Any) -> Any:
    total = 0.0
    for i in np.ndindex(x.shape):
        total += x[i] ** 2
    for (i, j), value in np.ndenumerate(np.outer(x, x)):
        total += value * (i + 2 * j)
    return total


def test_loops_over_all_indices() -> None:
    agrees(by_index)


def test_an_empty_array_is_the_same_at_each_run() -> None:
    """What memory happened to hold must not look like a body that differs from run to run."""

    def filled_later(x: Any) -> Any:
        y = np.empty(50)
        z = np.empty_like(y)
        for k in range(50):
            y[k] = x[0] * k
        z[:] = y
        return np.sum(z)

    step: Any = value_and_grad(filled_later)
    for _ in range(3):
        noise = [np.random.default_rng(0).random(50) for _ in range(20)]
        del noise
        assert step(X)[0] == filled_later(X)
    assert int(step.traces()) == 1


def test_texts_with_percent_signs() -> None:
    said: list[str] = []

    def told(x: Any) -> Any:
        said.append("%5.2f|%-8.1e|%d|%s|%%|%+.3g" % (x[0], x[1], x[2], "a", math.pi))
        said.append("%(first).1f of %(count)d" % {"first": x[0], "count": 3})
        said.append("%s" % x[0])
        return x[0] ** 2

    assert grad(told)(X)[0] == 6.0
    assert said[:3] == [" 3.00|1.0e+00 |2|a|%|+3.14", "3.0 of 3", "3.0"]


def test_a_text_with_too_few_values_is_pythons_error() -> None:
    with pytest.raises(TypeError, match="not enough arguments"):
        grad(lambda x: "%f %f" % (x[0],))(X)
    with pytest.raises(TypeError, match="not all arguments converted"):
        grad(lambda x: "%f" % (x[0], x[1]))(X)


# --------------------------------------------------------------------------- looking from outside


def test_attributes_are_those_of_the_value() -> None:
    """An entry is a NumPy number, which has no length; a constant or a function of time is told by `callable`."""
    seen: list[Any] = []

    def looked(x: Any) -> Any:
        entry, number = x[0], float(x[1])
        seen.append([hasattr(one, "__len__") for one in (x, entry, number)])
        seen.append([getattr(one, "ndim", "none") for one in (x, entry, number)])
        seen.append([callable(one) for one in (x, entry, number, math.sin)])
        seen.append([isinstance(one, collections.abc.Iterable) for one in (x, entry, number)])
        seen.append([isinstance(one, numbers.Real) for one in (x, entry, number)])
        seen.append([one.__class__ for one in (x, entry, number)])
        return x[0] ** 2

    looked(X)
    plain, seen[:] = seen[:], []
    grad(looked)(X)
    assert seen[: len(plain)] == plain


def test_a_number_says_whether_it_is_whole() -> None:
    def whole(x: Any) -> Any:
        return sum(v**2 if v.is_integer() or float(v).is_integer() else v for v in x)

    value, delta = value_and_grad(whole)(np.array([3.0, 1.5, -2.0]))
    assert value == 14.5
    np.testing.assert_array_equal(delta, [6.0, 1.0, -4.0])


SETS: list[Callable[[Any], Any]] = [set, frozenset, collections.Counter, dict.fromkeys]


@pytest.mark.parametrize("kind", SETS)
def test_a_set_of_traced_values_is_refused(kind: Callable[[Any], Any]) -> None:
    """It finds numbers by their hash, which a traced one does not have."""
    with pytest.raises(TraceError, match=r"an entry of a set.*;"):
        grad(lambda x: x[0] ** len(kind(x)))(X)
    agrees(lambda x: x[0] ** len(kind([1, 2, 1])) + len(kind([])) + len(kind("aab")))


def counting(x: Any) -> Any:
    counts: dict[Any, int] = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    return x[0] ** len(counts)


def seen_before(x: Any) -> Any:
    seen: set[Any] = set()
    for v in x:
        seen.add(v)
    return x[0] ** len(seen)


@pytest.mark.parametrize("f", [counting, seen_before])
def test_a_traced_value_is_no_key(f: Callable[[Any], Any]) -> None:
    with pytest.raises(TraceError, match="as a key of a dictionary"):
        grad(f)(X)


def test_plain_keys_stay() -> None:
    def by_count(x: Any) -> Any:
        totals: dict[int, Any] = {}
        for v in x:
            totals[int(v)] = totals.get(int(v), 0.0) + v**2
        return totals.setdefault(3, 0.0) + 2.0 * totals[1]

    agrees(by_count, np.array([3.1, 1.2, 1.7]))


# --------------------------------------------------------------------------- classes


class Shapes:
    factor = 2.0

    def __init__(self, x: Any) -> None:
        self.x, self.asked = x, 0
        self.__hidden = x[2]

    @property
    def corner(self) -> Any:
        return np.array([self.x[0], math.exp(self.x[1]) * self.factor])

    @functools.cached_property
    def angle(self) -> Any:
        self.asked += 1
        return math.sin(self.x[0])

    @property
    def hidden(self) -> Any:
        return self.__hidden


@dataclasses.dataclass(frozen=True)
class Pair:
    a: Any
    both: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "both", np.array([self.a, math.exp(self.a)]))


class Kernel(abc.ABC):
    def __init__(self, x: Any) -> None:
        self.scales = np.array([x[0], math.exp(x[1])])

    @abc.abstractmethod
    def at(self, distance: Any) -> Any: ...


class Smooth(Kernel):
    def at(self, distance: Any) -> Any:
        return self.scales[0] * math.exp(-(distance**2) / self.scales[1])


class Pole:
    """A vector with operators of its own."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __add__(self, other: Any) -> Any:
        return Pole(self.a + other.a, self.b + other.b)

    def __mul__(self, k: Any) -> Any:
        return Pole(self.a * k, self.b * k)

    __rmul__ = __mul__

    def __rsub__(self, k: Any) -> Any:
        return Pole(k - self.a, k - self.b)

    def __rpow__(self, k: Any) -> Any:
        return Pole(k**self.a, k**self.b)

    def __gt__(self, k: Any) -> Any:
        return self.a > k

    def dot(self, other: Any) -> Any:
        return self.a * other.a + self.b * other.b


@dataclasses.dataclass
class Scaled:
    by: Any

    def __rmul__(self, k: Any) -> Any:
        return self.by * np.sum(k)


class Kind(enum.Enum):
    SMALL = 1
    LARGE = 2


def of_properties(x: Any) -> Any:
    shapes = Shapes(x)
    return np.sum(shapes.corner) + shapes.angle * shapes.angle + shapes.hidden**2 + 10 * shapes.asked


def of_dataclasses(x: Any) -> Any:
    pair = dataclasses.replace(Pair(x[0]), a=x[1])
    assert "__post_init__" not in vars(pair)
    return np.sum(pair.both) * np.prod(Pair(a=x[2]).both)


def of_operators(x: Any) -> Any:
    pole = x[0] * Pole(x[1], 2.0) + (float(x[2]) - Pole(x[1], x[0])) * x[1] + x[0] ** Pole(x[1], 1.5)
    larger = x[1] < Pole(x[0], 0.0)
    return pole.dot(Pole(1.0, x[2])) * (2.0 if larger else 1.0) + x[2] * Scaled(x[1])


def of_abstract_classes(x: Any) -> Any:
    return Smooth(x).at(x[2])


def of_polynomials(x: Any) -> Any:
    line = np.polynomial.Polynomial(x)
    return line(2.0) * line.deriv()(x[0]) + np.sum(np.polynomial.chebyshev.chebval(x, [1.0, 2.0, 0.3]))


def of_dtypes(x: Any) -> Any:
    wide = np.result_type(x, np.float32) == np.float64 and np.result_type(float(x[0]), np.float32(1)) == np.float32
    return x[0] ** 2 if wide and np.common_type(x) is np.float64 else x[1] ** 3


def of_patterns(x: Any) -> Any:
    match Kind.SMALL, [x[0], x[1]]:
        case Kind.LARGE, _:
            return x[2]
        case Kind.SMALL, [a, b] if a > np.array([b]).sum():
            return a**2 * np.array([a, b]).prod()
    return x[2]


@pytest.mark.parametrize(
    "f", [of_properties, of_dataclasses, of_patterns, of_operators, of_abstract_classes, of_polynomials, of_dtypes]
)
def test_code_that_no_call_shows(f: Callable[[Any], Any]) -> None:
    """A property, what follows a dataclass's `__init__`, the guard of a pattern: their code is rewritten, too."""
    agrees(f)


def test_errors_that_numpy_was_told_to_raise_are_caught_by_the_body() -> None:
    def guarded(x: Any) -> Any:
        try:
            with np.errstate(divide="raise", over="raise"):
                return np.sum(x / (x[1] - 1.0)) + np.exp(x[2])
        except FloatingPointError:
            return np.sum(x**2)

    step = value_and_grad(guarded)
    for x in (X, X + 1.0, X + 1000.0, X):
        value, delta = step(x)
        np.testing.assert_allclose(value, guarded(x), rtol=1e-13)
    np.testing.assert_allclose(delta, 2 * X)


def test_an_array_asks_no_class() -> None:
    """NumPy makes an array of objects of it: refused, not done in another way."""
    with pytest.raises(DtypeError, match='type "Pole"'):
        grad(lambda x: np.sum((x * Pole(1.0, 2.0)).a))(X)


def test_another_librarys_function_is_named() -> None:
    with pytest.raises(TraceError, match=r"sklearn\.metrics\.\w+ works on plain numbers.*test_everyday\.py.*;"):
        grad(lambda x: mean_squared_error(x, X))(X)
    agrees(lambda x: x[0] * mean_squared_error([3.0, 4.0], [2.0, 4.0]))


def test_code_without_a_source_is_named() -> None:
    space: dict[str, Any] = {"np": np}
    exec("def typed(x):\n    return np.sum(x) * float(x[0])", space)
    with pytest.raises(TraceError, match=r"put typed into a file, as code without a source is not followed"):
        grad(space["typed"])(X)
    with pytest.raises(TraceError, match=r"; use NumPy's functions"):
        grad(lambda x: x[0].__float__())(X)


SUMS: list[tuple[Callable[[Any], Any], list[float]]] = [
    (lambda x: sum([x[0].item(), 0.1, x[1].item() * 2.0, 1e16, -1e16, 1]), [1.0, 2.0]),
    (lambda x: math.fsum([x[0], 0.1, 1e16, x[1], -1e16]), [1.0, 1.0]),
    (lambda x: sum(x) + sum([x[0], x[1]], 2.0) + sum(v * v for v in x), [2.6, 3.4]),
    (lambda x: sum([np.array([x[0], 1.0]), np.array([2.0, x[1]])]).sum(), [1.0, 1.0]),  # type: ignore[union-attr]  # arrays, not 0
    (lambda x: x[0] + sum([]) + sum([1, 2]), [1.0, 0.0]),
]


@pytest.mark.parametrize(("f", "slopes"), SUMS)
def test_a_sum_rounds_as_pythons_does(f: Callable[[Any], Any], slopes: list[float]) -> None:
    """From 3.12 on `sum` of floats keeps what single additions lose."""
    x = np.array([0.3, 0.7])
    value, slope = value_and_grad(f)(x)
    assert value == f(x) and type(value) is type(f(x))
    np.testing.assert_allclose(slope, slopes, rtol=1e-15)


# --------------------------------------------------------------------------- plain arrays, other libraries, state

TABLE = np.array([1.0, 2.0, 4.0, 8.0])


def _nested(x: Any) -> Any:
    def folded(values: Any) -> Any:
        return np.add.reduce(values) + np.maximum.reduce(values)

    return folded(x)


READS: list[tuple[Callable[[Any], Any], list[float]]] = [
    (lambda x: np.sum((TABLE[np.abs(TABLE - x[0]) < 3.0] - x[0]) ** 2), [-5.0, 0.0]),
    (lambda x: TABLE[np.searchsorted(TABLE, x[0])] * x[0], [2.0, 0.0]),
    (lambda x: np.sum(TABLE[np.argsort(x)] * x), [2.0, 1.0]),
    (lambda x: TABLE[np.argmin(x)] * x[0], [2.0, 0.0]),
    (_nested, [2.0, 1.0]),
]


@pytest.mark.parametrize(("f", "slopes"), READS)
def test_a_plain_array_is_read_by_traced_indices(f: Callable[[Any], Any], slopes: list[float]) -> None:
    x = np.array([1.5, 0.5])
    value, slope = value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(slope, slopes, rtol=1e-14, atol=1e-14)


def test_a_function_without_source_may_use_the_methods_of_ufuncs() -> None:
    f = eval("lambda x: (lambda v: np.add.reduce(v) * np.pi)(x) + np.linalg.norm(x) + np.r_[x, 1.0].sum()", {"np": np})
    x = np.array([3.0, 4.0])
    assert value_and_grad(f)(x)[0] == f(x)
    np.testing.assert_allclose(grad(f)(x), np.pi + x / 5.0 + 1.0)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: np.sum(np.array([x[0], x[1]], dtype=object)), "dtype=object"),
        (lambda x: np.sum(x.astype(object)), "dtype object"),
        (lambda x: np.sum(x.astype(str) == "1.5"), "dtype <U"),
        (lambda x: np.frompyfunc(lambda v: v * v, 1, 1)(x), "frompyfunc.*vectorize"),
        (lambda x: brentq(lambda y: y - x[0], 0.0, 5.0), r"scipy\.optimize\.brentq"),
        (lambda x: quad(lambda y: y * x[0], 0.0, 5.0)[0], r"scipy\.integrate\.quad"),
    ],
)
def test_what_would_lose_the_gradient_is_refused(f: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(SymbolicError, match=words):
        grad(f)(np.array([1.5, 0.5]))


def test_a_gradient_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(grad(np.sin)))(0.0) == 1.0


def test_a_function_that_records_what_it_computes_says_once_that_it_is_traced_anew() -> None:
    record: list[Any] = []

    def f(x: Any) -> Any:
        record.append(float(x))
        return x * x

    derivative = grad(f)
    with pytest.warns(SymbolicWarning, match=r"record, which it reads, is another each time.*return") as caught:
        assert [derivative(2.0) for _ in range(20)] == [4.0] * 20
    assert len(caught) == 1


def test_a_file_that_the_body_reads_is_read_at_every_call(tmp_path: Path) -> None:
    path = tmp_path / "factor.txt"

    def f(x: Any) -> Any:
        with open(path) as file:
            return x * float(file.read())

    path.write_text("2.0")
    derivative = grad(f)
    with pytest.warns(SymbolicWarning, match=r"open\(\)"):
        assert derivative(1.0) == 2.0
    path.write_text("3.0")
    assert derivative(1.0) == 3.0


def test_a_loop_may_ask_for_derivatives_of_derivatives() -> None:
    def f(x: Any) -> Any:
        return np.cos(x) * x

    def newton(a: Any) -> Any:
        x, slope, curvature, turns = a, grad(f), grad(grad(f)), 0
        while abs(slope(x)) > 1e-10 and turns < 20:
            x, turns = x - slope(x) / curvature(x), turns + 1
        return x * a

    value, derivative = value_and_grad(newton)(0.9)
    assert value == newton(0.9)
    np.testing.assert_allclose(derivative, (newton(0.9 + 1e-6) - newton(0.9 - 1e-6)) / 2e-6, rtol=1e-8)


def test_a_whole_number_given_to_math_keeps_its_delta() -> None:
    assert grad(lambda x: math.exp(x) * float(x))(2) == math.exp(2.0) * 3.0


def test_a_copy_of_a_plain_array_may_be_written_into_through_views() -> None:
    def f(x: Any) -> Any:
        t = TABLE.copy()
        view = t[1:3]
        view[...] = x * 2.0
        t.fill(x[0]) if x[0] < 0 else np.add.at(t, [0, 0], x[1])
        return np.sum(t * np.array([1.0, 2.0, 3.0, 4.0]))

    for x in (np.array([1.5, 0.5]), np.array([-1.5, 0.5])):
        value, slope = value_and_grad(f)(x)
        assert value == f(x)
        ways = np.eye(2) * 1e-6
        np.testing.assert_allclose(slope, [(f(x + way) - f(x - way)) / 2e-6 for way in ways], atol=1e-8)
    assert np.array_equal(TABLE, [1.0, 2.0, 4.0, 8.0])


def test_a_gradient_of_a_network_that_branches_makes_its_weights_known() -> None:
    def f(x: Any) -> Any:
        w = Weight(2.0)
        return x * w if x > 0 else x - w

    net: Any = symbolic(f, float)
    assert grad(net)(3.0) == 2.0 and [one.value for one in net.weights().values()] == [2.0]
