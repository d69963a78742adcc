"""How can a captured array be an input of every call, rather than a constant of the trace?

While a body is traced, the arrays that it finds in its closure and its globals are lent to it as `Live` views. An
operation between one and a traced value takes it as a leaf that is read at every call. Any other use (arithmetic
among plain arrays, an element, a method, a Boolean) reads its numbers while tracing: then the trace depends on
them, and the watch of the array compares its contents, as it does for all else.

Compiled code can read an array without a word. So the second run of the body is given views of other numbers: if the
graph comes out another one, nothing is lent.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from symbolic.fingerprint import Every
from symbolic.layer import AnyLayer, Layer, Lent, plainly
from symbolic.leaves import Literal, set_once, written
from symbolic.rewriting import codes_of
from symbolic.spec import AnySpec, spec_of
from symbolic.watch import Watch

_UNSEEN = {
    *("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "asarray_chkfinite", "require"),
    *("frombuffer", "from_dlpack", "fromiter", "nditer", "ndenumerate", "ndindex", "broadcast", "memoryview", "bytes"),
    *("bytearray", "Polynomial", "poly1d", "flatiter", "polynomial"),
    *("eval", "exec", "globals", "locals", "vars", "compile", "open", "type", "id"),
}
"""Names by which code can read an array without the array's being told."""
_TOLD = {
    *("shape", "ndim", "dtype", "size", "itemsize", "nbytes", "strides", "leaf", "read", "_fetch", "_leaf", "_base"),
    *("_read", "__class__", "__dict__", "__array_ufunc__", "__array_function__", "__array_finalize__"),
    "__array_priority__",
}
"""Attributes that say nothing of the numbers."""


class Captured(Layer[Any, Any]):
    """An array that the body captured: read anew at every call."""

    __slots__ = ("fetch",)
    fetch: Callable[[], Any]

    def __init__(self, fetch: Callable[[], Any]) -> None:
        set_once(self, "fetch", fetch)

    @property
    def value(self) -> Any:
        return self.fetch()

    def apply(self, input: AnyLayer) -> AnyLayer:
        return self

    def infer(self, *specs: AnySpec) -> AnySpec:
        return spec_of(self.fetch())

    def parts(self) -> Sequence[str | AnyLayer]:
        return (f"Literal({written(self.fetch())})",)


class LiveWatch:
    """The watch of an array that is read at every call: only its kind must stay."""

    __slots__ = ("fetch", "key", "spec", "what")
    fetch: Callable[[], Any]
    key: Any
    spec: AnySpec
    what: str

    def __init__(self, watch: Watch) -> None:
        self.what, self.key, self.fetch, self.spec = watch.what, watch.key, watch.fetch, spec_of(watch.fetch())

    def holds(self) -> bool:
        try:
            value = self.fetch()
        except (NameError, ValueError, KeyError):
            return False
        return type(value) is np.ndarray and spec_of(value) == self.spec


