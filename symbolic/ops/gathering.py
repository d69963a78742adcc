"""Which functions of NumPy take entries by number or by mask? take and its kin; those that write are refused."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symbolic.context import here
from symbolic.errors import ShapeError
from symbolic.layer import Layer, unsupported
from symbolic.literal import as_layer
from symbolic.ops.axes import along, entry, ints, plain
from symbolic.ops.binding import implements
from symbolic.ops.operation import Operation, array
from symbolic.spec import AnySpec, Shape, Spec, broadcast, normalize_axis, result_dtype, show


@implements(np.take, samples=({"indices": [0, 0]}, {"indices": [0, -1], "axis": 0}, {"indices": 0, "axis": -1}))
def take(a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Any:
    operand: Any = np.ravel(as_layer(a)) if axis is None else as_layer(a)
    if here.facts is not None and operand.ndim == 0:
        operand = np.ravel(operand)  # NumPy lets axis 0 of a 0-d array pass
    axis = 0 if axis is None else ints(axis, "axis= of np.take")
    places = _integers(indices)
    return operand[entry(places if mode == "raise" else _within(places, operand.shape[axis], mode), axis)][()]


def _within(places: Any, size: int, mode: str) -> Any:
    """Indices brought into range."""
    if mode not in ("wrap", "clip"):
        raise unsupported(f"np.take with mode={mode!r}", "use mode='raise', 'wrap' or 'clip'")
    found = np.remainder(places, size) if mode == "wrap" else np.clip(places, 0, size - 1)
    return found if isinstance(found, Layer) or np.ndim(found) else int(found)


def _integers(indices: Any) -> Any:
    """Truth values are numbers here, not a mask."""
    if isinstance(indices, (Layer, int)) or (isinstance(indices, (list, tuple)) and not _flat(indices)):
        return as_layer(indices) if not isinstance(indices, int) else int(indices)
    numbers = np.asarray(indices)
    return numbers.astype(np.intp) if numbers.dtype == bool or numbers.size == 0 else numbers


def _flat(values: Any) -> bool:
    if isinstance(values, (list, tuple)):
        return all(_flat(one) for one in values)
    return not isinstance(values, Layer)


class TakeAlongAxis(Operation):
    """The entries that the second operand numbers, along an axis; the other axes broadcast."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.take_along_axis,)
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")
    defaults: ClassVar[Any] = {"axis": -1}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec, indices = plain(specs[0]), array(specs[1])
        if spec.shape is None or indices.shape is None:
            return Spec(None, spec.dtype)
        if len(spec.shape) != len(indices.shape):
            raise ShapeError(
                f"np.take_along_axis of an array of shape {show(spec.shape)} by indices of shape {show(indices.shape)}",
                remedy="give indices with as many axes as the array",
            )
        axis = normalize_axis(self.axis, len(spec.shape))
        return Spec(broadcast([indices.shape, _without(spec.shape, axis)]), spec.dtype)

    def evaluate(self, *values: Any) -> Any:
        value, indices = values
        return value[along(np.shape(value), indices, self.axis)]

    def gradient(self, delta: Any, out: Any, operand: Any, indices: Any) -> Any:
        return AddedAlong.make((as_layer(delta), operand, indices), self.parameters), None


def _without(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], 1, *shape[axis + 1 :])


class AddedAlong(Operation):
    """Zeros like an operand, the first added where `TakeAlongAxis` had taken it."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "like", "indices")
    defaults: ClassVar[Any] = {"axis": -1}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[1]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        delta, like, indices = values
        total = np.zeros(np.shape(like), np.asarray(delta).dtype)
        np.add.at(total, along(total.shape, indices, self.axis), delta)
        return total

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any, indices: Any) -> Any:
        return TakeAlongAxis.make((as_layer(delta), indices), self.parameters), None, None


@implements(np.take_along_axis, operands="indices")
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    operand: Any = np.ravel(as_layer(arr)) if axis is None else as_layer(arr)
    return TakeAlongAxis.make((operand, as_layer(indices)), (0 if axis is None else ints(axis, "axis"),))


@implements(np.compress)
def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    operand: Any = np.ravel(as_layer(a)) if axis is None else as_layer(a)
    chosen = condition if isinstance(condition, Layer) else np.flatnonzero(condition)
    return operand[entry(chosen, 0 if axis is None else axis)]


@implements(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    chosen = np.ravel(condition) if isinstance(condition, Layer) else np.flatnonzero(condition)
    return np.ravel(as_layer(arr))[chosen]


class Choose(Operation):
    """For each whole number, the entry of the operand that it numbers."""

    __slots__ = ()
    variadic = True
    functions: ClassVar[Any] = (np.choose,)
    defaults: ClassVar[Any] = {"mode": "raise"}

    def infer(self, *specs: AnySpec) -> AnySpec:
        given = [plain(spec) for spec in specs]
        return Spec(broadcast([spec.shape for spec in given]), result_dtype(given[1:]))

    def evaluate(self, *values: Any) -> Any:
        return np.choose(values[0], values[1:], mode=self.mode)

    def gradient(self, delta: Any, out: Any, number: Any, *choices: Any) -> Any:
        count = len(choices)
        chosen = np.remainder(number, count) if self.mode == "wrap" else np.clip(number, 0, count - 1)
        return (None, *[np.where(np.equal(chosen, k), delta, 0) for k in range(count)])


@implements(np.choose, samples=({}, {"mode": "wrap"}, {"mode": "clip"}))
def choose(a: Any, choices: Any, mode: str = "raise") -> Any:
    if mode not in ("raise", "wrap", "clip"):
        raise unsupported(f"np.choose with mode={mode!r}", "use mode='raise', 'wrap' or 'clip'")
    return Choose(a, *operands_of(choices), mode=mode)


def operands_of(choices: Any) -> list[Any]:
    return [as_layer(choices)[k] for k in range(len(choices))] if isinstance(choices, Layer) else list(choices)


@implements(np.ix_, operands="open_mesh")
def open_mesh(*args: Any) -> Any:
    found = []
    for k, one in enumerate(args):
        layer: Any = as_layer(one)
        if layer.ndim != 1:
            raise ValueError("np.ix_ takes vectors; flatten the others first (np.ravel)")
        layer = np.nonzero(layer)[0] if layer.dtype == bool else layer
        found.append(np.reshape(layer, [-1 if k == axis else 1 for axis in range(len(args))]))
    return tuple(found)
