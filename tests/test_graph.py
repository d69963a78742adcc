"""Does a graph of nodes run in topological order, add up its gradients, and name what is wrong with it?"""

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
    Graph,
    Identity,
    Linear,
    Literal,
    ReLU,
    Sequential,
    SymbolicError,
    Times,
    Weight,
)

X = np.random.default_rng(0).normal(size=(5, 4))


def relu(x: Any) -> Any:
    return np.maximum(x, 0.0)


def test_the_model_of_the_seed() -> None:
    linear1 = Linear(4, 8).inputs()
    relu1 = ReLU().inputs(linear1)
    linear2 = Linear(8, 8).inputs(relu1)
    relu2 = ReLU().inputs(linear2)
    linear3 = Linear(8, 8).inputs(relu1)
    model = Graph([linear1], [AddTable().inputs(relu2, linear3)])
    w1, w2, w3 = (node.layer.weight.value for node in (linear1, linear2, linear3))
    hidden = relu(X @ w1)
    assert np.allclose(model.predict(X), relu(hidden @ w2) + hidden @ w3)
    assert len(model.weights()) == 6
    branches = Sequential(
        linear1.layer, ReLU(), ConcatTable(Sequential(linear2.layer, ReLU()), linear3.layer), AddTable()
    )
    assert np.allclose(model.predict(X), branches.predict(X))
    model.train(X, optimizer=SGD(0.0))
    by_graph = [w.delta for w in (linear1.layer.weight, linear2.layer.weight, linear3.layer.weight)]
    branches.train(X, optimizer=SGD(0.0))
    by_tables = [w.delta for w in (linear1.layer.weight, linear2.layer.weight, linear3.layer.weight)]
    assert all(np.allclose(a, b) for a, b in zip(by_graph, by_tables, strict=True))


@given(st.lists(st.lists(st.integers(0, 100), min_size=1, max_size=3), min_size=1, max_size=8))
def test_any_acyclic_graph_is_the_expression_that_it_draws(edges: list[list[int]]) -> None:
    """Node k adds what arrives from some of the nodes before it and scales it; a fan-out adds its gradients."""
    weights = [Weight(0.5 + 0.1 * k) for k in range(len(edges) + 1)]
    nodes = [Times(Identity(), weights[0]).inputs()]
    values: list[Any] = [lambda x, w: x * w[0]]
    for k, sources in enumerate(edges):
        picked = [source % len(nodes) for source in sources]
        scale = Times(Identity(), weights[k + 1])
        layer = Sequential(AddTable(), scale) if len(picked) > 1 else scale
        nodes.append(layer.inputs(*[nodes[p] for p in picked]))
        values.append(lambda x, w, k=k, picked=picked: sum(values[p](x, w) for p in picked) * w[k + 1])
    net = Graph(nodes[0], nodes[-1])
    start = [w.value for w in weights]
    assert net.predict(2.0) == pytest.approx(values[-1](2.0, start))
    net.train(2.0, optimizer=SGD(0.0))
    for k, w in enumerate(weights):
        up, down = list(start), list(start)
        up[k] += 1e-6
        down[k] -= 1e-6
        slope = (values[-1](2.0, up) - values[-1](2.0, down)) / 2e-6
        assert (w.delta or 0.0) == pytest.approx(slope, rel=1e-5, abs=1e-5)


def test_several_inputs_and_outputs() -> None:
    a, b = Identity().inputs(), Identity().inputs()
    total, sine = AddTable().inputs(a, b), s.Sin().inputs(b)
    net = Graph([a, b], [total, sine])
    assert net.predict(1.0, 2.0) == (3.0, pytest.approx(np.sin(2.0)))
    assert Graph([b, a], [total, sine]).predict(1.0, 2.0) == (3.0, pytest.approx(np.sin(1.0)))
    assert Graph(a, s.Exp().inputs(a)).predict(0.0) == 1.0


def test_several_edges_arrive_as_a_tuple_in_order() -> None:
    a = Identity().inputs()
    left, right = Times(Identity(), 2.0).inputs(a), Times(Identity(), 3.0).inputs(a)
    difference = s.Subtract(s.Projection(0), s.Projection(1))
    assert Graph(a, difference.inputs(left, right)).predict(1.0) == -1.0
    assert Graph(a, difference.inputs(right, left)).predict(1.0) == 1.0
    assert Graph(a, difference.inputs([right, left])).predict(1.0) == 1.0
    assert Graph(a, AddTable().inputs(a, a, a)).predict(1.0) == 3.0


def test_nodes_that_reach_no_output_never_run() -> None:
    seen: list[Any] = []
    a = Identity().inputs()
    dead = Times(Identity(), Weight(1.0)).on_output(seen.append).inputs(a)
    AddTable().inputs(dead, a)
    net = Graph(a, Times(Identity(), Weight(2.0)).inputs(a))
    assert net.train(3.0, optimizer=SGD(0.1)) == 6.0
    assert seen == [] and len(net.weights()) == 1


