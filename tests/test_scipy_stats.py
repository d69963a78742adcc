"""Are the densities and shares of SciPy's distributions right, within their support, at its ends, and outside?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy", reason="SciPy's distributions are differentiated where SciPy is installed")

import scipy.stats as st
import test_laws as laws
from hypothesis import strategies as hst
from makers import Maker
from scipy_makers import through
from strategies import Call, Draw
from subjects import Subject, network

from symbolic import SymbolicError, grad, value_and_grad
from symbolic import public as _public  # noqa: F401 - it fills the tables
from symbolic.ops.foreign import load
from symbolic.ops.scipy_distributions import LAWS
from symbolic.ops.scipy_stats import METHODS

load("scipy.stats")

SHAPES: dict[str, tuple[str, ...]] = {
    "truncnorm": ("negative", "positive"),
    "beta": ("above_one", "above_one"),
    "f": ("above_one", "above_three"),
    "bernoulli": ("inner_share",),
    "geom": ("inner_share",),
    "binom": ("count", "inner_share"),
    "nbinom": ("above_one", "inner_share"),
}
"""Domains of the shape parameters; of all others they are positive."""
PLACES = {"beta": "inner_share", "uniform": "inner_share", "pareto": "above_one", "truncnorm": "small"}
"""Domains within the support in standard form; of all others the positive numbers."""
BY_SHARE = {"gamma", "chi2", "invgamma", "beta", "t", "poisson"}
"""Shares of these have no gradient by the shape parameters."""


def _maker(dist: Any, name: str) -> Maker:
    """The place, the shape parameters, loc and scale: what has no gradient is plain."""
    discrete, shapes = isinstance(dist, st.rv_discrete), dist.shapes.split(", ") if dist.shapes else []
    domains = SHAPES.get(dist.name, ("positive",) * len(shapes))
    plain = dist.name in BY_SHARE and "pdf" not in name and "pmf" not in name

    def make(draw: Draw, domain: Any) -> Call:
        size = draw.pick([(3,), (), (2, 2)])
        values = [np.full((), 6.0) if one == "count" else draw.array(draw.pick([(), size]), one) for one in domains]
        if discrete:
            x = np.asarray(draw.rng.integers(1, 5, size), draw.dtype)
            traced = [k for k, one in enumerate(domains) if one != "count" and not (plain and dist.name != "poisson")]
            return _placed(x, values, traced, [])
        scale, loc = draw.array((), "positive"), draw.array((), "real")
        share = name in ("ppf", "isf")
        x = draw.array(size, "inner_share" if share else PLACES.get(dist.name, "positive"))
        x = x if share else x * scale + loc
        return _placed(x, values, [] if plain else list(range(len(values))), [loc, scale], first=True)

    return make


def _placed(x: Any, values: list[Any], traced: list[int], ends: list[Any], first: bool = False) -> Call:
    arrays = ([x] if first else []) + [values[k] for k in traced] + ends

    def place(*given: Any) -> tuple[Any, ...]:
        rest = list(given)
        point = rest.pop(0) if first else x
        shapes = [rest.pop(0) if k in traced else one for k, one in enumerate(values)]
        return (point, *shapes, *rest)

    return Call(tuple(arrays), place)


def _distributions() -> Iterator[Any]:
    found = [getattr(st, name) for name in dir(st)]
    yield from (one for one in found if type(one) in LAWS and getattr(st, one.name) is one)


def _subjects() -> Iterator[Subject]:
    for dist in _distributions():
        for name, ways in METHODS.items():
            law = LAWS[type(dist)]
            if hasattr(dist, name) and any(getattr(law, needed) is not None for needed, _ in ways):
                full = f"scipy.stats.{dist.name}.{name}"
                yield Subject(full, through(getattr(dist, name)), {}, None, _maker(dist, name))


SUBJECTS = list(_subjects())
OF_PLACE = [one for one in SUBJECTS if "pdf" in one.name or "pmf" in one.name]


def law_value(subject: Subject, data: hst.DataObject) -> bool:
    """The value, shape and dtype are SciPy's, which takes z of single precision before it goes on in double."""
    draw = Draw(data, data.draw(hst.sampled_from(["float64", "float32"])))
    call, close = subject.arguments(draw), 1e-11 if draw.dtype == np.float64 else 1e-4
    function = subject.of(call)
    want, net = np.asarray(function(*call.arrays)), network(function, len(call.arrays))
    for _ in range(3):
        got = net.predict(*call.arrays)
        assert np.shape(got) == want.shape and got.dtype == want.dtype, subject
        np.testing.assert_allclose(got, want, rtol=close, atol=close / 10, err_msg=str(subject))
    return True


