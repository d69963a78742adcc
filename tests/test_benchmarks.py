"""Is the benchmark honest: do all compute the same, and does its report say what was measured? Nothing is timed."""

import argparse
import json
import xml.etree.ElementTree as ET
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symbolic
from benchmarks import chart, page, report, short
from benchmarks.__main__ import measured, place, resumed
from benchmarks.comparing import Arrays, difference, reference
from benchmarks.forms import Explained
from benchmarks.ranking import best, digits, judged, ratio, size, time
from benchmarks.runs import Choice, ContestantError, Effort, Process, contestants, measure
from benchmarks.surroundings import SLOWING, clean, code, of_contestant
from benchmarks.worker import CHECKED, Worker
from benchmarks.workload import Calls, Goal, Threaded, Workload
from benchmarks.workloads import PLACES, find

NEEDED = {"symbolic native": "llvmlite", "jax": "jax", "W4": "scipy"}


def needed(name: str) -> None:
    for key in (name, name.split()[0]):
        if key in NEEDED and find_spec(NEEDED[key]) is None:
            pytest.skip(f"{NEEDED[key]} is not installed")


def results(workload: Workload, name: str) -> list[Arrays]:
    """As the worker gives them, at the size for tests."""
    machine = name.split()[1] if name.startswith("symbolic ") else "numpy"
    with symbolic.use(machine):  # type: ignore[arg-type]  # one of the names
        running = workload.contestants[name](workload.inputs(workload.tiny))
        found = []
        for n in CHECKED:
            running.loop(n)
            found.append({key: np.array(value) for key, value in running.results().items()})
    return found


def taking_part(workload: Workload) -> list[str]:
    kinds = [kind for kind in ("jax", "numpy") if find_spec(kind) is not None]
    peers = [name for name in workload.contestants if name.split()[0] in kinds]
    machines = ["symbolic numpy", *(["symbolic native"] if find_spec("llvmlite") is not None else [])]
    return [*machines, *peers]


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_all_compute_the_same(name: str) -> None:
    needed(name)
    workload = find(name)
    every = {one: results(workload, one) for one in taking_part(workload)}
    right = reference(every)
    assert all(right) and len(right) == len(CHECKED)
    for one, mine in every.items():
        worst, where = difference(mine, right)
        assert worst <= workload.tolerance, (one, where)


@pytest.mark.parametrize("name", PLACES)
def test_ours_moves_and_says_what_ran_where(name: str) -> None:
    needed(name)
    workload = find(name)
    with symbolic.use("numpy"):
        running = workload.contestants["symbolic numpy"](workload.inputs(workload.tiny))
        running.loop(1)
        assert isinstance(running, Explained)
        assert "NumPy" in running.explain()
    values = running.results()
    assert all(np.all(np.isfinite(one)) for one in values.values())
    gradients = [one for key, one in values.items() if key.startswith(("gradient", "moved"))]
    assert not gradients or all(np.any(one != 0) for one in gradients)


@pytest.mark.parametrize("kind", short.STEPS)
def test_short_scripts_agree(kind: str) -> None:
    with symbolic.use("numpy"):
        assert float(short.run(kind, "symbolic numpy")) == pytest.approx(float(short.run(kind, "numpy")), rel=1e-9)


def test_every_workload_has_our_three_rows_and_a_goal() -> None:
    for name in PLACES:
        workload = find(name)
        assert workload.name == name and workload.goals
        assert {"symbolic auto", "symbolic native", "symbolic numpy"} < set(workload.contestants)
        assert not set(workload.skipped) & set(workload.contestants)
        for goal in workload.goals:
            assert goal.of in workload.contestants and goal.threads in workload.threads


# --------------------------------------------------------------------------- comparing
def test_a_difference_is_a_part_of_the_largest_entry() -> None:
    right = [{"value": np.array([0.0, 100.0])}]
    assert difference([{"value": np.array([1.0, 100.0])}], right) == (0.01, "value")


@pytest.mark.parametrize("wrong", [{"value": np.array([np.nan, 1.0])}, {"value": np.ones(3)}, {}])
def test_what_is_no_number_or_not_there_differs_without_bound(wrong: Arrays) -> None:
    assert difference([wrong], [{"value": np.array([0.0, 1.0])}])[0] == np.inf


