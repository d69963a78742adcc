"""What is done to the deltas of a step before a rule sees them? Parts: they clip or they add a penalty.

Each has an order of its own, so that the order in which they are written changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from symbolic.ops.deltas import is_complex
from symbolic.schedules import Settings, number

__all__ = ["L1", "L2", "Clip", "ClipNorm", "Part"]


class Part(Settings):
    """Something done to all deltas of a step, before the rule; those of lower `order` come first."""

    order: ClassVar[int] = 0

    def apply(self, weights: Sequence[Any], deltas: Sequence[Any]) -> list[Any]:
        """The deltas that the rule sees; pure, in NumPy's functions."""
        raise NotImplementedError  # abstract


class Clip(Part):
    """Every entry of every delta brought into [−limit, limit]; a complex one keeps its direction.

    >>> import numpy as np
    >>> from symbolic import Clip
    >>> Clip(1.0).apply([None], [np.array([-3.0, 0.5])])
    [array([-1. ,  0.5])]
    """

    order = 1
    limit: float

    def __init__(self, limit: float) -> None:
        self.set(limit=number(self, "limit", limit, positive=True))

    def apply(self, weights: Sequence[Any], deltas: Sequence[Any]) -> list[Any]:
        return [self._clipped(delta) for delta in deltas]

    def _clipped(self, delta: Any) -> Any:
        if _complex(delta):
            return delta * (self.limit / np.maximum(np.abs(delta), self.limit))
        return np.clip(delta, -self.limit, self.limit)


class ClipNorm(Part):
    """All deltas of the step scaled down together until their Euclidean norm is at most `limit` (Pascanu et al. 2013).

    >>> import numpy as np
    >>> from symbolic.optimizers import ClipNorm
    >>> ClipNorm(1.0).apply([None, None], [np.array([3.0]), np.array([4.0])])
    [array([0.6]), array([0.8])]
    """

    order = 2
    limit: float

    def __init__(self, limit: float) -> None:
        self.set(limit=number(self, "limit", limit, positive=True))

    def apply(self, weights: Sequence[Any], deltas: Sequence[Any]) -> list[Any]:
        norm = np.sqrt(sum(np.sum(squared(delta)) for delta in deltas))
        scale = self.limit / np.maximum(norm, self.limit)  # exactly 1 within the limit, and nothing divides by 0
        return [delta * scale for delta in deltas]


class L1(Part):
    """The penalty strength · Σ|w|, as its gradient, strength · sign(w), added to the delta.

    >>> from symbolic import L1
    >>> L1(0.5).apply([-2.0], [1.0])
    [np.float64(0.5)]
    """

    order = 3
    strength: float

    def __init__(self, strength: float) -> None:
        self.set(strength=number(self, "strength", strength))

    def apply(self, weights: Sequence[Any], deltas: Sequence[Any]) -> list[Any]:
        return [delta + self.strength * np.sign(weight) for weight, delta in zip(weights, deltas, strict=True)]


class L2(Part):
    """The penalty strength / 2 · Σw², as its gradient, strength · w, added to the delta.

    >>> from symbolic import L2
    >>> L2(0.5).apply([2.0], [1.0])
    [2.0]
    """

    order = 4
    strength: float

    def __init__(self, strength: float) -> None:
        self.set(strength=number(self, "strength", strength))

    def apply(self, weights: Sequence[Any], deltas: Sequence[Any]) -> list[Any]:
        return [delta + self.strength * weight for weight, delta in zip(weights, deltas, strict=True)]


def _complex(value: Any) -> bool:
    return isinstance(value, complex) or is_complex(value)


def squared(delta: Any) -> Any:
    """|delta|², real."""
    return np.real(delta * np.conjugate(delta)) if _complex(delta) else delta * delta
