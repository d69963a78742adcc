"""How does a function move when its arguments do? `jvp`, forward mode: the pullback, transposed.

The pullback of a function is linear in the delta `u` of its value. So its own pullback is the derivative itself, the
way that tangents go, and forward mode needs no rules of its own: both sweeps are written as graphs, what depends on
`u` is dead in the end, and a program of forward derivatives alone is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symbolic.context import here, source
from symbolic.differentiate import gradients
from symbolic.errors import DtypeError, place_of
from symbolic.layer import AnyLayer, Layer, Lent
from symbolic.leaves import Literal
from symbolic.literal import as_layer, delta_spec
from symbolic.ops.checked import Checked
from symbolic.ops.deltas import SumLike
from symbolic.ops.passing import Mark, Tuple
from symbolic.outcome import is_layer, outcome
from symbolic.spec import AnySpec, spec_of
from symbolic.structure import alike, flatten, paths, unflatten
from symbolic.tape import B
from symbolic.trace import Tracing
from symbolic.transformed import Transformed
from symbolic.values import native


def jvp(f: Callable[..., B], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[B, B]:
    """The value of `f(*primals)` and its tangent: how the value moves when the arguments move along `tangents`.

    `primals` and `tangents` are tuples of one entry for each argument, built alike (tuples, lists, dictionaries,
    dataclasses), each tangent of its primal's shape; a leaf without a delta (an integer array, a string) has the
    tangent `None`. The tangent that comes back is built as the value is. ShapeError for another structure or shape,
    DtypeError for tangents of integers, and where no argument has a tangent.

    >>> import numpy as np
    >>> from symbolic import grad
    >>> jvp(lambda x: x * x, (3.0,), (1.0,))
    (9.0, 6.0)
    >>> jvp(grad(np.sin), (0.0,), (1.0,))
    (1.0, -0.0)
    """
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise DtypeError(
                f"jvp got {name} of type {'ndarray' if isinstance(given, np.ndarray) else type(given).__name__}",
                where=place_of(source()),
                remedy="give a tuple with one entry for each argument: jvp(f, (x,), (dx,))",
            )
    value, tangent = Transformed(f, value_and_tangent, "jvp", first=True)(tuple(primals), tuple(tangents))
    return value, tangent


def value_and_tangent(of: Transformed, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    primals, tangents = args
    leaves, tree = flatten(primals, leaf=is_layer)
    given = alike(tree, tangents, "the tangents that jvp was given", is_layer)
    names = [path for k, child in enumerate(tree[2]) for path in paths(child, f"the tangent of argument {k}")]
    variables, ways = _variables(leaves, given, names)
    result = outcome(of.applied(*unflatten(tree, iter(variables))))
    moved = pushed(result.layers, [one for one in variables if isinstance(one, Mark)], ways)
    return result.within(result.layers), result.deltas(moved)


def _variables(
    leaves: Sequence[Any], tangents: Sequence[Any], names: Sequence[str]
) -> tuple[list[Any], list[AnyLayer]]:
    """The arguments with variables in the place of what moves, and the way of each."""
    variables, ways = list(leaves), []
    for k, (leaf, tangent, name) in enumerate(zip(leaves, tangents, names, strict=True)):
        if not has_delta(leaf) or (tangent is None and isinstance(leaf, int)):
            if tangent is not None:
                Checked.make((as_layer(tangent), operand(leaf)), (name, False, False))  # it raises
            continue
        variables[k] = Mark.make((operand(leaf),))
        way = Checked.make((operand(tangent), variables[k]), (name, False, False))
        if here.facts is None and not is_layer(leaf):
            way.infer(spec_of(native(tangent)), spec_of(native(leaf)))
        ways.append(way)
    if not ways:
        raise DtypeError(
            "jvp by arguments of which none has a tangent (NoDelta)",
            where=place_of(source()),
            remedy="pass a float: x.astype(float)",
        )
    return variables, ways


def has_delta(leaf: Any) -> bool:
    """Whether a leaf of an argument can be differentiated by; of a layer whose spec is not known yet, yes."""
    spec = known_spec(leaf)
    return spec is None or delta_spec(spec) is not None


def operand(leaf: Any) -> AnyLayer:
    """A leaf of an argument as a layer; an array that the body captured stays one that is read at every call."""
    return as_layer(leaf if isinstance(leaf, (Layer, Lent)) else native(leaf))


def known_spec(leaf: Any) -> AnySpec | None:
    """The spec of a layer or a value; `None` of a layer outside of traces."""
    if not is_layer(leaf):
        return spec_of(leaf if isinstance(leaf, Lent) else native(leaf))
    return here.trace.facts.spec(here.trace.resolve(leaf)) if isinstance(here.trace, Tracing) else None


def pushed(outputs: Sequence[AnyLayer], variables: Sequence[AnyLayer], ways: Sequence[AnyLayer]) -> list[Any]:
    """The tangent of each output when the variables move along the ways; `None` for what has none."""
    moving = [k for k, one in enumerate(outputs) if has_delta(one)]
    tangents: list[Any] = [None] * len(outputs)
    for k in moving:
        delta = Mark.make((SumLike.make((Literal(0.0), outputs[k])),))
        back = gradients(outputs[k], delta, variables)
        tangents[k] = gradients(Tuple.make(tuple(back)), Tuple.make(tuple(ways)), [delta])[0]
    return tangents