test_value = laws.drawn(law_value, 2, SUBJECTS)
test_infer = laws.drawn(laws.law_infer, 1, OF_PLACE)
test_gradient = laws.drawn(laws.law_gradient, 2, SUBJECTS)
test_single_precision = laws.drawn(laws.law_single, 1, OF_PLACE)
test_second_derivative = laws.drawn(laws.law_second, 1, SUBJECTS)
test_oracle = laws.drawn(laws.law_oracle, 1, OF_PLACE)


# --------------------------------------------------------------------------- the ends of the support


@pytest.mark.parametrize("subject", OF_PLACE, ids=str)
def test_outside_the_support_nothing_flows(subject: Subject) -> None:
    """Far below and far above the value is SciPy's, and every gradient is 0, never NaN."""
    dist = getattr(st, subject.name.split(".")[2])
    domains = SHAPES.get(dist.name, ("positive",) * len(dist.shapes.split(", ") if dist.shapes else ()))
    usual = {"negative": -1.0, "count": 4.0, "inner_share": 0.4}
    shapes = [usual.get(one, 2.5) for one in domains]
    positions = tuple(range(1 + len(shapes)))
    for x in (-40.5, 60.5):
        want = getattr(dist, subject.name.split(".")[3])(x, *shapes)
        value, deltas = value_and_grad(subject.function, positions)(x, *shapes)
        np.testing.assert_allclose(value, want, rtol=1e-11)
        if want in (0.0, -np.inf):
            assert deltas == (0.0,) * len(positions), subject
        assert np.isfinite(deltas).all(), subject


@pytest.mark.parametrize(
    ("dist", "x", "shapes", "slope"),
    [
        (st.gamma, 0.0, (2.0,), 1.0),  # z · e^-z
        (st.beta, 0.0, (2.0, 1.0), 2.0),  # 2z
        (st.weibull_min, 0.0, (2.0,), 2.0),
        (st.rayleigh, 0.0, (), 1.0),
    ],
)
def test_a_density_of_zero_has_a_slope(dist: Any, x: float, shapes: tuple[float, ...], slope: float) -> None:
    assert grad(through(dist.pdf))(x, *shapes) == pytest.approx(slope)


@pytest.mark.parametrize(
    ("dist", "k", "slope"), [(st.bernoulli, 1, 1.0), (st.poisson, 1, 1.0), (st.bernoulli, 0, -1.0)]
)
def test_a_probability_of_zero_has_a_slope(dist: Any, k: int, slope: float) -> None:
    assert grad(lambda p: through(dist.pmf)(k, p))(0.0) == pytest.approx(slope)


def test_wrong_parameters_are_nan() -> None:
    for scale in (0.0, -1.0):
        assert np.isnan(network(lambda x, s: through(st.norm.logpdf)(x, 0.0, s), 2).predict(1.0, scale))
    assert np.isnan(network(lambda x, a: through(st.gamma.logpdf)(x, a), 2).predict(1.0, -2.0))


def test_the_logistic_density_is_smooth_at_its_middle() -> None:
    assert grad(grad(through(st.logistic.logpdf)))(0.0) == pytest.approx(-0.5)


# --------------------------------------------------------------------------- frozen, and several at once


def test_frozen_distributions() -> None:
    """With plain parameters SciPy's own object, with traced ones ours."""
    x, at = np.array([0.3, -1.2]), 0.7
    fixed = st.norm(0.5, 2.0)
    value, delta = value_and_grad(lambda x: np.sum(through(fixed.logpdf)(x)))(x)
    assert value == pytest.approx(float(np.sum(fixed.logpdf(x))))
    np.testing.assert_allclose(delta, -(x - 0.5) / 4)

    def loss(mu: Any, sd: Any) -> Any:
        return np.sum(through(st.norm)(mu, scale=sd).logpdf(x))

    got = grad(loss, (0, 1))(at, 2.0)
    np.testing.assert_allclose(got, grad(lambda m, s: np.sum(through(st.norm.logpdf)(x, m, s)), (0, 1))(at, 2.0))
    assert grad(lambda mu: through(st.poisson)(mu).logpmf(3))(2.0) == pytest.approx(0.5)


