"""Which waves does SciPy take a signal apart into? NumPy's transforms, and those into cosines and sines.

A matrix of cosines or sines is that of another type, transposed, but for the weights of its ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.fft as sf

from symbolic.errors import ShapeError
from symbolic.layer import refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import ints, plain
from symbolic.ops.binding import implements
from symbolic.ops.fourier import OTHER_WAY, known_norm, resized
from symbolic.ops.operation import Operation, static
from symbolic.spec import AnySpec, Spec, dtype_by_trial, normalize_axis, show

# --------------------------------------------------------------------------- NumPy's


def _one_axis(theirs: Callable[..., Any], ours: Callable[..., Any]) -> None:
    @implements(theirs, operands="signal", samples=({}, {"n": 3, "axis": 0, "norm": "ortho"}))
    def transform(
        x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, workers: Any = None
    ) -> Any:
        return ours(x, n, axis, norm)


def _many_axes(theirs: Callable[..., Any], ours: Callable[..., Any], axes: Any) -> None:
    usual = axes

    @implements(theirs, operands="signal", samples=({}, {"axes": (1, 0), "norm": "forward"}))
    def transform(
        x: Any, s: Any = None, axes: Any = usual, norm: Any = None, overwrite_x: bool = False, workers: Any = None
    ) -> Any:
        return ours(x, s, axes, norm)


def _shift(theirs: Callable[..., Any], ours: Callable[..., Any]) -> None:
    @implements(theirs, operands="signal", samples=({}, {"axes": 0}))
    def shifted(x: Any, axes: Any = None) -> Any:
        return ours(x, axes)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _one_axis(getattr(sf, _name), getattr(np.fft, _name))
for _name in ("fft2", "ifft2", "rfft2", "irfft2"):
    _many_axes(getattr(sf, _name), getattr(np.fft, _name), (-2, -1))
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    _many_axes(getattr(sf, _name), getattr(np.fft, _name), None)
for _name in ("fftshift", "ifftshift"):
    _shift(getattr(sf, _name), getattr(np.fft, _name))

# --------------------------------------------------------------------------- cosines and sines

_TURNED = {1: 1, 2: 3, 3: 2, 4: 4}
"""The type whose matrix is the transposed one, but for weights; it is that of the inverse too."""


class _Waves(Operation):
    """Along `axis`, of `n` points."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"type": 2, "n": None, "axis": -1, "norm": None, "orthogonalize": False}
    ends: ClassVar[dict[int, tuple[int, ...]]] = {}  # by type: the entries that count half

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = plain(specs[0])
        dtype = None if spec.dtype is None else dtype_by_trial(sf.dct, spec.dtype)
        if spec.shape is None:
            return Spec(None, dtype)
        axis = normalize_axis(self.axis, len(spec.shape))
        points = spec.shape[axis] if self.n is None else self.n
        if points is not None and points < (2 if self.type == 1 else 1):
            refuse(f"a transform of {points} points of shape {show(spec.shape)}", "give more of them", ShapeError)
        return Spec((*spec.shape[:axis], points, *spec.shape[axis + 1 :]), dtype)

    def evaluate(self, *values: Any) -> Any:
        kind, n, axis, norm, orthogonalize = self.parameters
        return self.functions[0](values[0], kind, n, axis, norm, orthogonalize=orthogonalize)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        kind, _, axis, norm, orthogonalize = self.parameters
        turned, points = _TURNED[kind], out.shape[axis]
        if not orthogonalize:
            delta = delta / self.halves(turned, points, out)
        back: Any = type(self).make((as_layer(delta),), (turned, None, axis, norm, orthogonalize))
        if not orthogonalize:
            back = back * self.halves(kind, points, out)
        return (resized(back, axis, operand.shape[axis]),)

    def halves(self, kind: int, points: int, like: Any) -> Any:
        """½ for the entries that stand once where others stand twice."""
        found = np.ones(points, np.zeros(0, like.dtype).real.dtype)
        for k in self.ends.get(kind, ()):
            found[k] = 0.5
        axis = normalize_axis(self.axis, like.ndim)
        return found.reshape((-1,) + (1,) * (like.ndim - 1 - axis))


class Dct(_Waves):
    """Into cosines."""

    __slots__ = ()
    functions: ClassVar[Any] = (sf.dct,)
    ends: ClassVar[dict[int, tuple[int, ...]]] = {1: (0, -1), 3: (0,)}


class Dst(_Waves):
    """Into sines."""

    __slots__ = ()
    functions: ClassVar[Any] = (sf.dst,)
    ends: ClassVar[dict[int, tuple[int, ...]]] = {3: (-1,)}


def _transformed(
    cls: type[_Waves], x: Any, kind: Any, n: Any, axis: Any, norm: Any, orthogonalize: Any, inverse: bool
) -> Any:
    what = "an option of a transform into cosines or sines"
    kind, n, axis = static(kind, what), static(n, what), ints(axis, what)
    known_norm(cls.functions[0], norm)
    if kind not in _TURNED:
        refuse(f"a transform of type {kind!r}", "give 1, 2, 3 or 4", ShapeError)
    orthogonal = norm == "ortho" if orthogonalize is None else bool(orthogonalize)
    if orthogonal and norm != "ortho":
        refuse(f"orthogonalize=True with norm={norm!r}", "use norm='ortho'", ShapeError)
    if inverse:
        kind, norm = _TURNED[kind], OTHER_WAY[norm]
    return cls(x, type=kind, n=n, axis=axis, norm=norm, orthogonalize=orthogonal)


_SAMPLES: Any = (
    *({"type": kind} for kind in _TURNED),
    {"n": 5, "axis": 0},
    {"norm": "ortho"},
    {"type": 3, "norm": "ortho"},
    {"type": 1, "norm": "forward"},
)


def _waves(theirs: Callable[..., Any], cls: type[_Waves], inverse: bool) -> None:
    @implements(theirs, operands="signal", samples=_SAMPLES)
    def transform(
        x: Any,
        type: int = 2,
        n: Any = None,
        axis: int = -1,
        norm: Any = None,
        overwrite_x: bool = False,
        workers: Any = None,
        orthogonalize: Any = None,
    ) -> Any:
        return _transformed(cls, x, type, n, axis, norm, orthogonalize, inverse)


def _waves_of_many(theirs: Callable[..., Any], cls: type[_Waves], inverse: bool) -> None:
    @implements(theirs, operands="signal", samples=({}, {"axes": (0,)}, {"norm": "ortho", "type": 3}))
    def transform(
        x: Any,
        type: int = 2,
        axes: Any = None,
        norm: Any = None,
        overwrite_x: bool = False,
        workers: Any = None,
        orthogonalize: Any = None,
    ) -> Any:
        operand: Any = as_layer(x)
        axes = ints(axes, "axes of a transform")
        for axis in range(operand.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes:
            operand = _transformed(cls, operand, type, None, axis, norm, orthogonalize, inverse)
        return operand


for _kind, _cls in (("dct", Dct), ("dst", Dst)):
    for _inverse in (False, True):
        _title = f"i{_kind}" if _inverse else _kind
        _waves(getattr(sf, _title), _cls, _inverse)
        _waves_of_many(getattr(sf, f"{_title}n"), _cls, _inverse)
