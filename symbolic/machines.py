"""Which machine runs a program? NumPy's, which is always there, or the native one where `llvmlite` is installed.

Left to itself (`"auto"`), a program takes native code at once that was compiled before. Otherwise NumPy runs it, and as
soon as that has taken a while, it is compiled beside the calls: short scripts load nothing heavy, and no call waits for
a compiler, unless it would wait as long for NumPy, or on one core, where both are in each other's way. A machine that
is chosen by hand is there from the first run on, so that a program gives the same bits each time it is started.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Protocol, TypeAlias

from symbolic.backends.native.abi import CHOICES
from symbolic.backends.numpy import compiled
from symbolic.backends.schedule import is_large
from symbolic.errors import SymbolicError, warn
from symbolic.forking import freed
from symbolic.installation import spec_of
from symbolic.midway import AT_WORK, cut
from symbolic.plan import Program
from symbolic.spec import AnySpec, Spec, product

if TYPE_CHECKING:
    from symbolic.execution import Executable

__all__ = ["Code", "MachineName", "chosen", "code_for", "use"]

MachineName: TypeAlias = Literal["auto", "numpy", "native"]
_NAMES: Final = ("auto", "numpy", "native")
_WARM = 2  # runs by the interpreter before NumPy's code is worth writing, where arrays are small
_OPEN = 8  # the same for a program whose sizes are open, which has no more to gain than a few calls
_HEAVY = 70_000_000  # entries that a run makes, which take NumPy as long as it takes to load LLVM
_EACH = 1_500_000  # entries that it makes while an instruction is compiled
_AROUND = 2e-6  # seconds that Python takes around a run, which machine code takes over, too
_FIRST, _PATIENCE = 0.05, 0.02  # seconds of NumPy's runs before LLVM is loaded, and where it is already
_WORTH = 4  # runs by NumPy in whose time code is there: on one core the next call then waits, and does not hold LLVM up


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
    able: ClassVar[bool] = False
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
    if machine != "numpy" and any(map(os.environ.get, _SETTINGS)) and _there():
        _check_settings()


_SETTINGS: Final = ("SYMBOLIC_CPU", "SYMBOLIC_THREADS")


def _check_settings() -> None:
    """SymbolicError if code cannot be written as the environment says: before a program runs, not where it is compiled.

    A processor for which there is no code at all is nobody's mistake: that is told where code is to be made.
    """
    from symbolic.backends.native.host import Misset, host

    try:
        host()
    except Misset:
        raise
    except SymbolicError:
        return


def _there() -> bool:
    """Whether `llvmlite` is installed, which is looked for in many folders, until it was found."""
    if not _Choice.able:
        _Choice.able = spec_of("llvmlite") is not None
    return _Choice.able


def _choose(machine: str) -> None:
    _Choice.name = machine
    CHOICES.value += 1
    steps = sys.modules.get("symbolic.backends.native.steps")
    for held in list(getattr(steps, "ALL", ())):  # another thread may be loading it, and has no steps yet
        held.settle()
    for one in list(_Choice.made):
        one.code, one.asked = None, False
    _Choice.made.clear()


def _in_child() -> None:
    """Where LLVM cannot be asked any more, NumPy runs everything."""
    if cut():
        _choose(_Choice.name)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


# --------------------------------------------------------------------------- the machine for a program


def code_for(one: Executable) -> Code | None:
    """The code that a program runs by from now on; `None` while it is not worth any."""
    name = _Choice.name
    _check(name)
    name = "numpy" if cut() else name
    code: Code | None
    if one.program.open:  # which no machine but NumPy runs, and none is chosen for
        return compiled(one.program, one.into) if one.runs >= _OPEN else None
    if name == "native":
        code = _native(one.program, one.into, always=True)
    elif name == "auto" and _there():
        code = _usual(one)
    else:
        code = compiled(one.program, one.into) if _is_warm(one) else None
    if code is not None:
        _Choice.made.add(one)
    return code


def _usual(one: Executable) -> Code | None:
    """What was compiled before, at once; else NumPy's code, beside which it is compiled once that has run a while."""
    code: Code | None = None
    if not one.asked and (one.steady or _is_warm(one)):
        one.asked = True
        code = _kept(one) or (_native(one.program, one.into, always=False) if _is_heavy(one.program) else None)
    if code is None and _is_warm(one):
        code = Waiting(one, compiled(one.program, one.into))
    return code


def explained(one: Executable) -> str:
    """Which parts of a program run where, by the machine that it would run on after some calls."""
    code = one.code
    _check(_Choice.name)
    if cut() and _Choice.name != "numpy":
        return f"{compiled(one.program, one.into).explain()}, for {cut()}"
    if code is None or isinstance(code, Waiting):
        native = _Choice.name == "native" or (_Choice.name == "auto" and _there())
        always = _Choice.name == "native"
        code = _native(one.program, one.into, always) if native else compiled(one.program, one.into)
    return code.explain()


def _is_warm(one: Executable) -> bool:
    """Whether NumPy's code pays, which takes a few milliseconds to write."""
    return one.runs >= _WARM or is_large(one.program)


def _is_heavy(program: Program) -> bool:
    """Whether one run by NumPy would take as long as compiling does."""
    return sum(_entries(one.spec) for one in program.instructions) > _in_compiling(program)


