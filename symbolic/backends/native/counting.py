"""What is computed of sizes while a function is written? Known numbers are folded, unknown ones become lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from symbolic.backends.native.text import Function, Value


def known(a: Value) -> int | None:
    """The number, if it is one that is known when writing."""
    return int(a.name) if a.name.lstrip("-").isdigit() else None


def plus(f: Function, a: Value, b: Value) -> Value:
    x, y = known(a), known(b)
    if x is not None and y is not None:
        return f.index(x + y)
    if x == 0 or y == 0:
        return b if x == 0 else a
    return f.two("add nsw", a, b)


def minus(f: Function, a: Value, b: Value) -> Value:
    x, y = known(a), known(b)
    if x is not None and y is not None:
        return f.index(x - y)
    return a if y == 0 else f.two("sub nsw", a, b)


def times(f: Function, a: Value, b: Value) -> Value:
    x, y = known(a), known(b)
    if x is not None and y is not None:
        return f.index(x * y)
    if x == 0 or y == 0:
        return f.index(0)
    if x == 1 or y == 1:
        return b if x == 1 else a
    return f.two("mul nsw", a, b)


def over(f: Function, a: Value, b: int) -> Value:
    """⌊a / b⌋ of numbers that are not negative."""
    x = known(a)
    return f.index(x // b) if x is not None else a if b == 1 else f.two("udiv", a, f.index(b))


def odd(f: Function, a: Value) -> Value:
    """The number itself if it is odd, else the next one."""
    x = known(a)
    return f.index(x | 1) if x is not None else f.bits("or", a, f.index(1))


def least(f: Function, a: Value, b: Value) -> Value:
    x, y = known(a), known(b)
    if x is not None and y is not None:
        return f.index(min(x, y))
    return f.intrinsic("smin", a, b)


def inner(f: Function, base: Value, *terms: tuple[Value, Value]) -> Value:
    """base + Σ index · stride."""
    for index, stride in terms:
        base = plus(f, base, times(f, index, stride))
    return base


def lanes_within(f: Function, left: Value, lanes: int) -> Value | None:
    """The mask of the first `left` lanes; None if all are meant, as far as is known."""
    count = known(left)
    if count is None:
        return f.compare("slt", f.iota("i64", lanes), f.splat(left, lanes))
    if count >= lanes:
        return None
    bits = ", ".join(f"i1 {'true' if k < count else 'false'}" for k in range(lanes))
    return Value("i1", lanes, f"<{bits}>")


def set_lanes(mask: Value | None, lanes: int) -> list[int]:
    """Which lanes a mask of `lanes_within` means, where that is known; without a mask all.

    >>> set_lanes(Value("i1", 4, "<i1 true, i1 true, i1 true, i1 false>"), 4)
    [0, 1, 2]
    """
    if mask is None:
        return list(range(lanes))
    bits = mask.name.strip("<>").split(", ")
    assert len(bits) == lanes, "a mask that is only known when the code runs"
    return [k for k, bit in enumerate(bits) if bit == "i1 true"]


@contextmanager
def each(f: Function, start: Value, stop: Value, step: int = 1) -> Iterator[Value]:
    """A loop, or its body alone where that is known to be run once."""
    first, last = known(start), known(stop)
    if first is not None and last is not None and first < last <= first + step:
        yield start
        return
    with f.loop(start, stop, step) as i:
        yield i
