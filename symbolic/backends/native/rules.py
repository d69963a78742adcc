"""Which loops are an operation? One rule for each kind, found by the operation's class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from symbolic.backends.native import (
    contracting,
    diagonals,
    equations,
    gathering,
    pooling,
    regions,
    running,
    sequences,
    sorting,
    unwinding,
)
from symbolic.backends.native.access import View
from symbolic.backends.native.lowering import DType, Lowered, NotLoops, Rule
from symbolic.backends.native.pieces import at
from symbolic.backends.native.pointwise import holds
from symbolic.ops.bordering import Pad
from symbolic.ops.creation import Diag, DiagonalLike, FullLike, Triangle
from symbolic.ops.cumulative import Cumprod, Cumsum, Delay, Recurrence
from symbolic.ops.deltas import Chain, Fit
from symbolic.ops.einsum import Einsum, EyeLike
from symbolic.ops.entries import SetEntries
from symbolic.ops.families import Reduction
from symbolic.ops.gathering import AddedAlong, TakeAlongAxis
from symbolic.ops.indexing import AddAt, GetItem, LastWriter, Scatter, SetItem, is_static
from symbolic.ops.joining import Concatenate, Piece, PlacedLike, Stack
from symbolic.ops.linalg import Adjugate, Cholesky, Det, Inv, InvOrNan, Slogdet, Solve
from symbolic.ops.linear import Dot, MatMul, TensorDot
from symbolic.ops.norms import Norm
from symbolic.ops.operation import PYTHON_OPERATORS
from symbolic.ops.passing import Cast, Item
from symbolic.ops.products import Convolve, Correlate
from symbolic.ops.reduction import Level, Std, Var
from symbolic.ops.repeating import Repeat, RepeatedLike
from symbolic.ops.sliding import Unwindows, WindowChoice, WindowMax, WindowShare, WindowSpread, WindowSum
from symbolic.ops.softmax import Peak
from symbolic.ops.sorting import Evened, Ranks, Sort
from symbolic.ops.turning import Roll
from symbolic.plan import Instruction, is_careful
from symbolic.printing import bits
from symbolic.spec import Spec, normalize_axes


def rule(one: Instruction) -> Rule:
    """The rule for an instruction's operation."""
    for kind in type(one.node).__mro__:
        if kind in RULES:
            return RULES[kind]
    name = f"{type(one.node).__module__}.{type(one.node).__name__}"
    if name in BY_NAME:
        return BY_NAME[name]
    if one.node.elementwise:
        return elementwise
    if one.node.shares and len(one.sources) == 1:
        return movement
    raise NotLoops(f"{type(one.node).__name__} is not written as loops")


def elementwise(low: Lowered, one: Instruction) -> None:
    node = one.node
    ours = type(node).__module__.startswith("symbolic.")  # a class of the user's may differ
    usual = all(bits(a) == bits(b) for a, b in zip(node.defaults.values(), node.parameters, strict=True))
    if not ours or not usual or not (node.functions or node.entrywise):
        raise NotLoops(f"{type(node).__name__} is not written as loops")
    specs = [low.spec(k) for k in one.sources]
    kind, views = low.dtype(one.target), [low.views[k] for k in one.sources]
    if node.symbol in _COMPARISONS and _is_settled(low, one):
        return
    if low.spec(one.target).python is int or any(_is_any_int(low, k) for k in one.sources):
        raise NotLoops("Python's own integers have no largest one")
    if node.entrywise:
        low.point(one.target, node.entrywise, views, (kind,) * len(views))
        return
    ufunc: Any = node.functions[0]
    if ufunc is np.where:
        inner: Sequence[DType] = (np.dtype(bool), kind, kind)
    elif isinstance(ufunc, np.ufunc):
        inner = loop_dtypes(ufunc, specs)
    else:
        raise NotLoops(f"{type(node).__name__} is not written as loops")
    if ufunc is np.add and contracting.added(low, one):
        return
    if ufunc in (np.add, np.subtract) and kind.kind == "f" and regions.added(low, one, ufunc is np.subtract):
        return
    if ufunc is np.divide and kind.kind == "f" and _by_power_of_two(low, one, views[0]):
        return
    if ufunc in (np.remainder, np.floor_divide) and kind.kind in "iu" and not _is_positive(low, one.sources[1]):
        raise NotLoops("it may divide by zero")
    if ufunc is not np.power or kind.kind != "f" or not _whole_power(low, one, kind):
        low.point(one.target, ufunc.__name__, views, inner)


