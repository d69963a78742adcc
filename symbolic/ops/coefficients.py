"""What is computed with the coefficients of polynomials, the highest power first? Sums, products, roots, values."""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.errors import ShapeError
from symbolic.layer import refuse
from symbolic.literal import as_layer
from symbolic.ops.axes import plain
from symbolic.ops.binding import implements
from symbolic.ops.operation import Operation, array, decided, static
from symbolic.spec import AnySpec, Spec

# --------------------------------------------------------------------------- sums and products


def _aligned(one: Any, other: Any) -> tuple[Any, Any]:
    """Both as long as the longer one, with zeros for the powers that are missing."""
    first: Any = np.atleast_1d(as_layer(one))
    second: Any = np.atleast_1d(as_layer(other))
    n, m = first.shape[0], second.shape[0]
    return np.pad(first, (max(m - n, 0), 0)), np.pad(second, (max(n - m, 0), 0))


@implements(np.polyadd, operands="vectors")
def polyadd(a1: Any, a2: Any) -> Any:
    return np.add(*_aligned(a1, a2))


@implements(np.polysub, operands="vectors")
def polysub(a1: Any, a2: Any) -> Any:
    return np.subtract(*_aligned(a1, a2))


class Leading(Operation):
    """Coefficients whose first is not 0: it would be dropped, and the length of the result would be another."""

    __slots__ = ()
    shares = True
    raises = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return plain(specs[0])

    def evaluate(self, *values: Any) -> Any:
        if len(values[0]) == 1 or values[0][0] != 0:
            return values[0]
        raise ShapeError(
            "np.polymul of coefficients that begin with 0, which NumPy drops",
            remedy="leave them out (p[1:], or np.trim_zeros(p, 'f')), or use np.convolve, which keeps them",
        )

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (delta,)


@implements(np.polymul, operands="vectors", domain="nonzero")
def polymul(a1: Any, a2: Any) -> Any:
    return np.convolve(_led(a1), _led(a2))


def _led(p: Any) -> Any:
    """The coefficients, [0] for none, with a look at the first when they are known."""
    layer: Any = np.atleast_1d(as_layer(p))
    return np.zeros_like(layer, shape=(1,)) if layer.shape == (0,) else Leading(layer)


class Significant(Operation):
    """Whether a coefficient stands behind the zeros (but for rounding) at the beginning; the last one always does."""

    __slots__ = ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[0]).shape, np.dtype(bool))

    def evaluate(self, *values: Any) -> Any:
        large = ~np.isclose(values[0], 0, rtol=1e-14)
        large[-1:] = True
        return np.logical_or.accumulate(large)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


@implements(np.polydiv, operands="vectors", domain="nonzero")
def polydiv(u: Any, v: Any) -> Any:
    """Quotient and remainder; the remainder begins with its first coefficient that is not 0."""
    rest, divisor = (np.atleast_1d(as_layer(given)) + 0.0 for given in (u, v))
    n, m = rest.shape[0], divisor.shape[0]
    if min(n, m) == 0:
        raise IndexError("np.polydiv of no coefficients; give one at least")
    dtype = np.result_type(rest.dtype, divisor.dtype)
    rest, divisor = np.astype(rest, dtype), np.astype(divisor, dtype)
    quotient = []
    for k in range(n - m + 1):
        quotient.append(rest[k] / divisor[0])
        rest = rest - np.pad(quotient[-1] * divisor, (k, n - m - k))
    return np.stack(quotient) if quotient else np.zeros_like(rest[:1]), rest[Significant(rest)]


# --------------------------------------------------------------------------- derivatives and integrals


def _vector(p: Any, name: str) -> Any:
    layer: Any = as_layer(p)
    if layer.ndim == 0:
        raise TypeError(f"{name} of a 0-d array; give the coefficients as a vector")
    return layer


@implements(np.polyder, operands="vector", samples=({}, {"m": 2}, {"m": 0}))
def polyder(p: Any, m: Any = 1) -> Any:
    times = int(static(m, "m of np.polyder"))
    if times < 0:
        raise ValueError("np.polyder of a negative order; use np.polyint")
    found: Any = _vector(p, "np.polyder")
    for _ in range(times):
        found = found[:-1] * np.arange(len(found) - 1, 0, -1)
    return found


