"""Which program serves a call of sizes that were hardly seen before? One of the same trace whose sizes are left open.

A function that has been given two kinds of inputs that differ in some sizes will be given more. From the third on,
what is planned leaves these sizes unknown, as that of an array whose size only a run tells, so that it holds for all of
them, 0 and 1 too. Each call still holds the trace's guards, its watches and the hints against its own sizes; a kind of
inputs that comes again and again gets a program of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from symbolic.errors import SymbolicError
from symbolic.execution import Specialization
from symbolic.inference import Inference
from symbolic.layer import AnyLayer
from symbolic.machines import chosen
from symbolic.ops.operation import Operation, topological
from symbolic.spec import AnySpec, Spec, TupleSpec, spec_of
from symbolic.trace import Tracing

if TYPE_CHECKING:
    from symbolic.paths import Request

T = TypeVar("T")

ENOUGH = 2  # kinds of inputs that have programs of their own before sizes are left open
_AGAIN = 2  # calls of one kind, after which it gets its own
_KINDS = 64  # of inputs whose calls are counted
_KEPT = 4  # of those that leave sizes open, for one function
_LARGE = 1 << 17  # entries of an input that is worth a program of its own, which runs block by block
_LONG = 0.01  # seconds of a run, which are worth one, too
_FAILURES = 3  # calls that it could not serve


class Open(Specialization):
    """A trace for inputs of given kinds, some of whose sizes are open."""

    pattern: tuple[AnySpec, ...]
    failures: int
    most: int
    seen: int
    known: dict[AnyLayer, AnySpec]

    def __init__(self, tracing: Tracing, pattern: Sequence[AnySpec]) -> None:
        super().__init__(tracing, Inference(dict(zip(tracing.leaves, pattern, strict=True)), open=True))
        self.pattern = tuple(pattern)
        self.failures = 0
        self.most = _LARGE  # entries of inputs for which it is quick
        self.seen = 0  # entries for which that is known
        self.facts.spec(tracing.output)
        self.known = {node: spec for node, spec in self.facts.specs.items() if _is_known(spec)}

    def admits(self, request: Request, specs: Sequence[AnySpec]) -> bool:
        """Whether the body would have written this graph for these inputs, and their sizes are as the hints say."""
        tracing = self.tracing
        if tracing.layout != request.layout or not self._fits(specs) or not tracing.fresh():
            return False
        facts = Inference({})
        facts.specs = {**self.known, **dict(zip(self.inputs, specs, strict=True))}
        try:
            if not tracing.admits(facts):
                return False
            for check in tracing.checks:
                check(facts)
        except SymbolicError:
            return False
        return True

    def _fits(self, specs: Sequence[AnySpec]) -> bool:
        return len(specs) == len(self.pattern) and all(map(_covers, self.pattern, specs))

    def is_quick(self, request: Request) -> bool:
        """Whether such a call will hardly take longer than those that were looked at, so that nobody looks."""
        return _entries(request.values) <= min(self.most, 2 * self.seen)

    def served(self, request: Request, use: Callable[[Specialization], T]) -> tuple[T] | None:
        """`use` of this; `None` where it fails, which it does before anything has changed.

        Where it takes long, inputs of such sizes are worth programs of their own; a machine that was chosen by hand
        does the same each time.
        """
        self.seen = max(self.seen, _entries(request.values))
        made, begin = len(self.programs), time.thread_time()
        try:
            found = use(self)
        except Exception:
            return None
        if chosen() == "auto" and time.thread_time() - begin > _LONG and made == len(self.programs):
            self.most = min(self.most, _entries(request.values) - 1)
        return (found,)


class Varying:
    """What serves calls of any sizes, for one function; the last made first."""

    def __init__(self) -> None:
        self.open: list[Open] = []
        self.calls: dict[Any, int] = {}

    def takes(self, request: Request) -> bool:
        """Whether a call is of a kind that has hardly been seen yet, and not too large."""
        key = request.key
        if key is None or chosen() == "native" or _entries(request.values) > _LARGE:
            return False
        times = self.calls.get(key, 0)
        if times >= _AGAIN:
            return False
        self.calls.pop(key, None)
        while len(self.calls) >= _KINDS:
            self.calls.pop(next(iter(self.calls)), None)
        self.calls[key] = times + 1
        return True

    def taken(self, key: Any) -> int:
        """How many calls of a kind were served, which has a program of its own from now on."""
        return self.calls.pop(key, 0)

    def found(self, request: Request, traces: Sequence[Tracing], exact: Sequence[Specialization]) -> Open | None:
        """The one that serves such a call, perhaps made just now; none where there is none."""
        specs = [spec_of(one) for one in request.values]
        for on in self.open:
            if on.admits(request, specs):
                return on if _entries(request.values) <= on.most else None
        for tracing in reversed(traces):
            if tracing.layout == request.layout and not tracing.decisions and tracing.fresh():
                on = self._made(tracing, specs, [one for one in exact if one.tracing is tracing])
                return on if on is not None and on.admits(request, specs) else None
        return None

    def failed(self, on: Open) -> None:
        """It could not serve a call that its own program serves."""
        on.failures += 1
        if on.failures >= _FAILURES or not on.programs:
            self.open = [one for one in self.open if one is not on]

    def _made(self, tracing: Tracing, specs: Sequence[AnySpec], exact: Sequence[Specialization]) -> Open | None:
        others = [[one.facts.spec(leaf) for leaf in one.inputs] for one in exact]
        alike = [one for one in others if _are_alike(one, specs)]
        mine = [one for one in self.open if one.tracing is tracing and _are_alike(one.pattern, specs)]
        pattern = tuple([_opened(some) for some in zip(specs, *alike, *[one.pattern for one in mine], strict=True)])
        if len(alike) < ENOUGH or pattern in tracing.closed or all(map(_is_known, pattern)):
            return None
        tracing.closed.add(pattern)  # it is tried once
        nodes = topological([tracing.output])
        if tracing.sliced or any(isinstance(node, Operation) and node.effect for node in nodes):
            return None  # all slices are one graph by their sizes; and a call that fails is served once more
        try:
            made = Open(tracing, pattern)
        except Exception:
            return None
        rest = [one for one in self.open if one not in mine and one.tracing.fresh()]
        self.open = [made, *rest[: _KEPT - 1]]
        return made


def _entries(values: Sequence[Any]) -> int:
    return sum([getattr(one, "size", 1) for one in values])


def _is_known(spec: AnySpec) -> bool:
    """Whether nothing is open in it."""
    if isinstance(spec, TupleSpec):
        return all(map(_is_known, spec))
    return not isinstance(spec, Spec) or spec.known


def _are_alike(one: Sequence[AnySpec], other: Sequence[AnySpec]) -> bool:
    """Whether two kinds of inputs differ in nothing but sizes."""
    return len(one) == len(other) and all(map(_is_alike, one, other))


def _is_alike(one: AnySpec, other: AnySpec) -> bool:
    if not isinstance(one, Spec) or not isinstance(other, Spec) or one.shape is None or other.shape is None:
        return one == other
    return len(one.shape) == len(other.shape) and one.dtype == other.dtype and one.python is other.python


def _covers(pattern: AnySpec, spec: AnySpec) -> bool:
    if not isinstance(pattern, Spec) or not isinstance(spec, Spec) or pattern.shape is None or spec.shape is None:
        return pattern == spec
    if not _is_alike(pattern, spec):
        return False
    return all(size is None or size == mine for size, mine in zip(pattern.shape, spec.shape, strict=True))


def _opened(specs: Sequence[Any]) -> AnySpec:
    """The sizes in which kinds of inputs differ left open."""
    first: AnySpec = specs[0]
    if not isinstance(first, Spec) or first.shape is None:
        return first
    sizes = zip(*[one.shape for one in specs], strict=True)
    return first._replace(shape=tuple([some[0] if len(set(some)) == 1 else None for some in sizes]))
