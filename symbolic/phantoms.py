"""Which types exist for type checkers alone? No value has one of these; the mypy plugin gives them a meaning."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

D = TypeVar("D")
N = TypeVar("N")


class Marked(Generic[D]):
    """`Annotated[D, Symbolic]`, as an alias keeps it."""


class Dim(int, Generic[N]):
    """A named size in the shape of an array: `Dim[Literal["batch"]]`."""


class Declared(Generic[D, N]):
    """Where a body returns or assigns, what the hint there says: D, of what the sentence calls N."""

    def __call__(self, value: object, /) -> Any:
        raise NotImplementedError  # it stands in no program
