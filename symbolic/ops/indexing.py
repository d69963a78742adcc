"""What does `x[index]` mean, and what comes back through it? Reading, scattering and functional writing.

An index is a template (ints, slices, None, Ellipsis) in which `At(k)` stands for the k-th operand: an array of
integers, a mask, or a traced value.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import GETITEM, AnyLayer, plainly
from symbolic.leaves import Literal
from symbolic.literal import as_layer, delta_spec
from symbolic.ops.axes import plain
from symbolic.ops.binding import Kernel
from symbolic.ops.families import is_number
from symbolic.ops.operation import Operation, Overwriting, array, held
from symbolic.ops.regions import At, Template, indexed_shape
from symbolic.ops.runs import runs
from symbolic.spec import AnySpec, Shape, Spec, result_dtype, show


def template(index: Any, first: int) -> tuple[Template, list[AnyLayer]]:
    """An index, taken apart: its template, and the operands, which are counted from `first`."""
    entries = index if isinstance(index, tuple) else (index,)
    operands: list[AnyLayer] = []
    return tuple([_entry(one, operands, first) for one in entries]), operands


def _entry(one: Any, operands: list[AnyLayer], first: int) -> Any:
    if one is None or one is Ellipsis:
        return one
    if isinstance(one, slice):
        return slice(*[None if b is None else operator.index(b) for b in (one.start, one.stop, one.step)])
    if isinstance(one, (int, np.integer)) and not isinstance(one, bool):
        return int(one)
    operands.append(_index_array(one))
    return At(first + len(operands) - 1)


def _index_array(one: Any) -> AnyLayer:
    if isinstance(one, bool):
        return Literal(np.array(one))
    one = list(one) if isinstance(one, range) else one
    found = as_layer(one)
    if isinstance(found, Literal) and np.size(found.value) == 0 and np.asarray(found.value).dtype == float:
        return Literal(np.zeros(np.shape(found.value), np.intp)) if isinstance(one, (list, tuple)) else found
    return found


def filled(index: Template, values: Sequence[Any]) -> Template:
    """The template with the operands' values in their places."""
    return tuple([values[one.operand] if isinstance(one, At) else one for one in index])


def is_static(index: Template) -> bool:
    return not any(isinstance(one, At) for one in index)


# --------------------------------------------------------------------------- reading


class GetItem(Operation):
    """`x[index]`, with all of NumPy's indexing; a view only where NumPy gives one.

    IndexError where the index is out of range.

    >>> from symbolic import Identity
    >>> Identity()[..., 0]
    GetItem(Identity(), index=(Ellipsis, 0))
    """

    __slots__ = ()
    variadic = True
    indexed = True
    defaults: ClassVar[Any] = {"index": ()}

    @property
    def operand(self) -> AnyLayer:
        return self.operands[0]

    @property
    def shares(self) -> bool:  # type: ignore[override]  # it depends on the index
        return not any(_is_array(self.operands[one.operand]) for one in self.index if isinstance(one, At))

    def is_view(self, specs: Sequence[AnySpec]) -> bool | None:
        """Basic indexing: an index array, or a mask, makes a copy."""
        places = [array(specs[one.operand]) for one in self.index if isinstance(one, At)]
        return not any(spec.shape != () or spec.dtype == np.dtype(bool) for spec in places)

    def written_back(self, base: AnyLayer, value: AnyLayer, base_spec: AnySpec, spec: AnySpec) -> AnyLayer | None:
        index = tuple([self.operands[one.operand] if isinstance(one, At) else one for one in self.index])
        return assign(base, index, value)

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = plain(specs[0])
        return Spec(indexed_shape(spec.shape, self.index, self.operands, specs), spec.dtype)

    def evaluate(self, *values: Any) -> Any:
        value: Any = values[0] if isinstance(values[0], (np.ndarray, np.generic)) else np.asarray(values[0])
        return value[filled(self.index, values)]

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        if is_static(self.index) and isinstance(specs[0], Spec) and specs[0].python is None:
            return operator.itemgetter(self.index), False
        return self.evaluate, False

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        spec = array(specs[0])
        if not self.index and spec.python is None and is_number(self.operands[0], spec):
            return self.operands[0]
        found = runs(self.index, self.operands, spec.shape)
        if found is None:
            return None
        parts: list[Any] = [GetItem.make((self.operands[0],), (one,)) for one in found.pieces]
        return parts[0] if len(parts) == 1 else as_layer(np.concatenate(parts, axis=found.axis))

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        if not self.index:
            return (delta,)
        index = tuple([At(one.operand + 1) if isinstance(one, At) else one for one in self.index])
        scatter = Scatter.make((operands[0], as_layer(delta), *operands[1:]), (((1, index),),))
        return (scatter,) + (None,) * (len(operands) - 1)


def _is_array(operand: AnyLayer) -> bool:
    """Whether an index operand is an array for certain: then NumPy copies."""
    return isinstance(operand, Literal) and np.ndim(operand.value) > 0


def getitem(layer: AnyLayer, index: Any) -> Any:
    index, operands = template(plainly(index), 1)
    return GetItem.make((as_layer(layer), *operands), (index,))


