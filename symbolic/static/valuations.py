"""What does a call give for named sizes? The rules are asked with the names, and held against numbers in their place.

A rule that copes with a name answers by itself. Where one cannot, it is asked with numbers: distinct primes, small
ones, all equal, all ones. What is read off these answers, `n-1` say, is only kept if it holds in each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from symbolic.polynomial import Size, is_name, same
from symbolic.spec import AnySpec, Spec, same_dtype
from symbolic.static.abstract import UNKNOWN, Answer, Unsettled, Value, is_constant, run
from symbolic.static.alike import alike
from symbolic.static.guesses import over_guesses
from symbolic.static.nesting import leaves, mapped, respecified, sizes_of

Valuation = Mapping[str, int]
_LARGE = (13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
_LARGER = (101, 97, 89, 83, 73, 71, 67, 61, 59, 53)  # the other way round: neither name is the smaller one
_SMALL = (3, 2, 5, 7, 11, 13, 17, 19, 23, 29)
_MIXED = ((6, 6), (1, 1), (1, 4), (4, 1))


class Call(NamedTuple):
    """A function and its arguments, in which named sizes may stand."""

    function: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]

    def attempt(self, sizes: Callable[[Any], Any] | None = None) -> Answer | None:
        """The answer with other sizes in the place of the named ones; `None` where the rules have none."""
        try:
            return run(*(self if sizes is None else self.changed(lambda one: replaced(one, sizes))))[0]
        except Unsettled:
            return None

    def first(self) -> tuple[Answer | None, bool]:
        """The answer with the names as they are, and whether it needs no proof."""
        try:
            return run(*self)
        except Unsettled:
            return None, False

    def changed(self, change: Callable[[Any], Any]) -> Call:
        named = {name: change(one) for name, one in self.kwargs.items()}
        return Call(self.function, [change(one) for one in self.args], named)

    def guessed(self) -> Answer:
        """The answer where it is not known at first: what is alike in several guesses."""
        return over_guesses(lambda change: self.changed(change).attempt(), (*self.args, *self.kwargs.values()))


def solve(call: Call) -> Answer:
    """The answer of a call."""
    sizes = list(named((*call.args, *call.kwargs.values())))
    if not sizes:
        return call.attempt() or call.guessed()
    names = sorted(frozenset().union(*[size.names for size in sizes]))
    first, sure = call.first()
    if first is not None and (sure or (first.finding is not None and first.finding.kind == "symbolic")):
        return first
    if first is not None and first.finding is not None:
        return first if _confirmed(call, names) else _without_names(call)
    samples = [one for one in _samples(call, names) if one[1].finding is None]
    if first is not None:
        return Answer(agreed(first.value, samples))
    samples = samples or list(_guessed_samples(call, names))
    generic = len(samples) > 1 and samples[0][0] is not samples[1][0] and _is_generic(samples)
    if not generic:
        return _without_names(call)
    blank = _unnamed(call).attempt()
    if blank is not None and blank.finding is not None:
        return blank
    return Answer(alike([answer.value for _, answer in samples], _Fit(samples, sizes).size))


def _confirmed(call: Call, names: Sequence[str]) -> bool:
    """Whether what is wrong with the names is wrong with large different numbers, too."""
    answers = [call.attempt(_at(dict(zip(names, numbers, strict=False)))) for numbers in (_LARGE, _LARGER)]
    return all(one is not None and one.finding is not None for one in answers)


def _without_names(call: Call) -> Answer:
    unnamed = _unnamed(call)
    return unnamed.attempt() or unnamed.guessed()


def _unnamed(call: Call) -> Call:
    return call.changed(lambda one: replaced(one, lambda size: None))


def _samples(call: Call, names: Sequence[str]) -> Iterator[tuple[Valuation, Answer]]:
    """Answers with numbers for the names; the two of distinct primes first."""
    if len(names) > len(_LARGE):
        return
    for numbers in (_LARGE, _LARGER, _SMALL, *[(one, other) * len(names) for one, other in _MIXED]):
        valuation = dict(zip(names, numbers, strict=False))
        answer = call.attempt(_at(valuation))
        if answer is not None:
            yield valuation, answer


def _guessed_samples(call: Call, names: Sequence[str]) -> Iterator[tuple[Valuation, Answer]]:
    """The same, with guesses for the sizes that have no names: `conv2d` asks an image how many channels it has."""
    if len(names) > len(_LARGE):
        return
    for numbers in (_LARGE, _LARGER, _SMALL):
        valuation = dict(zip(names, numbers, strict=False))
        sizes = _at(valuation)
        answer = call.changed(lambda one, sizes=sizes: replaced(one, sizes)).guessed()  # type: ignore[misc]  # mypy infers no default of a lambda
        if answer.value is UNKNOWN:
            return
        yield valuation, answer


def _is_generic(samples: Sequence[tuple[Valuation, Answer]]) -> bool:
    """Whether both answers of distinct large primes are there."""
    return min(samples[0][0].values()) >= _LARGE[0] and min(samples[1][0].values()) >= _LARGER[-1]


def _at(valuation: Valuation) -> Callable[[Any], Any]:
    return lambda size: size.at(valuation)


# --------------------------------------------------------------------------- sizes in structures


def named(value: Any) -> Iterator[Size]:
    """The named sizes in an argument."""
    for one in leaves(value):
        for size in sizes_of(one.spec) if isinstance(one, Value) else (one,):
            if isinstance(size, Size):
                yield size


def replaced(value: Any, sizes: Callable[[Any], Any]) -> Any:
    """An argument with something else in the place of each named size."""

    def changed(one: Any) -> Any:
        if isinstance(one, Value):
            return one._replace(spec=respecified(one.spec, resized))
        if not isinstance(one, Size):
            return one
        found = sizes(one)
        return UNKNOWN if found is None else found

    def resized(spec: Spec) -> Spec:
        shape: Any = spec.shape
        if shape is None:
            return spec
        return spec._replace(shape=tuple([sizes(size) if isinstance(size, Size) else size for size in shape]))

    return mapped(value, changed)


# --------------------------------------------------------------------------- what is true in every sample


def agreed(value: Any, samples: Sequence[tuple[Valuation, Answer]]) -> Any:
    """What was found with names, without what a sample contradicts."""
    for valuation, answer in samples:
        value = _meet(value, answer.value, valuation)
    return value


def _meet(value: Any, seen: Any, valuation: Valuation) -> Any:
    if isinstance(value, Value) and isinstance(seen, Value):
        return value._replace(spec=_spec_meet(value.spec, seen.spec, valuation))
    if isinstance(value, tuple) and isinstance(seen, tuple) and len(value) == len(seen):
        entries = [_meet(one, other, valuation) for one, other in zip(value, seen, strict=True)]
        return type(value)(*entries) if hasattr(value, "_fields") else type(value)(entries)
    if isinstance(value, list) and isinstance(seen, list) and len(value) == len(seen):
        return [_meet(one, other, valuation) for one, other in zip(value, seen, strict=True)]
    if isinstance(value, (int, Size)) and isinstance(seen, int):
        return value if _holds(value, seen, valuation) else UNKNOWN
    return value if is_constant(value) and same(value, seen) else UNKNOWN


def _spec_meet(spec: AnySpec, seen: AnySpec, valuation: Valuation) -> AnySpec:
    if not isinstance(spec, Spec) or not isinstance(seen, Spec):
        return spec
    if not same_dtype(spec.dtype, seen.dtype):
        spec = spec._replace(dtype=None)
    if spec.shape is None or seen.shape is None or len(spec.shape) != len(seen.shape):
        return spec._replace(shape=None)
    pairs = zip(spec.shape, seen.shape, strict=True)
    return spec._replace(shape=tuple([a if _holds(a, b, valuation) else None for a, b in pairs]))


def _holds(size: Any, seen: Any, valuation: Valuation) -> bool:
    """Whether a size is what was seen; one that is below nothing there says nothing: `n-2` of a single entry."""
    if size is None or seen is None:
        return size is seen
    number = size.at(valuation) if isinstance(size, Size) else size
    return bool(number == seen) or (number < 0 and seen == 0)


class _Fit:
    """Sizes read off the answers with numbers."""

    def __init__(self, samples: Sequence[tuple[Valuation, Answer]], sizes: Sequence[Size]) -> None:
        self.valuations = [valuation for valuation, _ in samples]
        self.known = list(dict.fromkeys([*map(Size.named, sorted(self.valuations[0])), *sizes]))

    def size(self, seen: Sequence[Any]) -> Any:
        for size in self._candidates(seen):
            if all(_holds(size, one, valuation) for one, valuation in zip(seen, self.valuations, strict=True)):
                return size
        return None

    def _candidates(self, seen: Sequence[int]) -> Iterator[Any]:
        """A number; a multiple of a known size, or of a product or sum of two, and a number; its half."""
        yield seen[0]
        one, other = self.valuations[:2]
        for size in [*self.known, *self._pairs()]:
            low, high = size.at(one), size.at(other)
            if high != low and (seen[1] - seen[0]) % (high - low) == 0:
                times = (seen[1] - seen[0]) // (high - low)
                yield times * size + (seen[0] - times * low)
        for size in self.known:
            if not all(map(is_name, size.names)):  # axes that may not be there
                continue
            for by in (2, 3, 4):
                for shift in range(by):
                    yield (size + shift) // by + (seen[0] - (size.at(one) + shift) // by)

    def _pairs(self) -> Iterator[Size]:
        for k, size in enumerate(self.known):
            for other in self.known[k:]:
                yield size * other
                if isinstance(size + other, Size):
                    yield size + other
                if isinstance(size - other, Size):
                    yield size - other
        if len(self.known) > 2:
            whole: Any = 1
            for size in self.known:
                whole = whole * size
            yield whole
