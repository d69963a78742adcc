"""Where do SciPy's functions end: at poles, far out, in degenerate matrices, and where there is no formula?"""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy", reason="SciPy's functions are differentiated where SciPy is installed")

import scipy.linalg as sl
import scipy.special as sp
from differences import richardson
from scipy_makers import through
from subjects import network

from symbolic import SymbolicError, grad, jacobian, jvp, value_and_grad, vjp, vmap
from symbolic.ops.foreign import ROOMS, handler, load, refusal, spoken

for package in ROOMS:
    load(package)


def slope(function: Any, x: Any) -> Any:
    """The derivative at a point where NumPy divides by zero on purpose."""
    with np.errstate(all="ignore"):
        return grad(lambda x: function(x))(x)


# --------------------------------------------------------------------------- special functions


@pytest.mark.parametrize(
    ("function", "x", "want"),
    [
        (sp.entr, 0.0, np.inf),
        (sp.entr, -1.0, 0.0),
        (sp.expit, 800.0, 0.0),
        (sp.expit, -800.0, 0.0),
        (sp.expit, 40.0, float(np.exp(-40.0))),  # not 1 - expit(40), which is 0
        (sp.logit, 0.0, np.inf),
        (sp.log_expit, -800.0, 1.0),
        (sp.gammaln, 0.0, -np.inf),
        (sp.rgamma, 0.0, 1.0),  # at the poles of Γ: (-1)^n · n!
        (sp.rgamma, -1.0, -1.0),
        (sp.rgamma, -3.0, -6.0),
        (sp.exprel, 0.0, 0.5),
        (sp.log_ndtr, -50.0, 50.01998403190564),
        (sp.log_ndtr, -1e8, 1e8),
        (sp.log_ndtr, 40.0, 0.0),
        (sp.erf, 30.0, 0.0),
        (sp.erfcx, 1e8, -1 / np.sqrt(np.pi) * 1e-16),  # 2x·erfcx(x) - 2/√π has no digit left there
        (sp.dawsn, 1e8, -0.5e-16),
        (sp.spence, 1.0, -1.0),
    ],
    ids=str,
)
def test_slopes_at_the_edge(function: Any, x: float, want: float) -> None:
    assert slope(function, x) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("name", ["erfcx", "dawsn", "log_ndtr", "rgamma", "psi", "exprel", "spence", "gammaln"])
@pytest.mark.parametrize("x", [0.3, 2.5, 11.9, 12.1, 25.0])
def test_orders_one_and_two_to_the_last_digits(name: str, x: float) -> None:
    """Against mpmath, with forty digits."""
    mp = pytest.importorskip("mpmath")
    functions = {
        "erfcx": lambda t: mp.exp(t * t) * mp.erfc(t),
        "dawsn": lambda t: mp.exp(-t * t) * mp.erfi(t) * mp.sqrt(mp.pi) / 2,
        "log_ndtr": lambda t: mp.log(mp.ncdf(t)),
        "rgamma": mp.rgamma,
        "psi": mp.psi0 if hasattr(mp, "psi0") else mp.digamma,
        "exprel": lambda t: mp.expm1(t) / t,
        "spence": lambda t: mp.re(mp.polylog(2, 1 - t)),
        "gammaln": mp.loggamma,
    }
    function = getattr(sp, name)
    with mp.workdps(40):
        first, second = (float(mp.re(mp.diff(functions[name], x, n))) for n in (1, 2))
    assert grad(lambda x: function(x))(x) == pytest.approx(first, rel=1e-11)
    assert grad(grad(lambda x: function(x)))(x) == pytest.approx(second, rel=1e-9)


def test_nothing_times_a_logarithm() -> None:
    """x · log y at x = 0 is flat along y, even at y = 0, but its slope by y still grows with x."""
    with np.errstate(all="ignore"):
        assert grad(lambda x, y: sp.xlogy(x, y), (0, 1))(0.0, 0.0) == (-np.inf, 0.0)
        assert grad(lambda x, y: sp.xlog1py(x, y), (0, 1))(0.0, -1.0) == (-np.inf, 0.0)
        assert grad(lambda x, y: sp.rel_entr(x, y), (0, 1))(-1.0, 1.0) == (0.0, 0.0)
        assert grad(lambda x, y: sp.kl_div(x, y), (0, 1))(1.0, 0.0) == (0.0, 0.0)
    assert grad(lambda x: grad(lambda y: sp.xlogy(x, y))(2.0))(0.0) == 0.5


