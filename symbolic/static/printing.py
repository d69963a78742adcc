"""tmp"""
from typing import Any
from symbolic.spec import TupleSpec, OpaqueSpec
def short(spec: Any) -> str:
    if isinstance(spec, TupleSpec): return "("+", ".join(map(short, spec))+")"
    if isinstance(spec, OpaqueSpec): return spec.kind.__name__
    if spec.python: return spec.python.__name__
    name = "ndarray" if spec.dtype is None else spec.dtype.name
    if spec.shape is None: return name
    return f"{name}[{', '.join('?' if d is None else str(d) for d in spec.shape)}]"
def short_layer(a: Any, b: Any) -> str:
    return f"Layer[{short(a)} → {short(b)}]"
