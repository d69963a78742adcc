"""Is a body traced once for all inputs that it cannot tell apart, and never with a stale answer?"""

# what a weight's delta is, is of no interest here; a subscript of the marker outside a hint
# mypy: disable-error-code="misc,var-annotated"

import copy
import itertools
import math
import pickle
import random
import re
import sys
import time
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symbolic as s
from symbolic import SGD, ShapeError, Symbolic, SymbolicWarning, TraceError, Weight, symbolic

Vector = Annotated[np.ndarray, Symbolic]


def of_array(function: Callable[..., Any], inputs: int = 1) -> Any:
    """The function as a layer of arrays."""
    return symbolic(function, *[np.ndarray] * inputs, returns=np.ndarray)


def zeros(*shape: int, dtype: Any = float) -> Any:
    return np.zeros(shape, dtype)


INPUTS = [
    zeros(3),
    zeros(5),
    zeros(2, 3),
    zeros(3, 3),
    zeros(),
    zeros(3, dtype=np.float32),
    zeros(2, 3, dtype=np.float32),
    zeros(0, 3),
]


def count(function: Callable[..., Any], inputs: list[Any]) -> int:
    net = of_array(function)
    for x in [*inputs, *inputs]:
        assert np.array_equal(net.predict(x), function(x))
    return int(net.traces())


def by_rank(x: Any) -> Any:
    return x * x.ndim


def by_length(x: Any) -> Any:
    total = x[0]
    for t in range(1, x.shape[0]):
        total = total * 2.0 + x[t]
    return total


ROWS: list[tuple[str, Callable[[Any], Any], list[Any], int]] = [
    ("asks nothing", lambda x: np.exp(x) + 1.0, INPUTS, 1),
    ("sums, means, axes", lambda x: np.sum(x) + np.mean(x, axis=None) + np.max(x, initial=0.0), INPUTS[:4], 1),
    ("rank", by_rank, INPUTS, 3),
    ("length", by_length, [zeros(3), zeros(5), zeros(3)], 2),
    ("len()", lambda x: x * len(x), [zeros(3), zeros(3, 2), zeros(4)], 3),
    ("one size of several", lambda x: x * x.shape[1], [zeros(2, 3), zeros(5, 3), zeros(2, 4), zeros(7, 4)], 2),
    ("last size", lambda x: x * x.shape[-1], [zeros(2, 3), zeros(5, 3), zeros(2, 4)], 2),
    ("size", lambda x: x * x.size, [zeros(2, 3), zeros(2, 3, dtype=np.float32), zeros(3, 3)], 2),
    ("dtype", lambda x: x.astype(x.dtype) * (2.0 if x.dtype == np.float32 else 3.0), INPUTS[:6], 2),
    ("whole shape", lambda x: x * sum(x.shape), [zeros(2, 3), zeros(3, 2), zeros(2, 3)], 2),
    ("size of a result", lambda x: x * np.sum(x, axis=0).shape[0], [zeros(2, 3), zeros(5, 3), zeros(2, 4)], 2),
    ("a comparison of sizes", lambda x: x if x.shape[0] > 4 else -x, [zeros(3), zeros(5), zeros(6)], 3),
]


@pytest.mark.parametrize(("function", "inputs", "traces"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_trace_knows_only_what_it_needs(function: Any, inputs: list[Any], traces: int) -> None:
    assert count(function, inputs) == traces


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8))
def test_a_loop_over_the_length_is_traced_once_per_length(lengths: list[int]) -> None:
    net = of_array(by_length)
    for n in lengths:
        x = np.arange(1.0, n + 1.0)
        assert net.predict(x) == by_length(x)
    assert net.traces() == len(set(lengths))


def test_the_shape_of_a_traced_value_reads_as_a_tuple() -> None:
    found: list[Any] = []

    def body(x: Any) -> Any:
        shape, last = x.shape, (4,)
        found.append(
            (tuple(shape), len(shape), shape[0], shape[-1], shape[1:], shape == (2, 3), shape + last, (1, *shape))
        )
        found.append(
            (np.zeros(shape).shape, x.reshape(shape[::-1]).shape == (3, 2), hash(shape) == hash((2, 3)), x.size)
        )
        return x

    of_array(body).predict(zeros(2, 3))
    assert found[0] == ((2, 3), 2, 2, 3, (3,), True, (2, 3, 4), (1, 2, 3))
    assert found[1] == ((2, 3), True, True, 6)


