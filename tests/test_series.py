"""Do differences, interpolation, polynomials and covariances give NumPy's values, and derivatives that hold?"""

import warnings
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import pytest
from differences import along, inner

from symbolic import Symbolic, SymbolicError, grad, symbolic, value_and_grad
from symbolic.ops import linalg as _linalg  # noqa: F401 - it binds NumPy functions
from symbolic.ops import polynomials as _polynomials  # noqa: F401 - the same
from symbolic.ops import series as _series  # noqa: F401 - the same
from symbolic.ops import singular as _singular  # noqa: F401 - the same

Loss = Callable[..., Any]
WINDOWS: Any = np.lib.stride_tricks.sliding_window_view
LOGSPACE: Any = np.logspace
NUMBERS = np.array([0, 2, 2, 5, 0])
PLACES = np.array([0.1, 0.4, 1.1, 1.3, 2.0])


def weight(shape: Any, seed: int = 3) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


CASES: dict[str, tuple[Loss, tuple[Any, ...]]] = {
    "diff": (lambda x: np.diff(x), (weight(5),)),
    "diff_twice": (lambda x: np.diff(x, 2, axis=0), (weight((4, 2)),)),
    "diff_prepend": (lambda x, y: np.diff(x, prepend=y, append=1.5), (weight((2, 3)), np.array(0.5))),
    "diff_none": (lambda x: np.diff(x, 0) * 2, (weight(3),)),
    "ediff1d": (lambda x, y: np.ediff1d(x, to_begin=y, to_end=[1.0, 2.0]), (weight((2, 3)), weight(2))),
    "gradient": (lambda x: np.gradient(x), (weight(5),)),
    "gradient_two": (lambda x: np.gradient(x), (weight(2),)),
    "gradient_axes": (lambda x: np.stack(list(np.gradient(x, 0.5, 0.25))), (weight((3, 4)),)),
    "gradient_step": (lambda x, h: np.gradient(x, h, axis=1), (weight((3, 4)), np.array(0.5))),
    "gradient_places": (lambda x, p: np.gradient(x, p, axis=0), (weight((5, 2)), PLACES)),
    "gradient_edges": (lambda x: np.gradient(x, 0.3, axis=1, edge_order=2), (weight((2, 4)),)),
    "gradient_places_edges": (lambda x, p: np.gradient(x, p, edge_order=2), (weight(5), PLACES)),
    "interp": (lambda x, p, f: np.interp(x, p, f), (np.array([[0.3, 1.2], [1.0, 1.7]]), PLACES, weight(5))),
    "interp_beyond": (lambda x, p, f: np.interp(x, p, f, left=-5.0), (np.array([-1.0, 0.2, 9.0]), PLACES, weight(5))),
    "interp_right": (lambda x, f: np.interp(x, PLACES, f, right=2.0), (np.array([-1.0, 0.2, 9.0]), weight(5))),
    "interp_period": (lambda x, f: np.interp(x, PLACES, f, period=2.5), (np.array([-1.0, 0.2, 9.0]), weight(5))),
    "interp_one": (lambda x, f: np.interp(x, [1.0], f), (np.array([-1.0, 9.0]), weight(1))),
    "bincount": (lambda w: np.bincount(NUMBERS, w), (weight(5),)),
    "bincount_more": (lambda w: np.bincount(NUMBERS, w**2, minlength=8)[:7], (weight(5),)),
    "unwrap": (lambda x: np.unwrap(x) ** 2, (np.array([0.0, 3.0, 6.0, 0.5, 5.9]),)),
    "unwrap_period": (lambda x: np.unwrap(x, axis=0, period=4.0) ** 2, (3 * weight((4, 2)),)),
    "windows": (lambda x: WINDOWS(x, 3) ** 2, (weight(5),)),
    "windows_of_matrices": (lambda x: WINDOWS(x, (2, 3)) ** 2, (weight((3, 4)),)),
    "windows_along": (lambda x: WINDOWS(x, 2, axis=1), (weight((2, 3, 2)),)),
    "i0": (lambda x: np.i0(x), (np.array([-3.0, 0.0, 0.5, 20.0]) / 3,)),
    "polyval": (lambda p, x: np.polyval(p, x), (weight(4), weight((2, 2)))),
    "vander": (lambda x: np.vander(x), (weight(3),)),
    "vander_increasing": (lambda x: np.vander(x, 4, increasing=True), (weight(3),)),
    "polyfit": (lambda x, y: np.polyfit(x, y, 2), (PLACES, weight(5))),
    "polyfit_weights": (lambda x, y, w: np.polyfit(x, y, 1, w=w), (PLACES, weight((5, 2)), PLACES + 1)),
    "logspace": (lambda a, b: LOGSPACE(a, b, 5, base=2.0), (np.array(0.5), np.array(1.5))),
    "geomspace": (lambda a, b: np.geomspace(a, b, 4), (np.array([0.5, -2.0]), np.array([1.5, -1.0]))),
    "cov": (lambda x: np.cov(x), (weight((3, 5)),)),
    "cov_of_two": (lambda x, y: np.cov(x, y, bias=True), (weight(5), weight(5, 4))),
    "cov_of_columns": (lambda x: np.cov(x, rowvar=False, ddof=0), (weight((5, 2)),)),
    "cov_of_one": (lambda x: np.cov(x), (weight(4),)),
    "corrcoef": (lambda x: np.corrcoef(x), (weight((3, 5)),)),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_meet_central_differences(name: str) -> None:
    f, args = CASES[name]

    def loss(*given: Any) -> Any:
        out = f(*given)
        return np.sum(out * weight(np.shape(f(*args)), 11)) + np.sum(np.sin(out))

    places = tuple(range(len(args)))
    value, deltas = value_and_grad(loss, places)(*args)
    assert np.isclose(value, loss(*args), rtol=1e-12)
    ways = [weight(one.shape, 5) for one in args]

    def slope(*given: Any) -> Any:
        return sum(np.sum(d * way) for d, way in zip(grad(loss, places)(*given), ways, strict=True))

    seconds = grad(slope, places)(*args)
    for k in places:
        for delta, of in ((deltas[k], loss), (seconds[k], slope)):
            assert delta.shape == args[k].shape and delta.dtype == args[k].dtype
            got, size = inner(delta, ways[k])
            want = along(of, list(args), k, ways[k])
            assert abs(got - want) <= 1e-6 * (1 + size + abs(want)), f"{got}, central differences {want}"


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_are_numpys(name: str, dtype: Any) -> None:
    f, args = CASES[name]
    given = [one.astype(dtype) for one in args]
    names = ["a", "b", "c"][: len(given)]
    scope: dict[str, Any] = {"f": f, "Any": Any, "Annotated": Annotated, "Symbolic": Symbolic}
    hint = "Annotated[Any, Symbolic]"
    exec(f"def net({', '.join(f'{n}: {hint}' for n in names)}) -> {hint}: return f({', '.join(names)})", scope)
    net, want = symbolic(scope["net"]), f(*given)
    for _ in range(4):
        got = net.predict(*given)
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(
            got, want, rtol=1e-13 if dtype is np.float64 else 1e-5, atol=1e-6 * (dtype is np.float32)
        )


def test_bessel_functions_to_high_orders() -> None:
    x = np.array([0.3, -2.0, 30.0, 300.0])
    special = pytest.importorskip("scipy.special")
    np.testing.assert_allclose(grad(lambda x: np.sum(np.i0(x)))(x), special.i1(x), rtol=1e-13)
    second = grad(lambda x: np.sum(grad(lambda x: np.sum(np.i0(x)))(x)))(x)
    np.testing.assert_allclose(second, special.ivp(0, x, 2), rtol=1e-13)


def test_counts_have_no_gradient() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.bincount(np.floor(x).astype(int)) * 2.0) + np.sum(x)

    assert np.array_equal(grad(f)(np.array([0.5, 2.5, 2.7])), np.ones(3))


