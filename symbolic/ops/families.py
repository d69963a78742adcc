"""What do operations of one kind have in common? Families: they say it once, for each of their members.

Also here are the few operations that gradient rules are written with (`Chain`, `SumLike`, `BroadcastLike`, …): they
stand for shapes that are known later.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from symbolic.context import here
from symbolic.layer import AnyLayer, Layer
from symbolic.leaves import Literal
from symbolic.literal import as_layer, delta_spec
from symbolic.ops.operation import PYTHON_OPERATORS, Kernel, Operation, array
from symbolic.spec import (
    AnySpec,
    OpaqueSpec,
    Spec,
    TupleSpec,
    broadcast,
    dtype_by_trial,
    normalize_axes,
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
        exact = self.symbol in _EXACT or python is int or python is bool
        return (PYTHON_OPERATORS[self.symbol] if exact else _Python(ufunc, python)), False

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        factors = self.derivative(out, *operands)
        if not isinstance(factors, tuple):
            factors = (factors,) * len(operands) if factors is None else (factors,)
        return tuple([chain(delta, factor) for factor in factors])


_EXACT = {"+", "-", "*", "neg", "pos", "abs", "<", "<=", ">", ">=", "==", "!="}


class _Python:
    """A ufunc on Python numbers that gives a Python number: NumPy's infinities, not Python's exceptions."""

    __slots__ = ("kind", "ufunc")

    def __init__(self, ufunc: Kernel, kind: type) -> None:
        self.ufunc, self.kind = ufunc, kind

    def __call__(self, *values: Any) -> Any:
        return self.kind(self.ufunc(*values))


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
    operand_names = ("operand1", "operand2")


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
    defaults: ClassVar[Any] = {"axis": None, "keepdims": False}
    samples = ({}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)}, {"keepdims": True}, {"axis": ()})

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        return Spec(reduced(spec.shape, self.axis, self.keepdims), self.result_dtype(spec))

    def result_dtype(self, spec: Spec) -> Any:
        return None if spec.dtype is None else dtype_by_trial(self.functions[0], spec.dtype)

    def spread(self, delta: Any, like: Any) -> Any:
        """The delta of the result, repeated along the axes that are gone."""
        return BroadcastLike.make((as_layer(delta), as_layer(like)), (self.axis, self.keepdims))


class Movement(Operation):
    """The same entries in another shape or order; the dtype stays."""

    __slots__ = ()
    shares = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        return Spec(None if spec.shape is None else self.moved(spec.shape), spec.dtype)

    def written_back(self, base: AnyLayer, value: AnyLayer, base_spec: AnySpec, spec: AnySpec) -> AnyLayer | None:
        """A movement that keeps every entry is undone by its gradient."""
        if product(array(base_spec).shape or (None,)) != product(array(spec).shape or (None,)):
            return None
        return self.gradient(value, self, base)[0]  # type: ignore[no-any-return]

    def moved(self, shape: tuple[int | None, ...]) -> tuple[int | None, ...] | None:
        """The shape of the result; asked of NumPy on an array without memory where sizes are known."""
        if None in shape:
            return None
        result: tuple[int, ...] = np.shape(self.evaluate(np.broadcast_to(np.empty(()), shape)))  # type: ignore[arg-type]  # no None in it
        return result


# --------------------------------------------------------------------------- what gradient rules are written with


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
    dtype = here.facts.ask(value, "dtype") if isinstance(value, Layer) and here.facts is not None else None
    if dtype is None and isinstance(value, (np.ndarray, np.generic)):
        dtype = value.dtype
    return dtype is not None and dtype.kind == "c"


def conjugate(value: Any) -> Any:
    return np.conjugate(value) if is_complex(value) else value


class Chain(Binary):
    """delta · factor, where a factor that is not finite counts as 0 if the delta is exactly 0.

    So `where(x >= 0, x, sqrt(-x))` at 0 has no NaN from the branch that was not taken; a finite factor is never
    touched. A program first multiplies plainly and repeats the pass with care only if a NaN came out.
    """

    __slots__ = ()
    functions = (np.multiply,)
    operand_names = ("delta", "factor")

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
        drop = np.equal(delta, 0) & ~np.isfinite(factor)
        if not np.any(drop):
            return delta * factor
        with np.errstate(all="ignore"):
            product = np.multiply(delta, np.where(drop, np.zeros((), np.asarray(factor).dtype), factor))
        return type(delta)(product) if type(delta) in (float, complex) and type(factor) in (int, float) else product

    @staticmethod
    def derivative(out: Any, delta: Any, factor: Any) -> Any:
        return factor, delta


def _common(one: type, other: type) -> type:
    return type(one(0) + other(0))


class Like(Operation):
    """Something of one operand in the shape of another; `shape_only` operands are read for their shape."""

    __slots__ = ()
    operand_names = ("operand", "like")

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

    def infer(self, *specs: AnySpec) -> AnySpec:
        return delta_spec(specs[1]) or Spec(array(specs[1]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        target = delta_spec(spec_of(values[1])) or spec_of(values[1])
        assert isinstance(target, Spec)
        return fit(values[0], target.shape, target.dtype, target.python)  # type: ignore[arg-type]  # of a value: known

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        if isinstance(out, Spec) and out.known:
            shape, dtype, python = out.shape, out.dtype, out.python
            return (lambda value, like: fit(value, shape, dtype, python)), False  # type: ignore[arg-type]
        return self.evaluate, False

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        want = self.infer(*specs)
        if want == specs[0] and isinstance(want, Spec) and want.known:
            return self.operands[0]
        return Fit.make(self.operands[:1], (want,)) if isinstance(want, Spec) and want.known else None


class Fit(Operation):
    """`SumLike` a spec that is known."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"spec": None}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return self.spec  # type: ignore[no-any-return]

    def evaluate(self, *values: Any) -> Any:
        return fit(values[0], *self.spec)


