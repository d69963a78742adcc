"""What do functions of networks and of functions give? Derivatives, maps over an axis, and layers in a row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from mypy.nodes import ARG_OPT, ARG_POS, ARG_STAR, Context, FuncDef
from mypy.subtypes import is_subtype
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    NoneType,
    Overloaded,
    ProperType,
    TupleType,
    Type,
    TypeType,
    TypeVarType,
    UnionType,
    flatten_nested_unions,
    get_proper_type,
)

from symbolic.differentiated import no_position
from symbolic.dims import Names
from symbolic.mypy_plugin.arguments import Arguments
from symbolic.mypy_plugin.calls import Calls
from symbolic.mypy_plugin.expansions import Expansions, is_native
from symbolic.mypy_plugin.functions import is_bound
from symbolic.mypy_plugin.given import Given
from symbolic.mypy_plugin.reporting import report
from symbolic.mypy_plugin.running import Running
from symbolic.mypy_plugin.vocabulary import DERIVATIVE, NDARRAY, Vocabulary, is_layer, unknown
from symbolic.polynomial import Rest
from symbolic.spec import Spec
from symbolic.static.abstract import UNKNOWN, Finding

REMAT = "symbolic.custom.remat"
UNARY = "symbolic.ops.families.Unary"
SEQUENTIAL = "symbolic.nn.containers.Sequential"
LINEAR = "symbolic.nn.layers.Linear"
DERIVATIVES = {
    "symbolic.derivatives.grad": "grad",
    "symbolic.derivatives.value_and_grad": "value_and_grad",
    "symbolic.jacobians.jacobian": "jacobian",
    "symbolic.jacobians.hessian": "hessian",
    "symbolic.batching.vmap": "vmap",
}


class Networks:
    """The hooks of what takes networks or functions, over one build's types."""

    words: Vocabulary
    expansions: Expansions
    arguments: Arguments
    calls: Calls
    running: Running

    def __init__(
        self, words: Vocabulary, expansions: Expansions, arguments: Arguments, calls: Calls, running: Running
    ) -> None:
        self.words, self.expansions, self.arguments = words, expansions, arguments
        self.calls, self.running = calls, running

    # ------------------------------------------------------------------ layers in a row
    def sequential(self, ctx: Any) -> Type:
        """`Sequential(a, b, …)`: from what the first takes to what the last gives; each takes what came before."""
        given = Given(ctx)
        rows = given.positional
        if not given.faithful or given.named:
            return self.words.instance(SEQUENTIAL, unknown(), unknown())
        types: list[Instance] = []
        for typ, expression in rows:
            types.append(self._in_row(typ, types, expression or ctx.context, ctx))
        for k, (one, other) in enumerate(pairwise(types)):
            self._fits(one, other, f"layer {k + 1} of Sequential", ctx)
        if not types:
            return self.words.instance(SEQUENTIAL, unknown(), unknown())
        first, last = self.words.layer_args(types[0]), self.words.layer_args(types[-1])
        assert first is not None and last is not None
        return self.words.instance(SEQUENTIAL, first[0], last[1])

    def _in_row(self, typ: Type, before: Sequence[Instance], place: Context, ctx: Any) -> Instance:
        """A layer of a row; an operation such as `ReLU()` gives the type that it is given."""
        proper = get_proper_type(typ)
        anything = self.words.layer(unknown(), unknown())
        if not isinstance(proper, Instance) or not is_layer(proper):
            if not isinstance(proper, AnyType):
                report(ctx.api, self._no_layer(typ), place)
            return anything
        if not before or not proper.type.has_base(UNARY):
            return proper
        args = self.words.layer_args(before[-1])
        return anything if args is None else self.words.layer(args[1], args[1])

    def composed(self, ctx: Any) -> Type:
        """`outer.compose(inner)`."""
        given = Given(ctx)
        if not is_layer(ctx.type):
            return self.calls.operation(ctx, "compose")
        outer = self.words.layer_args(ctx.type)
        inner = self.words.layer_args(given.positional[0][0]) if given.positional else None
        if outer is None or inner is None:
            if given.positional and not isinstance(get_proper_type(given.types[0]), AnyType):
                report(ctx.api, self._no_layer(given.types[0]), ctx.context)
            return self.words.layer(unknown(), unknown() if outer is None else outer[1])
        self._fits(given.positional[0][0], ctx.type, "the outer layer of compose", ctx)
        return self.words.layer(inner[0], outer[1])

    def _no_layer(self, typ: Type) -> Finding:
        proper = get_proper_type(typ)
        short = self.calls.short_native(proper)
        if isinstance(proper, Instance) and proper.type.fullname in ("builtins.list", "builtins.tuple"):
            return Finding(f"{short} where a layer is wanted", "give the layers one by one: *layers")
        if isinstance(proper, (CallableType, Overloaded)) and proper.is_type_obj():
            return Finding("a class where a layer is wanted", "make an instance of it")
        return Finding(f"{short} where a layer is wanted", "make one of a function with @symbolic")

    def _fits(self, inner: Type, outer: Type, what: str, ctx: Any) -> None:
        """Report a layer that does not take what the one before it gives."""
        taken = self.words.layer_args(outer)
        tape = None if taken is None else self.words.tape_args(taken[0])
        if tape is None:
            return
        wanted, got = tape[0], self.calls.data(inner)
        found = self.running.misfit(got, wanted, "its input", Names())
        if found is not None:
            seen = f"{what}, {self.calls.short_layer(outer)}, is given {self.calls.short_native(got)}"
            report(ctx.api, Finding(f"{seen}: {found.seen}", found.remedy, found.kind), ctx.context)

    def linear(self, ctx: Any) -> Type:
        """`Linear(4, 8)`: of (..., 4), (..., 8)."""
        default: Type = get_proper_type(ctx.default_return_type)
        given = Given(ctx)
        sizes: list[Spec] = []
        for k, name in enumerate(("inputs", "outputs")):
            row = given.positional[k] if k < len(given.positional) else given.named.get(name)
            value = UNKNOWN if row is None else self.arguments.of(row[0], row[1], given.type_of)
            shape: Any = (Rest(), value) if isinstance(value, int) else None
            sizes.append(Spec(shape))
        if not isinstance(default, Instance) or default.type.fullname != LINEAR:
            return default
        natives = self.expansions.natives
        tapes: list[Type] = [self.words.tape(natives.array(one), natives.array(Spec())) for one in sizes]
        return self.words.instance(LINEAR, *tapes)

    # ------------------------------------------------------------------ functions of functions
    def again(self, ctx: Any) -> Type:
        """`remat(layer)`: a function, of values or of layers."""
        given = Given(ctx)
        args = self.words.layer_args(given.positional[0][0]) if given.positional else None
        if args is None:
            return self.calls.function(REMAT, ctx)
        taken, result = self.words.tape_args(args[0]), self.words.tape_args(args[1])
        if taken is None or result is None:
            return unknown()
        plain = self.expansions.natives.plain
        types = [plain(one) for one in (taken[0].items if isinstance(taken[0], TupleType) else [taken[0]])]
        function = CallableType(
            types,
            [ARG_POS] * len(types),
            [None] * len(types),
            plain(result[0]),
            self.words.instance("builtins.function"),
        )
        return self.calls.bodies.callable(function, args[0], ctx.api.tree.fullname)

    def derivative(self, ctx: Any, kind: str) -> Type:
        """`grad(f, argnums)` and its like: a function of the same arguments, or the layer of the same input."""
        given = Given(ctx)
        if not given.positional:
            return ctx.default_return_type  # type: ignore[no-any-return]  # mypy's contexts are untyped to us
        f = get_proper_type(given.positional[0][0])
        known = 0
        if kind != "vmap":
            known = self._setting(given, 1, "argnums", 0)
            self._positions(given)
        has_aux = self._setting(given, 2, "has_aux", False) if "grad" in kind else False
        if is_layer(f):
            return self._of_layer(f, kind, known, ctx)
        if isinstance(f, Overloaded):
            return unknown()
        if not isinstance(f, CallableType):
            if not self._is_callable(f):
                seen = f"{kind} of {self.calls.short_native(f)}, which is not callable"
                report(ctx.api, Finding(seen, "give a function or a layer"), ctx.context)
            return unknown()
        if has_aux not in (True, False) or f.is_type_obj():
            return unknown()
        self._check_positions(f, kind, known, ctx)
        made = self._of_function(f, kind, known, has_aux, _is_method(f, ctx))
        made = made.copy_modified(fallback=self.words.instance(DERIVATIVE))  # which has more than a function: `traces`
        taken = self.calls.bodies.taken(ctx.api)
        return made if taken is None else self.calls.bodies.callable(made, taken, ctx.api.tree.fullname)

    def _is_callable(self, typ: ProperType) -> bool:
        """Whether every value of a type can be called; `function` is what mypy makes of unlike ones in a row."""
        if isinstance(typ, UnionType):
            return all(self._is_callable(get_proper_type(one)) for one in typ.items)
        if not isinstance(typ, Instance):
            return isinstance(typ, (AnyType, CallableType, Overloaded, TypeType, TypeVarType))
        return typ.type.fullname == "builtins.function" or is_layer(typ) or typ.type.get("__call__") is not None

    def _positions(self, given: Given) -> None:
        """See that `argnums` are positions."""
        row = given.positional[1] if len(given.positional) > 1 else given.named.get("argnums")
        one = UnionType([self.words.instance("builtins.int"), self.words.instance("numpy.integer", unknown())])
        if row is not None and not is_subtype(row[0], UnionType([one, self.words.instance("typing.Sequence", one)])):
            seen = f"argnums is {self.calls.short_native(row[0])}"
            found = Finding(seen, "give the position of an argument, or a tuple of them")
            report(given.api, found, row[1] or given.context)

    def _setting(self, given: Given, position: int, name: str, default: Any) -> Any:
        row = given.positional[position] if position < len(given.positional) else given.named.get(name)
        return default if row is None else self.arguments.of(row[0], row[1], given.type_of)

    def _of_layer(self, layer: ProperType, kind: str, argnums: Any, ctx: Any) -> Type:
        args = self.words.layer_args(layer)
        tape = None if args is None else self.words.tape_args(args[0])
        if args is None or tape is None or kind in ("jacobian", "hessian", "vmap"):
            return ctx.default_return_type  # type: ignore[no-any-return]  # mypy's contexts are untyped to us
        data = list(tape[0].items) if isinstance(tape[0], TupleType) else [tape[0]]
        gradient = self._chosen(data, argnums)
        value = self.calls.data(layer)
        given = gradient if kind == "grad" else self.words.tuple_of([value, gradient])
        return self.words.layer(args[0], self.words.tape(given, given))

    def _of_function(self, f: CallableType, kind: str, argnums: Any, has_aux: bool, method: bool) -> CallableType:
        plain = self.expansions.natives.plain
        types = [self._number(plain(one)) for one in f.arg_types]
        if kind == "vmap":
            mapped = [self._mapped(one) for one in types]
            return f.copy_modified(
                arg_types=mapped, ret_type=self._mapped(plain(f.ret_type)), name=None, implicit=False
            )
        positional = [typ for typ, how in zip(types, f.arg_kinds, strict=True) if how in (ARG_POS, ARG_OPT)][method:]
        gradient, value = self._chosen(positional, argnums), plain(f.ret_type)
        if kind in ("jacobian", "hessian"):
            result: Type = self._second(gradient, value if kind == "jacobian" else gradient)
        elif has_aux:
            entries = value.items if isinstance(value, TupleType) and len(value.items) == 2 else [unknown(), unknown()]
            more = [gradient, entries[1]] if kind == "grad" else [value, gradient]
            result = self.words.tuple_of(more)
        else:
            result = gradient if kind == "grad" else self.words.tuple_of([value, gradient])
        return f.copy_modified(arg_types=types, ret_type=result, name=None, implicit=False)

    def _check_positions(self, f: CallableType, kind: str, argnums: Any, ctx: Any) -> None:
        """Report positions of arguments that a function has not."""
        count = sum(how in (ARG_POS, ARG_OPT) for how in f.arg_kinds)
        if kind == "vmap" or any(how is ARG_STAR for how in f.arg_kinds):
            return
        for one in argnums if isinstance(argnums, (tuple, list)) else [argnums]:
            if isinstance(one, int) and not -count <= one < count:
                error = no_position(one, count, (f.name or "the function").partition(" of ")[0])
                report(ctx.api, Finding(error.seen, error.remedy, "symbolic-shape"), ctx.context)

    def _chosen(self, types: Sequence[Type], argnums: Any) -> ProperType:
        """The type of the gradient: that of the argument; several are a tuple."""
        if isinstance(argnums, (tuple, list)):
            return self.words.tuple_of([self._chosen(types, one) for one in argnums])
        if not isinstance(argnums, int) or not -len(types) <= argnums < len(types):
            return unknown()
        return get_proper_type(types[argnums])

    def _number(self, typ: ProperType) -> ProperType:
        """The type of an argument by which is differentiated: to the functions of `math` hints say what becomes one."""
        names = {
            one.type.fullname for one in map(get_proper_type, flatten_nested_unions([typ])) if isinstance(one, Instance)
        }
        if not names or not names <= {"typing.SupportsFloat", "typing.SupportsIndex"}:
            return typ
        return self.words.instance("builtins.float")

    def _second(self, by: ProperType, value: ProperType) -> ProperType:
        """The type of the derivative of a value by an argument: a number by a number is one, all else an array."""
        if not all(is_native(one) for one in (by, value)):
            return unknown()
        arrays = [one for one in (by, value) if isinstance(one, Instance) and one.type.fullname == NDARRAY]
        return self.expansions.natives.array(Spec()) if arrays else by

    def _mapped(self, typ: Type) -> ProperType:
        """A value for each slice: of a number and of an array an array."""
        proper = get_proper_type(typ)
        if is_native(proper):
            return self.expansions.natives.array(Spec())
        if isinstance(proper, TupleType):
            return proper.copy_modified(items=[self._mapped(one) for one in proper.items])
        return unknown() if not isinstance(proper, NoneType) else proper


def _is_method(f: CallableType, ctx: Any) -> bool:
    """Whether a function is differentiated where its class is defined: the positions are those after `self`."""
    definition = f.definition
    return isinstance(definition, FuncDef) and is_bound(definition) and ctx.api.scope.active_class() is not None
