"""Does NumPy give a value without axes in an array, or as a number?

A ufunc and a sum give a number, `np.where` and a view an array, `x.reshape(())` what `x` was. Nobody has written down
which function gives which: NumPy's kernels are asked, on values that only have the right shape and dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from symbolic.inference import Inference
from symbolic.layer import AnyLayer
from symbolic.leaves import Literal
from symbolic.ops.families import Movement
from symbolic.ops.operation import Operation
from symbolic.spec import Spec

__all__ = ["Bare", "gives_array", "is_number"]

_MANY = 4096
"""Entries of operands from which smaller ones stand for them."""
_SMALL = 8
"""Sizes that are never made smaller, as those of a vector in space."""


class Bare:
    """Which nodes of a trace are arrays without axes. Of a leaf nobody knows: another call may bring a number."""

    def __init__(self, facts: Inference) -> None:
        self.facts = facts
        self.found: dict[AnyLayer, bool] = {}

    def is_array(self, node: AnyLayer) -> bool:
        """Whether NumPy has an array there; of a node without axes."""
        stack = [node]
        while stack:
            at = stack[-1]
            wait = [] if at in self.found else [one for one in self._asked(at) if one not in self.found]
            if wait:
                stack += wait
                continue
            stack.pop()
            if at not in self.found:
                self.found[at] = self._gives_array(at)
        return self.found[node]

    def _asked(self, node: AnyLayer) -> list[AnyLayer]:
        """The operands on whose being arrays it depends."""
        if not isinstance(node, Operation) or is_number(node, self._kernel(node)[0]):
            return []
        return [one for one in node.operands if _is_open(self.facts.spec(one))]

    def _kernel(self, node: Operation) -> tuple[Any, bool]:
        return node.kernel(self.facts.operands(node), self.facts.spec(node))

    def _gives_array(self, node: AnyLayer) -> bool:
        if isinstance(node, Literal):
            return isinstance(node.value, np.ndarray)
        if not isinstance(node, Operation) or not _is_open(self.facts.spec(node)):
            return False
        kernel, takes_out = self._kernel(node)
        if is_number(node, kernel):
            return False
        arrays = [one.value if isinstance(one, Literal) else None for one in node.operands]
        boxed = [self.found.get(one, False) for one in node.operands]
        specs = self.facts.operands(node)
        return gives_array(node, (kernel, takes_out), self.facts.spec(node), specs, arrays, boxed)


def _is_open(spec: Any) -> bool:
    return isinstance(spec, Spec) and spec.shape == () and spec.python is None and spec.dtype is not None


def is_number(node: Any, kernel: Any) -> bool:
    """Whether NumPy gives a number for certain; what is not ours is not run for this."""
    return isinstance(kernel, np.ufunc) or node.effect or not type(node).__module__.startswith("symbolic.ops.")


def gives_array(
    node: Any, kernel: tuple[Any, bool], out: Any, specs: Sequence[Any], arrays: Sequence[Any], boxed: Sequence[bool]
) -> bool:
    """Whether a node's kernel gives an array; `arrays` are the operands that are known, `boxed` says which are one."""
    if not all(isinstance(spec, Spec) and spec.known for spec in specs):
        return False
    try:
        with np.errstate(all="ignore"):
            if sum(map(_entries, specs)) > _MANY and not (node.indexed or isinstance(node, Movement)):
                specs, arrays = [_smaller(spec) for spec in specs], [None] * len(specs)
                kernel = node.kernel(specs, out)
            values = [_value(*one) for one in zip(arrays, specs, boxed, strict=True)]
            function, takes_out = kernel
            return isinstance(function(*values, None) if takes_out else function(*values), np.ndarray)
    except Exception:  # these numbers do not suit it: its own will, or it raises
        return False


def _entries(spec: Any) -> int:
    return prod(spec.shape)


def _smaller(spec: Any) -> Any:
    """With fewer entries; sizes that were equal stay equal."""
    return spec._replace(shape=tuple([n if n <= _SMALL else 2 for n in spec.shape]))


def _value(known: Any, spec: Any, array: bool) -> Any:
    """The array that is known, or one without memory of its own; of whole numbers 0, the number of some entry."""
    if isinstance(known, np.ndarray):
        return known
    if spec.python is not None:
        return spec.python(spec.dtype.kind in "fc")
    one = spec.dtype.type(spec.dtype.kind in "fc")
    return np.broadcast_to(one, spec.shape) if spec.shape or array else one
