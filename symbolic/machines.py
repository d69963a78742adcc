"""Which machine runs a program? NumPy's, which is always there, or the native one where `llvmlite` is installed.

Left to itself (`"auto"`), a step of training is native from its first run on, anything else from its third: short
scripts load nothing heavy. A long program is compiled beside the calls, which NumPy answers meanwhile. A machine that
is chosen by hand is there from the first run on, so that a program gives the same bits each time it is started.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, TypeAlias

from symbolic.backends.numpy import compiled
from symbolic.backends.schedule import is_large
from symbolic.errors import SymbolicError, warn
from symbolic.plan import Program

if TYPE_CHECKING:
    from symbolic.execution import Executable

__all__ = ["Code", "MachineName", "chosen", "code_for", "use"]

MachineName: TypeAlias = Literal["auto", "numpy", "native"]
_NAMES: Final = ("auto", "numpy", "native")
_WARM = 2  # runs by the interpreter before it is worth compiling, where arrays are small
_AT_ONCE = 400  # instructions that are compiled while the caller waits


class Code(Protocol):
    """A program as code of some machine."""

    lock: Any
    """Held while `function` runs, if it is `buffered`."""
    buffered: bool

    @property
    def function(self) -> Callable[..., Any]:
        """Takes the leaves' values, then the arrays to write into; gives the outputs."""

    def run(self, values: Sequence[Any], into: Sequence[Any] = ()) -> Sequence[Any] | None:
        """The outputs; `None` while another thread uses the memory."""

    def failed(self, error: Exception) -> Any:
        """Raise an error of `function` as that of the instruction where it was."""

    def explain(self) -> str:
        """Which parts run where, and why."""


class _Choice:
    name: ClassVar[str] = os.environ.get("SYMBOLIC_MACHINE", "").strip().lower() or "auto"
    made: ClassVar[weakref.WeakSet[Executable]] = weakref.WeakSet()
    """What has code, and would have other code under another choice."""


class use:  # noqa: N801  # it is called like a function, and entered like one of contextlib's
    """Run everything on one machine: `"numpy"`, `"native"`, or `"auto"`, the usual choice.

    It takes effect at once, in all threads; as a context manager until the block ends. The environment variable
    `SYMBOLIC_MACHINE` says what it is at first. SymbolicError for an unknown name, and for `"native"` where
    `llvmlite` is not installed.

    >>> import symbolic
    >>> with symbolic.use("numpy"):
    ...     value = symbolic.Exp().predict(0.0)
    >>> print(value)
    1.0
    """

    def __init__(self, machine: MachineName) -> None:
        _check(machine, f"use({machine!r})")
        self._before = _Choice.name
        _choose(machine)

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> None:
        _choose(self._before)


def chosen() -> str:
    """The machine that was chosen last: `"auto"` where none was."""
    return _Choice.name


def _check(machine: str, said: str = "") -> None:
    """SymbolicError if there is no such machine here; `said` is what has named it, the environment if nothing else."""
    said = said or f"SYMBOLIC_MACHINE={machine}"
    if machine not in _NAMES:
        raise SymbolicError(f"{said}, which is no machine", remedy=f"choose one of {', '.join(_NAMES)}")
    if machine == "native" and not _there():
        raise SymbolicError(
            f"{said} without llvmlite, which is not installed",
            remedy='pip install "symbolic-layers[native]", or use("numpy")',
        )


def _there() -> bool:
    return find_spec("llvmlite") is not None


def _choose(machine: str) -> None:
    _Choice.name = machine
    steps = sys.modules.get("symbolic.backends.native.steps")
    for held in list(steps.ALL) if steps is not None else ():
        held.settle()
    for one in list(_Choice.made):
        one.code = None
    _Choice.made.clear()


# --------------------------------------------------------------------------- the machine for a program


def code_for(one: Executable) -> Code | None:
    """The code that a program runs by from now on; `None` while it is not worth any."""
    name = _Choice.name
    _check(name)
    code: Code | None
    short = len(one.program.instructions) <= _AT_ONCE
    if name == "native" or (name == "auto" and short and _is_due(one) and _there()):
        code = _native(one.program, one.into, always=name == "native")
    elif one.runs >= _WARM or is_large(one.program):
        code = compiled(one.program, one.into)
        if name == "auto" and not short and _there():
            _beside(one)
    else:
        return None
    _Choice.made.add(one)
    return code


def explained(one: Executable) -> str:
    """Which parts of a program run where, by the machine that it would run on after some calls."""
    code = one.code
    _check(_Choice.name)
    if code is None:
        native = _Choice.name == "native" or (_Choice.name == "auto" and _there())
        always = _Choice.name == "native"
        code = _native(one.program, one.into, always) if native else compiled(one.program, one.into)
    return code.explain()


def _is_due(one: Executable) -> bool:
    """Whether it is time for the native machine. A step is not the last one."""
    return one.steady or one.runs >= _WARM or is_large(one.program)


def _native(program: Program, into: Sequence[int], always: bool) -> Code:
    """Native code, or NumPy's where little of it would be, unless that is wanted always.

    If there is none, that is a fault of ours, which is told and costs only time.
    """
    try:
        from symbolic.backends.native.machine import Native

        made = Native(program, into, always=always)
        return made if made.ready else compiled(program, into)
    except Exception as error:
        warn(f"the native machine failed, and NumPy runs the program: {type(error).__name__}: {error}", stacklevel=6)
        return compiled(program, into)


def _beside(one: Executable) -> None:
    """Compile in another thread, and take the code when it is there."""
    held, name = weakref.ref(one), _Choice.name
    program, into = one.program, one.into

    def work() -> None:
        code = _native(program, into, always=False)
        owner = held()
        if owner is not None and _Choice.name == name:
            owner.code = code

    # Python waits for it when it ends: LLVM must not be at work while it is unloaded
    threading.Thread(target=work, name="symbolic: compiling").start()
