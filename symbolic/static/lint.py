"""What is a lint given, and what does it say?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from symbolic.spec import Spec, show
from symbolic.static.abstract import Value
from symbolic.static.meanings import Args, Kwargs, dtype_of, shape_of
from symbolic.static.provenance import Provenance


class Found(NamedTuple):
    """What a lint says: its name, and the sentence."""

    rule: str
    seen: str
    remedy: str


class Met(NamedTuple):
    """One operation that the interpreter met, and what it gives."""

    function: Any
    name: str
    """NumPy's, also of operators and methods."""
    args: Args
    kwargs: Kwargs
    value: Any
    provenance: Provenance

    def written(self, place: int) -> str:
        """How an argument is written, followed by its shape; its shape alone where that is not known."""
        names = self.provenance.names
        text = names[place] if place < len(names) else ""
        shape = show(shape_of(self.args[place]))
        return f"{text} of shape {shape}" if text else shape

    def name_or(self, place: int, other: str) -> str:
        names = self.provenance.names
        return names[place] if place < len(names) and names[place] else other


Sentence: TypeAlias = tuple[str, str] | None
"""What was seen, and what to do; `None` where all is well or not known."""
Lint: TypeAlias = Callable[[Met], Sentence]


def typed(value: Any) -> str:
    """`float32 (n, d)`: an operand as a sentence about dtypes names it."""
    if not isinstance(value, Value):
        return repr(value) if type(value) in (int, float, complex, bool) else "a value"
    dtype, shape = dtype_of(value), shape_of(value)
    kind = "an array" if dtype is None else str(dtype)
    is_array = isinstance(value.spec, Spec) and shape != () and shape is not None
    return f"{kind} {show(shape)}" if is_array else kind
