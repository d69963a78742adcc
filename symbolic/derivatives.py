"""What is the derivative of a plain function? `grad`, `value_and_grad` and `vjp` trace it and write its gradient.

A function is traced for its arguments' structure; arrays and floats are inputs of the trace, all else (a count, a
name, a flag) is compared at each call. Within another trace nothing runs: the gradient joins the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from symbolic.context import here, inside
from symbolic.differentiate import gradients, ones_like
from symbolic.differentiated import Differentiated, check_position, no_gradient, positions, scalar
from symbolic.errors import DtypeError
from symbolic.execution import Executable, Specialization, flat, placed, shaped, way_back
from symbolic.fingerprint import MOVING, fingerprint
from symbolic.inference import Inference
from symbolic.layer import AnyLayer, Layer
from symbolic.leaves import Identity
from symbolic.literal import as_layer, delta_spec
from symbolic.ops.passing import Mark, Tuple
from symbolic.paths import Paths, Request, Traces
from symbolic.plan import own
from symbolic.spec import describe, key_of, spec_of
from symbolic.structure import Tree, count, flatten, unflatten
from symbolic.trace import Tracing, as_output, constant_value, is_constant, run_body, trace
from symbolic.values import native

_FLOATING = (float, complex, np.floating, np.complexfloating, np.ndarray)


def grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """The gradient of a scalar function, as a function of the same arguments.

    `f` is plain NumPy code, a ufunc or a Layer, and returns one real number. The gradient has the shape, the dtype and
    the structure (tuples, lists, dictionaries, dataclasses) of argument `argnums`; several positions give a tuple.
    Raises ShapeError if the value is no scalar, DtypeError for an argument of integers or Booleans, TraceError where
    a traced value would become a plain number.

    >>> import numpy as np
    >>> grad(lambda x: np.sum(x ** 2))(np.array([1.0, 2.0]))
    array([2., 4.])
    >>> grad(grad(np.sin))(0.0)
    -0.0
    """
    return _derivative(f, argnums, value=False)


def value_and_grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """The value and the gradient from one pass: see `grad`.

    >>> value_and_grad(lambda x, y: x * y, (0, 1))(3.0, 4.0)
    (12.0, (4.0, 3.0))
    """
    return _derivative(f, argnums, value=True)


def _derivative(f: Callable[..., Any], argnums: int | Sequence[int], value: bool) -> Callable[..., Any]:
    return Differentiated(f, argnums, value) if isinstance(f, Layer) else _Derivative(f, argnums, value)


def vjp(f: Callable[..., Any], *args: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The value of `f(*args)`, of any shape, and its pullback: a delta of the value to one gradient for each argument.

    >>> import numpy as np
    >>> value, pullback = vjp(lambda x: x ** 2, np.array([1.0, 3.0]))
    >>> pullback(np.array([1.0, 10.0]))
    (array([ 2., 60.]),)
    """
    return _Derivative(f, tuple(range(len(args))), value=True).vjp(args)


