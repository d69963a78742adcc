"""Are integers NumPy's at the ends of their dtypes and beyond, of Python's and of both signs, on every machine?"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from answers import attempt
from hypothesis import strategies as st
from strategies import Draw, with_examples
from subjects import leaves, network

import symbolic as s

INTEGERS = [np.dtype(one) for one in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")]
NUMBERS = [*INTEGERS, np.dtype(bool), np.dtype("f4"), np.dtype("f8")]
ENDS = [int(end) for one in INTEGERS for end in (np.iinfo(one).min, np.iinfo(one).max)]
EDGES = sorted({end + k for end in ENDS for k in (-1, 0, 1)} | {2**63, 2**64, -(2**70), 2**70, 300, 2**53 + 1})
MACHINES: tuple[Literal["numpy", "native", "auto"], ...] = ("numpy", "native", "auto")
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


def edges(dtype: np.dtype[Any]) -> Any:
    """Numbers of a dtype where something changes."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        return np.array([0, 1, -1, 0.5, 2**24, 2**31, 2**53, 2.0**63, -(2.0**63), 2.0**64], dtype)
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return np.array([least, least + 1, 0, 1, 44, most // 2 + 1, most - 1, most], dtype)


def assert_as_numpy(function: Callable[..., Any], *arrays: Any, calls: int = 3, refused: bool = False) -> None:
    """To the bit and to the dtype, at each call; where NumPy raises, so do layers. Elsewhere they may, if `refused`."""
    with np.errstate(all="ignore"):
        want = attempt(function, [one.copy() for one in arrays])
        for machine in MACHINES:
            with s.use(machine):
                net = network(function, len(arrays))
                for _ in range(calls if machine == "auto" else 1):
                    got = attempt(net.predict, arrays)
                    right = same(got, want) or (refused and isinstance(got, Exception))
                    assert right, f"{machine}: {got!r}, NumPy {want!r}"


def same(got: Any, want: Any) -> bool:
    if isinstance(want, Exception) or isinstance(got, Exception):
        return isinstance(want, Exception) and isinstance(got, Exception)
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(leaves(got), leaves(want), strict=True)]
    return all(a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_comparisons_with_any_integer(dtype: np.dtype[Any]) -> None:
    def right(x: Any) -> Any:
        return tuple([compare(x, number) for number in EDGES for compare in COMPARISONS])

    def left(x: Any) -> Any:
        return tuple([compare(number, x) for number in EDGES for compare in COMPARISONS])

    assert_as_numpy(right, edges(dtype))
    assert_as_numpy(left, edges(dtype))


def written(x: Any, number: int) -> Any:
    x = x + np.zeros_like(x)
    x[1] = number
    return x


def filled(x: Any, number: int) -> Any:
    x = np.zeros_like(x)
    x[...] = number
    return x


def masked(x: Any, number: int) -> Any:
    x = x + np.zeros_like(x)
    x[x > 1] = number
    return x


def added(x: Any, number: int) -> Any:
    x = x + np.zeros_like(x)
    x += number
    return x


OF_ONE: dict[str, Callable[[Any, int], Any]] = {
    **{one.__name__: one for one in (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod)},
    **{one.__name__: one for one in (operator.and_, operator.or_, operator.xor, operator.truediv, *COMPARISONS)},
    **{one.__name__: one for one in (np.maximum, np.minimum, np.logical_and, np.logical_xor, np.full_like)},
    **{one.__name__: one for one in (written, filled, masked, added)},
    "from the left": lambda x, n: n - x,
    "least": lambda x, n: np.clip(x, n, None),
    "greatest": lambda x, n: np.clip(x, None, n),
    "from": lambda x, n: np.clip(x, n, 5),
    "to": lambda x, n: np.clip(x, 1, n),
    "to a number of NumPy's": lambda x, n: np.clip(x, n, np.uint8(4)),
    "where": lambda x, n: np.where(x > 1, x, n),
    "counted": lambda x, n: np.sum(np.where(x > n, 1.0, 0.0)),
    "both": lambda x, n: (x >= 0) & (x < n),
    "padded": lambda x, n: np.pad(x, 1, constant_values=n),
    "stacked": lambda x, n: np.append(x, n),
    "among": lambda x, n: np.isin(x, [n, 1]),
    "begun with": lambda x, n: np.max(x, initial=n),
    "begun with where": lambda x, n: np.max(x, initial=n, where=x > 1),
    "begun": lambda x, n: np.sum(x, initial=n),
    "of NumPy's": lambda x, n: x + np.int64(n),
}


@pytest.mark.parametrize("name", OF_ONE)
def test_an_integer_beside_an_array(name: str) -> None:
    def agree(draw: Draw) -> None:
        x, number = edges(draw.pick(NUMBERS)), draw.data.draw(st.sampled_from(EDGES) | st.integers(-5, 5))
        refused = name == "padded" or abs(number) >= 2**63  # it wraps in some dtypes; and no layer has objects
        assert_as_numpy(lambda x: OF_ONE[name](x, number), x, refused=refused)

    with_examples(12, agree)


OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    **{one.__name__: one for one in (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod)},
    **{one.__name__: one for one in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift)},
    **{one.__name__: one for one in (np.maximum, np.minimum, np.logical_and, np.logical_xor, np.fmax, np.fmin)},
    "where": lambda x, y: np.where(x > y, x, y),
    "joined": lambda x, y: np.stack(np.broadcast_arrays(x, y)),
    "whole power": lambda x, y: x ** (y & 3),
}


