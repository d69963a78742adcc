"""How are contestants run side by side? Each in its own process, one at a time, in turns."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import IO, Any

from benchmarks.comparing import difference, read, reference
from benchmarks.surroundings import LIBRARIES, ROOT, of_contestant
from benchmarks.workload import Workload


@dataclass(frozen=True)
class Effort:
    """How long is everything measured?"""

    rounds: int = 9
    seconds: float = 0.2
    """Of one turn."""
    starts: int = 3
    """Processes for the first call, with nothing in the caches, and as many with what they left."""
    peer_starts: int = 1
    """The same for peers, whose compilers take seconds to minutes."""
    patience: float = 120.0
    """Seconds that a first call may take."""

    def lighter(self) -> Effort:
        """For other sizes and numbers of threads: one process each, fewer rounds."""
        return replace(self, rounds=min(self.rounds, 5), starts=0, peer_starts=0)


QUICK = Effort(rounds=3, seconds=0.05, starts=1, patience=60.0)


class ContestantError(Exception):
    """A contestant failed, or took too long."""


class Process:
    """One worker."""

    def __init__(
        self, workload: Workload, size: str, contestant: str, threads: int, folder: Path, caches: Path
    ) -> None:
        command = [sys.executable, "-W", "ignore", "-m", "benchmarks.worker"]
        self.results = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.said = (folder / "said.txt").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [*command, workload.name, size, contestant, str(threads), str(folder)],
            cwd=ROOT,
            env=of_contestant(contestant, threads, caches),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.said,
            text=True,
        )

    def answer(self, patience: float) -> dict[str, Any]:
        """The next line that it writes."""
        assert self.process.stdout is not None
        line = _line(self.process.stdout, patience)
        if line is None:
            self.end()
            raise ContestantError(f"stopped after {patience:.0f} s")
        if not line:
            raise self.ended()
        found: dict[str, Any] = json.loads(line)
        if "error" in found:
            self.end()
            raise ContestantError(found["error"])
        return found

    def ended(self) -> ContestantError:
        """It has ended by itself: with its last words."""
        self.said.seek(0)
        lines = self.said.read().strip().splitlines() or ["it said nothing"]
        self.end()
        return ContestantError(f"ended with status {self.process.returncode}: {lines[-1][:300]}")

    def ask(self, patience: float, **order: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except OSError as error:
            raise self.ended() from error
        return self.answer(patience)

    def end(self) -> None:
        """It ends by itself with its input; one that hangs is stopped."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            with suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(2.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.said.close()


def _line(stream: IO[str], patience: float) -> str | None:
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        if not selector.select(patience):
            return None
    return stream.readline()


# --------------------------------------------------------------------------- one workload
@dataclass(frozen=True)
class Choice:
    """Contestants by name or by library: these alone (if any are said), but not those."""

    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def admits(self, name: str) -> bool:
        names = (name, name.split()[0])
        wanted = not self.only or any(one in self.only for one in names)
        return wanted and not any(one in self.without for one in names)


EVERYBODY = Choice()


def contestants(workload: Workload, choice: Choice) -> tuple[list[str], dict[str, str]]:
    """Who takes part, and why others do not."""
    absent = dict(workload.skipped)
    present = []
    for name in workload.contestants:
        module = name.split()[0]
        if not choice.admits(name):
            absent[name] = "not asked for"
        elif module in LIBRARIES and find_spec(module) is None:
            absent[name] = f"{LIBRARIES[module]} is not installed"
        elif name == "symbolic native" and find_spec("llvmlite") is None:
            absent[name] = "llvmlite is not installed"
        else:
            present.append(name)
    return present, absent


