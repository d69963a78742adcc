"""Where did an infinity or a NaN come from? On request every gradient is looked at, and its first source is named."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from symbolic.context import inside


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
