"""What do the laws loop over? Every NumPy function of the registry, with every sample of its parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from hypothesis import assume
from makers import (
    BY_FUNCTION,
    BY_KIND,
    EINSUMS,
    PARAMETERS,
    ROWS_BY_NUMBER,
    SPECIAL,
    THREE_ROWS,
    Maker,
    einsum,
    elementwise,
)
from strategies import Call, Draw

from symbolic import Symbolic, symbolic
from symbolic import public as _public  # noqa: F401 - it fills the tables
from symbolic.layer import FUNCTIONS, UFUNC_METHODS, qualified
from symbolic.naming import home
from symbolic.ops.binding import FORMULAS, signature
from symbolic.ops.operation import Operation


def _refuses(function: Callable[[], Any]) -> bool:
    try:
        function()
    except ValueError:
        return True
    return False


NO_NORM_OF_NOTHING = _refuses(lambda: np.linalg.matrix_norm(np.zeros((0, 2)), ord=np.inf))
"""NumPy 2.2 raises for it; later ones say 0."""


class Subject(NamedTuple):
    """A function with parameters, where it is smooth, and who makes its arguments."""

    name: str
    function: Callable[..., Any]
    parameters: Mapping[str, Any]
    domain: Any
    make: Maker
    twin: bool = True  # whether NumPy has this function: not for an operation's own parameters

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in self.parameters.items())})".replace(" ", "")

    def arguments(self, draw: Draw, special: bool = False) -> Call:
        name = self.name.rsplit(".", 1)[-1]
        if not special and ("axis" in self.parameters or name in ("reduce", "argsort")):
            draw.least = 1  # NumPy lets axis 0 of a 0-d array pass in some functions: the law of values has them
        domain = "with_nan" if name.startswith("nan") and name != "nan_to_num" else self.domain
        call = self.make(draw, SPECIAL[name] if special and name in SPECIAL else domain)
        assume(not self.quirk(call))
        return call

    def quirk(self, call: Call) -> bool:
        """Whether NumPy itself is at fault: the nanquantile of nothing forgets how many quantiles were asked for, an
        index into an empty axis passes if the result is empty anyway, old NumPy has no norm of nothing, irfftn of
        nothing reads memory that nobody wrote, and the bits of nothing are whatever was in memory.
        """
        shape = np.shape(call.arrays[0])
        if 0 not in shape:
            return False
        if self.name.startswith("np.fft.irfft"):
            return True
        if self.name == "np.unpackbits":
            return "count" in self.parameters  # bits that nobody has set
        if self.name == "np.take":
            return "axis" in self.parameters and shape[self.parameters["axis"]] == 0
        if "norm" in self.name:
            return NO_NORM_OF_NOTHING
        return self.name.startswith("np.nan") and "q" in self.parameters

    def of(self, call: Call) -> Callable[..., Any]:
        """The function of the call's arrays alone; several results are a tuple."""
        named, placed = dict(self.parameters), []
        for name in self.parameters:
            if name in POSITIONAL.get(self.name, ()):
                placed.append(named.pop(name))

        return applied(self.function, call.place, placed, named)


def applied(function: Any, place: Any, placed: list[Any], named: dict[str, Any]) -> Callable[..., Any]:
    """It captures no more than it uses: all that a traced function captures is watched, at each call."""

    def subject(*arrays: Any) -> Any:
        return entries(function(*place(*arrays), *placed, **named))

    return subject


POSITIONAL = {"np.astype": ("dtype",)}
"""Parameters that go by position only."""


def entries(result: Any) -> Any:
    """A tuple for every structure of several results (a traced shape too); one result as it is."""
    if not isinstance(result, Sequence):
        return result
    return tuple([one for entry in result for one in (entry if isinstance(entry, list) else [entry])])


