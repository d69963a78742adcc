"""What hands values on as they are? Marks, tuples and their entries, another dtype."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.errors import DtypeError
from symbolic.layer import AnyLayer, unsupported
from symbolic.leaves import Literal
from symbolic.literal import as_layer, delta_spec
from symbolic.ops.deltas import SumLike
from symbolic.ops.operation import Operation, array, topological
from symbolic.spec import AnySpec, OpaqueSpec, Spec, TupleSpec, normalize_axis, same_dtype, spec_of


class Cast(Operation):
    """Another dtype, as `astype` does."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"to": None}

    def infer(self, *specs: AnySpec) -> AnySpec:
        dtype = np.dtype(self.to)
        if dtype.kind not in "fciub":
            raise DtypeError(
                f"a traced value as an array of dtype {dtype}",
                remedy="keep numbers in arrays of numbers, and other things in lists: they would lose the gradient",
            )
        return Spec(array(specs[0]).shape, dtype)

    def evaluate(self, *values: Any) -> Any:
        cast = np.asarray(values[0]).astype(self.to)
        return cast if isinstance(values[0], np.ndarray) else cast[()]

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        given = array(specs[0])
        return self.operands[0] if same_dtype(given.dtype, np.dtype(self.to)) and given.python is None else None

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (delta,)  # SumLike takes it back to the operand's dtype


class Same(Operation):
    """The first operand's value, as a node of its own: what is assigned to it stays there."""

    __slots__ = ()
    shares = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return specs[0]

    def is_view(self, specs: Sequence[AnySpec]) -> bool | None:
        return False

    def evaluate(self, *values: Any) -> Any:
        return values[0]


class Mark(Same):
    """The same value, as a variable: what an inner gradient is taken by."""

    __slots__ = ()

    def key(self) -> Any:
        return id(self)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (delta,)


class BatchMark(Mark):
    """One slice of the operand along `axis`, standing for each of them: what the body of a `vmap` is given.

    It has no value: `Batch` writes the slices out together before anything is computed.
    """

    __slots__ = ()
    shares = False
    defaults: ClassVar[Any] = {"axis": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return sliced(specs[0], self.axis)

    def evaluate(self, *values: Any) -> Any:
        raise unsupported("the slice of a vmap, outside of its function", "return what is needed from the function")

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        raise unsupported("the slice of a vmap, outside of its function", "return what is needed from the function")


def open_slices(node: AnyLayer) -> set[AnyLayer]:
    """The slices of a `vmap` by which a node is another value for each of them."""
    nodes = topological([node])
    if not any(isinstance(one, BatchMark) for one in nodes):
        return set()
    held: dict[AnyLayer, set[AnyLayer]] = {}
    for one in nodes:
        below = [held[operand] for operand in one.operands] if isinstance(one, Operation) else []
        closed = one.closed() if isinstance(one, Operation) else ()
        held[one] = set().union(*below, [one] if isinstance(one, BatchMark) else ()).difference(closed)
    return held[node]


def sliced(spec: AnySpec, axis: int) -> AnySpec:
    """The spec of one slice along an axis."""
    if isinstance(spec, TupleSpec):
        return TupleSpec(sliced(one, axis) for one in spec)
    if isinstance(spec, OpaqueSpec) or spec.shape is None:
        return spec
    axis = normalize_axis(axis, len(spec.shape))
    return Spec((*spec.shape[:axis], *spec.shape[axis + 1 :]), spec.dtype)


class Stopped(Same):
    """The same value, through which no gradient passes."""

    __slots__ = ()

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        return self.operands[0]  # gradients are written out by then

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


class Tuple(Operation):
    """Several values as one: the input of a network of several inputs, the result of one of several results."""

    __slots__ = ()
    variadic = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return TupleSpec(specs)

    def evaluate(self, *values: Any) -> Any:
        return tuple(values)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return tuple([entry_of(delta, k) for k in range(len(operands))])


def entry_of(layer: Any, index: int) -> AnyLayer:
    """One entry of a traced tuple, without a node where it is in sight."""
    return layer.operands[index] if isinstance(layer, Tuple) else Item.make((as_layer(layer),), (index,))


class Item(Operation):
    """One entry of a tuple."""

    __slots__ = ()
    shares = True
    defaults: ClassVar[Any] = {"index": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        if isinstance(specs[0], TupleSpec):
            if not -len(specs[0]) <= self.index < len(specs[0]):
                raise IndexError(f"entry {self.index} of a tuple of {len(specs[0])}")
            found: AnySpec = specs[0][self.index]
            return found
        if isinstance(specs[0], OpaqueSpec):
            return OpaqueSpec(object)
        return Spec()

    def evaluate(self, *values: Any) -> Any:
        return values[0][self.index]

    def is_view(self, specs: Sequence[AnySpec]) -> bool | None:
        return False  # what is assigned to an entry stays there

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        operand = self.operands[0]
        if isinstance(operand, EntryLike):
            same, spec = operand.index == self.index, self.infer(*specs)
            if same or isinstance(spec, Spec):
                return operand.operands[0] if same else zero(entry_of(operand.operands[1], self.index))
        return operand.operands[self.index] if isinstance(operand, Tuple) else None

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (EntryLike.make((as_layer(delta), as_layer(operand)), (self.index,)),)


class EntryLike(Operation):
    """A tuple of zeros but for one entry: the delta of `Item`."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "like")
    defaults: ClassVar[Any] = {"index": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return delta_spec(specs[1]) or specs[1]

    def evaluate(self, *values: Any) -> Any:
        return tuple(values[0] if k == self.index else zeros_like_delta(one) for k, one in enumerate(values[1]))

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any) -> Any:
        return Item(delta, index=self.index), None


def zero(like: AnyLayer) -> AnyLayer:
    """The zero delta of a layer."""
    return SumLike.make((Literal(0.0), like))  # type: ignore[no-any-return]  # a layer


class Barrier(Same):
    """The first operand, not before the others are there: what is computed from it is computed anew."""

    __slots__ = ()
    variadic = True

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        return self.operands[0] if all(isinstance(one, Literal) for one in self.operands[1:]) else None

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (delta,) + (None,) * (len(operands) - 1)


def zeros_like_delta(value: Any) -> Any:
    """The zero delta of a value; `None` where it has none."""
    if isinstance(value, tuple):
        return tuple(zeros_like_delta(one) for one in value)
    spec = delta_spec(spec_of(value))
    if not isinstance(spec, Spec):
        return None
    if spec.python is not None:
        return spec.python(0)
    zeros = np.zeros_like(value, dtype=spec.dtype)
    return zeros if isinstance(value, np.ndarray) else zeros[()]
