"""What is one step of training? Forward, backward and update in one program, committed as a whole or not at all."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, overload

import numpy as np

from symbolic.backends.native.abi import Callee, detach, quick
from symbolic.changes import COMMITTING, alone, commit, moves
from symbolic.context import here, inside
from symbolic.errors import DtypeError, NonFiniteError, SymbolicError, Where, place_of, warn
from symbolic.execution import Executable, Specialization, Timed, prepared, shaped
from symbolic.finiteness import entirely_finite, finite
from symbolic.layer import AnyLayer, In_contra, Out_co, refuse
from symbolic.leaves import Weight, as_kind, like
from symbolic.shortcut import MISS, Shortcuts
from symbolic.spec import key_of, spec_of
from symbolic.tape import A2, A3, A4, A5, A6, A, B, Tape, Ts
from symbolic.usual import is_given, stepping
from symbolic.values import entries, finished, gathered

if TYPE_CHECKING:
    from symbolic.network import Network

Groups: TypeAlias = list[tuple[Any, list[int]]]


def optimizer_of(weight: Weight[Any, Any], given: Any) -> Any:
    """The optimizer that moves a weight: the one given, its own, or that of the surrounding `with`."""
    if given is not None:
        return given
    if weight.optimizer is not None:
        return weight.optimizer
    return here.optimizers[-1] if here.optimizers else None


def grouped(weights: Sequence[Weight[Any, Any]], given: Any) -> Groups:
    """The weights' numbers by the optimizer that moves them."""
    groups: dict[int, tuple[Any, list[int]]] = {}
    for k, weight in enumerate(weights):
        optimizer = optimizer_of(weight, given)
        groups.setdefault(id(optimizer), (optimizer, []))[1].append(k)
    return list(groups.values())


def move(weights: Sequence[Weight[Any, Any]], deltas: Sequence[Any], given: Any) -> None:
    """One update of the weights by their deltas: everything is computed before anything moves.

    NonFiniteError where a new value is infinite or NaN; then nothing moves.
    """
    groups = grouped(weights, given)
    alone(_moved(weights, groups), lambda: _move(weights, deltas, groups))


def _moved(weights: Sequence[Weight[Any, Any]], groups: Groups) -> list[object]:
    """What a step moves."""
    return [*[weight.cell for weight in weights], *[one for one, _ in groups if one is not None]]


def _move(weights: Sequence[Weight[Any, Any]], deltas: Sequence[Any], groups: Groups) -> None:
    moved: list[tuple[Any, list[Weight[Any, Any]], list[Any]]] = []
    values: dict[int, Any] = {k: weight.cell.value for k, weight in enumerate(weights)}
    for optimizer, numbers in groups:
        if optimizer is None:
            continue
        mine = [weights[k] for k in numbers]
        optimizer.begin(mine)
        states = [optimizer.state_of(weight) for weight in mine]
        now = [values[k] for k in numbers]
        new, new_states = optimizer.formula(
            now, [deltas[k] for k in numbers], states, optimizer.rate(), float(optimizer.count + 1)
        )
        for k, one in zip(numbers, new, strict=True):
            _check_finite(weights[k], one)
            values[k] = like(weights[k].cell.value, one)
        moved.append((optimizer, mine, new_states))
    with COMMITTING:
        changes = [one for k, weight in enumerate(weights) for one in weight.cell.changes(values[k], deltas[k])]
        commit(changes + [one for optimizer, mine, states in moved for one in optimizer.changes(mine, states)])


def _check_finite(weight: Weight[Any, Any], new: Any) -> None:
    if not entirely_finite(new):
        raise NonFiniteError(
            f"the update of {weight!r} is not finite: so is its delta, or the rate is too large",
            where=place_of(weight._origin),
            remedy="look at the delta (tape.backward), clip it (Clip), or take a smaller rate",
        )


