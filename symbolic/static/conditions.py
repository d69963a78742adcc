"""Which way does a test go, and what is true behind it? A size that the program itself compares is no longer rigid."""

from __future__ import annotations

import ast
import operator
from typing import Any

from symbolic.static.abstract import Value
from symbolic.static.comparing import names_within
from symbolic.static.facts import equations, joined_states, learned, unsettled, unsettled_in, with_unsettled
from symbolic.static.holding import Every, Ref, State
from symbolic.static.operations import Operations
from symbolic.static.things import Class, Function


class Conditions(Operations):
    """Takes tests apart."""

    state: State

    def truth(self, value: Any) -> bool | None:
        """Whether a value counts as true; `None` where that is not known."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            return bool(value)
        if isinstance(value, Ref):
            inner = self.state.contents(value)
            return bool(inner) if type(inner) in (tuple, dict) and value.kind in (list, dict) else None
        if isinstance(value, (tuple, list)) and not isinstance(value, (Value, Every)):
            return bool(len(value)) if type(value) in (tuple, list) else None
        return True if isinstance(value, (Function, Class, type)) else None

    def asked(self, test: ast.expr) -> Any:
        """The value of a test, or of a part of one, of which Python asks the truth."""
        value = self.evaluate(test)
        self.refused(operator.truth, [value], {}, test)
        return value

    def condition(self, test: ast.expr) -> tuple[State | None, State | None]:
        """The states in which a test holds, and in which it does not; `None` for one that cannot be."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            holds, fails = self.condition(test.operand)
            return fails, holds
        if isinstance(test, ast.BoolOp):
            return self._several(test)
        if isinstance(test, ast.Compare) and len(test.ops) > 1:
            return self._several(_in_pairs(test))
        before = unsettled_in(self.state)
        value = self.asked(test)
        truth = self.truth(value)
        if truth is not None:
            return (self.state, None) if truth else (None, self.state)
        self.state = unsettled(self.state, names_within(value))  # `if len(x) - len(y):`
        other = self.state.copy()
        return self._behind(test, True, before), self._refined(test, other, before)

    def _several(self, test: ast.BoolOp) -> tuple[State | None, State | None]:
        """`a and b` holds where both do, in a row; it fails where one does."""
        is_and = isinstance(test.op, ast.And)
        ways: list[State] = []
        state: State | None = self.state
        for one in test.values:
            assert state is not None
            self.state = state
            with self.report.doubt():
                holds, fails = self.condition(one)
            state, left = (holds, fails) if is_and else (fails, holds)
            if left is not None:
                ways.append(left)
            if state is None:
                break
        out = joined_states(ways, forgetting=False)
        return (state, out) if is_and else (out, state)

    def _refined(self, test: ast.expr, state: State, before: frozenset[str]) -> State:
        self.state, kept = state, self.state
        found = self._behind(test, False, before)
        self.state = kept
        return found

    def _behind(self, test: ast.expr, truth: bool, before: frozenset[str]) -> State:
        """The state behind a comparison of sizes: what is equal there is one size from then on.

        Where that cannot be said, nothing is certain of the names that are compared, unless none can be equal there.
        """
        if not isinstance(test, ast.Compare):
            return self.state
        with self.report.mute():
            sides = self.evaluate(test.left), self.evaluate(test.comparators[0])
        way = type(test.ops[0])
        if not truth:
            way = _OPPOSITE[way]
        if way is ast.Eq and (facts := dict(equations(*sides))):
            return learned(with_unsettled(self.state, before), facts)
        return self.state if _may_be_equal(way, *sides) else with_unsettled(self.state, before)


def _in_pairs(test: ast.Compare) -> ast.BoolOp:
    """`a == b == c` as `a == b and b == c`."""
    sides = [test.left, *test.comparators]
    pairs = [
        ast.copy_location(ast.Compare(one, [op], [other]), test)
        for one, op, other in zip(sides, test.ops, sides[1:], strict=False)
    ]
    return ast.copy_location(ast.BoolOp(ast.And(), list(pairs)), test)


def _may_be_equal(way: type[ast.cmpop], left: Any, right: Any) -> bool:
    """Whether a size may be one certain number, or another size, where it compares so."""
    if way in (ast.Lt, ast.LtE, ast.Gt, ast.GtE) and (type(left) is int or type(right) is int):
        return (way in (ast.Lt, ast.LtE)) is (type(right) is int)  # `len(x) <= 1`, but not `len(x) > 1`
    return way not in (ast.NotEq, ast.Lt, ast.Gt, ast.NotIn, ast.IsNot)


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.Is: ast.IsNot,
}
_OPPOSITE.update({other: one for one, other in _OPPOSITE.items()})
