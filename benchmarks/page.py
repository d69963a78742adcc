"""The tables of docs/performance.md out of a run's JSON: `python -m benchmarks.page [JSON]`. The prose is by hand."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.ranking import OURS, best, fitting, ratio, seconds, size, time, times
from benchmarks.report import MARKS, described, is_main, median_of, verdicts
from benchmarks.surroundings import ROOT

PAGE = ROOT / "docs" / "performance.md"
RESULTS = ROOT / "benchmarks" / "results" / "full.json"
BEGIN, END = "<!-- {}: written by python -m benchmarks.page -->", "<!-- end -->"
Found = Mapping[str, Any]


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def goals(found: Found) -> Iterator[str]:
    """Every goal, met or not."""
    yield row("workload", "threads", "goal", "reached", "")
    yield "|---|---|---|---|---|"
    for result in found["results"]:
        for one in verdicts(result):
            mark = f"**{MARKS[one.met]}**" if one.met is False else MARKS[one.met]
            yield row(f"{result['workload']} {result['title']}", str(result["threads"]), one.text, one.reached, mark)


def runs(found: Found) -> Iterator[str]:
    """A run of each workload on each machine, and of the peers."""
    yield row("", "auto", "native", "NumPy", "best peer", "", "÷ auto", "NumPy by hand", "limit")
    yield "|---|---|---|---|---|---|---|---|---|"
    for result in found["results"]:
        if is_main(result):
            yield row(*_run(result))


def _run(result: Found) -> Iterator[str]:
    rows, peer = result["rows"], best(result)
    yield result["workload"] if result["threads"] == 1 else f"{result['workload']}, {result['threads']} threads"
    for name in (OURS, "symbolic native", "symbolic numpy"):
        yield cell(rows, name)
    yield from (cell(rows, peer), peer) if peer is not None else ("–", "")
    factor = ratio(result, peer) if peer is not None else None
    yield "–" if factor is None else times(factor) if factor >= 1 else f"**{times(factor)}**"
    yield cell(rows, "numpy")
    limit = ratio(result, "limit") if result["threads"] == 1 else None  # it is one core's
    yield f"{time(median_of(rows['limit']))} ({limit:.0%})" if limit is not None else "–"


def cell(rows: Found, name: str) -> str:
    if name not in rows:
        return "–"
    return time(median_of(rows[name])) if rows[name]["agrees"] else "wrong"


def firsts(found: Found) -> Iterator[str]:
    """The first call of a process, with empty caches and with full ones, and the most memory."""
    yield row("", "first call", "cached", "memory", "JAX: first", "cached", "memory", "PyTorch: first", "memory")
    yield "|---|---|---|---|---|---|---|---|---|"
    for result in found["results"]:
        if is_main(result) and result["threads"] == 1:
            yield row(
                result["workload"],
                *_first(result, OURS, True),
                *_first(result, "jax", True),
                *_first(result, "torch", False),
            )


def _first(result: Found, name: str, cached: bool) -> list[str]:
    names = [name] if name in result["rows"] else fitting(result, name)[:1]
    if not names:
        return ["–"] * (3 if cached else 2)
    one = result["rows"][names[0]]
    kept = seconds(one, "cached")
    return [
        "–" if one["first"] is None else time(one["first"]),
        *([time(kept) if kept is not None else "–"] if cached else []),
        size(one["peak"]),
    ]


def growth(found: Found) -> Iterator[str]:
    """The same work at other sizes."""
    if all(is_main(one) for one in found["results"]):
        yield "Not part of this run."
        return
    yield row("", "size", "auto", "best peer", "", "÷ auto", "first call", "its")
    yield "|---|---|---|---|---|---|---|---|"
    grown = {one["workload"] for one in found["results"] if not is_main(one)}
    for result in found["results"]:
        if result["workload"] in grown and result["threads"] == 1 and OURS in result["rows"]:
            peer = best(result)
            factor = ratio(result, peer) if peer is not None else None
            its = (cell(result["rows"], peer), peer, times(factor or 0)) if peer is not None else ("–", "", "–")
            first = time(result["rows"][peer]["first"]) if peer is not None else "–"
            mine = result["rows"][OURS]
            yield row(result["workload"], result["size"], cell(result["rows"], OURS), *its, time(mine["first"]), first)


def scripts(found: Found) -> Iterator[str]:
    """Whole processes, with what an earlier one left in the caches, and without."""
    if "scripts" not in found:
        yield "Not part of this run."
        return
    names = list(dict.fromkeys(name for one in found["scripts"] for name in one["rows"]))
    yield row("", *names)
    yield "|---" * (len(names) + 1) + "|"
    for one in found["scripts"]:
        rows = one["rows"]
        warm = [
            f"{time(median_of(rows[name]))} ({time(rows[name]['cold'])})" if name in rows else "–" for name in names
        ]
        yield row(one["title"], *warm)


TABLES = {
    "machine": lambda found: [f"- {line}" for line in described(found)],
    "goals": goals,
    "runs": runs,
    "first calls": firsts,
    "growth": growth,
    "short scripts": scripts,
}


def written(text: str, found: Found) -> str:
    """The page with its tables made anew; KeyError for a place of no known name."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        inside = inside and line != END
        if not inside:
            lines.append(line)
        for name, table in TABLES.items():
            if line == BEGIN.format(name):
                inside = True
                lines += ["", *table(found), ""]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page."""
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    found = json.loads(given.read_text(encoding="utf-8"))
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
