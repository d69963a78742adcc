"""What does a call mean within a symbolic body? What takes arrays and numbers takes layers there, and gives layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mypy.nodes import (
    ARG_POS,
    ARG_STAR,
    ARG_STAR2,
    CallExpr,
    DictExpr,
    Expression,
    FuncItem,
    GeneratorExpr,
    LambdaExpr,
    ListComprehension,
    ListExpr,
    RefExpr,
    StarExpr,
    TupleExpr,
)
from mypy.subtypes import is_same_type, is_subtype
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
    TypeVarId,
    TypeVarLikeType,
    TypeVarType,
    UnionType,
    UnpackType,
    get_proper_type,
)

from symbolic.mypy_plugin.expansions import Expansions, is_native, replaced
from symbolic.mypy_plugin.vocabulary import (
    DECLARED,
    IDENTITY,
    LAYER,
    PROJECTION,
    TRAINER,
    WEIGHT,
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
_LEFT = (AnyType, TypeVarType, UnpackType, ParamSpecType)
"""Types of parameters that stay as they are; a type variable takes the layer's own type."""
_OF_NAMED_TUPLES = ("_replace", "_asdict", "__replace__")
DECORATOR = "symbolic.function.Decorator"
CHECKED = (TRAINER,)
RUNNING = ("__call__", "predict", "train")
"""What runs a layer on values, or composes it."""
OURS = (*RUNNING, "compose")
"""The methods of layers whose arguments the plugin checks, not mypy."""


class Bodies:
    """The bodies of symbolic functions, over one build's types."""

    words: Vocabulary
    expansions: Expansions
    _decorator: FunctionLike | None

    def __init__(self, words: Vocabulary, expansions: Expansions) -> None:
        self.words, self.expansions = words, expansions
        self._decorator = None

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
        """The signature of `grad` and its like: one object first, and then what the plugin looks at. Wanted as a
        `Callable[..., Any]`, `remat(lambda x: x)` would be given a lambda of which mypy cannot infer the type."""
        signature: CallableType = ctx.default_signature
        return signature.copy_modified(
            arg_types=[self.words.instance("builtins.object"), unknown(), unknown()],
            arg_kinds=[ARG_POS, ARG_STAR, ARG_STAR2],
            arg_names=[signature.arg_names[0], None, None],
            ret_type=unknown(),
            variables=(),
        )

    def of_method(self, fullname: str, ctx: Any) -> FunctionLike:
        """The signature of a method: that of a layer's call takes anything, as `functions` checks it."""
        owner, _, name = fullname.rpartition(".")
        if owner == DECLARED:
            return ctx.default_signature  # type: ignore[no-any-return]  # mypy's contexts are untyped to us
        if is_layer(ctx.type) and name.startswith("__") and name not in OURS:
            return self._of_object(ctx.default_signature)
        if owner == DECORATOR:  # of many overloads, for all of which one signature stands
            if self._decorator is None:
                self._decorator = self.anything(ctx.default_signature)
            return self._decorator
        if owner in CHECKED or (name in OURS and is_layer(ctx.type)):
            return self.anything(ctx.default_signature)
        return self.admitting(fullname, ctx)

    def admitting(self, fullname: str, ctx: Any) -> FunctionLike:
        """The signature of a function that is called in a body, with layers wherever it takes arrays or numbers."""
        callee: CallableType = ctx.default_signature
        root = fullname.partition(".")[0]
        if self.taken(ctx.api) is None and not self._given_outside(root, ctx):
            return callee
        trusted = root in TRUSTED if root != "builtins" else fullname in BUILTINS
        given: Sequence[Sequence[Expression]] = ctx.args
        rows = list(zip(callee.arg_types, given, strict=False))
        bound = {one for typ, exprs in rows if exprs for one in variables_in(typ)}
        types = [
            self._any_result(typ, exprs, bound) or self._admitted(typ, exprs, trusted, ctx.api) for typ, exprs in rows
        ]
        types += callee.arg_types[len(types) :]
        variables = list(map(self._widened, callee.variables))
        before = (*callee.arg_types, *callee.variables)
        changed = any(a is not b for a, b in zip((*types, *variables), before, strict=True))
        return callee.copy_modified(arg_types=types, variables=variables) if changed else callee

    def _widened(self, variable: TypeVarLikeType) -> TypeVarLikeType:
        """A type variable of arrays or numbers, such as `TypeVar("A", bound=np.ndarray)`, stands for layers, too."""
        if not isinstance(variable, TypeVarType):
            return variable
        bounds = variable.values or [variable.upper_bound]
        if not any(map(natives_in, bounds)):
            return variable
        return variable.copy_modified(upper_bound=UnionType([*bounds, self.words.any_layer()]), values=[])

    def _any_result(self, typ: Type, given: Sequence[Expression], bound: set[TypeVarId]) -> Type | None:
        """A parameter `f: Callable[[T], T]` where other arguments say what T is: what is given makes another layer of
        one, which has another type. `None` for any other parameter."""
        proper = get_proper_type(typ)
        if not given or not isinstance(proper, CallableType) or not bound.intersection(variables_in(proper.ret_type)):
            return None
        free = proper.copy_modified(ret_type=unknown())
        return free if isinstance(given[0], LambdaExpr) else UnionType([free, self.anything(proper)])

    def _given_outside(self, root: str, ctx: Any) -> bool:
        """Whether layers are given outside of a body where they may be: to NumPy; and, in a function that a body may
        call, a weight to another such function."""
        if root == "numpy":
            return any(is_named_layer(one, ctx.api) for one in ctx.args)
        if root in TRUSTED or ctx.api.scope.current_function() is None:
            return False
        return any(self._is_weight(one, ctx.api) for given in ctx.args for one in given)

    def _is_weight(self, expression: Expression, api: Any) -> bool:
        if isinstance(expression, CallExpr):
            return isinstance(expression.callee, RefExpr) and expression.callee.fullname == WEIGHT
        return isinstance(expression, RefExpr) and self.words.is_constant(type_of(expression, api))

    def _admitted(self, typ: Type, given: Sequence[Expression], trusted: bool, api: Any) -> Type:
        proper = get_proper_type(typ)
        if not given or isinstance(proper, _LEFT):
            return typ
        if isinstance(proper, TypedDictType):
            return unknown() if natives_in(proper) else typ
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
        return UnionType([typ, opened(typ), self.words.any_layer()])

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
        if isinstance(proper, Instance) and proper.type.fullname in (IDENTITY, LAYER, PROJECTION):
            args = self.words.layer_args(proper)
            assert args is not None
            return self.words.layer(taken, args[1])  # what came out of a function is no input, and of this body
        if isinstance(proper, Instance) and is_native(proper):
            return self.words.layer(taken, self.expansions.tape(self.expansions.natives.plain(proper), module))
        if isinstance(proper, TupleType):
            loosen(proper)
            return proper.copy_modified(items=[self.lifted(one, taken, module) for one in proper.items])
        if isinstance(proper, TypedDictType):
            entries = [self.lifted(one, taken, module) for one in proper.items.values()]
            return proper.copy_modified(item_types=list(entries))
        if isinstance(proper, UnionType):
            items = list(map(get_proper_type, proper.items))
            if len(items) == 2 and is_layer(items[0]) and isinstance(items[1], AnyType):
                items = items[:1]  # of a symbolic function that is not decorated
            return get_proper_type(UnionType.make_union([self.lifted(one, taken, module) for one in items]))
        if isinstance(proper, Instance) and proper.args and proper.type.module_name in ("builtins", "typing"):
            return proper.copy_modified(args=[self.lifted(one, taken, module) for one in proper.args])
        return proper

    def may_change(self, argument: Type, result: Type) -> bool:
        """Whether an argument is a function by which `reduce(f, layers)` may give another layer than it was given."""
        proper = get_proper_type(argument)
        if isinstance(proper, CallableType):
            given, kept = self.words.layer_args(proper.ret_type), self.words.layer_args(result)
            return given is None or kept is None or not is_same_type(given[1], kept[1])
        return isinstance(proper, Overloaded) or (isinstance(proper, Instance) and "__call__" in proper.type.names)

    def held_function(self, typ: Type, api: Any) -> Type:
        """What a body takes out of a structure, `acts["tanh"]`: a function there is called with layers."""
        proper = get_proper_type(typ)
        members = map(get_proper_type, proper.items) if isinstance(proper, UnionType) else [proper]
        if not any(map(is_of_natives, members)):
            return typ
        taken = self.taken(api)
        return typ if taken is None else self.callable(typ, taken, api.tree.fullname)

    def callable(self, typ: Type, taken: Type, module: str) -> Type:
        """A function that a body has made, such as `grad(f)`: called with layers it gives layers."""
        proper = get_proper_type(typ)
        if isinstance(proper, UnionType):
            return UnionType.make_union([self.callable(one, taken, module) for one in proper.items])
        if not is_of_natives(proper):
            return typ
        assert isinstance(proper, CallableType)
        lifted = self.anything(proper).copy_modified(ret_type=self.lifted(proper.ret_type, taken, module))
        return Overloaded([proper, lifted])


