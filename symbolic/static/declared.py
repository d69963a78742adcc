"""tmp"""
from typing import Any
import numpy as np
from symbolic.dims import parse
from symbolic.polynomial import Rest, parsed
from symbolic.spec import Spec
from symbolic.errors import SymbolicError
from symbolic.static.abstract import Finding
def declared(dtype: Any, words: Any) -> Any:
    kind = None if dtype is None else np.dtype(getattr(np, dtype))
    if words is None: return Spec(None, kind)
    try: axes = parse(words)
    except SymbolicError as e: return Finding(e.seen, e.remedy)
    return Spec(tuple(Rest(a.text) if a.variadic else None if a.stretch or a.expression is None else parsed(a.text) for a in axes), kind)
def unify(a: Any, b: Any, w: Any) -> Any: return {}
def substitute(a: Any, b: Any) -> Any: return a
