"""Names for hints, which `aliases.py` imports."""

from collections.abc import Callable
from typing import Annotated

import numpy as np
from typing_extensions import TypeAlias

from symbolic import Symbolic

Vector = Annotated[np.ndarray, Symbolic]
Scalar: TypeAlias = Annotated[float, Symbolic]
Loss = Annotated[Callable[[np.ndarray], float], Symbolic]
Native = np.ndarray
