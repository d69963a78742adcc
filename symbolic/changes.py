"""How does all that a step moves change at once, and what if somebody holds it elsewhere meanwhile?"""

from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, Protocol, Self, TypeVar, overload

from symbolic.forking import rlock

__all__ = ["COMMITTING", "STEPPING", "Brought", "Change", "Owned", "Owner", "commit", "is_within", "put", "put_once"]

F = TypeVar("F")

Change = tuple[Any, str, Any]
"""An object, an attribute of it, and its new value."""
STEPPING = rlock()
"""Steps are taken one at a time: each reads the weights, computes, and writes them."""
COMMITTING = rlock()
"""Held while weights change hands or values, and while somebody takes a snapshot of one. A handler of a signal, or a
finalizer, may come in between and look at a weight: it finds it as it was before, or as it is after."""


def commit(changes: Iterable[Change]) -> None:
    """Make all changes, at once: neither an interrupt nor another thread sees some of them."""
    put([_within(*change) for change in changes])


def put(changes: Iterable[Change]) -> None:
    """The same in one call into compiled code, which no line of Python may interrupt: of fields that are plain."""
    collections.deque(itertools.starmap(setattr, changes), maxlen=0)


def put_once(changes: Sequence[Change], turn: Iterator[object]) -> None:
    """The same for the first who comes with this turn, of which there is one: whoever comes after it changes nothing.

    An interrupt before, whose handler has the same to put, has taken the turn.
    """
    put(itertools.chain.from_iterable(map(operator.itemgetter(1), zip(turn, (changes,), strict=False))))


is_within = COMMITTING._is_owned
"""Whether this thread holds `COMMITTING` already: then it has come in between, as a handler of a signal does."""


def _within(one: Any, name: str, value: Any) -> Change:
    """The change of the plain field behind one that is brought back first."""
    field = getattr(type(one), name, None)
    if not isinstance(field, Brought):
        return one, name, value
    one.own()
    return one, field.name, value


class Owner(Protocol):
    """Whoever holds the values of others: code that takes one step after the other."""

    def settle(self) -> None:
        """Give back what has changed, and hold nothing any more."""


class Owned:
    """Something whose fields may be held elsewhere: whoever reads or writes one has them brought back first."""

    __slots__ = ("owner",)
    owner: Owner | None

    def __init__(self) -> None:
        self.owner = None

    def own(self) -> None:
        """Bring them back."""
        owner = self.owner  # looked at once: somebody may bring them back in between
        if owner is not None:
            owner.settle()

    def __getstate__(self) -> Any:
        """What a copy is made of: whoever holds the fields of this one does not hold those of a copy."""
        self.own()
        return object.__getstate__(self)


class Brought(Generic[F]):
    """A field of an `Owned`."""

    __slots__ = ("name",)
    name: str

    def __set_name__(self, kind: type, name: str) -> None:
        self.name = f"_{name}"

    @overload
    def __get__(self, one: None, kind: type) -> Self: ...
    @overload
    def __get__(self, one: Owned, kind: type | None = None) -> F: ...
    def __get__(self, one: Owned | None, kind: type | None = None) -> Any:
        if one is None:
            return self
        one.own()
        return getattr(one, self.name)

    def __set__(self, one: Owned, value: F) -> None:
        one.own()
        setattr(one, self.name, value)
