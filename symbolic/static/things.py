"""What else than values is there in a program? Functions, classes, modules, and names that nobody knows."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator
from typing import Any, NamedTuple

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Frame:
    """The scope of one run of a function, a class body, a module or a comprehension."""

    module: Any
    node: Any
    outer: Any

    __slots__ = ("hints", "module", "names", "node", "origins", "outer", "returns")

    def __init__(self, node: ast.AST, outer: Frame | None, module: Any) -> None:
        self.node, self.outer, self.module = node, outer, module
        self.returns: list[Any] = []  # the states at its `return`s, and what is returned
        self.hints: Any = None  # the signature of a symbolic function whose body is checked
        self.names: Any = None  # the dimensions that it declares
        self.origins: Any = {}  # and by which parameters


class Function:
    """A function of the user's: its code, where it was defined, and what decorates it."""

    defaults: Any
    frame: Any
    is_symbolic: bool
    kind: str
    module: Any
    node: Any

    __slots__ = ("defaults", "frame", "is_symbolic", "kind", "module", "name", "node", "owner", "signature")

    def __init__(self, node: FunctionNode, frame: Frame, module: Any, defaults: dict[str, Any]) -> None:
        self.node, self.frame, self.module, self.defaults = node, frame, module, defaults
        self.name: str = getattr(node, "name", "<lambda>")
        self.is_symbolic = False
        self.kind = ""  # "property", "staticmethod", "classmethod"
        self.owner: Any = None  # the class of a method
        self.signature: Any = None  # once it has been read


class Bound(NamedTuple):
    """A function with its first argument, or a method of a value by its name."""

    function: Any
    self: Any


class Partial(NamedTuple):
    """A function with some of its arguments."""

    function: Any
    args: tuple[Any, ...]
    kwargs: Any


class Derived(NamedTuple):
    """`grad(f)` and its like: what is differentiated or mapped, and by what."""

    by: str
    function: Any
    argnums: Any = 0
    """Of `vmap` its `in_axes`."""
    has_aux: bool = False
    out_axes: Any = 0


class Pullback(NamedTuple):
    """The second of what `vjp` gives: whatever delta it is given, these come back."""

    deltas: tuple[Any, ...]


class Customized(NamedTuple):
    """`custom_gradient(f)`: a function that returns its value and the rule of its gradient."""

    function: Any


class Network(NamedTuple):
    """A layer that is built, of the library's own: `Linear(4, 8)`."""

    layer: Any


class Class:
    """A class of the user's."""

    bases: Any
    frame: Any
    is_dataclass: bool
    is_tuple: bool
    module: Any
    name: str
    node: Any

    __slots__ = ("bases", "fields", "frame", "is_dataclass", "is_tuple", "module", "name", "names", "node")

    def __init__(self, node: ast.ClassDef, bases: list[Any], module: Any) -> None:
        self.node, self.bases, self.module, self.name = node, bases, module, node.name
        self.names: dict[str, Any] = {}
        self.is_dataclass = False
        self.is_tuple = False  # with names for its entries
        self.fields: list[ast.AnnAssign] = []
        self.frame: Frame | None = None  # that of its body

    def find(self, name: str) -> Any:
        """An attribute of it, or of a class that it is derived from; `None` if nobody knows one."""
        if name in self.names:
            return self.names[name]
        for base in self.bases:
            found = base.find(name) if isinstance(base, Class) else None
            if found is not None:
                return found
        return None

    @property
    def is_closed(self) -> bool:
        """Whether every class that it is derived from is known."""
        return all(isinstance(base, Class) and base.is_closed for base in self.bases if base is not object)


class Foreign(NamedTuple):
    """A name of another library, by its full name: nothing is known but that."""

    name: str


class Alias(NamedTuple):
    """A type, as it is written and where."""

    node: ast.expr
    frame: Any


