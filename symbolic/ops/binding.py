"""How does a call of a NumPy function become a node, or a formula? Its arguments are read by NumPy's own names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from symbolic.annotated import signature as said_by
from symbolic.context import here
from symbolic.errors import ShapeError
from symbolic.layer import FUNCTIONS, METHODS, UFUNC_METHODS, Layer, plainly, qualified, refuse, unsupported
from symbolic.leaves import settled
from symbolic.literal import as_layer

Kernel = Callable[..., Any]


class Written:
    """A kernel that code can write out: `text` with the operands as `{0}`, `{1}`, …, `{out}`, and others by name.

    It is called as any other kernel. `early` says that it may write over an operand.
    """

    call: Kernel
    early: bool
    names: dict[str, Any]
    text: str

    __slots__ = ("call", "early", "names", "text")

    def __init__(self, call: Kernel, text: str, early: bool = False, **names: Any) -> None:
        self.call, self.text, self.early, self.names = call, text, early, names

    def __call__(self, *values: Any) -> Any:
        return self.call(*values)


@lru_cache(maxsize=1024)
def signature(function: Callable[..., Any]) -> inspect.Signature:
    if isinstance(function, np.ufunc):
        names = [f"x{k + 1}" for k in range(function.nin)]
        kind = inspect.Parameter.POSITIONAL_ONLY
        extra = inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)
        return inspect.Signature([*(inspect.Parameter(name, kind) for name in names), extra])
    try:
        return said_by(function)
    except ValueError:  # older NumPy tells nothing of those that are written in C
        return inspect.signature(_UNTOLD[function.__name__])


_UNTOLD: dict[str, Callable[..., None]] = {
    "can_cast": lambda from_, to, casting="safe": None,
    "min_scalar_type": lambda a, /: None,
    "packbits": lambda a, /, axis=None, bitorder="big": None,
    "ravel_multi_index": lambda multi_index, dims, mode="raise", order="C": None,
    "result_type": lambda *arrays_and_dtypes: None,
    "unpackbits": lambda a, /, axis=None, count=None, bitorder="big": None,
    "unravel_index": lambda indices, shape, order="C": None,
    "bincount": lambda x, /, weights=None, minlength=0: None,
    "concatenate": lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": None,
    "copyto": lambda dst, src, casting="same_kind", where=True: None,
    "dot": lambda a, b, out=None: None,
    "empty_like": lambda prototype, /, dtype=None, order="K", subok=True, shape=None, *, device=None: None,
    "inner": lambda a, b, /: None,
    "lexsort": lambda keys, axis=-1: None,
    "putmask": lambda a, /, mask, values: None,
    "vdot": lambda a, b, /: None,
    "where": lambda condition, x=None, y=None, /: None,
}


def is_default(value: Any, parameter: inspect.Parameter | None) -> bool:
    """Whether an argument says no more than leaving it out would."""
    if value is None or value is np._NoValue:
        return True
    if parameter is None or isinstance(value, (Layer, np.ndarray)):
        return False
    default = parameter.default
    return default is not inspect.Parameter.empty and type(default) is type(value) and bool(default == value)


_UFUNC_DEFAULTS = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True, "axes": None}
_OF_MEMORY: dict[str, tuple[Any, ...]] = {
    "subok": (True, False),
    "overwrite_input": (True, False),
    "device": ("cpu",),
    "order": ("C", "F", "A", "K"),
}
"""Arguments about how a result lies in memory, or of which subclass of arrays it is: values are the same."""


def arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], wanted: Any
) -> dict[str, Any]:
    """A call's arguments by NumPy's own names; one that is not `wanted` must say nothing."""
    parameters = signature(function).parameters
    bound = _plainly_bound(function, args, kwargs)
    if bound is None:
        bound = signature(function).bind(*args, **kwargs).arguments
    given: dict[str, Any] = {}
    for name, value in bound.items():
        parameter = parameters[name]
        if parameter.kind is _FREE:
            for extra, one in value.items():
                _keep(function, extra, one, parameter if extra in wanted else None, wanted, given)
        else:
            _keep(function, name, value, parameter, wanted, given)
    return given


_FREE = inspect.Parameter.VAR_KEYWORD


@lru_cache(maxsize=1024)
def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's parameters, if each may be given by its place and by its name; else none."""
    parameters = signature(function).parameters.values()
    plain = all(one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for one in parameters)
    return tuple([one.name for one in parameters]) if plain else ()


