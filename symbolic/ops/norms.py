"""How long is a vector, how large a matrix?"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import refuse
from symbolic.ops.binding import implements
from symbolic.ops.deltas import cancelled
from symbolic.ops.families import Reduction
from symbolic.spec import normalize_axes


class Norm(Reduction, numpy=np.linalg.norm):
    """√Σ|x|² along axes; the gradient is 0 at the origin.

    >>> import numpy as np
    >>> from symbolic.ops.norms import Norm
    >>> float(Norm().predict(np.array([3.0, 4.0])))
    5.0
    """

    __slots__ = ()

    def evaluate(self, *values: Any) -> Any:
        x, axis = values[0], self.axis
        if axis is None or isinstance(axis, int) or len(axis) in (1, 2):
            return np.linalg.norm(x, axis=axis, keepdims=self.keepdims)
        return np.sqrt(np.sum(np.square(np.abs(x)), axis=axis, keepdims=self.keepdims))

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (self.spread(_quotient(delta, out), operands[0]) * operands[0],)


def _quotient(delta: Any, out: Any) -> Any:
    """delta / out, and 0 where out is 0."""
    smooth = cancelled(delta, out)
    return delta / np.where(np.equal(out, 0), np.inf, out) if smooth is None else smooth


@implements(
    np.linalg.norm,
    domain="nonzero",
    samples=[{}, {"ord": 1}, {"ord": 3}, {"ord": 2, "axis": 0}, {"ord": np.inf, "axis": -1}],
)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord is None:
        return Norm(x, axis=axis, keepdims=keepdims)
    axes = normalize_axes(axis, np.ndim(x))
    if len(axes) == 1:
        return _vector(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix(x, ord, axes, keepdims)
    raise ValueError(f"np.linalg.norm of order {ord!r} over {len(axes)} axes; name one axis, or two of a matrix")


@implements(np.linalg.vector_norm, domain="nonzero", samples=[{}, {"ord": 1}, {"axis": 0}])
def vector_norm(x: Any, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    return _vector(x, ord, axis, keepdims)


@implements(
    np.linalg.matrix_norm,
    domain="nonzero",
    operands="matrix",
    samples=[{}, {"ord": 1}, {"ord": np.inf}, {"ord": "nuc"}],
)
def matrix_norm(x: Any, keepdims: bool = False, ord: Any = "fro") -> Any:
    return _matrix(x, ord, (-2, -1), keepdims)


def _vector(x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    x = np.multiply(x, 1.0)  # integers count as floats, before anything can overflow
    if isinstance(ord, str):
        _unknown(ord, "a vector", "a number, np.inf or -np.inf")
    if ord == 2:
        return Norm(x, axis=axis, keepdims=keepdims)
    size = np.abs(x)
    if abs(ord) == np.inf:
        return np.max(size, axis, keepdims=keepdims, initial=0) if ord > 0 else np.min(size, axis, keepdims=keepdims)
    if ord == 0:
        return np.sum(np.multiply(np.not_equal(x, 0), np.ones_like(np.abs(x))), axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(size, axis, keepdims=keepdims)
    total = np.sum(size**ord, axis, keepdims=keepdims)
    origin = np.equal(total, 0)  # the root has no slope there, the norm counts as flat
    return np.where(origin, 0, np.where(origin, 1, total) ** (1 / ord))[()]


def _matrix(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    x = np.multiply(x, 1.0)
    if ord in ("fro", "f"):
        return Norm(x, axis=axes, keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        return _singular(x, ord, axes, keepdims)
    if ord not in (1, -1, np.inf, -np.inf):
        _unknown(ord, "a matrix", "'fro', 'nuc', 1, -1, 2, -2, np.inf or -np.inf")
    summed, best = axes if abs(ord) == 1 else axes[::-1]
    sums = np.sum(np.abs(x), summed, keepdims=True)
    out = np.max(sums, best, keepdims=True, initial=0) if ord > 0 else np.min(sums, best, keepdims=True)
    return out if keepdims else np.squeeze(out, axes)[()]


def _singular(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """From the singular values: their sum, the largest or the smallest."""
    values = np.linalg.svd(np.moveaxis(x, axes, (-2, -1)), compute_uv=False)
    if ord == "nuc":
        out = np.sum(np.abs(values), -1)
    else:
        out = np.max(values, -1, initial=0) if ord > 0 else np.min(values, -1)
    return np.expand_dims(out, axes) if keepdims else out


def _unknown(ord: Any, of: str, known: str) -> NoReturn:
    refuse(f"np.linalg.norm with ord={ord!r} of {of}", f"use ord= {known}", ShapeError)
