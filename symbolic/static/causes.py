"""What is the likely cause where shapes do not fit? A lost axis, a matrix to be transposed, another order of axes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from symbolic.polynomial import Rest, same
from symbolic.spec import Spec
from symbolic.static.abstract import Finding, Value
from symbolic.static.axis_lints import permutation
from symbolic.static.broadcast_lints import lost_axis
from symbolic.static.evaluation import call
from symbolic.static.meanings import BINARY, COMPARING, Args, dtype_of, is_in_place, name_of, shape_of
from symbolic.static.provenance import Provenance

Shape = tuple[Any, ...]
DECLARED = "return"
"""In the place of an operation: a value meets a hint."""


def likely_cause(function: Any, args: Args, provenance: Provenance | None = None) -> str | None:
    """What most probably is to be done where this operation fails, in a few words; `None` where nothing stands out.

    With `DECLARED` as the function, the arguments are a value and one of the spec that is declared for it.
    """
    names = (*(provenance.names if provenance is not None else ()), "", "")
    shapes = [shape_of(one) for one in args[:2]]
    if len(shapes) < 2 or any(one is None or any(isinstance(size, Rest) for size in one) for one in shapes):
        return None
    name = name_of(function)
    if name == "divide" and is_in_place(function, args, {}) and _is_whole(args[0]):
        return f"write {names[0] or 'x'} = {names[0] or 'x'} / …, or //= for whole numbers"
    if name in ("matmul", "dot"):
        return _of_product(args, names)
    if name in BINARY or name in COMPARING:
        return _of_broadcast(args, names)
    return _of_order(args[0], args[1], names[0]) if function == DECLARED else None


def likely(found: Finding, function: Any, args: Args, provenance: Provenance | None = None) -> Finding:
    """A finding whose remedy starts with the likely cause, where there is one."""
    cause = likely_cause(function, args, provenance) if found.kind == "symbolic-shape" else None
    return found if cause is None else found._replace(remedy=f"{cause}, or {found.remedy}")


def _is_whole(value: Any) -> bool:
    dtype = dtype_of(value)
    return dtype is not None and dtype.kind in "iub"


def _of_broadcast(args: Args, names: tuple[str, ...]) -> str | None:
    for one, other in ((0, 1), (1, 0)):
        if lost_axis(args[one], args[other]) is not None:
            return "add keepdims=True"
    return _of_order(args[0], args[1], names[0]) or _of_column(args, names)


def _of_column(args: Args, names: tuple[str, ...]) -> str | None:
    """`(n, c)` with `(n,)`: one number for each row."""
    for one, other in ((0, 1), (1, 0)):
        whole, part = shape_of(args[one]), shape_of(args[other])
        if whole is None or part is None or len(part) != 1 or len(whole) < 2 or part[0] is None:
            continue
        at = [k for k, size in enumerate(whole) if same(size, part[0])]
        if len(at) == 1 and at[0] < len(whole) - 1:
            new = ", ".join([":", *["None"] * (len(whole) - 1 - at[0])])
            return f"write {names[other] or 'y'}[{new}]"
    return None


def _of_order(value: Any, wanted: Any, name: str) -> str | None:
    """The same sizes in another order."""
    before, after = shape_of(value), shape_of(wanted)
    axes = None if before is None or after is None else permutation(before, after)
    if axes is None or axes == tuple(range(len(axes))):
        return None
    return f"use {name or 'x'}.T" if axes == (1, 0) and name else "use .T" if axes == (1, 0) else f"use transpose{axes}"


def _of_product(args: Args, names: tuple[str, ...]) -> str | None:
    """A product that fits when one of its matrices is transposed: the second, as a rule of the two a weight."""
    for place in (1, 0):
        turned = _turned(args[place])
        given = [turned if k == place else one for k, one in enumerate(args[:2])]
        if turned is not None and call(operator.matmul, given, {}).finding is None and _meets(*given):
            return f"use {names[place]}.T" if names[place] else f"use .T of the {('first', 'second')[place]} operand"
    return None


def _meets(one: Any, other: Any) -> bool:
    """Whether the sizes that a product sums over are known to be the same."""
    first, second = shape_of(one), shape_of(other)
    return bool(first) and bool(second) and same(first[-1], second[-2] if len(second) > 1 else second[0])  # type: ignore[index,arg-type]  # neither is None


def _turned(value: Any) -> Value | None:
    shape = shape_of(value)
    if not isinstance(value, Value) or not isinstance(value.spec, Spec) or shape is None or len(shape) != 2:
        return None
    return Value(Spec(shape[::-1], value.spec.dtype or np.dtype(float)))
