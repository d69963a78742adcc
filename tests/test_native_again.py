"""Is what is computed again where it is read the same value, and is it less to keep?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

import symbolic as s
from symbolic.backends.native import shares

pytest.importorskip("llvmlite")
from symbolic.backends.native import again, blocks, host, machine, making  # what LLVM is needed for
from symbolic.backends.native.lowering import Contract, External, Point, Write
from symbolic.backends.native.nests import Nest

RNG = np.random.default_rng(16)


def normed(x: Any) -> Any:
    """Layer norm, several times, with softmax between."""
    for _ in range(3):
        centred = x - np.mean(x, axis=-1, keepdims=True)
        y = centred / np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + 1e-5) * 1.5 + 0.25
        powers = np.exp(y - np.max(y, axis=-1, keepdims=True))
        x = x + y * powers / np.sum(powers, axis=-1, keepdims=True)
    return np.mean(x * x)


def attention(x: Any) -> Any:
    scores = x @ np.swapaxes(x, -1, -2) / 3
    scores = np.where(scores > -1, scores, -9.0)
    shares = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return np.mean((shares / np.sum(shares, axis=-1, keepdims=True) @ x) ** 2)


def parts(x: Any) -> Any:
    """Values that come together from parts, and are moved."""
    y = np.concatenate([x * 2, -x], axis=0)
    y[1:3] = y[2:4] / (1 + np.sum(x * x))
    z = np.maximum(y[::-1] - np.mean(y), 0.1)
    return np.sum(z / (y * y + 1) * np.sqrt(z))


def ratios(x: Any) -> Any:
    """Long ways of quick operations, all of whose values are read on the way back."""
    y = x
    for k in range(5):
        y = y / (1 + y * y) - np.minimum(y, 0.5) * np.max(np.abs(y)) / (k + 2)
    return np.sum(y * y) / (1 + np.sum(np.abs(x)))


def spectrum(x: Any) -> Any:
    """NumPy's own instruction with several results."""
    values, _ = np.linalg.eigh(np.swapaxes(x, -1, -2) @ x)
    return values / (1 + np.sum(values))


def standard(x: Any) -> Any:
    return (x - np.mean(x, axis=-1, keepdims=True)) / np.sqrt(np.var(x, axis=-1, keepdims=True) + 0.1)


def moved(x: Any) -> Any:
    y = x * 1.0
    y[:, 0] = x[:, 1]
    return np.mean(standard(standard(y)) ** 2)


def residual(x: Any) -> Any:
    powers = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return np.mean((x + powers / np.sum(powers, axis=-1, keepdims=True) @ np.swapaxes(x, -1, -2) @ x) ** 2)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "norms": normed,
    "norms of norms": lambda x: np.mean(standard(standard(x)) ** 2),
    "norms of what is moved": moved,
    "attention": attention,
    "beside attention": residual,
    "parts": parts,
    "ratios": ratios,
    "of columns": lambda x: np.sum((x / np.sqrt(np.mean(x * x, axis=0) + 1)) * np.mean(x / 2, axis=0)),
    "some of it NumPy's": lambda x: np.sum(np.sort(x / 2, axis=-1) * x / (1 + x * x)) + np.sum(spectrum(x)),
    "whole numbers": lambda x: np.sum(x * np.floor(x * 3).astype(np.int64) / (1 + np.max(x))),
}


@pytest.fixture
def keen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Whatever is cheap is computed again, however small; gives what was."""
    found: list[Any] = []
    put = again._Again._put

    def noted(self: Any, place: int, way: Any) -> None:
        found.append(way)
        put(self, place, way)

    monkeypatch.setattr(again, "_MUCH", 0)
    monkeypatch.setattr(again, "_LARGE", 0)
    monkeypatch.setattr(again, "_SMALL", 4)
    monkeypatch.setattr(again._Again, "_is_one_run", lambda *of: False)
    monkeypatch.setattr(again._Again, "_near", lambda *of: True)
    monkeypatch.setattr(again._Again, "_put", noted)
    return found


def graded(program: Any, x: Any, way: Literal["native", "numpy"]) -> tuple[Any, Any]:
    with s.use(way):
        value, (by,) = s.value_and_grad(lambda x: program(x), (0,))(x)
        return np.asarray(value), np.asarray(by)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients_are_the_same(name: str, dtype: Any, keen: list[Any]) -> None:
    for shape in ((6, 5), (9, 40), (2, 7, 17)):
        x = RNG.normal(size=shape).astype(dtype)
        for got, want in zip(graded(PROGRAMS[name], x, "native"), graded(PROGRAMS[name], x, "numpy"), strict=True):
            close = 300 * float(np.finfo(dtype).eps)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=close, atol=close * float(np.max(np.abs(want))))


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_computed_again_runs_in_blocks(name: str, keen: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in memory for all rows is not written as if it were there for a block."""
    monkeypatch.setattr(blocks, "_WORTH", 0)
    monkeypatch.setattr(blocks, "_ROOM", 1 << 10)
    for shape in ((64, 33), (40, 8), (300, 2)):
        x = RNG.normal(size=shape)
        for got, want in zip(graded(PROGRAMS[name], x, "native"), graded(PROGRAMS[name], x, "numpy"), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-11 * float(np.max(np.abs(want))))


