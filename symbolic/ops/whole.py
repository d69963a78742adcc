"""What is counted in whole numbers only? Places in memory order, bits in bytes: integers in, integers out."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symbolic.errors import DtypeError
from symbolic.layer import Layer
from symbolic.literal import as_layer
from symbolic.ops.axes import ints, plain
from symbolic.ops.binding import implements
from symbolic.ops.operation import Operation, array
from symbolic.ops.passing import Item
from symbolic.spec import AnySpec, Spec, TupleSpec, broadcast

INDEX = np.dtype(np.intp)


class _Whole(Operation):
    """Of integers: no gradient."""

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        return (None,) * len(operands)

    def integral(self, *specs: AnySpec) -> None:
        for spec in specs:
            dtype = plain(spec).dtype
            if dtype is not None and dtype.kind not in "iub":
                raise DtypeError(f"{type(self).__name__} of {dtype}", remedy="give integers: x.astype(int)")


class RavelMultiIndex(_Whole):
    """One number for each place, from its index along every axis."""

    __slots__ = ()
    variadic = True
    functions: ClassVar[Any] = (np.ravel_multi_index,)
    defaults: ClassVar[Any] = {"dims": (), "mode": "raise", "order": "C"}

    def infer(self, *specs: AnySpec) -> AnySpec:
        self.integral(*specs)
        return Spec(broadcast([plain(spec).shape for spec in specs]), INDEX)

    def evaluate(self, *values: Any) -> Any:
        return np.ravel_multi_index(values, self.dims, self.mode, self.order)


@implements(
    np.ravel_multi_index,
    operands="places",
    samples=({"dims": (4, 5)}, {"dims": (3, 2), "mode": "wrap"}, {"dims": (2, 3), "mode": "clip", "order": "F"}),
)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    each = list(as_layer(multi_index)) if isinstance(multi_index, Layer) else multi_index
    return RavelMultiIndex(*each, dims=ints(dims, "dims of np.ravel_multi_index"), mode=mode, order=order)


class UnravelIndex(_Whole):
    """The index along every axis, from the number of each place."""

    __slots__ = ()
    functions: ClassVar[Any] = (np.unravel_index,)
    defaults: ClassVar[Any] = {"newshape": (), "order": "C"}

    def infer(self, *specs: AnySpec) -> AnySpec:
        self.integral(*specs)
        return TupleSpec([Spec(plain(specs[0]).shape, INDEX)] * len(self.newshape))

    def evaluate(self, *values: Any) -> Any:
        return np.unravel_index(values[0], self.newshape, self.order)


@implements(np.unravel_index, operands="small", samples=({"shape": (2, 3)}, {"shape": 5, "order": "F"}))
def unravel_index(indices: Any, shape: Any, order: str = "C") -> Any:
    wanted = ints(shape, "shape of np.unravel_index")
    wanted = (wanted,) if isinstance(wanted, int) else wanted
    found = UnravelIndex(indices, newshape=wanted, order=order)
    return tuple([Item(found, index=k) for k in range(len(wanted))])


# --------------------------------------------------------------------------- bits


class _Bits(_Whole):
    """Between bits and bytes, along an axis, or of all entries in a row."""

    __slots__ = ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        self.integral(*specs)
        shape = array(specs[0]).shape
        if shape is None or None in shape:
            return Spec((None,) if self.axis is None else None, np.dtype(np.uint8))
        return Spec(np.shape(self.evaluate(np.zeros(shape, np.uint8))), np.dtype(np.uint8))


class PackBits(_Bits, numpy=np.packbits):
    """Eight truths in a byte."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": None, "bitorder": "big"}
    domain = "boolean"
    samples: ClassVar[Any] = ({}, {"axis": -1}, {"axis": 0, "bitorder": "little"})


class UnpackBits(_Bits, numpy=np.unpackbits):
    """Eight numbers, each 0 or 1, for a byte."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": None, "count": None, "bitorder": "big"}
    domain = "byte"
    samples: ClassVar[Any] = ({}, {"axis": -1}, {"axis": 0, "bitorder": "little"}, {"count": 5})
