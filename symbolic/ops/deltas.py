"""With what are gradient rules written? With a few operations that stand for shapes which are known later.

`Chain` is the product of the chain rule, `SumLike` and its like bring a delta to the shape of its operand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.context import here
from symbolic.layer import AnyLayer, Layer
from symbolic.leaves import Literal
from symbolic.literal import as_layer, delta_spec
from symbolic.ops.binding import Kernel, Written
from symbolic.ops.operation import PYTHON_OPERATORS, Operation, array
from symbolic.spec import AnySpec, Spec, broadcast, by_specs, normalize_axes, product, same_dtype, spec_of, ufunc_dtype


def chain(delta: Any, factor: Any) -> Any:
    """delta · factor, by the chain rule: a factor of 1 costs nothing, a complex one is conjugated."""
    if factor is None:
        return None
    if isinstance(factor, (int, float)):
        return delta if factor == 1 else np.negative(delta) if factor == -1 else np.multiply(delta, factor)
    if is_complex(factor):
        factor = np.conjugate(factor)
    return Chain.make((as_layer(delta), as_layer(factor)))


def cancelled(delta: Any, out: Any) -> Any:
    """delta / out without a division, where delta is d · out · c, as it is for out²; `None` where it is not."""
    if isinstance(delta, SumLike) and delta.operands[1] is out:
        inner = cancelled(delta.operands[0], out)
        return None if inner is None else SumLike(inner, out)
    if isinstance(delta, Chain):
        factor = delta.operands[1]
        if isinstance(factor, Operation) and factor.functions == (np.multiply,) and factor.operands[0] is out:
            return delta.operands[0] * factor.operands[1]
    return None


def is_complex(value: Any) -> bool:
    """Whether a rule must conjugate; a dtype that is not known yet is taken to be real."""
    if isinstance(value, Layer):
        facts = here.facts
        dtype = None if facts is None else facts.ask(value, "dtype")
    else:
        dtype = value.dtype if isinstance(value, (np.ndarray, np.generic)) else None
    return dtype is not None and dtype.kind == "c"


def conjugate(value: Any) -> Any:
    return np.conjugate(value) if is_complex(value) else value


class Chain(Operation):
    """delta · factor, where a factor that is not finite counts as 0 if the delta is exactly 0.

    So `where(x >= 0, x, sqrt(-x))` at 0 has no NaN from the branch that was not taken; a finite factor is never
    touched. A program first multiplies plainly and repeats the pass with care only if a NaN came out.
    """

    __slots__ = ()
    functions: ClassVar[Any] = (np.multiply,)
    elementwise = True
    operand_names: ClassVar[tuple[str, ...]] = ("delta", "factor")

    @by_specs
    def infer(self, *specs: AnySpec) -> AnySpec:
        delta, factor = array(specs[0]), array(specs[1])
        if delta.python is not None and factor.python is not None:
            return spec_of(_common(delta.python, factor.python)(0))
        return Spec(broadcast([delta.shape, factor.shape]), ufunc_dtype(np.multiply, [delta, factor]))

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        if isinstance(out, Spec) and out.python is not None:
            return PYTHON_OPERATORS["*"], False
        return np.multiply, True

    @staticmethod
    def careful(delta: Any, factor: Any) -> Any:
        """The product by the convention above."""
        if _is_small(factor):
            return delta * factor
        drop = np.equal(delta, 0) & ~np.isfinite(factor)
        if not np.any(drop):
            return delta * factor
        with np.errstate(all="ignore"):
            product = np.multiply(delta, np.where(drop, np.zeros((), np.asarray(factor).dtype), factor))
        return type(delta)(product) if type(delta) in (float, complex) and type(factor) in (int, float) else product

    @staticmethod
    def careful_into(delta: Any, factor: Any, out: Any) -> Any:
        """The same as a function of NumPy's, into an array that may be one of the operands."""
        if _is_small(factor) or np.all(np.isfinite(factor)):
            return np.multiply(delta, factor, out)
        found = Chain.careful(delta, factor)
        if out is None:
            return found
        np.copyto(out, found)
        return out

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        inner, factor = operands
        return chain(delta, factor), chain(delta, inner)


def _is_small(factor: Any) -> bool:
    """Whether no entry is infinite or NaN, for so would the sum of their squares be; no only says to look closer."""
    return type(factor) is np.ndarray and factor.dtype.char in "fd" and math.isfinite(np.vdot(factor, factor))


def _common(one: type, other: type) -> type:
    return type(one(0) + other(0))


class Like(Operation):
    """Something of one operand in the shape of another; `shape_only` operands are read for their shape."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "like")

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any) -> Any:
        return delta, None  # the family's SumLike brings it back to the operand's shape


def fit(value: Any, shape: tuple[int, ...], dtype: Any, python: type | None) -> Any:
    """Sum what broadcasting stretched, and take the dtype."""
    extra = np.ndim(value) - len(shape)
    if extra > 0:
        value = np.add.reduce(value, axis=tuple(range(extra)))
    held = np.shape(value) if extra >= 0 else shape
    axes = tuple([k for k, size in enumerate(shape) if size == 1 and held[k] != 1])
    if axes:
        value = np.add.reduce(value, axis=axes, keepdims=True)
    if np.shape(value) != shape:
        value = np.broadcast_to(value, shape)
    if python is not None:
        return python(value.real) if python is not complex else complex(value)
    return cast(value, dtype)


def _sums(shape: tuple[int | None, ...], wanted: tuple[int | None, ...]) -> Kernel | None:
    """What `fit` does to an array of one shape, as calls of NumPy alone; `None` where that is more than sums."""
    front = tuple(range(len(shape) - len(wanted)))
    rest = shape[len(front) :]
    axes = tuple([k for k, size in enumerate(wanted) if size == 1 and rest[k : k + 1] != (1,)])
    left = tuple([1 if k in axes else size for k, size in enumerate(rest)])
    reduce: Kernel = np.add.reduce
    if len(shape) < len(wanted) or left != wanted or not (front or axes):
        return None
    if not axes:
        return Written(lambda value: reduce(value, front), f"{{reduce}}({{0}}, {front})", reduce=reduce)
    inner = f"{{reduce}}({{0}}, {front})" if front else "{0}"
    text = f"{{reduce}}({inner}, {axes}, None, None, True)"
    if not front:
        return Written(lambda value: reduce(value, axes, None, None, True), text, reduce=reduce)
    return Written(lambda value: reduce(reduce(value, front), axes, None, None, True), text, reduce=reduce)


def cast(value: Any, dtype: Any) -> Any:
    """Another dtype, a real one by the real part."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype == dtype:
        return value
    value = np.asarray(value)
    if value.dtype.kind == "c" and dtype.kind != "c":
        value = value.real
    return value.astype(dtype)[()]


