"""Which waves is a signal made of? Fourier transforms, whose gradients are the transforms the other way.

Four transforms along one axis are operations; those along several axes and of Hermitian signals are made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import DtypeError, ShapeError
from symbolic.layer import Layer, qualified, refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import entry, ints, plain
from symbolic.ops.binding import Kernel, implements
from symbolic.ops.families import Movement
from symbolic.ops.operation import Operation, array, static
from symbolic.spec import AnySpec, AxisShapeError, Dim, Shape, Spec, normalize_axis, show

OTHER_WAY: dict[Any, Any] = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
"""With which norm is the transform back the adjoint?"""


class Transform(Operation):
    """Along `axis`, of `n` points: the signal is cut or filled with zeros."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"n": None, "axis": -1, "norm": None}
    samples: ClassVar[Any] = ({}, {"n": 3}, {"n": 4, "axis": 0}, {"norm": "ortho"}, {"norm": "forward"}, {"axis": 0})

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec, function = plain(specs[0]), self.functions[0]
        known_norm(function, self.norm)
        dtype = None if spec.dtype is None else _dtype(function, spec.dtype)
        if spec.shape is None:
            return Spec(None, dtype)
        axis = normalize_axis(static(self.axis, f"axis of {qualified(function)}"), len(spec.shape))
        points = self.points(spec.shape[axis])
        if points is not None and points < 1:
            seen = f"{qualified(function)} of shape {show(spec.shape)} over {points} points along axis {axis}"
            raise ShapeError(seen, remedy="transform one point at least: give n, or more entries")
        return Spec((*spec.shape[:axis], self.length(points), *spec.shape[axis + 1 :]), dtype)

    def points(self, size: Dim) -> Dim:
        """How many points the signal has in time."""
        n = static(self.n, f"n of {qualified(self.functions[0])}")
        return size if n is None else int(n)

    def length(self, points: Dim) -> Dim:
        """How many entries the result has."""
        return points

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        """NumPy's inner loop, where nothing is cut or filled: what is around it takes longer than a short signal."""
        spec, found = array(specs[0]), array(out)
        if not spec.known or not found.known or str(spec.dtype) not in _DTYPES:
            return self.evaluate, False
        axis = normalize_axis(self.axis, len(spec.shape or ()))
        held, points = (spec.shape or ())[axis], self.points((spec.shape or ())[axis])
        loop = None if points is None or self.entries(points) != held else _loop(self, points, spec.dtype)
        if loop is None:
            return self.evaluate, False
        ufunc, factor = loop
        shape: Any = found.shape
        dtype, axes = found.dtype, [(axis,), (), (axis,)]
        if axis == len(shape) - 1:
            return (lambda x, into: ufunc(x, factor, np.empty(shape, dtype) if into is None else into)), True
        return (lambda x, into: ufunc(x, factor, np.empty(shape, dtype) if into is None else into, axes=axes)), True

    def entries(self, points: int) -> int:
        """How many entries the operand has if nothing is cut or filled."""
        return points

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        size = operand.shape[self.axis]
        return (resized(self.back(delta, self.points(size)), self.axis, size),)

    def back(self, delta: Any, points: Any) -> Any:
        """The adjoint, before the signal was cut or filled."""
        raise NotImplementedError  # abstract

    def adjoint(self, function: Callable[..., Any], delta: Any, points: Any = None) -> Any:
        return function(delta, points, self.axis, OTHER_WAY[self.norm])


_LONG = 1 << 14
_DTYPES = ("float32", "float64", "complex64", "complex128")


def _loop(node: Transform, points: int, dtype: Any) -> tuple[Any, Any] | None:
    """The ufunc of NumPy's for so many points, and the norm's factor; `None` for a long signal, where it is idle."""
    if points > _LONG:
        return None
    return _seen(node.functions[0], points, dtype, node.norm or "backward")


