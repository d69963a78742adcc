"""What is the code of a program told to do? Calls of its functions: one by one, shared, or block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from symbolic.backends.native.blocks import Group
from symbolic.backends.native.loops import Pointer
from symbolic.backends.native.recipes import OWN

WORK = -1
"""The memory that a product of matrices needs while it runs."""
BLAS = {"double": -11, "float": -12}
"""The address of a product of matrices in the BLAS, in the words after that."""
CALLS = OWN + 1 + len(BLAS)
"""The word in which the address of the calls is that are data."""
TEAM = -14
"""The address of what threads share that help, in the word after that."""


class Call(NamedTuple):
    """Which of the functions, and what it is given."""

    kind: int
    pointers: Sequence[Pointer]


class Shared(NamedTuple):
    """Calls in any order, by several threads, and those that come when all are done."""

    calls: Sequence[Call | Blocks]
    after: Sequence[Call] = ()


class Blocks(NamedTuple):
    """The calls of a group: before its blocks, for each whole block, and for what is left over."""

    group: Group
    begun: Sequence[Call]
    whole: Sequence[Call]
    left: Sequence[Call]
    rows: tuple[int, int]
    """From which row to which there are whole blocks."""
