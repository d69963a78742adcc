"""What happens when a network is called? Its traces are searched, the right program runs, tapes move weights.

This is the runtime that `Layer`'s methods rest on.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from symbolic.backends.native.abi import CAN_ATTACH, Method, as_method
from symbolic.concrete import constant_value, is_constant
from symbolic.context import here, source, special
from symbolic.errors import place_of
from symbolic.execution import Executable, Specialization, Timed, look, prepared, shaped
from symbolic.inference import Inference
from symbolic.layer import AnyLayer, Layer, cannot
from symbolic.leaves import Identity, Literal, Projection, Weight, set_once
from symbolic.literal import as_layer, delta_spec
from symbolic.machines import explained
from symbolic.ops.operation import Operation, topological
from symbolic.ops.passing import Item, Tuple
from symbolic.paths import Paths, Request
from symbolic.plan import Program
from symbolic.refusing import refuse_names
from symbolic.runtime import Installed, install
from symbolic.shortcut import MISS, STALE, Shortcuts
from symbolic.spec import TupleSpec, key_of, spec_of
from symbolic.tape import Tape
from symbolic.trace import Tracing, trace
from symbolic.training import Trainer, grouped, move, stepped
from symbolic.usual import is_given, prediction
from symbolic.values import entries, finished, fitted, gathered, layout, structured

T = TypeVar("T")


class Network(Paths):
    """A layer's traces, and what is recorded of its runs."""

    shortcuts: Shortcuts

    def __init__(self, layer: AnyLayer) -> None:
        held = weakref.ref(layer)  # the layer keeps its record, so the record must not keep the layer
        super().__init__(lambda: repr(held()))
        self._layer = held
        self.seconds: dict[str, list[float]] | None = None
        self.stepping = False  # whether a step of training was ever taken
        self.last: dict[str, list[float]] = {}
        self.tried: weakref.WeakSet[Any] = weakref.WeakSet()  # code of which predictions in machine code were tried
        self.shortcuts = Shortcuts()

    @property
    def layer(self) -> AnyLayer:
        """The layer, which whoever runs it holds."""
        found = self._layer()
        assert found is not None
        return found

    def on_path(self, value: Any, use: Callable[[Specialization], T], exactly: bool = False) -> T:
        """`use` of the programs for an input; a new trace where no old one would come out the same."""
        return self.run(key_of(value), lambda key: self._request(key, value), use, exactly)

    def _request(self, key: Any, value: Any) -> Request:
        return Request(key, layout(value), list(entries(value)), lambda twice: self._traced(value, twice))

    def _traced(self, value: Any, twice: bool) -> tuple[Tracing, Inference]:
        names, values = getattr(self.layer, "input_names", ()), list(entries(value))
        leaves: list[AnyLayer] = [Projection(k, names[k] if k < len(names) else "") for k in range(len(values))]
        leaves = [Identity(names[0] if names else "")] if type(value) is not tuple and leaves else leaves
        facts = Inference(dict(zip(leaves, map(spec_of, values), strict=True)))
        argument = structured(value, iter(leaves))
        apply = getattr(self.layer, "_alone", self.layer.apply)
        return trace(lambda: apply(argument), leaves, facts, twice, values), facts

    # ------------------------------------------------------------------ running
    def execute(self, executable: Executable, values: Sequence[Any]) -> Sequence[Any]:
        if self.seconds is None:
            results = executable(values)
            look(executable.program, values, results, len(results))
            return results
        return executable(values, (), Timed(self.seconds, executable.program.split))


def network(layer: AnyLayer) -> Network:
    found = getattr_slot(layer)
    if found is None:
        found = Network(layer)
        set_once(layer, "_network", found)
    return found


def getattr_slot(layer: AnyLayer) -> Network | None:
    try:
        return object.__getattribute__(layer, "_network")  # type: ignore[no-any-return]  # an attribute of a layer
    except AttributeError:
        return None


# --------------------------------------------------------------------------- the runtime


class Times(NamedTuple):
    """One row of `net.times()`: a layer's own seconds, without the layers inside it."""

    layer: str
    forward: float
    backward: float


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
        for layer in self.chain():
            input = layer.apply(input)
        return input

    def chain(self) -> list[AnyLayer]:
        """The layers in the order in which they run; a long composition needs no recursion."""
        found: list[AnyLayer] = []
        stack: list[AnyLayer] = [self]
        while stack:
            layer = stack.pop()
            if isinstance(layer, Compose):
                stack += [layer.outer, layer.inner]
            else:
                found.append(layer)
        return found

    def children(self) -> Sequence[tuple[str, AnyLayer]]:
        return [(str(k), layer) for k, layer in enumerate(self.chain())]

    def parts(self) -> Sequence[str | AnyLayer]:
        return ("Compose(", self.outer, ", ", self.inner, ")")


