"""What is computed from samples in a row? Differences, slopes, values between the samples, sums by number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import DtypeError, ShapeError
from symbolic.layer import refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import entry, ints, plain
from symbolic.ops.binding import Kernel, implements
from symbolic.ops.deltas import SizeOf
from symbolic.ops.families import Unary
from symbolic.ops.operation import Operation, array, static
from symbolic.ops.passing import Cast
from symbolic.spec import AnySpec, Spec, dtype_by_trial, normalize_axes, normalize_axis

# --------------------------------------------------------------------------- differences


@implements(np.diff, samples=({}, {"n": 2, "axis": 0}, {"prepend": 1.5, "append": 0.5}, {"n": 0}))
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = np._NoValue, append: Any = np._NoValue) -> Any:
    operand: Any = as_layer(a)
    n, axis = int(static(n, "n of np.diff")), ints(axis, "axis of np.diff")
    if n < 0:
        refuse(f"np.diff with n={n}", "give how often to take differences: 0 or more", ShapeError)
    if n == 0:
        return operand
    if operand.ndim == 0:
        refuse("np.diff of a 0-d array", "give an array of at least one axis", ShapeError)
    axis = normalize_axis(axis, operand.ndim)
    before, behind = (_end(one, operand, axis) for one in (prepend, append))
    operand = _joined([before, operand, behind], axis)
    minus = np.not_equal if operand.dtype == bool else np.subtract
    for _ in range(n):
        operand = minus(operand[entry(slice(1, None), axis)], operand[entry(slice(None, -1), axis)])
    return operand


def _joined(parts: list[Any], axis: int) -> Any:
    """The parts that are there, as one array."""
    whole = [one for one in parts if one is not None]
    return np.concatenate(whole, axis) if len(whole) > 1 else whole[0]


def _end(value: Any, operand: Any, axis: int) -> Any:
    """What stands before or behind: a number stands along the whole of the other axes."""
    if value is np._NoValue:
        return None
    layer: Any = as_layer(value)
    if layer.ndim:
        return layer
    return np.broadcast_to(layer, (*operand.shape[:axis], 1, *operand.shape[axis + 1 :]))


@implements(np.ediff1d, samples=({}, {"to_end": 2.5, "to_begin": [1.5, 0.5]}))
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    flat: Any = np.ravel(as_layer(ary))
    before, behind = (None if one is None else _as(np.ravel(as_layer(one)), flat.dtype) for one in (to_begin, to_end))
    return _joined([before, flat[1:] - flat[:-1], behind], 0)


def _as(values: Any, dtype: np.dtype[Any]) -> Any:
    """The dtype is that of the array; no number may lose by that more than digits."""
    if not np.can_cast(values.dtype, dtype, casting="same_kind"):
        raise DtypeError(f"np.ediff1d of {dtype} with an end of {values.dtype}", remedy="give the ends in its dtype")
    return Cast(values, to=dtype)


# --------------------------------------------------------------------------- slopes


@implements(np.gradient, operands="grid", samples=({}, {"axis": 0}, {"edge_order": 2, "axis": (-1,)}))
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Slopes by central differences, one-sided at the ends; along several axes, a tuple."""
    operand: Any = as_layer(f)
    axes = normalize_axes(ints(axis, "axis of np.gradient"), operand.ndim)
    steps = varargs * len(axes) if len(varargs) == 1 and np.ndim(varargs[0]) == 0 else varargs or (1.0,) * len(axes)
    if len(steps) != len(axes):
        raise ShapeError(f"np.gradient with {len(varargs)} spacings for {len(axes)} axes", remedy="give one for each")
    if edge_order not in (1, 2):
        refuse(f"np.gradient with edge_order={edge_order!r}", "use 1 or 2", ShapeError)
    if operand.dtype.kind not in "fc":
        operand = Cast(operand, to=np.dtype(float))
    found = [_slopes(operand, step, k, edge_order) for step, k in zip(steps, axes, strict=True)]
    return found[0] if len(axes) == 1 else tuple(found)