def variables_in(typ: Type) -> set[TypeVarId]:
    """The type variables that stand in a type, but for those of functions."""
    proper = taken_apart(typ)
    if isinstance(proper, TypeVarType):
        return {proper.id}
    if isinstance(proper, Instance):
        return set().union(*map(variables_in, proper.args))
    if isinstance(proper, (TupleType, UnionType)):
        return set().union(*map(variables_in, proper.items))
    return set()


def loosen(typ: TupleType) -> None:
    """Let the methods that every named tuple has be called on one of layers: mypy made them for those declared."""
    info = typ.partial_fallback.type
    for name in _OF_NAMED_TUPLES if info.is_named_tuple else ():
        method = info.get_method(name)
        signature = None if method is None else method.type
        if isinstance(signature, CallableType):
            for own in (signature.arg_types[0], *signature.variables):
                if isinstance(own, TypeVarType):
                    own.upper_bound = typ.partial_fallback


def is_of_natives(typ: ProperType) -> bool:
    """Whether a type is that of a function which gives arrays or numbers."""
    return isinstance(typ, CallableType) and not typ.is_type_obj() and natives_in(typ.ret_type)


def opened(typ: Type) -> Type:
    """A structure of arrays or numbers as one of anything: what a call such as `list(x)` gives holds layers."""
    proper = get_proper_type(typ)
    if isinstance(proper, UnionType):
        return UnionType.make_union([opened(one) for one in proper.items])
    return typ if is_native(proper) else replaced(proper, lambda inner: inner, _anything)


def _anything(typ: Instance) -> ProperType | None:
    return unknown() if is_native(typ) else None


def natives_in(typ: Type | None) -> bool:
    """Whether arrays or numbers that are traced stand in a type."""
    proper = taken_apart(typ)
    if isinstance(proper, Instance):
        return is_native(proper) or any(map(natives_in, proper.args))
    if isinstance(proper, (TupleType, UnionType)):
        return any(map(natives_in, proper.items))
    if isinstance(proper, TypedDictType):
        return any(map(natives_in, proper.items.values()))
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
