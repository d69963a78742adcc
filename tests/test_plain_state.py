"""Does one callable follow what changes between its calls, keep nothing alive, and serve many threads?"""

# mypy: disable-error-code="no-untyped-def, attr-defined"

from __future__ import annotations

import collections
import gc
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_plain_python import same, slopes
from threads import in_threads

import symbolic as s
from symbolic import SymbolicWarning, TraceError, symbolic

pytestmark = pytest.mark.usefixtures("numpys_bits")
X = np.array([1.5, -2.0, 0.25])
Y = np.array([-0.5, 3.0, 2.0])


class State:
    """What a program of the table reads; made anew for each."""

    def __init__(self) -> None:
        self.array, self.mask, self.places = np.array([1.0, 2.0, 3.0]), np.array([True, False, True]), [0, 1]
        self.table: dict[str, Any] = {"w": np.ones(3), "b": {"c": 2.0}}
        self.functions: list[Any] = [lambda v: v * 2.0]
        self.inner = types.SimpleNamespace(flag=True, k=2)

    @property
    def half(self) -> Any:
        return self.array[0] / 2


def put(key: Any, value: Any) -> Callable[[Any], None]:
    return lambda t: t.array.__setitem__(key, value)


def of_array(t: State) -> Callable[[Any], Any]:
    return lambda x: np.sum(x * t.array) if t.array[0] > 2 else np.sum(x * x * t.array)


def of_captured_array(t: State) -> Callable[[Any], Any]:
    array = t.array

    def f(x: Any) -> Any:
        y = array.copy()
        y[1:] += x[1:]
        return np.sum(y * x) + array[0] * np.argmax(array) + np.sum(x[np.argsort(array)] * np.arange(3.0))

    return f


def of_iterated_array(t: State) -> Callable[[Any], Any]:
    array = t.array

    def f(x: Any) -> Any:
        total = 0.0
        for v in array:
            total = total + (v * x[0] if v > 3 else x[1])
        return total * array.reshape(3, 1)[0, 0]

    return f


def of_mask(t: State) -> Callable[[Any], Any]:
    mask = t.mask

    def f(x: Any) -> Any:
        y = x.copy()
        y[mask] = 0.5 * x[mask] ** 2
        return np.sum(y) + np.sum(x[t.places])

    return f


def of_table(t: State) -> Callable[[Any], Any]:
    return lambda x: np.sum(x * t.table["w"]) * t.table["b"]["c"] * len(t.table)


def of_attributes(t: State) -> Callable[[Any], Any]:
    return lambda x: np.sum(x * getattr(t, "arr" + "ay")) ** t.inner.k * t.half if t.inner.flag else np.sum(x)


def of_functions(t: State) -> Callable[[Any], Any]:
    return lambda x: sum(f(x[0]) for f in t.functions)


def of_defaults(t: State) -> Callable[[Any], Any]:
    def f(x: Any, w: Any = t.array, *, k: Any = 2.0) -> Any:
        return np.sum(x * w) * k

    return f


CHANGES: dict[Callable[[State], Callable[[Any], Any]], list[Callable[[Any], Any]]] = {
    of_array: [put(0, 4.0), put(0, 1.0), lambda t: setattr(t, "array", np.full(3, 5.0))],
    of_captured_array: [put(1, 8.0), put(2, -1.0), put(0, 20.0), put(slice(None), 1.0)],
    of_iterated_array: [put(0, 5.0), put(2, 0.0), put(1, np.nan), put(1, 3.5)],
    of_mask: [
        lambda t: t.mask.__setitem__(0, False),
        lambda t: t.places.append(0),
        lambda t: t.places.__setitem__(0, 2),
        lambda t: t.mask.fill(True),
    ],
    of_table: [
        lambda t: t.table["w"].__setitem__(1, 5.0),
        lambda t: t.table["b"].update(c=7.0),
        lambda t: t.table.update(b={"c": 9.0}),
        lambda t: t.table.update(w=np.full(3, 2.0), z=1),
    ],
    of_attributes: [
        lambda t: setattr(t.inner, "k", 3),
        lambda t: setattr(t.inner, "flag", False),
        lambda t: setattr(t, "inner", types.SimpleNamespace(flag=True, k=1)),
        put(0, 9.0),
    ],
    of_functions: [
        lambda t: t.functions.append(lambda v: v * v),
        lambda t: t.functions.__setitem__(0, lambda v: -v),
        lambda t: t.functions.pop(),
    ],
    of_defaults: [
        put(0, 7.0),
        put(1, -2.0),
    ],
}
"""By the program, what happens between its calls."""