class SumLike(Like):
    """A delta brought back to its operand: summed where the operand was stretched, in the dtype of its delta."""

    __slots__ = ()
    shares = True  # where it stretches, or where nothing is to be done

    def infer(self, *specs: AnySpec) -> AnySpec:
        return delta_spec(specs[1]) or Spec(array(specs[1]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        target = delta_spec(spec_of(values[1])) or spec_of(values[1])
        assert isinstance(target, Spec)
        return fit(values[0], target.shape, target.dtype, target.python)  # type: ignore[arg-type]  # of a value: known

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        if isinstance(out, Spec) and out.known:
            shape, dtype, python = out.shape, out.dtype, out.python
            return (lambda value, like: fit(value, shape, dtype, python)), False  # type: ignore[arg-type]  # it is known
        if isinstance(out, Spec) and out.shape and out.dtype is not None and _meets(specs[0], out):
            return Written(self._fitted, "{0} if {0}.shape == {1}.shape else {fit}({0}, {1})", fit=self.evaluate), False
        return self.evaluate, False

    def _fitted(self, value: Any, like: Any) -> Any:
        """The usual delta, of its operand's dtype and as many axes, is as it should be already."""
        return value if value.shape == like.shape else self.evaluate(value, like)

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        want = self.infer(*specs)
        if want == specs[0] and isinstance(want, Spec) and want.known:
            return self.operands[0]
        return Fit.make(self.operands[:1], (want,)) if isinstance(want, Spec) and want.known else None


def _meets(spec: AnySpec, other: Spec) -> bool:
    """Whether two arrays have as many axes, and one dtype."""
    if not isinstance(spec, Spec) or spec.shape is None or spec.python is not None:
        return False
    return spec.ndim == other.ndim and same_dtype(spec.dtype, other.dtype)


class Fit(Operation):
    """`SumLike` a spec that is known."""

    __slots__ = ()
    shares = True
    defaults: ClassVar[Any] = {"spec": None}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return self.spec  # type: ignore[no-any-return]  # a parameter

    def evaluate(self, *values: Any) -> Any:
        return fit(values[0], *self.spec)

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        """By a sum or two, where nothing else is to be done."""
        (spec,) = specs
        if isinstance(spec, Spec) and isinstance(out, Spec) and spec.known and out.known and spec.dtype == out.dtype:
            found = None if out.python is not None else _sums(spec.shape or (), out.shape or ())
            if found is not None:
                return found, False
        return super().kernel(specs, out)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (delta,)  # the family's SumLike, as for `Like`


class BroadcastLike(Operation):
    """A reduced value, spread over the axes that were reduced."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "like")
    defaults: ClassVar[Any] = {"axis": None, "keepdims": False}
    shares = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[1]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        return spread(values[0], np.shape(values[1]), self.axis, self.keepdims)

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        like = array(specs[1])
        if like.shape is None or None in like.shape:
            return None
        return Spread.make(self.operands[:1], (like.shape, self.axis, self.keepdims))  # type: ignore[no-any-return]  # a layer

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any) -> Any:
        return np.sum(delta, axis=self.axis, keepdims=self.keepdims), None


class Spread(Operation):
    """`BroadcastLike` a shape that is known."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"shape": (), "axis": None, "keepdims": False}
    shares = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(self.shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        return spread(values[0], self.shape, self.axis, self.keepdims)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (np.sum(delta, axis=self.axis, keepdims=self.keepdims),)


def spread(value: Any, shape: tuple[int, ...], axis: Any, keepdims: bool) -> Any:
    if not keepdims and shape and np.ndim(value):
        value = np.expand_dims(value, normalize_axes(axis, len(shape)))
    return np.broadcast_to(value, shape)


class ReshapeLike(Like):
    """The entries of one operand in the shape of another."""

    __slots__ = ()
    shares = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[1]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        return np.reshape(values[0], np.shape(values[1]))

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        like = array(specs[1])
        flat: Any = self.operands[0]
        return flat.reshape(like.shape) if like.known else None

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any) -> Any:
        return ReshapeLike(delta, operand), None


class SizeOf(Operation):
    """How many entries stand along an axis (or several, or all): a Python int."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": None}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return spec_of(0)

    def evaluate(self, *values: Any) -> Any:
        shape = np.shape(values[0])
        return math.prod([shape[k] for k in normalize_axes(self.axis, len(shape))])

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        shape = array(specs[0]).shape
        count = None if shape is None else product(shape[k] for k in normalize_axes(self.axis, len(shape)))
        return None if count is None else Literal(count)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)
