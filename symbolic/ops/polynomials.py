"""Which functions of NumPy are short formulas of powers and products? Polynomials, scales of powers, covariances."""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import refuse
from symbolic.literal import as_layer
from symbolic.ops.binding import implements
from symbolic.ops.operation import static
from symbolic.ops.passing import Cast

# --------------------------------------------------------------------------- polynomials


@implements(np.polyval, operands="polynomial")
def polyval(p: Any, x: Any) -> Any:
    coefficients: Any = as_layer(p)
    places: Any = as_layer(x)
    value = np.zeros_like(places)
    for k in range(coefficients.shape[0]):
        value = value * places + coefficients[k]
    return value


@implements(np.vander, operands="vector", samples=({}, {"N": 4}, {"N": 3, "increasing": True}, {"N": 1}))
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    places: Any = as_layer(x)
    if places.ndim != 1:
        refuse(f"np.vander of an array of {places.ndim} axes", "give a vector", ShapeError)
    count = places.shape[0] if N is None else int(static(N, "N of np.vander"))
    if count < 0:
        refuse(f"np.vander with N={count}", "give how many columns: 0 or more", ShapeError)
    places = Cast(places, to=np.promote_types(places.dtype, int))
    columns: list[Any] = [np.ones_like(places)]
    for _ in range(count - 1):
        columns.append(columns[-1] * places)
    if count == 0:
        return np.expand_dims(places, 1)[:, :0]
    return np.stack(columns if increasing else columns[::-1], axis=1)


@implements(np.polyfit, operands="fit", samples=({"deg": 1}, {"deg": 2}))
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, w: Any = None) -> Any:
    """The coefficients of the polynomial that comes nearest, by least squares."""
    places, values = (as_layer(one) + 0.0 for one in (x, y))
    degree = int(static(deg, "deg of np.polyfit"))
    if rcond is None:
        rcond = float(places.shape[0] * np.finfo(places.dtype).eps)
    powers = np.vander(places, degree + 1)
    if w is not None:
        weights = as_layer(w) + 0.0
        powers = powers * np.expand_dims(weights, 1)
        values = values * (weights if values.ndim == 1 else np.expand_dims(weights, 1))
    sizes = np.sqrt(np.sum(powers * powers, axis=0))
    found = np.linalg.lstsq(powers / sizes, values, rcond)[0]
    return found / (sizes if values.ndim == 1 else np.expand_dims(sizes, 1))


# --------------------------------------------------------------------------- scales


@implements(np.logspace, operands="numbers", samples=({"num": 5}, {"num": 4, "endpoint": False, "base": 2.0}))
def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    base = base if np.ndim(base) == 0 else np.expand_dims(as_layer(base), axis)
    powers = np.power(base, np.linspace(as_layer(start), as_layer(stop), num, endpoint, axis=axis))
    return powers if dtype is None else np.astype(powers, np.dtype(dtype))


@implements(np.geomspace, operands="numbers", domain="positive", samples=({"num": 5}, {"num": 4, "endpoint": False}))
def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """From the one to the other by equal factors; both of one sign."""
    first, last = _wide(start), _wide(stop)
    places = np.linspace(np.zeros_like(first - last), np.ones_like(first - last), num, endpoint, axis=axis)
    found = np.expand_dims(first, axis) * np.power(np.expand_dims(last / first, axis), places)
    return found if dtype is None else np.astype(found, np.dtype(dtype))


def _wide(x: Any) -> Any:
    """In double precision at least."""
    layer: Any = as_layer(x)
    return Cast(layer, to=np.result_type(layer.dtype, np.float64))


# --------------------------------------------------------------------------- covariances


@implements(np.cov, operands="observations", samples=({}, {"rowvar": False}, {"bias": True}, {"ddof": 0}))
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Any:
    """Of the rows (or the columns): the mean product of what is left when each mean is taken off."""
    rows = _rows(_wide(m) if dtype is None else Cast(m, to=np.dtype(dtype)), rowvar)
    if y is not None:
        rows = np.concatenate([rows, _rows(_wide(y), rowvar)], axis=0)
    less = int(static(ddof, "ddof of np.cov")) if ddof is not None else 0 if bias else 1
    if fweights is not None or aweights is not None:
        return _weighted_cov(rows, fweights, aweights, less)
    count = rows.shape[1]
    if count <= less:
        refuse(f"np.cov of {count} observations with ddof={less}", "give more observations", ShapeError)
    rest = rows - np.mean(rows, axis=1, keepdims=True)
    return np.squeeze(np.matmul(rest, np.conjugate(np.transpose(rest))) * (1 / (count - less)))


def _weighted_cov(rows: Any, fweights: Any, aweights: Any, ddof: int) -> Any:
    """Observations that count several times (`fweights`), or by their importance (`aweights`)."""
    times: Any = 1.0 if fweights is None else as_layer(fweights)
    weights = times if aweights is None else as_layer(aweights) * times
    total = np.sum(weights)
    if ddof == 0:
        freedom = total
    else:
        spread = 1.0 if aweights is None else np.sum(weights * as_layer(aweights)) / total
        freedom = total - ddof * spread
    rest = rows - np.expand_dims(np.sum(rows * weights, axis=1) / total, 1)
    products = np.matmul(rest, np.conjugate(np.transpose(rest * weights)))
    return np.squeeze(np.astype(products / freedom, rows.dtype))


def _rows(x: Any, rowvar: bool) -> Any:
    if x.ndim > 2:
        refuse(f"np.cov of an array of {x.ndim} axes", "give a matrix whose rows are the variables", ShapeError)
    return np.atleast_2d(x) if rowvar or x.ndim < 2 else np.transpose(x)


@implements(np.corrcoef, operands="observations", samples=({}, {"rowvar": False}))
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Any:
    found = cov(x, y, rowvar, dtype=dtype)
    if found.ndim == 0:
        return found / found
    size = np.sqrt(np.real(np.diagonal(found)))
    ratio = found / np.expand_dims(size, 1) / np.expand_dims(size, 0)
    return ratio if ratio.dtype.kind == "c" else np.clip(ratio, -1, 1)
