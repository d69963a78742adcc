"""Calls of ever new sizes: are they planned once, and does each give what NumPy gives for its own sizes?

The oracles are the undecorated body, finite differences, steps by hand, and for errors a function that is new.
"""

# mypy: disable-error-code="var-annotated"

import gc
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threads import in_threads

import symbolic as s
from symbolic import SGD, Adam, Symbolic, Weight, symbolic, varying
from symbolic.network import network
from symbolic.ops.operation import Operation
from symbolic.paths import Paths
from symbolic.varying import Open

A = Annotated[np.ndarray, Symbolic]
RNG = np.random.default_rng(11)
MACHINES = ("numpy", "auto", "numpy at once")
SCALE = np.array([2.0, -1.0, 0.5])


@pytest.fixture(autouse=True, params=MACHINES)
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """At once: what is open becomes code, and has shortcuts, from its third call on."""
    name, _, early = request.param.partition(" ")
    if early:
        monkeypatch.setattr(s.machines, "_OPEN", 0)
    with s.use(name):
        yield


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often something was traced, inferred for one kind of inputs, or planned."""
    found = {"traced": 0, "own": 0, "open": 0, "planned": 0}

    def counted(where: Any, name: str, what: str) -> None:
        function = getattr(where, name)

        def noted(*given: Any, **named: Any) -> Any:
            found[what] += 1
            return function(*given, **named)

        monkeypatch.setattr(where, name, noted)

    counted(Paths, "_fresh", "traced")
    counted(s.paths, "checked", "own")
    counted(Open, "__init__", "open")
    counted(s.execution, "build", "planned")
    return found


def loss(x: A, y: A) -> float:
    return np.mean((np.tanh(x @ Weight(np.linspace(-1.0, 1.0, 3))) + Weight(0.5) - y) ** 2)


def rows(n: int, columns: int = 3) -> tuple[Any, Any]:
    return np.cos(np.arange(n * columns, dtype=float)).reshape(n, columns), np.sin(np.arange(n, dtype=float))


# --------------------------------------------------------------------------- counts


def test_a_trainer_plans_for_two_kinds_of_inputs_and_then_once_for_all(counts: dict[str, int]) -> None:
    step = symbolic(loss).trainer(SGD(0.1))
    for n in range(1, 31):
        step(*rows(n))
    assert counts == {"traced": 1, "own": 2, "open": 1, "planned": 3}


def test_so_do_predictions_and_gradients(counts: dict[str, int]) -> None:
    f = symbolic(loss)
    for n in range(1, 31):
        f.predict(*rows(n))
    assert counts == {"traced": 1, "own": 2, "open": 1, "planned": 3}
    both = s.value_and_grad(lambda x: np.sum(np.exp(x) * x))
    for n in range(1, 31):
        both(rows(n)[1])
    assert counts == {"traced": 2, "own": 4, "open": 2, "planned": 6}


def test_a_shortcut_serves_any_sizes_and_says_no_to_what_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    both = s.value_and_grad(lambda x, y: np.mean((x @ np.ones(3) - y) ** 2), (0, 1))
    calls: tuple[Callable[..., Any], ...] = (symbolic(loss).predict, symbolic(loss).trainer(SGD(0.0)), both)
    ways: list[Any] = []
    run = Paths.run

    def noted(self: Paths, *given: Any, **named: Any) -> Any:
        ways.append(self)
        return run(self, *given, **named)

    monkeypatch.setattr(Paths, "run", noted)
    for call in calls:
        for n in range(26, 40):
            call(*rows(n))
        ways.clear()
        for n in range(1, 26):
            call(*rows(n))
        x, y = rows(20)
        call(x, y)
        assert ways == []
        call(x, y)  # for the third time: with a program of its own
        assert len(ways) == 1
        with pytest.raises(s.SymbolicError):
            call(x, y[:-1])
        call(x.astype(np.float32), y)
        assert len(ways) == 3


def test_a_shortcut_keeps_no_arguments() -> None:
    both = s.value_and_grad(lambda x: np.sum(x * x))
    for n in range(1, 15):
        x = np.ones(n)
        both(x)
    held = weakref.ref(x)
    del x
    gc.collect()
    assert held() is None


def test_a_kind_that_comes_again_gets_a_program_of_its_own() -> None:
    f = symbolic(loss)
    for n in range(1, 9):
        f.predict(*rows(n))
    net = network(f)
    assert len(net.table) == 2
    for _ in range(3):
        f.predict(*rows(8))
    assert len(net.table) == 3
    assert all(not isinstance(on, Open) for kept in net.table.values() for on in kept)


def test_its_own_program_is_as_warm_as_if_it_had_run_from_the_first_call_on() -> None:
    f = symbolic(loss)
    for n in range(1, 9):
        f.predict(*rows(n))
    f.predict(*rows(8))
    f.predict(*rows(8))
    (on,) = network(f).table[s.spec.key_of(rows(8))]
    assert on.forward().runs == 3
    assert on.forward().code is not None


def test_another_axis_that_varies_is_left_open_too(counts: dict[str, int]) -> None:
    total = s.value_and_grad(lambda x: np.sum(np.sin(x) * x))
    for n in range(1, 7):
        total(np.ones((n, 4)))
    for n in range(5, 15):
        total(np.ones((3, n)))
    assert counts["open"] == 2
    assert counts["own"] == 2
    assert counts["planned"] == 4


def test_what_is_kept_has_a_bound() -> None:
    f = symbolic(loss)
    for n in range(1, 200):
        f.predict(*rows(n))
    net = network(f)
    assert len(net.table) <= 64
    assert len(net.varying.calls) <= 64
    assert len(net.varying.open) == 1
    assert len(net.varying.open[0].programs) == 1


def test_it_goes_with_the_function() -> None:
    f = symbolic(lambda x: np.sum(x * x), np.ndarray, returns=float)
    for n in range(1, 9):
        f.predict(np.ones(n))
    held = weakref.ref(network(f).varying.open[0])
    del f
    gc.collect()
    assert held() is None


def test_large_inputs_and_machine_code_by_hand_have_programs_of_their_own() -> None:
    f = symbolic(lambda x: np.sum(x * x), np.ndarray, returns=float)
    for n in range(1, 6):
        f.predict(np.ones(varying._LARGE + n))
    assert len(network(f).table) == 5
    if s.machines.chosen() == "numpy":
        with s.use("native"):
            for n in range(1, 6):
                f.predict(np.ones(n))
        assert len(network(f).table) == 10


def test_a_run_that_takes_long_is_worth_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(varying, "_LONG", -1.0)
    f = symbolic(lambda x: np.sum(x * x), np.ndarray, returns=float)
    for n in range(1, 4):
        f.predict(np.ones(n))
    for n in range(4, 9):
        assert f.predict(np.ones(n)) == n
    own = 6 if s.machines.chosen() == "auto" else 2  # all but the third, and the fourth, which took long
    assert len(network(f).table) == own


def test_what_the_program_of_a_call_is_can_still_be_asked() -> None:
    f = symbolic(loss)
    for n in range(1, 9):
        f.predict(*rows(n))
    assert "float64[8, 3]" not in str(f.program(*rows(8))).replace("input", "")
    assert "float64[8]" in str(f.program(*rows(8)))


# --------------------------------------------------------------------------- values

BODIES: dict[str, tuple[int, Callable[..., Any]]] = {
    "sum": (1, lambda x: np.sum(np.sin(x))),
    "mean": (1, lambda x: np.mean(np.exp(-x * x) + x)),
    "variance": (1, lambda x: np.var(np.tanh(x) * 3.0)),
    "reversed": (1, lambda x: np.sum(x[::-1] * np.arange(1.0, 2.0) * np.cos(x))),
    "differences": (1, lambda x: np.sum((x[1:] - x[:-1]) ** 2)),
    "cumulative": (1, lambda x: np.sum(np.cumsum(x) ** 2)),
    "outer": (1, lambda x: np.sum(np.tanh(x[:, None] * x[None, :]))),
    "joined": (1, lambda x: np.sum(np.concatenate([x, 2.0 * x, np.ones(2)]) ** 3)),
    "chosen": (1, lambda x: np.sum(np.where(x > 0.2, x * x, -x))),
    "masked": (1, lambda x: np.sum(x[x > 0.1] ** 2)),
    "asked": (1, lambda x: np.sum(x) / (x.shape[0] + 1.0)),
    "counted": (1, lambda x: np.sum(x * len(x))),
    "looped": (1, lambda x: sum((row * row for row in x), np.sum(x))),
    "padded": (1, lambda x: np.sum(np.pad(x, 1, constant_values=0.5) ** 2)),
    "three": (1, lambda x: np.sum(x * SCALE[:, None])),
    "two": (2, lambda x, y: np.sum(np.sin(x) * y)),
    "crossed": (2, lambda x, y: np.sum(np.tanh(x[:, None] + y[None, :]) ** 2)),
    "meeting": (2, lambda x, y: np.sum((x + y) * x)),
    "dot": (2, lambda x, y: np.sum(x) * np.sum(y) + np.dot(x, x)),
    "einsum": (2, lambda x, y: np.sum(np.einsum("i,j->ij", x, y) ** 2)),
}
MATRICES: dict[str, Callable[..., Any]] = {
    "rows": lambda x: np.sum(np.tanh(x @ np.arange(6.0).reshape(3, 2) * 0.1)),
    "softmax": lambda x: np.sum(np.log(np.sum(np.exp(x), axis=1))),
    "columns": lambda x: np.sum(np.mean(x, axis=0, keepdims=True) * x) if x.size else np.sum(x),
    "flat": lambda x: np.sum(np.reshape(x, (-1,)) ** 2),
    "turned": lambda x: np.sum(x.T @ x),
    "norms": lambda x: np.sum(np.sqrt(np.sum(x * x, axis=-1) + 1.0)),
    "stacked": lambda x: np.sum(np.stack([x, x * x]) ** 2),
    "gathered": lambda x: np.sum(x[:, [0, 2, 0]] ** 2),
    "bordered": lambda x: np.sum(x[:, 1:] * x[:, :-1]),
    "last": lambda x: np.sum(x[..., -1] ** 2) + np.sum(x[..., 0]),
    "normed": lambda x: np.sum((x - np.mean(x, axis=1, keepdims=True)) ** 3),
    "kept": lambda x: np.sum(np.broadcast_to(np.sum(x, axis=0), (2, 3)) ** 2),
}
SIZES = st.lists(st.sampled_from([0, 1, 1, 2, 3, 3, 4, 5, 7]), min_size=4, max_size=9)


def slope(f: Callable[..., Any], given: list[Any], k: int, way: Any) -> float:
    """The derivative along a way, by differences."""
    h = 1e-6
    ends = [f(*[one + h * sign * way if n == k else one for n, one in enumerate(given)]) for sign in (1.0, -1.0)]
    return float((ends[0] - ends[1]) / (2.0 * h))


def agree(f: Callable[..., Any], both: Callable[..., Any], given: list[Any]) -> None:
    """The value is the body's, bit by bit up to the order of sums, and the gradients are slopes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            want = f(*given)
        except ValueError:  # shapes that do not fit
            with pytest.raises(s.SymbolicError):
                both(*given)
            return
        value, found = both(*given)
        np.testing.assert_allclose(value, want, rtol=1e-12, atol=1e-12)
        for k, one in enumerate(given):
            assert found[k].shape == one.shape
            assert found[k].dtype == one.dtype
            if one.size and np.isfinite(want):
                way = np.cos(np.arange(one.size, dtype=float)).reshape(one.shape)
                np.testing.assert_allclose(np.sum(found[k] * way), slope(f, given, k, way), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", BODIES)
@given(sizes=SIZES, others=SIZES, together=st.booleans())
def test_values_and_gradients_of_any_sizes(name: str, sizes: list[int], others: list[int], together: bool) -> None:
    count, f = BODIES[name]
    both = s.value_and_grad(f, tuple(range(count)))
    for n, m in zip(sizes, sizes if together else others, strict=False):
        agree(f, both, [np.cos(1.0 + np.arange(k)) for k in (n, m)[:count]])


@pytest.mark.parametrize("name", MATRICES)
@given(sizes=SIZES, columns=st.booleans())
def test_values_and_gradients_of_matrices(name: str, sizes: list[int], columns: bool) -> None:
    f = MATRICES[name]
    both = s.value_and_grad(f, (0,))
    for k, n in enumerate(sizes):
        shape = (n, 3 if not columns else 3 + k % 2)
        agree(f, both, [np.cos(1.0 + np.arange(np.prod(shape, dtype=int))).reshape(shape)])


@given(
    sizes=st.lists(st.integers(0, 6), min_size=5, max_size=9), dtypes=st.lists(st.booleans(), min_size=9, max_size=9)
)
def test_predictions_of_any_sizes_and_dtypes(sizes: list[int], dtypes: list[bool]) -> None:
    def body(x: Any) -> Any:
        return np.where(x > 0, x, x * 0.5) + np.arange(3)[:, None] * SCALE[:, None]

    f = symbolic(body, np.ndarray, returns=np.ndarray)
    for n, single in zip(sizes, dtypes, strict=False):
        x = (np.arange(n) - 2).astype(np.float32 if single else np.int64)
        found, want = f.predict(x), body(x)
        np.testing.assert_array_equal(found, want)
        assert found.dtype == want.dtype


@given(sizes=st.lists(st.integers(1, 9), min_size=5, max_size=14))
def test_steps_of_any_sizes_are_those_by_hand(sizes: list[int]) -> None:
    def f(x: A, y: A) -> float:
        return np.mean((x @ Weight(np.ones(3)) - y) ** 2)

    step, w = symbolic(f).trainer(SGD(0.05)), np.ones(3)
    for n in sizes:
        x, y = rows(n)
        np.testing.assert_allclose(step(x, y), np.mean((x @ w - y) ** 2), rtol=1e-10)
        w = w - 0.05 * 2.0 * (x.T @ (x @ w - y)) / n
    (weight,) = step.layer.weights().values()
    np.testing.assert_allclose(weight.value, w, rtol=1e-10)


def test_an_optimizers_state_goes_from_size_to_size() -> None:
    def f(x: A) -> float:
        return np.sum((x * Weight(np.ones(3))) ** 2)

    rate, w, mean, square = 0.01, np.ones(3), np.zeros(3), np.zeros(3)
    optimizer = Adam(rate)
    step = symbolic(f).trainer(optimizer)
    for t, n in enumerate([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], 1):
        x = rows(n)[0]
        step(x)
        delta = 2.0 * w * np.sum(x * x, axis=0)
        mean, square = 0.9 * mean + 0.1 * delta, 0.999 * square + 0.001 * delta**2
        w = w - rate * (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.999**t)) + 1e-8)
    (weight,) = step.layer.weights().values()
    np.testing.assert_allclose(weight.value, w, rtol=1e-10)
    assert optimizer.count == 12


