"""Do the functions of np.linalg give NumPy's values, and derivatives that hold at singular and degenerate matrices?"""

from collections.abc import Callable
from typing import Annotated, Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from answers import near
from differences import along, inner

from symbolic import LayerError, ShapeError, Symbolic, SymbolicError, grad, symbolic, value_and_grad, vjp
from symbolic.ops import decompositions as _decompositions  # noqa: F401 - it binds NumPy functions
from symbolic.ops import linalg as _linalg  # noqa: F401 - the same
from symbolic.ops import singular as _singular  # noqa: F401 - the same

Loss = Callable[..., Any]
NOTHING: Any = None  # NumPy takes it, its stubs do not
WRONG: Any = "X"
RNG = np.random.default_rng(7)
SQUARE = RNG.normal(size=(3, 3)) + 2 * np.eye(3)
TALL = RNG.normal(size=(4, 3))
STACK = RNG.normal(size=(2, 3, 3)) + 2 * np.eye(3)
TURN = np.linalg.qr(RNG.normal(size=(4, 4)))[0]
DEGENERATE = TURN @ np.diag([1.0, 2.0, 2.0, 2.0]) @ TURN.T


def complexified(x: Any) -> Any:
    return x + 1j * RNG.normal(size=x.shape)


def weight(shape: Any, seed: int = 3) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


def real(*results: Any) -> Any:
    """A real number of all results, each entry with a weight of its own."""
    total: Any = 0.0
    for k, one in enumerate(results):
        total = total + np.sum(np.real(one) * weight(np.shape(one), k) + np.imag(one) * weight(np.shape(one), 9 + k))
    return total


def gram(x: Any) -> Any:
    """A positive definite matrix with distinct eigenvalues."""
    return x @ np.conjugate(np.swapaxes(x, -1, -2)) + np.eye(x.shape[-2])


def way(x: Any, seed: int = 1) -> Any:
    return weight(x.shape, seed) + (1j * weight(x.shape, seed + 50) if np.iscomplexobj(x) else 0)


def check(f: Loss, *args: Any, second: bool = True, tolerance: float = 1e-6) -> None:
    """The value is NumPy's, the gradient and its gradient meet central differences."""
    places = tuple(range(len(args)))
    value, deltas = value_and_grad(f, places)(*args)
    assert np.allclose(value, f(*args), rtol=1e-12)
    for k in places:
        assert deltas[k].dtype == args[k].dtype and deltas[k].shape == args[k].shape
        _meets(deltas[k], way(args[k]), along(f, list(args), k, way(args[k])), tolerance)
    if second:
        first = grad(f, places)

        def slope(*given: Any) -> Any:
            return sum(np.sum(np.real(np.conjugate(d) * way(args[k], 5))) for k, d in enumerate(first(*given)))

        for k, delta in enumerate(grad(slope, places)(*args)):
            _meets(delta, way(args[k]), along(slope, list(args), k, way(args[k])), tolerance)


def _meets(delta: Any, direction: Any, want: float, tolerance: float) -> None:
    got, size = inner(delta, direction)
    assert abs(got - want) <= tolerance * (1 + size + abs(want)), f"{got}, central differences {want}"


def first_column(vectors: Any) -> Any:
    """What does not depend on the phase of a vector."""
    return vectors[..., :, :1] * np.conjugate(vectors[..., :1, :1])


