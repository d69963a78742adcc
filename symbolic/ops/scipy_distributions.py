"""Which formula has each distribution? One row: log-density, shares and quantiles in standard form, without place
and scale.

The formulas are those of SciPy's documentation. `edge` is the density itself where its logarithm is -inf inside the
support, so that its slope there is not lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.special as sp
import scipy.stats as st

from symbolic.ops.scipy_error import SQRT_2PI

Formula = Callable[..., Any]
LOG_2PI, LOG_2 = math.log(2 * math.pi), math.log(2)


def _positive(*shapes: Any) -> Any:
    """Every shape parameter above 0: what most distributions ask."""
    fine: Any = True
    for one in shapes:
        fine = np.logical_and(fine, np.greater(one, 0))
    return fine


class Law(NamedTuple):
    """A distribution; each formula takes z (or a share q) and the shape parameters."""

    density: Formula  # its logarithm
    share: Formula | None = None
    log_share: Formula | None = None
    rest: Formula | None = None
    log_rest: Formula | None = None
    quantile: Formula | None = None
    from_above: Formula | None = None
    edge: Formula | None = None
    middle: float = 0.5  # a point within the support, put in where there is none
    support: Formula | None = None  # where SciPy's `a` and `b` do not say it
    open: bool = False  # the lower end is not in the support: the density is 0 there
    valid: Formula = _positive


def _student(z: Any, df: Any) -> Any:
    infinite = np.isinf(df)
    finite = np.where(infinite, 1, df)
    fall = (finite + 1) / 2 * np.log1p(np.square(z) / finite)
    return np.where(infinite, _normal(z), -sp.betaln(0.5, finite / 2) - np.log(finite) / 2 - fall)


def _normal(z: Any) -> Any:
    return np.square(z) * -0.5 - LOG_2PI / 2


def _log_mass(a: Any, b: Any) -> Any:
    """log(Φ(b) - Φ(a)), taken in the tail where the two do not cancel."""
    low, high = np.where(np.greater(a, 0), -b, a), np.where(np.greater(a, 0), -a, b)
    tail = np.less_equal(high, 0)
    upper = sp.log_ndtr(np.where(tail, high, 0))
    in_tail = upper + np.log1p(-np.exp(sp.log_ndtr(np.where(tail, low, -1)) - upper))
    whole = np.log1p(-sp.ndtr(np.where(tail, -1, low)) - sp.ndtr(np.where(tail, -1, -high)))
    return np.where(tail, in_tail, whole)


def _laplace_share(z: Any) -> Any:
    above = np.greater(z, 0)
    half = np.exp(-np.abs(z)) * 0.5
    return np.where(above, 1 - half, half)


def _laplace_quantile(q: Any) -> Any:
    above = np.greater(q, 0.5)
    return np.where(above, -np.log(2 * np.where(above, 1 - q, 0.5)), np.log(2 * np.where(above, 0.5, q)))


def _f(z: Any, n: Any, m: Any) -> Any:
    powers = sp.xlogy(n / 2, n) + sp.xlogy(m / 2, m) + sp.xlogy(n / 2 - 1, z)
    return powers - (n + m) / 2 * np.log(m + n * z) - sp.betaln(n / 2, m / 2)


LAWS: dict[type, Law] = {
    type(st.norm): Law(
        _normal,
        share=sp.ndtr,
        log_share=sp.log_ndtr,
        rest=lambda z: sp.ndtr(-z),
        log_rest=lambda z: sp.log_ndtr(-z),
        quantile=sp.ndtri,
        from_above=lambda q: -sp.ndtri(q),
    ),
    type(st.lognorm): Law(
        lambda z, s: np.square(np.log(z) / s) * -0.5 - np.log(s * z * SQRT_2PI),
        share=lambda z, s: sp.ndtr(np.log(z) / s),
        log_share=lambda z, s: sp.log_ndtr(np.log(z) / s),
        rest=lambda z, s: sp.ndtr(-np.log(z) / s),
        log_rest=lambda z, s: sp.log_ndtr(-np.log(z) / s),
        quantile=lambda q, s: np.exp(s * sp.ndtri(q)),
        from_above=lambda q, s: np.exp(-s * sp.ndtri(q)),
        open=True,
    ),
    type(st.halfnorm): Law(
        lambda z: np.square(z) * -0.5 + math.log(2 / math.pi) / 2,
        share=lambda z: sp.erf(z * math.sqrt(0.5)),
        rest=lambda z: 2 * sp.ndtr(-z),
        quantile=lambda q: sp.ndtri((1 + q) * 0.5),
        from_above=lambda q: -sp.ndtri(q * 0.5),
    ),
    type(st.truncnorm): Law(
        lambda z, a, b: _normal(z) - _log_mass(a, b),
        support=lambda a, b: (a, b),
        middle=0.0,
        valid=lambda a, b: np.less(a, b),
    ),
    type(st.expon): Law(
        lambda z: -z,
        share=lambda z: -np.expm1(-z),
        log_share=lambda z: np.log(-np.expm1(-z)),
        rest=lambda z: np.exp(-z),
        log_rest=lambda z: -z,
        quantile=lambda q: -np.log1p(-q),
        from_above=lambda q: -np.log(q),
    ),
    type(st.gamma): Law(
        lambda z, a: sp.xlogy(a - 1, z) - z - sp.gammaln(a),
        share=lambda z, a: sp.gammainc(a, z),
        rest=lambda z, a: sp.gammaincc(a, z),
        quantile=lambda q, a: sp.gammaincinv(a, q),
        from_above=lambda q, a: sp.gammainccinv(a, q),
        edge=lambda z, a: np.power(z, a - 1) * np.exp(-z - sp.gammaln(a)),
    ),
    type(st.chi2): Law(
        lambda z, df: sp.xlogy(df / 2 - 1, z) - z / 2 - sp.gammaln(df / 2) - df * (LOG_2 / 2),
        share=lambda z, df: sp.gammainc(df / 2, z / 2),
        rest=lambda z, df: sp.gammaincc(df / 2, z / 2),
        quantile=lambda q, df: 2 * sp.gammaincinv(df / 2, q),
        from_above=lambda q, df: 2 * sp.gammainccinv(df / 2, q),
        edge=lambda z, df: np.power(z, df / 2 - 1) * np.exp(-z / 2 - sp.gammaln(df / 2) - df * (LOG_2 / 2)),
    ),
    type(st.invgamma): Law(
        lambda z, a: -(a + 1) * np.log(z) - sp.gammaln(a) - 1 / z,
        share=lambda z, a: sp.gammaincc(a, 1 / z),
        rest=lambda z, a: sp.gammainc(a, 1 / z),
        quantile=lambda q, a: 1 / sp.gammainccinv(a, q),
        from_above=lambda q, a: 1 / sp.gammaincinv(a, q),
        open=True,
    ),
    type(st.beta): Law(
        lambda z, a, b: sp.xlog1py(b - 1, -z) + sp.xlogy(a - 1, z) - sp.betaln(a, b),
        share=lambda z, a, b: sp.betainc(a, b, z),
        rest=lambda z, a, b: sp.betaincc(a, b, z),
        quantile=lambda q, a, b: sp.betaincinv(a, b, q),
        edge=lambda z, a, b: np.power(z, a - 1) * np.power(1 - z, b - 1) / sp.beta(a, b),
    ),
    type(st.t): Law(
        _student,
        share=lambda z, df: sp.stdtr(df, z),
        rest=lambda z, df: sp.stdtr(df, -z),
        quantile=lambda q, df: sp.stdtrit(df, q),
        from_above=lambda q, df: -sp.stdtrit(df, q),
    ),
    type(st.f): Law(_f),
    type(st.cauchy): Law(
        lambda z: -math.log(math.pi) - np.log1p(np.square(z)),
        share=lambda z: np.arctan2(1, -z) / math.pi,
        rest=lambda z: np.arctan2(1, z) / math.pi,
        quantile=lambda q: np.tan(math.pi * (q - 0.5)),
        from_above=lambda q: np.tan(math.pi * (0.5 - q)),
    ),
    type(st.laplace): Law(
        lambda z: -np.abs(z) - LOG_2,
        share=_laplace_share,
        rest=lambda z: _laplace_share(-z),
        quantile=_laplace_quantile,
        from_above=lambda q: -_laplace_quantile(q),
    ),
    type(st.logistic): Law(
        lambda z: sp.log_expit(z) + sp.log_expit(-z),  # smooth at 0, as |z| is not
        share=sp.expit,
        log_share=sp.log_expit,
        rest=lambda z: sp.expit(-z),
        log_rest=lambda z: sp.log_expit(-z),
        quantile=sp.logit,
        from_above=lambda q: -sp.logit(q),
    ),
    type(st.uniform): Law(
        lambda z: 0 * z,
        share=lambda z: z,
        rest=lambda z: 1 - z,
        quantile=lambda q: q,
        from_above=lambda q: 1 - q,
    ),
    type(st.pareto): Law(
        lambda z, b: np.log(b) - (b + 1) * np.log(z),
        share=lambda z, b: 1 - np.power(z, -b),
        rest=lambda z, b: np.power(z, -b),
        log_rest=lambda z, b: -b * np.log(z),
        quantile=lambda q, b: np.power(1 - q, -1 / b),
        from_above=lambda q, b: np.power(q, -1 / b),
        middle=2.0,
    ),
    type(st.weibull_min): Law(
        lambda z, c: np.log(c) + sp.xlogy(c - 1, z) - np.power(z, c),
        share=lambda z, c: -np.expm1(-np.power(z, c)),
        rest=lambda z, c: np.exp(-np.power(z, c)),
        log_rest=lambda z, c: -np.power(z, c),
        quantile=lambda q, c: np.power(-np.log1p(-q), 1 / c),
        from_above=lambda q, c: np.power(-np.log(q), 1 / c),
        edge=lambda z, c: c * np.power(z, c - 1) * np.exp(-np.power(z, c)),
    ),
    type(st.rayleigh): Law(
        lambda z: sp.xlogy(1.0, z) - np.square(z) * 0.5,
        share=lambda z: -np.expm1(np.square(z) * -0.5),
        rest=lambda z: np.exp(np.square(z) * -0.5),
        log_rest=lambda z: np.square(z) * -0.5,
        quantile=lambda q: np.sqrt(-2 * np.log1p(-q)),
        edge=lambda z: z * np.exp(np.square(z) * -0.5),
    ),
    type(st.gumbel_r): Law(
        lambda z: -z - np.exp(-z),
        share=lambda z: np.exp(-np.exp(-z)),
        log_share=lambda z: -np.exp(-z),
        rest=lambda z: -np.expm1(-np.exp(-z)),
        quantile=lambda q: -np.log(-np.log(q)),
        from_above=lambda q: -np.log(-np.log1p(-q)),
    ),
    type(st.gumbel_l): Law(
        lambda z: z - np.exp(z),
        share=lambda z: -np.expm1(-np.exp(z)),
        rest=lambda z: np.exp(-np.exp(z)),
        log_rest=lambda z: -np.exp(z),
        quantile=lambda q: np.log(-np.log1p(-q)),
    ),
    type(st.halfcauchy): Law(
        lambda z: math.log(2 / math.pi) - np.log1p(np.square(z)),
        share=lambda z: 2 / math.pi * np.arctan(z),
        quantile=lambda q: np.tan(math.pi / 2 * q),
    ),
    # ------------------------------------------------------------------ of whole numbers
    type(st.poisson): Law(
        lambda k, mu: sp.xlogy(k, mu) - sp.gammaln(k + 1) - mu,
        share=lambda k, mu: sp.gammaincc(k + 1, mu),
        rest=lambda k, mu: sp.gammainc(k + 1, mu),
        edge=lambda k, mu: np.power(mu, k) * np.exp(-mu - sp.gammaln(k + 1)),
        middle=0.0,
        valid=lambda mu: np.greater_equal(mu, 0),
    ),
    type(st.bernoulli): Law(
        lambda k, p: sp.xlogy(k, p) + sp.xlog1py(1 - k, -p),
        edge=lambda k, p: np.where(np.equal(k, 1), p, 1 - p),
        middle=0.0,
        valid=lambda p: _share(p),
    ),
    type(st.binom): Law(
        lambda k, n, p: (
            sp.gammaln(n + 1) - sp.gammaln(k + 1) - sp.gammaln(n - k + 1) + sp.xlogy(k, p) + sp.xlog1py(n - k, -p)
        ),
        edge=lambda k, n, p: sp.binom(n, k) * np.power(p, k) * np.power(1 - p, n - k),
        middle=0.0,
        support=lambda n, p: (0, n),
        valid=lambda n, p: np.logical_and(_share(p), _count(n)),
    ),
    type(st.geom): Law(
        lambda k, p: sp.xlog1py(k - 1, -p) + np.log(p),
        share=lambda k, p: -np.expm1(sp.xlog1py(k, -p)),
        rest=lambda k, p: np.exp(sp.xlog1py(k, -p)),
        log_rest=lambda k, p: sp.xlog1py(k, -p),
        edge=lambda k, p: np.power(1 - p, k - 1) * p,
        middle=1.0,
        valid=lambda p: np.logical_and(np.greater(p, 0), np.less_equal(p, 1)),
    ),
    type(st.nbinom): Law(
        lambda k, n, p: sp.gammaln(n + k) - sp.gammaln(k + 1) - sp.gammaln(n) + sp.xlogy(n, p) + sp.xlog1py(k, -p),
        edge=lambda k, n, p: sp.binom(n + k - 1, k) * np.power(p, n) * np.power(1 - p, k),
        middle=0.0,
        valid=lambda n, p: np.logical_and(np.greater(n, 0), np.logical_and(np.greater(p, 0), np.less_equal(p, 1))),
    ),
}
"""The laws by the class of SciPy's distribution; that of a subclass is another."""


def _share(p: Any) -> Any:
    return np.logical_and(np.greater_equal(p, 0), np.less_equal(p, 1))


def _count(n: Any) -> Any:
    return np.logical_and(np.greater_equal(n, 0), np.equal(n, np.floor(n)))
