"""How does a plain function's own code keep traced values? Each of its calls is asked first what the callee means here.

`np.array([a, b])`, `math.exp(x)`, `float(x)` or a helper function would each take a traced value for a number. So the
function's code is compiled once more from its source, with every call `f(…)` written as `called(f)(…)`, and with
`y[i] = v` and `y += v` on a local name preceded by `y = writable(y, v)`. Where Python looks at a value itself
(`is True`, `case float()`, a key, `in`, `"%f" % x`, `{x!r}`), the hooks of `ops.looking` are asked, and `a.b` is read
by a hook, as a property has a body, too. Lines, names, closures and defaults stay as they are; where there is no
source, or another one than the code was made from, so does the function.
"""

from __future__ import annotations
import __future__

import ast
import linecache
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from symbolic.reading import readings, within

_NAMES = ("called", "writable", "attribute", "compared", "kind", "key", "within", "index", "item", "filled", "shown")
_CALLED, _WRITABLE, _ATTRIBUTE, _COMPARED, _KIND, _KEY, _WITHIN, _INDEX, _ITEM, _FILLED, _SHOWN = [
    f"symbolic: {name}" for name in _NAMES
]
_VALUE = ".value"  # a local name that no program can have
_UNTOUCHED = {"super", "locals", "vars", "globals", "dir", "eval", "exec", "breakpoint"}  # they look at their caller
_INDEXED = {"r_", "c_"}  # objects of NumPy that are called by an index
_FUTURE = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})
_KEPT = 4096  # codes

Hooks = Mapping[str, Callable[..., Any]]


def rewritten(function: types.FunctionType, hooks: Hooks) -> types.FunctionType:
    """The function with its calls and its writing asked for; itself where that cannot be, or is done already."""
    if any(isinstance(one, types.FunctionType) for one in function.__code__.co_consts):  # hooks: it stood in such code
        return function
    code = _code(function.__code__, function.__globals__, hooks)
    if code is None:
        return function
    space, defaults, cells = function.__globals__, function.__defaults__, function.__closure__
    twin = types.FunctionType(code, space, function.__name__, defaults, cells)
    twin.__kwdefaults__, twin.__qualname__ = function.__kwdefaults__, function.__qualname__
    twin.__module__, twin.__dict__ = function.__module__, function.__dict__
    twin.__doc__ = function.__doc__
    later = "__annotate__" if getattr(function, "__annotate__", None) is not None else "__annotations__"
    setattr(twin, later, getattr(function, later))  # from Python 3.14 on they are not read before somebody asks
    return twin


def hooks(**named: Callable[..., Any]) -> Hooks:
    """What is put into the code, by name; each is called with nothing but what stands there."""
    return {f"symbolic: {name}": function for name, function in named.items()}


_codes: dict[int, tuple[types.CodeType, types.CodeType | None]] = {}
"""By the identity of the code, which is kept alive: codes of one text at one place are equal."""


def _code(code: types.CodeType, space: dict[str, Any], hooks: Hooks) -> types.CodeType | None:
    found = _codes.get(id(code))
    if found is None:
        while len(_codes) >= _KEPT:
            _codes.pop(next(iter(_codes)), None)
        try:
            found = _codes[id(code)] = (code, _rewritten(code, space, hooks))
        except RecursionError:  # an expression that is nested too deep to be walked
            found = _codes[id(code)] = (code, None)
    return found[1]


def unread(frame: types.FrameType | None) -> str:
    """The name of a function on the stack whose code could not be rewritten, as it has no source; empty if none is."""
    while frame is not None:
        found = _codes.get(id(frame.f_code))
        if found is not None and found[1] is None and not linecache.getlines(frame.f_code.co_filename, frame.f_globals):
            return frame.f_code.co_name
        frame = frame.f_back
    return ""


def _rewritten(code: types.CodeType, space: dict[str, Any], hooks: Hooks) -> types.CodeType | None:
    if not set(hooks.values()).isdisjoint(one for one in code.co_consts if callable(one)):
        return code  # a function that rewritten code has defined
    lines = linecache.getlines(code.co_filename, space)
    for imports, statements, again in readings(lines, code.co_firstlineno):
        before = _compiled([*imports, *statements], code)
        at = None if before is None else _place(before, code)
        if at is None:
            continue
        after = _compiled([*imports, *_Rewriter().visit(ast.Module(again, [])).body], code)
        other = None if after is None else next(islice(codes_of(after), at, None), None)
        if other is not None:
            fits = code.co_name == other.co_name and code.co_freevars == other.co_freevars
            return _hooked(other, hooks) if fits else None
    return None


