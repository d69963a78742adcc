"""Who says what a derivative is, and what is kept for it? `stop_gradient`."""

from __future__ import annotations

from typing import Any

from symbolic.layer import Layer
from symbolic.literal import as_layer
from symbolic.ops.passing import Stopped
from symbolic.outcome import is_layer
from symbolic.structure import flatten, unflatten


def stop_gradient(x: Any) -> Any:
    """The same value, by which nothing is differentiated: traced values in a structure, or one.

    Plain values pass as they are.

    >>> from symbolic import grad
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """
    leaves, tree = flatten(x, leaf=is_layer)
    if not any(isinstance(one, Layer) for one in leaves):
        return x
    return unflatten(tree, iter([Stopped.make((as_layer(one),)) if isinstance(one, Layer) else one for one in leaves]))