# --------------------------------------------------------------------------- guards


def test_a_body_that_reads_a_size_is_traced_for_each(counts: dict[str, int]) -> None:
    both = s.value_and_grad(lambda x: np.sum(x) / len(x))
    for n in range(1, 9):
        value, delta = both(np.arange(1.0, n + 1))
        assert value == (n + 1) / 2
        np.testing.assert_array_equal(delta, np.full(n, 1 / n))
    assert counts["traced"] == 8


def test_what_a_function_reads_from_outside_is_watched() -> None:
    place = {"factor": 1.0}
    f = symbolic(lambda x: np.sum(x * place["factor"] * SCALE[0]), np.ndarray, returns=float)
    for n in range(1, 7):
        assert f.predict(np.ones(n)) == 2.0 * n
    place["factor"] = 3.0
    for n in range(7, 12):
        assert f.predict(np.ones(n)) == 6.0 * n


def test_an_array_that_is_read_from_outside_is_read_anew() -> None:
    bias = np.zeros(())
    f = symbolic(lambda x: np.sum(x + bias), np.ndarray, returns=float)
    for n in range(1, 9):
        bias[()] = n
        assert f.predict(np.ones(n)) == n + n * n


def message(call: Callable[[], Any]) -> str:
    with pytest.raises(Exception) as caught:
        call()
    return f"{type(caught.value).__name__}: {caught.value}"


