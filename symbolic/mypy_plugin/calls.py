"""What type has an operation on layers? That of the spec which the run-time rule infers."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from mypy.nodes import CallExpr, Expression, MemberExpr, RefExpr
from mypy.subtypes import is_same_type, is_subtype
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    ProperType,
    TupleType,
    Type,
    UninhabitedType,
    UnionType,
    get_proper_type,
)

from symbolic.layer import METHODS, Layer
from symbolic.mypy_plugin.arguments import Arguments
from symbolic.mypy_plugin.bodies import Bodies, natives_in
from symbolic.mypy_plugin.expansions import Expansions
from symbolic.mypy_plugin.given import (
    OPERATORS,
    Given,
    bound_anew,
    is_number,
    is_text_in_union,
    known_function,
    layers_in,
    uses_layers,
)
from symbolic.mypy_plugin.reporting import report
from symbolic.mypy_plugin.vocabulary import (
    LITERAL,
    NDARRAY,
    WEIGHT,
    Vocabulary,
    holds_layer,
    is_layer,
    is_protocol,
    unknown,
)
from symbolic.polynomial import Size
from symbolic.spec import Spec
from symbolic.static import evaluation
from symbolic.static.abstract import UNKNOWN, Answer, Finding, Value, native
from symbolic.static.causes import likely
from symbolic.static.valuations import replaced


class Calls:
    """The hooks of calls, over one build's types."""

    words: Vocabulary
    expansions: Expansions
    arguments: Arguments
    bodies: Bodies

    def __init__(self, words: Vocabulary, expansions: Expansions, arguments: Arguments, bodies: Bodies) -> None:
        self.words, self.expansions, self.arguments, self.bodies = words, expansions, arguments, bodies

    # ------------------------------------------------------------------ hooks
    def function(self, fullname: str, ctx: Any) -> Type:
        """A call of a function by its name."""
        default: Type = ctx.default_return_type
        module, given = ctx.api.tree.fullname, Given(ctx)
        if fullname in (LITERAL, WEIGHT):
            return self.leaf(given, default)
        function = known_function(fullname)
        if not given.layers:
            taken = self.bodies.taken(ctx.api)
            if taken is not None:
                return self.bodies.callable(default, taken, module)
            return self.native(given, function, default) if isinstance(get_proper_type(default), AnyType) else default
        if function is None:
            return self.of_user(given, ctx)
        taken = self.taken(given)
        if isinstance(function, type) and issubclass(function, Layer):
            return self.case_class(given, function, default, taken)
        return self.answer(given, function, given.positional, given.named, default, taken)

    def leaf(self, given: Given, default: Type) -> Type:
        """`Weight(he(784, 128))`, `Literal(np.ones(3))`: with the shape of the array where it is made on the spot."""
        proper = get_proper_type(default)
        row = given.positional[0] if given.positional else None
        if row is None or not isinstance(proper, Instance) or len(proper.args) != 2:
            return default
        if isinstance(get_proper_type(row[0]), AnyType):  # of a lambda's parameter mypy would take the first overload
            return proper.copy_modified(args=[unknown(), unknown()])
        value = self.arguments.of(row[0], row[1], given.type_of)
        spec = value.spec if isinstance(value, Value) and not value.loose else None
        if not isinstance(spec, Spec) or not spec.shape or native(spec) is not np.ndarray:
            return default
        natives = self.expansions.natives
        delta = self.expansions.delta(natives.array(spec), given.api.tree.fullname)
        return proper.copy_modified(args=[natives.array(spec), delta])

    def case_class(self, given: Given, function: Any, default: Type, taken: Type) -> Type:
        """`Plus(f, g)`: a layer of a known type where those of the operands are known, else a node of the class."""
        if any(isinstance(self.data(typ), (AnyType, UninhabitedType)) for typ in given.layers):
            return default
        return self.answer(given, function, given.positional, given.named, default, taken)

    def ufunc(self, ctx: Any, name: str) -> Type:
        """A call of a ufunc, or of a method of one: `np.exp(x)`, `np.add.reduce(x)`."""
        given = Given(ctx)
        callee = ctx.context.callee if isinstance(ctx.context, CallExpr) else None
        if name != "__call__" and isinstance(callee, MemberExpr):
            callee = callee.expr
        function = known_function(callee.fullname) if isinstance(callee, RefExpr) else None
        if function is not None and name != "__call__":
            function = getattr(function, name, None)
        if not given.layers:
            default = ctx.default_return_type
            return self.native(given, function, default) if isinstance(get_proper_type(default), AnyType) else default
        taken = self.taken(given)
        if function is None:
            return self.anything(taken)
        return self.answer(given, function, given.positional, given.named, ctx.default_return_type, taken)

    def operation(self, ctx: Any, name: str) -> Type:
        """An operator or a method, of a layer or of an array or number beside one."""
        given = Given(ctx)
        known = name in OPERATORS or name in METHODS or name == "__iter__"
        if not (is_layer(ctx.type) and known) and not given.layers:
            return self.native_operation(given, ctx, name)
        if not known:
            self.bodies.widen(ctx)
        if not known or not (is_layer(ctx.type) or self.arguments.of_native(ctx.type) is not UNKNOWN):
            return self.of_user(given, ctx)
        taken = self.taken(given, ctx.type)
        if is_text_in_union(ctx):
            return self.anything(taken)
        own = (ctx.type, None)
        if name == "__iter__":
            return self.rows(given, ctx, taken)
        if name in OPERATORS:
            function, reflected = OPERATORS[name]
            operands = [*given.positional, own] if reflected else [own, *given.positional]
            result = self.beside_native(self.answer(given, function, operands, {}, ctx.default_return_type, taken), ctx)
            return bound_anew(result, ctx)
        return self.answer(given, name, [own, *given.positional], given.named, ctx.default_return_type, taken)

    def native_operation(self, given: Given, ctx: Any, name: str) -> Type:
        """An operator of arrays, of which NumPy's hints say nothing: `x @ w`."""
        default: Type = ctx.default_return_type
        proper = get_proper_type(default)
        if name not in OPERATORS or not isinstance(proper, (AnyType, Instance)):
            return self.bodies.held_function(default, ctx.api)
        function, reflected = OPERATORS[name]
        own = (ctx.type, None)
        given.positional = [*given.positional, own] if reflected else [own, *given.positional]
        return (
            self._retyped(given, function, proper)
            if isinstance(proper, Instance)
            else self.native(given, function, default)
        )

    def _retyped(self, given: Given, function: Any, hinted: Instance) -> Type:
        """The array of NumPy's hints with the dtype that NumPy gives: an int beside an array of float32 they take for
        one of 64 bits, so that `pixels / 255` would be of float64."""
        natives = self.expansions.natives
        claimed = natives.spec(hinted) if hinted.type.fullname == NDARRAY and uses_layers(given.api.tree) else None
        if not isinstance(claimed, Spec) or claimed.dtype is None:
            return hinted
        value = self._asked(function, self.known(given, given.positional, {})[0], {}).value
        spec = value.spec if isinstance(value, Value) else None
        if not isinstance(spec, Spec) or spec.dtype in (None, claimed.dtype):
            return hinted
        return hinted.copy_modified(args=[hinted.args[0], natives.array(spec).args[1]])

    def of_user(self, given: Given, ctx: Any) -> Type:
        """A function or a method of a user's own that is given layers: what it gives is one too."""
        default: Type = ctx.default_return_type
        taken, module = self.bodies.taken(ctx.api), ctx.api.tree.fullname
        if taken is None:
            return default  # outside of a body a function takes and gives what its hints say
        lifted = self.bodies.lifted(default, taken, module)
        if is_layer(default) and any(map(self.bodies.may_change, given.types, itertools.repeat(lifted))):
            return self.anything(taken)
        return self.bodies.callable(lifted, taken, module)

    def rows(self, given: Given, ctx: Any, taken: Type) -> Type:
        """What a layer gives when it is iterated over: its rows, or the entries of a tuple."""
        data = self.data(ctx.type)
        module = ctx.api.tree.fullname
        if isinstance(data, TupleType):
            entries = [self.words.layer(taken, self.expansions.tape(one, module)) for one in data.items]
            row: Type = UnionType.make_union(entries)
        else:
            row = self.answer(
                given,
                operator.getitem,
                [(ctx.type, None), (self.words.instance("builtins.int"), None)],
                {},
                unknown(),
                taken,
            )
        return self.words.instance("typing.Iterator", row)

    def data(self, typ: Type) -> ProperType:
        """The native type of what a layer gives."""
        args = self.words.layer_args(typ)
        tape = None if args is None else self.words.tape_args(args[1])
        return unknown() if tape is None else tape[0]

    def beside_native(self, typ: Type, ctx: Any) -> Type:
        """In a plain function an array may stand for a layer, so an array beside a weight is what an array is."""
        rows = [
            row for types, exprs in zip(ctx.arg_types, ctx.args, strict=True) for row in zip(types, exprs, strict=True)
        ]
        plain = [one for one, expr in [(ctx.type, None), *rows] if not holds_layer(one) and not is_number(expr)]
        if not self.words.is_constant(typ) or not any(map(natives_in, plain)):
            return typ
        if ctx.api.scope.current_function() is None or self.bodies.taken(ctx.api) is not None:
            return typ
        return self.data(typ)

    def native(self, given: Given, function: Any, default: Type) -> Type:
        """A call without layers of which NumPy's hints say nothing: its native type, in a module that uses layers."""
        if function is None or not uses_layers(given.api.tree):
            return default
        args, kwargs = self.known(given, given.positional, given.named)
        if not any(isinstance(one, Value) for one in (*args, *kwargs.values())):
            return default
        value = self._asked(function, args, kwargs).value
        context = get_proper_type(given.api.type_context[-1]) if given.api.type_context else None
        wanted = isinstance(context, Instance) and context.type.fullname == NDARRAY
        if not isinstance(value, Value) or (value.loose and not wanted and kwargs.get("keepdims") is not True):
            return default  # it may be a number, and is not needed as an array
        return self.expansions.natives.of_spec(value.spec)

    # ------------------------------------------------------------------ inputs
    def taken(self, given: Given, *own: Type) -> Type:
        """What the result takes: the narrower input of its operands. Unrelated ones are a finding."""
        found: Type | None = None
        for typ in (*own, *given.layers):
            for one in layers_in(typ):
                args = self.words.layer_args(one)
                assert args is not None
                found = args[0] if found is None else self._narrower(found, args[0], given)
        return unknown() if found is None else found

    def _narrower(self, one: Type, other: Type, given: Given) -> Type:
        a, b = (get_proper_type(self.expansions.natives.plain(typ)) for typ in (one, other))
        if isinstance(a, AnyType) or isinstance(b, AnyType):
            return other if isinstance(a, AnyType) else one
        if is_subtype(a, b):
            return one
        if is_subtype(b, a):
            return other
        seen = (
            f"layers of different symbolic functions meet: one takes {self.short(one)}, the other {self.short(other)}"
        )
        report(given.api, Finding(seen, "call the one within the other: g(f(x)), or g.compose(f)"), given.context)
        return unknown()

    def short(self, tape: Type) -> str:
        """A tape as it stands in our sentences, by its data alone."""
        args = self.words.tape_args(tape)
        return "anything" if args is None else self.short_native(args[0])

    def short_native(self, typ: Type) -> str:
        from symbolic.static.printing import short

        spec = self.expansions.natives.spec(typ)
        proper = get_proper_type(typ)
        if isinstance(proper, CallableType):
            return "a function"
        if spec is not None:
            return short(spec)
        if isinstance(proper, TupleType):
            return f"({', '.join([self.short_native(one) for one in proper.items])})"
        return proper.type.name if isinstance(proper, Instance) else "anything"

    def short_layer(self, typ: Type) -> str:
        """A layer as it stands in our sentences: `Layer[float32[batch, 784] → float32[batch, 10]]`."""
        args = self.words.layer_args(typ)
        if args is None:
            return self.short_native(typ)
        return f"Layer[{self.short(args[0])} → {self.short(args[1])}]"

    # ------------------------------------------------------------------ results
    def answer(
        self,
        given: Given,
        function: Any,
        positional: Sequence[tuple[Type, Expression | None]],
        named: dict[str, tuple[Type, Expression]],
        default: Type,
        taken: Type,
    ) -> Type:
        """The type of what a known function, or the method of that name, gives; what is wrong is reported."""
        args, kwargs = self.known(given, positional, named)
        found = self._asked(function, args, kwargs)
        if found.finding is not None and found.finding.kind == "symbolic-shape" and self._fixes(positional, named):
            # `x @ Weight(he(100, 100))`: from here on a name that stood for any size stands for 100
            settled = [replaced(one, _any_size) for one in args], replaced(kwargs, _any_size)
            again = self._asked(function, *settled)
            found = found if again.finding is not None else again
        if found.finding is not None:
            report(given.api, likely(found.finding, function, args), given.context)
            return self.anything(taken)
        return self.typed(found.value, taken, given.api.tree.fullname, default)

    def _fixes(self, positional: Any, named: Any) -> bool:
        """Whether an operand is an array whose sizes are numbers: a weight, a constant, an array from outside."""
        return any(self.words.is_constant(typ) or not is_layer(typ) for typ, _ in [*positional, *named.values()])

    def known(self, given: Given, positional: Any, named: Any) -> tuple[list[Any], dict[str, Any]]:
        """The arguments as the core of the checkers takes them."""
        args = [self.arguments.of(typ, expr, given.type_of) for typ, expr in positional]
        kwargs = {name: self.arguments.of(typ, expr, given.type_of) for name, (typ, expr) in named.items()}
        return args if given.faithful else [*args, UNKNOWN], kwargs

    def _asked(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Answer:
        if not isinstance(function, str):
            return evaluation.call(function, args, kwargs)
        return evaluation.method(function, args[0], args[1:], kwargs)

    def typed(self, value: Any, taken: Type, module: str, default: Type) -> ProperType:
        """The type of an answer: a layer for a value that is known by its spec, else the constant's."""
        proper = get_proper_type(default)
        if isinstance(value, Value):
            data = self.expansions.natives.of_spec(value.spec, value.loose)
            return self.words.layer(taken, self.expansions.tape(data, module))
        if isinstance(value, Size):
            return get_proper_type(self.expansions.natives.size(value))
        if isinstance(value, (bool, int, str)) and not isinstance(value, np.generic):
            fallback = self.words.instance(f"builtins.{type(value).__name__}")
            return fallback.copy_modified(last_known_value=LiteralType(value, fallback))
        if isinstance(value, tuple):
            items: list[Type] = [self.typed(one, taken, module, unknown()) for one in value]
            if isinstance(proper, TupleType) and len(proper.items) == len(items):
                return proper.copy_modified(items=items)
            return self.words.tuple_of(items)
        if isinstance(value, list):
            entries = [self.typed(one, taken, module, unknown()) for one in value]
            same = bool(entries) and all(is_same_type(one, entries[0]) for one in entries)
            return self.words.instance("builtins.list", entries[0] if same else self.anything(taken))
        if value is None:
            return NoneType()
        if value is UNKNOWN and not isinstance(proper, AnyType) and not (holds_layer(proper) or is_protocol(proper)):
            return self.bodies.lifted(proper, taken, module)
        return self.anything(taken) if value is UNKNOWN else proper

    def anything(self, taken: Type) -> Instance:
        """A layer of whose value nothing is known."""
        return self.words.layer(taken, self.words.tape(unknown(), unknown()))


def _any_size(size: Size) -> None:
    """A named size as one that is not known."""
