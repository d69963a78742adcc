"""What is wrong in a file, and what is known of its expressions? The bodies of its symbolic functions are followed.

Nothing of the user's is imported or run. What is not known is not reported.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from symbolic.polynomial import Size
from symbolic.spec import PYTHON_DTYPES, Spec, TupleSpec
from symbolic.static.abstract import UNKNOWN, Finding, Value
from symbolic.static.causes import DECLARED, likely
from symbolic.static.declared import scoped, spec_of_hint, unify
from symbolic.static.findings import Checked, Located, OutOfSteps, Report, span
from symbolic.static.holding import FACTS, State, as_input, traced
from symbolic.static.nesting import names_of
from symbolic.static.python import python_value
from symbolic.static.signatures import Read, Reading, Record, Signature
from symbolic.static.statements import Statements
from symbolic.static.things import (
    Class,
    Frame,
    Function,
    UserModule,
    every_parameter,
    find_scopes,
    scope_of,
    unreached,
    written_defaults,
)

STEPS = 10_000
"""Expressions and statements that a symbolic function is worth."""
_STEPS_OUTSIDE = 2_000
"""Those that a statement of a module's top level is worth, and a plain function."""
_FAULTS = (OutOfSteps, RecursionError)

Source = Callable[[str], str | None]


def _none(name: str) -> str | None:
    return None


def check(source: str, path: str = "<string>", *, read: Source = _none) -> Checked:
    """What there is to say of a file. `read` gives the source of another module of the user's, by its full name."""
    report = Report(path, source)
    with _uncollected():
        return _checked(report, source, path, read)


def _checked(report: Report, source: str, path: str, read: Source) -> Checked:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Checked([_unreadable(error, path)], [])
    with contextlib.suppress(Exception):  # a fault of ours is none of the user's: what was found until then stands
        Checking(report, path, read).file(tree)
    found = report.checked()
    report.hints.clear()  # the last that holds the tree, which is gone before it is looked for as garbage
    return found


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Without garbage collection: a file's tree lives to the end, and to walk it again and again costs a third."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _unreadable(error: BaseException, path: str) -> Located:
    line = getattr(error, "lineno", None) or 1
    column = getattr(error, "offset", None) or 1
    seen = getattr(error, "msg", None) or str(error) or type(error).__name__
    if isinstance(error, (RecursionError, MemoryError)):
        seen = "nested too deeply to be read; give parts of it names of their own"
    else:
        seen = f"not Python: {seen}"
    return Located(path, line, max(column, 1), line, max(column, 1) + 1, "symbolic", "syntax", seen)


