"""Is a tree built as it reads, frozen, told apart by `is`, and taken apart again, whatever its depth?"""

# what a weight's delta is, is of no interest here
# mypy: disable-error-code="var-annotated"

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from answers import near

import symbolic as s
from symbolic import SGD, Identity, Layer, Literal, Plus, Tape, Times, Weight
from symbolic import public as _public  # noqa: F401 - it fills the tables
from symbolic.ops.operation import OPERATIONS

DEPTH = 20_000


def test_the_first_example_of_the_original() -> None:
    layer = Times(Plus(Literal(1.0), Identity()), Weight(2.0))
    with layer.forward(Literal(3.0)) as output:
        loss = output.value
        output.backward(loss)
    assert loss == 8.0 and type(loss) is float
    assert layer.operand2.delta == 8.0 * 4.0 and layer.operand2.value == 2.0  # nobody is there to move it


OPERATORS: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("Plus", lambda a, b: a + b),
    ("Subtract", lambda a, b: a - b),
    ("Times", lambda a, b: a * b),
    ("Divide", lambda a, b: a / b),
    ("Power", lambda a, b: a**b),
    ("MatMul", lambda a, b: a @ b),
    ("FloorDivide", lambda a, b: a // b),
    ("Remainder", lambda a, b: a % b),
    ("Greater", lambda a, b: a > b),
    ("LessEqual", lambda a, b: a <= b),
    ("Equal", lambda a, b: a == b),
    ("NotEqual", lambda a, b: a != b),
]


@pytest.mark.parametrize(("name", "build"), OPERATORS, ids=[row[0] for row in OPERATORS])
def test_an_operator_builds_the_operation_of_its_name(name: str, build: Callable[..., Any]) -> None:
    a, b = Identity(), Weight(2.0)
    node = build(a, b)
    assert type(node) is getattr(s, name)
    assert node.operand1 is a and node.operand2 is b


def test_natives_on_either_side_become_literals() -> None:
    x: Any = Identity()
    assert str(1.0 + x) == "Plus(Literal(1.0), Identity())"
    assert str(x + 1.0) == "Plus(Identity(), Literal(1.0))"
    assert str(np.array([1.0, 2.0]) - x) == "Subtract(Literal(array([1., 2.])), Identity())"
    assert str(np.float32(2.0) * x) == "Times(Literal(np.float32(2.0)), Identity())"
    assert str(2 ** abs(-x)) == "Power(Literal(2), Abs(Negative(Identity())))"


def one_operand() -> list[Any]:
    return [one for one in OPERATIONS if one.operand_names == ("operand",) and not one.variadic]


@pytest.mark.parametrize("operation", one_operand(), ids=lambda one: one.__name__)
def test_a_unary_operation_without_an_operand_is_one_of_the_input(operation: Any) -> None:
    node = operation()
    assert type(node.operand) is Identity
    assert node.equals(operation(Identity()))


def test_there_are_unary_operations() -> None:
    assert {s.Tanh, s.Exp, s.Log, s.Abs, s.Negative, s.Sum, s.Mean} <= set(one_operand())


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_binary_operation_takes_two_operands(count: int) -> None:
    with pytest.raises(TypeError, match="Plus takes operand1 and operand2"):
        Plus(*[1.0] * count)
    with pytest.raises(TypeError, match="no parameter 'speed'"):
        Plus(1.0, 2.0, speed=3)


def test_nodes_are_frozen() -> None:
    tree = Plus(Identity(), 1.0)
    acts: list[Callable[[], None]] = [
        lambda: setattr(tree, "operand1", Identity()),
        lambda: setattr(tree, "anything", 1),
        lambda: delattr(tree, "operands"),
        lambda: setattr(Literal(1.0), "value", 2.0),
        lambda: setattr(Weight(1.0), "value", 2.0),
        lambda: setattr(Identity(), "name", "x"),
    ]
    for act in acts:
        with pytest.raises(AttributeError):
            act()
    assert str(tree) == "Plus(Identity(), Literal(1.0))"


def test_nodes_can_be_taken_apart_with_match() -> None:
    match (1.0 + Identity()) * Weight(2.0):
        case Times(Plus(Literal(one), Identity()), Weight(two)):
            assert (one, two) == (1.0, 2.0)
        case other:
            pytest.fail(f"not matched: {other}")


def test_equality_is_an_operation_and_equals_a_method() -> None:
    a, b = Plus(Identity(), 1.0), Plus(Identity(), 1.0)
    assert type(a == b) is s.Equal and type(a != b) is s.NotEqual
    assert a.equals(b) and a is not b
    assert {a, b} == {a, b} and len({a, b, a}) == 2  # hashed by identity
    assert not a.equals("Plus(Identity(), Literal(1.0))")


def test_a_layer_is_a_layer_and_the_leaves_are_tapes_too() -> None:
    for leaf in (Literal(1.0), Weight(1.0)):
        assert isinstance(leaf, Layer) and isinstance(leaf, Tape)
    assert isinstance(Identity(), Layer) and not isinstance(Identity(), Tape)


def test_compose_is_f_after_g() -> None:
    f, g = s.Exp(), Times(Identity(), 2.0)
    x = np.array([0.5, -1.0])
    assert near(f.compose(g).predict(x), np.exp(x * 2.0))
    assert near(g.compose(f).predict(x), np.exp(x) * 2.0)
    assert near(f(g).predict(x), np.exp(x * 2.0))  # called with a layer it composes as well
    assert f(g).equals(s.Exp(Times(Identity(), 2.0)))


