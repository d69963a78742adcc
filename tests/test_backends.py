"""Does a program give the same numbers however it is run: interpreted, compiled, timed, from several threads?"""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

import gc
import warnings
import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threads import in_threads

import symbolic as s
from symbolic import SGD, Weight, symbolic
from symbolic.backends.quiet import loud, quiet
from symbolic.inference import Inference
from symbolic.network import network
from symbolic.ops.deltas import Chain
from symbolic.ops.indexing import assign
from symbolic.plan import build
from symbolic.spec import spec_of

pytestmark = pytest.mark.usefixtures("numpys_bits")
UNARY: list[Any] = [
    np.sin,
    np.tanh,
    np.negative,
    np.transpose,
    lambda x: x[::-1],
    lambda x: x[:, ::-1],
    lambda x: x.reshape(-1).reshape(3, 3),
    lambda x: x.ravel()[::-1].reshape(3, 3),
    lambda x: np.cumsum(x, axis=0) * 0.3,
    lambda x: x - np.mean(x, axis=1, keepdims=True),
    lambda x: np.broadcast_to(x[0], (3, 3)),
    lambda x: x.copy(),
    lambda x: np.flip(x, 0),
]
BINARY: list[Any] = [
    np.add,
    np.subtract,
    np.multiply,
    lambda x, y: x @ y * 0.3,
    np.maximum,
    lambda x, y: np.where(x > y, x, y * 0.5),
    lambda x, y: np.concatenate([x[:2], y[2:]]),
    lambda x, y: x + y.T,
    lambda x, y: np.stack([x, y])[1],
]
STEPS = st.lists(st.tuples(st.booleans(), st.integers(0, 100), st.integers(0, 100), st.integers(0, 100)), max_size=10)
XS = [np.random.default_rng(k).normal(size=(3, 3)) for k in range(6)]


def program(steps: Any) -> Any:
    """A function of an array: any composition of the above, values used again and again."""

    def f(x: Any) -> Any:
        values = [x]
        for unary, which, first, second in steps:
            a, b = values[-1 - first % min(len(values), 3)], values[second % len(values)]
            values.append(UNARY[which % len(UNARY)](a) if unary else BINARY[which % len(BINARY)](a, b))
        return values[-1]

    return f


@given(STEPS)
def test_every_run_gives_numpys_numbers(steps: Any) -> None:
    """Two runs are interpreted, the others compiled; buffers are shared by values whose lives do not overlap."""
    f = program(steps)
    net = symbolic(f, np.ndarray, returns=np.ndarray)
    held = []
    for x in XS:
        value = net(x)
        assert np.allclose(value, f(x), rtol=1e-12, atol=1e-12)
        held.append((value, value.copy()))
    assert all(np.array_equal(value, copy) for value, copy in held)


@given(STEPS)
def test_every_run_gives_the_same_gradients_and_updates(steps: Any) -> None:
    f = program(steps)
    w = Weight(np.ones((3, 3)))
    net = symbolic(lambda x: np.sum(f(x * w) * XS[0]), np.ndarray)
    compiled = [(net.train(x, optimizer=SGD(0.0)), w.delta) for x in XS]
    for (loss, delta), x in zip(compiled, XS, strict=True):
        with net.forward(s.Literal(x)) as tape:  # always interpreted
            tape.backward(1.0)
            assert tape.value == pytest.approx(loss, rel=1e-12, abs=1e-12)
        assert np.allclose(w.delta, delta, rtol=1e-10, atol=1e-12)
    by_grad = s.grad(lambda v, x: np.sum(f(x * v) * XS[0]))(np.ones((3, 3)), XS[-1])
    assert np.allclose(by_grad, compiled[-1][1], rtol=1e-10, atol=1e-12)


def test_threads_do_not_share_buffers() -> None:
    net = symbolic(lambda x: np.tanh(np.sin(x @ x) + x), np.ndarray)
    xs = [np.random.default_rng(k).normal(size=(60, 60)) for k in range(4)]
    expected = [np.tanh(np.sin(x @ x) + x) for x in xs]
    for x in xs:
        net(x)
    wrong: list[int] = []

    def work(k: int) -> None:
        for _ in range(50):
            if not np.allclose(net(xs[k]), expected[k]):
                wrong.append(k)

    in_threads(work, 4)
    assert wrong == []