class UserModule:
    """Another module of the user's: what its top level binds."""

    frame: Any
    name: str

    __slots__ = ("cells", "frame", "name", "names")

    def __init__(self, name: str) -> None:
        self.name = name
        self.names: dict[str, Any] = {}
        self.cells: dict[Any, Any] = {}
        self.frame: Frame | None = None


NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Scope(NamedTuple):
    """The names that a body binds, those that are declared to live elsewhere, and those that inner functions change."""

    bound: frozenset[str]
    outer: frozenset[str]  # global, nonlocal
    shared: frozenset[str]  # changed by functions within
    yields: bool
    nests: bool  # functions, which keep its names alive


def scope_of(node: ast.AST) -> Scope:
    """What the body of a function binds, without those of functions within it."""
    found: Scope | None = getattr(node, _KEPT, None)
    if found is None:
        find_scopes(node)
        found = getattr(node, _KEPT)
    return found


_KEPT = "_symbolic_scope"


def find_scopes(tree: ast.AST) -> frozenset[str]:
    """Finds the scope of every function, class and comprehension below, and keeps it at its node, in one walk.

    The names come back that functions within declare to live elsewhere.
    """
    bound: set[str] = set()
    outer: set[str] = set()
    shared: set[str] = set()
    yields = nests = False
    arguments = getattr(tree, "args", None)
    if isinstance(arguments, ast.arguments):
        bound |= {one.arg for one in every_parameter(arguments)}
    waiting = _body(tree)
    while waiting:
        one = waiting.pop()
        kind = type(one)
        if kind in _BINDING:
            bound |= _bound_by(one)
        elif kind in (ast.Yield, ast.YieldFrom, ast.Await):
            yields = True
        elif kind in (ast.Global, ast.Nonlocal):
            outer |= set(one.names)
        if kind in NESTED:
            nests = True
            shared |= find_scopes(one)
            waiting += _around(one)
        else:
            waiting += _children(one)
    scope = Scope(frozenset(bound - outer), frozenset(outer), frozenset(shared), yields, nests)
    setattr(tree, _KEPT, scope)
    return scope.outer | scope.shared


def _body(node: Any) -> list[Any]:
    """The nodes that belong to the scope of a node."""
    body = getattr(node, "body", None)
    return list(body) if isinstance(body, list) else _children(node) if body is None else [body]


def _around(node: Any) -> list[Any]:
    """What of a nested function belongs to the scope around it: its defaults and decorators."""
    arguments = getattr(node, "args", None)
    defaults = [*arguments.defaults, *[one for one in arguments.kw_defaults if one]] if arguments else []
    return [*defaults, *getattr(node, "decorator_list", []), *getattr(node, "bases", [])]


def _children(node: Any) -> list[Any]:
    found: list[Any] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
            found.append(value)
    return found


_BINDING = frozenset(
    (
        *(ast.Name, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom),
        *(ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.ExceptHandler),
    )
)


def _bound_by(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return {node.id}
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(one.asname or one.name).partition(".")[0] for one in node.names}
    if isinstance(node, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)):
        return {node.name} if node.name else set()
    return {node.rest} if isinstance(node, ast.MatchMapping) and node.rest else set()


def every_parameter(arguments: ast.arguments) -> list[ast.arg]:
    """The parameters in the order in which they are written."""
    rest = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def written_defaults(arguments: ast.arguments) -> list[tuple[str, ast.expr]]:
    """The parameters that have a default, and how it is written."""
    named = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(reversed(named), reversed(arguments.defaults), strict=False))
    pairs += [(arg, one) for arg, one in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if one]
    return [(arg.arg, one) for arg, one in pairs]


def unreached(body: Iterable[ast.AST], reached: Container[ast.AST]) -> Iterator[ast.stmt]:
    """The statements of a body that were never come to; bodies within have their own."""
    for one in body:
        if isinstance(one, ast.stmt) and one not in reached:
            yield one
        elif not isinstance(one, NESTED):
            yield from unreached(_children(one), reached)
