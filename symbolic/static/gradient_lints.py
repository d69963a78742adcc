"""Where does a gradient end that somebody asks for, and what does a hand-written rule return?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from symbolic.polynomial import Undecided
from symbolic.spec import Spec, show
from symbolic.static.abstract import UNKNOWN, Value
from symbolic.static.lint import Found
from symbolic.static.meanings import arrays, dtype_of, shape_of
from symbolic.static.provenance import origin_of

NO_GRADIENT = "no-gradient"
DELTA = "delta-unlike-its-argument"


class Placed(NamedTuple):
    """What was found, and where the interpreter said that it was when the gradient ended there."""

    found: Found
    where: Any


def no_gradient(value: Any, asked: Iterable[str]) -> list[Placed]:
    """The inputs, of those by which somebody differentiates, of which the value depends only without a gradient.

    For `grad(f, argnums)` and its like: `value` is what `f` returns, `asked` names its parameters.
    """
    origins = [origin_of(one) for one in arrays((value,), {})]
    known = [one for one in origins if one is not None]
    if not known or len(known) != len(origins) or not all(one.complete for one in known):
        return []
    found: list[Placed] = []
    for name in asked:
        losses = [loss for one in known for lost, loss in one.lost if lost == name]
        if losses and not any(name in one.carried for one in known):
            seen = f"{name} reaches the result only through {losses[0].what}, where its gradient ends"
            remedy = "keep it a float up to the result, or differentiate by something else"
            found.append(Placed(Found(NO_GRADIENT, seen, remedy), losses[0].where))
    return found


def deltas(rule: str, names: Sequence[str], arguments: Sequence[Any], returned: Any) -> list[Found]:
    """The gradients that a rule of `custom_gradient` returns, one for each argument, that are not like it.

    `None` says that nothing flows; what is not known is taken to fit.
    """
    parts = returned if isinstance(returned, tuple) and len(arguments) > 1 else (returned,)
    if returned is UNKNOWN or len(parts) != len(arguments):
        return []
    found: list[Found] = []
    for name, argument, delta in zip(names, arguments, parts, strict=True):
        wrong = _unlike(argument, delta)
        if wrong is not None:
            seen = f"the gradient that {rule} returns for {name} has {wrong[0]}, and {name} has {wrong[1]}"
            found.append(Found(DELTA, seen, wrong[2]))
    return found


def _unlike(argument: Any, delta: Any) -> tuple[str, str, str] | None:
    """What the one has, what the other has, and what to do."""
    if not isinstance(argument, Value) or not isinstance(delta, Value):
        return None
    if not isinstance(argument.spec, Spec) or not isinstance(delta.spec, Spec):
        return None
    one, other = shape_of(argument), shape_of(delta)
    if one is not None and other is not None and _differ(one, other):
        return f"shape {show(other)}", f"shape {show(one)}", "sum over the axes along which it was stretched"
    dtypes = dtype_of(argument), dtype_of(delta)
    if dtypes[0] is None or dtypes[1] is None or dtypes[0] == dtypes[1] or dtypes[0].kind not in "fc" or one == ():
        return None
    return f"dtype {dtypes[1]}", f"dtype {dtypes[0]}", f"convert it: .astype(np.{dtypes[0]})"


def _differ(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether two shapes are different for certain."""
    try:
        if len(one) != len(other):
            return True
        return any(a is not None and b is not None and a != b for a, b in zip(one, other, strict=True))
    except Undecided:
        return False
