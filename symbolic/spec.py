"""What is known of an array before it exists: its shape, its dtype, and whether it is a Python number.

A rank or a size that is not known is `None`, and a rule that is given `None` answers `None`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, wraps
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from symbolic.errors import DtypeError, ShapeError
from symbolic.polynomial import Undecided

Dim: TypeAlias = int | None
Shape: TypeAlias = tuple[Dim, ...]


class Spec(NamedTuple):
    """The shape, dtype and Python type (of a bare `float`, `int`, …) of one value."""

    shape: Shape | None = None
    dtype: np.dtype[Any] | None = None
    python: type | None = None

    def __eq__(self, other: object) -> bool:
        # the second holds of specs that the first takes for equal: to NumPy a dtype of None is equal to float64
        return isinstance(other, Spec) and tuple.__eq__(self, other) and (self[1] is None) is (other[1] is None)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __str__(self) -> str:
        if self.python is not None:
            return self.python.__name__
        kind = "array" if self.dtype is None else str(self.dtype)
        if self.shape is None:
            return f"{kind}[...]"
        return f"{kind}[{', '.join('?' if d is None else str(d) for d in self.shape)}]"

    @property
    def known(self) -> bool:
        """True when the shape is known to the last size and the dtype too."""
        return self.shape is not None and None not in self.shape and self.dtype is not None

    @property
    def ndim(self) -> int | None:
        return None if self.shape is None else len(self.shape)


class TupleSpec(tuple["AnySpec", ...]):
    """The specs of the entries of a tuple."""

    __slots__ = ()


class OpaqueSpec(NamedTuple):
    """A value that is no array: it passes, and has no gradient."""

    kind: type


AnySpec: TypeAlias = Spec | TupleSpec | OpaqueSpec

UNKNOWN = Spec()
PYTHON_DTYPES: dict[type, np.dtype[Any]] = {
    bool: np.dtype(bool),
    int: np.dtype(int),
    float: np.dtype(float),
    complex: np.dtype(complex),
}


def spec_of(value: Any) -> AnySpec:
    """The spec of a value that exists."""
    kind = type(value)
    if kind is np.ndarray:
        return Spec(value.shape, value.dtype)
    if kind in PYTHON_DTYPES:
        usual = kind is not int or -(2**63) <= value < 2**63
        return Spec((), PYTHON_DTYPES[kind] if usual else np.asarray(value).dtype, kind)
    if isinstance(value, (np.ndarray, np.generic)):
        return Spec(value.shape, value.dtype)
    if isinstance(value, tuple):
        return TupleSpec(spec_of(entry) for entry in value)
    return OpaqueSpec(kind)


def key_of(value: Any) -> Any:
    """What distinguishes the programs that run on `value`; cheap, for it runs at every call."""
    kind = type(value)
    if kind is np.ndarray:
        return value.dtype, value.shape
    if kind is tuple:
        return tuple([key_of(entry) for entry in value])
    if isinstance(value, (np.ndarray, np.generic)):
        return kind, value.dtype, value.shape
    if kind is float or kind is int or kind is complex:
        return kind
    return STATIC[0](value)


STATIC: list[Any] = [lambda value: (type(value), value)]
"""The key of a value that is no array and no number; `symbolic.captured` knows how to look into it."""


def has_numbers(spec: AnySpec) -> bool:
    """Whether it is an array's, or a number's, whose sizes are all known as numbers."""
    if type(spec) is not Spec or spec[0] is None:
        return False
    for size in spec[0]:  # noqa: SIM110  # a generator takes longer than all the rest
        if type(size) is not int:
            return False
    return True


def interned(spec: AnySpec) -> AnySpec:
    """The same spec, one object for all equal ones whose sizes are numbers."""
    if id(spec) in _IDS or not has_numbers(spec):
        return spec
    shape, dtype, python = spec.shape, spec.dtype, spec.python  # type: ignore[union-attr]  # it has numbers
    key = (shape, dtype, dtype is None, python)
    found = _INTERNED.get(key)
    if found is None:
        if len(_INTERNED) >= _MOST:
            _INTERNED.clear()
            _IDS.clear()
        found = _INTERNED[key] = spec  # type: ignore[assignment]  # it has numbers
        _IDS.add(id(found))
    return found


def by_specs(infer: Callable[..., AnySpec]) -> Callable[..., AnySpec]:
    """An `infer` that looks at nothing but the class, the parameters and the specs: of the same ones it is asked once.

    Most nodes of a long graph are like one before them: of those without parameters, `INFERRED` is asked at once.
    """

    @wraps(infer)
    def remembered(self: Any, *specs: AnySpec) -> AnySpec:
        key = (type(self), *map(id, specs), *self.key())
        known = INFERRED.get(key)
        if known is not None:
            return known[0]
        found = interned(infer(self, *specs))
        numbers = all(map(has_numbers, specs))  # what is known of sizes that only a name says may change
        if numbers and type(self).infer is remembered:  # and not one that asks this one, and says more
            if len(INFERRED) >= _MOST:
                INFERRED.clear()
            INFERRED[key] = found, specs, self.parameters  # they stay, so that nothing else gets their ids
        return found

    return remembered


INFERRED: dict[tuple[Any, ...], tuple[AnySpec, tuple[AnySpec, ...], tuple[Any, ...]]] = {}


_MOST = 4096
_INTERNED: dict[Any, Spec] = {}
_IDS: set[int] = set()  # of what is in it


def describe(spec: AnySpec) -> str:
    if isinstance(spec, TupleSpec):
        return f"({', '.join(describe(entry) for entry in spec)})"
    return spec.kind.__name__ if isinstance(spec, OpaqueSpec) else str(spec)


def show(shape: Shape | None) -> str:
    """`(3, ?)`: a shape as NumPy prints it."""
    if shape is None:
        return "(...)"
    inner = ", ".join("?" if d is None else str(d) for d in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


# --------------------------------------------------------------------------- shapes


def broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    """NumPy's broadcasting; an unknown size beside a known one other than 1 is taken to fit."""
    known: list[Shape] = []
    for shape in shapes:
        if shape is None:
            return None
        known.append(shape)
    if len(known) == 2 and _are_equal(*known) and None not in known[0]:
        return known[0]
    if len(known) == 1 and all(type(size) is int for size in known[0]):
        return known[0]
    rank = max(map(len, known), default=0)
    found: list[Dim] = []
    undecided: Undecided | None = None
    for k in range(rank, 0, -1):
        try:
            found.append(_stretch([s[len(s) - k] for s in known if len(s) >= k], known, k))
        except Undecided as error:  # another axis may be wrong for certain
            undecided = error
    if undecided is not None:
        raise undecided
    return tuple(found)


