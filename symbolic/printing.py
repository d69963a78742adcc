"""How does a tree read? As the expression that builds it, a shared node named once and then by its name.

Everything here walks with a stack of its own: a chain of 20,000 operations prints too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from keyword import iskeyword

from symbolic.layer import AnyLayer
from symbolic.leaves import Identity, Literal, Projection, Weight

_PLAIN = (Identity, Projection, Literal)


def printed(root: AnyLayer) -> str:
    shared = _shared(root)
    names: dict[int, str] = {}
    fresh = (name for name in map(_name, count()) if not iskeyword(name))
    out: list[str] = []
    stack: list[str | AnyLayer] = [root]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            out.append(part)
        elif id(part) in names:
            out.append(names[id(part)])
        elif id(part) in shared:
            names[id(part)] = next(fresh)
            stack += [")", *reversed(part.parts()), f"({names[id(part)]} := "]
        else:
            stack += reversed(part.parts())
    return "".join(out)


def _shared(root: AnyLayer) -> set[int]:
    """The nodes that stand in more than one place; constants and inputs are written out each time."""
    seen: set[int] = set()
    shared: set[int] = set()
    stack: list[AnyLayer] = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            if not isinstance(node, _PLAIN):
                shared.add(id(node))
            continue
        seen.add(id(node))
        stack += [part for part in node.parts() if not isinstance(part, str)]
    return shared


def _name(number: int) -> str:
    letters = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        letters = chr(ord("a") + digit) + letters
    return letters


def separated(parts: Sequence[str | AnyLayer]) -> Iterator[str | AnyLayer]:
    """The parts with commas between them."""
    for k, part in enumerate(parts):
        if k:
            yield ", "
        yield part


def alike(one: AnyLayer, other: AnyLayer) -> bool:
    """Whether two trees have the same nodes at the same places, shared in the same way."""
    pairs: dict[int, int] = {}
    back: dict[int, int] = {}
    stack: list[tuple[AnyLayer, AnyLayer]] = [(one, other)]
    while stack:
        a, b = stack.pop()
        if id(a) in pairs or id(b) in back:
            if pairs.get(id(a)) != id(b) and not isinstance(a, _PLAIN):
                return False
            if not isinstance(a, _PLAIN):
                continue
        pairs[id(a)], back[id(b)] = id(b), id(a)
        mine, theirs = a.parts(), b.parts()
        if type(a) is not type(b) or len(mine) != len(theirs):
            return False
        if isinstance(a, Weight):
            if a is not b:
                return False
            continue
        if not _same_constant(a, b):
            return False
        for part, twin in zip(mine, theirs, strict=True):
            if isinstance(part, str) or isinstance(twin, str):
                if part != twin:
                    return False
            else:
                stack.append((part, twin))
    return True


def _same_constant(a: AnyLayer, b: AnyLayer) -> bool:
    if not isinstance(a, Literal) or not isinstance(b, Literal):
        return True
    return bits(a.value) == bits(b.value)


def bits(value: object) -> object:
    """A key that tells 0.0 from -0.0, 1 from True, and finds a NaN equal to itself."""
    kind = type(value)
    if kind is int or kind is bool or kind is str or value is None:  # the usual ones, quickly
        return kind, value
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.hasobject:
            return id(value)
        return type(value), str(value.dtype), value.shape, value.strides, value.tobytes()
    if isinstance(value, tuple):
        return type(value), tuple(bits(one) for one in value)
    if isinstance(value, list):
        return list, tuple(bits(one) for one in value)
    if isinstance(value, slice):
        return slice, bits(value.start), bits(value.stop), bits(value.step)
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), repr(value) if isinstance(value, (float, complex)) else value
