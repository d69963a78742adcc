"""Is a result without axes an array where NumPy gives one, and a number where NumPy gives a number?

The oracle is the same body, run as plain NumPy. The law holds on both machines, for every call of a kind: those that
are interpreted, and those that run as code.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from answers import attempt
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Draw, Shape, same_at_each_run, shapes
from subjects import SUBJECTS, Subject, entries, leaves, network

import symbolic as s
from symbolic import SGD, Weight, value_and_grad, vjp

PROFILE = settings.default
EXAMPLES = 4 if PROFILE is None else max(4, PROFILE.max_examples // 20)
MACHINES = ["numpy", *(["native"] if find_spec("llvmlite") is not None else [])]
NUMBERS = [np.array(1.5), np.float64(1.5), np.array(1.5, np.float32), np.float32(1.5)]


@pytest.fixture(params=MACHINES, autouse=True)
def machine(request: Any) -> Iterator[str]:
    with s.use(request.param), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield request.param


def kinds(value: Any) -> Any:
    """For each result its type and dtype."""
    if isinstance(value, (tuple, list)):
        return tuple(map(kinds, value))
    return type(value), np.asarray(value).dtype


# --------------------------------------------------------------------------- every function


class Few(Draw):
    """Few axes, so that results have none."""

    def shape(self, least: int = 0, most: int = 4) -> Shape:
        least = max(least, self.least)
        found: Shape = self.data.draw(shapes(least, min(most, max(least, 1))))
        return found


PYTHONS = ("np.count_nonzero",)
"""Of these NumPy gives Python's own numbers, before 2.4; a program has NumPy's."""


@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_of_every_function(subject: Subject, machine: str) -> None:
    @same_at_each_run(EXAMPLES)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        call = subject.arguments(Few(data))
        numbers = data.draw(st.booleans())
        given_ = [one[()] if numbers and isinstance(one, np.ndarray) else one for one in call.arrays]
        function = subject.of(call)
        with np.errstate(all="ignore"):
            want = attempt(function, given_)
            if isinstance(want, Exception) or all(np.shape(one) for one in leaves(entries(want))):
                return
            net = network(function, len(given_))
            for _ in range(4 if machine == "numpy" else 2):
                got = attempt(net.predict, given_)
                for ours, theirs in zip(leaves(entries(got)), leaves(entries(want)), strict=True):
                    assert isinstance(ours, np.ndarray) == isinstance(theirs, np.ndarray), f"{ours!r}, NumPy {theirs!r}"
                    assert type(ours) is type(theirs) or subject.name in PYTHONS, f"{ours!r}, NumPy {theirs!r}"

    run()


# --------------------------------------------------------------------------- bodies


def written(x: Any) -> Any:
    y = np.zeros((), x.dtype)
    y[()] = x
    return y


def added(x: Any) -> Any:
    y = np.zeros((), x.dtype)
    y += x
    return y, np.reshape(y, ())


def read_again(x: Any) -> Any:
    y = np.zeros(2, x.dtype)
    y[0] = np.where(x > 0, x, 0)
    return y[0], y[..., 1], y[...][1], np.reshape(y[0], ())


BODIES: list[Callable[[Any], Any]] = [
    lambda x: np.where(x > 0, x, 2),
    lambda x: np.where(x > 0, x, 2) * 1,
    lambda x: 1 * np.where(x > 0, x, 2),
    lambda x: np.where(x > 0, x, 2) * 1.0 + 0,
    lambda x: np.reshape(np.where(x > 0, x, 2) * 1, ()),
    lambda x: np.reshape(np.exp(x), ()),
    lambda x: np.reshape(x, ()),
    lambda x: np.transpose(np.broadcast_to(x * 2, ())),
    lambda x: np.transpose(x),
    lambda x: x[()],
    lambda x: x[...],
    lambda x: (x * x)[...],
    lambda x: np.atleast_1d(x)[0],
    lambda x: np.atleast_1d(np.sin(x))[0, ...],
    lambda x: np.squeeze(np.atleast_2d(x * x)),
    lambda x: np.sum(x, keepdims=True),
    lambda x: np.sum(np.stack([x, x])),
    lambda x: np.asarray(x * 2),
    lambda x: np.array(x * 2),
    lambda x: np.asarray(x, np.float16),
    lambda x: x.astype(np.float64) if isinstance(x, np.ndarray) else x,
    lambda x: np.where(x > 0, x, 2).astype(np.float64),
    lambda x: np.float64(np.where(x > 0, x, 2)),
    lambda x: np.full((), x),
    lambda x: np.zeros_like(x) + 0 * x,
    lambda x: np.ones_like(x),
    lambda x: np.tensordot(np.stack([x, x]), np.ones(2, x.dtype), 1),
    lambda x: np.einsum("i,i", np.stack([x, x]), np.ones(2, x.dtype)),
    lambda x: np.linalg.det(np.eye(2, dtype=x.dtype) * x),
    lambda x: (np.where(x > 0, x, 0), np.sum(x), {"a": np.reshape(np.where(x > 0, 1, x), ())}["a"]),
    lambda x: np.maximum(np.where(x > 0, x, 0), 1),
    lambda x: np.clip(x, 0, 1),
    lambda x: s.stop_gradient(np.where(x > 0, x, 0)) if isinstance(x, s.Layer) else np.where(x > 0, x, 0),
    written,
    added,
    read_again,
]
BODIES_NAMED = pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))


@BODIES_NAMED
def test_of_bodies(body: Callable[[Any], Any]) -> None:
    net = network(body, 1)
    for x in NUMBERS:
        for _ in range(4):
            assert kinds(net.predict(x)) == kinds(body(x)), repr(x)


@BODIES_NAMED
def test_of_the_value_beside_a_gradient_which_is_what_its_argument_is(body: Callable[[Any], Any]) -> None:
    def first(x: Any) -> Any:
        found = body(x)
        return found[0] if isinstance(found, tuple) else found

    for x in NUMBERS:
        slope: Any = value_and_grad(first)
        for _ in range(4):
            value, delta = slope(x)
            assert (kinds(value), kinds(delta)) == (kinds(first(x)), kinds(x)), repr(x)
    value, pullback = vjp(first, NUMBERS[0])
    assert (kinds(value), kinds(pullback(value))) == (kinds(first(NUMBERS[0])), (kinds(NUMBERS[0]),))


LOSSES: list[Callable[[Any, Any], Any]] = [
    lambda w, x: np.where(w * x > 0, w * x, 0.0),
    lambda w, x: np.where(w * x > 0, w * x, 0.0) * 1.0,
    lambda w, x: np.reshape(w * x * 1.5, ()),
    lambda w, x: np.sum(w * x),
]


@pytest.mark.parametrize("loss", LOSSES, ids=range(len(LOSSES)))
@pytest.mark.parametrize("start", [2.0, np.float64(2.0), np.array(2.0), np.array([2.0])], ids=repr)
def test_of_steps_and_tapes(loss: Callable[[Any, Any], Any], start: Any) -> None:
    """The value of a step is the value of the function, whichever way a step goes."""

    def body(w: Any, x: Any) -> Any:
        return loss(np.sum(w), x) if np.ndim(start) else loss(w, x)

    for x in (np.array([1.5]), np.float64(1.5)):
        given_ = x if np.ndim(x) == 0 else np.array(1.5)
        want = kinds(body(Weight(start).value, given_))
        w = Weight(start)
        net = s.symbolic(lambda x: body(w, x), type(given_))  # noqa: B023  # it is used at once
        found: Sequence[Any] = [net.train(given_, optimizer=SGD(0.01)) for _ in range(3)]
        step = net.trainer(SGD(0.01))
        found = [
            *found,
            *[step(given_) for _ in range(5)],
            step.run(3, given_),
            *[net.predict(given_) for _ in range(3)],
        ]
        with net.forward(s.Literal(given_)) as tape:
            found.append(tape.value)
        assert {kinds(one) for one in found} == {want}


def test_of_steps_in_machine_code() -> None:
    """Of numbers that Python made, so that no call needs Python in between."""
    w, rows = Weight(np.array([2.0, 1.0])), np.array([1.5, 0.5])
    net = s.symbolic(lambda x: np.where(np.sum(w * x) > 0, np.sum(w * x), 0.0), np.ndarray)
    step = net.trainer(SGD(0.01))
    found = [*[step(rows) for _ in range(6)], step.run(3, rows), *[net.predict(rows) for _ in range(5)]]
    assert {kinds(one) for one in found} == {(np.ndarray, np.dtype(float))}
    assert len({id(one) for one in found}) == len(found)
    slope: Any = value_and_grad(lambda x: np.where(np.sum(x) > 0, np.sum(x), 0.0))
    assert {kinds(slope(rows)[0]) for _ in range(5)} == {(np.ndarray, np.dtype(float))}


def test_that_a_declared_type_has_the_last_word() -> None:
    for x in NUMBERS:
        net: Any = s.symbolic(lambda x: np.where(x > 0, x, 0), np.ndarray, returns=float)
        assert {type(net.predict(x)) for _ in range(4)} == {float}


def test_of_long_operands_of_which_shorter_ones_are_asked() -> None:
    """So large that nobody would compute with them to find out."""

    def body(x: Any) -> Any:
        return np.tensordot(x, x, 1), x @ x, np.sum(x), x[5, ...], np.sum(x)[...], np.squeeze(np.max(x, keepdims=True))

    x = np.linspace(0.0, 1.0, 70_001)
    net = network(body, 1)
    for _ in range(4):
        assert kinds(net.predict(x)) == kinds(body(x))


# --------------------------------------------------------------------------- operators in place, and Python's truths

IN_PLACE = [
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod, operator.ipow),
    *(operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift),
]
WITHOUT_AXES: list[Callable[[Any], Any]] = [
    lambda x: np.where(x[0] > 0, x[0], x[1]),
    lambda x: np.where(x[0] > 0, x[0], x[1]).T,
    lambda x: np.where(np.where(x[0] > 0, x[1], x[0]) > 0, np.where(x[0] > 0, x[1], x[0]), x[2]).reshape(()),
    lambda x: np.broadcast_to(x[0], ()).copy(),
    lambda x: x.copy()[1, ...],
    lambda x: x.copy()[1, ...].T,
    lambda x: np.array(x[1]),
    lambda x: np.zeros((), x.dtype) + x[0],
    lambda x: np.sum(x).reshape(()),
    lambda x: np.max(x),
    lambda x: x[2],
]
OTHERS: list[Callable[[Any], Any]] = [
    lambda x: 2,
    lambda x: 2.5,
    lambda x: x[2],
    lambda x: np.where(x[0] > 0, x[2], x[0]),
    lambda x: np.float32(3.0),
    lambda x: x,
]


@pytest.mark.parametrize("make", WITHOUT_AXES, ids=range(len(WITHOUT_AXES)))
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.bool_])
def test_an_operator_in_place_changes_an_array_for_all_its_names_and_a_number_for_one(make: Any, dtype: Any) -> None:
    x = np.array([1.5, 3.0, 2.0]).astype(dtype)
    for k, change in enumerate(IN_PLACE):
        for other in OTHERS[k % 2 :: 2]:

            def body(x: Any, change: Any = change, other: Any = other) -> Any:
                z = first = make(x)
                z = change(z, other(x))
                return z, first, first + 0

            with np.errstate(all="ignore"):
                want = attempt(body, [x])
                net = network(body, 1)
                for _ in range(2):
                    got = attempt(net.predict, [x])
                    assert isinstance(got, Exception) == isinstance(want, Exception), (change, got, want)
                    if not isinstance(want, Exception):
                        assert kinds(got) == kinds(want), change
                        np.testing.assert_allclose(np.hstack(got), np.hstack(want), rtol=1e-6)


TRUTHS: list[Callable[[Any], Any]] = [
    lambda x: np.allclose(x, x),
    lambda x: np.array_equal(x, x + 1),
    lambda x: np.array_equiv(x, x[None]),
    lambda x: bool(x[0] > 0),
    lambda x: x.item(0) > 0,
]
OF_TRUTHS: list[Callable[[Any, Any], Any]] = [
    *(lambda t, x: t, lambda t, x: (x, t), lambda t, x: not t, lambda t, x: t is True),
    *(lambda t, x: isinstance(t, bool), lambda t, x: type(t) is bool, lambda t, x: ~t, lambda t, x: -t),
    *(lambda t, x: t & True, lambda t, x: True | t, lambda t, x: t ^ t, lambda t, x: t & 3, lambda t, x: t << 2),
    *(lambda t, x: 12 >> t, lambda t, x: t + t, lambda t, x: t * 2, lambda t, x: t / 2, lambda t, x: t // 1),
    *(lambda t, x: t & np.True_, lambda t, x: t * x, lambda t, x: ~t * np.exp(x), lambda t, x: (t + 1) ** x),
    *(lambda t, x: x[t + 0], lambda t, x: np.where(t, x, -x), lambda t, x: f"{t}", lambda t, x: max(t, 0)),
]


@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")
@pytest.mark.parametrize("truth", TRUTHS, ids=range(len(TRUTHS)))
@pytest.mark.parametrize("use", OF_TRUTHS, ids=range(len(OF_TRUTHS)))
def test_a_truth_of_pythons_is_one(truth: Any, use: Any) -> None:
    x = np.array([1.5, -2.25, 3.0])
    body: Callable[[Any], Any] = lambda x: use(truth(x), x)  # noqa: E731 - a body as people write them
    net = network(body, 1)
    for _ in range(4):
        assert repr(net.predict(x)) == repr(body(x))
