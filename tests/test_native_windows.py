"""Are sums of products over windows right in the native machine: any stride, dilation, padding, group, rank, layout?

NumPy's `einsum` in long doubles is the oracle of what is written; NumPy's machine, and JAX where it is installed, that
of convolutions and their gradients.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from compiling import PROCESSORS, compiled, processor, steps, workspace
from hypothesis import given
from hypothesis import strategies as st

import symbolic as s
from symbolic import avg_pool2d, conv2d, max_pool2d, value_and_grad, windows
from symbolic.backends.native import panels
from symbolic.backends.native.access import View
from symbolic.backends.native.laying import WORKSPACE, Panels
from symbolic.backends.native.lowering import Contract
from symbolic.backends.native.text import Module

pytest.importorskip("llvmlite")


# --------------------------------------------------------------------------- what is written


@pytest.fixture(params=PROCESSORS)
def host(request: pytest.FixtureRequest) -> Any:
    return processor(request.param)


def contraction(x: Any, y: Any, letters: str) -> Contract:
    """The sum of products of two views, each on memory of its own."""
    given, out = letters.split("->")
    one, other = given.split(",")
    sizes = dict(zip(one + other, x.shape + y.shape, strict=True))
    order = out + "".join(dict.fromkeys(c for c in one + other if c not in out))

    def spread(base: int, array: Any, names: str) -> View:
        strides = dict(zip(names, steps(array), strict=True))
        return View(base, tuple(sizes[c] for c in order), tuple(strides.get(c, 0) for c in order))

    axes = tuple(range(len(out), len(order)))
    operands = (spread(0, x, one), spread(1, y, other))
    return Contract(2, tuple(sizes[c] for c in order), operands, axes, x.dtype)


def in_panels(x: Any, y: Any, letters: str, swapped: bool, host: Any) -> Any:
    """The result, from whichever operand is laid; `None` where that one cannot be."""
    task = contraction(x, y, letters)
    how = panels._laid(task, swapped)
    if how is None:
        return None
    module = Module(host.fma)
    Panels(module, host, task, how).write("f")
    next(one for one in module.functions if one.name == "f").private = False
    shape = task.domain[: len(task.domain) - len(task.axes)]
    size = int(np.prod(shape))
    result = np.full(size + 64, 77.0, x.dtype)
    room, untouched = workspace(WORKSPACE)
    compiled(module, "f", host, *[ctypes.c_void_p] * 4)(x.ctypes.data, y.ctypes.data, result.ctypes.data, room)
    assert untouched()
    assert (result[size:] == 77.0).all()
    return result[:size].reshape(shape)


def close(got: Any, x: Any, y: Any, letters: str) -> bool:
    """By no more than sums of rounded products may be wrong, in any order."""
    wide = np.longdouble
    exact = np.einsum(letters, x.astype(wide), y.astype(wide))
    sizes = np.einsum(letters, abs(x.astype(wide)), abs(y.astype(wide)))
    terms = x.size * y.size
    return bool((abs(got - exact) <= 4 * min(terms, 4096) * np.finfo(x.dtype).eps * sizes + 1e-300).all())


def drawn(shape: Sequence[int], dtype: Any, seed: int = 3) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def slid(x: Any, size: Sequence[int], stride: int = 1, dilation: int = 1) -> Any:
    return windows(x, tuple(size), stride, dilation)


WINDOWED: dict[str, Callable[[Any], tuple[Any, Any, str]]] = {
    "strided": lambda d: (drawn((9, 5, 3, 3), d), slid(drawn((2, 5, 17, 13), d), (3, 3), 2), "ocxy,ncpqxy->nopq"),
    "short rows": lambda d: (drawn((20, 6, 3, 3), d), slid(drawn((3, 6, 9, 9), d), (3, 3)), "ocxy,ncpqxy->nopq"),
    "by the weight": lambda d: (drawn((2, 21, 6, 7), d), slid(drawn((2, 5, 8, 9), d), (3, 3)), "nopq,ncpqxy->ocxy"),
    "by it, strided": lambda d: (drawn((2, 7, 5, 4), d), slid(drawn((2, 4, 12, 9), d), (3, 3), 2), "nopq,ncpqxy->ocxy"),
    "a stride of 3": lambda d: (drawn((5, 4, 3, 2), d), slid(drawn((2, 4, 22, 20), d), (3, 2), 3), "ocxy,ncpqxy->nopq"),
    "groups": lambda d: (drawn((3, 6, 2, 3), d), slid(drawn((2, 3, 2, 23), d), (3,), 2), "gocx,ngcpx->ngop"),
    "three axes": lambda d: (
        drawn((6, 2, 2, 3, 2), d),
        slid(drawn((2, 2, 7, 8, 9), d), (2, 3, 2), 2),
        "ocxyz,ncpqrxyz->nopqr",
    ),
    "channels last": lambda d: (
        slid(drawn((2, 5, 9, 9), d), (3, 3)).transpose(0, 2, 3, 1, 4, 5),
        drawn((3, 3, 5, 18), d),
        "npqcxy,xyco->npqo",
    ),
    "long sums": lambda d: (drawn((3, 5000), d), drawn((40, 5000), d), "ak,bk->ab"),
    "longer than a panel": lambda d: (
        drawn((2, 5, 70, 40), d),
        drawn((2, 70, 40, 33), d).transpose(0, 2, 1, 3),
        "nakl,nlkb->ab",
    ),
    "transposed result": lambda d: (drawn((7, 30), d), drawn((3, 40, 30), d), "ak,bck->bca"),
    "no axes beside each other": lambda d: (drawn((4, 3, 6), d)[:, ::2, ::2], drawn((9, 2, 3), d), "akl,bkl->ba"),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", WINDOWED)
def test_panels_give_the_sum_of_products(host: Any, name: str, dtype: Any) -> None:
    x, y, letters = WINDOWED[name](dtype)
    results = [in_panels(x, y, letters, swapped, host) for swapped in (False, True)]
    assert any(one is not None for one in results)
    for one in results:
        assert one is None or close(one, x, y, letters)


# --------------------------------------------------------------------------- convolutions


class Geometry(NamedTuple):
    """A convolution of `rank` axes: images, groups, channels and results of each, sizes, and how windows stand."""

    rank: int
    images: int
    groups: int
    channels: int
    results: int
    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: int
    dilation: tuple[int, ...]
    last: bool  # do the channels come last?
    dtype: str


@st.composite
def geometries(draw: Any) -> Geometry:
    rank = draw(st.sampled_from([1, 2, 2, 2, 3]))

    def each(*choices: int) -> Any:
        return tuple([draw(st.sampled_from(choices)) for _ in range(rank)])

    kernel, dilation, padding = each(1, 2, 3, 5), each(1, 1, 2), draw(st.sampled_from([0, 1, 2]))
    least = [(k - 1) * d + 1 - 2 * padding for k, d in zip(kernel, dilation, strict=True)]
    sizes = tuple([max(1, n) + draw(st.sampled_from([0, 1, 4, 7, 14] if rank < 3 else [0, 2, 4])) for n in least])
    few = [1, 2, 3, 8, 17] if rank < 3 else [1, 3, 8]
    counts = [draw(st.sampled_from(one)) for one in ([1, 2, 5], [1, 1, 1, 3], few, few)]
    dtype = draw(st.sampled_from(["float32", "float64"]))
    images, groups, channels, results = counts
    last, stride = draw(st.booleans()), each(1, 1, 2, 3)
    return Geometry(rank, images, groups, channels, results, sizes, kernel, stride, padding, dilation, last, dtype)


def convolved(x: Any, w: Any, of: Geometry) -> Any:
    """As it is written with windows and `einsum`, for every rank; with groups if there are several."""
    if of.last:
        x = np.moveaxis(x, -1, 1)
    x = np.pad(x, ((0, 0), (0, 0), *[(of.padding, of.padding)] * of.rank))
    places, entries = "pqr"[: of.rank], "xyz"[: of.rank]
    if of.groups == 1:
        parts = windows(x, of.kernel, of.stride, of.dilation)
        return np.einsum(f"oc{entries},nc{places}{entries}->no{places}", w, parts)
    x = np.reshape(x, (of.images, of.groups, of.channels, *x.shape[2:]))
    w = np.reshape(w, (of.groups, of.results, *w.shape[1:]))
    out = np.einsum(f"goc{entries},ngc{places}{entries}->ngo{places}", w, windows(x, of.kernel, of.stride, of.dilation))
    return np.reshape(out, (of.images, -1, *out.shape[3:]))


def operands(of: Geometry) -> tuple[Any, Any]:
    channels = of.groups * of.channels
    shape = (of.images, *of.sizes, channels) if of.last else (of.images, channels, *of.sizes)
    return drawn(shape, of.dtype), drawn((of.groups * of.results, of.channels, *of.kernel), of.dtype, 4)


def both(function: Any, *given: Any) -> Any:
    return value_and_grad(s.symbolic(function, *[np.ndarray] * len(given), returns=float), tuple(range(len(given))))


def on(machine: Any, function: Any, *given: Any) -> Any:
    with s.use(machine):
        return both(function, *given).predict(*given)


def same(got: Any, want: Any, terms: int, dtype: Any) -> None:
    """Values and gradients alike, but for the rounding of so many terms."""
    for one, other in zip((got[0], *got[1]), (want[0], *want[1]), strict=True):
        assert np.shape(one) == np.shape(other)
        scale = float(np.max(np.abs(other), initial=0.0)) + 1e-30
        assert np.max(np.abs(one - other), initial=0.0) <= 8 * (terms**0.5 + 8) * np.finfo(dtype).eps * scale


def terms(of: Geometry) -> int:
    x, w = operands(of)
    return int(x.size + w.size) * int(np.prod(of.kernel))


@given(geometries())
def test_convolutions_and_their_gradients_are_those_of_numpy(of: Geometry) -> None:
    def loss(x: Any, w: Any) -> Any:
        out = convolved(x, w, of)
        return np.sum(out * out)

    x, w = operands(of)
    same(on("native", loss, x, w), on("numpy", loss, x, w), terms(of), of.dtype)


CASES = [
    Geometry(2, 2, 1, 3, 20, (23, 19), (3, 3), (1, 1), 1, (1, 1), False, "float32"),
    Geometry(2, 3, 1, 24, 24, (14, 14), (3, 3), (1, 1), 1, (1, 1), False, "float32"),
    Geometry(2, 2, 1, 9, 33, (15, 16), (3, 3), (2, 2), 1, (1, 1), False, "float32"),
    Geometry(2, 2, 1, 3, 16, (33, 33), (7, 7), (2, 2), 3, (1, 1), False, "float64"),
    Geometry(2, 2, 4, 8, 8, (16, 16), (3, 3), (1, 1), 1, (1, 1), False, "float32"),
    Geometry(2, 2, 16, 1, 2, (14, 14), (3, 3), (2, 2), 1, (1, 1), False, "float32"),
    Geometry(2, 2, 1, 32, 48, (14, 14), (1, 1), (2, 2), 0, (1, 1), False, "float32"),
    Geometry(2, 2, 1, 16, 32, (12, 12), (3, 3), (1, 1), 1, (1, 1), True, "float32"),
    Geometry(1, 4, 1, 16, 16, (70,), (5,), (1,), 2, (2,), False, "float64"),
    Geometry(1, 4, 1, 2, 16, (101,), (9,), (4,), 4, (1,), False, "float32"),
    Geometry(3, 2, 1, 4, 16, (9, 8, 7), (3, 3, 3), (2, 2, 2), 1, (1, 1, 1), False, "float32"),
]  # large enough for each way of writing them


@pytest.mark.parametrize("of", CASES, ids=str)
def test_large_convolutions_are_those_of_numpy_and_of_jax(of: Geometry) -> None:
    def loss(x: Any, w: Any) -> Any:
        out = convolved(x, w, of)
        return np.sum(out * out)

    x, w = operands(of)
    got = on("native", loss, x, w)
    same(got, on("numpy", loss, x, w), terms(of), of.dtype)
    jax = pytest.importorskip("jax")

    def theirs(x: Any, w: Any) -> Any:
        x = jax.numpy.moveaxis(x, -1, 1) if of.last else x
        options = {"rhs_dilation": of.dilation, "feature_group_count": of.groups}
        return (jax.lax.conv_general_dilated(x, w, of.stride, [(of.padding,) * 2] * of.rank, **options) ** 2).sum()

    value, gradients = jax.value_and_grad(theirs, (0, 1))(x.astype(np.float32), w.astype(np.float32))
    same(got, (np.asarray(value), [*map(np.asarray, gradients)]), terms(of), np.float32)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", [0, 1, 3])
def test_layers_that_follow_each_other_are_those_of_numpy(stride: int, padding: int) -> None:
    """Bias, ReLU and pooling in between: the delta comes from where the image was read."""

    def loss(x: Any, k: Any, b: Any, k2: Any) -> Any:
        edges = np.maximum(conv2d(x, k, b, stride=stride, padding=padding), 0)
        return np.sum(np.tanh(conv2d(max_pool2d(edges, 2, padding=1), k2, padding=1)))

    given = [drawn(shape, "float64") for shape in ((2, 3, 13, 12), (5, 3, 3, 3), (5,), (4, 5, 3, 3))]
    same(on("native", loss, *given), on("numpy", loss, *given), 4096, "float64")


def test_only_part_of_a_gradient_is_read() -> None:
    """What is cut off, by whatever index, is no part of the answer."""
    for index in (np.s_[:, :, 1:-1, 2:], np.s_[:, :, ::2, :5], np.s_[1, :, 3], np.s_[..., ::-1], np.s_[:, 1:, :, :]):

        def loss(x: Any, w: Any, index: Any = index) -> Any:
            whole = np.concatenate([x, x * 2.0], axis=0)
            padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))) if whole.ndim == 0 else x
            gradient = s.grad(lambda image: np.sum(conv2d(image, w) ** 3))(padded)
            return np.sum(gradient[index] ** 2)

        x, w = drawn((2, 3, 9, 8), "float64"), drawn((4, 3, 3, 3), "float64")
        same(on("native", loss, x, w), on("numpy", loss, x, w), 4096, "float64")


def test_an_infinite_weight_meets_no_zero_that_the_program_has_not() -> None:
    """At the border no window reads it: there the gradient is a number, for whoever asks."""

    def numbers(x: Any, w: Any) -> Any:
        gradient = s.grad(lambda image: np.sum(conv2d(image, w)))(x)
        return np.sum(np.where(gradient == gradient, 1.0, 0.0))

    x, w = drawn((1, 2, 8, 8), "float64"), drawn((3, 2, 3, 3), "float64")
    w[0, 0, 0, 0] = np.inf
    with np.errstate(all="ignore"):
        answers = []
        for machine in ("numpy", "native"):
            with s.use(machine):
                layer = s.symbolic(numbers, np.ndarray, np.ndarray, returns=float)
                answers.append([layer.predict(x, w) for _ in range(4)])
    assert answers[0] == answers[1] == [x.size] * 4


def test_borders_stay_what_they_are_from_call_to_call() -> None:
    """They are written once; another input, and a call that another thread of values came before, see the same."""

    def loss(x: Any, w: Any) -> Any:
        return np.sum(conv2d(np.pad(np.tanh(x), ((0, 0), (0, 0), (2, 1), (0, 3)), constant_values=0.5), w) ** 2)

    w = drawn((3, 2, 3, 3), "float64")
    for machine in ("numpy", "native"):
        with s.use(machine):
            layer = both(loss, w, w)
            results = [layer.predict(drawn((2, 2, 7, 6), "float64", seed), w) for seed in (1, 2, 1, 2)]
        for first, second in ((0, 2), (1, 3)):
            assert results[first][0] == results[second][0]
            assert all((a == b).all() for a, b in zip(results[first][1], results[second][1], strict=True))
        if machine == "numpy":
            want = results
    for got, one in zip(results, want, strict=True):
        same(got, one, 4096, "float64")


def test_a_padded_array_that_is_given_back_has_its_border() -> None:
    def padded(x: Any) -> Any:
        return np.pad(x * 2.0, 2)

    x = drawn((5, 6), "float64")
    with s.use("native"):
        layer = s.symbolic(padded, np.ndarray, returns=np.ndarray)
        for _ in range(4):
            del (before := [np.full((9, 10), 77.0) for _ in range(50)])[:]  # new arrays hold what was there before
            assert not before
            assert (layer.predict(x) == np.pad(x * 2.0, 2)).all()


# --------------------------------------------------------------------------- pooling

POOLED: dict[str, Callable[[Any], Any]] = {
    "max 2": lambda x: max_pool2d(x, 2),
    "max 3, overlapping": lambda x: max_pool2d(x, 3, stride=2, padding=1),
    "max, dilated": lambda x: max_pool2d(x, (2, 3), stride=1, dilation=(2, 1)),
    "max of one": lambda x: max_pool2d(x, 1, stride=2),
    "mean 2": lambda x: avg_pool2d(x, 2),
    "mean 3, overlapping": lambda x: avg_pool2d(x, (3, 2), stride=(1, 2), padding=1),
    "large": lambda x: max_pool2d(x, 7, stride=1, padding=3),
}


def with_ties(shape: tuple[int, ...], dtype: str) -> Any:
    """Whole numbers, so that entries are equally great, and zeros of both signs."""
    x = np.random.default_rng(5).integers(-2, 3, shape).astype(dtype)
    x[..., ::3] *= -0.0
    return x


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", POOLED)
@pytest.mark.parametrize("odd", [None, np.nan, np.inf])
def test_pooling_is_that_of_numpy(name: str, dtype: str, odd: float | None) -> None:
    pool = POOLED[name]

    def weighed(x: Any, w: Any) -> Any:
        return np.sum(pool(x) * w)

    def slope(x: Any, w: Any, v: Any) -> Any:
        return s.jvp(lambda x: pool(x) ** 2 * w, (x,), (v,))[1]

    x = with_ties((2, 3, 13, 35), dtype)
    v, w = drawn(x.shape, dtype), drawn(pool(x).shape, dtype)
    if odd is not None:
        x[0, 1, 5, 5] = x[1, 0, 12, 34] = odd
    found: dict[str, Any] = {}
    with np.errstate(all="ignore"):
        for machine in ("numpy", "native"):
            with s.use(machine):
                pooled = s.symbolic(pool, np.ndarray, returns=np.ndarray).predict(x)
                sloped = s.symbolic(slope, *[np.ndarray] * 3, returns=np.ndarray).predict(x, w, v)
                found[machine] = pooled, sloped, *both(weighed, x, w).predict(x, w)[1]
    for got, want in zip(found["native"], found["numpy"], strict=True):
        assert got.dtype == want.dtype == dtype
        np.testing.assert_allclose(got, want, rtol=1e-5 if dtype == "float32" else 1e-13, atol=1e-5)
    if name.startswith("max") or name == "large":
        got, want = found["native"][0], found["numpy"][0]
        assert (np.signbit(got) == np.signbit(want))[got == got].all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "int16"])
def test_every_other_entry_is_read_whatever_the_length(dtype: str) -> None:
    with s.use("native"):
        layer = s.symbolic(lambda x: x[1::2, ::2] + x[::2, 1::2], np.ndarray, returns=np.ndarray)
        for n in (2, 4, 14, 16, 30, 32, 34, 62, 66, 100):
            x = np.arange(8 * n).reshape(8, n).astype(dtype)
            assert (layer.predict(x) == x[1::2, ::2] + x[::2, 1::2]).all()
