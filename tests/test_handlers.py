"""Is a weight right, and nothing waiting for itself, wherever the handler of a signal comes in between?

What a step calls itself (an observer, a schedule) comes in between in the same way, always at one place.

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
from symbolic import Momentum, SymbolicError, Weight, symbolic

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


def steps_and_readings(step: Any, w: Weight, optimizer: Any, still: bool) -> None:
    x = np.ones(4)
    step(x)
    value, count = w.value, optimizer.count
    assert value[0] == -float(count) or not still  # a step in between is counted by the second alone
    step(x)
    step(x)


def interrupted(
    machine: Any, handler: Callable[[Any, Weight, Any], None], n: int, still: bool = True
) -> tuple[bool, Any, Weight, Any]:
    with s.use(machine):
        step, w, optimizer = counting()
        for _ in range(4):
            step(np.ones(4))
        at = Interrupting(n, lambda: handler(step, w, optimizer))
        with at:
            steps_and_readings(step, w, optimizer, still)
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


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("way", ["step", "run", "train", "tape", "assign"])
def test_a_handler_moves_a_weight_between_two_steps_or_is_refused(machine: Any, way: str) -> None:
    """Each update counts, whoever made it; what is refused has changed nothing, and the step goes on."""
    ways: dict[str, Callable[[Any, Weight, Any], Any]] = {
        "step": lambda step, w, optimizer: step(np.ones(4)),
        "run": lambda step, w, optimizer: step.run(1, np.ones(4)),
        "train": lambda step, w, optimizer: step.layer.train(np.ones(4), optimizer=optimizer),
        "tape": taped,
        "assign": lambda step, w, optimizer: w.assign(w.value - 1.0),
    }
    seen: list[bool] = []

    def move(step: Any, w: Weight, optimizer: Any) -> None:
        try:
            ways[way](step, w, optimizer)
        except SymbolicError as error:
            assert all((error.seen, error.where.startswith(("test_handlers", "L")), error.remedy)), str(error)
            seen.append(False)
        else:
            seen.append(True)

    n, more = 0, True
    while more:
        n += 1 if n < 20 else 13
        before = sum(seen)
        more, step, w, optimizer = interrupted(machine, move, n, still=False)
        made = sum(seen) - before
        with s.use(machine):
            for _ in range(4):
                step(np.ones(4))
            value, counted = w.value, optimizer.count
        assert np.all(value == -11.0 - made), (n, made, value)
        assert counted == (11 if way == "assign" else 11 + made), n
    assert len(seen) > 15 and not all(seen) and any(seen)


def taped(step: Any, w: Weight, optimizer: Any) -> None:
    with optimizer, step.layer.forward(np.ones(4)) as tape:
        tape.backward(1.0)


MOVES: dict[str, Callable[[Any, Any, Weight, Any], Any]] = {
    "step": lambda step, other, w, optimizer: step(np.ones(4)),
    "another kind": lambda step, other, w, optimizer: step(np.ones((2, 4))),
    "run": lambda step, other, w, optimizer: step.run(2, np.ones(4)),
    "train": lambda step, other, w, optimizer: step.layer.train(np.ones(4), optimizer=optimizer),
    "tape": lambda step, other, w, optimizer: taped(step, w, optimizer),
    "another network": lambda step, other, w, optimizer: other(np.ones(4)),
    "assign": lambda step, other, w, optimizer: w.assign(np.zeros(4)),
    "optimizer": lambda step, other, w, optimizer: setattr(step, "optimizer", Momentum(2.0)),
    "state": lambda step, other, w, optimizer: optimizer.load_state_dict({}, {"count": np.array(0)}),
}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("where", ["observer", "schedule"])
@pytest.mark.parametrize("way", MOVES)
def test_what_a_step_calls_moves_nothing_that_the_step_moves(machine: Any, where: str, way: str) -> None:
    """It may read, and train another network; the step in the middle of which it came goes on."""
    w, apart = Weight(np.zeros(4)), Weight(np.zeros(4))
    found: list[Any] = []
    armed = False

    def called(value: Any) -> float:
        nonlocal armed
        if armed:
            armed = False  # a forward pass calls it, too
            before = w.value.copy()
            with pytest.raises(SymbolicError, match=r"in the middle of .*, in .*test_handlers.py:\d+; let the handler"):
                MOVES[way](step, other, w, optimizer)
            elsewhere(np.ones(4))
            found.append((before, w.value.copy()))
        return 1.0

    with s.use(machine):
        optimizer = Momentum(called if where == "schedule" else 1.0, momentum=0.0)
        net: Any = symbolic(lambda x: np.sum(w * x), np.ndarray, returns=float)
        step = (net.on_output(called) if where == "observer" else net).trainer(optimizer)
        other = symbolic(lambda x: np.sum(w * w * x), np.ndarray, returns=float).trainer(Momentum(1.0, momentum=0.0))
        elsewhere: Any = symbolic(lambda x: np.sum(apart * x), np.ndarray, returns=float).trainer(Momentum(1.0))
        for one in (True, False, True, False, False, True, True):
            armed = one
            step(np.ones(4))
        assert np.all(w.value == -7.0) and optimizer.count == 7
        assert len(found) >= 4 and all(np.array_equal(a, b) for a, b in found)
        assert np.all(apart.value != 0.0)
