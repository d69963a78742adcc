"""Where are we just now: in which trace, in which layer, on which line?

One thread-local record. Everything else that a layer knows, it carries itself.
"""

from __future__ import annotations

import dis
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from symbolic.errors import Where
from symbolic.floating import settings
from symbolic.rewriting import unread

if TYPE_CHECKING:
    from symbolic.layer import AnyLayer

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
_FILES = 4096  # kept in memory


class Facts(Protocol):
    """Whoever can say what a node's shape, rank or dtype is."""

    def ask(self, node: AnyLayer, what: str) -> Any: ...


class Trace(Protocol):
    """A function's body, being run with layers in the place of arrays."""

    def resolve(self, node: AnyLayer) -> AnyLayer: ...
    def read(self, weight: Any) -> None: ...
    def made(self, node: AnyLayer) -> None: ...
    def assign(self, target: AnyLayer, index: Any, value: Any) -> None: ...
    def entry(self, target: AnyLayer, index: Any) -> AnyLayer | None: ...
    def replace(self, target: AnyLayer, value: AnyLayer) -> AnyLayer: ...
    def answer(self, node: AnyLayer, asked: str) -> Any: ...
    def number(self, node: AnyLayer, asked: str) -> Any: ...
    def known(self, node: AnyLayer) -> Any: ...
    def is_value(self, node: AnyLayer) -> bool: ...
    def has_number(self, node: AnyLayer) -> bool: ...
    def kind(self, node: AnyLayer) -> type: ...
    def weight(self, make: Any, value: Any) -> Any: ...
    def generator(self) -> Any: ...
    def store(self) -> Any: ...


class _Here(threading.local):
    trace: Trace | None = None
    facts: Facts | None = None
    path: str = ""
    prefix: str = ""  # of the next layer that is entered: its number or name in a container
    origin: Where | None = None
    optimizers: tuple[Any, ...] = ()
    finite: bool = False  # a gradient that is not finite is an error
    unchecked: bool = False  # decisions hold without being looked at
    floating: Mapping[str, Any] | None = None  # NumPy's floating-point settings when the trace began


here: _Here = _Here()

MODES: list[object] = []
"""One entry for each block, in whatever thread, within which a call is not the usual one: it is traced, timed, looked
at for what is not finite. While the list is empty, which is one word to look at, no thread is in any."""
_SPECIAL = ("trace", "finite", "unchecked")


@contextmanager
def special() -> Iterator[None]:
    """A block within which no call takes a short cut, in any thread."""
    token = object()
    MODES.append(token)
    try:
        yield
    finally:
        MODES.remove(token)


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The nearest frame of the user's own program, rather than ours, NumPy's or another installed library's."""
    nearest = None
    while frame is not None:
        whose = _WHOSE.get(frame.f_code.co_filename)
        if whose is None:
            whose = _whose(frame.f_code.co_filename)
        if whose == _USERS:
            return frame
        if whose == _LIBRARYS:
            nearest = nearest or frame
        frame = frame.f_back
    return nearest


_HIDDEN, _LIBRARYS, _USERS = 1, 2, 3
_WHOSE: dict[str, int] = {}
"""Whose a file is, by its name: asked for every frame around every node."""


def _whose(file: str) -> int:
    if file.startswith((_OURS, _NUMPY, "<__array")):
        whose = _HIDDEN
    else:
        whose = _LIBRARYS if "site-packages" in file or "dist-packages" in file else _USERS
    if len(_WHOSE) >= _FILES:
        _WHOSE.clear()
    _WHOSE[file] = whose
    return whose


def source() -> Where:
    """The layer's path and the line of the user's program that is running."""
    origin = here.origin
    if origin is not None:
        return origin
    frame = user_frame(sys._getframe(1))
    floating = here.floating
    if floating is not None:
        now = settings()
        floating = None if now is floating or now == floating else now
    if frame is None:
        return Where(here.path, "", 0, floating)
    return _where(Where, (here.path, frame.f_code.co_filename, frame.f_lineno, floating))


_where = tuple.__new__  # which takes a third of the time, for every node


def trying() -> bool:
    """Whether some function of the traced body that is running may catch an error: it has a `try` or a `with`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "run_body":  # which calls the body
        if frame.f_code.co_exceptiontable and not frame.f_code.co_filename.startswith((_OURS, _NUMPY, "<__array")):
            return True
        frame = frame.f_back
    return False


def with_source(remedy: str) -> str:
    """A remedy, and before it what to do about a body whose code cannot be read."""
    name = unread(sys._getframe(1))
    return f"put {name} into a file, as code without a source is not followed; or {remedy}" if name else remedy


def assigning() -> bool:
    """Whether the user's program is just executing `x[i] = …`."""
    frame = user_frame(sys._getframe(1))
    return frame is not None and dis.opname[frame.f_code.co_code[frame.f_lasti]] == "STORE_SUBSCR"


class inside:  # noqa: N801 - it is used as a function; a generator would take twice as long
    """Change some of the record for the length of a block."""

    __slots__ = ("_before", "_changes", "_token")

    def __init__(self, **changes: Any) -> None:
        self._changes: dict[str, Any] = changes
        self._before: dict[str, Any] = {}
        self._token: object | None = None

    def __enter__(self) -> None:
        changes = self._changes
        self._before = {name: getattr(here, name) for name in changes}
        if any(map(changes.get, _SPECIAL)):
            self._token = object()
            MODES.append(self._token)
        here.__dict__.update(changes)

    def __exit__(self, *error: object) -> None:
        here.__dict__.update(self._before)
        if self._token is not None:
            MODES.remove(self._token)


@contextmanager
def scope(name: str, origin: Where | None = None) -> Iterator[None]:
    """Enter a layer: its name joins the path; with `origin`, its line stands for all lines within."""
    name = here.prefix + name
    path = f"{here.path}/{name}" if here.path else name
    line = origin._replace(path=path) if origin is not None else None
    with inside(path=path, prefix="", origin=line):
        yield
