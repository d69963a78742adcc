"""Does NumPy's machine give the same bits when it cuts arrays into blocks and long programs into pieces?

The interpreter, which knows neither, is the oracle; and NumPy itself.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symbolic as s
from symbolic import SGD, Adam, Weight, symbolic
from symbolic.backends import numpy as machine
from symbolic.backends import schedule
from symbolic.network import network

RNG = np.random.default_rng(3)

ELEMENTWISE: list[Callable[..., Any]] = [
    lambda a, b: a * b - 0.5,
    lambda a, b: np.exp(-np.abs(a)) + b,
    lambda a, b: np.where(a > b, a, 2.0),
    lambda a, b: np.where(a > 0, b, np.tanh(a)),
    lambda a, b: np.maximum(a, 0) / (1.0 + b * b),
    lambda a, b: np.log1p(a * a) * np.float64(3.0),
    lambda a, b: np.logaddexp(0.0, a) + b**3,
    lambda a, b: a + np.sum(b),
    lambda a, b: a - np.mean(b, axis=0),
    lambda a, b: a * np.max(b, axis=-1, keepdims=True),
    lambda a, b: a[::-1] + b,
]
SHAPES = [(97,), (31, 5), (13, 2, 4), (96,), (64, 1), (1, 90)]


@pytest.fixture(autouse=True, scope="module")
def numpys_machine() -> Iterator[None]:
    with s.use("numpy"):
        yield


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "_LARGE", 60)
    monkeypatch.setattr(schedule, "_BLOCK", 16)


def composed(steps: Any) -> Any:
    def f(x: Any, y: Any) -> Any:
        values = [x, y]
        for which, first, second in steps:
            a, b = values[-1 - first % 2], values[second % len(values)]
            values.append(ELEMENTWISE[which](a, b))
        return np.sum(values[-1] * values[-2])

    return f


def programs(found: Any) -> list[Any]:
    """Of a derivative or of a network."""
    paths = getattr(found, "paths", None) or network(found)
    return [one for kept in paths.table.values() for on in kept for one in on.programs.values()]


STEPS = st.lists(st.tuples(st.integers(0, len(ELEMENTWISE) - 1), st.integers(0, 9), st.integers(0, 9)), min_size=1)


@pytest.mark.usefixtures("small_blocks")
@given(STEPS, st.sampled_from(SHAPES), st.booleans())
@settings(max_examples=120)
def test_blocks_change_no_bit(steps: Any, shape: Any, single: bool) -> None:
    f = composed(steps[:12])
    dtype = np.float32 if single else np.float64
    x, y = (RNG.normal(size=shape).astype(dtype) for _ in range(2))
    derivative = s.value_and_grad(f, (0, 1))
    found = [derivative(x, y) for _ in range(2)]
    (executable,) = programs(derivative)
    program = executable.program
    slots = program.slots([x, y])
    with np.errstate(all="ignore"):
        program.run(slots, 0, len(program.instructions))
    value, *slopes = program.results(slots)
    for one, others in found:
        assert one == value
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(others, slopes, strict=True))


@pytest.mark.usefixtures("small_blocks")
def test_what_lies_between_has_no_array_of_full_size() -> None:
    def f(x: Any) -> Any:
        for _ in range(6):
            x = np.tanh(x * 1.5) + 0.1
        return np.sum(x)

    derivative = s.value_and_grad(f)
    x = RNG.normal(size=203)
    derivative(x)
    (executable,) = programs(derivative)
    arrays = [one for name, one in executable.code.names.items() if name[0] in "bt" and isinstance(one, np.ndarray)]
    full = [one for one in arrays if one.size == 203]
    assert len(full) == 1  # what is summed
    assert all(one.size <= 16 for one in arrays if one.size != 203)
    (group,) = [unit for unit in schedule.schedule(executable.program) if isinstance(unit, schedule.Group)]
    assert len(group.members) > 20 and executable.code.source.count("for i in range") == 1


@pytest.mark.usefixtures("small_blocks")
def test_steps_in_blocks_move_weights_as_without(monkeypatch: pytest.MonkeyPatch) -> None:
    start, x = RNG.normal(size=(40, 4)), RNG.normal(size=(40, 4))
    nets = [symbolic(lambda x: np.sum(np.tanh(x * Weight(start)) ** 2), np.ndarray) for _ in range(2)]
    steps = [net.trainer(Adam(0.1)) for net in nets]
    steps[0](x)
    monkeypatch.setattr(schedule, "_LARGE", 1 << 40)
    values = [[step(x) for _ in range(5)] for step in steps]
    one, other = (next(iter(net.weights().values())).value for net in nets)
    steps[1](x)
    assert values[0][:-1] == values[1][1:] and np.array_equal(one, one) and not np.array_equal(one, other)
    assert np.array_equal(one, next(iter(nets[1].weights().values())).value)


@pytest.mark.usefixtures("small_blocks")
def test_errors_and_warnings_within_a_block_are_numpys() -> None:
    net = symbolic(lambda x: np.log(x) * 2.0, np.ndarray, returns=np.ndarray)
    x = np.ones(100)
    for _ in range(4):
        net.predict(x)
    x[77] = 0.0
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert net.predict(x)[77] == -np.inf
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match=r"test_machine\.py:\d+"):
        net.predict(x)


@pytest.mark.parametrize("longest", [1, 7, 40])
def test_a_long_program_in_pieces_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch, longest: int) -> None:
    def f(x: Any, w: Any) -> Any:
        y = np.zeros(4)
        for k in range(12):
            x = np.tanh(x @ w) + 0.1 * x.T
            y[k % 4] = np.sum(x)
        return np.sum(x * x) + np.sum(y * np.exp(-y))

    x, w = RNG.normal(size=(4, 4)), RNG.normal(size=(4, 4))
    once = s.value_and_grad(f, (0, 1))
    expected = [once(x + k, w) for k in range(8)]
    monkeypatch.setattr(machine, "LONGEST", longest)
    pieces = s.value_and_grad(f, (0, 1))
    for k, (value, slopes) in enumerate(expected * 3):
        found, others = pieces(x + k % 8, w)
        assert found == value and all(map(np.array_equal, others, slopes))


def test_each_call_compiles_one_more_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LONGEST", 20)

    def f(x: Any) -> Any:
        for _ in range(30):
            x = np.sin(x) * 1.1
        return x * Weight(np.ones(3))

    net: Any = s.Sum(symbolic(f, np.ndarray, returns=np.ndarray))
    optimizer = SGD(0.0)
    step = net.trainer(optimizer)
    values = [step(np.arange(3.0)) for _ in range(20)]
    assert len(set(values)) == 1 and optimizer.count == 20
    (executable,) = [one.executable for one in programs(net)]
    assert all(callable(one) for one in executable.code.pieces) and len(executable.code.pieces) > 3
    assert max(source.count("\n") for source in executable.code.source.split("def program")) < 80


def test_an_error_in_a_piece_names_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "LONGEST", 5)

    def f(x: Any, k: Any) -> Any:
        for _ in range(12):
            x = np.sin(x) * 1.1
        return x[k] * 2.0

    net = symbolic(f, np.ndarray, np.ndarray, returns=np.ndarray)
    for _ in range(9):
        net.predict(np.arange(3.0), np.array(2))
        with pytest.raises(IndexError, match=r"test_machine\.py:\d+"):
            net.predict(np.arange(3.0), np.array(7))


def test_the_shorter_road_for_products_gives_the_same_bits() -> None:
    """The way back takes np.dot for np.matmul, in the code but not in the interpreter."""
    for dtype in (np.float32, np.float64):
        for _ in range(300):
            m, k, n = RNG.integers(1, 40, 3)
            a, b, v = (RNG.normal(size=shape).astype(dtype) for shape in ((m, k), (k, n), (k,)))
            for x, y in (
                (a, b),
                (a, v),
                (v, b),
                (np.asfortranarray(a), b),
                (a, np.asfortranarray(b)),
                (a.copy(), b.T.copy().T),
            ):
                into = np.empty(np.shape(np.matmul(x, y)), dtype)
                assert np.array_equal(np.dot(x, y, into), np.matmul(x, y))


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (0, 2), (1, 1)], ids=str)
def test_axes_in_another_order(shape: Any) -> None:
    x = RNG.normal(size=shape)
    for move in (
        np.transpose,
        lambda v: np.swapaxes(v, 0, -1),
        lambda v: np.moveaxis(v, 0, -1),
        lambda v: np.rollaxis(v, 1),
    ):
        net = symbolic(lambda v, move=move: move(v) * 1.0, np.ndarray, returns=np.ndarray)
        for _ in range(4):
            assert np.array_equal(net.predict(x), move(x))


def test_a_choice_is_made_into_a_buffer() -> None:
    def f(x: Any) -> Any:
        y = np.where(x > 0, x, -x)
        z = np.where(y > 1, y, x)
        return np.where(z < 0, z, np.where(x > 2, 1, z)) + np.where(x, 1.0, z)

    net = symbolic(f, np.ndarray, returns=np.ndarray)
    x = RNG.normal(size=9) * 2
    x[3] = 0.0
    for _ in range(5):
        assert np.array_equal(net.predict(x), f(x))
