"""How does a call from Python go straight into machine code, and to general code where it does not fit?

CPython calls an object by an address that lies in it, if its type says so (PEP 590). The type here has room for that
address and for one of a table, where code finds whatever is of this process: objects, functions, buffers. A class that
inherits from it calls like any other until `attach` gives an instance an address.
"""

from __future__ import annotations

import ctypes
import types
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from symbolic.backends.native import layouts

if TYPE_CHECKING:
    from symbolic.backends.native.engine import Library

__all__ = ["CHOICES", "Callee", "Method", "as_method", "attach", "callable_of", "detach", "quick"]

CHOICES = ctypes.c_uint64(0)
"""How often another machine was chosen: code from before is passed by."""
ENTRY, TABLE = 16, 24
"""Where the two addresses lie in an instance."""
_IS_BASE, _IS_METHOD = 1 << 10, 1 << 17  # Py_TPFLAGS_BASETYPE, Py_TPFLAGS_METHOD_DESCRIPTOR
_IS_FIXED = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
_MEMBERS, _CALL, _BIND = 72, 50, 54  # Py_tp_members, Py_tp_call, Py_tp_descr_get
_SIZE, _READ_ONLY = 19, 1  # Py_T_PYSSIZET, Py_READONLY


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("value", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


def _base() -> type:
    """A type with room for the two addresses; plain `object` where none can be made."""
    if layouts.trouble_with_types():
        return object
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _SIZE, ENTRY, _READ_ONLY, None))
    _ALIVE.append(members)
    call = ctypes.cast(ctypes.pythonapi.PyVectorcall_Call, ctypes.c_void_p)
    slots = _Slot(_MEMBERS, ctypes.addressof(members)), _Slot(_CALL, call)
    made = _type(b"symbolic.backends.native.abi.Base", TABLE + 8, layouts.HAS_VECTORCALL, slots, object)
    fits = made.__basicsize__ == TABLE + 8 and layouts.word_at(id(made) + layouts.TYPE_VECTORCALL) == ENTRY
    return made if fits else object


def _type(name: bytes, size: int, flags: int, slots: Iterable[_Slot], base: type) -> type:
    """A type made as C would make it; of size 0 its instances are as large as the base's."""
    filled = (*slots, _Slot())
    held = (_Slot * len(filled))(*filled)
    spec = _Spec(name, size, 0, flags | _IS_BASE, held)
    _ALIVE.extend([held, spec])
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.restype, make.argtypes = ctypes.py_object, [ctypes.POINTER(_Spec), ctypes.py_object]
    made: type = make(spec, (base,))
    return made


_ALIVE: list[Any] = []
"""What a type points to."""

if TYPE_CHECKING:

    class _Base:
        """To a type checker, any class."""

else:
    _Base = _base()

CAN_ATTACH = _Base is not object


class Callee(_Base):
    """Whose instances can be given an address to be called at; see `quick`."""

    __slots__ = ("_code",)
    _code: tuple[Any, ...]
    """Whatever was attached, with what it needs."""

    def __getstate__(self) -> Any:
        """What is copied and pickled: never an address."""
        return getattr(self, "__dict__", None)


def _binding() -> type:
    """A class whose instances are bound as functions are: what binds a function does not look at what it binds."""
    if not CAN_ATTACH:
        return Callee
    slot = ctypes.pythonapi.PyType_GetSlot
    slot.restype, slot.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_int]
    bind = _Slot(_BIND, slot(types.FunctionType, _BIND))
    return _type(b"symbolic.backends.native.abi.Binding", 0, 0, [bind], Callee)


if TYPE_CHECKING:
    _Binding = Callee
else:
    _Binding = _binding()

C = TypeVar("C", bound=type)


def quick(kind: C) -> C:
    """A class decorator: instances with an address are called there, all others by the class's own `__call__`.

    Python takes this from a class that has a `__call__` in Python. A subclass does not inherit it, for it may have
    another `__call__`.
    """
    if CAN_ATTACH:
        place = ctypes.c_uint64.from_address(id(kind) + layouts.TYPE_FLAGS)
        place.value |= layouts.HAS_VECTORCALL
    return kind