def _are_equal(one: Shape, other: Shape) -> bool:
    try:
        return one == other
    except Undecided:
        return False


def _stretch(sizes: list[Dim], shapes: list[Shape], axis: int) -> Dim:
    fixed = {d for d in sizes if d is not None and d != 1}
    if len(fixed) > 1:
        a, b = sorted(fixed, key=_in_order)[:2]
        if a != b:  # two named sizes raise Undecided where nobody can tell
            seen = " and ".join(show(s) for s in shapes)
            raise ShapeError(
                f"operands of shapes {seen} do not broadcast: axis {-axis} has sizes {a} and {b}",
                remedy="make the sizes equal or one of them 1 (reshape, or index with np.newaxis)",
            )
    return fixed.pop() if fixed else (None if None in sizes else 1)


def _in_order(size: Any) -> tuple[bool, Any]:
    """Numbers first, then named sizes by their text."""
    return (False, size) if isinstance(size, int) else (True, str(size))


def normalize_axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise _axis_error(axis, ndim)
    return axis % ndim


def _axis_error(axis: int, ndim: int) -> Exception:
    return AxisShapeError(
        f"axis {axis} is out of bounds for an array of {ndim} dimensions",
        remedy=f"use an axis from {-ndim} to {ndim - 1}" if ndim else "a 0-d array has no axis",
    )


class AxisShapeError(ShapeError, IndexError):
    """An axis that the array does not have; NumPy's AxisError is both of these too."""


