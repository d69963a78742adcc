"""How is a traced network run for inputs of given specs? Interpreted at first, as code from the third run on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from weakref import ref

import numpy as np

from symbolic.context import here, inside
from symbolic.differentiate import gradients, ones_like
from symbolic.errors import LayerError, NonFiniteError, ShapeError, Where, located
from symbolic.finiteness import entirely_finite, finite
from symbolic.inference import Inference
from symbolic.layer import AnyLayer
from symbolic.leaves import Identity, Weight
from symbolic.literal import delta_spec
from symbolic.live import Captured
from symbolic.machines import Code, code_for
from symbolic.ops.operation import topological
from symbolic.ops.passing import Tuple
from symbolic.plan import CAREFUL, FORGOTTEN, Instruction, Mode, Program, build
from symbolic.spec import AnySpec, OpaqueSpec, TupleSpec
from symbolic.trace import Tracing
from symbolic.values import fitted

_PROGRAMS = 16  # of one specialization: optimizers of other settings make programs of their own


class Executable:
    """A program, and the way in which it is run just now."""

    into: tuple[int, ...]
    runs: int
    spent: float
    """Seconds that the interpreter has taken."""
    steady: bool
    general: bool
    asked: bool
    """Whether code was looked for that was compiled before."""
    ahead: Callable[[], Callable[[Any], object]] | None
    """What is to be made ready for code that is compiled beside the calls."""

    def __init__(self, program: Program, into: Sequence[int] = ()) -> None:
        self.program = program
        self.into = tuple(into)
        self.runs = program.before
        self.code: Code | None = None
        self.steady = bool(into)  # it is run again and again
        self.general = False  # there is no shortcut to it
        self.asked, self.ahead, self.spent = False, None, 0.0

    def __call__(self, values: Sequence[Any], into: Sequence[Any] = (), mode: Mode | None = None) -> Sequence[Any]:
        """The outputs for the leaves' values; those of `into` are written there where the code can."""
        if mode is None:
            code = self.code
            if code is None:
                code = self.code = code_for(self)
            self.runs += 1
            if code is not None:
                found = code.run(values, into)
                if found is not None:
                    return found
        begin = time.perf_counter()
        slots = self.program.slots(values)
        self.program.run(slots, 0, self.program.split, mode)
        with np.errstate(all="ignore"):
            self.program.run(slots, self.program.split, len(self.program.instructions), mode)
        self.spent += time.perf_counter() - begin
        return self.program.results(slots)

    def derivatives(self, values: Sequence[Any], primal: int, stop: int, into: Sequence[Any] = ()) -> Sequence[Any]:
        """The outputs, of which those from `primal` to `stop` are gradients: run again with care if one is not finite.

        The plain pass is right whenever its gradients are finite, for a NaN of 0 · ∞ would have come through.
        """
        results = self(values, into)
        if not finite(results[primal:stop]):
            results = self.again(values, primal, stop)
        look(self.program, values, results, primal)
        return results

    def again(self, values: Sequence[Any], primal: int, stop: int) -> Sequence[Any]:
        """The outputs by a pass with care; nothing is observed a second time."""
        slots = self.program.slots(values)
        with np.errstate(all="ignore"):
            self.program.run(slots, 0, self.program.split, _Quiet(CAREFUL, self.program.split))
        return with_care(self.program, slots, primal, stop)

    def culprit(self, values: Sequence[Any], what: str, names: Mapping[AnyLayer, str]) -> LayerError:
        """An error that names the first operation, input or weight that is not finite."""
        return culprit(self.program, values, what, names)


def prepared(what: str, held: Sequence[Any], *more: Any) -> Callable[[], Callable[[Any], object]]:
    """What asks code for more that is compiled beside the calls, where it knows how: it is asked for when that begins.

    Until then it keeps none of `held` alive; from then on all, so that what was begun is whole when it is kept.
    """
    references = [ref(one) for one in held]

    def begun() -> Callable[[Any], object]:
        found = [one() for one in references]

        def prepare(code: Any) -> None:
            make = getattr(code, what, None)
            if make is not None and not any(one is None for one in found):
                make(*found, *more)

        return prepare

    return begun


