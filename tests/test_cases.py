"""Which small programs have gone wrong in other libraries? One of each sort, checked by central differences.

The oracle runs the same program in plain NumPy; where a derivative needs a convention, or differences are blind, the
expected gradient stands in the table, or comes from mpmath.
"""

from __future__ import annotations

import functools
import gc
import math
import tracemalloc
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import mpmath  # type: ignore[import-untyped]  # it has no stubs
import numpy as np
import pytest
from cases import CASES, A, Case, V

import symbolic
from symbolic import DtypeError, ShapeError, SymbolicError, grad, value_and_grad, vjp


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}: {case.name}")
def test_value_and_gradient(case: Case) -> None:
    positions = tuple(range(len(case.args)))
    with np.errstate(all="ignore"):
        value, deltas = value_and_grad(case.f, positions)(*case.args)
        np.testing.assert_allclose(value, case.f(*case.args), rtol=1e-12)
    wanted = case.grad or tuple([differences(case.f, case.args, k) for k in positions])
    for delta, want, argument in zip(deltas, wanted, case.args, strict=True):
        assert type(delta) is type(argument) or isinstance(argument, np.ndarray)
        assert np.shape(delta) == np.shape(argument)
        np.testing.assert_allclose(delta, want, rtol=1e-7, atol=1e-8)


def differences(f: Callable[..., Any], args: tuple[Any, ...], k: int, step: float = 2e-3) -> Any:
    """The gradient by the k-th argument, entry by entry, by extrapolated central differences of plain NumPy."""
    gradient = np.zeros(np.shape(args[k]))

    def at(entry: tuple[int, ...], h: float) -> float:
        moved = np.array(args[k], dtype=float)
        moved[entry] += h
        return float(f(*args[:k], moved if isinstance(args[k], np.ndarray) else float(moved), *args[k + 1 :]))

    for entry in np.ndindex(gradient.shape):
        rough = [(at(entry, h) - at(entry, -h)) / (2 * h) for h in (step, step / 2, step / 4)]
        finer = [(4 * b - a) / 3 for a, b in pairwise(rough)]
        gradient[entry] = (16 * finer[1] - finer[0]) / 15
    return gradient


# --------------------------------------------------------------------------- to the last digits


@pytest.mark.parametrize(
    ("ours", "exact", "points"),
    [
        (np.expm1, mpmath.expm1, (1e-9, 0.3, -4.0)),
        (np.log1p, mpmath.log1p, (1e-9, 0.3, 7.0)),
        (np.arcsin, mpmath.asin, (0.999999, -0.5)),
        (np.arctanh, mpmath.atanh, (0.999999, 1e-5)),
        (np.arccosh, mpmath.acosh, (1.000001, 50.0)),
        (np.tanh, mpmath.tanh, (0.4, 3.0)),
        (np.sinc, mpmath.sincpi, (1e-4, 0.3, 2.5)),
        (lambda x: np.logaddexp(x, 1.0), lambda x: mpmath.log(mpmath.exp(x) + mpmath.e), (-3.0, 0.9)),
        (lambda x: np.hypot(x, 2.0), lambda x: mpmath.sqrt(x * x + 4), (0.5, 30.0)),
    ],
)
def test_derivatives_of_three_orders_to_the_last_digits(ours: Any, exact: Any, points: tuple[float, ...]) -> None:
    first = grad(ours)
    second = grad(first)
    third = grad(second)
    with mpmath.workdps(60):
        for x in points:
            wanted = [float(mpmath.diff(exact, mpmath.mpf(x), n)) for n in (1, 2, 3)]
            np.testing.assert_allclose([first(x), second(x), third(x)], wanted, rtol=1e-10, atol=1e-12)


# --------------------------------------------------------------------------- dtypes


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(x * 0.5 + 1.0),
        lambda x: np.sum(np.max(x, axis=1)),
        lambda x: np.mean(x),
        lambda x: np.std(x),
        lambda x: np.sum(x ** np.arange(3)),
        lambda x: np.sum(np.sort(x) * np.arange(3)),
        lambda x: np.sum(x / np.size(x)),
        lambda x: np.median(x),
    ],
)
def test_a_gradient_has_the_dtype_of_its_argument(f: Callable[..., Any], dtype: Any) -> None:
    value, delta = value_and_grad(f)(A.astype(dtype))
    assert delta.dtype == dtype
    assert np.asarray(value).dtype == np.asarray(f(A.astype(dtype))).dtype
    np.testing.assert_allclose(delta, grad(f)(A.astype(dtype).astype(float)), rtol=2e-2, atol=2e-3)


def test_each_argument_keeps_its_own_dtype() -> None:
    narrow, wide = grad(lambda a, b: np.sum(a * b), (0, 1))(V.astype(np.float32), V)
    assert (narrow.dtype, wide.dtype) == (np.float32, np.float64)


