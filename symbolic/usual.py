"""What does the usual call do, line by line? A step, a prediction, a gradient: each written out as one flat function.

What a line computes is what the general way computes, bit for bit; which calls come here, `shortcut` decides. All of
a function's conditions stand before its first effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from symbolic.changes import COMMITTING, STEPPING, UNDER_WAY, is_stepping, is_within
from symbolic.context import here
from symbolic.execution import Executable, Specialization
from symbolic.finiteness import finite, finite_tests
from symbolic.leaves import Cell, as_kind
from symbolic.ops.passing import Tuple
from symbolic.optimizer import Optimizer
from symbolic.shortcut import Unusual, Writer, key_after, key_of_inputs
from symbolic.spec import AnySpec, Spec
from symbolic.states import LAST_MOVER
from symbolic.values import entries, finished, like_argument
from symbolic.varying import Open

if TYPE_CHECKING:
    from symbolic.deriving import Call, Derivative
    from symbolic.network import Network
    from symbolic.paths import Paths
    from symbolic.training import Groups, Step, Trainer


def is_given(value: Any, inputs: Sequence[Any]) -> bool:
    """Whether the inputs of a call are the entries of the value that the network takes, as they are."""
    taken = list(entries(value)) if type(value) is tuple else [value]
    flat = type(value) is not tuple or len(taken) == len(value)
    return flat and len(taken) == len(inputs) and all(a is b for a, b in zip(taken, inputs, strict=True))


class Usual(Writer):
    """The lines that steps, predictions and gradients have in common."""

    executable: Executable
    on: Specialization

    def __init__(self, on: Specialization, executable: Executable) -> None:
        super().__init__()
        self.on, self.executable = on, executable
        self.names.update(isfinite=math.isfinite, vdot=np.vdot, finite=finite, COMMITTING=COMMITTING)

    def pattern(self) -> Sequence[AnySpec]:
        """What the inputs are, where some sizes are open."""
        return self.on.pattern if isinstance(self.on, Open) else ()

    def same_way(self, paths: Paths, key: Any, given: tuple[Any, ...], of: Callable[..., Any], depth: int = 1) -> None:
        """The general way would still do this; where sizes are open, for a call of these. `of` gives a call's key."""
        if not isinstance(self.on, Open):
            self.same(paths, key, self.on, self.executable, depth)
        elif of(given) == key:
            self.admitted(paths, self.on, self.executable, of, depth)
        else:
            raise Unusual

    def run(self, arguments: Sequence[str], results: Sequence[str], depth: int) -> None:
        """The results of the program's code, in its lock where it has buffers."""
        code = self.executable.code
        assert code is not None
        self.names.update(program=code.function, failed=code.failed)
        self.write("try:", depth=depth)
        self.write(f"    {', '.join(results)}, = program({', '.join(arguments)})", depth=depth)
        if isinstance(self.on, Open):  # the general way knows who tells what is wrong
            self.write("except Exception:", "    return MISS", depth=depth)
        else:
            self.write("except Exception as error:", "    failed(error)", depth=depth)

    def held(self, depth: int) -> int:
        """Take the lock of the code's buffers, or leave; how deep the lines within it stand."""
        code = self.executable.code
        assert code is not None
        if not code.buffered:
            return depth
        self.names.update(take=code.lock.acquire, release=code.lock.release)
        self.write("if not take(False):", "    return MISS", "try:", depth=depth)
        return depth + 1

    def released(self, depth: int) -> None:
        code = self.executable.code
        assert code is not None
        if code.buffered:
            self.write("finally:", "    release()", depth=depth)

    def look(self, specs: Sequence[AnySpec], names: Sequence[str], otherwise: str, depth: int) -> None:
        """Where a result is not finite, the general way goes on."""
        tests = finite_tests(specs, names)
        if tests:
            every = "".join(f"{name}, " for name in names)
            self.write(f"if not ({' and '.join(tests)}) and not finite(({every})):", depth=depth)
            self.write(f"    {otherwise}", depth=depth)

    def snapshots(self, depth: int) -> list[str]:
        """The weights and captured arrays, as `Specialization.snapshots` reads them: those of one moment."""
        names = [f"w{k}" for k in range(len(self.on.weights))]
        if names:
            self.names.update(expose=Cell.expose, is_within=is_within)
            self.write("between = is_within()", "with COMMITTING:", depth=depth)
        for name, weight in zip(names, self.on.weights, strict=True):
            cell = self.name(weight.cell, "cell")
            seen = f"{cell}.exposed and {cell}.owner is None"
            self.write(f"    {name} = {cell}._value", f"    if not ({seen} and {name} is {cell}._value):", depth=depth)
            self.write(f"        {name} = expose({cell}, between)", depth=depth)
        captured = [f"a{k}" for k in range(len(self.on.captured))]
        for name, one in zip(captured, self.on.captured, strict=True):
            self.write(f"{name} = {self.place(one.fetch)}", depth=depth)
        return [*names, *captured]

    def gradients(self, owner: Derivative, call: Call, args: tuple[Any, ...], results: Sequence[str]) -> None:
        """Return the value and the gradients in the structure that the derivative gives them."""
        primal, outcome = len(self.on.outputs), self.on.tracing.outcome
        place = {k: results[primal + n] for n, k in enumerate(call.asked)}
        wanted = [position % len(args) for position in owner.argnums]
        aside = owner.has_aux and not owner.value
        if outcome is None or aside or any(k not in place for k in wanted):
            raise Unusual
        self.names.update(like_argument=like_argument, rebuilt=outcome.rebuilt)
        found = [f"like_argument(x{k}, {place[k]})" for k in wanted]
        delta = found[0] if owner.single else f"({''.join(one + ', ' for one in found)})"
        alone = outcome.output is outcome.layers[0] and primal == 1
        value = results[0] if alone else f"rebuilt(({''.join(one + ', ' for one in results[:primal])}))"
        self.write(f"return {f'({value}, {delta})' if owner.value else delta}")

    def specs(self) -> list[AnySpec]:
        """What is known of each output."""
        program = self.executable.program
        made = {one.target: one.spec for one in program.instructions}
        return [made.get(slot, Spec()) for slot in program.outputs]

    def answer(self, layer: Callable[[], Any], names: Sequence[str], depth: int) -> None:
        """Return the value as the native type that is declared."""
        value = self.shaped(self.on.output, iter(names))
        self.write(f"return {self.converted(layer, value)}", depth=depth)

    def shaped(self, output: Any, names: Any) -> str:
        if isinstance(output, Tuple):
            return f"({''.join(self.shaped(one, names) + ', ' for one in output.operands)})"
        return str(next(names))

    def converted(self, layer: Callable[[], Any], value: str) -> str:
        kind = type(layer())
        if getattr(kind, "finish", None) is None:
            return value
        declares, spec = getattr(kind, "declares", None), self.specs()[0]
        if declares is not None and len(self.on.outputs) == 1 and isinstance(spec, Spec) and spec.known:
            native = declares(layer())
            if native is float and not spec.shape and spec.dtype is not None and spec.dtype.kind == "f":
                return f"float({value})"
            if native is None or (native is np.ndarray and spec.shape):
                return value
        self.names.update(layer=layer, finished=finished)
        return f"finished(layer(), {value})"


