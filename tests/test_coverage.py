"""Does every function of NumPy that can be overridden have a standing, and is the page about it true?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from answers import assert_equal
from coverage_table import PAGE, REFUSED, creation, name_of, page, refusal, rows
from everything import overridable, public_modules
from subjects import APART, ASKING, SUBJECTS

from symbolic import SymbolicError, grad
from symbolic import public as _public  # noqa: F401 - it fills the tables
from symbolic.layer import FUNCTIONS, unsupported

EVERYTHING = sorted([*overridable().functions, *overridable().ufuncs], key=name_of)
UNSUPPORTED = [one for one in EVERYTHING if one not in FUNCTIONS and one not in creation()]
LEAST = 330
GENERIC = unsupported("").remedy


def test_all_of_numpy_is_asked() -> None:
    names = {module.__name__ for module in public_modules()}
    assert {"numpy.linalg", "numpy.fft", "numpy.strings", "numpy.char", "numpy.lib.recfunctions"} <= names
    assert 320 <= len(overridable().functions) <= 370
    assert 120 <= len(overridable().ufuncs) <= 135


def test_what_is_registered_is_in_the_laws() -> None:
    tested = {id(function) for function in FUNCTIONS if function not in APART}
    assert {id(one) for one in EVERYTHING if one in FUNCTIONS} <= tested | set(map(id, APART))
    lawful = {subject.name for subject in SUBJECTS}
    ours = [one for one in EVERYTHING if one in FUNCTIONS and one not in APART]
    assert [name_of(one) for one in ours if _in_laws(one) not in lawful] == []


def _in_laws(function: Any) -> str:
    return name_of(function).removesuffix(" (ufunc)")


@pytest.mark.parametrize("function", UNSUPPORTED, ids=name_of)
def test_what_is_refused_is_refused_by_name(function: Any) -> None:
    error = refusal(function)
    assert function.__name__.strip("_") in error.seen
    assert error.remedy and error.remedy != GENERIC, f"{name_of(function)}: no remedy of its own in ops/refusals.py"


def test_the_page_is_true() -> None:
    """Of another NumPy the rows that both have are compared. Enough of them are supported."""
    assert sum(row.standing != REFUSED for row in rows()) >= LEAST
    written = PAGE.read_text(encoding="utf-8")
    version = ".".join(np.__version__.split(".")[:2])
    if f"NumPy {version} says" in written:
        assert page() == written, "write it anew: python tests/coverage_table.py"
        return
    lines = {line.split("`")[1]: line for line in written.splitlines() if line.startswith("| `")}
    for row in rows():
        assert row.name not in lines or f"| {row.standing} |" in lines[row.name]


def test_enough_is_supported() -> None:
    supported = [one for one in EVERYTHING if one in FUNCTIONS or one in creation()]
    assert len(supported) >= LEAST


# --------------------------------------------------------------------------- questions about shapes and dtypes

X = np.arange(9.0).reshape(3, 3)
QUESTIONS: dict[Any, Any] = {
    np.can_cast: lambda x: np.can_cast(x, np.float32),
    np.common_type: lambda x: np.common_type(x, np.float32(1)),
    np.min_scalar_type: np.min_scalar_type,
    np.result_type: lambda x: np.result_type(x, np.complex64, 3),
    np.einsum_path: lambda x: np.einsum_path("ij,jk,kl->il", x, x, x)[0],
    np.diag_indices_from: np.diag_indices_from,
    np.tril_indices_from: lambda x: np.tril_indices_from(x, 1),
    np.triu_indices_from: np.triu_indices_from,
}


@pytest.mark.parametrize("function", ASKING, ids=name_of)
def test_questions_have_numpys_answer(function: Any) -> None:
    answers: list[Any] = []

    def body(x: Any) -> Any:
        answers.append(QUESTIONS[function](x))
        return np.sum(x)

    grad(body)(X)
    want = QUESTIONS[function](X)
    if isinstance(want, tuple):
        for got, one in zip(answers[0], want, strict=True):
            assert_equal(got, one, function)
    else:
        assert answers[0] == want


def test_a_question_for_a_value_is_refused() -> None:
    with pytest.raises(SymbolicError, match="min_scalar_type"):
        grad(lambda x: x * float(np.min_scalar_type(x).itemsize))(1.0)
