"""What does a call give for `*batch`, any number of axes? It is asked with none, one and two; what is alike is true."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from symbolic.polynomial import Rest, Size, same
from symbolic.spec import Spec
from symbolic.static.abstract import ALWAYS_WRONG, Answer, Value
from symbolic.static.alike import alike
from symbolic.static.nesting import sizes_of, specs, with_specs

COUNTS = (1, 2, 0)
_RANKS = (0, 1, 2, 3, 4)
"""The numbers of axes that are tried where a call works for some of them alone: an image has four axes."""


def over_rests(solve: Callable[[Callable[[Any], Any]], Answer], arguments: Any) -> Answer:
    """The answer of a call whose arguments hold such markers; `solve` is given what to do with each argument."""
    found = list(markers(arguments))
    unnamed = found.count(Rest())
    if unnamed > 1:  # nothing says whether two `...` are the same axes
        return solve(lambda one: with_specs(one, _unknown))
    answers = [solve(lambda one, count=count: with_specs(one, lambda spec: _expanded(spec, count))) for count in COUNTS]  # type: ignore[misc]  # mypy infers no default of a lambda
    if any(answer.finding is not None for answer in answers):
        return _where_it_works(solve, answers)
    plain = [answer.value for answer in answers]
    whole, other, bare = [_folded(one, set(found)) for one in plain]
    if same(whole, other) and _agrees(whole, bare):
        return Answer(whole)
    return Answer(with_specs(alike(plain), lambda spec: _blurred(spec, {str(rest) for rest in found})))


def _where_it_works(solve: Callable[[Callable[[Any], Any]], Answer], answers: list[Answer]) -> Answer:
    """The answer of a call that only works for some numbers of axes, whose sizes may be what the call wants.

    It is as true as the call is right: of `x @ w`, with "batch ..." for x and "d k" for w, it is "batch ... k".
    """
    found = [solve(lambda one, count=count: with_specs(one, lambda spec: _anonymous(spec, count))) for count in _RANKS]  # type: ignore[misc]  # mypy infers no default of a lambda
    right = [answer.value for answer in found if answer.finding is None and answer is not ALWAYS_WRONG]
    if not right:
        wrong = next((answer for answer in answers if answer.finding is None), answers[0])
        return wrong if wrong.finding is not None else solve(lambda one: with_specs(one, _unknown))
    arrays = [one.spec for one in right if isinstance(one, Value) and isinstance(one.spec, Spec)]
    shapes: list[Any] = [spec.shape for spec in arrays]
    whole = alike(right)
    rising = len(arrays) == len(right) > 1 and all(shape is not None for shape in shapes)
    if rising and all(len(shape) == len(shapes[0]) + k for k, shape in enumerate(shapes)):
        return Answer(Value(whole.spec._replace(shape=_around(shapes))))
    return Answer(whole)


def _around(shapes: list[Any]) -> tuple[Any, ...]:
    """The sizes before and behind any number of axes that shapes have in common, of which the first is the shortest."""
    shortest = shapes[0]
    before = _common(shapes)
    behind = _common([shape[::-1] for shape in shapes])[: len(shortest) - len(before)]
    return (*before, Rest(), *behind[::-1])


def _common(shapes: list[Any]) -> list[Any]:
    """The sizes with which all shapes begin."""
    found: list[Any] = []
    for column in zip(*shapes, strict=False):
        if column[0] is None or not all(same(one, column[0]) for one in column):
            break
        found.append(column[0])
    return found


def markers(value: Any) -> Iterator[Rest]:
    """The markers in an argument."""
    for spec in specs(value):
        yield from _rests(spec)


def _rests(spec: Spec) -> Iterator[Rest]:
    return (size for size in sizes_of(spec) if isinstance(size, Rest))


def _unknown(spec: Spec) -> Spec:
    return spec._replace(shape=None) if any(_rests(spec)) else spec


def _anonymous(spec: Spec, count: int) -> Spec:
    """A spec with unknown sizes in the place of a marker."""
    sizes: list[Any] = []
    for one in spec.shape or ():
        sizes += [None] * count if isinstance(one, Rest) else [one]
    return spec if spec.shape is None else spec._replace(shape=tuple(sizes))


def _axes(rest: Rest, count: int) -> list[Size]:
    return [Size.named(str(rest) + "'" * k) for k in range(count)]


def _expanded(spec: Spec, count: int) -> Spec:
    shape: Any = spec.shape
    if shape is None:
        return spec
    sizes: list[Any] = []
    for one in shape:
        sizes += _axes(one, count) if isinstance(one, Rest) else [one]
    return spec._replace(shape=tuple(sizes))


def _folded(value: Any, found: set[Rest]) -> Any:
    """An answer with the marker again in the place of its axes."""
    if type(value) is tuple and any(isinstance(one, Size) for one in value):
        return _folded_sizes(value, found)
    return with_specs(value, lambda spec: spec._replace(shape=_folded_sizes(spec.shape, found)))


def _blurred(spec: Spec, texts: set[str]) -> Spec:
    """A spec without sizes of axes that may not be there."""
    shape: Any = spec.shape
    if shape is None:
        return spec
    return spec._replace(shape=tuple([None if isinstance(d, Size) and _mentions(d, texts) else d for d in shape]))


def _folded_sizes(shape: Any, found: set[Rest]) -> Any:
    if shape is None:
        return None
    sizes: list[Any] = list(shape)
    for rest in found:
        for count in (2, 1):
            run = _axes(rest, count)
            at = next((k for k in range(len(sizes) - count + 1) if same(sizes[k : k + count], run)), None)
            if at is not None:
                sizes[at : at + count] = [rest]
                break
    texts = {str(rest) for rest in found}
    return tuple([None if isinstance(one, Size) and _mentions(one, texts) else one for one in sizes])


def _mentions(size: Size, texts: set[str]) -> bool:
    return any(name.rstrip("'") in texts for name in size.names)


def _agrees(whole: Any, bare: Any) -> bool:
    """Whether an answer is the one without any such axis, once the marker is left out."""
    if isinstance(whole, Value) and isinstance(bare, Value):
        if not isinstance(whole.spec, Spec) or not isinstance(bare.spec, Spec):
            return same(whole, bare)
        return same(whole.spec._replace(shape=_left_out(whole.spec.shape)), bare.spec)
    if type(whole) is tuple and any(isinstance(one, Rest) for one in whole):
        return same(_left_out(whole), bare)
    if isinstance(whole, (tuple, list)) and type(bare) is type(whole) and len(whole) == len(bare):
        return all(_agrees(one, other) for one, other in zip(whole, bare, strict=True))
    return same(whole, bare)


def _left_out(shape: Any) -> Any:
    return None if shape is None else tuple([one for one in shape if not isinstance(one, Rest)])