def test_the_mean_of_many_halves() -> None:
    many = np.ones(70000, np.float16)
    np.testing.assert_allclose(grad(np.mean)(many).astype(float), 1 / 70000, rtol=5e-3, atol=2e-7)


def test_whole_numbers_and_truths_have_no_gradient() -> None:
    for argument in (np.arange(3), np.array([True, False])):
        with pytest.raises(DtypeError, match=r"float"):
            grad(lambda x: np.sum(x * 0.5))(argument)
    mask = np.array([True, False, True, True])
    np.testing.assert_array_equal(grad(lambda x, m: np.sum(np.where(m, x, 0)))(V, mask), mask.astype(float))


def test_the_other_byte_order() -> None:
    swapped = V.astype(V.dtype.newbyteorder())
    np.testing.assert_array_equal(grad(lambda x: np.sum(x**2))(swapped), 2 * V)


# --------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("f", "args", "kind", "words"),
    [
        (lambda x: np.sum(x[np.array([0, 9])]), (V,), IndexError, "9"),
        (lambda x: np.sum(np.take(x, [0, 9])), (V,), IndexError, "9"),
        (lambda x, y: np.sum(x + y), (V, A[0]), ValueError, r"\(4,\).*\(3,\)"),
        (lambda x, y: np.sum(x @ y), (A, V), ValueError, "3.*4"),
        (lambda x: np.sum(np.reshape(x, 5)), (V,), ValueError, "4 entries"),
        (lambda x: np.max(x[:0]), (V,), ValueError, "initial"),
        (lambda x: np.sum(x, axis=1), (V,), ValueError, "axis 1"),
        (lambda x: np.sum(np.concatenate([x, A])), (V,), ValueError, "axes"),
    ],
)
def test_what_numpy_refuses_is_refused_with_a_remedy(f: Any, args: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words) as caught:
        grad(f)(*args)
    assert isinstance(caught.value, SymbolicError)
    assert caught.value.remedy


def test_a_gradient_needs_one_number() -> None:
    with pytest.raises(ShapeError, match=r"\(4,\)"):
        grad(lambda x: x * 2)(V)


# --------------------------------------------------------------------------- callables


class _Model:
    scale = 3.0

    def loss(self, x: Any) -> Any:
        return np.sum(x**2) * self.scale


def test_what_can_be_called_can_be_differentiated() -> None:
    model = _Model()
    np.testing.assert_array_equal(grad(model.loss)(V), 6 * V)
    assert grad(np.sin)(0.5) == math.cos(0.5)
    np.testing.assert_array_equal(grad(functools.partial(lambda k, x: np.sum(x) * k, 2.0))(V), np.full(4, 2.0))
    np.testing.assert_array_equal(grad(lambda x, *, k: np.sum(x) * k)(V, k=4.0), np.full(4, 4.0))
    assert grad(lambda *xs: xs[0] * xs[1] * xs[2], (0, 2))(2.0, 3.0, 5.0) == (15.0, 6.0)


def test_closures_are_seen_as_they_are_now() -> None:
    each = [grad(lambda x, k=k: x**2 * k) for k in (1.0, 2.0)]
    assert [one(3.0) for one in each] == [6.0, 12.0]
    factor = 2.0
    late = grad(lambda x: x * factor)
    assert late(1.0) == 2.0
    factor = 5.0
    assert late(1.0) == 5.0
    held = np.array([1.0, 2.0])
    over = grad(lambda x: np.sum(x * held))
    np.testing.assert_array_equal(over(np.ones(2)), [1.0, 2.0])
    held[:] = 7.0
    np.testing.assert_array_equal(over(np.ones(2)), [7.0, 7.0])


def test_a_plain_argument_steers_a_loop() -> None:
    power = grad(lambda x, n: functools.reduce(lambda y, _: y * x, range(n), 1.0))
    assert [power(2.0, n) for n in (1, 3, 2)] == [1.0, 12.0, 4.0]


def test_an_argument_with_new_contents_is_read_anew() -> None:
    square, x = value_and_grad(lambda x: np.sum(x * x)), np.array([1.0, 2.0])
    first = square(x)[1]
    x[:] = [4.0, -1.0]
    value, second = square(x)
    assert value == 17.0
    np.testing.assert_array_equal(first, [2.0, 4.0])
    np.testing.assert_array_equal(second, [8.0, -2.0])


def test_a_dead_branch_does_not_matter() -> None:
    def f(x: Any) -> Any:
        with np.errstate(all="ignore"):
            np.log(x) / x
        return np.sum(x)

    np.testing.assert_array_equal(grad(f)(np.array([0.0, 1.0])), [1.0, 1.0])