def normalize_axes(axis: int | Iterable[int] | None, ndim: int) -> tuple[int, ...]:
    """The axes meant, each from 0 to ndim - 1; `None` means all."""
    if axis is None:
        return tuple(range(ndim))
    named = (axis,) if isinstance(axis, (int, np.integer)) else tuple(axis)
    if ndim == 0 and len(named) == 1 and named[0] in (0, -1):
        return ()  # NumPy's reductions take a number for a vector of one
    axes = tuple(normalize_axis(int(a), ndim) for a in named)
    if len(set(axes)) != len(axes):
        raise ShapeError(f"axis {named} names one axis twice", remedy="name each axis once")
    return axes


def reduced(shape: Shape | None, axis: int | Iterable[int] | None, keepdims: bool) -> Shape | None:
    if shape is None:
        return () if axis is None and not keepdims else None
    axes = normalize_axes(axis, len(shape))
    if keepdims:
        return tuple(1 if k in axes else d for k, d in enumerate(shape))
    return tuple(d for k, d in enumerate(shape) if k not in axes)


def product(sizes: Iterable[Dim]) -> Dim:
    total = 1
    unknown = False
    for size in sizes:
        if size is None:
            unknown = True
        else:
            total *= size
    return None if unknown and total else total


# --------------------------------------------------------------------------- dtypes


def same_dtype(one: np.dtype[Any] | None, other: np.dtype[Any] | None) -> bool:
    """Whether two dtypes are the same, or both unknown: to NumPy `None` is equal to float64."""
    return (one is None) is (other is None) and one == other


def ufunc_dtype(ufunc: np.ufunc, specs: Sequence[Spec]) -> np.dtype[Any] | None:
    """The dtype of the first result, asked of NumPy; Python numbers stay weak."""
    asked: list[Any] = []
    for spec in specs:
        if spec.dtype is None:
            return _only_dtype(ufunc)
        asked.append(spec.python if spec.python is not None and spec.python is not bool else spec.dtype)
    return _resolve(ufunc, tuple(asked))


@lru_cache(maxsize=256)
def _only_dtype(ufunc: np.ufunc) -> np.dtype[Any] | None:
    """The dtype that the first result has whatever the operands are: a comparison is Boolean."""
    results = {loop.partition("->")[2][0] for loop in ufunc.types if "O" not in loop}  # objects are never traced
    return np.dtype(results.pop()) if len(results) == 1 else None


@lru_cache(maxsize=4096)
def _resolve(ufunc: np.ufunc, asked: tuple[Any, ...]) -> np.dtype[Any]:
    if all(isinstance(one, type) for one in asked):
        asked = tuple(PYTHON_DTYPES[one] for one in asked)
    try:
        resolved: tuple[np.dtype[Any], ...] = ufunc.resolve_dtypes((*asked, *[None] * ufunc.nout))
    except TypeError as error:
        names = " and ".join([one.__name__ if isinstance(one, type) else str(one) for one in asked])
        seen = f"np.{ufunc.__name__} of {names}, for which NumPy has no rule"
        raise DtypeError(seen, remedy=_instead(ufunc, asked)) from error
    return resolved[ufunc.nin]


_BITWISE = {np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift}
_OF_TRUTHS = {np.subtract: "write a ^ b, or np.logical_and(a, ~b)", np.negative: "write ~a"}


def _instead(ufunc: np.ufunc, asked: tuple[Any, ...]) -> str:
    if ufunc in _OF_TRUTHS and all(one == np.dtype(bool) for one in asked):
        return _OF_TRUTHS[ufunc]
    if ufunc in _BITWISE:
        return "give integers or truths; a comparison beside & or | needs brackets: (a > 0) & (b < 1)"
    return "convert the operands to a dtype that it knows: x.astype(…)"


@lru_cache(maxsize=4096)
def dtype_by_trial(function: Callable[..., Any], *dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of `function`'s result, found by one call on arrays of a single one."""
    with np.errstate(all="ignore"):
        result: np.dtype[Any] = np.asarray(function(*(np.ones((1,), d) for d in dtypes))).dtype
    return result


def result_dtype(specs: Iterable[Spec]) -> np.dtype[Any] | None:
    """NumPy's promotion of several operands, Python numbers weak."""
    asked: list[Any] = []
    for spec in specs:
        if spec.dtype is None:
            return None
        asked.append(spec.python(0) if spec.python is not None and spec.python is not bool else spec.dtype)
    return np.result_type(*asked)
