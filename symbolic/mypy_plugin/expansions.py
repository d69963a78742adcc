"""What are the three expansions? `Identity` for a parameter, `Layer` for a local, a return, and a callable."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mypy.nodes import FuncItem
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    NoneType,
    ProperType,
    TupleType,
    Type,
    TypedDictType,
    TypeVarType,
    UnionType,
    get_proper_type,
)

from symbolic.literal import unregistered
from symbolic.mypy_plugin.mappings import Mappings
from symbolic.mypy_plugin.natives import Natives
from symbolic.mypy_plugin.vocabulary import IDENTITY, MARKED, NDARRAY, PROJECTION, Vocabulary, taken_apart, unknown
from symbolic.spec import Spec

Fail = Callable[[str], None]
_BARE = (NDARRAY, "builtins.float", "builtins.complex")


class Expansions:
    """The expansions, over one build's types."""

    words: Vocabulary
    natives: Natives
    mappings: Mappings

    def __init__(self, words: Vocabulary, natives: Natives, mappings: Mappings) -> None:
        self.words, self.natives, self.mappings = words, natives, mappings

    def native(self, typ: Type) -> ProperType:
        """A type with the native ones in the place of `Marked`."""
        return get_proper_type(replaced(typ, lambda inner: inner))

    def of_any_size(self, typ: Type) -> ProperType:
        """A native type whose arrays have any shape, of the declared dtype: NumPy's hints know of no named sizes."""
        proper = get_proper_type(typ)
        if isinstance(proper, UnionType):
            return get_proper_type(UnionType.make_union([self.of_any_size(one) for one in proper.items]))
        if isinstance(proper, TupleType):
            return self.natives.words.tuple_of([self.of_any_size(one) for one in proper.items])
        spec = self.natives.spec(proper)
        is_array = isinstance(proper, Instance) and proper.type.fullname == NDARRAY
        return self.natives.array(spec._replace(shape=None)) if is_array and isinstance(spec, Spec) else proper

    def delta(self, typ: Type, module: str, fail: Fail | None = None) -> ProperType:
        """The delta type of a native type; where none is registered, `fail` is told the sentence of run time."""
        found = self.mappings.delta(typ, module)
        if found is None and fail is not None:
            fail(str(unregistered(self._without(typ, module))))
        return unknown() if found is None else found

    def _without(self, typ: Type, module: str) -> str:
        """The name of the type that has no mapping: of a structure or a union, the one of its members."""
        proper = get_proper_type(typ)
        if isinstance(proper, (TupleType, UnionType)):
            return next(self._without(one, module) for one in proper.items if self.mappings.delta(one, module) is None)
        return proper.type.name if isinstance(proper, Instance) else str(proper)

    def tape(self, data: Type, module: str, fail: Fail | None = None) -> Instance:
        return self.words.tape(data, self.delta(data, module, fail))

    def taken(self, inputs: Sequence[Type], module: str) -> Instance:
        """The tape that a function of these inputs takes: of several, one of their tuple."""
        data = inputs[0] if len(inputs) == 1 else self.words.tuple_of(inputs)
        return self.tape(bounded(data), module)

    # ------------------------------------------------------------------ 1: parameters
    def parameter(self, typ: Type, inputs: Sequence[Type], module: str, fail: Fail) -> ProperType:
        """`Identity[T, ΔT]`, or the `Projection` of one of several; of a union, what the body is given in each case."""
        native = self.native(typ)
        members = list(map(get_proper_type, native.items)) if isinstance(native, UnionType) else [native]
        single = len(inputs) == 1 and sum(not isinstance(one, NoneType) for one in members) == 1

        def leaf(one: ProperType) -> ProperType:
            if isinstance(one, NoneType):
                return one  # a body is given None as it is
            delta = self.delta(one, module, fail)
            return self.words.identity(one, delta) if single else self.words.projection(taken, one, delta)

        taken = self.taken(inputs, module)
        return get_proper_type(UnionType.make_union([leaf(one) for one in members]))

    def taken_by(self, function: FuncItem) -> Type | None:
        """What a function takes whose signature is expanded already; `None` where it is not symbolic."""
        signature = function.type
        if not isinstance(signature, CallableType):
            return None
        for written in signature.arg_types:
            proper = get_proper_type(written)
            for one in proper.items if isinstance(proper, UnionType) else [proper]:
                member = get_proper_type(one)
                if isinstance(member, Instance) and member.type.fullname == IDENTITY:
                    return self.words.tape(*member.args)
                if isinstance(member, Instance) and member.type.fullname == PROJECTION:
                    return member.args[0]
        return None

    # ------------------------------------------------------------------ 2: locals and returns
    def returned(self, typ: Type, inputs: Sequence[Type], module: str, fail: Fail) -> ProperType:
        """`Layer[Tape[In, ΔIn], Tape[T, ΔT]]`; or anything, for the plugin holds what is returned against the hint."""
        native = self.native(typ)
        if isinstance(native, (NoneType, AnyType)):
            return native
        layer = self.words.layer(self.taken(inputs, module), self.tape(native, module, fail))
        return UnionType([layer, unknown()])

    def local(self, typ: Type, taken: Type, module: str, fail: Fail) -> Type:
        """The layer for each mark; a bare native type admits both, a constant and a layer. The same type if neither."""

        def layer(inner: Type) -> ProperType:
            return self.words.layer(taken, self.tape(inner, module, fail))

        def bare(one: Instance) -> ProperType | None:
            if one.type.fullname not in _BARE:
                return None
            return UnionType([self.words.layer(taken, self.tape(one, module)), one])

        return replaced(typ, layer, bare)

    def hyperparameter(self, typ: Type, taken: Type, module: str) -> Type:
        """A function that a symbolic one is given: within the body it is called with layers, and gives one."""
        proper = get_proper_type(typ)
        if isinstance(proper, UnionType):
            return UnionType([self.hyperparameter(one, taken, module) for one in proper.items])
        if not isinstance(proper, CallableType) or not is_native(proper.ret_type):
            return typ
        given = [unknown() if is_native(one) else one for one in proper.arg_types]
        return proper.copy_modified(
            arg_types=given, ret_type=self.words.layer(taken, self.tape(proper.ret_type, module))
        )

    # ------------------------------------------------------------------ 3: anywhere else
    def of_callable(self, function: CallableType, module: str, fail: Fail) -> Instance:
        """`Annotated[Callable[[A], B], Symbolic]`."""
        inputs = [self.native(one) for one in function.arg_types]
        for one in inputs:
            self.delta(one, module, fail)
        given = self.tape(bounded(self.native(function.ret_type)), module, fail)
        return self.words.layer(self.taken(inputs, module) if inputs else unknown(), given)


