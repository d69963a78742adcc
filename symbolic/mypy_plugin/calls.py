"""What type has an operation on layers? That of the spec which the run-time rule infers."""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mypy.nodes import ARG_STAR, ARG_STAR2, CallExpr, Context, Expression, MemberExpr, RefExpr
from mypy.subtypes import is_subtype
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    ProperType,
    TupleType,
    Type,
    UnionType,
    get_proper_type,
)

from symbolic.layer import METHODS, Layer
from symbolic.mypy_plugin.arguments import Arguments
from symbolic.mypy_plugin.bodies import TRUSTED, Bodies
from symbolic.mypy_plugin.expansions import Expansions
from symbolic.mypy_plugin.reporting import report
from symbolic.mypy_plugin.vocabulary import Vocabulary, holds_layer, is_layer, taken_apart, unknown
from symbolic.polynomial import Size
from symbolic.static import evaluation
from symbolic.static.abstract import UNKNOWN, Answer, Finding, Value
from symbolic.static.printing import short_layer

_BINARY = {name: getattr(operator, name) for name in ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow")}
_BINARY |= {"and": operator.and_, "or": operator.or_, "xor": operator.xor, "lshift": operator.lshift}
_BINARY |= {"rshift": operator.rshift, "divmod": divmod}
_COMPARED = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}
_UNARY = {"neg": operator.neg, "pos": operator.pos, "invert": operator.invert, "abs": abs}

Operator = tuple[Callable[..., Any], bool]
OPERATORS: dict[str, Operator] = {
    **{f"__{name}__": (function, False) for name, function in {**_BINARY, **_COMPARED, **_UNARY}.items()},
    **{f"__r{name}__": (function, True) for name, function in _BINARY.items()},
    **{f"__i{name}__": (function, False) for name, function in _BINARY.items()},
    "__getitem__": (operator.getitem, False),
}
"""The function of each special method, and whether its operands come the other way round."""


class Given:
    """One call, as the hooks of functions and of methods tell it."""

    def __init__(self, ctx: Any) -> None:
        self.ctx, self.api, self.context = ctx, ctx.api, ctx.context
        self.positional: list[tuple[Type, Expression]] = []
        self.named: dict[str, tuple[Type, Expression]] = {}
        self.faithful = True
        for types, exprs, kinds, names in zip(ctx.arg_types, ctx.args, ctx.arg_kinds, ctx.arg_names, strict=True):
            for typ, expr, kind, name in zip(types, exprs, kinds, names, strict=True):
                if kind in (ARG_STAR, ARG_STAR2):
                    self.faithful = False
                elif name is None:
                    self.positional.append((typ, expr))
                else:
                    self.named[name] = typ, expr

    @property
    def types(self) -> list[Type]:
        return [typ for types in self.ctx.arg_types for typ in types]

    def type_of(self, expression: Expression) -> Type | None:
        """The type that mypy has found for a part of an argument."""
        found: Type | None = self.api.lookup_type_or_none(expression)
        return found


