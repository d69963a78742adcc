"""L1, L2: a thousand steps inside one call: `step.run(1000, …)` against JAX's `scan` and `fori_loop`; per step.

L1 is W1 with a target, ((1 + x) · w − 1)², so that w settles; L2 is W2, logistic regression.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from benchmarks.forms import Explained, Formula, Training
from benchmarks.workload import Build, Goal, Inputs, Results, Running, Size, Threaded, Workload, library, ours
from benchmarks.workloads import logistic
from benchmarks.workloads.scalar import numbers

STEPS = 1000
SCALAR = Training(["w"], ["x"], 1e-5)


class InOne(Explained):
    """`step.run`: each of the runs is a thousand steps."""

    def loop(self, n: int) -> None:
        for _ in range(n):
            self.last = self.function(STEPS, *self.arguments)


def symbolic(training: Training, make: Callable[..., Any]) -> Build:
    def build(given: Inputs) -> Running:
        one = training.symbolic(make)(given)
        assert isinstance(one, Explained)
        return InOne(
            one.function.run,  # type: ignore[attr-defined]  # a trainer
            *one.arguments,
            named=one.named,
            layer=one.layer,
            optimizer=one.optimizer,
        )

    return build


def with_jax(training: Training, make: Callable[[], Formula], kind: str) -> Build:
    def build(given: Inputs) -> Running:
        jax = library("jax")
        start = tuple(jax.numpy.asarray(one) for one in training.start(given))
        both = jax.value_and_grad(make(), tuple(range(len(start))))

        def once(weights: Any, inputs: Any) -> Any:
            value, deltas = both(*weights, *inputs)
            return tuple([w - training.rate * d for w, d in zip(weights, deltas, strict=True)]), value

        def scanned(weights: Any, *inputs: Any) -> Any:
            weights, values = jax.lax.scan(lambda now, _: once(now, inputs), weights, length=STEPS)
            return weights, values[-1]

        def counted(weights: Any, *inputs: Any) -> Any:
            first = (weights, jax.numpy.zeros(()))
            return jax.lax.fori_loop(0, STEPS, lambda _, state: once(state[0], inputs), first)

        def named(weights: Any, value: Any) -> Results:
            return training.named(given, weights, value)

        jitted = jax.jit(scanned if kind == "scan" else counted, donate_argnums=0)
        arguments = [jax.numpy.asarray(one) for one in training.arguments(given)]
        return Threaded(jitted, start, *arguments, named=named, finish=jax.block_until_ready)

    return build


def in_python(build: Build) -> Build:
    """A loop around a step, for who has no other."""

    class Repeated:
        def __init__(self, one: Running) -> None:
            self.one = one

        def loop(self, n: int) -> None:
            self.one.loop(STEPS * n)

        def results(self) -> Results:
            return self.one.results()

    return lambda given: Repeated(build(given))


def scalar_inputs(size: Size) -> Inputs:
    return {"x": 1.0, "w": 2.0}


def scalar(w: Any) -> Any:
    from symbolic import Symbolic, symbolic

    @symbolic
    def loss(x: Annotated[float, Symbolic]) -> float:
        return ((1.0 + x) * w - 1.0) ** 2

    return loss


def loss(w: Any, x: Any) -> Any:
    return ((1.0 + x) * w - 1.0) ** 2


WORKLOADS = {
    "L1": Workload(
        name="L1",
        title="1000 scalar steps in one call",
        sizes={"": {}},
        tiny={},
        inputs=scalar_inputs,
        contestants={
            **ours(symbolic(SCALAR, scalar)),
            "jax scan": with_jax(SCALAR, lambda: loss, "scan"),
            "jax fori_loop": with_jax(SCALAR, lambda: loss, "fori_loop"),
            "torch": in_python(numbers(SCALAR.torch(loss))),
            "pytensor c": in_python(numbers(SCALAR.pytensor(loss))),
        },
        tolerance=1e-9,
        goals=(Goal("≥ 1×"),),
    ),
    "L2": Workload(
        name="L2",
        title="1000 logistic-regression steps in one call",
        sizes={"32×64": {"rows": 32, "features": 64}},
        tiny={"rows": 5, "features": 3},
        inputs=logistic.inputs,
        contestants={
            **ours(symbolic(logistic.TRAINING, logistic.symbolic)),
            "jax scan": with_jax(logistic.TRAINING, logistic.with_jax, "scan"),
            "jax fori_loop": with_jax(logistic.TRAINING, logistic.with_jax, "fori_loop"),
            "torch": in_python(logistic.TRAINING.torch(logistic.with_torch)),
            "pytensor c": in_python(logistic.TRAINING.pytensor(logistic.with_pytensor)),
        },
        tolerance=1e-8,  # after thousands of steps
        goals=(Goal("≥ 1×"),),
    ),
}
