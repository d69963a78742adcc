"""Which results without axes does NumPy give in an array, and which as a number?

A ufunc and a sum give a number, `np.where` and a view an array, `x.reshape(())` what `x` was. Nobody has written down
which function gives which: NumPy's kernels are asked, on values that only have the right shape and dtype.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from symbolic.ops.families import Movement
from symbolic.ops.indexing import GetItem
from symbolic.plan import Instruction, Program
from symbolic.spec import Spec

__all__ = ["boxed", "open_leaves"]

_MANY = 4096
"""Entries of operands from which smaller ones stand for them."""
_SMALL = 8
"""Sizes that are never made smaller, as those of a vector in space."""
_FREE = Movement, GetItem
"""Of these a large operand costs nothing; smaller ones would not have the entry that an index names."""


def open_leaves(program: Program) -> list[int]:
    """The leaves without axes that may be arrays or numbers: all but Python's own numbers."""
    return [k for k in range(len(program.leaves)) if _is_open(program.specs[k])]


def boxed(program: Program, values: Mapping[int, Any]) -> tuple[bool, ...]:
    """For each output whether it is an array without axes; `values` are those of slots that are known, as of leaves."""
    open_ = [k for k in dict.fromkeys(program.outputs) if _is_open(program.specs[k])]
    found: dict[int, bool] = {}
    if open_:
        known = {**dict(program.constants), **values}
        found = {k: isinstance(value, np.ndarray) for k, value in known.items() if _is_open(program.specs[k])}
        for one in _needed(program, open_, found):
            found[one.target] = _gives_array(program, one, found, known)
    return tuple([found.get(k, False) for k in program.outputs])


def _is_open(spec: Any) -> bool:
    return isinstance(spec, Spec) and spec.shape == () and spec.python is None and spec.dtype is not None


def _needed(program: Program, wanted: Sequence[int], known: dict[int, bool]) -> list[Instruction]:
    """The instructions on which it depends, in their order: back to a ufunc, which gives a number whatever it takes."""
    makers = {one.target: one for one in program.instructions} if wanted else {}
    stack, seen = [k for k in wanted if k not in known], dict[int, Instruction]()
    while stack:
        k = stack.pop()
        one = makers.get(k)
        if one is None or k in seen or _is_number(one):
            continue
        seen[k] = one
        stack += [source for source in one.sources if source not in known and _is_open(program.specs[source])]
    return sorted(seen.values(), key=lambda one: one.target)


def _is_number(one: Instruction) -> bool:
    """Whether NumPy gives a number for certain; what is not ours is not run for this."""
    known = type(one.node).__module__.startswith("symbolic.ops.")
    return isinstance(one.kernel, np.ufunc) or one.node.effect or not known


def _gives_array(program: Program, one: Instruction, found: dict[int, bool], known: dict[int, Any]) -> bool:
    specs = [program.specs[k] for k in one.sources]
    if not all(isinstance(spec, Spec) and spec.known for spec in specs):
        return False
    kernel, takes_out, arrays = one.kernel, one.takes_out, known
    try:
        with np.errstate(all="ignore"):
            if sum(map(_entries, specs)) > _MANY and not isinstance(one.node, _FREE):
                specs, arrays = [_smaller(spec) for spec in specs], {}
                kernel, takes_out = one.node.kernel(specs, one.spec)
            pairs = zip(one.sources, specs, strict=True)
            values = [_value(arrays.get(k), spec, found.get(k, False)) for k, spec in pairs]
            return isinstance(kernel(*values, None) if takes_out else kernel(*values), np.ndarray)
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
