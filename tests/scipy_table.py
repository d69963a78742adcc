"""Which of SciPy's functions are differentiated? `python tests/scipy_table.py` writes the table of `docs/scipy.md`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy
import scipy.stats as st

from symbolic import public as _public  # noqa: F401 - it fills the tables
from symbolic.layer import FUNCTIONS, qualified
from symbolic.ops.families import Step
from symbolic.ops.foreign import ROOMS, ByLast, load
from symbolic.ops.operation import Operation

PAGE = Path(__file__).parent.parent / "docs" / "scipy.md"
MODULES = ("special", "linalg", "fft", "integrate", "spatial.distance", "signal")
OPENING = """# SciPy, function by function

Written by `python tests/scipy_table.py` and checked by the tests; the names are those of SciPy {version}.

SciPy is optional. Where it is installed, its functions are differentiated inside a traced function as NumPy's are;
the formulas load when the first of them meets a traced value. A function or an argument without a formula is refused
by name, and the error says what to write instead. All other modules of SciPy (`ndimage`, `interpolate`, `optimize`,
`sparse`, …) are refused.

What the standings mean: *yes*, by every argument that has a derivative; *by the last argument*, and refused by the
others; *a step*, whose derivative is zero; *refused*.
"""


def standing(function: Any) -> str:
    handler = FUNCTIONS.get(function)
    if handler is None or getattr(handler, "__name__", "").startswith("_no_"):
        return "refused"
    owner = _owner(function)
    if owner is not None and issubclass(owner, Step):
        return "a step"
    return "by the last argument" if owner is not None and issubclass(owner, ByLast) else "yes"


def _owner(function: Any) -> type[Operation] | None:
    stack: list[type[Operation]] = [Operation]
    while stack:
        kind = stack.pop()
        if function in kind.functions and kind.__module__.startswith("symbolic.ops.scipy_"):
            return kind
        stack.extend(kind.__subclasses__())
    return None


def functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    for name in sorted(names):
        found = getattr(module, name)
        theirs = isinstance(found, np.ufunc) or "scipy" in str(getattr(found, "__module__", ""))
        if callable(found) and not isinstance(found, type) and theirs:
            yield name, found


def of_module(name: str) -> Iterator[str]:
    module = importlib.import_module(f"scipy.{name}")
    rows = [(title, standing(function)) for title, function in functions(module)]
    if name == "signal":
        rows = [row for row in rows if row[1] != "refused"]
    known = sum(row[1] != "refused" for row in rows)
    yield f"\n## scipy.{name}: {known}" + (
        " functions; all others are refused" if name == "signal" else f" of {len(rows)}"
    )
    yield "\n| name | standing |\n|---|---|"
    yield from (f"| `{title}` | {text} |" for title, text in rows)


def of_distributions() -> Iterator[str]:
    from symbolic.ops.scipy_distributions import LAWS
    from symbolic.ops.scipy_multivariate import LAWS as VECTORS
    from symbolic.ops.scipy_stats import METHODS

    yield "\n## scipy.stats: methods of distributions, frozen or not; all others are refused"
    yield "\n| distribution | methods |\n|---|---|"
    for name in sorted(dir(st)):
        dist = getattr(st, name)
        law = LAWS.get(type(dist))
        if law is not None and dist.name == name:
            ways = METHODS.items()
            held = [one for one, ways_ in ways if hasattr(dist, one) and any(getattr(law, need) for need, _ in ways_)]
            yield f"| `{name}` | {', '.join(held)} |"
        elif type(dist) in VECTORS:
            yield f"| `{name}` | log{VECTORS[type(dist)][1]}, {VECTORS[type(dist)][1]} |"


def page() -> str:
    for package in ROOMS:
        load(package)
    parts = [OPENING.format(version=version())]
    for name in MODULES:
        parts.extend(of_module(name))
    return "\n".join([*parts, *of_distributions()]) + "\n"


def version() -> str:
    return ".".join(scipy.__version__.split(".")[:2])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {sum(qualified(one).startswith('scipy') for one in FUNCTIONS)} functions")
