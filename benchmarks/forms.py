"""In which form does each library run best what it is given: a value with gradients, or a step of training?

Formulas are plain functions of positional arguments. Each is written once for each vocabulary (NumPy's, PyTorch's,
PyTensor's), and `speaking` hands NumPy's text to libraries that have its functions under another name.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, TypeAlias

import numpy as np

from benchmarks.workload import Build, Calls, Inputs, Results, Running, Threaded, array, library

Formula: TypeAlias = Callable[..., Any]


def speaking(formula: Formula, np: Any, **names: Any) -> Formula:
    """The same function, in whose text `np` (and other names) stand for something else."""
    function: Any = formula
    return types.FunctionType(
        function.__code__,
        {**function.__globals__, "np": np, **names},
        None,
        function.__defaults__,
        function.__closure__,
    )


# --------------------------------------------------------------------------- value and gradients
def named_gradients(names: Sequence[str]) -> Callable[[Any], Results]:
    """For what `value_and_grad` gives: a value, and as many gradients as there are names."""

    def named(last: Any) -> Results:
        value, gradients = last
        given = zip(names, gradients, strict=True)
        return {"value": array(value), **{f"gradient by {name}": array(one) for name, one in given}}

    return named


class Gradients:
    """Workloads of one kind: `formula(*inputs)` is a number, and its gradient by the first few is asked for."""

    def __init__(self, names: Sequence[str], by: Sequence[str]) -> None:
        self.names, self.by = tuple(names), tuple(by)
        self.argnums = tuple(range(len(self.by)))
        self.named = named_gradients(self.by)

    def arguments(self, inputs: Inputs) -> list[Any]:
        return [inputs[name] for name in self.names]

    def symbolic(self, make: Callable[[], Any]) -> Build:
        """`make` gives the decorated function."""

        def build(inputs: Inputs) -> Running:
            from symbolic import value_and_grad

            both = value_and_grad(make(), self.argnums)
            return Predictions(both, *self.arguments(inputs), named=self.named)

        return build

    def jax(self, make: Callable[[], Formula]) -> Build:
        def build(inputs: Inputs) -> Running:
            jax = library("jax")
            given = [jax.numpy.asarray(one) for one in self.arguments(inputs)]
            both = jax.jit(jax.value_and_grad(make(), self.argnums))
            return Calls(both, *given, named=self.named, finish=jax.block_until_ready)

        return build

    def torch(self, formula: Formula, compiled: bool = False) -> Build:
        def build(inputs: Inputs) -> Running:
            torch = library("torch")
            given = [torch.tensor(one) for one in self.arguments(inputs)]
            leaves = [one.requires_grad_() for one in given[: len(self.by)]]
            f = torch.compile(formula) if compiled else formula
            gradient = torch.autograd.grad

            def both() -> Any:
                value = f(*given)
                return value, gradient(value, leaves)

            return Calls(both, named=self.named)

        return build

    def autograd(self, make: Callable[[], Formula]) -> Build:
        def build(inputs: Inputs) -> Running:
            both = library("autograd").value_and_grad(make(), self.argnums)
            return Calls(both, *self.arguments(inputs), named=self.named)

        return build

    def mygrad(self, formula: Formula) -> Build:
        def build(inputs: Inputs) -> Running:
            mygrad = library("mygrad")
            mygrad.turn_memory_guarding_off()
            given = self.arguments(inputs)
            leaves = [mygrad.tensor(one) for one in given[: len(self.by)]]
            rest = given[len(self.by) :]

            def both() -> Any:
                value = formula(*leaves, *rest)
                value.backward()
                return value.data, [one.grad for one in leaves]

            return Calls(both, named=self.named)

        return build

    def pytensor(self, formula: Formula) -> Build:
        def build(inputs: Inputs) -> Running:
            pytensor = library("pytensor")
            given = self.arguments(inputs)
            variables = [variable(name, one) for name, one in zip(self.names, given, strict=True)]
            value = formula(*variables)
            gradients = pytensor.grad(value, variables[: len(self.by)])
            outputs = [pytensor.Out(one, borrow=True) for one in (value, *gradients)]
            f = pytensor.function([pytensor.In(one, borrow=True) for one in variables], outputs)
            f.trust_input = True
            return Calls(f, *given, named=lambda last: self.named((last[0], last[1:])))

        return build

    def numpy(self, both: Formula) -> Build:
        """`both` gives the value and the gradients by hand."""
        return lambda inputs: Calls(both, *self.arguments(inputs), named=self.named)


def variable(name: str, value: Any, fixed: bool = True) -> Any:
    """PyTensor's variable for such an array or number, of this shape or of any."""
    given = np.asarray(value)
    shape = given.shape if fixed else (None,) * given.ndim
    return library("pytensor.tensor").tensor(name, dtype=str(given.dtype), shape=shape)


