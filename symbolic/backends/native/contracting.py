"""Which sums of products are an operation? Einstein's letters say it for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from symbolic.backends.native.access import Sizes, View
from symbolic.backends.native.contract import Plan
from symbolic.backends.native.lowering import Contract, Lowered, NotLoops
from symbolic.backends.native.matrices import matrices
from symbolic.backends.native.panels import layout, preferred
from symbolic.ops.axes import Permuted
from symbolic.ops.einsum import Einsum
from symbolic.ops.linear import Dot, TensorDot
from symbolic.ops.sliding import Unwindows
from symbolic.plan import Instruction

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def product(low: Lowered, one: Instruction) -> None:
    """`MatMul`, `Dot`, `TensorDot`, `Einsum`."""
    node: Any = one.node
    kind = low.dtype(one.target)
    if kind.kind != "f" or any(low.dtype(k).kind not in "fiub" for k in one.sources):
        raise NotLoops("such a sum of products is not written as loops")
    if len(one.sources) == 2:
        left, right = low.cast(low.views[one.sources[0]], kind), low.cast(_laid(low, one.sources[1]), kind)
        names = letters(node, left.shape, right.shape)
        before = len(low.tasks)
        try:
            if names is not None:
                contract(low, one.target, left, right, *names)
                _turned(low, one, left, right, names)
                return
        except NotLoops:
            del low.tasks[before:]
    if not isinstance(node, Einsum):
        raise NotLoops("such a sum of products is not written as loops")
    _one_by_one(low, one, node)


def _one_by_one(low: Lowered, one: Instruction, node: Einsum) -> None:
    """Any Einstein sum, as NumPy's own loop has it: every product, from the left to the right, and their sum.

    A sum of products begins with 0, so that no single one of them is -0.
    """
    kind = low.dtype(one.target)
    views = [low.cast(low.views[k], kind) for k in one.sources]
    terms, result = node.terms([len(view.shape) for view in views])
    sizes: dict[str, int] = {}
    for view, term in zip(views, terms, strict=True):
        for name, size in zip(term, view.shape, strict=True):
            if name in sizes and sizes[name] != size:
                raise NotLoops("its sizes differ")
            sizes[name] = size
    order = [*result, *[name for name in sizes if name not in result]]
    shape = tuple([sizes[name] for name in order])
    spread = [_spread(view, term, order, sizes) for view, term in zip(views, terms, strict=True)]
    total, axes = spread[0], tuple(range(len(result), len(order)))
    for view in spread[1:]:
        total = low.point(low.fresh(shape, kind), "multiply", [total, view], (kind, kind))
    if axes:
        low.reduce(total, "add", axes, kind, one.target)
    else:
        low.point(one.target, "add", [total, low.number(0.0, kind)], (kind, kind))


def _turned(low: Lowered, one: Instruction, left: View, right: View, names: tuple[str, str, str]) -> None:
    """Written in the order in which it is read, where it is no product of matrices and only its transposition is read.

    So the results of a convolution lie image by image, as what follows walks them. Not where panels are better, whose
    vectors go on from one image to the next.
    """
    task, before, out = low.tasks[-1], len(low.tasks), names[2]
    readers = [other for other in low.program.instructions if one.target in other.sources]
    if not isinstance(task, Contract) or matrices(task) is not None or low.uses[one.target] != 1 or len(out) < 2:
        return
    if any(preferred(task, bytes // task.dtype.itemsize) is not None for bytes in _VECTORS):
        return
    if not readers or not isinstance(readers[0].node, Permuted):
        return
    view = low.moved(low.views[one.target], readers[0].node.evaluate)
    shape, steps = low.sizes(one.target), low.views[one.target].strides
    order = [steps.index(step) for step in view.strides] if len(set(steps)) == len(out) else []
    if 1 in shape or sorted(order) != list(range(len(out))) or order[-1] != len(out) - 1:
        return
    if any(
        isinstance(other.node, Unwindows) for other in low.program.instructions if readers[0].target in other.sources
    ):
        return
    place = low.fresh(tuple([shape[k] for k in order]), low.dtype(one.target))
    contract(low, place, left, right, names[0], names[1], "".join([out[k] for k in order]))
    if len(low.tasks) != before + 1:  # it has copied an operand
        del low.tasks[before:]
        return
    del low.tasks[before - 1], low.products[one.target], low.products[place]
    made = low.views[place]
    low.views[one.target] = View(place, shape, tuple([made.strides[order.index(k)] for k in range(len(order))]))


_OFTEN = 8
"""Products with one transposed matrix beyond which a copy of it, whose rows lie in one piece, is worth its time."""


def _laid(low: Lowered, k: int) -> View:
    """The right operand; laid out anew where many products read it against the order of its memory."""
    view = low.views[k]
    if low.uses[k] < _OFTEN or len(view.shape) < 2 or view.strides[-1] in (0, 1) or view.shape[-1] == 1:
        return view
    if view not in low.laid:
        low.laid[view] = low.copied(view, low.dtype(k), always=True)
    return low.laid[view]


def contract(low: Lowered, target: int, left: View, right: View, one: str, other: str, out: str) -> None:
    """By Einstein's convention: the letters of the left, the right and the result."""
    found: dict[str, int] = {}
    for view, names in ((left, one), (right, other)):
        for name, size in zip(names, view.shape, strict=True):
            if found.get(name, 1) != 1 and size not in (1, found[name]):
                raise NotLoops("its sizes differ")
            found[name] = max(size, found.get(name, 1))
    if any(len(set(names)) != len(names) for names in (one, other, out)):
        raise NotLoops("it takes a diagonal")
    summed = [name for name in dict.fromkeys(one + other) if name not in out]
    if any(name not in one or name not in other for name in summed):
        raise NotLoops("it sums one operand alone")
    order = [*out, *summed]
    domain = tuple([found[name] for name in order])

    def task(left: View, right: View, one: str, other: str) -> Contract:
        operands = (_spread(left, one, order, found), _spread(right, other, order, found))
        return Contract(target, domain, operands, tuple(range(len(out), len(order))), low.dtype(target))

    given = task(left, right, one, other)
    if prod(domain) > _COPYABLE and _is_copied(given):
        both = [name for name in out if name in one and name in other]
        mine = "".join([*both, *[name for name in out if name in one and name not in both], *summed])
        yours = "".join([*both, *summed, *[name for name in out if name in other and name not in both]])
        before = len(low.tasks)
        given = task(_ordered(low, left, one, mine), _ordered(low, right, other, yours), mine, yours)
        if matrices(given) is None:
            del low.tasks[before:]
            given = task(left, right, one, other)
    low.products[target] = len(low.tasks)
    low.tasks.append(given)
    low.made(target)


