"""What is a call, as mypy's hooks tell it? Its arguments, the layers among them, and the function that is meant."""

from __future__ import annotations

import functools
import importlib
import operator
from collections.abc import Callable
from functools import cached_property
from typing import Any

from mypy.nodes import (
    ARG_STAR,
    ARG_STAR2,
    ComplexExpr,
    Expression,
    FloatExpr,
    IntExpr,
    ListExpr,
    MypyFile,
    NameExpr,
    OperatorAssignmentStmt,
    OpExpr,
    TempNode,
    TupleExpr,
    UnaryExpr,
)
from mypy.types import Instance, ProperType, TupleType, Type, UnionType, get_proper_type

import symbolic
from symbolic import public as _public  # noqa: F401 - it fills the tables
from symbolic.function import SymbolicFunction
from symbolic.leaves import Weight
from symbolic.mypy_plugin.bodies import BUILTINS, TRUSTED
from symbolic.mypy_plugin.vocabulary import holds_layer, is_layer, taken_apart, unknown
from symbolic.ops.operation import OPERATIONS, Operation

_BINARY = {
    name: getattr(operator, name) for name in ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow")
}
_BINARY |= {"and": operator.and_, "or": operator.or_, "xor": operator.xor, "lshift": operator.lshift}
_BINARY |= {"rshift": operator.rshift, "divmod": divmod}
_COMPARED = {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}
_UNARY = {"neg": operator.neg, "pos": operator.pos, "invert": operator.invert, "abs": abs}

OF_LAYERS = {*dir(SymbolicFunction), *dir(Weight), *dir(Operation)}.union(
    *[(*one.operand_names, *one.defaults) for one in OPERATIONS]
)
"""What nodes of the tree have besides: where a checker sees a Layer, a program may know the node better."""
Operator = tuple[Callable[..., Any], bool]
OPERATORS: dict[str, Operator] = {
    **{f"__{name}__": (function, False) for name, function in {**_BINARY, **_COMPARED, **_UNARY}.items()},
    **{f"__r{name}__": (function, True) for name, function in _BINARY.items()},
    **{f"__i{name}__": (function, False) for name, function in _BINARY.items()},
    "__getitem__": (operator.getitem, False),
}
"""The function of each special method, and whether its operands come the other way round."""


class Given:
    """One call, as the hooks of functions and of methods tell it."""

    ctx: Any
    api: Any
    context: Any
    faithful: bool

    def __init__(self, ctx: Any) -> None:
        self.ctx, self.api, self.context = ctx, ctx.api, ctx.context
        self.positional: list[tuple[Type, Expression | None]] = []
        self.named: dict[str, tuple[Type, Expression]] = {}
        self.faithful = True
        for types, exprs, kinds, names in zip(ctx.arg_types, ctx.args, ctx.arg_kinds, ctx.arg_names, strict=True):
            for typ, expr, kind, name in zip(types, exprs, kinds, names, strict=True):
                if kind in (ARG_STAR, ARG_STAR2):
                    self.faithful = False
                elif name is None:
                    self.positional.append((typ, expr))
                else:
                    self.named[name] = typ, expr

    @cached_property
    def types(self) -> list[Type]:
        return [typ for types in self.ctx.arg_types for typ in types]

    @cached_property
    def layers(self) -> list[Type]:
        """The types of the arguments, and of the entries of displays among them, that hold layers."""
        found = [typ for typ in self.types if holds_layer(typ)]
        for exprs in self.ctx.args:
            found += [typ for expr in exprs for typ in self._entries(expr) if holds_layer(typ)]
        return found

    def _entries(self, expression: Expression) -> list[Type]:
        if not isinstance(expression, (ListExpr, TupleExpr)):
            return []
        types = [self.type_of(one) for one in expression.items]
        inner = [typ for one in expression.items for typ in self._entries(one)]
        return [typ for typ in types if typ is not None] + inner

    def type_of(self, expression: Expression) -> Type | None:
        """The type that mypy has found for a part of an argument."""
        found: Type | None = self.api.lookup_type_or_none(expression)
        return found


def is_number(expression: Expression | None) -> bool:
    """Whether an expression is a number as it is written, which stands for no layer."""
    if isinstance(expression, UnaryExpr):
        return is_number(expression.expr)
    return isinstance(expression, (IntExpr, FloatExpr, ComplexExpr))


def layers_in(typ: Type) -> list[ProperType]:
    """The layers that stand in a type."""
    proper = taken_apart(typ)
    if proper is None:
        return []
    if is_layer(proper):
        return [proper]
    if isinstance(proper, (TupleType, UnionType)):
        return [one for item in proper.items for one in layers_in(item)]
    if isinstance(proper, Instance):
        return [one for item in proper.args for one in layers_in(item)]
    return []


def uses_layers(tree: MypyFile) -> bool:
    """Whether a module imports this library, under whatever name."""
    nodes = (symbol.node for symbol in tree.names.values())
    return any(node is not None and str(node.fullname).partition(".")[0] == "symbolic" for node in nodes)


@functools.cache
def known_function(fullname: str) -> Any:
    """The function of a name in NumPy, SciPy, `math`, the builtins or this library; `None` for a user's."""
    root = fullname.partition(".")[0]
    if root not in TRUSTED or (root == "builtins" and fullname not in BUILTINS):
        return None
    module, _, name = fullname.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):  # in the stubs alone
        return None
    if root == "symbolic" and not (fullname.startswith("symbolic.ops.") and getattr(symbolic, name, None) is found):
        return None  # the library's own rooms are no vocabulary
    return found if callable(found) else None


def is_text_in_union(ctx: Any) -> bool:
    """Whether mypy asks of the text in a union such as NumPy's ArrayLike, which it takes for a lambda's parameter
    where it knows no better."""
    proper = get_proper_type(ctx.type)
    if not isinstance(ctx.context, OpExpr) or not isinstance(proper, Instance):
        return False
    if proper.type.fullname not in ("builtins.str", "builtins.bytes"):
        return False
    return isinstance(get_proper_type(ctx.api.lookup_type_or_none(ctx.context.left)), UnionType)


def bound_anew(result: Type, ctx: Any) -> Type:
    """`total += x` for an array `total`: from here on the name stands for a layer, as after `total = total + x`.

    mypy would keep the array's type, and have the layer be one.
    """
    statement = ctx.context
    if not isinstance(statement, OperatorAssignmentStmt) or is_layer(ctx.type) or not is_layer(result):
        return result
    if isinstance(statement.lvalue, NameExpr):
        ctx.api.check_assignment(statement.lvalue, TempNode(result, context=statement.rvalue))
    return unknown()