def culprit(
    program: Program, values: Sequence[Any], what: str, names: Mapping[AnyLayer, str], ready: Sequence[Any] = ()
) -> LayerError:
    """The same; `ready` are the slots after a forward part, from which the search goes on if inputs are forgotten."""
    forgotten = any(one is FORGOTTEN for one in values)
    slots, start = (list(ready), program.split) if forgotten else (program.slots(values), 0)
    found: list[Instruction] = []
    with np.errstate(all="ignore"):
        program.run(slots, start, len(program.instructions), _Search(found))
    for leaf, value in zip(program.leaves, values, strict=True):
        if not entirely_finite(value):
            count = int(np.size(value) - np.count_nonzero(np.isfinite(value)))
            seen = f"{what}: {names.get(leaf, 'an input')} has {count} of {np.size(value)} entries not finite"
            return located(NonFiniteError(seen, remedy="clean the data, or take a smaller rate"), leaf._origin)
    if not found:
        return located(NonFiniteError(what, remedy="take a smaller rate"), Where())
    name = type(found[0].node).__name__
    seen = f"{what}: the first value that is not finite came from {name}"
    remedy = "look at its operands for this input: bound them (np.clip), add an epsilon, or take a smaller rate"
    return located(NonFiniteError(seen, remedy=remedy), found[0].node._origin)


def look(
    program: Program, values: Sequence[Any], results: Sequence[Any], primal: int, ready: Sequence[Any] = ()
) -> None:
    """Within `check_finite`: raise if a result is not finite, with the place where that began."""
    if here.finite and not all(map(entirely_finite, results)):
        what = "a gradient is not finite" if all(map(entirely_finite, results[:primal])) else "the value is not finite"
        raise culprit(program, values, what, {}, ready)


def placed(on: Specialization, program: Program, slots: Sequence[Any], delta: Any, made: str) -> list[Any]:
    """The slots of a forward pass with the delta of each output in its place; ShapeError, DtypeError if one is off."""
    deltas = _leaves(on.output, delta)
    if len(deltas) != len(on.outputs):
        raise ShapeError(
            f"backward got {len(deltas)} deltas for {len(on.outputs)} outputs",
            where=made,
            remedy="give one delta for each entry of the output, in a tuple",
        )
    first, ready = len(on.leaves), list(slots)
    for k, (one, out) in enumerate(zip(deltas, on.outputs, strict=True)):
        ready[first + k] = fitted(one, on.facts.spec(out), slots[program.outputs[k]], made)
    return ready


def _leaves(output: AnyLayer, delta: Any) -> list[Any]:
    if not isinstance(output, Tuple):
        return [delta]
    if not isinstance(delta, (tuple, list)) or len(delta) != len(output.operands):
        return list(delta) if isinstance(delta, (tuple, list)) else [delta]
    return [leaf for out, one in zip(output.operands, delta, strict=True) for leaf in _leaves(out, one)]


def way_back(program: Program, slots: list[Any], primal: int, mode: Mode | None = None) -> Sequence[Any]:
    """The outputs after the primal ones, from slots in which the forward part has run: plainly, then with care."""
    plain = list(slots)
    with np.errstate(all="ignore"):
        program.run(plain, program.split, len(program.instructions), mode)
    results = program.results(plain)
    if not finite(results[primal:]):
        results = with_care(program, slots, primal, len(results))
    look(program, slots[: len(program.leaves)], results, primal, slots)
    return results[primal:]


def with_care(program: Program, slots: list[Any], primal: int, stop: int) -> list[Any]:
    """The same with `Chain` by its convention. What is still not finite gets NumPy's own warnings on the way."""
    careful = list(slots)
    with np.errstate(all="ignore"):
        program.run(careful, program.split, len(program.instructions), CAREFUL)
    results = program.results(careful)
    warns = not here.finite and not finite(results[primal:stop])
    if warns and any(way != "ignore" for way in np.geterr().values()):
        program.run(slots, program.split, len(program.instructions), CAREFUL)
        results = program.results(slots)
    return results


class _Quiet(Mode):
    """Forward without effects, backward with care."""

    def __init__(self, back: Mode, split: int) -> None:
        self.back, self.split = back, split

    def step(self, one: Instruction, slots: list[Any], at: int) -> None:
        if at >= self.split:
            self.back.step(one, slots, at)
        else:
            values = [slots[k] for k in one.sources]
            slots[one.target] = values[0] if one.node.effect else one.kernel(*[slots[k] for k in one.reads])


class _Search(_Quiet):
    """Finds the first result that is not finite though its operands are."""

    def __init__(self, found: list[Instruction]) -> None:
        self.found = found

    def step(self, one: Instruction, slots: list[Any], at: int) -> None:
        CAREFUL.step(one, slots, at)
        if self.found or entirely_finite(slots[one.target]):
            return
        if all(entirely_finite(slots[k]) for k in one.sources):
            self.found.append(one)


class Timed(Mode):
    """Adds each instruction's seconds to its layer's row."""

    seconds: dict[str, list[float]]
    split: int

    def __init__(self, seconds: dict[str, list[float]], split: int) -> None:
        self.seconds, self.split = seconds, split

    def step(self, one: Instruction, slots: list[Any], at: int) -> None:
        start = time.perf_counter()
        slots[one.target] = one.kernel(*[slots[k] for k in one.reads])
        row = self.seconds.setdefault(one.node._origin[0], [0.0, 0.0])
        row[at >= self.split] += time.perf_counter() - start