LOSSES: dict[str, tuple[Loss, Any]] = {
    "inv": (lambda x: real(np.linalg.inv(x)), SQUARE),
    "det": (lambda x: real(np.linalg.det(x)), SQUARE),
    "slogdet": (lambda x: real(*np.linalg.slogdet(x)), -SQUARE),
    "slogdet_name": (lambda x: real(np.linalg.slogdet(x).logabsdet), SQUARE),
    "slogdet_sign": (lambda x: real(np.linalg.slogdet(x)[0]), SQUARE),
    "cholesky": (lambda x: real(np.linalg.cholesky(gram(x))), SQUARE),
    "cholesky_upper": (lambda x: real(np.linalg.cholesky(gram(x), upper=True)), SQUARE),
    "pinv": (lambda x: real(np.linalg.pinv(x)), TALL),
    "pinv_wide": (lambda x: real(np.linalg.pinv(x, rtol=NOTHING)), TALL.T),
    "pinv_rcond": (lambda x: real(np.linalg.pinv(x, 1e-9)), TALL),
    "eigh": (lambda x: real(np.linalg.eigh(gram(x)).eigenvalues), SQUARE),
    "eigh_vectors": (lambda x: real(first_column(np.linalg.eigh(gram(x), "U")[1])), SQUARE),
    "eigh_both": (lambda x: _rebuilt(*np.linalg.eigh(gram(x))), SQUARE),
    "eigvalsh": (lambda x: real(np.linalg.eigvalsh(gram(x))), SQUARE),
    "svd": (lambda x: _of_svd(*np.linalg.svd(x, full_matrices=False)), SQUARE),
    "svd_full": (lambda x: _of_svd(*np.linalg.svd(x)), SQUARE),
    "svd_tall": (lambda x: _of_svd(*np.linalg.svd(x, full_matrices=False)), TALL),
    "svd_wide": (lambda x: _of_svd(*np.linalg.svd(x, full_matrices=False)), TALL.T),
    "svd_left": (lambda x: real(first_column(np.linalg.svd(x, full_matrices=False).U)), TALL),
    "svd_right": (lambda x: real(first_column(np.conj(np.linalg.svd(x, full_matrices=False).Vh.mT))), TALL.T),
    "svd_full_values": (lambda x: real(np.linalg.svd(x).S), TALL),
    "svdvals": (lambda x: real(np.linalg.svdvals(x)), TALL),
    "compute_uv": (lambda x: real(np.linalg.svd(x, compute_uv=False)), TALL.T),
    "qr": (lambda x: real(*np.linalg.qr(x)), SQUARE),
    "qr_tall": (lambda x: real(*np.linalg.qr(x)), TALL),
    "qr_wide": (lambda x: real(*np.linalg.qr(x)), TALL.T),
    "qr_q": (lambda x: real(np.linalg.qr(x).Q), TALL),
    "qr_wide_q": (lambda x: real(np.linalg.qr(x).Q), TALL.T),
    "qr_r": (lambda x: real(np.linalg.qr(x, mode="r")), TALL),
    "eig": (lambda x: real(*_ordered(*np.linalg.eig(x))), SQUARE),
    "eig_values": (lambda x: real(np.sum(np.linalg.eig(x).eigenvalues ** 3, axis=-1)), SQUARE),
    "eigvals": (lambda x: real(np.sum(np.exp(np.linalg.eigvals(x)), axis=-1)), SQUARE),
    "cond": (lambda x: real(np.linalg.cond(x)), TALL),
    "cond_least": (lambda x: real(np.linalg.cond(x, -2)), SQUARE),
    "cond_norms": (lambda x: real(np.linalg.cond(x, "fro"), np.linalg.cond(x, 1)), SQUARE),
}
"""Losses of matrices and of stacks of them."""


def _rebuilt(values: Any, vectors: Any) -> Any:
    return real(np.matmul(vectors * np.expand_dims(np.exp(values), -2), np.conjugate(np.swapaxes(vectors, -1, -2))))


def _of_svd(u: Any, s: Any, vh: Any) -> Any:
    return real(np.matmul(u * np.expand_dims(s**2, -2), vh), s, np.matmul(u, vh), first_column(u))


def _ordered(values: Any, vectors: Any) -> Any:
    """Without the order and the phases that LAPACK chooses."""
    size = vectors * np.conjugate(np.sum(vectors, axis=-2, keepdims=True))
    return np.sum(values**2, axis=-1), np.sum(size * np.expand_dims(np.exp(values), -2), axis=-1)