# --------------------------------------------------------------------------- a prediction


def prediction(net: Network, on: Specialization, key: Any, inputs: tuple[Any, ...]) -> Any:
    """`predict` of inputs of one kind; `None` where it has no shortcut."""
    executable = on.forward()
    try:
        lines = Usual(on, executable)
        lines.inputs(inputs, lines.pattern())
        lines.same_way(net, key, inputs, key_of_inputs)
        depth = lines.held(1)
        values = lines.snapshots(depth)
        results = [f"r{k}" for k in range(len(executable.program.outputs))]
        lines.run([*[f"x{k}" for k in range(len(inputs))], *values], results, depth)
        lines.released(1)
        lines.answer(net._layer, results, 1)
    except Unusual:
        return None
    return lines.function()


# --------------------------------------------------------------------------- a gradient


def gradient(owner: Derivative, on: Specialization, call: Call, args: tuple[Any, ...], executable: Executable) -> Any:
    """A call of a derivative with arguments of one kind, each of them an array or a number; else `None`."""
    primal, outputs = len(on.outputs), len(executable.program.outputs)
    try:
        lines = Usual(on, executable)
        lines.inputs(args, lines.pattern())
        lines.same_way(owner.paths, call.key, args, key_after(call.layout))
        depth = lines.held(1)
        arguments = [*[f"x{k}" for k in range(len(args))], *lines.snapshots(depth)]
        results = [f"r{k}" for k in range(outputs)]
        lines.run(arguments, results, depth)
        lines.released(1)
        lines.names.update(again=executable.again)
        care = f"{', '.join(results)}, = again(({', '.join(arguments)},), {primal}, {outputs})"
        lines.look(lines.specs()[primal:], results[primal:], care, 1)
        lines.gradients(owner, call, args, results)
    except Unusual:
        return None
    return lines.function()


# --------------------------------------------------------------------------- a step


def stepping(
    trainer: Trainer[Any, Any], on: Specialization, step: Step, groups: Groups, key: Any, inputs: tuple[Any, ...]
) -> Any:
    """A step of training on inputs of one kind; `None` where it has no shortcut."""
    try:
        return _Stepping(trainer, on, step, groups).written(key, inputs)
    except Unusual:
        return None


