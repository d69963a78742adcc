"""Into which factors does a matrix fall, and how do deltas of the factors come back? eigh, qr, eig.

Vectors that belong to equal values may turn among themselves: deltas by such turns are left out, so that whatever
does not depend on them has its gradient, and nothing is infinite.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import qualified, refuse, unsupported
from symbolic.literal import as_layer
from symbolic.ops.binding import implements
from symbolic.ops.deltas import conjugate
from symbolic.ops.matrices import (
    Factors,
    Values,
    adjoint,
    arrived,
    as_columns,
    as_rows,
    hermitian,
    items,
    named,
    quotients,
    smaller,
    total,
)
from symbolic.ops.operation import static
from symbolic.spec import AnySpec, Dim, Shape, Spec

# --------------------------------------------------------------------------- Hermitian matrices


class Eigh(Factors):
    """The eigenvalues, ascending, and the eigenvectors (as columns) of Hermitian matrices; the delta is Hermitian."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.linalg.eigh,)
    defaults: ClassVar[Any] = {"UPLO": "L"}

    def shapes(self, stack: Shape, rows: Dim, columns: Dim) -> tuple[Shape, ...]:
        return (*stack, columns), (*stack, rows, columns)

    def of_dtypes(self, dtype: Any, real: Any) -> tuple[Any, ...]:
        return real, dtype

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        (values, vectors), dw, dv = items(out, 2), arrived(delta, 0), arrived(delta, 1)
        up = adjoint(vectors)
        scaled = None if dw is None else vectors * as_rows(dw)
        turned = None if dv is None else np.matmul(vectors, np.matmul(up, dv) * quotients(values))
        return (hermitian(np.matmul(total(scaled, turned), up)),)


class Eigvalsh(Values):
    """The eigenvalues of Hermitian matrices, ascending."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.linalg.eigvalsh,)
    defaults: ClassVar[Any] = {"UPLO": "L"}

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        vectors = items(Eigh(operand, UPLO=self.UPLO), 2)[1]
        return (hermitian(np.matmul(vectors * as_rows(delta), adjoint(vectors))),)


def _triangle(name: str, given: str) -> str:
    if static(given, f"UPLO of {name}") not in ("L", "U", "l", "u"):
        refuse(f"{name} with UPLO={given!r}", "use UPLO='L' or UPLO='U'", ShapeError)
    return given.upper()


@implements(np.linalg.eigh, operands="hermitian", samples=({}, {"UPLO": "U"}))
def eigh(a: Any, UPLO: str = "L") -> Any:
    return named(np.linalg.eigh, Eigh(a, UPLO=_triangle("np.linalg.eigh", UPLO)))


@implements(np.linalg.eigvalsh, operands="hermitian", samples=({}, {"UPLO": "U"}))
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return Eigvalsh(a, UPLO=_triangle("np.linalg.eigvalsh", UPLO))


# --------------------------------------------------------------------------- orthogonal and triangular


class Qr(Factors):
    """Orthonormal columns and an upper triangle: x = Q · R, in the reduced form. LinAlgError on the way back if the
    first columns are dependent."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.linalg.qr,)
    square = False

    def shapes(self, stack: Shape, rows: Dim, columns: Dim) -> tuple[Shape, ...]:
        small = smaller(rows, columns)
        return (*stack, rows, small), (*stack, small, columns)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        (q, r), dq, dr = items(out, 2), arrived(delta, 0), arrived(delta, 1)
        rows, columns = operand.shape[-2:]
        if rows >= columns:
            return (_of_square(q, r, dq, dr),)
        first, rest = r[..., :rows], r[..., rows:]  # the rest is Qᴴ times the later columns
        if dr is None:
            later = 0 * np.matmul(q, rest)
        else:
            later = np.matmul(q, dr[..., rows:])
            dq = total(dq, np.matmul(np.matmul(q, rest), adjoint(dr[..., rows:])))
        return (np.concatenate([_of_square(q, first, dq, None if dr is None else dr[..., :rows]), later], axis=-1),)


def _of_square(q: Any, r: Any, dq: Any, dr: Any) -> Any:
    """Where R is square: (δQ + Q · S) · R⁻ᴴ, with S Hermitian and above the diagonal δR · Rᴴ - Qᴴ · δQ."""
    inner = total(None if dr is None else np.matmul(dr, adjoint(r)), None if dq is None else -np.matmul(adjoint(q), dq))
    half = (np.triu(inner) + np.triu(inner, 1)) / 2
    turned = np.matmul(q, half + adjoint(half))
    return adjoint(np.linalg.solve(r, adjoint(total(dq, turned))))


@implements(np.linalg.qr, operands="full_rank", samples=({}, {"mode": "r"}))
def qr(a: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "r"):
        raise unsupported(f"{qualified(np.linalg.qr)} with mode={mode!r}", "use mode='reduced' or mode='r'")
    result = named(np.linalg.qr, Qr(a))
    return result if mode == "reduced" else result[1]


# --------------------------------------------------------------------------- matrices of any kind


class Eig(Factors):
    """The eigenvalues and eigenvectors (of length 1) of square matrices, always as complex numbers.

    NumPy gives real numbers where all eigenvalues are real, which the numbers decide and no trace can know.
    """

    __slots__ = ()
    functions: ClassVar[Any] = (np.linalg.eig,)

    def shapes(self, stack: Shape, rows: Dim, columns: Dim) -> tuple[Shape, ...]:
        return (*stack, columns), (*stack, rows, columns)

    def of_dtypes(self, dtype: Any, real: Any) -> tuple[Any, ...]:
        return (_complex(dtype),) * 2

    def evaluate(self, *values: Any) -> Any:
        return tuple([one.astype(_complex(one.dtype)) for one in np.linalg.eig(*values)])

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        (values, vectors), dw, dv = items(out, 2), arrived(delta, 0), arrived(delta, 1)
        up = adjoint(vectors)
        scaled, turned = None if dw is None else as_columns(dw) * up, None
        if dv is not None:
            moved = np.matmul(up, dv)
            longer = np.real(np.diagonal(moved, axis1=-2, axis2=-1))
            turns = (moved - np.matmul(up, vectors) * as_rows(longer)) * conjugate(quotients(values))
            turned = np.matmul(turns, up)
        return (np.linalg.solve(up, total(scaled, turned)),)


class Eigvals(Values):
    """The eigenvalues of square matrices, always as complex numbers."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.linalg.eigvals,)

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = super().infer(*specs)
        assert isinstance(spec, Spec)
        return Spec(spec.shape, _complex(spec.dtype))

    def evaluate(self, *values: Any) -> Any:
        found = np.linalg.eigvals(*values)
        return found.astype(_complex(found.dtype))

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        up = adjoint(items(Eig(operand), 2)[1])
        return (np.linalg.solve(up, as_columns(delta) * up),)


def _complex(dtype: Any) -> Any:
    return None if dtype is None else np.result_type(dtype, np.complex64)


@implements(np.linalg.eig, operands="distinct_eigenvalues")
def eig(a: Any) -> Any:
    return named(np.linalg.eig, Eig(as_layer(a)))


@implements(np.linalg.eigvals, operands="distinct_eigenvalues")
def eigvals(a: Any) -> Any:
    return Eigvals(as_layer(a))
