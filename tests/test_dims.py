"""Do dimensions in a hint mean what they mean in jaxtyping? jaxtyping is the oracle."""

from typing import Any

import jaxtyping
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbolic import ShapeError
from symbolic.dims import Names, parse

SIZES = st.integers(0, 4)
SHAPES = st.lists(SIZES, max_size=4).map(tuple)
FIXED = st.sampled_from(["n", "m", "2", "3", "_", "#n", "#3", "#m", "size=3"])
STARS = st.sampled_from(["*batch", "...", "*_"])
BOUND = st.sampled_from(["2*n", "n-1", "n+m", "n*m", "n+1", "m", "n", "#n"])


@st.composite
def words(draw: st.DrawFn) -> str:
    """The dimensions of one array, with at most one part of any length."""
    found = draw(st.lists(FIXED, max_size=3))
    if draw(st.booleans()):
        found.insert(draw(st.integers(0, len(found))), draw(STARS))
    return " ".join(found)


def ours(pairs: list[tuple[str, tuple[int, ...]]]) -> bool:
    names = Names()
    try:
        for k, (text, shape) in enumerate(pairs):
            names.match(parse([text]), shape, f"argument {k}")
    except ShapeError:
        return False
    return True


def jaxtypings(pairs: list[tuple[str, tuple[int, ...]]]) -> bool:
    with jaxtyping.jaxtyped("context"):  # its names are shared within the block
        kinds: list[Any] = [jaxtyping.Float[np.ndarray, text] for text, _ in pairs]
        return all(isinstance(np.zeros(shape), kind) for kind, (_, shape) in zip(kinds, pairs, strict=True))


@given(words(), SHAPES)
def test_one_array(text: str, shape: tuple[int, ...]) -> None:
    assert ours([(text, shape)]) == jaxtypings([(text, shape)])


@given(words(), SHAPES, words(), SHAPES)
def test_two_arrays_share_their_names(one: str, shape: tuple[int, ...], other: str, second: tuple[int, ...]) -> None:
    pairs = [(one, shape), (other, second)]
    assert ours(pairs) == jaxtypings(pairs)


@given(st.tuples(SIZES, SIZES), st.lists(BOUND, max_size=3), SHAPES)
def test_expressions_of_bound_names(bound: tuple[int, int], later: list[str], shape: tuple[int, ...]) -> None:
    pairs: list[tuple[str, tuple[int, ...]]] = [("n m", bound), (" ".join(later), shape)]
    assert ours(pairs) == jaxtypings(pairs)


@given(SIZES, SIZES)
def test_an_expression_may_come_before_its_names(n: int, doubled: int) -> None:
    """Which jaxtyping refuses: here the order of the parameters does not matter."""
    assert ours([("2*n", (doubled,)), ("n", (n,))]) == (doubled == 2 * n)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("batch", 784), "batch 784"),
        ((784,), "784"),
        (("batch 784",), "batch 784"),
        ((..., 3), "... 3"),
        (("*batch", "n n-1"), "*batch n n-1"),
        (("",), ""),
    ],
    ids=str,
)
def test_one_by_one_or_in_one_string(parts: Any, text: str) -> None:
    assert " ".join(axis.text for axis in parse(parts)) == text


@pytest.mark.parametrize(
    "written", ["n n+", "a**b", "f(n)", "*a *b", "... *a", "n/2", "n[0]", "1.5", "-", "n!", "lambda: 1"]
)
def test_what_is_no_dimension_is_refused_with_a_remedy(written: str) -> None:
    with pytest.raises(ShapeError, match=r"hint.*; ?write"):
        parse([written])


@pytest.mark.parametrize("part", [-1, 1.5, True, None, b"n"], ids=repr)
def test_what_is_no_size_is_refused(part: Any) -> None:
    with pytest.raises(ShapeError, match="hint"):
        parse([part])


def test_an_unknown_size_fits_all() -> None:
    names = Names()
    names.match(parse(["n 3"]), (None, 3), "x")
    names.match(parse(["n"]), (7,), "y")
    names.match(parse(["n"]), None, "z")
    with pytest.raises(ShapeError):
        names.match(parse(["n"]), (8,), "y")


def test_a_clash_says_both_sizes_and_who_bound_the_name() -> None:
    names = Names()
    names.match(parse(["batch 784"]), (32, 784), "argument x")
    with pytest.raises(ShapeError) as caught:
        names.match(parse(["batch"]), (31,), "argument labels")
    text = str(caught.value)
    assert "argument labels" in text and "(31,)" in text and "batch" in text and "32" in text and "argument x" in text
