"""Is work that is divided among threads the same work? Whatever they are, and whoever takes which share."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import symbolic as s
from symbolic.backends.native import shares
from symbolic.backends.native.lowering import Write

pytest.importorskip("llvmlite")
from symbolic.backends.native import assembly, blocks, host, machine, making, team, trials  # what LLVM is needed for
from symbolic.backends.native.engine import load
from symbolic.backends.native.text import Module

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="one thread elsewhere")
RNG = np.random.default_rng(15)
COUNTING = """
define void @work(ptr %table, i64 %i, i64 %who) {
  %place = getelementptr i64, ptr %table, i64 %i
  %old = load i64, ptr %place
  %new = add i64 %old, 1
  store i64 %new, ptr %place
  ret void
}
define void @meeting(ptr %table, i64 %i, i64 %who) {
entry:
  %place = getelementptr i64, ptr %table, i64 %who
  %others = atomicrmw add ptr %place, i64 1 seq_cst
  br label %stay
stay:
  %k = phi i64 [ 0, %entry ], [ %more, %stay ]
  %there = load atomic i64, ptr %place seq_cst, align 8
  %more = add i64 %k, %there
  %short = icmp ult i64 %more, 50000
  br i1 %short, label %stay, label %leave
leave:
  %met = getelementptr i64, ptr %table, i64 8
  %so = atomicrmw add ptr %met, i64 %others seq_cst
  %after = atomicrmw sub ptr %place, i64 1 seq_cst
  ret void
}
define void @meet(ptr %team, ptr %table, i64 %count) {
  %how = load ptr, ptr %team
  call void %how(ptr %team, ptr @meeting, ptr %table, i64 %count)
  ret void
}
define void @go(ptr %team, ptr %table, i64 %count) {
  %how = load ptr, ptr %team
  call void %how(ptr %team, ptr @work, ptr %table, i64 %count)
  ret void
}
"""


@pytest.fixture
def go(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, int], None]:
    """Adds 1 to so many first entries of an array, each by whoever comes first."""
    return called("go", monkeypatch)


def called(name: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, int], None]:
    monkeypatch.setenv("SYMBOLIC_THREADS", "3")
    library = load(COUNTING)
    code = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(library.address(name))
    code.library = library  # type: ignore[attr-defined]  # it must stay
    address = team.address()
    return lambda table, count: code(address, table.ctypes.data, count)


def test_each_ticket_is_taken_once(go: Any) -> None:
    table = np.zeros(1000, np.int64)
    for k in range(2000):
        go(table, (0, 1, 7, 1000)[k % 4])
    assert (table == np.repeat([1500, 1000, 500], [1, 6, 993])).all()


def test_no_two_threads_have_one_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each has memory of its own, that is its own. So many pauses that helpers sleep, and wake, in between."""
    meet = called("meet", monkeypatch)
    table = np.zeros(9, np.int64)
    for k in range(400):
        meet(table, 16)
        if k % 40 == 0:
            time.sleep(0.002)
    assert not table.any()  # nobody is within, and nobody has met somebody


def test_callers_at_the_same_time_do_not_mix(go: Any) -> None:
    tables = [np.zeros(100, np.int64) for _ in range(4)]

    def call(table: Any) -> None:
        for _ in range(1000):
            go(table, 100)

    threads = [threading.Thread(target=call, args=(one,)) for one in tables]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert all((one == 1000).all() for one in tables)