def named() -> Any:
    @symbolic
    def f(
        x: Annotated[np.ndarray, Symbolic["rows columns"]], y: Annotated[np.ndarray, Symbolic["rows"]]
    ) -> Annotated[np.ndarray, Symbolic["rows"]]:
        return np.sum(x, axis=1) + y

    return f


@pytest.mark.parametrize("shapes", [((4, 3), (1,)), ((1, 3), (4,)), ((4,), (4,)), ((0, 3), (1,)), ((5, 2), (4,))])
def test_sizes_that_break_a_hint_are_refused_in_the_same_words(shapes: Any) -> None:
    f = named()
    for n in range(2, 9):
        f.predict(np.ones((n, 3)), np.ones(n))
    bad = [np.ones(shape) for shape in shapes]
    assert message(lambda: f.predict(*bad)) == message(lambda: named().predict(*bad))
    np.testing.assert_array_equal(f.predict(np.ones((11, 3)), np.ones(11)), np.full(11, 4.0))


def product() -> Any:
    return symbolic(lambda x, y: x @ y, np.ndarray, np.ndarray, returns=np.ndarray)


def test_shapes_that_do_not_fit_are_told_in_the_same_words_and_change_nothing() -> None:
    f = product()
    for n in range(2, 9):
        f.predict(np.ones((n, n)), np.ones(n))
    for bad in ((np.ones((3, 4)), np.ones(3)), (np.ones((0, 4)), np.ones(5)), (np.ones((2, 1)), np.ones(2))):
        told = message(lambda: f.predict(*bad))  # noqa: B023 - called at once
        assert told == message(lambda: product().predict(*bad))  # noqa: B023 - the same
    np.testing.assert_array_equal(f.predict(np.ones((11, 5)), np.ones(5)), np.full(11, 5.0))
    np.testing.assert_array_equal(f.predict(np.ones((2, 0)), np.ones(0)), np.zeros(2))


