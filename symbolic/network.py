"""What happens when a network is called? Its traces are searched, the right program runs, tapes move weights.

This is the runtime that `Layer`'s methods rest on.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from symbolic.context import here, inside, source, user_frame
from symbolic.errors import DtypeError, ShapeError, SymbolicError, TapeError, _place, warn
from symbolic.execution import Executable, Specialization, Timed, delta_of, flat, is_differentiable, shaped
from symbolic.inference import Inference
from symbolic.layer import AnyLayer, Layer, cannot, install
from symbolic.leaves import Identity, Literal, Projection, Weight, like, set_once
from symbolic.literal import as_layer
from symbolic.ops.families import Item, Tuple
from symbolic.ops.operation import Operation, topological
from symbolic.spec import AnySpec, Spec, describe, key_of, show, spec_of
from symbolic.tape import Tape
from symbolic.trace import Tracing, constant_value, trace
from symbolic.training import Trainer, move

_TRACES = 64  # kept for each layer
_KEYS = 256  # specs of inputs for which programs are kept


class Network:
    """A layer's traces, and its specializations by the specs of the inputs."""

    def __init__(self, layer: AnyLayer) -> None:
        self.layer = layer
        self.traces: list[Tracing] = []
        self.table: dict[Any, list[Specialization]] = {}
        self.seconds: dict[str, list[float]] | None = None
        self.total = [0.0, 0.0]
        self.told = False

    def specialization(self, value: Any) -> Specialization:
        """The programs for an input; a new trace where no old one would come out the same."""
        key = key_of(value)
        for found in self.table.get(key, ()):
            if found.tracing.fresh():
                return found
        found = self._reused(value) or self._traced(value)
        while len(self.table) >= _KEYS:
            self.table.pop(next(iter(self.table)))
        self.table[key] = [one for one in self.table.get(key, ()) if not one.tracing.moving][-7:] + [found]
        return found

    def _reused(self, value: Any) -> Specialization | None:
        for tracing in reversed(self.traces):
            if not tracing.fresh():
                continue
            values = list(entries(value))
            if len(values) != len(tracing.leaves):
                continue
            facts = Inference(dict(zip(tracing.leaves, map(spec_of, values), strict=True)))
            if tracing.admits(facts):
                return self._checked(tracing, facts)
        return None

    def _traced(self, value: Any) -> Specialization:
        names = getattr(self.layer, "input_names", ())
        leaves = [self._leaf(k, names) for k in range(sum(1 for _ in entries(value)))]
        if len(leaves) == 1:
            leaves = [Identity(names[0] if names else "")]
        facts = Inference(dict(zip(leaves, map(spec_of, entries(value)), strict=True)))
        argument = structured(value, iter(leaves))
        moving = any(one.moving for one in self.traces)
        tracing = trace(lambda: self.layer.apply(argument), leaves, facts, twice=not moving)
        if moving:
            tracing.moving = self.traces[-1].moving
        self._keep(tracing)
        return self._checked(tracing, facts)

    def _leaf(self, k: int, names: Sequence[str]) -> AnyLayer:
        return Projection(k, names[k] if k < len(names) else "")

    def _keep(self, tracing: Tracing) -> None:
        if tracing.moving:
            self.traces = []
            if not self.told:
                self.told = True
                warn(
                    f"{self.layer!r} differs from run to run, at {tracing.moving}; it is traced anew at each call "
                    "(pass what changes as an argument to avoid that)",
                    stacklevel=6,
                )
        self.traces = [*self.traces[-_TRACES:], tracing]

    def _checked(self, tracing: Tracing, facts: Inference) -> Specialization:
        for check in tracing.checks:
            check(facts)
        facts.spec(tracing.output)  # wrong shapes are found here, before anything runs
        return Specialization(tracing, facts)

    # ------------------------------------------------------------------ running
    def execute(self, executable: Executable, values: Sequence[Any]) -> Sequence[Any]:
        if self.seconds is None:
            return executable(values)
        start = time.perf_counter()
        results = executable(values, (), Timed(self.seconds, executable.program.split))
        self.total[0] += time.perf_counter() - start
        return results


