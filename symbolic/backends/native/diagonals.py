"""Which operations look at diagonals and triangles? A diagonal is written to; a triangle is chosen by a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.backends.native.access import View, whole
from symbolic.backends.native.lowering import Lowered, NotLoops
from symbolic.plan import Instruction


def diag(low: Lowered, one: Instruction) -> None:
    """The diagonal of a matrix, which is a view; or the matrix of a vector."""
    node: Any = one.node
    view = low.views[one.sources[0]]
    if len(view.shape) == 2:
        low.views[one.target] = low.moved(view, lambda x: np.diagonal(x, node.k))
    else:
        _along(low, one, (node.k, 0, 1))


def like(low: Lowered, one: Instruction) -> None:
    """Zeros with a diagonal."""
    _along(low, one, one.node.parameters)


def _along(low: Lowered, one: Instruction, which: Any) -> None:
    kind, view = low.dtype(one.target), low.views[one.sources[0]]
    if kind.kind != "f" or low.dtype(one.sources[0]) != kind:
        raise NotLoops(f"a diagonal of {kind} is not written")
    low.filled(one.target, low.number(0.0, kind))
    low.write(low.region(one.target, lambda x: np.diagonal(x, *which)), view)


def eye(low: Lowered, one: Instruction) -> None:
    """A unit matrix."""
    kind, size = low.dtype(one.target), low.sizes(one.target)[0]
    if kind.kind != "f":
        raise NotLoops(f"a diagonal of {kind} is not written")
    low.filled(one.target, low.number(0.0, kind))
    low.write(low.region(one.target, np.diagonal), low.number(1.0, kind).over((size,)))


def triangle(low: Lowered, one: Instruction) -> None:
    node: Any = one.node
    kind, shape = low.dtype(one.target), low.sizes(one.target)
    if kind.kind != "f" or low.dtype(one.sources[0]) != kind:
        raise NotLoops(f"a triangle of {kind} is not written")
    mask = _mask(low, shape[-2:], node.functions[0], int(node.k))
    operands = [mask, low.views[one.sources[0]], low.number(0.0, kind)]
    low.point(one.target, "where", operands, (np.dtype(bool), kind, kind))


def mirrored(low: Lowered, one: Instruction) -> None:
    """One triangle, and its mirror image in the place of the other."""
    node: Any = one.node
    kind, view = low.dtype(one.target), low.views[one.sources[0]]
    if kind.kind != "f" or low.dtype(one.sources[0]) != kind:
        raise NotLoops(f"a triangle of {kind} is not written")
    mask = _mask(low, view.shape[-2:], np.tril if node.lower else np.triu, 0)
    image = low.moved(view, lambda x: np.swapaxes(x, -1, -2))
    chosen = low.point(low.fresh(view.shape, kind), "where", [mask, view, image], (np.dtype(bool), kind, kind))
    low.point(one.target, "add", [chosen, low.number(0.0, kind)], (kind, kind))  # no zero is negative


def _mask(low: Lowered, shape: tuple[int, ...], function: Any, k: int) -> View:
    """Which entries a triangle has."""
    key = shape, function, k
    if key not in low.masks:
        value = low.fresh(shape, np.dtype(bool))
        low.constants[value] = function(np.ones(shape, bool), k)
        low.masks[key] = low.views[value] = whole(value, shape)
    return low.masks[key]
