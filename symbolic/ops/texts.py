"""What is the text of traced values that a body formats by `%`? Each part as a number's, which becomes a decision.

An f-string asks the value itself, and `str.format` does; `"%.3f" % x` would ask for a float, which has no gradient.
"""

from __future__ import annotations

import re
from typing import Any

from symbolic.layer import Layer, refuse

_PART = re.compile(r"%(?:\((?P<name>[^)]*)\))?(?P<flags>[-+ #0]*)(?P<size>[*\d.]*)[hlL]?(?P<kind>[a-zA-Z%])")


def percent(text: str, values: Any) -> str:
    """`text % values`, where some of the values may be traced."""
    named = isinstance(values, dict)
    given = list(values.values()) if named else list(values) if isinstance(values, tuple) else [values]
    if not any(isinstance(one, Layer) for one in given):
        return text % values  # type: ignore[no-any-return]  # a text gives a text
    if any("*" in found["size"] for found in _PART.finditer(text)):
        refuse("a width written as * beside traced values", "write the width into the text, or use an f-string")
    rest = iter(given)
    done = _PART.sub(lambda found: _part(found, values, named, rest), text)
    if not named and next(rest, rest) is not rest:
        raise TypeError("not all arguments converted during string formatting")
    return done


def _part(found: re.Match[str], values: Any, named: bool, rest: Any) -> str:
    if found["kind"] == "%":
        return "%"
    try:
        value = values[found["name"]] if named else next(rest)
    except StopIteration:
        raise TypeError("not enough arguments for format string") from None
    if not isinstance(value, Layer):
        return found[0].replace(f"({found['name']})", "", 1) % (value,)
    if found["kind"] in "diouxXc":
        return f"%{found['flags']}{found['size']}{found['kind']}" % int(value)
    form = ("<" if "-" in found["flags"] else "") + found["flags"].replace("-", "") + found["size"]
    if found["kind"] in "rsa":
        return f"%{found['flags']}{found['size']}s" % str(value)
    return format(value, form + found["kind"])
