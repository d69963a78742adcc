"""What is a network? A Layer: an immutable tree of small case classes that NumPy's own functions extend.

Operators and NumPy functions called on a layer do not compute, they build a larger layer (`arraylike`). What running
one means is above: its methods hand it to `Installed.runtime`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeAlias, TypeVar, overload

import numpy as np

from symbolic.arraylike import FUNCTIONS as FUNCTIONS
from symbolic.arraylike import GETITEM as GETITEM
from symbolic.arraylike import METHODS as METHODS
from symbolic.arraylike import UFUNC_METHODS as UFUNC_METHODS
from symbolic.arraylike import Arraylike
from symbolic.arraylike import Handler as Handler
from symbolic.backends.native.abi import Callee
from symbolic.context import here, source
from symbolic.errors import Where
from symbolic.lent import Lent as Lent
from symbolic.lent import plainly as plainly
from symbolic.naming import qualified as qualified
from symbolic.operators import Operators
from symbolic.refusing import Asked
from symbolic.refusing import cannot as cannot
from symbolic.refusing import refuse as refuse
from symbolic.refusing import short as short
from symbolic.refusing import unsupported as unsupported
from symbolic.runtime import Installed
from symbolic.tape import A2, A3, A4, A5, A6, DB, A, B, Tape, Ts

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from symbolic.leaves import Weight
    from symbolic.network import Times
    from symbolic.nn.graph import Node
    from symbolic.optimizer import Optimizer
    from symbolic.plan import Program
    from symbolic.spec import AnySpec
    from symbolic.training import Trainer

In_contra = TypeVar("In_contra", contravariant=True)
Out_co = TypeVar("Out_co", covariant=True)
In2 = TypeVar("In2")


class Layer(Callee, Asked, Arraylike, Operators, Generic[In_contra, Out_co]):
    """A network that takes a tape `In` and gives a tape `Out`; a tree whose nodes never change.

    `str(layer)` is the expression that builds it. Nodes are told apart by `is` (`==` builds a layer) and compared by
    structure with `equals`.

    >>> from symbolic import Identity, Literal, Plus, Times, Weight
    >>> Times(Plus(Literal(1.0), Identity()), Weight(2.0)).predict(3.0)
    8.0
    """

    __slots__ = ("__weakref__", "_called", "_network", "_origin", "_quick")
    __hash__ = object.__hash__
    _origin: Where

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        self = object.__new__(cls)
        origin = here.origin
        object.__setattr__(self, "_origin", source() if origin is None else origin)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        setter = getattr(getattr(type(self), name, None), "fset", None)
        if setter is not None:
            setter(self, value)  # it says what to do instead
        raise AttributeError(f"{type(self).__name__} is frozen: make a new layer instead of setting .{name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: .{name} cannot be deleted")

    # ------------------------------------------------------------------ running
    # The overloads say it in native types: for one input, then for several, which make a tuple.
    @overload
    def forward(self, tape: In_contra) -> Out_co: ...  # type: ignore[overload-overlap]  # a tape is no native value
    @overload
    def forward(self: Layer[Tape[A, Any], Tape[B, DB]], tape: A) -> Tape[B, DB]: ...
    def forward(self, tape: Any) -> Any:
        """Compute the output for an input tape (a bare value is taken as `Literal(value)`).

        Shapes and dtypes are checked before the first operation: ShapeError, DtypeError. A failure inside is a
        LayerError with the layer's path and source line. The tape that comes back must be closed.
        """
        return Installed.runtime.forward(self, tape)

    @overload
    def predict(self: One[A, B], a: A, /) -> B: ...
    @overload
    def predict(self: Two[A, A2, B], a: A, b: A2, /) -> B: ...
    @overload
    def predict(self: Three[A, A2, A3, B], a: A, b: A2, c: A3, /) -> B: ...
    @overload
    def predict(self: Four[A, A2, A3, A4, B], a: A, b: A2, c: A3, d: A4, /) -> B: ...
    @overload
    def predict(self: Five[A, A2, A3, A4, A5, B], a: A, b: A2, c: A3, d: A4, e: A5, /) -> B: ...
    @overload
    def predict(
        self: Many[A, A2, A3, A4, A5, A6, *Ts, B], a: A, b: A2, c: A3, d: A4, e: A5, f: A6, /, *rest: *Ts
    ) -> B: ...
    def predict(self, *inputs: Any, **named: Any) -> Any:  # type: ignore[misc]  # mypy does not fit *Ts into *Any
        """The network's value; no weight and no optimizer state changes by it."""
        return Installed.runtime.predict(self, inputs, named)

    @overload
    def train(self: One[A, B], a: A, /, *, optimizer: Optimizer | None = None) -> B: ...
    @overload
    def train(self: Two[A, A2, B], a: A, b: A2, /, *, optimizer: Optimizer | None = None) -> B: ...
    @overload
    def train(self: Three[A, A2, A3, B], a: A, b: A2, c: A3, /, *, optimizer: Optimizer | None = None) -> B: ...
    @overload
    def train(
        self: Four[A, A2, A3, A4, B], a: A, b: A2, c: A3, d: A4, /, *, optimizer: Optimizer | None = None
    ) -> B: ...
    @overload
    def train(
        self: Five[A, A2, A3, A4, A5, B], a: A, b: A2, c: A3, d: A4, e: A5, /, *, optimizer: Optimizer | None = None
    ) -> B: ...
    @overload
    def train(
        self: Many[A, A2, A3, A4, A5, A6, *Ts, B],
        a: A,
        b: A2,
        c: A3,
        d: A4,
        e: A5,
        f: A6,
        /,
        *rest: *Ts,
        optimizer: Optimizer | None = None,
    ) -> B: ...
    def train(self, *inputs: Any, optimizer: Any = None) -> Any:  # type: ignore[misc]  # the same
        """One step: forward, backward with delta 1, update. Returns the value from before the step.

        Each weight is moved by `optimizer`, else by its own, else by that of the surrounding `with`. With nothing
        to move, or with a loss or gradient that is not finite, it raises and moves nothing.
        """
        return Installed.runtime.train(self, inputs, optimizer)

    def trainer(self, optimizer: Optimizer | None = None) -> Trainer[In_contra, Out_co]:
        """The fast path of `train`: `step(*inputs)` is one step, `step.run(n, *inputs)` loops n of them."""
        return Installed.runtime.trainer(self, optimizer)

    def weights(self) -> dict[str, Weight[Any, Any]]:
        """Every weight of the network by its path, a shared one once."""
        return Installed.runtime.weights(self)

    def compose(self, inner: Layer[In2, In_contra]) -> Layer[In2, Out_co]:
        """`f.compose(g)` is f∘g: g runs first."""
        return Installed.runtime.compose(self, inner)

    def on_output(self: Layer[In2, Tape[B, DB]], callback: Callable[[B], object]) -> Layer[In2, Tape[B, DB]]:
        """This layer, calling `callback(value)` once per forward; values and gradients stay as they are."""
        return Installed.runtime.observed(self, callback)

    def program(self, *inputs: Any, optimizer: Optimizer | None = None) -> Program:
        """What a call with such inputs runs, in order; with an optimizer, what a step of training runs. Print it.

        Nothing is run by it, and nothing moves.

        >>> import numpy as np
        >>> from symbolic import Exp
        >>> print(Exp().program(np.ones(3)))
        v0 = input Identity()
        v1 = Exp(v0): float64[3]
        return v1
        """
        return Installed.runtime.program(self, inputs, optimizer)

    def explain(self, *inputs: Any, optimizer: Optimizer | None = None) -> str:
        """Which parts of that program run on which machine, and why: one line for each kind.

        >>> import numpy as np
        >>> import symbolic
        >>> with symbolic.use("numpy"):
        ...     print(symbolic.Exp().explain(np.ones(3)))
        NumPy: 1 operations, as generated Python
        """
        return Installed.runtime.explain(self, inputs, optimizer)

    def timing(self) -> AbstractContextManager[None]:
        """Inside `with net.timing():` the time of every layer is recorded."""
        return Installed.runtime.timing(self)

    def times(self) -> list[Times]:
        """Exclusive forward and backward seconds per layer since `timing` was entered; the rows add up to the total."""
        return Installed.runtime.times(self)

    # Never a signature of any arguments whatever: every layer could then be assigned to every Callable.
    @overload
    def __call__(self, layer: Layer[In2, In_contra], /, **named: Any) -> Layer[In2, Out_co]: ...
    @overload
    def __call__(self, first: Layer[In2, Any], second: Any, /, *rest: Any, **named: Any) -> Layer[In2, Out_co]: ...
    @overload
    def __call__(self, first: Any, second: Layer[In2, Any], /, *rest: Any, **named: Any) -> Layer[In2, Out_co]: ...
    @overload
    def __call__(self: One[A, B], a: A, /, **named: Any) -> B: ...
    @overload
    def __call__(self: Two[A, A2, B], a: A, b: A2, /, **named: Any) -> B: ...
    @overload
    def __call__(self: Three[A, A2, A3, B], a: A, b: A2, c: A3, /, **named: Any) -> B: ...
    @overload
    def __call__(self: Four[A, A2, A3, A4, B], a: A, b: A2, c: A3, d: A4, /, **named: Any) -> B: ...
    @overload
    def __call__(self: Five[A, A2, A3, A4, A5, B], a: A, b: A2, c: A3, d: A4, e: A5, /, **named: Any) -> B: ...
    @overload
    def __call__(
        self: Many[A, A2, A3, A4, A5, A6, *Ts, B], a: A, b: A2, c: A3, d: A4, e: A5, f: A6, /, *rest: *Ts, **named: Any
    ) -> B: ...
    @overload
    def __call__(self, **named: Any) -> Any: ...
    def __call__(self, *inputs: Any) -> Any:  # type: ignore[misc]  # names are for symbolic functions, which take them
        """With layers it composes (natives among them become Literals), with native values it predicts."""
        if here.trace is None:
            for one in inputs:
                if isinstance(one, Layer):
                    break
            else:
                return self.predict(*inputs)  # type: ignore[misc]  # of inputs that only the overloads know
        return self.apply(Installed.runtime.combine(inputs))

    _predicts: ClassVar[Any] = __call__
    """What is a prediction for whatever is no layer; a class whose `__call__` is another has its own way."""

    def apply(self, input: AnyLayer) -> AnyLayer:
        """This layer with `input` in the place of its Identity."""
        raise NotImplementedError  # abstract

    def inputs(self, *nodes: Node | Sequence[Node], name: str = "") -> Node:
        """A node of a `Graph`: this layer, fed by the given nodes; without any it takes the graph's input."""
        return Installed.runtime.node(self, nodes, name)

    @property
    def title(self) -> str:
        """The short name by which paths call the layer."""
        return type(self).__name__

    def children(self) -> Sequence[tuple[str, AnyLayer]]:
        """The layers right below, with the name of each."""
        return ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        """The spec of the value, from the specs of the operands."""
        raise NotImplementedError  # abstract

    # ------------------------------------------------------------------ printing
    def parts(self) -> Sequence[str | AnyLayer]:
        """The printed form, cut where other layers stand in it."""
        return (f"{type(self).__name__}()",)

    def __repr__(self) -> str:
        from symbolic.printing import printed  # printing needs the leaves, which need this class

        return printed(self)

    def __str__(self) -> str:
        """The tree; while a call is traced the text of the number, as plain Python would have it."""
        trace = here.trace
        return str(trace.answer(self, "text")) if trace and trace.has_number(self) else Layer.__repr__(self)

    def equals(self, other: object) -> bool:
        """Whether both trees are built alike, sharing included; weights are equal only to themselves."""
        from symbolic.printing import alike

        return isinstance(other, Layer) and alike(self, other)

    def __copy__(self) -> Any:
        return FUNCTIONS[np.copy]((self,), {}) if here.trace is not None else self

    def __deepcopy__(self, memo: Any) -> Any:
        """A network of its own, with weights of its own that start where these are."""
        return self.__copy__() if here.trace is not None else Installed.runtime.copied(self, memo)

    def __reduce__(self) -> Any:
        refuse("a layer cannot be pickled", "save the values of net.weights() instead")


AnyLayer: TypeAlias = Layer[Any, Any]

if TYPE_CHECKING:  # which layers take so many inputs; each count for itself, since not every checker knows *Ts
    One: TypeAlias = Layer[Tape[A, Any], Tape[B, Any]]
    Two: TypeAlias = Layer[Tape[tuple[A, A2], Any], Tape[B, Any]]
    Three: TypeAlias = Layer[Tape[tuple[A, A2, A3], Any], Tape[B, Any]]
    Four: TypeAlias = Layer[Tape[tuple[A, A2, A3, A4], Any], Tape[B, Any]]
    Five: TypeAlias = Layer[Tape[tuple[A, A2, A3, A4, A5], Any], Tape[B, Any]]
    Many: TypeAlias = Layer[Tape[tuple[A, A2, A3, A4, A5, A6, *Ts], Any], Tape[B, Any]]
