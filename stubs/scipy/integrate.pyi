from typing import Any

def __getattr__(name: str) -> Any: ...  # functions of arrays, found by name; what they take is not checked
