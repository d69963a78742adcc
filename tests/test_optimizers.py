"""Do weights move as the papers say, in the dtype that they have, and can a run be saved and resumed?"""

import gc
import io
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symbolic.context import here
from symbolic.errors import DtypeError, ShapeError, SymbolicError, SymbolicWarning
from symbolic.leaves import Weight
from symbolic.optimizer import Optimizer
from symbolic.optimizers import L1, L2, SGD, Adagrad, Adam, AdamW, Clip, ClipNorm, Momentum, Nesterov, RMSprop
from symbolic.schedules import CosineDecay, ExponentialDecay, PolynomialDecay, SettingError, StepDecay, Warmup

Gradient = Callable[[Any, int], Any]
EVERY: list[Optimizer] = [
    SGD(0.1),
    Momentum(0.1),
    Nesterov(0.1, momentum=0.8),
    Adagrad(0.1),
    RMSprop(0.1),
    Adam(0.1),
    AdamW(0.1, weight_decay=0.1),
    SGD(0.1, L1(0.5), L2(0.5), Clip(1.0), ClipNorm(0.5)),
    Adam(0.1, L2(0.5), ClipNorm(0.5)),
]


def run(optimizer: Optimizer, value: Any, gradient: Gradient, steps: int) -> Any:
    """The formula, step after step, as a machine runs it."""
    state = optimizer.initial(value)
    for count in range(steps):
        rate = optimizer.learning_rate(count) if callable(optimizer.learning_rate) else optimizer.learning_rate
        (value,), (state,) = optimizer.formula([value], [gradient(value, count)], [state], rate, float(count + 1))
    return value


def weight_of(value: Any) -> Weight[Any, Any]:
    return Weight(value)


def take(optimizer: Optimizer, weights: list[Weight[Any, Any]], deltas: list[Any]) -> None:
    """One step of weights, with the state that the optimizer keeps of them."""
    optimizer.begin(weights)
    states = [optimizer.state_of(weight) for weight in weights]
    values = [weight.cell.value for weight in weights]
    moved, kept = optimizer.formula(values, deltas, states, optimizer.rate(), float(optimizer.count + 1))
    for weight, value in zip(weights, moved, strict=True):
        weight.assign(value)
    optimizer.commit(weights, kept)


# --------------------------------------------------------------------------- the formulas


def wavy(w: Any, step: int) -> Any:
    return np.cos(w) * (step + 1) - 0.3 * w


FROM_OPTAX: list[tuple[Optimizer, list[float]]] = [  # optax 0.2.8, float64: five steps from [1, -2, 0.5] down `wavy`
    (SGD(0.1), [0.02111961963395853, -1.7659956381643165, -0.8931877245723335]),
    (Momentum(0.1), [-0.9203206511175731, -1.593733061851597, -2.14378617695418]),
    (Nesterov(0.1), [-1.941944604635937, -1.5704862285270345, -2.309228139628429]),
    (Adagrad(0.1, epsilon=1e-300), [0.5611531808749053, -1.7943268721576657, 0.08023541128113539]),
    (RMSprop(0.01), [0.8611680972755664, -1.9268582766458526, 0.3656611017554867]),
    (Adam(0.1), [0.5411729737469678, -1.8226448329893514, 0.022038879620343885]),
    (AdamW(0.1, weight_decay=0.05), [0.5213565068760411, -1.7752335134439556, 0.014509721695500619]),
    (Adam(0.1, L2(0.5), Clip(1.0)), [0.5058155937402313, -1.505448466324417, -1.1731370647138917e-05]),
    (Momentum(0.1, ClipNorm(1.0)), [0.4640929876469888, -1.9075921310977442, -0.5692673398872318]),
    (SGD(CosineDecay(0.3, 4)), [0.21843505878313618, -1.8569024066882727, -0.7885599144670801]),
]