def attach(
    callee: Callee, library: Library, name: str, words: Iterable[str], given: Mapping[str, int], keeping: Any = None
) -> bool:
    """From now on a call of this object runs a function of a library, which an `entry.Entry` has written.

    `words` are what its table holds, in order: each is in `given`, or is known to `layouts.address`. The library, the
    table and `keeping` live as long as the object, even if others are attached later: a thread may be within. Gives
    False, and does nothing, where there is no native call path, or the class is not `quick`.
    """
    if not CAN_ATTACH or layouts.trouble() or not type(callee).__flags__ & layouts.HAS_VECTORCALL:
        return False
    entries = [given[one] if one in given else layouts.address(one) for one in words]
    table = (ctypes.c_uint64 * max(len(entries), 1))(*entries)
    before = getattr(callee, "_code", ())
    detach(callee)  # no call meets the old code with the new table
    object.__setattr__(callee, "_code", (*before, (library, table, keeping)))  # of one that is frozen, too
    _set(callee, TABLE, ctypes.addressof(table))
    _set(callee, ENTRY, library.address(name))
    return True


def detach(callee: Callee) -> None:
    """From now on a call of this object is a call of its class again."""
    if CAN_ATTACH:
        _set(callee, ENTRY, 0)


def is_attached(callee: Callee) -> bool:
    return CAN_ATTACH and layouts.word_at(id(callee) + ENTRY) != 0


def _set(callee: Callee, offset: int, value: int) -> None:
    ctypes.c_uint64.from_address(id(callee) + offset).value = value


@quick
class _Function(Callee):
    """One that is nothing else than its code."""

    __slots__ = ("__name__", "__weakref__", "__wrapped__")
    __name__: str
    __wrapped__: Callable[..., Any]

    def __repr__(self) -> str:
        return f"<native function {self.__name__}>"

    def __reduce__(self) -> str:
        """Copied as functions are, which is not at all, and refused by `pickle`: no module has it under its name."""
        return self.__name__


@quick
class Method(_Binding):
    # A function that stands for another in a class, whose instances have bound methods of it; see `as_method`.
    __slots__ = ("__doc__", "__name__", "__qualname__", "__wrapped__")
    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]

    def __init__(self, wrapped: Callable[..., Any]) -> None:
        self.__wrapped__ = wrapped
        self.__name__, self.__qualname__ = wrapped.__name__, wrapped.__qualname__
        self.__doc__ = wrapped.__doc__  # of this one alone

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.__wrapped__(*given, **named)


def as_method(kind: C) -> C:
    """A class decorator, for classes of methods: Python calls them without a bound method in between.

    It looks such methods up once for all calls of a line, as long as nobody can change what their class does; so the
    class is fixed from here on. A bound method that somebody keeps is quick as soon as code is attached, too.
    """
    if CAN_ATTACH:
        ctypes.c_uint64.from_address(id(kind) + layouts.TYPE_FLAGS).value |= _IS_METHOD | _IS_FIXED
    return quick(kind)


def callable_of(
    library: Library,
    name: str,
    fallback: Callable[..., Any],
    words: Iterable[str] = (),
    given: Mapping[str, int] | None = None,
    keeping: Any = None,
) -> Callable[..., Any]:
    """A function of a library as one of Python's; `fallback` itself where there is no native call path.

    The code finds `fallback` in its table, and calls it for whatever it is not made for.
    """
    made = _Function()
    made.__name__, made.__wrapped__ = name, fallback
    there = attach(made, library, name, words, {"fallback": id(fallback), **(given or {})}, (fallback, keeping))
    return made if there else fallback  # type: ignore[return-value]  # mypy sees no `__call__`


def weakly(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that does not keep its object, for what the object itself keeps."""
    held = weakref.WeakMethod(method)

    def call(*given: Any) -> Any:
        found = held()
        assert found is not None
        return found(*given)

    return call
