"""How does any other transformation than a gradient run? Written into the trace that is under way, or as a program.

A transformation is a plain function that builds a graph, `inline`: one of a module, or a `partial` of one, which can be
copied and pickled. Outside of a trace it is traced like the function
that it transforms, and the program that comes out is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symbolic.context import here
from symbolic.deriving import Call, Derivative, as_constants, returned
from symbolic.execution import Executable, Specialization
from symbolic.layer import Layer
from symbolic.outcome import outcome
from symbolic.structure import Tree
from symbolic.trace import run_body


class Transformed(Derivative):
    """A transformed function: `inline(self, args, kwargs)` writes its result, with `applied` for the function."""

    def __init__(self, f: Callable[..., Any], inline: Callable[..., Any], verb: str, first: bool = False) -> None:
        self.verb = verb
        super().__init__(f, 0, value=False)
        self.inline = inline
        self.first = first  # the first entry of the result is the value of the function itself

    def __reduce__(self) -> Any:
        """The function and what is asked of it; the traces are made anew."""
        return type(self), (self.f, self.inline, self.verb, self.first)

    def over(self, f: Callable[..., Any]) -> Callable[..., Any]:
        return Transformed(f, self.inline, self.verb, self.first)

    def wanted(self, args: tuple[Any, ...], tree: Tree) -> dict[int, int]:
        return {}

    def body(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.inline(self, args, kwargs)

    def applied(self, *args: Any, **kwargs: Any) -> Any:
        """The function itself, its body run within the trace if there is one."""
        return self.f(*args, **kwargs) if here.trace is None else run_body(None, self.f, args, kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = Call(self, args, kwargs)
        if here.trace is not None or any(isinstance(leaf, Layer) for leaf in call.leaves):
            result = outcome(self.body(args, kwargs))
            return result.within(as_constants(call.leaves, result.layers))
        return self.on_path(call, lambda on: self._transformed(call, on))

    def _transformed(self, call: Call, on: Specialization) -> Any:
        executable: Executable = on.cached("transformed", lambda: self._compiled(on))
        primal = returned(on).first() if self.first else 0
        results = executable.derivatives([*call.values, *on.values()], primal, len(on.outputs))
        return returned(on).rebuilt(results)

    def _compiled(self, on: Specialization) -> Executable:
        primal = returned(on).first() if self.first else 0
        return Executable(on.program(on.outputs[:primal], on.outputs[primal:], on.leaves))
