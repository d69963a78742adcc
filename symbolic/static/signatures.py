"""What do the hints of a function say? They are read as they are written, without running anything."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from symbolic.dims import Axis, parse
from symbolic.errors import SymbolicError
from symbolic.hints import Hint, Shaped, Symbolic
from symbolic.static.abstract import UNKNOWN, Finding, finding
from symbolic.static.things import Alias, Class, Foreign, Function, every_parameter

_JAXTYPING = {
    **{name: (name.lower(),) for name in ("Float16", "Float32", "Float64", "Complex64", "Complex128", "Bool")},
    **{name: (name.lower(),) for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")},
    "Float": ("float16", "float32", "float64"),
    "Complex": ("complex64", "complex128"),
    "Inexact": ("float16", "float32", "float64", "complex64", "complex128"),
    "Int": ("int8", "int16", "int32", "int64"),
    "UInt": ("uint8", "uint16", "uint32", "uint64"),
    **dict.fromkeys(("Integer", "Real", "Num", "Shaped"), ()),
}
_DEPTH = 30
"""Aliases of aliases that are followed."""


class Read(NamedTuple):
    """A hint: whether `Symbolic` stands in it, what it says (`None`: of no array), and what is wrong with it.

    `record`: the dataclass that it names, of which a field's hint is symbolic. `unless_none`: what it says of a value
    that is not None.
    """

    is_symbolic: bool = False
    hint: Hint | None = None
    finding: Finding | None = None
    record: Record | None = None
    unless_none: Hint | None = None

    @property
    def of_value(self) -> Hint | None:
        """What a value that is there is held against."""
        return self.unless_none if self.hint is None else self.hint


class Record(NamedTuple):
    """A dataclass and the hints of its fields; their names of sizes belong to each instance."""

    kind: Class
    fields: Mapping[str, Read]


class Signature(NamedTuple):
    """The hints of a function, those of its parameters by name."""

    parameters: Mapping[str, Read]
    result: Read

    @property
    def is_symbolic(self) -> bool:
        return any(one.is_symbolic or one.record is not None for one in self.parameters.values())


Evaluate = Callable[[ast.expr, Any], Any]
"""What an expression means in a frame: the interpreter's own answer."""


def signature(function: Function, evaluate: Evaluate, known: dict[ast.expr, Read]) -> Signature:
    """What the hints of a function say."""
    arguments = function.node.args
    hints = {one.arg: one.annotation for one in every_parameter(arguments) if one.annotation is not None}
    reading = Reading(evaluate, known)
    parameters = {name: reading.read(hint, function.frame) for name, hint in hints.items()}
    result = getattr(function.node, "returns", None)
    return Signature(parameters, Read() if result is None else reading.read(result, function.frame))


