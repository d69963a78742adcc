"""How is `x[index]` written for all slices at once? With an index of one entry more, for the slices.

NumPy puts the axes that come of index arrays in the place of these, if they stand side by side, and first if they do
not. `Plan` says where the axis of the slices comes out, and brings it to the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symbolic.batches import batches
from symbolic.leaves import Literal
from symbolic.ops.entries import SetEntries
from symbolic.ops.indexing import AddAt, GetItem, Scatter, SetItem
from symbolic.ops.operation import array as array_of_numbers
from symbolic.ops.regions import At
from symbolic.slices import Slices
from symbolic.spec import Spec


class Plan:
    """The index for all slices, its operands, and the order in which the axes of the result come out."""

    at: Slices
    index: tuple[Any, ...]
    source: int
    advanced: list[int]
    given: list[int]
    moved: bool
    width: int
    rows: bool
    whole: tuple[Any, ...]

    def __init__(self, at: Slices, index: tuple[Any, ...], source: int, first: int, all_of_it: bool) -> None:
        self.at, self.index, self.source = at, index, source
        self.advanced = [k for k, one in enumerate(index) if isinstance(one, (At, int)) and self._counts(index)]
        self.given = [one.operand for one in index if isinstance(one, At)]
        self.moved = any(at.moved[k] for k in self.given)
        self.width = max([self._width(one) for one in index], default=0)
        self.rows = self.moved and all_of_it  # each slice of the array by its own index
        self.operands: list[Any] = []
        self.first = first
        entries = [self._entry(one) for one in index]
        if self.rows:
            entries.insert(0, self._operand(np.arange(at.count).reshape(-1, *[1] * self.width)))
        elif all_of_it:
            entries.insert(0, slice(None))
        self.whole = tuple(entries)

    @staticmethod
    def _counts(index: tuple[Any, ...]) -> bool:
        return any(isinstance(one, At) for one in index)

    def _width(self, one: Any) -> int:
        """How many axes an entry gives to the common shape of the index arrays."""
        if not isinstance(one, At):
            return 0
        spec = self.at.specs[one.operand]
        assert isinstance(spec, Spec) and spec.shape is not None
        return 1 if spec.dtype == np.dtype(bool) else len(spec.shape)

    def _entry(self, one: Any) -> Any:
        if not isinstance(one, At):
            return one
        layer = (
            self.at.aligned(one.operand, self.width) if self.at.moved[one.operand] else self.at.operands[one.operand]
        )
        return self._operand(layer)

    def _operand(self, value: Any) -> At:
        self.operands.append(Literal(value) if isinstance(value, np.ndarray) else value)
        return At(self.first + len(self.operands) - 1)

    @property
    def apart(self) -> bool:
        """Whether something stands between the index arrays."""
        return self.advanced != list(range(self.advanced[0], self.advanced[-1] + 1)) if self.advanced else False

    def before(self, rank: int) -> int:
        """How many axes of a slice's result stand before those of the index arrays; `rank` is the array's."""
        if not self.advanced or self.apart:
            return 0
        lead = self.index[: self.advanced[0]]
        taken = sum(one is not None and one is not Ellipsis for one in self.index)
        rest = rank - taken - sum(self._masked(one) for one in self.index)
        return sum(rest if one is Ellipsis else 1 for one in lead)

    def _masked(self, one: Any) -> int:
        """The axes that a mask takes beyond one."""
        spec = self.at.specs[one.operand] if isinstance(one, At) else None
        return len(spec.shape or ()) - 1 if isinstance(spec, Spec) and spec.dtype == np.dtype(bool) else 0

    def order(self, rank: int, result: int) -> list[int]:
        """Which axis of what comes out is the slices', then those of a slice's result, in order."""
        before, width = self.before(rank), self.width
        if self.rows:  # the slices' axis and those of the index arrays come first, then the others
            arrays, others = list(range(1, 1 + width)), list(range(1 + width, 1 + result))
            return [0, *others[:before], *arrays, *others[before:]]
        if self.moved:  # the array is one for all slices
            return [before, *range(before), *range(before + 1, result + 1)]
        place = width if self.apart else 0
        return [place, *[k for k in range(result + 1) if k != place]]


def _plan(at: Slices, index: tuple[Any, ...], source: int, first: int, all_of_it: bool) -> Plan | None:
    """`None` for an index that is looked at slice by slice: a mask of each slice's own, or of no axis."""
    for one in index:
        if isinstance(one, At):
            spec = at.specs[one.operand]
            mask = isinstance(spec, Spec) and spec.dtype == np.dtype(bool)
            if not isinstance(spec, Spec) or spec.shape is None or (mask and (at.moved[one.operand] or not spec.shape)):
                return None
    return Plan(at, index, source, first, all_of_it)


def _turned(value: Any, order: Sequence[int]) -> Any:
    return value if list(order) == sorted(order) else np.transpose(value, tuple(order))


def _back(value: Any, order: Sequence[int]) -> Any:
    return _turned(value, np.argsort(order).tolist())


@batches(GetItem)
def getitem(node: Any, at: Slices) -> Any:
    shape, out = array_of_numbers(at.specs[0]).shape, at.out
    plan = _plan(at, node.index, 0, 1, at.moved[0])
    if plan is None or shape is None or not isinstance(out, Spec) or out.shape is None:
        return None
    found = GetItem.make((at.operands[0], *plan.operands), (plan.whole,))
    return _turned(found, plan.order(len(shape), len(out.shape)))


@batches(Scatter)
@batches(AddAt)
def scatter(node: Any, at: Slices) -> Any:
    rank = array_of_numbers(at.specs[0]).ndim
    operands: list[Any] = [at.full(0)]
    places: list[Any] = []
    for k, index in node.places:
        plan = _plan(at, index, 0, len(operands) + 1, True)
        shape = at.shape(k)
        if plan is None or shape is None or rank is None:
            return None
        places.append((len(operands), plan.whole))
        operands += [_back(at.full(k), plan.order(rank, len(shape))), *plan.operands]
    return type(node).make(tuple(operands), (tuple(places),))


@batches(SetItem)
def setitem(node: Any, at: Slices) -> Any:
    array, value = at.shape(0), at.shape(1)
    plan = _plan(at, node.index, 0, 2, True)
    region = at.walk.facts.spec(GetItem.make((node.operands[0], *node.operands[2:]), (_one_less(node.index),)))
    if plan is None or array is None or value is None or region.shape is None or len(value) > len(region.shape):
        return None
    written = at.aligned(1, len(region.shape)) if at.moved[1] else at.full(1)
    if not at.moved[1]:
        written = np.expand_dims(written, tuple(range(1, 1 + len(region.shape) - len(value))))
    written = _back(written, plan.order(len(array), len(region.shape)))
    return SetItem.make((at.full(0), written, *plan.operands), (plan.whole,))


@batches(SetEntries)
def set_entries(node: Any, at: Slices) -> Any:
    """One assignment at all the places."""
    if not node.places[0]:
        return SetItem.make((at.full(0), at.full(1)), ((slice(None),),))
    values: Any = np.stack(at.all()[1:], axis=1)
    operands = [Literal(np.array(axis)) for axis in zip(*node.places, strict=True)]
    index = tuple([At(k + 2) for k in range(len(operands))])
    return SetItem.make((at.full(0), values, *operands), ((slice(None), *index),))


def _one_less(index: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([At(one.operand - 1) if isinstance(one, At) else one for one in index])
