"""What does a call give whatever rank or dtype an argument has? It is asked with several; what is alike is true."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from symbolic.spec import AnySpec, Spec, TupleSpec
from symbolic.static.abstract import UNKNOWN, Answer, Value
from symbolic.static.alike import alike
from symbolic.static.rests import mapped

_GUESSES: tuple[tuple[tuple[int, ...], str], ...] = (
    ((3,), "float64"),
    ((3, 3), "float32"),
    ((2, 3, 3), "float64"),
    ((4, 4), "complex128"),
    ((3,), "int64"),
)


def over_guesses(attempt: Callable[[Callable[[Any], Any]], Answer | None], arguments: Any) -> Answer:
    """The answer of a call that asks for more than is known of its arguments: `np.linalg.norm(x)` is a number."""
    if all(spec.known for spec in _specs(arguments)):
        return Answer(UNKNOWN)
    found = [attempt(lambda one, guess=guess: mapped(one, lambda spec: _guessed(spec, *guess))) for guess in _GUESSES]  # type: ignore[misc]  # mypy infers no default of a lambda
    values = [answer.value for answer in found if answer is not None and answer.finding is None]
    return Answer(alike(values)) if len(values) > 1 else Answer(UNKNOWN)


def _specs(value: Any) -> Iterator[Spec]:
    if isinstance(value, Value):
        yield from _in(value.spec)
    elif isinstance(value, dict):
        yield from _specs(list(value.values()))
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _specs(one)


def _in(spec: AnySpec) -> Iterator[Spec]:
    if isinstance(spec, TupleSpec):
        for one in spec:
            yield from _in(one)
    elif isinstance(spec, Spec):
        yield spec


def _guessed(spec: Spec, shape: tuple[int, ...], dtype: str) -> Spec:
    """What is not known of a spec, guessed."""
    if spec.python is not None:
        return spec
    sizes = shape if spec.shape is None else tuple([shape[-1] if d is None else d for d in spec.shape])
    return Spec(sizes, np.dtype(dtype) if spec.dtype is None else spec.dtype)
