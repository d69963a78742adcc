"""Write a plain function with type hints, and get a neural network whose type the compiler knows.

The public names stand in `public.py`; `README.md` beside this file is the floor plan. Importing the package loads
nothing, and a public name only what every program needs, besides what it stands for: what a NumPy function means is
loaded when that first meets a layer. `symbolic.public` loads all there is, for those who look at all: checkers, tests.
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
    with import_module("symbolic.sweeping").unswept():  # modules stay: none of what they hold is garbage
        import_module("symbolic.network")  # what makes a layer of a call, and what runs it
        for room, names in import_module("symbolic.rooms").ROOMS.items():
            if name in names.split():
                found = globals()[name] = getattr(import_module(f"symbolic.{room}"), name)
                return found
    return _module(name) or _operation(name)


def _module(name: str) -> "Any":
    """A module of the package, which is loaded without all that there is; `None` where there is none of that name."""
    try:
        return import_module(f"symbolic.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"symbolic.{name}":
            raise
        return None


def _operation(name: str) -> "Any":
    """An operation that stands for a NumPy function is public by its declaration: it is written in one place."""
    import_module("symbolic.public")
    for operation in import_module("symbolic.ops.operation").OPERATIONS:
        if operation.__name__ == name:
            globals()[name] = operation
            return operation
    raise AttributeError(f"module 'symbolic' has no attribute {name!r}")


def __dir__() -> list[str]:
    public = {name for name in vars(import_module("symbolic.public")) if not name.startswith("_")}
    operations = import_module("symbolic.ops.operation").OPERATIONS
    return sorted(public | {one.__name__ for one in operations if not one.__name__.startswith("_")})
