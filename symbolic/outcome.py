"""What did a body return? Traced values, and around them a structure with things that no trace knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from symbolic.fingerprint import MOVING, fingerprint
from symbolic.layer import AnyLayer, Layer, Lent, refuse
from symbolic.literal import ToLiteral, as_layer
from symbolic.ops.passing import Tuple
from symbolic.runtime import Installed
from symbolic.structure import Tree, flatten, unflatten


class _Hole:
    """The place of a traced value."""

    def __repr__(self) -> str:
        return "…"


HOLE = _Hole()


class Outcome(NamedTuple):
    """The layers of a result in order, and how the result is built over them."""

    layers: tuple[AnyLayer, ...]
    tree: Tree = None
    leaves: tuple[Any, ...] = (HOLE,)  # for each leaf of the tree a hole, or what it is
    plain: tuple[Any, ...] = (HOLE,)  # for each layer a hole, or the plain value that it stands for

    @property
    def output(self) -> AnyLayer:
        """All of it as one layer: the value itself where there is but one."""
        if self.tree is None and len(self.layers) == 1:
            return self.layers[0]
        return Tuple.make(self.layers)  # type: ignore[no-any-return]  # a layer

    def rebuilt(self, values: Sequence[Any]) -> Any:
        """The result over other values."""
        if self.tree is None and self.leaves[0] is HOLE:
            return values[0]
        rest = iter(values)
        return unflatten(self.tree, iter([next(rest) if one is HOLE else one for one in self.leaves]))

    def within(self, values: Sequence[Any]) -> Any:
        """The result over other values, for a body that goes on with it: what was plain stays plain."""
        pairs = zip(values, self.plain, strict=True)
        return self.rebuilt([value if plain is HOLE else plain for value, plain in pairs])

    def deltas(self, values: Sequence[Any]) -> Any:
        """The same structure, with `None` in the place of what no trace knows."""
        rest = iter(values)
        return unflatten(self.tree, iter([next(rest) if one is HOLE else None for one in self.leaves]))

    def holes(self, leaves: Sequence[Any]) -> list[Any]:
        """Of things that stand one at each leaf, those that stand at a layer's place."""
        return [one for one, place in zip(leaves, self.leaves, strict=True) if place is HOLE]

    def first(self) -> int:
        """How many layers the first entry has."""
        counts = [_count(child, iter(self.leaves)) for child in self.tree[2][:1]]
        return counts[0]

    def differs(self, other: Outcome) -> bool:
        """Whether two runs of one body returned other things around the traced values."""
        if self.tree != other.tree or len(self.leaves) != len(other.leaves):
            return True
        return any(not _same(one, two) for one, two in zip(self.leaves, other.leaves, strict=True))


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    seen = fingerprint(one, None)
    return seen is not MOVING and bool(seen == fingerprint(other, None))


def _count(tree: Tree, leaves: Iterator[Any]) -> int:
    if tree is None:
        return int(next(leaves) is HOLE)
    return sum(_count(child, leaves) for child in tree[2])


def outcome(value: Any) -> Outcome:
    """What a body returned. Whatever `ToLiteral` knows is a layer of it: arrays, numbers, strings, `None`."""
    leaves, tree = flatten(value, leaf=is_layer, opened=opened)
    known = [_known(one) for one in leaves]
    for one, is_known in zip(leaves, known, strict=True):
        if not is_known and hides(one):
            refuse(
                f"the function returns a {type(one).__name__} that holds traced values",
                "return arrays in tuples, lists, dictionaries or dataclasses",
            )
    found = [one for one, is_known in zip(leaves, known, strict=True) if is_known]
    plain = tuple([HOLE if isinstance(one, Layer) else one for one in found])
    around = tuple([HOLE if is_known else one for one, is_known in zip(leaves, known, strict=True)])
    return Outcome(tuple(map(as_layer, found)), tree, around, plain)


def is_layer(value: Any) -> bool:
    return isinstance(value, Layer)


def opened(value: Any) -> Any:
    """A traced tuple is read as a tuple of traced values."""
    if isinstance(value, Layer):
        entries = Installed.runtime.count(value)
        return value if entries is None else tuple([Installed.runtime.entry(value, k) for k in range(entries)])
    return value


def _known(value: Any) -> bool:
    if isinstance(value, (Layer, Lent)):
        return True
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    return ToLiteral.find(type(value)) is not None


def hides(value: Any, depth: int = 3) -> bool:
    """Whether a traced value is inside of an object, a set, or the closure of a function."""
    if isinstance(value, Layer):
        return True
    if depth == 0 or isinstance(value, (type, str, bytes)):
        return False
    return any(hides(one, depth - 1) for one in _inside(value))


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, (set, frozenset, tuple, list)):
        yield from value
    elif isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, np.ndarray):
        yield from value.flat if value.dtype.hasobject else ()
    else:
        yield from getattr(value, "__dict__", {}).values()
        for cell in getattr(value, "__closure__", None) or ():
            yield getattr(cell, "cell_contents", None)


def returned_structure(kind: str) -> tuple[str, str]:
    """What is said of a structure that no function gives, by run time and by a type checker."""
    return f"the function returns a {kind} that holds traced values", "return one value, or a tuple of values"
