"""Which elementary functions can be written into a function of LLVM? `write(f, "tanh", x)` gives the value of tanh x.

All are right to 2 units in the last place over their whole range, in double and in float, with any number of lanes;
±0, ±∞ and NaN are those of C, and of NumPy where it differs. What a processor has of AVX-512 or fma, the module says.
"""

from __future__ import annotations

from collections.abc import Callable

from symbolic.backends.native import (
    arcs,
    circular,
    error_function,
    exponentials,
    logarithms,
    powers,
    remainders,
    rounding,
)
from symbolic.backends.native.formulas import Term
from symbolic.backends.native.text import Function, Value

_SHORT = "sqrt floor ceil trunc rint absolute sign copysign maximum minimum fmax fmin"
SHORT = frozenset(_SHORT.split())
"""Those that are a few instructions, or one."""
FORMULAS: dict[str, Callable[..., Term]] = {
    name: getattr(room, name)
    for room, names in (
        (exponentials, "exp exp2 expm1 expit sinh cosh tanh"),
        (logarithms, "log log2 log10 log1p arcsinh arccosh arctanh logaddexp logaddexp2"),
        (circular, "sin cos tan sinc"),
        (arcs, "arcsin arccos arctan arctan2"),
        (powers, "power cbrt hypot"),
        (error_function, "erf erfc ndtr log_ndtr"),
        (remainders, "fmod remainder floor_divide"),
        (rounding, _SHORT),
    )
    for name in names.split()
}


def emitter(formula: Callable[..., Term]) -> Callable[..., Value]:
    def emit(f: Function, *values: Value) -> Value:
        return formula(*(Term(f, one) for one in values)).value

    return emit


ELEMENTARY: dict[str, Callable[..., Value]] = {name: emitter(formula) for name, formula in FORMULAS.items()}
"""From NumPy's or SciPy's name to what writes the function, given `f` and as many values as it has arguments."""


def write(f: Function, name: str, *values: Value, inline: bool = True) -> Value:
    """The value of an elementary function of values of one type: within `f`, or by a call of a function of its own.

    Raises KeyError if there is no such function.
    """
    emit = ELEMENTARY[name]
    if inline:
        return emit(f, *values)
    kind = values[0].type
    apart = f"{name}.{values[0].lanes}{values[0].element}"
    if not f.module.has(apart):
        body = f.module.function(apart, [kind] * len(values), kind, "nounwind", private=True)
        body.give(emit(body, *body.arguments))
    return f.make(values[0].element, values[0].lanes, f"call {kind} @{apart}({', '.join(map(str, values))})")
