"""Do entries that arrays of whole numbers name come out, and go in, as NumPy has it? Its own indexing is the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from answers import attempt
from hypothesis import given, settings
from hypothesis import strategies as st

import symbolic as s
from symbolic import SGD, Adam, Weight, log_softmax, symbolic, value_and_grad

pytest.importorskip("llvmlite")
SIZES = [3, 1, 2, 8, 17, 33]
NUMBERS = ["int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"]
PROFILE = settings.default
FEW = settings(max_examples=8 if PROFILE is None or PROFILE.max_examples < 100 else 300)  # each compiles
KINDS = ["float64", "float32", "int64", "bool", "uint8"]
ARRAY = "an array of numbers"
RNG = np.random.default_rng(4)


@pytest.fixture(autouse=True)
def native() -> Iterator[None]:
    with s.use("native"):
        yield


class Case(NamedTuple):
    """An array, an index of it in which `ARRAY` stands for each of the numbers, and those."""

    x: Any
    at: tuple[Any, ...]
    numbers: tuple[Any, ...]

    def filled(self, numbers: Any) -> Any:
        rest = iter(numbers)
        return tuple([next(rest) if one is ARRAY else one for one in self.at])


@st.composite
def cases(draw: Any, kinds: Any = tuple(KINDS)) -> Case:
    """All that an index may be made of, with at least one array in it, whose numbers repeat and count from the end."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    rank = draw(st.sampled_from([2, 1, 3, 4]))
    shape = tuple(draw(st.lists(st.sampled_from(SIZES[: 6 if rank < 3 else 3]), min_size=rank, max_size=rank)))
    together = draw(st.sampled_from([(9,), (), (1,), (20,), (3, 2), (1, 5), (2, 1)]))
    many = draw(st.integers(1, rank))
    which = set(rng.permutation(many)[: draw(st.integers(1, many))].tolist())
    plain: list[Any] = [slice(None), 0, slice(None, None, -1), -1, slice(1, None), slice(None, None, 2)]
    entries: list[Any] = [ARRAY if k in which else draw(st.sampled_from(plain)) for k in range(many)]
    axes = list(range(many))
    if draw(st.booleans()):  # the axes after the ellipsis are counted from the end
        at = draw(st.integers(0, many))
        entries.insert(at, Ellipsis)
        axes = [k if k < at else k + rank - many for k in axes]
    pairs = zip([one for one in entries if one is not Ellipsis], axes, strict=True)
    sizes = [shape[axis] for one, axis in pairs if one is ARRAY]
    for _ in range(draw(st.sampled_from([0, 0, 1, 2]))):
        entries.insert(draw(st.integers(0, len(entries))), None)
    numbers = []
    for size in sizes:
        mine = together[draw(st.integers(0, len(together))) :]
        mine = tuple([1 if rng.random() < 0.2 else n for n in mine])
        kind = np.dtype(draw(st.sampled_from(NUMBERS)))
        numbers.append(np.array(rng.integers(0 if kind.kind == "u" else -size, size, mine), kind))
    x = np.array(rng.normal(size=shape) * 100).astype(draw(st.sampled_from(kinds)))
    if draw(st.booleans()):
        x = x.T.copy().T  # its memory in another order
    return Case(x, tuple(entries), tuple(numbers))


def same(got: Any, want: Any) -> None:
    assert (np.shape(got), np.asarray(got).dtype) == (np.shape(want), np.asarray(want).dtype)
    np.testing.assert_array_equal(got, want)


def net(function: Callable[..., Any], count: int, returns: Any = np.ndarray) -> Any:
    """A layer of so many arrays."""
    names = ", ".join("abcdef"[:count])
    wrapped = eval(f"lambda {names}: function({names})", {"function": function})
    return symbolic(wrapped, *[np.ndarray] * count, returns=returns)


def is_native(layer: Any, *arrays: Any) -> bool:
    return "NumPy:" not in layer.explain(*arrays)


