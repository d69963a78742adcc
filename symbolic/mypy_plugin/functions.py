"""What does `@symbolic` make of a function's type? A Layer, or a factory of layers."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, NamedTuple

from mypy.erasetype import erase_typevars
from mypy.nodes import (
    ARG_NAMED,
    ARG_NAMED_OPT,
    ARG_OPT,
    ARG_POS,
    ARG_STAR,
    ARG_STAR2,
    ArgKind,
    Context,
    Decorator,
    Expression,
    FuncDef,
    RefExpr,
)
from mypy.types import (
    CallableType,
    Instance,
    NoneType,
    Overloaded,
    Parameters,
    ProperType,
    Type,
    UninhabitedType,
    UnionType,
    get_proper_type,
)

from symbolic.mypy_plugin.expansions import Expansions, bounded
from symbolic.mypy_plugin.given import Given
from symbolic.mypy_plugin.lints import Lints
from symbolic.mypy_plugin.reporting import report
from symbolic.mypy_plugin.vocabulary import FACTORY, IDENTITY, PROJECTION, Vocabulary, unknown
from symbolic.signature import without_inputs
from symbolic.static.abstract import Finding


class Parameter(NamedTuple):
    """A parameter of a symbolic function; `data` is the native type of an input, `None` for a hyperparameter."""

    name: str | None
    kind: ArgKind
    typ: Type
    data: ProperType | None

    @property
    def optional(self) -> bool:
        return self.kind in (ARG_OPT, ARG_NAMED_OPT, ARG_STAR, ARG_STAR2)


class Plan(NamedTuple):
    """A symbolic function as its type says it."""

    parameters: tuple[Parameter, ...]
    returned: ProperType  # the native type; Any where none is declared

    @property
    def inputs(self) -> list[Parameter]:
        return [one for one in self.parameters if one.data is not None]

    def given(self, names: Container[str | None]) -> Plan:
        """The same when these have values."""
        optional = {ARG_POS: ARG_OPT, ARG_NAMED: ARG_NAMED_OPT}
        return self._replace(
            parameters=tuple(
                one._replace(kind=optional.get(one.kind, one.kind)) if one.name in names else one
                for one in self.parameters
            )
        )

    @property
    def hyperparameters(self) -> list[Parameter]:
        return [one for one in self.parameters if one.data is None]


class Functions:
    """The hook of the decorator, over one build's types."""

    words: Vocabulary
    expansions: Expansions

    def __init__(self, words: Vocabulary, expansions: Expansions, lints: Lints) -> None:
        self.lints: Lints = lints
        self.words, self.expansions = words, expansions

    # ------------------------------------------------------------------ the function's type, taken apart
    def plan(self, signature: CallableType, bound: bool) -> Plan:
        """What the expanded signature says; `bound`: its first parameter is the instance."""
        rows = list(zip(signature.arg_names, signature.arg_kinds, signature.arg_types, strict=True))[bound:]
        parameters = [Parameter(name, kind, typ, self.data_of(typ)) for name, kind, typ in rows]
        returned = get_proper_type(signature.ret_type)
        members = returned.items if isinstance(returned, UnionType) else [returned]
        layer = next((args for one in members if (args := self.words.layer_args(one)) is not None), None)
        tape = None if layer is None else self.words.tape_args(layer[1])
        return Plan(tuple(parameters), unknown() if tape is None else tape[0])

    def data_of(self, typ: Type) -> ProperType | None:
        """The native type of a symbolic parameter."""
        proper = get_proper_type(typ)
        if isinstance(proper, UnionType):
            members = [self.data_of(one) for one in proper.items if not isinstance(get_proper_type(one), NoneType)]
            found = [one for one in members if one is not None]
            return get_proper_type(UnionType.make_union([*found, NoneType()])) if found else None
        if isinstance(proper, Instance) and proper.type.fullname == IDENTITY:
            return get_proper_type(proper.args[0])
        if isinstance(proper, Instance) and proper.type.fullname == PROJECTION:
            return get_proper_type(proper.args[1])
        return None

    # ------------------------------------------------------------------ the decorator
    def decorated(self, ctx: Any) -> Type:
        """`@symbolic`, `symbolic(f)` and `symbolic(f, float, returns=float)`."""
        self.lints.tell(ctx.api)
        given = Given(ctx)
        if not given.positional:
            return ctx.type  # type: ignore[no-any-return]  # `@symbolic(...)` is called once more
        typ, expression = given.positional[0]
        signature = get_proper_type(typ)
        if not isinstance(signature, CallableType):
            return ctx.default_return_type  # type: ignore[no-any-return]  # something that can be called
        if not given.faithful or (signature.is_ellipsis_args and len(given.positional) == 1):
            return self.words.layer(unknown(), unknown())  # which hints it has shows when the program runs
        function = _definition(ctx.context, expression)
        bound = function is not None and is_bound(function)
        plan = self.plan(signature, bound)
        plan = self._beside(plan, given)
        if not plan.inputs:
            report(ctx.api, _no_inputs(signature, function), ctx.context)
            return self.words.layer(unknown(), unknown())
        return self.made(plan, ctx.api.tree.fullname)

    def _beside(self, plan: Plan, given: Given) -> Plan:
        """The plan with the hints that were given beside the function."""
        plain = self.expansions.natives.plain  # of a generic class such as np.ndarray nothing more is said
        hints = [plain(_instance_of(typ)) for typ, _ in given.positional[1:]]
        named = {name: plain(_instance_of(typ)) for name, (typ, _) in given.named.items()}
        if not hints and not named:
            return plan
        parameters = []
        for k, one in enumerate(plan.parameters):
            hint = hints[k] if k < len(hints) else named.get(one.name or "")
            parameters.append(one if hint is None else one._replace(data=self.expansions.native(hint)))
        returned = named.get("returns")
        return Plan(tuple(parameters), plan.returned if returned is None else self.expansions.native(returned))

    def layer(self, plan: Plan, module: str) -> Instance:
        inputs = [one.data for one in plan.inputs if one.data is not None]
        return self.words.layer(
            self.expansions.taken(inputs, module), self.expansions.tape(bounded(plan.returned), module)
        )

    def made(self, plan: Plan, module: str) -> Type:
        """A Layer; or a factory of layers, while hyperparameters are missing."""
        layer = self.layer(plan, module)
        if all(one.optional for one in plan.hyperparameters):
            return layer
        plain = self.expansions.natives.plain
        types = [one.typ if one.data is None else plain(one.data) for one in plan.parameters]
        kinds, names = [one.kind for one in plan.parameters], [one.name for one in plan.parameters]
        nothing = self.words.tape(UninhabitedType(), UninhabitedType())  # it takes nothing yet: no layer of any input
        given = self.words.tape_args(layer.args[1])
        delta = unknown() if given is None else plain(given[1])
        returned = plain(bounded(plan.returned))
        return self.words.instance(FACTORY, nothing, Parameters(types, kinds, names), returned, delta)


def _instance_of(typ: Type) -> ProperType:
    """The type that is meant by a class given as a value: `float` in `symbolic(f, float)`."""
    proper = get_proper_type(typ)
    if isinstance(proper, Overloaded):
        proper = proper.items[0]
    if not isinstance(proper, CallableType) or not proper.is_type_obj():
        return unknown()
    return get_proper_type(erase_typevars(bounded(proper.ret_type)))


def is_bound(function: FuncDef) -> bool:
    """Whether the first parameter of a function is the instance (or the class)."""
    return bool(function.info) and not function.is_static


def _definition(context: Context, expression: Expression | None) -> FuncDef | None:
    """The function that is decorated, if its definition is in sight."""
    if isinstance(context, Decorator):
        return context.func
    node = expression.node if isinstance(expression, RefExpr) else None
    return node if isinstance(node, FuncDef) else None


def _no_inputs(signature: CallableType, function: FuncDef | None) -> Finding:
    title = function.name if function is not None else (signature.name or "the function")
    error = without_inputs(title.partition(" of ")[0])
    return Finding(error.seen, error.remedy)
