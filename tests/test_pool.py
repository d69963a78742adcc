"""Is the memory of large results used again, and only what nobody holds any more?"""

import mmap
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symbolic
from symbolic.backends import pool

FLOAT = np.dtype(float)


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(pool, "_buffers", {})
    yield


def place(array: np.ndarray) -> int:
    return int(array.ctypes.data)


@pytest.mark.parametrize("count", [pool.LARGE // 8, pool.LARGE // 8 + 1, 10**6])
def test_what_nobody_holds_is_used_again_and_what_somebody_holds_is_not(count: int) -> None:
    first, second = (pool.array((count,), FLOAT) for _ in range(2))
    part, places = first[3:7], {place(first), place(second)}
    assert len(places) == 2
    del second
    third = pool.array((count,), FLOAT)
    assert place(third) in places and place(third) != place(first)
    del first
    assert place(pool.array((count,), FLOAT)) not in places  # a part is held
    del part
    assert place(pool.array((count,), FLOAT)) in places


@pytest.mark.parametrize("shape", [(1 << 15,), (513, 129), (3, 1 << 17)])
def test_large_arrays_begin_at_a_line_and_are_whole(shape: tuple[int, ...]) -> None:
    found = [pool.array(shape, np.dtype(np.float32)) for _ in range(3)]
    for k, one in enumerate(found):
        one[...] = k
        assert one.shape == shape and one.dtype == np.float32 and one.flags.c_contiguous and one.flags.writeable
        assert one.nbytes < pool.LARGE or place(one) % 64 == 0
    assert [float(one.min()) for one in found] == [float(one.max()) for one in found] == [0, 1, 2]


def test_no_more_is_kept_than_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_MOST", 4 * pool.LARGE)
    sizes = [pool.LARGE, 2 * pool.LARGE, 3 * pool.LARGE]
    held = [pool.array((size,), np.dtype(np.uint8)) for size in sizes for _ in range(2)]
    kept = sum(one * len(buffers) for one, buffers in pool._buffers.items())
    assert kept <= pool._MOST and all(pool._buffers.values())
    for k, one in enumerate(held):
        one[...] = k
    assert [int(one[-1]) for one in held] == list(range(6))


HUGE = 1 << 21
needs_llvm = pytest.mark.skipif(find_spec("llvmlite") is None, reason="the native machine needs llvmlite")
needs_huge_pages = pytest.mark.skipif(sys.platform != "linux", reason="the system has no such pages")


@needs_huge_pages
@pytest.mark.parametrize("bytes", [HUGE, 8 * HUGE - (HUGE >> 2), 10**6 * 8])
def test_what_fills_large_pages_begins_at_one(bytes: int) -> None:
    found = [pool.array((bytes // 8,), FLOAT) for _ in range(3)]
    for k, one in enumerate(found):
        one[...] = k
        assert place(one) % HUGE == 0 and one.base.nbytes < one.nbytes * 17 // 16 + HUGE + 1
    assert [float(one.min()) for one in found] == [float(one.max()) for one in found] == [0, 1, 2]


@pytest.mark.parametrize("why", ["most of a page would be empty", "the user forbids it", "there are no more mappings"])
def test_other_memory_is_numpys(monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    def refused(*of: object, **more: object) -> object:
        raise OSError("cannot allocate memory")

    if why == "the user forbids it":
        monkeypatch.setenv("NUMPY_MADVISE_HUGEPAGE", "0")
    if why == "there are no more mappings":
        monkeypatch.setattr(mmap, "mmap", refused)
    one = pool.array((HUGE + HUGE // 4 if why.startswith("most") else HUGE,), np.dtype(np.uint8))
    one[...] = 7
    assert one.base.base is None and int(one.min()) == int(one.max()) == 7


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell what it has given")
def test_memory_that_is_not_kept_goes_back_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    def given() -> int:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE

    monkeypatch.setattr(pool, "_MOST", 0)
    before = given()
    held = [pool.array((4 * HUGE,), np.dtype(np.uint8)) for _ in range(4)]
    for one in held:
        one[...] = 1
    assert given() - before > 15 * HUGE
    pool.array((pool.LARGE,), np.dtype(np.uint8))  # now nothing else is kept
    del one, held
    assert given() - before < 2 * HUGE


@pytest.mark.parametrize("machine", ["numpy", pytest.param("native", marks=needs_llvm)])
def test_large_results_of_both_machines_come_from_here(machine: Any) -> None:
    with symbolic.use(machine):
        net = symbolic.symbolic(lambda x, y: (np.exp(x) * 2.0 - y, np.exp(x) + y), np.ndarray, np.ndarray)
        x, y = np.linspace(-1.0, 1.0, 300_000), np.linspace(2.0, 3.0, 300_000)
        first = net.predict(x, y)
        assert all(any(one.base is each for each in pool._buffers[one.nbytes]) for one in first)
        second = net.predict(y, x)  # the first are held
        assert {place(one) for one in first}.isdisjoint(map(place, second))
        for (a, b), (one, other) in zip(((x, y), (y, x)), (first, second), strict=True):
            np.testing.assert_allclose(one, np.exp(a) * 2.0 - b, rtol=1e-14, atol=1e-14)
            np.testing.assert_allclose(other, np.exp(a) + b, rtol=1e-14, atol=1e-14)
        places = {place(one) for one in first}
        del first, one, other
        assert places == {place(one) for one in net.predict(x, y)}
