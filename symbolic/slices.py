"""What is a graph of one slice, for all slices at once? Another graph, written by a rule for each family.

`Batch` stands for the results of all slices until specs are known. Then the slice's graph is walked: what depends on
a slice is given operands with one axis more, the first. An operation without a rule in `RULES` (see `batches`) is run
slice by slice by a `Map`, so everything has an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.context import here, inside
from symbolic.errors import ShapeError, TraceError
from symbolic.layer import AnyLayer
from symbolic.leaves import Identity, Literal
from symbolic.literal import as_layer
from symbolic.ops.deltas import SumLike
from symbolic.ops.matrices import arrived
from symbolic.ops.operation import Operation, array, topological
from symbolic.ops.passing import BatchMark, Cast, EntryLike, Item, Tuple, entry_of, sliced
from symbolic.spec import AnySpec, Dim, OpaqueSpec, Spec, TupleSpec, normalize_axis, spec_of

Placed = tuple[AnyLayer, bool]
"""A layer, and whether it holds all slices, along its first axis; else it is the same for each."""
Rule = Callable[[Any, "Slices"], Any]

RULES: dict[type[Operation], Rule] = {}
"""How an operation, or a family of them, is written for all slices: a layer with them, a `Placed`, or `None`."""


class Slices:
    """What a rule is given: the operands for all slices, and what is known of one slice."""

    node: Operation
    count: int
    walk: Walk
    moved: list[bool]

    def __init__(self, node: Operation, places: Sequence[Placed], count: int, walk: Walk) -> None:
        self.node, self.count, self.walk = node, count, walk
        self.operands: list[Any] = [layer for layer, _ in places]
        self.moved = [moved for _, moved in places]
        self.specs: list[AnySpec] = walk.facts.operands(node)
        self.out: AnySpec = walk.facts.spec(node)

    def shape(self, k: int) -> tuple[int, ...] | None:
        """The shape of one slice of an operand; `None` where it is not known to the last size."""
        return _known(self.specs[k])

    def ranks(self) -> list[int] | None:
        shapes = [spec.shape if isinstance(spec, Spec) else None for spec in self.specs]
        known = [len(shape) for shape in shapes if shape is not None]
        return known if len(known) == len(shapes) else None

    def aligned(self, k: int, rank: int) -> Any:
        """An operand that broadcasts with others of so many axes: the new ones stand behind that of the slices."""
        missing = rank - len(array(self.specs[k]).shape or ())
        if not self.moved[k] or missing <= 0:
            return self.operands[k]
        return np.expand_dims(self.operands[k], tuple(range(1, 1 + missing)))

    def full(self, k: int) -> Any:
        """An operand with an axis of the slices, whether it depends on them or not."""
        return self.operands[k] if self.moved[k] else repeated(self.operands[k], self.specs[k], self.count)

    def all(self) -> list[Any]:
        return [self.full(k) for k in range(len(self.operands))]

    def reshaped(self, layer: Any, *sizes: int) -> Any:
        return np.reshape(layer, (self.count, *sizes))

    def instead(self, layer: Any) -> Placed | None:
        """What another formula of one slice is, for all slices."""
        return None if layer is None else self.walk.of([layer])[0]


def _known(spec: AnySpec) -> tuple[int, ...] | None:
    known = isinstance(spec, Spec) and spec.shape is not None and None not in spec.shape
    return spec.shape if known else None  # type: ignore[union-attr, return-value]  # known


def repeated(layer: Any, spec: AnySpec, count: int) -> Any:
    """The same value for each slice."""
    if isinstance(spec, TupleSpec):
        return Tuple.make(tuple([repeated(entry_of(layer, k), one, count) for k, one in enumerate(spec)]))
    if isinstance(spec, OpaqueSpec):
        return layer
    shape = _known(spec)
    return np.stack([layer] * count) if shape is None else np.broadcast_to(layer, (count, *shape))


class Walk:
    """One way through the graph of a slice."""

    count: int
    facts: Any

    def __init__(self, sources: Sequence[tuple[AnyLayer, AnyLayer]], count: int, facts: Any) -> None:
        self.done: dict[AnyLayer, Placed] = {mark: (source, True) for mark, source in sources}
        self.count, self.facts = count, facts

    def of(self, roots: Sequence[AnyLayer]) -> list[Placed]:
        for node in topological(roots):
            if node in self.done or not isinstance(node, Operation):
                continue
            places = [self.done.get(one, (one, False)) for one in node.operands]
            if any(moved for _, moved in places):
                self.done[node] = self.moved(node, places)
            elif any(one is not other for (one, _), other in zip(places, node.operands, strict=True)):
                self.done[node] = node.rebuilt(tuple([one for one, _ in places])), False
        return [self.done.get(root, (root, False)) for root in roots]

    def moved(self, node: Operation, places: Sequence[Placed]) -> Placed:
        with inside(origin=node._origin):
            at = Slices(node, places, self.count, self)
            rule = next((RULES[kind] for kind in type(node).__mro__ if kind in RULES), None)
            found = None if rule is None else rule(node, at)
            layer, moved = found if isinstance(found, tuple) else (found, True)
            if moved and (layer is None or not self.fits(layer, at)):
                layer = Map.of(node, at)
            return (self.cast(layer, at) if moved else layer), moved

    def fits(self, layer: AnyLayer, at: Slices) -> bool:
        """Whether a rule's answer has the shape that it must have."""
        want, got = at.out, self.facts.spec(layer)
        if not isinstance(want, Spec) or want.shape is None:
            return True
        shape = (self.count, *want.shape)
        fits = got.shape is not None and len(got.shape) == len(shape)
        return fits and all(None in (a, b) or a == b for a, b in zip(got.shape, shape, strict=True))

    def cast(self, layer: AnyLayer, at: Slices) -> AnyLayer:
        """In the dtype that a slice has: a Python number among slices is no weak one any more."""
        want, got = at.out, self.facts.spec(layer)
        if not isinstance(want, Spec) or not isinstance(got, Spec) or want.dtype in (None, got.dtype):
            return layer
        return Cast(layer, to=want.dtype)


