"""Which delta belongs to a native type? By the library's registry, and the user's subclasses of `ToLiteral` in view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import CallExpr, MypyFile, RefExpr, TypeInfo
from mypy.server.trigger import make_trigger, make_wildcard_trigger
from mypy.types import (
    AnyType,
    Instance,
    LiteralType,
    NoneType,
    ProperType,
    TupleType,
    Type,
    TypeVarType,
    UnionType,
    get_proper_type,
)

from symbolic.mypy_plugin.vocabulary import TO_LITERAL, Vocabulary, unknown
from symbolic.static.literals import delta_of

if TYPE_CHECKING:
    from symbolic.mypy_plugin.natives import Natives


_WITHOUT = {"symbolic", "numpy", "typing", "typing_extensions", "builtins", "collections", "scipy", ""}
"""Packages in which no mapping of a user's is."""


class Mappings:
    """The deltas of native types, as one module sees them."""

    words: Vocabulary
    natives: Natives
    modules: dict[str, MypyFile]
    named: Sequence[str]
    settled: bool

    def __init__(self, words: Vocabulary, natives: Natives, modules: dict[str, MypyFile], named: Sequence[str]) -> None:
        self.words, self.natives, self.modules, self.named = words, natives, modules, named
        self.settled = False  # whether classes are analyzed by now: then what was found is kept
        self._kept: dict[str, tuple[int, dict[str, tuple[str, ProperType]]]] = {}

    def delta(self, typ: Type, module: str) -> ProperType | None:
        """The delta type; `None` where no mapping is registered."""
        proper = get_proper_type(typ)
        own = self.users(module)
        if isinstance(proper, (AnyType, TypeVarType)):
            return unknown()
        if isinstance(proper, NoneType):
            return self.words.no_delta()
        if isinstance(proper, TupleType):
            of = proper
            return self._each(of.items, module, lambda items: of.copy_modified(items=list(items)))
        if isinstance(proper, UnionType):
            return self._each(proper.items, module, lambda items: get_proper_type(UnionType.make_union(items)))
        if isinstance(proper, LiteralType):
            proper = proper.fallback
        if not isinstance(proper, Instance):
            return None
        return self._of_class(proper, own, module)

    def _each(
        self, items: Sequence[Type], module: str, join: Callable[[Sequence[Type]], ProperType]
    ) -> ProperType | None:
        deltas = [self.delta(one, module) for one in items]
        known = [one for one in deltas if one is not None]
        return join(known) if len(known) == len(deltas) else None

    def _of_class(self, typ: Instance, own: dict[str, tuple[str, ProperType]], module: str) -> ProperType | None:
        """The mapping of the class or of the nearest base; a user's own one comes before the library's."""
        by_type = dict(own.values())
        if str(typ) in by_type:  # float32 and float64 are one class to the stubs, so they are told by their names
            return by_type[str(typ)]
        for base in typ.type.mro:
            if base.fullname in own and not own[base.fullname][0].endswith("]"):
                return own[base.fullname][1]
            found = delta_of(base.fullname)
            if found == base.fullname:
                return self._same(typ, module)
            if found is not None:
                return get_proper_type(self.words.instance(found))
        return typ if _is_dataclass(typ.type) else None

    def _same(self, typ: Instance, module: str) -> ProperType:
        """The type itself: of an array without its shape and dtype, of a structure entry by entry."""
        if typ.type.fullname == "numpy.ndarray":
            spec = self.natives.spec(typ)
            dtype = getattr(spec, "dtype", None)
            return self.words.no_delta() if dtype is not None and dtype.kind not in "fc" else self.natives.plain(typ)
        if typ.type.fullname in ("builtins.list", "builtins.dict", "builtins.tuple") and typ.args:
            last = self.delta(typ.args[-1], module)
            return typ.copy_modified(args=[*typ.args[:-1], unknown() if last is None else last])
        return typ

    # ------------------------------------------------------------------ the user's
    def users(self, module: str) -> dict[str, tuple[str, ProperType]]:
        """By the name of the class: the data type as written, and its delta. A later definition replaces an earlier."""
        tree = self.modules.get(module)
        kept = self._kept.get(module) if self.settled else None
        if kept is not None and kept[0] == id(tree):
            return kept[1]
        found = self._found(module)
        if self.settled:
            self._kept[module] = id(tree), found
        return found

    def _found(self, module: str) -> dict[str, tuple[str, ProperType]]:
        found: dict[str, tuple[str, ProperType]] = {}
        for info in self._visible(module):
            base = map_instance_to_supertype(Instance(info, []), self.words.info(TO_LITERAL))
            if len(base.args) == 2:
                data, delta = map(get_proper_type, base.args)
                if isinstance(data, Instance):
                    found[data.type.fullname if not data.args else str(data)] = str(data), delta
        return found

    def _visible(self, module: str) -> Iterator[TypeInfo]:
        """The subclasses of `ToLiteral` in the modules that this one imports, near or far, then in itself."""
        for name in self._reached(module):
            yield from self._defined(name)

    def _reached(self, module: str) -> Iterator[str]:
        """The modules that this one imports, near or far, and itself, in the order in which a program runs them."""
        seen = {module}
        for name in [*self.named, *self._imported(module)]:
            yield from self._from(name, seen)
        yield module

    def _from(self, module: str, seen: set[str]) -> Iterator[str]:
        if module in seen or module.partition(".")[0] in _WITHOUT:
            return
        seen.add(module)
        for name in self._imported(module):
            yield from self._from(name, seen)
        yield module

    def triggers(self, module: str) -> Iterator[str]:
        """What mypy's daemon calls the changes by which a hint of this module may come to mean something else.

        In files the module depends on the others by what is noted in its tree, whether it names them or not.
        """
        self.settled = False
        self._kept.clear()  # the daemon comes back to classes that were settled
        reached = list(self._reached(module))
        if module in self.modules:
            self.modules[module].module_refs.update(reached[:-1])
        for name in reached:
            yield make_wildcard_trigger(name)  # a class is added, or taken away
            yield from [make_trigger(info.fullname) for info in self._defined(name)]

    def _imported(self, module: str) -> list[str]:
        """The modules from which a module has names. Stubs register nothing."""
        tree = self.modules.get(module)
        if tree is None or tree.is_stub:
            return []
        found: dict[str, None] = {}
        for symbol in tree.names.values():
            node = symbol.node
            if isinstance(node, MypyFile):
                found[node.fullname] = None
            elif node is not None and node.fullname:
                found[node.fullname.rpartition(".")[0]] = None
        return [name for name in found if name != module]

    def _defined(self, module: str) -> Iterator[TypeInfo]:
        tree = self.modules.get(module)
        for symbol in [] if tree is None else list(tree.names.values()):
            node = symbol.node
            if isinstance(node, TypeInfo) and node.fullname != TO_LITERAL and node.has_base(TO_LITERAL):
                yield node


def _is_dataclass(info: TypeInfo) -> bool:
    """Whether a class is a dataclass; mypy notes it in the class only after hints have been analyzed."""
    if any("dataclass" in base.metadata for base in info.mro):
        return True
    decorators = [one.callee if isinstance(one, CallExpr) else one for one in info.defn.decorators]
    return any(isinstance(one, RefExpr) and one.fullname == "dataclasses.dataclass" for one in decorators)
