"""Which lines of Python run a program: which buffer takes which value, and what a block of rows is?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symbolic.backends.expressions import boxed, infix, is_silent, may_overwrite, narrow, numbers, product_of, written
from symbolic.backends.quiet import loud, quiet
from symbolic.backends.schedule import Group, Unit, is_cut, members_of
from symbolic.ops.binding import Written
from symbolic.plan import Instruction, Program, is_buffer, own
from symbolic.spec import Spec


class Writer:
    """Writes a program's units in their order. Buffers are planned on the way, so the pieces come in order, too."""

    constants: dict[int, Any]
    death: list[int]
    grouped: set[int]
    into: dict[int, str]
    order: Sequence[Unit]
    program: Program
    silent: bool
    source: str
    targets: dict[int, str]

    def __init__(self, program: Program, into: Sequence[int], order: Sequence[Unit]) -> None:
        self.program, self.order = program, order
        self.targets = {k: f"o{k}" for k in into}
        self.into = {program.outputs[k]: f"o{k}" for k in into if _writable(program, k)}
        self.names: dict[str, Any] = {"own": own, "copyto": np.copyto, "quiet": quiet, "loud": loud}
        self.constants = dict(program.constants)
        self.names |= {f"v{k}": value for k, value in program.constants}
        self.source = ""
        self.lines: list[str] = []
        self.at: dict[int, int] = {}  # the instruction of each line
        self.death = _deaths(program, order)
        self.grouped = {at for unit in order if isinstance(unit, Group) for at in unit.members}
        self.buffers: dict[int, str] = {}  # the alias root that a buffer holds now
        self.idle: dict[Any, list[str]] = {}
        self.silent = False  # within a block in which nothing is warned of
        self.boxes: dict[Any, str] = {}  # numbers that lie in an array by now, for the function that is being written

    @property
    def buffered(self) -> bool:
        return any(name[0] in "bt" for name in self.names)

    # ------------------------------------------------------------------ functions
    def whole(self) -> tuple[str, dict[int, int]]:
        """All of it as one function of the leaves and the arrays for results."""
        program = self.program
        names = [*(f"v{k}" for k in range(len(program.leaves))), *self.targets.values()]
        self.begin(f"def program({', '.join(names)}):")
        self.units(0, self.order)
        self.heard("    ")
        rest = {k: name for k, name in self.targets.items() if program.outputs[k] not in self.into}
        self.lines += [f"    copyto({name}, v{program.outputs[k]})" for k, name in rest.items()]
        results = [rest[k] if k in rest else self.result(k) for k in range(len(program.outputs))]
        self.lines.append(f"    return ({''.join(one + ', ' for one in results)})")
        return self.ended()

    def result(self, k: int) -> str:
        name = f"v{self.program.outputs[k]}"
        return f"own({name})" if self.program.copied[k] else name

    def piece(self, units: Sequence[Unit], first: int) -> tuple[str, dict[int, int]]:
        """Some of it as a function of the slots, where it finds what it reads and leaves what others will read."""
        made = {self.program.instructions[at].target for unit in units for at in members_of(unit)}
        read = {k for unit in units for at in members_of(unit) for k in self.program.instructions[at].sources}
        over = {one.reads[-1] for unit in units for at in members_of(unit) if (one := self.program.instructions[at])}
        needed = (read | {k for k in over if k >= 0}) - made - set(self.constants)
        self.begin("def program(s, targets):")
        if self.targets:
            self.lines.append(f"    {', '.join(self.targets.values())}, = targets")
        self.lines += [f"    v{k} = s[{k}]" for k in sorted(needed)]
        self.units(first, units)
        self.heard("    ")
        end = first + len(units)
        later = {
            k for unit in self.order[end:] for at in members_of(unit) for k in self.program.instructions[at].sources
        }
        later |= set(self.program.outputs)
        self.lines += [f"    s[{k}] = v{k}" for k in sorted(made & later)]
        return self.ended()

    def begin(self, head: str) -> None:
        self.lines, self.at, self.silent, self.boxes = [head], {}, False, {}

    def ended(self) -> tuple[str, dict[int, int]]:
        source = "\n".join([*self.lines, "    pass"] if len(self.lines) == 1 else self.lines)
        self.source += source + "\n"
        return source, self.at

    # ------------------------------------------------------------------ units
    def units(self, first: int, units: Sequence[Unit]) -> None:
        for position, unit in enumerate(units, first):
            if isinstance(unit, Group):
                self.heard("    ")
                self.group(position, unit)
            else:
                self.quietly(unit, "    ")
                self.instruction(position, unit)

    def quietly(self, at: int, indent: str) -> str:
        """Enter the block without warnings, or leave it; how deep the instruction stands."""
        one = self.program.instructions[at]
        wanted = at >= self.program.split and (self.silent or not is_silent(one))
        if wanted and not self.silent:
            self.lines += [f"{indent}token = quiet()", f"{indent}try:"]
            self.silent = True
        elif not wanted:
            self.heard(indent)
        return indent + "    " if wanted else indent

    def heard(self, indent: str) -> None:
        """Leave the block without warnings."""
        if self.silent:
            self.lines += [f"{indent}finally:", f"{indent}    loud(token)"]
        self.silent = False

    def instruction(self, position: int, at: int) -> None:
        one = self.program.instructions[at]
        early = one.node.elementwise and may_overwrite(one)
        if early:
            self.bury(position, at)
        values = [f"v{k}" for k in one.sources]
        indent = "        " if self.silent else "    "
        line = infix(self.program, one, values, self.name)
        if not line:
            line = self.call(at, one, self.handy(at, one, values, indent), self.target(one))
        self.write(at, f"v{one.target} = {line}", indent)
        if not early:
            self.bury(position, at)

    def write(self, at: int, line: str, indent: str) -> None:
        self.lines.append(indent + line)
        self.at[len(self.lines)] = at

    def name(self, value: Any, stem: str = "k") -> str:
        name = f"{stem}{len(self.names)}"
        self.names[name] = value
        return name

    def handy(self, at: int, one: Instruction, values: list[str], indent: str) -> list[str]:
        """The operands in the form that costs a ufunc least."""
        found = dict(zip(one.sources, values, strict=True))
        for k, dtype in numbers(self.program, one, at).items():
            if k not in self.constants:
                found[k] = self.boxes.get((k, dtype)) or self.box(k, dtype, indent)
        for k in narrow(self.program, one):
            found[k] = f"{found[k]}.reshape(())"
        return [found[k] for k in one.sources]

    def box(self, k: int, dtype: Any, indent: str) -> str:
        """A number in an array of a dtype from here on."""
        name = self.boxes[k, dtype] = self.name(np.empty((), dtype), "t")
        self.lines.append(f"{indent}{name}[()] = v{k}")
        return name

    def call(self, at: int, one: Instruction, values: list[str], target: str) -> str:
        """The call of the kernel, or of one that does the same."""
        for k, array in boxed(self.program, one, self.constants).items():
            values = [
                self.name(array, "c") if source == k else value
                for source, value in zip(one.sources, values, strict=True)
            ]
        kernel = product_of(self.program, one, at, target) or one.kernel
        if isinstance(kernel, Written):
            return written(kernel, values, target, self.name)
        return f"{self.name(kernel)}({', '.join([*values, target] if one.takes_out else values)})"

    # ------------------------------------------------------------------ a group
    def group(self, position: int, group: Group) -> None:
        """A loop over blocks of rows: operands and results of full size are cut, what lies between is in blocks."""
        instructions = [self.program.instructions[at] for at in group.members]
        made = {one.target for one in instructions}
        kept = [one for one in instructions if self.death[self.program.aliases[one.target]] > position]
        names = {k: f"v{k}" for one in instructions for k in one.sources}
        for one in kept:
            self.lines.append(f"    f{one.target} = {self.full(one)}")
        cut = {k: f"v{k}" for k in names if k not in made and is_cut(self.program.specs[k], group.shape)}
        names |= {k: f"x{k}" for k in cut}
        blocks = _Blocks(self, group, {one.target for one in kept})
        body = blocks.lines_of(instructions, names)
        size = group.shape[0]
        self.lines += [f"    {one} = {whole}" for one, whole in blocks.locals.items()]
        self.lines += [f"    for i in range(0, {size}, {group.rows}):", f"        j = i + {group.rows}"]
        if size % group.rows and blocks.locals:
            self.lines.append(f"        if j > {size}:")
            self.lines += [f"            {one} = {one}[:{size} - i]" for one in blocks.locals]
        self.lines += [f"        x{k} = {name}[i:j]" for k, name in cut.items()]
        self.lines += [f"        y{one.target} = f{one.target}[i:j]" for one in kept]
        for at, line in zip(group.members, body, strict=True):
            indent = self.quietly(at, "        ")
            self.write(at, line, indent)
        self.heard("        ")
        self.lines += [f"    v{one.target} = f{one.target}" for one in kept]
        for at in group.members:
            self.bury(position, at)

    def full(self, one: Instruction) -> str:
        target = self.target(one)
        spec = one.spec
        assert isinstance(spec, Spec)
        if target != "None":
            return target
        from symbolic.backends.pool import array  # only where there are large arrays

        self.names["empty"] = array
        return f"empty({spec.shape}, {self.name(spec.dtype, 'd')})"

    # ------------------------------------------------------------------ buffers
    def target(self, one: Instruction) -> str:
        """The array that takes the result: the caller's, its first operand's, a buffer, or a fresh one."""
        if not one.takes_out:
            return ""
        if one.reads[-1] >= 0:
            return f"v{one.reads[-1]}"
        if one.target in self.into:
            return self.into[one.target]
        root = self.program.aliases[one.target]
        if not is_buffer(one.spec) or self.death[root] > len(self.order):
            return "None"
        assert isinstance(one.spec, Spec)
        self.buffers[root] = name = self.taken((one.spec.dtype, one.spec.shape), f"b{one.target}")
        return name

    def taken(self, kind: Any, name: str) -> str:
        """An idle array of a kind, else a new one of that name."""
        idle = self.idle.setdefault(kind, [])
        if idle:
            return idle.pop()
        self.names[name] = np.empty(kind[1], kind[0])
        return name

    def bury(self, position: int, at: int) -> None:
        """Give back the buffers of the values that nobody needs after this position."""
        one = self.program.instructions[at]
        for k in {*one.sources, *([one.target] if isinstance(self.order[position], Group) else [])}:
            root = self.program.aliases[k]
            if self.death[root] == position and root in self.buffers:
                name = self.buffers.pop(root)
                buffer = self.names[name]
                self.idle.setdefault((buffer.dtype, buffer.shape), []).append(name)