@pytest.mark.parametrize(("optimizer", "expected"), FROM_OPTAX, ids=repr)
def test_five_steps_are_those_of_optax(optimizer: Optimizer, expected: list[float]) -> None:
    assert run(optimizer, np.array([1.0, -2.0, 0.5]), wavy, 5) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def adam_by_the_paper(w: Any, gradient: Gradient, steps: int, decay: float = 0.0) -> Any:
    """Kingma and Ba, algorithm 1, line by line."""
    m = v = np.zeros_like(w)
    for t in range(1, steps + 1):
        g = gradient(w, t - 1)
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g**2
        m_hat, v_hat = m / (1 - 0.9**t), v / (1 - 0.99**t)
        w = w - 0.05 * (m_hat / (np.sqrt(v_hat) + 1e-3) + decay * w)
    return w


def nesterov_by_the_paper(w: Any, gradient: Gradient, steps: int) -> Any:
    """Sutskever et al., equations 3 and 4: the gradient is taken at the weights ahead, which are what we keep."""
    theta, v = w, np.zeros_like(w)
    for t in range(steps):
        v_next = 0.9 * v - 0.05 * gradient(theta + 0.9 * v, t)
        theta, v = theta + v_next, v_next
    return theta + 0.9 * v


STARTS = [np.random.default_rng(0).normal(size=shape) for shape in [(), (3,), (2, 3)]]


@pytest.mark.parametrize("start", STARTS)
def test_fifty_steps_are_those_of_the_papers(start: Any) -> None:
    ours = run(Adam(0.05, beta2=0.99, epsilon=1e-3), start, wavy, 50)
    assert np.allclose(ours, adam_by_the_paper(start, wavy, 50), rtol=1e-9)
    ours = run(AdamW(0.05, beta2=0.99, epsilon=1e-3, weight_decay=0.2), start, wavy, 50)
    assert np.allclose(ours, adam_by_the_paper(start, wavy, 50, decay=0.2), rtol=1e-9)
    ours = run(Nesterov(0.05), start, lambda w, step: np.tanh(w), 50)
    assert np.allclose(ours, nesterov_by_the_paper(start, lambda w, step: np.tanh(w), 50), rtol=1e-9)


def test_the_penalty_is_applied_in_whatever_order_it_is_written() -> None:
    """The case in which the original lost L2: 1.8 either way, never 1.9."""
    for parts in itertools.permutations([L2(0.5), Clip(1.0)]):
        for delta in (1.0, 7.0):
            assert SGD(0.1, *parts).formula([2.0], [delta], [()], 0.1, 1.0) == ([1.8], [()])


@pytest.mark.parametrize("kind", [SGD, Momentum, Nesterov, Adagrad, RMSprop, Adam, AdamW])
def test_the_order_of_parts_changes_nothing(kind: type[Optimizer]) -> None:
    start = np.array([1.0, -2.0, 0.5])
    orders = list(itertools.permutations([L1(0.1), L2(0.5), Clip(0.8), ClipNorm(0.9)]))
    first = run(kind(0.1, *orders[0]), start, wavy, 5)
    assert all(np.array_equal(run(kind(0.1, *parts), start, wavy, 5), first) for parts in orders)
    assert len({kind(0.1, *parts).key() for parts in orders}) == 1
    for left_out in range(4):
        fewer = [part for k, part in enumerate(orders[0]) if k != left_out]
        assert not np.array_equal(run(kind(0.1, *fewer), start, wavy, 5), first)


def test_penalties_are_gradients() -> None:
    w, zero = np.array([3.0, -0.5, 0.0]), np.zeros(3)
    assert np.array_equal(SGD(1.0, L1(0.25)).formula([w], [zero], [()], 1.0, 1.0)[0][0], [2.75, -0.25, 0.0])
    assert np.array_equal(SGD(1.0, L2(0.25)).formula([w], [zero], [()], 1.0, 1.0)[0][0], [2.25, -0.375, 0.0])


