"""Which arrays are the laws tried on? Shapes, dtypes, and values within a domain.

Hypothesis draws what shrinks well (shapes, dtypes, one seed); the entries follow from the seed.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

Shape = tuple[int, ...]
SIZES = st.sampled_from([2, 3, 1, 0])
LARGEST = 36  # entries of one array


class Call(NamedTuple):
    """The arrays of one call, and how the function takes them."""

    arrays: tuple[Any, ...]
    place: Callable[..., tuple[Any, ...]] = lambda *arrays: arrays


@functools.cache
def shapes(least: int = 0, most: int = 4) -> st.SearchStrategy[Shape]:
    """The first that Hypothesis tries, and the one it shrinks to, is a matrix where that may be."""
    ranks = [rank for rank in (2, 1, 3, 0, 4) if least <= rank <= most]
    sized = st.sampled_from(ranks).flatmap(lambda rank: st.lists(SIZES, min_size=rank, max_size=rank))
    return sized.map(tuple).map(_small)


def _small(shape: Shape) -> Shape:
    sizes = list(shape)
    while np.prod(sizes) > LARGEST:
        sizes[int(np.argmax(sizes))] -= 1
    return tuple(sizes)


class Draw:
    """What one example is made of: Hypothesis' choices and a generator of numbers."""

    def __init__(self, data: st.DataObject, dtype: str = "float64", loose: bool = False, python: bool = False) -> None:
        self.data, self.dtype = data, np.dtype(dtype)
        self.loose = loose and data.draw(st.integers(0, 4), label="loose") == 4
        self.python = python and data.draw(st.integers(0, 2), label="python") == 2
        self.rng = np.random.default_rng(data.draw(st.integers(0, 2**16), label="seed"))
        self.pool = self.rng.permutation(128)
        self.used = 0
        self.least = 0

    def pick(self, options: Sequence[Any]) -> Any:
        return self.data.draw(st.sampled_from(options))

    def shape(self, least: int = 0, most: int = 4) -> Shape:
        return self.data.draw(shapes(0 if self.loose else max(least, self.least), most), label="shape")

    def broadcasting(self, count: int, least: int = 0) -> list[Shape]:
        """Shapes that broadcast together: some axes of one are 1, some leading ones are missing."""
        if self.loose:
            return [self.shape() for _ in range(count)]
        whole = self.shape(least)
        return [self._thinned(whole, least) for _ in range(count)] if count > 1 else [whole]

    def _thinned(self, shape: Shape, least: int) -> Shape:
        rank = max(least, len(shape) - self.data.draw(st.integers(0, 2), label="missing axes"))
        ones = self.data.draw(st.lists(st.booleans(), min_size=rank, max_size=rank), label="ones")
        return tuple([1 if one else n for n, one in zip(shape[len(shape) - rank :], ones, strict=True)])

    # ------------------------------------------------------------------ entries
    def array(self, shape: Shape, domain: str | None = None) -> Any:
        values = np.asarray(DOMAINS[domain or "real"](self, shape))
        if values.dtype.kind == "f":
            values = self._cast(values)
        if shape == () and self.python and values.dtype.kind in "fc":
            return values.item()
        return values

    def _cast(self, values: Any) -> Any:
        if self.dtype.kind == "c":
            values = values + 1j * self.rng.uniform(0.2, 0.6, values.shape)
        return np.asarray(values, dtype=self.dtype)

    def uniform(self, low: float, high: float, shape: Shape) -> Any:
        return np.asarray(self.rng.uniform(low, high, shape))

    def sign(self, shape: Shape) -> Any:
        return self.rng.choice([-1.0, 1.0], shape)

    def apart(self, shape: Shape) -> Any:
        """Entries that differ from one another, from those of other arrays, and from the bounds in samples."""
        count = int(np.prod(shape, dtype=int))
        taken = self.pool[(self.used + np.arange(count)) % len(self.pool)]
        self.used += count
        return ((taken - 64 + 0.37) * 0.11).reshape(shape)


def _real(draw: Draw, shape: Shape) -> Any:
    values = draw.uniform(-2.0, 2.0, shape)
    return np.where(draw.rng.uniform(size=shape) < 0.05, 0.0, values)


def _specials(draw: Draw, shape: Shape) -> Any:
    chosen = draw.rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], shape)
    return np.where(draw.rng.uniform(size=shape) < 0.5, chosen, draw.uniform(-2, 2, shape))


def _with_nan(draw: Draw, shape: Shape) -> Any:
    return np.where(draw.rng.uniform(size=shape) < 0.25, np.nan, draw.apart(shape) / 4)


DOMAINS: dict[str, Callable[[Draw, Shape], Any]] = {
    "real": _real,
    "positive": lambda draw, shape: draw.uniform(0.3, 3.0, shape),
    "nonzero": lambda draw, shape: draw.uniform(0.3, 2.0, shape) * draw.sign(shape),
    "unit": lambda draw, shape: draw.uniform(-0.9, 0.9, shape),
    "above_one": lambda draw, shape: draw.uniform(1.2, 3.0, shape),
    "above_three": lambda draw, shape: draw.uniform(3.2, 6.0, shape),
    "share": lambda draw, shape: draw.uniform(0.05, 0.95, shape),
    "inner_share": lambda draw, shape: draw.uniform(0.2, 0.8, shape),
    "small": lambda draw, shape: draw.uniform(-0.6, 0.6, shape),
    "order": lambda draw, shape: draw.rng.integers(1, 4, shape),
    "away_from_integers": lambda draw, shape: (
        draw.rng.integers(-3, 3, shape) + 0.5 + draw.sign(shape) * draw.uniform(0.1, 0.4, shape)
    ),
    "distinct": Draw.apart,
    "integer": lambda draw, shape: draw.rng.integers(0, 4, shape),
    "boolean": lambda draw, shape: draw.rng.integers(0, 2, shape).astype(bool),
    "negative": lambda draw, shape: draw.uniform(-1.5, -0.5, shape),
    "byte": lambda draw, shape: draw.rng.integers(0, 256, shape).astype(np.uint8),
    "sorted": lambda draw, shape: np.sort(draw.apart(shape), axis=-1) if shape else draw.apart(shape),
    "with_nan": _with_nan,
    "specials": _specials,
}
"""Values within a domain that an operation declares, and two kinds of values that functions of NaN are for."""


def same_at_each_run(count: int) -> settings:
    """So many examples, of which none is kept, shrunk or left out for its time."""
    return settings(
        max_examples=count,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
        derandomize=True,
        deadline=None,
    )


def with_examples(count: int, body: Callable[[Draw], None]) -> None:
    """Run a body on so many examples without 0-d arrays, the same ones at each run; NumPy may warn of the values."""

    @same_at_each_run(count)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        draw = Draw(data)
        draw.least = 1
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body(draw)

    run()
