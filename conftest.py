"""What is collected where SciPy is not installed? All but the doctests of its formulas, and the report says so."""

from importlib.util import find_spec

HAS_SCIPY = find_spec("scipy") is not None
collect_ignore_glob = [] if HAS_SCIPY else ["symbolic/ops/scipy_*.py"]


def pytest_report_header() -> str:
    return "" if HAS_SCIPY else "SciPy is not installed: the doctests of its formulas are left out"
