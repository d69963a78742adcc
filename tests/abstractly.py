"""What do the lints say of a few lines of NumPy? They run with values that know only their specs and origins."""

from __future__ import annotations

import math
import operator
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

import symbolic
from symbolic.polynomial import parsed
from symbolic.spec import Spec
from symbolic.static import evaluation, lints
from symbolic.static.abstract import Answer, Value

Made = dict[str, Value]


def values(parameters: str) -> Made:
    """`x n 1; y:int64 n; s:float` as parameters: float32 unless it is said otherwise."""
    found: Made = {}
    for written in parameters.split(";"):
        head, *words = written.split()
        name, _, dtype = head.partition(":")
        if dtype == "float":
            found[name] = lints.parameter(name, Value(Spec((), np.dtype(float), float)))
        else:
            shape = tuple(map(parsed, words))
            found[name] = lints.parameter(name, Value(Spec(shape, np.dtype(dtype or "float32"))))
    return found


class Run:
    """One run of a body: what was found at its operations, and what failed."""

    def __init__(self, returns: Spec | None = None) -> None:
        self.found: list[lints.Found] = []
        self.failed: list[tuple[str, str | None]] = []
        self.provenance = lints.Provenance(returns=returns)
        self.returned: Any = None

    def body(self, parameters: str, text: str) -> Run:
        space = {name: Proxy(self, one) for name, one in values(parameters).items()}
        scope: dict[str, Any] = {"np": Library(self, np), "math": math, "symbolic": Library(self, symbolic)}
        lines = textwrap.indent(textwrap.dedent(text), "    ")
        exec(f"def f({', '.join(space)}):\n{lines}", scope)
        self.returned = bare(scope["f"](**space))
        return self

    def applied(self, function: Any, args: Any, kwargs: Any, answer: Callable[..., Answer]) -> Any:
        args, kwargs = bare(args), bare(kwargs)
        found = answer(args, kwargs)
        if found.finding is not None:
            self.failed.append((found.finding.seen, lints.likely_cause(function, args, self.provenance)))
        self.found += lints.at_operation(function, args, kwargs, found, self.provenance)
        return self.wrapped(lints.followed(function, args, kwargs, found.value, len(self.found)))

    def wrapped(self, value: Any) -> Any:
        if isinstance(value, Value):
            return Proxy(self, value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.wrapped, value))
        return type(value)(map(self.wrapped, value)) if type(value) in (tuple, list) else value


def bare(value: Any) -> Any:
    if isinstance(value, (Proxy, Callee)):
        return value._value
    if type(value) in (tuple, list):
        return type(value)(map(bare, value))
    if isinstance(value, dict):
        return {name: bare(one) for name, one in value.items()}
    return slice(bare(value.start), bare(value.stop), bare(value.step)) if isinstance(value, slice) else value


class Callee:
    """A function of a library, called with what is known of its arguments."""

    def __init__(self, run: Run, function: Any) -> None:
        self._run, self._value = run, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self._value
        return self._run.applied(function, args, kwargs, lambda a, k: evaluation.call(function, a, k))


class Library:
    def __init__(self, run: Run, module: Any) -> None:
        self._run, self._module = run, module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if type(found).__name__ == "module":
            return Library(self._run, found)
        return Callee(self._run, found) if callable(found) else found


class Proxy:
    """A value in a body that runs."""

    def __init__(self, run: Run, value: Value) -> None:
        self._run, self._value = run, value

    def __getattr__(self, name: str) -> Any:
        run, value = self._run, self._value
        if name in ("T", "shape", "size", "ndim", "dtype"):
            return run.applied(name, (value,), {}, lambda a, k: evaluation.attribute(name, a[0]))

        def method(*args: Any, **kwargs: Any) -> Any:
            return run.applied(name, (value, *args), kwargs, lambda a, k: evaluation.method(name, a[0], a[1:], k))

        return method

    def __getitem__(self, index: Any) -> Any:
        return self._operated(operator.getitem, self, index)

    def _operated(self, function: Any, *operands: Any) -> Any:
        return self._run.applied(function, operands, {}, lambda a, k: evaluation.call(function, a, k))


def _operator(name: str) -> None:
    function = getattr(operator, name if hasattr(operator, name) else f"{name}_")
    dunder = f"__{name.strip('_')}__"
    setattr(Proxy, dunder, lambda self, *others: self._operated(function, self, *others))
    setattr(Proxy, f"__r{name.strip('_')}__", lambda self, other: self._operated(function, other, self))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "rshift"):
    _operator(_name)
for _name in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "abs", "invert"):
    _operator(_name)
for _name in ("iadd", "isub", "imul", "itruediv"):
    _operator(_name)


def rules(parameters: str, text: str, returns: Spec | None = None) -> list[str]:
    """The names of the lints that say something of a body."""
    return [one.rule for one in Run(returns).body(parameters, text).found]
