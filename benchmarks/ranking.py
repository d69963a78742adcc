"""Who is ahead, by how much, and is the goal met? All of it out of what was measured, as JSON holds it."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median, quantiles
from typing import Any, NamedTuple

from benchmarks.workload import Goal

Row = Mapping[str, Any]
Result = Mapping[str, Any]
OURS = "symbolic auto"
NEAR = 0.9
"""So much of the limit counts as the limit."""
COMPILERS = ("jax", "jax scan", "pytensor", "pytensor c", "torch compile")


def is_peer(name: str) -> bool:
    """Other libraries; neither ours, nor NumPy by hand (its author did what a library does), nor a limit."""
    return name.split()[0] not in ("symbolic", "numpy", "limit")


def seconds(row: Row, measure: str = "step") -> float | None:
    """What a row says of one measure: a time, or bytes for `peak`."""
    if measure == "step":
        return median(row["wall"]) if row["wall"] else None
    value = row.get(measure)
    return float(value) if value is not None else None


def spread(row: Row) -> tuple[float, float]:
    """The quartiles of a row's times."""
    times = row["wall"]
    if len(times) < 2:
        return times[0], times[0]
    low, _, high = quantiles(times, n=4, method="inclusive")
    return low, high


def fitting(result: Result, against: str = "best") -> list[str]:
    """The peers that count: they agree, and they are those that are meant."""
    rows: Mapping[str, Row] = result["rows"]
    names = [name for name, row in rows.items() if row["agrees"] and is_peer(name) and row["wall"]]
    if against == "compilers":
        return [name for name in names if name in COMPILERS]
    return names if against == "best" else [name for name in names if name.split()[0] == against]


def best(result: Result, against: str = "best", measure: str = "step") -> str | None:
    """The best of them by a measure."""
    found = [(value, name) for name in fitting(result, against) if (value := _of(result, name, measure)) is not None]
    return min(found)[1] if found else None


def _of(result: Result, name: str, measure: str) -> float | None:
    value = seconds(result["rows"][name], measure)
    return max(value, 1.0) if measure == "peak" and value is not None else value


def ratio(result: Result, other: str, of: str = OURS, measure: str = "step") -> float | None:
    """How many times more the other takes; of times the median over the rounds, in which both saw the same machine."""
    rows = result["rows"]
    if of not in rows or other not in rows:
        return None
    if measure == "step":
        pairs = list(zip(rows[other]["wall"], rows[of]["wall"], strict=False))
        return median(its / mine for its, mine in pairs) if pairs else None
    its, mine = _of(result, other, measure), _of(result, of, measure)
    return its / mine if its is not None and mine else None


class Verdict(NamedTuple):
    """A goal, what was reached, and whether that is enough; `None` where it could not be measured."""

    text: str
    reached: str
    met: bool | None


def judged(goal: Goal, result: Result) -> Verdict:
    """Whether a goal is met in a result; wrong values meet none."""
    row = result["rows"].get(goal.of)
    if row is None:
        return Verdict(goal.text, result["absent"].get(goal.of, "not measured"), None)
    if not row["agrees"]:
        return Verdict(goal.text, "wrong values", False)
    if goal.most is not None:
        value = seconds(row, goal.measure)
        return Verdict(goal.text, "–" if value is None else time(value), None if value is None else value < goal.most)
    other = best(result, goal.against, goal.measure)
    reached = ratio(result, other, goal.of, goal.measure) if other is not None else None
    if other is None or reached is None:
        return Verdict(goal.text, "no peer to compare with", None)
    said, met = f"{times(reached)} {other}", reached >= goal.least
    limit = ratio(result, "limit", goal.of) if goal.measure == "step" else None
    if not met and limit is not None and limit >= NEAR and reached >= 1:
        return Verdict(goal.text, f"{said}, {limit:.0%} of the limit", True)
    return Verdict(goal.text, said, met)


# --------------------------------------------------------------------------- how figures read
def time(value: float) -> str:
    """Three digits and a unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if value >= scale * 0.9995 or unit == "ns":
            return f"{digits(value / scale)} {unit}"
    raise AssertionError


def digits(value: float) -> str:
    """Three digits."""
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def times(value: float) -> str:
    """A factor."""
    return f"{digits(value)}×"


def size(value: float) -> str:
    """Bytes, in the unit that reads well."""
    return f"{max(value, 0) / 2**20:.1f} MB" if value < 2**30 else f"{value / 2**30:.2f} GB"
