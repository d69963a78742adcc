"""Which of NumPy's functions are differentiable, which have no derivative, and which are refused?

Found out by calling each with traced values. `python tests/coverage_table.py` writes the answer to docs/coverage.md.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from answers import attempt
from differences import Loss
from everything import overridable
from strategies import Call, Draw, with_examples
from subjects import APART, ASKING, Subject, of_function

from symbolic import SymbolicError, grad
from symbolic import public as _public  # noqa: F401 - it fills the tables
from symbolic.layer import FUNCTIONS, qualified
from symbolic.ops.binding import signature

PAGE = Path(__file__).resolve().parent.parent / "docs" / "coverage.md"
DIFFERENTIABLE, ZERO, REFUSED = "differentiable", "derivative zero", "refused"


class Row(NamedTuple):
    """One function: its name, how it stands, and the remedy that its refusal tells."""

    name: str
    standing: str
    remedy: str = ""


def creation() -> dict[Any, Any]:
    """Functions that make arrays, where they have handlers of their own."""
    if importlib.util.find_spec("symbolic.callees") is None:
        return {}
    return dict(importlib.import_module("symbolic.callees").MAKING)


def name_of(function: Any) -> str:
    """As users know it; the ufunc below `np.clip` has a name that is taken."""
    name = qualified(function)
    if isinstance(function, np.ufunc):
        taken = not isinstance(getattr(np, function.__name__, function), np.ufunc)
        return f"{name} (ufunc)" if taken else name
    return name


@cache
def rows() -> list[Row]:
    """One for each name, sorted."""
    found: dict[str, Row] = {}
    for function in sorted([*overridable().functions, *overridable().ufuncs], key=name_of):
        row = found.get(name_of(function))
        if row is None or row.standing == REFUSED:
            found[name_of(function)] = standing(function)
    return sorted(found.values(), key=lambda row: row.name)


def standing(function: Any) -> Row:
    if function in ASKING or function is np.shape:
        return Row(name_of(function), ZERO)  # dtypes, shapes and places: test_coverage.py
    if function in FUNCTIONS:
        return Row(name_of(function), DIFFERENTIABLE if _moves(function) else ZERO)
    if function in creation():
        return Row(name_of(function), DIFFERENTIABLE)
    return Row(name_of(function), REFUSED, refusal(function).remedy)


# --------------------------------------------------------------------------- does a delta come back?


WITNESSES: dict[Any, tuple[Callable[[Any], Any], Any]] = {
    np.angle: (lambda z: np.sum(np.angle(z)), np.array([1.0 + 2.0j])),
    np.imag: (lambda z: np.sum(np.imag(z) ** 2), np.array([1.0 + 2.0j])),
    np.full_like: (lambda x: np.sum(np.full_like(np.zeros(2), x[0])), np.ones(1)),
    np.intersect1d: (lambda x: np.sum(np.intersect1d(x, x)), np.array([1.0, 2.0])),
    np.linalg.lstsq: (lambda x: np.sum(np.linalg.lstsq(np.eye(2), x, rcond=None)[0]), np.array([1.0, 2.0])),
}
"""Calls in which a delta comes back, of functions that the laws draw no such arguments for."""


def _moves(function: Any) -> bool:
    """Whether a delta other than zero comes back for some call; one at least must have been possible."""
    if function in WITNESSES:
        f, x = WITNESSES[function]
        return bool(np.any(grad(f)(x)))
    if function in APART and function.__name__ in ("empty_like",):
        return False
    return any(_moved(subject) for subject in of_function(function))


def _moved(subject: Subject) -> bool:
    moved: list[bool] = []

    def move(draw: Draw) -> None:
        call = subject.arguments(draw)
        if not moved and 0 not in map(np.size, call.arrays) and not _raises(subject, call):
            loss = Loss(subject, call, draw)
            deltas = grad(lambda *x: np.real(loss(*x)), loss.positions)(*loss.floats) if loss.wanted else ()
            moved.extend([True] if any(np.any(delta) for delta in deltas) else [])

    with_examples(6, move)
    return bool(moved)


def _raises(subject: Subject, call: Call) -> bool:
    return isinstance(attempt(subject.of(call), call.arrays), Exception)


# --------------------------------------------------------------------------- what does the refusal say?


def refusal(function: Any) -> SymbolicError:
    """The error that a call with traced values raises; it names the function, and says what to write."""
    try:
        grad(_called(function))(np.ones(3))
    except SymbolicError as error:
        return error
    raise AssertionError(f"{name_of(function)} of traced values was not refused")


def _called(function: Any) -> Callable[[Any], Any]:
    """A call in which every argument that must be given is traced; or, where NumPy makes an array, `like=` is."""
    if isinstance(function, np.ufunc):
        return lambda x: function(*[x] * function.nin)
    try:
        parameters = signature(function).parameters
    except (KeyError, ValueError):  # written in C, and the signature is not told
        return _untold(function)
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    required = [one for one in parameters.values() if one.default is one.empty and one.kind not in several]
    if "like" in parameters:
        public = function is getattr(np, function.__name__, None)  # the other takes the traced value first
        plain = [float if one.name == "dtype" else 3 for one in required]
        return lambda x: function(*plain, like=x) if public else function(x, *plain)
    more = any(one.kind is one.VAR_POSITIONAL for one in parameters.values())
    return lambda x: function(*[x] * (len(required) + more))


_OPERANDS = {"busday_count": 2, "busday_offset": 2, "is_busday": 1, "datetime_as_string": 1} | dict.fromkeys(
    ("may_share_memory", "shares_memory"), 2
)
_PLAIN: dict[str, tuple[Any, ...]] = {"fromiter": ([3.0], float), "frombuffer": (b"12345678",), "fromfile": ("no",)}


def _untold(function: Any) -> Callable[[Any], Any]:
    name = function.__name__
    if name == "fromstring":
        return lambda x: function("1 2", sep=" ", like=x)
    if name in _OPERANDS:
        return lambda x: function(*[x] * _OPERANDS[name])
    return lambda x: function(*_PLAIN.get(name, (3,)), like=x)


# --------------------------------------------------------------------------- the page

INTRODUCTION = """# Which functions of NumPy can be used?