def test_some_is_computed_again(keen: list[Any]) -> None:
    for name in ("norms", "ratios", "of columns"):
        keen.clear()
        graded(PROGRAMS[name], RNG.normal(size=(9, 41)), "native")
        assert keen, name


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_read_before_it_is_there(name: str, keen: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """In a register from a step before, in memory from a stage before that writes it, or from outside."""
    made: list[Any] = []
    loaded = making.Making.loaded

    def noted(self: Any, key: str) -> Any:
        made.append(self)
        return loaded(self, key)

    monkeypatch.setattr(making.Making, "loaded", noted)
    graded(PROGRAMS[name], RNG.normal(size=(8, 43)), "native")
    for one in made:
        ordered(one.schedule)
    assert made


def ordered(schedule: Any) -> None:
    lowered, there = (
        schedule.lowered,
        set(range(len(schedule.lowered.program.leaves))) | set(schedule.lowered.constants),
    )
    for stage in schedule.stages:
        if not isinstance(stage, Nest):
            there.add(stage.target)
            assert isinstance(stage, (Contract, External)) or stage
            continue
        registers: set[int] = set()
        for step in stage.steps:
            for one in (*step.operands, *step.numbers):
                assert one.base in (registers if stage.holds(one) else there), f"{one} in {lowered.program}"
            registers |= {step.task.target} if isinstance(step.task, Point) else set()
        there |= stage.stored | {step.task.target for step in stage.steps if isinstance(step.task, Write)}


def test_special_numbers_go_the_same_way(keen: list[Any]) -> None:
    """NaN, infinities, zeros with a sign and numbers near zero: forward as ever, on the way back as it was without."""
    x = RNG.normal(size=(7, 33))
    x[1, 3], x[2, 5], x[3, 2], x[4, 4], x[5, 1] = np.nan, np.inf, -0.0, 5e-324, -np.inf

    def program(x: Any) -> Any:
        y = -x / np.sqrt(np.mean(np.where(np.isfinite(x), x, 1.0) ** 2, axis=-1, keepdims=True))
        return np.sum(np.where(np.isfinite(y), y * np.abs(y), 0.0) / 2)

    with np.errstate(all="ignore"):
        for got, want in zip(graded(program, x, "native"), graded(program, x, "numpy"), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_results_do_not_depend_on_how_many_threads_there_are(keen: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shares, "LEAST", -1.0)
    x = RNG.normal(size=(60, 45))
    found: dict[str, set[bytes]] = {name: set() for name in PROGRAMS}
    for threads in (1, 2):
        monkeypatch.setenv("SYMBOLIC_THREADS", str(threads))
        on = host.host()._replace(shares=threads > 1)
        for module in (machine, making):
            monkeypatch.setattr(module, "host", lambda on=on: on)
        for name, program in PROGRAMS.items():
            found[name].add(b"".join(one.tobytes() for one in graded(program, x, "native")))
    assert {name: len(one) for name, one in found.items()} == dict.fromkeys(PROGRAMS, 1)


@pytest.mark.parametrize("rows", [8, 400])
def test_less_is_kept_where_much_was(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long way forward and back over large values takes less memory; what stays in the caches is left as it was."""
    sizes: list[int] = []
    place = machine.Native._place

    def noted(self: Any, recipe: Any) -> None:
        sizes.append(recipe["arena"])
        place(self, recipe)

    monkeypatch.setattr(machine.Native, "_place", noted)
    graded(normed, RNG.normal(size=(rows, 600)), "native")
    monkeypatch.setattr(making, "again", lambda schedule: None)
    graded(normed, RNG.normal(size=(rows, 601)), "native")
    assert sizes[0] < 0.9 * sizes[1] if rows == 400 else sizes[0] > 0.95 * sizes[1]