def test_what_has_no_formula_is_refused_by_name() -> None:
    with pytest.raises(SymbolicError, match=r"scipy\.stats\.norm\.entropy"):
        grad(lambda s: through(st.norm.entropy)(0.0, s))(1.0)
    with pytest.raises(SymbolicError, match=r"scipy\.stats\.norm\.rvs"):
        grad(lambda s: through(st.norm)(0.0, s).rvs(3))(1.0)
    with pytest.raises(SymbolicError, match=r"scipy\.stats\.skewnorm\.logpdf"):
        grad(lambda x: through(st.skewnorm.logpdf)(x, 1.0))(1.0)
    with pytest.raises(SymbolicError, match="by its argument a"):
        grad(lambda a: through(st.gamma.cdf)(1.0, a))(2.0)

    class Own(type(st.norm)):  # type: ignore[misc]  # SciPy has no types
        def _logpdf(self, x: Any) -> Any:
            return -x

    with pytest.raises(SymbolicError, match="own"):
        grad(lambda x: through(Own(name="own").logpdf)(x))(1.0)


@pytest.mark.parametrize("cov", [2.0, np.array([1.0, 2.0]), np.array([[2.0, 0.5], [0.5, 1.0]])])
def test_multivariate_normal(cov: Any) -> None:
    import jax

    rng = np.random.default_rng(0)
    x, mean = rng.normal(size=(4, 2)), np.array([0.1, -0.4])
    ours = through(st.multivariate_normal.logpdf)
    np.testing.assert_allclose(
        network(ours, 3).predict(x, mean, cov), st.multivariate_normal.logpdf(x, mean, cov), rtol=1e-12
    )
    full = cov if np.ndim(cov) == 2 else np.diag(np.broadcast_to(cov, 2))
    theirs = jax.grad(lambda *given: jax.numpy.sum(jax.scipy.stats.multivariate_normal.logpdf(*given)), (0, 1, 2))
    got = grad(lambda x, m, c: np.sum(ours(x, m, c)), (0, 1, 2))(x, mean, full)
    for one, other in zip(got, theirs(x, mean, full), strict=True):
        np.testing.assert_allclose((one + one.T) / 2 if one.shape == (2, 2) else one, _symmetric(other), rtol=1e-10)
    frozen = st.multivariate_normal(mean, cov)
    np.testing.assert_allclose(network(through(frozen.pdf), 1).predict(x), frozen.pdf(x), rtol=1e-12)
    of_mean = grad(lambda m: through(st.multivariate_normal)(m, full).logpdf(x[0]))(mean)
    np.testing.assert_allclose(of_mean, np.linalg.solve(full, x[0] - mean))


def _symmetric(x: Any) -> Any:
    x = np.asarray(x)
    return (x + x.T) / 2 if x.shape == (2, 2) else x


def test_dirichlet_and_multinomial() -> None:
    import jax

    x, alpha = np.array([0.2, 0.3]), np.array([1.5, 2.0, 2.5])
    ours = through(st.dirichlet.logpdf)
    value, deltas = value_and_grad(ours, (0, 1))(x, alpha)
    assert value == pytest.approx(st.dirichlet.logpdf(x, alpha))

    def whole(x: Any, a: Any) -> Any:
        return jax.scipy.stats.dirichlet.logpdf(jax.numpy.append(x, 1 - x.sum()), a)

    for one, other in zip(deltas, jax.grad(whole, (0, 1))(x, alpha), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    counts, p = np.array([[1.0, 2.0, 1.0], [0.0, 4.0, 0.0], [1.0, 1.0, 1.0]]), np.array([0.2, 0.5, 0.3])
    of_p = network(lambda p: through(st.multinomial.logpmf)(counts, 4, p), 1)
    np.testing.assert_allclose(of_p.predict(p), st.multinomial.logpmf(counts, 4, p), rtol=1e-12)
    np.testing.assert_allclose(grad(lambda p: through(st.multinomial.logpmf)(counts[0], 4, p))(p), counts[0] / p)
    assert np.isnan(of_p.predict(p * 0.9)).all()
