"""How fast does a step go? A schedule, called with the number of steps taken, answers with the learning rate.

Any callable of one number will do; these are the usual ones. Steps count from 0, and a schedule is asked once for each
step, however many weights move by it. The checks of such settings, which optimizers share, stand here too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

import numpy as np

from symbolic.errors import DtypeError, SymbolicError
from symbolic.layer import refuse

__all__ = ["CosineDecay", "ExponentialDecay", "PolynomialDecay", "SettingError", "StepDecay", "Warmup"]


class SettingError(SymbolicError, ValueError):
    """A number or a part that an optimizer, a schedule or a penalty cannot work with."""


def number(owner: object, name: str, value: Any, *, positive: bool = False, below: float = math.inf) -> float:
    """`value` as a float; DtypeError if it is no real number, SettingError if it is out of range."""
    seen = f"{type(owner).__name__} with {name}={value!r}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        refuse(seen, f"give a real number for {name}", DtypeError)
    if not 0 <= value < below or (positive and value == 0):
        limit = "" if below == math.inf else f" and less than {below:g}"
        refuse(seen, f"give a finite number {'above' if positive else 'of at least'} 0{limit}", SettingError)
    return float(value)


def steps_of(owner: object, name: str, value: Any, least: int = 1) -> int:
    """`value` as a count of steps."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        refuse(f"{type(owner).__name__} with {name}={value!r}", f"give an integer for {name}", DtypeError)
    if value < least:
        refuse(f"{type(owner).__name__} with {name}={value!r}", f"give at least {least}", SettingError)
    return int(value)


class Settings:
    """Numbers that are set once; equal to those of the same class and values, printed as the call that makes them."""

    def set(self, **values: Any) -> None:
        vars(self).update(values)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is fixed: make a new one instead of setting .{name}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(written, vars(self).values()))})"


def written(value: Any) -> str:
    """A setting as it stands in a call: a plain function by its name."""
    return str(getattr(value, "__qualname__", None) or repr(value))


class Schedule(Settings):
    """A learning rate for every step."""

    def __call__(self, step: int) -> float:
        raise NotImplementedError  # abstract


Rate: TypeAlias = float | Callable[[int], float]


def rate_at(owner: object, rate: Rate, step: int) -> float:
    """The rate of a step; SettingError or DtypeError for what is none."""
    return number(owner, f"learning_rate at step {step}", rate(step)) if callable(rate) else rate


def checked_rate(owner: object, rate: Rate, name: str = "learning_rate") -> Rate:
    """A constant as a float, a schedule as it is."""
    return rate if callable(rate) else number(owner, name, rate)


class ExponentialDecay(Schedule):
    """start · factor^(step / every): `factor` times less after `every` steps, smoothly.

    >>> from symbolic import ExponentialDecay
    >>> [ExponentialDecay(0.5, 0.25, 2)(step) for step in range(3)]
    [0.5, 0.25, 0.125]
    """

    start: float
    factor: float
    every: int

    def __init__(self, start: float, factor: float, every: int = 1) -> None:
        self.set(start=number(self, "start", start), factor=number(self, "factor", factor))
        self.set(every=steps_of(self, "every", every))

    def __call__(self, step: int) -> float:
        return float(self.start * self.factor ** (step / self.every))


class StepDecay(Schedule):
    """start · factor^⌊step / every⌋: `factor` times less at once, every so many steps.

    >>> from symbolic import StepDecay
    >>> [StepDecay(1.0, 0.5, 2)(step) for step in range(5)]
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    start: float
    factor: float
    every: int

    def __init__(self, start: float, factor: float, every: int) -> None:
        self.set(start=number(self, "start", start), factor=number(self, "factor", factor))
        self.set(every=steps_of(self, "every", every))

    def __call__(self, step: int) -> float:
        return float(self.start * self.factor ** (step // self.every))


class CosineDecay(Schedule):
    """From `start` to `end` in `steps` steps along half a cosine, and `end` from then on.

    end + (start − end)(1 + cos(π step / steps)) / 2: one period of Loshchilov and Hutter, SGDR (2017), equation 5.

    >>> from symbolic import CosineDecay
    >>> [round(CosineDecay(1.0, 4)(step), 3) for step in range(6)]
    [1.0, 0.854, 0.5, 0.146, 0.0, 0.0]
    """

    start: float
    steps: int
    end: float

    def __init__(self, start: float, steps: int, end: float = 0.0) -> None:
        self.set(start=number(self, "start", start), steps=steps_of(self, "steps", steps), end=number(self, "end", end))

    def __call__(self, step: int) -> float:
        share = min(step, self.steps) / self.steps
        return self.end + (self.start - self.end) * (1 + math.cos(math.pi * share)) / 2


class PolynomialDecay(Schedule):
    """end + (start − end)(1 − step / steps)^power, and `end` from step `steps` on; linear with power 1.

    >>> from symbolic import PolynomialDecay
    >>> [PolynomialDecay(1.0, 4, power=2.0)(step) for step in range(6)]
    [1.0, 0.5625, 0.25, 0.0625, 0.0, 0.0]
    """

    start: float
    steps: int
    end: float
    power: float

    def __init__(self, start: float, steps: int, end: float = 0.0, power: float = 1.0) -> None:
        self.set(start=number(self, "start", start), steps=steps_of(self, "steps", steps), end=number(self, "end", end))
        self.set(power=number(self, "power", power, positive=True))

    def __call__(self, step: int) -> float:
        left = 1 - min(step, self.steps) / self.steps
        return float(self.end + (self.start - self.end) * left**self.power)


class Warmup(Schedule):
    """In `steps` equal increments up to the first rate of `then`, a number or a schedule, which then begins.

    No step has the rate 0, and the last one of the warm-up has the full one (Goyal et al. 2017, section 2.2).

    >>> from symbolic import Warmup
    >>> [Warmup(4, 1.0)(step) for step in range(6)]
    [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    """

    steps: int
    then: Rate

    def __init__(self, steps: int, then: Rate) -> None:
        self.set(steps=steps_of(self, "steps", steps, least=0), then=checked_rate(self, then, "then"))

    def __call__(self, step: int) -> float:
        if step >= self.steps:
            return rate_at(self, self.then, step - self.steps)
        return rate_at(self, self.then, 0) * (step + 1) / self.steps