def test_compose_puts_the_tree_in_the_place_of_every_identity() -> None:
    node = Identity()
    square = Times(node, node)
    inner = Plus(Identity(), 1.0)
    assert str(square(inner)) == "Times((a := Plus(Identity(), Literal(1.0))), a)"


def test_a_weight_shared_by_two_networks_is_one_weight() -> None:
    w = Weight(2.0)
    f, g = Times(Identity(), w), Plus(Identity(), w)
    f.train(3.0, optimizer=SGD(0.1))
    assert g.predict(0.0) == pytest.approx(2.0 - 0.1 * 3.0)
    assert list(f.compose(g).weights().values()) == [w]


def test_called_with_natives_a_layer_predicts() -> None:
    assert Plus(Identity(), 1.0)(2.0) == 3.0
    assert Plus(s.Projection(0), s.Projection(1))(2.0, 5.0) == 7.0


def test_on_output_sees_each_forward_once_and_leaves_the_gradient_alone() -> None:
    seen: list[float] = []
    w = Weight(2.0)
    plain, watched = s.Sin(Times(Identity(), w)), s.Sin(Times(Identity(), w).on_output(seen.append))
    assert watched.predict(0.5) == plain.predict(0.5) and seen == [1.0]
    with watched.forward(Literal(0.25)) as tape:
        assert seen == [1.0, 0.5]
        tape.backward(1.0)
        tape.backward(1.0)
        assert tape.value == tape.value
    assert seen == [1.0, 0.5] and w.delta == pytest.approx(2 * np.cos(0.5) * 0.25)
    for _ in range(5):  # interpreted, then compiled
        watched.train(0.125, optimizer=SGD(0.0))
    assert seen[2:] == [0.25] * 5
    watched.trainer(SGD(0.0)).run(3, 0.125)
    assert len(seen) == 10


def test_on_output_is_called_once_also_where_the_gradient_is_run_again_with_care() -> None:
    """At 0 the plain gradient is 0 · ∞, so the program is run a second time."""
    seen: list[Any] = []
    w = Weight(np.array([0.0, 4.0]))
    root = s.Sqrt(Times(w, Identity())).on_output(seen.append)
    net = s.Sum(s.Where(np.array([False, True]), root, 0.0))
    for count in range(1, 6):
        assert net.train(1.0, optimizer=SGD(0.0)) == 2.0
        assert len(seen) == count and np.array_equal(w.delta, [0.0, 0.25])
    with net.forward(Literal(1.0)) as tape:
        tape.backward(1.0)
    assert len(seen) == 6


def test_an_observer_cannot_reach_into_the_pass() -> None:
    def spoil(value: Any) -> None:
        value[...] = 7.0

    net = s.Sum(Times(Identity(), Weight(np.ones(2))).on_output(spoil))
    with pytest.raises(ValueError, match="read-only"):
        net.predict(np.ones(2))


def test_thirty_doublings_are_thirty_nodes() -> None:
    calls: list[Any] = []
    w = Weight(1.0)
    x: Any = Times(w, Identity()).on_output(calls.append)
    for _ in range(30):
        x = x + x
    start = time.perf_counter()
    assert str(x).count("Plus") == 30
    assert x.predict(1.0) == 2.0**30
    assert x.train(1.0, optimizer=SGD(0.0)) == 2.0**30
    assert w.delta == 2.0**30 and len(calls) == 2
    assert x.equals(x) and len(x.weights()) == 1
    assert time.perf_counter() - start < 5.0  # 2^30 evaluations would take minutes


@pytest.fixture(scope="module")
def deep() -> tuple[Any, Any]:
    w = Weight(2.0)
    x: Any = Times(Identity(), w)
    for k in range(DEPTH):
        x = -x if k % 2 else x + 1.0
    return x, w


def test_depth_predicts_prints_and_compares(deep: Any) -> None:
    x, w = deep
    assert x.predict(3.0) == 6.0
    assert str(x).count("Negative(") == DEPTH // 2
    twin: Any = Times(Identity(), w)
    for k in range(DEPTH):
        twin = -twin if k % 2 else twin + 1.0
    assert x.equals(twin) and not x.equals(twin + 1.0)


def test_depth_goes_backward_and_trains(deep: Any) -> None:
    x, w = deep
    with x.forward(Literal(3.0)) as tape:
        tape.backward(1.0)
    assert w.delta == 3.0
    before = w.value
    assert x.train(3.0, optimizer=SGD(0.1)) == 3.0 * before
    assert w.value == before - 0.1 * 3.0
    assert list(x.weights().values()) == [w]


def test_depth_in_a_traced_function() -> None:
    def f(x: Any) -> Any:
        for _ in range(DEPTH // 2):
            x = np.negative(x + 0.0)
        return x

    assert s.grad(f)(2.0) == 1.0
    assert s.symbolic(f, float, returns=float).predict(2.0) == 2.0


def test_a_deep_tree_composes(deep: Any) -> None:
    x, _ = deep
    assert x(x).predict(0.0) == 0.0
    assert x.compose(Plus(Identity(), 1.0)).predict(-1.0) == 0.0
