"""Is an axis meant that works by chance? Softmax, `squeeze()`, a reshape that mixes axes, the `.T` of a vector."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

from symbolic.polynomial import Rest, Size, same
from symbolic.spec import show
from symbolic.static.lint import Met, Sentence
from symbolic.static.meanings import SOFTMAX, argument, shape_of
from symbolic.static.provenance import origin_of

Shape = tuple[Any, ...]

# --------------------------------------------------------------------------- softmax


def softmax_of_one(at: Met) -> Sentence:
    """A softmax over an axis of size 1 is 1 whatever is in it."""
    found = _softmax(at)
    if found is None or not found[1] or not all(same(found[0][axis], 1) for axis in found[1]):
        return None
    shape, axes = found
    return (
        f"softmax over axis {_shown(axes)} of {show(shape)}, whose size is 1, is 1 everywhere",
        "take the axis of the classes, or a sigmoid for one score",
    )


def softmax_over_batch(at: Met) -> Sentence:
    """A softmax over the first axis of rows of classes: the examples compete with each other."""
    found = _softmax(at)
    if found is None:
        return None
    shape, axes = found
    batch = _batch(shape)
    if batch is None or batch not in axes:
        return None
    every = len(axes) == len(shape) > 1
    over = "every axis" if every else f"axis {batch}"
    return (
        f"softmax over {over} of {show(shape)}: the entries of one {shape[batch]} depend on all the others",
        "take the axis of the classes: axis=-1",
    )


_BATCHES = {"b", "batch", "batch_size", "bs", "examples", "samples", "n_samples", "num_samples", "n_examples"}
_ROWS = {"n", "N", "B"}
"""Also the names of other things: the batch only where classes stand behind it."""
_CLASSES = {"c", "C", "classes", "n_classes", "num_classes", "labels", "n_labels", "vocab"}


def _batch(shape: Shape) -> int | None:
    """The axis of the examples, of which only names tell; a shape with one other axis, at least, that has entries."""
    if len(shape) < 2 or any(isinstance(size, Rest) or size is None for size in shape):
        return None
    if all(same(size, 1) for size in shape[1:]):
        return None  # one score for each: to weigh them against each other is attention
    names = [str(size) for size in shape]
    named = [k for k, name in enumerate(names) if name in _BATCHES]
    if len(named) == 1:
        return named[0]
    last = shape[-1]
    is_classes = names[-1] in _CLASSES or (isinstance(last, int) and last > 1)
    return 0 if not named and names[0] in _ROWS and len(shape) == 2 and is_classes else None


def _softmax(at: Met) -> tuple[Shape, tuple[int, ...]] | None:
    """The shape and the axes of a softmax: a call, or one that is written out, `e / e.sum(axis=0)`."""
    shape = shape_of(at.args[0]) if at.args else None
    if not shape:
        return None
    if at.name not in SOFTMAX:
        return _written_out(at, shape)
    is_scipy = str(getattr(at.function, "__module__", "")).startswith("scipy")
    axis = argument(at.args, at.kwargs, 1, "axis", None if is_scipy else -1)
    written = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if not all(isinstance(one, int) and -len(shape) <= one < len(shape) for one in written):
        return None
    return shape, tuple(one % len(shape) for one in written)


def _written_out(at: Met, shape: Shape) -> tuple[Shape, tuple[int, ...]] | None:
    if at.name not in ("divide", "subtract") or len(at.args) < 2:
        return None
    one, other = origin_of(at.args[0]), origin_of(at.args[1])
    if one is None or other is None or len(other.reductions) != 1:
        return None
    (found,) = other.reductions
    over = {"divide": "sum", "subtract": "logsumexp"}[at.name]
    is_softmax = found.token == one.token and found.name == over and other.name == over
    if not is_softmax or found.rank != len(shape) or (at.name == "divide" and one.name not in ("exp", "exp2")):
        return None
    return shape, found.axes


def _shown(axes: tuple[int, ...]) -> str:
    return str(axes[0]) if len(axes) == 1 else str(axes)


# --------------------------------------------------------------------------- squeeze


def squeeze_without_axis(at: Met) -> Sentence:
    """`squeeze()` takes a named axis away, too, on the day when its size is 1."""
    if argument(at.args, at.kwargs, 1, "axis") is not None or not at.args:
        return None
    shape = shape_of(at.args[0]) or ()
    named = [size for size in shape if isinstance(size, Size) and _may_be_one(size)]
    if not named:
        return None
    ones = tuple(k for k, size in enumerate(shape) if same(size, 1))
    axis = _shown(ones) if ones else ""
    seen = f"squeeze() of {at.written(0)} has another rank where {named[0]} is 1"
    return seen, f"say which axis: axis={axis}" if ones else "leave it out: no axis has size 1"


def _may_be_one(size: Size) -> bool:
    names = sorted(size.names)[:3]
    return any(
        same(size.at(dict.fromkeys(size.names, 1) | dict(zip(names, numbers, strict=True))), 1)
        for numbers in itertools.product((1, 2, 3), repeat=len(names))
    )


# --------------------------------------------------------------------------- reshape


def reshape_permutes(at: Met) -> Sentence:
    """A reshape keeps the order of the entries: two names that change places are mixed, not exchanged."""
    several = isinstance(at.function, str)  # the sizes of a method's shape may stand one by one
    order = at.kwargs.get("order") if several else argument(at.args, at.kwargs, 2, "order")
    if order not in (None, "C"):
        return None
    before, after = shape_of(at.args[0]) if at.args else None, shape_of(at.value)
    origin = origin_of(at.args[0]) if at.args else None
    if before is None or after is None or (origin is not None and origin.shifted):
        return None
    mixed = mixed_names(before, after) or mixed_axes(before, after)
    if mixed is None:
        return None
    axes = permutation(before, after)
    remedy = f"use transpose{axes}" if axes else f"transpose first, so that {mixed[1]} stands before {mixed[0]}"
    return f"reshape of {at.written(0)} to {show(after)} mixes {mixed[0]} and {mixed[1]}", remedy


def mixed_names(before: Shape, after: Shape) -> tuple[str, str] | None:
    """Two names of which the first stands before the second in one shape and behind it in the other."""
    source, target = _places(before), _places(after)
    if source is None or target is None or source.keys() != target.keys():
        return None
    for one, other in itertools.permutations(source, 2):
        is_named = not (one.isdigit() and other.isdigit())
        if is_named and source[one] < source[other] and target[other] < target[one]:
            return one, other
    return None


def mixed_axes(before: Shape, after: Shape) -> tuple[str, str] | None:
    """An axis whose neighbours lie otherwise in memory afterwards, and what has come before it: it is another axis.

    Where a size is a sum, as after padding, one row more or less may be meant to shift all the others.
    """
    strides = _strides(before), _strides(after)
    if strides[0] is None or strides[1] is None:
        return None
    for name, (_, stride) in strides[0].items():
        place, now = strides[1].get(name, (0, stride))
        if place and not same(stride, now):
            moved = next((one for one in reversed(after[:place]) if not same(one, 1)), None)
            return (name, str(moved)) if moved is not None else None
    return None


def _strides(shape: Shape) -> dict[str, tuple[int, Any]] | None:
    """Where each name stands that is an axis of its own, and how many entries lie between two of its neighbours."""
    found: dict[str, tuple[int, Any]] = {}
    stride: Any = 1
    seen: set[str] = set()
    for place, size in reversed(list(enumerate(shape))):
        if isinstance(size, Size):
            if len(size.terms) != 1 or size.opaque or not seen.isdisjoint(size.names):
                return None
            seen |= size.names
            if size == Size.named(str(size)):
                found[str(size)] = place, stride
        elif not isinstance(size, int) or size < 1:
            return None
        stride = size * stride
    return dict(reversed(found.items()))


def _places(shape: Shape) -> dict[str, int] | None:
    """Where each name stands, and each number that is an axis of its own; `None` for sums and repetitions."""
    found: dict[str, int] = {}
    for k, size in enumerate(shape):
        if isinstance(size, Size):
            (monomial, count), *rest = size.terms
            factors = [*monomial, *([str(count)] if count != 1 else [])]
            if rest or size.opaque or count < 1:
                return None
        elif isinstance(size, int):
            factors = [] if size == 1 else [str(size)]
        else:
            return None
        if any(one in found for one in factors) or len(set(factors)) != len(factors):
            return None
        found.update(dict.fromkeys(factors, k))
    return found


def permutation(before: Shape, after: Shape) -> tuple[int, ...] | None:
    """The axes of the transpose that makes the one shape of the other, where there is one alone."""
    if len(before) != len(after) or max(Counter(map(str, before)).values(), default=2) > 1:
        return None
    places = {str(size): k for k, size in enumerate(before) if size is not None and not isinstance(size, Rest)}
    axes = [places.get(str(size)) for size in after]
    found = tuple(one for one in axes if one is not None)
    return found if len(found) == len(before) == len(set(found)) else None


# --------------------------------------------------------------------------- a vector's transpose


def transpose_of_vector(at: Met) -> Sentence:
    """`v.T` is `v`."""
    alone = at.name == "T" or (at.name == "transpose" and argument(at.args, at.kwargs, 1, "axes") is None)
    shape = shape_of(at.args[0]) if at.args else None
    if not alone or shape is None or len(shape) != 1 or isinstance(shape[0], Rest):
        return None
    name = at.name_or(0, "v")
    seen = f"the transpose of {at.written(0)} is the vector itself"
    return seen, f"write {name}[:, None] for a column, or leave it out"
