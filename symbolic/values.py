"""How does a value come into a network, and how does it go out? As the native types that people have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from symbolic.errors import DtypeError, ShapeError
from symbolic.layer import AnyLayer
from symbolic.leaves import Literal, Weight
from symbolic.literal import delta_spec
from symbolic.ops.passing import Tuple
from symbolic.spec import AnySpec, Spec, show


def entries(value: Any) -> Iterator[Any]:
    """The arrays and numbers of a (nested) tuple."""
    if type(value) is tuple:
        for one in value:
            yield from entries(one)
    else:
        yield value


def structured(value: Any, leaves: Iterator[AnyLayer]) -> AnyLayer:
    """The same nesting with a leaf in the place of each entry."""
    if type(value) is tuple:
        return Tuple.make(tuple([structured(one, leaves) for one in value]))  # type: ignore[no-any-return]
    return next(leaves)


def native(value: Any) -> Any:
    """An input as the programs take it: lists are arrays, our own tapes are opened."""
    if isinstance(value, (Literal, Weight)):
        return value.value
    if isinstance(value, list):
        return np.asarray(value)
    if type(value) is tuple:
        return tuple(native(one) for one in value)
    if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
        return _plain(value)
    return value


def _plain(value: np.ndarray[Any, Any]) -> Any:
    if isinstance(value, np.ma.MaskedArray):
        raise DtypeError(
            "the input is a masked array, whose mask would be lost",
            remedy="pass .filled(value) or .compressed(), or the data and the mask as two inputs",
        )
    return np.asarray(value)


def gathered(layer: AnyLayer, inputs: tuple[Any, ...]) -> Any:
    """The inputs of a call as one value: the value itself, or a tuple of several."""
    accept = getattr(type(layer), "accept", None)
    if accept is not None:
        return accept(layer, inputs)
    if len(inputs) == 1:
        return native(inputs[0])
    return native(tuple(inputs))


def restructured(value: Any, deltas: Iterator[Any]) -> Any:
    return tuple(restructured(one, deltas) for one in value) if type(value) is tuple else next(deltas)


def read_only(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def fitted(delta: Any, spec: AnySpec, value: Any, made: str) -> Any:
    """A delta in the shape and dtype of its datum."""
    want = delta_spec(spec)
    if not isinstance(want, Spec):
        return delta
    shape, got = np.shape(value), np.shape(delta)
    try:
        fits = np.broadcast_shapes(shape, got) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"backward got a delta of shape {show(got)} for an output of shape {show(shape)}",
            where=made,
            remedy="give a delta of the output's shape, or a number",
        )
    if want.python is not None:
        return want.python(delta)
    return np.array(np.broadcast_to(np.asarray(delta, want.dtype), shape))[()]


def finished(layer: AnyLayer, value: Any) -> Any:
    """The value as the native type that the layer's hints declare."""
    finish = getattr(type(layer), "finish", None)
    return value if finish is None else finish(layer, value)
