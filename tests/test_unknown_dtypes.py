"""What is known of results where an operand's dtype is not? What NumPy gives for every dtype, and nothing else."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import numpy as np
import pytest

from symbolic import Symbolic, symbolic
from symbolic import public as _public  # noqa: F401 - it fills the tables
from symbolic.layer import FUNCTIONS
from symbolic.spec import Spec, TupleSpec, same_dtype
from symbolic.static.abstract import UNKNOWN, Value
from symbolic.static.alike import alike
from symbolic.static.evaluation import call
from symbolic.static.holding import joined

DTYPES = [np.dtype(code) for code in "?bBhHiIlLqQefdgFDG"]
F8 = np.dtype(float)
OF_ARRAYS = [np.all, np.any, np.isreal, np.iscomplex, np.argmax, np.argsort, np.count_nonzero, np.isclose, np.allclose]
ASKED = [*(one for one in FUNCTIONS if isinstance(one, np.ufunc) and one.signature is None), *OF_ARRAYS]


def real(function: Any, count: int) -> set[np.dtype[Any]]:
    """The dtypes that NumPy gives, for operands of every dtype."""
    found = set()
    for dtype in DTYPES:
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                result = function(*[np.ones(3, dtype)] * count)
        except TypeError:
            continue
        found.add(np.asarray(result[0] if isinstance(result, tuple) else result).dtype)
    return found


def dtype_of(value: Any) -> Any:
    spec = value[0].spec if isinstance(value, tuple) and not isinstance(value, Value) else value.spec
    first: Any = spec[0] if isinstance(spec, TupleSpec) else spec
    return first.dtype


@pytest.mark.parametrize("function", ASKED, ids=lambda one: one.__name__)
def test_what_is_so_for_every_dtype_is_known(function: Any) -> None:
    pair = (np.isclose, np.allclose)
    count = function.nin if isinstance(function, np.ufunc) else 2 if function in pair else 1
    known = real(function, count)
    found = call(function, [Value(Spec((3,), None))] * count, {}).value
    assert found is not UNKNOWN
    assert dtype_of(found) == (known.pop() if len(known) == 1 else None)


def test_none_is_no_dtype() -> None:
    """To NumPy a dtype of None is equal to float64, by == and in tuples."""
    known, unknown = Spec((3,), F8), Spec((3,), None)
    assert known != unknown
    assert unknown != known
    assert not known == unknown  # noqa: SIM201 - both operators are asked
    assert known == Spec((3,), np.dtype("f8"))
    assert hash(known) == hash(Spec((3,), np.dtype("f8")))
    assert TupleSpec([known]) != TupleSpec([unknown])
    assert [same_dtype(*pair) for pair in ((F8, None), (None, F8), (None, None), (F8, F8))] == [
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("turned", [False, True])
def test_what_joins_is_true_of_both(turned: bool) -> None:
    pair = [Value(Spec((3,), F8)), Value(Spec((3,), None))]
    one, other = pair[::-1] if turned else pair
    assert alike([one, other]).spec.dtype is None
    assert joined(one, other).spec.dtype is None


def test_a_mask_of_anything_is_a_mask() -> None:
    """`x[x > 0]` is a choice of entries, whatever the dtype of x is."""
    mask = call(np.greater, [Value(Spec((5, 3), None)), 0.0], {}).value
    assert mask.spec == Spec((5, 3), np.dtype(bool))

    @symbolic
    def f(x: Annotated[np.ndarray, Symbolic["n"]]) -> Annotated[np.ndarray, Symbolic]:
        return x[np.greater(x, 0)] * 2.0

    for dtype in (np.float32, np.float64):
        x = np.array([1.0, -2.0, 3.0], dtype)
        assert f(x).dtype == dtype
        np.testing.assert_array_equal(f(x), np.array([2.0, 6.0]))
