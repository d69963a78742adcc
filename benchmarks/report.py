"""How does what was measured read in a terminal? A line for each workload first, then every contestant's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

from benchmarks.ranking import OURS, Verdict, best, judged, ratio, seconds, size, spread, time, times
from benchmarks.runs import Effort
from benchmarks.workloads import find

MARKS = {True: "met", False: "NOT met", None: "–"}
Found = Mapping[str, Any]


def text(found: Found) -> str:
    """The whole report."""
    parts = [*[part for line in described(found) for part in wrap(line, 98)], "", *summary(found)]
    for result in found["results"]:
        parts += ["", *table(result)]
    for script in found.get("scripts", ()):
        parts += ["", *short(script)]
    return "\n".join(parts)


def described(found: Found) -> Iterator[str]:
    """The machine, and what must be known to read the rest."""
    machine = found["machine"]
    yield f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['system']}"
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    yield f"Python {machine['python']}; {versions}"
    yield f"BLAS of NumPy: {'; '.join(machine['blas'])}"
    if machine["unset"]:
        yield f"unset for every process, since they slow everybody down: {', '.join(machine['unset'])}"
    effort = Effort(**found["effort"])
    yield f"medians of {effort.rounds} rounds in which all take turns; load average {machine['load']} at the start"
    if busy := disturbed(found):
        yield f"THE MACHINE WAS BUSY: of one thread's time the processor worked {busy:.0%}; read ratios with care"


def disturbed(found: Found) -> float | None:
    """The part of the clock that single threads of ours were really running for, if that is little."""
    shares = [
        busy / wall
        for result in found["results"]
        if result["threads"] == 1
        for name, row in result["rows"].items()
        if name == OURS
        for wall, busy in zip(row["wall"], row["busy"], strict=True)
    ]
    mean = sum(shares) / len(shares) if shares else 1.0
    return mean if mean < 0.95 else None


def verdicts(result: Found) -> list[Verdict]:
    """The goals of a workload: those for as many threads, and for its main size."""
    workload = find(result["workload"])
    if result["size"] != next(iter(workload.sizes)):
        return []
    return [judged(goal, result) for goal in workload.goals if goal.threads == result["threads"]]


def is_main(result: Found) -> bool:
    return bool(result["size"] == next(iter(find(result["workload"]).sizes)))


def summary(found: Found) -> Iterator[str]:
    """A line for each workload, and one for each of its goals."""
    yield f"{'':4}{'workload':50} {'auto':>9} {'best peer':>9}  {'':14} {'÷ auto':>7}"
    for result in found["results"]:
        if not is_main(result):
            continue
        peer, row = best(result), result["rows"].get(OURS)
        mine = time(median_of(row)) if row else "–"
        its = time(median_of(result["rows"][peer])) if peer else "–"
        factor = ratio(result, peer) if peer else None
        title = result["title"] + ("" if result["threads"] == 1 else f", {result['threads']} threads")
        ahead = times(factor) if factor is not None else "–"
        yield f"{result['workload']:4}{title[:50]:50} {mine:>9} {its:>9}  {peer or '':14} {ahead:>7}"
        for goal in verdicts(result):
            yield f"{'':8}{goal.text:46} {goal.reached:36} {MARKS[goal.met]:>7}"


def said(goal: Verdict) -> str:
    return f"{goal.text}: {goal.reached}, {MARKS[goal.met]}"


def median_of(row: Found) -> float:
    value = seconds(row)
    return float("nan") if value is None else value


def table(result: Found) -> Iterator[str]:
    """Every contestant of one workload."""
    what = ", ".join(filter(None, (f"{result['workload']} {result['title']}", result["size"])))
    yield f"{what}; threads: {result['threads']}"
    yield f"    {'':16}{'a run':>9} {'quartiles':>17} {'÷ auto':>7} {'first':>9} {'cached':>9} {'memory':>9}"
    for name, row in sorted(result["rows"].items(), key=lambda one: (rank(one[0]), median_of(one[1]))):
        low, high = spread(row)
        factor = ratio(result, name)
        cells = [time(median_of(row)), f"{time(low)}–{time(high)}", times(factor) if factor is not None else ""]
        if not name.startswith("limit"):
            cells += [*("" if row[one] is None else time(row[one]) for one in ("first", "cached")), size(row["peak"])]
        else:
            cells += ["", "", ""]
        widths = (9, 17, 7, 9, 9, 9)
        line = " ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        wrong = "" if row["agrees"] else f"  WRONG by {row['difference']:.0e} in {row['where']}"
        yield f"    {name:16}{line}{wrong}".rstrip()
    for goal in verdicts(result):
        yield f"    goal {said(goal)}"
    for name, why in result["absent"].items():
        yield f"    without {name}: {why}"
    explained = result["rows"].get("symbolic native", {}).get("explained", "")
    for line in explained.splitlines():
        yield f"    {line}"


def rank(name: str) -> int:
    """Ours first, then peers, then by hand, then the limit."""
    return {"symbolic": 0, "numpy": 2, "limit": 3}.get(name.split()[0], 1)


def short(script: Found) -> Iterator[str]:
    """The table of one kind of short script."""
    yield f"short script: {script['title']}; from the start of the process to its end"
    yield f"    {'':16}{'warm':>9} {'quartiles':>17} {'÷ auto':>7} {'cold':>9}"
    for name, row in sorted(script["rows"].items(), key=lambda one: (rank(one[0]), median_of(one[1]))):
        low, high = spread(row)
        factor = ratio(script, name)
        wrong = "" if row["agrees"] else "  WRONG"
        yield (
            f"    {name:16}{time(median_of(row)):>9} {f'{time(low)}–{time(high)}':>17} "
            f"{times(factor) if factor is not None else '':>7} {time(row['cold']):>9}{wrong}"
        )
    for name, why in script["absent"].items():
        yield f"    without {name}: {why}"
