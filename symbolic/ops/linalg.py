"""What do equations with matrices give back? Inverses and solutions, determinants, Cholesky's factor.

A Hermitian operand is taken for what it is: its delta is Hermitian too, whichever triangle NumPy reads.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import qualified, refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import ints, plain
from symbolic.ops.binding import implements
from symbolic.ops.deltas import chain, is_complex
from symbolic.ops.matrices import (
    Factors,
    MatrixError,
    adjoint,
    arrived,
    as_columns,
    dtypes,
    hermitian,
    items,
    matrices,
    named,
    total,
)
from symbolic.ops.operation import Operation, static
from symbolic.spec import AnySpec, Dim, Shape, Spec, broadcast, result_dtype, show


class Inv(Operation, numpy=np.linalg.inv):
    """The inverse of square matrices; LinAlgError where there is none.

    >>> import numpy as np
    >>> from symbolic import grad
    >>> grad(lambda a: np.sum(np.linalg.inv(a)))(np.diag([2.0, 1.0])).round(9).tolist()
    [[-0.25, -0.5], [-0.5, -1.0]]
    """

    __slots__ = ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = matrices(np.linalg.inv, specs[0], square=True)
        return Spec(spec.shape, dtypes(np.linalg.inv, spec)[0])

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        back = adjoint(out)
        return (-np.matmul(np.matmul(back, delta), back),)


class Solve(Operation, numpy=np.linalg.solve):
    """The x of a @ x = b; a b of one axis is a vector, of more a stack of matrices. LinAlgError, ShapeError."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")

    def infer(self, *specs: AnySpec) -> AnySpec:
        a, b = matrices(np.linalg.solve, specs[0], square=True), plain(specs[1])
        return Spec(solved(a.shape, b.shape), dtypes(np.linalg.solve, a, b)[0])

    def gradient(self, delta: Any, out: Any, a: Any, b: Any) -> Any:
        vector = b.ndim == 1
        deltas, solutions = (as_columns(delta), as_columns(out)) if vector else (delta, out)
        right = np.linalg.solve(adjoint(a), deltas)
        return -np.matmul(right, adjoint(solutions)), np.squeeze(right, axis=-1) if vector else right


def solved(a: Shape | None, b: Shape | None) -> Shape | None:
    if a is None or b is None:
        return None
    k = -1 if len(b) == 1 else -2
    if not b or (a[-1] != b[k] and a[-1] is not None and b[k] is not None):
        raise ShapeError(
            f"np.linalg.solve of shapes {show(a)} and {show(b)}: one right side has {a[-1]} entries",
            remedy="give b as a vector, or as matrices whose columns are the right sides: b[..., np.newaxis]",
        )
    if len(b) == 1:
        return a[:-1]
    return (*(broadcast([a[:-2], b[:-2]]) or ()), *b[-2:])


# --------------------------------------------------------------------------- determinants


class Det(Operation, numpy=np.linalg.det):
    """The determinant of square matrices; its gradient is right at singular matrices too."""

    __slots__ = ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = matrices(np.linalg.det, specs[0], square=True)
        return Spec(None if spec.shape is None else spec.shape[:-2], dtypes(np.linalg.det, spec)[0])

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        cofactors: Any = np.swapaxes(Adjugate(operand), -1, -2)
        return (chain(np.expand_dims(delta, (-2, -1)), cofactors),)


class Adjugate(Operation):
    """The adjugate of the first operand; with more operands, its derivative in the direction of each of them.

    No division: from singular values, the products of all others. tr(F · derivative) does not change when F and the
    directions change places, so every gradient is one of these again.
    """

    __slots__ = ()
    variadic = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        given = [plain(spec) for spec in specs]
        return Spec(broadcast([spec.shape for spec in given]), result_dtype(given))

    def evaluate(self, *values: Any) -> Any:
        a, *ways = np.broadcast_arrays(*values)
        fine = np.isfinite(a).all((-2, -1), keepdims=True)
        found = _derivative(np.where(fine, a, 0), ways)
        return np.where(fine, found if np.iscomplexobj(a) else found.real, np.nan).astype(np.result_type(*values))

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        back, (a, *ways) = adjoint(delta), operands
        rest = [ways[:k] + ways[k + 1 :] for k in range(len(ways))]
        return tuple([adjoint(Adjugate(a, *others, back)) for others in (ways, *rest)])


def _derivative(a: Any, ways: list[Any]) -> Any:
    if len(ways) > 1:
        return _coefficient(a, ways[:-1], ways[-1])
    u, s, vh = np.linalg.svd(a)
    turn = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    left, right = np.swapaxes(vh, -1, -2).conj(), np.swapaxes(u, -1, -2).conj()
    if not ways:
        return turn * (left * _others(s)[..., None, :]) @ right
    return turn * left @ _turned(s, right @ ways[0] @ left) @ right


def _turned(s: Any, way: Any) -> Any:
    """The derivative of the adjugate of a diagonal matrix: the terms of second order of det(diag(s) + way)."""
    one = np.eye(s.shape[-1], dtype=bool)
    pairs = np.where(one, 0, _others(np.where(one, 1, s[..., None, :])))
    diagonal = pairs @ np.diagonal(way, axis1=-2, axis2=-1)[..., None]
    return np.where(one, diagonal, -pairs * way)


