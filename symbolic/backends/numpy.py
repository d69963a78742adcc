"""How does a program run fast with NumPy alone? As straight-line Python that writes into kept buffers.

Each instruction is a line `v7 = k7(v3, v5, b2)`. Buffers are shared by values whose lives do not overlap; an
elementwise operation may write over an operand that dies there. Outputs are always fresh arrays. A short program is
one function; a long one is cut into pieces, of which each call compiles one more, the others being interpreted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from symbolic.backends.quiet import HEARD, hushed, loud
from symbolic.backends.schedule import Unit, members_of, schedule
from symbolic.backends.writer import Writer
from symbolic.finiteness import finite
from symbolic.forking import lock
from symbolic.plan import Program
from symbolic.spec import spec_of

LONGEST = 1000  # instructions of one function; Python's compiler takes 20 µs for each
_ATTEMPTS = 4
"""Runs that had to be repeated with care, after which none is begun without."""


class Compiled:
    """A program as generated code. One thread at a time runs it; `run` says no to a second one."""

    ready: int
    writer: Writer

    names: dict[str, Any]
    lock: Any
    into: tuple[int, ...]
    program: Program
    whole: Callable[..., Any] | None
    buffered: bool

    def __init__(self, program: Program, into: Sequence[int] = ()) -> None:
        self.program, self.into = program, tuple(into)
        order = schedule(program)
        self.writer = Writer(program, into, order)
        self.names = self.writer.names
        self.codes: dict[Any, dict[int, int]] = {}  # for each code object the instruction of each line
        self.lock = lock()
        self.whole = None
        pieces = _cut(order)
        if len(pieces) > 1:
            self.pieces: list[Any] = pieces
            self.ready = 0
            self.buffered = True
        else:
            self.whole = self._compile(*self.writer.whole())
            self.buffered = self.writer.buffered

    @property
    def function(self) -> Callable[..., Any]:
        """Takes the leaves' values, then the arrays to write into; gives the outputs."""
        return self._in_pieces if self.whole is None else self.whole

    @property
    def source(self) -> str:
        return self.writer.source

    def _compile(self, source: str, lines: dict[int, int]) -> Callable[..., Any]:
        scope: dict[str, Any] = {}
        exec(compile(source, f"<symbolic program {id(self.program):x}>", "exec"), self.names, scope)
        function: Callable[..., Any] = scope["program"]
        self.codes[function.__code__] = lines
        return function

    def run(self, values: Sequence[Any], into: Sequence[Any] = ()) -> Sequence[Any] | None:
        """The outputs; `None` while another thread (or a callback from within) uses the buffers."""
        if not self.lock.acquire(blocking=False):
            return None
        try:
            return self.function(*values, *into)  # type: ignore[no-any-return]  # generated
        except Exception as error:
            self.failed(error)
        finally:
            self.lock.release()

    # ------------------------------------------------------------------ a long program
    def _in_pieces(self, *given: Any) -> Sequence[Any]:
        """The pieces one after the other, over slots; each call makes one more of them a function."""
        if self.ready < len(self.pieces):
            self.pieces[self.ready] = self._compile(*self.writer.piece(self.pieces[self.ready], self.ready * LONGEST))
            self.ready += 1
        count = len(self.program.leaves)
        slots = self.program.slots(given[:count])
        targets = given[count:]
        for piece in self.pieces:
            if isinstance(piece, list):
                self._interpret(piece, slots)
            else:
                piece(slots, targets)
        results = self.program.results(slots)
        for target, k in zip(targets, self.writer.targets, strict=True):
            if results[k] is not target:
                np.copyto(target, results[k])
                results[k] = target
        return results

    def _interpret(self, piece: Sequence[Unit], slots: list[Any]) -> None:
        for unit in piece:
            for at in members_of(unit):
                if at < self.program.split:
                    self.program.run(slots, at, at + 1)
                else:
                    with np.errstate(all="ignore"):
                        self.program.run(slots, at, at + 1)

    def explain(self) -> str:
        return f"NumPy: {len(self.program.instructions)} operations, as generated Python"

    # ------------------------------------------------------------------ errors
    def failed(self, error: Exception) -> NoReturn:
        """The failing line of the generated code is the failing instruction."""
        traceback, at, values = error.__traceback__, None, {}
        while traceback is not None:
            lines = self.codes.get(traceback.tb_frame.f_code)
            if lines is not None:
                at, values = lines.get(traceback.tb_lineno), {**self.names, **traceback.tb_frame.f_locals}
            traceback = traceback.tb_next
        if at is None:
            raise error
        sources = self.program.instructions[at].sources
        in_group = at in self.writer.grouped
        specs = [self.program.specs[k] if in_group else spec_of(values.get(f"v{k}")) for k in sources]
        self.program.fail(error, at, specs)


class Looking(Compiled):
    """A program with gradients within, multiplied plainly, and run again with care where that may have been wrong.

    That is: where a result is not finite, where NumPy would have warned (the plain product of 0 and ∞ is no reason for
    a warning, all else is), or where an operation raised.
    """

    careful: Compiled | None
    buffered: bool
    again: int
    whole_program: Program

    def __init__(self, program: Program, into: Sequence[int] = ()) -> None:
        super().__init__(program.plainly(), into)
        self.whole_program, self.buffered = program, True
        self.careful, self.again = None, 0

    @property
    def function(self) -> Callable[..., Any]:
        return self._looked_at

    def _looked_at(self, *given: Any) -> Sequence[Any]:
        if self.again < _ATTEMPTS:
            plain, heard, token = super().function, HEARD.times, hushed()
            try:
                results: Sequence[Any] = plain(*given)
                if HEARD.times == heard and finite(results):
                    return results
            except Exception:
                pass
            finally:
                loud(token)
            self.again += 1
        if self.careful is None:
            self.careful = Compiled(self.whole_program, self.into)
        return self.careful.function(*given)  # type: ignore[no-any-return]  # generated

    def failed(self, error: Exception) -> NoReturn:
        if self.careful is None:
            super().failed(error)
        self.careful.failed(error)


def _cut(order: Sequence[Unit]) -> list[list[Unit]]:
    """The order in pieces of a length that Python compiles at once."""
    return [list(order[k : k + LONGEST]) for k in range(0, len(order), LONGEST)] or [[]]


def compiled(program: Program, into: Sequence[int] = ()) -> Compiled:
    """The program as code."""
    return Looking(program, into) if program.looked else Compiled(program, into)
