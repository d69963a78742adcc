"""What is collected where SciPy or pygls is not installed? All but what needs it, and the report says so."""

from importlib.util import find_spec

HAS_SCIPY = find_spec("scipy") is not None
HAS_PYGLS = find_spec("pygls") is not None
collect_ignore_glob = ([] if HAS_SCIPY else ["symbolic/ops/scipy_*.py"]) + (
    [] if HAS_PYGLS else ["symbolic/static/lsp.py"]
)


def pytest_report_header() -> list[str]:
    return [
        *([] if HAS_SCIPY else ["SciPy is not installed: the doctests of its formulas are left out"]),
        *([] if HAS_PYGLS else ["pygls is not installed: the server for editors is left out"]),
    ]
