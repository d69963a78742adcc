"""Are programs of slices and assignments what NumPy makes of them? Random chains of them, on both machines.

The oracles are the same function on plain arrays, and for gradients differences of its values.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symbolic as s
from symbolic import Symbolic, symbolic, value_and_grad

MACHINES = ["numpy", "native"] if find_spec("llvmlite") else ["numpy"]
PROFILE = settings.default
EXAMPLES = (3 if "SYMBOLIC_CPU" in os.environ else 8) if PROFILE is None or PROFILE.max_examples < 100 else 150
Array = Annotated[np.ndarray, Symbolic]
Step = Callable[[Any, Any], tuple[Any, Any]]


def derivative(function: Any) -> Any:
    make: Any = symbolic  # the plugin of mypy does not know what is drawn
    return value_and_grad(make(function), (0, 1))


# --------------------------------------------------------------------------- random programs
SIZES = st.sampled_from([1, 2, 3, 4, 5, 7, 18, 33])
SHAPES = st.one_of(
    st.tuples(SIZES), st.tuples(st.sampled_from([1, 2, 4, 6]), SIZES), st.tuples(*[st.sampled_from([1, 2, 3, 5])] * 3)
)


@st.composite
def boxes(draw: Any, shape: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[Any, ...]:
    """An index of so many entries along each axis, forwards or backwards, with steps where there is room."""
    index: list[Any] = []
    for n, size in zip(shape, sizes, strict=True):
        step = draw(st.sampled_from([1, 1, 1, 2])) if size and (size - 1) * 2 < n else 1
        start = draw(st.integers(0, n - max((size - 1) * step + 1, 0)))
        stop = start + size * step
        found = slice(start, stop if stop < n or draw(st.booleans()) else None, step)
        if size and draw(st.integers(0, 3)) == 0:
            last = start + (size - 1) * step
            found = slice(last, start - 1 if start else None, -step)
        index.append(found)
    return tuple(index)


@st.composite
def assignments(draw: Any, shape: tuple[int, ...]) -> Step:
    sizes = tuple(
        [draw(st.integers(max(n - 2, 0), n)) if draw(st.booleans()) else draw(st.integers(0, n)) for n in shape]
    )
    to, one, other = [draw(boxes(shape, sizes)) for _ in range(3)]
    kind = draw(st.sampled_from(["=", "+=", "-=", "copy", "number", "name"]))

    def step(u: Any, v: Any) -> tuple[Any, Any]:
        if kind == "=":
            u[to] = np.tanh(v[one]) * u[other]
        elif kind == "+=":
            u[to] += 0.5 * (u[one] * v[other] - u[to])
        elif kind == "-=":
            u[to] -= v[one] - u[other]
        elif kind == "copy":
            u[to] = v[one]
        elif kind == "number":
            u[to] = 0.25
        else:
            part = u[one]
            u[to] = v[other] + part * 0.5
            part = part + 1.0
            v = v * 0.5
            v[to] += part
        return u, v

    return step


@st.composite
def single_entries(draw: Any, shape: tuple[int, ...]) -> Step:
    place = st.tuples(*[st.integers(-n, n - 1) for n in shape])
    to, of, row = draw(place), draw(place), draw(st.integers(0, shape[0] - 1))

    def step(u: Any, v: Any) -> tuple[Any, Any]:
        u[to] = 2.0 * v[of]
        u[row] = v[row] + u[to]
        v[of] += 1.0
        return u, v

    return step


@st.composite
def rings(draw: Any, shape: tuple[int, ...]) -> Step:
    axis, by, wide = draw(st.integers(0, len(shape) - 1)), draw(st.integers(-9, 9)), draw(st.booleans())
    numbers = (np.arange(shape[axis]) + by) % shape[axis]
    index = (slice(None),) * axis + (numbers,)

    def step(u: Any, v: Any) -> tuple[Any, Any]:
        if wide:
            return u - 0.5 * np.roll(v, by), u[index]
        around = np.roll(u, 1, axis) + np.roll(u, -1, axis) + np.roll(u, (by, 1), (axis, 0))
        return 0.25 * around, v + np.roll(u, by, axis)

    return step


@st.composite
def borders(draw: Any, shape: tuple[int, ...]) -> Step:
    mode = draw(st.sampled_from(["constant", "edge", "wrap", "reflect", "symmetric"]))
    widths = tuple([(draw(st.integers(0, 2)), draw(st.integers(0, 2))) for _ in shape])
    start = [draw(st.integers(0, a + b)) for a, b in widths]
    index = tuple([slice(k, k + n) for k, n in zip(start, shape, strict=True)])

    def step(u: Any, v: Any) -> tuple[Any, Any]:
        return np.pad(u * v, widths, mode=mode)[index] + u, np.pad(v, widths, mode=mode)[index]

    return step


@st.composite
def joins(draw: Any, shape: tuple[int, ...]) -> Step:
    axis = draw(st.integers(0, len(shape) - 1))
    cut = draw(st.integers(0, shape[axis]))
    first, last = [(slice(None),) * axis + (one,) for one in (slice(None, cut), slice(cut, None))]

    def step(u: Any, v: Any) -> tuple[Any, Any]:
        joined = np.concatenate([v[first] * 2.0, u[last]], axis=axis)
        steps = np.diff(joined, axis=axis)
        return np.concatenate([joined[first], u[last] + v[last]], axis=axis) + np.sum(steps), joined

    return step


@st.composite
def programs(draw: Any) -> tuple[tuple[int, ...], Callable[[Any, Any], Any]]:
    shape = draw(SHAPES)
    kinds = [assignments(shape), assignments(shape), single_entries(shape), rings(shape), borders(shape), joins(shape)]
    steps = draw(st.lists(st.one_of(*kinds), min_size=1, max_size=5))
    scale = np.cos(np.arange(np.prod(shape)).reshape(shape))

    def loss(u: Array, v: Array) -> float:
        u, v = u.copy(), v * 1.0
        for step in steps:
            u, v = step(u, v)
            u, v = np.tanh(u), 0.5 * v
        return np.sum(u * scale) + np.sum(v * v)

    return shape, loss


@pytest.mark.parametrize("machine", MACHINES)
@given(programs(), st.integers(0, 1000))
@settings(max_examples=EXAMPLES)
def test_chains_of_slices(machine: Any, program: Any, seed: int) -> None:
    """The value that the function itself has on arrays, and its slope; the arrays that are given stay as they are."""
    shape, loss = program
    random = np.random.default_rng(seed)
    u, v, du, dv = [random.normal(size=shape) for _ in range(4)]
    before = u.copy(), v.copy()
    with s.use(machine):
        both = derivative(loss)
        for _ in range(2):
            value, (by_u, by_v) = both(u, v)
    np.testing.assert_allclose(value, loss(u, v), rtol=1e-12, atol=1e-12)
    step = 1e-6
    slope = (loss(u + step * du, v + step * dv) - loss(u - step * du, v - step * dv)) / (2 * step)
    np.testing.assert_allclose(np.sum(by_u * du) + np.sum(by_v * dv), slope, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(u, before[0])
    np.testing.assert_array_equal(v, before[1])


@pytest.mark.parametrize("machine", MACHINES)
@given(programs(), st.integers(0, 1000))
@settings(max_examples=EXAMPLES)
def test_chains_in_single_precision(machine: Any, program: Any, seed: int) -> None:
    """The gradients of the other machine in double precision, as far as single precision goes."""
    shape, loss = program
    random = np.random.default_rng(seed)
    u, v = [random.normal(size=shape).astype(np.float32) for _ in range(2)]
    with s.use("numpy"):
        wide = derivative(loss)(u.astype(float), v.astype(float))
    loss.__annotations__["return"] = np.float64  # the weights are of double precision
    with s.use(machine):
        narrow = derivative(loss)(u, v)
    for one, other in zip((narrow[0], *narrow[1]), (wide[0], *wide[1]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3 * max(1.0, float(np.max(np.abs(other), initial=0))))


# --------------------------------------------------------------------------- single programs
SPECIAL = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, -1e-310, 1.0, -2.5])


def heat(u: Array, k: Array) -> Array:
    u = u.copy()
    u[1:-1] += k[1:-1] * (u[:-2] - 2.0 * u[1:-1] + u[2:])
    return u


def padded(u: Array, k: Array) -> Array:
    return u + np.pad(k[1:-1] * u[2:], 1) - np.pad(u[1:-1], (0, 2))


def ring(u: Array, k: Array) -> Array:
    return np.roll(u, 1) + np.pad(u, 1, mode="wrap")[2:] * k - np.pad(u, (2, 1), mode="reflect")[1:-2]


def joined(u: Array, k: Array) -> Array:
    return u - np.concatenate([u[:1], np.diff(k), u[-1:]])[:-1]


def cleared(u: Array, k: Array) -> Array:
    u = u.copy()
    u[:3] = -0.0
    u[-2] = k[0]
    return u + k


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("function", [heat, padded, ring, joined, cleared], ids=lambda one: one.__name__)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_special_values(machine: Any, function: Any, kind: Any) -> None:
    """Infinities, NaN, zeros of both signs and denormals stand where NumPy has them, and nowhere else."""
    with s.use(machine), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        net = symbolic(function)
        for turn in range(len(SPECIAL)):
            u, k = np.tile(np.roll(SPECIAL, turn), 3).astype(kind), np.repeat(SPECIAL, 3).astype(kind)
            want, got = function(u, k), net(u, k)
            np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want) | (np.isnan(want) & np.signbit(got)))


def loss_of(step: Callable[[Any, Any], Any], steps: int) -> Callable[[Any, Any], Any]:
    def loss(u: Array, k: Array) -> float:
        for _ in range(steps):
            u = step(u, k)
        return np.sum(u**2)

    return loss


def on_a_ring(u: Any, k: Any) -> Any:
    return u + k * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4.0 * u)


def within_edges(u: Any, k: Any) -> Any:
    p = np.pad(u, 1, mode="edge")
    return u + k * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4.0 * u)


def within(u: Any, k: Any) -> Any:
    u = u.copy()
    u[1:-1, 1:-1] += k[1:-1, 1:-1] * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
    return u


def by_indices(u: Any, k: Any) -> Any:
    rows = np.arange(len(u))
    return u + k * (u[(rows + 1) % len(u)] + u[rows - 1] - 2.0 * u)


@pytest.mark.parametrize("step", [on_a_ring, within_edges, within, by_indices], ids=lambda one: one.__name__)
def test_passes_over_large_arrays(step: Any, programs: list[Any]) -> None:
    """A step of a stencil is a pass on the way there, and two or three on the way back; nothing of it is NumPy's."""
    pytest.importorskip("llvmlite")
    from symbolic.backends.native.nests import Nest

    passes = []
    for steps in (2, 3):
        both = derivative(loss_of(step, steps))
        both(np.ones((40, 50)), np.ones((40, 50)))
        stages = programs[-1].schedule.stages
        assert all(isinstance(one, Nest) for one in stages)
        passes.append(sum(np.prod(one.domain) > 1000 for one in stages))
    assert passes[1] - passes[0] <= 4, passes


