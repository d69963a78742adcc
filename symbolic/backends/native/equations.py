"""Which operations of linear algebra are written, and what do they share? A matrix is factored once, transposed or not.

Small matrices alone: LAPACK is ahead on large ones. What NumPy raises for, it raises itself, when it runs the program
again; so a program that must not be run twice has these operations from NumPy.
"""

from __future__ import annotations

from math import prod
from typing import Any

from symbolic.backends.native.access import Sizes, View, in_order
from symbolic.backends.native.lowering import DType, Lowered, NotLoops, Small
from symbolic.backends.native.records import MOST, entries, pitch, sign
from symbolic.ops.passing import Item
from symbolic.plan import Instruction


class Equations:
    """What is known of the matrices of a program."""

    def __init__(self) -> None:
        self.records: dict[View, tuple[View, str]] = {}  # of a matrix: its record, and what that is of
        self.inverses: dict[View, View] = {}
        self.logarithms: dict[View, View] = {}  # of a record
        self.whole: set[int] | None = None  # values of which more than an entry is read


def _known(low: Lowered) -> Equations:
    if low.equations is None:
        low.equations = Equations()
    found: Equations = low.equations
    return found


def _matrix(low: Lowered, one: Instruction, k: int, dtype: DType) -> View:
    """An operand that is a small matrix, or a stack of them, in the dtype that is computed in."""
    if not low.again:
        raise NotLoops("what has been observed cannot be run again, as it may raise")
    view = low.views[one.sources[k]]
    if dtype.kind != "f" or low.dtype(one.sources[k]).kind not in "fiub":
        raise NotLoops(f"equations of {dtype} are not written")
    if view.shape[-1] > MOST:
        raise NotLoops(f"LAPACK factors a matrix of {view.shape[-1]} rows faster")
    return low.cast(view, dtype)


def _turned(view: View) -> View:
    """Transposed."""
    *lead, a, b = range(len(view.shape))
    places = [*lead, b, a]
    shape, strides = ([one[k] for k in places] for one in (view.shape, view.strides))
    return View(view.base, tuple(shape), tuple(strides), view.offset)


def _apart(view: View) -> View:
    """Without copies: a matrix that a stack repeats is factored once."""
    lead = len(view.shape) - 2
    shape = [1 if stride == 0 else size for size, stride in zip(view.shape[:lead], view.strides[:lead], strict=True)]
    return View(view.base, (*shape, *view.shape[lead:]), view.strides, view.offset)


def _record(low: Lowered, view: View) -> tuple[View, str]:
    """The record of a matrix, over its stack; and how equations with it are solved."""
    known, view = _known(low).records, _apart(view)
    if view in known:
        return known[view]
    if _turned(view) in known:
        record, how = known[_turned(view)]
        back = how.removesuffix(" transposed") if how.endswith(" transposed") else f"{how} transposed"
        return record, back
    known[view] = _factored(low, view, "triangles", low.dtype(view.base)), "pivoted"
    return known[view]


def _factored(low: Lowered, view: View, how: str, dtype: DType) -> View:
    stack, size = view.shape[:-2], entries(view.shape[-1])
    target = low.fresh((*stack, size), dtype)
    steps = _steps(stack, size)
    low.tasks.append(Small(target, view.shape, how, (view,), steps, dtype, flagged=True))
    return low.made(target)


def _steps(stack: Sizes, size: int) -> Sizes:
    """How far apart the results of a stack lie, of so many entries each."""
    return tuple([step * size for step in in_order(stack)])


def _part(record: View, offset: int, shape: Sizes, strides: Sizes) -> View:
    """Entries of each record of a stack."""
    stack = len(record.shape) - 1
    return View(record.base, (*record.shape[:stack], *shape), (*record.strides[:stack], *strides), offset)


def _stacked(view: View, stack: Sizes, rank: int) -> View:
    """A view whose last axes are one thing, stretched over a stack."""
    return view.over((*stack, *view.shape[len(view.shape) - rank :]))


# --------------------------------------------------------------------------- equations


def solve(low: Lowered, one: Instruction) -> None:
    dtype = low.dtype(one.target)
    a, right = _matrix(low, one, 0, dtype), low.views[one.sources[1]]
    if low.dtype(one.sources[1]).kind not in "fiub":
        raise NotLoops(f"equations of {dtype} are not written")
    right = low.cast(right, dtype)
    _solved(low, one, _record(low, a), right)


def triangular(low: Lowered, one: Instruction) -> None:
    """SciPy's: the other triangle is not read, but may have to be finite."""
    node: Any = one.node
    dtype = low.dtype(one.target)
    a, right = _apart(_matrix(low, one, 0, dtype)), low.views[one.sources[1]]
    if low.dtype(one.sources[1]).kind not in "fiub":
        raise NotLoops(f"equations of {dtype} are not written")
    right = low.cast(right, dtype)
    side, ones = "lower" if node.lower else "upper", " of ones" * node.unit_diagonal
    known = _known(low).records.get(a if node.lower else _turned(a))
    if known is not None and known[1] == "lower" and not node.unit_diagonal:
        record, turned = known[0], bool(node.trans) != (not node.lower)
        side, ones = "lower", ""
    else:
        record = _factored(low, a, f"{side} triangle{ones}" + ", finite" * node.check_finite, dtype)
        turned = bool(node.trans)
    _solved(low, one, (record, side + ones + " transposed" * turned), right, flagged=node.check_finite)


