"""What do operations of one kind have in common? Families: they say it once, for each of their members."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from symbolic.layer import AnyLayer, Layer
from symbolic.literal import as_layer
from symbolic.ops.binding import Kernel
from symbolic.ops.deltas import BroadcastLike, chain
from symbolic.ops.operation import PYTHON_OPERATORS, Operation, array
from symbolic.spec import (
    AnySpec,
    Spec,
    broadcast,
    by_specs,
    dtype_by_trial,
    normalize_axis,
    product,
    reduced,
    spec_of,
    ufunc_dtype,
)

# --------------------------------------------------------------------------- elementwise


class Elementwise(Operation):
    """Entry by entry, broadcasting. A member declares `derivative`: one local factor for each operand."""

    __slots__ = ()
    elementwise = True

    @staticmethod
    def derivative(out: Any, *operands: Any) -> Any:
        """∂out/∂operand for each operand: a layer, a number, or `None` where nothing flows."""
        return None

    @by_specs
    def infer(self, *specs: AnySpec) -> AnySpec:
        given = [array(spec) for spec in specs]
        shape = broadcast([spec.shape for spec in given])
        if self.symbol and all(spec.python is not None for spec in given):
            kind = _python_type(self.symbol, tuple([spec.python or float for spec in given]))
            return spec_of(kind(0)) if kind is not None else Spec(shape, ufunc_dtype(self.functions[0], given))  # type: ignore[arg-type]  # a ufunc, by the family
        return Spec(shape, ufunc_dtype(self.functions[0], given))  # type: ignore[arg-type]  # a ufunc, by the family

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        ufunc = self.functions[0]
        python = out.python if isinstance(out, Spec) else None
        if python is None:
            return ufunc, True
        if self.symbol == "/" and python is float:
            return quotient, False
        exact = self.symbol in _EXACT or python is int or python is bool
        return (PYTHON_OPERATORS[self.symbol] if exact else _Python(ufunc, python)), False

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return self.chained(delta, out, operands, (True,) * len(operands))

    def chained(self, delta: Any, out: Any, operands: Sequence[Any], wanted: Sequence[bool]) -> Any:
        """The deltas of those operands that are wanted, `None` for the others."""
        factors = self.derivative(out, *operands)
        if not isinstance(factors, tuple):
            factors = (factors,) * len(operands) if factors is None else (factors,)
        pairs = zip(factors, wanted, strict=True)
        return tuple([chain(delta, factor) if waits else None for factor, waits in pairs])


_EXACT = {"+", "-", "*", "neg", "pos", "abs", "<", "<=", ">", ">=", "==", "!="}


class _Python:
    """A ufunc on Python numbers that gives a Python number: NumPy's infinities, not Python's exceptions."""

    __slots__ = ("kind", "ufunc")

    def __init__(self, ufunc: Kernel, kind: type) -> None:
        self.ufunc, self.kind = ufunc, kind

    def __call__(self, *values: Any) -> Any:
        return self.kind(self.ufunc(*values))


def quotient(x: Any, y: Any) -> Any:
    """x / y of Python numbers; by zero it is what NumPy says."""
    return x / y if y else float(np.divide(x, y))


@lru_cache(maxsize=256)
def _python_type(symbol: str, kinds: tuple[type, ...]) -> type | None:
    try:
        result = type(PYTHON_OPERATORS[symbol](*[kind(1) for kind in kinds]))
    except TypeError:
        return None
    return result if result in (bool, int, float, complex) else None


class Unary(Elementwise):
    """One operand."""

    __slots__ = ()


class Binary(Elementwise):
    """Two operands."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")


class Step(Unary):
    """Piecewise constant: the derivative is zero wherever there is one."""

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,)


class Predicate(Binary):
    """A comparison or a logical operation: Boolean, no gradient."""

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return None, None


# --------------------------------------------------------------------------- reductions and movement


class Reduction(Operation):
    """Along `axis` (an int, a tuple, or None for all)."""

    __slots__ = ()
    of_numbers: ClassVar[bool] = False  # axis 0 of a number is allowed, as in the reductions of ufuncs
    defaults: ClassVar[Any] = {"axis": None, "keepdims": False}
    samples: ClassVar[Any] = (
        {},
        {"axis": 0},
        {"axis": -1, "keepdims": True},
        {"axis": (0, 1)},
        {"keepdims": True},
        {"axis": ()},
    )

    @by_specs
    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        if spec.shape == () and self.axis not in (None, ()) and not self.of_numbers:
            normalize_axis(self.axis if isinstance(self.axis, int) else self.axis[0], 0)  # it raises
        return Spec(reduced(spec.shape, self.axis, self.keepdims), self.result_dtype(spec))

    def result_dtype(self, spec: Spec) -> Any:
        return None if spec.dtype is None else dtype_by_trial(self.functions[0], spec.dtype)

    def spread(self, delta: Any, like: Any) -> Any:
        """The delta of the result, repeated along the axes that are gone."""
        return BroadcastLike.make((as_layer(delta), as_layer(like)), (self.axis, self.keepdims))


def beginning(initial: Any, dtype: Any) -> Any:
    """What a reduction starts with, in the dtype in which is computed; NumPy raises where that does not hold it."""
    return np.astype(initial, dtype) if isinstance(initial, Layer) else np.full((), initial, dtype)[()]


def is_number(node: AnyLayer, spec: AnySpec) -> bool:
    """Whether a value is no array without axes for certain: NumPy's arithmetic gives a number, `np.where` an array."""
    if isinstance(node, Reduction) or (isinstance(node, Elementwise) and any(map(_is_ufunc, node.functions))):
        return True
    return isinstance(spec, Spec) and (bool(spec.shape) or spec.python is not None)


def _is_ufunc(function: Any) -> bool:
    return isinstance(function, np.ufunc)


class Movement(Operation):
    """The same entries in another shape or order; the dtype stays."""

    __slots__ = ()
    shares = True

    @by_specs
    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        return Spec(None if spec.shape is None else self.moved(spec.shape), spec.dtype)

    def written_back(self, base: AnyLayer, value: AnyLayer, base_spec: AnySpec, spec: AnySpec) -> AnyLayer | None:
        """A movement that keeps every entry is undone by its gradient."""
        if product(array(base_spec).shape or (None,)) != product(array(spec).shape or (None,)):
            return None
        return self.gradient(value, self, base)[0]  # type: ignore[no-any-return]  # as its rule gives it

    def moved(self, shape: tuple[int | None, ...]) -> tuple[int | None, ...] | None:
        """The shape of the result; asked of NumPy on an array without memory where sizes are known."""
        if None in shape:
            return None
        result: tuple[int, ...] = np.shape(self.evaluate(np.broadcast_to(np.empty(()), shape)))  # type: ignore[arg-type]  # no None in it
        return result