def _in_compiling(program: Program) -> int:
    """About how many entries NumPy makes while a program is compiled, one in a nanosecond."""
    return _HEAVY + _EACH * len(program.instructions)


def _entries(spec: AnySpec) -> int:
    return product(spec.shape) or 0 if isinstance(spec, Spec) and spec.shape is not None else 0


class Waiting:
    """NumPy's code, until it has run for so long that compiling pays; that is then done beside it."""

    begun: bool
    buffered: bool
    code: Code
    lock: Any
    one: weakref.ReferenceType[Executable]
    patience: float
    spent: float

    def __init__(self, one: Executable, code: Code) -> None:
        self.one, self.code = weakref.ref(one), code
        self.lock, self.buffered = code.lock, code.buffered
        self.spent = one.spent
        self.begun, self.patience = False, 0.0
        freed(self)

    def function(self, *given: Any) -> Any:
        found = self._instead(given)
        if found is not None:
            return found
        begin = time.perf_counter()
        found = self.code.function(*given)
        self._count(time.perf_counter() - begin)
        return found

    def run(self, values: Sequence[Any], into: Sequence[Any] = ()) -> Sequence[Any] | None:
        found = self._instead((*values, *into))
        if found is not None:
            return found
        begin = time.perf_counter()
        found = self.code.run(values, into)
        self._count(time.perf_counter() - begin)
        return found

    def _count(self, seconds: float) -> None:
        self.spent += seconds + _AROUND
        if self.spent > (_PATIENCE if "llvmlite.binding" in sys.modules else _FIRST) and not self.begun:
            self.begun = True
            one = self.one()
            if one is not None:
                self.patience = _patience(one.program, seconds)
                if not self.patience:
                    _beside(one)

    def _instead(self, given: Sequence[Any]) -> Sequence[Any] | None:
        """The outputs by code that is compiled now, if this call is to wait for it.

        That is begun by the call that waits: until then it would only be in the way of what else runs on that core, and
        whatever the call before has given may be gone by now.
        """
        patience, self.patience = self.patience, 0.0
        one = self.one() if patience else None
        if one is None or one.code is not self:
            return None
        from symbolic.backends import pool

        pool.give_back()  # to the compiler: the results of calls before that nobody holds
        _beside(one).join(patience)
        if one.code is None or one.code is self:
            return None
        count = len(one.program.leaves)
        try:
            return one.code.run(given[:count], given[count:])
        except Exception:
            return None  # NumPy's code will tell, as it tells `failed` what it needs to know

    def free(self) -> None:
        """In the child of a fork, where nobody goes on to compile it."""
        self.begun, self.patience = False, 0.0

    def failed(self, error: Exception) -> Any:
        return self.code.failed(error)

    def explain(self) -> str:
        return self.code.explain()


def _patience(program: Program, seconds: float) -> float:
    """For how long the next call waits for code, where a run by NumPy takes so long."""
    from symbolic.backends.native.host import threads

    most = _WORTH * seconds
    once = any(one.node.effect for one in program.instructions)  # no error may have it run again
    return most if _in_compiling(program) < most * 1e9 and threads() == 1 and not once else 0.0


def _kept(one: Executable) -> Code | None:
    """Native code that was compiled before: nothing heavy is loaded for it."""
    try:
        with AT_WORK:
            from symbolic.backends.native.store import is_known, outline_of

            if not is_known(outline_of(one.program, one.into)):
                return None  # none of the rooms is loaded in which code is run
            from symbolic.backends.native.machine import Native

            made = Native(one.program, one.into, always=False, makes=False)
            return made if made.ready else None
    except Exception:
        return None  # whoever compiles it will tell


def _native(program: Program, into: Sequence[int], always: bool) -> Code:
    """Native code, or NumPy's where little of it would be, unless that is wanted always.

    If there is none, that is a fault of ours, which is told and costs only time.
    """
    if cut():  # since it was begun
        return compiled(program, into)
    try:
        with AT_WORK:
            from symbolic.backends.native.machine import Native

            made = Native(program, into, always=always)
            return made if made.ready else compiled(program, into)
    except Exception as error:
        warn(f"the native machine failed, and NumPy runs the program: {type(error).__name__}: {error}", stacklevel=6)
        return compiled(program, into)


def _ahead(one: Executable) -> Callable[[Any], object] | None:
    """What makes ready for code of a program what its calls will need: asked for once, and whole from then on."""
    wanted, one.ahead = one.ahead, None
    return None if wanted is None else wanted()


def _beside(one: Executable) -> threading.Thread:
    """Compile in another thread, which is given back, and take the code when it is there."""
    held, name = weakref.ref(one), _Choice.name
    program, into = one.program, one.into
    prepare = _ahead(one)

    def work() -> None:
        with AT_WORK:
            compile_it()

    def compile_it() -> None:
        code = _native(program, into, always=False)
        owner = held()
        ready = prepare or (None if owner is None else _ahead(owner))  # the first call says so after it has run
        owner = None  # nobody keeps a network for that
        if ready is not None:
            ready(code)  # what calls of it will need
        owner = held()
        if owner is not None and _Choice.name == name:
            owner.code = code

    # Python waits for it when it ends: LLVM must not be at work while it is unloaded
    thread = threading.Thread(target=work, name="symbolic: compiling")
    thread.start()
    return thread
