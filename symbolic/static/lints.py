"""What works, and is hardly meant? Each lint has a name, a sentence, a page, and one row in the table.

The interpreter calls `at_operation` with every operation whose arguments are values, and `likely_cause` where one of
them fails. Origins come with the values (`provenance`); of a value without one nothing is claimed that needs it.
"""

from __future__ import annotations

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
    float32_made_float64,
    int64_with_uint64,
    integer_division_in_place,
    unsigned_subtraction,
)
from symbolic.static.gradient_lints import DELTA, NO_GRADIENT, deltas, no_gradient
from symbolic.static.lint import Found, Lint, Met
from symbolic.static.meanings import Args, Kwargs, name_of
from symbolic.static.provenance import (
    Followed,
    Origin,
    Provenance,
    followed,
    joined,
    origin_of_input,
    origin_of_join,
    origin_of_result,
    parameter,
)

__all__ = [
    "LINTS",
    "Followed",
    "Found",
    "Origin",
    "Provenance",
    "Row",
    "at_operation",
    "deltas",
    "followed",
    "joined",
    "likely_cause",
    "no_gradient",
    "origin_of_input",
    "origin_of_join",
    "origin_of_result",
    "parameter",
    "rule_of",
]


class Row(NamedTuple):
    """One lint: its function (`None` for one that is asked elsewhere than at an operation), and what it is about."""

    function: Lint | None
    about: str

    @staticmethod
    def page(name: str) -> str:
        """Where its page lies, from the root of the repository."""
        return f"docs/lints/{name}.md"


LINTS: dict[str, Row] = {
    "missing-keepdims": Row(missing_keepdims, "a reduction beside its own array, whose axes do not line up"),
    "two-way-broadcast": Row(two_way_broadcast, "both operands stretched by one broadcast: (n, 1) with (n,)"),
    "vector-in-square": Row(vector_in_square, "a vector beside a matrix that has its size twice: (p, p) with (p,)"),
    "softmax-of-one": Row(softmax_of_one, "softmax over an axis of size 1"),
    "softmax-over-batch": Row(softmax_over_batch, "softmax over the axis of the examples"),
    "squeeze-without-axis": Row(squeeze_without_axis, "squeeze() of an array with a named size, which may be 1"),
    "reshape-permutes": Row(reshape_permutes, "a reshape that exchanges names, where a transpose is meant"),
    "transpose-of-vector": Row(transpose_of_vector, "the .T of a vector, which does nothing"),
    "float32-made-float64": Row(float32_made_float64, "a float32 array made float64 by another operand"),
    "integer-division-in-place": Row(integer_division_in_place, "x /= y of an array of integers"),
    "unsigned-subtraction": Row(unsigned_subtraction, "a difference of unsigned integers, which wraps below 0"),
    "int64-with-uint64": Row(int64_with_uint64, "int64 and uint64 in one operation, which gives float64"),
    NO_GRADIENT: Row(None, "a derivative by an input that reaches the result only through integers or comparisons"),
    DELTA: Row(None, "a gradient of custom_gradient with another shape or dtype than its argument"),
}
"""In the order in which they are asked; of the first group, one is enough for one operation."""

_OF_BROADCASTS = ("missing-keepdims", "two-way-broadcast", "vector-in-square")


def at_operation(
    function: Any, args: Args, kwargs: Kwargs, answer: Answer, provenance: Provenance | None = None
) -> list[Found]:
    """What is to be said of one operation that works: `function` is NumPy's or Python's, or a method's name.

    An attribute is given by its name too: `at_operation("T", (x,), {}, answer)`. Nothing is raised.
    """
    if answer.finding is not None:
        return []
    met = _met(function, args, kwargs, answer.value, provenance)
    found: list[Found] = []
    for name, row in LINTS.items():
        is_said = name in _OF_BROADCASTS and any(one.rule in _OF_BROADCASTS for one in found)
        sentence = None if row.function is None or is_said else _asked(row.function, met)
        if sentence is not None:
            found.append(Found(name, *sentence))
    return found


def rule_of(function: Any, args: Args, kwargs: Kwargs) -> str | None:
    """The lint that an operation falls under whose fault is an error anyway: `x /= 2` of integers."""
    met = _met(function, args, kwargs, None, None)
    return "integer-division-in-place" if _asked(integer_division_in_place, met) is not None else None


def _met(function: Any, args: Args, kwargs: Kwargs, value: Any, provenance: Provenance | None) -> Met:
    return Met(function, name_of(function), args, kwargs, value, provenance or Provenance())


def _asked(lint: Lint, met: Met) -> tuple[str, str] | None:
    try:
        return lint(met)
    except Exception:  # a fault of ours must not stop a checker: nothing is said
        return None
