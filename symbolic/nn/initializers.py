"""Where does a weight start? Arrays to start from, whose scale keeps signals alive through many layers.

A matrix of shape (inputs, outputs) is used as `x @ W`; a kernel of shape (outputs, inputs, height, width) as conv2d
takes it; a vector as `x @ w`. Without a seed the numbers come from the layer that is being built, if one is (tracing
it again draws the same), else from one generator for everybody, which `seed` resets. The same seed gives the same
numbers in every dtype, rounded.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from symbolic.context import here
from symbolic.errors import DtypeError, ShapeError
from symbolic.layer import refuse
from symbolic.sites import Shared

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

__all__ = [
    "constant",
    "glorot",
    "he",
    "lecun",
    "normal",
    "ones",
    "orthogonal",
    "seed",
    "truncated_normal",
    "uniform",
    "zeros",
]

Array: TypeAlias = "NDArray[Any]"


def seed(number: int | None = None) -> None:
    """Start the shared generator anew, so that what is drawn without a seed of its own comes out again.

    >>> from symbolic.nn.initializers import normal, seed
    >>> seed(1); a = normal(2); seed(1); b = normal(2)
    >>> bool((a == b).all())
    True
    """
    Shared.generator = np.random.default_rng(number)


def _shared() -> Any:
    if Shared.generator is None:
        seed()
    return Shared.generator


def _generator(given: Any) -> Any:
    if given is not None:
        return np.random.default_rng(given)
    return here.trace.generator() if here.trace is not None else _shared()


# --------------------------------------------------------------------------- shapes and dtypes


def _shape(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """The sizes as plain integers, given one by one or as one tuple."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    try:
        shape = tuple([operator.index(size) for size in sizes])
    except TypeError:
        refuse(f"an initial value of shape {sizes}", "give integers as sizes: he(784, 10)", DtypeError)
    if any(size < 0 for size in shape):
        refuse(f"an initial value of shape {shape}", "give sizes of at least 0", ShapeError)
    return shape