def together(
    outputs: Sequence[AnyLayer], sources: Sequence[tuple[AnyLayer, AnyLayer]], count: int, facts: Any
) -> list[AnyLayer]:
    """Each output for all slices, along a first axis; `sources` gives for each slice what it is a slice of."""
    places = Walk(sources, count, facts).of(outputs)
    pairs = zip(outputs, places, strict=True)
    return [layer if moved else repeated(layer, facts.spec(one), count) for one, (layer, moved) in pairs]


# --------------------------------------------------------------------------- not written out yet


class Batch(Operation):
    """The results of all slices, along a first axis: a tuple, not written out yet.

    The operands are `count` arrays, the slices of each, and the results of a slice. ShapeError if the arrays have
    axes of different sizes; `names` says which arguments they are.
    """

    __slots__ = ()
    variadic = True
    late = True
    defaults: ClassVar[Any] = {"count": 1, "names": ()}

    @classmethod
    def of(cls, marks: Sequence[AnyLayer], outputs: Sequence[AnyLayer], names: Sequence[str]) -> list[AnyLayer]:
        """The results of all slices."""
        sources = [mark.operands[0] for mark in marks]
        node = cls.make((*sources, *marks, *outputs), (len(marks), tuple(names)))
        return [entry_of(node, k) for k in range(len(outputs))]

    def closed(self) -> Sequence[AnyLayer]:
        return self.operands[self.count : 2 * self.count]

    def length(self, specs: Sequence[AnySpec]) -> Dim:
        """How many slices there are."""
        sizes = [_along(spec, mark) for spec, mark in zip(specs, self.closed(), strict=False)]
        known = {size for size in sizes if size is not None}
        if len(known) > 1:
            told = ", ".join(f"{size} for {name}" for size, name in zip(sizes, self.names, strict=True))
            raise ShapeError(
                f"vmap over axes of different sizes: {told}", remedy="map axes of one size, or give in_axes=None"
            )
        return known.pop() if known else None

    def infer(self, *specs: AnySpec) -> AnySpec:
        size = self.length(specs[: self.count])
        return TupleSpec(_stacked(one, size) for one in specs[2 * self.count :])

    def written_out(self, operands: tuple[AnyLayer, ...], facts: Any) -> AnyLayer | None:
        sources, marks, outputs = (operands[k * self.count :][: self.count] for k in (0, 1, 2))
        outputs = operands[2 * self.count :]
        size = self.length([facts.spec(one) for one in sources])
        if size is None:
            raise TraceError("vmap over an axis whose size only the run knows", remedy="map another axis, or stack")
        pairs = [(mark, _first(source, mark.axis)) for mark, source in zip(marks, sources, strict=True)]
        return Tuple.make(tuple(together(outputs, pairs, size, facts)))  # type: ignore[no-any-return]  # a layer


def _along(spec: AnySpec, mark: Any) -> Dim:
    shape = spec.shape if isinstance(spec, Spec) else None
    return None if shape is None else shape[normalize_axis(mark.axis, len(shape))]


def _stacked(spec: AnySpec, size: Dim) -> AnySpec:
    if isinstance(spec, TupleSpec):
        return TupleSpec(_stacked(one, size) for one in spec)
    if isinstance(spec, OpaqueSpec):
        return spec
    return Spec(None if spec.shape is None else (size, *spec.shape), spec.dtype)


def _first(layer: Any, axis: int) -> Any:
    return layer if axis == 0 else np.moveaxis(layer, axis, 0)


