"""Which of two values is taken, and where are the entries for which a condition holds?"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from symbolic.context import here
from symbolic.errors import ShapeError
from symbolic.layer import FUNCTIONS, Layer
from symbolic.literal import as_layer
from symbolic.ops.binding import Kernel, implements
from symbolic.ops.deltas import SumLike
from symbolic.ops.families import Elementwise
from symbolic.ops.operation import Operation, array
from symbolic.ops.passing import Cast, Item
from symbolic.spec import AnySpec, Spec, TupleSpec, broadcast, result_dtype

# --------------------------------------------------------------------------- a choice by condition


class Where(Elementwise, numpy=np.where):
    """The first where the condition holds, elsewhere the second; what was not taken gets exactly no gradient."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("condition", "operand1", "operand2")
    domain: ClassVar[Any] = ("boolean", None, None)

    def infer(self, *specs: AnySpec) -> AnySpec:
        condition, one, other = [array(spec) for spec in specs]
        return Spec(broadcast([condition.shape, one.shape, other.shape]), result_dtype([one, other]))

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        condition = specs[0]
        chosen = isinstance(condition, Spec) and condition.dtype == np.dtype(bool)
        return (where_into, True) if chosen and isinstance(out, Spec) and out.known else (np.where, False)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        condition = operands[0]
        return None, np.where(condition, delta, 0), np.where(condition, 0, delta)


def where_into(condition: Any, one: Any, other: Any, out: Any) -> Any:
    """np.where, into an array that is neither of the operands; without an array, into a new one."""
    if out is None:
        return np.where(condition, one, other)
    out[...] = other
    np.copyto(out, one, where=condition)
    return out


def _where(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) == 1:
        return np.nonzero(args[0])
    condition, one, other = args
    return Where.make((as_layer(condition), as_layer(one), as_layer(other)))


FUNCTIONS[np.where] = _where  # of a condition alone it is np.nonzero


@implements(np.select, operands="conditions")
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """The choice of the first condition that holds."""
    if len(condlist) != len(choicelist):
        raise ValueError(f"np.select of {len(condlist)} conditions and {len(choicelist)} choices; give one for each")
    pairs = list(zip(condlist, choicelist, strict=True))
    last: Any = as_layer(default)
    return reduce(lambda rest, pair: np.where(pair[0], as_layer(pair[1]), rest), reversed(pairs), last)


@implements(np.piecewise, operands="conditions")
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """The last condition that holds decides; every piece is computed everywhere."""
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    pieces = [
        piece(x, *args, **kw) if callable(piece) and not isinstance(piece, Layer) else piece for piece in funclist
    ]
    if len(pieces) not in (len(conditions), len(conditions) + 1):
        raise ValueError(f"np.piecewise of {len(conditions)} conditions and {len(pieces)} pieces; give one for each")
    out = pieces.pop() if len(pieces) > len(conditions) else 0
    for condition, piece in zip(conditions, pieces, strict=True):
        out = np.where(condition, piece, out)
    whole = here.facts is not None and x.dtype.kind not in "fc"
    return Cast(SumLike(out, x), to=x.dtype) if whole else SumLike(out, x)  # what NumPy writes into an array like x


# --------------------------------------------------------------------------- where entries are true


class Nonzero(Operation):
    """The indices of the true entries, one array for each axis; how many, only the run knows."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.nonzero,)

    def infer(self, *specs: AnySpec) -> AnySpec:
        ndim = array(specs[0]).ndim
        return Spec() if ndim is None else TupleSpec([Spec((None,), np.dtype(np.intp))] * ndim)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,)


class Argwhere(Operation, numpy=np.argwhere):
    """The indices of the true entries, one row for each."""

    __slots__ = ()
    domain = "nonzero"

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec((None, array(specs[0]).ndim), np.dtype(np.intp))

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,)


@implements(np.nonzero, domain="nonzero")
def nonzero(a: Any) -> Any:
    if np.ndim(a) == 0:
        raise ShapeError("np.nonzero of a 0-d array", remedy="use np.atleast_1d(x) first, or compare x itself")
    indices = Nonzero(a)
    return tuple([Item(indices, index=k) for k in range(np.ndim(a))])


@implements(np.flatnonzero, domain="nonzero")
def flatnonzero(a: Any) -> Any:
    return np.nonzero(np.ravel(a))[0]
