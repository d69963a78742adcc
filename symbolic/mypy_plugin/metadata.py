"""What does the metadata of a hint say? `Symbolic[np.float32, "batch 784"]`, in a hint and in an alias of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mypy.nodes import (
    AssignmentStmt,
    EllipsisExpr,
    Expression,
    IndexExpr,
    IntExpr,
    LambdaExpr,
    ListExpr,
    MypyFile,
    OpExpr,
    RefExpr,
    ReturnStmt,
    StrExpr,
    TupleExpr,
    TypeAliasStmt,
)
from mypy.types import (
    CallableType,
    EllipsisType,
    Instance,
    RawExpressionType,
    Type,
    UnboundType,
    UnionType,
    get_proper_type,
)

from symbolic.mypy_plugin.reporting import SYMBOLIC_CODE, sentence
from symbolic.mypy_plugin.vocabulary import ANNOTATED, NDARRAY, SYMBOLIC
from symbolic.spec import Spec
from symbolic.static.abstract import Finding
from symbolic.static.declared import declared

if TYPE_CHECKING:
    from symbolic.mypy_plugin.expansions import Expansions

_JAXTYPING = {"Float16", "Float32", "Float64", "Complex64", "Complex128", "Int8", "Int16", "Int32", "Int64"}
_JAXTYPING |= {"UInt8", "UInt16", "UInt32", "UInt64", "Bool", "Float", "Complex", "Inexact", "Int", "UInt", "Integer"}
_JAXTYPING |= {"Real", "Num", "Shaped"}


class Marks(NamedTuple):
    """The dtype's name, if one is given, and the dimensions as they are written; `None` without a subscript."""

    dtype: str | None = None
    words: tuple[Any, ...] | None = None


def shaped(ctx: Any, inner: Type, expansions: Expansions, metadata: Marks | None = None) -> Type:
    """The analyzed T of `Annotated[T, …]`, marked if `Symbolic` is among the metadata."""
    semanal = ctx.api.api
    module = semanal.cur_mod_id

    def fail(message: str) -> None:
        if semanal.final_iteration:
            ctx.api.fail(message, ctx.context, code=SYMBOLIC_CODE)
        else:
            semanal.record_incomplete_ref()

    proper = expansions.natives.filled(get_proper_type(inner))
    bare = metadata is not None
    if metadata is None:
        marks = [found for one in ctx.type.args[1:] if (found := _mark(one, ctx)) is not None]
        own = _of_jaxtyping(ctx)
        if own is not None:
            return sized(proper, own, expansions, fail)
        if not marks:
            return proper
        metadata = marks[0]
    if isinstance(proper, CallableType):
        network = expansions.of_callable(proper, module, fail)
        return UnionType([network]) if bare else network
    marked = expansions.words.marked(sized(proper, metadata, expansions, fail))
    # an alias of a bare class would be taken for one of the class without arguments, Marked; no union is
    return UnionType([marked]) if bare else marked


def sized(typ: Type, marks: Marks, expansions: Expansions, fail: Callable[[str], None]) -> Type:
    """The type of arrays with the dtype and the shape that the marks say."""
    proper = get_proper_type(typ)
    if not isinstance(proper, Instance) or proper.type.fullname != NDARRAY or marks == Marks():
        return typ
    spec = declared(NDARRAY, marks.dtype, marks.words)
    if isinstance(spec, Finding):
        fail(sentence(spec))
        return typ
    assert isinstance(spec, Spec)  # of an array
    known = expansions.natives.spec(proper)
    if isinstance(known, Spec):
        spec = Spec(
            known.shape if spec.shape is None else spec.shape, known.dtype if spec.dtype is None else spec.dtype
        )
    return expansions.natives.array(spec)


# --------------------------------------------------------------------------- in a hint


