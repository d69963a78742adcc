"""Which graph does a function's body write? It is run with layers in the place of arrays; at the first trace twice,
so that a body which differs from run to run is noticed.

Each fact that the body asks of a traced value (a rank, a size, a dtype) becomes a guard: a later call for which every
guard has the same answer reuses the trace. What is read from outside the body is watched (`captured`). Layers never
change, so an assignment to a traced value is kept beside it: later uses of the name read the new value, and so do
the views of it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from symbolic.captured import Watch, watches
from symbolic.context import here, inside
from symbolic.errors import ShapeError, _place, buried
from symbolic.fingerprint import MOVING, Same
from symbolic.inference import Inference
from symbolic.layer import AnyLayer, Layer, cannot, refuse, short
from symbolic.leaves import Literal, Weight
from symbolic.literal import as_layer
from symbolic.live import Loan
from symbolic.ops.indexing import assign as assigned
from symbolic.ops.operation import Operation, topological
from symbolic.ops.passing import Cast, Mark, Tuple, open_slices
from symbolic.outcome import Outcome
from symbolic.plan import build
from symbolic.printing import alike, bits
from symbolic.sites import Owner, Store
from symbolic.spec import Spec
from symbolic.structure import flatten


class Shape(Sequence[int]):
    """The shape of a traced value. It reads as a tuple; each size that is read becomes a guard of the trace."""

    __slots__ = ("_node", "_sizes", "_trace")

    def __init__(self, trace: Tracing, node: AnyLayer, sizes: tuple[int | None, ...]) -> None:
        self._trace, self._node, self._sizes = trace, node, sizes

    def _size(self, axis: int) -> int:
        size = self._sizes[axis]
        if size is None:
            self._trace.unknown(self._node, f"shape[{axis}]")
        self._trace.guard(self._node, "shape", axis, size)
        return size

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, index: Any) -> Any:
        axes = range(len(self._sizes))[index]
        return self._size(axes) if isinstance(axes, int) else tuple([self._size(k) for k in axes])

    def __iter__(self) -> Iterator[int]:
        return iter([self._size(k) for k in range(len(self._sizes))])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (tuple, Shape)) and len(other) == len(self) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __add__(self, other: Any) -> tuple[int, ...]:
        return tuple(self) + tuple(other)

    def __radd__(self, other: Any) -> tuple[int, ...]:
        return tuple(other) + tuple(self)

    def __mul__(self, times: int) -> tuple[int, ...]:
        return tuple(self) * times

    def __repr__(self) -> str:
        return repr(tuple(self))


class Tracing:
    """One run of a body, and what it found: the graph, the guards, the watches."""

    def __init__(self, leaves: Sequence[AnyLayer], facts: Inference) -> None:
        self.leaves = tuple(leaves)
        self.facts = facts
        self.guards: dict[tuple[AnyLayer, str, int], Any] = {}
        self.checks: list[Callable[[Inference], None]] = []
        self.watches: list[Any] = []
        self.lends, self.disguised = True, False
        self.loans: dict[Any, Loan] = {}
        self.hyperparameters: list[Watch] = []
        self.entered: dict[Any, int] = {}
        self.assigned: dict[AnyLayer, AnyLayer] = {}
        self.owners: list[Owner] = []
        self.moving = ""  # the line by which the body differs from run to run: it is traced at each call
        self.bodies = 0  # Python functions that were run
        self.layout: Any = None  # the nesting of the input, with what is static in it
        self.output: AnyLayer = Literal(None)
        self.outcome: Outcome | None = None  # the structure of a plain function's result

    # ------------------------------------------------------------------ facts and guards
    def ask(self, node: AnyLayer, what: str) -> Any:
        node = self.resolve(node)
        spec = self.facts.spec(node)
        shape, dtype = (spec.shape, spec.dtype) if isinstance(spec, Spec) else (None, None)
        if what == "dtype":
            return self.unknown(node, what) if dtype is None else self.guard(node, "dtype", 0, dtype)
        if shape is None:
            return self.unknown(node, what)
        rank = self.guard(node, "ndim", 0, len(shape))
        if what == "ndim":
            return rank
        sizes = Shape(self, node, shape)
        return sizes if what == "shape" else int(np.prod(tuple(sizes), dtype=int))

    def made(self, node: AnyLayer) -> None:
        """Check the operands of a new node at once: the error comes on the line that is wrong, as NumPy's would."""
        try:
            self.facts.spec(node)
        except Exception:
            for operand in node.operands if isinstance(node, Operation) else ():
                spec = self.facts.spec(operand)
                if isinstance(spec, Spec) and spec.known:  # that it fails is a fact about these sizes
                    self.ask(operand, "dtype")
                    tuple(self.ask(operand, "shape"))
            raise

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
            found = facts.ask(node, what)
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

    def read(self, weight: Any) -> None:
        """A body took a weight's numbers: when it has moved, the body is traced anew."""
        self.hyperparameters.append(Watch("a weight", lambda: (weight.cell.value, weight.cell.delta), None))

    def numbered(self, title: str) -> str:
        """The name of a layer that is entered: the second `dense` on a path is `dense_2`."""
        key = (here.path, here.prefix, title)
        self.entered[key] = self.entered.get(key, 0) + 1
        return title if self.entered[key] == 1 else f"{title}_{self.entered[key]}"

    # ------------------------------------------------------------------ numbers
    def concrete(self, node: AnyLayer, construct: str) -> Any:
        """The number of a value that depends on constants alone; any other is refused."""
        node = self.resolve(node)
        return constant_value(node) if is_constant(node) else cannot(node, construct)

    # ------------------------------------------------------------------ assignment
    def resolve(self, node: AnyLayer) -> AnyLayer:
        """The node that a name stands for now: after assignments to it, or to what it is a view of."""
        if not self.assigned:
            return node
        views: list[Operation] = []
        at = node
        while at not in self.assigned:
            if not self._is_view(at):
                return node
            views.append(at)  # type: ignore[arg-type]  # a view is an operation
            at = at.operands[0]
        while at in self.assigned:
            at = self.assigned[at]
        for view in reversed(views):
            self._certain(view)
            at = view.rebuilt((at, *view.operands[1:]))
        return at

    def _is_view(self, node: AnyLayer) -> bool:
        """Whether a node shares its base's memory in NumPy; a scalar never does."""
        if not isinstance(node, Operation) or not node.operands or not node.shares:
            return False
        spec = self.facts.spec(node)
        if isinstance(spec, Spec) and spec.shape == ():
            return False
        return node.is_view(self.facts.operands(node)) is not False

    def assign(self, target: AnyLayer, index: Any, value: Any) -> None:
        """`target[index] = value`, NumPy's way."""
        self._store(target, assigned(self.resolve(target), index, as_layer(value)))

    def replace(self, target: AnyLayer, value: AnyLayer) -> AnyLayer:
        """`target += …`: a scalar gives a new one, an array keeps its shape and dtype and changes for all its views."""
        before, after = self.facts.spec(self.resolve(target)), self.facts.spec(value)
        if self.ask(target, "ndim") == 0:
            return value
        assert isinstance(before, Spec) and isinstance(after, Spec)
        if before.shape != after.shape:
            refuse(
                f"an in-place operator would change the shape {before.shape} to {after.shape}",
                "write x = x + y, which makes a new array",
                ShapeError,
            )
        if before.dtype != after.dtype:
            if before.dtype is None or after.dtype is None or not np.can_cast(after.dtype, before.dtype, "same_kind"):
                refuse(
                    f"an in-place operator would cast {after.dtype} to {before.dtype}",
                    "write x = x + y, which makes a new array",
                )
            value = Cast(value, to=before.dtype)
        self._store(target, value)
        return target

    def _store(self, target: AnyLayer, value: AnyLayer) -> None:
        if isinstance(target, (Weight, Literal)):
            refuse(
                f"assignment to a {type(target).__name__}",
                "weights move through an optimizer and constants stay; compute a new value instead",
            )
        if self._is_view(target):
            self._store_through(target, value)  # type: ignore[arg-type]  # a view is an operation
            return
        last = target
        while last in self.assigned:
            last = self.assigned[last]
        self.assigned[last] = Mark.make((value,))

    def _certain(self, view: Operation) -> None:
        """Refuse where NumPy's answer depends on how the array lies in memory."""
        if view.is_view(self.facts.operands(view)) is None:
            refuse(
                f"assignment where {type(view).__name__} may be a view or a copy, as the array lies in memory",
                "make it certain: np.copy(x) before the assignment, or assign to the array itself",
            )

    def _store_through(self, view: Operation, value: AnyLayer) -> None:
        """Write a view's new entries into its base; the view is then read from there."""
        self._certain(view)
        base = view.operands[0]
        written = view.written_back(self.resolve(base), value, self.facts.spec(base), self.facts.spec(view))
        if written is None:
            refuse(
                f"assignment through {type(view).__name__}, which is a view of another traced value",
                "make a copy first (np.copy), or assign to the original array",
            )
        self._store(base, written)

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


