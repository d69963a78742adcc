"""How long does `symbolic check` take on 10,000 lines of dense symbolic code?

The lines are the test programs, the corpus and the examples, again and again, each time with other names for the
functions and for the sizes in the hints, so that no answer for one copy is an answer for another. Cold, the cache is
empty; warm, it holds every file; touched, every file but one. The clock is that of the wall, of a fresh process:

    python -m benchmarks.check_speed --rounds 5 --at-most 2.0
"""

import argparse
import io
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from benchmarks.surroundings import ROOT, clean

SOURCES = {
    "mixed": ("tests/corpus/*.py", "tests/programs/*.py", "examples/*.py", "tests/typing/everyday.py"),
    "corpus": ("tests/corpus/*.py",),
}
DEFINED = re.compile(r"^(?:async )?(?:def|class) (\w+)", re.MULTILINE)
HINT = re.compile(r"Symbolic\[[^\]]*\]")
TEXT = re.compile(r'"[^"]*"')
WORD = re.compile(r"[A-Za-z_]\w*")


class Spent(NamedTuple):
    """Seconds of the wall and of the processor for one run."""

    wall: float
    processor: float


def renamed(text: str, number: int) -> str:
    """The program with other names; a size that has the name of a parameter keeps it, since the name is its meaning."""
    functions = set(DEFINED.findall(text))
    tokens = [one.string for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type == tokenize.NAME]
    kept = {*tokens}

    def size(found: re.Match[str]) -> str:
        return found[0] if found[0] in kept else f"{found[0]}_{number}"

    def hint(found: re.Match[str]) -> str:
        return TEXT.sub(lambda words: WORD.sub(size, words[0]), found[0])

    whole = re.compile(rf"(?<![\w.\"])({'|'.join(sorted(functions)) or '(?!)'})\b(?!\s*=[^=])")
    return whole.sub(rf"\1_{number}", HINT.sub(hint, text))


def written(count: int, kind: str, folder: Path) -> int:
    """So many lines in files of the sizes that the programs have; how many files they are."""
    programs = sorted(path for pattern in SOURCES[kind] for path in ROOT.glob(pattern))
    lines = files = 0
    while lines < count:
        program = programs[files % len(programs)]
        text = renamed(program.read_text(encoding="utf-8"), files // len(programs))
        kept = text.splitlines(keepends=True)[: count - lines]
        (folder / f"{program.stem}_{files}.py").write_text("".join(kept), encoding="utf-8")
        lines, files = lines + len(kept), files + 1
    return files


def once(folder: Path, *more: str) -> Spent:
    """One fresh process; a finding is no failure, but an error inside is."""
    surroundings = clean() | {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    command = [sys.executable, "-m", "symbolic", "check", "--quiet", *more, "lines"]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True)
    wall, after = perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode > 1 or done.stderr:
        raise SystemExit(done.stdout + done.stderr)
    return Spent(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measured(folder: Path) -> dict[str, Spent]:
    """One run over each state of the cache."""
    shutil.rmtree(folder / ".symbolic_cache", ignore_errors=True)
    found = {"cold": once(folder), "warm": once(folder)}
    touched = next((folder / "lines").iterdir())
    touched.write_text(touched.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    return {**found, "touched": once(folder)}


def main() -> None:
    """Measure, print, and fail if a bound was given and is passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--of", choices=sorted(SOURCES), default="mixed", help="`corpus`: bodies and nothing else")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", metavar="FOLDER", help="write the lines there, and measure nothing")
    parser.add_argument("--at-most", type=float, help="fail if a cold run takes more seconds of the wall")
    options = parser.parse_args()
    if options.keep:
        Path(options.keep).mkdir(parents=True, exist_ok=True)
        written(options.lines, options.of, Path(options.keep))
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "lines").mkdir()
        files = written(options.lines, options.of, folder / "lines")
        once(folder, "--no-cache")  # compiles what has no bytecode yet
        rounds = [measured(folder) for _ in range(options.rounds)]
    print(f"{options.lines} lines in {files} files, {len(os.sched_getaffinity(0))} cores, {sys.version.split()[0]}")
    for kind in rounds[0]:
        wall, processor = (median(times) for times in zip(*(one[kind] for one in rounds), strict=True))
        print(f"{kind:8} {wall:6.3f} s wall  {processor:6.3f} s processor  {options.lines / wall:9.0f} lines/s")
    cold = median(one["cold"].wall for one in rounds)
    if options.at_most is not None and cold > options.at_most:
        raise SystemExit(f"a cold run took {cold:.2f} s, above {options.at_most}")


if __name__ == "__main__":
    main()
