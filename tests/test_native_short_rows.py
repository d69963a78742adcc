"""Are short rows right whatever a vector has, with fewer entries than it, as many, or a few more?

The oracles are NumPy's functions, in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compiling import PROCESSORS, processor

from symbolic import symbolic
from symbolic.backends.native.loops import Writer

pytest.importorskip("llvmlite")

WALKS: dict[str, Callable[[Any], Any]] = {
    "sums": lambda x: np.sum(x * x, axis=-1),
    "products": lambda x: np.prod(x, axis=-1),
    "the greatest": lambda x: np.max(x, axis=-1) - np.min(np.abs(x), axis=-1),
    "all of it": lambda x: np.sum(np.exp(-np.abs(x))),
    "columns": lambda x: np.sum(np.tanh(x), axis=0),
    "entries": lambda x: np.where(x > 0, np.sqrt(np.abs(x)), np.log1p(np.abs(x))),
    "shares": lambda x: np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True),
    "every second": lambda x: np.sum(x[:, ::2] * 2, axis=-1),
    "backwards": lambda x: x[:, ::-1] * 3 + x,
    "in whole numbers": lambda x: np.sum(x > 0, axis=-1),
    "in other precision": lambda x: np.sum(x.astype(np.float64) * 2, axis=-1) + np.sum(x.astype(np.float32), axis=-1),
    "what is largest": lambda x: np.where(x == np.max(x, axis=-1, keepdims=True), x, 0) * 2,
}
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 33]


@pytest.mark.parametrize("level", PROCESSORS)
@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_short_rows_are_what_numpy_makes_of_them(level: str, name: str, dtype: Any) -> None:
    from symbolic.backends.native.machine import Native

    host = processor(level)
    net: Any = symbolic(WALKS[name], np.ndarray, returns=np.ndarray)
    for size in SIZES:
        plain = np.random.default_rng(size).normal(size=(5, size)).astype(dtype)
        for special in (False, True):
            if special:
                plain[1, 0], plain[2, -1], plain[3, size // 2] = np.nan, np.inf, -0.0
            with np.errstate(all="ignore"):
                (found,) = Native(net.program(plain), on=host).run([plain])  # type: ignore[misc]  # it has one result
                expected = WALKS[name](plain.astype(np.float64))
                assert np.asarray(found).dtype == np.asarray(WALKS[name](plain)).dtype
            np.testing.assert_allclose(found, expected, rtol=3e-6 if dtype == np.float32 else 1e-13, atol=1e-6)


@pytest.mark.parametrize("level", PROCESSORS)
@pytest.mark.parametrize("size", SIZES[1:])
def test_a_vector_is_no_longer_than_its_row(
    level: str, size: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """No lane is in vain, but in a row that no power of two fills; and none is shorter than every processor has."""
    from symbolic.backends.native.machine import Native

    monkeypatch.setenv("SYMBOLIC_CACHE_DIR", str(tmp_path))
    seen: list[tuple[int, int]] = []
    write = Writer.write

    def noted(self: Writer, name: str) -> Any:
        function = write(self, name)
        seen.append((self.lanes, self.axes.sizes[-1]))
        return function

    monkeypatch.setattr(Writer, "write", noted)
    host = processor(level)
    x = np.ones((50, size), np.float32)
    net: Any = symbolic(lambda x: np.sum(x * x, axis=-1), np.ndarray, returns=np.ndarray)
    Native(net.program(x), on=host).run([x])
    assert seen[0] == (min(max(1 << (size - 1).bit_length(), 4), host.vector_bits // 32), size)
