"""What is an attribute, or an entry, of what is known: `x.T`, `self.weight`, `shape[0]`, `x[:, None]`?"""

from __future__ import annotations

import ast
import operator
from types import ModuleType
from typing import Any

import numpy as np

from symbolic.polynomial import Size
from symbolic.spec import Spec
from symbolic.static import evaluation, modules
from symbolic.static.abstract import UNKNOWN, Value, is_constant
from symbolic.static.holding import MISSING, Every, Ref
from symbolic.static.operations import Meeting
from symbolic.static.scopes import attribute_of_class
from symbolic.static.structures import Structures
from symbolic.static.things import Alias, Bound, Class, Foreign, Function, UserModule

_MOST_ENTRIES = 10_000


class Attributes(Structures):
    """Attributes and entries."""

    def _attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.evaluate(node.value), node.attr, node)

    def attribute(self, home: Any, name: str, node: ast.AST) -> Any:
        """`home.name`."""
        if isinstance(home, Value):
            answer = self._of_array(home, name, node)
            return (
                Bound(name, home)
                if answer is UNKNOWN and not isinstance(node.__dict__.get("ctx"), ast.Store)
                else answer
            )
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
            is_known = found is None and home.kind.is_tuple and name == "_replace"
            return Bound(name, home) if is_known else UNKNOWN if found is None else found
        if found.kind == "property":
            return self.invoke(found, [home], {}, found.node)
        return (
            found if found.kind == "staticmethod" else Bound(found, home.kind if found.kind == "classmethod" else home)
        )

    def _subscript(self, node: ast.Subscript) -> Any:
        home = self.evaluate(node.value)
        if is_type(home):
            return Alias(node, self.frame)
        index = self.evaluate(node.slice)
        return self.entry(home, index, node)

    def entry(self, home: Any, index: Any, node: ast.AST) -> Any:
        """`home[index]`."""
        if isinstance(home, Ref) and isinstance(home.kind, Class):
            found = self.special("__getitem__", [home, index], node)
            return self.entry(self.entries(home, node), index, node) if found is MISSING else found
        if isinstance(home, Ref):
            return self._of_container(home, index)
        if isinstance(home, Every):
            return home.entry if isinstance(index, (int, Size)) or is_scalar(index) else UNKNOWN
        if isinstance(home, (range, list)):
            home = tuple(home) if len(home) <= _MOST_ENTRIES else UNKNOWN
        if isinstance(home, tuple) and not isinstance(home, Value) and is_scalar(index):
            return self.entry_of(tuple(home))
        if type(home) is tuple and type(index) is int and -len(home) <= index < len(home):
            return home[index]
        if home is UNKNOWN or not is_operand(home):
            return UNKNOWN
        return self.operate(operator.getitem, [home, index], {}, node)

    def special(self, name: str, args: list[Any], node: ast.AST) -> Any:
        """What a method of a user's class gives that stands for an operator; `MISSING` where there is none."""
        home = args[0]
        found = home.kind.find(name) if isinstance(home, Ref) and isinstance(home.kind, Class) else None
        return self.invoke(found, args, {}, node) if isinstance(found, Function) else MISSING

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


def is_scalar(value: Any) -> bool:
    """Whether a value is a whole number that is not known."""
    whole = isinstance(value, Value) and isinstance(value.spec, Spec) and value.spec.shape == ()
    return whole or isinstance(value, Size)


def is_operand(value: Any) -> bool:
    """Whether the core knows what an operator means for a value."""
    if isinstance(value, (Value, Ref, Every, slice)) or value is UNKNOWN:
        return not isinstance(value, Ref) or value.kind is list
    return (is_constant(value) and not (isinstance(value, type))) or type(value) in (tuple, list)


def is_type(value: Any) -> bool:
    """Whether an expression with it is a type: `Annotated[…]`, `np.ndarray | None`."""
    if isinstance(value, Foreign):
        return value.name.partition(".")[0] in ("typing", "jaxtyping") or value.name.endswith("NDArray")
    return isinstance(value, (Alias, Class, type))
