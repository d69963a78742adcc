"""Which mypy type stands for which spec? The shape and dtype of an array stand in NumPy's own type, and come back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from mypy.types import (
    AnyType,
    Instance,
    LiteralType,
    NoneType,
    ProperType,
    TupleType,
    Type,
    TypeOfAny,
    UnpackType,
    get_proper_type,
)

from symbolic.mypy_plugin.vocabulary import DIM, DTYPE, NDARRAY, Vocabulary, taken_apart, unknown
from symbolic.polynomial import Rest, Size, parsed
from symbolic.spec import PYTHON_DTYPES, AnySpec, OpaqueSpec, Spec, TupleSpec
from symbolic.static.abstract import native

_LOOSE = TypeOfAny.implementation_artifact
"""The kind of `Any` in the shape of what may be an array or a number; it prints and behaves as any other."""
_PYTHON = {f"builtins.{kind.__name__}": kind for kind in PYTHON_DTYPES}
_SCALARS = ("float16", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble", "bool")
_SCALARS += tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


class Natives:
    """Types to specs and back, over one build's symbol tables."""

    def __init__(self, words: Vocabulary) -> None:
        self.words = words

    @cached_property
    def scalars(self) -> Mapping[str, ProperType]:
        """NumPy's scalar types by the name of their dtype; the stubs call float32 `floating[_32Bit]`."""
        found = {name: self.words.alias(f"numpy.{name}") for name in _SCALARS}
        return {name: typ for name, typ in found.items() if typ is not None}

    @cached_property
    def _dtypes(self) -> Mapping[str, np.dtype[Any]]:
        return {str(typ): np.dtype(getattr(np, name)) for name, typ in self.scalars.items()}

    # ------------------------------------------------------------------ type to spec
    def spec(self, typ: Type | None) -> AnySpec | None:
        """What is known of a value of this native type; `None` where it is no data at all, or unknown."""
        proper = get_proper_type(typ)
        if isinstance(proper, LiteralType):
            proper = proper.fallback
        if isinstance(proper, TupleType):
            entries = [self.spec(one) for one in proper.items]
            return None if None in entries else TupleSpec(one for one in entries if one is not None)
        if isinstance(proper, NoneType):
            return OpaqueSpec(type(None))
        if not isinstance(proper, Instance):
            return None
        return self._instance(proper)

    def _instance(self, typ: Instance) -> AnySpec | None:
        name = typ.type.fullname
        if name in _PYTHON:
            kind = _PYTHON[name]
            return Spec((), PYTHON_DTYPES[kind], kind)
        if typ.type.has_base(NDARRAY):
            return self._array(typ)
        if name.startswith("numpy."):
            dtype = self._scalar(typ)
            return Spec((), dtype) if dtype is not None or typ.type.has_base("numpy.generic") else None
        return OpaqueSpec(str) if name == "builtins.str" else None

    def _array(self, typ: Instance) -> Spec:
        if typ.type.fullname != NDARRAY or len(typ.args) != 2:
            return Spec()
        return Spec(self._shape(typ.args[0]), self.dtype(typ.args[1]))

    def dtype(self, typ: Type) -> np.dtype[Any] | None:
        """The dtype that `dtype[…]` says."""
        proper = get_proper_type(typ)
        if isinstance(proper, Instance) and proper.type.fullname == DTYPE and proper.args:
            return self._scalar(get_proper_type(proper.args[0]))
        return None

    def _scalar(self, typ: Type) -> np.dtype[Any] | None:
        return self._dtypes.get(str(get_proper_type(typ)))

    def _shape(self, typ: Type) -> Any:
        proper = get_proper_type(typ)
        if not isinstance(proper, TupleType):
            return None
        return tuple([self._size(one) for one in proper.items])

    def _size(self, typ: Type) -> Any:
        if isinstance(typ, UnpackType):
            return Rest()
        proper = get_proper_type(typ)
        if isinstance(proper, LiteralType) and isinstance(proper.value, int):
            return proper.value
        if isinstance(proper, Instance) and proper.type.fullname == DIM:
            name = get_proper_type(proper.args[0])
            return parsed(str(name.value)) if isinstance(name, LiteralType) else None
        return None

    def is_loose(self, typ: Type | None) -> bool:
        """Whether an array of this type may be a number, too: its rank is not known, nor that it is one."""
        proper = get_proper_type(typ)
        if not isinstance(proper, Instance) or proper.type.fullname != NDARRAY or len(proper.args) != 2:
            return False
        shape = get_proper_type(proper.args[0])
        inner = get_proper_type(shape.args[0]) if isinstance(shape, Instance) and shape.args else None
        return isinstance(inner, AnyType) and inner.type_of_any in (_LOOSE, TypeOfAny.from_another_any)

    # ------------------------------------------------------------------ spec to type
    def of_spec(self, spec: AnySpec | None, loose: bool = False) -> ProperType:
        """The native type of a value of which this is known; `loose`: one of unknown rank may be a number, too."""
        if isinstance(spec, TupleSpec):
            return self.words.tuple_of([self.of_spec(one) for one in spec])
        if isinstance(spec, OpaqueSpec):
            return NoneType() if spec.kind is type(None) else self._named(spec.kind)
        kind = None if spec is None else native(spec)
        if kind is None or spec is None:
            return unknown()
        if kind is np.ndarray:
            return self.array(spec, loose)
        return self._named(kind)

    def _named(self, kind: type) -> ProperType:
        if kind.__module__ == "numpy":
            return self.scalars.get(np.dtype(kind).name) or unknown()
        found = self.words.alias(f"{kind.__module__}.{kind.__qualname__}")
        return unknown() if found is None else found

    def array(self, spec: Spec, loose: bool = False) -> Instance:
        shape: Type = self.words.instance("builtins.tuple", AnyType(_LOOSE) if loose else unknown())
        if spec.shape is not None:
            shape = self.words.tuple_of([self.size(one) for one in spec.shape])
        scalar = None if spec.dtype is None else self.scalars.get(spec.dtype.name)
        return self.words.instance(NDARRAY, shape, self.words.instance(DTYPE, unknown() if scalar is None else scalar))

    def size(self, size: Any) -> Type:
        """One entry of a shape: `Literal[784]`, `Dim[Literal["batch"]]`, `Any`."""
        if isinstance(size, Rest):
            return UnpackType(self.words.instance("builtins.tuple", unknown()))
        if isinstance(size, int):
            return LiteralType(size, self.words.instance("builtins.int"))
        if isinstance(size, Size):
            text = LiteralType(str(size), self.words.instance("builtins.str"))
            return self.words.instance(DIM, text)
        return unknown()

    def filled(self, typ: ProperType) -> ProperType:
        """A generic class with its arguments: within an alias mypy leaves those of a bare one open."""
        if not isinstance(typ, Instance) or typ.args or not typ.type.type_vars:
            return typ
        return self.array(Spec()) if typ.type.fullname == NDARRAY else typ.copy_modified(args=self._open(typ))

    def _open(self, typ: Instance) -> list[Type]:
        return [unknown() for _ in typ.type.type_vars]

    def plain(self, typ: Type) -> ProperType:
        """A native type without what is known of shapes and dtypes of arrays."""
        proper = taken_apart(typ)
        if proper is None:
            return get_proper_type(typ)
        if isinstance(proper, Instance) and proper.type.fullname == NDARRAY:
            return self.array(Spec())
        if isinstance(proper, TupleType):
            return self.words.tuple_of([self.plain(one) for one in proper.items])
        if isinstance(proper, Instance) and proper.args:
            return proper.copy_modified(args=[self.plain(one) for one in proper.args])
        return proper


def is_any(typ: Type | None) -> bool:
    return isinstance(get_proper_type(typ), AnyType)