def test_no_single_library_is_the_judge_and_ours_is_none() -> None:
    several: dict[str, list[Arrays]] = {
        "symbolic auto": [{"value": np.array(7.0)}],
        "symbolic numpy": [{"value": np.array(7.0)}],
        "jax": [{"value": np.array(1.0)}],
        "torch": [{"value": np.array(1.0)}],
        "mygrad": [{"value": np.array(3.0)}],
        "limit": [{}],
    }
    assert reference(several) == [{"value": 1.0}]


def test_without_peers_ours_are_compared_with_each_other() -> None:
    assert reference({"symbolic numpy": [{"value": np.array(7.0)}], "limit": [{}]}) == [{"value": 7.0}]


# --------------------------------------------------------------------------- judging
def row(*wall: float, agrees: bool = True, first: float = 0.01, peak: float = 2e6) -> dict[str, Any]:
    return {
        "wall": list(wall),
        "busy": list(wall),
        "agrees": agrees,
        "first": first,
        "cached": first / 2,
        "peak": peak,
        "difference": 0.0,
        "where": "",
    }


def result(name: str = "W1", threads: int = 1, **rows: Any) -> dict[str, Any]:
    return {
        "workload": name,
        "title": find(name).title,
        "size": next(iter(find(name).sizes)),
        "threads": threads,
        "rows": {key.replace("_", " "): one for key, one in rows.items()},
        "absent": {"mygrad": "MyGrad is not installed"},
    }


def test_ratios_are_taken_within_rounds() -> None:
    """In the second round the machine was three times slower, for both."""
    one = result(symbolic_auto=row(1.0, 3.0), jax=row(10.0, 30.0))
    assert ratio(one, "jax") == 10.0


def test_wrong_values_are_never_the_best_peer_and_meet_no_goal() -> None:
    one = result(symbolic_auto=row(1.0), jax=row(20.0), torch=row(2.0, agrees=False), numpy=row(0.5))
    assert best(one) == "jax"
    assert judged(Goal("≥ 10×", least=10.0), one).met is True
    assert judged(Goal("≥ 30×", least=30.0), one).met is False
    wrong = result(symbolic_auto=row(1.0, agrees=False), jax=row(20.0))
    assert judged(Goal("≥ 10×", least=10.0), wrong) == ("≥ 10×", "wrong values", False)


def test_close_to_the_limit_is_enough_but_never_below_the_best_peer() -> None:
    near = result(symbolic_auto=row(1.0), jax=row(1.2), limit=row(0.95))
    assert judged(Goal("≥ 2×", least=2.0), near).met is True
    assert "95% of the limit" in judged(Goal("≥ 2×", least=2.0), near).reached
    far = result(symbolic_auto=row(1.0), jax=row(1.2), limit=row(0.5))
    assert judged(Goal("≥ 2×", least=2.0), far).met is False
    behind = result(symbolic_auto=row(1.0), jax=row(0.9), limit=row(0.95))
    assert judged(Goal("≥ 2×", least=2.0), behind).met is False


def test_bounds_memory_and_what_was_not_measured() -> None:
    one = result(symbolic_auto=row(1.0, first=0.2, peak=1e6), jax=row(1.0, peak=3e6), torch=row(2.0, peak=2.5e6))
    assert judged(Goal("first", measure="first", most=0.1), one).met is False
    assert judged(Goal("first", measure="first", most=0.3), one).met is True
    assert judged(Goal("memory", measure="peak", least=2.0), one).reached == "2.50× torch"
    assert judged(Goal("numpy", of="symbolic numpy"), one).met is None
    assert judged(Goal("against pytensor", against="pytensor"), one).met is None


@pytest.mark.parametrize(
    ("value", "said"),
    [(31.2e-9, "31.2 ns"), (0.9e-9, "0.90 ns"), (1.2345e-3, "1.23 ms"), (0.99999e-3, "1.00 ms"), (125, "125 s")],
)
def test_times_have_three_digits(value: float, said: str) -> None:
    assert time(value) == said