def test_roots_move_as_their_polynomial_says() -> None:
    """Of x² - 3x + 2 the roots are 2 and 1: ∂r/∂p_k = -r^(2-k) / (2r - 3)."""

    def root(p: Any) -> Any:
        return np.real(np.roots(p)[0])

    p = np.array([1.0, -3.0, 2.0])
    np.testing.assert_allclose(np.sort(np.real(np.roots(p))), [1.0, 2.0])
    np.testing.assert_allclose(grad(root)(p), [-4.0, -2.0, -1.0], rtol=1e-12)
    second = grad(lambda p: grad(root)(p)[2])(p)  # of -1 / (2ar + b), where r moves with p
    np.testing.assert_allclose(second[2], -2.0, rtol=1e-10)


def test_complex_roots_have_both_parts_of_their_gradient() -> None:
    """Of a·x² + c the roots are ±i√(c/a), of which the squares are c/a each."""
    gradient = grad(lambda p: np.sum(np.abs(np.roots(p)) ** 2))(np.array([2.0, 0.0, 3.0]))
    np.testing.assert_allclose(gradient, [-2 * 3 / 4, 0.0, 2 / 2], atol=1e-12)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: np.roots(x[:, None]), r"vector"),
        (lambda x: np.polymul(x * 0.0, x), r"np\.polymul .*np\.trim_zeros"),
        (lambda x: np.diff(x, -1), "n=-1"),
        (lambda x: np.diff(x[0]), "0-d"),
        (lambda x: np.gradient(x, np.ones(3)), r"\(4,\) at places of shape \(3,\)"),
        (lambda x: np.gradient(x[:1]), "samples"),
        (lambda x: np.cov(x[:1]), "1 observations"),
        (lambda x: WINDOWS(x, 5), "window of 5"),
        (lambda x: np.vander(x[:, None]), "2 axes"),
        (lambda x: np.bincount(NUMBERS, x[:, None]), "vector"),
    ],
)
def test_what_no_rule_handles_is_refused(f: Loss, words: str) -> None:
    with pytest.raises(SymbolicError, match=words):
        grad(lambda x: np.sum(f(x)))(weight(4))


@pytest.mark.parametrize("function", [np.var, np.std, np.nanvar, np.nanstd], ids=lambda one: str(one.__name__))
@pytest.mark.parametrize("ddof", [0, 1, 2, 3])
@pytest.mark.parametrize("where", [True, np.array([True, False, True]), np.array([False, False, False])])
def test_spreads_of_too_few_entries(function: Any, ddof: int, where: Any) -> None:
    """NumPy divides by 0 where no more entries than `ddof` are left, never by less than 0."""
    x = np.array([1.0, 2.0, 4.0])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = function(x, ddof=ddof, where=where)
        got = value_and_grad(lambda x: function(x, ddof=ddof, where=where))(x)[0]
    np.testing.assert_allclose(got, want, rtol=1e-14)
