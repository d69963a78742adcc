"""How does all that a step moves change at once, and what if somebody holds it elsewhere meanwhile?"""

from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, Protocol, Self, TypeVar, overload

from symbolic.errors import SymbolicError
from symbolic.forking import rlock
from symbolic.refusing import refuse

__all__ = [
    "COMMITTING",
    "STEPPING",
    "UNDER_WAY",
    "Brought",
    "Change",
    "Owned",
    "Owner",
    "alone",
    "commit",
    "is_stepping",
    "is_within",
    "moves",
    "put",
    "put_once",
]

F = TypeVar("F")
T = TypeVar("T")

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


is_stepping = STEPPING._is_owned
"""Whether this thread is in the middle of a step: then it has come in between, or the step has called it."""


class UnderWay:
    """What the steps under way move, the outermost first: by identity, and of one thread, which has `STEPPING`."""

    __slots__ = ("steps",)
    steps: tuple[Iterable[int], ...]

    def __init__(self) -> None:
        self.steps = ()


UNDER_WAY = UnderWay()


def alone(things: Iterable[object], take: Callable[[], T]) -> T:
    """`take()`, which moves these things: other threads wait for their turn.

    SymbolicError where this thread is in the middle of moving one of them, as the handler of a signal or a callback
    may be: what the outer step has read would no longer hold, and one of the two would be lost.
    """
    around = UNDER_WAY.steps if is_stepping() else ()  # else what is left there is of a step that has ended
    with _AT_ONCE if is_within() and not around else STEPPING:
        try:
            UNDER_WAY.steps = (*around, ())
            moves(things)
            return take()
        finally:
            UNDER_WAY.steps = around


def moves(things: Iterable[object]) -> None:
    """The step under way moves these, too: refused where one further out does."""
    *around, mine = UNDER_WAY.steps
    named = {id(one) for one in things}
    if any(not named.isdisjoint(one) for one in around):
        _refuse("a weight, or its network or optimizer, was to be moved in the middle of a step that moves it")
    UNDER_WAY.steps = (*around, named.union(mine))


def _refuse(seen: str) -> None:
    refuse(seen, "let the handler or callback only note that it is wanted, and do it between two steps", SymbolicError)


class _AtOnce:
    """`STEPPING` for whoever has `COMMITTING` already, for which the one who has `STEPPING` may be waiting."""

    def __enter__(self) -> None:
        if not STEPPING.acquire(blocking=False):
            _refuse("a weight was to be moved in the middle of reading one, while another thread takes a step")

    def __exit__(self, *error: object) -> None:
        STEPPING.release()


_AT_ONCE = _AtOnce()


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