@pytest.mark.parametrize("make", CHANGES, ids=lambda make: make.__name__)
def test_what_changes_between_calls_is_followed(make: Callable[[State], Callable[[Any], Any]]) -> None:
    state = State()
    function = make(state)
    derivative, net = s.value_and_grad(function), symbolic(function, np.ndarray, returns=float)
    for change in [lambda t: None, *CHANGES[make]]:
        change(state)
        for x in (X, Y, X):
            value, gradient = derivative(x)
            assert same(value, function(x))
            assert np.allclose(gradient, slopes(function, (x,), 0, 1e-6), rtol=1e-6, atol=1e-6, equal_nan=True)
            assert net.predict(x) == float(function(x)) or np.isnan(function(x))


def test_a_body_that_changes_its_own_state_says_so_and_starts_right() -> None:
    counter = types.SimpleNamespace(n=0)

    def f(x: Any) -> Any:
        counter.n += 1
        return np.sum(x) * counter.n

    with pytest.warns(SymbolicWarning, match="differs from run to run"):
        assert s.value_and_grad(f)(X)[0] == np.sum(X)


def test_kinds_of_the_second_argument_are_asked_without_a_comparison() -> None:
    def f(x: Any, n: Any) -> Any:
        return np.sum(x) * (2 if isinstance(n, int) else 3) * n

    derivative = s.value_and_grad(f)
    for n in (2, 2.0, True, np.float64(2), np.int64(2), 2.0):
        assert same(derivative(X, n)[0], f(X, n))


def stores_by_key(x: Any) -> Any:
    counts: Any = collections.defaultdict(int)
    for v in (x, 0.7):
        counts[v] += 1
    return x * len(counts)


KEYS: list[Callable[[Any], Any]] = [
    lambda x: x * len({x, 0.7}),
    lambda x: x * len({v for v in (x, 0.7)}),  # noqa: C416 - this form is meant
    lambda x: x * len(set([x, 0.7])),  # noqa: C405 - this form is meant
    lambda x: {x: 1.0}[x] * x,
    lambda x: x * len({v: 1 for v in (x, 0.7)}),  # noqa: C420 - this form is meant
    lambda x: x * len(dict.fromkeys((x, 0.7))),
    lambda x: x * len(dict([(x, 1), (0.7, 2)])),  # noqa: C406 - this form is meant
    lambda x: x * len(collections.Counter([x, 0.7])),
    lambda x: x * {0.7: 2.0}.setdefault(x, 3.0),
    stores_by_key,
]


@pytest.mark.parametrize("function", KEYS)
def test_a_traced_key_is_refused(function: Callable[[Any], Any]) -> None:
    with pytest.raises(TraceError, match="as a key of a dictionary, or an entry of a set"):
        s.grad(function)(0.7)


# --------------------------------------------------------------------------- what is kept


def branches(x: Any) -> Any:
    return np.sum(x * x) if x[0] > 0 else np.sum(x)


def writes(x: Any) -> Any:
    y = np.zeros(3)
    y[0] = x[0]
    part = y[:2]
    part *= 2.0
    return np.sum(y * x)


def tries(x: Any) -> Any:
    try:
        y = 1.0 / float(x[0])
    except ZeroDivisionError:
        y = 0.0
    return y + np.sum(x)


def sorts(x: Any) -> Any:
    return sum(sorted(x, key=lambda v: -v)) * float(f"{x[0]:.2f}")


def fails(x: Any) -> Any:
    if x[1] < 0:
        raise LookupError(f"at {x[1]:.1f}")
    return np.sum(x)


