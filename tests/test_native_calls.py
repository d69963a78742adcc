"""Do predictions and gradients that are one call into machine code give what the general way gives, whoever calls?

The oracle is NumPy's machine, which answers each call in Python.
"""

from __future__ import annotations

import copy
import dis
import gc
import sys
import tracemalloc
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np
import pytest
from threads import in_threads

import symbolic as s
from symbolic import SGD, Symbolic, Weight, grad, symbolic, value_and_grad
from symbolic.backends.native.abi import CAN_ATTACH

pytest.importorskip("llvmlite")
RNG = np.random.default_rng(11)
X, W = RNG.normal(size=(5, 3)), RNG.normal(size=3)
OFFSET = RNG.normal(size=5)


@pytest.fixture(autouse=True)
def native() -> Iterator[None]:
    with s.use("native"):
        yield


def frames(f: Callable[..., Any], *inputs: Any) -> list[str]:
    """The functions of Python that a call runs."""
    found: list[str] = []

    def notice(frame: Any, event: str, _: object) -> None:
        if event == "call":
            found.append(frame.f_code.co_qualname if hasattr(frame.f_code, "co_qualname") else frame.f_code.co_name)

    sys.setprofile(notice)
    try:
        f(*inputs)
    finally:
        sys.setprofile(None)
    return found


def loss(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(x @ w) ** 2)


def alike(one: Any, other: Any, rtol: float = 1e-12) -> None:
    """The same structure of the same types, dtypes and shapes, and nearly the same numbers."""
    assert type(one) is type(other)
    if isinstance(one, tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            alike(a, b, rtol)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        alike(tuple(one.values()), tuple(other.values()), rtol)
    else:
        assert np.asarray(one).dtype == np.asarray(other).dtype and np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=rtol)


def general(f: Callable[..., Any], *inputs: Any, **named: Any) -> Any:
    with s.use("numpy"):
        return f(*inputs, **named)


# --------------------------------------------------------------------------- bound methods


def test_a_bound_method_that_was_taken_early_is_quick_when_code_is_there() -> None:
    net = symbolic(lambda x: np.tanh(x) * 2.0, np.ndarray, returns=np.ndarray)
    predict = net.predict
    for _ in range(4):
        predict(X)
    assert frames(predict, X) == frames(net.predict, X) == []
    for found in (predict(X), net.predict(X)):
        np.testing.assert_allclose(found, np.tanh(X) * 2.0, rtol=1e-14)


def test_a_bound_method_is_one_to_everybody() -> None:
    net = symbolic(np.tanh, np.ndarray, returns=np.ndarray)
    assert net.predict.__self__ is net and net.predict.__name__ == "predict" and net.predict == net.predict
    assert "no weight" in (type(net).predict.__doc__ or "")
    with pytest.raises(TypeError):
        type(net).predict()
    assert copy.deepcopy(s.Exp().predict)(0.0) == 1.0


def test_another_machine_is_taken_at_once() -> None:
    """What predicts in machine code does so no longer, and the other way round."""
    w = Weight(RNG.normal(size=37))
    x = RNG.normal(size=(40, 37))
    net = symbolic(lambda x: np.exp(x @ w) * np.tanh(x @ w), np.ndarray, returns=np.ndarray)
    both = value_and_grad(lambda w: np.sum(np.exp(x @ w) * np.tanh(x @ w)))
    for _ in range(4):
        net.predict(x), both(w.value)
    plain = np.exp(x @ w.value) * np.tanh(x @ w.value)
    with s.use("numpy"):
        for _ in range(4):
            assert np.array_equal(net.predict(x), plain)
            assert both(w.value)[0] == np.sum(plain)


@pytest.mark.skipif(not CAN_ATTACH or sys.gettrace() is not None, reason="Python looks everything up each time")
def test_python_looks_the_method_up_once_for_all_calls_of_a_line() -> None:
    """Its own instructions say so. It would not, had layers a `__getattr__`, or the net a dictionary."""
    net = symbolic(lambda x: np.tanh(x), np.ndarray, returns=np.ndarray)

    def loop(n: int) -> None:
        for _ in range(n):
            net.predict(X)

    loop(100)
    looking = [one.opname for one in dis.get_instructions(loop, adaptive=True) if one.argval == "predict"]
    assert [name for name in looking if "METHOD_" in name and "ADAPTIVE" not in name] == looking != []


