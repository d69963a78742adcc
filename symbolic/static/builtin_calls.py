"""What do Python's own functions and methods give for structures: `range`, `zip`, `append`, `items`?"""

from __future__ import annotations

import ast
import builtins
import functools
import operator
from collections.abc import Callable
from typing import Any

from symbolic.polynomial import Size
from symbolic.spec import Spec
from symbolic.static.abstract import UNKNOWN, Value, is_constant, native
from symbolic.static.expressions import Expressions, python_bool
from symbolic.static.holding import MISSING, Every, Ref, joined, traced
from symbolic.static.python import python_value
from symbolic.static.things import Class, Frame

_Args = list[Any]


class Builtins(Expressions):
    """Calls of what is built in."""

    # ------------------------------------------------------------------ functions
    def _range(self, args: _Args, node: ast.AST) -> Any:
        bounds = [self.plain(one) for one in args]
        if not bounds or len(bounds) > 3:
            return UNKNOWN
        if all(isinstance(one, int) for one in bounds):
            return range(*bounds) if bounds[-1] or len(bounds) < 3 else UNKNOWN
        self.refused(range, bounds, {}, node)
        whole = traced(python_value(int))
        if all(isinstance(one, (int, Size)) for one in bounds) and len(bounds) < 3:
            count = bounds[-1] - (bounds[0] if len(bounds) == 2 else 0)
            return Every(whole, count)
        return Every(whole)

    def _len(self, args: _Args, node: ast.AST) -> Any:
        if len(args) != 1:
            return UNKNOWN
        counted = self.special("__len__", args, node)
        if counted is not MISSING:
            return counted
        inner = self.state.contents(args[0]) if isinstance(args[0], Ref) else args[0]
        if isinstance(inner, Every):
            return traced(python_value(int)) if inner.count is None else inner.count
        if isinstance(inner, range) or type(inner) is dict:
            return len(inner)
        return self.operate(len, [inner], {}, node) if inner is not UNKNOWN else traced(python_value(int))

    def named_tuple(self, args: _Args, node: ast.AST) -> Any:
        """`namedtuple("Gates", "i f g o")`: a class with these fields."""
        name, fields = (args[0], self.plain(args[1])) if len(args) == 2 else (UNKNOWN, UNKNOWN)
        words: Any = fields.replace(",", " ").split() if isinstance(fields, str) else fields
        named = isinstance(words, (list, tuple)) and all(isinstance(one, str) for one in words)
        if not named or not isinstance(name, str):
            return UNKNOWN
        any_type = ast.Constant(None)
        body: list[ast.stmt] = [
            ast.AnnAssign(target=ast.Name(one, ast.Store()), annotation=any_type, value=None, simple=1) for one in words
        ]
        kind = Class(ast.ClassDef(name, [], [], body, []), [], self.frame.module)
        kind.fields = [one for one in body if isinstance(one, ast.AnnAssign)]
        kind.frame = Frame(kind.node, self.frame, self.frame.module)
        kind.is_dataclass = kind.is_tuple = True
        return kind

    def _zip(self, args: _Args, node: ast.AST) -> Any:
        columns = [self.entries(one, node) for one in args]
        if not columns or any(one is UNKNOWN for one in columns):
            return Every(tuple([self.entry_of(one) for one in columns]))
        if all(type(one) is tuple for one in columns):
            return tuple(zip(*columns, strict=False))
        counts = [one.count if isinstance(one, Every) else len(one) for one in columns]
        count = counts[0] if all(_same(one, counts[0]) for one in counts) else None
        return Every(tuple([self.entry_of(one) for one in columns]), count)

    def _enumerate(self, args: _Args, node: ast.AST) -> Any:
        source = self.entries(args[0], node) if args else UNKNOWN
        start = args[1] if len(args) > 1 else 0
        if type(source) is tuple and type(start) is int:
            return tuple(enumerate(source, start))
        count = source.count if isinstance(source, Every) else None
        return Every((traced(python_value(int)), self.entry_of(source)), count)

    def _reversed(self, args: _Args, node: ast.AST) -> Any:
        source = self.entries(args[0], node) if args else UNKNOWN
        return source[::-1] if type(source) is tuple else source

    def _call_list(self, args: _Args, node: ast.AST) -> Any:
        return self.state.made(list, self.entries(args[0], node) if args else ())

    def _call_tuple(self, args: _Args, node: ast.AST) -> Any:
        return self.entries(args[0], node) if args else ()

    def _map(self, args: _Args, node: ast.AST) -> Any:
        if len(args) < 2:
            return UNKNOWN
        rows = self._zip(args[1:], node)
        if isinstance(rows, Every):
            return Every(self.invoke(args[0], list(rows.entry), {}, node), rows.count)
        return tuple([self.invoke(args[0], list(one), {}, node) for one in rows])

    def _filter(self, args: _Args, node: ast.AST) -> Any:
        return Every(self.entry_of(self.entries(args[1], node))) if len(args) == 2 else UNKNOWN

    def _sorted(self, args: _Args, node: ast.AST) -> Any:
        source = self.entries(args[0], node) if args else UNKNOWN
        kinds = {type(one) for one in source} if type(source) is tuple else set()
        if type(source) is tuple and (kinds <= {int, float} or kinds == {str}):
            return self.state.made(list, tuple(sorted(source)))
        count = source.count if isinstance(source, Every) else len(source) if type(source) is tuple else None
        return self.state.made(list, Every(self.entry_of(source), count))

    def _call_set(self, args: _Args, node: ast.AST) -> Any:
        source = self.entries(args[0], node) if args else ()
        constant = type(source) is tuple and all(isinstance(one, (int, float, str)) for one in source)
        return self.state.made(set, tuple(dict.fromkeys(source)) if constant else UNKNOWN)

    def _sum(self, args: _Args, node: ast.AST) -> Any:
        source = args[0] if args else UNKNOWN
        if isinstance(source, Value):
            return self.operate(sum, args, {}, node)
        entries = self.entries(source, node)
        total = args[1] if len(args) > 1 else 0
        if type(entries) is tuple and len(entries) <= 64:
            for one in entries:
                total = self.binary(operator.add, total, one, node)
            return total
        entry = self.entry_of(entries)
        first = self.binary(operator.add, total, entry, node)
        return joined(first, self.binary(operator.add, first, entry, node), self.state, self.state)

    def _call_dict(self, args: _Args, node: ast.AST) -> Any:
        inner = (
            self.state.contents(args[0]) if len(args) == 1 and isinstance(args[0], Ref) else {} if not args else UNKNOWN
        )
        return self.state.made(dict, inner if type(inner) is dict else UNKNOWN)

    def _isinstance(self, args: _Args, node: ast.AST) -> Any:
        if len(args) != 2:
            return python_bool()
        kinds = args[1] if type(args[1]) is tuple else (args[1],)
        value, answers = args[0], []
        for kind in kinds:
            answers.append(self._is_of(value, kind))
        return True if True in answers else python_bool() if None in answers else False

    def _is_of(self, value: Any, kind: Any) -> bool | None:
        if isinstance(value, Ref) and isinstance(kind, Class) and isinstance(value.kind, Class):
            return True if _derives(value.kind, kind) else None
        if not isinstance(kind, type):
            return False if isinstance(kind, Class) and (isinstance(value, Value) or is_constant(value)) else None
        if isinstance(value, Value):
            spec = value.spec
            is_number = isinstance(spec, Spec) and spec.python is None and spec.shape == ()
            if isinstance(spec, Spec) and ((spec.shape is None and value.loose) or (is_number and spec.dtype is None)):
                return None
            return issubclass(native(value), kind)
        if isinstance(value, Ref):
            return issubclass(value.kind, kind) if isinstance(value.kind, type) else None
        if isinstance(value, Size):
            return issubclass(int, kind)
        return isinstance(value, kind) if is_constant(value) or type(value) is tuple else None

    def _getattr(self, args: _Args, node: ast.AST) -> Any:
        if len(args) < 2 or not isinstance(args[1], str):
            return UNKNOWN
        found = self.attribute(args[0], args[1], node)
        return found if len(args) == 2 or isinstance(args[0], Value) else joined(found, args[2], self.state, self.state)

    def _call_slice(self, args: _Args, node: ast.AST) -> Any:
        return slice(*args) if 1 <= len(args) <= 3 else UNKNOWN

    def _next(self, args: _Args, node: ast.AST) -> Any:
        return self.entry_of(self.entries(args[0], node)) if args else UNKNOWN

    def _iter(self, args: _Args, node: ast.AST) -> Any:
        found = self.entries(args[0], node) if args else UNKNOWN
        return found if isinstance(found, Every) else Every(self.entry_of(found))

    def _reduce(self, args: _Args, node: ast.AST) -> Any:
        entries = self.entries(args[1], node) if len(args) > 1 else UNKNOWN
        if type(entries) is not tuple or len(entries) > 64:
            return UNKNOWN
        values = [*args[2:3], *entries]
        total = values[0] if values else UNKNOWN
        for one in values[1:]:
            total = self.invoke(args[0], [total, one], {}, node)
        return total

    def _truth_of_all(self, args: _Args, node: ast.AST) -> Any:
        return python_bool()

    def _str(self, args: _Args, node: ast.AST) -> Any:
        return UNKNOWN

    def _print(self, args: _Args, node: ast.AST) -> Any:
        return None

    def _accumulate(self, args: _Args, node: ast.AST) -> Any:
        return UNKNOWN

    # ------------------------------------------------------------------ methods of structures
    def method_of(self, home: Any, name: str, args: _Args, kwargs: dict[str, Any], node: ast.AST) -> Any:
        """`home.name(*args)` of a list, a dictionary, a tuple or a text."""
        if isinstance(home, Ref) and home.kind is list:
            return self._of_list(home, name, args, node)
        if isinstance(home, Ref) and home.kind is dict:
            return self._of_dict(home, name, args, node)
        if isinstance(home, str):
            self.state.lose(args)
            constant = all(map(is_constant, args)) and not kwargs and name in ("split", "lower", "upper", "strip")
            found = getattr(home, name)(*args) if constant and all(isinstance(one, str) for one in args) else UNKNOWN
            return self.state.made(list, tuple(found)) if isinstance(found, list) else found
        if isinstance(home, tuple) and name in ("index", "count"):
            return traced(python_value(int))
        if isinstance(home, Ref) and getattr(home.kind, "is_tuple", False) and name == "_replace" and not args:
            inner = self.state.contents(home)
            return self.state.made(home.kind, {**inner, **kwargs}) if type(inner) is dict else UNKNOWN
        self.state.lose([home, *args, *kwargs.values()])
        return UNKNOWN

    def _of_list(self, home: Ref, name: str, args: _Args, node: ast.AST) -> Any:
        inner = self.state.contents(home)
        if inner is UNKNOWN:
            self.state.lose(args)
            return UNKNOWN
        if name in ("index", "count"):
            return traced(python_value(int))
        if name == "copy":
            return self.state.made(list, inner)
        changed, result = self._changed(inner, name, args, node)
        self.state.set(home, changed)
        if changed is UNKNOWN:
            self.state.lose(args)
        return result

    def _changed(self, inner: Any, name: str, args: _Args, node: ast.AST) -> tuple[Any, Any]:
        """What a list holds after one of its methods, and what the method gives."""
        entry = self.entry_of(inner)
        if name == "append" and len(args) == 1:
            if type(inner) is tuple:
                return (*inner, args[0]) if len(inner) < 10_000 else UNKNOWN, None
            count = None if inner.count is None else inner.count + 1
            return Every(joined(entry, args[0], self.state, self.state), count), None
        if name == "extend" and len(args) == 1:
            return self._extended(inner, self.entries(args[0], node)), None
        if name == "insert" and len(args) == 2 and type(inner) is tuple and type(args[0]) is int:
            return (*inner[: args[0]], args[1], *inner[args[0] :]), None
        if name == "pop" and type(inner) is tuple and inner and len(args) < 2:
            at = args[0] if args else len(inner) - 1
            if type(at) is int and -len(inner) <= at < len(inner):
                at %= len(inner)
                return inner[:at] + inner[at + 1 :], inner[at]
        if name == "pop":
            return Every(entry), entry
        if name == "reverse":
            return inner[::-1] if type(inner) is tuple else inner, None
        if name == "clear":
            return (), None
        if name == "sort":
            return Every(entry, len(inner) if type(inner) is tuple else inner.count), None
        return UNKNOWN, UNKNOWN

    def _extended(self, inner: Any, more: Any) -> Any:
        if type(inner) is tuple and type(more) is tuple:
            return inner + more
        if more is UNKNOWN:
            return UNKNOWN
        return Every(joined(self.entry_of(inner), self.entry_of(more), self.state, self.state)) if inner else more

    def _of_dict(self, home: Ref, name: str, args: _Args, node: ast.AST) -> Any:
        inner = self.state.contents(home)
        if type(inner) is not dict:
            self.state.lose(args)
            return UNKNOWN
        if name in ("keys", "values", "items"):
            return tuple(getattr(inner, name)())
        if name == "copy":
            return self.state.made(dict, inner)
        key = args[0] if args else UNKNOWN
        simple = isinstance(key, (str, int, float, bool, type(None)))
        if name == "get" and simple:
            return inner.get(key, args[1] if len(args) > 1 else None)
        if name in ("get", "__contains__"):
            return UNKNOWN
        self.state.set(home, UNKNOWN)
        self.state.lose(args)
        return inner.get(key, UNKNOWN) if name in ("pop", "setdefault") and simple else UNKNOWN


