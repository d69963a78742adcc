"""Which ready-made layers are there? Each is a Layer with its own weights, written in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

import numpy as np

from symbolic.context import scope
from symbolic.errors import ShapeError
from symbolic.layer import AnyLayer, Layer, refuse
from symbolic.leaves import Weight, set_once
from symbolic.nn.initializers import glorot
from symbolic.ops.families import Unary
from symbolic.spec import AnySpec
from symbolic.tape import Tape

if TYPE_CHECKING:  # with defaults, so that a subclass need not say what it takes and gives
    from numpy.typing import DTypeLike
    from typing_extensions import TypeVar

    In_contra = TypeVar("In_contra", contravariant=True, default=Any)
    Out_co = TypeVar("Out_co", covariant=True, default=Any)
else:
    from symbolic.layer import In_contra, Out_co

Arrays: TypeAlias = Tape[np.ndarray, np.ndarray]
if TYPE_CHECKING:  # `Linear` alone takes and gives arrays; the mypy plugin knows their last sizes
    Taken_contra = TypeVar("Taken_contra", contravariant=True, default=Arrays)
    Given_co = TypeVar("Given_co", covariant=True, default=Arrays)
else:
    Taken_contra, Given_co = In_contra, Out_co


class Module(Layer[In_contra, Out_co], Generic[In_contra, Out_co]):
    """The base of layers that are written by hand: `build` says what they do to their input."""

    __slots__ = ()

    def apply(self, input: AnyLayer) -> AnyLayer:
        with scope(self.title, self._origin):
            return self.build(input)

    def build(self, input: AnyLayer) -> AnyLayer:
        """The output for an input, in NumPy functions."""
        raise NotImplementedError  # abstract


class Linear(Module[Taken_contra, Given_co], Generic[Taken_contra, Given_co]):
    """y = x @ weight + bias, on the last axis: (..., inputs) → (..., outputs).

    `initializer(inputs, outputs, seed=…, dtype=…)` draws the weight (default: `glorot`), the bias starts at 0.
    ShapeError if the last axis of x has another size.

    >>> import numpy as np
    >>> from symbolic import Linear
    >>> Linear(3, 2, seed=0).predict(np.zeros((5, 3))).shape
    (5, 2)
    """

    __slots__ = ("bias", "inputs_", "outputs", "weight")
    inputs_: int
    outputs: int
    weight: Weight[Any, Any]
    bias: Weight[Any, Any] | None

    def __init__(
        self: Linear[Arrays, Arrays],
        inputs: int,
        outputs: int,
        bias: bool = True,
        initializer: Callable[..., np.ndarray] = glorot,
        seed: int | None = None,
        dtype: DTypeLike = np.float64,
    ) -> None:
        for name, size in (("inputs", inputs), ("outputs", outputs)):
            if not isinstance(size, (int, np.integer)) or size < 0:
                refuse(f"Linear with {name}={size!r}", "give a number of features, 0 or more", ShapeError)
        set_once(self, "inputs_", inputs)
        set_once(self, "outputs", outputs)
        set_once(self, "weight", Weight(initializer(inputs, outputs, seed=seed, dtype=dtype), name="weight"))
        set_once(self, "bias", Weight(np.zeros(outputs, dtype), name="bias") if bias else None)

    def build(self, input: AnyLayer) -> AnyLayer:
        product: AnyLayer = np.matmul(input, self.weight)
        return product if self.bias is None else product + self.bias

    @property
    def title(self) -> str:
        return f"Linear({self.inputs_}, {self.outputs})"

    def parts(self) -> Sequence[str | AnyLayer]:
        return (self.title if self.bias is not None else f"Linear({self.inputs_}, {self.outputs}, bias=False)",)

    def children(self) -> Sequence[tuple[str, AnyLayer]]:
        bias: list[tuple[str, AnyLayer]] = [] if self.bias is None else [("bias", self.bias)]
        return [("weight", self.weight), *bias]


class ReLU(Unary):
    """max(x, 0), with derivative 0 at 0; a NaN stays one.

    >>> import numpy as np
    >>> from symbolic import ReLU
    >>> ReLU().predict(np.array([-1.0, 0.0, 2.0]))
    array([0., 0., 2.])
    """

    __slots__ = ()
    entrywise = "relu"

    def infer(self, *specs: AnySpec) -> AnySpec:
        return specs[0]

    def evaluate(self, *values: Any) -> Any:
        return type(values[0])(max(values[0], 0)) if isinstance(values[0], (int, float)) else np.maximum(values[0], 0)

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Callable[..., Any], bool]:
        return self.evaluate, False

    @staticmethod
    def derivative(out: Any, x: Any) -> Any:
        return np.where(x > 0, 1.0, 0.0)
