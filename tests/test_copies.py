"""What is a copy of a layer, an optimizer, a trainer, a gradient, and what travels to another process?

Before and after calls run as machine code: an address belongs to one object of one process.
"""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import symbolic as s
from symbolic import SGD, Adam, Momentum, SymbolicError, Weight, grad, value_and_grad

MACHINES = ["numpy", *(["native"] if find_spec("llvmlite") is not None else [])]
X = np.random.default_rng(6).normal(size=(5, 3))
CALLS = [0, 1, 6]
"""How many calls came before: none, one that was interpreted, enough for code."""


@pytest.fixture(params=MACHINES, autouse=True)
def machine(request: Any) -> Iterator[str]:
    with s.use(request.param):
        yield request.param


def network() -> Any:
    return s.Sequential(s.Linear(3, 4, seed=1), s.Tanh(), s.Linear(4, 2, seed=2), s.Square(), s.Sum())


def squares(x: Any) -> Any:
    return np.sum(np.tanh(x) ** 2)


def values(net: Any) -> list[Any]:
    return [np.array(weight.value) for weight in net.weights().values()]


def alike(one: Any, other: Any) -> None:
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize("optimizer", [SGD(0.1), Momentum(0.1), Adam(0.1)], ids=["SGD", "Momentum", "Adam"])
def test_a_deep_copy_of_a_trainer_goes_on_by_itself(calls: int, optimizer: Any) -> None:
    net, optimizer = network(), copy.deepcopy(optimizer)
    step = net.trainer(optimizer)
    for _ in range(calls):
        net.predict(X), step(X)
    twin = copy.deepcopy(step)
    own = twin.layer
    assert own is not net and twin.optimizer is not optimizer and twin.optimizer.count == optimizer.count == calls
    alike(values(own), values(net))
    before = values(net)
    losses = [twin(X) for _ in range(6)] + [twin.run(3, X)]
    alike(values(net), before)  # the steps of the one do not move the other
    alike([step(X) for _ in range(6)] + [step.run(3, X)], losses)
    alike(values(own), values(net))
    assert twin.optimizer.count == optimizer.count == calls + 9


@pytest.mark.parametrize("calls", CALLS)
def test_a_shallow_copy_of_a_trainer_moves_the_same_weights(calls: int) -> None:
    net, other = network(), network()
    step, alone = net.trainer(Adam(0.1)), other.trainer(Adam(0.1))
    for _ in range(calls):
        step(X), alone(X)
    twin = copy.copy(step)
    assert twin.optimizer is step.optimizer and twin.layer is net
    found = [one(X) for _ in range(6) for one in (step, twin)]
    alike(found, [alone(X) for _ in range(12)])


@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_layer_gives_the_same(calls: int, copied: Callable[[Any], Any]) -> None:
    weight = Weight(np.array([1.0, -2.0, 0.5]))
    for net in (network(), s.Sum(s.Tanh(s.Identity() * weight))):
        slope: Any = value_and_grad(net)
        for _ in range(calls):
            net.predict(X), slope(X)
        twin = copied(net)
        other: Any = value_and_grad(twin)
        for _ in range(5):
            assert np.isclose(twin.predict(X), net.predict(X), rtol=1e-13)
            alike(other(X), slope(X))
        before = net.predict(X)
        twin.train(X, optimizer=SGD(0.1))
        assert bool(net.predict(X) == before) == (copied is copy.deepcopy)


@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_of_a_gradient_gives_the_same(calls: int, copied: Callable[[Any], Any]) -> None:
    second: Any = lambda f: s.vmap(s.hessian(f), in_axes=0, out_axes=1)  # noqa: E731 - one row of the table
    for make in (grad, value_and_grad, s.jacobian, s.hessian, s.vmap, second):
        slope: Any = make(squares)
        for _ in range(calls):
            slope(X)
        twin = copied(slope)
        for _ in range(5):
            alike(twin(X), slope(X))
        assert repr(twin) == repr(slope) and twin.__doc__ == slope.__doc__


@pytest.mark.parametrize("calls", CALLS)
def test_what_only_this_process_knows_is_refused(calls: int) -> None:
    net, optimizer = network(), Adam(0.1)
    step = net.trainer(optimizer)
    fresh: Any = pickle.loads(pickle.dumps(optimizer))
    assert type(fresh) is Adam and fresh.learning_rate == optimizer.learning_rate and not fresh.count
    for _ in range(calls):
        net.predict(X), step(X)
    for one, words in ((net, r"layer.*pickled.*;.*weights"), (step, r"trainer.*pickled.*;.*state_dict")):
        with pytest.raises(SymbolicError, match=words):
            pickle.dumps(one)
    if calls:
        with pytest.raises(SymbolicError, match=r"optimizer.*pickled.*;.*state_dict"):
            pickle.dumps(optimizer)


def test_a_gradient_and_what_was_saved_travel_to_another_process(machine: str) -> None:
    net, optimizer = network(), Adam(0.1)
    step, slope = net.trainer(optimizer), grad(squares)
    for _ in range(6):
        step(X), slope(X)
    saved = values(net), optimizer.state_dict(net.weights())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found, losses = pool.apply(_elsewhere, (machine, slope, *saved))
    np.testing.assert_allclose(found, slope(X), rtol=1e-13)
    alike(losses, [step(X) for _ in range(5)])


def _elsewhere(machine: Any, slope: Any, weights: Any, states: Any) -> Any:
    with s.use(machine):
        net, optimizer = network(), Adam(0.1)
        for weight, value in zip(net.weights().values(), weights, strict=True):
            weight.assign(value)
        optimizer.load_state_dict(net.weights(), states)
        step = net.trainer(optimizer)
        return [slope(X) for _ in range(4)][-1], [step(X) for _ in range(5)]
