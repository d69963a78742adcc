"""What is said when a layer is asked for what it may not have: a size, a number, its truth, or a NumPy function?

Within a trace the trace answers, where it can; else the error names the value, the line and what to write.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from symbolic.asking import answer, phrase
from symbolic.context import assigning, here, source, with_source
from symbolic.errors import SymbolicError, TraceError, place_of
from symbolic.runtime import Installed

if TYPE_CHECKING:
    from symbolic.layer import AnyLayer


class Asked:
    """What Python asks of a number: of a layer the trace answers, or the error says what to write."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return bool(answered(self, "truth"))

    def __int__(self) -> int:
        return int(answered(self, "int"))

    def __index__(self) -> int:
        return int(answered(self, "index"))

    def __floor__(self) -> int:
        return int(answered(self, "floor"))

    def __ceil__(self) -> int:
        return int(answered(self, "ceil"))

    def __trunc__(self) -> int:
        return int(answered(self, "trunc"))

    def __float__(self) -> float:
        return float(plain_number(self, "float"))

    def __complex__(self) -> complex:
        return complex(plain_number(self, "complex"))

    def __format__(self, form: str) -> str:
        """The text of its number while a call is traced; else that of the tree."""
        return str(answered(self, f"text:{form}")) if form else str(self)


def fact(node: AnyLayer, what: str) -> Any:
    """A size, a rank or a dtype, which the trace then depends on."""
    if here.facts is None:
        refuse(
            f".{what} of {short(node)} is not known without an input",
            "call the network with data, or give sizes in the hint: Symbolic['batch', 784]",
        )
    return here.facts.ask(node, what)


def answered(node: Any, asked: str) -> Any:
    """What its number answers: in a traced call this becomes a decision of the trace."""
    refuse_assignment(node)
    if here.trace is not None:
        return here.trace.answer(node, asked)
    return answer(asked, Installed.runtime.constant(node, phrase(asked)))


def plain_number(node: Any, asked: str) -> Any:
    """The same for an answer that would strip a gradient: only of what has none."""
    refuse_assignment(node)
    if here.trace is not None:
        return here.trace.number(node, asked)
    return answer(asked, Installed.runtime.constant(node, phrase(asked)))


def refuse_assignment(node: Any) -> None:
    """Raise if the running line writes the value into an array."""
    if assigning():
        refuse(
            f"item assignment of the traced value {short(node)} into a NumPy array",
            "make the array in the traced function (np.zeros, np.copy), or join the values with np.stack",
        )


def cannot(node: AnyLayer, construct: str) -> NoReturn:
    """Refuse to turn a traced value into a number."""
    remedy = "keep to NumPy functions, which are traced"
    if "truth" in construct:
        remedy = "call it with data, or use np.where for a choice by value"
    if construct == "float()":
        remedy = with_source("use NumPy's functions (np.exp, not math.exp), which keep the gradient")
    refuse(f"{construct} was asked of the traced value {short(node)}, which has no number while tracing", remedy)


def refuse(seen: str, remedy: str, kind: type[SymbolicError] = TraceError) -> NoReturn:
    """Raise `kind`, with the line of the user's program that is running."""
    raise kind(seen, where=place_of(source()), remedy=remedy)


def unsupported(name: str, instead: str = "") -> TraceError:
    """The error for a function that has no meaning for layers."""
    remedy = instead or "write it with functions that are supported, or compute it outside the traced function"
    return TraceError(f"{name} is not supported on layers", where=place_of(source()), remedy=remedy)


def short(node: AnyLayer, limit: int = 60) -> str:
    """The tree of a layer, cut where it grows long."""
    from symbolic.printing import printed  # printing needs the leaves, which need `Layer`

    text = printed(node)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def refuse_names(layer: Any, inputs: tuple[Any, ...], named: Mapping[str, Any]) -> NoReturn:
    """A prediction takes its inputs by position; the error says what they are, as that of a call does."""
    placed, title = getattr(type(layer), "placed", None), "Layer"
    if placed is not None:
        placed(layer, inputs, named)  # which raises where the function has no such name
        title = layer.title
    raise TypeError(
        f"{title}.predict() got an unexpected keyword argument {next(iter(named))!r}; give the inputs by position"
    )
