"""Do `grad`, `value_and_grad` and `vjp` take any function, keep its arguments' structure, and say what they refuse?"""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

import dataclasses
import functools
import warnings
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from answers import near
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import symbolic as s
from symbolic import (
    DtypeError,
    Identity,
    ShapeError,
    Symbolic,
    SymbolicError,
    Times,
    Weight,
    grad,
    symbolic,
    value_and_grad,
    vjp,
)
from symbolic.ops.deltas import Chain

X = np.array([0.5, -1.0, 2.0])
ARRAYS = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3), elements=st.floats(-2, 2)
)


def wavy(x: Any) -> Any:
    return np.sum(np.sin(x) * x)


def slope(x: Any) -> Any:
    return np.cos(x) * x + np.sin(x)


@given(ARRAYS)
def test_the_gradient_has_the_arguments_shape_and_dtype(x: Any) -> None:
    for dtype in (np.float64, np.float32):
        gradient = grad(wavy)(x.astype(dtype))
        assert gradient.shape == x.shape and gradient.dtype == dtype and type(gradient) is np.ndarray
        assert np.allclose(gradient, slope(x), atol=1e-5)


@given(st.floats(-3, 3))
def test_python_numbers_stay_python_numbers(x: float) -> None:
    value, gradient = value_and_grad(wavy)(x)
    assert type(gradient) is float and gradient == pytest.approx(slope(x))
    assert type(grad(wavy)(np.float32(x))) is np.float32
    assert type(grad(lambda z: np.real(z * z))(complex(x))) is complex
    assert value == pytest.approx(float(wavy(x)))


@given(ARRAYS, st.floats(-2, 2))
def test_value_and_grad_is_value_and_grad(x: Any, y: float) -> None:
    def f(x: Any, y: Any) -> Any:
        return np.sum(x * y) + y * y

    value, (dx, dy) = value_and_grad(f, (0, 1))(x, y)
    assert value == pytest.approx(float(f(x, y)), abs=1e-12)
    assert near(dx, grad(f)(x, y)) and near(dy, grad(f, 1)(x, y)) and near(dy, grad(f, -1)(x, y))
    pulled = vjp(f, x, y)
    assert near(pulled[0], value) and near(pulled[1](1.0)[0], dx) and near(pulled[1](1.0)[1], dy)


def test_positions() -> None:
    def f(x: Any, y: Any, z: Any) -> Any:
        return x + 10.0 * y + 100.0 * z

    assert grad(f, 1)(1.0, 1.0, 1.0) == 10.0
    assert grad(f, -1)(1.0, 1.0, 1.0) == 100.0
    assert grad(f, (2, 0))(1.0, 1.0, 1.0) == (100.0, 1.0)
    assert grad(f, (1,))(1.0, 1.0, 1.0) == (10.0,)
    assert grad(f, [0, 1])(1.0, 1.0, 1.0) == (1.0, 10.0)
    assert grad(f, 0)(1.0, y=1.0, z=1.0) == 1.0


