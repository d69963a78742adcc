"""What does `Annotated[T, Symbolic[…]]` stand for where it is written? For one of the three expansions.

While a hint is analyzed, every `Annotated[T, Symbolic]` in it becomes `Marked[T]`, a class that holds the native type;
an alias keeps it, since mypy drops the metadata of an alias. Then the place of the hint says what it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mypy.nodes import (
    ARG_POS,
    AssignmentStmt,
    CallExpr,
    CastExpr,
    EllipsisExpr,
    Expression,
    FuncDef,
    TempNode,
    TypeAlias,
    TypeAliasStmt,
)
from mypy.plugin import AnalyzeTypeContext
from mypy.types import (
    CallableType,
    Instance,
    LiteralType,
    TupleType,
    Type,
    UnboundType,
    UnionType,
    flatten_nested_unions,
    get_proper_type,
)

from symbolic.mypy_plugin.expansions import Expansions
from symbolic.mypy_plugin.metadata import in_alias, shaped
from symbolic.mypy_plugin.reporting import SYMBOLIC_CODE, failed_hint
from symbolic.mypy_plugin.statements import RETURNED, returns
from symbolic.mypy_plugin.vocabulary import ANNOTATED, DECLARED, MARKED, NotReady, taken_apart, unknown


class Hints:
    """The hook of every hint in user code."""

    expansions: Expansions
    lookup: Callable[[str], Any]
    collecting: int

    def __init__(self, expansions: Expansions, lookup: Callable[[str], Any]) -> None:
        self.expansions, self.lookup = expansions, lookup
        self.semanal: Any = None  # mypy's semantic analyzer, known from the first hook on
        self.passing: str | None = None  # the name whose default analysis was asked for by a hook
        self.place: Any = None  # the function whose hints are being analyzed; forgotten when mypy goes on to check
        self.collecting = 0
        self.signature: Signature | None = None
        self.asked: tuple[FuncDef | None, bool] = None, False

    def hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        """mypy asks this for every name in a hint, so it answers quickly."""
        if self.passing == fullname:
            self.passing = None
            return None
        if fullname in ANNOTATED:
            return self.annotated
        if self.semanal is None:
            return self.first
        if self.collecting or self.semanal.is_stub_file:
            return None
        return self.placed if self._concerned(fullname) else None

    def _concerned(self, fullname: str) -> bool:
        """Whether the hint may stand for something else here than it says."""
        statement = self.semanal.statement
        if isinstance(statement, FuncDef) and self._is_symbolic(statement):
            return True
        if isinstance(statement, TypeAliasStmt) or any(map(self.expansions.taken_by, self.semanal.function_stack)):
            return True
        if isinstance(statement, AssignmentStmt) and statement.rvalue is not None and in_alias(statement):
            return True
        found = self.lookup(fullname)
        return found is not None and isinstance(found.node, TypeAlias) and _is_ours(found.node.target)

    def _is_symbolic(self, function: FuncDef) -> bool:
        """Whether a parameter of the function is marked, by its hint or by an alias of one."""
        if self.asked[0] is not function:
            types = function.type.arg_types if isinstance(function.type, CallableType) else []
            self.asked = function, any(map(self._may_mark, types))
        return self.asked[1]

    def _may_mark(self, written: Type) -> bool:
        if isinstance(written, UnionType):
            return any(map(self._may_mark, written.items))
        if not isinstance(written, UnboundType):
            return False
        found = self.semanal.lookup_qualified(written.name, written, suppress_errors=True)
        node = None if found is None else found.node
        if isinstance(node, TypeAlias):
            return holds_mark(node.target) or any(map(self._may_mark, written.args))
        return (node is not None and node.fullname in ANNOTATED) or any(map(self._may_mark, written.args))

    def first(self, ctx: AnalyzeTypeContext) -> Type:
        self.semanal = ctx.api.api  # type: ignore[attr-defined]  # the analyzer of types has the one of programs
        hook = self.hook(self._fullname(ctx))
        return self.default(ctx) if hook is None else hook(ctx)

    def _fullname(self, ctx: AnalyzeTypeContext) -> str:
        found = ctx.api.lookup_qualified(ctx.type.name, ctx.type)  # type: ignore[attr-defined]  # as above
        return found.node.fullname if found is not None and found.node is not None else ""

    def default(self, ctx: AnalyzeTypeContext) -> Type:
        """What mypy itself makes of a hint."""
        self.passing = self._fullname(ctx)
        try:
            return ctx.api.analyze_type(ctx.type)
        finally:
            self.passing = None

    def collected(self, ctx: AnalyzeTypeContext, typ: Type | None = None) -> Type:
        """The analyzed hint with `Marked` in the place of each `Annotated[T, Symbolic]`."""
        self.collecting += 1
        try:
            return self.default(ctx) if typ is None else ctx.api.analyze_type(typ)
        finally:
            self.collecting -= 1

    # ------------------------------------------------------------------ Annotated
    def annotated(self, ctx: AnalyzeTypeContext) -> Type:
        self.semanal = ctx.api.api  # type: ignore[attr-defined]  # the analyzer of types has the one of programs
        if self.collecting:
            return self.mark(ctx)
        return self.placed(ctx)

    def mark(self, ctx: AnalyzeTypeContext) -> Type:
        """`Annotated[T, …]` as `Marked[T]` if `Symbolic` stands in it, with its shape and dtype; else as T."""
        if not ctx.type.args:
            return self.default(ctx)
        self.collecting += 1
        try:
            inner = ctx.api.analyze_type(ctx.type.args[0])
        finally:
            self.collecting -= 1
        return shaped(ctx, inner, self.expansions)

    # ------------------------------------------------------------------ places
    def placed(self, ctx: AnalyzeTypeContext) -> Type:
        """A hint by its place."""
        try:
            return self._placed(ctx)
        except NotReady:  # the library itself is being checked
            self.semanal.record_incomplete_ref()
            return unknown()
        except Exception as error:
            self.collecting = 0
            failed_hint(error, ctx.api, self.semanal, ctx.context)
            return self.default(ctx)

    def _begun(self) -> None:
        """Once a function, and a statement of a module: what its hints depend on, and what is known by now."""
        stack = self.semanal.function_stack
        place = stack[0] if stack else self.semanal.statement
        if place is self.place:
            return
        self.place, mappings = place, self.expansions.mappings
        for trigger in mappings.triggers(self.semanal.cur_mod_id):
            self.semanal.add_plugin_dependency(trigger)
        mappings.settled = bool(self.semanal.recurse_into_functions)  # functions come after the classes of modules

    def _placed(self, ctx: AnalyzeTypeContext) -> Type:
        statement = self.semanal.statement
        self._begun()
        if isinstance(statement, FuncDef):
            found = self._in_signature(ctx, statement)
            if found is not None:
                return found
        if ctx.api.defining_alias:  # type: ignore[attr-defined]  # as above
            return self._alias(ctx, in_alias(statement) or {})
        return self._elsewhere(ctx)

    def _analyzed(self, ctx: AnalyzeTypeContext) -> Type:
        if self._fullname(ctx) in ANNOTATED:
            return self.mark(ctx)
        return self.collected(ctx)

    def _alias(self, ctx: AnalyzeTypeContext, alias: Any) -> Type:
        """Within the right side of an alias: the mark is kept, for whoever uses it."""
        typ = self._analyzed(ctx)
        metadata = alias.get((ctx.type.line, ctx.type.column))
        return typ if metadata is None else shaped(ctx, typ, self.expansions, metadata)

    def _elsewhere(self, ctx: AnalyzeTypeContext) -> Type:
        """A variable: within a symbolic function a layer, elsewhere the native type."""
        typ = self._analyzed(ctx)
        taken = self._enclosing()
        if taken is None and self.semanal.type is not None:
            return self.expansions.of_any_size(self.expansions.native(typ))  # of a field: names are each object's own
        if taken is None:
            return self.expansions.native(typ)
        wider = self.expansions.local(typ, taken, self.semanal.cur_mod_id, self._fail(ctx))
        statement = self.semanal.statement
        if (
            isinstance(statement, AssignmentStmt)
            and wider is not typ
            and stands_in(ctx.type, statement.unanalyzed_type)
        ):
            name = getattr(statement.lvalues[0], "name", "the value")
            whole = self._whole(ctx, typ, statement.unanalyzed_type)
            statement.rvalue = self._held(statement.rvalue, self._marked_native(whole), name)
        return wider

    def _enclosing(self) -> Type | None:
        """What the innermost symbolic function around takes, as a tape."""
        for function in reversed(self.semanal.function_stack):
            taken = self.expansions.taken_by(function)
            if taken is not None:
                return taken
        return None

    def _fail(self, ctx: AnalyzeTypeContext) -> Callable[[str], None]:
        def fail(message: str) -> None:
            if self.semanal.final_iteration:
                ctx.api.fail(message, ctx.context, code=SYMBOLIC_CODE)
            else:
                self.semanal.record_incomplete_ref()  # a mapping may stand further down

        return fail

    def _whole(self, ctx: AnalyzeTypeContext, typ: Type, written: Type | None) -> Type:
        """The analyzed hint of which a hook was told one member: of `V | None`, `V`."""
        return typ if written is None or ctx.type is written else self.collected(ctx, written)

    def _marked_native(self, typ: Type) -> Type:
        """What a hint of a single mark declares; nothing is held against a structure, or a bare native type."""
        proper = get_proper_type(typ)
        members = map(get_proper_type, flatten_nested_unions([proper]))  # an alias keeps its mark in a union of one
        marked = any(isinstance(one, Instance) and one.type.fullname == MARKED for one in members)
        return self._checkable(self.expansions.native(typ)) if marked else unknown()

    def _checkable(self, native: Type) -> Type:
        """A native type that something can be held against: one that has a delta."""
        known = self.expansions.mappings.delta(native, self.semanal.cur_mod_id)
        return unknown() if known is None else native

    def _held(self, value: Expression, declared: Type, what: str) -> Expression:
        """A value that is anything to mypy, and is held against its hint by our own hook: what is a layer to the
        plugin may be a constant too, and run time's sentence says best what is wrong."""
        words = self.expansions.words
        if isinstance(value, TempNode):
            return value
        if isinstance(value, CallExpr) and isinstance(value.callee, CastExpr):
            value = value.args[0]  # from an analysis before this one
        name = LiteralType(what, words.instance("builtins.str"))
        callee = CastExpr(EllipsisExpr(), words.instance(DECLARED, declared, name))
        call = CallExpr(callee, [value], [ARG_POS], [None])
        callee.set_line(value)
        call.set_line(value)
        return call

    # ------------------------------------------------------------------ signatures
    def _in_signature(self, ctx: AnalyzeTypeContext, function: FuncDef) -> Type | None:
        """A hint in the signature that is being analyzed; `None` for any other (in a default value, say)."""
        written = function.type
        if not isinstance(written, CallableType):
            return None
        places = [*written.arg_types, written.ret_type]
        index = next((k for k, one in enumerate(places) if outermost(ctx.type, one)), None)
        if index is None:
            return None
        if self.signature is None or not self.signature.serves(function, ctx.type):
            self.signature = Signature(function, [self.collected(ctx, one) for one in written.arg_types])
        typ = self._analyzed(ctx)
        module, fail = self.semanal.cur_mod_id, self._fail(ctx)
        inputs = [self.expansions.native(one) for one in self.signature.types if holds_mark(one)]
        if inputs and index == len(places) - 1:
            for statement in returns(function.body):
                if statement.expr is not None:
                    whole = self._whole(ctx, typ, written.ret_type)
                    native = self._checkable(self.expansions.native(whole))
                    statement.expr = self._held(statement.expr, native, RETURNED)
            return self.expansions.returned(typ, inputs, module, fail)
        if inputs and holds_mark(typ):
            argument = function.arguments[index]
            if argument.initializer is not None:
                what = f"the default of {argument.variable.name}"
                whole = self._whole(ctx, typ, places[index])
                argument.initializer = self._held(argument.initializer, self.expansions.native(whole), what)
            return self.expansions.parameter(typ, inputs, module, fail)
        taken = self.expansions.taken(inputs, module) if inputs else self._enclosing()
        if taken is None:
            return self.expansions.native(typ)
        if inputs:
            return self.expansions.hyperparameter(typ, taken, module)
        return self.expansions.local(typ, taken, module, fail)


