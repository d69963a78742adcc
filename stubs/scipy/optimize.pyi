from collections.abc import Callable
from typing import Any

def brentq(f: Callable[[Any], Any], a: float, b: float) -> Any: ...
