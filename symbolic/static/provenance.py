"""Where does a value come from: which inputs, which axes, which reduction?

An origin is kept beside a `Value`, as the attribute `origin` of a subclass that compares and hashes as the plain value
does, so that answers are shared between values of different origin. Of a value without one nothing is claimed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from symbolic.polynomial import Size, same
from symbolic.spec import AnySpec, Spec
from symbolic.static.abstract import Value
from symbolic.static.meanings import (
    COMPARING,
    MAKING,
    REDUCTIONS,
    Args,
    Kwargs,
    arrays,
    axes_of,
    dtype_of,
    is_elementwise,
    name_of,
    shape_of,
)


class Reduction(NamedTuple):
    """A reduction that a value came of: of which arrays, and over which axes."""

    token: int
    frames: frozenset[int]
    rank: int
    axes: tuple[int, ...]
    keepdims: bool
    name: str


class Loss(NamedTuple):
    """Where the gradient of an input ended."""

    what: str
    where: Any


class Origin(NamedTuple):
    """What is known of a value's past."""

    token: int
    """Of this very value."""
    name: str = ""
    """Of the operation that made it; empty for a parameter."""
    roots: frozenset[int] = frozenset()
    """Of the inputs that it depends on."""
    frames: frozenset[int] = frozenset()
    """Of the arrays whose axes it has, entry by entry."""
    reductions: tuple[Reduction, ...] = ()
    meant: frozenset[int] = frozenset()
    """Its axes, counted from the end, whose size of 1 was written out: `x[:, None]`, `reshape(-1, 1)`."""
    oriented: bool = False
    """Whether an axis of size 1 was written out for an operation that it came of."""
    shifted: bool = False
    """Whether a reshape after padding has moved its rows against each other, as is done on purpose."""
    made: bool = False
    """Whether no input is in it."""
    carried: frozenset[str] = frozenset()
    """The inputs to which a gradient flows back from it."""
    lost: tuple[tuple[str, Loss], ...] = ()
    complete: bool = True
    """Whether the origins of all that it was made of are known."""


class Past:
    """An origin that is worked out when somebody asks for it: most are never asked for."""

    __slots__ = ("_before", "_found", "_work")

    def __init__(self, work: Callable[[], Origin | None], before: Iterable[Any]) -> None:
        """`before`: the values whose origins the work will ask for."""
        self._work: Callable[[], Origin | None] | None = work
        self._before: list[Past] = [one.past for one in before if hasattr(one, "past")]
        self._found: Origin | None = None

    @property
    def origin(self) -> Origin | None:
        waiting = [] if self._work is None else [self]
        while waiting:  # a loop's values come one of the other, thousands of them: no recursion
            one = waiting[-1]
            open_ones = [past for past in one._before if past._work is not None]
            waiting += open_ones
            if not open_ones:
                waiting.pop()._settle()
        return self._found

    def _settle(self) -> None:
        if self._work is not None:
            self._found = self._work()
            self._work, self._before = None, []

    @classmethod
    def known(cls, origin: Origin | None) -> Past:
        found = cls(lambda: origin, ())
        found._settle()
        return found


NO_PAST = Past.known(None)
"""Of a value of which nothing is claimed."""


class Provenance(NamedTuple):
    """What the interpreter knows at an operation beside the values."""

    names: tuple[str, ...] = ()
    """How the arguments are written: `w`, `x.sum(axis=1)`; empty where that is too long."""
    returns: AnySpec | None = None
    """What the function around the operation declares to return."""


_TOKENS = itertools.count()
_MOST_LOST = 16


def origin_of(value: Any) -> Origin | None:
    """The origin of a value of any class that keeps one as its attribute `origin`."""
    found = getattr(value, "origin", None) if isinstance(value, Value) else None
    return found if isinstance(found, Origin) else None


WEIGHT = "the weight"
"""The name of every trainable value that is made in the body."""


def origin_of_input(name: str, value: Value) -> Origin:
    """Of an input of the function, and likewise of a weight; `name` is how a finding calls it."""
    token = next(_TOKENS)
    dtype = dtype_of(value)
    whole = isinstance(value.spec, Spec) and value.spec.python in (int, bool)
    moves = not whole and (dtype is None or dtype.kind in "fc")
    carried = frozenset((name,)) if moves else frozenset[str]()
    return Origin(token, "", frozenset((token,)), frozenset((token,)), carried=carried)


def origin_of_join(origins: Sequence[Origin | None]) -> Origin | None:
    """Of one value for several branches: it may have come by any of them."""
    known = [one for one in origins if one is not None]
    if not known or len(known) < len(origins):
        return None
    return Origin(
        next(_TOKENS),
        "join",
        _union(one.roots for one in known),
        frozenset.intersection(*[one.frames for one in known]),
        meant=_union(one.meant for one in known),
        oriented=any(one.oriented for one in known),
        shifted=any(one.shifted for one in known),
        made=any(one.made for one in known),
        carried=_union(one.carried for one in known),
        lost=_lost(known),
        complete=all(one.complete for one in known),
    )