@pytest.mark.parametrize("name", LOSSES)
def test_of_one_matrix(name: str) -> None:
    check(*LOSSES[name])


@pytest.mark.parametrize("name", LOSSES)
def test_of_stacks(name: str) -> None:
    f, x = LOSSES[name]
    check(f, np.stack([x, x + 0.3 * weight(x.shape, 4)])[None], second=False)


@pytest.mark.parametrize("name", LOSSES)
def test_of_complex_matrices(name: str) -> None:
    f, x = LOSSES[name]
    check(f, complexified(x), second=name not in ("cond_norms",))


@pytest.mark.parametrize("name", LOSSES)
def test_single_precision_stays(name: str) -> None:
    f, x = LOSSES[name]
    value, delta = value_and_grad(f)(x.astype(np.float32))
    assert delta.dtype == np.float32
    np.testing.assert_allclose(value, f(x), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(delta, grad(f)(x), rtol=1e-2, atol=2e-3 * np.max(np.abs(grad(f)(x))))


SAME: dict[str, Loss] = {
    "inv": np.linalg.inv,
    "det": np.linalg.det,
    "slogdet": np.linalg.slogdet,
    "eigvalsh": np.linalg.eigvalsh,
    "svd": np.linalg.svd,
    "svdvals": np.linalg.svdvals,
    "qr": np.linalg.qr,
    "pinv": np.linalg.pinv,
    "matrix_rank": np.linalg.matrix_rank,
    "eigh": np.linalg.eigh,
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize(
    "x", [SQUARE, STACK, SQUARE.astype(np.float32), complexified(SQUARE), np.arange(4).reshape(2, 2)]
)
def test_values_are_numpys(name: str, x: Any) -> None:
    """Interpreted, compiled, and by name; to the last bit on NumPy's machine."""

    @symbolic
    def net(x: Annotated[Any, Symbolic]) -> Annotated[Any, Symbolic]:
        result = SAME[name](x)
        return tuple(result) if isinstance(result, tuple) else result

    want = SAME[name](x)
    for _ in range(4):
        got = net.predict(x)
        for one, other in zip(*((each if isinstance(each, tuple) else (each,)) for each in (got, want)), strict=True):
            assert near(one, other) and np.asarray(one).dtype == np.asarray(other).dtype


def test_results_have_numpys_names() -> None:
    def f(x: Any) -> Any:
        u, s, vh = svd = np.linalg.svd(x)
        assert type(svd).__name__ == "SVDResult" and svd.S is s and svd.U is u and svd.Vh is vh
        assert np.linalg.eigh(x)._fields == ("eigenvalues", "eigenvectors")
        return np.sum(s)

    assert np.isfinite(grad(f)(SQUARE)).all()


# --------------------------------------------------------------------------- equations


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (SQUARE, weight(3)),
        (SQUARE, weight((3, 2))),
        (STACK, weight(3)),
        (STACK, weight((3, 2))),
        (STACK, weight((2, 3, 2))),
        (STACK, weight((4, 1, 3, 1))),
        (SQUARE, weight((2, 3, 3))),
        (complexified(SQUARE), weight(3)),
        (SQUARE, complexified(weight((3, 2)))),
    ],
)
def test_solve(a: Any, b: Any) -> None:
    check(lambda a, b: real(np.linalg.solve(a, b)), a, b)


@pytest.mark.parametrize("rcond", [None, -1, 1e-9])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (TALL, weight(4)),
        (TALL, weight((4, 2))),
        (TALL.T, weight(3)),
        (complexified(TALL), complexified(weight((4, 2)))),
    ],
)
def test_lstsq(a: Any, b: Any, rcond: Any) -> None:
    def f(a: Any, b: Any) -> Any:
        solution, _, _, values = np.linalg.lstsq(a, b, rcond)
        return real(solution, values)

    check(f, a, b)


