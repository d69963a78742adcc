"""Which matrices does SciPy make of entries, blocks, and other matrices?"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.linalg as sl

from symbolic.errors import ShapeError
from symbolic.layer import refuse
from symbolic.literal import as_layer
from symbolic.ops.binding import implements
from symbolic.ops.deltas import conjugate
from symbolic.ops.matrices import adjoint, dtypes, matrices
from symbolic.ops.operation import Operation
from symbolic.spec import AnySpec, Spec, show


class Expm(Operation):
    """The exponential of square matrices.

    Its derivative in a direction E stands in the corner of the exponential of [[A, E], [0, A]], which is of the same
    kind, so that there is every order: Higham, Functions of Matrices, theorem 3.6.

    >>> import numpy as np
    >>> from symbolic import grad
    >>> grad(lambda a: np.sum(Expm(a)))(np.zeros((2, 2))).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """

    __slots__ = ()
    functions: ClassVar[Any] = (sl.expm,)

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = matrices(sl.expm, specs[0], square=True)
        return Spec(spec.shape, dtypes(sl.expm, spec)[0])

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        back, size = adjoint(operand), operand.shape[-1]
        above = np.concatenate([back, delta], axis=-1)
        below = np.concatenate([np.zeros_like(delta), back], axis=-1)
        return (Expm(np.concatenate([above, below], axis=-2))[..., :size, size:],)


@implements(sl.expm, operands="some_square")
def expm(A: Any) -> Any:
    return Expm(A)


@implements(sl.block_diag, operands="blocks")
def block_diag(*arrs: Any) -> Any:
    blocks: list[Any] = [np.atleast_2d(as_layer(one)) for one in arrs]
    if any(one.ndim != 2 for one in blocks):
        refuse("scipy.linalg.block_diag of stacks of matrices", "give one matrix for each block", ShapeError)
    rows = []
    for k, one in enumerate(blocks):
        beside = [np.zeros((one.shape[0], each.shape[1]), one.dtype) for each in blocks]
        across = [*beside[:k], one, *beside[k + 1 :]]
        rows.append(np.concatenate(across, axis=1))
    return np.concatenate(rows, axis=0)


def _vector(value: Any, name: str) -> Any:
    vector: Any = as_layer(value)
    if vector.ndim != 1:
        refuse(f"scipy.linalg.{name} of shape {show(vector.shape)}", "give vectors", ShapeError)
    return vector


@implements(sl.toeplitz, operands="column_and_row")
def toeplitz(c: Any, r: Any = None) -> Any:
    column = _vector(c, "toeplitz")
    row = conjugate(column) if r is None else _vector(r, "toeplitz")
    entries = np.concatenate([column[::-1], row[1:]])
    rows, columns = column.shape[0], row.shape[0]
    return entries[rows - 1 - np.arange(rows)[:, None] + np.arange(columns)]


@implements(sl.hankel, operands="column_and_row")
def hankel(c: Any, r: Any = None) -> Any:
    column = _vector(c, "hankel")
    rows = column.shape[0]
    row = np.zeros(rows, column.dtype) if r is None else _vector(r, "hankel")
    entries = np.concatenate([column, row[1:]])
    return entries[np.arange(rows)[:, None] + np.arange(row.shape[0])]


@implements(sl.circulant, operands="some_vector")
def circulant(c: Any) -> Any:
    column = _vector(c, "circulant")
    k = np.arange(column.shape[0])
    return column[(k[:, None] - k) % max(len(k), 1)]


@implements(sl.khatri_rao, operands="same_columns")
def khatri_rao(a: Any, b: Any) -> Any:
    one, other = as_layer(a), as_layer(b)
    return np.reshape(one[..., :, np.newaxis, :] * other[..., np.newaxis, :, :], (-1, one.shape[-1]))


@implements(sl.solve_toeplitz, operands="toeplitz_equations")
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    parts = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr,)
    return np.linalg.solve(toeplitz(*parts) * np.float64(1), b)  # SciPy computes it in double precision
