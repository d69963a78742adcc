"""What does a call give? One of NumPy's functions, of the user's own, of a class, of a layer."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from symbolic import public
from symbolic.layer import Layer
from symbolic.leaves import Literal, Weight
from symbolic.static import evaluation, modules
from symbolic.static.abstract import UNKNOWN, Value
from symbolic.static.builtin_calls import HANDLERS, PLAIN_KEYWORDS
from symbolic.static.derivations import Derivations, deriving
from symbolic.static.holding import Ref, Traced, traced
from symbolic.static.provenance import WEIGHT, Past, origin_of_input
from symbolic.static.random_draws import drawn
from symbolic.static.scopes import full_name
from symbolic.static.things import (
    Alias,
    Bound,
    Class,
    Customized,
    Derived,
    Foreign,
    Function,
    Network,
    Partial,
    Pullback,
)

_DERIVING = {"grad", "value_and_grad", "jacobian", "hessian", "vmap"}
_PASSING = {public.remat, public.stop_gradient}


class Calling(Derivations):
    """Calls."""

    def _call(self, node: ast.Call) -> Any:
        callee = self._callee(node.func)
        if callee is np.where and len(node.args) == 3:
            self.report.guarded.update(_positive(*node.args))
        args = self.items(node.args)
        kwargs: dict[str, Any] | None = {}
        for one in node.keywords:
            value = self.evaluate(one.value)
            if one.arg is not None:
                kwargs = None if kwargs is None else {**kwargs, one.arg: value}
            else:
                inner: Any = self.state.contents(value) if isinstance(value, Ref) and value.kind is dict else UNKNOWN
                named = type(inner) is dict and all(isinstance(key, str) for key in inner)
                kwargs = {**kwargs, **inner} if named and kwargs is not None else None
        if type(args) is not tuple or kwargs is None:
            self.state.lose([args, kwargs or {}])
            return UNKNOWN
        return self.invoke(callee, list(args), kwargs, node)

    def _callee(self, node: ast.expr) -> Any:
        """What is called: of `x.sum(…)` the method, which is no attribute that is asked for."""
        if not isinstance(node, ast.Attribute):
            return self.evaluate(node)
        home = self.evaluate(node.value)
        return Bound(node.attr, home) if isinstance(home, Value) else self.attribute(home, node.attr, node)

    def invoke(self, callee: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        self.report.step()
        if type(callee) in _OF_LIBRARIES:
            return self._of_library(callee, args, kwargs, node)
        if isinstance(callee, Function):
            return self.run(callee, args, kwargs, node)
        if isinstance(callee, Bound):
            return self._bound(callee, args, kwargs, node)
        if isinstance(callee, Partial):
            return self.invoke(callee.function, [*callee.args, *args], {**callee.kwargs, **kwargs}, node)
        if isinstance(callee, Class):
            return self.instance(callee, args, kwargs, node)
        if isinstance(callee, Derived):
            return self._derived(callee, args, kwargs, node)
        if isinstance(callee, Pullback):
            return callee.deltas
        if isinstance(callee, Customized):
            return self._customized(callee, args, kwargs, node)
        if isinstance(callee, Network):
            return self._network(callee, args, node)
        if isinstance(callee, Ref) and isinstance(callee.kind, Class):
            found = callee.kind.find("__call__")
            return self.run(found, [callee, *args], kwargs, node) if isinstance(found, Function) else UNKNOWN
        if isinstance(callee, Foreign) and any(
            isinstance(one, Traced) and one.is_layer for one in [*args, *kwargs.values()]
        ):
            callee = modules.resolved(callee)
        if isinstance(callee, Foreign) and callee.name == "collections.namedtuple" and not kwargs:
            return self.named_tuple(args, node)
        if callee is UNKNOWN or isinstance(callee, (Foreign, Alias)) or not callable(callee):
            return self._of_unknown(callee, args, kwargs)
        return self._of_library(callee, args, kwargs, node)

    def _bound(self, callee: Bound, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        if isinstance(callee.function, Function):
            return self.run(callee.function, [callee.self, *args], kwargs, node)
        name, home = callee.function, callee.self
        if isinstance(home, Value):
            if any(map(_is_code, args)):
                return UNKNOWN
            return self.operate(name, [home, *args], kwargs, node)
        if isinstance(home, Foreign) or callable(home):
            return self._of_unknown(home, args, kwargs)
        if isinstance(home, Ref) and home.kind is np.random.Generator:
            return drawn(name, [self.plain(one) for one in args], {key: self.plain(one) for key, one in kwargs.items()})
        return self.method_of(home, name, args, kwargs, node)

    def _of_unknown(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A function of which nothing is known: it may change the lists and objects that it is given."""
        self.state.lose([*args, *kwargs.values()])
        return UNKNOWN

    # ------------------------------------------------------------------ libraries
    def _of_library(self, callee: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        handler = _find(HANDLERS, callee)
        if handler is not None:
            allowed = PLAIN_KEYWORDS.get(callee, set())
            if not kwargs or allowed is None or set(kwargs) <= allowed:
                return handler(self, [*args, *kwargs.values()] if callee in (sum, enumerate) else args, node)
            if callee not in (sorted, dict):
                return self._of_unknown(callee, args, kwargs)
            return handler(self, args, node) if callee is sorted and args else self.state.made(dict, kwargs)
        if callee is functools.partial and args:
            return Partial(args[0], tuple(args[1:]), kwargs)
        special = self._of_ours(callee, args, kwargs, node)
        if special is not None:
            return special
        if callee is np.apply_along_axis:
            return self.along_axis(args, kwargs, node)
        if callee is super or any(map(_is_code, [*args, *kwargs.values()])):
            return self._with_code(callee, args, kwargs, node)
        if full_name(callee).startswith("numpy.random"):
            return self._random(callee, args, kwargs)
        known = evaluation.supported(callee)
        if known is False:
            return self._built(callee, args, kwargs)
        found = self.operate(callee, args, kwargs, node)
        if isinstance(callee, type) and issubclass(callee, (Weight, Literal)) and isinstance(found, Value):
            found = traced(found, (), Past.known(origin_of_input(WEIGHT, found)))
            found.is_layer = True
        return found

    def _of_ours(self, callee: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """This library's functions of functions; `None` for any other."""
        name = getattr(callee, "__name__", "")
        ours = str(getattr(callee, "__module__", "")).partition(".")[0] == "symbolic" or isinstance(callee, _Decorator)
        if not ours:
            return None
        if isinstance(callee, _Decorator) or callee is public.symbolic:
            return self.decorated(args[0]) if args and isinstance(args[0], Function) else UNKNOWN if args else callee
        if name in ("jvp", "vjp") and args:
            return self.at_once(name, args, kwargs, node)
        if name in _DERIVING and args:
            return deriving(name, args, kwargs)
        if name == "custom_gradient" and len(args) == 1 and isinstance(args[0], Function):
            return Customized(args[0])
        if _find(dict.fromkeys(_PASSING, True), callee) and args and isinstance(args[0], (Function, Bound)):
            return args[0]
        return None

    def _with_code(self, callee: Any, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        """A library's function that is given functions of the user's: they may run any number of times."""
        self.state.lose([*args, *kwargs.values()])
        return UNKNOWN

    def _random(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if callee is np.random.default_rng:
            return self.state.made(np.random.Generator, {})
        given = {name: self.plain(one) for name, one in kwargs.items()}
        return drawn(getattr(callee, "__name__", ""), [self.plain(one) for one in args], given)

    def _built(self, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A layer of the library's own that is built of constants: `Linear(4, 8)`."""
        is_layer = isinstance(callee, type) and issubclass(callee, Layer)
        given = [one.layer if isinstance(one, Network) else one for one in [*args, *kwargs.values()]]
        simple = all(isinstance(one, (int, float, str, bool, type(None), Layer)) for one in given)
        small = all(not isinstance(one, int) or abs(one) <= 4096 for one in given)
        if is_layer and simple and small and callee.__module__.startswith("symbolic.nn."):
            try:
                return Network(callee(*given[: len(args)], **dict(zip(kwargs, given[len(args) :], strict=True))))
            except Exception:  # the run says what is wrong
                return UNKNOWN
        return self._of_unknown(callee, args, kwargs)

    def _network(self, callee: Network, args: list[Any], node: ast.AST) -> Any:
        """What a layer that is built gives for a value."""
        given = [self.plain(one) for one in args]
        if not given or not all(isinstance(one, Value) for one in given):
            return UNKNOWN
        found = self.operate(_applied(callee.layer), given, {}, node)
        return found


_OF_LIBRARIES = frozenset((np.ufunc, type(np.sum), type(len), type(ast.walk), type))
"""What the functions of libraries are, and no other callee."""


def _positive(test: ast.expr, chosen: ast.expr, other: ast.expr) -> Iterator[ast.AST]:
    """The differences in `np.where(a > b, a - b, b - a)`, none of which is negative where it is taken."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE)):
        return
    sides = [ast.dump(test.left), ast.dump(test.comparators[0])]
    if isinstance(test.ops[0], (ast.Lt, ast.LtE)):
        sides.reverse()
    for branch, wanted in ((chosen, sides), (other, sides[::-1])):
        if isinstance(branch, ast.BinOp) and [ast.dump(branch.left), ast.dump(branch.right)] == wanted:
            yield branch


_Decorator: type = type(public.symbolic)


def _find(table: Any, key: Any) -> Any:
    try:
        return table.get(key)
    except TypeError:  # it has no hash
        return None


def _is_code(value: Any) -> bool:
    return isinstance(value, (Function, Bound, Partial, Derived, Pullback, Class)) or (
        isinstance(value, (list, tuple)) and not isinstance(value, Value) and any(map(_is_code, value))
    )


_APPLIED: dict[int, tuple[Any, Callable[..., Any]]] = {}


def _applied(layer: Any) -> Callable[..., Any]:
    """One function for each layer, so that the answers are kept."""

    def apply(*args: Any) -> Any:
        return layer(*args)

    apply.__module__ = evaluation.__name__
    return _APPLIED.setdefault(id(layer), (layer, apply))[1]