def test_a_callback_may_use_the_network_that_calls_it() -> None:
    inner: list[Any] = []

    def again(value: Any) -> None:
        if len(inner) < 5 and value[0] == 0.0:
            inner.append(float(net.predict(np.full(3, 2.0))[0]))

    net: Any = s.Exp(s.Times(s.Identity(), 2.0).on_output(again))
    for _ in range(6):
        assert np.allclose(net.predict(np.zeros(3)), 1.0)
    assert inner == [pytest.approx(np.exp(4.0))] * 5


def test_an_error_in_compiled_code_names_the_layer() -> None:
    """The index is in range at first; when it is not, the code has long been compiled."""
    net = s.Sequential(
        s.ReLU(), symbolic(lambda x, k: x[k], np.ndarray, np.ndarray)(s.Identity(), s.Literal(np.array(2)))
    )
    for _ in range(5):
        assert net.predict(np.arange(3.0)) == 2.0
    take = symbolic(lambda x, k: x[k] * 2.0, np.ndarray, np.ndarray)
    for _ in range(5):
        assert take(np.arange(3.0), np.array([1])).tolist() == [2.0]
    with pytest.raises(IndexError, match=r"take|<lambda>.*test_backends\.py:\d+") as caught:
        take(np.arange(3.0), np.array([7]))
    assert isinstance(caught.value, s.LayerError)
    assert take(np.arange(3.0), np.array([0])).tolist() == [0.0]


@pytest.mark.parametrize("shape", [(), (0,), (1,), (1, 1), (0, 3), (2, 1, 3)], ids=str)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64], ids=lambda one: one.__name__)
def test_every_shape_and_dtype_trains_the_same_at_each_step(shape: Any, dtype: Any) -> None:
    w = Weight(np.ones(shape, dtype))
    net = s.Real(s.Sum(s.Times(w, s.Identity())))
    x = np.full(shape, 2.0, dtype)
    for _ in range(5):
        assert net.train(x, optimizer=SGD(0.0)) == 2.0 * np.prod(shape)
        assert w.delta.shape == shape and w.delta.dtype == dtype and np.all(w.delta == 2.0)


# --------------------------------------------------------------------------- code and interpreter

SHORT: list[Any] = [
    lambda x, b, r: np.sum(np.logaddexp(0.0, x * b) * r),
    lambda x, b, r: np.mean(np.maximum(x + b, 0) * r),
    lambda x, b, r: np.sum(np.minimum(b, x) / r),
    lambda x, b, r: np.sum(np.where(x > 0.5, x, 0) * b),
    lambda x, b, r: np.sum(np.where(x > 0.5, 1, 0) * b * x),
    lambda x, b, r: np.sum(np.power(np.abs(x) + 1.0, b) - r),
    lambda x, b, r: np.sum(r / (x * x + b) ** 2),
    lambda x, b, r: np.sum(np.arctan2(x, b)) * r,
    lambda x, b, r: np.sum(np.max(x, axis=0)) * np.sum(b) + np.sum(np.mean(x, axis=-1, keepdims=True)) * r,
]


@pytest.mark.parametrize("f", SHORT)
@pytest.mark.parametrize("shape", [(7,), (1,), (3, 4), (1, 4), (1, 1), (2, 3, 5), (4, 1)], ids=str)
@pytest.mark.parametrize("narrow", [(1,), "last"], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=lambda one: one.__name__)
def test_code_gives_the_interpreters_bits(f: Any, shape: Any, narrow: Any, dtype: Any) -> None:
    """Whatever shorter way code takes with single entries, numbers and sums along axes that were stretched."""
    random = np.random.default_rng(len(shape))
    x = random.normal(size=shape).astype(dtype)
    b = (np.abs(random.normal(size=narrow if narrow != "last" else (*shape[:-1], 1))) + 1.0).astype(dtype)
    for r in (0.7, 1e300, float("nan"), -0.0):
        ours = s.value_and_grad(f, (0, 1, 2))
        with np.errstate(all="ignore"):
            found = [ours(x, b, r) for _ in range(5)]
        for value, gradients in found[1:]:
            for one, other in zip((value, *gradients), (found[0][0], *found[0][1]), strict=True):
                assert type(one) is type(other)
                np.testing.assert_array_equal(one, other)
                np.testing.assert_array_equal(np.signbit(one), np.signbit(other))