def test_a_step_that_fails_moves_nothing_and_the_next_goes_on() -> None:
    step = symbolic(loss).trainer(SGD(0.1))
    for n in range(1, 9):
        step(*rows(n))
    before = [np.array(one.value) for one in step.layer.weights().values()]
    x, _ = rows(9)
    with pytest.raises(s.SymbolicError):
        step(x, np.ones(4))
    with pytest.raises(s.SymbolicError, match="not finite"):
        step(x, np.full(9, np.nan))
    for one, old in zip(step.layer.weights().values(), before, strict=True):
        np.testing.assert_array_equal(one.value, old)
    step(*rows(10))
    assert step.optimizer.count == 9


def test_callbacks_see_each_call_once() -> None:
    seen: list[Any] = []
    f = symbolic(lambda x: x * 2.0, np.ndarray, returns=np.ndarray).on_output(lambda one: seen.append(np.array(one)))
    for n in range(1, 9):
        f.predict(np.ones(n))
    assert [one.size for one in seen] == list(range(1, 9))


def test_a_callback_that_raises_is_called_once_too() -> None:
    seen: list[int] = []

    def noted(one: Any) -> None:
        seen.append(one.size)
        if one.size == 7:
            raise ValueError("seven")

    f = symbolic(lambda x: x * 2.0, np.ndarray, returns=np.ndarray).on_output(noted)
    for n in range(1, 7):
        f.predict(np.ones(n))
    with pytest.raises(s.SymbolicError, match="seven"):
        f.predict(np.ones(7))
    assert seen == list(range(1, 8))


