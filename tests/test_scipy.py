"""Do SciPy's functions keep the laws that NumPy's keep? Each law loops over what is registered of SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy", reason="SciPy's functions are differentiated where SciPy is installed")

import test_laws as laws
from scipy_makers import by_last, in_single, through
from subjects import OWNERS, Subject, of_function, owners

from symbolic import public as _public  # noqa: F401 - it fills the tables
from symbolic.layer import FUNCTIONS
from symbolic.naming import home
from symbolic.ops.foreign import ROOMS, ByLast, load

for package in ROOMS:
    load(package)
OWNERS.update(owners())

REGISTERED: list[Any] = [one for one in FUNCTIONS if home(one).startswith("scipy")]
REFUSED = {"lu", "lu_factor"}
"""In the registry only to be refused by name."""
APART = {"cho_factor", "det", "eigh", "lstsq"}
"""Results without a gradient, in another precision or of any sign: see their own tests."""
SCIPY = [one for one in REGISTERED if one.__name__ not in REFUSED | APART]


def _subjects() -> list[Subject]:
    found = [_made(one) for function in SCIPY for one in of_function(function)]
    return [one._replace(function=through(one.function)) for one in found]


def _made(subject: Subject) -> Subject:
    """By the last argument, where the operation has a formula for no other."""
    owner = OWNERS.get(subject.function)
    if not isinstance(subject.function, np.ufunc):
        return subject._replace(make=in_single(subject.make))
    if owner is None or not issubclass(owner, ByLast):
        return subject
    return subject._replace(make=by_last(subject.function.nin))


SUBJECTS = _subjects()
ONLY_REAL = {"scipy.special.psi"} | {one.name for one in SUBJECTS if one.name.startswith("scipy.spatial")}
"""There is no trigamma of complex numbers, and SciPy's distances forget imaginary parts: both are refused."""
FEW = max(2, laws.EXAMPLES // 10)

test_value = laws.drawn(laws.law_value, FEW, SUBJECTS)
test_infer = laws.drawn(laws.law_infer, FEW, SUBJECTS)
test_gradient = laws.drawn(laws.law_gradient, FEW, SUBJECTS)
test_complex_gradient = laws.drawn(laws.law_complex, FEW, [one for one in SUBJECTS if one.name not in ONLY_REAL])
test_single_precision = laws.drawn(laws.law_single, FEW, SUBJECTS)
test_second_derivative = laws.drawn(laws.law_second, FEW, SUBJECTS)
test_hidden = laws.drawn(laws.law_hidden, FEW, SUBJECTS)
test_oracle = laws.drawn(laws.law_oracle, FEW // 3 or 1, SUBJECTS)
