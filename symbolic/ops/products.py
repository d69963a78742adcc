"""Which products have a shape of their own? Kronecker's, the cross product, convolution of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import AnyLayer, refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import plain
from symbolic.ops.binding import implements
from symbolic.ops.deltas import ReshapeLike, conjugate
from symbolic.ops.operation import Operation, array
from symbolic.spec import AnySpec, Shape, Spec, broadcast, result_dtype, show


class Kron(Operation, numpy=np.kron):
    """Kronecker's product: every entry of the first times the whole second operand."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")

    def infer(self, *specs: AnySpec) -> AnySpec:
        x, y = plain(specs[0]), plain(specs[1])
        dtype = result_dtype([x, y])
        if x.shape is None or y.shape is None:
            return Spec(None, dtype)
        one, other = _padded(x.shape, y.shape)
        sizes = [None if a is None or b is None else a * b for a, b in zip(one, other, strict=True)]
        return Spec(tuple(sizes), dtype)

    def gradient(self, delta: Any, out: Any, x: Any, y: Any) -> Any:
        blocks = Blocks.make((as_layer(delta), x, y))
        inner, outer, one, other = _factors(x, y)
        dx = np.sum(blocks * conjugate(other), axis=inner)
        dy = np.sum(blocks * conjugate(one), axis=outer)
        return ReshapeLike(dx, x), ReshapeLike(dy, y)

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        """One product of two arrays that are stretched over each other's axes, as NumPy has it."""
        out = array(self.infer(*specs))
        if not out.known or not all(array(spec).shape for spec in specs):
            return None
        _, _, one, other = _factors(*self.operands)
        return (one * other).reshape(out.shape)  # type: ignore[no-any-return]  # a layer


def _factors(x: Any, y: Any) -> tuple[tuple[int, ...], tuple[int, ...], Any, Any]:
    """The axes of `Blocks` that are the second factor's and the first's, and both factors, stretched over them."""
    rank = max(x.ndim, y.ndim)
    inner, outer = tuple(range(1, 2 * rank, 2)), tuple(range(0, 2 * rank, 2))
    one, other = (np.expand_dims(v, tuple(range(rank - v.ndim))) if v.ndim < rank else v for v in (x, y))
    return inner, outer, np.expand_dims(one, inner), np.expand_dims(other, outer)


def _padded(x: Shape, y: Shape) -> tuple[Shape, Shape]:
    rank = max(len(x), len(y))
    return (1,) * (rank - len(x)) + tuple(x), (1,) * (rank - len(y)) + tuple(y)


class Blocks(Operation):
    """A Kronecker product with two axes for each: of the first factor, and of the second."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "like1", "like2")
    shares = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        x, y = array(specs[1]).shape, array(specs[2]).shape
        pairs = None if x is None or y is None else zip(*_padded(x, y), strict=True)
        return Spec(None if pairs is None else tuple([n for pair in pairs for n in pair]), array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        pairs = zip(*_padded(np.shape(values[1]), np.shape(values[2])), strict=True)
        return np.reshape(values[0], [n for pair in pairs for n in pair])

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        out, whole = array(self.infer(*specs)), self.operands[0]
        return whole.reshape(out.shape) if out.known else None

    def gradient(self, delta: Any, out: Any, operand: Any, x: Any, y: Any) -> Any:
        return ReshapeLike(delta, operand), None, None


class Cross(Operation):
    """The cross product of vectors of three along the last axis."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.cross,)
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")

    def infer(self, *specs: AnySpec) -> AnySpec:
        x, y = plain(specs[0]), plain(specs[1])
        for spec in (x, y):
            if spec.shape is not None and (not spec.shape or spec.shape[-1] not in (3, None)):
                raise ShapeError(
                    f"np.cross of arrays of shapes {show(x.shape)} and {show(y.shape)}: the axis of the vectors must "
                    "have size 3",
                    remedy="append a 0 to vectors of two, or name their axis (axis=, or axisa= and axisb=)",
                )
        return Spec(broadcast([x.shape, y.shape]), result_dtype([x, y]))

    def gradient(self, delta: Any, out: Any, x: Any, y: Any) -> Any:
        return Cross.make((conjugate(y), as_layer(delta))), Cross.make((as_layer(delta), conjugate(x)))

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        """By NumPy's own products and differences, which meet others in one loop."""
        out = array(self.infer(*specs))
        if not out.known or out.dtype is None or out.dtype.kind == "b":
            return None
        x, y = ([one[..., k] for k in range(3)] for one in self.operands)
        pairs = ((1, 2), (2, 0), (0, 1))
        return as_layer(np.stack([x[a] * y[b] - x[b] * y[a] for a, b in pairs], axis=-1))


