"""Which results of a program without axes does NumPy give in an array, and which as a number?

Asked of the instructions of a program, back from its results; `bare` says how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symbolic.bare import gives_array, is_number
from symbolic.plan import Instruction, Program
from symbolic.spec import Spec

__all__ = ["boxed", "open_leaves"]


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
        if one is None or k in seen or is_number(one.node, one.kernel):
            continue
        seen[k] = one
        stack += [source for source in one.sources if source not in known and _is_open(program.specs[source])]
    return sorted(seen.values(), key=lambda one: one.target)


def _gives_array(program: Program, one: Instruction, found: dict[int, bool], known: dict[int, Any]) -> bool:
    specs = [program.specs[k] for k in one.sources]
    arrays, boxes = [known.get(k) for k in one.sources], [found.get(k, False) for k in one.sources]
    return gives_array(one.node, (one.kernel, one.takes_out), one.spec, specs, arrays, boxes)
