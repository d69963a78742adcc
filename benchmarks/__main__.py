"""`python -m benchmarks`: how fast is symbolic, beside JAX, PyTorch, PyTensor, autograd, MyGrad and NumPy by hand?

Each contestant has a process of its own and its best form; all take turns in one run, and no time counts before
values and gradients have been compared. What was found is printed, and written as JSON and as a picture.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import chart, report, scripts
from benchmarks.runs import QUICK, Choice, Effort, cores, measure
from benchmarks.surroundings import machine
from benchmarks.workload import Workload
from benchmarks.workloads import PLACES, find


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", metavar="W1,W2", default=",".join(PLACES), help=f"of {', '.join(PLACES)}")
    parser.add_argument("--with", dest="peers", metavar="jax,torch", default="", help="these contestants, and ours")
    parser.add_argument("--without", metavar="torch compile", default="", help="all but these")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--quick", action="store_true", help="few and short rounds, main sizes: to see that all runs")
    parser.add_argument("--rounds", type=int, help="how often each contestant has its turn")
    parser.add_argument("--no-growth", dest="growth", action="store_false", help="main sizes only")
    parser.add_argument("--no-scripts", dest="scripts", action="store_false", help="without the short scripts")
    parser.add_argument("--out", type=Path, metavar="NAME", help="write NAME.json, NAME.svg and NAME.txt")
    parser.add_argument("--resume", action="store_true", help="keep what NAME.json holds of a run that was stopped")
    return parser.parse_args()


def plan(workload: Workload, given: argparse.Namespace) -> list[tuple[str, int]]:
    """Which sizes, on how many threads: the main size on all that were asked for, the others on one."""
    main, *others = workload.sizes
    counts = [one for one in given.threads if one in workload.threads and one <= cores()]
    return [
        *[(main, one) for one in counts],
        *[(one, 1) for one in others if given.growth and not given.quick and 1 in counts],
    ]


def main() -> None:
    """Measure, print, write."""
    given = options()
    effort = QUICK if given.quick else Effort()
    if given.rounds:
        effort = dataclasses.replace(effort, rounds=given.rounds)
    choice = Choice(
        (*given.peers.split(","), "symbolic", "limit") if given.peers else (), tuple(given.without.split(","))
    )
    found: dict[str, Any] = {"machine": machine(), "effort": dataclasses.asdict(effort), "results": []}
    if given.resume:
        found = resumed(given.out, found)
    for name in given.only.split(",") if given.only else ():
        for result in measured(find(name), given, effort, choice, found["results"]):
            found["results"] = sorted([*found["results"], result], key=place)
            print("\n".join(report.table(result)), end="\n\n", file=sys.stderr, flush=True)
            keep(given.out, found)
    if given.scripts and "scripts" not in found:
        found["scripts"] = scripts.measure(effort.rounds, choice)
    keep(given.out, found)
    print(report.text(found))


def measured(
    workload: Workload, given: argparse.Namespace, effort: Effort, choice: Choice, there: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """One result for each size and number of threads that is not there yet; what one thread compiled serves two."""
    main = next(iter(workload.sizes))
    done = {(one["workload"], one["size"], one["threads"]) for one in there}
    with tempfile.TemporaryDirectory(prefix="symbolic-benchmarks-") as place:
        for size, threads in plan(workload, given):
            if (workload.name, size, threads) in done:
                continue
            begun = effort if size == main and threads == min(given.threads) else effort.lighter()
            kept = Path(place) / str(list(workload.sizes).index(size))
            yield measure(workload, size, threads, begun, choice, kept)


def place(result: Mapping[str, Any]) -> tuple[int, int, int]:
    """Where a result stands in the tables, in whatever order they were measured."""
    names, sizes = list(PLACES), list(find(result["workload"]).sizes)
    return names.index(result["workload"]), sizes.index(result["size"]), result["threads"]


def resumed(out: Path | None, begun: dict[str, Any]) -> dict[str, Any]:
    """What a run that was stopped has found; one of another machine, version, code or effort is refused."""
    if out is None or not out.with_suffix(".json").exists():
        return begun
    found: dict[str, Any] = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    for part, changing in (("machine", {"load"}), ("effort", set())):
        now, then = begun[part], found[part]
        if other := [key for key in now if key not in changing and now[key] != then.get(key)]:
            raise SystemExit(
                f"{out.with_suffix('.json')} is of a run with another {part} ({', '.join(other)}), "
                "and rows of two runs cannot stand side by side. Leave out --resume, or write to another --out."
            )
    return found


def keep(out: Path | None, found: dict[str, Any]) -> None:
    """What there is so far: a run that is stopped leaves what it has."""
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.with_suffix(".json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        out.with_suffix(".svg").write_text(chart.svg(found), encoding="utf-8")
        out.with_suffix(".txt").write_text(report.text(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
