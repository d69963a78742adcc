"""Are small equations solved natively as NumPy solves them, with one factorisation for each matrix? And what raises?

The oracles are NumPy's functions, SciPy's factors, and differences of values.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compiling import PROCESSORS, compiled, processor
from hypothesis import given, settings
from hypothesis import strategies as st

import symbolic as s
from symbolic import SGD, LayerError, Weight, symbolic, value_and_grad
from symbolic.backends.native.access import in_order, whole
from symbolic.backends.native.factors import Triangles
from symbolic.backends.native.lowering import Small
from symbolic.backends.native.making import Making
from symbolic.backends.native.records import entries, order, pitch, sign
from symbolic.backends.native.text import Module

pytest.importorskip("llvmlite")

OPERATIONS: dict[str, Callable[..., Any]] = {
    "solve": lambda a, b: np.linalg.solve(a, b),
    "solve a vector": lambda a, b: np.linalg.solve(a, np.ravel(b)[: a.shape[-1]]),
    "solve transposed": lambda a, b: np.linalg.solve(np.swapaxes(a, -1, -2), b) + np.linalg.solve(a, b),
    "solve another layout": lambda a, b: np.linalg.solve(a, np.swapaxes(np.swapaxes(b, -1, -2) * 1.0, -1, -2)),
    "inv": lambda a, b: np.linalg.inv(a),
    "inv and its transpose": lambda a, b: np.linalg.inv(a) + 2 * np.linalg.inv(np.swapaxes(a, -1, -2)),
    "det": lambda a, b: np.linalg.det(a),
    "slogdet": lambda a, b: np.linalg.slogdet(a)[1] + 3 * np.linalg.slogdet(a)[0],
    "cholesky": lambda a, b: np.linalg.cholesky(gram(a)),
    "cholesky, upper": lambda a, b: np.linalg.cholesky(gram(a), upper=True),
    "solve by a root": lambda a, b: np.linalg.solve(np.linalg.cholesky(gram(a)), b),
    "solve by a root transposed": lambda a, b: np.linalg.solve(np.swapaxes(np.linalg.cholesky(gram(a)), -1, -2), b),
}
"""Functions of matrices and right sides."""


def gram(a: Any) -> Any:
    return np.matmul(a, np.swapaxes(a, -1, -2)) + np.eye(a.shape[-1], dtype=a.dtype)


def outside(program: Making) -> list[str]:
    return [line for line in program.explain().splitlines() if line.startswith("NumPy: ")]


def factored(program: Making) -> int:
    made = [one.how for one in program.schedule.stages if isinstance(one, Small) and one.flagged]
    return len([how for how in made if how in ("triangles", "root") or "triangle" in how])


def drawn(seed: int, n: int, columns: int, stack: tuple[int, ...], dtype: Any) -> tuple[Any, Any]:
    """Matrices, not all of them well conditioned, and right sides."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-2, 2, (*stack, n, 1))
    return (scale * rng.normal(size=(*stack, n, n))).astype(dtype), rng.normal(size=(*stack, n, columns)).astype(dtype)


SIZES = st.sampled_from([1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33])
STACKS = st.sampled_from([(), (1,), (3,), (2, 3)])
COLUMNS = st.sampled_from([1, 2, 3, 4, 5, 8, 11, 16, 31, 32, 33, 70])


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 999), SIZES, COLUMNS, STACKS, st.sampled_from(["f8", "f4"]))
def test_results_are_numpys_to_rounding(
    name: str, seed: int, n: int, columns: int, stack: tuple[int, ...], dtype: str
) -> None:
    a, b = drawn(seed, n, columns, stack, dtype)
    net = symbolic(OPERATIONS[name], np.ndarray, np.ndarray, returns=np.ndarray)
    with s.use("native"):
        got = net.predict(a, b)
    want = OPERATIONS[name](a, b)
    matrices = gram(a) if "cholesky" in name or "root" in name else a
    worst = float(np.max(np.linalg.cond(matrices.astype("f8"))))
    assert np.shape(got) == np.shape(want)
    assert np.asarray(got).dtype == np.asarray(want).dtype
    close = 20 * n * float(np.finfo(dtype).eps) * worst
    if close < 0.1:  # else no digit is sure
        np.testing.assert_allclose(got, want, rtol=close, atol=close * float(np.max(np.abs(want), initial=0.0)))


