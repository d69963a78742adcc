"""What did a body ask of a value, and is the answer still the same? A decision is checked whenever its trace runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.asking import PathLeft, answer
from symbolic.context import here
from symbolic.ops.operation import PYTHON_OPERATORS, Operation
from symbolic.spec import AnySpec, OpaqueSpec, Spec


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


class Attempt(Operation):
    """Checks that an operation within a `try` fails as it did in the trace, or that it does not fail."""

    __slots__ = ()
    variadic = True
    effect = True
    asked = "failure"
    defaults: ClassVar[Any] = {"attempted": None, "answer": None, "at": 0}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return OpaqueSpec(type(None))

    def evaluate(self, *values: Any) -> Any:
        found = failure(self.attempted, values)
        if found is not self.answer and not here.unchecked:
            raise PathLeft(self.at, found)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,) * len(operands)


def failure(node: Operation, values: Sequence[Any]) -> type[Exception] | None:
    """The class of the error that an operation raises for these values: Python's own for Python's numbers."""
    python = PYTHON_OPERATORS.get(node.symbol)
    try:
        with np.errstate(**{**dict.fromkeys(np.geterr(), "ignore"), **_raising(node)}):
            if python is not None and all(type(one) in (int, float, complex) for one in values):
                python(*values)
            else:
                node.evaluate(*values)
    except Exception as error:
        return type(error)
    return None


def _raising(node: Operation) -> dict[str, Any]:
    """What a `with np.errstate(divide="raise")` around the operation turns into errors."""
    return {name: how for name, how in (node._origin.floating or {}).items() if how == "raise"}


def may_fail(node: Operation, facts: Any) -> bool:
    """Whether the numbers decide if an operation raises: in linear algebra, in `math`, in Python's division.

    Anywhere, where NumPy was told to raise for infinities or overflows.
    """
    if node._origin.floating is not None and _raising(node) and not node.effect:
        return True
    kind = type(node)
    found = _KINDS[kind] if kind in _KINDS else _KINDS.setdefault(kind, _fails(kind))
    if found is not None:
        return found
    return all(isinstance(one, Spec) and one.python is not None for one in facts.operands(node))


_KINDS: dict[type, bool | None] = {}


def _fails(kind: type[Operation]) -> bool | None:
    """Whether some numbers make such an operation fail; `None` where that depends on whether they are Python's."""
    if kind.raises or any(one.__name__ in _FAILING for one in kind.functions):
        return True
    return None if kind.symbol in _DIVIDING else False


_FAILING = {"inv", "solve", "cholesky", "eig", "eigvals", "eigh", "eigvalsh", "svd", "svdvals", "lstsq", "pinv"}
_DIVIDING = {"/", "//", "%", "**"}