def test_sums_of_exponentials() -> None:
    logsumexp = through(sp.logsumexp)
    nothing = np.full(2, -np.inf)
    value, delta = value_and_grad(lambda a: logsumexp(a))(nothing)
    assert value == -np.inf
    assert delta.tolist() == [0.0, 0.0]
    a, b = np.array([2.0, 1.0, 900.0]), np.array([-1.0, 2.0, 0.0])
    for sign in (1, -1):
        got = network(lambda a, sign=sign: logsumexp(a, b=sign * b, return_sign=True), 1).predict(a)
        np.testing.assert_allclose(got, sp.logsumexp(a, b=sign * b, return_sign=True), rtol=1e-13)
        parts = b * np.exp(np.minimum(a, 2.0) - 2.0)
        delta = grad(lambda a, sign=sign: logsumexp(a, b=sign * b, return_sign=True)[0])(a)
        np.testing.assert_allclose(delta, parts / parts.sum(), rtol=1e-12)
    x = np.array([[0.5, -np.inf, 1.0], [2.0, 0.1, -3.0]])
    for kept in ({"axis": (0, 1), "keepdims": True}, {"axis": 0}, {"axis": -1}):
        np.testing.assert_allclose(
            network(lambda a, kept=kept: logsumexp(a, **kept), 1).predict(x), sp.logsumexp(x, **kept), rtol=1e-14
        )


def test_single_precision_stays() -> None:
    x = np.float32(0.7)
    for function in (sp.erf, sp.gammaln, sp.psi, sp.expit, sp.log_ndtr, sp.erfcx, sp.rgamma, sp.exprel, sp.i1, sp.entr):
        assert network(function, 1).predict(x).dtype == np.float32, function
        assert grad(lambda x, f=function: f(x))(x).dtype == np.float32, function
        assert grad(grad(lambda x, f=function: f(x)))(x).dtype == np.float32, function


# --------------------------------------------------------------------------- matrices


def _matrix(kind: str, dtype: Any = float) -> Any:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, 3)) * 0.3 + np.diag([1.0, 2.0, 3.5])
    if dtype is complex and kind != "pos":
        x = x + 0.2j * rng.normal(size=(3, 3))
    return x


def _hermitian(x: Any) -> Any:
    return x + np.swapaxes(np.conjugate(x), -1, -2)


