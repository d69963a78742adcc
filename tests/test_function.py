"""Does a decorated plain function become the network that its hints say?"""

# what a weight's delta is, is of no interest here; NumPy gives Any; a subscript of the marker outside a hint
# mypy: disable-error-code="misc,no-any-return,var-annotated"

import copy
import functools
import gc
import itertools
import os
import sys
import tempfile
import weakref
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from answers import near

import symbolic as s
from symbolic import SGD, DtypeError, Identity, Layer, Literal, ShapeError, Symbolic, Weight, symbolic

Vector = Annotated[np.ndarray, Symbolic]
Scalar = Annotated[float, Symbolic]
X = np.array([0.0, 1.0, 2.0])
FILE = tempfile.TemporaryFile()  # noqa: SIM115 - open to the end
RUNS = FILE.fileno()  # a list in a closure would be watched, as it should be


def runs() -> int:
    """How often a body has run: the bytes that it wrote."""
    return os.fstat(RUNS).st_size


@symbolic
def sum_network(scores: Annotated[np.ndarray, Symbolic]) -> Annotated[float, Symbolic]:
    e: Annotated[np.ndarray, Symbolic] = np.exp(scores)
    total: float = np.sum(e)
    return total


predictor: Annotated[Callable[[np.ndarray], float], Symbolic] = sum_network


@symbolic
def dense(x: Vector, inputs: int, outputs: int) -> Vector:
    """A layer of weights."""
    w: Any = Weight(s.glorot(inputs, outputs))
    b: Any = Weight(np.zeros(outputs))
    y: np.ndarray = x @ w + b
    return y


@symbolic
def kernel(x: Vector, y: Vector, width: Scalar) -> Scalar:
    k: float = np.exp(-np.sum((x - y) ** 2.0) / width)
    return k


# --------------------------------------------------------------------------- the three uses


def test_the_example_of_the_original() -> None:
    assert str(sum_network) == "Sum(Exp(Identity()))"
    assert isinstance(sum_network, Layer) and sum_network is predictor
    assert predictor(X) == sum_network.predict(X) and near(predictor(X), float(np.sum(np.exp(X))))
    with sum_network.forward(Literal(X)) as tape:
        assert near(tape.value, float(np.sum(np.exp(X))))
    assert near(s.grad(sum_network)(X), np.exp(X))


def test_nothing_is_computed_while_it_is_decorated() -> None:
    os.ftruncate(RUNS, 0)

    def body(x: Vector) -> Vector:
        assert isinstance(x, Layer)
        os.write(RUNS, b".")
        return x

    f = symbolic(body)
    assert runs() == 0
    f.predict(X)
    count = runs()
    assert count > 0
    f.predict(X + 1.0)
    assert runs() == count


def test_several_inputs_make_one_tuple() -> None:
    expected = float(np.exp(-np.sum((X - 1.0) ** 2) / 2.0))
    y = np.ones(3)
    assert kernel(X, y, 2.0) == kernel.predict(X, y, 2.0) == kernel.predict((X, y, 2.0)) == pytest.approx(expected)
    with kernel.forward(Literal((X, y, 2.0))) as tape:
        assert tape.value == pytest.approx(expected)
    assert "Projection(0)" in str(kernel) and "Projection(2)" in str(kernel)


def test_each_input_gets_its_own_delta() -> None:
    a, b = Weight(X), Weight(3.0)
    net = symbolic(lambda x, c: np.sum(x) * c, np.ndarray, float)(a, b)
    net.train(0.0, optimizer=SGD(0.0))
    assert np.array_equal(a.delta, [3.0, 3.0, 3.0]) and b.delta == 3.0


def test_names_and_docstring_stay() -> None:
    assert (dense.__name__, dense.__doc__, dense.__module__) == ("dense", "A layer of weights.", __name__)
    assert dense.__wrapped__.__name__ == "dense"
    assert "dense" in repr(dense)


# --------------------------------------------------------------------------- hyperparameters


