"""When is a call the same as the one before? What is asked of it then, and nothing else, as a few lines of code.

After the general way has served a call, all that it found is bound into one flat function. The function first asks
whether everything by which the general way would choose is still so: no special mode in any thread, inputs of the
same types, dtypes and shapes, the same trace first in the table, each watched place still as it was, the same code.
Where anything is not, it has done nothing yet and says `MISS` (another call may be served again) or `STALE` (none
will); the general way then answers. So a shortcut is never right by itself: it is only ever the same.
"""

from __future__ import annotations

import keyword
import types
from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

import numpy as np

from symbolic.context import MODES
from symbolic.execution import Executable, Specialization
from symbolic.fingerprint import ABSENT
from symbolic.live import LiveWatch
from symbolic.paths import Paths
from symbolic.spec import key_of
from symbolic.varying import Open
from symbolic.watch import UNBOUND, Contents, Global, Held, Named, is_fixed, lasts

MISS = object()
"""Said of a call of another kind."""
STALE = object()
"""Said by a shortcut whose time is over."""

_KEPT = 4  # kinds of calls that have one at a time
_AGAIN = 2  # runs in the general way
_BOUND = 256  # functions written for one network: where each soon is stale, writing more is no use
_ATOMS = (int, float, complex, bool, str, bytes, type(None))


class Shortcuts:
    """The shortcuts of one network, the last used first."""

    left: int

    kept: tuple[Callable[[tuple[Any, ...]], Any], ...]

    def __init__(self) -> None:
        self.kept = ()
        self.served: dict[Any, Any] = {}  # for each one what it runs
        self.left = _BOUND

    def __call__(self, inputs: tuple[Any, ...]) -> Any:
        """What a call gives, or `MISS`."""
        for one in self.kept:
            found = one(inputs)
            if found is STALE:
                self.drop(one)
            elif found is not MISS:
                return found
        return MISS

    def drop(self, gone: Any) -> None:
        self.kept = tuple([one for one in self.kept if one is not gone])
        self.served.pop(gone, None)

    def offer(self, executable: Executable, make: Callable[[], Any]) -> None:
        """After the general way has run a program: have a shortcut to it, in the first place.

        What has run once may never run again, or in machine code from now on: no function is written before it does.
        """
        if executable.code is None or executable.general or executable.runs < _AGAIN:
            return
        mine = next((one for one in self.kept if self.served.get(one) is executable), None)
        if mine is None and self.left > 0:
            self.left -= 1
            mine = make()
            executable.general = mine is None
        if mine is not None:
            self.served[mine] = executable
            self.kept = (mine, *[one for one in self.kept if one is not mine][: _KEPT - 1])
            for gone in set(self.served) - set(self.kept):
                self.served.pop(gone, None)


def key_of_inputs(inputs: tuple[Any, ...]) -> Any:
    """The key of a network's call, whose inputs are as they were given."""
    return key_of(inputs if len(inputs) > 1 else inputs[0])


def key_after(layout: Any) -> Callable[[tuple[Any, ...]], Any]:
    """The key of a derivative's call, which is not kept: it holds its arguments."""
    return lambda inputs: (layout, key_of(inputs))


class Unusual(Exception):  # noqa: N818 - no error, but an answer
    """There is no shortcut to such a call."""


