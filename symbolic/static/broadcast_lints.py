"""Is a broadcast meant that fits by chance? Both operands stretched, a vector beside a square, a lost axis."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from symbolic.polynomial import Rest, Size, same
from symbolic.spec import show
from symbolic.static.abstract import Value
from symbolic.static.lint import Met, Sentence
from symbolic.static.meanings import shape_of
from symbolic.static.provenance import Origin, Reduction, origin_of

Shape = tuple[Any, ...]


def two_way_broadcast(at: Met) -> Sentence:
    """`(n, 1)` with `(n,)`: each is stretched along the other, and the name stands twice in the result."""
    for long, short in _pairs(at):
        shapes = _shapes(at, long, short)
        axis = None if shapes is None else _stretched(*shapes)
        if shapes is None or axis is None:
            continue
        origin = origin_of(at.args[long])
        if origin is None or not origin.complete or axis in origin.meant or _is_outer(at, long, short):
            continue
        seen = f"{at.written(long)} and {at.written(short)} are both stretched, to {show(shape_of(at.value))}"
        return seen, _one_shape(at.name_or(long, "x"), at.name_or(short, "y"), axis, shapes[1])
    return None


def _one_shape(long: str, short: str, axis: int, shape: Shape) -> str:
    if len(shape) > 1:
        return f"give both one shape: np.squeeze({long}, axis={axis}), or np.expand_dims({short}, {axis})"
    return f"give both one shape: {short}[:, None]; where each with each is meant, write {short}[None, :]"


def _pairs(at: Met) -> Iterator[tuple[int, int]]:
    """The places of two arrays, that of the higher rank first; those of one rank show all their axes."""
    count = min(len(at.args), 2)
    for one, other in itertools.permutations(range(count), 2):
        first, second = shape_of(at.args[one]), shape_of(at.args[other])
        if first is not None and second is not None and len(first) > len(second) > 0:
            yield one, other


def _shapes(at: Met, long: int, short: int) -> tuple[Shape, Shape] | None:
    first, second = shape_of(at.args[long]), shape_of(at.args[short])
    assert first is not None
    assert second is not None  # both from _pairs
    return None if any(isinstance(one, Rest) for one in (*first, *second)) else (first, second)


def _stretched(long: Shape, short: Shape) -> int | None:
    """The axis of size 1 that is stretched to a size which the longer shape has where the shorter one has no axis."""
    missing = [size for size in long[: len(long) - len(short)] if size is not None and not same(size, 1)]
    for k in range(-len(short), 0):
        if same(long[k], 1) and any(same(short[k], size) for size in missing):
            return k
    return None


def _is_outer(at: Met, long: int, short: int) -> bool:
    """Whether each with each is meant: two sums over the same axis, or a range made on the spot."""
    one, other = origin_of(at.args[long]), origin_of(at.args[short])
    if one is None or other is None or not other.complete:
        return True
    if other.made or one.made:
        return True
    # of two sums over one axis the one keeps it and the other does not: norms of all pairs
    return any(
        a.keepdims and not b.keepdims and (a.rank, a.axes) == (b.rank, b.axes)
        for a in one.reductions
        for b in other.reductions
    )


# --------------------------------------------------------------------------- beside a square


def vector_in_square(at: Met) -> Sentence:
    """`(p, p)` with `(p,)`: along the columns, by NumPy's rule, and nothing says that it is meant."""
    for long, short in _pairs(at):
        shapes = _shapes(at, long, short)
        if shapes is None or len(shapes[1]) != 1 or not isinstance(shapes[1][0], Size):
            continue
        (size,) = shapes[1]
        if not same(shapes[0][-1], size) or sum(same(one, size) for one in shapes[0]) < 2:
            continue
        square, vector = origin_of(at.args[long]), origin_of(at.args[short])
        if square is None or vector is None or not _are_strangers(square, vector):
            continue
        name = at.name_or(short, "v")
        return (
            f"{at.written(short)} lies along the last axis of {at.written(long)}, where {size} stands twice",
            f"write {name}[None, :] for the columns or {name}[:, None] for the rows",
        )
    return None


def _are_strangers(square: Origin, vector: Origin) -> bool:
    """Whether no origin tells to which of the two axes the vector belongs."""
    if not square.complete or not vector.complete or square.roots & vector.roots:
        return False
    if square.made or vector.made or square.oriented or vector.oriented:
        return False
    by_rows = bool(vector.reductions) and all(one.rank == 2 and one.axes == (1,) for one in vector.reductions)
    return by_rows or bool(vector.frames & vector.roots)


# --------------------------------------------------------------------------- a reduction's axis


def missing_keepdims(at: Met) -> Sentence:
    """`x / x.sum(axis=1)` of a square: what was summed over the rows divides the columns."""
    if not isinstance(at.value, Value):
        return None
    for long, short in _pairs(at):
        lost, whole = lost_axis(at.args[long], at.args[short]), origin_of(at.args[long])
        if lost is None or whole is None or whole.oriented or _is_scaling(at.args[short], lost):
            continue
        axes = lost.axes[0] if len(lost.axes) == 1 else lost.axes
        seen = f"{lost.name} over axis {axes} of {at.written(long)} gives {show(shape_of(at.args[short]))}"
        return f"{seen}, which does not line up with the axes that are left", "add keepdims=True to the reduction"
    return None


def _is_scaling(part: Any, found: Reduction) -> bool:
    """Whether rows and columns are scaled one after the other, as by `1 / np.sqrt(a.sum(axis=1))` of a graph."""
    origin = origin_of(part)
    return found.name == "sum" and origin is not None and origin.name in ("sqrt", "power", "divide", "reciprocal")


def lost_axis(whole: Any, part: Any) -> Reduction | None:
    """The reduction of the one whose result, the other, broadcasting does not put back in its place."""
    one, other = origin_of(whole), origin_of(part)
    shape, left = shape_of(whole), shape_of(part)
    if one is None or other is None or shape is None or not left or all(same(size, 1) for size in left):
        return None
    for found in other.reductions:
        kept = [k for k in range(found.rank) if k not in found.axes]
        of_it = found.frames & one.frames and found.rank == len(shape) and len(kept) == len(left)
        if of_it and not found.keepdims and kept != list(range(found.rank - len(kept), found.rank)):
            return found
    return None