def _slopes(f: Any, step: Any, axis: int, edge_order: int) -> Any:
    if f.shape[axis] < edge_order + 1:
        seen = f"np.gradient of shape {f.shape} along axis {axis}, with edge_order={edge_order}"
        raise ShapeError(seen, remedy=f"give {edge_order + 1} samples at least")
    left, middle, right = (f[entry(part, axis)] for part in (slice(None, -2), slice(1, -1), slice(2, None)))
    widths = None if np.ndim(step) == 0 else _widths(step, f, axis)
    if widths is None:
        inner = (right - left) / (2.0 * step)
    else:
        d1, d2 = widths[entry(slice(None, -1), axis)], widths[entry(slice(1, None), axis)]
        inner = (-d2 / (d1 * (d1 + d2))) * left + ((d2 - d1) / (d1 * d2)) * middle + (d1 / (d2 * (d1 + d2))) * right
    ends = [_edge(f, step, widths, axis, edge_order, last) for last in (False, True)]
    return np.concatenate([ends[0], inner, ends[1]], axis)


def _widths(places: Any, f: Any, axis: int) -> Any:
    given: Any = as_layer(places)
    if given.ndim != 1 or given.shape[0] != f.shape[axis]:
        seen = f"np.gradient of shape {f.shape} at places of shape {given.shape} along axis {axis}"
        raise ShapeError(seen, remedy="give one place for each sample, as a vector")
    steps = np.astype(given[1:] - given[:-1], f.dtype)  # as in NumPy, the slopes have the dtype of the values
    return np.reshape(steps, (-1,) + (1,) * (f.ndim - 1 - axis))[(None,) * axis]


def _edge(f: Any, step: Any, widths: Any, axis: int, edge_order: int, last: bool) -> Any:
    """The slope at an end; seen from the last sample all signs are the other way round."""

    def at(values: Any, k: int) -> Any:
        k, stop = (-1 - k, -k or None) if last else (k, k + 1)
        return values[entry(slice(k, stop), axis)]

    sign = -1.0 if last else 1.0
    d1 = step if widths is None else at(widths, 0)
    if edge_order == 1:
        return (at(f, 1) - at(f, 0)) / d1 * sign
    d2 = step if widths is None else at(widths, 1)
    weights = (-(2.0 * d1 + d2) / (d1 * (d1 + d2)), (d1 + d2) / (d1 * d2), -d1 / (d2 * (d1 + d2)))
    return sign * (weights[0] * at(f, 0) + weights[1] * at(f, 1) + weights[2] * at(f, 2))


# --------------------------------------------------------------------------- between the samples


@implements(np.interp, operands="samples", samples=({}, {"left": -1.5}, {"right": 2.5}, {"period": 3.3}))
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """By straight lines; at a sample the slope is that of the line to its right."""
    places, known = _wide(x), _wide(xp)
    values = _wide(fp)
    if period is not None:
        places, known, values = _wrapped(places, known, values, np.abs(static(period, "period of np.interp")))
        left = right = None
    last = SizeOf(known) - 1
    k = np.maximum(np.searchsorted(known, places, side="right") - 1, 0)
    after = np.minimum(k + 1, last)
    inside = np.logical_and(places >= known[0], places < known[-1])
    width = np.where(inside, known[after] - known[k], 1.0)
    line = (values[after] - values[k]) / width * (places - known[k]) + values[k]
    low, high = values[0] if left is None else left, values[-1] if right is None else right
    beyond = np.where(places < known[0], low, np.where(places > known[-1], high, values[-1]))
    return np.where(np.logical_or(inside, np.isnan(places)), line, beyond)[()]


def _wide(x: Any) -> Any:
    """NumPy interpolates in float64 or complex128, whatever it is given."""
    layer: Any = as_layer(x)
    return Cast(layer, to=np.dtype(complex if layer.dtype.kind == "c" else float))


def _wrapped(x: Any, xp: Any, fp: Any, period: float) -> tuple[Any, Any, Any]:
    if period == 0:
        refuse("np.interp with period=0", "give a period that is not 0", ShapeError)
    x, xp = np.remainder(x, period), np.remainder(xp, period)
    order = np.argsort(xp)
    xp, fp = xp[order], fp[order]
    return (
        x,
        np.concatenate([xp[-1:] - period, xp, xp[:1] + period]),
        np.concatenate([fp[-1:], fp, fp[:1]]),
    )


# --------------------------------------------------------------------------- sums by number, turns, windows


