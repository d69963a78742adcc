"""Into which factors does SciPy take a matrix apart? NumPy's, of `linalg`, `decompositions` and `singular`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.linalg as sl

from symbolic.errors import DtypeError, ShapeError
from symbolic.layer import FUNCTIONS, refuse, unsupported
from symbolic.literal import as_layer
from symbolic.ops.binding import implements
from symbolic.ops.matrices import adjoint, dtypes, hermitian, matrices
from symbolic.ops.operation import Operation, static
from symbolic.spec import AnySpec, Spec


class Mirrored(Operation):
    """The Hermitian matrix of which one triangle is read; its delta is Hermitian."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"lower": True}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = matrices(np.linalg.eigh, specs[0], square=True)
        return Spec(spec.shape, dtypes(np.linalg.inv, spec)[0])

    def evaluate(self, *values: Any) -> Any:
        (x,) = values
        half, rest = (np.tril(x), np.tril(x, -1)) if self.lower else (np.triu(x), np.triu(x, 1))
        return (half + np.swapaxes(rest, -1, -2).conj()).astype(np.linalg.inv(np.eye(1, dtype=x.dtype)).dtype)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (hermitian(delta),)


# --------------------------------------------------------------------------- inverses


@implements(sl.inv, operands="invertible")
def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return np.linalg.inv(a)


@implements(sl.det, operands="square")
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """In double precision, whatever the matrix is of."""
    return np.linalg.det(np.multiply(a, np.float64(1)))


@implements(sl.pinv, operands="full_rank")
def pinv(a: Any, *, rtol: Any = None, check_finite: bool = True) -> Any:
    return np.linalg.pinv(a, rtol=rtol)


@implements(sl.pinvh, operands="hermitian")
def pinvh(a: Any, rtol: Any = None, lower: bool = True, check_finite: bool = True) -> Any:
    return np.linalg.pinv(Mirrored(a, lower=bool(static(lower, "lower of scipy.linalg.pinvh"))), rtol=rtol)


@implements(sl.lstsq, operands="overdetermined_scipy")
def lstsq(
    a: Any,
    b: Any,
    cond: Any = None,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    lapack_driver: Any = None,
) -> Any:
    left, right = as_layer(a), as_layer(b)
    if lapack_driver == "gelsy":
        refuse("scipy.linalg.lstsq with lapack_driver='gelsy'", "leave lapack_driver out", DtypeError)
    if cond is None:  # NumPy's own limit grows with the size
        cond = float(np.finfo(np.result_type(left.dtype, right.dtype, np.float32)).eps)
    solution, squares, rank, values = np.linalg.lstsq(left, right, rcond=cond)
    vector = right.ndim == 1 and left.shape[0] > left.shape[1]
    return solution, np.reshape(squares, ()) if vector else squares, rank, values


_AS_FLOATS: dict[int, Any] = {1: (None, 2), 2: (1, np.inf)}


@implements(
    sl.norm, operands="matrix_of_norm", samples=({}, {"ord": 1}, {"axis": 0, "keepdims": True}, {"ord": 2, "axis": -1})
)
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True) -> Any:
    """In double precision where SciPy gives a Python float."""
    operand: Any = as_layer(a)
    if axis is None and not keepdims and ord in _AS_FLOATS.get(operand.ndim, ()):
        operand = operand * np.float64(1)
    return np.linalg.norm(operand, ord, axis, keepdims)


# --------------------------------------------------------------------------- Cholesky


@implements(sl.cholesky, operands="definite", samples=({}, {"lower": True}))
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return np.linalg.cholesky(a, upper=not static(lower, "lower of scipy.linalg.cholesky"))


@implements(sl.cho_factor, operands="definite")
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The factor for `cho_solve`. Beside its triangle, where SciPy leaves what it found, there are zeros."""
    return cholesky(a, lower), lower


def _no_lu(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    raise unsupported("scipy.linalg.lu_factor or lu", "use scipy.linalg.solve(a, b), which has the gradient")


FUNCTIONS[sl.lu_factor] = FUNCTIONS[sl.lu] = _no_lu


# --------------------------------------------------------------------------- eigenvalues


def _reduced(a: Any, b: Any, lower: bool) -> tuple[Any, Any]:
    """C with the eigenvalues of a·v = w·b·v, and the factor of b."""
    factor = np.linalg.cholesky(Mirrored(b, lower=lower))
    half = np.linalg.solve(factor, Mirrored(a, lower=lower))
    return adjoint(np.linalg.solve(factor, adjoint(half))), factor


@implements(sl.eigh, operands="hermitian", samples=({"eigvals_only": True},))
def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    driver: Any = None,
) -> Any:
    """The signs of the vectors are NumPy's: SciPy's depend on the last bits of the matrix."""
    if static(eigvals_only, "eigvals_only of scipy.linalg.eigh"):
        return eigvalsh(a, b, lower=lower)
    if b is None:
        return tuple(np.linalg.eigh(a, UPLO="L" if lower else "U"))
    problem, factor = _reduced(a, b, lower)
    values, vectors = np.linalg.eigh(problem)
    return values, np.linalg.solve(adjoint(factor), vectors)


@implements(sl.eigvalsh, operands="hermitian", samples=({}, {"lower": False}))
def eigvalsh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    check_finite: bool = True,
    driver: Any = None,
) -> Any:
    if b is not None:
        return np.linalg.eigvalsh(_reduced(a, b, lower)[0])
    return np.linalg.eigvalsh(a, UPLO="L" if lower else "U")


@implements(sl.eigvals, operands="distinct_eigenvalues")
def eigvals(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return np.linalg.eigvals(a)


# --------------------------------------------------------------------------- singular values, orthogonal columns


@implements(sl.svd, operands="full_rank", samples=({"full_matrices": False}, {"compute_uv": False}))
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    if not static(compute_uv, "compute_uv of scipy.linalg.svd"):
        return svdvals(a)
    return tuple(np.linalg.svd(a, full_matrices))


@implements(sl.svdvals, operands="full_rank")
def svdvals(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return np.linalg.svd(a, compute_uv=False)


@implements(sl.qr, operands="full_rank", samples=({"mode": "economic"}, {"mode": "r"}))
def qr(a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", check_finite: bool = True) -> Any:
    operand: Any = as_layer(a)
    rows, columns = operand.shape[-2:]
    if mode not in ("full", "r", "economic") or (mode == "full" and rows > columns):
        refuse(
            f"scipy.linalg.qr with mode={mode!r} of {rows} rows and {columns} columns",
            "use mode='economic'",
            ShapeError,
        )
    q, r = np.linalg.qr(operand)
    if mode == "r":
        lead = operand.shape[:-2]
        return (np.concatenate([r, np.zeros((*lead, rows - columns, columns), r.dtype)], -2) if rows > columns else r,)
    return q, r
