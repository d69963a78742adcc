"""Do the Fourier transforms of np.fft give NumPy's values, and gradients that count each frequency once?"""

import itertools
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from differences import along, inner

from symbolic import ShapeError, Symbolic, SymbolicError, grad, symbolic, value_and_grad, vjp
from symbolic.ops import fourier

Loss = Callable[..., Any]
WRONG: Any = "unitary"


def weight(shape: Any, seed: int = 3) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


def real(x: Any) -> Any:
    """A real number with another weight for the real and the imaginary part of each entry."""
    shape = np.shape(x)
    return np.sum(np.real(x) * weight(shape, 1) + np.imag(x) * weight(shape, 2)) + np.sum(np.abs(x) ** 2)


ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]
ONLY_REAL = ("rfft", "ihfft", "rfftn", "rfft2")


def one_axis() -> Iterator[Any]:
    for name in ONE:
        for size in (1, 2, 3, 4, 5):
            yield name, (size,), {}
        for size, n in ((4, 1), (4, 2), (4, 3), (4, 5), (5, 4), (4, 6), (3, 7)):
            yield name, (size,), {"n": n}
        norms: list[Any] = [("backward", 4), ("ortho", None), ("forward", 3)]
        for norm, n in norms:
            yield name, (2, 3, 2), {"norm": norm, "axis": -2, "n": n}


def several_axes() -> Iterator[Any]:
    for name in SEVERAL:
        yield name, (2, 4, 3), {}
        yield name, (4, 3), {"s": (-1, 5), "axes": (0, 1), "norm": "ortho"}
        yield name, (3, 2, 4), {"axes": (2, 0), "norm": "forward"}


CASES = [one for one in (*one_axis(), *several_axes()) if not (one[0] in ("irfft", "hfft") and one[1:] == ((1,), {}))]
each = pytest.mark.parametrize(("name", "shape", "options"), CASES, ids=str)


def given(name: str, shape: Any, dtype: str = "complex128") -> Any:
    x = weight(shape)
    return x if name in ONLY_REAL else (x + 1j * weight(shape, 8)).astype(dtype)


@each
def test_gradients_meet_central_differences(name: str, shape: Any, options: Any) -> None:
    function = getattr(np.fft, name)
    for x in (weight(shape), given(name, shape)):
        _checked(lambda x: real(function(x, **options)), x)


def _checked(f: Loss, x: Any) -> None:
    value, delta = value_and_grad(f)(x)
    assert np.isclose(value, f(x), rtol=1e-12) and delta.dtype == x.dtype and delta.shape == x.shape
    way = weight(x.shape, 5) + (1j * weight(x.shape, 6) if np.iscomplexobj(x) else 0)
    _meets(delta, way, along(f, [x], 0, way))

    def slope(x: Any) -> Any:
        return np.sum(np.real(np.conjugate(grad(f)(x)) * way) ** 2)

    _meets(grad(slope)(x), way, along(slope, [x], 0, way))


def _meets(delta: Any, way: Any, want: float) -> None:
    got, size = inner(delta, way)
    assert abs(got - want) <= 1e-6 * (1 + size + abs(want)), f"{got}, central differences {want}"


@each
def test_values_are_numpys(name: str, shape: Any, options: Any) -> None:
    function = getattr(np.fft, name)

    @symbolic
    def net(x: Annotated[Any, Symbolic]) -> Annotated[Any, Symbolic]:
        return function(x, **options)

    x = given(name, shape)
    for one in (x, np.real(x), np.real(x).astype(np.float32), np.real(x).astype(np.float16), np.arange(x.size)):
        one = one.reshape(shape)
        want = function(one, **options)
        for _ in range(4):
            got = net.predict(one)
            assert got.dtype == want.dtype and got.shape == want.shape and np.array_equal(got, want)


@each
def test_single_precision_stays(name: str, shape: Any, options: Any) -> None:
    function = getattr(np.fft, name)

    def f(x: Any) -> Any:
        return real(function(x, **options))

    x = given(name, shape)
    single = x.astype(np.complex64 if np.iscomplexobj(x) else np.float32)
    delta = grad(f)(single)
    assert delta.dtype == single.dtype
    np.testing.assert_allclose(delta, grad(f)(x), rtol=1e-3, atol=1e-4 * np.max(np.abs(grad(f)(x))))


