"""What does `import symbolic` cost on top of `import numpy`?

Each fresh process imports NumPy and then symbolic, with a clock around each, so the two are measured side by side:

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
print(between - begin, perf_counter() - between)
"""


def once() -> tuple[float, float]:
    """Seconds for NumPy and for symbolic, in one fresh process."""
    process = subprocess.run(
        [sys.executable, "-c", BOTH], cwd=ROOT, env=clean(), check=True, capture_output=True, text=True
    )
    numpy, symbolic = map(float, process.stdout.split())
    return numpy, symbolic


def row(name: str, seconds: list[float]) -> str:
    """Median and quartiles in milliseconds."""
    low, _, high = quantiles(seconds, n=4)
    return f"import {name:8} {median(seconds) * 1e3:7.1f} ms  (quartiles {low * 1e3:.1f} to {high * 1e3:.1f})"


def main() -> None:
    """Measure, print, and fail if a bound was given and is passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=21, help="how many fresh processes (at least 2)")
    parser.add_argument("--at-most", type=float, help="fail if the ratio is larger")
    options = parser.parse_args()
    once()  # compiles what has no bytecode yet
    numpy, symbolic = map(list, zip(*(once() for _ in range(options.processes)), strict=True))
    ratio = median(mine / its for its, mine in zip(numpy, symbolic, strict=True))
    print(row("numpy", numpy), row("symbolic", symbolic), f"ratio {ratio:.3f}", sep="\n")
    if options.at_most is not None and ratio > options.at_most:
        raise SystemExit(f"the ratio {ratio:.3f} is above {options.at_most}")


if __name__ == "__main__":
    main()
