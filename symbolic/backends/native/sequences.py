"""How are sequences convolved? As sums of products with windows, which are views of one of them, or of it in zeros."""

from __future__ import annotations

from symbolic.backends.native.access import View
from symbolic.backends.native.contracting import contract
from symbolic.backends.native.lowering import Lowered, NotLoops
from symbolic.plan import Instruction


def convolve(low: Lowered, one: Instruction) -> None:
    """At every place: the shorter sequence runs backwards along the longer one, which lies in zeros."""
    long, short = sorted(_operands(low, one), key=lambda view: -view.shape[0])
    kind, more = low.dtype(one.target), short.shape[0] - 1
    if more:
        low.guard(short)
        padded = low.fresh((long.shape[0] + 2 * more,), kind)
        low.bordered(padded, long, (more,), low.number(0.0, kind))
        long = low.views[padded]
    _along(low, one, long, low.moved(short, lambda x: x[::-1]))


def correlate(low: Lowered, one: Instruction) -> None:
    """Where the shorter one, the second, lies within the other."""
    _along(low, one, *_operands(low, one))


def _operands(low: Lowered, one: Instruction) -> tuple[View, View]:
    kind = low.dtype(one.target)
    if kind.kind != "f":
        raise NotLoops(f"a convolution of {kind} is not written as loops")
    x, y = (low.cast(low.views[k], kind) for k in one.sources)
    return x, y


def _along(low: Lowered, one: Instruction, x: View, y: View) -> None:
    size, (step,) = y.shape[0], x.strides
    count = x.shape[0] - size + 1
    if count < 1:
        raise NotLoops("the second sequence is the longer one")
    contract(low, one.target, View(x.base, (count, size), (step, step), x.offset), y, "ij", "j", "i")