class Point(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Layer:
    w: Any
    b: Any
    name: str = "layer"


def test_structures_come_back_as_they_are() -> None:
    def f(p: Any) -> Any:
        return np.sum(p["w"] ** 2.0) + p["deep"][0] * p["deep"][1].x + np.sum(p["layer"].w) * p["layer"].b

    given_ = {"w": X, "deep": [2.0, Point(3.0, 4.0)], "layer": Layer(np.ones(2), 5.0)}
    found = grad(f)(given_)
    assert list(found) == ["w", "deep", "layer"] and np.array_equal(found["w"], 2.0 * X)
    assert found["deep"] == [3.0, Point(2.0, 0.0)] and type(found["deep"][1]) is Point
    assert np.array_equal(found["layer"].w, [5.0, 5.0]) and found["layer"].b == 2.0 and type(found["layer"]) is Layer
    assert grad(lambda t: t[0] * t[1])((2.0, 3.0)) == (3.0, 2.0)
    assert given_["deep"] == [2.0, Point(3.0, 4.0)]  # untouched


def test_a_leaf_without_a_delta_stays_without_one() -> None:
    found = grad(lambda p: np.sum(p["x"]) * p["n"])({"x": X, "n": np.int64(3), "flag": "text"})
    assert np.array_equal(found["x"], [3.0, 3.0, 3.0]) and found["n"] is None and found["flag"] is None


def test_whatever_can_be_called() -> None:
    @symbolic
    def decorated(x: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
        total: float = wavy(x)
        return total

    class Model:
        def __init__(self, scale: float) -> None:
            self.scale = scale

        def loss(self, x: Any) -> Any:
            return wavy(x) * self.scale

        slope = grad(loss)

    model = Model(2.0)
    expected = slope(X)
    layers: list[Any] = [decorated, s.Sum(Times(s.Sin(), Identity())), functools.partial(lambda k, x: wavy(x) * k, 1.0)]
    for f in [wavy, *layers, lambda x: wavy(x)]:
        assert np.allclose(grad(f)(X), expected)
    assert np.allclose(grad(model.loss)(X), 2.0 * expected) and np.allclose(model.slope(X), 2.0 * expected)
    assert grad(np.sin)(0.0) == 1.0 and grad(abs)(-2.0) == -1.0
    model.scale = 3.0
    assert np.allclose(model.slope(X), 3.0 * expected)


def test_higher_orders() -> None:
    assert grad(grad(np.sin))(0.5) == pytest.approx(-np.sin(0.5))
    assert grad(grad(grad(lambda x: x**4)))(2.0) == pytest.approx(48.0)
    assert grad(grad(lambda x: np.sin(x) ** 2))(0.0) == 2.0
    hessian = [grad(lambda x, k=k: grad(wavy)(x)[k])(X) for k in range(3)]  # a default in a lambda
    assert np.allclose(hessian, np.diag(2 * np.cos(X) - X * np.sin(X)))
    assert grad(lambda x: x * grad(lambda y: x * y)(1.0))(3.0) == 6.0  # no confusion of what is differentiated


def test_within_a_symbolic_function() -> None:
    net = symbolic(lambda x: grad(wavy)(x) * Weight(2.0), np.ndarray)
    for _ in range(3):
        assert np.allclose(net(X), 2.0 * slope(X))


def test_weights_are_no_arguments_but_are_seen() -> None:
    w = Weight(3.0)
    f = grad(lambda x: np.sum(x * w))
    assert np.array_equal(f(X), [3.0, 3.0, 3.0])
    w.assign(5.0)
    assert np.array_equal(f(X), [5.0, 5.0, 5.0])


def test_vjp_pulls_any_delta_back() -> None:
    value, pullback = vjp(lambda x, y: (x * y, np.sum(x)), X, 2.0)
    assert type(value) is tuple and np.array_equal(value[0], 2.0 * X) and value[1] == np.sum(X)
    dx, dy = pullback((np.array([1.0, 10.0, 100.0]), 1000.0))
    assert np.array_equal(dx, [1002.0, 1020.0, 1200.0]) and dy == pytest.approx(0.5 - 10.0 + 200.0)
    again = pullback((np.zeros(3), 1.0))
    assert np.array_equal(again[0], np.ones(3)) and again[1] == 0.0 and np.array_equal(dx, [1002.0, 1020.0, 1200.0])
    with pytest.raises(ShapeError, match=r"\(4,\).*\(3,\).*;"):
        vjp(lambda x: x * 2.0, X)[1](np.ones(4))


def test_the_argument_may_change_after_vjp() -> None:
    x = X.copy()
    _, pullback = vjp(lambda v: v * v, x)
    x[...] = 100.0
    assert np.array_equal(pullback(np.ones(3))[0], 2.0 * X)


def test_arguments_that_are_not_differentiated_count_at_each_call() -> None:
    def f(x: Any, power: int, how: str = "sum", scale: Any = 1.0) -> Any:
        return (np.sum if how == "sum" else np.mean)(x**power) * scale

    g = grad(f)
    assert np.allclose(g(X, 2), 2.0 * X) and np.allclose(g(X, 3), 3.0 * X**2)
    assert np.allclose(g(X, 2, how="mean"), 2.0 * X / 3.0) and np.allclose(g(X, 2, scale=4.0), 8.0 * X)
    assert np.allclose(g(X, 2), 2.0 * X)


def test_a_function_that_ignores_its_argument_has_gradient_zero() -> None:
    assert np.array_equal(grad(lambda x: 3.0)(X), np.zeros(3))
    assert np.array_equal(grad(lambda x, y: y)(X, 2.0), np.zeros(3))


@pytest.mark.parametrize(
    ("f", "args", "argnums", "error", "words"),
    [
        (lambda x: x * 2.0, (X,), 0, ShapeError, r"returns an array of shape \(3,\).*;.*vjp"),
        (lambda x: (x, x), (X,), 0, ShapeError, r"returns \(.*;.*vjp"),
        (lambda x: x * 1j, (2.0,), 0, DtypeError, r"complex.*;.*np\.real"),
        (lambda x: np.sum(x), (np.arange(3),), 0, DtypeError, r"argument 0.*int64.*NoDelta.*;.*astype"),
        (lambda x: np.sum(x), (np.array([True]),), 0, DtypeError, r"argument 0.*bool.*NoDelta.*;"),
        (lambda x: np.sum(x), ("text",), 0, DtypeError, r"argument 0.*str.*;"),
        (lambda x: np.sum(x), (X,), 1, ShapeError, r"argument 1.*;.*argnums"),
        (lambda x: np.sum(x), (X,), -2, ShapeError, r"argument -2.*;"),
        (lambda x: None, (X,), 0, (DtypeError, ShapeError), r"NoneType.*;"),
        (lambda x: "text", (X,), 0, (DtypeError, ShapeError), r"str.*;"),
    ],
)
def test_what_is_refused(f: Any, args: Any, argnums: int, error: Any, words: str) -> None:
    for derivative in (grad(f, argnums), value_and_grad(f, argnums)):
        with pytest.raises(error, match=f"<lambda>.*{words}|{words}"):
            derivative(*args)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(DtypeError, match=r"not callable.*;"):
        grad(3)  # type: ignore[symbolic]  # what is tested
    with pytest.raises(SymbolicError, match=r"argument 0.*;"):
        grad(np.sum)()


# --------------------------------------------------------------------------- what one rule hands to the next

ROWS = np.arange(12.0).reshape(4, 3) / 5.0 - 1.0
STRETCHED: list[Callable[[Any], Any]] = [
    lambda b: ROWS + b,
    lambda b: b - ROWS,
    lambda b: np.broadcast_to(b, (4, 3)) * 1.5,
    lambda b: np.where(ROWS > 0.0, b, ROWS),
    lambda b: np.maximum(ROWS, b),
    lambda b: (ROWS + b) + (ROWS * b),
    lambda b: np.stack([b + 1.0, b * 2.0, b]),
    lambda b: np.concatenate([ROWS + b, [b]]),
]
PIECES: list[Any] = [
    (slice(None), 0),
    0,
    slice(1, 3),
    [0, 0, 1],
    (Ellipsis, -1),
    (slice(None, None, -1), slice(None, 2)),
    (slice(None), None, 1),
    ([0, 2], [1, 1]),
]


@pytest.mark.parametrize("stretch", STRETCHED, ids=range(len(STRETCHED)))
@pytest.mark.parametrize("piece", PIECES, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_piece_of_what_was_stretched(stretch: Callable[[Any], Any], piece: Any, dtype: Any) -> None:
    """A delta that fills one piece of an array comes back to the operand that the array was stretched from."""

    def f(b: Any) -> Any:
        y = stretch(b)
        return np.sum(y[piece] ** 2) + y[0, 1] * y[1, 0]

    b = np.array([0.3, -0.7, 1.1], dtype)
    got = grad(f)(b)
    step = np.eye(3) * 1e-6
    want = [(f(b.astype(float) + h) - f(b.astype(float) - h)) / 2e-6 for h in step]
    assert got.shape == (3,) and got.dtype == dtype
    assert np.allclose(got, want, rtol=1e-4 if dtype is np.float32 else 1e-6, atol=1e-5)


def test_pieces_of_several_arrays_meet_in_one() -> None:
    assert np.array_equal(grad(lambda x: (x + 1.0)[0] + (x + 2.0)[1] + x[2])(np.zeros(3)), np.ones(3))
    assert grad(lambda b: np.sum((ROWS + b)[:, 0]))(0.0) == 4.0


def test_the_pullback_counts_its_deltas() -> None:
    _, pullback = s.vjp(lambda x: (x * 2.0, x * 3.0), np.ones(2))
    assert np.array_equal(pullback((np.ones(2), np.ones(2)))[0], [5.0, 5.0])
    for wrong in ((np.ones(2),), np.ones(2), (np.ones(2),) * 3):
        with pytest.raises(ShapeError, match="a tuple of 2 is needed"):
            pullback(wrong)


def test_a_position_that_is_none() -> None:
    for argnums in ("c", 1.0, None, (0, "x")):
        with pytest.raises(DtypeError, match="argnums"):
            grad(np.sin, argnums)  # type: ignore[symbolic]  # what is tested
    with pytest.raises(ShapeError, match="argument 3"):
        grad(np.sin, 3)(1.0)


def test_the_gradient_by_an_integer_passes_through_arrays_of_integers() -> None:
    """As though it were a float, unless something rounds; flags beside it do not stop it, floats that were cast do."""
    bodies: list[Any] = [
        lambda x: np.sum(np.array([x, 2]) ** 3),
        lambda x: np.sum(x * np.arange(3)),
        lambda x: np.prod([x, 2, x]),
        lambda x: np.sum(np.where(np.array([x, 1]) > 2, np.array([x, x]), 1) ** 2),
        lambda x: np.array([x, 2]) @ np.array([3, x]) + np.linalg.norm([x, 4]),
    ]
    for body in bodies:
        slope = (body(5.0 + 1e-6) - body(5.0 - 1e-6)) / 2e-6
        found = grad(body)(5)
        assert isinstance(found, float) and abs(found - slope) < 1e-6 * abs(slope)
    assert grad(lambda x: np.sum(np.array([x, x]) // 2) + np.sum(np.arange(x)))(5) == 0.0
    assert grad(lambda t: np.sum(np.array([t[0], t[1]]).astype(int) * 1.0))((5, 2.5)) == (0.0, 0.0)


def test_a_full_contraction_gives_a_scalar_as_numpy_does() -> None:
    value, _ = value_and_grad(lambda x: np.einsum("ij,ij", x, x))(np.ones((2, 3)))
    assert type(value) is np.float64


def test_the_square_of_an_absolute_value_has_no_kink() -> None:
    assert grad(grad(lambda x: abs(x) ** 2))(0.0) == 2.0
    np.testing.assert_array_equal(s.hessian(lambda x: np.sum(np.abs(x) ** 2))(np.array([0.0, -3.0])), 2 * np.eye(2))
    found = grad(lambda z: np.sum(np.abs(z) ** 2))(np.array([0j, 1 + 2j]))
    np.testing.assert_array_equal(found, [0, 2 + 4j])


def test_what_a_captured_derivative_has_traced_is_no_state() -> None:
    inner = grad(lambda x: x**3)
    outer = grad(lambda x: inner(x) * x)
    assert outer(1.0) == 9.0
    for x in (2.0, np.array(3.0), np.float32(4.0)):
        inner(x)  # another trace, kept in `inner`
        assert outer(1.0) == 9.0
    assert outer.traces() == 1


# --------------------------------------------------------------------------- 0 · ∞

_FACTORS = [0.0, -0.0, 1.5, -2.0, 1e-320, 1e200, -1e308, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.longdouble, np.complex128, np.int64])
@pytest.mark.parametrize("layout", ["plain", "strided", "transposed", "empty", "number"])
def test_a_factor_that_is_not_finite_counts_as_zero_beside_a_delta_of_zero(dtype: Any, layout: str) -> None:
    """Entry by entry, and to the bit, whether some factor is infinite or all are finite."""
    for factors in (_FACTORS, _FACTORS[:5], _FACTORS[:7]):
        with np.errstate(all="ignore"):
            grid = np.meshgrid(factors if dtype is not np.int64 else [0, 1, -7], [0.0, -0.0, 2.0, -3.0])
            factor, delta = grid[0].astype(dtype), grid[1].astype(np.float64 if dtype is np.int64 else dtype)
        cut: Any = {"strided": np.s_[::2, ::-1], "empty": np.s_[:0], "number": np.s_[1, 2]}.get(layout, np.s_[:])
        factor, delta = (one.T if layout == "transposed" else one[cut] for one in (factor, delta))
        with np.errstate(all="ignore"):
            wanted = delta * np.where((delta == 0) & ~np.isfinite(factor), np.zeros((), factor.dtype), factor)
            found = Chain.careful(delta, factor)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype and np.shape(found) == np.shape(wanted)
        assert np.array_equal(found, wanted, equal_nan=np.asarray(wanted).dtype.kind in "fc")
        assert np.array_equal(np.signbit(np.real(found)), np.signbit(np.real(wanted)))


def test_a_factor_is_looked_at_without_a_warning() -> None:
    """Only the product itself may overflow."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(Chain.careful(np.zeros(3), np.full(3, 1e308)), np.zeros(3))
        assert np.array_equal(Chain.careful(np.full(3, 0.5), np.full(3, -1e308)), np.full(3, -5e307))
