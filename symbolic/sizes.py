"""How does the shape of a traced value read? As a tuple; each size that is read becomes a guard of the trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


class Shape(Sequence[int]):
    """The shape of a traced value. It reads as a tuple; each size that is read becomes a guard of the trace."""

    __slots__ = ("_count", "_size")

    def __init__(self, count: int, size: Callable[[int], int]) -> None:
        self._count, self._size = count, size

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        axes = range(self._count)[index]
        return self._size(axes) if isinstance(axes, int) else tuple([self._size(k) for k in axes])

    def __iter__(self) -> Iterator[int]:
        return iter([self._size(k) for k in range(self._count)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (tuple, Shape)) and len(other) == len(self) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __add__(self, other: Any) -> tuple[int, ...]:
        return tuple(self) + tuple(other)

    def __radd__(self, other: Any) -> tuple[int, ...]:
        return tuple(other) + tuple(self)

    def __mul__(self, times: int) -> tuple[int, ...]:
        return tuple(self) * times

    def __repr__(self) -> str:
        return repr(tuple(self))