def test_hyperparameters_build_a_layer_with_fresh_weights() -> None:
    first, second = dense(inputs=4, outputs=2), dense(inputs=4, outputs=2)
    x = np.ones((3, 4))
    assert first.predict(x).shape == (3, 2)
    assert not np.array_equal(first.predict(x), second.predict(x))
    assert {id(w) for w in first.weights().values()}.isdisjoint({id(w) for w in second.weights().values()})
    assert sorted(w.value.shape for w in first.weights().values()) == [(2,), (4, 2)]


def test_a_layer_has_its_weights_before_any_input_came() -> None:
    assert sorted(w.value.shape for w in dense(inputs=4, outputs=2).weights().values()) == [(2,), (4, 2)]


def test_hyperparameters_may_be_given_bit_by_bit() -> None:
    half = dense(outputs=2)
    assert half(inputs=3).predict(np.ones((1, 3))).shape == (1, 2)
    assert dense(np.ones((1, 3)), inputs=3, outputs=5).shape == (1, 5)


def test_a_function_with_open_hyperparameters_is_no_layer_yet() -> None:
    for act in (
        lambda: dense.predict(np.ones((1, 3))),  # type: ignore[symbolic]  # what is tested
        lambda: dense(np.ones((1, 3))),  # type: ignore[symbolic]  # what is tested
        lambda: dense.train(np.ones((1, 3)), optimizer=SGD(0.1)),  # type: ignore[symbolic]  # what is tested
        lambda: dense.forward(Literal(np.ones((1, 3)))),  # type: ignore[arg-type]  # what is tested
        lambda: str(dense),
        lambda: dense(outputs=2).predict(np.ones((1, 3))),  # type: ignore[symbolic]  # what is tested
    ):
        with pytest.raises(TypeError, match=r"dense.*inputs.*;.*dense\("):
            act()


def test_hyperparameters_inside_another_function_apply_a_layer() -> None:
    @symbolic
    def two(x: Vector) -> Vector:
        hidden: np.ndarray = np.tanh(dense(x, inputs=4, outputs=8))
        y: np.ndarray = dense(hidden, inputs=8, outputs=2)
        return y

    x = np.ones((3, 4))
    assert two.predict(x).shape == (3, 2)
    assert sorted(w.value.shape for w in two.weights().values()) == [(2,), (4, 8), (8,), (8, 2)]
    before = two.predict(x)
    two.predict(np.ones((5, 4)))
    assert np.array_equal(two.predict(x), before)  # the same weights again


def test_all_hyperparameters_with_defaults_make_a_layer_with_its_own_weights() -> None:
    @symbolic
    def scaled(x: Vector, start: float = 3.0) -> Vector:
        y: np.ndarray = x * Weight(start)
        return y

    assert np.array_equal(scaled(X), 3.0 * X)
    (w,) = scaled.weights().values()
    scaled.train(X, optimizer=SGD(0.1))
    assert w.value == pytest.approx(3.0 - 0.1 * 3.0)
    assert scaled(start=5.0)(X)[1] == 5.0 and scaled(X)[1] == pytest.approx(2.7)
    assert list(scaled.weights().values()) == [w]


def test_its_own_weights_are_shared_by_every_use() -> None:
    @symbolic
    def scaled(x: Vector) -> Vector:
        y: np.ndarray = x * Weight(3.0)
        return y

    @symbolic
    def twice(x: Vector) -> Vector:
        y: np.ndarray = scaled(scaled(x))
        return y

    assert np.array_equal(twice(X), 9.0 * X)
    assert list(twice.weights().values()) == list(scaled.weights().values())
    assert len(scaled.weights()) == 1


def test_a_loop_makes_a_weight_for_each_round() -> None:
    @symbolic
    def stack(x: Vector, depth: int) -> Vector:
        for k in range(depth):
            x = x * Weight(float(k + 1))
        return x

    net = stack(depth=3)
    assert np.array_equal(net.predict(X), 6.0 * X)
    assert sorted(w.value for w in net.weights().values()) == [1.0, 2.0, 3.0]


