"""How are sums of products written for all slices at once? With one axis more, or one letter."""

from __future__ import annotations

from typing import Any

import numpy as np

from symbolic.batches import batches, stacking
from symbolic.ops.einsum import LETTERS, Einsum
from symbolic.ops.linalg import Solve
from symbolic.ops.linear import Dot, MatMul, TensorDot
from symbolic.slices import Slices


@batches(MatMul)
def matmul(node: Any, at: Slices) -> Any:
    """A vector is made a matrix, and the axis that this adds is taken away again."""
    ranks = at.ranks()
    if ranks is None:
        return None
    operands: list[Any] = list(at.operands)
    if ranks == [2, 1] and at.moved == [False, True]:
        return np.matmul(operands[1], np.swapaxes(operands[0], -1, -2))  # one product of matrices
    row, column = (ranks[k] == 1 and at.moved[k] for k in (0, 1))
    operands[0] = np.expand_dims(operands[0], -2) if row else operands[0]
    operands[1] = np.expand_dims(operands[1], -1) if column else operands[1]
    widths = [max(rank, 2) for rank in ranks]
    for k in (0, 1):
        missing = max(widths) - widths[k]
        if at.moved[k] and missing:
            operands[k] = np.expand_dims(operands[k], tuple(range(1, 1 + missing)))
    out = np.matmul(*operands)
    gone = ([-2 + (ranks[1] == 1 and not column)] if row else []) + ([-1] if column else [])
    return np.squeeze(out, tuple(gone)) if gone else out


@batches(Solve)
def solve(node: Any, at: Slices) -> Any:
    ranks = at.ranks()
    if ranks is None:
        return None
    if ranks[1] == 1 and at.moved[1]:
        right = at.instead(np.linalg.solve(node.operands[0], np.expand_dims(node.operands[1], -1)))
        return None if right is None else (np.squeeze(right[0], axis=-1), right[1])
    if ranks[1] == 1:
        return node.rebuilt(tuple(at.operands))
    return stacking(node, at)


@batches(Dot)
def dot(node: Any, at: Slices) -> Any:
    ranks = at.ranks()
    if ranks is None:
        return None
    one, other = node.operands
    if 0 in ranks:
        return at.instead(np.multiply(one, other))
    return at.instead(np.tensordot(one, other, axes=((ranks[0] - 1,), (max(ranks[1] - 2, 0),))))


@batches(TensorDot)
def tensordot(node: Any, at: Slices) -> Any:
    ranks = at.ranks()
    if ranks is None:
        return None
    first, second = list(LETTERS[: ranks[0]]), list(LETTERS[ranks[0] : sum(ranks)])
    pairs = node.pairs(*ranks)
    for a, b in zip(*pairs, strict=True):
        second[b] = first[a]
    rest = [letter for letter in (*first, *second) if (letter in first) != (letter in second)]
    return at.instead(Einsum.make(node.operands, (f"{''.join(first)},{''.join(second)}->{''.join(rest)}",)))


@batches(Einsum)
def einsum(node: Any, at: Slices) -> Any:
    letter = next(letter for letter in LETTERS if letter not in node.subscripts)
    terms, result = node.subscripts.split("->")
    named = [letter + term if moved else term for term, moved in zip(terms.split(","), at.moved, strict=True)]
    return Einsum.make(tuple(at.operands), (f"{','.join(named)}->{letter}{result}",))
