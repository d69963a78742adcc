"""What are the parts of a complex number, and how does a gradient come back through them?

For a real loss the delta of z is ∂L/∂x + i·∂L/∂y: what an optimizer can subtract.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.ops.binding import implements
from symbolic.ops.deltas import is_complex
from symbolic.ops.families import Unary
from symbolic.ops.operation import Operation, array
from symbolic.spec import AnySpec, Spec, dtype_by_trial


class ComplexPart(Operation):
    """A real number out of a complex one."""

    __slots__ = ()
    shares = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        if spec.python in (int, float):
            return spec
        dtype = None if spec.dtype is None else dtype_by_trial(self.functions[0], spec.dtype)
        return Spec(spec.shape, dtype, float if spec.python is complex else None)

    def evaluate(self, *values: Any) -> Any:
        return self.functions[0](values[0])


class Real(ComplexPart, numpy=np.real):
    """The real part."""

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (delta,)


class Imag(ComplexPart, numpy=np.imag):
    """The imaginary part; zero of a real number."""

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (np.multiply(delta, 1j) if is_complex(operands[0]) else None,)


class Conjugate(Unary, numpy=np.conjugate):
    """x - iy."""

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (np.conjugate(delta) if is_complex(operands[0]) else delta,)


@implements(np.angle, domain="nonzero")
def angle(z: Any, deg: bool = False) -> Any:
    """The argument of a complex number, in radians or degrees; no gradient at 0."""
    turned = np.arctan2(np.imag(z), np.real(z))
    return np.multiply(turned, 180 / np.pi) if deg else turned


@implements(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    return bool(x.dtype.kind == "c")


@implements(np.isrealobj)
def isrealobj(x: Any) -> bool:
    return bool(x.dtype.kind != "c")


@implements(np.isreal)
def isreal(x: Any) -> Any:
    return np.equal(np.imag(x), 0)


@implements(np.iscomplex)
def iscomplex(x: Any) -> Any:
    return np.not_equal(np.imag(x), 0)