class Checking:
    """One file that is checked, and the modules of the user's that it imports."""

    report: Any
    path: str
    read: Any

    def __init__(self, report: Report, path: str, read: Source) -> None:
        self.report, self.path, self.read = report, path, read
        self.modules: dict[str, UserModule | None] = {}
        self.checked: set[int] = set()

    def file(self, tree: ast.Module) -> None:
        find_scopes(tree)
        interpreter = self._module(tree, self.path, self.report)
        base = interpreter.state.whole()
        for module in self.modules.values():
            base.update(module.cells if module is not None else {})
        for name, one in self._poisoned(tree, interpreter.frame):
            base[name] = one
        self._nested(interpreter, base)
        for function in self._plain_functions(tree, interpreter):
            with contextlib.suppress(*_FAULTS):
                self._outer(function, base, interpreter.frame)
        for cells in (base, interpreter.state.cells):  # what holds itself, and would hold the tree
            for one in cells.values():
                if isinstance(one, Class):
                    one.names.clear()
            cells.clear()

    def _module(self, tree: ast.Module, path: str, report: Report) -> Statements:
        """Goes through the top level of a module."""
        interpreter = Statements(report, State({FACTS: {}}, {}), Frame(tree, None, path), self.user, self.path)
        report.outside = True
        for one in tree.body:
            before = interpreter.state.copy()
            report.steps = _STEPS_OUTSIDE
            try:
                interpreter.block([one])
            except _FAULTS:
                interpreter.state = before
                _forget(one, interpreter)
            interpreter.frame = interpreter.outermost
            _reset(report, interpreter)
        report.outside = False
        return interpreter

    def _poisoned(self, tree: ast.Module, frame: Frame) -> list[tuple[Any, Any]]:
        """What a function declares to be global may change at any time."""
        return [((frame, name), UNKNOWN) for name in scope_of(tree).shared]

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
        found.names = {
            key[1]: one for key, one in found.cells.items() if type(key) is tuple and key[0] is interpreter.frame
        }
        found.frame = interpreter.frame
        return found

    # ------------------------------------------------------------------ functions
    def _nested(self, interpreter: Statements, base: dict[Any, Any]) -> None:
        """Checks the functions with symbolic inputs that were met."""
        for function in interpreter.nested:
            if id(function.node) not in self.checked and function.module == self.path:
                self.checked.add(id(function.node))
                with contextlib.suppress(*_FAULTS):
                    self._symbolic(function, base)
                self.report.outside = False

    def _symbolic(self, function: Function, base: dict[Any, Any]) -> None:
        """Checks one function on its own, for inputs as they are declared."""
        interpreter = self._interpreter(function, base)
        self.report.steps = STEPS
        hints = interpreter.signature_of(function)
        if not hints.is_symbolic:
            return
        self._wrong_hints(function, hints)
        self._wrong_defaults(function, hints)
        frame = interpreter.frame
        frame.hints = hints
        frame.origins = _origins(function, hints)
        frame.names = set(frame.origins)
        interpreter.returns = None if hints.result.hint is None else spec_of_hint(hints.result.hint)
        for name, value in self._inputs(function, hints, interpreter).items():
            interpreter.state.set((frame, name), value)
        self._follow(interpreter, function)

    def _follow(self, interpreter: Statements, function: Function, steps: int = STEPS) -> None:
        self.report.steps = steps
        with contextlib.suppress(*_FAULTS):
            interpreter.returned_by(function.node, interpreter.frame)
            self.report.dead += map(span, unreached(function.node.body, self.report.reached))
        _reset(self.report, interpreter)
        self.report.outside = False
        if interpreter.nested:
            self._nested(interpreter, interpreter.state.whole())

    def _interpreter(self, function: Function, base: dict[Any, Any]) -> Statements:
        frame = Frame(function.node, function.frame, function.module)
        return Statements(self.report, State({FACTS: {}}, base), frame, self.user, self.path)

    def _wrong_hints(self, function: Function, hints: Signature) -> None:
        written = {one.arg: one.annotation for one in every_parameter(function.node.args)}
        written["return"] = getattr(function.node, "returns", None)
        for name, one in [*hints.parameters.items(), ("return", hints.result)]:
            node = written.get(name)
            if one.finding is not None and node is not None:
                self.report.find(one.finding, node, rule="hint")

    def _wrong_defaults(self, function: Function, hints: Signature) -> None:
        """Holds the defaults of inputs against their hints, each on its own: who knows which others are given."""
        for name, node in written_defaults(function.node.args):
            hint, value = hints.parameters.get(name, Read()).of_value, function.defaults.get(name, UNKNOWN)
            if hint is None or not hints.parameters[name].is_symbolic or not isinstance(value, Value):
                continue
            found = unify([hint], [value.spec], [f"the default of {name}"])
            if isinstance(found, Finding):
                self.report.find(likely(found, DECLARED, [value, Value(spec_of_hint(hint))]), node)

    def _inputs(self, function: Function, hints: Signature, interpreter: Statements) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for one in every_parameter(function.node.args):
            found[one.arg] = _input(one.arg, hints.parameters.get(one.arg, Read()), interpreter)
        first = next(iter(found), None)
        if function.owner is not None and function.kind != "staticmethod" and first is not None:
            found[first] = self._self_of(function.owner, first, interpreter)
        return found

    def _self_of(self, owner: Class, name: str, interpreter: Statements) -> Any:
        """An object of a class as its methods meet it: with what its `__init__` has set."""
        made = owner.find("__init__")
        record = Reading(interpreter.at, self.report.hints).record(owner) if owner.is_dataclass else None
        if made is None and record is not None:
            return _of_record(name, record, interpreter, False)
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

    def _plain_functions(self, tree: ast.Module, interpreter: Statements) -> list[Any]:
        """The functions without symbolic inputs in which there are others, or which call symbolic ones."""
        names = {
            key[1]
            for key, one in interpreter.state.cells.items()
            if type(key) is tuple and isinstance(one, Function) and one.is_symbolic
        }
        return [
            node
            for node in tree.body
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and id(node) not in self.checked
            and any(_is_of_interest(one, names) for one in ast.walk(node) if one is not node)
        ]

    def _outer(self, node: Any, base: dict[Any, Any], outer: Frame) -> None:
        function = Function(node, outer, self.path, {})
        interpreter = self._interpreter(function, base)
        for one in every_parameter(node.args):
            interpreter.state.set((interpreter.frame, one.arg), UNKNOWN)
        self.report.outside = True
        self._follow(interpreter, function, _STEPS_OUTSIDE)