@pytest.mark.parametrize("shape", [(2, 2), (4, 2), (1, 2)])
def test_a_shape_stands_where_an_array_may(shape: tuple[int, ...]) -> None:
    x = np.arange(float(math.prod(shape))).reshape(shape)
    bodies: list[Any] = [lambda x: x + x.shape, lambda x: np.prod(x.shape[:1]), lambda x: x.shape]
    for f in bodies:
        mine, true = of_array(f).predict(x), np.asarray(f(x))
        assert mine.dtype == true.dtype and np.array_equal(mine, true)


def test_unpacking_iterating_and_enumerating() -> None:
    def f(x: Any) -> Any:
        n, m = x.shape
        first, *rest = x
        total = first * n * m
        for k, row in enumerate(rest):
            total = total + k * row
        for row, other in zip(x, reversed(list(x)), strict=True):
            total = total + row * other
        return total

    x = np.random.default_rng(0).normal(size=(3, 2))
    assert np.allclose(of_array(f).predict(x), f(x))
    with pytest.raises(TypeError, match="0-d"):
        of_array(lambda x: sum(x)).predict(zeros())
    with pytest.raises(TypeError, match="unsized"):
        of_array(lambda x: x * len(x)).predict(zeros())


def test_traces_are_kept_in_a_bounded_number() -> None:
    net = of_array(lambda x: np.sum(x) * x.shape[0])
    for n in range(1, 200):
        net.predict(np.ones(n))
    assert 10 <= net.traces() <= 100
    assert net.predict(np.ones(1)) == 1.0 and net.predict(np.ones(150)) == 150.0**2


# --------------------------------------------------------------------------- weights


def test_a_second_trace_finds_the_same_weights() -> None:
    def body(x: Any) -> Any:
        for _ in range(2):
            x = x * Weight(s.normal(1)) + Weight(0.5)
        return x * len(x)

    net = of_array(body)
    first = net.predict(np.ones(3))
    weights = list(net.weights().values())
    assert len(weights) == 4
    net.train(np.ones(4), optimizer=SGD(0.01))
    assert [id(w) for w in net.weights().values()] == [id(w) for w in weights] and net.traces() == 2
    assert not np.array_equal(net.predict(np.ones(3)), first)
    assert net.predict(np.ones(3))[0] / 3 == pytest.approx(net.predict(np.ones(5))[0] / 5)


def test_weights_are_found_by_the_chain_of_call_sites() -> None:
    def layer(x: Any) -> Any:
        return x * Weight(1.0)

    def body(x: Any) -> Any:
        a = layer(x)
        b = layer(x)
        for _ in range(x.shape[0]):
            b = layer(b)
        return a + 10.0 * b

    net = of_array(body)
    net.predict(np.ones(2))
    assert len(net.weights()) == 4
    net.predict(np.ones(3))
    assert len(net.weights()) == 5
    net.predict(np.ones(2))
    assert len(net.weights()) == 5


def test_two_weights_on_one_line_are_two() -> None:
    net = of_array(lambda x: x * Weight(2.0) + Weight(3.0) * Weight(4.0))
    assert net.predict(np.ones(1))[0] == 14.0
    assert sorted(w.value for w in net.weights().values()) == [2.0, 3.0, 4.0]


def test_initial_values_come_from_the_layers_own_generator() -> None:
    def body(x: Any) -> Any:
        return x @ Weight(s.normal(3, 2)) * x.shape[0]

    def draws(net: Any) -> Any:
        net.predict(np.ones((1, 3)))
        return next(iter(net.weights().values())).value

    net = of_array(body)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # not taken for a body that differs from run to run
        first = draws(net)
        net.predict(np.ones((2, 3)))
    assert np.array_equal(draws(net), first)
    assert not np.array_equal(draws(of_array(body)), first)  # each layer has its own
    s.seed(7)
    one = draws(of_array(body))
    s.seed(7)
    assert np.array_equal(draws(of_array(body)), one)


def test_a_weight_of_another_shape_at_the_same_place_names_both_lines() -> None:
    @symbolic
    def net(x: Vector) -> Vector:
        y: np.ndarray = x * Weight(np.ones(x.shape[0]))
        return y

    line = sys._getframe().f_lineno - 3
    net.predict(np.ones(3))
    before = [w.value for w in net.weights().values()]
    with pytest.raises(ShapeError) as caught:
        net.predict(np.ones(4))
    text = str(caught.value)
    assert text.count(f"test_trace.py:{line}") == 2 and "[4]" in text and "[3]" in text and ";" in text
    assert net.predict(np.ones(3)).shape == (3,) and np.array_equal(before[0], np.ones(3))


