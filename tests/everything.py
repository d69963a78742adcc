"""What does NumPy itself say can be overridden? Asked after all of its public modules have been imported."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import overrides

NOT_OF_USERS = {"tests", "testing", "conftest", "f2py", "distutils", "core", "typing"}
"""Parts of NumPy that are no vocabulary: tools, tests, and old names that warn."""


def public_modules() -> list[ModuleType]:
    """Every public module of NumPy's, imported; `numpy` itself first."""
    found, waiting = [], [np]
    while waiting:
        module: Any = waiting.pop(0)
        found.append(module)
        for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
            if not info.name.startswith("_") and info.name not in NOT_OF_USERS:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    waiting.append(importlib.import_module(f"{module.__name__}.{info.name}"))
    return found


class Overridable(NamedTuple):
    """What NumPy says can be overridden; some functions stand in it twice, with `like=` and without."""

    functions: frozenset[Any]
    ufuncs: frozenset[Any]


@cache
def overridable() -> Overridable:
    public_modules()
    return Overridable(
        frozenset(overrides.get_overridable_numpy_array_functions()),
        frozenset(overrides.get_overridable_numpy_ufuncs()),
    )
