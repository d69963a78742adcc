"""What is collected where SciPy, pygls or llvmlite is not installed? All but what needs it, and the report says so."""

import os
import shutil
import tempfile
from importlib.util import find_spec

import pytest

HAS_SCIPY = find_spec("scipy") is not None
HAS_PYGLS = find_spec("pygls") is not None
HAS_LLVM = find_spec("llvmlite") is not None
collect_ignore_glob = [
    *([] if HAS_SCIPY else ["symbolic/ops/scipy_*.py"]),
    *([] if HAS_PYGLS else ["symbolic/static/lsp.py"]),
    *([] if HAS_LLVM else ["symbolic/backends/native/engine.py", "symbolic/backends/native/abi.py"]),
]
_made = pytest.StashKey[str]()


def pytest_report_header() -> list[str]:
    return [
        *([] if HAS_SCIPY else ["SciPy is not installed: the doctests of its formulas are left out"]),
        *([] if HAS_PYGLS else ["pygls is not installed: the server for editors is left out"]),
        *([] if HAS_LLVM else ["llvmlite is not installed: the native machine is left out"]),
    ]


def pytest_configure(config: pytest.Config) -> None:
    """Compiled code of a run lies in a folder of the run's own; its workers inherit it.

    The oracles are NumPy's own bits, so tests run on NumPy's machine; those of the native one choose it. All of them
    on either: `SYMBOLIC_MACHINE=native pytest`.
    """
    os.environ.setdefault("SYMBOLIC_MACHINE", "numpy")
    if "SYMBOLIC_CACHE_DIR" not in os.environ:
        config.stash[_made] = os.environ["SYMBOLIC_CACHE_DIR"] = tempfile.mkdtemp(prefix="symbolic-")


def pytest_unconfigure(config: pytest.Config) -> None:
    if _made in config.stash:
        shutil.rmtree(config.stash[_made], ignore_errors=True)
        del os.environ["SYMBOLIC_CACHE_DIR"]
