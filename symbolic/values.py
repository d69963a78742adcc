"""How does a value come into a network, and how does it go out? As the native types that people have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from symbolic.context import source
from symbolic.errors import DtypeError, ShapeError, place_of
from symbolic.layer import AnyLayer, Layer
from symbolic.leaves import Literal, Weight
from symbolic.literal import delta_spec
from symbolic.ops.passing import Tuple
from symbolic.spec import AnySpec, Spec, key_of, show


def is_static(value: Any) -> bool:
    """Whether a value is no array and no number: it reaches the body as it is, and another one is traced anew."""
    return isinstance(value, bool) or not isinstance(value, (np.ndarray, np.generic, int, float, complex, tuple))


def entries(value: Any) -> Iterator[Any]:
    """The arrays and numbers of a (nested) tuple."""
    if type(value) is tuple:
        for one in value:
            yield from entries(one)
    elif not is_static(value):
        yield value


def layout(value: Any) -> Any:
    """The nesting of an input, with what is static in it."""
    if type(value) is tuple:
        return tuple([layout(one) for one in value])
    return key_of(value) if is_static(value) else None


def structured(value: Any, leaves: Iterator[AnyLayer]) -> AnyLayer:
    """The same nesting with a leaf in the place of each entry."""
    if type(value) is tuple:
        return Tuple.make(tuple([structured(one, leaves) for one in value]))  # type: ignore[no-any-return]  # a layer
    return Literal(value) if is_static(value) else next(leaves)


def native(value: Any) -> Any:
    """An input as the programs take it: lists are arrays, our own tapes are opened."""
    if isinstance(value, (Literal, Weight)):
        return value.value
    if isinstance(value, list):
        return np.asarray(value)
    if isinstance(value, tuple):
        return tuple(native(one) for one in value)
    if isinstance(value, np.ndarray) and (type(value) is not np.ndarray or value.dtype.kind not in "fiubc"):
        return _plain(value)
    return value


def _plain(value: np.ndarray[Any, Any]) -> Any:
    """An array without its subclass, where that loses nothing; DtypeError for other arrays than of numbers."""
    if isinstance(value, np.ma.MaskedArray):
        _refuse("a masked array, whose mask would be lost", "pass .filled(value), or data and mask as two inputs")
    if isinstance(value, np.matrix):
        _refuse("a np.matrix, whose * is another product", "pass np.asarray(x), and write @ for the matrix product")
    if value.dtype.kind not in "fiubc":
        _refuse(f"an array of dtype {value.dtype}", "pass numbers: an array of floats, integers or Booleans")
    return np.asarray(value)


def _refuse(what: str, remedy: str) -> NoReturn:
    raise DtypeError(f"an input is {what}", where=place_of(source()), remedy=remedy)


def gathered(layer: AnyLayer, inputs: tuple[Any, ...]) -> Any:
    """The inputs of a call as one value: the value itself, or a tuple of several."""
    accept = getattr(type(layer), "accept", None)
    if accept is not None:
        return accept(layer, inputs)
    if not inputs:
        raise DtypeError(f"{layer.title} takes an input", where=place_of(source()), remedy="give it a value")
    if len(inputs) == 1:
        return native(inputs[0])
    return native(tuple(inputs))


def restructured(value: Any, deltas: Iterator[Any]) -> Any:
    """The deltas of the entries in the nesting of the value; `None` for what is static."""
    if type(value) is tuple:
        return tuple([restructured(one, deltas) for one in value])
    return None if is_static(value) else next(deltas)


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
    if isinstance(delta, Layer) or np.asarray(delta).dtype.kind not in "fiubc":
        raise DtypeError(
            f"backward got a delta of type {type(delta).__name__}",
            where=made,
            remedy="give a number or an array of numbers, of the output's shape",
        )
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


def like_argument(argument: Any, delta: Any) -> Any:
    """A delta as the kind of value that its argument is: 0-d arrays stay arrays, Python numbers Python numbers."""
    if isinstance(argument, np.ndarray):
        return np.asarray(delta, dtype=argument.dtype if argument.dtype.kind in "fc" else None)
    if isinstance(argument, (float, complex)) and not isinstance(argument, np.generic):
        return type(argument)(delta)
    return delta[()] if isinstance(argument, np.generic) and isinstance(delta, np.ndarray) else delta