NumPy {version} says that {functions} functions and {ufuncs} ufuncs can be overridden; some stand there twice, so that
they have {names} names. This page is written by `python tests/coverage_table.py`, which calls each with traced values;
`tests/test_coverage.py` checks it, and `tests/test_laws.py` checks values and derivatives of all that are supported.

| standing | names | what it means |
|---|---|---|
| differentiable | {differentiable} | value and gradient are right, to every order |
| derivative zero | {zero} | the value is right, and no gradient comes back: steps, comparisons, places, counts |
| refused | {refused} | an error names the function and says what to write |

An argument that a function does not handle is refused by its name (`tests/test_keywords.py` tries each).
"""


def page() -> str:
    found = rows()
    counts = {kind: sum(row.standing == kind for row in found) for kind in (DIFFERENTIABLE, ZERO, REFUSED)}
    head = INTRODUCTION.format(
        version=".".join(np.__version__.split(".")[:2]),
        functions=len(overridable().functions),
        ufuncs=len(overridable().ufuncs),
        names=len(found),
        differentiable=counts[DIFFERENTIABLE],
        zero=counts[ZERO],
        refused=counts[REFUSED],
    )
    return head + "".join(_sections(found))


def _sections(found: list[Row]) -> Iterator[str]:
    modules = sorted({row.name.rpartition(".")[0] for row in found}, key=lambda name: (name.count("."), name))
    for module in modules:
        mine = [row for row in found if row.name.rpartition(".")[0] == module]
        yield f"\n## {module}\n\n| name | standing | write instead |\n|---|---|---|\n"
        yield from (f"| `{row.name}` | {row.standing} | {row.remedy.replace('|', '&#124;')} |\n" for row in mine)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
