"""How long do short scripts take, from the start of the process to its end?"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.runs import Choice
from benchmarks.short import CONTESTANTS, TITLES
from benchmarks.surroundings import LIBRARIES, ROOT, of_contestant

BOUND = 1e-9
"""How much the last losses may differ."""


def once(kind: str, name: str, caches: Path) -> tuple[float, float]:
    """Seconds of one process, and the loss that it printed."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.short", kind, name]
    begin = perf_counter()
    done = subprocess.run(
        command, cwd=ROOT, env=of_contestant(name, 1, caches), capture_output=True, text=True, timeout=300
    )
    took = perf_counter() - begin
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["it said nothing"])[-1][:300])
    return took, float(done.stdout)


def measure(rounds: int, choice: Choice) -> list[dict[str, Any]]:
    """For each kind of script: who took how long, with empty caches and with what the first run left."""
    found = []
    with tempfile.TemporaryDirectory(prefix="symbolic-benchmarks-") as place:
        for kind, title in TITLES.items():
            rows: dict[str, dict[str, Any]] = {}
            absent: dict[str, str] = {}
            names = [one for one in CONTESTANTS if choice.admits(one)]
            for name in names:
                if find_spec(name.split()[0]) is None:
                    absent[name] = f"{LIBRARIES[name.split()[0]]} is not installed"
                    continue
                try:
                    cold, loss = once(kind, name, Path(place) / kind / name.replace(" ", "-"))
                    rows[name] = {"cold": cold, "loss": loss, "wall": []}
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    absent[name] = str(error)[:300]
            for _ in range(rounds):
                for name, row in rows.items():
                    row["wall"].append(once(kind, name, Path(place) / kind / name.replace(" ", "-"))[0])
            right = median(row["loss"] for row in rows.values()) if rows else 0.0
            for row in rows.values():
                row["agrees"] = abs(row["loss"] - right) <= BOUND * abs(right)
            found.append({"kind": kind, "title": title, "rows": rows, "absent": absent})
    return found
