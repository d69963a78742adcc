"""How does a plain function become a network? `@symbolic` reads its hints and runs its body as a trace."""

from __future__ import annotations

import inspect
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from symbolic.context import here, scope, source
from symbolic.dims import Names
from symbolic.errors import DtypeError, ShapeError, SymbolicError, Where, fail, place_of
from symbolic.hints import check, check_fields, concrete, convert, declared_spec
from symbolic.inference import Inference
from symbolic.layer import AnyLayer, Layer, refuse
from symbolic.leaves import Identity, Literal, Projection, Weight, set_once, settled
from symbolic.literal import as_layer
from symbolic.methods import methods_of
from symbolic.network import network
from symbolic.ops.operation import Operation, topological
from symbolic.ops.passing import Tuple
from symbolic.paths import Traces
from symbolic.signature import Signature, no_values, signature_of
from symbolic.sites import Store, fresh_seed, place_name
from symbolic.trace import Tracing, as_output, run_body, trace
from symbolic.values import is_static, native
from symbolic.watch import Held, Watch


class SymbolicFunction(Layer[Any, Any]):
    """A function whose body writes a network: what `@symbolic` makes of it.

    The parameters whose hint carries `Symbolic` are the inputs; the others are hyperparameters. When all of those
    have values it is a Layer with its own weights; else `f(name=value, …)` makes one.
    """

    __slots__ = ("__dict__", "bound", "function", "plan", "store")
    bound: dict[str, Any]
    function: Callable[..., Any]
    plan: Signature
    store: Store

    def __init__(
        self,
        function: Callable[..., Any],
        plan: Signature,
        bound: Mapping[str, Any] | None = None,
        store: Store | None = None,
    ) -> None:
        kept = {"function": function, "plan": plan, "bound": dict(bound or {}), "__wrapped__": function}
        kept["store"] = Store(fresh_seed()) if store is None else store
        target, names = getattr(function, "func", function), ("__name__", "__qualname__", "__doc__", "__module__")
        for name, value in {**kept, **{name: getattr(target, name, None) for name in names}}.items():
            set_once(self, name, value)  # never by `__dict__`: where nobody holds it, methods are found more quickly

    # ------------------------------------------------------------------ what it is
    @property
    def input_names(self) -> tuple[str, ...]:
        return self.plan.inputs

    @property
    def title(self) -> str:
        return str(
            getattr(self.function, "__name__", None)
            or getattr(getattr(self.function, "func", None), "__name__", "function")
        )

    def missing(self) -> list[str]:
        return [name for name in self.plan.required if name not in self.bound]

    def _complete(self) -> None:
        missing = self.missing()
        if missing:
            raise no_values(self.title, missing, place_of(self._origin))

    # ------------------------------------------------------------------ calling
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs and len(args) == self.plan.leading and here.trace is None:
            for one in args:
                if isinstance(one, Layer):
                    break
            else:
                return self.predict(*args)
        values, hyper = self._bind(args, kwargs)
        if not values and hyper:
            store = here.trace.store() if here.trace is not None else None  # the same weights at the next trace
            return SymbolicFunction(self.function, self.plan, {**self.bound, **hyper}, store)
        inside_trace = here.trace is not None
        if inside_trace or any(isinstance(one, Layer) for one in values.values()):
            return self._compose(values, hyper)
        layer = SymbolicFunction(self.function, self.plan, {**self.bound, **hyper}) if hyper else self
        return layer.predict(*[values[name] for name in self.plan.inputs])

    _predicts = __call__

    def placed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[SymbolicFunction, list[Any]]:
        """The layer that a call means, and its inputs by position."""
        values, hyper = self._bind(args, kwargs)
        layer = SymbolicFunction(self.function, self.plan, {**self.bound, **hyper}) if hyper else self
        return layer, [values[name] for name in self.plan.inputs]

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The inputs and the hyperparameters of a call; TypeError for one that is missing or too many."""
        try:
            bound = self.plan.signature.bind_partial(*args, **kwargs).arguments
        except TypeError as error:
            raise DtypeError(
                f"{self.title}: {error}", where=place_of(source()), remedy=self.plan.usage(self.title)
            ) from None
        values = {name: bound.pop(name) for name in self.plan.inputs if name in bound}
        bound = {name: settled(one) for name, one in bound.items()}
        if values or not bound:
            self._all_inputs(values)
        return values, bound

    def _all_inputs(self, values: Mapping[str, Any]) -> None:
        absent = [name for name in self.plan.inputs if name not in values and name not in self.plan.defaults]
        if absent:
            raise DtypeError(
                f"{self.title} was called without {', '.join(absent)}",
                where=place_of(source()),
                remedy=self.plan.usage(self.title),
            )
        for name in self.plan.inputs:
            if name not in values and isinstance(values, dict):
                values[name] = self.plan.defaults[name]

    def _compose(self, values: dict[str, Any], hyper: dict[str, Any]) -> AnyLayer:
        """The body written into the caller's graph: with its own weights, or the caller's for new hyperparameters."""
        if hyper or self.missing():
            return SymbolicFunction(self.function, self.plan, {**self.bound, **hyper}).write(
                [as_layer(values[name]) for name in self.plan.inputs], own=here.trace is None
            )
        layers = [Tuple(*one) if isinstance(one, tuple) else as_layer(one) for one in map(values.get, self.plan.inputs)]
        return self.write(layers, own=True) if here.trace is not None else Applied.of(self, layers)

    def apply(self, input: AnyLayer) -> AnyLayer:
        count = len(self.plan.inputs)
        if count == 1:
            return self.write([input], own=True)
        entries = list(input.operands) if isinstance(input, Tuple) else None
        if entries is None or len(entries) != count:
            raise DtypeError(
                f"{self.title} takes {count} inputs ({', '.join(self.plan.inputs)}), not {len(entries or [0])}",
                where=place_of(source()),
                remedy=self.plan.usage(self.title),
            )
        return self.write(entries, own=True)

    def write(self, layers: Sequence[AnyLayer], own: bool) -> AnyLayer:
        """Run the body over layers; the checks of its hints join the trace."""
        self._complete()
        tracing = here.trace
        if tracing is None:
            return Applied.of(self, layers)
        assert isinstance(tracing, Tracing)
        names = Names()
        with scope(tracing.numbered(self.title)):
            where = here.path
            self._checked(tracing, layers, None, where, names)
            self._fields_checked(tracing.facts, layers, where)
            args, kwargs = self._arguments(layers)
            if self.bound:
                tracing.hyperparameters.append(Watch("a hyperparameter", Held(self.bound), None))
            returned = run_body(self.store if own else None, self.function, args, kwargs)
            if returned is None:
                refuse(f"{self.title} returned nothing", "end its body with `return` and the result")
            output = as_output(returned)
            self._checked(tracing, layers, output, where, names)
        return output

    def _arguments(self, layers: Sequence[AnyLayer]) -> tuple[list[Any], dict[str, Any]]:
        given = {**self.bound, **dict(zip(self.plan.inputs, map(_opened, layers), strict=True))}
        bound = inspect.BoundArguments(self.plan.signature, OrderedDict())
        for name in self.plan.signature.parameters:
            if name in given:
                bound.arguments[name] = given[name]
        bound.apply_defaults()
        return list(bound.args), bound.kwargs

    def _checked(
        self, tracing: Tracing, layers: Sequence[AnyLayer], output: AnyLayer | None, where: str, names: Names
    ) -> None:
        """Hold inputs (and the output, once it is there) against the hints now, and at every new spec later."""

        plan = self.plan  # not the layer, which keeps the trace

        def holds(facts: Inference) -> None:
            bound = Names()
            try:
                for name, layer in zip(plan.inputs, layers, strict=True):
                    check(plan.hints[name], facts.spec(layer), bound, f"argument {name}")
                if output is not None and plan.returns is not None:
                    check(plan.returns, facts.spec(output), bound, "the returned value")
                if output is not None:
                    bound.settled()
            except (ShapeError, DtypeError) as error:
                fail(error, Where(where, plan.file, plan.line))

        holds(tracing.facts)
        if output is not None:
            tracing.checks.append(holds)

    def _fields_checked(self, facts: Inference, layers: Sequence[AnyLayer], where: str) -> None:
        """Hold the fields of objects against the hints of their class."""
        plan = self.plan
        given = {**self.bound, **dict(zip(plan.inputs, map(_opened, layers), strict=True))} if plan.records else {}
        try:
            for name, fields in plan.records.items():
                check_fields(fields, given.get(name), facts.spec, f"argument {name}")
        except (ShapeError, DtypeError) as error:
            fail(error, Where(where, plan.file, plan.line))

    # ------------------------------------------------------------------ values
    @staticmethod
    def accept(self: SymbolicFunction, inputs: tuple[Any, ...]) -> Any:
        """The inputs of `predict` and its like, counted."""
        self._complete()
        names = self.plan.inputs
        if len(inputs) == 1 and len(names) > 1 and type(inputs[0]) is tuple:
            inputs = inputs[0]
        inputs = (*inputs, *[self.plan.defaults[n] for n in names[len(inputs) :] if n in self.plan.defaults])
        if len(inputs) != len(names):
            raise DtypeError(
                f"{self.title} takes {len(names)} of the inputs {', '.join(names)}, not {len(inputs)}",
                where=place_of(source()),
                remedy=self.plan.usage(self.title),
            )
        values = tuple([self._native(name, one) for name, one in zip(names, inputs, strict=True)])
        return values[0] if len(values) == 1 else values

    def _native(self, name: str, value: Any) -> Any:
        hint = self.plan.hints[name].native
        if hint is float and type(value) is int:
            return float(value)
        if concrete(hint) and type(value) in (int, float):
            return hint(value)
        return native(value)

    @staticmethod
    def declares(self: SymbolicFunction) -> Any:
        """The native type that `finish` gives, of a single result; `None` where nothing is declared."""
        returns = self.plan.returns
        return None if returns is None else returns.native

    @staticmethod
    def finish(self: SymbolicFunction, value: Any) -> Any:
        returns = self.plan.returns
        if returns is None:
            return value
        if returns.entries is not None and isinstance(value, tuple):
            return tuple(convert(one.native, entry) for one, entry in zip(returns.entries, value, strict=True))
        return convert(returns.native, value)

    # ------------------------------------------------------------------ the tree
    def tree(self) -> AnyLayer:
        """The graph of the body, without data; TraceError where it asks what only data can tell."""
        self._complete()
        names = self.plan.inputs
        leaves: list[AnyLayer] = [Projection(k, name) for k, name in enumerate(names)]
        if len(leaves) == 1:
            leaves = [Identity(names[0])]
        facts = Inference({leaf: declared_spec(self.plan.hints[n]) for leaf, n in zip(leaves, names, strict=True)})
        argument = leaves[0] if len(leaves) == 1 else Tuple.make(tuple(leaves))
        try:
            return trace(lambda: self.apply(argument), leaves, facts, twice=False).output
        except SymbolicError:
            for one in reversed(network(self).traces):
                if one.fresh():
                    return one.output
            raise

    def __str__(self) -> str:
        return str(self.tree())

    def __repr__(self) -> str:
        missing = self.missing()
        return f"<symbolic {self.title}({', '.join([*self.plan.inputs, *missing])})>"

    def parts(self) -> Sequence[str | AnyLayer]:
        return (self.title,)

    def children(self) -> Sequence[tuple[str, AnyLayer]]:
        """The weights that the traces reach, each named by its place in the body."""
        graphs = [one.output for one in network(self).traces]
        with suppress(*(SymbolicError,) * bool(self.store.weights)):  # a tree that asks for data, of known weights
            graphs = graphs or [self.tree()]
        found = [node for node in topological(graphs or list(self.store.weights.values())) if isinstance(node, Weight)]
        order = {weight: k for k, weight in enumerate(self.store.weights.values())}  # as the body makes them
        found.sort(key=lambda weight: order.get(weight, len(order)))
        return [(place_name(weight, self.title), weight) for weight in found]

    def traces(self) -> Traces:
        """How many traces there are by now, of how many paths, with how many guards."""
        return network(self).count()

    # ------------------------------------------------------------------ methods
    def __get__(self, instance: Any, owner: type) -> Any:
        """As a method: a layer of its own for each instance."""
        if isinstance(self.function, staticmethod):
            return self
        if isinstance(self.function, classmethod):
            instance = owner
        if instance is None:
            return self
        return methods_of(instance, self.__dict__.setdefault("_kept", {})).layer(self, owner)


class Applied(Operation):
    """A symbolic function over other layers, outside any trace: its body is run when the specs are known."""

    __slots__ = ()
    variadic = True
    unwritten = True
    defaults: ClassVar[Any] = {"function": None}

    @classmethod
    def of(cls, function: SymbolicFunction, layers: Sequence[AnyLayer]) -> AnyLayer:
        function._complete()
        return cls.make(tuple(layers), (function,))  # type: ignore[no-any-return]  # a layer

    def rebuilt(self, operands: tuple[AnyLayer, ...]) -> Any:
        if here.trace is not None:
            return self.function.write(list(operands), own=True)
        return super().rebuilt(operands)

    def children(self) -> Sequence[tuple[str, AnyLayer]]:
        return [("", self.function), *super().children()]

    def parts(self) -> Sequence[str | AnyLayer]:
        fields: list[str | AnyLayer] = []
        for one in self.operands:
            fields += [", ", one] if fields else [one]
        return (f"{self.function.title}(", *fields, ")")


def _opened(layer: AnyLayer) -> Any:
    """What a body is given: `None`, a string or a flag as it is, all else as a layer."""
    return layer.value if isinstance(layer, Literal) and is_static(layer.value) else layer


def make(function: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any], depth: int) -> SymbolicFunction:
    """A symbolic function from its own hints and those that are given beside it."""
    return SymbolicFunction(function, signature_of(function, given, named, sys._getframe(depth).f_locals))


if TYPE_CHECKING:  # the overloads cost nothing when the program runs
    from symbolic.decorating import Decorating
else:
    Decorating = object


class Decorator(Decorating):
    """Make a network of a plain function: `@symbolic`.

    Its parameters with a hint `Annotated[T, Symbolic]` are the inputs. For a lambda, or a function without hints,
    they are given beside it, in order or by name, with `returns=` for the result. DtypeError for a hint whose type
    has no `ToLiteral`, and for a function without inputs.

    >>> import numpy as np
    >>> from typing import Annotated
    >>> from symbolic import Symbolic, symbolic
    >>> @symbolic
    ... def total(scores: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
    ...     return np.sum(np.exp(scores))
    >>> print(total)
    Sum(Exp(Identity()))
    >>> total(np.zeros(3))
    3.0
    >>> symbolic(lambda x: x * 2.0, float).predict(3.0)
    6.0
    """

    hints: tuple[Any, ...]
    named: dict[str, Any]

    __name__ = __qualname__ = "symbolic"

    def __init__(self, *hints: Any, **named: Any) -> None:
        self.hints, self.named = hints, named

    if not TYPE_CHECKING:  # a type checker reads `Decorating`

        def __call__(self, function=None, *hints, **named):
            if self.hints or self.named:
                hints, named = (*self.hints, *hints), {**self.named, **named}
            return Decorator(*hints, **named) if function is None else make(function, hints, named, depth=2)

    def __repr__(self) -> str:
        given = [*map(repr, self.hints), *(f"{name}={hint!r}" for name, hint in self.named.items())]
        return f"symbolic({', '.join(given)})" if given else "<decorator symbolic>"

    def __reduce__(self) -> Any:
        return "symbolic" if self is symbolic else (Decorator, self.hints, self.named)


symbolic: Decorator = Decorator()
