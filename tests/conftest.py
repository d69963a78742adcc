"""Which profile of Hypothesis, and which surroundings, do the tests run in?"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import symbolic

settings.register_profile("quick", max_examples=25, deadline=None, derandomize=True)  # the same examples every time
settings.register_profile("long", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("SYMBOLIC_HYPOTHESIS", "quick"))

os.environ.setdefault("JAX_ENABLE_X64", "1")  # an oracle in float64
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")  # it compiles for each new shape, to run once
os.environ.setdefault("JAX_PLATFORMS", "cpu")  # no probing for accelerators, no warning that there is none
os.environ.setdefault("MPLBACKEND", "Agg")  # pictures without a screen


@pytest.fixture(scope="module")
def numpys_bits() -> Iterator[None]:
    """For tests whose oracle is plain Python, to the last bit: other machines round otherwise."""
    with symbolic.use("numpy"):
        yield


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[Any]]:
    """The `Making`s of the programs that become native meanwhile; none is known from before."""
    from symbolic.backends.native.making import Making  # which most tests do without

    monkeypatch.setenv("SYMBOLIC_CACHE_DIR", str(tmp_path))
    made: list[Any] = []
    begin = Making.__init__

    def noted(self: Making, *given: Any, **named: Any) -> None:
        begin(self, *given, **named)
        made.append(self)

    monkeypatch.setattr(Making, "__init__", noted)
    with symbolic.use("native"):
        yield made


collect_ignore = ["typing"]  # programs for type checkers, some of them wrong on purpose; test_typing.py runs the others


@pytest.fixture(autouse=True)
def _where_it_was() -> Iterator[None]:
    """A test that goes into another folder does not leave the next ones there, whatever it meets."""
    before = os.getcwd()
    yield
    os.chdir(before)
