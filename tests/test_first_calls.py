"""What a first call costs is counted here, in nodes and in functions that are written. And it gives the same.

What is remembered for the next node of a kind is never taken where it would be wrong: another class, other settings.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import pytest
from threads import in_threads

import symbolic as s
from symbolic import SGD, Identity, Literal, Symbolic, Weight, grad, symbolic, value_and_grad
from symbolic.floating import settings
from symbolic.inference import Inference
from symbolic.network import network
from symbolic.ops.arithmetic import Plus
from symbolic.ops.deciding import may_fail
from symbolic.ops.deltas import Chain
from symbolic.ops.operation import OPERATIONS, Operation, topological
from symbolic.ops.passing import Mark
from symbolic.spec import AnySpec, Spec, spec_of

X = np.array([0.5, -1.5, 2.0])


# --------------------------------------------------------------------------- the variables of a gradient
def cubes(x: Any) -> Any:
    return np.sum(x * x * x)


def written_into(x: Any) -> Any:
    x[1] = 3.0
    x *= x
    return np.sum(x)


def of_two(x: Any, y: Any) -> Any:
    return np.sum(x * x * y)


@pytest.mark.parametrize("body", [cubes, written_into])
def test_the_gradient_of_a_layer_is_that_of_the_plain_function(body: Callable[[Any], Any]) -> None:
    layer: Any = symbolic(body, np.ndarray, returns=float)
    value, slopes = value_and_grad(layer)(X.copy())
    expected, wanted = value_and_grad(body)(X.copy())
    assert value == expected
    np.testing.assert_array_equal(slopes, wanted)


def test_the_inputs_of_a_gradient_are_its_variables_themselves() -> None:
    layer: Any = grad(symbolic(cubes, np.ndarray, returns=float))
    np.testing.assert_allclose(layer(X), 3 * X * X, rtol=1e-14)
    (trace,) = network(layer).traces
    assert not any(isinstance(one, Mark) for one in topological([trace.output]))


def test_gradients_of_gradients_of_layers() -> None:
    once: Any = grad(symbolic(cubes, np.ndarray, returns=float))
    twice: Any = grad(symbolic(lambda x: np.sum(once(x) ** 2), np.ndarray, returns=float))
    np.testing.assert_allclose(twice(X), 36 * X**3, rtol=1e-13)


@pytest.mark.parametrize("argnums", [0, 1, (0, 1), (1, 0)])
def test_one_array_may_be_given_twice(argnums: Any) -> None:
    layer: Any = symbolic(of_two, np.ndarray, np.ndarray, returns=float)
    for given in ((X, X), (X, X + 1.0)):
        found, wanted = grad(layer, argnums)(*given), grad(of_two, argnums)(*given)
        for one, other in zip(np.atleast_2d(found), np.atleast_2d(wanted), strict=True):
            np.testing.assert_array_equal(one, other)


# --------------------------------------------------------------------------- functions that are written
@pytest.mark.parametrize("machine", ["numpy", "auto"])
def test_a_shortcut_is_written_for_what_comes_again(machine: Any) -> None:
    with s.use(machine):
        w = Weight(X)

        @symbolic
        def loss(x: Annotated[np.ndarray, Symbolic]) -> float:
            return np.sum((x * w) ** 2)

        step = loss.trainer(SGD(0.01))
        large = np.ones((50_000, 3))  # code is written for it at once
        counts = []
        for _ in range(3):
            step(large)
            counts.append(len(step.shortcuts.kept))
        assert counts[0] == 0 and counts[-1] <= 1
        if machine == "numpy":
            assert counts == [0, 1, 1]


# --------------------------------------------------------------------------- what is remembered
class Shifted(Plus):
    """A sum that says more of its result than a sum does."""

    __slots__ = ()

    def infer(self, *specs: AnySpec) -> AnySpec:
        found = super().infer(*specs)
        assert isinstance(found, Spec)
        return Spec(found.shape, np.dtype(np.float32))


def test_what_is_known_of_a_kind_is_known_of_no_other() -> None:
    x = Identity()
    facts = Inference({x: spec_of(X)})
    for _ in range(3):
        assert facts.spec(Plus(x, x)) == Spec((3,), np.dtype(float))
        assert facts.spec(Shifted(x, x)) == Spec((3,), np.dtype(np.float32))
    assert facts.spec(Plus(Shifted(x, x), Literal(np.float32(1.0)))) == Spec((3,), np.dtype(np.float32))


def test_a_long_graph_of_which_nothing_was_asked() -> None:
    x = Identity()
    node: Any = x
    for k in range(20_000):
        node = Plus.make((node, Literal(1.0))) if k % 3 else Plus.make((Literal(2.0), node))
    assert Inference({x: spec_of(X)}).spec(node) == Spec((3,), np.dtype(float))


def test_operands_stand_before_their_users_in_the_order_of_a_walk_by_recursion() -> None:
    random = np.random.default_rng(5)
    for _ in range(50):
        nodes: list[Any] = [Identity(), Literal(1.0)]
        for _ in range(40):
            a, b = (nodes[k] for k in random.integers(0, len(nodes), 2))
            nodes.append(Plus.make((a, b)))
        roots = [nodes[k] for k in random.integers(0, len(nodes), 3)]
        wanted: list[Any] = []
        seen: set[int] = set()

        def walk(node: Any, seen: set[int] = seen, wanted: list[Any] = wanted) -> None:
            if id(node) not in seen:
                seen.add(id(node))
                for one in node.operands if isinstance(node, Operation) else ():
                    walk(one, seen, wanted)
                wanted.append(node)

        for root in roots:
            walk(root)
        assert list(map(id, topological(roots))) == list(map(id, wanted))


def test_settings_are_numpys_in_every_block_and_thread() -> None:
    assert settings() == np.geterr() and settings() is settings()
    with np.errstate(divide="raise", under="warn"):
        assert settings() == np.geterr() and settings()["divide"] == "raise"
        with np.errstate(divide="ignore"):
            assert settings()["divide"] == "ignore"
        assert settings()["divide"] == "raise"
        found: list[bool] = []
        in_threads(lambda k: found.append(settings() == np.geterr()), 4)  # each has its own
        assert found == [True] * 4
    before = np.seterr(over="raise")
    try:
        assert settings() == np.geterr() and settings()["over"] == "raise"
    finally:
        np.seterr(**before)
    assert settings() == np.geterr()


@pytest.mark.parametrize("kind", OPERATIONS, ids=lambda kind: kind.__name__)
def test_what_may_fail_for_its_numbers_is_asked_of_the_class(kind: type[Operation]) -> None:
    """As the rule says it: what raises, what solves, and the divisions of Python's numbers."""
    if kind.variadic:
        return
    leaves = [Identity(str(k)) for k in range(len(kind.operand_names))]
    for value in (2.0, 3, X):
        facts = Inference({one: spec_of(value) for one in leaves})
        node = kind.make(tuple(leaves), tuple(kind.defaults.values()))
        solves = any(one.__name__ in ("inv", "solve", "cholesky", "svd", "eigh", "pinv") for one in kind.functions)
        if kind.raises or solves:
            assert may_fail(node, facts)
        elif kind.symbol in ("/", "//", "%", "**"):
            assert may_fail(node, facts) == (type(value) is not np.ndarray)
        elif kind.symbol:
            assert not may_fail(node, facts)


# --------------------------------------------------------------------------- products with care
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.longdouble])
def test_large_factors_are_finite_and_infinite_ones_are_not(dtype: Any) -> None:
    """The sum of squares overflows for both; only the second kind counts as 0 where the delta is 0."""
    large = np.array([np.finfo(dtype).max, 1.0, -2.0], dtype)
    delta = np.array([0.5, 0.0, 1.0], dtype)
    odd = np.array([4.0, np.inf, np.nan], dtype)
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        for found in (Chain.careful(delta, large), Chain.careful_into(delta, large, np.empty_like(delta))):
            np.testing.assert_array_equal(found, delta * large)
    for found in (Chain.careful(delta, odd), Chain.careful_into(delta, odd, np.empty_like(delta))):
        np.testing.assert_array_equal(found, np.array([2.0, 0.0, np.nan], dtype))
        assert found.dtype == dtype