class Step:
    """The fused program of one specialization under given optimizers."""

    gradients: list[AnyLayer]
    moving: list[int]
    primal: int
    executable: Executable

    def __init__(self, on: Specialization, groups: Groups) -> None:
        weights: list[AnyLayer] = list(on.weights)
        self.gradients = on.graded(weights)
        self.leaves: list[AnyLayer] = on.leaves
        self.new: dict[int, AnyLayer] = {}
        self.states: list[AnyLayer] = []
        with inside(facts=on.facts, trace=None, origin=Where("optimizer")):
            for optimizer, numbers in groups:
                if optimizer is not None:
                    self._formula(on, optimizer, numbers)
        self.moving = sorted(self.new)
        derived = [*self.gradients, *[self.new[k] for k in self.moving], *self.states]
        program = on.program(on.outputs, derived, self.leaves)
        self.primal = len(on.outputs)
        first = self.primal + len(self.gradients)
        into = [first + n for n, k in enumerate(self.moving) if isinstance(on.weights[k].cell.value, np.ndarray)]
        self.executable = Executable(program, into)

    def _formula(self, on: Specialization, optimizer: Any, numbers: list[int]) -> None:
        rate = on.leaf("rate", spec_of(0.0))
        count = on.leaf("count", spec_of(0.0))
        states = []
        for k in numbers:
            state = optimizer.initial(on.weights[k].cell.value)
            states.append(tuple([on.leaf("state", spec_of(one)) for one in state]))
        self.leaves += [rate, count, *[leaf for state in states for leaf in state]]
        new, new_states = optimizer.formula(
            [on.weights[k] for k in numbers], [self.gradients[k] for k in numbers], states, rate, count
        )
        self.new.update(zip(numbers, new, strict=True))
        self.states += [one for state in new_states for one in state]


def stepped(on: Specialization, groups: Groups) -> Step:
    """The step for these optimizers, made once."""
    key = ("step", tuple([(None if o is None else o.key(), tuple(numbers)) for o, numbers in groups]))
    return on.cached(key, lambda: Step(on, groups))  # type: ignore[no-any-return]  # what the cache keeps


