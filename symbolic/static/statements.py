"""What does a statement leave behind? Branches are joined, loops are gone through until nothing new is learnt."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from symbolic.spec import Spec
from symbolic.static import modules
from symbolic.static.abstract import UNKNOWN, Value
from symbolic.static.assigning import Assigning
from symbolic.static.comparing import names_within
from symbolic.static.definitions import Definitions
from symbolic.static.expressions import BINARY
from symbolic.static.facts import joined_states, unsettled
from symbolic.static.findings import span
from symbolic.static.handlers import EVERYTHING, Caught, Failed, caught, expecting
from symbolic.static.holding import Every, Ref, State, unchanged, widened

_UNROLLED = 16
"""Rounds of a loop that are gone through one by one."""
_ROUNDS = 5
"""Rounds after which what still changes is unknown."""
_IN_PLACE: dict[Any, Any] = {
    function: getattr(operator, name)
    for function in BINARY.values()
    for name in [f"i{function.__name__.strip('_')}"]
    if hasattr(operator, name)
}


class Statements(Definitions, Assigning):
    """Goes through statements; each says whether what follows is reached."""

    state: Any

    def block(self, body: list[ast.stmt]) -> bool:
        return all(self._statement(one) for one in body)  # all stops at the first that does not fall through

    def _statement(self, node: ast.stmt) -> bool:
        self.report.step()
        self.report.reached.add(node)
        method = _STATEMENTS.get(type(node))
        if method is None:
            return True
        try:
            result = method(self, node)
        except Failed:  # on to the handler, from here
            self.failed.append(self.state)
            self.state = self.state.copy()
            return False
        return result is not False

    # ------------------------------------------------------------------ simple statements
    def _expression(self, node: ast.Expr) -> None:
        self.evaluate(node.value)

    def _assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        for target in node.targets:
            self.assign(target, value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        value = UNKNOWN if node.value is None else self.evaluate(node.value)
        value = self.declared_local(node, value)
        if node.value is not None or isinstance(node.target, ast.Name):
            self.assign(node.target, value)

    def _augmented(self, node: ast.AugAssign) -> None:
        """`x += y`: an array keeps its dtype, a list grows, a number is another one."""
        target: Any = ast.copy_location(_loaded(node.target), node.target)
        hovers, where = self.report.hovers, span(node.target)
        shown = hovers.get(where)
        before, value = self.evaluate(target), self.evaluate(node.value)
        hovers.update({where: shown} if shown is not None else {})  # the target shows what it is afterwards
        if shown is None:
            hovers.pop(where, None)
        function = BINARY[type(node.op)]
        if isinstance(before, Value) and isinstance(before.spec, Spec) and before.spec.python is None:
            after = self.operate(_IN_PLACE.get(function, function), [before, value], {}, node)
        elif isinstance(before, Ref) and before.kind is list and function is operator.add:
            self.method_of(before, "extend", [value], {}, node)
            return
        else:
            after = self.binary(function, before, value, node)
        self.assign(node.target, after)

    def _return(self, node: ast.Return) -> bool:
        value = None if node.value is None else self.evaluate(node.value)
        if self.frame.hints is not None:
            self._held(node, value)
        self.frame.returns.append((self.state, value))
        self.state = self.state.copy()
        return False

    def _held(self, node: ast.Return, value: Any) -> None:
        """A returned value against the declared result, where it is returned."""
        hint = self.frame.hints.result.of_value
        if hint is None or self.report.calls or (value is None and self.frame.hints.result.hint is None):
            return
        self.held(hint, value, node if node.value is None else node.value, "the returned value")

    def _raise(self, node: ast.Raise) -> bool:
        if node.exc is not None:
            self.evaluate(node.exc)
        return False

    def _assert(self, node: ast.Assert) -> bool:
        holds, _ = self.condition(node.test)
        if holds is None:
            return False
        self.state = holds
        return True

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.bind(target.id, UNKNOWN)
            elif isinstance(target, (ast.Subscript, ast.Attribute)):
                self.state.lose(self.evaluate(target.value))

    def _import(self, node: ast.Import) -> None:
        for name, value in modules.imported(node, self.user):
            self.bind(name, value)

    def _import_from(self, node: ast.ImportFrom) -> None:
        for name, value in modules.imported_from(node, self.path_of(self.frame), self.user):
            self.bind(name, value)

    def path_of(self, frame: Any) -> str:
        return str(frame.module)

    def _break(self, node: ast.Break) -> bool:
        if self.loops:
            self.loops[-1][0].append(self.state)
            self.state = self.state.copy()
        return False

    def _continue(self, node: ast.Continue) -> bool:
        if self.loops:
            self.loops[-1][1].append(self.state)
            self.state = self.state.copy()
        return False

    # ------------------------------------------------------------------ branches
    def _if(self, node: ast.If) -> bool:
        holds, fails = self.condition(node.test)
        ends = []
        for state, body in ((holds, node.body), (fails, node.orelse)):
            if state is not None:
                self.state = state
                if self.block(body):
                    ends.append(self.state)
        return self.goes_on(ends)

    def goes_on(self, ends: list[State]) -> bool:
        """Goes on from any of these states; not at all if there is none."""
        found = joined_states(ends)
        if found is not None:
            self.state = found
        return found is not None

    def _try(self, node: Any) -> bool:
        """What is handled may go wrong on purpose."""
        before, ends = self.state.copy(), []
        classes = [one for handler in node.handlers for one in self._caught_by(handler)]
        reached, handled = self._watched(node.body, tuple(classes))
        if reached and self.block(node.orelse):
            ends.append(self.state)
        for handler in node.handlers:
            entered = joined_states([before.copy(), *[one.copy() for one in handled]])
            assert entered is not None
            self.state = entered
            if handler.name:
                self.bind(handler.name, UNKNOWN)
            if self.block(handler.body):
                ends.append(self.state)
        goes_on = self.goes_on(ends)
        return self.block(node.finalbody) and goes_on

    def _caught_by(self, handler: ast.ExceptHandler) -> Caught:
        return EVERYTHING if handler.type is None else tuple(caught(self.evaluate(handler.type)))

    def _watched(self, body: list[ast.stmt], classes: Caught) -> tuple[bool, list[State]]:
        """Goes through a body that may stop anywhere: the states behind its statements, and where it fails."""
        kept, self.failed, states = self.failed, [], []
        try:
            with self.report.handling(classes):
                for one in body:
                    reached = self._statement(one)
                    states.append(self.state.copy())
                    if not reached:
                        return False, [*states, *self.failed]
            return True, [*states, *self.failed]
        finally:
            self.failed = kept

    def _with(self, node: Any) -> bool:
        classes: Caught = ()
        for item in node.items:
            value = self.evaluate(item.context_expr)
            if name := expecting(item.context_expr):
                given = getattr(item.context_expr, "args", []) if name == "suppress" else []
                classes += tuple(caught([self.evaluate(one) for one in given])) if given else EVERYTHING
            if item.optional_vars is not None:
                self.assign(item.optional_vars, UNKNOWN if not isinstance(value, Ref) else value)
        if not classes:
            return self.block(node.body)
        before = self.state.copy()
        reached, handled = self._watched(node.body, classes)
        return self.goes_on([before, *handled, self.state] if reached else [before, *handled])

    def _match(self, node: ast.Match) -> bool:
        subject = self.evaluate(node.subject)
        left: State | None = self.state.copy()
        ends = []
        for case in node.cases:
            takes = self.takes(case.pattern, subject)
            if left is None or takes is False:
                continue
            self.state = left.copy() if takes else unsettled(left.copy(), names_within(subject))
            self.assign_pattern(case.pattern, subject)
            holds: State | None = self.state
            fails: State | None = None
            if case.guard is not None:
                with self.report.doubt():
                    holds, fails = self.condition(case.guard)
            if takes is True:
                left = fails
            if holds is None:
                continue
            self.state = holds
            if self.block(case.body):
                ends.append(self.state)
        return self.goes_on(ends if left is None else [left, *ends])

    # ------------------------------------------------------------------ loops
    def _for(self, node: Any) -> bool:
        source = self.entries(self.evaluate(node.iter), node.iter)
        if type(source) is tuple and len(source) <= _UNROLLED:
            return self._unrolled(node, source)
        if type(source) is tuple:
            source = Every(self.entry_of(source), len(source))
        entry = source.entry if isinstance(source, Every) else UNKNOWN
        never = isinstance(source, Every) and isinstance(source.count, int) and source.count > 0
        return self._repeated(node, lambda: self.assign(node.target, entry), None, at_least_once=never)

    def _unrolled(self, node: Any, source: tuple[Any, ...]) -> bool:
        breaks: list[State] = []
        reached = True
        for one in source:
            continues: list[State] = []
            self.loops.append((breaks, continues))
            try:
                self.assign(node.target, one)
                ends = [self.state] if self.block(node.body) else []
            finally:
                self.loops.pop()
            if not self.goes_on([*ends, *continues]):
                reached = False
                break
        ends = [self.state] if reached and self.block(node.orelse) else []
        return self.goes_on([*ends, *breaks])

    def _while(self, node: ast.While) -> bool:
        return self._repeated(node, lambda: None, node.test, at_least_once=False)

    def _repeated(self, node: Any, enter: Callable[[], None], test: ast.expr | None, at_least_once: bool) -> bool:
        """A loop of which nobody knows how often it runs, gone through until nothing new is learnt of it."""
        start = self.state
        breaks: list[State] = []
        ways: list[State] = []
        for number in range(_ROUNDS + 1):
            continues: list[State] = []
            breaks = []
            self.state = start.copy()
            holds, fails = (self.state, start) if test is None else self.condition(test)
            ways = [] if fails is None or (test is None and at_least_once) else [fails]
            if holds is None:
                break
            self.state = holds
            self.loops.append((breaks, continues))
            try:
                enter()
                ends = [self.state] if self.block(node.body) else []
            finally:
                self.loops.pop()
            behind = joined_states([*ends, *continues])
            if behind is None:
                break
            if test is None and at_least_once:
                ways = [behind]
            after = joined_states([start, behind])
            assert after is not None
            if unchanged(start, after):
                break
            start = after if number < _ROUNDS - 1 else widened(start, after)
        ends = []
        if self.goes_on(ways) and self.block(node.orelse):
            ends = [self.state]
        return self.goes_on([*ends, *breaks])


def _loaded(target: Any) -> ast.expr:
    """The target of `x += y` as it is read."""
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    if isinstance(target, ast.Attribute):
        return ast.Attribute(target.value, target.attr, ast.Load())
    return ast.Subscript(target.value, target.slice, ast.Load())


_STATEMENTS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Expr: Statements._expression,
    ast.Assign: Statements._assign,
    ast.AnnAssign: Statements._annotated,
    ast.AugAssign: Statements._augmented,
    ast.Return: Statements._return,
    ast.Raise: Statements._raise,
    ast.Assert: Statements._assert,
    ast.Delete: Statements._delete,
    ast.Import: Statements._import,
    ast.ImportFrom: Statements._import_from,
    ast.Break: Statements._break,
    ast.Continue: Statements._continue,
    ast.If: Statements._if,
    ast.Try: Statements._try,
    ast.With: Statements._with,
    ast.AsyncWith: Statements._with,
    ast.Match: Statements._match,
    ast.For: Statements._for,
    ast.AsyncFor: Statements._for,
    ast.While: Statements._while,
    ast.FunctionDef: Statements._function,
    ast.AsyncFunctionDef: Statements._function,
    ast.ClassDef: Statements._class,
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = Statements._try
if hasattr(ast, "TypeAlias"):
    _STATEMENTS[ast.TypeAlias] = Statements._alias
