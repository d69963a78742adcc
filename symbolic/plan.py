"""In which order is a graph computed, and what can be forgotten when? A linear program of kernels over slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import numpy as np

from symbolic.context import inside
from symbolic.differentiate import expand
from symbolic.errors import TraceError, fail, place_of
from symbolic.hidden import hidden
from symbolic.inference import Inference
from symbolic.layer import AnyLayer, short
from symbolic.leaves import Literal
from symbolic.ops.binding import Kernel
from symbolic.ops.deciding import Attempt, Decision
from symbolic.ops.deltas import Chain
from symbolic.ops.operation import Operation, topological
from symbolic.simplify import simplify
from symbolic.spec import AnySpec, Spec, describe, spec_of
from symbolic.sweeping import unswept


class Instruction(NamedTuple):
    """One operation: `slots[target] = kernel(*[slots[k] for k in reads])`."""

    node: Operation
    kernel: Kernel
    takes_out: bool
    sources: tuple[int, ...]
    target: int
    spec: AnySpec
    reads: tuple[int, ...]  # the sources, and where the kernel takes an array for its result, a slot without one


FORGOTTEN = object()
"""In the slot of an input that the way back does not read."""


class Program:
    """A graph as instructions over numbered slots.

    The slots hold the leaves (in the given order), the constants, then the results. Instructions before `split` make
    the primal outputs, those after it are the way back: it runs silently, as gradients meet infinities that the
    function itself does not have.
    """

    primal: int
    open: bool
    """Whether it serves inputs of any sizes."""

    leaves: tuple[AnyLayer, ...]
    split: int
    size: int
    outputs: tuple[int, ...]
    aliases: list[int]
    copied: list[bool]
    looked: tuple[int, ...]
    """The instructions that are products of gradients within the function, whose NaN a result would show."""
    before: int = 0
    """How many calls like those that it runs were served before it was planned."""
    large: bool | None = None
    """Whether some arrays are worth cutting, once that was asked."""

    def __init__(
        self,
        leaves: Sequence[AnyLayer],
        primal: int,
        roots: Sequence[AnyLayer],
        facts: Inference,
        decisions: Sequence[AnyLayer] = (),
    ) -> None:
        self.leaves, self.primal, self.open = tuple(leaves), primal, facts.open
        slots: dict[AnyLayer, int] = {leaf: k for k, leaf in enumerate(leaves)}
        seen: set[int] = set()
        order = topological([*decisions, *roots[:primal]], seen)  # what the body did before it asked, then the check
        forward = len(order)
        order += topological(roots, seen)
        self.constants: list[tuple[int, Any]] = []
        self.instructions: list[Instruction] = []
        self.split = 0
        within = any(isinstance(node, Chain) for node in order[:forward])
        asked = hidden(order, facts, roots[:primal]) if within else hidden(order[forward:], facts)
        for at, node in enumerate(order):
            if node in slots:
                continue
            slots[node] = len(slots)
            if isinstance(node, Operation):
                self.instructions.append(_instruction(node, slots, facts, at < forward, node in asked))
                self.split += at < forward
            elif isinstance(node, Literal):
                self.constants.append((slots[node], node.value))
            else:
                raise TraceError(
                    f"a traced value of another call is used: {short(node)}",
                    where=place_of(node._origin),
                    remedy="return what the next call needs and pass it in; keep no traced value on self or outside",
                )
        self.looked = _looked(self.instructions[: self.split], asked) if within and self.repeats else ()
        self.size = len(slots)
        self.specs: list[AnySpec] = [facts.spec(node) for node in slots]  # of what each slot holds
        self.outputs = tuple([slots[root] for root in roots])
        self.aliases = _aliases(self)
        _take_over(self)
        self.copied = _copied(self)

    @cached_property
    def repeats(self) -> bool:
        """Whether nobody sees it run twice. What a body asked is only answered once more."""
        shown = [one.node for one in self.instructions if one.node.effect]
        return all(isinstance(node, (Decision, Attempt)) for node in shown)

    def plainly(self) -> Program:
        """The program of machine code, which multiplies plainly where a result would show a NaN of 0 · ∞.

        Where one does, the machine has this program run instead, whose products take care at once.
        """
        if not self.looked:
            return self
        found = copy(self)
        found.instructions, found.looked = list(self.instructions), ()
        for at in self.looked:
            one = self.instructions[at]
            found.instructions[at] = one._replace(
                kernel=one.node.kernel([self.specs[k] for k in one.sources], one.spec)[0]
            )
        return found

    def slots(self, values: Sequence[Any]) -> list[Any]:
        """The slots before the first instruction."""
        slots: list[Any] = [None] * (self.size + 1)  # the last one stays empty: see `reads`
        slots[: len(values)] = values
        for k, value in self.constants:
            slots[k] = value
        return slots

    def run(self, slots: list[Any], start: int, stop: int, mode: Mode | None = None) -> None:
        """Interpret the instructions from `start` to `stop`."""
        at = start
        instructions = self.instructions
        with inside(trace=None):
            try:
                if mode is None:
                    for at in range(start, stop):
                        _, kernel, _, _, target, _, reads = instructions[at]
                        if len(reads) == 3:
                            slots[target] = kernel(slots[reads[0]], slots[reads[1]], slots[reads[2]])
                        else:
                            slots[target] = kernel(*[slots[k] for k in reads])
                else:
                    for at in range(start, stop):
                        mode.step(instructions[at], slots, at)
            except Exception as error:
                self.fail(error, at, [spec_of(slots[k]) for k in instructions[at].sources])

    def fail(self, error: Exception, at: int, specs: Sequence[AnySpec]) -> NoReturn:
        """Raise the error of instruction `at`, with the layer's path, its line and the shapes that met."""
        fail(error, self.instructions[at].node._origin, ", ".join(map(describe, specs)))

    def results(self, slots: Sequence[Any]) -> list[Any]:
        """The outputs, none of them sharing memory with an input, a weight or a constant."""
        return [own(slots[k]) if copy else slots[k] for k, copy in zip(self.outputs, self.copied, strict=True)]

    def release(self, slots: list[Any]) -> None:
        """Forget what the way back does not read, after the forward part has run."""
        read = {k for one in self.instructions[self.split :] for k in one.sources}.union(self.outputs)
        for k in set(range(self.size)) - read:
            slots[k] = FORGOTTEN if k < len(self.leaves) else None

    def __str__(self) -> str:
        lines = [f"v{k} = input {leaf}" for k, leaf in enumerate(self.leaves)]
        lines += [f"v{k} = constant {describe(spec_of(value))}" for k, value in self.constants]
        for at, one in enumerate(self.instructions):
            mark = "  # backward" if at == self.split else ""
            names = ", ".join(f"v{k}" for k in one.sources)
            lines.append(f"v{one.target} = {type(one.node).__name__}({names}): {describe(one.spec)}{mark}")
        return "\n".join([*lines, f"return {', '.join(f'v{k}' for k in self.outputs)}"])