def test_right_under_strict_floating_point_settings() -> None:
    with np.errstate(all="raise"):
        np.testing.assert_allclose(grad(lambda x: np.sum(np.tanh(x) ** 2))(np.array([0.0, 400.0])), 0.0)


def test_memory_comes_back_without_the_collector() -> None:
    slope, big = grad(lambda x: np.sum(np.sin(x) * x)), np.ones(2**17)
    for _ in range(4):
        slope(big)  # traced, interpreted, compiled
    gc.disable()
    tracemalloc.start()
    try:
        for _ in range(20):
            slope(big)
        assert tracemalloc.get_traced_memory()[0] < 2 * big.nbytes
    finally:
        tracemalloc.stop()
        gc.enable()


def test_vjp_of_several_results_and_structures() -> None:
    value, pullback = vjp(lambda x, y: (x * y, np.sum(x)), V, 2.0)
    np.testing.assert_array_equal(value[0], V * 2)
    dx, dy = pullback((np.ones(4), 3.0))
    np.testing.assert_array_equal(dx, np.full(4, 5.0))
    np.testing.assert_allclose(dy, np.sum(V))
    delta = grad(lambda p: p["w"] * p["b"][0] + p["b"][1])({"w": 2.0, "b": [3.0, 1.0]})
    assert delta == {"w": 3.0, "b": [2.0, 1.0]}


def test_empty_like_has_the_shape_and_no_gradient() -> None:
    def f(x: Any) -> Any:
        made = np.empty_like(x)
        assert made.shape == x.shape
        return np.sum(x) + np.sum(made * 0.0)

    np.testing.assert_array_equal(grad(f)(A), np.ones_like(A))


# --------------------------------------------------------------------------- numbers that went wrong elsewhere


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, bool])
@pytest.mark.parametrize("order", [None, 1, 2, 3, np.inf, 0])
def test_norms_of_integers_are_floats(dtype: Any, order: Any) -> None:
    x = np.array([-128, 1, 0]).astype(dtype) if dtype is not bool else np.array([True, False, True])
    net = symbolic.symbolic(lambda v: np.linalg.norm(v, order), np.ndarray)
    for _ in range(4):
        got, want = net(x), np.linalg.norm(x, order)
        assert np.isclose(got, want) and np.asarray(got).dtype == np.asarray(want).dtype


def test_flags_in_an_einsum_count() -> None:
    flags, numbers = np.ones((3, 4), bool), np.arange(20.0).reshape(4, 5)
    for subscripts in ("ij,kl->", "ij,jk->ik", "ij,jk->"):
        net = symbolic.symbolic(lambda x, s=subscripts: np.einsum(s, x, numbers), np.ndarray)
        want = np.einsum(subscripts, flags.astype(float), numbers)
        assert all(np.allclose(net(flags), want) for _ in range(4))


@pytest.mark.parametrize("kind", [">f8", ">f4", "<f8"])
def test_byte_orders(kind: str) -> None:
    x = np.array([1.0, 2.0], kind)
    got = symbolic.grad(lambda v: np.sum(v * v) + v[0])(x)
    assert np.array_equal(got, [3.0, 4.0]) and got.dtype == x.dtype


def test_softmax_of_integers() -> None:
    for f in (symbolic.softmax, symbolic.log_softmax, symbolic.logsumexp):
        net = symbolic.symbolic(lambda v, f=f: f(v), np.ndarray)
        assert np.allclose(net(np.array([1, 2, 3])), f(np.array([1.0, 2.0, 3.0])))


@pytest.mark.parametrize("through", [np.ravel, lambda y: y.reshape(-1), lambda y: np.ravel(y[:, :2])])
def test_a_view_that_may_be_a_copy_is_not_assigned_to(through: Any) -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        z = through(y.T)
        z[0] = 99.0
        return np.sum(y)

    with pytest.raises(TypeError, match=r"view or a copy.*np\.copy"):
        symbolic.grad(f)(np.arange(6.0).reshape(2, 3))


def test_a_value_that_was_handed_out_never_changes() -> None:
    seen: list[Any] = []
    net = (symbolic.Identity() * 2.0).on_output(seen.append) * 3.0
    for k in range(6):
        net.predict(np.full(2, float(k)))
    assert [float(one[0]) for one in seen] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    value, pullback = symbolic.vjp(np.exp, np.zeros(2))
    value[:] = 0.0
    assert np.array_equal(pullback(np.ones(2))[0], np.ones(2))


def test_a_traced_value_that_was_kept_from_another_call() -> None:
    kept: list[Any] = [0.0]

    def f(x: Any) -> Any:
        kept[0] = np.tanh(kept[0] + x)
        return kept[0]

    net = symbolic.symbolic(f, np.ndarray)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it differs from run to run
        with pytest.raises(TypeError, match=r"traced value of another call.*; return"):
            for k in range(3):
                net(np.ones(k + 1))
