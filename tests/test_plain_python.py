"""Does each small program give what plain Python gives, on every path, in every order, and the derivative of it?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import assigning_programs
import corner_programs
import everyday_programs
import lazy_programs
import numpy as np
import plain_programs
import pytest
import viewing_programs
from plain_programs import Program

import symbolic as s
from symbolic import symbolic
from symbolic.certain import is_certain
from symbolic.trace import Tracing

pytestmark = pytest.mark.usefixtures("numpys_bits")
MODULES = (plain_programs, everyday_programs, assigning_programs, corner_programs, viewing_programs, lazy_programs)
PROGRAMS = [program for module in MODULES for program in module.PROGRAMS]
NAMED = pytest.mark.parametrize("program", PROGRAMS, ids=[one.function.__name__ for one in PROGRAMS])


def copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([one.copy() if isinstance(one, np.ndarray) else one for one in args])


def same(one: Any, other: Any) -> bool:
    """To the bit, and of one type."""
    return type(one) is type(other) and bool(np.array_equal(one, other, equal_nan=True))


def slopes(function: Callable[..., Any], args: tuple[Any, ...], k: int, step: float) -> Any:
    """Central differences by the k-th argument."""
    at = np.asarray(args[k], dtype=float)

    def moved(place: Any, by: float) -> float:
        there = at.copy()
        there[place] += by
        given = list(copied(args))
        given[k] = there if isinstance(args[k], np.ndarray) else float(there)
        return float(function(*given))

    found = [(moved(place, step) - moved(place, -step)) / (2 * step) for place in np.ndindex(at.shape)]
    return np.reshape(found, at.shape)


def check_gradient(program: Program, args: tuple[Any, ...], k: int, got: Any, exact: Any) -> int:
    """Where the differences of two steps agree; beside a jump they do not. How many entries were compared."""
    assert np.shape(got) == np.shape(args[k])
    if exact is not None:
        assert np.array_equal(got, exact)
        return np.size(got)
    with np.errstate(all="ignore"):
        wide, narrow = (slopes(program.function, args, k, step) for step in (2e-6, 1e-6))
        smooth = np.isfinite(narrow) & (abs(wide - narrow) <= 1e-4 * (1 + abs(narrow)))
    assert np.allclose(np.asarray(got)[smooth], narrow[smooth], rtol=1e-5, atol=1e-5)
    return int(np.sum(smooth))


def orders(count: int) -> list[int]:
    """Each input in turn, then backwards, then in turn."""
    return [*range(count), *reversed(range(count)), *range(count)]


@NAMED
def test_value_and_gradient_are_those_of_plain_python(program: Program) -> None:
    function, inputs = program.function, program.inputs
    derivative: Any = s.value_and_grad(function, tuple(range(len(inputs[0]))))
    compared = 0
    for k in orders(len(inputs)):
        args = copied(inputs[k])
        value, gradient = derivative(*args)
        assert same(value, function(*copied(inputs[k])))
        assert all(map(same, args, inputs[k])), "an argument was changed"
        for n, one in enumerate(gradient):
            compared += check_gradient(program, inputs[k], n, one, program.exact.get(k))
    assert compared >= len(inputs)
    assert derivative.traces() <= len(inputs)


@NAMED
def test_a_network_takes_every_path(program: Program) -> None:
    function, inputs = program.function, program.inputs
    hints = [np.ndarray if isinstance(one, np.ndarray) else float for one in inputs[0]]
    net = symbolic(function, *hints, returns=float)
    for k in orders(len(inputs)):
        assert same(net.predict(*copied(inputs[k])), float(function(*copied(inputs[k]))))
    assert net.traces() <= len(inputs)


@NAMED
def test_each_path_is_traced_once(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    class Counted(Tracing):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr("symbolic.trace.Tracing", Counted)
    derivative: Any = s.value_and_grad(program.function, tuple(range(len(program.inputs[0]))))
    for args in program.inputs:
        derivative(*copied(args))
    runs = sum(2 if one.certain else 1 for one in made)
    assert runs == 2 * derivative.traces(), "a body is run twice for each of its traces, once where it cannot differ"
    made.clear()
    for args in [*reversed(program.inputs), *program.inputs]:
        derivative(*copied(args))
    assert not made


@NAMED
def test_what_is_said_to_be_the_same_at_each_run_is(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each body is run twice all the same, and the graphs are held against each other."""
    said: list[bool] = []

    def doubted(*body: Any) -> bool:
        said.append(is_certain(*body))
        return False

    monkeypatch.setattr("symbolic.trace.is_certain", doubted)
    derivative: Any = s.value_and_grad(program.function, tuple(range(len(program.inputs[0]))))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for args in program.inputs:
            derivative(*copied(args))
    differs = any("run to run" in str(one.message) for one in caught)
    assert not (differs and said and all(said))