@pytest.mark.parametrize("name", OPERATIONS)
def test_gradients_are_quotients_of_differences(name: str) -> None:
    """In float64, for the sizes in registers and in loops."""
    for n in (2, 6):
        a, b = drawn(n, n, 3, (2,), "f8")
        a = a / np.max(np.abs(a), axis=-1, keepdims=True) + 2 * np.eye(n)
        weights = np.random.default_rng(1).normal(size=np.shape(OPERATIONS[name](a, b)))

        def f(a: Any, b: Any, weights: Any = weights) -> Any:
            return np.sum(OPERATIONS[name](a, b) * weights)

        way = np.random.default_rng(2).normal(size=a.shape)
        with s.use("native"):
            _, gradient = value_and_grad(f)(a, b)
        step = 1e-6
        want = (f(a + step * way, b) - f(a - step * way, b)) / (2 * step)
        np.testing.assert_allclose(np.sum(gradient * way), want, rtol=1e-6, atol=1e-7)


ODD: dict[str, Any] = {
    "no inverse": np.array([[1.0, 2.0], [2.0, 4.0]]),
    "nothing": np.zeros((6, 6)),
    "NaN": np.array([[1.0, np.nan], [0.0, 1.0]]),
    "NaN above": np.where(np.arange(25).reshape(5, 5) == 4, np.nan, np.eye(5)),
    "NaN first": np.where(np.arange(36).reshape(6, 6) == 0, np.nan, np.eye(6)),
    "infinity": np.array([[np.inf, 1.0], [1.0, 2.0]]),
    "infinity above": np.where(np.arange(25).reshape(5, 5) == 4, np.inf, np.eye(5)),
    "negative": -np.eye(3),
    "as small as can be": np.eye(6) * 5e-324,
    "large": np.eye(6) * 1e300,
    "one of a stack": np.stack([np.eye(3), np.ones((3, 3)), 2 * np.eye(3)]),
    "equal pivots": np.array([[1.0, 2.0, 0.0], [-1.0, 1.0, 1.0], [1.0, 0.0, 3.0]]),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ["solve", "inv", "det", "slogdet", "cholesky"])
def test_what_numpy_raises_or_gives_for_odd_matrices(name: str, odd: str) -> None:
    def f(a: Any) -> Any:
        if name == "slogdet":
            return np.sum(np.linalg.slogdet(a)[1] + np.linalg.slogdet(a)[0])
        return np.sum(OPERATIONS[name](a, np.ones((a.shape[-1], 1))) if name == "solve" else PLAIN[name](a))

    def found(machine: Any) -> list[Any]:
        answers: list[Any] = []
        with s.use(machine), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            both = value_and_grad(f)
            for _ in range(3):
                try:
                    value, gradient = both(ODD[odd])
                except LayerError as error:
                    answers.append((type(error).__mro__, str(error)))
                else:
                    answers.append((np.asarray(value), gradient))
        return answers

    for mine, theirs in zip(found("native"), found("numpy"), strict=True):
        if isinstance(theirs[1], str):
            assert mine == theirs
            assert isinstance(mine[1], str)
        else:
            np.testing.assert_allclose(mine[0], theirs[0], rtol=1e-13)
            np.testing.assert_allclose(mine[1], theirs[1], rtol=1e-13, atol=1e-300)


PLAIN: dict[str, Callable[..., Any]] = {"inv": np.linalg.inv, "det": np.linalg.det, "cholesky": np.linalg.cholesky}


def test_a_matrix_is_factored_once(programs: list[Making]) -> None:
    def f(a: Any, b: Any, c: Any) -> Any:
        x = np.linalg.solve(a, b)
        return np.sum(np.linalg.solve(a.T, x) * c) + np.linalg.slogdet(a)[1] + np.linalg.inv(a)[0, 0]

    a, b = drawn(0, 5, 2, (), "f8")
    value_and_grad(f, (0, 1))(a, b, b)
    assert [factored(one) for one in programs] == [1]
    assert outside(programs[0]) == []


