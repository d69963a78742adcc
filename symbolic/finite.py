"""Where did an infinity or a NaN come from? On request every gradient is looked at, and its first source is named.

And how is it seen at once that there is none? By sums of products.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from symbolic.context import inside
from symbolic.spec import AnySpec, Spec, product


@contextmanager
def check_finite() -> Iterator[None]:
    """Within the block, a value or a gradient that is not finite raises and says where it came from.

    The NonFiniteError names the first operation whose result is not finite though its operands are, forward and
    backward, with the layer's path and the source line. It costs a look at each result; the search itself runs only
    when there is something to find.

    >>> import numpy as np
    >>> from symbolic import check_finite, grad
    >>> with check_finite():
    ...     grad(lambda x: np.sum(np.sqrt(x)))(np.array([0.0, 1.0]))
    Traceback (most recent call last):
        ...
    symbolic.errors.LayerError: a gradient is not finite: the first value that is not finite came from Divide, in ...
    """
    with inside(finite=True):
        yield


def finite_tests(specs: Sequence[AnySpec], names: Sequence[str]) -> list[str]:
    """Quick tests that all hold only if no output has an infinity or a NaN; they never warn.

    Two arrays of one size are looked at together: where an entry is not finite, neither is a product with it.
    """
    tests: list[str] = []
    waiting: dict[Any, str] = {}
    for spec, name in zip(specs, names, strict=True):
        dtype, shape = (spec.dtype, spec.shape) if isinstance(spec, Spec) and spec.known else (None, None)
        if dtype is None or shape is None or (dtype.kind not in "biu" and dtype not in _SQUARED):
            tests.append(f"finite(({name},))")
        elif dtype.kind == "f" and product(shape) == 1:
            tests.append(f"isfinite({name}.item())" if shape else f"isfinite({name})")
        elif dtype.kind == "f":
            key = dtype, shape if len(shape) == 1 else product(shape)
            other = waiting.pop(key, None)
            if other is None:
                waiting[key] = name
            else:
                tests.append(_product_is_finite(key, other, name))
    return tests + [_product_is_finite(key, name, name) for key, name in waiting.items()]


def _product_is_finite(key: Any, one: str, other: str) -> str:
    """Of vectors by their own method, which costs half."""
    return f"isfinite({one}.dot({other}))" if isinstance(key[1], tuple) else f"isfinite(vdot({one}, {other}))"


_SQUARED = {np.dtype(np.float32), np.dtype(np.float64)}