@implements(np.cross, operands="vectors_of_three")
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _last(as_layer(a), axisa), _last(as_layer(b), axisb)
    product = Cross.make((as_layer(x), as_layer(y)))
    return product if axisc == -1 else np.moveaxis(product, -1, axisc)


def _last(operand: Any, axis: int) -> Any:
    return operand if axis == -1 else np.moveaxis(operand, axis, -1)


@implements(np.linalg.cross, operands="vectors_of_three")
def linalg_cross(x1: Any, x2: Any, axis: int = -1) -> Any:
    return cross(x1, x2, axis=axis)


# --------------------------------------------------------------------------- sequences


class _OfSequences(Operation):
    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")
    mode: ClassVar[str] = ""

    def infer(self, *specs: AnySpec) -> AnySpec:
        x, y = plain(specs[0]), plain(specs[1])
        sizes = []
        for spec in (x, y):
            if spec.shape is not None and (len(spec.shape) != 1 or spec.shape[0] == 0):
                raise ShapeError(
                    f"{type(self).__name__} of arrays of shapes {show(x.shape)} and {show(y.shape)}",
                    remedy="give two vectors with at least one entry each",
                )
            sizes.append(None if spec.shape is None else spec.shape[0])
        size = None if None in sizes else self.length(sizes[0], sizes[1])
        return Spec((size,), result_dtype([x, y]))

    def length(self, n: Any, m: Any) -> int:
        raise NotImplementedError  # abstract

    def evaluate(self, *values: Any) -> Any:
        return self.functions[0](*values, mode=self.mode)


class Convolve(_OfSequences):
    """The full convolution of two sequences."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.convolve,)
    mode = "full"

    def length(self, n: Any, m: Any) -> int:
        return int(n + m - 1)

    def gradient(self, delta: Any, out: Any, x: Any, y: Any) -> Any:
        return Correlate.make((as_layer(delta), y)), Correlate.make((as_layer(delta), x))


class Correlate(_OfSequences):
    """The correlation of a sequence with a shorter one, at the places where both overlap entirely."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.correlate,)
    mode = "valid"

    def length(self, n: Any, m: Any) -> int:
        return int(n - m + 1)

    def gradient(self, delta: Any, out: Any, x: Any, y: Any) -> Any:
        return Convolve.make((as_layer(delta), y)), Correlate.make((x, as_layer(delta)))


_MODES = ("full", "same", "valid")


@implements(np.convolve, operands="vectors", samples=({}, {"mode": "same"}, {"mode": "valid"}))
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    x: Any = np.atleast_1d(as_layer(a))
    y: Any = np.atleast_1d(as_layer(v))
    full = Convolve.make((as_layer(x), as_layer(y)))
    if mode == "full":
        return full
    if mode not in _MODES:
        refuse(f"np.convolve with mode={mode!r}", f"use one of {', '.join(_MODES)}")
    n, m = max(x.size, y.size), min(x.size, y.size)
    return full[m - 1 : n] if mode == "valid" else full[(m - 1) // 2 : (m - 1) // 2 + n]


@implements(np.correlate, operands="vectors", samples=({}, {"mode": "same"}, {"mode": "full"}))
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    x: Any = np.atleast_1d(as_layer(a))
    y: Any = np.atleast_1d(as_layer(v))
    if mode not in _MODES:
        refuse(f"np.correlate with mode={mode!r}", f"use one of {', '.join(_MODES)}")
    full = Convolve.make((as_layer(x), as_layer(np.flip(np.conjugate(y)))))
    if mode == "full":
        return full
    n, m = max(x.size, y.size), min(x.size, y.size)
    if mode == "valid":
        return full[m - 1 : n]
    start = (m - 1) // 2 if x.size >= y.size else m // 2
    return full[start : start + n]
