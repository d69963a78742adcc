"""What is known of a small matrix, and how is code written for each of a stack of them?

A record holds the factors of one matrix in columns, the reciprocals of the diagonal, which row of the matrix each row
of the factors is, and the sign of the determinant. Whatever NumPy has its own answer for (a matrix without an inverse,
infinities, NaN) is noted in the flag of the program, which NumPy runs again then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symbolic.backends.native.access import View
from symbolic.backends.native.lowering import Running, Small
from symbolic.backends.native.pointwise import element
from symbolic.backends.native.recipes import AGAIN
from symbolic.backends.native.text import BITS, Function, Module, Value

MOST = 32
"""Rows of the largest matrix that is factored here."""
WRITTEN_OUT = 4
"""Rows up to which a matrix lies in registers, and no loop is written."""
LANES = 8
"""Entries of a vector, whatever the processor has: LLVM makes two or four of it."""


def pitch(n: int) -> int:
    """How far apart the columns of the factors lie; what is beyond the matrix is zero."""
    return n if n <= WRITTEN_OUT else -(-n // LANES) * LANES


def diagonal(n: int) -> int:
    """From where on the reciprocals of the diagonal lie in a record."""
    return n * pitch(n)


def order(n: int) -> int:
    """From where on the numbers of the rows lie."""
    return diagonal(n) + n


def sign(n: int) -> int:
    """Where the sign of the determinant lies."""
    return order(n) + n


def entries(n: int) -> int:
    """How many entries a record has."""
    return sign(n) + 1


TRIANGLES = [
    side + " triangle" + ones + finite
    for side in ("lower", "upper")
    for ones in ("", " of ones")
    for finite in ("", ", finite")
]
"""Which triangle of a matrix is a record, has it ones on its diagonal, must all of the matrix be finite?"""


def alike(task: Small | Running) -> Small | Running:
    """What tasks have in common that are written alike: all but where their values are."""
    return task._replace(target=0, operands=tuple([one._replace(base=0, offset=0) for one in task.operands]))


class Stacked:
    """Writes a task on matrices as a function of pointers: to its operands, to its result, and to the flag."""

    columns: int
    kind: str
    module: Module
    rows: int
    stack: tuple[int, ...]
    whole: str

    f: Function
    task: Small

    def __init__(self, module: Module, task: Small) -> None:
        self.module, self.task = module, task
        self.kind = element(task.dtype)
        self.whole = f"i{BITS[self.kind]}"
        self.stack, self.rows, self.columns = task.domain[:-2], *task.domain[-2:]

    @property
    def key(self) -> Any:
        """What two tasks have in common that are written alike."""
        return alike(self.task)

    def write(self, name: str) -> Function:
        flag = ["ptr"] * self.task.flagged
        self.f = self.module.function(name, ["ptr"] * (len(self.task.operands) + 1) + flag, private=True)
        places = self.f.arguments[: len(self.task.operands) + 1]
        self.begin()
        self._each(0, places)
        self.f.give()
        return self.f

    def begin(self) -> None:
        """What is written once, before the matrices."""

    def _each(self, depth: int, places: Sequence[Value]) -> None:
        """The loops over the axes of the stack."""
        if depth == len(self.stack):
            self.matrix(*places)
            return
        steps = [view.strides[depth] for view in self.task.operands] + [self.task.steps[depth]]
        f, size = self.f, self.stack[depth]
        if size == 1:
            self._each(depth + 1, places)
            return
        with f.loop(f.index(0), f.index(size)) as i:
            moved = [self.at(place, f.mul(i, f.index(step))) for place, step in zip(places, steps, strict=True)]
            self._each(depth + 1, moved)

    def matrix(self, *places: Value) -> None:
        """What is done for one matrix."""
        raise NotImplementedError  # abstract

    # ------------------------------------------------------------------ entries
    def at(self, place: Value, index: Value | int) -> Value:
        return self.f.at(place, self.f.index(index) if isinstance(index, int) else index, self.kind)

    def read(self, place: Value, index: Value | int, lanes: int = 0) -> Value:
        return self.f.load(self.at(place, index), self.kind, lanes)

    def entry(self, place: Value, view: View, i: int, j: int) -> Value:
        """An entry of a matrix that lies as a view says."""
        return self.read(place, i * view.strides[-2] + j * view.strides[-1])

    def number(self, value: float, lanes: int = 0) -> Value:
        return self.f.constant(self.kind, value, lanes)

    def usual(self, size: Value) -> Value:
        """Whether a pivot is neither zero nor so small that it has no reciprocal, nor infinite, nor NaN."""
        f = self.f
        least = f.compare("oge", size, self.number(float(np.finfo(self.task.dtype).tiny)))
        return f.bits("and", least, f.compare("olt", size, self.number(float("inf"))))

    def note(self, usual: Value) -> None:
        """Have NumPy run the program again if something was not as usual."""
        f, flag = self.f, self.f.arguments[-1]
        found = f.select(usual, f.constant("i64", 0), f.constant("i64", AGAIN))
        f.store(f.bits("or", f.load(flag, "i64"), found), flag)


def copied(of: Stacked, given: Value, out: Value, view: View) -> None:
    """The matrix in columns, with zeros below it."""
    f, n, apart = of.f, of.rows, pitch(of.rows)
    row, column = view.strides[-2:]
    with f.loop(f.index(0), f.index(n)) as j:
        line, start = of.at(out, f.mul(j, f.index(apart))), of.at(given, f.mul(j, f.index(column)))
        if n != apart:
            f.store(of.number(0.0, LANES), of.at(line, apart - LANES))
        with f.loop(f.index(0), f.index(n)) as i:
            f.store(of.read(start, f.mul(i, f.index(row))), of.at(line, i))


def room(f: Function, kind: str, count: int) -> Value:
    """Memory for so many entries while a function runs."""
    name = f.label("%s")
    f.slots.append(f"{name} = alloca [{count} x {kind}], align 64")
    return Value("ptr", 0, name)


def lanes_from(f: Function, start: int) -> Value:
    """The numbers of the rows of a block."""
    return Value("i64", LANES, "<" + ", ".join(f"i64 {start + k}" for k in range(LANES)) + ">")
