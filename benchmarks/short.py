"""A short script, as a process of its own: `python -m benchmarks.short KIND CONTESTANT`; it prints the last loss.

few: ten steps of logistic regression. shapes: a hundred, each with another number of rows. many: two thousand.
"""

from __future__ import annotations

import sys
from typing import Any

STEPS = {"few": 10, "shapes": 100, "many": 2000}
TITLES = {"few": "10 steps", "shapes": "100 steps, a new shape each", "many": "2000 steps"}
CONTESTANTS = (
    "symbolic auto",
    "symbolic native",
    "symbolic numpy",
    "jax",
    "torch",
    "pytensor",
    "autograd",
    "mygrad",
    "numpy",
)


def run(kind: str, contestant: str) -> Any:
    """The steps on the data of W2; what the last one gives."""
    from benchmarks.forms import Training
    from benchmarks.workloads.logistic import contestants, inputs

    given = inputs({"rows": 32 if kind != "shapes" else STEPS[kind], "features": 64})
    training = Training(["w", "b"], ["x", "y"], rate=0.1, fixed=kind != "shapes")
    running: Any = contestants(training)[contestant](given)
    x, y, loss = given["x"], given["y"], None
    if contestant == "torch":
        import torch  # type: ignore[import-not-found,unused-ignore]  # where it is installed

        x, y = torch.tensor(x), torch.tensor(y)
    for k in range(STEPS[kind]):
        loss = running.once(x[: k + 1], y[: k + 1]) if kind == "shapes" else running.once(x, y)
    return loss


if __name__ == "__main__":
    print(float(run(*sys.argv[1:])))  # type: ignore[arg-type,unused-ignore]  # whatever the library gives
