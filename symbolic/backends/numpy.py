"""How does a program run fast with NumPy alone? As one straight-line Python function that writes into kept buffers.

Each instruction is a line `v7 = k7(v3, v5, b2)`. Buffers are shared by values whose lives do not overlap; an
elementwise operation may write over an operand that dies there. Outputs are always fresh arrays.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from symbolic.plan import Instruction, Program, is_buffer, own
from symbolic.spec import Spec, spec_of

LONGEST = 2000  # instructions; Python's compiler takes seconds beyond, and the interpreter loses little there

_SYMBOLS = {"+", "-", "*", "<", "<=", ">", ">=", "==", "!="}


class Compiled:
    """A program as one generated function. One thread at a time runs it; `run` says no to a second one."""

    source: str
    names: dict[str, Any]
    lock: Any
    buffered: bool

    def __init__(self, program: Program, into: Sequence[int] = ()) -> None:
        self.program = program
        self.source, self.names = _Writer(program, into).write()
        scope: dict[str, Any] = {}
        exec(compile(self.source, f"<symbolic program {id(program):x}>", "exec"), self.names, scope)
        self.function: Callable[..., Any] = scope["program"]
        self.lock = threading.Lock()
        self.buffered = any(isinstance(one, np.ndarray) for name, one in self.names.items() if name[0] == "b")

    def run(self, values: Sequence[Any], into: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """The outputs; `None` while another thread (or a callback from within) uses the buffers."""
        if not self.lock.acquire(blocking=False):
            return None
        try:
            return self.function(*values, *into)  # type: ignore[no-any-return]  # generated
        except Exception as error:
            self.failed(error)
        finally:
            self.lock.release()

    def failed(self, error: Exception) -> NoReturn:
        """The failing line of the generated code is the failing instruction."""
        traceback, line, values = error.__traceback__, 0, {}
        while traceback is not None:
            if traceback.tb_frame.f_code is self.function.__code__:
                line, values = traceback.tb_lineno, {**self.names, **traceback.tb_frame.f_locals}
            traceback = traceback.tb_next
        at = self.names["lines"].get(line)
        if at is None:
            raise error
        sources = self.program.instructions[at].sources
        self.program.fail(error, at, [spec_of(values.get(f"v{k}")) for k in sources])


class _Writer:
    def __init__(self, program: Program, into: Sequence[int]) -> None:
        self.program = program
        self.into = {program.outputs[k]: f"o{k}" for k in into if _writable(program, k)}
        self.copied_into = {k: f"o{k}" for k in into if program.outputs[k] not in self.into}
        self.targets = [f"o{k}" for k in into]
        self.names: dict[str, Any] = {"np": np, "own": own, "copyto": np.copyto, "errstate": np.errstate, "lines": {}}
        self.lines: list[str] = []
        self.death = _deaths(program)
        self.buffers: dict[int, str] = {}  # the alias root that a buffer holds now
        self.idle: dict[tuple[Any, int], list[str]] = {}

    def write(self) -> tuple[str, dict[str, Any]]:
        program = self.program
        for k, value in program.constants:
            self.names[f"v{k}"] = value
        count = len(program.instructions)
        names = [*(f"v{k}" for k in range(len(program.leaves))), *self.targets]
        self.lines = [f"def program({', '.join(names)}):"]
        for at in range(program.split):
            self.instruction(at, "    ")
        if program.split < count:
            self.lines.append("    with errstate(all='ignore'):")
            for at in range(program.split, count):
                self.instruction(at, "        ")
        self.lines += [f"    copyto({name}, v{program.outputs[k]})" for k, name in self.copied_into.items()]
        self.lines.append(f"    return ({''.join(self.result(k) + ', ' for k in range(len(program.outputs)))})")
        return "\n".join(self.lines), self.names

    def result(self, k: int) -> str:
        if k in self.copied_into:
            return self.copied_into[k]
        name = f"v{self.program.outputs[k]}"
        return f"own({name})" if self.program.copied[k] else name

    def instruction(self, at: int, indent: str) -> None:
        one = self.program.instructions[at]
        values = [f"v{k}" for k in one.sources]
        early = one.node.elementwise
        if early:
            self.bury(at)
        self.lines.append(f"{indent}v{one.target} = {self.expression(at, one, values)}")
        self.names["lines"][len(self.lines)] = at
        if not early:
            self.bury(at)

    def expression(self, at: int, one: Instruction, values: list[str]) -> str:
        spec = one.spec
        if one.node.symbol in _SYMBOLS and isinstance(spec, Spec) and spec.python is not None and len(values) == 2:
            return f"{values[0]} {one.node.symbol} {values[1]}"
        name = f"k{at}"
        self.names[name] = one.kernel
        if one.takes_out:
            into = self.target(one) if one.reads[-1] < 0 else [f"v{one.reads[-1]}"]  # or its first operand's array
            values = [*values, *into]
        return f"{name}({', '.join(values)})"

    def target(self, one: Instruction) -> list[str]:
        """The array that takes the result: the caller's, a buffer, or a fresh one."""
        if one.target in self.into:
            return [self.into[one.target]]
        root = self.program.aliases[one.target]
        if not is_buffer(one.spec) or self.death[root] > len(self.program.instructions):
            return ["None"]
        assert isinstance(one.spec, Spec)
        key = (one.spec.dtype, one.spec.shape)
        idle = self.idle.setdefault(key, [])  # type: ignore[arg-type]  # a dtype and a shape
        if idle:
            name = idle.pop()
        else:
            name = f"b{one.target}"
            self.names[name] = np.empty(one.spec.shape, one.spec.dtype)
        self.buffers[root] = name
        return [name]

    def bury(self, at: int) -> None:
        """Give back the buffers of the values that nobody needs after this instruction."""
        for k in set(self.program.instructions[at].sources):
            root = self.program.aliases[k]
            if self.death[root] == at and root in self.buffers:
                name = self.buffers.pop(root)
                buffer = self.names[name]
                self.idle.setdefault((buffer.dtype, buffer.shape), []).append(name)


def _writable(program: Program, k: int) -> bool:
    """Whether an output's own instruction can write into the caller's array."""
    slot = program.outputs[k]
    makers = [one for one in program.instructions if one.target == slot]
    return bool(makers) and makers[0].takes_out and is_buffer(makers[0].spec) and program.outputs.count(slot) == 1


def _deaths(program: Program) -> list[int]:
    """For each alias root the last instruction that reads it; outputs outlive all of them."""
    last = [-1] * program.size
    for at, one in enumerate(program.instructions):
        for k in one.sources:
            last[program.aliases[k]] = at
        last[program.aliases[one.target]] = max(last[program.aliases[one.target]], at)
    for k in program.outputs:
        last[program.aliases[k]] = len(program.instructions) + 1
    return last


def compiled(program: Program, into: Sequence[int] = ()) -> Compiled | None:
    """The program as code, unless it is too long for Python's compiler."""
    if len(program.instructions) > LONGEST:
        return None
    return Compiled(program, into)