class Bincount(Operation):
    """The sum of the weights of each number; how many numbers there are, only the run knows."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.bincount,)
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")
    defaults: ClassVar[Any] = {"minlength": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        for spec in specs:
            if plain(spec).ndim not in (1, None):
                raise ShapeError("np.bincount of an array that is no vector", remedy="flatten it first (np.ravel)")
        return Spec((None,), np.dtype(float))

    def evaluate(self, *values: Any) -> Any:
        numbers, weights = values
        found = np.bincount(numbers, weights, self.minlength)
        return found.astype(float)  # of nothing NumPy makes whole numbers

    def gradient(self, delta: Any, out: Any, numbers: Any, weights: Any) -> Any:
        return None, delta[numbers]


class Count(Operation):
    """How often each number occurs."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"minlength": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec((None,), np.dtype(np.intp))

    def evaluate(self, *values: Any) -> Any:
        return np.bincount(values[0], minlength=self.minlength)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


@implements(np.bincount, operands="numbered", samples=({}, {"minlength": 7}))
def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    minlength = int(static(minlength, "minlength of np.bincount"))
    if weights is None:
        return Count(x, minlength=minlength)
    return Bincount(x, weights, minlength=minlength)


class Unwrap(Operation, numpy=np.unwrap):
    """Angles without jumps: whole periods are added."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"discont": None, "axis": -1, "period": 2 * np.pi}
    samples: ClassVar[Any] = ({}, {"axis": 0}, {"period": 10.0})

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = plain(specs[0])
        for what, value in zip(self.defaults, self.parameters, strict=True):
            static(value, f"{what} of np.unwrap")
        if spec.shape is not None:
            normalize_axis(self.axis, len(spec.shape))
        return Spec(spec.shape, None if spec.dtype is None else self.result_dtype(spec.dtype))

    def result_dtype(self, dtype: Any) -> Any:
        return dtype_by_trial(partial(np.unwrap, period=self.period), dtype)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (delta,)


@implements(np.lib.stride_tricks.sliding_window_view, samples=({"window_shape": 2, "axis": 0},))
def sliding_window_view(x: Any, window_shape: Any, axis: Any = None) -> Any:
    """Every window, on new last axes; as a copy: an entry of a traced value stands in one place."""
    operand: Any = as_layer(x)
    sizes, axes = (ints(one, "window_shape and axis") for one in (window_shape, axis))
    sizes = (sizes,) if isinstance(sizes, int) else sizes
    axes = tuple(range(operand.ndim)) if axes is None else (axes,) if isinstance(axes, int) else axes
    if len(sizes) != len(axes):
        raise ShapeError(
            f"sliding_window_view with {len(sizes)} sizes for {len(axes)} axes", remedy="give one for each"
        )
    for size, one in zip(sizes, [normalize_axis(one, operand.ndim) for one in axes], strict=True):
        count = operand.shape[one] - size + 1
        if count < 1 or size < 0:
            seen = f"sliding_window_view of shape {operand.shape} with a window of {size} along axis {one}"
            raise ShapeError(seen, remedy="give a window that fits")
        places = np.arange(count)[:, None] + np.arange(size)
        operand = np.moveaxis(operand[entry(places, one)], one + 1, -1)
    return operand


# --------------------------------------------------------------------------- Bessel's functions


class Bessel(Unary):
    """The modified Bessel function of the first kind and of whole order: an average of exp(x·cos t)·cos(k·t)."""

    __slots__ = ()
    elementwise = False
    functions: ClassVar[Any] = (np.i0,)
    defaults: ClassVar[Any] = {"order": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        return Spec(spec.shape, None if spec.dtype is None else dtype_by_trial(np.i0, spec.dtype))

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        return self.evaluate, False

    def evaluate(self, *values: Any) -> Any:
        if self.order == 0:
            return np.i0(values[0])
        x, turn = np.asarray(values[0]), np.arange(512) * (np.pi / 256)
        wide = x[..., None].astype(float)  # the sum over a whole turn converges faster than any power
        found = np.mean(np.exp(wide * np.cos(turn)) * np.cos(self.order * turn), -1)
        return found.astype(dtype_by_trial(np.i0, x.dtype))

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        (x,) = operands
        if self.order == 0:
            return (delta * Bessel(x, order=1),)
        return (delta * ((Bessel(x, order=self.order - 1) + Bessel(x, order=self.order + 1)) / 2),)


@implements(np.i0)
def i0(x: Any) -> Any:
    return Bessel(x)
