"""Which values are there, each once, and which of them do two arrays have in common?

How many values there are, only the run knows. A value that several entries have shares its gradient among them
equally.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from symbolic.layer import unsupported
from symbolic.literal import as_layer
from symbolic.ops.axes import plain
from symbolic.ops.binding import implements
from symbolic.ops.deltas import ReshapeLike, SizeOf
from symbolic.ops.operation import Operation, array, static
from symbolic.spec import AnySpec, Spec, normalize_axis, product

INDEX = np.dtype(np.intp)


class _OfValues(Operation):
    """Something of the distinct values of all entries, or of the distinct rows along an axis."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": None, "equal_nan": True}

    def found(self, x: Any, *wanted: str) -> Any:
        options: Any = {f"return_{name}": True for name in wanted}
        function: Any = np.unique
        return function(x, axis=self.axis, equal_nan=self.equal_nan, **options)


class Unique(_OfValues):
    """The distinct values, ascending; without `ordered` in the order that NumPy has for those who need none."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.unique,)
    defaults: ClassVar[Any] = {"axis": None, "equal_nan": True, "ordered": True}

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = plain(specs[0])
        if self.axis is None:
            return Spec((None,), spec.dtype)
        if spec.shape is None:
            return Spec(None, spec.dtype)
        axis = normalize_axis(self.axis, len(spec.shape))
        return Spec((*spec.shape[:axis], None, *spec.shape[axis + 1 :]), spec.dtype)

    def evaluate(self, *values: Any) -> Any:
        return self.found(values[0]) if self.ordered else np.unique_values(values[0])

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        options = {"axis": self.axis, "equal_nan": self.equal_nan}
        places, counts = Inverse(operand, **options), Counts(operand, **options)
        if not self.ordered:
            delta = delta[np.argsort(out)]
        if self.axis is None:
            return (ReshapeLike((delta / counts)[places], operand),)
        rows = np.moveaxis(delta, self.axis, -1) / counts
        return (np.moveaxis(rows[..., places], -1, self.axis),)


class _Numbers(_OfValues):
    """Whole numbers about the distinct values: no gradient."""

    __slots__ = ()
    what: ClassVar[str] = ""

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec((None,), INDEX)

    def evaluate(self, *values: Any) -> Any:
        return np.ravel(self.found(values[0], self.what)[1])

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


class Inverse(_Numbers):
    """The number of the distinct value that each entry has, the entries in order."""

    __slots__ = ()
    what = "inverse"

    def infer(self, *specs: AnySpec) -> AnySpec:
        shape = array(specs[0]).shape
        if shape is None:
            return Spec((None,), INDEX)
        return Spec((product(shape) if self.axis is None else shape[self.axis],), INDEX)


class Counts(_Numbers):
    """How many entries have each distinct value."""

    __slots__ = ()
    what = "counts"


class FirstPlaces(_Numbers):
    """Where each distinct value stands first."""

    __slots__ = ()
    what = "index"


@implements(
    np.unique,
    domain="distinct",
    samples=(
        {},
        {"axis": 0},
        {"axis": -1, "equal_nan": False},
        {"return_index": True},
        {"return_inverse": True, "return_counts": True},
        {"axis": 0, "return_inverse": True, "return_counts": True, "return_index": True},
    ),
)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    if not sorted:
        raise unsupported("np.unique with sorted=False", "leave sorted= out: ascending is an order, too")
    x: Any = as_layer(ar)
    if axis is not None:
        axis = normalize_axis(int(static(axis, "axis of np.unique")), x.ndim)
    options = {"axis": axis, "equal_nan": bool(equal_nan)}
    more = [(return_index, FirstPlaces), (return_inverse, Inverse), (return_counts, Counts)]
    found = [_shaped(cls(x, **options), x, axis) for wanted, cls in more if wanted]
    values = Unique(x, **options)
    return (values, *found) if found else values


def _shaped(numbers: Any, x: Any, axis: Any) -> Any:
    """The numbers of the values of all entries stand as the entries do."""
    return ReshapeLike(numbers, x) if isinstance(numbers, Inverse) and axis is None else numbers


def _named(function: Callable[..., Any]) -> type[Any]:
    return type(function(np.zeros(1)))


@implements(np.unique_values, operands="real_numbers", domain="distinct")
def unique_values(x: Any) -> Any:
    return Unique(x, equal_nan=False, ordered=False)


@implements(np.unique_counts, domain="distinct")
def unique_counts(x: Any) -> Any:
    return _named(np.unique_counts)(*unique(x, return_counts=True, equal_nan=False))


@implements(np.unique_inverse, domain="distinct")
def unique_inverse(x: Any) -> Any:
    return _named(np.unique_inverse)(*unique(x, return_inverse=True, equal_nan=False))


@implements(np.unique_all, domain="distinct")
def unique_all(x: Any) -> Any:
    return _named(np.unique_all)(*unique(x, True, True, True, equal_nan=False))


# --------------------------------------------------------------------------- two sets


class IsIn(Operation):
    """Whether each entry of the first operand is one of the second's."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")
    functions: ClassVar[Any] = (np.isin,)
    defaults: ClassVar[Any] = {"invert": False}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[0]).shape, np.dtype(bool))

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return None, None


