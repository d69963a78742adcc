"""Are named sizes polynomials? Whole numbers in the place of the names are the oracle."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symbolic.polynomial import Rest, Size, Undecided, parsed

N, M = Size.named("n"), Size.named("m")
NUMBERS = st.fixed_dictionaries({name: st.integers(0, 50) for name in "nmk"})


DECISIONS: list[Callable[[Any, Any], bool]] = [operator.lt, operator.le, operator.gt, operator.ge]


def formulas() -> st.SearchStrategy[str]:
    """Sums, products and quotients of names and small numbers, as text."""
    atoms = st.sampled_from(["n", "m", "k", "0", "1", "2", "3", "7"])

    def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        sums = st.builds("({}{}{})".format, inner, st.sampled_from(["+", "-", "*"]), inner)
        return sums | st.builds("({}//{})".format, inner, st.sampled_from(["1", "2", "3", "(n+1)"]))

    return st.recursive(atoms, larger, max_leaves=8)


def at(size: Any, numbers: dict[str, int]) -> Any:
    return size.at(numbers) if isinstance(size, Size) else size


@given(formulas(), NUMBERS)
def test_the_numbers_are_those_of_the_formula(text: str, numbers: dict[str, int]) -> None:
    assert at(parsed(text), numbers) == eval(text, {}, dict(numbers))


@given(formulas())
def test_what_is_printed_is_read_again(text: str) -> None:
    size = parsed(text)
    again = parsed(str(size))
    assert str(again) == str(size)
    assert hash(again) == hash(size)


@given(formulas(), formulas(), NUMBERS)
def test_equal_sizes_are_equal_for_all_numbers(one: str, other: str, numbers: dict[str, int]) -> None:
    left, right = parsed(one), parsed(other)
    try:
        same = left == right
    except Undecided:
        return
    if same:
        assert at(left, numbers) == at(right, numbers)


@given(formulas(), formulas(), NUMBERS)
def test_what_is_decided_is_true_for_all_numbers(one: str, other: str, numbers: dict[str, int]) -> None:
    left, right = parsed(one), parsed(other)
    for decide in DECISIONS:
        try:
            said = decide(left, right)
        except Undecided:
            continue
        assert said == decide(at(left, numbers), at(right, numbers))


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (2 * N, "2*n"),
        (N + M, "m+n"),
        (M + N - M, "n"),
        (N - 1, "n-1"),
        (1 - N, "-n+1"),
        (N // 2, "n//2"),
        (2 * (N // 2), "2*(n//2)"),
        ((4 * N + 3) // 2, "2*n+1"),
        (N * M // M, "n"),
        (N * M // N * 3, "3*m"),
        (N * (M // N), "(m//n)*n"),
        (N % 2, "n-2*(n//2)"),
        ((2 * N) % 2, "0"),
        (N**2, "n*n"),
        (-(N // 2), "-(n//2)"),
        (np.int64(2) * N, "2*n"),
        (N + np.int64(2), "n+2"),
    ],
)
def test_canonical(size: Any, text: str) -> None:
    assert str(size) == text


def test_names_are_rigid() -> None:
    assert N != M
    assert N != 784
    assert N != 1
    assert Size.named("n") == N
    assert N - N == 0
    assert type(N - N) is int
    assert N is not None
    assert N != "n"
    assert len({N, M, Size.named("n")}) == 2


@pytest.mark.parametrize(
    "ask",
    [
        lambda: N < 3,
        lambda: N < M,
        lambda: int(N),
        lambda: float(N),
        lambda: range(N),
        lambda: bool(N // 2),
        lambda: N // 2 == 1,
        lambda: N // 2 == M,
        lambda: np.zeros(N),
    ],
)
def test_what_only_the_number_knows_is_undecided(ask: Callable[[], Any]) -> None:
    with pytest.raises(Undecided):
        ask()


def test_decided_for_every_number() -> None:
    assert N >= 0
    assert N + 1 > 0
    assert not N < 0
    assert N <= 2 * N
    assert bool(N + 1)
    assert bool(N - 1)  # which is not 1
    assert N // 2 == N // 2


def test_division_by_nothing() -> None:
    with pytest.raises(ZeroDivisionError):
        N // 0


def test_any_number_of_axes() -> None:
    assert str(Rest("batch")) == "*batch"
    assert str(Rest()) == "..."
    assert Rest("a") == Rest("a") != Rest("b")
    assert len({Rest("a"), Rest("a")}) == 1
