"""What does running a layer give? Its call, `predict`, `train` and a trainer's step, held against what it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mypy.nodes import ARG_NAMED, ARG_NAMED_OPT, CallExpr, Context, Decorator, Expression, MemberExpr, NameExpr, RefExpr
from mypy.subtypes import is_subtype
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    LiteralType,
    NoneType,
    Parameters,
    ProperType,
    TupleType,
    Type,
    TypeVarType,
    UnionType,
    get_proper_type,
)

from symbolic.dims import Names
from symbolic.mypy_plugin.calls import Calls
from symbolic.mypy_plugin.expansions import Expansions
from symbolic.mypy_plugin.functions import Functions, Plan, is_bound
from symbolic.mypy_plugin.given import Given
from symbolic.mypy_plugin.reporting import report
from symbolic.mypy_plugin.statements import RETURNED
from symbolic.mypy_plugin.vocabulary import FACTORY, NDARRAY, Vocabulary, holds_layer, is_layer, unknown
from symbolic.outcome import returned_structure
from symbolic.polynomial import Rest, Size
from symbolic.signature import no_values
from symbolic.spec import Spec
from symbolic.static.abstract import Finding, Value
from symbolic.static.causes import DECLARED, likely
from symbolic.static.declared import returned, substitute, unify
from symbolic.static.nesting import sizes_of
from symbolic.static.valuations import named

OPTIMIZER = "symbolic.optimizer.Optimizer"


class Inputs(NamedTuple):
    """The inputs of one call: their types in order, each with what a sentence calls it, and what each may be."""

    types: list[Type]
    names: list[str]
    wanted: list[ProperType]


class Running:
    """The hooks of what runs a layer, over one build's types."""

    words: Vocabulary
    expansions: Expansions
    functions: Functions
    calls: Calls

    def __init__(self, words: Vocabulary, expansions: Expansions, functions: Functions, calls: Calls) -> None:
        self.words, self.expansions, self.functions, self.calls = words, expansions, functions, calls

    def called(self, ctx: Any, name: str) -> Type:
        """A layer that is called: with layers it composes, with native values it predicts, by hyperparameters alone
        it makes another layer. `predict` and `train` take native values."""
        args = self.words.layer_args(ctx.type)
        if args is None:
            return self.calls.operation(ctx, name)
        given, module = Given(ctx), ctx.api.tree.fullname
        self._optimizer(given)
        if name != "__call__" and given.named:
            seen = f"Layer.{name}() got an unexpected keyword argument {next(iter(given.named))!r}"
            more = ", and the optimizer as optimizer=…" if name == "train" else ""
            report(ctx.api, Finding(seen, f"give the inputs by position{more}"), ctx.context)
        known = self._known(ctx) if name == "__call__" else None
        if known is not None:
            title, plan = known
            rows = self._by_name(given, title, plan)
            if rows is None:  # hyperparameters alone: another layer, or a factory; or a mistake, which is told
                return self.functions.made(plan.given(given.named), module)
            result = self._checked(rows, self._bound(plan, rows, args[1]), ctx)
        elif given.named and name == "__call__":
            return self._unknown_names(given, args, ctx)
        elif is_factory(ctx.type) and name != "__call__":
            report(ctx.api, unmade(get_proper_type(ctx.type), ctx.context), ctx.context)
            return unknown()
        else:
            result = self.result(args, [typ for typ, _ in given.positional], given, ctx)
        if name == "__call__" and (given.layers or self.calls.bodies.taken(ctx.api) is not None):
            return self.words.layer(self.calls.taken(given), self.expansions.tape(result, module))
        return result

    def stepped(self, ctx: Any, name: str) -> Type:
        """A trainer that is called: `step(x)`, `step.run(n, x)`."""
        given, proper = Given(ctx), get_proper_type(ctx.type)
        if name not in ("__call__", "run") or not isinstance(proper, Instance) or len(proper.args) != 2:
            return ctx.default_return_type  # type: ignore[no-any-return]  # mypy's contexts are untyped to us
        rows = given.positional[name == "run" :]
        taken, out = map(get_proper_type, proper.args)
        return self.result((taken, out), [typ for typ, _ in rows], given, ctx)

    # ------------------------------------------------------------------ by position
    def result(self, args: tuple[ProperType, ProperType], types: Sequence[Type], given: Given, ctx: Any) -> ProperType:
        """The native result of running a layer on values of these types, which are held against what it takes."""
        tape, out = self.words.tape_args(args[0]), self.words.tape_args(args[1])
        if out is None:
            return unknown()
        if tape is None or isinstance(tape[0], AnyType) or not given.faithful:
            return self.expansions.natives.plain(out[0])
        several = isinstance(tape[0], TupleType) and len(types) != 1
        wanted = list(tape[0].items) if isinstance(tape[0], TupleType) and several else [tape[0]]
        if len(types) > len(wanted) or not types:
            report(ctx.api, self._miscounted(tape[0], len(wanted), len(types)), ctx.context)
            return self.expansions.natives.plain(out[0])
        if len(types) < len(wanted):  # the others may have defaults
            wanted = wanted[: len(types)]
        names = [f"argument {k + 1}" for k in range(len(types))]
        return self._checked(Inputs(list(types), names, [get_proper_type(one) for one in wanted]), out[0], ctx)

    def _miscounted(self, data: ProperType, wanted: int, count: int) -> Finding:
        short = self.calls.short_native(data)
        return Finding(f"a layer of {wanted} input{'s' * (wanted != 1)} is given {count}", f"give it {short}")

    def _optimizer(self, given: Given) -> None:
        """`optimizer=` of `train`."""
        row = given.named.pop("optimizer", None)
        if row is None:
            return
        wanted = UnionType([self.words.instance(OPTIMIZER), NoneType()])
        if not is_subtype(row[0], wanted):
            seen = f"{self.calls.short_native(row[0])} as an optimizer"
            report(given.api, Finding(seen, "give an instance of one: SGD(0.1), Adam(0.001)"), row[1])

    def _unknown_names(self, given: Given, args: tuple[ProperType, ProperType], ctx: Any) -> Type:
        """A call by names whose function is not in sight."""
        if not given.positional and not given.layers:
            return self.words.layer(unknown(), args[1]) if is_factory(ctx.type) else self.words.layer(*args)
        out = self.words.tape_args(args[1])
        result = unknown() if out is None else self.expansions.natives.plain(out[0])
        if not given.layers and self.calls.bodies.taken(ctx.api) is None:
            return result
        return self.words.layer(self.calls.taken(given), self.expansions.tape(result, ctx.api.tree.fullname))

    # ------------------------------------------------------------------ by name
    def _known(self, ctx: Any) -> tuple[str, Plan] | None:
        """The function that was decorated, where its definition is in sight."""
        callee = ctx.context.callee if isinstance(ctx.context, CallExpr) else None
        node = callee.node if isinstance(callee, RefExpr) else None
        if node is None and isinstance(callee, MemberExpr):
            owner = get_proper_type(ctx.api.lookup_type_or_none(callee.expr))
            symbol = owner.type.get(callee.name) if isinstance(owner, Instance) else None
            node = None if symbol is None else symbol.node
        if not isinstance(node, Decorator) or not isinstance(node.func.type, CallableType):
            return None
        plan = self.functions.plan(node.func.type, is_bound(node.func))
        return (node.func.name, plan) if plan.inputs else None

    def _by_name(self, given: Given, title: str, plan: Plan) -> Inputs | None:
        """The inputs of a call, as the function's signature binds them; `None` where none is given."""
        by_position = [one for one in plan.parameters if one.kind not in (ARG_NAMED, ARG_NAMED_OPT)]
        rows: dict[str, tuple[Type, Expression | None]] = {}
        for one, row in zip(by_position, given.positional, strict=False):
            rows[one.name or ""] = row
        names = {one.name for one in plan.parameters}
        wrong = [name for name in given.named if name not in names]
        if wrong or len(given.positional) > len(by_position):
            extra = f"an unexpected keyword argument {wrong[0]!r}" if wrong else "too many positional arguments"
            report(given.api, Finding(f"{title}: got {extra}", usage(title, plan)), given.context)
            return None
        rows |= given.named
        found = [one for one in plan.inputs if one.name in rows]
        self._hyperparameters(given, rows, title, plan)
        absent = [str(one.name) for one in plan.inputs if one.name not in rows and not one.optional]
        if absent and (found or not rows) and given.faithful:
            seen = f"{title} was called without {', '.join(absent)}"
            report(given.api, Finding(seen, usage(title, plan)), given.context)
        if not found:
            return None
        return Inputs(
            [rows[one.name or ""][0] for one in found],
            [f"argument {one.name}" for one in found],
            [unknown() if one.data is None else one.data for one in found],
        )

    def _hyperparameters(
        self, given: Given, rows: Mapping[str, tuple[Type, Expression | None]], title: str, plan: Plan
    ) -> None:
        """Hold the hyperparameters that are given against their hints, and see that none is missing."""
        missing = [str(one.name) for one in plan.hyperparameters if not one.optional and one.name not in rows]
        complete = any(one.name in rows for one in plan.inputs)  # else the others may be given later
        if missing and complete and given.faithful:
            report(given.api, without_values(title, missing), given.context)
        for one in plan.hyperparameters:
            row = rows.get(one.name or "")
            if row is not None and not is_subtype(row[0], one.typ) and not is_layer(row[0]):
                have, want = self.calls.short_native(row[0]), self.calls.short_native(one.typ)
                found = Finding(f"{one.name} is {have} where {want} is declared", f"give a value of type {want}")
                report(given.api, found, row[1] or given.context)

    def _bound(self, plan: Plan, rows: Inputs, out: ProperType) -> ProperType:
        """What the function returns, its type variables bound by the inputs of this call."""
        if isinstance(plan.returned, TypeVarType):
            for typ, want in zip(rows.types, rows.wanted, strict=True):
                if isinstance(want, TypeVarType) and want.id == plan.returned.id:
                    return self.native(typ)
        tape = self.words.tape_args(out)
        return unknown() if tape is None else tape[0]

    # ------------------------------------------------------------------ what fits
    def native(self, typ: Type) -> ProperType:
        """The native type of an argument: of a layer that of what it gives."""
        return self.calls.data(typ) if is_layer(typ) else get_proper_type(typ)

    def _checked(self, inputs: Inputs, result: ProperType, ctx: Any) -> ProperType:
        """The native result of a call, with the names of the signature bound; what does not fit is reported."""
        natives, names = self.expansions.natives, Names()
        for typ, what, want in zip(*inputs, strict=True):
            found = self.misfit(self.native(typ), want, what, names)
            if found is not None:
                report(ctx.api, found, ctx.context)
                return natives.plain(result)
        spec = natives.spec(result)
        if not isinstance(spec, Spec) or not is_array(result):
            return result
        bound = substitute(spec, names.bound)
        assert isinstance(bound, Spec)  # as the array's was
        return natives.array(bound, natives.is_loose(result))

    def misfit(self, data: ProperType, declared: ProperType, what: str, names: Names | None = None) -> Finding | None:
        """What is wrong with a value of one native type where another is declared, for a call with these names bound;
        within a body, without any, names are rigid."""
        if isinstance(declared, TypeVarType):  # by what it stands for; what binds it is looked at by `_bound`
            declared = get_proper_type(UnionType.make_union(declared.values or [declared.upper_bound]))
        if isinstance(data, AnyType) or isinstance(declared, AnyType):
            return None
        if isinstance(declared, UnionType):
            members = [one for one in map(get_proper_type, declared.items) if not isinstance(one, NoneType)]
            if isinstance(data, NoneType) and len(members) < len(declared.items):
                return None
            each = [self.misfit(data, one, what, names) for one in members]
            return None if None in each else each[0]
        natives = self.expansions.natives
        have, want = natives.spec(data), natives.spec(declared)
        if have is None or want is None:
            fits = is_subtype(data, declared) or isinstance(data, (UnionType, CallableType))
            return None if fits else self._undeclared(data, declared, what)
        found = returned(want, have, what=what) if names is None else unify([want], [have], [what], names)
        if isinstance(found, Finding):
            return found if is_array(data) == is_array(declared) else found._replace(kind="symbolic")
        if names is not None and is_array(declared) and isinstance(have, Spec) and have.python is not None:
            seen = f"{what} is {self.calls.short_native(data)} where {self.calls.short_native(declared)} is declared"
            return Finding(seen, "give an array: np.asarray(x)")
        scalar = isinstance(want, Spec) and want.shape == () and is_array(declared) is False
        open_rank = isinstance(have, Spec) and (have.shape is None or (len(have.shape) > 1 and Rest() in have.shape))
        if scalar and is_array(data) and open_rank and not natives.is_loose(data):
            return self._undeclared(data, declared, what)
        return None

    def _undeclared(self, data: ProperType, declared: ProperType, what: str) -> Finding:
        have, want = self.calls.short_native(data), self.calls.short_native(declared)
        remedy = f"give a value of type {want}"
        if isinstance(declared, TupleType):
            remedy = f"give a tuple of {len(declared.items)}"
        elif is_array(data):
            remedy = f"reduce it to a number (np.sum, np.mean), or declare {have}"
        return Finding(f"{what} is {have} where {want} is declared", remedy)

    # ------------------------------------------------------------------ what a body returns
    def declared(self, ctx: Any) -> Type:
        """What a body returns or assigns is held against the hint there, with the sentence of run time."""
        proper = get_proper_type(ctx.type)
        assert isinstance(proper, Instance)
        native, what = map(get_proper_type, proper.args)
        native = self._of_inputs(native, ctx.api)
        assert isinstance(what, LiteralType)
        for typ, expression in Given(ctx).positional:
            self.check_returned(get_proper_type(typ), native, str(what.value), expression or ctx.context, ctx.api)
        return unknown()

    def _of_inputs(self, native: ProperType, api: Any) -> ProperType:
        """What a hint in a body declares, without the names that no input has: those may stand for any size."""
        taken = self.calls.bodies.taken(api)
        tape = None if taken is None else self.words.tape_args(taken)
        spec = None if tape is None else self.expansions.natives.spec(tape[0])
        names = {} if spec is None else {name: Size.named(name) for size in named(Value(spec)) for name in size.names}
        if isinstance(native, TupleType):
            return native.copy_modified(items=[self._of_inputs(get_proper_type(one), api) for one in native.items])
        declared = self.expansions.natives.spec(native)
        if not isinstance(declared, Spec) or declared.shape is None or not is_array(native) or spec is None:
            return native
        if any(isinstance(one, Rest) for one in (*declared.shape, *sizes_of(spec))):
            return native
        bound = substitute(declared, names)
        assert isinstance(bound, Spec)  # as the array's was
        return self.expansions.natives.array(bound)

    def check_returned(self, typ: ProperType, declared: ProperType, what: str, place: Context, api: Any) -> None:
        if isinstance(typ, UnionType):
            if sum(map(is_layer, typ.items)) > 1:  # of assignments in branches and loops, which the core follows
                return
            for one in typ.items:
                if is_start_of_sum(one) and any(map(is_layer, typ.items)):
                    continue
                self.check_returned(get_proper_type(one), declared, what, place, api)
            return
        if what == RETURNED and isinstance(typ, Instance) and typ.type.has_base("typing.Mapping") and holds_layer(typ):
            report(api, Finding(*returned_structure(typ.type.name)), place)
            return
        is_object = isinstance(typ, Instance) and typ.type.fullname == "builtins.object"  # of types that mypy joined
        if isinstance(typ, AnyType) or isinstance(declared, AnyType) or is_object:
            return
        pairs = paired(typ, declared)
        if pairs is not None:
            for one, other in pairs:
                self.check_returned(get_proper_type(one), get_proper_type(other), what, place, api)
            return
        if isinstance(typ, TupleType):
            report(api, self._miscounted_entries(typ, declared, what), place)
            return
        layer = self.words.layer_args(typ)
        tape = None if layer is None else self.words.tape_args(layer[1])
        data = typ if layer is None else unknown() if tape is None else tape[0]
        found = self.misfit(data, declared, what)
        if found is not None:
            pair = [Value(spec) for one in (data, declared) if (spec := self.expansions.natives.spec(one)) is not None]
            report(api, likely(found, DECLARED, pair), place, of_value=True)

    def _miscounted_entries(self, typ: TupleType, declared: ProperType, what: str) -> Finding:
        count = len(typ.items)
        if isinstance(declared, TupleType):
            seen = f"{what} has {count} entries where {len(declared.items)} are declared"
            return Finding(seen, "return as many values as the hint says")
        want = self.calls.short_native(declared)
        return Finding(f"{what} is a tuple of {count} entries where {want} is declared", f"give a value of type {want}")