def test_an_operator_in_place_writes_once() -> None:
    """Python assigns once more what `u[1:] += v` has written already."""
    net = symbolic(heat)
    with s.use("numpy"):
        net(np.ones(5), np.ones(5))
    assert str(net).count("SetItem") == 1


@given(st.integers(1, 40), st.data())
@settings(max_examples=5 * EXAMPLES)
def test_indices_in_slices(size: int, data: st.DataObject) -> None:
    """Read and added to, an array of indices names the same entries as the slices that it is."""
    pieces = data.draw(
        st.lists(st.tuples(st.integers(-size, size - 1), st.integers(1, 30), st.sampled_from([1, -1, 0, 2])))
    )
    numbers = [(np.arange(n) * step + first) for first, n, step in pieces[:4]]
    index = np.concatenate([np.zeros(0, int), *numbers])
    index = index[(index >= -size) & (index < size)]
    x, delta = np.arange(2.0 * size).reshape(2, size), np.linspace(-1.0, 1.0, 2 * index.size).reshape(2, index.size)

    def read(x: Array, delta: Array) -> float:
        return np.sum(x[:, index] * delta)

    want, place = np.zeros_like(x), (slice(None), index)
    np.add.at(want, place, delta)  # type: ignore[arg-type]  # an index that NumPy's stubs do not know
    with s.use("numpy"):
        value, (by_x, by_delta) = derivative(read)(x, delta)
    np.testing.assert_allclose(value, np.sum(x[:, index] * delta))
    np.testing.assert_allclose(by_x, want)
    np.testing.assert_array_equal(by_delta, x[:, index])


# --------------------------------------------------------------------------- from one row to the next
def flat_ring(x: Any, y: Any) -> Any:
    u = x * 1.0
    u[:, 1] = y[:, 0]
    return np.roll(u, 1) + u


def flat_pad(x: Any, y: Any) -> Any:
    return np.pad(np.concatenate([x, y], axis=1).ravel(), (2, 3))


def flat_parts(x: Any, y: Any) -> Any:
    u = x * 1.0
    u[:, 1] = y[:, 0]
    z = np.zeros(20)
    z[2:12], z[12:16] = u.reshape(-1), u.ravel()[3:7]
    return z + np.sum(u)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("function", [flat_ring, flat_pad, flat_parts], ids=lambda one: one.__name__)
def test_parts_that_run_on_into_the_next_row(machine: Any, function: Any) -> None:
    x, y = np.arange(10.0).reshape(2, 5), -1.0 - np.arange(10.0).reshape(2, 5)
    make: Any = symbolic
    with s.use(machine):
        layer = make(function, np.ndarray, np.ndarray, returns=np.ndarray)
        np.testing.assert_array_equal(layer.predict(x, y), function(x, y))
