"""tmp"""
from symbolic.literal import ToLiteral, NoDelta
def delta_of(fullname: str) -> str | None:
    for kind, mapping in ToLiteral.registry.items():
        name = f"{kind.__module__}.{kind.__qualname__}"
        if name.replace("numpy.bool_", "numpy.bool") == fullname:
            if mapping.delta is kind: return "same"
            if mapping.delta is NoDelta: return "symbolic.literal.NoDelta"
            return f"{mapping.delta.__module__}.{mapping.delta.__qualname__}"
    return None
