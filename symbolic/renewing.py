"""What does `dataclasses.replace` mean for traced values? The class is called as a body calls it."""

from __future__ import annotations

import dataclasses
from typing import Any

from symbolic.callees import FUNCTION, MAKING


def renewed(obj: Any, /, **changes: Any) -> Any:
    """`dataclasses.replace`, which makes an instance where nobody sees it."""
    fields = dataclasses.fields(obj)
    make = FUNCTION[0](type(obj))
    if make is type(obj) or any(not one.init and one.name in changes for one in fields):
        return dataclasses.replace(obj, **changes)
    kept = {one.name: getattr(obj, one.name) for one in fields if one.init and one.name not in changes}
    return make(**kept, **changes)


MAKING[dataclasses.replace] = renewed