class Live(np.ndarray[Any, Any], Lent):
    """A captured array, lent to a body that is being traced; it notices how it is used."""

    _fetch: Callable[[], Any]
    _leaf: Captured | None
    _base: Any
    _read: bool

    @staticmethod
    def of(fetch: Callable[[], Any], disguised: bool) -> Live:
        """A view of what `fetch` gives; disguised it has other numbers, which no use that is noticed ever sees."""
        base = fetch()
        self: Live = np.ndarray.view(_others(base) if disguised else base, Live)
        vars(self).update(_fetch=fetch, _leaf=None, _base=base, _read=False)
        return self

    def leaf(self) -> AnyLayer:
        """The array as an operand of a traced value."""
        if "_fetch" not in vars(self):  # a view or a copy of one: its numbers were read
            return Literal(np.asarray(self))
        if self._leaf is None:
            vars(self)["_leaf"] = Captured(self._fetch)
        return self._leaf  # type: ignore[return-value]  # made above

    def read(self) -> Any:
        """The plain array: its numbers are about to be read."""
        if "_fetch" not in vars(self):
            return np.asarray(self)
        vars(self)["_read"] = True
        return self._base

    def __array_finalize__(self, source: Any) -> None:
        if isinstance(source, Live) and "_fetch" in vars(source):
            vars(source)["_read"] = True

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        traced = any(isinstance(one, Layer) for one in (*inputs, *kwargs.values()))
        if traced and method == "__call__":
            return ufunc(*[one.leaf() if isinstance(one, Live) else one for one in inputs], **plainly(kwargs))
        return getattr(ufunc, method)(*plainly(inputs), **plainly(kwargs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        layer = next(iter(_layers((args, kwargs))), None)
        if layer is None:
            return func(*plainly(args), **plainly(kwargs))
        return layer.__array_function__(func, types, args, kwargs)

    def __getattribute__(self, name: str) -> Any:
        if name not in _TOLD:
            return getattr(object.__getattribute__(self, "read")(), name)
        return object.__getattribute__(self, name)


def _others(base: Any) -> Any:
    """An array of the same kind with other numbers."""
    with np.errstate(all="ignore"):
        other = ~base if base.dtype.kind == "b" else np.negative(np.nan_to_num(base) * 3 + 1)
    return other.astype(base.dtype)


def _reads(name: str) -> Callable[..., Any]:
    def method(self: Live, *args: Any) -> Any:
        return getattr(self.read(), name)(*args)

    return method


for _name in [
    "__getitem__",
    "__setitem__",
    "__iter__",
    "__contains__",
    "__bool__",
    "__float__",
    "__int__",
    "__index__",
    "__complex__",
    "__repr__",
    "__str__",
    "__format__",
    "__copy__",
    "__deepcopy__",
    "__reduce__",
    "__reduce_ex__",
]:
    setattr(Live, _name, _reads(_name))


def _layers(value: Any) -> Iterable[AnyLayer]:
    if isinstance(value, Layer):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _layers(one)
    elif isinstance(value, dict):
        yield from _layers(list(value.values()))


# --------------------------------------------------------------------------- lending


class Loan:
    """A body over live views of the arrays that it alone captures, and the watches that remain afterwards."""

    watches: Sequence[Watch]
    disguised: bool
    function: Any

    def __init__(self, function: Any, watches: Sequence[Watch], lends: bool = True, disguised: bool = False) -> None:
        self.watches, self.disguised = watches, disguised
        self.lent: dict[int, tuple[Live, Watch]] = {}
        self.function = self._over(function) if watches and lends else function

    def _over(self, function: Any) -> Any:
        if isinstance(function, types.MethodType):
            inner = self._over(function.__func__)
            return function if inner is function.__func__ else types.MethodType(inner, function.__self__)
        unseen = any(map(_sees_more, self.watches[:1]))
        if type(function) is not types.FunctionType or unseen or any(map(_compares, codes_of(function.__code__))):
            return function
        cells, space = self._cells(function), self._space(function)
        if not self.lent:
            return function
        twin = types.FunctionType(
            function.__code__,
            space,
            function.__name__,
            function.__defaults__,
            cells,
        )
        twin.__kwdefaults__, twin.__qualname__ = function.__kwdefaults__, function.__qualname__
        twin.__module__, twin.__dict__ = function.__module__, function.__dict__
        return twin

    def _cells(self, function: types.FunctionType) -> tuple[Any, ...] | None:
        return tuple([self._cell(cell) for cell in function.__closure__ or ()]) or None

    def _cell(self, cell: Any) -> Any:
        live = self._lend(("cell", id(cell)))
        return cell if live is None else types.CellType(live)

    def _space(self, function: types.FunctionType) -> dict[str, Any]:
        space = function.__globals__
        codes = list(codes_of(function.__code__))
        if any(map(_stores, codes)):
            return space
        found = {}
        for name in {name for code in codes for name in code.co_names}:
            live = self._lend((id(space), (name,))) if name in space else None
            if live is not None:
                found[name] = live
        return {**space, **found} if found else space

    def _lend(self, key: Any) -> Live | None:
        """A live view of what one place holds, if it is an array of numbers that nobody else reads."""
        for watch in self.watches:
            if watch.key == key and watch.readers == 1:
                value = watch.value()
                if type(value) is np.ndarray and value.dtype.kind in "fiubc":
                    live = Live.of(watch.fetch, self.disguised)
                    self.lent[id(watch)] = (live, watch)
                    return live
        return None

    def remaining(self) -> list[Any]:
        """The watches of the trace: of a lent array that was not read, only its kind is watched."""
        kept: list[Any] = []
        for watch in self.watches:
            live = self.lent.get(id(watch), (None, None))[0]
            kept.append(watch if live is None or live._read else LiveWatch(watch))
        return kept


def _sees_more(watch: Watch) -> bool:
    """Whether the code can read an array without the array's being told."""
    names = watch.names
    return watch.foreign or names is None or isinstance(names, Every) or bool(names & _UNSEEN)


def _compares(code: types.CodeType) -> bool:
    """Whether the code asks if two things are the same object, one of which might be lent: not `is None`."""
    before = None
    for one in dis.get_instructions(code) if _has(code, "IS_OP") else ():
        if one.opname == "IS_OP" and not (before is not None and before.opname == "LOAD_CONST"):
            return True
        before = one
    return False


def _stores(code: types.CodeType) -> bool:
    return _has(code, "STORE_GLOBAL") or _has(code, "DELETE_GLOBAL")


def _has(code: types.CodeType, name: str) -> bool:
    """Whether an instruction occurs: every second byte is one, and nothing has to be read further."""
    return dis.opmap[name] in code.co_code[::2]