def _is_copied(task: Contract) -> bool:
    """Whether no kernel reads it as it lies."""
    return matrices(task) is None and Plan(task).writer(_LANES) is None and layout(task, _LANES) is None


_VECTORS = (16, 32, 64)
"""Bytes of the vectors that there are."""
_COPYABLE, _LANES = 1 << 16, 8
"""Products beyond which operands that no kernel reads as they lie are copied; lanes of the usual vector."""


def _ordered(low: Lowered, view: View, names: str, wanted: str) -> View:
    """A copy whose axes are in another order."""
    places = [names.index(name) for name in wanted if name in names]
    moved = View(
        view.base, tuple([view.shape[k] for k in places]), tuple([view.strides[k] for k in places]), view.offset
    )
    return low.copied(moved, low.dtype(view.base))


def _spread(view: View, names: str, order: Sequence[str], found: dict[str, int]) -> View:
    """The view over all axes: where it has none it stays where it is, and where it has one twice it is a diagonal."""
    strides: dict[str, int] = {}
    for name, size, stride in zip(names, view.shape, view.strides, strict=True):
        strides[name] = strides.get(name, 0) + (stride if size != 1 else 0)
    shape = tuple([found[name] for name in order])
    return View(view.base, shape, tuple([strides.get(name, 0) for name in order]), view.offset)


def letters(node: Any, x: Sizes, y: Sizes) -> tuple[str, str, str] | None:
    """The letters of the left operand, the right one and the result."""
    if isinstance(node, Einsum):
        given, _, out = node.subscripts.partition("->")
        one, _, other = given.partition(",")
        return None if "." in node.subscripts else (one, other, out)
    m, n = len(x), len(y)
    if m == 0 or n == 0:
        return None
    if isinstance(node, TensorDot):
        return _tensordot(node, m, n)
    if isinstance(node, Dot):
        one, lead, last = _ALPHABET[: m - 1] + "z", _ALPHABET[m : m + max(n - 2, 0)], "y" if n > 1 else ""
        return one, f"{lead}z{last}", one[:-1] + lead + last
    stack = _ALPHABET[: max(m, n, 2) - 2]
    row, column = "x" if m > 1 else "", "y" if n > 1 else ""
    mine, yours = (stack[len(stack) - max(rank - 2, 0) :] for rank in (m, n))
    return f"{mine}{row}z", f"{yours}z{column}", f"{stack}{row}{column}"


def _tensordot(node: Any, m: int, n: int) -> tuple[str, str, str]:
    first, second = node.pairs(m, n)
    one = _ALPHABET[:m]
    names = dict(zip(second, [one[a] for a in first], strict=True))
    other = "".join([names.get(k, _ALPHABET[m + k]) for k in range(n)])
    free = [c for k, c in enumerate(one) if k not in first] + [c for k, c in enumerate(other) if k not in second]
    return one, other, "".join(free)


def added(low: Lowered, one: Instruction) -> bool:
    """A sum with a product of matrices that nobody else reads: the product begins with the other operand."""
    views = [low.views[k] for k in one.sources]
    kinds = {low.dtype(k) for k in (*one.sources, one.target)}
    if len(kinds) != 1 or any(view.shape != low.sizes(one.target) for view in views) or len(set(one.sources)) == 1:
        return False
    places = sorted([(low.products[k], k) for k in one.sources if low.uses[k] == 1 and k in low.products], reverse=True)
    for at, k in places:
        task, other = low.tasks[at] if at < len(low.tasks) else None, views[one.sources[0] == k]
        if not isinstance(task, Contract) or task.target != k:
            continue  # it was taken back
        begun = task._replace(target=one.target, operands=(*task.operands[:2], other))
        if len(task.operands) == 2 and low.views[k].whole and matrices(begun) is not None:
            low.tasks.append(begun)  # nobody reads the product without the sum any more: it is not needed
            low.made(one.target)
            return True
    return False
