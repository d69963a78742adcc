"""What is one number for many: the sum, the mean, the largest, the spread?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.context import here
from symbolic.errors import ShapeError
from symbolic.layer import AnyLayer, Layer, unsupported
from symbolic.leaves import Literal
from symbolic.literal import as_layer
from symbolic.ops.binding import Kernel, Written, implements, method
from symbolic.ops.deltas import SizeOf, SumLike
from symbolic.ops.families import Reduction, beginning
from symbolic.ops.operation import array
from symbolic.ops.passing import Cast
from symbolic.spec import AnySpec, Spec, normalize_axes, product, show, spec_of


class _Reduced(Reduction):
    """By a ufunc's `reduce`, which writes into the result's array."""

    __slots__ = ()
    of_numbers = True
    ufunc: ClassVar[Any] = np.add

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        reduce, axis, keepdims = self.ufunc.reduce, self.axis, self.keepdims
        if isinstance(out, Spec) and out.known and out.shape:
            text = f"{{reduce}}({{0}}, {{axis}}, None, {{out}}, {bool(keepdims)})"
            return Written(lambda x, out: reduce(x, axis, None, out, keepdims), text, reduce=reduce, axis=axis), True
        text = f"{{reduce}}({{0}}, {{axis}}, None, None, {bool(keepdims)})"
        return Written(lambda x: reduce(x, axis, None, None, keepdims), text, reduce=reduce, axis=axis), False


class Sum(_Reduced, numpy=np.sum):
    """The sum along axes.

    >>> import numpy as np
    >>> from symbolic import Sum
    >>> float(Sum().predict(np.array([1.0, 2.0])))
    3.0
    """

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (self.spread(delta, operands[0]),)


@implements(np.sum)
def sum_(
    a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    a = a if where is True else np.where(where, a, 0)
    out: Any = Sum(a if dtype is None else Cast(a, to=np.dtype(dtype)), axis=axis, keepdims=keepdims)
    out = out if dtype is None else Cast(out, to=np.dtype(dtype))  # small integers are added in larger ones
    return out if initial is None else np.add(out, _beginning(initial, out))


def _beginning(initial: Any, like: Any) -> Any:
    """What a reduction starts with: among integers an integer."""
    whole = isinstance(initial, float) and here.facts is not None and like.dtype.kind in "iu"
    return int(initial) if whole else initial


class Mean(Reduction, numpy=np.mean):
    """The mean along axes."""

    __slots__ = ()

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        (spec,) = specs
        if not isinstance(spec, Spec) or spec.dtype not in _PLAIN:
            return self.evaluate, False  # halves are added in single precision
        if not spec.known:
            return self._counted, False
        if not product(spec.shape or ()):
            return self.evaluate, False  # nothing has a warning
        axis, keepdims, count = self.axis, self.keepdims, _count(spec.shape or (), self.axis)
        reduce: Kernel = np.add.reduce
        text = f"{{reduce}}({{0}}, {{axis}}, None, None, {bool(keepdims)}) / {count}"
        return Written(lambda x: reduce(x, axis, None, None, keepdims) / count, text, reduce=reduce, axis=axis), False

    def _counted(self, x: Any) -> Any:
        """The same where only the array knows how many entries it has."""
        count = _count(x.shape, self.axis)
        reduce: Kernel = np.add.reduce
        return reduce(x, self.axis, None, None, self.keepdims) / count if count else self.evaluate(x)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        share = np.divide(1.0, SizeOf(operands[0], axis=self.axis))
        return (self.spread(np.multiply(delta, share), operands[0]),)


_PLAIN = {np.dtype(np.float32), np.dtype(np.float64)}


def _count(shape: tuple[int | None, ...], axis: Any) -> int:
    return product(shape[k] for k in normalize_axes(axis, len(shape))) or 0


@implements(np.mean)
def mean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, where: Any = True) -> Any:
    a = a if dtype is None else Cast(a, to=inexact(dtype, "np.mean"))
    if where is True:
        return Mean(a, axis=axis, keepdims=keepdims)
    return _ratio(np.sum(a, axis, where=where, keepdims=keepdims), _counted(where, a, axis, keepdims))


def inexact(dtype: Any, name: str) -> Any:
    """The dtype of a mean: of whole numbers it would be cut off."""
    if np.dtype(dtype).kind not in "fc":
        raise unsupported(f"dtype={np.dtype(dtype)} of {name}", "round the result yourself: np.trunc(x).astype(dtype)")
    return np.dtype(dtype)


def _spread_dtype(out: Any, dtype: Any) -> Any:
    """What NumPy adds in complex numbers is complex, though no imaginary part is left."""
    return out if dtype is None or np.dtype(dtype).kind != "c" else Cast(out, to=np.dtype(dtype))


def _counted(where: Any, like: Any, axis: Any, keepdims: bool) -> Any:
    return np.sum(np.ones_like(like, dtype=bool), axis, where=where, keepdims=keepdims)


def _ratio(total: Any, count: Any) -> Any:
    """In the dtype of the total, whatever integer counts."""
    total = np.multiply(total, 1.0)
    return SumLike(np.divide(total, count), total)


# --------------------------------------------------------------------------- the largest and the smallest


class _Extreme(_Reduced):
    """Entries that tie share the gradient equally; `initial` stands among them and takes none."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": None, "keepdims": False, "initial": None}
    domain = "distinct"

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        axes = () if spec.shape is None or self.initial is not None else normalize_axes(self.axis, len(spec.shape))
        if spec.shape is not None and any(spec.shape[k] == 0 for k in axes):
            raise ShapeError(
                f"{type(self).__name__} along axis {self.axis} of an array of shape {show(spec.shape)}, with no entry",
                remedy="give initial=, or skip empty arrays",
            )
        return super().infer(spec)

    def evaluate(self, *values: Any) -> Any:
        return self.functions[0](values[0], self.axis, keepdims=self.keepdims, **self.first())

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        return super().kernel(specs, out) if self.initial is None else (self.evaluate, False)

    def first(self) -> dict[str, Any]:
        return {} if self.initial is None else {"initial": self.initial}

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        (x,) = operands
        best = np.equal(x, self.spread(out, x))
        count = np.maximum(np.sum(best, axis=self.axis, keepdims=self.keepdims), 1)  # none where out is NaN
        return (np.where(best, self.spread(SumLike(np.divide(delta, count), delta), x), 0),)