def test_clip_norm_is_of_all_deltas_together() -> None:
    small, large = [np.array([0.3, 0.0]), np.array(0.4)], [np.array([3.0, 0.0]), np.array(4.0)]
    weights = [np.zeros(2), np.array(0.0)]
    kept = SGD(1.0, ClipNorm(0.5)).formula(weights, small, [(), ()], 1.0, 1.0)[0]
    assert np.array_equal(kept[0], -small[0])  # not one bit changes within the limit
    scaled = SGD(1.0, ClipNorm(0.5)).formula(weights, large, [(), ()], 1.0, 1.0)[0]
    assert np.allclose(scaled[0], [-0.3, 0.0]) and np.allclose(scaled[1], -0.4)
    with np.errstate(all="raise"):
        still = SGD(1.0, ClipNorm(0.5)).formula([np.ones(2)], [np.zeros(2)], [()], 1.0, 1.0)[0]
    assert np.array_equal(still[0], np.ones(2))


# --------------------------------------------------------------------------- dtypes and purity


@pytest.mark.parametrize("optimizer", EVERY, ids=repr)
def test_each_weight_keeps_its_dtype(optimizer: Optimizer) -> None:
    values = [
        np.ones((2, 3), np.float32),
        np.ones(2),
        2.0,
        np.float32(2),
        5,
        np.ones(2, np.complex64),
        np.float16(1),
        1j,
    ]
    deltas: list[Any] = [
        np.ones((2, 3), np.float32),
        np.ones(2),
        1.0,
        np.float32(1),
        1.0,
        np.ones(2, np.complex64),
        np.float16(1),
        1j,
    ]
    states = [optimizer.initial(value) for value in values]
    for step in (1.0, 2.0):
        moved, states = optimizer.formula(values, deltas, states, 0.1, step)
        for new, delta, state in zip(moved, deltas, states, strict=True):
            assert type(new) is type(delta) and np.asarray(new).dtype == np.asarray(delta).dtype
            assert np.shape(new) == np.shape(delta)
            for name, slot in zip(optimizer.names, state, strict=True):
                expected = np.real(delta) if name == "squares" else delta
                assert type(slot) is type(expected) and np.asarray(slot).dtype == np.asarray(expected).dtype


@pytest.mark.parametrize("optimizer", EVERY, ids=repr)
def test_the_formula_is_pure(optimizer: Optimizer) -> None:
    w, delta = np.array([1.0, 2.0]), np.array([3.0, -4.0])
    state = tuple(np.array([0.5, 0.25]) for _ in optimizer.names)
    for array in (w, delta, *state):
        array.flags.writeable = False
    (moved,), (kept,) = optimizer.formula([w], [delta], [state], 0.1, 3.0)
    assert not any(np.shares_memory(new, old) for new in (moved, *kept) for old in (w, delta, *state))
    assert optimizer.count == 0


@pytest.mark.parametrize("optimizer", EVERY, ids=repr)
def test_a_complex_weight_goes_down(optimizer: Optimizer) -> None:
    """|w - c|² has the conjugate cotangent w - c (up to a factor), which an optimizer can subtract."""
    goal = 0.3 - 0.4j if optimizer.parts or isinstance(optimizer, AdamW) else 2 - 1j
    end = run(optimizer, np.array([1 + 1j]), lambda w, step: w - goal, 100)
    assert abs(end - goal)[0] < abs(1 + 1j - goal) / 2


def test_a_complex_clip_keeps_the_direction() -> None:
    (moved,), _ = SGD(1.0, Clip(1.0)).formula([np.zeros(2, complex)], [np.array([3 - 4j, 0.1j])], [()], 1.0, 1.0)
    assert np.allclose(moved, [-0.6 + 0.8j, -0.1j])


def test_a_large_step_does_not_divide_by_zero() -> None:
    with np.errstate(all="raise", under="ignore"):
        for optimizer in EVERY:
            assert np.all(np.isfinite(run(optimizer, np.zeros(2, np.float32), lambda w, step: np.zeros_like(w), 3)))


# --------------------------------------------------------------------------- state


@pytest.mark.parametrize("make", [lambda: Momentum(0.1), lambda: Adam(0.1), lambda: Adam(0.1, L2(0.1), Clip(1.0))])
def test_state_is_kept_per_weight(make: Callable[[], Optimizer]) -> None:
    """Two weights under one optimizer move as each does alone."""
    both, a, b = make(), weight_of(np.array([1.0, 2.0])), weight_of(3.0)
    for step in range(4):
        take(both, [a, b], [wavy(a.value, step), wavy(b.value, step)])
    assert np.array_equal(a.value, run(make(), np.array([1.0, 2.0]), wavy, 4))
    assert b.value == run(make(), 3.0, wavy, 4)
    assert both.count == 4