@lru_cache(maxsize=1024)
def _seen(function: Any, points: int, dtype: Any, norm: str) -> tuple[Any, Any] | None:
    """Where it is and how it is called is NumPy's own affair: so only if it is seen to give what the function does."""
    real, back = np.finfo(dtype).dtype.type, function in (np.fft.ifft, np.fft.irfft)
    parity = f"rfft_n_{'odd' if points % 2 else 'even'}"
    name = parity if function is np.fft.rfft else function.__name__
    found: Any = getattr(getattr(np.fft, "_pocketfft_umath", None), name, None)
    if norm == "ortho":
        factor = np.reciprocal(np.sqrt(points, dtype=real))
    else:
        factor = np.reciprocal(points, dtype=real) if back == (norm == "backward") else 1
    size = points // 2 + 1 if function is np.fft.irfft else points
    sample: Any = (np.arange(2.0 * size).reshape(2, size) ** 2 % 7).astype(dtype)
    want = function(sample, points, norm=norm)
    try:
        same = np.array_equal(found(sample, factor, np.empty_like(want)), want)
        moved = found(sample.T, factor, np.empty_like(want.T), axes=[(0,), (), (0,)])
        return (found, factor) if same and np.array_equal(moved, want.T) else None
    except (TypeError, ValueError):
        return None


def known_norm(function: Callable[..., Any], norm: Any) -> None:
    if isinstance(norm, Layer) or norm not in OTHER_WAY:
        refuse(f"{qualified(function)} with norm={norm!r}", "use 'backward', 'ortho' or 'forward'", ShapeError)


@lru_cache(maxsize=256)
def _dtype(function: Callable[..., Any], dtype: np.dtype[Any]) -> np.dtype[Any]:
    try:
        found: np.dtype[Any] = function(np.ones(2, dtype)).dtype
    except TypeError as error:
        remedy = "take np.real first, or use np.fft.fft" if dtype.kind == "c" else "use an array of numbers"
        raise DtypeError(f"{qualified(function)} of an array of {dtype}", remedy=remedy) from error
    return found


def resized(value: Any, axis: int, size: int) -> Any:
    """Cut, or filled with zeros, to `size` entries along an axis."""
    held = value.shape[axis]
    if held == size:
        return value
    if held > size:
        return value[entry(slice(None, size), axis)]
    widths = [(0, 0)] * value.ndim
    widths[axis] = (0, size - held)
    return np.pad(value, widths)


class Fft(Transform, numpy=np.fft.fft):
    """From time to frequencies; complex.

    >>> import numpy as np
    >>> from symbolic import grad
    >>> grad(lambda x: np.real(np.fft.fft(x)[1]))(np.ones(3)).round(9).tolist()
    [1.0, -0.5, -0.5]
    """

    __slots__ = ()

    def back(self, delta: Any, points: Any) -> Any:
        return self.adjoint(np.fft.ifft, delta)


class Ifft(Transform, numpy=np.fft.ifft):
    """From frequencies to time; complex."""

    __slots__ = ()

    def back(self, delta: Any, points: Any) -> Any:
        return self.adjoint(np.fft.fft, delta)


class Rfft(Transform, numpy=np.fft.rfft):
    """From time to the frequencies from 0 upwards: those below are their conjugates, for the signal is real."""

    __slots__ = ()

    def length(self, points: Dim) -> Dim:
        return None if points is None else points // 2 + 1

    def back(self, delta: Any, points: Any) -> Any:
        return self.adjoint(np.fft.irfft, delta / _twice(delta, points, self.axis), points)


class Irfft(Transform, numpy=np.fft.irfft):
    """From the frequencies from 0 upwards to a real signal, of an even number of points where `n` says nothing."""

    __slots__ = ()

    def points(self, size: Dim) -> Dim:
        return super().points(None if size is None else 2 * (size - 1))

    def entries(self, points: int) -> int:
        return points // 2 + 1

    def back(self, delta: Any, points: Any) -> Any:
        half = self.adjoint(np.fft.rfft, delta)
        return half * _twice(half, points, self.axis)


