"""What must be known of a program's code to run it, without writing it again? Numbers and names, kept with the code.

Whoever writes the code of a program decides where its values lie (`making`); whoever runs it needs no more than what
stands here, and loads none of the rooms in which code is written.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symbolic.backends.native.axisless import boxed, open_leaves
from symbolic.backends.native.host import Host
from symbolic.plan import Program
from symbolic.spec import AnySpec, Spec

__all__ = ["AGAIN", "BUSY", "FLAGGED", "ODD", "OWN", "Placed", "Recipe", "place_of", "views_of"]

FLAGGED, BUSY, OWN = 1, 2, 3
"""Words of a program's table: what checks have found, whether it is running, its own address."""
ODD, AGAIN = 1, 2
"""What checks find, one bit each: something is not finite; NumPy has another answer, or raises, and runs all again."""


if TYPE_CHECKING:
    from typing import TypedDict

    from symbolic.backends.native.access import View

    class Recipe(TypedDict):
        """All that the code of a program says of itself; nothing in it is of one process."""

        worth: bool
        """Whether enough is native that it pays; else there may be no more than this."""
        work: int
        """About how many operations on single entries it is."""
        specs: list[tuple[tuple[int, ...], str]]
        """Shape and dtype of the values for which the program has no slot, by their numbers after its slots."""
        numbers: list[tuple[int, bytes]]
        """The constants among these, by their entries."""
        calls: bytes
        """The calls that are data, and """
        calls_at: int
        """the word for their address."""
        results: list[int | None]
        """The value that each output is; none for what NumPy or the caller has made."""
        words: list[tuple[int, int]]
        """Where in the table a value stands that comes from outside, or goes there: its number, or its address."""
        size: int
        """Words of the table."""
        arena: int
        """Bytes for all other values."""
        arrays: list[tuple[int, int]]
        """Where in the arena a value begins, of those that NumPy may be given."""
        margins: list[tuple[int, int, bytes]]
        """Values that hold a number wherever nothing is written: where in the arena, and which number."""
        views: list[tuple[int, tuple[int, tuple[int, ...], tuple[int, ...], int]]]
        """Where the entries are of what NumPy reads between two pieces of code: the parts of a `View`."""
        large: list[int]
        """Results whose memory is used again."""
        products: list[tuple[str, int]]
        """Functions of the BLAS that it calls, and the words for their addresses."""
        team: int
        """The word for what threads share that help; 0 where no work is divided."""
        steps: list[str | int]
        """What runs: names of functions, and numbers of instructions that NumPy runs."""
        entry: tuple[str, list[str]] | None
        """The function that Python calls, and what its table holds."""
        segment: str
        """The function that is the whole program, if it is one."""

else:
    Recipe = dict  # a class of its own takes longer to make than to read one


def place_of(name: str) -> int:
    """The address of a function of the BLAS; 0 where it is not there."""
    from symbolic.backends.native.blas import routine  # it is looked for in libraries, which takes time

    found = routine(name)
    return 0 if found is None else found.address


def views_of(said: Sequence[tuple[int, Any]]) -> dict[int, View]:
    """The views that a recipe tells of."""
    if not said:
        return {}  # as nearly always: then nothing is loaded for it
    from symbolic.backends.native.access import View

    return {k: View(*parts) for k, parts in said}


class Placed:
    """A program whose values have places: as it is written, and as it is run."""

    host: Host
    into: tuple[int, ...]
    makers: Collection[int]
    """The results that are made in memory which is used again."""
    program: Program
    results: list[int | None]
    segment: str
    specs: Sequence[AnySpec]
    word: dict[int, int]
    work: int
    _open: list[int] | None = None
    _boxed: dict[tuple[bool, ...], tuple[bool, ...]]

    def spec(self, k: int) -> Spec:
        found = self.specs[k]
        assert isinstance(found, Spec)
        return found

    def shape(self, k: int) -> tuple[int, ...]:
        found = self.spec(k)
        assert found.known and found.shape is not None
        return found.shape  # type: ignore[return-value]  # known to the last size

    def dtype(self, k: int) -> np.dtype[Any]:
        found = self.spec(k).dtype
        assert found is not None
        return found

    def spare(self) -> None:
        """Memory of the compiler is let go, where results are large."""
        if self.makers and "llvmlite.binding" in sys.modules:
            from symbolic.backends.native.sparing import let_go

            let_go()

    def is_scalar(self, base: int) -> bool:
        return self.spec(base).shape == ()

    def boxed(self, values: Mapping[int, Any] | None = None) -> tuple[bool, ...]:
        """For each output whether it is an array without axes, for these values of the leaves; `axisless` says why.

        Without values for calls that take no number but Python's own: on the leaves it depends through others alone.
        """
        if self._open is None:
            self._open, self._boxed = open_leaves(self.program), {}
        values = values or {}
        key = tuple([isinstance(values.get(k), np.ndarray) for k in self._open])
        if key not in self._boxed:
            self._boxed[key] = boxed(self.program, values)
        return self._boxed[key]
