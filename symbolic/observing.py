"""What is a layer whose output is shown to a function of the user's? The same layer, and a node that is called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from symbolic.layer import AnyLayer, Layer
from symbolic.leaves import set_once
from symbolic.ops.operation import Operation
from symbolic.plan import own
from symbolic.spec import AnySpec
from symbolic.values import read_only

__all__ = ["Observe", "Observed"]


class Observe(Operation):
    """The same value; the callback is called with it once per forward."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"callback": None}
    effect = True
    shares = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return specs[0]

    def evaluate(self, *values: Any) -> Any:
        self.callback(read_only(own(values[0])))  # a buffer may be written again
        return values[0]

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (delta,)


class Observed(Layer[Any, Any]):
    """A layer whose output is shown to a callback."""

    __slots__ = ("callback", "layer")
    layer: AnyLayer
    callback: Callable[[Any], object]

    def __init__(self, layer: AnyLayer, callback: Callable[[Any], object]) -> None:
        set_once(self, "layer", layer)
        set_once(self, "callback", callback)

    def apply(self, input: AnyLayer) -> AnyLayer:
        return Observe(self.layer.apply(input), callback=self.callback)

    def children(self) -> Sequence[tuple[str, AnyLayer]]:
        return (("", self.layer),)

    def parts(self) -> Sequence[str | AnyLayer]:
        return (self.layer, f".on_output({getattr(self.callback, '__name__', self.callback)})")