def test_a_size_of_a_value_that_the_body_reads_is_asked_of_each_call() -> None:
    """It is the same for several kinds of inputs, and then it is not."""

    def body(x: Any, y: Any) -> Any:
        both = np.concatenate([x, y])
        return np.sum(both) * both.shape[0]

    f = symbolic(body, np.ndarray, np.ndarray, returns=float)
    for n, m in [(1, 7), (2, 6), (3, 5), (4, 4), (5, 3), (3, 4), (4, 3), (5, 2), (6, 2), (2, 2), (0, 3)]:
        assert f.predict(np.ones(n), np.ones(m)) == (n + m) ** 2


def test_decisions_are_taken_anew() -> None:
    def body(x: Any) -> Any:
        return np.sum(x) * 2.0 if np.sum(x) > 10 else np.sum(x)

    f = symbolic(body, np.ndarray, returns=float)
    for n in (1, 2, 3, 12, 4, 13, 5, 14, 6, 15, 7, 16):
        assert f.predict(np.ones(n)) == body(np.ones(n))


def test_a_product_of_gradients_within_takes_care_where_it_must() -> None:
    """0 · ∞ is 0 in a gradient, whatever the sizes."""

    def body(x: Any) -> Any:
        return np.sum(np.where(x > 0, np.sqrt(np.abs(x)), x))

    both = s.value_and_grad(body)
    for n in range(1, 9):
        x = np.arange(float(n))
        _, delta = both(x)
        assert np.all(np.isfinite(delta))
        assert delta[0] == 1.0