GETITEM[:] = [getitem]


# --------------------------------------------------------------------------- what comes back


class Scatter(Operation):
    """Zeros like the first operand, to which each delta is added at its index; repeated indices accumulate.

    `places` has a pair for each delta: the number of its operand, and the template of its index. So the deltas of
    a thousand `x[i]` cost one array of zeros.
    """

    __slots__ = ()
    variadic = True
    pieces = True
    defaults: ClassVar[Any] = {"places": ()}

    @property
    def like(self) -> AnyLayer:
        return self.operands[0]

    @classmethod
    def merged(cls, scatters: Sequence[Scatter]) -> Scatter:
        """One node for several over the same `like`."""
        operands: list[AnyLayer] = [scatters[0].operands[0]]
        places: list[tuple[int, Template]] = []
        for scatter in scatters:
            assert scatter.operands[0] is operands[0]
            shift = len(operands) - 1
            places += [(at + shift, _shifted(index, shift)) for at, index in scatter.places]
            operands += scatter.operands[1:]
        return cls.make(tuple(operands), (tuple(places),))  # type: ignore[no-any-return]  # make gives a node of the class

    def infer(self, *specs: AnySpec) -> AnySpec:
        like = delta_spec(specs[0]) or specs[0]
        deltas = [plain(specs[at]) for at, _ in self.places]
        return Spec(array(like).shape, result_dtype([array(like), *deltas]))

    def evaluate(self, *values: Any) -> Any:
        deltas = [np.asarray(values[at]).dtype for at, _ in self.places]
        like = np.asarray(values[0])
        total = np.zeros(like.shape, np.result_type(*deltas, *([like.dtype] if like.dtype.kind in "fc" else [])))
        for at, index in self.places:
            add_at(total, filled(index, values), values[at])
        return total

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        return _in_pieces(self, specs)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        deltas: list[Any] = [None] * len(operands)
        for at, index in self.places:
            deltas[at] = _read(delta, index, operands)
        return tuple(deltas)


class AddAt(Overwriting):
    """The first operand with each delta added at its index; repeated indices accumulate. `places` are as in `Scatter`.

    >>> import numpy as np
    >>> from symbolic import AddAt, Identity
    >>> AddAt(np.ones(3), Identity(), places=((1, (1,)), (1, (1,)))).predict(2.0)
    array([1., 5., 1.])
    """

    __slots__ = ()
    defaults: ClassVar[Any] = {"places": ()}

    @classmethod
    def over(cls, base: AnyLayer, scatter: Scatter) -> AnyLayer:
        """The sum of a delta and a scatter over zeros."""
        places = list(scatter.places)
        if isinstance(base, SetItem) and is_static(base.index) and _is_nothing(base.operands[1]):
            back = [one for one in places if _is_read(scatter.operands[one[0]], base) and one[1] == base.index]
            if back:  # what was cleared is added again where it was, as it is by the way back of `x[index] += y`
                places.remove(back[0])
                base = base.operands[0]
        if not places:
            return base
        return cls.make((base, *scatter.operands[1:]), (tuple(places),))  # type: ignore[no-any-return]  # a layer

    def infer(self, *specs: AnySpec) -> AnySpec:
        return plain(specs[0])

    def written(self, *values: Any) -> Any:
        """The first value with the others added to it: a copy, or the array that is given last."""
        total = held(values[0], values[-1])
        for at, index in self.places:
            add_at(total, filled(index, values), values[at])
        return total

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        return _in_pieces(self, specs)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        deltas: list[Any] = [None] * len(operands)
        deltas[0] = delta
        for at, index in self.places:
            read = _read(delta, index, operands)
            deltas[at] = read if deltas[at] is None else deltas[at] + read
        return tuple(deltas)


def _in_pieces(node: Any, specs: Sequence[AnySpec]) -> AnyLayer | None:
    """The same sum with slices in the place of arrays of indices, where there are any."""
    shape = array(specs[0]).shape
    operands: list[AnyLayer] = [node.operands[0]]
    places: list[tuple[int, Template]] = []
    for at, index in node.places:
        found, delta = runs(index, node.operands, shape), node.operands[at]
        if found is None or array(specs[at]).shape != indexed_shape(shape, index, node.operands, specs):
            used = [one.operand for one in index if isinstance(one, At)]
            numbers = {k: len(operands) + 1 + n for n, k in enumerate(used)}
            places.append((len(operands), tuple([At(numbers[k.operand]) if isinstance(k, At) else k for k in index])))
            operands += [delta, *[node.operands[k] for k in used]]
            continue
        for one, part in zip(found.pieces, found.parts(), strict=True):
            places.append((len(operands), one))
            operands.append(GetItem.make((delta,), (part,)))
    if len(places) == len(node.places) and all(a[1] == b[1] for a, b in zip(places, node.places, strict=True)):
        return None
    return type(node).make(tuple(operands), (tuple(places),))  # type: ignore[no-any-return]  # a layer


def _is_nothing(layer: AnyLayer) -> bool:
    return isinstance(layer, Literal) and np.ndim(layer.value) == 0 and layer.value == 0