def test_lstsq_of_few_unknowns_says_how_good_it_is() -> None:
    @symbolic
    def net(a: Annotated[Any, Symbolic], b: Annotated[Any, Symbolic]) -> Annotated[Any, Symbolic]:
        return tuple(np.linalg.lstsq(a, b)[1:3])

    squares, rank = net.predict(TALL, weight(4))
    assert rank == 3 and np.allclose(squares, np.linalg.lstsq(TALL, weight(4))[1])
    with pytest.raises(SymbolicError, match=r"residuals of np\.linalg\.lstsq"):
        grad(lambda a: np.sum(np.linalg.lstsq(a, weight(4))[1]))(TALL)


def test_tensor_equations() -> None:
    a = weight((6, 4, 2, 3, 4)) + np.eye(24).reshape(6, 4, 2, 3, 4) * 4
    b = weight((6, 4))
    check(lambda a, b: real(np.linalg.tensorsolve(a, b)), a, b, second=False)
    moved = np.moveaxis(a, (2, 3), (0, 1))
    check(lambda a, b: real(np.linalg.tensorsolve(a, b, axes=(0, 1))), np.ascontiguousarray(moved), b, second=False)
    check(lambda a: real(np.linalg.tensorinv(a)), a, second=False)
    check(lambda a: real(np.linalg.tensorinv(a, ind=1)), weight((4, 2, 2)) + np.eye(4).reshape(4, 2, 2))


# --------------------------------------------------------------------------- singular matrices


def cofactors(x: Any) -> Any:
    def minor(i: int, j: int) -> Any:
        return (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1))

    return np.array([[minor(i, j) for j in range(len(x))] for i in range(len(x))])


SINGULAR = [
    np.zeros((4, 4)),
    np.diag([0.0, 1.0, 2.0, 3.0]),
    np.diag([0.0, 0.0, 2.0, 3.0]),
    np.diag([0.0, 0.0, 0.0, 3.0]),
    np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0]),
    np.arange(9.0).reshape(3, 3),
    np.ones((2, 2)),
    np.zeros((1, 1)),
    -TURN,
]


@pytest.mark.parametrize("x", SINGULAR)
def test_the_determinant_is_differentiated_where_it_is_zero(x: Any) -> None:
    np.testing.assert_allclose(grad(np.linalg.det)(x), cofactors(x), atol=1e-13)
    check(np.linalg.det, x)


@pytest.mark.parametrize("x", [*SINGULAR[:4], SQUARE, complexified(SQUARE), np.stack([np.eye(3), np.ones((3, 3))])])
def test_third_and_fourth_derivatives_of_the_determinant(x: Any) -> None:
    def slope(f: Loss, seed: int) -> Loss:
        return lambda x: np.sum(np.real(np.conjugate(grad(f)(x)) * way(x, seed)))

    def f(x: Any) -> Any:
        return real(np.linalg.det(x))

    check(slope(f, 20), x)
    check(slope(slope(f, 20), 21), x)


def test_the_determinant_of_what_is_no_number() -> None:
    x = np.stack([np.eye(2), np.full((2, 2), np.nan)])
    with np.errstate(invalid="ignore"):
        delta = grad(lambda x: np.linalg.det(x)[0])(x)
    assert np.array_equal(delta[0], np.eye(2)) and np.array_equal(delta[1], np.zeros((2, 2)))


