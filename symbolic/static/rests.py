"""What does a call give for `*batch`, any number of axes? It is asked with none, one and two; what is alike is true."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from symbolic.polynomial import Rest, Size, same
from symbolic.spec import AnySpec, Spec, TupleSpec
from symbolic.static.abstract import Answer, Value
from symbolic.static.alike import alike

COUNTS = (1, 2, 0)


def over_rests(solve: Callable[[Callable[[Any], Any]], Answer], arguments: Any) -> Answer:
    """The answer of a call whose arguments hold such markers; `solve` is given what to do with each argument."""
    found = list(markers(arguments))
    unnamed = found.count(Rest())
    if unnamed > 1:  # nothing says whether two `...` are the same axes
        return solve(lambda one: mapped(one, _unknown))
    answers = [solve(lambda one, count=count: mapped(one, lambda spec: _expanded(spec, count))) for count in COUNTS]  # type: ignore[misc]  # mypy infers no default of a lambda
    wrong = [answer.finding for answer in answers]
    if all(one is not None for one in wrong):
        return answers[0]
    if any(one is not None for one in wrong):
        return solve(lambda one: mapped(one, _unknown))
    plain = [answer.value for answer in answers]
    whole, other, bare = [_folded(one, set(found)) for one in plain]
    if same(whole, other) and _agrees(whole, bare):
        return Answer(whole)
    return Answer(mapped(alike(plain), lambda spec: _blurred(spec, {str(rest) for rest in found})))


def markers(value: Any) -> Iterator[Rest]:
    """The markers in an argument."""
    if isinstance(value, Value):
        yield from _in(value.spec)
    elif isinstance(value, dict):
        yield from markers(list(value.values()))
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from markers(one)


def _in(spec: AnySpec) -> Iterator[Rest]:
    if isinstance(spec, TupleSpec):
        for one in spec:
            yield from _in(one)
    elif isinstance(spec, Spec):
        shape: Any = spec.shape
        yield from (size for size in shape or () if isinstance(size, Rest))


def mapped(value: Any, change: Callable[[Spec], Spec]) -> Any:
    """An argument with other specs."""
    if isinstance(value, Value):
        return value._replace(spec=_changed(value.spec, change))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[mapped(one, change) for one in value])
    if type(value) in (tuple, list):
        return type(value)([mapped(one, change) for one in value])
    if isinstance(value, dict):
        return {name: mapped(one, change) for name, one in value.items()}
    return value


def _changed(spec: AnySpec, change: Callable[[Spec], Spec]) -> AnySpec:
    if isinstance(spec, TupleSpec):
        return TupleSpec(_changed(one, change) for one in spec)
    return change(spec) if isinstance(spec, Spec) else spec


def _unknown(spec: Spec) -> Spec:
    return spec._replace(shape=None) if any(_in(spec)) else spec


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
    return mapped(value, lambda spec: spec._replace(shape=_folded_sizes(spec.shape, found)))


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