def _is_read(layer: AnyLayer, written: SetItem) -> bool:
    """Whether a layer is what stood where an assignment wrote."""
    if not isinstance(layer, GetItem) or layer.index != written.index:
        return False
    return layer.operands[0] is written.operands[0]


def _shifted(index: Template, shift: int) -> Template:
    return tuple([At(one.operand + shift) if isinstance(one, At) else one for one in index])


def _read(layer: Any, index: Template, operands: Sequence[AnyLayer]) -> AnyLayer:
    """`layer[index]`, of an index whose operands are numbered among `operands`."""
    used: list[AnyLayer] = []
    renamed: list[Any] = []
    for one in index:
        if isinstance(one, At):
            used.append(operands[one.operand])
            one = At(len(used))
        renamed.append(one)
    return GetItem.make((as_layer(layer), *used), (tuple(renamed),))  # type: ignore[no-any-return]  # a node of the class


def add_at(total: Any, index: Template, delta: Any) -> None:
    """`total[index] += delta`, where an entry that is named twice gets both."""
    arrays = [one for one in index if isinstance(one, (np.ndarray, list))]
    if all(np.ndim(one) == 0 or np.asarray(one).dtype == bool for one in arrays):
        total[index] += delta
    elif len(index) == 1 and total.ndim > 1 and np.size(delta) > 64:
        _add_rows(total, np.asarray(arrays[0]).ravel(), np.reshape(delta, (-1, *total.shape[1:])))
    else:
        np.add.at(total, index, delta)


def _add_rows(total: Any, rows: Any, deltas: Any) -> None:
    """Whole rows, grouped by their target: many times faster than `np.add.at`."""
    rows = np.where(rows < 0, rows + len(total), rows)
    order = np.argsort(rows, kind="stable")
    first = np.flatnonzero(np.diff(rows[order], prepend=-1))
    total[rows[order[first]]] += np.add.reduceat(deltas[order], first, axis=0)


# --------------------------------------------------------------------------- writing


class SetItem(Overwriting):
    """The first operand with the second written at `index`; of entries named twice the last writer stays."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"index": ()}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec, value = plain(specs[0]), array(specs[1])
        region = indexed_shape(spec.shape, self.index, self.operands, specs)
        if region is not None and value.shape is not None:
            _check_fits(region, value.shape)
        return spec

    def written(self, *values: Any) -> Any:
        """The first value with the second written into it: a copy, or the array that is given last."""
        out = held(values[0], values[-1])
        out[filled(self.index, values)] = values[1]
        return out

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        rest = SetItem.make((as_layer(delta), as_layer(0.0), *operands[2:]), (self.index,))
        taken: Any = _read(delta, self.index, operands)
        if any(_may_repeat(operands[one.operand]) for one in self.index if isinstance(one, At)):
            last = LastWriter.make((as_layer(delta), *operands[2:]), (_shifted(self.index, -1),))
            taken = np.where(last, taken, 0.0)
        missing = operands[1].ndim - taken.ndim
        if missing > 0:  # NumPy lets a value have more axes of size 1
            taken = np.expand_dims(taken, tuple(range(missing)))
        return (rest, taken) + (None,) * (len(operands) - 2)


def _may_repeat(operand: AnyLayer) -> bool:
    """Whether an index operand can name an entry twice: an array of integers can, a mask cannot."""
    if isinstance(operand, Literal):
        return np.ndim(operand.value) > 0 and np.asarray(operand.value).dtype != bool
    return operand.ndim > 0 and operand.dtype != bool


def _check_fits(region: Shape, value: Shape) -> None:
    lead = len(value) - len(region)
    fits = all(d in (1, None) for d in value[: max(lead, 0)])
    trimmed = value[max(lead, 0) :]
    pairs = zip(trimmed[::-1], region[::-1], strict=False)
    if not fits or any(d not in (1, None) and r not in (None, d) for d, r in pairs):
        raise ShapeError(
            f"a value of shape {show(value)} cannot be assigned to a region of shape {show(region)}",
            remedy="make the value's sizes equal to the region's, or 1",
        )


class LastWriter(Operation):
    """For each entry of `x[index]`, whether an assignment to it stays: False where a later one names it again."""

    __slots__ = ()
    variadic = True
    defaults: ClassVar[Any] = {"index": ()}

    def infer(self, *specs: AnySpec) -> AnySpec:
        shape = indexed_shape(array(specs[0]).shape, self.index, self.operands, specs)
        return Spec(shape, np.dtype(bool))

    def evaluate(self, *values: Any) -> Any:
        index = filled(self.index, values)
        writer = np.zeros(np.shape(values[0]), np.intp)
        region = np.shape(writer[index])
        numbers = np.arange(int(np.prod(region, dtype=int))).reshape(region)
        writer[index] = numbers
        return np.equal(writer[index], numbers)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,) * len(operands)


def assign(x: Any, index: Any, value: Any) -> AnyLayer:
    """`x` as it is after `x[index] = value`: a new layer, in the dtype of `x`."""
    index, operands = template(index, 2)
    return SetItem.make((as_layer(x), as_layer(value), *operands), (index,))  # type: ignore[no-any-return]  # a node of the class