def test_the_way_back_says_nothing_and_leaves_the_settings_as_they_were() -> None:
    """A quick way to switch warnings off is as `np.errstate`: for this thread, for this while, and nothing else."""
    f = s.value_and_grad(lambda x: np.sum(np.where(x >= 0, x, np.sqrt(-x))))  # 0 · (1 / 0) on the way back
    before, size = np.geterr(), np.getbufsize()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            assert f(np.zeros(3))[1][0] == 1.0
    assert np.geterr() == before
    with np.errstate(all="raise", under="ignore"):
        inside = np.geterr()
        for _ in range(5):
            assert f(np.zeros(3))[1][0] == 1.0
            assert np.geterr() == inside
    np.setbufsize(16 * 1024)
    try:
        f(np.zeros(3))
        assert np.getbufsize() == 16 * 1024
        token = quiet()
        try:
            assert np.getbufsize() == 16 * 1024 and set(np.geterr().values()) == {"ignore"}
        finally:
            loud(token)
    finally:
        np.setbufsize(size)
    assert np.geterr() == before
    net = symbolic(lambda x: np.sum(np.log(x)), np.ndarray, returns=float)
    for _ in range(4):
        net.predict(np.ones(3))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        net.predict(np.zeros(3))


# --------------------------------------------------------------------------- arrays that are written to

WRITES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=12)


def writing(steps: Any) -> Any:
    """A function of an array that assigns to entries, to slices and through views, and reads in between."""

    def f(x: Any) -> Any:
        y, seen = np.zeros(9), []
        for how, a, b in steps:
            if how == 0:
                y[a] = x[a % 3, b % 3] * y[b]
            elif how == 1:
                y[a:] = x.ravel()[a:]
            elif how == 2:
                seen.append(y * 2.0)
            elif how == 3:
                y[1:] = y[:-1]
            elif how == 4:
                y[[a, b]] += x[0, 1]
            else:
                view = y.reshape(3, 3)[a % 3]
                view[b % 3] = np.sin(x[b % 3, a % 3])
        return sum(seen, y * 1.0)

    return f


@given(WRITES)
def test_writing_over_an_array_that_nobody_reads_again_changes_no_number(steps: Any) -> None:
    f = writing(steps)
    net = symbolic(f, np.ndarray, returns=np.ndarray)
    derivative = s.value_and_grad(lambda x: np.sum(f(x) * XS[0].ravel()))
    slopes = [derivative(x)[1] for x in XS]
    for x in XS:
        assert np.array_equal(net.predict(x), f(x))
    for x, slope in zip(XS, slopes, strict=True):
        assert np.array_equal(derivative(x)[1], slope)
        way = XS[1]
        difference = (np.sum((f(x + 1e-6 * way) - f(x - 1e-6 * way)) * XS[0].ravel())) / 2e-6
        np.testing.assert_allclose(np.sum(slope * way), difference, rtol=1e-5, atol=1e-6)