def origin_of_result(function: Any, args: Args, kwargs: Kwargs, result: Value, where: Any = None) -> Origin:
    """What an operation says of its result; `where` is kept for the place at which a gradient ends."""
    name, given = name_of(function), arrays(args, kwargs)
    origins = [one for one in map(origin_of, given) if one is not None]
    token = next(_TOKENS)
    carried, lost = _gradient(name, args, origins, result, where)
    meant = _meant(function, name, args, result)
    elementwise = is_elementwise(function)
    frames = frozenset((token,))
    if elementwise:
        fitting = [one for one in given if _is_shaped(one, result)]
        frames = _union(one.frames for one in map(origin_of, fitting) if one is not None) or frames
    oriented = any(one.oriented or one.meant for one in origins)
    return Origin(
        token,
        name,
        _union(one.roots for one in origins),
        frames,
        _reductions(name, elementwise, args, kwargs, result),
        meant,
        oriented=oriented and not (name in REDUCTIONS or name in ("matmul", "dot", "einsum")),
        shifted=any(one.shifted for one in origins) or (name == "reshape" and _shifts(given, result)),
        made=(name in MAKING and not given) or (bool(given) and all(one.made for one in origins) and _is_full(given)),
        carried=carried,
        lost=lost,
        complete=_is_full(given) and all(one.complete for one in origins),
    )


def _is_full(given: list[Value]) -> bool:
    """Whether every value has an origin; a bare number needs none."""
    return all(origin_of(one) is not None or shape_of(one) == () for one in given)


def _is_shaped(value: Value, result: Value) -> bool:
    one, other = shape_of(value), shape_of(result)
    return one is not None and other is not None and len(one) == len(other) and all(map(same, one, other))


# --------------------------------------------------------------------------- axes


def _reductions(name: str, elementwise: bool, args: Args, kwargs: Kwargs, result: Value) -> tuple[Reduction, ...]:
    """The reductions of which a value is made and nothing else: `np.sqrt(x.var(axis=0) + 1e-5)`, too."""
    if name in REDUCTIONS and args and isinstance(args[0], Value):
        origin, shape = origin_of(args[0]), shape_of(args[0])
        axes = None if shape is None else axes_of(name, args, kwargs, len(shape))
        if origin is None or shape is None or axes is None:
            return ()
        left = shape_of(result)
        keepdims = kwargs.get("keepdims", False) is not False if left is None else len(left) == len(shape)
        return (Reduction(origin.token, origin.frames, len(shape), axes, keepdims, name),)
    if not elementwise:
        return ()
    vectors = [one for one in arrays(args, kwargs) if shape_of(one) != ()]
    found = [origin.reductions for origin in map(origin_of, vectors) if origin is not None]
    if len(found) != len(vectors) or not all(found):
        return ()
    return tuple(dict.fromkeys(itertools.chain(*found)))[:8]


_KEEPING = {"matmul", "dot", "einsum", "split", "array_split", "hsplit", "tensordot", "inner", "solve"}
"""Functions whose axes of size 1 are those of their arguments, and were not written out."""


def _meant(function: Any, name: str, args: Args, result: Value) -> frozenset[int]:
    shape = shape_of(result)
    if shape is None:
        return frozenset()
    ones = frozenset(k - len(shape) for k, size in enumerate(shape) if same(size, 1))
    if is_elementwise(function):
        found = _union(origin.meant for origin in map(origin_of, arrays(args, {})) if origin is not None)
        return ones & found
    if name == "getitem":
        return ones & _inserted(args, len(shape))
    if name in REDUCTIONS or name in _KEEPING:
        return frozenset()
    if name == "T" and args:
        return ones & _turned(args[0], len(shape))
    return ones


def _shifts(given: list[Value], result: Value) -> bool:
    """Whether a reshape exchanges axes of which one has grown by some rows."""
    before, after = shape_of(given[0]) if given else None, shape_of(result)
    if before is None or after is None or len(before) != len(after) or all(map(same, before, after)):
        return False
    return any(isinstance(size, Size) and len(size.terms) > 1 for size in (*before, *after))


def _turned(value: Any, rank: int) -> frozenset[int]:
    origin = origin_of(value)
    return frozenset() if origin is None else frozenset(-(rank + 1 + k) for k in origin.meant)


def _inserted(args: Args, rank: int) -> frozenset[int]:
    """The axes that `None` put in; all of them where something in the index makes counting hard."""
    index = args[1] if len(args) > 1 else None
    written = list(index) if isinstance(index, tuple) else [index]
    before = origin_of(args[0])
    if not any(one is None for one in written) and (before is None or not before.meant):
        return frozenset()
    return frozenset(k - rank for k in range(rank))


# --------------------------------------------------------------------------- gradients

_CONSTANT = {"stop_gradient", "zeros_like", "ones_like", "empty_like", "full_like", "shape"}


def _gradient(
    name: str, args: Args, origins: list[Origin], result: Value, where: Any
) -> tuple[frozenset[str], tuple[tuple[str, Loss], ...]]:
    """The inputs whose gradient flows through an operation, and those for which it ends here or before."""
    if name in _CONSTANT:
        return frozenset(), ()
    carried = _union(one.carried for one in origins)
    lost = _lost(origins)
    dtype = dtype_of(result)
    if dtype is None or dtype.kind not in "iub":
        return carried, lost
    known = {one for one, _ in lost}
    loss = Loss(_what(name, dtype), where)
    return frozenset(), (lost + tuple((one, loss) for one in sorted(carried) if one not in known))[:_MOST_LOST]


def _what(name: str, dtype: np.dtype[Any]) -> str:
    if name in ("argmax", "argmin", "argsort", "searchsorted"):
        return f"{name}, which gives places"
    return "a comparison" if name in COMPARING else "Booleans" if dtype.kind == "b" else f"integers ({dtype})"


def _lost(origins: Iterable[Origin]) -> tuple[tuple[str, Loss], ...]:
    return tuple({name: (name, loss) for one in origins for name, loss in one.lost}.values())[:_MOST_LOST]


def _union(sets: Iterable[frozenset[Any]]) -> frozenset[Any]:
    return _EMPTY.union(*sets)


_EMPTY = frozenset[Any]()
