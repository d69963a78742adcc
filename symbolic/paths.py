"""Which trace is right for a call? The one whose guards hold, whose watches hold, and on whose path the call stays.

A call first tries what fitted last. When a decision has another answer than in a trace, the call has left its path:
of the other traces only those come into question that decided alike so far and have the new answer there. If none is
left, the body is traced anew and the trace is kept beside the others.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from symbolic.asking import PathLeft
from symbolic.context import MODES, inside, user_frame
from symbolic.errors import SymbolicError, SymbolicWarning, place_of
from symbolic.execution import Specialization
from symbolic.forking import rlock
from symbolic.inference import Inference
from symbolic.spec import spec_of
from symbolic.trace import Tracing
from symbolic.varying import ENOUGH, Open, Varying

T = TypeVar("T")

_TRACES = 64  # kept for each function, and for each kind of inputs
_KEYS = 64  # kinds of inputs for which programs are kept
_LATELY = 8  # kinds of inputs that are looked at where sizes are to be left open
_RESTLESS = 8  # calls in a row that each took a new path: worth a word


class Request(NamedTuple):
    """One call: the kinds of its inputs (`None`: of a kind that never comes again), their nesting, their values."""

    key: Any
    layout: Any
    values: Sequence[Any]
    trace: Callable[[bool], tuple[Tracing, Inference]]  # runs the body; whether twice
    names: Any = None


def _untraced(twice: bool) -> tuple[Tracing, Inference]:
    raise AssertionError("a call that is served by what is there needs no trace")


class Traces(int):
    """How many traces there are; `paths` of them differ in their decisions, `guards` is what is asked of a call.

    >>> from symbolic.paths import Traces
    >>> Traces.of(3, 2, 5)
    3 traces of 2 paths with 5 guards
    """

    paths: int
    guards: int

    @classmethod
    def of(cls, traces: int, paths: int, guards: int) -> Traces:
        self = cls(traces)
        self.paths, self.guards = paths, guards
        return self

    def __repr__(self) -> str:
        return f"{int(self)} traces of {self.paths} paths with {self.guards} guards"


class Left(NamedTuple):
    """A trace whose path a call has left: at which decision, with which answer."""

    tracing: Tracing
    at: int
    answer: Any

    def leads_to(self, other: Tracing) -> bool:
        """Whether another trace decided as this one did until the call left it, and then has the call's answer."""
        mine, theirs = self.tracing.answers, other.answers
        if len(theirs) <= self.at or theirs[: self.at] != mine[: self.at]:
            return False
        asked, answer = theirs[self.at]
        return bool(asked == mine[self.at][0] and answer == self.answer)


class Mark:
    """Whether traces or kinds of inputs have come or gone: then `version` is another object."""

    __slots__ = ("version",)
    version: object

    def __init__(self) -> None:
        self.changed()

    def changed(self) -> None:
        self.version = object()