# --------------------------------------------------------------------------- calls of layers

Given = Annotated[np.ndarray, Symbolic]


def scaled() -> Any:
    """A layer with a weight, and a number of its own."""

    @symbolic
    def net(x: Given, y: Given, scale: float = 2.0) -> Given:
        w = Weight(W)
        return np.tanh(x @ w) * scale + y

    return net


def test_a_call_with_arrays_is_one_into_machine_code() -> None:
    net = scaled()
    for _ in range(4):
        found = net(X, OFFSET)
    assert frames(net, X, OFFSET) == frames(net.predict, X, OFFSET) == []
    assert np.array_equal(net(X, OFFSET), net.predict(X, OFFSET))
    alike(net(X, OFFSET), found)
    np.testing.assert_allclose(found, np.tanh(X @ W) * 2.0 + OFFSET, rtol=1e-12)


def test_any_other_call_is_what_it_was() -> None:
    """With a layer it composes, with a number for a parameter it is another layer's; what is refused is refused in the
    same words.
    """
    fresh, net = scaled(), scaled()
    for _ in range(4):
        net(X, OFFSET)

    def outcomes(net: Any) -> list[Any]:
        with pytest.raises(s.SymbolicError) as few:
            net(X)
        with pytest.raises(s.SymbolicError) as many:
            net(X, X, X, X)
        with pytest.raises(s.SymbolicError) as odd:
            net("x", OFFSET)
        said = [str(one.value).partition(", in ")[0] for one in (few, many, odd)]
        layers = str(net(s.Identity(), OFFSET)), str(net(scale=3.0)), str(net)
        return [said, layers, net(X, OFFSET, scale=3.0), net(X[:2], OFFSET[:2]), net(x=X, y=OFFSET)]

    one, other = outcomes(net), general(outcomes, fresh)
    assert one[:2] == other[:2]
    alike(tuple(one[2:]), tuple(other[2:]))


def test_a_call_within_a_trace_is_part_of_it() -> None:
    net = scaled()
    for _ in range(4):
        net(X, OFFSET)
    w = Weight(2.0)
    outer = symbolic(lambda x: np.sum(net(X, OFFSET)) * w * np.sum(x), np.ndarray, returns=float)
    for _ in range(4):
        np.testing.assert_allclose(outer(X), np.sum(np.tanh(X @ W) * 2.0 + OFFSET) * 2.0 * np.sum(X), rtol=1e-12)
    assert len(outer.weights()) == 2


def test_a_class_that_calls_in_its_own_way_keeps_it() -> None:
    class Loud(s.Sequential):
        __slots__ = ()

        def __call__(self, *inputs: Any) -> Any:  # type: ignore[override]  # not as layers are
            return "loud", self.predict(*inputs)

    loud, plain = Loud(s.Exp()), s.Sequential(s.Exp())
    for _ in range(4):
        loud.predict(X), plain.predict(X)
    word, value = loud(X)
    alike(value, np.exp(X))
    assert word == "loud" and frames(plain, X) == frames(loud.predict, X) == [] != frames(loud, X)


def test_a_copy_is_called_with_weights_of_its_own() -> None:
    net = scaled()
    for _ in range(4):
        net(X, OFFSET)
    before, twin = net(X, OFFSET), copy.deepcopy(net)
    other = symbolic(lambda x: np.sum(twin(x, OFFSET)), np.ndarray, returns=float)
    for _ in range(4):
        other.train(X, optimizer=SGD(0.1))
        assert np.array_equal(net(X, OFFSET), before) and not np.allclose(twin(X, OFFSET), before)