def _plainly_bound(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """The usual call, quicker than by its signature, in the order of the parameters; `None` of any other."""
    names = _names(function)
    if not names or len(args) > len(names):
        return None
    given = dict(zip(names, args, strict=False))
    if not kwargs:
        found = given
    else:
        if not given.keys().isdisjoint(kwargs) or not kwargs.keys() <= set(names):
            return None
        given.update(kwargs)
        found = {name: given[name] for name in names if name in given}
    parameters = signature(function).parameters
    if len(found) < len(names) and any(
        parameters[name].default is inspect.Parameter.empty for name in names if name not in found
    ):
        return None
    return found


def _keep(function: Any, name: str, value: Any, parameter: Any, wanted: Any, given: dict[str, Any]) -> None:
    if name in wanted or (name == "out" and isinstance(value, Layer)):
        if value is not np._NoValue:
            given[name] = value
        return
    usual = name in _UFUNC_DEFAULTS and value is _UFUNC_DEFAULTS[name]
    if not usual and not _of_memory(name, value, parameter) and not is_default(value, parameter):
        raise unsupported(f"the argument {name}= of {qualified(function)}", _INSTEAD.get(name) or _left_out(name))


def _of_memory(name: str, value: Any, parameter: Any) -> bool:
    """Whether an argument is about memory alone; `order` names fields of records in functions that sort."""
    if parameter is None or (name == "order" and not isinstance(parameter.default, str)):
        return False
    return isinstance(value, (str, bool)) and value in _OF_MEMORY.get(name, ())


def _left_out(name: str) -> str:
    return f"leave {name}= out, or write its effect with np.where and the other functions"


_INSTEAD = {
    "out": "assign the result to a name: y = f(x); an array of plain numbers cannot take a traced value",
    "like": "leave like= out: NumPy makes the array, and traced values are joined with np.stack",
}


def written(out: Any, value: Any, name: str) -> Any:
    """What `out=` does with a traced array: it, and all its views, take the value."""
    if here.trace is None:
        refuse(f"out= of {name} with a layer outside a traced function", "assign the result to a name: y = f(x)")
    if out.shape != value.shape:
        refuse(
            f"{name} of shape {tuple(value.shape)} into an out= of shape {tuple(out.shape)}",
            "give an out= of the result's shape, or assign the result to a name",
            ShapeError,
        )
    if out.ndim == 0:
        here.trace.assign(out, Ellipsis, value)
        return out
    return here.trace.replace(out, value)


class Binder:
    """A NumPy function's call, made into a node of an operation."""

    __slots__ = ("cls", "count", "every", "function", "names", "usual", "wanted")
    cls: Any
    count: int
    every: int
    function: Callable[..., Any]
    names: Sequence[str] | None
    usual: tuple[Any, ...]
    wanted: set[str]

    def __init__(self, cls: Any, function: Callable[..., Any]) -> None:
        self.cls, self.function = cls, function
        self.count, self.usual = len(cls.operand_names), tuple(cls.defaults.values())
        self.names = None  # read when they are first needed: importing is quick

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        cls, count = self.cls, self.count
        if len(args) == count and not kwargs:
            return cls.make(tuple([as_layer(one) for one in args]), self.usual)
        if kwargs.get("dtype") is not None and isinstance(self.function, np.ufunc) and "dtype" not in cls.defaults:
            args, kwargs = _in_dtype(self.function, args, kwargs)
        if self.names is None:
            self.names = list(signature(self.function).parameters)[:count]
            self.wanted = {*self.names, *cls.defaults}
            plain = _names(self.function) == (*self.names, *cls.defaults)
            self.every = len(self.wanted) if plain else -1
        if not kwargs and len(args) == self.every:  # all by their places
            rest = tuple([plainly(one) for one in args[count:]])
            if not any(one is np._NoValue for one in rest):
                return cls.make(tuple([as_layer(one) for one in args[:count]]), rest)
        names = self.names
        given = arguments(self.function, args, kwargs, self.wanted)
        out = given.pop("out", None)
        operands = tuple([as_layer(given.pop(name)) for name in names])
        given = plainly(given)
        value = cls.make(operands, tuple([given.get(name, value) for name, value in cls.defaults.items()]))
        return value if out is None else written(out, value, qualified(self.function))


def _in_dtype(ufunc: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """`dtype=` of a ufunc: the operands in the dtypes from which it computes such a result."""
    rest = {name: value for name, value in kwargs.items() if name not in ("dtype", "casting")}
    operands: list[Any] = [as_layer(one) for one in args]
    wanted = (None,) * ufunc.nin + (np.dtype(kwargs["dtype"]),) * ufunc.nout
    kinds = (*[one.dtype for one in operands], *[None] * ufunc.nout)
    found = ufunc.resolve_dtypes(kinds, signature=wanted, casting=kwargs.get("casting", "same_kind"))
    pairs = zip(operands, found, strict=False)
    return tuple([one if one.dtype == kind else np.astype(one, kind) for one, kind in pairs]), rest


def implements(*functions: Callable[..., Any], **laws: Any) -> Callable[[Kernel], Kernel]:
    """Give NumPy functions a formula of their own: a Python function with NumPy's argument names.

    The formula is written with other NumPy functions, so its gradient follows. Arguments that it does not name are
    refused unless they say nothing.
    """

    def decorate(formula: Kernel) -> Kernel:
        for function in functions:
            FUNCTIONS[function] = _Formula(formula, function)
            FORMULAS[function] = laws
        return formula

    return decorate


class _Formula:
    """A NumPy function's call, made by a formula. Its signature is read when it is first called: importing is quick."""

    __slots__ = ("formula", "free", "function", "names")

    def __init__(self, formula: Kernel, function: Callable[..., Any]) -> None:
        self.formula, self.function = formula, function
        self.names: Mapping[str, Any] | None = None

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = plainly(args), plainly(kwargs)
        if not FORMULAS[self.function].get("writes"):  # an array that is written into stays a traced one
            out = kwargs.pop("out", None)
            args, kwargs = _settled(args, kwargs)
            kwargs = kwargs if out is None else {**kwargs, "out": out}
        if self.names is None:
            names = inspect.signature(self.formula).parameters
            self.free = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in names.values())
            self.names = names
        if self.free:
            return self.formula(*args, **kwargs)
        given = arguments(self.function, args, kwargs, self.names)
        out = None if "out" in self.names else given.pop("out", None)
        value = self.formula(**given)
        return value if out is None else written(out, value, qualified(self.function))


def _settled(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments that a body has made of constants alone as plain arrays, beside traced ones."""
    trace = here.trace
    layers = [one for one in (*args, *kwargs.values()) if isinstance(one, Layer)]
    known = set() if trace is None or len(layers) < 2 else {trace.known(one) is not None for one in layers}
    if len(known) < 2:  # all of one sort
        return args, kwargs
    return tuple(map(settled, args)), {name: settled(one) for name, one in kwargs.items()}


FORMULAS: dict[Callable[..., Any], Mapping[str, Any]] = {}
"""NumPy functions that are formulas in other operations, with what the laws need to know."""


def method(name: str, ufunc: np.ufunc) -> Callable[[Kernel], Kernel]:
    """Give `ufunc.reduce` and its like a formula."""

    def decorate(formula: Kernel) -> Kernel:
        def handler(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            known = signature(formula).parameters  # read when it is first called: importing is quick
            free = any(one.kind is one.VAR_KEYWORD for one in known.values())
            given: dict[str, Any] = {}
            for one, value in kwargs.items():
                if one == "indices" and len(args) > 1:
                    continue  # NumPy hands them over twice when they are named
                if free or one in known:
                    given[one] = value
                elif value is not None and value is not np._NoValue and value is not _UFUNC_DEFAULTS.get(one):
                    full = f"{qualified(ufunc)}.{name}"
                    raise unsupported(f"the argument {one}= of {full}", f"leave {one}= out, and do it before or after")
            return formula(*args, **given)

        UFUNC_METHODS[ufunc, name] = handler
        return formula

    return decorate


def array_method(name: str) -> Callable[[Kernel], Kernel]:
    """Give layers a method of arrays that NumPy has no function of the same signature for."""

    def decorate(formula: Kernel) -> Kernel:
        METHODS[name] = lambda layer: lambda *args, **kwargs: formula(layer, *args, **kwargs)
        return formula

    return decorate
