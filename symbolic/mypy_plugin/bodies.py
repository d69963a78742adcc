"""What does a call mean within a symbolic body? What takes arrays and numbers takes layers there, and gives layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mypy.nodes import (
    ARG_POS,
    ARG_STAR,
    ARG_STAR2,
    DictExpr,
    Expression,
    FuncItem,
    GeneratorExpr,
    ListComprehension,
    ListExpr,
    RefExpr,
    StarExpr,
    TupleExpr,
)
from mypy.subtypes import is_subtype
from mypy.types import (
    AnyType,
    CallableType,
    FunctionLike,
    Instance,
    Overloaded,
    ParamSpecType,
    ProperType,
    TupleType,
    Type,
    TypedDictType,
    TypeVarType,
    UnionType,
    UnpackType,
    get_proper_type,
)

from symbolic.mypy_plugin.expansions import Expansions, is_native
from symbolic.mypy_plugin.vocabulary import (
    IDENTITY,
    PROJECTION,
    TRAINER,
    Vocabulary,
    holds_layer,
    is_layer,
    taken_apart,
    unknown,
)

TRUSTED = ("numpy", "math", "scipy", "builtins", "operator", "symbolic", "cmath")
"""Packages whose functions are followed by what they are, not by their hints."""
BUILTINS = {f"builtins.{name}" for name in ("abs", "complex", "divmod", "float", "max", "min", "pow", "round", "sum")}
"""Those that keep the gradient; `len`, `int` and `str` of a layer give what plain Python gives."""
_GROWING = ("builtins.list", "builtins.dict", "collections.deque")
_LEFT = (AnyType, TypedDictType, TypeVarType, UnpackType, ParamSpecType)
"""Types of parameters that stay as they are; a type variable takes the layer's own type."""
CHECKED = ("symbolic.function.Decorator", TRAINER)
RUNNING = ("__call__", "predict", "train")
"""What runs a layer on values, or composes it."""
OURS = (*RUNNING, "compose")
"""The methods of layers whose arguments the plugin checks, not mypy."""


