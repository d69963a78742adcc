"""Do assignments mean what NumPy means, in whatever order entries, slices, views and arrays are written and read?"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symbolic import (
    SetEntries,
    ShapeError,
    TraceError,
    grad,
    hessian,
    jacobian,
    jvp,
    symbolic,
    value_and_grad,
    vjp,
    vmap,
)

X = np.array([0.7, -1.3, 0.4])


def wander(x: Any, seed: int, start: Callable[[Any], Any]) -> Any:
    """A walk of writes and reads, drawn by a seed: of an array, of a view of it, and of a second name for it."""
    rng = np.random.default_rng(seed)
    y = start(x)
    row, other, total = y[1], y, x[0] * 0.0
    for _ in range(rng.integers(4, 16)):
        i, j, k = (int(one) for one in rng.integers(0, 3, 3))
        match int(rng.integers(0, 14)):
            case 0 | 1 | 2:
                y[i, j] = x[k] * (k + 1)
            case 3:
                y[i, j] += x[k] ** 2
            case 4:
                other[i, j] = 0.5 * y[j, i]
            case 5:
                row[k] = x[i] * x[j]
            case 6:
                total = total + y[i, j] * row[k]
            case 7:
                y[i] = x
            case 8:
                y[:, j] *= 0.5
            case 9:
                total = total + np.sum(other[:, k] * (i + 1))
            case 10:
                y += 0.1
            case 11:
                y[-1, -j - 1] = x[k]
            case 12:
                y[i][j] = x[k] - y[j, i]
            case 13:
                z = y.copy()
                z[i, j] = 2.0 * z[j, k]
                total = total + z[i, j] * np.sum(z)
    return total + np.sum(y * np.arange(9.0).reshape(3, 3)) + np.sum(row**2) + other[2, 1]


STARTS: list[Callable[[Any], Any]] = [
    lambda x: np.zeros((3, 3)),
    lambda x: np.outer(x, x),
    lambda x: np.array([x, x * 2.0, [1.0, 2.0, 3.0]]),
]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("seed", range(60))
def test_a_walk_of_writes_and_reads(seed: int, start: Callable[[Any], Any]) -> None:
    def walk(x: Any) -> Any:
        return wander(x, seed, start)

    value, delta = value_and_grad(walk)(X)
    np.testing.assert_allclose(value, walk(X), rtol=1e-12)
    numeric = [(walk(X + 1e-6 * unit) - walk(X - 1e-6 * unit)) / 2e-6 for unit in np.eye(3)]
    np.testing.assert_allclose(delta, numeric, rtol=1e-5, atol=1e-7)


def recursion(x: Any, count: int = 6) -> Any:
    y = np.zeros(count)
    y[0] = x[0]
    for n in range(1, count):
        y[n] = np.sin(y[n - 1]) * x[1] + x[2] * y[n - 2]
    return np.sum(y**2)


def test_a_recursion_is_one_write() -> None:
    """Entries are read before they are written: the loop is one chain of numbers, and one operation makes the array."""
    step: Any = value_and_grad(recursion)
    step(X)
    program = str(step.paths.traces[-1].output)
    assert program.count("SetEntries") == 1
    assert "SetItem" not in program


def test_derivatives_of_derivatives() -> None:
    _, pullback = vjp(grad(recursion), X)
    H = np.array([pullback(row)[0] for row in np.eye(3)])
    gradient = grad(recursion)
    numeric = [(gradient(X + 1e-6 * unit) - gradient(X - 1e-6 * unit)) / 2e-6 for unit in np.eye(3)]
    np.testing.assert_allclose(H, numeric, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(H, H.T, rtol=1e-10)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex128])
def test_the_dtype_of_the_array_decides(kind: Any) -> None:
    def written(x: Any) -> Any:
        y = np.zeros(2, kind)
        y[0] = x[0] / 3.0
        return y[0], y

    value, array = symbolic(written, np.ndarray).predict(X)
    plain, plain_array = written(X)
    assert value.dtype == plain.dtype == kind
    assert value == plain
    assert array.dtype == kind
    np.testing.assert_array_equal(array, plain_array)


def test_counts_are_cut_off_as_numpy_does() -> None:
    def counted(x: Any) -> Any:
        places = np.zeros(2, int)
        places[0] = 2.7
        places[1] = 1
        return np.sum(x[places] ** 2)

    assert value_and_grad(counted)(X)[0] == counted(X)


def test_a_value_that_changes_later_was_written_as_it_was() -> None:
    def later(x: Any) -> Any:
        value, y = np.array(x[0]), np.zeros(2)
        y[0] = value
        before = y[0]
        value[()] = 100.0
        return before + 10.0 * y[0]

    value, delta = value_and_grad(later)(X)
    np.testing.assert_allclose(value, 11 * 0.7, rtol=1e-14)
    np.testing.assert_allclose(delta, [11.0, 0.0, 0.0])


def test_arrays_of_other_sizes_take_the_same_trace_only_where_it_fits() -> None:
    def last(x: Any) -> Any:
        y = x.copy()
        y[2] = 10.0 * x[0]
        return np.sum(y)

    step = value_and_grad(last)
    for count in (3, 5, 4, 3):
        x = np.arange(1.0, count + 1)
        value, delta = step(x)
        assert value == last(x)
        np.testing.assert_array_equal(delta, [11.0, 1.0, 0.0, 1.0, 1.0][:count])
    with pytest.raises(IndexError, match="out of bounds"):
        step(np.ones(2))


def test_what_does_not_fit_is_refused_at_its_line() -> None:
    def wrong(x: Any) -> Any:
        y = np.zeros(3)
        y[3] = x[0]
        return y[0]

    with pytest.raises(IndexError, match=r"out of bounds.*test_assignment\.py"):
        grad(wrong)(X)
    with pytest.raises(ShapeError, match="has no entry"):
        SetEntries(np.zeros(2), 1.0, places=((2,),)).predict(0.0)


def test_an_array_that_is_only_written_keeps_its_errors_inside_a_try() -> None:
    def tried(x: Any) -> Any:
        y = np.zeros(2)
        for k in range(4):
            try:
                y[k] = x[k % 3] ** 2
            except IndexError:
                y[0] += 1.0
        return y[0] + 10.0 * y[1]

    np.testing.assert_allclose(value_and_grad(tried)(X)[0], tried(X))


def in_other_shapes(x: Any) -> Any:
    y = np.zeros((2, 3))
    y[0, 1] = x[0]
    row = y.reshape(-1)
    row[::2] = x * 2.0
    y.ravel()[1] += x[1]
    row += 1.0
    y *= x
    return np.sum(row**2) + np.sum(y.reshape(3, 2)[1] * x[2])


def test_an_array_of_the_body_in_another_shape_is_a_view() -> None:
    value, delta = value_and_grad(in_other_shapes)(X)
    np.testing.assert_allclose(value, in_other_shapes(X), rtol=1e-13)
    numeric = [(in_other_shapes(X + 1e-6 * e) - in_other_shapes(X - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(delta, numeric, rtol=1e-6)


def test_where_its_memory_is_in_doubt_it_is_refused() -> None:
    def doubtful(x: Any) -> Any:
        y = np.zeros((2, 3)).T
        y.reshape(-1)[0] = x[0]
        return np.sum(y)

    with pytest.raises(TraceError, match="may be a view or a copy"):
        grad(doubtful)(X)


# --------------------------------------------------------------------------- entries for all slices of a map


def table(x: Any) -> Any:
    A = np.zeros((2, 2))
    A[0, 1] = x[0] * x[1]
    A[1, 0] = 3.0
    A[1, 1] = x[2]
    number = np.array(0.0)
    number[()] = x[0]
    return A @ A + number


def test_a_map_writes_all_slices_at_once() -> None:
    xs = np.random.default_rng(4).normal(size=(5, 3))
    both = np.stack([table(x) for x in xs])
    mapped = vmap(table)
    np.testing.assert_allclose(mapped(xs), both, rtol=1e-13)
    np.testing.assert_allclose(value_and_grad(lambda xs: np.sum(mapped(xs) ** 2))(xs)[0], np.sum(both**2), rtol=1e-12)
    delta = grad(lambda xs: np.sum(mapped(xs) ** 2))(xs)
    np.testing.assert_allclose(delta, [grad(lambda x: np.sum(table(x) ** 2))(x) for x in xs], rtol=1e-12)


def test_a_map_of_entries_into_an_array_of_all_slices() -> None:
    def inner(x: Any, y: Any) -> Any:
        z = y * 1.0
        z[1], z[0] = x[0], 2
        return z * x[1]

    xs, y = np.arange(8.0).reshape(4, 2), np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(vmap(inner, in_axes=(0, None))(xs, y), [inner(x, y) for x in xs], rtol=1e-14)
    np.testing.assert_allclose(vmap(inner, in_axes=(None, 0))(y[:2], xs), [inner(y[:2], x) for x in xs], rtol=1e-14)


def test_the_way_tangents_go() -> None:
    way = np.array([0.3, 0.5, -0.2])
    for f in (recursion, table):
        value, tangent = jvp(f, (X,), (way,))
        np.testing.assert_allclose(value, f(X), rtol=1e-13)
        numeric = (f(X + 1e-6 * way) - f(X - 1e-6 * way)) / 2e-6
        np.testing.assert_allclose(tangent, numeric, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(hessian(recursion)(X), jacobian(grad(recursion))(X), rtol=1e-12)


# --------------------------------------------------------------------------- arrays without axes


def written_later(x: Any) -> Any:
    y = np.zeros(3)
    v = y[0, ...]
    y[0] = x[0]
    y[1] = v
    y[0] = x[2]
    return y[1] * 10 + y[0] * v


def in_turn(x: Any) -> Any:
    y = np.zeros(3)
    y[0] = x[0]
    v = y[0, ...]
    y[0] = x[1]
    y[1] = v
    y[0] = 8.0
    y[2] = v
    return y @ np.arange(1.0, 4)


def changed_in_place(x: Any) -> Any:
    y = x * 2.0
    v, u = y[1, ...], y[2:][0, ...]
    v += 1.0
    w = v[...]
    w *= 3.0
    u -= x[0]
    y[0] = v * u
    return np.sum(y**2) + v + w * u


def a_number_stays(x: Any) -> Any:
    y = x * 2.0
    v, w = y[1], y[2]
    w += 1.0
    y[1] = 5.0
    return np.sum(y**2) + v * w


@pytest.mark.parametrize("f", [written_later, in_turn, changed_in_place, a_number_stays])
def test_an_entry_taken_as_an_array_is_a_view(f: Callable[[Any], Any]) -> None:
    value, delta = value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-13)
    numeric = [(f(X + 1e-6 * unit) - f(X - 1e-6 * unit)) / 2e-6 for unit in np.eye(3)]
    np.testing.assert_allclose(delta, numeric, rtol=1e-6, atol=1e-7)
