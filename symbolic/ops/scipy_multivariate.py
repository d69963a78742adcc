"""What are the log-densities of vectors: the normal, Dirichlet's, the multinomial?"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import numpy as np
import scipy.special as sp
import scipy.stats as st

from symbolic.callees import BOUND
from symbolic.errors import DtypeError, ShapeError
from symbolic.layer import refuse
from symbolic.literal import as_layer
from symbolic.ops.foreign import refusal
from symbolic.ops.operation import static
from symbolic.spec import show


def normal(x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
    """The last axis of x is the vector; `cov` a number, the variances, or a positive definite matrix."""
    if static(allow_singular, "allow_singular of scipy.stats.multivariate_normal"):
        refuse("multivariate_normal with allow_singular=True", "add a small diagonal to cov instead", DtypeError)
    covariance: Any = _double(cov)
    if covariance.ndim > 2:
        refuse(f"a cov of shape {show(covariance.shape)}", "give a number, a vector or one matrix", ShapeError)
    size = covariance.shape[0] if mean is None and covariance.ndim == 2 else 1
    center: Any = _double(np.zeros(size) if mean is None else mean)
    center = np.ravel(center)
    size = center.shape[0]
    misfit = _vectors(_double(x), size) - center
    factor = np.linalg.cholesky(_matrix(covariance, size))
    whitened = np.linalg.solve(factor, np.swapaxes(np.reshape(misfit, (-1, size)), 0, 1))
    squares = np.reshape(np.sum(np.square(whitened), axis=0), misfit.shape[:-1])
    volume = 2 * np.sum(np.log(np.diagonal(factor)))
    return _squeezed((squares + volume + size * math.log(2 * math.pi)) * -0.5)


def _double(value: Any) -> Any:
    return as_layer(np.multiply(value, np.float64(1)) if not isinstance(value, list) else np.asarray(value, float))


def _vectors(x: Any, size: int) -> Any:
    if x.ndim == 0:
        return np.reshape(x, (1,))
    if x.ndim == 1:
        return x[:, np.newaxis] if size == 1 else x[np.newaxis, :]
    return x


def _matrix(cov: Any, size: int) -> Any:
    if size == 1:
        return np.reshape(cov, (1, 1))
    if cov.ndim == 0:
        return cov * np.eye(size)
    if cov.ndim == 1:
        return np.diag(cov)
    if cov.shape != (size, size):
        refuse(
            f"a cov of shape {show(cov.shape)} for vectors of {size}", "give a square matrix of their size", ShapeError
        )
    return cov


def _squeezed(value: Any) -> Any:
    return np.squeeze(value)


def dirichlet(x: Any, alpha: Any) -> Any:
    """Axis 0 of x is the vector of shares, which may leave out the last; that they are shares is not checked."""
    shares, weights = _double(x), _double(alpha)
    if shares.shape[0] == weights.shape[0] - 1:
        shares = np.concatenate([shares, 1 - np.sum(shares, axis=0, keepdims=True)])
    if weights.ndim != 1 or shares.ndim not in (1, 2) or shares.shape[0] != weights.shape[0]:
        seen = f"scipy.stats.dirichlet of shapes {show(shares.shape)} and {show(weights.shape)}"
        refuse(seen, "axis 0 of x has one entry for each of alpha, or one less", ShapeError)
    weights_ = weights if shares.ndim == 1 else weights[:, np.newaxis]
    volume = np.sum(sp.gammaln(weights)) - sp.gammaln(np.sum(weights))
    return _squeezed(np.sum(sp.xlogy(weights_ - 1, shares), axis=0) - volume)


def multinomial(x: Any, n: Any, p: Any) -> Any:
    """The last axis of x and p is the vector; shares that do not add up to 1 give NaN."""
    counts, shares = _double(x), _double(p)
    wrong = np.any(np.logical_or(np.less(shares, 0), np.greater(shares, 1)), axis=-1)
    wrong = np.logical_or(wrong, np.greater(np.abs(np.sum(shares, axis=-1) - 1), 1e-14 * 8))
    whole = np.logical_and(np.greater_equal(counts, 0), np.equal(counts, np.floor(counts)))
    outside = np.logical_or(np.any(np.logical_not(whole), axis=-1), np.not_equal(np.sum(counts, axis=-1), n))
    kept = np.where(whole, counts, 0)
    terms = sp.xlogy(kept, shares) - sp.gammaln(kept + 1)
    value = sp.gammaln(np.add(n, np.float64(1))) + np.sum(terms, axis=-1)
    return np.where(wrong, np.nan, np.where(outside, -np.inf, value))


LAWS: dict[type, tuple[Callable[..., Any], str]] = {
    type(st.multivariate_normal): (normal, "pdf"),
    type(st.dirichlet): (dirichlet, "pdf"),
    type(st.multinomial): (multinomial, "pmf"),
}


class FrozenVector:
    """A distribution of vectors with traced parameters."""

    dist: Any
    args: tuple[Any, ...]
    kwds: dict[str, Any]

    def __init__(self, dist: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.dist, self.args, self.kwds = dist, args, kwargs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("dist", "args", "kwds"):  # asked before there is anything, by a copy
            raise AttributeError(name)
        formula, kind = LAWS[type(self.dist)]
        if name.removeprefix("log") != kind:
            _refuse(self.dist, name)
        called = partial(_of_point, formula, self.args, self.kwds)
        return called if name.startswith("log") else lambda x: np.exp(called(x))


def _of_point(formula: Callable[..., Any], args: Any, kwargs: Any, x: Any) -> Any:
    return formula(x, *args, **kwargs)


def _refuse(dist: Any, name: str) -> NoReturn:
    raise refusal(getattr(dist, name))


def _bind(kind: type, formula: Callable[..., Any], name: str) -> None:
    BOUND[kind, f"log{name}"] = lambda args, kwargs: formula(*args[1:], **kwargs)
    BOUND[kind, name] = lambda args, kwargs: np.exp(formula(*args[1:], **kwargs))
    BOUND[kind, "__call__"] = lambda args, kwargs: FrozenVector(args[0], args[1:], kwargs)


def _bind_frozen(frozen: Any, formula: Callable[..., Any], name: str, parameters: Callable[[Any], Any]) -> None:
    BOUND[type(frozen), f"log{name}"] = lambda args, kwargs: formula(*args[1:], **kwargs, **parameters(args[0]))
    BOUND[type(frozen), name] = lambda args, kwargs: np.exp(formula(*args[1:], **kwargs, **parameters(args[0])))


for _kind, (_formula, _suffix) in LAWS.items():
    _bind(_kind, _formula, _suffix)
_bind_frozen(
    st.multivariate_normal([0.0, 0.0]), normal, "pdf", lambda one: {"mean": one.mean, "cov": one.cov_object.covariance}
)
_bind_frozen(st.dirichlet([1.0, 1.0]), dirichlet, "pdf", lambda one: {"alpha": one.alpha})
_bind_frozen(st.multinomial(1, [1.0]), multinomial, "pmf", lambda one: {"n": one.n, "p": one.p})
