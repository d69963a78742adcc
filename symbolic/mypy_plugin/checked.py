"""What does `symbolic check` say of a module that mypy checks? It follows the program, where mypy only has types."""

from __future__ import annotations

from typing import Any

from mypy.nodes import Context

from symbolic.static.abstract import Finding
from symbolic.static.checking import check
from symbolic.static.findings import Checked, Located
from symbolic.static.sources import UnreadableError, text_of
from symbolic.static.suppression import ignores, kept

_CHECKED: dict[str, tuple[int, Checked]] = {}
"""What was found in a file, by its path, and of which tree."""


def checked(api: Any) -> Checked:
    """What there is to say of the module that is being checked; nothing where its text cannot be read."""
    found = _CHECKED.get(api.path)
    if found is None or found[0] != id(api.tree):
        found = _CHECKED[api.path] = id(api.tree), _checked(api)
    return found[1]


def _checked(api: Any) -> Checked:
    text = read(api.path)

    def other(name: str) -> str | None:
        """The text of another module of the user's, where mypy has found it."""
        tree = api.modules.get(name)
        return None if tree is None or tree.is_stub else read(tree.path)

    if text is None:
        return Checked([], [])
    found = check(text, api.path, read=other)
    # what mypy's own comments switch off is told, so that mypy knows that they are used
    left = kept(found.findings, [one for one in ignores(text) if one.is_ours], api.path) if found.findings else []
    off = {one[1:5] for one in found.findings}.difference(one[1:5] for one in left)
    return found._replace(findings=left, hovers=[], clear={**found.clear, **dict.fromkeys(off, True)})


def read(path: str) -> str | None:
    """The text of a file; `None` where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return text_of(file.read())
    except (OSError, UnreadableError):
        return None


def same(api: Any, found: Finding, context: Context) -> Located | None:
    """What `symbolic check` says of the same fault, with its likely cause."""
    where = place_of(context)
    near = [one for one in checked(api).findings if (one.line, one.code) == (where[0], found.kind)]
    for one in near:
        if one[1:5] == where or one.message.partition("; ")[0] == found.seen:
            return one
    return None


def is_clear(api: Any, context: Context) -> bool:
    """Whether `symbolic check` has seen why nothing is wrong there: by a test before it, by a handler around it."""
    return checked(api).is_clear(place_of(context))


def place_of(context: Context) -> tuple[int, int, int, int]:
    """Lines and columns, counting from 1."""
    end_line = context.line if context.end_line is None else context.end_line
    end = context.column if context.end_column is None else context.end_column
    return context.line, context.column + 1, end_line, end + 1
