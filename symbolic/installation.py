"""Are the files around us ours, or has another distribution written into the same folder? And what else is installed?

The distribution `symbolic` (debug-symbol files) installs an import folder of that name too, and pip merges the two
without a word. If it came second, its `__init__.py` replaced ours and nothing here runs; if it came first, we tell.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

__all__ = ["LOADED", "check_clash", "spec_of"]

LOADED = time.time_ns()
"""When the first of our files was read: what has changed since then is not what runs here."""


def spec_of(package: str) -> ModuleSpec | None:
    """Where a top-level package would be loaded from, and nothing of it is run; `None` where it is not installed.

    As `importlib.util.find_spec` says it, which is not there before a dozen of its classes are made.

    >>> spec_of("numpy").name, spec_of("no_package_of_this_name")
    ('numpy', None)
    """
    if package in sys.modules:
        return getattr(sys.modules[package], "__spec__", None)  # None stands there for what may not be imported
    found = (finder.find_spec(package, None) for finder in sys.meta_path if hasattr(finder, "find_spec"))
    return next((spec for spec in found if spec is not None), None)


_FOREIGN = frozenset({"_lowlevel.py", "_lowlevel__lib.so", "debuginfo.py", "symcache.py"})
"""Files of the other distribution that none of ours is called like."""


def check_clash(folder: str = os.path.dirname(os.path.abspath(__file__))) -> None:
    """Raise ImportError if the distribution `symbolic` is installed into `folder`, the one of this package.

    It costs one listing of the folder; the metadata of installed distributions are read only on suspicion.

    >>> check_clash()
    """
    try:
        files = os.listdir(folder)
    except OSError:  # imported from a zip file or a frozen program: pip merged nothing there
        return
    if not _FOREIGN.isdisjoint(files):
        _accuse(folder)


def _accuse(folder: str) -> None:
    """A suspicious file alone proves nothing: it may be the user's, or left over."""
    from importlib.metadata import distributions  # 40 ms: only on suspicion

    for other in distributions(name="symbolic", path=[os.path.dirname(folder)]):
        raise ImportError(
            f"the distributions symbolic {other.version} and symbolic-layers are installed over each other, "
            f"in {folder}; give each an environment of its own: here run `pip uninstall symbolic symbolic-layers`, "
            "then `pip install` the one that this environment needs"
        )