def _copied(node: AnyLayer, memo: dict[int, Any]) -> AnyLayer:
    """A layer over copies of what it holds; its operands are in the memo by then."""
    if isinstance(node, (Literal, Identity, Projection)):
        return node
    if isinstance(node, Weight):
        twin: AnyLayer = Weight._fresh(node.cell.value, node.optimizer, node.name)
        set_once(twin, "_origin", node._origin)
        return twin
    twin = object.__new__(type(node))
    memo[id(node)] = twin
    names = [name for kind in type(node).__mro__ for name in vars(kind).get("__slots__", ())]
    for name in [one for one in names if one not in _OWN]:
        set_once(twin, name, copy.deepcopy(getattr(node, name), memo))
    for name, value in getattr(node, "__dict__", {}).items():
        twin.__dict__[name] = copy.deepcopy(value, memo) if name != "__wrapped__" else value
    return twin


_OWN = ("__weakref__", "__dict__", "_called", "_code", "_network", "_quick")
"""What a layer has for itself, and its copy not."""


class _Runtime:
    """See `symbolic.layer.Runtime`."""

    def predict(self, layer: AnyLayer, inputs: tuple[Any, ...], named: Mapping[str, Any] | None = None) -> Any:
        net = network(layer)
        found = refuse_names(layer, inputs, named) if named else net.shortcuts(inputs)
        return self._predicted(net, layer, inputs) if found is MISS else found

    def _predicted(self, net: Network, layer: AnyLayer, inputs: tuple[Any, ...]) -> Any:
        """A prediction in the general way, and a shortcut for the next one like it."""
        value = gathered(layer, inputs)
        result, on = net.on_path(value, lambda on: self._predict(net, on, value))
        if is_given(value, inputs):
            net.shortcuts.offer(on.forward(), lambda: prediction(net, on, key_of(value), inputs))
            self._in_machine_code(layer, on, inputs)
        return result

    def _in_machine_code(self, layer: AnyLayer, on: Specialization, inputs: tuple[Any, ...]) -> None:
        """The next predictions of this kind without Python in between, where the machine can."""
        code = on.forward().code
        make = getattr(code, "predicting", None)
        net = network(layer)
        if make is None:
            on.forward().ahead = prepared("prepare_prediction", (layer, on), len(inputs))
        elif code not in net.tried:
            net.tried.add(code)
            held: Any = net._layer  # the layer keeps the function, so the function must not keep the layer
            made = make(layer, on, len(inputs), lambda *given, **named: self.predict(held(), given, named))
            for name, function in (made or {}).items():
                set_once(layer, name, function)

    def _predict(self, net: Network, found: Specialization, value: Any) -> tuple[Any, Specialization]:
        if here.trace is not None:  # within a body, as numbers
            for weight in found.weights:
                here.trace.read(weight)
        results = net.execute(found.forward(), [*entries(value), *found.snapshots()])
        return finished(net.layer, shaped(found.output, results)), found

    def forward(self, layer: AnyLayer, tape: Any) -> Any:
        if not isinstance(tape, Tape):
            constant: Any = Literal(tape) if isinstance(tape, tuple) else as_layer(tape)
            tape = constant
        from symbolic.evaluation import Evaluation

        if isinstance(layer, Identity):
            return tape.duplicate()
        return Evaluation(network(layer), tape, place_of(source()))

    def train(self, layer: AnyLayer, inputs: tuple[Any, ...], optimizer: Any) -> Any:
        return Trainer(network(layer), optimizer).step(gathered(layer, inputs))

    def trainer(self, layer: AnyLayer, optimizer: Any) -> Any:
        return Trainer(network(layer), optimizer)

    def move(self, weights: list[Any], deltas: list[Any], optimizer: Any) -> None:
        move(weights, deltas, optimizer)

    def weights(self, layer: AnyLayer) -> dict[str, Any]:
        found: dict[str, Any] = {}
        _collect(layer, "", found, set(), {})
        return found

    def program(self, layer: AnyLayer, inputs: tuple[Any, ...], optimizer: Any) -> Program:
        return self._executable(layer, inputs, optimizer).program

    def explain(self, layer: AnyLayer, inputs: tuple[Any, ...], optimizer: Any) -> str:
        executable = self._executable(layer, inputs, optimizer)
        return explained(executable)

    def _executable(self, layer: AnyLayer, inputs: tuple[Any, ...], optimizer: Any) -> Executable:
        """What such a call runs."""
        value = gathered(layer, inputs)

        def use(on: Specialization) -> Executable:
            if optimizer is None:
                return on.forward()
            return stepped(on, grouped(on.weights, optimizer)).executable

        return network(layer).on_path(value, use, exactly=True)

    @contextmanager
    def timing(self, layer: AnyLayer) -> Iterator[None]:
        net = network(layer)
        before, net.seconds = net.seconds, {}
        net.last = net.seconds
        try:
            with special():
                yield
        finally:
            net.seconds = before

    def times(self, layer: AnyLayer) -> list[Times]:
        seconds = network(layer).last
        return [Times(path or type(layer).__name__, *row) for path, row in seconds.items()]

    def observed(self, layer: AnyLayer, callback: Callable[[Any], object]) -> AnyLayer:
        from symbolic.observing import Observed

        return Observed(layer, callback)

    def compose(self, outer: AnyLayer, inner: AnyLayer) -> AnyLayer:
        return Compose(outer, inner)

    def combine(self, inputs: tuple[Any, ...]) -> AnyLayer:
        layers = [Tuple(*one) if isinstance(one, tuple) else as_layer(one) for one in inputs]
        return layers[0] if len(layers) == 1 else Tuple.make(tuple(layers))

    def entry(self, input: AnyLayer, index: int) -> AnyLayer:
        return input.operands[index] if isinstance(input, Tuple) else Item(input, index=index)

    def count(self, layer: AnyLayer) -> int | None:
        """How many entries a tuple has; `None` for what is none."""
        if isinstance(layer, Tuple):
            return len(layer.operands)
        if isinstance(layer, Operation) and isinstance(here.trace, Tracing):
            spec = here.trace.facts.spec(layer)
            return len(spec) if isinstance(spec, TupleSpec) else None
        return None

    def fitted(self, delta: Any, value: Any) -> Any:
        return fitted(delta, spec_of(value), value, place_of(source()))

    def copied(self, layer: AnyLayer, memo: dict[int, Any]) -> AnyLayer:
        for node in topological([layer]):
            if id(node) not in memo:
                memo[id(node)] = _copied(node, memo)
        return memo[id(layer)]  # type: ignore[no-any-return]  # a layer, as its original is

    def has_delta(self, value: Any) -> bool:
        return delta_spec(spec_of(value)) is not None

    def constant(self, layer: AnyLayer, construct: str) -> Any:
        return constant_value(layer) if is_constant(layer) else cannot(layer, construct)

    def node(self, layer: AnyLayer, parents: tuple[Any, ...], name: str) -> Any:
        from symbolic.nn.graph import Node  # which is loaded when a graph is written

        return Node(layer, parents, name)