def test_figures() -> None:
    assert (digits(9.996), digits(99.96), size(-1.0), size(3 * 2**30)) == ("10.0", "100", "0.0 MB", "3.00 GB")


# --------------------------------------------------------------------------- saying
@pytest.fixture
def found() -> dict[str, Any]:
    rows: dict[str, Any] = {
        "symbolic_auto": row(1e-6, 1.1e-6),
        "symbolic_native": row(1e-6),
        "jax": row(5e-7, 6e-7),
        "limit": row(2e-7),
    }
    return {
        "machine": {
            "processor": "a <processor> & more",
            "cores": 2,
            "memory_gb": 8.0,
            "system": "Linux",
            "python": "3.11",
            "versions": {"jax": "0.4"},
            "blas": ["openblas, kernel X"],
            "unset": ["OPENBLAS_CORETYPE"],
            "load": 0.1,
        },
        "effort": vars(Effort()),
        "results": [result(**rows), result("W4", threads=2, **rows), {**result("W2", **rows), "size": "1024×64"}],
        "scripts": [{"kind": "few", "title": "10 steps", "rows": {"jax": {**row(1.0), "cold": 2.0}}, "absent": {}}],
    }


def test_losses_stand_in_plain_sight(found: dict[str, Any]) -> None:
    text = report.text(json.loads(json.dumps(found)))
    assert "≥ 30×: 0.52× jax, NOT met" in text
    assert any(line.split() == ["≥", "30×", "0.52×", "jax", "NOT", "met"] for line in text.splitlines())
    assert "without mygrad: MyGrad is not installed" in text
    assert "kernel X" in text and "OPENBLAS_CORETYPE" in text
    assert "**NOT met**" in "\n".join(page.goals(found))
    assert "**0.52×**" in "\n".join(page.runs(found))


def test_tables_are_not_too_wide(found: dict[str, Any]) -> None:
    assert max(len(line) for line in report.text(found).splitlines()) <= 100


def test_the_picture_is_well_formed_and_has_a_bar_for_each_library(found: dict[str, Any]) -> None:
    tree = ET.fromstring(chart.svg(found))
    bars = [one for one in tree.iter("{http://www.w3.org/2000/svg}rect") if one.get("stroke") == "#b42318"]
    assert len(bars) == 1  # JAX in W1 is ahead of ours; the other results are no main ones, or on two threads


def test_the_page_is_written_between_its_marks_again_and_again(found: dict[str, Any]) -> None:
    by_hand = "\n".join(
        ["# Title", page.BEGIN.format("goals"), "old", page.END, "prose", page.BEGIN.format("growth"), page.END]
    )
    once = page.written(by_hand, found)
    assert "old" not in once and "prose" in once and "| W1 " in once
    assert page.written(once, found) == once


def test_what_a_run_left_out_is_said(found: dict[str, Any]) -> None:
    """A run may be stopped, or be one of the main sizes alone."""
    short = {name: value for name, value in found.items() if name != "scripts"}
    short["results"] = [one for one in found["results"] if report.is_main(one)]
    text = "\n".join([page.BEGIN.format(name) for name in ("growth", "short scripts")])
    assert page.written(text, short).count("Not part of this run.") == 2


def test_the_page_of_the_documentation_has_every_table() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert [name for name in page.TABLES if page.BEGIN.format(name) not in text] == []


# --------------------------------------------------------------------------- running
def test_surroundings_are_clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in SLOWING:
        monkeypatch.setenv(name, "Haswell")
    assert not set(SLOWING) & set(clean())
    environment = of_contestant("symbolic native", 2, tmp_path)
    assert not set(SLOWING) & set(environment)
    assert (environment["SYMBOLIC_MACHINE"], environment["OMP_NUM_THREADS"]) == ("native", "2")


def test_who_is_not_installed_is_left_out_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.runs.find_spec", lambda name: None if name in ("jax", "llvmlite") else name)
    present, absent = contestants(find("W2"), Choice())
    assert "jax" not in present and "symbolic native" not in present and "limit" in present
    assert absent["jax"] == "jax is not installed"


