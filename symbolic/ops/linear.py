"""Which operations are linear in each of their operands? Products of matrices and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import AnyLayer, refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import plain
from symbolic.ops.binding import Kernel, implements
from symbolic.ops.deltas import conjugate
from symbolic.ops.operation import Operation, array, static
from symbolic.spec import (
    AnySpec,
    Dim,
    Shape,
    Spec,
    broadcast,
    by_specs,
    normalize_axis,
    result_dtype,
    show,
    ufunc_dtype,
)


def mismatch(name: str, a: Shape, b: Shape, i: int, j: int) -> ShapeError:
    """The sentence for two sizes that should be equal."""
    return ShapeError(
        f"{name} of shapes {show(a)} and {show(b)}: axis {i} of the first has size {a[i]}, "
        f"axis {j} of the second has size {b[j]}",
        remedy="make the two sizes equal; perhaps one operand must be transposed",
    )


def _differ(a: Dim, b: Dim) -> bool:
    return a is not None and b is not None and a != b


class MatMul(Operation, numpy=np.matmul):
    """The product of matrices over the last two axes; a vector is a row on the left, a column on the right.

    ShapeError where the sizes do not fit.

    >>> import numpy as np
    >>> from symbolic import Identity
    >>> np.ones((1, 2)) @ Identity()
    MatMul(Literal(array([[1., 1.]])), Identity())
    """

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")

    @by_specs
    def infer(self, *specs: AnySpec) -> AnySpec:
        x, y = array(specs[0]), array(specs[1])
        return Spec(_matmul_shape(x.shape, y.shape), ufunc_dtype(np.matmul, [plain(x), plain(y)]))

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        return np.matmul, True

    def gradient(self, delta: Any, out: Any, x: Any, y: Any) -> Any:
        cx, cy = conjugate(x), conjugate(y)
        if x.ndim == 1 and y.ndim == 1:
            return delta * cy, delta * cx
        if x.ndim == 1:
            return _column(cy, delta), np.expand_dims(cx, 1) * np.expand_dims(delta, -2)
        if y.ndim == 1:
            return np.expand_dims(delta, -1) * cy, _column(np.swapaxes(cx, -1, -2), delta)
        dx = np.matmul(delta, np.swapaxes(cy, -1, -2))
        if y.ndim == 2 and x.ndim > 2:  # one product instead of a stack of them that would be summed
            axes = tuple(range(x.ndim - 1))
            return dx, np.tensordot(cx, delta, axes=(axes, axes))
        return dx, np.matmul(np.swapaxes(cx, -1, -2), delta)


def _column(matrix: Any, vector: Any) -> Any:
    """matrix @ vector, for a stack of each."""
    if matrix.ndim == 2 and vector.ndim == 1:
        return np.matmul(matrix, vector)
    return np.squeeze(np.matmul(matrix, np.expand_dims(vector, -1)), axis=-1)


def _matmul_shape(x: Shape | None, y: Shape | None) -> Shape | None:
    for shape in (x, y):
        if shape == ():
            raise ShapeError(
                f"matmul of shapes {show(x)} and {show(y)}: a 0-d operand has no axis to multiply along",
                remedy="use * for a product with a number",
            )
    if x is None or y is None:
        return None
    k = max(-2, -len(y))
    if _differ(x[-1], y[k]):
        raise mismatch("matmul", x, y, -1, k)
    rows = x[-2:-1] if len(x) > 1 else ()
    columns = y[-1:] if len(y) > 1 else ()
    try:
        stack = broadcast([x[:-2], y[:-2]])
    except ShapeError as error:
        seen = f"matmul of shapes {show(x)} and {show(y)}: the stacks of matrices do not broadcast"
        raise ShapeError(seen, remedy="make the leading sizes equal or 1") from error
    return (*(stack or ()), *rows, *columns)


class Dot(Operation, numpy=np.dot):
    """`np.dot`: over the last axis of the first and the last but one of the second operand; with a number, times."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")

    def infer(self, *specs: AnySpec) -> AnySpec:
        x, y = plain(specs[0]), plain(specs[1])
        dtype = result_dtype([x, y])
        if x.shape is None or y.shape is None:
            return Spec(None, dtype)
        if not x.shape or not y.shape:
            return Spec(x.shape or y.shape, dtype)
        k = max(-2, -len(y.shape))
        if _differ(x.shape[-1], y.shape[k]):
            raise mismatch("dot", x.shape, y.shape, -1, k)
        return Spec((*x.shape[:-1], *y.shape[:-2], *(y.shape[-1:] if len(y.shape) > 1 else ())), dtype)

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        ranks = [plain(spec).ndim for spec in specs]
        return MatMul.make(self.operands) if all(rank in (1, 2) for rank in ranks) else None

    def gradient(self, delta: Any, out: Any, x: Any, y: Any) -> Any:
        if x.ndim == 0 or y.ndim == 0:
            return delta * conjugate(y), delta * conjugate(x)
        if x.ndim <= 2 and y.ndim <= 2:
            return MatMul.make((x, y)).gradient(delta, out, x, y)
        axis = max(y.ndim - 2, 0)
        return _contraction_gradient(delta, x, y, [x.ndim - 1], [axis])


