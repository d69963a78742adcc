"""Where does a tree end? In the input, a constant, or a weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, Self, TypeVar, overload

import numpy as np

from symbolic.changes import COMMITTING, Brought, Change, Owned, alone, commit, is_within
from symbolic.context import here
from symbolic.errors import DtypeError, ShapeError
from symbolic.layer import AnyLayer, Layer, plainly, refuse
from symbolic.runtime import Installed
from symbolic.spec import AnySpec, Spec, describe, spec_of
from symbolic.tape import Tape

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    from symbolic.optimizer import Optimizer

    In = TypeVarWithDefault("In", contravariant=True, default=Any)
    D = TypeVarWithDefault("D", default=Any)  # of `Identity()` nothing is known
    G = TypeVarWithDefault("G", default=D)  # the delta of a float is a float
else:
    In, D, G = TypeVar("In", contravariant=True), TypeVar("D"), TypeVar("G")

set_once: Callable[[Any, str, Any], None] = object.__setattr__  # layers are frozen; their own constructors are not


class Identity(Layer[Tape[D, G], Tape[D, G]], Generic[D, G]):
    """The placeholder of the input; `forward` hands back the same input.

    >>> from symbolic import Identity
    >>> Identity().predict(3.0)
    3.0
    """

    __slots__ = ("name",)
    name: str

    def __init__(self, name: str = "") -> None:
        set_once(self, "name", name)

    def apply(self, input: AnyLayer) -> AnyLayer:
        return input


class Projection(Layer[In, Tape[D, G]], Generic[In, D, G]):
    """One entry of the tuple that a network of several inputs takes."""

    __slots__ = ("index", "name")
    __match_args__ = ("index",)
    index: int
    name: str

    def __init__(self, index: int, name: str = "") -> None:
        set_once(self, "index", index)
        set_once(self, "name", name)

    def parts(self) -> Sequence[str | AnyLayer]:
        return (f"Projection({self.index})",)

    def apply(self, input: AnyLayer) -> AnyLayer:
        return Installed.runtime.entry(input, self.index)


class Literal(Layer[Tape[object, Never], Tape[D, G]], Tape[D, G], Generic[D, G]):
    """A constant: a layer and a tape. It is not trainable, and every operation of its tape does nothing.

    An array is copied, and `value` is read-only.

    >>> from symbolic import Literal
    >>> Literal(2.0) + 1.0
    Plus(Literal(2.0), Literal(1.0))
    """

    __slots__ = ("_value",)
    __match_args__ = ("value",)
    constant: ClassVar[bool] = True

    @overload
    def __init__(self: Literal[int, float], value: int) -> None: ...
    @overload
    def __init__(self, value: D) -> None: ...
    def __init__(self, value: Any) -> None:
        set_once(self, "_value", frozen(value))

    @property
    def value(self) -> D:
        return self._value  # type: ignore[no-any-return]  # the slot holds any value

    @property
    def is_trainable(self) -> bool:
        return False

    def backward(self, delta: G) -> None:
        return

    def duplicate(self) -> Literal[D, G]:
        return self

    def close(self) -> None:
        return

    def forward(self, tape: object) -> Tape[D, G]:
        return self

    def apply(self, input: AnyLayer) -> AnyLayer:
        return self

    def infer(self, *specs: AnySpec) -> AnySpec:
        return spec_of(self._value)

    def parts(self) -> Sequence[str | AnyLayer]:
        return (f"Literal({written(self._value)})",)


class Cell(Owned):
    """What a weight holds: the value, the delta of the last tape, and who has seen the value."""

    __slots__ = ("_delta", "_value", "exposed", "pending", "spare")
    _value: Any
    _delta: Any
    exposed: bool
    value: Brought[Any] = Brought()
    delta: Brought[Any] = Brought()

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value
        self.delta = None
        self.pending: Any = None
        self.exposed = False  # somebody holds the array: the next value needs memory of its own
        self.spare: Any = None  # an array of the same kind that nobody holds

    def snapshot(self) -> Any:
        """The value, for somebody to keep: it will never change, and nobody can change it."""
        between = is_within()
        with COMMITTING:
            return self.expose(between)

    def expose(self, between: bool) -> Any:
        """The same for somebody who holds `COMMITTING`; a copy for one who has come in between.

        Whoever was at work may have looked already whether somebody holds the array.
        """
        self.own()
        if between and not self.exposed:
            return frozen(self.value)
        value = None
        while value is not self.value:  # a handler that takes a step makes another one
            value, self.exposed = self.value, True
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        return value

    def blank(self) -> Any:
        """An array that the next value may be written into."""
        self.own()
        spare, self.spare = self.spare, None
        return blank_like(self.value) if spare is None else spare

    def changes(self, value: Any, delta: Any) -> list[Change]:
        """Take the new value; the old array is kept for the step after, unless somebody holds it."""
        old = self.value
        if value is old:
            return [(self, "delta", delta)]
        spare = None if self.exposed or not isinstance(old, np.ndarray) else old
        return [(self, "value", value), (self, "delta", delta), (self, "spare", spare), (self, "exposed", False)]


class Weight(Layer[Tape[object, Never], Tape[D, G]], Tape[D, G], Generic[D, G]):
    """A trainable value: a layer and a tape.

    `value` (an array is copied) keeps its type, shape and dtype for ever; `optimizer` moves it where no other is
    given to `train`; `name` stands in `weights()`. Made inside a symbolic function it belongs to the layer, and
    running the body again finds it again. `w.value` is a read-only snapshot, `w.delta` what the last closed tape
    brought. DtypeError for a type that has no delta.

    >>> from symbolic import SGD, Weight
    >>> w = Weight(2.0)
    >>> _ = (w * 3.0).train(0.0, optimizer=SGD(0.1))
    >>> w.value, w.delta
    (1.7, 3.0)
    """

    __slots__ = ("cell", "name", "optimizer")
    __match_args__ = ("value",)
    cell: Cell
    name: str
    optimizer: Optimizer | None

    @overload
    def __new__(cls, value: int, optimizer: Optimizer | None = None, name: str = "") -> Weight[int, float]: ...
    @overload
    def __new__(cls, value: D, optimizer: Optimizer | None = None, name: str = "") -> Weight[D, D]: ...
    def __new__(cls, value: Any, optimizer: Any = None, name: str = "") -> Any:
        value = settled(value)
        if here.trace is not None:
            return here.trace.weight(lambda: cls._fresh(value, optimizer, name), value)
        return cls._fresh(value, optimizer, name)

    @classmethod
    def _fresh(cls, value: Any, optimizer: Any, name: str) -> Self:
        if isinstance(value, Layer):
            refuse("Weight() of a layer", "a weight starts from a number or an array", DtypeError)
        if not _can_be_weight(value):
            refuse(
                f"Weight() of {type(value).__name__} {written(value)}, which has no delta",
                "start from a float, an int or an array of a floating or complex dtype",
                DtypeError,
            )
        self = Layer.__new__(cls)
        set_once(self, "cell", Cell(in_lines(frozen(value, writeable=True))))
        set_once(self, "optimizer", optimizer)
        set_once(self, "name", name)
        return self

    @property
    def value(self) -> D:
        if here.trace is not None:
            here.trace.read(self)
        value: Any = self.cell.snapshot()
        return value.view() if isinstance(value, np.ndarray) else value  # type: ignore[return-value]  # of its kind

    @value.setter
    def value(self, value: Any) -> None:
        raise AttributeError("a weight moves only through an optimizer; use weight.assign(value) to set it")

    def assign(self, value: Any) -> None:
        """Set the value by hand, of the same shape and dtype (a checkpoint, a test)."""
        want, got = spec_of(self.cell.value), spec_of(value)
        if isinstance(want, Spec) and isinstance(got, Spec) and want.shape != got.shape:
            refuse(f"Weight.assign of {got} to a weight of {want}", "give a value of the weight's shape", ShapeError)
        if not isinstance(got, Spec) or (
            got.dtype is not None and not np.can_cast(got.dtype, _kind_of(want), "same_kind")
        ):
            refuse(f"Weight.assign of {describe(got)} to a weight of {want}", "give a value of its dtype", DtypeError)
        alone((self.cell,), lambda: self._assign(value))

    def _assign(self, value: Any) -> None:
        with COMMITTING:
            commit(self.cell.changes(like(self.cell.value, value), self.cell.delta))

    @property
    def delta(self) -> G | Any:  # None until a tape has closed, which few programs need to ask
        if here.trace is not None:
            here.trace.read(self)
        return self.cell.delta

    @property
    def is_trainable(self) -> bool:
        return True

    def backward(self, delta: G) -> None:
        fitted = Installed.runtime.fitted(delta, self.cell.value)
        self.cell.pending = fitted if self.cell.pending is None else self.cell.pending + fitted

    def duplicate(self) -> Weight[D, G]:
        return self

    def close(self) -> None:
        pending, self.cell.pending = self.cell.pending, None
        if pending is not None:
            Installed.runtime.move([self], [pending], None)

    def discard(self) -> None:
        self.cell.pending = None

    def apply(self, input: AnyLayer) -> AnyLayer:
        return self

    def infer(self, *specs: AnySpec) -> AnySpec:
        return spec_of(self.cell.value)

    def parts(self) -> Sequence[str | AnyLayer]:
        return (f"Weight({written(self.cell.value)})",)


def _can_be_weight(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    if isinstance(value, np.generic):
        return Installed.runtime.has_delta(value)
    return isinstance(value, (float, int, complex)) and not isinstance(value, bool)


def _kind_of(spec: AnySpec) -> np.dtype[Any]:
    """The dtype that may be given to a weight: any number to an int weight, which rounds."""
    dtype = spec.dtype if isinstance(spec, Spec) and spec.dtype is not None else np.dtype(float)
    return np.dtype(float) if dtype.kind in "iu" else dtype


def settled(value: Any) -> Any:
    """A value that the body has made of constants alone as the array or number that it is; any other stays."""
    known = here.trace.known(value) if isinstance(value, Layer) and here.trace is not None else None
    return value if known is None else known


def frozen(value: Any, writeable: bool = False) -> Any:
    """A copy of an array, so that what the caller does later cannot reach us."""
    value = settled(value)
    if isinstance(value, np.ndarray):
        value = np.array(plainly(value), order="K", subok=False)
        value.flags.writeable = writeable
    elif type(value) in (tuple, list):
        value = type(value)(frozen(entry, writeable) for entry in value)
    return value


def in_lines(value: Any) -> Any:
    """An array that is ours, moved to where `blank_like` puts it."""
    if not isinstance(value, np.ndarray) or value.nbytes < _LINE or not value.flags.c_contiguous:
        return value
    moved = blank_like(value)
    np.copyto(moved, value)
    return moved


def blank_like(value: Any) -> Any:
    """An array of this kind, not filled, that begins where a line of the cache does: no vector is read from two."""
    if value.nbytes < _LINE or not value.flags.c_contiguous:
        return np.empty_like(value)
    memory = np.empty(value.nbytes + _LINE - 1, np.uint8)
    start = -memory.__array_interface__["data"][0] % _LINE
    return memory[start : start + value.nbytes].view(value.dtype).reshape(value.shape)


_LINE = 64  # bytes


def like(old: Any, new: Any) -> Any:
    """`new` as the kind of value that `old` is: dtype and Python type; integers are rounded."""
    if isinstance(old, np.ndarray):
        return np.array(new, dtype=old.dtype, order="K").reshape(old.shape)
    if isinstance(old, (int, np.integer)):
        return type(old)(np.rint(new))
    return type(old)(new)


def as_kind(old: Any, new: Any) -> Any:
    """The new value as the old one's kind; mostly it is already."""
    if type(new) is type(old) and (
        not isinstance(old, np.ndarray) or (new.dtype == old.dtype and new.shape == old.shape)
    ):
        return new
    return like(old, new)


def written(value: Any) -> str:
    """A value as it stands in a printed tree: short, and where it can be, an expression."""
    if isinstance(value, np.ndarray):
        if value.size <= 6:
            body = np.array2string(value, separator=", ", floatmode="unique", max_line_width=1000).replace("\n", "")
            plain = value.dtype in (np.dtype(float), np.dtype(int), np.dtype(bool)) and value.size
            return f"array({body})" if plain else f"array({body}, dtype={value.dtype})"
        return f"<{value.dtype}[{', '.join(map(str, value.shape))}]>"
    return repr(value)
