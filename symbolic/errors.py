"""What can go wrong, and where is the place added to the message?"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

__all__ = [
    "DtypeError",
    "LayerError",
    "NonFiniteError",
    "ShapeError",
    "SymbolicError",
    "SymbolicWarning",
    "TapeError",
    "TraceError",
    "buried",
    "fail",
    "located",
    "warn",
]


class Where(NamedTuple):
    """Where a layer was made."""

    path: str = ""  # of the layers around it
    file: str = ""
    line: int = 0
    floating: Mapping[str, Any] | None = None  # the settings of a `with np.errstate(…)` around it, in a traced body


class SymbolicError(Exception):
    """Everything that this library raises: what was seen, where, what to do."""

    seen: str
    where: str
    remedy: str

    def __init__(self, seen: str, *, where: str = "", remedy: str = "") -> None:
        self.seen, self.where, self.remedy = seen, where, remedy
        super().__init__(seen, where, remedy)

    def __str__(self) -> str:
        place = f", in {self.where}" if self.where else ""
        return f"{self.seen}{place}" + (f"; {self.remedy}" if self.remedy else "")

    def __reduce__(self) -> tuple[Any, ...]:
        cause = getattr(type(self), "cause", None)
        return _rebuild, (type(self) if cause is None else cause, self.seen, self.where, self.remedy, cause is not None)


class ShapeError(SymbolicError, ValueError):
    """Shapes, ranks or sizes that do not fit."""


class DtypeError(SymbolicError, TypeError):
    """A dtype or a type that does not fit."""


class TraceError(SymbolicError, TypeError):
    """A traced value was asked for what only numbers have."""


class NonFiniteError(SymbolicError, FloatingPointError):
    """An infinity or a NaN where training needs a number."""


class TapeError(SymbolicError, RuntimeError):
    """A tape or a container used at the wrong time."""


class LayerError(SymbolicError):
    """A failure inside a network; it also has the class of its cause."""


class SymbolicWarning(UserWarning):
    """Legal, but hardly meant."""


_located: dict[type, type[LayerError]] = {}


def _layer_error(cause: type[BaseException]) -> type[LayerError]:
    """The LayerError that `except cause` catches as well."""
    if issubclass(cause, LayerError):
        return cause
    if cause not in _located:
        try:
            kind = type("LayerError", (LayerError, cause), {"__module__": __name__, "cause": cause})
            kind("probe")  # some classes cannot be made from one sentence
        except TypeError:
            kind = LayerError
        _located[cause] = kind
    return _located[cause]


def _rebuild(kind: Any, seen: str, where: str, remedy: str, is_located: bool) -> SymbolicError:
    made: type[SymbolicError] = _layer_error(kind) if is_located else kind
    return made(seen, where=where, remedy=remedy)


def place_of(where: Where) -> str:
    path, file, line = where[:3]
    source = f"{os.path.basename(file)}:{line}" if file else ""
    return f"{path} ({source})" if path and source else path or source


def located(cause: Exception, where: Where, shapes: str = "") -> LayerError:
    """`cause`, told with the path of the layer and its source line; raise it `from cause`."""
    if isinstance(cause, LayerError):
        return cause
    known = isinstance(cause, SymbolicError)
    seen = cause.seen if isinstance(cause, SymbolicError) else f"{type(cause).__name__}: {cause}"
    remedy = cause.remedy if isinstance(cause, SymbolicError) else ""
    if shapes and not known:
        seen = f"{seen} (operands: {shapes})"
    place = cause.where if isinstance(cause, SymbolicError) and cause.where else place_of(where)
    return _layer_error(type(cause))(seen, where=place, remedy=remedy)


def fail(error: Exception, where: Where, shapes: str = "") -> NoReturn:
    """Raise `error` with its place; one that has a place already goes on as it is."""
    if isinstance(error, LayerError):
        raise error
    raise located(error, where, shapes) from error


def buried(error: BaseException | None) -> SymbolicError | None:
    """Our own error below one that NumPy raised in its stead, if there is one."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, SymbolicError):
            return error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None


def warn(message: str, stacklevel: int = 2) -> None:
    warnings.warn(message, SymbolicWarning, stacklevel=stacklevel + 1)