def test_hyperparameters_of_any_kind() -> None:
    @symbolic
    def net(x: Vector, sizes: list[int], activation: Any, flag: bool = False, *, scale: float = 1.0) -> Vector:
        for before, after in itertools.pairwise(sizes):
            x = activation(x @ Weight(np.ones((before, after)))) * scale
        return -x if flag else x

    one = net(sizes=[3, 4, 2], activation=np.tanh)
    assert one.predict(X).shape == (2,)
    assert np.array_equal(net(sizes=[3, 4, 2], activation=np.tanh, flag=True, scale=2.0).predict(X) < 0, [True, True])
    inner = symbolic(lambda x: np.sin(x), np.ndarray)
    assert net(sizes=[3, 1], activation=inner).predict(X) == pytest.approx(np.sin(3.0))


def test_weights_are_named_by_their_line() -> None:
    assert list(dense(inputs=2, outputs=2).weights()) == ["w", "b"]

    @symbolic
    def outer(x: Vector) -> Vector:
        y: np.ndarray = dense(x, inputs=2, outputs=2)
        return y

    assert list(outer.weights()) == ["dense/w", "dense/b"]


# --------------------------------------------------------------------------- calling


def test_called_with_layers_it_composes_also_with_some_native() -> None:
    x = Identity()
    net = kernel(x, x, 1.0)
    assert isinstance(net, Layer)
    assert net.predict(X) == 1.0
    shifted = kernel(np.tanh(x), np.zeros(3), Weight(2.0))
    assert shifted.predict(X) == pytest.approx(np.exp(-np.sum(np.tanh(X) ** 2) / 2.0))
    shifted.train(X, optimizer=SGD(0.1))
    (w,) = shifted.weights().values()
    assert w.value != 2.0


def test_inputs_by_position_by_name_and_by_default() -> None:
    @symbolic
    def line(x: Scalar, slope: Scalar = 2.0, *, offset: Scalar = 0.5) -> Scalar:
        return x * slope + offset

    assert line(3.0) == 6.5
    assert line(3.0, 1.0) == 3.5
    assert line(slope=1.0, x=3.0, offset=0.0) == 3.0
    assert str(line(Identity(), offset=1.0)).count("Literal(1.0)") == 1
    assert line.predict(3.0, 1.0, 0.0) == 3.0
    with pytest.raises(TypeError, match=r"line.*;.*line\("):
        line(1.0, 2.0, 3.0)  # type: ignore[symbolic]  # what is tested
    with pytest.raises(TypeError, match=r"line.*speed.*;.*line\("):
        line(1.0, speed=2.0)  # type: ignore[symbolic]  # what is tested
    with pytest.raises(TypeError, match=r"line.* x\b.*;.*line\("):
        line(slope=1.0)  # type: ignore[symbolic]  # what is tested
    assert line.predict(1.0, 2.0) == 2.5
    with pytest.raises(TypeError, match=r"line takes 3 .*not 4, in .*;"):
        line.predict(1.0, 2.0, 3.0, 4.0)  # type: ignore[symbolic]  # what is tested
    with pytest.raises(TypeError, match=r"<lambda> returned nothing.*;"):
        symbolic(lambda x: None, float)(1.0)


def test_a_class_method_below_the_decorator() -> None:
    class Scaled:
        by = 2.0

        @symbolic
        @classmethod
        def double(cls, x: Scalar) -> Scalar:
            return x * cls.by

    assert Scaled.double(3.0) == Scaled().double(3.0) == 6.0


def test_in_a_symbolic_body_a_plain_helper_takes_layers() -> None:
    def helper(y: np.ndarray, many: list[np.ndarray]) -> np.ndarray:
        z: np.ndarray = y + many[0] * many[1]
        return z

    @symbolic
    def f(x: Vector) -> Vector:
        return helper(np.sin(x), [x, x])

    assert np.array_equal(f(X), np.sin(X) + X * X)


def test_a_symbolic_function_within_another_runs_once_per_call() -> None:
    os.ftruncate(RUNS, 0)

    @symbolic
    def inner(x: Vector) -> Vector:
        os.write(RUNS, b".")
        return np.sin(x)

    @symbolic
    def outer(x: Vector) -> Vector:
        y: np.ndarray = inner(x) + inner(x)
        return y

    outer(X)
    before = runs()
    outer(X)
    assert runs() == before and before % 2 == 0


# --------------------------------------------------------------------------- what comes out


