"""Does a tree print as an expression that builds it again?"""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import symbolic as s
from symbolic import Identity, Literal, Plus, Projection, Times, Weight

NAMES = {name: getattr(s, name) for name in dir(s) if name[0].isupper()}
NAMES.update(array=np.array, np=np, inf=np.inf, nan=np.nan, float32=np.float32, int64=np.int64)

UNARY: list[Any] = [s.Exp, s.Negative, s.Sum, s.Transpose, s.Abs, lambda x: s.Sum(x, axis=0, keepdims=True)]
BINARY: list[Any] = [Plus, Times, s.Subtract, s.Power, s.Greater, s.MatMul]
LITERALS = st.one_of(
    st.floats(),
    st.integers(-5, 5),
    st.booleans(),
    st.floats(width=32).map(np.float32),
    st.complex_numbers(max_magnitude=10),
    st.lists(st.floats(-5, 5), min_size=1, max_size=4).map(np.array),
    st.lists(st.integers(-5, 5), min_size=1, max_size=4).map(np.array),
)
LEAVES = st.one_of(st.just(0).map(lambda _: Identity()), st.integers(0, 2).map(Projection), LITERALS.map(Literal))


@st.composite
def trees(draw: st.DrawFn) -> Any:
    """Any tree of a few operations, nodes shared at will."""
    nodes: list[Any] = draw(st.lists(LEAVES, min_size=1, max_size=3))
    for _ in range(draw(st.integers(0, 6))):
        first, second = draw(st.sampled_from(nodes)), draw(st.sampled_from(nodes))
        if draw(st.booleans()):
            nodes.append(draw(st.sampled_from(UNARY))(first))
        else:
            nodes.append(draw(st.sampled_from(BINARY))(first, second))
    return nodes[-1]


@given(trees())
def test_a_printed_tree_builds_the_same_tree(tree: Any) -> None:
    again = eval(str(tree), dict(NAMES))
    assert again.equals(tree) and tree.equals(again) and str(again) == str(tree)


@given(trees(), trees())
def test_equal_trees_print_alike_and_the_other_way_round(one: Any, other: Any) -> None:
    assert one.equals(one) and one.equals(other) == other.equals(one)
    if one.equals(other):
        assert str(one) == str(other)


@given(trees())
def test_a_changed_tree_is_another(tree: Any) -> None:
    assert not tree.equals(s.Exp(tree)) and not s.Exp(tree).equals(s.Sin(tree))
    assert not Plus(tree, 1.0).equals(Plus(tree, 2.0))
    assert not Plus(tree, 1).equals(Plus(tree, 1.0)) and not Plus(tree, 0.0).equals(Plus(tree, -0.0))
    assert not s.Sum(tree).equals(s.Sum(tree, axis=0))
    assert Plus(tree, np.nan).equals(Plus(tree, np.nan))


def test_the_trees_of_the_page() -> None:
    a = Plus(Identity(), Identity())
    assert str(Plus(a, a)) == "Plus((a := Plus(Identity(), Identity())), a)"
    assert (
        str(Times(Plus(Literal(1.0), Identity()), Weight(2.0))) == "Times(Plus(Literal(1.0), Identity()), Weight(2.0))"
    )
    assert repr(a) == str(a)


def test_a_shared_node_is_printed_once() -> None:
    a = s.Exp(Identity())
    b = Plus(a, a)
    assert str(Times(b, Plus(b, a))) == "Times((a := Plus((b := Exp(Identity())), b)), Plus(a, b))"
    w = Weight(2.0)
    assert str(Times(w, w)) == "Times((a := Weight(2.0)), a)"
    assert str(Times(Weight(2.0), Weight(2.0))) == "Times(Weight(2.0), Weight(2.0))"


def test_sharing_is_part_of_what_a_tree_is() -> None:
    a = s.Exp(Identity())
    assert not Plus(a, a).equals(Plus(s.Exp(Identity()), s.Exp(Identity())))
    w, v = Weight(2.0), Weight(2.0)
    assert (
        not Times(w, v).equals(Times(w, w)) and not Times(w, v).equals(Times(v, w)) and Times(w, v).equals(Times(w, v))
    )


def test_many_shared_nodes_get_different_names() -> None:
    x: Any = Identity()
    for _ in range(60):
        x = Plus(x, x)
    again = eval(str(x), dict(NAMES))
    assert again.equals(x)


def test_arrays_are_printed_short() -> None:
    assert str(Weight(np.zeros((784, 10)))) == "Weight(<float64[784, 10]>)"
    assert str(Literal(np.zeros(2, np.float32))) == "Literal(array([0., 0.], dtype=float32))"
    assert len(str(Plus(Identity(), np.zeros(1000)))) < 100


def test_containers_print_as_they_are_written() -> None:
    text = "Sequential(Linear(4, 8), ReLU(Identity()), ConcatTable(Linear(8, 2, bias=False)), AddTable())"
    assert str(eval(text, dict(NAMES))) == text
