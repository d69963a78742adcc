"""Are sums and tables of products what they are by definition: Einstein's, crosses, Kronecker's, convolutions?

The oracle is the definition, one product after the other in Python's own numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from math import fsum, prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import symbolic as s
from symbolic import grad, symbolic, value_and_grad
from symbolic.backends.native.making import Making
from symbolic.ops.einsum import Einsum

pytest.importorskip("llvmlite")

Arrays = Sequence[Any]
FORMS = [
    "i,ij,j->",
    "ir,jr,kr->ijk",
    "bi,bj,ijk->bk",
    "ni,ij,kj,nk->n",
    "ij,jk,ki->",
    "i,j,k->kij",
    "ii,ij,j->i",
    "iij,j,k->ik",
    "ij,k,jl->l",
    ",i,ij->j",
    "aij,ai,j,a->j",
    "ijj,j->i",
    "ij->",
    "iji->j",
    "ij,ij,ij->ji",
    "ij,k->i",
]
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda x: x,
    "from the end": lambda x: np.flip(x),
    "in Fortran's order": lambda x: x.copy(order="F"),
    "every second": lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
}
SIZES = {"a": 2, "b": 3, "i": 3, "j": 2, "k": 4, "l": 2, "n": 5, "r": 2}
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-310, 1e300]


def split(subscripts: str) -> tuple[list[str], str]:
    inputs, _, result = subscripts.partition("->")
    return inputs.split(","), result


def by_definition(subscripts: str, arrays: Arrays, weights: Any) -> tuple[Any, list[Any], float]:
    """The sums, the gradients of their weighted sum, and the largest sum of absolute terms among all."""
    terms, result = split(subscripts)
    letters = sorted(set("".join(terms)))
    summands: list[dict[Any, list[float]]] = [{} for _ in range(len(terms) + 1)]
    for places in itertools.product(*[range(SIZES[letter]) for letter in letters]):
        at = dict(zip(letters, places, strict=True))
        index = [tuple([at[letter] for letter in term]) for term in (*terms, result)]
        factors = [float(array[place]) for array, place in zip(arrays, index, strict=False)]
        summands[-1].setdefault(index[-1], []).append(prod(factors))
        for k in range(len(terms)):
            rest = prod(factors[:k] + factors[k + 1 :])
            summands[k].setdefault(index[k], []).append(rest * float(weights[index[-1]]))
    found = [np.zeros(np.shape(one)) for one in (*arrays, weights)]
    for sums, array in zip(summands, found, strict=True):
        for place, addends in sums.items():
            array[place] = fsum(addends)
    largest = max(fsum(map(abs, addends)) for sums in summands for addends in sums.values())
    return found[-1], found[:-1], largest


def drawn(subscripts: str, dtype: Any, seed: int) -> tuple[list[Any], Any]:
    rng = np.random.default_rng(seed)
    terms, result = split(subscripts)
    shapes = [tuple([SIZES[letter] for letter in term]) for term in (*terms, result)]
    found = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    return found[:-1], found[-1]


def explained(programs: list[Making]) -> str:
    return " ".join(one.explain() for one in programs)


# --------------------------------------------------------------------------- Einstein's sums


@pytest.mark.parametrize("machine", ["numpy", "native"])
@pytest.mark.parametrize("subscripts", FORMS)
@settings(max_examples=4, deadline=None)
@given(dtype=st.sampled_from([np.float64, np.float32]), layout=st.sampled_from(sorted(LAYOUTS)), seed=st.integers(0, 9))
def test_an_einstein_sum_is_what_its_letters_say(
    machine: Any, subscripts: str, dtype: Any, layout: str, seed: int
) -> None:
    arrays, weights = drawn(subscripts, dtype, seed)
    arrays = [LAYOUTS[layout](array) for array in arrays]
    want, slopes, largest = by_definition(subscripts, arrays, weights)

    def loss(*given_: Any) -> Any:
        return np.sum(np.einsum(subscripts, *given_) * weights)

    with s.use(machine):
        net = symbolic(_of(subscripts, len(arrays)), *[np.ndarray] * len(arrays), returns=np.ndarray)
        values = [net.predict(*arrays) for _ in range(4)]
        slope = value_and_grad(loss, argnums=tuple(range(len(arrays))))
        deltas = [slope(*arrays)[1] for _ in range(4)][-1]
    within = 32 * np.finfo(dtype).eps * largest
    for value in values:
        assert value.dtype == dtype
        assert np.shape(value) == want.shape
        np.testing.assert_allclose(value, want, rtol=0, atol=within)
    for delta, slope_ in zip(deltas, slopes, strict=True):
        assert delta.dtype == dtype
        np.testing.assert_allclose(delta, slope_, rtol=0, atol=within)


def _of(subscripts: str, count: int) -> Any:
    """A function with so many parameters."""
    return {
        1: lambda a: np.einsum(subscripts, a),
        2: lambda a, b: np.einsum(subscripts, a, b),
        3: lambda a, b, c: np.einsum(subscripts, a, b, c),
        4: lambda a, b, c, d: np.einsum(subscripts, a, b, c, d),
    }[count]


@pytest.mark.parametrize("subscripts", FORMS)
def test_einstein_sums_are_loops_of_the_program(subscripts: str, programs: list[Making]) -> None:
    arrays, weights = drawn(subscripts, np.float64, 1)
    loss = value_and_grad(lambda *a: np.sum(np.einsum(subscripts, *a) * weights), argnums=tuple(range(len(arrays))))
    loss(*arrays)
    assert programs
    assert "NumPy: " not in explained(programs)


def test_what_lies_between_two_steps_is_shared_with_the_way_back() -> None:
    """Two steps there; two for each of them back."""
    loss = symbolic(
        lambda a, b, c: sum(map(np.sum, grad(lambda *x: np.sum(np.einsum("ij,jk,kl->il", *x)), (0, 1, 2))(a, b, c))),
        *[np.ndarray] * 3,
        returns=np.ndarray,
    )
    program = loss.program(np.ones((3, 4)), np.ones((4, 5)), np.ones((5, 6)))
    sums = [one for one in program.instructions if isinstance(one.node, Einsum)]
    assert all(len(one.sources) == 2 for one in sums)
    assert len(sums) == 1 + 4  # the last step's value is read by nobody


def test_no_more_lies_between_two_steps_than_the_order_needs() -> None:
    """A long chain of matrices for a vector is never a matrix."""
    net = symbolic(lambda a, b, x: np.einsum("ij,jk,k->i", a, b, x), *[np.ndarray] * 3, returns=np.ndarray)
    program = net.program(np.ones((30, 30)), np.ones((30, 30)), np.ones(30))
    assert {one.spec.shape for one in program.instructions} == {(30,)}  # type: ignore[union-attr]  # arrays


@pytest.mark.parametrize("machine", ["numpy", "native"])
@pytest.mark.parametrize("kinds", list(itertools.product(["i1", "i8", "f4", "?"], repeat=3))[::3], ids="-".join)
def test_operands_of_several_dtypes_are_multiplied_in_that_of_the_result(machine: Any, kinds: Sequence[str]) -> None:
    """A hundred times a hundred is no small integer; among flags alone any is all there is."""
    arrays = [np.array([100, 3], kind) for kind in kinds]
    net = symbolic(lambda a, b, c: np.einsum("i,i,j->j", a, b, c), *[np.ndarray] * 3, returns=np.ndarray)
    want = np.einsum("i,i,j->j", *arrays, optimize=False)
    with s.use(machine):
        for _ in range(4):
            got = net.predict(*arrays)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


def test_nothing_flows_beside_a_diagonal() -> None:
    """Not even where what flows along it is infinite: 0 times infinity is nowhere computed."""
    for machine in ("numpy", "native"):
        with s.use(machine):
            delta = grad(lambda x: np.einsum("ii->", x) * np.inf)(np.ones((3, 3)))
            np.testing.assert_array_equal(delta, np.where(np.eye(3, dtype=bool), np.inf, 0.0))


# --------------------------------------------------------------------------- crosses and Kronecker's tables

_TURNS = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
PAIRS = [((3,), (3,)), ((5, 3), (5, 3)), ((4, 1, 3), (6, 3)), ((3,), (7, 3)), ((2, 3, 4, 3), (4, 3))]


@pytest.mark.parametrize("machine", ["numpy", "native"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shapes", PAIRS, ids=str)
def test_a_cross_product_is_the_signed_sum_of_its_definition(machine: Any, dtype: Any, shapes: Any) -> None:
    rng = np.random.default_rng(3)
    x, y = (rng.normal(size=shape).astype(dtype) for shape in shapes)
    w = rng.normal(size=np.broadcast_shapes(*shapes)).astype(dtype)
    signs = np.zeros((3, 3, 3))
    for i, j, k in _TURNS:
        signs[i, j, k], signs[i, k, j] = 1.0, -1.0
    wide = [one.astype(np.longdouble) for one in (x, y, w)]
    value = np.einsum("ijk,...j,...k->...i", signs, *wide[:2])
    dx = np.einsum("ijk,...k,...i->...j", signs, *wide[1:])
    dy = np.einsum("ijk,...j,...i->...k", signs, wide[0], wide[2])
    net = symbolic(lambda x, y: np.cross(x, y), np.ndarray, np.ndarray, returns=np.ndarray)
    slope = grad(lambda x, y: np.sum(np.cross(x, y) * w), (0, 1))
    with s.use(machine):
        found = [(net.predict(x, y), *slope(x, y)) for _ in range(4)][-1]
    for got, want in zip(found, (value, _summed(dx, x.shape), _summed(dy, y.shape)), strict=True):
        assert got.dtype == dtype
        np.testing.assert_allclose(got, want.astype(float), rtol=0, atol=200 * np.finfo(dtype).eps)


def _summed(x: Any, shape: tuple[int, ...]) -> Any:
    x = np.sum(x, axis=tuple(range(x.ndim - len(shape))))
    return np.sum(x, axis=tuple([k for k, size in enumerate(shape) if size != x.shape[k]]), keepdims=True)


@pytest.mark.parametrize("machine", ["numpy", "native"])
@pytest.mark.parametrize("axes", [{}, {"axis": 0}, {"axisa": 0, "axisb": 1, "axisc": 0}, {"axisc": 0}])
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.int8, np.uint16, np.complex128])
def test_special_entries_are_crossed_as_numpy_crosses_them(machine: Any, axes: Any, dtype: Any) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(-9, 9, (3, 3)), rng.integers(0, 9, (3, 3))
    with np.errstate(all="ignore"):
        x, y = x.astype(dtype), y.astype(dtype)
        if dtype is np.float64:
            x[0], y[:, 1] = rng.choice(SPECIAL, 3), rng.choice(SPECIAL, 3)
        want = np.cross(x, y, **axes)
    net = symbolic(lambda x, y: np.cross(x, y, **axes), np.ndarray, np.ndarray, returns=np.ndarray)
    with s.use(machine), np.errstate(all="ignore"):
        for _ in range(4):
            got = net.predict(x, y)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("machine", ["numpy", "native"])
@pytest.mark.parametrize(
    "shapes", [((2,), (3,)), ((2, 3), (4, 2)), ((3,), (2, 2)), ((2, 1, 2), (3,)), ((), (2, 3)), ((), ())], ids=str
)
def test_kronecker_s_table_has_every_product_where_numpy_has_it(machine: Any, shapes: Any) -> None:
    rng = np.random.default_rng(2)
    for seed in range(2):
        x, y = (rng.normal(size=shape) if not seed else rng.choice(SPECIAL, shape) for shape in shapes)
        with np.errstate(all="ignore"):
            want = np.kron(x, y)
        net = symbolic(lambda x, y: np.kron(x, y), np.ndarray, np.ndarray, returns=np.ndarray)
        with s.use(machine), np.errstate(all="ignore"):
            for _ in range(4):
                got = net.predict(np.asarray(x), np.asarray(y))
                np.testing.assert_array_equal(got, want)
                np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("machine", ["numpy", "native"])
@pytest.mark.parametrize("shapes", [((2,), (3,)), ((2, 3), (4, 2)), ((3,), (2, 2)), ((2, 1, 2), (3,))], ids=str)
def test_the_delta_of_a_table_is_a_sum_over_its_blocks(machine: Any, shapes: Any) -> None:
    rng = np.random.default_rng(4)
    x, y = (rng.normal(size=shape) for shape in shapes)
    w = rng.normal(size=np.kron(x, y).shape)
    want = [np.zeros(shape) for shape in shapes]
    for total, other, swapped in ((want[0], y, False), (want[1], x, True)):
        for place in np.ndindex(total.shape):
            unit = np.zeros(total.shape)
            unit[place] = 1.0
            total[place] = np.sum((np.kron(other, unit) if swapped else np.kron(unit, other)) * w)
    slope = grad(lambda x, y: np.sum(np.kron(x, y) * w), (0, 1))
    with s.use(machine):
        found = [slope(x, y) for _ in range(4)][-1]
    for got, wanted in zip(found, want, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


# --------------------------------------------------------------------------- sequences

MODES: list[tuple[Callable[..., Any], str]] = [
    (function, mode) for function in (np.convolve, np.correlate) for mode in ("full", "same", "valid")
]


@pytest.mark.parametrize("machine", ["numpy", "native"])
@pytest.mark.parametrize(("function", "mode"), MODES, ids=[f"{one.__name__}-{mode}" for one, mode in MODES])
@pytest.mark.parametrize("sizes", [(1, 1), (5, 3), (3, 5), (4, 4), (1, 6), (70, 9), (300, 280)], ids=str)
def test_sequences_are_convolved_as_numpy_convolves_them(machine: Any, function: Any, mode: str, sizes: Any) -> None:
    """And their deltas are those of the products that they sum: one for each shift of one unit."""
    rng = np.random.default_rng(sum(sizes))
    for dtype in (np.float64, np.float32):
        x, y = (rng.normal(size=size).astype(dtype) for size in sizes)
        want = function(x.astype(np.longdouble), y.astype(np.longdouble), mode)
        w = rng.normal(size=want.shape).astype(dtype)
        net = symbolic(lambda x, y: function(x, y, mode), np.ndarray, np.ndarray, returns=np.ndarray)
        slope = grad(lambda x, y, w=w: np.sum(function(x, y, mode) * w), (0, 1))
        with s.use(machine):
            for given_ in ((x, y), (x[::-1].copy()[::-1], np.repeat(y, 2)[::2])):
                value, (dx, dy) = [(net.predict(*given_), slope(*given_)) for _ in range(4)][-1]
                within = 32 * np.finfo(dtype).eps * min(sizes)
                np.testing.assert_allclose(value, want.astype(float), rtol=0, atol=within)
                assert value.dtype == dx.dtype == dy.dtype == dtype
        for k in {0, sizes[0] // 2, sizes[0] - 1}:
            unit = np.eye(sizes[0], dtype=np.longdouble)[k]
            np.testing.assert_allclose(dx[k], float(np.sum(function(unit, y, mode) * w)), rtol=0, atol=within * 4)
        for k in {0, sizes[1] // 2, sizes[1] - 1}:
            unit = np.eye(sizes[1], dtype=np.longdouble)[k]
            np.testing.assert_allclose(dy[k], float(np.sum(function(x, unit, mode) * w)), rtol=0, atol=within * 4)


@pytest.mark.parametrize("machine", ["numpy", "native"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", [0, 1])
def test_nothing_beyond_the_ends_of_a_sequence_is_multiplied(machine: Any, bad: float, which: int) -> None:
    """Infinity times a zero that is not there is nothing, also where nobody sees a NaN in the result."""
    net = symbolic(lambda x, y: np.where(np.isnan(np.convolve(x, y)), 1.0, 2.0), *[np.ndarray] * 2, returns=np.ndarray)
    with s.use(machine):
        for place in range(3):
            given_: list[Any] = [np.arange(1.0, 8.0), np.arange(1.0, 4.0)]
            given_[which][place] = bad
            for _ in range(4):
                want = np.where(np.isnan(np.convolve(*given_)), 1.0, 2.0)
                np.testing.assert_array_equal(net.predict(*given_), want)


def test_sequences_are_loops_of_the_program(programs: list[Making]) -> None:
    for function, mode in MODES:
        value_and_grad(lambda x, y, f=function, m=mode: np.sum(f(x, y, m) ** 2), (0, 1))(np.ones(9), np.ones(4))
    assert len(programs) >= len(MODES)
    assert "NumPy: " not in explained(programs)


def test_crosses_and_tables_are_loops_of_the_program(programs: list[Making]) -> None:
    x, y = np.ones((5, 3)), np.ones(3)
    for function in (np.cross, np.kron):
        value_and_grad(lambda x, y, f=function: np.sum(f(x, y) ** 2), (0, 1))(x, y)
    assert len(programs) >= 2
    assert "NumPy: " not in explained(programs)