# --------------------------------------------------------------------------- bodies that differ from run to run


GENERATOR = np.random.default_rng(0)
COUNTER = itertools.count(1)
IMPURE: list[tuple[str, Callable[[], float]]] = [
    ("np.random", lambda: float(np.random.rand())),
    ("clock", time.perf_counter),
    ("a generator", lambda: float(GENERATOR.normal())),
    ("random", random.random),
    ("an iterator", lambda: float(next(COUNTER))),
]


@pytest.mark.parametrize("draw", [row[1] for row in IMPURE], ids=[row[0] for row in IMPURE])
def test_an_impure_body_is_traced_anew_and_that_is_said_once(draw: Callable[[], float]) -> None:
    net = of_array(lambda x: x * 0.0 + draw())
    with pytest.warns(SymbolicWarning, match=r"differs from run to run.*test_trace\.py:\d+.*traced anew") as caught:
        values = [float(net.predict(np.zeros(1))[0]) for _ in range(5)]
    assert len(set(values)) == 5
    assert len([one for one in caught if issubclass(one.category, SymbolicWarning)]) == 1
    assert net.traces() <= 1


def test_noise_in_training_is_drawn_at_each_step() -> None:
    generator = np.random.default_rng(0)
    w = Weight(1.0)
    net = of_array(lambda x: np.sum(x * w * generator.normal()))
    deltas = []
    with pytest.warns(SymbolicWarning, match="run to run"):
        for _ in range(4):
            net.train(np.ones(2), optimizer=SGD(0.0))
            deltas.append(w.delta)
    assert len(set(deltas)) == 4