class Writer:
    """A flat function being written: lines over names, which are bound to the things that they stand for."""

    def __init__(self) -> None:
        self.lines: list[str] = ["def call(inputs):"]
        self.asked: set[tuple[int, str]] = set()
        self.names: dict[str, Any] = {"MODES": MODES, "MISS": MISS, "STALE": STALE, "ndarray": np.ndarray}

    def write(self, *lines: str, depth: int = 1) -> None:
        self.lines += ["    " * depth + line for line in lines]

    def name(self, value: Any, stem: str = "k") -> str:
        """A name for a thing."""
        name = f"{stem}{len(self.names)}"
        self.names[name] = value
        return name

    def function(self) -> Any:
        scope: dict[str, Any] = {}
        exec(compile("\n".join(self.lines), "<symbolic shortcut>", "exec"), self.names, scope)
        return scope["call"]

    # ------------------------------------------------------------------ the conditions
    def inputs(self, inputs: Sequence[Any], pattern: Sequence[Any] = ()) -> None:
        """No special mode, and inputs of these kinds: `x0`, `x1`, …; some sizes may be open, as the pattern says."""
        shapes = [getattr(spec, "shape", None) for spec in pattern] or [getattr(one, "shape", None) for one in inputs]
        tests = [test for k, one in enumerate(inputs) for test in self._kind(f"x{k}", one, shapes[k])]
        if not inputs:
            raise Unusual
        self.write(f"if MODES or len(inputs) != {len(inputs)}:", "    return MISS")
        self.write(f"{''.join(f'x{k}, ' for k in range(len(inputs)))} = inputs")
        self.write(f"if {' or '.join(tests)}:", "    return MISS")

    def _kind(self, x: str, value: Any, shape: Any) -> list[str]:
        kind = type(value)
        if kind is np.ndarray:
            tests = [f"type({x}) is not ndarray", f"{x}.dtype is not {self.name(value.dtype, 'dtype')}"]
            if None not in shape:
                return [*tests, f"{x}.shape != {self.name(shape, 'shape')}"]
            sizes = [f"{x}.shape[{k}] != {size}" for k, size in enumerate(shape) if size is not None]
            return [*tests, f"{x}.ndim != {len(shape)}", *sizes]
        if kind in (float, int, complex) or (isinstance(value, np.number) and kind.__module__ == "numpy"):
            return [f"type({x}) is not {self.name(kind, 'kind')}"]
        raise Unusual

    def same(self, paths: Paths, key: Any, on: Specialization, executable: Executable, depth: int = 1) -> None:
        """The general way would still take this trace and this code."""
        if on.tracing.decisions or on.tracing.moving or key is None or executable.code is None:
            raise Unusual
        mark, held = paths.mark, ref(paths)  # which keeps the shortcut: nothing may lead back, or both would linger
        self.names.update(mark=mark, version=None, executable=executable, code=executable.code)  # the first call asks
        if not paths.leads(key, on):
            raise Unusual

        def still(names: dict[str, Any]) -> bool:
            version, now = mark.version, held()
            if now is None or not now.usual(key, on):
                return False
            names["version"] = version
            return True

        self.names.update(still=still, globals=globals)
        self.write("if executable.code is not code:", "    return STALE", depth=depth)
        self._watches(on.tracing.watches, depth)
        stale = "mark.version is not version and not still(globals())"  # last, for it says that no new trace is needed
        self.write(f"if {stale}:", "    return STALE", depth=depth)

    def admitted(self, paths: Paths, on: Open, executable: Executable, of: Callable[..., Any], depth: int) -> None:
        """The general way would have this code, whose sizes are open, serve a call of these inputs."""
        held = ref(paths)
        if executable.code is None:
            raise Unusual

        def admitted(inputs: tuple[Any, ...]) -> bool:
            now = held()
            return now is not None and now.admits(on, of(inputs), inputs)

        self.names.update(executable=executable, code=executable.code, admitted=admitted)
        self.write("if executable.code is not code:", "    return STALE", depth=depth)
        self.write("if not admitted(inputs):", "    return MISS", depth=depth)

    def _watches(self, watches: Sequence[Any], depth: int) -> None:
        tests = [test for one in watches if (test := self._watch(one))]
        if tests:
            self.names["UNBOUND"] = UNBOUND
            self.write("try:", f"    if not ({' and '.join(tests)}):", "        return STALE", depth=depth)
            self.write("except UNBOUND:", "    return STALE", depth=depth)

    def place(self, fetch: Any) -> str:
        """What stands at a place, as an expression."""
        if isinstance(fetch, Global) and all(one.isidentifier() and not keyword.iskeyword(one) for one in fetch.path):
            return ".".join([f"{self.name(fetch.space, 'space')}[{fetch.path[0]!r}]", *fetch.path[1:]])
        if isinstance(fetch, Contents):
            return f"{self.name(fetch.cell, 'cell')}.cell_contents"
        return f"{self.name(fetch, 'fetch')}()"

    def _watch(self, watch: Any) -> str:
        """A test that holds only where the watch holds: by identity where what was seen cannot change in itself."""
        if isinstance(watch, LiveWatch):
            return f"{self.name(watch.holds, 'holds')}()"
        value = watch.value()
        if not watch.holds() or watch.value() is not value:
            raise Unusual
        if isinstance(watch.fetch, Named):
            return self._named(watch.fetch, value)
        known = "" if isinstance(watch.fetch, Held) else f"{self.place(watch.fetch)} is {self.name(value, 'seen')}"
        if is_fixed(watch, value):
            return known or "True"
        if type(value) is types.FunctionType and watch.names is not None and _is_plain(value):
            f, code, given = (self.name(one) for one in (value, value.__code__, value.__defaults__))
            same = f"{f}.__code__ is {code} and {f}.__defaults__ is {given}"
            rest = f"{same} and not ({f}.__kwdefaults__ or {f}.__dict__)"
            return f"{known} and {rest}" if known else rest
        if type(value) is dict and all(type(key) is str and type(one) in _ATOMS for key, one in value.items()):
            d = self.name(value, "settings")
            entries = [f"{d}[{key!r}] is {self.name(one, 'seen')}" for key, one in value.items()]
            return " and ".join([*([known] if known else []), f"len({d}) == {len(value)}", *entries])
        return f"{self.name(watch.holds, 'holds')}()"

    def _named(self, fetch: Named, value: Any) -> str:
        """The dictionaries on the way to a name, each asked once for an entry, however many ways lead through it."""
        tests, space, found = [], fetch.space, None
        for name in fetch.path:
            space = space if found is None else vars(found)
            found = space.get(name)
            if value is ABSENT:  # then its path is a single name
                tests.append(f"{name!r} not in {self.name(space, 'space')}")
            elif (id(space), name) not in self.asked:
                self.asked.add((id(space), name))
                tests.append(f"{self.name(space, 'space')}[{name!r}] is {self.name(found, 'seen')}")
        return " and ".join(tests)


def _is_plain(function: Any) -> bool:
    return lasts(function.__defaults__ or ()) and not (function.__kwdefaults__ or function.__dict__)
