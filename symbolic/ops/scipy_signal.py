"""How does SciPy fold signals, integrate samples and measure distances?"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.integrate as si
import scipy.signal as sg
import scipy.spatial.distance as sd

from symbolic.errors import DtypeError, ShapeError
from symbolic.layer import refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import entry, ints, plain
from symbolic.ops.binding import implements
from symbolic.ops.deltas import conjugate, is_complex
from symbolic.ops.operation import Operation, static
from symbolic.spec import AnySpec, Spec, dtype_by_trial, normalize_axis, show

# --------------------------------------------------------------------------- folding


class Fold(Operation):
    """The full convolution of two arrays of as many axes; `method` is "direct", "fft" or "auto"."""

    __slots__ = ()
    functions: ClassVar[Any] = (sg.convolve,)
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")
    defaults: ClassVar[Any] = {"method": "auto"}

    def infer(self, *specs: AnySpec) -> AnySpec:
        one, other = plain(specs[0]), plain(specs[1])
        known = one.dtype is not None and other.dtype is not None
        dtype = dtype_by_trial(sg.convolve, one.dtype, other.dtype) if known else None
        if one.shape is None or other.shape is None:
            return Spec(None, dtype)
        if len(one.shape) != len(other.shape):
            seen = f"a convolution of shapes {show(one.shape)} and {show(other.shape)}"
            raise ShapeError(seen, remedy="give arrays of as many axes")
        sizes = zip(one.shape, other.shape, strict=True)
        return Spec(tuple([None if n is None or m is None else n + m - 1 for n, m in sizes]), dtype)

    def evaluate(self, *values: Any) -> Any:
        return sg.convolve(*values, method=self.method)

    def gradient(self, delta: Any, out: Any, one: Any, other: Any) -> Any:
        return self.back(delta, other, one), self.back(delta, one, other)

    def back(self, delta: Any, other: Any, like: Any) -> Any:
        whole: Any = Fold(delta, conjugate(np.flip(other)), method=self.method)
        return whole[tuple([slice(m - 1, m - 1 + n) for n, m in zip(like.shape, other.shape, strict=True)])]


def _folded(one: Any, other: Any, mode: Any, method: Any, name: str) -> Any:
    one, other = as_layer(one), as_layer(other)
    mode, method = static((mode, method), f"an option of scipy.signal.{name}")
    whole: Any = Fold(one, other, method=method)
    if mode == "full":
        return whole
    sizes = list(zip(one.shape, other.shape, strict=True))
    if mode == "same":
        return whole[tuple([slice((m - 1) // 2, (m - 1) // 2 + n) for n, m in sizes])]
    if mode != "valid" or not (all(n >= m for n, m in sizes) or all(n <= m for n, m in sizes)):
        seen = f"scipy.signal.{name} with mode={mode!r} of shapes {show(one.shape)} and {show(other.shape)}"
        refuse(seen, "use 'full', 'same', or 'valid' where one array is as large as the other in all axes", ShapeError)
    return whole[tuple([slice(min(n, m) - 1, max(n, m)) for n, m in sizes])]


_MODES: Any = ({}, {"mode": "same"}, {"mode": "valid"})


@implements(sg.convolve, operands="signal_and_filter", samples=_MODES)
def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    return _folded(in1, in2, mode, method, "convolve")


@implements(sg.fftconvolve, sg.oaconvolve, operands="signal_and_filter", samples=_MODES)
def fftconvolve(in1: Any, in2: Any, mode: str = "full") -> Any:
    return _folded(in1, in2, mode, "fft", "fftconvolve")


@implements(sg.convolve2d, operands="image_and_filter", samples=_MODES)
def convolve2d(in1: Any, in2: Any, mode: str = "full") -> Any:
    return _folded(in1, in2, mode, "direct", "convolve2d")


@implements(sg.correlate, operands="signal_and_filter", samples=_MODES)
def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    return _folded(in1, conjugate(np.flip(as_layer(in2))), mode, method, "correlate")


# --------------------------------------------------------------------------- integrals of samples


@implements(si.trapezoid, operands="samples_in_rows", samples=({}, {"dx": 0.5}, {"axis": 0}))
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    return np.trapezoid(y, x, dx, axis)


@implements(si.cumulative_trapezoid, operands="samples_in_rows", samples=({}, {"axis": 0}, {"initial": 0}))
def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    values, axis, widths = _samples(y, x, dx, axis, "cumulative_trapezoid")
    if static(initial, "initial of scipy.integrate.cumulative_trapezoid") not in (None, 0):
        refuse(f"cumulative_trapezoid with initial={initial!r}", "use initial=0, or leave it out", ShapeError)
    middle = (values[entry(slice(1, None), axis)] + values[entry(slice(None, -1), axis)]) / 2.0
    sums = np.cumsum(middle * widths, axis=axis)
    return sums if initial is None else np.concatenate([np.zeros_like(values[entry(slice(0, 1), axis)]), sums], axis)


@implements(si.simpson, operands="samples_in_rows", samples=({}, {"dx": 0.5}, {"axis": 0}))
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """Parabolas through three samples; for an even number of them, Cartwright's correction for the last width."""
    values, axis, widths = _samples(y, x, dx, axis, "simpson")
    count = values.shape[axis]
    if count == 2:
        return np.trapezoid(values, x, dx, axis)
    steps = widths
    if x is None:
        steps = np.reshape(np.full(count - 1, 1.0, values.dtype) * dx, _shape_along(axis, values.ndim))
    inner = _parabolas(values, steps, axis, count - 1 if count % 2 else count - 2)
    return inner if count % 2 else inner + _last(values, steps, axis)


