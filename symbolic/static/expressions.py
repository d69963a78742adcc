"""What is the value of an expression? Constants are followed, arrays are known by shape and dtype."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from symbolic.polynomial import Size
from symbolic.spec import Spec
from symbolic.static import evaluation, modules
from symbolic.static.abstract import UNKNOWN, Value, is_constant
from symbolic.static.conditions import Conditions
from symbolic.static.facts import joined_states
from symbolic.static.holding import MISSING, Every, Ref, State, Traced, joined, traced
from symbolic.static.operations import Meeting
from symbolic.static.python import python_value
from symbolic.static.scopes import attribute_of_class
from symbolic.static.things import Alias, Bound, Class, Foreign, Frame, Function, UserModule

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


class Expressions(Conditions):
    """Evaluates expressions."""

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
        if function is operator.or_ and _is_type(left) and isinstance(node, ast.BinOp):
            return Alias(node, self.frame)
        if any(isinstance(one, Ref) for one in (left, right)):
            found = self._lists(function, left, right)
            if found is not None:
                return found
        if type(left) is tuple and type(right) is tuple and function is operator.add:
            return left + right
        if isinstance(left, str):  # a text
            return self._text(function, left, right)
        if not all(map(_is_operand, (left, right))):
            return UNKNOWN
        found = self.operate(function, [left, right], {}, node)
        if isinstance(found, Traced) and (getattr(left, "size", None) or getattr(right, "size", None)) is not None:
            found.size = self._size_of(function, left, right)
        return found

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
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            truth = self.truth(value)
            return traced(python_value(bool)) if truth is None else not truth
        return self.operate(_UNARY[type(node.op)], [value], {}, node) if _is_operand(value) else UNKNOWN

    def _compare(self, node: ast.Compare) -> Any:
        left = self.evaluate(node.left)
        result: Any = True
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(other)
            result = self._comparison(op, left, right, node)
            if len(node.ops) > 1 and self.truth(result) is not True:
                rest = [self.evaluate(one) for one in node.comparators]
                return result if result is False else UNKNOWN if any(map(_may_be_array, rest)) else python_bool()
            left = right
        return result

    def _comparison(self, op: ast.cmpop, left: Any, right: Any, node: ast.AST) -> Any:
        if isinstance(op, (ast.Is, ast.IsNot)):
            same = self._is(left, right)
            return python_bool() if same is None else same is isinstance(op, ast.Is)
        if isinstance(op, (ast.In, ast.NotIn)):
            return self._contains(left, right, isinstance(op, ast.In))
        if not all(map(_is_operand, (left, right))):
            return python_bool()
        return self.operate(_COMPARE[type(op)], [left, right], {}, node)

    def _is(self, left: Any, right: Any) -> bool | None:
        for one, other in ((left, right), (right, left)):
            if one is None or one is Ellipsis:
                return None if other is UNKNOWN or isinstance(other, Foreign) else other is one
        if isinstance(left, type) and isinstance(right, type):
            return left is right
        return None

    def _contains(self, left: Any, right: Any, positive: bool) -> Any:
        whole = self.plain(right)
        if is_constant(left) and not isinstance(left, Size) and type(whole) in (tuple, list, str, dict):
            if all(is_constant(one) and not isinstance(one, Size) for one in whole):
                try:
                    return (left in whole) is positive
                except TypeError:
                    return python_bool()
        return python_bool()

    def _both(self, node: ast.BoolOp) -> Any:
        """`a and b`, `a or b`: the second is met only where the first did not decide."""
        value = self.evaluate(node.values[0])
        for before, one in zip(node.values, node.values[1:], strict=False):
            truth = self.truth(value)
            stops = isinstance(node.op, ast.Or)
            if truth is stops:
                return value
            if truth is not None:
                value = self.evaluate(one)
                continue
            holds, fails = self.condition(before)
            entered = fails if stops else holds
            if entered is None:
                return value
            kept, self.state = self.state, entered
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
                value = self.evaluate(branch)
                found.append((self.state, value))
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

    # ------------------------------------------------------------------ structures
    def items(self, nodes: list[ast.expr]) -> Any:
        """The entries of a display, `[a, *b]`; `Every` or UNKNOWN where their number is not known."""
        found: list[Any] = []
        for one in nodes:
            if not isinstance(one, ast.Starred):
                found.append(self.evaluate(one))
                continue
            inner = self.entries(self.evaluate(one.value), one)
            if type(inner) is tuple:
                found += inner
            else:
                rest = [self.evaluate(other) for other in nodes if not isinstance(other, ast.Starred)]
                return Every(self.entry_of((inner.entry, *rest))) if isinstance(inner, Every) else UNKNOWN
        return tuple(found) if len(found) <= _MOST_ENTRIES else UNKNOWN

    def _tuple(self, node: ast.Tuple) -> Any:
        return self.items(node.elts)

    def _list(self, node: ast.List) -> Any:
        return self.state.made(list, self.items(node.elts))

    def _set(self, node: ast.Set) -> Any:
        for one in node.elts:
            self.evaluate(one)
        return UNKNOWN

    def _dict(self, node: ast.Dict) -> Any:
        found: Any = {}
        for key, value in zip(node.keys, node.values, strict=True):
            name = None if key is None else self.evaluate(key)
            held = self.evaluate(value)
            if key is None:
                inner = self.state.contents(held) if isinstance(held, Ref) and held.kind is dict else UNKNOWN
                found = {**found, **inner} if type(inner) is dict and found is not UNKNOWN else UNKNOWN
            elif found is not UNKNOWN and isinstance(name, (str, int, float, bool, type(None))):
                found[name] = held
            else:
                found = UNKNOWN
        return self.state.made(dict, found)

    def _text_of(self, node: ast.JoinedStr) -> Any:
        for one in node.values:
            if isinstance(one, ast.FormattedValue):
                self.evaluate(one.value)
        return UNKNOWN

    def _slice(self, node: ast.Slice) -> Any:
        return slice(*[None if one is None else self.evaluate(one) for one in (node.lower, node.upper, node.step)])

    def _lambda(self, node: ast.Lambda) -> Any:
        return Function(node, self.frame, self.frame.module, self.defaults(node.args))

    def defaults(self, arguments: ast.arguments) -> dict[str, Any]:
        """The default values of parameters, by name."""
        named = [*arguments.posonlyargs, *arguments.args]
        pairs = list(zip(reversed(named), reversed(arguments.defaults), strict=False))
        pairs += [(arg, one) for arg, one in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if one]
        return {arg.arg: self.evaluate(one) for arg, one in pairs}

    # ------------------------------------------------------------------ comprehensions
    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Any:
        with self.within(Frame(node, self.frame, self.frame.module)):
            found = self._gathered(node.generators, lambda: self.evaluate(node.elt))
        if isinstance(node, ast.SetComp):
            return UNKNOWN
        return self.state.made(list, found) if isinstance(node, ast.ListComp) else found

    def _dict_comprehension(self, node: ast.DictComp) -> Any:
        with self.within(Frame(node, self.frame, self.frame.module)):
            found = self._gathered(node.generators, lambda: (self.evaluate(node.key), self.evaluate(node.value)))
        if type(found) is not tuple or not all(isinstance(key, (str, int)) for key, _ in found):
            return self.state.made(dict, UNKNOWN)
        return self.state.made(dict, dict(found))

    def _gathered(self, generators: list[ast.comprehension], entry: Callable[[], Any]) -> Any:
        """The entries that a comprehension makes."""
        if not generators:
            return (entry(),)
        first, rest = generators[0], generators[1:]
        source = self.entries(self.evaluate(first.iter), first.iter)
        if source is UNKNOWN:
            source = Every(UNKNOWN)
        if type(source) is tuple and len(source) > 64:
            source = Every(self.entry_of(source), len(source))
        if isinstance(source, Every):
            self.assign(first.target, source.entry)
            passing = self._passing(first.ifs)
            inner = self._gathered(rest, entry) if passing is not False else ()
            exact = passing is True and type(inner) is tuple and source.count is not None
            return Every(self.entry_of(inner), source.count * len(inner) if exact else None)
        return self._one_by_one(source, first, rest, entry)

    def _one_by_one(
        self, source: tuple[Any, ...], first: ast.comprehension, rest: list[ast.comprehension], entry: Callable[[], Any]
    ) -> Any:
        found: list[Any] = []
        exact = True
        for one in source:
            self.assign(first.target, one)
            passing = self._passing(first.ifs)
            if passing is False:
                continue
            inner = self._gathered(rest, entry)
            exact = exact and passing is True and type(inner) is tuple
            found += inner if type(inner) is tuple else [self.entry_of(inner)]
        return tuple(found) if exact else Every(self.entry_of(tuple(found)))

    def _passing(self, tests: list[ast.expr]) -> bool | None:
        found: bool | None = True
        for test in tests:
            truth = self.truth(self.evaluate(test))
            if truth is False:
                return False
            found = found if truth else None
        return found

    # ------------------------------------------------------------------ attributes and entries
    def _attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.evaluate(node.value), node.attr, node)

    def attribute(self, home: Any, name: str, node: ast.AST) -> Any:
        """`home.name`."""
        if isinstance(home, Value):
            answer = self._of_array(home, name, node)
            return Bound(name, home) if answer is UNKNOWN and not isinstance(node.__dict__.get("ctx"), ast.Store) else answer
        if isinstance(home, Foreign):
            return self.user(f"{home.name}.{name}") or modules.attribute(home, name)
        if isinstance(home, UserModule):
            return home.names.get(name, self.user(f"{home.name}.{name}") or UNKNOWN)
        if isinstance(home, Ref):
            return self._of_object(home, name)
        if isinstance(home, Class):
            found = attribute_of_class(home, name)
            is_class = isinstance(found, Function) and found.kind == "classmethod"
            return Bound(found, home) if is_class else found
        if isinstance(home, (ModuleType, type, np.finfo, np.iinfo, np.dtype, np.ufunc)):
            return modules.attribute(home, name)
        if isinstance(home, (tuple, list, str, dict)):
            is_field = hasattr(home, "_fields") and name in home._fields
            return getattr(home, name) if is_field and not isinstance(home, (Every, Bound)) else Bound(name, home)
        if home is not UNKNOWN and name in ("__name__", "__doc__"):
            return UNKNOWN
        return Bound(name, home) if not callable(home) and home is not UNKNOWN else self._of_function(home, name)

    def _of_function(self, home: Any, name: str) -> Any:
        return Bound(name, home) if isinstance(home, (Function, *(type(np.sum), type(len)))) else UNKNOWN

    def _of_array(self, home: Value, name: str, node: ast.AST) -> Any:
        answer = evaluation.attribute(name, home)
        met = Meeting(name, [home], {}, [home], node)
        if answer.finding is not None and (answer.finding.kind != "symbolic" or getattr(home, "is_layer", False)):
            self._said(met, answer.finding)
            return None
        value = self._result(met, answer.value)
        if isinstance(value, Value):
            self._noted(value, [home], False, node)
            if not self.report.muted and not self.report.outside:
                self._linted(met, answer)
        return value

    def _of_object(self, home: Ref, name: str) -> Any:
        inner = self.state.contents(home)
        if not isinstance(home.kind, Class):
            return Bound(name, home)
        if type(inner) is dict and name in inner:
            return inner[name]
        found = home.kind.find(name)
        if not isinstance(found, Function):
            return UNKNOWN if found is None else found
        if found.kind == "property":
            return self.invoke(found, [home], {}, found.node)
        return found if found.kind == "staticmethod" else Bound(found, home.kind if found.kind == "classmethod" else home)

    def _subscript(self, node: ast.Subscript) -> Any:
        home = self.evaluate(node.value)
        if _is_type(home):
            return Alias(node, self.frame)
        index = self.evaluate(node.slice)
        return self.entry(home, index, node)

    def entry(self, home: Any, index: Any, node: ast.AST) -> Any:
        """`home[index]`."""
        if isinstance(home, Ref):
            return self._of_container(home, index)
        if isinstance(home, Every):
            return home.entry if isinstance(index, (int, Size)) or _is_scalar(index) else UNKNOWN
        if isinstance(home, (range, list)):
            home = tuple(home) if len(home) <= _MOST_ENTRIES else UNKNOWN
        if isinstance(home, tuple) and not isinstance(home, Value) and _is_scalar(index):
            return self.entry_of(tuple(home))
        if home is UNKNOWN or not _is_operand(home):
            return UNKNOWN
        return self.operate(operator.getitem, [home, index], {}, node)

    def _of_container(self, home: Ref, index: Any) -> Any:
        inner = self.state.contents(home)
        if home.kind is dict:
            known = type(inner) is dict and isinstance(index, (str, int, float, bool, type(None)))
            return inner.get(index, UNKNOWN) if known else UNKNOWN
        if home.kind is not list:
            return UNKNOWN
        if isinstance(index, slice):
            found = evaluation.call(operator.getitem, [inner, index], {}).value if type(inner) is tuple else MISSING
            if type(found) is tuple:
                return self.state.made(list, found)
            return self.state.made(list, Every(self.entry_of(inner))) if type(inner) in (tuple, Every) else UNKNOWN
        if type(inner) is tuple and type(index) is int:
            return inner[index] if -len(inner) <= index < len(inner) else UNKNOWN
        return self.entry_of(inner)

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


def _is_scalar(value: Any) -> bool:
    """Whether a value is a whole number that is not known."""
    whole = isinstance(value, Value) and isinstance(value.spec, Spec) and value.spec.shape == ()
    return whole or isinstance(value, Size)


def _is_operand(value: Any) -> bool:
    """Whether the core knows what an operator means for a value."""
    if isinstance(value, (Value, Ref, Every, slice)) or value is UNKNOWN:
        return not isinstance(value, Ref) or value.kind is list
    return is_constant(value) and not (isinstance(value, type)) or type(value) in (tuple, list)


def _is_type(value: Any) -> bool:
    """Whether an expression with it is a type: `Annotated[…]`, `np.ndarray | None`."""
    if isinstance(value, Foreign):
        return value.name.partition(".")[0] in ("typing", "jaxtyping") or value.name.endswith("NDArray")
    return isinstance(value, (Alias, Class)) or isinstance(value, type)


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