def test_warnings_are_numpys() -> None:
    f = symbolic(np.log, np.ndarray, returns=np.ndarray)
    for n in range(1, 9):
        f.predict(np.ones(n))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert f.predict(np.zeros(9))[0] == -np.inf
    with np.errstate(divide="raise"), pytest.raises(s.SymbolicError, match="divide by zero"):
        f.predict(np.zeros(10))


def test_a_rule_of_ones_own_that_counts_on_sizes_has_programs_of_its_own() -> None:
    class Doubled(Operation):
        __slots__ = ()

        def infer(self, *specs: Any) -> Any:
            shape = specs[0].shape
            return specs[0]._replace(shape=(shape[0] * 2, *shape[1:]))

        def evaluate(self, *values: Any) -> Any:
            return np.concatenate([values[0], values[0]])

        def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
            return (delta[: operand.shape[0]] + delta[operand.shape[0] :],)

    both = s.value_and_grad(lambda x: np.sum(Doubled(x) ** 2))
    for n in range(1, 9):
        x = np.arange(1.0, n + 1)
        value, delta = both(x)
        assert value == 2.0 * np.sum(x * x)
        np.testing.assert_array_equal(delta, 4.0 * x)


def test_a_rule_of_ones_own_that_asks_for_a_size_is_never_told_another() -> None:
    class Several(Operation):
        __slots__ = ()

        def infer(self, *specs: Any) -> Any:
            return specs[0]

        def evaluate(self, *values: Any) -> Any:
            return values[0] * 1.0 if values[0].shape[0] == 1 else values[0] * 2.0

        def gradient(self, delta: Any, out: Any, operand: Any) -> Any:
            return (delta if operand.shape[0] == 1 else delta * 2.0,)

    both = s.value_and_grad(lambda x: np.sum(Several(x)))
    for n in (2, 3, 4, 1, 5, 1, 6, 7):
        factor = 1.0 if n == 1 else 2.0
        value, delta = both(np.ones(n))
        assert value == factor * n
        np.testing.assert_array_equal(delta, np.full(n, factor))


def test_maps_and_derivatives_of_derivatives() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * x)

    mapped, twice = s.vmap(f), s.grad(lambda x: np.sum(s.grad(f)(x) ** 2))
    for n in (1, 2, 3, 4, 5, 1, 6):
        x = np.cos(np.arange(3.0 * n)).reshape(n, 3)
        np.testing.assert_allclose(mapped(x), np.sum(np.sin(x) * x, axis=1), rtol=1e-12)
        d = np.cos(x) * x + np.sin(x)
        np.testing.assert_allclose(twice(x), 2.0 * d * (2.0 * np.cos(x) - np.sin(x) * x), rtol=1e-10)


def test_tapes_of_any_sizes() -> None:
    f = symbolic(loss)
    for n in range(1, 9):
        x, y = rows(n)
        with f.forward((x, y)) as tape:
            before = {name: np.array(one.value) for name, one in f.weights().items()}
            np.testing.assert_allclose(tape.value, f.predict(x, y), rtol=1e-12)
            assert before


def test_several_threads_of_several_sizes() -> None:
    f = symbolic(lambda x: np.sum(x * x + x), np.ndarray, returns=float)
    right: list[bool] = []

    def work(k: int) -> None:
        for n in range(1, 60):
            m = 1 + (n * (k + 3)) % 61
            right.append(f.predict(np.ones(m)) == 2.0 * m)

    in_threads(work, 4)
    assert right == [True] * (4 * 59)