def network(layer: AnyLayer) -> Network:
    found = getattr_slot(layer)
    if found is None:
        found = Network(layer)
        set_once(layer, "_network", found)
    return found


def getattr_slot(layer: AnyLayer) -> Network | None:
    try:
        return object.__getattribute__(layer, "_network")  # type: ignore[no-any-return]
    except AttributeError:
        return None


def entries(value: Any) -> Iterator[Any]:
    """The arrays and numbers of a (nested) tuple."""
    if type(value) is tuple:
        for one in value:
            yield from entries(one)
    else:
        yield value


def structured(value: Any, leaves: Iterator[AnyLayer]) -> AnyLayer:
    """The same nesting with a leaf in the place of each entry."""
    if type(value) is tuple:
        return Tuple.make(tuple([structured(one, leaves) for one in value]))  # type: ignore[no-any-return]
    return next(leaves)


def native(value: Any) -> Any:
    """An input as the programs take it: lists are arrays, our own tapes are opened."""
    if isinstance(value, (Literal, Weight)):
        return value.value
    if isinstance(value, list):
        return np.asarray(value)
    if type(value) is tuple:
        return tuple(native(one) for one in value)
    if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
        return _plain(value)
    return value


def _plain(value: np.ndarray[Any, Any]) -> Any:
    if isinstance(value, np.ma.MaskedArray):
        raise DtypeError(
            "the input is a masked array, whose mask would be lost",
            remedy="pass .filled(value) or .compressed(), or the data and the mask as two inputs",
        )
    return np.asarray(value)


# --------------------------------------------------------------------------- tapes


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
        deltas = [None] * len(self._on.outputs)
        self._slots = self._program.slots([*entries(value), *weights, *deltas])
        self._deltas: dict[Weight[Any, Any], Any] = {}
        self._open, self._shared = True, [1]
        self._run(0, self._program.split)

    def _run(self, start: int, stop: int, mode: Any = None, slots: Any = None) -> None:
        net = self._net
        if net.seconds is not None:
            mode = Timed(net.seconds, self._program.split)
        begin = time.perf_counter()
        self._program.run(self._slots if slots is None else slots, start, stop, mode)
        if net.seconds is not None:
            net.total[start > 0] += time.perf_counter() - begin

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
        first = len(self._on.inputs) + len(self._on.weights)
        slots[first : first + len(deltas)] = [
            fitted(one, spec, slots[k], self._made)
            for one, spec, k in zip(deltas, specs, self._program.outputs, strict=False)
        ]
        self._spread(self._gradients(slots))

    def _gradients(self, slots: list[Any]) -> list[Any]:
        """Plainly, and with care if something is not finite: see `Executable.derivatives`."""
        from symbolic.execution import finite
        from symbolic.plan import CAREFUL

        program, primal = self._program, len(self._on.outputs)
        plain = list(slots)
        with np.errstate(all="ignore"):
            self._run(program.split, len(program.instructions), None, plain)
        results = program.results(plain)[primal:]
        if finite(results):
            return results
        self._run(program.split, len(program.instructions), CAREFUL, slots)
        return program.results(slots)[primal:]

    def _spread(self, results: list[Any]) -> None:
        count = len(self._wanted)
        for weight, delta in zip(self._on.weights, results[count:], strict=True):
            self._deltas[weight] = self._deltas[weight] + delta if weight in self._deltas else delta
        if count:
            arrived = dict(zip(self._wanted, results[:count], strict=True))
            flat_deltas = iter([arrived.get(k) for k in range(len(self._on.inputs))])
            value = self._inputs.value
            self._inputs.backward(_restructured(value, flat_deltas))

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