def _others(s: Any) -> Any:
    """For each entry the product of all the others along the last axis."""
    ones = np.ones_like(s[..., :1])
    before = np.cumprod(np.concatenate([ones, s[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([ones, s[..., :0:-1]], -1), -1)[..., ::-1]
    return before * after


def _coefficient(a: Any, ways: list[Any], last: Any) -> Any:
    """The coefficient of t in a polynomial of a + t · last, from its values at roots of unity: no cancellation."""
    count = max(a.shape[-1], 3)
    sizes = [np.max(np.abs(one), (-2, -1), keepdims=True, initial=0) for one in (a, last)]
    radius = np.where(sizes[0] * sizes[1] == 0, 1, sizes[0]) / np.where(sizes[1] == 0, 1, sizes[1])
    roots = np.exp(2j * np.pi * np.arange(count) / count)
    return sum(_derivative(a + radius * root * last, ways) / (root * count * radius) for root in roots)


class Slogdet(Factors):
    """The sign (a number of modulus 1) of the determinant and the logarithm of its modulus.

    >>> import numpy as np
    >>> from symbolic import grad
    >>> grad(lambda a: np.linalg.slogdet(a).logabsdet)(np.array([[2.0, 1.0], [1.0, 1.0]])).round(9).tolist()
    [[1.0, -1.0], [-1.0, 2.0]]
    """

    __slots__ = ()
    functions: ClassVar[Any] = (np.linalg.slogdet,)

    def shapes(self, stack: Shape, rows: Dim, columns: Dim) -> tuple[Shape, ...]:
        return stack, stack

    def of_dtypes(self, dtype: Any, real: Any) -> tuple[Any, ...]:
        return dtype, real

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        turn, size = arrived(delta, 0), arrived(delta, 1)
        if turn is not None and is_complex(operand):
            size = total(size, 1j * np.imag(turn * np.conjugate(items(out, 1)[0])))
        if size is None:
            return (None,)  # the sign of a real number is a step
        return (chain(np.expand_dims(size, (-2, -1)), np.swapaxes(InvOrNan(operand), -1, -2)),)


class InvOrNan(Operation):
    """The inverse, and NaN where there is none: the slope of log|det|."""

    __slots__ = ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = matrices(np.linalg.inv, specs[0], square=True)
        return Spec(spec.shape, dtypes(np.linalg.inv, spec)[0])

    def evaluate(self, *values: Any) -> Any:
        (x,) = values
        try:
            return np.linalg.inv(x)
        except np.linalg.LinAlgError:
            if x.ndim == 2:
                return np.full_like(x, np.nan, dtype=np.result_type(x, np.float32))
            return np.stack([self.evaluate(one) for one in x])

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        back = adjoint(out)
        return (-np.matmul(np.matmul(back, delta), back),)


@implements(np.linalg.slogdet, operands="invertible")
def slogdet(a: Any) -> Any:
    return named(np.linalg.slogdet, Slogdet(a))


class Cholesky(Operation, numpy=np.linalg.cholesky):
    """The lower (or `upper`) triangular factor of positive definite matrices; LinAlgError for others."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"upper": False}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = matrices(np.linalg.cholesky, specs[0], square=True)
        return Spec(spec.shape, dtypes(np.linalg.cholesky, spec)[0])

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        factor, back = (adjoint(out), adjoint(delta)) if self.upper else (out, delta)
        upper = adjoint(factor)
        product = np.matmul(upper, back)
        lower = (np.tril(product) + np.tril(product, -1)) / 2
        half = adjoint(np.linalg.solve(upper, lower))
        return (hermitian(np.linalg.solve(upper, half)),)


# --------------------------------------------------------------------------- by formulas


@implements(np.linalg.tensorinv, operands="tensor_of_equations")
def tensorinv(a: Any, ind: int = 2) -> Any:
    operand, ind = as_layer(a), int(static(ind, "ind of np.linalg.tensorinv"))
    if ind <= 0:
        refuse(f"np.linalg.tensorinv with ind={ind}", "give how many axes come first: 1 or more", ShapeError)
    rows, columns = operand.shape[:ind], operand.shape[ind:]
    count = int(np.prod(columns))
    return np.reshape(np.linalg.inv(np.reshape(operand, (count, -1))), (*columns, *rows))


@implements(np.linalg.tensorsolve, operands="tensor_equations")
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    operand: Any = as_layer(a)
    right = as_layer(b)
    if axes is not None:
        moved = [k % operand.ndim for k in np.atleast_1d(ints(axes, "axes of np.linalg.tensorsolve"))]
        operand = np.transpose(operand, [k for k in range(operand.ndim) if k not in moved] + moved)
    shape = operand.shape[right.ndim :]
    count = int(np.prod(shape))
    if operand.size != count**2:
        seen = f"{qualified(np.linalg.tensorsolve)} of shapes {show(operand.shape)} and {show(right.shape)}"
        refuse(seen, "the sizes of b's axes must multiply to those of the axes that are left", MatrixError)
    solution = np.linalg.solve(np.reshape(operand, (count, count)), np.ravel(right))
    return np.reshape(solution, shape)