def test_state_goes_with_its_weight() -> None:
    optimizer, w = Adam(0.1), weight_of(np.ones(3))
    take(optimizer, [w], [np.ones(3)])
    assert len(optimizer._states.entries) == 1
    del w
    gc.collect()
    assert not optimizer._states.entries
    assert all(np.array_equal(slot, np.zeros(2)) for slot in optimizer.state_of(weight_of(np.ones(2))))


def test_a_commit_is_all_or_nothing() -> None:
    optimizer, a, b = Momentum(0.1), weight_of(1.0), weight_of(2.0)
    take(optimizer, [a, b], [1.0, 1.0])
    with pytest.raises(ValueError):
        optimizer.commit([a, b], [(5.0,)])
    assert (optimizer.count, optimizer.state_of(a), optimizer.state_of(b)) == (1, (1.0,), (1.0,))


def test_a_schedule_advances_once_per_step() -> None:
    optimizer, weights = SGD(StepDecay(1.0, 0.5, 1)), [weight_of(0.0) for _ in range(3)]
    rates = []
    for _ in range(4):
        rates.append(optimizer.rate())
        take(optimizer, weights, [1.0, 1.0, 1.0])
    assert rates == [1.0, 0.5, 0.25, 0.125]
    assert [weight.value for weight in weights] == [-1.875] * 3


@pytest.mark.parametrize("make", [lambda: Momentum(0.1), lambda: Adam(CosineDecay(0.1, 10)), lambda: SGD(0.1)])
def test_a_run_is_resumed_bit_for_bit(make: Callable[[], Optimizer]) -> None:
    weights = {"net/w": weight_of(np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)), "b": weight_of(0.5)}
    first = make()
    steps = [[wavy(w.value, k) * (k + 1) for w in weights.values()] for k in range(6)]
    for deltas in steps[:3]:
        take(first, list(weights.values()), deltas)
    file = io.BytesIO()
    np.savez(file, **first.state_dict(weights))
    copies = {path: weight_of(weight.value) for path, weight in weights.items()}
    file.seek(0)
    second = make()
    second.load_state_dict(copies, np.load(file))
    assert second.count == 3
    for deltas in steps[3:]:
        take(first, list(weights.values()), deltas)
        take(second, list(copies.values()), deltas)
    for path, weight in weights.items():
        assert np.asarray(copies[path].value).tobytes() == np.asarray(weight.value).tobytes()
        assert list(map(type, second.state_of(copies[path]))) == list(map(type, first.state_of(weight)))


def test_what_was_saved_does_not_change_later() -> None:
    optimizer, w = Momentum(0.1), weight_of(np.ones(2))
    take(optimizer, [w], [np.ones(2)])
    saved = optimizer.state_dict({"w": w})
    saved["w.velocity"][:] = 7.0
    assert np.array_equal(optimizer.state_of(w)[0], np.ones(2))
    optimizer.load_state_dict({"w": w}, saved)
    saved["w.velocity"][:] = 8.0
    assert np.array_equal(optimizer.state_of(w)[0], [7.0, 7.0])


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"w.velocity": np.ones(3)}, ShapeError, r"w\.velocity of shape \(3,\) for a weight of shape \(2,\)"),
        ({"w.velocity": np.ones(2, np.float32)}, DtypeError, "float32 for one of float64"),
        ({"v.velocity": np.ones(2)}, SettingError, r"v\.velocity missing or left over"),
    ],
)
def test_a_state_that_does_not_fit_is_refused(change: dict[str, Any], kind: type[Exception], text: str) -> None:
    optimizer, w = Momentum(0.1), weight_of(np.ones(2))
    take(optimizer, [w], [np.ones(2)])
    saved = optimizer.state_dict({"w": w}) | change | {"count": np.asarray(9)}
    with pytest.raises(kind, match=text):
        optimizer.load_state_dict({"w": w}, saved)
    assert optimizer.count == 1 and np.array_equal(optimizer.state_of(w)[0], np.ones(2))


