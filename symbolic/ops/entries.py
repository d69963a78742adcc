"""What are many assignments to single entries of one array, `y[i, j] = v` in a loop? One operation, one copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.literal import as_layer
from symbolic.ops.axes import plain
from symbolic.ops.operation import Overwriting, array, held
from symbolic.spec import AnySpec, show


class SetEntries(Overwriting):
    """The first operand with each of the others written at its place: whole indices, all of them different.

    ShapeError where the array has no such entry, or where a value is more than one number.

    >>> from symbolic import Identity
    >>> import numpy as np
    >>> SetEntries(np.zeros(3), Identity(), 5.0, places=((0,), (2,))).predict(7.0)
    array([7., 0., 5.])
    """

    __slots__ = ()
    defaults: ClassVar[Any] = {"places": ()}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = plain(specs[0])
        if spec.shape is not None:
            wrong = [one for one in self.places if not _is_within(one, spec.shape)]
            if wrong:
                raise ShapeError(f"an array of shape {show(spec.shape)} has no entry {wrong[0]}", remedy="see .shape")
        if any(array(one).shape not in ((), None) for one in specs[1:]):
            raise ShapeError("an array was assigned to one entry", remedy="assign a number, or to a slice")
        return spec

    def written(self, *values: Any) -> Any:
        """The first value with the others written into it: a copy, or the array that is given last."""
        base, *entries, out = values
        out = held(base, out)
        for place, value in zip(self.places, entries, strict=True):
            out[place] = value
        return out

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        nothing = as_layer(0.0)
        rest = SetEntries.make((as_layer(delta), *[nothing] * len(self.places)), self.parameters)
        return (rest, *[as_layer(delta)[place] for place in self.places])


def _is_within(place: tuple[int, ...], shape: Sequence[int | None]) -> bool:
    return len(place) == len(shape) and all(d is None or k < d for k, d in zip(place, shape, strict=True))


def place(index: Any, sizes: Sequence[int] = ()) -> tuple[int, ...] | None:
    """An index of whole numbers, counted from the front (from the end only where the sizes are given); else `None`."""
    entries = index if type(index) is tuple else (index,)
    if not all(type(one) is int or isinstance(one, np.integer) for one in entries):
        return None
    if len(sizes) == len(entries):
        entries = tuple([one + size if one < 0 else one for one, size in zip(entries, sizes, strict=True)])
    return tuple(map(int, entries)) if all(one >= 0 for one in entries) else None


def can_hold(target: AnySpec, value: AnySpec) -> bool:
    """Whether a value of this spec is one number that an array of the other takes as it is."""
    into, given = array(target), array(value)
    if into.dtype is None or given.dtype is None or given.shape != () or into.dtype.kind not in "fc":
        return False
    return given.dtype.kind != "c" or into.dtype.kind == "c"


def fits(place: tuple[int, ...], target: AnySpec) -> bool:
    """Whether an array of known shape has such an entry."""
    shape = array(target).shape
    return shape is not None and None not in shape and _is_within(place, shape)