class TensorDot(Operation, numpy=np.tensordot):
    """The sum of products over pairs of axes, by one product of matrices.

    >>> import numpy as np
    >>> from symbolic import Identity
    >>> np.tensordot(Identity(), Identity(), axes=([0], [1]))
    TensorDot(Identity(), Identity(), axes=((0,), (1,)))
    """

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")
    defaults: ClassVar[Any] = {"axes": 2}
    samples: ClassVar[Any] = ({"axes": 1}, {"axes": 0}, {"axes": (0, 0)}, {"axes": ((0, -1), (0, -1))})

    def pairs(self, m: int, n: int) -> tuple[list[int], list[int]]:
        """The axes that are summed over, for operands of `m` and `n` axes."""
        axes = self.axes
        if isinstance(axes, int):
            axes = tuple(range(m - axes, m)), tuple(range(axes))
        one, other = ((side,) if isinstance(side, int) else side for side in axes)
        if len(one) != len(other):
            raise ShapeError(
                f"tensordot with axes={self.axes}: {len(one)} axes of the first operand, {len(other)} of the second",
                remedy="name as many axes of each",
            )
        return [normalize_axis(a, m) for a in one], [normalize_axis(a, n) for a in other]

    def infer(self, *specs: AnySpec) -> AnySpec:
        x, y = plain(specs[0]), plain(specs[1])
        dtype = result_dtype([x, y])
        if x.shape is None or y.shape is None:
            return Spec(None, dtype)
        one, other = self.pairs(len(x.shape), len(y.shape))
        for a, b in zip(one, other, strict=True):
            if _differ(x.shape[a], y.shape[b]):
                raise mismatch("tensordot", x.shape, y.shape, a, b)
        return Spec((*_others(x.shape, one), *_others(y.shape, other)), dtype)

    def evaluate(self, *values: Any) -> Any:
        x, y = np.asarray(values[0]), np.asarray(values[1])
        one, other = self.pairs(x.ndim, y.ndim)
        product = np.matmul(_matrix(x, one, False), _matrix(y, other, True))
        return np.reshape(product, _others(x.shape, one) + _others(y.shape, other))  # an array without axes, too

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        x, y = array(specs[0]), array(specs[1])
        if not (x.known and y.known and x.shape and y.shape and isinstance(out, Spec) and out.shape):
            return self.evaluate, False
        one, other = self.pairs(len(x.shape), len(y.shape))

        shape = out.shape

        def run(x: Any, y: Any, out: Any) -> Any:
            left, right = _matrix(x, one, False), _matrix(y, other, True)
            if out is None:
                return np.matmul(left, right).reshape(shape)
            if out.flags.c_contiguous:
                np.matmul(left, right, out=out.reshape(len(left), right.shape[1]))
            else:
                out[...] = np.matmul(left, right).reshape(shape)
            return out

        return run, True

    def gradient(self, delta: Any, out: Any, x: Any, y: Any) -> Any:
        return _contraction_gradient(delta, x, y, *self.pairs(x.ndim, y.ndim))


def _others(shape: Any, axes: Sequence[int]) -> Any:
    return tuple([d for k, d in enumerate(shape) if k not in axes])


def _matrix(x: Any, summed: Sequence[int], summed_first: bool) -> Any:
    """`x` as a matrix, of the axes that are summed over and the others; which come first is the caller's wish.

    A copy, where one is needed, is made in the order that reads memory in long runs; BLAS takes a transposed matrix.
    """
    kept = [k for k in range(x.ndim) if k not in summed]
    rows, columns = (list(summed), kept) if summed_first else (kept, list(summed))
    fastest = min(range(x.ndim), key=lambda k: (x.shape[k] == 1, abs(x.strides[k]), -x.shape[k]), default=-1)
    count = int(np.prod([x.shape[k] for k in rows], dtype=int))
    width = int(np.prod([x.shape[k] for k in columns], dtype=int))
    if fastest in rows:
        return x.transpose(columns + rows).reshape(width, count).T
    return x.transpose(rows + columns).reshape(count, width)


