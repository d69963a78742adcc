"""What does `net.forward` hand out? A tape over the slots of a program that has run as far as the outputs."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symbolic.errors import ShapeError, TapeError, warn
from symbolic.execution import Timed, is_differentiable, shaped, way_back
from symbolic.leaves import Weight
from symbolic.ops.passing import Tuple
from symbolic.tape import Tape
from symbolic.training import move
from symbolic.values import entries, finished, fitted, native, read_only, restructured

if TYPE_CHECKING:
    from symbolic.network import Network


class Evaluation(Tape[Any, Any]):
    """The tape of a network's forward pass."""

    __slots__ = ("_deltas", "_inputs", "_made", "_net", "_on", "_open", "_program", "_shared", "_slots", "_wanted")

    def __init__(self, net: Network, tape: Tape[Any, Any], made: str) -> None:
        value = native(tape.value)
        self._on = net.specialization(value)
        self._net, self._made = net, made
        self._inputs = tape.duplicate()
        leaves = self._on.inputs
        self._wanted = [
            k for k, leaf in enumerate(leaves) if tape.is_trainable and is_differentiable(self._on.facts.spec(leaf))
        ]
        self._program = self._on.taped(self._wanted).program
        weights = [weight.cell.snapshot() for weight in self._on.weights]
        captured = [np.array(one.fetch()) for one in self._on.captured]
        deltas = [None] * len(self._on.outputs)
        self._slots = self._program.slots([*entries(value), *weights, *captured, *deltas])
        self._deltas: dict[Weight[Any, Any], Any] = {}
        self._open, self._shared = False, [1]
        mode = None if net.seconds is None else Timed(net.seconds, self._program.split)
        begin = time.perf_counter()
        self._program.run(self._slots, 0, self._program.split, mode)
        net.total[0] += time.perf_counter() - begin
        self._open = True

    @property
    def value(self) -> Any:
        """The output; arrays are read-only, since the way back needs them as they are."""
        self._check("its value was read")
        found = [read_only(self._slots[k]) for k in self._program.outputs[: len(self._on.outputs)]]
        return finished(self._net.layer, shaped(self._on.output, found))

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
        deltas = list(entries(delta)) if isinstance(self._on.output, Tuple) else [delta]
        specs = [self._on.facts.spec(one) for one in self._on.outputs]
        if len(deltas) != len(specs):
            raise ShapeError(
                f"backward got {len(deltas)} deltas for {len(specs)} outputs",
                where=self._made,
                remedy="give one delta for each entry of the output",
            )
        slots = list(self._slots)
        first = len(self._on.leaves)
        slots[first : first + len(deltas)] = [
            fitted(one, spec, slots[k], self._made)
            for one, spec, k in zip(deltas, specs, self._program.outputs, strict=False)
        ]
        net, mode = self._net, None
        if net.seconds is not None:
            mode = Timed(net.seconds, self._program.split)
        begin = time.perf_counter()
        results = way_back(self._program, slots, len(self._on.outputs), mode)
        net.total[1] += time.perf_counter() - begin
        self._spread(results)

    def _spread(self, results: Sequence[Any]) -> None:
        count = len(self._wanted)
        for weight, delta in zip(self._on.weights, results[count:], strict=True):
            self._deltas[weight] = self._deltas[weight] + delta if weight in self._deltas else delta
        if count:
            arrived = dict(zip(self._wanted, results[:count], strict=True))
            flat_deltas = iter([arrived.get(k) for k in range(len(self._on.inputs))])
            value = self._inputs.value
            self._inputs.backward(restructured(value, flat_deltas))

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
        self._open = False
        self._shared[0] -= 1
        if self._shared[0]:
            return
        deltas, self._slots = dict(self._deltas), []
        self._deltas.clear()
        if moves:
            move(list(deltas), list(deltas.values()), None)
            self._inputs.close()
        else:
            self._inputs.discard()

    def __del__(self) -> None:
        if getattr(self, "_open", False) and not sys.is_finalizing():
            warn(f"a tape was never closed; it was made at {self._made} (use `with net.forward(…) as tape:`)")
