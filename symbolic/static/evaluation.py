"""What does a function, an operator, a method or an attribute give for values that are known only by their spec?"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from symbolic.callees import CALLS, ELSEWHERE, MAKING
from symbolic.calls import called
from symbolic.context import here
from symbolic.errors import SymbolicError
from symbolic.layer import FUNCTIONS, UFUNC_METHODS, Layer, unsupported
from symbolic.naming import instead_of, qualified
from symbolic.ops.foreign import handler, is_scipy, refusal
from symbolic.ops.operation import Operation
from symbolic.polynomial import Size
from symbolic.static.abstract import UNKNOWN, Answer, Finding, Value
from symbolic.static.alike import alike
from symbolic.static.cutting import cut, cuts
from symbolic.static.making import made, makes
from symbolic.static.nesting import leaves
from symbolic.static.python import OF_VALUES, folded, is_pure, python_value
from symbolic.static.rests import markers, over_rests
from symbolic.static.valuations import Call, solve


def call(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
    """What a call of a known function gives, and what is wrong with it; nothing is raised, whatever is given."""
    key: Any = function, _frozen(args), _frozen(kwargs) if kwargs else None
    try:
        found = _CACHE.get(key)
    except TypeError:  # something in it has no hash
        key = found = None
    if found is None:
        found = _safely(function, args, kwargs)
        if key is not None:
            if len(_CACHE) >= _MOST:
                _CACHE.clear()
            _CACHE[key] = found
    return found


_CACHE: dict[Any, Answer] = {}
_MOST = 20_000


def _frozen(value: Any) -> Any:
    kind = type(value)
    if isinstance(value, Value):  # whatever is known of its past
        return value
    if kind in (tuple, list):
        return (kind, *map(_frozen, value))
    if kind is dict:
        return (dict, *[(name, _frozen(one)) for name, one in value.items()])
    if kind is slice:
        return slice, _frozen((value.start, value.stop, value.step))
    return kind, value  # 1, 1.0 and True are equal


def _safely(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
    try:
        return answered(function, args, kwargs)
    except Exception:  # a fault of ours must not stop a checker: nothing is known
        return Answer(UNKNOWN)


def answered(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
    """The answer of a call, worked out."""
    known = supported(function)
    if isinstance(known, Finding):
        return Answer(UNKNOWN, known)
    if not known or any(map(_is_code, (*args, *kwargs.values()))):
        return Answer(UNKNOWN)
    if makes(function):
        return made(function, args, kwargs)
    found = folded(function, args, kwargs)
    if found is not None:
        return found
    if function in OF_VALUES and args:
        return OF_VALUES[function](args, kwargs)
    if function is sum:
        args = _addends(args)
    if function is operator.getitem and len(args) == 2 and _is_vague(args[1]):
        return _of_parts(args)
    parts = cut(function, args, kwargs) if cuts(function) else None
    return parts or _of_arrays(function, args, kwargs)


def _of_arrays(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
    """By the rules of arrays: with names, and with any number of axes."""
    arguments = [*args, *kwargs.values()]
    constant = not any(isinstance(one, Value) or one is UNKNOWN for one in leaves(arguments))
    if constant and not _is_bounded(arguments):
        return Answer(UNKNOWN)
    if isinstance(function, np.ufunc) or getattr(function, "__module__", "") == "_operator":
        args = [_number(one) for one in args]
    traced = _traced(function)

    def answer(change: Callable[[Any], Any]) -> Answer:
        named = {name: change(one) for name, one in kwargs.items()}
        return solve(Call(traced, [change(one) for one in args], named))

    return over_rests(answer, arguments) if any(markers(arguments)) else answer(lambda one: one)


def _is_vague(index: Any) -> bool:
    """Whether a slice stands in an index of which a bound is not known: `x[start : start + size]` in a loop."""
    if type(index) is tuple:
        return any(map(_is_vague, index))
    bounds = (index.start, index.stop, index.step) if isinstance(index, slice) else ()
    return any(isinstance(one, Value) or one is UNKNOWN for one in bounds)


_PARTS = (slice(None), slice(0, 0), slice(0, 1))
"""All, nothing, one: no size but 0 is alike in all of them."""


def _of_parts(args: Sequence[Any]) -> Answer:
    """What is true of any part of an array."""
    answers = [_of_arrays(operator.getitem, (args[0], _with_part(args[1], part)), {}) for part in _PARTS]
    wrong = [one for one in answers if one.finding is not None]
    if wrong:
        return wrong[0] if len(wrong) == len(answers) else Answer(UNKNOWN)
    return Answer(alike([one.value for one in answers]))


def _with_part(index: Any, part: slice) -> Any:
    if type(index) is tuple:
        return tuple([_with_part(one, part) for one in index])
    return part if _is_vague(index) else index


def _number(value: Any) -> Any:
    """A size that is an operand, rather than a parameter, as the number that it is."""
    return python_value(int) if isinstance(value, Size) else value


def _addends(args: Sequence[Any]) -> Sequence[Any]:
    """What `sum(x)` adds, of an array whose first axis is long, or not known: two entries have the result's spec."""
    if not args or not isinstance(args[0], Value):
        return args
    entry = call(operator.getitem, (args[0], 0), {}).value
    return [[entry, entry], *args[1:]]


