"""What does a name stand for just now, and where is what a body binds kept?"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from symbolic.static.abstract import UNKNOWN
from symbolic.static.findings import Report
from symbolic.static.holding import MISSING, State
from symbolic.static.things import Class, Foreign, Frame, Function, scope_of


class Scopes:
    """The state of one interpretation: what is held, in which frame, and what is said of it."""

    report: Report
    state: State
    frame: Any
    user: Any
    path: str
    outermost: Any

    def __init__(self, report: Report, state: State, frame: Frame, user: Callable[[str], Any], path: str) -> None:
        self.report, self.state, self.frame, self.user, self.path = report, state, frame, user, path
        self.outermost = frame  # that of the function whose body is checked
        self.free: frozenset[str] = frozenset()  # hyperparameters that are sizes: a caller chooses what fits
        self.returns: Any = None  # the spec that is declared to be returned
        self.running: list[ast.AST] = []  # the functions whose bodies are being followed
        self.loops: list[tuple[list[State], list[State]]] = []  # the states at `break` and at `continue`
        self.failed: list[State] = []  # the states where an operation fails that a handler around waits for
        self.nested: list[Function] = []  # functions with symbolic inputs that were met, which are checked on their own

    # ------------------------------------------------------------------ names
    def lookup(self, name: str) -> Any:
        frame: Frame | None = self.frame
        first = frame
        while frame is not None:
            if not isinstance(frame.node, ast.ClassDef) or frame is first:
                found = self._own(frame, name)
                if found is not MISSING:
                    return found
            frame = frame.outer
        found = getattr(builtins, name, MISSING)
        return UNKNOWN if found is MISSING else found

    def _own(self, frame: Frame, name: str) -> Any:
        found = self.state.get((frame, name))
        scope = scope_of(frame.node)
        if name in scope.shared:
            return UNKNOWN  # a function within may change it at any time
        if found is not MISSING:
            return found
        local = name in scope.bound and not isinstance(frame.node, (ast.Module, ast.ClassDef))
        return UNKNOWN if local else MISSING

    def bind(self, name: str, value: Any) -> None:
        scope = scope_of(self.frame.node)
        if name not in scope.outer:
            self.state.set((self.frame, name), value)

    @contextmanager
    def within(self, frame: Frame) -> Iterator[Frame]:
        before, self.frame = self.frame, frame
        try:
            yield frame
        finally:
            self.frame = before

    def at(self, node: ast.expr, frame: Frame) -> Any:
        """What an expression means in another frame, as a hint or an alias does; nothing is reported."""
        before, self.frame = self.frame, frame
        self.report.muted += 1
        try:
            return self.evaluate(node)
        finally:
            self.frame = before
            self.report.muted -= 1

    # ------------------------------------------------------------------ what the floors above give
    def evaluate(self, node: ast.expr) -> Any:
        raise NotImplementedError

    def condition(self, test: ast.expr) -> tuple[Any, Any]:
        """The states in which a test holds, and in which it does not; `None` for one that cannot be."""
        raise NotImplementedError

    def invoke(self, callee: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Any) -> None:
        raise NotImplementedError


def attribute_of_class(owner: Class, name: str) -> Any:
    """What a class says of a name; `UNKNOWN` where a base class may say it."""
    found = owner.find(name)
    return UNKNOWN if found is None else found


def full_name(callee: Any) -> str:
    """The name of a function of a library, for those that are told by their names."""
    if isinstance(callee, Foreign):
        return callee.name
    return f"{getattr(callee, '__module__', '')}.{getattr(callee, '__qualname__', '')}"