@pytest.mark.parametrize("name", [*ONE, *SEVERAL])
def test_jax_agrees(name: str) -> None:
    x = given(name, (3, 4))
    value, pullback = jax.vjp(getattr(jnp.fft, name), x)
    ours, back = vjp(getattr(np.fft, name), x)
    delta = weight(value.shape) + (1j * weight(value.shape, 4) if np.iscomplexobj(value) else 0)
    np.testing.assert_allclose(ours, value, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(back(delta)[0], np.conj(pullback(np.conj(delta))[0]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(4,), (5,), (3, 4), (2, 3, 5)])
@pytest.mark.parametrize("axes", [None, 0, -1, (0,), (-1, 0)])
def test_shifts(shape: Any, axes: Any) -> None:
    x = weight(shape)
    for function in (np.fft.fftshift, np.fft.ifftshift):
        _checked(lambda x, function=function: real(function(x, axes) ** 3), x)
        assert np.array_equal(vjp(lambda x, function=function: function(x, axes), x)[0], function(x, axes))


def test_a_spectrum_that_is_masked() -> None:
    """|DFT|² with weights that are not symmetric, by the matrix of the transform."""
    x, mask = np.array([0.3, -1.0, 2.0, 0.7, 1.1]), np.array([1.0, 2.0, 0.0, 0.5, -1.0])
    matrix = np.exp(-2j * np.pi * np.outer(np.arange(5), np.arange(5)) / 5)
    want = 2 * np.real(np.conj(matrix.T) @ (mask * (matrix @ x)))
    np.testing.assert_allclose(grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2 * mask))(x), want, rtol=1e-12)
    half = 2 * np.real(np.conj(matrix[:3].T) @ (mask[:3] * (matrix[:3] @ x)))
    np.testing.assert_allclose(grad(lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 2 * mask[:3]))(x), half, rtol=1e-12)


def test_a_filter_learns() -> None:
    """One trace serves: a convolution by frequencies, as a network's body."""
    kernel = np.array([0.5, 0.25, -0.25])

    @symbolic
    def filtered(x: Annotated[Any, Symbolic], k: Annotated[Any, Symbolic]) -> Annotated[Any, Symbolic]:
        return np.fft.irfft(np.fft.rfft(x) * np.fft.rfft(k, 8), 8)

    x = weight(8)
    want = [sum(kernel[j] * x[(i - j) % 8] for j in range(3)) for i in range(8)]
    np.testing.assert_allclose(filtered.predict(x, kernel), want, atol=1e-12)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: np.fft.rfft(x + 1j), "complex128"),
        (lambda x: np.fft.fft(x, 0), "0 points"),
        (lambda x: np.fft.irfft(x[:1]), "0 points"),
        (lambda x: np.fft.fft(x[:0]), "0 points"),
        (lambda x: np.fft.fft(x, norm=WRONG), "unitary"),
        (lambda x: np.fft.hfft(x, norm=WRONG), "unitary"),
        (lambda x: np.fft.fft(x, axis=1), "axis 1"),
        (lambda x: np.fft.fftn(x, (3, 3), (0,)), "2 sizes"),
        (lambda x: np.fft.rfftn(x, axes=()), "no axis"),
        (lambda x: np.fft.fftshift(x, 3), "axis 3"),
        (lambda x: np.fft.fft(x, n=np.sum(x)), "traced"),
    ],
)
def test_what_cannot_be_is_refused(f: Loss, words: str) -> None:
    with pytest.raises(SymbolicError, match=words):
        grad(lambda x: np.sum(np.real(f(x))))(weight(4))


def test_errors_are_numpys_kind() -> None:
    kinds: list[Loss] = [
        lambda x: np.fft.fft(x, 0),
        lambda x: np.fft.fft(x, axis=1),
        lambda x: np.fft.fft(x, norm=WRONG),
    ]
    for f in kinds:
        with pytest.raises((ValueError, IndexError)) as plain:
            f(np.ones(3))
        with pytest.raises(ShapeError) as caught:
            grad(lambda x, f=f: np.sum(np.real(f(x))))(np.ones(3))
        assert isinstance(caught.value, ValueError if isinstance(plain.value, ValueError) else IndexError)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i8"])
@pytest.mark.parametrize("shape", [(2,), (7,), (3, 4, 5)])
def test_transforms_are_numpys_to_the_last_bit_in_every_run(norm: Any, dtype: str, shape: Any) -> None:
    """However they are called: along every axis, over memory in any order, cut and filled."""
    rng = np.random.default_rng(len(shape))
    x = (rng.normal(size=shape) * 9).astype(dtype)
    functions: list[Any] = [np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft]
    for function, axis in itertools.product(functions, range(len(shape))):
        for n in (None, 4):
            if (function is np.fft.rfft and x.dtype.kind == "c") or not shape[axis] or (n, shape[axis]) == (None, 1):
                continue
            net = symbolic(lambda x, f=function, n=n, a=axis: f(x, n, a, norm), np.ndarray, returns=np.ndarray)
            for given in (x, np.asfortranarray(x), x[::-1]):
                want = function(given, n, axis, norm)
                for _ in range(4):
                    got = net.predict(given)
                    assert got.dtype == want.dtype
                    assert got.shape == want.shape
                    assert got.tobytes() == want.tobytes()


def test_another_numpy_may_keep_its_loops_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    fourier._seen.cache_clear()
    monkeypatch.delattr(np.fft, "_pocketfft_umath")
    x = np.arange(8.0)
    net = symbolic(lambda x: np.fft.rfft(x), np.ndarray, returns=np.ndarray)
    assert [net.predict(x).tobytes() for _ in range(4)] == [np.fft.rfft(x).tobytes()] * 4
    fourier._seen.cache_clear()