# --------------------------------------------------------------------------- slice by slice


class Map(Operation):
    """One operation, run for each slice in turn: for operations without a rule.

    `node` is the operation over placeholders, `moved` says which operands have slices along their first axis. The
    gradient is the operation's own, for all slices.
    """

    __slots__ = ()
    variadic = True
    defaults: ClassVar[Any] = {"node": None, "moved": ()}

    @classmethod
    def of(cls, node: Operation, at: Slices) -> Map:
        operands: list[AnyLayer] = [one if isinstance(one, Literal) else Identity() for one in node.operands]
        return cls.make(tuple(at.operands), (node.rebuilt(tuple(operands)), tuple(at.moved)))  # type: ignore[no-any-return]  # a node of the class

    @property
    def effect(self) -> bool:  # type: ignore[override]  # as its operation's
        return bool(self.node.effect)

    def infer(self, *specs: AnySpec) -> AnySpec:
        slices = [sliced(spec, 0) if moved else spec for spec, moved in zip(specs, self.moved, strict=True)]
        return _stacked(self.node.infer(*slices), self.length(specs))

    def length(self, specs: Sequence[AnySpec]) -> Dim:
        shapes = [_a_shape(spec) for spec, moved in zip(specs, self.moved, strict=True) if moved]
        return next((shape[0] for shape in shapes if shape), None)

    def evaluate(self, *values: Any) -> Any:
        pairs = list(zip(values, self.moved, strict=True))
        count = self.length([spec_of(value) for value in values]) or 0
        found = [self.node.evaluate(*[_taken(one, k) if moved else one for one, moved in pairs]) for k in range(count)]
        return _joined(found) if found else _nothing(self.infer(*map(spec_of, values)))

    def key(self) -> Any:
        return type(self.node), self.node.key(), tuple(map(id, self.node.operands)), self.moved

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        facts: Any = here.facts
        count = self.length([facts.spec(one) for one in operands])
        assert count is not None
        marks = [
            BatchMark.make((one,), (0,)) if moved else one for one, moved in zip(operands, self.moved, strict=True)
        ]
        result = BatchMark.make((as_layer(out),), (0,))
        change, ends = _one_delta(delta, result, facts)
        node = self.node.rebuilt(tuple(marks))
        found = [
            None if one is None else SumLike.make((as_layer(one), mark))
            for one, mark in zip(node.gradient(change, result, *marks), marks, strict=True)
        ]
        sources = [(one, one.operands[0]) for one in (*marks, *ends, result) if isinstance(one, BatchMark)]
        whole = iter(together([one for one in found if one is not None], sources, count, facts))
        deltas: list[Any] = [None if one is None else next(whole) for one in found]
        pairs = zip(deltas, self.moved, strict=True)
        return tuple([one if moved or one is None else np.sum(one, axis=0) for one, moved in pairs])


def _one_delta(delta: Any, result: AnyLayer, facts: Any) -> tuple[AnyLayer, list[Any]]:
    """The delta of one slice's result, and the slices in it; entries by which nothing came back say so."""
    if not isinstance(facts.spec(delta), TupleSpec):
        mark = BatchMark.make((as_layer(delta),), (0,))
        return mark, [mark]
    found = [arrived(delta, k) for k in range(len(facts.spec(delta)))]
    marks: list[Any] = [None if one is None else BatchMark.make((as_layer(one),), (0,)) for one in found]
    there = next(k for k, one in enumerate(marks) if one is not None)
    alone = EntryLike.make((marks[there], result), (there,))
    if sum(one is not None for one in marks) == 1:
        return alone, marks
    entries = [Item.make((alone,), (k,)) if one is None else one for k, one in enumerate(marks)]
    return Tuple.make(tuple(entries)), marks


def _a_shape(spec: AnySpec) -> Any:
    """The shape of an array, or of the first one in a tuple."""
    if isinstance(spec, TupleSpec):
        return next((shape for shape in map(_a_shape, spec) if shape), None)
    return spec.shape if isinstance(spec, Spec) else None


def _taken(value: Any, k: int) -> Any:
    return tuple([_taken(one, k) for one in value]) if isinstance(value, tuple) else value[k]


def _joined(results: Sequence[Any]) -> Any:
    if isinstance(results[0], tuple):
        return tuple([_joined(column) for column in zip(*results, strict=True)])
    return np.stack(results)


def _nothing(spec: AnySpec) -> Any:
    """The results of no slice."""
    if isinstance(spec, TupleSpec):
        return tuple([_nothing(one) for one in spec])
    array_ = array(spec)
    return np.zeros((0, *[size or 0 for size in (array_.shape or ())[1:]]), array_.dtype)


__all__ = ["RULES", "Batch", "Map", "Slices", "together"]
