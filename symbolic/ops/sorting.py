"""In which order do entries stand, where does a value belong, and which entry is the largest?"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symbolic.layer import Layer
from symbolic.literal import as_layer
from symbolic.ops.axes import entry, ints
from symbolic.ops.binding import implements
from symbolic.ops.families import Reduction
from symbolic.ops.operation import Operation, array
from symbolic.spec import AnySpec, Spec, normalize_axes, normalize_axis, product

INDEX = np.dtype(np.intp)


class Ordered(Operation):
    """Along an axis, the last if none is named; with `None`, of all entries in a row."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": -1}
    samples: ClassVar[Any] = ({}, {"axis": 0}, {"axis": None})
    domain = "distinct"
    of_numbers: ClassVar[bool] = False

    def infer(self, *specs: AnySpec) -> AnySpec:
        spec = array(specs[0])
        if self.axis is None:
            return Spec((None if spec.shape is None else product(spec.shape),), self.result_dtype(spec))
        if spec.shape == () and self.of_numbers and self.axis in (0, -1):
            return Spec((1,), self.result_dtype(spec))
        if spec.shape is not None:
            normalize_axis(self.axis, len(spec.shape))
        return Spec(spec.shape, self.result_dtype(spec))

    def result_dtype(self, spec: Spec) -> Any:
        return spec.dtype


class Sort(Ordered, numpy=np.sort):
    """In ascending order; entries that tie share the gradient equally."""

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        evened: Any = Evened(delta, out, axis=self.axis)
        ranks: Any = Ranks(operands[0], axis=self.axis)
        return (np.take_along_axis(evened, ranks, axis=self.axis),)


class Argsort(Ordered, numpy=np.argsort):
    """The indices that would sort."""

    __slots__ = ()
    of_numbers = True

    def result_dtype(self, spec: Spec) -> Any:
        return INDEX

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,)


class Ranks(Ordered):
    """At which place each entry is when they are sorted; which of two that tie comes first is open."""

    __slots__ = ()

    def result_dtype(self, spec: Spec) -> Any:
        return INDEX

    def evaluate(self, *values: Any) -> Any:
        return np.argsort(np.argsort(values[0], axis=self.axis), axis=self.axis)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,)


class Evened(Operation):
    """A delta of sorted entries, its mean taken over every run of equal ones."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand", "sorted")
    defaults: ClassVar[Any] = {"axis": -1}
    shares = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[0]).shape, array(specs[0]).dtype)

    def evaluate(self, *values: Any) -> Any:
        axis = -1 if self.axis is None else self.axis
        entries = np.moveaxis(np.asarray(values[1]), axis, -1)
        starts = np.ones(entries.shape, bool)
        np.not_equal(entries[..., 1:], entries[..., :-1], out=starts[..., 1:])
        if starts.all():
            return values[0]
        delta = np.moveaxis(values[0], axis, -1)
        places = np.flatnonzero(starts)
        lengths = np.diff(np.append(places, starts.size))
        means = np.add.reduceat(delta.ravel(), places) / lengths
        return np.moveaxis(np.repeat(means, lengths).reshape(delta.shape), -1, axis).astype(delta.dtype)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return Evened(delta, operands[1], axis=self.axis), None


@implements(np.sort, domain="distinct")
def sort(a: Any, axis: Any = -1, kind: Any = None, stable: Any = None) -> Any:
    flat = np.ravel(a) if axis is None else a
    return Sort(flat, axis=-1 if axis is None else axis)  # how it is sorted makes no difference to the result


class _Stable(Argsort):
    """Ties keep their order."""

    __slots__ = ()

    def evaluate(self, *values: Any) -> Any:
        return np.argsort(values[0], axis=self.axis, kind="stable")


@implements(np.argsort, domain="distinct")
def argsort(a: Any, axis: Any = -1, kind: Any = None, stable: Any = None) -> Any:
    return (_Stable if stable or kind == "stable" else Argsort)(a, axis=axis)


# --------------------------------------------------------------------------- where a value stands


class _Place(Reduction):
    """The index of one entry along an axis."""

    __slots__ = ()
    of_numbers = True
    domain = "distinct"
    samples: ClassVar[Any] = ({}, {"axis": 0}, {"axis": -1, "keepdims": True})

    def result_dtype(self, spec: Spec) -> Any:
        return INDEX

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,)


class Argmax(_Place, numpy=np.argmax):
    """The index of the largest."""

    __slots__ = ()


class Argmin(_Place, numpy=np.argmin):
    """The index of the smallest."""

    __slots__ = ()


class Nanargmax(_Place, numpy=np.nanargmax):
    """The index of the largest, NaN aside."""

    __slots__ = ()


class Nanargmin(_Place, numpy=np.nanargmin):
    """The index of the smallest, NaN aside."""

    __slots__ = ()


class CountNonzero(Reduction, numpy=np.count_nonzero):
    """How many entries are not 0."""

    __slots__ = ()
    of_numbers = True

    def infer(self, *specs: AnySpec) -> AnySpec:
        found = super().infer(*specs)
        assert isinstance(found, Spec)
        return Spec(found.shape, INDEX)

    def evaluate(self, *values: Any) -> Any:
        found = np.count_nonzero(values[0], axis=self.axis, keepdims=self.keepdims)
        return np.intp(found) if isinstance(found, int) else found

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,)


class Searchsorted(Operation, numpy=np.searchsorted):
    """Where values belong among sorted ones."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")
    defaults: ClassVar[Any] = {"side": "left"}
    domain = "sorted"

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[1]).shape, INDEX)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return None, None