def test_a_child_of_a_fork_works_alone(go: Any) -> None:
    table = np.zeros(50, np.int64)
    go(table, 50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other libraries that this process has loaded warn of forks
        child = os.fork()
    if child == 0:
        go(table, 50)
        team.address()
        go(table, 50)
        os._exit(0 if (table == 3).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
    go(table, 50)
    assert (table == 2).all()


# ---------------------------------------------------------------------- programs


@pytest.fixture(params=[1, 3])
def divided(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """All work is divided that can be, on so many threads."""
    threads: int = request.param
    monkeypatch.setenv("SYMBOLIC_THREADS", str(threads))
    monkeypatch.setattr(shares, "LEAST", -1.0)
    monkeypatch.setattr(blocks, "_WORTH", 1)
    monkeypatch.setattr(blocks, "_ROOM", 1 << 10)
    on_threads(monkeypatch, threads > 1)
    yield threads


def on_threads(monkeypatch: pytest.MonkeyPatch, shared: bool) -> None:
    """Programs are made from now on for a processor on which work is divided, or is not."""
    wanted = host.host()._replace(shares=shared)
    for one in (machine, making):
        monkeypatch.setattr(one, "host", lambda: wanted)


def code_of(program: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The assembly of a program."""
    found: list[Any] = []

    class Noted(assembly.Assembly):
        def __init__(self, *of: Any) -> None:
            super().__init__(*of)
            found.append(self)

    monkeypatch.setattr(making, "Assembly", Noted)
    making.Making(program).loaded("")
    return found[0]


def softmax(x: Any, y: Any) -> Any:
    z = np.tanh(x @ y)
    z = np.exp(z - np.max(z, axis=-1, keepdims=True))
    return np.sum(np.sqrt(z / np.sum(z, axis=-1, keepdims=True) + 1), axis=0)


def rows(x: Any, y: Any) -> Any:
    z = np.exp(np.cos(x))
    z = z / np.sum(z, axis=-1, keepdims=True)
    return z - np.max(z, axis=-1, keepdims=True)


def into_parts(x: Any, y: Any) -> Any:
    z = np.tanh(x) + y.reshape(-1)[1]
    z[..., 1:, :] += x[..., :-1, :] * 2
    z[..., :-1, :] += x[..., 1:, :] / 2
    z[..., ::2, 1:] = x[..., ::2, :-1] - 1
    return z[::-1] * 3


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "entries": lambda x, y: np.exp(np.sin(x)) * y.reshape(-1)[0],
    "sums": lambda x, y: np.sum(x * x) + np.max(y) * np.min(x),
    "sums of columns": lambda x, y: np.sum(x**2, axis=0) - np.max(x, axis=0),
    "sums of rows": lambda x, y: np.sum(np.cos(x), axis=-1),
    "products": lambda x, y: np.maximum(x @ y + 0.5, 0),
    "the other way": lambda x, y: y.T @ x.swapaxes(-1, -2),
    "softmax": softmax,
    "row by row": rows,
    "tensors": lambda x, y: np.einsum("...ij,jk->...ki", x, y),
    "in a batch": lambda x, y: (x - np.mean(x, axis=-1, keepdims=True)) * (x @ y @ y.T),
    "sums of a batch": lambda x, y: np.sum(x * x, axis=(0, 1)) / 3 + np.max(np.cos(x), axis=(0, 1)),
    "parts together": lambda x, y: np.concatenate([x * 2, np.exp(x), x[..., :1, :] / 3], axis=-2) + y.reshape(-1)[0],
    "into parts": into_parts,
    "cut": lambda x, y: x[..., : max(1, x.shape[-2] - 3), :] @ y,
    "rows by rows": lambda x, y: x @ np.swapaxes(x, -1, -2) + np.mean(y),
}
SHAPES = [
    ((1, 3), (3, 2)),
    ((130, 33), (33, 150)),
    ((60, 70), (70, 300)),
    ((513, 9), (9, 17)),
    ((16, 20, 30), (30, 40)),
    ((3, 50, 30), (30, 160)),
    ((2, 2, 7, 65), (65, 170)),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_divided_program_is_the_program(divided: int, name: str, dtype: Any) -> None:
    for one, other in SHAPES:
        x, y = RNG.normal(size=one).astype(dtype), RNG.normal(size=other).astype(dtype)
        want = PROGRAMS[name](x, y)
        with s.use("native"):
            net = s.symbolic(lambda x, y: PROGRAMS[name](x, y), np.ndarray, np.ndarray)
            got = net.predict(x, y)
        close = 400 * np.finfo(dtype).eps
        np.testing.assert_allclose(got, want, rtol=close, atol=close * float(np.max(np.abs(want))), err_msg=f"{one}")


@pytest.mark.parametrize(
    "shapes",
    [((700, 90), (90, 200)), ((100, 30), (30, 65)), ((16, 25, 20), (20, 129)), ((3, 30, 40), (40, 300))],
    ids=str,
)
def test_results_do_not_depend_on_how_many_threads_there_are(shapes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = (np.ascontiguousarray(RNG.normal(size=one)) for one in shapes)
    found: dict[str, set[bytes]] = {name: set() for name in PROGRAMS}
    monkeypatch.setattr(shares, "LEAST", -1.0)
    for threads in (1, 2, 3):
        monkeypatch.setenv("SYMBOLIC_THREADS", str(threads))
        on_threads(monkeypatch, threads > 1)
        for name, program in PROGRAMS.items():
            with s.use("native"):
                net = s.symbolic(lambda x, y, program=program: program(x, y), np.ndarray, np.ndarray)
                found[name].add(np.asarray(net.predict(x, y)).tobytes())
    assert {name: len(one) for name, one in found.items()} == dict.fromkeys(PROGRAMS, 1)


def test_what_is_not_finite_in_any_share_is_seen(divided: int) -> None:
    x = np.full(5000, 1.0)
    with s.use("native"):
        net = s.symbolic(lambda x: np.log(x) * 2, np.ndarray)
        for at in (0, 2600, 4999):
            bad = x.copy()
            bad[at] = 0.0
            with np.errstate(divide="raise"), pytest.raises(s.SymbolicError, match="divide by zero"):
                net.predict(bad)
            np.testing.assert_array_equal(net.predict(x), np.zeros(5000))


def test_steps_are_the_same_steps(divided: int) -> None:
    """Products, their gradients and updates, in one call into machine code."""
    x, y = RNG.normal(size=(96, 40)).astype(np.float32), RNG.normal(size=(96, 10)).astype(np.float32)
    start = RNG.normal(size=(40, 130)).astype(np.float32), RNG.normal(size=(130, 10)).astype(np.float32)
    losses: list[Any] = []
    for way in ("numpy", "native"):
        with s.use(way):
            w, v = s.Weight(start[0].copy()), s.Weight(start[1].copy())
            net = s.symbolic(lambda x, y, w=w, v=v: np.mean((np.tanh(x @ w) @ v - y) ** 2), np.ndarray, np.ndarray)
            step = net.trainer(s.SGD(0.01))
            losses.append([float(step(x, y)) for _ in range(12)])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


def test_work_is_divided_where_it_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    on_threads(monkeypatch, True)

    def kinds(*inputs: Any) -> set[type]:
        with s.use("native"):
            net = s.symbolic(lambda x: np.sum(np.exp(x)), np.ndarray)
            code = code_of(net.program(*inputs), monkeypatch)
        return {type(one) for calls in code.segments for one in calls}

    assert assembly.Shared not in kinds(np.zeros(1000))
    assert assembly.Shared in kinds(np.zeros(1_000_000))


@pytest.mark.parametrize("shape", [(3, 400, 90), (2, 3, 5, 7, 500), (1, 90_000), (2, 90_000), (5, 2, 8000)], ids=str)
def test_few_steps_of_the_first_axis_are_many_shares(shape: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    on_threads(monkeypatch, True)
    monkeypatch.setattr(shares, "LEAST", -1.0)
    with s.use("native"):
        net = s.symbolic(lambda x: np.exp(x) / 2, np.ndarray)
        code = code_of(net.program(np.zeros(shape)), monkeypatch)
    (shared,) = [one for calls in code.segments for one in calls if isinstance(one, assembly.Shared)]
    assert len(shared.calls) >= 6


@pytest.mark.parametrize("shape", [(9, 8000), (60, 1000), (8, 40_000), (40_000,)], ids=str)
def test_blocks_are_many_enough_for_shares_of_about_the_same_size(shape: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    on_threads(monkeypatch, True)
    monkeypatch.setattr(shares, "LEAST", -1.0)

    def f(x: Any) -> Any:
        for _ in range(4):
            x = np.exp(x - np.mean(x, axis=-1, keepdims=True)) if x.ndim > 1 else cut(x)
        return x

    def cut(x: Any) -> Any:
        for _ in range(50):
            x = np.cos(x) * 2
        return x

    with s.use("native"):
        code = code_of(s.symbolic(lambda x: f(x), np.ndarray).program(np.zeros(shape)), monkeypatch)
    groups = [one for one in code.native.groups.values() if one.block < one.rows]
    assert groups
    for group in groups:
        found = [one.many for one in code.native.divided(group)]
        assert len(found) > 4 and max(found) <= 2 * min(found), found


def stencil(x: Any) -> Any:
    y = np.zeros((1200, 1000))
    y[1:-1, 1:-1] = x[2:, 1:-1] + x[:-2, 1:-1] - np.exp(x[1:-1, 2:])
    return y


def meeting(x: Any) -> Any:
    y = np.sin(x)
    y[1:] += x[:-1] * 3
    y[:-1] += np.exp(x[1:])
    return y


def named(x: Any) -> Any:
    y = np.sin(x)
    y[np.arange(1200) % 7] = np.exp(x)
    return y


@pytest.mark.parametrize("f, apart", [(stencil, True), (meeting, True), (named, False)])
def test_what_is_written_into_parts_is_divided_where_rows_are_apart(f: Any, apart: bool, monkeypatch: Any) -> None:
    """Where two write into one target, each in loops of its own; never where numbers say which rows."""
    on_threads(monkeypatch, True)
    with s.use("native"):
        native = code_of(s.symbolic(lambda x: f(x), np.ndarray).program(np.zeros((1200, 1000))), monkeypatch).native
    nests = [one for one in native.schedule.stages if hasattr(one, "steps")]
    writing = [one for one in nests if any(isinstance(step.task, Write) for step in one.steps)]
    found = [bool(shares.of_nest(one, native.lowered, native.host)) for one in writing]
    assert any(found) if apart else not any(found)
    for one in [one for one, divided in zip(writing, found, strict=True) if divided]:
        targets = [step.task.target for step in one.steps if isinstance(step.task, Write) and not step.task.once]
        assert len(targets) == len(set(targets))


def test_no_two_threads_have_memory_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums are each share's own; panels of a product, and what lives within a block, each thread's."""
    on_threads(monkeypatch, True)
    monkeypatch.setattr(shares, "LEAST", -1.0)
    x, y = RNG.normal(size=(500, 300)), RNG.normal(size=(300, 400))
    found: set[bool] = set()
    for program in (PROGRAMS["products"], softmax, lambda x, y: np.sum(x) * np.sum(y)):
        with s.use("native"):
            net = s.symbolic(lambda x, y, program=program: program(x, y), np.ndarray, np.ndarray)
            code = code_of(net.program(x, y), monkeypatch)
        for shared in [one for calls in code.segments for one in calls if isinstance(one, assembly.Shared)]:
            own = [{place for place in places_of(one) if within(code, place)} for one in shared.calls]
            sums = [place for some in own for place in some if not place.each]
            assert len(set(sums)) == len(sums)
            rooms = {(code.place(place.base)[1], place.each) for some in own for place in some if place.each}
            spans = sorted((at, at + host.MOST_THREADS * each) for at, each in rooms)
            assert all(stop <= start for (_, stop), (start, _) in pairwise([*spans, (code.native.arena, 0)]))
            found |= {bool(place.each) for some in own for place in some}
    assert found == {False, True}


def test_each_thread_has_as_much_memory_as_a_share_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    on_threads(monkeypatch, True)
    monkeypatch.setattr(shares, "LEAST", -1.0)
    x, y = RNG.normal(size=(500, 300)), RNG.normal(size=(300, 400))
    with s.use("native"):
        net = s.symbolic(lambda x, y: softmax(x, y), np.ndarray, np.ndarray)
        code = code_of(net.program(x, y), monkeypatch)
    kinds, seen = list(code.kinds), 0
    for shared in [one for calls in code.segments for one in calls if isinstance(one, assembly.Shared)]:
        for one in shared.calls:
            if isinstance(one, assembly.Blocks):
                for place in [place for place in places_of(one) if place.base in one.group.kept]:
                    assert place.each >= code.native.schedule.size(place.base) // one.group.rows * one.group.block > 0
                    seen += 1
            elif hasattr(kinds[one.kind], "workspace"):
                (each,) = {place.each for place in one.pointers if place.base == assembly.WORK}
                assert each >= kinds[one.kind].workspace > 0
                seen += 1
    assert seen > 10


def places_of(one: Any) -> list[Any]:
    calls = [*one.begun, *one.whole, *one.left] if isinstance(one, assembly.Blocks) else [one]
    return [place for call in calls for place in call.pointers]


def within(code: Any, place: Any) -> bool:
    """Whether a place is a share's own, or a thread's."""
    return place.base == assembly.WORK or any(place.base in one.kept for one in code.native.groups.values())


def test_a_number_of_threads_that_is_none_is_told() -> None:
    code = "from symbolic.backends.native.host import threads\nprint(threads())"
    cases = [("2", "", "2"), ("1", "3", "1"), ("100", "", "4"), ("", "1", "1"), ("", "2,4", "2")]
    for word, others, out in cases:
        said = {"SYMBOLIC_THREADS": word, "OMP_NUM_THREADS": others}
        run = subprocess.run([sys.executable, "-c", code], env={**os.environ, **said}, capture_output=True)
        assert run.stdout.decode().strip() == out
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "SYMBOLIC_THREADS": "two"}, capture_output=True
    )
    assert b"SYMBOLIC_THREADS is 'two'" in run.stderr


# --------------------------------------------------------------------------- with others, or alone


def trial() -> Callable[[Any, int], bool]:
    """One run at a place: it notes how long it took, and gives whether the others were wanted."""
    module = Module()
    f = module.function("trial", ["ptr", "i64"], "i64")
    run, shared = trials.wanted(f, f.arguments[0])
    trials.noted(f, f.arguments[0], run, shared, f.arguments[1])
    f.give(f.convert("zext", shared, "i64"))
    library = load(str(module))
    code = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(library.address("trial"))
    code.library = library  # type: ignore[attr-defined]  # it must stay
    return lambda site, took: bool(code(site.ctypes.data, took))


def runs(code: Any, site: Any, times: Callable[[int, bool], int], count: int) -> list[bool]:
    """Whether the others were wanted in each run, where a run takes so long."""
    turns = []
    for k in range(count):
        shared = code(site.copy(), 0)  # a look ahead: how long it takes depends on it
        assert code(site, times(k, shared)) is shared
        turns.append(shared)
    return turns


@pytest.mark.parametrize("others_help", [False, True])
def test_the_quicker_way_is_taken(others_help: bool) -> None:
    """Both in turns at first, two runs each, and once more now and then; in between the quicker one."""
    site, code = np.zeros(trials.SITE, np.uint64), trial()
    turns = runs(code, site, lambda k, shared: 1000 if shared is others_help else 2000, 1024)
    assert turns[:16] == [False, False, True, True] * 4
    odd = [k for k in range(16, 1024) if turns[k] is not others_help]
    assert len(odd) == 6, odd
    assert list(site) == [1024, 2000, 1000] if others_help else [1024, 1000, 2000]


def test_what_helps_may_change() -> None:
    """Others become slow: after a few runs the work is done alone. They become quick: soon it is shared again."""
    site, code = np.zeros(trials.SITE, np.uint64), trial()
    busy = {False: 2000}
    for slow, most in ((False, 16), (True, 24), (False, 5000), (True, 24), (False, 5000)):
        busy[True] = 9000 if slow else 1100
        turns = runs(code, site, lambda _, shared: busy[shared], 8192)
        assert all(shared is not slow for k, shared in enumerate(turns[most:], most) if k % 256 > 4), slow


def test_what_makes_it_take_twice_as_long_is_asked_for_seldom() -> None:
    """Of 1024 runs two are of that kind, beside those at first."""
    site, code = np.zeros(trials.SITE, np.uint64), trial()
    turns = runs(code, site, lambda _, shared: 5000 if shared else 1000, 8192)
    assert sum(turns[16:]) == 14


def test_one_run_that_lost_its_core_changes_nothing() -> None:
    site, code = np.zeros(trials.SITE, np.uint64), trial()
    turns = runs(code, site, lambda k, shared: 10**9 if k in (40, 140) else 1200 if shared else 2000, 250)
    assert all(turns[16:])


def test_what_wakes_the_others_is_not_counted() -> None:
    """The first of two runs in turn, once there are times."""
    site, code = np.zeros(trials.SITE, np.uint64), trial()
    runs(code, site, lambda k, shared: 3000 if k % 2 == 0 else 1000, 16)
    assert list(site) == [16, 1000, 1000]


def test_the_clock_goes_forward() -> None:
    module = Module()
    f = module.function("clock", [], "i64")
    f.give(trials.now(f))
    library = load(str(module))
    clock = ctypes.CFUNCTYPE(ctypes.c_int64)(library.address("clock"))
    before = time.monotonic_ns()
    found = [before, *[clock() for _ in range(100)], time.monotonic_ns()]
    assert found == sorted(found)