def test_a_generator_that_is_not_drawn_from_twice_alike_is_no_reason_to_warn() -> None:
    net = of_array(lambda x: x * float(np.random.default_rng(3).normal()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = net.predict(np.ones(1))
        assert np.array_equal(net.predict(np.ones(1)), first) and net.traces() == 1


# --------------------------------------------------------------------------- assignment


def assign_entry(x: Any) -> Any:
    y = np.sin(x)
    y[0] = 2.0 * y[1]
    return y * y


def add_to_a_slice(x: Any) -> Any:
    y = x * 1.0
    y[1:] += y[:-1]
    return np.sum(y**2)


def in_place(x: Any) -> Any:
    y = x + 1.0
    z = y
    y *= x
    y -= 2.0
    return z * 3.0  # the same array as y


def rebound(x: Any) -> Any:
    y = x + 1.0
    z = y
    y = y * 2.0
    return z + y


def through_a_view(x: Any) -> Any:
    y = x * 2.0
    view = y[1:]
    view[0] = x[0] * 10.0
    view *= 3.0
    return y


def view_sees_its_base(x: Any) -> Any:
    y = x * 2.0
    view = y[::-1]
    y[0] = x[1]
    return view * 1.0


def through_a_reshape(x: Any) -> Any:
    y = x * 2.0
    z = y.reshape(2, 2)
    z[0, 1] = x[3]
    z[:, 0] = 0.0
    return y


def through_a_transpose(x: Any) -> Any:
    y = x.reshape(2, 2) * 1.0
    y.T[0] = x[2:]
    return y.reshape(4)


def a_copy_is_no_view(x: Any) -> Any:
    y = x * 2.0
    z = y.copy()
    z[0] = 7.0
    w = y[[0, 1]]
    w[0] = 9.0
    return y + z


def masked(x: Any) -> Any:
    y = x * 1.0
    y[x > 0.5] = 0.0
    return y


def by_helper(x: Any) -> Any:
    def fill(target: Any) -> None:
        target[1] = -1.0

    y = x * 1.0
    fill(y)
    return y


def used_before_and_after(x: Any) -> Any:
    y = x * 1.0
    before = np.sum(y)
    y[0] = 5.0
    return before * np.sum(y)


def in_a_loop(x: Any) -> Any:
    y = x * 0.0
    y[0] = x[0]
    for t in range(1, 4):
        y[t] = np.tanh(y[t - 1] + x[t])
    return y


def with_out(x: Any) -> Any:
    y = x * 1.0
    np.add(x, 1.0, out=y)
    return y


ASSIGNMENTS = [
    assign_entry,
    in_place,
    rebound,
    view_sees_its_base,
    a_copy_is_no_view,
    masked,
    by_helper,
    used_before_and_after,
    in_a_loop,
    with_out,
]
VIEWS = [add_to_a_slice, through_a_view, through_a_reshape, through_a_transpose]


@pytest.mark.parametrize("function", VIEWS, ids=lambda one: one.__name__)
def test_assignment_through_a_view_is_numpys_or_refused(function: Callable[..., Any]) -> None:
    try:
        of_array(function).predict(np.ones(4))
    except TraceError as error:
        assert re.search(r"assignment through \w+, which is a view.*test_trace\.py:\d+.*;.*copy", str(error))
    else:
        test_assignment_to_a_traced_array_is_numpys(function)


@pytest.mark.parametrize("function", ASSIGNMENTS, ids=lambda one: one.__name__)
def test_assignment_to_a_traced_array_is_numpys(function: Callable[..., Any]) -> None:
    x = np.array([0.3, -0.7, 0.9, 0.2])
    net = of_array(function)
    for _ in range(4):
        assert np.allclose(net.predict(x), function(x), rtol=1e-13)
    assert np.array_equal(x, [0.3, -0.7, 0.9, 0.2])
    gradient = s.grad(lambda v: np.sum(function(v) * np.arange(1.0, 5.0)[: np.size(function(x))]))(x)
    weights = np.arange(1.0, 5.0)[: np.size(function(x))]
    for k in range(4):
        step = np.zeros(4)
        step[k] = 1e-6
        slope = np.sum((function(x + step) - function(x - step)) * weights) / 2e-6
        assert gradient[k] == pytest.approx(slope, abs=1e-8)


def test_assigning_to_an_input_does_not_reach_the_callers_array() -> None:
    def f(x: Any) -> Any:
        x[0] = 7.0
        x *= 2.0
        return x

    x = np.ones(3)
    assert np.array_equal(of_array(f).predict(x), [14.0, 2.0, 2.0]) and np.array_equal(x, np.ones(3))


def test_in_place_rules_are_numpys() -> None:
    def grow(x: Any) -> Any:
        y = x[0] * 1.0
        y += x
        return y

    def cast(x: Any) -> Any:
        y = x.astype(int)
        y += x
        return y

    def narrow(x: Any) -> Any:
        y = x.astype(np.float32)
        y += x
        return y

    x = np.ones((2, 3))
    with pytest.raises(ShapeError, match=r"in-place.*\(3,\).*\(2, 3\).*;"):
        of_array(grow).predict(x)
    with pytest.raises(TypeError, match=r"cast.*float64.*int64.*;"):
        of_array(cast).predict(x)
    assert of_array(narrow).predict(x).dtype == np.float32


def test_assignment_to_a_weight_or_outside_a_trace_is_refused() -> None:
    w = Weight(np.ones(3))

    def f(x: Any) -> Any:
        w[0] = 2.0
        return x * w

    with pytest.raises(TraceError, match=r"Weight.*test_trace\.py:\d+.*;"):
        of_array(f).predict(np.ones(3))
    layer: Any = s.Exp()
    with pytest.raises(TraceError, match=r"item assignment.*;"):
        layer[0] = 1.0
    with pytest.raises(TraceError, match=r"in-place.*;"):
        layer += 1.0
    assert np.array_equal(w.value, np.ones(3))


# --------------------------------------------------------------------------- what would strip the gradient


def unseen(expression: str) -> Callable[[Any], Any]:
    """A function without source, whose code cannot be rewritten."""
    return eval(f"lambda x: {expression}", {"np": np, "math": math, "pickle": pickle, "G": np.zeros(3)})  # type: ignore[no-any-return]  # what eval gives


UNSEEN = [
    ("np.float64(x[0])", "number"),
    ("float(x[0]) * x", "float"),
    ("complex(x[0]) * x", "complex"),
    ("pickle.dumps(x)", "pickle"),
    ("G.__setitem__(0, x[0])", "float|number"),
    ("np.add(G, x, out=G)", "in-place|out="),
]


@pytest.mark.parametrize(("expression", "named"), UNSEEN)
def test_code_without_source_never_turns_a_traced_value_silently_into_numbers(expression: str, named: str) -> None:
    with pytest.raises(TypeError, match=rf"(?s)({named}).*<string>:1.*; ?.+") as caught:
        of_array(unseen(expression)).predict(np.array([0.25, 0.5, 0.75]))
    assert isinstance(caught.value, TraceError)


SEEN = [
    "np.array([x[0], x[1]]) * 2.0",
    "np.asarray([[x[0], 1.0], [2.0, x[1]]])",
    "math.exp(x[0]) * x",
    "np.asanyarray(x) * (2.0 if isinstance(x, np.ndarray) else 3.0)",
    "np.add(np.zeros(3), x, out=np.zeros(3))",
    "np.linalg.norm(np.array([x[0], x[2]])) * x",
]


@pytest.mark.parametrize("expression", SEEN)
def test_code_without_source_runs_over_names_that_keep_traced_values(expression: str) -> None:
    f, x = unseen(expression), np.array([0.25, 0.5, 0.75])
    assert np.array_equal(of_array(f).predict(x), f(x))


def test_pickling_a_traced_value_is_refused() -> None:
    with pytest.raises(TraceError, match=r"pickle.*test_trace\.py:\d+.*;"):
        of_array(lambda x: pickle.dumps(x)).predict(np.ones(2))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, np.copy, lambda x: x.copy()])