def test_log_determinants_of_a_branch_that_is_not_taken() -> None:
    def f(x: Any) -> Any:
        sign, size = np.linalg.slogdet(x)
        return np.sum(np.where(sign == 0, 0.0, size))

    x = np.stack([np.diag([2.0, 4.0]), np.ones((2, 2))])
    assert np.allclose(grad(f)(x), [np.diag([0.5, 0.25]), np.zeros((2, 2))])


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: np.sum(np.linalg.inv(x)), np.ones((2, 2))),
        (lambda x: np.sum(np.linalg.solve(x, np.ones(2))), np.ones((2, 2))),
        (lambda x: np.sum(np.linalg.cholesky(x)), -np.eye(2)),
        (lambda x: np.sum(np.linalg.tensorinv(x, 1)), np.ones((2, 2))),
    ],
)
def test_numpys_error_comes_through(f: Loss, x: Any) -> None:
    with pytest.raises(np.linalg.LinAlgError) as plain:
        f(x)
    with pytest.raises(LayerError, match=str(plain.value)) as caught:
        grad(f)(x)
    assert isinstance(caught.value, np.linalg.LinAlgError)


# --------------------------------------------------------------------------- values that coincide


def projector(x: Any) -> Any:
    """On the eigenvectors of the three equal values."""
    vectors = np.linalg.eigh((x + x.T) / 2)[1][:, 1:]
    return np.sum(vectors @ vectors.T * weight((4, 4)))


@pytest.mark.parametrize("x", [DEGENERATE, np.diag([1.0, 2.0, 2.0, 2.0]), np.diag([2.0, 2.0, 1.0, 2.0])])
def test_equal_eigenvalues(x: Any) -> None:
    check(projector, x, second=False)
    check(lambda x: np.sum(np.linalg.eigvalsh(x + x.T) ** 3), x, second=False)
    assert np.isfinite(grad(lambda x: np.sum(np.linalg.eigh(x)[1] * weight((4, 4))))(x)).all()


@pytest.mark.parametrize("x", [DEGENERATE, np.diag([2.0, 2.0, 5.0]), np.eye(3), TURN, DEGENERATE[:, :3]])
def test_equal_singular_values(x: Any) -> None:
    def size(x: Any) -> Any:
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        return np.sum((u @ (s[:, None] * vh)) ** 2)

    def polar(x: Any) -> Any:
        u, _, vh = np.linalg.svd(x, full_matrices=False)
        return np.sum(u @ vh * weight((4, 4))[: x.shape[0], : x.shape[1]])

    np.testing.assert_allclose(grad(size)(x), 2 * x, atol=1e-13)
    check(polar, x, second=False)
    check(lambda x: np.sum(np.linalg.svdvals(x) ** 4), x, second=False)


def test_singular_values_that_are_zero() -> None:
    def f(x: Any) -> Any:
        u, s, vh = np.linalg.svd(x, full_matrices=False)
        return np.sum(u * weight((4, 3))) + np.sum(s) + np.sum(vh * weight((3, 3)))

    for x in (np.zeros((4, 3)), TALL[:, :1] * np.ones(3)):
        assert np.isfinite(grad(f)(x)).all()
        assert np.isfinite(grad(lambda x: np.sum(grad(f)(x) * weight((4, 3))))(x)).all()


# --------------------------------------------------------------------------- an oracle


@pytest.mark.parametrize("name", ["inv", "det", "slogdet", "cholesky", "eigvalsh", "svdvals", "pinv", "qr"])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: np.stack([x, 2 * x])])
def test_jax_agrees(name: str, wrap: Any) -> None:
    x = wrap(gram(SQUARE))
    value, pullback = jax.vjp(getattr(jnp.linalg, name), x)
    ours, back = vjp(getattr(np.linalg, name), x)
    deltas = jax.tree.map(lambda one: weight(one.shape), value)
    given = tuple(map(np.asarray, deltas)) if isinstance(deltas, tuple) else np.asarray(deltas)
    np.testing.assert_allclose(back(given)[0], pullback(deltas)[0], rtol=1e-8, atol=1e-8)
    assert np.allclose(
        ours if not isinstance(ours, tuple) else ours[0], value if not isinstance(value, tuple) else value[0]
    )


