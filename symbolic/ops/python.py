"""What do Python's own numbers and its `math` mean for a traced value? `float(x)`, `x.item()`, `math.exp(x)`, `round`.

They give a Python number, so the result has its spec; the value is computed by the very function that was called.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from symbolic.callees import CALLS, MAKING
from symbolic.context import here
from symbolic.layer import FUNCTIONS, AnyLayer, Layer, unsupported
from symbolic.literal import as_layer
from symbolic.ops.binding import array_method
from symbolic.ops.deltas import chain
from symbolic.ops.operation import Operation, array
from symbolic.spec import AnySpec, product, spec_of


class AsPython(Operation):
    """The value as a Python number, `float` or `complex`; of an array only if it has one entry."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"to": float}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        if spec.shape is not None and product(spec.shape) not in (1, None):
            raise TypeError("only length-1 arrays can be converted to Python scalars")
        if self.to is float and spec.dtype is not None and spec.dtype.kind == "c":
            raise TypeError("can't convert complex to float; take np.real or np.abs of it first")
        return spec_of(self.to(0))

    def evaluate(self, *values: Any) -> Any:
        return self.to(values[0] if np.ndim(values[0]) == 0 else np.reshape(values[0], ())[()])

    def simplify(self, specs: Any) -> AnyLayer | None:
        return self.operands[0] if array(specs[0]).python is self.to else None

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (delta,)  # SumLike takes it back to the operand's shape and dtype


class RoundedNumber(Operation):
    """`round(x, ndigits)` of a Python number, which rounds the decimal that it stands for."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"ndigits": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return spec_of(float(0))

    def evaluate(self, *values: Any) -> Any:
        return round(values[0], self.ndigits)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


def as_python(value: Any, to: type = float) -> Any:
    """A number of a layer: floats and complex numbers keep the gradient, counts and truths become plain."""
    node = as_layer(value)
    weak = here.facts is not None and here.facts.ask(node, "python") is int  # a Python int has a delta, a float
    if here.trace is not None and not weak and node.dtype.kind in "iub":
        return here.trace.number(node, to.__name__)
    return AsPython(node, to=to)


@array_method("item")
def item(layer: Any, *index: Any) -> Any:
    entry = layer
    if index:
        place = index[0] if len(index) == 1 else index
        entry = layer[place] if isinstance(place, tuple) else np.ravel(layer)[place]
    kind = entry.dtype.kind
    if kind in "iub":
        return int(entry) if kind != "b" else bool(entry)
    return AsPython(entry, to=complex if kind == "c" else float)


@array_method("is_integer")
def is_integer(layer: Any) -> bool:
    """A method of numbers, Python's and NumPy's."""
    return bool(np.isfinite(layer)) and bool(np.floor(layer) == layer)


@array_method("tolist")
def tolist(layer: Any) -> Any:
    return item(layer) if layer.ndim == 0 else [tolist(one) for one in layer]


@array_method("__round__")
def rounded(layer: Any, ndigits: int) -> Any:
    """`round(x, ndigits)`: Python's own for its numbers, NumPy's for NumPy's."""
    python = here.trace is not None and here.trace.kind(layer) is float
    return RoundedNumber(layer, ndigits=ndigits) if python else np.round(layer, ndigits)


# --------------------------------------------------------------------------- math


class Math(Operation):
    """A function of `math`, on Python numbers: its value, and its errors, are those of `math` itself."""

    __slots__ = ()
    variadic = True
    raises = True
    defaults: ClassVar[Any] = {"name": "exp"}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return spec_of(0.0)

    def evaluate(self, *values: Any) -> Any:
        return getattr(math, self.name)(*values)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        rule = _RULES.get(self.name)
        if rule is not None:
            return tuple([chain(delta, factor) for factor in rule(out, *operands)])
        return FUNCTIONS[getattr(np, _TWINS[self.name])].cls.make(operands).gradient(delta, out, *operands)  # type: ignore[attr-defined]  # it is a Binder


