"""What are roots and logarithms outside of their real domain? Complex numbers (`numpy.lib.scimath`).

Whether the result is real or complex, the entries decide; a complex argument leaves no question.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symbolic.layer import Layer
from symbolic.literal import as_layer
from symbolic.ops.binding import implements
from symbolic.ops.operation import decided
from symbolic.ops.passing import Cast

_SINGLE = {np.dtype(kind) for kind in (np.float32, np.int8, np.int16, np.uint8, np.uint16, np.complex64)}


def _complex(x: Any) -> Any:
    return Cast(x, to=np.dtype(np.complex64 if x.dtype in _SINGLE else np.complex128))


def _negative(x: Any) -> Any:
    return np.less(x, 0)


def _beyond_one(x: Any) -> Any:
    return np.greater(np.abs(x), 1)


def _widened(x: Any, outside: Callable[[Any], Any], name: str) -> Any:
    """The argument, as complex numbers if an entry is outside of the real domain."""
    layer: Any = as_layer(x)
    if layer.dtype.kind == "c":
        return layer
    instead = f"use np.{name}(x.astype(complex)), or np.{name}(x) where no entry leaves the domain"
    return _complex(layer) if decided(np.any(outside(layer)), f"np.lib.scimath.{name}", instead) else layer


def _bind(name: str, outside: Callable[[Any], Any]) -> None:
    function, real = getattr(np.lib.scimath, name), getattr(np, name)

    @implements(function, operands="complex_numbers", domain="positive" if outside is _negative else "unit")
    def formula(x: Any) -> Any:
        return real(_widened(x, outside, name))


for _name in ("sqrt", "log", "log2", "log10"):
    _bind(_name, _negative)
for _name in ("arccos", "arcsin", "arctanh"):
    _bind(_name, _beyond_one)


@implements(np.lib.scimath.logn, operands="complex_pairs", domain="positive")
def logn(n: Any, x: Any) -> Any:
    return np.log(_widened(x, _negative, "log")) / np.log(_widened(n, _negative, "log"))


@implements(np.lib.scimath.power, operands="complex_pairs", domain="positive")
def power(x: Any, p: Any) -> Any:
    exponent = p if isinstance(p, Layer) else np.asarray(p)
    if exponent.dtype.kind in "iu":
        exponent = exponent * 1.0 if decided(np.any(np.less(exponent, 0)), "np.lib.scimath.power", "use p * 1.0") else p
    return np.power(_widened(x, _negative, "power"), exponent)


@implements(np.real_if_close, operands="real_numbers", samples=({"tol": 0.5},))
def real_if_close(a: Any, tol: Any = 100) -> Any:
    """The real part, if no imaginary one is larger than rounding; a tolerance above 1 counts last digits."""
    layer: Any = as_layer(a)
    if layer.dtype.kind != "c":
        return layer if layer.ndim else np.copy(layer)  # of a number it is an array
    limit = np.finfo(layer.dtype).eps * tol if tol > 1 else tol
    near = np.all(np.less(np.abs(np.imag(layer)), limit))
    return np.real(layer) if decided(near, "np.real_if_close of complex numbers", "use np.real") else layer