def _reset(report: Report, interpreter: Statements) -> None:
    """After a function, or a statement, that was perhaps left in the middle."""
    report.calls.clear()
    report.muted = 0
    interpreter.running.clear()
    interpreter.loops.clear()


def _is_of_interest(node: ast.AST, symbolic: set[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in symbolic
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(
        one.annotation is not None for one in every_parameter(node.args)
    )


def _forget(statement: ast.stmt, interpreter: Statements) -> None:
    """What a statement may have changed that was not gone through to its end is unknown."""
    for one in ast.walk(statement):
        if isinstance(one, ast.Name):
            if not isinstance(one.ctx, ast.Load):
                interpreter.bind(one.id, UNKNOWN)
            else:
                interpreter.state.lose(interpreter.lookup(one.id))


def _input(name: str, read: Read, interpreter: Statements) -> Any:
    """What a parameter stands for in the body."""
    if read.record is not None:
        return _of_record(name, read.record, interpreter, read.is_symbolic)
    if read.hint is None:
        return UNKNOWN
    if read.is_symbolic:
        return _as_value(name, spec_of_hint(read.hint))
    if read.hint.native not in PYTHON_DTYPES:
        return UNKNOWN
    found = traced(python_value(read.hint.native))
    if read.hint.native is int and name not in interpreter.frame.names:
        found.size = Size.named(name)
        interpreter.free |= {name}
    return found


def _of_record(name: str, record: Record, interpreter: Statements, is_symbolic: bool) -> Any:
    """An object with its fields as they are declared; the names in their shapes are this object's own."""
    found: dict[str, Any] = {}
    for field, read in record.fields.items():
        where = f"{name}.{field}"
        if read.record is not None:
            found[field] = _of_record(where, read.record, interpreter, is_symbolic)
        elif read.hint is not None and (read.is_symbolic or is_symbolic):
            found[field] = _as_value(where, scoped(spec_of_hint(read.hint), name))
        else:
            found[field] = UNKNOWN
    return interpreter.state.made(record.kind, found)


def _as_value(name: str, spec: Any) -> Any:
    if isinstance(spec, TupleSpec):
        return tuple([_as_value(name, one) for one in spec])
    return as_input(Value(spec), name) if isinstance(spec, Spec) else UNKNOWN


def _origins(function: Function, hints: Signature) -> dict[str, tuple[int, str]]:
    """By which argument each name of the signature is bound first, and in which line."""
    found: dict[str, tuple[int, str]] = {}
    for one in every_parameter(function.node.args):
        for spec in _specs(one.arg, hints.parameters.get(one.arg, Read())):
            for name in names_of(spec):
                found.setdefault(name, (one.lineno, f"argument {one.arg}"))
    return found


def _specs(name: str, read: Read) -> Iterator[Any]:
    """The specs that a parameter declares: its own, or those of its fields."""
    if read.record is not None:
        for field, one in read.record.fields.items():
            for spec in _specs(f"{name}.{field}", one):
                yield spec if one.record is not None else scoped(spec, name)
    elif read.hint is not None:
        yield spec_of_hint(read.hint)


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
