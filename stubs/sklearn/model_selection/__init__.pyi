from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

_A = TypeVar("_A", bound=NDArray[Any])
_B = TypeVar("_B", bound=NDArray[Any])
_C = TypeVar("_C", bound=NDArray[Any])

@overload
def train_test_split(
    a: _A,
    /,
    *,
    test_size: float | None = None,
    random_state: int | np.random.RandomState | None = None,
    shuffle: bool = True,
    stratify: NDArray[Any] | None = None,
) -> tuple[_A, _A]: ...
@overload
def train_test_split(
    a: _A,
    b: _B,
    /,
    *,
    test_size: float | None = None,
    random_state: int | np.random.RandomState | None = None,
    shuffle: bool = True,
    stratify: NDArray[Any] | None = None,
) -> tuple[_A, _A, _B, _B]: ...
@overload
def train_test_split(
    a: _A,
    b: _B,
    c: _C,
    /,
    *,
    test_size: float | None = None,
    random_state: int | np.random.RandomState | None = None,
    shuffle: bool = True,
    stratify: NDArray[Any] | None = None,
) -> tuple[_A, _A, _B, _B, _C, _C]: ...
