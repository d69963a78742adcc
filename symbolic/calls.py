"""What is really called, when the body of a traced function calls something?

Its own helper functions are rewritten as the body is. What would make a plain number of a traced value is replaced by
what keeps the gradient (`callees`). All else is called as it stands.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import itertools
import os
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from symbolic.callees import CALLS, MAKING, Handler
from symbolic.context import here
from symbolic.errors import TraceError, buried
from symbolic.layer import Layer, Lent
from symbolic.ops.looking import KEYED, keyed
from symbolic.ops.looking import attribute as looked_up
from symbolic.ops.making import _Alone, is_traced, joined, writable
from symbolic.ops.texts import percent
from symbolic.rewriting import hooks, rewritten
from symbolic.vectorized import FUNCTION, Vectorized

_FOREIGN = {"scipy", "jax", "torch", "sklearn", "pandas", "matplotlib"}
_AS_THEY_ARE = {"numpy", "symbolic"}
_IN_PYTHON = "numpy.polynomial."  # written as a user would write it
_STANDARD = os.path.dirname(os.__file__) + os.sep
_HANDED = {map, filter, sorted, min, max, functools.reduce, itertools.accumulate, itertools.starmap, functools.partial}
_HANDED |= {np.apply_along_axis, np.apply_over_axes, np.piecewise}
"""Functions that call a function which they are given."""
_OF_SEQUENCES = {np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.linalg.multi_dot}
"""Functions of a sequence of arrays; each of its entries may be a list that stands for an array."""
_OF_LISTS = {np.block, np.select, np.choose, np.lexsort, np.broadcast_arrays, np.array_equal}
"""Functions to which a list of traced values is more than an array, or that read it themselves."""


def called(function: Any) -> Any:
    """What to call in the place of `function`, within a trace; outside of one it stays what it is."""
    if here.trace is None:
        return function
    try:
        found = _FOUND.get(type(function), _other)(function)
    except TypeError:  # it has no hash
        return function
    return function if found is None else found


def _replaced(function: Any) -> Any:
    """What a table says of a function."""
    if function in MAKING:
        return MAKING[function]
    if function in CALLS:
        return functools.partial(_asked, function, CALLS[function])
    return functools.partial(_handed, function) if function in _HANDED else None


def _asked(function: Any, handler: Handler, *args: Any, **kwargs: Any) -> Any:
    if any(map(is_traced, (*args, *kwargs.values()))):
        return handler(args, kwargs)
    return function(*args, **kwargs)


def _handed(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A call with the functions among its arguments rewritten."""
    named = {name: _code_of(one) for name, one in kwargs.items()}
    return function(*map(_code_of, args), **named)


def _code_of(value: Any) -> Any:
    return (
        called(value) if isinstance(value, (types.FunctionType, types.MethodType, type, functools.partial)) else value
    )


def _function(function: types.FunctionType) -> Any:
    found = _replaced(function)
    if found is not None:
        return found
    module = function.__globals__.get("__name__") or ""
    package = module.partition(".")[0]
    file = function.__code__.co_filename
    standard = file.startswith(_STANDARD) and "-packages" not in file
    if package in _FOREIGN:
        return functools.partial(_of_numbers, function)
    kept = package in _AS_THEY_ARE and not module.startswith(_IN_PYTHON)
    return None if kept or standard else rewritten(function, HOOKS)


