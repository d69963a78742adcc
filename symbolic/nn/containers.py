"""How are layers put together? In a row, side by side, or entry by entry."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

import numpy as np

from symbolic.context import here, inside, scope, source
from symbolic.errors import DtypeError, ShapeError, TapeError, place_of
from symbolic.layer import AnyLayer, Layer, refuse, short
from symbolic.leaves import set_once
from symbolic.nn.layers import In_contra, Module, Out_co
from symbolic.ops.operation import Operation
from symbolic.ops.passing import Item, Tuple
from symbolic.printing import separated
from symbolic.spec import TupleSpec
from symbolic.tape import A2, A3, DB, A, Tape
from symbolic.trace import Tracing

if TYPE_CHECKING:  # what one layer gives and the next takes
    In2 = TypeVar("In2")
    Out = TypeVar("Out")
    M1 = TypeVar("M1")
    M2 = TypeVar("M2")
    M3 = TypeVar("M3")
    M4 = TypeVar("M4")
    M5 = TypeVar("M5")
    M6 = TypeVar("M6")
    M7 = TypeVar("M7")
    D2 = TypeVar("D2")
    D3 = TypeVar("D3")
    I1 = TypeVar("I1")
    I2 = TypeVar("I2")
    I3 = TypeVar("I3")
    G1 = TypeVar("G1")
    G2 = TypeVar("G2")
    G3 = TypeVar("G3")


def run_child(number: int | str, child: AnyLayer, input: AnyLayer) -> AnyLayer:
    """A layer within a container: its number joins the path, `2:Linear(128, 10)`."""
    if isinstance(child, Operation):
        with scope(f"{number}:{child.title}()"):
            return child.apply(input)
    with inside(prefix=f"{number}:"):
        return child.apply(input)


class Container(Module[In_contra, Out_co]):
    """Layers in an order. `add` appends in place, until the container is used for the first time."""

    __slots__ = ("_layers", "used")
    _layers: list[AnyLayer]
    used: bool

    def __init__(self, *layers: AnyLayer) -> None:
        set_once(self, "_layers", [])
        set_once(self, "used", False)
        for layer in layers:
            self.add(layer)

    def add(self, layer: AnyLayer) -> Self:
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


class Sequential(Container[In_contra, Out_co]):
    """Feeds each layer the result of the one before; empty it is the identity.

    >>> from symbolic import Linear, ReLU, Sequential
    >>> Sequential(Linear(4, 8), ReLU()).add(Linear(8, 2))
    Sequential(Linear(4, 8), ReLU(Identity()), Linear(8, 2))
    """

    __slots__ = ()

    if TYPE_CHECKING:  # each takes what the one before gives; at run time `Container` takes any layers

        @overload
        def __init__(self: Sequential[Any, Any], /) -> None: ...
        @overload
        def __init__(self, a: Layer[In_contra, Out_co], /) -> None: ...
        @overload
        def __init__(self, a: Layer[In_contra, M1], b: Layer[M1, Out_co], /) -> None: ...
        @overload
        def __init__(self, a: Layer[In_contra, M1], b: Layer[M1, M2], c: Layer[M2, Out_co], /) -> None: ...
        @overload
        def __init__(
            self, a: Layer[In_contra, M1], b: Layer[M1, M2], c: Layer[M2, M3], d: Layer[M3, Out_co], /
        ) -> None: ...
        @overload
        def __init__(
            self,
            a: Layer[In_contra, M1],
            b: Layer[M1, M2],
            c: Layer[M2, M3],
            d: Layer[M3, M4],
            e: Layer[M4, Out_co],
            /,
        ) -> None: ...
        @overload
        def __init__(
            self,
            a: Layer[In_contra, M1],
            b: Layer[M1, M2],
            c: Layer[M2, M3],
            d: Layer[M3, M4],
            e: Layer[M4, M5],
            f: Layer[M5, Out_co],
            /,
        ) -> None: ...
        @overload
        def __init__(
            self,
            a: Layer[In_contra, M1],
            b: Layer[M1, M2],
            c: Layer[M2, M3],
            d: Layer[M3, M4],
            e: Layer[M4, M5],
            f: Layer[M5, M6],
            g: Layer[M6, Out_co],
            /,
        ) -> None: ...
        @overload
        def __init__(
            self,
            a: Layer[In_contra, M1],
            b: Layer[M1, M2],
            c: Layer[M2, M3],
            d: Layer[M3, M4],
            e: Layer[M4, M5],
            f: Layer[M5, M6],
            g: Layer[M6, M7],
            h: Layer[M7, Out_co],
            /,
        ) -> None: ...
        @overload
        def __init__(
            self: Sequential[Any, Any],
            a: AnyLayer,
            b: AnyLayer,
            c: AnyLayer,
            d: AnyLayer,
            e: AnyLayer,
            f: AnyLayer,
            g: AnyLayer,
            h: AnyLayer,
            i: AnyLayer,
            /,
            *more: AnyLayer,
        ) -> None: ...
        def __init__(self, *layers: AnyLayer) -> None: ...

        def add(self: Sequential[In2, M1], layer: Layer[M1, Out]) -> Sequential[In2, Out]: ...

    def build(self, input: AnyLayer) -> AnyLayer:
        for k, layer in enumerate(self.layers):
            input = run_child(k, layer, input)
        return input


class ConcatTable(Container[In_contra, Out_co]):
    """Gives one input to every branch: the tuple of their results."""

    __slots__ = ()

    if TYPE_CHECKING:  # a tuple of what the branches give

        @overload
        def __init__(
            self: ConcatTable[In_contra, Tape[tuple[A, A2], tuple[DB, D2]]],
            a: Layer[In_contra, Tape[A, DB]],
            b: Layer[In_contra, Tape[A2, D2]],
            /,
        ) -> None: ...
        @overload
        def __init__(
            self: ConcatTable[In_contra, Tape[tuple[A, A2, A3], tuple[DB, D2, D3]]],
            a: Layer[In_contra, Tape[A, DB]],
            b: Layer[In_contra, Tape[A2, D2]],
            c: Layer[In_contra, Tape[A3, D3]],
            /,
        ) -> None: ...
        @overload
        def __init__(self: ConcatTable[Any, Any], *layers: AnyLayer) -> None: ...
        def __init__(self, *layers: AnyLayer) -> None: ...

    def build(self, input: AnyLayer) -> AnyLayer:
        return Tuple.make(tuple([run_child(k, layer, input) for k, layer in enumerate(self.layers)]))  # type: ignore[no-any-return]  # a layer


class ParallelTable(Container[In_contra, Out_co]):
    """Gives the i-th entry of a tuple to the i-th branch; ShapeError unless the counts agree."""

    __slots__ = ()

    if TYPE_CHECKING:  # a tuple of what the branches give

        @overload
        def __init__(
            self: ParallelTable[Tape[tuple[I1, I2], tuple[G1, G2]], Tape[tuple[A, A2], tuple[DB, D2]]],
            a: Layer[Tape[I1, G1], Tape[A, DB]],
            b: Layer[Tape[I2, G2], Tape[A2, D2]],
            /,
        ) -> None: ...
        @overload
        def __init__(
            self: ParallelTable[Tape[tuple[I1, I2, I3], tuple[G1, G2, G3]], Tape[tuple[A, A2, A3], tuple[DB, D2, D3]]],
            a: Layer[Tape[I1, G1], Tape[A, DB]],
            b: Layer[Tape[I2, G2], Tape[A2, D2]],
            c: Layer[Tape[I3, G3], Tape[A3, D3]],
            /,
        ) -> None: ...
        @overload
        def __init__(self: ParallelTable[Any, Any], *layers: AnyLayer) -> None: ...
        def __init__(self, *layers: AnyLayer) -> None: ...

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


class AddTable(Module[Tape[tuple[Any, ...], Any], Tape[Any, Any]]):
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
