"""Write a plain function with type hints, and get a neural network whose type the compiler knows.

The public names stand in `public.py`; `README.md` beside this file is the floor plan. Importing the package loads
nothing: a type checker's plugin, a command line or a web server pays for the vocabulary when it first names a part
of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from symbolic.installation import check_clash as _check_clash

if TYPE_CHECKING:
    from typing import Any

    from symbolic.public import *  # noqa: F403 - every public name, stated once

__version__ = "0.1.0"

_check_clash()


def __getattr__(name: str) -> "Any":
    if name == "__all__":  # `from symbolic import *`
        return __dir__()
    if name.startswith("_"):
        raise AttributeError(f"module 'symbolic' has no attribute {name!r}")
    public = import_module("symbolic.public")
    found = globals()[name] = getattr(public, name, None) or _operation(name)
    return found


def _operation(name: str) -> "Any":
    """An operation that stands for a NumPy function is public by its declaration: it is written in one place."""
    for operation in import_module("symbolic.ops.operation").OPERATIONS:
        if operation.__name__ == name:
            return operation
    raise AttributeError(f"module 'symbolic' has no attribute {name!r}")


def __dir__() -> list[str]:
    public = {name for name in vars(import_module("symbolic.public")) if not name.startswith("_")}
    operations = import_module("symbolic.ops.operation").OPERATIONS
    return sorted(public | {one.__name__ for one in operations if not one.__name__.startswith("_")})
