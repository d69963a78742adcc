"""What is the value of an expression? Constants are followed, arrays are known by shape and dtype."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from symbolic.polynomial import Size
from symbolic.spec import Spec
from symbolic.static import evaluation
from symbolic.static.abstract import UNKNOWN, Value, is_constant
from symbolic.static.attributes import Attributes, is_operand, is_type
from symbolic.static.comparing import names_within
from symbolic.static.facts import joined_states, unsettled
from symbolic.static.holding import MISSING, Every, Ref, State, Traced, joined, traced
from symbolic.static.python import python_value
from symbolic.static.things import Alias, Foreign, Function, written_defaults

BINARY: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY: dict[type, Callable[..., Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_COMPARE: dict[type, Callable[..., Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_MOST_ENTRIES = 10_000
_NUMERIC = frozenset((Traced, int, float))
"""What stands beside a value in most operations."""


class Expressions(Attributes):
    """Evaluates expressions."""

    state: Any

    def evaluate(self, node: ast.expr) -> Any:
        self.report.step()
        method = _METHODS.get(type(node))
        value = UNKNOWN if method is None else method(self, node)
        if isinstance(value, Value):
            self.shown(node, value)
        return value

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        return self.lookup(node.id)

    def _binary(self, node: ast.BinOp) -> Any:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        return self.binary(BINARY[type(node.op)], left, right, node)

    def binary(self, function: Callable[..., Any], left: Any, right: Any, node: ast.AST) -> Any:
        """`a + b`: of lists and tuples, of types (`A | B`), or of numbers and arrays."""
        if (
            type(left) is Traced
            and type(right) in _NUMERIC
            and left.size is None
            and getattr(right, "size", None) is None
        ):
            return self.operate(function, [left, right], {}, node)
        if function is operator.or_ and is_type(left) and isinstance(node, ast.BinOp):
            return Alias(node, self.frame)
        if any(isinstance(one, Ref) for one in (left, right)):
            found = self._by_class(function, left, right, node)
            found = self._lists(function, left, right) if found is MISSING else found
            if found is not None:
                return found
        if type(left) is tuple and type(right) is tuple and function is operator.add:
            return left + right
        if isinstance(left, str):  # a text
            return self._text(function, left, right)
        if not all(map(is_operand, (left, right))):
            return UNKNOWN
        return self._of_numbers(function, left, right, node)

    def _of_numbers(self, function: Callable[..., Any], left: Any, right: Any, node: ast.AST) -> Any:
        found = self.operate(function, [left, right], {}, node)
        if isinstance(found, Traced) and (getattr(left, "size", None) or getattr(right, "size", None)) is not None:
            found.size = self._size_of(function, left, right)
        return found

    def _by_class(self, function: Callable[..., Any], left: Any, right: Any, node: ast.AST) -> Any:
        """`a @ b` of objects of the user's classes: by the method of the left one, or of the right one."""
        name = function.__name__.strip("_")
        found = self.special(f"__{name}__", [left, right], node)
        return self.special(f"__r{name}__", [right, left], node) if found is MISSING else found

    def _size_of(self, function: Callable[..., Any], left: Any, right: Any) -> Any:
        """`2 * hidden`, of a hyperparameter."""
        sizes = [one.size if isinstance(one, Traced) else one for one in (left, right)]
        if not all(type(one) is int or isinstance(one, Size) for one in sizes):
            return None
        found = evaluation.call(function, sizes, {}).value
        return found if isinstance(found, Size) else None

    def _text(self, function: Callable[..., Any], left: str, right: Any) -> Any:
        both = isinstance(right, str) and function is operator.add
        return left + right if both and len(left) + len(right) < _MOST_ENTRIES else UNKNOWN

    def _lists(self, function: Callable[..., Any], left: Any, right: Any) -> Any:
        """`[a] + [b]`, `[a] * 3`; `None` where an array is the other operand."""
        if isinstance(left, Value) or isinstance(right, Value):
            return None
        inner = [self.state.contents(one) if isinstance(one, Ref) else one for one in (left, right)]
        if function is operator.add and all(type(one) is tuple for one in inner):
            return self.state.made(list, inner[0] + inner[1])
        if function is operator.mul:
            whole, times = inner if isinstance(left, Ref) else reversed(inner)
            if type(whole) is tuple and type(times) is int and 0 <= times * len(whole) <= _MOST_ENTRIES:
                return self.state.made(list, whole * times)
            if type(whole) is tuple and whole:
                count = times * len(whole) if isinstance(times, (int, Size)) else None
                return self.state.made(list, Every(self.entry_of(whole), count))
        return UNKNOWN

    def _unary(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            value = self.asked(node.operand)
            truth = self.truth(value)
            return traced(python_value(bool)) if truth is None else not truth
        value = self.evaluate(node.operand)
        return self.operate(_UNARY[type(node.op)], [value], {}, node) if is_operand(value) else UNKNOWN

    def _compare(self, node: ast.Compare) -> Any:
        left = self.evaluate(node.left)
        result: Any = True
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(other)
            result = self._comparison(op, left, right, node)
            if other is not node.comparators[-1]:  # `a < b < c` asks whether `a < b`
                self.refused(operator.truth, [result], {}, node)
            if len(node.ops) > 1 and self.truth(result) is not True:
                rest = [self.evaluate(one) for one in node.comparators]
                self.state = unsettled(self.state, names_within([left, *rest]))
                return result if result is False else UNKNOWN if any(map(_may_be_array, rest)) else python_bool()
            left = right
        return result

    def _comparison(self, op: ast.cmpop, left: Any, right: Any, node: ast.AST) -> Any:
        if isinstance(op, (ast.Is, ast.IsNot)):
            same = self._is(left, right)
            return python_bool() if same is None else same is isinstance(op, ast.Is)
        if isinstance(op, (ast.In, ast.NotIn)):
            return self._contains(left, right, isinstance(op, ast.In))
        if not all(map(is_operand, (left, right))):
            return python_bool()
        return self.operate(_COMPARE[type(op)], [left, right], {}, node)

    def _is(self, left: Any, right: Any) -> bool | None:
        for one, other in ((left, right), (right, left)):
            if one is None or one is Ellipsis:
                return None if other is UNKNOWN or isinstance(other, Foreign) else other is one
        if isinstance(left, type) and isinstance(right, type):
            return left is right
        if type(left) is type(right) and type(left) in (bool, int, str):  # a member of an enumeration is one of these
            return bool(left == right)
        return None

    def _contains(self, left: Any, right: Any, positive: bool) -> Any:
        whole = self.plain(right)
        entries = [left, *whole] if type(whole) in (tuple, list, str, dict) else [UNKNOWN]
        if any(not is_constant(one) or isinstance(one, Size) for one in entries):
            self.state = unsettled(self.state, names_within(entries))
            return python_bool()
        try:
            return (left in whole) is positive
        except TypeError:  # a number in a text
            return python_bool()

    def _both(self, node: ast.BoolOp) -> Any:
        """`a and b`, `a or b`: the second is met only where the first did not decide."""
        value = self.evaluate(node.values[0])
        for before, one in zip(node.values, node.values[1:], strict=False):
            truth = self.truth(value)
            stops = isinstance(node.op, ast.Or)
            if truth is stops:
                self.report.never(one)
                return value
            if truth is not None:
                value = self.evaluate(one)
                continue
            holds, fails = self.condition(before)
            entered = fails if stops else holds
            if entered is None:
                self.report.never(one)
                return value
            kept, self.state = self.state, entered
            with self.report.doubt():
                second = self.evaluate(one)
            value = joined(value, second, kept, self.state)
            self.state = joined_states([kept, self.state]) or kept
        return value

    def _choice(self, node: ast.IfExp) -> Any:
        holds, fails = self.condition(node.test)
        found: list[tuple[State, Any]] = []
        for state, branch in ((holds, node.body), (fails, node.orelse)):
            if state is not None:
                self.state = state
                with self.report.doubt():
                    value = self.evaluate(branch)
                found.append((self.state, value))
            else:
                self.report.never(branch)
        return self._merged(found)

    def _merged(self, found: list[tuple[State, Any]]) -> Any:
        if not found:
            return UNKNOWN
        state, value = found[0]
        for other, more in found[1:]:
            value = joined(value, more, state, other)
        self.state = joined_states([one for one, _ in found]) or self.state
        return value

    def _walrus(self, node: ast.NamedExpr) -> Any:
        value = self.evaluate(node.value)
        self.assign(node.target, value)
        return value

    # ------------------------------------------------------------------ functions, and what is waited for
    def _lambda(self, node: ast.Lambda) -> Any:
        return Function(node, self.frame, self.frame.module, self.defaults(node.args))

    def defaults(self, arguments: ast.arguments) -> dict[str, Any]:
        """The default values of parameters, by name."""
        return {name: self.evaluate(one) for name, one in written_defaults(arguments)}

    def _starred(self, node: ast.Starred) -> Any:
        return self.evaluate(node.value)

    def _call(self, node: ast.Call) -> Any:
        raise NotImplementedError

    def _waiting(self, node: ast.Await | ast.Yield | ast.YieldFrom) -> Any:
        if node.value is not None:
            self.evaluate(node.value)
        return UNKNOWN


def python_bool() -> Value:
    return traced(python_value(bool))


def _may_be_array(value: Any) -> bool:
    return value is UNKNOWN or (isinstance(value, Value) and isinstance(value.spec, Spec) and value.spec.shape != ())


_METHODS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compare,
    ast.BoolOp: Expressions._both,
    ast.IfExp: Expressions._choice,
    ast.NamedExpr: Expressions._walrus,
    ast.Tuple: Expressions._tuple,
    ast.List: Expressions._list,
    ast.Set: Expressions._set,
    ast.Dict: Expressions._dict,
    ast.JoinedStr: Expressions._text_of,
    ast.Slice: Expressions._slice,
    ast.Lambda: Expressions._lambda,
    ast.ListComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.DictComp: Expressions._dict_comprehension,
    ast.Attribute: Expressions._attribute,
    ast.Subscript: Expressions._subscript,
    ast.Starred: Expressions._starred,
    ast.Call: lambda self, node: self._call(node),
    ast.Await: Expressions._waiting,
    ast.Yield: Expressions._waiting,
    ast.YieldFrom: Expressions._waiting,
}
