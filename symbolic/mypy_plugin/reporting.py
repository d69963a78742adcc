"""How does a finding reach the user? Once, at its place, under a code of its own."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mypy.errorcodes import ErrorCode
from mypy.nodes import Context

from symbolic.mypy_plugin.checked import is_clear, same
from symbolic.static.abstract import Finding
from symbolic.static.findings import Located, from_afar

SYMBOLIC_CODE = ErrorCode("symbolic", "Layers of symbolic functions are used as run time would allow", "Symbolic")
SHAPE_CODE = ErrorCode("symbolic-shape", "Shapes of layers fit", "Symbolic", sub_code_of=SYMBOLIC_CODE)
DTYPE_CODE = ErrorCode("symbolic-dtype", "Dtypes of layers fit", "Symbolic", sub_code_of=SYMBOLIC_CODE)
LINT_CODE = ErrorCode("symbolic-lint", "What works is also meant", "Symbolic", sub_code_of=SYMBOLIC_CODE)
CODES = {code.code: code for code in (SYMBOLIC_CODE, SHAPE_CODE, DTYPE_CODE)}


def sentence(found: Finding) -> str:
    return f"{found.seen}; {found.remedy}" if found.remedy else found.seen


_FAULTY: dict[str, int] = {}
"""The modules in which a hook of ours has failed, by path: which tree it was."""


def report(api: Any, found: Finding, context: Context, of_value: bool = False) -> None:
    """Tell a finding of the checker.

    mypy tries the items of an overload, and both methods of an operator, with errors held back, and takes one that
    failed for one that does not apply. What we find holds for the operands whichever item is chosen, so it is told
    past those who hold errors back; mypy drops a message that it has told before.
    `of_value`: it is of the value in that place, as all that is said of shapes and dtypes, and not of what is done.
    """
    if _FAULTY.get(api.path) != id(api.tree):
        _tell_once(api, found, context, of_value or found.kind != "symbolic")


def _tell_once(api: Any, found: Finding, context: Context, of_value: bool) -> None:
    """A finding in the words of `symbolic check`, and not against its better knowledge."""
    alike = same(api, found, context)
    if alike is not None:
        report_located(api, alike, context)
    elif not of_value or not is_clear(api, context):
        _tell(api, found, context)


def report_located(api: Any, found: Located, context: Context) -> None:
    """Tell what `symbolic check` has found, with its notes."""
    code = CODES[found.code]
    _fail(api, found.message, context, code)
    for line, note in found.notes:
        _note(api, from_afar(line, note), context, code)


def report_lint(api: Any, message: str, context: Context) -> None:
    """Tell a lint of the checker."""
    if _FAULTY.get(api.path) != id(api.tree):
        _fail(api, message, context, LINT_CODE)


def _tell(api: Any, found: Finding, context: Context) -> None:
    _fail(api, sentence(found), context, CODES[found.kind])


def _fail(api: Any, message: str, context: Context, code: ErrorCode) -> None:
    with _told(api):
        api.fail(message, context, code=code)


def _note(api: Any, message: str, context: Context, code: ErrorCode) -> None:
    with _told(api):
        api.note(message, context, code=code)


@contextmanager
def _told(api: Any) -> Iterator[None]:
    """Past those who hold messages back."""
    errors = api.msg.errors
    held = errors._watchers
    errors._watchers = []
    try:
        yield
    finally:
        errors._watchers = held


def failed(error: Exception, api: Any, context: Context) -> None:
    """Tell a fault of our own, once a module: nothing that is said of the module afterwards would be certain."""
    if _FAULTY.get(api.path) != id(api.tree):
        _FAULTY[api.path] = id(api.tree)
        _tell(api, broken(error), context)


def failed_hint(error: Exception, api: Any, semanal: Any, context: Context) -> None:
    """The same while hints are analyzed."""
    tree = semanal.cur_mod_node
    if _FAULTY.get(tree.path) != id(tree):
        _FAULTY[tree.path] = id(tree)
        api.fail(sentence(broken(error)), context, code=SYMBOLIC_CODE)


def broken(error: Exception) -> Finding:
    """What is said of a fault of our own; the file and line let us find it."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" ({last[0].filename.rpartition('/')[2]}:{last[0].lineno})" if last else ""
    return Finding(
        f"the mypy plugin failed here: {type(error).__name__}: {error}{place}",
        "this is a fault of symbolic, please report it; what follows is unchecked",
    )