class _Call:
    """The arguments of one call: which leaves are traced, which are differentiated, and what stays as it is."""

    def __init__(self, owner: _Derivative, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.tree: Tree
        leaves, self.tree = flatten((args, kwargs), leaf=lambda value: isinstance(value, Layer))
        wanted = owner.wanted(args, self.tree)
        self.leaves = leaves
        self.traced = [k for k, leaf in enumerate(leaves) if k in wanted or isinstance(leaf, _FLOATING)]
        self.asked = wanted

    @property
    def values(self) -> list[Any]:
        """The values of the traced leaves, as programs take them."""
        return [native(self.leaves[k]) for k in self.traced]

    def marks(self) -> tuple[Any, Any]:
        """What is compared at each call: without the kinds of the traced leaves, and with (`None`: never equal)."""
        traced = set(self.traced)
        static = tuple([None if k in traced else fingerprint(leaf, None) for k, leaf in enumerate(self.leaves)])
        if any(mark is MOVING for mark in static):
            return object(), None
        layout = (self.tree, tuple(self.asked), static)
        return layout, (layout, tuple([key_of(one) for one in self.values]))

    def rebuilt(self, layers: Sequence[AnyLayer]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments with layers in the place of the traced leaves."""
        leaves = list(self.leaves)
        for k, layer in zip(self.traced, layers, strict=True):
            leaves[k] = layer
        return unflatten(self.tree, iter(leaves))  # type: ignore[no-any-return]


def _title(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", None) or type(f).__name__


class _Derivative:
    """A function and the arguments to differentiate it by; its traces are kept here."""

    def __init__(self, f: Callable[..., Any], argnums: int | Sequence[int], value: bool) -> None:
        if not callable(f):
            raise DtypeError(f"grad of {f!r}, which is not callable", remedy="give a function or a layer")
        self.f, self.value = f, value
        self.single, self.argnums = positions(argnums)
        self.paths = Paths(partial(_title, f))
        self.__wrapped__ = f
        self.__name__ = f"{'value_and_' if value else ''}grad({self.title})"
        self.__doc__ = getattr(f, "__doc__", None)

    @property
    def title(self) -> str:
        return _title(self.f)

    def __repr__(self) -> str:
        return f"<{self.__name__}>"

    def __get__(self, instance: Any, owner: type) -> Any:
        """As a method: the gradient by the arguments after `self`."""
        if instance is None:
            return self
        bound: Callable[..., Any] = self.f.__get__(instance, owner)
        return _Derivative(bound, self.argnums[0] if self.single else self.argnums, self.value)

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
            if not found:
                no_gradient(self.title, p, describe(spec_of(args[p])))
            wanted.update({starts[p] + k: p for k in found})
        return wanted

    def _differentiable(self, leaf: Any) -> bool:
        return isinstance(leaf, Layer) or delta_spec(spec_of(native(leaf))) is not None

    # ------------------------------------------------------------------ calling
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = _Call(self, args, kwargs)
        if here.trace is not None or any(isinstance(leaf, Layer) for leaf in call.leaves):
            return self._inline(call, args)
        return self.paths.run(self._request(call), lambda on: self._called(call, args, on))

    def _called(self, call: _Call, args: tuple[Any, ...], on: Specialization) -> Any:
        executable: Executable = on.cached(("grad", *call.asked), lambda: self._program(on, call))
        values = [*call.values, *on.values()]
        results = executable.derivatives(values, 1, len(executable.program.outputs))
        deltas = {k: like_argument(call.leaves[k], one) for k, one in zip(call.asked, results[1:], strict=True)}
        return self._answer(results[0], self._structured(call, args, deltas))

    def _answer(self, value: Any, gradient: tuple[Any, ...]) -> Any:
        found = gradient[0] if self.single else gradient
        return (value, found) if self.value else found

    def _structured(self, call: _Call, args: tuple[Any, ...], deltas: dict[int, Any]) -> tuple[Any, ...]:
        """The deltas in the structure of their arguments; `None` in the place of a leaf without one."""
        every = [deltas.get(k) for k in range(len(call.leaves))]
        back = unflatten(call.tree, iter(every))[0]
        return tuple([back[position % len(args)] for position in self.argnums])

    def traces(self) -> Traces:
        """How many traces there are by now, of how many paths, with how many guards."""
        return self.paths.count()

    def _request(self, call: _Call) -> Request:
        layout, key = call.marks()
        return Request(key, layout, call.values, lambda twice: self._traced(call, twice))

    def _traced(self, call: _Call, twice: bool) -> tuple[Tracing, Inference]:
        leaves: list[AnyLayer] = [Identity() for _ in call.traced]
        facts = Inference(dict(zip(leaves, map(spec_of, call.values), strict=True)))
        with inside(path=""):
            return trace(lambda: self._run(call, leaves), leaves, facts, twice, call.values), facts

    def _run(self, call: _Call, layers: Sequence[AnyLayer]) -> Any:
        args, kwargs = call.rebuilt(layers)
        traced, tracing = set(call.traced), here.trace
        assert isinstance(tracing, Tracing)
        for k, leaf in enumerate(call.leaves):
            if k not in traced and not isinstance(leaf, (str, int, type(None))):
                tracing.reads(leaf)  # an object, a function: its code reads, too
        return run_body(None, self.f, args, kwargs)

    def _program(self, on: Specialization, call: _Call) -> Executable:
        scalar(on.facts.spec(on.output), self.title)
        place = {k: n for n, k in enumerate(call.traced)}
        variables = [on.inputs[place[k]] for k in call.asked]
        return Executable(on.program([on.output], on.graded(variables), on.leaves))

    # ------------------------------------------------------------------ within a trace
    def _inline(self, call: _Call, args: tuple[Any, ...]) -> Any:
        marks, output = self._marked(call)
        if here.trace is not None:
            assert isinstance(here.trace, Tracing)
            scalar(here.trace.facts.spec(output), self.title)
        place = {k: n for n, k in enumerate(call.traced)}
        found = gradients(output, ones_like(output), [marks[place[k]] for k in call.asked])
        constant = not any(isinstance(leaf, Layer) for leaf in call.leaves) and is_constant(output)
        deltas: dict[int, Any] = dict(zip(call.asked, found, strict=True))
        value: Any = output
        if constant:
            value = constant_value(output)
            deltas = {k: like_argument(call.leaves[k], constant_value(one)) for k, one in deltas.items()}
        return self._answer(value, self._structured(call, args, deltas))

    def _marked(self, call: _Call) -> tuple[list[AnyLayer], AnyLayer]:
        """The function's value over variables of its own, so that only what depends on them is differentiated."""
        marks: list[AnyLayer] = [Mark.make((as_layer(call.leaves[k]),)) for k in call.traced]
        args, kwargs = call.rebuilt(marks)
        if here.trace is None:
            return marks, as_output(self.f(*args, **kwargs))
        return marks, as_layer(as_output(run_body(None, self.f, args, kwargs)))

    # ------------------------------------------------------------------ vjp
    def vjp(self, args: tuple[Any, ...]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        call = _Call(self, args, {})
        if here.trace is not None or any(isinstance(leaf, Layer) for leaf in call.leaves):
            return self._inline_vjp(call, args)
        return self.paths.run(self._request(call), lambda on: self._taped(call, args, on))

    def _taped(
        self, call: _Call, args: tuple[Any, ...], on: Specialization
    ) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        place = {k: n for n, k in enumerate(call.traced)}
        executable = on.taped([place[k] for k in call.asked])
        program, primal = executable.program, len(on.outputs)
        slots = program.slots([*map(_kept, [*call.values, *on.values()]), *[None] * primal])
        program.run(slots, 0, program.split)
        value = shaped(on.output, [own(one) for one in program.results(slots)[:primal]])

        def pullback(delta: Any) -> tuple[Any, ...]:
            results = way_back(program, placed(on, program, slots, delta, f"the pullback of {self.title}"), primal)
            deltas = {k: like_argument(call.leaves[k], one) for k, one in zip(call.asked, results, strict=False)}
            return self._structured(call, args, deltas)

        return value, pullback

    def _inline_vjp(self, call: _Call, args: tuple[Any, ...]) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
        marks, output = self._marked(call)
        place = {k: n for n, k in enumerate(call.traced)}

        def pullback(delta: Any) -> tuple[Any, ...]:
            given = Tuple(*delta) if isinstance(delta, tuple) else as_layer(delta)
            found = gradients(output, given, [marks[place[k]] for k in call.asked])
            return self._structured(call, args, dict(zip(call.asked, found, strict=True)))

        value = tuple(flat(output)) if isinstance(output, Tuple) else output
        return value, pullback


def _kept(value: Any) -> Any:
    return np.array(value) if isinstance(value, np.ndarray) else value


def like_argument(argument: Any, delta: Any) -> Any:
    """A delta as the kind of value that its argument is: 0-d arrays stay arrays, Python numbers Python numbers."""
    if isinstance(argument, np.ndarray):
        return np.asarray(delta, dtype=argument.dtype if argument.dtype.kind in "fc" else None)
    if isinstance(argument, (float, complex)) and not isinstance(argument, np.generic):
        return type(argument)(delta)
    return delta


__all__ = ["grad", "value_and_grad", "vjp"]
