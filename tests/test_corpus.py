"""Is the corpus right, and is nothing said of it? Its functions run on arrays, and are what their hints say."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import typing
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from symbolic.hints import Hint, is_symbolic, read
from symbolic.polynomial import Rest, Size
from symbolic.spec import Spec, spec_of
from symbolic.static.checking import check
from symbolic.static.declared import spec_of_hint, substitute, unify

CORPUS = Path(__file__).resolve().parent / "corpus"
SIZES: tuple[tuple[int, ...], ...] = ((5, 7, 3, 11, 2, 13), (4, 4, 4, 4, 4, 4), (3, 2, 5, 2, 7, 3))


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"corpus_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def functions() -> Iterator[tuple[str, Any]]:
    for path in sorted(CORPUS.glob("*.py")):
        module = loaded(path)
        for name, one in vars(module).items():
            if inspect.isfunction(getattr(one, "__wrapped__", None)) and one.__wrapped__.__module__ == module.__name__:
                yield f"{path.stem}.{name}", one


FUNCTIONS = dict(functions())


def declared(plain: Any) -> tuple[dict[str, Hint], Hint]:
    hints = typing.get_type_hints(plain, include_extras=True)
    given = {name: read(one, name) for name, one in hints.items() if name != "return" and is_symbolic(one)}
    return given, read(hints["return"], "the returned value")


def names(specs: list[Any]) -> list[str]:
    found: dict[str, None] = {}
    for spec in specs:
        for size in spec.shape or ():
            if isinstance(size, Rest):
                found[str(size)] = None
            found.update(dict.fromkeys(sorted(size.names) if isinstance(size, Size) else ()))
    return list(found)


def array(spec: Any, random: np.random.Generator) -> Any:
    """Numbers between 0 and 1, so that logarithms and probabilities are what they should be; small whole numbers."""
    shape = spec.shape or ()
    if spec.dtype.kind in "iub":
        return random.integers(0, 2, shape).astype(spec.dtype)
    return random.uniform(0.1, 0.9, shape).astype(spec.dtype)


def test_there_are_enough() -> None:
    assert len(FUNCTIONS) >= 60


@pytest.mark.parametrize("sizes", SIZES, ids=["primes", "equal", "mixed"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_hints_are_true(name: str, sizes: tuple[int, ...]) -> None:
    function = FUNCTIONS[name]
    given, returned = declared(function.__wrapped__)
    specs = [spec_of_hint(one) for one in given.values()]
    bound: dict[str, Any] = {}
    for one, size in zip(names(specs), itertools.cycle(sizes)):
        bound[one] = (2, size) if one.startswith("*") else size
    random = np.random.default_rng(1)
    arrays = [array(substitute(one, bound), random) for one in specs]
    plain = function.__wrapped__(*arrays)
    assert np.all(np.isfinite(plain))
    fits(returned, plain, bound)
    traced = function(*arrays)
    np.testing.assert_allclose(traced, plain, rtol=2e-4, atol=1e-5)
    fits(returned, traced, bound)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.py")), ids=lambda path: path.stem)
def test_nothing_is_said_of_it(path: Path) -> None:
    assert check(path.read_text(encoding="utf-8"), path.name).findings == []


def test_nearly_everything_is_known_of_it() -> None:
    checked = [check(path.read_text(encoding="utf-8"), path.name) for path in CORPUS.glob("*.py")]
    unknown, known = sum(one.unknown for one in checked), sum(one.known for one in checked)
    assert known > 500
    assert unknown < 0.05 * (unknown + known)


def fits(returned: Hint, value: Any, bound: dict[str, Any]) -> None:
    spec = substitute(spec_of_hint(returned), bound)
    actual = spec_of(value)
    assert isinstance(spec, Spec)
    assert isinstance(actual, Spec)
    if returned.native is float:
        assert actual.shape == ()
        return
    assert actual.shape == spec.shape
    assert actual.dtype == spec.dtype
    assert not hasattr(unify([returned], [actual], ["the returned value"]), "seen")
