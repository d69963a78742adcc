"""What does an optimizer keep of each weight, and who has moved a weight last?"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from symbolic.changes import Brought, Change, Owned
from symbolic.errors import TraceError

__all__ = ["LAST_MOVER", "PerWeight", "State", "Steps"]

State = tuple[Any, ...]
_Entries = dict[int, tuple[weakref.ref[Any], Any]]


class PerWeight(Owned):
    """Something for each weight, for as long as it lives; by identity, because == of two weights builds a layer."""

    __slots__ = ("__weakref__", "_entries")
    _entries: _Entries
    entries: Brought[_Entries] = Brought()

    def __init__(self) -> None:
        super().__init__()
        self.entries = {}

    def get(self, weight: Any) -> Any:
        entry = self.entries.get(id(weight))
        return entry[1] if entry is not None and entry[0]() is weight else None

    def change(self, weights: Sequence[Any], values: Iterable[Any]) -> Change:
        """The change that puts them in."""
        pairs = list(zip(weights, values, strict=True))
        new = {id(weight): (self._reference(weight), value) for weight, value in pairs}
        return self, "entries", {**self.entries, **new}

    def returned(self, weights: Sequence[Any], values: Iterable[Any]) -> Change:
        """The same for weights that are known, where the entries are held elsewhere."""
        pairs = zip(weights, values, strict=True)
        new = {id(weight): (self._entries[id(weight)][0], value) for weight, value in pairs}
        return self, "_entries", {**self._entries, **new}

    def __deepcopy__(self, memo: dict[int, Any]) -> PerWeight:
        """Copied after its network, it goes on with the weights of the copy."""
        made = PerWeight()
        pairs = [(ref(), value) for ref, value in self.entries.values()]
        kept = [(memo.get(id(weight), weight), value) for weight, value in pairs if weight is not None]
        made.entries = {id(weight): (made._reference(weight), copy.deepcopy(value, memo)) for weight, value in kept}
        return made

    def __reduce__(self) -> Any:
        """Fresh where nothing is in it; weights are known by identity, which no other process knows."""
        if not self.entries:
            return PerWeight, ()
        remedy = "save optimizer.state_dict(net.weights()), and load it into a fresh one"
        raise TraceError("an optimizer with a state cannot be pickled", remedy=remedy)

    def _reference(self, weight: Any) -> weakref.ref[Any]:
        key = id(weight)
        if key in self.entries and self.entries[key][0]() is weight:
            return self.entries[key][0]

        def forget(gone: weakref.ref[Any]) -> None:
            if key in self.entries and self.entries[key][0] is gone:
                del self.entries[key]

        return weakref.ref(weight, forget)


class Steps(Owned):
    """How many steps were taken, outliving the optimizer that took them."""

    __slots__ = ("_taken", "kind")
    kind: Any

    _taken: int
    taken: Brought[int] = Brought()

    def __init__(self, kind: type) -> None:
        super().__init__()
        self.kind, self.taken = kind, 0


LAST_MOVER = PerWeight()
"""The steps that moved each weight last."""
