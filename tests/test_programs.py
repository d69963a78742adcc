"""Do whole programs, written for plain NumPy, come out right? Each of `programs/` says what it is checked against."""

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PROGRAMS = sorted(path.stem for path in (Path(__file__).parent / "programs").glob("*.py"))


def checks() -> Iterator[tuple[str, str]]:
    for name in PROGRAMS:
        for one in vars(importlib.import_module(f"programs.{name}")):
            if one.startswith("check_"):
                yield name, one


@pytest.mark.parametrize(("name", "check"), list(checks()))
def test_a_program(name: str, check: str) -> None:
    found: Callable[[], None] = getattr(importlib.import_module(f"programs.{name}"), check)
    found()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_also_run_as_a_layer(name: str) -> None:
    found = {check for program, check in checks() if program == name}
    assert "check_layer" in found
    assert len(found) > 1