def test_comparisons_of_every_two_dtypes() -> None:
    def agree(draw: Draw) -> None:
        one, other = draw.pick(NUMBERS), draw.pick(NUMBERS)
        assert_as_numpy(
            lambda x, y: tuple([compare(x, y) for compare in COMPARISONS]), edges(one)[:, np.newaxis], edges(other)
        )

    with_examples(40, agree)


@pytest.mark.parametrize("kinds", [("u8", "i8"), ("i8", "u8"), ("u8", "i1"), ("i2", "u8")])
def test_a_negative_number_is_less_than_any_without_a_sign(kinds: tuple[str, str]) -> None:
    one, other = [edges(np.dtype(kind)) for kind in kinds]
    many = np.resize(one, 133)  # whole vectors of them, and some more

    def compared(x: Any, y: Any) -> Any:
        return tuple([compare(x, y) for compare in COMPARISONS])

    assert_as_numpy(compared, one[:, np.newaxis], other)
    assert_as_numpy(compared, many, np.resize(other, 131)[-1])
    assert_as_numpy(compared, many, np.repeat(other, 17)[:133])


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two_dtypes(name: str) -> None:
    def agree(draw: Draw) -> None:
        one, other = draw.pick(NUMBERS), draw.pick(NUMBERS)
        assert_as_numpy(OF_TWO[name], edges(one)[:, np.newaxis], edges(other))

    with_examples(8, agree)


@pytest.mark.parametrize("dtype", [*NUMBERS, np.dtype("f2")], ids=str)
def test_powers_by_a_number(dtype: np.dtype[Any]) -> None:
    """The operator is NumPy's square by 2, which gives other integers of truths than np.power does."""
    x = np.array([[1, 0, 3]]).astype(dtype)

    def powers(x: Any) -> Any:
        return x**0, x**1, x**2, x**3, x**2.0, x**0.5, x ** np.int8(2), x ** np.uint8(2), 2**x, np.square(x)

    def functions(x: Any) -> Any:
        return np.power(x, 2), np.power(x, 3), np.power(x, 2.0), np.float_power(x, 2), ~((x > 0) ** 2)

    for function in (powers, functions):
        assert_as_numpy(function, x)
        assert_as_numpy(function, x[0, :1])


def into(ufunc: Any, dtype: Any) -> Callable[[Any, Any], Any]:
    def function(x: Any, mask: Any) -> Any:
        out = (x | x).astype(dtype)
        ufunc(*[x] * ufunc.nin, out=out, where=mask)
        return out

    return function


@pytest.mark.parametrize("ufunc", [np.invert, np.bitwise_xor, np.logical_not, np.add, np.multiply, np.minimum])
def test_what_a_mask_leaves_out_keeps_its_dtype(ufunc: Any) -> None:
    mask = np.array([True, True, False])
    for dtype in ("?", "i1", "u1", "i8"):
        for result in (dtype, "i8"):
            assert_as_numpy(into(ufunc, result), np.array([1, 0, 7]).astype(dtype), mask)


def test_a_number_that_only_the_call_knows() -> None:
    def less(x: Any, n: Any) -> Any:
        y = x * 1.0
        y[0] = n
        return np.where(x < n, y, 0.0)

    x = edges(np.dtype("u1"))
    for machine in MACHINES:
        with s.use(machine):
            net = s.symbolic(less, np.ndarray, int, returns=np.ndarray)
            for number in (5, -1, 256, 2**70, 2**63, 7):
                np.testing.assert_array_equal(net.predict(x, number), less(x, number))