@pytest.mark.parametrize("make", [lambda: Adam(0.1), lambda: SGD(ExponentialDecay(0.1, 0.9))])
def test_one_made_anew_at_each_step_warns(make: Callable[[], Optimizer]) -> None:
    weight = weight_of(1.0)
    take(make(), [weight], [1.0])
    with pytest.warns(SymbolicWarning, match="give the same object to every step") as caught:
        take(make(), [weight], [1.0])
    assert caught[0].filename == __file__


def test_what_keeps_no_state_or_is_kept_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weight, kept, later = weight_of(1.0), Adam(0.1), Adam(0.01)
        for _ in range(3):
            take(SGD(0.1), [weight], [1.0])
        for optimizer in (kept, kept, kept, later, later, kept, Momentum(0.1), SGD(0.1)):
            take(optimizer, [weight], [1.0])


# --------------------------------------------------------------------------- with, printing, settings


def test_the_surrounding_optimizer_is_the_innermost() -> None:
    outer, inner = SGD(0.1), Adam(0.1)
    with outer as given:
        assert given is outer
        with inner, outer:
            assert list(here.optimizers) == [outer, inner, outer]
        with pytest.raises(KeyError), inner:
            raise KeyError
        assert list(here.optimizers) == [outer]
    assert not here.optimizers


@pytest.mark.parametrize(
    "text",
    [
        "SGD(0.1)",
        "SGD(0.1, L2(0.5), Clip(1.0))",
        "Momentum(StepDecay(0.1, 0.5, 10))",
        "Nesterov(0.1, momentum=0.5)",
        "Adagrad(Warmup(5, ExponentialDecay(0.1, 0.5, 10)))",
        "RMSprop(0.001, L1(0.1), decay=0.5)",
        "Adam(0.001, ClipNorm(2.0), beta1=0.5, epsilon=1e-06)",
        "AdamW(PolynomialDecay(0.1, 10, 0.0, 2.0), weight_decay=0.0)",
        "AdamW(CosineDecay(0.1, 10, 0.01))",
    ],
)
def test_it_prints_as_the_call_that_makes_it(text: str) -> None:
    assert repr(eval(text)) == text
    assert eval(text).key() == eval(text).key()


def test_the_key_is_of_the_formula() -> None:
    assert SGD(0.1).key() == SGD(StepDecay(0.2, 0.5, 3)).key()
    optimizers = [*EVERY, Adam(0.1, beta1=0.5), Momentum(0.1, momentum=0.8), SGD(0.1, L2(0.1)), SGD(0.1, L1(0.1))]
    assert len({optimizer.key() for optimizer in optimizers}) == len(optimizers)