def leaves(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def operations() -> Iterator[type[Operation]]:
    """Every operation class, the abstract ones too."""
    stack: list[type[Operation]] = [Operation]
    while stack:
        cls = stack.pop(0)
        yield cls
        stack.extend(cls.__subclasses__())


def owners() -> dict[Any, type[Operation]]:
    found: dict[Any, type[Operation]] = {}
    for cls in operations():
        if cls.__module__.startswith("symbolic.ops") and cls.__name__ not in ("Chain", "Share"):
            for function in cls.functions:
                found.setdefault(function, cls)
    return found


OWNERS = owners()
ASKING = (
    *(np.can_cast, np.common_type, np.min_scalar_type, np.result_type, np.einsum_path),
    *(np.diag_indices_from, np.tril_indices_from, np.triu_indices_from),
)
"""Functions that answer with no numbers: see test_coverage.py."""
WRITING = (np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask)
"""Functions that write into their first argument: the laws are of a copy that was written into."""


def written(function: Any) -> Callable[..., Any]:
    """The first argument after the function has written into a copy of it."""

    @functools.wraps(function)
    def apply(x: Any, *rest: Any, **options: Any) -> Any:
        y = np.copy(x) + 0.0 * x
        function(y, *rest, **options)
        return y

    return apply


DEPRECATED = [getattr(np, name) for name in ("in1d",) if hasattr(np, name)]
"""Older names that warn when they are called."""
APART = (np.shape, np.empty_like, np.linalg.eig, np.linalg.eigvals, np.linalg.lstsq, np.roots, *ASKING, *DEPRECATED)
"""No law for these: no value of a network, any value, or a dtype or shape that the numbers decide."""
TESTED = [one for one in FUNCTIONS if one not in APART and not home(one).startswith("scipy")]


def subjects() -> list[Subject]:
    found = [one for function in TESTED for one in of_function(function)]
    return found + [one for ufunc, name in UFUNC_METHODS for one in _of_method(ufunc, name)]


def of_function(function: Any) -> Iterator[Subject]:
    if function is np.einsum:  # each of its subscripts is a function of its own
        yield from (Subject("np.einsum", function, {}, None, einsum(*one)) for one in EINSUMS)
        return
    laws, owner = FORMULAS.get(function, {}), OWNERS.get(function)
    domain = laws.get("domain") or (None if owner is None else owner.domain)
    own: Sequence[Mapping[str, Any]] = ({},) if owner is None else owner.samples
    samples = [*laws.get("samples", own if "samples" not in laws else ()), *PARAMETERS.get(function, [])]
    if function in PARAMETERS and {} in samples and {} not in PARAMETERS[function]:
        samples.remove({})
    make = BY_FUNCTION.get(function) or BY_KIND.get(laws.get("operands", "")) or elementwise(_count(function, owner))
    for k, parameters in enumerate(samples):
        if parameters in samples[:k]:
            continue
        known = isinstance(function, np.ufunc) or function is np.pad or _named(function, parameters)
        apply = written(function) if function in WRITING else function if known else _private(owner, parameters)
        yield Subject(qualified(function), apply, parameters if known else {}, domain, make, known)


def _named(function: Any, parameters: Mapping[str, Any]) -> bool:
    return set(parameters) <= set(signature(function).parameters)


def _private(owner: Any, parameters: Mapping[str, Any]) -> Callable[..., Any]:
    """An operation with parameters that are its own: on arrays it evaluates, on layers it makes a node."""
    from symbolic import Layer

    def apply(*operands: Any) -> Any:
        if any(isinstance(one, Layer) for one in operands):
            return owner(*operands, **parameters)
        return owner(**parameters).evaluate(*operands)

    return apply


def _count(function: Any, owner: type[Operation] | None) -> int:
    if isinstance(function, np.ufunc):
        return function.nin
    return 1 if owner is None or owner.variadic else len(owner.operand_names)


def _of_method(ufunc: Any, name: str) -> Iterator[Subject]:
    owner = OWNERS.get(ufunc)
    domain = None if owner is None else owner.domain
    samples: list[dict[str, Any]] = [{}]
    if name in ("at", "reduceat"):
        yield _at_places(ufunc, name, domain)
        return
    if isinstance(domain, tuple):
        domain = domain[0] if name != "outer" else domain
    if name == "reduce":
        samples += [{"axis": -1, "keepdims": True}, {"axis": None}]
    if name == "accumulate":
        samples += [{"axis": -1}]
    divided = ufunc in (np.floor_divide, np.remainder, np.fmod)
    make = (_outer_divided if divided else _outer) if name == "outer" else elementwise(1)
    for parameters in samples:
        yield Subject(f"np.{ufunc.__name__}.{name}", getattr(ufunc, name), parameters, domain, make)


def _at_places(ufunc: Any, name: str, domain: Any) -> Subject:
    """Rows by number; one may be named twice."""
    method = getattr(ufunc, name)
    if name == "reduceat":
        return Subject(f"np.{ufunc.__name__}.reduceat", method, {"indices": [0, 2, 1]}, domain, THREE_ROWS)
    return Subject(f"np.{ufunc.__name__}.at", written(method), {}, domain, ROWS_BY_NUMBER)


def _outer_divided(draw: Draw, domain: Any) -> Call:
    """No quotient is near a whole number."""
    x, y = (draw.uniform(low, high, draw.shape(0, 2)) for low, high in ((0.2, 0.8), (1.0, 2.0)))
    return Call((np.asarray(x, dtype=draw.dtype), np.asarray(y, dtype=draw.dtype)))


def _outer(draw: Draw, domain: Any) -> Call:
    domains = domain if isinstance(domain, tuple) else (domain, domain)
    return Call(tuple([draw.array(draw.shape(0, 2), one) for one in domains]))


SUBJECTS = subjects()


# --------------------------------------------------------------------------- as networks


def network(function: Callable[..., Any], count: int) -> Any:
    """A decorated function of `count` arrays."""
    names = [f"x{k}" for k in range(count)]

    def body(*arrays: Any) -> Any:
        return function(*arrays)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    hint = Annotated[np.ndarray | float, Symbolic]
    hinted = [inspect.Parameter(name, kind, annotation=hint) for name in names]
    body.__signature__ = inspect.Signature(hinted, return_annotation=hint)  # type: ignore[attr-defined]  # a function takes attributes
    body.__annotations__ = {**dict.fromkeys(names, hint), "return": hint}
    return symbolic(body)  # type: ignore[symbolic]  # its hints are made when it runs
