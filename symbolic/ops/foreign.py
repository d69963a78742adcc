"""Which functions of other libraries are known? SciPy's: their formulas load when one of them first meets a layer.

`import symbolic` imports no SciPy. A function of a library that has no formula is refused by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from symbolic.callees import BOUND, ELSEWHERE
from symbolic.errors import SymbolicError
from symbolic.layer import FUNCTIONS, Handler, unsupported
from symbolic.literal import as_layer
from symbolic.naming import home, public, qualified
from symbolic.ops.binding import Kernel
from symbolic.ops.deltas import chain
from symbolic.ops.families import Elementwise
from symbolic.ops.operation import Operation, array
from symbolic.spec import AnySpec, Spec, broadcast

ROOMS: dict[str, tuple[str, ...]] = {
    "numpy.fft": ("fourier",),
    "numpy.polynomial": ("coefficients",),
    "scipy.special": ("scipy_error", "scipy_gamma", "scipy_bessel", "scipy_entropy", "scipy_sums", "scipy_series"),
    "scipy.stats": ("scipy_stats", "scipy_multivariate"),
    "scipy.linalg": ("scipy_linalg", "scipy_factors", "scipy_matrices"),
    "scipy.fft": ("scipy_fft",),
    "scipy.signal": ("scipy_signal",),
    "scipy.integrate": ("scipy_signal",),
    "scipy.spatial": ("scipy_signal",),
}
"""Which of our modules tell about which of theirs."""


def load(module_name: str, until: Callable[[], Any] = lambda: None) -> None:
    """Load what is known of the functions of a module, such as `scipy.special._logsumexp`; nothing for others.

    `until` ends it, once it is something: what was looked for.

    >>> from symbolic.ops.foreign import load
    >>> load("math")
    """
    package = ".".join(module_name.split(".")[:2])
    for room in ROOMS.get(package, ()):
        if until() is not None:
            break
        importlib.import_module(f"symbolic.ops.{room}")


def handler(function: Any) -> Handler | None:
    """What a function, a bound method or a callable object does with layers; `None` where nothing is known."""
    load(_module(function), lambda: _known(function))
    return _known(function) or _bound(function)


def _known(function: Any) -> Handler | None:
    try:
        return FUNCTIONS.get(function)
    except Exception:  # a callable without a hash
        return None


def _bound(function: Any) -> Handler | None:
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if owner is None or isinstance(owner, type):
        owner, name = function, "__call__"
    for kind in type(owner).__mro__:
        found = BOUND.get((kind, name))
        if found is not None:
            return _Method(found, owner)
    return None


class _Method:
    """A handler of a bound method: the object comes first."""

    __slots__ = ("found", "owner")

    def __init__(self, found: Handler, owner: Any) -> None:
        self.found, self.owner = found, owner

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self.found((self.owner, *args), kwargs)


def is_scipy(function: Any) -> bool:
    return _module(function).startswith("scipy.")


def _module(function: Any) -> str:
    if isinstance(function, np.ufunc):
        return home(function)
    owner = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, type(importlib)):  # functions in C have their module as __self__
        return str(getattr(function, "__module__", None) or type(function).__module__)
    return str(type(owner).__module__)


def refusal(function: Any) -> SymbolicError:
    """The error for a call, with a traced value, of a function of another library that has no formula here."""
    return unsupported(spoken(function), _REMEDY)


_REMEDY = (
    "write it with NumPy functions, give it a gradient with custom_gradient, or compute it from values that are not "
    "traced, outside the function"
)


def spoken(function: Any) -> str:
    """The name under which users know a function: `scipy.linalg.logm`, not the private module that it stands in."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if owner is not None and not isinstance(owner, type(importlib)):
        kind = owner if isinstance(owner, type) else type(owner)
        return f"{public(kind.__module__)}.{getattr(owner, 'name', None) or kind.__name__}.{name}"
    if not name:
        return f"{public(type(function).__module__)}.{getattr(function, 'name', None) or type(function).__name__}"
    return qualified(function) if isinstance(function, np.ufunc) else f"{public(_module(function))}.{name}"


def _elsewhere(function: Any) -> Handler | None:
    """A ufunc that has no handler yet may be SciPy's."""
    load(home(function), lambda: FUNCTIONS.get(function))
    return FUNCTIONS.get(function)


ELSEWHERE.append(_elsewhere)

# --------------------------------------------------------------------------- families of such functions


class Unknown(Operation):
    """The delta of an argument that no formula is known for: it raises for whoever needs it, and for nobody else."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"function": "", "argument": ""}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return specs[0]

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        raise unsupported(  # a program needs it
            f"the gradient of {self.function} by its argument {self.argument}",
            f"give {self.argument} as a plain number, or wrap it in stop_gradient",
        )

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (Unknown.make((as_layer(delta),), self.parameters),)


class ByLast(Elementwise):
    """Entry by entry, with a formula for the last operand only: `derivative` gives that one factor."""

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        unknown = [self._unknown(delta, name) for name in self.operand_names[:-1]]
        return (*unknown, chain(delta, self.derivative(out, *operands)))

    def _unknown(self, delta: Any, name: str) -> Any:
        return Unknown.make((as_layer(delta),), (qualified(self.functions[0]), name))


class Called(ByLast):
    """Entry by entry, by a Python function: what the dtype of the result is, it is asked on one entry."""

    __slots__ = ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        given = [array(spec) for spec in specs]
        known = all(spec.dtype is not None for spec in given)
        asked = tuple([spec.python or spec.dtype for spec in given])
        return Spec(broadcast([spec.shape for spec in given]), _tried(self.functions[0], asked) if known else None)

    def kernel(self, specs: Sequence[AnySpec], out: AnySpec) -> tuple[Kernel, bool]:
        return self.functions[0], False


@lru_cache(maxsize=256)
def _tried(function: Callable[..., Any], asked: tuple[Any, ...]) -> np.dtype[Any]:
    values = [one(1) if isinstance(one, type) else np.ones(1, one) for one in asked]
    result: np.dtype[Any] = np.asarray(function(*values)).dtype
    return result