_MOST_ENTRIES = 1_000_000


def _is_bounded(given: Sequence[Any]) -> bool:
    """Whether a call with constants alone is a small computation."""
    entries = 1
    for one in leaves(list(given)):
        if isinstance(one, int):
            entries *= max(abs(one), 1)
    return entries <= _MOST_ENTRIES


def _is_code(value: Any) -> bool:
    """Whether an argument is a function of the user's own, which is never called."""
    if type(value) in (tuple, list):
        return any(map(_is_code, value))
    return callable(value) and not isinstance(value, (type, np.dtype))


def _traced(function: Any) -> Callable[..., Any]:
    """The function as the body of a traced function would call it."""

    def apply(*args: Any, **kwargs: Any) -> Any:
        return called(function)(*args, **kwargs)

    return apply


def method(name: str, self: Value, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
    """What `self.name(*args, **kwargs)` gives."""
    return call(named_method(name), (self, *args), kwargs)


_METHODS: dict[str, Callable[..., Any]] = {}


def named_method(name: str) -> Callable[..., Any]:
    """One function for each name, so that the answers are kept."""

    def apply(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, name)(*args, **kwargs)

    return _METHODS.setdefault(name, apply)


def attribute(name: str, self: Value) -> Answer:
    """What `self.name` is."""
    return call(_attribute(name), (self,), {})


_ATTRIBUTES: dict[str, Callable[..., Any]] = {}


def _attribute(name: str) -> Callable[..., Any]:
    def apply(self: Any, /) -> Any:
        return here.facts.ask(self, name) if name == "size" and here.facts is not None else getattr(self, name)

    return _ATTRIBUTES.setdefault(name, apply)


# --------------------------------------------------------------------------- which functions are known?

_BUILTINS = {abs, bool, complex, divmod, float, int, isinstance, len, max, min, pow, round, sum, type}


def supported(function: Any) -> bool | Finding:
    """Whether anything is known of a function; a finding where it is known to take no layer."""
    try:
        return _supported(function)
    except TypeError:  # it has no hash
        return False


@lru_cache(maxsize=4096)
def _supported(function: Any) -> bool | Finding:
    if function in _BUILTINS or getattr(function, "__module__", None) == __name__:  # a method, an attribute
        return True
    if isinstance(function, np.ufunc):
        return function in FUNCTIONS or ELSEWHERE[0](function) is not None or _refusal(qualified(function))
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        name = function.__name__
        return (owner, name) in UFUNC_METHODS or _refusal(f"{qualified(owner)}.{name}")
    if is_scipy(function):
        return handler(function) is not None or _of(refusal(function))
    if isinstance(function, type) and issubclass(function, Layer):
        return issubclass(function, Operation) or makes(function)
    module = str(getattr(function, "__module__", None))
    if function in FUNCTIONS or function in MAKING or function in CALLS or makes(function) or is_pure(function):
        return True
    if module.partition(".")[0] == "numpy" and hasattr(function, "_implementation"):
        return _refusal(qualified(function))
    return module in ("math", "_operator") or module.startswith("symbolic.ops.")


def _refusal(name: str) -> Finding:
    return _of(unsupported(name, instead_of(name)))


def _of(error: SymbolicError) -> Finding:
    return Finding(error.seen, error.remedy)