def test_a_declared_float_is_a_python_float() -> None:
    sure = symbolic(lambda x: np.sum(x), np.ndarray, returns=float)
    for x in (X, X.astype(np.float32), X.astype(np.int64), 2.0, np.float32(2.0)):
        for _ in range(4):
            assert type(sure(x)) is float
    with sure.forward(Literal(X)) as tape:
        assert type(tape.value) is float
    with_weight = symbolic(lambda x: np.sum(x * Weight(1.0)), np.ndarray, returns=float)
    assert type(with_weight.train(X, optimizer=SGD(0.1))) is float


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64], ids=lambda one: one.__name__)
def test_the_dtype_of_the_input_stays(dtype: Any) -> None:
    net = symbolic(lambda x: np.exp(x) * 2.0 + Weight(1.0), np.ndarray, returns=np.ndarray)
    for _ in range(4):
        assert net(np.ones(3, dtype)).dtype == dtype
        assert net(np.ones((), dtype)).dtype == dtype


def test_an_undeclared_result_is_what_numpy_gives() -> None:
    net = symbolic(lambda x: np.sum(x), np.ndarray)
    assert net(X) == 3.0 and isinstance(net(X), float)
    assert type(net(X.astype(np.float32))) is np.float32


def test_a_declared_array_is_an_array() -> None:
    net = symbolic(lambda x: np.sum(x), np.ndarray, returns=np.ndarray)
    for _ in range(4):
        assert type(net(X)) is np.ndarray and net(X).shape == ()
    one = symbolic(lambda x: x * 2.0, np.float32, returns=np.float32)
    assert type(one(np.float32(1.5))) is np.float32 and type(one(1.5)) is np.float32


def test_a_tuple_may_be_returned() -> None:
    @symbolic
    def both(x: Vector) -> tuple[Annotated[float, Symbolic], Annotated[np.ndarray, Symbolic]]:
        total: float = np.sum(x)
        return total, np.exp(x)

    total, exponentials = both(X)
    assert type(total) is float and total == 3.0 and near(exponentials, np.exp(X))
    with both.forward(Literal(X)) as tape:
        assert type(tape.value) is tuple and type(tape.value[0]) is float
        tape.backward((1.0, np.ones(3)))
    pair = symbolic(lambda x: (x, x * 2.0), float, returns=tuple[float, float])
    assert pair(1.5) == (1.5, 3.0)


def test_a_tuple_of_a_function_can_be_unpacked_in_another() -> None:
    @symbolic
    def both(x: Vector) -> tuple[Vector, Vector]:
        return np.sin(x), np.cos(x)

    @symbolic
    def one(x: Vector) -> Vector:
        a, b = both(x)
        y: np.ndarray = a * a + b * b
        return y

    assert np.allclose(one(X), np.ones(3))


def test_a_tuple_may_be_an_input() -> None:
    class Pair(NamedTuple):
        left: Any
        right: Any

    @symbolic
    def total(pair: Annotated[tuple[np.ndarray, float], Symbolic]) -> Scalar:
        x, y = pair
        z: float = np.sum(x) * y
        return z

    assert total((X, 2.0)) == 6.0
    assert total(Pair(X, 2.0)) == 6.0


def test_the_return_without_symbolic_counts_as_one_with_it() -> None:
    @symbolic
    def f(x: Vector) -> float:
        total: float = np.sum(x)
        return total

    assert type(f(X.astype(np.float32))) is float


def test_the_input_itself_may_be_returned_and_a_constant_too() -> None:
    same = symbolic(lambda x: x, np.ndarray)
    assert np.array_equal(same(X), X) and str(same) == "Identity()"
    constant = symbolic(lambda x: 3.0, np.ndarray, returns=float)
    assert constant(X) == 3.0


# --------------------------------------------------------------------------- wherever a function stands


class Model:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    @symbolic
    def net(self, x: Vector) -> Vector:
        y: np.ndarray = x * Weight(1.0) * self.scale
        return y

    @symbolic
    @staticmethod
    def inner(x: Vector) -> Vector:
        y: np.ndarray = x * Weight(2.0)
        return y

    @staticmethod
    @symbolic
    def outer(x: Vector) -> Vector:
        y: np.ndarray = x * Weight(3.0)
        return y

    @classmethod
    @symbolic
    def made(cls, x: Vector) -> Vector:
        assert cls.__name__ == "Model"
        y: np.ndarray = x * 4.0
        return y

    @symbolic
    def dense(self, x: Vector, size: int) -> Vector:
        y: np.ndarray = x * Weight(np.full(size, self.scale))
        return y