def chain(low: Lowered, one: Instruction) -> None:
    """A product, with care where a program has it at once."""
    kinds = loop_dtypes(np.multiply, [low.spec(k) for k in one.sources])
    if not is_careful(one) or low.dtype(one.sources[1]).kind != "f":
        elementwise(low, one)
        return
    low.point(one.target, "chain", [low.views[k] for k in one.sources], kinds)


def _is_any_int(low: Lowered, k: int) -> bool:
    """Whether a value is an integer of Python's that may be larger than a number can say exactly."""
    return low.spec(k).python is int and abs(low.constants.get(k, _EXACT + 1)) > _EXACT


_EXACT = 2**53


def _is_settled(low: Lowered, one: Instruction) -> bool:
    """A comparison with a constant of Python's that the array's dtype does not hold: it is the same for all entries."""
    for k, other in (one.sources, one.sources[::-1]):
        number, kind = low.constants.get(k), low.dtype(other)
        if low.spec(k).python is int and number is not None and low.spec(other).python is None and kind.kind in "iu":
            if holds(kind, number):
                return False
            pair = (number, 0) if k == one.sources[0] else (0, number)  # as any entry is, beside such a number
            low.filled(one.target, low.number(PYTHON_OPERATORS[one.node.symbol](*pair), np.dtype(bool)))
            return True
    return False


_COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}


def _is_positive(low: Lowered, k: int) -> bool:
    value = low.constants.get(k)
    return value is not None and bool(np.all(np.asarray(value) > 0))


def _by_power_of_two(low: Lowered, one: Instruction, view: View) -> bool:
    """A division by a power of two, which the product with its reciprocal is to the last bit."""
    by, kind = low.constants.get(one.sources[1]), low.dtype(one.target)
    if by is None or np.ndim(by) or low.dtype(one.sources[0]) != kind or not 2.0**-64 <= abs(by) <= 2.0**64:
        return False
    if math.frexp(by)[0] not in (0.5, -0.5):
        return False
    low.point(one.target, "multiply", [view, low.number(1.0 / by, kind)], (kind, kind))
    return True


def _whole_power(low: Lowered, one: Instruction, kind: DType) -> bool:
    """A small constant power, by products; the special values are the same."""
    exponent: Any = low.constants.get(one.sources[1])
    base = low.views[one.sources[0]]
    if low.dtype(one.sources[0]) != kind or exponent is None or np.ndim(exponent):
        return False
    exponent = np.asarray(exponent).item()
    if exponent not in _POWERS:
        return False
    if exponent == 3:
        square = low.point(low.fresh(low.sizes(one.target), kind), "square", [base], (kind,))
        low.point(one.target, "multiply", [square, base], (kind, kind))
    else:
        low.point(one.target, _POWERS[exponent], [base], (kind,))
    return True


_POWERS = {-1: "reciprocal", 1: "positive", 2: "square", 3: ""}


def loop_dtypes(ufunc: np.ufunc, specs: Sequence[Spec]) -> tuple[DType, ...]:
    """The dtypes in which a ufunc computes for operands of these specs; Python numbers are weak."""
    asked: list[Any] = [
        spec.python if spec.python is not None and spec.python is not bool else spec.dtype for spec in specs
    ]
    if all(isinstance(one, type) for one in asked):
        asked = [np.dtype(one) for one in asked]
    return tuple(ufunc.resolve_dtypes((*asked, *[None] * ufunc.nout))[: ufunc.nin])


def cast(low: Lowered, one: Instruction) -> None:
    k = one.sources[0]
    low.point(one.target, "cast", [low.views[k]], (low.dtype(k),))


def movement(low: Lowered, one: Instruction) -> None:
    if one.target in low.ready:
        return
    if low.dtype(one.sources[0]) != low.dtype(one.target):
        raise NotLoops("it has another dtype than its operand")
    node: Any = one.node
    movement = at(node.index) if isinstance(node, GetItem) and is_static(node.index) else node.evaluate
    low.views[one.target] = low.moved(low.views[one.sources[0]], movement)


