"""Which equations does SciPy solve? Those of general and structured matrices, triangles, factors, Sylvester's.

Values are SciPy's own. A Hermitian operand of which one triangle is read has a Hermitian delta.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.linalg as sl

from symbolic.errors import DtypeError, ShapeError
from symbolic.layer import Layer, refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import plain
from symbolic.ops.binding import implements
from symbolic.ops.deltas import conjugate
from symbolic.ops.linalg import solved
from symbolic.ops.matrices import adjoint, as_columns, dtypes, hermitian, matrices
from symbolic.ops.operation import Operation, static
from symbolic.spec import AnySpec, Spec

# --------------------------------------------------------------------------- matrices of a kind


def _transposed(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def _symmetric(x: Any) -> Any:
    return (x + _transposed(x)) / 2


def _band(x: Any) -> Any:
    return np.tril(np.triu(x, -1), 1)


def _diagonal(x: Any) -> Any:
    return np.tril(np.triu(x))


_READ: dict[Any, Any] = {
    "sym": _symmetric,
    "symmetric": _symmetric,
    "her": hermitian,
    "hermitian": hermitian,
    "pos": hermitian,
    "positive definite": hermitian,
    "upper triangular": np.triu,
    "lower triangular": np.tril,
    "diagonal": _diagonal,
    "tridiagonal": _band,
}
"""Which part of a's delta belongs to the entries that are read; any other kind reads all."""
_FLIPPED = {"upper triangular": "lower triangular", "lower triangular": "upper triangular"}
_OWN_ADJOINT = ("her", "hermitian", "pos", "positive definite")
_OWN_TRANSPOSE = ("sym", "symmetric")


class SolveAs(Operation):
    """The x of a @ x = b, or of aᵀ @ x = b, for an `a` of a kind that is said."""

    __slots__ = ()
    functions: ClassVar[Any] = (sl.solve,)
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")
    defaults: ClassVar[Any] = {"lower": False, "assume_a": None, "transposed": False, "check_finite": True}

    def infer(self, *specs: AnySpec) -> AnySpec:
        a, b = matrices(sl.solve, specs[0], square=True), plain(specs[1])
        return Spec(solved(a.shape, b.shape), dtypes(sl.solve, a, b)[0])

    def gradient(self, delta: Any, out: Any, a: Any, b: Any) -> Any:
        vector = b.ndim == 1
        deltas, solutions = (as_columns(delta), as_columns(out)) if vector else (delta, out)
        right = self.back(a, deltas)
        of_a = -np.matmul(right, adjoint(solutions))
        if self.transposed:
            of_a = _transposed(of_a)
        return _READ.get(self.assume_a, as_layer)(of_a), np.squeeze(right, axis=-1) if vector else right

    def back(self, a: Any, deltas: Any) -> Any:
        """The solution of the adjoint equation."""
        if self.assume_a in _OWN_ADJOINT:
            return self.again(conjugate(a) if self.transposed else a, deltas, self.assume_a)
        if self.assume_a in _OWN_TRANSPOSE or self.transposed:
            return self.again(conjugate(a), deltas, self.assume_a)
        return self.again(adjoint(a), deltas, _FLIPPED.get(self.assume_a, self.assume_a))

    def again(self, a: Any, b: Any, assume_a: Any) -> Any:
        return SolveAs(a, b, lower=self.lower, assume_a=assume_a, check_finite=False)


_KINDS: Any = ({}, {"assume_a": "upper triangular"}, {"transposed": True})


@implements(sl.solve, operands="equations", samples=_KINDS)
def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    assume_a: Any = None,
    transposed: bool = False,
) -> Any:
    """The arrays are never overwritten."""
    given = static((lower, assume_a, transposed, check_finite), "an option of scipy.linalg.solve")
    return SolveAs.make((as_layer(a), as_layer(b)), given)


# --------------------------------------------------------------------------- triangles


class SolveTriangular(Operation):
    """The x of op(a) @ x = b, where one triangle of a is read."""

    __slots__ = ()
    functions: ClassVar[Any] = (sl.solve_triangular,)
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")
    defaults: ClassVar[Any] = {"trans": 0, "lower": False, "unit_diagonal": False, "check_finite": True}

    def infer(self, *specs: AnySpec) -> AnySpec:
        a, b = matrices(sl.solve_triangular, specs[0], square=True), plain(specs[1])
        return Spec(solved(a.shape, b.shape), dtypes(sl.solve_triangular, a, b)[0])

    def gradient(self, delta: Any, out: Any, a: Any, b: Any) -> Any:
        vector = b.ndim == 1
        deltas, solutions = (as_columns(delta), as_columns(out)) if vector else (delta, out)
        right = self.again(conjugate(a) if self.trans == 1 else a, deltas, 2 if self.trans == 0 else 0)
        of_op = -np.matmul(right, adjoint(solutions))
        of_a = of_op if self.trans == 0 else _transposed(of_op) if self.trans == 1 else adjoint(of_op)
        off = 1 if self.unit_diagonal else 0
        of_a = np.tril(of_a, -off) if self.lower else np.triu(of_a, off)
        return of_a, np.squeeze(right, axis=-1) if vector else right

    def again(self, a: Any, b: Any, trans: int) -> Any:
        return SolveTriangular.make((as_layer(a), as_layer(b)), (trans, self.lower, self.unit_diagonal, False))


