"""What do singular values say? The decomposition, pseudo-inverses, least squares, rank and condition.

Vectors that belong to equal values may turn among themselves: deltas by such turns are left out, so that whatever
does not depend on them has its gradient, and nothing is infinite.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import refuse, unsupported
from symbolic.literal import as_layer
from symbolic.ops.axes import plain
from symbolic.ops.binding import implements
from symbolic.ops.matrices import (
    Factors,
    MatrixError,
    Values,
    adjoint,
    arrived,
    as_columns,
    as_rows,
    dtypes,
    items,
    matrices,
    named,
    quotients,
    smaller,
    total,
)
from symbolic.ops.operation import Operation, static
from symbolic.spec import AnySpec, Dim, Shape, Spec, TupleSpec, show


class Svd(Factors):
    """U, the singular values and V's adjoint: x = U · diag(s) · Vᴴ."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.linalg.svd,)
    defaults: ClassVar[Any] = {"full_matrices": True}
    square = False

    def shapes(self, stack: Shape, rows: Dim, columns: Dim) -> tuple[Shape, ...]:
        small = smaller(rows, columns)
        left, right = (rows, columns) if self.full_matrices else (small, small)
        return (*stack, rows, left), (*stack, small), (*stack, right, columns)

    def of_dtypes(self, dtype: Any, real: Any) -> tuple[Any, ...]:
        return dtype, real, dtype

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        du, ds, dvh = (arrived(delta, k) for k in range(3))
        rows, columns = operand.shape[-2:]
        if self.full_matrices and rows != columns:
            if du is not None or dvh is not None:
                raise unsupported(
                    "the gradient of np.linalg.svd by vectors beyond the singular values (full_matrices=True)",
                    "call np.linalg.svd(x, full_matrices=False)",
                )
            out = Svd(operand, full_matrices=False)
        u, s, vh = items(out, 3)
        scaled = None if ds is None else u * as_rows(ds)
        if du is None and dvh is None:
            return (np.matmul(total(scaled), vh),)
        back: Any = np.matmul(total(scaled, np.matmul(u, _turns(u, s, vh, du, dvh))), vh)
        inverse = 2 * np.diagonal(quotients(s, plus=True), axis1=-2, axis2=-1)
        if du is not None and rows > columns:
            beside = du * as_rows(inverse)
            back = back + np.matmul(beside - np.matmul(u, np.matmul(adjoint(u), beside)), vh)
        if dvh is not None and rows < columns:
            beside = as_columns(inverse) * dvh
            back = back + np.matmul(u, beside - np.matmul(np.matmul(beside, adjoint(vh)), vh))
        return (back,)


def _turns(u: Any, s: Any, vh: Any, du: Any, dvh: Any) -> Any:
    """What turns of the vectors give: those of both sides together over s_j - s_i, against one another over s_j + s_i.

    (α·s_j + β·s_i) / (s_j² - s_i²), taken apart, so that equal values leave out no more than they must.
    """
    a = 0 if du is None else _skew(np.matmul(adjoint(u), du))
    b = 0 if dvh is None else _skew(np.matmul(vh, adjoint(dvh)))
    return ((a + b) * quotients(s) + (a - b) * quotients(s, plus=True)) / 2


def _skew(x: Any) -> Any:
    return x - adjoint(x)


class Svdvals(Values):
    """The singular values, descending."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.linalg.svdvals,)
    square = False

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        u, _, vh = items(Svd(operand, full_matrices=False), 3)
        return (np.matmul(u * as_rows(delta), vh),)


@implements(np.linalg.svd, operands="full_rank", samples=({"full_matrices": False}, {"compute_uv": False}))
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    if not static(compute_uv, "compute_uv of np.linalg.svd"):
        return Svdvals(a)
    return named(np.linalg.svd, Svd(a, full_matrices=bool(static(full_matrices, "full_matrices of np.linalg.svd"))))


@implements(np.linalg.svdvals, operands="full_rank")
def svdvals(x: Any) -> Any:
    return Svdvals(x)


# --------------------------------------------------------------------------- least squares


class Pinv(Operation):
    """The pseudo-inverse; its gradient is that among matrices of the same rank."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.linalg.pinv,)
    defaults: ClassVar[Any] = {"rcond": None, "rtol": np._NoValue}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = matrices(np.linalg.pinv, specs[0])
        shape = None if spec.shape is None else (*spec.shape[:-2], spec.shape[-1], spec.shape[-2])
        return Spec(shape, dtypes(np.linalg.pinv, spec)[0])

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        back, up = adjoint(delta), adjoint(out)
        within = np.matmul(np.matmul(up, delta), up)
        rows = np.matmul(back - np.matmul(operand, np.matmul(out, back)), np.matmul(out, up))
        columns = np.matmul(np.matmul(up, out), back - np.matmul(np.matmul(back, out), operand))
        return (rows + columns - within,)


@implements(np.linalg.pinv, operands="full_rank")
def pinv(a: Any, rcond: Any = None, *, rtol: Any = np._NoValue) -> Any:
    if rcond is not None and rtol is not np._NoValue:
        refuse("np.linalg.pinv with both rcond and rtol", "name one of them", ShapeError)
    what = "the tolerance of np.linalg.pinv"
    return Pinv.make((as_layer(a),), (static(rcond, what), static(rtol, what)))