class Signature:
    """The analyzed parameters of the function whose signature is being analyzed, for one round over it."""

    function: FuncDef
    types: Sequence[Type]

    def __init__(self, function: FuncDef, types: Sequence[Type]) -> None:
        self.function, self.types = function, types
        self.seen: list[UnboundType] = []

    def serves(self, function: FuncDef, hint: UnboundType) -> bool:
        if function is not self.function or any(one is hint for one in self.seen):
            return False  # the second time that a hint comes, its names may mean more
        self.seen.append(hint)
        return True


def outermost(hint: UnboundType, written: Type) -> bool:
    """Whether a hint is the whole of what is written, or one member of a union."""
    if isinstance(written, UnionType):
        return any(outermost(hint, one) for one in written.items)
    return hint is written


def stands_in(hint: UnboundType, written: Type | None) -> bool:
    return written is not None and outermost(hint, written)


def _is_ours(target: Type) -> bool:
    """Whether an alias is one of ours, by its mark or as the union of a single member that keeps a bare class whole."""
    return holds_mark(target) or (isinstance(target, UnionType) and len(target.items) == 1)


def holds_mark(typ: Type | None) -> bool:
    """Whether `Marked` stands in a type, as itself or as an entry of a structure."""
    proper = taken_apart(typ)
    if isinstance(proper, Instance):
        return proper.type.fullname == MARKED or any(map(holds_mark, proper.args))
    if isinstance(proper, (TupleType, UnionType)):
        return any(map(holds_mark, proper.items))
    return False
