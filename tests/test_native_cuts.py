"""Does a long nest give the same wherever it is cut, and is code written once for what comes again?

The numbers of the random programs are small multiples of ½, so that no operation rounds: all come to the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symbolic as s
from symbolic import machines, value_and_grad
from symbolic.backends.native import cuts as cutting

pytest.importorskip("llvmlite")

from symbolic.backends.native import host, making
from symbolic.backends.native import machine as running
from symbolic.backends.native.assembly import Assembly
from symbolic.backends.native.machine import Native
from symbolic.backends.native.making import Making
from symbolic.backends.native.nests import Nest

Step = tuple[int, int, int, int]

BINARY: Sequence[Callable[[Any, Any], Any]] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: np.maximum(a, b),
    lambda a, b: np.where(a > b, b, a),
    lambda a, b: np.clip(a, -8.0, 8.0) * np.clip(b, -2.0, 2.0),
)
UNARY: Sequence[Callable[[Any, float], Any]] = (
    lambda a, c: np.abs(a) - c,
    lambda a, c: -a,
    lambda a, c: np.clip(a, -4.0, 4.0) * c,
    lambda a, c: np.maximum(a, c),
)
CONSTANTS = [k / 2 for k in range(-20, 21)]
SHAPES = [(), (1,), (7,), (64,), (150,), (3, 5), (9, 40)]


def program(steps: Sequence[Step], width: int) -> Callable[..., Any]:
    """A graph in which each step reads two of the last `width` values, or an input."""

    def f(x: Any, y: Any) -> Any:
        made = [x, y]
        for which, first, second, number in steps:
            a, b = made[-1 - first % min(width, len(made))], made[-1 - second % min(width, len(made))]
            if which < len(BINARY):
                made.append(np.clip(BINARY[which](a, b), -64.0, 64.0))
            else:
                made.append(UNARY[which - len(BINARY)](a, CONSTANTS[number]))
        return np.sum(made[-1]) + np.sum(made[len(made) // 2])

    return f


def numbers(seed: int, shape: tuple[int, ...], dtype: Any) -> Any:
    return (np.random.default_rng(seed).integers(-8, 9, shape) / 2).astype(dtype)


def both_machines(f: Callable[..., Any], *given: Any) -> list[Any]:
    slope = value_and_grad(f, (0, 1))
    found = []
    for machine in ("numpy", "native"):
        with s.use(machine):
            found.append(slope(*given))
    return found


some_steps = st.lists(
    st.tuples(st.integers(0, len(BINARY) + len(UNARY) - 1), st.integers(0, 30), st.integers(0, 30), st.integers(0, 40)),
    min_size=1,
    max_size=40,
)


@settings(max_examples=25, deadline=None)
@given(
    some_steps,
    st.integers(1, 12),
    st.sampled_from(SHAPES),
    st.sampled_from([np.float64, np.float32]),
    st.lists(st.integers(1, 400), max_size=12),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
)
def test_a_nest_may_be_cut_anywhere(
    steps: list[Step], width: int, shape: Any, dtype: Any, places: list[int], repeats: int, small: bool, listed: bool
) -> None:
    def bounds(pattern: Any) -> list[int]:
        count = len(pattern.nest.steps)
        return sorted({0, count, *[k for k in places if k < count]})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("symbolic.backends.native.machine.words_of", lambda *program: "")  # nothing kept is taken
        patch.setattr(cutting, "_LONG", 1)
        patch.setattr(cutting, "_NUMBERS", 2)
        patch.setattr(cutting._Pattern, "bounds", bounds)
        patch.setattr("symbolic.backends.native.blocks._WORTH", 1 if small else 1 << 18)
        patch.setattr("symbolic.backends.native.blocks._ROOM", 1 << 10 if small else 1 << 18)
        plain, native = both_machines(
            program(steps * repeats, width), numbers(1, shape, dtype), numbers(2, shape, dtype)
        )
    for one, other in zip([plain[0], *plain[1]], [native[0], *native[1]], strict=True):
        assert np.array_equal(one, other) and np.asarray(one).dtype == np.asarray(other).dtype


@settings(max_examples=15, deadline=None)
@given(some_steps, st.integers(1, 12), st.sampled_from(SHAPES), st.integers(2, 12))
def test_the_cuts_that_are_chosen_change_nothing(steps: list[Step], width: int, shape: Any, repeats: int) -> None:
    x, y = numbers(1, shape, float), numbers(2, shape, float)
    plain, native = both_machines(program(steps * repeats, width), x, y)
    for one, other in zip([plain[0], *plain[1]], [native[0], *native[1]], strict=True):
        assert np.array_equal(one, other)


# --------------------------------------------------------------------------- what is written once


def chain(count: int) -> Callable[..., Any]:
    """The same seven operations again and again."""

    def f(x: Any, y: Any) -> Any:
        for _ in range(count):
            x = np.maximum(np.abs(np.tanh(x) * y - 0.5) + x, -3.0) * 0.25
        return np.sum(x)

    return f


def with_constants(count: int) -> Callable[..., Any]:
    """Operations that come again with other numbers."""

    def f(x: Any, y: Any) -> Any:
        for k in range(count):
            x = np.abs(x * (1.0 - 0.001 * k) - 0.002 * k) + y * float(np.sin(k))
        return np.sum(x)

    return f


def of_numbers(count: int) -> Callable[..., Any]:
    """A residual chain."""

    def f(x: Any, y: Any) -> Any:
        for _ in range(count):
            x = x + 0.125 * np.sin(x * y)
        return np.sum(x)

    return f


CHAINS = {"of arrays": (chain, (40,)), "with constants": (with_constants, (3, 9)), "of numbers": (of_numbers, (1,))}


def made_of(f: Callable[..., Any], shape: tuple[int, ...]) -> tuple[Making, int]:
    """How the code of the value and both gradients is made, and how many functions it has."""
    slope = value_and_grad(f, (0, 1))
    x, y = np.full(shape, 0.75), np.full(shape, 0.5)
    with s.use("native"):
        value, deltas = slope(x, y)
        codes = [one.code for one in machines._Choice.made if isinstance(one.code, Native)]
    with s.use("numpy"):
        want, slopes = slope(x, y)
    for one, other in zip((value, *deltas), (want, *slopes), strict=True):
        assert np.allclose(one, other, rtol=1e-9)
    made = Making(max(codes, key=lambda code: len(code.program.instructions)).program)
    made.loaded("")
    return made, len(Assembly(made, apart=False).kinds)


@pytest.mark.parametrize("kind", CHAINS)
def test_a_longer_chain_has_no_more_functions(kind: str) -> None:
    make, shape = CHAINS[kind]
    (short, few), (long, many) = (made_of(make(count), shape) for count in (120, 360))
    assert len(long.schedule.stages) > len(short.schedule.stages) + 10
    assert many <= few + 3
    assert many < len(long.schedule.stages) / 2


def test_what_a_block_leaves_behind_is_memory_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one thread: each of several has a block of its own."""
    alone = host.host()._replace(shares=False)
    for one in (running, making):
        monkeypatch.setattr(one, "host", lambda: alone)
    (few, _), (many, _) = (made_of(chain(300), (count,)) for count in (200, 200_000))
    assert any(group.block < group.rows for group in many.groups.values())
    assert many.arena < 8 * few.arena


def test_a_short_nest_is_left_whole() -> None:
    made, _ = made_of(chain(10), (40,))
    assert max(len(one.steps) for one in made.schedule.stages if isinstance(one, Nest)) > 50


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_vectors_run_abreast_as_far_as_registers_last(steps: int) -> None:
    """Whatever is written side by side gives what one vector at a time does, with what is left over at the end."""
    for count in (1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100, 1000):
        x = np.linspace(-2.0, 2.0, count)

        def f(x: Any, y: Any) -> Any:
            for _ in range(steps):
                x = np.tanh(x * y) + 0.5
            return np.sum(x) + np.max(x)

        plain, native = both_machines(f, x, x[::-1].copy())
        for one, other in zip((plain[0], *plain[1]), (native[0], *native[1]), strict=True):
            assert np.allclose(one, other, rtol=1e-12, atol=1e-14)
