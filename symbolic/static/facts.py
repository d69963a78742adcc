"""What is known of values where the program has compared their sizes? `if x.shape[0] == 1:` makes a name a number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from symbolic.polynomial import Rest, Size, is_name
from symbolic.spec import Spec
from symbolic.static.abstract import UNKNOWN, Value, is_constant
from symbolic.static.declared import substitute
from symbolic.static.holding import FACTS, MISSING, UNSETTLED, Every, State, alike_in_past, equal, joined, traced
from symbolic.static.nesting import names_of, respecified, sizes_of
from symbolic.static.python import python_value

Facts = Mapping[str, Any]
"""What names are equal to on this path: a number, or another size."""
_FLAGS = (bool, int, str, type(None))
"""What a program remembers a path by: `ok = False` where the sizes differ."""


def equations(one: Any, other: Any) -> Iterator[tuple[str, Any]]:
    """What a name stands for where two sizes, or two shapes, are equal."""
    if type(one) is tuple and type(other) is tuple:
        if len(one) == len(other):
            known: dict[str, Any] = {}
            for left, right in zip(one, other, strict=True):
                for name, size in equations(at(left, known), at(right, known)):
                    known = {key: at(value, {name: size}) for key, value in known.items()}
                    known[name] = size
            yield from known.items()
        return
    for left, right in ((one, other), (other, one)):
        name = str(left)
        fits = isinstance(left, Size) and is_name(name) and isinstance(right, (int, Size))
        if fits and not (isinstance(right, Size) and name in right.names):
            yield name, right
            return


def at(value: Any, facts: Facts) -> Any:
    """A size, or whatever has sizes in it, with what is known of them."""
    if isinstance(value, Size):
        if not value.names & facts.keys():
            return value
        return value.at({**{name: Size.named(name) for name in value.names}, **facts})
    if isinstance(value, Value):
        changed = value._replace(spec=with_facts(value.spec, facts))
        return alike_in_past(changed, value)
    if isinstance(value, Every):
        return Every(at(value.entry, facts), at(value.count, facts))
    if type(value) in (tuple, list):
        return type(value)([at(one, facts) for one in value])
    if type(value) is dict:
        return {key: at(one, facts) for key, one in value.items()}
    is_record = isinstance(value, tuple) and hasattr(value, "_fields")
    return UNKNOWN if is_record and not is_constant(value) and any(isinstance(one, Value) for one in value) else value


def with_facts(spec: Any, facts: Facts) -> Any:
    """A spec with what is known of its sizes."""
    names = set(names_of(spec)) if facts else set()
    if not names & facts.keys():
        return spec
    rests = {str(size): (size,) for size in sizes_of(spec) if isinstance(size, Rest)}
    return substitute(spec, {**{name: Size.named(name) for name in names}, **rests, **facts})


def possible(values: Iterable[Value], free: frozenset[str]) -> Iterator[Facts]:
    """The sizes that names may turn out to have where values meet: free names any, others a number made in the body."""
    sizes: dict[Any, None] = {}
    names: dict[str, None] = {}
    for value in values:
        for size in sizes_of(value.spec):
            if isinstance(size, Size):
                names.update(dict.fromkeys(sorted(size.names)))
            if isinstance(size, (int, Size)) and size != 1:
                sizes[size] = None
    for name in names:
        for size in sizes:
            if isinstance(size, int) or (name in free and name not in size.names):
                yield {name: size}


def learned(state: State, facts: Facts) -> State:
    """The state where more is known of sizes."""
    before = facts_of(state)
    cells = {key: at(value, facts) for key, value in state.cells.items() if key != FACTS}
    cells[FACTS] = {**{name: at(size, facts) for name, size in before.items()}, **facts}
    return State(cells, state.base)


def facts_of(state: State) -> Facts:
    found = state.get(FACTS)
    return found if type(found) is dict else {}


def unsettled_in(state: State) -> frozenset[str]:
    """The names of which the program may know more than the checker."""
    found = state.get(UNSETTLED)
    return frozenset(found) if type(found) is tuple else frozenset()


def unsettled(state: State, names: Iterable[str]) -> State:
    """The state where nothing is certain of these names, either: `same = len(x) == len(y)`, and who knows what then."""
    more = unsettled_in(state).union(names)
    return with_unsettled(state, more) if more != unsettled_in(state) else state


def with_unsettled(state: State, names: Iterable[str]) -> State:
    return State({**state.cells, UNSETTLED: tuple(sorted(names))}, state.base)


def apart(names: Iterable[str]) -> list[frozenset[str]]:
    """The names that are not known for each of several owners; none for a single one.

    The names of an object's fields are its own: whether `batch.d` is the `d` of the signature nobody has said, and what
    fits for the names of each owner alone is no certain mistake.

    >>> [sorted(one) for one in apart(["batch.b", "batch.d", "d"])]
    [['d'], ['batch.b', 'batch.d']]
    """
    every = frozenset(names)
    owners = {name.lstrip("*").rpartition(".")[0] for name in every}
    kept = [frozenset(one for one in every if one.lstrip("*").rpartition(".")[0] == owner) for owner in sorted(owners)]
    return [every - one for one in kept][::-1] if len(owners) > 1 else []


def without(value: Any, names: frozenset[str]) -> Any:
    """A value in which sizes with these names are unknown."""
    if isinstance(value, Size):
        return traced(python_value(int)) if value.names & names else value
    if isinstance(value, Value):
        return alike_in_past(value._replace(spec=spec_without(value.spec, names)), value)
    if isinstance(value, Every):
        return Every(without(value.entry, names), without(value.count, names))
    if type(value) in (tuple, list):
        return type(value)([without(one, names) for one in value])
    return {key: without(one, names) for key, one in value.items()} if type(value) is dict else value


def spec_without(spec: Any, names: frozenset[str]) -> Any:
    def left(one: Spec) -> Spec:
        if one.shape is None or any(isinstance(size, Rest) and str(size) in names for size in one.shape):
            return one._replace(shape=None)
        kept: list[Any] = [None if isinstance(size, Size) and size.names & names else size for size in one.shape]
        return one._replace(shape=tuple(kept))

    return respecified(spec, left)


def joined_states(states: list[State], forgetting: bool = True) -> State | None:
    """What is true whichever of the paths was taken; `None` for no path.

    A path that knew more of sizes is forgotten, unless the program can tell by something else that it took it.
    """
    if not states:
        return None
    whole = states[0]
    for other in states[1:]:
        if other is not whole:
            whole = _both(whole, other, forgetting)
    return whole


def _both(one: State, other: State, forgetting: bool) -> State:
    """What both say; a name that only one of them binds has that value, if the program goes on at all."""
    facts1, facts2 = facts_of(one), facts_of(other)
    cells = dict(one.cells)
    flagged = not forgetting
    for key in {**one.cells, **other.cells}:
        ours, theirs = one.get(key), other.get(key)
        if ours is MISSING or theirs is MISSING:
            cells[key] = theirs if ours is MISSING else ours
        elif ours is not theirs and key not in (FACTS, UNSETTLED):
            cells[key] = _either(ours, theirs, facts1, facts2, one, other)
            flagged = flagged or (type(ours) in _FLAGS and type(theirs) in _FLAGS and not equal(ours, theirs))
    lost: set[str] = set()
    if facts1 or facts2:
        kept = {name: size for name, size in facts1.items() if name in facts2 and equal(size, facts2[name])}
        cells[FACTS] = kept
        lost = (facts1.keys() | facts2.keys()) - kept.keys() if flagged else lost
    found = State(cells, one.base)
    names = unsettled_in(one) | unsettled_in(other) | lost
    return with_unsettled(found, names) if names else found


def _either(ours: Any, theirs: Any, facts1: Facts, facts2: Facts, one: State, other: State) -> Any:
    """One value for both: where a path only knows more of its sizes, that of the other."""
    if facts1 and equal(at(theirs, facts1), ours):
        return theirs
    if facts2 and equal(at(ours, facts2), theirs):
        return ours
    return joined(ours, theirs, one, other)
