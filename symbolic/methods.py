"""Whose are the weights of a symbolic method? Its instance's: each has a layer of its own for each of its methods."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from symbolic.layer import refuse
from symbolic.sites import Store

if TYPE_CHECKING:
    from symbolic.function import SymbolicFunction

SLOTTED = 256
"""How many instances that have no dictionary are remembered."""


class Methods:
    """The layers of one instance's methods, and their weights. A shallow copy of the instance shares the weights, as
    it shares its arrays; a deep one has weights of its own that start where these are; a pickle is refused.
    """

    owner: Any
    stores: dict[SymbolicFunction, Store]

    def __init__(self, owner: Any, stores: dict[SymbolicFunction, Store]) -> None:
        self.owner, self.stores = owner, stores
        self.made: dict[SymbolicFunction, SymbolicFunction] = {}

    def layer(self, function: SymbolicFunction, owner: type) -> SymbolicFunction:
        if function not in self.made:
            bound = function.function.__get__(self.owner, owner)
            made = type(function)(bound, function.plan.without_self(), store=self.stores.get(function))
            self.made[function], self.stores[function] = made, made.store
        return self.made[function]

    def __deepcopy__(self, memo: Any) -> Methods:
        return Methods(None, {function: copy.deepcopy(store, memo) for function, store in self.stores.items()})

    def __reduce__(self) -> Any:
        if any(store.weights for store in self.stores.values()):
            refuse(
                "pickling an object whose symbolic methods have weights", "save the values of their weights() instead"
            )
        return Methods, (None, {})


def methods_of(instance: Any, kept: dict[int, Methods]) -> Methods:
    """The record of an instance, in its dictionary; those of the last ones that have none (a class, too) are `kept`."""
    held = getattr(instance, "__dict__", None)
    if held is None or isinstance(instance, type):
        if id(instance) not in kept:
            while len(kept) >= SLOTTED:
                kept.pop(next(iter(kept)))
            kept[id(instance)] = Methods(instance, {})
        return kept[id(instance)]
    methods: Methods | None = held.get("_symbolic_methods")
    if methods is None or methods.owner is not instance:
        methods = held["_symbolic_methods"] = Methods(instance, {} if methods is None else methods.stores)
    return methods