@pytest.mark.parametrize("kind", ["sym", "her", "pos", "diagonal", "tridiagonal", "lower triangular"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", [float, complex])
def test_solutions_of_structured_equations(kind: str, lower: bool, dtype: Any) -> None:
    """Values are SciPy's, gradients meet central differences of it, through a map that keeps the structure."""
    keep = {"sym": lambda x: x + x.T, "her": _hermitian, "pos": _hermitian}.get(kind, lambda x: x)
    if kind in ("diagonal", "tridiagonal"):
        keep = lambda x: np.tril(np.triu(x, -(kind != "diagonal")), kind != "diagonal")  # noqa: E731 - a mask
    x, b = _matrix(kind, dtype), np.array([1.0, -0.5, 2.0])
    way = np.random.default_rng(2).normal(size=(3, 3)) * (1 + 0.5j if dtype is complex else 1)
    solve = through(sl.solve)

    def loss(x: Any, b: Any) -> Any:
        found = solve(keep(x), b, lower=lower, assume_a=kind)
        return np.sum(np.real(found * np.array([1.0, 2.0, -1.0])) ** 2)

    of_x, of_b = grad(loss, (0, 1))(x, b)
    assert np.sum(np.real(np.conj(of_x) * way)) == pytest.approx(richardson(lambda t: loss(x + t * way, b)), rel=1e-6)
    turn = np.array([1.0, 0.5, -1.0])
    assert np.sum(of_b * turn) == pytest.approx(richardson(lambda t: loss(x, b + t * turn)), rel=1e-6)


def test_only_the_triangle_that_is_read_counts() -> None:
    """Whatever stands in the other one, the value is SciPy's, and the delta is Hermitian."""
    a = _hermitian(_matrix("pos"))
    spoiled = np.tril(a) + np.triu(np.full((3, 3), 77.0), 1)
    got = network(lambda a, b: through(sl.solve)(a, b, lower=True, assume_a="pos"), 2).predict(spoiled, np.ones(3))
    np.testing.assert_allclose(got, np.linalg.solve(a, np.ones(3)))
    for function, given in ((sl.cholesky, np.swapaxes(spoiled, 0, 1)), (sl.eigvalsh, spoiled)):
        np.testing.assert_allclose(network(through(function), 1).predict(given), function(given), rtol=1e-12)
    delta = grad(lambda a: through(sl.solve)(a, np.ones(3), lower=True, assume_a="pos")[0])(spoiled)
    np.testing.assert_array_equal(delta, delta.T)


@pytest.mark.parametrize("lower", [False, True])
def test_factors_of_cholesky_and_their_solutions(lower: bool) -> None:
    a, b = _hermitian(_matrix("pos")), np.array([1.0, -0.5, 2.0])

    def solution(a: Any, b: Any) -> Any:
        return through(sl.cho_solve)(through(sl.cho_factor)(a, lower=lower), b)

    np.testing.assert_allclose(network(solution, 2).predict(a, b), np.linalg.solve(a, b), rtol=1e-12)
    for one, other in zip(
        grad(lambda a, b: np.sum(solution(a, b) ** 2), (0, 1))(a, b),
        grad(lambda a, b: np.sum(np.linalg.solve(a, b) ** 2), (0, 1))(a, b),
        strict=True,
    ):
        np.testing.assert_allclose(one, (other + other.T) / 2 if other.ndim == 2 else other, rtol=1e-10)


@pytest.mark.parametrize("second", [None, np.diag([1.0, 2.0, 3.0]) + 0.2])
def test_eigenvalues_and_vectors(second: Any) -> None:
    """Vectors up to their signs; the generalized problem too."""
    a, eigh = _hermitian(_matrix("her")), through(sl.eigh)
    given = (a,) if second is None else (a, second)
    values, vectors = network(lambda *xs: eigh(*xs), len(given)).predict(*given)
    want = sl.eigh(*given)
    np.testing.assert_allclose(values, want[0], rtol=1e-12)
    np.testing.assert_allclose(np.abs(vectors), np.abs(want[1]), rtol=1e-9)

    def loss(*xs: Any) -> Any:
        w, v = eigh(*map(_hermitian, xs))
        return np.sum(w * np.array([1.0, -2.0, 0.5])) + np.sum(v[0] ** 2 * np.array([1.0, 3.0, -1.0]))

    way = np.random.default_rng(3).normal(size=(3, 3))
    for k, delta in enumerate(grad(loss, tuple(range(len(given))))(*given)):
        moved = lambda t, k=k: loss(*[x + t * way * (j == k) for j, x in enumerate(given)])  # noqa: E731 - a line
        assert np.sum(delta * way) == pytest.approx(richardson(moved, 1e-3), rel=1e-6)


def test_determinants_and_least_squares() -> None:
    a = _matrix("gen")
    for dtype in (np.float32, np.float64):
        got = network(through(sl.det), 1).predict(a.astype(dtype))
        assert got.dtype == np.asarray(sl.det(a.astype(dtype))).dtype
        assert got == pytest.approx(sl.det(a), rel=1e-5)
    tall, b = np.concatenate([a, a[:1] + 1.0]), np.array([1.0, 2.0, -1.0, 0.5])
    got = network(lambda a, b: through(sl.lstsq)(a, b), 2).predict(tall, b)
    for one, other in zip(got, sl.lstsq(tall, b), strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-10)
    of_a = grad(lambda a: np.sum(through(sl.lstsq)(a, b)[0] ** 2))(tall)
    want = grad(lambda a: np.sum((np.linalg.pinv(a) @ b) ** 2))(tall)
    np.testing.assert_allclose(of_a, want, rtol=1e-9)


# --------------------------------------------------------------------------- what is not there


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: sp.airy(x)[0], r"scipy\.special\.airy"),
        (lambda x: sp.kolmogorov(x), r"scipy\.special\.kolmogorov"),
        (lambda x: sp.gammainc(x, 2.0), "by its argument a"),
        (lambda x: sp.jv(x, 2.0), "by its argument v"),
        (lambda x: through(sp.polygamma)(x, 2.0), "by its argument n"),
        (lambda x: through(sp.diric)(x, 3), r"scipy\.special\.diric"),
        (lambda x: through(sl.logm)(x * np.eye(2)), r"scipy\.linalg\.logm"),
        (lambda x: through(sl.null_space)(x * np.eye(2)), r"scipy\.linalg\.null_space"),
        (lambda x: through(sl.lu_factor)(x * np.eye(2)), r"scipy\.linalg\.lu_factor"),
        (lambda x: through(sl.pinv)(x * np.eye(2), return_rank=True), "return_rank"),
        (lambda x: sp.erf(x, where=np.True_), r"where= of scipy\.special\.erf"),
    ],
)
def test_refused_by_name(call: Any, name: str) -> None:
    with pytest.raises(SymbolicError, match=name) as caught:
        grad(lambda x: np.sum(call(x)))(0.7)
    assert caught.value.remedy