def test_a_layer_is_let_go_with_the_code_of_its_calls() -> None:
    net = scaled()
    for rows in (5, 3, 5, 2, 4, 5, 1):
        for _ in range(4):
            alike(net(X[:rows], OFFSET[:rows]), np.tanh(X[:rows] @ W) * 2.0 + OFFSET[:rows])
    held = weakref.ref(net)
    del net
    gc.collect()
    assert held() is None


# --------------------------------------------------------------------------- values with gradients


@pytest.mark.parametrize("argnums", [0, 1, (0, 1), (1, 0), (1,), -1])
@pytest.mark.parametrize("make", [grad, value_and_grad])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradients_of_every_form(make: Any, argnums: Any, dtype: Any) -> None:
    f = make(loss, argnums)
    x, w = X.astype(dtype), W.astype(dtype)
    want = general(make(loss, argnums), x, w)
    for _ in range(4):
        alike(f(x, w), want, 1e-5 if dtype == np.float32 else 1e-12)
    assert frames(f, x, w) == []


@pytest.mark.parametrize(
    ("f", "inputs"),
    [
        (lambda x: x * x + 1.0, (1.5,)),
        (lambda x, y: x * np.sin(y), (1.5, 0.25)),
        (lambda x, a: np.sum(a) * x, (2.0, X)),
        (lambda x: np.sum(x) * 1.0, (np.array(2.0),)),
        (lambda x: np.sum(x[:0]), (X,)),
        (lambda x: np.sum(x), (np.empty((0, 3)),)),
        (lambda x, n: np.sum(x[n]), (X, np.array([0, 2]))),
    ],
)
def test_gradients_of_other_kinds(f: Any, inputs: Any) -> None:
    ours, theirs = value_and_grad(f), value_and_grad(f)
    want = general(theirs, *inputs)
    for _ in range(5):
        alike(ours(*inputs), want)


NUMBERS: list[Callable[[float], Any]] = [
    float,
    np.float64,
    np.float32,
    np.array,
    lambda value: np.array(value, np.float32),
]


@pytest.mark.parametrize("make", NUMBERS, ids=["float", "float64", "float32", "box64", "box32"])
@pytest.mark.parametrize("argnums", [0, (0, 1)])
def test_gradients_by_numbers_of_every_kind_are_one_call_into_machine_code(make: Any, argnums: Any) -> None:
    """A number comes back as the kind that it was given as: Python's, a scalar of NumPy's, an array without axes."""
    f = value_and_grad(lambda mean, width: np.sum(((OFFSET - mean) / width) ** 2) + mean, argnums)
    want = general(f, make(0.3), make(1.7))
    for _ in range(4):
        alike(f(make(0.3), make(1.7)), want, 1e-5)
    assert frames(f, make(0.3), make(1.7)) == []
    for one in NUMBERS:
        for other in (float, make):
            alike(f(one(0.3), other(1.7)), general(f, one(0.3), other(1.7)), 1e-5)
    alike(f(make(-0.2), make(0.9)), general(f, make(-0.2), make(0.9)), 1e-5)


@pytest.mark.parametrize("one", NUMBERS[1:], ids=["float64", "float32", "box64", "box32"])
@pytest.mark.parametrize(
    "f", [lambda x: x * 2.0, lambda x: np.where(x > 0, x, -x), lambda x: np.reshape(x, ()), lambda x: np.sum(x[None])]
)
def test_values_of_arrays_without_axes_are_what_numpy_makes_of_them(f: Any, one: Any) -> None:
    ours = value_and_grad(f)
    for make in (one, np.array, np.float64, one):
        want = general(ours, make(1.5))
        for _ in range(4):
            alike(ours(make(1.5)), want, 1e-5)
        assert type(ours(make(1.5))[0]) is type(f(make(1.5)))