def _samples(y: Any, x: Any, dx: Any, axis: Any, name: str) -> tuple[Any, int, Any]:
    """The values, the axis, and the widths between the samples along it."""
    values: Any = as_layer(y)
    axis = normalize_axis(ints(axis, f"axis of scipy.integrate.{name}"), values.ndim)
    if values.shape[axis] < 2:
        refuse(f"scipy.integrate.{name} of shape {show(values.shape)}", "give two samples at least", ShapeError)
    if x is None:
        return values, axis, dx
    places: Any = as_layer(x)
    if places.ndim == 1:
        return values, axis, np.reshape(np.diff(places), _shape_along(axis, values.ndim))
    return values, axis, np.diff(places, axis=axis)


def _shape_along(axis: int, rank: int) -> tuple[int, ...]:
    return (1,) * axis + (-1,) + (1,) * (rank - 1 - axis)


def _parabolas(y: Any, h: Any, axis: int, stop: int) -> Any:
    first, middle, last = (y[entry(slice(k, stop - 1 + k, 2), axis)] for k in range(3))
    h0, h1 = (h[entry(slice(k, stop, 2), axis)] for k in range(2))
    whole = h0 + h1
    sides = first * (2.0 - h1 / h0) + last * (2.0 - h0 / h1)
    return np.sum(whole / 6.0 * (sides + middle * (whole * (whole / (h0 * h1)))), axis=axis)


def _last(y: Any, h: Any, axis: int) -> Any:
    h0, h1 = (h[entry(k, axis)] * np.float64(1) for k in (-2, -1))  # as SciPy has them
    alpha = (2.0 * h1 * h1 + 3.0 * h0 * h1) / (6.0 * (h0 + h1))
    beta = (h1 * h1 + 3.0 * h0 * h1) / (6.0 * h0)
    eta = h1 * h1 * h1 / (6.0 * h0 * (h0 + h1))
    return alpha * y[entry(-1, axis)] + beta * y[entry(-2, axis)] - eta * y[entry(-3, axis)]


# --------------------------------------------------------------------------- distances


def _length(squares: Any) -> Any:
    """A root with the slope 0 at 0: of equal points no direction is the way apart."""
    none = np.equal(squares, 0)
    return np.where(none, 0.0, np.sqrt(np.where(none, 1.0, squares)))


def _cosine(u: Any, v: Any) -> Any:
    lengths = np.sqrt(np.sum(np.square(u), -1)) * np.sqrt(np.sum(np.square(v), -1))
    return 1.0 - np.sum(u * v, -1) / lengths


METRICS: dict[str, Any] = {
    "euclidean": lambda u, v: _length(np.sum(np.square(u - v), -1)),
    "sqeuclidean": lambda u, v: np.sum(np.square(u - v), -1),
    "cityblock": lambda u, v: np.sum(np.abs(u - v), -1),
    "chebyshev": lambda u, v: np.max(np.abs(u - v), -1),
    "cosine": _cosine,
}
_ALL = tuple({"metric": one} for one in METRICS)


def _metric(metric: Any, name: str) -> Any:
    if metric not in METRICS:
        refuse(f"scipy.spatial.distance.{name} with metric={metric!r}", f"use one of {list(METRICS)}", DtypeError)
    return METRICS[metric]


def _points(x: Any) -> Any:
    if is_complex(x):
        refuse("a distance of complex points", "measure np.real and np.imag side by side", DtypeError)
    return as_layer(np.multiply(x, np.float64(1)))  # SciPy measures in double precision


@implements(sd.cdist, operands="two_sets_of_points", samples=_ALL)
def cdist(XA: Any, XB: Any, metric: Any = "euclidean") -> Any:
    """The distance of each row of the one to each row of the other."""
    measure = _metric(metric, "cdist")
    return measure(_points(XA)[:, np.newaxis, :], _points(XB)[np.newaxis, :, :])


@implements(sd.pdist, operands="set_of_points", samples=_ALL)
def pdist(X: Any, metric: Any = "euclidean") -> Any:
    """The distance of each row to each later one, as a vector."""
    measure, points = _metric(metric, "pdist"), _points(X)
    first, second = np.triu_indices(points.shape[0], 1)
    return measure(points[first], points[second])


def _of_two(function: Any, name: str) -> None:
    @implements(function, operands="two_points")
    def distance(u: Any, v: Any) -> Any:
        return METRICS[name](_points(u), _points(v))


for _name in METRICS:
    _of_two(getattr(sd, _name), _name)