_TRANS = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


@implements(
    sl.solve_triangular,
    operands="equations",
    samples=({}, {"lower": True}, {"trans": 1}, {"trans": "C", "lower": True}, {"unit_diagonal": True}),
)
def solve_triangular(
    a: Any,
    b: Any,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:
    """The arrays are never overwritten."""
    trans, *others = static((trans, lower, unit_diagonal, check_finite), "an option of scipy.linalg.solve_triangular")
    if trans not in _TRANS:
        refuse(f"scipy.linalg.solve_triangular with trans={trans!r}", "use 0, 1, 2, 'N', 'T' or 'C'", ShapeError)
    return SolveTriangular.make((as_layer(a), as_layer(b)), (_TRANS[trans], *map(bool, others)))


@implements(sl.cho_solve, operands="factor_and_right")
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    c, lower = c_and_lower
    first, last = (0, 2) if lower else (2, 0)
    half = solve_triangular(c, b, first, lower, check_finite=check_finite)
    return solve_triangular(c, half, last, lower, check_finite=check_finite)


@implements(sl.lu_solve, operands="lu_and_right", samples=({}, {"trans": 1}))
def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """The factors are plain arrays: from traced ones `scipy.linalg.solve` has the gradient."""
    factors, pivots = lu_and_piv
    right: Any = as_layer(b)
    if isinstance(factors, Layer) or isinstance(pivots, Layer) or np.ndim(factors) != 2:
        refuse("scipy.linalg.lu_solve with traced factors, or a stack", "use scipy.linalg.solve(a, b)", DtypeError)
    order = np.arange(len(pivots))
    for k, other in enumerate(pivots):
        order[[k, other]] = order[[other, k]]
    if trans == 0:
        half = solve_triangular(factors, right[order], lower=True, unit_diagonal=True, check_finite=check_finite)
        return solve_triangular(factors, half, check_finite=check_finite)
    half = solve_triangular(factors, right, trans, check_finite=check_finite)
    turned = solve_triangular(factors, half, trans, lower=True, unit_diagonal=True, check_finite=check_finite)
    return turned[np.argsort(order)]


# --------------------------------------------------------------------------- a matrix on both sides


class Sylvester(Operation):
    """The X of A @ X + X @ B = Q."""

    __slots__ = ()
    functions: ClassVar[Any] = (sl.solve_sylvester,)
    operand_names: ClassVar[tuple[str, ...]] = ("a", "b", "q")

    def infer(self, *specs: AnySpec) -> AnySpec:
        a, b = (matrices(sl.solve_sylvester, one, square=True) for one in specs[:2])
        q = matrices(sl.solve_sylvester, specs[2])
        return Spec(q.shape, dtypes(sl.solve_sylvester, a, b, q)[0])

    def gradient(self, delta: Any, out: Any, a: Any, b: Any, q: Any) -> Any:
        right = Sylvester(adjoint(a), adjoint(b), delta)
        up = adjoint(out)
        return -np.matmul(right, up), -np.matmul(up, right), right


@implements(sl.solve_sylvester, operands="sylvester")
def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    return Sylvester(a, b, q)


@implements(sl.solve_continuous_lyapunov, operands="lyapunov")
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """A @ X + X @ Aᴴ = Q."""
    return Sylvester(a, adjoint(as_layer(a)), q)


@implements(sl.solve_discrete_lyapunov, operands="discrete_lyapunov", samples=({}, {"method": "bilinear"}))
def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    """A @ X @ Aᴴ - X + Q = 0, as n² equations or, from n = 10 on, by the bilinear transformation, as in SciPy."""
    matrix: Any = as_layer(a)
    size = matrix.shape[-1]
    chosen = static(method, "method of scipy.linalg.solve_discrete_lyapunov") or ("direct" if size < 10 else "bilinear")
    if chosen.lower() == "direct":
        equations = np.eye(size**2) - np.kron(matrix, conjugate(matrix))
        return np.reshape(np.linalg.solve(equations, np.ravel(as_layer(q))), (size, size))
    one = np.eye(size)
    moved = np.linalg.inv(adjoint(matrix) + one)
    turned = np.matmul(adjoint(matrix) - one, moved)
    right = 2 * np.matmul(np.matmul(np.linalg.inv(matrix + one), q), moved)
    return solve_continuous_lyapunov(adjoint(turned), -right)
