"""What are products, running products and running sums, and how do their gradients go without dividing?

A division by an entry fails where the entry is 0, so every rule here is made of products of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from symbolic.context import here
from symbolic.errors import DtypeError
from symbolic.layer import refuse
from symbolic.ops.binding import implements, method
from symbolic.ops.deltas import ReshapeLike, conjugate
from symbolic.ops.families import Reduction
from symbolic.ops.operation import Operation, array
from symbolic.ops.passing import Cast
from symbolic.spec import (
    AnySpec,
    Spec,
    broadcast,
    dtype_by_trial,
    normalize_axes,
    normalize_axis,
    product,
    result_dtype,
)


class Prod(Reduction, numpy=np.prod):
    """The product along axes."""

    __slots__ = ()
    of_numbers = True

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        (x,) = operands
        axes = normalize_axes(self.axis, x.ndim)
        return (self.spread(delta, x) * conjugate(_others(x, axes)) if axes else delta,)


def _others(x: Any, axes: tuple[int, ...]) -> Any:
    """For each entry the product of all the others along the axes."""
    *rest, axis = axes
    before = Delay(np.cumprod(x, axis=axis), axis=axis, fill=1)
    behind: Any = Delay(np.cumprod(np.flip(x, axis), axis=axis), axis=axis, fill=1)
    after = np.flip(behind, axis)
    if not rest:
        return before * after
    return before * after * _others(np.prod(x, axis=axis, keepdims=True), tuple(rest))


def _in_dtype(function: Callable[[Any], Any], a: Any, dtype: Any) -> Any:
    """In the dtype that was asked for, the result too: small integers are counted in larger ones."""
    return function(a) if dtype is None else Cast(function(Cast(a, to=np.dtype(dtype))), to=np.dtype(dtype))


@implements(np.prod)
def prod(
    a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    a = a if where is True else np.where(where, a, 1)
    out = _in_dtype(lambda x: Prod(x, axis=axis, keepdims=keepdims), a, dtype)
    if isinstance(initial, float) and here.facts is not None and out.dtype.kind in "iu":
        initial = int(initial)  # among integers an integer
    return out if initial is None else np.multiply(out, initial)


@method("reduce", np.multiply)
def reduce_multiply(a: Any, axis: Any = 0, **options: Any) -> Any:
    return np.prod(a, axis=axis, **options)


# --------------------------------------------------------------------------- running sums and products


class Running(Operation):
    """The results so far along an axis; without one, of the entries in order."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": None}
    samples: ClassVar[Any] = ({}, {"axis": 0}, {"axis": -1})

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        dtype = None if spec.dtype is None else dtype_by_trial(self.functions[0], spec.dtype)
        if self.axis is None:
            return Spec((None if spec.shape is None else product(spec.shape),), dtype)
        if spec.shape == () and self.axis in (0, -1):
            return Spec((1,), dtype)  # NumPy takes a number for a vector of one
        if spec.shape is not None:
            normalize_axis(self.axis, len(spec.shape))
        return Spec(spec.shape, dtype)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        (x,) = operands
        if self.axis is not None:
            return (self.along(delta, out, x, self.axis),)
        return (ReshapeLike(self.along(delta, out, ReshapeLike(x, out), 0), x),)

    def along(self, delta: Any, out: Any, x: Any, axis: int) -> Any:
        """The delta of `x` along an axis that is there."""
        raise NotImplementedError  # abstract


class Cumsum(Running, numpy=np.cumsum):
    """The sums so far."""

    __slots__ = ()

    def along(self, delta: Any, out: Any, x: Any, axis: int) -> Any:
        return np.flip(np.cumsum(np.flip(delta, axis), axis=axis), axis)


class Cumprod(Running, numpy=np.cumprod):
    """The products so far."""

    __slots__ = ()

    def along(self, delta: Any, out: Any, x: Any, axis: int) -> Any:
        before = conjugate(Delay(out, axis=axis, fill=1))
        return before * Recurrence(conjugate(x), delta, axis=axis, transposed=True)


