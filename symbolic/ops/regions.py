"""What is the shape of `x[index]`? As NumPy says it, asked on arrays without memory.

An index is a template (ints, slices, None, Ellipsis) in which `At(k)` stands for the k-th operand.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import AnyLayer
from symbolic.leaves import Literal
from symbolic.ops.axes import NO_MEMORY
from symbolic.ops.axes import At as At
from symbolic.ops.operation import array
from symbolic.polynomial import Size, Undecided
from symbolic.spec import AnySpec, Dim, Shape, Spec, broadcast, show


class IndexRangeError(ShapeError, IndexError):
    """An index that the array does not have."""


Template = tuple[Any, ...]


def indexed_shape(
    shape: Shape | None, index: Template, operands: Sequence[AnyLayer], specs: Sequence[AnySpec]
) -> Shape | None:
    """The shape of `x[index]`, as NumPy says it; asked twice with different sizes where some are unknown."""
    known = {one.operand: _given(operands[one.operand], specs[one.operand]) for one in index if isinstance(one, At)}
    if shape is None or any(given is None for given in known.values()):
        return None
    _check_masks(shape, index, known)
    _check_together(known)
    if any(isinstance(size, Size) for size in (*shape, *_sizes(known))):
        return _with_names(shape, index, known)
    return _shape(shape, index, known, shape)


def _check_masks(shape: Shape, index: Template, known: dict[int, Any]) -> None:
    """A mask that is not computed yet has the sizes of the axes that it stands at."""
    for one, axes in zip(index, _axes(index, known, len(shape)), strict=True):
        given = known[one.operand] if isinstance(one, At) else None
        if not isinstance(given, Spec) or given.dtype != bool:
            continue
        for axis, size in zip(axes, given.shape or (), strict=True):
            there = shape[axis] if axis < len(shape) else None
            if size is not None and there is not None and size != there:
                raise IndexRangeError(
                    f"a mask of shape {show(given.shape)} does not fit an array of shape {show(shape)}: axis {axis} "
                    f"has size {there}, the mask has size {size} there",
                    remedy="index the axis that the mask was computed for, as in x[:, mask]",
                )


def _check_together(known: dict[int, Any]) -> None:
    """Arrays of indices are broadcast together."""
    shapes = [given.shape for given in known.values() if given.dtype is not None and given.dtype.kind in "iu"]
    if len(shapes) != len(known) or not any(isinstance(size, Size) for shape in shapes for size in shape):
        return  # of numbers NumPy says it
    try:
        broadcast(shapes)
    except ShapeError as error:
        remedy = "make the sizes equal, or index one axis after the other, as np.ix_ does"
        raise IndexRangeError(f"indices: {error.seen}", remedy=remedy) from error


def _sizes(known: Mapping[int, Any]) -> list[Dim]:
    return [size for given in known.values() for size in given.shape]


def _shape(shape: Shape, index: Template, known: dict[int, Any], shown: Shape) -> Shape | None:
    loose = None in shape or any(isinstance(given, Spec) for given in known.values())
    answers = [_asked(shape, index, known, probe, shown) for probe in ((1, 2) if loose else (1,))]
    if len(answers) == 1 or answers[1] is None:  # a larger size does not fit beside a known one
        return answers[0]
    if answers[0] is None:
        return None
    return tuple([a if a == b else None for a, b in zip(answers[0], answers[1], strict=True)])


def _given(operand: AnyLayer, spec: AnySpec) -> Any:
    """What an index operand is known to be: its value, its spec, or nothing."""
    if isinstance(operand, Literal):
        return np.asarray(operand.value)
    known = array(spec)
    return None if known.shape is None or known.dtype is None else known


def _asked(shape: Shape, index: Template, known: dict[int, Any], probe: int, shown: Shape) -> Shape | None:
    entries: list[Any] = []
    places = _axes(index, known, len(shape))
    for one, axes in zip(index, places, strict=True):
        sizes = [shape[k] for k in axes if k < len(shape)]
        entries.append(_stand_in(known[one.operand] if isinstance(one, At) else one, sizes, probe))
    sized = tuple([probe if d is None else d for d in shape])
    try:
        found: Shape = np.shape(np.broadcast_to(NO_MEMORY, sized)[tuple(entries)])
        return found
    except (IndexError, ValueError) as error:
        if probe > 1:
            return None
        raise IndexRangeError(
            f"{str(error).rstrip('.')} (the array has shape {show(shown)})",
            remedy="index within the array's shape",
        ) from error


def _axes(index: Template, known: dict[int, Any], ndim: int) -> list[range]:
    """The axes of the array that each entry of the index speaks of."""
    counts = [0 if one is None or one is Ellipsis else _consumed(one, known) for one in index]
    rest = ndim - sum(counts)
    axes, at = [], 0
    for one, count in zip(index, counts, strict=True):
        count = max(rest, 0) if one is Ellipsis else count
        axes.append(range(at, at + count))
        at += count
    return axes


def _consumed(one: Any, known: dict[int, Any]) -> int:
    given = known[one.operand] if isinstance(one, At) else None
    return len(given.shape) if given is not None and given.dtype == bool else 1


def _stand_in(one: Any, sizes: list[Dim], probe: int) -> Any:
    """An index entry for an array of probe sizes: what it says of an unknown axis cannot be out of range."""
    if isinstance(one, slice):
        return slice(None) if None in sizes else one
    if isinstance(one, Spec) and one.dtype == bool:
        shape = [(probe if size is None else size) for size in (sizes if one.shape else [])]
        return np.full(shape, probe > 1)
    if isinstance(one, Spec):
        return np.zeros([probe if d is None else d for d in one.shape or ()], np.intp if _integral(one) else one.dtype)
    if None not in sizes or one is None or one is Ellipsis:
        return one
    if isinstance(one, int):
        return 0
    return np.ones([probe if d is None else d for d in sizes], bool) if one.dtype == bool else np.zeros_like(one)


def _integral(spec: Spec) -> bool:
    return spec.dtype is not None and spec.dtype.kind in "iu"


# --------------------------------------------------------------------------- named sizes


def _with_names(shape: Shape, index: Template, known: Mapping[int, Any]) -> Shape | None:
    """The same with named sizes, as a checker knows them: NumPy is asked with a number of its own for each name."""
    sizes, entries = list(shape), list(index)
    for k, axes in enumerate(_axes(index, dict(known), len(shape))):
        axis = axes[0] if len(axes) == 1 and axes[0] < len(shape) else None
        if axis is None or not isinstance(shape[axis], Size):
            continue
        if isinstance(index[k], slice):
            sizes[axis], entries[k] = part(shape[axis], index[k]), slice(None)
        elif isinstance(index[k], int):
            entries[k] = 0  # which is in range for all that is known
    names = [size for size in dict.fromkeys([*sizes, *_sizes(known)]) if isinstance(size, Size)]
    numbers: dict[Any, int] = dict(zip(names, _free_numbers([*sizes, *_sizes(known)]), strict=False))
    meant = {number: name for name, number in numbers.items()}

    def numbered(given: Any) -> tuple[Any, ...]:
        return tuple([numbers[size] if isinstance(size, Size) else size for size in given])

    given = {k: one._replace(shape=numbered(one.shape)) if isinstance(one, Spec) else one for k, one in known.items()}
    try:
        found = _shape(numbered(sizes), tuple(entries), given, shape)
    except IndexRangeError as error:
        if any(str(number) in error.seen for number in meant):
            raise Undecided("whether the index fits") from error
        raise
    return None if found is None else tuple([meant.get(size, size) for size in found])  # type: ignore[arg-type]  # a name


def _free_numbers(taken: Sequence[Any]) -> Iterator[int]:
    """Numbers that are no size here; small ones, for arrays of indices are made of them."""
    used = {size for size in taken if isinstance(size, int)}
    return (number for number in itertools.count(11) if number not in used)


def part(size: Any, region: slice) -> Any:
    """How many entries of a named size a slice takes; `None` where that depends on the number.

    A name stands for a number that is large enough for what is left out: `x[2:]` has two entries less.
    """
    start, stop, step = region.start, region.stop, 1 if region.step is None else region.step
    if step == -1 and start is None and stop is None:
        return size
    if step < 1 or (start is None and stop == 1) or (start, stop) == (0, 1) or (start, stop) == (-1, None):
        return 1 if step >= 1 else None
    first = 0 if start is None else start if start >= 0 else size + start
    last = size if stop is None else size + stop if stop < 0 else stop
    if isinstance(first, int) != isinstance(
        last, Size
    ):  # the one is counted from the start, and the other from the end
        return None
    return (last - first + (step - 1)) // step