# --------------------------------------------------------------------------- laws


@FEW
@given(cases())
def test_reading(case: Case) -> None:
    """By numbers that come in, and by numbers that are known."""
    want = case.x[case.filled(case.numbers)]
    arriving = net(lambda x, *numbers: x[case.filled(numbers)], 1 + len(case.numbers))
    known = net(lambda x: x[case.filled(case.numbers)], 1)
    for _ in range(2):  # the first call, and the usual one
        same(arriving.predict(case.x, *case.numbers), want)
        same(known.predict(case.x), want)
    if want.size and case.x.size:
        assert is_native(arriving, case.x, *case.numbers)
        assert is_native(known, case.x)


@FEW
@given(cases(("float64", "float32")), st.integers(0, 2**16), st.booleans())
def test_writing(case: Case, seed: int, spread: bool) -> None:
    """Of entries that are named twice the last writer stays; what is added adds up."""
    rng = np.random.default_rng(seed)
    index = case.filled(case.numbers)
    value = rng.normal(size=() if spread else case.x[index].shape).astype(case.x.dtype)

    def written(x: Any, value: Any, *numbers: Any) -> Any:
        y = x.copy()
        y[case.filled(numbers)] = value
        return y

    def added(x: Any, value: Any, *numbers: Any) -> Any:
        y = x.copy()
        np.add.at(y, case.filled(numbers), value)
        return y

    for function in (written, added):
        layer = net(function, 2 + len(case.numbers))
        want = function(case.x, value, *case.numbers)
        for _ in range(2):
            got = layer.predict(case.x, value, *case.numbers)
            assert (got.shape, got.dtype) == (want.shape, want.dtype)
            if function is written:
                np.testing.assert_array_equal(got, want)
            else:
                close = 64 * float(np.finfo(want.dtype).eps)
                np.testing.assert_allclose(got, want, rtol=close, atol=close * (1 + np.abs(case.x).max(initial=0)))
        if case.x[index].size and case.x.size:
            assert is_native(layer, case.x, value, *case.numbers)


