"""How is a derivative checked without a rule? By central differences of a real number made of a function's results."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from strategies import Call, Draw
from subjects import Subject, leaves


class Loss:
    """A real number made of a function's results: each, weighted entry by entry, summed; and its derivatives."""

    def __init__(self, subject: Subject, call: Call, draw: Draw) -> None:
        self.about, self.arrays = (subject, call), call.arrays
        self.function = subject.of(call)
        self.wanted = [k for k, one in enumerate(call.arrays) if np.asarray(one).dtype.kind in "fc"]
        self.results = leaves(self.function(*call.arrays))
        wide = all(np.asarray(one).dtype.itemsize >= 8 for one in self.results)
        self.tolerance = 1e-6 if wide else 1e-3  # differences of float32 results
        self.weights = [self._weight(draw, np.asarray(one)) for one in self.results]
        self.real = weighted_sum(self.function, self.arrays, self.wanted, self.weights)  # to be differentiated

    @staticmethod
    def _weight(draw: Draw, like: Any) -> Any:
        weight = draw.uniform(0.5, 1.5, like.shape) * draw.sign(like.shape)
        if like.dtype.kind == "c":
            weight = weight + 1j * draw.uniform(-1, 1, like.shape)
        return weight.astype(like.dtype) if like.dtype.kind in "fc" else weight

    def __call__(self, *floats: Any) -> Any:
        return self.real(*floats)

    def weighted(self) -> list[tuple[Any, Any]]:
        return [(weight, np.asarray(one)) for weight, one in zip(self.weights, self.results, strict=True)]

    def over(self, function: Callable[..., Any], parameters: Mapping[str, Any]) -> Callable[..., Any]:
        """Another function of the same name, of the floating arguments alone."""
        subject, call = self.about
        named = subject._replace(function=function, parameters=parameters).of(call)

        return of_floats(named, self.arrays, self.wanted)

    @property
    def floats(self) -> list[Any]:
        return [self.arrays[k] for k in self.wanted]

    @property
    def positions(self) -> tuple[int, ...]:
        return tuple(range(len(self.wanted)))


# what is traced captures no more than it uses: all of that is watched, at each call


def weighted_sum(
    function: Callable[..., Any], arrays: Sequence[Any], wanted: Sequence[int], weights: Sequence[Any]
) -> Callable[..., Any]:
    of = of_floats(function, arrays, wanted)

    def real(*floats: Any) -> Any:
        total: Any = 0.0
        for weight, one in zip(weights, leaves(of(*floats)), strict=True):
            part = np.sum(np.real(np.conjugate(weight) * one)) if weight.dtype.kind == "c" else np.sum(weight * one)
            total = total + part
        return total

    return real


def of_floats(function: Callable[..., Any], arrays: Sequence[Any], wanted: Sequence[int]) -> Callable[..., Any]:
    """A function of the floating arguments alone."""

    def of(*floats: Any) -> Any:
        given = list(arrays)
        for k, one in zip(wanted, floats, strict=True):
            given[k] = one
        return function(*given)

    return of


def richardson(function: Callable[[float], Any], step: float = 4e-3) -> float:
    """The derivative at 0 by central differences of three steps, extrapolated."""
    rough = [(float(function(h)) - float(function(-h))) / (2 * h) for h in (step, step / 2, step / 4)]
    finer = [(4 * b - a) / 3 for a, b in pairwise(rough)]
    return (16 * finer[1] - finer[0]) / 15


def along(function: Callable[..., Any], floats: list[Any], k: int, direction: Any) -> float:
    """The derivative of a real function by its k-th argument, in a direction."""

    def line(t: float) -> Any:
        moved = list(floats)
        moved[k] = floats[k] + t * direction
        return function(*moved)

    return richardson(line)


def direction(draw: Draw, like: Any) -> Any:
    shape, kind = np.shape(like), np.asarray(like).dtype.kind
    way = draw.uniform(0.4, 1.0, shape) * draw.sign(shape)
    return way + 1j * draw.uniform(-1, 1, shape) if kind == "c" else way


def inner(delta: Any, way: Any) -> tuple[float, float]:
    """How far a delta moves the loss along a way, and how large the terms are."""
    terms = np.real(np.conjugate(delta) * way)
    terms = terms[~np.isnan(way)] if np.ndim(way) else terms
    return float(np.sum(terms)), float(np.sum(np.abs(terms)))


def agree(got: Any, way: Any, want: float, what: str, tolerance: float) -> None:
    moved, size = inner(got, way)
    if math.isfinite(want):
        assert abs(moved - want) <= tolerance * (1 + size + abs(want)), f"{what}: {moved}, central differences {want}"


def like_argument(delta: Any, argument: Any, what: str) -> None:
    assert np.shape(delta) == np.shape(argument), f"{what}: shape {np.shape(delta)} for {np.shape(argument)}"
    want, got = np.asarray(argument).dtype, np.asarray(delta).dtype
    assert got == want, f"{what}: dtype {got} for {want}"