@implements(np.isin, operands="sets", domain="integer", samples=({}, {"invert": True}, {"kind": "sort"}))
def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, kind: Any = None) -> Any:
    """How it is found out (`kind`, `assume_unique`) makes no difference to the result."""
    return IsIn(element, test_elements, invert=bool(invert))


if hasattr(np, "in1d"):  # an older name, gone from NumPy 2.4

    @implements(np.in1d, operands="sets", domain="integer")  # type: ignore[attr-defined,unused-ignore]  # see above
    def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False, kind: Any = None) -> Any:
        return IsIn(np.ravel(as_layer(ar1)), ar2, invert=bool(invert))


def _each_once(arrays: Any, assume_unique: bool) -> Iterator[Any]:
    return (np.ravel(as_layer(one)) if assume_unique else unique(np.ravel(as_layer(one))) for one in arrays)


@implements(np.intersect1d, operands="sets", domain="integer", samples=({}, {"return_indices": True}))
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    one, other = _each_once((ar1, ar2), assume_unique)
    both = np.concatenate([one, other])
    ordered: Any = np.sort(both)
    twice = np.equal(ordered[1:], ordered[:-1])
    if not return_indices:
        return ordered[:-1][twice]
    order: Any = np.argsort(both, kind="stable")
    places = [order[:-1][twice], order[1:][twice] - SizeOf(one)]
    if not assume_unique:
        firsts = [FirstPlaces(np.ravel(as_layer(given))) for given in (ar1, ar2)]
        places = [first[place] for first, place in zip(firsts, places, strict=True)]
    return (ordered[:-1][twice], *places)


@implements(np.union1d, operands="sets", domain="distinct")
def union1d(ar1: Any, ar2: Any) -> Any:
    return unique(np.concatenate([np.ravel(as_layer(ar1)), np.ravel(as_layer(ar2))]))


@implements(np.setdiff1d, operands="sets", domain="distinct", samples=({}, {"assume_unique": True}))
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    one, other = _each_once((ar1, ar2), assume_unique)
    return one[IsIn(one, other, invert=True)]


class Alone(Operation):
    """Whether an entry of a sorted array is different from both its neighbours."""

    __slots__ = ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[0]).shape, np.dtype(bool))

    def evaluate(self, *values: Any) -> Any:
        alone = np.ones(len(values[0]) + 1, bool)
        np.not_equal(values[0][1:], values[0][:-1], out=alone[1:-1])
        return alone[1:] & alone[:-1]

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


@implements(np.setxor1d, operands="sets", domain="distinct")
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    ordered: Any = np.sort(np.concatenate(list(_each_once((ar1, ar2), assume_unique))))
    return ordered[Alone(ordered)]