_ROWS = ("builtins.tuple", "builtins.list", "typing.Sequence")


def paired(typ: ProperType, declared: ProperType) -> list[tuple[Type, Type]] | None:
    """The entries of a structure beside what is declared of each; `None` for what is no structure, or of another
    number of entries."""
    entries, wanted = [list(one.items) if isinstance(one, TupleType) else _entry(one) for one in (typ, declared)]
    if entries is None or wanted is None:
        return None
    if not isinstance(entries, list):
        return [(entries, one) for one in wanted] if isinstance(wanted, list) else [(entries, wanted)]
    if not isinstance(wanted, list):
        return [(one, wanted) for one in entries]
    return list(zip(entries, wanted, strict=True)) if len(entries) == len(wanted) else None


def _entry(typ: ProperType) -> Type | None:
    return typ.args[0] if isinstance(typ, Instance) and typ.type.fullname in _ROWS and typ.args else None


def is_factory(typ: Type) -> bool:
    proper = get_proper_type(typ)
    return isinstance(proper, Instance) and proper.type.has_base(FACTORY)


def unmade(factory: ProperType, call: Context) -> Finding:
    """What is said of a factory that is run."""
    callee = call.callee if isinstance(call, CallExpr) else None
    owner = callee.expr if isinstance(callee, MemberExpr) else None
    title = owner.name if isinstance(owner, (NameExpr, MemberExpr)) else "a factory"
    parameters = get_proper_type(factory.args[1]) if isinstance(factory, Instance) and len(factory.args) > 1 else None
    rows = zip(parameters.arg_names, parameters.arg_kinds, strict=True) if isinstance(parameters, Parameters) else ()
    return without_values(title, [str(name) for name, kind in rows if not kind.is_optional()][1:])


def without_values(title: str, missing: Sequence[str]) -> Finding:
    """What run time says of hyperparameters without values."""
    error = no_values(title, missing)
    return Finding(error.seen, error.remedy)


def usage(title: str, plan: Plan) -> str:
    """How a symbolic function is called, as run time says it."""
    required = [f"{one.name}=…" for one in plan.hyperparameters if not one.optional]
    return f"call {title}({', '.join([*(str(one.name) for one in plan.inputs), *required])})"


def is_start_of_sum(typ: Type) -> bool:
    """The 0 that `sum` gives of nothing, which mypy never forgets."""
    proper = get_proper_type(typ)
    return isinstance(proper, LiteralType) and proper.value == 0 and proper.fallback.type.fullname == "builtins.int"


def is_array(typ: ProperType) -> bool:
    return isinstance(typ, Instance) and typ.type.has_base(NDARRAY)
