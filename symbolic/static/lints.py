"""What works, and is hardly meant? Each lint has a name, a sentence, a page, and one row in the table.

The interpreter calls `at_operation` with every operation whose arguments are values, and `likely_cause` where one of
them fails. Origins come with the values (`provenance`); of a value without one nothing is claimed that needs it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from symbolic.static.abstract import Answer
from symbolic.static.axis_lints import (
    reshape_permutes,
    softmax_of_one,
    softmax_over_batch,
    squeeze_without_axis,
    transpose_of_vector,
)
from symbolic.static.broadcast_lints import missing_keepdims, two_way_broadcast, vector_in_square
from symbolic.static.causes import likely_cause
from symbolic.static.dtype_lints import (
    PROMOTING,
    float32_made_float64,
    int64_with_uint64,
    integer_division_in_place,
    unsigned_subtraction,
)
from symbolic.static.gradient_lints import DELTA, NO_GRADIENT, deltas, no_gradient
from symbolic.static.lint import Found, Lint, Met
from symbolic.static.meanings import BINARY, COMPARING, SOFTMAX, Args, Kwargs, name_of
from symbolic.static.provenance import (
    Origin,
    Provenance,
    origin_of,
    origin_of_input,
    origin_of_join,
    origin_of_result,
)

__all__ = [
    "LINTS",
    "Found",
    "Origin",
    "Provenance",
    "Row",
    "at_operation",
    "deltas",
    "has_lints",
    "likely_cause",
    "no_gradient",
    "origin_of",
    "origin_of_input",
    "origin_of_join",
    "origin_of_result",
    "rule_of",
]


class Row(NamedTuple):
    """One lint: what it is about, its function (`None` for one that is asked elsewhere), and of which operations."""

    about: str
    function: Lint | None = None
    operations: Collection[str] = ()

    @staticmethod
    def page(name: str) -> str:
        """Where its page lies, from the root of the repository."""
        return f"docs/lints/{name}.md"


_SOFTMAX = {*SOFTMAX, "divide", "subtract"}
"""A softmax may be written out."""
LINTS: dict[str, Row] = {
    "missing-keepdims": Row("a reduction beside its own array, whose axes do not line up", missing_keepdims, BINARY),
    "two-way-broadcast": Row(
        "both operands stretched by one broadcast: (n, 1) with (n,)", two_way_broadcast, BINARY | COMPARING
    ),
    "vector-in-square": Row(
        "a vector beside a matrix that has its size twice: (p, p) with (p,)", vector_in_square, BINARY
    ),
    "softmax-of-one": Row("softmax over an axis of size 1", softmax_of_one, _SOFTMAX),
    "softmax-over-batch": Row("softmax over the axis of the examples", softmax_over_batch, _SOFTMAX),
    "squeeze-without-axis": Row(
        "squeeze() of an array with a named size, which may be 1", squeeze_without_axis, {"squeeze"}
    ),
    "reshape-permutes": Row(
        "a reshape that exchanges names, where a transpose is meant", reshape_permutes, {"reshape"}
    ),
    "transpose-of-vector": Row("the .T of a vector, which does nothing", transpose_of_vector, {"T", "transpose"}),
    "float32-made-float64": Row("a float32 array made float64 by another operand", float32_made_float64, PROMOTING),
    "integer-division-in-place": Row("x /= y of an array of integers", integer_division_in_place, {"divide"}),
    "unsigned-subtraction": Row(
        "a difference of unsigned integers, which wraps below 0", unsigned_subtraction, {"subtract", "diff", "ediff1d"}
    ),
    "int64-with-uint64": Row("int64 and uint64 in one operation, which gives float64", int64_with_uint64, PROMOTING),
    NO_GRADIENT: Row("a derivative by an input that reaches the result only through integers or comparisons"),
    DELTA: Row("a gradient of custom_gradient with another shape or dtype than its argument"),
}
"""In the order in which they are asked; of the first group, one is enough for one operation."""

_OF_BROADCASTS = ("missing-keepdims", "two-way-broadcast", "vector-in-square")


def at_operation(
    function: Any, args: Args, kwargs: Kwargs, answer: Answer, provenance: Provenance | None = None
) -> list[Found]:
    """What is to be said of one operation that works: `function` is NumPy's or Python's, or a method's name.

    An attribute is given by its name too: `at_operation("T", (x,), {}, answer)`. Nothing is raised.
    """
    name = name_of(function)
    if answer.finding is not None or name not in _LINTS_OF:
        return []
    met = Met(function, name, args, kwargs, answer.value, provenance or Provenance())
    found: list[Found] = []
    for rule, lint in _LINTS_OF[name]:
        is_said = rule in _OF_BROADCASTS and any(one.rule in _OF_BROADCASTS for one in found)
        sentence = None if is_said else _asked(lint, met)
        if sentence is not None:
            found.append(Found(rule, *sentence))
    return found


def _by_operation() -> dict[str, list[tuple[str, Lint]]]:
    found: dict[str, list[tuple[str, Lint]]] = {}
    for rule, row in LINTS.items():
        for operation in row.operations:
            assert row.function is not None
            found.setdefault(operation, []).append((rule, row.function))
    return found


_LINTS_OF = _by_operation()


def has_lints(function: Any) -> bool:
    """Whether anything is ever said of what is called."""
    return name_of(function) in _LINTS_OF


def rule_of(function: Any, args: Args, kwargs: Kwargs) -> str | None:
    """The lint that an operation falls under whose fault is an error anyway: `x /= 2` of integers."""
    rule = "integer-division-in-place"
    if name_of(function) not in LINTS[rule].operations:
        return None
    met = Met(function, name_of(function), args, kwargs, None, Provenance())
    return rule if _asked(integer_division_in_place, met) is not None else None


def _asked(lint: Lint, met: Met) -> tuple[str, str] | None:
    try:
        return lint(met)
    except Exception:  # a fault of ours must not stop a checker: nothing is said
        return None
