"""Is what a checker says of a call true, whatever the sizes are? NumPy is asked, with numbers in the place of names.

Each function of the registry is called with named sizes, without knowing ranks, and without knowing anything; what it
then gives is held against NumPy's result for the drawn sizes, for distinct primes, all equal ones, and ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from answers import attempt
from hypothesis import strategies as st
from strategies import Call, Draw
from subjects import POSITIONAL, SUBJECTS, Subject, entries, leaves
from test_laws import EXAMPLES, KINDS, drawn

from symbolic.polynomial import Rest, Size
from symbolic.spec import AnySpec, Spec, spec_of
from symbolic.static.abstract import UNKNOWN, Answer, Value
from symbolic.static.evaluation import call as called
from symbolic.static.evaluation import supported
from symbolic.static.valuations import Call as Asked
from symbolic.static.valuations import solve

NAMES = ("n", "m", "k", "j")
VALUATIONS: tuple[tuple[int, ...], ...] = ((11, 7, 5, 13), (5, 11, 7, 2), (4, 4, 4, 4), (1, 1, 1, 1), (1, 5, 1, 4))


def named(arrays: tuple[Any, ...], draw: Draw) -> tuple[dict[str, int], list[AnySpec]]:
    """The specs of arrays, with a name for each size but 0 and 1, and now and then one less."""
    sizes = sorted({d for one in arrays for d in np.shape(one) if d > 1})
    names = dict(zip(sizes, NAMES, strict=False))
    kept = {size: name for size, name in names.items() if draw.pick([True, True, False])} or names
    specs: list[AnySpec] = []
    for one in arrays:
        spec = spec_of(one)
        assert isinstance(spec, Spec)
        shape: Any = spec.shape
        specs.append(spec._replace(shape=tuple([Size.named(kept[d]) if d in kept else d for d in shape])))
    return {name: size for size, name in kept.items()}, specs


def asked(subject: Subject, call: Call, specs: list[AnySpec]) -> Answer:
    """What is said of a subject's call with values of these specs."""
    values = [Value(one) for one in specs]
    options, placed = dict(subject.parameters), []
    for name in subject.parameters:
        if name in POSITIONAL.get(subject.name, ()):
            placed.append(options.pop(name))
    if supported(subject.function) is True and plainly_placed(call, values):
        return called(subject.function, [*call.place(*values), *placed], options)
    return solve(Asked(subject.of(call), values, {}))


def plainly_placed(call: Call, values: list[Value]) -> bool:
    """Whether the arguments are the arrays, and not made of them."""
    try:
        call.place(*values)
    except (TypeError, AttributeError, ValueError):
        return False
    return True


def values(answer: Any) -> list[Any]:
    """The entries of an answer, as `entries` takes NumPy's apart; a value is one."""
    if isinstance(answer, Value) or not isinstance(answer, (tuple, list)):
        return [answer]
    return [one for entry in answer for one in (entry if isinstance(entry, list) else [entry])]


def resized(array: Any, spec: Any, valuation: Mapping[str, int]) -> Any:
    if spec.python is not None:
        return array
    shape = [size.at(valuation) if isinstance(size, Size) else size for size in spec.shape]
    return np.resize(array, shape).astype(spec.dtype)


def holds(said: Any, real: Any, valuation: Mapping[str, int], where: str) -> None:
    if said is UNKNOWN:
        return
    if not isinstance(said, Value):
        number = said.at(valuation) if isinstance(said, Size) else said
        assert number == real or np.array_equal(number, real), f"{where}: said {said}, real {real!r}"
        return
    spec: Any = said.spec
    assert isinstance(spec, Spec), f"{where}: {spec}"
    array = np.asarray(real)
    if spec.dtype is not None and spec.python is None:
        assert spec.dtype == array.dtype, f"{where}: said {spec.dtype}, real {array.dtype}"
    if spec.shape is None:
        return
    assert not any(isinstance(size, Rest) for size in spec.shape)
    sizes = [size.at(valuation) if isinstance(size, Size) else size for size in spec.shape]
    fits = len(sizes) == array.ndim and all(
        d is None or d == n or (d < 0 and n == 0) for d, n in zip(sizes, array.shape, strict=True)
    )
    assert fits, f"{where}: said {spec.shape}, real {array.shape}"


def law_named(subject: Subject, data: st.DataObject) -> bool:
    """With named sizes: what is said holds for every number that the names may be; an error is one for most of them."""
    draw = Draw(data, data.draw(st.sampled_from(KINDS)), python=True)
    call = subject.arguments(draw)
    if isinstance(attempt(subject.of(call), call.arrays), Exception):
        return False
    sizes, specs = named(call.arrays, draw)
    answer = asked(subject, call, specs)
    meant = False
    for numbers in (tuple(sizes.values()), *VALUATIONS):
        valuation = dict(zip(sizes, numbers, strict=False))
        arrays = [resized(one, spec, valuation) for one, spec in zip(call.arrays, specs, strict=True)]
        want = attempt(subject.of(call), arrays)
        where = f"{subject} of {[str(one) for one in specs]} at {valuation}"
        if isinstance(want, Exception) or leaves(want) == ():
            continue
        if answer.finding is not None:
            assert numbers not in VALUATIONS[:2], f"{where}: {answer.finding}, and NumPy gives {want!r}"
            continue
        meant = True
        check_all(answer.value, want, valuation, where)
    return meant


def check_all(said: Any, want: Any, valuation: Mapping[str, int], where: str) -> None:
    if said is UNKNOWN:
        return
    given, real = values(said), leaves(entries(want))
    if any(one is UNKNOWN for one in given):  # a list of so many
        return
    assert len(given) == len(real), f"{where}: {len(given)} results, NumPy {len(real)}"
    for one, other in zip(given, real, strict=True):
        holds(one, other, valuation, where)


test_named = drawn(law_named, max(EXAMPLES // 3, 2))


def law_hidden(subject: Subject, data: st.DataObject) -> bool:
    """Without sizes, ranks, dtypes, or anything: what is said is true, and nothing is an error."""
    draw = Draw(data, data.draw(st.sampled_from(KINDS)), python=True)
    call = subject.arguments(draw)
    want = attempt(subject.of(call), call.arrays)
    if isinstance(want, Exception) or leaves(want) == ():
        return False
    for hide in (
        lambda spec: spec._replace(shape=(None,) * len(spec.shape)),
        lambda spec: spec._replace(shape=None),
        lambda spec: spec._replace(dtype=None),
        lambda spec: Spec(),
    ):
        specs = [one if one.python is not None else hide(one) for one in map(spec_of, call.arrays)]  # type: ignore[union-attr]  # of arrays
        answer = asked(subject, call, specs)
        where = f"{subject} of {[str(one) for one in specs]}"
        assert answer.finding is None, f"{where}: {answer.finding}, and NumPy gives {want!r}"
        check_all(answer.value, want, {}, where)
    return True


test_hidden = drawn(law_hidden, max(EXAMPLES // 3, 2))
