# llvmlite says nothing of types: what it gives is taken as it comes
from typing import Any

def __getattr__(name: str) -> Any: ...