class Max(_Extreme, numpy=(np.max, np.amax)):
    """The largest along axes; ties share the gradient equally."""

    __slots__ = ()
    ufunc = np.maximum


class Min(_Extreme, numpy=(np.min, np.amin)):
    """The smallest along axes; ties share the gradient equally."""

    __slots__ = ()
    ufunc = np.minimum


class _Nan(_Extreme):
    """With NaN aside."""

    __slots__ = ()

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        return self.evaluate, False


class Nanmax(_Nan, numpy=np.nanmax):
    """The largest along axes, NaN aside."""

    __slots__ = ()


class Nanmin(_Nan, numpy=np.nanmin):
    """The smallest along axes, NaN aside."""

    __slots__ = ()


@implements(np.max, np.amax)
def max_(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    return _bounded(Max, np.maximum, a, axis, keepdims, initial, where)


@implements(np.min, np.amin)
def min_(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    return _bounded(Min, np.minimum, a, axis, keepdims, initial, where)


def _bounded(cls: Any, better: Any, a: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> Any:
    """With `initial` nothing worse comes out; what `where` leaves out counts as `initial`."""
    if where is not True and initial is None:
        raise ValueError(f"where= in {cls.__name__} needs initial=, for there may be nothing left; give initial=")
    if where is not True:
        initial = beginning(initial, as_layer(a).dtype)
        a = np.where(where, a, initial)
    if isinstance(initial, Layer):
        return cls(better(a, initial), axis=axis, keepdims=keepdims)
    return cls(a, axis=axis, keepdims=keepdims, initial=initial)


@implements(np.ptp, domain="distinct")
def ptp(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return np.max(a, axis, keepdims=keepdims) - np.min(a, axis, keepdims=keepdims)


# --------------------------------------------------------------------------- variance and deviation


class _Spread(Reduction):
    """About the mean, divided by the count less `ddof`."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": None, "keepdims": False, "ddof": 0}
    samples: ClassVar[Any] = (*Reduction.samples, {"ddof": 1}, {"axis": 0, "ddof": 1})

    def deviation(self, x: Any) -> Any:
        return x - np.mean(x, axis=self.axis, keepdims=True)

    def freedom(self, x: Any) -> Any:
        return Freedom(x, axis=self.axis, ddof=self.ddof)


class Freedom(SizeOf):
    """The count less `ddof`: a Python number, which leaves the dtype as it is; among halves in double precision."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": None, "ddof": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return spec_of(self._less(0, array(specs[0]).dtype))

    def evaluate(self, *values: Any) -> Any:
        return self._less(super().evaluate(*values), np.asarray(values[0]).dtype)

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        spec = array(specs[0])
        if not spec.known:
            return None
        return Literal(self._less(_count(spec.shape or (), self.axis), spec.dtype))

    def _less(self, count: int, dtype: Any) -> Any:
        left = max(float(count - self.ddof), 0.0)
        return np.float64(left) if dtype == np.float16 else left


class Var(_Spread, numpy=np.var):
    """The variance along axes."""

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        (x,) = operands
        scale = np.multiply(delta, np.divide(2.0, self.freedom(x)))
        return (self.spread(scale, x) * self.deviation(x),)


class Std(_Spread, numpy=np.std):
    """The standard deviation along axes; no gradient where all entries are equal."""

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        (x,) = operands
        kink = np.logical_or(np.equal(out, 0), Level(x, axis=self.axis, keepdims=self.keepdims))
        scale = np.multiply(delta / np.where(kink, np.inf, out), np.divide(1.0, self.freedom(x)))
        return (self.spread(scale, x) * self.deviation(x),)


class Level(Reduction):
    """Whether all entries are equal, though their mean may be rounded and their deviation not quite 0."""

    __slots__ = ()

    def result_dtype(self, spec: Spec) -> Any:
        return np.dtype(bool)

    def evaluate(self, *values: Any) -> Any:
        (x,) = values
        level = np.max(x, axis=self.axis, keepdims=True) if np.size(x) else x
        return np.all(np.equal(x, level), axis=self.axis, keepdims=self.keepdims)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,)


def _ddof(ddof: Any, correction: Any) -> Any:
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction say the same thing; give one of them")
    return correction


@implements(np.var)
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    where: Any = True,
    correction: Any = None,
    mean: Any = None,
) -> Any:
    a = a if dtype is None else Cast(a, to=inexact(dtype, "np.var"))
    ddof = _ddof(ddof, correction)
    if where is True and mean is None:
        return _spread_dtype(Var(a, axis=axis, keepdims=keepdims, ddof=ddof), dtype)
    middle = np.mean(a, axis, keepdims=True, where=where) if mean is None else mean
    deviation = np.where(where, a - middle, 0)
    squares = np.sum(np.square(np.abs(deviation)), axis, keepdims=keepdims)
    freedom = np.maximum(_counted(where, a, axis, keepdims) - ddof, 0)
    return _spread_dtype(_ratio(squares, freedom), dtype)


@implements(np.std)
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    where: Any = True,
    correction: Any = None,
    mean: Any = None,
) -> Any:
    a = a if dtype is None else Cast(a, to=inexact(dtype, "np.std"))
    ddof = _ddof(ddof, correction)
    if where is True and mean is None:
        return _spread_dtype(Std(a, axis=axis, keepdims=keepdims, ddof=ddof), dtype)
    square = var(a, axis, None, ddof, keepdims, where, mean=mean)
    flat = np.equal(square, 0)
    return _spread_dtype(np.where(flat, 0, np.sqrt(np.where(flat, 1, square))), dtype)


# --------------------------------------------------------------------------- ufunc.reduce


@method("reduce", np.add)
def reduce_add(a: Any, axis: Any = 0, **options: Any) -> Any:
    return np.sum(a, axis=axis, **options)


@method("reduce", np.maximum)
def reduce_maximum(a: Any, axis: Any = 0, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    return max_(a, axis, keepdims, initial, where)


@method("reduce", np.minimum)
def reduce_minimum(a: Any, axis: Any = 0, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
    return min_(a, axis, keepdims, initial, where)
