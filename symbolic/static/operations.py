"""What does one operation on values give? It is asked of the core, said if it is wrong, and counted."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from symbolic.polynomial import Size
from symbolic.spec import PYTHON_DTYPES, Spec, TupleSpec
from symbolic.spec import UNKNOWN as NOTHING
from symbolic.static import evaluation, lints
from symbolic.static.abstract import UNKNOWN, Answer, Finding, Value, is_constant
from symbolic.static.causes import likely
from symbolic.static.comparing import COMPARISONS, compared, has_size, names_within
from symbolic.static.counting import OF_SIZES, are_sizes, as_size, shape_or_size
from symbolic.static.counts import has_every, over_counts
from symbolic.static.facts import apart, at, learned, possible, unsettled, unsettled_in, without
from symbolic.static.findings import is_said, span
from symbolic.static.handlers import Failed
from symbolic.static.holding import Every, Ref, State, Traced, alike_in_past, joined, traced
from symbolic.static.making import makes
from symbolic.static.nesting import leaves
from symbolic.static.provenance import Past, Provenance, origin_of_result
from symbolic.static.python import python_value
from symbolic.static.scopes import Scopes
from symbolic.static.things import Foreign
from symbolic.static.wanted import unwanted

_MOST_ENTRIES = 10_000
_SIZED = {"reshape", "broadcast_to"}
_SIZED_METHODS = {evaluation.named_method("reshape")}
"""What takes sizes, beside the functions that make arrays."""


class Meeting(NamedTuple):
    """One operation: its function, or the name of a method, its arguments, and the values among them."""

    function: Any
    args: list[Any]
    kwargs: dict[str, Any]
    values: list[Value]
    node: ast.AST
    is_vague: bool = False
    """Whether nothing is known of one of the arguments."""

    @property
    def callee(self) -> Callable[..., Any]:
        if isinstance(self.function, str):
            return evaluation.named_method(self.function)
        found: Callable[..., Any] = self.function
        return found


class Operations(Scopes):
    """Operations on values."""

    state: State

    # ------------------------------------------------------------------ arguments
    def plain(self, value: Any, depth: int = 6) -> Any:
        """An argument as the core takes it: lists as they are now; UNKNOWN for what is none of its business."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is Every or is_constant(value):
            return value
        if isinstance(value, Ref):
            inner = self.state.contents(value)
            if value.kind is list and type(inner) is tuple and depth:
                return [self.plain(one, depth - 1) for one in inner]
            if value.kind is dict and type(inner) is dict and depth:
                return {key: self.plain(one, depth - 1) for key, one in inner.items()}
            return inner if isinstance(inner, Every) else UNKNOWN
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return value if all(isinstance(one, Value) for one in value) else UNKNOWN
        if kind in (tuple, list) and depth:
            return kind([self.plain(one, depth - 1) for one in value])
        if kind is slice:
            return slice(*[self.plain(one, 1) for one in (value.start, value.stop, value.step)])
        if kind is range:
            return [*value] if len(value) <= _MOST_ENTRIES else UNKNOWN
        return value if callable(value) and not isinstance(value, Foreign) else UNKNOWN

    # ------------------------------------------------------------------ operations
    def operate(self, function: Any, args: list[Any], kwargs: Mapping[str, Any], node: ast.AST) -> Any:
        """What a function, an operator or a method, by its name, gives; what is wrong is reported."""
        given = [self.plain(one) for one in args]
        named = {name: self.plain(one) for name, one in kwargs.items()}
        if function in COMPARISONS and any(map(has_size, given)):
            return self._compared(function, given)
        if self.refused(function, given, named, node):
            return UNKNOWN
        if function is int and len(given) == 1 and isinstance(as_size(given[0]), (int, Size)):
            return as_size(given[0])
        values, unknown = _values([*given, *named.values()] if named else given)
        if unknown and not values:
            return UNKNOWN
        met = Meeting(function, given, named, values, node, unknown)
        answer = self._settled(met)
        result = self._result(met, answer.value)
        if answer.finding is None and not self.report.muted and not self.report.outside:
            self._linted(met, answer)
        if function in OF_SIZES and len(given) == 1 and not named and are_sizes(given[0]):
            result = traced(Value(Spec((), np.dtype(np.int64))))  # a number of NumPy's own: `x / np.prod(x.shape)`
            result.size, result.is_given = OF_SIZES[function](given[0]), True
        if answer.finding is None:
            sized = [one for one in values if not makes(function) or is_array(one)]
            self._noted(result, sized, unknown, node)
        return result

    def refused(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], node: ast.AST) -> bool:
        """Whether Python wants a number where there is none; it is reported."""
        names = unsettled_in(self.state) | self.free
        found = unwanted(function, [without(one, names) for one in args] if names else args, kwargs)
        if found is not None:
            self.report.find(found, node, self.notes_on(found))
        return found is not None

    def _compared(self, function: Any, sizes: list[Any]) -> Any:
        found = compared(function, sizes)
        if isinstance(found, Value):
            self.state = unsettled(self.state, names_within(sizes))
        return found

    def _settled(self, met: Meeting) -> Answer:
        """The answer; what is wrong whatever the sizes of the user's choice are is reported."""
        answer = self._answer(met.callee, met.args, met.kwargs)
        if answer.finding is None:
            self.report.met(met.node, all(map(is_known, met.values)) and not met.is_vague)
            return answer
        if answer.finding.kind == "symbolic-shape":
            found = self._fitting(met) or self._undecided(met) or self._of_several(met)
            if found is not None:
                self.report.met(met.node, True)
                return found
        is_handled = self.report.expects(answer.finding)
        self.report.met(met.node, is_handled)
        if is_handled or self.report.muted:  # a handler may go on where two sizes differ: only equal ones get past this
            self.state = unsettled(self.state, names_within([*map(shape_or_size, met.args)]))
        if is_handled and not self.report.muted and not self.report.doubts and self._fails(met):
            raise Failed
        # what is said of layers alone is said where one is there for certain
        is_layer = any(getattr(one, "is_layer", False) for one in met.values)
        if answer.finding.kind != "symbolic" or is_layer:
            self._said(met, answer.finding)
        return answer

    def _fitting(self, met: Meeting) -> Answer | None:
        """The answer for a size that a name must have here: by a weight of 100 rows `hidden` is 100 from then on."""
        if not self.free and all(getattr(one, "is_given", False) for one in met.values):
            return None
        for facts in possible(met.values, self.free):
            args = [at(one, facts) for one in met.args]
            answer = self._answer(met.callee, args, {name: at(one, facts) for name, one in met.kwargs.items()})
            if answer.finding is None:
                self.state = learned(self.state, facts)
                met.args[:] = args
                return answer
        return None

    def _undecided(self, met: Meeting) -> Answer | None:
        """The answer without the sizes that the program has compared: it knows more of them than is known here."""
        names = unsettled_in(self.state)
        if not names:
            return None
        args = [without(one, names) for one in met.args]
        answer = self._answer(met.callee, args, {name: without(one, names) for name, one in met.kwargs.items()})
        return answer if answer.finding is None else None

    def _of_several(self, met: Meeting) -> Answer | None:
        """The answer where names of several objects meet, of which nobody has said whether they are equal."""
        given = [*met.args, *met.kwargs.values()]
        answer = None
        for names in apart(names_within([*map(shape_or_size, given)])):
            args = [without(one, names) for one in met.args]
            answer = self._answer(met.callee, args, {name: without(one, names) for name, one in met.kwargs.items()})
            if answer.finding is not None:
                return None
        return answer

    def _fails(self, met: Meeting) -> bool:
        """Whether an operation fails whatever the named sizes are."""
        names = frozenset(names_within([*map(shape_or_size, [*met.args, *met.kwargs.values()])]))
        args = [without(one, names) for one in met.args]
        answer = self._answer(met.callee, args, {name: without(one, names) for name, one in met.kwargs.items()})
        return answer.finding is not None

    def _said(self, met: Meeting, found: Finding) -> None:
        found = likely(found, met.function, met.args, self.provenance(met.node, isinstance(met.function, str)))
        rule = lints.rule_of(met.function, met.args, met.kwargs) or ""
        self.report.find(found, met.node, self.notes_on(found), rule)

    def _linted(self, met: Meeting, answer: Answer) -> None:
        if not lints.has_lints(met.function):
            return
        for one in lints.at_operation(
            met.function, met.args, met.kwargs, answer, self.provenance(met.node, isinstance(met.function, str))
        ):
            if one.rule != "unsigned-subtraction" or met.node not in self.report.guarded:
                self.report.lint(one, met.node, self.notes_on(Finding(one.seen, one.remedy)))

    def provenance(self, node: ast.AST, is_method: bool = False) -> Provenance:
        """How the arguments are written, and what is to be returned."""
        return Provenance(tuple(map(self._written, _operands(node, is_method))), self.returns)

    def _written(self, node: ast.AST) -> str:
        if isinstance(node, ast.Name):
            return node.id
        line, column, end_line, end = span(node)
        if line != end_line or end - column > 24 or line > len(self.report.lines) or self.report.calls:
            return ""
        return self.report.lines[line - 1][column - 1 : end - 1]

    def notes_on(self, found: Finding) -> tuple[tuple[int, str], ...]:
        """Where the names that a message mentions were declared."""
        origins = self.outermost.origins
        return tuple(
            [
                (line, f"{name} is declared here, by {what}")
                for name, (line, what) in origins.items()
                if is_said(name, found.seen)
            ]
        )

    def _answer(self, function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Answer:
        """The answer; of a list with any number of entries by several numbers of them."""
        if _takes_sizes(function):
            args, kwargs = [as_size(one) for one in args], {name: as_size(one) for name, one in kwargs.items()}
        if not has_every(args) and not (kwargs and has_every(kwargs.values())):
            return evaluation.call(function, args, kwargs)
        return over_counts(function, args, kwargs)

    def _result(self, met: Meeting, value: Any) -> Any:
        if isinstance(value, Value):
            if isinstance(value.spec, TupleSpec):
                return tuple([self._result(met, Value(one)) for one in value.spec])
            if self.report.muted:
                return traced(value, met.values)
            return traced(value, met.values, Past(lambda: origin_of_result(*met[:3], value, met.node), met.values))
        if met.function is operator.getitem and not isinstance(met.args[0], Value):
            return _entry_itself(met.args, value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*[self._result(met, one) for one in value])
        if type(value) is tuple:
            return tuple([self._result(met, one) for one in value])
        if type(value) is list:
            return self.state.made(list, tuple([self._result(met, one) for one in value]))
        return value

    def _noted(self, result: Any, values: list[Value], unknown: bool, node: ast.AST) -> None:
        """What is known of an expression with arrays in it, for readers and for the count."""
        if not values or self.report.muted or self.report.outside:
            return
        if isinstance(result, Value):
            self.report.count(node, is_known(result) or unknown or not all(map(is_known, values)))
        elif result is UNKNOWN and not unknown:
            self.report.count(node, False)

    def shown(self, node: ast.expr, value: Value) -> None:
        """The type of an expression, for the reader that points at it."""
        if not self.report.calls and isinstance(value.spec, Spec) and value.spec != NOTHING:
            self.report.show(node, value)

    # ------------------------------------------------------------------ what is gone through
    def entries(self, value: Any, node: ast.AST) -> Any:
        """The entries of what is iterated over: a tuple of them, `Every`, or UNKNOWN."""
        if isinstance(value, Ref):
            inner = self.state.contents(value)
            if value.kind is dict:
                return tuple(inner) if type(inner) is dict else UNKNOWN
            if getattr(value.kind, "is_tuple", False):
                return tuple(inner.values()) if type(inner) is dict else UNKNOWN
            return inner if value.kind in (list, set) else UNKNOWN
        if isinstance(value, Every):
            return value
        if isinstance(value, Value):
            return self._rows(value, node)
        if isinstance(value, (tuple, list)):
            return tuple(value)
        if isinstance(value, (range, str)):
            return tuple(value) if len(value) <= _MOST_ENTRIES else Every(traced(python_value(int)), len(value))
        return UNKNOWN

    def _rows(self, value: Value, node: ast.AST) -> Any:
        spec = value.spec
        if isinstance(spec, TupleSpec):
            return tuple([alike_in_past(Value(one), value) for one in spec])
        if not isinstance(spec, Spec) or spec.shape == ():
            return UNKNOWN
        with self.report.mute():
            row = self.operate(operator.getitem, [value, 0], {}, node)
        count = spec.shape[0] if spec.shape else None
        if isinstance(count, int) and count <= 32:
            return (row,) * count
        return Every(row, count if isinstance(count, (int, Size)) else None)

    def entry_of(self, entries: Any) -> Any:
        """One value that is true of every entry."""
        if isinstance(entries, Every):
            return entries.entry
        if entries is UNKNOWN or not entries:
            return UNKNOWN
        found = entries[0]
        absorbed: set[type] = set()  # the kinds of bare numbers that are in it: another one adds nothing
        for one in entries[1:]:
            if type(one) in absorbed and isinstance(found, Value):
                continue
            found = joined(found, one, self.state, self.state)
            if found is UNKNOWN:
                break
            if type(one) in PYTHON_DTYPES:
                absorbed.add(type(one))
        return found


def _operands(node: ast.AST, is_method: bool) -> list[ast.AST]:
    """Where the arguments of an operation are written."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.AugAssign):
        return [node.target, node.value]
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return [node.value]
    if isinstance(node, ast.Call):
        home = [node.func.value] if is_method and isinstance(node.func, ast.Attribute) else []
        return [*home, *node.args]
    return []


@lru_cache(maxsize=4096)
def _takes_sizes(function: Callable[..., Any]) -> bool:
    return makes(function) or getattr(function, "__name__", "") in _SIZED or function in _SIZED_METHODS


def _entry_itself(args: list[Any], value: Any) -> Any:
    """An entry of a tuple, rather than an equal value of another past."""
    try:
        found = args[0][args[1]]
    except Exception:  # the answer has said so
        return value
    return found if type(found) is type(value) or isinstance(value, Value) else value


def is_known(value: Any) -> bool:
    """Whether the shape is known to the last size, and the dtype."""
    spec = value.spec
    return not isinstance(spec, Spec) or spec.known


_PLAIN = frozenset((Traced, Value, type(UNKNOWN), int, float, str, bool, Size, type(None), type(Ellipsis)))
"""What is an argument of the core as it is."""


def _values(arguments: list[Any]) -> tuple[list[Value], bool]:
    """The values in the arguments, and whether something in them is not known."""
    values: list[Value] = []
    unknown = False
    for one in arguments:
        if isinstance(one, Value):
            values.append(one)
        elif type(one) not in _PLAIN:
            inner, blank = _values(list(leaves(one))) if isinstance(one, _NESTING) else ([], False)
            values += inner
            unknown = unknown or blank
        else:
            unknown = unknown or one is UNKNOWN
    return values, unknown


_NESTING = (tuple, list, dict, slice)


def is_array(value: Any) -> bool:
    """Whether a value is an array, or may be one."""
    return isinstance(value, Value) and isinstance(value.spec, Spec) and value.spec.shape != ()