class Delay(Operation):
    """Each entry one place later along an axis (or earlier, `by=-1`); `fill` takes the place that is free."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": 0, "by": 1, "fill": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        return Spec(spec.shape, spec.dtype)

    def evaluate(self, *values: Any) -> Any:
        out = np.full_like(values[0], self.fill)
        here, there = np.moveaxis(out, self.axis, 0), np.moveaxis(values[0], self.axis, 0)
        if self.by > 0:
            here[1:] = there[:-1]
        else:
            here[:-1] = there[1:]
        return out

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (Delay(delta, axis=self.axis, by=-self.by),)


class Recurrence(Operation):
    """s_i = term_i + factor_i · s_(i-1) along an axis; `transposed`: s_i = term_i + factor_(i+1) · s_(i+1).

    Either is the other's adjoint, so derivatives of every order stay within the two.
    """

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("factor", "term")
    defaults: ClassVar[Any] = {"axis": 0, "transposed": False}

    def infer(self, *specs: AnySpec) -> AnySpec:
        given = [array(spec) for spec in specs]
        return Spec(broadcast([spec.shape for spec in given]), result_dtype(given))

    def evaluate(self, *values: Any) -> Any:
        out = np.array(values[1], np.result_type(*values))
        factors, sums = np.moveaxis(values[0], self.axis, 0), np.moveaxis(out, self.axis, 0)
        for k in range(1, len(sums)):
            if self.transposed:
                sums[-1 - k] += factors[-k] * sums[-k]
            else:
                sums[k] += factors[k] * sums[k - 1]
        return out

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        factor, axis = operands[0], self.axis
        term = Recurrence(conjugate(factor), delta, axis=axis, transposed=not self.transposed)
        if self.transposed:
            return Delay(term, axis=axis) * conjugate(out), term
        return term * conjugate(Delay(out, axis=axis)), term


@implements(np.cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    return _in_dtype(lambda x: Cumsum(x, axis=axis), a, dtype)


@implements(np.cumprod)
def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    return _in_dtype(lambda x: Cumprod(x, axis=axis), a, dtype)


@implements(np.cumulative_sum, samples=[{"axis": 0}, {"axis": -1, "include_initial": True}])
def cumulative_sum(x: Any, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Any:
    axis = _only_axis(x, axis)
    return _from_the_start(np.cumsum(x, axis=axis, dtype=dtype), axis, 0 if include_initial else None)


@implements(np.cumulative_prod, samples=[{"axis": 0}, {"axis": -1, "include_initial": True}])
def cumulative_prod(x: Any, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Any:
    axis = _only_axis(x, axis)
    return _from_the_start(np.cumprod(x, axis=axis, dtype=dtype), axis, 1 if include_initial else None)


def _from_the_start(found: Any, axis: int, first: Any) -> Any:
    """With what there is before the first entry."""
    if first is None:
        return found
    widths = [(0, 0)] * found.ndim
    widths[axis] = (1, 0)
    return np.pad(found, widths, constant_values=first)


def _only_axis(x: Any, axis: Any) -> Any:
    if axis is None and np.ndim(x) != 1:
        raise ValueError(f"a cumulative function of an array of {np.ndim(x)} dimensions needs axis=; name one")
    return 0 if axis is None else axis


@method("accumulate", np.add)
def accumulate_add(a: Any, axis: Any = 0, dtype: Any = None) -> Any:
    _no_number(a, "np.add.accumulate")
    return np.cumsum(a, axis=axis, dtype=dtype)


@method("accumulate", np.multiply)
def accumulate_multiply(a: Any, axis: Any = 0, dtype: Any = None) -> Any:
    _no_number(a, "np.multiply.accumulate")
    return np.cumprod(a, axis=axis, dtype=dtype)


def _no_number(a: Any, name: str) -> None:
    if np.ndim(a) == 0:
        refuse(f"{name} of a 0-d array", "use np.cumsum or np.cumprod, or np.atleast_1d(x) first", DtypeError)
