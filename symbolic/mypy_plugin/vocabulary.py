"""How are the library's own types spelled for mypy? `Layer[Tape[…], Tape[…]]`, made and taken apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import SymbolTableNode, TypeAlias, TypeInfo
from mypy.types import (
    AnyType,
    Instance,
    ProperType,
    TupleType,
    Type,
    TypeAliasType,
    TypedDictType,
    TypeOfAny,
    UninhabitedType,
    UnionType,
    get_proper_type,
)

LAYER = "symbolic.layer.Layer"
TAPE = "symbolic.tape.Tape"
IDENTITY = "symbolic.leaves.Identity"
PROJECTION = "symbolic.leaves.Projection"
LITERAL = "symbolic.leaves.Literal"
WEIGHT = "symbolic.leaves.Weight"
DERIVATIVE = "symbolic.deriving.Derivative"
NO_DELTA = "symbolic.literal.NoDelta"
FACTORY = "symbolic.factories.Factory"
TRAINER = "symbolic.training.Trainer"
TO_LITERAL = "symbolic.literal.ToLiteral"
SYMBOLIC = "symbolic.hints.Symbolic"
MARKED = "symbolic.phantoms.Marked"
DIM = "symbolic.phantoms.Dim"
DECLARED = "symbolic.phantoms.Declared"
NDARRAY = "numpy.ndarray"
DTYPE = "numpy.dtype"
ANNOTATED = ("typing.Annotated", "typing_extensions.Annotated")

Lookup = Callable[[str], SymbolTableNode | None]


def unknown() -> AnyType:
    """A type of which nothing is known; explicit, so that no option of strictness complains."""
    return AnyType(TypeOfAny.special_form)


class NotReady(Exception):  # noqa: N818 - it is no error of anybody's
    """A class of ours is not analyzed yet: the library itself is being checked."""


class Vocabulary:
    """The library's types over one build's symbol tables."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def info(self, fullname: str) -> TypeInfo:
        found = self._lookup(fullname)
        if found is None or not isinstance(found.node, TypeInfo):
            raise NotReady(fullname)
        return found.node

    def alias(self, fullname: str) -> ProperType | None:
        """What a name of a type stands for, be it a class or an alias of one."""
        found = self._lookup(fullname)
        if found is not None and isinstance(found.node, TypeAlias):
            return get_proper_type(found.node.target)
        if found is not None and isinstance(found.node, TypeInfo):
            return Instance(found.node, [unknown() for _ in found.node.defn.type_vars])
        return None

    def instance(self, fullname: str, *args: Type) -> Instance:
        return Instance(self.info(fullname), list(args))

    # ------------------------------------------------------------------ made
    def tape(self, data: Type, delta: Type) -> Instance:
        return self.instance(TAPE, data, delta)

    def layer(self, taken: Type, given: Type) -> Instance:
        return self.instance(LAYER, taken, given)

    def any_layer(self) -> Instance:
        """What every layer is, and what says nothing of it where mypy infers by the context."""
        return self.instance(LAYER, UninhabitedType(), self.instance("builtins.object"))

    def identity(self, data: Type, delta: Type) -> Instance:
        return self.instance(IDENTITY, data, delta)

    def projection(self, taken: Type, data: Type, delta: Type) -> Instance:
        return self.instance(PROJECTION, taken, data, delta)

    def marked(self, data: Type) -> Instance:
        return self.instance(MARKED, data)

    def no_delta(self) -> Instance:
        return self.instance(NO_DELTA)

    def tuple_of(self, items: Sequence[Type]) -> TupleType:
        return TupleType(list(items), self.instance("builtins.tuple", unknown()))

    # ------------------------------------------------------------------ taken apart
    def layer_args(self, typ: Type | None) -> tuple[ProperType, ProperType] | None:
        """What a layer takes and gives; `None` for what is no layer."""
        proper = get_proper_type(typ)
        if not isinstance(proper, Instance) or not proper.type.has_base(LAYER):
            return None
        mapped = map_instance_to_supertype(proper, self.info(LAYER))
        taken, given = map(get_proper_type, mapped.args)
        return taken, given

    def tape_args(self, typ: Type | None) -> tuple[ProperType, ProperType] | None:
        """The data and the delta of a tape; `None` for what is no tape, such as the join of two different ones."""
        proper = get_proper_type(typ)
        if not isinstance(proper, Instance) or not proper.type.has_base(TAPE):
            return None
        mapped = map_instance_to_supertype(proper, self.info(TAPE))
        data, delta = map(get_proper_type, mapped.args)
        return data, delta

    def is_constant(self, typ: Type | None) -> bool:
        """Whether a layer takes whatever there is, as weights do and what is made of them alone."""
        layer = self.layer_args(typ)
        tape = None if layer is None else self.tape_args(layer[0])
        return tape is not None and isinstance(tape[0], Instance) and tape[0].type.fullname == "builtins.object"


def taken_apart(typ: Type | None) -> ProperType | None:
    """The type itself to look into; `None` for a recursive alias, which has no end."""
    if isinstance(typ, TypeAliasType) and typ.is_recursive:
        return None
    return get_proper_type(typ)


def is_layer(typ: Type | None) -> bool:
    proper = get_proper_type(typ)
    return isinstance(proper, Instance) and proper.type.has_base(LAYER) and not is_phantom(proper)


def is_phantom(typ: ProperType) -> bool:
    """Whether a type is `any_layer`, which mypy takes out of a parameter's union into the type of an argument."""
    if not isinstance(typ, Instance) or typ.type.fullname != LAYER or len(typ.args) != 2:
        return False
    return isinstance(get_proper_type(typ.args[0]), UninhabitedType)


def holds_layer(typ: Type | None) -> bool:
    """Whether a value of this type may hold a traced one: a layer, or a structure or union of some."""
    proper = taken_apart(typ)
    if isinstance(proper, Instance):
        return is_layer(proper) or (not is_phantom(proper) and any(map(holds_layer, proper.args)))
    if isinstance(proper, (TupleType, UnionType)):
        return any(map(holds_layer, proper.items))
    if isinstance(proper, TypedDictType):
        return any(map(holds_layer, proper.items.values()))
    return False


def entry_of(typ: TupleType, name: str) -> Type | None:
    """The entry of a named tuple by its name; mypy knows by its number alone that it is a layer."""
    fields = typ.partial_fallback.type.metadata.get("namedtuple", {}).get("fields", [])
    return typ.items[fields.index(name)] if name in fields else None


def is_protocol(typ: ProperType) -> bool:
    """Whether a result is known by what it can do alone, as that of `max`."""
    members = map(get_proper_type, typ.items if isinstance(typ, UnionType) else [typ])
    return any(isinstance(one, Instance) and one.type.is_protocol for one in members)
