"""What stands for an array that a body captured, while it is traced? Something that the trace reads at every call.

`symbolic.live` makes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symbolic.layer import AnyLayer


class Lent:
    """What a body is given in the place of an array that it captured."""

    def leaf(self) -> AnyLayer:
        """The array as an operand of a traced value, read at every call."""
        raise NotImplementedError  # abstract

    def read(self) -> Any:
        """The plain array: its numbers are about to be read, and the trace depends on them."""
        raise NotImplementedError  # abstract


def plainly(value: Any) -> Any:
    """Arguments with plain arrays, whose numbers may be read."""
    if isinstance(value, Lent):
        return value.read()
    if type(value) in (list, tuple):
        return type(value)([plainly(one) for one in value])
    if type(value) is dict:
        return {key: plainly(one) for key, one in value.items()}
    return value
