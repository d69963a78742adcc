"""Is work quicker with other threads, or alone? Both are timed now and then, and the quicker way is taken in between.

Two cores may be halves of one, memory may give no more to two than to one, and others may need the cores: what helps is
measured where it runs, not known before.
"""

from __future__ import annotations

import time

from symbolic.backends.native.text import Function, Value

__all__ = ["SITE", "noted", "now", "wanted"]

SITE = 3
"""Words that a place in the code needs: how often it ran, and how long that takes alone and with others."""
_TRIED = 12
"""Runs in which both ways have their turns; the times of the first ones, which warm up, are forgotten."""
_WARMING = 4
_AGAIN = 256
"""After so many runs each way has another turn."""
_CLOCK: int = getattr(time, "CLOCK_MONOTONIC", 1)


def now(f: Function) -> Value:
    """Nanoseconds of a clock that only goes forward."""
    f.module.declare("clock_gettime", "declare i32 @clock_gettime(i32, ptr)")
    place = f.variable(Value("i64", 2, "zeroinitializer"))
    f.make("i32", 0, f"call i32 @clock_gettime(i32 {_CLOCK}, {place})")
    seconds, rest = f.load(place, "i64"), f.load(f.at(place, f.index(1), "i64"), "i64")
    return f.add(f.mul(seconds, f.index(10**9)), rest)


def wanted(f: Function, site: Value) -> tuple[Value, Value]:
    """Which run this is, and whether the others are wanted in it."""
    run = f.load(site, "i64")
    f.store(f.add(run, f.index(1)), site, align=8)
    alone, shared = [f.load(f.at(site, f.index(k), "i64"), "i64") for k in (1, 2)]
    turn = f.compare("ne", f.bits("and", run, f.index(1)), f.index(0))
    first = f.compare("ult", run, f.index(_TRIED))
    again = f.compare("ult", f.bits("and", run, f.index(_AGAIN - 1)), f.index(2))
    return run, f.select(f.bits("or", first, again), turn, f.compare("ult", shared, alone))


def noted(f: Function, site: Value, run: Value, shared: Value, took: Value) -> None:
    """How long it took, together with how long it took before."""
    place = f.at(site, f.select(shared, f.index(2), f.index(1)), "i64")
    before = f.load(place, "i64")
    mean = f.bits("lshr", f.add(f.mul(before, f.index(3)), took), f.index(2))
    f.store(f.select(f.compare("ult", run, f.index(_WARMING)), took, mean), place, align=8)