def _solved(low: Lowered, one: Instruction, by: tuple[View, str], right: View, flagged: bool = False) -> None:
    """The equations with a matrix that has a record, into the target."""
    shape, dtype, (record, how) = low.sizes(one.target), low.dtype(one.target), by
    if len(right.shape) == 1:
        right = View(right.base, (*right.shape, 1), (*right.strides, 0), right.offset)
        shape = (*shape, 1)
    stack = shape[:-2]
    operands = (_stacked(record, stack, 1), _stacked(right, stack, 2))
    low.tasks.append(Small(one.target, shape, how, operands, _steps(stack, prod(shape[-2:])), dtype, flagged))
    low.made(one.target)


def inverse(low: Lowered, one: Instruction) -> None:
    a = _matrix(low, one, 0, low.dtype(one.target))
    low.views[one.target] = _inverse(low, a).over(low.sizes(one.target))


def _inverse(low: Lowered, a: View) -> View:
    a, known, dtype = _apart(a), _known(low).inverses, low.dtype(a.base)
    if a not in known and _turned(a) in known:
        known[a] = _turned(known[_turned(a)])
    if a not in known:
        record, how = _record(low, a)
        target = low.fresh(a.shape, dtype)
        steps = _steps(a.shape[:-2], prod(a.shape[-2:]))
        low.tasks.append(Small(target, a.shape, how, (record,), steps, dtype, flagged=False))
        known[a] = low.made(target)
    return known[a]


# --------------------------------------------------------------------------- determinants


def _signed(low: Lowered, one: Instruction, dtype: DType) -> tuple[View, View]:
    """The sign of the determinant, and the logarithm of its modulus, which is added up as NumPy adds it up."""
    a = _matrix(low, one, 0, dtype)
    n, stack = a.shape[-1], a.shape[:-2]
    record, how = _record(low, a)
    if not how.startswith("pivoted"):  # of a root, whose determinant nobody has kept
        record = _factored(low, _apart(a), "triangles", dtype)
    known = _known(low).logarithms
    if record not in known:
        pivots = _part(record, 0, (n,), (pitch(n) + 1,))
        sizes = low.point(low.fresh(pivots.shape, dtype), "absolute", [pivots], (dtype,))
        logarithms = low.point(low.fresh(pivots.shape, dtype), "log", [sizes], (dtype,))
        total = low.reduce(logarithms, "add", (len(pivots.shape) - 1,), dtype)
        known[record] = total.shaped(total.shape[:-1])
    return _part(record, sign(n), (), ()).over(stack), known[record].over(stack)


def slogdet(low: Lowered, one: Instruction) -> None:
    known = _known(low)
    if known.whole is None:
        reads = {k for each in low.program.instructions if type(each.node) is not Item for k in each.sources}
        known.whole = reads.union(low.program.outputs)
    if one.target in known.whole:
        raise NotLoops("its results are wanted as a tuple")
    spec: Any = one.spec
    low.tuples[one.target] = _signed(low, one, spec[1].dtype)


def item(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    if one.sources[0] not in low.tuples:
        raise NotLoops("there are no loops for its dtypes")
    low.views[one.target] = low.tuples[one.sources[0]][node.index]


def determinant(low: Lowered, one: Instruction) -> None:
    low.views[one.target] = _determinant(low, one, low.dtype(one.target)).over(low.sizes(one.target))


def _determinant(low: Lowered, one: Instruction, dtype: DType) -> View:
    turn, logarithm = _signed(low, one, dtype)
    size = low.point(low.fresh(logarithm.shape, dtype), "exp", [logarithm], (dtype,))
    return low.point(low.fresh(logarithm.shape, dtype), "multiply", [turn, size], (dtype, dtype))


def adjugate(low: Lowered, one: Instruction) -> None:
    """det(A) · A⁻¹, where that has enough digits."""
    if len(one.sources) > 1:
        raise NotLoops("derivatives of adjugates are not written")
    dtype, shape = low.dtype(one.target), low.sizes(one.target)
    a = _matrix(low, one, 0, dtype)
    if not all(shape[:-2]) or shape[-1] == 1:
        raise NotLoops("it is one number")
    back, size, stack = _inverse(low, a), _determinant(low, one, dtype), shape[:-2]
    factor = View(size.base, (*size.shape, 1, 1), (*size.strides, 0, 0), size.offset)
    operands = tuple([_stacked(view, stack, 2) for view in (a, back, factor)])
    steps = _steps(stack, prod(shape[-2:]))
    low.tasks.append(Small(one.target, shape, "adjugate", operands, steps, dtype, flagged=True))
    low.made(one.target)


# --------------------------------------------------------------------------- roots


def cholesky(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    dtype = low.dtype(one.target)
    a = _apart(_matrix(low, one, 0, dtype))
    a = _turned(a) if node.upper else a
    n = a.shape[-1]
    record = _factored(low, a, "root", dtype)
    lower = _part(record, 0, (n, n), (1, pitch(n)))
    _known(low).records[_apart(lower)] = record, "lower"
    stack = low.sizes(one.target)[:-2]
    low.views[one.target] = (_turned(lower) if node.upper else lower).over((*stack, n, n))


__all__ = ["adjugate", "cholesky", "determinant", "inverse", "item", "slogdet", "solve", "triangular"]
