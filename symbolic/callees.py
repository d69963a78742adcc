"""What does a call mean that hands a traced value to plain Python? Tables, asked by the rewritten code of a body.

NumPy's functions come to a layer by themselves; these do not: `float`, `math.exp`, `np.array`, and other libraries'.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Handler = Callable[[tuple[Any, ...], dict[str, Any]], Any]

CALLS: dict[Any, Handler] = {}
"""By the function that is called: what it gives where an argument is traced."""
BOUND: dict[tuple[type, str], Handler] = {}
"""What a method does, by a class of its object and its name; the object is the first argument."""
ELSEWHERE: list[Callable[[Any], Handler | None]] = []
"""Who is asked for a function that has no handler yet: its library's formulas load late."""
LATE_METHODS: list[Callable[[Any, str], Handler | None]] = []
"""Who is asked for a method of a ufunc, such as `np.add.reduce`, that has no handler yet."""
FUNCTION: list[Callable[[Any], Any]] = [lambda function: function]
"""What to call in the place of a function that something else was given; `symbolic.calls` knows it."""
MAKING: dict[Any, Callable[..., Any]] = {}
"""By the function that is called: what stands in its place, whatever its arguments are: array makers, `isinstance`."""