class Reading:
    """Reads hints; names in them are looked up by the interpreter."""

    evaluate: Any
    known: dict[Any, Read]

    def __init__(self, evaluate: Evaluate, known: dict[ast.expr, Read]) -> None:
        self.evaluate, self.known = evaluate, known  # what the aliases say that have been read

    def read(self, node: ast.expr, frame: Any, depth: int = 0) -> Read:
        if depth > _DEPTH:
            return Read()
        if isinstance(node, ast.Constant):
            return self._text(node, frame, depth)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, frame, depth)
        if isinstance(node, ast.BinOp):
            return self._union([node.left, node.right], frame, depth)
        return self._named(self.evaluate(node, frame), depth)

    def record(self, kind: Class, depth: int = 0) -> Record | None:
        """What the hints of a dataclass's fields say; `None` where none of them is of a symbolic value."""
        fields = {
            one.target.id: self.read(one.annotation, frame, depth + 1)
            for one, frame in _fields(kind)
            if isinstance(one.target, ast.Name)
        }
        found = any(one.is_symbolic or one.record is not None for one in fields.values())
        return Record(kind, fields) if found else None

    def _text(self, node: ast.Constant, frame: Any, depth: int) -> Read:
        if not isinstance(node.value, str):
            return Read()
        try:
            inner = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return Read()
        return self.read(inner, frame, depth + 1)

    def _named(self, found: Any, depth: int) -> Read:
        if isinstance(found, Alias):
            if found.node not in self.known:
                self.known[found.node] = self.read(found.node, found.frame, depth + 1)
            return self.known[found.node]
        if isinstance(found, Class) and found.is_dataclass:
            return Read(record=self.record(found, depth + 1))
        if isinstance(found, str):
            return Read()
        known = isinstance(found, type) and found in _NATIVE
        return Read(hint=Hint(found)) if known or _is_scalar(found) else Read()

    def _subscript(self, node: ast.Subscript, frame: Any, depth: int) -> Read:
        home = self.evaluate(node.value, frame)
        parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        name = home.name if isinstance(home, Foreign) else getattr(home, "__name__", "")
        short = name.rpartition(".")[2]
        if short == "Annotated" and parts:
            return self._annotated(parts, frame, depth)
        if name.startswith("jaxtyping.") and short in _JAXTYPING and len(parts) == 2:
            return self._jaxtyping(short, parts, frame, depth)
        if home is tuple or name == "typing.Tuple":
            entries = [self.read(one, frame, depth + 1) for one in parts]
            is_symbolic = any(one.is_symbolic for one in entries)
            wrong = next((one.finding for one in entries if one.finding is not None), None)
            hints = [Hint(object) if one.hint is None else one.hint for one in entries]
            fixed = not any(isinstance(one, ast.Constant) and one.value is Ellipsis for one in parts)
            return Read(is_symbolic, Hint(tuple, Shaped(), tuple(hints)) if fixed else None, wrong)
        if home is np.ndarray or name == "numpy.typing.NDArray" or short == "NDArray":
            return Read(hint=Hint(np.ndarray, Shaped(self._scalar(parts[-1], frame))))
        if short in ("Optional", "Union"):
            return self._union(parts, frame, depth)
        if isinstance(home, Alias):  # a generic alias
            return self.read(home.node, home.frame, depth + 1)
        return Read()

    def _union(self, parts: list[ast.expr], frame: Any, depth: int) -> Read:
        """Which member is there is not known; a value beside None is."""
        read = [self.read(one, frame, depth + 1) for one in parts if not _is_none(one)]
        return Read(any(one.is_symbolic for one in read), unless_none=read[0].of_value if len(read) == 1 else None)

    def _annotated(self, parts: list[ast.expr], frame: Any, depth: int) -> Read:
        inner = self.read(parts[0], frame, depth + 1)
        marks = [self._mark(one, frame) for one in parts[1:]]
        found = [one for one in marks if one is not None]
        if not found:
            return inner
        mark = found[0]
        if isinstance(mark, Finding):
            return Read(True, None, mark)
        if inner.hint is None:
            return Read(True, None, inner.finding, inner.record)
        shaped = inner.hint.shaped
        axes = shaped.axes if mark.axes is None else mark.axes
        return Read(True, inner.hint._replace(shaped=Shaped(mark.dtypes or shaped.dtypes, axes)), inner.finding)

    def _mark(self, node: ast.expr, frame: Any) -> Shaped | Finding | None:
        """What one entry of the metadata says, if it is `Symbolic`."""
        if not isinstance(node, ast.Subscript):
            found = self.evaluate(node, frame)
            if isinstance(found, Alias) and isinstance(found.node, ast.Subscript):
                return self._mark(found.node, found.frame)
            return Shaped() if found is Symbolic else None
        if self.evaluate(node.value, frame) is not Symbolic:
            return None
        parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        values = [self.evaluate(one, frame) for one in parts]
        dtypes: tuple[np.dtype[Any], ...] = ()
        if values and (isinstance(values[0], (type, np.dtype)) or values[0] is UNKNOWN or not _is_word(values[0])):
            dtypes = _dtypes(values[0])
            values = values[1:]
        if not values:
            return Shaped(dtypes)
        if not all(map(_is_word, values)):
            return Shaped(dtypes)
        return _shaped(dtypes, *values)

    def _jaxtyping(self, short: str, parts: list[ast.expr], frame: Any, depth: int) -> Read:
        inner = self.read(parts[0], frame, depth + 1)
        words = self.evaluate(parts[1], frame)
        if inner.hint is None or not isinstance(words, str):
            return inner
        shaped = _shaped(tuple(map(np.dtype, _JAXTYPING[short])), words)
        if isinstance(shaped, Finding):
            return Read(inner.is_symbolic, None, shaped)
        return inner._replace(hint=inner.hint._replace(shaped=shaped))

    def _scalar(self, node: ast.expr, frame: Any) -> tuple[np.dtype[Any], ...]:
        """The dtype that `np.ndarray[Any, np.dtype[np.float32]]` or `NDArray[np.float32]` says."""
        if isinstance(node, ast.Subscript):
            return self._scalar(node.slice, frame)
        found = self.evaluate(node, frame)
        return _dtypes(found) if _is_scalar(found) else ()


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _fields(kind: Class) -> Iterator[tuple[ast.AnnAssign, Any]]:
    """The fields of a class and of those that it is derived from, each with the frame of the body where it stands."""
    for base in kind.bases:
        if isinstance(base, Class):
            yield from _fields(base)
    for one in kind.node.body:
        if isinstance(one, ast.AnnAssign):
            yield one, kind.frame


@lru_cache(maxsize=4096)
def _shaped(dtypes: tuple[np.dtype[Any], ...], *words: Any) -> Shaped | Finding:
    try:
        axes: tuple[Axis, ...] = parse(words)
    except SymbolicError as error:
        found = finding(error)
        return Shaped(dtypes) if found is None else found
    return Shaped(dtypes, axes)


def _is_word(value: Any) -> bool:
    return isinstance(value, (str, int)) or value is Ellipsis


_NATIVE = {np.ndarray, float, int, complex, bool}


def _is_scalar(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, np.generic)


def _dtypes(found: Any) -> tuple[np.dtype[Any], ...]:
    if not isinstance(found, (type, np.dtype)):
        return ()
    try:
        dtype = np.dtype(found)
    except TypeError:
        return ()
    return (dtype,) if dtype.kind in "biufc" else ()
