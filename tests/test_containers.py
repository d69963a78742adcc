"""Do layers put together in a row, side by side or entry by entry compute what their parts do?"""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import symbolic as s
from symbolic import (
    SGD,
    AddTable,
    ConcatTable,
    DtypeError,
    LayerError,
    Linear,
    Literal,
    ParallelTable,
    ReLU,
    Sequential,
    ShapeError,
    TapeError,
    Times,
    Weight,
    symbolic,
)

X = np.random.default_rng(0).normal(size=(5, 4))
LAYERS: list[Any] = [
    s.Exp(),
    s.Negative(),
    s.Tanh(),
    Times(s.Identity(), 0.5),
    ReLU(),
    symbolic(lambda x: np.sin(x), np.ndarray),
]
FUNCTIONS: list[Any] = [np.exp, np.negative, np.tanh, lambda x: x * 0.5, lambda x: np.maximum(x, 0.0), np.sin]


@given(st.lists(st.integers(0, 5), max_size=5))
def test_sequential_feeds_each_the_result_of_the_one_before(picks: list[int]) -> None:
    net, expected = Sequential(), X * 0.1
    for pick in picks:
        assert net.add(LAYERS[pick]) is net
        expected = FUNCTIONS[pick](expected)
    assert len(net) == len(picks)
    assert np.allclose(net.predict(X * 0.1), expected, rtol=1e-14)


def test_an_empty_sequential_is_the_identity() -> None:
    assert Sequential().predict(3.0) == 3.0
    assert np.array_equal(s.grad(lambda x: np.sum(Sequential()(x) * 2.0))(X), np.full(X.shape, 2.0))
    assert np.array_equal(Sequential(Sequential(), Sequential()).predict(X), X)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4))
def test_concat_table_gives_one_input_to_every_branch(picks: list[int]) -> None:
    found = ConcatTable(*[LAYERS[k] for k in picks]).predict(X)
    assert type(found) is tuple and len(found) == len(picks)
    assert all(np.allclose(one, FUNCTIONS[k](X), rtol=1e-14) for one, k in zip(found, picks, strict=True))


@given(st.lists(st.integers(0, 5), min_size=2, max_size=4))
def test_parallel_table_gives_each_branch_its_entry(picks: list[int]) -> None:
    inputs = [X + k for k in range(len(picks))]
    found = ParallelTable(*[LAYERS[k] for k in picks]).predict(*inputs)
    assert all(np.allclose(one, FUNCTIONS[k](x)) for one, k, x in zip(found, picks, inputs, strict=True))


@given(st.integers(1, 4))
def test_add_table_adds_and_hands_the_delta_to_each(count: int) -> None:
    weights = [Weight(float(k + 1)) for k in range(count)]
    net = Sequential(ConcatTable(*[Times(s.Identity(), w) for w in weights]), AddTable())
    assert net.train(2.0, optimizer=SGD(0.0)) == 2.0 * sum(range(1, count + 1))
    assert [w.delta for w in weights] == [2.0] * count


def test_the_counts_must_agree() -> None:
    net = ParallelTable(s.Exp(), s.Sin())
    for inputs in ((X, X, X), ((X,),)):
        with pytest.raises((ShapeError, DtypeError), match=r"ParallelTable.*;"):
            net.predict(*inputs)
    with pytest.raises(ShapeError, match=r"ParallelTable has 2 branches for 3 inputs.*test_containers\.py:\d+.*;"):
        net.predict(X, X, X)  # type: ignore[symbolic]  # what is tested
    with pytest.raises(TypeError, match=r"ParallelTable takes a tuple.*;"):
        net.predict(X)  # type: ignore[symbolic]  # what is tested
    with pytest.raises(TypeError, match=r"AddTable takes a tuple.*;"):
        Sequential(s.Exp(), AddTable()).predict(X)


def test_tables_feed_each_other() -> None:
    net = Sequential(ConcatTable(s.Exp(), s.Sin()), ParallelTable(s.Negative(), s.Cos()), AddTable())
    assert np.allclose(net.predict(X), -np.exp(X) + np.cos(np.sin(X)))
    nested = ConcatTable(ConcatTable(s.Exp(), s.Sin()), s.Cos())
    (one, two), three = nested.predict(X)
    assert np.allclose(one, np.exp(X)) and np.allclose(two, np.sin(X)) and np.allclose(three, np.cos(X))


def test_add_appends_in_place_until_the_container_is_used() -> None:
    uses: list[Any] = [
        lambda net: net.predict(X),
        lambda net: net.forward(Literal(X)).close(),
        lambda net: net.train(X, optimizer=SGD(0.0)),
        lambda net: Sequential(net).predict(X),
    ]
    for use in uses:
        net = Sequential(Linear(4, 2))
        assert net.add(ReLU()) is net
        use(net)
        with pytest.raises(TapeError, match=r"add.*used.*test_containers\.py:\d+.*;"):
            net.add(ReLU())
        assert len(net) == 2
    with pytest.raises(RuntimeError):
        net.add(ReLU())


def test_what_is_no_layer_is_refused() -> None:
    things: list[tuple[Any, str]] = [(np.sin, "@symbolic"), (3, "@symbolic"), (None, "@symbolic")]
    things += [([Linear(2, 2)], r"one by one: \*layers"), (ReLU, "make an instance")]
    for thing, remedy in things:
        with pytest.raises(DtypeError, match=rf"Sequential\.add.*;.*{remedy}"):
            Sequential(thing)


