"""Which graph does a function's body write? It is run with layers in the place of arrays; at the first trace twice,
so that a body which differs from run to run is noticed, unless it cannot (`certain`).

Each fact that the body asks of a traced value (a rank, a size, a dtype) becomes a guard: a later call for which every
guard has the same answer reuses the trace. What is read from outside the body is watched (`captured`). Layers never
change, so an assignment to a traced value is kept beside it: later uses of the name and of its views read the new one.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np

from symbolic.asking import answer, phrase
from symbolic.assignment import Assignments
from symbolic.calls import called
from symbolic.captured import watches
from symbolic.certain import is_certain
from symbolic.concrete import Constants, Numbers, constant_value
from symbolic.context import here, inside, trying
from symbolic.errors import SymbolicError, buried, place_of
from symbolic.fingerprint import MOVING, Same
from symbolic.floating import settings
from symbolic.inference import Inference
from symbolic.layer import AnyLayer, Layer, cannot, refuse, short
from symbolic.leaves import Literal, Weight
from symbolic.literal import as_layer, delta_spec
from symbolic.live import Captured, Loan
from symbolic.ops.deciding import Attempt, Decision, failure, may_fail
from symbolic.ops.making import Box, Made
from symbolic.ops.operation import Operation, topological
from symbolic.ops.passing import BatchMark, Tuple, open_slices
from symbolic.outcome import Outcome, returned_structure
from symbolic.printing import alike, bits
from symbolic.sites import Owner, Store
from symbolic.sizes import Shape
from symbolic.spec import Spec, TupleSpec
from symbolic.structure import flatten
from symbolic.watch import Watch


class Tracing(Assignments):
    """One run of a body, and what it found: the graph, the guards, the watches."""

    def __init__(self, leaves: Sequence[AnyLayer], facts: Inference, numbers: Mapping[AnyLayer, Any] | None) -> None:
        super().__init__(facts)
        self.leaves: tuple[AnyLayer, ...] = tuple(leaves)
        self.numbers: Numbers | None = None if numbers is None else Numbers(numbers, facts)
        self.decisions: list[Any] = []
        self.constants: Constants = Constants(self.lies)
        self.sliced: bool = False  # some values stand for one slice of many
        self.guards: dict[tuple[AnyLayer, str, int], Any] = {}
        self.checks: list[Callable[[Inference], None]] = []
        self.watches: list[Any] = []
        self.lends: bool = True
        self.disguised: bool = False
        self.loans: dict[Any, Loan] = {}
        self.hyperparameters: list[Watch] = []
        self.entered: dict[Any, int] = {}
        self.owners: list[Owner] = []
        self.certain = True  # no body can write another graph in another run
        self.moving = ""  # the line by which the body differs from run to run: it is traced at each call
        self.closed: set[Any] = set()  # kinds of inputs for which their sizes were left open, or cannot be
        self.bodies = 0  # Python functions that were run
        self.layout: Any = None  # the nesting of the input, with what is static in it
        self.output: AnyLayer = Literal(None)
        self.outcome: Outcome | None = None  # the structure of a plain function's result

    # ------------------------------------------------------------------ facts and guards
    def ask(self, node: AnyLayer, what: str) -> Any:
        node = self.resolve(node)
        spec = self.facts.spec(node)
        shape, dtype = (spec.shape, spec.dtype) if isinstance(spec, Spec) else (None, None)
        if what == "python":  # whether it is a number of Python's own
            return self.guard(node, what, 0, spec.python if isinstance(spec, Spec) else None)
        if what == "dtype":
            return self.unknown(node, what) if dtype is None else self.guard(node, "dtype", 0, dtype)
        if shape is None and self.numbers is None:
            return self.unknown(node, what)
        if shape is None:
            shape = self.answer(node, "shape")
        rank = self.guard(node, "ndim", 0, len(shape))
        if what == "ndim":
            return rank
        constant = isinstance(node, Literal)
        sizes: Any = shape if constant else Shape(len(shape), lambda axis: self._size(node, axis, shape[axis]))
        return sizes if what == "shape" else math.prod(sizes)

    def _size(self, node: AnyLayer, axis: int, size: int | None) -> int:
        """One size: of the spec, which becomes a guard, or of a value whose size only its numbers tell."""
        if size is not None:
            return int(self.guard(node, "shape", axis, size))
        if self.numbers is None:
            self.unknown(node, f"shape[{axis}]")
        return int(self.answer(node, "shape")[axis])

    def made(self, node: AnyLayer) -> None:
        """Check the operands of a new node at once: the error comes on the line that is wrong, as NumPy's would."""
        if isinstance(node, BatchMark):
            self.sliced = True
        try:
            self.facts.spec(node)
            if self.numbers is not None and isinstance(node, Operation) and may_fail(node, self.facts):
                self._attempted(node)
        except Exception:
            for operand in node.operands if isinstance(node, Operation) else ():
                spec = self.facts.spec(operand)
                if isinstance(spec, Spec) and spec.known:  # that it fails is a fact about these sizes
                    self.ask(operand, "dtype")
                    tuple(self.ask(operand, "shape"))
            raise

    def _attempted(self, node: Operation) -> None:
        """An operation that may fail for its numbers, within a `try`: it fails here, where the body can catch it."""
        if not trying():
            return
        assert self.numbers is not None
        self._one(node, "whether it fails")
        values = [self.numbers.of(self.resolve(one)) for one in node.operands]
        found = failure(node, values)
        self.decisions.append(Attempt.make(node.operands, (node, found, len(self.decisions))))
        if found is not None:
            self.numbers.raising(node, values)

    def unknown(self, node: AnyLayer, what: str) -> NoReturn:
        refuse(
            f".{what} of {short(node)} is not known here",
            "call the network with data first, or give sizes in the hint: Symbolic['batch', 784]",
        )

    def guard(self, node: AnyLayer, what: str, axis: int, value: Any) -> Any:
        self.guards[node, what, axis] = value
        return value

    def admits(self, facts: Inference) -> bool:
        """Whether the body would ask the same questions and get the same answers for inputs of these specs."""
        for (node, what, axis), value in self.guards.items():
            if what == "kind":
                return False  # more was asked than specs tell
            found = facts.ask(node, what)
            if what == "python" and found is value is None:
                continue
            if what == "shape":
                found = found[axis] if found is not None and axis < len(found) else None
            if found is None or found != value:
                return False
        return True

    def loan(self, function: Any) -> Loan:
        """What a body is lent of the arrays that it captures; once for each body, however often it is run."""
        key = (Same(getattr(function, "__func__", function)), Same(getattr(function, "__self__", None)))
        if key not in self.loans:
            self.loans[key] = Loan(function, watches(function), self.lends, self.disguised)
        return self.loans[key]

    def reads(self, value: Any) -> None:
        """What the code of an argument (a function, an object with methods) reads from outside."""
        self.hyperparameters += watches(value)

    def watch(self) -> None:
        """Note what was read from outside, each place once."""
        found = {(type(one), one.key): one for loan in self.loans.values() for one in loan.remaining()}
        self.watches = [*found.values(), *self.hyperparameters]

    def fresh(self) -> bool:
        """Whether all that the body read from outside is still as it was."""
        return not self.moving and all(watch.holds() for watch in self.watches)

    def stale(self) -> str:
        """What has changed of all that the body read from outside; empty if nothing has."""
        return next((watch.what for watch in self.watches if not watch.holds()), "")

    def read(self, weight: Any) -> None:
        """A body took a weight's numbers: when it has moved, the body is traced anew."""
        self.hyperparameters.append(Watch("a weight", lambda: (weight.cell.value, weight.cell.delta), None))

    def numbered(self, title: str) -> str:
        """The name of a layer that is entered: the second `dense` on a path is `dense_2`."""
        key = (here.path, here.prefix, title)
        self.entered[key] = self.entered.get(key, 0) + 1
        return title if self.entered[key] == 1 else f"{title}_{self.entered[key]}"

    # ------------------------------------------------------------------ numbers
    def answer(self, node: AnyLayer, asked: str) -> Any:
        """What the number of a value answers in this call; of one that is no constant it becomes a decision.

        Refused where there is no call: a tree that is printed without an input.
        """
        node = self.resolve(node)
        if self.is_constant(node):
            return answer(asked, self._constant(node))
        if self.numbers is None:
            cannot(node, phrase(asked))
        self._one(node, phrase(asked))
        found = answer(asked, self.numbers.of(node))
        self.decisions.append(Decision.make((node,), (asked, found, len(self.decisions))))
        return found

    def _one(self, node: AnyLayer, construct: str) -> None:
        """Refuse to ask a value of which each slice of a `vmap` has its own; `vmap` then runs slice by slice."""
        if self.sliced and open_slices(node):
            cannot(node, construct)

    def number(self, node: AnyLayer, asked: str) -> Any:
        """The same where the answer would strip a gradient: of constants, and of what has no gradient."""
        node = self.resolve(node)
        if not self.is_settled(node) and (self.numbers is None or delta_spec(self.facts.spec(node)) is not None):
            cannot(node, phrase(asked))
        return self.answer(node, asked)

    def known(self, node: AnyLayer) -> Any:
        """The value of a constant, for those who need an array; `None` of any other node."""
        node = self.resolve(node)
        return self._constant(node) if self.is_settled(node) else None

    def _constant(self, node: AnyLayer) -> Any:
        return constant_value(node) if self.numbers is None else self.numbers.of(node)

    def is_value(self, node: AnyLayer) -> bool:
        """Whether a layer is a value of this call, rather than a network that the body uses."""
        known = isinstance(node, (Operation, Literal, Weight, Captured))
        return known or any(node is one for one in self.leaves)

    def has_number(self, node: AnyLayer) -> bool:
        """Whether it also has a number: there is a call."""
        return self.numbers is not None and self.is_value(node)

    def kind(self, node: AnyLayer) -> type:
        """The type that the value has in this call: `float`, `np.float64`, `np.ndarray`."""
        node = self.resolve(node)
        if isinstance(self.lies.get(node, node), (Made, Box)):
            return np.ndarray
        spec = self.facts.spec(node)
        if not isinstance(spec, TupleSpec) and (not isinstance(spec, Spec) or spec.shape is None):
            self.unknown(node, "type")
        self.guard(node, "kind", 0, None)
        if (
            isinstance(spec, Spec)
            and spec.shape == ()
            and self.numbers is not None
            and not (self.sliced and open_slices(node))
        ):
            return type(self.numbers.of(node))
        if isinstance(spec, Spec) and spec.python is not None:
            return spec.python
        if isinstance(spec, Spec) and spec.shape == () and spec.dtype is not None:
            return spec.dtype.type
        return tuple if isinstance(spec, TupleSpec) else np.ndarray

    def is_constant(self, node: AnyLayer) -> bool:
        """Whether a value is the same in every call on this path."""
        return self.constants.variables(node) is not None

    def is_settled(self, node: AnyLayer) -> bool:
        """Whether a constant may stand as its number: no derivative is being taken by a variable below it."""
        return self.constants.variables(node) == frozenset()

    @property
    def answers(self) -> list[Any]:
        """The path that was taken: every decision with its answer, in order."""
        return [(one.asked, one.answer) for one in self.decisions]

    # ------------------------------------------------------------------ weights
    def weight(self, make: Callable[[], Any], value: Any) -> Any:
        """The weight of this call site: a new one at the first trace, the same one ever after."""
        owner = self.owners[-1] if self.owners else None
        return make() if owner is None else owner.weight(make, value)

    def store(self) -> Any:
        """The weights of a layer that the body makes at this call site."""
        return self.owners[-1].layer() if self.owners else None

    def generator(self) -> Any:
        owner = self.owners[-1] if self.owners else None
        return np.random.default_rng() if owner is None else owner.generator()


