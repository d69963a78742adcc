"""What are averages, medians and quantiles, with and without the entries that are NaN?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from symbolic.layer import AnyLayer, Layer, refuse
from symbolic.literal import as_layer
from symbolic.ops.binding import implements
from symbolic.ops.families import Reduction
from symbolic.ops.operation import Operation, array
from symbolic.spec import AnySpec, Spec, normalize_axes, normalize_axis, product, reduced

# --------------------------------------------------------------------------- quantiles

_PLACES: dict[str, tuple[float, float]] = {
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "inverted_cdf": (0.0, 1.0),
    "averaged_inverted_cdf": (0.0, 1.0),
}
"""α and β of the place q·n + α + q·(1 - α - β) - 1 (Hyndman and Fan, 1996); the other methods have q·(n - 1)."""

_FRACTIONS: dict[str, Callable[[Any], Any]] = {
    "linear": lambda place: place - np.floor(place),
    "lower": lambda place: np.zeros_like(place),
    "higher": lambda place: np.ceil(place) - np.floor(place),
    "midpoint": lambda place: (np.ceil(place) - np.floor(place)) / 2,
    "nearest": lambda place: np.rint(place) - np.floor(place),
}
"""How much of the upper neighbour counts, by the name of NumPy's method."""
_FRACTIONS |= dict.fromkeys(("hazen", "weibull", "median_unbiased", "normal_unbiased"), _FRACTIONS["linear"])
_FRACTIONS["interpolated_inverted_cdf"] = _FRACTIONS["linear"]
_FRACTIONS["inverted_cdf"] = _FRACTIONS["higher"]
_FRACTIONS["averaged_inverted_cdf"] = lambda place: np.where(place == np.floor(place), 0.5, 1.0)


class Quantile(Reduction):
    """The value below which the part `q` of the entries stands."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.quantile,)
    defaults: ClassVar[Any] = {"axis": None, "keepdims": False, "q": 0.5, "method": "linear", "strong": False}
    domain = "distinct"
    aside: ClassVar[bool] = False  # leave NaN out

    def result_dtype(self, spec: Spec) -> Any:
        return None if spec.dtype is None else _quantile_dtype(self.functions[0], spec.dtype, self._q(), self.method)

    def _q(self) -> Any:
        """A list of q, unlike a number, is an array of double precision to NumPy."""
        return (self.q,) if self.strong else self.q

    def evaluate(self, *values: Any) -> Any:
        out = self.functions[0](values[0], self._q(), self.axis, method=self.method, keepdims=self.keepdims)
        if self.strong and not out.size:  # the nanquantile of nothing forgets how many quantiles were asked for
            return np.full(reduced(np.shape(values[0]), self.axis, self.keepdims), np.nan, out.dtype)
        return out[0] if self.strong else out

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        (x,) = operands
        weights = Weights(x, axis=self.axis, q=self.q, method=self.method, aside=self.aside)
        return (self.spread(delta, x) * weights,)


@lru_cache(maxsize=256)
def _quantile_dtype(function: Callable[..., Any], dtype: np.dtype[Any], q: Any, method: str) -> np.dtype[Any]:
    return np.asarray(function(np.ones((1,), dtype), q, method=method)).dtype


class Nanquantile(Quantile):
    """The same of the entries that are numbers."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.nanquantile,)
    aside = True


