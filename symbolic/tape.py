"""What does a forward pass hand out? A Tape: the value, and the way back."""

from __future__ import annotations

from types import TracebackType
from typing import Generic, Self, TypeVar, TypeVarTuple

Data_co = TypeVar("Data_co", covariant=True)
Delta_contra = TypeVar("Delta_contra", contravariant=True)
# what declared types share: the native types of the inputs, of the output, and the output's delta
A = TypeVar("A")
A2 = TypeVar("A2")
A3 = TypeVar("A3")
A4 = TypeVar("A4")
A5 = TypeVar("A5")
A6 = TypeVar("A6")
Ts = TypeVarTuple("Ts")
B = TypeVar("B")
DB = TypeVar("DB")


class Tape(Generic[Data_co, Delta_contra]):
    """The result of a forward pass; a context manager.

    `value` is the data; `backward(delta)` sends a delta back, several calls add up; `close()` ends it, and weights
    move then, once, by the sum of what reached them. Leaving its `with` by an exception closes it and moves nothing.
    """

    __slots__ = ()

    @property
    def value(self) -> Data_co:
        raise NotImplementedError  # abstract

    @property
    def is_trainable(self) -> bool:
        """Whether a delta would reach anything that can move."""
        raise NotImplementedError  # abstract

    def backward(self, delta: Delta_contra) -> None:
        raise NotImplementedError  # abstract

    def duplicate(self) -> Tape[Data_co, Delta_contra]:
        """Another handle on the same pass, which ends when every handle is closed."""
        raise NotImplementedError  # abstract

    def close(self) -> None:
        raise NotImplementedError  # abstract

    def discard(self) -> None:
        """Close without moving anything."""
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()