def test_other_libraries_functions_have_public_names() -> None:
    import scipy.interpolate
    import scipy.ndimage

    assert handler(scipy.ndimage.gaussian_filter) is None
    assert "scipy.ndimage.gaussian_filter" in str(refusal(scipy.ndimage.gaussian_filter))
    spline = scipy.interpolate.CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
    assert handler(spline) is None
    assert spoken(spline) == "scipy.interpolate.CubicSpline"
    assert spoken(sl.logm) == "scipy.linalg.logm"
    assert handler(len) is None


def test_scipy_is_loaded_when_it_is_met() -> None:
    """By the first of its ufuncs that a layer meets, and by `load`; never by `import symbolic`."""
    script = (
        "import sys, symbolic\n"
        "assert 'scipy' not in sys.modules\n"
        "import scipy.special\n"
        "assert 'symbolic.ops.scipy_error' not in sys.modules\n"
        "assert symbolic.grad(lambda x: scipy.special.erf(x))(0.0) > 1.1\n"
        "assert 'symbolic.ops.scipy_error' in sys.modules and 'scipy.stats' not in sys.modules\n"
        "from symbolic.ops.foreign import load\n"
        "load('scipy.stats._distn_infrastructure')\n"
        "assert 'symbolic.ops.scipy_stats' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parent.parent)


def test_the_table_is_written_anew() -> None:
    """Of another SciPy, whose names differ, what is differentiated must be in the table all the same."""
    import scipy_table

    written, now = scipy_table.PAGE.read_text(encoding="utf-8"), scipy_table.page()
    if f"SciPy {scipy_table.version()}." in written:
        assert written == now, "run python tests/scipy_table.py"
    missing = [row for row in now.splitlines() if row.endswith(("| yes |", "argument |")) and row not in written]
    assert not missing


@pytest.mark.parametrize(
    "derived",
    [
        lambda f, x: grad(f)(x),
        lambda f, x: value_and_grad(f)(x)[1],
        lambda f, x: vjp(f, x)[1](1.0)[0],
        lambda f, x: jvp(f, (x,), (1.0,))[1],
        lambda f, x: jacobian(f)(x),
        lambda f, x: vmap(grad(f))(np.array([x]))[0],
    ],
)
def test_a_derivative_by_a_constant_within_a_trace(derived: Any) -> None:
    """What is known as a number is still differentiated by: SciPy's function is not run on the number."""

    def f(x: Any) -> Any:
        return sp.erf(x) * x

    x = 0.5
    right = math.erf(x) + x * 2.0 / math.sqrt(math.pi) * math.exp(-x * x)
    assert grad(lambda a: a * derived(f, x))(3.0) == pytest.approx(right, rel=1e-12)


def test_what_a_constant_derivative_gives_is_a_number_again() -> None:
    def f(a: Any) -> Any:
        return a * sp.wofz(float(grad(lambda x: x * x)(0.5))).real  # of which no derivative is known

    assert grad(f)(3.0) == pytest.approx(math.exp(-1.0), rel=1e-12)
