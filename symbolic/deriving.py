"""How is a plain function differentiated? It is traced for its arguments, and its gradient is written.

A function is traced for its arguments' structure; arrays and floats are inputs of the trace, all else (a count, a
name, a flag) is compared at each call. Within another trace nothing runs: the gradient joins the graph.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from symbolic.backends.native.abi import Callee, quick
from symbolic.concrete import constant_value, is_constant
from symbolic.context import here, inside, source
from symbolic.differentiate import gradients, ones_like
from symbolic.differentiated import check_position, no_gradient, positions, scalar
from symbolic.errors import DtypeError, ShapeError, place_of
from symbolic.execution import Executable, Specialization, placed, way_back
from symbolic.fingerprint import MOVING, fingerprint
from symbolic.inference import Inference
from symbolic.layer import AnyLayer, Layer
from symbolic.leaves import Identity
from symbolic.literal import as_layer, delta_spec
from symbolic.ops.checked import Checked
from symbolic.ops.passing import Mark, Tuple
from symbolic.outcome import HOLE, Outcome, is_layer, opened, outcome
from symbolic.paths import Paths, Request, Traces
from symbolic.plan import own
from symbolic.shortcut import MISS, Shortcuts
from symbolic.spec import OpaqueSpec, TupleSpec, describe, key_of, spec_of
from symbolic.structure import Tree, alike, count, flatten, shown, unflatten
from symbolic.trace import Tracing, run_body, trace
from symbolic.usual import gradient, is_given
from symbolic.values import like_argument, native

T = TypeVar("T")
_KINDS = 16  # of calls for which code is attached, which stays with the function
_FLOATING = (float, complex, np.floating, np.complexfloating, np.ndarray)


class Call:
    """The arguments of one call: which leaves are traced, which are differentiated, and what stays as it is."""

    traced: list[int]

    def __init__(self, owner: Derivative, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.tree: Tree
        leaves, self.tree = flatten((args, kwargs), leaf=lambda value: isinstance(value, Layer))
        wanted = owner.wanted(args, self.tree)
        self.leaves = leaves
        self.asked = wanted
        self.traced = [k for k, leaf in enumerate(leaves) if k in wanted or isinstance(leaf, _FLOATING)]

    @cached_property
    def values(self) -> list[Any]:
        """The values of the traced leaves, as programs take them."""
        return [native(self.leaves[k]) for k in self.traced]

    @cached_property
    def layout(self) -> Any:
        """What is compared at each call, but for the kinds of the traced leaves."""
        traced = set(self.traced)
        marks = [None if k in traced else fingerprint(leaf, None) for k, leaf in enumerate(self.leaves)]
        return None if any(mark is MOVING for mark in marks) else (self.tree, tuple(self.asked), tuple(marks))

    @property
    def key(self) -> Any:
        """The same with those kinds; `None` where something moves, so that no trace serves again."""
        return None if self.layout is None else (self.layout, tuple([key_of(one) for one in self.values]))

    def is_flat(self, args: tuple[Any, ...]) -> bool:
        """Whether each argument is one traced array or number, as it is."""
        return len(self.leaves) == len(self.traced) == len(args) and is_given(tuple(self.values), args)

    def rebuilt(self, layers: Sequence[AnyLayer]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with layers in the place of the traced leaves."""
        leaves = list(self.leaves)
        for k, layer in zip(self.traced, layers, strict=True):
            leaves[k] = layer
        return unflatten(self.tree, iter(leaves))  # type: ignore[no-any-return]  # of any structure