def _restructured(value: Any, deltas: Iterator[Any]) -> Any:
    return tuple(_restructured(one, deltas) for one in value) if type(value) is tuple else next(deltas)


def read_only(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


def fitted(delta: Any, spec: AnySpec, value: Any, made: str) -> Any:
    """A delta in the shape and dtype of its datum."""
    want = delta_of(spec)
    if not isinstance(want, Spec):
        return delta
    shape, got = np.shape(value), np.shape(delta)
    try:
        fits = np.broadcast_shapes(shape, got) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"backward got a delta of shape {show(got)} for an output of shape {show(shape)}",
            where=made,
            remedy="give a delta of the output's shape, or a number",
        )
    if want.python is not None:
        return want.python(delta)
    return np.array(np.broadcast_to(np.asarray(delta, want.dtype), shape))[()]


def finished(layer: AnyLayer, value: Any) -> Any:
    """The value as the native type that the layer's hints declare."""
    finish = getattr(type(layer), "finish", None)
    return value if finish is None else finish(layer, value)


# --------------------------------------------------------------------------- the runtime


class Times(NamedTuple):
    """One row of `net.times()`: a layer's own seconds, without the layers inside it."""

    layer: str
    forward: float
    backward: float


class Observe(Operation):
    """The same value; the callback is called with it once per forward."""

    __slots__ = ()
    defaults = {"callback": None}
    effect = True
    view = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return specs[0]

    def evaluate(self, *values: Any) -> Any:
        self.callback(read_only(values[0]))
        return values[0]

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (delta,)


class Observed(Layer[Any, Any]):
    """A layer whose output is shown to a callback."""

    __slots__ = ("callback", "layer")
    layer: AnyLayer
    callback: Callable[[Any], object]

    def __init__(self, layer: AnyLayer, callback: Callable[[Any], object]) -> None:
        set_once(self, "layer", layer)
        set_once(self, "callback", callback)

    def apply(self, input: AnyLayer) -> AnyLayer:
        return Observe(self.layer.apply(input), callback=self.callback)

    def children(self) -> Sequence[tuple[str, AnyLayer]]:
        return (("", self.layer),)

    def parts(self) -> Sequence[str | AnyLayer]:
        return (self.layer, f".on_output({getattr(self.callback, '__name__', self.callback)})")


class Compose(Layer[Any, Any]):
    """f∘g: g runs first."""

    __slots__ = ("inner", "outer")
    __match_args__ = ("outer", "inner")
    outer: AnyLayer
    inner: AnyLayer

    def __init__(self, outer: AnyLayer, inner: AnyLayer) -> None:
        set_once(self, "outer", outer)
        set_once(self, "inner", inner)

    def apply(self, input: AnyLayer) -> AnyLayer:
        return self.outer.apply(self.inner.apply(input))

    def children(self) -> Sequence[tuple[str, AnyLayer]]:
        return (("outer", self.outer), ("inner", self.inner))

    def parts(self) -> Sequence[str | AnyLayer]:
        return ("Compose(", self.outer, ", ", self.inner, ")")


