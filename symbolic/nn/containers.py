"""How are layers put together? In a row, side by side, or entry by entry."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from symbolic.context import here, inside, scope, source
from symbolic.errors import DtypeError, ShapeError, TapeError, place_of
from symbolic.layer import AnyLayer, Layer, refuse, short
from symbolic.leaves import set_once
from symbolic.nn.layers import Module
from symbolic.ops.operation import Operation
from symbolic.ops.passing import Item, Tuple
from symbolic.printing import separated
from symbolic.spec import TupleSpec
from symbolic.trace import Tracing


def run_child(number: int | str, child: AnyLayer, input: AnyLayer) -> AnyLayer:
    """A layer within a container: its number joins the path, `2:Linear(128, 10)`."""
    if isinstance(child, Operation):
        with scope(f"{number}:{child.title}()"):
            return child.apply(input)
    with inside(prefix=f"{number}:"):
        return child.apply(input)


class Container(Module):
    """Layers in an order. `add` appends in place, until the container is used for the first time."""

    __slots__ = ("_layers", "used")
    _layers: list[AnyLayer]
    used: bool

    def __init__(self, *layers: AnyLayer) -> None:
        set_once(self, "_layers", [])
        set_once(self, "used", False)
        for layer in layers:
            self.add(layer)

    def add(self, layer: AnyLayer) -> Any:
        """Append a layer and return the container; TapeError once it has been used."""
        if self.used:
            raise TapeError(
                f"{self.title}.add after the container was used",
                where=place_of(self._origin),
                remedy="add every layer first",
            )
        if not isinstance(layer, Layer):
            remedy = (
                "give the layers one by one: *layers" if isinstance(layer, (list, tuple)) else "make an instance of it"
            )
            if not isinstance(layer, (list, tuple, type)):
                remedy = "add a Layer: make one of a function with @symbolic"
            refuse(f"{self.title}.add of {layer!r}", remedy, DtypeError)
        self._layers.append(layer)
        return self

    @property
    def layers(self) -> tuple[AnyLayer, ...]:
        """The layers, in order."""
        return tuple(self._layers)

    def apply(self, input: AnyLayer) -> AnyLayer:
        set_once(self, "used", True)
        return super().apply(input)

    def __len__(self) -> int:
        return len(self.layers)

    def parts(self) -> Sequence[str | AnyLayer]:
        return (f"{type(self).__name__}(", *separated(self.layers), ")")

    def children(self) -> Sequence[tuple[str, AnyLayer]]:
        return [(str(k), layer) for k, layer in enumerate(self.layers)]


class Sequential(Container):
    """Feeds each layer the result of the one before; empty it is the identity.

    >>> from symbolic import Linear, ReLU, Sequential
    >>> Sequential(Linear(4, 8), ReLU()).add(Linear(8, 2))
    Sequential(Linear(4, 8), ReLU(Identity()), Linear(8, 2))
    """

    __slots__ = ()

    def build(self, input: AnyLayer) -> AnyLayer:
        for k, layer in enumerate(self.layers):
            input = run_child(k, layer, input)
        return input


class ConcatTable(Container):
    """Gives one input to every branch: the tuple of their results."""

    __slots__ = ()

    def build(self, input: AnyLayer) -> AnyLayer:
        return Tuple.make(tuple([run_child(k, layer, input) for k, layer in enumerate(self.layers)]))  # type: ignore[no-any-return]  # a layer


class ParallelTable(Container):
    """Gives the i-th entry of a tuple to the i-th branch; ShapeError unless the counts agree."""

    __slots__ = ()

    def build(self, input: AnyLayer) -> AnyLayer:
        given = entries_of(input, self)
        if len(given) != len(self.layers):
            raise ShapeError(
                f"ParallelTable has {len(self.layers)} branches for {len(given)} inputs",
                where=place_of(source()),
                remedy="give as many inputs as there are branches",
            )
        return Tuple.make(  # type: ignore[no-any-return]  # a layer
            tuple([run_child(k, layer, one) for k, (layer, one) in enumerate(zip(self.layers, given, strict=True))])
        )


class AddTable(Module):
    """The sum of the entries of a tuple."""

    __slots__ = ()

    def build(self, input: AnyLayer) -> AnyLayer:
        entries = entries_of(input, self)
        if not entries:
            refuse("AddTable of an empty tuple", "give it at least one entry", ShapeError)
        return reduce(np.add, entries)  # type: ignore[arg-type]  # layers stand for arrays


def tuple_entries(input: AnyLayer) -> list[AnyLayer] | None:
    """The entries of a tuple of layers; `None` for what is no tuple."""
    if isinstance(input, Tuple):
        return list(input.operands)
    tracing = here.trace
    spec = tracing.facts.spec(tracing.resolve(input)) if isinstance(tracing, Tracing) else None
    return [Item(input, index=k) for k in range(len(spec))] if isinstance(spec, TupleSpec) else None


def entries_of(input: AnyLayer, container: AnyLayer) -> list[AnyLayer]:
    """The entries of a tuple of layers; DtypeError for what is none."""
    found = tuple_entries(input)
    if found is None:
        refuse(
            f"{container.title} takes a tuple, not {short(input)}",
            "feed it several inputs, or the result of a ConcatTable",
            DtypeError,
        )
    return found