def _title(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", None) or type(f).__name__


@quick
class Derivative(Callee):
    """A function and the arguments to differentiate it by; its traces are kept here."""

    shortcuts: Shortcuts

    f: Callable[..., Any]
    value: bool
    has_aux: bool
    single: bool
    argnums: tuple[int, ...]
    paths: Paths
    __name__: str

    verb = "grad"

    def __init__(
        self,
        f: Callable[..., Any],
        argnums: int | Sequence[int],
        value: bool,
        has_aux: bool = False,
        strict: bool = True,
    ) -> None:
        if not callable(f):
            raise DtypeError(f"{self.verb} of {f!r}, which is not callable", remedy="give a function or a layer")
        self.f, self.value, self.has_aux = f, value, has_aux
        self.strict = strict  # every argument must have a gradient
        self.single, self.argnums = positions(argnums)
        self.paths = Paths(partial(_title, f))
        self.shortcuts = Shortcuts()
        self.tried: weakref.WeakKeyDictionary[Any, set[tuple[type, ...]]] = weakref.WeakKeyDictionary()
        """The code of which calls in machine code were tried, with the types of their arguments."""
        self.__wrapped__ = f
        self.__name__ = f"{'value_and_' if value else ''}{self.verb}({self.title})"
        self.__doc__ = getattr(f, "__doc__", None)

    @property
    def title(self) -> str:
        return _title(self.f)

    def __repr__(self) -> str:
        return f"<{self.__name__}>"

    def __reduce__(self) -> Any:
        """The function and what is asked of it; the traces are made anew."""
        given = self.argnums[0] if self.single else self.argnums
        return type(self), (self.f, given, self.value, self.has_aux, self.strict)

    def __get__(self, instance: Any, owner: type) -> Any:
        """As a method: the gradient by the arguments after `self`."""
        if instance is None:
            return self
        bound: Callable[..., Any] = self.f.__get__(instance, owner)
        return self.over(bound)

    def over(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The same of another function."""
        return Derivative(f, self.argnums[0] if self.single else self.argnums, self.value, self.has_aux, self.strict)

    # ------------------------------------------------------------------ which leaves
    def wanted(self, args: tuple[Any, ...], tree: Tree) -> dict[int, int]:
        """The numbers of the leaves to differentiate by, each with the argument it belongs to."""
        children = tree[2][0][2]
        starts = [0]
        for child in children:
            starts.append(starts[-1] + count(child))
        wanted: dict[int, int] = {}
        for position in self.argnums:
            check_position(position, len(args), self.title)
            p = position % len(args)
            leaves = flatten(args[p], leaf=lambda value: isinstance(value, Layer))[0]
            found = [k for k, leaf in enumerate(leaves) if self._differentiable(leaf)]
            if not found and self.strict:
                no_gradient(self.title, p, describe(spec_of(args[p])))
            wanted.update({starts[p] + k: p for k in found})
        if not wanted:
            no_gradient(self.title, 0, describe(spec_of(args[0])) if args else "nothing")
        return wanted

    def _differentiable(self, leaf: Any) -> bool:
        return isinstance(leaf, Layer) or delta_spec(spec_of(native(leaf))) is not None

    # ------------------------------------------------------------------ calling
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = MISS if kwargs else self.shortcuts(args)
        return self._served(args, kwargs) if found is MISS else found

    def _served(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call in the general way, and a shortcut for the next one like it."""
        call = Call(self, args, kwargs)
        if here.trace is not None or any(isinstance(leaf, Layer) for leaf in call.leaves):
            return self._inline(call, args)
        found, on, executable = self.on_path(call, lambda on: self._called(call, args, on))
        if not kwargs and call.is_flat(args):
            self.shortcuts.offer(executable, lambda: gradient(self, on, call, args, executable))
            self._in_machine_code(call, args, on, executable)
        return found

    def _in_machine_code(self, call: Call, args: tuple[Any, ...], on: Specialization, executable: Executable) -> None:
        """The next calls of this kind without Python in between, where the machine can."""
        code: Any = executable.code
        if not getattr(code, "segment", ""):
            return
        tried, kinds = self.tried.setdefault(code, set()), tuple(map(type, args))
        if kinds in tried or sum(map(len, self.tried.values())) >= _KINDS:
            return
        from symbolic.backends.native.derivatives import enter  # which is loaded with the first native program

        tried.add(kinds)
        enter(self, code, on, args, partial(self._found, call, args, on))

    def _called(self, call: Call, args: tuple[Any, ...], on: Specialization) -> tuple[Any, Specialization, Executable]:
        executable: Executable = on.cached(("grad", *call.asked), lambda: self._program(on, call))
        primal = len(on.outputs)
        results = executable.derivatives([*call.values, *on.snapshots()], primal, len(executable.program.outputs))
        return self._found(call, args, on, results), on, executable

    def _found(self, call: Call, args: tuple[Any, ...], on: Specialization, results: Sequence[Any]) -> Any:
        """What a call gives, of the program's outputs."""
        primal = len(on.outputs)
        deltas = {k: like_argument(call.leaves[k], one) for k, one in zip(call.asked, results[primal:], strict=True)}
        return self._answer(returned(on).rebuilt(results[:primal]), self._structured(call, args, deltas))

    def _answer(self, value: Any, gradient: tuple[Any, ...]) -> Any:
        found = gradient[0] if self.single else gradient
        if self.value:
            return value, found
        return (found, value[1]) if self.has_aux else found

    def _structured(self, call: Call, args: tuple[Any, ...], deltas: dict[int, Any]) -> tuple[Any, ...]:
        """The deltas in the structure of their arguments; `None` in the place of a leaf without one."""
        every = [deltas.get(k) for k in range(len(call.leaves))]
        back = unflatten(call.tree, iter(every))[0]
        return tuple([back[position % len(args)] for position in self.argnums])

    def traces(self) -> Traces:
        """How many traces there are by now, of how many paths, with how many guards."""
        return self.paths.count()

    def on_path(self, call: Call, use: Callable[[Specialization], T]) -> T:
        """`use` of the programs for a call; a new trace where no old one would come out the same."""
        return self.paths.run(call.key, lambda key: self._request(key, call), use)

    def _request(self, key: Any, call: Call) -> Request:
        return Request(key, call.layout, call.values, lambda twice: self._traced(call, twice))

    def _traced(self, call: Call, twice: bool) -> tuple[Tracing, Inference]:
        leaves: list[AnyLayer] = [Identity() for _ in call.traced]
        facts = Inference(dict(zip(leaves, map(spec_of, call.values), strict=True)))
        with inside(path=""):
            return trace(lambda: self._run(call, leaves), leaves, facts, twice, call.values), facts

    def _run(self, call: Call, layers: Sequence[AnyLayer]) -> Any:
        args, kwargs = call.rebuilt(layers)
        traced, tracing = set(call.traced), here.trace
        assert isinstance(tracing, Tracing)
        for k, leaf in enumerate(call.leaves):
            if k not in traced and not isinstance(leaf, (str, int, type(None))):
                tracing.reads(leaf)  # an object, a function: its code reads, too
        return outcome(self.body(args, kwargs))

    def body(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The function, run within a trace."""
        return run_body(None, self.f, args, kwargs)

    def _program(self, on: Specialization, call: Call) -> Executable:
        loss = self._loss(returned(on), on.facts)
        place = {k: n for n, k in enumerate(call.traced)}
        variables = [on.inputs[place[k]] for k in call.asked]
        with inside(facts=on.facts, trace=None):
            found = gradients(loss, ones_like(loss), variables)
        return Executable(on.program(on.outputs, found, on.leaves))

    def _loss(self, result: Outcome, facts: Inference | None) -> AnyLayer:
        """The scalar to differentiate; it is looked at where specs are known."""
        tree, leaves = result.tree, result.leaves
        if self.has_aux:
            if tree is None or tree[0] is not tuple or len(tree[2]) != 2:
                raise ShapeError(
                    f"{self.verb} of {self.title} with has_aux=True, which returns {shown(tree)}",
                    where=place_of(source()),
                    remedy="return a pair: the loss, and whatever else is wanted",
                )
            tree = tree[2][0]
        alone = tree is None and leaves[0] is HOLE
        if facts is not None or not alone:
            spec = TupleSpec(map(facts.spec, result.layers)) if facts is not None else TupleSpec()
            opaque = OpaqueSpec(type(leaves[0])) if tree is None else spec
            scalar(spec[0] if alone else opaque, self.title)
        return result.layers[0]

    # ------------------------------------------------------------------ within a trace
    def _inline(self, call: Call, args: tuple[Any, ...]) -> Any:
        marks, result = self._marked(call)
        loss = self._loss(result, here.trace.facts if isinstance(here.trace, Tracing) else None)
        place = {k: n for n, k in enumerate(call.traced)}
        found = gradients(loss, ones_like(loss), [marks[place[k]] for k in call.asked])
        layers = [*result.layers, *found]
        values = as_constants(call.leaves, layers)
        deltas: dict[int, Any] = dict(zip(call.asked, values[len(result.layers) :], strict=True))
        if values is not layers:
            deltas = {k: like_argument(call.leaves[k], one) for k, one in deltas.items()}
        value = result.within(values[: len(result.layers)])
        return self._answer(value, self._structured(call, args, deltas))

    def _marked(self, call: Call) -> tuple[list[AnyLayer], Outcome]:
        """The function's value over variables of its own, so that only what depends on them is differentiated."""
        marks: list[AnyLayer] = [Mark.make((as_layer(call.leaves[k]),)) for k in call.traced]
        args, kwargs = call.rebuilt(marks)
        if here.trace is None:
            return marks, outcome(self.f(*args, **kwargs))
        return marks, outcome(self.body(args, kwargs))

    # ------------------------------------------------------------------ vjp
    def vjp(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        call = Call(self, args, kwargs)
        if here.trace is not None or any(isinstance(leaf, Layer) for leaf in call.leaves):
            return self._inline_vjp(call, args)
        return self.on_path(call, lambda on: self._taped(call, args, on))

    def _taped(
        self, call: Call, args: tuple[Any, ...], on: Specialization
    ) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        place = {k: n for n, k in enumerate(call.traced)}
        executable = on.taped([place[k] for k in call.asked])
        program, primal, result = executable.program, len(on.outputs), returned(on)
        slots = program.slots([*map(_kept, [*call.values, *on.values()]), *[None] * primal])
        program.run(slots, 0, program.split)
        value = result.rebuilt([own(one) for one in program.results(slots)[:primal]])
        if not here.finite:  # where the search for what is not finite may want all of them
            program.release(slots)

        def pullback(delta: Any) -> tuple[Any, ...]:
            given = self._deltas(result, delta)
            delta = tuple(given) if isinstance(on.output, Tuple) else given[0]
            results = way_back(program, placed(on, program, slots, delta, f"the pullback of {self.title}"), primal)
            deltas = {k: like_argument(call.leaves[k], one) for k, one in zip(call.asked, results, strict=False)}
            return self._structured(call, args, deltas)

        return value, pullback

    def _deltas(self, result: Outcome, delta: Any) -> list[Any]:
        """The deltas of a result's layers, from a structure as the result's."""
        what = f"the delta that the pullback of {self.title} was given"
        return result.holes(alike(result.tree, opened(delta), what, is_layer))

    def _inline_vjp(self, call: Call, args: tuple[Any, ...]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        marks, result = self._marked(call)
        place = {k: n for n, k in enumerate(call.traced)}
        output, what = result.output, f"the delta that the pullback of {self.title} was given"

        def pullback(delta: Any) -> tuple[Any, ...]:
            layers = [
                Checked.make((as_layer(one), out), (what, True, False))
                for one, out in zip(self._deltas(result, delta), result.layers, strict=True)
            ]
            given = Tuple.make(tuple(layers)) if isinstance(output, Tuple) else layers[0]
            found = gradients(output, given, [marks[place[k]] for k in call.asked])
            return self._structured(call, args, dict(zip(call.asked, found, strict=True)))

        return result.within(result.layers), pullback


def returned(on: Specialization) -> Outcome:
    """The structure of what the function returned."""
    assert on.tracing.outcome is not None
    return on.tracing.outcome


def _is_number(node: AnyLayer) -> bool:
    """Whether a value may stand as its number: it is a constant, and no derivative around it goes on through it."""
    return here.trace.is_settled(node) if isinstance(here.trace, Tracing) else is_constant(node)


def as_constants(leaves: Sequence[Any], layers: Sequence[AnyLayer]) -> Sequence[Any]:
    """Within a trace, of a call without traced arguments: the values, if they depend on constants alone."""
    if any(isinstance(leaf, Layer) for leaf in leaves) or not all(map(_is_number, layers)):
        return layers
    return tuple(map(constant_value, layers))


def _kept(value: Any) -> Any:
    return np.array(value) if isinstance(value, np.ndarray) else value