class Specialization:
    """A trace for inputs of given specs, and its programs: each is built when it is first needed."""

    tracing: Tracing
    facts: Inference
    output: AnyLayer
    inputs: tuple[AnyLayer, ...]
    captured: list[Captured]

    def __init__(self, tracing: Tracing, facts: Inference) -> None:
        self.tracing, self.facts = tracing, facts
        self.output = tracing.output
        self.inputs = tracing.leaves
        nodes = topological([*tracing.decisions, self.output])
        self.weights: list[Weight[Any, Any]] = [one for one in nodes if isinstance(one, Weight)]
        self.captured = [one for one in nodes if isinstance(one, Captured)]
        self.programs: dict[Any, Any] = {}
        self.before = 0  # calls of this kind that were served before there was this

    @property
    def leaves(self) -> list[AnyLayer]:
        """What every program of this trace takes first: inputs, weights, captured arrays."""
        return [*self.inputs, *self.weights, *self.captured]

    def program(self, primal: Sequence[AnyLayer], derived: Sequence[AnyLayer], leaves: Sequence[AnyLayer]) -> Program:
        """The program for some outputs, which first makes sure that the call stays on the path of this trace."""
        found = build(primal, derived, leaves, self.facts, self.tracing.decisions)
        found.before = self.before
        return found

    def cached(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self.programs:
            while len(self.programs) >= _PROGRAMS:
                self.programs.pop(next(iter(self.programs)))
            self.programs[key] = make()
        return self.programs[key]

    @property
    def outputs(self) -> tuple[AnyLayer, ...]:
        return flat(self.output)

    def leaf(self, name: str, spec: AnySpec) -> AnyLayer:
        """A further input of a program."""
        node: AnyLayer = Identity(name)
        self.facts.specs[node] = spec
        return node

    def values(self) -> list[Any]:
        """The weights and the captured arrays as they are now."""
        return [*[weight.cell.value for weight in self.weights], *[one.fetch() for one in self.captured]]

    def snapshots(self) -> list[Any]:
        """The same for a reader who does not hold the steps up: no step writes over what is being read."""
        return [*[weight.cell.snapshot() for weight in self.weights], *[one.fetch() for one in self.captured]]

    def forward(self) -> Executable:
        return self.cached(  # type: ignore[no-any-return]  # what the cache keeps
            "forward", lambda: Executable(self.program(self.outputs, [], self.leaves))
        )

    def taped(self, wanted: Sequence[int]) -> Executable:
        """Forward, then backward for deltas that come later, to the wanted inputs and to every weight."""
        return self.cached(("tape", tuple(wanted)), lambda: self._taped(wanted))  # type: ignore[no-any-return]  # what the cache keeps

    def _taped(self, wanted: Sequence[int]) -> Executable:
        deltas = [self.leaf("delta", delta_of(self.facts.spec(one))) for one in self.outputs]
        variables = [*[self.inputs[k] for k in wanted], *self.weights]
        with inside(facts=self.facts, trace=None):
            output, delta = joined(self.outputs), joined(deltas)
            derived = gradients(output, delta, variables) if variables else []
        return Executable(self.program(self.outputs, derived, [*self.leaves, *deltas]))

    def graded(self, variables: Sequence[AnyLayer]) -> list[AnyLayer]:
        """The gradients of the sum of the outputs."""
        with inside(facts=self.facts, trace=None):
            output = joined(self.outputs)
            return gradients(output, joined([ones_like(one) for one in self.outputs]), variables)


def flat(output: AnyLayer) -> tuple[AnyLayer, ...]:
    if isinstance(output, Tuple):
        return tuple(leaf for one in output.operands for leaf in flat(one))
    return (output,)


def joined(layers: Sequence[AnyLayer]) -> AnyLayer:
    return layers[0] if len(layers) == 1 else Tuple.make(tuple(layers))


def shaped(output: AnyLayer, values: Sequence[Any]) -> Any:
    """The flat values of a program in the structure of the output."""
    return _shaped(output, iter(values))


def _shaped(node: AnyLayer, rest: Iterator[Any]) -> Any:
    # no function within `shaped`: one that calls itself is a circle, and keeps the values until a collection
    return tuple(_shaped(one, rest) for one in node.operands) if isinstance(node, Tuple) else next(rest)


def delta_of(spec: AnySpec) -> AnySpec:
    return delta_spec(spec) or OpaqueSpec(type(None))


def is_differentiable(spec: AnySpec) -> bool:
    return not isinstance(spec, TupleSpec) and delta_spec(spec) is not None


__all__ = ["Executable", "Specialization", "Timed", "flat", "prepared", "shaped"]