class Median(Reduction, numpy=np.median):
    """The entry in the middle, or the mean of the two that are."""

    __slots__ = ()
    domain = "distinct"

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (self.spread(delta, operands[0]) * Weights(operands[0], axis=self.axis),)

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        """In the middle of the sorted entries, of which the last is NaN if any is: the way back sorts them, too."""
        out, rows = array(self.infer(*specs)), _rows(self.operands[0], array(specs[0]), self.axis)
        if rows is None:
            return None
        size, order = rows.shape[-1], np.sort(rows, -1)
        lower, upper, last = (order[..., k : k + 1] for k in ((size - 1) // 2, size // 2, size - 1))
        middle = lower if size % 2 else (lower + upper) / 2
        found = as_layer(np.where(np.isnan(last), last, middle)).reshape(out.shape)
        return found if out.shape else found[()]


class Nanmedian(Reduction, numpy=np.nanmedian):
    """The median of the entries that are numbers."""

    __slots__ = ()
    domain = "distinct"

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (self.spread(delta, operands[0]) * Weights(operands[0], axis=self.axis, aside=True),)


class Weights(Operation):
    """How much each entry counts in a quantile; entries that tie count equally."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": None, "q": 0.5, "method": "linear", "aside": False}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[0]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        x = np.asarray(values[0])
        axes = normalize_axes(self.axis, x.ndim)
        if not x.size:
            return np.zeros_like(x)
        last = tuple(range(-len(axes), 0))
        moved = np.moveaxis(x, axes, last)
        rows = moved.reshape(*moved.shape[: x.ndim - len(axes)], -1)
        weights = self.of_rows(rows).astype(x.dtype).reshape(moved.shape)
        return np.moveaxis(weights, last, axes)[()]

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        """The same with a count that is known, where NaN stands last among the others."""
        spec = array(specs[0])
        rows = None if self.aside else _rows(self.operands[0], spec, self.axis)
        if rows is None:
            return None
        place, lower, upper = self._between(np.asarray(rows.shape[-1]))
        order, part = np.sort(rows, -1), float(_FRACTIONS[self.method](place))
        shares = [_shares(rows, order[..., k : k + 1]) for k in (int(lower), int(upper))]
        weights = shares[0] if part == 0 else shares[1] if part == 1 else (1 - part) * shares[0] + part * shares[1]
        axes = normalize_axes(self.axis, len(spec.shape or ()))
        last = tuple(range(-len(axes), 0))
        moved = as_layer(weights).astype(spec.dtype).reshape(_moved(spec.shape or (), axes))
        return as_layer(np.moveaxis(moved, last, axes))

    def _between(self, count: Any) -> tuple[Any, Any, Any]:
        """Where the quantile is among so many entries, rounded as NumPy rounds it, and the places of its neighbours."""
        if self.method in _PLACES:
            alpha, beta = _PLACES[self.method]
            place = count * self.q + (alpha + self.q * (1 - alpha - beta)) - 1
        else:
            place = (count - 1) * self.q
        place = np.clip(place, 0, np.maximum(count - 1, 0))
        lower = np.floor(place).astype(int)
        return place, lower, np.minimum(lower + 1, np.maximum(count - 1, 0))

    def of_rows(self, rows: Any) -> Any:
        count = np.sum(~np.isnan(rows) | (not self.aside), -1, keepdims=True)
        place, lower, upper = self._between(count)
        part = _FRACTIONS[self.method](place)
        order = np.sort(rows, -1)
        shares = [_shares(rows, np.take_along_axis(order, index, -1)) for index in (lower, upper)]
        return (1 - part) * shares[0] + part * shares[1]

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,)


_FEW = 4096
"""Entries up to which all are sorted, in the open, though a few of them would do."""


def _rows(operand: Any, spec: Spec, axis: Any) -> Any:
    """The entries in rows, each of which has one median; `None` where they are many, or no usual numbers."""
    if not spec.known or not spec.shape or spec.dtype not in (np.dtype(np.float64), np.dtype(np.float32)):
        return None
    axes = normalize_axes(axis, len(spec.shape))
    if not axes or not 0 < (product(spec.shape[k] for k in axes) or 0) <= _FEW or 0 in spec.shape:
        return None
    moved = np.moveaxis(operand, axes, tuple(range(-len(axes), 0)))
    kept = _moved(spec.shape, axes)[: len(spec.shape) - len(axes)]
    return as_layer(moved).reshape((*kept, product(spec.shape[k] for k in axes)))


def _moved(shape: Any, axes: Sequence[int]) -> tuple[Any, ...]:
    return (*[n for k, n in enumerate(shape) if k not in axes], *[shape[k] for k in axes])


def _shares(rows: Any, value: Any) -> Any:
    same = rows == value
    return same / np.maximum(np.sum(same, -1, keepdims=True), 1)


@implements(np.quantile, domain="distinct", samples=[{"q": 0.3}, {"q": [0.25, 0.9], "axis": 0}])
def quantile(a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    return _at_each(Quantile, a, q, axis, method, keepdims)


@implements(np.nanquantile, domain="distinct", samples=[{"q": 0.3}, {"q": [0.25, 0.9], "axis": 0}])
def nanquantile(a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    return _at_each(Nanquantile, a, q, axis, method, keepdims)


@implements(np.percentile, domain="distinct", samples=[{"q": 30.0}, {"q": [25, 90], "axis": 0}])
def percentile(a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    return _at_each(Quantile, a, np.divide(q, 100), axis, method, keepdims)


@implements(np.nanpercentile, domain="distinct", samples=[{"q": 30.0}, {"q": [25, 90], "axis": 0}])
def nanpercentile(a: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False) -> Any:
    return _at_each(Nanquantile, a, np.divide(q, 100), axis, method, keepdims)


def _at_each(cls: type[Quantile], a: Any, q: Any, axis: Any, method: str, keepdims: bool) -> Any:
    if isinstance(q, Layer):
        refuse("a traced value as the q of a quantile", "make q a number; by q there is no gradient")
    if method not in _FRACTIONS:
        refuse(f"method={method!r} of a quantile", f"use one of {', '.join(_FRACTIONS)}")
    if np.ndim(q) == 0:
        return cls(a, axis=axis, keepdims=keepdims, q=float(q), method=method)
    return _stacked(cls, a, np.asarray(q, dtype=float), axis, method, keepdims)


def _stacked(cls: type[Quantile], a: Any, q: Any, axis: Any, method: str, keepdims: bool) -> Any:
    if np.ndim(q) == 0:
        return cls(a, axis=axis, keepdims=keepdims, q=float(q), method=method, strong=True)
    return np.stack([_stacked(cls, a, one, axis, method, keepdims) for one in q])


# --------------------------------------------------------------------------- averages


@implements(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Any:
    """The mean, each entry by its weight; weights of one dimension stand along `axis`."""
    if weights is None:
        found = np.mean(a, axis, keepdims=keepdims)
        return (found, np.sum(np.ones_like(a, dtype=found.dtype), axis, keepdims=keepdims)) if returned else found
    a, weights = as_layer(a), as_layer(weights)  # lists, of traced values too
    if np.ndim(weights) == 1 and np.ndim(a) != 1:
        ndim = np.ndim(a)
        (along,) = normalize_axes(axis, ndim)
        weights = np.expand_dims(weights, tuple(k for k in range(ndim) if k != along))
    total = np.sum(np.multiply(a, weights), axis, keepdims=keepdims)
    sums = np.sum(np.multiply(weights, np.ones_like(a, dtype=bool)), axis, keepdims=keepdims)
    return (total / sums, np.astype(sums, total.dtype)) if returned else total / sums


@implements(np.nansum)
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    return np.sum(np.where(np.isnan(a), 0, a), axis, dtype, keepdims=keepdims, initial=initial, where=where)


@implements(np.nanprod)
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    return np.prod(np.where(np.isnan(a), 1, a), axis, dtype, keepdims=keepdims, initial=initial, where=where)


@implements(np.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    return np.cumsum(np.where(np.isnan(a), 0, a), axis, dtype)


@implements(np.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    return np.cumprod(np.where(np.isnan(a), 1, a), axis, dtype)


@implements(np.nanmean)
def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, where: Any = True) -> Any:
    return np.mean(a, axis, dtype, keepdims=keepdims, where=_numbers(a, where))


def _numbers(a: Any, where: Any) -> Any:
    """Where there are numbers, of what is asked for."""
    numbers = np.logical_not(np.isnan(a))
    return numbers if where is True else np.logical_and(numbers, where)


def _of_enough(spread: Any, a: Any, axis: Any, keepdims: bool, holds: Any, ddof: Any) -> Any:
    """NaN where no more numbers are left than `ddof`; of whole numbers, none of which is NaN, NumPy divides by 0."""
    if as_layer(a).dtype.kind not in "fc":
        return spread
    count = np.sum(np.ones_like(a, dtype=bool), axis, where=holds, keepdims=keepdims)
    return np.where(np.greater(count, ddof), spread, np.nan)[()]


@implements(np.nanvar)
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    holds = _numbers(a, where)
    found = np.var(a, axis, dtype, None, ddof, keepdims, where=holds, mean=mean, correction=correction)
    return _of_enough(found, a, axis, keepdims, holds, ddof if correction is None else correction)


@implements(np.nanstd)
def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    holds = _numbers(a, where)
    found = np.std(a, axis, dtype, None, ddof, keepdims, where=holds, mean=mean, correction=correction)
    return _of_enough(found, a, axis, keepdims, holds, ddof if correction is None else correction)


@implements(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral along an axis, by straight lines between the points."""
    y = as_layer(y)
    ndim = y.ndim
    along = normalize_axis(axis, ndim)
    later, earlier = [(slice(None),) * along + (part,) for part in (slice(1, None), slice(None, -1))]
    x = None if x is None else as_layer(x)
    if x is None:
        width = dx
    elif np.ndim(x) == 1:
        width = np.expand_dims(x[1:] - x[:-1], tuple(range(1, ndim - along)))
    else:
        width = x[later] - x[earlier]
    return np.sum(width * (y[later] + y[earlier]) / 2, axis)