def _fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many inputs reach one output, and how many outputs one input reaches; at least 1."""
    if len(shape) < 3:
        inputs, outputs = (*shape, 1, 1)[:2]
        return max(inputs, 1), max(outputs, 1)
    window = math.prod(shape[2:])
    return max(shape[1] * window, 1), max(shape[0] * window, 1)


def _cast(values: Array, dtype: DTypeLike) -> Array:
    """The dtype that was asked for, if real numbers of any size fit in it."""
    kind = np.dtype(dtype)
    if kind.kind != "f":
        refuse(f"random initial values of dtype {kind}", "ask for a floating dtype and convert afterwards", DtypeError)
    return np.asarray(values).astype(kind, copy=False)


# --------------------------------------------------------------------------- the initial values


def he(*shape: int, seed: Any = None, dtype: DTypeLike = np.float64) -> Array:
    """Normal, of variance 2 / inputs: for layers followed by ReLU (He et al. 2015, equation 10).

    `seed` is an int or a generator of NumPy. Raises ShapeError for a negative size, DtypeError for a size that is no
    integer or a dtype that is not floating; so do all the others here.

    >>> from symbolic import he
    >>> he(784, 10, seed=0).shape
    (784, 10)
    """
    sizes = _shape(shape)
    return normal(*sizes, std=math.sqrt(2 / _fans(sizes)[0]), seed=seed, dtype=dtype)


def lecun(*shape: int, seed: Any = None, dtype: DTypeLike = np.float64) -> Array:
    """Normal, of variance 1 / inputs: keeps the variance of a linear layer (LeCun et al. 1998, equation 16).

    >>> from symbolic.nn.initializers import lecun
    >>> lecun(3, 2, dtype="float32").dtype
    dtype('float32')
    """
    sizes = _shape(shape)
    return normal(*sizes, std=math.sqrt(1 / _fans(sizes)[0]), seed=seed, dtype=dtype)


def glorot(*shape: int, seed: Any = None, dtype: DTypeLike = np.float64) -> Array:
    """Uniform within ±√(6 / (inputs + outputs)): for tanh and the like (Glorot and Bengio 2010, equation 16).

    >>> from symbolic import glorot
    >>> bool(abs(glorot(3, 3)).max() <= 1.0)
    True
    """
    sizes = _shape(shape)
    limit = math.sqrt(6 / sum(_fans(sizes)))
    return uniform(*sizes, low=-limit, high=limit, seed=seed, dtype=dtype)


def orthogonal(*shape: int, gain: float = 1.0, seed: Any = None, dtype: DTypeLike = np.float64) -> Array:
    """Rows or columns, whichever are fewer, orthogonal and of length `gain` (Saxe et al. 2014, section 3).

    A kernel is taken as the matrix of its outputs by all the rest. ShapeError below two axes.

    >>> import numpy as np
    >>> from symbolic import orthogonal
    >>> w = orthogonal(4, 4)
    >>> bool(np.allclose(w @ w.T, np.eye(4)))
    True
    """
    sizes = _shape(shape)
    if len(sizes) < 2:
        refuse(f"an orthogonal matrix of shape {sizes}", "give two sizes or more: orthogonal(64, 64)", ShapeError)
    rows, columns = sizes[0], math.prod(sizes[1:])
    factor, triangle = np.linalg.qr(_generator(seed).standard_normal((max(rows, columns), min(rows, columns))))
    # the signs make every orthogonal matrix equally likely (Mezzadri 2007)
    factor = factor * np.where(np.diagonal(triangle) < 0, -gain, gain)
    return _cast(np.ascontiguousarray(factor if rows >= columns else factor.T).reshape(sizes), dtype)


def normal(*shape: int, mean: float = 0.0, std: float = 1.0, seed: Any = None, dtype: DTypeLike = np.float64) -> Array:
    """Normal, of the given mean and standard deviation.

    >>> from symbolic import normal
    >>> normal(2, 3).shape
    (2, 3)
    """
    return _cast(mean + std * _generator(seed).standard_normal(_shape(shape)), dtype)


def truncated_normal(
    *shape: int, mean: float = 0.0, std: float = 1.0, seed: Any = None, dtype: DTypeLike = np.float64
) -> Array:
    """Normal, with what lies further than two standard deviations from the mean drawn again.

    >>> from symbolic.nn.initializers import truncated_normal
    >>> bool(abs(truncated_normal(1000)).max() <= 2.0)
    True
    """
    generator = _generator(seed)
    values = np.asarray(generator.standard_normal(_shape(shape)))
    while (far := np.abs(values) > 2).any():
        values[far] = generator.standard_normal(np.count_nonzero(far))
    return _cast(mean + std * values, dtype)


def uniform(*shape: int, low: float = 0.0, high: float = 1.0, seed: Any = None, dtype: DTypeLike = np.float64) -> Array:
    """Uniform in [low, high), which is [0, 1) as in NumPy unless it is given.

    >>> from symbolic import uniform
    >>> bool(abs(uniform(100, low=-0.1, high=0.1)).max() <= 0.1)
    True
    """
    return _cast(low + (high - low) * _generator(seed).random(_shape(shape)), dtype)


def zeros(*shape: int, seed: Any = None, dtype: DTypeLike = np.float64) -> Array:
    """Zeros: for biases. The seed says nothing here.

    >>> from symbolic import zeros
    >>> zeros(2)
    array([0., 0.])
    """
    return np.zeros(_shape(shape), dtype)


def ones(*shape: int, seed: Any = None, dtype: DTypeLike = np.float64) -> Array:
    """Ones: for scales. The seed says nothing here.

    >>> from symbolic import ones
    >>> ones(2)
    array([1., 1.])
    """
    return np.ones(_shape(shape), dtype)


def constant(*shape: int, value: float, seed: Any = None, dtype: DTypeLike = np.float64) -> Array:
    """The same number everywhere.

    >>> from symbolic.nn.initializers import constant
    >>> constant(2, value=0.5)
    array([0.5, 0.5])
    """
    return np.full(_shape(shape), value, dtype)
