"""Who says what a derivative is, and what is kept for it? `stop_gradient`, `custom_gradient` and `remat`.

The two latter run a function over variables of its own and put one node around the result. The node's value is the
result; its gradient is what the function's own pullback wrote, or a second run of the function's graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, ParamSpec

import numpy as np

from symbolic.annotated import signature
from symbolic.context import here, source
from symbolic.differentiate import pullback
from symbolic.errors import ShapeError, TraceError, place_of
from symbolic.forward import has_delta
from symbolic.inference import Inference
from symbolic.layer import AnyLayer, Layer, short
from symbolic.leaves import Literal
from symbolic.literal import as_layer, delta_spec
from symbolic.live import Captured
from symbolic.ops.checked import Checked
from symbolic.ops.operation import Operation, frontier, replaced, topological
from symbolic.ops.passing import Barrier, Mark, Stopped, Tuple, entry_of, zero
from symbolic.outcome import HOLE, Outcome, is_layer, opened, outcome
from symbolic.slices import RULES, Slices
from symbolic.spec import AnySpec
from symbolic.structure import alike, flatten, paths, unflatten
from symbolic.structure import count as count_of
from symbolic.tape import A, B
from symbolic.trace import run_body

P = ParamSpec("P")


def stop_gradient(x: A) -> A:
    """The same value, by which nothing is differentiated: traced values in a structure, or one.

    Plain values pass as they are.

    >>> from symbolic import grad
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """
    leaves, tree = flatten(x, leaf=is_layer)
    if not any(map(is_layer, leaves)):
        return x
    stopped = [Stopped.make((as_layer(one),)) if is_layer(one) else one for one in leaves]
    return unflatten(tree, iter(stopped))  # type: ignore[no-any-return]  # built as x is


# --------------------------------------------------------------------------- over variables of its own


class _Run:
    """A function, run over variables in the place of its traced arguments."""

    def __init__(self, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], what: str) -> None:
        self.title = getattr(f, "__name__", type(f).__name__)
        leaves, self.tree = flatten((args, kwargs), leaf=is_layer)
        self.places = [Mark.make((as_layer(one),)) if is_layer(one) else one for one in leaves]
        self.variables: list[AnyLayer] = [one for one in self.places if is_layer(one)]
        self.args, self.kwargs = unflatten(self.tree, iter(self.places))
        self.returned = called(f, self.args, self.kwargs)
        for one in self.variables:
            if here.trace is not None and here.trace.resolve(one) is not one:
                raise TraceError(
                    f"{self.title}, given to {what}, assigns to its argument",
                    where=place_of(source()),
                    remedy="copy the argument first (np.copy), and return the new value",
                )

    def asked(self, trees: Sequence[Any]) -> list[int]:
        """The arguments that may have a gradient: those in which an array, a number or a traced value stands."""
        rest, found = iter(self.places), []
        for k, tree in enumerate(trees):
            leaves = [next(rest) for _ in range(count_of(tree))]
            if any(isinstance(one, (Layer, np.ndarray, np.generic, int, float, complex)) for one in leaves):
                found.append(k)
        return found


def called(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A function's result, its body run within the trace if there is one."""
    return f(*args, **kwargs) if here.trace is None else run_body(None, f, args, kwargs)