def test_only_the_rate_can_be_set() -> None:
    optimizer = Adam(0.1)
    optimizer.learning_rate = 0.2
    assert optimizer.rate() == 0.2
    for name in ("beta1", "parts"):
        with pytest.raises(AttributeError, match="make a new optimizer"):
            setattr(optimizer, name, 0.5)
    with pytest.raises(SettingError):
        optimizer.learning_rate = -1.0
    with pytest.raises(AttributeError, match="make a new one"):
        L2(0.5).strength = 1.0


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: SGD(-0.1), ValueError, "SGD with learning_rate=-0.1"),
    (lambda: SGD(float("nan")), ValueError, "learning_rate=nan"),
    (lambda: SGD("fast"), TypeError, "learning_rate='fast'"),  # type: ignore[arg-type]  # the error is the point
    (lambda: SGD(L2(0.1)), TypeError, r"learning_rate=L2\(0.1\)"),  # type: ignore[arg-type]  # the error is the point
    (lambda: SGD(True), TypeError, "learning_rate=True"),
    (lambda: SGD(lambda step: -1.0).rate(), ValueError, "learning_rate at step 0=-1.0"),
    (lambda: Momentum(0.1, 0.9), TypeError, "0.9, which is no part"),  # type: ignore[arg-type]  # the error is the point
    (lambda: SGD(0.1, SGD(0.1)), TypeError, "no part"),  # type: ignore[arg-type]  # the error is the point
    (lambda: SGD(0.1, L2), TypeError, "L2, which is no part"),  # type: ignore[arg-type]  # the error is the point
    (lambda: SGD(0.1, L2(0.1), L2(0.2)), ValueError, "L2 given twice"),
    (lambda: Momentum(0.1, momentum=1.0), ValueError, "momentum=1.0.*less than 1"),
    (lambda: Adam(0.1, beta1=-0.1), ValueError, "beta1=-0.1"),
    (lambda: Adam(0.1, beta2=1.5), ValueError, "beta2=1.5"),
    (lambda: Adam(0.1, epsilon=0.0), ValueError, "epsilon=0.0.*above 0"),
    (lambda: AdamW(0.1, weight_decay=-1.0), ValueError, "weight_decay"),
    (lambda: RMSprop(0.1, decay=1.0), ValueError, "decay"),
    (lambda: Clip(0.0), ValueError, "limit=0.0"),
    (lambda: ClipNorm(-1.0), ValueError, "limit=-1.0"),
    (lambda: L1(-1.0), ValueError, "strength=-1.0"),
    (lambda: L2("a"), TypeError, "strength='a'"),  # type: ignore[arg-type]  # the error is the point
    (lambda: StepDecay(0.1, 0.5, 0), ValueError, "every=0"),
    (lambda: CosineDecay(0.1, 1.5), TypeError, "steps=1.5"),  # type: ignore[arg-type]  # the error is the point
    (lambda: Warmup(3, -1.0), ValueError, "then=-1.0"),
]


@pytest.mark.parametrize(("make", "kind", "text"), WRONG)
def test_wrong_settings_are_refused(make: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(SymbolicError, match=text) as caught:
        make()
    assert isinstance(caught.value, kind)
    assert "test_optimizers.py" in str(caught.value) and caught.value.remedy


# --------------------------------------------------------------------------- schedules


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [  # optax 0.2.8; the warm-up by hand
        (ExponentialDecay(0.5, 0.25, 3), [0.5, 0.3149802624737183, 0.19842513149602495, 0.125, 0.07874506561842957]),
        (StepDecay(0.5, 0.25, 2), [0.5, 0.5, 0.125, 0.125, 0.03125]),
        (CosineDecay(0.4, 4, 0.1), [0.4, 0.35606601717798214, 0.25, 0.1439339828220179, 0.1, 0.1]),
        (PolynomialDecay(0.5, 4, 0.1, 2.0), [0.5, 0.325, 0.2, 0.125, 0.1, 0.1]),
        (PolynomialDecay(1.0, 4), [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]),
        (Warmup(2, StepDecay(0.5, 0.5, 2)), [0.25, 0.5, 0.5, 0.5, 0.25, 0.25]),
        (Warmup(0, 0.5), [0.5, 0.5]),
        (lambda step: 1 / (1 + step), [1.0, 0.5]),
    ],
)
def test_schedules(schedule: Callable[[int], float], expected: list[float]) -> None:
    optimizer = SGD(schedule)
    rates = []
    for _ in expected:
        rates.append(optimizer.rate())
        optimizer.commit([], [])
    assert rates == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert all(type(rate) is float for rate in rates)  # weak: float32 stays float32


@pytest.mark.parametrize("setting", [{"momentum": 0.9}, {"lerning_rate": 0.1}, {"weight_decay": 0.01}])
def test_a_setting_that_there_is_not_is_refused(setting: dict[str, float]) -> None:
    (name,) = setting
    with pytest.raises(
        TypeError, match=f"SGD with the setting {name}, which it does not have, in .*test_optimizers.py"
    ):
        SGD(0.1, **setting)


def test_a_declared_setting_needs_no_init() -> None:
    class Slower(Optimizer):
        by: float

        def rule(self, weight: Any, delta: Any, state: Any, rate: Any, count: Any) -> Any:
            return weight - rate / self.by * delta, ()

    assert Slower(1.0, by=4.0).formula([2.0], [4.0], [()], 1.0, 1.0) == ([1.0], [()])
