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


@pytest.mark.parametrize("why", ["the user forbids it", "there are no more mappings"])
def test_other_memory_is_numpys(monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    def refused(*of: object, **more: object) -> object:
        raise OSError("cannot allocate memory")

    if why == "the user forbids it":
        monkeypatch.setenv("NUMPY_MADVISE_HUGEPAGE", "0")
    if why == "there are no more mappings":
        monkeypatch.setattr(mmap, "mmap", refused)
    one = pool.array((HUGE,), np.dtype(np.uint8))
    one[...] = 7
    assert one.base.base is None and int(one.min()) == int(one.max()) == 7


tells = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell what it has given")


def given() -> int:
    """What the system has given to this process, in bytes."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * mmap.PAGESIZE


@tells
@pytest.mark.parametrize("size", [pool.LARGE + 1, HUGE - 4096, HUGE + 1, HUGE * 9 // 4, HUGE * 63 // 16, 10**6 * 8])
def test_memory_is_given_for_what_is_in_it(size: int) -> None:
    pool.array((size,), np.dtype(np.uint8))
    pool.give_back()
    before, held = given(), [pool.array((size,), np.dtype(np.uint8)) for _ in range(8)]
    for one in held:
        one[...] = 1
    assert given() - before < 8 * (size + HUGE // 16 + mmap.PAGESIZE) + HUGE // 8


@needs_huge_pages
@pytest.mark.parametrize("refused", ["all", "what is given at once"])
def test_advice_that_a_system_does_not_know_is_not_needed(monkeypatch: pytest.MonkeyPatch, refused: str) -> None:
    asked: list[int] = []

    class Older(mmap.mmap):
        def madvise(self, option: int, *where: int) -> None:
            asked.append(option)
            if refused == "all" or option != mmap.MADV_HUGEPAGE:
                raise OSError("invalid argument")
            super().madvise(option, *where)

    monkeypatch.setattr(mmap, "mmap", Older)
    found = [pool.array((size,), np.dtype(np.uint8)) for size in (pool.LARGE, HUGE + 4096)]
    for k, one in enumerate(found):
        one[...] = k
    assert asked and [int(one.min()) for one in found] == [int(one.max()) for one in found] == [0, 1]


def test_what_is_given_back_is_what_nobody_holds() -> None:
    shapes = [(pool.LARGE,), (pool.LARGE,), (HUGE + 1,)]
    held, _, _ = found = [pool.array(shape, np.dtype(np.uint8)) for shape in shapes]
    held[...] = 7
    del found, _
    before = sum(map(len, pool._buffers.values()))
    pool.give_back()
    assert (before, sum(map(len, pool._buffers.values()))) == (3, 1)
    other = pool.array((pool.LARGE,), np.dtype(np.uint8))
    other[...] = 8
    assert place(other) != place(held) and int(held.min()) == int(held.max()) == 7


@tells
@needs_llvm
def test_while_the_compiler_is_loaded_only_what_somebody_holds_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what it needed to be loaded is let go before it works."""
    from symbolic.backends.native import engine, sparing

    let_go: list[int] = []
    monkeypatch.setattr(sparing, "let_go", lambda: let_go.append(sum(map(len, pool._buffers.values()))))
    monkeypatch.setattr(pool, "_sizes", set())
    engine._started.__wrapped__()
    assert let_go == []  # nothing large: then it only costs time
    held, gone = (pool.array((pool.LARGE,), np.dtype(np.uint8)) for _ in range(2))
    del gone
    engine._started.__wrapped__()
    assert let_go == [1] and held.nbytes == pool.LARGE


@tells
def test_memory_that_is_not_kept_goes_back_to_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
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