def _mark(written: Type, ctx: Any) -> Marks | None:
    """What one entry of the metadata says, if it is `Symbolic`."""
    if not isinstance(written, UnboundType) or _name(written, ctx) != SYMBOLIC:
        return None
    args: list[Any] = list(written.args)
    dtype = None
    if args and isinstance(args[0], UnboundType) and args[0].original_str_expr is None:
        dtype = _name(args[0], ctx).rpartition(".")[2]
        args = args[1:]
    return Marks(dtype, tuple(map(_word, args)) if args else None)


def _name(written: UnboundType, ctx: Any) -> str:
    """The full name of a hint; the name as written where it is not known (`np.float32` is an alias to the stubs)."""
    found = ctx.api.lookup_qualified(written.name, ctx.type, suppress_errors=True)
    if found is None or found.node is None:
        return written.name
    return str(found.node.fullname)


def _word(written: Type) -> Any:
    if isinstance(written, EllipsisType):
        return ...
    if isinstance(written, RawExpressionType):
        return written.literal_value
    if isinstance(written, UnboundType):
        return written.original_str_expr or written.name
    return str(written)


def _of_jaxtyping(ctx: Any) -> Marks | None:
    """`Float32[np.ndarray, "batch 784"]`: jaxtyping tells checkers that each of its names is `Annotated`."""
    name = ctx.type.name.rpartition(".")[2]
    words = [_word(one) for one in ctx.type.args[1:]]
    if name not in _JAXTYPING or not all(isinstance(one, str) for one in words):
        return None
    return Marks(name.lower() if name[-1].isdigit() else None, tuple(words))


# --------------------------------------------------------------------------- in an alias


def in_alias(statement: Any) -> dict[tuple[int, int], Marks] | None:
    """Where in an alias a marked T stands, with its marks; `None` for what is no such alias."""
    if isinstance(statement, TypeAliasStmt):
        value: Any = statement.value
        body = value.body.body if isinstance(value, LambdaExpr) else []
        expression = body[0].expr if body and isinstance(body[0], ReturnStmt) else None
    elif isinstance(statement, AssignmentStmt):
        expression = statement.rvalue
    else:
        return None
    found = {(inner.line, inner.column): marks for inner, marks in _annotated(expression)}
    return found or None


def _annotated(expression: Expression | None) -> Iterator[tuple[Expression, Marks]]:
    """Each T of `Annotated[T, Symbolic…]` in an expression."""
    if isinstance(expression, IndexExpr):
        entries = expression.index.items if isinstance(expression.index, TupleExpr) else [expression.index]
        if isinstance(expression.base, RefExpr) and expression.base.fullname in ANNOTATED:
            marks = [found for one in entries[1:] if (found := _written(one)) is not None]
            if marks:
                yield entries[0], marks[0]
            return
        for one in entries:
            yield from _annotated(one)
    elif isinstance(expression, (ListExpr, TupleExpr)):
        for one in expression.items:
            yield from _annotated(one)
    elif isinstance(expression, OpExpr):
        yield from _annotated(expression.left)
        yield from _annotated(expression.right)


def _written(expression: Expression) -> Marks | None:
    if isinstance(expression, RefExpr):
        return Marks() if expression.fullname == SYMBOLIC else None
    if not isinstance(expression, IndexExpr) or not isinstance(expression.base, RefExpr):
        return None
    if expression.base.fullname != SYMBOLIC:
        return None
    index = expression.index
    entries: Sequence[Expression] = index.items if isinstance(index, TupleExpr) else [index]
    dtype = None
    if entries and isinstance(entries[0], RefExpr):
        dtype, entries = entries[0].name if hasattr(entries[0], "name") else None, entries[1:]
    words = tuple([_value(one) for one in entries])
    return Marks(dtype, words or None)


def _value(expression: Expression) -> Any:
    if isinstance(expression, (StrExpr, IntExpr)):
        return expression.value
    return ... if isinstance(expression, EllipsisExpr) else str(expression)


__all__ = ["Marks", "MypyFile", "in_alias", "np", "shaped", "sized"]
