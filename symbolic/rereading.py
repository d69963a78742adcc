"""What is read of an array that was written to elsewhere? The same entries of the array before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symbolic.inference import Inference
from symbolic.layer import AnyLayer
from symbolic.ops.families import is_number
from symbolic.ops.indexing import AddAt, GetItem, SetItem, is_static
from symbolic.ops.operation import Operation
from symbolic.ops.regions import Template
from symbolic.spec import Spec, product

__all__ = ["past"]


def past(node: Operation, facts: Inference) -> AnyLayer | None:
    """What is read of an array that was written to elsewhere, from the array before; a part that was written, itself.

    So a loop of `y[t] = f(y[t - 1])` passes its rows on, and nobody reads the arrays in between.
    """
    if not isinstance(node, GetItem) or not isinstance(node.operand, SetItem | AddAt) or not is_static(node.index):
        return None
    spec, out = facts.spec(node.operand), facts.spec(node)
    if not isinstance(spec, Spec) or not isinstance(out, Spec) or not spec.known or not out.known:
        return None
    if not out.shape and Ellipsis in node.index:
        return None  # NumPy gives an array without axes
    small = 2 * (product(out.shape or ()) or 0) <= (product(spec.shape or ()) or 0)
    base, added, found = node.operand, list[AnyLayer](), None
    row = node.index[0] if node.index and spec.shape else None
    while found is None and isinstance(base, SetItem | AddAt):
        places = [(1, base.index)] if isinstance(base, SetItem) else base.places
        if type(row) is int and _are_other_rows(row, places, spec.shape[0]):  # type: ignore[index]  # a known one
            base = base.operands[0]
            continue
        there = [base.operands[at] for at, index in places if not _are_apart(index, node.index, spec.shape or ())]
        same = [base.operands[at] for at, index in places if index == node.index]
        if len(there) != len(same) or not all(small and facts.spec(one) == out for one in same):
            break
        if isinstance(base, SetItem) and same:
            (found,) = same
        else:
            added[:0] = same
            base = base.operands[0]
    if base is node.operand and found is None:
        return None
    if found is not None and not is_number(found, out):
        found = GetItem.make((found,), ((),))
    total: Any = GetItem.make((base,), (node.index,)) if found is None else found
    for one in added:
        total = total + one
    return total  # type: ignore[no-any-return]  # a layer


def _are_other_rows(row: int, places: Sequence[tuple[int, Template]], size: Any) -> bool:
    """The usual case of a loop over rows, which is asked for each row and each that was written since."""
    for _, index in places:
        other = index[0] if index else None
        if type(other) is not int or not (row - other) % size:
            return False
    return True


def _are_apart(one: Template, other: Template, shape: Sequence[Any]) -> bool:
    """Whether two indices have no entry in common for certain."""
    if not all(isinstance(k, int | slice) for k in (*one, *other)):
        return False
    for a, b, size in zip(one, other, shape, strict=False):
        first, second = _reach(a, size), _reach(b, size)
        if not first or not second or first[-1] < second[0] or second[-1] < first[0]:
            return True
    return False


def _reach(one: int | slice, size: int) -> range:
    if isinstance(one, int):
        return range(one % size, one % size + 1)
    found = range(size)[one]
    return found[::-1] if found.step < 0 else found
