"""What is left of a number when it is rounded, divided without remainder, or held within bounds?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.layer import Layer
from symbolic.literal import as_layer
from symbolic.ops.binding import Kernel, Written, implements
from symbolic.ops.families import Binary, Predicate, Step
from symbolic.ops.operation import array
from symbolic.spec import AnySpec, Spec, broadcast, dtype_by_trial, ufunc_dtype


class Floor(Step, numpy=np.floor):
    """The whole number at or below."""

    __slots__ = ()
    domain = "away_from_integers"


class Ceil(Step, numpy=np.ceil):
    """The whole number at or above."""

    __slots__ = ()
    domain = "away_from_integers"


class Trunc(Step, numpy=np.trunc):
    """The whole number towards zero."""

    __slots__ = ()
    domain = "away_from_integers"


class Rint(Step, numpy=np.rint):
    """The nearest whole number."""

    __slots__ = ()
    domain = "away_from_integers"


class Round(Step, numpy=(np.round, np.around)):
    """The nearest number of so many decimals."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"decimals": 0}
    domain = "away_from_integers"

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        return Spec(spec.shape, None if spec.dtype is None else dtype_by_trial(np.round, spec.dtype))

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        return self.evaluate, False


@implements(np.fix, domain="away_from_integers")
def fix(x: Any) -> Any:
    return np.trunc(x)


# --------------------------------------------------------------------------- division with a remainder


class FloorDivide(Binary, numpy=np.floor_divide, symbol="//"):
    """The whole number at or below x / y."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return None, None


class Remainder(Binary, numpy=np.remainder, symbol="%"):
    """What is left of x by y, with the sign of y."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return 1, np.negative(np.floor_divide(x, y))


class Gcd(Predicate, numpy=np.gcd):
    """The greatest common divisor of integers: no gradient."""

    __slots__ = ()
    domain = "integer"


class Lcm(Predicate, numpy=np.lcm):
    """The least common multiple of integers: no gradient."""

    __slots__ = ()
    domain = "integer"


class Fmod(Binary, numpy=np.fmod):
    """What is left of x by y, with the sign of x."""

    __slots__ = ()
    domain = "positive"

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return 1, np.negative(np.rint((x - out) / y))  # the quotient that gave the remainder, whole but for rounding


@implements(np.divmod, domain="positive")
def quotient_and_remainder(x1: Any, x2: Any) -> Any:
    return np.floor_divide(x1, x2), np.remainder(x1, x2)


@implements(np.modf, domain="away_from_integers")
def fraction_and_whole(x1: Any) -> Any:
    whole = np.trunc(np.multiply(x1, 1.0))
    return np.where(np.isinf(x1), 0, x1 - np.where(np.isinf(x1), 0, whole))[()], whole


# --------------------------------------------------------------------------- the binary form of a number


class Exponent(Step):
    """The power of 2 that is left when the number is brought to between ½ and 1."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.frexp,)

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[0]).shape, np.dtype(np.int32))

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        return (lambda x: np.frexp(x)[1]), False


@implements(np.frexp, domain="away_from_integers")
def fraction_and_exponent(x1: Any) -> Any:
    number: Any = np.multiply(x1, 1.0)
    exponent = Exponent(number)
    return np.ldexp(number, np.negative(exponent)), exponent


class Nextafter(Binary, numpy=np.nextafter):
    """The number next to x on the way to y: as good as x."""

    __slots__ = ()
    domain = "distinct"

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return 1, None


class Spacing(Step, numpy=np.spacing):
    """How far the next number is: constant from one power of 2 to the next."""

    __slots__ = ()
    domain = "away_from_integers"


class BitwiseCount(Step, numpy=np.bitwise_count):
    """How many bits are set."""

    __slots__ = ()
    domain = "integer"


# --------------------------------------------------------------------------- the larger, the smaller


class Share(Predicate):
    """How much of the larger of two belongs to the first: 1, at a tie ½, or nothing."""

    __slots__ = ()
    entrywise = "share"

    def infer(self, *specs: AnySpec) -> AnySpec:
        given = [array(spec) for spec in specs]
        dtype = ufunc_dtype(np.maximum, given)
        if dtype is not None and dtype.kind not in "fc":
            dtype = np.dtype(float)
        return Spec(broadcast([spec.shape for spec in given]), dtype)

    def evaluate(self, *values: Any) -> Any:
        return share(values[0], values[1])[()]

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        arrays = isinstance(out, Spec) and out.shape != ()
        return (share, True) if arrays else (self.evaluate, False)


def share(x: Any, y: Any, out: Any = None) -> Any:
    if out is None:
        like = np.maximum(x, y)
        out = np.empty(like.shape, like.dtype if like.dtype.kind in "fc" else float)
    tied = np.equal(x, y)  # before the result is written, which may share memory with an operand
    np.greater(x, y, out=out)
    if tied.any():
        np.copyto(out, 0.5, where=tied)
    return out


class _Better(Binary):
    """One of two; a tie gives half to each, a NaN is NaN."""

    __slots__ = ()
    domain = "distinct"

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        ufunc = self.functions[0]
        call = lambda x, y, out=None: ufunc(x, y, out=out)  # noqa: E731 - NumPy wants `out` by name in these two
        return Written(call, "{ufunc}({0}, {1}, out={out})", early=True, ufunc=ufunc), True


class Maximum(_Better, numpy=np.maximum):
    """The larger of two; a tie gives half to each, a NaN is NaN."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return Share(x, y), Share(y, x)


