"""Which mistakes does a program expect? `except ValueError:` around an operation means that its shapes may not fit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from symbolic.static.abstract import Finding
from symbolic.static.things import Class

Caught = tuple[type[BaseException], ...]
"""The classes of errors that are handled around a statement."""
EVERYTHING: Caught = (BaseException,)


class Failed(Exception):  # noqa: N818 - it is the user's program that fails here, and means to
    """What is met here fails whatever the sizes are, and the program goes on in a handler."""


def caught(value: Any) -> Iterator[type[BaseException]]:
    """The classes that an `except` names, by what its expression means; a class of the user's is none of NumPy's."""
    if isinstance(value, type) and issubclass(value, BaseException):
        yield value
    elif type(value) in (tuple, list):
        for one in value:
            yield from caught(one)
    elif not isinstance(value, Class):
        yield BaseException  # who knows


def is_caught(found: Finding, classes: Caught) -> bool:
    """Whether an error that a finding foretells is handled by one of these classes.

    NumPy raises classes of its own (AxisError, LinAlgError, UFuncTypeError) where we raise ShapeError and DtypeError.
    """
    kind = ValueError if found.kind == "symbolic-shape" else TypeError
    raised = found.raised or kind
    return any(
        issubclass(raised, one) or (issubclass(one, kind) and one.__module__.startswith("numpy")) for one in classes
    )


def expecting(node: ast.expr) -> str:
    """The name of a context that waits for an error, as `pytest.raises(…)` and `suppress(…)` do; empty for others."""
    called = node.func if isinstance(node, ast.Call) else node
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name if "raises" in name.lower() or name in ("suppress", "warns", "errors") else ""
