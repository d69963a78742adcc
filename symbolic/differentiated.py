"""What is the gradient of a layer? A layer again; and what may be differentiated at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from symbolic.context import here, source
from symbolic.differentiate import gradients, ones_like
from symbolic.errors import DtypeError, ShapeError, place_of
from symbolic.execution import joined
from symbolic.layer import AnyLayer, Layer
from symbolic.leaves import Identity, Projection, set_once
from symbolic.literal import delta_spec
from symbolic.ops.passing import Mark, Tuple
from symbolic.spec import Spec, describe, show
from symbolic.trace import Tracing
from symbolic.values import finished, gathered


def _entries(input: AnyLayer) -> Sequence[AnyLayer]:
    return input.operands if isinstance(input, Tuple) else (input,)


class Differentiated(Layer[Any, Any]):
    """The gradient of a layer: a layer again."""

    __slots__ = ("argnums", "layer", "single", "value")
    layer: AnyLayer
    argnums: tuple[int, ...]
    single: bool
    value: bool

    def __init__(self, layer: AnyLayer, argnums: int | Sequence[int], value: bool) -> None:
        set_once(self, "layer", layer)
        set_once(self, "argnums", positions(argnums)[1])
        set_once(self, "single", positions(argnums)[0])
        set_once(self, "value", value)

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        if not named:
            return super().__call__(*inputs)
        placed = getattr(self.layer, "placed", None)  # a function knows the names of its inputs, a layer has none
        if placed is None:
            raise DtypeError(
                f"{self.title} of a layer with the keyword {next(iter(named))}",
                where=place_of(source()),
                remedy="pass the inputs by position",
            )
        layer, inputs = placed(inputs, named)
        return Differentiated(layer, self.argnums[0] if self.single else self.argnums, self.value)(*inputs)

    def apply(self, input: AnyLayer) -> AnyLayer:
        return self._by([Mark.make((one,)) for one in _entries(input)])

    def _alone(self, input: AnyLayer) -> AnyLayer:
        """The same for inputs that nobody else reads or writes: they are the variables themselves, and not copied."""
        entries_ = _entries(input)
        bare = all(isinstance(one, (Identity, Projection)) for one in entries_)
        return self._by(list(entries_)) if bare else self.apply(input)

    def _by(self, marks: Sequence[AnyLayer]) -> AnyLayer:
        """The gradient by variables."""
        output = self.layer.apply(joined(marks))
        self._check(output, marks)
        for k in self.argnums:
            check_position(k, len(marks), self.layer.title)
        wanted = [marks[k] for k in self.argnums]
        found = gradients(output, ones_like(output), wanted)
        gradient = found[0] if self.single else Tuple.make(tuple(found))
        return Tuple.make((output, gradient)) if self.value else gradient

    @staticmethod
    def finish(self: Differentiated, value: Any) -> Any:
        return (finished(self.layer, value[0]), value[1]) if self.value else value

    @staticmethod
    def accept(self: Differentiated, inputs: tuple[Any, ...]) -> Any:
        return gathered(self.layer, inputs)

    def _check(self, output: AnyLayer, marks: Sequence[AnyLayer]) -> None:
        if not isinstance(here.trace, Tracing):
            return
        facts = here.trace.facts
        scalar(facts.spec(output), self.layer.title)
        for k in self.argnums:
            if delta_spec(facts.spec(marks[k])) is None:
                no_gradient(self.layer.title, k, describe(facts.spec(marks[k])))

    @property
    def title(self) -> str:
        return f"grad({self.layer.title})"

    def parts(self) -> Sequence[str | AnyLayer]:
        more = (
            f", {self.argnums[0] if self.single else self.argnums}" if self.argnums != (0,) or not self.single else ""
        )
        return ("value_and_grad(" if self.value else "grad(", self.layer, f"{more})")

    def children(self) -> Sequence[tuple[str, AnyLayer]]:
        return (("", self.layer),)


def positions(argnums: Any) -> tuple[bool, tuple[int, ...]]:
    """Whether one position was given, and the positions."""
    single = isinstance(argnums, (int, np.integer))
    given = (argnums,) if single else tuple(argnums) if isinstance(argnums, (tuple, list, range)) else (argnums,)
    if not all(isinstance(one, (int, np.integer)) and not isinstance(one, bool) for one in given):
        raise DtypeError(
            f"argnums={argnums!r}",
            where=place_of(source()),
            remedy="give the position of an argument, or a tuple of them",
        )
    return single, tuple([int(one) for one in given])


def check_position(position: int, count: int, title: str) -> None:
    if not -count <= position < count:
        raise no_position(position, count, title, place_of(source()))


def no_position(position: int, count: int, title: str, where: str = "") -> ShapeError:
    """What is said of an argument that is not there, by run time and by a type checker."""
    return ShapeError(
        f"grad of {title} by argument {position}, but there are {count} by position",
        where=where,
        remedy="pass the argument by position, or change argnums",
    )


def no_gradient(title: str, position: int, seen: str) -> NoReturn:
    raise DtypeError(
        f"grad of {title} by argument {position}, a value of type {seen}, which has no gradient (NoDelta)",
        where=place_of(source()),
        remedy="pass a float: x.astype(float)",
    )


def scalar(spec: Any, title: str) -> None:
    """Refuse a value that is not one real number."""
    if not isinstance(spec, Spec):
        raise ShapeError(
            f"grad of {title}, which returns {describe(spec)}",
            where=place_of(source()),
            remedy="return one scalar (the loss), or use vjp, which takes a delta for each output",
        )
    if spec.shape not in ((), None):
        raise ShapeError(
            f"grad of {title}, which returns an array of shape {show(spec.shape)}",
            where=place_of(source()),
            remedy="return a scalar (np.sum of it), or use vjp with a delta of the output's shape",
        )
    if spec.dtype is not None and spec.dtype.kind == "c":
        raise DtypeError(
            f"grad of {title}, which returns a complex number",
            where=place_of(source()),
            remedy="return a real scalar: np.abs, np.real or np.imag of it",
        )