def test_gradients_by_a_layer_and_by_keyword() -> None:
    net = symbolic(lambda x, w: np.sum(np.tanh(x @ w) ** 2), np.ndarray, np.ndarray, returns=float)
    both = value_and_grad(net, (0, 1))
    want = general(value_and_grad(loss, (0, 1)), X, W)
    for _ in range(4):
        found = both(X, W)
    assert frames(both.predict, X, W) == [] and type(found[0]) is float
    alike(found[1], want[1])
    alike(both(x=X, w=W), found)
    plain = value_and_grad(loss)
    for _ in range(4):
        plain(X, W)
    alike(plain(X, w=W), plain(X, W))


def test_other_calls_go_another_way() -> None:
    """Other shapes, dtypes, layouts and types after code has been made for one kind; then that kind again."""
    f, plain = value_and_grad(loss), value_and_grad(loss)
    calls = [(X, W), (X[:2], W), (X[::-1], W[::-1]), (X.astype(np.float32), W), (X[0], W), (np.asfortranarray(X), W)]
    for x, w in calls * 3:
        alike(f(x, w), general(plain, x, w), 1e-5)
    with pytest.raises(s.ShapeError):
        f(X, W[:2])
    with pytest.raises(s.DtypeError):
        f("x", W)
    with pytest.raises(TypeError):
        f(X)  # type: ignore[call-arg]  # what must be refused
    alike(f(X, W), general(plain, X, W))


def test_each_call_gives_arrays_of_its_own() -> None:
    f = value_and_grad(loss, (0, 1))
    found = [f(X + k, W) for k in range(8)]
    copies = copy.deepcopy(found)
    for k in range(8):
        f(X - k, W)
    for one, other in zip(found, copies, strict=True):
        alike(one, other, 0.0)
    arrays = [array for _, gradients in found for array in gradients]
    assert all(one.flags.writeable and one.flags.owndata for one in arrays)
    assert not any(np.shares_memory(one, other) for k, one in enumerate(arrays) for other in arrays[:k])


def test_what_is_not_finite_is_computed_with_care() -> None:
    """0 · ∞ of a branch that was not taken is no NaN, and warnings are NumPy's."""
    f = value_and_grad(lambda x: np.sum(np.where(x >= 0, x, np.sqrt(-x))))
    for _ in range(4):
        f(np.ones(4))
    value, gradient = f(np.zeros(4))
    assert value == 0.0 and np.array_equal(gradient, np.ones(4))
    logs = value_and_grad(lambda x: np.sum(np.log(x)))
    for _ in range(4):
        logs(np.ones(4))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert logs(np.zeros(4))[0] == -np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert logs(np.ones(4))[0] == 0.0


def test_within_a_trace_a_gradient_is_part_of_it() -> None:
    inner = grad(lambda x: np.sum(x**3))
    for _ in range(4):
        inner(W)
    outer = grad(lambda x: np.sum(inner(x)))
    for _ in range(4):
        np.testing.assert_allclose(outer(W), 6.0 * W, rtol=1e-12)
    net = symbolic(lambda x: x * inner(W), np.ndarray, returns=np.ndarray)
    for _ in range(4):
        np.testing.assert_allclose(net.predict(W), 3.0 * W**3, rtol=1e-12)


def test_gradients_follow_what_the_function_reads() -> None:
    factor = 2.0

    def scaled(x: Any) -> Any:
        return np.sum(x) * factor

    f = value_and_grad(scaled)
    for _ in range(4):
        assert f(W)[1][0] == 2.0
    factor = 3.0
    for _ in range(4):
        assert f(W)[1][0] == 3.0


def test_another_default_is_seen() -> None:
    def scaled(x: Any, factor: float = 2.0) -> Any:
        return np.sum(np.tanh(x)) * factor

    f = value_and_grad(lambda x: scaled(x))
    for factor in (2.0, 3.0):
        scaled.__defaults__ = (factor,)
        for _ in range(4):
            np.testing.assert_allclose(f(W)[0], np.sum(np.tanh(W)) * factor, rtol=1e-12)
        assert frames(f, W) == []


# --------------------------------------------------------------------------- captured arrays