def _place(module: types.CodeType, code: types.CodeType) -> int | None:
    """The number of a code among those of a module; None where it was made of another text."""
    return next((k for k, one in enumerate(codes_of(module)) if _is_same(one, code)), None)


def _compiled(statements: list[ast.stmt], code: types.CodeType) -> types.CodeType | None:
    module = ast.Module(statements, [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a constant is called: we put a function there
        try:
            found: types.CodeType = compile(
                module, code.co_filename, "exec", code.co_flags & _FUTURE, dont_inherit=True
            )
            return found
        except (SyntaxError, ValueError, RecursionError):
            return None


def codes_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code, and all that stand in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def _is_same(one: types.CodeType, code: types.CodeType) -> bool:
    """Whether a code was made from this text; pytest compiles the assertions of its tests in its own way."""
    if one == code:
        return True
    asserts = any(name.startswith("@py") for name in (*code.co_names, *code.co_varnames))
    count = code.co_argcount + code.co_kwonlyargcount
    return (
        asserts
        and (one.co_name, one.co_firstlineno, one.co_freevars) == (code.co_name, code.co_firstlineno, code.co_freevars)
        and one.co_varnames[:count] == code.co_varnames[:count]
    )


def _hooked(code: types.CodeType, hooks: Hooks) -> types.CodeType:
    """The code with the functions themselves in the place of their marks: no name is added that a program could see."""
    constants: list[Any] = []
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            one = _hooked(one, hooks)
        constants.append(hooks.get(one, one) if type(one) is str else one)
    return code.replace(co_consts=tuple(constants))


_BARE = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
"""What has nothing in it that is rewritten: more than half of a tree."""


class _Rewriter(ast.NodeTransformer):
    """Writes every call, and every assignment to an entry of a local name, so that it is asked for."""

    def __init__(self) -> None:
        self.locals: list[set[str]] = []

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, _BARE) else super().visit(node)

    # ------------------------------------------------------------------ scopes
    def visit_FunctionDef(self, node: Any) -> Any:
        self.locals.append(_locals(node))
        hint, node.returns = node.returns, None
        try:
            return self.generic_visit(node)
        finally:
            node.returns = hint
            self.locals.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the name is ast's

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        return self._apart(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return self._apart(node)

    def _apart(self, node: Any) -> Any:
        """A scope in which no local name is written to."""
        self.locals.append(set())
        try:
            return self.generic_visit(node)
        finally:
            self.locals.pop()

    def visit_arg(self, node: ast.arg) -> Any:
        """A hint stays as it is written: it may be read as a text."""
        return node

    # ------------------------------------------------------------------ calls
    def visit_Call(self, node: ast.Call) -> Any:
        method = node.func
        self.generic_visit(node)
        if isinstance(method, ast.Attribute):  # a method is asked for by the call
            node.func = method
        if not (isinstance(node.func, ast.Name) and node.func.id in _UNTOUCHED):
            node.func = _asked(node.func)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """`a.b` by its reader; names that a class makes private stay."""
        self.generic_visit(node)
        private = node.attr.startswith("__") and not node.attr.endswith("__")
        if private or not isinstance(node.ctx, ast.Load):
            return node
        return _hook(_ATTRIBUTE, node.value, _placed(ast.Constant(node.attr), node))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """`table[k]`: what is read may be a plain array with a traced index, or a dictionary with a traced key."""
        base, entry = node.value, node.slice
        name = getattr(base, "attr", None) or getattr(base, "id", None)
        parts = entry.elts if isinstance(entry, ast.Tuple) else [entry]
        plain = all(isinstance(one, (ast.Constant, ast.Slice)) for one in parts)
        keyed = isinstance(base, ast.Name) and not isinstance(entry, (ast.Constant, ast.Slice, ast.Tuple))
        self.generic_visit(node)
        if name in _INDEXED and isinstance(node.ctx, ast.Load):
            node.value = _asked(node.value)
        elif isinstance(node.ctx, ast.Load):
            sliced = any(isinstance(one, (ast.Slice, ast.Starred)) for one in parts)
            return node if plain or sliced else _hook(_ITEM, node.value, node.slice)
        elif keyed and isinstance(base, ast.Name):
            node.slice = _hook(_INDEX, _placed(ast.Name(base.id, ast.Load()), entry), node.slice)
        return node

    # ------------------------------------------------------------------ where Python looks at a value itself
    def visit_Compare(self, node: ast.Compare) -> Any:
        """`a is True` and `k in table`; a chain of them stays as it is, but for its compared sides."""
        self.generic_visit(node)
        operands = [node.left, *node.comparators]
        for k, one in enumerate(node.ops):
            if isinstance(one, (ast.Is, ast.IsNot)) and any(map(_is_truth, operands[k : k + 2])):
                operands[k : k + 2] = [_hook(_COMPARED, side) for side in operands[k : k + 2]]
        node.left, *node.comparators = operands
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            found = _hook(_WITHIN, *operands)
            return found if isinstance(node.ops[0], ast.In) else _placed(ast.UnaryOp(ast.Not(), found), node)
        return node

    def visit_Set(self, node: ast.Set) -> Any:
        self.generic_visit(node)
        node.elts = [one if isinstance(one, ast.Starred) else _hook(_KEY, one) for one in node.elts]
        return node

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        self.generic_visit(node)
        node.elt = _hook(_KEY, node.elt)
        return node

    def visit_Dict(self, node: ast.Dict) -> Any:
        self.generic_visit(node)
        node.keys = [one if one is None or isinstance(one, ast.Constant) else _hook(_KEY, one) for one in node.keys]
        return node

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        self.generic_visit(node)
        node.key = _hook(_KEY, node.key)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        text = isinstance(node.left, ast.JoinedStr) or isinstance(getattr(node.left, "value", None), str)
        self.generic_visit(node)
        return _hook(_FILLED, node.left, node.right) if text and isinstance(node.op, ast.Mod) else node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> Any:
        self.generic_visit(node)
        if node.conversion == ord("r"):
            node.value, node.conversion = _hook(_SHOWN, node.value), ord("s")
        return node

    def visit_Match(self, node: ast.Match) -> Any:
        """`case True` asks for a truth, `case float()` for the kind of the value that a layer stands for.

        A pattern is no expression: nothing is put into it.
        """
        node.subject = self.visit(node.subject)
        for case in node.cases:
            case.guard = None if case.guard is None else self.visit(case.guard)
            case.body = self.visit(ast.Module(case.body, [])).body
        patterns = [one for case in node.cases for one in ast.walk(case.pattern)]
        if any(isinstance(one, ast.MatchSingleton) and one.value is not None for one in patterns):
            node.subject = _hook(_COMPARED, node.subject)
        kinds = [one for one in patterns if isinstance(one, ast.MatchClass)] if any(self.locals) else []
        before: list[ast.stmt] = []
        for k, one in enumerate(kinds):
            name = f".kind{node.lineno}_{k}"
            for part in ast.walk(one.cls):
                ast.copy_location(part, node)  # a debugger is to see the line of `match`, once
            before.append(_placed(ast.Assign([ast.Name(name, ast.Store())], _hook(_KIND, one.cls)), node))
            one.cls = _placed(ast.Name(name, ast.Load()), one)
        return [*before, node]

    # ------------------------------------------------------------------ writing
    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        hint, node.annotation = node.annotation, ast.Constant(None)
        self.generic_visit(node)  # in place
        node.annotation = hint
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        target = node.targets[0]
        return self._written(node, target) if len(node.targets) == 1 else self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        target = node.target
        return self._written(node, target) if not isinstance(target, ast.Attribute) else self.generic_visit(node)

    def _written(self, node: Any, target: ast.expr) -> Any:
        """`y[i] = v` on a local name, as `.value = v; y = writable(y, .value); y[i] = .value`."""
        base, entire = target, isinstance(node, ast.Assign) and not isinstance(target, ast.Subscript)
        while isinstance(base, ast.Subscript):
            base = base.value
        if entire or not (isinstance(base, ast.Name) and self.locals and base.id in self.locals[-1]):
            return self.generic_visit(node)
        self.generic_visit(node)  # in place
        ask = ast.Call(ast.Constant(_WRITABLE), [ast.Name(base.id, ast.Load()), ast.Name(_VALUE, ast.Load())], [])
        lines = [
            ast.Assign([ast.Name(_VALUE, ast.Store())], node.value),
            ast.Assign([ast.Name(base.id, ast.Store())], ask),
        ]
        placed = [ast.fix_missing_locations(ast.copy_location(one, node)) for one in lines]
        node.value = ast.copy_location(ast.Name(_VALUE, ast.Load()), node)
        return [*placed, node]


def _asked(function: ast.expr) -> Any:
    return _hook(_CALLED, function)


def _hook(mark: str, *values: ast.expr) -> Any:
    """A call of one of the hooks, where the first of the values stands; each value has its place already."""
    at = values[0]
    return ast.copy_location(ast.Call(ast.copy_location(ast.Constant(mark), at), list(values), []), at)


def _placed(node: Any, at: ast.AST) -> Any:
    return ast.fix_missing_locations(ast.copy_location(node, at))


def _is_truth(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is bool


def _locals(function: ast.FunctionDef) -> set[str]:
    """The names that a function binds itself."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    bound = {one.arg for one in every if one is not None}
    outer: set[str] = set()
    for node in within(function.body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            outer.update(node.names)
    return bound - outer