def test_a_method_has_weights_per_instance() -> None:
    one, other = Model(2.0), Model(3.0)
    assert np.array_equal(one.net(X), 2.0 * X) and np.array_equal(other.net(X), 3.0 * X)
    one.net.train(X, optimizer=SGD(0.1))
    assert np.allclose(one.net(X), 2.0 * (1.0 - 0.1 * 6.0) * X) and np.array_equal(other.net(X), 3.0 * X)
    (mine,), (theirs,) = one.net.weights().values(), other.net.weights().values()
    assert one.net is one.net and mine is not theirs
    one.scale = 10.0
    assert np.allclose(one.net(X), 10.0 * (1.0 - 0.1 * 6.0) * X)
    assert np.array_equal(one.dense(size=3)(X), 10.0 * X)


def test_a_method_of_an_instance_with_slots_or_without_a_dictionary() -> None:
    class Slotted:
        __slots__ = ("scale",)

        def __init__(self, scale: float) -> None:
            self.scale = scale

        @symbolic
        def net(self, x: Vector) -> Vector:
            y: np.ndarray = x * Weight(self.scale)
            return y

    for _ in range(20):  # an address may be given again to another instance
        for scale in (2.0, 3.0):
            assert Slotted(scale).net(X)[1] == scale


def test_a_method_is_inherited_and_overridden() -> None:
    class Child(Model):
        @symbolic
        def net(self, x: Vector) -> Vector:
            y: np.ndarray = super().net(x) + 1.0
            return y

    child = Child(2.0)
    assert np.array_equal(child.net(X), 2.0 * X + 1.0)
    assert len(child.net.weights()) == 1


def test_static_and_class_methods() -> None:
    model = Model(1.0)
    for owner in (Model, model):
        assert np.array_equal(owner.outer(X), 3.0 * X)
        assert np.array_equal(owner.inner(X), 2.0 * X)
        assert np.array_equal(owner.made(X), 4.0 * X)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_the_method_of_a_copied_instance_reads_the_copy(copied: Callable[[Any], Any]) -> None:
    one = Model(2.0)
    assert one.net(X)[1] == 2.0
    other = copied(one)
    other.scale = 5.0
    assert other.net(X)[1] == 5.0 and one.net(X)[1] == 2.0


def test_a_closure_sees_the_function_around_it() -> None:
    def make(scale: float) -> Any:
        @symbolic
        def f(x: Vector) -> Vector:
            y: np.ndarray = x * scale
            return y

        return f

    two, three = make(2.0), make(3.0)
    assert np.array_equal(two(X), 2.0 * X) and np.array_equal(three(X), 3.0 * X)


def test_lambdas_take_their_hints_beside_them() -> None:
    assert symbolic(lambda x, y: x - y, float, float)(5.0, 3.0) == 2.0
    assert symbolic(lambda x, y: x - y, y=Scalar, x=float)(5.0, 3.0) == 2.0
    half = symbolic(lambda x, y: x / y, float, returns=float)  # y is a hyperparameter
    assert half(y=2.0)(5.0) == 2.5
    assert symbolic(lambda x: np.sum(x), Annotated[np.ndarray, Symbolic["n"]], returns=float)(X) == 3.0


def test_partial() -> None:
    def f(x: Vector, power: float, scale: float = 1.0) -> Vector:
        y: np.ndarray = scale * x**power
        return y

    assert np.array_equal(symbolic(functools.partial(f, power=2.0))(X), X**2)
    assert np.array_equal(symbolic(functools.partial(f, power=2.0, scale=3.0))(X), 3.0 * X**2)
    assert np.array_equal(functools.partial(symbolic(f), power=2.0)(X), X**2)


