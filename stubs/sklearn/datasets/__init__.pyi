from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

class _Digits:
    data: NDArray[np.float64]
    """1797 rows of 64 pixels, 0 to 16."""
    images: NDArray[np.float64]
    """The same as 1797 x 8 x 8."""
    target: NDArray[np.int64]
    """The digit that is shown."""

@overload
def load_digits(*, return_X_y: Literal[False] = False) -> _Digits: ...
@overload
def load_digits(*, return_X_y: Literal[True]) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
