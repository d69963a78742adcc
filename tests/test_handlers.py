"""Is a weight right, and nothing waiting for itself, wherever the handler of a signal comes in between?

Python runs a handler between two instructions of the main thread. Here it is a function that a tracer calls: at each
instruction of those files that change weights in turn, of all that a few steps and readings execute.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from types import FrameType
from typing import Any

import numpy as np
import pytest

import symbolic as s
from symbolic import Momentum, Weight, symbolic

FILES = ("changes.py", "leaves.py", "steps.py", "training.py", "optimizer.py", "states.py", "<symbolic")
MACHINES = [
    "numpy",
    pytest.param("native", marks=pytest.mark.skipif(find_spec("llvmlite") is None, reason="no llvmlite")),
]


class Interrupting:
    """Calls a handler before the n-th instruction; what is left of `n` says whether there were as many."""

    def __init__(self, n: int, handler: Callable[[], None]) -> None:
        self.n, self.handler = n, handler

    def __enter__(self) -> Interrupting:
        sys.settrace(self.called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def called(self, frame: FrameType, event: str, given: Any) -> Any:
        name = frame.f_code.co_filename
        if not any(part in name for part in FILES) or "symbolic" not in name:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self.stepped

    def stepped(self, frame: FrameType, event: str, given: Any) -> Any:
        if event == "opcode":
            self.n -= 1
            if self.n == 0:
                sys.settrace(None)
                self.handler()
        return self.stepped if self.n > 0 else None


def counting() -> tuple[Any, Weight, Any]:
    """A step over ones takes one from each entry; the weight is minus the count."""
    w = Weight(np.zeros(4))
    optimizer = Momentum(1.0, momentum=0.0)
    return symbolic(lambda x: np.sum(w * x), np.ndarray, returns=float).trainer(optimizer), w, optimizer


def steps_and_readings(step: Any, w: Weight, optimizer: Any) -> None:
    x = np.ones(4)
    step(x)
    assert w.value[0] == -float(optimizer.count)
    step(x)
    step(x)


def interrupted(machine: Any, handler: Callable[[Any, Weight, Any], None], n: int) -> tuple[bool, Any, Weight, Any]:
    with s.use(machine):
        step, w, optimizer = counting()
        for _ in range(4):
            step(np.ones(4))
        at = Interrupting(n, lambda: handler(step, w, optimizer))
        with at:
            steps_and_readings(step, w, optimizer)
        return at.n <= 0, step, w, optimizer


@pytest.mark.parametrize("machine", MACHINES)
def test_a_handler_reads_a_value_that_stays(machine: Any) -> None:
    held: list[Any] = []

    def look(step: Any, w: Weight, optimizer: Any) -> None:
        held.append((w.value, w.value.copy()))

    n, more = 0, True
    while more:
        n += 1
        more, step, w, optimizer = interrupted(machine, look, n)
        with s.use(machine):
            for _ in range(4):
                step(np.ones(4))
            assert optimizer.count == 11 and np.all(w.value == -11.0), n
        if more:
            array, copied = held.pop()
            assert np.array_equal(array, copied) and not array.flags.writeable, f"overwritten, at instruction {n}"
            assert np.all(copied == copied[0]) and -7.0 <= copied[0] <= -4.0, n
    assert n > 100