def _twice(half: Any, points: int, axis: int) -> Any:
    """How often each frequency of a half spectrum is in the whole: 0 and the highest of an even number once."""
    times = np.full(points // 2 + 1, 2, dtype=np.finfo(half.dtype).dtype)
    times[0] = 1
    if points % 2 == 0:
        times[-1] = 1
    return times.reshape((-1,) + (1,) * (half.ndim - 1 - axis % half.ndim))


# --------------------------------------------------------------------------- Hermitian signals


@implements(np.fft.hfft, samples=({}, {"n": 3}, {"axis": 0}))
def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    known_norm(np.fft.hfft, norm)
    return np.fft.irfft(np.conjugate(as_layer(a)), n, axis, OTHER_WAY[norm])


@implements(np.fft.ihfft, samples=({}, {"n": 3}, {"axis": 0}))
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    known_norm(np.fft.ihfft, norm)
    return np.conjugate(np.fft.rfft(as_layer(a), n, axis, OTHER_WAY[norm]))


# --------------------------------------------------------------------------- several axes


def _plan(function: Callable[..., Any], operand: Any, s: Any, axes: Any) -> list[tuple[int | None, int]]:
    """How many points along which axis, in NumPy's order."""
    s, axes = (ints(one, f"{what} of {qualified(function)}") for one, what in ((s, "s"), (axes, "axes")))
    if axes is None:
        axes = tuple(range(-operand.ndim if s is None else -len(s), 0))
    sizes = (None,) * len(axes) if s is None else tuple([None if one == -1 else one for one in s])
    if len(sizes) != len(axes):
        seen = f"{qualified(function)} with {len(sizes)} sizes s for {len(axes)} axes"
        refuse(seen, "give one size for each axis", ShapeError)
    return list(zip(sizes, axes, strict=True))


def _along(function: Callable[..., Any], value: Any, plan: list[tuple[int | None, int]], norm: Any) -> Any:
    for n, axis in plan:
        value = function(value, n, axis, norm)
    return value


def _last(function: Callable[..., Any], plan: list[Any]) -> Any:
    if not plan:
        refuse(f"{qualified(function)} over no axis", "name one axis at least", AxisShapeError)
    return plan[-1:]


_TWO: Any = ({}, {"s": (3, 2)}, {"axes": (1, 0)}, {"norm": "ortho"})
_MANY: Any = ({}, {"axes": (0,)}, {"s": (3, 2), "axes": (-1, 0)}, {"norm": "forward"})


@implements(np.fft.fftn, operands="matrix", samples=_MANY)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    operand = as_layer(a)
    return _along(np.fft.fft, operand, _plan(np.fft.fftn, operand, s, axes)[::-1], norm)


@implements(np.fft.ifftn, operands="matrix", samples=_MANY)
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    operand = as_layer(a)
    return _along(np.fft.ifft, operand, _plan(np.fft.ifftn, operand, s, axes)[::-1], norm)


@implements(np.fft.rfftn, operands="matrix", samples=_MANY)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    operand = as_layer(a)
    plan = _plan(np.fft.rfftn, operand, s, axes)
    half = _along(np.fft.rfft, operand, _last(np.fft.rfftn, plan), norm)
    return _along(np.fft.fft, half, plan[-2::-1], norm)


@implements(np.fft.irfftn, operands="matrix", samples=_MANY)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    operand = as_layer(a)
    plan = _plan(np.fft.irfftn, operand, s, axes)
    last = _last(np.fft.irfftn, plan)
    return _along(np.fft.irfft, _along(np.fft.ifft, operand, plan[:-1], norm), last, norm)


@implements(np.fft.fft2, operands="matrix", samples=_TWO)
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return fftn(a, s, axes, norm)


@implements(np.fft.ifft2, operands="matrix", samples=_TWO)
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return ifftn(a, s, axes, norm)


@implements(np.fft.rfft2, operands="matrix", samples=_TWO)
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return rfftn(a, s, axes, norm)


@implements(np.fft.irfft2, operands="matrix", samples=_TWO)
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return irfftn(a, s, axes, norm)


# --------------------------------------------------------------------------- order of the frequencies


class Shift(Movement):
    """The halves of the axes change places."""

    __slots__ = ()
    shares = False
    defaults: ClassVar[Any] = {"axes": None}
    samples: ClassVar[Any] = ({}, {"axes": 0}, {"axes": (-1, 0)})

    def moved(self, shape: Shape) -> Shape | None:
        for axis in self.along(len(shape)):
            normalize_axis(axis, len(shape))
        return shape

    def along(self, rank: int) -> tuple[int, ...]:
        axes = ints(self.axes, f"axes of {qualified(self.functions[0])}")
        return tuple(range(rank)) if axes is None else (axes,) if isinstance(axes, int) else axes


class Fftshift(Shift, numpy=np.fft.fftshift):
    """Frequency 0 comes to the middle."""

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (np.fft.ifftshift(delta, self.axes),)


class Ifftshift(Shift, numpy=np.fft.ifftshift):
    """Frequency 0 comes from the middle to the front."""

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (np.fft.fftshift(delta, self.axes),)