class BroadcastLike(Operation):
    """A reduced value, spread over the axes that were reduced."""

    __slots__ = ()
    operand_names = ("operand", "like")
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
        return Spread.make(self.operands[:1], (like.shape, self.axis, self.keepdims))

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


def spread(value: Any, shape: tuple[int, ...], axis: Any, keepdims: bool) -> Any:
    if not keepdims and shape:
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
        return np.reshape(self.operands[0], like.shape) if like.known else None  # type: ignore[call-overload, no-any-return]

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
        return int(np.prod([shape[k] for k in normalize_axes(self.axis, len(shape))], dtype=int))

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        shape = array(specs[0]).shape
        count = None if shape is None else product(shape[k] for k in normalize_axes(self.axis, len(shape)))
        return None if count is None else Literal(count)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


class Cast(Operation):
    """Another dtype, as `astype` does."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"to": None}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[0]).shape, np.dtype(self.to))

    def evaluate(self, *values: Any) -> Any:
        return np.asarray(values[0]).astype(self.to)[()]

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        same = array(specs[0]).dtype == np.dtype(self.to) and array(specs[0]).python is None
        return self.operands[0] if same and array(specs[0]).dtype is not None else None

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (delta,)  # SumLike takes it back to the operand's dtype


class Mark(Operation):
    """The same value, as a variable of its own: what an inner gradient is taken by."""

    __slots__ = ()
    shares = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return specs[0]

    def is_view(self, specs: Sequence[AnySpec]) -> bool:
        return False  # a variable of its own: what is assigned to it stays here

    def evaluate(self, *values: Any) -> Any:
        return values[0]

    def key(self) -> Any:
        return id(self)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (delta,)


class Tuple(Operation):
    """Several values as one: the input of a network of several inputs, the result of one of several results."""

    __slots__ = ()
    variadic = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return TupleSpec(specs)

    def evaluate(self, *values: Any) -> Any:
        return tuple(values)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return tuple([Item(delta, index=k) for k in range(len(operands))])


class Item(Operation):
    """One entry of a tuple."""

    __slots__ = ()
    shares = True
    defaults: ClassVar[Any] = {"index": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        if isinstance(specs[0], TupleSpec):
            if not -len(specs[0]) <= self.index < len(specs[0]):
                raise IndexError(f"entry {self.index} of a tuple of {len(specs[0])}")
            return specs[0][self.index]
        if isinstance(specs[0], OpaqueSpec):
            return OpaqueSpec(object)
        return Spec()

    def evaluate(self, *values: Any) -> Any:
        return values[0][self.index]

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        operand = self.operands[0]
        return operand.operands[self.index] if isinstance(operand, Tuple) else None

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (EntryLike.make((as_layer(delta), as_layer(operand)), (self.index,)),)


class EntryLike(Operation):
    """A tuple of zeros but for one entry: the delta of `Item`."""

    __slots__ = ()
    operand_names = ("operand", "like")
    defaults: ClassVar[Any] = {"index": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return delta_spec(specs[1]) or specs[1]

    def evaluate(self, *values: Any) -> Any:
        return tuple(values[0] if k == self.index else zeros_like_delta(one) for k, one in enumerate(values[1]))

    def gradient(self, delta: Any, out: Any, operand: Any, like: Any) -> Any:
        return Item(delta, index=self.index), None


def zeros_like_delta(value: Any) -> Any:
    """The zero delta of a value; `None` where it has none."""
    if isinstance(value, tuple):
        return tuple(zeros_like_delta(one) for one in value)
    spec = delta_spec(spec_of(value))
    if not isinstance(spec, Spec):
        return None
    if spec.python is not None:
        return spec.python(0)
    zeros = np.zeros(spec.shape, spec.dtype)  # type: ignore[arg-type]  # of a value: known
    return zeros if isinstance(value, np.ndarray) else zeros[()]