def replaced(
    typ: Type, marked: Callable[[Type], Type], bare: Callable[[Instance], ProperType | None] | None = None
) -> Type:
    """A type with each `Marked[T]` and each bare class replaced; the same object where there is nothing to replace."""
    proper = taken_apart(typ)
    if proper is None:
        return typ
    if isinstance(proper, Instance):
        if proper.type.fullname == MARKED:
            return marked(proper.args[0])
        other = None if bare is None else bare(proper)
        if other is not None:
            return other
        args = [replaced(one, marked, bare) for one in proper.args]
        changed = any(a is not b for a, b in zip(args, proper.args, strict=True))
        return proper.copy_modified(args=args) if changed and proper.type.fullname != NDARRAY else typ
    if isinstance(proper, UnionType) and len(proper.items) == 1:
        return replaced(proper.items[0], marked, bare)  # as an alias keeps its mark
    if isinstance(proper, TypedDictType):
        entries = [replaced(one, marked, bare) for one in proper.items.values()]
        changed = any(a is not b for a, b in zip(entries, proper.items.values(), strict=True))
        return proper.copy_modified(item_types=entries) if changed else typ
    if isinstance(proper, (TupleType, UnionType)):
        items: list[Type] = [replaced(one, marked, bare) for one in proper.items]
        if all(a is b for a, b in zip(items, proper.items, strict=True)):
            return typ
        return UnionType(items) if isinstance(proper, UnionType) else proper.copy_modified(items=items)
    return typ


def is_native(typ: Type) -> bool:
    """Whether values of this type are traced in a symbolic body: arrays and real or complex numbers."""
    proper = get_proper_type(typ)
    return isinstance(proper, Instance) and (
        proper.type.fullname in _BARE or proper.type.has_base(NDARRAY) or proper.type.has_base("numpy.inexact")
    )


def bounded(typ: Type) -> ProperType:
    """A type without type variables, for a name that is no generic function: their bounds."""
    proper = get_proper_type(typ)
    if isinstance(proper, TypeVarType):
        if proper.values:
            return get_proper_type(UnionType.make_union(proper.values))
        bound = get_proper_type(proper.upper_bound)
        return unknown() if isinstance(bound, Instance) and bound.type.fullname == "builtins.object" else bound
    if isinstance(proper, TupleType):
        return proper.copy_modified(items=[bounded(one) for one in proper.items])
    return proper