class Explained(Calls):
    """A network of ours, which also tells what ran where."""

    def __init__(
        self, function: Callable[..., Any], *arguments: Any, named: Any, layer: Any, optimizer: Any = None
    ) -> None:
        super().__init__(function, *arguments, named=named)
        self.layer, self.optimizer = layer, optimizer

    def explain(self) -> str:
        return str(self.layer.explain(*self.arguments, optimizer=self.optimizer))


class Predictions(Explained):
    """`layer.predict(…)`, looked up at each call, as it is written."""

    def __init__(self, layer: Any, *arguments: Any, named: Any) -> None:
        super().__init__(layer.predict, *arguments, named=named, layer=layer)

    def loop(self, n: int) -> None:
        layer = self.layer
        value = self.last = None  # as `Calls`: nobody has three results at once
        match self.arguments:
            case (a,):
                for _ in repeat(None, n):
                    value = layer.predict(a)
            case (a, b):
                for _ in repeat(None, n):
                    value = layer.predict(a, b)
            case (a, b, c):
                for _ in repeat(None, n):
                    value = layer.predict(a, b, c)
            case _:
                for _ in repeat(None, n):
                    value = layer.predict(*self.arguments)
        self.last = value


# --------------------------------------------------------------------------- steps of training
class Training:
    """Workloads of the other kind: `loss(*weights, *inputs)`, and one update of the weights by SGD or Adam a step."""

    def __init__(
        self, weights: Sequence[str], names: Sequence[str], rate: float, rule: str = "SGD", fixed: bool = True
    ) -> None:
        self.weights, self.names, self.rate, self.rule = tuple(weights), tuple(names), rate, rule
        self.fixed = fixed  # whether PyTensor may count on the inputs' shapes

    def arguments(self, inputs: Inputs) -> list[Any]:
        return [inputs[name] for name in self.names]

    def start(self, inputs: Inputs) -> list[Any]:
        return [inputs[name] for name in self.weights]

    def named(self, inputs: Inputs, now: Sequence[Any], loss: Any) -> Results:
        """The loss of the last step, and how far each weight has come."""
        pairs = zip(self.weights, self.start(inputs), now, strict=True)
        return {"loss": array(loss), **{f"moved {name}": np.asarray(old) - array(new) for name, old, new in pairs}}

    def symbolic(self, make: Callable[..., Any]) -> Build:
        """`make(*weights)` gives the decorated function of the inputs, whose weights those are."""

        def build(inputs: Inputs) -> Running:
            import symbolic

            weights = [symbolic.Weight(one) for one in self.start(inputs)]
            net, rule = make(*weights), getattr(symbolic, self.rule)(self.rate)
            step = net.trainer(rule)

            def named(loss: Any) -> Results:
                return self.named(inputs, [one.value for one in weights], loss)

            return Explained(step, *self.arguments(inputs), named=named, layer=net, optimizer=rule)

        return build

    def jax(self, make: Callable[[], Formula]) -> Build:
        def build(inputs: Inputs) -> Running:
            jax = library("jax")
            update = jax_rule(self.rule, self.rate)
            start = [jax.numpy.asarray(one) for one in self.start(inputs)]
            count, both = len(start), jax.value_and_grad(make(), tuple(range(len(start))))

            def step(state: Any, *given: Any) -> Any:
                loss, gradients = both(*state[:count], *given)
                return update(state, gradients), loss

            state = tuple(start) + rule_state(
                self.rule, [jax.numpy.zeros_like(one) for one in start], jax.numpy.zeros(())
            )
            given = [jax.numpy.asarray(one) for one in self.arguments(inputs)]

            def named(state: Any, loss: Any) -> Results:
                return self.named(inputs, state[:count], loss)

            jitted = jax.jit(step, donate_argnums=0)
            return Threaded(jitted, state, *given, named=named, finish=jax.block_until_ready)

        return build

    def torch(self, formula: Formula, compiled: bool = False) -> Build:
        def build(inputs: Inputs) -> Running:
            torch = library("torch")
            weights = [torch.tensor(one).requires_grad_() for one in self.start(inputs)]
            given = [torch.tensor(one) for one in self.arguments(inputs)]
            f = torch.compile(formula) if compiled else formula
            gradient, update = torch.autograd.grad, torch_rule(self.rule, self.rate, weights)

            def step(*given: Any) -> Any:
                loss = f(*weights, *given)
                update(gradient(loss, weights))
                return loss

            return Calls(step, *given, named=lambda loss: self.named(inputs, weights, loss))

        return build

    def autograd(self, make: Callable[[], Formula]) -> Build:
        def build(inputs: Inputs) -> Running:
            weights, given = self.copies(inputs), self.arguments(inputs)
            both = library("autograd").value_and_grad(make(), tuple(range(len(weights))))
            update = array_rule(self.rule, self.rate, weights)

            def step(*given: Any) -> Any:
                loss, gradients = both(*weights, *given)
                update(gradients)
                return loss

            return Calls(step, *given, named=lambda loss: self.named(inputs, weights, loss))

        return build

    def mygrad(self, formula: Formula) -> Build:
        def build(inputs: Inputs) -> Running:
            mygrad = library("mygrad")
            mygrad.turn_memory_guarding_off()
            weights, given = self.copies(inputs), self.arguments(inputs)
            update = array_rule(self.rule, self.rate, weights)

            def step(*given: Any) -> Any:
                leaves = [mygrad.tensor(one, copy=False) for one in weights]
                loss = formula(*leaves, *given)
                loss.backward()
                update([one.grad for one in leaves])
                return loss.data

            return Calls(step, *given, named=lambda loss: self.named(inputs, weights, loss))

        return build

    def pytensor(self, formula: Formula) -> Build:
        def build(inputs: Inputs) -> Running:
            pytensor = library("pytensor")
            given = self.arguments(inputs)
            start = zip(self.weights, map(np.array, self.start(inputs)), strict=True)
            weights = [pytensor.shared(one, name, shape=one.shape) for name, one in start]
            variables = [variable(name, one, self.fixed) for name, one in zip(self.names, given, strict=True)]
            loss = formula(*weights, *variables)
            updates = pytensor_rule(self.rule, self.rate, weights, pytensor.grad(loss, weights))
            f = pytensor.function(variables, pytensor.Out(loss, borrow=True), updates=updates)
            f.trust_input = True

            def named(loss: Any) -> Results:
                return self.named(inputs, [one.get_value() for one in weights], loss)

            return Calls(f, *[np.asarray(one) for one in given], named=named)

        return build

    def copies(self, inputs: Inputs) -> list[Any]:
        """The weights as arrays of one's own, which are changed in place."""
        return [np.array(one) for one in self.start(inputs)]

    def numpy(self, make: Callable[..., Formula]) -> Build:
        """`make(weights, rate)` gives a step by hand, which moves the arrays in place."""

        def build(inputs: Inputs) -> Running:
            weights = self.copies(inputs)
            step = make(weights, self.rate)
            return Calls(step, *self.arguments(inputs), named=lambda loss: self.named(inputs, weights, loss))

        return build