class _Runtime:
    """See `symbolic.layer.Runtime`."""

    def predict(self, layer: AnyLayer, inputs: tuple[Any, ...]) -> Any:
        net, value = network(layer), gathered(layer, inputs)
        found = net.specialization(value)
        results = net.execute(found.forward(), [*entries(value), *found.values()])
        return finished(layer, shaped(found.output, results))

    def forward(self, layer: AnyLayer, tape: Any) -> Any:
        if not isinstance(tape, Tape):
            tape = as_layer(tape) if not isinstance(tape, tuple) else Literal(tape)
        if isinstance(layer, Identity):
            return tape.duplicate()
        return Evaluation(network(layer), tape, _place(source()))

    def train(self, layer: AnyLayer, inputs: tuple[Any, ...], optimizer: Any) -> Any:
        return Trainer(network(layer), optimizer, _TOOLS).step(gathered(layer, inputs))

    def trainer(self, layer: AnyLayer, optimizer: Any) -> Any:
        return Trainer(network(layer), optimizer, _TOOLS)

    def move(self, weights: list[Any], deltas: list[Any], optimizer: Any) -> None:
        move(weights, deltas, optimizer)

    def weights(self, layer: AnyLayer) -> dict[str, Any]:
        found: dict[str, Any] = {}
        _collect(layer, "", found, set())
        return found

    @contextmanager
    def timing(self, layer: AnyLayer) -> Iterator[None]:
        net = network(layer)
        net.seconds, net.total = {}, [0.0, 0.0]
        net.last = net.seconds
        try:
            yield
        finally:
            net.seconds = None

    def times(self, layer: AnyLayer) -> list[Times]:
        seconds = getattr(network(layer), "last", None) or {}
        return [Times(path or type(layer).__name__, *row) for path, row in seconds.items()]

    def observed(self, layer: AnyLayer, callback: Callable[[Any], object]) -> AnyLayer:
        return Observed(layer, callback)

    def compose(self, outer: AnyLayer, inner: AnyLayer) -> AnyLayer:
        return Compose(outer, inner)

    def combine(self, inputs: tuple[Any, ...]) -> AnyLayer:
        layers = [Tuple(*one) if isinstance(one, tuple) else as_layer(one) for one in inputs]
        return layers[0] if len(layers) == 1 else Tuple.make(tuple(layers))  # type: ignore[no-any-return]

    def entry(self, input: AnyLayer, index: int) -> AnyLayer:
        return input.operands[index] if isinstance(input, Tuple) else Item(input, index=index)

    def constant(self, layer: AnyLayer, construct: str) -> Any:
        if any(not isinstance(one, (Operation, Literal)) for one in topological([layer])):
            cannot(layer, construct)
        return constant_value(layer)

    def node(self, layer: AnyLayer, parents: tuple[Any, ...], name: str) -> Any:
        from symbolic.nn.graph import Node  # the containers stand on this module

        return Node(layer, parents, name)


def gathered(layer: AnyLayer, inputs: tuple[Any, ...]) -> Any:
    """The inputs of a call as one value: the value itself, or a tuple of several."""
    accept = getattr(type(layer), "accept", None)
    if accept is not None:
        return accept(layer, inputs)
    if len(inputs) == 1:
        return native(inputs[0])
    return native(tuple(inputs))


def _collect(layer: AnyLayer, prefix: str, found: dict[str, Any], seen: set[int]) -> None:
    """Every weight below a layer, by path."""
    if isinstance(layer, Weight):
        if id(layer) not in seen:
            seen.add(id(layer))
            found[_free(prefix or layer.name or "weight", found)] = layer
        return
    children = layer.children()
    if isinstance(layer, Operation):
        children = _below(layer)
    for name, child in children:
        _collect(child, f"{prefix}/{name}" if prefix and name else prefix or name, found, seen)


def _below(layer: Operation) -> list[tuple[str, AnyLayer]]:
    """The layers in a tree of operations that are none, numbered where they have no name."""
    others = [one for one in topological([layer]) if not isinstance(one, (Operation, Literal, Identity, Projection))]
    named = []
    for k, one in enumerate(others):
        own = one.name if isinstance(one, Weight) else f"{k}:{type(one).__name__}"
        named.append((own or f"weight{k}", one))
    return named


def _free(name: str, taken: dict[str, Any]) -> str:
    if name not in taken:
        return name
    k = 2
    while f"{name}_{k}" in taken:
        k += 1
    return f"{name}_{k}"


class _Tools(NamedTuple):
    """What the trainer needs from here."""

    gathered: Callable[..., Any]
    entries: Callable[..., Any]
    finished: Callable[..., Any]


_TOOLS = _Tools(gathered, entries, finished)
install(_Runtime())

__all__ = ["Compose", "Network", "Observed", "SymbolicError", "describe", "flat", "here", "inside", "like", "network", "user_frame"]
