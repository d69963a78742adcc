"""What do `def`, `class` and `type` bind?"""

from __future__ import annotations

import ast
from typing import Any

from symbolic.static.calling import Calling
from symbolic.static.scopes import full_name
from symbolic.static.things import Alias, Class, Foreign, Frame, Function

_KINDS = {"property": "property", "staticmethod": "staticmethod", "classmethod": "classmethod"}
_KINDS["cached_property"] = "property"
_PASSING = ("wraps", "cache", "lru_cache", "override", "final", "overload", "no_type_check")
"""Decorators behind which a function does what it did, whether they are known or not."""
_RECORDS = ("dataclasses.dataclass", "typing.NamedTuple")


class Definitions(Calling):
    """Functions and classes."""

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        function = Function(node, self.frame, self.frame.module, self.defaults(node.args))
        value: Any = function
        for one in reversed(node.decorator_list):
            value = self._decorated_by(one, value, node)
        self.bind(node.name, value)
        if self._has_inputs(node):
            self.nested.append(value if isinstance(value, Function) else function)

    def _decorated_by(self, decorator: ast.expr, value: Any, node: ast.AST) -> Any:
        by = self.evaluate(decorator)
        name = full_name(by).rpartition(".")[2]
        if name in _KINDS and isinstance(value, Function):
            value.kind = _KINDS[name]
            return value
        of_call = isinstance(decorator, ast.Call) and full_name(self._mark_of(decorator))  # `@lru_cache(maxsize=9)`
        if name in _PASSING or of_call in ("functools.wraps", "functools.lru_cache"):
            return value
        return self.invoke(by, [value], {}, node)

    def _has_inputs(self, node: Any) -> bool:
        """Whether `Symbolic` may stand in a hint of a parameter: whoever reads the signature knows."""
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        return any(one.annotation is not None for one in every)

    def _class(self, node: ast.ClassDef) -> None:
        bases = [self.evaluate(one) for one in node.bases]
        kind = Class(node, [one for one in bases if one is not object and not _is_generic(one)], self.frame.module)
        kind.fields = [one for base in kind.bases if isinstance(base, Class) for one in base.fields]
        kind.fields += [one for one in node.body if isinstance(one, ast.AnnAssign)]
        marks = [full_name(self._mark_of(one)) for one in node.decorator_list]
        marks += [full_name(one) for one in bases]
        known = [one for one in kind.bases if isinstance(one, Class)]
        kind.is_tuple = "typing.NamedTuple" in marks or any(one.is_tuple for one in known)
        kind.is_dataclass = any(one in _RECORDS for one in marks) or any(one.is_dataclass for one in known)
        kind.frame = frame = Frame(node, self.frame, self.frame.module)
        with self.within(frame):
            self.block(node.body)
        for key in [key for key in self.state.cells if type(key) is tuple and key[0] is frame]:
            kind.names[key[1]] = self.state.cells[key]
        for one in kind.names.values():
            if isinstance(one, Function) and one.owner is None:
                one.owner = kind
        self.bind(node.name, kind)

    def _mark_of(self, decorator: ast.expr) -> Any:
        return self.evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator)

    def _alias(self, node: Any) -> None:
        self.bind(node.name.id, Alias(node.value, self.frame))


def _is_generic(base: Any) -> bool:
    return (isinstance(base, Foreign) and base.name in ("typing.Protocol", "typing.Generic", "typing.NamedTuple")) or (
        isinstance(base, Alias)
    )