class Mode:
    """Another way to run an instruction: with care for 0 · ∞, timed, or without effects."""

    def step(self, one: Instruction, slots: list[Any], at: int) -> None:
        slots[one.target] = one.kernel(*[slots[k] for k in one.reads])


class Careful(Mode):
    """`Chain` by its convention, and nothing is observed a second time."""

    def step(self, one: Instruction, slots: list[Any], at: int) -> None:
        values = [slots[k] for k in one.sources]
        if isinstance(one.node, Chain):
            slots[one.target] = Chain.careful(*values)
        else:
            slots[one.target] = values[0] if one.node.effect else one.kernel(*[slots[k] for k in one.reads])


CAREFUL = Careful()


def own(value: Any) -> Any:
    return np.array(value, order="K", subok=False) if isinstance(value, np.ndarray) else value


def _instruction(
    node: Operation, slots: dict[AnyLayer, int], facts: Inference, primal: bool, asked: bool
) -> Instruction:
    specs, out = facts.operands(node), facts.spec(node)
    try:
        kernel, takes_out = node.kernel(specs, out)
        if isinstance(node, Chain) and (primal or asked):  # nobody would see that it is not finite
            kernel = Chain.careful_into if takes_out else Chain.careful
        if primal and node._origin.floating is not None:
            kernel = _Within(kernel, node._origin.floating)
    except Exception as error:
        fail(error, node._origin, ", ".join(map(describe, specs)))
    sources = tuple([slots[one] for one in node.operands])
    reads = (*sources, -1) if takes_out else sources
    return _new(Instruction, (node, kernel, takes_out, sources, slots[node], out, reads))