def _same(one: Any, other: Any) -> bool:
    try:
        return one is not None and bool(one == other)
    except Exception:  # of sizes that nobody can tell apart
        return False


def _derives(kind: Class, base: Class) -> bool:
    return kind is base or any(isinstance(one, Class) and _derives(one, base) for one in kind.bases)


Handler = Callable[[Any, list[Any], ast.AST], Any]
HANDLERS: dict[Any, Handler] = {
    builtins.range: Builtins._range,
    builtins.len: Builtins._len,
    builtins.zip: Builtins._zip,
    builtins.enumerate: Builtins._enumerate,
    builtins.reversed: Builtins._reversed,
    builtins.list: Builtins._call_list,
    builtins.tuple: Builtins._call_tuple,
    builtins.set: Builtins._call_set,
    builtins.frozenset: Builtins._call_set,
    builtins.map: Builtins._map,
    builtins.filter: Builtins._filter,
    builtins.sorted: Builtins._sorted,
    builtins.sum: Builtins._sum,
    builtins.dict: Builtins._call_dict,
    builtins.isinstance: Builtins._isinstance,
    builtins.getattr: Builtins._getattr,
    builtins.slice: Builtins._call_slice,
    builtins.next: Builtins._next,
    builtins.iter: Builtins._iter,
    builtins.all: Builtins._truth_of_all,
    builtins.any: Builtins._truth_of_all,
    builtins.hasattr: Builtins._truth_of_all,
    builtins.callable: Builtins._truth_of_all,
    builtins.str: Builtins._str,
    builtins.repr: Builtins._str,
    builtins.print: Builtins._print,
    functools.reduce: Builtins._reduce,
}
PLAIN_KEYWORDS = {
    builtins.zip: {"strict"},
    builtins.enumerate: {"start"},
    builtins.sum: {"start"},
    builtins.print: None,
}
"""Keywords that change nothing of what is known; `None`: whatever they are."""