def test_the_adjoint_of_a_root_needs_no_other_factors(programs: list[Making]) -> None:
    def f(a: Any) -> Any:
        root = np.linalg.cholesky(a)
        return np.sum(np.log(np.diagonal(root))) + np.sum(np.linalg.solve(root, a))

    value_and_grad(f)(gram(drawn(1, 6, 1, (), "f8")[0]))
    assert [factored(one) for one in programs] == [1]
    assert outside(programs[0]) == []


def test_a_long_loop_is_one_piece_of_code(programs: list[Making]) -> None:
    """Entries that are picked, matrices that are put together of numbers, diagonals and triangles, norms."""

    def f(x: Any, q: Any, times: int = 40) -> Any:
        total, cov = 0.0, np.diag(np.exp(q))
        for _ in range(times):
            turn = np.stack([np.stack([np.cos(x[0]), -np.sin(x[1])]), np.stack([np.sin(x[1]), np.cos(x[0])])])
            cov = turn @ cov @ turn.T + np.diag(np.exp(q))
            x = x + np.linalg.solve(cov, np.tril(turn) @ x) / np.linalg.norm(x)
            total = total + np.trace(cov) * 0.1 + np.linalg.slogdet(np.triu(cov) + np.eye(2))[1]
        return total

    x, q = np.array([0.3, 0.4]), np.array([0.1, -0.1])
    got = value_and_grad(f, (0, 1))(x, q)
    assert [bool(one.segment) for one in programs] == [True]
    assert outside(programs[0]) == []
    with s.use("numpy"):
        want = value_and_grad(f, (0, 1))(x, q)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-11)
    for mine, theirs in zip(got[1], want[1], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


def test_larger_matrices_are_lapacks(programs: list[Making]) -> None:
    def f(a: Any) -> Any:
        return np.sum(np.linalg.inv(a))

    value_and_grad(f)(np.eye(33) * 2)
    (line,) = [one for one in outside(programs[0]) if "Inv" in one]
    assert "33 rows" in line


def test_what_is_not_needed_raises_all_the_same() -> None:
    def f(a: Any) -> Any:
        return np.sum(a) + np.sum(np.linalg.inv(a) * 0.0)

    with s.use("native"), pytest.raises(LayerError, match="Singular"):
        value_and_grad(f)(np.ones((3, 3)))


def test_a_step_that_raises_moves_nothing() -> None:
    with s.use("native"):
        w, optimizer = Weight(np.eye(3)), SGD(0.01)

        def loss(x: Any) -> Any:
            return np.sum(np.linalg.solve(w + x, np.ones(3)) ** 2)

        net = symbolic(loss, np.ndarray, returns=float)
        step = net.trainer(optimizer)
        for _ in range(4):
            step(np.eye(3))
        before, count = w.value.copy(), optimizer.count
        with pytest.raises(LayerError, match="Singular"):
            step(-before)
        with pytest.raises(LayerError, match="Singular"):
            step.run(5, -before)
        assert optimizer.count == count
        np.testing.assert_array_equal(w.value, before)
        step(np.eye(3))
        assert optimizer.count == count + 1


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13, 32])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", PROCESSORS)
def test_pivots_are_lapacks_on_every_processor(name: str, dtype: str, n: int) -> None:
    """The rows in their order, both triangles, and the sign; of equal entries the first is the pivot."""
    sl = pytest.importorskip("scipy.linalg")
    host, stack = processor(name), (4,)
    rng = np.random.default_rng(n)
    a = rng.normal(size=(*stack, n, n))
    a[0] = rng.integers(-2, 3, (n, n)) + np.diag(np.full(n, 0.5))  # many equal entries
    a, record, flag = a.astype(dtype), np.zeros((*stack, entries(n)), dtype), np.zeros(1, np.int64)
    steps = tuple([entries(n) * one for one in in_order(stack)])
    task = Small(1, a.shape, "triangles", (whole(0, a.shape),), steps, np.dtype(dtype), flagged=True)
    module = host.module()
    inner = Triangles(module, task).write("inner")
    f = module.function("outer", ["ptr"] * 3)
    f.call(inner, *f.arguments)
    f.give()
    compiled(module, "outer", host, *[ctypes.c_void_p] * 3)(a.ctypes.data, record.ctypes.data, flag.ctypes.data)
    for matrix, one in zip(a, record, strict=True):
        factors, swaps = sl.lu_factor(matrix)
        rows, turn = np.arange(n), 1.0
        for k, p in enumerate(swaps):
            rows[[k, p]] = rows[[p, k]]
            turn *= (1.0 if k == p else -1.0) * np.sign(factors[k, k])
        assert one.view(f"i{one.itemsize}")[order(n) : order(n) + n].tolist() == rows.tolist()
        mine = one[: n * pitch(n)].reshape(n, pitch(n))[:, :n].T
        close = 50 * n * float(np.finfo(dtype).eps) * float(np.max(np.abs(factors)))
        np.testing.assert_allclose(mine, factors, rtol=0, atol=close)
        assert one[sign(n)] == turn
    assert flag[0] == 0


