"""What do operations on matrices share? Checks of shapes and dtypes, adjoints, quotients by gaps, several results."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import DtypeError, ShapeError
from symbolic.layer import AnyLayer, qualified
from symbolic.literal import as_layer
from symbolic.ops.axes import plain
from symbolic.ops.deltas import conjugate
from symbolic.ops.operation import Operation, array
from symbolic.ops.passing import EntryLike, Item, Tuple
from symbolic.spec import AnySpec, Dim, Shape, Spec, TupleSpec, show


class MatrixError(ShapeError, np.linalg.LinAlgError):
    """An array that is no matrix, or no square one; NumPy's LinAlgError as well."""


# --------------------------------------------------------------------------- specs


def matrices(function: Callable[..., Any], given: AnySpec, square: bool = False) -> Spec:
    """The spec of an operand that must be a matrix, or a stack of them."""
    spec = plain(given)
    if spec.shape is None:
        return spec
    if len(spec.shape) < 2:
        raise MatrixError(
            f"{qualified(function)} of an array of shape {show(spec.shape)}, where a matrix is needed",
            remedy="give an array of two axes or more: the last two are the matrix",
        )
    rows, columns = spec.shape[-2:]
    if square and rows != columns and rows is not None and columns is not None:
        raise MatrixError(
            f"{qualified(function)} of shape {show(spec.shape)}: axis -2 has size {rows}, axis -1 has size {columns}",
            remedy="give square matrices; np.linalg.pinv and np.linalg.lstsq take others",
        )
    return spec


def dtypes(function: Callable[..., Any], *specs: Spec) -> tuple[np.dtype[Any] | None, np.dtype[Any] | None]:
    """The dtype of the function's matrices, and that of their real parts."""
    given = [spec.dtype for spec in specs if spec.dtype is not None]
    if len(given) < len(specs):
        return None, None
    found = _tried(function, *given)
    return found, np.finfo(found).dtype


@lru_cache(maxsize=256)
def _tried(function: Callable[..., Any], *given: np.dtype[Any]) -> np.dtype[Any]:
    try:
        result = function(*(np.eye(1, dtype=one) for one in given))
    except TypeError as error:
        names = " and ".join(map(str, given))
        remedy = "use float64 or float32, real or complex: x.astype(np.float64)"
        raise DtypeError(f"{qualified(function)} of {names}: {error}", remedy=remedy) from error
    return np.result_type(*result) if isinstance(result, tuple) else np.asarray(result).dtype


# --------------------------------------------------------------------------- formulas


def adjoint(x: Any) -> Any:
    """The conjugate transpose."""
    return np.swapaxes(conjugate(x), -1, -2)


def hermitian(x: Any) -> Any:
    """The Hermitian part."""
    return (x + adjoint(x)) / 2


def as_columns(x: Any) -> Any:
    """A vector as a matrix of one column."""
    return np.expand_dims(x, -1)


def as_rows(x: Any) -> Any:
    """A vector as a matrix of one row: `matrix * as_rows(v)` scales its columns."""
    return np.expand_dims(x, -2)


class Close(Operation):
    """Which pairs along the last axis differ by no more than rounding (`plus`: have such a sum): Boolean matrices."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"plus": False}

    def infer(self, *specs: AnySpec) -> AnySpec:
        shape = array(specs[0]).shape
        return Spec(None if shape is None else (*shape, shape[-1]), np.dtype(bool))

    def evaluate(self, *values: Any) -> Any:
        (x,) = values
        gap = x[..., None, :] + x[..., :, None] if self.plus else x[..., None, :] - x[..., :, None]
        size = np.max(np.abs(x), axis=-1, keepdims=True, initial=0)[..., None]
        return np.abs(gap) <= 10 * x.shape[-1] * np.finfo(x.dtype).eps * size

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


def quotients(x: Any, plus: bool = False) -> Any:
    """1 / (x_j - x_i), or 1 / (x_j + x_i), in row i and column j; 0 for pairs that are close.

    Vectors that belong to one value may turn among themselves; a smooth function does not see that.
    """
    close = Close.make((as_layer(x),), (plus,))
    gap = as_rows(x) + as_columns(x) if plus else as_rows(x) - as_columns(x)
    return np.where(close, 0, 1 / np.where(close, 1, gap))


def total(*terms: Any) -> Any:
    """The sum of the terms that are there; `None` where none is."""
    found = None
    for one in terms:
        if one is not None:
            found = one if found is None else found + one
    return found


# --------------------------------------------------------------------------- tuples


def items(node: AnyLayer, count: int) -> list[Any]:
    """The entries of an operation with several results."""
    return [Item.make((node,), (k,)) for k in range(count)]


def arrived(delta: AnyLayer, k: int) -> Any:
    """The delta of one entry; `None` where nothing came back by it."""
    if isinstance(delta, EntryLike):
        return delta.operands[0] if delta.index == k else None
    return _arrived(delta.operands[k]) if isinstance(delta, Tuple) else Item.make((delta,), (k,))


def _arrived(delta: Any) -> Any:
    if isinstance(delta, Item) and isinstance(delta.operands[0], EntryLike):
        return arrived(delta.operands[0], delta.index)
    if isinstance(delta, Operation) and delta.functions == (np.add,):
        parts = [one for one in map(_arrived, delta.operands) if one is not None]
        return None if not parts else parts[0] if len(parts) == 1 else delta
    return delta


# --------------------------------------------------------------------------- results


@lru_cache(maxsize=16)
def _kind(function: Callable[..., Any]) -> Any:
    """NumPy's named tuple for the function's results."""
    return type(function(np.eye(1)))


def named(function: Callable[..., Any], node: Any) -> Any:
    """The results of a node as NumPy names them."""
    kind = _kind(function)
    return kind(*items(node, len(kind._fields)))


class Factors(Operation):
    """Several results of one matrix, or of a stack of them."""

    __slots__ = ()
    square: ClassVar[bool] = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        function = self.functions[0]
        spec = matrices(function, specs[0], self.square)
        dtype, real = dtypes(function, spec)
        if spec.shape is None:
            return TupleSpec(Spec(None, one) for one in self.of_dtypes(dtype, real))
        shapes = self.shapes(spec.shape[:-2], spec.shape[-2], spec.shape[-1])
        return TupleSpec(map(Spec, shapes, self.of_dtypes(dtype, real)))

    def shapes(self, stack: Shape, rows: Dim, columns: Dim) -> tuple[Shape, ...]:
        """The shape of each result."""
        raise NotImplementedError  # abstract

    def of_dtypes(self, dtype: Any, real: Any) -> tuple[Any, ...]:
        """The dtype of each result."""
        return dtype, dtype

    def evaluate(self, *values: Any) -> Any:
        return tuple(super().evaluate(*values))


class Values(Operation):
    """The values alone, which need no vectors: along the last axis."""

    __slots__ = ()
    square: ClassVar[bool] = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = matrices(self.functions[0], specs[0], self.square)
        dtype = dtypes(self.functions[0], spec)[0]
        if spec.shape is None:
            return Spec(None, dtype)
        return Spec((*spec.shape[:-2], smaller(*spec.shape[-2:])), dtype)


def smaller(rows: Dim, columns: Dim) -> Dim:
    if rows is None or columns is None:
        return None
    return min(rows, columns)
