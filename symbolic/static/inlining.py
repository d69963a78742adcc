"""What does a call of the user's own function give? Its body is followed for these arguments; a signature is held."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from symbolic.hints import Hint
from symbolic.spec import PYTHON_DTYPES, Spec
from symbolic.static import signatures
from symbolic.static.abstract import UNKNOWN, Finding, Value
from symbolic.static.builtin_calls import Builtins
from symbolic.static.declared import spec_of_hint, substitute, unify
from symbolic.static.facts import apart, joined_states, spec_without, unsettled_in
from symbolic.static.handlers import Failed
from symbolic.static.holding import Ref, State, joined, spec_for, traced
from symbolic.static.nesting import names_of
from symbolic.static.operations import is_known
from symbolic.static.signatures import Reading, Record, Signature
from symbolic.static.things import Class, Frame, Function, Partial, every_parameter, scope_of

_DEEPEST = 10
"""Calls within calls that are followed."""


class Inlining(Builtins):
    """Calls of functions and classes of the user's."""

    state: Any

    def run(self, function: Function, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        bound = self._bound_to(function, args, kwargs)
        if function.is_symbolic:
            return self._applied(function, args, kwargs, bound, node)
        if bound is None:
            self.state.lose([*args, *kwargs.values()])
            return UNKNOWN
        return self._followed(function, bound, node)

    def _followed(self, function: Function, bound: dict[str, Any], node: ast.AST) -> Any:
        """What the body returns for these arguments."""
        stack = self.report.calls
        recursive = any(one is function.node for one in self.running)
        if scope_of(function.node).yields or recursive or len(stack) >= _DEEPEST:
            self.state.lose(list(bound.values()))
            return UNKNOWN
        frame = Frame(function.node, function.frame, function.module)
        stack.append((node, function.module == self.path))
        self.running.append(function.node)
        try:
            with self.within(frame):
                for name, value in bound.items():
                    self.state.set((frame, name), value)
                return self._body(function, frame)
        finally:
            stack.pop()
            self.running.pop()

    def _body(self, function: Function, frame: Frame) -> Any:
        if isinstance(function.node, ast.Lambda):
            value = self.evaluate(function.node.body)
        else:
            value = self.returned_by(function.node, frame)
        if not scope_of(function.node).nests:
            for key in [key for key in self.state.cells if type(key) is tuple and key[0] is frame]:
                del self.state.cells[key]
        return value

    def returned_by(self, node: Any, frame: Frame) -> Any:
        """Runs a body to its ends; what it returns, and the state behind."""
        entered, failures = self.state, len(self.failed)
        if self.block(node.body):
            frame.returns.append((self.state, None))
        ends, frame.returns = frame.returns, []  # a state that its own frame holds would never be freed
        self.state = joined_states([state for state, _ in ends]) or entered
        if not ends:
            if len(self.failed) > failures and self.report.calls:
                raise Failed
            return UNKNOWN
        state, value = ends[0]
        for other, more in ends[1:]:
            value = joined(value, more, state, other)
        return value

    def block(self, body: list[ast.stmt]) -> bool:
        raise NotImplementedError

    # ------------------------------------------------------------------ parameters
    def _bound_to(self, function: Function, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """The values of the parameters that are given, or have a default; `None` where they do not fit."""
        arguments = function.node.args
        positional = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        named = {*positional, *(one.arg for one in arguments.kwonlyargs)}
        found = dict(function.defaults)
        found.update(zip(positional, args, strict=False))
        if len(args) > len(positional) and arguments.vararg is None:
            return None
        if arguments.vararg is not None:
            found[arguments.vararg.arg] = tuple(args[len(positional) :])
        rest = {}
        for name, value in kwargs.items():
            if name in named:
                found[name] = value
            else:
                rest[name] = value
        if rest and arguments.kwarg is None:
            return None
        if arguments.kwarg is not None:
            found[arguments.kwarg.arg] = self.state.made(dict, rest)
        return found if named <= found.keys() or function.is_symbolic else None

    # ------------------------------------------------------------------ symbolic functions
    def signature_of(self, function: Function) -> Signature:
        if function.signature is None:
            function.signature = signatures.signature(function, self.at, self.report.hints)
        found: Signature = function.signature
        return found

    def decorated(self, function: Function) -> Function:
        """The layer that `@symbolic` makes of a function."""
        found = Function(function.node, function.frame, function.module, function.defaults)
        found.is_symbolic, found.owner, found.kind = True, function.owner, function.kind
        return found

    def _applied(
        self, function: Function, args: list[Any], kwargs: dict[str, Any], bound: dict[str, Any] | None, node: ast.AST
    ) -> Any:
        """A symbolic function that is called: what it is given is held against its signature."""
        hints = self.signature_of(function)
        inputs = [name for name, one in hints.parameters.items() if one.is_symbolic]
        for name, one in hints.parameters.items():
            if one.record is not None and bound is not None and name in bound:
                self._record_held(f"of argument {name}", one.record, bound[name], node)
        if bound is None or not inputs:
            return UNKNOWN
        if not any(name in bound and name not in function.defaults for name in inputs):
            return Partial(function, tuple(args), kwargs) if not set(inputs) <= bound.keys() else UNKNOWN
        given = [name for name in inputs if name in bound and _hint(hints, name) is not None]
        wanted: list[Any] = [_hint(hints, name) for name in given]
        actual = [spec_for(self.plain(bound[name]), self.state) for name in given]
        bindings = unify(wanted, actual, [f"argument {name}" for name in given])
        names = unsettled_in(self.state)
        for unknown in [names] if names else apart([name for one in actual for name in names_of(one)]):
            if isinstance(bindings, Finding):
                left = [spec_without(one, unknown) for one in actual]
                bindings = unify(wanted, left, [f"argument {name}" for name in given])
        is_clear = bool(names) or all(is_known(Value(one)) for one in actual)
        self.report.met(node, is_clear and not isinstance(bindings, Finding))
        if isinstance(bindings, Finding):
            notes = _notes_of(function, given, bindings) if function.module == self.path else ()
            self.report.find(bindings, node, notes, always=True)
            return UNKNOWN
        if not set(inputs) <= bound.keys():
            return UNKNOWN
        return self._result_of(function, hints, bindings, bound, node)

    def _result_of(
        self, function: Function, hints: Signature, bindings: Any, bound: dict[str, Any], node: ast.AST
    ) -> Any:
        """By the declared result, and by the body where that says too little."""
        declared = result_spec(hints.result.hint, bindings)
        value = traced(Value(declared), bound.values()) if isinstance(declared, Spec) else UNKNOWN
        if isinstance(value, Value) and is_known(value):
            return value
        if not {one.arg for one in every_parameter(function.node.args)} <= bound.keys():
            return value
        with self.report.mute():
            found = self._followed(function, bound, node)
        if isinstance(found, Value) and isinstance(found.spec, Spec):
            found = traced(Value(_met(found.spec, declared), found.loose), bound.values())
        return value if found is UNKNOWN else found

    def _record_held(self, what: str, record: Record, value: Any, node: ast.AST) -> None:
        """Holds the fields of an object against their hints, in which a name is one size throughout the object."""
        inner = self.state.contents(value) if isinstance(value, Ref) and value.kind is record.kind else None
        if type(inner) is not dict:
            return
        wanted = {name: one.hint for name, one in record.fields.items() if one.is_symbolic and one.hint is not None}
        given = [name for name in wanted if inner.get(name, UNKNOWN) is not UNKNOWN]
        actual = [spec_for(self.plain(inner[name]), self.state) for name in given]
        found = unify([wanted[name] for name in given], actual, [f"field {name} {what}" for name in given])
        if isinstance(found, Finding):
            self.report.find(found, node, always=True)
            self.state.set(value, UNKNOWN)  # one fault is one finding

    # ------------------------------------------------------------------ classes
    def instance(self, kind: Class, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """`Class(…)`: what its `__init__` leaves in the object, or the fields of a dataclass."""
        made = kind.find("__init__")
        if kind.is_dataclass and made is None:
            return self._record(kind, args, kwargs, node)
        if not kind.is_closed or kind.find("__new__") is not None:
            self.state.lose([*args, *kwargs.values()])
            return UNKNOWN
        ref = self.state.made(kind, {})
        if isinstance(made, Function):
            self.run(made, [ref, *args], kwargs, node)
        return ref

    def _record(self, kind: Class, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        names = [one.target.id for one in kind.fields if isinstance(one.target, ast.Name)]
        found: dict[str, Any] = {name: kind.names.get(name, UNKNOWN) for name in names}
        found.update(zip(names, args, strict=False))
        found.update({name: value for name, value in kwargs.items() if name in found})
        ref = self.state.made(kind, found)
        record = Reading(self.at, self.report.hints).record(kind)
        if record is not None and kind.find("__post_init__") is None:
            self._record_held(f"of {kind.name}", record, ref, node)
        after = kind.find("__post_init__")
        if isinstance(after, Function):
            self.run(after, [ref], {}, after.node)
        return ref

    @contextmanager
    def elsewhere(self, state: State) -> Iterator[None]:
        """Another state for a while."""
        kept, self.state = self.state, state
        try:
            yield
        finally:
            self.state = kept


def result_spec(hint: Hint | None, bindings: Any) -> Any:
    """The spec of the result that a signature declares, as it is in a body: a `float` is any real number there."""
    if hint is None:
        return None
    spec = spec_of_hint(hint)
    if hint.native in PYTHON_DTYPES:
        return Spec(())
    return substitute(spec, bindings)


def _hint(hints: Signature, name: str) -> Hint | None:
    return hints.parameters[name].hint


def _met(spec: Spec, declared: Any) -> Spec:
    """What is known by the body, and what is known by the hint."""
    if not isinstance(declared, Spec):
        return spec
    dtype = declared.dtype if spec.dtype is None else spec.dtype
    shape = declared.shape if spec.shape is None else spec.shape
    if shape is not None and declared.shape is not None and len(shape) == len(declared.shape):
        shape = tuple([b if a is None else a for a, b in zip(shape, declared.shape, strict=True)])
    return Spec(shape, dtype, spec.python)


def _notes_of(function: Function, given: list[str], found: Finding) -> tuple[tuple[int, str], ...]:
    """Where the parameters of a message are declared."""
    lines = {one.arg: one.lineno for one in every_parameter(function.node.args)}
    return tuple(
        [
            (lines[name], f"{name} of {function.name} is declared here")
            for name in given
            if f"argument {name}" in found.seen
        ]
    )
