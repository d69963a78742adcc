"""Is a program quicker with other threads, or alone? Both are timed now and then, and the quicker way is taken between.

Two cores may be halves of one, memory may give no more to two than to one, and others may need the cores: what helps is
measured where it runs, not known before. All places of a program go one way: who is awake for one is there for others.
"""

from __future__ import annotations

import time

from symbolic.backends.native.text import Function, Value

__all__ = ["SITE", "noted", "now", "wanted"]

SITE = 3
"""Words that a program needs: how often it ran, and how long that takes alone and with others."""
_TRIED = 16
"""Runs in which both ways have their turns, two runs each, of which the first wakes the others and is not counted."""
_WARMING = 4
"""Runs whose times are forgotten when there are others."""
_AGAIN, _SELDOM = 256, 1024
"""After so many runs each way has another turn, and after so many where others made it take twice as long."""
_WEIGHT, _TURN = 3, 1
"""By how many bits less than the time known so far a new one counts: one of many, and one of a turn."""
_FAR = 2
"""So many bits more than the quicker way takes is the most that counts: a thread that lost its core says no more."""
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
    turn = f.compare("ne", f.bits("and", run, f.index(2)), f.index(0))
    return run, f.select(_in_turn(f, run, alone, shared), turn, f.compare("ult", shared, alone))


def _in_turn(f: Function, run: Value, alone: Value, shared: Value) -> Value:
    """Whether both ways have their turns."""
    slow = f.compare("ugt", shared, f.bits("shl", alone, f.index(1)))
    since = f.bits("and", run, f.select(slow, f.index(_SELDOM - 1), f.index(_AGAIN - 1)))
    again = f.compare("ult", since, f.index(4))
    return f.bits("or", f.compare("ult", run, f.index(_TRIED)), again)


def noted(f: Function, site: Value, run: Value, shared: Value, took: Value) -> None:
    """How long it took, together with how long it took before."""
    places = [f.at(site, f.index(k), "i64") for k in (1, 2)]
    place = f.select(shared, places[1], places[0])
    before, times = f.load(place, "i64"), [f.load(one, "i64") for one in places]
    turn, quicker, warming = (
        _in_turn(f, run, *times),
        f.intrinsic("umin", *times),
        f.compare("ult", run, f.index(_WARMING)),
    )
    counts = f.intrinsic("umin", took, f.bits("shl", quicker, f.index(_FAR)))
    bits = f.select(turn, f.index(_TURN), f.index(_WEIGHT))
    mean = f.add(before, f.bits("ashr", f.sub(counts, before), bits))
    first = f.bits("and", turn, f.compare("eq", f.bits("and", run, f.index(1)), f.index(0)))
    f.store(f.select(warming, took, f.select(first, before, mean)), place, align=8)
