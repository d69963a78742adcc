"""What is an optimizer? A pure formula that moves weights, and the state that it keeps of each.

The formula is written in NumPy functions and operators, so it runs on arrays and on Python numbers, and given layers
it writes the graph of an update that a machine runs together with the gradient. The rules are in `optimizers`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from symbolic.annotated import signature, written_hints
from symbolic.changes import COMMITTING, Change, Owned, alone, commit
from symbolic.context import here, user_frame
from symbolic.errors import DtypeError, ShapeError, warn
from symbolic.layer import Layer, refuse
from symbolic.literal import delta_spec
from symbolic.ops.deltas import SumLike, fit
from symbolic.ops.passing import zeros_like_delta
from symbolic.parts import Part
from symbolic.printing import bits
from symbolic.schedules import Rate, SettingError, checked_rate, number, rate_at, written
from symbolic.spec import Spec, spec_of
from symbolic.states import LAST_MOVER, PerWeight, State, Steps

__all__ = ["Optimizer", "State"]


_SHARE: dict[str, Any] = {"below": 1.0}  # the share of the old that is kept
_INTERNAL = {"learning_rate", "parts", "_ordered", "_fixed", "_key", "_states", "_steps"}
_LIMITS = {"momentum": _SHARE, "decay": _SHARE, "beta1": _SHARE, "beta2": _SHARE, "epsilon": {"positive": True}}


class Optimizer:
    """A rule that moves weights, with its parts, its learning rate (a number or a schedule) and a state per weight.

    A subclass names what it keeps of each weight in `names` (one called `squares` is real for complex weights too),
    hands its own settings to `__init__`, and writes `rule`. SettingError (a ValueError) for a number out of range or a
    part given twice, DtypeError (a TypeError) for what is no number or no part, and for a setting that is not declared.

    >>> from symbolic import SGD, L2, Clip
    >>> optimizer = SGD(0.1, L2(0.5), Clip(1.0))
    >>> optimizer
    SGD(0.1, L2(0.5), Clip(1.0))
    >>> optimizer.formula([2.0], [1.0], [()], optimizer.rate(), 1.0)
    ([1.8], [()])
    """

    names: ClassVar[tuple[str, ...]] = ()
    slots: ClassVar[int] = 0
    parts: tuple[Part, ...]
    learning_rate: Rate

    _fixed: tuple[tuple[str, float], ...]  # the settings
    _ordered: tuple[Part, ...]
    _key: Hashable | None
    _states: PerWeight
    _steps: Steps

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.slots = len(cls.names)

    def __init__(self, learning_rate: Rate, *parts: Part, **settings: float) -> None:
        if type(self).__init__ is Optimizer.__init__:
            _check_names(type(self), settings)
        checked = {name: number(self, name, value, **_LIMITS.get(name, {})) for name, value in settings.items()}
        self.learning_rate = learning_rate
        ordered = tuple(sorted(_checked_parts(self, parts), key=lambda part: part.order))
        vars(self).update(checked, parts=parts, _ordered=ordered, _fixed=tuple(checked.items()))
        self._key = None
        self._states, self._steps = PerWeight(), Steps(type(self))

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "learning_rate":
            value = checked_rate(self, value)
        elif name == "parts" or name in dict(vars(self).get("_fixed", ())):
            raise AttributeError(f"{type(self).__name__}.{name} is fixed: make a new optimizer instead of setting it")
        self._set(name, value)
        if name not in _INTERNAL:
            self._set("_key", None)  # a subclass's own attribute may change its rule

    def _set(self, name: str, value: Any) -> None:
        if "_steps" not in vars(self) or name == "_key":
            object.__setattr__(self, name, value)
            return
        with COMMITTING:
            self._steps.own()  # what takes steps just now has read the settings
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        usual = signature(type(self)).parameters
        unusual = [(name, value) for name, value in self._fixed if name not in usual or usual[name].default != value]
        given = [f"{name}={value!r}" for name, value in unusual]
        return f"{type(self).__name__}({', '.join([written(self.learning_rate), *map(repr, self.parts), *given])})"

    # ------------------------------------------------------------------ the formula
    def rule(self, weight: Any, delta: Any, state: State, rate: Any, count: Any) -> tuple[Any, State]:
        """The new weight and its new state; pure, in NumPy's functions, without a choice by value."""
        raise NotImplementedError  # abstract

    def formula(
        self, weights: Sequence[Any], deltas: Sequence[Any], states: Sequence[State], rate: Any, count: Any
    ) -> tuple[list[Any], list[State]]:
        """One step of all weights, pure: arrays, Python numbers or layers in, the same out.

        `count` is the number of this step, from 1. Weights come back in the dtype of their deltas: float32 stays
        float32, a Python number a Python float (also that of an int weight, which whoever keeps it rounds).
        """
        shaped = list(deltas)
        for part in self._ordered:
            shaped = [_as(new, old) for new, old in zip(part.apply(weights, shaped), deltas, strict=True)]
        steps = zip(weights, shaped, states, strict=True)
        moved = [self.rule(weight, delta, state, rate, count) for weight, delta, state in steps]
        kept = [tuple(map(_as, new, old)) for (_, new), old in zip(moved, states, strict=True)]
        return [_as(new, weight) for (new, _), weight in zip(moved, weights, strict=True)], kept

    def key(self) -> Hashable:
        """What the formula depends on: class, settings, parts and own attributes, neither rate nor count."""
        if self._key is None:
            own = [(name, bits(value)) for name, value in vars(self).items() if name not in _INTERNAL]
            self._set("_key", (type(self), self._fixed, self._ordered, tuple(own)))
        return self._key

    def rate(self) -> float:
        """The learning rate of the coming step."""
        return rate_at(self, self.learning_rate, self.count)

    # ------------------------------------------------------------------ the state
    @property
    def count(self) -> int:
        """The number of steps taken."""
        return self._steps.taken

    def initial(self, value: Any) -> State:
        """The state of a weight that has none, from its value: zeros."""
        return tuple([_zeros(value.real if name == "squares" else value) for name in self.names])

    def state_of(self, weight: Any) -> State:
        """The state of a weight now."""
        if not self.names:
            return ()
        known: State | None = self._states.get(weight)
        return self.initial(weight.cell.value) if known is None else known

    def begin(self, weights: Sequence[Any]) -> None:
        """Warn if an optimizer with a state is made anew at each step of these weights."""
        stateful = bool(self.names) or callable(self.learning_rate)
        if stateful and not self.count and any(map(self._took_over, weights)):
            name = type(self).__name__
            warn(
                f"{name} starts without state, and the weights were moved last by another {name} that took one step; "
                f"make one {name} and give the same object to every step",
                _depth(),
            )

    def _took_over(self, weight: Any) -> bool:
        last: Steps | None = LAST_MOVER.get(weight)
        return last is not None and last is not self._steps and last.kind is type(self) and last.taken == 1

    def changes(self, weights: Sequence[Any], new_states: Sequence[State]) -> list[Change]:
        """What keeps the states of a step that was made, and counts it."""
        found: list[Change] = [(self._steps, "taken", self._steps.taken + 1)]
        if self.names:
            found.append(self._states.change(weights, new_states))
        if not self.has_moved(weights):
            found.append(LAST_MOVER.change(weights, [self._steps] * len(weights)))
        return found

    def has_moved(self, weights: Sequence[Any]) -> bool:
        """Whether it is what has moved each of them last."""
        return all(LAST_MOVER.get(weight) is self._steps for weight in weights)

    def lent(self) -> tuple[Owned, ...]:
        """What somebody who takes one step after the other holds meanwhile; `returned` brings it back."""
        return self._steps, self._states

    def returned(self, weights: Sequence[Any], states: Sequence[State], count: int) -> list[Change]:
        """The states and the count, as they are after such steps."""
        return [(self._steps, "_taken", count), *([self._states.returned(weights, states)] if self.names else [])]

    def commit(self, weights: Sequence[Any], new_states: Sequence[State]) -> None:
        """Make these changes, all of them at once."""
        with COMMITTING:
            commit(self.changes(weights, new_states))

    def state_dict(self, weights: Mapping[str, Any]) -> dict[str, Any]:
        """The count and the state of the weights (`net.weights()`) as arrays by name, fit for `np.savez`."""
        saved = {"count": np.asarray(self.count)}
        for path, weight in weights.items():
            for name, value in zip(self.names, self.state_of(weight), strict=True):
                saved[f"{path}.{name}"] = np.array(value)
        return saved

    def load_state_dict(self, weights: Mapping[str, Any], saved: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was taken, bit for bit.

        SettingError for entries missing or left over, ShapeError or DtypeError for one that does not fit its weight;
        then nothing is changed.
        """
        wanted = ["count", *(f"{path}.{name}" for path in weights for name in self.names)]
        wrong = sorted(set(wanted) ^ set(saved))
        if wrong:
            seen = f"a saved state of {type(self).__name__} with {', '.join(wrong)} missing or left over"
            refuse(seen, "load what the same optimizer saved for the same weights", SettingError)
        restored = [self._restored(path, weight, saved) for path, weight in weights.items()]
        count = int(saved["count"])
        alone((self,), lambda: self._load(list(weights.values()), restored, count))

    def _load(self, weights: Sequence[Any], states: Sequence[State], count: int) -> None:
        with COMMITTING:
            commit([self._states.change(weights, states), (self._steps, "taken", count)])

    def _restored(self, path: str, weight: Any, saved: Mapping[str, Any]) -> State:
        blank = zip(self.names, self.initial(weight.cell.value), strict=True)
        return tuple([_like_saved(f"{path}.{name}", zero, np.asarray(saved[f"{path}.{name}"])) for name, zero in blank])

    # ------------------------------------------------------------------ with
    def __enter__(self) -> Self:
        here.optimizers = (*here.optimizers, self)
        return self

    def __exit__(self, *error: object) -> None:
        position = max(k for k, one in enumerate(here.optimizers) if one is self)
        here.optimizers = here.optimizers[:position] + here.optimizers[position + 1 :]


def _check_names(kind: type[Optimizer], settings: Mapping[str, float]) -> None:
    """A class that takes any setting has those that it declares: a misspelt one would change nothing."""
    declared = {name for one in kind.__mro__ for name in written_hints(one)}
    for name in settings:
        if name not in declared and not hasattr(kind, name):
            remedy = "write Momentum(…, momentum=…)" if name == "momentum" else f"leave {name} out, or declare it"
            refuse(f"{kind.__name__} with the setting {name}, which it does not have", remedy, DtypeError)


def _checked_parts(owner: Optimizer, parts: tuple[Any, ...]) -> tuple[Part, ...]:
    name = type(owner).__name__
    for part in parts:
        if not isinstance(part, Part):
            seen = f"{name} with {written(part)}, which is no part"
            refuse(seen, "give the rate first, then parts such as L2(0.01) or Clip(1.0), settings by name", DtypeError)
    twice = [kind.__name__ for kind, times in Counter(map(type, parts)).items() if times > 1]
    if twice:
        refuse(f"{name} with {twice[0]} given twice", f"give one {twice[0]}", SettingError)
    return parts


def _zeros(value: Any) -> Any:
    return np.zeros_like(value) if isinstance(value, np.ndarray) else zeros_like_delta(value)


def _like_saved(name: str, zero: Any, saved: Any) -> Any:
    """A saved entry as the kind of value that the state has; another shape or dtype cannot be the same state."""
    if saved.shape != np.shape(zero):
        seen = f"a saved state {name} of shape {saved.shape} for a weight of shape {np.shape(zero)}"
        refuse(seen, "load what was saved for this network", ShapeError)
    if saved.dtype != np.asarray(zero).dtype:
        seen = f"a saved state {name} of dtype {saved.dtype} for one of {np.asarray(zero).dtype}"
        refuse(seen, "load what was saved for this network", DtypeError)
    return np.array(saved) if isinstance(zero, np.ndarray) else type(zero)(saved[()])


def _depth() -> int:
    """How many frames above the caller the user's program is."""
    frame, target, depth = sys._getframe(1), user_frame(sys._getframe(1)), 1
    while target is not None and frame is not target and frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def _as(value: Any, model: Any) -> Any:
    """`value` in the dtype of the model's delta: what was mixed in (a norm, a root) must not widen a float32."""
    if isinstance(value, Layer):
        return SumLike(value, model)
    target = delta_spec(spec_of(model))
    assert isinstance(target, Spec)
    if np.shape(value) != target.shape:
        refuse(
            f"an optimizer's rule gave shape {np.shape(value)} for a weight of shape {target.shape}",
            "give a delta, and write a rule, of the weight's shape",
            ShapeError,
        )
    return fit(value, target.shape, target.dtype, target.python)  # type: ignore[arg-type]  # of a value: known