def test_contestants_are_chosen_by_library_and_by_name() -> None:
    present, absent = contestants(find("W2"), Choice(only=("symbolic", "numpy"), without=("symbolic auto",)))
    assert {"symbolic numpy", "numpy"} <= set(present) <= {"symbolic numpy", "symbolic native", "numpy"}
    assert absent["symbolic auto"] == absent["torch compile"] == "not asked for"


def test_contestants_take_turns_in_processes_of_their_own() -> None:
    effort = Effort(rounds=2, seconds=0.001, starts=0, peer_starts=0)
    one = measure(find("W1"), "", 1, effort, Choice(only=("symbolic numpy", "numpy", "limit")))
    assert set(one["rows"]) == {"symbolic numpy", "numpy", "limit"}
    assert all(row["agrees"] and len(row["wall"]) == 2 for row in one["rows"].values())
    assert json.loads(json.dumps(one)) == one
    assert one["rows"]["symbolic numpy"]["blas"]


def test_one_that_fails_says_why(tmp_path: Any) -> None:
    process = Process(find("W1"), "no such size", "numpy", 1, tmp_path, tmp_path)
    with pytest.raises(ContestantError, match=r"KeyError: 'no such size'"):
        process.answer(60.0)


def test_a_turn_is_as_long_however_slow_the_first_calls_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call compiles for ten seconds, the next one runs slow code."""
    took = iter([10.0, 0.01])
    worker = Worker.__new__(Worker)
    monkeypatch.setattr(worker, "timed", lambda calls: next(took, None) or calls * 1e-5, raising=False)
    assert worker.warm(0.1) == 10_000


def test_a_run_that_was_stopped_goes_on_where_it_stopped(tmp_path: Path) -> None:
    given = argparse.Namespace(threads=[1], growth=False, quick=False)
    workload, out = find("W1"), tmp_path / "run"
    begun = {"machine": {"code": "a", "load": 1.0}, "effort": {"rounds": 3}, "results": []}
    assert resumed(out, begun) is begun  # nothing is there yet
    there = {"workload": "W1", "size": next(iter(workload.sizes)), "threads": 1}
    out.with_suffix(".json").write_text(json.dumps({**begun, "results": [there]}))
    found = resumed(out, {**begun, "machine": {"code": "a", "load": 7.0}})
    assert found["results"] == [there]
    assert list(measured(workload, given, Effort(), Choice(), found["results"])) == []


def test_tables_have_the_order_of_the_workloads_whatever_was_measured_first() -> None:
    names = [(name, size, n) for name in PLACES for size in find(name).sizes for n in (1, 2)]
    results = [{"workload": name, "size": size, "threads": n} for name, size, n in reversed(names)]
    assert [tuple(one.values()) for one in sorted(results, key=place)] == names


@pytest.mark.parametrize("other", [{"machine": {"code": "b"}}, {"effort": {"rounds": 9}}])
def test_rows_of_two_kinds_of_runs_are_never_mixed(tmp_path: Path, other: dict[str, Any]) -> None:
    begun: dict[str, Any] = {"machine": {"code": "a"}, "effort": {"rounds": 3}, "results": []}
    out = tmp_path / "run"
    out.with_suffix(".json").write_text(json.dumps({**begun, **other}))
    with pytest.raises(SystemExit, match=rf"run with another {next(iter(other))}.*--resume"):
        resumed(out, begun)


def test_the_code_that_is_measured_has_a_name_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "symbolic").mkdir()
    (tmp_path / "symbolic" / "a.py").write_text("1")
    monkeypatch.setattr("benchmarks.surroundings.ROOT", tmp_path)
    before = code()
    assert code() == before
    (tmp_path / "symbolic" / "a.py").write_text("2")
    assert code() != before


def test_loops_call_as_often_as_they_say() -> None:
    for count in range(5):
        seen: list[Any] = []
        Calls(lambda *given, to=seen: to.append(given), *range(count), named=lambda last: {}).loop(3)
        assert seen == [tuple(range(count))] * 3
    for count in range(1, 4):
        one = Threaded(
            lambda state, *given: (state + 1, given), 0, *range(count), named=lambda state, value: {"n": state}
        )
        one.loop(3)
        assert one.results() == {"n": 3} and one.value == tuple(range(count))