class Paths:
    """The traces of one function, and its specializations by the kinds of the inputs."""

    moving: str
    restless: int
    told: bool
    lock: Any
    mark: Mark
    varying: Varying

    def __init__(self, title: Callable[[], str]) -> None:
        self.title = title
        self.traces: list[Tracing] = []
        self.table: dict[Any, list[Specialization]] = {}
        self.moving = ""  # the line by which the body differs from run to run
        self.restless = 0
        self.told = False
        self.lock = rlock()
        self.mark = Mark()
        self.varying = Varying()

    def leads(self, key: Any, on: Specialization) -> bool:
        """Whether a call of this kind runs by this specialization, if what its trace watches has not changed."""
        kept = self.table.get(key)
        return kept is not None and bool(kept) and kept[0] is on

    def usual(self, key: Any, on: Specialization) -> bool:
        """The same, asked by a call that needs no new trace if so."""
        self.restless = 0
        return self.leads(key, on)

    def run(
        self, key: Any, request: Callable[[Any], Request], use: Callable[[Specialization], T], exactly: bool = False
    ) -> T:
        """`use` of the specialization on whose path the call stays. It changes nothing before the decisions hold.

        One whose sizes are open may serve a kind of inputs that has hardly been seen yet, unless `exactly` this kind's
        is wanted.
        """
        kept = self.table.get(key)
        if kept and not kept[0].tracing.decisions and kept[0].tracing.fresh():  # the usual call
            self.restless = 0
            return use(kept[0])
        asked = request(key)
        if not kept and not exactly:
            on = self._open(asked)
            if on is not None:
                self.restless = 0
                served = on.served(asked, use)
                if served is not None:
                    return served[0]
                found = self._search(asked, use)  # it tells what is wrong, if that is the call
                self.varying.failed(on)
                return found
        return self._search(asked, use)

    def _open(self, request: Request) -> Open | None:
        """What serves a call of any sizes, if it is to serve this one."""
        if MODES or len(self.table) < ENOUGH:
            return None
        with self.lock:
            if not self.varying.takes(request):
                return None
            own = [on for kept in list(self.table.values())[-_LATELY:] for on in kept]
            return self.varying.found(request, self.traces, own)

    def admits(self, on: Open, key: Any, inputs: Sequence[Any]) -> bool:
        """Whether a call of this kind, with inputs as its trace takes them, would be served by this."""
        request = Request(key, on.tracing.layout, inputs, _untraced)
        if self.table.get(key):
            return False
        with self.lock:
            fits = on.is_quick(request) and on.admits(request, [spec_of(one) for one in inputs])
            found = fits and on in self.varying.open and self.varying.takes(request)
        if found:
            self.restless = 0
        return found

    def _search(self, request: Request, use: Callable[[Specialization], T]) -> T:
        seen: list[Specialization] = []
        left: list[Left] = []
        found = self._along(request, use, seen, left)
        if found is None:
            with self.lock:
                found = self._along(request, use, seen, left)  # what other threads have traced in the meantime
                on = self._fresh(request) if found is None else seen[-1]
        if found is not None:
            return found[0]
        try:
            return use(on)
        except PathLeft:  # it was made from these very values: a last bit differs, and the body's own answers count
            with inside(unchecked=True):
                return use(on)

    def _along(
        self, request: Request, use: Callable[[Specialization], T], seen: list[Specialization], left: list[Left]
    ) -> tuple[T] | None:
        """The result on the first path, of those not seen yet, on which the call stays."""
        for on in self._kept(request, {one.tracing for one in seen}):
            seen.append(on)
            if all(one.leads_to(on.tracing) for one in left):
                try:
                    result = use(on)
                except PathLeft as gone:
                    left.append(Left(on.tracing, gone.at, gone.answer))  # not the exception, which holds frames
                else:
                    self._used(request, on)
                    return (result,)
        return None

    def count(self) -> Traces:
        paths = {tuple(map(repr, one.answers)) for one in self.traces}
        guards = sum(len(one.guards) + len(one.decisions) for one in self.traces)
        return Traces.of(len(self.traces), len(paths), guards)

    # ------------------------------------------------------------------ the traces that are there
    def _kept(self, request: Request, tried: set[Tracing]) -> Iterator[Specialization]:
        """The specializations for inputs of this kind, the last used first; then traces that admit this kind."""
        for on in tuple(self.table.get(request.key, ())):
            if on.tracing not in tried and on.tracing.fresh():
                yield on
            tried.add(on.tracing)
        for tracing in reversed(tuple(self.traces)):
            if request.key is None or tracing in tried or tracing.layout != request.layout or not tracing.fresh():
                continue
            facts = Inference(dict(zip(tracing.leaves, map(spec_of, request.values), strict=True)))
            with suppress(SymbolicError):  # what does not fit is told by the body, which may also do without
                if tracing.admits(facts):
                    on = checked(tracing, facts)
                    on.before = self.varying.taken(request.key)
                    yield on

    def _used(self, request: Request, on: Specialization) -> None:
        self.restless = 0
        kept = self.table.get(request.key, ())
        if not kept or kept[0] is not on:
            self._keep(request.key, on)

    def _keep(self, key: Any, on: Specialization) -> None:
        if key is None:
            return
        with self.lock:
            while len(self.table) >= _KEYS and key not in self.table:
                self.table.pop(next(iter(self.table)))
            others = [one for one in self.table.get(key, ()) if one is not on and not one.tracing.moving]
            self.table[key] = [on, *others[: _TRACES - 1]]
            self.mark.changed()

    # ------------------------------------------------------------------ a new one
    def _fresh(self, request: Request) -> Specialization:
        """A new trace, kept beside the others."""
        tracing, facts = request.trace(not self.moving)
        tracing.layout = request.layout
        tracing.moving = tracing.moving or self.moving
        self._note(tracing)
        on = checked(tracing, facts)
        self._keep(request.key, on)
        return on

    def _note(self, tracing: Tracing) -> None:
        if tracing.moving:
            self.traces = []
            if not self.moving:
                _say(
                    f"{self.title()} differs from run to run, at {tracing.moving}; it is traced anew at each call "
                    "(pass what changes as an argument to avoid that)"
                )
            self.moving = tracing.moving
        stale = self.traces[-1].stale() if self.traces and not tracing.moving else ""
        self.traces = [*self.traces[1 - _TRACES :], tracing]
        self.mark.changed()
        self.restless += bool(tracing.decisions or stale)
        if self.restless > _RESTLESS and not self.told:
            self.told = True
            _say(self._why(tracing, stale))

    def _why(self, tracing: Tracing, stale: str) -> str:
        """Why every call is traced anew."""
        if stale:
            return (
                f"{self.title()} was traced anew at each of its last {_RESTLESS} calls: {stale}, which it reads, is "
                "another each time (pass what changes as an argument; return what is to be kept instead of storing it)"
            )
        last = _newest(tracing, self.traces[:-1])
        return (
            f"{self.title()} took a new path at each of its last {_RESTLESS} calls, at {place_of(last._origin)}: it "
            f"asks for the {last.asked} of a value that is another each time, and is traced anew at each call "
            "(keep the value an array, or choose with np.where)"
        )


def _say(message: str) -> None:
    """Warn at the line of the user's program that makes the call."""
    frame = user_frame(sys._getframe(1))
    place = ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    warnings.warn_explicit(message, SymbolicWarning, *place)


def _newest(tracing: Tracing, others: Sequence[Tracing]) -> Any:
    """The first decision by which a trace differs from the one before it."""
    before = others[-1].answers if others else []
    for one, other in zip(tracing.decisions, before, strict=False):
        if (one.asked, one.answer) != other:
            return one
    return tracing.decisions[min(len(before), len(tracing.decisions) - 1)]


def checked(tracing: Tracing, facts: Inference) -> Specialization:
    """A trace for inputs of these specs; wrong shapes are found here, before anything runs."""
    for check in tracing.checks:
        check(facts)
    facts.spec(tracing.output)
    return Specialization(tracing, facts)
