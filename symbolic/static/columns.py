"""Which character of a line is meant? Python's `ast` counts the bytes of UTF-8, readers and editors count characters.

>>> character("é = x", 4)
3
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from symbolic.static.findings import Checked, Hover, Located

    Placed = TypeVar("Placed", Located, Hover)

__all__ = ["character", "in_characters"]


def character(line: str, column: int) -> int:
    """The column of a byte as the column of its character; both count from 1, and may be one past the end."""
    if line.isascii():
        return column
    return len(line.encode("utf-8", "surrogatepass")[: column - 1].decode("utf-8", "ignore")) + 1


def in_characters(checked: Checked, source: str) -> Checked:
    """The same, with every column counted in characters; a syntax error has them so from Python."""
    if source.isascii():
        return checked
    lines = source.split("\n")
    findings = [one if one.rule == "syntax" else _moved(one, lines) for one in checked.findings]
    return checked._replace(findings=findings, hovers=[_moved(one, lines) for one in checked.hovers])


def _moved(one: Placed, lines: list[str]) -> Placed:
    def at(line: int, column: int) -> int:
        return character(lines[line - 1], column) if 0 < line <= len(lines) else column

    return one._replace(column=at(one.line, one.column), end_column=at(one.end_line, one.end_column))