class _Stepping(Usual):
    """The lines of a step: read, compute, look, commit."""

    def __init__(self, trainer: Trainer[Any, Any], on: Specialization, step: Step, groups: Groups) -> None:
        super().__init__(on, step.executable)
        self.trainer, self.step, self.groups = trainer, step, groups
        self.results = [f"r{k}" for k in range(len(step.executable.program.outputs))]

    def written(self, key: Any, inputs: tuple[Any, ...]) -> Any:
        self.names.update(STEPPING=STEPPING, movers=LAST_MOVER, here=here)
        self.names.update(under=UNDER_WAY, is_stepping=is_stepping, is_within=is_within, moved_here=(self.moving(),))
        self.inputs(inputs, self.pattern())
        self.write("if is_stepping() or is_within():", "    return MISS")  # it has come in between
        self.write("with STEPPING:", "    under.steps = moved_here")
        self.same_way(self.trainer.net, key, inputs, key_of_inputs, depth=2)
        self.optimizers()
        depth = self.held(2)
        values = self.values(inputs, depth)
        targets = self.targets(depth)
        self.run([*values, *targets], self.results, depth)
        self.released(2)
        on, step, groups = self.on, self.step, self.groups
        trainer: Any = ref(self.trainer)  # which keeps the shortcut
        self.names["completed"] = lambda values, results: trainer().completed(on, step, groups, values, results)
        rest = f"return completed([{', '.join(values)}], ({''.join(one + ', ' for one in self.results)}))"
        self.look(self.specs(), self.results, rest, 2)
        self.commit(targets)
        layer = self.trainer.layer
        self.answer(lambda: layer, self.results[: self.step.primal], 1)
        return self.function()

    def moving(self) -> frozenset[int]:
        """What nobody else may move meanwhile."""
        optimizers = [one for one, _ in self.groups if one is not None]
        return frozenset(map(id, [self.trainer.net, *[one.cell for one in self.on.weights], *optimizers]))

    # ------------------------------------------------------------------ before anything is done
    def optimizers(self) -> None:
        """The optimizers are those that the weights had, with the same settings, and none has a warning to give."""
        if all(optimizer is None for optimizer, _ in self.groups):
            raise Unusual
        ambient = [w for w in self.on.weights if self.trainer.optimizer is None and w.optimizer is None]
        if ambient:
            now = here.optimizers[-1] if here.optimizers else None
            self.write(f"if (here.optimizers[-1] if here.optimizers else None) is not {self.name(now)}:", depth=2)
            self.write("    return MISS", depth=2)
        for g, (optimizer, numbers) in enumerate(self.groups):
            if optimizer is None:
                continue
            if not isinstance(optimizer, Optimizer) or any(
                getattr(type(optimizer), one) is not getattr(Optimizer, one) for one in _OURS
            ):
                raise Unusual  # with ways of its own
            self.names.update({f"o{g}": optimizer, f"steps{g}": optimizer._steps, f"key{g}": optimizer.key()})
            self.write(f"taken{g} = steps{g}._taken", f"if o{g}._key is not key{g} or not taken{g}:", depth=2)
            self.write("    return MISS", depth=2)
            if optimizer.names:
                self.states(g, optimizer, [self.on.weights[k] for k in numbers])
        self.movers()
        self.owners()

    def owners(self) -> None:
        """No code holds what is moved here: what is read, and what is put, are the plain fields."""
        movers = [(g, optimizer) for g, (optimizer, _) in enumerate(self.groups) if optimizer is not None]
        held = [f"steps{g}" for g, _ in movers] + [f"kept{g}" for g, optimizer in movers if optimizer.names]
        for k, weight in enumerate(self.on.weights):
            self.names[f"c{k}"] = weight.cell
            held.append(f"c{k}")
        self.write(f"if {' or '.join(f'{one}.owner is not None' for one in [*held, 'movers'])}:", depth=2)
        self.write("    return MISS", depth=2)

    def states(self, g: int, optimizer: Optimizer, weights: Sequence[Any]) -> None:
        """The state of each weight, which it has by now."""
        kept = self.names[f"kept{g}"] = optimizer._states
        self.write(f"states{g} = kept{g}._entries", depth=2)
        for n, weight in enumerate(weights):
            if kept.get(weight) is None:
                raise Unusual
            self.write(f"state{g}_{n} = states{g}.get({id(weight)})", f"if state{g}_{n} is None:", depth=2)
            self.write("    return MISS", depth=2)

    def movers(self) -> None:
        """Each weight was moved last by the optimizer that moves it now, so that nothing is to be noted."""
        pairs = [
            (self.on.weights[k], optimizer._steps)
            for optimizer, numbers in self.groups
            if optimizer is not None
            for k in numbers
        ]

        def same(names: dict[str, Any]) -> bool:
            entries = LAST_MOVER.entries
            if any(LAST_MOVER.get(weight) is not steps for weight, steps in pairs):
                return False
            names["moved"] = entries
            return True

        self.names.update(moved=None, same_movers=same)
        self.write("if movers._entries is not moved and not same_movers(globals()):", "    return MISS", depth=2)

    # ------------------------------------------------------------------ what the program is given
    def values(self, inputs: tuple[Any, ...], depth: int) -> list[str]:
        """In the order of the general way, which asks the schedules last."""
        found = [f"x{k}" for k in range(len(inputs))]
        for k in range(len(self.on.weights)):
            self.write(f"w{k} = c{k}._value", depth=depth)
            found.append(f"w{k}")
        for k, one in enumerate(self.on.captured):
            self.write(f"a{k} = {self.place(one.fetch)}", depth=depth)
            found.append(f"a{k}")
        for g, (optimizer, numbers) in enumerate(self.groups):
            if optimizer is None:
                continue
            self.write(f"rate{g} = o{g}.learning_rate", f"if type(rate{g}) is not float:", depth=depth)
            self.write(f"    rate{g} = o{g}.rate()", depth=depth)
            found += [f"rate{g}", f"taken{g} + 1.0"]
            states = range(len(optimizer.names))
            found += [f"state{g}_{n}[1][{s}]" for n in range(len(numbers)) for s in states]
        return found

    def targets(self, depth: int) -> list[str]:
        """The arrays that new values are written into."""
        arrays = [k for k in self.step.moving if isinstance(self.on.weights[k].cell.value, np.ndarray)]
        for k in arrays:  # `Cell.blank`, of a cell that nobody else holds
            self.write(f"n{k} = c{k}.spare", f"if n{k} is None:", f"    n{k} = c{k}.blank()", depth=depth)
            self.write("else:", f"    c{k}.spare = None", depth=depth)
        return [f"n{k}" for k in arrays]

    # ------------------------------------------------------------------ what is done
    def commit(self, targets: Sequence[str]) -> None:
        first = self.step.primal
        deltas = self.results[first : first + len(self.step.gradients)]
        first += len(deltas)
        new = dict(zip(self.step.moving, self.results[first:], strict=False))
        states = iter(self.results[first + len(self.step.moving) :])
        self.names.update(kind=as_kind)
        changes: list[tuple[str, str, str]] = []
        for k, delta in enumerate(deltas):
            changes.append((f"c{k}", "_delta", delta))
            if k in new:
                changes += self.moved(k, new[k], f"n{k}" in targets)
        changes += [one for g, group in enumerate(self.groups) for one in self.counted(g, *group, states)]
        owners = self.name(tuple([self.names[owner] for owner, _, _ in changes]), "owners")
        fields = self.name(tuple([field for _, field, _ in changes]), "fields")
        values = "".join(f"{value}, " for _, _, value in changes)
        self.write("with COMMITTING:", depth=2)  # and in one call into compiled code, as `changes.put`
        self.write(f"    any(map(setattr, {owners}, {fields}, ({values})))", depth=2)

    def moved(self, k: int, result: str, is_array: bool) -> list[tuple[str, str, str]]:
        """The changes of a weight's cell; see `Cell.changes`."""
        if is_array:
            self.write(f"if {result} is not n{k}:", f"    {result} = kind(c{k}._value, {result})", depth=2)
            spare = [(f"c{k}", "spare", f"None if c{k}.exposed else c{k}._value")]
        else:
            if type(self.on.weights[k].cell.value) is float:
                self.write(f"if type({result}) is not float:", depth=2)
                self.write(f"    {result} = kind(c{k}._value, {result})", depth=2)
            else:
                self.write(f"{result} = kind(c{k}._value, {result})", depth=2)
            spare = []
        return [(f"c{k}", "_value", result), *spare, (f"c{k}", "exposed", "False")]

    def counted(self, g: int, optimizer: Any, numbers: Sequence[int], states: Any) -> list[tuple[str, str, str]]:
        """The changes of an optimizer; see `Optimizer.changes`."""
        if optimizer is None:
            return []
        found = [(f"steps{g}", "_taken", f"taken{g} + 1")]
        if optimizer.names:
            entries = []
            for n, k in enumerate(numbers):
                state = "".join([next(states) + ", " for _ in optimizer.names])
                entries.append(f"{id(self.on.weights[k])}: (state{g}_{n}[0], ({state}))")
            found.append((f"kept{g}", "_entries", f"{{**kept{g}._entries, {', '.join(entries)}}}"))
        return found


_OURS = ("begin", "rate", "state_of", "changes", "initial", "key", "count", "commit")