# --------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("f", [np.linalg.inv, np.linalg.det, np.linalg.cholesky, np.linalg.eigvalsh, np.linalg.eigvals])
@pytest.mark.parametrize("shape", [(2, 3), (3,), ()])
def test_square_matrices_are_wanted(f: Loss, shape: Any) -> None:
    with pytest.raises(np.linalg.LinAlgError):
        f(np.ones(shape))
    with pytest.raises(np.linalg.LinAlgError, match=rf"np\.linalg\.{f.__name__} of .*\(.*;") as caught:
        grad(lambda x: np.sum(f(x)))(np.ones(shape))
    assert isinstance(caught.value, ShapeError | LayerError)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: np.sum(np.linalg.svd(x, hermitian=True)[1]), "hermitian="),
        (lambda x: np.sum(np.linalg.svd(x)[0]), "full_matrices=False"),
        (lambda x: np.sum(np.linalg.qr(x, mode="complete")[0]), "mode='complete'"),
        (lambda x: np.sum(np.linalg.pinv(x, hermitian=True)), "hermitian="),
        (lambda x: np.sum(np.linalg.eigh(x.T @ x, WRONG)[0]), "UPLO='X'"),
        (lambda x: np.sum(np.linalg.solve(x.T @ x, x)), r"\(3, 3\) and \(4, 3\)"),
        (lambda x: np.sum(np.linalg.solve(x.T @ x, 1.0)), r"\(3, 3\) and \(\)"),
        (lambda x: np.sum(np.linalg.pinv(x, np.sum(x))), "tolerance"),
        (lambda x: np.sum(np.linalg.lstsq(x, np.ones(3))[0]), r"\(4, 3\) and \(3,\)"),
        (lambda x: np.sum(np.linalg.tensorinv(x, 0)), "ind=0"),
        (lambda x: np.sum(np.linalg.tensorsolve(x, np.ones(4))), r"\(4, 3\)"),
        (lambda x: np.sum(np.linalg.inv(x.T @ x).astype(np.float16)), None),
        (lambda x: np.sum(np.linalg.inv((x.T @ x).astype(np.float16))), "float16"),
    ],
)
def test_what_no_rule_handles_is_refused_by_name(f: Loss, words: str | None) -> None:
    if words is None:
        assert np.isfinite(grad(f)(TALL)).all()
        return
    with pytest.raises(SymbolicError, match=words):
        grad(f)(TALL)


def test_what_a_matrix_of_no_rule_could_be() -> None:
    """A product of many steps of known rules: the inverse of a Gram matrix, its logarithm, its roots."""

    def f(x: Any) -> Any:
        values, vectors = np.linalg.eigh(gram(x))
        root = np.matmul(vectors * np.expand_dims(np.sqrt(values), -2), np.swapaxes(vectors, -1, -2))
        return np.sum(np.linalg.solve(root, x)) + np.linalg.slogdet(root)[1] + np.linalg.norm(np.linalg.inv(root))

    check(f, SQUARE)


def test_ranks_have_no_gradient() -> None:
    assert np.array_equal(grad(lambda x: np.linalg.matrix_rank(x, tol=0.1) * 1.0)(TALL), np.zeros_like(TALL))
    assert grad(lambda x: np.linalg.matrix_rank(x) * x[0])(np.ones(3)).tolist() == [1.0, 0.0, 0.0]


def test_matrices_without_entries() -> None:
    empty = np.ones((0, 0))
    for f in (np.linalg.inv, np.linalg.det, np.linalg.pinv, np.linalg.svdvals, np.linalg.eigvalsh):
        assert grad(lambda x, f=f: np.sum(f(x)))(empty).shape == (0, 0)
    assert grad(lambda x: np.sum(np.linalg.solve(x, np.ones((0, 2)))))(empty).shape == (0, 0)
    assert grad(lambda x: np.sum(np.linalg.inv(x)))(np.ones((0, 2, 2))).shape == (0, 2, 2)