@pytest.mark.parametrize("n", [1, 3, 4, 5, 9, 32])
@pytest.mark.parametrize("trans", [0, 1])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit_diagonal", [False, True])
def test_triangles_are_scipys(n: int, trans: int, lower: bool, unit_diagonal: bool, programs: list[Making]) -> None:
    """Values and gradients; what is not read of the matrix is not read here either."""
    sl = pytest.importorskip("scipy.linalg")
    options = {"trans": trans, "lower": lower, "unit_diagonal": unit_diagonal, "check_finite": False}
    rng = np.random.default_rng(n)
    a, b = 2 * np.eye(n) + rng.normal(size=(n, n)) / n, rng.normal(size=(n, 3))

    def f(a: Any, b: Any) -> Any:
        return np.sum(np.sin(sl.solve_triangular(a, b, **options)))

    spoilt = np.where(np.tri(n, dtype=bool) if lower else np.tri(n, dtype=bool).T, a, np.nan)
    value, gradients = value_and_grad(f, (0, 1))(spoilt, b)
    assert outside(programs[0]) == []
    np.testing.assert_allclose(value, f(a, b), rtol=1e-12)
    with s.use("numpy"):
        want = value_and_grad(f, (0, 1))(spoilt, b)[1]
    for mine, theirs in zip(gradients, want, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("where", ["a", "other triangle", "b", "diagonal", "nowhere"])
@pytest.mark.parametrize("n", [3, 6])
def test_what_scipy_raises_for_triangles(where: str, n: int) -> None:
    sl = pytest.importorskip("scipy.linalg")
    a, b = np.tri(n) + np.eye(n), np.ones(n)
    if where == "diagonal":
        a[1, 1] = 0.0
    elif where in ("a", "other triangle"):
        a[(2, 0) if where == "a" else (0, 2)] = np.inf
    elif where == "b":
        b[n - 1] = np.nan

    def found(machine: Any) -> Any:
        with s.use(machine):
            both = value_and_grad(lambda a, b: np.sum(sl.solve_triangular(a, b, lower=True)))
            try:
                return both(a, b)[1].round(12).tolist()
            except LayerError as error:
                return str(error)

    assert found("native") == found("numpy")
    assert isinstance(found("native"), str) == (where != "nowhere")


def test_a_root_of_scipys_solves_without_other_factors(programs: list[Making]) -> None:
    sl = pytest.importorskip("scipy.linalg")

    def f(a: Any, b: Any) -> Any:
        root = sl.cholesky(a, lower=True)
        half = sl.solve_triangular(root, b, lower=True)
        return np.sum(half**2) + np.sum(sl.cho_solve((root, True), b)) + np.sum(np.log(np.diagonal(root)))

    a, b = gram(drawn(4, 6, 1, (), "f8")[0] / 10), np.ones(6)
    got = value_and_grad(f)(a, b)
    assert [factored(one) for one in programs] == [1]
    assert outside(programs[0]) == []
    with s.use("numpy"):
        want = value_and_grad(f)(a, b)
    np.testing.assert_allclose(got[0], want[0], rtol=1e-12)
    np.testing.assert_allclose(got[1], want[1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("one", "other"), [("f4", "f8"), ("f8", "f4"), ("i8", "f8")])
def test_products_of_two_dtypes_are_native(one: str, other: str, programs: list[Making]) -> None:
    a, b = np.arange(12, dtype=one).reshape(3, 4), np.arange(20, dtype=other).reshape(4, 5)
    net = symbolic(lambda a, b: (a @ b) @ b.T, np.ndarray, np.ndarray, returns=np.ndarray)
    got, want = net.predict(a, b), (a @ b) @ b.T
    assert outside(programs[0]) == []
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("small", [1.0, 1e-3, 1e-9, 1e-15, 0.0])
@pytest.mark.parametrize("n", [2, 5])
def test_the_gradient_of_a_determinant_is_right_near_singular_matrices(
    n: int, small: float, programs: list[Making]
) -> None:
    rng = np.random.default_rng(n)
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    a = turn @ np.diag([small, *np.arange(1.0, n)]) @ turn

    def f(a: Any) -> Any:
        return np.linalg.det(a)

    got = value_and_grad(f)(a)[1]
    assert outside(programs[0]) == []
    with s.use("numpy"):
        want = value_and_grad(f)(a)[1]
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-11 * float(np.max(np.abs(want))))


@pytest.mark.parametrize("n", [3, 7])
@pytest.mark.parametrize("name", ["solve", "inv", "cholesky"])
def test_what_raises_raises_where_no_result_shows_it(name: str, n: int) -> None:
    """And the sign of a determinant that is zero is zero, though finite."""

    def f(a: Any) -> Any:
        found = OPERATIONS["solve"](a, np.ones((n, 1))) if name == "solve" else PLAIN[name](a)
        return np.sum(np.where(np.isfinite(found), 0.0 * a, a))

    singular = np.ones((n, n))
    with s.use("native"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net = symbolic(f, np.ndarray, returns=float)
        assert net.predict(np.eye(n)) == 0.0
        for _ in range(3):
            with pytest.raises(LayerError, match=r"Singular|positive"):
                net.predict(singular)
        turn = symbolic(lambda a: np.linalg.slogdet(a)[0] + 1.0, np.ndarray, returns=float)
        assert [float(turn.predict(one)) for one in (np.eye(n), singular, -np.eye(n))] == [2.0, 1.0, 0.0]


def _all_overwritten(found: Any) -> Any:
    z = found * 1.0
    z[:, :] = 2.0
    return np.sum(z)


def _its_shape_alone(found: Any) -> Any:
    return np.sum(np.ones_like(found)) * 2.0


@pytest.mark.parametrize("read", [_all_overwritten, _its_shape_alone])
@pytest.mark.parametrize("n", [1, 3, 7])
@pytest.mark.parametrize("name", ["solve", "inv", "inv of an inverse", "cholesky"])
def test_what_raises_is_native_where_nobody_reads_it(
    name: str, n: int, read: Callable[[Any], Any], programs: list[Making]
) -> None:
    """The factors are computed for their error alone, and have a place all the same."""

    def f(a: Any) -> Any:
        if name == "inv of an inverse":
            found = np.linalg.inv(np.linalg.inv(a))
        else:
            found = np.linalg.solve(a, np.eye(n)) if name == "solve" else PLAIN[name](a)
        return read(found) + np.sum(a)

    singular = np.ones((n, n)) - float(n == 1)
    net = symbolic(f, np.ndarray, returns=float)
    for _ in range(3):
        assert net.predict(2.0 * np.eye(n)) == 2.0 * n * n + 2.0 * n
        with pytest.raises(LayerError, match=r"Singular|positive"):
            net.predict(singular)
    assert outside(programs[0]) == []


def test_a_loop_until_convergence_solves_natively(programs: list[Making]) -> None:
    """What the body asks is asked again when NumPy has to run the program once more."""

    def f(x: Any, a: Any) -> Any:
        while np.sum((x**3 - a @ np.ones(3)) ** 2) > 1e-20:
            x = x - np.linalg.solve(3 * np.diag(x**2), x**3 - a @ np.ones(3))
        return np.sum(x)

    both = value_and_grad(f, (0, 1))
    x, a = np.array([1.0, 2.0, 3.0]), np.arange(9.0).reshape(3, 3) + 1
    for _ in range(4):
        value, (by_x, by_a) = both(x, a)
    assert all("Decision" in line for line in outside(programs[0]))
    root = np.cbrt(a.sum(1))
    np.testing.assert_allclose(value, root.sum(), rtol=1e-12)
    np.testing.assert_allclose(by_a, np.repeat(1 / (3 * root**2), 3).reshape(3, 3), rtol=1e-8)
    np.testing.assert_allclose(by_x, 0.0, atol=1e-4)
    with pytest.raises(LayerError, match="Singular"):
        both(np.array([0.0, 2.0, 3.0]), a)
    assert both(x, a)[0] == value


def test_what_is_observed_is_seen_once() -> None:
    """A program that must not run twice has its equations from NumPy."""
    seen: list[Any] = []
    with s.use("native"):
        inner = symbolic(lambda a: np.exp(a), np.ndarray, returns=np.ndarray)
        whole = symbolic(lambda a: np.sum(np.linalg.inv(a)), np.ndarray, returns=float)
        net = whole.compose(inner.on_output(seen.append))
        for n in range(3):
            with pytest.raises(LayerError, match="Singular"):
                net.predict(np.zeros((3, 3)))
            assert len(seen) == n + 1


@pytest.mark.parametrize(
    "pick",
    [
        lambda x: x[1, 2],
        lambda x: x[-1][0],
        lambda x: x.T[::-1][1, 0],
        lambda x: np.squeeze(x[1:2, 2:3])[()],
        lambda x: np.stack([x[0, 1], x[2, -1], x[1, 1]])[2],
        lambda x: np.broadcast_to(x[:, :1], (3, 5))[2, 4],
    ],
)
def test_an_entry_that_is_picked_is_a_view(pick: Callable[[Any], Any], programs: list[Making]) -> None:
    x = np.random.default_rng(3).normal(size=(3, 4))
    value, gradient = value_and_grad(lambda x: pick(x) ** 2)(x)
    assert outside(programs[0]) == []
    assert float(value) == float(pick(x)) ** 2
    np.testing.assert_array_equal(gradient, np.where(x == pick(x), 2 * x, 0.0))


@pytest.mark.parametrize("options", [{}, {"lower": True}, {"unit_diagonal": True}, {"unit_diagonal": True, "trans": 1}])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_solutions_that_are_looked_at_and_others_are_written_apart(n: int, options: dict[str, Any]) -> None:
    """They take other arguments; of a triangle of ones the first derivative needs no number that NumPy would check."""
    solve = pytest.importorskip("scipy.linalg").solve_triangular
    a, b = np.eye(n) * 1.5 + 0.1, np.linspace(-1.0, 1.0, 2 * n).reshape(n, 2)
    first = s.grad(lambda a, b: np.sum(solve(a, b, **options) ** 2), (0, 1))
    for loss in (
        lambda a, b: np.sum(first(a, b)[0]),
        lambda a, b: np.sum(first(a, b)[0]) + np.sum(first(a, b)[1] ** 2),
    ):
        found = {}
        for machine in ("numpy", "native"):
            with s.use(machine):
                second = s.grad(loss, (0, 1))
                found[machine] = [second(a, b) for _ in range(3)][-1]
        for one, other in zip(found["native"], found["numpy"], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_a_call_with_too_few_arguments_is_never_written() -> None:
    """LLVM would take it, and machine code would do anything."""
    module = Module()
    inner = module.function("inner", ["ptr", "ptr"], private=True)
    outer = module.function("outer", ["ptr"])
    outer.call(inner, *outer.arguments * 2)
    with pytest.raises(AssertionError, match="inner"):
        outer.call(inner, *outer.arguments)