class Minimum(_Better, numpy=np.minimum):
    """The smaller of two; a tie gives half to each, a NaN is NaN."""

    __slots__ = ()

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        return Share(y, x), Share(x, y)


class _Numbers(Binary):
    """Of two, where a NaN loses."""

    __slots__ = ()
    domain = "distinct"

    @staticmethod
    def derivative(out: Any, x: Any, y: Any) -> Any:
        first, second = np.equal(x, out), np.equal(y, out)
        tied = np.logical_and(first, second)
        return np.where(tied, 0.5, first), np.where(tied, 0.5, second)


class Fmax(_Numbers, numpy=np.fmax):
    """The larger of two, where a NaN loses."""

    __slots__ = ()


class Fmin(_Numbers, numpy=np.fmin):
    """The smaller of two, where a NaN loses."""

    __slots__ = ()


def _promoted(x: Any, other: Any) -> Any:
    return np.astype(x, np.result_type(x.dtype, other.dtype)) if x.dtype.kind in "biu" else x


_clip: Any = np._core.umath.clip  # type: ignore[attr-defined]  # below np.clip, and without a public name


@implements(_clip, domain=("distinct", "negative", "positive"))
def clip_ufunc(x1: Any, x2: Any, x3: Any) -> Any:
    for number, bound in ((x2, x3), (x3, x2)):
        if type(number) is int and not isinstance(bound, (int, complex)):  # it takes the dtype of both others
            x1 = _promoted(as_layer(x1), as_layer(bound))
    if any(isinstance(one, (Layer, list, tuple)) or np.ndim(one) for one in (x2, x3)):
        return np.minimum(np.maximum(x1, x2), x3)
    return np.minimum(x3, np.maximum(x2, x1))  # a zero at a bound that is a number keeps its sign


@implements(np.clip, domain="distinct", samples=[{"a_min": -0.5, "a_max": 0.5}, {"a_min": 0.25, "a_max": None}])
def clip(a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    """Held within bounds, each a number, an array, a layer or nothing; at a bound half of the gradient passes."""
    if (a_min is not None and min is not None) or (a_max is not None and max is not None):
        raise ValueError("np.clip takes a_min and a_max, or min and max, not both; leave out one pair")
    low, high = a_min if min is None else min, a_max if max is None else max
    if low is None and high is None:
        return np.copy(a)
    held: Any = as_layer(a)  # a list of traced values, too
    low, high = _of_whole_numbers(held, low, high) if int in (type(low), type(high)) else (low, high)
    if low is None and high is None:
        return np.positive(held)
    if low is not None and high is not None:
        return clip_ufunc(held, low, high)
    return np.maximum(held, low) if high is None else np.minimum(held, high)


def _of_whole_numbers(held: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """A bound of Python's that no entry of integers passes is none, whether their dtype holds it or not."""
    if held.dtype.kind not in "iu":
        return low, high
    limits = np.iinfo(held.dtype)
    return (
        None if type(low) is int and low <= limits.min else low,
        None if type(high) is int and high >= limits.max else high,
    )
