"""How much of mypy's time does the plugin take, on 2,000 lines of everyday bodies?

Runs with and without the plugin take turns, each in a fresh process over the same files. Without `--warm` the caches
are empty, as in a first run or in CI; with it, NumPy and the library come out of the cache, and only the lines are new.

    python -m benchmarks.mypy_cost --rounds 5 --at-most 0.15
"""

import argparse
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.surroundings import ROOT, clean

PROGRAM = ROOT / "tests" / "typing" / "everyday.py"
SWITCHED = {"with": "plugins = symbolic.mypy_plugin\n", "without": ""}


def lines(count: int, folder: Path) -> list[str]:
    """Copies of the program under different names, until there are so many lines."""
    text = PROGRAM.read_text(encoding="utf-8").partition("def check_values")[0]
    names: list[str] = []
    written = 0
    while written < count:
        names.append(f"everyday_{len(names)}.py")
        (folder / names[-1]).write_text(text, encoding="utf-8")
        written += text.count("\n")
    return names


def spent() -> float:
    """By the processes that have ended: unlike the clock, it does not mind what else the machine does."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def once(kind: str, names: list[str], folder: Path, keep: str) -> float:
    """Seconds of the processor for one run; what it says does not matter here, but that it ends well does."""
    config = folder / f"{kind}.ini"
    config.write_text(f"[mypy]\n{SWITCHED[kind]}", encoding="utf-8")
    executable = shutil.which("mypy", path=sysconfig.get_path("scripts")) or "mypy"
    surroundings = {**clean(), "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    command = [executable, "--config-file", config.name, "--cache-dir", keep, *names]
    begin = spent()
    done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True)
    seconds = spent() - begin
    if done.returncode > 1:
        raise SystemExit(done.stdout + done.stderr)
    return seconds


def measured(kind: str, names: list[str], folder: Path, warm: bool) -> float:
    """One run over a cache that is empty, or that holds what the program imports."""
    keep = folder / f"cache-{kind}"
    shutil.rmtree(keep, ignore_errors=True)
    if warm:
        shutil.copytree(folder / f"imports-{kind}", keep)
    return once(kind, names, folder, keep.name)


def main() -> None:
    """Measure, print, and fail if a bound was given and is passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each kind")
    parser.add_argument("--warm", action="store_true", help="NumPy and the library are in the cache")
    parser.add_argument("--at-most", type=float, help="fail if the plugin's share is larger")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        names = lines(options.lines, folder)
        for kind in SWITCHED:
            (folder / "imports.py").write_text("import numpy, math, dataclasses, itertools\nfrom symbolic import *\n")
            once(kind, ["imports.py"], folder, f"imports-{kind}")
        turns = range(options.rounds)
        rounds = [{kind: measured(kind, names, folder, options.warm) for kind in SWITCHED} for _ in turns]
    cost = median(one["with"] / one["without"] for one in rounds) - 1
    for kind in SWITCHED:
        print(f"{kind:8} the plugin {median(one[kind] for one in rounds):6.2f} s")
    print(f"its cost {100 * cost:.1f} % ({sys.version.split()[0]}, {'warm' if options.warm else 'cold'} cache)")
    if options.at_most is not None and cost > options.at_most:
        raise SystemExit(f"the cost {cost:.3f} is above {options.at_most}")


if __name__ == "__main__":
    main()