class Calls:
    """The hooks of calls, over one build's types."""

    def __init__(self, words: Vocabulary, expansions: Expansions, arguments: Arguments, bodies: Bodies) -> None:
        self.words, self.expansions, self.arguments, self.bodies = words, expansions, arguments, bodies

    # ------------------------------------------------------------------ hooks
    def function(self, fullname: str, ctx: Any) -> Type:
        """A call of a function by its name."""
        default: Type = ctx.default_return_type
        module = ctx.api.tree.fullname
        if not any(map(holds_layer, ctx.arg_types and [typ for one in ctx.arg_types for typ in one])):
            taken = self.bodies.taken(ctx.api)
            return default if taken is None else self.bodies.callable(default, taken, module)
        given = Given(ctx)
        taken = self.taken(given, given.types)
        function = known_function(fullname)
        if function is None:
            return self.bodies.callable(self.bodies.lifted(default, taken, module), taken, module)
        return self.answer(given, function, given.positional, given.named, default, taken)

    def ufunc(self, ctx: Any, name: str) -> Type:
        """A call of a ufunc, or of a method of one: `np.exp(x)`, `np.add.reduce(x)`."""
        if not any(holds_layer(typ) for one in ctx.arg_types for typ in one):
            return ctx.default_return_type  # type: ignore[no-any-return]  # mypy's contexts are untyped to us
        given = Given(ctx)
        taken = self.taken(given, given.types)
        callee = ctx.context.callee if isinstance(ctx.context, CallExpr) else None
        if name != "__call__" and isinstance(callee, MemberExpr):
            callee = callee.expr
        function = known_function(callee.fullname) if isinstance(callee, RefExpr) else None
        if function is not None and name != "__call__":
            function = getattr(function, name, None)
        if function is None:
            return self.anything(taken)
        return self.answer(given, function, given.positional, given.named, ctx.default_return_type, taken)

    def operation(self, ctx: Any, name: str) -> Type:
        """An operator or a method, of a layer or of an array or number beside one."""
        given = Given(ctx)
        if not is_layer(ctx.type) and not any(map(holds_layer, given.types)):
            return ctx.default_return_type  # type: ignore[no-any-return]  # mypy's contexts are untyped to us
        taken = self.taken(given, [ctx.type, *given.types])
        own = (ctx.type, None)
        if name in OPERATORS:
            function, reflected = OPERATORS[name]
            operands = [*given.positional, own] if reflected else [own, *given.positional]
            return self.answer(given, function, operands, {}, ctx.default_return_type, taken)
        if name not in METHODS:
            return ctx.default_return_type  # type: ignore[no-any-return]  # mypy's contexts are untyped to us
        return self.answer(given, name, [own, *given.positional], given.named, ctx.default_return_type, taken)

    def attribute(self, ctx: Any, name: str) -> Type:
        """An attribute of a layer that an array has; a method answers by its own hook when it is called."""
        if not is_layer(ctx.type) or ctx.is_lvalue:
            return ctx.default_attr_type  # type: ignore[no-any-return]  # mypy's contexts are untyped to us
        if callable(getattr(np.ndarray, name, None)):
            return CallableType(
                [unknown(), unknown()],
                [ARG_STAR, ARG_STAR2],
                [None, None],
                unknown(),
                self.words.instance("builtins.function"),
                name=name,
            )
        value = self.arguments.of(ctx.type, None, lambda expression: None)
        if not hasattr(np.ndarray, name) or not isinstance(value, Value):
            return ctx.default_attr_type  # type: ignore[no-any-return]  # mypy's contexts are untyped to us
        answer = evaluation.attribute(name, value)
        layer = self.words.layer_args(ctx.type)
        assert layer is not None
        if answer.finding is not None:
            report(ctx.api, answer.finding, ctx.context)
        if name == "shape" and answer.value is UNKNOWN:
            return self.words.instance("builtins.tuple", self.words.instance("builtins.int"))
        if name in ("ndim", "size") and answer.value is UNKNOWN:
            return self.words.instance("builtins.int")
        return self.typed(answer.value, layer[0], ctx.api.tree.fullname, ctx.default_attr_type)

    # ------------------------------------------------------------------ inputs
    def taken(self, given: Given, types: Sequence[Type]) -> Type:
        """What the result takes: the narrower input of its operands. Unrelated ones are a finding."""
        found: Type | None = None
        for typ in types:
            for one in layers_in(typ):
                args = self.words.layer_args(one)
                assert args is not None
                found = args[0] if found is None else self._narrower(found, args[0], given)
        inside = self.bodies.taken(given.api)
        if found is None or self._is_constant(found):
            return found if inside is None and found is not None else inside or unknown()
        return found

    def _narrower(self, one: Type, other: Type, given: Given) -> Type:
        a, b = (self.expansions.natives.plain(typ) for typ in (one, other))
        if is_subtype(a, b):
            return one
        if is_subtype(b, a):
            return other
        seen = f"layers of different symbolic functions meet: one takes {self.short(one)}, the other {self.short(other)}"
        report(given.api, Finding(seen, "call the one within the other: g(f(x)), or g.compose(f)"), given.context)
        return unknown()

    def _is_constant(self, taken: Type) -> bool:
        args = self.words.tape_args(taken)
        return args is not None and isinstance(args[0], Instance) and args[0].type.fullname == "builtins.object"

    def short(self, tape: Type) -> str:
        """A tape as it stands in our sentences, by its data alone."""
        args = self.words.tape_args(tape)
        return "anything" if args is None else self.short_native(args[0])

    def short_native(self, typ: Type) -> str:
        from symbolic.static.printing import short

        spec = self.expansions.natives.spec(typ)
        proper = get_proper_type(typ)
        if spec is not None:
            return short(spec)
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
        args = [self.arguments.of(typ, expr, given.type_of) for typ, expr in positional]
        kwargs = {name: self.arguments.of(typ, expr, given.type_of) for name, (typ, expr) in named.items()}
        if not given.faithful:
            args.append(UNKNOWN)
        found = self._asked(function, args, kwargs)
        if found.finding is not None:
            report(given.api, found.finding, given.context)
            return self.anything(taken)
        return self.typed(found.value, taken, given.api.tree.fullname, default)

    def _asked(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Answer:
        if not isinstance(function, str):
            return evaluation.call(function, args, kwargs)
        return evaluation.method(function, args[0], args[1:], kwargs)

    def typed(self, value: Any, taken: Type, module: str, default: Type) -> ProperType:
        """The type of an answer: a layer for a value that is known by its spec, else the constant's."""
        proper = get_proper_type(default)
        if isinstance(value, Value):
            data = unknown() if value.loose else self.expansions.natives.type(value.spec)
            return self.words.layer(taken, self.expansions.tape(data, module))
        if isinstance(value, Size):
            return get_proper_type(self.expansions.natives.size(value))
        if isinstance(value, (bool, int, str)) and not isinstance(value, np.generic):
            fallback = self.words.instance(f"builtins.{type(value).__name__}")
            return fallback.copy_modified(last_known_value=LiteralType(value, fallback))
        if isinstance(value, tuple):
            items = [self.typed(one, taken, module, unknown()) for one in value]
            if isinstance(proper, TupleType) and len(proper.items) == len(items):
                return proper.copy_modified(items=items)
            return self.words.tuple_of(items)
        if value is None:
            return NoneType()
        if value is UNKNOWN and not isinstance(proper, AnyType) and not holds_layer(proper):
            return self.bodies.lifted(proper, taken, module)
        return self.anything(taken) if value is UNKNOWN else proper

    def anything(self, taken: Type) -> Instance:
        """A layer of whose value nothing is known."""
        return self.words.layer(taken, self.words.tape(unknown(), unknown()))


def layers_in(typ: Type) -> list[ProperType]:
    """The layers that stand in a type."""
    proper = taken_apart(typ)
    if proper is None:
        return []
    if is_layer(proper):
        return [proper]
    if isinstance(proper, (TupleType, UnionType)):
        return [one for item in proper.items for one in layers_in(item)]
    if isinstance(proper, Instance):
        return [one for item in proper.args for one in layers_in(item)]
    return []


@functools.cache
def known_function(fullname: str) -> Any:
    """The function of a name in NumPy, SciPy, `math`, the builtins or this library; `None` for a user's, never imported."""
    root = fullname.partition(".")[0]
    if root not in TRUSTED or root in ("functools", "itertools"):
        return None
    if root == "symbolic" and not fullname.startswith("symbolic.ops."):
        return None
    module, _, name = fullname.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):  # in the stubs alone
        return None
    if isinstance(found, type) and issubclass(found, Layer):
        return None  # a case class keeps its own type, so that it can be taken apart
    return found if callable(found) else None


__all__ = ["OPERATORS", "Calls", "Context", "Given", "known_function", "short_layer"]
