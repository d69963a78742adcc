"""What does a forward pass hand out? A Tape: the value, and the way back."""

from __future__ import annotations

from types import TracebackType
from typing import Generic, Self, TypeVar

Data_co = TypeVar("Data_co", covariant=True)
Delta_contra = TypeVar("Delta_contra", contravariant=True)


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