def test_a_callable_object() -> None:
    class Scale:
        def __init__(self, by: float) -> None:
            self.by = by

        def __call__(self, x: Vector) -> Vector:
            y: np.ndarray = x * self.by
            return y

    scale = Scale(2.0)
    net = symbolic(scale)
    assert np.array_equal(net(X), 2.0 * X)
    scale.by = 3.0
    assert np.array_equal(net(X), 3.0 * X)


def test_a_ufunc_with_its_hints_beside_it() -> None:
    assert np.array_equal(symbolic(np.sin, np.ndarray)(X), np.sin(X))


def test_under_another_decorator() -> None:
    def logged(f: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(f)
        def inner(*args: Any, **kwargs: Any) -> Any:
            return f(*args, **kwargs) * 10.0

        return inner

    @symbolic
    @logged
    def f(x: Vector) -> Vector:
        y: np.ndarray = x + 1.0
        return y

    assert np.array_equal(f(X), (X + 1.0) * 10.0)


def test_recursion_through_the_decorated_name() -> None:
    @symbolic
    def power(x: Vector, n: int) -> Vector:
        if n == 0:
            one: np.ndarray = x * 0.0 + 1.0
            return one
        y: np.ndarray = x * power(x, n=n - 1)
        return y

    assert np.array_equal(power(X, n=4), X**4)


def test_a_decorated_function_is_decorated_with_brackets_too() -> None:
    @symbolic()
    def f(x: Vector) -> Vector:
        return np.sin(x)

    assert np.array_equal(f(X), np.sin(X))


# --------------------------------------------------------------------------- what is refused at decoration


class Money:
    pass


def test_a_type_without_a_to_literal_is_refused_at_decoration() -> None:
    line = sys._getframe().f_lineno + 3
    with pytest.raises(DtypeError) as caught:

        @symbolic
        def pay(x: Vector, amount: Annotated[Money, Symbolic]) -> Vector:  # type: ignore[symbolic]  # what is tested
            return x

    text = str(caught.value)
    assert text.startswith('No ToLiteral is registered for type "Money"')
    assert "pay" in text and "amount" in text and f"test_function.py:{line}" in text
    assert "class MoneyToLiteral(ToLiteral[Money" in text
    with pytest.raises(TypeError, match=r'No ToLiteral is registered for type "Money".*return of pay'):

        @symbolic
        def pay_back(x: Vector) -> Annotated[Money, Symbolic]:  # type: ignore[symbolic]  # what is tested
            return Money()


def test_a_function_without_symbolic_parameters_is_refused() -> None:
    for function in (lambda: 1.0, lambda x: x):
        with pytest.raises(DtypeError, match=r"no symbolic parameter.*test_function\.py:\d+.*;.*Annotated"):
            symbolic(function)  # type: ignore[symbolic]  # what is tested


def test_a_hint_that_cannot_be_read_is_refused() -> None:
    def f(x: "Missing") -> None:  # type: ignore[name-defined]  # noqa: F821 - what is tested
        pass

    with pytest.raises(DtypeError, match=r"hint of f cannot be read.*Missing.*;.*import"):
        symbolic(f)  # type: ignore[symbolic]  # what is tested


def test_what_is_no_function_is_refused() -> None:
    for thing in (3, "f", X):
        with pytest.raises(TypeError):
            symbolic(thing)


def test_an_input_of_another_type_is_refused_by_name() -> None:
    with pytest.raises(DtypeError, match=r"scores.*str.*ndarray.*sum_network|sum_network.*scores.*str.*ndarray"):
        sum_network("text")  # type: ignore[symbolic]  # what is tested
    with pytest.raises((DtypeError, ShapeError), match=r"width.*\(3,\)|width.*float"):
        kernel(X, X, X)  # type: ignore[symbolic]  # what is tested


def test_lists_are_arrays() -> None:
    assert sum_network([0.0, 0.0]) == 2.0  # type: ignore[symbolic]  # a list for an array


# --------------------------------------------------------------------------- copies


class Holder:
    """An instance with a symbolic method that has a weight."""

    @symbolic
    def net(self, x: Annotated[float, Symbolic]) -> float:
        y: float = x * Weight(3.0, name="w")
        return y


def test_a_deep_copy_has_weights_of_its_own_that_start_where_these_are() -> None:
    one = Holder()
    one.net.train(1.0, optimizer=SGD(0.5))
    shallow, deep = copy.copy(one), copy.deepcopy(one)
    assert (one.net(1.0), shallow.net(1.0), deep.net(1.0)) == (2.5, 2.5, 2.5)
    one.net.train(1.0, optimizer=SGD(0.5))
    assert (one.net(1.0), shallow.net(1.0), deep.net(1.0)) == (2.0, 2.0, 2.5)


def test_a_deep_copy_of_a_network() -> None:
    net = s.Sequential(s.Linear(2, 8, seed=1), s.ReLU(), symbolic(lambda x: x * 2.0, np.ndarray), s.Sum())
    x = np.array([1.0, 2.0])
    before = net.predict(x)
    twin = copy.deepcopy(net)
    assert twin.predict(x) == before and list(twin.weights()) == list(net.weights())
    net.train(x, optimizer=SGD(0.1))
    assert twin.predict(x) == before != net.predict(x)
    tree = Weight(2.0) * Identity()
    again = copy.deepcopy(tree + tree)
    assert again.equals(again) and len(again.weights()) == 1 and again.predict(1.0) == 4.0


def test_what_would_lose_weights_is_refused() -> None:
    import pickle

    one = Holder()
    assert pickle.loads(pickle.dumps(one)).net(1.0) == 3.0
    one.net(1.0)
    with pytest.raises(TypeError, match=r"weights.*;"):
        pickle.dumps(one)


def test_a_dictionary_of_traced_values_is_no_result() -> None:
    def both(x: Any) -> Any:
        return {"a": x, "b": 2.0 * x}

    with pytest.raises(TypeError, match=r"returns a dict.*; return .*tuple"):
        symbolic(both, float)(1.0)


def test_a_hyperparameter_that_is_mutated() -> None:
    scales = [2.0]

    @symbolic
    def scaled(x: Annotated[float, Symbolic], by: list[float]) -> float:
        y: float = x * by[0]
        return y

    layer = scaled(by=scales)
    assert layer(1.0) == 2.0
    scales[0] = 5.0
    assert layer(1.0) == 5.0


def test_weights_of_a_function_over_another_layer() -> None:
    @symbolic
    def f(x: Annotated[float, Symbolic]) -> float:
        y: float = x * Weight(3.0, name="w")
        return y

    net = f(Identity() + 1.0)
    assert net.train(1.0, optimizer=SGD(0.1)) == 6.0
    assert [w.value for w in net.weights().values()] == [2.8]


class Tag:
    """Something that a function captures, and whose end can be seen."""


def test_a_dropped_network_is_freed_at_once_with_all_that_its_function_captured() -> None:
    def made() -> tuple[Any, weakref.ref[Tag]]:
        tag, scale = Tag(), np.ones(3)

        def f(x: Any) -> Any:
            assert tag is not None
            return np.sum(x * scale * Weight(np.ones(3)))

        return symbolic(f, np.ndarray, returns=float), weakref.ref(tag)

    gc.collect()
    gc.disable()
    try:
        net, tag = made()
        for _ in range(4):
            net.predict(np.ones(3))
            net.train(np.ones(3), optimizer=SGD(0.1))
        with net.forward(Literal(np.ones(3))) as tape:
            tape.backward(1.0)
        del tape, net
        assert tag() is None
    finally:
        gc.enable()


def test_a_gradient_is_called_with_keywords_as_its_function_is() -> None:
    @symbolic
    def cost(x: Annotated[np.ndarray, Symbolic], y: Annotated[np.ndarray, Symbolic], power: int = 2) -> float:
        return np.sum(x * y**power)

    x, y = np.array([1.0, 2.0]), np.array([3.0, -1.0])
    np.testing.assert_array_equal(s.grad(cost)(x, y=y), y**2)
    np.testing.assert_array_equal(s.grad(cost, 1)(y=y, x=x, power=3), 3 * x * y**2)
    with pytest.raises(DtypeError, match="keyword argument 'z'"):
        s.grad(cost)(x, z=y)
    with pytest.raises(DtypeError, match=r"keyword power, in .*; pass the inputs by position"):
        s.grad(s.Sum(Identity()))(x, power=3)


def teardown_module() -> None:
    FILE.close()
