"""Which findings has the user switched off by a comment?

`# symbolic: ignore` switches off all findings of a line, `# symbolic: ignore[two-way-broadcast, …]` those by name, and
mypy's own `# type: ignore` and `# type: ignore[symbolic-shape]` are understood. It stands on the line of the finding,
or on the first or the last line of its statement, where formatters put it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from symbolic.static.findings import Located

__all__ = ["UNUSED", "Ignore", "ignores", "ignoring", "kept", "name_of", "names_of"]

UNUSED = "unused-ignore"
_OURS = re.compile(r"#\s*symbolic:\s*ignore(?:\[(?P<names>[^\]]*)\])?(?![\w-])")
_THEIRS = re.compile(r"#\s*type:\s*ignore(?:\[(?P<names>[^\]]*)\])?(?![\w-])")


class Ignore(NamedTuple):
    """One comment, and the lines of the statement that it stands in."""

    line: int
    column: int
    first: int
    last: int
    names: tuple[str, ...]
    """Empty: all."""
    is_ours: bool

    def covers(self, finding: Located) -> bool:
        near = finding.line <= self.line <= finding.end_line or self.line in (self.first, self.last)
        inside = self.first <= finding.line <= self.last
        return inside and near and (not self.names or not names_of(finding).isdisjoint(self.names))


def name_of(finding: Located) -> str:
    """The name by which a reader asks for a page and switches a finding off: a lint's own, else the code."""
    return finding.rule if finding.code == "symbolic-lint" or finding.rule == UNUSED else finding.code


def names_of(finding: Located) -> set[str]:
    """Every name that switches it off; `symbolic` stands for all codes, as it does for mypy."""
    return {"symbolic", finding.code, finding.rule}


def ignoring(source: str, line: int, name: str) -> tuple[int, int, str]:
    """Where to write what, so that one name is ignored on a line: line and column, counting from 1, and the text.

    >>> ignoring("y = x - m", 1, "two-way-broadcast")
    (1, 10, '  # symbolic: ignore[two-way-broadcast]')
    >>> ignoring("y = x - m  # symbolic: ignore[a]", 1, "b")
    (1, 32, ', b')
    """
    lines = source.split("\n")
    place = _line_for_comments(source, line)
    text = lines[place - 1] if place <= len(lines) else ""
    if (match := _OURS.search(text)) and match["names"]:
        return place, match.end("names") + 1, f", {name}"
    return place, len(text.rstrip()) + 1, f"  # symbolic: ignore[{name}]"


def _line_for_comments(source: str, line: int) -> int:
    """The line itself, or the last one of its statement where it ends inside of a string or with a backslash."""
    import tokenize

    try:
        for kind, _, (at, _), _, _ in tokenize.generate_tokens(io.StringIO(source).readline):
            if at >= line and (kind == tokenize.NEWLINE or (kind == tokenize.NL and at == line)):
                return at
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    return line


def ignores(source: str) -> list[Ignore]:
    """The comments of a file that is perhaps broken: those of the part that Python's tokenizer reads."""
    if "ignore" not in source:
        return []  # the tokenizer is slower than all the rest of a run
    found: list[Ignore] = []
    waiting: list[tuple[int, int, str]] = []
    first = 0
    import tokenize  # only where such a comment may stand

    try:
        for kind, text, (line, column), (end, _), _ in tokenize.generate_tokens(io.StringIO(source).readline):
            if kind == tokenize.COMMENT:
                waiting.append((line, column, text))
            elif kind == tokenize.NEWLINE:
                found += _of_statement(waiting, first or line, end)
                waiting, first = [], 0
            elif kind == tokenize.NL and not first:
                found += _of_statement(waiting, line, line)  # a line of its own
                waiting = []
            elif kind not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
                first = first or line
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    return found + _of_statement(waiting, first or 1, source.count("\n") + 1)


def _of_statement(comments: Iterable[tuple[int, int, str]], first: int, last: int) -> list[Ignore]:
    return [
        Ignore(line, column + match.start() + 1, first, last, _names(match["names"]), is_ours)
        for line, column, text in comments
        for pattern, is_ours in ((_OURS, True), (_THEIRS, False))
        for match in pattern.finditer(text)
    ]


def _names(text: str | None) -> tuple[str, ...]:
    """What stands in the brackets; brackets without a name switch nothing off."""
    return () if text is None else tuple([name.strip() for name in text.split(",")])


def kept(findings: Sequence[Located], comments: Sequence[Ignore], path: str = "", warn: bool = False) -> list[Located]:
    """The findings that no comment switches off; with `warn`, also one for each comment of ours that does nothing."""
    left = [one for one in findings if not any(comment.covers(one) for comment in comments)]
    if not warn:
        return left
    return sorted([*left, *(said for one in comments if one.is_ours for said in _unused(one, findings, path))])


def _unused(comment: Ignore, findings: Sequence[Located], path: str) -> list[Located]:
    covered = {name for one in findings if comment.covers(one) for name in names_of(one)}
    if not comment.names:
        idle = [] if covered else ["# symbolic: ignore"]
    else:
        idle = [f"# symbolic: ignore[{name}]" for name in comment.names if name not in covered]
    place = (comment.line, comment.column)
    message = "`{}` switches nothing off here; remove it"
    return [Located(path, *place, *place, "symbolic", UNUSED, message.format(what)) for what in idle]