_TWINS = {
    **{name: name for name in ("exp", "exp2", "expm1", "log2", "log10", "log1p", "sqrt", "cbrt", "fabs", "copysign")},
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "degrees", "radians", "fmod")},
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
    "pow": "power",
}
"""Functions of `math` with the derivative of the NumPy function beside them."""
_RULES: dict[str, Callable[..., tuple[Any, ...]]] = {
    "log": lambda out, x: (1.0 / x,),
    "erf": lambda out, x: (2.0 / math.sqrt(math.pi) * np.exp(-x * x),),
    "erfc": lambda out, x: (-2.0 / math.sqrt(math.pi) * np.exp(-x * x),),
    "hypot": lambda out, *xs: tuple([np.where(out == 0.0, 0.0, x / np.where(out == 0.0, 1.0, out)) for x in xs]),
    "remainder": lambda out, x, y: (1.0, (out - x) / y),
    "nextafter": lambda out, x, y: (1.0, None),
    "ulp": lambda out, x: (None,),
}
"""The local factors of the others: d out / d x for each argument."""


def _calls(name: str) -> None:
    def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return Math.make(tuple([as_layer(as_python(one)) for one in args]), (name,))

    CALLS[getattr(math, name)] = call


for _name in (*_TWINS, *_RULES):
    if hasattr(math, _name):
        _calls(_name)


def formula(function: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What a call of a plain Python function means for traced values."""

    def decorate(written: Callable[..., Any]) -> Callable[..., Any]:
        CALLS[function] = lambda args, kwargs: written(*args, **kwargs)
        return written

    return decorate


@formula(math.log)
def log(x: Any, base: Any = math.e) -> Any:
    natural = Math.make((as_layer(as_python(x)),), ("log",))
    if base is math.e:
        return natural
    return natural / Math.make((as_layer(as_python(base)),), ("log",))


class Total(Operation):
    """The sum of Python numbers as Python makes it: `sum`, which from 3.12 on rounds less than `+`, or `math.fsum`."""

    __slots__ = ()
    variadic = True
    defaults: ClassVar[Any] = {"exact": False}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return spec_of(0.0)

    def evaluate(self, *values: Any) -> Any:
        return math.fsum(values) if self.exact else sum(values)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (delta,) * len(operands)


@formula(math.fsum)
def fsum(seq: Any) -> Any:
    return Total.make(tuple([as_layer(as_python(one)) for one in seq]), (True,))


def total(iterable: Any, /, start: Any = 0) -> Any:
    """`sum(values)`: of Python's floats by Python itself, of all else by one `+` after the other."""
    entries = [start, *iterable]
    traced = any(isinstance(one, Layer) for one in entries)
    if not traced or here.facts is None or not all(map(_is_pythons, entries)):
        return sum(entries[1:], start)
    return Total.make(tuple(map(as_layer, entries)), (False,))


def _is_pythons(value: Any) -> bool:
    """Whether a value is a float or an int of Python's own."""
    if not isinstance(value, Layer) or here.facts is None:
        return type(value) in (float, int)
    return here.facts.ask(as_layer(value), "python") in (float, int)


MAKING[sum] = total


@formula(math.prod)
def prod(iterable: Any, *, start: Any = 1) -> Any:
    for one in iterable:
        start = start * one
    return start


@formula(math.dist)
def dist(p: Any, q: Any) -> Any:
    apart = [as_python(one - other) for one, other in zip(p, q, strict=True)]
    return Math.make(tuple(map(as_layer, apart)), ("hypot",))


@formula(math.modf)
def modf(x: Any) -> Any:
    whole = as_python(np.trunc(x))
    return as_python(x) - whole, whole


@formula(math.frexp)
def frexp(x: Any) -> Any:
    assert here.trace is not None  # only a traced body is rewritten
    exponent = here.trace.answer(as_layer(x), "exponent")
    return as_python(x) * 2.0**-exponent, exponent


@formula(math.ldexp)
def ldexp(x: Any, i: Any) -> Any:
    return as_python(x) * 2.0 ** int(i)


@formula(math.isnan)
def isnan(x: Any) -> bool:
    return bool(np.isnan(as_layer(x)))


@formula(math.isinf)
def isinf(x: Any) -> bool:
    return bool(np.isinf(as_layer(x)))


@formula(math.isfinite)
def isfinite(x: Any) -> bool:
    return bool(np.isfinite(as_layer(x)))


@formula(math.isclose)
def isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> bool:
    if a == b:
        return True
    if isinf(a) or isinf(b):
        return False
    return bool(abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol))


def _refused(name: str) -> None:
    def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> NoReturn:
        raise unsupported(f"math.{name}", "use scipy.special.gammaln or scipy.special.gamma")

    CALLS[getattr(math, name)] = call


for _name in ("gamma", "lgamma"):
    _refused(_name)