@implements(np.searchsorted, domain="sorted")
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    return Searchsorted(a if sorter is None else np.take(as_layer(a), sorter), v, side=side)


class Digitize(Operation, numpy=np.digitize):
    """The number of the bin that each entry falls into."""

    __slots__ = ()
    operand_names: ClassVar[tuple[str, ...]] = ("operand1", "operand2")
    defaults: ClassVar[Any] = {"right": False}
    domain = "sorted"

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[0]).shape, INDEX)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return None, None


# --------------------------------------------------------------------------- parts of an order


class Partition(Ordered, numpy=np.partition):
    """In such an order that the `kth` entries stand where sorting would put them, and no larger one before them."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"kth": 0, "axis": -1}

    def evaluate(self, *values: Any) -> Any:
        return np.partition(values[0], self.kth, axis=self.axis)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        (x,), axis = operands, self.axis
        ordered = np.take_along_axis(delta, np.argsort(out, axis=axis), axis=axis)
        evened: Any = Evened(ordered, np.sort(x, axis=axis), axis=axis)
        ranks: Any = Ranks(x, axis=axis)
        return (np.take_along_axis(evened, ranks, axis=axis),)


class Argpartition(Ordered, numpy=np.argpartition):
    """The indices that would partition."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"kth": 0, "axis": -1}
    of_numbers = True

    def result_dtype(self, spec: Spec) -> Any:
        return INDEX

    def evaluate(self, *values: Any) -> Any:
        return np.argpartition(values[0], self.kth, axis=self.axis)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,)


_PARTITIONS = ({"kth": 0}, {"kth": [0, -1], "axis": 0}, {"kth": -1, "axis": None})


@implements(np.partition, domain="distinct", operands="some", samples=_PARTITIONS)
def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect") -> Any:
    flat = np.ravel(a) if axis is None else a
    return Partition(flat, kth=ints(kth, "kth of np.partition"), axis=-1 if axis is None else axis)


@implements(np.argpartition, domain="distinct", operands="some", samples=_PARTITIONS)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect") -> Any:
    flat = np.ravel(a) if axis is None else a
    return Argpartition(flat, kth=ints(kth, "kth of np.argpartition"), axis=-1 if axis is None else axis)


class Lexsort(Operation):
    """The indices that sort by the last operand, where it ties by the one before, and so on."""

    __slots__ = ()
    variadic = True
    functions: ClassVar[Any] = (np.lexsort,)
    defaults: ClassVar[Any] = {"axis": -1}

    def infer(self, *specs: AnySpec) -> AnySpec:
        return Spec(array(specs[0]).shape, INDEX)

    def evaluate(self, *values: Any) -> Any:
        return np.lexsort(values, axis=self.axis)

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,) * len(operands)


@implements(np.lexsort, operands="keys", domain="integer")
def lexsort(keys: Any, axis: Any = -1) -> Any:
    rows = list(as_layer(keys)) if isinstance(keys, (Layer, np.ndarray)) else keys
    if not len(rows):
        raise TypeError("np.lexsort of no keys; give one at least")
    return Lexsort(*rows, axis=axis)


@implements(np.sort_complex, domain="distinct", operands="some")
def sort_complex(a: Any) -> Any:
    ordered: Any = np.sort(as_layer(a))
    if ordered.dtype.kind == "c":
        return ordered
    return np.astype(ordered, np.dtype(np.complex64 if ordered.dtype.char in "bhBH" else np.complex128))


class Kept(Operation):
    """Which places along an axis stand from the first entry that is not 0 to the last; `trim` names what is cut off."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": 0, "trim": "fb"}

    def infer(self, *specs: AnySpec) -> AnySpec:
        shape = array(specs[0]).shape
        return Spec((None if shape is None else shape[self.axis],), np.dtype(bool))

    def evaluate(self, *values: Any) -> Any:
        found, kept = np.nonzero(values[0])[self.axis], np.zeros(values[0].shape[self.axis], bool)
        if found.size:
            first, last = (
                int(found.min()) if "f" in self.trim else 0,
                int(found.max()) + 1 if "b" in self.trim else None,
            )
            kept[first:last] = True
        return kept

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (None,)


@implements(np.trim_zeros, operands="vector", samples=({}, {"trim": "f"}, {"trim": "B"}))
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    layer: Any = as_layer(filt)
    if trim.lower() not in ("f", "b", "fb", "bf"):
        raise ValueError(f"np.trim_zeros with trim={trim!r}; use 'f', 'b' or 'fb'")
    kept = layer
    for one in normalize_axes(ints(axis, "axis of np.trim_zeros"), layer.ndim):
        kept = kept[entry(Kept(layer, axis=one, trim=trim.lower()), one)]
    return kept