def get_item(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    if is_static(node.index):
        movement(low, one)
    else:
        gathering.get_item(low, one)


def full_like(low: Lowered, one: Instruction) -> None:
    """A number that is known is nothing but that; another one is filled in."""
    k, kind, shape = one.sources[0], low.dtype(one.target), low.sizes(one.target)
    value = low.constants.get(k)
    if value is None or np.ndim(value):
        low.filled(one.target, low.views[k])
        return
    with np.errstate(all="ignore"):
        try:
            number = np.full((), value, kind).item()
        except (OverflowError, ValueError) as error:
            raise NotLoops("NumPy refuses its number") from error
    low.views[one.target] = low.number(number, kind).over(shape)


# --------------------------------------------------------------------------- reductions

_HOW = {"sum": "add", "mean": "add", "max": "maximum", "amax": "maximum", "min": "minimum", "amin": "minimum"}
_HOW |= {"prod": "multiply", "any": "any", "all": "all"}


def reduction(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    k = one.sources[0]
    view, kind, out = low.views[k], low.dtype(k), low.dtype(one.target)
    name = node.functions[0].__name__ if node.functions else ""
    if name not in _HOW or getattr(node, "initial", None) is not None:
        raise NotLoops(f"{type(node).__name__} is not written as loops")
    if kind.kind in "biu" and name in ("sum", "prod") and out.kind in "iu":
        view, kind = low.point(low.fresh(view.shape, out), "cast", [view], (kind,)), out
    elif kind.kind != ("b" if name in ("any", "all") else "f") or out != kind:
        raise NotLoops(f"{name} of {kind} is not written as loops")
    axes = normalize_axes(node.axis, len(view.shape))
    if name != "mean":
        low.reduce(view, _HOW[name], axes, out, one.target)
        return
    count = prod(view.shape[a] for a in axes)
    total = low.reduce(view, "add", axes, out)
    low.point(one.target, "divide", [total.shaped(low.sizes(one.target)), low.number(count, out)], (out, out))


def norm(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    view, kind = low.views[one.sources[0]], low.dtype(one.target)
    if kind.kind != "f" or low.dtype(one.sources[0]) != kind:
        raise NotLoops(f"a norm of {kind} is not written as loops")
    square = low.point(low.fresh(view.shape, kind), "multiply", [view, view], (kind, kind))
    total = low.reduce(square, "add", normalize_axes(node.axis, len(view.shape)), kind)
    low.point(one.target, "sqrt", [total.shaped(low.sizes(one.target))], (kind,))


def peak(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    view, kind = low.views[one.sources[0]], low.dtype(one.target)
    if kind.kind != "f":
        raise NotLoops(f"a peak of {kind} is not written as loops")
    best = low.reduce(view, "maximum", normalize_axes(node.axis, len(view.shape)), kind)
    low.point(one.target, "peak", [best.shaped(low.sizes(one.target))], (kind,))


def level(low: Lowered, one: Instruction) -> None:
    """Whether all entries are equal: the greatest is the least. NaN is neither."""
    node: Any = one.node
    view, kind = low.views[one.sources[0]], low.dtype(one.sources[0])
    if kind.kind != "f":
        raise NotLoops(f"the level of {kind} is not written as loops")
    axes = normalize_axes(node.axis, len(view.shape))
    ends = [low.reduce(view, how, axes, kind).shaped(low.sizes(one.target)) for how in ("maximum", "minimum")]
    low.point(one.target, "equal", ends, (kind, kind))


def spread(root: bool) -> Rule:
    """The variance, and its root: two passes over the entries, as NumPy makes them."""

    def rule(low: Lowered, one: Instruction) -> None:
        node: Any = one.node
        k = one.sources[0]
        view, kind = low.views[k], low.dtype(k)
        names = dict(zip(node.defaults, node.parameters, strict=True))
        free = names.get("ddof", 0)
        if kind.kind != "f" or low.dtype(one.target) != kind or set(names) - {"axis", "keepdims", "ddof", "correction"}:
            raise NotLoops("such a variance is not written as loops")
        free = names.get("correction", free) or free
        axes = normalize_axes(node.axis, len(view.shape))
        count = prod(view.shape[a] for a in axes)
        if not isinstance(free, (int, float)) or count - free <= 0:
            raise NotLoops("a variance of too few entries")
        total = low.reduce(view, "add", axes, kind)
        mean = low.point(low.fresh(total.shape, kind), "divide", [total, low.number(count, kind)], (kind, kind))
        away = low.point(low.fresh(view.shape, kind), "subtract", [view, mean], (kind, kind))
        square = low.point(low.fresh(view.shape, kind), "multiply", [away, away], (kind, kind))
        power = low.reduce(square, "add", axes, kind).shaped(low.sizes(one.target))
        target = low.fresh(low.sizes(one.target), kind) if root else one.target
        variance = low.point(target, "divide", [power, low.number(count - free, kind)], (kind, kind))
        if root:
            low.point(one.target, "sqrt", [variance], (kind,))

    return rule


def fit(low: Lowered, one: Instruction) -> None:
    """Sum what broadcasting stretched: the leading axes, and those that shall have the size 1."""
    k = one.sources[0]
    view, shape, kind = low.views[k], low.sizes(one.target), low.dtype(k)
    if kind.kind != "f" or low.dtype(one.target).kind != "f":
        raise NotLoops(f"the sum of {kind} is not written as loops")
    lead = max(len(view.shape) - len(shape), 0)
    axes = list(range(lead))
    if len(view.shape) >= len(shape):
        axes += [a + lead for a, n in enumerate(shape) if n == 1 and view.shape[a + lead] != 1]
    if axes:
        view = low.reduce(view, "add", tuple(axes), kind)
    view = low.moved(view, lambda x: np.broadcast_to(x.reshape(x.shape[lead:]), shape))
    if kind == low.dtype(one.target):
        low.views[one.target] = view
    else:
        low.point(one.target, "cast", [view], (kind,))


RULES: dict[type, Rule] = {
    Cast: cast,
    Chain: chain,
    Fit: fit,
    Norm: norm,
    Peak: peak,
    Level: level,
    Var: spread(root=False),
    Std: spread(root=True),
    Reduction: reduction,
    **dict.fromkeys((MatMul, Dot, TensorDot, Einsum), contracting.product),
    FullLike: full_like,
    Convolve: sequences.convolve,
    Correlate: sequences.correlate,
    GetItem: get_item,
    TakeAlongAxis: gathering.along,
    AddedAlong: gathering.added_along,
    LastWriter: gathering.last_writer,
    Repeat: gathering.repeat,
    RepeatedLike: gathering.repeated,
    Diag: diagonals.diag,
    DiagonalLike: diagonals.like,
    EyeLike: diagonals.eye,
    Triangle: diagonals.triangle,
    Solve: equations.solve,
    **dict.fromkeys((Inv, InvOrNan), equations.inverse),
    Slogdet: equations.slogdet,
    Item: equations.item,
    Det: equations.determinant,
    Adjugate: equations.adjugate,
    Cholesky: equations.cholesky,
    Concatenate: regions.concatenate,
    Stack: regions.stack,
    Pad: regions.pad,
    Piece: regions.piece,
    PlacedLike: regions.placed,
    AddAt: regions.add_at,
    Scatter: regions.scatter,
    SetItem: regions.set_item,
    SetEntries: regions.set_entries,
    Roll: regions.roll,
    Cumsum: running.running("add"),
    Cumprod: running.running("multiply"),
    Recurrence: running.recurrence,
    Delay: running.delay,
    Sort: sorting.sort,
    Ranks: sorting.ranks,
    Evened: sorting.evened,
    Unwindows: unwinding.unwindows,
    WindowMax: pooling.folded("maximum"),
    WindowSum: pooling.folded("add"),
    WindowSpread: pooling.spread,
    WindowShare: pooling.share,
    WindowChoice: pooling.choice,
}

BY_NAME: dict[str, Rule] = {
    "symbolic.ops.scipy_linalg.SolveTriangular": equations.triangular,
    "symbolic.ops.scipy_factors.Mirrored": diagonals.mirrored,
}
"""Those of SciPy's functions, which is not loaded for them."""
