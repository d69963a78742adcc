"""What is really called, when the body of a traced function calls something?

Its own helper functions are rewritten as the body is. What would make a plain number of a traced value is replaced by
what keeps the gradient (`callees`). All else is called as it stands.
"""

from __future__ import annotations

import abc
import functools
import itertools
import os
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from symbolic.callees import CALLS, ELSEWHERE, FUNCTION, MAKING, Handler
from symbolic.context import here
from symbolic.errors import TraceError, buried
from symbolic.layer import FUNCTIONS, Layer, Lent, qualified, unsupported
from symbolic.ops import rooms as _rooms  # noqa: F401 - it says which functions of NumPy have a meaning
from symbolic.ops.foreign import handler, is_scipy, refusal, spoken
from symbolic.ops.looking import LOOKING, asked_of_keys, attribute_of
from symbolic.ops.making import Alone, Made, as_one, is_traced, made, type_of, writable
from symbolic.outcome import hides
from symbolic.rewriting import hooks, rewritten
from symbolic.sizes import Shape

_AS_THEY_ARE = {"numpy", "symbolic"}
_FOREIGN = {"jax", "torch", "sklearn", "pandas", "matplotlib"}
_IN_PYTHON = "numpy.polynomial."  # written as a user would write it
_STANDARD = os.path.dirname(os.__file__) + os.sep
_HANDED = {map, filter, sorted, min, max, functools.reduce, itertools.accumulate, itertools.starmap, functools.partial}
_HANDED |= {filter, itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.groupby}
_HANDED |= {np.apply_along_axis, np.apply_over_axes, np.piecewise}
"""Functions that call a function which they are given."""
_CODE = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, type, functools.partial)
_Cached = type(functools.cache(len))


def called(function: Any) -> Any:
    """What to call in the place of `function`, within a trace; outside of one it stays what it is."""
    if here.trace is None:
        return function
    if type(function) is np.ufunc:
        return _ufunc(function)
    if is_scipy(function):
        return functools.partial(_of_scipy, function)
    try:
        found = _FOUND.get(type(function), _other)(function)
    except (TypeError, ValueError):  # it has no hash
        return function
    return function if found is None else found


def _ufunc(function: np.ufunc) -> Any:
    """The usual callee: whose it is, and what the tables say of it, is looked up once."""
    found = _UFUNCS.get(function)
    if found is None:
        found = functools.partial(_of_scipy, function) if is_scipy(function) else _replaced(function)
        if getattr(found, "func", None) is _of_numpy and function in FUNCTIONS:
            found = _UFUNCS[function] = functools.partial(_applied, function)
    return function if found is None else found


_UFUNCS: dict[np.ufunc, Any] = {}