BETAS, EPSILON = (0.9, 0.999), 1e-8


def rule_state(rule: str, zeros: Sequence[Any], count: Any) -> tuple[Any, ...]:
    """What JAX's step carries beside the weights: for Adam the number of steps, the means and the mean squares."""
    return (count, *zeros, *[+one for one in zeros]) if rule == "Adam" else ()


def jax_rule(rule: str, rate: float) -> Formula:
    """(weights and state, gradients) → new weights and state."""
    jnp = library("jax.numpy")

    def sgd(state: Any, gradients: Any) -> Any:
        return tuple([one - rate * delta for one, delta in zip(state, gradients, strict=True)])

    def adam(state: Any, gradients: Any) -> Any:
        k = len(gradients)
        weights, count, means, squares = state[:k], state[k] + 1, state[k + 1 : 2 * k + 1], state[2 * k + 1 :]
        means = [BETAS[0] * m + (1 - BETAS[0]) * g for m, g in zip(means, gradients, strict=True)]
        squares = [BETAS[1] * s + (1 - BETAS[1]) * g * g for s, g in zip(squares, gradients, strict=True)]
        both = [1 - beta**count for beta in BETAS]

        def new(w: Any, m: Any, s: Any) -> Any:
            unbiased = m / both[0].astype(m.dtype)
            return w - rate * unbiased / (jnp.sqrt(s / both[1].astype(s.dtype)) + EPSILON)

        return (*map(new, weights, means, squares), count, *means, *squares)

    return adam if rule == "Adam" else sgd


