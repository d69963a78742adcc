"""What does `import symbolic` cost on top of `import numpy`?

Each fresh process imports NumPy, then symbolic, then names a first part of it, with a clock around each, so that they
are measured side by side. Importing the package alone loads nothing, so that what a program pays before its first line
is the sum of the last two; the bound is on the import:

    python -m benchmarks.import_time --processes 21 --at-most 0.4
"""

import argparse
import subprocess
import sys
from statistics import median, quantiles

from benchmarks.surroundings import ROOT, clean

BOTH = """
from time import perf_counter
begin = perf_counter()
import numpy
between = perf_counter()
import symbolic
imported = perf_counter()
symbolic.symbolic
print(between - begin, imported - between, perf_counter() - imported)
"""


def once() -> tuple[float, float, float]:
    """Seconds for NumPy, for symbolic, and for its first name, in one fresh process."""
    process = subprocess.run(
        [sys.executable, "-c", BOTH], cwd=ROOT, env=clean(), check=True, capture_output=True, text=True
    )
    numpy, symbolic, first = map(float, process.stdout.split())
    return numpy, symbolic, first


def row(name: str, seconds: list[float]) -> str:
    """Median and quartiles in milliseconds."""
    low, _, high = quantiles(seconds, n=4)
    return f"{name:16} {median(seconds) * 1e3:7.1f} ms  (quartiles {low * 1e3:.1f} to {high * 1e3:.1f})"


def main() -> None:
    """Measure, print, and fail if a bound was given and is passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=21, help="how many fresh processes (at least 2)")
    parser.add_argument("--at-most", type=float, help="fail if the ratio is larger")
    options = parser.parse_args()
    once()  # compiles what has no bytecode yet
    numpy, symbolic, first = map(list, zip(*(once() for _ in range(options.processes)), strict=True))
    ratio = median(mine / its for its, mine in zip(numpy, symbolic, strict=True))
    whole = median((mine + more) / its for its, mine, more in zip(numpy, symbolic, first, strict=True))
    print(row("import numpy", numpy), row("import symbolic", symbolic), row("its first name", first), sep="\n")
    print(f"ratio {ratio:.3f}, with the first name {whole:.3f}")
    if options.at_most is not None and ratio > options.at_most:
        raise SystemExit(f"the ratio {ratio:.3f} is above {options.at_most}")


if __name__ == "__main__":
    main()