def _of_numbers(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of another library: where it asks a traced value for numbers, the error names the function."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        ours = buried(error)
        if not isinstance(ours, TraceError) or not any(map(is_traced, (*args, *kwargs.values()))):
            raise
        home = ".".join([part for part in function.__module__.split(".") if not part.startswith("_")])
        raise TraceError(
            f"{home}.{function.__name__} works on plain numbers, and was given a traced value",
            where=ours.where,
            remedy="write it with NumPy's functions (np.linalg, np.fft), or compute it outside the traced function",
        ) from error


def _of_numpy(function: Any) -> Any:
    """A function of NumPy: where it takes an array it also takes a list, which may hold traced values."""
    found = _replaced(function)
    return functools.partial(_with_arrays, function) if found is None and function not in _OF_LISTS else found


def _with_arrays(function: Any, *args: Any, **kwargs: Any) -> Any:
    if not any(type(one) in (list, tuple) for one in (*args, *kwargs.values())):
        return function(*args, **kwargs)
    convert = _each_as_array if function in _OF_SEQUENCES else _as_array
    return function(*map(convert, args), **{name: convert(one) for name, one in kwargs.items()})


def _as_array(value: Any) -> Any:
    return joined(value) if type(value) in (list, tuple) and is_traced(value) else value


def _each_as_array(value: Any) -> Any:
    return type(value)(map(_as_array, value)) if type(value) in (list, tuple) else value


def _method(method: types.MethodType) -> Any:
    inner = called(method.__func__)
    return None if inner is method.__func__ else types.MethodType(inner, method.__self__)


def _partial(partial: functools.partial[Any]) -> Any:
    inner = called(partial.func)
    return None if inner is partial.func else functools.partial(inner, *partial.args, **partial.keywords)


def _class(kind: type) -> Any:
    """A class of the user's own: its `__init__` is a body, too."""
    found = _replaced(kind)
    start = getattr(kind, "__init__", None)
    plain = type(kind) in (type, abc.ABCMeta) and getattr(kind, "__new__", None) is object.__new__
    if found is not None or not plain or not isinstance(start, types.FunctionType) or issubclass(kind, Layer):
        return found
    inner, after = called(start), getattr(kind, "__post_init__", None)
    then = called(after) if isinstance(after, types.FunctionType) else after
    return None if inner is start and then is after else functools.partial(_made, kind, inner, then)


def _made(kind: type, start: Callable[..., None], then: Any, *args: Any, **kwargs: Any) -> Any:
    """An instance; a dataclass's `__init__` has no source, and finds what it calls at the end on the instance."""
    self: Any = object.__new__(kind)
    held = getattr(self, "__dict__", None) if then is not None else None
    if held is not None:
        held["__post_init__"] = types.MethodType(then, self)
    try:
        start(self, *args, **kwargs)
    finally:
        if held is not None:
            held.pop("__post_init__", None)
    return self


def _renewed(obj: Any, /, **changes: Any) -> Any:
    """`dataclasses.replace`, which makes an instance where nobody sees it."""
    fields = dataclasses.fields(obj)
    made = called(type(obj))
    if made is type(obj) or any(not one.init and one.name in changes for one in fields):
        return dataclasses.replace(obj, **changes)
    kept = {one.name: getattr(obj, one.name) for one in fields if one.init and one.name not in changes}
    return made(**kept, **changes)


MAKING[dataclasses.replace] = _renewed


def _builtin(function: Any) -> Any:
    if isinstance(getattr(function, "__self__", None), (dict, set)) and function.__name__ in KEYED:
        return keyed(function)
    if isinstance(getattr(function, "__self__", None), list) and function.__name__ == "sort":
        return functools.partial(_handed, function)
    return _of_numpy(function) if isinstance(getattr(function, "__self__", None), np.ufunc) else _replaced(function)


def _operator(bound: Any) -> Any:
    """`"%.3f".__mod__`, as `%` with a text is rewritten."""
    is_text = type(bound.__self__) is str and bound.__name__ == "__mod__"
    return functools.partial(percent, bound.__self__) if is_text else None


def _other(function: Any) -> Any:
    if isinstance(function, type):
        return _class(function)
    if isinstance(function, np.vectorize):
        return Vectorized.of(function)
    if isinstance(function, (Layer, Lent)):
        return None
    call = getattr(type(function), "__call__", None)  # noqa: B004 - it is read, not asked for
    if isinstance(call, types.FunctionType):  # an object of the user's own that can be called
        inner = called(call)
        return None if inner is call else types.MethodType(inner, function)
    return _replaced(function)


_FOUND: dict[type, Callable[[Any], Any]] = {
    types.FunctionType: _function,
    types.MethodType: _method,
    types.BuiltinFunctionType: _builtin,
    types.MethodWrapperType: _operator,
    functools.partial: _partial,
    type: _class,
    type(np.sum): _of_numpy,
    np.ufunc: _of_numpy,
}


def attribute(obj: Any, name: str) -> Any:
    """What `obj.name` is: a property of the user's own class has a body, which is rewritten as others are."""
    found = None if here.trace is None or isinstance(obj, type) else _property(type(obj), name)
    if found is None:
        return looked_up(obj, name)
    if type(found) is property:
        return called(found.fget)(obj)
    held = obj.__dict__
    if name not in held:
        held[name] = called(found.func)(obj)
    return held[name]


def _property(kind: type, name: str) -> Any:
    """The property that an attribute is, if its getter is written in Python."""
    found = next((one.__dict__[name] for one in kind.__mro__ if name in one.__dict__), None)
    if type(found) not in _GETTERS:
        return None
    getter = getattr(found, _GETTERS[type(found)], None)
    return found if isinstance(getter, types.FunctionType) and not issubclass(kind, Layer) else None


_GETTERS = {property: "fget", functools.cached_property: "func"}


HOOKS = hooks(called, writable, attribute)
FUNCTION[0] = called


# --------------------------------------------------------------------------- how many references are one name's?


def _probe(make: Callable[[], Any]) -> None:
    y = make()
    y[0] = 1.0


def _count(target: Any, value: Any) -> Any:
    _Alone.count = sys.getrefcount(target)
    return target


def _learn() -> None:
    assert isinstance(_probe, types.FunctionType)
    twin = rewritten(_probe, hooks(lambda function: function, _count))
    twin(lambda: np.zeros(1))


_learn()