def _applied(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of a ufunc of NumPy's: of layers and numbers alone it is what NumPy would ask the layers for."""
    if len(args) == function.nin and not kwargs:
        kinds = [isinstance(one, Layer) for one in args]
        if any(kinds) and all(a or type(b) in (float, int) for a, b in zip(kinds, args, strict=True)):
            try:
                return FUNCTIONS[function](args, {})
            except TraceError:
                pass  # the general way says it
    return _of_numpy(function, *args, **kwargs)


def _replaced(function: Any) -> Any:
    """What a table says of a function."""
    if getattr(function, "__module__", None) == "dataclasses":
        from symbolic import renewing as _renewing  # noqa: F401 - it fills the table, where a body knows dataclasses
    if function is np.vectorize:
        from symbolic import vectorized as _vectorized  # noqa: F401 - it fills the table as well
    if function in MAKING:
        return MAKING[function]
    if function in CALLS:
        return functools.partial(_asked, function, CALLS[function])
    if function in _HANDED:
        return functools.partial(_handed, function)
    module = getattr(function, "__module__", None) or ("numpy" if isinstance(function, np.ufunc) else "")
    if module.partition(".")[0] != "numpy" or (module.startswith(_IN_PYTHON) and ELSEWHERE[0](function) is None):
        return None
    return functools.partial(_of_numpy, function)


def _of_numpy(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of NumPy's: it does not look for traced values in lists, and takes only tuples for shapes."""
    args = tuple([tuple(one) if isinstance(one, Shape) else one for one in args])
    given = (*args, *kwargs.values())
    try:
        return _dispatched_by_numpy(function, args, kwargs, given)
    except TraceError:
        if not any(isinstance(one, Made) for one in given) or not all(map(_is_known, given)):
            raise
    return _on_constants(function, args, kwargs)


def _of_ufunc(method: Any, *args: Any, **kwargs: Any) -> Any:
    """A method of a ufunc, such as `np.add.reduce`; a tuple that `at` is given is an index."""
    index = tuple if getattr(method, "__name__", "") == "at" else ()
    args = tuple([one if isinstance(one, index) else as_one(one) for one in args])
    return _of_numpy(method, *args, **{name: as_one(one) for name, one in kwargs.items()})


def _of_scipy(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of SciPy's: by our formula where a traced value is among the arguments, else as it stands."""
    args = tuple([tuple(one) if isinstance(one, Shape) else one for one in args])
    given = (*args, *kwargs.values())
    if not any(map(is_traced, given)):
        return _calling_back(function, args, kwargs)
    if all(map(_is_known, given)):
        return _on_constants(function, args, kwargs)
    found = handler(function)
    if found is None:
        raise refusal(function)
    return found(args, kwargs)


def _calling_back(function: Any, args: Any, kwargs: Any) -> Any:
    """A call of SciPy's that may call a function of the body, in which traced values stand: a root, an integral."""
    if not any(callable(one) and hides(one) for one in (*args, *kwargs.values())):
        return function(*args, **kwargs)
    try:
        return function(*args, **kwargs)
    except Exception as error:
        raise refusal(function) from error


def _dispatched_by_numpy(function: Any, args: Any, kwargs: Any, given: tuple[Any, ...]) -> Any:
    listed = any(isinstance(one, (list, tuple)) and is_traced(one) for one in given)
    if not listed or any(isinstance(one, Layer) for one in given):
        return function(*args, **kwargs)  # a layer among its arguments is asked
    meaning = FUNCTIONS.get(function) or ELSEWHERE[0](function)
    if meaning is None:
        raise unsupported(qualified(function))
    return meaning(args, kwargs)


def _asked(function: Any, meaning: Handler, *args: Any, **kwargs: Any) -> Any:
    if any(map(is_traced, (*args, *kwargs.values()))):
        return meaning(args, kwargs)
    return function(*args, **kwargs)


def _handed(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A call with the functions among its arguments rewritten."""
    named = {name: _code_of(one) for name, one in kwargs.items()}
    return function(*map(_code_of, args), **named)


def _is_known(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_known, value))
    return not isinstance(value, Layer) or (here.trace is not None and here.trace.known(value) is not None)


def _on_constants(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What is not supported on layers, of arrays that the body made of numbers alone; it may also write into them."""
    assert here.trace is not None
    copies: dict[Layer[Any, Any], Any] = {}

    def plain(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)([plain(one) for one in value])
        if isinstance(value, Layer) and value not in copies:
            copies[value] = np.array(here.trace.known(value))  # type: ignore[union-attr]  # asserted above
        return copies[value] if isinstance(value, Layer) else value

    result = function(*map(plain, args), **{name: plain(one) for name, one in kwargs.items()})
    for layer, copy in copies.items():
        before = here.trace.known(layer)
        if isinstance(layer, Made) and not np.array_equal(copy, before, equal_nan=copy.dtype.kind in "fc"):
            layer[...] = copy
    same = [layer for layer, copy in copies.items() if copy is result]
    return same[0] if same else made(result)


def _dispatched(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of functools.singledispatch: chosen by the type that the value has."""
    return called(function.dispatch(type_of(args[0])))(*args, **kwargs) if args else function(**kwargs)


def _uncached(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A function with a cache, which knows numbers by their hash, and layers by nothing."""
    traced = any(map(is_traced, (*args, *kwargs.values())))
    return called(function.__wrapped__)(*args, **kwargs) if traced else function(*args, **kwargs)


def _code_of(value: Any) -> Any:
    return called(value) if isinstance(value, _CODE) else value


def _function(function: types.FunctionType) -> Any:
    found = _replaced(function)
    if found is not None:
        return found
    if hasattr(function, "registry") and hasattr(function, "dispatch"):
        return functools.partial(_dispatched, function)
    module = function.__globals__.get("__name__") or ""
    package, file = module.partition(".")[0], function.__code__.co_filename
    standard = file.startswith(_STANDARD) and "-packages" not in file
    if package in _FOREIGN:
        return functools.partial(_of_numbers, function)
    if module.startswith(_IN_PYTHON):
        return functools.partial(_of_polynomials, function, rewritten(function, HOOKS))
    if package in _AS_THEY_ARE or standard:
        return None
    twin = rewritten(function, HOOKS)
    if twin is not function:
        return twin
    from symbolic.namespaces import over_names  # where there is no source

    return over_names(function, called)


def _of_polynomials(function: Any, twin: Any, *args: Any, **kwargs: Any) -> Any:
    """A function that NumPy itself writes in Python: a body, where it or an object is given traced values."""
    plain = all(map(_is_plain, (*args, *kwargs.values())))
    return function(*args, **kwargs) if plain else twin(*args, **kwargs)


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (int, float, complex, str, np.generic, np.ndarray))


def _of_numbers(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of another library: where it asks a traced value for numbers, the error names the function."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        ours = buried(error)
        if not isinstance(ours, TraceError) or not any(map(is_traced, (*args, *kwargs.values()))):
            raise
        raise TraceError(
            f"{spoken(function)} works on plain numbers, and was given a traced value",
            where=ours.where,
            remedy="write it with NumPy's functions (np.linalg, np.fft), or compute it outside the traced function",
        ) from error


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
    inner = called(start)
    after = getattr(kind, "__post_init__", None)  # which the `__init__` of a dataclass calls
    if after is not None and called(after) is not after and kind.__dictoffset__:
        return functools.partial(_made, kind, functools.partial(_made_of_data, inner, called(after)))
    return None if inner is start else functools.partial(_made, kind, inner)


def _made(kind: type, start: Callable[..., None], *args: Any, **kwargs: Any) -> Any:
    self: Any = object.__new__(kind)
    start(self, *args, **kwargs)
    return self


def _made_of_data(start: Any, after: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    """An entry of the instance goes before the method of its class."""
    vars(self)["__post_init__"] = types.MethodType(after, self)
    try:
        start(self, *args, **kwargs)
    finally:
        vars(self).pop("__post_init__", None)


def _builtin(function: Any) -> Any:
    owner = getattr(function, "__self__", None)
    if isinstance(owner, list) and function.__name__ == "sort":
        return functools.partial(_handed, function)
    if isinstance(owner, np.ndarray) and function.__name__ in ("copy", "astype"):
        return functools.partial(_copied, function)
    if isinstance(owner, (dict, set, frozenset)) or (owner is dict and function.__name__ == "fromkeys"):
        return functools.partial(asked_of_keys, function)
    if isinstance(owner, np.ufunc):
        return functools.partial(_of_ufunc, function)
    return _replaced(function)


def _copied(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A copy of a plain array is one that the body has made."""
    found = function(*args, **kwargs)
    return made(found) if isinstance(found, np.ndarray) and found.dtype.kind in "fc" else found


def _other(function: Any) -> Any:
    if isinstance(function, type):
        return _class(function)
    if isinstance(function, np.vectorize):
        from symbolic.vectorized import Vectorized

        return Vectorized.of(function)
    if isinstance(function, (Layer, Lent)):
        return None
    if isinstance(function, _Cached):
        return functools.partial(_uncached, function)
    call = getattr(type(function), "__call__", None)  # noqa: B004 - it is read, not asked for
    if isinstance(call, types.FunctionType):  # an object of the user's own that can be called
        inner = called(call)
        return None if inner is call else types.MethodType(inner, function)
    return _replaced(function)


_FOUND: dict[type, Callable[[Any], Any]] = {
    types.FunctionType: _function,
    types.MethodType: _method,
    types.BuiltinFunctionType: _builtin,
    functools.partial: _partial,
    type: _class,
}


def attribute(obj: Any, name: str) -> Any:
    """What `obj.name` is: a property of the user's own class has a body, which is rewritten as others are."""
    found = None if here.trace is None or isinstance(obj, type) else _property(type(obj), name)
    if found is None:
        return attribute_of(obj, name)
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

HOOKS = hooks(called=called, writable=writable, attribute=attribute, **LOOKING)
FUNCTION[0] = called


# --------------------------------------------------------------------------- how many references are one name's?


def _probe(make: Callable[[], Any]) -> None:
    y = make()
    y[0] = 1.0


def _count(target: Any, value: Any) -> Any:
    Alone.count = sys.getrefcount(target)
    return target


def _learn() -> None:
    assert isinstance(_probe, types.FunctionType)
    twin = rewritten(_probe, hooks(called=lambda function: function, writable=_count))
    twin(lambda: np.zeros(1))


Alone.learn = staticmethod(_learn)
