"""Which parameters of a function are inputs, which are hyperparameters, and what is declared of each?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any

from symbolic.context import source
from symbolic.errors import DtypeError, place_of
from symbolic.hints import Hint, Symbolic, fields_of, is_symbolic, read, signature_hints
from symbolic.ops.binding import signature


class Signature:
    """The parameters of a symbolic function: which are inputs, what is declared of each, what is returned."""

    signature: inspect.Signature
    where: str
    inputs: tuple[str, ...]
    returns: Hint | None
    defaults: dict[str, Any]
    required: tuple[str, ...]

    def __init__(self, function: Callable[..., Any], hints: Mapping[str, Any], title: str) -> None:
        # not from the table, which would keep the function
        self.signature = signature.__wrapped__(function.__func__ if isinstance(function, classmethod) else function)
        code = getattr(inspect.unwrap(getattr(function, "func", function)), "__code__", None)
        self.file: str = getattr(code, "co_filename", "")
        self.line: int = getattr(code, "co_firstlineno", 0)
        self.where = f"{title} ({self.file.rsplit('/', 1)[-1]}:{self.line})" if self.file else title
        parameters = self.signature.parameters
        self.inputs = tuple([name for name in parameters if is_symbolic(hints.get(name))])
        self.hints: dict[str, Hint] = {
            name: read(hints[name], f"parameter {name} of {self.where}") for name in self.inputs
        }
        records = {name: fields_of(hints.get(name)) for name in parameters}
        self.records: dict[str, dict[str, Hint]] = {name: fields for name, fields in records.items() if fields}
        back = hints.get("return")
        known = back is not None and back is not type(None)
        self.returns = read(back, f"the return of {self.where}") if known else None
        empty = inspect.Parameter.empty
        self.defaults = {name: one.default for name, one in parameters.items() if one.default is not empty}
        variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        given = {*self.inputs, *self.defaults}
        needed = [name for name, one in parameters.items() if one.kind not in variadic]
        self.required = tuple([name for name in needed if name not in given])
        if not self.inputs:
            raise without_inputs(title, self.where)

    @cached_property
    def leading(self) -> int:
        """How many arguments by position are all the inputs and nothing else; -1 where it takes names to say so."""
        first = list(self.signature.parameters.values())[: len(self.inputs)]
        by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        plain = all(one.kind in by_position for one in first) and tuple([one.name for one in first]) == self.inputs
        return len(first) if plain else -1

    def usage(self, title: str) -> str:
        return f"call {title}({', '.join([*self.inputs, *(f'{name}=…' for name in self.required)])})"

    def without_self(self) -> Signature:
        """The same for a bound method."""
        twin: Signature = object.__new__(Signature)
        twin.__dict__.update(self.__dict__)
        twin.__dict__.pop("leading", None)
        first = next(iter(self.signature.parameters))
        twin.signature = self.signature.replace(parameters=list(self.signature.parameters.values())[1:])
        twin.required = tuple([name for name in self.required if name != first])
        return twin


def no_values(title: str, missing: Sequence[str], where: str = "") -> DtypeError:
    """What is said of hyperparameters without values, when a layer is wanted and by a type checker."""
    given = ", ".join(f"{name}=…" for name in missing)
    return DtypeError(
        f"{title} was given no value for {', '.join(missing)}",
        where=where,
        remedy=f"make a layer of it first: {title}({given})",
    )


def without_inputs(title: str, where: str = "") -> DtypeError:
    """What is said of a function without inputs, when it is decorated and by a type checker."""
    return DtypeError(
        f"{title} has no symbolic parameter", where=where, remedy="mark an input: `x: Annotated[np.ndarray, Symbolic]`"
    )


def signature_of(
    function: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any], names: Mapping[str, Any]
) -> Signature:
    """The signature by the function's own hints and those given beside it; `names` are the enclosing function's."""
    title = str(getattr(function, "__name__", None) or getattr(getattr(function, "func", None), "__name__", "function"))
    own = getattr(function, "func", function)
    try:
        hints = signature_hints(own, names)
        if not any(map(is_symbolic, hints.values())) and not given and not named:
            signature_hints(own, names, strict=True)  # one that could not be read may be the reason
    except NameError as error:
        raise DtypeError(
            f"a hint of {title} cannot be read: {error}",
            where=place_of(source()),
            remedy="import the name where the function is defined (not only for the type checker)",
        ) from error
    parameters = list(
        signature.__wrapped__(function.__func__ if isinstance(function, classmethod) else function).parameters
    )
    hints.update({name: _marked(hint) for name, hint in zip(parameters, given, strict=False)})
    hints.update({("return" if name == "returns" else name): _marked(hint) for name, hint in named.items()})
    return Signature(function, hints, title)


def _marked(hint: Any) -> Any:
    """A hint given beside a function counts as one with `Symbolic`."""
    return hint if is_symbolic(hint) else Annotated[hint, Symbolic]