def test_a_node_in_two_graphs_is_shared() -> None:
    a = Identity().inputs()
    middle = Linear(4, 4, seed=0).inputs(a)
    one, other = Graph(a, s.Exp().inputs(middle)), Graph(a, s.Sin().inputs(middle))
    one.train(X, optimizer=SGD(0.01))
    assert np.allclose(other.predict(X), np.sin(middle.layer.predict(X)))


def test_a_layer_at_two_nodes_shares_its_weights() -> None:
    layer = Linear(4, 4, seed=0)
    first = layer.inputs()
    net = Graph(first, layer.inputs(first))
    assert len(net.weights()) == 2 and np.allclose(net.predict(X), layer.predict(layer.predict(X)))


def test_a_graph_is_a_layer_within_others() -> None:
    first = Linear(4, 2, seed=0).inputs()
    inner = Graph(first, ReLU().inputs(first))
    net = Sequential(inner, Linear(2, 1, seed=0))
    assert net.predict(X).shape == (5, 1) and len(net.weights()) == 4
    net.train(X, optimizer=SGD(0.1))


def test_a_deep_graph_meets_no_recursion_limit() -> None:
    node = first = Identity().inputs()
    for _ in range(3000):
        node = Times(Identity(), 1.0).inputs(node)
    assert Graph(first, node).predict(2.0) == 2.0


# --------------------------------------------------------------------------- what is wrong with it


def cycle() -> Any:
    a = Identity().inputs()
    one = AddTable().inputs(a)
    two = s.Exp().inputs(one)
    one.inputs(two)
    return Graph(a, two)


def cycle_of_one() -> Any:
    a = Identity().inputs()
    one = AddTable().inputs(a)
    one.inputs(one)
    return Graph(a, one)


def repeated_name() -> Any:
    a = Identity().inputs(name="a")
    return Graph(a, s.Exp().inputs(a, name="a"))


def missing() -> Any:
    a, b = Identity().inputs(), Linear(4, 4).inputs()
    return Graph([a], AddTable().inputs(a, b))


def unused() -> Any:
    a, b = Identity().inputs(), Linear(4, 4).inputs()
    return Graph([a, b], s.Exp().inputs(a))


def listed_twice() -> Any:
    a = Identity().inputs()
    return Graph([a, a], s.Exp().inputs(a))


WRONG: list[tuple[Any, list[str]]] = [
    (cycle, ["cycle", "AddTable", "Exp"]),
    (cycle_of_one, ["cycle", "AddTable"]),
    (repeated_name, ["two nodes have the name 'a'"]),
    (missing, ["missing", "Linear(4, 4)"]),
    (unused, ["unused", "Linear(4, 4)"]),
    (listed_twice, ["twice"]),
    (lambda: Graph([], Identity().inputs()), ["without inputs"]),
    (lambda: Graph(Identity().inputs(), []), ["without outputs"]),
    (lambda: Graph(Linear(4, 4), Identity().inputs()), ["inputs", "Linear(4, 4)", ".inputs("]),  # type: ignore[arg-type]  # what is tested
    (lambda: Graph(Identity().inputs(), s.Exp()), ["outputs", "Exp"]),  # type: ignore[arg-type]  # what is tested
    (lambda: s.Exp().inputs(Linear(4, 4)), ["Exp", "Linear(4, 4)", "no node"]),  # type: ignore[arg-type]  # what is tested
]


@pytest.mark.parametrize(("build", "words"), WRONG, ids=[getattr(row[0], "__name__", "") + row[1][0] for row in WRONG])
def test_a_wrong_graph_is_refused(build: Any, words: list[str]) -> None:
    with pytest.raises(SymbolicError) as caught:
        build()
    text = str(caught.value)
    for word in [*words, "test_graph.py:", "; "]:
        assert word in text, (word, text)
    assert isinstance(caught.value, (ValueError, TypeError))


def test_the_number_of_inputs_is_checked() -> None:
    a, b = Identity().inputs(), Identity().inputs()
    net = Graph([a, b], AddTable().inputs(a, b))
    with pytest.raises(ValueError, match=r"Graph has 2 inputs, not 3.*test_graph\.py:\d+.*;"):
        net.predict(1.0, 2.0, 3.0)
    with pytest.raises(ValueError, match=r"Graph has 2 inputs, not 1.*;"):
        net.predict(1.0)


def test_a_failure_names_the_node() -> None:
    a = Identity().inputs()
    net = Graph(a, Linear(3, 3).inputs(Linear(4, 2).inputs(a), name="head"))
    with pytest.raises(ValueError, match=r"Graph/head:Linear\(3, 3\).*test_graph\.py:\d+"):
        net.predict(X)
    assert list(net.weights()) == ["1/weight", "1/bias", "head/weight", "head/bias"]
    with pytest.raises(ValueError, match=r"Graph/1:Linear\(4, 2\)"):
        net.forward(Literal(np.ones((5, 3))))