def torch_rule(rule: str, rate: float, weights: Sequence[Any]) -> Callable[[Any], object]:
    """Moves PyTorch's weights by their gradients, in place: its own fused Adam, or one addition."""
    torch = library("torch")
    if rule == "Adam":
        optimizer = torch.optim.Adam(weights, lr=rate, betas=BETAS, eps=EPSILON, fused=True)

        def adam(gradients: Any) -> None:
            for one, delta in zip(weights, gradients, strict=True):
                one.grad = delta
            optimizer.step()

        return adam

    silently = torch.no_grad

    def sgd(gradients: Any) -> None:
        with silently():
            for one, delta in zip(weights, gradients, strict=True):
                one.sub_(delta, alpha=rate)

    return sgd


def array_rule(rule: str, rate: float, weights: Sequence[Any]) -> Callable[[Any], object]:
    """Moves arrays of NumPy's in place."""
    state = [(np.zeros_like(one), np.zeros_like(one)) for one in weights]
    count = 0

    def sgd(gradients: Any) -> None:
        for one, delta in zip(weights, gradients, strict=True):
            np.subtract(one, rate * delta, out=one)

    def adam(gradients: Any) -> None:
        nonlocal count
        count += 1
        for one, (mean, square), delta in zip(weights, state, gradients, strict=True):
            mean *= BETAS[0]
            mean += (1 - BETAS[0]) * delta
            square *= BETAS[1]
            square += (1 - BETAS[1]) * delta * delta
            root = np.sqrt(square / (1 - BETAS[1] ** count)) + EPSILON
            one -= rate / (1 - BETAS[0] ** count) * mean / root

    return adam if rule == "Adam" else sgd


def pytensor_rule(rule: str, rate: float, weights: Sequence[Any], gradients: Sequence[Any]) -> list[tuple[Any, Any]]:
    """PyTensor's updates."""
    pytensor, pt = library("pytensor"), library("pytensor.tensor")
    if rule != "Adam":
        return [(one, one - np.asarray(rate, one.dtype) * delta) for one, delta in zip(weights, gradients, strict=True)]
    count = pytensor.shared(np.float64(0.0))
    updates = [(count, count + 1)]
    for one, delta in zip(weights, gradients, strict=True):
        kind = one.dtype
        mean, square = (pytensor.shared(np.zeros_like(one.get_value())) for _ in range(2))
        new = [
            (b * old + (1 - b) * d).astype(kind)
            for b, old, d in zip(BETAS, (mean, square), (delta, delta**2), strict=True)
        ]
        unbiased = [(moment / (1 - b ** (count + 1)).astype(kind)) for b, moment in zip(BETAS, new, strict=True)]
        moved = one - np.asarray(rate, kind) * unbiased[0] / (pt.sqrt(unbiased[1]) + np.asarray(EPSILON, kind))
        updates += [(mean, new[0]), (square, new[1]), (one, moved.astype(kind))]
    return updates
