"""What is wrong in a file, and what is known of its expressions? The bodies of its symbolic functions are followed.

Nothing of the user's is imported or run. What is not known is not reported.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any

from symbolic.polynomial import Rest, Size
from symbolic.spec import PYTHON_DTYPES, Spec, TupleSpec
from symbolic.static.abstract import UNKNOWN, Finding, Value
from symbolic.static.declared import spec_of_hint
from symbolic.static.findings import Checked, Located, OutOfSteps, Report
from symbolic.static.holding import FACTS, State, traced
from symbolic.static.python import python_value
from symbolic.static.signatures import Read, Signature
from symbolic.static.statements import Statements
from symbolic.static.things import Class, Frame, Function, UserModule, every_parameter

STEPS = 20_000
"""Expressions and statements that one function is worth."""
_STEPS_OF_MODULE = 200_000
_FAULTS = (OutOfSteps, RecursionError)

Source = Callable[[str], str | None]


def _none(name: str) -> str | None:
    return None


def check(source: str, path: str = "<string>", *, read: Source = _none) -> Checked:
    """What there is to say of a file. `read` gives the source of another module of the user's, by its full name."""
    report = Report(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Checked([_unreadable(error, path)], [])
    try:
        Checking(report, path, read).file(tree)
    except Exception:  # a fault of ours is none of the user's: what was found until then stands
        pass
    return report.checked()


def _unreadable(error: BaseException, path: str) -> Located:
    line = getattr(error, "lineno", None) or 1
    column = getattr(error, "offset", None) or 1
    seen = getattr(error, "msg", None) or str(error) or type(error).__name__
    return Located(path, line, max(column, 1), line, max(column, 1) + 1, "symbolic", "syntax", f"not Python: {seen}")


class Checking:
    """One file that is checked, and the modules of the user's that it imports."""

    def __init__(self, report: Report, path: str, read: Source) -> None:
        self.report, self.path, self.read = report, path, read
        self.modules: dict[str, UserModule | None] = {}
        self.checked: set[int] = set()

    def file(self, tree: ast.Module) -> None:
        interpreter = self._module(tree, self.path, self.report)
        base = interpreter.state.whole()
        for name, one in self._poisoned(tree, interpreter.frame):
            base[name] = one
        self._nested(interpreter, base)
        for function in self._plain_functions(tree, interpreter, base):
            self._outer(function, base, interpreter.frame)

    def _module(self, tree: ast.Module, path: str, report: Report) -> Statements:
        """Goes through the top level of a module."""
        interpreter = Statements(report, State({FACTS: {}}, {}), Frame(tree, None, path), self.user, self.path)
        report.steps, report.outside = _STEPS_OF_MODULE, True
        try:
            interpreter.block(tree.body)
        except _FAULTS:
            pass
        report.calls.clear()
        report.muted, report.outside = 0, False
        return interpreter

    def _poisoned(self, tree: ast.Module, frame: Frame) -> list[tuple[Any, Any]]:
        """What a function declares to be global may change at any time."""
        names = {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}
        return [((frame, name), UNKNOWN) for name in names]

    # ------------------------------------------------------------------ modules of the user's
    def user(self, name: str) -> UserModule | None:
        """A module of the user's by its full name; `None` if there is none, or while it is being read."""
        if name not in self.modules:
            self.modules[name] = None
            source = self._source(name)
            if source is not None:
                self.modules[name] = self._read(name, source)
        return self.modules[name]

    def _source(self, name: str) -> str | None:
        try:
            return self.read(name) if name else None
        except Exception:  # a file that cannot be read says nothing
            return None

    def _read(self, name: str, source: str) -> UserModule | None:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        report = Report(name)
        interpreter = self._module(tree, name.replace(".", "/") + ".py", report)
        found = UserModule(name)
        found.cells = {**interpreter.state.whole(), **dict(self._poisoned(tree, interpreter.frame))}
        found.names = {key[1]: one for key, one in found.cells.items() if type(key) is tuple and key[0] is interpreter.frame}
        found.frame = interpreter.frame
        return found

    # ------------------------------------------------------------------ functions
    def _nested(self, interpreter: Statements, base: dict[Any, Any]) -> None:
        """Checks the functions with symbolic inputs that were met."""
        for function in interpreter.nested:
            if id(function.node) not in self.checked and function.module == self.path:
                self.checked.add(id(function.node))
                self._symbolic(function, base)

    def _symbolic(self, function: Function, base: dict[Any, Any]) -> None:
        """Checks one function on its own, for inputs as they are declared."""
        interpreter = self._interpreter(function, base)
        hints = interpreter.signature_of(function)
        if not hints.is_symbolic:
            return
        self._wrong_hints(function, hints)
        frame = interpreter.frame
        frame.hints, frame.names = hints, set()
        for name, value in self._inputs(function, hints, interpreter).items():
            interpreter.state.set((frame, name), value)
        frame.origins = _origins(function, hints)
        frame.names = set(frame.origins)
        self._follow(interpreter, function)

    def _follow(self, interpreter: Statements, function: Function) -> None:
        self.report.steps = STEPS
        try:
            interpreter.returned_by(function.node, interpreter.frame)
        except _FAULTS:
            pass
        self.report.calls.clear()
        self.report.muted = 0
        self._nested(interpreter, interpreter.state.whole())

    def _interpreter(self, function: Function, base: dict[Any, Any]) -> Statements:
        frame = Frame(function.node, function.frame, function.module)
        for one in self.modules.values():
            if one is not None and one.frame is not None:
                base.update(one.cells)
        return Statements(self.report, State({FACTS: {}}, base), frame, self.user, self.path)

    def _wrong_hints(self, function: Function, hints: Signature) -> None:
        written = {one.arg: one.annotation for one in every_parameter(function.node.args)}
        written["return"] = getattr(function.node, "returns", None)
        for name, one in [*hints.parameters.items(), ("return", hints.result)]:
            node = written.get(name)
            if one.finding is not None and node is not None:
                self.report.find(one.finding, node, rule="hint")

    def _inputs(self, function: Function, hints: Signature, interpreter: Statements) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for one in every_parameter(function.node.args):
            found[one.arg] = _input(hints.parameters.get(one.arg, Read()))
        first = next(iter(found), None)
        if function.owner is not None and function.kind != "staticmethod" and first is not None:
            found[first] = self._self_of(function.owner, interpreter)
        return found

    def _self_of(self, owner: Class, interpreter: Statements) -> Any:
        """An object of a class as its methods meet it: with what its `__init__` has set."""
        made = owner.find("__init__")
        if not isinstance(made, Function):
            return UNKNOWN
        self.report.steps = STEPS
        try:
            with self.report.mute():
                found = interpreter.instance(owner, [UNKNOWN] * _required(made), {}, owner.node)
        except _FAULTS:
            return UNKNOWN
        inner = interpreter.state.contents(found) if found is not UNKNOWN else UNKNOWN
        if type(inner) is dict:
            changed = _changed_elsewhere(owner)
            interpreter.state.set(found, {name: one for name, one in inner.items() if name not in changed})
        return found

    def _plain_functions(self, tree: ast.Module, interpreter: Statements, base: dict[Any, Any]) -> list[Any]:
        """The functions without symbolic inputs in which others with them are defined, or which call such."""
        return [
            node
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and id(node) not in self.checked
            and node in tree.body
        ]

    def _outer(self, node: Any, base: dict[Any, Any], outer: Frame) -> None:
        function = Function(node, outer, self.path, {})
        interpreter = self._interpreter(function, base)
        for one in every_parameter(node.args):
            interpreter.state.set((interpreter.frame, one.arg), UNKNOWN)
        self.report.outside = True
        self.report.steps = STEPS
        try:
            interpreter.returned_by(node, interpreter.frame)
        except _FAULTS:
            pass
        self.report.calls.clear()
        self.report.muted, self.report.outside = 0, False
        self._nested(interpreter, interpreter.state.whole())


def _input(read: Read) -> Any:
    """What a parameter stands for in the body."""
    if read.hint is None:
        return UNKNOWN
    if read.is_symbolic:
        return _as_value(spec_of_hint(read.hint))
    return traced(python_value(read.hint.native)) if read.hint.native in PYTHON_DTYPES else UNKNOWN


def _as_value(spec: Any) -> Any:
    if isinstance(spec, TupleSpec):
        return tuple(map(_as_value, spec))
    return traced(Value(spec), True) if isinstance(spec, Spec) else UNKNOWN


def _origins(function: Function, hints: Signature) -> dict[str, tuple[int, str]]:
    """By which argument each name of the signature is bound first, and in which line."""
    found: dict[str, tuple[int, str]] = {}
    for one in every_parameter(function.node.args):
        hint = hints.parameters.get(one.arg, Read()).hint
        if hint is not None:
            for name in _names(spec_of_hint(hint)):
                found.setdefault(name, (one.lineno, f"argument {one.arg}"))
    return found


def _names(spec: Any) -> list[str]:
    if isinstance(spec, TupleSpec):
        return [name for one in spec for name in _names(one)]
    found: list[str] = []
    for size in getattr(spec, "shape", None) or ():
        if isinstance(size, Size):
            found += sorted(size.names)
        elif isinstance(size, Rest) and size.name:
            found.append(str(size))
    return found


def _required(function: Function) -> int:
    """How many arguments a method cannot do without, after the first."""
    arguments = function.node.args
    return max(len(arguments.posonlyargs) + len(arguments.args) - 1, 0)


def _changed_elsewhere(owner: Class) -> set[str]:
    """The attributes that other methods than `__init__` set."""
    return {
        inner.attr
        for method in owner.node.body
        if isinstance(method, ast.FunctionDef) and method.name != "__init__"
        for inner in ast.walk(method)
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store)
    }