@implements(np.polyint, operands="vector", samples=({}, {"m": 2, "k": [1.5, 0.5]}, {"m": 2, "k": 2.5}, {"m": 0}))
def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    times = int(static(m, "m of np.polyint"))
    if times < 0:
        raise ValueError("np.polyint of a negative order; use np.polyder")
    constants: Any = np.zeros(times) if k is None else np.atleast_1d(as_layer(k))
    if len(constants) == 1 and times > 1:
        constants = np.stack([constants[0]] * times)
    if len(constants) < times:
        raise ValueError(f"np.polyint takes one constant, or {times}; give as many as m")
    found: Any = _vector(p, "np.polyint") if times else as_layer(p)
    for at in range(times):
        found = np.concatenate([found / np.arange(len(found), 0, -1), constants[at : at + 1]])
    return found


# --------------------------------------------------------------------------- roots


class Descending(Operation):
    """The powers that coefficients stand for: n - 1, …, 1, 0."""

    __slots__ = ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[0]).shape, np.dtype(np.intp))

    def evaluate(self, *values: Any) -> Any:
        return np.arange(len(values[0]) - 1, -1, -1)

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


class Roots(Operation, numpy=np.roots):
    """Where a polynomial is 0, always as complex numbers; how many there are, the leading zeros decide.

    A root r of Σ p_k·r^(n-k) moves by -r^(n-k) / p'(r) for each p_k; a double root has no derivative.
    """

    __slots__ = ()
    domain = "nonzero"

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = plain(specs[0])
        if spec.ndim not in (1, None):
            raise ShapeError("np.roots of an array that is no vector", remedy="give the coefficients as a vector")
        return Spec((None,), None if spec.dtype is None else np.result_type(spec.dtype, np.complex128))

    def evaluate(self, *values: Any) -> Any:
        found = np.roots(values[0])
        return found.astype(np.result_type(values[0], np.complex128))

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        powers: Any = Descending(operand)
        grown = np.power(np.expand_dims(out, 1), powers)
        slope = np.sum(grown[:, 1:] * (operand[:-1] * powers[:-1]), axis=1)
        return (np.sum(np.expand_dims(delta, 1) * np.conjugate(-grown / np.expand_dims(slope, 1)), axis=0),)


@implements(np.poly, operands="real_vector")
def poly(seq_of_zeros: Any) -> Any:
    """The coefficients of the polynomial with these roots; of a matrix, its characteristic polynomial."""
    roots: Any = np.atleast_1d(as_layer(seq_of_zeros))
    roots = np.astype(roots, np.dtype(np.mintypecode(roots.dtype.char)))
    matrix, real = roots.ndim == 2, roots.dtype.kind != "c"
    if roots.ndim > 2 or (matrix and roots.shape[0] != roots.shape[1]):
        refuse(f"np.poly of an array of shape {tuple(roots.shape)}", "give a vector or a square matrix", ShapeError)
    roots = np.linalg.eigvals(roots) if matrix else roots
    found: Any = np.ones_like(roots, shape=(1,))
    for k in range(len(roots)):
        found = np.pad(found, (0, 1)) - np.pad(found * roots[k], (1, 0))
    if matrix and real:
        return np.real(found)  # the roots of a real matrix come in conjugate pairs
    return found if real or not _paired(roots) else np.real(found)


def _paired(roots: Any) -> bool:
    """Whether every complex root stands beside its conjugate: NumPy's coefficients are then real."""
    same = np.all(np.equal(np.sort(roots), np.sort(np.conjugate(roots))))
    return decided(same, "np.poly of complex roots", "multiply the factors with np.convolve")


# --------------------------------------------------------------------------- values in two variables


def _horner(x: Any, c: Any, tensor: bool) -> Any:
    """Σ c[k]·x^k, the lowest power first; `tensor`: at every x for every column of `c`."""
    if tensor:
        c = np.reshape(c, (*c.shape, *(1,) * x.ndim))
    total = c[len(c) - 1] + x * 0
    for k in range(len(c) - 2, -1, -1):
        total = c[k] + total * x
    return total


def polyval2d(x: Any, y: Any, c: Any) -> Any:
    places, others, coefficients = (as_layer(one) + 0.0 for one in (x, y, c))
    if places.shape != others.shape:
        raise ValueError("polyval2d of x and y of different shapes; use polygrid2d for all pairs of them")
    return _horner(others, _horner(places, coefficients, True), False)


def polygrid2d(x: Any, y: Any, c: Any) -> Any:
    places, others, coefficients = (as_layer(one) + 0.0 for one in (x, y, c))
    return _horner(others, _horner(places, coefficients, True), True)


if hasattr(np.polynomial.polynomial.polyval2d, "_implementation"):  # in NumPy 2.2 nobody can override it
    implements(np.polynomial.polynomial.polyval2d, operands="polynomial_of_two")(polyval2d)
    implements(np.polynomial.polynomial.polygrid2d, operands="polynomial_of_two")(polygrid2d)