class Bodies:
    """The bodies of symbolic functions, over one build's types."""

    words: Vocabulary
    expansions: Expansions

    def __init__(self, words: Vocabulary, expansions: Expansions) -> None:
        self.words, self.expansions = words, expansions

    def taken(self, api: Any) -> Type | None:
        """What the innermost symbolic function around the checked code takes; `None` outside of one."""
        for one in reversed(api.scope.stack):
            if isinstance(one, FuncItem):
                found = self.expansions.taken_by(one)
                if found is not None:
                    return found
        return None

    # ------------------------------------------------------------------ what is admitted
    def anything(self, signature: CallableType) -> CallableType:
        """The signature of a call whose arguments the plugin itself holds against what is declared."""
        return signature.copy_modified(
            arg_types=[unknown(), unknown()],
            arg_kinds=[ARG_STAR, ARG_STAR2],
            arg_names=[None, None],
            ret_type=unknown(),
            variables=(),
            unpack_kwargs=False,
            is_ellipsis_args=True,
        )

    def _of_object(self, signature: CallableType) -> CallableType:
        """An operator's signature whose operand may be anything: by `Any` mypy would make `Weight(2.0)` one of Any."""
        anything = self.words.instance("builtins.object")
        types = [anything if isinstance(get_proper_type(one), AnyType) else one for one in signature.arg_types]
        return signature.copy_modified(arg_types=types)

    def of_functions(self, ctx: Any) -> FunctionLike:
        """The signature of `grad` and its like: a function or a layer first, and then what the plugin looks at."""
        signature: CallableType = ctx.default_signature
        function = UnionType([self.anything(signature), self.words.any_layer(), self.words.instance("builtins.object")])
        return signature.copy_modified(
            arg_types=[function, unknown(), unknown()],
            arg_kinds=[ARG_POS, ARG_STAR, ARG_STAR2],
            arg_names=[None, None, None],
            ret_type=unknown(),
            variables=(),
        )

    def of_method(self, fullname: str, ctx: Any) -> FunctionLike:
        """The signature of a method: that of a layer's call takes anything, as `functions` checks it."""
        owner, _, name = fullname.rpartition(".")
        if is_layer(ctx.type) and name.startswith("__") and name not in OURS:
            return self._of_object(ctx.default_signature)
        if owner in CHECKED or (name in OURS and is_layer(ctx.type)):
            return self.anything(ctx.default_signature)
        return self.admitting(fullname, ctx)

    def admitting(self, fullname: str, ctx: Any) -> FunctionLike:
        """The signature of a function that is called in a body, with layers wherever it takes arrays or numbers."""
        callee: CallableType = ctx.default_signature
        root = fullname.partition(".")[0]
        if self.taken(ctx.api) is None and not (
            root == "numpy" and any(is_named_layer(one, ctx.api) for one in ctx.args)
        ):
            return callee
        trusted = root in TRUSTED if root != "builtins" else fullname in BUILTINS
        given: Sequence[Sequence[Expression]] = ctx.args
        types = [
            self._admitted(typ, exprs, trusted, ctx.api) for typ, exprs in zip(callee.arg_types, given, strict=False)
        ]
        types += callee.arg_types[len(types) :]
        changed = any(a is not b for a, b in zip(types, callee.arg_types, strict=True))
        return callee.copy_modified(arg_types=types) if changed else callee

    def _admitted(self, typ: Type, given: Sequence[Expression], trusted: bool, api: Any) -> Type:
        proper = get_proper_type(typ)
        if not given or isinstance(proper, _LEFT):
            return typ
        if isinstance(proper, CallableType) and natives_in(proper.ret_type):
            return UnionType([typ, self.anything(proper)])
        if is_layer(proper):
            return self.words.any_layer()  # the parameter of `append` of a list of layers
        if not trusted and not natives_in(proper):
            return typ
        if any(holds_layers(one, api) for one in given):
            return unknown()
        if is_subtype(self.words.layer(unknown(), unknown()), typ):
            return typ
        return UnionType([typ, self.words.any_layer()])

    def widen(self, ctx: Any) -> None:
        """A list that a body appends layers of several shapes to is one of layers of any: mypy took the first's type
        for that of all, and a type of its own, which changes here, is what the later reads see."""
        held = get_proper_type(ctx.type)
        if not isinstance(held, Instance) or held.type.fullname not in _GROWING or not is_layer(held.args[-1]):
            return
        args = self.words.layer_args(held.args[-1])
        given = [typ for types in ctx.arg_types for typ in types if is_layer(typ)]
        if args is None or all(is_subtype(typ, held.args[-1]) for typ in given):
            return
        held.args = (*held.args[:-1], self.words.layer(args[0], self.words.tape(unknown(), unknown())))

    # ------------------------------------------------------------------ what comes back
    def lifted(self, typ: Type, taken: Type, module: str) -> ProperType:
        """The result of a function that was given layers: layers in the place of arrays and numbers."""
        proper = taken_apart(typ)
        if proper is None:
            return get_proper_type(typ)
        if isinstance(proper, Instance) and proper.type.fullname in (IDENTITY, PROJECTION):
            args = self.words.layer_args(proper)  # what came out of a function is no input any more
            assert args is not None
            return self.words.layer(*args)
        if isinstance(proper, Instance) and is_native(proper):
            return self.words.layer(taken, self.expansions.tape(self.expansions.natives.plain(proper), module))
        if isinstance(proper, TupleType):
            return proper.copy_modified(items=[self.lifted(one, taken, module) for one in proper.items])
        if isinstance(proper, UnionType):
            return get_proper_type(UnionType.make_union([self.lifted(one, taken, module) for one in proper.items]))
        if isinstance(proper, Instance) and proper.args and proper.type.module_name in ("builtins", "typing"):
            return proper.copy_modified(args=[self.lifted(one, taken, module) for one in proper.args])
        return proper

    def callable(self, typ: Type, taken: Type, module: str) -> Type:
        """A function that a body has made, such as `grad(f)`: called with layers it gives layers."""
        proper = get_proper_type(typ)
        if not isinstance(proper, CallableType) or proper.is_type_obj() or not natives_in(proper.ret_type):
            return typ
        lifted = self.anything(proper).copy_modified(ret_type=self.lifted(proper.ret_type, taken, module))
        return Overloaded([proper, lifted])


def natives_in(typ: Type | None) -> bool:
    """Whether arrays or numbers that are traced stand in a type."""
    proper = taken_apart(typ)
    if isinstance(proper, Instance):
        return is_native(proper) or any(map(natives_in, proper.args))
    if isinstance(proper, (TupleType, UnionType)):
        return any(map(natives_in, proper.items))
    return False


def holds_layers(expression: Expression, api: Any) -> bool:
    """Whether an argument is a list or the like in which layers stand; asked only of what is quickly told."""
    if isinstance(expression, (ListExpr, TupleExpr)):
        return any(is_layer(type_of(one, api)) or holds_layers(one, api) for one in expression.items)
    if isinstance(expression, DictExpr):
        return any(is_layer(type_of(one, api)) or holds_layers(one, api) for _, one in expression.items)
    if isinstance(expression, StarExpr):
        return holds_layers(expression.expr, api)
    if isinstance(expression, (RefExpr, ListComprehension, GeneratorExpr)):
        typ = type_of(expression, api)
        return holds_layer(typ) and not is_layer(typ)
    return False


def is_named_layer(given: Sequence[Expression], api: Any) -> bool:
    """Whether a layer is given by its name; outside of a body only what is quickly told is asked."""
    return any(isinstance(one, RefExpr) and is_layer(type_of(one, api)) for one in given)


def type_of(expression: Expression, api: Any) -> Type | None:
    """The type of an expression, asked of mypy; what is wrong in it is told when mypy itself comes to it."""
    with api.msg.filter_errors():
        found: Type | None = api.get_expression_type(expression)
    return found