def test_a_pullback_may_be_called_twice_though_its_arrays_are_written_over() -> None:
    def f(x: Any) -> Any:
        y = np.zeros(9)
        for k in range(9):
            y[k] = np.sin(x[k // 3, k % 3]) * y[k - 1] + x[0, 0]
        return y

    _, pullback = s.vjp(f, XS[2])
    delta = np.arange(9.0)
    assert np.array_equal(pullback(delta)[0], pullback(delta)[0])


def slices(x: Any) -> Any:
    y = np.zeros(40)
    for k in range(40):
        y[k : k + 1] = x * k
    return y


def entries_read_at_once(x: Any) -> Any:
    y = np.zeros(40)
    for k in range(40):
        y[k] = x + np.sum(y)
    return y


@pytest.mark.parametrize("f", [slices, entries_read_at_once])
def test_a_loop_of_assignments_copies_once(f: Any) -> None:
    net: Any = symbolic(f, float, returns=np.ndarray)
    program = net_program(net, 2.0)
    writes = [one for one in program.instructions if one.node.overwrites]
    assert len(writes) == 40 and sum(one.reads[-1] == one.sources[0] for one in writes) == 39
    assert np.array_equal(net.predict(2.0), f(2.0))


def net_program(net: Any, value: Any) -> Any:
    return network(net).on_path(value, lambda on: on.forward().program)


def test_the_way_back_writes_over_nothing_that_the_way_forth_made() -> None:
    x = s.Identity()
    y = assign(assign(s.Literal(np.zeros(2)), 0, x), 1, x)
    program = build([np.sum(y)], [assign(y, 0, 5.0)], [x], Inference({x: spec_of(2.0)}))
    slots = program.slots([2.0])
    program.run(slots, 0, program.split)
    for _ in range(2):  # as the pullback does, whenever it is called
        program.run(list(slots), program.split, len(program.instructions))
        assert any(np.array_equal(one, [2.0, 2.0]) for one in slots)


@pytest.mark.parametrize("machine", ["numpy", "native"])
def test_what_a_call_has_given_goes_with_the_caller_and_waits_for_no_collection(machine: Any) -> None:
    pytest.importorskip("llvmlite") if machine == "native" else None
    net = symbolic(lambda x, y: np.sum(np.exp(x) * y), np.ndarray, np.ndarray)
    x = np.ones(1000)
    with s.use(machine):
        both = s.value_and_grad(net, (0, 1))
        gc.collect()
        gc.disable()
        try:
            for _ in range(6):  # interpreted, as code, by the shortcut
                value, gradients = both.predict(x, x)
                assert value == pytest.approx(1000 * np.e)
                held = [weakref.ref(one) for one in gradients]
                del gradients
                assert [one() for one in held] == [None, None]
        finally:
            gc.enable()


@pytest.mark.parametrize("machine", ["numpy", "native"])
@pytest.mark.parametrize("size", [7, 70_000])
def test_a_gradient_within_a_function_keeps_the_convention_block_by_block(size: int, machine: Any) -> None:
    """Where one branch of `where` has no finite slope and is not taken, its NaN stays away, in large arrays, too.

    The oracle is the derivative on paper: 1 for what is positive, -1/(2·√-x) for what is negative, 1 at 0.
    """
    pytest.importorskip("llvmlite") if machine == "native" else None
    net = symbolic(lambda x, y: np.sum(np.where(x >= 0, x, np.sqrt(-x)) * y), np.ndarray, np.ndarray)
    both = s.value_and_grad(net, (0, 1))
    x = np.random.default_rng(3).normal(size=size)
    x[::3], x[1] = 0.0, -0.0
    y = np.full(size, 2.0)
    with np.errstate(all="ignore"):
        slope = np.where(x >= 0, 1.0, -0.5 / np.sqrt(-x))
        value = np.where(x >= 0, x, np.sqrt(-x))
    with s.use(machine), np.errstate(all="ignore"):
        for _ in range(4):
            total, (by_x, by_y) = both.predict(x, y)
            assert total == pytest.approx(np.sum(value * y), rel=1e-12)
            np.testing.assert_allclose(by_x, slope * y, rtol=1e-13)
            np.testing.assert_allclose(by_y, value, rtol=1e-13)


@pytest.mark.parametrize("place", ["none", "new", "delta", "factor"])
def test_a_product_with_care_may_be_written_over_what_it_is_made_of(place: str) -> None:
    delta = np.array([0.0, -0.0, 0.0, 1.0, 2.0, np.nan, np.inf, 0.0])
    factor = np.array([np.inf, np.nan, 3.0, np.inf, np.nan, 1.0, 0.0, -np.inf])
    wanted = np.array([0.0, -0.0, 0.0, np.inf, np.nan, np.nan, np.nan, 0.0])
    out = {"none": None, "new": np.empty(8), "delta": delta, "factor": factor}[place]
    with np.errstate(invalid="ignore"):
        found = Chain.careful_into(delta, factor, out)
    np.testing.assert_array_equal(found, wanted)
    assert out is None or found is out
