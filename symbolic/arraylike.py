"""What do NumPy, and Python's own syntax, see in a layer that stands in the place of an array?

They compute nothing: they build a larger layer. Which one is written in the operations themselves, which fill the
tables here; this module only looks them up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from symbolic.callees import ELSEWHERE, LATE_METHODS
from symbolic.context import here, with_source
from symbolic.naming import instead_of, qualified
from symbolic.refusing import answered, fact, refuse, refuse_assignment, short, unsupported
from symbolic.runtime import Installed

if TYPE_CHECKING:
    from symbolic.layer import AnyLayer

Handler: TypeAlias = Callable[[tuple[Any, ...], dict[str, Any]], Any]

FUNCTIONS: dict[Any, Handler] = {}
"""What each NumPy function does when it is given a layer; filled by the operations."""
UFUNC_METHODS: dict[tuple[np.ufunc, str], Handler] = {}
"""The same for `ufunc.reduce`, `ufunc.accumulate` and their like."""
GETITEM: list[Callable[[AnyLayer, Any], Any]] = []


class Arraylike:
    """What layers have of arrays. `self` is any type here, since every layer is one and nothing else is."""

    __slots__ = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse a class of the user's after `Layer` among the bases whose own fact would never be seen."""
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith(_OURS[0]):
            return
        for one in _after(cls):
            for name in vars(one).keys() & _FACTS:
                remedy = f"name it otherwise in {one.__name__}: .{name} of a layer is that of its value"
                refuse(f"the class {cls.__name__} with .{name} of {one.__name__}, which stands after Layer", remedy)

    # ------------------------------------------------------------------ NumPy's protocols
    def __array_ufunc__(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        handler = FUNCTIONS.get(ufunc) if method == "__call__" else UFUNC_METHODS.get((ufunc, method))
        if handler is None:
            handler = ELSEWHERE[0](ufunc) if method == "__call__" else LATE_METHODS[0](ufunc, method)
        if handler is None:
            name = qualified(ufunc) + ("" if method == "__call__" else f".{method}")
            raise unsupported(name, instead_of(qualified(ufunc)))
        if out is None or all(one is None for one in out):
            return handler(inputs, kwargs)
        (target,) = out if len(out) == 1 else (None,)
        if not isinstance(target, Arraylike) or (target is not inputs[0] and target.ndim == 0):  # a number has no place
            refuse(
                f"{qualified(ufunc)} would write a traced value into an array (out=, or an in-place operator)",
                "assign the result to a name instead: y = y + x",
            )
        where, choose = kwargs.pop("where", True), FUNCTIONS[np.where]
        if where is not True:  # what is left out counts as 1, which almost every function takes: True has every dtype
            inputs = tuple([one if isinstance(one, (int, float)) else choose((where, one, True), {}) for one in inputs])
        value = handler(inputs, kwargs)
        return _write(target, value if where is True else choose((where, value, target), {}))

    def __array_function__(self: Any, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        handler = FUNCTIONS.get(func) or ELSEWHERE[0](func)
        if handler is None:
            raise unsupported(qualified(func), instead_of(qualified(func)))
        return handler(args, kwargs)

    def __array__(self: Any, *args: Any, **kwargs: Any) -> np.ndarray:
        """Declared to give an array, so that NumPy's hints admit layers; of what has no number it raises."""
        known = here.trace.known(self) if here.trace is not None else None
        if known is not None:
            return np.array(known, *args[:1])
        refuse_assignment(self)
        refuse(
            f"the traced value {short(self)} would be turned into numbers (np.array, np.asarray, or a function or "
            "method that makes an array of its argument)",
            with_source("use np.stack([...]) to join traced values, and NumPy functions on the value itself"),
        )

    if TYPE_CHECKING:  # what is in METHODS

        def __getattr__(self: Any, name: str) -> Any: ...

    # ------------------------------------------------------------------ what Python asks
    @property
    def shape(self: Any) -> Any:
        return fact(self, "shape")

    @property
    def ndim(self: Any) -> int:
        return int(fact(self, "ndim"))

    @property
    def size(self: Any) -> int:
        return int(fact(self, "size"))

    @property
    def dtype(self: Any) -> Any:
        return fact(self, "dtype")

    def __len__(self: Any) -> int:
        count = Installed.runtime.count(self)
        if count is not None:
            return count
        shape = fact(self, "shape")
        if not len(shape):
            raise TypeError("len() of unsized object")
        return int(shape[0])

    def __iter__(self: Any) -> Iterator[Any]:
        count = Installed.runtime.count(self)
        if count is not None:
            return iter([Installed.runtime.entry(self, k) for k in range(count)])
        if fact(self, "ndim") == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[k] for k in range(len(self)))  # one by one: an entry may be assigned before its turn comes

    def __getitem__(self: Any, index: Any) -> Any:
        count = Installed.runtime.count(self) if isinstance(index, int) else None
        if count is not None:
            if not -count <= index < count:
                raise IndexError("tuple index out of range")
            return Installed.runtime.entry(self, index % count)
        waiting = here.trace.entry(self, index) if here.trace is not None else None
        return GETITEM[0](self, index) if waiting is None else waiting

    def __setitem__(self: Any, index: Any, value: Any) -> None:
        trace = here.trace
        if trace is None:
            refuse("item assignment to a layer", "build a new layer with np.where or np.concatenate")
        trace.assign(self, index, value)

    def __round__(self: Any, ndigits: int | None = None) -> Any:
        return answered(self, "round") if ndigits is None else METHODS["__round__"](self)(ndigits)

    def __contains__(self: Any, item: Any) -> bool:
        return bool(METHODS["any"](self == item)())


class _Answer:
    """An attribute of layers alone: their classes have none of that name, no more than they have the layer's value.

    What a class of the user's has of its own goes before, also one that stands after `Layer` among the bases.
    """

    __slots__ = ("handler", "name")

    def __init__(self, name: str, handler: Callable[[AnyLayer], Any]) -> None:
        self.name, self.handler = name, handler

    def __get__(self, layer: Any, kind: type) -> Any:
        for one in _after(kind):
            if self.name in vars(one):
                own = vars(one)[self.name]
                return own.__get__(layer, kind) if hasattr(type(own), "__get__") else own
        if layer is None:
            raise AttributeError(f"type object {kind.__name__!r} has no attribute {self.name!r}")
        return self.handler(layer)


class _Methods(dict[str, Callable[["AnyLayer"], Any]]):
    """Each that is added is an attribute of every layer from then on; what a class has of its own goes before.

    A `__getattr__` would do the same, but Python looks nothing up quickly in classes that have one.
    """

    def __setitem__(self, name: str, handler: Callable[[AnyLayer], Any]) -> None:
        super().__setitem__(name, handler)
        if name not in vars(Arraylike) or isinstance(vars(Arraylike)[name], _Answer):
            setattr(Arraylike, name, _Answer(name, handler))

    def update(self, added: dict[str, Callable[[AnyLayer], Any]]) -> None:  # type: ignore[override]  # of dict's forms
        for name, handler in added.items():
            self[name] = handler


_FACTS = {"shape", "ndim", "size", "dtype"}
_OURS = __name__.partition(".")[0] + ".", "numpy.", "typing", "builtins"


def _after(kind: type) -> Iterator[type]:
    """The user's classes whose attributes Python would find after those of arrays."""
    after = kind.__mro__[kind.__mro__.index(Arraylike) + 1 :]
    return (one for one in after if not one.__module__.startswith(_OURS))


METHODS = _Methods()
"""Attributes and methods of arrays, by name; each given the layer answers as the array's would."""


def _write(target: Any, value: AnyLayer) -> AnyLayer:
    """`target += …`: within a trace the name and its views see the new value, elsewhere trees never change."""
    if here.trace is None:
        refuse("an in-place operator on a layer outside a traced function", "write x = x + y")
    return here.trace.replace(target, value)