@FEW
@given(cases(("float64",)), st.integers(0, 2**16))
def test_gradients(case: Case, seed: int) -> None:
    """Of reading: added where it was read. Of writing: nothing to what is written over."""
    index = case.filled(case.numbers)
    region = case.x[index].shape
    by, value = np.random.default_rng(seed).normal(size=region), np.random.default_rng(seed + 1).normal(size=region)

    def read(x: Any, *numbers: Any) -> Any:
        return np.sum(x[case.filled(numbers)] * by)

    def kept(x: Any, value: Any, *numbers: Any) -> Any:
        y = x.copy()
        y[case.filled(numbers)] = value
        return np.sum(y * y)

    for _ in range(2):
        _, got = value_and_grad(net(read, 1 + len(case.numbers), float))(case.x, *case.numbers)
        want = np.zeros(case.x.shape)
        np.add.at(want, index, by)
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    with s.use("numpy"):
        want = value_and_grad(net(kept, 2 + len(case.numbers), float), (0, 1))(case.x, value, *case.numbers)
    got = value_and_grad(net(kept, 2 + len(case.numbers), float), (0, 1))(case.x, value, *case.numbers)
    for one, other in zip(got[1], want[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@FEW
@given(st.data())
def test_along_an_axis(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    rank = data.draw(st.sampled_from([2, 1, 3]))
    shape = data.draw(st.lists(st.sampled_from(SIZES), min_size=rank, max_size=rank))
    axis = data.draw(st.integers(-rank, rank - 1))
    x = rng.normal(size=shape).astype(data.draw(st.sampled_from(["float64", "float32"])))
    shape = [data.draw(st.sampled_from([n, 1])) for n in shape]
    size, shape[axis] = x.shape[axis], data.draw(st.sampled_from([1, 4, 20]))
    numbers = rng.integers(-size, size, shape).astype(data.draw(st.sampled_from(NUMBERS[:4])))
    if rng.random() < 0.3:  # the array is stretched, too
        x = x[tuple([slice(None) if k == axis % rank else slice(0, 1) for k in range(rank)])]

    def taken(x: Any, numbers: Any) -> Any:
        return np.take_along_axis(x, numbers, axis=axis)

    layer = net(taken, 2)
    want = attempt(taken, (x, numbers))
    if isinstance(want, Exception):  # NumPy wants the numbers' shape
        return
    same(layer.predict(x, numbers), want)
    assert is_native(layer, x, numbers)
    by = rng.normal(size=want.shape).astype(x.dtype)
    both = value_and_grad(symbolic(lambda x, n: np.sum(taken(x, n) * by), np.ndarray, np.ndarray, returns=float))
    _, got = both(x, numbers)
    total = np.zeros(x.shape)
    grid = list(np.indices(by.shape, sparse=True))
    grid = [np.zeros_like(one) if n == 1 else one for one, n in zip(grid, x.shape, strict=True)]
    grid[axis] = numbers
    np.add.at(total, tuple(grid), by)
    np.testing.assert_allclose(got, total, rtol=1e-4 if x.dtype == np.float32 else 1e-12, atol=1e-5)


@FEW
@given(cases(("float64",)), st.data())
def test_out_of_bounds(case: Case, data: st.DataObject) -> None:
    """The very error of NumPy's machine, whatever is done with what would have been read."""
    which = data.draw(st.integers(0, len(case.numbers) - 1))
    numbers = list(case.numbers)
    wrong = numbers[which] = numbers[which].astype(np.int64)
    if wrong.size == 0:
        return
    wrong.reshape(-1)[data.draw(st.integers(0, wrong.size - 1))] = data.draw(
        st.sampled_from([33, 34, -34, -35, 2**31, -(2**63), 2**63 - 1, 2**40])
    )

    def read(x: Any, *numbers: Any) -> Any:
        return np.exp(x[case.filled(numbers)] / 1000)

    def unread(x: Any, *numbers: Any) -> Any:
        return x + np.zeros_like(x[case.filled(numbers)]).size

    def written(x: Any, *numbers: Any) -> Any:
        y = x.copy()
        y[case.filled(numbers)] = 1.0
        return y

    def added(x: Any, *numbers: Any) -> Any:
        y = x.copy()
        np.add.at(y, case.filled(numbers), 1.0)
        return y

    def total(x: Any, *numbers: Any) -> Any:
        return np.sum(x[case.filled(numbers)] ** 2)

    for function in (read, unread, written, added, total):
        layer = net(function, 1 + len(numbers), float if function is total else np.ndarray)
        layer = value_and_grad(layer) if function is total else layer
        call = layer if function is total else layer.predict
        good = attempt(call, (case.x, *case.numbers))  # so that there is code for it
        if isinstance(good, Exception):
            continue
        found = []
        for machine in ("native", "numpy"):
            with s.use(machine):
                found.append(attempt(call, (case.x, *numbers)))
        ours, theirs = found
        if isinstance(theirs, Exception):
            assert type(ours) is type(theirs)
            assert str(ours) == str(theirs)
        else:
            same(*[np.asarray(one[0] if function is total else one) for one in found])


# --------------------------------------------------------------------------- what is known, masks, steps


def test_numbers_that_are_known_and_out_of_bounds() -> None:
    """Where the shape is only known at the call NumPy's error comes there, and memory is left alone."""
    for index in (np.array([0, 3]), np.array([-4]), np.array(3)):
        layer = net(lambda x, index=index: x[index] * 2, 1)
        for machine in ("native", "numpy"):
            with s.use(machine), pytest.raises(IndexError, match="out of bounds"):
                layer.predict(np.ones(3))
    np.testing.assert_array_equal(net(lambda x: x[np.array(2)] * 2, 1).predict(np.arange(3.0)), 4.0)


def test_integers_of_pythons_own() -> None:
    layer = symbolic(lambda x, k: x[k] * 2, np.ndarray, int, returns=np.ndarray)
    x = np.arange(12.0).reshape(4, 3)
    for k in (0, 3, -1, -4):
        np.testing.assert_array_equal(layer.predict(x, k), x[k] * 2)
    assert is_native(layer, x, 0)
    for k in (4, -5, 2**63, -(2**70)):
        found = []
        for machine in ("native", "numpy"):
            with s.use(machine):
                found.append(attempt(layer.predict, (x, k)))
        ours, theirs = found
        assert isinstance(theirs, Exception)
        assert (type(ours), str(ours)) == (type(theirs), str(theirs))


def test_masks() -> None:
    """Those that are known are numbers; where a mask is computed one number may be written."""
    x = RNG.normal(size=(5, 4))
    known = x > 0
    layer = net(lambda x: x[known] * 2, 1)
    same(layer.predict(x), x[known] * 2)
    assert is_native(layer, x)
    columns = known.any(axis=1)

    def clipped(x: Any, mask: Any) -> Any:
        y = x.copy()
        y[x < 0.1] = 0.5
        y[mask] = -1.0
        return y

    layer = net(clipped, 2)
    want = np.where(x < 0.1, 0.5, x)
    want[columns] = -1.0
    same(layer.predict(x, columns), want)
    assert is_native(layer, x, columns)


def test_assignments_keep_the_order() -> None:
    """Whatever axis the loops walk innermost, the last writer stays."""
    x, one, other = RNG.normal(size=4), RNG.normal(size=(7, 30)), RNG.normal(size=(7, 30))
    numbers = RNG.integers(-4, 4, (30, 7))

    def written(x: Any, one: Any, other: Any, numbers: Any) -> Any:
        y = x.copy()
        y[numbers] = one.T - other.T + one.T * 2  # which lies along the other axis
        return y

    same(net(written, 4).predict(x, one, other, numbers), written(x, one, other, numbers))


@pytest.mark.parametrize("kind", ["int64", "uint8", "int16", "float32"])
def test_counting(kind: str) -> None:
    """Whole numbers are added up, too, and wrap around as NumPy's do."""

    def counted(total: Any, numbers: Any, by: Any) -> Any:
        total = total.copy()
        np.add.at(total, numbers, by)
        return total

    numbers, by = RNG.integers(-7, 7, (30, 20)), RNG.integers(0, 3, (30, 20)).astype(kind)
    total = np.ones(7, kind)
    layer = net(counted, 3)
    same(layer.predict(total, numbers, by), counted(total, numbers, by))
    assert is_native(layer, total, numbers, by)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("by", [1, 2, 7, 100])
def test_remainders_of_whole_numbers(kind: str, by: int) -> None:
    info = np.iinfo(kind)
    x = np.concatenate([RNG.integers(info.min, info.max, 30, dtype=kind), np.array([info.min, info.max, 0], kind)])
    functions: list[Callable[[Any], Any]] = [lambda x: x % by, lambda x: x // by]
    for function in functions:
        layer = net(function, 1)
        same(layer.predict(x), function(x))
        assert is_native(layer, x)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_copies(axis: int | None) -> None:
    x = RNG.normal(size=(4, 3))
    by = RNG.normal(size=(24, 3) if axis == 0 else (4, 18) if axis == 1 else 72)
    counts: list[Any] = [6, {None: [6] * 11 + [6], 0: [9, 0, 1, 14], 1: [1, 12, 5]}[axis]]
    for count in counts:
        layer = net(lambda x, count=count: np.repeat(x, count, axis=axis), 1)
        same(layer.predict(x), np.repeat(x, count, axis=axis))
        assert is_native(layer, x)
        both = value_and_grad(net(lambda x, count=count: np.sum(np.repeat(x, count, axis=axis) * by), 1, float))
        places = np.repeat(np.arange(x.size).reshape(x.shape), count, axis=axis)
        want = np.zeros(x.size)
        np.add.at(want, places, by)
        np.testing.assert_allclose(both(x)[1], want.reshape(x.shape), rtol=1e-12)


def test_layers_in_a_tuple_that_a_function_reads() -> None:
    """Steps are one call, and another tuple in its place is seen."""

    def make(weights: Any) -> tuple[Any, Callable[[Any], None]]:
        def loss(x: Any) -> Any:
            return np.sum((x @ weights[0] + weights[1][0]) ** 2)

        def exchange(other: Any) -> None:
            nonlocal weights
            weights = other

        return net(loss, 1, float), exchange

    first, second = Weight(np.ones((3, 2))), Weight(np.ones((3, 2)))
    bias = (Weight(np.zeros(2)), "a name")
    layer, exchange = make((first, bias))
    step, x = layer.trainer(SGD(0.01)), RNG.normal(size=(4, 3))
    for _ in range(5):
        step(x)
    assert step.steps is not None
    assert step.steps.held
    before = first.value.copy()
    exchange((second, bias))
    step(x)
    np.testing.assert_array_equal(first.value, before)
    assert not np.array_equal(second.value, np.ones((3, 2)))


def test_layers_in_a_list_that_a_function_reads() -> None:
    """The same of a list, in which an entry may be exchanged, and which may grow or shrink."""
    weights: list[Any] = [Weight(np.ones((3, 2))), Weight(np.zeros(2))]

    def loss(x: Any) -> Any:
        for weight in weights[::2]:
            x = x @ weight
        return np.sum((x + weights[1]) ** 2)

    step, x = net(loss, 1, float).trainer(SGD(0.01)), RNG.normal(size=(4, 3))
    changes: list[Callable[[], Any]] = [
        lambda: weights.__setitem__(0, Weight(np.full((3, 2), 2.0))),
        lambda: weights.append(Weight(np.ones((2, 2)))),
        lambda: weights.extend(["nothing", Weight(np.eye(2)), "nothing", Weight(np.eye(2) / 2)]),
        lambda: weights.__delitem__(slice(5, None)),
    ]
    for change in changes:
        for _ in range(5):
            step(x)
        assert step.steps is not None
        assert step.steps.held
        change()
        before, want = weights[-1].value.copy(), x
        for weight in weights[::2]:
            want = want @ weight.value
        want = np.sum((want + weights[1].value) ** 2)
        np.testing.assert_allclose(step(x), want, rtol=1e-12)
        assert not np.array_equal(weights[-1].value, before)


def classifier(dtype: Any) -> tuple[Any, list[Weight]]:
    """Words are looked up, averaged, and classified; the labels pick the shares."""
    rng = np.random.default_rng(1)
    table, w = Weight(rng.normal(size=(50, 8)).astype(dtype)), Weight(rng.normal(size=(8, 4)).astype(dtype))

    def loss(words: Any, labels: Any) -> Any:
        shares = log_softmax(np.mean(table[words], axis=1) @ w)
        return -np.mean(np.take_along_axis(shares, labels[:, np.newaxis], axis=1))

    return net(loss, 2, float), [table, w]


def steps(machine: Any, make: Callable[[], Any], dtype: Any, calls: Any) -> tuple[list[Any], Any]:
    """What each call gives or raises, and the weights and states after it."""
    with s.use(machine):
        layer, weights = classifier(dtype)
        optimizer = make()
        step = layer.trainer(optimizer)
        found: list[Any] = []
        for words, labels in calls:
            found.append(attempt(step, (words, labels)))
        held = step.steps is not None and bool(step.steps.held)
        found += [weight.value for weight in weights]
        found += [one for weight in weights for one in optimizer.state_of(weight)]
    return found, held


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [lambda: SGD(0.1), lambda: Adam(0.01)])
def test_steps_are_one_call_and_go_on_after_an_error(make: Callable[[], Any], dtype: Any) -> None:
    """An index out of bounds moves no weight, no state and no count, whichever way the step goes."""
    rng = np.random.default_rng(2)
    calls = [(rng.integers(-50, 50, (6, 5)), rng.integers(0, 4, 6)) for _ in range(12)]
    wrong = [(calls[0][0] + 100, calls[0][1]), (calls[0][0], calls[0][1] + 4)]
    mixed = [*calls[:6], wrong[0], *calls[6:10], wrong[1], wrong[0], *calls[10:]]
    clean, held = steps("native", make, dtype, calls)
    assert held
    found, _ = steps("native", make, dtype, mixed)
    errors = [one for one in found if isinstance(one, Exception)]
    assert len(errors) == 3
    theirs = [one for one in steps("numpy", make, dtype, mixed)[0] if isinstance(one, Exception)]
    assert [(type(one), str(one)) for one in errors] == [(type(one), str(one)) for one in theirs]
    kept = [one for one in found if not isinstance(one, Exception)]
    for one, other in zip(kept, clean, strict=True):
        np.testing.assert_array_equal(one, other)
    close = 1e-4 if dtype == np.float32 else 1e-10
    for one, other in zip(clean, steps("numpy", make, dtype, calls)[0], strict=True):
        np.testing.assert_allclose(one, other, rtol=close, atol=close)


def test_steps_in_a_row_stop_at_the_error() -> None:
    layer, weights = classifier(np.float64)
    step = layer.trainer(SGD(0.1))
    words, labels = np.zeros((6, 5), int), np.zeros(6, int)
    for _ in range(4):
        step(words, labels)
    before = [weight.value.copy() for weight in weights]
    with pytest.raises(IndexError, match="out of bounds"):
        step.run(5, words + 50, labels)
    for weight, one in zip(weights, before, strict=True):
        np.testing.assert_array_equal(weight.value, one)


def test_predictions_that_are_one_call() -> None:
    """An error goes through, and the next call is as good as the one before."""
    table = Weight(RNG.normal(size=(9, 4)))
    layer = net(lambda n: np.exp(table[n]), 1)
    numbers = RNG.integers(-9, 9, 5)
    want = np.exp(table.value[numbers])
    for _ in range(6):
        np.testing.assert_allclose(layer.predict(numbers), want, rtol=1e-14)
    for wrong in (numbers + 9, numbers - 18):
        with pytest.raises(IndexError, match="out of bounds"):
            layer.predict(wrong)
        np.testing.assert_allclose(layer.predict(numbers), want, rtol=1e-14)


def test_numbers_that_are_known_lie_beside_kept_code() -> None:
    """Another layer of the same words runs the code of the first, and one of other numbers does not."""
    x = RNG.normal(size=(6, 3))
    for numbers in (np.array([5, -1, 0]), np.array([5, -1, 0]), np.array([0, 1, 2])):
        for _ in range(2):
            same(net(lambda x, numbers=numbers: x[numbers] + 1, 1).predict(x), x[numbers] + 1)


def test_what_is_shown_is_shown_once() -> None:
    """A program with a callback raises as NumPy's does: what came before was seen, and only once."""
    seen: list[Any] = []
    shown = net(lambda x: x * 2, 1).on_output(seen.append)
    layer = net(lambda x, n: shown(x)[n], 2)
    for n, fails in ((np.array([0]), False), (np.array([7]), True), (np.array([1]), False)):
        seen.clear()
        assert isinstance(attempt(layer.predict, (np.ones(3), n)), IndexError) == fails
        assert len(seen) == 1


# --------------------------------------------------------------------------- one assignment after another
def in_two_rows(x: Any, i: Any) -> Any:
    u = x * 1.0
    u[0, i] = 5.0
    u[-1, i] = 6.0
    return u


def rows_then_entries(x: Any, i: Any) -> Any:
    u = x * 1.0
    u[i] = -0.5
    u[i, i] = x[i, 0]
    return u


def rows_then_rows(x: Any, i: Any) -> Any:
    u = x * 1.0
    u[i] = -0.5
    u[i, 1] = 7.0
    u[i] = u[i] * 2.0
    return u


@pytest.mark.parametrize("function", [in_two_rows, rows_then_entries, rows_then_rows], ids=lambda one: one.__name__)
@pytest.mark.parametrize("rows", [1, 2, 4])
def test_one_assignment_after_another(function: Any, rows: int) -> None:
    x, i = np.arange(16.0 * rows).reshape(rows, 16), np.array([0, 0, rows - 1])
    make: Any = symbolic
    layer = make(function, np.ndarray, np.ndarray, returns=np.ndarray)
    np.testing.assert_array_equal(layer.predict(x, i), function(x, i))


def _every_other_row(w: Any, _: Any) -> None:
    w[::2] = 0.25


def _every_other_column(w: Any, _: Any) -> None:
    w[:, 1::2] = w[:, :1]


def _rows_by_numbers(w: Any, i: Any) -> None:
    w[i] = -0.5


def _added_by_numbers(w: Any, i: Any) -> None:
    np.add.at(w, i, 0.5)


def _entries_by_numbers(w: Any, i: Any) -> None:
    w[i, i] *= 3.0


def _a_middle(w: Any, _: Any) -> None:
    w[1:3] += 2.0


def _twice(w: Any, i: Any) -> None:
    w[::2] = 0.25
    w[i] = w[i] * 2.0 - 0.5


@pytest.mark.parametrize("known", [True, False], ids=["known numbers", "arriving numbers"])
@pytest.mark.parametrize("read", [np.sin, lambda w: np.sum(w * 1.0, axis=0), np.sum, lambda w: w.T @ w])
@pytest.mark.parametrize("times", [1.0, None], ids=["of a product", "itself"])
@pytest.mark.parametrize(
    "write",
    [
        *(_every_other_row, _every_other_column, _rows_by_numbers, _added_by_numbers),
        *(_entries_by_numbers, _a_middle, _twice),
    ],
    ids=lambda one: one.__name__.strip("_"),
)
def test_rows_that_numbers_name_are_written_into(write: Any, times: Any, read: Any, known: bool) -> None:
    """A copy that is written into is no longer what lies where it came from; and that stays as it was."""
    rows, places = np.array([0, -1, 2, -1, 0, 1]), np.array([0, 2])

    def written(x: Any, numbers: Any) -> Any:
        z = x[rows if known else numbers]
        w = z.copy() if times is None else z * times
        write(w, places)
        return read(w), read(z)

    def slope(x: Any, numbers: Any) -> Any:
        one, other = written(x, numbers)
        return np.sum(one * one) + 3.0 * np.sum(other * other)

    make: Any = symbolic
    x = RNG.normal(size=(3, 4))
    layer = make(written, np.ndarray, np.ndarray, returns=tuple[np.ndarray, np.ndarray])
    for got, want in zip(layer.predict(x, rows), written(x, rows), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)
    value, found = value_and_grad(slope)(x, rows)
    np.testing.assert_allclose(value, slope(x, rows), rtol=1e-12)
    with s.use("numpy"):
        np.testing.assert_allclose(found, value_and_grad(slope)(x, rows)[1], rtol=1e-12)


def test_additions_to_different_arrays_do_not_share_a_pass() -> None:
    def passed(x: Any, y: Any, i: Any, j: Any) -> Any:
        u, v = x * 1.0, y * 0.5
        v[0, j] = v[0, j] * u[0, j]
        z = u[i, 0]
        u[1:] = 1.25
        u[i, 0] = z
        u = np.where(u > -0.5, v, u)
        v[0, j] = u[0, j]
        return np.sum(u + v * v)

    x, y = np.array([[0.12573022, -0.13210486]], np.float32), np.array([[0.64042264, 0.10490011]], np.float32)
    call = value_and_grad(passed, (0, 1))
    numbers = np.array([0, 0]), np.array([0, 1])
    _, found = call(x, y, *numbers)
    with s.use("numpy"):
        _, wanted = call(x, y, *numbers)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
