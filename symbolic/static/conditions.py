"""Which way does a test go, and what is true behind it? A size that the program itself compares is no longer rigid."""

from __future__ import annotations

import ast
from typing import Any

from symbolic.static.abstract import Value
from symbolic.static.facts import equations, joined_states, learned
from symbolic.static.holding import Every, Ref, State
from symbolic.static.operations import Operations
from symbolic.static.things import Class, Function


class Conditions(Operations):
    """Takes tests apart."""

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

    def condition(self, test: ast.expr) -> tuple[State | None, State | None]:
        """The states in which a test holds, and in which it does not; `None` for one that cannot be."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            holds, fails = self.condition(test.operand)
            return fails, holds
        if isinstance(test, ast.BoolOp):
            return self._several(test)
        truth = self.truth(self.evaluate(test))
        if truth is not None:
            return (self.state, None) if truth else (None, self.state)
        other = self.state.copy()
        return self._behind(test, True), self._refined(test, other)

    def _several(self, test: ast.BoolOp) -> tuple[State | None, State | None]:
        """`a and b` holds where both do, in a row; it fails where one does."""
        is_and = isinstance(test.op, ast.And)
        ways: list[State] = []
        state: State | None = self.state
        for one in test.values:
            assert state is not None
            self.state = state
            holds, fails = self.condition(one)
            state, left = (holds, fails) if is_and else (fails, holds)
            if left is not None:
                ways.append(left)
            if state is None:
                break
        out = joined_states(ways)
        return (state, out) if is_and else (out, state)

    def _refined(self, test: ast.expr, state: State) -> State:
        self.state, kept = state, self.state
        found = self._behind(test, False)
        self.state = kept
        return found

    def _behind(self, test: ast.expr, truth: bool) -> State:
        """The state behind a comparison of sizes: what is equal there is one size from then on."""
        if not isinstance(test, ast.Compare) or len(test.ops) != 1:
            return self.state
        wanted = ast.Eq if truth else ast.NotEq
        if not isinstance(test.ops[0], wanted):
            return self.state
        with self.report.mute():
            sides = self.evaluate(test.left), self.evaluate(test.comparators[0])
        facts = dict(equations(*sides))
        return learned(self.state, facts) if facts else self.state
