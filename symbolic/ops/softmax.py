"""How are exponentials added without overflow, and made into shares of one?

These have no twin in NumPy: formulas that take arrays and layers alike.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symbolic.errors import DtypeError
from symbolic.layer import Layer
from symbolic.literal import as_layer
from symbolic.ops.binding import method
from symbolic.ops.deltas import ReshapeLike, is_complex
from symbolic.ops.families import Reduction
from symbolic.spec import Spec


class Peak(Reduction):
    """The largest entry, as a constant that exponents are measured from; 0 where it is not finite."""

    __slots__ = ()
    of_numbers = True
    defaults: ClassVar[Any] = {"axis": None, "keepdims": True}

    def result_dtype(self, spec: Spec) -> Any:
        return spec.dtype

    def evaluate(self, *values: Any) -> Any:
        return peak(values[0], self.axis)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,)  # the shift cancels in every formula that uses it


def peak(values: Any, axis: Any) -> Any:
    best = np.maximum.reduce(values, axis=axis, keepdims=True, initial=-np.inf)
    return np.where(np.isfinite(best), best, np.zeros((), np.asarray(best).dtype))


def _shift(x: Any, axis: Any) -> Any:
    x = np.real(x) if is_complex(x) else x  # a phase does not overflow
    return Peak(x, axis=axis) if isinstance(x, Layer) else peak(np.asarray(x), axis)


def logsumexp(a: Any, axis: Any = None, keepdims: bool = False, b: Any = None) -> Any:
    """log Σ b · e^a along `axis` (an int, a tuple, or all), of an array or a layer; the dtype stays. Without `b`, 1.

    Nothing overflows, and of all -inf it is -inf, with gradient 0. Of a negative sum it is NaN.

    >>> import numpy as np
    >>> from symbolic.ops.softmax import logsumexp
    >>> round(float(logsumexp(np.array([1000.0, 1000.0]))), 6)
    1000.693147
    """
    total, level = _total(a, axis, keepdims, b)
    none = np.equal(total, 0)
    return np.where(none, -np.inf, np.log(np.where(none, 1, total))) + level


def signed_logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False) -> tuple[Any, Any]:
    """log |Σ b · e^a|, and the sum's sign (a number of modulus 1, or 0)."""
    total, level = _total(a, axis, keepdims, b)
    none = np.equal(total, 0)
    return np.where(none, -np.inf, np.log(np.abs(np.where(none, 1, total)))) + level, np.sign(total)


def _total(a: Any, axis: Any, keepdims: bool, b: Any) -> tuple[Any, Any]:
    """Σ b · e^(a - shift), and the shift; terms of weight 0 do not count, however large."""
    a = np.multiply(a, 1.0)  # integers count as floats
    if b is not None:
        a, b = np.where(np.equal(b, 0), -np.inf, a), np.multiply(b, np.ones_like(a))
    shift = _shift(a, axis)
    powers = np.exp(a - shift)
    total = np.sum(powers if b is None else b * powers, axis=axis, keepdims=keepdims)
    return total, ReshapeLike(shift, total) if isinstance(total, Layer) else np.reshape(shift, np.shape(total))


def softmax(x: Any, axis: Any = -1) -> Any:
    """e^x / Σ e^x along `axis`, of an array or a layer: shares of one, in the shape and dtype of x.

    >>> import numpy as np
    >>> from symbolic.ops.softmax import softmax
    >>> softmax(np.array([1000.0, 1000.0]))
    array([0.5, 0.5])
    """
    x = np.multiply(x, 1.0)
    powers = np.exp(x - _shift(x, axis))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = -1) -> Any:
    """log(softmax(x)) along `axis`, exact where the share is next to nothing.

    >>> import numpy as np
    >>> from symbolic.ops.softmax import log_softmax
    >>> log_softmax(np.array([0.0, -1000.0]))
    array([    0., -1000.])
    """
    x = np.multiply(x, 1.0)
    shifted = x - _shift(x, axis)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


@method("reduce", np.logaddexp)
def reduce_logaddexp(a: Any, axis: Any = 0, keepdims: bool = False) -> Any:
    if is_complex(a):
        raise DtypeError("np.logaddexp.reduce of complex numbers", remedy="use logsumexp, which has them")
    layer: Any = as_layer(a)
    if layer.dtype.kind in "biu":  # small ones are added in halves, by NumPy, too
        layer = np.astype(layer, np.logaddexp.resolve_dtypes((layer.dtype, layer.dtype, None))[2])
    return logsumexp(layer, axis=None if np.ndim(a) == 0 else axis, keepdims=keepdims)