def _contraction_gradient(delta: Any, x: Any, y: Any, one: list[int], other: list[int]) -> Any:
    """The deltas of a sum of products over the pairs of axes `one` of x and `other` of y."""
    mine = [k for k in range(x.ndim) if k not in one]
    yours = [k for k in range(y.ndim) if k not in other]
    for_x = np.tensordot(delta, conjugate(y), axes=(tuple(range(len(mine), len(mine) + len(yours))), tuple(yours)))
    for_y = np.tensordot(conjugate(x), delta, axes=(tuple(mine), tuple(range(len(mine)))))
    x_order = mine + [one[other.index(k)] for k in sorted(other)]
    y_order = [other[one.index(k)] for k in sorted(one)] + yours
    return _in_order(for_x, x_order), _in_order(for_y, y_order)


def _in_order(value: Any, order: list[int]) -> Any:
    """The axes, which have come out in this order, brought to their places."""
    if order == sorted(order):
        return value
    return np.transpose(value, tuple(np.argsort(order).tolist()))


@implements(np.tensordot, operands="cubes", samples=TensorDot.samples)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    axes = static(axes, "axes= of np.tensordot")
    if isinstance(axes, (int, np.integer)):
        named: Any = int(axes)
    else:
        named = tuple([(int(side),) if np.ndim(side) == 0 else tuple(map(int, side)) for side in axes])
    return TensorDot.make((as_layer(a), as_layer(b)), (named,))


# --------------------------------------------------------------------------- by formulas


@implements(np.linalg.tensordot, operands="cubes", samples=TensorDot.samples)
def linalg_tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    return tensordot(x1, x2, axes)


@implements(np.linalg.matmul, operands="matrices")
def linalg_matmul(x1: Any, x2: Any) -> Any:
    return np.matmul(as_layer(x1), as_layer(x2))


@implements(np.inner, operands="alike")
def inner(a: Any, b: Any) -> Any:
    x, y = as_layer(a), as_layer(b)
    return x * y if x.ndim == 0 or y.ndim == 0 else np.tensordot(x, y, axes=(-1, -1))[()]


@implements(np.vdot, operands="alike")
def vdot(a: Any, b: Any) -> Any:
    return np.dot(np.conjugate(np.ravel(as_layer(a))), np.ravel(as_layer(b)))


@implements(np.vecdot, np.linalg.vecdot, operands="alike")
def vecdot(x1: Any, x2: Any, axis: int = -1) -> Any:
    given: list[Any] = [as_layer(x1), as_layer(x2)]
    x, y = (one if axis == -1 else np.moveaxis(one, axis, -1) for one in given)
    return np.matmul(np.expand_dims(np.conjugate(x), -2), np.expand_dims(y, -1))[..., 0, 0][()]


@implements(np.matvec, operands="matrix_vector")
def matvec(x1: Any, x2: Any) -> Any:
    return np.matmul(as_layer(x1), np.expand_dims(as_layer(x2), -1))[..., 0]


@implements(np.vecmat, operands="vector_matrix")
def vecmat(x1: Any, x2: Any) -> Any:
    return np.matmul(np.expand_dims(np.conjugate(as_layer(x1)), -2), as_layer(x2))[..., 0, :]


@implements(np.outer, operands="vectors")
def outer(a: Any, b: Any) -> Any:
    return np.expand_dims(np.ravel(as_layer(a)), 1) * np.expand_dims(np.ravel(as_layer(b)), 0)


@implements(np.linalg.outer, operands="vectors")
def linalg_outer(x1: Any, x2: Any) -> Any:
    x, y = as_layer(x1), as_layer(x2)
    if x.ndim != 1 or y.ndim != 1:
        refuse(f"np.linalg.outer of {x.ndim} and {y.ndim} axes", "give two vectors, or use np.outer", ShapeError)
    return outer(x, y)


@implements(np.linalg.multi_dot, operands="chain")
def multi_dot(arrays: Any) -> Any:
    return reduce(np.dot, [as_layer(one) for one in arrays])


@implements(np.linalg.matrix_power, operands="square", samples=({"n": 1}, {"n": 2}, {"n": 5}))
def matrix_power(a: Any, n: int) -> Any:
    operand, power = as_layer(a), int(static(n, "n of np.linalg.matrix_power"))
    if power < 0:
        return matrix_power(np.linalg.inv(operand), -power)
    if power == 0:
        return np.zeros_like(operand) + np.eye(operand.shape[-1], dtype=operand.dtype)
    half = operand if power == 1 else matrix_power(operand, power // 2)
    whole = half if power == 1 else np.matmul(half, half)
    return np.matmul(whole, operand) if power % 2 and power > 1 else whole
