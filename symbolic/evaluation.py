"""What does `net.forward` hand out? A tape over the slots of a program that has run as far as the outputs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from symbolic.context import here
from symbolic.errors import TapeError, warn
from symbolic.execution import Specialization, Timed, is_differentiable, placed, shaped, way_back
from symbolic.leaves import Weight
from symbolic.tape import Tape
from symbolic.training import move
from symbolic.values import entries, finished, native, read_only, restructured

if TYPE_CHECKING:
    from symbolic.network import Network


class Evaluation(Tape[Any, Any]):
    """The tape of a network's forward pass."""

    __slots__ = (
        "_deltas",
        "_inputs",
        "_layer",
        "_made",
        "_net",
        "_on",
        "_open",
        "_program",
        "_shared",
        "_slots",
        "_wanted",
    )

    def __init__(self, net: Network, tape: Tape[Any, Any], made: str) -> None:
        self._open, self._shared = False, [1]
        self._layer = net.layer  # the record does not hold it
        value = native(tape.value)
        self._net, self._made = net, made
        net.on_path(value, lambda on: self._start(on, tape, value))
        self._inputs = tape.duplicate()  # last: nothing can fail any more, so it will be closed
        self._open = True

    def _start(self, on: Specialization, tape: Tape[Any, Any], value: Any) -> None:
        """Run the forward part on one path."""
        self._on, net = on, self._net
        if here.trace is not None:
            for weight in on.weights:
                here.trace.read(weight)
        trainable = tape.is_trainable
        self._wanted = [k for k, leaf in enumerate(on.inputs) if trainable and is_differentiable(on.facts.spec(leaf))]
        self._program = on.taped(self._wanted).program
        weights = [weight.cell.snapshot() for weight in on.weights]
        captured = [np.array(one.fetch()) for one in on.captured]
        self._slots = self._program.slots([*entries(value), *weights, *captured, *[None] * len(on.outputs)])
        self._deltas: dict[Weight[Any, Any], Any] = {}
        mode = None if net.seconds is None else Timed(net.seconds, self._program.split)
        self._program.run(self._slots, 0, self._program.split, mode)

    @property
    def value(self) -> Any:
        """The output; arrays are read-only, since the way back needs them as they are."""
        self._check("its value was read")
        found = [read_only(self._slots[k]) for k in self._program.outputs[: len(self._on.outputs)]]
        return finished(self._layer, shaped(self._on.output, found))

    @property
    def is_trainable(self) -> bool:
        return bool(self._on.weights or self._wanted)

    def _check(self, act: str) -> None:
        if not self._open:
            raise TapeError(
                f"a closed tape was used: {act}", where=self._made, remedy="use the tape inside its `with` block"
            )

    def backward(self, delta: Any) -> None:
        self._check("backward")
        on = self._on
        slots = placed(on, self._program, self._slots, delta, self._made)
        mode = None if self._net.seconds is None else Timed(self._net.seconds, self._program.split)
        results = way_back(self._program, slots, len(on.outputs), mode)
        count = len(self._wanted)
        if count:  # the inputs first: if that fails, nothing has arrived here either
            arrived = dict(zip(self._wanted, results[:count], strict=True))
            deltas = iter([arrived.get(k) for k in range(len(on.inputs))])
            self._inputs.backward(restructured(self._inputs.value, deltas))
        for weight, one in zip(on.weights, results[count:], strict=True):
            self._deltas[weight] = self._deltas[weight] + one if weight in self._deltas else one

    def duplicate(self) -> Evaluation:
        self._check("duplicate")
        twin: Evaluation = object.__new__(Evaluation)
        for name in Evaluation.__slots__:
            setattr(twin, name, getattr(self, name))
        self._shared[0] += 1
        return twin

    def close(self) -> None:
        self._end(moves=True)

    def discard(self) -> None:
        if self._open:
            self._end(moves=False)

    def _end(self, moves: bool) -> None:
        self._check("close")
        self._open, self._slots = False, []
        self._shared[0] -= 1
        if self._shared[0]:
            return
        deltas = dict(self._deltas)
        self._deltas.clear()
        if not moves:
            self._inputs.discard()
            return
        try:
            move(list(deltas), list(deltas.values()), None)
        except BaseException:
            self._inputs.discard()
            raise
        self._inputs.close()

    def __del__(self) -> None:
        if getattr(self, "_open", False) and not sys.is_finalizing():
            warn(f"a tape was never closed; it was made at {self._made} (use `with net.forward(…) as tape:`)")