def _plain(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return not any(map(is_layer, flatten((args, kwargs), leaf=is_layer)[0]))


class _Around(Operation):
    """The results of a function (the first operand, a tuple) with a gradient of their own."""

    __slots__ = ()
    variadic = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return specs[0]

    def evaluate(self, *values: Any) -> Any:
        return values[0]

    def simplify(self, specs: Sequence[AnySpec]) -> AnyLayer | None:
        return self.operands[0]  # gradients are written out by then

    def results(self, result: Outcome) -> Any:
        """The function's result, read from this node."""
        read = {one: entry_of(self, k) for k, one in enumerate(self.operands[0].operands)}
        return result.within([read.get(one, one) for one in result.layers])


def _moving(result: Outcome) -> tuple[AnyLayer, ...]:
    """The traced values of a result that have a delta, each once."""
    pairs = zip(result.layers, result.plain, strict=True)
    return tuple(dict.fromkeys([one for one, plain in pairs if plain is HOLE and has_delta(one)]))


def _for_all(node: Any, at: Slices) -> Any:
    """For all slices: the same node around what is inside of it, for all slices."""
    if isinstance(node, Remat) and not at.moved[0]:
        return at.operands[0], False
    return node.rebuilt(tuple(at.all() if isinstance(node, Custom) else at.operands))


RULES[_Around] = _for_all


# --------------------------------------------------------------------------- a gradient by hand


def custom_gradient(f: Callable[P, tuple[B, Callable[..., Any]]]) -> Callable[P, B]:
    """The function whose value and gradient `f` says: `f(*args)` returns the value and its pullback.

    The pullback is given the delta of the value, in the value's structure, and returns one gradient, or a tuple of
    one for each argument, in the argument's structure; `None` says that nothing flows. Both are written in NumPy and
    differentiated in their turn. ShapeError and DtypeError for a gradient of another shape or dtype than its
    argument's; TraceError if `f` uses traced values or weights besides its arguments, for which it gives no gradient.

    >>> import numpy as np
    >>> from symbolic import grad
    >>> @custom_gradient
    ... def log1pexp(x):
    ...     e = np.exp(x)
    ...     return np.log(1 + e), lambda delta: delta * (1 - 1 / (1 + e))
    >>> grad(log1pexp)(100.0)
    1.0
    """

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _positional(f, args, kwargs)
        if _plain(args, kwargs):
            return _pair(called(f, args, kwargs), f)[0]
        return _customized(f, args, kwargs)

    return wrapped


def _customized(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    run = _Run(f, args, kwargs, "custom_gradient")
    value, back = _pair(run.returned, f)
    result = outcome(value)
    _check_alone(run, result.layers)
    moving = _moving(result)
    deltas: dict[AnyLayer, AnyLayer] = {one: Mark.make((Barrier.make((zero(one), *run.variables)),)) for one in moving}
    found = _gradients(back(result.deltas([deltas.get(one) for one in result.layers])), run)
    operands = (Tuple.make(moving), Tuple.make(tuple(deltas.values())), *run.variables, *found)
    return Custom.make(operands, (len(run.variables),)).results(result)


class Custom(_Around):
    """The results, the variables of their deltas, the arguments, and the gradients of the arguments by these deltas."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"count": 0}

    def consumed(self) -> AnyLayer | None:
        return self.operands[0]  # of a further derivative, the function's own graph has to say what it is

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        deltas: Any = operands[1]
        places: dict[AnyLayer, AnyLayer] = {one: entry_of(delta, k) for k, one in enumerate(deltas.operands)}
        given = operands[2 + self.count :]
        found = [None if isinstance(one, Literal) and one.value is None else one for one in given]
        wanted = iter(replaced([one for one in found if one is not None], places))
        return (None, None, *[None if one is None else next(wanted) for one in found], *[None] * self.count)


def _positional(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments that are given by name, in their places."""
    if not kwargs:
        return args, kwargs
    try:
        bound = signature(f).bind(*args, **kwargs)
    except ValueError:  # a function that does not tell its arguments
        return args, kwargs
    if not _plain((), bound.kwargs):
        raise TraceError(
            f"{getattr(f, '__name__', f)}, given to custom_gradient, is given a traced value by keyword alone",
            where=place_of(source()),
            remedy="let the argument be given by position too: its pullback returns one gradient for each of these",
        )
    return bound.args, bound.kwargs


def _pair(returned: Any, f: Callable[..., Any]) -> tuple[Any, Callable[[Any], Any]]:
    if isinstance(returned, tuple) and len(returned) == 2 and callable(returned[1]) and not is_layer(returned[1]):
        return returned
    raise TraceError(
        f"{getattr(f, '__name__', f)}, given to custom_gradient, returns a {type(returned).__name__}",
        where=place_of(source()),
        remedy="return a pair: the value, and the pullback (a function of the value's delta)",
    )


def _check_alone(run: _Run, layers: Sequence[AnyLayer]) -> None:
    """Refuse what the function uses besides its arguments: its gradient would be lost in silence."""
    for one in frontier(layers, run.variables):
        moving = [leaf for leaf in topological([one]) if not isinstance(leaf, (Operation, Literal, Captured))]
        if moving and not isinstance(one, Stopped) and has_delta(one):
            raise TraceError(
                f"{run.title}, given to custom_gradient, uses {short(one)} besides its arguments",
                where=place_of(source()),
                remedy="pass it as an argument, or as stop_gradient(…) if no gradient is wanted",
            )


def _gradients(found: Any, run: _Run) -> list[AnyLayer]:
    """What the pullback returned, one for each variable; `Literal(None)` where nothing flows."""
    trees, what = run.tree[2][0][2], f"gradient that the pullback of {run.title} returned"
    found = _for_arguments(found, trees, run)
    given: list[Any] = []
    for k, (one, tree) in enumerate(zip(found, trees, strict=True)):
        names = paths(tree, f"the {what} for argument {k}")
        leaves = [None] * len(names)
        if one is not None:
            leaves = alike(tree, opened(one), f"the {what} for argument {k}", is_layer)
        given += zip(leaves, names, strict=True)
    places = zip(given, run.places, strict=False)  # the places of keywords come last, and have no gradient
    return [_checked(one, name, place) for (one, name), place in places if is_layer(place)]


def _for_arguments(found: Any, trees: Sequence[Any], run: _Run) -> list[Any]:
    """One entry for each argument; one that cannot have a gradient, such as a method's `self`, may be left out."""
    if type(found) is tuple and len(found) == len(trees) > 1:
        return list(found)
    asked = run.asked(trees)
    parts = (found,) if len(asked) == 1 and not _in_tuple(found, trees[asked[0]]) else found
    if type(parts) is not tuple or len(parts) != len(asked):
        count = len(found) if isinstance(found, tuple) else 1
        raise ShapeError(
            f"the pullback of {run.title} returned {count} gradients for {len(trees)} arguments",
            where=place_of(source()),
            remedy="return a tuple of one gradient for each argument, None where nothing flows",
        )
    given = dict(zip(asked, parts, strict=True))
    return [given.get(k) for k in range(len(trees))]


def _in_tuple(found: Any, tree: Any) -> bool:
    """Whether the gradient of the only argument stands in a tuple; an argument may be a tuple itself."""
    of_tuple = tree is not None and not tree[1] and issubclass(tree[0], tuple)
    return type(found) is tuple and (not of_tuple or (len(found) == 1 and isinstance(found[0], (tuple, list))))


def _checked(delta: Any, name: str, argument: AnyLayer) -> AnyLayer:
    if delta is None:
        return Literal(None)
    return Checked.make((as_layer(delta), argument), (name, False, True))  # type: ignore[no-any-return]  # a layer


# --------------------------------------------------------------------------- computed anew


def remat(f: Callable[P, B]) -> Callable[P, B]:
    """The same function, of which only the arguments are kept for the way back: what is between is computed again.

    Values and gradients are those of `f`, to the last bit; a network of many such blocks needs the memory of one.
    `f` takes and returns any structure.

    >>> import numpy as np
    >>> from symbolic import grad
    >>> grad(lambda x: remat(lambda y: np.sin(np.sin(y)))(x))(0.0)
    1.0
    """

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if _plain(args, kwargs):
            return called(f, args, kwargs)
        run = _Run(f, args, kwargs, "remat")
        result = outcome(run.returned)
        moving = _moving(result)
        others = frontier(moving, run.variables)
        node = Remat.make((Tuple.make(moving), *run.variables, *others), (len(run.variables),))
        return node.results(result)

    return wrapped


class Remat(_Around):
    """The results, the arguments, and what else the results are made of."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"count": 0}

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        results, arguments, others = operands[0], operands[1 : 1 + self.count], operands[1 + self.count :]
        assert isinstance(here.facts, Inference)
        facts = here.facts
        known = [delta_spec(facts.spec(one)) is not None for one in results.operands]
        deltas = [entry_of(delta, k) for k, is_known in enumerate(known) if is_known]
        places: dict[AnyLayer, AnyLayer] = {one: Barrier.make((one, *deltas)) for one in arguments}
        places.update((one, Mark.make((one,))) for one in others)
        (again,) = replaced([results], places)
        found = pullback(again, delta, [places[one] for one in (*arguments, *others)], facts)
        known = [delta_spec(facts.spec(one)) is not None for one in (*arguments, *others)]
        return (None, *[one if is_known else None for one, is_known in zip(found, known, strict=True)])