@quick
class Trainer(Callee, Generic[In_contra, Out_co]):
    """`step(*inputs)` is one step of training; `step.run(n, *inputs)` makes n of them and gives the last value."""

    shortcuts: Shortcuts

    net: Network
    steps: Any
    tried: Any

    def __init__(self, net: Any, optimizer: Any) -> None:
        self.net = net
        self.layer: AnyLayer = net.layer  # which its record does not keep alive
        self._take(optimizer)

    def __copy__(self) -> Any:
        """Another trainer of the same network and optimizer."""
        return self.layer.trainer(self._optimizer)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A trainer of a network of its own, whose optimizer goes on from where this one is."""
        layer = copy.deepcopy(self.layer, memo)  # first: the optimizer's states are found by its weights
        return layer.trainer(copy.deepcopy(self._optimizer, memo))

    def __reduce__(self) -> Any:
        seen = "a trainer cannot be pickled"
        refuse(seen, "save net.weights() and optimizer.state_dict(net.weights()), and make a trainer there")

    @property
    def optimizer(self) -> Any:
        """What moves the weights; `None` for each weight's own. Another may be set between two steps."""
        return self._optimizer

    @optimizer.setter
    def optimizer(self, optimizer: Any) -> None:
        alone((self.net,), lambda: self._take(optimizer))

    def _take(self, optimizer: Any) -> None:
        if optimizer is not None and (isinstance(optimizer, type) or not hasattr(optimizer, "formula")):
            refuse(f"{optimizer!r} as an optimizer", "give an instance of one: SGD(0.1), Adam(0.001)", DtypeError)
        detach(self)  # what was made ready for steps by the one before
        self._optimizer = optimizer
        self.shortcuts = Shortcuts()
        self.tried = None  # the code of which steps in machine code were tried last
        self.steps = None  # in machine code, where they can be

    @overload
    def __call__(self: Trainer[Tape[A, Any], Tape[B, Any]], a: A, /) -> B: ...
    @overload
    def __call__(self: Trainer[Tape[tuple[A, A2], Any], Tape[B, Any]], a: A, b: A2, /) -> B: ...
    @overload
    def __call__(self: Trainer[Tape[tuple[A, A2, A3], Any], Tape[B, Any]], a: A, b: A2, c: A3, /) -> B: ...
    @overload
    def __call__(self: Trainer[Tape[tuple[A, A2, A3, A4], Any], Tape[B, Any]], a: A, b: A2, c: A3, d: A4, /) -> B: ...
    @overload
    def __call__(
        self: Trainer[Tape[tuple[A, A2, A3, A4, A5], Any], Tape[B, Any]], a: A, b: A2, c: A3, d: A4, e: A5, /
    ) -> B: ...
    @overload
    def __call__(
        self: Trainer[Tape[tuple[A, A2, A3, A4, A5, A6, *Ts], Any], Tape[B, Any]],
        a: A,
        b: A2,
        c: A3,
        d: A4,
        e: A5,
        f: A6,
        /,
        *rest: *Ts,
    ) -> B: ...
    def __call__(self, *inputs: Any) -> Any:  # type: ignore[misc]  # mypy does not fit *Ts into *Any
        found = self.shortcuts(inputs)
        if found is MISS:
            return self._served(inputs)
        if self.steps is not None:
            self.steps.again()
        return found

    @overload
    def run(self: Trainer[Tape[A, Any], Tape[B, Any]], n: int, a: A, /) -> B: ...
    @overload
    def run(self: Trainer[Tape[tuple[A, A2], Any], Tape[B, Any]], n: int, a: A, b: A2, /) -> B: ...
    @overload
    def run(self: Trainer[Tape[tuple[A, A2, A3], Any], Tape[B, Any]], n: int, a: A, b: A2, c: A3, /) -> B: ...
    @overload
    def run(
        self: Trainer[Tape[tuple[A, A2, A3, A4], Any], Tape[B, Any]], n: int, a: A, b: A2, c: A3, d: A4, /
    ) -> B: ...
    @overload
    def run(
        self: Trainer[Tape[tuple[A, A2, A3, A4, A5], Any], Tape[B, Any]], n: int, a: A, b: A2, c: A3, d: A4, e: A5, /
    ) -> B: ...
    @overload
    def run(
        self: Trainer[Tape[tuple[A, A2, A3, A4, A5, A6, *Ts], Any], Tape[B, Any]],
        n: int,
        a: A,
        b: A2,
        c: A3,
        d: A4,
        e: A5,
        f: A6,
        /,
        *rest: *Ts,
    ) -> B: ...
    def run(self, n: int, *inputs: Any) -> Any:  # type: ignore[misc]  # the same
        """n steps on the same inputs; the value from before the last one."""
        result = None
        while n > 0:
            done, found = self.steps.run(n, inputs) if self.steps is not None else (0, None)
            n -= done
            result = found if done else result
            if n > 0:  # the first one, or one that the machine leaves to us
                found = self.shortcuts(inputs)
                result = self._served(inputs) if found is MISS else found
                if found is not MISS and self.steps is not None:
                    self.steps.again()
                n -= 1
        return result

    def _served(self, inputs: tuple[Any, ...]) -> Any:
        """A step in the general way, and a shortcut for the next one like it."""
        value = gathered(self.layer, inputs)
        return alone((self.net,), lambda: self._once(value, inputs))

    def _once(self, value: Any, inputs: tuple[Any, ...]) -> Any:
        result, on, step, groups = self._taken(value)
        if is_given(value, inputs):
            given = key_of(value), inputs
            self.shortcuts.offer(step.executable, lambda: stepping(self, on, step, groups, *given))
            self._in_machine_code(on, step, groups, inputs)
        return result

    def _in_machine_code(self, on: Specialization, step: Step, groups: Groups, inputs: tuple[Any, ...]) -> None:
        """The next steps of this kind without Python in between, where the machine can."""
        code = step.executable.code
        make = getattr(code, "stepping", None)
        if make is None:
            step.executable.ahead = prepared("prepare_steps", (self, on, step), groups, len(inputs))
        if make is None or self.tried is code:
            if self.steps is not None and self.steps.native is code:
                self.steps.again()  # as after a shortcut, of which there is none before the second time
            return
        self.tried = code
        self.steps = make(self, on, step, groups, len(inputs))
        if self.steps is not None:
            self.steps.take()

    def step(self, value: Any) -> Any:
        return alone((self.net,), lambda: self._taken(value)[0])

    def _taken(self, value: Any) -> tuple[Any, Specialization, Step, Groups]:
        taken: tuple[Any, Specialization, Step, Groups] = self.net.on_path(value, lambda on: self._step(on, value))
        return taken

    def _step(self, on: Specialization, value: Any) -> tuple[Any, Specialization, Step, Groups]:
        if not on.weights:
            raise SymbolicError(
                f"train has nothing to move: {self.layer!r} has no weights",
                remedy="put a Weight into it, or call predict",
            )
        groups = grouped(on.weights, self.optimizer)
        moves(_moved(on.weights, groups))
        if all(optimizer is None for optimizer, _ in groups):
            warn("train was given no optimizer: the deltas are kept, and nothing moves", stacklevel=4)
        step = stepped(on, groups)
        if (
            step.executable.runs == 0
        ):  # the first kind of inputs is worth compiling at once, others when they come again
            step.executable.steady = not self.net.stepping
            self.net.stepping = True
        return self._run(on, step, groups, value), on, step, groups

    def _run(self, on: Specialization, step: Step, groups: Groups, value: Any) -> Any:
        values = [*entries(value), *on.values()]
        for optimizer, numbers in groups:
            if optimizer is None:
                continue
            mine = [on.weights[k] for k in numbers]
            optimizer.begin(mine)
            values += [optimizer.rate(), float(optimizer.count + 1)]
            values += [one for weight in mine for one in optimizer.state_of(weight)]
        if self.net.seconds is None:
            arrays = [on.weights[k] for k in step.moving if isinstance(on.weights[k].cell.value, np.ndarray)]
            results = step.executable(values, [weight.cell.blank() for weight in arrays])
        else:
            results = self._timed(step, values)
        return self.completed(on, step, groups, values, results)

    def completed(
        self, on: Specialization, step: Step, groups: Groups, values: Sequence[Any], results: Sequence[Any]
    ) -> Any:
        """Look at the program's results, commit them, and give the value."""
        if not finite(results):
            results = self._again(on, step, values)
        self._commit(on, step, groups, results)
        return finished(self.layer, shaped(on.output, results[: step.primal]))

    def _again(self, on: Specialization, step: Step, values: Sequence[Any]) -> Sequence[Any]:
        """The program's outputs by a pass with care, all of them finite, or an error that names where they are not."""
        stop = step.primal + len(step.gradients)
        results = step.executable.again(values, step.primal, stop)
        for what, found in (
            (f"the loss is {_loss(results[: step.primal])}", results[: step.primal]),
            ("a gradient is not finite", results[step.primal : stop]),
            ("an update is not finite", results[stop:]),
        ):
            if not all(map(entirely_finite, found)):
                raise step.executable.culprit(values, what, names_of(self.layer, on))
        return results

    def _timed(self, step: Step, values: Sequence[Any]) -> Sequence[Any]:
        """The same by the interpreter, with a clock at each instruction."""
        net, program = self.net, step.executable.program
        mode = Timed(net.seconds, program.split)  # type: ignore[arg-type]  # it is being timed
        slots = program.slots(values)
        program.run(slots, 0, program.split, mode)
        with np.errstate(all="ignore"):
            program.run(slots, program.split, len(program.instructions), mode)
        return program.results(slots)

    def _commit(self, on: Specialization, step: Step, groups: Groups, results: Sequence[Any]) -> None:
        at = step.primal
        deltas = results[at : at + len(step.gradients)]
        at += len(step.gradients)
        new = dict(zip(step.moving, results[at : at + len(step.moving)], strict=True))
        states = iter(results[at + len(step.moving) :])
        stored = []
        for optimizer, numbers in groups:
            if optimizer is not None:
                mine = [on.weights[k] for k in numbers]
                counts = [len(optimizer.initial(weight.cell.value)) for weight in mine]
                stored.append((optimizer, mine, [tuple([next(states) for _ in range(n)]) for n in counts]))
        with COMMITTING:
            changes = []
            for k, weight in enumerate(on.weights):
                old = weight.cell.value
                changes += weight.cell.changes(as_kind(old, new[k]) if k in new else old, deltas[k])
            commit(changes + [one for optimizer, mine, state in stored for one in optimizer.changes(mine, state)])


def names_of(layer: AnyLayer, on: Specialization) -> dict[AnyLayer, str]:
    """What to call the leaves of a network in a message: its arguments and its weights."""
    names = {leaf: f"the input {getattr(leaf, 'name', '') or k}" for k, leaf in enumerate(on.inputs)}
    paths = {weight: path for path, weight in layer.weights().items()}
    return {**names, **{weight: f"the weight {paths.get(weight, '')}" for weight in on.weights}}


def _loss(values: Sequence[Any]) -> str:
    value = values[0]
    return repr(float(value)) if np.ndim(value) == 0 and np.isrealobj(value) else "not finite"