class _Blocks:
    """The arrays of one block, shared by values whose lives within the group do not overlap."""

    def __init__(self, writer: Writer, group: Group, kept: set[int]) -> None:
        self.writer, self.group, self.kept = writer, group, kept
        self.locals: dict[str, str] = {}
        self.idle: dict[Any, list[str]] = {}

    def lines_of(self, instructions: Sequence[Instruction], names: dict[int, str]) -> list[str]:
        last = {k: n for n, one in enumerate(instructions) for k in one.sources}
        lines = []
        for n, (at, one) in enumerate(zip(self.group.members, instructions, strict=True)):
            values = [names[k] for k in one.sources]
            early = may_overwrite(one)
            if early:
                self.bury(n, one, names, last)
            target = f"y{one.target}" if one.target in self.kept else self.taken(one)
            names[one.target] = target
            lines.append(self.writer.call(at, one, values, target))
            if not early:
                self.bury(n, one, names, last)
        return lines

    def taken(self, one: Instruction) -> str:
        assert isinstance(one.spec, Spec)
        idle = self.idle.setdefault(one.spec.dtype, [])
        if idle:
            return idle.pop()
        whole = self.writer.name(np.empty((self.group.rows, *self.group.shape[1:]), one.spec.dtype), "t")
        name = f"u{whole[1:]}"
        self.locals[name] = whole
        return name

    def bury(self, n: int, one: Instruction, names: dict[int, str], last: dict[int, int]) -> None:
        for k in set(one.sources):
            if last[k] == n and names[k] in self.locals:
                dtype = self.writer.names[self.locals[names[k]]].dtype
                self.idle.setdefault(dtype, []).append(names[k])


def _writable(program: Program, k: int) -> bool:
    """Whether an output's own instruction can write into the caller's array."""
    slot = program.outputs[k]
    makers = [one for one in program.instructions if one.target == slot]
    return bool(makers) and makers[0].takes_out and is_buffer(makers[0].spec) and program.outputs.count(slot) == 1


def _deaths(program: Program, order: Sequence[Unit]) -> list[int]:
    """For each alias root the last position that reads it; outputs outlive all of them."""
    last = [-1] * program.size
    for position, unit in enumerate(order):
        for at in members_of(unit):
            one = program.instructions[at]
            for k in one.sources:
                last[program.aliases[k]] = position
            root = program.aliases[one.target]
            last[root] = max(last[root], position)
    for k in program.outputs:
        last[program.aliases[k]] = len(order) + 1
    return last