@pytest.fixture
def uncollected() -> Any:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("function", [branches, writes, tries, sorts, fails])
@pytest.mark.parametrize("make", [s.value_and_grad, lambda f: symbolic(f, np.ndarray, returns=float)])
def test_nothing_of_a_call_stays_alive(function: Any, make: Any, uncollected: None) -> None:
    callable_ = make(function)
    kept = []
    for _ in range(2):
        x = X.copy()
        try:
            result = callable_(x)
            arrays = [one for one in (result if type(result) is tuple else (result,)) if isinstance(one, np.ndarray)]
        except LookupError as error:
            assert str(error) == "at -2.0" and error.__cause__ is None
            arrays = []
        kept += [weakref.ref(one) for one in (x, *arrays)]
        x = result = arrays = None
    assert [one() for one in kept] == [None] * len(kept)


def test_nothing_of_a_map_by_slices_stays_alive(uncollected: None) -> None:
    mapped = s.vmap(branches)
    x = np.stack([X, -X])
    kept = weakref.ref(x)
    mapped(x)
    del x
    assert kept() is None


@pytest.mark.parametrize("make_callable", [s.grad, lambda f: symbolic(f, np.ndarray, returns=float)])
def test_what_is_dropped_lets_go_of_its_function(make_callable: Any, uncollected: None) -> None:
    def make() -> Any:
        large = np.zeros(1000)
        return lambda x: np.sum(x) * large[0] if x[0] > 0 else np.sum(x)

    function = make()
    kept = weakref.ref(function)
    make_callable(function)(X)
    del function
    assert kept() is None


def test_an_interrupted_trace_leaves_nothing_half_done() -> None:
    switch = types.SimpleNamespace(on=True)

    def f(x: Any) -> Any:
        y = np.zeros(3)
        y[0] = x[0]
        if switch.on:
            raise KeyboardInterrupt
        return np.sum(y * x)

    derivative = s.value_and_grad(f)
    with pytest.raises(KeyboardInterrupt):
        derivative(X)
    assert derivative.traces() == 0
    switch.on = False
    assert same(derivative(X)[0], f(X)) and derivative.traces() == 1
    assert np.zeros(2).sum() == 0.0 and float(1) == 1.0  # outside of a trace all is as ever


# --------------------------------------------------------------------------- how many


def test_traces_are_bounded_and_right_after_they_are_dropped() -> None:
    def f(x: Any) -> Any:
        return x[0] * len(f"{x[0]:.6f}") + int(x[0] * 1000) * x[1]

    derivative = s.value_and_grad(f)
    line = f.__code__.co_firstlineno + 1
    with pytest.warns(SymbolicWarning, match=rf"new path at each of its last 8 calls.*:{line}:") as told:
        for k in range(100):
            assert same(derivative(X + k * 0.377)[0], f(X + k * 0.377))
    assert len(told) == 1 and told[0].filename == __file__
    assert derivative.traces() == 64
    assert same(derivative(X)[0], f(X))


def test_threads_get_what_one_gets() -> None:
    def f(x: Any) -> Any:
        count, t = 0, x[0]
        while t > 1:
            t, count = t / 2, count + 1
        y = np.zeros(3)
        y[count % 3] = t * count
        return np.sum(y * x)

    inputs = [np.array([2.0**k * 1.1, 1.0, 2.0]) for k in range(7)]
    wanted = [s.value_and_grad(f)(x) for x in inputs]
    derivative, net = s.value_and_grad(f), symbolic(f, np.ndarray, returns=float)
    wrong: list[Any] = []

    def work(seed: int) -> None:
        for k in np.random.default_rng(seed).integers(0, len(inputs), 30):
            try:
                value, gradient = derivative(inputs[k])
                right = same(value, wanted[k][0]) and same(gradient, wanted[k][1])
                if not right or net.predict(inputs[k]) != wanted[k][0]:
                    wrong.append((k, value, gradient))
            except Exception as error:
                wrong.append(error)

    in_threads(work, 8)
    assert wrong == []
    assert derivative.traces() == net.traces() == len(inputs), "each path is traced by one of the threads"


def test_a_function_may_differentiate_itself() -> None:
    def f(x: Any) -> Any:
        return np.sum(x) * s.value_and_grad(f)(-x)[0] if x[0] > 0 else np.sum(x * x)

    value, gradient = s.value_and_grad(f)(X)
    assert same(value, np.sum(X) * np.sum(X * X))
    assert np.allclose(gradient, np.sum(X * X) + np.sum(X) * 2 * X)
