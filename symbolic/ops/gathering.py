"""Which functions of NumPy take entries by number or by mask? take and its kin; those that write are refused."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

import numpy as np

from symbolic.context import here
from symbolic.errors import ShapeError
from symbolic.layer import Layer, refuse, unsupported
from symbolic.literal import as_layer
from symbolic.ops.axes import entry, ints, plain
from symbolic.ops.binding import implements
from symbolic.ops.operation import Operation, array
from symbolic.spec import AnySpec, Shape, Spec, broadcast, normalize_axis, show


@implements(np.take, samples=({"indices": [0, 0]}, {"indices": [0, -1], "axis": 0}, {"indices": 0, "axis": -1}))
def take(a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Any:
    if mode != "raise":
        raise unsupported(f"np.take with mode={mode!r}", "bring the indices into range first (np.clip, np.remainder)")
    operand: Any = np.ravel(as_layer(a)) if axis is None else as_layer(a)
    if here.facts is not None and operand.ndim == 0:
        operand = np.ravel(operand)  # NumPy lets axis 0 of a 0-d array pass
    return operand[entry(_integers(indices), 0 if axis is None else ints(axis, "axis= of np.take"))]


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
    functions = (np.take_along_axis,)
    operand_names = ("operand1", "operand2")
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


def along(shape: tuple[int, ...], indices: Any, axis: int) -> tuple[Any, ...]:
    """The index that numbers the entries along one axis and runs through the others."""
    axis, rank = normalize_axis(axis, len(shape)), len(shape)
    grid: list[Any] = [np.arange(n).reshape((-1,) + (1,) * (rank - 1 - k)) for k, n in enumerate(shape)]
    grid[axis] = indices
    return tuple(grid)


class AddedAlong(Operation):
    """Zeros like an operand, the first added where `TakeAlongAxis` had taken it."""

    __slots__ = ()
    operand_names = ("operand", "like", "indices")
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


@implements(np.put_along_axis)
def put_along_axis(*args: Any, **kwargs: Any) -> NoReturn:
    refuse(
        "np.put_along_axis would write traced values into an array",
        "assign to an entry of a traced array instead (y = x.copy(); y[index] = value), or choose with np.where",
    )


@implements(np.choose)
def choose(*args: Any, **kwargs: Any) -> NoReturn:
    raise unsupported("np.choose", "use np.select, np.where, or index np.stack([...])")
