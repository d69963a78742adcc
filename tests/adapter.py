"""The library as the case collection wants it: `value_and_grad` and `grad`, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import symbolic


class Adapter:
    """See the collection's docstring."""

    name = "symbolic"
    np = numpy

    def value_and_grad(self, f: Callable[..., Any], wrt: tuple[int, ...]) -> Callable[..., Any]:
        return symbolic.value_and_grad(f, wrt)

    def grad(self, f: Callable[..., Any], i: int) -> Callable[..., Any]:
        return symbolic.grad(f, i)
