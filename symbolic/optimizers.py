"""By which rule does a weight move? One class a rule, each with its formula and where it comes from.

Whatever order its parts are written in, they are applied as clip, penalty, momentum or adaptive rule, rate.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symbolic.optimizer import Optimizer, State
from symbolic.parts import L1, L2, Clip, ClipNorm, Part, squared
from symbolic.schedules import Rate

__all__ = [
    "L1",
    "L2",
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "Clip",
    "ClipNorm",
    "Momentum",
    "Nesterov",
    "Optimizer",
    "Part",
    "RMSprop",
]


class SGD(Optimizer):
    """w − rate · delta (Robbins and Monro 1951).

    >>> from symbolic import SGD
    >>> SGD(0.1).formula([2.0], [3.0], [()], 0.1, 1.0)[0]
    [1.7]
    """

    def rule(self, weight: Any, delta: Any, state: State, rate: Any, count: Any) -> tuple[Any, State]:
        return weight - rate * delta, ()


class _Velocity(Optimizer):
    """What the rules with a momentum share."""

    names: ClassVar[tuple[str, ...]] = ("velocity",)
    momentum: float

    def __init__(self, learning_rate: Rate, *parts: Part, momentum: float = 0.9) -> None:
        super().__init__(learning_rate, *parts, momentum=momentum)


class Momentum(_Velocity):
    """v ← momentum · v + delta; w − rate · v (Polyak 1964). The rate is applied last, so a schedule acts at once.

    >>> from symbolic import Momentum
    >>> Momentum(0.5).formula([2.0], [1.0], [(1.0,)], 0.5, 2.0)
    ([1.05], [(1.9,)])
    """

    def rule(self, weight: Any, delta: Any, state: State, rate: Any, count: Any) -> tuple[Any, State]:
        velocity = self.momentum * state[0] + delta
        return weight - rate * velocity, (velocity,)


class Nesterov(_Velocity):
    """v ← momentum · v + delta; w − rate · (delta + momentum · v): the momentum looks one step ahead.

    Sutskever et al. 2013, equations 3 and 4, told in the weights at which the gradient is taken.

    >>> from symbolic import Nesterov
    >>> Nesterov(0.5, momentum=0.5).formula([2.0], [1.0], [(1.0,)], 0.5, 2.0)
    ([1.125], [(1.5,)])
    """

    def rule(self, weight: Any, delta: Any, state: State, rate: Any, count: Any) -> tuple[Any, State]:
        velocity = self.momentum * state[0] + delta
        return weight - rate * (delta + self.momentum * velocity), (velocity,)


class Adagrad(Optimizer):
    """s ← s + delta²; w − rate · delta / (√s + epsilon) (Duchi, Hazan and Singer 2011).

    >>> from symbolic import Adagrad
    >>> Adagrad(0.5).formula([2.0], [4.0], [(9.0,)], 0.5, 2.0)[1]
    [(25.0,)]
    """

    names: ClassVar[tuple[str, ...]] = ("squares",)
    epsilon: float

    def __init__(self, learning_rate: Rate = 0.01, *parts: Part, epsilon: float = 1e-10) -> None:
        super().__init__(learning_rate, *parts, epsilon=epsilon)

    def rule(self, weight: Any, delta: Any, state: State, rate: Any, count: Any) -> tuple[Any, State]:
        squares = state[0] + squared(delta)
        return weight - rate * (delta / (np.sqrt(squares) + self.epsilon)), (squares,)


class RMSprop(Optimizer):
    """s ← decay · s + (1 − decay) · delta²; w − rate · delta / (√s + epsilon) (Hinton 2012, lecture 6e).

    >>> from symbolic import RMSprop
    >>> RMSprop(0.5, decay=0.5).formula([2.0], [4.0], [(9.0,)], 0.5, 2.0)[1]
    [(12.5,)]
    """

    names: ClassVar[tuple[str, ...]] = ("squares",)
    decay: float
    epsilon: float

    def __init__(self, learning_rate: Rate = 0.001, *parts: Part, decay: float = 0.9, epsilon: float = 1e-8) -> None:
        super().__init__(learning_rate, *parts, decay=decay, epsilon=epsilon)

    def rule(self, weight: Any, delta: Any, state: State, rate: Any, count: Any) -> tuple[Any, State]:
        squares = self.decay * state[0] + (1 - self.decay) * squared(delta)
        return weight - rate * (delta / (np.sqrt(squares) + self.epsilon)), (squares,)


class _Moments(Optimizer):
    """What the Adam family shares: running means of the delta and of its square, without their bias towards zero."""

    names: ClassVar[tuple[str, ...]] = ("mean", "squares")
    beta1: float
    beta2: float
    epsilon: float

    def moments(self, delta: Any, state: State, count: Any) -> tuple[Any, Any, State]:
        """The direction m / (1 − β₁ᵗ) / (√(s / (1 − β₂ᵗ)) + ε), as an array and a number to multiply it with."""
        mean = self.beta1 * state[0] + (1 - self.beta1) * delta
        squares = self.beta2 * state[1] + (1 - self.beta2) * squared(delta)
        # not np.sqrt: the root of a Python float must stay a weak Python float
        root = (1 - self.beta2**count) ** 0.5
        return mean / (np.sqrt(squares) + self.epsilon * root), root / (1 - self.beta1**count), (mean, squares)


class Adam(_Moments):
    """w − rate · m̂ / (√ŝ + epsilon), m̂ and ŝ being bias-corrected means of delta and delta² (Kingma and Ba 2015).

    Algorithm 1: the correction is by the optimizer's count of steps, and epsilon stands outside the root.

    >>> from symbolic import Adam
    >>> round(Adam(0.1).formula([2.0], [4.0], [(0.0, 0.0)], 0.1, 1.0)[0][0], 6)
    1.9
    """

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        *parts: Part,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None:
        super().__init__(learning_rate, *parts, beta1=beta1, beta2=beta2, epsilon=epsilon)

    def rule(self, weight: Any, delta: Any, state: State, rate: Any, count: Any) -> tuple[Any, State]:
        direction, scale, moments = self.moments(delta, state, count)
        return weight - rate * scale * direction, moments


class AdamW(_Moments):
    """w − rate · (m̂ / (√ŝ + epsilon) + weight_decay · w): Adam, whose moments do not see the decay.

    Loshchilov and Hutter 2019, algorithm 2, with the decay under the rate, as it is commonly run. `L2` is the other
    way, through the moments.

    >>> from symbolic import AdamW
    >>> round(AdamW(0.1, weight_decay=0.5).formula([2.0], [4.0], [(0.0, 0.0)], 0.1, 1.0)[0][0], 6)
    1.8
    """

    weight_decay: float

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        *parts: Part,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(learning_rate, *parts, beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=weight_decay)

    def rule(self, weight: Any, delta: Any, state: State, rate: Any, count: Any) -> tuple[Any, State]:
        direction, scale, moments = self.moments(delta, state, count)
        return weight - rate * scale * direction - rate * self.weight_decay * weight, moments
