"""Are two programs one to those who write code? Then what was written for the one serves the other, unread.

A program is put into words: every operation by its class and its parameters, every spec, every constant by its entries,
and how they hang together. Only what has such words takes part: an operation of somebody else's, a function as a
parameter, an object, and there are none. What turns a program into code is not in the words; `store` adds it.
"""

from __future__ import annotations

import marshal
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cache
from operator import index
from typing import Any

import numpy as np

from symbolic.keeping import blake2b
from symbolic.layer import Layer
from symbolic.ops.axes import At
from symbolic.ops.operation import Operation
from symbolic.plan import Program
from symbolic.spec import AnySpec, OpaqueSpec, Spec, TupleSpec

__all__ = ["words_of"]

_MOST = 1 << 20
"""Bytes of constants beyond which reading them costs more than it saves."""


class _NoWordsError(Exception):
    """Something of which only its address could be said."""


def words_of(program: Program, into: Sequence[int] = ()) -> str:
    """A text that two programs have in common only if the same code is right for both; empty where there is none.

    >>> import symbolic
    >>> net = symbolic.symbolic(lambda x: np.sum(np.exp(x)), np.ndarray)
    >>> one, same, other = (words_of(net.program(np.zeros(n))) for n in (3, 3, 4))
    >>> one == same != other
    True
    """
    try:
        if sum(value.nbytes for _, value in program.constants if isinstance(value, np.ndarray)) > _MOST:
            return ""
        leaves = [type(leaf).__name__ for leaf in program.leaves]
        constants = [(k, _word(value)) for k, value in program.constants]
        done = [_instruction(one) for one in program.instructions]
        kinds = {id(one): one for one in program.specs}  # of which a long program has few
        told = {number: _spec(one) for number, one in kinds.items()}
        specs = [told[id(one)] for one in program.specs]
        ends = program.outputs, program.split, program.primal, program.aliases, program.copied, tuple(into)
        said = marshal.dumps((leaves, constants, done, specs, ends), 0)  # without references: equal for equal ones
        return blake2b(said, digest_size=32).hexdigest()
    except (_NoWordsError, RecursionError, TypeError, ValueError):  # the last two for what has no bytes
        return ""


def _instruction(one: Any) -> Any:
    node, _, takes_out, sources, target, _, reads = one
    kind = type(node)
    name = _NAMES.get(kind) or _name(kind)
    parameters = [_word(value) for value in node.parameters] if node.parameters else ()
    return name, parameters, sources, target, reads, takes_out, node._origin.floating is not None


_NAMES: dict[type, str] = {}


def _name(kind: type) -> str:
    """An operation by its name: one of ours, which stands where its name says, and has no fields but those of all."""
    module = kind.__module__
    place: Any = sys.modules.get(module) if module.startswith("symbolic.") else None
    fields = {name for base in kind.__mro__ if base not in Layer.__mro__ for name in _slots(base)}
    if getattr(place, kind.__name__, None) is not kind or fields != _slots(Operation):
        raise _NoWordsError
    found = _NAMES[kind] = f"{module}.{kind.__name__}"
    return found


def _slots(kind: type) -> set[str]:
    found = vars(kind).get("__slots__", ("__dict__",))
    return {found} if isinstance(found, str) else set(found)


def _spec(spec: AnySpec) -> Any:
    if isinstance(spec, Spec):
        python = None if spec.python is None else spec.python.__name__
        shape = None if spec.shape is None else [None if size is None else index(size) for size in spec.shape]
        return shape, None if spec.dtype is None else _dtype(spec.dtype), python
    if isinstance(spec, TupleSpec):
        return "tuple", [_spec(one) for one in spec]
    assert isinstance(spec, OpaqueSpec)
    return "opaque", f"{spec.kind.__module__}.{spec.kind.__qualname__}"


@cache
def _dtype(dtype: np.dtype[Any]) -> Any:
    if dtype.hasobject or dtype.kind not in "biufcSU":
        raise _NoWordsError
    return dtype.str, dtype.num


# --------------------------------------------------------------------------- values
def _word(value: Any) -> Any:
    """A constant or a parameter; by its type first, for `1`, `True` and `1.0` are equal."""
    say = _SAYING.get(type(value))
    if say is not None:
        return say(value)
    if isinstance(value, np.generic) and type(value).__module__ == "numpy":
        return "number", _dtype(value.dtype), value.tobytes()
    if isinstance(value, np.dtype):
        return "dtype", _dtype(value)
    raise _NoWordsError


def _itself(value: Any) -> Any:
    return value


def _array(value: Any) -> Any:
    laid = value.flags.c_contiguous, value.flags.aligned, value.strides
    return "array", _dtype(value.dtype), value.shape, laid, blake2b(value.tobytes(), digest_size=32).hexdigest()


def _known(value: Any) -> Any:
    """A class or a function of Python's or NumPy's, which stands where its name says."""
    module, name = "builtins" if value in (bool, int, float, complex) else "numpy", str(value.__name__)
    if getattr(sys.modules[module], name, None) is not value:
        raise _NoWordsError
    return "known", module, name


_SAYING: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((int, bool, str, bytes, type(None), type(Ellipsis)), _itself),
    float: lambda value: ("float", struct.pack("<d", value)),  # two that are equal may differ in their signs
    complex: lambda value: ("complex", struct.pack("<dd", value.real, value.imag)),
    tuple: lambda value: ("tuple", [_word(one) for one in value]),
    list: lambda value: ("list", [_word(one) for one in value]),
    slice: lambda value: ("slice", _word(value.start), _word(value.stop), _word(value.step)),
    Spec: _spec,
    At: lambda value: ("at", value.operand),
    np.ndarray: _array,
    np.ufunc: _known,
    type: _known,
}
