"""One contestant in a process of its own: it builds, answers with its results, and runs when it is asked to.

`python -m benchmarks.worker WORKLOAD SIZE CONTESTANT THREADS RESULTS` reads one JSON object a line and answers each
with one: `{"do": "build"}`, `{"do": "calibrate", "seconds": s}`, `{"do": "time", "calls": n}`. It ends with its input.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.surroundings import pin

CHECKED = (1, 4)
"""After so many runs, and then so many more, results are written to be compared."""
_PATIENCE = 60.0
"""Seconds for code that is compiled beside the calls."""


class Memory:
    """The most that this process has held since `reset`, and what it held then."""

    def __init__(self) -> None:
        self.status = Path("/proc/self/status")
        self.reset()

    def reset(self) -> None:
        # the kernel's own mark: getrusage's would count what the parent held, too
        with suppress(OSError):  # no such mark here: then the peak counts from the start
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        self.before = self.peak()

    def peak(self) -> int:
        """In bytes."""
        if self.status.exists():
            lines = self.status.read_text(encoding="ascii").splitlines()
            return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class Worker:
    """Answers the parent."""

    def __init__(self, workload: str, size: str, contestant: str, threads: str, results: str) -> None:
        pin(int(threads))
        from benchmarks.workloads import find

        known = find(workload)
        begin = perf_counter()
        self.prepare(contestant, int(threads))
        if contestant.split()[0] in ("symbolic", "numpy"):
            for name in known.imports:
                import_module(name)
        self.imported = perf_counter() - begin
        self.memory = Memory()
        self.inputs = known.inputs(known.sizes[size])
        self.build, self.folder = known.contestants[contestant], Path(results)
        self.running: Any = None

    def prepare(self, contestant: str, threads: int) -> None:
        """Import the library, as a user's first lines would."""
        import numpy  # noqa: F401 - everybody has it

        name = contestant.split()[0]
        if name == "symbolic":
            from symbolic import SGD, Weight, symbolic, value_and_grad  # noqa: F401 - what is loaded at first use
        elif name.startswith("torch"):
            torch: Any = import_module("torch")
            torch.set_num_threads(threads)
        elif name not in ("numpy", "limit"):
            words = {"jax": "jax.numpy", "autograd": "autograd.numpy", "pytensor": "pytensor.tensor"}
            import_module(words.get(name, name))

    # ------------------------------------------------------------------ what can be asked
    def do_build(self, order: dict[str, Any]) -> dict[str, Any]:
        """From the inputs to the first result; then the results, and what it cost in memory."""
        begin = perf_counter()
        self.running = self.build(self.inputs)
        self.running.loop(1)
        first = perf_counter() - begin
        self.keep(0)
        self.running.loop(CHECKED[1])
        self.keep(1)
        return {"first": first, "import": self.imported, "peak": self.memory.peak() - self.memory.before}

    def keep(self, number: int) -> None:
        """For the parent to compare."""
        import numpy as np

        np.savez(self.folder / f"{number}.npz", **self.running.results())

    def do_calibrate(self, order: dict[str, Any]) -> dict[str, Any]:
        """Warm up for some seconds, wait for what compiles in the background, and say how many runs fill a turn."""
        self.warm(order["seconds"])
        begin = perf_counter()
        while any("compiling" in one.name for one in threading.enumerate()) and perf_counter() - begin < _PATIENCE:
            self.running.loop(1)
        return {"calls": self.warm(order["seconds"])}

    def warm(self, seconds: float) -> int:
        """Run for twice so long, and three times, at least; how many of the quickest runs take so long."""
        calls, quickest, spent, turns = 1, float("inf"), 0.0, 0
        while turns < 3 or spent < 2 * seconds or (calls < int(seconds / quickest) and turns < 20):
            turns += 1
            took = self.timed(calls)
            spent, quickest = spent + took, max(min(quickest, took / calls), 1e-9)
            calls = max(1, min(int(seconds / quickest), calls * 10))
        return calls

    def timed(self, calls: int) -> float:
        begin = perf_counter()
        self.running.loop(calls)
        return perf_counter() - begin

    def do_time(self, order: dict[str, Any]) -> dict[str, Any]:
        """Seconds a run, of the wall and of the processor (all threads)."""
        calls = order["calls"]
        busy, begin = process_time(), perf_counter()
        self.running.loop(calls)
        wall, busy = perf_counter() - begin, process_time() - busy
        return {"wall": wall / calls, "busy": busy / calls}

    def do_explain(self, order: dict[str, Any]) -> dict[str, Any]:
        """What runs where, if it is ours; which BLAS is loaded."""
        from benchmarks.surroundings import blas

        explain: Callable[[], str] | None = getattr(self.running, "explain", None)
        return {"explained": explain() if explain is not None else "", "blas": blas()}


def main() -> None:
    """Serve until the input ends. What goes wrong is an answer, too."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # what a library prints is no answer

    def say(**answer: Any) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        worker = Worker(*sys.argv[1:])
        say(ready=True)
        for line in sys.stdin:
            order = json.loads(line)
            say(**getattr(worker, f"do_{order['do']}")(order))
    except BaseException as error:
        say(error=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:400])
        raise


if __name__ == "__main__":
    main()