def test_captured_arrays_are_read_at_each_call() -> None:
    """They may be written to in between, and another may take their place."""
    offset = OFFSET.copy()
    w, moved = Weight(W), Weight(W)
    net = symbolic(lambda x: np.sum((x @ w - offset) ** 2), np.ndarray, returns=float)
    f = value_and_grad(lambda x: np.sum((x @ W - offset) ** 2))
    step = symbolic(lambda x: np.sum((x @ moved - offset) ** 2), np.ndarray, returns=float).trainer(SGD(0.0))

    def check() -> None:
        want = np.sum((X @ W - offset) ** 2)
        for one in (net.predict(X), f(X)[0], step(X), step.run(3, X)):
            assert one == pytest.approx(want, rel=1e-12)

    for _ in range(4):
        check()
    assert frames(net.predict, X) == frames(f, X) == frames(step, X) == []
    for k in range(3):
        offset[k] += 1.0
        check()
    offset = OFFSET * 3.0
    check()
    offset = OFFSET.astype(np.float32)
    check()
    offset = OFFSET.copy()
    for _ in range(4):
        check()
    offset.shape = (5, 1)  # the same array, which now is of another kind
    check()


# --------------------------------------------------------------------------- several results


SEVERAL: list[Any] = [
    lambda x: (x * 2.0, np.sum(x)),
    lambda x: (np.sum(x), x * 2.0, np.max(x), x > 0.0, x.astype(np.float32)),
    lambda x: (np.sum(x), np.max(x)),
    lambda x: (x, x * 2.0),
    lambda x: (x * 2.0, x * 2.0),
]


@pytest.mark.parametrize("f", SEVERAL)
def test_predictions_of_several_results(f: Any) -> None:
    ours, theirs = symbolic(f, np.ndarray), symbolic(f, np.ndarray)
    for k in range(6):
        alike(ours.predict(X + k), general(theirs.predict, X + k))


def test_a_finalizer_may_call_what_is_being_called() -> None:
    """Making a tuple may run the collector, and that anything; of so many entries Python keeps none in stock."""
    net = symbolic(lambda x: (*[x * float(k) for k in range(2, 30)], np.sum(x)), np.ndarray)
    for _ in range(4):
        net.predict(X)
    found: list[Any] = []

    class Last:
        def __init__(self) -> None:
            self.own = self

        def __del__(self) -> None:
            found.append(net.predict(np.ones((5, 3)))[-1])

    before = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        predict = net.predict
        for k in range(200):
            x = X + k
            Last()  # and nothing else that the collector looks after, until the tuple
            double, *_, total = predict(x)
            assert np.array_equal(double, (X + k) * 2.0) and total == pytest.approx(np.sum(X + k))
    finally:
        gc.set_threshold(*before)
    assert found and all(one == 15.0 for one in found)


def test_nothing_is_left_behind() -> None:
    f = value_and_grad(loss, (0, 1))
    net = symbolic(lambda x: (x * 2.0, np.max(x), np.sum(x)), np.ndarray)
    for _ in range(5):
        f(X, W), net.predict(X)
    counts = [sys.getrefcount(one) for one in (X, W, None)]
    tracemalloc.start()
    try:
        for _ in range(50):
            f(X, W), net.predict(X)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(2000):
            f(X, W), net.predict(X)
        assert tracemalloc.get_traced_memory()[0] - before < 2000
    finally:
        tracemalloc.stop()
    assert all(abs(sys.getrefcount(one) - count) < 50 for one, count in zip((X, W, None), counts, strict=True))


def test_threads_get_answers_of_their_own() -> None:
    f = value_and_grad(loss, (0, 1))
    wants = [general(value_and_grad(loss, (0, 1)), X + k, W) for k in range(4)]
    for _ in range(4):
        f(X, W)

    def work(k: int) -> None:
        for _ in range(200):
            alike(f(X + k, W), wants[k])

    in_threads(work, 4)


def test_a_derivative_is_let_go_with_what_it_ran() -> None:
    import weakref

    f = value_and_grad(lambda x: np.sum(x * x))
    for _ in range(4):
        f(W)
    held = weakref.ref(f)
    del f
    gc.collect()
    assert held() is None