def run_body(store: Store | None, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call a body within the trace that is under way, its weights kept in `store` (none: in the caller's).

    An error of ours that NumPy has wrapped in its own comes out as ours.
    """
    tracing = here.trace
    assert isinstance(tracing, Tracing)
    loan = tracing.loan(function)
    tracing.bodies += 1
    tracing.certain = tracing.certain and is_certain(function, (*args, *kwargs.values()))
    ours: SymbolicError | None = None
    if store is not None:
        tracing.owners.append(Owner(store))
        tracing.owners[-1].frame = sys._getframe(0)
    try:
        return called(loan.function)(*args, **kwargs)
    except Exception as error:
        ours = buried(error)
        if ours is None or ours is error:
            raise
        raise ours from error
    finally:
        del ours  # an error leads to this frame: together they would keep the arguments
        if store is not None:
            tracing.owners.pop()


def trace(
    apply: Callable[[], Any],
    leaves: Sequence[AnyLayer],
    facts: Inference,
    twice: bool = True,
    values: Sequence[Any] | None = None,
) -> Tracing:
    """Run `apply` as a trace over the leaves; a body is run twice, and if the graphs differ it is a moving one.

    `values` are those of the leaves, for a body that asks for them.
    """
    numbers = None if values is None else dict(zip(leaves, values, strict=True))
    run = partial(_run, apply, leaves, facts, numbers)
    only = first = run(lends=twice)
    lent = any(loan.lent for loan in first.loans.values())
    if not twice or not first.bodies or (first.certain and not lent):
        return first
    second = first
    with contextlib.suppress(*((Exception,) if lent else ())):  # other numbers may fail where these do not
        second = run(disguised=lent)
        second.moving = difference(first, second)
    if lent and (second is first or second.moving):  # its numbers were read unseen, perhaps: again with nothing lent
        first, second = (run(lends=False) for _ in range(2))
        second.moving = difference(first, second)
    unseen = [one.what for one in second.watches if getattr(one, "seen", None) is MOVING]
    only.moving = second.moving or (f"{unseen[0]}, which changes unseen" if unseen else "")
    return only if only.moving else second  # what the first run did is what this call does


def _run(
    apply: Callable[[], Any],
    leaves: Sequence[AnyLayer],
    facts: Inference,
    numbers: Mapping[AnyLayer, Any] | None,
    lends: bool = True,
    disguised: bool = False,
) -> Tracing:
    tracing = Tracing(leaves, facts, numbers)
    tracing.lends, tracing.disguised = lends, disguised
    with inside(trace=tracing, facts=tracing, origin=None, path="", floating=settings()):
        try:
            returned = apply()
            tracing.outcome = returned if isinstance(returned, Outcome) else None
            tracing.output = as_output(returned)
        finally:
            tracing.numbers = None  # a trace that is kept must not keep the arrays of one call
        tracing.watch()
    return tracing


def as_output(value: Any) -> AnyLayer:
    """What a body returned, as one layer."""
    if isinstance(value, Outcome):
        return value.output
    if (isinstance(value, tuple) and value) or (
        isinstance(value, list) and any(isinstance(one, Layer) for one in value)
    ):
        return Tuple.make(tuple([as_output(one) for one in value]))  # type: ignore[no-any-return]  # a layer
    if not isinstance(value, (Layer, tuple, list)) and any(isinstance(one, Layer) for one in flatten(value)[0]):
        refuse(*returned_structure(type(value).__name__))
    return as_layer(value)


def difference(first: Tracing, second: Tracing) -> str:
    """Where two runs of one body differ: in the graph, in its decisions, or in what stands around it in the result."""
    around = first.outcome is not None and second.outcome is not None and first.outcome.differs(second.outcome)
    return _difference(first, second) or ("what it returns" if around else "")


def _difference(first: Tracing, second: Tracing) -> str:
    """Where two traces of one body differ: the line of the first constant that does, or of the first operation."""
    one, other = (Tuple.make((*run.decisions, run.output)) for run in (first, second))
    if alike(one, other):
        return ""
    for a, b in zip(topological([one]), topological([other]), strict=False):
        if type(a) is not type(b) or (isinstance(a, Literal) and bits(a.value) != bits(b.value)):
            return place_of(a._origin) or "its body"
    return "its body"


__all__ = ["Store", "Tracing", "as_output", "run_body", "trace"]
