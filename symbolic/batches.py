"""How is each family of operations written for all slices at once? One rule for a family, found by its class.

A rule reads the parameters for one slice and says them again for operands whose first axis numbers the slices. A new
elementwise operation, reduction or factorization needs no line here; an operation of no family runs slice by slice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symbolic.literal import as_layer
from symbolic.ops.axes import Rearranged, plain
from symbolic.ops.bordering import BorderIndex, Pad
from symbolic.ops.checked import Checked
from symbolic.ops.complexes import ComplexPart
from symbolic.ops.creation import Diag, Diagonal, DiagonalLike, FullLike, Triangle
from symbolic.ops.cumulative import Delay, Recurrence, Running
from symbolic.ops.deltas import BroadcastLike, Chain, Fit, ReshapeLike, SizeOf, Spread, SumLike
from symbolic.ops.einsum import EyeLike
from symbolic.ops.families import Elementwise, Reduction
from symbolic.ops.fourier import Shift, Transform
from symbolic.ops.gathering import AddedAlong, TakeAlongAxis
from symbolic.ops.joining import Concatenate, Piece, PlacedLike, Stack
from symbolic.ops.linalg import Adjugate, Cholesky, Det, Inv, InvOrNan
from symbolic.ops.making import Box
from symbolic.ops.matrices import Close, Factors, Values
from symbolic.ops.movement import (
    AtLeast,
    BroadcastTo,
    BroadcastWith,
    Copy,
    ExpandDims,
    Moveaxis,
    Ravel,
    Reshape,
    Squeeze,
    Swapaxes,
    Transpose,
)
from symbolic.ops.passing import Barrier, Cast, EntryLike, Item, Mark, Stopped, Tuple, entry_of, zero
from symbolic.ops.repeating import Repeat, Tile
from symbolic.ops.singular import Pinv
from symbolic.ops.sliding import Windowed
from symbolic.ops.sorting import Digitize, Evened, Ordered, Searchsorted
from symbolic.ops.statistics import Quantile
from symbolic.ops.turning import Flip, Roll
from symbolic.slices import RULES, Rule, Slices
from symbolic.spec import Spec, normalize_axis, product


def batches(*kinds: Any) -> Callable[[Rule], Rule]:
    """Give some operations, or families, their rule."""

    def decorate(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(kinds, rule))
        return rule

    return decorate


# --------------------------------------------------------------------------- the same operation, over more axes


@batches(Elementwise, Chain, Adjugate, Inv, InvOrNan, Det, Cholesky, Factors, Values, Close, Pinv, ComplexPart)
@batches(Cast, Copy, Mark, Stopped, Item, Box)
def stacking(node: Any, at: Slices) -> Any:
    """Entry by entry, or matrix by matrix: leading axes broadcast."""
    if len(node.operands) == 1:
        return node.rebuilt((at.operands[0],))
    ranks = at.ranks()
    if ranks is None:
        return None
    return node.rebuilt(tuple([at.aligned(k, max(ranks)) for k in range(len(ranks))]))


@batches(Barrier)
def barrier(node: Any, at: Slices) -> Any:
    return node.rebuilt((at.full(0), *at.operands[1:]))


@batches(Tuple)
def tuple_(node: Any, at: Slices) -> Any:
    return node.rebuilt(tuple(at.all()))


@batches(EntryLike)
def entry_like(node: Any, at: Slices) -> Any:
    value, like = node.operands
    spec: Any = at.specs[1]
    entries = [value if k == node.index else zero(entry_of(like, k)) for k in range(len(spec))]
    return at.instead(Tuple.make(tuple(entries)))


@batches(SumLike, Checked, BroadcastLike, ReshapeLike, SizeOf)
def lowered(node: Any, at: Slices) -> Any:
    """What reads an operand for its shape alone: the shape of a slice is known by now."""
    return at.instead(node.simplify(at.specs))


@batches(FullLike)
def full_like(node: Any, at: Slices) -> Any:
    out: Any = at.out
    return at.instead(np.broadcast_to(Cast(node.operands[0], to=out.dtype), out.shape)) if out.known else None


@batches(BorderIndex, EyeLike)
def of_the_shape(node: Any, at: Slices) -> Any:
    """What a shape and a dtype say is the same for each slice."""
    shape, spec = at.shape(0), at.specs[0]
    return None if shape is None else (as_layer(node.evaluate(np.zeros(shape, plain(spec).dtype))), False)


@batches(Pad)
def pad(node: Any, at: Slices) -> Any:
    shape = at.shape(0)
    if shape is None or at.moved[1]:
        return None
    return node.altered((at.full(0), at.operands[1]), pad_width=((0, 0), *node.widths(shape)))


@batches(Fit)
def fit(node: Any, at: Slices) -> Any:
    shape, spec = at.shape(0), node.spec
    if shape is None:
        return None
    value: Any = at.aligned(0, len(spec.shape))
    extra = len(shape) - len(spec.shape)
    value = np.sum(value, axis=tuple(range(1, 1 + extra))) if extra > 0 else value
    return Fit.make((value,), (Spec((at.count, *spec.shape), spec.dtype),))


@batches(Spread)
def spread(node: Any, at: Slices) -> Any:
    value: Any = at.operands[0]
    rank = len(node.shape)
    if not node.keepdims:
        axes = _axes(node.axis, rank)
        value = np.expand_dims(value, tuple([axis + 1 for axis in axes])) if axes else value
    else:
        value = at.aligned(0, rank)
    return np.broadcast_to(value, (at.count, *node.shape))


def _axes(axis: Any, rank: int) -> tuple[int, ...]:
    """The axes of a slice that are meant."""
    named = range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis
    return tuple([normalize_axis(one, rank) for one in named])


# --------------------------------------------------------------------------- along axes


@batches(Reduction)
def reduction(node: Any, at: Slices) -> Any:
    shape = at.shape(0)
    if shape is None:
        return None
    if node.axis is not None and shape:
        shifted: Any = tuple([axis + 1 for axis in _axes(node.axis, len(shape))])
        return node.altered(at.operands, axis=shifted[0] if isinstance(node.axis, int) else shifted)
    if node.axis == ():
        return node.altered(at.operands)
    flat = at.reshaped(at.operands[0], product(shape) or 0)
    out = node.altered((flat,), axis=1)
    return at.reshaped(out, *[1] * len(shape)) if node.keepdims else out


@batches(Quantile)
def quantile(node: Any, at: Slices) -> Any:
    """Several quantiles stand before all other axes."""
    return None if np.ndim(node.q) and not node.strong else reduction(node, at)


@batches(Running, Ordered)
def running(node: Any, at: Slices) -> Any:
    shape = at.shape(0)
    if shape is None:
        return None
    if node.axis is None or not shape:
        return node.altered((at.reshaped(at.operands[0], product(shape) or 0),), axis=1)
    return node.altered(at.operands, axis=_axes(node.axis, len(shape))[0] + 1)


@batches(Delay, Recurrence, Evened, TakeAlongAxis, AddedAlong, Piece, PlacedLike, Concatenate, Transform)
def along(node: Any, at: Slices) -> Any:
    """Along one axis of operands that all have it; a start or a size among them is the same for each slice."""
    ranks = at.ranks()
    if ranks is None or not ranks[0]:
        return None
    whole = range(2) if isinstance(node, (Piece, PlacedLike)) else range(len(ranks))
    if any(moved for k, moved in enumerate(at.moved) if k not in whole):
        return None
    rank = max(ranks)
    axis = normalize_axis(-1 if node.axis is None else node.axis, rank)
    operands = [at.full(k) if k in whole else one for k, one in enumerate(at.operands)]
    if any(ranks[k] != rank for k in whole):
        return None
    return node.altered(operands, axis=axis + 1)


@batches(Stack)
def stack(node: Any, at: Slices) -> Any:
    ranks = at.ranks()
    return None if ranks is None else node.altered(at.all(), axis=normalize_axis(node.axis, ranks[0] + 1) + 1)


@batches(Windowed)
def windows(node: Any, at: Slices) -> Any:
    return node.rebuilt(tuple(at.all()))


# --------------------------------------------------------------------------- movements


@batches(Reshape, Ravel, Squeeze, ExpandDims, AtLeast)
def reshape(node: Any, at: Slices) -> Any:
    out: Any = at.out
    return at.reshaped(at.operands[0], *out.shape) if out.known else None


@batches(Transpose)
def transpose(node: Any, at: Slices) -> Any:
    ranks = at.ranks()
    if ranks is None:
        return None
    axes = range(ranks[0])[::-1] if node.axes is None else node.axes
    return np.transpose(at.operands[0], (0, *[axis % ranks[0] + 1 for axis in axes]))


@batches(Swapaxes, Diagonal, DiagonalLike)
def two_axes(node: Any, at: Slices) -> Any:
    rank = len((at.shape(0) if len(at.operands) == 1 else at.shape(1)) or ())
    if not rank:
        return None
    axes = {name: normalize_axis(getattr(node, name), rank) + 1 for name in ("axis1", "axis2")}
    return node.altered(at.all(), **axes)


@batches(Diag)
def diag(node: Any, at: Slices) -> Any:
    """Of a matrix its diagonal, of a vector the matrix that has it there."""
    (operand,), out = node.operands, at.out
    shape = at.shape(0)
    if shape is None or not isinstance(out, Spec) or not out.known:
        return None
    if len(shape) == 2:
        return at.instead(np.diagonal(operand, node.k))
    nothing: Any = np.broadcast_to(as_layer(np.zeros((), out.dtype)), out.shape)  # type: ignore[arg-type]  # known
    return at.instead(DiagonalLike.make((operand, nothing), (node.k, 0, 1)))


@batches(Moveaxis)
def moveaxis(node: Any, at: Slices) -> Any:
    ranks = at.ranks()
    if ranks is None:
        return None
    moves = [tuple([axis + 1 for axis in _axes(one, ranks[0])]) for one in (node.source, node.destination)]
    return np.moveaxis(at.operands[0], *moves)


@batches(Flip)
def flip(node: Any, at: Slices) -> Any:
    ranks = at.ranks()
    return None if ranks is None else node.altered(at.operands, axis=tuple([a + 1 for a in _axes(node.axis, ranks[0])]))


@batches(Roll)
def roll(node: Any, at: Slices) -> Any:
    shape = at.shape(0)
    if shape is None:
        return None
    if node.axis is None:
        flat = at.reshaped(at.operands[0], product(shape) or 0)
        shift = node.shift if isinstance(node.shift, int) else sum(node.shift)
        return at.reshaped(np.roll(flat, shift, axis=1), *shape)
    shifted = tuple([axis + 1 for axis in _axes(node.axis, len(shape))])
    return node.altered(at.operands, axis=shifted[0] if isinstance(node.axis, int) else shifted)


@batches(Shift)
def shift(node: Any, at: Slices) -> Any:
    shape = at.shape(0)
    return (
        None if shape is None else node.altered(at.operands, axes=tuple([a + 1 for a in _axes(node.axes, len(shape))]))
    )


@batches(Tile)
def tile(node: Any, at: Slices) -> Any:
    shape = at.shape(0)
    if shape is None:
        return None
    reps = (node.reps,) if isinstance(node.reps, int) else tuple(node.reps)
    rank = max(len(shape), len(reps))
    return node.altered((at.aligned(0, rank),), reps=(1,) * (1 + rank - len(reps)) + reps)


@batches(Repeat)
def repeat(node: Any, at: Slices) -> Any:
    shape = at.shape(0)
    if shape is None or at.moved[1]:
        return None
    if node.axis is None or not shape:
        return node.altered((at.reshaped(at.operands[0], product(shape) or 0), at.operands[1]), axis=1)
    return node.altered(at.operands, axis=_axes(node.axis, len(shape))[0] + 1)


@batches(Searchsorted, Digitize)
def among_sorted(node: Any, at: Slices) -> Any:
    """Entry by entry, among values that are the same for each slice."""
    return node.rebuilt(tuple(at.operands)) if not at.moved[0 if isinstance(node, Searchsorted) else 1] else None


@batches(BroadcastTo, BroadcastWith)
def broadcast_to(node: Any, at: Slices) -> Any:
    out: Any = at.out
    if not out.known or at.shape(0) is None:
        return None
    if not at.moved[0]:
        return np.broadcast_to(at.operands[0], out.shape), False
    return np.broadcast_to(at.aligned(0, len(out.shape)), (at.count, *out.shape))


@batches(Triangle)
def triangle(node: Any, at: Slices) -> Any:
    shape = at.shape(0)
    if shape is None or len(shape) > 1:
        return None if shape is None else node.rebuilt((at.operands[0],))
    rows: Any = at.aligned(0, 2)
    return node.rebuilt((np.broadcast_to(rows, (at.count, *shape, *shape)),))


@batches(Rearranged)
def rearranged(node: Any, at: Slices) -> Any:
    """Any other movement: it says itself where each entry goes."""
    shape = at.shape(0)
    if shape is None:
        return None
    size = product(shape) or 0
    places = node.evaluate(np.arange(size).reshape(shape))
    return at.reshaped(at.operands[0], size)[:, places]