def is_constant(node: AnyLayer) -> bool:
    """Whether a value depends on constants alone: on no input, no weight, no captured array."""
    constant = all(isinstance(one, (Operation, Literal)) for one in topological([node]))
    return constant and not open_slices(node)  # each slice of a vmap is another value


def constant_value(node: AnyLayer) -> Any:
    """The value of a node that depends on constants alone."""
    program = build([node], [], [], Inference({}))
    slots = program.slots([])
    program.run(slots, 0, len(program.instructions))
    return program.results(slots)[0]


def run_body(store: Store | None, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call a body within the trace that is under way, its weights kept in `store` (none: in the caller's).

    An error of ours that NumPy has wrapped in its own comes out as ours.
    """
    tracing = here.trace
    assert isinstance(tracing, Tracing)
    loan = tracing.loan(function)
    tracing.bodies += 1
    if store is not None:
        tracing.owners.append(Owner(store))
        tracing.owners[-1].frame = sys._getframe(0)
    try:
        return loan.function(*args, **kwargs)
    except Exception as error:
        ours = buried(error)
        if ours is None or ours is error:
            raise
        raise ours from error
    finally:
        if store is not None:
            tracing.owners.pop()


def trace(apply: Callable[[], Any], leaves: Sequence[AnyLayer], facts: Inference, twice: bool = True) -> Tracing:
    """Run `apply` as a trace over the leaves; a body is run twice, and if the graphs differ it is a moving one."""
    first = _run(apply, leaves, facts, lends=twice)
    if not twice or not first.bodies:
        return first
    lent = any(loan.lent for loan in first.loans.values())
    second = first
    with contextlib.suppress(*((Exception,) if lent else ())):  # other numbers may fail where these do not
        second = _run(apply, leaves, facts, disguised=lent)
        second.moving = _differs(first, second)
    if lent and (second is first or second.moving):  # its numbers were read unseen, perhaps: again with nothing lent
        first, second = (_run(apply, leaves, facts, lends=False) for _ in range(2))
        second.moving = _differs(first, second)
    unseen = [one.what for one in second.watches if getattr(one, "seen", None) is MOVING]
    second.moving = second.moving or (f"{unseen[0]}, which changes unseen" if unseen else "")
    return second


def _run(
    apply: Callable[[], Any],
    leaves: Sequence[AnyLayer],
    facts: Inference,
    lends: bool = True,
    disguised: bool = False,
) -> Tracing:
    tracing = Tracing(leaves, facts)
    tracing.lends, tracing.disguised = lends, disguised
    with inside(trace=tracing, facts=tracing, origin=None, path="", floating=np.geterr()):
        returned = apply()
        tracing.outcome = returned if isinstance(returned, Outcome) else None
        tracing.output = as_output(returned)
        tracing.watch()
    return tracing


def as_output(value: Any) -> AnyLayer:
    """What a body returned, as one layer."""
    if isinstance(value, Outcome):
        return value.output
    if isinstance(value, (tuple, list)) and any(isinstance(one, Layer) for one in value):
        return Tuple.make(tuple([as_output(one) for one in value]))  # type: ignore[no-any-return]
    if not isinstance(value, (Layer, tuple, list)) and any(isinstance(one, Layer) for one in flatten(value)[0]):
        refuse(
            f"the function returns a {type(value).__name__} that holds traced values",
            "return one value, or a tuple of values",
        )
    return as_layer(value)


def _differs(first: Tracing, second: Tracing) -> str:
    """Where two runs of one body differ: in the graph, or in what stands around it in the result."""
    around = first.outcome is not None and second.outcome is not None and first.outcome.differs(second.outcome)
    return difference(first.output, second.output) or ("what it returns" if around else "")


def difference(one: AnyLayer, other: AnyLayer) -> str:
    """Where two traces of one body differ: the line of the first constant that does, or of the first operation."""
    if alike(one, other):
        return ""
    for a, b in zip(topological([one]), topological([other]), strict=False):
        if type(a) is not type(b) or (isinstance(a, Literal) and bits(a.value) != bits(b.value)):
            return _place(a._origin) or "its body"
    return "its body"


__all__ = ["Shape", "Store", "Tracing", "as_output", "run_body", "trace"]