_new = tuple.__new__  # which takes a third of the time


def is_careful(one: Instruction) -> bool:
    """Whether it multiplies by the convention of `Chain` at once, and not only when the pass is repeated."""
    kernel = one.kernel.kernel if isinstance(one.kernel, _Within) else one.kernel
    return kernel in (Chain.careful, Chain.careful_into)


def _looked(instructions: Sequence[Instruction], asked: set[AnyLayer]) -> tuple[int, ...]:
    """Which products of a function need no care at once, if it may be run again."""
    found = [at for at, one in enumerate(instructions) if isinstance(one.node, Chain) and one.node not in asked]
    return tuple([at for at in found if instructions[at].node._origin.floating is None])


class _Within:
    """A kernel under the floating-point settings that the function's body had chosen for it."""

    __slots__ = ("kernel", "settings")

    def __init__(self, kernel: Kernel, settings: Mapping[str, Any]) -> None:
        self.kernel, self.settings = kernel, settings

    def __call__(self, *values: Any) -> Any:
        with np.errstate(**self.settings):
            return self.kernel(*values)


def _aliases(program: Program) -> list[int]:
    """For each slot the slot whose memory it may share, itself where it has its own."""
    roots = list(range(program.size))
    for one in program.instructions:
        if one.node.shares and one.sources:
            roots[one.target] = roots[one.sources[0]]
    return roots


def _take_over(program: Program) -> None:
    """Let an instruction write into its first operand's array, which another of its kind made and nobody reads again.

    So a loop of a thousand `y[i] = …` copies once. What the forward part made is never written to on the way back,
    which may run twice. The result then has its operand's memory, as a view has.
    """
    if not any(one.node.overwrites for one in program.instructions):
        return
    last = [-1] * program.size
    for at, one in enumerate(program.instructions):
        for k in one.sources:
            last[k] = at
    for k in program.outputs:
        last[k] = len(program.instructions)
    latest: dict[int, int] = {}  # the last reading of an array, under any of its names so far
    makers: dict[int, int] = {}
    for at, one in enumerate(program.instructions):
        root = program.aliases[one.target]
        base = one.sources[0] if one.node.overwrites else -1
        maker = makers.get(base, -1)
        if maker >= 0 and (maker < program.split) == (at < program.split):
            held = program.aliases[base]
            if latest[held] <= at:
                root = program.aliases[one.target] = held
                program.instructions[at] = one._replace(reads=(*one.sources, base))
        if root != one.target:
            program.aliases[one.target] = root = program.aliases[root]
        if one.node.overwrites:
            makers[one.target] = at
        latest[root] = max(latest.get(root, -1), last[one.target])


def _copied(program: Program) -> list[bool]:
    """Which outputs must be copied: those that share memory with what is not theirs, or with another output."""
    made = {one.target for one in program.instructions}
    taken: set[int] = set()
    copied = []
    for k in program.outputs:
        root = program.aliases[k]
        copied.append(root not in made or root in taken)
        taken.add(root)
    return copied


def build(
    primal: Sequence[AnyLayer],
    derived: Sequence[AnyLayer],
    leaves: Sequence[AnyLayer],
    facts: Inference,
    decisions: Sequence[AnyLayer] = (),
) -> Program:
    """The program that checks the decisions of its trace, computes the primal outputs and then the derived ones."""
    with unswept():
        roots = simplify(expand([*decisions, *primal, *derived], facts), facts)
        count = len(decisions)
        return Program(leaves, len(primal), roots[count:], facts, roots[:count])


def is_buffer(spec: AnySpec) -> bool:
    """Whether a result of this spec is worth an array that is kept from run to run."""
    return isinstance(spec, Spec) and spec.known and bool(spec.shape) and 0 not in spec.shape  # type: ignore[operator]  # known
