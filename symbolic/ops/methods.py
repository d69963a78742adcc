"""What do an array's own methods and attributes mean on a layer? The NumPy function of the same name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import numpy as np

from symbolic.layer import METHODS, AnyLayer, refuse
from symbolic.ops.binding import array_method, implements
from symbolic.ops.passing import Cast

_FUNCTIONS: list[Callable[..., Any]] = [
    *(np.all, np.any, np.argmax, np.argmin, np.argpartition, np.argsort, np.choose, np.clip, np.conjugate, np.copy),
    *(np.cumprod, np.cumsum, np.diagonal, np.dot, np.max, np.mean, np.min, np.nonzero, np.prod, np.ptp, np.ravel),
    *(np.repeat, np.round, np.searchsorted, np.squeeze, np.std, np.sum, np.swapaxes, np.take, np.trace, np.var),
]
_ATTRIBUTES: dict[str, Callable[..., Any]] = {
    "T": np.transpose,
    "mT": np.matrix_transpose,
    "real": np.real,
    "imag": np.imag,
}


def _bound(function: Callable[..., Any]) -> Callable[[AnyLayer], Any]:
    return lambda layer: partial(function, layer)


METHODS.update({function.__name__: _bound(function) for function in _FUNCTIONS})
METHODS["conj"] = METHODS["conjugate"]
METHODS.update(_ATTRIBUTES)


@array_method("reshape")
def reshape(layer: Any, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
    if copy is not None:
        refuse(f".reshape(copy={copy!r}) of a traced layer", "leave copy= out; np.copy makes a copy")
    return np.reshape(layer, shape[0] if len(shape) == 1 else shape, order=order)


@array_method("transpose")
def transpose(layer: Any, *axes: Any) -> Any:
    return np.transpose(layer, axes[0] if len(axes) == 1 else axes or None)


@array_method("flatten")
def flatten(layer: Any, order: Any = "C") -> Any:
    return np.copy(np.ravel(layer, order=order))


@array_method("compress")
def compress(layer: Any, condition: Any, axis: Any = None) -> Any:
    return np.compress(condition, layer, axis=axis)


@array_method("astype")
def astype(
    layer: Any, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> Any:
    if casting != "unsafe" or order != "K":
        refuse(f".astype(order={order!r}, casting={casting!r}) of a traced layer", "leave order= and casting= out")
    return layer if not copy and layer.dtype == np.dtype(dtype) else Cast(layer, to=np.dtype(dtype))


@implements(np.astype, samples=({"dtype": np.float32},))
def astype_function(x: Any, dtype: Any, copy: bool = True) -> Any:
    return x if not copy and x.dtype == np.dtype(dtype) else Cast(x, to=np.dtype(dtype))


@array_method("view")
def view(layer: Any, dtype: Any = None, type: Any = None) -> Any:
    """The array itself, through which it can be assigned to; other bits have no gradient."""
    if type is not None or (dtype is not None and np.dtype(dtype) != layer.dtype):
        refuse(".view() of a traced layer as another type", "use x.astype(dtype), which keeps the gradient")
    return layer[...]


@array_method("to_device")
def to_device(layer: Any, device: Any, stream: Any = None) -> Any:
    if device != "cpu" or stream is not None:
        refuse(f".to_device({device!r}) of a traced layer", "leave it out: programs run on the CPU")
    return layer


def _namespace(layer: Any) -> Any:
    return lambda api_version=None: np


METHODS.update(
    {
        "itemsize": lambda layer: layer.dtype.itemsize,
        "nbytes": lambda layer: layer.size * layer.dtype.itemsize,
        "device": lambda layer: "cpu",
        "__array_namespace__": _namespace,
    }
)

_REFUSED = {
    "resize": "use np.reshape",
    "itemset": "assign to an entry: x[index] = value",
    "setfield": "assign to an entry: x[index] = value",
    "getfield": "use x.astype(dtype), which keeps the gradient",
    "byteswap": "compute it outside the traced function",
    "tobytes": "compute it outside the traced function",
    "tostring": "compute it outside the traced function",
    "tofile": "compute it outside the traced function",
    "dump": "compute it outside the traced function",
    "dumps": "compute it outside the traced function",
    "setflags": "compute it outside the traced function",
}
_NO_MEMORY = ("data", "flags", "strides", "base", "ctypes")


def _refusal(name: str, remedy: str) -> Callable[[AnyLayer], Any]:
    def method(*args: Any, **kwargs: Any) -> NoReturn:
        refuse(f".{name}() of a traced layer, which has no memory of its own", remedy)

    return lambda layer: method


def _no_attribute(name: str) -> Callable[[AnyLayer], NoReturn]:
    return lambda layer: refuse(
        f".{name} of a traced layer, which has no memory of its own", "use NumPy functions on the layer itself"
    )


METHODS.update({name: _refusal(name, remedy) for name, remedy in _REFUSED.items()})
METHODS.update({name: _no_attribute(name) for name in _NO_MEMORY})
