"""What is known of the arguments of a call? Layers and arrays by their specs, constants as they are."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from mypy.nodes import (
    CallExpr,
    ComplexExpr,
    EllipsisExpr,
    Expression,
    FloatExpr,
    IntExpr,
    ListExpr,
    OpExpr,
    RefExpr,
    SliceExpr,
    StrExpr,
    TupleExpr,
    UnaryExpr,
)
from mypy.types import (
    AnyType,
    Instance,
    LiteralType,
    NoneType,
    TupleType,
    Type,
    UnionType,
    get_proper_type,
)

from symbolic.mypy_plugin.natives import Natives
from symbolic.mypy_plugin.vocabulary import DIM, Vocabulary
from symbolic.nn import initializers
from symbolic.polynomial import parsed
from symbolic.spec import Spec
from symbolic.static.abstract import UNKNOWN, Value
from symbolic.static.evaluation import call as call_known
from symbolic.static.making import makes

TypeOf = Callable[[Expression], Type | None]

_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
_UNARY: Mapping[str, Callable[..., Any]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
_NAMED: Mapping[str, Any] = {
    "builtins.float": float,
    "builtins.int": int,
    "builtins.bool": bool,
    "builtins.complex": complex,
    "builtins.True": True,
    "builtins.False": False,
    "builtins.None": None,
}


class Arguments:
    """Arguments of calls, as `symbolic.static` takes them."""

    words: Vocabulary
    natives: Natives

    def __init__(self, words: Vocabulary, natives: Natives) -> None:
        self.words, self.natives = words, natives

    def of(self, typ: Type | None, expression: Expression | None, type_of: TypeOf) -> Any:
        """One argument from its type and its expression; `UNKNOWN` where neither tells enough."""
        proper = get_proper_type(typ)
        layer = self.words.layer_args(proper)
        if layer is not None:
            return self.of_data(layer[1])
        if isinstance(expression, (TupleExpr, ListExpr)):
            items = [self.of(type_of(one), one, type_of) for one in expression.items]
            return items if isinstance(expression, ListExpr) else tuple(items)
        if isinstance(expression, SliceExpr):
            ends = (expression.begin_index, expression.end_index, expression.stride)
            return slice(*[None if one is None else self.of(type_of(one), one, type_of) for one in ends])
        found = self._constant(proper, expression, type_of)
        if found is UNKNOWN and isinstance(expression, CallExpr):
            found = self._made(expression, type_of)
        return self.of_native(proper) if found is UNKNOWN else found

    def _made(self, call: CallExpr, type_of: TypeOf) -> Any:
        """An array that is made on the spot: `he(784, 128)`, `np.ones((3, n))`."""
        function = maker(call.callee.fullname) if isinstance(call.callee, RefExpr) else None
        if function is None or any(kind.is_star() for kind in call.arg_kinds):
            return UNKNOWN
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, one in zip(call.arg_names, call.args, strict=True):
            value = self.of(type_of(one), one, type_of)
            if name is None:
                args.append(value)
            else:
                kwargs[name] = value
        return call_known(function, args, kwargs).value

    def of_data(self, tape: Type) -> Any:
        """What a layer gives, from its output tape."""
        args = self.words.tape_args(tape)
        if args is None or isinstance(args[0], AnyType):
            return Value(Spec(), loose=True)
        return self.of_native(args[0])

    def of_native(self, typ: Type | None) -> Any:
        """A value of a native type."""
        proper = get_proper_type(typ)
        if isinstance(proper, UnionType):
            found = [self.of_native(one) for one in proper.items]
            return found[0] if all(one == found[0] for one in found) else UNKNOWN
        spec = self.natives.spec(proper)
        return UNKNOWN if spec is None else Value(spec, loose=self.natives.is_loose(proper))

    # ------------------------------------------------------------------ constants
    def _constant(self, typ: Type | None, expression: Expression | None, type_of: TypeOf) -> Any:
        found = self.of_type(typ)
        if found is not UNKNOWN or expression is None:
            return found
        if isinstance(expression, (IntExpr, StrExpr, FloatExpr, ComplexExpr)):
            return expression.value
        if isinstance(expression, EllipsisExpr):
            return ...
        if isinstance(expression, RefExpr):
            return named_value(expression.fullname)
        if isinstance(expression, UnaryExpr) and expression.op in _UNARY:
            return _applied(_UNARY[expression.op], self.of(type_of(expression.expr), expression.expr, type_of))
        if isinstance(expression, OpExpr) and expression.op in _OPERATORS:
            sides: list[Any] = [self.of(type_of(one), one, type_of) for one in (expression.left, expression.right)]
            return _applied(_OPERATORS[expression.op], *sides)
        return UNKNOWN

    def of_type(self, typ: Type | None) -> Any:
        """The constant that a type says: a literal, a named size, a tuple of these."""
        proper = get_proper_type(typ)
        if isinstance(proper, NoneType):
            return None
        if isinstance(proper, Instance) and proper.last_known_value is not None:
            proper = proper.last_known_value
        if isinstance(proper, LiteralType):
            return UNKNOWN if proper.is_enum_literal() else proper.value
        if isinstance(proper, Instance) and proper.type.fullname == DIM:
            name = get_proper_type(proper.args[0])
            return parsed(str(name.value)) if isinstance(name, LiteralType) else UNKNOWN
        if isinstance(proper, TupleType) and proper.items:
            items = tuple([self.of_type(one) for one in proper.items])
            return UNKNOWN if all(one is UNKNOWN for one in items) else items
        return UNKNOWN


@functools.cache
def maker(fullname: str) -> Any:
    """A function of NumPy's or an initializer of ours that makes an array out of nothing; `None` for any other."""
    module, _, name = fullname.rpartition(".")
    home = np if module.startswith("numpy") else initializers if module == initializers.__name__ else None
    found = getattr(home, name, None)
    return found if found is not None and makes(found) else None


def _applied(function: Callable[..., Any], *values: Any) -> Any:
    if not all(isinstance(one, int) or hasattr(one, "terms") for one in values):
        return UNKNOWN
    try:
        return function(*values)
    except Exception:  # a division by zero, a comparison that no name decides: run time says it
        return UNKNOWN


def named_value(fullname: str) -> Any:
    """A constant or a dtype by its full name: `numpy.newaxis`, `numpy.float32`, `math.pi`."""
    if fullname in _NAMED:
        return _NAMED[fullname]
    module, _, name = fullname.rpartition(".")
    if module == "numpy":
        found = getattr(np, name, UNKNOWN)
        constant = found is None or isinstance(found, (float, int, np.dtype))
        return found if constant or (isinstance(found, type) and issubclass(found, np.generic)) else UNKNOWN
    if module == "math":
        found = getattr(__import__("math"), name, UNKNOWN)
        return found if isinstance(found, float) else UNKNOWN
    return UNKNOWN
