"""What does `@symbolic` make of a function's type? A Layer, or a factory of layers; and what does a call of it give?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mypy.nodes import (
    ARG_NAMED,
    ARG_NAMED_OPT,
    ARG_OPT,
    ARG_POS,
    ARG_STAR,
    ARG_STAR2,
    ArgKind,
    CallExpr,
    Context,
    Decorator,
    Expression,
    FuncDef,
    RefExpr,
)
from mypy.subtypes import is_subtype
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    Overloaded,
    ProperType,
    TupleType,
    Type,
    TypeOfAny,
    TypeVarId,
    TypeVarType,
    UnionType,
    get_proper_type,
)

from symbolic.dims import Names
from symbolic.mypy_plugin.calls import Calls, Given
from symbolic.mypy_plugin.expansions import Expansions, bounded
from symbolic.mypy_plugin.reporting import report
from symbolic.mypy_plugin.vocabulary import IDENTITY, LAYER, PROJECTION, Vocabulary, is_layer, unknown
from symbolic.signature import without_inputs
from symbolic.spec import Spec
from symbolic.static.abstract import Finding
from symbolic.static.declared import returned, substitute, unify


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

    @property
    def hyperparameters(self) -> list[Parameter]:
        return [one for one in self.parameters if one.data is None]


class Functions:
    """The hooks of the decorator and of calls of what it makes."""

    def __init__(self, words: Vocabulary, expansions: Expansions, calls: Calls) -> None:
        self.words, self.expansions, self.calls = words, expansions, calls

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
        given = Given(ctx)
        if not given.positional:
            return ctx.type  # type: ignore[no-any-return]  # `@symbolic(...)` is called once more
        typ, expression = given.positional[0]
        signature = get_proper_type(typ)
        if not isinstance(signature, CallableType):
            return ctx.default_return_type  # type: ignore[no-any-return]  # something that can be called
        function = _definition(ctx.context, expression)
        bound = function is not None and bool(function.info) and not function.is_static
        plan = self.plan(signature, bound)
        plan = self._beside(plan, given)
        if not plan.inputs:
            report(ctx.api, _no_inputs(signature, function), ctx.context)
            return self.words.layer(unknown(), unknown())
        return self.made(plan, signature, bound, ctx.api.tree.fullname)

    def _beside(self, plan: Plan, given: Given) -> Plan:
        """The plan with the hints that were given beside the function."""
        hints = [_instance_of(typ) for typ, _ in given.positional[1:]]
        named = {name: _instance_of(typ) for name, (typ, _) in given.named.items()}
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

    def made(self, plan: Plan, signature: CallableType, bound: bool, module: str) -> Type:
        """A Layer; or, while hyperparameters are missing, a factory, which the overloads of its type describe."""
        if all(one.optional for one in plan.hyperparameters):
            return self.layer(plan, module)
        return self._factory(plan, signature, bound, module)

    def _factory(self, plan: Plan, signature: CallableType, bound: bool, module: str) -> Type:
        """`dense(inputs=4, outputs=2)`: a layer. `dense(x, inputs=4, outputs=2)`: a layer over x, or its value."""
        plain = self.expansions.natives.plain
        taken = TypeVarType(
            "In",
            "In",
            TypeVarId(-1, namespace="symbolic.In"),
            [],
            self.words.instance("builtins.object"),
            AnyType(TypeOfAny.from_omitted_generics),
        )
        given = self.expansions.tape(plain(plan.returned), module)
        hyper = [one._replace(kind=ARG_NAMED_OPT if one.optional else ARG_NAMED) for one in plan.hyperparameters]

        def overload(rows: Sequence[Parameter], result: Type, *variables: TypeVarType) -> CallableType:
            first = [(signature.arg_names[0], ARG_POS, signature.arg_types[0])] if bound else []
            rows = sorted(rows, key=lambda one: _ORDER[one.kind])
            entries = [*first, *[(one.name, one.kind, one.typ) for one in rows]]
            names, kinds, types = map(list, zip(*entries, strict=True))
            return CallableType(
                types, kinds, names, result, signature.fallback, name=signature.name, variables=list(variables)
            )

        def over(one: Parameter) -> Parameter:
            assert one.data is not None
            native = plain(one.data)
            layer = self.words.layer(taken, self.words.tape(native, unknown()))
            return one._replace(typ=UnionType([layer, native]))

        natives = [one if one.data is None else one._replace(typ=plain(one.data)) for one in plan.parameters]
        layers = [one if one.data is None else over(one) for one in plan.parameters]
        return Overloaded(
            [
                overload(hyper, self.layer(plan, module)),
                overload(natives, plain(plan.returned)),
                overload(layers, self.words.layer(taken, given), taken),
            ]
        )

    # ------------------------------------------------------------------ what a body returns
    def declared(self, ctx: Any) -> Type:
        """What a body returns or assigns is held against the hint there, with the sentence of run time."""
        proper = get_proper_type(ctx.type)
        assert isinstance(proper, Instance)
        native, what = map(get_proper_type, proper.args)
        assert isinstance(what, LiteralType)
        for typ, expression in Given(ctx).positional:
            self.check_returned(get_proper_type(typ), native, str(what.value), expression, ctx.api)
        return unknown()

    def check_returned(self, typ: ProperType, declared: ProperType, what: str, place: Context, api: Any) -> None:
        if isinstance(typ, UnionType):
            for one in typ.items:
                self.check_returned(get_proper_type(one), declared, what, place, api)
            return
        if isinstance(typ, AnyType) or isinstance(declared, AnyType):
            return
        if isinstance(declared, TupleType) and isinstance(typ, TupleType) and len(declared.items) == len(typ.items):
            for one, other in zip(typ.items, declared.items, strict=True):
                self.check_returned(get_proper_type(one), get_proper_type(other), what, place, api)
            return
        layer = self.words.layer_args(typ)
        tape = None if layer is None else self.words.tape_args(layer[1])
        data = typ if layer is None else unknown() if tape is None else tape[0]
        found = self.misfit(data, declared, what)
        if found is not None:
            report(api, found, place)

    def misfit(self, data: ProperType, declared: ProperType, what: str, names: Names | None = None) -> Finding | None:
        """What is wrong with a value of one native type where another is declared, for a call with these names bound;
        within a body, without any, names are rigid."""
        if isinstance(data, AnyType) or isinstance(declared, AnyType):
            return None
        if isinstance(declared, UnionType):
            each = [self.misfit(data, get_proper_type(one), what, names) for one in declared.items]
            return None if None in each else each[0]
        natives = self.expansions.natives
        have, want = natives.spec(data), natives.spec(declared)
        if have is None or want is None:
            fits = is_subtype(data, declared) or isinstance(data, (UnionType, CallableType))
            return None if fits else self._undeclared(data, declared, what)
        found = returned(want, have) if names is None else unify([want], [have], [what], names)
        if isinstance(found, Finding):
            alike = isinstance(have, Spec) and isinstance(want, Spec) and _is_array(data) == _is_array(declared)
            return found if alike else found._replace(kind="symbolic")  # not of shapes or dtypes: of types
        scalar = isinstance(want, Spec) and want.shape == () and _is_array(declared) is False
        if scalar and _is_array(data) and isinstance(have, Spec) and have.shape is None and not natives.is_loose(data):
            return self._undeclared(data, declared, what)
        return None

    def _undeclared(self, data: ProperType, declared: ProperType, what: str) -> Finding:
        have, want = self.calls.short_native(data), self.calls.short_native(declared)
        remedy = f"give a value of type {want}"
        if _is_array(data):
            remedy = f"reduce it to a number (np.sum, np.mean), or declare {have}"
        return Finding(f"{what} is {have} where {want} is declared", remedy)

    # ------------------------------------------------------------------ calls
    def called(self, ctx: Any, name: str) -> Type:
        """A layer that is called: with layers it composes, with native values it predicts, by hyperparameters alone
        it makes another layer. `predict` and `train` take native values."""
        args = self.words.layer_args(ctx.type)
        if args is None:
            return self.calls.operation(ctx, name)
        given, module = Given(ctx), ctx.api.tree.fullname
        if name == "train":
            given.named.pop("optimizer", None)
        rows = self._by_input(given, args[0])
        if rows is not None and not rows and given.named:
            return ctx.type  # type: ignore[no-any-return]  # of other hyperparameters
        types = None if rows is None or not given.faithful else [typ for typ, _ in rows]
        result = self.result(args, types, ctx)
        layers = given.types if types is None else types
        composes = any(map(is_layer, layers)) or (name == "__call__" and self.calls.bodies.taken(ctx.api) is not None)
        if not composes:
            return result
        return self.words.layer(self.calls.taken(given), self.expansions.tape(result, module))

    def stepped(self, ctx: Any, name: str) -> Type:
        """A trainer that is called: `step(x)`, `step.run(n, x)`."""
        given = Given(ctx)
        proper = get_proper_type(ctx.type)
        if name not in ("__call__", "run") or not isinstance(proper, Instance) or len(proper.args) != 2:
            return ctx.default_return_type  # type: ignore[no-any-return]  # mypy's contexts are untyped to us
        rows = given.positional[name == "run" :]
        types = None if given.named or not given.faithful else [typ for typ, _ in rows]
        taken, out = map(get_proper_type, proper.args)
        return self.result((taken, out), types, ctx)

    def result(self, args: tuple[ProperType, ProperType], types: Sequence[Type] | None, ctx: Any) -> ProperType:
        """The native result of running a layer on values of these types, which are held against what it takes."""
        tape, out = self.words.tape_args(args[0]), self.words.tape_args(args[1])
        if out is None:
            return unknown()
        wanted = None if tape is None or types is None else self._wanted(tape[0], len(types))
        if wanted is None or types is None:
            if tape is not None and types is not None and not isinstance(tape[0], AnyType):
                report(ctx.api, self._miscounted(tape[0], len(types)), ctx.context)
            return self.expansions.natives.plain(out[0])
        return self._checked(wanted, types, out[0], ctx)

    def _miscounted(self, data: ProperType, count: int) -> Finding:
        wanted = len(data.items) if isinstance(data, TupleType) else 1
        return Finding(
            f"a layer of {wanted} input{'s' * (wanted != 1)} is given {count}",
            f"give {self.calls.short_native(data)}",
        )

    def _by_input(self, given: Given, taken: ProperType) -> list[tuple[Type, Expression]] | None:
        """The arguments that are inputs, in order; named ones by the signature of the function, where it is in sight."""
        if not given.named:
            return given.positional
        callee = given.context.callee if isinstance(given.context, CallExpr) else None
        node = callee.node if isinstance(callee, RefExpr) else None
        if not isinstance(node, Decorator) or not isinstance(node.func.type, CallableType):
            layers = any(is_layer(typ) for typ, _ in given.named.values())
            return None if layers or given.positional else []
        function = node.func
        names = [name for name in node.func.type.arg_names if name][bool(function.info) and not function.is_static :]
        plan = self.plan(node.func.type, bool(function.info) and not function.is_static)
        beside = dict(zip(names, given.positional, strict=False)) | given.named
        return [beside[one.name] for one in plan.inputs if one.name in beside]

    def _wanted(self, data: ProperType, count: int) -> list[ProperType] | None:
        """The native types of the inputs."""
        if isinstance(data, TupleType) and count != 1:
            return [get_proper_type(one) for one in data.items] if len(data.items) == count else None
        return [data] if count == 1 else None

    def _checked(self, wanted: Sequence[ProperType], types: Sequence[Type], result: ProperType, ctx: Any) -> ProperType:
        """The native result of a call, with the names of the signature bound; what does not fit is reported."""
        natives, names = self.expansions.natives, Names()
        for k, (typ, want) in enumerate(zip(types, wanted, strict=True)):
            found = self.misfit(self.calls.data(typ) if is_layer(typ) else get_proper_type(typ), want, said(k), names)
            if found is not None:
                report(ctx.api, found, ctx.context)
                return natives.plain(result)
        spec = natives.spec(result)
        if not isinstance(spec, Spec) or not _is_array(result):
            return result
        bound = substitute(spec, names.bound)
        assert isinstance(bound, Spec)  # as the array's was
        return natives.array(bound)


_ORDER = {ARG_POS: 0, ARG_OPT: 1, ARG_STAR: 2, ARG_NAMED: 3, ARG_NAMED_OPT: 4, ARG_STAR2: 5}


def said(index: int) -> str:
    """What a sentence calls an argument."""
    return f"argument {index + 1}"


def _is_array(typ: ProperType) -> bool:
    return isinstance(typ, Instance) and typ.type.has_base("numpy.ndarray")


def _instance_of(typ: Type) -> ProperType:
    """The type that is meant by a class given as a value: `float` in `symbolic(f, float)`."""
    proper = get_proper_type(typ)
    if isinstance(proper, CallableType) and proper.is_type_obj():
        return bounded(proper.ret_type)
    if isinstance(proper, Overloaded) and proper.is_type_obj():
        return bounded(proper.items[0].ret_type)
    return unknown()


def _definition(context: Context, expression: Expression) -> FuncDef | None:
    """The function that is decorated, if its definition is in sight."""
    if isinstance(context, Decorator):
        return context.func
    node = expression.node if isinstance(expression, RefExpr) else None
    return node if isinstance(node, FuncDef) else None


def _no_inputs(signature: CallableType, function: FuncDef | None) -> Finding:
    title = function.name if function is not None else (signature.name or "the function")
    error = without_inputs(title.partition(" of ")[0])
    return Finding(error.seen, error.remedy)
