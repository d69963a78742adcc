"""How do the entries of one array turn? Flipped, turned by right angles, rolled: each with its way back."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symbolic.literal import as_layer
from symbolic.ops.axes import Rearranged, ints
from symbolic.ops.binding import implements
from symbolic.ops.families import Movement
from symbolic.spec import Shape, normalize_axis


class Flip(Rearranged, numpy=np.flip):
    """Backwards along some axes, or along all."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"axis": None}
    samples: ClassVar[Any] = ({}, {"axis": 0}, {"axis": (0, -1)})

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (np.flip(delta, axis=self.axis),)


@implements(np.flip, samples=Flip.samples)
def flip(m: Any, axis: Any = None) -> Any:
    return Flip.make((as_layer(m),), (ints(axis, "axis= of np.flip"),))


@implements(np.flipud)
def flipud(m: Any) -> Any:
    return np.flip(as_layer(m), axis=0)


@implements(np.fliplr, operands="matrix")
def fliplr(m: Any) -> Any:
    return np.flip(as_layer(m), axis=1)


class Rot90(Rearranged, numpy=np.rot90):
    """Turned by `k` right angles in the plane of two axes."""

    __slots__ = ()
    defaults: ClassVar[Any] = {"k": 1, "axes": (0, 1)}
    samples: ClassVar[Any] = ({}, {"k": 2}, {"k": -1, "axes": (1, 0)})

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        return (np.rot90(delta, -self.k, self.axes),)


@implements(np.rot90, operands="matrix", samples=Rot90.samples)
def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Any:
    return Rot90.make((as_layer(m),), (ints(k, "k= of np.rot90"), ints(axes, "axes= of np.rot90")))


class Roll(Movement, numpy=np.roll):
    """Shifted along some axes, what falls out at the end coming in at the beginning."""

    __slots__ = ()
    shares = False
    defaults: ClassVar[Any] = {"shift": 0, "axis": None}
    samples: ClassVar[Any] = (
        {"shift": 1},
        {"shift": -2, "axis": 0},
        {"shift": (1, 2), "axis": (0, 1)},
        {"shift": 1, "axis": (0, 1)},
    )

    def moved(self, shape: Shape) -> Shape | None:
        axes = () if self.axis is None else (self.axis,) if isinstance(self.axis, int) else self.axis
        for axis in axes:
            normalize_axis(axis, len(shape))
        return shape

    def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
        back = -self.shift if isinstance(self.shift, int) else tuple([-one for one in self.shift])
        return (np.roll(delta, back, axis=self.axis),)


@implements(np.roll, samples=Roll.samples)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    return Roll.make((as_layer(a),), (ints(shift, "shift= of np.roll"), ints(axis, "axis= of np.roll")))
