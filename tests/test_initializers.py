"""Do initial weights have the scale, the dtype and the source of randomness that they say?"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from symbolic.context import inside
from symbolic.errors import DtypeError, ShapeError
from symbolic.nn import initializers
from symbolic.nn.initializers import (
    constant,
    glorot,
    he,
    lecun,
    normal,
    ones,
    orthogonal,
    truncated_normal,
    uniform,
    zeros,
)
from symbolic.sites import Shared, fresh_seed

RANDOM = [he, lecun, glorot, orthogonal, normal, truncated_normal, uniform]
Make = Callable[..., Any]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The shared generator is as it was, after each test."""
    before = Shared.generator
    yield
    Shared.generator = before


FANS = [
    ((300, 50), 300, 50),
    ((50, 300), 50, 300),
    ((20, 30, 5, 5), 750, 500),
    ((10, 40, 7), 280, 70),
    ((9000,), 9000, 1),
]


def normal_law(mean: float, std: float) -> Make:
    return lambda x: (1 + math.erf((x - mean) / std / math.sqrt(2))) / 2


def uniform_law(low: float, high: float) -> Make:
    return lambda x: min(max((x - low) / (high - low), 0.0), 1.0)


def truncated_law(mean: float, std: float) -> Make:
    below = normal_law(0.0, 1.0)
    return lambda x: (below(min(max((x - mean) / std, -2.0), 2.0)) - below(-2.0)) / (below(2.0) - below(-2.0))


def follows(values: Any, law: Make) -> bool:
    """Kolmogorov and Smirnov's test at the level of 0.001."""
    expected = np.array([law(x) for x in np.sort(values.ravel())])
    reached = np.arange(values.size + 1) / values.size
    distance = max(np.max(reached[1:] - expected), np.max(expected - reached[:-1]))
    return bool(distance < 1.95 / math.sqrt(values.size))


@pytest.mark.parametrize(("shape", "inputs", "outputs"), FANS)
def test_the_distribution_is_the_paper_s(shape: tuple[int, ...], inputs: int, outputs: int) -> None:
    limit = math.sqrt(6 / (inputs + outputs))
    assert follows(he(*shape, seed=3), normal_law(0.0, math.sqrt(2 / inputs)))
    assert follows(lecun(*shape, seed=3), normal_law(0.0, math.sqrt(1 / inputs)))
    assert follows(glorot(*shape, seed=3), uniform_law(-limit, limit))
    assert not follows(lecun(*shape, seed=3), normal_law(0.0, math.sqrt(2 / inputs)))  # the test can fail


def test_plain_distributions() -> None:
    assert follows(normal(9000, mean=1.0, std=2.0, seed=0), normal_law(1.0, 2.0))
    assert follows(uniform(9000, low=-1.0, high=3.0, seed=0), uniform_law(-1.0, 3.0))
    assert follows(uniform(9000, seed=0), uniform_law(0.0, 1.0))
    assert follows(truncated_normal(9000, mean=1.0, std=0.5, seed=0), truncated_law(1.0, 0.5))
    assert not follows(normal(9000, mean=1.0, std=0.5, seed=0), truncated_law(1.0, 0.5))
    assert np.array_equal(zeros(2, 3), np.zeros((2, 3))) and np.array_equal(ones(2, dtype=int), [1, 1])
    assert np.array_equal(constant(2, value=3.5), [3.5, 3.5])


@pytest.mark.parametrize("shape", [(5, 5), (7, 3), (3, 7), (4, 2, 3, 3), (1, 1)])
def test_orthogonal_is_orthogonal(shape: tuple[int, ...]) -> None:
    matrix = orthogonal(*shape, gain=2.0, seed=1).reshape(shape[0], -1)
    small = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    assert np.allclose(small, 4 * np.eye(len(small)))


def test_orthogonal_has_no_preferred_sign() -> None:
    assert {float(orthogonal(1, 1, seed=seed)[0, 0]) for seed in range(20)} == {1.0, -1.0}


@pytest.mark.parametrize("make", RANDOM)
def test_the_dtype_and_the_shape_are_those_asked_for(make: Make) -> None:
    assert make(3, 4).dtype == np.float64
    for dtype in (np.float32, "f2"):
        values = make(3, 4, seed=5, dtype=dtype)
        assert values.dtype == np.dtype(dtype) and type(values) is np.ndarray and values.flags.writeable
        assert np.array_equal(values, make(3, 4, seed=5).astype(dtype))
    assert make((3, 4), seed=5).shape == (3, 4) and make(0, 4).shape == (0, 4) and make(4, 0).shape == (4, 0)


@pytest.mark.parametrize("make", [he, lecun, glorot, normal, truncated_normal, uniform, zeros, ones])
def test_a_single_number_is_an_array_too(make: Make) -> None:
    assert type(make()) is np.ndarray and make().shape == ()


@pytest.mark.parametrize("make", RANDOM)
def test_the_seed_decides(make: Make) -> None:
    assert np.array_equal(make(3, 3, seed=1), make(3, 3, seed=1))
    assert not np.array_equal(make(3, 3, seed=1), make(3, 3, seed=2))
    generator = np.random.default_rng(1)
    assert np.array_equal(make(3, 3, seed=generator), make(3, 3, seed=1))
    assert not np.array_equal(make(3, 3, seed=generator), make(3, 3, seed=1))


@pytest.mark.parametrize("make", RANDOM)
def test_without_a_seed_the_shared_generator_serves(make: Make) -> None:
    initializers.seed(7)
    first, second, drawn = make(3, 3), make(3, 3), fresh_seed()
    initializers.seed(7)
    assert np.array_equal(make(3, 3), first) and np.array_equal(make(3, 3), second) and fresh_seed() == drawn
    assert not np.array_equal(first, second)
    state = np.random.get_state()[1].copy()  # type: ignore[index]  # a tuple, by NumPy's default
    make(3, 3)
    assert np.array_equal(np.random.get_state()[1], state)  # type: ignore[index]  # NumPy's own is left alone


def test_a_layer_that_is_being_built_brings_its_own_generator() -> None:
    class Trace:
        def generator(self) -> np.random.Generator:
            return np.random.default_rng(11)

    with inside(trace=Trace()):
        assert np.array_equal(he(3, 3), he(3, 3, seed=11))
        assert np.array_equal(he(3, 3, seed=4), np.sqrt(2 / 3) * np.random.default_rng(4).standard_normal((3, 3)))


def test_fresh_seeds_differ() -> None:
    seeds = [fresh_seed() for _ in range(100)]
    assert len(set(seeds)) == 100 and all(type(seed) is int and seed >= 0 for seed in seeds)


def test_a_fresh_seed_begins_no_generator_and_is_drawn_from_one_that_there_is() -> None:
    Shared.generator = None
    assert 0 <= fresh_seed() < 2**63 and Shared.generator is None
    initializers.seed(3)
    assert fresh_seed() == np.random.default_rng(3).integers(2**63)


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: he(-1, 2), ShapeError, r"shape \(-1, 2\)"),
        (lambda: he(2.0, 2), DtypeError, r"shape \(2.0, 2\)"),  # type: ignore[arg-type]  # the error is the point
        (lambda: orthogonal(3), ShapeError, r"shape \(3,\)"),
        (lambda: glorot(3, 3, dtype=int), DtypeError, "int64"),
        (lambda: normal(3, dtype=complex), DtypeError, "complex128"),
    ],
)
def test_what_cannot_be_drawn_is_refused(make: Make, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text) as caught:
        make()
    assert "test_initializers.py" in str(caught.value)