class Lstsq(Operation):
    """The solution of least squares, the sums of squared residuals, the rank and the singular values."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.linalg.lstsq,)
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")
    defaults: ClassVar[Any] = {"rcond": None}

    def infer(self, *specs: AnySpec) -> AnySpec:
        a, b = matrices(np.linalg.lstsq, specs[0]), plain(specs[1])
        dtype = dtypes(np.linalg.solve, a, b)
        if a.shape is not None and len(a.shape) != 2:
            raise MatrixError(f"np.linalg.lstsq of shape {show(a.shape)}", remedy="give one matrix at a time")
        if a.shape is not None and b.shape is not None:
            _fits(a.shape, b.shape)
        rows, columns = a.shape or (None, None)
        solution = None if b.shape is None else (columns, *b.shape[1:])
        values = Spec((None if rows is None or columns is None else min(rows, columns),), dtype[1])
        rank = Spec((), np.linalg.lstsq(np.eye(1), np.eye(1))[2].dtype)
        return TupleSpec((Spec(solution, dtype[0]), Spec((None,), dtype[1]), rank, values))

    def evaluate(self, *values: Any) -> Any:
        a, b = values
        return tuple(np.linalg.lstsq(a, b, rcond=self.rcond))

    def gradient(self, delta: Any, out: Any, a: Any, b: Any) -> Any:
        back, squares, _, values = (arrived(delta, k) for k in range(4))
        if squares is not None:
            raise unsupported("the gradient by the residuals of np.linalg.lstsq", "write np.sum((b - a @ x) ** 2, 0)")
        da = db = None
        if back is not None:
            da, db = self.of_solution(back, items(out, 1)[0], a, b)
        if values is not None:
            u, _, vh = np.linalg.svd(a, full_matrices=False)
            da = total(da, np.matmul(u * values, vh))
        return da, db

    def of_solution(self, delta: Any, solution: Any, a: Any, b: Any) -> Any:
        """The rule of pinv(a) @ b."""
        vector = b.ndim == 1
        d, x, y = (as_columns(one) if vector else one for one in (delta, solution, b))
        inverse = self.inverse(a)
        up = adjoint(inverse)
        db = np.matmul(up, d)
        misfit, beside = y - np.matmul(a, x), d - np.matmul(adjoint(a), db)
        rows, columns = np.matmul(misfit, adjoint(np.matmul(inverse, db))), np.matmul(np.matmul(up, x), adjoint(beside))
        return rows + columns - np.matmul(db, adjoint(x)), np.squeeze(db, -1) if vector else db

    def inverse(self, a: Any) -> Any:
        """The pseudo-inverse, with the same singular values left out."""
        if self.rcond is not None and self.rcond < 0:
            return Pinv(a, rcond=float(np.finfo(dtypes(np.linalg.pinv, Spec((), a.dtype))[0]).eps))
        return Pinv(a, rtol=None) if self.rcond is None else Pinv(a, rcond=self.rcond)


def _fits(a: Shape, b: Shape) -> None:
    if len(b) not in (1, 2) or (a[0] != b[0] and a[0] is not None and b[0] is not None):
        raise MatrixError(
            f"np.linalg.lstsq of shapes {show(a)} and {show(b)}: axis 0 of both is the number of equations",
            remedy="give b as a vector, or as a matrix of as many rows as a has",
        )


@implements(np.linalg.lstsq, operands="overdetermined")
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    rcond = static(rcond, "rcond of np.linalg.lstsq")
    return tuple(items(Lstsq.make((as_layer(a), as_layer(b)), (None if rcond is None else float(rcond),)), 4))


class MatrixRank(Operation):
    """How many singular values are not zero: a step, without a gradient."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.linalg.matrix_rank,)
    defaults: ClassVar[Any] = {"tol": None, "hermitian": False, "rtol": None}

    def infer(self, *specs: AnySpec) -> AnySpec:
        shape = plain(specs[0]).shape
        return Spec(None if shape is None else shape[:-2], np.dtype(np.intp))

    def evaluate(self, *values: Any) -> Any:
        tol, hermitian, rtol = self.parameters
        return np.asarray(np.linalg.matrix_rank(values[0], tol, hermitian, rtol=rtol), np.intp)[()]

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


@implements(np.linalg.matrix_rank, operands="matrix")
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    what = "the tolerance of np.linalg.matrix_rank"
    return MatrixRank(A, tol=static(tol, what), hermitian=hermitian, rtol=static(rtol, what))


@implements(np.linalg.cond, operands="invertible", samples=({}, {"p": -2}, {"p": "fro"}, {"p": 1}, {"p": np.inf}))
def cond(x: Any, p: Any = None) -> Any:
    operand = as_layer(x)
    with np.errstate(all="ignore"):  # as NumPy does: an infinite condition is an answer
        if p in (None, 2, -2):
            values = np.linalg.svd(operand, compute_uv=False)
            return values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
        one, other = (np.linalg.norm(each, p, (-2, -1)) for each in (operand, np.linalg.inv(operand)))
        return one * other
