"""What did a body ask of a value, and is the answer still the same? A decision is checked whenever its trace runs."""

from __future__ import annotations

from typing import Any, ClassVar

from symbolic.asking import PathLeft, answer
from symbolic.context import here
from symbolic.ops.operation import Operation
from symbolic.spec import AnySpec, OpaqueSpec


class Decision(Operation):
    """Checks the answer that the body got, in the order in which it asked; `at` is its number among all of them."""

    __slots__ = ()
    effect = True
    defaults: ClassVar[Any] = {"asked": "truth", "answer": None, "at": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return OpaqueSpec(type(None))

    def evaluate(self, *values: Any) -> Any:
        found = answer(self.asked, values[0])
        if found != self.answer and not here.unchecked:
            raise PathLeft(self.at, found)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,)
