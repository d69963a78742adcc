"""What does a call mean that hands a traced value to plain Python? Tables, asked by the rewritten code of a body.

NumPy's functions come to a layer by themselves; these do not: `float`, `math.exp`, `np.array`, and other libraries'.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Handler = Callable[[tuple[Any, ...], dict[str, Any]], Any]

CALLS: dict[Any, Handler] = {}
"""By the function that is called: what it gives where an argument is traced."""
MAKING: dict[Any, Callable[..., Any]] = {}
"""By the function that is called: what stands in its place, whatever its arguments are: array makers, `isinstance`."""