def _collect(layer: AnyLayer, prefix: str, found: dict[str, Any], seen: set[int], counts: dict[str, int]) -> None:
    """Every weight below a layer, by path."""
    if isinstance(layer, Weight):
        if id(layer) not in seen:
            seen.add(id(layer))
            found[_free(prefix or layer.name or "weight", found, counts)] = layer
        return
    children = layer.children()
    if isinstance(layer, Operation):
        children = _below(layer)
    for name, child in children:
        _collect(child, f"{prefix}/{name}" if prefix and name else prefix or name, found, seen, counts)


def _below(layer: Operation) -> list[tuple[str, AnyLayer]]:
    """The layers in a tree of operations that are none, numbered where they have no name."""
    nodes = topological([layer])
    others = [one for one in nodes if not isinstance(one, (Operation, Literal, Identity, Projection))]
    others += [
        child for one in nodes if isinstance(one, Operation) and one.unwritten for _, child in one.children()[:1]
    ]
    named = []
    for k, one in enumerate(others):
        own = one.name if isinstance(one, Weight) else f"{k}:{type(one).__name__}"
        named.append((own or f"weight{k}", one))
    return named


def _free(name: str, taken: dict[str, Any], counts: dict[str, int]) -> str:
    if name not in taken:
        return name
    while f"{name}_{counts.setdefault(name, 2)}" in taken:
        counts[name] += 1
    return f"{name}_{counts[name]}"


class _Predict(Method):
    # `Layer.predict`, which gets code of its own with the first prediction in machine code
    __slots__ = ("__doc__",)  # once more, for every class has one

    def __call__(self, layer: AnyLayer, /, *inputs: Any, **named: Any) -> Any:
        net: Any = getattr_slot(layer) if isinstance(layer, Layer) and not named else None
        if net is not None and (kept := net.shortcuts.kept):
            found = kept[0](inputs)  # that of the call before, without more ado
            if found is not MISS and found is not STALE:
                return found
        return Installed.runtime.predict(layer, inputs, named)


install(_Runtime())
if CAN_ATTACH:
    Layer.predict = as_method(_Predict)(Layer.predict)  # type: ignore[assignment, method-assign]  # the same, and faster