def test_linear() -> None:
    layer = Linear(4, 3, seed=0)
    w, b = layer.weights()["weight"], layer.weights()["bias"]
    assert (w.value.shape, b.value.shape) == ((4, 3), (3,)) and not np.any(b.value)
    b.assign(np.arange(3.0))
    assert np.allclose(layer.predict(X), X @ w.value + b.value)
    assert layer.predict(np.ones((2, 5, 4))).shape == (2, 5, 3) and layer.predict(np.ones(4)).shape == (3,)
    assert list(Linear(4, 3, bias=False).weights()) == ["weight"]
    assert Linear(4, 3, dtype=np.float32).predict(X.astype(np.float32)).dtype == np.float32
    assert np.array_equal(Linear(4, 3, seed=0).weight.value, layer.weight.value)
    assert np.all(Linear(4, 3, initializer=lambda *shape, seed, dtype: np.ones(shape, dtype)).weight.value == 1.0)
    for sizes in ((-1, 2), (2.5, 3), ("4", 3)):
        with pytest.raises(ShapeError, match=r"Linear with inputs=.*;"):
            Linear(*sizes)


def test_linear_names_the_shapes_that_met() -> None:
    net = Sequential(ReLU(), Linear(128, 10))
    with pytest.raises(ShapeError) as caught:
        net.predict(np.ones((3, 127)))
    text = str(caught.value)
    assert "Sequential/1:Linear(128, 10)" in text and "(3, 127)" in text and "(128, 10)" in text
    assert "test_containers.py:" in text and "; " in text


def test_relu_is_zero_at_zero_and_keeps_nan() -> None:
    x = np.array([-1.0, -0.0, 0.0, 2.0])
    assert np.array_equal(ReLU().predict(x), [0.0, 0.0, 0.0, 2.0])
    assert np.array_equal(s.grad(lambda v: np.sum(ReLU()(v)))(x), [0.0, 0.0, 0.0, 1.0])
    assert np.isnan(ReLU().predict(np.array([np.nan]))[0])
    assert ReLU().predict(-2.0) == 0.0 and type(ReLU().predict(2.0)) is float
    assert ReLU().predict(x.astype(np.float32)).dtype == np.float32


class Failing(s.Module):
    """Fails where it is told to."""

    def build(self, input: Any) -> Any:
        return Broken(input)


class Broken(s.Exp):
    """An operation that fails when it runs."""

    __slots__ = ()

    def kernel(self, specs: Any, out: Any) -> Any:
        def fail(*values: Any) -> Any:
            raise np.linalg.LinAlgError("singular today")

        return fail, True


@pytest.mark.parametrize("times", [1, 4])
def test_a_failure_inside_is_a_layer_error_with_the_causes_class(times: int) -> None:
    net = Sequential(Linear(4, 4, seed=0), Sequential(Linear(4, 2, seed=0), Failing()))
    before = [w.value.tobytes() for w in net.weights().values()]
    for act in (net.predict, lambda x: net.train(x, optimizer=SGD(0.1)), lambda x: net.forward(Literal(x))):
        for _ in range(times):
            with pytest.raises(np.linalg.LinAlgError, match="singular today") as caught:
                act(X)
            text = str(caught.value)
            assert isinstance(caught.value, LayerError) and isinstance(caught.value.__cause__, np.linalg.LinAlgError)
            assert "Sequential/1:Sequential/1:Failing" in text and "test_containers.py:" in text and "[5, 2]" in text
    assert before == [w.value.tobytes() for w in net.weights().values()]


class FailingBack(s.Exp):
    """An operation whose gradient fails."""

    __slots__ = ()

    def gradient(self, delta: Any, out: Any, *operands: Any) -> Any:
        raise ZeroDivisionError("no way back")


def test_a_failure_on_the_way_back_names_the_layer_too() -> None:
    net = Sequential(Linear(4, 4, seed=0), FailingBack())
    before = [w.value.tobytes() for w in net.weights().values()]
    assert net.predict(X).shape == (5, 4)
    with pytest.raises(ZeroDivisionError, match=r"no way back.*Sequential/1:FailingBack\(\)") as caught:
        net.train(X, optimizer=SGD(0.1))
    assert isinstance(caught.value, LayerError)
    with pytest.raises(ZeroDivisionError, match="no way back"), net.forward(Literal(X)) as tape:
        tape.backward(1.0)  # type: ignore[arg-type]  # a number for an array
    assert before == [w.value.tobytes() for w in net.weights().values()]


def test_weights_of_tables_by_path() -> None:
    net = Sequential(ConcatTable(Linear(4, 2), Linear(4, 2, bias=False)), AddTable())
    assert list(net.weights()) == ["0/0/weight", "0/0/bias", "0/1/weight"]


def test_a_layer_used_twice_shares_its_weights() -> None:
    layer = Linear(4, 4, seed=0)
    net = Sequential(layer, layer)
    w, b = layer.weight.value, layer.bias.value  # type: ignore[union-attr]  # it has one
    net.train(X, optimizer=SGD(0.1))
    gradient = X.T @ np.ones((5, 4)) @ w.T + (X @ w + b).T @ np.ones((5, 4))
    assert np.allclose(layer.weight.value, w - 0.1 * gradient)


def test_symbolic_functions_within_containers_and_the_other_way_round() -> None:
    layer = Linear(4, 2, seed=0)
    inner = symbolic(lambda x: layer(np.tanh(x)) * Weight(2.0), np.ndarray)
    net = Sequential(inner, ReLU())
    expected = np.maximum((np.tanh(X) @ layer.weight.value) * 2.0, 0.0)
    assert np.allclose(net.predict(X), expected)
    assert len(net.weights()) == 3
    net.train(X, optimizer=SGD(0.1))
    assert not np.allclose(net.predict(X), expected)
