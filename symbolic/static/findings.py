"""What does a checker say, and where? Findings and the types of expressions, each with its place in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # a run of the command that finds everything in its cache loads no NumPy
    import ast

    from symbolic.static.abstract import Finding


Place = tuple[int, int, int, int]
"""Line and column of both ends, counting from 1."""


class Located(NamedTuple):
    """One finding. Lines and columns count from 1; `notes` say in which line each name of the message was bound."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    rule: str
    message: str
    notes: tuple[tuple[int, str], ...] = ()


class Hover(NamedTuple):
    """The short type of an expression."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Checked(NamedTuple):
    """What there is to say of one file; how many expressions with arrays were inferred, and how many were not."""

    findings: list[Located]
    hovers: list[Hover]
    unknown: int = 0
    known: int = 0
    clear: Mapping[Place, bool] = MappingProxyType({})
    """Whether an expression is in order, or fails on purpose; a checker that sees less may think otherwise."""
    dead: tuple[Place, ...] = ()
    """The statements and expressions that are never reached."""

    def is_clear(self, where: Place) -> bool:
        """Whether nothing is wrong at a place, for certain."""
        return self.clear.get(where, any(one[:2] <= where[:2] and where[2:] <= one[2:] for one in self.dead))


Notes = tuple[tuple[int, str], ...]
RULES = {"symbolic-shape": "shape", "symbolic-dtype": "dtype", "symbolic": "unsupported"}


class OutOfSteps(Exception):  # noqa: N818 - it is no error of anybody's
    """The code is not worth more of the user's time."""


class Report:
    """What is found on the way, unless it is muted; and how many steps are left."""

    doubts: int

    path: str
    lines: list[str]
    muted: int
    steps: int

    def __init__(self, path: str, source: str = "") -> None:
        self.path, self.lines = path, source.splitlines()
        self.findings: dict[Located, None] = {}  # in order, each once
        self.hovers: dict[Place, Any] = {}
        self.seen: dict[Place, bool] = {}  # whether an expression with arrays is known
        self.clear: dict[Place, bool] = {}
        self.reached: set[ast.AST] = set()
        self.dead: list[Place] = []
        self.guarded: set[ast.AST] = set()  # differences that are taken only where they are positive
        self.muted = 0
        self.handled: list[Any] = []  # the classes of errors that the statements around catch
        self.doubts = 0  # how many conditional expressions are around
        self.outside = False  # of symbolic bodies arrays are plain: only what is handed to such functions is held
        self.calls: list[tuple[ast.AST, bool]] = []  # the inlined calls around, and whether they lead to this file
        self.steps = 0
        self.hints: dict[ast.expr, Any] = {}  # what aliases of hints say

    @contextmanager
    def mute(self) -> Iterator[None]:
        self.muted += 1
        try:
            yield
        finally:
            self.muted -= 1

    @contextmanager
    def handling(self, classes: Any) -> Iterator[None]:
        """Statements whose errors of these classes are handled: what raises one is meant to."""
        self.handled += [classes] if classes else []
        doubts, self.doubts = self.doubts, 0  # a handler within a conditional call is one of its own
        try:
            yield
        finally:
            self.doubts = doubts
            del self.handled[len(self.handled) - bool(classes) :]

    @contextmanager
    def doubt(self) -> Iterator[None]:
        """What is met here is perhaps not met when the program runs."""
        self.doubts += 1
        try:
            yield
        finally:
            self.doubts -= 1

    def _tries(self) -> bool:
        """Whether the statements around wait for errors of shapes or dtypes: then nothing there is a slip."""
        return any(issubclass(error, one) for row in self.handled for one in row for error in (ValueError, TypeError))

    def expects(self, found: Finding) -> bool:
        """Whether the program handles the error that a finding foretells."""
        if not self.handled:
            return False
        from symbolic.static.handlers import is_caught  # loads NumPy

        return any(is_caught(found, classes) for classes in self.handled)

    def step(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise OutOfSteps

    def find(self, found: Finding, node: ast.AST, notes: Notes = (), rule: str = "", always: bool = False) -> None:
        """Say it, at the outermost call of this file that leads here."""
        if self.muted or (self.outside and not always) or self.expects(found):
            return
        message = f"{found.seen}; {found.remedy}" if found.remedy else found.seen
        if self.calls:
            inner = getattr(node, "lineno", 0) if all(here for _, here in self.calls) else 0
            notes = (*notes, (inner, "here, in a function that is called")) if inner else notes
            node = self.calls[0][0]
        located = Located(self.path, *span(node), found.kind, rule or RULES[found.kind], message, notes)
        self.findings.setdefault(located)

    def lint(self, found: Any, node: ast.AST, notes: Notes = ()) -> None:
        """Say what works and is hardly meant, where it is written."""
        if not self.muted and not self.outside and not self._tries() and all(here for _, here in self.calls):
            message = f"{found.seen}; {found.remedy}" if found.remedy else found.seen
            self.findings.setdefault(Located(self.path, *span(node), "symbolic-lint", found.rule, message, notes))

    def show(self, node: ast.AST, value: Any) -> None:
        """Of what is met several times, in a loop, what is true each time."""
        if self.muted or self.calls:
            return
        where = span(node)
        before = self.hovers.get(where)
        if before is not None and before is not value:
            from symbolic.static.holding import joined  # loads NumPy

            value = joined(before, value)
        self.hovers[where] = value

    def count(self, node: ast.AST, known: bool) -> None:
        """An expression counts once, and as known only if it is so whenever it is met."""
        if not self.muted and all(here for _, here in self.calls):
            where = span(node)
            self.seen[where] = self.seen.get(where, True) and known

    def met(self, node: ast.AST, is_clear: bool) -> None:
        """What is known of a place in the file: it is in order only if it is so whenever it is met."""
        if not self.muted and not self.calls:
            where = span(node)
            self.clear[where] = self.clear.get(where, True) and is_clear

    def never(self, node: ast.AST) -> None:
        """What is not come to on this path; what is met on another one is known from there."""
        if not self.muted and not self.calls:
            self.dead.append(span(node))

    def checked(self) -> Checked:
        from symbolic.static.printing import short  # loads NumPy, for the same reason

        hovers = [Hover(*where, short(value)) for where, value in sorted(self.hovers.items())]
        known = sum(self.seen.values())
        return Checked(
            sorted(self.findings, key=lambda one: one[1:]),
            hovers,
            len(self.seen) - known,
            known,
            self.clear,
            tuple(self.dead),
        )


def span(node: ast.AST) -> Place:
    """Line and column of both ends, counting from 1."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
    return (
        line,
        column,
        getattr(node, "end_lineno", None) or line,
        (getattr(node, "end_col_offset", None) or column) + 1,
    )


def is_said(name: str, text: str) -> bool:
    """Whether a sentence mentions a name, `n`, or one of a record, `batch.n`."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\w)", text) is not None


def from_afar(line: int, note: str) -> str:
    """A note as it is said at another line than its own.

    >>> from_afar(7, "n is declared here, by argument x")
    'n is declared in line 7, by argument x'
    """
    return re.sub(r"\bhere\b", f"in line {line}", note, count=1)