def test_copying_keeps_the_gradient(copied: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        y = copied(x)
        y *= 2.0
        return np.sum(x * y)

    x = np.array([1.0, 3.0])
    assert np.array_equal(s.grad(f)(x), 4.0 * x)


def test_a_condition_on_a_constant_is_plain_python() -> None:
    def f(x: Any) -> Any:
        scale = np.sum(s.Literal(np.ones(3)))
        return x if scale > 2.0 else -x

    assert of_array(f).predict(np.ones(1))[0] == 1.0


def test_a_condition_names_the_value_the_line_and_the_remedy() -> None:
    def f(x: Any) -> Any:
        loss = np.sum(x)
        if loss > 0:
            return loss
        return -loss

    line = f.__code__.co_firstlineno + 2
    with pytest.raises(TraceError) as caught:
        str(of_array(f))
    text = str(caught.value)
    assert "Greater(Sum(Identity()), Literal(0))" in text
    assert f"test_trace.py:{line}" in text and "np.where" in text


# --------------------------------------------------------------------------- errors of the body


class MineError(Exception):
    """An error of the user's own."""

    def __init__(self, code: int, *, hint: str) -> None:
        super().__init__(code)
        self.hint = hint


def test_an_exception_of_the_body_passes_through_unchanged() -> None:
    error = MineError(3, hint="x")

    def f(x: Any) -> Any:
        if x.shape[0] == 3:
            raise error
        return x

    net = of_array(f)
    for act in (net.predict, net, lambda x: net.forward(s.Literal(x)), s.grad(f)):
        with pytest.raises(MineError) as caught:
            act(np.ones(3))
        assert caught.value is error and caught.value.__cause__ is None
    assert np.array_equal(net.predict(np.ones(2)), np.ones(2))  # and nothing is left of it


@pytest.mark.parametrize(
    "error", [KeyError("a"), ZeroDivisionError("b"), StopIteration(), AssertionError("c"), IndexError("d")]
)
def test_pythons_own_errors_pass_too(error: Exception) -> None:
    def f(x: Any) -> Any:
        raise error

    with pytest.raises(type(error)) as caught:
        of_array(f).predict(np.ones(3))
    assert caught.value is error


# --------------------------------------------------------------------------- trees without data


def test_a_tree_is_printed_without_an_input() -> None:
    assert str(of_array(lambda x: np.sum(np.exp(x), axis=0))) == "Sum(Exp(Identity()), axis=0)"
    sized = symbolic(lambda x: x * x.shape[1], Annotated[np.ndarray, Symbolic["batch", 784]])
    assert str(sized) == "Times(Identity(), Literal(784))"
    scalar = symbolic(lambda x: x * x.ndim, float)
    assert str(scalar) == "Times(Identity(), Literal(0))"


def test_a_fact_that_cannot_be_had_names_variable_line_and_remedy() -> None:
    def f(x: Any) -> Any:
        return x * x.shape[0]

    with pytest.raises(
        TraceError, match=rf"\.shape of .*test_trace\.py:{f.__code__.co_firstlineno + 1}.*;.*Symbolic\["
    ):
        str(of_array(f))
    with pytest.raises(TraceError, match=r"\.ndim of .*;"):
        str(of_array(lambda x: x * x.ndim))
    net = of_array(f)
    net.predict(np.ones(3))
    assert str(net) == "Times(Identity(), Literal(3))"  # the last trace is shown


def test_asking_outside_a_trace_is_refused() -> None:
    for ask in (lambda x: x.shape, lambda x: x.ndim, lambda x: x.dtype, lambda x: x.size, len, list):
        with pytest.raises(TraceError, match=r"not known without an input.*test_trace\.py:\d+.*;"):
            ask(s.Exp())