def measure(
    workload: Workload, size: str, threads: int, effort: Effort, choice: Choice = EVERYBODY, kept: Path | None = None
) -> dict[str, Any]:
    """All that is found of one workload at one size: a dictionary that JSON can hold.

    `kept` is a folder for the caches, if another number of threads is to find what this one has compiled.
    """
    names, absent = contestants(workload, choice)
    rows: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="symbolic-benchmarks-") as place:
        living: dict[str, Process] = {}
        try:
            for name in names:
                try:
                    own = name.replace(" ", "-")  # some compilers are given it without quotes
                    folder, caches = Path(place) / own, (kept or Path(place) / "caches") / own
                    living[name], rows[name] = started(workload, size, name, threads, effort, folder, caches)
                except ContestantError as trouble:
                    absent[name] = str(trouble)
            _compare(workload, living, rows)
            _turns(living, rows, absent, effort)
        finally:
            for one in living.values():
                one.end()
    return {
        "workload": workload.name,
        "title": workload.title,
        "size": size,
        "sizes": dict(workload.sizes[size]),
        "threads": threads,
        "tolerance": workload.tolerance,
        "rows": rows,
        "absent": absent,
    }


def started(
    workload: Workload, size: str, name: str, threads: int, effort: Effort, folder: Path, caches: Path
) -> tuple[Process, dict[str, Any]]:
    """A process that has built and warmed up; on the way, what first calls cost, with empty and with full caches."""
    known = caches.exists()
    found: dict[str, list[dict[str, Any]]] = {"cold": [], "cached": []}
    starts = effort.starts if name.startswith("symbolic") else effort.peer_starts
    for number in range(starts):
        fresh = caches if number == 0 else folder / f"caches{number}"
        one = Process(workload, size, name, threads, folder / "cold", fresh)
        one.answer(effort.patience)
        found["cold"].append(one.ask(effort.patience, do="build"))
        one.end()
    kept = None
    for _ in range(max(starts, 1)):
        if kept is not None:
            kept.end()
        kept = Process(workload, size, name, threads, folder / "results", caches)
        kept.answer(effort.patience)
        found["cached" if starts or known else "cold"].append(kept.ask(effort.patience, do="build"))
    assert kept is not None
    calls = kept.ask(effort.patience, do="calibrate", seconds=effort.seconds)["calls"]
    row = {**_starting(found), "calls": calls, "wall": [], "busy": [], **kept.ask(effort.patience, do="explain")}
    return kept, row


def _starting(found: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """What it costs to start: medians over processes; `None` for a kind of first call that was not made."""
    cold = found["cold"] or found["cached"]
    return {
        "first": median(one["first"] for one in found["cold"]) if found["cold"] else None,
        "cached": median(one["first"] for one in found["cached"]) if found["cached"] else None,
        "import": median(one["import"] for one in cold),
        "peak": median(one["peak"] for one in cold),
    }


def _compare(workload: Workload, living: dict[str, Process], rows: dict[str, dict[str, Any]]) -> None:
    """Whoever computes something else takes no part in the ranking."""
    results = {name: read(one.results) for name, one in living.items()}
    right = reference(results)
    for name, mine in results.items():
        if any(mine) and right:
            worst, where = difference(mine, right)
            rows[name] |= {"difference": worst, "where": where, "agrees": worst <= workload.tolerance}
        else:
            rows[name] |= {"difference": None, "where": "", "agrees": name.startswith("limit")}


def _turns(living: dict[str, Process], rows: dict[str, dict[str, Any]], absent: dict[str, str], effort: Effort) -> None:
    """A B C A B C …: each has one turn in a round, and what disturbs the machine disturbs them all."""
    for _ in range(effort.rounds):
        for name, one in list(living.items()):
            time.sleep(0.002)  # a pool of threads that still spins for work comes to rest
            try:
                found = one.ask(60.0 + 20 * effort.seconds, do="time", calls=rows[name]["calls"])
            except ContestantError as trouble:
                absent[name] = str(trouble)
                del living[name], rows[name]
                continue
            rows[name]["wall"].append(found["wall"])
            rows[name]["busy"].append(found["busy"])


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
