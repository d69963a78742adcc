"""How does one instruction read as an expression of Python, with the bits that its kernel gives, and fewer calls?

Python's numbers are added by `+`, not by a ufunc; a constant that meets an array is an array of its dtype already; a
product of matrices on the way back, where nothing is ever warned of, takes the shorter road through `np.dot`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symbolic.ops.arithmetic import square
from symbolic.ops.binding import Written
from symbolic.ops.choosing import where_into
from symbolic.ops.families import quotient
from symbolic.plan import Instruction, Program
from symbolic.spec import Spec

_INFIX: dict[Any, str] = {
    operator.add: "{} + {}",
    operator.sub: "{} - {}",
    operator.mul: "{} * {}",
    operator.lt: "{} < {}",
    operator.le: "{} <= {}",
    operator.gt: "{} > {}",
    operator.ge: "{} >= {}",
    operator.eq: "{} == {}",
    operator.ne: "{} != {}",
    operator.neg: "-{}",
    square: "{0} * {0}",
}
_NUMBERS: dict[Any, str] = {np.add: "{} + {}", np.subtract: "{} - {}", np.multiply: "{} * {}"}
_REAL = {np.dtype(np.float32), np.dtype(np.float64)}


def infix(program: Program, one: Instruction, values: Sequence[str], name: Callable[[Any], str]) -> str:
    """The expression without a call, where there is one with the same value; else nothing."""
    if one.kernel in _PLAIN and (one.kernel is square or len(values) < 3):
        return _INFIX[one.kernel].format(*values)
    if one.kernel is quotient:
        return f"{values[0]} / {values[1]} if {values[1]} else {name(quotient)}({', '.join(values)})"
    if one.takes_out and one.kernel in _SCALAR and _are_numbers(program, one):
        return _NUMBERS[one.kernel].format(*values)
    return ""


_PLAIN = frozenset(_INFIX)
_SCALAR = frozenset(_NUMBERS)


def is_silent(one: Instruction) -> bool:
    """Whether nothing can be warned of: Python's own operators, and views."""
    return one.kernel in _PLAIN or one.node.shares


def _are_numbers(program: Program, one: Instruction) -> bool:
    """NumPy's own floats of one dtype, at least one of them, and Python's."""
    specs = [program.specs[k] for k in one.sources]
    if not isinstance(one.spec, Spec) or one.spec.shape != () or one.spec.dtype not in _REAL:
        return False
    return all(
        isinstance(spec, Spec) and spec.shape == () and (spec.dtype == one.spec.dtype or spec.python in (int, float))
        for spec in specs
    )


def written(kernel: Written, values: Sequence[str], target: str, name: Callable[[Any], str]) -> str:
    """What a kernel says of itself."""
    return kernel.text.format(*values, out=target, **{key: name(value) for key, value in kernel.names.items()})


def may_overwrite(one: Instruction) -> bool:
    """Whether the result's array may be an operand's."""
    return isinstance(one.kernel, np.ufunc) or (isinstance(one.kernel, Written) and one.kernel.early)


def boxed(program: Program, one: Instruction, constants: dict[int, Any]) -> dict[int, Any]:
    """Constants of Python's among arrays of one dtype, as that dtype's: what a ufunc would make of them each time."""
    dtype = _common(program, one)
    if dtype is None:
        return {}
    found = {k: constants[k] for k in one.sources if type(constants.get(k)) in (int, float)}
    fit = {k: value for k, value in found.items() if abs(value) <= _SAFE or not math.isfinite(value)}
    return {k: np.array(value, dtype) for k, value in fit.items()}


def numbers(program: Program, one: Instruction, at: int) -> dict[int, Any]:
    """The same for numbers that only the run knows: with the dtype of the array that each is put into before.

    Where nothing is warned of, since a number may be too large for a smaller dtype.
    """
    dtype = _common(program, one)
    if dtype is None or (at < program.split and dtype != np.dtype(float)):
        return {}
    specs = {k: program.specs[k] for k in one.sources}
    return {k: dtype for k, spec in specs.items() if isinstance(spec, Spec) and spec.python is float}


def _common(program: Program, one: Instruction) -> Any:
    """The dtype of an operation's arrays, to which Python's numbers are brought; `None` where there is no such one."""
    kernel = one.kernel.names.get("ufunc") if isinstance(one.kernel, Written) else one.kernel
    if not (one.takes_out and isinstance(one.spec, Spec) and (kernel in _ALIKE or kernel is where_into)):
        return None
    sources = one.sources[1:] if kernel is where_into else one.sources
    specs = [program.specs[k] for k in sources]
    dtypes = {spec.dtype for spec in specs if isinstance(spec, Spec) and spec.python is None}
    if kernel is where_into and not dtypes:
        dtypes = {one.spec.dtype}
    if len(dtypes) != 1 or not dtypes <= _REAL or not all(isinstance(spec, Spec) for spec in specs):
        return None
    return dtypes.pop()


def narrow(program: Program, one: Instruction) -> list[int]:
    """Operands with one entry beside those of the result's shape: without axes a ufunc takes them in less time."""
    if one.kernel not in _ALIKE or not isinstance(one.spec, Spec) or not one.spec.shape:
        return []
    specs = {k: program.specs[k] for k in one.sources}
    shapes = {k: spec.shape for k, spec in specs.items() if isinstance(spec, Spec) and spec.python is None}
    if len(shapes) != len(specs) or one.spec.shape not in shapes.values() or {1} >= set(one.spec.shape):
        return []
    return [k for k, shape in shapes.items() if shape and {1} >= set(shape)]


_SAFE = 2.0**120  # within every dtype's range
_ALIKE = frozenset(
    {np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum, np.logaddexp, np.arctan2, np.hypot}
    | {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal}
)
"""Functions that bring both operands to one dtype."""


def product_of(program: Program, one: Instruction, at: int, target: str) -> Any:
    """`np.dot`, where it is `np.matmul` to the last bit: of matrices on the way back, into an array of ours.

    With a vector, or one row, the two ask the BLAS for other products, which round otherwise.
    """
    if one.kernel is not np.matmul or at < program.split or target[:1] == "o" or not isinstance(one.spec, Spec):
        return None
    specs = [program.specs[k] for k in one.sources]
    plain = all(
        isinstance(spec, Spec) and spec.known and spec.dtype == one.spec.dtype and _is_matrix(spec) for spec in specs
    )
    return np.dot if plain and one.spec.dtype in _REAL and one.spec.shape else None


def _is_matrix(spec: Spec) -> bool:
    """Whether an array has rows and columns, several of each."""
    return spec.shape is not None and len(spec.shape) == 2 and 1 not in spec.shape
