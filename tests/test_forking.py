"""Is a child of a fork right, and as quick as its parent, whatever other threads were doing? In processes of their own.

Python warns of forks where threads run, and a child that waits for ever has to be killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import symbolic as s
from symbolic import SGD, Weight
from symbolic.plan import Program

MACHINES = ["numpy", *(["native"] if find_spec("llvmlite") is not None else [])]
RNG = np.random.default_rng(4)
FORKS = 12


def in_children(check: Callable[[], bool], work: Callable[[], object]) -> None:
    """Fork while another thread works, again and again; say what each child has come to."""
    done, begun = threading.Event(), threading.Event()

    def run() -> None:
        while not done.is_set():
            work()
            begun.set()

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    begun.wait()
    for k in range(FORKS):
        time.sleep(0.003 + 0.0007 * k)  # into the middle of the work
        child = os.fork()
        if child == 0:
            os._exit(0 if check() else 1)
        print(os.waitpid(child, 0)[1], flush=True)
    done.set()
    worker.join()


def interpreted() -> list[int]:
    """Notes whenever a program goes the slow way from now on."""
    found: list[int] = []
    run = Program.run

    def noting(self: Program, *rest: Any) -> None:
        found.append(len(self.instructions))
        run(self, *rest)

    Program.run = noting  # type: ignore[method-assign, assignment]  # of a process that ends soon
    return found


def predictions() -> None:
    """A program that another thread is running, in code with memory of its own. OpenBLAS is no better: no products."""
    w, x = RNG.normal(size=200), RNG.normal(size=(1500, 200))
    net = s.symbolic(lambda x: np.sum(np.tanh(np.tanh(x * w) * w + x), axis=0), np.ndarray)
    slope: Any = s.grad(lambda x: np.sum(np.tanh(np.tanh(x * w) * w + x)))
    want, wanted = net.predict(x), slope(x)
    for _ in range(4):
        net.predict(x), slope(x)
    found = interpreted()

    def check() -> bool:
        found.clear()
        near = all(np.allclose(net.predict(x), want) and np.allclose(slope(x), wanted) for _ in range(3))
        return near and not found

    in_children(check, lambda: (net.predict(x), slope(x)))


def first_calls() -> None:
    """A function that another thread is tracing."""
    x = np.ones(3)

    def fresh() -> Any:
        return s.grad(lambda x: np.sum(np.tanh(x) ** 2))

    shared: list[Any] = [fresh()]

    def work() -> None:
        shared[0] = fresh()
        shared[0](np.ones(3))
        shared[0](np.ones(4))

    want = fresh()(x)
    in_children(lambda: bool(np.allclose(shared[0](x), want)), work)


def training() -> None:
    """Weights that another thread moves: a child sees them between two steps, and takes steps of its own."""
    x = RNG.normal(size=(40, 30))
    v, w = Weight(np.ones(30)), Weight(np.ones(30))
    net = s.symbolic(lambda x: np.mean(np.tanh(x @ v) ** 2) + np.mean(np.tanh(x @ w) ** 2), np.ndarray)
    step = net.trainer(SGD(1e-4))
    for _ in range(5):
        step(x)

    def check() -> bool:
        count = step.optimizer.count
        alike = np.array_equal(v.value, w.value)
        before = net.predict(x)
        value = [step(x) for _ in range(5)][-1]
        step.run(20, x)
        return bool(
            alike and value <= before and step.optimizer.count == count + 25 and np.array_equal(v.value, w.value)
        )

    in_children(check, lambda: (step.run(200, x), [step(x) for _ in range(10)]))
    print(int(not np.array_equal(v.value, w.value)))


SCENES: dict[str, Callable[[], None]] = {one.__name__: one for one in (predictions, first_calls, training)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("machine", MACHINES)
def test_a_fork_while_others_work(scene: str, machine: str) -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # a fork ends its threads, for whom others may wait
    run = subprocess.run(
        [sys.executable, __file__, scene, machine], env=environment, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0 and len(run.stdout.split()) >= FORKS, run.stderr
    assert set(run.stdout.split()) == {"0"}, run.stdout


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with s.use(sys.argv[2]):  # type: ignore[arg-type]  # one of them
        SCENES[sys.argv[1]]()
