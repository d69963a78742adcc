"""What if a function has no source, as one typed at a prompt? It runs over names that mean what its calls should mean.

The code stays; the twin looks its names up in a copy of the function's globals, in which NumPy and `math` stand for
modules whose functions keep traced values, and the function's own helpers for such twins. Types are not replaced
(`float` is a type too), so `float(x)` of such a function is refused where rewritten code would keep the gradient.
"""

from __future__ import annotations

import builtins
import dis
import threading
import types
from collections.abc import Callable
from typing import Any

from symbolic.rewriting import codes_of

Meaning = Callable[[Any], Any]


class Module(types.ModuleType):
    """A module whose functions are asked for what they mean."""

    def __init__(self, module: types.ModuleType, meaning: Meaning) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__dict__.update(_module=module, _meaning=meaning)

    def __getattr__(self, name: str) -> Any:
        return meant(getattr(self._module, name), self._meaning)


def meant(value: Any, meaning: Meaning) -> Any:
    """What a name stands for: modules and functions in their other meaning, all else as it is."""
    if isinstance(value, types.ModuleType):
        return Module(value, meaning) if value.__name__.partition(".")[0] in ("numpy", "math", "scipy") else value
    indexed = type(value).__module__.startswith("numpy.lib")  # np.r_ and its like are called by an index
    if isinstance(value, type) or not (callable(value) or indexed):
        return value
    found = meaning(value)
    return found if found is value or isinstance(value, types.FunctionType) else Meant(value, found, meaning)


class Meant:
    """A function in its other meaning, with the attributes that it has: `np.add` and `np.add.reduce`."""

    def __init__(self, value: Any, found: Any, meaning: Meaning) -> None:
        self.__dict__.update(_value=value, _found=found, _meaning=meaning)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._found(*args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return self._found[index]

    def __getattr__(self, name: str) -> Any:
        return meant(getattr(self._value, name), self._meaning)


class _Making(threading.local):
    """The twins that are being made: a function may call itself."""

    def __init__(self) -> None:
        self.twins: dict[types.FunctionType, types.FunctionType] = {}


_making = _Making()


def over_names(function: types.FunctionType, meaning: Meaning) -> types.FunctionType:
    """The function over such names; itself where it writes to its globals."""
    if function in _making.twins:
        return _making.twins[function]
    codes = list(codes_of(function.__code__))
    if any(one.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") for code in codes for one in dis.get_instructions(code)):
        return function
    space = dict(function.__globals__)
    twin = types.FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)
    twin.__kwdefaults__, twin.__qualname__ = function.__kwdefaults__, function.__qualname__
    twin.__module__ = function.__module__
    _making.twins[function] = twin
    try:
        for name in {name for code in codes for name in code.co_names}:
            if name in space:
                space[name] = meant(space[name], meaning)
            elif name == "isinstance":
                space[name] = meaning(builtins.isinstance)
    finally:
        del _making.twins[function]
    return twin
